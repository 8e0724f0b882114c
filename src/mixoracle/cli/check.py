"""``mixoracle check``: the assumptions of a result, one by one."""

from __future__ import annotations

import click

from mixoracle.cli.terminal import console, example, output_options, print_json


@click.command("check", epilog=example("mixoracle check result"))
@click.argument("result", type=click.Path())
@click.option("--strict", is_flag=True, help="Exit with 3 if an assumption fails that matters.")
@output_options
def command(result: str, strict: bool, quiet: bool, as_json: bool) -> None:
    """Explain each assumption behind RESULT, a folder that learn made, and its verdict."""
    from mixoracle.report import text
    from mixoracle.report.folder import read_result

    held = read_result(result)
    if as_json:
        print_json({"verdicts": text.verdict_documents(held.evidence.verdicts)})
    terminal = console(quiet or as_json)
    terminal.print(text.verdicts_explained(held.evidence.verdicts))
    terminal.print(text.trust_panel(held.model, held.evidence))
    if strict and held.evidence.failure:
        from mixoracle.cli import EXIT_ASSUMPTION_FAILED

        raise click.exceptions.Exit(EXIT_ASSUMPTION_FAILED)
