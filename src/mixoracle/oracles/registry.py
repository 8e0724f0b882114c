"""Oracles by name, and any object that may stand in the place of one.

A new oracle is one file with a class that has ``candidates(prepared, run)`` (see
:class:`~mixoracle.oracles.protocol.CandidateOracle`) and one line in :data:`ORACLES`, or a call of
:func:`register` from outside. The name stands for the object with its default settings, and both
behave alike: what such an object leaves open, the learner decides.
"""

from __future__ import annotations

from collections.abc import Callable

from mixoracle.errors import InvalidInputError
from mixoracle.mixtures.preparation import Prepared
from mixoracle.oracles.candidate import Candidate
from mixoracle.oracles.kmeans import KMeansOracle
from mixoracle.oracles.projection import ProjectionOracle
from mixoracle.oracles.protocol import CandidateOracle, LearningOracle, MixtureOracle
from mixoracle.oracles.run import Run, Stage
from mixoracle.oracles.signature import SignatureOracle

ORACLES: dict[str, Callable[[], CandidateOracle]] = {
    "signature": SignatureOracle,
    "projection": ProjectionOracle,
    "kmeans": KMeansOracle,
}


def register(name: str, make: Callable[[], CandidateOracle]) -> None:
    """Let ``oracle=name`` stand for the oracle that ``make()`` returns."""
    if name in ORACLES:
        raise InvalidInputError(f"an oracle called {name!r} is registered already; choose a name")
    ORACLES[name] = make


def resolve(oracle: object) -> CandidateOracle:
    """The oracle behind a name or an object; anything else is refused before any work."""
    if isinstance(oracle, str) and oracle in ORACLES:
        return ORACLES[oracle]()
    if isinstance(oracle, type):
        raise InvalidInputError(
            f"oracle should be an object, not the class {oracle.__name__}; "
            f"make one: {oracle.__name__}()"
        )
    if isinstance(oracle, CandidateOracle):
        return oracle
    if isinstance(oracle, LearningOracle):
        return FittingOracle(oracle)
    known = ", ".join(map(repr, ORACLES))
    raise InvalidInputError(
        f"oracle should be one of {known}, or an object with fit(observations) or "
        f"candidates(prepared, run); got {oracle!r}"
    )


class FittingOracle:
    """An object with ``fit(observations)`` as the learner uses oracles: the route of counts."""

    def __init__(self, oracle: LearningOracle) -> None:
        self.oracle = oracle

    def candidates(self, prepared: Prepared, run: Run, /) -> tuple[Candidate, ...]:
        """Fit the object, and refuse what is no oracle."""
        run.report(Stage.COUNTING)
        fitted = self.oracle.fit(prepared.observations)
        name = type(self.oracle).__name__
        if not isinstance(fitted, MixtureOracle):
            raise InvalidInputError(
                f"{name}.fit should return a fitted oracle with n_observed, count and projection; "
                f"got {type(fitted).__name__}"
            )
        return (Candidate.from_counts(fitted, name),)
