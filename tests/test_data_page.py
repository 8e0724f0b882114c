"""docs/data.md runs from top to bottom: its programs and commands print what it says."""

import io
import re
import shlex
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from mixoracle import Columns, LatentGraphLearner, Observations
from mixoracle.cli import main
from mixoracle.datasets import item_problem, paper_problem
from mixoracle.errors import DataWarning, InvalidInputError
from mixoracle.families import registry
from mixoracle.families.ellipsoids import MAX_WIDTH
from mixoracle.mixtures.preparation import LARGEST
from mixoracle.observations.answers import MOST_LEVELS
from mixoracle.observations.columns import MISSING_WORDS

PAGE = (Path(__file__).parent.parent / "docs" / "data.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$(?:\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


def test_the_page_does_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shared, ran = {}, []
    for language, body, expected in BLOCK.findall(PAGE):
        ran.append(language)
        if language == "console":
            for line in body.splitlines():
                program, *arguments = shlex.split(line.removeprefix("$ "))
                assert program == "mixoracle"
                result = CliRunner().invoke(main, arguments)
                assert result.exit_code == 0, result.output
        elif language == "toml":
            Path("columns.toml").write_text(body, encoding="utf-8")
            assert Columns.read("columns.toml").described["weight"].unit == "kg"
        else:
            printed = io.StringIO()
            with redirect_stdout(printed):
                exec(compile(body, "data.md", "exec"), shared)
            assert printed.getvalue() == expected
    assert ran == ["python", "console", "python", "toml"]


def test_the_page_names_what_the_code_knows():
    for family in registry.names():
        assert f"`{family}`" in PAGE
        assert family in CliRunner().invoke(main, ["learn", "--help"]).output
    for word in MISSING_WORDS - {""}:
        assert f"`{word}`" in PAGE
    assert MOST_LEVELS == 10
    assert "at most ten different whole ones" in PAGE
    assert f"more than {MAX_WIDTH} columns" in PAGE
    assert f"beyond {LARGEST:.0e}".replace("+", "") in PAGE


@pytest.fixture(scope="module")
def blocks():
    problem = paper_problem(2, 5, 3, n_samples=600, random_state=1, covariance="code")
    return {name: np.array(problem.observations[name]) for name in problem.observations.names}


def fit(blocks):
    return LatentGraphLearner(random_state=0).fit(Observations.from_arrays(blocks))


def test_a_constant_measurement_has_no_cause(blocks):
    model = fit({**blocks, "C": np.full(600, 3.0), "D": np.array(["a"] * 600)}).model_
    assert model.parents(5) == model.parents(6) == ()
    assert model.n_latent == 2


def test_units_change_nothing(blocks):
    scales = dict(zip(blocks, (1e9, 1e-9, 1.0, 1e3, 1e-30), strict=True))
    scaled = fit({name: block * scales[name] for name, block in blocks.items()})
    plain = fit(blocks)
    np.testing.assert_array_equal(scaled.states_, plain.states_)
    for name, held, own in zip(
        blocks, scaled.model_.components, plain.model_.components, strict=True
    ):
        np.testing.assert_allclose(held.means, own.means * scales[name], rtol=1e-6)


@pytest.mark.filterwarnings("ignore::mixoracle.errors.AssumptionWarning")
def test_equal_measurements_are_pointed_out(blocks):
    verdicts = {
        verdict.label: verdict for verdict in fit({**blocks, "Y": blocks["X1"]}).assumptions_
    }
    assert verdicts["sec:bg"].holds is False
    assert "X1 and Y" in verdicts["sec:bg"].message


def test_empty_rows_get_the_most_likely_state(blocks):
    gappy = {name: block.copy() for name, block in blocks.items()}
    for block in gappy.values():
        block[:3] = np.nan
    with pytest.warns(DataWarning, match="3 of 600 rows have no value at all"):
        learner = fit(gappy)
    likeliest = np.unravel_index(learner.model_.joint.table.argmax(), learner.model_.domain_sizes)
    np.testing.assert_array_equal(learner.states_[:3], [likeliest] * 3)
    gappy["X1"][:] = np.nan


def test_empty_columns_are_refused(blocks):
    empty = {**blocks, "X1": np.full((600, 2), np.nan)}
    with pytest.raises(InvalidInputError, match=r"X1\[0\] has no value in any row: drop it"):
        fit(empty)


def test_rare_and_unseen_levels():
    problem = item_problem(1, 6, 600, random_state=0)
    answers = np.array(["no", "yes"], dtype=object)[problem.observations.values.astype(int)]
    answers[0, 0] = "perhaps"
    names = problem.observations.names
    learner = fit(dict(zip(names, answers.T, strict=True)))
    assert learner.model_.components[0].probabilities.min() > 0
    new = answers[:1].copy()
    new[0, 1] = "never heard of"
    gap = answers[:1].copy()
    gap[0, 1] = None
    with pytest.warns(DataWarning, match="'never heard of'"):
        unseen = learner.predict_proba(Observations.from_array(new, names=names))[0]
    missing = learner.predict_proba(Observations.from_array(gap, names=names))[0]
    np.testing.assert_allclose(unseen, missing)
