"""The definitions: the paper's two studies and five of our own, as numbered runs.

A study has arms, conditions under which its runs are made, and each arm goes through the same
schedule of settings (m, n) in a fixed ratio. The run with a given number is the same whatever the
total: numbers take the arms in turn, and settings by a fair rota, so that any first part of a
study is in proportion, and a longer study begins with the shorter one.

Where arms differ in what is done to a problem rather than in the problem (noise, samples, search)
the study is paired: the runs of one round share a seed, so that they share their graph and P(H).
The paper's own studies draw every problem anew, as the paper did.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from mixoracle.datasets import PAPER_MAX_DOMAIN, PAPER_RATIO, PAPER_SETTINGS
from mixoracle.datasets.shapes import SHAPES
from mixoracle.errors import InvalidInputError

Setting = tuple[int, int]

ORACLES = ("signature", "kmeans")
SEARCHES = ("auto", "exact", "ges", "pc")
COVARIANCES = ("code", "text")
NOISES = ("gaussian", *SHAPES)

# Part of every seed, so that no two studies draw the same problems; never to be renumbered.
_KEYS = {"paper": 1, "small": 2, "overlap": 3, "samples": 4, "size": 5, "families": 6, "search": 7}
STUDY_NAMES = tuple(_KEYS)

PAPER_SAMPLES = (10_000, 15_000)
PAPER_RUNS = 300
SMALL_SAMPLES = (1_000,)
SMALL_RUNS = 136
# "(1, 3), (2, 5), (3, 7), (4, 7), (3, 8) in proportion 1 : 2 : 1 : 1 : 1" (sec: expt_details).
SMALL_SETTINGS: tuple[Setting, ...] = ((1, 3), (2, 5), (3, 7), (4, 7), (3, 8))
SMALL_RATIO = (1, 2, 1, 1, 1)

# Ours. Enough runs for a rate to be known within about 0.1, and a study to take an hour or less.
_OUR_RUNS = 50
# The paper's noise (0.01), three and ten times its variance, on fewer and fewer coordinates.
_OVERLAP_SCALES = (0.01, 0.03, 0.1)
_OVERLAP_WIDTHS = (5, 3, 2)
_SAMPLE_SIZES = (300, 1_000, 3_000, 10_000, 30_000, 100_000)
# (m, n), largest domain and most joint states, each beyond the paper in one direction.
_SIZES: tuple[tuple[Setting, int, int], ...] = (
    ((3, 16), 6, 50),
    ((3, 8), 8, 150),
    ((5, 10), 3, 100),
    ((6, 12), 2, 64),
    ((8, 16), 2, 256),
)
_SIZE_RUNS = 20
# Searches differ only where there are several latents to connect.
_SEARCH_SETTINGS: tuple[Setting, ...] = ((4, 8), (5, 10), (6, 12))
_SEARCH_MAX_DOMAIN, _SEARCH_MAX_JOINT = 3, 100


@dataclass(frozen=True)
class Conditions:
    """How the runs of one arm draw and solve their problems; see :func:`paper_problem`."""

    n_samples: int
    oracle: str = "signature"  # that the learner uses
    search: str = "auto"  # of Λ, by the learner
    covariance: str = "code"  # as the paper's published code draws them, or as its words say
    scale: float = 0.01  # the factor on the covariances
    width: int = 5  # the dimension of each observed variable
    noise: str = "gaussian"  # the shape of the components; means and covariances stay the same
    max_domain: int = PAPER_MAX_DOMAIN
    max_joint_states: int = 50

    def __post_init__(self) -> None:
        for what, value, known in (
            ("oracle", self.oracle, ORACLES),
            ("search", self.search, SEARCHES),
            ("covariance", self.covariance, COVARIANCES),
            ("noise", self.noise, NOISES),
        ):
            if value not in known:
                raise InvalidInputError(
                    f"{what} should be one of {', '.join(known)}; got {value!r}"
                )
        if self.n_samples < 2:
            raise InvalidInputError(f"a run needs at least 2 samples; got {self.n_samples}")


@dataclass(frozen=True)
class Arm:
    """One set of conditions, and the settings (m, n) it goes through in the given ratio."""

    label: str
    conditions: Conditions
    settings: tuple[Setting, ...] = PAPER_SETTINGS
    ratio: tuple[int, ...] = PAPER_RATIO

    def __post_init__(self) -> None:
        if not self.settings or len(self.settings) != len(self.ratio) or min(self.ratio) < 1:
            raise InvalidInputError(
                "an arm needs settings and a positive share for each; "
                f"got {self.settings} in ratio {self.ratio}"
            )


@dataclass(frozen=True)
class Task:
    """One run, complete: :func:`mixoracle.experiments.trial.perform` needs nothing else.

    ``entropy`` seeds it; runs of a paired study that share it share their problem.
    """

    number: int
    arm: str
    setting: Setting
    conditions: Conditions
    entropy: tuple[int, int, int]


@dataclass(frozen=True)
class Study:
    """A named list of runs."""

    name: str  # one of STUDY_NAMES
    arms: tuple[Arm, ...]
    runs: int  # how many each arm has
    seed: int
    paired: bool  # whether the arms share their problems, round by round

    def __post_init__(self) -> None:
        if self.name not in _KEYS:
            raise InvalidInputError(
                f"a study should be one of {', '.join(STUDY_NAMES)}; got {self.name!r}"
            )
        labels = [arm.label for arm in self.arms]
        if not labels or len(set(labels)) != len(labels):
            raise InvalidInputError(f"a study needs arms, each with its own name; got {labels}")
        if self.runs < 1 or self.seed < 0:
            raise InvalidInputError(
                f"runs should be at least 1 and seed at least 0; got {self.runs} and {self.seed}"
            )

    @property
    def n_runs(self) -> int:
        """How many runs there are over all arms."""
        return self.runs * len(self.arms)

    def task(self, number: int) -> Task:
        """The run with this number, from 0; the same for every total number of runs."""
        if not 0 <= number < self.n_runs:
            raise InvalidInputError(f"runs are numbered from 0 to {self.n_runs - 1}; got {number}")
        place, which = divmod(number, len(self.arms))
        arm = self.arms[which]
        cycle = round_robin(arm.ratio)
        return Task(
            number=number,
            arm=arm.label,
            setting=arm.settings[cycle[place % len(cycle)]],
            conditions=arm.conditions,
            entropy=(self.seed, _KEYS[self.name], place if self.paired else number),
        )


def round_robin(ratio: Sequence[int]) -> tuple[int, ...]:
    """One cycle of turns: each index as often as its share says, spread as evenly as can be.

    Tijdeman's rule (The chairman assignment problem, 1980): of those who have fallen behind by
    enough, the one whose next turn is due first. No beginning of the sequence then strays from
    the ratio by a whole turn, which plain weighted round robin does not promise.

    >>> round_robin((1, 2, 1))
    (1, 0, 2, 1)
    """
    total = sum(ratio)
    slack = max(2 * len(ratio) - 2, 1)  # 1/slack of a turn is how far behind is enough
    taken = [0] * len(ratio)
    cycle = []
    for turn in range(1, total + 1):
        behind = [
            index
            for index, share in enumerate(ratio)
            if slack * (turn * share - taken[index] * total) >= total
        ]
        chosen = min(behind, key=lambda i: Fraction(slack * (taken[i] + 1) - 1, ratio[i]))
        taken[chosen] += 1
        cycle.append(chosen)
    return tuple(cycle)


def define(
    name: str,
    *,
    samples: Sequence[int] | None = None,
    runs: int | None = None,
    seed: int = 0,
    oracle: str = "signature",
    covariance: str = "code",
) -> Study:
    """Define the study of that name.

    ``"paper"`` and ``"small"`` are the paper's; ``"overlap"`` varies the noise and the width of the
    observed variables, ``"samples"`` the number of rows, ``"size"`` m, n and the domains,
    ``"families"`` the shape of the noise, ``"search"`` how Λ is searched. ``samples`` are sample
    sizes instead of the study's own, more than one for ``"paper"``, ``"small"`` and ``"samples"``
    only, where each is an arm; ``runs`` is for each arm, instead of the study's own number.

    Examples
    --------
    >>> study = define("paper")
    >>> study.n_runs, study.task(5).setting
    (600, (3, 7))
    """
    if name not in _KEYS:
        raise InvalidInputError(f"a study should be one of {', '.join(STUDY_NAMES)}; got {name!r}")
    usual = {"paper": PAPER_SAMPLES, "small": SMALL_SAMPLES, "samples": _SAMPLE_SIZES}
    sizes = tuple(samples) if samples is not None else usual.get(name, PAPER_SAMPLES[:1])
    if not sizes or (name not in usual and len(sizes) != 1):
        raise InvalidInputError(
            f"the study {name!r} takes {'some' if name in usual else 'one'} sample size; "
            f"got {len(sizes)}"
        )
    base = Conditions(sizes[0], oracle=oracle, covariance=covariance)
    if name in usual:
        settings = (SMALL_SETTINGS, SMALL_RATIO) if name == "small" else ()
        arms = tuple(Arm(f"N={size}", replace(base, n_samples=size), *settings) for size in sizes)
    else:
        arms = _OUR_ARMS[name](base)
    usual_runs = {"paper": PAPER_RUNS, "small": SMALL_RUNS, "size": _SIZE_RUNS}
    chosen = usual_runs.get(name, _OUR_RUNS) if runs is None else runs
    return Study(name, arms, chosen, seed, paired=name not in ("paper", "small", "size"))


def _overlap(base: Conditions) -> tuple[Arm, ...]:
    return tuple(
        Arm(f"scale={scale:g} width={width}", replace(base, scale=scale, width=width))
        for width in _OVERLAP_WIDTHS
        for scale in _OVERLAP_SCALES
    )


def _size(base: Conditions) -> tuple[Arm, ...]:
    return tuple(
        Arm(
            f"m={m} n={n} dim<={largest}",
            replace(base, max_domain=largest, max_joint_states=joint),
            ((m, n),),
            (1,),
        )
        for (m, n), largest, joint in _SIZES
    )


def _families(base: Conditions) -> tuple[Arm, ...]:
    return tuple(Arm(noise, replace(base, noise=noise)) for noise in NOISES)


def _search(base: Conditions) -> tuple[Arm, ...]:
    drawn = replace(base, max_domain=_SEARCH_MAX_DOMAIN, max_joint_states=_SEARCH_MAX_JOINT)
    return tuple(
        Arm(search, replace(drawn, search=search), _SEARCH_SETTINGS, (1,) * len(_SEARCH_SETTINGS))
        for search in SEARCHES
        if search != "auto"
    )


_OUR_ARMS = {"overlap": _overlap, "size": _size, "families": _families, "search": _search}
