"""What the learner hands to an oracle besides the data: generator, limits, and whom to report to.

The learner makes one :class:`Run` for a fit and passes it down. An oracle object may have settings
of its own (``SignatureOracle(max_components=5)``); :meth:`Run.with_own` lets those that were given
take precedence, so that a name and an object behave alike.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

import numpy as np

from mixoracle._checks import check_jobs, check_whole, make_generator
from mixoracle._steps import Tell
from mixoracle.decoding.wanted import Wanted
from mixoracle.errors import InvalidInputError
from mixoracle.settings import Settings

logger = logging.getLogger(__name__)


class Stage(StrEnum):
    """The stages of a fit, in the words that a user sees."""

    PREPARING = "preparing the data"
    SEGMENTING = "finding the components of each variable"
    PAIRING = "finding the latents that pairs of variables show"
    JOINING = "finding the components over all variables"
    MIXTURE = "fitting one mixture over all variables"
    DECODING = "decoding the latents"
    COARSENING = "looking for a coarser answer, because components are not of their family"
    COUNTING = "counting components with the oracle"
    REFINING = "refining the candidates"
    RESTARTING = "starting again, in case a better answer is found"
    SEARCHING = "searching the latent graph"
    CHECKING = "checking the answer"


# How often steps within a stage are told of.
_TOLD = 10

Report = Callable[[str], None]
Auto = Literal["auto"]


def steps_of(stage: Stage, report: Report) -> Tell:
    """Whom to tell of steps within a stage: about ten times, and of few steps not at all."""

    def tell(done: int, total: int) -> None:
        is_tenth = done * _TOLD // total > (done - 1) * _TOLD // total
        if total > _TOLD and done < total and is_tenth:
            report(f"{stage}: {done} of {total}")

    return tell


def to_log(stage: str) -> None:
    """Report a stage to the log."""
    logger.info("%s", stage)


@contextmanager
def reporting(progress: bool | Report) -> Iterator[Report]:
    """Whom to call with each stage: the user's callable, a spinner, or the log."""
    if callable(progress):
        yield progress
    elif progress:
        from rich.console import Console

        with Console(stderr=True).status("starting") as status:
            yield status.update
    else:
        yield to_log


@dataclass(frozen=True)
class Run:
    """One fit: its generator, its limits, and ``report``, which is called with each stage.

    ``start`` numbers the starts of a search that depends on where it starts.
    """

    rng: np.random.Generator
    max_components: int | None = None
    n_jobs: int = 1
    report: Report = to_log
    settings: Settings = Settings()
    resolution: float | Auto | None = "auto"
    wanted: Wanted = Wanted()
    start: int = 0

    def __post_init__(self) -> None:
        check_jobs(self.n_jobs)
        _check_resolution(self.resolution)
        if self.max_components is not None:
            check_whole("max_components", self.max_components, at_least=1)

    def with_own(
        self,
        max_components: int | None,
        n_jobs: int | None,
        random_state: int | np.random.Generator | None,
    ) -> Run:
        """The same run with the settings of an oracle object, where it has any."""
        return replace(
            self,
            max_components=self.max_components if max_components is None else max_components,
            n_jobs=self.n_jobs if n_jobs is None else n_jobs,
            rng=self.rng if random_state is None else make_generator(random_state),
        )

    def generator_of_start(
        self, random_state: int | np.random.Generator | None
    ) -> np.random.Generator:
        """Other random numbers for each start, but without a seed of its own always the same ones.

        What an answer owes to chance shows in starts and in halves of the rows, not in a seed.
        """
        if isinstance(random_state, np.random.Generator):
            return random_state
        return np.random.default_rng([0 if random_state is None else random_state, self.start])

    def components_of_one_variable(self, n_samples: int) -> int:
        """The most components that one variable may have, or why the limit cannot be had."""
        if self.max_components is None:
            return self.settings.components_of_one(n_samples)
        fewest_rows = self.settings.priors.rows_per_component
        affordable = max(1, n_samples // fewest_rows)
        if self.max_components > affordable:
            raise InvalidInputError(
                f"max_components = {self.max_components} needs at least "
                f"{fewest_rows * self.max_components} rows to tell components apart; got "
                f"{n_samples}: use at most {affordable}, or more rows"
            )
        return self.max_components


def asked_for(n_latents: int | None, domain_sizes: Sequence[int] | None) -> Wanted:
    """How many latents and states the user asks for."""
    if n_latents is not None:
        check_whole("n_latents", n_latents, at_least=0)
    if domain_sizes is not None and (
        isinstance(domain_sizes, str) or not isinstance(domain_sizes, Iterable)
    ):
        raise InvalidInputError(
            "domain_sizes should be numbers of states, one for each latent, such as (3, 2); got "
            f"{domain_sizes!r}: for the number of latents there is n_latents"
        )
    for size in () if domain_sizes is None else domain_sizes:
        check_whole("each of domain_sizes", size, at_least=2)
    return Wanted(n_latents, None if domain_sizes is None else tuple(domain_sizes))


def _check_resolution(resolution: float | str | None) -> None:
    """Refuse what is neither "auto", nor None, nor a number of rows."""
    if resolution is None or resolution == "auto":
        return
    if isinstance(resolution, bool | str) or not resolution > 0:
        raise InvalidInputError(
            'resolution should be "auto", None for the finest answer, or the number of rows up to '
            f"which the data are believed, above 0; got {resolution!r}"
        )
