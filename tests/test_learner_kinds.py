"""Learning from answers, counts, amounts, mixed blocks and tables with gaps."""

import warnings
from functools import cache
from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from mixoracle import LatentGraphLearner, LatentModel, Observations
from mixoracle.datasets import item_problem, kind_problem, paper_problem, with_gaps
from mixoracle.errors import AssumptionWarning, DataWarning, InvalidInputError, MixoracleError
from mixoracle.metrics import compare, compare_states

# Small samples miss joint states now and then; tests about warnings ask for them by name.
pytestmark = pytest.mark.filterwarnings("ignore::mixoracle.errors.AssumptionWarning")

KINDS = ("categorical", "counts", "gamma", "mixed")


def drawn(kind, seed, n_samples=500, **choices):
    return kind_problem(2, 5, 2, n_samples, random_state=seed, kind=kind, **choices)


def families_of(kind):
    return "gamma" if kind == "gamma" else None


def fitted(X, groups=None, **settings):
    return LatentGraphLearner(**{"random_state": 0, "n_init": 1} | settings).fit(X, groups=groups)


@cache
def learned(kind):
    """A problem of each kind with some cells missing, and what was learned from it."""
    problem = drawn(kind, 1)
    observations = with_gaps(problem.observations, 0.05, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        return problem, observations, fitted(observations, families=families_of(kind))


def is_exact(problem, learner):
    found = compare(problem.model, learner.model_)
    return found.bipartite_exact and found.domains_exact


def moved(observations, rng):
    """The same cases with rows, columns and variables in another order."""
    rows = rng.permutation(observations.n_samples)
    starts = np.cumsum((0, *observations.widths))
    variables = rng.permutation(observations.n_observed)
    orders = [rng.permutation(observations.widths[i]) for i in variables]
    places = np.concatenate([starts[i] + o for i, o in zip(variables, orders, strict=True)])
    answer = Observations(
        observations.values[rows][:, places],
        tuple(observations.names[i] for i in variables),
        tuple(observations.widths[i] for i in variables),
        tuple(
            tuple(observations.levels[i][c] for c in order)
            for i, order in zip(variables, orders, strict=True)
        ),
    )
    return answer, rows


class TestStructure:
    """A few problems in which everything must be right; rates over seeds are in benchmarks/."""

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("seed", range(2))
    def test_structure_behind_every_kind(self, kind, seed):
        problem = drawn(kind, seed, n_samples=400, width=4)
        learner = fitted(problem.observations, families=families_of(kind))
        assert is_exact(problem, learner)
        assert compare_states(problem.states, learner.states_).joint_accuracy > 0.95

    @pytest.mark.parametrize(("share", "seed"), [(0.1, 0), (0.3, 1)])
    def test_structure_behind_missing_values(self, share, seed):
        problem = paper_problem(2, 4, 2, 400, random_state=seed, covariance="code")
        assert is_exact(problem, fitted(with_gaps(problem.observations, share, seed)))

    @pytest.mark.parametrize(("share", "seed"), [(0.1, 0), (0.3, 1)])
    def test_structure_behind_answers_with_missing_values(self, share, seed):
        problem = drawn("categorical", seed, n_samples=800)
        assert is_exact(problem, fitted(with_gaps(problem.observations, share, seed)))

    @pytest.mark.parametrize("seed", range(2))
    def test_single_items(self, seed):
        """Items with a skill of their own come back; shared ones have too few distributions."""
        problem = item_problem(2, 14, 1500, random_state=seed)
        found = fitted(problem.observations).model_.bipartite
        pairs = permutations(range(found.shape[1]), 2)
        truth = problem.model.bipartite
        assert max(np.mean(found[:, list(pair)] == truth) for pair in pairs) > 0.9


class TestInvariance:
    @pytest.mark.parametrize("share", [0.0, 0.1])
    @pytest.mark.parametrize("kind", ["categorical", "mixed", "items"])
    def test_any_order_gives_the_same_model(self, kind, share):
        seed = round(10 * share)
        if kind == "items":
            problem = item_problem(2, 8, 220, random_state=seed)
        else:
            problem = drawn(kind, seed, n_samples=220)
        observations = problem.observations
        if share:
            observations = with_gaps(observations, share, seed)
        other, rows = moved(observations, np.random.default_rng(seed))
        first, second = fitted(observations), fitted(other)
        found = compare(first.model_, second.model_)
        assert found.bipartite_exact
        assert found.domains_exact
        assert found.joint_tv < 1e-6
        agreement = compare_states(first.states_[rows], second.states_)
        assert agreement.joint_accuracy == 1.0

    @pytest.mark.parametrize("kind", ["categorical", "mixed"])
    def test_the_number_of_jobs_changes_nothing(self, kind):
        _, observations, learner = learned(kind)
        parallel = fitted(observations, n_jobs=2)
        assert parallel.model_ == learner.model_
        np.testing.assert_array_equal(parallel.states_, learner.states_)

    def test_units_change_nothing_but_units(self):
        problem = drawn("gamma", 2)
        units = np.exp(2.0 * np.random.default_rng(0).normal(size=25))
        changed = Observations(
            problem.observations.values * units,
            problem.observations.names,
            problem.observations.widths,
        )
        first = fitted(problem.observations, families="gamma")
        second = fitted(changed, families="gamma")
        np.testing.assert_array_equal(first.states_, second.states_)
        lost = np.log(units).sum()
        assert second.score(changed) == pytest.approx(first.score(problem.observations) - lost)


class TestNewRows:
    @pytest.mark.parametrize("kind", KINDS)
    def test_rows_that_were_learned_from_get_their_states(self, kind):
        _, observations, learner = learned(kind)
        np.testing.assert_array_equal(learner.predict(observations), learner.states_)
        assert learner.score(observations) * observations.n_samples == pytest.approx(
            learner.log_likelihood_
        )

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_row_with_nothing_gets_what_holds_for_all(self, kind):
        _, observations, learner = learned(kind)
        nothing = Observations(
            np.full((2, 25), np.nan), observations.names, observations.widths, observations.levels
        )
        joint = learner.model_.joint
        for j, held in enumerate(learner.predict_proba(nothing)):
            np.testing.assert_allclose(held, np.tile(joint.marginal([j]).table, (2, 1)))
        best = np.unravel_index(joint.table.argmax(), joint.table.shape)
        np.testing.assert_array_equal(learner.predict(nothing), np.tile(best, (2, 1)))
        assert learner.score(nothing) == pytest.approx(0.0)

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_block_with_nothing_is_left_out_of_the_posterior(self, kind):
        """P(h | x without X_1) ∝ P(h) ∏_{i≠1} P(x_i | h), added up by hand."""
        problem, observations, learner = learned(kind)
        model = learner.model_
        values = problem.observations.values[:20].copy()
        values[:, :5] = np.nan
        rows = Observations(values, observations.names, observations.widths, observations.levels)
        table = model.joint.table
        states = np.stack(np.unravel_index(np.arange(table.size), table.shape), axis=1)
        codes = model.component_of_states(states)
        with np.errstate(divide="ignore"):
            score = np.tile(np.log(table.ravel()), (20, 1))
        for i, held in enumerate(model.components):
            if i > 0:
                score += held.log_density(rows[i])[:, codes[:, i]]
        weights = np.exp(score - score.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        for j, found in enumerate(learner.predict_proba(rows)):
            by_hand = [weights[:, states[:, j] == s].sum(axis=1) for s in range(table.shape[j])]
            np.testing.assert_allclose(found, np.stack(by_hand, axis=1), atol=1e-12)

    @pytest.mark.parametrize("kind", KINDS)
    def test_gaps_in_other_rows_change_nothing(self, kind):
        problem, observations, learner = learned(kind)
        values = problem.observations.values[:10].copy()
        whole = Observations(values, observations.names, observations.widths, observations.levels)
        before = learner.predict_proba(whole)
        values[:5] = np.where(np.random.default_rng(0).random((5, 25)) < 0.6, np.nan, values[:5])
        holes = Observations(values, observations.names, observations.widths, observations.levels)
        for one, other in zip(before, learner.predict_proba(holes), strict=True):
            np.testing.assert_array_equal(one[5:], other[5:])
            np.testing.assert_allclose(other.sum(axis=1), 1.0)

    def test_gaps_make_states_less_sure(self):
        problem, observations, learner = learned("categorical")
        values = problem.observations.values.copy()
        values[:, 5:] = np.nan
        rows = Observations(values, observations.names, observations.widths, observations.levels)
        sure = learner.predict_proba(problem.observations)
        for one, other in zip(sure, learner.predict_proba(rows), strict=True):
            assert one.max(axis=1).mean() > other.max(axis=1).mean()

    def test_levels_never_seen_are_missing_and_said(self):
        _, observations, learner = learned("categorical")
        frame = observations.take(slice(0, 4)).to_frame()
        column = observations.column_names[0]
        strange = frame.astype(object)
        strange.loc[[0, 2], column] = "unheard of"
        with pytest.warns(DataWarning, match=r"X1\[0\]: 2 of 4 new cells .*'unheard of'"):
            found = learner.predict_proba(strange)
        gaps = frame.astype(object)
        gaps.loc[[0, 2], column] = None
        for one, other in zip(found, learner.predict_proba(gaps), strict=True):
            np.testing.assert_allclose(one, other)

    def test_numbers_where_words_were_learned_and_the_other_way_round(self):
        words = pd.DataFrame(
            {f"q{i}": np.array(["no", "yes"])[np.arange(200) // 2 % 2] for i in range(3)}
        )
        with pytest.warns(DataWarning, match=r"q\d: 5 of 5 new cells"):
            fitted(words).predict(pd.DataFrame(np.zeros((5, 3)), columns=words.columns))
        numbers = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 3)), columns=list("abc"))
        with pytest.raises(InvalidInputError, match=r"a held numbers .* hold 'x': give numbers"):
            fitted(numbers).predict(pd.DataFrame({c: ["x", "y"] for c in "abc"}))


@pytest.fixture(scope="module")
def learned_frame():
    frame, state = TestFrames.frame()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        return frame, state, fitted(frame)


class TestFrames:
    @staticmethod
    def frame(n=600, seed=0):
        """One latent behind text, marks, counts, truth values and a measurement."""
        rng = np.random.default_rng(seed)
        state = rng.integers(2, size=n)

        def answers():
            return np.where(rng.random(n) < 0.9, state, 1 - state)

        return pd.DataFrame(
            {
                "mood": np.array(["good", "bad"])[answers()],
                "size": pd.Categorical.from_codes(answers(), ["small", "large"]),
                "mark": 1 + answers() + 2 * rng.integers(2, size=n),
                "passed": answers().astype(bool),
                "visits": rng.poisson(3.0 + 20.0 * state),
                "weight": 60.0 + 30.0 * state + rng.normal(size=n),
            }
        ), state

    def test_all_kinds_of_columns_together(self, learned_frame):
        _, state, learner = learned_frame
        assert learner.model_.domain_sizes == (2,)
        assert learner.model_.bipartite.all()
        assert compare_states(state[:, None], learner.states_).accuracy[0] > 0.99
        kinds = [type(held).__name__ for held in learner.model_.components]
        assert kinds == ["CategoricalComponents"] * 4 + ["CountComponents", "GaussianComponents"]

    def test_samples_have_the_levels_that_were_learned_from(self, learned_frame):
        *_, learner = learned_frame
        drawn_rows, states = learner.sample(400, random_state=0)
        assert drawn_rows.levels[0] == (("bad", "good"),)
        assert drawn_rows.levels[1] == (("small", "large"),)
        assert drawn_rows.levels[2] == (("1", "2", "3", "4"),)
        back = drawn_rows.to_frame()
        assert set(back["mood"]) == {"good", "bad"}
        np.testing.assert_array_equal(learner.predict(back), learner.predict(drawn_rows))
        assert np.mean(learner.predict(drawn_rows) == states) > 0.99

    def test_a_level_that_only_the_categories_name_is_possible_but_rare(self):
        frame, _ = self.frame()
        frame["size"] = frame["size"].cat.add_categories(["vast"])
        learner = fitted(frame)
        new = frame.iloc[:2].copy()
        new["size"] = pd.Categorical(["vast", "small"], ["vast", "small"])
        assert np.isfinite(learner.score(new))
        assert learner.score(new.iloc[:1]) < learner.score(new.iloc[1:])

    def test_answers_given_as_numbers_are_read_as_such_again(self):
        frame, _ = self.frame()
        learner = fitted(frame[["mark", "visits", "weight"]])
        array = frame[["mark", "visits", "weight"]].to_numpy(dtype=float)
        np.testing.assert_array_equal(learner.predict(array), learner.states_)
        array[0, 0] = 9.0
        with pytest.warns(DataWarning, match="mark: 1 of 600 new cells .*'9'"):
            learner.predict(array)


class TestOddColumns:
    def problem(self, seed=0):
        return drawn("categorical", seed, n_samples=400)

    @pytest.mark.parametrize("kind", ["categorical", "mixed", "numbers"])
    def test_duplicated_columns(self, kind):
        if kind == "numbers":
            problem = paper_problem(2, 5, 2, 500, random_state=1, covariance="code")
        else:
            problem = drawn(kind, 1)
        held = problem.observations
        doubled = Observations(
            np.hstack([np.hstack([held[name], held[name][:, :2]]) for name in held]),
            held.names,
            (7,) * 5,
            tuple(levels + levels[:2] for levels in held.levels),
        )
        assert is_exact(problem, fitted(doubled))

    def test_constant_columns_and_variables_have_no_parents(self):
        problem = self.problem()
        frame = problem.observations.to_frame().assign(always="same", one=1.0)
        learner = fitted(Observations.from_frame(frame, keep=True))
        found = dict(zip(learner.model_.observed_names, learner.model_.bipartite, strict=True))
        assert not found["always"].any()
        assert not found["one"].any()
        assert learner.model_.domain_sizes == problem.model.domain_sizes

    def test_units_of_very_different_size(self):
        problem = paper_problem(2, 5, 2, 500, random_state=0, covariance="code")
        units = 10.0 ** np.random.default_rng(0).integers(-12, 12, size=25)
        scaled = Observations(
            problem.observations.values * units, problem.observations.names, (5,) * 5
        )
        assert is_exact(problem, fitted(scaled))

    def test_a_rare_level_changes_nothing(self):
        problem = self.problem()
        values = problem.observations.values.copy()
        levels = list(problem.observations.levels)
        levels[0] = (("a", "b", "c", "d", "once"), *levels[0][1:])
        values[7, 0] = 4.0
        rare = Observations(values, problem.observations.names, (5,) * 5, tuple(levels))
        learner = fitted(rare)
        assert is_exact(problem, learner)
        assert np.isfinite(learner.score(rare))

    def test_a_column_with_nothing_is_refused(self):
        frame = self.problem().observations.to_frame().assign(empty=np.nan)
        with pytest.raises(InvalidInputError, match="empty has no value in any row: drop it"):
            fitted(Observations.from_frame(frame, keep=True))

    def test_a_row_with_nothing_gets_the_most_likely_state_and_is_said(self):
        problem = self.problem()
        values = problem.observations.values.copy()
        values[[5, 9]] = np.nan
        held = problem.observations
        with pytest.warns(DataWarning, match="2 of 400 rows have no value at all"):
            learner = fitted(Observations(values, held.names, held.widths, held.levels))
        assert is_exact(problem, learner)
        table = learner.model_.joint.table
        best = np.unravel_index(table.argmax(), table.shape)
        np.testing.assert_array_equal(learner.states_[[5, 9]], [best, best])

    @pytest.mark.parametrize(
        ("families", "match"),
        [
            ("magic", "the family of X1 should be one of"),
            ({"X9": "gamma"}, "none called 'X9'"),
            ({"X1": "gamma"}, "gamma should be above 0; X1"),
            ({"X2": "counts"}, "X2 is declared so"),
            ("categorical", r"X\d is declared categorical, but holds numbers"),
            (7, "families should be"),
        ],
    )
    def test_wrong_declarations_are_refused_in_a_sentence(self, families, match):
        problem = paper_problem(1, 3, 2, 100, random_state=0)
        with pytest.raises(InvalidInputError, match=match) as caught:
            fitted(problem.observations, families=families)
        assert "\n" not in str(caught.value)

    def test_a_declared_family_is_that_of_the_components(self):
        problem = paper_problem(1, 3, 2, 300, random_state=0)
        families = {"X1": "diagonal", "X2": "student"}
        learner = fitted(problem.observations, families=families)
        kinds = [type(held).__name__ for held in learner.model_.components]
        assert kinds == ["DiagonalComponents", "StudentComponents", "GaussianComponents"]
        assert is_exact(problem, learner)


class TestWhichOracle:
    def test_where_single_variables_show_nothing_the_mixture_is_asked(self):
        stages = []
        problem = item_problem(2, 12, 800, random_state=1)
        learner = fitted(problem.observations, progress=stages.append)
        assert any("mixture over all" in stage for stage in stages)
        assert learner.source_ == "projection"
        assert learner.counts_[{0}].confidence is not None
        assert learner.model_.n_latent >= 2

    def test_where_all_variables_show_themselves_it_is_not(self):
        stages = []
        learner = fitted(drawn("categorical", 0).observations, progress=stages.append)
        assert not any("mixture over all" in stage for stage in stages)
        assert learner.source_ == "signature"

    def test_it_can_be_asked_for(self):
        problem = drawn("categorical", 0)
        learner = fitted(problem.observations, oracle="projection")
        assert learner.source_ == "projection"
        assert is_exact(problem, learner)

    def test_variables_without_components_of_their_own_are_named(self, caplog):
        observations = item_problem(1, 4, 300, random_state=0).observations
        with caplog.at_level("INFO", logger="mixoracle.oracles.signature"):
            fitted(observations)
        # Said at each start.
        (message,) = {record.getMessage() for record in caplog.records}
        assert sorted(message.split(": ")[1].split(", ")) == ["item1", "item2", "item3", "item4"]


class TestStrictness:
    @pytest.mark.parametrize("kind", KINDS)
    def test_strict_accepts_what_holds(self, kind):
        problem = drawn(kind, 2, n_samples=800)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            learner = fitted(problem.observations, families=families_of(kind), strict=True)
        assert is_exact(problem, learner)

    def test_strict_refuses_by_name_what_does_not(self):
        """A joint state without rows breaks nondegeneracy (a)."""
        problem = drawn("categorical", 4, n_samples=800)
        kept = ~np.all(problem.states == 0, axis=1)
        with pytest.raises(MixoracleError, match="H"):
            fitted(problem.observations.take(kept), strict=True)


class TestSaving:
    @pytest.mark.parametrize("kind", KINDS)
    def test_a_saved_model_answers_as_before(self, kind, tmp_path):
        _, observations, learner = learned(kind)
        learner.model_.save(tmp_path / "model")
        again = LatentModel.load(tmp_path / "model")
        assert again == learner.model_
        blocks = [observations[name] for name in again.observed_names]
        for one, other in zip(again.components, learner.model_.components, strict=True):
            assert type(one) is type(other)
        for held, block in zip(again.components, blocks, strict=True):
            assert np.isfinite(held.log_density(block)).all()
