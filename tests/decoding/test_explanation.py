import numpy as np
import pytest

from mixoracle.decoding.explanation import Explanation, Move, Proposal

ADJACENCY = np.array([[True, False], [True, True], [False, True]])


def explanation(adjacency, sizes, assignment=(0,)):
    return Explanation(adjacency, sizes, np.array(assignment), -1.0, True)


def test_the_order_of_the_latents_does_not_change_the_structure():
    first = explanation(ADJACENCY, (2, 3))
    second = explanation(ADJACENCY[:, ::-1], (3, 2))
    assert first.structure == second.structure
    assert sorted(first.latents) == sorted(second.latents)


@pytest.mark.parametrize(
    ("adjacency", "sizes"),
    [
        (ADJACENCY, (3, 2)),
        (ADJACENCY[:, ::-1], (2, 3)),
        (ADJACENCY[[1, 0, 2]], (2, 3)),
        (ADJACENCY[:, :1], (2,)),
        (ADJACENCY[:, [0, 1, 1]], (2, 3, 3)),
    ],
)
def test_edges_and_domain_sizes_do(adjacency, sizes):
    assert explanation(adjacency, sizes).structure != explanation(ADJACENCY, (2, 3)).structure


def test_latents_are_their_children_and_their_number_of_states():
    assert explanation(ADJACENCY, (2, 3)).latents == (((0, 1), 2), ((1, 2), 3))


def test_states_are_the_assignment_taken_apart():
    found = explanation(ADJACENCY, (2, 3), [0, 2, 3, 5])
    assert found.states.tolist() == [[0, 0], [0, 2], [1, 0], [1, 2]]


def test_without_latents_there_are_no_states():
    found = explanation(np.zeros((3, 0), dtype=bool), (), [0, 0])
    assert (found.states.shape, found.structure, found.latents) == ((2, 0), (), ())


def test_a_proposal_has_the_sizes_of_its_states():
    proposal = Proposal.of_all(np.array([[0, 2], [1, 0], [0, 1]]))
    assert proposal.kept.all()
    assert proposal.domain_sizes == (2, 3)
    assert Proposal.of_all(np.zeros((4, 0), dtype=np.int64)).domain_sizes == ()


def test_a_move_in_words():
    names = ["X1", "X2", "X3"]
    drop = Move("dropped a latent", (((0, 1), 2),), (), 3.25)
    assert drop.describe(names) == "dropped a latent: X1, X2 (2 states) became none: +3.2"
    edge = Move("merged states", (((0,), 4),), (((0, 2), 3),), 0.061)
    assert edge.describe(names) == "merged states: X1 (4 states) became X1, X3 (3 states): +0.1"
    apart = Move("took a latent apart", (((0,), 4),), (((0,), 2), ((1,), 2)), 1.0)
    assert apart.describe(names).endswith("X1 (2 states) and X2 (2 states): +1.0")
