"""``mixoracle demo``: the whole way once, on data whose hidden causes are known."""

from __future__ import annotations

from pathlib import Path

import click

from mixoracle.cli.terminal import answer, console, example, out_option, output_options, staged

# Both kinds of edges among the causes, and an answer in seconds.
_LATENTS, _OBSERVED, _SAMPLES, _SEED = 4, 8, 3000, 14
_SETTINGS = {
    "oracle": "signature",
    "search": "auto",
    "max_components": None,
    "jobs": 1,
    "set_aside": True,
    "resolution": "auto",
}


@click.command("demo", epilog=example("mixoracle demo --out demo-result"))
@out_option("Folder to leave the result in.", default="demo-result", show_default=True)
@click.option("--latents", default=_LATENTS, type=click.IntRange(min=1), show_default=True)
@click.option("--observed", default=_OBSERVED, type=click.IntRange(min=1), show_default=True)
@click.option("--max-domain", default=3, type=click.IntRange(min=2), show_default=True)
@click.option("--samples", default=_SAMPLES, type=click.IntRange(min=30), show_default=True)
@click.option("--seed", default=_SEED, type=click.IntRange(min=0), show_default=True)
@output_options
def command(
    out: str,
    force: bool,
    latents: int,
    observed: int,
    max_domain: int,
    samples: int,
    seed: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """Simulate hidden causes, learn them from the data alone, and compare with the truth.

    Running it again replaces what an earlier demo left.
    """
    from mixoracle.cli.fitting import learn_into, plan_of
    from mixoracle.cli.given import Input
    from mixoracle.cli.simulate import DATA_FILE
    from mixoracle.datasets import paper_problem
    from mixoracle.metrics import compare, compare_states
    from mixoracle.report import text
    from mixoracle.report.folder import REPORT_FILE, new_folder

    problem = paper_problem(latents, observed, max_domain, samples, seed)
    terminal = console(quiet or as_json)
    terminal.rule("Simulated")
    terminal.print(
        f"{latents} hidden causes drive {observed} measurements of {samples} cases (seed {seed}).",
        markup=False,
    )
    terminal.print("What causes what:", text.latent_edges(problem.model))
    with (
        staged(plan_of("signature", samples), quiet or as_json) as tell,
        new_folder(out, replace=force or _is_demo(Path(out))) as folder,
    ):
        problem.observations.write(folder / DATA_FILE)
        given = Input(problem.observations)
        settings = {**_SETTINGS, "seed": seed}
        learner, result = learn_into(folder, folder / DATA_FILE, given, settings, tell, demo=True)
    evidence = result.evidence
    terminal.rule("Learned from the data alone")
    terminal.print(text.summary(result.model, evidence))
    terminal.rule("Compared with the truth, up to names")
    found = compare(problem.model, result.model)
    agreement = compare_states(problem.states, learner.states_)
    for line in text.comparison_lines(found, problem.model.latent_names, agreement):
        terminal.print(line, markup=False)
    terminal.print(f"\nOpen {Path(out) / REPORT_FILE} in a browser to look at it.", markup=False)
    answer({**text.summary_document(result.model, evidence, out), "shd": found.shd}, quiet, as_json)


def _is_demo(folder: Path) -> bool:
    """Whether an earlier demo made this folder, so that running it twice just works."""
    from mixoracle.report.folder import RUN_FILE, read_json

    return (folder / RUN_FILE).is_file() and "demo" in read_json(folder / RUN_FILE)
