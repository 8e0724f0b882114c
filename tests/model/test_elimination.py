import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixoracle.errors import InvalidInputError
from mixoracle.model.elimination import Factor, eliminate, likeliest

SIZES = (2, 3, 2, 4, 2)


def random_factors(rng, n_factors):
    made = []
    for _ in range(n_factors):
        latents = tuple(rng.permutation(len(SIZES))[: rng.integers(0, 4)].tolist())
        made.append(Factor(latents, rng.random([SIZES[j] for j in latents])))
    return made


def product(factors):
    whole = np.ones(SIZES)
    for factor in factors:
        letters = "".join("abcde"[j] for j in factor.latents)
        whole = np.einsum(f"abcde,{letters}->abcde", whole, factor.values)
    return whole


@given(st.integers(0, 10_000), st.integers(1, 6), st.permutations(range(5)), st.integers(0, 4))
def test_the_sum_and_the_largest_are_those_of_the_whole_product(seed, n_factors, order, n_kept):
    factors = random_factors(np.random.default_rng(seed), n_factors)
    kept, whole = order[:n_kept], product(factors)
    known = {latent for factor in factors for latent in factor.latents}
    dropped = tuple(j for j in range(5) if j not in kept)
    # Latents that no factor knows take part in no sum.
    repeated = np.prod([SIZES[j] for j in dropped if j not in known], dtype=float)
    place = np.argsort(np.argsort(kept)) if kept else ()
    summed = np.transpose(whole.sum(axis=dropped), place) / repeated
    np.testing.assert_allclose(eliminate(factors, kept, SIZES), summed, rtol=1e-12)
    highest = np.transpose(whole.max(axis=dropped), place)
    np.testing.assert_allclose(eliminate(factors, kept, SIZES, largest=True), highest, rtol=1e-12)


def test_a_long_chain_costs_little_and_a_clique_is_refused():
    sizes = (2,) * 100
    step = np.array([[0.9, 0.1], [0.2, 0.8]])
    chain = [Factor((0,), np.array([1.0, 0.0]))]
    chain += [Factor((j, j + 1), step) for j in range(99)]
    expected = np.linalg.matrix_power(step, 99)[0]
    np.testing.assert_allclose(eliminate(chain, [99], sizes), expected, rtol=1e-12)
    pairs = [Factor((i, j), np.ones((2, 2))) for i in range(30) for j in range(i)]
    with pytest.raises(InvalidInputError, match="would need a table of 1,073,741,824 entries"):
        eliminate(pairs, [0], sizes)
    with pytest.raises(InvalidInputError, match="ask about fewer latents at a time"):
        eliminate(chain, range(30), sizes)


def test_what_is_known_joins_nothing():
    rng = np.random.default_rng(0)
    pairs = [Factor((i, j), rng.random((2, 2))) for i in range(30) for j in range(i)]
    known = rng.integers(0, 2, size=30)
    evidence = [Factor((j,), np.eye(2)[known[j]]) for j in range(3, 30)]
    expected = np.ones((2, 2, 2))
    for states in np.ndindex(2, 2, 2):
        joint = [*states, *known[3:]]
        for factor in pairs:
            expected[states] *= factor.values[joint[factor.latents[0]], joint[factor.latents[1]]]
    for largest in (False, True):
        found = eliminate(pairs + evidence, [0, 1, 2], (2,) * 30, largest=largest)
        np.testing.assert_allclose(found, expected, rtol=1e-10)
    # Known, but asked for: the axis stays.
    assert eliminate(evidence, [3], (2,) * 30)[1 - known[3]] == 0


@given(st.integers(0, 10_000), st.integers(1, 40))
def test_the_likeliest_states_are_those_of_the_whole_product(seed, most):
    rng = np.random.default_rng(seed)
    factors = [Factor((j,), rng.random(size)) for j, size in enumerate(SIZES)]
    factors += random_factors(rng, 4)
    factors[0].values[0] = 0.0
    whole = product(factors)
    states, values = likeliest(factors, SIZES, most)
    expected = np.sort(whole[whole > 0])[::-1][:most]
    np.testing.assert_allclose(values, expected, rtol=1e-12)
    np.testing.assert_allclose(whole[tuple(states.T)], values, rtol=1e-12)
    assert len({*map(tuple, states)}) == len(states)


def test_impossible_factors_have_no_likeliest_state():
    states, values = likeliest([Factor((0,), np.zeros(2))], (2,), 3)
    assert (states.shape, values.shape) == ((0, 1), (0,))
