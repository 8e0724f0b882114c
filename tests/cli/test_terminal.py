import re

from mixoracle.cli.terminal import Stages, staged

PLAN = (("first", 0.5), ("second", 0.3), ("third", 0.2))


def test_stages_tell_the_step_and_what_remains():
    shown = []
    stages = Stages(PLAN, lambda text, share: shown.append((text, share)))
    for name in ("first", "second", "something else", "third"):
        stages(name)
    stages.finish()
    texts = [text for text, _ in shown]
    assert texts[0] == "step 1 of 3: first"
    assert re.fullmatch(r"step 2 of 3: second \(about \d+ s left\)", texts[1])
    assert texts[2].startswith("something else")
    assert [round(share, 2) for _, share in shown] == [0, 0.5, 0.8, 0.8]


def test_timings_hold_every_stage_and_add_up():
    stages = Stages(PLAN, lambda _text, _share: None)
    for name in ("first", "second", "first"):
        stages(name)
    stages.finish()
    assert list(stages.timings) == ["first", "second"]
    assert 0 <= sum(stages.timings.values()) <= stages.elapsed + 0.002


def test_a_pipe_gets_one_line_for_each_stage(capsys):
    with staged(PLAN, quiet=False) as tell:
        tell("first")
        tell("second")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert re.fullmatch(r"\[ +\d+\.\d s\] step 1 of 3: first", lines[0])


def test_quiet_is_quiet(capsys):
    with staged(PLAN, quiet=True) as tell:
        tell("first")
    assert capsys.readouterr() == ("", "")
