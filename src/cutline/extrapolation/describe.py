"""The result in words: text for a terminal, plain data for a program."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..table import pluralize

if TYPE_CHECKING:
    from .result import Extrapolation


def as_text(ex: Extrapolation) -> str:
    """A few lines: what was seen, the answers, the range over methods, the notes."""
    lines = [f"Extrapolation from {ex.n_classes:,} classes by {ex.method}", f"  seen: {seen(ex)}"]
    for row in ex.to_dicts():
        span = "" if math.isnan(row["low"]) else f"  [{row['low']:.4f}, {row['high']:.4f}] at {row['level']:.0%}"
        lines.append(
            f"  {row['classes']:>10,} {'class' if row['classes'] == 1 else 'classes'}: {row['accuracy']:.4f}{span}"
            f"   methods {row['methods_low']:.4f} to {row['methods_high']:.4f}"
        )
    lines += [f"  note: {note}" for note in ex.notes]
    return "\n".join(lines)


def seen(ex: Extrapolation) -> str:
    """What was tested, in a few words."""
    return f"accuracy {ex.observed.test_accuracy:.4f} among {ex.n_classes:,} classes" + (
        f", {pluralize(ex.n_cases, 'test case')}" if ex.n_cases else ""
    )


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
