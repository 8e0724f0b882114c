import copy
import pickle

import numpy as np
import pytest

from mixoracle.errors import InvalidInputError
from mixoracle.oracles import ComponentCount, ComponentCounts


@pytest.fixture
def counts():
    """Counts that tell which positions were asked for."""
    return ComponentCounts(("a", "b", "c"), lambda subset: sum(10**place for place in subset))


def test_a_count_is_an_int_that_carries_its_evidence():
    count = ComponentCount(6, confidence=0.9, seen=7)
    assert count == 6
    assert isinstance(count, int)
    assert (count.confidence, count.seen) == (0.9, 7)
    assert repr(count) == "ComponentCount(6, confidence=0.900, seen=7)"
    assert repr(ComponentCount(6, seen=6)) == "ComponentCount(6)"


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))]
)
def test_a_copy_keeps_the_evidence(again):
    held = again(ComponentCount(6, confidence=0.9, seen=7))
    assert (held, held.confidence, held.seen) == (6, 0.9, 7)


@pytest.mark.parametrize(
    ("subset", "expected"),
    [
        ([], 0),
        (0, 1),
        ("b", 10),
        ({0, 2}, 101),
        (["a", 2], 101),
        (("c", "c"), 100),
        (np.array([0, 1]), 11),
        (np.int64(1), 10),
        (range(3), 111),
    ],
)
def test_members_may_be_positions_or_names(counts, subset, expected):
    found = counts[subset]
    assert isinstance(found, ComponentCount)
    assert found == expected


def test_evidence_passes_through():
    held = ComponentCounts(("a",), lambda _: ComponentCount(3, confidence=0.5))
    assert held["a"].confidence == 0.5


@pytest.mark.parametrize(
    ("subset", "match"),
    [
        ("d", "no observed variable is called 'd'; there are a, b, c"),
        ([0, "d"], "no observed variable is called 'd'; there are a, b, c"),
        (3, "numbered 0 to 2; got 3"),
        (-1, "numbered 0 to 2; got -1"),
        ([0, 3], "numbered 0 to 2; got 3"),
    ],
)
def test_unknown_members_are_named(counts, subset, match):
    with pytest.raises(InvalidInputError, match=match):
        counts[subset]


def test_it_shows_the_counts_of_single_variables(counts):
    assert repr(counts) == "ComponentCounts(a: 1, b: 10, c: 100)"
