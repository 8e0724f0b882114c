from types import SimpleNamespace

import numpy as np
import pytest

from mixoracle import LatentGraphLearner, SignatureOracle
from mixoracle.datasets import item_problem, paper_problem
from mixoracle.errors import InvalidInputError
from mixoracle.metrics import compare
from mixoracle.trust.starts import MOST_STARTS, _goes_on, _n_agreed


def answer(structure, score, source="projection"):
    return SimpleNamespace(structure=structure, rank=(0, -score), source=source)


def goes_on(answers, n_init="auto", continuous=()):
    return _goes_on(answers, n_init, lambda one: one.structure in continuous)


def test_starts_go_on_until_the_best_answer_was_reached_twice():
    a, b = answer("a", 1.0), answer("b", 2.0)
    assert goes_on([a])
    assert not goes_on([a, a])
    assert goes_on([a, a, b])  # a better one came
    assert not goes_on([a, b, b])
    assert not goes_on([a, *[answer(str(i), float(i)) for i in range(MOST_STARTS - 1)]])
    assert _n_agreed([a, a, b]) == 1


def test_starts_end_where_two_of_them_look_continuous():
    a, b = answer("a", 1.0), answer("b", 2.0)
    assert goes_on([a], continuous="a")
    assert goes_on([a, b], continuous="a")
    assert not goes_on([a, b], continuous="ab")
    assert goes_on([a, b], 3, continuous="ab")


def test_single_variables_need_one_start_unless_more_are_asked_for():
    one = answer("a", 1.0, "signature")
    assert not goes_on([one])
    assert goes_on([one, one], 3)
    assert not goes_on([one, one, one], 3)


def test_the_best_answer_is_kept_and_counted():
    problem = item_problem(1, 4, n_samples=150, random_state=3)
    single = LatentGraphLearner(random_state=0, n_init=1).fit(problem.observations)
    learner = LatentGraphLearner(random_state=0, n_init=2).fit(problem.observations)
    assert learner.n_starts_ == 2
    assert 1 <= learner.n_starts_agreed_ <= 2
    # The first start is that of a learner with one start only; more cannot end lower.
    assert learner.bic_ >= single.bic_ - 1e-6


def test_one_start_for_clear_measurements():
    problem = paper_problem(2, 5, 3, n_samples=500, random_state=1, covariance="code")
    learner = LatentGraphLearner(random_state=0).fit(problem.observations)
    assert (learner.n_starts_, learner.n_starts_agreed_) == (1, 1)


def test_bad_numbers_of_starts_are_refused():
    rows = np.random.default_rng(0).normal(size=(30, 2))
    for wrong in (0, -1, 1.5, "many"):
        with pytest.raises(InvalidInputError, match="n_init"):
            LatentGraphLearner(n_init=wrong).fit(rows)


FEW_ROWS = [((2, 5, 3), 60, 4), ((3, 8, 3), 80, 11)]


@pytest.mark.parametrize(("setting", "rows", "seed"), FEW_ROWS)
def test_what_labels_of_few_rows_merge_is_told_apart_by_all_together(setting, rows, seed):
    problem = paper_problem(*setting, n_samples=rows, random_state=seed)
    learner = LatentGraphLearner(random_state=0).fit(problem.observations)
    found = compare(problem.model, learner.model_)
    assert found.bipartite_exact
    assert found.domains_exact
    # Labels speak for another answer, and of such answers most are wrong somewhere.
    assert learner.verdict_.causes_in_doubt
    assert "Γ and the states were changed after decoding" in " ".join(learner.repairs_)


def test_a_limit_on_components_is_kept_with_few_rows():
    setting, rows, seed = FEW_ROWS[0]
    problem = paper_problem(*setting, n_samples=rows, random_state=seed)
    for limited in (
        LatentGraphLearner(max_components=2, random_state=0),
        LatentGraphLearner(oracle=SignatureOracle(max_components=2), random_state=0),
    ):
        limited.fit(problem.observations)
        assert max(int(limited.counts_[{i}]) for i in range(5)) <= 4
        assert not limited.repairs_ or "changed after decoding" not in limited.repairs_[0]
