"""What a request to stop does: Ctrl-C, and the signal by which systems end a program.

Before a command runs nothing has been written, and the program ends at once (``__main__``). While
it runs, an exception lets everything unfinished be removed. Packages that are being loaded may turn
it into an error of theirs, and Python drops it where it was raised in a finaliser; that it was a
request to stop is not forgotten.
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOPPED = "Stopped; no result was written."
# Shells report 128 and the number of the signal that ended a program; this is Ctrl-C.
EXIT_INTERRUPTED = 128 + signal.SIGINT
# Seconds until a request that was dropped is made again, when the finaliser is over.
_AGAIN_AFTER = 0.05


class Stopped(KeyboardInterrupt):
    """Somebody asked the program to end, as Ctrl-C does; workers end with it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


@contextmanager
def stoppable() -> Iterator[None]:
    """While the block runs, a request to stop is raised in it as :class:`Stopped`."""
    # Python hands signals to the main thread, and only there can be said what they do.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        asked.append(number)
        raise Stopped(number)

    def ask_again(dropped: sys.UnraisableHookArgs) -> None:
        if not isinstance(dropped.exc_value, Stopped):
            hook(dropped)
            return
        timer = threading.Timer(_AGAIN_AFTER, _thread.interrupt_main, (asked[0],))
        timer.daemon = True
        timer.start()

    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, stop) for number in signals]
    hook, sys.unraisablehook = sys.unraisablehook, ask_again
    try:
        yield
    except Exception as error:
        # Loading a package turns an interruption into an error of its own.
        if asked:
            raise Stopped(asked[0]) from error
        raise
    finally:
        sys.unraisablehook = hook
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)
