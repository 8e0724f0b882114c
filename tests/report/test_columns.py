import numpy as np
import pytest

from mixoracle import Observations
from mixoracle.errors import InvalidInputError
from mixoracle.mixtures.columns import read_columns
from mixoracle.report.words import by_kind, missing_note

ROWS = 200


def observations(seed=0):
    """One column of each kind, told from its values alone."""
    rng = np.random.default_rng(seed)
    answers = rng.choice(["no", "yes"], ROWS).astype(object)
    answers[:20] = None
    return Observations.from_arrays(
        {
            "answer": answers,
            "mark": rng.integers(1, 6, ROWS),
            "visits": rng.poisson(rng.gamma(1.0, 9.0, ROWS)),
            "flow": rng.normal(size=(ROWS, 2)),
        }
    )


@pytest.mark.parametrize("seed", range(5))
def test_each_column_says_what_it_was_taken_for(seed):
    columns = read_columns(observations(seed))[1]
    assert [column.title for column in columns] == [
        "answer",
        "mark",
        "visits",
        "flow[0]",
        "flow[1]",
    ]
    assert [column.observed for column in columns] == [0, 1, 2, 3, 3]
    assert [column.kind for column in columns] == ["levels", "levels", "counts", *["numbers"] * 2]
    assert columns[0].levels == ("no", "yes")
    assert columns[1].levels == ("1", "2", "3", "4", "5")
    assert columns[3].levels is None
    assert [column.missing for column in columns] == [20, 0, 0, 0, 0]


def test_only_what_nobody_said_is_a_guess():
    held = observations()
    assert [column.guessed for column in read_columns(held)[1]][:2] == [False, True]
    declared = read_columns(held, {"mark": "gaussian"})[1]
    assert declared[1].kind == "numbers"
    assert declared[1].levels is None
    assert not declared[1].guessed


def test_declared_families_have_names_in_words():
    rng = np.random.default_rng(0)
    held = Observations.from_arrays({"x": rng.gamma(2.0, size=ROWS)})
    words = {
        family: read_columns(held, family)[1][0].kind
        for family in ("gaussian", "diagonal", "student", "gamma")
    }
    assert len(set(words.values())) == 4
    assert words["gamma"] == "positive amounts"
    with pytest.raises(InvalidInputError, match="counts should be whole numbers"):
        read_columns(held, "counts")[1]


def test_kinds_are_counted_together():
    held = observations()
    groups = by_kind(read_columns(held)[1], ROWS)
    levels = groups[0]
    assert (levels.kind, levels.titles, levels.n_levels) == ("levels", ("answer", "mark"), (2, 5))
    assert (levels.missing, levels.cells) == (20, 2 * ROWS)
    assert sum(len(group.titles) for group in groups) == 5
    assert groups[-1].n_levels is None


def test_notes_say_what_a_stranger_has_to_know():
    columns = read_columns(observations())[1]
    assert missing_note(columns, ROWS) == (
        "20 of 1,000 cells are missing (2.0 %); the others are used, and nothing is imputed"
    )
    assert missing_note(columns[1:], ROWS) == ""
    assert missing_note(columns[:1] * 100_000, ROWS * 100).startswith("2,000,000 of 2,000,000,000")
    assert "less than 0.1 %" in missing_note(columns[:1], ROWS * 1000)
