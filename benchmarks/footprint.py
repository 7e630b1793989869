"""How much of the package one question runs through: modules and functions of one call.

    python benchmarks/footprint.py        # the counts
    python benchmarks/footprint.py -v     # and which functions, module by module

A question is asked twice and counted the second time, so that neither imports nor compilation are counted. Measures
are computed when they are read: printing shows a few, and the line of all of them has no bound, because it runs the
function of each.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import cutline as cl

VERBOSE = "-v" in sys.argv
ROOT = str(Path(cl.__file__).parent)
# What a reader who follows one call can hold in mind, chosen by hand: about as many modules as the call has steps.
BOUNDS = {"evaluate": (22, 200), "evaluate and print": (22, 200), "command with a page": (45, 400)}


def touched(question: Callable[[], Any]) -> Counter[str]:
    """How many functions of each module of the package a call runs; comprehensions belong to their function."""
    functions: set[tuple[str, str, int]] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(ROOT) and not code.co_name.startswith("<"):
            functions.add((code.co_filename[len(ROOT) + 1 :], code.co_qualname, code.co_firstlineno))

    question()
    sys.setprofile(note)
    try:
        question()
    finally:
        sys.setprofile(None)
    if VERBOSE:
        for module, name, line in sorted(functions, key=lambda one: (one[0], one[2])):
            print(f"  {module}:{line} {name}")
    return Counter(module for module, _, _ in functions)


def main() -> None:
    """Count each question and print it, beside its bounds if it has some."""
    rng = np.random.default_rng(0)
    y = rng.random(1000) < 0.3
    p = np.clip(rng.normal(0.3 + 0.3 * y, 0.2), 0.0, 1.0)
    with tempfile.TemporaryDirectory() as folder:
        table, page = Path(folder) / "scores.csv", Path(folder) / "page.html"
        rows = "".join(f"{int(label)},{score}\n" for label, score in zip(y, p, strict=True))
        table.write_text(f"y,p\n{rows}", encoding="utf-8")
        words = [
            "evaluate",
            str(table),
            "--label",
            "y",
            "--score",
            "p",
            "--quota",
            "20",
            "--html",
            str(page),
            "--quiet",
        ]

        def command() -> None:
            from cutline.commands.group import run

            sys.argv = ["cutline", *words, "--quiet"]
            with redirect_stdout(StringIO()):
                run()

        questions: dict[str, Callable[[], Any]] = {
            "evaluate": lambda: cl.evaluate(y, p, quota=20),
            "evaluate and print": lambda: str(cl.evaluate(y, p, quota=20)),
            "evaluate and read all measures": lambda: cl.evaluate(y, p, quota=20).to_dicts(),
            "command with a page": command,
        }
        for name, question in questions.items():
            counts = touched(question)
            text = f"{name}: {len(counts)} modules, {counts.total()} functions"
            print(text + " (at most {} and {})".format(*BOUNDS[name]) if name in BOUNDS else text)


if __name__ == "__main__":
    main()
