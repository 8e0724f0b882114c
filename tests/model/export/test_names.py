import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixoracle.errors import FileFormatError
from mixoracle.model.export.names import escaped, identifiers, unescaped

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@settings(deadline=None)
@given(ANY_TEXT)
def test_escapes_are_undone(name):
    text = escaped(name, also='"')
    assert unescaped(text) == name
    assert '"' not in text
    assert not re.search(r"[\x00-\x1f]", text)
    assert text.encode("utf-8").decode("utf-8") == text


@pytest.mark.parametrize("text", ["\\", "a\\n", "\\u12", "\\uzzzz"])
def test_a_stray_backslash_is_refused(text):
    with pytest.raises(FileFormatError, match="backslash"):
        unescaped(text)


@settings(deadline=None)
@given(st.lists(ANY_TEXT, unique=True))
def test_identifiers_are_distinct_and_kept_where_they_are_some_already(names):
    found = identifiers(names, reserved=("table",))
    assert len(set(found)) == len(names)
    assert "table" not in found
    for name, identifier in zip(names, found, strict=True):
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", identifier)
        if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) and name != "table":
            assert identifier == name


def test_names_that_look_alike_stay_apart():
    found = identifiers(["a b", "a-b", "v_a_b", "a_b"])
    assert len(set(found)) == 4
    assert found[2:] == ["v_a_b", "a_b"]
