"""How kernels are compiled and kept: without the GIL, in a cache that is checked before it is trusted.

numba's own cache looks at the file of a kernel, not at those it calls, and fails on a damaged file. This one is keyed
by a checksum of all kernels' sources, and each entry carries a checksum of itself: what is damaged, cut short or cannot
be read is compiled anew, and where nothing can be written nothing is kept. An entry is code that will run: it is read
only from a file and a folder that belong to the user or the administrator, and that nobody else may write.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..errors import InputError

try:
    import numba
    from numba.core import compiler, serialize
    from numba.core import config as numba_config
except ModuleNotFoundError as error:
    if error.name != "numba":
        raise  # a numba that is installed and does not work is no missing one
    said = "several classes, pages, plots and permutations need compiled passes, but numba is not installed"
    raise InputError(None, said, "pip install numba") from None

Function = Callable[..., Any]
config: Any = numba_config  # its names are made when it is loaded
CompileResult: Any = compiler.CompileResult
_DIGEST = 32


@cache
def _stamp() -> str:
    """A checksum of the sources of this package: a kernel is stale when any of them has changed."""
    found = hashlib.sha256(f"{numba.__version__} {sys.version_info[:2]}".encode())
    for source in sorted(files(__package__).iterdir(), key=lambda one: one.name):  # also inside a zip file
        if source.name.endswith(".py"):
            found.update(source.read_bytes())
    return found.hexdigest()[:16]


def _folders() -> list[Path]:
    """Where compiled kernels may be kept, the first choice first."""
    wished = [Path(config.CACHE_DIR)] if config.CACHE_DIR else [Path(__file__).parent / "__pycache__"]
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or os.path.expanduser("~/.cache")
    return wished if home.startswith("~") else [*wished, Path(home, "cutline")]  # ~ stays where there is no home


def _is_safe(status: os.stat_result) -> bool:
    """Whether only the user or the administrator can have written a file, or can write into a folder."""
    return not hasattr(os, "getuid") or (status.st_uid in (0, os.getuid()) and not status.st_mode & 0o022)


class KernelCache:
    """The compiled forms of one kernel, one file for each signature. Stands in for numba's own cache."""

    def __init__(self, function: Function) -> None:
        self._name = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"
        self.cache_path = str(_folders()[0])

    def _file(self, signature: Any, codegen: Any) -> str:
        key = repr((signature, codegen.magic_tuple(), config.BOUNDSCHECK, config.OPT, sys.version_info[:2]))
        return f"{self._name}-{_stamp()}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.kernel"

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled form, or None where there is none that can be trusted."""
        context.refresh()
        name = self._file(signature, context.codegen())
        for folder in _folders():
            with suppress(Exception):  # whatever is wrong with a kept form, it can be made again
                with open(folder / name, "rb") as file:
                    if not (_is_safe(folder.stat()) and _is_safe(os.fstat(file.fileno()))):
                        continue
                    content = file.read()
                if hashlib.sha256(content[_DIGEST:]).digest() == content[:_DIGEST]:
                    return CompileResult._rebuild(context, *pickle.loads(content[_DIGEST:]))
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled form in the first folder that takes it; those of older sources go."""
        content: bytes = serialize.dumps(compiled._reduce())  # type: ignore[no-untyped-call]
        name = self._file(signature, compiled.codegen)
        for folder in _folders():
            with suppress(OSError):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                if not _is_safe(folder.stat()):
                    continue
                handle, path = tempfile.mkstemp(dir=folder, prefix=name)
                try:
                    with os.fdopen(handle, "wb") as file:
                        file.write(hashlib.sha256(content).digest() + content)
                    os.replace(path, folder / name)  # others see the whole file or none
                except BaseException:
                    os.unlink(path)
                    raise
                for other in folder.glob(f"{self._name}-*.kernel"):
                    if f"-{_stamp()}-" not in other.name:
                        with suppress(OSError):
                            other.unlink()
                return

    def flush(self) -> None:
        """Nothing waits to be written."""


def kernel(function: Function) -> Function:
    """Compile on first call, or take the form kept from an earlier run. Sums keep their order: the same everywhere."""
    compiled: Any = numba.njit(nogil=True, error_model="numpy")(function)
    compiled._cache = KernelCache(function)
    checked: Function = compiled
    return checked


def inlined(function: Function) -> Function:
    """A helper compiled into the kernels that call it."""
    compiled: Function = numba.njit(nogil=True, error_model="numpy", inline="always")(function)
    return compiled
