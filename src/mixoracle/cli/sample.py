"""``mixoracle sample``: new cases drawn from a model that was learned."""

from __future__ import annotations

from pathlib import Path

import click

from mixoracle.cli.terminal import answer, example, output_options, seed_option
from mixoracle.errors import InvalidInputError


@click.command("sample", epilog=example("mixoracle sample result --samples 500 --out drawn.csv"))
@click.argument("result", type=click.Path())
@click.option(
    "--samples", default=1000, type=click.IntRange(min=1), show_default=True, help="Cases."
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False),
    required=True,
    help="The file to write: .csv, .tsv, .parquet or .npz.",
)
@click.option("--force", is_flag=True, help="Replace the file of --out if it is there.")
@seed_option
@output_options
def command(
    result: str, samples: int, out: str, force: bool, seed: int, quiet: bool, as_json: bool
) -> None:
    """Draw new cases from RESULT, a folder that learn made, into a table like the one learned."""
    import numpy as np
    import pandas as pd

    from mixoracle.model import LatentModel
    from mixoracle.model.posterior import draw
    from mixoracle.observations import Observations
    from mixoracle.observations.new_rows import reading_of

    if Path(out).exists() and not force:
        raise InvalidInputError(f"{out} exists already; choose another file, or say --force")
    model = LatentModel.load(result)
    reading = reading_of(model)
    blocks, _ = draw(model, samples, np.random.default_rng(seed))
    levels = [held for block in reading.levels for held in block]
    # Under the names that the columns had in their table, so that predict reads it again.
    exposed = [name in reading.exposed for name in model.observed_names]
    own = [block[:, :-1] if last else block for block, last in zip(blocks, exposed, strict=True)]
    columns = dict(zip(reading.flat_columns, np.hstack(own).T, strict=True))
    frame = pd.DataFrame(columns)
    for name, held in zip(columns, levels, strict=True):
        if held is not None:
            cells = [held[int(code)] for code in columns[name]]
            frame[name] = pd.Categorical(cells, categories=list(held))
    if reading.exposure is not None and reading.exposure.column is not None:
        frame[reading.exposure.column] = reading.exposure.typical
    Observations.from_frame(frame, keep=True).write(out)
    terminal = answer({"out": out, "rows": samples, "seed": seed}, quiet, as_json)
    terminal.print(f"{samples} cases drawn into {out}.", markup=False)
