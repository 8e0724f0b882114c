"""Missing values: values of given data taken away completely at random.

Which values go does not depend on the values, so the rest follows the same model. One value
of each row and one of each column are chosen first and kept, because a case or a measurement with
nothing in it says nothing; the missing values are then spread evenly over the others, exactly as
many as were asked for. Values that were missing before stay missing and do not count.
"""

from __future__ import annotations

import numpy as np

from mixoracle._checks import RandomState, check_probability, make_generator
from mixoracle.errors import InvalidInputError
from mixoracle.observations import Observations


def with_gaps(
    observations: Observations, share: float, random_state: RandomState = None
) -> Observations:
    """Return the observations with a share of their values missing.

    Parameters
    ----------
    observations : Observations
        Each row and each column must hold something.
    share : float
        Which share of the present values is taken away, rounded to a whole number.
    random_state : int, Generator, SeedSequence or None

    Examples
    --------
    >>> whole = Observations.from_array(np.ones((50, 4)), groups=2)
    >>> with_gaps(whole, 0.1, random_state=0).missing_fraction
    0.1
    """
    rng = make_generator(random_state)
    check_probability("share", share)
    values = np.array(observations.values)
    there = ~np.isnan(values)
    columns = [repr(observations.column_names[c]) for c in np.flatnonzero(~there.any(axis=0))]
    rows = [f"row {r}" for r in np.flatnonzero(~there.any(axis=1))]
    for kind, empty in (("column", columns), ("row", rows)):
        if empty:
            raise InvalidInputError(
                f"every {kind} should hold a value; {empty[0]} holds none: leave it out"
            )
    wanted = round(share * int(there.sum()))
    # The present value with the largest of these numbers is kept, in each row and each column.
    keys = np.where(there, rng.random(values.shape), -1.0)
    kept = (keys == keys.max(axis=1, keepdims=True)) | (keys == keys.max(axis=0))
    free = np.flatnonzero(there & ~kept)
    if wanted > len(free):
        raise InvalidInputError(
            f"{wanted} of {int(there.sum())} values cannot be taken away without emptying a row or "
            f"a column; {len(free)} can: use a smaller share or more columns"
        )
    values.flat[rng.choice(free, wanted, replace=False, shuffle=False)] = np.nan
    return Observations(values, observations.names, observations.widths, observations.levels)
