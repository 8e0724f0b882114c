import csv
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mixoracle import LatentGraphLearner, LatentModel, Observations
from mixoracle.cli.fitting import plan_of
from mixoracle.datasets import item_problem, paper_problem
from mixoracle.errors import AssumptionWarning
from mixoracle.families import registered
from mixoracle.families.gaussian import GAUSSIAN
from mixoracle.metrics import compare
from mixoracle.oracles.registry import ORACLES
from mixoracle.oracles.run import Stage
from mixoracle.structure.search import METHODS

FILES = {"model.json", "states.csv", "report.html", "graph.svg", "run.json", "evidence.json"}


def learn(run, problem, *arguments):
    return run("learn", problem / "data.csv", *arguments)


def test_what_learn_leaves_behind(learned):
    names = {path.name for path in learned.iterdir()}
    arrays = {name for name in names if name.startswith("arrays-")}
    assert names - arrays == FILES
    assert len(arrays) == 1
    run_record = json.loads((learned / "run.json").read_text())
    assert run_record["seed"] == 0
    assert run_record["versions"]["mixoracle"]
    assert run_record["timings"]["finding the components of each variable"] > 0
    assert run_record["data"]["file"] == "data.csv"
    # Every stage that the learner names has its place in the forecast.
    assert set(run_record["timings"]) < {stage for stage, _ in plan_of("signature", 300)}


def test_the_round_trip_gives_what_python_gives(run, problem, learned):
    result = run("evaluate", learned, problem, "--json")
    assert result.exit_code == 0, result.output
    truth = LatentModel.load(problem / "truth")
    learner = LatentGraphLearner(random_state=0).fit(Observations.read(problem / "data.csv"))
    found = compare(truth, learner.model_)
    told = json.loads(result.stdout)
    assert told["shd"] == found.shd
    assert told["bipartite_exact"] == found.bipartite_exact
    assert told["joint_tv"] == pytest.approx(found.joint_tv, abs=1e-12)
    assert LatentModel.load(learned) == learner.model_


def test_the_same_seed_gives_the_same_bytes(run, problem, learned, tmp_path):
    assert learn(run, problem, "--out", "again").exit_code == 0
    again = tmp_path / "again"
    arrays = next(learned.glob("arrays-*.npz")).name
    for name in ("model.json", arrays, "states.csv", "evidence.json", "graph.svg"):
        assert (again / name).read_bytes() == (learned / name).read_bytes(), name


def test_the_states_are_those_of_the_learner(learned, problem):
    with (learned / "states.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    learner = LatentGraphLearner(random_state=0).fit(Observations.read(problem / "data.csv"))
    names = learner.model_.latent_names
    states = np.array([[int(row[name]) for name in names] for row in rows])
    np.testing.assert_array_equal(states, learner.states_)
    certain = np.array([[float(row[f"P({name})"]) for name in names] for row in rows])
    assert np.all((certain > 0) & (certain <= 1))


def test_the_id_column_names_the_cases(run, problem, tmp_path):
    lines = (problem / "data.csv").read_text().splitlines()
    named = ["case," + lines[0], *(f"c{i:03},{line}" for i, line in enumerate(lines[1:]))]
    (tmp_path / "data.csv").write_text("\n".join(named))
    result = run("learn", "data.csv", "--id-column", "case", "--out", "result", "--quiet")
    assert result.exit_code == 0, result.output
    with (tmp_path / "result" / "states.csv").open() as stream:
        ids = [row["case"] for row in csv.DictReader(stream)]
    assert ids == [f"c{i:03}" for i in range(len(lines) - 1)]
    assert "case" not in LatentModel.load(tmp_path / "result").observed_names


def test_ids_beside_columns_in_equal_blocks(run, problem, tmp_path):
    lines = (problem / "data.csv").read_text().splitlines()
    named = ["case," + lines[0], *(f"c{i:03},{line}" for i, line in enumerate(lines[1:]))]
    (tmp_path / "data.csv").write_text("\n".join(named))
    arguments = ("--id-column", "case", "--groups", 5, "--out", "result", "--quiet")
    assert run("learn", "data.csv", *arguments).exit_code == 0
    assert (tmp_path / "result" / "states.csv").read_text().startswith("case,H1")


def test_the_summary_says_what_was_found(run, problem, learned):
    result = learn(run, problem, "--out", "result")
    model = LatentModel.load(learned)
    assert f"{model.n_latent} hidden causes found behind 400 cases of 5 measurements." in (
        result.stdout
    )
    for name, size in zip(model.latent_names, model.domain_sizes, strict=True):
        assert f"{name} has {size} states (" in result.stdout
    assert "What to trust" in result.stdout
    assert "open result/report.html in a browser" in result.stdout
    assert "step 2 of 10: finding the components of each variable" in result.stderr


def test_json_is_one_document_and_nothing_else(run, problem, learned):
    result = learn(run, problem, "--out", "result", "--json")
    told = json.loads(result.stdout)
    assert result.stderr == ""
    model = LatentModel.load(learned)
    assert [latent["name"] for latent in told["latents"]] == list(model.latent_names)
    assert [latent["states"] for latent in told["latents"]] == list(model.domain_sizes)
    assert {verdict["verdict"] for verdict in told["verdicts"]} <= {
        "holds",
        "fails",
        "cannot be checked",
    }


def test_quiet_prints_nothing(run, problem):
    result = learn(run, problem, "--out", "result", "--quiet")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


@pytest.fixture
def failing(monkeypatch):
    """A learner that finds an assumption broken, whatever the data."""

    class Doubting(LatentGraphLearner):
        def fit(self, *arguments, **choices):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                super().fit(*arguments, **choices)
            warnings.warn("nondegeneracy (a): a state never occurs", AssumptionWarning, 1)
            return self

    monkeypatch.setattr("mixoracle.cli.fitting.LatentGraphLearner", Doubting)


def test_a_failed_assumption_exits_with_3_under_strict_and_is_still_written(
    run, problem, failing, tmp_path
):
    result = learn(run, problem, "--out", "result", "--strict", "--quiet")
    assert result.exit_code == 3
    assert {path.name for path in (tmp_path / "result").iterdir()} > FILES
    assert run("check", "result", "--quiet").exit_code == 0
    assert run("check", "result", "--strict", "--quiet").exit_code == 3


def test_a_failed_assumption_exits_with_0_otherwise(run, problem, failing):
    assert learn(run, problem, "--out", "result", "--quiet").exit_code == 0


def test_the_exit_code_is_the_learners_own_judgement(run, tmp_path):
    """With so few cases some joint states are never seen, and the learner says so or not."""
    for seed in (3, 4):
        arguments = f"--latents 3 --observed 6 --samples 210 --covariance code --seed {seed}"
        run("simulate", *arguments.split(), "--out", f"p{seed}", "--quiet")
        data = tmp_path / f"p{seed}" / "data.csv"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            learner = LatentGraphLearner(random_state=0).fit(Observations.read(data))
        failed = any(issubclass(w.category, AssumptionWarning) for w in caught)
        failed |= learner.verdict_.level == "doubt"
        result = run("learn", data, "--out", f"r{seed}", "--strict", "--quiet")
        assert result.exit_code == (3 if failed else 0)


def test_an_answer_that_is_not_believed_exits_with_3_under_strict(run, problem):
    few = ("--out", "result", "--max-components", 2, "--strict", "--quiet")
    assert learn(run, problem, *few).exit_code == 3


def test_a_result_is_never_overwritten_without_force(run, problem, learned, tmp_path):
    shutil.copytree(learned, tmp_path / "result")
    before = (tmp_path / "result" / "run.json").read_bytes()
    result = learn(run, problem, "--out", "result", "--quiet")
    assert result.exit_code == 2
    assert result.stderr == (
        "Error: result exists already and would be overwritten; choose another folder, or say "
        "--force\n"
    )
    assert (tmp_path / "result" / "run.json").read_bytes() == before
    assert learn(run, problem, "--out", "result", "--quiet", "--force").exit_code == 0
    assert (tmp_path / "result" / "run.json").read_bytes() != before


def test_force_does_not_touch_what_we_did_not_make(run, problem, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("years of work")
    result = learn(run, problem, "--out", "thesis", "--quiet", "--force")
    assert result.exit_code == 2
    assert "holds files that mixoracle did not make" in result.stderr
    assert (tmp_path / "thesis" / "chapter.tex").read_text() == "years of work"


def test_force_does_not_delete_the_data_and_the_truth(run, tmp_path):
    simulate = ("simulate", "--latents", 1, "--observed", 3, "--samples", 200, "--out", "problem")
    assert run(*map(str, simulate), "--quiet").exit_code == 0
    before = sorted(path.name for path in (tmp_path / "problem").rglob("*"))
    result = run("learn", "problem/data.csv", "--out", "problem", "--force", "--quiet")
    assert result.exit_code == 2
    assert "holds the data themselves (data.csv)" in result.stderr
    assert sorted(path.name for path in (tmp_path / "problem").rglob("*")) == before


def test_a_file_in_the_place_of_the_folder(run, problem, tmp_path):
    (tmp_path / "result").write_text("")
    result = learn(run, problem, "--out", "result")
    assert result.exit_code == 2
    assert "Directory 'result' is a file" in result.stderr


def test_an_empty_folder_may_be_filled(run, problem, tmp_path):
    (tmp_path / "result").mkdir()
    assert learn(run, problem, "--out", "result", "--quiet").exit_code == 0


def test_a_full_disk_leaves_nothing_and_says_so(run, problem, monkeypatch, tmp_path):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("mixoracle.report.folder.write_states", full)
    result = learn(run, problem, "--out", "result", "--quiet")
    assert result.exit_code == 2
    assert result.stderr == (
        "Error: no space left on device; free some space, or choose another disk\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_real_limit_on_the_size_of_files_leaves_nothing(problem, tmp_path):
    resource = pytest.importorskip("resource")
    script = (
        "import resource, sys\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, (4096, {resource.RLIM_INFINITY}))\n"
        "from mixoracle.cli import main\n"
        "main(sys.argv[1:])\n"
    )
    arguments = ["learn", str(problem / "data.csv"), "--out", "result", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == "Error: file too large; choose a place without such a limit\n"
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_leaves_nothing(problem, tmp_path):
    """A real process, a real signal, in the midst of the work."""
    script = (
        "import signal, sys, time, mixoracle.report.folder as folder\n"
        # A test run in the background has SIGINT ignored, and children inherit that.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "write = folder.write_states\n"
        "def slow(*arguments):\n"
        "    write(*arguments)\n"
        "    print('half-way', flush=True)\n"
        "    time.sleep(60)\n"
        "folder.write_states = slow\n"
        "from mixoracle.cli import main\n"
        "main(sys.argv[1:])\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, "learn", problem / "data.csv", "--out", "r", "--quiet"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout.readline() == "half-way\n"
    assert next(tmp_path.iterdir()).name.startswith(".r-")
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert said == "Stopped; no result was written.\n"
    assert list(tmp_path.iterdir()) == []
    assert time.monotonic() - begin < 30


def test_settings_reach_the_learner(run, problem, monkeypatch):
    seen = {}

    class Recording(LatentGraphLearner):
        def fit(self, *arguments, **choices):
            seen.update(self.get_params())
            return super().fit(*arguments, **choices)

    monkeypatch.setattr("mixoracle.cli.fitting.LatentGraphLearner", Recording)
    arguments = "--search ges --max-components 9 --seed 5 --jobs 2 --out result --quiet"
    assert learn(run, problem, *arguments.split()).exit_code == 0
    wanted = {"latent_search": "ges", "max_components": 9, "random_state": 5, "n_jobs": 2}
    assert wanted.items() <= seen.items()
    assert seen["strict"] is False


def test_no_processor_is_bad_input(run, problem):
    result = learn(run, problem, "--jobs", 0, "--out", "result")
    assert result.exit_code == 2
    assert "expected 1 or more processors, or -1 for all; got 0" in result.stderr


@pytest.mark.parametrize("oracle", ["signature", "projection", "kmeans"])
@pytest.mark.parametrize("n_rows", [2, 10_000, 10_000_000])
def test_the_shares_of_the_stages_add_up(oracle, n_rows):
    shares = dict(plan_of(oracle, n_rows))
    assert sum(shares.values()) == pytest.approx(1)
    assert all(share > 0 for share in shares.values())


def test_of_many_rows_pieces_take_a_small_share_of_the_time():
    few, many = (dict(plan_of("signature", n_rows)) for n_rows in (2_000, 1_000_000))
    assert many[Stage.SEGMENTING] < few[Stage.SEGMENTING] / 5
    assert plan_of("an oracle of one's own", 1_000) == ()


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    """Answers, marks, counts, amounts and numbers of 300 cases with gaps, two of them empty."""
    rng = np.random.default_rng(0)
    ill = rng.random(300) < 0.4
    columns = {
        "mood": np.where(rng.random(300) < np.where(ill, 0.9, 0.1), "low, bad", "good"),
        "pain": rng.binomial(4, np.where(ill, 0.85, 0.15)) + 1,
        "visits": rng.poisson(rng.gamma(3.0, np.where(ill, 5.0, 0.5))),
        "cost": rng.gamma(6.0, np.where(ill, 40.0, 5.0)).round(2),
        "pulse": rng.normal(np.where(ill, 85.0, 65.0), 4.0).round(1),
    }
    cells = np.array([[str(cell) for cell in held] for held in columns.values()], dtype=object).T
    cells[rng.random(cells.shape) < 0.1] = ""
    cells[[7, 70]] = ""
    path = tmp_path_factory.mktemp("survey") / "survey.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(cells.tolist())
    return path, int((cells == "").sum())


def test_columns_of_all_kinds_with_gaps(run, survey, tmp_path):
    path, missing = survey
    result = run("learn", path, "--family", "cost=gamma", "--out", "result")
    assert result.exit_code == 0, result.output
    shown = result.stdout
    assert "How the columns were read" in shown
    for line in ("levels (2 to 5)  │ mood, pain", "counts           │ visits", "amounts │ cost"):
        assert line in shown
    notes = [line for line in shown.splitlines() if line.startswith("Note: ")]
    share = 100 * missing / 1500
    assert notes == [
        f"Note: {missing} of 1,500 cells are missing ({share:.1f} %); the others are used, "
        "and nothing is imputed.",
        "Note: whole numbers were recognised by their values: pain as levels and visits as counts; "
        "--family NAME=gaussian treats them as continuous.",
        "Note: 2 of 300 rows have no value at all; nothing is learned from them, and they get the "
        "most likely state.",
    ]
    assert "Warning" not in result.output
    record = json.loads((tmp_path / "result" / "run.json").read_text())
    assert record["settings"]["oracle"] == "signature"
    assert record["settings"]["family"] == ["cost=gamma"]
    assert record["data"]["declared"] == {"cost": "gamma"}
    assert record["data"]["read_as"] == {
        "mood": "categorical",
        "pain": "categorical",
        "visits": "counts",
        "cost": "gamma",
        "pulse": "gaussian",
    }
    assert [f"Note: {note}." for note in record["data"]["notes"]] == notes
    families = [held.family for held in LatentModel.load(tmp_path / "result").components]
    assert families == list(record["data"]["read_as"].values())
    page = (tmp_path / "result" / "report.html").read_text()
    assert "mood = low, bad" in page
    # The same from the folder alone, without the data.
    assert run("report", "result", "--figures").exit_code == 0
    assert (tmp_path / "result" / "report.html").read_text() == page


def test_json_tells_how_the_columns_were_read(run, survey):
    path, missing = survey
    told = json.loads(run("learn", path, "--out", "result", "--json").stdout)
    assert told["read_as"] == {
        "levels": ["mood", "pain"],
        "counts": ["visits"],
        "numbers": ["cost", "pulse"],
    }
    assert told["missing_cells"] == missing
    assert len(told["notes"]) == 3


def test_the_projection_oracle_has_a_plan(run, tmp_path):
    item_problem(1, 6, 300, random_state=0).observations.write(tmp_path / "items.csv")
    result = run("learn", "items.csv", "--oracle", "projection", "--out", "result")
    assert result.exit_code == 0, result.output
    assert "step 2 of 8: fitting one mixture over all variables" in result.stderr
    record = json.loads((tmp_path / "result" / "run.json").read_text())
    assert record["settings"]["oracle"] == "projection"
    planned = {stage for stage, _ in plan_of("projection", 300)}
    assert set(record["timings"]) - {Stage.RESTARTING} < planned


def test_a_second_look_does_not_disturb_the_progress(run, tmp_path):
    """Where the default oracle cannot see, the other one's stages have no numbers."""
    item_problem(1, 6, 300, random_state=0).observations.write(tmp_path / "items.csv")
    result = run("learn", "items.csv", "--out", "result")
    stages = [line.split("s] ")[1] for line in result.stderr.splitlines()]
    assert "fitting one mixture over all variables" in stages
    assert stages.count("decoding the latents") == 1
    numbered = [stage.split(":")[0] for stage in stages if stage.startswith("step")]
    assert numbered == [f"step {i} of 10" for i in range(1, 11)]


def test_families_reach_the_learner(run, survey, monkeypatch):
    seen = {}

    class Recording(LatentGraphLearner):
        def fit(self, *arguments, **choices):
            seen.update(self.get_params())
            return super().fit(*arguments, **choices)

    monkeypatch.setattr("mixoracle.cli.fitting.LatentGraphLearner", Recording)
    arguments = "--family cost=gamma --types pulse=continuous --out result --quiet"
    assert run("learn", survey[0], *arguments.split()).exit_code == 0
    assert seen["families"] == {"cost": "gamma", "pulse": "gaussian"}


def test_bad_families_leave_nothing(run, survey, tmp_path):
    result = run("learn", survey[0], "--family", "pulse=counts", "--out", "result")
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: counts should be whole numbers from 0 on; pulse is")
    assert list(tmp_path.iterdir()) == []


def test_what_is_registered_is_in_the_help_and_is_accepted(run, problem, monkeypatch):
    monkeypatch.setitem(ORACLES, "newcomer", ORACLES["signature"])
    monkeypatch.setitem(METHODS, "quickly", METHODS["ges"])
    with registered(replace(GAUSSIAN, name="bell", purpose="anything with one peak")):
        output = " ".join(run("learn", "--help").output.split())
        for words in ("kmeans|newcomer]", "pc|quickly]", "bell (anything with one peak)"):
            assert words in output
        arguments = "--oracle newcomer --search quickly --family X1=bell --out result --json"
        result = run("learn", problem / "data.csv", *arguments.split())
    assert result.exit_code == 0, result.output
    record = json.loads(Path("result/run.json").read_text())
    assert (record["settings"]["oracle"], record["settings"]["search"]) == ("newcomer", "quickly")
    unknown = run("learn", problem / "data.csv", "--oracle", "newcomer", "--search", "slowly")
    assert unknown.exit_code == 2
    assert "'quickly'" in unknown.stderr


def test_starts_and_rows_that_were_not_seen_are_told(run, problem, tmp_path):
    result = learn(run, problem, "--out", "result", "--starts", 2, "--held-out")
    assert result.exit_code == 0, result.output
    evidence = json.loads((tmp_path / "result" / "evidence.json").read_text())
    assert evidence["n_starts"] == 2
    told = [note for note in evidence["notes"] if "cases that were not learned from" in note]
    rivals = ("one hidden cause for everything", "no hidden cause", "a continuous cause")
    assert [next(r for r in rivals if r in note) for note in told] == list(rivals)
    assert all(" better than " in note for note in told)
    assert "cases that were not learned from" in result.output


def test_bootstrap_shows_what_is_found_again(run, problem, tmp_path):
    result = learn(run, problem, "--out", "result", "--bootstrap", 2)
    assert result.exit_code == 0, result.output
    assert "In 2 halves of the cases, drawn at random" in result.stdout
    assert "learning from halves of the cases: 2 of 2" in result.stderr
    held = json.loads((tmp_path / "result" / "evidence.json").read_text())["support"]
    assert held["n_resamples"] == 2
    # What is kept for an interrupted run is gone once the result is whole.
    assert not list(tmp_path.glob(".*"))
    assert run("learn", "x.csv", "--out", "r", "--bootstrap", 0).exit_code == 2


def test_the_verdict_comes_first_and_values_set_aside_are_listed(run, tmp_path):
    problem = paper_problem(2, 5, 2, n_samples=400, random_state=1, covariance="code")
    values = problem.observations.values.copy()
    values[24] += 1e4
    values[7, 0] -= 1e4
    Observations.from_array(values).write(tmp_path / "data.csv")
    result = run("learn", "data.csv", "--groups", str(problem.observations.widths[0]), "--out", "r")
    assert result.exit_code == 0, result.output
    shown = result.stdout
    verdict, table = shown.index("elieve this answer"), shown.index("How the columns were read")
    note = shown.index("were treated as missing, because no other value is near (cases 7, 24)")
    assert verdict < table < note < shown.index("Written to r;")
    assert "400 cases; columns were read:" in shown[:verdict]
    lines = (tmp_path / "r" / "set_aside.csv").read_text().splitlines()
    assert lines[:3] == ["row,measurement", "7,X1", "24,X1"]
    assert len(lines) == 7
    again = run("learn", "data.csv", "--groups", str(problem.observations.widths[0]), "--out", "r")
    assert "would be overwritten" in again.output
    assert run("learn", "data.csv", "--keep-all", "--force", "--out", "r").exit_code == 0
    assert not (tmp_path / "r" / "set_aside.csv").exists()
