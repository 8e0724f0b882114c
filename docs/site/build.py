"""Builds the site: gathers its pages in build/site-source, of which Sphinx makes build/site.

Run ``python docs/site/build.py``; ``make docs`` does so. Besides the pages in docs/ the site has a
reference of all public names, the list of decisions, and a copy of each file outside of docs/ that
a page links to. Warnings are errors: a dead link or a broken docstring ends the build.
"""

import importlib
import inspect
import os
import posixpath
import re
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from notebooks import notebook

ROOT = Path(__file__).parents[2]
SOURCE, SITE = ROOT / "build" / "site-source", ROOT / "build" / "site"
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
    "mixoracle.trust.support.Support",
    "mixoracle.trust.held_out.HeldOut",
    "mixoracle.solving.Alternative",
    "mixoracle.oracles.path.Resolution",
    "mixoracle.report.figures.plot",
    "mixoracle.report.svg.draw",
    "mixoracle.model.export.write",
    "mixoracle.model.export.read",
)
# What most readers look for stands at the head of its page.
FIRST = {
    "LatentGraphLearner",
    "LatentModel",
    "Observations",
    "recover",
    "learn",
    "compare",
    "check",
}
# Members of these come from elsewhere and are described there.
FOREIGN = (
    "object, tuple, str, int, Exception, BaseException, Protocol, StrEnum, "
    "BaseEstimator, TransformerMixin, _SetOutputMixin, _MetadataRequester"
)
TUTORIALS = ("machine", "skills", "cells", "causes")
# These pages can be downloaded as notebooks.
NOTEBOOKS = {f"tutorials/{name}.md": f"tutorials/{name}.ipynb" for name in TUTORIALS}
HOW_TO = (
    *("how-to/missing-values", "how-to/outlying-values", "how-to/many-columns"),
    *("how-to/many-rows", "how-to/q-matrix"),
    *("how-to/resolution", "how-to/counts", "how-to/new-rows", "how-to/cluster"),
    *("data", "results", "questions", "knowledge", "report"),
)
EXPLANATION = (
    "explanation/paper",
    "explanation/identification",
    "explanation/limits",
    "trust",
    "method",
    "constants",
)
LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)\s]*)?\))")


def public_names(module: str) -> list[str]:
    """The classes and functions that a module exports, classes before functions, by full path."""
    found = importlib.import_module(module)
    names = getattr(found, "__all__", None)
    if names is None:
        names = [name for name, value in vars(found).items() if _is_class_of(value, module)]
    shown = [name for name in names if _has_a_docstring(getattr(found, name))]
    order = sorted(shown, key=lambda name: (name not in FIRST, name.islower(), name))
    return [f"{module}.{name}" for name in order]


def _is_class_of(value: object, module: str) -> bool:
    return inspect.isclass(value) and value.__module__ == module


def _has_a_docstring(value: object) -> bool:
    return inspect.isclass(value) or inspect.isfunction(value)


def entry(name: str) -> str:
    """What makes Sphinx describe a class or a function."""
    module, short = name.rsplit(".", maxsplit=1)
    if inspect.isclass(getattr(importlib.import_module(module), short)):
        members = f"   :members:\n   :inherited-members: {FOREIGN}\n"
        return f"```{{eval-rst}}\n.. autoclass:: {name}\n{members}```\n"
    return f"```{{eval-rst}}\n.. autofunction:: {name}\n```\n"


def reference_pages() -> dict[str, str]:
    """The text of each page of the reference; a name stands on the first page that exports it."""
    pages, seen = {}, {}
    for module in MODULES:
        about = (inspect.getdoc(importlib.import_module(module)) or "").split("\n\n")[0]
        parts = [f"# {module}\n", about.replace("``", "`") + "\n"]
        for name in public_names(module):
            short = name.rsplit(".", maxsplit=1)[1]
            value = getattr(importlib.import_module(module), short)
            if id(value) in seen:
                parts.append(f"`{short}`: see [{seen[id(value)]}]({seen[id(value)]}.md).\n")
                continue
            seen[id(value)] = module
            parts.append(entry(name))
        pages[f"reference/{module}.md"] = "\n".join(parts)
    parts = [
        "# Records and pictures\n",
        "Records of a fitted learner; functions to draw and write.\n",
    ]
    parts += [entry(name) for name in RESULTS]
    pages["reference/results.md"] = "\n".join(parts)
    links = "".join(f"- [{module}]({module}.md)\n" for module in (*MODULES, "results"))
    pages["reference/index.md"] = (
        "# Reference\n\nAll public names, and [the command line](../command-line.md).\n\n"
        + links
        + toctree(["../command-line", *MODULES[:1], "results", *MODULES[1:]])
    )
    return pages


def toctree(pages: list[str], caption: str = "") -> str:
    """A list of pages for the navigation, not shown on the page itself."""
    head = f":caption: {caption}\n" if caption else ""
    return "\n```{toctree}\n:hidden:\n" + head + "\n" + "\n".join(pages) + "\n```\n"


def decisions() -> list[tuple[str, str]]:
    """Title and name of each decision, in order."""
    paths = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    return [
        (path.read_text(encoding="utf-8").split("\n")[0].lstrip("# "), path.stem) for path in paths
    ]


def additions() -> dict[str, str]:
    """The navigation, by the page that it is put at the end of."""
    listed = "".join(f"- [{title}]({name}.md)\n" for title, name in decisions())
    return {
        "index.md": toctree(
            ["getting-started", "tutorials/index", "how-to/index", "gallery"], "Use"
        )
        + toctree(["explanation/index", "Benchmarks <benchmarks>", "experiments"], "Understand")
        + toctree(["reference/index", "source/CHANGELOG", "source/CONTRIBUTING"], "Look up")
        + toctree(["decisions/README", "licences"], "Project"),
        "tutorials/index.md": toctree(list(TUTORIALS)),
        "how-to/index.md": toctree([f"/{page}" for page in HOW_TO]),
        "explanation/index.md": toctree([f"/{page}" for page in (*EXPLANATION, "paper-to-code")]),
        "decisions/README.md": "\n" + listed + toctree([name for _, name in decisions()]),
    }


def linked_files() -> dict[str, str]:
    """Files outside of docs/ (and programs in it) that pages link to, as pages."""
    found = {"CHANGELOG.md", "CONTRIBUTING.md"}
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]
    for page in pages:
        for _, link, _ in LINK.findall(page.read_text(encoding="utf-8")):
            target = Path(os.path.normpath(page.parent / link))
            if target.is_file() and not _is_shown(target):
                found.add(target.relative_to(ROOT).as_posix())
    return {source_page(name): _as_page(name) for name in sorted(found)}


def _as_page(name: str) -> str:
    text = (ROOT / name).read_text(encoding="utf-8")
    if name.endswith(".md"):
        return led(text, name)
    language = {".py": "python", ".toml": "toml", ".sh": "sh"}.get(Path(name).suffix, "text")
    return f"---\norphan: true\n---\n\n# {name}\n\n````{language}\n{text}````\n"


def _is_shown(path: Path) -> bool:
    """Whether a file is a page or a picture of the site as it stands."""
    return ROOT / "docs" in path.parents and path.suffix in {".md", ".svg", ".png"}


def source_page(name: str) -> str:
    """Where the site shows a file of the repository."""
    return f"source/{name.removesuffix('.md')}.md"


def led(text: str, name: str) -> str:
    """The text of a file with its links led to the pages of the site."""
    here = name.removeprefix("docs/") if name.startswith("docs/") else source_page(name)

    def lead(match: re.Match[str]) -> str:
        start, link, end = match.groups()
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), link))
        if "://" in link or not (ROOT / target).exists():
            return match[0]
        if (ROOT / target).is_dir():
            return f"{start[:-2]}]({posixpath.relpath('index.md', posixpath.dirname(here))}{end}"
        inside = target.removeprefix("docs/") if _is_shown(ROOT / target) else source_page(target)
        return f"{start}{posixpath.relpath(inside, posixpath.dirname(here))}{end}"

    return LINK.sub(lead, text)


def gather() -> None:
    """Put all pages into the folder that Sphinx reads."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.copytree(
        ROOT / "docs", SOURCE, ignore=shutil.ignore_patterns("__pycache__", "*.md", "*.py")
    )
    made = {**reference_pages(), **linked_files()}
    after = additions()
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").as_posix()
        text = page.read_text(encoding="utf-8")
        made[name] = led(text, f"docs/{name}") + after.get(name, "")
        if name in NOTEBOOKS:
            made[NOTEBOOKS[name]] = notebook(text)
            made[name] += f"\n{{download}}`This page as a notebook </{NOTEBOOKS[name]}>`\n"
    for name, text in made.items():
        path = SOURCE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def main() -> int:
    """Gather, build, and say where the site lies."""
    from sphinx.cmd.build import main as sphinx_build

    gather()
    shutil.rmtree(SITE, ignore_errors=True)
    conf = str(Path(__file__).parent)
    doctrees = str(ROOT / "build" / "site-doctrees")
    strict = ["-q", "-W", "--keep-going", "-E", "-T"]
    code = sphinx_build([*strict, "-b", "html", "-c", conf, "-d", doctrees, str(SOURCE), str(SITE)])
    if code == 0:
        print(f"open {SITE.relative_to(ROOT)}/index.html")
    return code


if __name__ == "__main__":
    sys.exit(main())
