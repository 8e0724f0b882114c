"""One entrance to every search: P(H) and a sample size in, Λ as an equivalence class out.

``auto`` searches exactly wherever that is within reach, and over orders beyond. Every search
honours the knowledge, and the graph it returns is oriented as far as the distribution and the
knowledge together allow. The evidence comes with it: the score, what was used, and how clear it
was.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mixoracle._checks import check_kind
from mixoracle.errors import InvalidInputError
from mixoracle.model import CPDAG, JointTable
from mixoracle.model.graphs import Edge
from mixoracle.structure.close import close_dags
from mixoracle.structure.exact import best_scores, is_feasible, search_exact
from mixoracle.structure.ges import search_ges
from mixoracle.structure.knowledge import Knowledge, ResolvedKnowledge, named_nodes
from mixoracle.structure.orders import search_orders
from mixoracle.structure.pc import search_pc
from mixoracle.structure.scores import (
    ADAPTIVE,
    PRIOR_WEIGHTS,
    BDeu,
    Distribution,
    Score,
    bdeu_scores,
    checked_sample_size,
    local_scores,
    make_score,
    total,
)

_LOGGER = logging.getLogger(__name__)
# Up to here an exact search for the two best classes takes well under a second.
_AUTO_EXACT_NODES = 12
# Two classes whose scores differ by less, relative to the score, are equally good.
_TIE = 1e-9
_DEFAULT_ALPHA = 0.01
# Nats that an adaptive score charges for each edge: so many that at N = 1 000 there are no more
# false edges than with BIC (docs/decisions/131).
_EDGE_COST = 1.5
# DAGs that are looked at in search of close classes: a few hundredths of a second.
_MOST_LOOKED_AT = 300


@dataclass(frozen=True)
class SearchResult:
    """The result of a search, and how clear it was.

    Parameters
    ----------
    graph : CPDAG
        The equivalence class, oriented further where there is knowledge.
    score : float
        The score of its members; larger is better.
    method : str
        What found it: ``"exact"``, ``"orders"``, ``"ges"`` or ``"pc"``.
    runner_up : CPDAG or None
        The best class other than ``graph`` that has a member that honours the knowledge. None
        where there is none, where it was not asked for, and for all searches but ``exact``.
    gap : float or None
        By how much ``graph`` outscores ``runner_up``. With the BIC it is about a log Bayes
        factor: below 1 hardly worth a mention, above 5 very strong.
    overruled : int
        How many v-structures go against the test that decides them; above 0 only for ``pc``,
        where the independence tests contradict each other.
    """

    graph: CPDAG
    score: float
    method: str
    runner_up: CPDAG | None = None
    gap: float | None = None
    overruled: int = 0

    @property
    def is_tied(self) -> bool:
        """Whether another class scores as well: then ``graph`` is one answer of several."""
        return self.gap is not None and self.gap <= _TIE * max(1.0, abs(self.score))


def learn(
    joint: Distribution,
    n_samples: float,
    method: str = "auto",
    knowledge: Knowledge | None = None,
    score: str | Score = ADAPTIVE,
    *,
    names: Sequence[str] | None = None,
    alpha: float = _DEFAULT_ALPHA,
) -> CPDAG:
    """Return Λ; :func:`search` takes the same and returns the evidence too.

    Examples
    --------
    >>> import numpy as np
    >>> switch = np.array([[0.45, 0.05], [0.05, 0.45]])
    >>> learn(JointTable(switch), n_samples=1000)
    CPDAG(2 nodes: 0—1)
    >>> learn(JointTable(switch), n_samples=1000, knowledge=Knowledge(required=[("H2", "H1")]))
    CPDAG(2 nodes: 1→0)
    """
    return search(
        joint, n_samples, method, knowledge, score, names=names, alpha=alpha, runner_up=False
    ).graph


def search(
    joint: Distribution,
    n_samples: float,
    method: str = "auto",
    knowledge: Knowledge | None = None,
    score: str | Score = ADAPTIVE,
    *,
    names: Sequence[str] | None = None,
    alpha: float = _DEFAULT_ALPHA,
    runner_up: bool = True,
) -> SearchResult:
    """Search the equivalence classes over the latents.

    Parameters
    ----------
    joint : JointTable, JointNetwork or StateCounts
        P(H), or the states of rows that it is estimated from.
    n_samples : float
        How many cases it was estimated from.
    method : {"auto", "exact", "orders", "ges", "pc"}
        ``auto`` is ``exact`` for up to 12 latents and ``orders`` beyond.
    knowledge : Knowledge, optional
        Arrows that must or must not be there.
    score : {"bic", "bdeu", "adaptive"} or Score
        What the searches maximise; ``pc`` only reports it. ``adaptive`` is BDeu under the prior
        that has the most evidence, with a charge for each edge: it misses a third fewer weak edges
        than BIC, and claims no more false ones. It is for exact searches of up to 12 latents;
        others take BIC instead.
    names : sequence of str, optional
        The latents' names, by which knowledge may call them; H1, H2, … by default.
    alpha : float
        The level of the independence tests of ``pc``.
    runner_up : bool
        Whether ``exact`` looks for the best different class too.

    Examples
    --------
    >>> from mixoracle.model import JointTable
    >>> found = search(JointTable([[0.4, 0.1], [0.1, 0.4]]), 500)
    >>> found.method, len(found.graph.undirected)
    ('exact', 1)
    """
    if not 0 < alpha < 1:
        raise InvalidInputError(f"alpha should lie between 0 and 1; got {alpha!r}")
    check_method(method)
    adapts = score == ADAPTIVE and method in ("auto", "exact") and _is_small(joint)
    task = _Task(
        joint=joint,
        n_samples=checked_sample_size(n_samples),
        score=make_score("bic" if score == ADAPTIVE else score, joint, n_samples),
        knowledge=(knowledge or Knowledge()).resolved(named_nodes(names, joint.n_latent)),
        alpha=alpha,
        runner_up=runner_up,
    )
    result = METHODS[method](_adapted(task) if adapts else task)
    if result.is_tied:
        _LOGGER.warning("%r and %r score alike; P(H) cannot decide", result.graph, result.runner_up)
    return result


def close_classes(
    joint: Distribution,
    n_samples: float,
    knowledge: Knowledge | None = None,
    *,
    names: Sequence[str] | None = None,
    within: float = 3.0,
) -> tuple[tuple[CPDAG, float], ...]:
    """The class that :func:`search` takes, then those with hardly less evidence.

    Each comes with its difference, at most ``within`` nats, nearest first. It is negative where a
    class has more evidence: it was not taken because each edge has to gain more than chance would.
    Up to 12 latents; classes are found by changes of one edge at a time, and of many the nearest
    only.

    Examples
    --------
    >>> from mixoracle.model import JointTable
    >>> found = close_classes(JointTable([[0.27, 0.23], [0.23, 0.27]]), 300)
    >>> [(graph, round(gap, 1)) for graph, gap in found]
    [(CPDAG(2 nodes: no edges), 0.0), (CPDAG(2 nodes: 0—1), -0.1)]
    """
    if not _is_small(joint):
        raise InvalidInputError(
            f"close classes are looked for among at most {_AUTO_EXACT_NODES} latents, with a table "
            f"that an exact search can hold; got {joint.n_latent} latents"
        )
    known = (knowledge or Knowledge()).resolved(named_nodes(names, joint.n_latent))
    score = make_score("bic", joint, n_samples)
    task = _adapted(_Task(joint, checked_sample_size(n_samples), score, known))
    best, _ = search_exact(task.score, known, runner_up=False)
    charged = _EDGE_COST * np.array([bin(s).count("1") for s in range(1 << joint.n_latent)])
    scores = known.honoured_by(local_scores(task.score) + charged)
    found: dict[CPDAG, float] = {}
    for gap, edges in close_dags(scores, best, within, _MOST_LOOKED_AT):
        found.setdefault(task.oriented(edges), gap)
    first, *others = found.items()
    return (first, *sorted(others, key=lambda held: held[1]))


def as_class(
    edges: Iterable[Edge],
    n_latent: int,
    knowledge: Knowledge | None = None,
    names: Sequence[str] | None = None,
) -> CPDAG:
    """The equivalence class of a DAG that honours the knowledge, oriented as far as that forces.

    Examples
    --------
    >>> sorted(as_class([(0, 2), (1, 2)], 3).directed)
    [(0, 2), (1, 2)]
    >>> sorted(as_class([(0, 1)], 2).directed)
    []
    """
    known = (knowledge or Knowledge()).resolved(named_nodes(names, n_latent))
    return _oriented(frozenset(edges), n_latent, known)


def _oriented(edges: frozenset[Edge], n_latent: int, known: ResolvedKnowledge) -> CPDAG:
    graph = CPDAG.from_dag(edges, n_latent)
    if not (known.required or known.forbidden):
        return graph
    return graph.with_knowledge(known.required, known.forbidden)


def check_method(method: str, argument: str = "method") -> None:
    """Refuse what is not the name of a search; ``argument`` is what the caller calls it.

    Examples
    --------
    >>> check_method("exact")
    """
    check_kind(argument, method, METHODS)


@dataclass(frozen=True)
class _Task:
    """A search that has been checked."""

    joint: Distribution
    n_samples: float
    score: Score
    knowledge: ResolvedKnowledge
    alpha: float = _DEFAULT_ALPHA
    runner_up: bool = False

    def result(self, method: str, edges: frozenset[Edge], **evidence: Any) -> SearchResult:
        return SearchResult(self.oriented(edges), total(self.score, edges), method, **evidence)

    def oriented(self, edges: frozenset[Edge]) -> CPDAG:
        """The class of a DAG that honours the knowledge, oriented as far as that forces."""
        return _oriented(edges, self.joint.n_latent, self.knowledge)


def _adapted(task: _Task) -> _Task:
    """The task with the prior that has the most evidence."""
    # States that never occur would make everything else look dependent.
    seen = [np.flatnonzero(task.joint.marginal([j]).table) for j in range(task.joint.n_latent)]
    table = task.joint.marginal(range(task.joint.n_latent)).table
    joint = JointTable(table[np.ix_(*seen)] if seen else table)
    scores = bdeu_scores(joint, task.n_samples, _EDGE_COST)
    weight = PRIOR_WEIGHTS[int(np.argmax(best_scores(scores, task.knowledge)))]
    return replace(task, score=BDeu(joint, task.n_samples, weight, _EDGE_COST))


def _by_exact(task: _Task) -> SearchResult:
    edges, second = search_exact(task.score, task.knowledge, runner_up=task.runner_up)
    if second is None:
        return task.result("exact", edges)
    # A rounding error in sums over different orders is not a negative gap.
    gap = max(0.0, total(task.score, edges) - total(task.score, second))
    return task.result("exact", edges, runner_up=task.oriented(second), gap=gap)


def _by_ges(task: _Task) -> SearchResult:
    return task.result("ges", search_ges(task.score, task.knowledge))


def _by_orders(task: _Task) -> SearchResult:
    return task.result("orders", search_orders(task.score, task.knowledge))


def _by_pc(task: _Task) -> SearchResult:
    edges, overruled = search_pc(task.joint, task.n_samples, task.knowledge, alpha=task.alpha)
    return task.result("pc", edges, overruled=overruled)


def _by_size(task: _Task) -> SearchResult:
    return _by_exact(task) if _is_small(task.joint) else _by_orders(task)


def _is_small(joint: Distribution) -> bool:
    return joint.n_latent <= _AUTO_EXACT_NODES and is_feasible(joint)


METHODS: dict[str, Callable[[_Task], SearchResult]] = {
    "auto": _by_size,
    "exact": _by_exact,
    "orders": _by_orders,
    "ges": _by_ges,
    "pc": _by_pc,
}
