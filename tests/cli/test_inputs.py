"""Everything that can be wrong with a file or with what was said about it, in one sentence."""

import json

import numpy as np
import pytest

from mixoracle import Observations

ROWS = 40


def write_csv(path, columns, encoding="utf-8"):
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding=encoding)
    return path


def numbers(seed, n=ROWS):
    return np.random.default_rng(seed).normal(size=n).round(3).tolist()


@pytest.fixture
def columns():
    return {"a": numbers(0), "b": numbers(1), "c": numbers(2)}


@pytest.fixture
def refused(run, tmp_path):
    """Run ``learn`` on columns and expect one sentence, code 2, and no result."""

    def refuse(data, *arguments):
        result = run("learn", data, "--out", "result", *arguments)
        assert result.exit_code == 2, result.output
        assert result.stdout == ""
        assert not (tmp_path / "result").exists()
        assert [path for path in tmp_path.iterdir() if path.name.startswith(".")] == []
        (line,) = result.stderr.splitlines()
        assert line.startswith("Error: ")
        return line.removeprefix("Error: ")

    return refuse


def test_a_file_that_is_not_there(refused):
    assert refused("nowhere.csv") == (
        "nowhere.csv should be a file of observations; there is no such file"
    )


def test_an_unknown_ending(refused, tmp_path):
    (tmp_path / "data.ods").write_bytes(b"PK")
    assert refused("data.ods") == (
        "data.ods should end in one of .csv, .feather, .npz, .parquet, .tsv, .txt, .xlsx (text "
        "also in .gz); got '.ods'"
    )


def test_a_file_that_is_not_what_its_ending_says(refused, tmp_path):
    np.savez(tmp_path / "data.npz", a=np.zeros(3))
    (tmp_path / "data.npz").rename(tmp_path / "data.csv")
    assert refused("data.csv") == (
        "data.csv should be text, as its ending says; it is a zip archive (perhaps an .npz or a "
        "spreadsheet)"
    )


def test_text_called_parquet(refused, tmp_path, columns):
    write_csv(tmp_path / "data.parquet", columns)
    assert refused("data.parquet").startswith("data.parquet is cut off or not a .parquet file: ")


def test_an_empty_file(refused, tmp_path):
    (tmp_path / "data.csv").touch()
    assert refused("data.csv") == (
        "data.csv is empty; expected the names of columns and their values"
    )


def test_bytes_that_are_no_text(refused, tmp_path):
    (tmp_path / "data.csv").write_bytes(bytes(range(256)))
    assert refused("data.csv") == (
        "data.csv should be UTF-8, UTF-16 or Latin-1 text; it holds bytes that are no text: save "
        "it as UTF-8"
    )


def test_lines_of_different_length(refused, tmp_path, columns):
    path = write_csv(tmp_path / "data.csv", columns)
    path.write_text(path.read_text() + "1,2\n")
    assert refused("data.csv") == (
        f"data.csv, line {ROWS + 2}, should have 3 cells like the header; it has 2"
    )


def test_an_unknown_column_to_drop(refused, tmp_path, columns):
    write_csv(tmp_path / "data.csv", columns)
    assert refused("data.csv", "--drop", "bb") == (
        "--drop names the column 'bb', which is not there; did you mean 'b'?"
    )


def test_an_unknown_id_column(refused, tmp_path, columns):
    write_csv(tmp_path / "data.csv", columns)
    assert refused("data.csv", "--id-column", "name") == (
        "--id names the column 'name', which is not there; there are 'a', 'b', 'c'"
    )
    assert refused("data.csv", "--keep", "name") == (
        "--keep names the column 'name', which is not there; there are 'a', 'b', 'c'"
    )


def test_unknown_columns_in_types(refused, tmp_path, columns):
    write_csv(tmp_path / "data.csv", columns)
    assert refused("data.csv", "--types", "z=categorical") == (
        "--types names 'z', which is not there; there are 'a', 'b', 'c'"
    )
    assert refused("data.csv", "--types", "z=continuous") == (
        "--types names 'z', which is no column and no variable of the data"
    )


def test_an_unknown_kind(refused, tmp_path, columns):
    write_csv(tmp_path / "data.csv", columns)
    assert refused("data.csv", "--types", "a=ordinal") == (
        "--types should say continuous or categorical, as in mode=categorical; 'a' has 'ordinal'"
    )


def test_a_kind_that_is_no_word(refused, tmp_path, columns):
    write_csv(tmp_path / "data.csv", columns)
    (tmp_path / "types.json").write_text('{"a": ["categorical"]}')
    assert refused("data.csv", "--types", "types.json").endswith("'a' has ['categorical']")


def test_text_declared_continuous(refused, tmp_path, columns):
    write_csv(tmp_path / "data.csv", {**columns, "mode": ["on", "off"] * (ROWS // 2)})
    assert refused("data.csv", "--types", "mode=continuous") == (
        "'mode' was declared continuous, but it holds text; correct the cells or declare it "
        "categorical"
    )


@pytest.mark.parametrize(
    ("groups", "sentence"),
    [
        ({"x": ["a", "b"]}, "--groups should list every column; 'c' is in none: add it to a group, "
         "or leave it out on purpose with --drop"),
        ({"x": ["a", "b"], "y": ["b", "c"]}, "each column should belong to one observed variable; "
         "column 'b' is listed in --groups more than once"),
        ({"x": ["a", "d"], "y": ["b", "c"]}, "--groups names the column 'd', which is not there; "
         "there are 'a', 'b', 'c'"),
        ({"x": ["a", "b", "c"], "y": []}, "each observed variable needs a column; 'y' has none: "
         "leave it out of --groups"),
        ({"x": {"a": 1}}, "--groups should give each variable a list of columns; 'x' has {'a': 1}"),
        (["a", "b"], "groups.json should map names to columns; it is no such table"),
    ],
)  # fmt: skip
def test_mixed_up_groups(refused, tmp_path, columns, groups, sentence):
    write_csv(tmp_path / "data.csv", columns)
    (tmp_path / "groups.json").write_text(json.dumps(groups))
    assert refused("data.csv", "--groups", "groups.json") == sentence


def test_groups_of_a_width_that_does_not_divide(refused, tmp_path, columns):
    write_csv(tmp_path / "data.csv", columns)
    assert refused("data.csv", "--groups", "2") == (
        "--groups 2 should divide the 3 columns into equal widths; name the columns of each "
        "variable instead"
    )


def test_groups_that_are_no_file(refused, tmp_path, columns):
    write_csv(tmp_path / "data.csv", columns)
    assert refused("data.csv", "--groups", "pairs") == (
        "--groups should be a width, prefix or a file that ends in .toml or .json; got 'pairs'"
    )
    assert refused("data.csv", "--groups", "pairs.toml") == (
        "--groups names pairs.toml; there is no such file"
    )
    (tmp_path / "pairs.toml").write_text("x = [")
    assert refused("data.csv", "--groups", "pairs.toml").startswith(
        "pairs.toml should be TOML, as its ending says: "
    )


def test_text_among_numbers(refused, tmp_path, columns):
    columns["b"][7] = "n.d."
    write_csv(tmp_path / "data.csv", columns)
    assert refused("data.csv") == (
        "column 'b' should hold numbers or labels, not both; row 0 is '0.346' and row 7 is "
        "'n.d.': mark missing numbers by NaN or an empty cell, name the word with --na, or declare "
        "the column with --categorical"
    )


def test_an_empty_column_that_is_kept(refused, tmp_path, columns):
    write_csv(tmp_path / "data.csv", {**columns, "e": [""] * ROWS})
    assert refused("data.csv", "--keep", "e") == (
        "column 'e' should hold values; it is empty: leave it out with --drop 'e'"
    )


def test_a_constant_column_that_is_kept(refused, tmp_path, columns):
    write_csv(tmp_path / "data.csv", {**columns, "k": [5] * ROWS})
    assert refused("data.csv", "--keep", "k") == (
        "'k' should vary from case to case; it is constant and says nothing: leave it out with "
        "--drop 'k'"
    )


def test_nothing_but_identifiers(refused, tmp_path):
    write_csv(tmp_path / "data.csv", {"part": [f"P{i}" for i in range(ROWS)], "n": range(ROWS)})
    assert refused("data.csv") == (
        "at least one column should be a measurement; none seems to be one: 'part' (different in "
        "every row), 'n' (counts the rows): name those that are with --keep"
    )


def test_too_few_rows(refused, tmp_path, columns):
    write_csv(tmp_path / "data.csv", {name: held[:9] for name, held in columns.items()})
    assert refused("data.csv") == "learning needs at least 30 rows; got 9: collect more cases"


# --- what is understood, shown by a dry run ---


def understood(run, *arguments):
    result = run("learn", *arguments, "--dry-run", "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_columns_group_by_themselves_by_number_and_by_file(run, tmp_path):
    names = ("u[0]", "u[1]", "v[0]", "v[1]")
    write_csv(tmp_path / "data.csv", {name: numbers(i) for i, name in enumerate(names)})
    held = understood(run, "data.csv")
    assert [(v["name"], v["columns"]) for v in held["variables"]] == [("u", 2), ("v", 2)]
    held = understood(run, "data.csv", "--groups", 4)
    assert [(v["name"], v["columns"]) for v in held["variables"]] == [("X1", 4)]
    (tmp_path / "g.toml").write_text('left = ["u[0]", "v[0]"]\nright = ["u[1]", "v[1]"]\n')
    held = understood(run, "data.csv", "--groups", "g.toml")
    assert [v["name"] for v in held["variables"]] == ["left", "right"]


@pytest.mark.parametrize("ending", ["csv", "tsv", "npz", "parquet"])
def test_every_kind_of_file_is_read(run, tmp_path, ending, columns):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    arrays = {name: np.array(held) for name, held in columns.items()}
    Observations.from_arrays(arrays).write(tmp_path / f"data.{ending}")
    held = understood(run, f"data.{ending}")
    assert held["rows"] == ROWS
    assert [v["name"] for v in held["variables"]] == list(columns)


def test_types_and_drop_are_obeyed(run, tmp_path, columns):
    columns["mode"] = [0, 1] * (ROWS // 2)
    write_csv(tmp_path / "data.csv", {**columns, "note": ["x"] * ROWS})
    (tmp_path / "t.json").write_text('{"mode": "categorical"}')
    for types in ("mode=categorical", "t.json"):
        held = understood(run, "data.csv", "--drop", "note", "--types", types)
        kinds = {v["name"]: v["kind"] for v in held["variables"]}
        assert kinds == {"a": "numbers", "b": "numbers", "c": "numbers", "mode": "levels"}


def test_a_constant_column_of_a_wider_variable_is_only_noted(run, tmp_path):
    columns = {"u[0]": numbers(0), "u[1]": [1] * ROWS, "v": numbers(1)}
    write_csv(tmp_path / "data.csv", columns)
    assert understood(run, "data.csv")["notes"] == ["'u[1]' is constant and is set aside"]


def test_missing_cells_are_counted(run, tmp_path, columns):
    columns["b"][:10] = [""] * 10
    write_csv(tmp_path / "data.csv", columns)
    held = understood(run, "data.csv")
    assert {v["name"]: v["missing"] for v in held["variables"]} == {"a": 0.0, "b": 0.25, "c": 0.0}
    assert held["notes"] == [
        "10 of 120 cells are missing (8.3 %); the others are used, and nothing is imputed"
    ]


def kinds_of(held):
    return {v["name"]: v["kind"] for v in held["variables"]}


def whole_numbers(columns):
    """Beside plain numbers: marks from 1 to 3, and counts."""
    rng = np.random.default_rng(0)
    marks = (np.arange(ROWS) % 3 + 1).tolist()
    return {**columns, "mark": marks, "visits": rng.permutation(ROWS).tolist()}


def test_what_numbers_were_taken_for_is_said_and_can_be_corrected(run, tmp_path, columns):
    write_csv(tmp_path / "data.csv", whole_numbers(columns))
    held = understood(run, "data.csv")
    assert kinds_of(held) == dict.fromkeys("abc", "numbers") | {
        "mark": "levels",
        "visits": "counts",
    }
    assert held["notes"] == [
        "whole numbers were recognised by their values: mark as levels and visits as counts; "
        "--family NAME=gaussian treats them as continuous"
    ]
    for said in (["--types", "mark=continuous"], ["--family", "mark=gaussian"]):
        assert kinds_of(understood(run, "data.csv", *said))["mark"] == "numbers"
    for said in (["--categorical", "visits"], ["--family", "visits=categorical"]):
        assert kinds_of(understood(run, "data.csv", *said))["visits"] == "levels"


def test_one_family_for_all_but_what_has_its_own(run, tmp_path, columns):
    write_csv(tmp_path / "data.csv", whole_numbers(columns))
    said = "--family student --family visits=counts --family visits=counts --drop mark"
    held = understood(run, "data.csv", *said.split(), "--types", "a=continuous")
    kinds = dict.fromkeys("abc", "heavy-tailed numbers") | {"visits": "counts"}
    assert kinds_of(held) == kinds


def test_everything_may_be_levels(run, tmp_path, columns):
    write_csv(tmp_path / "data.csv", whole_numbers(columns) | {"case": range(ROWS)})
    held = understood(run, "data.csv", "--family", "categorical", "--id-column", "case")
    assert set(kinds_of(held).values()) == {"levels"}
    assert len(held["variables"]) == 5


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (["a=normal"], "--family should name one of gaussian, diagonal, student, gamma, counts, "
         "categorical, as in visits=counts; got 'a=normal'"),
        (["poisson"], "--family should name one of gaussian, diagonal, student, gamma, counts, "
         "categorical, as in visits=counts; got 'poisson'"),
        (["vists=counts"], "--family names 'vists', which is no variable of the data; did you mean "
         "'visits'?"),
        (["vists=categorical"], "--family names 'vists', which is not there; did you mean "
         "'visits'?"),
        (["a=gamma", "a=counts"], "--family should be said once for a; got gamma and counts"),
        (["gamma", "counts"], "--family should be said once for all variables; got gamma and "
         "counts"),
        (["a=counts"], "counts should be whole numbers from 0 on; a is declared so and holds "
         "0.126"),
        (["b=gamma"], "amounts of the family gamma should be above 0; b is declared so and holds "
         f"{min(numbers(1)):g}: leave zeros missing, or add a small amount"),
    ],
)  # fmt: skip
def test_families_without_sense(refused, tmp_path, columns, said, sentence):
    write_csv(tmp_path / "data.csv", whole_numbers(columns))
    arguments = [word for family in said for word in ("--family", family)]
    assert refused("data.csv", *arguments) == sentence


def test_a_column_cannot_be_both(refused, tmp_path, columns):
    write_csv(tmp_path / "data.csv", columns)
    assert refused("data.csv", "--types", "a=continuous", "--categorical", "a") == (
        "'a' should be declared once; --types says continuous, and --categorical names it too: "
        "leave one of them out"
    )
    assert refused("data.csv", "--categorical", "z") == (
        "--categorical names 'z', which is not there; there are 'a', 'b', 'c'"
    )


def test_a_column_that_says_nothing_new_is_noted(run, tmp_path, columns):
    columns["copy"] = columns["a"]
    write_csv(tmp_path / "data.csv", columns)
    assert understood(run, "data.csv")["notes"] == [
        "'copy' equals 'a' in every row and says nothing new; leave one out with --drop 'copy'"
    ]


def everyday(columns):
    """A table as a machine writes it: an index, a date, identifiers, a constant."""
    return {
        "": range(ROWS),
        "Timestamp": [f"2024-03-{day % 28 + 1:02d} 08:{day:02d}" for day in range(ROWS)],
        "Part ID": [f"P{i:04d}" for i in range(ROWS)],
        **columns,
        "Plant": ["Graz"] * ROWS,
    }


def test_columns_that_are_no_measurements_are_set_aside_and_noted(run, tmp_path, columns):
    write_csv(tmp_path / "data.csv", everyday(columns))
    held = understood(run, "data.csv")
    assert [v["name"] for v in held["variables"]] == ["a", "b", "c"]
    assert held["notes"] == [
        "set aside as no measurements: 'Unnamed: 0' (an index without a name), 'Timestamp' (dates "
        "or times), 'Part ID' (different in every row), 'Plant' (the same in every row); --keep "
        "COLUMN brings a column back"
    ]


def test_keep_id_and_family_overrule(run, tmp_path, columns):
    write_csv(tmp_path / "data.csv", everyday(columns))
    said = ["--id", "Part ID", "--keep", "Timestamp", "--drop", "Plant"]
    held = understood(run, "data.csv", *said, "--family", "Unnamed: 0=counts")
    assert kinds_of(held) == {
        "Unnamed: 0": "counts",
        "Timestamp": "levels",
        **dict.fromkeys("abc", "numbers"),
    }


def test_identifiers_head_the_states(run, tmp_path, columns):
    write_csv(tmp_path / "data.csv", everyday(columns))
    result = run("learn", "data.csv", "--id", "Part ID", "--out", "result")
    assert result.exit_code == 0, result.output
    lines = (tmp_path / "result" / "states.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in lines[:3]] == ["Part ID", "P0000", "P0001"]


def test_what_was_read_is_shown_before_the_work_starts(run, tmp_path, columns):
    write_csv(tmp_path / "data.csv", everyday(columns))
    shown = run("learn", "data.csv", "--out", "result").output
    assert shown.index("Note: set aside") < shown.index("step 1 of")


def test_different_identifiers_are_not_said_to_be_equal(run, tmp_path, columns):
    columns["one"] = [f"A{i}" for i in range(ROWS)]
    columns["two"] = [f"B{i}" for i in range(ROWS)]
    write_csv(tmp_path / "data.csv", columns)
    (note,) = understood(run, "data.csv", "--keep", "one", "--keep", "two")["notes"] or [""]
    assert "equals" not in note


def test_a_table_of_another_country(run, tmp_path, columns):
    text = write_csv(tmp_path / "plain.csv", {"größe": columns["a"], "b": columns["b"]}).read_text()
    text = text.replace(",", ";").replace(".", ",")
    (tmp_path / "data.csv").write_bytes(text.encode("latin-1"))
    held = understood(run, "data.csv")
    assert kinds_of(held) == {"größe": "numbers", "b": "numbers"}
    assert held["notes"] == [
        "the file data.csv is not UTF-8 and was read as Latin-1; give --encoding if letters look "
        "wrong"
    ]
    (tmp_path / "data.tsv").write_bytes(text.encode("utf-16"))
    said = ["--sep", "semicolon", "--decimal", ",", "--encoding", "utf-16"]
    assert understood(run, "data.tsv", *said)["variables"] == held["variables"]


def test_a_question_in_words_of_the_command_line(refused, run, tmp_path, columns):
    columns["a"] = [f'"{1 + i},{100 + i}"' for i in range(ROWS)]
    write_csv(tmp_path / "data.csv", columns)
    assert refused("data.csv") == (
        "column 'a' holds '1,100', which may be 1100 or 1.1: say which with --decimal . or "
        "--decimal ,"
    )
    assert kinds_of(understood(run, "data.csv", "--decimal", "."))["a"] == "numbers"


def test_words_for_missing(run, tmp_path, columns):
    columns["a"][3], columns["b"][4] = "n.d.", -999
    write_csv(tmp_path / "data.csv", columns)
    held = understood(run, "data.csv", "--na", "n.d.", "--na", "-999")
    missing = {v["name"]: v["missing"] for v in held["variables"]}
    assert missing == {"a": 1 / ROWS, "b": 1 / ROWS, "c": 0}


def test_a_file_without_names(run, tmp_path, columns):
    path = write_csv(tmp_path / "data.csv", columns)
    path.write_text("\n".join(path.read_text().splitlines()[1:]))
    held = understood(run, "data.csv")
    assert held["rows"] == ROWS
    assert [v["name"] for v in held["variables"]] == ["X1", "X2", "X3"]
    assert held["notes"][0].endswith("say --header if it does hold names")
    assert understood(run, "data.csv", "--header")["rows"] == ROWS - 1
    assert understood(run, "data.csv", "--no-header")["notes"] == []


def test_standard_input(run, tmp_path, columns):
    table = write_csv(tmp_path / "data.csv", columns).read_bytes()
    result = run("learn", "-", "--dry-run", "--json", input=table)
    assert json.loads(result.stdout)["rows"] == ROWS
    assert run("learn", "-", "--out", "result", input=table).exit_code == 0
    assert json.loads((tmp_path / "result" / "run.json").read_text())["data"]["rows"] == ROWS


def test_a_dry_run_shows_a_table_and_leaves_nothing(run, tmp_path, columns):
    write_csv(tmp_path / "data.csv", columns)
    result = run("learn", "data.csv", "--dry-run")
    assert result.exit_code == 0
    assert "40 cases of 3 variables" in result.stdout
    assert "Nothing was learned (--dry-run)." in result.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


def test_without_a_place_for_the_result_nothing_starts(run, tmp_path, columns):
    write_csv(tmp_path / "data.csv", columns)
    result = run("learn", "data.csv")
    assert result.exit_code == 2
    assert "say where to leave the result: --out DIR (or --dry-run)" in result.stderr
