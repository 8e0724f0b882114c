"""``mixoracle experiment`` with the options that all commands have."""

from __future__ import annotations

from mixoracle.cli.terminal import debug_option, verbose_option
from mixoracle.experiments.cli import experiment as command

# The studies are a layer below and bring --quiet and --json; the others reach into this one.
for _study in command.commands.values():
    debug_option(verbose_option(_study))
