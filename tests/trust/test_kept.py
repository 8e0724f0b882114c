import numpy as np
import pytest

from mixoracle import LatentGraphLearner
from mixoracle.errors import InvalidInputError
from mixoracle.trust import kept

_FINGERPRINT, _OTHER = "a1" * 32, "0f" * 32


@pytest.mark.parametrize(
    "held",
    [
        b"name,weight\nanna,61\n",
        b"\x89PNG\r\n\x1a\n\xff\xfe",
        b"\n",
        b'{"number": 1}\n',
        _FINGERPRINT.encode() + b"  data.csv\n",  # as sha256sum writes it
        _FINGERPRINT.encode() + b"\nanna,61\n",
        _FINGERPRINT.encode() + b'\n{"name": "anna"}\n',
    ],
)
def test_a_foreign_file_is_refused_and_not_touched(tmp_path, held):
    file = tmp_path / "precious.csv"
    file.write_bytes(held)
    with pytest.raises(InvalidInputError, match=r"precious\.csv holds something else"):
        kept.read(file, _FINGERPRINT)
    assert file.read_bytes() == held


@pytest.mark.parametrize("held", ["", f"{_OTHER}\n", f'{_OTHER}\n{{"number": 1, "n_lat'])
def test_an_empty_file_or_one_of_another_answer_is_begun_anew(tmp_path, held):
    file = tmp_path / "resamples.jsonl"
    file.write_text(held)
    assert kept.read(file, _FINGERPRINT) == {}
    assert file.read_text() == f"{_FINGERPRINT}\n"


def test_it_is_a_file_in_a_folder_that_exists(tmp_path):
    with pytest.raises(InvalidInputError, match="should be a file; got the folder"):
        kept.read(tmp_path, _FINGERPRINT)
    with pytest.raises(InvalidInputError, match="there is no folder"):
        kept.read(tmp_path / "none" / "file", _FINGERPRINT)


def test_the_learner_refuses_before_any_work(tmp_path):
    learner = LatentGraphLearner(random_state=0).fit(np.random.default_rng(0).normal(size=(40, 2)))
    file = tmp_path / "precious.csv"
    file.write_text("name,weight\n")
    with pytest.raises(InvalidInputError, match="choose another file"):
        learner.bootstrap(1, keep=file)
    assert file.read_text() == "name,weight\n"
