"""Files written whole or not at all, and temporary ones that are gone afterwards, also when a command is stopped."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# What is to be removed if the process is stopped: each name is noted before the file or folder is made.
_temporary: set[str] = set()
_swept: set[str] = set()  # where abandoned folders were looked for: once in a process is enough
_SURELY_LOCKED = 60  # seconds; a folder is made first and locked a moment later


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
    """A folder that only its owner can read, removed with all it holds; those of killed processes are removed first."""
    parent = parent or tempfile.gettempdir()
    if parent not in _swept:
        _swept.add(parent)
        _remove_abandoned(parent)
    with _noted(os.path.join(parent, f"cutline-{secrets.token_hex(8)}")) as folder:
        os.mkdir(folder, 0o700)
        with _lock(folder):
            yield folder


@contextmanager
def _lock(folder: str) -> Iterator[bool]:
    """Hold the lock of a folder, which the system gives back when the process ends, however it ends.

    False where another process holds it, or where there are no locks: then nobody takes the folder for abandoned.
    """
    with contextlib.ExitStack() as stack:
        is_held = False
        with contextlib.suppress(ImportError, OSError):  # Windows has no fcntl, and some network drives no locks
            import fcntl

            handle = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_held = True
        yield is_held


def _remove_abandoned(parent: str) -> None:
    """Remove the temporary folders of processes that were killed: the user's own, whose lock nobody holds."""
    with contextlib.suppress(OSError, AttributeError), os.scandir(parent) as entries:  # Windows has no user numbers
        for entry in entries:
            if not re.fullmatch(r"cutline-[0-9a-f]{16}", entry.name) or not entry.is_dir(follow_symlinks=False):
                continue
            facts = entry.stat(follow_symlinks=False)
            if facts.st_uid == os.getuid() and time.time() - facts.st_mtime > _SURELY_LOCKED:
                with _lock(entry.path) as is_abandoned:
                    if is_abandoned:
                        shutil.rmtree(entry.path, ignore_errors=True)


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
