"""What long work needs: threads, sizes to split it by, progress, and files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def cores() -> int:
    """Threads worth starting: the cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def in_threads(tasks: Iterable[Callable[[], T]]) -> list[T]:
    """Run tasks side by side and give their results in order.

    A pool for each call, so that nothing is left over that a later fork could inherit half-alive.
    """
    jobs = list(tasks)
    if len(jobs) < 2 or cores() < 2:
        return [job() for job in jobs]
    with ThreadPoolExecutor(min(len(jobs), cores())) as pool:
        return [future.result() for future in [pool.submit(job) for job in jobs]]


@dataclass
class Tuning:
    """The sizes in use, for all threads of this process."""

    batch_rows: int | None = None
    """Rows of a batch from DuckDB; as many as it hands out where None."""
    group_first: int = 16
    """Rows for each distinct score from which adding equal scores up before the sort is cheaper."""
    keep_all_scores: int = 2**16
    """With fewer distinct scores than this a stream keeps the whole ranking."""
    batch_cells: int = 2**18
    """With fewer pairs of a batch and a score than this a stream in batches keeps them all."""
    exact_pairs: int = 2**31
    """With more rows than this, products of counts leave 64-bit integers, and a stream sums floats."""
    expanded_rows: int = 50_000_000
    """Cases up to which rows are made of counts where each is needed: some 17 bytes for each, 850 MB in all."""
    rows_per_partition: int = 500_000
    """Rows of a partition on Spark."""
    tied_share: float = 0.8
    """With fewer distinct scores than this share of the rows, Spark adds equal scores up before the shuffle."""
    rows_together: int = 65_536
    """Rows that an executor gathers before it sums them."""
    large_text: int = 2**30
    """Bytes of a text file from which the command line streams it."""
    cells_at_once: int = 2_000_000
    """Cells of a score matrix in one step."""
    worth_processes: float = 2.0
    """Seconds of fitting below which starting processes costs more than it saves."""


TUNING = Tuning()


@contextmanager
def tuned(**sizes: float | None) -> Iterator[None]:
    """Use other sizes for a while.

    >>> with tuned(rows_per_partition=1000):
    ...     TUNING.rows_per_partition
    1000
    >>> TUNING.rows_per_partition
    500000
    """
    before = asdict(TUNING)
    unknown = sizes.keys() - before.keys()
    if unknown:
        raise TypeError(f"no such size: {', '.join(sorted(unknown))}")
    TUNING.__dict__.update(sizes)
    try:
        yield
    finally:
        TUNING.__dict__.update(before)


class Progress(contextlib.AbstractContextManager["Progress"]):
    """A counter on one line. Silent unless asked for or on a terminal, and silent for work that is done at once."""

    def __init__(self, what: str, total: int, show: bool | None = None, *, after: float = 1.0) -> None:
        self.what, self.total, self.done = what, max(1, total), 0
        self.show = sys.stderr.isatty() if show is None else show
        self.begun = time.monotonic()
        self.next = self.begun + after
        self.written = False

    def advance(self, steps: int = 1) -> None:
        """Count steps; write at most five times a second."""
        self.done += steps
        now = time.monotonic()
        if self.show and now >= self.next:
            self.next = now + 0.2
            left = (now - self.begun) / max(1, self.done) * (self.total - self.done)
            print(
                f"\r{self.what}: {self.done / self.total:4.0%}, {left:.0f} s left ", end="", file=sys.stderr, flush=True
            )
            self.written = True

    def __exit__(self, *error: object) -> None:
        if self.written:
            print(f"\r{' ' * (len(self.what) + 24)}\r", end="", file=sys.stderr, flush=True)


# What is to be removed if the process is stopped: each name is noted before the file or folder is made.
_temporary: set[str] = set()
_swept: set[str] = set()  # where abandoned ones were looked for: once in a process is enough
_SURELY_LOCKED = 60  # seconds; a folder is made first and locked a moment later
_SURELY_WRITTEN = 86_400  # seconds; files are not locked, and no output takes a day to write


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
    """A folder that only its owner can read, removed with its contents; those of killed processes are removed first."""
    parent = parent or tempfile.gettempdir()
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
    """Remove what killed processes of the user left: folders whose lock nobody holds, and files of some day before."""
    if parent in _swept:
        return
    _swept.add(parent)
    with contextlib.suppress(OSError, AttributeError), os.scandir(parent) as entries:  # Windows has no user numbers
        for entry in entries:
            if not re.fullmatch(r"cutline-[0-9a-f]{16}|\.cutline-[0-9a-f]{16}(\.\w+)?", entry.name):
                continue
            facts = entry.stat(follow_symlinks=False)
            age = time.time() - facts.st_mtime if facts.st_uid == os.getuid() else 0.0
            if entry.is_file(follow_symlinks=False) and age > _SURELY_WRITTEN:
                os.unlink(entry.path)
            elif entry.is_dir(follow_symlinks=False) and age > _SURELY_LOCKED:
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
        _remove_abandoned(str(goal.parent))
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
