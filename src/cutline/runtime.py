"""What long work needs: threads, sizes to split it by, progress, and files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
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

    batch_rows: int | None = None  # rows of a batch from DuckDB; as many as it hands out where None
    group_first: int = 16  # rows for each distinct score from which adding equal scores up before the sort is cheaper
    keep_all_scores: int = 2**16  # with fewer distinct scores than this a stream keeps the whole ranking
    batch_cells: int = 2**18  # with fewer pairs of a batch and a score than this a stream in batches keeps them all
    exact_pairs: int = 2**31  # with more rows, products of counts leave 64-bit integers, and a stream sums floats
    expanded_rows: int = 50_000_000  # cases up to which rows are made of counts: some 17 bytes for each, 850 MB in all
    brought_rows: int = 5_000_000  # rows that Spark hands to the driver: some 40 bytes for each of a few columns
    rows_per_partition: int = 500_000  # rows of a partition on Spark
    tied_share: float = 0.8  # distinct scores per row below which Spark adds equal scores up before the shuffle
    rows_together: int = 65_536  # rows that an executor gathers before it sums them
    cells_at_once: int = 2_000_000  # cells of a score matrix in one step
    worth_processes: float = 2.0  # seconds of fitting below which starting processes costs more than it saves


TUNING = Tuning()


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
            text = f"\r{self.what}: {self.done / self.total:4.0%}, {left:.0f} s left "
            print(text, end="", file=sys.stderr, flush=True)
            self.written = True

    def __exit__(self, *error: object) -> None:
        if self.written:
            print(f"\r{' ' * (len(self.what) + 24)}\r", end="", file=sys.stderr, flush=True)


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
    """A folder that only its owner can read, removed with its contents."""
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

    A file that is there keeps its rights, a symbolic link still points to it, and a device or a pipe is
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
                os.chmod(beside, stat.S_IMODE(there.st_mode))
            os.replace(beside, goal)
    except OSError as error:  # a full disk names no file, and nobody knows the one that was to be renamed
        if error.filename in (None, beside, Path(beside)):
            error.filename, error.filename2 = os.fspath(path), None
        raise
