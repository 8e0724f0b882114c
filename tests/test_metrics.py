"""Comparison of models up to relabelling, with every kind of edge counted by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixoracle import metrics
from mixoracle.datasets import (
    independent_latents,
    nonidentifiable_a,
    random_components,
    random_model,
    sample,
    single_latent,
    subset_violation_a,
)
from mixoracle.errors import InvalidInputError
from mixoracle.metrics import (
    Matching,
    compare,
    compare_states,
    match_latents,
    relabel,
    structural_distance,
)
from mixoracle.model import CPDAG, GaussianComponents, JointTable, LatentModel


def plain_model(
    gamma: list[list[int]],
    directed: tuple[tuple[int, int], ...] = (),
    undirected: tuple[tuple[int, int], ...] = (),
    sizes: tuple[int, ...] | None = None,
) -> LatentModel:
    adjacency = np.array(gamma, dtype=bool)
    n_observed, n_latent = adjacency.shape
    sizes = (2,) * n_latent if sizes is None else sizes
    return LatentModel(
        observed_names=tuple(f"X{i + 1}" for i in range(n_observed)),
        latent_names=tuple(f"H{j + 1}" for j in range(n_latent)),
        bipartite=adjacency,
        domain_sizes=sizes,
        joint=JointTable(np.full(sizes, 1 / np.prod(sizes))),
        latent_graph=CPDAG(n_latent, frozenset(directed), frozenset(map(frozenset, undirected))),
    )


def random_orders(
    model: LatentModel, rng: np.random.Generator
) -> tuple[list[int], list[list[int]]]:
    latents = rng.permutation(model.n_latent).tolist()
    return latents, [rng.permutation(model.domain_sizes[j]).tolist() for j in latents]


@pytest.mark.parametrize("seed", range(30))
def test_a_model_equals_itself_under_every_relabelling(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_latent = int(rng.integers(1, 6))
    model = random_model(n_latent, 9, 4, rng, covariance=None, max_joint_states=200)
    latents, states = random_orders(model, rng)
    moved = relabel(model, latents, states)
    result = compare(model, moved)
    assert result.shd == 0
    assert result.oriented_unknown == 0
    assert result.unoriented_correct == len(model.latent_graph.undirected)
    assert result.bipartite_exact
    assert result.domains_exact
    assert result.joint_tv == 0.0
    back = relabel(moved, result.matching.latents, result.matching.states)  # type: ignore[arg-type]
    assert back == model
    assert match_latents(model, moved) == result.matching


IDENTITY = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_bipartite_edges_by_hand() -> None:
    changed = [row.copy() for row in IDENTITY]
    changed[0] = [1, 1, 1]  # two extra
    changed[4] = [0, 0, 0]  # one missing
    result = compare(plain_model(IDENTITY), plain_model(changed))
    assert (result.bipartite_extra, result.bipartite_missing) == (2, 1)
    assert (result.extra, result.missing, result.reversed, result.shd) == (2, 1, 0, 3)
    assert not result.bipartite_exact
    assert result.domains_exact


@pytest.mark.parametrize(
    ("truth", "estimate", "expected"),
    [
        # Expected are extra, missing, reversed; right but unoriented; oriented where unknown.
        ({"directed": ((0, 1),)}, {"directed": ((0, 1),)}, (0, 0, 0, 0, 0)),
        ({"directed": ((0, 1),)}, {"directed": ((1, 0),)}, (0, 0, 1, 0, 0)),
        ({"directed": ((0, 1),)}, {"undirected": ((0, 1),)}, (0, 0, 0, 1, 0)),
        ({"undirected": ((0, 1),)}, {"undirected": ((0, 1),)}, (0, 0, 0, 1, 0)),
        ({"undirected": ((0, 1),)}, {"directed": ((1, 0),)}, (0, 0, 0, 0, 1)),
        ({"undirected": ((0, 1),)}, {"directed": ((0, 1),)}, (0, 0, 0, 0, 1)),
        ({"directed": ((0, 1),)}, {}, (0, 1, 0, 0, 0)),
        ({"undirected": ((0, 1),)}, {}, (0, 1, 0, 0, 0)),
        ({}, {"directed": ((0, 1),)}, (1, 0, 0, 0, 0)),
        ({}, {"undirected": ((0, 1),)}, (1, 0, 0, 0, 0)),
        ({"directed": ((0, 1),)}, {"undirected": ((1, 2),)}, (1, 1, 0, 0, 0)),
        (
            {"directed": ((0, 1), (2, 1))},
            {"directed": ((1, 0), (0, 2)), "undirected": ((1, 2),)},
            (1, 0, 1, 1, 0),
        ),
    ],
)
def test_latent_edges_by_hand(
    truth: dict[str, tuple[tuple[int, int], ...]],
    estimate: dict[str, tuple[tuple[int, int], ...]],
    expected: tuple[int, ...],
) -> None:
    rng = np.random.default_rng(0)
    true_model, estimated = plain_model(IDENTITY, **truth), plain_model(IDENTITY, **estimate)
    for order in permutations(range(3)):
        result = compare(true_model, relabel(estimated, order, [rng.permutation(2)] * 3))  # type: ignore[list-item]
        assert expected == (
            result.latent_extra,
            result.latent_missing,
            result.reversed,
            result.unoriented_correct,
            result.oriented_unknown,
        )
        assert result.shd == sum(expected[:3])
        assert result.bipartite_exact


def test_too_few_latents() -> None:
    truth = plain_model(IDENTITY, directed=((0, 1), (2, 1)))
    # The estimate lacks H_1, whose two children and whose arrow are missing.
    estimate = plain_model([row[1:] for row in IDENTITY], directed=((1, 0),))
    result = compare(truth, estimate)
    assert (result.bipartite_missing, result.latent_missing, result.shd) == (2, 1, 3)
    assert result.matching == Matching((None, 0, 1), None)
    assert not result.bipartite_exact
    assert not result.domains_exact
    assert np.isnan(result.joint_tv)


def test_too_many_latents() -> None:
    truth = plain_model([row[1:] for row in IDENTITY], directed=((1, 0),))
    estimate = plain_model(IDENTITY, directed=((0, 1), (2, 1)))
    result = compare(truth, estimate)
    assert (result.bipartite_extra, result.latent_extra, result.shd) == (2, 1, 3)
    assert result.matching.latents == (1, 2)
    # A surplus latent without any edge is no edge error, but Γ is not the true one.
    idle = plain_model([[*row[1:], 0] for row in IDENTITY], directed=((1, 0),))
    assert compare(truth, idle).shd == 0
    assert not compare(truth, idle).bipartite_exact


def test_against_nothing() -> None:
    nothing = plain_model([[], [], [], [], [], []])
    truth = plain_model(IDENTITY, undirected=((0, 1),))
    assert compare(truth, nothing).missing == 7
    assert compare(nothing, truth).extra == 7
    assert compare(nothing, nothing).shd == 0
    assert compare(nothing, nothing).joint_tv == 0.0


def test_ties_go_to_equal_domain_sizes_then_to_the_joint() -> None:
    # Γ and Λ are symmetric in the two latents: only their sizes, or P(H), tell them apart.
    truth = plain_model([[1, 1], [1, 1]], sizes=(2, 3))
    assert match_latents(truth, relabel(truth, [1, 0])).latents == (1, 0)
    assert compare(truth, relabel(truth, [1, 0])).domains_exact
    joint = JointTable(np.outer([0.5, 0.3, 0.2], [0.6, 0.3, 0.1]))
    skewed = replace(plain_model([[1, 1], [1, 1]], sizes=(3, 3)), joint=joint)
    for order in ([0, 1], [1, 0]):
        result = compare(skewed, relabel(skewed, order))
        assert result.joint_tv == 0.0
        assert result.matching.latents == tuple(order)


def test_wrong_domain_sizes() -> None:
    truth, estimate = plain_model([[1], [1]], sizes=(2,)), plain_model([[1], [1]], sizes=(3,))
    result = compare(truth, estimate)
    assert result.shd == 0
    assert result.bipartite_exact
    assert not result.domains_exact
    assert np.isnan(result.joint_tv)
    assert result.matching == Matching((0,), None)


def brute_shd(truth: LatentModel, estimate: LatentModel) -> int:
    """The smallest SHD over all matchings, edge by edge."""
    n_padded = max(truth.n_latent, estimate.n_latent)

    def edges(model: LatentModel, place: tuple[int, ...]) -> dict[frozenset[object], object]:
        found: dict[frozenset[object], object] = {
            frozenset({f"X{i}", place[j]}): "down" for i, j in np.argwhere(model.bipartite)
        }
        graph = model.latent_graph
        found |= {frozenset({place[i], place[j]}): (place[i], place[j]) for i, j in graph.directed}
        found |= {frozenset(place[i] for i in pair): None for pair in graph.undirected}
        return found

    true_edges = edges(truth, tuple(range(n_padded)))
    best = np.inf
    for place in permutations(range(n_padded)):
        guessed = edges(estimate, place)
        shared = true_edges.keys() & guessed.keys()
        reversed_ = sum(
            None not in (true_edges[e], guessed[e]) and true_edges[e] != guessed[e] for e in shared
        )
        best = min(best, len(true_edges.keys() ^ guessed.keys()) + reversed_)
    return int(best)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_shd_is_the_smallest_over_all_matchings(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = random_model(int(rng.integers(1, 5)), 6, 3, rng, covariance=None)
    other = random_model(int(rng.integers(1, 5)), 6, 3, rng, covariance=None)
    assert compare(truth, other).shd == brute_shd(truth, other) == compare(other, truth).shd


@pytest.mark.parametrize("seed", range(40))
def test_assignment_path_finds_the_exact_matching(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    truth = random_model(5, 9, 3, rng, covariance=None, max_joint_states=250)
    estimate = relabel(truth, *random_orders(truth, rng))
    gamma = estimate.bipartite.copy()
    flips = rng.integers(0, [9, 5], size=(3, 2))
    gamma[flips[:, 0], flips[:, 1]] ^= True
    estimate = replace(estimate, bipartite=gamma)
    exact = compare(truth, estimate)
    monkeypatch.setattr(metrics.matching, "_MAX_EXACT_LATENTS", 0)
    assigned = compare(truth, estimate)
    assert assigned.shd == exact.shd
    assert assigned.matching.latents == exact.matching.latents


def test_assignment_path_uses_the_latent_graph() -> None:
    # Γ cannot tell ten latents apart, the chain among them can: swaps find the way back from a
    # transposition.
    chain = tuple((j, j + 1) for j in range(9))
    truth = plain_model([[1] * 10, [1] * 10], directed=chain)
    swapped = relabel(truth, [0, 1, 2, 4, 3, 5, 6, 7, 8, 9])
    assert compare(truth, swapped).shd == 0


def test_distances_of_two_graphs_by_hand() -> None:
    truth = CPDAG(5, frozenset({(0, 1), (2, 1), (1, 3)}), frozenset({frozenset((3, 4))}))
    found = CPDAG(5, frozenset({(1, 0), (3, 4)}), frozenset({frozenset((1, 3)), frozenset((0, 4))}))
    # 0—4 is extra, 2→1 missing, 0→1 reversed; 1→3 and 3—4 differ in their direction alone.
    assert structural_distance(truth, found) == 3
    assert structural_distance(truth, found, strict=True) == 5
    assert structural_distance(truth, truth, strict=True) == 0
    assert structural_distance(truth, CPDAG(2)) == 4


def test_many_latents() -> None:
    rng = np.random.default_rng(5)
    model = random_model(12, 30, 2, rng, covariance=None, max_joint_states=None)
    latents, states = random_orders(model, rng)
    moved = relabel(model, latents, states)
    result = compare(model, moved)
    assert result.shd == 0
    assert result.joint_tv == 0.0
    assert relabel(moved, result.matching.latents, result.matching.states) == model  # type: ignore[arg-type]


def brute_tv(truth: np.ndarray, estimate: np.ndarray) -> float:
    orders = product(*(permutations(range(size)) for size in truth.shape))
    return min(0.5 * float(np.abs(truth - estimate[np.ix_(*order)]).sum()) for order in orders)


@pytest.mark.parametrize("sizes", [(4,), (2, 3), (3, 3), (2, 2, 3), (4, 3)])
@pytest.mark.parametrize("seed", range(5))
def test_joint_distance_is_the_smallest_over_all_state_orders(
    sizes: tuple[int, ...], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    # One observed variable for each latent fixes the matching of the latents.
    base = plain_model(np.eye(len(sizes), dtype=int).tolist(), sizes=sizes)
    first, second = (
        replace(base, joint=JointTable(rng.dirichlet(np.ones(np.prod(sizes))).reshape(sizes)))
        for _ in range(2)
    )
    expected = brute_tv(first.joint.table, second.joint.table)
    result = compare(first, second)
    assert result.joint_tv == pytest.approx(expected, abs=1e-12)
    assert result.matching.states is not None
    aligned = relabel(second, range(len(sizes)), result.matching.states)
    achieved = 0.5 * np.abs(first.joint.table - aligned.joint.table).sum()
    assert achieved == pytest.approx(expected, abs=1e-12)
    # The local search of large tables, on tables that can still be enumerated.
    monkeypatch.setattr(metrics.relabelling, "_MAX_STATE_ORDERS", 0)
    assert compare(first, second).joint_tv == pytest.approx(expected, abs=1e-12)


def test_joint_distance_by_hand() -> None:
    first = replace(plain_model([[1]]), joint=JointTable(np.array([0.7, 0.3])))
    second = replace(plain_model([[1]]), joint=JointTable(np.array([0.2, 0.8])))
    result = compare(first, second)
    assert result.joint_tv == pytest.approx(0.1)
    assert result.matching.states == ((1, 0),)


def test_observed_variables_are_matched_by_name() -> None:
    model = random_model(3, 7, 3, 1, "text", width=2)
    order = np.random.default_rng(1).permutation(7)
    assert model.components is not None
    moved = replace(
        model,
        observed_names=tuple(model.observed_names[i] for i in order),
        bipartite=model.bipartite[order],
        components=tuple(model.components[i] for i in order),
    )
    assert compare(model, moved).shd == 0
    renamed = replace(model, observed_names=tuple("abcdefg"))
    with pytest.raises(InvalidInputError, match="matched by name, and the truth has no 'a'"):
        compare(model, renamed)
    with pytest.raises(InvalidInputError, match="the truth has 7 and the estimate 2"):
        compare(model, single_latent())


def test_comparison_reads_well() -> None:
    # The neighbourhoods are {X1} and {X1, X2} in the truth, {X2} and {X1, X2} in the estimate;
    # P(H) is (1, 2, 2, 4)/9 against (1/4, 1/4, 1/4, 1/4).
    assert repr(compare(subset_violation_a(), nonidentifiable_a())) == (
        "Comparison(SHD 2: 1 extra, 1 missing, 0 reversed; 0 right but unoriented; "
        "Γ wrong, domain sizes exact, P(H) off by 0.194)"
    )


@pytest.mark.parametrize("seed", range(10))
def test_relabelling_keeps_the_distribution_of_x(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_model(3, 5, 4, rng, "text", width=2, max_joint_states=40)
    latents, states = random_orders(model, rng)
    moved = relabel(model, latents, states)
    assert moved.latent_names == tuple(model.latent_names[j] for j in latents)
    assert model.components is not None
    assert moved.components is not None
    for cell in np.ndindex(*moved.domain_sizes):
        old = np.zeros((1, 3), dtype=np.int64)
        for a, state in enumerate(cell):
            old[0, latents[a]] = states[a][state]
        assert moved.joint.table[cell] == model.joint.table[tuple(old[0])]
        new_labels = moved.component_of_states(np.array([cell]))[0]
        old_labels = model.component_of_states(old)[0]
        for before, after, o, n in zip(
            model.components, moved.components, old_labels, new_labels, strict=True
        ):
            assert isinstance(before, GaussianComponents)
            assert isinstance(after, GaussianComponents)
            assert np.array_equal(before.means[o], after.means[n])
            assert np.array_equal(before.covariances[o], after.covariances[n])
    back = np.argsort(latents)
    inverse = [np.argsort(states[a]).tolist() for a in back]
    assert relabel(moved, back.tolist(), inverse) == model


@pytest.mark.parametrize(
    ("latents", "states", "message"),
    [
        ([0, 0], None, r"latent_order should name each of 0 to 1 once; got \[0, 0\]"),
        ([0], None, "latent_order should name each of 0 to 1 once"),
        ([1, 0], [[0, 1]], "one order for each of the 2 latents; got 1"),
        ([1, 0], [[0, 1], [1, 1]], r"state_orders\[1\] should name each of 0 to 1 once"),
    ],
)
def test_bad_orders(latents: list[int], states: list[list[int]] | None, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        relabel(independent_latents(), latents, states)


@pytest.mark.parametrize("seed", range(10))
def test_states_agree_up_to_names(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_components(random_model(3, 6, 4, rng, covariance=None), rng)
    states = sample(model, 400, rng)[1]
    latents, orders = random_orders(model, rng)
    renamed = np.stack([np.argsort(orders[a])[states[:, j]] for a, j in enumerate(latents)], axis=1)
    agreement = compare_states(states, renamed)
    assert agreement.accuracy == (1.0, 1.0, 1.0)
    assert agreement.joint_accuracy == 1.0
    assert agreement.matching.latents == tuple(int(a) for a in np.argsort(latents))


def test_wrong_states_are_counted() -> None:
    truth = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 25)
    estimate = truth.copy()
    estimate[:10, 0] = 1 - estimate[:10, 0]
    estimate[5:25, 1] = 1 - estimate[5:25, 1]
    agreement = compare_states(truth, estimate)
    assert agreement.accuracy == (0.9, 0.8)
    assert agreement.joint_accuracy == 0.75
    assert agreement.matching == Matching((0, 1), ((0, 1), (0, 1)))


def test_states_of_another_number_of_latents() -> None:
    truth = np.array([[0, 0], [0, 1], [1, 0], [2, 1]])
    agreement = compare_states(truth, truth[:, [1]])
    assert np.isnan(agreement.accuracy[0])
    assert agreement.accuracy[1] == 1.0
    assert np.isnan(agreement.joint_accuracy)
    assert agreement.matching == Matching((None, 0), None)
    # More states than there are: each true state still finds one partner at most.
    assert compare_states([[0], [0], [0]], [[0], [1], [2]]).accuracy == (1 / 3,)


@pytest.mark.parametrize(
    ("truth", "estimate", "message"),
    [
        ([0, 1], [[0], [1]], r"true_states should have shape \(n_samples, n_latent\)"),
        ([[0], [1]], [[0]], "same rows; got 2 and 1"),
        ([[0], [-1]], [[0], [1]], "true_states count from 0; got -1"),
        ([[0], [1]], [[0], [0.5]], "estimated_states should be whole numbers"),
    ],
)
def test_bad_states(truth: object, estimate: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        compare_states(truth, estimate)
