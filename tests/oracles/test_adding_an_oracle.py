"""An oracle is one file and one registration: one written wholly here, learned end to end.

Each variable is one column. It is cut at every gap between neighbouring values that is wider than
a tenth of its range, and the label tuples that occur are the components over X. The oracle exists
twice: as one that counts (``fit``, ``count``, ``projection``, ``assignments``), from which Γ is
recovered, and as one that proposes a candidate (``candidates``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from mixoracle import CPDAG, JointTable, LatentGraphLearner, LatentModel
from mixoracle.datasets import paper_problem
from mixoracle.metrics import compare, compare_states
from mixoracle.model import GaussianComponents, Projection
from mixoracle.oracles.candidate import Candidate
from mixoracle.oracles.registry import ORACLES, register

# A gap this wide, as a share of the range, parts two components.
_WIDE = 0.1


def cut_at_gaps(column):
    """The component of each row: how many wide gaps lie below it."""
    values = np.sort(column)
    wide = np.diff(values) > _WIDE * (values[-1] - values[0])
    return np.searchsorted(values[:-1][wide], column, side="left").astype(np.int64)


@dataclass(frozen=True)
class GapCounts:
    """The fitted oracle: k(S) is the number of label tuples over S."""

    labels: np.ndarray

    @property
    def n_observed(self):
        return self.labels.shape[1]

    def count(self, subset, /):
        return len(np.unique(self.labels[:, sorted(set(subset))], axis=0))

    def projection(self):
        tuples, counts = np.unique(self.labels, axis=0, return_counts=True)
        return Projection(tuples, counts / counts.sum())

    @property
    def assignments(self):
        return np.unique(self.labels, axis=0, return_inverse=True)[1].ravel()


class GapOracle:
    """An object with ``fit``, as scikit-learn would have it."""

    def fit(self, observations, /):
        columns = [cut_at_gaps(observations[name][:, 0]) for name in observations.names]
        return GapCounts(np.stack(columns, axis=1))


class GapCandidates:
    """The same as an oracle that the registry can make from a name."""

    def candidates(self, prepared, run, /):
        return (Candidate.from_counts(GapOracle().fit(prepared.observations), "gaps"),)


@pytest.fixture
def gaps():
    """The one registration, undone after the test."""
    register("gaps", GapCandidates)
    yield "gaps"
    del ORACLES["gaps"]


def ladder(seed, n_samples=1500):
    """Two latents; five variables of one column each, with components on a ladder."""
    rng = np.random.default_rng(seed)
    adjacency = np.array([[1, 0], [1, 0], [1, 1], [0, 1], [0, 1]], dtype=bool)
    sizes = (2, 3)
    components = []
    for parents in adjacency:
        k = int(np.prod(np.array(sizes)[parents]))
        means = rng.permutation(k)[:, None].astype(float)
        components.append(GaussianComponents(means, np.full((k, 1, 1), 0.0025)))
    model = LatentModel(
        observed_names=tuple(f"X{i + 1}" for i in range(5)),
        latent_names=("H1", "H2"),
        bipartite=adjacency,
        domain_sizes=sizes,
        joint=JointTable(rng.dirichlet(np.full(6, 20.0)).reshape(sizes)),
        latent_graph=CPDAG.from_dag([(0, 1)], 2),
        components=tuple(components),
    )
    return paper_problem(model=model, n_samples=n_samples, random_state=seed)


def assert_learned(learner, problem):
    found = compare(problem.model, learner.model_)
    assert found.bipartite_exact
    assert found.domains_exact
    assert found.joint_tv < 0.05
    assert compare_states(problem.states, learner.states_).joint_accuracy > 0.99
    assert learner.bipartite_.method == "blocks"
    counts = learner.counts_
    assert [counts[i] for i in range(5)] == [2, 2, 6, 3, 3]
    assert counts[[0, 1]] == 2
    assert counts[["X1", "X4"]] == 6
    assert counts[[0, 1, 3, 4]] == 6
    assert counts[range(5)] == 6
    assert learner.oracle_.count([0, 1, 2, 3]) == 6


@pytest.mark.parametrize("seed", range(3))
def test_it_is_learned_with_by_its_name(gaps, seed):
    problem = ladder(seed)
    assert_learned(
        LatentGraphLearner(oracle=gaps, random_state=0).fit(problem.observations), problem
    )


@pytest.mark.parametrize("oracle", [GapOracle(), GapCandidates()], ids=["fit", "candidates"])
def test_so_it_is_as_an_object_of_either_form(oracle):
    problem = ladder(0)
    learner = LatentGraphLearner(oracle=oracle, random_state=0).fit(problem.observations)
    assert_learned(learner, problem)


def test_all_forms_give_the_same_answer(gaps):
    observations = ladder(1).observations
    first, *others = (
        LatentGraphLearner(oracle=oracle, random_state=0).fit(observations)
        for oracle in (gaps, GapOracle(), GapCandidates())
    )
    for other in others:
        assert other.model_ == first.model_
        assert other.bic_ == first.bic_


def test_without_its_registration_the_name_means_nothing():
    assert "gaps" not in ORACLES
    from mixoracle.errors import InvalidInputError

    with pytest.raises(InvalidInputError, match="got 'gaps'"):
        LatentGraphLearner(oracle="gaps").fit(ladder(0).observations)


def test_it_counts_what_it_should():
    problem = ladder(2)
    fitted = GapOracle().fit(problem.observations)
    for i in range(5):
        parents = np.flatnonzero(problem.model.bipartite[i])
        assert fitted.count([i]) == np.prod(np.array(problem.model.domain_sizes)[parents])
    assert fitted.count([]) == 1
    assert fitted.projection().n_components == 6
    assert fitted.assignments.shape == (1500,)
