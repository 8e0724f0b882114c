import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixoracle.report.lettering import escaped, fitted, is_familiar, printable, shortened, width_of


@given(st.text(max_size=80), st.floats(20, 200))
def test_fitted_text_fits(text, room):
    assert width_of(fitted(text, room, 10), 10) <= room


@given(st.text(max_size=20))
def test_text_with_room_is_kept(text):
    assert fitted(text, 1e6, 10) == printable(text)


def test_long_text_is_cut_with_an_ellipsis():
    cut = fitted("a rather long name", 60, 10)
    assert cut.endswith("…")
    assert "a rather long name".startswith(cut[:-1])


@pytest.mark.parametrize("letter", ["\x00", "\x0b", "\x7f", "\u2028", "\n", "\ufffe"])
def test_what_xml_forbids_is_replaced(letter):
    assert printable(f"a{letter}b") == "a\N{REPLACEMENT CHARACTER}b"


def test_escaping_covers_text_and_attributes():
    assert escaped('<a href="x">\'&') == "&lt;a href=&quot;x&quot;&gt;&#x27;&amp;"


def test_text_from_right_to_left_is_kept_apart():
    assert shortened("שלום") == "\u2068שלום\u2069"
    assert shortened("\u202eabc") == "\u2068\u202eabc\u2069"
    assert shortened("plain") == "plain"
    assert shortened("x" * 300) == "x" * 39 + "…"


def test_only_latin_widths_are_relied_on():
    assert is_familiar("Größe X1[0]…")
    assert not is_familiar("\N{ROCKET}")
    assert width_of("漢字", 10) > width_of("ab", 10)
    assert width_of("e\u0301", 10) == width_of("e", 10)
