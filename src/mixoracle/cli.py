"""The command line: ``mixoracle demo`` and, later, simulate, learn, evaluate, report and check.

This is the only module that writes to the terminal. Bad input ends with exit code 2 and one line
that says what to do; anything else that goes wrong is a bug and shows its traceback.
"""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Any

import click

from mixoracle._version import __version__
from mixoracle.errors import MixoracleError

if TYPE_CHECKING:
    from rich.console import Console

    from mixoracle.metrics import Comparison
    from mixoracle.model import LatentModel
    from mixoracle.oracle.protocol import MixtureOracle

# The demo's P(H) is exact; the search weighs it like a table counted from this many cases.
_DEMO_SAMPLES = 1_000_000
_AT_LEAST_ONE = click.IntRange(min=1)


class _BadInput(click.ClickException):
    exit_code = 2


class _OneLineErrors(click.Group):
    """Turns the errors that mixoracle raises on purpose into one line and exit code 2."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except MixoracleError as error:
            raise _BadInput(str(error)) from error


@click.group(cls=_OneLineErrors, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="mixoracle")
def main() -> None:
    """Find the hidden discrete causes behind data, and the causal graph among them."""


@main.command()
@click.option("--latents", default=4, type=_AT_LEAST_ONE, show_default=True, help="Hidden causes.")
@click.option("--observed", default=8, type=_AT_LEAST_ONE, show_default=True, help="Measurements.")
@click.option(
    "--max-domain",
    default=3,
    type=click.IntRange(min=2),
    show_default=True,
    help="Most states that a cause may have.",
)
@click.option(
    "--seed",
    default=14,
    type=click.IntRange(min=0),
    show_default=True,
    help="Seed of the simulation.",
)
def demo(latents: int, observed: int, max_domain: int, seed: int) -> None:
    """Simulate a model, recover it from an exact oracle, and compare the two.

    The oracle answers from the simulated model how many mixture components each set of observed
    variables has, and no more is told. Nothing is learned from samples here.
    """
    from mixoracle.assumptions import check
    from mixoracle.datasets import random_model
    from mixoracle.metrics import compare
    from mixoracle.oracle.exact import ExactOracle
    from mixoracle.report import text

    truth = random_model(latents, observed, max_domain, random_state=seed)
    console = _console()
    console.rule("Simulated")
    console.print(
        f"{latents} hidden causes drive {observed} observed variables (seed {seed}).",
        "True edges among the causes:",
        text.latent_edges(truth),
    )
    recovered, how = _recover(ExactOracle(truth), truth.observed_names)
    console.rule("Recovered from component counts")
    console.print(how)
    for table in (text.drives_table(recovered), text.joint_states_table(recovered)):
        console.print(table)
    console.print("Λ, what causes what:", text.latent_edges(recovered))
    console.print(text.verdicts_table(check(truth)))
    console.rule("Compared with the truth, up to names")
    for line in _comparison_lines(compare(truth, recovered)):
        console.print(line)


def _recover(oracle: MixtureOracle, names: tuple[str, ...]) -> tuple[LatentModel, str]:
    """Run steps (b), (d) and (e) on an oracle; return the model and a line on how it went."""
    from mixoracle.bipartite import recover
    from mixoracle.latent import joint_table
    from mixoracle.model import LatentModel
    from mixoracle.structure import learn

    graph = recover(oracle)
    projection = oracle.projection()
    joint = joint_table(projection.labels, projection.weights, graph.adjacency, graph.domain_sizes)
    model = LatentModel(
        observed_names=names,
        latent_names=tuple(f"H{j + 1}" for j in range(graph.n_latent)),
        bipartite=graph.adjacency,
        domain_sizes=graph.domain_sizes,
        joint=joint,
        latent_graph=learn(joint, n_samples=_DEMO_SAMPLES),
    )
    how = (
        f"{graph.n_latent} causes found by {graph.method}; the counts are explained with a "
        f"residual of {graph.residual:.1e}."
    )
    return model, how


def _comparison_lines(found: Comparison) -> list[str]:
    """Say in words what ``compare`` counted."""
    right = {True: "exact", False: "wrong"}
    lines = [
        f"Γ {right[found.bipartite_exact]}, domain sizes {right[found.domains_exact]}, "
        f"P(H) off by {found.joint_tv:.1e} (total variation).",
        f"Structural Hamming distance {found.shd}: {found.extra} extra, {found.missing} missing, "
        f"{found.reversed} reversed edges.",
    ]
    if found.unoriented_correct:
        lines.append(f"Edges of Λ right, their direction left open: {found.unoriented_correct}.")
    return lines


def _console() -> Console:
    """A console that replaces what the terminal's encoding lacks instead of failing."""
    from rich.console import Console

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    return Console(highlight=False)
