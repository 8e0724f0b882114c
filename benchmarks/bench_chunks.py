"""Rows that do not fit into memory: ``mixoracle learn --chunks`` on parquet files.

Draws a problem of the paper, chunk by chunk and never whole in memory, into a folder of parquet
files, and learns it by the command line in a process of its own: seconds, CPU seconds of all
processes, the largest sum of their resident memory, and whether Γ and the domain sizes are exact.
With ``--compare`` the same table is learned in memory too, with the largest difference of the
parameters; with ``--dask`` on a local cluster of two workers too, with the ratio of the times.

    python benchmarks/bench_chunks.py --rows 1000000 --jobs 2 --compare --dask
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as arrow
from pyarrow import parquet

from mixoracle import LatentModel
from mixoracle.datasets import random_model, sample
from mixoracle.metrics import compare

# Rows of one file.
ROWS = 250_000
_TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def draw(folder: Path, model: LatentModel, n_rows: int, seed: int) -> None:
    """Fill a folder with rows of the model, a file at a time."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, start in enumerate(range(0, n_rows, ROWS)):
        drawn, _ = sample(model, min(ROWS, n_rows - start), random_state=seed + number)
        table = arrow.table(list(drawn.values.T), names=list(drawn.column_names))
        parquet.write_table(table, folder / f"part-{number:04d}.parquet")


@dataclass
class Watch:
    """Processes below this one, but for those in ``without``: memory at most, CPU time in all."""

    without: frozenset[int] = frozenset()
    peak: float = 0.0
    cpu: dict[int, float] = field(default_factory=dict)

    def look(self) -> None:
        """Look at all processes once."""
        held = 0
        for pid in descendants(os.getpid()) - self.without:
            try:
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                held += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
            except (OSError, IndexError):  # it has ended
                continue
            self.cpu[pid] = (int(fields[11]) + int(fields[12])) / _TICK
        self.peak = max(self.peak, held)


def descendants(parent: int) -> set[int]:
    """The processes that a process started, and those that these started."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                above = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue
            children.setdefault(above, []).append(int(entry.name))
    found: set[int] = set()
    open_ends = [parent]
    while open_ends:
        own = children.get(open_ends.pop(), [])
        found.update(own)
        open_ends += own
    return found


@contextmanager
def watched(watch: Watch):
    """Look at the processes five times a second while the block runs."""
    done = threading.Event()

    def keep_looking() -> None:
        while not done.wait(0.2):
            watch.look()

    thread = threading.Thread(target=keep_looking)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def learn(
    name: str, data: Path, out: Path, truth: LatentModel, *options: str
) -> tuple[LatentModel, float]:
    """Learn by the command line, print what it took, and return the model and the seconds."""
    command = [sys.executable, "-m", "mixoracle", "learn", str(data), "--out", str(out), "--force"]
    watch = Watch(frozenset() if "--dask" in options else frozenset(descendants(os.getpid())))
    watch.look()
    before = dict(watch.cpu)
    began = time.perf_counter()
    log = out.with_suffix(".log")
    with watched(watch), log.open("w") as stream:
        subprocess.run([*command, *options], check=True, stdout=stream, stderr=stream)
    seconds = time.perf_counter() - began
    cpu = sum(spent - before.get(pid, 0.0) for pid, spent in watch.cpu.items())
    model = LatentModel.load(out)
    found = compare(truth, model)
    print(
        f"{name:14s} {seconds:8.1f} {cpu:8.1f} {watch.peak / 1e9:9.2f}   "
        f"{found.bipartite_exact!s:5s} {found.domains_exact!s:5s} {found.shd:4d} "
        f"{found.joint_tv:.1e}",
        flush=True,
    )
    return model, seconds


def largest_difference(one: LatentModel, two: LatentModel) -> float:
    """Of all parameters, relative to the largest of their kind; infinite for another structure."""
    if one.domain_sizes != two.domain_sizes or not np.array_equal(one.bipartite, two.bipartite):
        return float("inf")
    found = [float(np.abs(one.joint.table - two.joint.table).max())]
    for own, other in zip(one.components, two.components, strict=True):
        for key, array in own.arrays().items():
            found.append(float(np.abs(array - other.arrays()[key]).max() / np.abs(array).max()))
    return max(found)


def main() -> None:
    """Draw, learn, compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--setting", default="3,8,4", help="latents, observed, largest domain")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="keep the files, and use those that are there")
    parser.add_argument("--compare", action="store_true", help="learn in memory too")
    parser.add_argument("--dask", action="store_true", help="learn on a local cluster too")
    parser.add_argument("--only-draw", action="store_true", help="draw the files, learn nothing")
    asked = parser.parse_args()
    truth = random_model(*map(int, asked.setting.split(",")), random_state=asked.seed)
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.folder or Path(scratch) / "data"
        results = Path(scratch)
        if not folder.is_dir():
            draw(folder, truth, asked.rows, asked.seed)
        if asked.only_draw:
            return
        size = sum(path.stat().st_size for path in folder.iterdir()) / 1e9
        print(f"{asked.rows:,} rows of {asked.setting}, seed {asked.seed}, {size:.2f} GB on disk")
        print("                      s    CPU s  memory GB   Γ     dom.   SHD  P(H) off by")
        jobs = ("--jobs", str(asked.jobs))
        chunks, seconds = learn("in chunks", folder, results / "a", truth, "--chunks", *jobs)
        if asked.dask:
            from distributed import LocalCluster

            with LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster:
                address = ("--dask", cluster.scheduler_address)
                there, longer = learn("on Dask", folder, results / "b", truth, *address)
            print(
                f"Dask beside {asked.jobs} processes: {longer / seconds:.2f} times the seconds, "
                f"largest difference {largest_difference(chunks, there):.1e}"
            )
        if asked.compare:
            memory, _ = learn("in memory", folder, results / "c", truth, "--in-memory", *jobs)
            print(f"in memory: largest difference {largest_difference(memory, chunks):.1e}")


if __name__ == "__main__":
    main()
