"""An evaluation as people read it: families, directions, intervals, and one row for one number under many names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..catalogue.declare import Measure, measure, measures
from ..table import format_value

if TYPE_CHECKING:
    from ..evaluation import Evaluation, OneVsRest

ARROWS = {"higher": "↑", "lower": "↓"}
FAMILY_TITLES = {
    "threshold": "At the threshold",
    "probability": "Probabilities",
    "ranking": "Ranking",
    "quota": "Limited places",
    "other": "Other",
}


def determined_by(one: Measure) -> Measure | None:
    """The measure of which this one is a function whatever the ranking, followed to its end (pem → gini → roc_auc)."""
    if not one.same_as or "where" in one.same_as:  # equal only under a condition: a different number in general
        return None
    names = {m.name for m in measures()}
    found = [name for name in re.findall(r"\w+", one.same_as) if name in names]
    if not found:
        return None
    base = measure(found[0])
    return determined_by(base) or base


def reading_rows(ev: Evaluation) -> list[dict[str, Any]]:
    """Rows for the terminal: one per number. A measure that is another in disguise joins that one's row."""
    disguises: dict[str, list[str]] = {}
    shown = []
    for key, spec in ev.specs.items():
        base = determined_by(spec.measure)
        home = None if base is None else _key_like(ev, base.name, spec)
        if home is None:
            shown.append(key)
        else:
            disguises.setdefault(home, []).append(f"{spec.measure.name} {format_value(ev.estimates[key].value)}")
    rows = []
    level = next((e.level for e in ev.estimates.values() if e.level == e.level), None)
    interval = "interval" if level is None else f"{level * 100:.4g} % interval"
    for key in shown:
        e, one = ev.estimates[key], ev.specs[key].measure
        row: dict[str, Any] = {
            "family": one.family,
            "measure": key,
            "": ARROWS[one.better],
            "value": format_value(e.value),
        }
        if level is not None:
            row[interval] = f"{format_value(e.low)} … {format_value(e.high)}" if e.low == e.low else ""
            row["method"] = e.method
        row["note"] = e.reason or ("same as " + ", ".join(disguises[key]) if key in disguises else "")
        rows.append(row)
    return rows


def _key_like(ev: Evaluation, name: str, spec: Any) -> str | None:
    """The evaluated measure of that name at the same threshold and tie rule, if there is one."""
    for key, other in ev.specs.items():
        if other.measure.name == name and (other.threshold, other.ties) == (spec.threshold, spec.ties):
            return key
    return None


def class_rows(ovr: OneVsRest, keys: Sequence[str]) -> list[dict[str, Any]]:
    """One row for each class of a multi-class file, then the means."""
    rows: list[dict[str, Any]] = [
        {"class": str(label), "rows": ev.facts["positives"], **{key: ev[key].value for key in keys}}
        for label, ev in ovr.evaluations.items()
    ]
    rows.append({"class": "macro mean", "rows": None, **{key: ovr.macro(key) for key in keys}})
    rows.append({"class": "weighted mean", "rows": None, **{key: ovr.weighted(key) for key in keys}})
    return rows
