"""``mixoracle export``: a model in the formats of other programs."""

from __future__ import annotations

from pathlib import Path

import click

from mixoracle.cli.terminal import answer, example, output_options
from mixoracle.errors import InvalidInputError

# The word for --format, and the ending of its files.
_FORMATS = {
    "bif": ".bif",
    "xmlbif": ".bifxml",
    "dagitty": ".dagitty",
    "dot": ".dot",
    "graphml": ".graphml",
    "json": ".json",
}


@click.command(
    "export", epilog=example("mixoracle export result --format graphml --out graph.graphml")
)
@click.argument("result", type=click.Path())
@click.option(
    "--format",
    "kind",
    type=click.Choice(list(_FORMATS)),
    help="Left out, the ending of --out says it.",
)
@click.option("--out", type=click.Path(dir_okay=False), required=True, help="The file to write.")
@click.option("--force", is_flag=True, help="Replace the file of --out if it is there.")
@output_options
def command(
    result: str, kind: str | None, out: str, force: bool, quiet: bool, as_json: bool
) -> None:
    """Write RESULT, a folder that learn made, for other programs.

    bif and xmlbif hold P(H) for Bayesian networks (pyAgrum, pgmpy, bnlearn), dagitty, dot
    and graphml the graph, and json the whole model.
    """
    from mixoracle.model import LatentModel, export
    from mixoracle.model.storage import write_atomically

    model = LatentModel.load(result)
    target = Path(out)
    if target.exists() and not force:
        raise InvalidInputError(f"{out} exists already; choose another file, or say --force")
    if not target.resolve().parent.is_dir():
        raise InvalidInputError(f"{target.parent} should be a folder to write to; make it first")
    if kind is None:
        export.write(model, target)
    else:
        write_atomically(target, export.as_text(model, _FORMATS[kind]).encode("utf-8"))
    answer({"out": out}, quiet, as_json).print(f"Written to {out}.", markup=False)
