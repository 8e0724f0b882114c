import numpy as np
import pytest

from mixoracle.datasets import random_model
from mixoracle.model import LatentModel

ODD_NAMES = (
    'a "quoted" name',
    "Größe → µ",
    "table",
    "semi;colon {and} [brackets]",
    "line\nbreak\r\tand tab",
    "back\\slash \\u0041",
    "50 %20",
    "<xml & friends>",
    "\x00 control \x85",
    "1st",
    " ",
    "😀",
)


def rename(model, latent, observed):
    return LatentModel(
        observed_names=observed,
        latent_names=latent,
        bipartite=model.bipartite,
        domain_sizes=model.domain_sizes,
        joint=model.joint,
        latent_graph=model.latent_graph,
        components=model.components,
    )


@pytest.fixture(scope="session")
def models():
    """Random models of several sizes, some with open edges, some with odd names."""
    drawn = [random_model(m, 7, random_state=seed) for seed, m in enumerate((1, 2, 3, 4, 4, 4))]
    rng = np.random.default_rng(0)
    odd = []
    for model in drawn:
        names = [ODD_NAMES[k] for k in rng.permutation(len(ODD_NAMES))]
        m, n = model.n_latent, model.n_observed
        odd.append(rename(model, names[:m], names[m : m + n]))
    return drawn + odd
