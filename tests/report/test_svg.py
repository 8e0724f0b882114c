import re
import xml.etree.ElementTree as ET
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixoracle.datasets import random_model, sparse_problem
from mixoracle.model import CPDAG, JointTable, LatentModel
from mixoracle.report.sureness import Degree, Sure, Sureness
from mixoracle.report.svg import draw, drive_lines, lay_out

SVG = "{http://www.w3.org/2000/svg}"


def make_model(bipartite, edges=None, observed=None, latent=None):
    bipartite = np.asarray(bipartite)
    n, m = bipartite.shape
    return LatentModel(
        observed_names=observed or [f"X{i + 1}" for i in range(n)],
        latent_names=latent or [f"H{j + 1}" for j in range(m)],
        bipartite=bipartite,
        domain_sizes=(2,) * m,
        joint=JointTable(np.full((2,) * m, 0.5**m)),
        latent_graph=edges or CPDAG(m),
    )


def parsed(model, **choices):
    return ET.fromstring(draw(model, **choices))


def of_class(root, name):
    return [e for e in root.iter() if name in (e.get("class") or "").split()]


def boxes_of(elements):
    return [tuple(float(e.get(k)) for k in ("x", "y", "width", "height")) for e in elements]


def read_gamma(root, model):
    """Γ as the picture tells it: a line enters a box by its left edge, and chips lie within."""
    gamma = np.zeros((model.n_observed, model.n_latent), dtype=bool)
    groups = of_class(root, "group")
    for end in of_class(root, "drives-end"):
        y = float(end.get("cy"))
        for group in groups:
            _, top, _, height = boxes_of([group.find(f"{SVG}rect")])[0]
            if top <= y <= top + height:
                for chip in of_class(group, "chip"):
                    gamma[int(chip.get("data-observed")), int(end.get("data-latent"))] = True
    return gamma


@pytest.mark.parametrize("seed", range(10))
def test_the_picture_says_what_the_model_says(seed):
    model = random_model(4, 8, 3, random_state=seed)
    root = parsed(model)
    np.testing.assert_array_equal(read_gamma(root, model), model.bipartite)
    arcs = [e for e in of_class(root, "arc") if e.get("data-ends")]
    ends = {tuple(map(int, e.get("data-ends").split())): e for e in arcs}
    known = {pair for pair, e in ends.items() if e.get("marker-end")}
    dashed = {frozenset(pair) for pair, e in ends.items() if e.get("stroke-dasharray")}
    assert known == model.latent_graph.directed
    assert dashed == model.latent_graph.undirected
    assert len(arcs) == len(model.latent_graph.skeleton)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    for name in model.observed_names + model.latent_names:
        assert texts.count(name) == 1


@pytest.mark.parametrize(("n_latent", "n_observed"), [(1, 3), (4, 8), (5, 30), (5, 60)])
def test_nothing_overlaps_and_all_is_inside_the_frame(n_latent, n_observed):
    root = parsed(random_model(n_latent, n_observed, 3, random_state=1))
    width, height = (float(root.get(side)) for side in ("width", "height"))
    chips = boxes_of(e.find(f"{SVG}rect") for e in of_class(root, "chip"))
    pills = boxes_of(e.find(f"{SVG}rect") for e in of_class(root, "latent"))
    groups = boxes_of(of_class(root, "box"))
    assert len(chips) == n_observed
    for x, y, w, h in chips + pills + groups:
        assert x >= 0
        assert y >= 0
        assert x + w <= width
        assert y + h <= height
    for things in (chips + pills, groups + pills):
        for (x, y, w, h), (u, v, a, b) in combinations(things, 2):
            assert x + w <= u or u + a <= x or y + h <= v or v + b <= y


def test_variables_with_the_same_parents_share_a_box():
    layout = lay_out(make_model([[1, 0], [0, 1], [1, 0], [0, 0], [1, 1]]))
    held = {g.parents: [i for row in g.rows for i, _, _ in row] for g in layout.groups}
    assert held == {(0,): [0, 2], (0, 1): [4], (1,): [1], (): [3]}
    assert layout.groups[-1].parents == ()


def test_arcs_stay_inside_the_left_edge():
    edges = CPDAG.from_dag([(0, 5), (1, 5), (0, 2)], 6)
    root = parsed(make_model(np.eye(6), edges))
    for arc in of_class(root, "arc"):
        curve = re.match(r"M(\S+) \S+C(\S+) \S+ \S+ \S+ \S+ \S+", arc.get("d"))
        if curve:
            start, control = map(float, curve.groups())
            assert 0.25 * start + 0.75 * control > 0


def test_names_are_escaped_and_kept_whole_in_titles():
    hostile = ["<X> & co", '"><script>alert(1)</script>', "y" * 300, "\x07bell"]
    root = parsed(make_model(np.ones((4, 1)), observed=hostile, latent=['"H"']))
    titles = [e.text for e in root.iter(f"{SVG}title")]
    assert set(hostile[:3]) <= set(titles)
    assert "\N{REPLACEMENT CHARACTER}bell" in titles
    assert not list(root.iter(f"{SVG}script"))
    assert max(len(e.text) for e in root.iter(f"{SVG}text")) < 60


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40))
def test_any_name_gives_a_well_formed_picture(name):
    root = parsed(make_model([[1]], observed=[name], latent=[name + "'"]))
    assert len(of_class(root, "chip")) == 1


def test_only_an_interactive_picture_takes_the_focus():
    model = make_model([[1, 0], [0, 1]])
    assert not [e for e in parsed(model).iter() if e.get("tabindex")]
    latents = of_class(parsed(model, interactive=True), "latent")
    assert [e.get("tabindex") for e in latents] == ["0", "0"]
    assert [e.get("aria-controls") for e in latents] == ["latent-0", "latent-1"]


def test_the_legend_names_only_what_is_there():
    def legend(edges):
        root = parsed(make_model(np.eye(2), edges))
        return [e.find(f"{SVG}text").text for e in of_class(root, "legend")]

    assert legend(CPDAG(2)) == ["drives every measurement in the box"]
    assert "causes" in legend(CPDAG(2, frozenset({(0, 1)})))
    assert "depend on each other, direction open" in legend(CPDAG.from_dag([(0, 1)], 2))


def test_equal_models_give_equal_text():
    assert draw(random_model(3, 6, random_state=1)) == draw(random_model(3, 6, random_state=1))


def test_a_box_of_many_counts_those_that_it_does_not_name():
    model = make_model(np.ones((300, 1)))
    texts = [text.text for text in parsed(model).iter(f"{SVG}text")]
    assert [text for text in texts if text.startswith("X")] == [f"X{i + 1}" for i in range(29)]
    assert "and 271 more" in texts
    assert lay_out(model).size[1] < 800


def test_no_latents_is_a_picture_too():
    root = parsed(make_model(np.zeros((2, 0))))
    assert [text.text for text in root.iter(f"{SVG}text")] == ["X1", "X2"]


def test_many_boxes_become_one_beside_each_cause():
    model = sparse_problem(30, 300, n_samples=2, random_state=0).model
    root = parsed(model)
    np.testing.assert_array_equal(read_gamma(root, model), model.bipartite)
    layout = lay_out(model)
    assert [group.parents for group in layout.groups] == [(j,) for j in range(30)]
    # Level lines cannot cross.
    assert all(start == pytest.approx(end) for _, start, end in drive_lines(layout))
    assert layout.size[1] < 3000


def test_orphans_stand_last_among_many_boxes():
    bipartite = sparse_problem(20, 120, n_samples=2, random_state=1).model.bipartite
    model = make_model(np.vstack([np.zeros((1, 20), dtype=bool), bipartite])[:, :10])
    layout = lay_out(model)
    alone = [i for i in range(model.n_observed) if not model.parents(i)]
    assert layout.groups[-1].parents == ()
    assert [i for row in layout.groups[-1].rows for i, _, _ in row] == alone
    np.testing.assert_array_equal(read_gamma(parsed(model), model), model.bipartite)


def test_lines_and_legend_follow_how_sure_the_edges_are():
    edges = CPDAG(4, frozenset({(0, 1), (0, 2), (0, 3)}), frozenset({frozenset((1, 2))}))
    model = make_model(np.eye(4), edges)
    sureness = Sureness(
        {
            (0, 1): Sure(Degree.SURE, 0.97),
            (0, 2): Sure(Degree.PROBABLE, 0.85),
            (0, 3): Sure(Degree.POSSIBLE, 0.33),
            (1, 2): Sure(Degree.POSSIBLE, 0.6),
        },
        {(0, 0): Sure(Degree.SURE, 1.0), (3, 3): Sure(Degree.POSSIBLE, 0.4)},
    )
    root = parsed(model, sureness=sureness)
    arcs = {e.get("data-ends"): e for e in of_class(root, "arc") if e.get("data-ends")}
    strokes = {ends: e.get("stroke-dasharray") for ends, e in arcs.items()}
    assert strokes == {"0 1": None, "0 2": "8 4", "0 3": "1.6 3.6", "1 2": "1.6 3.6"}
    assert {ends for ends, e in arcs.items() if e.get("marker-end")} == {"0 1", "0 2", "0 3"}
    said = {ends: e.find(f"{SVG}title").text for ends, e in arcs.items()}
    assert said["0 1"] == "H1 causes H2: support 0.97"
    assert said["0 3"] == "H1 may cause H4: support 0.33"
    assert said["1 2"] == "H2 and H3 may depend on each other, direction open: support 0.60"
    legend = [e.find(f"{SVG}text").text for e in of_class(root, "legend")]
    assert legend == [
        "causes",
        "probably causes",
        "may cause",
        "may depend on each other, direction open",
        "drives the other measurements in the box",
        "may drive this measurement",
    ]
    chips = {e.get("data-observed"): e.find(f"{SVG}rect") for e in of_class(root, "chip")}
    assert [e.get("stroke-dasharray") for e in chips.values()] == [None, None, None, "1.6 3.6"]
    assert float(root.get("height")) > lay_out(model).size[1]
