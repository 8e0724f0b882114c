import warnings

import numpy as np
import pytest

from mixoracle import LatentGraphLearner
from mixoracle.assumptions import Verdict
from mixoracle.datasets import paper_problem, random_model
from mixoracle.errors import AssumptionWarning
from mixoracle.model import CPDAG, JointTable, LatentModel
from mixoracle.solving import COMPENSATES, Alternative
from mixoracle.trust.bootstrap import Resampler
from mixoracle.trust.essential import essential_failure
from mixoracle.trust.held_out import HeldOut
from mixoracle.trust.overall import overall

MODEL = random_model(2, 4, random_state=0)


def failed(label, strength=None):
    return Verdict("some assumption", label, False, "it is broken", (("H1",),), strength)


def judged(*verdicts, **more):
    return overall(MODEL, verdicts, **{"n_samples": 5_000, **more})


def test_nothing_against_it_is_believed():
    found = judged(Verdict("a", "assm:twins", True, "Yes."), Verdict("b", "sec:bg", None, "?"))
    assert (found.level, found.reasons, found.looks_continuous) == ("believe", (), False)


@pytest.mark.parametrize(
    ("label", "level"),
    [
        ("continuous", "doubt"),
        ("obs:counting", "doubt"),
        ("assum:ssc", "part"),
        ("assump:strong:NZ", "part"),
        ("assump:strong:SDC", "part"),
        ("assm:twins", "part"),
        ("sec:exact", "part"),
        ("sec:bg", "part"),
        ("background", "part"),
        ("thm:recovery:eff", "believe"),
        ("something new", "believe"),
    ],
)
def test_each_failure_has_its_weight(label, level):
    found = judged(failed(label))
    assert found.level == level
    assert found.looks_continuous == (label == "continuous")
    for reason in found.reasons:
        assert "In doubt: " in reason
        assert "It is broken." in reason
        assert "What to do: " in reason


def test_causes_may_stand_where_something_beside_them_does_not():
    for label in ("sec:bg", "sec:exact", "assum:ssc", "background"):
        found = judged(failed(label))
        assert (found.level, found.grade, found.causes_in_doubt) == ("part", "beside", False)
    few = judged(n_samples=10)
    assert (few.level, few.grade) == ("part", "beside")
    for found in (judged(failed("assump:strong:NZ")), judged(uncertain=["X1"])):
        assert (found.level, found.grade, found.causes_in_doubt) == ("part", "part", True)
    assert judged(failed("continuous")).grade == "doubt"
    assert judged().grade == "believe"
    # What puts the causes in doubt comes first.
    both = judged(failed("sec:exact"), failed("assm:twins"))
    assert both.reasons[0].startswith("In doubt: which causes there are.")


def test_the_worst_reason_comes_first():
    found = judged(failed("assum:ssc"), failed("continuous"))
    assert found.level == "doubt"
    assert found.reasons[0].startswith("In doubt: the states.")


def test_strong_dependence_given_the_states_is_essential():
    weak, strong = failed("sec:bg", 0.1), failed("sec:bg", 0.97)
    assert judged(weak).level == "part"
    assert judged(strong).level == "doubt"
    assert essential_failure([weak]) == ""
    assert essential_failure([strong]) == "some assumption: it is broken"


def test_a_better_fit_is_never_called_nearly_as_good():
    close, far = (Alternative(MODEL, 0.0, gap) for gap in (3.0, 73.0))
    better = Alternative(MODEL, 0.0, -13_233.0, "it leaves joint states empty")
    assert judged(alternatives=[far]).level == "believe"
    (reason,) = judged(alternatives=[better, far]).reasons
    assert "fits better, by 13,233 nats, but it leaves joint states empty." in reason
    assert "nearly" not in reason
    (reason,) = judged(alternatives=[close]).reasons
    assert "nearly as well, worse by 3 nats" in reason


def test_a_better_fit_that_only_makes_up_for_a_shape_is_no_doubt():
    assert judged(alternatives=[Alternative(MODEL, 0.0, -686.0, COMPENSATES)]).level == "believe"


def test_limits_and_thin_data():
    found = judged(at_limit=["X1"], limit=5)
    assert found.level == "doubt"
    assert "X1 reached the most components that are allowed (5)" in found.reasons[0]
    found = judged(at_limit=["X1"])
    assert found.level == "part"
    assert "that so few cases can tell apart" in found.reasons[0]
    found = judged(uncertain=["X1", "X2", "X3", "X4", "X5"])
    assert "X1, X2, X3, X4 and 1 more" in found.reasons[0]
    assert "few for" in judged(n_samples=10).reasons[0]
    assert judged(converged=False).level == "part"
    assert not judged(converged=False).causes_in_doubt
    assert "Only one of 8 starts" in judged(starts=(1, 8)).reasons[0]
    assert judged(starts=(2, 8)).level == judged(starts=(1, 1)).level == "believe"


def test_no_cause_is_not_put_in_doubt_by_shapes(no_latents):
    found = overall(no_latents, [failed("sec:exact")], n_samples=50, uncertain=["X1"])
    assert found.level == "believe"


def test_dozens_of_states_are_doubted():
    size = 30
    model = LatentModel(
        observed_names=["X1", "X2"],
        latent_names=["H1"],
        bipartite=np.ones((2, 1)),
        domain_sizes=(size,),
        joint=JointTable(np.full(size, 1 / size)),
        latent_graph=CPDAG(1),
    )
    found = overall(model, [], n_samples=10_000)
    assert found.level == "doubt"
    assert "It has 30 states" in found.reasons[0]


def test_reaching_the_limit_is_said_by_the_learner():
    rng = np.random.default_rng(0)
    centres = np.arange(6)[rng.integers(6, size=400)] * 10.0
    rows = centres[:, None] + rng.normal(size=(400, 3))
    learner = LatentGraphLearner(max_components=3, random_state=0)
    # Whether something else fails as well does not matter here.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        learner.fit(rows)
    assert learner.verdict_.level == "doubt"
    assert "reached the most components that are allowed (3)" in " ".join(learner.verdict_.reasons)


@pytest.mark.parametrize(("better", "is_doubted"), [(0.45, False), (0.3, True)])
def test_half_of_a_few_unseen_cases_may_fit_worse_by_chance(better, is_doubted):
    held_out = HeldOut(None, -1.0, None, n_rows=50, better=better)
    assert (judged(held_out=held_out).level == "doubt") is is_doubted


def test_an_answer_that_parts_of_few_rows_do_not_show_is_doubted():
    verdict = judged(comes_back=False)
    assert verdict.causes_in_doubt
    assert "without a part of the cases" in verdict.reasons[0]


def test_few_rows_are_learned_from_again_only_where_nothing_else_is_in_doubt(monkeypatch):
    asked = []

    def comes_back(self):
        asked.append(self.prepared.n_samples)
        return False

    monkeypatch.setattr(Resampler, "comes_back", comes_back)
    rows = paper_problem(2, 5, 3, n_samples=150, random_state=1, covariance="code").observations
    doubted = LatentGraphLearner(random_state=0).fit(rows)
    assert asked == [150]
    assert any("without a part of the cases" in reason for reason in doubted.verdict_.reasons)
    noise = np.random.default_rng(0).lognormal(size=(50, 8))
    assert LatentGraphLearner(random_state=0).fit(noise).verdict_.causes_in_doubt
    assert asked == [150]
