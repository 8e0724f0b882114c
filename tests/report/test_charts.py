import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from mixoracle.datasets import random_model
from mixoracle.report import charts
from mixoracle.report.components import LevelBars
from mixoracle.report.evidence import Scatter


@pytest.mark.parametrize(("share", "width"), [(0.25, "25.0%"), (-1, "0.0%"), (7, "100.0%")])
def test_a_bar_is_as_long_as_its_share(share, width):
    rects = ET.fromstring(charts.bar(share)).findall("rect")
    assert rects[1].get("width") == width


def test_the_picture_of_the_joint_lists_the_likeliest_first():
    model = random_model(3, 6, 3, random_state=1)
    root = ET.fromstring(charts.joint_picture(model))
    values = [float(text.text) for text in root.findall("text[@class='quiet']")]
    expected = np.sort(model.joint.table, axis=None)[::-1][: charts.MAX_PICTURED_STATES]
    np.testing.assert_allclose(values, expected, atol=5e-4)
    bars = [float(rect.get("width")) for rect in root.findall("rect")]
    np.testing.assert_allclose(bars, bars[0] * expected / expected[0], atol=1)


def test_a_scatter_draws_every_point_within_its_frame():
    rng = np.random.default_rng(0)
    points = tuple(map(tuple, rng.normal(size=(50, 2)).tolist()))
    scatter = Scatter(("a", "b"), points, tuple(rng.integers(0, 3, 50).tolist()), 1.0, None)
    root = ET.fromstring(charts.scatter_picture(scatter, "<x>"))
    dots = [
        tuple(map(float, pair))
        for path in root.findall("path")
        for pair in re.findall(r"M(\S+) (\S+)h0", path.get("d"))
    ]
    assert len(dots) == 50
    assert len(root.findall("path")) == 3
    assert min(min(dot) for dot in dots) > 0
    assert max(x for x, _ in dots) < 240
    assert max(y for _, y in dots) < 190


def test_one_column_gets_a_lane_for_each_component():
    scatter = Scatter(("a",), ((1.0, 0.0), (2.0, 0.0), (1.5, 0.0)), (0, 1, 0), 1.0, 1.0)
    points, labels = charts.scatter_points(scatter)
    assert points[labels == 1][:, 1].max() < points[labels == 0][:, 1].min()
    assert points[:, 0].tolist() == [1.0, 2.0, 1.5]


def test_no_points_is_a_picture_too():
    root = ET.fromstring(charts.scatter_picture(Scatter(("a",), (), (), 1.0, None), "x"))
    assert root.findall("path") == []


def test_components_have_colours_of_their_own():
    colours = {charts.component_colour(k, 18) for k in range(18)}
    assert len(colours) == 18


def bars_of(rng, n_columns, n_components, n_levels=3):
    shares = rng.dirichlet(np.ones(n_levels), size=(n_columns, n_components))
    return LevelBars(
        tuple(f"q{c}<" for c in range(n_columns)),
        (tuple("abc"[:n_levels]),) * n_columns,
        tuple(tuple(map(tuple, column)) for column in shares.tolist()),
    )


@pytest.mark.parametrize("n_columns", [1, 5, 40])
@pytest.mark.parametrize("n_components", [1, 4, 24])
def test_bars_of_levels_fill_their_room_and_stay_in_the_frame(n_columns, n_components):
    bars = bars_of(np.random.default_rng(n_columns), n_columns, n_components)
    root = ET.fromstring(charts.levels_picture(bars, "<x>"))
    rects = [rect for rect in root.findall("rect") if rect.get("class") is None]
    pictured = min(n_columns, charts.MAX_PICTURED_COLUMNS)
    assert len(rects) == pictured * n_components * 3
    edges = np.array([[float(r.get(key)) for key in ("x", "y", "width", "height")] for r in rects])
    assert edges.min() >= 0
    assert (edges[:, 0] + edges[:, 2]).max() <= 240
    assert (edges[:, 1] + edges[:, 3]).max() <= 190
    widths = edges[:, 2].reshape(pictured, n_components, 3)
    shares = np.array(bars.shares)[:pictured]
    np.testing.assert_allclose(widths / widths.sum(axis=2, keepdims=True), shares, atol=0.01)
    title = f"a: {bars.shares[0][0][0]:.1%}"
    assert rects[0].find("title").text == title


def test_the_last_level_is_the_darkest():
    assert charts.level_opacity(0, 4) < charts.level_opacity(1, 4) < charts.level_opacity(3, 4) == 1
    assert 0 < charts.level_opacity(0, 1) < 1


def test_levels_without_labels_go_by_code():
    bars = LevelBars(("q",), ((),), (((0.5, 0.5),),))
    root = ET.fromstring(charts.levels_picture(bars, "x"))
    titles = [rect.find("title").text for rect in root.findall("rect") if rect.get("class") is None]
    assert titles == ["0: 50.0%", "1: 50.0%"]
