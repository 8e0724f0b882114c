"""The site has every page and every public name; the whole build is `make docs`."""

import importlib
import importlib.util
import inspect
import json
import pkgutil
import re
from pathlib import Path

import pytest

import mixoracle

ROOT = Path(__file__).parents[2]
# Packages that users do not import: their names are not promised.
INTERNAL = {
    *("all_rows", "cli", "decoding", "experiments", "families", "inference", "labels", "learner"),
    *("mixtures", "readable", "report", "results", "foresight", "settings", "solving", "trust"),
    "__main__",
}
# Run here as well, as they are what a newcomer sees first; `make tutorials` runs all.
FIRST_PAGES = ("getting-started.md", "tutorials/machine.md")


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "site" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


build, run_pages = load("build"), load("run_pages")


def test_every_page_is_in_the_navigation():
    trees = build.additions()
    listed = {"index"}
    for page, text in trees.items():
        for block in re.findall(r"```{toctree}\n(.*?)```", text, flags=re.DOTALL):
            for line in block.splitlines():
                name = re.sub(r".*<(.*)>", r"\1", line)
                if name and not name.startswith(":"):
                    listed.add((Path("/", page).parent / name).as_posix().lstrip("/"))
    docs = ROOT / "docs"
    pages = {path.relative_to(docs).with_suffix("").as_posix() for path in docs.rglob("*.md")}
    reached = listed | {"command-line"}  # the reference, which is made, holds it
    assert pages - reached == set()
    assert {name for name in reached if not name.startswith(("source/", "reference/"))} == pages


def test_every_public_module_is_in_the_reference():
    found = {module.name for module in pkgutil.iter_modules(mixoracle.__path__)}
    public = {name for name in found if not name.startswith("_")} - INTERNAL
    assert {f"mixoracle.{name}" for name in public} | {"mixoracle"} == set(build.MODULES)


def test_every_public_name_is_in_the_reference():
    pages = build.reference_pages()
    everything = "\n".join(pages.values())
    for module in build.MODULES:
        names = build.public_names(module)
        assert names
        for name in names:
            short = name.rsplit(".", maxsplit=1)[1]
            assert (
                f":: {name}\n" in everything or f"`{short}`: see" in pages[f"reference/{module}.md"]
            )
    for name in build.RESULTS:
        assert f":: {name}\n" in pages["reference/results.md"]


def test_links_to_programs_lead_to_their_copies():
    text = build.led("[x](../../examples/student.py) [y](../data.md#a)", "docs/how-to/x.md")
    assert text == "[x](../source/examples/student.py.md) [y](../data.md#a)"
    assert "source/examples/student.py.md" in build.linked_files()


@pytest.mark.parametrize("page", run_pages.PAGES)
def test_programs_of_pages_compile_and_import_what_exists(page):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    programs = [body for language, body, _ in run_pages.BLOCK.findall(text) if language == "python"]
    assert programs
    for program in programs:
        compile(program, page, "exec")
        for module, names in re.findall(
            r"^from (mixoracle\S*) import (.*)$", program, re.MULTILINE
        ):
            for name in names.split(", "):
                assert hasattr(importlib.import_module(module), name), f"{module}.{name}"


def test_outputs_of_pages_were_written_down():
    for page in run_pages.PAGES:
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert "```text\n```" not in text, f"{page}: run docs/site/run_pages.py --write {page}"


@pytest.mark.parametrize("page", FIRST_PAGES)
def test_the_first_pages_print_what_they_say(page, tmp_path):
    run_pages.run_page(page, tmp_path)


@pytest.mark.parametrize("page", build.NOTEBOOKS)
def test_notebooks_hold_the_programs_and_outputs_of_their_page(page):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    cells = json.loads(build.notebook(text))["cells"]
    code = ["".join(cell["source"]) + "\n" for cell in cells if cell["cell_type"] == "code"]
    printed = ["".join(cell["outputs"][0]["text"]) for cell in cells if cell.get("outputs")]
    blocks = run_pages.BLOCK.findall(text)
    assert code == [body for language, body, _ in blocks if language == "python"]
    assert printed == [output for _, _, output in blocks if output]
    assert len({cell["id"] for cell in cells}) == len(cells)
    assert not any("](" in line and "](http" not in line for c in cells for line in c["source"])


def test_a_page_that_says_something_else_is_found(tmp_path, monkeypatch):
    (tmp_path / "page.md").write_text(
        "```python\nprint(1)\n```\n```text\n2\n```\n", encoding="utf-8"
    )
    monkeypatch.setattr(run_pages, "DOCS", tmp_path)
    with pytest.raises(AssertionError, match=r"page\.md says"):
        run_pages.run_page("page.md", tmp_path)
    assert "```text\n1\n```" in run_pages.run_page("page.md", tmp_path, check=False)


def test_the_picture_of_the_model_is_what_its_script_draws():
    pictures = load("draw_pictures")
    drawn = pictures.draw(pictures.model(), "Two latents, three observed variables")
    assert drawn == (pictures.IMAGES / "paper-model.svg").read_text(encoding="utf-8")


def test_the_citation_has_the_version_of_the_package():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {mixoracle.__version__}\n" in citation


def test_every_public_name_has_an_example():
    missing = []
    for module in (name for name in build.MODULES if name != "mixoracle.errors"):
        for name in build.public_names(module):
            value = getattr(importlib.import_module(module), name.rsplit(".", maxsplit=1)[1])
            own = [value, *vars(value).values()] if inspect.isclass(value) else [value]
            if not any(">>>" in (inspect.getdoc(held) or "") for held in own):
                missing.append(name)
    assert missing == []
