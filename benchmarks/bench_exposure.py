"""How often all is right where counts out of a measured depth scatter more than Poisson counts.

Three kinds of cells in two phases drive five blocks of four genes. The depth of a cell differs by
some share, and its counts are negative binomial: of the same size in every cell, as biology is
usually modelled, or of a size that grows with the depth, as our family assumes because that keeps
its statistics additive. The script prints how many of some seeds find both causes with their states
and children; ``--seeds``, ``--rows``, ``--sizes``, ``--spreads`` and ``--oracle`` change it.
"""

import argparse
import warnings

import numpy as np
import pandas as pd

from mixoracle import LatentGraphLearner

DRIVERS = ("k", "k", "p", "p", "kp")
GENES = 4
GROUPS = {f"b{b}": [f"b{b}_g{g}" for g in range(GENES)] for b in range(len(DRIVERS))}
TRUTH = [[True, False], [True, False], [False, True], [False, True], [True, True]]


def cells(n_rows: int, spread: float, size: float, grows: bool, seed: int) -> pd.DataFrame:
    """Counts of genes, and the depth of each cell."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(3, size=n_rows, p=[0.5, 0.3, 0.2])
    phase = (rng.random(n_rows) < 0.35 + 0.2 * (kind == 1)).astype(int)
    depth = np.exp(rng.normal(0.0, spread, n_rows))
    shape = size * depth if grows else np.full(n_rows, size)
    columns = {}
    for names, drivers in zip(GROUPS.values(), DRIVERS, strict=True):
        for name in names:
            level = rng.uniform(5.0, 45.0, size=(3, 2))
            at = (kind if "k" in drivers else 0, phase if "p" in drivers else 0)
            columns[name] = rng.poisson(level[at] * depth * rng.gamma(shape, 1 / shape))
    return pd.DataFrame({**columns, "depth": np.round(10_000 * depth)})


def is_right(table: pd.DataFrame, oracle: str) -> bool:
    """Whether both causes are found, with their states and the blocks that they drive."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner = LatentGraphLearner(oracle, exposure="depth", random_state=0)
        model = learner.fit(table, groups=GROUPS).model_
    return model.domain_sizes == (3, 2) and model.bipartite.tolist() == TRUTH


def main() -> None:
    """Print a line for each setting."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--rows", type=int, default=800)
    parser.add_argument("--sizes", type=float, nargs="+", default=[10.0, 5.0])
    parser.add_argument("--spreads", type=float, nargs="+", default=[0.2, 0.5])
    parser.add_argument("--oracle", default="signature")
    given = parser.parse_args()
    print("size  spread of depth  same size in all cells  size grows with depth")
    for size in given.sizes:
        for spread in given.spreads:
            right = [
                sum(
                    is_right(cells(given.rows, spread, size, grows, seed), given.oracle)
                    for seed in range(1, given.seeds + 1)
                )
                for grows in (False, True)
            ]
            shown = [f"{n} of {given.seeds}" for n in right]
            print(f"{size:4.0f}  {spread:15.0%}  {shown[0]:>22}  {shown[1]:>21}", flush=True)


if __name__ == "__main__":
    main()
