"""Every public function and every method of a result, called with odd values: an answer, or a refusal of ours.

    python tests/fuzz_api.py --minutes 10           as long as you like
    python tests/fuzz_api.py --calls 500 --seed 3   a fixed number of calls

A refusal is an ``InputError``, or Python's own for arguments that a function does not have and keys that are not there.
What the user's own estimator raises is the user's. Methods inherited from Python's own classes are not called.
What else is raised, warned of, or takes more than 20 seconds is printed with the call, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import inspect
import math
import random
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import cutline as cl

sys.path.insert(0, str(Path(__file__).parent))
from test_validate import CALLS, FUNCTIONS, OBJECTS, P, Y  # calls that are right

SLOW = 20.0
UNTRIED = ("to_html", "save", "to_csv", "plot", "fit")
# of the library with its own objects, and an array's own way to take rows
INTERNAL = {"Quotas.sizes", "Measure.compute", "Selection.__getitem__"}
RESAMPLES = {"n_resamples": 9, "n_permutations": 9, "n_rounds": 2, "n_sets": 9}


class Odd:
    """An object that is like nothing else."""

    def __repr__(self) -> str:
        return "Odd()"


def odd_values() -> list[Any]:
    """What people and programs pass by mistake."""
    return [
        None, True, 0, 1, -1, 2, 5, 10**30, 10**400, 0.0, 0.5, 1.5, -0.5, math.nan, math.inf, -math.inf, 1j, "", "x",
        "5%", "1-3", "roc_auc", "hit_rate@2", "\x00", "é" * 50, b"y", [], [[]], [1], [1, 0], [None], ["a", "b"],
        [[1, 2], [3]], [[0.1, 0.9]] * 6, (), (1, 2), (2, 1), (0.5,), {}, {"a": 1}, {1: 0.5, 2: 0.5}, {"a": [1, 0]},
        set(), {1, 2}, frozenset({0}), range(3), range(0), np.array([]), np.array(3), np.array([1.0, math.nan]),
        np.zeros((6, 2)), np.arange(6), np.ones(6), np.array(["a"] * 6), np.array([None] * 6), np.array([1e308] * 6),
        np.zeros(6, "datetime64[D]"), Odd(), Odd, len, lambda *_: 1, iter([1, 0]), slice(2), Ellipsis, cl, int,
        ["y"] * 6, [0, 1] * 3, [1.0] * 6, [0.9, 0.6, 0.5, 0.1, 0.7, 0.3], memoryview(b"abc"), Exception("x"),
    ]  # fmt: skip


def right_call(name: str) -> dict[str, Any]:
    """Arguments that a function accepts, where the walk over options knows them."""
    if name in CALLS:
        return dict(CALLS[name])
    wanted = inspect.signature(FUNCTIONS[name]).parameters
    usual: dict[str, Any] = {"y_true": Y, "y_score": P, "quota": 2, "threshold": 0.5}
    return {argument: usual[argument] for argument, p in wanted.items() if argument in usual and p.default is p.empty}


def methods_of(result: Any) -> list[str]:
    """Our own public methods, and access by key; not those that write files or open windows."""
    kind = type(result)
    return [
        name
        for name, method in inspect.getmembers(kind, callable)
        if str(getattr(method, "__module__", None)).startswith("cutline")
        and (name in ("__getitem__", "__contains__") or not name.startswith(("_", *UNTRIED)))
        and f"{kind.__name__}.{name}" not in INTERNAL
    ]


def spoiled(rng: random.Random, function: Callable[..., Any], options: dict[str, Any]) -> dict[str, Any]:
    """The options with one to three of them replaced by odd values."""
    try:
        named = [
            n
            for n, p in inspect.signature(function).parameters.items()
            if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]
        needed = [n for n, p in inspect.signature(function).parameters.items() if p.default is p.empty and n in named]
    except (TypeError, ValueError):  # written in C: no signature
        return {}
    made = {**{n: v for n, v in RESAMPLES.items() if n in named}, **options}
    chosen = rng.sample(named, min(len(named), rng.choice([1, 1, 1, 2, 3])))
    for argument in {*chosen, *(n for n in needed if n not in made)}:
        made[argument] = rng.choice(odd_values())
    return {n: v for n, v in made.items() if n in named}


def refused(error: BaseException, by_key: bool) -> bool:
    """Whether an exception is ours, or Python's own for arguments that do not bind and keys that are not there."""
    if isinstance(error, cl.InputError) or (by_key and isinstance(error, KeyError | IndexError)):
        return True
    frames = traceback.extract_tb(error.__traceback__)
    if any(Path(frame.filename).name == "test_validate.py" for frame in frames) or "Estimator.fit()" in str(error):
        return True  # the estimator's own, also for params that it does not take
    if by_key and isinstance(error, TypeError) and ("indices must be" in str(error) or "scalar index" in str(error)):
        return True
    last = frames[-1]
    bound = Path(last.filename).name in ("fuzz_api.py", "validate.py", "functools.py")
    return isinstance(error, TypeError) and bound and ("argument" in str(error) or "unhashable" in str(error))


def attempt(function: Callable[..., Any], options: dict[str, Any], by_place: bool) -> str:
    """Call, and say what went wrong; empty where nothing did."""
    start = time.process_time()  # what other programs do on this machine is no fault
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", category=UserWarning)  # ours say something to the user
            repr(function(*options.values()) if by_place else function(**options))
    except (Exception, SystemExit) as error:
        message = str(error)  # also of a refusal: it must be readable
        theirs = "has no len()" in message and any(value is len for value in options.values())
        if not theirs and not refused(error, by_place):
            last = [f for f in traceback.extract_tb(error.__traceback__) if "cutline" in f.filename][-1:]
            where = f"{Path(last[0].filename).name}:{last[0].lineno}" if last else "?"
            return f"{type(error).__name__} at {where}: {str(error)[:150]}"
    taken = time.process_time() - start
    return f"took {taken:.0f} s" if taken > SLOW else ""


def fuzz(seed: int, calls: int | None, minutes: float) -> list[str]:
    """Faults found by so many calls, or in so many minutes; each kind of fault once."""
    rng, end, done = random.Random(seed), time.monotonic() + 60.0 * minutes, 0
    results: dict[str, Any] = {}
    found: dict[str, str] = {}
    while done < calls if calls is not None else time.monotonic() < end:
        done += 1
        if rng.random() < 0.6:
            name = rng.choice(sorted(FUNCTIONS))
            function, options = FUNCTIONS[name], right_call(name)
        else:
            kind = rng.choice(sorted(OBJECTS))
            if kind not in results:
                results[kind] = OBJECTS[kind]()
            methods = methods_of(results[kind])
            if not methods:
                continue
            method = rng.choice(methods)
            name, function, options = f"{kind}.{method}", getattr(results[kind], method), {}
        options = spoiled(rng, function, options)
        fault = attempt(function, options, by_place=name.endswith("__"))
        if fault:
            shown = ", ".join(f"{n}={v!r}"[:80] for n, v in options.items())
            key = f"{name.split('.')[0]} {fault.split(':')[0]} {fault.split(': ')[0]}"
            if key not in found:
                found[key] = f"{name}({shown})\n    {fault}"
    print(f"{done:,} calls", file=sys.stderr)
    return list(found.values())


def main() -> None:
    """Print the faults."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--calls", type=int)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    faults = fuzz(asked.seed, asked.calls, asked.minutes)
    print("\n".join(faults) or "no fault")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
