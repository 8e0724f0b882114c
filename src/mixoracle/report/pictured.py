"""The report's pictures straight from a fitted learner, by matplotlib.

Each method computes the numbers of one picture, by the functions that the report uses, from the
rows that were learned from, and returns the axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.errors import InvalidInputError
from mixoracle.mixtures.columns import Column
from mixoracle.model import LatentModel
from mixoracle.observations import Observations
from mixoracle.structure import EdgePosterior
from mixoracle.structure.knowledge import ResolvedKnowledge
from mixoracle.trust.edges import pair_supports

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mixoracle.oracles.path import Resolution


class PicturedResults:
    """Pictures of a fitted learner."""

    model_: LatentModel
    states_: Integers
    columns_: tuple[Column, ...]
    set_aside_: Bools
    edge_posterior_: EdgePosterior | None
    drive_posterior_: Floats
    known_arrows_: ResolvedKnowledge
    resolution_: float
    resolutions_: tuple[Resolution, ...]

    def _fitted(self) -> LatentModel:
        raise NotImplementedError

    def learned_rows(self) -> Observations:
        """The rows as they were learned from."""
        raise NotImplementedError

    def predict_proba(self, X: Any) -> list[Floats]:
        """For each latent the probability of each of its states."""
        raise NotImplementedError

    def plot_graph(self, ax: Axes | None = None) -> Axes:
        """Draw the learned graph: lines are full, dashed or dotted by how sure an edge is."""
        from mixoracle.report.claims import sureness
        from mixoracle.report.figures import plot

        model = self._fitted()
        posterior, known = self.edge_posterior_, self.known_arrows_
        pairs = pair_supports(model, len(self.states_), posterior, known)
        return plot(model, ax, sureness(model, pairs, self.drive_posterior_.tolist()))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the learned graph, as :meth:`plot_graph` does."""
        return self.plot_graph(ax)

    def plot_profiles(
        self, latent: int | str = 0, ax: Axes | None = None, *, standardised: bool = True
    ) -> Axes:
        """Draw the mean of each measurement in each state of a latent, with 95 % intervals.

        Levels are shown by the share of cases that have them; of two levels the second is shown.
        Means are in units of the spread over all cases, or in their own with
        ``standardised=False``.
        """
        from mixoracle.report import measurements, plots

        model, j = self._fitted(), self._latent(latent)
        learned = measurements.as_learned(self, self.learned_rows())
        effects = measurements.effects_of(model, measurements.measured(self, learned), self.states_)
        return plots.plot_profile(model, effects, self.columns_, j, ax, standardised=standardised)

    def plot_distributions(
        self, latent: int | str = 0, measurements: Sequence[str] | None = None
    ) -> list[Axes]:
        """Draw the measurements that a latent drives, or those that are named, by its states.

        Numbers are densities, counts and levels bars, and blocks of columns points along their two
        leading directions. Measurements of two levels, and blocks of levels, are in the profile.
        """
        from matplotlib import pyplot

        from mixoracle.report import measurements as numbers
        from mixoracle.report import plots
        from mixoracle.report.states import sample_of, sampled_rows

        model, j = self._fitted(), self._latent(latent)
        rows = self.learned_rows()
        numeric = numbers.measured(self, numbers.as_learned(self, rows))
        chosen = sampled_rows(rows.n_samples, model.n_observed)
        shapes = numbers.shapes_of(model, numeric, self.states_)
        scatters = [numbers.scatter_of(own, chosen, None) for own in numeric]
        pictures = plots.distribution_pictures(model, self.columns_, shapes, scatters, j)
        if measurements is not None:
            pictures = [one for one in pictures if model.observed_names[one[0]] in measurements]
        if not pictures:
            raise InvalidInputError(
                f"{model.latent_names[j]} drives no measurement with a distribution to draw; see "
                "plot_profiles"
            )
        sample = sample_of(chosen, self.states_, None, rows.ids)
        figure = pyplot.figure(layout="constrained")
        return plots.draw_distributions(figure, model, self.columns_, pictures, sample, j)

    def plot_certainty(self, latent: int | str = 0, ax: Axes | None = None) -> Axes:
        """Draw a histogram of the probability of each row's state of a latent."""
        from mixoracle.report.plots import plot_certainty
        from mixoracle.report.states import certainty_of

        model, j = self._fitted(), self._latent(latent)
        certainty = certainty_of(self.predict_proba(self.learned_rows())[j], self.states_[:, j])
        return plot_certainty(model, certainty, j, ax)

    def plot_states(self, ax: Axes | None = None) -> Axes:
        """Draw the states of all latents in the order of the rows."""
        from mixoracle.report.plots import plot_states
        from mixoracle.report.states import strip_of

        model = self._fitted()
        return plot_states(model, strip_of(self.states_, model.domain_sizes), ax)

    def plot_joint(
        self, first: int | str = 0, second: int | str = 1, ax: Axes | None = None
    ) -> Axes:
        """Draw P(H) of two latents as a heat map."""
        from mixoracle.report.plots import plot_joint

        model, i, j = self._fitted(), self._latent(first), self._latent(second)
        if i == j:
            raise InvalidInputError(
                f"a heat map needs two different latents; got {model.latent_names[i]} twice"
            )
        return plot_joint(model, i, j, ax)

    def plot_path(self, ax: Axes | None = None) -> Axes:
        """Draw which answer is the best at which resolution, from fine to coarse."""
        from mixoracle.report.plots import plot_path
        from mixoracle.report.states import path_of

        self._fitted()
        return plot_path(path_of(self.resolutions_, self.resolution_), len(self.states_), ax)

    def _latent(self, latent: int | str) -> int:
        """The number of a latent that was given by number or by name."""
        names = self._fitted().latent_names
        if isinstance(latent, str) and latent in names:
            return names.index(latent)
        if isinstance(latent, int) and 0 <= latent < len(names):
            return latent
        known = ", ".join(names) or "there is none"
        raise InvalidInputError(f"latent should be one of the latents ({known}); got {latent!r}")
