import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from mixoracle.datasets import random_model
from mixoracle.report import svg
from mixoracle.report.figures import plot
from mixoracle.report.saving import save_figures
from mixoracle.report.sureness import Sure, Sureness

HOSTILE = ("$x^$", "\N{ROCKET} \\alpha", "<b>", "y" * 300)


@pytest.fixture(autouse=True)
def no_window():
    with mpl.rc_context({"backend": "agg"}):
        yield
    from matplotlib import pyplot

    pyplot.close("all")


def axes():
    return Figure().add_subplot()


def test_every_name_is_in_the_graph():
    model = random_model(4, 8, 3, random_state=14)
    drawn = plot(model, axes())
    texts = [text.get_text() for text in drawn.texts]
    for name in model.observed_names + model.latent_names:
        assert texts.count(name) == 1


@pytest.mark.parametrize("seed", range(4))
def test_arrows_and_open_edges_are_told_apart(seed):
    from matplotlib.patches import FancyArrowPatch

    model = random_model(4, 8, 3, random_state=seed)
    arrows = [p for p in plot(model, axes()).patches if isinstance(p, FancyArrowPatch)]
    solid = [arrow for arrow in arrows if arrow.get_linestyle() in {"-", "solid"}]
    assert len(solid) == len(model.latent_graph.directed)
    assert len(arrows) == len(model.latent_graph.skeleton)


def test_support_is_the_width_of_an_edge():
    from matplotlib.patches import FancyArrowPatch

    model = random_model(3, 6, 3, random_state=1)
    ends = next(iter(svg.latent_edges(model)))[:2]
    widths = []
    for support in (0.3, 0.9):
        drawn = plot(model, axes(), Sureness({ends: Sure(support=support)})).patches
        widths.append(next(p for p in drawn if isinstance(p, FancyArrowPatch)).get_linewidth())
    assert widths[0] < widths[1]


def test_a_model_plots_itself():
    model = random_model(2, 4, random_state=0)
    drawn = model.plot()
    assert drawn.figure.axes == [drawn]
    ax = axes()
    assert model.plot(ax) is ax


def test_files_are_the_same_each_time_whatever_the_names(make_result, tmp_path):
    result = make_result(2, 4, observed_names=HOSTILE)
    folders = [tmp_path / "one", tmp_path / "two"]
    first, second = (save_figures(result.model, result.evidence, folder) for folder in folders)
    stems = ["graph", "joint", "states"]
    stems += [f"{name}-{j}" for j in (1, 2) for name in ("profile", "distributions", "certainty")]
    assert {path.name for path in first} == {
        f"{name}.{ending}" for name in stems for ending in ("png", "pdf")
    }
    for one, two in zip(first, second, strict=True):
        assert one.read_bytes() == two.read_bytes()
