import csv
import io
import re
from xml.etree import ElementTree

import pytest

from mixoracle.errors import InvalidInputError
from mixoracle.experiments import published
from mixoracle.experiments.analysis import Interval, Source
from mixoracle.experiments.figures import study_drawings
from mixoracle.experiments.report import write_report
from mixoracle.experiments.results import Score, StudyRecord, open_results
from mixoracle.experiments.studies import STUDY_NAMES, define
from mixoracle.experiments.tables import Column, Table, study_tables

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def studies(tmp_path_factory, make_result, failed):
    """Folders of the paper's study with two oracles, and of its small one; some runs failed."""

    folder = tmp_path_factory.mktemp("studies")

    def fill(name, study, bad):
        with open_results(folder / name, study) as file:
            for number in file.missing:
                worse = {"score": Score(number % 3, 1, False, 0.02)}
                changes = (failed if number % 4 == 1 else worse) if bad else {}
                file.append(make_result(study, number, **changes))
        return folder / name

    return [
        fill("paper", define("paper", runs=10), bad=False),
        fill("kmeans", define("paper", runs=10, oracle="kmeans"), bad=True),
        fill("small", define("small", runs=12), bad=True),
    ]


@pytest.fixture(scope="module")
def report(studies, tmp_path_factory):
    """The folder of a report on them; nothing may change it."""
    return write_report(studies, tmp_path_factory.mktemp("report")).parent


def read(path):
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def test_the_report_has_every_figure_and_table_of_the_paper(report):
    found = {path.name for path in report.rglob("*.*")}
    for study in ("paper", "small"):
        for figure in ("shd", "scatter_1", "run_times", "failures"):
            assert {f"{study}_{figure}.svg", f"{study}_{figure}.png"} <= found
        for table in (
            "headline",
            "by_setting",
            "by_arm",
            "failures",
            "edges",
            "run_times",
            "points",
        ):
            assert f"{study}_{table}.csv" in found
    assert {"report.html", "headline.md", "paper_by_shared_problem.csv"} <= found
    assert (report / "report.html").read_text(encoding="utf-8").count("<svg") == 9


def test_published_numbers_stand_beside_ours(report):
    tables = report / "tables"
    for name, key in (("run_times", "SECONDS"), ("edges", "EDGES")):
        rows = read(tables / f"paper_{name}.csv")
        assert len(rows) == 2 * 12
        for row in rows:
            setting = tuple(map(int, re.findall(r"\d+", row["setting"])))
            size = int(row["arm"].removeprefix("N="))
            assert float(row["published"]) == getattr(published, key)[setting, size]
    headline = {row["what"]: row for row in read(tables / "paper_headline.csv")}
    assert headline["failed in the oracle"]["published"] == "8.3 %"
    assert headline["failed to produce a graph"]["published"] == "8.8 %"
    assert headline["largest SHD"]["published"] == "6"
    shd = [row for what, row in headline.items() if "as in the paper" in what]
    assert [row["published"] for row in shd] == ["0.00 to 1.33"]
    first = read(tables / "small_failures.csv")[0]
    assert (first["source"], first["failed_oracle"], first["failed_graph"]) == (
        "published",
        "0.044",
        "0.088",
    )


def test_all_runs_drawn_are_in_the_tables(report):
    tables = report / "tables"
    for name, total in (("paper", 40), ("small", 12)):
        for table in ("by_setting", "by_arm", "run_times", "edges", "points"):
            assert sum(int(row["runs"]) for row in read(tables / f"{name}_{table}.csv")) == total
    points = read(tables / "paper_points.csv")
    # A run without an answer counts with all its ten edges missing.
    assert sum(int(row["runs"]) for row in points if row["shd"] == "10") == 5


def test_the_page_stands_alone_and_its_figures_have_their_own_names(report):
    page = (report / "report.html").read_text(encoding="utf-8")
    assert not re.search(r'(src|href)="(?!#)', page)
    identifiers = re.findall(r'\bid="([^"]+)"', page)
    assert len(identifiers) == len(set(identifiers))
    for reference in re.findall(r'(?:href="|url\()#([^")]+)', page):
        assert reference in identifiers


def test_the_same_results_give_the_same_bytes(studies, report, tmp_path):
    write_report(studies, tmp_path / "again")
    for path in report.rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "again" / path.relative_to(report)).read_bytes()


def test_an_unfinished_study_says_so(tmp_path, make_result):
    study = define("small", runs=6)
    with open_results(tmp_path, study) as file:
        for number in range(4):
            file.append(make_result(study, number))
    page = write_report([tmp_path], tmp_path / "report").read_text(encoding="utf-8")
    assert "4 of 6 runs" in page
    assert "not finished" in page


def test_names_are_escaped(tmp_path, make_result):
    folder = tmp_path / "<b>x"
    for name, seed in ((folder, 0), (tmp_path / "y", 1)):
        study = define("small", runs=1, seed=seed)
        with open_results(name, study) as file:
            file.append(make_result(study, 0))
    page = write_report([folder, tmp_path / "y"], tmp_path / "report").read_text(encoding="utf-8")
    assert "<b>x" not in page
    assert "&lt;b&gt;x" in page


@pytest.mark.parametrize("name", STUDY_NAMES)
def test_every_study_has_readable_figures(name, make_result, failed):
    study = define(name, runs=2)
    results = [make_result(study, i, **(failed if i == 1 else {})) for i in range(study.n_runs)]
    drawings = study_drawings(name, [Source("signature", StudyRecord(study, {}, tuple(results)))])
    assert drawings
    for drawing in drawings:
        assert drawing.png.startswith(PNG_SIGNATURE)
        assert drawing.caption.endswith(".")
        root = ElementTree.fromstring(drawing.svg)
        words = " ".join("".join(node.itertext()) for node in root.iter() if "text" in node.tag)
        labels = {"shd": "average SHD", "run_times": "seconds", "failures": "failed runs in %"}
        for ending, label in {**labels, "scatter_1": "|E(G)|", "arms": "graph exact, %"}.items():
            if drawing.name == f"{name}_{ending}":
                assert label in words
        colours = re.findall(r"#([0-9a-f]{6})\b", drawing.svg)
        assert all(colour[:2] == colour[2:4] == colour[4:] for colour in colours)  # greys only


def test_every_study_has_tables_for_people_and_programs(make_result):
    for name in STUDY_NAMES:
        study = define(name, runs=2)
        results = tuple(make_result(study, i) for i in range(study.n_runs))
        for table in study_tables(name, [Source("signature", StudyRecord(study, {}, results))]):
            rows = list(csv.reader(io.StringIO(table.to_csv())))
            assert len(rows) == len(table.rows) + 1
            assert {len(row) for row in rows} == {len(rows[0])}
            assert len(table.to_markdown().splitlines()) == len(table.rows) + 2


def test_intervals_stand_in_brackets_and_in_columns():
    columns = (
        Column("what", "What"),
        Column("rate", "Rate", "percent", interval=True),
        Column("count", "Count", "count"),
    )
    rows = (("a", Interval(0.5, 0.25, 0.75), 3), ("b", None, None))
    table = Table("t", "T", "", columns, rows)
    assert table.shown() == [["a", "50.0 % (25.0–75.0)", "3"], ["b", "–", "–"]]
    assert table.to_csv() == "what,rate,rate_low,rate_high,count\na,0.5,0.25,0.75,3\nb,,,,\n"
    assert table.to_markdown().splitlines()[2] == "| a | 50.0 % (25.0–75.0) | 3 |"


def test_a_row_of_another_length_is_refused():
    with pytest.raises(InvalidInputError, match="has 1 columns; a row has 2"):
        Table("t", "T", "", (Column("a", "A"),), ((1, 2),))
