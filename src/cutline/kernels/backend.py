"""Which passes are made: the compiled ones, or the same in NumPy.

NumPy serves where numba is not installed (executors of a cluster may lack it), and samples so small that loading numba
would take longer than the whole evaluation. Whole counts give the same bits either way, so it does not matter to a
result whether something else has loaded numba before. A numba that is installed and does not work is an error, not a
reason to take the other way.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import find_spec
from typing import Any

SMALL = 2**10  # rows; with replicates, rows times replicates are held to SMALL_WORK
SMALL_WORK = 2**21


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
    return rows is not None and not loaded and is_small(rows, replicates, weighted=weighted)


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
