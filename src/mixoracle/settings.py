"""The numbers that the core was given rather than computed: how much work, and what is believed.

:class:`Budget` bounds the work: more of it takes longer, and may end at a better optimum.
:class:`Priors` holds what is believed before any data are seen; an answer may depend on it. Both
are passed down from the learner as :class:`Settings`. A number stays where it is used if it is a
limit of double precision, the tolerance of an iteration, or part of one family's own mathematics.
How far answers and seconds depend on each number is measured by
``benchmarks/bench_sensitivity.py``; ``docs/constants.md`` has the table.
"""

from __future__ import annotations

from dataclasses import dataclass

from mixoracle._clock import NO_LIMIT, Clock


@dataclass(frozen=True)
class Budget:
    """How much work is done at most."""

    # --- rows ---
    # Structure, and what is left of it in the residuals, shows in this many rows; more rows sharpen
    # parameters, which is refinement's job.
    search_rows: int = 40_000
    # Statistics of all rows that structure is searched in: 1 GB, so that hundreds of variables are
    # searched in fewer rows.
    search_entries: int = 125_000_000
    # Of a table that does not fit into memory, structure is learned from so many rows at random,
    # or, of a wide table, from as many as make so many cells: five times what the search looks at,
    # so that a joint state of one row in 20 000 has the ten rows that a component needs.
    sample_rows: int = 200_000
    sample_cells: int = 20_000_000
    # One mixture over all of X compares each row with each component, many times.
    mixture_rows: int = 6_000
    # Tails, and the usual distance of neighbours, show in so many rows.
    shape_rows: int = 1_000
    # Numbers of one array of rows that is worked on at a time: 2 MB of them stay in the cache.
    chunk_entries: int = 262_144
    # Numbers of one array of pieces that are all compared: 32 MB of them.
    piece_entries: int = 4_000_000

    # --- components ---
    # The most components of one variable, where nobody says otherwise.
    components: int = 128
    # Pieces that k-means cuts a block into at first; more if that was too few.
    first_pieces: int = 32
    # Later iterations of k-means hardly move the borders of its pieces.
    kmeans_iterations: int = 5
    # Rows, for each of its starts, among which k-means looks for them.
    rows_per_start: int = 50
    # Rows that might be the next start; the one that leaves least distance is taken.
    start_trials: int = 4
    # The most things that are all compared with each other, or with every row: components over X,
    # states of one latent. A single latent with more states says nothing that a user could read.
    compared: int = 400
    # Up to so many joint states every row is compared with all of them, beyond it with those that
    # it leaves open: the work of the first grows with their number, that of the second does not.
    listed: int = 64
    # Label tuples that may be components over X; rarer ones are mostly single mislabelled rows.
    tuples: int = 1_500
    # Rounds in which labels and components over X correct each other.
    label_rounds: int = 2
    # Variables that together correct the labels of another one: its parents, seldom more than three
    # or four, show in so many.
    neighbours: int = 4
    # Rounds of everything else that ends by itself, as a rule sooner: rows with missing values,
    # components over X among the joint states.
    rounds: int = 5

    # --- EM ---
    # Iterations at most: to convergence, and to try a change out.
    em: int = 100
    em_short: int = 8
    # Passes of EM over all rows of such a table; from the answer on the sample, two or three do.
    passes: int = 6
    # One mixture over all of X: its starts, and the merges that are tried out unless they promise
    # a loss of more nats than this.
    mixture_starts: int = 4
    merges_tried: int = 8
    promised_loss: float = 60.0

    # --- decoding ---
    joint_states: int = 10_000
    # Proposals in a row that brought nothing better.
    patience: int = 24
    # Up to this many latents all parent sets of a variable are tried, beyond it one at a time; from
    # so many others another one may follow.
    all_parent_sets: int = 4
    # Changes of the latents that are evaluated, while there are few components over X.
    moves: int = 150
    few_components: int = 100
    # Coarse answers that are looked at where the family does not fit.
    coarse_levels: int = 4
    # Candidates of one oracle that are refined; further ones never won on any problem.
    candidates: int = 3


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

    # --- how many components ---
    # With fewer rows to each, on average, components are mostly noise; a row of a component has so
    # many neighbours.
    rows_per_component: int = 8
    # Nats that make no difference: starts of EM so close ended at the same answer, a gain so small
    # is not worth another round, and a label tuple must be worth more, beyond BIC, being one of
    # many that might have been.
    same_evidence: float = 2.0

    # --- rows out of place ---
    # Robust standard deviations, of the logarithm of the distance to a neighbour, above the median
    # at which a row is suspected to stand alone.
    isolation: float = 4.0
    # The most rows of one variable that are set aside: beyond it they are rows of a kind.
    set_aside_share: float = 0.2
    # The most rows that may be left out at first, as mislabelled, rare or with missing values.
    left_out_share: float = 0.1
    # Share of the rows, or chance for a row, that counts as none: labels are beyond doubt but for
    # these, have settled, or determine one another.
    stray_share: float = 0.01

    # --- shapes that the family does not have ---
    # Tails, relative to normal ones, above which a user is told. Normal components of a few hundred
    # rows stay within 5 %; Laplace and Gamma(2) are at 20 % and more.
    heavy_tails: float = 1.12
    # Fewer rows do not show their shape.
    rows_to_judge: int = 60
    # Rows that the finest coarse answer believes in, and the coarsest: fewer show hardly a state.
    finest_coarse_rows: int = 2_000
    coarsest_rows: int = 100

    # --- choice and checks ---
    # Labels that fit together at once are believed if so many joint states were seen, even where
    # most were not: so many labels do not fit together by chance.
    many_seen: int = 500
    # Candidates whose evidence is worse by this many nats a row are beyond what EM can mend.
    hopeless_candidate: float = 0.5
    # The chance at which independent variables seem to be dependent, before an oracle is asked for
    # them and among all pairs of a finished model, or a row of a component to be none.
    false_alarm: float = 0.01
    # A root-mean-square correlation below this changes no conclusion.
    small_correlation: float = 0.05


@dataclass(frozen=True)
class Settings:
    """Both records and the clock, as the learner passes them down."""

    budget: Budget = Budget()
    priors: Priors = Priors()
    clock: Clock = NO_LIMIT

    def components_over_all(self, n_rows: int) -> int:
        """The most components over X that so many rows tell apart, and that can be compared."""
        return max(1, min(self.budget.compared, n_rows // self.priors.rows_per_component))

    def components_of_one(self, n_rows: int) -> int:
        """The most components of one variable, where nobody says otherwise."""
        return max(1, min(self.budget.components, n_rows // self.priors.rows_per_component))

    def sample_of(self, n_columns: int) -> int:
        """The rows from which the structure of a large table is learned."""
        affordable = self.budget.sample_cells // max(1, n_columns)
        return max(self.budget.search_rows, min(self.budget.sample_rows, affordable))
