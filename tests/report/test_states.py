"""The numbers behind pictures of states."""

from types import SimpleNamespace

import numpy as np
import pytest

from mixoracle.report.colours import _linear, state_colours
from mixoracle.report.states import (
    CERTAINTY_BINS,
    MAX_LEAST_SURE,
    MAX_RUNS,
    SURE,
    certainty_of,
    path_of,
    sample_of,
    sampled_rows,
    strip_of,
)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet((0.3, 0.3, 0.3), 2500)
    return probabilities, probabilities.argmax(axis=1)


def test_certainty_counts_every_case(rows):
    probabilities, states = rows
    held = certainty_of(probabilities, states, [f"T{k}" for k in range(2500)])
    counts = np.array(held.counts)
    assert counts.shape == (3, CERTAINTY_BINS)
    np.testing.assert_array_equal(counts.sum(axis=1), np.bincount(states))
    assert held.n_unsure == (probabilities.max(axis=1) < 0.9).sum()


def test_the_least_sure_come_first_with_what_else_they_may_be(rows):
    probabilities, states = rows
    held = certainty_of(probabilities, states, [f"T{k}" for k in range(2500)])
    assert len(held.least) == MAX_LEAST_SURE
    order = np.argsort(probabilities.max(axis=1))
    assert [case.row for case in held.least] == order[:MAX_LEAST_SURE].tolist()
    first = held.least[0]
    assert first.name == f"T{first.row}"
    ranked = np.argsort(-probabilities[first.row])
    assert (first.state, first.second) == tuple(ranked[:2])
    assert first.probability >= first.second_probability > 0


def test_sure_cases_are_not_listed_as_unsure():
    probabilities = np.array([[1.0, 0.0], [SURE, 1 - SURE], [0.2, 0.8]])
    held = certainty_of(probabilities, np.array([0, 0, 1]))
    assert [case.row for case in held.least] == [2]


@pytest.mark.parametrize("n", [5, MAX_RUNS, MAX_RUNS + 1, 4321])
def test_a_strip_holds_every_row_in_order(n):
    states = np.random.default_rng(n).integers(0, 3, (n, 2))
    strip = strip_of(states, (3, 3))
    for j in range(2):
        counts = np.array(strip.counts[j])
        assert len(counts) <= MAX_RUNS
        assert counts.sum() == n
        np.testing.assert_array_equal(counts[0], np.bincount(states[: strip.step, j], minlength=3))


def test_a_sample_is_even_and_not_too_large():
    assert len(sampled_rows(10, 3)) == 10
    for n_observed, most in ((10, 400), (300, 134), (10_000, 100)):
        rows = sampled_rows(1_000_000, n_observed)
        assert 0.9 * most <= len(rows) <= most
        assert len(set(np.diff(rows))) == 1


def test_a_sample_has_the_states_of_its_rows(rows):
    probabilities, states = rows
    chosen = np.array([3, 70])
    held = sample_of(chosen, states[:, None], [probabilities], None)
    assert held.states == tuple((int(states[k]),) for k in chosen)
    assert held.probabilities[0][0] == pytest.approx(probabilities[3].max(), abs=1e-4)


def test_the_path_says_which_answer_was_taken():
    graphs = [
        SimpleNamespace(adjacency=np.eye(2, dtype=bool)),
        SimpleNamespace(adjacency=np.ones((2, 1), dtype=bool)),
    ]
    path = [
        SimpleNamespace(graph=graphs[0], finest=np.inf, coarsest=800.0, domain_sizes=(3, 2)),
        SimpleNamespace(graph=graphs[1], finest=400.0, coarsest=200.0, domain_sizes=(2,)),
    ]
    finest, coarsest = path_of(path, 400.0)
    assert (finest.finest, finest.coarsest, finest.chosen) == (None, 800.0, False)
    assert (coarsest.drives, coarsest.chosen) == (((0, 1),), True)
    assert path_of(path, np.inf)[0].chosen


def luminance(colour):
    channels = (_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), channels, strict=True))


@pytest.mark.parametrize("n_states", [1, 2, 3, 5, 12])
def test_colours_of_states_stand_out_on_light_and_dark_paper(n_states):
    for latent in range(12):
        colours = state_colours(latent, n_states)
        assert len(set(colours)) == n_states
        for colour in colours:
            own = luminance(colour) + 0.05
            assert (luminance("#ffffff") + 0.05) / own > 2.7
            assert own / (luminance("#151a21") + 0.05) > 2.7
