"""Data without a discrete cause: how often none is claimed without a doubt.

Right is 'no hidden cause', or an answer that says itself that these data look like a continuous
cause, or that measurements stay dependent given its states. Everything else is a quiet mistake.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from mixoracle import LatentGraphLearner
from mixoracle.errors import AssumptionWarning, DataWarning

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]
_COLUMNS = 8


def _independent(name: str) -> Draw:
    draws: dict[str, Callable[[np.random.Generator, tuple[int, int]], Floats]] = {
        "normal": lambda rng, size: rng.standard_normal(size),
        "uniform": lambda rng, size: rng.uniform(size=size),
        "lognormal": lambda rng, size: np.exp(rng.standard_normal(size)),
        "t(3)": lambda rng, size: rng.standard_t(3, size),
        "exponential": lambda rng, size: rng.exponential(size=size),
        "Gamma(4)": lambda rng, size: rng.gamma(4.0, size=size),
        "Gumbel": lambda rng, size: rng.gumbel(size=size),
    }
    return lambda rng, n_rows: draws[name](rng, (n_rows, _COLUMNS))


def _factors(n_factors: int) -> Draw:
    def draw(rng: np.random.Generator, n_rows: int) -> Floats:
        loadings = rng.normal(size=(n_factors, _COLUMNS))
        factors = rng.standard_normal((n_rows, n_factors))
        return np.asarray(factors @ loadings + 0.5 * rng.standard_normal((n_rows, _COLUMNS)))

    return draw


def _curved(rng: np.random.Generator, n_rows: int) -> Floats:
    """One uniform factor behind monotone curves."""
    factor = rng.uniform(size=(n_rows, 1))
    bent = factor ** np.exp(rng.uniform(-1.0, 1.0, _COLUMNS))
    return np.asarray(bent + 0.1 * rng.standard_normal((n_rows, _COLUMNS)))


def _circle(rng: np.random.Generator, n_rows: int) -> Floats:
    angle = rng.uniform(0.0, 2.0 * np.pi, n_rows)
    place = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    turned = place @ rng.normal(size=(2, _COLUMNS))
    return np.asarray(turned + 0.2 * rng.standard_normal((n_rows, _COLUMNS)))


def _walks(rng: np.random.Generator, n_rows: int) -> Floats:
    return np.asarray(np.cumsum(rng.standard_normal((n_rows, _COLUMNS)), axis=0))


KINDS: dict[str, Draw] = {
    **{
        f"independent {name}": _independent(name)
        for name in (
            "normal",
            "uniform",
            "lognormal",
            "t(3)",
            "exponential",
            "Gamma(4)",
            "Gumbel",
        )
    },
    "one linear factor": _factors(1),
    "two linear factors": _factors(2),
    "a curved factor": _curved,
    "a circle": _circle,
    "random walks": _walks,
}


def run(kind: str, samples: int, seed: int) -> tuple[str, int]:
    """What was said, in one word, and the number of joint states claimed."""
    rows = KINDS[kind](np.random.default_rng([seed, 5]), samples)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        warnings.simplefilter("ignore", DataWarning)
        learner = LatentGraphLearner(random_state=seed).fit(rows)
    if learner.model_.n_latent == 0:
        return "none", 1
    n_states = int(np.prod(learner.model_.domain_sizes))
    failed = {verdict.label for verdict in learner.assumptions_ if verdict.holds is False}
    if "continuous" in failed:
        return "continuous", n_states
    return ("dependent" if "sec:bg" in failed else "quiet"), n_states


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--samples", type=int, default=1_500)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    choices = parser.parse_args(argv)
    words = ("none", "continuous", "dependent", "quiet")
    print(f"{'data':<26}" + "".join(f"{word:>12}" for word in words) + f"{'states':>8}")
    seeds = range(choices.first_seed, choices.first_seed + choices.seeds)
    every: list[str] = []
    for kind in KINDS:
        said = Parallel(n_jobs=choices.jobs)(
            delayed(run)(kind, choices.samples, seed) for seed in seeds
        )
        every += [word for word, _ in said]
        counts = "".join(f"{sum(w == word for w, _ in said):>12}" for word in words)
        print(f"{kind:<26}{counts}{np.median([n for _, n in said]):>8.0f}", flush=True)
    right = sum(word in ("none", "continuous") for word in every)
    print(f"none or continuous: {right} of {len(every)}; quiet: {every.count('quiet')}")


if __name__ == "__main__":
    main()
