"""From a machine's log to named states of new parts: a quality engineer's walk.

The log is as machines write it: semicolons, decimal commas, Latin-1, a time stamp, a part number
and a constant. Two hidden causes are behind it, a tool that wears and a seal that leaks. The
commands learn them, name them, find the states of new parts, mark a part that is like none before,
and say what a worn tool does.

Run ``python examples/engineer.py FOLDER``; it prints the commands, which can be typed as well.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from walk import run_commands

COMMANDS = """
mixoracle learn {folder}/log.csv --id Teil --dry-run
mixoracle learn {folder}/log.csv --id Teil --out {folder}/result --force
mixoracle rename {folder}/result --latent H1=Werkzeug --states H1=neu,stumpf --latent H2=Dichtung
mixoracle predict {folder}/result {folder}/new.csv --out {folder}/new-states.csv --force
mixoracle query {folder}/result Werkzeug --given Sichtprüfung=Kratzer --given Temperatur=61
mixoracle effect {folder}/result Werkzeug Sichtprüfung
"""


def write_log(path: Path, n_parts: int, seed: int) -> None:
    """A log of parts; the last one of the new ones comes from a broken sensor."""
    rng = np.random.default_rng(seed)
    worn, leaky = rng.random(n_parts) < 0.4, rng.random(n_parts) < 0.3
    frame = pd.DataFrame(
        {
            "Zeit": pd.date_range("2024-03-01", periods=n_parts, freq="min").strftime(
                "%d.%m.%Y %H:%M"
            ),
            "Teil": [f"T{seed}-{i:05d}" for i in range(n_parts)],
            "Temperatur": rng.normal(np.where(worn, 60.0, 45.0), 2.0).round(1),
            "Drehmoment": rng.normal(np.where(worn, 8.5, 5.0), 0.4).round(2),
            "Druck": rng.normal(np.where(leaky, 3.1, 4.6), 0.2).round(2),
            "Durchfluss": rng.normal(np.where(leaky, 900.0, 1200.0) + 500.0 * worn, 30.0).round(1),
            "Sichtprüfung": np.where(rng.random(n_parts) < 0.1 + 0.8 * worn, "Kratzer", "gut"),
            "Werk": "Graz",
        }
    )
    if seed:
        frame.loc[n_parts - 1, "Druck"] = 99.9
    frame.to_csv(path, index=False, sep=";", decimal=",", encoding="latin-1")


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    write_log(folder / "log.csv", 800, seed=0)
    write_log(folder / "new.csv", 50, seed=1)
    run_commands(COMMANDS, folder)
