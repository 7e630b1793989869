"""The worth of a list whose rows stay in DuckDB: sums of powers of the worth in the zones of a cut, by one query each.

The influence of a row is a straight line in its worth: one above the cut, one in the tie at the cut, one below. Sums of
the first four powers of the worth in each zone therefore give the moments of the influences, and with them the same
intervals as rows in memory have.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..catalogue.compute import threshold_of
from ..catalogue.declare import Spec
from ..catalogue.value import ValueSums
from ..errors import InputError
from ..estimate import Estimate
from ..evaluation import Evaluation
from ..inference.worth import Valued, half_window, valued
from ..quotas import resolve_quota
from ..sources.arrays import bad_amount
from ..sources.duckdb import DuckTable
from ..sources.sql_table import Checked
from ..validate import AMOUNTS

POWERS = range(5)


def with_worth(
    ev: Evaluation, table: DuckTable, checked: Checked, worth: str, cut_by: str, specs: Sequence[Spec]
) -> Evaluation:
    """The evaluation of a streamed table with measures of worth; ``worth`` is SQL for the amount of each row."""
    _check_amounts(table, checked, worth)
    if cut_by == "value_per_cost":
        raise InputError("cut_by", "is 'value_per_cost', and costs do not go with rows that are streamed", "load them")
    if cut_by == "value" and min(totals.low for totals in checked.totals.values()) < 0:
        raise InputError("cut_by", "is 'value', but some scores are negative", "pass probabilities as scores")
    estimates, level = dict(ev.estimates), ev.settings.level
    for spec in specs:
        estimated = _valued(spec, table, checked, worth, cut_by)
        share = spec.measure.range[1] == 1.0
        if ev.settings.interval == "auto" and estimated.value == estimated.value:
            ends, method = estimated.interval(level, share), "logit" if share else "hall"
            estimates[str(spec)] = Estimate(str(spec), estimated.value, *ends, level, method)
        else:
            reason = "" if estimated.value == estimated.value else spec.measure.undefined
            estimates[str(spec)] = Estimate(str(spec), estimated.value, reason=reason)
    return replace(ev, specs={**ev.specs, **{str(spec): spec for spec in specs}}, estimates=estimates, cut_by=cut_by)


def _check_amounts(table: DuckTable, checked: Checked, worth: str) -> None:
    """Raise an error that names the first row whose worth is negative, infinite or beyond every currency."""
    least, most = AMOUNTS
    bad = f"({checked.kept or 'true'}) AND (({worth} < {least!r} AND {worth} <> 0) OR {worth} > {most!r})"
    row = table.first(bad, worth)
    if row is not None:
        raise bad_amount("worth", row[0], float(row[1]))


def _valued(spec: Spec, table: DuckTable, checked: Checked, worth: str, cut_by: str) -> Valued:
    """A measure of worth, and the moments of the influences of the rows on it."""
    (score,), kept = checked.scores.values(), checked.kept or "true"
    order = f"CAST({score} AS DOUBLE)" + ("" if cut_by == "score" else f" * ({worth})")
    gain = f"CASE WHEN {checked.positive} THEN CAST({worth} AS DOUBLE) ELSE 0 END"
    rows, largest = table.aggregate([f"count(*) FILTER (WHERE {kept})", f"max({gain}) FILTER (WHERE {kept})"])
    scale = float(largest) or 1.0  # powers of amounts must stay numbers

    def at(place: float) -> float:
        """What the list is sorted by, at a place."""
        offset = min(max(math.ceil(place) - 1, 0), rows - 1)
        query = f"SELECT {order} FROM {table.relation} WHERE {kept} ORDER BY 1 DESC LIMIT 1 OFFSET {offset}"
        return float(table.rows(query)[0][0])

    def sums(*conditions: str) -> np.ndarray[Any, Any]:
        """Rows, and sums of the powers of what they bring, a row for each condition."""
        terms = [
            f"coalesce(sum(power({gain} / {scale!r}, {k})) FILTER (WHERE ({kept}) AND {condition}), 0)"
            for condition in conditions
            for k in POWERS
        ]
        return np.array(table.aggregate(terms), np.float64).reshape(len(conditions), len(POWERS))

    places = None if spec.quota is None else resolve_quota(spec.quota, rows)
    edge = threshold_of(spec) if places is None else at(places)
    zones, near = sums(f"{order} > {edge!r}", f"{order} = {edge!r}", f"{order} < {edge!r}"), 0.0
    taken = np.array([1.0, 0.0, 0.0])
    if places is not None:
        taken[1] = (places - zones[0, 0]) / zones[1, 0]
        half = half_window(places, float(rows))
        about = sums(f"{order} <= {at(places - half)!r} AND {order} >= {at(places + half)!r}")[0]
        near = float(about[1] / about[0])
    captured, cases, total = float(taken @ zones[:, 1]), float(taken @ zones[:, 0]), float(zones[:, 1].sum())
    # each influence as height and slope of a line in the worth, zone by zone
    of_captured = np.stack([-near * taken - (captured - near * cases) / rows, taken])
    of_total = np.stack([np.full(3, -total / rows), np.ones(3)])
    of_places = np.stack([np.zeros(3) if places is not None else taken - cases / rows, np.zeros(3)])
    lines = ValueSums._make([of_captured * scale, of_total * scale, of_places, np.full((2, 3), math.nan), 0.0])
    found = valued(
        spec,
        float(total**2 / zones[:, 2].sum()) if total > 0.0 else 0.0,
        [(1.0, ValueSums(captured * scale, total * scale, cases, math.nan), lines)],
    )
    height, slope = found.influence
    moments = [
        sum(float((math.comb(p, k) * slope**k * height ** (p - k)) @ zones[:, k]) for k in range(p + 1))
        for p in (2, 3, 4)
    ]
    return found._replace(moments=(rows, *moments))
