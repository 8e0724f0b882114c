from dataclasses import replace
from math import log, prod

import numpy as np
import pytest

from mixoracle.datasets import item_problem, kind_problem, paper_problem, with_gaps
from mixoracle.errors import DataWarning
from mixoracle.inference import refine as refinement
from mixoracle.inference.structured import TOLERANCE, Expected
from mixoracle.mixtures.preparation import prepare
from mixoracle.model import CPDAG, LatentModel
from mixoracle.model.joint_states import flat, states_of_cells
from mixoracle.model.posterior import mean_log_likelihood, most_likely_states
from mixoracle.observations import Observations
from mixoracle.observations.answers import recognise_answers
from mixoracle.settings import Budget, Settings

# The paper's noise, ten times as much in few dimensions, and hopeless overlap.
NOISE = ({}, {"width": 3, "scale": 0.1}, {"width": 2, "scale": 1.0})


def refine(prepared, adjacency, sizes, cells, **choices):
    """Refine from joint states by their numbers."""
    states = states_of_cells(cells, sizes)
    return refinement.refine(prepared, adjacency, sizes, states, **choices)


def weights(refined):
    return refined.joint.table.ravel()


def assignment(refined):
    return flat(refined.states, refined.joint.domain_sizes)


def start(seed, n_samples=300, wrong_share=0.2, **choices):
    """A prepared problem and the true joint state of each prepared row, some of them wrong."""
    problem = paper_problem(2, 5, 3, n_samples, random_state=seed, **choices)
    prepared = prepare(problem.observations)
    sizes = problem.model.domain_sizes
    cells = np.ravel_multi_index(problem.states.T, sizes)[prepared.rows]
    rng = np.random.default_rng(seed)
    wrong = rng.random(n_samples) < wrong_share
    cells[wrong] = rng.integers(prod(sizes), size=int(wrong.sum()))
    adjacency = problem.model.bipartite[prepared.variables]
    return problem, prepared, adjacency, sizes, cells


def as_model(problem, prepared, refined):
    """The refinement in the units and order of the observations."""
    back = np.argsort(prepared.variables)
    return LatentModel(
        observed_names=problem.model.observed_names,
        latent_names=problem.model.latent_names,
        bipartite=problem.model.bipartite,
        domain_sizes=problem.model.domain_sizes,
        joint=refined.joint,
        latent_graph=CPDAG(problem.model.n_latent),
        components=tuple(
            prepared.encoders[place].decode(refined.components[place]) for place in back
        ),
    )


@pytest.mark.parametrize("choices", NOISE, ids=["paper", "overlap", "hopeless"])
@pytest.mark.parametrize("seed", range(10))
def test_the_penalised_likelihood_never_falls(seed, choices):
    _, *given = start(seed, **choices)
    refined = refine(*given, max_iterations=40)
    steps = np.diff(refined.history)
    # Rounding of a sum of a few thousand terms, not more.
    assert steps.size == 0 or steps.min() >= -1e-9 * np.abs(refined.history).max()


@pytest.mark.parametrize("choices", NOISE, ids=["paper", "overlap", "hopeless"])
@pytest.mark.parametrize("seed", range(5))
def test_likelihood_and_cells_are_those_of_the_decoded_model(seed, choices):
    problem, prepared, adjacency, sizes, cells = start(seed, **choices)
    refined = refine(prepared, adjacency, sizes, cells, max_iterations=15)
    model = as_model(problem, prepared, refined)
    blocks = [problem.observations[name] for name in model.observed_names]
    assert mean_log_likelihood(model, blocks) * prepared.n_samples == pytest.approx(
        refined.log_likelihood, rel=1e-8
    )
    states = refined.states
    np.testing.assert_array_equal(most_likely_states(model, blocks)[prepared.rows], states)


@pytest.mark.parametrize("seed", range(10))
def test_shapes_and_bic(seed):
    _, prepared, adjacency, sizes, cells = start(seed)
    refined = refine(prepared, adjacency, sizes, cells)
    assert weights(refined).shape == (prod(sizes),)
    assert weights(refined).sum() == pytest.approx(1.0)
    assert assignment(refined).shape == (prepared.n_samples,)
    assert assignment(refined).max() < prod(sizes)
    n_components = [prod(np.array(sizes)[row]) for row in adjacency]
    assert [held.n_components for held in refined.components] == n_components
    if len(np.unique(cells)) == prod(sizes):
        # Five columns each: 5 means, 15 covariances; and free weights.
        n_parameters = 20 * sum(n_components) + prod(sizes) - 1
        assert refined.bic == pytest.approx(
            refined.log_likelihood - 0.5 * log(prepared.n_samples) * n_parameters
        )


@pytest.mark.parametrize("seed", range(10))
def test_rows_put_into_a_wrong_state_come_back(seed):
    problem, prepared, adjacency, sizes, cells = start(seed, 800, covariance="code")
    truth = np.ravel_multi_index(problem.states.T, sizes)[prepared.rows]
    assert np.mean(cells != truth) > 0.1
    refined = refine(prepared, adjacency, sizes, cells)
    assert refined.converged
    assert np.mean(assignment(refined) != truth) < 0.01


@pytest.mark.parametrize("choices", NOISE, ids=["paper", "overlap", "hopeless"])
@pytest.mark.parametrize("seed", range(5))
def test_where_a_step_comes_back_further_ones_change_nothing(seed, choices, monkeypatch):
    _, prepared, *given = start(seed, **choices)
    refined = refine(prepared, *given)
    monkeypatch.setattr(Expected, "leads_where", lambda *_: False)
    longer = refine(prepared, *given)
    assert len(longer.history) - len(refined.history) in (0, 1)
    assert abs(longer.log_likelihood - refined.log_likelihood) <= TOLERANCE * prepared.n_samples


@pytest.mark.parametrize("seed", range(5))
def test_a_start_that_a_step_leaves_as_it_is_has_converged(seed):
    _, *clear = start(seed, wrong_share=0.0, covariance="code")
    assert refine(*clear, max_iterations=0).converged
    _, *overlapping = start(seed, wrong_share=0.0, **NOISE[2])
    assert not refine(*overlapping, max_iterations=0).converged
    _, *wrong = start(seed, covariance="code")
    assert not refine(*wrong, max_iterations=0).converged


@pytest.mark.parametrize("seed", range(5))
def test_without_iterations_the_start_itself_is_evaluated(seed):
    _, prepared, adjacency, sizes, cells = start(seed, wrong_share=0.0)
    refined = refine(prepared, adjacency, sizes, cells, max_iterations=0)
    assert len(refined.history) == 1
    np.testing.assert_allclose(
        weights(refined), np.bincount(cells, minlength=prod(sizes)) / len(cells)
    )
    for place, held in enumerate(refined.components):
        parents = np.flatnonzero(adjacency[place])
        states = np.stack(np.unravel_index(cells, sizes), axis=1)[:, parents]
        codes = np.ravel_multi_index(states.T, [sizes[j] for j in parents])
        for code in np.unique(codes):
            rows = prepared.blocks[place][codes == code]
            np.testing.assert_allclose(held.means[code], rows.mean(axis=0), atol=1e-9)


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_iterations_are_limited(limit):
    _, *given = start(0, width=2, scale=1.0)
    assert len(refine(*given, max_iterations=limit).history) <= limit + 1


def test_more_iterations_continue_the_same_path():
    _, *given = start(1, width=3, scale=0.1)
    short, long = refine(*given, max_iterations=3), refine(*given, max_iterations=8)
    assert long.history[: len(short.history)] == short.history


def test_a_state_without_rows_stays_without():
    _, prepared, adjacency, sizes, cells = start(2, wrong_share=0.0)
    cells = np.where(cells == 0, 1, cells)
    refined = refine(prepared, adjacency, sizes, cells)
    assert weights(refined)[0] == 0.0
    assert not np.any(assignment(refined) == 0)


def test_memory_is_bounded_by_chunks_that_change_nothing():
    _, *given = start(3, width=3, scale=0.1)
    whole = refine(*given)
    chunked = refine(*given, settings=Settings(Budget(chunk_entries=100)))
    assert chunked.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-10)
    np.testing.assert_array_equal(assignment(chunked), assignment(whole))


@pytest.mark.parametrize("seed", range(5))
def test_without_latents_there_is_one_normal_for_each_variable(seed):
    block = np.random.default_rng(seed).normal(size=(100, 6))
    prepared = prepare(Observations.from_array(block, groups=2))
    nothing = np.zeros(100, dtype=np.int64)
    refined = refine(prepared, np.zeros((3, 0), dtype=bool), (), nothing)
    np.testing.assert_array_equal(weights(refined), [1.0])
    np.testing.assert_array_equal(assignment(refined), nothing)
    assert refined.converged


def test_a_state_that_loses_all_its_rows_is_harmless():
    """A single row in a state that does not exist: its weight underflows to zero."""
    rng = np.random.default_rng(0)
    states = rng.integers(2, size=200)
    block = rng.normal(size=(200, 20)) + 100.0 * states[:, None]
    prepared = prepare(Observations.from_array(np.hstack([block, block]), groups=20))
    cells = 3 * states[prepared.rows]
    cells[np.flatnonzero(cells == 0)[0]] = 1
    refined = refine(prepared, np.eye(2, dtype=bool), (2, 2), cells)
    assert np.isfinite(refined.log_likelihood)
    np.testing.assert_allclose(weights(refined)[1:3], 0.0, atol=1e-9)
    np.testing.assert_array_equal(assignment(refined), 3 * states[prepared.rows])


FAMILIES = ("categorical", "counts", "gamma", "mixed", "items", "diagonal", "gaussian", "student")


def start_of_kind(kind, seed, gaps, n_samples=300):
    """A problem of a kind, with gaps, and a start in which a fifth of the rows is wrong."""
    if kind == "items":
        problem = item_problem(2, 8, n_samples, random_state=seed)
    elif kind in ("diagonal", "gaussian", "student"):
        problem = paper_problem(2, 5, 2, n_samples, random_state=seed, width=3, scale=0.1)
    else:
        problem = kind_problem(2, 5, 2, n_samples, random_state=seed, kind=kind)
    observations = with_gaps(problem.observations, gaps, seed) if gaps else problem.observations
    families = kind if kind in ("gamma", "diagonal", "student") else None
    prepared = prepare(observations, families)
    sizes = problem.model.domain_sizes
    cells = np.ravel_multi_index(problem.states.T, sizes)[prepared.rows]
    rng = np.random.default_rng(seed)
    wrong = rng.random(n_samples) < 0.2
    cells[wrong] = rng.integers(prod(sizes), size=int(wrong.sum()))
    adjacency = problem.model.bipartite[prepared.variables]
    return replace(problem, observations=observations), prepared, adjacency, sizes, cells


@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("kind", FAMILIES)
class TestKinds:
    def test_the_penalised_likelihood_never_falls(self, kind, gaps):
        for seed in range(2):
            _, *given = start_of_kind(kind, seed, gaps)
            refined = refine(*given, max_iterations=30)
            steps = np.diff(refined.history)
            # Rounding of a sum of a few thousand terms, not more.
            assert steps.min() >= -1e-9 * np.abs(refined.history).max()
            assert refined.history[-1] > refined.history[0]

    def test_likelihood_and_cells_are_those_of_the_decoded_model(self, kind, gaps):
        problem, prepared, adjacency, sizes, cells = start_of_kind(kind, 1, gaps)
        refined = refine(prepared, adjacency, sizes, cells, max_iterations=10)
        model = as_model(problem, prepared, refined)
        held = recognise_answers(problem.observations)
        blocks = [held[name] for name in model.observed_names]
        assert mean_log_likelihood(model, blocks) * prepared.n_samples == pytest.approx(
            refined.log_likelihood, rel=1e-8
        )
        states = refined.states
        np.testing.assert_array_equal(most_likely_states(model, blocks)[prepared.rows], states)


@pytest.mark.parametrize("kind", ["categorical", "items", "diagonal"])
def test_chunks_change_nothing_with_gaps_between_independent_columns(kind):
    _, *given = start_of_kind(kind, 0, 0.2)
    whole = refine(*given)
    chunked = refine(*given, settings=Settings(Budget(chunk_entries=100)))
    np.testing.assert_allclose(chunked.history, whole.history, rtol=1e-10)
    np.testing.assert_array_equal(assignment(chunked), assignment(whole))


def test_chunks_lead_to_the_same_end_with_gaps_between_dependent_columns():
    """The start, and so the prior, completes rows by what the others of their chunk show."""
    _, prepared, *given = start_of_kind("gaussian", 0, 0.2)
    whole = refine(prepared, *given, max_iterations=300)
    chunked = refine(
        prepared, *given, max_iterations=300, settings=Settings(Budget(chunk_entries=400))
    )
    assert whole.converged
    assert chunked.converged
    nats_a_row = abs(chunked.log_likelihood - whole.log_likelihood) / prepared.n_samples
    assert nats_a_row < 0.01
    assert np.mean(assignment(chunked) != assignment(whole)) < 0.02


def test_rows_with_nothing_take_the_weights_and_change_no_component():
    """A row without a cell is in each state as often as that state is."""
    problem, prepared, adjacency, sizes, _ = start_of_kind("categorical", 0, 0.0)
    held = problem.observations
    values = np.vstack([held.values, np.full((50, held.values.shape[1]), np.nan)])
    longer = Observations(values, held.names, held.widths, held.levels)
    with pytest.warns(DataWarning, match="50 of 350 rows"):
        more = prepare(longer)
    assert list(more.variables) == list(prepared.variables)
    truth = np.append(np.ravel_multi_index(problem.states.T, sizes), np.zeros(50, dtype=np.int64))
    short = refine(prepared, adjacency, sizes, truth[prepared.rows], max_iterations=100)
    long = refine(more, adjacency, sizes, truth[more.rows], max_iterations=100)
    np.testing.assert_allclose(weights(long), weights(short), atol=2e-3)
    for one, other in zip(short.components, long.components, strict=True):
        np.testing.assert_allclose(one.probabilities, other.probabilities, atol=2e-3)
    assert long.log_likelihood == pytest.approx(short.log_likelihood, rel=1e-3)
