"""What all records have in common: compared by value, hashed alike, frozen, printable."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest

from mixoracle.model import (
    CPDAG,
    Bipartite,
    GaussianComponents,
    JointTable,
    LatentModel,
    Projection,
)


def make_model(weight=0.25):
    return LatentModel(
        observed_names=("X1", "X2"),
        latent_names=("H1",),
        bipartite=np.array([[1], [1]]),
        domain_sizes=(2,),
        joint=JointTable([weight, 1 - weight]),
        latent_graph=CPDAG(1),
        components=[GaussianComponents([[0.0], [1.0]], np.ones((2, 1, 1)))] * 2,
    )


# For each record: a way to make it, and ways to make others that differ in one respect each.
RECORDS = {
    "joint": (
        lambda: JointTable([[0.5, 0.5]]),
        [lambda: JointTable([0.5, 0.5]), lambda: JointTable([[0.25, 0.75]])],
    ),
    "projection": (
        lambda: Projection([[0, 0], [1, 0]], [0.5, 0.5]),
        [
            lambda: Projection([[0, 0], [1, 1]], [0.5, 0.5]),
            lambda: Projection([[0, 0], [1, 0]], [0.25, 0.75]),
        ],
    ),
    "bipartite": (
        lambda: Bipartite([[1, 0], [1, 1]], (2, 3)),
        [
            lambda: Bipartite([[1, 1], [1, 1]], (2, 3)),
            lambda: Bipartite([[1, 0], [1, 1]], (3, 2)),
            lambda: Bipartite([[1, 0], [1, 1]], (2, 3), residual=0.5),
            lambda: Bipartite([[1, 0], [1, 1]], (2, 3), method="als"),
        ],
    ),
    "cpdag": (
        lambda: CPDAG(3, {(0, 1)}, {frozenset({1, 2})}),
        [
            lambda: CPDAG(4, {(0, 1)}, {frozenset({1, 2})}),
            lambda: CPDAG(3, {(1, 0)}, {frozenset({1, 2})}),
            lambda: CPDAG(3, {(0, 1), (1, 2)}),
        ],
    ),
    "components": (
        lambda: GaussianComponents([[0.0], [1.0]], np.ones((2, 1, 1))),
        [
            lambda: GaussianComponents([[1.0], [0.0]], np.ones((2, 1, 1))),
            lambda: GaussianComponents([[0.0], [1.0]], np.full((2, 1, 1), 2.0)),
            lambda: GaussianComponents([[0.0]], np.ones((1, 1, 1))),
        ],
    ),
    "model": (
        make_model,
        [
            lambda: make_model(0.3),
            lambda: dataclasses.replace(make_model(), observed_names=("X1", "Y")),
            lambda: dataclasses.replace(make_model(), latent_names=("L",)),
            lambda: dataclasses.replace(make_model(), components=None),
        ],
    ),
}


@pytest.fixture(params=RECORDS)
def record(request):
    return RECORDS[request.param]


def test_equal_by_value(record):
    make, _ = record
    assert make() == make()
    assert hash(make()) == hash(make())
    assert len({make(), make()}) == 1


def test_unlike_where_anything_differs(record):
    make, others = record
    for other in others:
        assert make() != other()
    assert make() != "something else"


def test_frozen(record):
    held = record[0]()
    for field in dataclasses.fields(held):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(held, field.name, None)
        value = getattr(held, field.name)
        if isinstance(value, np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                value[...] = 0


def test_copies_and_pickles_stay_equal_and_frozen(record):
    held = record[0]()
    for twin in (copy.deepcopy(held), copy.copy(held), pickle.loads(pickle.dumps(held))):
        assert twin == held
        for value in vars(twin).values():
            assert not (isinstance(value, np.ndarray) and value.flags.writeable)


def test_repr_names_the_class(record):
    held = record[0]()
    assert repr(held).startswith(type(held).__name__)


def test_zero_of_either_sign_is_the_same_record():
    plus, minus = JointTable([0.0, 1.0]), JointTable([-0.0, 1.0])
    assert plus == minus
    assert hash(plus) == hash(minus)
