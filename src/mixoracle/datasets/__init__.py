"""Simulated problems, the paper's worked examples and small tables, with their known truth."""

from mixoracle.datasets.examples import (
    LayoutExample,
    binary_layout,
    dependent_latents,
    independent_latents,
    nonidentifiable_a,
    nonidentifiable_b,
    nonidentifiable_s3,
    single_latent,
    subset_violation_a,
    subset_violation_b,
    ternary_layout,
)
from mixoracle.datasets.gaps import with_gaps
from mixoracle.datasets.graphs import random_bipartite
from mixoracle.datasets.items import item_problem
from mixoracle.datasets.kinds import KINDS, kind_problem
from mixoracle.datasets.loading import ExampleTable, load_cells, load_machine, load_skills
from mixoracle.datasets.simulate import (
    PAPER_MAX_DOMAIN,
    PAPER_RATIO,
    PAPER_SETTINGS,
    Problem,
    paper_problem,
    random_components,
    random_model,
    sample,
)
from mixoracle.datasets.sparse import sparse_problem

__all__ = [
    "KINDS",
    "PAPER_MAX_DOMAIN",
    "PAPER_RATIO",
    "PAPER_SETTINGS",
    "ExampleTable",
    "LayoutExample",
    "Problem",
    "binary_layout",
    "dependent_latents",
    "independent_latents",
    "item_problem",
    "kind_problem",
    "load_cells",
    "load_machine",
    "load_skills",
    "nonidentifiable_a",
    "nonidentifiable_b",
    "nonidentifiable_s3",
    "paper_problem",
    "random_bipartite",
    "random_components",
    "random_model",
    "sample",
    "single_latent",
    "sparse_problem",
    "subset_violation_a",
    "subset_violation_b",
    "ternary_layout",
    "with_gaps",
]
