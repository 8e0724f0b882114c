from itertools import product

import numpy as np
import pytest

from mixoracle.errors import InvalidInputError
from mixoracle.model import JointTable
from mixoracle.model.graphs import find_cycle
from mixoracle.structure import Knowledge, close_classes, learn
from mixoracle.structure.close import close_dags
from mixoracle.structure.scores import BIC, local_scores, total


def random_table(seed, sizes=(2, 2, 3)):
    rng = np.random.default_rng(seed)
    return JointTable(rng.dirichlet(np.full(int(np.prod(sizes)), 3.0)).reshape(sizes))


def all_dags(m):
    pairs = [(i, j) for i in range(m) for j in range(i + 1, m)]
    for edges in product((None, 0, 1), repeat=len(pairs)):
        dag = frozenset(
            pair[::-1] if way else pair
            for pair, way in zip(pairs, edges, strict=True)
            if way is not None
        )
        if not find_cycle(dag):
            yield dag


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("m", [3, 4])
def test_all_dags_within_a_wide_difference_are_found(seed, m):
    score = BIC(random_table(seed, (2,) * m), 60)
    dags = {dag: total(score, dag) for dag in all_dags(m)}
    best = max(dags, key=dags.get)
    close = {dag for dag, held in dags.items() if held >= dags[best] - 6.0}
    found = dict((dag, gap) for gap, dag in close_dags(local_scores(score), best, 6.0, 1_000))
    # A class that only worse ones lead to may be missing: none of these is.
    assert set(found) == close
    for dag, gap in found.items():
        assert gap == pytest.approx(dags[best] - dags[dag], abs=1e-9)


def test_nearest_first_and_no_more_than_asked_for():
    score = BIC(random_table(0), 60)
    best = max(all_dags(3), key=lambda dag: total(score, dag))
    gaps = [gap for gap, _ in close_dags(local_scores(score), best, 50.0, 1_000)]
    assert gaps == sorted(gaps)
    assert len(gaps) == 25
    assert len(list(close_dags(local_scores(score), best, 50.0, 7))) == 7


@pytest.mark.parametrize("seed", range(10))
def test_classes_come_once_and_the_best_is_the_learned_one(seed):
    joint = random_table(seed)
    found = close_classes(joint, 80, within=4.0)
    graphs = [graph for graph, _ in found]
    assert graphs[0] == learn(joint, 80)
    assert found[0][1] == 0.0
    assert len(set(graphs)) == len(graphs) > 1
    gaps = [gap for _, gap in found[1:]]
    assert gaps == sorted(gaps)
    assert gaps[-1] <= 4.0
    # More evidence than that of the class that was taken only with more edges.
    assert all(len(g.skeleton) > len(graphs[0].skeleton) for g, gap in found if gap < -1e-9)


def test_strong_dependence_leaves_one_class():
    assert len(close_classes(JointTable([[0.4, 0.1], [0.1, 0.4]]), 500)) == 1


def test_knowledge_holds_in_all_of_them():
    known = Knowledge(required=[(0, 1)], forbidden=[(0, 2), (2, 0)])
    for graph, _ in close_classes(random_table(3), 60, known, within=8.0):
        assert (0, 1) in graph.directed
        assert frozenset((0, 2)) not in graph.skeleton


@pytest.mark.parametrize(
    ("joint", "n_samples"),
    [
        (JointTable(np.full((2,) * 13, 2.0**-13)), 100),
        (random_table(0), -1),
        (random_table(0), float("nan")),
    ],
)
def test_too_many_latents_and_no_sample_size_are_refused(joint, n_samples):
    with pytest.raises(InvalidInputError):
        close_classes(joint, n_samples)
