"""Which steps a stream takes, compiled or in NumPy, and the places in what it carries from batch to batch."""

from __future__ import annotations

from typing import Any

from ..backend import compiled

# of the block that is still open
OPEN, TOP, SCORES, POS, NEG, GROUPS, FIRST = range(7)
DRAWS_PER_NUMBER = 4  # Poisson weights from one random number of 64 bits


def stream_steps() -> Any:
    """The module of the steps of a stream; imported at first use, as ``passes`` is."""
    if compiled():
        from . import stream_kernels

        return stream_kernels
    from . import numpy_stream_kernels

    return numpy_stream_kernels
