import numpy as np
import pytest

from mixoracle.model import JointTable
from mixoracle.structure import learn, visible_association


@pytest.mark.parametrize("n_samples", [300, 3_000])
def test_an_association_of_the_reported_size_is_found_in_four_samples_of_five(n_samples):
    rng = np.random.default_rng(n_samples)
    size = visible_association(n_samples, (2, 2))
    # For two fair binary latents Cramér's V is the correlation.
    table = np.array([[1 + size, 1 - size], [1 - size, 1 + size]]) / 4
    found = 0
    for _ in range(400):
        counts = rng.multinomial(n_samples, table.ravel()).reshape(2, 2)
        found += bool(learn(JointTable(counts / n_samples), n_samples).skeleton)
    assert found / 400 == pytest.approx(0.8, abs=0.06)


def test_more_cases_show_more_and_more_states_need_more():
    sizes = [visible_association(n, (3, 2)) for n in (100, 1_000, 10_000)]
    assert sizes == sorted(sizes, reverse=True)
    assert visible_association(1_000, (2, 2), 6) > visible_association(1_000, (2, 2))
    assert visible_association(5, (6, 6)) == 1.0
    assert visible_association(1, (2, 2)) == 1.0
    assert visible_association(100, (1, 3)) == 1.0
