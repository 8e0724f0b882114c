import dataclasses

import numpy as np
import pandas as pd
import pytest

from mixoracle import LatentGraphLearner, Observations
from mixoracle.datasets import load_cells, load_machine, load_skills

LOADERS = (load_machine, load_skills, load_cells)


@pytest.mark.parametrize("load", LOADERS)
def test_a_table_is_the_same_each_time_and_belongs_to_its_reader(load):
    first, second = load(), load()
    pd.testing.assert_frame_equal(first.frame, second.frame)
    pd.testing.assert_frame_equal(first.states, second.states)
    first.frame.iloc[0] = None
    assert second.frame.iloc[0].notna().any()
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.story = ""


@pytest.mark.parametrize("load", LOADERS)
def test_rows_and_edges_go_with_the_states(load):
    table = load()
    assert len(table.frame) == len(table.states)
    assert not set(table.states) & set(table.frame)
    assert {name for edge in table.edges for name in edge} <= set(table.states)
    assert table.story.endswith(".")


@pytest.mark.parametrize("load", LOADERS)
def test_each_effect_depends_on_its_cause(load):
    table = load()
    for cause, effect in table.edges:
        shares = pd.crosstab(table.states[cause], table.states[effect], normalize="index")
        assert np.ptp(shares.to_numpy(), axis=0).max() > 0.2


def test_the_machine_has_missing_and_wrong_values():
    frame = load_machine().frame
    assert 0.02 < frame.isna().to_numpy().mean() < 0.04
    assert ((frame["power"] < 0) | (frame["power"] > 20)).sum() == 4


def test_the_hidden_states_of_the_machine_are_found():
    machine = load_machine()
    learner = LatentGraphLearner(random_state=0)
    learner.fit(Observations.from_frame(machine.frame, id="part"))
    assert learner.model_.domain_sizes == (2, 2, 2)
    assert learner.model_.latent_graph.directed == {(0, 2), (1, 2)}
    for found, cause in zip(learner.states_.T, machine.states, strict=True):
        assert pd.crosstab(found, machine.states[cause]).max(axis=1).sum() >= 1198
