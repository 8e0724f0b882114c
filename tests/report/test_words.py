import dataclasses

import numpy as np
import pytest

from mixoracle import assumptions
from mixoracle.assumptions import Verdict
from mixoracle.datasets import random_model, sparse_problem
from mixoracle.model import CPDAG, JointNetwork, JointTable, LatentModel
from mixoracle.report import words
from mixoracle.report.charts import count_of
from mixoracle.report.evidence import Alternative
from mixoracle.report.meanings import MEANINGS


@pytest.fixture
def result(make_result):
    return make_result(3, 6, seed=1)


def test_every_assumption_has_a_meaning():
    for verdict in assumptions.check(random_model(2, 4, random_state=0)):
        assert verdict.label in MEANINGS
    assert "obs:counting" in MEANINGS
    unknown = Verdict("something new", "assm:new", True, "fine")
    assert words.meaning_of(unknown).title == "Something new"


def test_headline_counts(result, make_result):
    assert words.headline(result.model, result.evidence) == (
        "3 hidden causes found behind 400 cases of 6 measurements."
    )
    single = make_result(1, 2)
    assert words.headline(single.model, single.evidence).startswith("1 hidden cause found")


def test_findings_name_states_and_children(result):
    sentences = words.findings(result.model, result.evidence)
    assert len(sentences) == 3
    for j, sentence in enumerate(sentences):
        assert sentence.startswith(f"H{j + 1} has {result.model.domain_sizes[j]} states (")
        for i in result.model.children(j):
            assert result.model.observed_names[i] in sentence


def test_the_shape_of_one_measurement_is_no_hidden_cause(make_result):
    found = make_result(3, 6, seed=1)
    alone = dataclasses.replace(
        found.model,
        bipartite=np.array([[0, 0, 1], [1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0], [1, 0, 0]]),
        latent_graph=CPDAG.from_dag([(0, 1)], 3),
        components=None,
    )
    assert alone.private_latents == (2,)
    assert words.headline(alone, found.evidence) == (
        "2 hidden causes found behind 400 cases of 6 measurements, and 1 grouping that a single "
        "measurement shows."
    )
    sentence = words.findings(alone, found.evidence)[2]
    assert sentence.endswith("is the shape of X1: nothing else was seen to depend on it.")
    assert all("H3" not in relation for relation in words.relations(alone, found.evidence))
    joined = dataclasses.replace(alone, latent_graph=CPDAG.from_dag([(0, 1), (1, 2)], 3))
    assert joined.private_latents == ()


def model_with(edges, n=2):
    return LatentModel(
        observed_names=[f"X{i + 1}" for i in range(6)],
        latent_names=[f"H{j + 1}" for j in range(n)],
        bipartite=np.vstack([np.eye(3)[:, :n]] * 2),
        domain_sizes=(2,) * n,
        joint=JointTable(np.full((2,) * n, 0.5**n)),
        latent_graph=edges,
    )


def test_relations_tell_arrows_from_open_directions():
    assert words.relations(model_with(CPDAG(2, frozenset({(1, 0)})))) == ["H2 causes H1."]
    (sentence,) = words.relations(model_with(CPDAG.from_dag([(0, 1)], 2)))
    assert sentence == (
        "H1 and H2 depend on each other; these data do not show which one is the cause."
    )
    chain = CPDAG.from_dag([(0, 1), (1, 2)], 3)
    (sentence,) = words.relations(model_with(chain, 3))
    assert sentence.startswith("H1 and H2 as well as H2 and H3 depend on each other")
    assert words.relations(model_with(CPDAG(2))) == [
        "The hidden causes are independent of each other."
    ]


def test_a_right_answer_raises_no_doubt(result):
    assert words.doubts(result.model, result.evidence) == []
    assert "Every assumption that could be checked holds." in words.trust(
        result.model, result.evidence
    )


def test_every_weakness_raises_a_doubt(result):
    weak_count = dataclasses.replace(result.evidence.singles[1], confidence=0.4)
    blurred = dataclasses.replace(result.evidence.scatters[2], separation=0.7)
    evidence = dataclasses.replace(
        result.evidence,
        singles=(result.evidence.singles[0], weak_count, *result.evidence.singles[2:]),
        scatters=(*result.evidence.scatters[:2], blurred, *result.evidence.scatters[3:]),
        verdicts=(Verdict("no twins", "assm:twins", False, "H1 and H2.", (("H1", "H2"),)),),
        repairs=("X1: 3 components were seen, 4 fit with the others",),
        alternatives=(
            Alternative(1.0, (2,), ((0,),), ("H1",)),
            Alternative(99.0, (2,), ((0,),), ("H1",)),
        ),
        converged=False,
    )
    assert words.doubts(result.model, evidence) == [
        "Two hidden causes drive the same measurements. H1 and H2.",
        "The number of components of X2 is uncertain.",
        "The components of X3 overlap: it alone misclassifies more than one case in ten.",
        "1 component count had to be corrected to agree with the others.",
        "The candidate with a single hidden cause fits nearly as well; see the alternatives in the "
        "report.",
        "The refinement stopped before it converged.",
    ]
    assert "Every assumption" not in " ".join(words.trust(result.model, evidence))


def test_many_names_are_counted():
    assert words.listed([f"X{i}" for i in range(8)]) == "X0, X1, X2, X3, X4, X5 and 2 more"


def test_a_method_that_could_not_be_used_is_no_doubt(result):
    failed = Verdict("column independence", "thm:recovery:eff", False, "No.", (("H1",),))
    evidence = dataclasses.replace(result.evidence, verdicts=(failed,))
    assert words.doubts(result.model, evidence) == []


def with_joint(table, n=2):
    sizes = np.shape(table)
    return LatentModel(
        observed_names=[f"X{i + 1}" for i in range(6)],
        latent_names=[f"H{j + 1}" for j in range(n)],
        bipartite=np.vstack([np.eye(3)[:, :n]] * 2),
        domain_sizes=sizes,
        joint=JointTable(np.array(table)),
        latent_graph=CPDAG(n),
    )


def emptiness(result, table, n_samples):
    evidence = dataclasses.replace(result.evidence, n_samples=n_samples)
    return words.emptiness(with_joint(table, np.ndim(table)), evidence)


def test_empty_joint_states_are_named_with_their_cases(result):
    (sentence,) = emptiness(result, [[0.4, 0.002], [0.3, 0.298]], 1000)
    assert sentence.startswith(
        "1 of 4 joint states is empty or nearly so: H1=0, H2=1 (2.0 cases). Where combinations"
    )
    (sentence,) = emptiness(result, [[0.5, 0.0], [0.0, 0.5]], 1000)
    assert "2 of 4 joint states are empty or nearly so: H1=0, H2=1 (0.0 cases); H1=1" in sentence


def test_a_joint_state_with_dozens_of_cases_is_not_empty(result):
    table = [[0.49, 0.02], [0.02, 0.47]]
    assert not emptiness(result, table, 3000)
    (sentence,) = emptiness(result, table, 300)
    assert "2 of 4 joint states are empty or nearly so: H1=0, H2=1 (6.0 cases)" in sentence


def test_corrected_counts_and_reproduced_ones_are_said_together(result):
    seen = ("X1: 3 components were seen, 4 fit with the others",)
    other = ("Γ and the states were changed after decoding, because others fit better",)
    evidence = dataclasses.replace(result.evidence, repairs=(*seen, *other), residual=0.0)
    said = words.trust(result.model, evidence)
    assert said[-1] == "The graph reproduces all component counts, 1 of them after a correction."
    assert any(
        line.startswith("1 component count") for line in words.doubts(result.model, evidence)
    )
    evidence = dataclasses.replace(evidence, repairs=other)
    assert words.trust(result.model, evidence)[-1] == "The graph reproduces all component counts."
    assert not any("corrected" in line for line in words.doubts(result.model, evidence))


def test_empty_joint_states_are_a_doubt(result):
    table = result.model.joint.table.copy()
    table[0, 0, 0] = 0.0
    sparse = dataclasses.replace(result.model, joint=JointTable(table / table.sum()))
    verdicts = assumptions.check(sparse)
    assert [verdict.label for verdict in verdicts if verdict.holds is False] == ["assump:strong:NZ"]
    evidence = dataclasses.replace(result.evidence, verdicts=verdicts)
    # Said once, although the verdict fails as well.
    (sentence,) = words.doubts(sparse, evidence)
    assert sentence.startswith("1 of 18 joint states is empty or nearly so: H1=0, H2=0, H3=0 (0.0")


def test_a_state_that_is_rare_by_chance_is_no_hole(result):
    rare = np.multiply.outer([0.9, 0.1], [0.96, 0.04])
    assert emptiness(result, rare, 1000) == []
    # The same share of fewer cases is less than one of them, and none was to be expected.
    assert emptiness(result, rare, 200) == []


def test_a_single_latent_has_no_combination_to_miss(result):
    assert emptiness(result, [0.999, 0.001], 50) == []


def test_the_other_kind_of_candidate_is_named_with_its_score(result, make_result):
    single = Alternative(12.5, (4,), ((0, 1),), ("H1",))
    evidence = dataclasses.replace(result.evidence, alternatives=(single,))
    assert words.other_kind(result.model, evidence) == [
        "The candidate with a single hidden cause, 4 states, fits worse by 12.5 nats."
    ]
    lone = make_result(1, 3)
    rare = ("H1=0, H2=1 (0.0 cases)", "H1=1, H2=0 (0.4 cases)")
    factored = Alternative(-3.0, (2, 2), ((0,), (1,)), ("H1", "H2"), ((0, 1),), (), rare)
    evidence = dataclasses.replace(lone.evidence, alternatives=(single, factored))
    assert words.other_kind(lone.model, evidence) == [
        "The candidate with several hidden causes, 2 × 2 states, fits better by 3 nats. Of "
        "its 4 joint states 2 are empty or nearly so."
    ]
    assert (
        words.alternative_title(lone.model, Alternative(1.0, (), (), ()))
        == "No hidden cause at all"
    )
    assert words.alternative_title(lone.model, single) == "Another candidate"
    assert words.other_kind(result.model, result.evidence) == []


def test_of_many_joint_states_families_are_looked_at(make_result):
    model = sparse_problem(30, 60, n_samples=2, random_state=0).model
    assert count_of(model.joint) == "2^30"
    assert count_of(model.joint.marginal([0, 1])) == "4"
    joint = model.joint
    child = next(j for j, parents in enumerate(joint.parents) if len(parents) == 1)
    tables = [*joint.conditionals]
    tables[child] = np.array([[1.0, 0.0], [0.5, 0.5]])
    never = dataclasses.replace(model, joint=JointNetwork(joint.parents, tables))
    result = make_result(2, 3)
    evidence = dataclasses.replace(result.evidence, n_samples=1000)
    (sentence,) = words.emptiness(never, evidence)
    n_states = sum(table.size for table in joint.conditionals if table.ndim > 1)
    (parent,) = joint.parents[child]
    assert sentence.startswith(f"1 of {n_states} joint states of a cause and its direct causes is")
    assert f"H{parent + 1}=0, H{child + 1}=1 (0.0 cases)" in sentence


def test_what_differs_is_said_of_every_candidate(result):
    model = result.model
    names, sizes = model.latent_names, model.domain_sizes
    drives = tuple(model.children(j) for j in range(model.n_latent))
    finer = Alternative(3.0, (*sizes[:-1], sizes[-1] + 1), drives, names)
    said = words.what_differs(model, finer)
    assert said == f"The same: {', '.join(names[:-1])}; 1 other instead of 1."
    more = Alternative(3.0, (*sizes, 2), (*drives, (0,)), (*names, "H9"))
    assert words.what_differs(model, more) == f"The same: {', '.join(names)}."
    one = Alternative(0.001, sizes, drives, names, change="H1 also drives X2")
    assert words.what_differs(model, one) == "What differs: H1 also drives X2."
    assert words.alternative_title(model, one) == "Nearly the same"
    assert words.fits(one) == "fits as well"
    # It has its own support, and is no reason to doubt the rest.
    evidence = dataclasses.replace(result.evidence, alternatives=(one,))
    assert words.doubts(model, evidence) == words.doubts(model, result.evidence)
