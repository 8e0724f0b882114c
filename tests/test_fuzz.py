"""A small fixed part of ``benchmarks/fuzz.py``: nothing but answers and errors of ours."""

import pytest

COUNTS = {"tables": 6, "files": 25, "damage": 15, "exports": 25}


@pytest.mark.parametrize("part", COUNTS)
def test_hostile_input_is_used_or_refused(fuzz, part):
    found = [fuzz.outcome(part, 0, number) for number in range(COUNTS[part])]
    assert [one for one in found if one[0] not in fuzz.GOOD] == []
    # Both happen, but for exports of models: else cases would be too harmless, or too hostile.
    assert {one[0] for one in found} == set(fuzz.GOOD if part != "exports" else ("used",))


def test_a_log_continues(fuzz, tmp_path, monkeypatch):
    asked = []

    def outcome(part, seed, number):
        asked.append(number)
        return "used", ""

    monkeypatch.setattr(fuzz, "outcome", outcome)
    log = tmp_path / "log.jsonl"
    fuzz.run("tables", 3, 60.0, 0, log)
    assert fuzz.run("tables", 5, 60.0, 0, log).total() == 5
    assert asked == [0, 1, 2, 3, 4]


def test_a_foreign_error_is_found(fuzz, monkeypatch):
    def broken(_rng, _folder):
        raise ZeroDivisionError("no")

    monkeypatch.setitem(fuzz.PARTS, "tables", broken)
    assert fuzz.outcome("tables", 0, 0)[0] == "ZeroDivisionError"
