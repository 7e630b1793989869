"""Which passes sum a ranking: the compiled ones, or the same in NumPy where numba is not installed.

cutline itself depends on numba. Executors of a cluster may lack it: there the NumPy passes give the same sums, slower.
A numba that is installed and does not work is an error, not a reason to take the other way.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any


@cache
def compiled() -> bool:
    """Whether numba is installed."""
    return find_spec("numba") is not None


def passes() -> Any:
    """The module of the passes over a ranking; imported at first use, because numba takes a moment to load."""
    if compiled():
        from . import kernels

        return kernels
    from . import numpy_kernels

    return numpy_kernels
