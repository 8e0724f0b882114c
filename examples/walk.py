"""Runs the commands of a walk one after the other, and prints each with what it says."""

import shlex
import sys
from pathlib import Path

from click.testing import CliRunner

from mixoracle.cli import main


def run_commands(commands: str, folder: Path) -> None:
    """Run each line; end with the message of the first that fails."""
    for line in commands.format(folder=shlex.quote(str(folder))).strip().splitlines():
        print(f"$ {line}", flush=True)
        done = CliRunner().invoke(main, shlex.split(line)[1:])
        print(done.stdout, flush=True)
        if done.exit_code:
            sys.exit(done.stderr)
