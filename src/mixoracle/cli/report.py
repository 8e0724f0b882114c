"""``mixoracle report``: make the report of a result again, and figures for a paper."""

from __future__ import annotations

from pathlib import Path

import click

from mixoracle.cli.terminal import console, example, output_options, print_json


@click.command("report", epilog=example("mixoracle report result --figures"))
@click.argument("result", type=click.Path())
@click.option("--figures", is_flag=True, help="Also draw PNG and PDF figures into RESULT/figures.")
@output_options
def command(result: str, figures: bool, quiet: bool, as_json: bool) -> None:
    """Write report.html and graph.svg of RESULT, a folder that learn made, again.

    The data are not needed.
    """
    from mixoracle.report.folder import GRAPH_FILE, REPORT_FILE, read_result, write_report

    folder = Path(result)
    held = read_result(folder)
    write_report(folder, held)
    written = [folder / REPORT_FILE, folder / GRAPH_FILE]
    if figures:
        from mixoracle.report.figures import save_figures

        written += save_figures(held.model, held.evidence, folder / "figures")
    if as_json:
        print_json({"written": [str(path) for path in written]})
    terminal = console(quiet or as_json)
    terminal.print("Written:", ", ".join(str(path) for path in written), markup=False)
