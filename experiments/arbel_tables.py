"""Arbel & Rokach, Tables 2, 3 and 5 row by row; the printed numbers are in tests/golden/arbel_rokach.json."""

from __future__ import annotations

import json
import math
from typing import Any

import cutline as cl
from report import PROJECT, as_printed, row

PAPER = json.loads((PROJECT / "tests" / "golden" / "arbel_rokach.json").read_text(encoding="utf-8"))


def value_of(one: dict[str, Any]) -> float:
    """What the library gives for a printed number."""
    y, s = (PAPER["samples"][one["sample"]][key] for key in ("y_true", "y_score"))
    check, n = one["check"], len(y)
    if "measure" in check:
        given = {key: value for key, value in check.items() if key != "measure"}
        return float(getattr(cl, check["measure"])(y, s, **given))
    if "curve" in check:  # nothing is known where all scores tie, and all is known where the label is the score
        return float(cl.qrecall(y, [0.5] * n if check["curve"] == "random" else y, quota=check["quota"]))
    quotas = range(1, n + 1) if check["quota"] == "all" else [check["quota"]]
    return math.fsum(_areas(y, s, j)[check["area"]] for j in quotas)


def _areas(y: list[int], s: list[float], j: int) -> tuple[float, float, float]:
    """S₁, S₂ and S₃ at one place: the model above and below chance, the best list above chance."""
    model, chance, best = cl.qrecall(y, s, quota=j), cl.qrecall(y, [0.5] * len(y), quota=j), cl.qrecall(y, y, quota=j)
    return max(model - chance, 0.0), max(chance - model, 0.0), best - chance


def rows() -> list[dict[str, Any]]:
    """Every printed number beside ours."""
    found = []
    for one in PAPER["rows"]:
        value = value_of(one)
        printed = one["printed"] if isinstance(one["printed"], str) else f"{one['printed']:.6f}"
        verdict = "agrees" if as_printed(value, printed) else "differs"
        found.append(row(f"{one['place']}: {one['quantity']}", printed, value, "exact", verdict))
    return found
