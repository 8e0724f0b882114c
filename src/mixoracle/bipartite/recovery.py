"""One function from an oracle's counts to Γ and the domain sizes, however they are found.

Every method ends the same way: its graph must reproduce every count that was asked for, or the
call fails and says by how much it missed and where. ``auto`` looks for blocks first, because
they need the weakest assumption and the fewest counts, holds the answer against all counts of up
to ``order`` variables, and turns to the tensor methods, which average over many counts, when
the counts contradict each other.

Assumes nondegeneracy for all; no twins for ``blocks``, independent columns for ``jennrich``, the
span condition for ``als`` (see the modules of these names).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Literal

import numpy as np

from mixoracle._arrays import Bools
from mixoracle._checks import check_whole
from mixoracle._column_matroid import crowded_columns
from mixoracle.bipartite.als import decompose
from mixoracle.bipartite.blocks import find_blocks
from mixoracle.bipartite.fitting import CountEquations, canonical
from mixoracle.bipartite.jennrich import diagonalise
from mixoracle.bipartite.scores import (
    MAX_TENSOR_ENTRIES,
    Counts,
    graph_log_counts,
    name_set,
    readable_count,
    score_tensor,
)
from mixoracle.errors import InconsistentCountsError, InvalidInputError, NotRecoverableError
from mixoracle.model import Bipartite

if TYPE_CHECKING:
    from mixoracle.oracles.protocol import MixtureOracle

Method = Literal["auto", "jennrich", "als", "blocks"]
_Graph = tuple[Bools, tuple[int, ...]]

# Logarithms of exact counts add up to within 1e-12; two whole numbers below a million differ by
# more than this on that scale.
EXACT = 1e-6

_log = logging.getLogger(__name__)


def recover(
    oracle: MixtureOracle,
    method: Method = "auto",
    order: int = 3,
    *,
    tolerance: float = EXACT,
    random_state: int | np.random.Generator = 0,
) -> Bipartite:
    """Recover the bipartite graph and the domain sizes from component counts.

    Parameters
    ----------
    oracle : MixtureOracle
        Only its counts are used.
    method : {"auto", "jennrich", "als", "blocks"}
        ``"blocks"`` needs no twins and exact counts, ``"jennrich"`` linearly independent columns,
        ``"als"`` the span condition of ``thm:hidden-bipartite`` (b) at this order, or noisy
        counts of a graph with independent columns. ``"auto"`` tries them in this order and keeps
        what fits best: blocks, jennrich, als.
    order : int
        t, at least 3: the tensor methods ask for the counts of all sets of up to t variables.
    tolerance : float
        The largest ``|log k(S) − prediction|`` to accept. The default accepts exact counts only;
        counts estimated from data need more.
    random_state : int or Generator
        Draws contractions and starts. Exact counts give the same graph whatever it is.

    Returns
    -------
    Bipartite
        Latents sorted by their children; variables with k = 1 have no parent. Twins, which no
        counts can tell apart (``obs:twins-gamma-norecovery``), come back as one latent.

    Raises
    ------
    InconsistentCountsError
        ``blocks`` met counts that contradict each other, or ``auto`` found no graph that fits.
    NotRecoverableError
        ``jennrich`` or ``als`` found no graph that fits, or one that counts of up to ``order``
        variables cannot tell from others.

    Examples
    --------
    >>> class Counter:
    ...     n_observed = 3
    ...     def count(self, subset):
    ...         parents = [{"H1"}, {"H1", "H2"}, {"H2"}]
    ...         sizes = {"H1": 2, "H2": 3}
    ...         hit = set().union(*(parents[i] for i in subset))
    ...         return int(np.prod([sizes[h] for h in hit]))
    >>> found = recover(Counter())
    >>> found.domain_sizes, found.adjacency.astype(int).tolist(), found.method
    ((2, 3), [[1, 0], [1, 1], [0, 1]], 'blocks')
    """
    check_method(method)
    check_whole("order", order, at_least=3)
    if not 0 <= tolerance <= inf:
        raise InvalidInputError(f"tolerance should be at least 0; got {tolerance!r}")
    counts = Counts(oracle)
    rng = np.random.default_rng(random_state)
    if method == "auto":
        return _recover_auto(counts, order, tolerance, rng)
    graph = _METHODS[method](counts, order, rng)
    answer = _answer(counts, graph, method)
    if answer.residual > tolerance:
        failure = InconsistentCountsError if method == "blocks" else NotRecoverableError
        raise failure(_misfit(counts, answer, tolerance))
    if method == "als":
        _require_span_condition(answer, order)
    return answer


def check(
    graph: Bipartite, oracle: MixtureOracle, order: int = 3, *, tolerance: float = EXACT
) -> Bipartite:
    """Hold a Γ that is known against all counts of up to ``order`` variables, in one batch.

    This is step (b) where Γ was decoded: nothing has to be recovered, but every count has to be
    what Γ says (``obs:counting``). Beyond :data:`MAX_TENSOR_ENTRIES` counts fewer variables at a
    time are asked for.

    Raises
    ------
    InconsistentCountsError
        Where a count is not what Γ says.

    Examples
    --------
    >>> class Counter:
    ...     n_observed = 2
    ...     def count(self, subset):
    ...         return 2 if subset else 1
    >>> check(Bipartite([[1], [1]], (2,)), Counter()).residual
    0.0
    """
    counts = Counts(oracle)
    while counts.n_observed**order > MAX_TENSOR_ENTRIES and order > 1:
        order -= 1
    counts.ask_up_to(order)
    residual, _ = counts.worst(graph.adjacency, graph.domain_sizes)
    checked = Bipartite(graph.adjacency, graph.domain_sizes, residual, graph.method)
    if residual > tolerance:
        raise InconsistentCountsError(_misfit(counts, checked, tolerance))
    return checked


def _recover_auto(
    counts: Counts, order: int, tolerance: float, rng: np.random.Generator
) -> Bipartite:
    """Blocks, then the tensor methods; the first exact answer, else the closest."""
    graphs: dict[str, _Graph] = {}
    contradiction = ""
    try:
        graphs["blocks"] = _by_blocks(counts, order, rng)
    except InconsistentCountsError as error:
        contradiction = str(error)
        _log.info("blocks: %s", contradiction)
    if counts.n_observed**order <= MAX_TENSOR_ENTRIES:
        # From here on every answer is held against all counts of up to ``order`` variables.
        counts.ask_up_to(order)
        for method in ("jennrich", "als"):
            if any(counts.worst(*graph)[0] <= EXACT for graph in graphs.values()):
                break
            graphs[method] = _METHODS[method](counts, order, rng)
    answers = [_answer(counts, graph, name) for name, graph in graphs.items()]
    best = min(answers, key=lambda answer: answer.residual, default=None)
    if best is None:
        raise InconsistentCountsError(contradiction)
    if best.residual > tolerance:
        reason = f" ({contradiction})" if contradiction else ""
        raise InconsistentCountsError(_misfit(counts, best, tolerance) + reason)
    return best


def _by_blocks(counts: Counts, _order: int, _rng: np.random.Generator) -> _Graph:
    return find_blocks(counts)


def _by_jennrich(counts: Counts, order: int, rng: np.random.Generator) -> _Graph:
    columns = diagonalise(score_tensor(counts, order), rng)
    fit = CountEquations(counts, order).fit(columns)
    return fit.adjacency, fit.domain_sizes


def _by_als(counts: Counts, order: int, rng: np.random.Generator) -> _Graph:
    fit = decompose(score_tensor(counts, order), CountEquations(counts, order), rng)
    return fit.adjacency, fit.domain_sizes


_METHODS: dict[str, Callable[[Counts, int, np.random.Generator], _Graph]] = {
    "blocks": _by_blocks,
    "jennrich": _by_jennrich,
    "als": _by_als,
}


def _answer(counts: Counts, graph: _Graph, method: str) -> Bipartite:
    adjacency, domain_sizes = canonical(*graph)
    residual, _ = counts.worst(adjacency, domain_sizes)
    return Bipartite(adjacency, domain_sizes, residual, method)


def _misfit(counts: Counts, answer: Bipartite, tolerance: float) -> str:
    residual, worst = counts.worst(answer.adjacency, answer.domain_sizes)
    predicted = graph_log_counts(
        answer.adjacency,
        np.log(np.array(answer.domain_sizes, dtype=float)),
        np.array([worst], dtype=np.int64),
    )[0]
    remedy = {
        "jennrich": 'method="blocks" needs no independent columns and method="als" forgives noise',
        "als": 'method="blocks" needs no span condition; a higher order or a larger tolerance may '
        "help",
    }.get(answer.method, "more samples or a larger tolerance may help")
    return (
        f"no graph was found that reproduces the counts: the closest, by {answer.method} with "
        f"{answer.n_latent} latents, leaves a residual of {residual:.3g} where at most "
        f"{tolerance:.3g} was expected; it predicts k({name_set(worst)}) = "
        f"{readable_count(float(predicted))}, but {readable_count(counts.log_count(worst))} was "
        f"counted; {remedy}"
    )


def _require_span_condition(answer: Bipartite, order: int) -> None:
    crowded = crowded_columns(answer.adjacency, order)
    if crowded is not None:
        named = ", ".join(name_set(np.flatnonzero(answer.adjacency[:, j])) for j in sorted(crowded))
        raise NotRecoverableError(
            f"counts of up to {order} variables need not tell this graph from others: the latents "
            f"with children {named} break the span condition of order {order} (residual "
            f'{answer.residual:.3g}); use a higher order or method="blocks"'
        )


def check_method(method: str, argument: str = "method") -> None:
    """Refuse what is not the name of a method; ``argument`` is what the caller calls it.

    Examples
    --------
    >>> check_method("blocks")
    """
    if method != "auto" and method not in _METHODS:
        known = ", ".join(["auto", *_METHODS])
        raise InvalidInputError(f"{argument} should be one of {known}; got {method!r}")
