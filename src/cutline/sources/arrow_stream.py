"""Batches of columns from anything that exports an Arrow stream, read with ctypes and NumPy alone: DuckDB does.

It spares users a dependency on pyarrow: nothing else that is always installed reads such a stream in pieces.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

Batch = dict[str, NDArray[Any]]
_TYPES = {"g": np.float64, "f": np.float32, "l": np.int64, "i": np.int32, "c": np.int8, "C": np.uint8, "L": np.uint64}
_TEXT, _NUMBER, _POINTER = ctypes.c_char_p, ctypes.c_int64, ctypes.c_void_p
_RELEASE = ctypes.CFUNCTYPE(None, _POINTER)
_ASK = ctypes.CFUNCTYPE(ctypes.c_int, _POINTER, _POINTER)


# The three structures of the Arrow C data and stream interfaces, field by field in their order.
class _Schema(ctypes.Structure):
    _fields_ = (
        *(("format", _TEXT), ("name", _TEXT), ("metadata", _POINTER), ("flags", _NUMBER), ("n_children", _NUMBER)),
        *(("children", ctypes.POINTER(_POINTER)), ("dictionary", _POINTER)),
        *(("release", _RELEASE), ("private_data", _POINTER)),
    )


class _Array(ctypes.Structure):
    _fields_ = (
        *((name, _NUMBER) for name in ("length", "null_count", "offset", "n_buffers", "n_children")),
        *((name, ctypes.POINTER(_POINTER)) for name in ("buffers", "children")),
        *(("dictionary", _POINTER), ("release", _RELEASE), ("private_data", _POINTER)),
    )


class _Stream(ctypes.Structure):
    _fields_ = (
        *(("get_schema", _ASK), ("get_next", _ASK), ("get_last_error", ctypes.CFUNCTYPE(_TEXT, _POINTER))),
        *(("release", _RELEASE), ("private_data", _POINTER)),
    )


class StreamError(RuntimeError):
    """The producer of a stream reported an error; the message is its own."""


def _read(exporter: Any) -> Generator[Batch]:
    """Record batches of fixed-width columns without missing values, copied into arrays of their own."""
    capsule = exporter.__arrow_c_stream__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = pointer(capsule, b"arrow_array_stream")
    stream = _Stream.from_address(address)

    def call(function: Callable[..., int], target: ctypes.Structure) -> None:
        if function(address, ctypes.addressof(target)):
            message = stream.get_last_error(address)
            raise StreamError((message or b"the stream broke off").decode("utf-8", "replace"))

    schema = _Schema()
    call(stream.get_schema, schema)
    try:
        columns = [_Schema.from_address(schema.children[k]) for k in range(schema.n_children)]
        types = {column.name.decode(): np.dtype(_TYPES[column.format.decode()]) for column in columns}
    finally:
        schema.release(ctypes.addressof(schema))
    while True:
        array = _Array()
        call(stream.get_next, array)
        if not array.release:  # a released array marks the end
            return
        try:
            children = [_Array.from_address(array.children[k]) for k in range(len(types))]
            yield {name: _column(own, array.length, t) for own, (name, t) in zip(children, types.items(), strict=True)}
        finally:
            array.release(ctypes.addressof(array))


def _column(child: Any, length: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    if length == 0:
        return np.empty(0, dtype)
    if child.null_count > 0:
        raise StreamError("a value is missing in a column that was checked to be complete: did the source change?")
    start = child.buffers[1] + child.offset * dtype.itemsize
    buffer = (ctypes.c_char * (length * dtype.itemsize)).from_address(start)
    return np.frombuffer(memoryview(buffer), dtype=dtype).copy()


def batches(exporter: Any, interrupt: Callable[[], None]) -> Generator[Batch]:
    """The batches of a stream, fetched ahead by a thread of its own.

    The thread works on the next batch while the last one is summed, and leaves the main thread free to take Ctrl-C
    while a long sort runs: whatever ends the reading early calls ``interrupt``, so that the producer stops too.
    """
    arriving = _read(exporter)
    with closing(arriving), ThreadPoolExecutor(1, "cutline-fetch") as worker:
        fetched = worker.submit(next, arriving, None)
        ended = False
        try:
            while not ended:
                while not fetched.done():
                    wait([fetched], timeout=0.2)  # a wait without end would not take Ctrl-C on every system
                ended = True
                batch = fetched.result()
                if batch is not None:
                    ended, fetched = False, worker.submit(next, arriving, None)
                    yield batch
        finally:
            if not ended:
                interrupt()
