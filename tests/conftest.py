"""Settings for all tests."""

import importlib.util
from pathlib import Path

import pytest
from hypothesis import settings

# A deadline for each example measures how busy the machine is; pytest-timeout stops what hangs.
settings.register_profile("no_deadline", deadline=None)
settings.load_profile("no_deadline")


@pytest.fixture(scope="session")
def damage():
    """What damages documents, which lies among the benchmarks and not on the import path."""
    path = Path(__file__).parents[1] / "benchmarks" / "hostile_documents.py"
    spec = importlib.util.spec_from_file_location("damage", path)
    damage = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(damage)
    return damage
