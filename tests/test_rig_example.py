"""The example of the rig on a small table in its place: what it prints can be read by anybody."""

import runpy
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]


def test_the_example_of_the_rig_gives_the_verdict_first(tmp_path, capsys, monkeypatch):
    rng = np.random.default_rng(0)
    n = 300
    profile = np.column_stack([rng.integers(2, size=(n, 4)), np.zeros(n, dtype=np.int64)])
    driven = {"TS1": 0, "PS5": 0, "CE": 0, "PS1": 0, "PS2": 1, "FS1": 2, "SE": 2}
    sensors = {
        name: 5.0 * profile[:, [k]] + rng.normal(size=(n, 1)) + 0.1 * rng.normal(size=(n, 60))
        for name, k in driven.items()
    }
    (tmp_path / "hydraulic").mkdir()
    file = tmp_path / "hydraulic" / "hydraulic_60pt.npz"
    np.savez(file, profile=profile, sensor_names=np.array(list(driven)), **sensors)
    monkeypatch.setenv("MPLBACKEND", "agg")
    example = runpy.run_path(str(ROOT / "examples" / "rig.py"))
    example["main"]([str(tmp_path), "--picture", str(tmp_path / "rig.svg")])
    shown = capsys.readouterr().out
    assert "elieve this answer" in shown.splitlines()[0]
    assert "agreement with the settings (adjusted mutual information" in shown
    assert "span condition" not in shown
    assert not any("," in name for name in example["blocks"](sensors))
    assert (tmp_path / "rig.svg").is_file()
