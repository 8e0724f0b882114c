"""``mixoracle`` and ``python -m mixoracle``: the command line, quiet when it is stopped early."""

import os

TYPE_CHECKING = False  # see __init__.py
if TYPE_CHECKING:
    import signal as _signal
    from types import FrameType
else:
    # Until the handlers are set, Ctrl-C ends in a traceback of Python's own. This is inside the
    # interpreter; ``signal`` around it takes several milliseconds to load.
    import _signal

_STOPPED = b"Stopped; no result was written.\n"


def _end_at_once(number: int, _frame: "FrameType | None") -> None:
    """Nothing has been written before a command runs; and loading takes half a second."""
    os.write(2, _STOPPED)
    os._exit(128 + number)


def main() -> None:
    """Run the command line."""
    for number in (_signal.SIGINT, _signal.SIGTERM):
        _signal.signal(number, _end_at_once)
    from mixoracle.cli import main as program

    program()


if __name__ == "__main__":
    main()
