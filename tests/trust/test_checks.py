import numpy as np
import pytest

from mixoracle import LatentGraphLearner, Observations, assumptions
from mixoracle.assumptions import Verdict
from mixoracle.datasets import paper_problem, random_model
from mixoracle.datasets.graphs import random_dag, random_joint
from mixoracle.model import CPDAG, GaussianComponents, JointNetwork, JointTable, LatentModel
from mixoracle.trust import checks
from mixoracle.trust.edges import posterior_of


def model_of(table, edges=()):
    m = np.ndim(table)
    return LatentModel(
        observed_names=[f"X{i + 1}" for i in range(m)],
        latent_names=[f"H{j + 1}" for j in range(m)],
        bipartite=np.eye(m),
        domain_sizes=np.shape(table),
        joint=JointTable(np.asarray(table) / np.sum(table)),
        latent_graph=CPDAG.from_dag(edges, m),
    )


def by_label(verdicts, label):
    return next(verdict for verdict in verdicts if verdict.label == label)


@pytest.mark.parametrize("seed", range(4))
def test_states_not_seen_yet_are_not_impossible(seed):
    # Hundreds of joint states of ten binary latents have no case, and none is impossible.
    rng = np.random.default_rng(seed)
    edges = random_dag(10, 0.25, rng)
    truth = random_joint((2,) * 10, edges, 4, rng).table
    counts = rng.multinomial(2_000, truth.ravel() / truth.sum()).reshape(truth.shape)
    assert np.any(counts == 0)
    model = model_of(counts, edges)
    assert by_label(assumptions.check(model), "assump:strong:NZ").holds is False
    verdict = by_label(checks.check(model, 2_000), "assump:strong:NZ")
    assert verdict.holds is None
    assert "none of them can be called impossible" in verdict.message


def test_a_function_of_another_latent_is_named():
    table = [[300, 0], [0, 300]]
    verdict = by_label(checks.check(model_of(table, [(0, 1)]), 600), "assump:strong:NZ")
    assert verdict.holds is False
    assert "never occurs, though 150 cases were expected" in verdict.message
    assert "several may be one with 2 states" in verdict.message
    # The same in a handful of cases says nothing.
    few = by_label(checks.check(model_of(table, [(0, 1)]), 6), "assump:strong:NZ")
    assert few.holds is None


def test_a_function_of_two_others_is_named():
    table = np.zeros((2, 2, 2))
    for a, b in np.ndindex(2, 2):
        table[a, b, a ^ b] = 100
    verdict = by_label(checks.check(model_of(table, [(0, 2), (1, 2)]), 400), "assump:strong:NZ")
    assert verdict.holds is False
    assert len(verdict.offenders) == 4


def test_a_rare_state_of_one_configuration_is_not_impossible():
    # Expected are 16 cases if the two were independent, but they are not, and 42 cases may miss it.
    table = [[30, 12, 9, 0, 20], [6, 20, 4, 22, 5], [10, 2, 30, 20, 10]]
    verdict = by_label(checks.check(model_of(table, [(1, 0)]), 200), "assump:strong:NZ")
    assert verdict.holds is None


def test_a_table_without_holes_holds():
    verdict = by_label(checks.check(model_of([[3, 1], [2, 4]]), 10), "assump:strong:NZ")
    assert verdict.holds is True


def test_merged_twins_cannot_be_seen():
    prime = by_label(checks.check(model_of([3, 2, 1]), 60), "assm:twins")
    assert prime.holds is True
    composite = by_label(checks.check(model_of([3, 2, 1, 1]), 70), "assm:twins")
    assert composite.holds is None
    assert "may be one with 4 states, or two with 2 and 2" in composite.message


def test_a_single_measurement_confirms_nothing():
    model = random_model(1, 1, 3, random_state=0)
    verdicts = assumptions.check(model)
    failed = Verdict("a", "b", False, "No.", (("X1",),))
    seen = checks.as_far_as_seen([*verdicts, failed], model)
    assert {verdict.holds for verdict in seen[:-1]} == {None}
    assert seen[-1] is failed
    assert checks.as_far_as_seen(verdicts, random_model(1, 2, 3, random_state=0)) == verdicts


def test_counts_that_fit_no_graph_still_fail_where_measurements_are_dependent():
    nothing = model_of(np.array(1.0))
    nothing = LatentModel(
        observed_names=["X1", "X2"],
        latent_names=[],
        bipartite=np.zeros((2, 0)),
        domain_sizes=(),
        joint=nothing.joint,
        latent_graph=CPDAG(0),
    )
    counting = Verdict("a", "obs:counting", False, "No.", (("X1",),))
    dependent = Verdict("b", "sec:bg", False, "No.", (("X1", "X2"),))
    assert checks.as_far_as_seen([counting, dependent], nothing) == (counting, dependent)
    independent = Verdict("b", "sec:bg", True, "Yes.")
    assert checks.as_far_as_seen([counting, independent], nothing)[0].holds is None


def test_components_of_states_without_a_case_are_not_compared():
    # Components of states that never occurred are all the prior, which says nothing about X.
    def alike(table):
        means = [[0.0], [1.0], [2.0], [2.0]]
        model = LatentModel(
            observed_names=["X1"],
            latent_names=["H1", "H2"],
            bipartite=np.ones((1, 2)),
            domain_sizes=(2, 2),
            joint=JointTable(np.array(table)),
            latent_graph=CPDAG(2),
            components=(GaussianComponents(np.array(means), np.ones((4, 1, 1))),),
        )
        return by_label(checks.check(model, 60), "assump:strong:SDC")

    assert alike([[0.3, 0.2], [0.5, 0.0]]).holds is True
    failed = alike([[0.3, 0.2], [0.4, 0.1]])
    assert failed.holds is False
    assert "Not even all observed variables" in failed.message


def test_a_learner_on_one_block_says_so():
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(0, 0.1, (60, 2)), rng.normal(5, 0.1, (60, 2))])
    learner = LatentGraphLearner(random_state=0).fit(rows, groups=2)
    assert learner.model_.domain_sizes == (2,)
    assert all(verdict.holds is not True for verdict in learner.assumptions_)


def test_clear_problems_are_believed():
    for seed in (1, 2, 3):
        problem = paper_problem(2, 5, 3, n_samples=800, random_state=seed, covariance="code")
        learner = LatentGraphLearner(random_state=0).fit(problem.observations)
        assert learner.verdict_.level == "believe", learner.verdict_.reasons


class TestNetworks:
    """Thirty latents in a chain, estimated from rows: no table of their joint states exists."""

    @staticmethod
    def chain(states):
        edges = [(j, j + 1) for j in range(states.shape[1] - 1)]
        joint = JointNetwork.from_states(states, (2,) * states.shape[1], edges)
        return LatentModel(
            observed_names=[f"X{i + 1}" for i in range(joint.n_latent)],
            latent_names=[f"H{j + 1}" for j in range(joint.n_latent)],
            bipartite=np.eye(joint.n_latent),
            domain_sizes=joint.domain_sizes,
            joint=joint,
            latent_graph=CPDAG(joint.n_latent, frozenset(edges)),
        )

    @pytest.fixture
    def states(self):
        return np.random.default_rng(0).integers(0, 2, size=(2_000, 30))

    def test_what_occurs_everywhere_holds(self, states):
        verdict = by_label(checks.check(self.chain(states), 2_000), "assump:strong:NZ")
        assert verdict.holds is True
        assert "the rarest of a latent and its parents has probability 0.2" in verdict.message

    def test_a_function_of_another_latent_is_named(self, states):
        copied = states.copy()
        copied[:, 12] = copied[:, 11]
        verdict = by_label(checks.check(self.chain(copied), 2_000), "assump:strong:NZ")
        assert verdict.holds is False
        assert {frozenset(held) for held in verdict.offenders} == {
            frozenset({"H12=0", "H13=1"}),
            frozenset({"H12=1", "H13=0"}),
        }
        assert "A cause may be a function of others, or a part of one" in verdict.message
        # The same in a handful of cases says nothing.
        few = by_label(checks.check(self.chain(copied[:6]), 6), "assump:strong:NZ")
        assert few.holds is None
        assert "states of a cause and its parents have no case" in few.message

    def test_there_is_no_posterior_of_so_many_edges(self, states):
        assert posterior_of(self.chain(states), 2_000) is None
        assert posterior_of(self.chain(states[:, :4]), 2_000) is not None


@pytest.mark.parametrize("seed", range(5))
def test_without_a_cause_nothing_about_causes_is_confirmed(seed):
    rows = np.random.default_rng(seed).normal(size=(200, 4))
    learner = LatentGraphLearner(random_state=0).fit(rows)
    assert learner.model_.n_latent == 0
    about_causes = {verdict.label for verdict in assumptions.check(learner.model_)}
    for verdict in learner.assumptions_:
        if verdict.label in about_causes:
            assert verdict.holds is None
            assert "no hidden cause" in verdict.message
    assert by_label(learner.assumptions_, "sec:bg").holds is True
    assert learner.verdict_.level == "believe"


FUNCTIONS = {"and": np.logical_and, "xor": np.logical_xor}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_cause_that_is_a_function_of_two_is_explained_by_these(name, seed):
    """Fewer components than configurations are no rows out of place: nothing is dropped."""
    rng = np.random.default_rng(seed)
    first, second = rng.integers(2, size=(2, 1000))
    third = FUNCTIONS[name](first, second)

    def block(states):
        direction = rng.normal(size=3)
        return np.outer(states, 15 * direction / np.linalg.norm(direction)) + rng.normal(
            size=(1000, 3)
        )

    causes = {"A": first, "B": second, "C": third}
    blocks = {f"{cause}{k}": block(states) for cause, states in causes.items() for k in (1, 2)}
    learner = LatentGraphLearner(random_state=0).fit(Observations.from_arrays(blocks))
    assert learner.model_.domain_sizes == (2, 2)
    assert learner.model_.bipartite.any(axis=1).all()
    distinct = next(v for v in learner.assumptions_ if v.label == "assump:strong:SDC")
    if name == "and":
        assert distinct.holds is None
        assert "C1, C2" in distinct.message
    else:  # Any two of the three explain the third: which two is open.
        assert learner.verdict_.causes_in_doubt


def test_a_configuration_with_hardly_a_case_says_nothing():
    """EM may leave each state of a rare configuration hardly a share of a case."""
    table = np.full((2, 3), 0.25)
    table[:, 2] = 1e-6
    joint = JointTable(table / table.sum())
    model = LatentModel(
        observed_names=("X1", "X2"),
        latent_names=("H1", "H2"),
        bipartite=np.eye(2, dtype=bool),
        domain_sizes=(2, 3),
        joint=joint,
        latent_graph=CPDAG.from_dag([(1, 0)], 2),
        components=None,
    )
    verdict = next(v for v in checks.check(model, 100) if v.label == "assump:strong:NZ")
    assert "2 of 6 joint states have no case" in verdict.message
