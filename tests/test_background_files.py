"""What is known, from TOML files and Q-matrices, in Python and on the command line."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from mixoracle import Background, LatentGraphLearner, LatentModel
from mixoracle.cli import main
from mixoracle.errors import FileFormatError, InvalidInputError, KnowledgeConflictError

KNOWN = """
[latents.wear]
children = ["sound", "heat"]
not_children = ["power"]
states = ["new", "worn"]

[latents.load]
children = ["power", "speed", "heat"]
exactly = true
size = 3

[arrows]
required = [["wear", "load"]]
"""


def machine(n=600, seed=0):
    rng = np.random.default_rng(seed)
    worn = rng.integers(2, size=n)
    load = np.where(rng.random(n) < 0.5, worn, rng.integers(3, size=n))
    centres = {
        "sound": 6.0 * worn,
        "oil": 6.0 * worn,
        "heat": 6.0 * worn + 12.0 * load,
        "power": 6.0 * load,
        "speed": 6.0 * load,
    }
    return pd.DataFrame({name: rng.normal(centre) for name, centre in centres.items()})


@pytest.fixture
def written(tmp_path):
    def write(text, name="known.toml"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def test_a_file_says_what_records_say(written):
    known = Background.read(written(KNOWN))
    wear, load = known.latents
    assert (wear.name, wear.children, wear.not_children) == ("wear", {"sound", "heat"}, {"power"})
    assert (wear.states, wear.domain_size, wear.exactly) == (("new", "worn"), 2, False)
    assert (load.states, load.domain_size, load.exactly) == (None, 3, True)
    assert (known.edges.required, known.complete) == ({("wear", "load")}, False)
    assert Background.read(written("")) == Background()


def test_the_command_line_takes_it(written, tmp_path):
    data, out = tmp_path / "data.csv", tmp_path / "out"
    machine().to_csv(data, index=False)
    arguments = ["learn", data, "--knowledge", written(KNOWN), "--out", out]
    done = CliRunner().invoke(main, list(map(str, arguments)))
    assert done.exit_code == 0, done.stderr
    assert "wear has 2 states (new " in done.stdout
    model = LatentModel.load(out)
    assert model.latent_names == ("wear", "load")
    assert model.state_names == (("new", "worn"), None)
    assert model.latent_graph.directed == {(0, 1)}
    assert (out / "states.csv").read_text().splitlines()[1].split(",")[1] in ("new", "worn")
    assert "new" in (out / "report.html").read_text(encoding="utf-8")
    asked = CliRunner().invoke(main, ["query", str(out), "load", "--given", "wear=worn", "--json"])
    assert json.loads(asked.stdout)["states"] == [["0", "1", "2"]]
    effect = CliRunner().invoke(main, ["effect", str(out), "wear", "sound"])
    assert "do(wear) = worn" in effect.stdout
    wrong = CliRunner().invoke(main, ["query", str(out), "load", "--given", "wear=old"])
    assert (wrong.exit_code, wrong.stderr) == (
        2,
        "Error: wear has the states new, worn; got 'old'\n",
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("latents = 3", r"latents of knowledge should be a table, as in \[latents\]; got 3"),
        ("[latents.a]\nkids = ['x']", "may say children, .*; it says 'kids'"),
        ("[latents.a]\nchildren = ['x']\nstates = 3", "the number of states alone is called size"),
        ("[latents.a]\nchildren = ['x']\nsize = 1", "the domain size of 'a' should be"),
        ("[latents.a]\nchildren = 'x'", "children of 'a' should be a collection of names"),
        ("[latents.a]\nchildren = ['x']\nexactly = 1", "should be true or false; got 1"),
        ("[latents.a]\nchildren = ['x']\nstates = ['u', 'u']", "names of their own; got u, u"),
        ("[arrows]\nrequired = ['a']", r"as in \[\[\"cause\", \"effect\"\]\]; got \['a'\]"),
        ("[arrows]\nrequired = [['a', 'b']]", "knowledge names 'a', but the latents are none"),
        ("complete = true", "complete knowledge needs"),
        ("latents [", "should be TOML"),
    ],
)
def test_errors_name_the_file_and_the_remedy(written, text, says):
    file = written(text)
    with pytest.raises(InvalidInputError, match=says) as caught:
        Background.read(file)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_names_and_sizes_have_to_agree(written):
    text = "[latents.a]\nchildren = ['x']\nsize = 3\nstates = ['u', 'v']"
    with pytest.raises(KnowledgeConflictError, match="'a' has 3 states, and 2 names for them"):
        Background.read(written(text))


def test_other_files_are_refused(tmp_path, written):
    with pytest.raises(InvalidInputError, match="there is no such file"):
        Background.read(tmp_path / "none.toml")
    with pytest.raises(InvalidInputError, match=r"should be in a file that ends in \.toml"):
        Background.read(written("", "known.csv"))


def test_a_q_matrix(written):
    known = Background.read_qmatrix(written("item;add;carry\nq1;1;0\nq2;0;1\nq3;1;1\n", "q.csv"))
    assert [latent.children for latent in known.latents] == [{"q1", "q3"}, {"q2", "q3"}]
    assert known.complete
    assert {latent.domain_size for latent in known.latents} == {2}
    plain = Background.read_qmatrix(written("add,carry\n1,0\n0,1\n1,1\n", "q.csv"))
    assert [latent.children for latent in plain.latents] == [{0, 2}, {1, 2}]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "it has 0 lines"),
        ("a,b\n1\n", "line 2 has 1"),
        ("item,a\nq1,2\n", "'q1' and 'a' have '2'"),
        ("a,a\n1,0\n", "one is named twice"),
    ],
)
def test_what_is_no_q_matrix(written, text, says):
    with pytest.raises(FileFormatError, match=says):
        Background.read_qmatrix(written(text, "q.csv"))


def test_a_q_matrix_on_the_command_line(written, tmp_path):
    rng = np.random.default_rng(0)
    add, carry = rng.random((2, 400)) < 0.5
    needs = {"q1": add, "q2": add, "q3": carry, "q4": carry, "q5": add & carry}
    answers = {k: (rng.random(400) < np.where(v, 0.9, 0.15)).astype(int) for k, v in needs.items()}
    pd.DataFrame(answers).to_csv(tmp_path / "test.csv", index=False)
    qmatrix = written("item,add,carry\nq1,1,0\nq2,1,0\nq3,0,1\nq4,0,1\nq5,1,1\n", "q.csv")
    arguments = ["learn", tmp_path / "test.csv", "--qmatrix", qmatrix, "--out", tmp_path / "out"]
    done = CliRunner().invoke(main, list(map(str, arguments)))
    assert done.exit_code == 0, done.stderr
    model = LatentModel.load(tmp_path / "out")
    assert (model.latent_names, model.domain_sizes) == (("add", "carry"), (2, 2))
    # States are counted from low to high: the second one is mastery.
    right = [model.query("q1", given={"add": state}).mean[1] for state in (0, 1)]
    assert right[0] < 0.5 < right[1]
    both = [*map(str, arguments), "--knowledge", str(written(KNOWN)), "--force"]
    assert "give one" in CliRunner().invoke(main, both).stderr


def test_knowledge_names_states_in_python():
    frame = machine(300)
    known = Background.read  # the same file works in both places
    assert callable(known)
    learner = LatentGraphLearner(random_state=0).fit(frame)
    model = learner.model_.rename(latents=["wear", "load"], states={"wear": ["new", "worn"]})
    assert model.query("sound", given={"wear": "new"}).mean[0] < 3
