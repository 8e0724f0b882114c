import math
from dataclasses import replace

import numpy as np
import pytest

from mixoracle.datasets import random_model
from mixoracle.datasets.graphs import random_dag, random_joint
from mixoracle.errors import InvalidInputError
from mixoracle.model import (
    CPDAG,
    CategoricalComponents,
    CountComponents,
    DiagonalComponents,
    GammaComponents,
    JointTable,
    LatentModel,
    ProductComponents,
    StudentComponents,
)
from mixoracle.model.export.agrum import load_pyagrum, to_pyagrum
from mixoracle.model.factorisation import factorised


def model_over(joint, graph, names=None):
    """A model with one observed child for each latent and nothing else."""
    m = joint.n_latent
    return LatentModel(
        observed_names=tuple(f"X{j + 1}" for j in range(m)),
        latent_names=tuple(names or (f"H{j + 1}" for j in range(m))),
        bipartite=np.eye(m, dtype=bool),
        domain_sizes=joint.domain_sizes,
        joint=joint,
        latent_graph=graph,
    )


def draw(rng, n_nodes, density=0.5, largest=3):
    sizes = tuple(int(size) for size in rng.integers(2, largest + 1, n_nodes))
    edges = random_dag(n_nodes, density, rng)
    joint = random_joint(sizes, edges, 4, rng)
    return edges, model_over(joint, CPDAG.from_dag(edges, n_nodes))


def truncated(joint, edges, targets):
    """P(H | do(targets)) in one DAG as a whole table, which our answers never build."""
    settings, axes = dict(targets), range(joint.n_latent)
    table = np.ones(joint.domain_sizes)
    for node in axes:
        shape = [1] * joint.n_latent
        shape[node] = joint.domain_sizes[node]
        if node in settings:
            table = table * np.eye(shape[node])[settings[node]].reshape(shape)
            continue
        kept = {node, *(i for i, j in edges if j == node)}
        family = joint.table.sum(axis=tuple({*axes} - kept), keepdims=True)
        below = family.sum(axis=node, keepdims=True)
        table = table * np.divide(family, below, out=np.zeros_like(family), where=below > 0)
    return table


def adjusted(joint, edges, cause, effect):
    """P(effect | do(cause)) by adjustment for the cause's parents: another way than ours."""
    table = joint.table
    parents = sorted(i for i, j in edges if j == cause)
    if effect in parents:
        row = joint.marginal([effect]).table
        return np.tile(row, (table.shape[cause], 1))
    parts = joint.marginal([*parents, cause, effect]).table
    below = parts.sum(axis=-1, keepdims=True)
    weights = below.sum(axis=-2, keepdims=True)
    summed = parts / below * weights
    return summed.reshape(-1, *summed.shape[-2:]).sum(axis=0)


def test_ranges_contain_the_truth_when_the_class_is_right():
    rng = np.random.default_rng(0)
    identified = 0
    for trial in range(200):
        edges, model = draw(rng, 2 + trial % 4)
        cause, effect = rng.permutation(model.n_latent)[:2]
        truth = adjusted(model.joint, edges, cause, effect)
        found = model.effect(int(cause), int(effect))
        assert np.all(found.lower <= truth + 1e-9)
        assert np.all(truth <= found.upper + 1e-9)
        members = [
            adjusted(model.joint, dag, cause, effect) for dag in model.latent_graph.members()
        ]
        assert np.allclose(found.lower, np.min(members, axis=0), atol=1e-9)
        assert np.allclose(found.upper, np.max(members, axis=0), atol=1e-9)
        identified += found.identified
    assert 40 < identified < 200


# The types of pyAgrum's causal extension warn when the first of them is made, inside C++.
@pytest.mark.filterwarnings("ignore:builtin type:DeprecationWarning")
@pytest.mark.parametrize("seed", range(6))
def test_do_agrees_with_pyagrum_on_every_member(seed):
    rng = np.random.default_rng(seed)
    _, model = draw(rng, 4)
    names = model.latent_names
    pyagrum = load_pyagrum()
    for edges in model.latent_graph.members():
        one = model_over(model.joint, CPDAG(4, edges), names)
        network = to_pyagrum(model, edges)
        for cause, effect in [(0, 3), (2, 1)]:
            ours = one.effect(cause, effect)
            assert ours.identified
            for state in range(model.domain_sizes[cause]):
                theirs = pyagrum.causalImpact(
                    pyagrum.CausalModel(network),
                    on=names[effect],
                    doing=names[cause],
                    values={names[cause]: str(state)},
                )[1]
                assert ours.lower[state] == pytest.approx(theirs.toarray(), abs=1e-9)


def test_a_class_of_one_dag_is_identified_and_an_edge_of_two_is_not():
    joint = JointTable(np.array([[0.4, 0.1], [0.1, 0.4]]))
    open_edge = model_over(joint, CPDAG.from_dag([(0, 1)], 2)).effect("H1", "H2")
    assert not open_edge.identified
    assert open_edge.lower == pytest.approx(np.array([[0.5, 0.2], [0.2, 0.5]]))
    assert open_edge.upper == pytest.approx(np.array([[0.8, 0.5], [0.5, 0.8]]))
    assert len(open_edge.graphs) == 2
    low, high = open_edge.contrast(0, 1)
    assert low == pytest.approx([0.0, -0.6])
    assert high == pytest.approx([0.6, 0.0])
    arrow = model_over(joint, CPDAG(2, frozenset({(0, 1)}))).effect("H1", "H2")
    assert arrow.identified
    assert arrow.upper == pytest.approx(np.array([[0.8, 0.2], [0.2, 0.8]]))


def test_do_on_several_latents_ranges_over_all_members():
    rng = np.random.default_rng(1)
    for _ in range(20):
        _, model = draw(rng, 4, density=0.6)
        found = model.do({"H1": 1, "H3": 0}).query(["H2", "H4"])
        values = [
            truncated(model.joint, edges, [(0, 1), (2, 0)]).sum(axis=(0, 2))
            for edges in model.latent_graph.members()
        ]
        assert found.variables == ("H2", "H4")
        assert found.lower == pytest.approx(np.min(values, axis=0))
        assert found.upper == pytest.approx(np.max(values, axis=0))


def test_do_with_evidence_conditions_after_the_intervention():
    rng = np.random.default_rng(2)
    edges, model = draw(rng, 4, density=0.7)
    one = model_over(model.joint, CPDAG(4, edges))
    table = truncated(model.joint, edges, [(1, 0)])[:, 0, :, 1]
    found = one.do({"H2": 0}).query("H1", given={"H4": 1})
    assert found.lower == pytest.approx(table.sum(axis=1) / table.sum())
    assert found.identified


def test_what_was_never_seen_widens_the_range_and_nothing_else():
    # H1→H2 with H1=1 never seen: nothing is known of H2 then, and do(H1=0) is clear.
    joint = JointTable(np.array([[0.3, 0.7], [0.0, 0.0]]))
    found = model_over(joint, CPDAG(2, frozenset({(0, 1)}))).effect("H1", "H2")
    assert found.lower == pytest.approx(np.array([[0.3, 0.7], [0.0, 0.0]]))
    assert found.upper == pytest.approx(np.array([[0.3, 0.7], [1.0, 1.0]]))
    assert not found.identified


def test_missing_support_off_the_path_does_no_harm():
    # H1→H2→H3; (H1=0, H2=1) never occurs, but H3 depends on H2 alone.
    table = np.einsum(
        "a,ab,bc->abc", [0.5, 0.5], [[1.0, 0.0], [0.5, 0.5]], [[0.9, 0.1], [0.2, 0.8]]
    )
    chain = CPDAG(3, frozenset({(0, 1), (1, 2)}))
    found = model_over(JointTable(table), chain).effect("H2", "H3")
    assert found.identified
    assert found.lower == pytest.approx(np.array([[0.9, 0.1], [0.2, 0.8]]))


def test_sparse_tables_give_ranges_that_contain_every_completion():
    rng = np.random.default_rng(3)
    widened = 0
    for _ in range(40):
        _, model = draw(rng, 3, density=0.8)
        cells = model.joint.table.ravel() / model.joint.table.sum()
        sparse = rng.multinomial(12, cells).reshape(model.joint.table.shape) / 12
        # A completion: the table that these counts and a whiff of the truth give together.
        completed = JointTable((1 - 1e-9) * sparse + 1e-9 * model.joint.table)
        found = model_over(JointTable(sparse), model.latent_graph).effect(0, 2)
        for dag in model.latent_graph.members():
            truth = truncated_effect(completed, dag, 0, 2)
            assert np.all(found.lower <= truth + 1e-6)
            assert np.all(truth <= found.upper + 1e-6)
        widened += bool(np.any(found.member_upper - found.member_lower > 1e-6))
    assert widened > 5


def truncated_effect(joint, edges, cause, effect):
    rows = []
    for state in range(joint.domain_sizes[cause]):
        table = truncated(joint, edges, [(cause, state)])
        rows.append(JointTable(table / table.sum()).marginal([effect]).table)
    return np.array(rows)


def test_queries_are_conditional_probabilities():
    rng = np.random.default_rng(4)
    _, model = draw(rng, 3)
    table = model.joint.table
    assert model.query("H2").table == pytest.approx(table.sum(axis=(0, 2)))
    found = model.query(["H3", "H1"], given={"H2": 1})
    assert found.variables == ("H3", "H1")
    assert found.table == pytest.approx(table[:, 1].T / table[:, 1].sum())
    assert model.query([]).table == pytest.approx(1.0)


def test_a_query_along_the_graph_smooths_an_estimate():
    joint = JointTable(np.array([[0.3, 0.2], [0.2, 0.3]]))
    model = model_over(joint, CPDAG(2))
    assert model.query("H2", {"H1": 0}).table == pytest.approx([0.6, 0.4])
    along = model.query("H2", {"H1": 0}, factorised_along_graph=True)
    assert along.table == pytest.approx([0.5, 0.5])


def test_equivalent_dags_factorise_alike():
    rng = np.random.default_rng(5)
    for _ in range(30):
        sizes = tuple(int(size) for size in rng.integers(2, 4, 4))
        joint = JointTable(rng.dirichlet(np.ones(math.prod(sizes))).reshape(sizes))
        graph = CPDAG.from_dag(random_dag(4, 0.5, rng), 4)
        tables = [factorised(joint, edges).table for edges in graph.members()]
        assert np.ptp(tables, axis=0).max() < 1e-12


@pytest.fixture(scope="module")
def full_model():
    return random_model(3, 6, max_domain=3, random_state=0)


def test_observed_variables_are_answered_by_their_components(full_model):
    parents = full_model.parents(0)
    expected = full_model.joint.marginal(parents).table.ravel()
    found = full_model.query("X1")
    assert found.table == pytest.approx(expected)
    assert found.mean == pytest.approx(expected @ full_model.components[0].means)
    assert full_model.query(["X1", "X2"]).mean is None


def test_effects_reach_observed_variables(full_model):
    for name in full_model.observed_names:
        i = full_model.observed_names.index(name)
        found = full_model.effect("H1", name)
        means = full_model.components[i].means
        per_member = found.member_lower @ means
        assert found.mean_lower == pytest.approx(per_member.min(axis=0))
        assert found.mean_upper == pytest.approx(per_member.max(axis=0))
        parents = list(full_model.parents(i))
        for g, edges in enumerate(found.graphs):
            for state in range(full_model.domain_sizes[0]):
                table = truncated(full_model.joint, edges, [(0, state)])
                weights = JointTable(table).marginal(parents).table.ravel()
                assert found.member_lower[g, state] == pytest.approx(weights)


def test_the_mean_ranges_over_all_components_where_nothing_is_known(full_model):
    sparse = full_model.joint.table.copy()
    sparse[1] = 0
    model = LatentModel(
        observed_names=full_model.observed_names,
        latent_names=full_model.latent_names,
        bipartite=full_model.bipartite,
        domain_sizes=full_model.domain_sizes,
        joint=JointTable(sparse / sparse.sum()),
        latent_graph=CPDAG(3, frozenset({(0, 1), (0, 2), (1, 2)})),
        components=full_model.components,
    )
    child = next(i for i in range(6) if 1 in model.parents(i))
    found = model.effect("H1", model.observed_names[child])
    means = model.components[child].means
    assert found.mean_lower[1] == pytest.approx(means.min(axis=0))
    assert found.mean_upper[1] == pytest.approx(means.max(axis=0))
    assert found.mean_lower[0] == pytest.approx(found.mean_upper[0])


def test_values_of_observed_variables_are_evidence(full_model):
    states = np.array([[1, 0, 1]])
    label = int(full_model.component_of_states(states)[0, 0])
    value = full_model.components[0].means[label]
    log_density = full_model.components[0].log_density(value[None])[0]
    prior = full_model.joint.marginal(full_model.parents(0)).table.ravel()
    posterior = prior * np.exp(log_density - log_density.max())
    found = full_model.query("X1", given={"X1": value})
    assert found.table == pytest.approx(posterior / posterior.sum())


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda model: model.query("H9"), "no variable 'H9'"),
        (lambda model: model.query(["H1", "H1"]), "name each variable once"),
        (lambda model: model.query(7), "counted from 0 to 2"),
        (lambda model: model.query("H1", {"H2": 5}), "H2 has states 0 to"),
        (lambda model: model.query("H1", {"H2": True}), "H2 has states 0 to"),
        (lambda model: model.query("H1", {"X1": [1.0]}), "should have 5 numbers"),
        (lambda model: model.do({"X1": 0}), "only latents can be set"),
        (lambda model: model.do({"H1": 0, 0: 1}), "named twice"),
        (lambda model: model.do({"H1": -1}), "H1 has states"),
        (lambda model: model.do({"H1": 0}).query("H2", {"H1": 1}), "'H1' is set by do"),
        (lambda model: model.do({"H1": 0}).query("H2", {0: 0}), "'H1' is set by do"),
        (lambda model: model.query("H3", {"H1": 0, 0: 1}), "give 'H1' once"),
        (lambda model: model.query("H3", {0: 1, "H1": 1}), "give 'H1' once"),
        (lambda model: model.effect("X1", "H1"), "only latents"),
    ],
)
def test_questions_without_sense_are_refused(full_model, ask, words):
    with pytest.raises(InvalidInputError, match=words):
        ask(full_model)


def test_evidence_that_cannot_be_is_refused():
    model = model_over(JointTable(np.array([[0.5, 0.5], [0.0, 0.0]])), CPDAG(2))
    with pytest.raises(InvalidInputError, match="probability 0"):
        model.query("H2", {"H1": 1})
    with pytest.raises(InvalidInputError, match="no components"):
        model.query("H2", {"X1": [0.0]})


def test_a_name_of_two_variables_is_refused():
    joint = JointTable(np.array([0.5, 0.5]))
    model = LatentModel(
        observed_names=("A",),
        latent_names=("A",),
        bipartite=[[True]],
        domain_sizes=(2,),
        joint=joint,
        latent_graph=CPDAG(1),
    )
    with pytest.raises(InvalidInputError, match="both a latent and an observed"):
        model.query("A")
    assert model.query(0).table == pytest.approx([0.5, 0.5])


def test_a_class_too_large_for_a_sparse_table_is_refused(monkeypatch):
    monkeypatch.setattr("mixoracle.model.inference._MAX_MEMBERS", 1)
    model = model_over(JointTable(np.array([[0.3, 0.7], [0.0, 0.0]])), CPDAG.from_dag([(0, 1)], 2))
    with pytest.raises(InvalidInputError, match="2 DAGs, too many"):
        model.effect("H1", "H2")


MAKERS = {
    "diagonal": lambda rng, k: DiagonalComponents(rng.normal(size=(k, 2)), np.ones((k, 2))),
    "counts": lambda rng, k: CountComponents(
        rng.uniform(1, 9, (k, 2)), np.where(rng.random((k, 2)) < 0.5, 2.0, np.inf)
    ),
    "gamma": lambda rng, k: GammaComponents(rng.uniform(1, 9, (k, 2)), np.full((k, 2), 3.0)),
    "student": lambda rng, k: StudentComponents(
        rng.normal(size=(k, 2)), np.stack([np.eye(2)] * k), 4.0
    ),
    "categorical": lambda rng, k: CategoricalComponents(
        np.hstack([rng.dirichlet(np.ones(n), size=k) for n in (2, 3)]), np.array([2, 3])
    ),
    "product": lambda rng, k: ProductComponents(
        (MAKERS["categorical"](rng, k), MAKERS["counts"](rng, k)), ((3, 0), (2, 1))
    ),
}


def of_family(model, family, seed=0):
    """The model with components of another family in all of its observed variables."""
    rng = np.random.default_rng(seed)
    held = [MAKERS[family](rng, model.n_components(i)) for i in range(model.n_observed)]
    return replace(model, components=tuple(held))


@pytest.mark.parametrize("family", MAKERS)
def test_means_are_those_of_samples_whatever_the_family(full_model, family):
    model = of_family(full_model, family)
    answer = model.query("X2")
    rng = np.random.default_rng(1)
    labels = rng.choice(len(answer.table), size=40_000, p=answer.table)
    rows = model.components[1].sample(labels, rng)
    for title, mean in zip(answer.mean_of, answer.mean, strict=True):
        column, _, level = title.removeprefix("X2[").partition("]")
        cells = rows[:, int(column)]
        drawn = cells if not level else cells == float(level.removeprefix(" = "))
        assert drawn.mean() == pytest.approx(mean, abs=5 * drawn.std() / 200 + 1e-12)


@pytest.mark.parametrize("family", MAKERS)
def test_effects_range_over_members_whatever_the_family(full_model, family):
    model = of_family(full_model, family)
    found = model.effect("H1", "X1")
    means = model.components[0].averages().values
    assert found.mean_of == model.query("X1").mean_of
    assert found.mean_lower == pytest.approx((found.member_lower @ means).min(axis=0))
    assert found.mean_upper == pytest.approx((found.member_upper @ means).max(axis=0))


def test_levels_are_answered_by_their_probabilities(full_model):
    model = of_family(full_model, "categorical")
    answer = model.query("X1")
    assert answer.mean_of == ("X1[0] = 0", "X1[0] = 1", "X1[1] = 0", "X1[1] = 1", "X1[1] = 2")
    assert answer.mean[:2].sum() == pytest.approx(1)
    assert answer.mean[2:].sum() == pytest.approx(1)
    assert full_model.query("X1").mean_of == tuple(f"X1[{c}]" for c in range(5))
    assert full_model.query("H1").mean_of == ()


def test_levels_and_gaps_are_evidence(full_model):
    model = of_family(full_model, "categorical")
    held = model.components[0]
    prior = model.joint.marginal(model.parents(0)).table.ravel()
    found = model.query("X1", given={"X1": [1, np.nan]}).table
    weights = prior * held.of_column(0)[:, 1]
    assert found == pytest.approx(weights / weights.sum())
    assert model.query("X1", given={"X1": [np.nan, np.nan]}).table == pytest.approx(prior)


@pytest.mark.parametrize(
    ("family", "value", "words"),
    [
        (
            "categorical",
            ["yes", 0],
            "levels by their labels or codes 0, 1, … and missing values by NaN; got .'yes', 0",
        ),
        ("categorical", [0, 3], "column 1 has codes 0 to 2; got 3"),
        ("counts", [1.5, 2], "has probability 0 in this model"),
        ("gamma", [-1.0, 2.0], "has probability 0 in this model"),
        ("product", [0, 0, 0], "should have 4 numbers"),
    ],
)
def test_values_that_cannot_be_are_refused(full_model, family, value, words):
    model = of_family(full_model, family)
    with pytest.raises(InvalidInputError, match=words):
        model.query("H1", given={"X1": value})


def test_values_that_cannot_be_are_refused_after_an_intervention(full_model):
    model = of_family(full_model, "gamma")
    with pytest.raises(InvalidInputError, match="probability 0"):
        model.do({"H1": 0}).query("H2", given={"X1": [-1.0, 2.0]})
