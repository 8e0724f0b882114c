import numpy as np
import pytest

from mixoracle.model import JointTable
from mixoracle.structure import learn, visible_association


@pytest.mark.parametrize("n_samples", [300, 3_000])
@pytest.mark.parametrize("first", [0.5, 0.2])
def test_an_association_of_the_reported_size_is_found_in_four_samples_of_five(n_samples, first):
    rng = np.random.default_rng(n_samples)
    size = visible_association(n_samples, (2, 2))
    # For binary latents Cramér's V is the correlation.
    shift = size * first * (1 - first) * np.array([[1, -1], [-1, 1]])
    table = np.outer([first, 1 - first], [first, 1 - first]) + shift
    found = 0
    for _ in range(200):
        counts = rng.multinomial(n_samples, table.ravel()).reshape(2, 2)
        found += bool(learn(JointTable(counts / n_samples), n_samples).skeleton)
    # Two standard errors of 200 samples.
    assert found / 200 > 0.8 - 2 * np.sqrt(0.8 * 0.2 / 200)


def test_more_cases_show_more_and_more_states_need_more():
    sizes = [visible_association(n, (3, 2)) for n in (100, 1_000, 10_000)]
    assert sizes == sorted(sizes, reverse=True)
    assert visible_association(1_000, (2, 2), 6) > visible_association(1_000, (2, 2))
    assert visible_association(5, (6, 6)) == 1.0
    assert visible_association(1, (2, 2)) == 1.0
    assert visible_association(100, (1, 3)) == 1.0
