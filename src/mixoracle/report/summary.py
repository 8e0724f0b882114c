"""The answer in a few sentences, the verdict first, as text and in notebooks as HTML."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass

from mixoracle.model import LatentModel
from mixoracle.report import words
from mixoracle.report.evidence import Evidence
from mixoracle.report.lettering import full


@dataclass(frozen=True, eq=False, repr=False)
class Summary:
    """What was found and what to trust: ``print`` it, or leave it at the end of a cell."""

    model: LatentModel
    evidence: Evidence

    def _paragraphs(self) -> Iterator[tuple[str, list[str]]]:
        """Each title with its sentences."""
        model, evidence = self.model, self.evidence
        if evidence.verdict is not None:
            yield words.verdict_line(evidence), list(evidence.verdict.reasons)
        found = [*words.findings(model, evidence), *words.other_kind(model, evidence)]
        yield words.headline(model, evidence), found
        yield "Among the hidden causes:", words.relations(model, evidence)
        yield "For it:", words.trust(model, evidence)
        doubts = words.doubts(model, evidence)
        yield "Against it:", doubts or ["Nothing in the evidence speaks against the answer."]
        yield "Notes:", [full(note) for note in evidence.notes]

    def __str__(self) -> str:
        lines = []
        for title, sentences in self._paragraphs():
            if sentences or title.endswith("."):  # the verdict and the headline are sentences
                lines += [title, *(f"  {sentence}" for sentence in sentences)]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        parts = []
        for title, sentences in self._paragraphs():
            if sentences or title.endswith("."):  # the verdict and the headline are sentences
                items = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in sentences)
                parts.append(f"<p><b>{html.escape(title)}</b></p><ul>{items}</ul>")
        return "".join(parts)
