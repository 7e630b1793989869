"""A gate for pipelines: does a measure keep a limit, told by its interval: pass, fail or undecided."""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..errors import InputError, show
from ..estimate import Estimate
from ..table import Table, format_value

Outcome = Literal["pass", "fail", "undecided"]
_SIGN = re.compile(">=|<=|[<>≥≤]")
_SIGNS = {"≥": ">=", "≤": "<="}
_KEEPS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}


@dataclass(frozen=True)
class Condition:
    """A measure and the limit that it must keep."""

    measure: str
    sign: str
    limit: float

    def __str__(self) -> str:
        return f"{self.measure} {self.sign} {self.limit:g}"

    def judge(self, estimate: Estimate) -> tuple[Outcome, str]:
        """Pass where the whole interval keeps the limit, fail where none of it does, else undecided; and why."""
        if estimate.value != estimate.value:
            return "undecided", f"it has no value here: {estimate.reason or 'undefined'}"
        if estimate.low != estimate.low:
            raise InputError(
                None, f"{self.measure} has no interval, so it cannot be checked", "evaluate it with interval='auto'"
            )
        # the end of the interval that keeps the limit least, and the one that keeps it best
        worst, best = (estimate.low, estimate.high) if self.sign[0] == ">" else (estimate.high, estimate.low)
        said = f"{format_value(estimate.value)}, {estimate.level:.0%} interval {format_value(estimate.low)} to "
        said += format_value(estimate.high)
        if self._kept(worst):
            return "pass", said
        return ("undecided" if self._kept(best) else "fail"), said

    def _kept(self, value: float) -> bool:
        return bool(_KEEPS[self.sign](value, self.limit))


def parse_condition(text: Any) -> Condition:
    """Read a condition such as ``hit_rate@200 >= .5`` or ``brier_score < 10%``.

    >>> parse_condition("hit_rate@200 >= .5")
    Condition(measure='hit_rate@200', sign='>=', limit=0.5)
    """
    sign = max(_SIGN.finditer(text), key=re.Match.start, default=None) if isinstance(text, str) else None
    measure, limit = ("", "") if sign is None else (text[: sign.start()].strip(), text[sign.end() :].strip())
    if sign is None or not measure or measure.endswith("=") or not limit or "=" in limit:
        raise InputError(
            None, f"{show(text)} is not a condition", "write a measure, >=, <=, > or <, and a number: 'roc_auc >= 0.8'"
        )
    try:
        number = float(limit[:-1]) / 100.0 if limit.endswith("%") else float(limit)
    except ValueError:
        number = float("nan")
    if number != number:
        raise InputError(None, f"{show(limit)} in the condition {show(text)} is not a number", "write e.g. 0.8 or 80%")
    return Condition(measure, _SIGNS.get(sign[0], sign[0]), number)


class Check(str):
    """The outcome of a check: equal to ``"pass"``, ``"fail"`` or ``"undecided"``, with the evidence in ``table``."""

    table: Table

    def __new__(cls, outcome: Outcome, table: Table) -> Check:
        """An outcome with its evidence."""
        made = super().__new__(cls, outcome)
        made.table = table
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Check, (str(self), self.table)

    def __repr__(self) -> str:
        return f"{self!s}\n{self.table!r}"


def check(evaluation: Any, *conditions: str) -> Check:
    """Check whether an evaluation meets conditions: ``"pass"``, ``"fail"`` or ``"undecided"``, by the intervals.

    A condition passes if the whole interval meets its limit, fails if no part of it does, and is undecided otherwise.
    Several conditions pass if all pass, and fail if one fails. Measures that were not evaluated yet are evaluated.

    >>> import cutline as cl
    >>> ev = cl.evaluate([1, 1, 1, 0, 0, 0] * 20, [6, 5, 4, 3, 2, 1] * 20, measures=["roc_auc"])
    >>> check(ev, "roc_auc >= 0.8") == "pass"
    True
    """
    if not conditions:
        raise InputError(None, "check needs at least one condition", "write e.g. check(ev, 'roc_auc >= 0.8')")
    read = [parse_condition(text) for text in conditions]
    missing = dict.fromkeys(c.measure for c in read if c.measure not in evaluation)
    more = evaluation.with_measures(*missing) if missing else {}
    return judge_all(read, [(more if c.measure in missing else evaluation)[c.measure] for c in read])


def judge_all(conditions: Sequence[Condition], estimates: Sequence[Estimate]) -> Check:
    """The outcome of all conditions together, with a row for each."""
    rows: list[dict[str, Any]] = []
    for condition, estimate in zip(conditions, estimates, strict=True):
        outcome, why = condition.judge(estimate)
        row = {"condition": str(condition), "outcome": outcome, "value": estimate.value}
        rows.append({**row, "low": estimate.low, "high": estimate.high, "level": estimate.level, "evidence": why})
    outcomes = [row["outcome"] for row in rows]
    worst: Outcome = "fail" if "fail" in outcomes else "undecided" if "undecided" in outcomes else "pass"
    return Check(worst, Table(rows, "Conditions"))
