import pytest

from mixoracle.datasets import PAPER_SETTINGS
from mixoracle.experiments import published
from mixoracle.experiments.studies import SMALL_SETTINGS


def test_every_setting_of_the_paper_has_its_published_numbers():
    large = {(setting, size) for setting in PAPER_SETTINGS for size in (10_000, 15_000)}
    assert set(published.SECONDS) == large
    assert set(published.EDGES) == large | {(setting, 1_000) for setting in SMALL_SETTINGS}


@pytest.mark.parametrize("name", ["paper", "small"])
def test_the_published_counts_agree_with_the_published_shares(name):
    study = published.STUDIES[name]
    left = study.drawn * (1 - study.failed_oracle - study.failed_graph)
    # The shares are rounded to a tenth of a per cent, below one run of each study.
    assert abs(left - study.reported) < 1
