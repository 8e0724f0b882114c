import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from mixoracle.datasets import kind_problem, random_model
from mixoracle.report.figures import (
    _BAR_SHARE,
    plot,
    plot_components,
    plot_joint,
    save_figures,
)

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


def test_a_model_plots_itself():
    model = random_model(2, 4, random_state=0)
    drawn = model.plot()
    assert drawn.figure.axes == [drawn]
    ax = axes()
    assert model.plot(ax) is ax


def test_joint_bars_are_the_probabilities():
    model = random_model(3, 6, 3, random_state=1)
    widths = [bar.get_width() for bar in plot_joint(model, axes()).patches]
    expected = np.sort(model.joint.table, axis=None)[::-1][: len(widths)]
    np.testing.assert_allclose(widths, expected)


def test_each_variable_has_its_plot(make_result):
    result = make_result(2, 5)
    figure = plot_components(result.model, result.evidence.scatters)
    titles = [ax.get_title() for ax in figure.axes]
    assert [title.split()[0] for title in titles] == list(result.model.observed_names)
    counts = [len(line.get_xdata()) for line in figure.axes[0].lines]
    assert sum(counts) == len(result.evidence.scatters[0].points)


def test_files_are_the_same_each_time_whatever_the_names(make_result, tmp_path):
    result = make_result(2, 4, observed_names=HOSTILE)
    folders = [tmp_path / "one", tmp_path / "two"]
    first, second = (save_figures(result.model, result.evidence, folder) for folder in folders)
    assert {path.name for path in first} == {
        f"{name}.{ending}" for name in ("graph", "joint", "components") for ending in ("png", "pdf")
    }
    for one, two in zip(first, second, strict=True):
        assert one.read_bytes() == two.read_bytes()


def test_levels_are_bars_in_a_figure(make_result):
    problem = kind_problem(2, 4, 3, 300, random_state=0)
    levels = problem.observations.levels
    result = make_result(model=problem.model, levels=levels)
    figure = plot_components(result.model, result.evidence.scatters)
    for i, ax in enumerate(figure.axes):
        widths = [patch.get_width() for patch in ax.patches]
        n_components = result.model.n_components(i)
        assert len(widths) == n_components * 5 * 4
        assert sum(widths) == pytest.approx(_BAR_SHARE * 5 * n_components)
