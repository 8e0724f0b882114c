"""The report's pictures through matplotlib."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from mixoracle.datasets import kind_problem
from mixoracle.report import plots
from mixoracle.report.evidence import Step


def axes():
    return Figure().add_subplot()


@pytest.fixture(scope="module", params=["categorical", "counts", "gamma"])
def held(request, make_result):
    problem = kind_problem(2, 4, 3, 250, random_state=1, kind=request.param, width=1)
    levels = problem.observations.levels
    return make_result(model=problem.model, levels=levels, n_samples=250)


def test_bars_and_curves_are_the_shapes(held):
    model, evidence = held.model, held.evidence
    pictures = plots.distribution_pictures(
        model, evidence.columns, evidence.shapes, evidence.scatters, 0
    )
    assert [i for i, _ in pictures] == list(model.children(0))
    for i, shape in pictures:
        drawn = plots.plot_distribution(model, evidence.columns, shape, i, 0, axes())
        if shape.kind == "density":
            heights = [line.get_ydata() for line in drawn.lines]
            np.testing.assert_allclose(heights, shape.heights)
        else:
            heights = [bar.get_height() for bar in drawn.patches]
            np.testing.assert_allclose(heights, np.concatenate(shape.heights))


def test_blocks_are_points_in_the_colours_of_states(make_result):
    result = make_result(2, 5)
    evidence = result.evidence
    figure = Figure()
    pictures = plots.distribution_pictures(
        result.model, evidence.columns, evidence.shapes, evidence.scatters, 0
    )
    drawn = plots.draw_distributions(
        figure, result.model, evidence.columns, pictures, evidence.sample, 0
    )
    assert figure.axes == drawn
    points = sum(len(line.get_xdata()) for line in drawn[0].lines)
    assert points == len(evidence.scatters[pictures[0][0]].points)
    assert len(drawn[0].lines) == result.model.domain_sizes[0]


def test_certainty_counts_every_case(held):
    drawn = plots.plot_certainty(held.model, held.evidence.certainty[0], 0, axes())
    assert sum(bar.get_height() for bar in drawn.patches) == 250


def test_the_strip_is_as_long_as_the_data(held):
    drawn = plots.plot_states(held.model, held.evidence.strip, axes())
    assert drawn.get_xlim() == (0, 250)
    assert len(drawn.collections) == sum(held.model.domain_sizes)
    corners = np.concatenate([own.get_paths()[0].vertices for own in drawn.collections[:2]])
    assert corners[:, 0].max() == 250


def test_the_heat_map_is_the_marginal(held):
    drawn = plots.plot_joint(held.model, 1, 0, axes())
    table = held.model.joint.marginal([0, 1]).table
    np.testing.assert_allclose(drawn.images[0].get_array(), table)


def test_the_path_marks_the_answer_that_was_taken():
    path = (
        Step(None, 800.0, (3, 2), ((0,), (1,)), False),
        Step(400.0, 200.0, (2,), ((0, 1),), True),
        Step(100.0, 50.0, (), (), False),
    )
    drawn = plots.plot_path(path, 1000, axes())
    names = [text.get_text() for text in drawn.get_yticklabels()]
    assert names == ["3 × 2 states", "2 states", "no hidden cause"]
    widths = [line.get_linewidth() for line in drawn.lines]
    assert widths.index(max(widths)) == 1


def test_the_path_goes_from_fine_to_coarse_also_beyond_the_number_of_rows():
    # At 3 000 rows the finest coarse resolution is 6 000, at which they are worth 2 000.
    path = (
        Step(None, None, (3, 2), ((0,), (1,)), False),
        Step(6000.0, 6000.0, (3,), ((0, 1),), True),
        Step(103.4, 103.4, (2,), ((0, 1),), False),
    )
    drawn = plots.plot_path(path, 3000, axes())
    middle = [np.sqrt(np.prod(line.get_xdata())) for line in drawn.lines]
    np.testing.assert_allclose(middle, [3000, 2000, 100], rtol=0.01)
