import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest

from mixoracle.datasets import random_model
from mixoracle.model import CPDAG, JointTable, LatentModel
from mixoracle.report.svg import draw

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


def parsed(model):
    return ET.fromstring(draw(model))


@pytest.mark.parametrize("seed", range(10))
def test_everything_is_drawn_once_and_inside_the_frame(seed):
    model = random_model(4, 8, 3, random_state=seed)
    root = parsed(model)
    arrows = [path.get("marker-end") for path in root.iter(f"{SVG}path") if path.get("stroke")]
    assert arrows.count("url(#observed-arrow)") == model.bipartite.sum()
    assert arrows.count("url(#latent-arrow)") == len(model.latent_graph.directed)
    assert arrows.count(None) == len(model.latent_graph.undirected)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    for name in model.observed_names + model.latent_names:
        assert texts.count(name) == 1
    width, height = (float(root.get(side)) for side in ("width", "height"))
    for box in root.iter(f"{SVG}rect"):
        if box.get("x"):
            assert float(box.get("x")) >= 0
            assert float(box.get("x")) + float(box.get("width")) <= width
            assert float(box.get("y")) + float(box.get("height")) <= height


def test_boxes_do_not_overlap():
    names = ["a", "a much longer name", "b" * 40, "c"]
    root = parsed(make_model([[1], [1], [1], [1]], observed=names))
    boxes = sorted(
        (float(box.get("x")), float(box.get("width")))
        for box in root.iter(f"{SVG}rect")
        if box.get("x")
    )
    for (left, width), (right, _) in pairwise(boxes):
        assert left + width < right


def test_arcs_stay_below_the_upper_edge():
    edges = CPDAG.from_dag([(0, 5), (1, 5), (0, 2)], 6)
    root = parsed(make_model(np.eye(6), edges))
    for path in root.iter(f"{SVG}path"):
        curve = re.match(r"M\S+ (\S+)Q\S+ (\S+) \S+ (\S+)", path.get("d"))
        if curve:
            start, control, end = map(float, curve.groups())
            assert 0.25 * start + 0.5 * control + 0.25 * end > 0


def test_names_are_escaped():
    root = parsed(make_model([[1]], observed=["<X> & co"], latent=['"H"']))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert "<X> & co" in texts
    assert '"H"' in texts


def test_equal_models_give_equal_text():
    assert draw(random_model(3, 6, random_state=1)) == draw(random_model(3, 6, random_state=1))


def test_no_latents_is_a_picture_too():
    root = parsed(make_model(np.zeros((2, 0))))
    assert [text.text for text in root.iter(f"{SVG}text")] == ["X1", "X2"]
