"""Links inside the repository lead to files and headings that exist."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
FENCE = re.compile(r"^(```+).*?^\1$", flags=re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")


@cache
def headings(document):
    """The anchors of a page: its headings as GitHub and the site write them."""
    text = FENCE.sub("", document.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document):
    text = FENCE.sub("", document.read_text(encoding="utf-8"))
    for link, anchor in LINK.findall(text):
        if "://" in link:
            continue
        target = (document.parent / link) if link else document
        assert target.exists(), link
        if anchor:
            assert anchor in headings(target.resolve()), f"{link}#{anchor}"


def test_a_heading_is_found_under_its_anchor():
    assert "when-not-to-use-it" in headings(ROOT / "docs" / "explanation" / "identification.md")
    assert "1-preparation" in headings(ROOT / "docs" / "method.md")
