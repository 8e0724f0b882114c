"""Recovery by simultaneous diagonalisation, fast and with a guarantee.

Jennrich's algorithm diagonalises two contractions of M_3 = Σ w a⊗a⊗a at once (``thm:jennrich``).
One of them can be M_2 = Σ w a⊗a, which the same counts give: it is positive semidefinite, so its
range is the span of the columns, its rank is m, and whitening by it turns the slice of M_3 at
X_i into Σ a_ij v_j v_jᵀ with orthonormal v_j. A random combination of the slices has the v_j as
eigenvectors, and v_jᵀ (slice i) v_j is the entry a_ij itself, zero or one.

Assumes linearly independent columns (``thm:recovery:eff``). With a higher order t = 2q + 1 the
products of up to q entries of a column take the place of its entries, and only these longer
columns need to be independent. An even order adds nothing here and is treated as the odd one
below it.
"""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np

from mixoracle._arrays import Bools, Floats

# An unlucky contraction brings two eigenvalues close together; of a few, one is good.
_CONTRACTIONS = 8


def diagonalise(tensor: Floats, rng: np.random.Generator) -> Bools:
    """The binary columns of the decomposition of M_t, as an (n_observed, n_latent) array.

    M_t has t ≥ 3 axes of length n. The columns are those of the contraction, out of a few that
    ``rng`` draws, whose entries were closest to 0 and 1, rounded. Whether they explain the counts
    is for the caller to check.
    """
    slices, gram = _moment_matrices(tensor)
    root = _whitening(gram)
    # (n, m, m): commuting projections, one for each observed variable.
    projections = np.einsum("fa,fgi,gb->iab", root, slices, root, optimize=True)
    best, best_distance = np.zeros((len(projections), 0)), np.inf
    for _ in range(_CONTRACTIONS):
        mixed = np.tensordot(rng.standard_normal(len(projections)), projections, axes=1)
        vectors = np.linalg.eigh((mixed + mixed.T) / 2)[1]
        entries = np.einsum("aj,iab,bj->ij", vectors, projections, vectors, optimize=True)
        distance = float(np.sum((entries - np.round(np.clip(entries, 0, 1))) ** 2))
        if distance < best_distance:
            best, best_distance = entries, distance
    return best > 0.5


def numerical_rank(values: Floats, scale: float) -> int:
    """How many eigenvalues, given in descending order, stand above the widest gap.

    Below ``scale`` times the rounding error of the matrix nothing can be told from zero, so gaps
    are measured down to that floor and not within it.
    """
    if scale == 0:
        return 0
    floor = len(values) * np.finfo(float).eps * scale
    bounded = np.append(np.maximum(values, floor), floor)
    ratios = bounded[:-1] / bounded[1:]
    return int(ratios.argmax()) + 1


def _moment_matrices(tensor: Floats) -> tuple[Floats, Floats]:
    """M_t as slices (f, f, n) over products of q entries, and M_{t−1} as their Gram (f, f)."""
    n = tensor.shape[0]
    if tensor.ndim % 2 == 0:
        # Repeating the last index leaves the tensor of the order below.
        tensor = np.einsum("...ii->...i", tensor)
    q = (tensor.ndim - 1) // 2
    features = np.array(list(combinations_with_replacement(range(n), q)), dtype=np.int64)
    rows = np.ravel_multi_index(tuple(features.T), (n,) * q)
    slices = tensor.reshape(n**q, n**q, n)[np.ix_(rows, rows)]
    gram = slices[:, np.arange(len(features)), features[:, 0]]
    return slices, gram


def _whitening(gram: Floats) -> Floats:
    """B with Bᵀ gram B = I on the range of ``gram``: (f, m)."""
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    values, vectors = values[::-1], vectors[:, ::-1]
    rank = numerical_rank(values, float(np.abs(gram).max(initial=0.0)))
    return np.asarray(vectors[:, :rank] / np.sqrt(values[:rank]))
