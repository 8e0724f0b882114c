import re
from html.parser import HTMLParser

import numpy as np
import pytest

from mixoracle.datasets import random_model
from mixoracle.model import CPDAG, JointTable, LatentModel
from mixoracle.report import html


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
    assert "url(" not in page.replace('marker-end="url(#arc-head)"', "")
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
    assert len(targets) == 6
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
        for table in panel.conditionals:
            given = [model.latent_names.index(name) for name in table.given]
            for states, row in table.rows:
                assert row is not None
                index = [slice(None)] * model.n_latent
                for k, state in zip(given, states, strict=True):
                    index[k] = state
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
    assert panel.conditionals[0].rows[1] == ((1,), None)


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
    assert [tag for tag, _ in parsed.elements].count("script") == 1
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


def test_write_leaves_the_page_in_a_file(make_result, tmp_path):
    html.write(make_result(2, 4), tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
