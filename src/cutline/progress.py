"""Progress of long work, on standard error, so that standard output holds data alone."""

from __future__ import annotations

import sys
import time
from types import TracebackType


class Progress:
    """A counter on one line. Silent unless asked for or on a terminal, and silent for work that is done at once."""

    def __init__(self, what: str, total: int, show: bool | None = None, *, after: float = 1.0) -> None:
        self.what, self.total, self.done = what, max(1, total), 0
        self.show = sys.stderr.isatty() if show is None else show
        self.begun = time.monotonic()
        self.next = self.begun + after
        self.written = False

    def __enter__(self) -> Progress:
        return self

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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.written:
            print(f"\r{' ' * (len(self.what) + 24)}\r", end="", file=sys.stderr, flush=True)
