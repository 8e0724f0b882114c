import dataclasses
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from mixoracle.datasets import kind_problem, random_model, sparse_problem
from mixoracle.model import CPDAG, JointTable, LatentModel
from mixoracle.report import html
from mixoracle.report.evidence import Alternative


class Elements(HTMLParser):
    """All elements with their attributes, and the text between them."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.words = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def page(make_result):
    return html.render(make_result(3, 6))


def test_the_page_loads_nothing(page):
    elements = Elements(page).elements
    for tag, attributes in elements:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base", "form"}
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#")
    drawn = re.sub(r'marker-end="url\(#arc-head(-\d+)?\)"', "", page.split("<script")[0])
    assert "url(" not in drawn
    assert "@import" not in page


def test_the_policy_allows_our_style_and_script_only(page):
    policies = [
        attributes["content"]
        for tag, attributes in Elements(page).elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    (policy,) = policies
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    # Inline styles and handlers would be blocked by the policy, so there must be none.
    for _, attributes in Elements(page).elements:
        assert "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]


def test_every_section_that_the_menu_names_is_there(page):
    targets = set(re.findall(r'href="#(\w+)"', page))
    assert len(targets) == 8
    for target in targets:
        assert f'<section id="{target}"' in page


def test_ids_are_unique(page):
    ids = [attributes["id"] for _, attributes in Elements(page).elements if "id" in attributes]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("seed", range(5))
def test_conditional_tables_are_conditional_distributions(make_result, seed):
    model = make_result(4, 8, seed=seed).model
    evidence = make_result(4, 8, seed=seed).evidence
    for j in range(model.n_latent):
        panel = html._panel(model, evidence, j)
        for table in panel["conditionals"]:
            given = [model.latent_names.index(name) for name in table["given"]]
            for states, row in table["rows"]:
                assert row is not None
                index = [slice(None)] * model.n_latent
                for k, state in zip(given, states, strict=True):
                    index[k] = int(state)
                held = model.joint.table[tuple(index)]
                kept = [k for k in range(model.n_latent) if k not in given]
                axes = tuple(a for a, k in enumerate(kept) if k != j)
                weights = held.sum(axis=axes)
                np.testing.assert_allclose(row, weights / weights.sum(), atol=1e-12)


def test_a_condition_that_never_occurs_says_so(make_result):
    model = random_model(2, 4, random_state=0)
    model = LatentModel(
        observed_names=model.observed_names,
        latent_names=("H1", "H2"),
        bipartite=model.bipartite,
        domain_sizes=(2, 2),
        joint=JointTable(np.array([[0.5, 0.5], [0.0, 0.0]])),
        latent_graph=CPDAG(2, frozenset({(0, 1)})),
    )
    page = html.render(make_result(model=random_model(2, 4, random_state=0)))
    assert "never occurs</td>" not in page
    panel = html._panel(model, make_result(2, 4).evidence, 1)
    assert panel["conditionals"][0]["rows"][1] == (("1",), None)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "–"), (0.0, "0.0 %"), (1.0, "100.0 %"), (0.9999, "> 99.9 %"), (1e-5, "< 0.1 %")],
)
def test_a_share_is_never_rounded_to_certainty(value, shown):
    assert html._share(value) == shown


def test_hostile_names_are_text(make_result):
    names = ("<script>alert(1)</script>", '"onload="x', "{{ 7*7 }}", "d")
    page = html.render(make_result(2, 4, observed_names=names))
    parsed = Elements(page)
    assert [own.get("type") for tag, own in parsed.elements if tag == "script"] == [
        "application/json",
        None,
    ]
    titles = {attributes.get("title") for _, attributes in parsed.elements}
    assert set(names) <= titles
    assert "49" not in [word.strip() for word in parsed.words]


def test_many_variables_get_a_list_of_pairs_instead_of_a_matrix(make_result):
    assert 'class="matrix"' in html.render(make_result(2, 5))
    page = html.render(make_result(3, 20))
    assert 'class="matrix"' not in page
    assert "least certain of 190 pairs" in page


def test_equal_results_give_equal_pages(make_result):
    assert html.render(make_result(2, 4)) == html.render(make_result(2, 4))


@pytest.fixture(scope="module")
def kind_page(make_result):
    """The page of a drawn problem of some kind of data, with a tenth of its cells missing."""

    def make(kind, **changes):
        problem = kind_problem(2, 5, 3, 400, random_state=3, kind=kind)
        levels = problem.observations.levels
        result = make_result(model=problem.model, levels=levels, share_missing=0.1, **changes)
        return html.render(result), result

    return make


def test_levels_are_shown_with_their_probabilities(kind_page):
    page, result = kind_page("categorical")
    held = result.model.components[0]
    for code, letter in enumerate("abcd"):
        shares = [html._share(float(p)) for p in held.of_column(0)[:, code]]
        cells = "".join(f'<td class="num">{share}</td>' for share in shares)
        title = f"X1[0] = {letter}"
        assert f'<bdi title="{title}">{title}</bdi></th>{cells}' in page.replace(
            "&lt;", "<"
        ).replace("&gt;", ">")
    assert "of its variation is shown" not in page


def test_mixed_blocks_are_shown_by_their_parts(kind_page):
    page, result = kind_page("mixed")
    text = " ".join(Elements(page).words)
    for title in ("X1[0]", "X1[2] = a", "X1[4]"):
        assert title in text
    means = result.model.components[0].averages()
    assert f'<td class="num">{html._number(float(means.values[0, 0]))}</td>' in page
    for kind in ("levels (4)", "counts", "numbers"):
        assert f'class="kind">{kind}</th>' in page


def test_missing_cells_and_notes_are_told(kind_page):
    page, result = kind_page("categorical")
    missing = sum(column.missing for column in result.evidence.columns)
    assert f"{missing:,} of {400 * 25:,} (10.0 %)" in page
    noted = dataclasses.replace(result.evidence, notes=("3 of 400 rows have <no> value",))
    page = html.render(dataclasses.replace(result, evidence=noted))
    assert "3 of 400 rows have &lt;no&gt; value." in page


def test_other_candidates_are_named(make_result):
    result = make_result(2, 5)
    single = Alternative(7.25, (4,), ((0, 1, 2, 3, 4),), ("H1",))
    rare = ("H1=0, H2=1 (0.3 cases)",)
    other = Alternative(9.0, (2, 2), ((0, 1), (2, 3)), ("H1", "H2"), ((0, 1),), (), rare)
    nothing = Alternative(90.0, (), (), ())
    evidence = dataclasses.replace(result.evidence, alternatives=(single, other, nothing))
    page = " ".join(
        " ".join(
            Elements(html.render(dataclasses.replace(result, evidence=evidence))).words
        ).split()
    )
    assert (
        "The candidate with a single hidden cause No hidden cause is the same. It fits worse by "
        "7.25 nats." in page
    )
    assert "Of its 4 joint states 1 is empty or nearly so: H1=0, H2=1 (0.3 cases)." in page
    assert (
        "No hidden cause at all It fits worse by 90 nats. The measurements are independent." in page
    )
    assert "The candidate with a single hidden cause, 4 states, fits worse by 7.25 nats." in page


def test_a_lone_latent_is_not_said_to_be_independent_of_others(make_result):
    page = html.render(make_result(1, 3))
    assert "The only hidden cause." in page
    assert "Independent of the other hidden causes." not in page


def test_a_page_of_thirty_causes_without_a_table_of_them(make_result):
    model = sparse_problem(30, 60, n_samples=2, random_state=0).model
    page = html.render(make_result(model=model, n_samples=40, assumptions_=()))
    assert "<b>2^30</b><span>joint states</span>" in page
    assert "These are the likeliest 200 of 2^30" in page
    choices = re.findall(r'<select id="heat-first">(.*?)</select>', page)[0]
    assert choices.count("<option") == 30
    numbers = json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page)[1])
    assert len(numbers["joint"]) == 30 * 29 / 2


def test_the_support_of_what_a_cause_drives_is_said(make_result):
    result = make_result(2, 4)
    drives = np.where(result.model.bipartite, 0.97, 0.0)
    evidence = dataclasses.replace(result.evidence, drives=tuple(map(tuple, drives.tolist())))
    page = html.render(dataclasses.replace(result, evidence=evidence))
    assert " ".join(Elements(page).words).count("has a support of 0.97.") == len(evidence.effects)


def test_of_many_alternatives_some_are_drawn_and_all_are_named(make_result):
    result = make_result(2, 5)
    model = result.model
    drives = tuple(model.children(j) for j in range(2))
    held = tuple(
        Alternative(k / 10, model.domain_sizes, drives, model.latent_names, change=f"change {k}")
        for k in range(1, 21)
    )
    evidence = dataclasses.replace(result.evidence, alternatives=held)
    page = html.render(dataclasses.replace(result, evidence=evidence))
    assert page.count('<article class="alternative">') == 1 + 12
    assert "<summary>8 more</summary>" in page
    assert all(f"What differs: change {k}." in page for k in range(1, 21))
    better = dataclasses.replace(
        held[0], bic_gap=-2.0, rejected="its components have less evidence"
    )
    evidence = dataclasses.replace(result.evidence, alternatives=(better,))
    page = html.render(dataclasses.replace(result, evidence=evidence))
    assert "It fits better by 2 nats, but its components have less evidence." in page
