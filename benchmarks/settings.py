"""Shared by the benchmarks: ten settings (latents, observed, largest domain), and options."""

from __future__ import annotations

import argparse

SETTINGS = (
    (1, 3, 5),
    (2, 5, 3),
    (2, 5, 6),
    (3, 7, 4),
    (3, 7, 5),
    (3, 8, 3),
    (3, 8, 4),
    (3, 8, 5),
    (4, 7, 3),
    (4, 8, 3),
)


def problem_options(page: str, samples: int | None = None) -> argparse.ArgumentParser:
    """The options of a benchmark that learns drawn problems; ``page`` is its docstring."""
    parser = argparse.ArgumentParser(description=page.split("\n", maxsplit=1)[0])
    if samples is not None:
        parser.add_argument("--samples", type=int, default=samples, help="rows of each problem")
    parser.add_argument("--seeds", type=int, default=1, help="problems of each setting")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    return parser
