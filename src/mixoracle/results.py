"""What a fitted learner can tell: states of new rows, tables with names, a summary, a report.

Everything here is read off a fitted learner and changes nothing in it. The learner keeps the rows
that it learned from for as long as it lives, so that these need no data; a pickle of it does not
hold them, and then the rows have to be given.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle._checks import check_whole, make_generator
from mixoracle.assumptions import Verdict
from mixoracle.errors import InvalidInputError
from mixoracle.mixtures.columns import Column
from mixoracle.model import LatentModel
from mixoracle.model.frames import effects_frame, state_means
from mixoracle.model.posterior import (
    draw,
    mean_log_likelihood,
    most_likely_states,
    state_probabilities,
)
from mixoracle.model.state_names import state_labels, states_of
from mixoracle.observations import Observations
from mixoracle.observations.answers import conform
from mixoracle.observations.described import ID
from mixoracle.observations.frames import row_ids, row_index
from mixoracle.observations.new_rows import NewRows, new_rows
from mixoracle.observations.source import Source
from mixoracle.report.pictured import PicturedResults
from mixoracle.trust.essential import essential_failure

if TYPE_CHECKING:
    import pandas as pd

    from mixoracle.report.evidence import Evidence
    from mixoracle.report.summary import Summary
    from mixoracle.trust.support import Support

RandomState = int | np.random.Generator | None


class LabelledResults(PicturedResults, TransformerMixin):  # type: ignore[misc]
    """The results of a fitted learner under their names."""

    model_: LatentModel
    states_: Integers
    set_aside_: Bools
    assumptions_: tuple[Verdict, ...]
    observations_: Observations | None
    feature_names_in_: NDArray[np.object_]
    _row_index: pd.Index | None  # of the frame that was learned from
    columns_: tuple[Column, ...]
    _source: Source
    _learned_as: LatentModel  # model_ under the names that the verdicts have
    _learned_from: Observations
    _n_copies: int = 0  # rows that were not counted, because an earlier one is the same

    def predict(self, X: Any) -> Integers:
        """The most likely state of each latent in each row, (N, m)."""
        return most_likely_states(self._fitted(), self._blocks(X))

    def predict_proba(self, X: Any) -> list[Floats]:
        """For each latent the probability of each of its states, an (N, dim_j) array each."""
        return state_probabilities(self._fitted(), self._blocks(X))

    def score(self, X: Any, y: object = None) -> float:
        """The mean log-likelihood of the rows; larger is better. ``y`` is ignored."""
        return mean_log_likelihood(self._fitted(), self._blocks(X))

    def sample(
        self, n_samples: int = 1, random_state: RandomState = None
    ) -> tuple[Observations, Integers]:
        """Draw new rows from the learned model, and the (n_samples, m) states behind them."""
        check_whole("n_samples", n_samples, at_least=1)
        model = self._fitted()
        blocks, states = draw(model, n_samples, make_generator(random_state))
        like = self._learned_from
        return dataclasses.replace(like, values=np.hstack(blocks), ids=None), states

    def _blocks(self, X: Any) -> list[Floats]:
        """The blocks of new rows in the order of the model, grouped as in fit."""
        model = self._fitted()
        if model.reading is not None and model.reading.exposure is not None:
            return new_rows(model, X, missing=None).kept
        observations = self._source.observe(X)
        unknown = [name for name in model.observed_names if name not in observations]
        if unknown:
            raise InvalidInputError(
                f"new rows should have the variables that were learned from; {unknown[0]!r} is "
                f"missing, there are {', '.join(observations.names)}"
            )
        blocks = conform(observations, model.observed_names, self._learned_from)
        return NewRows(model, tuple(blocks)).kept

    def summary(self) -> Summary:
        """What was found and what to trust, in sentences; HTML in a notebook."""
        from mixoracle.report.summary import Summary

        return Summary(self._fitted(), self._evidence(self.learned_rows()))

    def states_frame(self, X: Any = None) -> pd.DataFrame:
        """The state of each latent in each row, and its probability ``P(H1)``, as a frame.

        Rows are those that were learned from, or new ones ``X``. The index is that of the frame
        they came in, or holds the identifiers of the rows where the data have them.
        """
        import pandas as pd

        model = self._fitted()
        rows = self.learned_rows() if X is None else X
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
        index = self._row_index if X is None else row_index(X)
        if ids is not None and ids != row_ids(index):
            index = pd.Index(ids)
        return pd.DataFrame(columns, index=index)

    def state_means(self) -> pd.DataFrame:
        """What each state does; see :meth:`LatentModel.state_means`."""
        return state_means(self._fitted())

    def effects_frame(self) -> pd.DataFrame:
        """What follows from setting each latent; see :meth:`LatentModel.effects_frame`."""
        return effects_frame(self._fitted())

    def report(
        self,
        folder: str | PathLike[str],
        X: Any = None,
        *,
        replace: bool = False,
        support: Support | None = None,
    ) -> Path:
        """Write the folder that ``mixoracle learn`` writes: report, model, states, graph.

        ``X`` are the rows that were learned from, needed after unpickling only. A folder that is
        there is kept, unless ``replace`` and mixoracle made it. The ``support`` that a bootstrap
        returned is shown with the answer.
        """
        from mixoracle.report.folder import Result, new_folder, write_result
        from mixoracle.report.resampling import Resampled
        from mixoracle.report.run import run_record

        held = None if support is None else Resampled.checked(support, self._fitted())
        observations = self.learned_rows() if X is None else self._observe(X)
        probabilities = self.predict_proba(observations)
        evidence = self._evidence(observations, probabilities)
        evidence = dataclasses.replace(evidence, support=held)
        source = {
            "file": "a table in memory",
            "sha256": hashlib.sha256(observations.values.tobytes()).hexdigest(),
            "declared": {},
        }
        params = self.get_params(deep=False)
        settings = {name: _plain(value) for name, value in params.items()}
        settings["seed"] = settings.pop("random_state")
        run = run_record(observations, evidence, source, settings, {})
        with new_folder(folder, replace=replace, how="replace=True") as target:
            result = Result(self._fitted(), evidence, run)
            write_result(
                target,
                result,
                self.states_,
                probabilities,
                observations.ids,
                _id_title(observations),
                self.set_aside_,
            )
        return Path(folder)

    def write_states(self, X: Any, folder: str | PathLike[str]) -> Path:
        """Write the states of rows that do not fit into memory, part by part, as parquet.

        ``X`` are :class:`~mixoracle.ChunkedObservations` or a Dask collection. The folder appears
        when it is complete.
        """
        from mixoracle.inference.passes import spread_over
        from mixoracle.observations.chunked import as_chunked
        from mixoracle.oracles.run import to_log
        from mixoracle.report.folder import new_folder
        from mixoracle.report.parts import write_parts

        model, chunked = self._fitted(), as_chunked(X, None, None)
        if chunked is None:
            raise InvalidInputError(
                f"write_states takes rows in chunks; got {type(X).__name__}: use states_frame"
            )
        jobs = self.get_params(deep=False)["n_jobs"]
        with new_folder(folder, how="another name") as target:
            write_parts(target, model, chunked, spread_over(1 if jobs is None else jobs), to_log)
        return Path(folder)

    def transform(self, X: Any) -> Floats:
        """The probability of each state of each latent in each row, side by side."""
        held: list[Floats] = self.predict_proba(X)
        return np.hstack(held) if held else np.zeros((self._observe(X).n_samples, 0))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.non_deterministic = False
        return tags

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

    def learned_rows(self) -> Observations:
        """The rows as they were learned from; a pickle does not hold them."""
        self._fitted()
        if self.observations_ is None:
            raise InvalidInputError(
                "the rows that were learned from are not kept in a pickle; give them as X"
            )
        return self.observations_

    def _remember(self, observations: Observations, columns: Sequence[str] | None, X: Any) -> None:
        """Keep what results are labelled with: the rows, their index, the names of columns."""
        self.observations_ = observations
        self._row_index = row_index(X)
        self.__dict__.pop("feature_names_in_", None)
        if columns is not None:
            self.feature_names_in_ = np.array(columns, dtype=object)

    def _observe(self, X: Any) -> Observations:
        return self._source.observe(X)

    def _evidence(
        self, observations: Observations, probabilities: list[Floats] | None = None
    ) -> Evidence:
        from mixoracle.report.gathering import gather
        from mixoracle.report.renaming import renamed_evidence

        failure = essential_failure(self.assumptions_)
        notes = [self._source.note] if self._source.note else []
        evidence = gather(self, observations, failure, notes, probabilities)
        return renamed_evidence(evidence, self._learned_as, self.model_)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if "observations_" in state:
            state["observations_"] = state["_row_index"] = None
        return state


def _id_title(observations: Observations) -> str:
    """The column that names the rows."""
    named = [] if observations.columns is None else observations.columns.taken(ID)
    return named[0] if named else "row"


def _plain(value: Any) -> Any:
    """A setting as JSON holds it."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, dict):
        return {str(key): _plain(held) for key, held in value.items()}
    return repr(value)
