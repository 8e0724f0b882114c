"""What the site has beyond the pages in docs/: reference, decisions, files that pages link to.

MkDocs calls these functions while it builds. Pages link to files outside of docs/, as readers of
the repository expect; the site shows a copy of each such file. Formulas become MathML, which
browsers draw by themselves, so that no script has to be loaded.
"""

import html
import importlib
import inspect
import os
import posixpath
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
# Each is a page of the reference, with all names that it exports.
MODULES = (
    "mixoracle",
    "mixoracle.observations",
    "mixoracle.model",
    "mixoracle.background",
    "mixoracle.oracles",
    "mixoracle.bipartite",
    "mixoracle.latent",
    "mixoracle.structure",
    "mixoracle.assumptions",
    "mixoracle.metrics",
    "mixoracle.datasets",
    "mixoracle.errors",
)
# Records that a fitted learner holds or returns, and functions to draw and to write.
RESULTS = (
    "mixoracle.trust.overall.Overall",
    "mixoracle.trust.bootstrap.Support",
    "mixoracle.trust.held_out.HeldOut",
    "mixoracle.solving.Alternative",
    "mixoracle.oracles.path.Resolution",
    "mixoracle.report.figures.plot",
    "mixoracle.report.figures.plot_joint",
    "mixoracle.report.figures.plot_components",
    "mixoracle.report.svg.draw",
    "mixoracle.model.export.write",
    "mixoracle.model.export.read",
)
LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)\s]*)?\))")
MATH = re.compile(r'<(span|div) class="(?:arithmatex|math)">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
ROLE = re.compile(r":(?:class|meth|func|mod|attr|exc|data):<code>(.*?)</code>", re.DOTALL)


def public_names(module: str) -> list[str]:
    """The names that a module exports, classes and functions only, each by its full path."""
    found = importlib.import_module(module)
    if hasattr(found, "__all__"):
        names = list(found.__all__)
    else:
        names = [name for name, value in vars(found).items() if _is_own(value, module)]
    values = [(name, getattr(found, name)) for name in names]
    return [
        f"{value.__module__}.{name}"
        for name, value in values
        if inspect.isclass(value) or inspect.isfunction(value)
    ]


def _is_own(value: object, module: str) -> bool:
    return inspect.isclass(value) and value.__module__ == module


def reference_pages() -> dict[str, str]:
    """The text of each page of the reference, by its path."""
    pages = {}
    for module in MODULES:
        about = (inspect.getdoc(importlib.import_module(module)) or "").split("\n\n")[0]
        body = "\n\n".join(f"::: {name}" for name in sorted(public_names(module), key=_short))
        pages[f"reference/{module}.md"] = f"# {module}\n\n{about}\n\n{body}\n"
    body = "\n\n".join(f"::: {name}" for name in RESULTS)
    pages["reference/results.md"] = (
        "# Records and pictures\n\nRecords that a fitted learner holds or returns, and functions "
        f"that draw and write.\n\n{body}\n"
    )
    return pages


def _short(name: str) -> tuple[bool, str]:
    short = name.rsplit(".", maxsplit=1)[1]
    return not short[0].isupper(), short


def decisions() -> list[tuple[str, str]]:
    """Title and path of each decision, in order."""
    found = []
    for path in sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md")):
        title = path.read_text(encoding="utf-8").split("\n")[0].lstrip("# ")
        number, words = re.match(r"0*(\d+)\.? *(.*)", title).groups()  # type: ignore[union-attr]
        found.append((f"{number}. {words}", f"decisions/{path.name}"))
    return found


def linked_files() -> dict[str, str]:
    """Files outside of docs/ that pages link to, by their path from the root."""
    found = {"CHANGELOG.md": "", "CONTRIBUTING.md": ""}
    for page in (ROOT / "docs").rglob("*.md"):
        for _, link, _ in LINK.findall(page.read_text(encoding="utf-8")):
            target = Path(os.path.normpath(page.parent / link))
            if link.startswith("..") and target.is_file() and not _in_docs(target):
                found[target.relative_to(ROOT).as_posix()] = ""
    for name in found:
        text = (ROOT / name).read_text(encoding="utf-8")
        if not name.endswith(".md"):
            text = f"# {name}\n\n```{Path(name).suffix[1:]}\n{text}```\n"
        found[name] = text
    return found


def _in_docs(path: Path) -> bool:
    return (ROOT / "docs") in path.parents


def source_page(name: str) -> str:
    """Where the site shows a file of the repository."""
    return f"source/{name.removesuffix('.md')}.md"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the generated pages into the navigation."""
    sections: dict[str, list[Any]] = {}
    for entry in config.nav or []:
        sections.update({key: value for key, value in entry.items() if isinstance(value, list)})
    modules = [{module: f"reference/{module}.md"} for module in MODULES]
    sections["Reference"] += [modules[0], {"Records and pictures": "reference/results.md"}]
    sections["Reference"] += modules[1:]
    sections["Project"] += [
        {"Changes": source_page("CHANGELOG.md")},
        {"Contributing": source_page("CONTRIBUTING.md")},
        {"Decisions": ["decisions/README.md", *({title: path} for title, path in decisions())]},
    ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made here."""
    made = reference_pages()
    made.update({source_page(name): text for name, text in linked_files().items()})
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Lead links to files of the repository to their copies; list the decisions."""
    here = page.file.src_uri
    origin = f"docs/{here}"
    if here.startswith("source/"):
        origin = here.removeprefix("source/")

    def led(match: re.Match[str]) -> str:
        start, link, end = match.groups()
        if "://" in link:
            return match[0]
        target = posixpath.normpath(posixpath.join(posixpath.dirname(origin), link))
        if target.startswith("docs/") and origin.startswith("docs/"):
            return match[0]
        inside = (
            target.removeprefix("docs/") if target.startswith("docs/") else source_page(target)
        )
        if (ROOT / target).is_dir():
            return match[0]
        return f"{start}{posixpath.relpath(inside, posixpath.dirname(here))}{end}"

    markdown = LINK.sub(led, markdown)
    if here == "decisions/README.md":
        markdown += "\n" + "".join(
            f"- [{title}]({Path(path).name})\n" for title, path in decisions()
        )
    if page.meta is not None and here.startswith("source/") and not here.endswith(
        ("CHANGELOG.md", "CONTRIBUTING.md")
    ):
        page.meta["search"] = {"exclude": True}
    return markdown


def on_page_content(content: str, **_: Any) -> str:
    """Formulas as MathML; names in docstrings without the marks of another markup."""

    def formula(match: re.Match[str]) -> str:
        display = "block" if match[1] == "div" else "inline"
        return convert(html.unescape(match[2]).strip(), display=display)

    def name(match: re.Match[str]) -> str:
        text = match[1]
        if text.startswith("~"):
            text = text.rsplit(".", maxsplit=1)[1]
        return f"<code>{text.split(' &lt;')[0]}</code>"

    return ROLE.sub(name, MATH.sub(formula, content))
