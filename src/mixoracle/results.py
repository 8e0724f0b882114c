"""What a fitted learner can show: tables with names, a summary, a report, features.

Everything here is read off a fitted learner and changes nothing in it. The learner keeps the rows
that it learned from for as long as it lives, so that these need no data; a pickle of it does not
hold them, and then the rows have to be given.
"""

from __future__ import annotations

import hashlib
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mixoracle._arrays import Floats, Integers
from mixoracle.assumptions import Verdict
from mixoracle.background import LABEL as BACKGROUND_LABEL
from mixoracle.errors import InvalidInputError
from mixoracle.inference import rival
from mixoracle.model import LatentModel
from mixoracle.model.frames import effects_frame, state_means
from mixoracle.model.state_names import state_labels, states_of
from mixoracle.observations import Observations

if TYPE_CHECKING:
    import pandas as pd

    from mixoracle.report.evidence import Evidence
    from mixoracle.report.summary import Summary

# Without these the graph or P(H) is not identifiable; the others only decide which method works.
# A model that contradicts what the user knows is not the model that was asked for.
_ESSENTIAL = (
    "obs:counting",
    "assm:twins",
    "assum:ssc",
    "assump:strong:NZ",
    "assump:strong:SDC",
    BACKGROUND_LABEL,
    rival.LABEL,
)


def essential_failure(verdicts: tuple[Verdict, ...]) -> str:
    """What failed that matters, in one sentence; empty where nothing did."""
    failed = [v for v in verdicts if v.holds is False and v.label in _ESSENTIAL]
    return "; ".join(f"{verdict.name}: {verdict.message}" for verdict in failed)


class LabelledResults(TransformerMixin):  # type: ignore[misc]
    """The results of a fitted learner under their names."""

    model_: LatentModel
    states_: Integers
    assumptions_: tuple[Verdict, ...]
    _observations: Observations | None

    def summary(self) -> Summary:
        """What was found and what to trust, in sentences; HTML in a notebook."""
        from mixoracle.report.summary import Summary

        return Summary(self._fitted(), self._evidence(self._kept()))

    def states_frame(self, X: Any = None) -> pd.DataFrame:
        """The state of each latent in each row, and its probability ``P(H1)``, as a frame.

        Rows are those that were learned from, or new ones ``X``. The index holds the identifiers of
        the rows where the data have them, and the index of a frame ``X``.
        """
        import pandas as pd

        model = self._fitted()
        rows = self._kept() if X is None else X
        states = self.states_ if X is None else self.predict(X)
        held = self.predict_proba(rows)
        each = np.arange(len(states))
        called = np.array(state_labels(model, states), dtype=object).reshape(states.shape)
        columns: dict[str, Any] = {}
        for j, name in enumerate(model.latent_names):
            unnamed = model.state_names[j] is None
            columns[name] = (
                states[:, j] if unnamed else pd.Categorical(called[:, j], states_of(model, j))
            )
        columns |= {
            f"P({name})": held[j][each, states[:, j]] for j, name in enumerate(model.latent_names)
        }
        ids = getattr(rows, "ids", None)
        index = pd.Index(ids) if ids is not None else getattr(X, "index", pd.RangeIndex(len(each)))
        return pd.DataFrame(columns, index=index)

    def state_means(self) -> pd.DataFrame:
        """What each state does; see :meth:`LatentModel.state_means`."""
        return state_means(self._fitted())

    def effects_frame(self) -> pd.DataFrame:
        """What follows from setting each latent; see :meth:`LatentModel.effects_frame`."""
        return effects_frame(self._fitted())

    def report(self, folder: str | PathLike[str], X: Any = None, *, replace: bool = False) -> Path:
        """Write the folder that ``mixoracle learn`` writes: report, model, states, graph.

        ``X`` are the rows that were learned from, needed after unpickling only. A folder that is
        there is kept, unless ``replace`` and mixoracle made it.
        """
        from mixoracle.report.folder import Result, new_folder, write_result
        from mixoracle.report.run import run_record

        observations = self._kept() if X is None else self._observe(X)
        evidence = self._evidence(observations)
        source = {
            "file": "a table in memory",
            "sha256": hashlib.sha256(observations.values.tobytes()).hexdigest(),
            "declared": {},
        }
        params = self.get_params(deep=False)
        settings = {name: _plain(value) for name, value in params.items()}
        settings["seed"] = settings.pop("random_state")
        run = run_record(observations, evidence, source, settings, {})
        probabilities = self.predict_proba(observations)
        with new_folder(folder, replace=replace, how="replace=True") as target:
            result = Result(self._fitted(), evidence, run)
            write_result(target, result, self.states_, probabilities, observations.ids)
        return Path(folder)

    def transform(self, X: Any) -> Floats:
        """The probability of each state of each latent in each row, side by side."""
        held: list[Floats] = self.predict_proba(X)
        return np.hstack(held) if held else np.zeros((self._observe(X).n_samples, 0))

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """What the columns of :meth:`transform` are: ``H1=0, H1=1, …``."""
        model = self._fitted()
        names = [
            f"{name}={state}"
            for j, name in enumerate(model.latent_names)
            for state in states_of(model, j)
        ]
        return np.array(names, dtype=object)

    def _fitted(self) -> LatentModel:
        check_is_fitted(self, "model_")
        return self.model_

    def _kept(self) -> Observations:
        """The rows that were learned from."""
        self._fitted()
        if self._observations is None:
            raise InvalidInputError(
                "the rows that were learned from are not kept in a pickle; give them as X"
            )
        return self._observations

    def _observe(self, X: Any) -> Observations:
        return self._source.observe(X)  # type: ignore[no-any-return]

    def _evidence(self, observations: Observations) -> Evidence:
        from mixoracle.report.gathering import gather

        failure = essential_failure(self.assumptions_)
        return gather(self, observations, failure)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if "_observations" in state:
            state["_observations"] = None
        return state


def _plain(value: Any) -> Any:
    """A setting as JSON holds it."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, dict):
        return {str(key): _plain(held) for key, held in value.items()}
    return repr(value)
