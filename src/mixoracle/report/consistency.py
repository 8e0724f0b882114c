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
from mixoracle.report.evidence import Alternative, Effect, Evidence, Scatter


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
    for scatter in evidence.scatters:
        yield _is_drawable(scatter), "a scatter should have a label for each point"
    for effect in evidence.effects:
        yield _is_effect_of(effect, model), "an effect should be one of a latent on a variable"
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


def _is_drawable(scatter: Scatter) -> bool:
    shapes = len(scatter.points) == len(scatter.labels) and len(scatter.axes) in (1, 2)
    return shapes and all(label >= 0 for label in scatter.labels)


def _is_effect_of(effect: Effect, model: LatentModel) -> bool:
    if not (0 <= effect.observed < model.n_observed and 0 <= effect.latent < model.n_latent):
        return False
    rows = len(effect.means) == model.domain_sizes[effect.latent]
    widths = {len(effect.is_share), *map(len, effect.means)}
    return rows and widths == {len(effect.columns)}


def _is_about(other: Alternative, n_observed: int) -> bool:
    places = all(0 <= i < n_observed for driven in other.drives for i in driven)
    return places and len(other.drives) == len(other.domain_sizes)
