"""Oracles by name and as objects: both behave alike, and what is no oracle is refused at once."""

import warnings
from functools import partial

import numpy as np
import pytest

from mixoracle import KMeansOracle, LatentGraphLearner, Observations, SignatureOracle
from mixoracle.datasets import item_problem, paper_problem
from mixoracle.errors import AssumptionWarning, InvalidInputError
from mixoracle.oracles import registry
from mixoracle.oracles.candidate import Candidate
from mixoracle.oracles.projection import ProjectionOracle
from mixoracle.oracles.registry import ORACLES, FittingOracle, register, resolve
from mixoracle.oracles.run import Stage


def fitted(observations, oracle, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        return LatentGraphLearner(oracle=oracle, n_init=1, **settings).fit(observations)


def assert_same_answer(first, second):
    assert first.model_ == second.model_
    assert first.bic_ == second.bic_
    np.testing.assert_array_equal(first.states_, second.states_)
    assert len(first.alternatives_) == len(second.alternatives_)
    for one, other in zip(first.alternatives_, second.alternatives_, strict=True):
        assert one.model == other.model
        assert one.bic == other.bic
    n = first.model_.n_observed
    for subset in [[i] for i in range(n)] + [[0, 1], list(range(n))]:
        mine, theirs = first.counts_[subset], second.counts_[subset]
        assert (mine, mine.confidence, mine.seen) == (theirs, theirs.confidence, theirs.seen)


class TestNamesAndObjects:
    """The second oracle, for items that alone show nothing, must get the same settings too."""

    @pytest.mark.parametrize(
        "settings",
        [
            {"random_state": 1},
            {"random_state": 1, "max_components": 4, "n_jobs": 2},
            {"random_state": 2, "families": {"item1": "counts"}},
        ],
        ids=["seed", "limits and jobs", "families"],
    )
    def test_they_behave_alike_where_both_oracles_are_needed(self, settings):
        observations = item_problem(2, 8, 400, random_state=0).observations
        stages = []
        named = fitted(observations, "signature", progress=stages.append, **settings)
        assert Stage.MIXTURE in stages
        assert_same_answer(named, fitted(observations, SignatureOracle(), **settings))

    def test_declared_families_reach_both_oracles_of_an_object(self):
        """Counts that are declared numbers: the kind of the components tells who was asked."""
        rng = np.random.default_rng(0)
        state = rng.integers(2, size=300)
        values = rng.poisson(np.array([3.0, 30.0])[state][:, None], size=(300, 4)).astype(float)
        observations = Observations.from_array(values)
        answers = [
            fitted(observations, oracle, random_state=0, families="gaussian")
            for oracle in ("signature", SignatureOracle())
        ]
        assert_same_answer(*answers)
        kinds = {type(held).__name__ for held in answers[0].model_.components}
        assert kinds == {"GaussianComponents"}
        undeclared = fitted(observations, SignatureOracle(), random_state=0)
        assert {type(held).__name__ for held in undeclared.model_.components} != kinds

    @pytest.mark.parametrize(
        ("name", "make"), [("projection", ProjectionOracle), ("kmeans", KMeansOracle)]
    )
    def test_so_do_the_other_oracles(self, name, make):
        problem = paper_problem(1, 3, 3, 210, random_state=0, covariance="code")
        settings = {"random_state": 1, "max_components": 6}
        assert_same_answer(
            fitted(problem.observations, name, **settings),
            fitted(problem.observations, make(), **settings),
        )

    def test_the_learners_limit_reaches_an_object(self):
        problem = paper_problem(1, 3, 5, 400, random_state=1, covariance="code", min_domain=4)
        limited = fitted(problem.observations, SignatureOracle(), random_state=0, max_components=2)
        assert max(limited.counts_[i].seen for i in range(3)) <= 2

    def test_own_settings_take_precedence(self):
        problem = paper_problem(1, 3, 5, 400, random_state=1, covariance="code", min_domain=4)
        observations = problem.observations
        own = SignatureOracle(max_components=2, random_state=7)
        answer = fitted(observations, own, random_state=1, max_components=30)
        assert max(answer.counts_[i].seen for i in range(3)) <= 2
        assert_same_answer(
            answer,
            fitted(observations, SignatureOracle(random_state=7), random_state=2, max_components=2),
        )
        assert (own.max_components, own.random_state) == (2, 7)
        assert not hasattr(own, "candidates_")


class TestNothingOfTheDataIsKept:
    """A fitted learner was once handed the prepared data, and kept them."""

    @staticmethod
    def arrays_in(thing, seen=None):
        """All arrays that can be reached from an object."""
        seen = set() if seen is None else seen
        if id(thing) in seen:
            return []
        seen.add(id(thing))
        if isinstance(thing, np.ndarray):
            return [thing]
        parts = []
        if isinstance(thing, dict):
            parts = [*thing.keys(), *thing.values()]
        elif isinstance(thing, list | tuple | set | frozenset):
            parts = list(thing)
        elif isinstance(thing, partial):
            parts = [thing.func, *thing.args, *thing.keywords.values()]
        elif hasattr(thing, "__self__"):
            parts = [thing.__self__]
        else:
            parts = list(getattr(thing, "__dict__", {}).values())
            cells = getattr(thing, "__closure__", None) or ()
            parts += [cell.cell_contents for cell in cells]
        return [
            array for part in parts for array in TestNothingOfTheDataIsKept.arrays_in(part, seen)
        ]

    @pytest.mark.parametrize("oracle", ["signature", "projection"])
    def test_counts_and_oracle_hold_no_array_as_large_as_the_data(self, oracle):
        problem = paper_problem(2, 5, 2, 500, random_state=0, covariance="code")
        learner = fitted(problem.observations, oracle, random_state=0)
        for held in (learner.oracle_, learner.counts_):
            arrays = self.arrays_in(held)
            assert arrays
            assert all(500 not in array.shape for array in arrays)
            assert all(array.size < 500 for array in arrays)


@pytest.fixture
def registered():
    """Forget what a test registers."""
    before = dict(ORACLES)
    yield register
    ORACLES.clear()
    ORACLES.update(before)


class TestRegister:
    @pytest.mark.parametrize("name", ["signature", "projection", "kmeans"])
    def test_a_name_that_is_taken_is_refused(self, registered, name):
        before = ORACLES[name]
        with pytest.raises(InvalidInputError, match=f"{name!r} is registered already"):
            registered(name, SignatureOracle)
        assert ORACLES[name] is before

    def test_a_new_name_stands_for_a_new_object_each_time(self, registered):
        registered("mine", SignatureOracle)
        first, second = resolve("mine"), resolve("mine")
        assert type(first) is type(second) is SignatureOracle
        assert first is not second
        with pytest.raises(InvalidInputError, match="'mine' is registered already"):
            registered("mine", SignatureOracle)

    def test_it_is_named_among_those_that_are_known(self, registered):
        registered("mine", SignatureOracle)
        with pytest.raises(InvalidInputError, match=r"'kmeans', 'mine', or an object"):
            resolve("yours")


class Silent:
    """Neither fits nor proposes."""


class Fits:
    def __init__(self, answer):
        self.answer = answer

    def fit(self, observations):
        return self.answer


class TestResolve:
    def test_an_object_with_candidates_is_taken_as_it_is(self):
        oracle = SignatureOracle()
        assert resolve(oracle) is oracle

    def test_an_object_with_fit_goes_along_the_route_of_counts(self):
        oracle = Fits(None)
        found = resolve(oracle)
        assert isinstance(found, FittingOracle)
        assert found.oracle is oracle

    @pytest.mark.parametrize("oracle", ["magic", "", None, 3, Silent(), ["signature"]])
    def test_what_is_no_oracle_is_refused_before_any_work(self, oracle, monkeypatch):
        stages = []
        monkeypatch.setattr(
            "mixoracle.learner.prepare", lambda *_: pytest.fail("the data were prepared")
        )
        learner = LatentGraphLearner(oracle=oracle, progress=stages.append)
        with pytest.raises(InvalidInputError, match="oracle should be one of 'signature'"):
            learner.fit(np.random.default_rng(0).normal(size=(50, 4)))
        assert stages == []
        assert not hasattr(learner, "model_")

    @pytest.mark.parametrize("oracle", [SignatureOracle, KMeansOracle, Fits])
    def test_a_class_is_no_object(self, oracle):
        """It has the methods, but nothing to call them on."""
        with pytest.raises(InvalidInputError, match=rf"object, .*{oracle.__name__}\(\)"):
            resolve(oracle)

    @pytest.mark.parametrize("answer", [None, 3, Silent()])
    def test_what_fit_returns_must_be_a_fitted_oracle(self, answer):
        learner = LatentGraphLearner(oracle=Fits(answer), random_state=0)
        kind = type(answer).__name__
        with pytest.raises(InvalidInputError, match=rf"Fits\.fit should return .*; got {kind}"):
            learner.fit(np.random.default_rng(0).normal(size=(50, 4)))


def test_the_candidates_of_a_fitting_oracle_are_named_after_it():
    class Counting:
        n_observed = 1
        assignments = np.zeros(2, dtype=int)

        def count(self, subset):
            return 1

        def projection(self):
            return None

    class Prepared:
        observations = None

    stages = []
    run = type("Run", (), {"report": staticmethod(stages.append)})
    (candidate,) = FittingOracle(Fits(Counting())).candidates(Prepared(), run)
    assert isinstance(candidate, Candidate)
    assert candidate.source == "Fits"
    assert stages == [Stage.COUNTING]
    assert registry.ORACLES is ORACLES
