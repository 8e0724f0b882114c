"""From the answers to a test to profiles of skills: a psychometrician's walk.

Twelve items, three skills, and the experts' Q-matrix, which says the skills that each item needs.
The commands learn how common each skill is, which skill makes another more likely, and the profile
of each new person; without the Q-matrix they show what the answers suggest on their own.

Run ``python examples/psychometrician.py FOLDER``; it prints the commands, which can be typed as
well.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from walk import run_commands

COMMANDS = """
mixoracle learn {folder}/test.csv --id person --qmatrix {folder}/q.csv --out {folder}/result --force
mixoracle predict {folder}/result {folder}/new.csv --out {folder}/profiles.csv --force
mixoracle query {folder}/result fractions --given item12=1 --given item1=0
mixoracle effect {folder}/result add fractions
mixoracle learn {folder}/test.csv --id person --out {folder}/without --force
mixoracle compare {folder}/result {folder}/without
"""
SKILLS = ("add", "carry", "fractions")
NEEDS = np.array([[1, 0, 0]] * 4 + [[0, 1, 0]] * 4 + [[0, 0, 1]] * 4)


def write_answers(path: Path, n_persons: int, seed: int) -> None:
    """Answers of persons; who can add learns fractions more often."""
    rng = np.random.default_rng(seed)
    add, carry = rng.random(n_persons) < 0.6, rng.random(n_persons) < 0.5
    skills = np.stack([add, carry, rng.random(n_persons) < np.where(add, 0.7, 0.2)], axis=1)
    able = np.stack([skills[:, needs == 1].all(axis=1) for needs in NEEDS], axis=1)
    right = (rng.random(able.shape) < np.where(able, 0.9, 0.12)).astype(int)
    frame = pd.DataFrame(right, columns=[f"item{i + 1}" for i in range(len(NEEDS))])
    frame.insert(0, "person", [f"P{seed}-{i:04d}" for i in range(n_persons)])
    frame.to_csv(path, index=False)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    write_answers(folder / "test.csv", 1500, seed=0)
    write_answers(folder / "new.csv", 40, seed=1)
    items = [f"item{i + 1}" for i in range(len(NEEDS))]
    pd.DataFrame(NEEDS, items, list(SKILLS)).to_csv(folder / "q.csv", index_label="item")
    run_commands(COMMANDS, folder)
