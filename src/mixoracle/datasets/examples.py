"""The paper's worked examples, under the paper's labels.

Three kinds: the models of ``fig:model``, which the paper only draws; the two runs of Algorithm 1
(``ex:Ph:reconstruct``, ``example2``), with the map L and the component table that it must give;
and the models that no one can tell apart (``app:example-nonidentifiable`` and
``example-ssc-violation``), with their Gaussian components. What the paper leaves open (weights,
the parameters of N_0, N_1, …) is filled in with simple distinct numbers.

States, components and axes count from 0 here, from 1 in the paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixoracle.datasets.graphs import numbered_model
from mixoracle.errors import InvalidInputError
from mixoracle.model import GaussianComponents, JointTable, LatentModel, Projection

# (mean, variance) of the paper's "Gaussian distributions with distinct parameters": N_0, N_1, …
# for X_1 and N'_0, N'_1 for X_2.
_N = ((-3.0, 0.25), (-1.0, 0.16), (1.0, 0.36), (3.0, 0.09))
_N_PRIME = ((-2.0, 0.49), (2.0, 0.64))


@dataclass(frozen=True, eq=False)
class LayoutExample:
    """A run of Algorithm 1 with its answer.

    Examples
    --------
    >>> binary_layout().layout.shape
    (2, 2, 2)
    """

    model: LatentModel  # Γ, the domain sizes and the P(H) that the answer implies; Λ is left open
    projection: Projection  # the map L as the paper prints it, with weights of our own choice
    # The component in each cell, as the paper prints it, of shape ``model.domain_sizes``.
    layout: NDArray[np.int64]

    def __post_init__(self) -> None:
        if not np.array_equal(self.projection.weights[self.layout], self.model.joint.table):
            raise InvalidInputError("P(H) should be the weights as the layout places them")
        self.layout.setflags(write=False)


def single_latent() -> LatentModel:
    """``fig:model`` (a): one latent over X_1 and X_2, a plain mixture.

    Examples
    --------
    >>> single_latent().n_latent
    1
    """
    return _model([[1], [1]], [0.4, 0.6], [])


def independent_latents() -> LatentModel:
    """``fig:model`` (b): two independent latents, each over a variable of its own.

    Examples
    --------
    >>> independent_latents().latent_graph.skeleton
    frozenset()
    """
    return _model([[1, 0], [0, 1]], np.outer([0.4, 0.6], [0.7, 0.3]), [])


def dependent_latents() -> LatentModel:
    """``fig:model`` (c): H_1 → H_2, H_3 → H_2, H_3 → H_1.

    Every pair is adjacent, so P(H) orients nothing. ne(H_3) lies within ne(H_2): Γ violates the
    subset condition, and P(H) cannot be recovered from P(X).

    Examples
    --------
    >>> sorted(dependent_latents().latent_graph.skeleton)[:1]
    [frozenset({0, 1})]
    """
    third = np.array([0.6, 0.4])
    first_given_third = np.array([[0.7, 0.2], [0.3, 0.8]])
    second_given_both = np.array([[[0.9, 0.5], [0.1, 0.5]], [[0.4, 0.2], [0.6, 0.8]]])
    joint = second_given_both * first_given_third[:, None, :] * third
    return _model([[1, 0, 0], [0, 1, 0], [0, 1, 1]], joint, [(0, 1), (2, 1), (2, 0)])


def binary_layout() -> LayoutExample:
    """``ex:Ph:reconstruct``: three binary latents on a triangle.

    Examples
    --------
    >>> binary_layout().model.domain_sizes
    (2, 2, 2)
    """
    labels = "243 434 442 324 231 113 312 121"
    # The paper lists the cells with H_1 running fastest.
    components = [1, 6, 3, 7, 5, 8, 2, 4]
    return _layout_example([[1, 1, 0], [1, 0, 1], [0, 1, 1]], (2, 2, 2), labels, components)


def ternary_layout() -> LayoutExample:
    """``example2``: two ternary latents that share X_1.

    Examples
    --------
    >>> ternary_layout().model.domain_sizes
    (3, 3)
    """
    labels = "1213 3331 4122 2211 7212 5121 9123 8333 6332"
    components = [1, 7, 8, 4, 6, 2, 5, 3, 9]
    return _layout_example([[1, 1], [1, 0], [1, 0], [0, 1]], (3, 3), labels, components)


def nonidentifiable_a() -> LatentModel:
    """Model A of ``app:example-nonidentifiable``: violates nondegeneracy (b).

    X_2 has the component N'_0 in three of the four states of its parents.

    Examples
    --------
    >>> nonidentifiable_a().n_latent
    2
    """
    return _model([[1, 0], [1, 1]], np.full((2, 2), 0.25), [], ([0, 1], [0, 0, 0, 1]))


def nonidentifiable_b() -> LatentModel:
    """Model B of ``app:example-nonidentifiable``: violates nondegeneracy (a).

    The state H_1 = 0, H_2 = 1 has probability zero.

    Examples
    --------
    >>> nonidentifiable_b().n_latent
    2
    """
    return _model([[1, 0], [0, 1]], [[0.5, 0.0], [0.25, 0.25]], [(0, 1)], ([0, 1], [0, 1]))


def nonidentifiable_s3() -> LatentModel:
    """Model S_3 of ``app:example-nonidentifiable``: one latent with three states.

    The paper says that S_3 alone satisfies nondegeneracy. That holds for S = X only: with
    S = {X_1} the states 1 and 2 have the same component N_1, and with S = {X_2} the states 0
    and 1 have N'_0, so (b) as the paper states it, for every S, fails here too.

    Examples
    --------
    >>> nonidentifiable_s3().domain_sizes
    (3,)
    """
    return _model([[1], [1]], [0.5, 0.25, 0.25], [], ([0, 1, 1], [0, 0, 1]))


def subset_violation_a() -> LatentModel:
    """Model A of ``example-ssc-violation``: independent latents, ne(H_1) within ne(H_2).

    The paper writes the mixture with P(X_2 | H_1, H_2) where it means P(X | H_1, H_2); only
    X_1 depends on H_1.

    Examples
    --------
    >>> from mixoracle.assumptions import subset_condition
    >>> subset_condition(subset_violation_a()).holds
    False
    """
    joint = np.array([[1.0, 2.0], [2.0, 4.0]]) / 9.0
    return _model([[1, 1], [0, 1]], joint, [], ([0, 1, 2, 3], [0, 1]))


def subset_violation_b() -> LatentModel:
    """Model B of ``example-ssc-violation``: H_2 → H_1, with the same P(X) as model A.

    The paper gives P(H_2 = 0) twice, as 1/3 and as 2/3; the second is P(H_2 = 1).

    Examples
    --------
    >>> from mixoracle.assumptions import subset_condition
    >>> subset_condition(subset_violation_b()).holds
    False
    """
    joint = np.array([[1.0, 4.0], [2.0, 2.0]]) / 9.0
    return _model([[1, 1], [0, 1]], joint, [(1, 0)], ([0, 3, 2, 1], [0, 1]))


def _model(
    bipartite: Any,
    joint: Any,
    dag: Iterable[tuple[int, int]],
    order: tuple[Sequence[int], Sequence[int]] | None = None,
) -> LatentModel:
    """``order`` says for X_1 and for X_2 which normal sits in each configuration of parents."""
    components = None
    if order is not None:
        drawn = [np.array(held)[list(o)] for held, o in zip((_N, _N_PRIME), order, strict=True)]
        components = [GaussianComponents(n[:, :1], n[:, 1:, None]) for n in drawn]
    table = JointTable(np.asarray(joint))
    return numbered_model(np.array(bipartite, dtype=bool), table, dag, components)


def _layout_example(
    bipartite: Any,
    sizes: tuple[int, ...],
    labels: str,
    components: Sequence[int],
) -> LayoutExample:
    """Shift the paper's numbers to 0 and give component i a weight proportional to i.

    ``labels`` has a word for each component and in it a digit for each observed variable.
    """
    cells = np.array(components, dtype=np.int64).reshape(sizes, order="F") - 1
    rows = np.array([[int(digit) for digit in word] for word in labels.split()])
    weights = np.arange(1.0, len(rows) + 1.0)
    projection = Projection(rows - 1, weights / weights.sum())
    # The paper assumes nothing about Λ: any P(H) is Markov to the complete graph.
    complete = [(i, j) for j in range(len(sizes)) for i in range(j)]
    model = _model(bipartite, projection.weights[cells], complete)
    return LayoutExample(model, projection, cells)
