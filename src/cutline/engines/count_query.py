"""The query that counts cases by bucket of the score, in the words of any warehouse.

One ``GROUP BY`` gives, for each bucket, its lowest and highest score, the positives and negatives, and the sums that
losses need. Buckets of probabilities are equally long on a scale that is fine near 0 and 1 (``ratio_place``); it only
divides and adds, which every engine rounds alike, so that all of them count the same. Other scores have edges from a
first query, and equal steps between two edges. The lower end of a bucket is not part of it, so that a threshold of 0.5
lies between two buckets. Labels and missing values are read by the rules of every other source.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

import numpy as np

from ..errors import InputError, listed, show, warn
from ..partition import Partition
from ..quotas import resolve_quota, why_no_cut
from ..sources import rules
from ..sources.arrays import as_column, as_numbers, is_positive
from ..sources.counts import (
    DESCRIPTION,
    LEFT_OUT,
    NEEDED,
    NO_BATCHES,
    RATIOS,
    SUMS,
    WORTH,
    Counted,
    bucket_ends,
    check_same_query,
    ratio_scale,
    read_result,
)
from ..sources.sql_table import Roles, SqlTable, check, role_word
from ..sweep import LOG_EPS
from ..types import Label, Scores, TableSource
from ..validate import check_column, check_columns, check_flag, check_text, check_whole, checked

_STEPS = 256  # equal steps between two edges: some hundred edges give as many buckets as logits have
# Of tables that we ask ourselves: the bounds of most AUCs are narrower than 1e-4, and numbers need 15 bits: the
# counts of a thread fit in its cache.
_BUCKETS = 32_704
_FEW = 32_768  # distinct scores that are counted one by one
_OUTSIDE = -2  # the bucket of scores that are no probability
# Whose queries the tests run, or read again: sqlglot knows others, some of which refuse what it writes for them.
DIALECTS = (
    *("athena", "bigquery", "clickhouse", "databricks", "duckdb", "mysql", "postgres", "presto", "redshift"),
    *("snowflake", "spark", "sqlite", "trino", "tsql"),
)
# How text is compared sign by sign where the order of a column or a database may take YES for yes.
_EXACT = {"mysql": "CAST({} AS CL_BINARY)", "sqlite": "{} COLLATE BINARY", "tsql": "{} COLLATE Latin1_General_BIN2"}
_EXACT |= {"duckdb": "{} COLLATE C", "postgres": '{} COLLATE "C"'}
# Whether text is a number, where a cast makes 0 of all other text; SQLite compares a number with text that is one.
_IS_NUMBER = {"sqlite": "{value} = {name} AND ", "tsql": "CAST({name} AS NVARCHAR(MAX)) <> '' AND "}
_DIGITS = "[[:space:]]*[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?[[:space:]]*"
_IS_NUMBER |= {"mysql": f"CAST({{name}} AS TEXT) LIKE 'CL_RLIKE^{_DIGITS}$' AND "}
_ALIASES = {"postgresql": "postgres", "mariadb": "mysql", "sqlserver": "tsql", "mssql": "tsql"}
_COLUMNS = (DESCRIPTION, *NEEDED, "minus", "total", "negative", *SUMS, *WORTH)


def number_sql(value: float) -> str:
    """A number as a floating-point literal, whatever the engine."""
    text = repr(float(value))
    return text if "e" in text else f"{text}e0"


@dataclass(frozen=True)
class Scheme:
    """How scores fall into buckets: those of probabilities, or between edges that rise."""

    buckets: int
    edges: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        """What tells it from other schemes."""
        if not self.edges:
            return f"ratios:{self.buckets}"
        digest = hashlib.sha256(np.array(self.edges, "<f8").tobytes()).hexdigest()[:12]
        return f"edges:{self.buckets}:{digest}"

    def bucket_sql(self, p: str, outside: int | None = None) -> str:
        """SQL for the number of a score's bucket, which rises with it; ``outside``: that of what is not in 0 to 1."""
        if self.edges:
            return self._between(p, 0, len(self.edges) - 1)
        terms = (
            f"{number_sql(c * w)} / ({number_sql(1.0 + c)} - {p}) - {number_sql(c * w)} / ({p} + {number_sql(c)})"
            for c, w in RATIOS
        )
        inside = f"CAST(CEIL(({' + '.join(terms)}) * {number_sql(ratio_scale(self.buckets))}) AS BIGINT)"
        first, last = "0", str(self.buckets + 1)
        if outside is not None:  # which few rows are asked about
            first, last = (f"CASE WHEN {p} = {end} THEN {k} ELSE {outside} END" for end, k in ((0, first), (1, last)))
        return f"CASE WHEN {p} <= 0 THEN {first} WHEN {p} >= 1 THEN {last} ELSE {inside} + {self.buckets // 2} END"

    def _between(self, p: str, first: int, last: int) -> str:
        """A search tree of conditions over the edges, which ends between two of them."""
        steps, edges = max(1, self.buckets // (len(self.edges) - 1)), self.edges
        if last - first > 1:
            middle = (first + last) // 2
            lower, upper = self._between(p, first, middle), self._between(p, middle, last)
            return f"CASE WHEN {p} <= {number_sql(edges[middle])} THEN {lower} ELSE {upper} END"
        low, high = edges[first], edges[last]
        inside = f"CEIL(({p} - {number_sql(low)}) * {number_sql(steps / (high - low))})"
        inside = f"{first * steps} + CAST({inside} AS BIGINT)"
        ends = f"WHEN {p} <= {number_sql(edges[0])} THEN 0 " if first == 0 else ""
        ends += f"WHEN {p} > {number_sql(edges[-1])} THEN {last * steps + 1} " if last == len(edges) - 1 else ""
        return f"CASE {ends}ELSE {inside} END" if ends else inside


def sums_sql(y: str, p: str, worth: str = "") -> dict[str, str]:
    """SQL for what is counted and added up of each bucket, by its column; ``y`` is 1, 0 or something else."""
    least, log_least = number_sql(LOG_EPS), number_sql(math.log(LOG_EPS))

    def added(side: int, value: str) -> str:
        return f"COALESCE(SUM(CASE WHEN {y} = {side} THEN {value} ELSE 0 END), 0)"

    logs = [f"CASE WHEN {q} > {least} THEN LN({q}) ELSE {log_least} END" for q in (p, f"(1 - {p})")]
    terms = {"low": f"COALESCE(MIN({p}), 0)", "high": f"COALESCE(MAX({p}), 0)"}
    terms |= {name: f"COUNT(CASE WHEN {y} = {k} THEN 1 END)" for name, k in (("positives", 1), ("negatives", 0))}
    terms |= {"cases": "COUNT(*)", "q_pos": added(1, f"1 - {p}"), "p_neg": added(0, p)}
    terms |= {"qq_pos": added(1, f"(1 - {p}) * (1 - {p})"), "pp_neg": added(0, f"{p} * {p}")}
    terms |= {"log_pos": added(1, logs[0]), "log_neg": added(0, logs[1])}
    return terms | {name: added(1, " * ".join([worth] * k)) for k, name in enumerate(WORTH if worth else (), 1)}


def _spelled(number: float) -> list[str]:
    """How warehouses may write a number as text."""
    plain = repr(number).removesuffix(".0")
    return [plain] if "." in plain or "e" in plain else [plain, *(f"{plain}.{'0' * k}" for k in range(1, 7))]


def _label_sql(text: str, pos_label: Sequence[Any], neg_label: Any, exact: str, *, ignore_case: bool) -> str:
    """SQL that is 1 for a positive label, 0 for a negative one, 2 for one that is neither; NULL where it is missing."""

    def among(values: Sequence[Any], folds: bool = ignore_case) -> str:
        """Whether the label is one of some: a word as it is spelled, unless its case counts as little as a number's."""
        spelled, folded = list[str](), list[str]()
        for value in values:
            truth, number = rules.wanted_truth(value), rules.wanted_number(value)
            folded += [] if truth is None else [str(truth).lower()]
            folded += [] if number is None else _spelled(number)
            if truth is None and number is None:
                (folded if folds else spelled).append(rules.as_text(value))
        terms = {f"LOWER(TRIM({text}))": [word.strip().lower() for word in folded], text: spelled}
        found = {exact.format(term): _texts(dict.fromkeys(words)) for term, words in terms.items() if words}
        return " OR ".join(f"{term} IN ({words})" for term, words in found.items())

    conditions = {f"{text} IS NULL OR {exact.format(text)} IN ({_texts(rules.MISSING_TEXT)})": "NULL"}
    conditions |= {among(pos_label or [1]): "1"}
    if neg_label or not pos_label:
        conditions[among(neg_label or [0, -1])] = "0"
    else:  # a label that differs from a word in case or spaces only is neither
        conditions.setdefault(among(pos_label, folds=True), "2")
    whens = " ".join(f"WHEN {condition} THEN {value}" for condition, value in conditions.items())
    return f"CASE {whens} ELSE {2 if neg_label or not pos_label else 0} END"


def _texts(values: Any) -> str:
    return ", ".join("'" + value.replace("'", "''") + "'" for value in values)


@checked(
    table=check_text,
    label=check_column,
    score=check_columns,
    by=check_columns,
    batch=check_column,
    worth=check_column,
    where=check_text,
    buckets=lambda value, name: check_whole(value, name, 2, 2**24),
    ignore_case=check_flag,
)
def sql(
    *,
    table: str | None = None,
    label: str | None = None,
    score: str | Sequence[str] | None = None,
    dialect: str | None = None,
    buckets: int | None = None,
    by: str | Sequence[str] | None = None,
    batch: str | None = None,
    worth: str | None = None,
    where: str | None = None,
    pos_label: Label = None,
    neg_label: Label | Sequence[Label] = None,
    ignore_case: bool = False,
    edges: TableSource | Scores | None = None,
    refine: TableSource | None = None,
    quota: int | float | None = None,
    threshold: float | None = None,
) -> str:
    """The query that counts cases by bucket of the score, for any warehouse: its result is all that cutline needs.

    ``evaluate`` takes the result as it is, a file or a frame: a column of it describes the query. No row leaves the
    warehouse. Scores are probabilities, unless ``edges`` tells how to divide others: ``edges="query"`` gives a first
    query, whose result is then passed as ``edges``. Two scores are counted jointly, for ``compare``. ``worth`` names a
    column of amounts: their sums over the positives of each bucket give the measures of value. With ``refine``, the
    result of a query, and a ``quota`` or a ``threshold`` the query resolves the bucket of that cut only; evaluate both
    results together (:func:`merge_counts`).

    >>> query = sql(table="claims", label="fraud", score="p", dialect="postgres", buckets=1024)
    >>> "GROUP BY" in query and "FROM claims" in query
    True
    """
    glot: Any
    try:
        import sqlglot as glot
    except ImportError:
        problem = "cutline.sql writes queries by sqlglot, which is not installed: pip install 'cutline[sql]'"
        raise ImportError(problem) from None
    counted, told = None, dict[str, str]()
    if refine is not None:
        counted = refine if isinstance(refine, Counted) else read_result(refine, missing="drop")
        told |= counted.described
        table, label, dialect = table or told["table"], label or told["label"], dialect or told["dialect"]
        score, batch = score or told["score"].split(","), batch or told.get("batch")
        worth = worth or told.get("worth")
        by = by or (told["by"].split(",") if told.get("by") else None)
        where, ignore_case = where or told.get("where"), ignore_case or "ignore_case" in told
        if pos_label is None and "positive" in told:
            pos_label = tuple(told["positive"].split("\n"))
            neg_label = neg_label or told.get("negative", "").split("\n")
            neg_label = neg_label if neg_label != [""] else None if "others" in told else ()
        buckets = buckets or int(told["scheme"].split(":")[1])
    for argument, value in (("table", table), ("label", label), ("score", score), ("dialect", dialect)):
        if value is None:
            raise InputError(argument, "is missing", "name it")
    assert table is not None and label is not None and score is not None  # noqa: PT018
    dialect = _ALIASES.get(str(dialect).lower(), str(dialect).lower())
    if dialect not in DIALECTS:
        raise InputError("dialect", f"is {show(dialect)}", f"choose one of {', '.join(sorted([*DIALECTS, *_ALIASES]))}")
    scores = [score] if isinstance(score, str) else list(score)
    keys = [] if by is None else [by] if isinstance(by, str) else list(by)
    every = [*keys, *([] if batch is None else [batch])]
    negative, positives = rules.negative_labels(neg_label, pos_label), rules.as_labels(pos_label)
    spelled = [[*map(rules.as_text, labels)] for labels in (positives, negative or ())]
    joint, of_edges = len(scores) == 2, told.get("scheme", "").startswith("edges")
    taken = next((name for name in every if name in _COLUMNS), "")
    named = [label, *scores, *every]
    odd, twice = [name for name in named if not name or "*" in name], [n for n in named if named.count(n) > 1]
    both = sorted({*spelled[0]} & {*spelled[1]})
    for wrong, *error in (
        ("refined" in told, "refine", "is the result of a second query", "give the result of the first query"),
        (counted and counted.second, "refine", "are joint counts of two scores", "count each alone, and refine that"),
        ("min_cell" in told, "refine", "has joined buckets ({min_cell})", "refine first, and join small cells later"),
        (of_edges and edges is None, "edges", "is missing: buckets lie between edges", "pass {edges='edges.csv'}"),
        (len(scores) > 2, "score", f"names {len(scores)} columns", "name one, or two that are counted jointly"),
        (worth is not None and batch is not None, *NO_BATCHES),
        (keys and joint, "by", "does not go with two scores, which are counted jointly", "name a segment in {where}"),
        (worth is not None and joint, "worth", "is summed by the buckets of one score", "count each score by itself"),
        (odd, None, f"{listed(odd)} is not the name of a column", "name each column by itself"),
        (twice, None, f"column {listed(twice[:1])} is named twice", "name another column"),
        (taken, "by", f"names {show(taken)}, which the result has already", "rename it in a view"),
        (both, "neg_label", f"contains {listed(both)}, which is positive, too", "name another label"),
    ):
        if wrong:
            raise InputError(*error)
    scheme = Scheme(buckets or (256 if joint else 65_536), _read_edges(edges))
    facts: dict[str, Any] = {"cutline": "1", "scheme": scheme.name, "score": ",".join(scores), "label": label}
    facts |= {"positive": "\n".join(spelled[0]), "negative": "\n".join(spelled[1]), "ignore_case": "1" * ignore_case}
    facts |= {"others": "negative" if positives and negative is None else None}
    facts |= {"by": ",".join(keys), "batch": batch, "worth": worth, "table": table}
    described = {key: value for key, value in (facts | {"dialect": dialect, "where": where}).items() if value}
    only: list[int] = []
    if counted is not None:
        check_same_query(counted.described, described)
        only = _buckets_of_cut(counted, quota, threshold)
        described["refined"] = "1"
    elif quota is not None or threshold is not None:
        raise InputError("quota" if quota is not None else "threshold", "goes with {refine}", "leave it out")

    def quoted(column: str) -> str:
        return '"' + column.replace('"', '""') + '"'

    def name(column: str) -> str:
        folds = dialect == "snowflake"  # which knows an unquoted name by its capital letters
        return column if folds and re.fullmatch(r"[A-Za-z_]\w*", column) else quoted(column)

    text = f"CAST({name(label)} AS {'NVARCHAR(MAX)' if dialect == 'tsql' else 'TEXT'})"
    exact = _EXACT.get(dialect, "{}")
    inner = [f"{name(key)} AS cl_key_{k}" for k, key in enumerate(every)]
    inner.append(f"{_label_sql(text, positives, negative, exact, ignore_case=ignore_case)} AS cl_y")
    asks_rest = bool(positives) and not negative
    inner += [f"{f'LOWER(TRIM({text}))' if ignore_case else text} AS cl_label"] * asks_rest
    inner += [f"CASE WHEN TRIM({text}) IN ({_texts(_spelled(-1))}) THEN 1 ELSE 0 END AS cl_minus"] * (not positives)
    numbers = {f"cl_p{k}": (column, "-1e308 AND 1e308") for k, column in enumerate(scores)}
    numbers |= {} if worth is None else {"cl_worth": (worth, "0 AND 1e70")}  # larger fourth powers are not numbers
    for alias, (column, limits) in numbers.items():
        value = f"CAST({name(column)} AS DOUBLE)"
        condition = _IS_NUMBER.get(dialect, "").format(value=value, name=name(column))
        inner.append(f"CASE WHEN {condition}{value} BETWEEN {limits} THEN {value} END AS {alias}")
    cases = f"SELECT {', '.join(inner)} FROM cl_table"
    columns = [f"cl_key_{k}" for k in range(len(every))]
    if isinstance(edges, str) and edges == "query":
        tile = f"NTILE({_STEPS}) OVER (ORDER BY cl_p0) AS cl_tile"
        tiles = f"SELECT cl_p0, {tile} FROM ({cases}) AS cl_cases WHERE NOT cl_p0 IS NULL"
        ends = 'cl_tile AS "tile", MIN(cl_p0) AS "low", MAX(cl_p0) AS "high"'
        made = f"SELECT {ends} FROM ({tiles}) AS cl_tiles GROUP BY cl_tile"
    else:
        lacking = " OR ".join(f"{column} IS NULL" for column in ("cl_y", *numbers))
        place = f"CASE WHEN {lacking} THEN {LEFT_OUT} ELSE {{}} END AS cl_bucket{{}}"
        places = [place.format(scheme.bucket_sql(f"cl_p{k}"), k) for k in range(len(scores))]
        places += [f"CASE WHEN cl_y = 0 AND NOT ({lacking}) THEN cl_label END AS cl_rest"] * asks_rest
        bucketed = f"SELECT *, {', '.join(places)} FROM ({cases}) AS cl_cases"
        grouped = [*columns, *(f"cl_bucket{k}" for k in range(len(scores)))]
        terms = {"bucket": "cl_bucket0", **sums_sql("cl_y", "cl_p0", "cl_worth" if worth else "")}
        if len(scores) == 2:  # no sums of losses
            other = sums_sql("cl_y", "cl_p1")
            terms = {name: terms[name] for name in _COLUMNS if name in terms and name not in SUMS}
            terms |= {"bucket_b": "cl_bucket1", "low_b": other["low"], "high_b": other["high"]}
        terms |= {"minus": "SUM(cl_minus)"} if not positives else {}
        terms["total"] = "SUM(COUNT(*)) OVER ()"
        if asks_rest:  # the label of all others; none where they have several
            same = " = ".join(f"{end}({end}({exact.format('cl_rest')})) OVER ()" for end in ("MIN", "MAX"))
            terms["negative"] = f"CASE WHEN {same} THEN MIN(MIN(cl_rest)) OVER () ELSE '' END"
        shown = [f'{_texts([urlencode(described)])} AS "{DESCRIPTION}"']
        shown += [f"{column} AS {quoted(key)}" for column, key in zip(columns, every, strict=True)]
        shown += [f'{term} AS "{column}"' for column, term in terms.items()]
        made = f"SELECT {', '.join(shown)} FROM ({bucketed}) AS cl_buckets"
        if only:
            made += f" WHERE cl_bucket0 IN ({', '.join(map(str, only))})"
            grouped.append("cl_p0")
        made += f" GROUP BY {', '.join(grouped)}"
    tree = glot.parse_one(made, read="duckdb")
    for division in tree.find_all(glot.exp.Div):  # of floats that are not 0: no engine needs a cast, or a NULLIF
        division.args |= {"typed": True, "safe": False}
    source = next(node for node in tree.find_all(glot.exp.Table) if node.name == "cl_table")
    select = source.find_ancestor(glot.exp.Select)
    source.replace(_table_of(glot, table, dialect))
    if where is not None:
        try:
            rest = glot.parse_one(f"SELECT 1 WHERE {where}", read=dialect).args
        except glot.errors.SqlglotError:
            rest = {}
        if {key for key, value in rest.items() if value} != {"where", "expressions"}:
            problem = f"is {show(where)}, which is not one condition in the SQL of {dialect}"
            raise InputError("where", problem, "write e.g. month >= 6")
        select.set("where", rest["where"])
    query: str = tree.sql(dialect=dialect, pretty=True)
    # sqlglot would write VARBINARY, to which MySQL knows no cast, and REGEXP_LIKE, which MariaDB does not know
    return query.replace("CL_BINARY", "BINARY").replace("LIKE 'CL_RLIKE", "RLIKE '")


def _table_of(glot: Any, text: str, dialect: str) -> Any:
    """A table by its name, in quotes where engines reserve the word; raises an error for what is not a name."""
    name = r'("[^"]+"|`[^`]+`|\[[^]]+\]|[\w$#-]+)'
    file = "'[^']+'" if dialect == "duckdb" else name  # which DuckDB reads in place of a table
    if not re.fullmatch(rf"{name}([.]{name})*|{file}", text):
        raise InputError(
            "table", f"is {show(text)}, which is not a name", "make a view of it, or limit rows with {where}"
        )
    table, how = glot.exp.to_table(text, dialect=dialect), glot.Dialect.get_or_raise
    reserved = {word for name in ("redshift", "mysql") for word in how(name).generator_class.RESERVED_KEYWORDS}
    for part in table.find_all(glot.exp.Identifier):
        if not part.quoted and part.name.lower() in reserved:
            how(dialect).normalize_identifier(part).set("quoted", True)
    return table


def _read_edges(edges: Any) -> tuple[float, ...]:
    """Edges that rise, from a list, or from the result of the first query."""
    if edges is None or (isinstance(edges, str) and edges == "query"):
        return ()
    if isinstance(edges, list | tuple | np.ndarray):
        values = as_numbers(edges, "edges")[0].astype(np.float64)
    else:
        from ..sources.given_columns import read_columns

        ends = read_columns(edges, None, ["low", "high"]).scores
        values = np.concatenate([[ends["low"].min()], ends["high"]])
    values = np.unique(values)
    if len(values) < 2 or not np.isfinite(values).all():
        raise InputError("edges", "are fewer than two different numbers", "give at least two that are finite")
    return tuple(values.tolist())


def _buckets_of_cut(counted: Counted, quota: int | float | None, threshold: float | None) -> list[int]:
    """The buckets in which a cut lies: of each batch and of all its cases, if there are batches."""
    if (quota is None) == (threshold is None):
        raise InputError("refine", "resolves the bucket of one cut", "give a {quota} or a {threshold}")
    # a quota cuts the list of all cases, of each batch, and of each segment
    divided = [part.codes for part in (counted.batch, counted.segments) if part is not None]
    divided += [divided[0] * (1 + int(divided[1].max())) + divided[1]] if len(divided) == 2 else []
    parts = [counted, *(counted.only(np.flatnonzero(codes == k)) for codes in divided for k in np.unique(codes))]
    cut, beside = set[int](), list[int]()
    for part in parts if threshold is None else [counted]:
        one = part.whole
        assert one.bucket is not None
        ends = np.cumsum(one.pos + one.neg)
        if threshold is not None:
            k = min(int(np.count_nonzero(one.low > threshold)), len(ends) - 1)
            inside = one.low[k] <= threshold < one.high[k]
        else:
            n, is_all = int(ends[-1]), part is counted  # one beyond all cases is an error
            places = resolve_quota(quota, n) if is_all or not why_no_cut(quota, n) else n
            k = int(np.searchsorted(ends, places))
            inside = one.is_open[k] and places < ends[k]
        cut |= {int(one.bucket[k])} if inside else set()
        beside = beside or [int(one.bucket[k])]
    if not cut:
        said = "no bucket is cut, so what is counted at this cut is exact already, and other measures keep their bounds"
        warn(f"{said}; the query counts the scores of the bucket beside the cut")
    return sorted(cut) or beside


def count_table(table: SqlTable, roles: Roles) -> tuple[Counted, tuple[str, ...]]:
    """The counts of a table that is asked by SQL, and how its text was understood. No row comes here."""
    counted = _count_at_once(table, roles)
    if counted is not None:
        return counted, ()
    checked = check(table, roles)
    table = checked.table
    ((model, p),) = checked.scores.items()
    totals, columns = checked.totals[model], (*checked.segments, *checked.batch)
    if not (math.isfinite(totals.low) and math.isfinite(totals.high)):
        raise InputError("exact=False", "needs finite scores", "leave infinite ones out, or leave {exact=False} out")
    scheme, ends = Scheme(_BUCKETS), list[str]()
    if totals.distinct <= _FEW:  # which is counted to within some per cent
        place = f"({p} + {number_sql(0.0)})"
    elif totals.low >= 0.0 and totals.high <= 1.0:
        place = scheme.bucket_sql(p)
    else:
        shares = ", ".join(repr(k / _STEPS) for k in range(1, _STEPS))
        several = "percentile_approx({}, array({}))" if table.dialect.escape else "approx_quantile({}, [{}])"
        (found,) = table.aggregate([several.format(checked.value(p, "NULL"), shares)])
        scheme = Scheme(2 * _FEW, tuple(np.unique([totals.low, *found, totals.high]).tolist()))
        place, ends = scheme.bucket_sql(p), [f"min({p})", f"max({p})"]
    keys, of_pos = [column.comparable for column in columns], f"count(*) FILTER (WHERE {checked.positive})"
    rows = table.grouped(checked.kept, [place, *keys], ["count(*)", of_pos, *ends])
    number, *cells, cases, pos = list(zip(*rows, strict=True))[: len(keys) + 3]
    bucket = np.array(number, np.int64) if "CEIL" in place else None
    if bucket is not None and not ends:
        low, high = bucket_ends(bucket, _BUCKETS)
    else:
        low, high = (np.array([row[k] for row in rows], np.float64) for k in ((-2, -1) if ends else (0, 0)))
    sides = np.array(pos, np.int64), np.array(cases, np.int64) - np.array(pos, np.int64)
    counted = Counted(low, high, *sides, *_partitions(roles, cells), bucket)
    described = {"score": p, "scheme": scheme.name}
    return replace(counted, described=described, dropped=totals.dropped), checked.understood


def _count_at_once(table: SqlTable, roles: Roles) -> Counted | None:
    """The counts by one query that also shows what labels and scores there are; None where more has to be asked."""
    used = {role: table.column(name, role_word(role)) for role, name in roles.named}
    label, score = used["y_true"], used["y_score"]
    is_plain = not (roles.neg_label or roles.ignore_case or roles.negate)
    if not is_plain or score.kind not in ("fraction", "decimal") or label.kind in ("collection", "other"):
        return None
    keys = [table.named[name].comparable for name in (*roles.by, *([roles.batch] if roles.batch else []))]
    p = f"CAST({score.sql} AS DOUBLE)"
    asked = [f"count(DISTINCT {p})", f"min({p})", f"max({p})", f"count(DISTINCT {label.sql})"]
    distinct, low, high, labels = table.aggregate(asked, first=2 * _FEW)
    if distinct <= _FEW or not 0.0 <= low <= high <= 1.0 or labels > 2:
        return None
    place = Scheme(_BUCKETS).bucket_sql(p, outside=_OUTSIDE)
    rows = table.grouped(None, [place, label.sql, *keys], ["count(*)"])
    cases = sum(row[-1] for row in rows)
    found, *named, _ = zip(*rows, strict=True) if rows else ((), ())
    if None in found or any(rules.is_missing(value) for column in named for value in set(column)):
        rows = [row for row in rows if not any(map(rules.is_missing, row))]
    dropped = cases - sum(row[-1] for row in rows)
    number, truth, *cells, counts = zip(*rows, strict=True) if rows else ((_OUTSIDE,), (), ())
    if min(number) == _OUTSIDE or (dropped and roles.missing != "drop"):
        return None
    try:
        distinct_labels = list(dict.fromkeys(truth))
        positive = is_positive(as_column(distinct_labels, "y_true"), roles.pos_label)
    except InputError:
        return None
    if roles.pos_label is not None and np.count_nonzero(~positive) > 1:
        return None  # what is said of several negative labels needs the rows of each
    is_pos = dict(zip(distinct_labels, positive.tolist(), strict=True))
    bucket, pos = np.array(number, np.int64), np.array([is_pos[value] for value in truth])
    sides = np.where(pos, counts, 0), np.where(pos, 0, counts)
    counted = Counted(*bucket_ends(bucket, _BUCKETS), *sides, *_partitions(roles, cells), bucket)
    return replace(counted, described={"score": score.name, "scheme": Scheme(_BUCKETS).name}, dropped=dropped)


def _partitions(roles: Roles, cells: Sequence[Any]) -> tuple[Partition | None, Partition | None]:
    """Segments and batches of rows whose cells are those of ``by`` and then of the batch."""
    values = dict(zip([*roles.by, *([roles.batch] if roles.batch else [])], map(list, cells), strict=True))
    segments = Partition.of({name: values[name] for name in roles.by}, "segment") if roles.by else None
    return segments, Partition.of({roles.batch: values[roles.batch]}, "batch") if roles.batch else None
