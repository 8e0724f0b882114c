import errno
import json

import numpy as np
import pytest

from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.report.folder import (
    Result,
    new_folder,
    read_result,
    read_states,
    write_json,
    write_report,
    write_result,
    write_states,
)

UNSURE = {
    "row": 3,
    "name": None,
    "state": 0,
    "probability": 0.6,
    "second": 7,
    "second_probability": 0.4,
}


class Interrupted(BaseException):
    """Stands for Ctrl-C, which pytest would take for itself."""


def written(make_result, path):
    result = make_result(2, 4)
    states = np.zeros((400, 2), dtype=np.int64)
    certain = [np.ones((400, size)) / size for size in result.model.domain_sizes]
    with new_folder(path) as folder:
        write_result(folder, result, states, certain)
    return result


def test_what_was_written_reads_back(make_result, tmp_path):
    result = written(make_result, tmp_path / "result")
    assert read_result(tmp_path / "result") == Result(result.model, result.evidence, result.run)


def test_a_folder_appears_only_when_it_is_complete(tmp_path):
    with new_folder(tmp_path / "a" / "deep" / "result") as folder:
        (folder / "file").write_text("x")
        assert not (tmp_path / "a" / "deep" / "result").exists()
    assert (tmp_path / "a" / "deep" / "result" / "file").read_text() == "x"
    assert [path.name for path in (tmp_path / "a" / "deep").iterdir()] == ["result"]


OURS = '{"settings": {}}'


@pytest.mark.parametrize(
    "held",
    [
        {"run.json": OURS, "thesis.tex": "years of work"},
        {"run.json": '{"scripts": {}}'},
        {"run.json": "not ours", "model.json": "{}"},
        {"model.json": '{"a": "model of somebody else"}'},
        {"run.json": "[1, 2]"},
    ],
    ids=["a foreign file", "a foreign run.json", "no JSON", "a foreign model.json", "a list"],
)
def test_a_folder_that_is_not_wholly_ours_is_never_replaced(tmp_path, held):
    target = tmp_path / "result"
    target.mkdir()
    for name, text in held.items():
        (target / name).write_text(text)
    with (
        pytest.raises(InvalidInputError, match="mixoracle did not make"),
        new_folder(target, replace=True),
    ):
        pytest.fail("the folder was given away")
    assert {path.name: path.read_text() for path in target.iterdir()} == held


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), Interrupted()])
@pytest.mark.parametrize("existed", [True, False])
def test_whatever_stops_the_work_leaves_things_as_they_were(tmp_path, error, existed):
    target = tmp_path / "result"
    if existed:
        target.mkdir()
        (target / "run.json").write_text(OURS)

    def fail():
        with new_folder(target, replace=True) as folder:
            (folder / "run.json").write_text("new")
            raise error

    with pytest.raises(type(error)):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == (["result"] if existed else [])
    if existed:
        assert (target / "run.json").read_text() == OURS


def test_replacing_leaves_nothing_of_the_old_one(tmp_path):
    target = tmp_path / "result"
    target.mkdir()
    for name in ("run.json", "arrays-0.npz"):
        (target / name).write_text(OURS)
    with new_folder(target, replace=True) as folder:
        (folder / "run.json").write_text("new")
    assert [path.name for path in target.iterdir()] == ["run.json"]
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


def test_a_folder_made_in_the_meantime_is_kept(tmp_path):
    def race():
        with new_folder(tmp_path / "result"):
            (tmp_path / "result").mkdir()
            (tmp_path / "result" / "theirs").write_text("x")

    with pytest.raises(InvalidInputError, match="exists already"):
        race()
    assert (tmp_path / "result" / "theirs").is_file()


def test_the_folder_one_is_in_has_a_name_too(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with new_folder(".") as folder:
        (folder / "file").write_text("x")
    assert (tmp_path / "here" / "file").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["here"]


def test_a_file_is_not_a_folder(tmp_path):
    (tmp_path / "result").write_text("")
    with pytest.raises(InvalidInputError, match="it is a file"), new_folder(tmp_path / "result"):
        pytest.fail("the block should not run")


def test_numbers_that_json_lacks_become_null(tmp_path):
    write_json(tmp_path / "x.json", {"a": float("nan"), "b": (1.5, float("inf"))})
    document = json.loads((tmp_path / "x.json").read_text(), parse_constant=pytest.fail)
    assert document == {"a": None, "b": [1.5, None]}


def test_evidence_of_another_model_is_refused(make_result, tmp_path):
    written(make_result, tmp_path / "one")
    other = make_result(2, 4, observed_names=("a", "b", "c", "d"))
    write_json(tmp_path / "one" / "evidence.json", other.evidence.to_json())
    with pytest.raises(FileFormatError, match="speaks of other variables"):
        read_result(tmp_path / "one")


@pytest.mark.parametrize("name", ["evidence.json", "run.json", "model.json"])
def test_damage_is_said_in_one_sentence(make_result, tmp_path, damage, name):
    """A damaged file is refused, or what it still says makes a whole report."""
    written(make_result, tmp_path / "one")
    path, rng = tmp_path / "one" / name, np.random.default_rng(5)
    whole = json.loads(path.read_text())
    refused = 0
    for _ in range(24):
        path.write_text(damage.damaged(whole, rng), encoding="utf-8", errors="surrogatepass")
        try:
            result = read_result(tmp_path / "one")
        except FileFormatError:
            refused += 1
        else:
            write_report(tmp_path / "one", result)
    assert refused > 12


UNSURE = {"row": 0, "name": None, "state": 0, "probability": 0.5}
UNSURE |= {"second": 7, "second_probability": 0.4}


@pytest.mark.parametrize(
    ("place", "value", "sentence"),
    [
        (("effects", 0, "latent"), 7, "an effect should be one of a latent on a variable"),
        (("scatters", 0, "places"), [0], "a scatter should have a row of the sample for each"),
        (("scatters", 0, "places", 0), 10**6, "a scatter should have a row of the sample for each"),
        (("sample", "states", 0), [9, 9], "a row should have a state"),
        (("strip", "step"), 0, "the strip should count the states of each latent"),
        (("certainty", 0, "counts"), [], "each latent should have a histogram for each state"),
        (("certainty", 0, "least"), [UNSURE], "an unsure row should have states"),
        (("effects", 0, "low"), [], "an effect should be one of a latent on a variable"),
        (("columns", 0, "observed"), 1, "the columns should be those of the variables"),
        (("columns", 0, "family"), "none", "a column has an unknown family"),
        (("columns", 0, "missing"), -1, "a column should miss at most all cases"),
        (("pairs", 0, "members"), [1, 99], "a pair should be two variables of the model"),
        (("state_sizes", 0), [1], "each latent should have the size of each state"),
        (("drives",), [[0.5]], "each variable should have a probability for each latent"),
        (("n_samples",), 0, "at least one case"),
    ],
)
def test_evidence_that_does_not_fit_is_refused(make_result, tmp_path, place, value, sentence):
    written(make_result, tmp_path / "one")
    path = tmp_path / "one" / "evidence.json"
    document = json.loads(path.read_text())
    holder = document
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = value
    path.write_text(json.dumps(document))
    with pytest.raises(FileFormatError, match=sentence):
        read_result(tmp_path / "one")


def test_states_read_back_even_with_hostile_names(make_result, tmp_path):
    model = make_result(2, 4, latent_names=('a,"b', "row")).model
    states = np.array([[0, 1], [1, 0], [1, 1]])
    write_states(tmp_path / "states.csv", model, states)
    np.testing.assert_array_equal(read_states(tmp_path / "states.csv", model), states)


@pytest.mark.parametrize("text", ["", "row,H1\n0,1\n", "row,H1,H2\n0,x,1\n", "row,H1,H2\n0,1\n"])
def test_a_table_that_holds_no_states(make_result, tmp_path, text):
    (tmp_path / "states.csv").write_text(text)
    with pytest.raises(FileFormatError, match="is not a table of states"):
        read_states(tmp_path / "states.csv", make_result(2, 4).model)
