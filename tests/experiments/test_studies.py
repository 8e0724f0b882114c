import json
from collections import Counter
from dataclasses import asdict
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixoracle._documents import record
from mixoracle.datasets import PAPER_RATIO, PAPER_SETTINGS
from mixoracle.errors import InvalidInputError
from mixoracle.experiments.studies import (
    STUDY_NAMES,
    Arm,
    Conditions,
    Study,
    define,
    round_robin,
)


def settings_of(study, arm):
    return Counter(t.setting for t in map(study.task, range(study.n_runs)) if t.arm == arm)


def test_the_papers_study_is_what_the_paper_says():
    study = define("paper")
    assert study.n_runs == 600
    for size in (10_000, 15_000):
        expected = {s: 30 * share for s, share in zip(PAPER_SETTINGS, PAPER_RATIO, strict=True)}
        assert settings_of(study, f"N={size}") == expected
    assert {study.task(i).conditions.n_samples for i in range(600)} == {10_000, 15_000}
    conditions = study.task(0).conditions
    assert (conditions.max_domain, conditions.max_joint_states) == (6, 50)
    assert (conditions.width, conditions.scale, conditions.noise) == (5, 0.01, "gaussian")


def test_the_small_study_is_what_the_paper_says():
    study = define("small")
    assert study.n_runs == 136
    drawn = settings_of(study, "N=1000")
    assert set(drawn) == {(1, 3), (2, 5), (3, 7), (3, 8), (4, 7)}
    ratio = {(1, 3): 1, (2, 5): 2, (3, 7): 1, (3, 8): 1, (4, 7): 1}
    for setting, share in ratio.items():
        assert abs(drawn[setting] - 136 * share / 6) < 1


@given(st.lists(st.integers(1, 6), min_size=1, max_size=7))
def test_every_beginning_of_the_schedule_is_in_proportion(ratio):
    cycle = round_robin(ratio)
    assert Counter(cycle) == dict(enumerate(ratio))
    total = sum(ratio)
    for length in range(1, total + 1):
        drawn = Counter(islice(cycle, length))
        for index, share in enumerate(ratio):
            assert abs(drawn[index] - length * share / total) < 1


@pytest.mark.parametrize("name", STUDY_NAMES)
def test_a_longer_study_begins_with_the_shorter_one(name):
    short, long = define(name, runs=3, seed=5), define(name, runs=7, seed=5)
    assert [short.task(i) for i in range(short.n_runs)] == [
        long.task(i) for i in range(short.n_runs)
    ]


@pytest.mark.parametrize("name", STUDY_NAMES)
def test_seeds_are_shared_within_a_round_of_a_paired_study_and_nowhere_else(name):
    study = define(name, runs=4)
    tasks = [study.task(i) for i in range(study.n_runs)]
    seeds = [task.entropy for task in tasks]
    assert len(set(seeds)) == (4 if study.paired else study.n_runs)
    if study.paired:
        for place in range(4):
            one_round = tasks[place * len(study.arms) : (place + 1) * len(study.arms)]
            assert len({task.entropy for task in one_round}) == 1
            assert len({task.setting for task in one_round}) == 1


def test_no_two_studies_or_seeds_share_a_seed():
    seeds = [
        {study.task(i).entropy for i in range(study.n_runs)}
        for name in STUDY_NAMES
        for study in (define(name, runs=3, seed=0), define(name, runs=3, seed=1))
    ]
    assert len(set.union(*seeds)) == sum(map(len, seeds))


@pytest.mark.parametrize("name", STUDY_NAMES)
def test_a_study_survives_its_dict(name):
    study = define(name, runs=2, seed=9, covariance="text")
    assert record(Study, json.loads(json.dumps(asdict(study))), "study") == study


def test_the_oracle_changes_no_problem():
    ours, theirs = define("paper", runs=5), define("paper", runs=5, oracle="kmeans")
    for number in range(10):
        one, two = ours.task(number), theirs.task(number)
        assert (one.entropy, one.setting) == (two.entropy, two.setting)
        assert (one.conditions.oracle, two.conditions.oracle) == ("signature", "kmeans")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: define("papers"), "one of paper, small"),
        (lambda: define("paper", oracle="kmean"), "oracle should be one of signature, kmeans"),
        (lambda: define("paper", covariance="words"), "covariance should be one of"),
        (lambda: define("search", samples=[100, 200]), "takes one sample size; got 2"),
        (lambda: define("paper", samples=[]), "takes some sample size; got 0"),
        (lambda: define("paper", samples=[1]), "at least 2 samples"),
        (lambda: define("paper", samples=[500, 500]), "each with its own name"),
        (lambda: define("paper", runs=0), "runs should be at least 1"),
        (lambda: define("paper", seed=-1), "seed at least 0"),
        (lambda: define("paper").task(600), "from 0 to 599; got 600"),
        (lambda: Conditions(100, noise="loud"), "noise should be one of"),
        (lambda: Conditions(100, search="luck"), "search should be one of"),
        (lambda: Arm("a", Conditions(100), ((1, 3),), (0,)), "positive share"),
        (lambda: Study("mine", (), 1, 0, False), "a study should be one of"),
    ],
)
def test_bad_requests_are_refused(make, message):
    with pytest.raises(InvalidInputError, match=message):
        make()
