"""From counts of genes to kinds and phases of cells: a biologist's walk.

Five modules of genes were counted in 900 cells, to a different depth in each. Two hidden causes
are behind them, the kind of a cell (three) and its phase (two). Depth is said to be an exposure, so
that it is no cause; what is known of marker genes gives the causes and their states names.

Run ``python examples/biologist.py FOLDER``.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from mixoracle import Background, LatentGraphLearner, LatentModel

KNOWN = """
[latents.kind]
children = ["CD"]
states = ["stem", "early", "mature"]

[latents.phase]
children = ["cycle"]
states = ["resting", "dividing"]
"""
MODULES = {"CD": "k", "surface": "k", "cycle": "p", "histone": "p", "ribosome": "kp"}


def cells(n_cells: int, seed: int) -> pd.DataFrame:
    """Counts of four genes in each module, and the depth of each cell."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(3, size=n_cells, p=[0.5, 0.3, 0.2])
    phase = (rng.random(n_cells) < 0.3 + 0.2 * (kind == 0)).astype(int)
    depth = np.exp(rng.normal(0.0, 0.2, n_cells))
    columns = {}
    for module, drivers in MODULES.items():
        for gene in range(4):
            rate = 6.0 + (8.0 + gene) * (kind * ("k" in drivers) + 1.4 * phase * ("p" in drivers))
            columns[f"{module}_{gene + 1}"] = rng.poisson(rate * depth)
    return pd.DataFrame({**columns, "depth": (10_000 * depth).round()})


def walk(folder: Path) -> None:
    """Learn, look, keep, and find the states of new cells."""
    known = Background.read(folder / "known.toml")
    learner = LatentGraphLearner(knowledge=known, exposure="depth", random_state=0)
    learner.fit(cells(900, seed=0), groups="prefix")
    print(learner.summary())
    print(learner.state_means().round(1)[["CD_1", "cycle_1", "ribosome_1"]])
    learner.report(folder / "result", replace=True)
    model = LatentModel.load(folder / "result")
    print(model.query("phase", given={"kind": "stem", "ribosome_1": 30}).table.round(2))
    print(model.effect("kind", "ribosome").mean_lower.round(1))
    new = cells(20, seed=1)
    print(pd.DataFrame(model.predict(new), columns=model.latent_names).value_counts())


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    (target / "known.toml").write_text(KNOWN, encoding="utf-8")
    walk(target)
