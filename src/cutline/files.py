"""Files written whole or not at all, and temporary ones that are gone afterwards, also when a command is stopped."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# What is to be removed if the process is stopped: each name is noted before the file or folder is made.
_temporary: set[str] = set()


def remove_temporary() -> None:
    """Remove every temporary file and folder at once, for a process that is about to be stopped."""
    for path in list(_temporary):
        for _ in range(50):  # a thread may still be writing into a folder while it is emptied
            shutil.rmtree(path, ignore_errors=True)
            with contextlib.suppress(OSError):
                os.unlink(path)
            if not os.path.lexists(path):
                break
    _temporary.clear()


@contextmanager
def _noted(path: str) -> Iterator[str]:
    _temporary.add(path)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.unlink(path)
        _temporary.discard(path)


@contextmanager
def temporary_folder(parent: str | None = None) -> Iterator[str]:
    """A folder that only its owner can read, removed with all it holds."""
    with _noted(os.path.join(parent or tempfile.gettempdir(), f"cutline-{secrets.token_hex(8)}")) as folder:
        os.mkdir(folder, 0o700)
        yield folder


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a device, a pipe or the like, which takes bytes and cannot be replaced by a file."""
    if os.path.abspath(path).startswith(("/dev/", "/proc/")):
        return True
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False


@contextmanager
def write_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to, whose content becomes that of ``path`` at the end; if that is not reached, nothing changes.

    A file that is there keeps its rights and its owner, a symbolic link still points to it, and a device or a pipe is
    written to instead of being replaced.
    """
    beside = ""
    try:
        if is_stream(path):
            with temporary_folder() as folder:
                beside = os.path.join(folder, "content" + Path(path).suffix)
                yield Path(beside)
                with open(beside, "rb") as content, open(path, "wb") as stream:
                    shutil.copyfileobj(content, stream)
            return
        goal = Path(os.path.realpath(path))
        if not goal.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "Create its folder first; there is none", os.fspath(path))
        beside = os.path.join(goal.parent, f".cutline-{secrets.token_hex(8)}{goal.suffix}")
        there = goal.stat() if goal.exists() else None
        with _noted(beside):
            # A new file gets the rights that the process gives to any; umask itself belongs to all threads.
            os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666 if there is None else 0o600))
            yield Path(beside)
            if there is not None:
                # only the administrator may give files away, and Windows has no such call
                with contextlib.suppress(OSError, AttributeError):
                    os.chown(beside, there.st_uid, there.st_gid)
                os.chmod(beside, stat.S_IMODE(there.st_mode))
            os.replace(beside, goal)
    except OSError as error:  # a full disk names no file, and nobody knows the one that was to be renamed
        if error.filename in (None, beside, Path(beside)):
            error.filename, error.filename2 = os.fspath(path), None
        raise
