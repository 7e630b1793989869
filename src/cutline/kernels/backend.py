"""Which passes are made: the compiled ones, or the same in NumPy.

NumPy serves where numba is not installed (executors of a cluster may lack it), and small samples until what NumPy has
done adds up to the time that loading numba takes: one evaluation starts at once, the thousandth is compiled. Whole
counts give the same bits either way, so it does not matter to a result whether something else has loaded numba before.
A numba that is installed and does not work is an error, not a reason to take the other way.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import find_spec
from typing import Any

SMALL = 2**10  # rows
SMALL_WORK = 2**20  # rows times replicates that NumPy sums in one process before numba is loaded: as long as that takes


@cache
def compiled() -> bool:
    """Whether numba is installed."""
    return find_spec("numba") is not None


def is_small(rows: int, replicates: int = 1, *, weighted: bool = False) -> bool:
    """Whether NumPy does as well: few rows in all replicates together, each of which counts for one case."""
    return rows <= SMALL and rows * replicates <= SMALL_WORK and not weighted


def _plainly(rows: int | None, replicates: int, weighted: bool) -> bool:
    if not compiled():
        return True
    loaded = "cutline.kernels.passes" in sys.modules
    if rows is None or loaded or not is_small(rows, replicates, weighted=weighted):
        return False
    return _within_budget(replicates * (rows if replicates > 1 else SMALL))  # a single pass is all overhead


class _Spent:
    """What NumPy has summed in this process."""

    work = 0


def _within_budget(work: int) -> bool:
    """Whether NumPy may do this too; a program that evaluates again and again is better off with numba."""
    if _Spent.work + work > SMALL_WORK:
        return False
    _Spent.work += work
    return True


def passes(rows: int | None = None, *, weighted: bool = False) -> Any:
    """The module of the passes over one ranking of so many rows; imported at first use."""
    if _plainly(rows, 1, weighted):
        from . import plain

        return plain
    from . import passes as compiled_passes

    return compiled_passes


def replicates(rows: int | None = None, n: int = 1, *, weighted: bool = False) -> Any:
    """The module of the passes over ``n`` replicates of a ranking of so many rows."""
    if _plainly(rows, n, weighted):
        from . import plain_replicates

        return plain_replicates
    from . import replicates as compiled_replicates

    return compiled_replicates


def rankings(rows: int | None = None, *, weighted: bool = False) -> Any:
    """The module of the steps from rows to a ranking."""
    if _plainly(rows, 1, weighted):
        from . import plain_rankings

        return plain_rankings
    from . import rankings as compiled_rankings

    return compiled_rankings


def stream_steps() -> Any:
    """The module of the steps of a stream."""
    if compiled():
        from . import streams

        return streams
    from . import plain_streams

    return plain_streams
