"""Questions to a model: how likely states are given evidence, and the effects of acting.

P(H) answers the first; the second needs Λ. Λ is known up to equivalence, and the members of its
class may disagree about an intervention, so every answer to *do* is the range over **all**
members, with the answer of each beside it, never that of one arbitrary DAG. The effect of an
intervention depends only on the parents of its targets, so one member for each way in which these
can differ is enough.

Assumptions: a member's distribution is P(H) factorised along it, ∏ P(H_j | pa(H_j)), the same for
all members. Where P(H) never shows a configuration that an intervention leads to, its mass could
go anywhere: it widens the range instead of being guessed. Observed variables are answered through
their components: P(component of X_i), one for each configuration of pa(X_i), and the averages that
follow from it: the mean of a column of numbers, the probability of each level of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from mixoracle._arrays import Floats
from mixoracle.errors import InvalidInputError
from mixoracle.families.base import Entry
from mixoracle.model.elimination import Factor, eliminate
from mixoracle.model.factorisation import Targets, Truncation, factorised
from mixoracle.model.graphs import Edge
from mixoracle.model.reading import with_unit
from mixoracle.model.state_names import state_number
from mixoracle.model.variables import (
    Resolved,
    Variable,
    given_latents,
    latent_index,
    latents_of,
    likelihood_of,
    name_of,
    resolve_all,
    tabulate,
)

if TYPE_CHECKING:
    from mixoracle.model.latent_model import LatentModel

# Products of a dozen conditional probabilities differ by some 1e-15 between members.
_SAME = 1e-9
# Going through more members than this one by one takes minutes.
_MAX_MEMBERS = 20_000


@dataclass(frozen=True, eq=False)
class Answer:
    """A distribution.

    Parameters
    ----------
    variables : tuple of str
        What the axes of ``table`` are.
    table : array
        P(variables | given). The states of an observed variable are its components.
    mean : array or None
        E[X_i | given], for a single observed variable of a model with components: the mean of a
        column of numbers, the probability of each level of a column of levels; NaN where the
        components have no mean (Student with one degree of freedom or fewer).
    mean_of : tuple of str
        What the entries of ``mean`` are: ``X1``, ``X1[2]``, or ``X1[2] = 0`` for a level's code. A
        model that was learned names columns and levels as its table does: ``colour = red``.
    """

    variables: tuple[str, ...]
    table: Floats
    mean: Floats | None = None
    mean_of: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Bounds:
    """The range of a distribution over all members of an equivalence class.

    Parameters
    ----------
    variables : tuple of str
        What the axes of ``lower`` and ``upper`` are.
    graphs : tuple of frozensets of (i, j)
        Members of the class; together they give all answers that the class has.
    member_lower, member_upper : (n_graphs, ...) arrays
        The answer of each graph. The two differ only where P(H) lacks the support.
    mean_lower, mean_upper : arrays or None
        The range of the mean, for a single observed variable; see :class:`Answer`.
    mean_of : tuple of str
        What the entries of the means are.
    """

    variables: tuple[str, ...]
    graphs: tuple[frozenset[Edge], ...]
    member_lower: Floats
    member_upper: Floats
    mean_lower: Floats | None = None
    mean_upper: Floats | None = None
    mean_of: tuple[str, ...] = ()

    @property
    def lower(self) -> Floats:
        """The smallest probability of each entry over all members."""
        return np.asarray(self.member_lower.min(axis=0))

    @property
    def upper(self) -> Floats:
        """The largest probability of each entry over all members."""
        return np.asarray(self.member_upper.max(axis=0))

    @property
    def identified(self) -> bool:
        """Whether all members agree, so that the range is a point."""
        return bool(np.all(self.upper - self.lower <= _SAME))

    def contrast(self, first: int, second: int) -> tuple[Floats, Floats]:
        """The range of the difference between two rows of the first axis.

        Of an effect, these are two states that the cause is set to. The difference is taken
        within each member, so the range is tighter than that of the two rows apart.
        """
        low = self.member_lower[:, first] - self.member_upper[:, second]
        high = self.member_upper[:, first] - self.member_lower[:, second]
        return low.min(axis=0), high.max(axis=0)


@dataclass(frozen=True, eq=False)
class Intervention:
    """A model in which some latents are set from outside; see :meth:`query`."""

    model: LatentModel
    targets: tuple[tuple[int, int], ...]
    graphs: tuple[frozenset[Edge], ...]
    truncation: Truncation = field(repr=False)

    def query(
        self, of: Variable | Sequence[Variable], given: Mapping[Variable, Any] | None = None
    ) -> Bounds:
        """The range of P(of | do(targets), given) over the equivalence class."""
        model, wanted = self.model, resolve_all(self.model, of)
        for latent in {*given_latents(model, given)} & {node for node, _ in self.targets}:
            raise InvalidInputError(
                f"{model.latent_names[latent]!r} is set by do, so its state cannot be given as "
                "well: leave one of them out"
            )
        evidence = likelihood_of(model, given)
        averages, mean_of = _averages(model, wanted)
        about = {*latents_of(model, wanted), *(j for held in evidence for j in held.latents)}
        parts = []
        for edges in self.graphs:
            factors = self.truncation.factors(edges, self.targets)
            complete = self.truncation.is_complete(factors)
            missing = 0.0 if complete else _missing(model, factors, evidence)
            needed = self.truncation.needed(factors, about)
            parts.append(_bounds_of(model, (*needed, *evidence), missing, wanted, averages))
        low, high, mean_low, mean_high = zip(*parts, strict=True)
        return Bounds(
            tuple(name_of(model, variable) for variable in wanted),
            self.graphs,
            np.stack(low),
            np.stack(high),
            None if averages is None else np.min(mean_low, axis=0),
            None if averages is None else np.max(mean_high, axis=0),
            mean_of,
        )


def query(
    model: LatentModel,
    of: Variable | Sequence[Variable],
    given: Mapping[Variable, Any] | None = None,
    *,
    factorised_along_graph: bool = False,
) -> Answer:
    """P(of | given), for latents and for the components of observed variables.

    Parameters
    ----------
    of : str, int or a sequence of them
        Latents by name or number, observed variables by name.
    given : mapping, optional
        The state of each latent that is known, by number or name; the value of each observed
        variable that is, or of some of its columns by their own names. Levels go by their labels.
    factorised_along_graph : bool
        Answer from ∏ P(H_j | pa(H_j)), as :func:`do` does, and not from P(H) as it is.
    """
    wanted = resolve_all(model, of)
    evidence = likelihood_of(model, given)
    joint = model.joint
    if factorised_along_graph:
        joint = factorised(joint, model.latent_graph.extension())
    about = {*latents_of(model, wanted), *(j for factor in evidence for j in factor.latents)}
    weighted = tabulate(model, (*joint.factors(about), *evidence), wanted)
    total = float(weighted.sum())
    if total <= 0:
        raise InvalidInputError(
            f"{dict(given or {})!r} has probability 0 in this model; nothing follows from it"
        )
    weights = weighted / total
    names = tuple(name_of(model, variable) for variable in wanted)
    averages, mean_of = _averages(model, wanted)
    return Answer(names, weights, None if averages is None else weights @ averages, mean_of)


def do(model: LatentModel, targets: Mapping[Variable, int | str]) -> Intervention:
    """Set latents to states, by number or name, from outside; ask the result by its ``query``."""
    named = [(latent_index(model, name), state) for name, state in targets.items()]
    nodes = [node for node, _ in named]
    if len(set(nodes)) != len(nodes):
        raise InvalidInputError("each latent can be set once only; one is named twice")
    settings = tuple((node, state_number(model, node, state)) for node, state in named)
    truncation = Truncation(model.joint)
    return Intervention(
        model, settings, _graphs_that_matter(model, truncation, [settings]), truncation
    )


def effect(model: LatentModel, cause: Variable, effect: Variable) -> Bounds:
    """P(effect | do(cause = state)) for every state, over the whole equivalence class.

    The first axis is the state of the cause.
    """
    return Effects(model, cause).on(effect)


class Effects:
    """What follows from each state of one latent; asked about many variables."""

    def __init__(self, model: LatentModel, cause: Variable) -> None:
        self._model, self._node = model, latent_index(model, cause)
        settings = [((self._node, state),) for state in range(model.domain_sizes[self._node])]
        truncation = Truncation(model.joint)
        self._graphs = _graphs_that_matter(model, truncation, settings)
        self._acts = [Intervention(model, held, self._graphs, truncation) for held in settings]

    def on(self, effect: Variable) -> Bounds:
        """P(effect | do(cause = state)), over the whole equivalence class."""
        rows = [act.query([effect]) for act in self._acts]
        return Bounds(
            (f"do({self._model.latent_names[self._node]})", *rows[0].variables),
            self._graphs,
            np.stack([row.member_lower for row in rows], axis=1),
            np.stack([row.member_upper for row in rows], axis=1),
            _stack([row.mean_lower for row in rows]),
            _stack([row.mean_upper for row in rows]),
            rows[0].mean_of,
        )


def _graphs_that_matter(
    model: LatentModel, truncation: Truncation, settings: Sequence[Targets]
) -> tuple[frozenset[Edge], ...]:
    """Members of the class that together give every answer to these interventions."""
    graph, nodes = model.latent_graph, {node for targets in settings for node, _ in targets}
    factors = truncation.factors(graph.extension())
    graphs = tuple(islice(graph.members_by_parents(nodes), _MAX_MEMBERS + 1))
    reason = "the parents of what is set are open"
    if len(graphs) <= _MAX_MEMBERS:
        seen = truncation.is_complete(factors) or _total(model, factors) >= 1.0 - _SAME
        if seen and all(
            _is_supported(model, factors, edges, held) for edges in graphs for held in settings
        ):
            return graphs
        # Without support, what is left open depends on more than the targets' parents.
        reason = "P(H) never shows some configurations that this intervention needs"
    if graph.size > _MAX_MEMBERS:
        raise InvalidInputError(
            f"{reason}, and Λ stands for {graph.size:,} DAGs, too many to go through; orient it by "
            "with_knowledge first"
        )
    return tuple(graph.members())


def _total(model: LatentModel, factors: Iterable[Factor]) -> float:
    return float(eliminate(factors, (), model.domain_sizes))


def _is_supported(
    model: LatentModel, factors: Sequence[Factor], edges: frozenset[Edge], targets: Targets
) -> bool:
    """Whether each target takes its state in every configuration that its parents take."""
    if all(np.all(factor.values > 0) for factor in factors):
        return True
    for node, state in targets:
        parents = [i for i, j in edges if j == node]
        family = eliminate(factors, [*parents, node], model.domain_sizes)
        if np.any((family[..., state] == 0) & (family.sum(axis=-1) > 0)):
            return False
    return True


def _missing(model: LatentModel, factors: Sequence[Factor], evidence: Sequence[Factor]) -> float:
    """The mass of what was never seen.

    It may lie in any joint state, and be as likely under the evidence as any of them is.
    """
    missing = max(0.0, 1.0 - _total(model, factors))
    missing *= float(eliminate(evidence, (), model.domain_sizes, largest=True))
    return missing if missing > _SAME else 0.0


def _bounds_of(
    model: LatentModel,
    factors: Sequence[Factor],
    missing: float,
    wanted: Sequence[Resolved],
    averages: Floats | None,
) -> tuple[Floats, Floats, Floats | None, Floats | None]:
    """One member's answer: probabilities and mean, from below and from above."""
    weighted = tabulate(model, factors, wanted)
    total = float(weighted.sum()) + missing
    if total <= 0:
        raise InvalidInputError("the evidence has probability 0 under this intervention")
    low = weighted / total
    spare = missing / total
    if averages is None:
        return low, low + spare, None, None
    least, most = spare * averages.min(axis=0), spare * averages.max(axis=0)
    return low, low + spare, low @ averages + least, low @ averages + most


def _stack(arrays: Sequence[Floats | None]) -> Floats | None:
    present = [array for array in arrays if array is not None]
    return np.stack(present) if present else None


def _averages(
    model: LatentModel, wanted: Sequence[Resolved]
) -> tuple[Floats | None, tuple[str, ...]]:
    """The averages of the components, where one observed variable is asked for.

    With the column or level of each, in words.
    """
    if len(wanted) != 1 or wanted[0][0] or model.components is None:
        return None, ()
    components = model.components[wanted[0][1]]
    averages, name = components.averages(), name_of(model, wanted[0])
    return averages.values, tuple(
        _title(model, wanted[0][1], entry, name, components.width) for entry in averages.entries
    )


def _title(model: LatentModel, observed: int, entry: Entry, name: str, width: int) -> str:
    """What an average is of: columns and levels by their own names where the model knows them."""
    if model.reading is None:
        return entry.title(name, width)
    column = with_unit(
        model.reading.columns[observed][entry.column], model.reading.units[observed][entry.column]
    )
    levels = model.reading.levels[observed][entry.column]
    if entry.level is None:
        return column
    return f"{column} = {entry.level if levels is None else levels[entry.level]}"
