"""How kernels are compiled and run: cached on disk where that is possible, without the GIL, in plain threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numba

Function = Callable[..., Any]
T = TypeVar("T")


def _compile(function: Function, **options: Any) -> Function:
    try:
        compiled: Function = numba.njit(nogil=True, cache=True, error_model="numpy", **options)(function)
    except RuntimeError:  # neither the package nor the home folder can hold a cache: do without one
        compiled = numba.njit(nogil=True, error_model="numpy", **options)(function)
    return compiled


def kernel(function: Function) -> Function:
    """Compile on first call."""
    return _compile(function)


def summing_kernel(function: Function) -> Function:
    """Compile with leave to add up in any order, so that long sums use the processor's vector units."""
    return _compile(function, fastmath={"reassoc", "contract"})


def inlined(function: Function) -> Function:
    """A helper compiled into the kernels that call it."""
    compiled: Function = numba.njit(nogil=True, error_model="numpy", inline="always")(function)
    return compiled


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
