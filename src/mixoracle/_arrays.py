"""Array chores that every record shares: copy, freeze, compare."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixoracle.errors import InvalidInputError

# Beyond this a float no longer holds every whole number.
_LARGEST_EXACT = 2.0**53


class FrozenArrays:
    """Keeps the arrays of a record read-only through copying and pickling, which unlock them."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        for held in state.values():
            if isinstance(held, np.ndarray):
                held.setflags(write=False)
        self.__dict__.update(state)


def frozen_array(values: Any, dtype: Any, what: str) -> NDArray[Any]:
    """Copy ``values`` to a read-only array of ``dtype``, or say why that cannot be done."""
    try:
        if np.iscomplexobj(values):
            raise InvalidInputError(f"{what} should hold real numbers; got complex ones")
        array = np.array(values, dtype=dtype, order="C", copy=True)
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InvalidInputError):
            raise
        raise InvalidInputError(
            f"{what} should be an array of {np.dtype(dtype).name}: {error}"
        ) from error
    if array.dtype.kind == "f":
        # -0.0 equals 0.0 but has other bytes; without it, equal records hash and save alike.
        array += 0.0
    array.setflags(write=False)
    return array


def frozen_whole_numbers(values: Any, what: str) -> NDArray[np.int64]:
    """Copy ``values`` to read-only integers, refusing fractions instead of cutting them off."""
    array = frozen_array(values, np.float64, what)
    if np.any(np.abs(array) > _LARGEST_EXACT) or np.any(array != np.round(array)):
        raise InvalidInputError(f"{what} should be whole numbers; got {np.asarray(values)!r}")
    return frozen_array(array, np.int64, what)


def frozen_bools(values: Any, what: str) -> NDArray[np.bool_]:
    """Copy ``values`` to read-only booleans, accepting 0/1 and nothing else."""
    array = frozen_array(values, np.float64, what)
    if not np.all((array == 0) | (array == 1)):
        raise InvalidInputError(f"{what} should hold only 0/1 or False/True")
    return frozen_array(array, np.bool_, what)


def frozen_domain_sizes(values: Any, n_latent: int, what: str) -> tuple[int, ...]:
    """Check one domain size of at least 2 for each latent."""
    sizes = frozen_whole_numbers(values, what)
    if sizes.ndim != 1 or len(sizes) != n_latent:
        raise InvalidInputError(
            f"{what} should hold one size for each of the {n_latent} latents; "
            f"got shape {sizes.shape}"
        )
    if np.any(sizes < 2):
        raise InvalidInputError(f"{what} should all be at least 2; got {tuple(sizes.tolist())}")
    return tuple(int(size) for size in sizes)
