"""The colours of the states of a hidden cause: neighbours of its own colour, from light to dark.

Every colour stands out from white paper and from near-black alike (a contrast of about 3 to 1, as
lines and areas need it), so that one picture serves both. States differ in hue and in lightness;
pictures give them different symbols as well.
"""

from __future__ import annotations

from math import atan2, cos, pi, sin

from mixoracle.report.svg import latent_colour

# Hues on either side of the cause's own, in degrees, between which its states lie.
_TURN = 62.0
# Perceived lightness (of OKLCH) of the first and of the last state.
_LIGHTNESS = (0.66, 0.54)
_CHROMA = 0.13


def state_colours(latent: int, n_states: int) -> tuple[str, ...]:
    """The colour of each state of a latent, as CSS and matplotlib write it."""
    own = latent_colour(latent)
    if n_states == 1:
        return (own,)
    hue = _hue(own)
    # Few states need not go far from the colour of their cause.
    turn = min(_TURN, 18.0 * n_states)
    places = [state / (n_states - 1) for state in range(n_states)]
    return tuple(
        _hex(
            _LIGHTNESS[0] + place * (_LIGHTNESS[1] - _LIGHTNESS[0]),
            _CHROMA,
            hue + (2 * place - 1) * turn * pi / 180,
        )
        for place in places
    )


def _hue(colour: str) -> float:
    """The hue of OKLCH, in radians."""
    r, g, b = (_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    long = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) ** (1 / 3)
    middle = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) ** (1 / 3)
    short = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b) ** (1 / 3)
    a = 1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short
    return atan2(0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short, a)


def _hex(lightness: float, chroma: float, hue: float) -> str:
    """A colour of OKLCH; what a screen cannot show is cut off."""
    a, b = chroma * cos(hue), chroma * sin(hue)
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    channels = (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )
    return "#" + "".join(f"{round(255 * _gamma(min(max(c, 0.0), 1.0))):02x}" for c in channels)


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


def _gamma(channel: float) -> float:
    return 12.92 * channel if channel <= 0.0031308 else 1.055 * channel ** (1 / 2.4) - 0.055
