import json
from dataclasses import replace

import numpy as np
import pytest

from mixoracle.datasets import kind_problem
from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.model import LatentModel
from mixoracle.model.export import CausalGraph, LatentNetwork, read, read_json, to_json, write


def test_json_gives_the_model_back(models):
    for model in models:
        assert read_json(to_json(model)) == model


@pytest.mark.parametrize("kind", ["categorical", "counts", "gamma", "mixed"])
@pytest.mark.parametrize("seed", range(3))
def test_json_holds_every_family(kind, seed):
    model = kind_problem(2, 4, 3, 50, random_state=seed, kind=kind).model
    text = to_json(model)
    assert read_json(text) == model
    # JSON proper has no infinite number; Poisson components have one.
    json.loads(text, parse_constant=pytest.fail)


@pytest.mark.parametrize("kind", ["categorical", "counts", "gamma", "mixed"])
def test_no_format_asks_for_normal_components(kind, tmp_path):
    model = kind_problem(2, 4, 3, 50, random_state=0, kind=kind).model
    for ending in (".bif", ".bifxml", ".graphml", ".dagitty", ".dot"):
        write(model, tmp_path / f"model{ending}")
        bare = tmp_path / f"bare{ending}"
        write(replace(model, components=None), bare)
        assert (tmp_path / f"model{ending}").read_bytes() == bare.read_bytes()


@pytest.mark.parametrize(
    ("ending", "kind"),
    [
        (".json", LatentModel),
        (".bif", LatentNetwork),
        (".bifxml", LatentNetwork),
        (".graphml", CausalGraph),
        (".dagitty", CausalGraph),
    ],
)
def test_files_are_written_and_read_by_their_ending(models, tmp_path, ending, kind):
    for k, model in enumerate(models):
        path = tmp_path / f"model{k}{ending}"
        write(model, path)
        found = read(path)
        assert isinstance(found, kind)
        assert found.latent_names == model.latent_names
    assert len(list(tmp_path.iterdir())) == len(models)


def test_dot_is_written_only(models, tmp_path):
    write(models[0], tmp_path / "model.dot")
    with pytest.raises(InvalidInputError, match="exports are read from"):
        read(tmp_path / "model.dot")


def test_unknown_endings_and_missing_files_are_refused(models, tmp_path):
    with pytest.raises(InvalidInputError, match="should end in one of"):
        write(models[0], tmp_path / "model.xyz")
    with pytest.raises(FileFormatError, match="is not there"):
        read(tmp_path / "none.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe")
    with pytest.raises(FileFormatError, match="not UTF-8"):
        read(tmp_path / "bytes.json")


def without(key):
    def change(document):
        del document[key]

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda document: document.update(format="other"), "does not hold a mixoracle model"),
        (lambda document: document.update(version=99), "version 99"),
        (without("joint"), "incomplete"),
        (lambda document: document["latents"].pop(), "contradicts itself|incomplete"),
        (lambda document: document["components"][0].update(family="odd"), "contradicts itself"),
        (lambda document: document.update(joint=np.ones(3).tolist()), "contradicts itself"),
    ],
)
def test_broken_json_models_are_refused(models, change, words):
    document = json.loads(to_json(models[2]))
    change(document)
    with pytest.raises(FileFormatError, match=words):
        read_json(json.dumps(document))


def test_what_is_not_json_is_refused():
    with pytest.raises(FileFormatError, match="not JSON"):
        read_json("{")


def test_the_methods_of_a_model_write_the_same(models):
    model = models[3]
    assert model.to_json() == to_json(model)
    assert read_json(model.to_json()) == model
    assert model.to_bif().startswith("// one of")
    assert model.to_dot().startswith("digraph")
    assert model.to_graphml().startswith("<graphml")
    assert "[latent]" in model.to_dagitty()


def test_damaged_models_are_refused_in_one_sentence(models, damage):
    whole, rng = json.loads(to_json(models[0])), np.random.default_rng(5)
    refused = 0
    for _ in range(150):
        try:
            read_json(damage.damaged(whole, rng))
        except FileFormatError:
            refused += 1
    assert refused > 100


def test_ragged_lists_are_refused():
    model = kind_problem(2, 4, 3, 50, random_state=0, kind="categorical").model
    document = json.loads(to_json(model))
    entry = document["components"][0]
    key = next(key for key in entry if key != "family")
    entry[key][0] = entry[key][0][:-1]
    with pytest.raises(FileFormatError, match=r"this model (is incomplete|contradicts)"):
        read_json(json.dumps(document))
