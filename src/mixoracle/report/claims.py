"""The words and figures for claims about edges among the hidden causes: the only place for them.

A claim is as strong as its support: *causes* from 0.95 on, *probably causes* from 0.8, *may cause*
below. An edge that was not found is called absent only where its posterior says so; otherwise the
sentence says how strong an association would have been seen. Without figures, as for a model that
was not learned, a graph is read as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from mixoracle.model import LatentModel
from mixoracle.report.lettering import shortened
from mixoracle.report.sureness import DRIVES, Degree, Sure, Sureness
from mixoracle.trust.edges import PROBABLE, SURE, Claim, PairSupport, pair_supports

_VERBS = {
    Claim.DECLARED: "causes",
    Claim.CAUSES: "causes",
    Claim.PROBABLY: "probably causes",
    Claim.MAY: "may cause",
}
_AS_DECLARED = ", as declared beforehand"
_INDEPENDENT = "The hidden causes are independent of each other."
_OPEN = "these data do not show which one is the cause."
# Pairs without an edge that one sentence names.
_LISTED = 6


def relations(model: LatentModel, pairs: Sequence[PairSupport] = ()) -> list[str]:
    """What is claimed of the edges among the hidden causes, in sentences."""
    if not pairs:
        return _as_it_stands(model)
    private = set(model.private_latents)
    pairs = [pair for pair in pairs if not private & set(_both(pair))]
    if not pairs:
        return []
    names = [shortened(name) for name in model.latent_names]
    sentences = [_arrow(names, pair) for pair in pairs if pair.claim in _VERBS]
    sentences += _open(names, [pair for pair in pairs if pair.claim is Claim.OPEN])
    ruled_out = [pair for pair in pairs if pair.declared and pair.claim not in _VERBS]
    if ruled_out:
        named = _joined(names, ruled_out, _plain)
        sentences.append(f"No direct effect between {named}{_AS_DECLARED}.")
    pairs = [pair for pair in pairs if pair not in ruled_out]
    absent = [pair for pair in pairs if pair.claim is Claim.ABSENT]
    if absent and len(absent) == len(pairs):
        return [f"{_INDEPENDENT[:-1]} (support {_least_absent(absent)})."]
    if absent:
        sentences.append(
            f"No direct effect between {_joined(names, absent, _plain)} "
            f"(support {_least_absent(absent)})."
        )
    return sentences + _not_seen(names, [pair for pair in pairs if pair.claim is Claim.NOT_SEEN])


def relations_of(model: LatentModel, pairs: Sequence[PairSupport], latent: int) -> list[str]:
    """The same for one hidden cause, shorter: its part of the page names it already."""
    if latent in model.private_latents:
        return ["The shape of one measurement: nothing else was seen to depend on it."]
    names = [shortened(name) for name in model.latent_names]
    pairs = pairs or pair_supports(model, 0, None)
    lines = []
    for pair in pairs:
        if latent not in (pair.first, pair.second):
            continue
        other = names[pair.second if pair.first == latent else pair.first]
        support = _support(pair.forward if pair.claim in _VERBS else pair.adjacency)
        if pair.claim is Claim.DECLARED:
            verb = "Causes" if pair.first == latent else "Caused by"
            lines.append(f"{verb} {other}{_AS_DECLARED}.")
        elif pair.claim in _VERBS and pair.first == latent:
            lines.append(f"{_VERBS[pair.claim].capitalize()} {other}{support}.")
        elif pair.claim in _VERBS:
            passive = {"causes": "Caused", "probably causes": "Probably caused"}
            lines.append(f"{passive.get(_VERBS[pair.claim], 'Maybe caused')} by {other}{support}.")
        elif pair.claim is Claim.OPEN:
            lines.append(f"Depends on {other}, direction open{support}.")
    if not lines and all(pair.claim is Claim.ABSENT for pair in pairs if latent in _both(pair)):
        return ["Independent of the other hidden causes."]
    return lines or ["No edge to another hidden cause was found."]


def sureness(
    model: LatentModel,
    pairs: Iterable[PairSupport],
    drives: Sequence[Sequence[float]] = (),
) -> Sureness:
    """How sure each edge is, for a picture; ``drives`` are the supports of Γ, (n, m)."""
    edges = {
        (pair.first, pair.second): _sure(pair)
        for pair in pairs
        if pair.claim in _VERBS or pair.claim is Claim.OPEN
    }
    found = {
        (i, j): Sure(degree_of(drives[i][j]), drives[i][j])
        for i in range(len(drives))
        for j in model.parents(i)
    }
    return Sureness(edges, found)


def _sure(pair: PairSupport) -> Sure:
    """The degree of an edge: of its direction where it has one."""
    if pair.claim is Claim.DECLARED:
        return Sure()
    if pair.claim is Claim.OPEN:
        is_sure = pair.adjacency is None or pair.adjacency >= SURE
        return Sure(Degree.SURE if is_sure else Degree.POSSIBLE, pair.adjacency)
    degrees = {Claim.CAUSES: Degree.SURE, Claim.PROBABLY: Degree.PROBABLE}
    return Sure(degrees.get(pair.claim, Degree.POSSIBLE), pair.forward)


def degree_of(support: float) -> Degree:
    """How sure something with this support is."""
    if support >= SURE:
        return Degree.SURE
    return Degree.PROBABLE if support >= PROBABLE else Degree.POSSIBLE


def driven(
    model: LatentModel,
    latent: int,
    drives: Sequence[Sequence[float]],
    listed: Callable[[Sequence[str]], str],
) -> str:
    """What a hidden cause drives, as far as it can be claimed: "drives a and may drive b"."""
    children = model.children(latent)
    if not children:
        return "drives nothing"
    if not drives:
        return f"drives {listed([model.observed_names[i] for i in children])}"
    order = list(Degree)
    graded = sorted(
        ((degree_of(drives[i][latent]), i) for i in children), key=lambda own: order.index(own[0])
    )
    clauses = [
        f"{DRIVES[degree]} {listed([model.observed_names[i] for _, i in own])}"
        for degree, own in groupby(graded, key=lambda own: own[0])
    ]
    *rest, last = clauses
    return f"{', '.join(rest)} and {last}" if rest else last


def _as_it_stands(model: LatentModel) -> list[str]:
    """A graph without figures, in sentences."""
    names = [shortened(name) for name in model.latent_names]
    sentences = [f"{names[i]} causes {names[j]}." for i, j in sorted(model.latent_graph.directed)]
    depend = [f"{names[i]} and {names[j]}" for i, j in model.latent_graph.links]
    if depend:
        sentences.append(f"{_and(depend)} depend on each other; {_OPEN}")
    if not sentences and model.n_latent - len(model.private_latents) > 1:
        sentences.append(_INDEPENDENT)
    return sentences


def _arrow(names: Sequence[str], pair: PairSupport) -> str:
    text = f"{names[pair.first]} {_VERBS[pair.claim]} {names[pair.second]}"
    if pair.claim is Claim.DECLARED:
        return f"{text}{_AS_DECLARED}; no figure, because the data had no say in it."
    if pair.forward is None or pair.backward is None or pair.adjacency is None:
        return f"{text} (too many hidden causes to say how sure that is)."
    if pair.declared:
        return f"{text} (support {shown(pair.forward)}; the direction was declared beforehand)."
    if pair.claim is not Claim.MAY:
        return f"{text} (support {shown(pair.forward)})."
    return (
        f"{text} (support {shown(pair.forward)}; the other way round {shown(pair.backward)}, "
        f"no edge {shown(1.0 - pair.adjacency)})."
    )


def _open(names: Sequence[str], pairs: Sequence[PairSupport]) -> list[str]:
    """Edges without a direction: those that are sure in one sentence, then the others."""
    sure = [pair for pair in pairs if pair.adjacency is None or pair.adjacency >= SURE]
    doubtful = [pair for pair in pairs if pair not in sure]
    sentences = []
    if sure:
        named = _joined(names, sure, lambda pair: _support(pair.adjacency))
        sentences.append(f"{named} depend on each other; {_OPEN}")
    if doubtful:
        named = _joined(names, doubtful, lambda pair: _support(pair.adjacency))
        sentences.append(f"{named} may depend on each other directly; {_OPEN}")
    return sentences


def _not_seen(names: Sequence[str], pairs: Sequence[PairSupport]) -> list[str]:
    """Edges that were not found and cannot be ruled out."""
    likely = [pair for pair in pairs if pair.adjacency is not None and pair.adjacency > 0.5]
    if likely:
        named = _joined(names, likely, lambda pair: _support(pair.adjacency))
        rest = [pair for pair in pairs if pair not in likely]
        weak = (
            f"A direct effect between {named} is likely, although it is too weak to be in the "
            "graph that scores best."
        )
        return [weak, *_not_seen(names, rest)]
    if not pairs:
        return []
    largest = max(pair.visible for pair in pairs)
    named = _joined(names, pairs, lambda pair: _support(pair.adjacency))
    size = (
        "no association, however strong, would be detected reliably"
        if largest >= 1.0
        else f"an association of Cramér's V = {largest:.2g} is detected in 80 % of samples"
    )
    return [f"No direct effect between {named} was found, but none is ruled out: {size}."]


def _least_absent(pairs: Iterable[PairSupport]) -> str:
    return shown(min(1.0 - (pair.adjacency or 0.0) for pair in pairs))


def _joined(
    names: Sequence[str], pairs: Sequence[PairSupport], note: Callable[[PairSupport], str]
) -> str:
    said = [f"{names[p.first]} and {names[p.second]}{note(p)}" for p in pairs[:_LISTED]]
    if len(pairs) > _LISTED:
        said.append(f"{len(pairs) - _LISTED} more pairs")
    return _and(said)


def _and(clauses: Sequence[str]) -> str:
    *rest, last = clauses
    return f"{', '.join(rest)} as well as {last}" if rest else last


def _both(pair: PairSupport) -> tuple[int, int]:
    return pair.first, pair.second


def _plain(_pair: PairSupport) -> str:
    return ""


def _support(value: float | None) -> str:
    return "" if value is None else f" (support {shown(value)})"


def shown(value: float) -> str:
    """A support with two digits; never 1.00 or 0.00 for what is only nearly so."""
    if 0.995 <= value < 1.0:
        return "> 0.99"
    if 0.0 < value < 0.005:
        return "< 0.01"
    return f"{value:.2f}"
