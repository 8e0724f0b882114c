"""Columns that are no measurements are set aside, named, and can be brought back."""

import datetime
import warnings

import numpy as np
import pandas as pd
import pytest

from mixoracle import LatentGraphLearner
from mixoracle.errors import DataWarning, InvalidInputError
from mixoracle.observations import Observations
from mixoracle.observations.screening import (
    CONSTANT,
    DATES,
    EMPTY,
    IDENTIFIER,
    NEARLY_IDENTIFIER,
    ROW_NUMBERS,
    UNNAMED,
    check_levels,
    names_rows,
    reason_of_cells,
    reason_of_numbers,
)

N = 40
RNG = np.random.default_rng(0)
ROWS = range(N)
DAYS = [datetime.date(2024, 1, 1) + datetime.timedelta(days=i) for i in ROWS]


@pytest.mark.parametrize(
    "spelled",
    [
        "%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M:%S.%f+00:00", "%d.%m.%Y", "%m/%d/%y",
        "%Y/%m/%d %H:%M", "%H:%M", "%I:%M:%S %p", "%d %b %Y", "%d-%b-%y", "%B %d, %Y", "%Y-%m",
    ],
)  # fmt: skip
def test_dates_and_times_in_text(spelled):
    moments = [
        datetime.datetime(2024, 1, 1, 7, 30) + datetime.timedelta(hours=31 * i) for i in ROWS
    ]
    cells = [moment.strftime(spelled) for moment in moments]
    assert reason_of_cells("when", [*cells, ""]) == DATES


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ([f"P{i:05d}" for i in ROWS], IDENTIFIER),
        ([f"P{min(i, 35)}" for i in ROWS], NEARLY_IDENTIFIER),
        (["Graz"] * N, CONSTANT),
        ([""] * N, EMPTY),
        ([True] * N, CONSTANT),
        (DAYS, DATES),
        (DAYS[:2], DATES),
        ([f"{12 + i}{'ABC'[i % 3]}" for i in ROWS], IDENTIFIER),
        (["yes", "no"] * (N // 2), ""),
        ([f"level {i % 10}" for i in ROWS], ""),
        ([f"P{i}" for i in range(10)], ""),
        ([f"{i}.5 kg" for i in ROWS], ""),
        ([f"1,{100 + i}" for i in ROWS], ""),
        ([f"{i}.5" for i in range(N - 1)] + ["n.d."], ""),
        ([f"c{i % 1500}" for i in range(6000)], "1500 different texts"),
    ],
)
def test_text(cells, reason):
    assert reason_of_cells("c", cells) == reason


@pytest.mark.parametrize(
    ("label", "numbers", "reason"),
    [
        ("n", np.arange(N), ROW_NUMBERS),
        ("n", 1000 + 5 * np.arange(N), ROW_NUMBERS),
        ("seconds", np.round(0.1 * np.arange(N), 10), ROW_NUMBERS),
        ("n", np.arange(N)[::-1], ROW_NUMBERS),
        ("day", [20240101 + i % 28 for i in range(N)], DATES),
        ("part_id", RNG.permutation(10_000)[:N], IDENTIFIER),
        ("PartID", RNG.permutation(10_000)[:N], IDENTIFIER),
        ("visits", RNG.permutation(N), ""),
        ("fluid", RNG.permutation(10_000)[:N], ""),
        ("k", np.full(N, 5.0), CONSTANT),
        ("e", np.full(N, np.nan), EMPTY),
        ("a", RNG.normal(size=N), ""),
        ("a", np.arange(10), ""),
        ("Unnamed: 0", [3, 1, 2], UNNAMED),
        ("Unnamed: 3", [np.nan, np.nan], EMPTY),
        ("Unnamed: 0", [1, 1, 2], ""),
        ("Unnamed: 4", [1.5, 1.25, 2], ""),
    ],
)
def test_numbers(label, numbers, reason):
    assert reason_of_numbers(label, np.asarray(numbers, dtype=float)) == reason


def test_names_of_identifiers():
    assert all(map(names_rows, ["id", "ID", "part_id", "Case No.", "idx", "sampleId"]))
    assert not any(map(names_rows, ["fluid", "acid", "video", "nose", "rows", "PAID"]))


def table():
    return pd.DataFrame(
        {
            "when": pd.date_range("2024-01-01", periods=N),
            "part": [f"P{i}" for i in ROWS],
            "a": RNG.normal(size=N),
            "b": RNG.normal(size=N),
        }
    )


SENTENCE = (
    r"set aside as no measurements: 'when' \(dates or times\), 'part' \(different in every row\); "
    "keep= brings a column back"
)


def test_a_warning_names_them_with_the_reason():
    with pytest.warns(DataWarning, match=SENTENCE) as caught:
        assert Observations.from_frame(table()).names == ("a", "b")
    assert caught[0].filename == __file__


@pytest.mark.filterwarnings("error")
def test_the_caller_overrules():
    kept = Observations.from_frame(table(), keep="part", drop="when")
    assert kept.names == ("part", "a", "b")
    assert Observations.from_frame(table(), id="part", drop=["when"]).ids == tuple(table()["part"])
    grouped = Observations.from_frame(table(), {"P": ["part", "a"], "B": "b"}, drop="when")
    assert grouped.names == ("P", "B")
    declared = Observations.from_frame(table(), categorical="part", drop="when")
    assert "part" in declared
    with pytest.raises(InvalidInputError, match="'when' should hold numbers, text or truth values"):
        Observations.from_frame(table(), keep=True)


def test_blocks_of_equal_width_keep_constants_in_place():
    frame = table()[["a", "b"]].assign(dark=0.0, c=RNG.normal(size=N))
    frame.insert(0, "part", table()["part"])
    with pytest.warns(DataWarning, match=r"measurements: 'part' \("):
        assert Observations.from_frame(frame, groups=2).widths == (2, 2)


def test_listed_groups_may_leave_them_out():
    with pytest.warns(DataWarning, match="set aside"):
        assert Observations.from_frame(table(), {"G": ["a", "b"]}).names == ("G",)


def test_nothing_left_is_refused():
    with pytest.raises(InvalidInputError, match=r"none seems to be one: 'when' .* with keep="):
        Observations.from_frame(table()[["when", "part"]])


def test_new_rows_need_only_the_columns_that_were_learned_from():
    with pytest.warns(DataWarning, match="set aside"):
        learner = LatentGraphLearner(random_state=0).fit(table())
    assert learner.model_.observed_names == ("a", "b")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = learner.predict(table())
        np.testing.assert_array_equal(learner.predict(table()[["b", "a"]]), whole)
        np.testing.assert_array_equal(learner.predict(table()[["a", "b"]].to_numpy()), whole)
        assert len(learner.predict(table().iloc[:3])) == 3


def test_a_forgotten_identifier_does_not_exhaust_memory():
    levels = [f"P{i}" for i in range(20_000)]
    held = Observations.from_arrays({"part": levels, "a": np.zeros(20_000)})
    sentence = "at most 1000 of them; 'part' has 20000 in 20000 rows: leave it out, or put levels"
    with pytest.raises(InvalidInputError, match=sentence):
        LatentGraphLearner().fit(held)
    check_levels(["few"], [["x"] * 900], 10**7)
