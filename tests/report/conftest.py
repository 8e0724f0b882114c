import importlib.util
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from mixoracle import ExactOracle, Observations, assumptions
from mixoracle.datasets import random_model, sample, with_gaps
from mixoracle.mixtures.columns import read_columns
from mixoracle.model import LatentModel
from mixoracle.model.posterior import state_probabilities
from mixoracle.oracles.counts import ComponentCounts
from mixoracle.report.folder import Result
from mixoracle.report.gathering import gather
from mixoracle.structure.knowledge import ResolvedKnowledge
from mixoracle.trust.edges import posterior_of
from mixoracle.trust.overall import Overall


@pytest.fixture(scope="session")
def driver():
    """The driver of the browser, which lies beside the tests and not on the import path."""
    path = Path(__file__).with_name("chromium.py")
    spec = importlib.util.spec_from_file_location("chromium", path)
    driver = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(driver)
    return driver


@pytest.fixture(scope="session")
def browser(driver):
    path = driver.find_browser()
    if path is None:
        pytest.skip(driver.HOW_TO_INSTALL)
    browser = driver.Browser(path)
    yield browser
    browser.close()


def renamed(model, observed_names=None, latent_names=None):
    return LatentModel(
        observed_names=observed_names or model.observed_names,
        latent_names=latent_names or model.latent_names,
        bipartite=model.bipartite,
        domain_sizes=model.domain_sizes,
        joint=model.joint,
        latent_graph=model.latent_graph,
        components=model.components,
    )


def answer_of(model, n_samples=400, seed=0, share_missing=0.0, levels=(), **changes):
    """A learner's answer that is right in everything, with data that fit to it."""
    observations, states = sample(model, n_samples, np.random.default_rng(seed))
    if share_missing:
        observations = with_gaps(observations, share_missing, seed)
    held = levels or observations.levels
    observations = Observations(
        observations.values, model.observed_names, observations.widths, held
    )
    fitted = SimpleNamespace(
        model_=model,
        counts_=ComponentCounts(model.observed_names, ExactOracle(model).count),
        bipartite_=SimpleNamespace(residual=0.0, method="blocks"),
        # They take long for hundreds of variables.
        assumptions_=() if "assumptions_" in changes else assumptions.check(model),
        states_=states,
        repairs_=(),
        alternatives_=(),
        bic_=-1234.5,
        log_likelihood_=-1200.25,
        converged_=True,
        n_iter_=3,
        columns_=read_columns(observations)[1],
        set_aside_=np.zeros((observations.n_samples, model.n_observed), dtype=bool),
        resolution_=np.inf,
        resolution="auto",
        resolutions_=(),
        _n_copies=0,
        verdict_=Overall("believe"),
        n_starts_=1,
        n_starts_agreed_=1,
        edge_posterior_=posterior_of(model, n_samples),
        known_arrows_=ResolvedKnowledge(model.n_latent),
        drive_posterior_=model.bipartite.astype(float),
    )
    for name, value in changes.items():
        setattr(fitted, name, value)
    return fitted, observations


RUN = {
    "data": {"file": "data.csv", "rows": 400, "missing": 0.0, "sha256": "0" * 64},
    "settings": {"oracle": "signature", "seed": 0, "drop": []},
    "timings": {"putting the data in order": 0.01},
    "versions": {"mixoracle": "0", "python": "3"},
    "platform": "here",
    "finished": "2026-01-01T00:00:00+00:00",
}


@pytest.fixture(scope="session")
def make_result():
    """Make a result without learning: of a drawn model, or of a given one."""

    def make(n_latent=3, n_observed=6, seed=1, *, model=None, run=RUN, **changes):
        names = {key: changes.pop(key, None) for key in ("observed_names", "latent_names")}
        model = model or random_model(n_latent, n_observed, 3, random_state=seed)
        model = renamed(model, **names)
        fitted, observations = answer_of(model, **changes)
        probabilities = None
        # Joint states of thousands are for another test.
        if model.components is not None and model.joint.n_joint < 10_000:
            blocks = [observations[name] for name in model.observed_names]
            probabilities = state_probabilities(model, blocks)
        return Result(model, gather(fitted, observations, probabilities=probabilities), run)

    return make
