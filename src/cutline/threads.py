"""Work side by side in plain threads: kernels and NumPy leave the interpreter free."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
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
