"""Counts in place of rows: so many cases of each class that have one score, or whose scores lie in one bucket.

A table of counts is a ranking that somebody else has made, mostly a warehouse by one ``GROUP BY``. A bucket is a tie
whose best and worst order are known: positives first, with the highest score of the bucket, or last, with the lowest.
Where a query of :func:`cutline.sql` made the counts, a column of the result describes it.
"""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal
from urllib.parse import parse_qsl, urlencode

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, LabelWarning, listed, show, warn
from ..partition import Partition
from ..ranking import Ranking, tie_starts
from ..runtime import TUNING
from ..sweep import LOG_EPS
from ..table import pluralize
from ..types import Floats, Missing, TableSource
from ..validate import check_column, check_columns, check_whole, checked
from . import rules
from .duckdb import Machine
from .file_formats import TextFormat
from .frames import LoadedColumns, MemoryTable, frame_of
from .open_source import SparkTable, open_source, rows_of
from .sql_table import Roles

DESCRIPTION = "cutline"  # the column in which a query describes itself
# What a query adds up for each bucket: 1 − p, its square and ln p of positives, p, p² and ln(1 − p) of negatives.
SUMS = ("q_pos", "p_neg", "qq_pos", "pp_neg", "log_pos", "log_neg")
# What it adds up of the worth of the positives, if there is one: v, v², v³ and v⁴, on which intervals rest.
WORTH = ("worth", "worth_2", "worth_3", "worth_4")
NEEDED = ("bucket", "low", "high", "positives", "negatives", "cases")
_SECOND = ("bucket_b", "low_b", "high_b")
_NO_CHANCE = 100  # that two sites have equal counts of so many cases
LEFT_OUT = -1  # the bucket of rows without a label or a score
_AS_IT_IS, _COUNT = "save the result as it is, with all its columns", "a count is 0, 1, 2, …"
# Each pair makes buckets finer where a probability, or one minus it, is about c; w is its share of the buckets. With
# these the bounds of an AUC are four times as far apart for probabilities around 1e-5 as around 1/2, twice around 1e-3.
RATIOS = ((2.0**-2, 1.0), (2.0**-9, 2.0**-1), (2.0**-16, 2.0**-2))
NO_BATCHES = ("worth", "is not summed in each of several batches", "leave {batch} out")
Side = Literal["middle", "best", "worst", "top"]


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
    worth: str | None = None

    def __post_init__(self) -> None:
        if self.worth is not None and self.batch is not None:
            raise InputError(*NO_BATCHES)
        if self.positives is None or (self.negatives is None) == (self.rows is None):
            remedy = "name the column of the positives, and either {negatives} or {rows}"
            raise InputError("positives", "goes with one other count, of the negatives or of all cases", remedy)
        ends = [end for end in (self.low, self.high) if end is not None]
        if len(ends) != (2 if self.score is None else 0):
            remedy = "name the column of the score, or {low} and {high}"
            raise InputError("score", "is one score, or a bucket has two ends", remedy)

    @property
    def numbers(self) -> dict[str, str]:
        """Columns of numbers, by the argument that names them."""
        names = ("score", "low", "high", "positives", "negatives", "rows", "worth")
        return {name: column for name in names if (column := getattr(self, name)) is not None}


@dataclass(frozen=True, eq=False)
class Counted:
    """Cases by score or bucket, in any order: from ``low`` to ``high`` there are ``pos`` positives, ``neg`` negatives.

    ``bucket`` numbers the buckets of a query, ``sums`` are what it added up (SUMS, WORTH), ``described`` what it
    says of itself. ``dropped`` cases, in ``left_out`` rows, lacked something. ``second``: by another model's buckets.
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
    left_out: int = 0
    second: Counted | None = None

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
        kind = "bucket" if self.has_buckets else "distinct score"
        without = f", without {pluralize(self.left_out, 'row')} of counts" if self.left_out else ""
        return f"counts of {pluralize(self.n_buckets, kind)} for {self.cases:,} cases{without}"

    @property
    def n_buckets(self) -> int:
        """Buckets or scores that have cases; a bucket that was resolved counts once."""
        whole = self.whole
        return len(whole.pos if whole.bucket is None else np.unique(whole.bucket))

    def only(self, rows: NDArray[np.intp]) -> Counted:
        """Some of the rows, by number."""
        taken: dict[str, Any] = {name: getattr(self, name)[rows] for name in ("low", "high", "pos", "neg")}
        taken |= {
            name: getattr(self, name) and getattr(self, name).only(rows) for name in ("segments", "batch", "second")
        }
        taken |= {"bucket": None if self.bucket is None else self.bucket[rows]}
        return replace(self, **taken, sums={name: column[rows] for name, column in self.sums.items()})

    @cached_property
    def whole(self) -> Counted:
        """One list of all segments and batches: a row for each bucket or distinct score, best first."""
        return self._joined(*_grouped(self._place))

    @cached_property
    def _place(self) -> NDArray[np.intp]:
        """The place of each row in the whole list; rows of segments and sites whose ranges overlap share one."""
        order = np.lexsort((-self.low, -self.high))
        low, high = self.low[order], self.high[order]
        below = high[1:] < np.minimum.accumulate(low)[:-1]
        overlaps = ~below & ((low[1:] < low[:-1]) | (high[1:] < high[:-1]))
        if self.bucket is None and overlaps.any():
            k = int(np.argmax(overlaps))  # rounded, as a lower end may have been moved by one float
            ends = [f"{round(float(low[i]), 300):g} to {high[i]:g}" for i in (k + 1, k)]
            raise InputError(None, f"two buckets overlap: {ends[0]} and {ends[1]}", "count each score in one bucket")
        return np.append(0, np.cumsum(below))[np.argsort(order)]

    def _joined(self, order: NDArray[np.intp], starts: NDArray[np.intp]) -> Counted:
        """Rows in an order added up from each start to the next."""
        return Counted(
            np.minimum.reduceat(self.low[order], starts),
            np.maximum.reduceat(self.high[order], starts),
            np.add.reduceat(self.pos[order], starts),
            np.add.reduceat(self.neg[order], starts),
            bucket=None if self.bucket is None else np.maximum.reduceat(self.bucket[order], starts),
            sums={name: np.add.reduceat(column[order], starts) for name, column in self.sums.items()},
            described=self.described,
        )

    @property
    def middle(self) -> Floats:
        """The mean score of each bucket, where it is known, else the middle of the bucket."""
        middle = (self.low / 2.0) + (self.high / 2.0)
        if "q_pos" in self.sums:
            middle = (self.pos - self.sums["q_pos"] + self.sums["p_neg"]) / np.maximum(self.pos + self.neg, 1)
        return np.where(self.is_open, np.clip(middle, self.low, self.high), self.low)

    @property
    def losses(self) -> dict[str, float]:
        """Sums of losses over all cases, by the names that a sweep has for them; none where they were not added up."""
        if any(name not in self.sums for name in SUMS):
            return {}
        q_pos, p_neg, qq_pos, pp_neg, log_pos, log_neg = (math.fsum(self.sums[name]) for name in SUMS)
        return {"absolute": q_pos + p_neg, "squared": qq_pos + pp_neg, "pos_log": log_pos, "neg_log": log_neg}

    @cached_property
    def powers(self) -> Floats:
        """Cases of each row, and their worth, squared worth … up to the fourth power; a negative is worth nothing."""
        # where only sums of worth are known, the powers of several amounts may be anything
        single = [np.where(self.pos > 1, math.inf, self.sums["worth"] ** k) for k in range(1, 5)]
        sums = [self.sums.get(name, powers) for name, powers in zip(WORTH, single, strict=True)]
        return np.stack([self.pos + self.neg, *sums]).astype(np.float64)

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
        """The cases one by one, positives first; raises an error where they are very many.

        ``top``: at the upper end of their bucket, so that ``score > threshold`` takes whole buckets.
        """
        if self.cases > TUNING.expanded_rows:
            problem = f"this needs the cases one by one, and the counts stand for {self.cases:,} of them"
            raise InputError(None, problem, f"up to {TUNING.expanded_rows:,} cases are made of counts: use a sample")
        origin = np.repeat(np.tile(np.arange(len(self.pos)), 2), np.concatenate([self.pos, self.neg]))
        positive = np.arange(len(origin)) < int(self.pos.sum())
        one, place = self.whole, self._place[origin]
        ends = np.where(positive == (side == "best"), one.high[place], one.low[place])
        score = {"top": one.high[place], "middle": one.middle[place]}.get(side, ends)
        segments, batch = self.segments and self.segments.only(origin), self.batch and self.batch.only(origin)
        return LoadedColumns(positive, {"score": score}, segments=segments, batch=batch)

    def table(self, columns: CountColumns | None) -> CountTable:
        """The counts as columns, best first: those of a query, or as they were named."""
        keys = {**(self.segments.values() if self.segments else {}), **(self.batch.values() if self.batch else {})}
        codes = [part.codes for part in (self.segments, self.batch) if part is not None]
        order, starts = _grouped(*codes, self._place)
        made = self._joined(order, starts)
        cells = CountTable({name: [values[i] for i in order[starts]] for name, values in keys.items()})
        counts: dict[str, NDArray[Any]] = {"positives": made.pos, "negatives": made.neg, "rows": made.pos + made.neg}
        counts |= {"score": made.low, "low": made.low, "high": made.high, **made.sums}
        if columns is not None:
            table = CountTable(cells | {name: counts[number].tolist() for number, name in columns.numbers.items()})
            table.dropped = self.dropped
            return table
        assert made.bucket is not None
        told = {**self.described, "dropped": str(self.dropped or "")}
        text = urlencode({key: value for key, value in told.items() if value and key != "refined"})
        counts |= {"bucket": made.bucket, "cases": counts["rows"], "total": np.full(len(made.pos), self.cases)}
        every = {name: counts[name].tolist() for name in (*NEEDED, *made.sums, "total")}
        return CountTable({DESCRIPTION: [text] * len(made.pos), **cells, **every})

    def with_cells(self, least: int) -> Counted:
        """Neighbouring buckets joined until every count of positives and of negatives is 0, or at least so large.

        Of the two ends of a bucket that is too small, the one with the less round number goes: the ends that remain are
        then mostly the same at every site. They are ends of buckets, not scores of cases.
        """
        if self.bucket is None:
            raise InputError("min_cell", "joins the buckets of a query", "make the counts with cutline sql")
        codes = [part.codes for part in (self.segments, self.batch) if part is not None]
        if min(int(side.sum()) for side in (self.pos, self.neg)) < least:
            raise InputError("min_cell", f"is {least:,}, but a class has fewer cases", "share no counts")
        numbers, place = np.unique(self.bucket, return_inverse=True)
        # between two buckets, the number that the largest power of two divides: the highest bits that both ends share
        last = numbers[1:] - 1
        low_bits = np.maximum(np.frexp((np.maximum(numbers[:-1], 1) - 1) ^ last)[1] - 1, 0)
        upper = np.append(last >> low_bits << low_bits, numbers[-1])
        roundness = np.append(upper[:-1] & -upper[:-1], 2**62)  # the largest power of two that divides the number
        cell = np.arange(len(numbers))  # of each bucket: the last bucket of the joined ones
        while True:
            order, starts = _grouped(*codes, cell[place])
            counts = np.stack([np.add.reduceat(side[order], starts) for side in (self.pos, self.neg)])
            small = ((counts > 0) & (counts < least)).any(axis=0) | (counts.sum(axis=0) < least)
            there, ends = np.unique(cell[place][order[starts]][small]), np.unique(cell)
            if not len(there) or len(ends) == 1:
                break
            at = np.searchsorted(ends, there)
            before = np.where(at > 0, roundness[ends[at - 1]], 2**62)
            gone = np.where(before < roundness[there], ends[at - 1], there)
            left = np.setdiff1d(ends, gone)
            left = left if len(left) and left[-1] == ends[-1] else np.append(left, ends[-1])
            cell = left[np.searchsorted(left, cell)]
        number = upper[cell[place]]
        scheme, ends = self.described["scheme"].split(":"), upper[np.unique(cell)]
        one, at = self._joined(*_grouped(number)), np.searchsorted(ends, number)
        low, high = one.low[at], one.high[at]
        if scheme[0] == "ratios":
            low, high = bucket_ends(number, int(scheme[1]), np.append(-1, ends)[at])
        described = {**self.described, "min_cell": str(least)}
        return replace(self, low=low, high=high, bucket=number, described=described)


def ratio_place(p: Any) -> Any:
    """Where a probability lies on the scale of the buckets, which rises with it from one end to the other around 0.

    The sum of c·w/(1 + c − p) − c·w/(p + c) over (c, w) of ``RATIOS``: each step of the sum is rounded the same
    way by every engine, and none of them makes a higher probability lie lower.
    """
    place: Any = 0.0
    for c, w in RATIOS:
        place = place + c * w / (1.0 + c - p) - c * w / (p + c)
    return place


def ratio_scale(buckets: int) -> float:
    """How many buckets there are on one unit of the scale; rounded down, so that no number is beyond the last."""
    return float(buckets // 2) / float(ratio_place(1.0)) * (1.0 - 2.0**-40)


def ratio_ends(number: NDArray[np.int64], buckets: int) -> Floats:
    """The highest probability in a bucket or below it; 0 is in bucket 0, and 1 is beyond the last bucket.

    >>> ratio_ends(np.array([0, 2, 5]), 4).tolist()
    [0.0, 0.5, 1.0]
    """
    # halving among the floats themselves, whose bits rise with their values, gives the very last one of each bucket
    scale, ends = ratio_scale(buckets), np.array([0.0, np.nextafter(1.0, 0.0)]).view(np.int64)
    low, high = (np.full(len(number), end) for end in ends)
    for _ in range(62):
        middle = (low + high + 1) // 2
        inside = np.ceil(ratio_place(middle.view(np.float64)) * scale) + buckets // 2 <= number
        low, high = np.where(inside, middle, low), np.where(inside, high, middle - 1)
    return np.where(number > buckets, 1.0, np.where(number > 0, low.view(np.float64), 0.0))


def bucket_ends(
    bucket: NDArray[np.int64], buckets: int, after: NDArray[np.int64] | None = None
) -> tuple[Floats, Floats]:
    """The lowest and the highest probability of buckets; those from ``after`` each of them on are joined to it."""
    after = bucket - 1 if after is None else after
    numbers, place = np.unique(np.stack([after, bucket]), return_inverse=True)
    below, high = ratio_ends(numbers, buckets)[place.reshape(2, -1)]
    return np.where(after < 0, 0.0, np.minimum(np.nextafter(below, 1.0), high)), high


def _grouped(*keys: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows in the order of some keys, the first before all, and where rows with other keys begin."""
    order = np.lexsort(keys[::-1])
    return order, tie_starts(*(key[order] for key in keys))


def _heading(table: Any, name: str) -> Any:
    """What a table calls a column of a query, as some warehouses give all names capital letters; None: it lacks it."""
    same = (heading for heading in table.names if str(heading).lower() == name.lower())
    return name if name in table.names else next(same, None)


def describe_counts(table: Any) -> dict[str, str] | None:
    """What a query that made a table says of itself; None where no query of ours made it."""
    heading = _heading(table, DESCRIPTION)
    if heading is None:
        if all(_heading(table, name) for name in NEEDED):
            problem = f"{table.name} looks like the result of cutline sql, but has no column {DESCRIPTION!r}"
            raise InputError(None, problem, _AS_IT_IS)
        return None
    if getattr(table, "is_filtered", False):
        raise InputError("where", "does not go with the result of a query", "name the condition in the query")
    of_spark = table.frame.select(heading).distinct().limit(2).collect() if isinstance(table, SparkTable) else None
    texts = table.values_of(heading, 2) if of_spark is None else [str(row[0]) for row in of_spark]
    if not texts:
        raise rules.no_rows(table.name)
    if len(texts) != 1:
        raise InputError(None, f"{table.name} has the counts of different queries", "evaluate each alone")
    described = dict(parse_qsl(texts[0], keep_blank_values=True))
    known = re.fullmatch(r"ratios:[1-9][0-9]{0,7}|edges:[1-9][0-9]{0,7}:[0-9a-f]{12}", described.get("scheme", ""))
    if described.get("cutline") != "1" or not (known and described.keys() >= {"score", "label", "table", "dialect"}):
        raise InputError(None, f"{table.name} describes its counts as {show(texts[0])}", "make them with cutline sql")
    return described


def read_counts(table: Any, columns: CountColumns | None, *, missing: str = "error", decimal: Any = None) -> Counted:
    """The counts of a table; ``columns`` None: of a query that describes itself."""
    if isinstance(table, SparkTable):
        rows = table.frame.collect()
        table = frame_of({name: [row[k] for row in rows] for k, name in enumerate(table.frame.columns)})
    if columns is None:
        return _read_described(table, missing)
    named: dict[str, str] = columns.numbers
    every = {name: name for name in named.values()}
    roles = Roles(None, every, missing=missing, decimal=decimal, by=columns.by, batch=columns.batch)
    for argument, name in named.items():
        table.column(name, argument)  # one that is not there is told by its own role
    loaded: Any = rows_of(table, roles, False)
    numbers = {argument: loaded.scores[column] for argument, column in named.items()}
    pos, other = _whole_numbers(numbers["positives"], "positives"), "rows" if columns.negatives is None else "negatives"
    neg = _whole_numbers(numbers[other], other)
    if other == "rows":
        neg = neg - pos
        remedy = "name the columns the other way round, or correct it"
        _refuse(neg < 0, "positives", "counts {:,} positives among {:,} cases", remedy, pos, pos + neg)
    low, high = (numbers[end if end in numbers else "score"].astype(np.float64) for end in ("low", "high"))
    _refuse(low > high, "low", "is {:g}, above the upper end {:g}", "exchange them", low, high)
    # of buckets that touch, (a, b] and (b, c], b belongs to the lower one
    low = np.where((low < high) & np.isin(low, high), np.nextafter(low, np.inf), low)
    dropped = loaded.dropped
    if dropped:  # so many cases, where the rows that lack something have their number of cases
        counts = {name: named[name] for name in (["rows"] if other == "rows" else ["positives", "negatives"])}
        known: Any = rows_of(table, Roles(None, counts, missing=missing, decimal=decimal), False)
        dropped = max(dropped, int(sum(map(np.sum, known.scores.values()))) - int((pos + neg).sum()))
    sums = {"worth": numbers["worth"].astype(np.float64)} if "worth" in numbers else {}
    for worth in sums.values():
        bad = ~(worth >= 0.0) | np.isinf(worth) | ((pos == 0) & (worth > 0.0))
        remedy = "sum the worth of the positives of each row, none below 0"
        _refuse(bad, "worth", "is {:g} for {} positives", remedy, worth, pos)
    keys = loaded.segments, loaded.batch
    return _of_cases(Counted(low, high, pos, neg, *keys, sums=sums, dropped=dropped, left_out=loaded.dropped))


def _of_cases(counted: Counted) -> Counted:
    """Without rows that count nothing."""
    there = np.flatnonzero(counted.pos + counted.neg)
    if not len(there):
        raise InputError("positives", "and the other counts are zero in every row", "count at least one case")
    return counted if len(there) == len(counted.pos) else counted.only(there)


def _whole_numbers(values: NDArray[Any], argument: str, table: Any = None) -> NDArray[np.int64]:
    """Counts: whole numbers that are not negative."""
    _refuse(values < 0, argument, "is {:g}, which is negative", _COUNT, values, table=table)
    whole = (values <= rules.EXACT_INTEGERS) & (values == np.floor(values))
    _refuse(~whole, argument, "is {:g}, which is not a whole number", _COUNT, values, table=table)
    return values.astype(np.int64)


def _refuse(bad: Any, argument: str, problem: str, remedy: str, *shown: Any, table: Any = None) -> None:
    """Raise an error for the first bad row, with its cells in the problem; in the result of a query by its column."""
    for row in np.flatnonzero(bad)[:1].tolist():
        error = InputError(argument, problem.format(*(cells[row] for cells in shown)), remedy, row=row)
        raise error if table is None else table.refuse(error, _heading(table, argument))


def _read_described(table: Any, missing: str) -> Counted:
    """The result of a query that describes itself."""
    described = describe_counts(table)
    assert described is not None
    by = tuple(described["by"].split(",")) if described.get("by") else ()
    batch = described.get("batch") or None
    for name in (*NEEDED, "total", *by, *([batch] if batch else [])):
        if _heading(table, name) is None:
            raise InputError(None, f"{table.name} lacks the column {show(name)} of the query", _AS_IT_IS)
    every = (*NEEDED, *_SECOND, "minus", "total", *SUMS, *WORTH)
    read = {name: heading for name in every if (heading := _heading(table, name)) is not None}
    loaded: Any = rows_of(table, Roles(None, read, rounded=True), False)
    counted = loaded.scores["cases"].sum()  # also those without a segment or a batch
    if by or batch:
        keys: Any = {"by": tuple(_heading(table, name) for name in by), "batch": batch and _heading(table, batch)}
        loaded = rows_of(table, Roles(None, read, **keys, rounded=True, missing="drop"), False)
    segments = loaded.segments and replace(loaded.segments, by=by)
    days = loaded.batch and replace(loaded.batch, by=(batch,))
    numbers = {name: np.asarray(column, np.float64) for name, column in loaded.scores.items()}
    pos, neg, cases = (_whole_numbers(numbers[name], name, table) for name in ("positives", "negatives", "cases"))
    bucket = numbers["bucket"].astype(np.int64)
    _check_result(table, described, numbers, [part.codes for part in (segments, days) if part is not None])
    for total in np.setdiff1d(numbers["total"], counted)[:1]:
        problem = f"{table.name} counts {counted:,.0f} cases, and its query counted {total:,.0f}"
        raise InputError(None, problem, "save the whole result")
    inside = np.flatnonzero(bucket != LEFT_OUT)
    unplaced = int(counted - cases.sum())
    dropped = unplaced + int(cases[bucket == LEFT_OUT].sum())
    if dropped and missing != "drop":
        lacks = "no label or no finite score" + (", or no worth from 0 up" if "worth" in described else "")
        lacks, n = (f"no value of {listed([*by, *filter(None, [batch])])}", unplaced) if unplaced else (lacks, dropped)
        remedy = "leave them out where the counts are read: {missing='drop'}"
        raise InputError(None, f"there is {lacks} in {pluralize(n, 'row')}", remedy)
    others = int((cases - pos - neg)[inside].sum())
    if others:
        yes, no = (listed(described.get(key, k).split("\n")) for k, key in (("1", "positive"), ("0", "negative")))
        problem = f"are neither {yes} nor {no}"
        remedy = "name the positive label in the query, or leave these rows out there"
        if "positive" in described:  # a label that is spelled otherwise, or is none of the negative ones
            problem = problem if "negative" in described else f"differ from {yes} only in case or spaces"
            remedy = "write the query with {ignore_case=True}, name each label in it, or leave these rows out there"
        raise InputError(None, f"the labels of {pluralize(others, 'row')} {problem}", remedy)
    minus = int(numbers["minus"][inside].sum()) if "minus" in numbers else 0
    if 0 < minus < int(neg[inside].sum()):
        raise rules.unclear_labels([-1, 0, 1])
    rest = _heading(table, "negative")
    if rest is not None and neg[inside].any():  # the one label beside the positive one, missing if there are several
        label = next((value for value in table.values_of(rest, 2) if not rules.is_missing(value)), None)
        text = str(label).lower() if isinstance(label, bool) else rules.as_text(rules.plain_value(label))
        described |= _say_several([described]) if label is None else {"negative": text}
    sums = {name: numbers[name] for name in (*SUMS, *WORTH) if name in numbers}
    whole = Counted(numbers["low"], numbers["high"], pos, neg, segments, days, bucket, sums, described)
    if "bucket_b" in numbers:
        low, high, other = (numbers[name] for name in ("low_b", "high_b", "bucket_b"))
        whole = replace(whole, second=replace(whole, low=low, high=high, bucket=other.astype(np.int64)))
    whole = replace(whole.only(inside), dropped=dropped + int(described.get("dropped", 0)))
    return _of_cases(whole)


def _check_result(table: Any, described: Mapping[str, str], n: Mapping[str, Any], keys: Sequence[Any]) -> None:
    """Raise an error for a result that has rows twice, or whose ends or sums its counts cannot have."""
    low, high, pos, neg, inside = n["low"], n["high"], n["positives"], n["negatives"], n["bucket"] != LEFT_OUT
    order, starts = _grouped(*keys, n["bucket"], n.get("bucket_b", low))
    twice = order[np.setdiff1d(np.arange(len(order)), starts)]
    before = np.roll(order, 1)[np.argsort(order)] + (not isinstance(table, MemoryTable))
    refuse = partial(_refuse, table=table)
    refuse(np.isin(np.arange(len(low)), twice), "bucket", "is {:g}, as in row {}", _AS_IT_IS, n["bucket"], before)
    problem = "is {:g}, fewer than the positives and negatives"
    refuse(pos + neg > n["cases"], "cases", problem, _AS_IT_IS, n["cases"])
    (scheme, buckets), limits = described["scheme"].split(":")[:2], dict[str, Any]()
    for end in ("", "_b") if "bucket_b" in n else ("",):
        first, last = n[f"low{end}"], n[f"high{end}"]
        if scheme == "ratios" and (first[inside].min(initial=0.0) < 0.0 or last[inside].max(initial=1.0) > 1.0):
            scores = f"{first[inside].min():.4g} to {last[inside].max():.4g}"  # all scores above 1 share a bucket
            problem = f"the query counts probabilities, and the scores are {scores}"
            raise InputError(None, problem, "write the query with {edges='query'} first")
        of_bucket = scheme == "ratios" and "min_cell" not in described
        least, most = bucket_ends(n[f"bucket{end}"].astype(np.int64), int(buckets)) if of_bucket else (-np.inf, np.inf)
        limits |= {f"low{end}": (least, last), f"high{end}": (first, most)}
    p, q = np.stack([low, high]), 1.0 - np.stack([high, low])
    limits |= {"q_pos": q * pos, "p_neg": p * neg}
    if scheme == "ratios":
        logs = [np.log(np.clip(ends, LOG_EPS, 1.0)) for ends in (p, q)]
        limits |= {"qq_pos": q**2 * pos, "pp_neg": p**2 * neg, "log_pos": logs[0] * pos, "log_neg": logs[1] * neg}
    limits |= dict.fromkeys(WORTH, (0.0, 1e308 * (pos > 0)))
    for name in filter(n.__contains__, limits):  # warehouses may write as few as nine decimals
        (least, most, _), room = np.broadcast_arrays(*limits[name], low), 1e-8 * n["cases"]
        beyond = (n[name] < least - 1e-5 * abs(least) - room) | (n[name] > most + 1e-5 * abs(most) + room)
        problem = "is {:g}, and the other columns allow {:g} to {:g}"
        refuse(inside & beyond, name, problem, _AS_IT_IS, n[name], least, most)


def _say_several(of: Sequence[Mapping[str, str]], labels: Collection[str] = ()) -> dict[str, str]:
    """Warn or raise, as for rows, where there are several labels beside the positive one in counts so described."""
    positive, which = listed(of[0]["positive"].split("\n")), f": {listed(labels)}" if labels else ""
    if not all("others" in described for described in of):
        remedy = "write the query with {neg_label}, or count them all as negative with {neg_label=None}"
        raise InputError("y_true", f"contains several labels besides {positive}{which}", remedy)
    said = f"more than two labels: all but {positive} count as negative{which}"
    warn(f"{said}; name the negative ones in the query, or leave out the rows that are neither", LabelWarning)
    return {}


def read_result(source: Any, columns: CountColumns | None = None, missing: str = "error") -> Counted:
    """The counts of any source: a file, a frame, or what :func:`merge_counts` gives."""
    with open_source(source, None, Machine(), TextFormat()) as table:
        if columns is None and describe_counts(table) is None:
            raise InputError(None, f"{table.name} does not describe its counts", "name its columns, or use cutline sql")
        return read_counts(table, columns, missing=missing)


def check_same_query(one: Mapping[str, str], two: Mapping[str, str]) -> None:
    """Raise an error for counts of different queries: other buckets, another score, other labels."""
    words = {"scheme": "buckets", "score": "scores", "label": "labels", "positive": "positive labels", "by": "segments"}
    for key, word in (words | {"batch": "batches", "worth": "worth", "ignore_case": "handling of case"}).items():
        if one.get(key) != two.get(key):
            problem = f"the counts have different {word}: {show(one.get(key))} and {show(two.get(key))}"
            raise InputError(None, problem, "use one query for all")


class CountTable(dict[str, list[Any]]):
    """Counts as columns by name, for ``evaluate`` and ``compare``; :meth:`to_csv` writes them."""

    dropped: int = 0  # rows of named columns that lacked something; the description of a query tells it by itself

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to a file."""
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(self)
            writer.writerows(zip(*self.values(), strict=True))


@checked(
    min_cell=lambda value, name: check_whole(value, name, 1, 2**53),
    by=check_columns,
    **dict.fromkeys(("score", "positives", "negatives", "rows", "low", "high", "batch", "worth"), check_column),
)
def merge_counts(
    counts: Sequence[TableSource],
    *,
    score: str | None = None,
    positives: str | None = None,
    negatives: str | None = None,
    rows: str | None = None,
    low: str | None = None,
    high: str | None = None,
    by: str | Sequence[str] | None = None,
    batch: str | None = None,
    worth: str | None = None,
    min_cell: int | None = None,
    missing: Missing = "error",
) -> CountTable:
    """Add up counts of several days or sites, each a file or a frame: what they give together, no site gives rows.

    Results of :func:`sql` describe themselves; the columns of other counts are named. With ``min_cell`` neighbouring
    buckets are joined until each count of positives and of negatives is 0 or at least so large; a site does this to its
    own counts before it shares them. A second query that refines a bucket takes the place of that bucket.

    >>> north = {"p": [0.2, 0.9], "pos": [1, 3], "n": [5, 4]}
    >>> south = {"p": [0.2, 0.7], "pos": [0, 2], "n": [4, 2]}
    >>> dict(merge_counts([north, south], score="p", positives="pos", rows="n"))
    {'p': [0.9, 0.7, 0.2], 'pos': [3, 2, 1], 'n': [4, 2, 9]}
    """
    if isinstance(counts, str | Mapping) or not isinstance(counts, Sequence) or not counts:
        raise InputError("counts", "is not a list of counts", "pass at least one, each a file or a frame")
    named = (score, positives, negatives, rows, low, high)
    columns = None
    if any(name is not None for name in named):
        columns = CountColumns(*named, (by,) if isinstance(by, str) else tuple(by or ()), batch, worth)
    return merged([read_result(one, columns, missing) for one in counts], min_cell).table(columns)


def merged(parts: Sequence[Counted], min_cell: int | None = None) -> Counted:
    """One table of counts from several of the same query."""
    refined, base = ([part for part in parts if ("refined" in part.described) == second] for second in (True, False))
    if not base:
        problem = "are those of a second query, which resolves one bucket"
        raise InputError("counts", problem, "give the result of the first query, too")
    if any(part.second is not None for part in parts):
        raise InputError(
            "counts", "are of two scores, which were counted jointly", "compare them, or count each by itself"
        )
    first = base[0]
    if len(parts) == 1 and min_cell is None:
        return first
    for k, part in enumerate(parts[1:], 1):
        check_same_query(first.described, part.described)
        same = [[getattr(p, name).tolist() for name in ("low", "high", "pos", "neg")] for p in (part, *parts[:k])]
        if part.cases >= _NO_CHANCE and same[0] in same[1:]:
            raise InputError("counts", "contain the same counts twice, all their cases", "give each file once")
    asked = {(part.described.get("where", ""), part.described.get("table")) for part in base}
    if any(where and ("", table) in asked for where, table in asked):
        rows = "some counts are of all rows of a table, and others of those that meet a condition"
        warn(f"{rows}: unless they come from different sites, cases count twice")
    labels = {part.described.get("negative", "") for part in parts if part.neg.any()}
    if len(labels - {""}) > 1:
        _say_several([part.described for part in parts], sorted(labels - {""}))
    if refined:
        fine = np.unique(np.concatenate([part.bucket for part in refined if part.bucket is not None]))
        for bucket in fine.tolist():
            totals = [sum(int((p.pos + p.neg)[p.bucket == bucket].sum()) for p in group) for group in (base, refined)]
            if totals[0] != totals[1]:
                problem = f"a bucket has {totals[0]:,} cases in one query and {totals[1]:,} in the other"
                raise InputError(None, problem, "run both queries on the same rows")
        base = [part.only(np.flatnonzero(~np.isin(part.bucket, fine))) for part in base if part.bucket is not None]
    every = [*base, *refined]
    keys: dict[str, Any] = {}
    for name in ("segments", "batch"):
        partitions = [getattr(part, name).values() for part in every if getattr(part, name) is not None]
        if partitions:
            values = {by: [cell for cells in partitions for cell in cells[by]] for by in partitions[0]}
            keys[name] = Partition.of(values, name)
    columns = ["low", "high", "pos", "neg", *([] if first.bucket is None else ["bucket"])]
    names = [name for name in (*SUMS, *WORTH) if all(name in part.sums for part in every)]
    keys |= {name: np.concatenate([getattr(part, name) for part in every]) for name in columns}
    whole = replace(
        first,
        sums={name: np.concatenate([part.sums[name] for part in every]) for name in names},
        described={**first.described, "negative": min(labels) if len(labels) == 1 else ""},
        dropped=sum(part.dropped for part in parts),
        **keys,
    )
    return whole if min_cell is None else whole.with_cells(min_cell)
