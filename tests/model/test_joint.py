import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixoracle.errors import InvalidInputError
from mixoracle.model import JointTable


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ([0.5, 0.6], r"should sum to 1; it sums to 1\.1 \(divide it by its sum\)"),
        ([1.5, -0.5], "cannot be negative; its smallest entry is -0.5"),
        ([np.nan, 1.0], "finite numbers"),
        ([np.inf, 1.0], "finite numbers"),
        (np.ones((2, 0)), r"at least one state for each latent; got shape \(2, 0\)"),
        ("table", "a joint table should be an array of float64"),
        (np.array([1j]), "should hold real numbers"),
        (0.5, "should sum to 1"),
    ],
)
def test_what_is_no_distribution_is_refused(table, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        JointTable(table)


def test_no_latents():
    joint = JointTable(1.0)
    assert (joint.n_latent, joint.domain_sizes) == (0, ())
    assert joint.marginal([]) == joint
    assert repr(joint) == "JointTable(no latents, smallest 1)"


@given(st.permutations([0, 1, 2]), st.integers(0, 3), st.integers(0, 10_000))
def test_marginals_follow_the_order_of_their_latents(order, size, seed):
    table = np.random.default_rng(seed).dirichlet(np.ones(24)).reshape(2, 3, 4)
    kept = order[:size]
    marginal = JointTable(table).marginal(kept)
    letters = "abc"
    expected = np.einsum(f"abc->{''.join(letters[j] for j in kept)}", table)
    assert marginal.domain_sizes == tuple((2, 3, 4)[j] for j in kept)
    np.testing.assert_allclose(marginal.table, expected, rtol=1e-12)


@pytest.mark.parametrize("latents", [[0, 0], [2], [-1]])
def test_marginals_need_distinct_known_latents(latents):
    with pytest.raises(InvalidInputError, match="distinct latents from 0 to 1"):
        JointTable(np.full((2, 2), 0.25)).marginal(latents)


def test_repr_tells_of_empty_cells():
    assert repr(JointTable([[0.0, 0.5], [0.25, 0.25]])) == (
        "JointTable(2×2, smallest 0, 1 of 4 joint states empty)"
    )


def test_html_shows_the_likeliest_cells_first():
    shown = JointTable([[0.1, 0.6], [0.3, 0.0]])._repr_html_()
    assert shown.index("0.6000") < shown.index("0.3000") < shown.index("0.1000")
    assert "not shown" not in shown
    large = JointTable(np.full((5, 5, 2), 0.02))._repr_html_()
    assert "26 rarer joint states not shown" in large
