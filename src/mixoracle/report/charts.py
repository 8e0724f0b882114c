"""What tables and legends show beside numbers: a bar, a symbol; and the likeliest joint states.

Sizes and colours are attributes, never style attributes, so that a page can forbid inline styles
altogether.
"""

from __future__ import annotations

from math import prod

from mixoracle.model import Joint, LatentModel

# Numbers from here on are given as powers.
_LONG_NUMBER = 1_000_000

# Circle, square, triangle, diamond, star, cross, wye and times, in the order in which the page's
# script gives them to states.
_SYMBOLS = (
    "M4 0A4 4 0 1 1 -4 0A4 4 0 1 1 4 0z",
    "M-3.6 -3.6h7.2v7.2h-7.2z",
    "M0 -4.8L4.6 3.2h-9.2z",
    "M0 -5.4L3.3 0L0 5.4L-3.3 0z",
    "M0 -5.2L1.2 -1.6H5L1.9 0.6L3.1 4.2L0 2L-3.1 4.2L-1.9 0.6L-5 -1.6H-1.2z",
    "M-1.5 -4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
    "M-1.4 5v-4.2L-5 -1.3L-3.6 -3.7L0 -1.6L3.6 -3.7L5 -1.3L1.4 0.8V5z",
    "M-4 -2L-2 -4L0 -2L2 -4L4 -2L2 0L4 2L2 4L0 2L-2 4L-4 2L-2 0z",
)


def bar(share: float, colour: str = "#3b7dd8") -> str:
    """A horizontal bar, a share of the room that the page gives it."""
    percent = 100 * min(max(share, 0.0), 1.0)
    return (
        '<svg class="bar" width="100%" height="10" aria-hidden="true" focusable="false">'
        '<rect class="bar-room" width="100%" height="10" rx="5" fill="#e6eaef"/>'
        f'<rect width="{percent:.1f}%" height="10" rx="5" fill="{colour}"/></svg>'
    )


def likeliest_states(model: LatentModel, most: int) -> list[tuple[tuple[int, ...], float]]:
    """The likeliest joint states with their probabilities."""
    states, probabilities = model.joint.likeliest(most)
    return list(zip(map(tuple, states.tolist()), probabilities.tolist(), strict=True))


def count_of(joint: Joint) -> str:
    """How many joint states there are, as a number that can be read: 24, or 2^30."""
    return f"{joint.n_joint}" if joint.n_joint < _LONG_NUMBER else joint.sizes_in_words


def counted_states(model: LatentModel) -> str:
    """The joint states that were looked at: all, or those of each cause with its parents."""
    families = model.joint.families()
    if len(families) == 1:
        return f"{model.joint.n_joint} joint states"
    n_states = sum(prod(model.domain_sizes[j] for j in held) for held in families if len(held) > 1)
    return f"{n_states} joint states of a cause and its direct causes"


def symbol_path(state: int) -> str:
    """The symbol of a state, the same as in the pictures, about a centre of 0."""
    return _SYMBOLS[state % len(_SYMBOLS)]
