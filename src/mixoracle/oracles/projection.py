"""The oracle for variables that alone show nothing: one mixture over all of X, then projected.

Components over X are found with the observed variables independent given the component
(:mod:`~mixoracle.mixtures.mixture`). Each is projected onto each X_i, and the evidence decides
which projections are one component there; that is the map L. k(S), the weights and the latents
follow as for the signature oracle.

Assumes that X as a whole identifies its components; a product of at least three variables does in
general. Where single variables show their components, the signature oracle is quicker and sees
finer ones.
"""

from __future__ import annotations

import numpy as np

from mixoracle._arrays import Floats
from mixoracle._checks import check_whole
from mixoracle._threads import one_thread
from mixoracle.families.choice import Families
from mixoracle.families.product import joined_families
from mixoracle.labels.labelling import Rows
from mixoracle.labels.together import label_along
from mixoracle.mixtures.mixture import fit_mixture
from mixoracle.mixtures.preparation import Prepared
from mixoracle.mixtures.rows import VariableRows, unit_variance
from mixoracle.oracles.candidate import Candidate
from mixoracle.oracles.decoded import Decoded, DecodingOracle
from mixoracle.oracles.run import Run, Stage


class ProjectionOracle(DecodingOracle):
    """Learns k(S) and L from one mixture over all observed variables.

    The other parameters and the attributes are those of
    :class:`~mixoracle.oracles.decoded.DecodingOracle`.

    Where EM starts does not depend on the learner's seed, but on ``random_state`` alone if that is
    given here.

    Parameters
    ----------
    max_starts : int, optional
        How often the mixture is fitted at most, from different starts, until two of them end at
        the best answer so far; 4 unless given.

    Examples
    --------
    >>> from mixoracle.datasets import item_problem
    >>> problem = item_problem(2, 12, n_samples=1000, random_state=1)
    >>> oracle = ProjectionOracle(random_state=0).fit(problem.observations)
    >>> oracle.projection().n_components
    4
    """

    def __init__(
        self,
        max_components: int | None = None,
        max_starts: int | None = None,
        *,
        families: Families = None,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        super().__init__(
            max_components, families=families, n_jobs=n_jobs, random_state=random_state
        )
        self.max_starts = max_starts

    def __repr__(self) -> str:
        limits = f"max_components={self.max_components}, max_starts={self.max_starts}"
        return f"{type(self).__name__}({limits})"

    def candidates(self, prepared: Prepared, run: Run, /) -> tuple[Candidate, ...]:
        run = run.with_own(self.max_components, self.n_jobs, None)
        rng = run.generator_of_start(self.random_state)
        max_starts = (
            run.settings.budget.mixture_starts if self.max_starts is None else self.max_starts
        )
        check_whole("max_starts", max_starts, at_least=1)
        limit = run.components_of_one_variable(prepared.n_samples)
        searched = prepared.for_search()
        with one_thread():
            run.report(Stage.MIXTURE)
            rows = searched.searched_rows(searched.draw(run.settings.budget.mixture_rows, rng))
            variables, coordinates = _as_the_mixture_sees(rows)
            bounds = run.wanted.joint_states
            mixture = fit_mixture(variables, coordinates, max_starts, rng, run.settings, bounds)
            labelling = label_along(rows, mixture.responsibilities, limit)
            return Decoded.of(searched, rows, labelling, run).candidates("projection", run)


def _as_the_mixture_sees(rows: Rows) -> tuple[list[VariableRows], Floats]:
    """The variables, and coordinates of all of them in which each weighs the same.

    Families that can be joined are one, which is quicker. Nothing is lost by that: within a
    component they are independent in any case.
    """
    alone, joined = joined_families([variable.family for variable in rows])
    variables = [rows[i] for i in alone]
    for family, members in joined:
        block = np.hstack([rows[i].block for i in members])
        variables.append(VariableRows(family, block, family.features(block), None, False))
    order = [*alone, *(i for _, members in joined for i in members)]
    return variables, np.hstack([unit_variance(rows[i].embedding) for i in order])
