"""The result in words: text for a terminal, HTML for a notebook, plain data for a program."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .result import Extrapolation


def as_text(ex: Extrapolation) -> str:
    """A few lines: what was seen, the answers, the range over methods, the notes."""
    lines = [f"Extrapolation from {ex.n_classes:,} classes by {ex.method}", f"  seen: {_seen(ex)}"]
    for row in ex.to_dicts():
        span = "" if math.isnan(row["low"]) else f"  [{row['low']:.4f}, {row['high']:.4f}] at {row['level']:.0%}"
        lines.append(
            f"  {row['classes']:>10,} classes: {row['accuracy']:.4f}{span}"
            f"   methods {row['methods_low']:.4f} to {row['methods_high']:.4f}"
        )
    lines += [f"  note: {note}" for note in ex.notes]
    return "\n".join(lines)


def _seen(ex: Extrapolation) -> str:
    return f"accuracy {ex.observed.test_accuracy:.4f} among {ex.n_classes:,} classes" + (
        f", {ex.n_cases:,} test cases" if ex.n_cases else ""
    )


def as_html(ex: Extrapolation) -> str:
    """A small table with the back-test under it."""
    head = (
        f"<caption>Accuracy from {ex.n_classes:,} classes by {escape(ex.method)}; seen: {escape(_seen(ex))}</caption>"
    )
    body = "".join(
        f"<tr><td>{row['classes']:,}</td><td>{row['accuracy']:.4f}</td><td>{_number(row['low'])}</td>"
        f"<td>{_number(row['high'])}</td><td>{row['methods_low']:.4f} – {row['methods_high']:.4f}</td></tr>"
        for row in ex.to_dicts()
    )
    table = (
        f"<table>{head}<tr><th>classes</th><th>accuracy</th><th>low</th><th>high</th><th>range over methods</th></tr>"
        f"{body}</table>"
    )
    if ex.backtest:
        rows = "".join(
            f"<tr><td>{escape(row.name)}</td><td>{_number(row.error_half)}</td><td>{_number(row.error_quarter)}</td>"
            f"<td>{_number(row.spread)}</td><td>{row.weight:.2f}</td><td>{escape(row.reason)}</td></tr>"
            for row in ex.backtest
        )
        table += (
            "<details><summary>back-test</summary><table><tr><th>method</th><th>error from half</th>"
            f"<th>error from quarter</th><th>spread far out</th><th>weight</th><th></th></tr>{rows}</table></details>"
        )
    return table + "".join(f"<p>{escape(note)}</p>" for note in ex.notes)


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.4f}"


def plain_number(value: Any) -> Any:
    """Numbers JSON can carry: nan and inf become null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_document(ex: Extrapolation) -> dict[str, Any]:
    """Everything as plain lists and dictionaries."""
    return {
        "classes_seen": ex.n_classes,
        "cases": ex.n_cases,
        "accuracy_seen": ex.observed.test_accuracy,
        "method": ex.method,
        "predictions": [{key: plain_number(value) for key, value in row.items()} for row in ex.to_dicts()],
        "by_method": {str(k): {name: plain_number(value) for name, value in ex.by_method(k).items()} for k in ex.k},
        "backtest": [
            {
                "method": row.name,
                "error_from_half": plain_number(row.error_half),
                "error_from_quarter": plain_number(row.error_quarter),
                "spread": plain_number(row.spread),
                "risk": plain_number(row.risk),
                "weight": row.weight,
                "reason": row.reason,
            }
            for row in ex.backtest
        ],
        "notes": list(ex.notes),
    }
