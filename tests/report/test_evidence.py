import json
from types import SimpleNamespace

import numpy as np
import pytest

from mixoracle import Observations
from mixoracle.datasets import paper_problem, random_model
from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.learner import LatentGraphLearner
from mixoracle.model import CPDAG, GaussianComponents, JointTable, LatentModel
from mixoracle.oracle.counts import ComponentCount
from mixoracle.report.evidence import MAX_POINTS, Evidence, gather


def one_latent(width=1, apart=10.0, spread=1.0, n_observed=2):
    """One binary latent; all columns of each variable move by ``apart``."""
    means = np.zeros((2, width))
    means[1] = apart
    components = GaussianComponents(means, np.stack([np.eye(width) * spread] * 2))
    return LatentModel(
        observed_names=[f"X{i + 1}" for i in range(n_observed)],
        latent_names=["H1"],
        bipartite=np.ones((n_observed, 1)),
        domain_sizes=(2,),
        joint=JointTable(np.array([0.5, 0.5])),
        latent_graph=CPDAG(1),
        components=[components] * n_observed,
    )


@pytest.mark.parametrize("seed", range(4))
def test_json_and_back_is_the_same(make_result, seed):
    evidence = make_result(3, 6, seed=seed).evidence
    assert Evidence.from_json(json.loads(json.dumps(evidence.to_json()))) == evidence


def test_a_fitted_learner_is_gathered():
    problem = paper_problem(2, 5, 3, n_samples=400, random_state=1, covariance="code")
    learner = LatentGraphLearner(random_state=0).fit(problem.observations)
    evidence = gather(learner, problem.observations)
    assert [count.components for count in evidence.singles] == [
        int(learner.counts_[i]) for i in range(5)
    ]
    assert len(evidence.pairs) == 10
    assert all(0 <= count.confidence <= 1 for count in evidence.singles)
    assert [sum(sizes) for sizes in evidence.state_sizes] == [400] * learner.model_.n_latent
    assert evidence.verdicts == learner.assumptions_


def test_effects_are_the_means_of_the_states(make_result):
    result = make_result(model=one_latent(apart=10.0), n_samples=2000)
    effect = result.evidence.effects[0]
    assert effect.means[1][0] - effect.means[0][0] == pytest.approx(10, abs=0.2)
    # Between-state variance 25, within 1.
    assert effect.share == pytest.approx(25 / 26, abs=0.01)


def test_no_effect_has_no_share(make_result):
    result = make_result(model=one_latent(apart=0.0), n_samples=2000)
    assert result.evidence.effects[0].share < 0.01


def test_separation_is_the_share_placed_right(make_result):
    far = make_result(model=one_latent(apart=20.0)).evidence.scatters[0]
    assert far.separation == 1.0
    near = make_result(model=one_latent(apart=2.0), n_samples=20_000).evidence.scatters[0]
    # Two unit normals 2 apart are told apart with probability Φ(1).
    assert near.separation == pytest.approx(0.8413, abs=0.01)


def test_points_are_few_and_their_labels_right(make_result):
    result = make_result(model=one_latent(width=3, apart=30.0), n_samples=1000)
    scatter = result.evidence.scatters[0]
    assert len(scatter.points) == len(scatter.labels) <= MAX_POINTS
    first = np.array(scatter.points)[:, 0]
    labels = np.array(scatter.labels)
    # The largest entry of a direction is positive, so the state with larger values lies right.
    assert first[labels == 0].max() < first[labels == 1].min()
    assert 0.98 < scatter.shown <= 1


def test_categorical_and_missing_columns_are_shown_as_shares():
    model = random_model(1, 1, 2, random_state=0)
    states = np.array([0, 0, 0, 0, 1, 1, 1, 1] * 10)[:, None]
    cells = [["a", "a", "a", "b", "b", "b", "b", None][r % 8] for r in range(80)]
    observations = Observations.from_arrays({"X1": np.array(cells, dtype=object)})
    bare = LatentModel(
        observed_names=["X1"],
        latent_names=["H1"],
        bipartite=[[1]],
        domain_sizes=(2,),
        joint=JointTable(np.array([0.5, 0.5])),
        latent_graph=CPDAG(1),
    )
    fitted = SimpleNamespace(
        model_=bare,
        counts_={frozenset({0}): ComponentCount(2)},
        bipartite_=SimpleNamespace(residual=0.0, method="blocks"),
        assumptions_=(),
        states_=states,
        repairs_=(),
        alternatives_=(SimpleNamespace(model=model, bic_gap=2.5),),
        bic_=0.0,
        log_likelihood_=0.0,
        converged_=True,
        n_iter_=0,
    )
    evidence = gather(fitted, observations)
    (effect,) = evidence.effects
    assert effect.columns == ("X1 = a", "X1 = b")
    assert effect.means == ((0.75, 0.25), (0.0, 1.0))
    assert evidence.scatters[0].separation is None
    assert len(evidence.scatters[0].points) == 70
    assert evidence.alternatives[0].edges == "no edges"
    assert evidence.alternatives[0].bic_gap == 2.5


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"format": "other"}, "not the evidence of a mixoracle result"),
        ({"version": 2}, "format version 2; this mixoracle reads version 1"),
        ({"singles": []}, "not complete: the evidence should hold a count and a scatter"),
        ({"scatters": 7}, "not complete"),
        ({"pairs": [{"members": [0, 1]}]}, "not complete"),
    ],
)
def test_damage_is_refused(make_result, change, sentence):
    document = {**make_result().evidence.to_json(), **change}
    with pytest.raises(FileFormatError, match=sentence):
        Evidence.from_json(document)


def test_the_record_checks_itself(make_result):
    held = make_result().evidence
    with pytest.raises(InvalidInputError, match="a count and a scatter for each of the 6"):
        Evidence(**{**held.__dict__, "scatters": held.scatters[:-1]})
