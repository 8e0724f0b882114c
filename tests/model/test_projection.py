import pytest

from mixoracle.errors import InvalidInputError
from mixoracle.model import Projection


@pytest.mark.parametrize(
    ("labels", "weights", "sentence"),
    [
        ([[0, 1]], [0.5, 0.5], r"weights of shape \(K,\)"),
        ([0, 1], [0.5, 0.5], r"labels of shape \(K, n_observed\)"),
        ([], [], "K at least 1"),
        ([[0], [-1]], [0.5, 0.5], "labels count from 0; got -1"),
        ([[0], [0.5]], [0.5, 0.5], "labels should be whole numbers"),
        ([[0], [1]], [0.5, 0.6], "weights should sum to 1; got 1.1"),
        ([[0], [1]], [1.5, -0.5], "finite and non-negative"),
        ([[0], [1]], [float("nan"), 1], "finite and non-negative"),
    ],
)
def test_what_is_no_projection_is_refused(labels, weights, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        Projection(labels, weights)


def test_sizes_and_repr():
    projection = Projection([[0, 0], [1, 0], [1, 2]], [0.5, 0.25, 0.25])
    assert (projection.n_components, projection.n_observed) == (3, 2)
    assert repr(projection) == "Projection(3 components over X, [2, 2] over the observed variables)"
