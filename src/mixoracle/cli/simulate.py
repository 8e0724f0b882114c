"""``mixoracle simulate``: data whose hidden causes are known."""

from __future__ import annotations

from typing import Literal

import click

from mixoracle.cli.terminal import answer, example, out_option, output_options, seed_option

DATA_FILE = "data.csv"
TRUTH_FOLDER = "truth"
_AT_LEAST_ONE = click.IntRange(min=1)


@click.command(
    "simulate",
    epilog=example(
        "mixoracle simulate --latents 3 --observed 7 --samples 5000 --seed 1 --out problem"
    ),
)
@click.option("--latents", default=3, type=_AT_LEAST_ONE, show_default=True, help="Hidden causes.")
@click.option("--observed", default=7, type=_AT_LEAST_ONE, show_default=True, help="Measurements.")
@click.option("--samples", default=2000, type=_AT_LEAST_ONE, show_default=True, help="Cases.")
@click.option(
    "--max-domain",
    default=3,
    type=click.IntRange(min=2),
    show_default=True,
    help="Most states that a cause may have.",
)
@click.option(
    "--covariance",
    type=click.Choice(["text", "code"]),
    default="text",
    show_default=True,
    help="Noise as the paper's words say, or as its published code draws it (less).",
)
@click.option(
    "--sparse",
    is_flag=True,
    help="Few causes for each measurement and each cause, so that there may be dozens of them.",
)
@seed_option
@out_option("Folder to leave the data and the truth in.", required=True)
@output_options
def command(
    latents: int,
    observed: int,
    samples: int,
    max_domain: int,
    covariance: Literal["text", "code"],
    sparse: bool,
    seed: int,
    out: str,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Draw a problem as the paper does, and data from it.

    The paper's problems have a handful of causes; with --sparse there may be dozens.

    Leaves in the folder of --out: data.csv with columns X1[0], X1[1], …, and in truth/ the model
    behind them and the hidden states of every case.
    """
    from mixoracle.datasets import paper_problem, sparse_problem
    from mixoracle.report import text
    from mixoracle.report.folder import RUN_FILE, STATES_FILE, new_folder, write_json, write_states

    drawn = sparse_problem if sparse else paper_problem
    problem = drawn(latents, observed, max_domain, samples, seed, covariance)
    with new_folder(out, replace=force) as folder:
        problem.observations.write(folder / DATA_FILE)
        problem.model.save(folder / TRUTH_FOLDER)
        write_states(folder / TRUTH_FOLDER / STATES_FILE, problem.model, problem.states)
        settings = {
            "latents": latents,
            "observed": observed,
            "samples": samples,
            "max_domain": max_domain,
            "covariance": covariance,
            "sparse": sparse,
            "seed": seed,
        }
        write_json(folder / RUN_FILE, {"simulated": settings})
    terminal = answer({"out": out, **text.model_document(problem.model)}, quiet, as_json)
    terminal.print(text.drives_table(problem.model))
    terminal.print("What causes what:", text.latent_edges(problem.model))
    terminal.print(
        f"{samples} cases are in {out}/{DATA_FILE}, the truth in {out}/{TRUTH_FOLDER}.",
        markup=False,
    )
