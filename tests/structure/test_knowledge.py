import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixoracle.errors import InvalidInputError, KnowledgeConflictError
from mixoracle.structure import Knowledge

NAMES = ["age", "skill", "mood"]


def test_names_and_numbers_mean_the_same():
    by_name = Knowledge([("age", "skill")], [("mood", "age")], [["age"], ["skill"]])
    by_number = Knowledge([(0, 1)], [(2, 0)], [[0], [1]])
    assert by_name.resolved(NAMES) == by_number.resolved(NAMES)
    assert by_name.resolved(NAMES).forbidden == {(2, 0), (1, 0)}


@settings(deadline=None)
@given(st.permutations(range(5)), st.integers(1, 5))
def test_tiers_forbid_all_that_runs_back_in_time(order, n_tiers):
    tiers = [order[k::n_tiers] for k in range(n_tiers)]
    known = Knowledge(tiers=tiers).resolved(list("abcde"))
    tier_of = {node: k for k, tier in enumerate(tiers) for node in tier}
    backwards = {(i, j) for i in range(5) for j in range(5) if tier_of[i] > tier_of[j]}
    assert known.forbidden == backwards


@pytest.mark.parametrize(
    ("knowledge", "words"),
    [
        (Knowledge([("age", "skill")], [("age", "skill")]), "age→skill is both"),
        (Knowledge([("mood", "age")], tiers=[["age"], ["mood"]]), "mood→age is both"),
        (Knowledge([(0, 1), (1, 2), (2, 0)]), "cycle age→skill→mood→age"),
        (Knowledge([(0, 1), (1, 0)]), "cycle age→skill→age"),
        (Knowledge([(1, 1)]), "cannot cause itself"),
        (Knowledge(tiers=[["age"], ["age", "mood"]]), "age is in more than one tier"),
    ],
)
def test_contradictions_are_refused_by_name(knowledge, words):
    with pytest.raises(KnowledgeConflictError, match=words):
        knowledge.resolved(NAMES)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Knowledge([("height", "age")]).resolved(NAMES), "'height', but the latents are"),
        (lambda: Knowledge([(0, 3)]).resolved(NAMES), "latent 3"),
        (lambda: Knowledge(["ab"]), r"pairs \(cause, effect\)"),
        (lambda: Knowledge([("a", "b", "c")]), r"pairs \(cause, effect\)"),
        (lambda: Knowledge(tiers=["age", "mood"]), "got one string"),
    ],
)
def test_what_cannot_be_understood_is_refused(make, words):
    with pytest.raises(InvalidInputError, match=words):
        make()
