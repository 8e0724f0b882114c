"""Sentences of the library in the words of the report.

Verdicts are written for people who call the library: latents, observed variables, rows. A report
speaks of hidden causes, measurements and cases. A word that occurs in a name of the data is left
alone, because it may mean that one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from mixoracle.assumptions import Verdict
from mixoracle.trust.overall import Overall

# Longer ones first.
_PLAIN = {
    "an observed variable": "a measurement",
    "observed variables": "measurements",
    "observed variable": "measurement",
    "variables": "measurements",
    "variable": "measurement",
    "latents": "hidden causes",
    "latent": "hidden cause",
    "rows": "cases",
    "row": "case",
}

Say = Callable[[str], str]


def plain_words(names: Iterable[str]) -> Say:
    """From a sentence of the library to one of the report, about data with these names.

    Examples
    --------
    >>> plain_words(["heat"])("Each observed variable has a latent in 3 rows.")
    'Each measurement has a hidden cause in 3 cases.'
    >>> plain_words(["variable cost"])("The latent drives variable cost.")
    'The hidden cause drives variable cost.'
    """
    taken = set(re.findall(r"\w+", " ".join(names).casefold()))
    said = {word: own for word, own in _PLAIN.items() if not taken & set(word.split())}
    if not said:
        return str
    words = re.compile(rf"(?<!\w)({'|'.join(said)})(?!\w)", re.IGNORECASE)

    def plain(match: re.Match[str]) -> str:
        own = said[match[0].lower()]
        return own.capitalize() if match[0][0].isupper() else own

    return lambda text: words.sub(plain, text)


def plain_verdict(verdict: Verdict, say: Say) -> Verdict:
    """The same verdict in the words of the report."""
    return replace(verdict, message=say(verdict.message))


def plain_overall(overall: Overall, say: Say) -> Overall:
    """The same for the verdict on the whole answer."""
    return replace(overall, reasons=tuple(map(say, overall.reasons)))
