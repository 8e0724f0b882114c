from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixoracle.assumptions import (
    Verdict,
    check,
    column_independence,
    maximality,
    no_twins,
    nondegeneracy_distinct,
    nondegeneracy_positive,
    span_condition,
    subset_condition,
)
from mixoracle.datasets import examples
from mixoracle.errors import InvalidInputError
from mixoracle.model import CPDAG, Bipartite, GaussianComponents, JointTable, LatentModel


def line_components(means):
    """One component on the line for each mean; equal means are equal components."""
    means = np.asarray(means, dtype=float).reshape(-1, 1)
    return GaussianComponents(means, np.ones((len(means), 1, 1)))


def make_model(bipartite, sizes, joint=None, components="distinct"):
    bipartite = np.asarray(bipartite, dtype=bool)
    n, m = bipartite.shape
    if joint is None:
        joint = np.full(sizes, 1 / np.prod(sizes))
    if components == "distinct":
        counts = [np.prod(np.asarray(sizes)[row], dtype=int) for row in bipartite]
        components = [line_components(range(k)) for k in counts]
    return LatentModel(
        observed_names=[f"X{i + 1}" for i in range(n)],
        latent_names=[f"H{j + 1}" for j in range(m)],
        bipartite=bipartite,
        domain_sizes=sizes,
        joint=JointTable(joint),
        latent_graph=CPDAG(m),
        components=components,
    )


def failed(model):
    return {verdict.label for verdict in check(model) if verdict.holds is False}


# --- the record ---


def test_a_verdict_names_offenders_exactly_when_it_fails():
    with pytest.raises(InvalidInputError, match="exactly when"):
        Verdict("x", "x", True, "fine", (("H1",),))
    with pytest.raises(InvalidInputError, match="exactly when"):
        Verdict("x", "x", False, "broken")
    assert (
        str(Verdict("x", "x", None, "Who knows."))
        == "x: cannot be checked with these data. Who knows."
    )


def test_check_answers_every_assumption_once():
    verdicts = check(make_model(np.eye(3), (2, 3, 2)))
    assert [v.label for v in verdicts] == [
        "assm:twins",
        "assm:minimal",
        "assump:strong:NZ",
        "assump:strong:SDC",
        "assum:ssc",
        "thm:hidden-bipartite:eff",
        "thm:recovery:eff",
    ]
    assert all(v.holds for v in verdicts)


# --- conditions on Γ ---


def test_twins_are_named_with_what_they_drive():
    verdict = no_twins(Bipartite([[0, 1, 0, 1], [1, 0, 0, 0], [0, 1, 1, 1]], (2, 2, 2, 3)))
    assert verdict.holds is False
    assert verdict.offenders == (("H2", "H4"),)
    assert verdict.message == (
        "The same measurements (X1, X3) are driven by H2 and by H4: no data can tell them apart."
    )


def test_a_childless_latent_counts_against_no_twins():
    verdict = no_twins(make_model([[1, 0]], (2, 2)))
    assert verdict.offenders == (("H2",),)
    assert "Nothing is driven by" in verdict.message


def test_a_models_own_names_are_used():
    model = LatentModel(
        observed_names=["pump", "fan"],
        latent_names=["wear", "load"],
        bipartite=[[1, 1], [1, 0]],
        domain_sizes=(2, 2),
        joint=JointTable(np.full((2, 2), 0.25)),
        latent_graph=CPDAG(2),
    )
    verdict = subset_condition(model)
    assert verdict.offenders == (("load", "wear"),)
    assert "all that load drives (pump), wear drives as well" in verdict.message.lower()


def test_many_offenders_are_counted_in_the_message_and_all_kept():
    verdict = subset_condition(Bipartite(np.ones((2, 3)), (2, 2, 2)))
    assert len(verdict.offenders) == 6
    assert verdict.message.endswith("And 3 more like it.")


adjacencies = st.integers(1, 6).flatmap(
    lambda n: st.lists(
        st.lists(st.booleans(), min_size=n, max_size=n).filter(any), min_size=1, max_size=6
    ).map(lambda columns: np.array(columns).T)
)


@given(adjacencies)
def test_graph_conditions_agree_with_their_definitions(adjacency):
    m = adjacency.shape[1]
    graph = Bipartite(adjacency, (2,) * m)
    children = [frozenset(np.flatnonzero(column)) for column in adjacency.T]
    assert no_twins(graph).holds == (len(set(children)) == m)
    assert subset_condition(graph).holds == all(
        not children[i] <= children[j] for i in range(m) for j in range(m) if i != j
    )
    assert column_independence(graph).holds == (np.linalg.matrix_rank(adjacency) == m)


@given(adjacencies, st.integers(3, 5))
def test_the_conditions_imply_one_another_as_the_paper_says(adjacency, order):
    graph = Bipartite(adjacency, (2,) * adjacency.shape[1])
    if column_independence(graph).holds:  # the remark after thm:jennrich
        assert span_condition(graph, order).holds
    if span_condition(graph, order).holds:
        assert no_twins(graph).holds
        assert span_condition(graph, order + 1).holds
    if subset_condition(graph).holds:  # the note after thm:hidden-bipartite
        assert no_twins(graph).holds


def test_dependent_columns_are_a_minimal_set():
    adjacency = [[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1], [0, 1, 0, 1]]
    verdict = column_independence(Bipartite(adjacency, (2,) * 4))
    assert verdict.offenders == (("H1", "H2", "H3", "H4"),)


def test_the_span_condition_depends_on_the_order():
    adjacency = [[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]]  # a1 + a2 = a3 + a4
    at_three = span_condition(Bipartite(adjacency, (2,) * 4), order=3)
    assert at_three.offenders == (("H1", "H2", "H3", "H4"),)
    assert "span 3 dimensions" in at_three.message
    assert "from 4 on" in at_three.message
    assert span_condition(Bipartite(adjacency, (2,) * 4), order=4).holds


def test_two_independent_columns_satisfy_the_span_condition_which_the_paper_misstates():
    graph = Bipartite(np.eye(2), (2, 2))
    as_printed = 2 >= 2 / 3 * 2 + 1
    assert not as_printed
    assert span_condition(graph, order=3).holds


def test_the_span_condition_needs_an_order_of_three():
    with pytest.raises(InvalidInputError, match="at least 3"):
        span_condition(Bipartite(np.eye(2), (2, 2)), order=2)


def test_a_hundred_by_fifteen_graph_is_decided_exactly():
    rng = np.random.default_rng(0)
    adjacency = rng.random((100, 15)) < 0.3
    assert column_independence(Bipartite(adjacency, (2,) * 15)).holds
    adjacency[:, 14] = adjacency[:, 2]
    verdict = column_independence(Bipartite(adjacency, (2,) * 15))
    assert verdict.offenders == (("H3", "H15"),)


# --- nondegeneracy ---


def test_empty_states_are_named():
    joint = np.array([[0.5, 0.0, 0.1], [0.2, 0.2, 0.0]])
    verdict = nondegeneracy_positive(make_model(np.eye(2), (2, 3), joint))
    assert verdict.offenders == (("H1=0", "H2=1"), ("H1=1", "H2=2"))
    assert verdict.message.startswith("The state H1=0, H2=1 never occurs.")


def test_equal_components_are_named_with_both_configurations():
    components = [line_components([0, 1]), line_components([0, 1, 2, 3, 1, 5])]
    model = make_model([[1, 0], [1, 1]], (2, 3), components=components)
    verdict = nondegeneracy_distinct(model)
    assert verdict.offenders == (("X2", "H1=0, H2=1", "H1=1, H2=1"),)


def test_of_many_equal_components_each_is_named_once():
    """All pairs of 4 096 configurations are eight million."""
    n_latent = 12
    adjacency = np.vstack([np.ones(n_latent), np.eye(n_latent)])
    components = [line_components(np.zeros(2**n_latent)), *[line_components([0, 1])] * n_latent]
    verdict = nondegeneracy_distinct(make_model(adjacency, (2,) * n_latent, components=components))
    assert len(verdict.offenders) == 2**n_latent - 1
    assert len({offender[2] for offender in verdict.offenders}) == 2**n_latent - 1
    assert {offender[0] for offender in verdict.offenders} == {"X1"}


def test_unknown_components_leave_it_open():
    model = make_model(np.eye(2), (2, 2), components=None)
    assert nondegeneracy_distinct(model).holds is None


@settings(deadline=None)
@given(st.data())
def test_single_variables_decide_nondegeneracy_for_all_subsets(data):
    """The claim that the docstring of nondegeneracy_distinct proves, checked as it is stated."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    bipartite = rng.random((3, 2)) < 0.6
    sizes = (2, 3)
    counts = [np.prod(np.array(sizes)[row], dtype=int) for row in bipartite]
    means = [rng.integers(0, 3 * k, size=k) for k in counts]
    model = make_model(bipartite, sizes, components=[line_components(mu) for mu in means])
    states = np.array(list(np.ndindex(*sizes)))
    labels = model.component_of_states(states)
    value = np.column_stack([mu[labels[:, i]] for i, mu in enumerate(means)])
    for size in (1, 2, 3):
        for subset in combinations(range(3), size):
            parents = np.flatnonzero(bipartite[list(subset)].any(axis=0))
            configurations = {tuple(row) for row in states[:, parents]}
            # A product distribution is known by its factors, here by their means.
            distributions = {tuple(row) for row in value[:, subset]}
            if len(distributions) < len(configurations):
                assert nondegeneracy_distinct(model).holds is False
                return
    assert nondegeneracy_distinct(model).holds


# --- maximality ---


def test_nondegenerate_models_are_maximal():
    assert maximality(make_model([[1, 0], [1, 1], [0, 1]], (4, 6))).holds


def test_prime_domains_and_single_children_need_no_components():
    assert maximality(make_model([[1], [1]], (3,), components=None)).holds
    assert maximality(make_model([[1]], (4,), components=None)).holds
    undecided = maximality(make_model([[1], [1]], (4,), components=None))
    assert undecided.holds is None
    assert "H1" in undecided.message


def test_a_latent_whose_halves_have_their_own_children_can_be_split():
    rows, columns, both = [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 2, 3]
    model = make_model([[1]] * 3, (4,), components=list(map(line_components, (rows, both, both))))
    verdict = maximality(model)
    assert verdict.offenders == (("H1", "X1"),)
    assert verdict.message == "The latent H1 could be two, of which X1 needs only one."
    model = make_model([[1]] * 2, (4,), components=list(map(line_components, (rows, columns))))
    assert maximality(model).holds is False


def test_a_split_that_would_make_a_twin_of_another_latent_does_not_count():
    # Half of H1 would drive X2 alone, as H2 does already.
    bipartite = [[1, 0], [1, 1]]
    components = [line_components([0, 0, 1, 1]), line_components(range(8))]
    model = make_model(bipartite, (4, 2), components=components)
    assert maximality(model).holds
    # With one more child on both, nothing stands in the way.
    components = [*components, line_components(range(4))]
    model = make_model([*bipartite, [1, 0]], (4, 2), components=components)
    assert maximality(model).offenders == (("H1", "X1"),)


def test_a_latent_is_split_beside_a_parent_of_another_size():
    # X1 tells rows of H2's states apart, and the states of H1 before it.
    components = [
        line_components([10 * first + row for first in range(3) for row in (0, 0, 1, 1)]),
        line_components(range(4)),
        line_components(range(3)),
    ]
    model = make_model([[1, 1], [0, 1], [1, 0]], (3, 4), components=components)
    assert maximality(model).offenders == (("H2", "X1"),)


def test_twins_leave_maximality_open():
    assert maximality(make_model([[1, 1], [1, 1]], (4, 2))).holds is None


def test_empty_states_with_many_values_are_left_open():
    rng = np.random.default_rng(0)
    joint = (rng.random((16, 2)) < 0.6) + np.eye(16, 2)
    components = [line_components(rng.integers(0, 2, size=32)), line_components(range(16))]
    model = make_model([[1, 1], [1, 0]], (16, 2), joint / joint.sum(), components)
    verdict = maximality(model)
    assert verdict.holds is None
    assert "more than 12 states" in verdict.message


def splits_by_definition(model, latent):
    """Try every arrangement on every grid and every way to hang the children (assm:minimal)."""
    size, children = model.domain_sizes[latent], model.children(latent)
    others = [frozenset(model.children(j)) for j in range(model.n_latent) if j != latent]
    for n_rows in (d for d in range(2, size) if size % d == 0):
        for order in permutations(range(size)):
            grid = np.array(order).reshape(n_rows, -1)
            for hang in product(("row", "column", "both"), repeat=len(children)):
                first = frozenset(c for c, h in zip(children, hang, strict=True) if h != "column")
                second = frozenset(c for c, h in zip(children, hang, strict=True) if h != "row")
                if not first or not second or len({first, second, *others}) < 2 + len(others):
                    continue
                if all(
                    depends_only_on(model, child, latent, grid if h == "row" else grid.T)
                    for child, h in zip(children, hang, strict=True)
                    if h != "both"
                ):
                    return True
    return False


def depends_only_on(model, child, latent, grid):
    """Whether the child has one distribution in all states of a grid row that can occur."""
    parents = model.parents(child)
    axis = parents.index(latent)
    possible = model.joint.marginal(parents).table > 0
    seen = {}
    for number, states in enumerate(np.ndindex(*possible.shape)):
        if possible[states]:
            row = int(np.argwhere(grid == states[axis])[0, 0])
            key = (row, *states[:axis], *states[axis + 1 :])
            mean = float(model.components[child].means[number, 0])
            if seen.setdefault(key, mean) != mean:
                return False
    return True


def degenerate_model(seed):
    """Two latents, the first with four states of which many children see only a half."""
    rng = np.random.default_rng(seed)
    bipartite = np.zeros((3, 2))
    while not no_twins(make_model(bipartite, (4, 2), components=None)).holds:
        bipartite = rng.random((3, 2)) < 0.7
    halves = rng.permutation([0, 0, 1, 1])
    components = []
    for row in bipartite:
        half = rng.integers(0, 3, size=(2, 2))[halves]
        table = half if rng.random() < 0.6 else rng.permutation(8).reshape(4, 2)
        components.append(line_components(table[: 4 if row[0] else 1, : 2 if row[1] else 1]))
    joint = np.ones((4, 2)) if seed % 2 else (rng.random((4, 2)) < 0.7) + 0.0
    joint[0, 0] = 1.0
    return make_model(bipartite, (4, 2), joint / joint.sum(), components)


@pytest.mark.parametrize("seed", range(60))
def test_maximality_agrees_with_its_definition(seed):
    model = degenerate_model(seed)
    assert maximality(model).holds == (not splits_by_definition(model, 0))


def test_the_models_above_give_both_answers():
    assert {maximality(degenerate_model(seed)).holds for seed in range(60)} == {True, False}


# --- the paper's examples ---


def density(model, points):
    """P(X) at rows of one-dimensional observed variables, summed over all joint states."""
    states = np.array(list(np.ndindex(*model.domain_sizes)))
    labels = model.component_of_states(states)
    given_state = np.ones((len(points), len(states)))
    for i, held in enumerate(model.components):
        given_state *= np.exp(held.log_density(points[:, [i]]))[:, labels[:, i]]
    return given_state @ model.joint.table.ravel()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (examples.nonidentifiable_a, examples.nonidentifiable_b),
        (examples.nonidentifiable_a, examples.nonidentifiable_s3),
        (examples.subset_violation_a, examples.subset_violation_b),
    ],
)
def test_models_that_no_data_tell_apart_have_equal_densities(one, other):
    points = np.random.default_rng(0).uniform(-4, 4, size=(2000, 2))
    first, second = density(one(), points), density(other(), points)
    assert first.max() > 0.01
    np.testing.assert_allclose(first, second, rtol=1e-12, atol=0)
    assert one() != other()


def test_model_a_fails_nondegeneracy_b():
    """app:example-nonidentifiable; ne(H2) also lies within ne(H1), which the paper passes over."""
    model = examples.nonidentifiable_a()
    assert failed(model) == {"assump:strong:SDC", "assum:ssc"}
    message = nondegeneracy_distinct(model).message
    assert message.endswith(
        "Not even all observed variables together tell H1=0, H2=0 from H1=0, H2=1."
    )


def test_model_b_fails_nondegeneracy_a_only():
    model = examples.nonidentifiable_b()
    assert failed(model) == {"assump:strong:NZ"}
    assert nondegeneracy_positive(model).offenders == (("H1=0", "H2=1"),)


def test_s3_is_maximal_and_nondegenerate_over_all_of_x_but_not_over_single_variables():
    """The paper calls S_3 nondegenerate; that is so for S = X, not for every S."""
    model = examples.nonidentifiable_s3()
    assert failed(model) == {"assump:strong:SDC"}
    verdict = nondegeneracy_distinct(model)
    assert verdict.offenders == (("X1", "H1=1", "H1=2"), ("X2", "H1=0", "H1=1"))
    assert verdict.message.endswith("together still tell every joint state apart.")
    assert maximality(model).holds


@pytest.mark.parametrize("make", [examples.subset_violation_a, examples.subset_violation_b])
def test_the_subset_violation_pair_fails_the_subset_condition_only(make):
    assert failed(make()) == {"assum:ssc"}
    assert subset_condition(make()).offenders == (("H1", "H2"),)
    assert all(verdict.holds is not None for verdict in check(make()))


def test_the_graphs_of_fig_model():
    assert failed(examples.single_latent()) == set()
    assert failed(examples.independent_latents()) == set()
    assert failed(examples.dependent_latents()) == {"assum:ssc"}
    assert subset_condition(examples.dependent_latents()).offenders == (("H3", "H2"),)


@pytest.mark.parametrize("make", [examples.binary_layout, examples.ternary_layout])
def test_the_layout_examples_satisfy_the_subset_condition(make):
    model = make().model
    assert failed(model) == set()
    assert subset_condition(model).holds
