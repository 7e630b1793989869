"""Compile kernels before the tests need them, and each of them in one process only.

``make test`` runs this beside the type checker, which keeps one core busy. What it leaves is compiled by the tests: the
first process that needs a kernel compiles it, the others wait and load what it has kept.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np


def compile_once() -> None:
    """Let other processes wait for a kernel that one of them compiles, where there is numba and files can be locked."""
    try:
        import fcntl

        from cutline.kernels.jit import KernelCache
    except ImportError:
        return

    load, save = KernelCache.load_overload, KernelCache.save_overload
    folder = Path(tempfile.gettempdir()) / f"cutline-kernel-locks-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    held: dict[str, Any] = {}

    def load_or_lock(cache: KernelCache, signature: Any, context: Any) -> Any:
        found = load(cache, signature, context)
        if found is not None:
            return found
        name = cache._file(signature, context.codegen())
        if name in held:  # an earlier attempt to compile it failed
            return None
        lock = (folder / name).open("w")
        fcntl.flock(lock, fcntl.LOCK_EX)  # closed with the process, if it does not live to keep what it compiles
        found = load(cache, signature, context)
        if found is None:
            held[name] = lock
        else:
            lock.close()
        return found

    def save_and_unlock(cache: KernelCache, signature: Any, compiled: Any) -> None:
        try:
            save(cache, signature, compiled)
        finally:
            lock = held.pop(cache._file(signature, compiled.codegen), None)
            if lock is not None:
                lock.close()

    KernelCache.load_overload = load_or_lock  # type: ignore[method-assign]
    KernelCache.save_overload = save_and_unlock  # type: ignore[method-assign]


def main() -> None:
    """Use what most tests use: models with and without ties and weights, their page, segments, a stream."""
    import cutline as cl
    from cutline.tables import evaluate_table

    compile_once()
    rng = np.random.default_rng(0)
    n = 3000
    y = rng.random(n) < 0.3
    models = {"a": np.clip(0.3 * y + rng.random(n), 0, 1), "b": np.round(y + rng.normal(size=n), 1)}
    weight, part = rng.integers(1, 4, n), rng.integers(0, 3, n)
    with tempfile.TemporaryDirectory() as folder:
        cl.compare(y, models, quota=60, n_resamples=50).to_html(Path(folder) / "page.html", cost=1.0, value=3.0)
        for options in ({"sample_weight": weight}, {"sample_weight": weight / 2}, {"clusters": part + 10 * (y > 0)}):
            cl.evaluate(y, models["a"], quota=60, n_resamples=50, **options)
        cl.evaluate_segments(y, models["a"], part, quota=60, n_resamples=50)
        table = Path(folder) / "t.csv"
        rows = np.column_stack([y, models["a"], weight])
        np.savetxt(table, rows, fmt=("%d", "%.9f", "%d"), delimiter=",", header="y,p,w", comments="")
        for options in ({}, {"weight": "w"}):
            evaluate_table(table, label="y", score="p", stream=True, n_resamples=50, **options)


if __name__ == "__main__":
    main()
