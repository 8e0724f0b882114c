from dataclasses import dataclass
from math import isnan
from typing import Literal

import pytest

from mixoracle._documents import parse_json, record
from mixoracle.errors import FileFormatError


@dataclass(frozen=True)
class Inner:
    pair: tuple[int, float]


@dataclass(frozen=True)
class Outer:
    name: str
    sure: bool
    kind: Literal["a", "b"]
    inner: tuple[Inner, ...]
    sizes: dict[str, int]
    note: str | None = None


GOOD = {"name": "x", "sure": True, "kind": "a", "inner": [{"pair": [1, 2]}], "sizes": {"k": 3}}


def test_lists_become_tuples_and_objects_records():
    assert record(Outer, GOOD, "it") == Outer("x", True, "a", (Inner((1, 2.0)),), {"k": 3})


def test_null_is_a_number_that_is_none():
    held = record(Outer, {**GOOD, "inner": [{"pair": [1, None]}]}, "it")
    assert isnan(held.inner[0].pair[1])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"name": 3}, "it.name should be text; got 3"),
        ({"sure": 1}, "it.sure should be true or false; got 1"),
        ({"kind": "c"}, r"it.kind should be one of \('a', 'b'\); got 'c'"),
        ({"inner": {}}, "it.inner should be a list; got {}"),
        ({"inner": [{"pair": [1]}]}, r"it.inner\[0\].pair should be a list of 2; got \[1\]"),
        ({"inner": [{"pair": [1.0, 1]}]}, r"pair\[0\] should be a whole number; got 1.0"),
        ({"inner": [{"pair": [1, 10**400]}]}, r"pair\[1\] should be a finite number; got 1000+…"),
        ({"inner": [{}]}, r"it.inner\[0\] lacks 'pair'"),
        ({"inner": [3]}, r"it.inner\[0\] should be a JSON object; got 3"),
        ({"sizes": [1]}, r"it.sizes should be a JSON object; got \[1\]"),
        ({"sizes": {"k": True}}, "it.sizes.k should be a whole number; got true"),
        ({"other": 1}, "it has an unknown entry 'other'"),
    ],
)
def test_what_does_not_fit_is_named(change, sentence):
    with pytest.raises(FileFormatError, match=sentence):
        record(Outer, {**GOOD, **change}, "it")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "cut off or not JSON"),
        (b"\xff", "cut off or not JSON"),
        ("NaN", "NaN is no JSON number"),
        ("1" * 5000, "not JSON: Exceeds the limit"),
        ("[" * 100_000, "not JSON: it is nested too deeply"),
        ("[" * 300 + "]" * 300, "nested more than 200 levels deep"),
        (r'{"a": "\ud800"}', "half of a surrogate pair"),
    ],
)
def test_only_plain_json_is_read(text, sentence):
    with pytest.raises(FileFormatError, match=f"it .*{sentence}"):
        parse_json(text, "it")


def test_whole_letters_beyond_the_first_plane_are_text():
    assert parse_json(r'"\ud83d\ude00"', "it") == "😀"
