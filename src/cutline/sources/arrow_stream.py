"""Batches of columns from anything that exports an Arrow stream, read with ctypes and NumPy alone.

DuckDB hands out large results as a stream of record batches through the Arrow C interface. Reading it here, some
eighty lines, spares users a dependency on pyarrow.
"""

from __future__ import annotations

import ctypes
import queue
import threading
from collections.abc import Callable, Generator, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Batch = dict[str, NDArray[Any]]
_TYPES = {"g": np.float64, "f": np.float32, "l": np.int64, "i": np.int32, "c": np.int8, "C": np.uint8, "L": np.uint64}
_AHEAD = 2


class _Schema(ctypes.Structure):
    pass


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ("private_data", ctypes.c_void_p),
]


class _Array(ctypes.Structure):
    pass


_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ("private_data", ctypes.c_void_p),
]


class _Stream(ctypes.Structure):
    _fields_ = (
        ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
        ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
        ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)),
        ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("private_data", ctypes.c_void_p),
    )


class StreamError(RuntimeError):
    """The producer of a stream reported an error; the message is its own."""


def _read(exporter: Any) -> Iterator[Batch]:
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
        columns = [schema.children[k].contents for k in range(schema.n_children)]
        names = [column.name.decode() for column in columns]
        types = [_TYPES[column.format.decode()] for column in columns]
    finally:
        schema.release(ctypes.addressof(schema))
    while True:
        array = _Array()
        call(stream.get_next, array)
        if not array.release:  # a released array marks the end
            return
        try:
            yield {
                name: _column(array.children[k].contents, array.length, np.dtype(types[k]))
                for k, name in enumerate(names)
            }
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
    ready: queue.Queue[Batch | BaseException | None] = queue.Queue(_AHEAD)
    left = threading.Event()

    def hand(item: Batch | BaseException | None) -> bool:
        while not left.is_set():
            try:
                ready.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def fetch() -> None:
        try:
            for batch in _read(exporter):
                if not hand(batch):
                    return
            hand(None)
        except BaseException as error:
            hand(error)

    worker = threading.Thread(target=fetch, name="cutline-fetch", daemon=True)
    worker.start()
    finished = False
    try:
        while True:
            try:
                item = ready.get(timeout=0.2)
            except queue.Empty:
                continue
            if item is None:
                finished = True
                return
            if isinstance(item, BaseException):
                finished = True
                raise item
            yield item
    finally:
        left.set()
        if not finished:
            interrupt()
        worker.join()
