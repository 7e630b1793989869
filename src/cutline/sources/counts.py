"""Counts in place of rows: so many cases of each class that have one score, or whose scores lie in one bucket.

A table of counts is a ranking that somebody else has made, mostly a warehouse by one ``GROUP BY``. A bucket is a tie
whose best and worst order are known: positives first, with the highest score of the bucket, or last, with the lowest.
Where a query of :func:`cutline.sql` made the counts, a column of the result describes it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal
from urllib.parse import parse_qsl

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, show
from ..partition import Partition
from ..ranking import Ranking, tie_starts
from ..runtime import TUNING
from ..table import pluralize
from ..types import Floats
from . import rules
from .frames import LoadedColumns, MemoryTable, frame_of
from .open_source import SparkTable, rows_of
from .sql_table import Roles

DESCRIPTION = "cutline"  # the column in which a query describes itself
# What a query adds up for each bucket, over its positives and its negatives: p, p², and ln p or ln(1 − p).
SUMS = ("p_pos", "p_neg", "pp_pos", "pp_neg", "log_pos", "log_neg")
LEFT_OUT = -1  # the bucket of rows without a label or a score
Side = Literal["middle", "best", "worst"]


@dataclass(frozen=True)
class CountColumns:
    """The columns of a table of counts: a score or the ends of a bucket, positives, and negatives or all cases."""

    score: str | None
    positives: str | None
    negatives: str | None
    rows: str | None
    low: str | None = None
    high: str | None = None
    by: tuple[str, ...] = ()
    batch: str | None = None

    def __post_init__(self) -> None:
        if self.positives is None:
            raise InputError("positives", "is missing", "name the column that counts the positives")
        if (self.negatives is None) == (self.rows is None):
            problem = "goes with {negatives} or {rows}, not with both" if self.rows else "goes with another count"
            raise InputError("positives", problem, "name the column of the negatives, or of all cases")
        if (self.low is None) != (self.high is None):
            given = "low" if self.high is None else "high"
            raise InputError(given, "is one end of a bucket", "name both ends: {low} and {high}")
        if (self.score is None) == (self.low is None):
            problem = "is missing" if self.score is None else "is one score, {low} and {high} are those of a bucket"
            raise InputError("score", problem, "name the column of the score, or {low} and {high}")

    @property
    def numbers(self) -> dict[str, str]:
        """Columns of numbers, by the argument that names them."""
        named = {name: getattr(self, name) for name in ("score", "low", "high", "positives", "negatives", "rows")}
        return {argument: column for argument, column in named.items() if column is not None}


@dataclass(frozen=True, eq=False)
class Counted:
    """Cases by score or bucket, in any order: from ``low`` to ``high`` there are ``pos`` positives, ``neg`` negatives.

    ``bucket`` numbers the buckets of a query, ``sums`` are what it added up (``SUMS``, or none), ``described`` what it
    says of itself. ``dropped`` rows had no label or no score.
    """

    low: Floats
    high: Floats
    pos: NDArray[np.int64]
    neg: NDArray[np.int64]
    segments: Partition | None = None
    batch: Partition | None = None
    bucket: NDArray[np.int64] | None = None
    sums: Mapping[str, Floats] = field(default_factory=dict)
    described: Mapping[str, str] = field(default_factory=dict)
    dropped: int = 0

    @property
    def cases(self) -> int:
        """Cases of both classes."""
        return int(self.pos.sum()) + int(self.neg.sum())

    @cached_property
    def is_open(self) -> NDArray[np.bool_]:
        """Which rows are buckets: their scores are not known one by one."""
        return np.asarray(self.low < self.high)

    @property
    def has_buckets(self) -> bool:
        """Whether some scores are not known one by one."""
        return bool(self.whole.is_open.any())

    @property
    def words(self) -> str:
        """What the counts are, in words."""
        buckets = int(np.count_nonzero(self.whole.is_open))
        kind = "bucket" if buckets else "distinct score"
        return f"counts of {pluralize(len(self.whole.pos), kind)} for {self.cases:,} cases"

    def only(self, rows: NDArray[np.intp]) -> Counted:
        """Some of the rows, by number."""
        taken: dict[str, Any] = {name: getattr(self, name)[rows] for name in ("low", "high", "pos", "neg")}
        taken |= {name: getattr(self, name) and getattr(self, name).only(rows) for name in ("segments", "batch")}
        taken |= {"bucket": None if self.bucket is None else self.bucket[rows]}
        return replace(self, **taken, sums={name: column[rows] for name, column in self.sums.items()})

    @cached_property
    def whole(self) -> Counted:
        """One list of all segments and batches: a row for each bucket, best first."""
        if self.bucket is not None:
            order, starts = _grouped(-self.bucket, -self.low)
            starts = starts[tie_starts(self.bucket[order][starts])] if len(starts) else starts
        else:
            order, starts = _grouped(-self.low, -self.high)
        pos, neg = (np.add.reduceat(side[order], starts) for side in (self.pos, self.neg))
        joined = Counted(
            np.minimum.reduceat(self.low[order], starts),
            np.maximum.reduceat(self.high[order], starts),
            pos,
            neg,
            bucket=None if self.bucket is None else self.bucket[order][starts],
            sums={name: np.add.reduceat(column[order], starts) for name, column in self.sums.items()},
            described=self.described,
        )
        overlaps = joined.low[:-1] <= joined.high[1:]
        if overlaps.any():
            k = int(np.argmax(overlaps))
            ends = [f"{joined.low[i]:g} to {joined.high[i]:g}" for i in (k + 1, k)]
            raise InputError(None, f"two buckets overlap: {ends[0]} and {ends[1]}", "count each score in one bucket")
        return joined

    @property
    def middle(self) -> Floats:
        """The mean score of each bucket, where it is known, else the middle of the bucket."""
        middle = (self.low / 2.0) + (self.high / 2.0)
        if "p_pos" in self.sums:
            middle = (self.sums["p_pos"] + self.sums["p_neg"]) / np.maximum(self.pos + self.neg, 1)
        return np.where(self.is_open, np.clip(middle, self.low, self.high), self.low)

    @property
    def losses(self) -> dict[str, float]:
        """Sums of losses over all cases, by the names that a sweep has for them; none where they were not added up."""
        if len(self.sums) < len(SUMS):
            return {}
        p_pos, p_neg, pp_pos, pp_neg, log_pos, log_neg = (math.fsum(self.sums[name]) for name in SUMS)
        n_pos = int(self.pos.sum())
        squared = n_pos - 2.0 * p_pos + pp_pos + pp_neg  # Σ(1 − p)² of the positives, Σp² of the negatives
        return {"absolute": n_pos - p_pos + p_neg, "squared": squared, "pos_log": log_pos, "neg_log": log_neg}

    def ranking(self, side: Side = "middle") -> tuple[Ranking, NDArray[np.bool_]]:
        """The list, and which of its groups are part of an open bucket.

        ``best``: the positives of a bucket have its highest score, its negatives the lowest; ``worst``: the other way.
        """
        one, cases = self.whole, self.cases
        score, pos, neg, is_open = one.middle, one.pos, one.neg, one.is_open
        if side != "middle" and is_open.any():  # two groups for each score: a tie has all its cases in the first
            score, is_tie = np.stack([one.high, one.low], axis=1).ravel(), ~is_open
            first, last = (pos, neg) if side == "best" else (neg, pos)
            none = np.zeros_like(pos)
            ahead = np.stack([first, none], axis=1).ravel()
            behind = np.stack([np.where(is_tie, last, none), np.where(is_tie, none, last)], axis=1).ravel()
            pos, neg = (ahead, behind) if side == "best" else (behind, ahead)
            is_open = np.repeat(is_open, 2)
        there = np.flatnonzero(pos + neg)
        # whole numbers as a ranking of rows has them; floats where products of them could not be whole numbers
        kind: Any = np.int32 if cases < TUNING.exact_pairs else np.float64
        return Ranking(score[there], pos[there].astype(kind), neg[there].astype(kind), cases), is_open[there]

    def rows(self, side: Side = "middle") -> LoadedColumns:
        """The cases one by one, positives first; refused where they are very many."""
        if self.cases > TUNING.expanded_rows:
            problem = f"this needs the cases one by one, and the counts stand for {self.cases:,} of them"
            raise InputError(None, problem, f"up to {TUNING.expanded_rows:,} cases are made of counts: use a sample")
        origin = np.repeat(np.tile(np.arange(len(self.pos)), 2), np.concatenate([self.pos, self.neg]))
        positive = np.arange(len(origin)) < int(self.pos.sum())
        score = self.middle[origin]
        if side != "middle":
            score = np.where(positive == (side == "best"), self.high[origin], self.low[origin])
        segments, batch = self.segments and self.segments.only(origin), self.batch and self.batch.only(origin)
        return LoadedColumns(positive, {"score": score}, segments=segments, batch=batch)


def _grouped(*keys: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows in the order of some keys, the first before all, and where rows with other keys begin."""
    order = np.lexsort(keys[::-1])
    return order, tie_starts(*(key[order] for key in keys))


def describe_counts(table: Any) -> dict[str, str] | None:
    """What a query that made a table says of itself; None where no query of ours made it."""
    names = table.names if isinstance(table, MemoryTable) else [column.name for column in table.columns]
    if DESCRIPTION not in names:
        return None
    if isinstance(table, MemoryTable):
        cells = table.column(DESCRIPTION, "description")
        cells = cells.to_list() if hasattr(cells, "to_list") else list(cells)
    else:
        cells = table.distinct(table.column(DESCRIPTION, "description").sql, "true", 2)
    texts = sorted({str(cell) for cell in cells})
    if len(texts) != 1:
        problem = f"{table.name} has the counts of {len(texts)} different queries"
        raise InputError(None, problem, "evaluate each alone")
    described = dict(parse_qsl(texts[0], keep_blank_values=True))
    if described.get("cutline") != "1":
        raise InputError(None, f"{table.name} describes its counts as {show(texts[0])}", "make them with cutline sql")
    return described


def read_counts(table: Any, columns: CountColumns | None, *, missing: str = "error", decimal: Any = None) -> Counted:
    """The counts of a table; ``columns`` None: of a query that describes itself."""
    if isinstance(table, SparkTable):
        table = frame_of(table.frame.toPandas())
    if columns is None:
        return _read_described(table, missing)
    numbers, loaded = _numbers(table, columns, decimal, missing)
    if columns.score is not None:
        numbers["low"] = numbers["high"] = numbers["score"]
    pos, other = _whole_numbers(numbers["positives"], "positives"), "rows" if columns.negatives is None else "negatives"
    neg = _whole_numbers(numbers[other], other)
    if other == "rows":
        neg = neg - pos
        if (neg < 0).any():
            row = int(np.argmax(neg < 0))
            problem = f"counts {pos[row]:,} positives among {pos[row] + neg[row]:,} cases"
            raise InputError("positives", problem, "name the columns the other way round, or correct it", row=row)
    low, high = numbers["low"].astype(np.float64), numbers["high"].astype(np.float64)
    if (low > high).any():
        row = int(np.argmax(low > high))
        raise InputError("low", f"is {low[row]:g}, above the upper end {high[row]:g}", "exchange them", row=row)
    counted = Counted(_without_lower_end(low, high), high, pos, neg, loaded.segments, loaded.batch)
    return _of_cases(replace(counted, dropped=loaded.dropped))


def _of_cases(counted: Counted) -> Counted:
    """Without rows that count nothing."""
    there = np.flatnonzero(counted.pos + counted.neg)
    if not len(there):
        raise InputError("positives", "and the other counts are zero in every row", "count at least one case")
    return counted if len(there) == len(counted.pos) else counted.only(there)


def _numbers(
    table: Any, columns: CountColumns, decimal: Any, missing: str
) -> tuple[dict[str, NDArray[Any]], LoadedColumns]:
    """The numbers that columns name, by argument, and what else was read with them."""
    named = columns.numbers
    roles = Roles(
        None,
        {name: name for name in named.values()},
        missing=missing,
        decimal=decimal,
        by=columns.by,
        batch=columns.batch,
    )
    loaded = rows_of(table, roles, False)
    assert isinstance(loaded, LoadedColumns)
    return {argument: loaded.scores[column] for argument, column in named.items()}, loaded


def _whole_numbers(values: NDArray[Any], argument: str) -> NDArray[np.int64]:
    """Counts: whole numbers that are not negative."""
    bad = ~((values >= 0) & (values <= rules.EXACT_INTEGERS) & (values == np.floor(values)))
    if bad.any():
        row = int(np.argmax(bad))
        why = "is negative" if values[row] < 0 else "is not a whole number"
        raise InputError(argument, f"is {values[row]:g}, which {why}", "a count is 0, 1, 2, …", row=row)
    return values.astype(np.int64)


def _without_lower_end(low: Floats, high: Floats) -> Floats:
    """Lower ends of buckets that touch, (a, b] and (b, c], moved to the next number: b belongs to the lower bucket."""
    touches = (low < high) & np.isin(low, high)
    return np.where(touches, np.nextafter(low, np.inf), low)


def _read_described(table: Any, missing: str) -> Counted:
    """The result of a query that describes itself."""
    described = describe_counts(table)
    assert described is not None
    names = table.names if isinstance(table, MemoryTable) else [column.name for column in table.columns]
    by = tuple(described["by"].split(",")) if described.get("by") else ()
    plain = ("bucket", "low", "high", "positives", "negatives", "cases", *SUMS)
    lacking = next((name for name in (*plain[:6], *by) if name not in names), None)
    if lacking is not None:
        raise InputError(None, f"{table.name} lacks the column {show(lacking)} of the query", "use its result as it is")
    read = [name for name in plain if name in names]
    roles = Roles(None, {name: name for name in read}, by=by, batch=described.get("batch") or None)
    loaded: Any = rows_of(table, roles, False)
    numbers = loaded.scores
    pos, neg, cases = (_whole_numbers(numbers[name], name) for name in ("positives", "negatives", "cases"))
    bucket = numbers["bucket"].astype(np.int64)
    inside = bucket != LEFT_OUT
    dropped = int(cases[~inside].sum())
    if dropped and missing != "drop":
        raise InputError(None, f"{dropped:,} rows have no label or no finite score", "leave them out: {missing='drop'}")
    others = int((cases - pos - neg)[inside].sum())
    if others:
        problem = f"{others:,} rows have labels that are neither positive nor negative"
        raise InputError(None, problem, "name the positive label in the query, or leave these rows out there")
    minus = int(numbers["minus"][inside].sum()) if "minus" in numbers else 0
    if 0 < minus < int(neg[inside].sum()):
        raise rules.unclear_labels([-1, 0, 1])
    sums = {name: numbers[name].astype(np.float64) for name in SUMS if name in numbers}
    ends = numbers["low"].astype(np.float64), numbers["high"].astype(np.float64)
    whole = Counted(*ends, pos, neg, loaded.segments, loaded.batch, bucket, sums, described)
    return _of_cases(replace(whole.only(np.flatnonzero(inside)), dropped=dropped))
