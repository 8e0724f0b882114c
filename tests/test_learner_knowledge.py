import io
import pickle
import re
import warnings
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from mixoracle import LatentGraphLearner, SignatureOracle
from mixoracle.background import LABEL, Background, KnownLatent
from mixoracle.datasets import paper_problem
from mixoracle.errors import (
    AssumptionFailedError,
    AssumptionWarning,
    InvalidInputError,
    KnowledgeConflictError,
)
from mixoracle.metrics import compare
from mixoracle.model import CPDAG, Bipartite
from mixoracle.oracles.candidate import GraphCounts
from mixoracle.structure import Knowledge

# Small samples miss joint states now and then; what knowledge has to say is looked for by name.
pytestmark = pytest.mark.filterwarnings("ignore::mixoracle.errors.AssumptionWarning")


def drawn(seed):
    return paper_problem(2, 5, 3, 400, random_state=seed, covariance="code")


def fitted(observations, **settings):
    settings = {"oracle": SignatureOracle(random_state=0), **settings}
    return LatentGraphLearner(**settings).fit(observations)


def told(model, name, j, **further):
    """What the true model says of latent j, under another name."""
    return KnownLatent(name, [int(i) for i in model.children(j)], exactly=True, **further)


def verdict_of(learner):
    (verdict,) = [verdict for verdict in learner.assumptions_ if verdict.label == LABEL]
    return verdict


def place(learner, name):
    return learner.model_.latent_names.index(name)


def with_graph(candidate, graph):
    """The same candidate with another Γ, and counts that agree with it."""
    counts = GraphCounts(graph, candidate.counts.weights)
    return replace(candidate, graph=graph, counts=counts)


class Misreading(SignatureOracle):
    """Sees the right latents but mistakes one entry of Γ, at (variable, latent)."""

    def __init__(self, entry=(0, 0), random_state=0):
        super().__init__(random_state=random_state)
        self.entry = entry

    def candidates(self, prepared, run):
        right, *_ = super().candidates(prepared, run)
        adjacency = right.graph.adjacency.copy()
        adjacency[self.entry] ^= True
        return (with_graph(right, Bipartite(adjacency, right.graph.domain_sizes)),)


class Lumping(SignatureOracle):
    """Believes more in one latent behind everything, however badly it fits, than in the truth."""

    def candidates(self, prepared, run):
        right, *_ = super().candidates(prepared, run)
        n_states = len(right.counts.weights)
        everything = Bipartite(np.ones((prepared.n_observed, 1)), (n_states,))
        return with_graph(right, everything), right


@pytest.fixture(scope="module")
def problem():
    return drawn(3)


@pytest.fixture(scope="module")
def plain(problem):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        return fitted(problem.observations)


class TestAgreement:
    @pytest.mark.parametrize("seed", range(2))
    def test_the_truth_changes_nothing_but_names(self, seed):
        problem = drawn(seed)
        without = fitted(problem.observations)
        assert compare(problem.model, without.model_).bipartite_exact
        names = ("wear", "load")
        sizes = problem.model.domain_sizes
        latents = [told(problem.model, names[j], j, domain_size=sizes[j]) for j in (1, 0)]
        learner = fitted(problem.observations, knowledge=Background(latents))
        assert sorted(learner.model_.latent_names) == sorted(names)
        assert replace(learner.model_, latent_names=without.model_.latent_names) == without.model_
        np.testing.assert_array_equal(learner.states_, without.states_)
        assert learner.bic_ == without.bic_
        assert learner.corrections_ == ()
        assert verdict_of(learner).holds
        for j, name in enumerate(names):
            np.testing.assert_array_equal(
                learner.model_.bipartite[:, place(learner, name)], problem.model.bipartite[:, j]
            )

    def test_without_knowledge_there_is_no_verdict_on_it(self, problem, plain):
        assert LABEL not in {verdict.label for verdict in plain.assumptions_}
        nothing = fitted(problem.observations, knowledge=Background())
        assert nothing.assumptions_ == plain.assumptions_
        assert nothing.model_ == plain.model_

    def test_latents_that_are_not_known_keep_clear_of_the_names(self, problem):
        known = told(problem.model, "H2", 0)
        learner = fitted(problem.observations, knowledge=Background([known]))
        names = learner.model_.latent_names
        assert "H2" in names
        assert len(set(names)) == 2

    def test_a_clone_knows_the_same(self, problem, plain):
        knowledge = Background([told(problem.model, "wear", 0)], Knowledge())
        learner = fitted(problem.observations, knowledge=knowledge)
        copy = clone(learner)
        assert copy.get_params()["knowledge"] == knowledge
        assert copy.fit(problem.observations).model_ == learner.model_

    def test_a_fitted_learner_can_be_pickled(self, problem):
        learner = fitted(
            problem.observations, knowledge=Background([told(problem.model, "wear", 0)])
        )
        again = pickle.loads(pickle.dumps(learner))
        assert again.model_ == learner.model_
        assert again.counts_[{0}] == learner.counts_[{0}]


class TestCorrection:
    @pytest.mark.parametrize("seed", range(2))
    def test_a_wrong_entry_of_the_graph_is_corrected(self, seed):
        problem = drawn(seed)
        right = fitted(problem.observations)
        entries = [
            (i, j)
            for i, j in np.ndindex(5, 2)
            # Flip what leaves a graph that recovery can tell apart from others.
            if _is_recoverable(right.bipartite_.adjacency, i, j)
        ]
        entry = entries[seed % len(entries)]
        misled = fitted(problem.observations, oracle=Misreading(entry))
        assert not compare(problem.model, misled.model_).bipartite_exact
        latents = [told(problem.model, name, j) for j, name in enumerate(("wear", "load"))]
        learner = fitted(
            problem.observations, oracle=Misreading(entry), knowledge=Background(latents)
        )
        difference = compare(problem.model, learner.model_)
        assert difference.bipartite_exact
        assert difference.domains_exact
        assert learner.bic_ > misled.bic_
        assert learner.bic_ == pytest.approx(right.bic_, abs=1.0)
        assert len(learner.corrections_) == 1
        assert learner.corrections_[0] in verdict_of(learner).message
        np.testing.assert_array_equal(learner.bipartite_.adjacency, learner.model_.bipartite)
        np.testing.assert_array_equal(learner.predict(problem.observations), learner.states_)

    def test_knowledge_is_honoured_even_if_the_data_disagree(self, problem, plain):
        adjacency = plain.bipartite_.adjacency
        i, j = (int(k[0]) for k in np.nonzero(~adjacency))
        wrong = KnownLatent("wear", [i, *map(int, np.flatnonzero(adjacency[:, j]))], exactly=True)
        learner = fitted(problem.observations, knowledge=Background([wrong]))
        assert learner.model_.bipartite[i, place(learner, "wear")]
        assert learner.bic_ < plain.bic_


class TestReadings:
    def test_a_known_domain_size_decides_between_readings(self, problem, plain):
        lumped = int(np.prod(plain.model_.domain_sizes))
        settings = {"oracle": Lumping(random_state=0)}
        for size in (lumped, plain.model_.domain_sizes[0]):
            child = int(np.flatnonzero(plain.model_.bipartite[:, 0])[0])
            known = KnownLatent("wear", [child], domain_size=size)
            learner = fitted(problem.observations, knowledge=Background([known]), **settings)
            assert learner.model_.domain_sizes[place(learner, "wear")] == size
            assert len(learner.model_.domain_sizes) == (1 if size == lumped else 2)
            assert verdict_of(learner).holds or size != lumped

    def test_a_better_fit_does_not_outweigh_knowledge(self, problem, plain):
        lumped = int(np.prod(plain.model_.domain_sizes))
        known = Background([KnownLatent("all", range(5), domain_size=lumped)])
        learner = fitted(problem.observations, oracle=Lumping(random_state=0), knowledge=known)
        (other,) = learner.alternatives_
        assert other.model.domain_sizes == plain.model_.domain_sizes
        assert other.bic > learner.bic_
        assert other.bic_gap < 0
        assert learner.counts_[{0}] == lumped

    def test_candidates_beyond_the_first_few_count_if_they_honour_knowledge(self, problem, plain):
        class Late(Lumping):
            def candidates(self, prepared, run):
                wrong, right = super().candidates(prepared, run)
                return (*[wrong] * 5, right)

        known = Background([told(problem.model, name, j) for j, name in enumerate("ab")])
        learner = fitted(problem.observations, oracle=Late(random_state=0), knowledge=known)
        assert learner.model_.domain_sizes == plain.model_.domain_sizes
        assert verdict_of(learner).holds


class TestArrows:
    @pytest.mark.parametrize("arrow", [("wear", "load"), ("load", "wear")])
    @pytest.mark.parametrize("search", ["exact", "ges", "pc"])
    def test_arrows_between_known_latents_are_honoured(self, problem, arrow, search):
        latents = [told(problem.model, name, j) for j, name in enumerate(("wear", "load"))]
        for edges, wanted in (
            (Knowledge(required=[arrow]), True),
            (Knowledge(forbidden=[arrow, arrow[::-1]]), False),
        ):
            learner = fitted(
                problem.observations,
                latent_search=search,
                knowledge=Background(latents, edges),
            )
            found = (place(learner, arrow[0]), place(learner, arrow[1]))
            assert learner.model_.latent_graph == CPDAG(2, frozenset([found] if wanted else []))

    def test_a_search_of_ones_own_is_not_told_of_arrows(self, problem):
        latents = [told(problem.model, name, j) for j, name in enumerate(("wear", "load"))]
        knowledge = Background(latents, Knowledge(required=[("wear", "load")]))
        with pytest.raises(InvalidInputError, match="latent_search is a callable"):
            fitted(
                problem.observations,
                latent_search=lambda joint, _n: CPDAG(joint.n_latent),
                knowledge=knowledge,
            )


class TestConflicts:
    def contradictions(self, plain):
        size = plain.model_.domain_sizes[0]
        column = plain.model_.bipartite[:, 0]
        children = [int(i) for i in np.flatnonzero(column)]
        third = [KnownLatent(name, [0]) for name in ("wear", "load", "rust")]
        yield [KnownLatent("wear", children, exactly=True, domain_size=size + 1)], "'wear' should"
        yield third, "no latent was found that could be '(wear|load|rust)'"

    def test_what_cannot_be_honoured_is_told(self, problem, plain):
        for latents, match in self.contradictions(plain):
            knowledge = Background(latents)
            with pytest.warns(AssumptionWarning, match=match):
                learner = fitted(problem.observations, knowledge=knowledge)
            assert verdict_of(learner).holds is False
            assert {name for (name,) in verdict_of(learner).offenders} <= set(knowledge.names)
            assert learner.model_.domain_sizes == plain.model_.domain_sizes
            with pytest.raises(AssumptionFailedError, match=match):
                fitted(problem.observations, knowledge=knowledge, strict=True)

    def test_arrows_of_latents_that_were_not_found_are_left_out(self, problem, plain):
        latents = [told(problem.model, name, j) for j, name in enumerate(("wear", "load"))]
        edges = Knowledge(required=[("wear", "rust"), ("wear", "load")])
        with pytest.warns(AssumptionWarning, match="could be 'rust'"):
            learner = fitted(
                problem.observations,
                knowledge=Background([*latents, KnownLatent("rust", domain_size=50)], edges),
            )
        arrow = (place(learner, "wear"), place(learner, "load"))
        assert learner.model_.latent_graph == CPDAG(2, frozenset([arrow]))

    @pytest.mark.parametrize(
        ("knowledge", "error", "match"),
        [
            (Knowledge(), InvalidInputError, "Background; got Knowledge: wrap it"),
            (Background([KnownLatent("wear", ["X9"])]), InvalidInputError, "'wear'.*'X9'"),
            (Background([KnownLatent("X1", ["X2"])]), InvalidInputError, "'X1' is an observed"),
            (
                Background([KnownLatent("wear", ["X1"], [0])]),
                KnowledgeConflictError,
                "X1 is said to be a child of 'wear' and not",
            ),
        ],
    )
    def test_nothing_is_learned_from_knowledge_that_cannot_be(
        self, problem, knowledge, error, match
    ):
        class Untouchable:
            def fit(self, observations):
                raise AssertionError("knowledge should be checked before the oracle works")

        with pytest.raises(error, match=match):
            fitted(problem.observations, oracle=Untouchable(), knowledge=knowledge)


def test_the_guide_prints_what_it_says():
    guide = (Path(__file__).parent.parent / "docs" / "knowledge.md").read_text(encoding="utf-8")
    pairs = re.findall(
        r"^```python\n(.*?)^```\n```text\n(.*?)^```$", guide, flags=re.MULTILINE | re.DOTALL
    )
    assert len(pairs) == guide.count("```python") == 2
    shared = {}
    for program, expected in pairs:
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(program, "knowledge.md", "exec"), shared)
        assert printed.getvalue() == expected


def _is_recoverable(adjacency, i, j):
    """Whether Γ with one entry flipped has children for all, no twins and the subset condition."""
    flipped = adjacency.copy()
    flipped[i, j] ^= True
    first, second = flipped.T
    return bool((first & ~second).any() and (second & ~first).any())
