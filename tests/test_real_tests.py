"""Three real tests of skills, as `examples/skills.py` reports on them; skipped without the data."""

import os
import runpy
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("MIXORACLE_DATA", ROOT.parent / "shared" / "data"))

pytestmark = pytest.mark.skipif(
    not (DATA / "ecpe" / "ecpe_items.csv").is_file(),
    reason="the tests of skills are not part of the project; set MIXORACLE_DATA to their folder",
)


def told(name):
    """What the example prints for one test."""
    skills = runpy.run_path(str(ROOT / "examples" / "skills.py"))
    with redirect_stdout(StringIO()) as page:
        skills["main"]([str(DATA), "--tests", name, "--starts", "1"])
    return page.getvalue()


@pytest.mark.skipif(
    "MIXORACLE_SLOW" not in os.environ, reason="half a minute; make test-slow runs it"
)
def test_four_profiles_of_ecpe_are_nearly_empty_and_it_says_so():
    page = told("ecpe")
    assert "== ecpe: 2922 persons, 28 observed variables" in page
    assert "items grouped: 2922 persons, 6 observed variables" in page
    assert page.count("4 of 8 joint states are nearly empty") == 2
    assert "With the expert Q-matrix as given" in page


def test_the_experts_view_of_fractions_breaks_the_subset_condition_in_nine_pairs():
    page = told("fractions")
    assert "all 9 ordered pairs" in page
    assert "With the expert Q-matrix as given" not in page


def test_probability_is_reported_on():
    page = told("probability")
    assert "== probability: 431 persons, 12 observed variables" in page
    assert "Verdicts" in page
