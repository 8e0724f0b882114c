"""Names of latents and states, through questions, files and exports."""

import numpy as np
import pytest

from mixoracle import LatentModel
from mixoracle.assumptions import check
from mixoracle.datasets import random_model
from mixoracle.errors import InvalidInputError, MixoracleError
from mixoracle.model import export

MODEL = random_model(2, 5, 3, random_state=3)
NAMED = MODEL.rename({"H1": "wear"}, {"wear": ["new", "used", "worn"][: MODEL.domain_sizes[0]]})


def test_names_are_kept_in_files(tmp_path):
    NAMED.save(tmp_path)
    again = LatentModel.load(tmp_path)
    assert (again.latent_names, again.state_names) == (NAMED.latent_names, NAMED.state_names)
    export.write(NAMED, tmp_path / "model.json")
    assert export.read(tmp_path / "model.json").state_names == NAMED.state_names


def test_questions_take_names_and_numbers():
    last = NAMED.domain_sizes[0] - 1
    state = NAMED.states_of(0)[last]
    by_name, by_number = (NAMED.query("H2", given={"wear": s}).table for s in (state, last))
    assert np.array_equal(by_name, by_number)
    assert np.array_equal(by_name, MODEL.query("H2", given={"H1": last}).table)
    named, numbered = (NAMED.do({"wear": s}).query("H2") for s in (state, last))
    assert np.array_equal(named.lower, numbered.lower)


def test_exports_hold_them():
    for text in (NAMED.to_bif(), NAMED.to_xmlbif(), NAMED.to_dot()):
        assert "worn" in text or "used" in text
    assert np.allclose(export.read_bif(NAMED.to_bif()).joint.table, NAMED.joint.table)
    assert np.allclose(export.read_xmlbif(NAMED.to_xmlbif()).joint.table, NAMED.joint.table)
    assert "new" in repr(NAMED)


def test_pyagrum_has_them():
    pytest.importorskip("pyagrum")
    assert NAMED.to_pyagrum().variable("wear").labels() == NAMED.states_of(0)


def test_some_states_or_all_latents():
    other = NAMED.rename(["a", "b"], {"wear": {"new": "fresh"}})
    assert other.latent_names == ("a", "b")
    assert other.states_of(0)[0] == "fresh"
    assert other.states_of(0)[1:] == NAMED.states_of(0)[1:]
    assert MODEL.states_of(0) == tuple(map(str, range(MODEL.domain_sizes[0])))


def test_verdicts_speak_of_them():
    table = np.array([[0.5, 0.0], [0.2, 0.3]])
    small = random_model(2, 5, 2, random_state=0)
    fields = {name: getattr(small, name) for name in ("observed_names", "latent_names")}
    model = LatentModel(
        **fields,
        bipartite=small.bipartite,
        domain_sizes=(2, 2),
        joint=type(small.joint)(table),
        latent_graph=small.latent_graph,
        state_names=(("off", "on"), None),
    )
    assert any("H1=off, H2=1" in verdict.message for verdict in check(model))


@pytest.mark.parametrize(
    ("latents", "states", "says"),
    [
        ({"H9": "x"}, None, "no latent 'H9'; it has H1, H2"),
        (["x"], None, "a name for each of H1, H2"),
        ({"H1": "H2"}, None, "distinct"),
        (None, {"H1": ["a"]}, "two or more states"),
        (None, {"H1": ["a", "a", "b"]}, "names of their own"),
        (None, {"H1": list("abcdefgh")}, "8 names for them"),
        (None, {"H1": ["1", "0", "x"]}, "the number of another one"),
        (None, {"H1": {"z": "y"}}, "H1 has states 0 to"),
        (None, {"H1": "abc"}, "a sequence of names"),
    ],
)
def test_what_is_refused(latents, states, says):
    with pytest.raises(MixoracleError, match=says):
        MODEL.rename(latents, states)


def test_states_that_are_not_there():
    with pytest.raises(InvalidInputError, match=r"wear has the states new, .*; got 'old'"):
        NAMED.query("H2", given={"wear": "old"})
    with pytest.raises(InvalidInputError, match="H2 has states 0 to"):
        NAMED.query("wear", given={"H2": "x"})
