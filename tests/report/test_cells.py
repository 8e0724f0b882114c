import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixoracle.report.cells import cell_text, text_cell
from mixoracle.report.folder import read_states, write_states


@given(st.text(alphabet="'=+-@\t 1.ex", max_size=6))
def test_text_comes_back(text):
    assert cell_text(text_cell(text)) == text


@pytest.mark.parametrize("text", ['=HYPERLINK("x")', "+1+1", "-x", "@SUM(A1)", "\t=1", " =1"])
def test_formulas_become_text(text):
    assert text_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["-1", "+2.5", "-1e-3", "plain", "", "a=b", "'quoted'", "1-2"])
def test_numbers_and_plain_text_stay(text):
    assert text_cell(text) == text


def test_states_hold_no_formula_and_read_back(make_result, tmp_path):
    model = make_result(2, 4, latent_names=("=cmd()", "-2+3")).model
    states, path = np.array([[0, 1], [1, 0]]), tmp_path / "states.csv"
    write_states(path, model, states, ids=["@evil", "-7"], id_title="=row")
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows[0] == ["'=row", "'=cmd()", "'-2+3"]
    assert [row[0] for row in rows[1:]] == ["'@evil", "-7"]
    np.testing.assert_array_equal(read_states(path, model), states)
