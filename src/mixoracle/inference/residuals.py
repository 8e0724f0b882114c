"""Is the learned model right? What is left of each row when its hidden state is taken away.

Given H the observed variables should be independent of each other, and each component should look
like its family. Each row is therefore centred by the component that it belongs to, and scaled.
What is left over should be uncorrelated between any two variables (a latent that was missed, or
states that were merged, leaves them correlated), and for numbers its squared length should have
the tails that the family gives it. Cells that are missing are left out.

Sees linear dependence only, and asks for an effect that matters besides one that is significant:
with enough rows every model of real data is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import norm

from mixoracle._arrays import Bools, Floats, Integers, rows_of_each, rows_with_missing
from mixoracle.assumptions import Verdict
from mixoracle.inference.refine import Refinement
from mixoracle.inference.tails import Tails, tail_error, typical_tails
from mixoracle.mixtures.dependence import (
    dependent_pairs,
    enough_rows,
    excess_of_centring,
    shortened,
    whitened,
)
from mixoracle.mixtures.preparation import Prepared
from mixoracle.model import Bipartite
from mixoracle.model.joint_states import codes_of_parents
from mixoracle.settings import Priors, Settings

# Independence and tails: a right model fails either no more often than one check alone would.
_CHECKS = 2


def check(
    prepared: Prepared, graph: Bipartite, refinement: Refinement, settings: Settings = Settings()
) -> tuple[Verdict, ...]:
    """The verdicts on independence given H and on the components' family."""
    names, priors = prepared.observations.names, settings.priors
    priors = replace(priors, false_alarm=priors.false_alarm / _CHECKS)
    rows = some_rows(prepared.n_samples, settings.budget.search_rows)
    codes = codes_of_parents(refinement.states[rows], graph.adjacency, graph.domain_sizes)
    encoders = [prepared.encoders[place] for place in prepared.places]
    blocks = [prepared.blocks[place][rows] for place in prepared.places]
    tails = [
        typical_tails(
            block,
            _inside(block, code),
            _rows_that_show_tails(block.shape[1], len(blocks), priors),
            settings,
        )
        if encoder.is_shape_judged
        else None
        for encoder, block, code in zip(encoders, blocks, codes.T, strict=True)
    ]
    widths = [block.shape[1] for block in blocks]
    missing = [rows_with_missing(block) for block in blocks]
    some = enough_rows(widths, missing, int(codes.max(initial=0)) + 1, priors)
    codes, blocks = codes[some], [block[some] for block in blocks]
    missing = [gaps[some] for gaps in missing]
    residual = [
        shortened(whitened(encoder.family.embedding(block), code, gaps), code, gaps)
        for encoder, block, code, gaps in zip(encoders, blocks, codes.T, missing, strict=True)
    ]
    independence = _independence(residual, missing, codes, names, priors)
    return independence, _family(tails, names, priors)


def some_rows(n_samples: int, at_most: int) -> Integers | slice:
    """Evenly spaced rows; the prepared order is not the order in time."""
    if n_samples <= at_most:
        return slice(None)
    return np.linspace(0, n_samples - 1, at_most).astype(np.int64)


def _independence(
    residual: list[Floats],
    missing: list[Bools],
    codes: Integers,
    names: Sequence[str],
    priors: Priors,
) -> Verdict:
    """Whether two variables are still dependent when the hidden state is known."""
    name, label = "independent given the latents", "sec:bg"
    n_pairs = len(residual) * (len(residual) - 1) // 2
    if not n_pairs:
        return Verdict(name, label, None, "a single variable depends on no other")
    excess = excess_of_centring(codes)
    matters, strengths = dependent_pairs(residual, priors, excess, missing)
    offenders = [
        (float(strengths[first, second]), names[first], names[second])
        for first, second in np.argwhere(np.triu(matters, 1))
    ]
    if not offenders:
        return Verdict(name, label, True, "no two variables are dependent given the latents")
    offenders.sort(reverse=True)
    strength, first_name, second_name = offenders[0]
    return Verdict(
        name,
        label,
        False,
        f"within the hidden states, {first_name} and {second_name} are still dependent (mean "
        f"correlation {strength:.2f}; {len(offenders)} of {n_pairs} pairs are): a latent or a "
        "state may be missing, or one measurement acts on the other",
        tuple((one, other) for _, one, other in offenders),
        strength=strength,
    )


def _inside(block: Floats, codes: Integers) -> list[Integers]:
    """The rows without a missing value of each component of a variable."""
    whole = np.flatnonzero(~rows_with_missing(block))
    return [whole[rows] for rows in rows_of_each(codes[whole])]


def _errors_of_a_false_alarm(n_variables: int, priors: Priors) -> float:
    """By how many standard errors one of so many tails may be heavier by chance."""
    return float(norm.isf(priors.false_alarm / n_variables))


def _rows_that_show_tails(width: int, n_variables: int, priors: Priors) -> int:
    """How many rows show that tails are so heavy that a user is told.

    Twice as many as a false alarm leaves room for: tails that are a little heavier show, too.
    """
    errors = _errors_of_a_false_alarm(n_variables, priors) * tail_error(width)
    return int(np.ceil(2.0 * (errors / np.log(priors.heavy_tails)) ** 2))


def _family(tails: list[Tails | None], names: Sequence[str], priors: Priors) -> Verdict:
    """Whether the components have the tails of normal ones, by more than chance makes of them."""
    name, label = "components of the assumed family", "sec:exact"
    known = [(held, which) for held, which in zip(tails, names, strict=True) if held is not None]
    if not known:
        return Verdict(name, label, None, "too few rows in each component to see their shape")
    errors = _errors_of_a_false_alarm(len(known), priors)
    heavy = sorted(
        (
            (held.ratio, which)
            for held, which in known
            if held.ratio >= max(priors.heavy_tails, np.exp(errors * held.error))
        ),
        reverse=True,
    )
    typical = float(np.median([held.ratio for held, _ in known]))
    if not heavy:
        return Verdict(
            name,
            label,
            True,
            f"the tails are like those of normal ones ({typical:.2f} times as heavy)",
        )
    worst, which = heavy[0]
    return Verdict(
        name,
        label,
        False,
        f"the components of {which} have {worst:.2f} times the tails of normal ones "
        f"({len(heavy)} of {len(known)} variables are like that): densities and posteriors are "
        "approximate there, and states were judged by what they explain in several measurements",
        tuple((which,) for _, which in heavy),
    )
