import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from mixoracle import Observations
from mixoracle.datasets import item_problem, paper_problem
from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.learner import LatentGraphLearner
from mixoracle.mixtures.columns import read_columns
from mixoracle.model import CPDAG, GaussianComponents, JointTable, LatentModel
from mixoracle.oracles.counts import ComponentCount
from mixoracle.report.evidence import Evidence
from mixoracle.report.gathering import gather
from mixoracle.report.measurements import along, leading_directions, standardised
from mixoracle.report.states import MAX_POINTS
from mixoracle.trust.overall import Overall


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
    for told, found in zip(evidence.verdicts, learner.assumptions_, strict=True):
        assert (told.label, told.holds) == (found.label, found.holds)
        assert not re.search("latent|variable", told.message)


def test_effects_are_the_means_of_the_states(make_result):
    result = make_result(model=one_latent(apart=10.0), n_samples=2000)
    effect = result.evidence.effects[0]
    assert effect.means[1][0] - effect.means[0][0] == pytest.approx(10, abs=0.2)
    # Between-state variance 25, within 1.
    assert effect.share == pytest.approx(25 / 26, abs=0.01)


def test_no_effect_has_no_share(make_result):
    result = make_result(model=one_latent(apart=0.0), n_samples=2000)
    assert result.evidence.effects[0].share < 0.01


def test_separation_is_the_share_classified_correctly(make_result):
    far = make_result(model=one_latent(apart=20.0)).evidence.scatters[0]
    assert far.separation == 1.0
    near = make_result(model=one_latent(apart=2.0), n_samples=20_000).evidence.scatters[0]
    # Two unit normals 2 apart are told apart with probability Φ(1).
    assert near.separation == pytest.approx(0.8413, abs=0.01)


def states_of_points(evidence, scatter):
    return np.array(evidence.sample.states)[list(scatter.places), 0]


def test_points_are_few_and_their_labels_right(make_result):
    result = make_result(model=one_latent(width=3, apart=30.0), n_samples=1000)
    scatter = result.evidence.scatters[0]
    assert len(scatter.points) == len(scatter.places) <= MAX_POINTS
    first = np.array(scatter.points)[:, 0]
    labels = states_of_points(result.evidence, scatter)
    # The largest entry of a direction is positive, so the state with larger values lies right.
    assert first[labels == 0].max() < first[labels == 1].min()
    assert 0.98 < scatter.shown <= 1


def test_categorical_and_missing_columns_are_shown_as_shares():
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
    finer = replace(bare, domain_sizes=(3,), joint=JointTable(np.full(3, 1 / 3)))
    fitted = SimpleNamespace(
        model_=bare,
        counts_={frozenset({0}): ComponentCount(2)},
        bipartite_=SimpleNamespace(residual=0.0, method="blocks"),
        assumptions_=(),
        states_=states,
        repairs_=(),
        alternatives_=(SimpleNamespace(model=finer, bic_gap=2.5, rejected="", change=""),),
        bic_=0.0,
        log_likelihood_=0.0,
        converged_=True,
        n_iter_=0,
        columns_=read_columns(observations)[1],
        set_aside_=np.zeros((observations.n_samples, 1), dtype=bool),
        resolution_=np.inf,
        resolution="auto",
        resolutions_=(),
        _n_copies=0,
        verdict_=Overall("believe"),
        n_starts_=1,
        n_starts_agreed_=1,
        edge_posterior_=None,
        known_arrows_=None,
        drive_posterior_=np.ones((1, 1)),
    )
    evidence = gather(fitted, observations)
    (effect,) = evidence.effects
    assert effect.columns == ("X1 = a", "X1 = b")
    assert effect.means == ((0.75, 0.25), (0.0, 1.0))
    assert effect.is_share == (True, True)
    assert evidence.columns[0].missing == 10
    assert evidence.scatters[0].separation is None
    # Levels are bars, not points.
    assert evidence.scatters[0].points == ()
    assert evidence.shapes[0].heights == ((0.75, 0.25), (0.0, 1.0))
    assert evidence.certainty == ()
    assert evidence.alternatives[0].directed == evidence.alternatives[0].undirected == ()
    assert evidence.alternatives[0].bic_gap == 2.5


def test_gaps_change_what_is_shown_by_chance_only(make_result):
    """Without any case thrown away, shares and separations stay what they are."""
    model = one_latent(width=6, apart=3.0)
    whole = make_result(model=model, n_samples=4000).evidence
    gappy = make_result(model=model, n_samples=4000, share_missing=0.3).evidence
    assert gappy.effects[0].share == pytest.approx(whole.effects[0].share, abs=0.01)
    for state in (0, 1):
        means, known = gappy.effects[0].means[state], whole.effects[0].means[state]
        assert means == pytest.approx(known, abs=0.15)
    # Four of the six columns are there on average: Φ(1.5 · √4) and more.
    assert 0.99 < gappy.scatters[0].separation < whole.scatters[0].separation
    assert sum(column.missing for column in gappy.columns) == round(0.3 * 4000 * 12)


def test_cases_with_missing_values_lie_near_where_they_are(make_result):
    model = one_latent(width=8, apart=6.0)
    evidence = make_result(model=model, n_samples=2000, share_missing=0.4).evidence
    scatter = evidence.scatters[0]
    # Hardly a case is complete: 0.6 to the eighth is 1.7 %; half of it is there in 83 %.
    assert len(scatter.points) > 0.75 * MAX_POINTS
    first, labels = np.array(scatter.points)[:, 0], states_of_points(evidence, scatter)
    assert np.mean((first > 0) == labels) > 0.99


def test_projections_of_complete_rows_are_exact():
    rng = np.random.default_rng(0)
    rows = standardised(rng.normal(size=(50, 5)) @ rng.normal(size=(5, 5)))
    directions, shown = leading_directions(rows)
    _, lengths, axes = np.linalg.svd(rows, full_matrices=False)
    np.testing.assert_allclose(np.abs(directions @ axes[:2].T), np.eye(2), atol=1e-9)
    assert shown == pytest.approx((lengths[:2] ** 2).sum() / (lengths**2).sum())
    np.testing.assert_allclose(along(rows, directions), rows @ directions.T, atol=1e-9)


def test_a_row_in_the_plane_is_found_from_half_of_its_cells():
    rng = np.random.default_rng(1)
    directions = np.linalg.qr(rng.normal(size=(6, 2)))[0].T
    places = rng.normal(size=(20, 2))
    rows = places @ directions
    rows[:, :3] = np.nan
    np.testing.assert_allclose(along(rows, directions), places, atol=1e-8)


def test_answers_are_read_as_the_learner_reads_them():
    """Marks from 1 to 5 are levels to the learner; raw numbers would be refused as codes."""
    problem = item_problem(1, 6, 400, random_state=0)
    values = problem.observations.values * 4 + 1
    observations = Observations(values, problem.observations.names)
    learner = LatentGraphLearner(random_state=0).fit(observations)
    evidence = gather(learner, observations)
    assert {column.kind for column in evidence.columns} == {"levels"}
    assert evidence.columns[0].levels == ("1", "5")
    assert all(scatter.separation > 0.8 for scatter in evidence.scatters)
    assert evidence.effects[0].is_share == (True, True)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"format": "other"}, "not the evidence of a mixoracle result"),
        ({"version": 1}, "format version 1; this mixoracle reads version 3"),
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


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            [4],
            "1 of 400 values of X1 was treated as missing, because no other value is near (case "
            "4); at most 20% of a measurement may be",
        ),
        (
            range(12),
            "12 of 400 values of X1 were treated as missing, because no other value is near "
            "(cases 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more); at most 20% of a measurement may be",
        ),
    ],
)
def test_values_that_were_set_aside_are_named(rows, expected):
    problem = paper_problem(2, 4, 2, 400, random_state=0, covariance="code")
    learner = LatentGraphLearner(random_state=0).fit(problem.observations)
    learner.set_aside_ = np.zeros_like(learner.set_aside_)
    learner.set_aside_[list(rows), 0] = True
    assert gather(learner, problem.observations).notes == (expected,)


def test_values_that_were_set_aside_do_not_enter_what_is_shown():
    problem = paper_problem(1, 3, 2, 1_000, random_state=0, covariance="code")
    blocks = {name: problem.observations[name].copy() for name in problem.observations.names}
    blocks["X1"][3] += 1e4
    observations = Observations.from_arrays(blocks)
    learner = LatentGraphLearner(random_state=0).fit(observations)
    assert learner.set_aside_.sum() == 1
    spoiled, clean = (
        gather(LatentGraphLearner(random_state=0).fit(held), held).effects[0]
        for held in (observations, problem.observations)
    )
    assert spoiled.share == pytest.approx(clean.share, abs=0.01)
