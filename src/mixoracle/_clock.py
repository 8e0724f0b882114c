"""The time that a fit may take, and what was left out for lack of it.

Stages that an answer can do without (further starts, coarser resolutions, more changes of a good
explanation) ask the clock before they begin. What an answer needs is done in any case.
"""

from __future__ import annotations

from math import inf
from time import monotonic, process_time

from mixoracle.errors import InvalidInputError


class Clock:
    """Counts from when it is made; without a limit the time is never up.

    Parameters
    ----------
    limit : float or None
        Seconds.
    most : float
        Seconds of this process that are the limit where nobody set one. A busy machine does not
        make them fewer, so that the same data give the same answer.

    Attributes
    ----------
    limit : float
    left_out : list of str
        What was asked for after the time was up, in plain words, each once.

    Examples
    --------
    >>> clock = Clock(1e-9)
    >>> clock.leaves_out("further starts"), clock.left_out
    (True, ['further starts'])
    """

    def __init__(self, limit: float | None = None, most: float = inf) -> None:
        if limit is not None and (isinstance(limit, bool | str) or not limit > 0):
            raise InvalidInputError(
                "time_limit should be seconds above 0, inf for no limit, or None for the most that "
                f"a fit may take; got {limit!r}"
            )
        self._is_of_process = limit is None
        self.limit = most if limit is None else limit
        self.left_out: list[str] = []
        self._end = self._now() + self.limit

    def _now(self) -> float:
        return process_time() if self._is_of_process else monotonic()

    def leaves_out(self, what: str) -> bool:
        """Whether the time is up; then ``what`` is noted as left out."""
        if self._now() < self._end:
            return False
        if what not in self.left_out:
            self.left_out.append(what)
        return True


NO_LIMIT = Clock()
"""The clock where nobody set a limit; it never notes anything."""
