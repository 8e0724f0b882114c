"""A reader who has never seen the paper finds five answers in every report; see docs/report.md."""

from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from mixoracle import LatentGraphLearner
from mixoracle.datasets import item_problem, kind_problem, paper_problem
from mixoracle.model import CPDAG, DiagonalComponents, JointTable, LatentModel
from mixoracle.report import html
from mixoracle.report.folder import Result, read_result

ROOT = Path(__file__).parents[2]
QUESTIONS = (
    "How many hidden causes are there?",
    "What does a state mean, in my units?",
    "Which rows are unsure?",
    "What causes what, and how sure is that?",
    "What should I do next?",
)


class Sections(HTMLParser):
    """The text of each section, by its id, and the cells of each table, by its label."""

    def __init__(self, text):
        super().__init__()
        self.section, self.words, self.tables, self.label = "", {}, {}, ""
        # Behind the numbers of the pictures there are scripts only.
        self.feed(text.split('<script type="application/json"')[0])
        self.text = {name: " ".join(" ".join(held).split()) for name, held in self.words.items()}

    def handle_starttag(self, tag, attributes):
        held = dict(attributes)
        if tag in {"section", "header"}:
            self.section = held.get("id") or held.get("class", "")
        if held.get("role") == "region":
            self.label = held["aria-label"]
        if tag == "tr":
            self.tables.setdefault(self.label, []).append([])
        if tag in {"td", "th"}:
            self.tables[self.label][-1].append("")

    def handle_data(self, data):
        self.words.setdefault(self.section, []).append(data)
        rows = self.tables.get(self.label)
        if rows and rows[-1]:
            rows[-1][-1] = " ".join(f"{rows[-1][-1]} {data}".split())


def fitted(tmp_path_factory, problem):
    learner = LatentGraphLearner(random_state=0, n_init=1, set_aside=False)
    learner.fit(problem.observations)
    folder = learner.report(tmp_path_factory.mktemp("questions") / "result")
    return read_result(folder)


def many(make_result):
    """300 measurements, 100 of each of three causes, without learning."""
    means = np.array([[0.0], [6.0]])
    model = LatentModel(
        observed_names=[f"sensor {i}" for i in range(300)],
        latent_names=["mode", "load", "wear"],
        bipartite=np.eye(3)[np.arange(300) % 3],
        domain_sizes=(2, 2, 2),
        joint=JointTable(np.full((2, 2, 2), 1 / 8)),
        latent_graph=CPDAG(3),
        components=[DiagonalComponents(means, np.ones((2, 1)))] * 300,
    )
    return make_result(model=model, n_samples=250, assumptions_=())


@pytest.fixture(scope="module", params=["numbers", "items", "counts", "many"])
def result(request, make_result, tmp_path_factory) -> Result:
    if request.param == "many":
        return many(make_result)
    problem = {
        "numbers": lambda: paper_problem(2, 5, 2, 250, random_state=1, covariance="code"),
        "items": lambda: item_problem(1, 6, 250, random_state=1),
        "counts": lambda: kind_problem(1, 4, 2, 250, random_state=1, kind="counts", width=1),
    }[request.param]()
    return fitted(tmp_path_factory, problem)


@pytest.fixture(scope="module")
def page(result):
    return Sections(html.render(result))


def test_the_questions_are_written_down():
    text = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    assert [question for question in QUESTIONS if question not in text] == []


def test_how_many_causes(page, result):
    m = result.model.n_latent
    assert m > 0
    assert f"{m} hidden cause{'' if m == 1 else 's'} found behind" in page.text["top"]


def test_what_a_state_means_in_units(page, result):
    name = result.model.latent_names[0]
    head, *rows = page.tables[f"Profile of {name} in numbers"]
    assert len(head) == 1 + result.model.domain_sizes[0]
    effects = [effect for effect in result.evidence.effects if effect.latent == 0]
    shown = {row[0]: row[1:] for row in rows}
    for effect in effects:
        mean, title = effect.means[1][-1], effect.columns[-1]
        written = html._share(mean) if effect.is_share[-1] else html._number(mean)
        assert shown[title][1].startswith(f"{written} (")


def test_which_rows_are_unsure(page, result):
    for name, own in zip(result.model.latent_names, result.evidence.certainty, strict=True):
        assert f"How certain the states of {name} are" in page.text["states"]
        unsure = f"{own.n_unsure:,} of 250 cases" if own.n_unsure else "All 250 cases have a state"
        assert unsure in page.text["states"]
        rows = page.tables.get(f"Least certain cases of {name}", [[]])[1:]
        assert [row[0] for row in rows] == [str(case.row) for case in own.least]
        if not own.least:
            assert "every state has a probability of at least" in page.text["states"]


def test_what_causes_what_and_how_sure(page, result):
    if result.model.n_latent == 1:
        assert "The only hidden cause." in page.text["graph"]
    else:
        assert "support" in page.text["summary"]


def test_what_to_do_next(page, result):
    steps = page.text["next"]
    assert "Classify new cases with this model" in steps
    for reason in result.evidence.verdict.reasons:
        remedy = reason.split("What to do: ")[1]
        assert remedy[1:] in steps
