"""What was wrong with the machine? Eight measurements of a hydraulic rig, and nothing else.

The rig ran 1 449 stable cycles of a minute each, while its cooler, its valve and its pump were worn
on purpose, in steps (Helwig, Pignanelli and Schütze 2015; the data are not part of this project).
From sensors alone this finds how many things changed, in how many steps, and which sensors each of
them moves. The learner never sees the settings of the experiment. We did: which seconds show the
valve's jump was chosen with a look at them, so the agreement printed is that of informed blocks.

Flow, efficiency and pressure are taken from second 52 on. In half of the cycles with a failing
cooler the flow stops between the seconds 20 and 50, as a plot of the sensor shows, and then
nothing shows the pump there: not even a classifier that is told its setting gets beyond an
agreement of 0.86 (k nearest neighbours, by state of the cooler, cross-validated; 0.97 from second
52 on).

Run ``python examples/rig.py FOLDER`` or set ``MIXORACLE_DATA``; the folder holds
``hydraulic/hydraulic_60pt.npz``. The graph is left in ``rig.svg``.
"""

import argparse
import os
import sys
import textwrap
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_mutual_info_score

from mixoracle import LatentGraphLearner, Observations
from mixoracle.errors import AssumptionWarning

Array = NDArray[np.float64]
SETTINGS = ("cooler", "valve", "pump", "accumulator")
STABLE = 4
# A cause that agrees less with every setting is none of them.
NO_MATCH = 0.3
LEVELS = {
    "believe": "Believe this answer.",
    "part": "Believe this answer in part:",
    "doubt": "Do not believe this answer as it stands:",
}


def blocks(sensors: Mapping[str, Array]) -> dict[str, Array]:
    """What an engineer would look at: means over spans of seconds, the valve's jump as it is."""

    def mean(sensor: str, start: int, end: int) -> Array:
        return np.asarray(sensors[sensor][:, start:end].mean(axis=1, keepdims=True))

    return {
        "temperature": mean("TS1", 0, 60),
        "return pressure": mean("PS5", 0, 60),
        "cooling efficiency": mean("CE", 0, 60),
        "late pressure": mean("PS1", 52, 60),
        "valve pressure": mean("PS2", 0, 10),
        "valve jump": np.asarray(sensors["PS2"][:, 9:12]),
        "late flow": mean("FS1", 52, 60),
        "late efficiency": mean("SE", 52, 60),
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Learn, and hold each cause against the settings of the experiment."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", nargs="?", default=os.environ.get("MIXORACLE_DATA"))
    parser.add_argument("--picture", default="rig.svg")
    choices = parser.parse_args(argv)
    if choices.folder is None:
        sys.exit("name the folder of the rig on the command line or by MIXORACLE_DATA")
    path = Path(choices.folder) / "hydraulic" / "hydraulic_60pt.npz"
    if not path.is_file():
        sys.exit(f"{path} is not there; name the folder that holds hydraulic/{path.name}")
    with np.load(path) as held:
        stable = held["profile"][:, STABLE] == 0
        truth = held["profile"][stable]
        sensors = {name: held[name][stable] for name in held["sensor_names"]}
    learner = LatentGraphLearner(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        learner.fit(Observations.from_arrays(blocks(sensors)))
    report(learner, truth)
    learner.plot().figure.savefig(choices.picture)
    print(f"\nThe graph is in {choices.picture}.")


def report(learner: LatentGraphLearner, truth: Array) -> None:
    """Print how far to believe the answer, then each cause with what it drives and what it is."""
    model = learner.model_
    print(LEVELS[learner.verdict_.level])
    verdict = learner.summary().evidence.verdict
    for reason in () if verdict is None else verdict.reasons:
        print(textwrap.fill(reason, 96, initial_indent="  - ", subsequent_indent="    "))
    print(f"\n{model.n_latent} hidden causes behind {learner.states_.shape[0]} cycles")
    for j, name in enumerate(model.latent_names):
        driven = ", ".join(model.observed_names[i] for i in model.children(j))
        print(f"\n{name}: {model.domain_sizes[j]} states; drives {driven}")
        shares = [adjusted_mutual_info_score(truth[:, k], learner.states_[:, j]) for k in range(4)]
        print("  agreement with the settings (adjusted mutual information; 1 is full, 0 is none)")
        settings = zip(SETTINGS, shares, strict=True)
        print(
            "  "
            + "   ".join(f"{setting} {round(share, 2) + 0.0:.2f}" for setting, share in settings)
        )
        if max(shares) < NO_MATCH:
            print(f"  No setting of the experiment is {name}.{leftover(learner, j)}")


def leftover(learner: LatentGraphLearner, j: int) -> str:
    """Why a cause that is no setting may have been found."""
    model = learner.model_
    others = [
        name
        for k, name in enumerate(model.latent_names)
        if k != j and set(model.children(j)) <= set(model.children(k))
    ]
    if not others:
        return " Something else may have changed."
    return (
        f"\n  All that it drives is driven by {' and '.join(others)} too: it may be what their "
        "components\n  leave over because these are not normal, or a change that nobody set."
    )


if __name__ == "__main__":
    main()
