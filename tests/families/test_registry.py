"""What holds for every registered family: its two densities are one, and its words are its own."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixoracle.errors import InvalidInputError
from mixoracle.families import ComponentSet, FamilyEntry, Patterns, registry
from mixoracle.families.encoding import fit_encoder
from mixoracle.families.gamma import GammaPart
from mixoracle.settings import Priors

N_LEVELS = 4
ROWS = 60


def drawn_column(name, rng):
    """Values that a column of the family may have, in a unit of its own."""
    unit = 10.0 ** rng.integers(-3, 4)
    numbers = unit * (rng.normal(size=ROWS) + 5.0 * rng.normal())
    return {
        "gaussian": numbers,
        "diagonal": numbers,
        "student": numbers,
        "gamma": unit * rng.gamma(2.0, size=ROWS),
        "counts": rng.poisson(rng.gamma(2.0, 3.0, ROWS)).astype(float),
        "categorical": rng.integers(N_LEVELS, size=ROWS).astype(float),
    }[name]


def drawn_block(name, width, missing, rng):
    """Rows with values missing; the first are whole, so that every column holds something."""
    block = np.column_stack([drawn_column(name, rng) for _ in range(width)])
    gone = rng.random(block.shape) < missing
    gone[:5] = False
    return np.where(gone, np.nan, block)


@settings(max_examples=150, deadline=None)
@given(
    names=st.lists(st.sampled_from(registry.names()), min_size=1, max_size=2, unique=True),
    width=st.integers(1, 4),
    missing=st.sampled_from([0.0, 0.4]),
    seed=st.integers(0, 10_000),
    priors=st.sampled_from([Priors(), Priors(extra_rows=3.0, student_degrees=9.0)]),
)
def test_both_forms_of_a_density_agree_but_for_the_volume(names, width, missing, seed, priors):
    """Rows in own units, and features of coordinates with the volume of the units added."""
    rng = np.random.default_rng(seed)
    block = np.hstack([drawn_block(name, width, missing, rng) for name in names])
    kinds = np.repeat(names, width).tolist()
    levels = [N_LEVELS if kind == registry.LEVELS else 0 for kind in kinds]
    encoder = fit_encoder(block, kinds, levels, priors)
    family, coordinates = encoder.family, encoder.encode(block)
    features, patterns = family.features(coordinates), Patterns.of(coordinates)
    pieces = np.arange(ROWS) % 3
    whole = family.completed(features, pieces, None, patterns)
    statistics = np.stack([whole[pieces == piece].sum(axis=0) for piece in range(3)])
    components = family.components(statistics, family.prior(statistics))

    own = encoder.decode(components).log_density(block)
    quick = family.log_density(features, components, patterns)
    volume = [encoder.log_units(block[[row]], coordinates[[row]]) for row in range(ROWS)]
    np.testing.assert_allclose(own, quick + np.array(volume)[:, None], rtol=1e-6, atol=1e-6)
    assert encoder.log_units(block, coordinates) == pytest.approx(np.sum(volume))
    if "student" not in names and patterns is None:
        # The quick form is that of sums too; Student densities are not linear.
        total = family.log_density(features.sum(axis=0, keepdims=True), components)[0]
        np.testing.assert_allclose(total, quick.sum(axis=0), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("entry", registry.entries(), ids=registry.names())
def test_every_family_says_what_it_is_for(entry):
    assert entry.purpose
    assert entry.words
    assert len({known.words for known in registry.entries()}) == len(registry.names())
    block = drawn_block(entry.name, 2, 0.0, np.random.default_rng(0))
    part = entry.part.fit(block, np.arange(2), [N_LEVELS] * 2, Priors())
    statistics = part.family.features(part.encode(block)).sum(axis=0, keepdims=True)
    components = part.decode(part.family.components(statistics, part.family.prior(statistics)))
    # The name that is declared is the name under which components are stored.
    assert components.family == entry.name
    assert ComponentSet.from_arrays(entry.name, components.arrays()) == components
    assert part.for_search().family.n_parameters >= 1


def test_stored_families_are_found_in_a_fresh_process():
    script = (
        "from mixoracle.model import ComponentSet\n"
        "from mixoracle.errors import FileFormatError\n"
        "try:\n    ComponentSet.from_arrays('none', {})\n"
        "except FileFormatError as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert all(name in done.stdout for name in (*registry.names(), "product"))


def test_a_family_is_added_and_removed_again():
    added = FamilyEntry("prices", "prices", "prices", GammaPart)
    before = registry.names()
    with registry.registered(added):
        assert registry.names() == (*before, "prices")
        assert registry.entry("prices") is added
        with pytest.raises(InvalidInputError, match="a family 'prices' already"):
            registry.register(added)
    assert registry.names() == before
    with pytest.raises(InvalidInputError, match=r"one of gaussian, .*; got 'prices'"):
        registry.entry("prices")
