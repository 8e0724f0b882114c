"""Whether evidence that was read from a file fits to its model and to itself.

Evidence that was gathered does so by construction. A file may have been edited: a page that points
at the third of two latents should be refused in one sentence before anything is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator

from mixoracle.errors import FileFormatError
from mixoracle.families import registry
from mixoracle.families.exposure import EXPOSURE
from mixoracle.model import LatentModel
from mixoracle.report.evidence import Alternative, Effect, Evidence, Shape
from mixoracle.report.states import CERTAINTY_BINS


def refuse_contradictions(evidence: Evidence, model: LatentModel, where: str) -> None:
    """Raise an error that says what does not fit; ``where`` names the file."""
    for fits, what in _claims(evidence, model):
        if not fits:
            raise FileFormatError(f"{where} contradicts the model beside it: {what}; learn again")


def _claims(evidence: Evidence, model: LatentModel) -> Iterator[tuple[bool, str]]:
    n = model.n_observed
    yield evidence.n_samples > 0, "there should be at least one case"
    yield evidence.n_iter >= 0, "a number of iterations should not be negative"
    sizes = [len(own) for own in evidence.state_sizes]
    yield sizes == list(model.domain_sizes), "each latent should have the size of each state"
    yield all(s >= 0 for own in evidence.state_sizes for s in own), "a size should not be negative"
    singles = [count.members for count in evidence.singles]
    yield singles == [(i,) for i in range(n)], "each variable should have its own count"
    pairs = [count.members for count in evidence.pairs]
    ordered = all(len(pair) == 2 and 0 <= pair[0] < pair[1] < n for pair in pairs)
    yield ordered, "a pair should be two variables of the model"
    counted = all(count.components > 0 for count in (*evidence.singles, *evidence.pairs))
    yield counted, "a count of components should be at least 1"
    yield from _column_claims(evidence, model)
    yield from _picture_claims(evidence, model)
    for effect in evidence.effects:
        yield _is_effect_of(effect, model), "an effect should be one of a latent on a variable"
    shapes = {len(own) for own in evidence.drives}
    fits = not evidence.drives or (len(evidence.drives) == n and shapes == {model.n_latent})
    fits = fits and all(0.0 <= share <= 1.0 for own in evidence.drives for share in own)
    yield fits, "each variable should have a probability for each latent"
    for other in evidence.alternatives:
        yield _is_about(other, n), "an alternative should drive variables of the model"


def _column_claims(evidence: Evidence, model: LatentModel) -> Iterator[tuple[bool, str]]:
    n, columns = model.n_observed, evidence.columns
    widths = [sum(column.observed == i for column in columns) for i in range(n)]
    fits = all(widths) and sum(widths) == len(columns)
    if model.components is not None:
        fits = fits and widths == [held.width for held in model.components]
    yield fits, "the columns should be those of the variables"
    missing = all(0 <= column.missing <= evidence.n_samples for column in columns)
    yield missing, "a column should miss at most all cases"
    known = {EXPOSURE.name, *registry.names()}
    yield all(column.family in known for column in columns), "a column has an unknown family"


def _picture_claims(evidence: Evidence, model: LatentModel) -> Iterator[tuple[bool, str]]:
    m, sample = model.n_latent, evidence.sample
    cases = len(sample.rows)
    lengths = {len(held) for held in (sample.states, sample.names, sample.probabilities) if held}
    yield lengths <= {cases}, "the sample should have states for each of its rows"
    yield all(_are_states(own, model) for own in sample.states), "a row should have a state"
    yield all(len(p) == m for p in sample.probabilities or ()), "a row should have a probability"
    for scatter in evidence.scatters:
        drawable = len(scatter.points) == len(scatter.places) and scatter.axes
        placed = all(0 <= place < cases for place in scatter.places)
        yield bool(drawable and placed), "a scatter should have a row of the sample for each point"
    for shape in evidence.shapes:
        yield _is_shape_of(shape, model), "a shape should be one of a variable in states"
    for j, own in enumerate(evidence.certainty):
        sized = j < m and len(own.counts) == model.domain_sizes[j]
        bins = {len(counts) for counts in own.counts} <= {CERTAINTY_BINS}
        yield sized and bins, "each latent should have a histogram for each state"
        named = all(
            0 <= k < len(own.counts) for case in own.least for k in (case.state, case.second)
        )
        yield named, "an unsure row should have states of its latent"
    yield len(evidence.certainty) in (0, m), "each latent should have its own certainty"
    runs = evidence.strip.counts
    fits = len(runs) == m and len({len(own) for own in runs}) <= 1 and evidence.strip.step > 0
    sizes = zip(runs, model.domain_sizes, strict=False)
    fits = fits and all(len(one) == size and sum(one) > 0 for own, size in sizes for one in own)
    yield fits, "the strip should count the states of each latent"
    for step in evidence.path:
        yield len(step.drives) == len(step.domain_sizes), "an answer should drive variables"


def _are_states(states: tuple[int, ...], model: LatentModel) -> bool:
    sizes = model.domain_sizes
    return len(states) == len(sizes) and all(
        0 <= state < size for state, size in zip(states, sizes, strict=True)
    )


def _is_shape_of(shape: Shape, model: LatentModel) -> bool:
    j = shape.latent
    if not 0 <= shape.observed < model.n_observed or not (j is None or 0 <= j < model.n_latent):
        return False
    rows = 1 if j is None else model.domain_sizes[j]
    points = len(shape.at) - (shape.kind == "counts")
    lengths = {len(own) for own in shape.heights}
    return len(shape.heights) == rows and lengths == {points} and points > 0


def _is_effect_of(effect: Effect, model: LatentModel) -> bool:
    if not (0 <= effect.observed < model.n_observed and 0 <= effect.latent < model.n_latent):
        return False
    rows = len(effect.means) == model.domain_sizes[effect.latent]
    held = (effect.means, effect.low, effect.high)
    rows = rows and all(len(own) == len(effect.means) for own in held)
    single = (effect.is_share, effect.centre, effect.spread)
    widths = {len(row) for row in (*single, *effect.means, *effect.low, *effect.high)}
    return rows and widths == {len(effect.columns)}


def _is_about(other: Alternative, n_observed: int) -> bool:
    places = all(0 <= i < n_observed for driven in other.drives for i in driven)
    m = len(other.domain_sizes)
    edges = (*other.directed, *other.undirected)
    within = all(0 <= k < m for edge in edges for k in edge)
    return places and within and len(other.drives) == len(other.latent_names) == m
