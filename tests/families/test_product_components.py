import numpy as np
import pytest

from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.model import ComponentSet, ProductComponents


@pytest.mark.parametrize("seed", range(10))
def test_densities_and_samples_are_those_of_the_parts_in_their_columns(seed, draw_components):
    wide, narrow = draw_components("gaussian", seed, d=2), draw_components("categorical", seed, d=1)
    held = ProductComponents((narrow, wide), ((1,), (2, 0)))
    rng = np.random.default_rng(seed)
    block = held.sample(rng.integers(0, 3, 30), rng)
    block[rng.random(block.shape) < 0.3] = np.nan
    expected = narrow.log_density(block[:, [1]]) + wide.log_density(block[:, [2, 0]])
    np.testing.assert_allclose(held.log_density(block), expected)
    codes = block[:, 1][~np.isnan(block[:, 1])]
    assert set(codes) <= set(range(int(narrow.n_levels[0])))


def test_products_of_products_are_rebuilt(draw_components):
    inner = draw_components("product", 0, d=4)
    held = ProductComponents((draw_components("counts", 1, d=2), inner), ((0, 5), (1, 2, 4, 3)))
    arrays = held.arrays()
    assert "part_1_part_0_means" in arrays
    assert ComponentSet.from_arrays("product", arrays) == held


def test_parts_of_another_number_make_other_components(draw_components):
    one = ProductComponents((draw_components("counts", 1, d=2),), ((0, 1),))
    two = ProductComponents(
        (draw_components("counts", 1, d=1), draw_components("counts", 2, d=1)), ((0,), (1,))
    )
    assert one != two


def test_a_part_of_an_unknown_family_is_named(draw_components):
    arrays = draw_components("product", 0).arrays()
    arrays["families"] = np.array(["cauchy", "categorical", "counts"])
    with pytest.raises(FileFormatError, match="unknown component family 'cauchy'"):
        ComponentSet.from_arrays("product", arrays)


def test_what_is_no_product_is_refused(draw_components):
    part = draw_components("gamma", 0, k=3, d=2)
    with pytest.raises(InvalidInputError, match=r"at least one part .* got 0 and 0"):
        ProductComponents((), ())
    with pytest.raises(InvalidInputError, match="got 1 and 2"):
        ProductComponents((part,), ((0,), (1,)))
    with pytest.raises(InvalidInputError, match="one column number for each"):
        ProductComponents((part,), ((0,),))
    with pytest.raises(InvalidInputError, match="and 3 components; got GammaComponents"):
        ProductComponents((part, draw_components("gamma", 0, k=2, d=1)), ((0, 1), (2,)))
    with pytest.raises(InvalidInputError, match="should be 0 to 2, each once"):
        ProductComponents((part, draw_components("gamma", 0, k=3, d=1)), ((0, 1), (1,)))


def test_repr(draw_components):
    found = repr(draw_components("product", 0))
    assert found == "ProductComponents(3 components, gaussian × categorical × counts, 3 columns)"
