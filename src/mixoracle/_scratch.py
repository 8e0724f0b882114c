"""Unfinished files and folders: made beside their place, held while in use, cleared when left over.

Whatever is written appears under its own name only when it is complete. Until then it has a hidden
name with a lock on it, which the system takes away when the process ends, in whatever way. So the
next run can tell what a killed one left behind from what another one is still filling.

Assumes a file system whose locks work, so a local disk; elsewhere nothing is cleared.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import time
from glob import escape
from pathlib import Path
from typing import IO, Any, BinaryIO

# A file is made first and locked then; what is younger than this may be just in between.
_SETTLED = 5.0
LOCK_FILE = ".lock"


def hold(stream: IO[Any]) -> bool:
    """Lock an open file until it is closed or the process dies; whether that could be done."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def new_file(folder: Path, prefix: str) -> tuple[BinaryIO, Path]:
    """An empty file under a hidden name, held, with the rights that the user's mask leaves."""
    clear_left_files(folder, prefix)
    path = folder / f"{prefix}{secrets.token_hex(8)}"
    flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0)
    stream = os.fdopen(os.open(path, flags, 0o666), "wb")
    hold(stream)
    return stream, path


def clear_left_files(folder: Path, prefix: str) -> None:
    """Remove files of earlier runs that ended before they could do so themselves."""
    for path in folder.glob(f"{escape(prefix)}*"):
        if path.is_file() and not path.is_symlink() and _is_left(path):
            path.unlink(missing_ok=True)


def left_folders(parent: Path, prefix: str) -> list[Path]:
    """Folders with a lock file that nobody holds any more."""
    found = sorted(
        path for path in parent.glob(f"{escape(prefix)}*") if (path / LOCK_FILE).is_file()
    )
    return [path for path in found if not path.is_symlink() and _is_left(path / LOCK_FILE)]


def remove_folder(path: Path) -> None:
    """Remove a folder with all that is in it, as far as that can be done."""
    shutil.rmtree(path, ignore_errors=True)


def _is_left(path: Path) -> bool:
    try:
        if time.time() - path.stat().st_mtime < _SETTLED:
            return False
        with path.open("ab") as stream:
            return hold(stream)
    except OSError:
        return False
