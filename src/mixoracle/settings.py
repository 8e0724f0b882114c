"""The numbers that the core was given rather than computed: how much work, and what is believed.

:class:`Budget` bounds the work: more of it takes longer, and may end at a better optimum.
:class:`Priors` holds what is believed before any data are seen; an answer may depend on it. Both
are passed down from the learner. A number stays where it is used if it is a limit of double
precision, the tolerance of an iteration, or part of one family's own mathematics. How far answers
and seconds depend on each number is measured by ``benchmarks/bench_sensitivity.py``;
``docs/constants.md`` has the table.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """How much work is done at most."""

    # --- rows ---
    # Structure shows in this many rows; more rows sharpen parameters, which is refinement's job.
    search_rows: int = 40_000
    # One mixture over all of X compares each row with each component, many times.
    mixture_rows: int = 6_000
    # Correlations show in this many rows.
    residual_rows: int = 50_000
    # The tails of a component show in so many of its rows.
    tail_rows: int = 1_000
    # Numbers of one array that is worked on at a time: 32 MB of them.
    chunk_entries: int = 4_000_000

    # The nearest neighbour whose distance tells whether a row stands alone, and the rows in which
    # it shows what is usual.
    neighbours: int = 8
    isolation_rows: int = 1_000

    # --- components ---
    # The most components of one variable, where nobody says otherwise.
    components: int = 128
    # Pieces that k-means cuts a block into at first; twice as many if that was too few.
    first_pieces: int = 32
    # Later iterations of k-means hardly move the borders of its pieces.
    kmeans_iterations: int = 10
    # Rows among which k-means looks for its starts: in all, and for each of them.
    start_rows: int = 1_500
    rows_per_start: int = 50
    # Rows that might be the next start; the one that leaves least distance is taken.
    start_trials: int = 4
    # With so many rows without a missing value the others can wait until components are known.
    whole_rows: int = 500
    # Rounds in which rows with missing values move to the piece that fits what was seen of them.
    missing_rounds: int = 5
    # The coarse end of a merge path that is always looked at, in pieces.
    coarse_levels: int = 16
    # Components over X whose pairs are compared.
    joint_components: int = 400
    # Label tuples that may be components over X; rarer ones are mostly single mislabelled rows.
    tuples: int = 1_500
    # Rounds in which labels and components over X correct each other.
    label_rounds: int = 2
    label_rounds_without_family: int = 5
    # The components of a variable whose tails are looked at, largest first.
    components_judged: int = 8

    # --- one mixture over all of X ---
    mixture_starts: int = 4
    mixture_rounds: int = 30
    # EM iterations: to convergence, to see whether a component falls apart, to try a change out.
    em_long: int = 60
    em_halving: int = 20
    em_short: int = 8
    merges_tried: int = 8
    # Merges are tried out by EM unless they promise a loss of more nats than this.
    promised_loss: float = 60.0
    pairs_considered: int = 200

    # --- decoding ---
    latents: int = 16
    joint_states: int = 10_000
    proposals: int = 120
    # Proposals in a row that brought nothing better.
    patience: int = 24
    # Up to this many latents all parent sets of a variable are tried, beyond it one at a time.
    all_parent_sets: int = 4
    # Beyond this many latents it is not asked whether some are determined by the others.
    latents_compared: int = 10
    # Rounds in which each component over X moves to its most likely joint state.
    placing_rounds: int = 3
    # Changes of the latents that are evaluated, while there are few components over X.
    moves: int = 150
    moves_components: int = 100
    # States of one latent whose pairs are compared; fewer where that is done again and again.
    states_compared: int = 300
    states_of_rest: int = 100

    # --- refinement ---
    # Candidates of one oracle that are refined; further ones never won on any problem.
    candidates: int = 3
    em_refinement: int = 100
    # With fewer joint states it is quicker to compare a row with all of them.
    few_states: int = 512
    # A single latent with more states than this says nothing that a user could read.
    single_states: int = 400


@dataclass(frozen=True)
class Priors:
    """What is believed before any data are seen."""

    # --- one component ---
    # Rows that the prior mean is worth. Component means spread about sqrt(1/0.05) = 4.5 times as
    # far as the rows within a component, which is where clusters begin to be told apart.
    mean_rows: float = 0.05
    # Degrees of freedom beyond the width. More would force one covariance on all components, fewer
    # let two stray rows pass as a wide component.
    extra_rows: float = 6.0
    # Smallest within-component variance of a column with unit variance: rounded columns have
    # components without any scatter, whose density would be infinite.
    variance_floor: float = 1e-6
    # Rows that the prior is worth in each column of levels, for each level.
    rows_per_level: float = 1.0
    # Degrees of freedom of Student components: heavy tails, but with a variance and a skewness.
    student_degrees: float = 4.0

    # --- values that stand alone ---
    # Robust standard deviations, of the logarithm of the distance to a neighbour, above the median.
    isolation: float = 4.0
    # The most of one variable that is set aside: beyond it these are rows of a kind.
    set_aside_share: float = 0.2

    # --- how many components ---
    # The Dirichlet concentration of the labels of pieces, and of joint states.
    concentration: float = 1.0
    # With fewer rows a piece says nothing about its scatter.
    rows_per_piece: int = 3
    # An answer above this share of the pieces may have been held down by their number.
    full_share: float = 0.5
    # Nats by which a level of a merge path is behind the best one when finer ones are hopeless.
    hopeless_level: float = 300.0
    # With fewer rows to each, on average, components over X are mostly noise.
    rows_per_component: int = 8
    # Nats that a label tuple must be worth beyond BIC, being one of many that might have been.
    tuple_surplus: float = 2.0
    # Tuples and components with less than this many rows' weight are given up.
    negligible_tuple_rows: float = 0.1
    negligible_component_rows: float = 2.0

    # Starts of EM whose evidence is this close, in nats, ended at the same answer.
    same_evidence: float = 2.0
    # Nats that are worth another round: for less, components would be cut and merged in turn.
    worth_a_round: float = 1.0

    # --- labels ---
    # Labels have settled when a smaller share of them changes.
    labels_settled: float = 0.002
    # A label is beyond doubt with this probability, and labels are if that share of the rows has
    # one; the labels of all variables are then asked only if tuples cover less than that share.
    sure: float = 0.95
    sure_rows: float = 0.99
    few_cover: float = 0.9

    # --- shapes that the family does not have ---
    # Tails, relative to normal ones, above which the family is not to be relied on. Normal
    # components of a few hundred rows stay within 5 %; Laplace and Gamma(2) are at 20 % and more.
    heavy_tails: float = 1.12
    # Fewer rows do not show their tails.
    rows_to_judge: int = 60
    # How much emptier than both sides a density valley is, and by how many standard errors.
    valley_share: float = 0.5
    valley_errors: float = 3.0
    # Distance of two small pieces with nothing between them, in standard deviations of both.
    clear_distance: float = 3.0

    # --- decoding ---
    # Labels that fit together at once are believed if this share of the joint states was seen, or
    # so many of them: so many labels do not fit together by chance.
    seen_share: float = 0.5
    many_seen: int = 500
    # Share of the rows that may contradict what determines what.
    stray_share: float = 0.01
    # A proposal that leaves out more of the rows than this explains something else.
    left_out_share: float = 0.1
    # A proposal with more joint states to a component over X has mistaken noise for latents.
    states_per_component: int = 16
    # Candidates whose evidence is worse by this many nats a row are beyond what EM can mend.
    hopeless_candidate: float = 0.5

    # --- checks ---
    # The chance at which independent variables seem to be dependent, before an oracle is asked for
    # them, and among all pairs of a finished model.
    dependent_by_chance: float = 0.001
    false_alarm: float = 0.01
    # A root-mean-square correlation below this changes no conclusion.
    small_correlation: float = 0.05
