"""A line on standard error while something long runs: only where somebody can see it, or when asked."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")
_FIRST_AFTER, _EVERY = 1.0, 0.25


def follow(items: Iterable[Item], total: int, what: str, show: bool | None = None) -> Iterator[Item]:
    """Hands the items on and says how many have passed; silent unless it takes longer than a second.

    ``show`` is True or False, or None for "only on a terminal".

    >>> list(follow([1, 2], 2, "counting", show=False))
    [1, 2]
    """
    visible = sys.stderr.isatty() if show is None else show
    start = time.monotonic()
    last = start + _FIRST_AFTER - _EVERY
    written = False
    try:
        for number, item in enumerate(items):
            now = time.monotonic()
            if visible and now - last >= _EVERY:
                sys.stderr.write(f"\r{what}: {number}/{total} ")
                sys.stderr.flush()
                last, written = now, True
            yield item
    finally:
        if written:
            sys.stderr.write("\r\x1b[K" if sys.stderr.isatty() else "\n")
            sys.stderr.flush()
