"""Simulate four hidden causes, recover them from component counts, and draw the result.

Run ``python examples/recover_a_graph.py [FILE.svg]``. The picture in the README is its output.
"""

import sys
from pathlib import Path

from mixoracle import ExactOracle, LatentModel
from mixoracle.bipartite import recover
from mixoracle.datasets import random_model
from mixoracle.latent import joint_table
from mixoracle.report.svg import draw
from mixoracle.structure import learn

SEED = 14
PICTURE = Path(__file__).parent.parent / "docs" / "graph.svg"
# P(H) comes exact from this oracle; the search weighs it like a table of a million cases.
N_SAMPLES = 1_000_000


def recovered_model() -> LatentModel:
    """Ask the oracle for counts, weights and the map L, and for nothing else."""
    truth = random_model(n_latent=4, n_observed=8, max_domain=3, random_state=SEED)
    oracle = ExactOracle(truth)
    graph = recover(oracle)
    components = oracle.projection()
    joint = joint_table(components.labels, components.weights, graph.adjacency, graph.domain_sizes)
    return LatentModel(
        observed_names=truth.observed_names,
        latent_names=[f"H{j + 1}" for j in range(graph.n_latent)],
        bipartite=graph.adjacency,
        domain_sizes=graph.domain_sizes,
        joint=joint,
        latent_graph=learn(joint, n_samples=N_SAMPLES),
    )


def main() -> None:
    """Draw the recovered graph to the file named on the command line."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    model = recovered_model()
    path.write_text(draw(model, "A graph recovered from component counts"), encoding="utf-8")
    print(model)
    print(f"drawn to {path}")


if __name__ == "__main__":
    main()
