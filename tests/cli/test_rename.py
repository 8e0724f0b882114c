"""Names for hidden causes and states, given to a result that is there already."""

import json
import shutil

import pandas as pd
import pytest

from mixoracle import LatentModel
from mixoracle.report.folder import read_result

NAMES = ("--latent", "H1=wear", "--latent", "H2=seal", "--states")


@pytest.fixture
def result(learned, tmp_path):
    return shutil.copytree(learned, tmp_path / "result")


def test_everything_gets_the_names(run, result, problem):
    before, states = LatentModel.load(result), pd.read_csv(result / "states.csv")
    called = [f"s{s}" for s in range(before.domain_sizes[0])]
    done = run("rename", result, *NAMES, f"wear={','.join(called)}")
    assert done.exit_code == 0, done.stderr
    assert "H1 is now wear: s0, s1" in done.stdout
    after = LatentModel.load(result)
    assert after == before.rename(latents=["wear", "seal"], states={"wear": called})
    table = pd.read_csv(result / "states.csv")
    assert list(table) == ["row", "wear", "seal", "P(wear)", "P(seal)"]
    assert table["wear"].tolist() == [called[s] for s in states["H1"]]
    pd.testing.assert_series_equal(table["P(seal)"], states["P(H2)"], check_names=False)
    page = (result / "report.html").read_text()
    assert "wear" in page
    # Alternatives have latents of their own; scripts name nothing that a reader sees.
    said = page.split("<h3>Alternatives</h3>")[0] + page.split('id="numbers">')[1].split("</")[0]
    assert "H1" not in said + (result / "evidence.json").read_text().split("alternatives")[0]
    assert run("evaluate", result, problem).exit_code == 0
    answer = json.loads(run("query", result, "wear", "--given", "seal=0", "--json").stdout)
    assert "s0" in json.dumps(answer)


def test_into_another_folder(run, result, learned, monkeypatch):
    def draw(model, _evidence, folder):
        folder.mkdir(exist_ok=True)
        (folder / "graph.png").write_text(" ".join(model.latent_names))
        return [folder / "graph.png"]

    monkeypatch.setattr("mixoracle.report.saving.save_figures", draw)
    run("report", result, "--figures", "--quiet")
    done = run("rename", result, "--latent", "H1=wear", "--out", "named", "--json")
    assert json.loads(done.stdout)["out"] == "named"
    assert LatentModel.load(result) == LatentModel.load(learned)
    assert {path.name for path in result.iterdir()} == {
        p.name for p in result.parent.glob("named/*")
    }
    assert read_result("named").run == read_result(result).run
    assert "wear" in (result.parent / "named" / "figures" / "graph.png").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "say what to rename"),
        (["--latent", "H9=wear"], "the model has no latent 'H9'; it has H1, H2"),
        (["--latent", "wear"], "--latent should look like H1=wear; got 'wear'"),
        (["--latent", "H1=a", "--latent", "H1=b"], "--latent should name each cause once"),
        (["--latent", "H1=H2"], "latent names should be distinct"),
        (["--states", "H1=a"], "two or more states"),
    ],
)
def test_what_is_refused_changes_nothing(run, learned, arguments, words):
    files = {path.name: path.stat().st_mtime_ns for path in learned.iterdir()}
    done = run("rename", learned, *arguments)
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.split())
    assert files == {path.name: path.stat().st_mtime_ns for path in learned.iterdir()}
