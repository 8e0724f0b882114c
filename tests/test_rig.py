"""The hydraulic rig: cooler, valve and pump are found from sensors; skipped without the data."""

import os
import runpy
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import adjusted_mutual_info_score

from mixoracle import LatentGraphLearner

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("MIXORACLE_DATA", ROOT.parent / "shared" / "data"))

pytestmark = [
    pytest.mark.skipif(
        not (DATA / "hydraulic" / "hydraulic_60pt.npz").is_file(),
        reason="the rig is not part of the project; set MIXORACLE_DATA to the folder of its data",
    ),
    pytest.mark.filterwarnings("ignore::mixoracle.errors.AssumptionWarning"),
    pytest.mark.filterwarnings("ignore::mixoracle.errors.DataWarning"),
]


def agreement(name):
    """The largest agreement of one cause with each setting, by the benchmark's own tables."""
    benchmark = runpy.run_path(str(ROOT / "benchmarks" / "bench_real.py"))
    ((_, observations, settings),) = [case for case in benchmark["rig"](DATA) if case[0] == name]
    states = LatentGraphLearner(random_state=0).fit(observations).states_
    return {
        setting: max(adjusted_mutual_info_score(np.asarray(groups), own) for own in states.T)
        for setting, groups in settings.items()
    }


def test_cooler_valve_and_pump_are_found_from_eight_blocks():
    found = agreement("rig, eight blocks")
    assert found["cooler"] > 0.98
    assert found["valve"] > 0.9
    assert found["pump"] > 0.9


@pytest.mark.skipif(
    "MIXORACLE_SLOW" not in os.environ, reason="half a minute; make test-slow runs it"
)
def test_the_cooler_is_found_from_all_sensors():
    assert agreement("rig, 17 sensors")["cooler"] > 0.98
