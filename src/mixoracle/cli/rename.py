"""``mixoracle rename``: names of their own for hidden causes and their states."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from mixoracle.cli.terminal import answer, example, out_option, output_options
from mixoracle.errors import InvalidInputError


@click.command(
    "rename",
    epilog=example("mixoracle rename result --latent H1=wear --states wear=new,worn"),
)
@click.argument("result", type=click.Path(path_type=Path))
@click.option(
    "--latent",
    "latents",
    multiple=True,
    metavar="OLD=NEW",
    help="Another name for a hidden cause; repeatable.",
)
@click.option(
    "--states",
    multiple=True,
    metavar="CAUSE=NAME,NAME,…",
    help="Names for all states of a cause, by its new or old name, from state 0 on; repeatable.",
)
@out_option("Folder for the result under its new names. Left out, RESULT itself gets them.")
@output_options
def command(
    result: Path,
    latents: tuple[str, ...],
    states: tuple[str, ...],
    out: str | None,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Give the hidden causes of RESULT, a folder that learn made, and their states names.

    Model, states.csv, report and graph get them; predict, query, export and all others then use
    them too.
    """
    from mixoracle.report.folder import new_folder, read_result
    from mixoracle.report.renaming import write_renamed

    if not latents and not states:
        raise InvalidInputError("say what to rename: --latent H1=wear, or --states H1=new,worn")
    held = read_result(result)
    model = held.model.rename(
        dict(_pairs(latents, "--latent", "H1=wear")),
        {
            name: [state.strip() for state in called.split(",")]
            for name, called in _pairs(states, "--states", "H1=new,worn")
        },
    )
    target = str(result) if out is None else out
    with new_folder(target, replace=out is None or force) as folder:
        write_renamed(folder, result, held, model)
    document = {
        "out": target,
        "latents": dict(zip(held.model.latent_names, model.latent_names, strict=True)),
        "states": {name: list(model.states_of(j)) for j, name in enumerate(model.latent_names)},
    }
    terminal = answer(document, quiet, as_json)
    for j, (old, new) in enumerate(zip(held.model.latent_names, model.latent_names, strict=True)):
        called = new if old == new else f"{old} is now {new}"
        terminal.print(f"{called}: {', '.join(model.states_of(j))}", markup=False)
    terminal.print(f"Written to {target}.", markup=False)


def _pairs(given: Sequence[str], option: str, example: str) -> list[tuple[str, str]]:
    """What stands before and after the first equals sign of each."""
    pairs = []
    for entry in given:
        name, found, value = entry.partition("=")
        if not found or not name.strip() or not value.strip():
            raise InvalidInputError(f"{option} should look like {example}; got {entry!r}")
        pairs.append((name.strip(), value.strip()))
    if len({name for name, _ in pairs}) != len(pairs):
        raise InvalidInputError(f"{option} should name each cause once; got {', '.join(given)}")
    return pairs
