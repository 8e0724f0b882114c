import json
import os
from dataclasses import replace

import numpy as np
import pytest

from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.experiments import results
from mixoracle.experiments.results import RESULTS_NAME, Result, Score, load, open_results
from mixoracle.experiments.studies import define


@pytest.fixture
def study():
    return define("small", runs=5)


@pytest.fixture
def folder(tmp_path, study, make_result):
    """A study of five runs of which three are done, out of order."""
    with open_results(tmp_path, study) as file:
        for number in (2, 0, 3):
            file.append(make_result(study, number))
    return tmp_path


def test_a_result_survives_its_line(study, make_result, failed):
    for changes in (
        {},
        failed,
        {"status": "fallback", "stage": "graph", "reason": "k(S) = 7"},
        {"score": Score(3, 0, False, None), "broken": ("assum:ssc",), "warned": ("UserWarning",)},
    ):
        result = make_result(study, 1, **changes)
        assert Result.from_line(result.to_line()) == result


def test_the_longest_line_stays_below_600_bytes(study, make_result):
    result = make_result(
        study,
        4,
        run=999_999,
        arm="scale=0.01 width=5",
        m=10,
        n=20,
        samples=100_000,
        domains=(10,) * 10,
        edges=200,
        status="fallback",
        stage="graph",
        reason="k(Γ)" * 1000,
        score=Score(100, 20, False, 0.123456),
        limit=Score(100, 20, False, 0.123456),
        accuracy=0.123456,
        broken=("assm:minimal", "assum:ssc", "obs:counting"),
        warned=("ConvergenceWarning",),
        seconds=12345.678,
    )
    assert len(result.to_line().encode()) < 600
    assert result.reason.endswith("…")
    assert "\n" not in result.to_line()


def test_a_distance_that_does_not_exist_is_none():
    assert Score(1, 0, False, float("nan")).tv is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"status": "great"}, "answered, fallback or failed"),
        ({"stage": "graph"}, "names its stage and reason"),
        ({"status": "failed", "score": None}, "names its stage and reason"),
        ({"status": "fallback", "stage": "kitchen", "reason": "x"}, "a stage is one of"),
        ({"score": None}, "has a score unless it failed"),
        ({"status": "failed", "stage": "oracle", "reason": "x"}, "has a score unless it failed"),
    ],
)
def test_a_result_checks_itself(study, make_result, changes, message):
    with pytest.raises(InvalidInputError, match=message):
        make_result(study, 0, **changes)


def test_an_exact_graph_has_no_distance():
    with pytest.raises(InvalidInputError, match="SHD 0; got 2"):
        Score(2, 0, True, 0.1)


def test_results_come_back_in_the_order_of_their_numbers(folder, study):
    record = load(folder)
    assert [result.run for result in record.results] == [0, 2, 3]
    assert record.study == study
    assert not record.is_complete


def test_what_is_done_is_not_asked_for_again(folder, study, make_result):
    with open_results(folder, study) as file:
        assert file.missing == [1, 4]
        file.append(make_result(study, 4))
        assert file.missing == [1]
        with pytest.raises(InvalidInputError, match="run 4 has its result already"):
            file.append(make_result(study, 4))
    assert [result.run for result in load(folder).results] == [0, 2, 3, 4]


def test_a_file_cut_off_anywhere_loses_the_torn_line_only(folder, study, make_result):
    path = folder / "results.jsonl"
    whole = path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(whole) if byte == ord("\n")]
    near_ends = {end + shift for end in (0, *ends) for shift in (-2, -1, 0, 1, 40)}
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        kept = sum(end <= cut for end in ends)
        assert len(load(folder).results) == kept
        assert path.read_bytes() == whole[:cut]  # reading repairs nothing
        if cut not in near_ends:
            continue  # the disk is waited for below
        with open_results(folder, study) as file:
            assert len(file.missing) == 5 - kept
            file.append(make_result(study, 1))
        lines = path.read_bytes().splitlines(keepends=True)
        assert lines[:-1] == whole.splitlines(keepends=True)[:kept]
        assert Result.from_line(lines[-1].decode()).run == 1


def test_a_last_line_of_rubbish_is_cut_off_too(folder, study, caplog):
    path = folder / "results.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + b"\0" * 50 + b"\n")
    with open_results(folder, study) as file:
        assert file.missing == [1, 4]
    assert path.read_bytes() == whole
    assert "torn last line" in caplog.text


def test_a_damaged_line_in_the_middle_is_an_error(folder, study):
    path = folder / "results.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b'{"run": 7\n' + lines[2])
    with pytest.raises(FileFormatError, match=r"line 2 of .* is damaged"):
        load(folder)


def test_two_results_for_one_run_are_an_error(folder):
    path = folder / "results.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines, lines[1]]))
    with pytest.raises(FileFormatError, match="more than one result for run 0"):
        load(folder)


def test_results_beyond_the_study_are_an_error(folder, study, make_result):
    line = replace(make_result(study, 0), run=5).to_line() + "\n"
    with (folder / "results.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(line)
    with pytest.raises(FileFormatError, match="beyond the 5 of its study"):
        load(folder)


@pytest.mark.parametrize(
    "other",
    [
        define("small", runs=4),
        define("small", runs=5, seed=1),
        define("small", runs=5, oracle="kmeans"),
        define("small", runs=5, covariance="text"),
        define("small", runs=5, samples=[2000]),
        define("paper", runs=5, samples=[1000]),
    ],
)
def test_another_study_is_refused(folder, other):
    before = (folder / "study.json").read_bytes()
    refused = pytest.raises(InvalidInputError, match=r"cannot be continued as .*another --out")
    with refused, open_results(folder, other):
        pytest.fail("the study was opened")
    assert (folder / "study.json").read_bytes() == before


def test_more_runs_continue_a_study(folder):
    longer = define("small", runs=9)
    with open_results(folder, longer) as file:
        assert file.missing == [1, 4, 5, 6, 7, 8]
    assert load(folder).study == longer


def test_other_versions_are_refused(folder, study, monkeypatch):
    now = results.current_versions()
    monkeypatch.setattr(results, "current_versions", lambda: {**now, "numpy": "0.1"})
    refused = pytest.raises(InvalidInputError, match=r"begun with numpy .* \(now 0\.1\)")
    with refused, open_results(folder, study):
        pytest.fail("the study was opened")


def test_two_processes_cannot_run_one_study(folder, study):
    refused = pytest.raises(InvalidInputError, match="another process is running")
    with open_results(folder, study), refused, open_results(folder, study):
        pytest.fail("the study was opened twice")


def test_results_without_a_header_are_refused(folder, study):
    os.remove(folder / "study.json")
    refused = pytest.raises(InvalidInputError, match=r"no study\.json that says what they are")
    with refused, open_results(folder, study):
        pytest.fail("the study was opened")


def test_a_folder_without_a_study_is_named(tmp_path):
    with pytest.raises(InvalidInputError, match="holds no study"):
        load(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "mixoracle-study", "version": 1}'])
def test_a_foreign_header_is_an_error(tmp_path, text):
    (tmp_path / "study.json").write_text(text)
    with pytest.raises(FileFormatError, match="not the header of a study"):
        load(tmp_path)


def test_a_header_of_another_version_is_an_error(folder):
    path = folder / "study.json"
    header = json.loads(path.read_text())
    path.write_text(json.dumps({**header, "version": 2}))
    with pytest.raises(FileFormatError, match="of version 1; got 'mixoracle-study' of version 2"):
        load(folder)


@pytest.mark.parametrize("name", ["study.json", "results.jsonl"])
def test_damage_is_said_in_one_sentence(folder, study, damage, name):
    path, rng = folder / name, np.random.default_rng(5)
    first, _, rest = path.read_text().partition("\n") if name == RESULTS_NAME else ("", "", "")
    whole = json.loads(first or path.read_text())
    refused = 0
    for _ in range(80):
        text = damage.damaged(whole, rng) + (f"\n{rest}" if rest else "")
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        try:
            load(folder)
        except FileFormatError:
            refused += 1
    assert refused > 40
