import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixoracle.background import Background, KnownLatent
from mixoracle.errors import InvalidInputError, KnowledgeConflictError
from mixoracle.model import Bipartite
from mixoracle.structure import Knowledge

OBSERVED = ("X1", "X2", "X3", "X4")


def applied(latents, adjacency, sizes, edges=None):
    graph = Bipartite(np.array(adjacency, dtype=bool), sizes)
    default = [f"H{j + 1}" for j in range(graph.n_latent)]
    return Background(latents, edges).resolved(OBSERVED).applied_to(graph, default)


@st.composite
def graphs(draw):
    """Γ over four variables without twins, and the domain sizes."""
    columns = draw(st.lists(st.integers(1, 15), min_size=1, max_size=4, unique=True))
    adjacency = np.array([[bool(column >> i & 1) for column in columns] for i in range(4)])
    sizes = draw(st.lists(st.integers(2, 4), min_size=len(columns), max_size=len(columns)))
    return Bipartite(adjacency, tuple(sizes))


def exact(graph, j, name):
    children = [int(i) for i in np.flatnonzero(graph.adjacency[:, j])]
    return KnownLatent(name, children, exactly=True, domain_size=graph.domain_sizes[j])


class TestRecords:
    @pytest.mark.parametrize(
        ("arguments", "error", "match"),
        [
            ({"name": ""}, InvalidInputError, "not empty; got ''"),
            ({"name": 3}, InvalidInputError, "got 3"),
            ({"name": "a"}, InvalidInputError, "nothing is said about 'a'"),
            ({"name": "a", "children": "X1"}, InvalidInputError, "children of 'a'.*got 'X1'"),
            ({"name": "a", "children": 1}, InvalidInputError, "children of 'a'.*got 1"),
            ({"name": "a", "children": [1.5]}, InvalidInputError, r"got \[1.5\]"),
            ({"name": "a", "not_children": [True]}, InvalidInputError, "not_children of 'a'"),
            ({"name": "a", "domain_size": 1}, InvalidInputError, "size of 'a'.*at least 2; got 1"),
            ({"name": "a", "domain_size": 2.5}, InvalidInputError, "size of 'a'.*got 2.5"),
            ({"name": "a", "exactly": True}, KnowledgeConflictError, "'a'.*nothing at all"),
            (
                {"name": "a", "children": ["X1", "X2"], "not_children": ["X2"]},
                KnowledgeConflictError,
                "X2 is said to be a child of 'a' and not to be one",
            ),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, arguments, error, match):
        with pytest.raises(error, match=match):
            KnownLatent(**arguments)

    @pytest.mark.parametrize(
        ("latent", "error", "match"),
        [
            (KnownLatent("a", ["X9"]), InvalidInputError, "'a'.*'X9'.*X1, X2, X3, X4"),
            (KnownLatent("a", [4]), InvalidInputError, "'a' names the observed variable 4"),
            (KnownLatent("a", [-1]), InvalidInputError, "-1"),
            (KnownLatent("X2", ["X1"]), InvalidInputError, "'X2' is an observed variable"),
            (KnownLatent("a", ["X1"], [0]), KnowledgeConflictError, "X1 is said to be a child"),
            (KnownLatent("a", [], OBSERVED), KnowledgeConflictError, "'a'.*none of the 4"),
        ],
    )
    def test_what_does_not_suit_the_variables_is_refused(self, latent, error, match):
        with pytest.raises(error, match=match):
            Background([latent]).resolved(OBSERVED)

    def test_latents_have_different_names(self):
        with pytest.raises(KnowledgeConflictError, match="two known latents are called 'a'"):
            Background([KnownLatent("a", ["X1"]), KnownLatent("a", ["X2"])])

    def test_twins_are_refused_however_they_are_written(self):
        twins = [KnownLatent("a", ["X1"], exactly=True), KnownLatent("b", [0], [1, "X3", 3])]
        with pytest.raises(KnowledgeConflictError, match=r"'a' and 'b'.*twins"):
            Background(twins).resolved(OBSERVED)

    def test_known_children_may_be_shared(self):
        shared = [KnownLatent("a", ["X1"]), KnownLatent("b", ["X1"], exactly=True)]
        assert Background(shared).resolved(OBSERVED).names == ("a", "b")

    @pytest.mark.parametrize(
        ("edges", "error", "match"),
        [
            (Knowledge(required=[("a", "c")]), InvalidInputError, "'c', but the latents are a, b"),
            (Knowledge([("a", "b"), ("b", "a")]), KnowledgeConflictError, "cycle"),
            (Knowledge([("b", "a")], tiers=[["a"], ["b"]]), KnowledgeConflictError, "b→a"),
            ([("a", "b")], InvalidInputError, "Knowledge; got list"),
        ],
    )
    def test_edges_are_among_the_known_latents(self, edges, error, match):
        with pytest.raises(error, match=match):
            Background([KnownLatent("a", ["X1"]), KnownLatent("b", ["X2"])], edges)

    def test_latents_are_records(self):
        with pytest.raises(InvalidInputError, match="KnownLatent records; got one of type str"):
            Background(["a"])

    def test_order_of_children_does_not_matter(self):
        assert KnownLatent("a", ["X1", 2]) == KnownLatent("a", [np.int64(2), "X1"])


class TestApplication:
    @given(graphs(), st.randoms())
    def test_the_truth_is_recognised_and_changes_nothing(self, graph, random):
        order = list(range(graph.n_latent))
        random.shuffle(order)
        known = Background([exact(graph, j, f"N{j}") for j in order]).resolved(OBSERVED)
        found = known.applied_to(graph, [f"H{j}" for j in range(graph.n_latent)])
        assert found.graph is graph
        assert found.latent_names == tuple(f"N{j}" for j in range(graph.n_latent))
        assert not found.corrections
        assert found.verdict.holds

    @given(graphs(), graphs())
    def test_what_was_matched_is_honoured(self, known_graph, graph):
        """Whatever Γ comes, the latents that took a name have the children that are known."""
        latents = [exact(known_graph, j, f"N{j}") for j in range(known_graph.n_latent)]
        default = [f"H{j}" for j in range(graph.n_latent)]
        found = Background(latents).resolved(OBSERVED).applied_to(graph, default)
        unnamed = [j for j, name in enumerate(found.latent_names) if name.startswith("H")]
        np.testing.assert_array_equal(
            found.graph.adjacency[:, unnamed], graph.adjacency[:, unnamed]
        )
        broken = {name for breach in found.broken for name in breach.offenders}
        for j, latent in enumerate(latents):
            if latent.name not in found.latent_names:
                assert latent.name in broken
                continue
            place = found.latent_names.index(latent.name)
            np.testing.assert_array_equal(
                found.graph.adjacency[:, place], known_graph.adjacency[:, j]
            )
            assert (graph.domain_sizes[place] == latent.domain_size) or latent.name in broken
            assert (graph.adjacency[:, place] & known_graph.adjacency[:, j]).any()
        changed = int((found.graph.adjacency != graph.adjacency).sum())
        assert len(found.corrections) == changed
        assert (found.verdict.holds is False) == bool(found.broken or found.unclear)

    @given(graphs())
    def test_knowing_nothing_changes_nothing(self, graph):
        default = tuple(f"H{j}" for j in range(graph.n_latent))
        found = Background().resolved(OBSERVED).applied_to(graph, default)
        assert found.graph is graph
        assert found.latent_names == default
        assert found.n_broken == 0
        assert found.edges == Knowledge()

    def test_corrections_are_told(self):
        wear = KnownLatent("wear", ["X1", "X2"], ["X4"])
        found = applied([wear], [[1, 0], [0, 0], [1, 1], [1, 1]], (2, 3))
        assert found.latent_names == ("wear", "H2")
        assert found.corrections == ("wear drives X2", "wear does not drive X4")
        assert found.graph.adjacency[:, 0].tolist() == [True, True, True, False]
        assert found.graph.method == "given, corrected"
        assert found.graph.residual == pytest.approx(np.log(2))
        assert found.verdict.holds
        assert "correcting Γ: wear drives X2; wear does not drive X4" in found.verdict.message

    def test_a_latent_is_recognised_by_its_children_before_its_size(self):
        """One latent has another size, the other lacks a child: the first is the one meant."""
        wear = KnownLatent("wear", ["X1", "X2"], domain_size=3)
        found = applied([wear], [[0, 1], [1, 1], [1, 0], [1, 0]], (3, 2))
        assert found.latent_names == ("H1", "wear")
        assert found.verdict.offenders == (("wear",),)
        assert found.verdict.message == "'wear' should have 3 states and was found with 2"

    def test_a_single_wrong_size_counts_less_than_many_wrong_children(self):
        wear = KnownLatent("wear", ["X1", "X2", "X3"], domain_size=3)
        found = applied([wear], [[0, 1], [0, 1], [1, 1], [1, 0]], (3, 2))
        assert found.latent_names == ("H1", "wear")

    def test_as_many_latents_as_possible_are_found(self):
        """'a' fits the first latent best, but it is the only one that can be 'b'."""
        latents = [KnownLatent("a", ["X1", "X2"]), KnownLatent("b", ["X2"], ["X1"])]
        found = applied(latents, [[1, 1], [1, 0], [0, 1], [0, 1]], (2, 2))
        assert found.latent_names == ("b", "a")
        assert found.corrections == ("b does not drive X1", "a drives X2")

    def test_a_latent_without_any_known_child_is_another_one(self):
        found = applied([KnownLatent("wear", ["X1", "X2"])], [[0], [0], [1], [1]], (2,))
        assert found.latent_names == ("H1",)
        assert found.n_broken == 1
        assert "no latent was found that could be 'wear'" in found.verdict.message

    def test_a_latent_is_not_left_without_children(self):
        found = applied([KnownLatent("wear", [], ["X1", "X2"])], [[1], [1], [0], [0]], (2,))
        assert found.latent_names == ("H1",)
        assert found.verdict.offenders == (("wear",),)

    def test_a_name_that_fits_two_latents_is_told(self):
        found = applied([KnownLatent("wear", ["X1"])], [[1, 1], [1, 0], [0, 1], [0, 1]], (2, 2))
        assert found.n_broken == 0
        assert found.verdict.offenders == (("wear",),)
        assert "behind X1, X2 and the latent behind X1, X3, X4" in found.verdict.message

    def test_corrections_that_make_twins_are_told(self):
        first = KnownLatent("a", ["X1", "X2"], exactly=True, domain_size=3)
        second = KnownLatent("b", ["X1", "X2"], ["X3"])
        found = applied([first, second], [[1, 1], [1, 1], [1, 0], [0, 0]], (2, 3))
        assert found.latent_names == ("b", "a")
        assert found.corrections == ("b does not drive X3",)
        assert found.n_broken == 1
        assert found.verdict.offenders == (("b", "a"),)
        assert "cannot be distinguished" in found.verdict.message

    def test_edges_go_with_the_latents_that_were_found(self):
        latents = [
            KnownLatent(name, [child]) for name, child in zip("abc", OBSERVED[:3], strict=True)
        ]
        edges = Knowledge(required=[("c", "a")], tiers=[["a"], [1]])
        found = applied(latents, [[1, 0], [0, 1], [0, 0], [0, 0]], (2, 2), edges)
        assert found.latent_names == ("a", "b")
        assert found.edges == Knowledge(forbidden=[("b", "a")])
