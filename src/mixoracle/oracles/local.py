"""The quick answer: latents found in pairs of variables, where all labels fit together.

Where the labels of single variables are beyond doubt for nearly all rows, pairs of variables show
the latents (:mod:`~mixoracle.decoding.local`), and nothing needs the components over all of X. The
answer stands if every variable has one label for each configuration of its parents, or, while two
children of each latent do, one for several whose components overlap. Where it does not stand,
labels are corrected by the neighbours of their variables (:mod:`~mixoracle.labels.neighbourhood`),
and a latent that one variable alone shows has to prove itself. It is also taken where there are too
many joint states for anything else: variables whose labels do not fit then have the parents that
the evidence of their own components chooses, which is reported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from math import prod

import numpy as np

from mixoracle._arrays import Bools, Integers, rows_with_missing
from mixoracle._steps import Tell
from mixoracle.decoding.local import (
    FEWEST_CHILDREN,
    LabelledRows,
    LocalExplanation,
    decode_locally,
    explained_by,
    left_open,
    merged_states,
)
from mixoracle.labels.labelling import Labelling, Rows, most_likely
from mixoracle.labels.neighbourhood import CORRECTION, corrected
from mixoracle.labels.together import are_shattered
from mixoracle.mixtures.dependence import dependent_pairs, enough_rows, whitened
from mixoracle.mixtures.merging import pool
from mixoracle.mixtures.preparation import Prepared
from mixoracle.model import Bipartite
from mixoracle.model.emptiness import are_possible
from mixoracle.model.joint_states import (
    codes_of_parents,
    distinct_rows,
    flat,
    n_configurations,
    numbered_columns,
)
from mixoracle.model.row_posterior import RowInference
from mixoracle.oracles.candidate import (
    Assignment,
    Candidate,
    DecodedCounts,
    Rivals,
    weights_of,
)
from mixoracle.oracles.run import Run
from mixoracle.settings import Settings

# The share of the entropy of labels beyond which others leave them open: a label more among five
# leaves a tenth, a latent of its own a third and more.
_OPEN = 0.25


@dataclass(frozen=True)
class LocalAnswer:
    """What pairs of variables say of the ``rows`` of the prepared observations.

    ``labelling`` has the labels that were decoded, each variable's own or, where these were
    ``corrected``, those that its neighbours gave it.
    """

    prepared: Prepared
    rows: Rows
    labelling: Labelling
    explanation: LocalExplanation
    corrected: bool = False

    @classmethod
    def of(
        cls, prepared: Prepared, rows: Rows, alone: Labelling, settings: Settings
    ) -> LocalAnswer:
        """Decode the labels that each variable has on its own."""
        labelling = most_likely(rows, alone)
        explanation = decode_locally(_labelled_rows(rows, labelling), settings)
        return cls(prepared, rows, labelling, explanation)

    def with_neighbours(self, max_components: int, settings: Settings, tell: Tell) -> LocalAnswer:
        """Decode labels that are in question once more, as their neighbours correct them."""
        labelling = corrected(
            self.rows, self.labelling, self._in_question(), max_components, settings, tell
        )
        explanation = decode_locally(_labelled_rows(self.rows, labelling), settings)
        all_looked_at = CORRECTION not in settings.clock.left_out
        found = replace(self, labelling=labelling, explanation=explanation, corrected=all_looked_at)
        return found._without_private_latents(settings)

    def _without_private_latents(self, settings: Settings) -> LocalAnswer:
        """The answer without latents that fewer than two fitting variables have as a parent.

        Labels that are wrong look like a further latent of one variable. It is one if variables
        that have it as a parent are dependent without it, or if one of them fits, and the others
        leave its labels open. Its states are then those that its children tell apart.
        """
        found, labelled = self.explanation, _labelled_rows(self.rows, self.labelling)
        is_shared = found.fitting().sum(axis=0) >= FEWEST_CHILDREN
        if is_shared.all() or not is_shared.any():
            return self
        answer = self._with_latents(
            found.adjacency[:, is_shared], found.states[:, is_shared], settings
        )
        dependent = answer._dependent_pairs(settings)
        is_open = left_open(labelled, answer.explanation) > _OPEN
        is_open[list(found.misfits)] = False
        # What many variables show first: fewer of them may show the same once more.
        for j in sorted(np.flatnonzero(~is_shared), key=lambda j: -found.adjacency[:, j].sum()):
            children = np.flatnonzero(found.adjacency[:, j])
            if not (dependent[np.ix_(children, children)].any() or is_open[children].any()):
                continue
            known = answer.explanation
            column = merged_states(labelled, known, children, found.states[:, j])
            if column.max() > 0:
                adjacency = np.column_stack([known.adjacency, found.adjacency[:, j]])
                states = np.column_stack([known.states, column])
                answer = answer._with_latents(adjacency, states, settings)
        return answer

    def _with_latents(self, adjacency: Bools, states: Integers, settings: Settings) -> LocalAnswer:
        """The answer that latents with these states give; each was seen where Γ says."""
        labelled = _labelled_rows(self.rows, self.labelling)
        explanation = explained_by(labelled, adjacency, numbered_columns(states), settings)
        return replace(self, explanation=explanation)

    def _in_question(self) -> list[int]:
        """The variables whose labels do not fit, or with a parent that hardly a fitting one has."""
        adjacency = self.explanation.adjacency
        few = self.explanation.fitting().sum(axis=0) < FEWEST_CHILDREN
        alone = np.flatnonzero(adjacency[:, few].any(axis=1)).tolist()
        return sorted({*self.explanation.misfits, *alone})

    def labelled(self) -> Labelling:
        """The labels that the answer gives to the rows."""
        return replace(self.labelling, labels=numbered_columns(self._codes()))

    @property
    def n_joint(self) -> int:
        """How many joint states there are."""
        return prod(self.explanation.domain_sizes)

    def stands(self, settings: Settings) -> bool:
        """Whether nothing is left that other ways of looking at the rows would see.

        That joint states do not occur which should, given how frequent their parts are, or that
        variables stay dependent, is left to others to judge; so are the states of a latent that one
        variable alone shows. Labels that nothing explains do no harm once they were corrected and
        no variables are dependent beyond their states.
        """
        if self.n_joint > settings.budget.joint_states:
            return False
        if self.explanation.unexplained and not self.corrected:
            return False
        if np.any(self.explanation.fitting().sum(axis=0) < FEWEST_CHILDREN):
            return False
        found = self.explanation
        if not are_possible(found.states, found.domain_sizes, settings.priors):
            return False
        return not self._dependent_pairs(settings).any()

    def _dependent_pairs(self, settings: Settings) -> Bools:
        """Which variables are dependent beyond their states, in some of the rows, (n, n)."""
        codes = self._codes()
        missing = [rows_with_missing(variable.block) for variable in self.rows]
        widths = [variable.embedding.shape[1] for variable in self.rows]
        some = enough_rows(widths, missing, int(codes.max(initial=0)) + 1, settings.priors)
        left = [
            whitened(variable.embedding[some], code, gaps[some])
            for variable, code, gaps in zip(self.rows, codes[some].T, missing, strict=True)
        ]
        return dependent_pairs(left, settings.priors)[0]

    def is_only_one(self, settings: Settings) -> bool:
        """Whether there are too many joint states for any other way.

        Any other way compares components over X, of which only some hundreds can be. Labels that
        fit badly suggest many; so the rows must show that many, too, and variables whose labels
        are explained. States that only one variable shows may be lumps of its
        components, and labels of too few rows suggest a latent behind each variable: they count
        where no variable depends on another.
        """
        if not are_shattered(self.labelling.labels, settings):
            return False
        found = self.explanation
        n_children = np.delete(found.adjacency, found.unexplained, axis=0).sum(axis=0)
        sizes = np.array(self.explanation.domain_sizes, dtype=np.int64)
        n_shared = prod(sizes[n_children > 1].tolist())
        if n_shared > settings.budget.compared and np.median(n_children) > 1:
            return True
        if self.n_joint <= settings.budget.joint_states:
            return False
        blocks = [variable.whitened for variable in self.rows]
        return not dependent_pairs(blocks, settings.priors)[0].any()

    def candidate(self, source: str, run: Run) -> Candidate:
        """The answer in the order of the observations."""
        found, prepared = self.explanation, self.prepared
        back = prepared.places
        graph = Bipartite(found.adjacency[back], found.domain_sizes, 0.0, "decoded")
        certainty = np.array([merging.confidence for merging in self.labelling.mergings])[back]
        counts = DecodedCounts(
            graph,
            weights_of(found.states, found.domain_sizes),
            distinct_rows(self.labelling.labels[:, back])[0],
            certainty,
            Rivals((graph,), (0.0,)),
        )

        infer = self._inference_of_all(run.settings)

        @cache
        def own_states() -> Integers:
            return prepared.in_own_order(infer())

        def assign(_graph: Bipartite) -> Assignment:
            return Assignment(counts, flat(own_states(), found.domain_sizes))

        return Candidate(
            source=source,
            counts=counts,
            assign=assign,
            graph=graph,
            log_evidence=0.0,
            repairs=self._repairs(),
            own_states=own_states,
        )

    def _inference_of_all(self, settings: Settings) -> Callable[[], Integers]:
        """What finds the joint state (N, m) of every prepared row, those not searched included.

        It outlives the statistics of the searched rows, which are too large to be kept.
        """
        found, prepared = self.explanation, self.prepared
        if len(found.states) == prepared.n_samples:
            return lambda: found.states
        codes, n_codes = self._codes(), self._n_codes()
        components = [
            variable.family.components(pool(held, code, n), merging.prior)
            for variable, held, code, n, merging in zip(
                self.rows,
                self.labelling.features,
                codes.T,
                n_codes,
                self.labelling.mergings,
                strict=True,
            )
        ]
        # A configuration that no row has is unknown, and nothing may be put there.
        unseen = [
            np.bincount(code, minlength=n) == 0 for code, n in zip(codes.T, n_codes, strict=True)
        ]

        def infer() -> Integers:
            inference = RowInference(found.adjacency, found.domain_sizes, ())
            states = np.empty((prepared.n_samples, len(found.domain_sizes)), dtype=np.int64)
            for some in prepared.chunks(sum(n_codes), settings.budget.chunk_entries):
                densities = prepared.log_densities(components, some)
                for density, never in zip(densities, unseen, strict=True):
                    density[:, never] = -np.inf
                states[some] = inference.posterior(densities).best
            return states

        return infer

    def _codes(self) -> Integers:
        """The configuration of pa(X_i) in each searched row, (N, n)."""
        found = self.explanation
        return codes_of_parents(found.states, found.adjacency, found.domain_sizes)

    def _n_codes(self) -> list[int]:
        """How many configurations each pa(X_i) has."""
        return n_configurations(self.explanation.adjacency, self.explanation.domain_sizes)

    def _repairs(self) -> tuple[str, ...]:
        """Which labels did not fit, in words."""
        prepared, n_codes = self.prepared, self._n_codes()
        repairs = []
        for i in self.explanation.misfits:
            name = prepared.observations.names[prepared.variables[i]]
            seen = int(self.labelling.labels[:, i].max()) + 1
            fitting = f"{n_codes[i]} fit with the others"
            if seen == n_codes[i]:
                fitting = "but they do not follow the causes in all rows"
            repairs.append(f"{name}: {seen} components were seen, {fitting}")
        return tuple(sorted(repairs))


def _labelled_rows(rows: Rows, labelling: Labelling) -> LabelledRows:
    """Labels, and which of them are beyond doubt, as the decoder sees them."""
    assert labelling.certain is not None
    return LabelledRows(
        labelling.labels,
        labelling.certain,
        labelling.features,
        tuple(variable.family for variable in rows),
        tuple(merging.prior for merging in labelling.mergings),
    )
