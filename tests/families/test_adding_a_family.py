"""A family is one file: this one adds Beta components for shares, and learns a model with them.

A Beta density is linear in log x and log(1 - x). Its conjugate prior is worth a few rows of what
all rows show on average; the integral over it is Laplace's, over (log α, log β).
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.special import betaln, expit, logit, polygamma, psi
from scipy.stats import beta as scipy_beta
from sklearn.metrics import adjusted_mutual_info_score

from mixoracle import LatentGraphLearner, LatentModel
from mixoracle.cli import main
from mixoracle.datasets import sample
from mixoracle.datasets.simulate import draw_model
from mixoracle.errors import InvalidInputError
from mixoracle.families import FamilyEntry, LinearFamily, Patterns, registered
from mixoracle.families.base import IndependentColumns, WithMeans, parameters, positive_parameters
from mixoracle.families.encoding import fit_encoder
from mixoracle.families.missing import standardised
from mixoracle.families.units import Part
from mixoracle.metrics import compare
from mixoracle.report.folder import read_result, write_report
from mixoracle.settings import Priors

# --- the family ---

# Rows that the prior is worth.
PRIOR_ROWS = 2.0


@dataclass(frozen=True, eq=False, repr=False)
class BetaComponents(WithMeans, IndependentColumns):
    """Beta components with ``means`` in (0, 1) and ``sizes`` α + β, both (n_components, width)."""

    sizes: np.ndarray

    family: ClassVar[str] = "beta"

    def __post_init__(self):
        means = parameters(self.means, "component means")
        object.__setattr__(self, "means", positive_parameters(means, means.shape, "means"))
        object.__setattr__(self, "sizes", positive_parameters(self.sizes, means.shape, "sizes"))

    def _log_density_of_column(self, column, values):
        possible = (values > 0) & (values < 1)
        shares = np.where(possible, values, 0.5)[:, None]
        a, b = shapes_of(self.means[:, column], self.sizes[:, column])
        result = (a - 1.0) * np.log(shares) + (b - 1.0) * np.log1p(-shares) - betaln(a, b)
        return np.where(possible[:, None], result, -np.inf)

    def sample(self, labels, rng):
        self._check_labels(labels)
        return rng.beta(*shapes_of(self.means[labels], self.sizes[labels]))


def shapes_of(means, sizes):
    return means * sizes, (1.0 - means) * sizes


@dataclass(frozen=True)
class TypicalShares:
    """The mean of log x and of log(1 - x) in each column, each (width,)."""

    low: np.ndarray
    high: np.ndarray


class BetaFamily(LinearFamily):
    """The features are 1, then for all columns whether x was seen, log x, and log(1 - x)."""

    def __init__(self, width):
        self.width = width

    @property
    def n_parameters(self):
        return 2 * self.width

    def features(self, block):
        seen = ~np.isnan(block)
        shares = np.where(seen, block, 0.5)
        logarithms = np.where(seen, np.log(shares), 0.0), np.where(seen, np.log1p(-shares), 0.0)
        return np.hstack([seen.any(axis=1, keepdims=True), seen, *logarithms])

    def embedding(self, block):
        return standardised(logit(block))

    def prior(self, statistics):
        seen, low, high = np.split(statistics.sum(axis=0)[1:], 3)
        # Where nothing was seen all shares are as likely: the mean of log x is then -1.
        rows = np.maximum(seen, 1.0)
        return TypicalShares(
            np.where(seen > 0, low / rows, -1.0), np.where(seen > 0, high / rows, -1.0)
        )

    def log_evidence(self, statistics, prior):
        nothing = np.zeros((1, statistics.shape[1]))
        return self._log_integral(statistics, prior) - self._log_integral(nothing, prior)

    def components(self, statistics, prior):
        _, a, b = self._best(statistics, prior)
        return BetaComponents(a / (a + b), a + b)

    def log_penalty(self, components, prior):
        a, b = shapes_of(components.means, components.sizes)
        by_column = (a - 1.0) * prior.low + (b - 1.0) * prior.high - betaln(a, b)
        return float(PRIOR_ROWS * by_column.sum())

    def natural(self, components):
        a, b = shapes_of(components.means, components.sizes)
        return np.hstack([np.zeros((len(a), 1)), -betaln(a, b), a - 1.0, b - 1.0])

    def _with_prior(self, statistics, prior):
        seen, low, high = np.split(statistics[:, 1:], 3, axis=1)
        return seen + PRIOR_ROWS, low + PRIOR_ROWS * prior.low, high + PRIOR_ROWS * prior.high

    def _best(self, statistics, prior):
        rows, low, high = self._with_prior(statistics, prior)
        return rows, *solved_shapes(low / rows, high / rows)

    def _log_integral(self, statistics, prior):
        rows, low, high = self._with_prior(statistics, prior)
        _, a, b = self._best(statistics, prior)
        height = (a - 1.0) * low + (b - 1.0) * high - rows * betaln(a, b)
        determinant = np.prod(curvature(a, b)[:2], axis=0) - curvature(a, b)[2] ** 2
        volume = np.log(2.0 * np.pi / rows) - 0.5 * np.log(determinant) - np.log(a * b)
        return (height + volume).sum(axis=1)


def curvature(a, b):
    """The second derivatives of the log Beta function: by α, by β, by both."""
    shared = -polygamma(1, a + b)
    return polygamma(1, a) + shared, polygamma(1, b) + shared, shared


def solved_shapes(low, high):
    """The shapes whose mean log x is ``low`` and whose mean log(1 - x) is ``high``, by Newton."""
    spare = 2.0 * (1.0 - np.exp(low) - np.exp(high))
    a, b = 0.5 + np.exp(low) / spare, 0.5 + np.exp(high) / spare
    for _ in range(30):
        first, second = low - psi(a) + psi(a + b), high - psi(b) + psi(a + b)
        along_a, along_b, across = curvature(a, b)
        determinant = along_a * along_b - across**2
        step_a = (along_b * first - across * second) / determinant
        step_b = (along_a * second - across * first) / determinant
        a, b = a * np.exp(np.clip(step_a / a, -1, 1)), b * np.exp(np.clip(step_b / b, -1, 1))
        if max(np.abs(step_a / a).max(), np.abs(step_b / b).max()) < 1e-10:
            break
    return a, b


@dataclass(frozen=True)
class SharePart(Part):
    """Shares have no unit."""

    @cached_property
    def family(self):
        return BetaFamily(len(self.columns))

    def decode(self, components):
        order = self._ascending
        return BetaComponents(components.means[:, order], components.sizes[:, order])


def check(seen, variable):
    if seen.min() <= 0 or seen.max() >= 1:
        wrong = seen[(seen <= 0) | (seen >= 1)][0]
        raise InvalidInputError(f"shares should be between 0 and 1; {variable} holds {wrong:g}")


BETA = FamilyEntry("beta", "shares between 0 and 1", "shares of a whole", SharePart, check)


# --- what it is good for ---


@pytest.fixture(autouse=True)
def _beta_is_known():
    with registered(BETA):
        yield


def drawn_components(k, width, rng):
    """Of many draws the one whose components are furthest apart."""
    draws = [rng.uniform(-2.5, 2.5, (k, width)) for _ in range(300)]
    apart = [
        min(np.linalg.norm(draw[i] - draw[j]) for i in range(k) for j in range(i)) for draw in draws
    ]
    means = expit(draws[int(np.argmax(apart))])
    return BetaComponents(means, rng.uniform(40.0, 150.0, (k, width)))


def drawn_problem(seed, n_samples=1500):
    rng = np.random.default_rng(seed)
    skeleton, _ = draw_model(2, 5, 3, rng, covariance=None)
    components = tuple(
        drawn_components(skeleton.n_components(i), int(rng.integers(2, 4)), rng) for i in range(5)
    )
    truth = replace(skeleton, components=components)
    observations, states = sample(truth, n_samples, rng)
    return truth, observations, states


@pytest.mark.parametrize("seed", range(4))
def test_a_model_with_shares_is_learned(seed, tmp_path):
    truth, observations, states = drawn_problem(seed)
    learner = LatentGraphLearner(families="beta", random_state=0).fit(observations)
    found = compare(truth, learner.model_)
    assert found.bipartite_exact
    assert found.domains_exact
    assert found.joint_tv < 0.05
    assert {held.family for held in learner.model_.components} == {"beta"}
    joint_states = [
        np.unique(held, axis=0, return_inverse=True)[1].ravel()
        for held in (states, learner.states_)
    ]
    assert adjusted_mutual_info_score(*joint_states) > 0.97
    np.testing.assert_array_equal(learner.predict(observations), learner.states_)
    learner.model_.save(tmp_path)
    loaded = LatentModel.load(tmp_path)
    assert loaded == learner.model_
    np.testing.assert_allclose(
        loaded.components[0].log_density(observations[0]),
        learner.model_.components[0].log_density(observations[0]),
    )


def test_the_command_line_and_the_report_know_it(tmp_path):
    _, observations, _ = drawn_problem(0, 600)
    observations.to_frame().to_csv(tmp_path / "shares.csv", index=False)
    out = tmp_path / "result"
    command = ["learn", str(tmp_path / "shares.csv"), "--family", "beta", "--out", str(out)]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    page = (out / "report.html").read_text(encoding="utf-8")
    assert BETA.words in page
    again = tmp_path / "again"
    again.mkdir()
    result = read_result(out)
    assert {column.family for column in result.evidence.columns} == {"beta"}
    write_report(again, result)
    assert (again / "report.html").read_text(encoding="utf-8") == page


def test_values_that_are_no_shares_are_refused():
    _, observations, _ = drawn_problem(0, 50)
    with pytest.raises(InvalidInputError, match=r"between 0 and 1; X\d+ holds 1\."):
        LatentGraphLearner(families="beta").fit(observations.values + 1.0)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_both_forms_of_its_density_agree(seed, missing):
    rng = np.random.default_rng(seed)
    truth = drawn_components(3, 2, rng)
    block = truth.sample(rng.integers(0, 3, 200), rng)
    np.testing.assert_allclose(
        truth.log_density(block)[:, 1],
        scipy_beta(*shapes_of(truth.means[1], truth.sizes[1])).logpdf(block).sum(axis=1),
    )
    block[rng.random(block.shape) < missing] = np.nan
    encoder = fit_encoder(block, ["beta", "beta"], [0, 0], Priors())
    found = encoder.family.log_density(encoder.family.features(block), truth, Patterns.of(block))
    np.testing.assert_allclose(found, encoder.decode(truth).log_density(block), atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_fitted_is_best_and_its_evidence_is_the_integral(seed):
    rng = np.random.default_rng(seed)
    family = BetaFamily(1)
    block = drawn_components(2, 1, rng).sample(np.zeros(40, np.int64), rng)
    statistics = family.features(block).sum(axis=0, keepdims=True)
    prior = family.prior(family.features(rng.random((50, 1))).sum(axis=0, keepdims=True))

    def reached(components):
        penalty = family.log_penalty(components, prior)
        return family.log_density(statistics, components)[0, 0] + penalty

    best = family.components(statistics, prior)
    for factor in (0.9, 0.99, 1.01, 1.1):
        assert reached(BetaComponents(best.means * factor, best.sizes)) < reached(best)
        assert reached(BetaComponents(best.means, best.sizes * factor)) < reached(best)
    # The integral over a fine grid of (log α, log β).
    a, b = np.meshgrid(*[np.exp(np.linspace(-6.0, 7.0, 900))] * 2)
    height = [
        (rows * ((a - 1.0) * low + (b - 1.0) * high - betaln(a, b)))
        for rows, low, high in (
            (42.0, *(family._with_prior(statistics, prior)[j][0, 0] / 42.0 for j in (1, 2))),
            (2.0, prior.low[0], prior.high[0]),
        )
    ]
    exact = np.diff([np.log(np.exp(h - h.max()).sum()) + h.max() for h in reversed(height)])[0]
    # Laplace's error is largest for the prior, which is worth two rows only.
    assert family.log_evidence(statistics, prior)[0] == pytest.approx(exact, abs=0.5)
