from dataclasses import replace

import numpy as np
import pytest

from mixoracle import Observations
from mixoracle.datasets import item_problem, kind_problem
from mixoracle.mixtures.columns import read_columns
from mixoracle.model import (
    CPDAG,
    DiagonalComponents,
    JointTable,
    LatentModel,
)
from mixoracle.observations.answers import recognise_answers
from mixoracle.report.components import (
    MAX_COMPONENTS,
    MAX_LINES,
    component_table,
    item_tables,
)


@pytest.mark.parametrize("kind", ["categorical", "counts", "gamma", "mixed"])
@pytest.mark.parametrize("seed", range(3))
def test_every_kind_of_component_is_shown_in_numbers(kind, seed):
    problem = kind_problem(2, 5, 3, 300, random_state=seed, kind=kind)
    columns = read_columns(problem.observations)[1]
    for i in range(5):
        table = component_table(problem.model, columns, i)
        k = problem.model.n_components(i)
        assert len(table.weights) == k
        assert sum(table.weights) == pytest.approx(1)
        for j, (name, states) in zip(problem.model.parents(i), table.states, strict=True):
            assert name == problem.model.latent_names[j]
            assert len(states) == k
        assert all(len(line.values) == k and None not in line.values for line in table.lines)
        shares = np.array([line.values for line in table.lines if line.is_share])
        n_level_columns = sum(held is not None for held in problem.observations.levels[i])
        assert shares.sum() == pytest.approx(n_level_columns * k)


def test_levels_go_by_their_names():
    problem = kind_problem(1, 2, 2, 300, random_state=0, kind="mixed")
    table = component_table(problem.model, read_columns(problem.observations)[1], 0)
    titles = [line.title for line in table.lines]
    assert titles[:3] == ["X1[0]", "X1[1]", "X1[2] = a"]
    assert titles[-1] == "X1[4]"


@pytest.mark.parametrize("seed", range(6))
def test_states_count_as_components_do(seed):
    problem = kind_problem(3, 6, 3, 300, random_state=seed)
    model, columns = problem.model, read_columns(problem.observations)[1]
    every = np.array(list(np.ndindex(*model.domain_sizes)))
    labels = model.component_of_states(every)
    for i in range(6):
        table = component_table(model, columns, i)
        for states, label in zip(every, labels[:, i], strict=True):
            if label < len(table.weights):
                wanted = [str(states[j]) for j in model.parents(i)]
                assert [held[label] for _, held in table.states] == wanted


def test_a_model_without_components_has_no_table():
    problem = kind_problem(1, 2, 2, 300, random_state=0)
    bare = replace(problem.model, components=None)
    columns = read_columns(problem.observations)[1]
    assert component_table(bare, columns, 0) is None
    assert item_tables(bare, columns) == ()


def test_what_does_not_fit_is_counted():
    problem = kind_problem(1, 2, 2, 300, random_state=0, width=15)
    table = component_table(problem.model, read_columns(problem.observations)[1], 0)
    assert len(table.lines) == MAX_LINES
    assert table.more_lines == 15 * 4 - MAX_LINES


def test_components_beyond_those_shown_are_counted():
    k = MAX_COMPONENTS + 3
    means = np.arange(k, dtype=float)[:, None]
    model = LatentModel(
        observed_names=["X1"],
        latent_names=["H1"],
        bipartite=[[1]],
        domain_sizes=(k,),
        joint=JointTable(np.full(k, 1 / k)),
        latent_graph=CPDAG(1),
        components=[DiagonalComponents(means, np.ones((k, 1)))],
    )
    columns = read_columns(Observations.from_arrays({"X1": np.linspace(-1, 1, 50)}))[1]
    table = component_table(model, columns, 0)
    assert table.more_components == 3
    assert table.lines[0].values == tuple(range(MAX_COMPONENTS))
    assert table.states == (("H1", tuple(map(str, range(MAX_COMPONENTS)))),)


def test_items_with_the_same_causes_share_a_table():
    problem = item_problem(2, 8, 300, random_state=0)
    observations = recognise_answers(problem.observations)
    columns = read_columns(observations)[1]
    tables = item_tables(problem.model, columns)
    assert sum(len(table.lines) for table in tables) == 8
    assert len(tables) == len({problem.model.parents(i) for i in range(8)})
    titles = {line.title for table in tables for line in table.lines}
    assert titles == {f"{name} = 1" for name in problem.observations.names}
    assert all(line.is_share for table in tables for line in table.lines)
