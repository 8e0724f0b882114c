"""Two results side by side."""

import json
from dataclasses import replace

import numpy as np
import pytest

from mixoracle import CPDAG, LatentModel
from mixoracle.datasets import random_model
from mixoracle.errors import InvalidInputError
from mixoracle.metrics import differences, relabel


def test_the_same_under_other_names(run, learned, tmp_path):
    model = LatentModel.load(learned)
    order = list(range(model.n_latent))[::-1]
    turned = relabel(model, order).rename({name: f"c{name}" for name in model.latent_names})
    turned.save(tmp_path / "other")
    done = run("compare", learned, tmp_path / "other")
    assert done.exit_code == 0, done.stderr
    assert "have the same graph, up to names" in done.stdout
    assert "H1 of result is cH1 of other" in done.stdout
    found = json.loads(run("compare", learned, tmp_path / "other", "--json").stdout)
    assert found["same_graph"] is True
    assert found["joint_tv"] == pytest.approx(0)
    assert found["same_states"] is None
    found = json.loads(run("compare", learned, learned, "--json").stdout)
    assert found["same_states"] == [1.0] * model.n_latent


def test_differences_are_said_in_words():
    first = random_model(2, 5, 2, random_state=0)
    gamma = first.bipartite.copy()
    i = int(np.flatnonzero(gamma[:, 0] & gamma.sum(axis=1) > 0)[0])
    gamma[i, 1] = ~gamma[i, 1]
    second = replace(first, bipartite=gamma, components=None, latent_graph=CPDAG(2))
    second = second.rename({"H1": "a", "H2": "b"}, {"a": ["low", "high"]})
    if not first.latent_graph.links and not first.latent_graph.directed:
        first = replace(first, latent_graph=CPDAG(2, frozenset({(0, 1)})))
    found = differences(first, second)
    assert not found.is_same_graph
    text = " ".join(found.sentences("one", "two"))
    assert f"also drives {first.observed_names[i]}" in text
    assert "H1 and H2 are not joined in two" in text
    assert found.latents[0].states == (("0", "low"), ("1", "high"))


def test_a_cause_without_a_counterpart():
    first = random_model(3, 6, 2, random_state=1)
    second = random_model(2, 6, 2, random_state=1)
    text = " ".join(differences(first, second).sentences("one", "two"))
    assert "has no counterpart in two" in text
    assert "cannot be compared" in text
    other = " ".join(differences(second, first).sentences("two", "one"))
    assert "of one (drives" in other
    assert "has no counterpart in two" in other


def test_variables_of_one_model_alone():
    first = random_model(2, 5, 2, random_state=0)
    fewer = replace(
        first,
        observed_names=first.observed_names[:4],
        bipartite=first.bipartite[:4],
        components=None,
    )
    found = differences(first, fewer)
    assert found.only_first == first.observed_names[4:]
    assert "Only one has X5" in found.sentences("one", "two")[0]
    strange = replace(first, observed_names=tuple("abcde"))
    with pytest.raises(InvalidInputError, match="share none"):
        differences(first, strange)


def test_relabelled_states_keep_their_names():
    model = random_model(2, 5, 2, random_state=0).rename(states={"H1": ["low", "high"]})
    turned = relabel(model, [1, 0], [[0, 1], [1, 0]])
    assert turned.state_names == (None, ("high", "low"))


def test_only_an_alternative_of_the_first_is_said_to_fit_worse(run, tmp_path):
    rows = np.random.default_rng(0).normal(size=(200, 3))
    rows += 9.0 * np.random.default_rng(1).integers(2, size=(200, 1))
    np.savetxt(tmp_path / "data.csv", rows, delimiter=",", header="a,b,c", comments="")
    out = tmp_path / "out"
    assert run("learn", tmp_path / "data.csv", "--out", out, "-q").exit_code == 0
    model = LatentModel.load(out)
    model.save(out / "alternatives" / "7")  # no alternative has this number
    model.save(out / "alternatives" / "mine")
    model.save(tmp_path / "elsewhere")
    places = (out / "alternatives" / "7", out / "alternatives" / "mine", tmp_path / "elsewhere")
    for place in places:
        said = run("compare", out, place)
        assert said.exit_code == 0, said.stderr
        assert "fits" not in said.stdout
    (out / "evidence.json").write_text("{}")
    broken = run("compare", out, places[0])
    assert broken.exit_code != 0
    assert "not the evidence" in broken.stderr
    (out / "evidence.json").unlink()
    assert run("compare", out, places[0]).exit_code == 0


def test_alternatives_are_models(run, problem, tmp_path):
    done = run("learn", problem / "data.csv", "--out", tmp_path / "out", "--alternatives", "--json")
    assert done.exit_code == 0, done.stderr
    out = tmp_path / "out"
    folders = sorted((out / "alternatives").glob("*"), key=lambda folder: int(folder.name))
    held = json.loads((out / "evidence.json").read_text())["alternatives"]
    assert len(folders) == len(held)
    for folder, other in zip(folders, held, strict=True):
        said = run("compare", out, folder)
        assert said.exit_code == 0
        assert f"Alternative {folder.name} fits " in said.stdout
        document = json.loads(run("compare", out, folder, "--json").stdout)
        assert document["bic_gap"] == pytest.approx(other["bic_gap"])
        assert LatentModel.load(folder).reading is not None
    again = run("learn", problem / "data.csv", "--out", tmp_path / "out", "--force", "-q")
    assert again.exit_code == 0, again.stderr


def test_a_folder_that_is_not_there(run, learned, tmp_path):
    done = run("compare", learned, tmp_path / "none")
    assert done.exit_code == 2
    assert f"there is no folder {tmp_path / 'none'}: check its name" in done.stderr
    assert (
        "learn again with --alternatives"
        in run("compare", learned, learned / "alternatives" / "1").stderr
    )
    random_model(2, 5, 2, random_state=0).save(tmp_path / "out" / "alternatives" / "1")
    done = run("compare", learned, tmp_path / "out" / "alternatives" / "2")
    assert "has no alternative 2: there are 1" in done.stderr


def test_no_alternatives_is_said(run, problem, tmp_path, monkeypatch):
    monkeypatch.setattr("mixoracle.learner.other_candidates", lambda *_: ())
    monkeypatch.setattr("mixoracle.learner.one_thing_else", lambda *_: ())
    done = run("learn", problem / "data.csv", "--out", tmp_path / "out", "--alternatives")
    assert "Note: there are no alternatives: " in done.stdout
    assert "here are no alternatives" in (tmp_path / "out" / "report.html").read_text()
    assert not (tmp_path / "out" / "alternatives").exists()
