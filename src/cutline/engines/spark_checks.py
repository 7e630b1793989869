"""The columns of a Spark DataFrame, checked by one aggregation before a row is summed."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Any

from ..errors import InputError
from ..sample import WEIGHTS, WEIGHTS_MUST
from .duckdb_source import listed
from .stream import Totals

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")
_NO_LABELS = ("array", "map", "struct", "interval", "variant")  # Spark cannot compare or group some, nor turn into text
_EXACT_INTEGERS = 2**53


def check(
    frame: Any, label: str, scores: Sequence[str], weight: str | None, positive: Any, missing: str
) -> tuple[Any, list[Totals]]:
    """Check the columns and count what must be known before the sweep; a row counts if it has all the scores.

    Gives the rows that count, as score_0 … (double), positive (boolean) and, where there is one, weight (double), and
    the totals of each score column.
    """
    from pyspark.sql import functions as f

    if missing not in ("error", "drop"):
        raise InputError(f"missing must be 'error' or 'drop', got {missing!r}")
    types = dict(frame.dtypes)
    roles = {"label": label, **{f"score_{k}": score for k, score in enumerate(scores)}}
    if weight is not None:
        roles["weight"] = weight
    for role, column in roles.items():
        _exists(column, _word(role), types)
        _is_one(column, frame)
        if role != "label" and not _is_number(types[column]) and types[column] != "boolean":
            raise InputError(
                f"the table's column {column!r} holds {types[column]}, not numbers; it cannot be a {_word(role)}"
            )
    says = _positive(label, types[label], positive)
    lacks = {role: _lacks(column, types[column]) for role, column in roles.items()}
    numbers = [role for role in roles if role != "label"]
    wide = [role for role in numbers if _is_wide(types[roles[role]])]
    own = frame.select(
        *(_named(roles[role]).cast("double").alias(role) for role in numbers),
        says.alias("positive"),
        reduce(or_, lacks.values()).alias("lacking"),
        *(lacks[role].alias(f"lacks_{role}") for role in roles),
        *(_beyond(roles[role]).alias(f"beyond_{role}") for role in wide),
        _named(label).alias("label"),
    )
    counts = ~f.col("lacking") & (f.col("weight") != 0 if weight is not None else f.lit(True))
    terms = {
        "every": f.count(f.lit(1)),
        "lacking": _number_of(f.col("lacking")),
        **{f"lacks_{role}": _number_of(f.col(f"lacks_{role}")) for role in roles},
        **{f"beyond_{role}": _number_of(counts & f.col(f"beyond_{role}")) for role in wide},
        "rows": _number_of(counts),
        "positives": _number_of(counts & f.col("positive")),
    }
    for k in range(len(scores)):
        score = f.when(counts, f.col(f"score_{k}"))
        terms |= {f"low_{k}": f.min(score), f"high_{k}": f.max(score), f"distinct_{k}": f.approx_count_distinct(score)}
        terms[f"sum_{k}"] = f.sum(score * f.col("weight") if weight is not None else score)
    if positive is None and _is_number(types[label]):
        for pair in ((0, 1), (-1, 1)):
            terms[f"not_{pair}"] = _number_of(~f.col("lacking") & ~f.col("label").isin(*pair))
    if positive is None and types[label] == "string":
        words = ~f.lower(f.col("label")).isin("true", "false")
        terms["other_words"] = _number_of(~f.col("lacking") & words)
    if weight is not None:
        terms["bad_weight"] = _number_of(~f.col("lacking") & _bad_weight(f.col("weight")))
        terms["pos"] = f.sum(f.when(counts & f.col("positive"), f.col("weight")).otherwise(0.0))
        terms["neg"] = f.sum(f.when(counts & ~f.col("positive"), f.col("weight")).otherwise(0.0))
    found = own.agg(*(term.alias(name) for name, term in terms.items())).collect()[0].asDict()
    _refuse(found, roles, frame, own, positive, drop=missing == "drop")
    rows, positives = int(found["rows"]), int(found["positives"])
    totals = [
        Totals(
            rows,
            positives,
            float(found["pos"]) if weight is not None else positives,
            float(found["neg"]) if weight is not None else rows - positives,
            float(found[f"low_{k}"]),
            float(found[f"high_{k}"]),
            weight is not None,
            int(found["lacking"]),
            int(found[f"distinct_{k}"]),
            float(found[f"sum_{k}"]),
        )
        for k in range(len(scores))
    ]
    # Spark takes −0.0 and 0.0 for two values when it groups; adding 0.0 makes them one
    kept = own.where(counts).select(
        *((f.col(f"score_{k}") + f.lit(0.0)).alias(f"score_{k}") for k in range(len(scores))),
        "positive",
        *(["weight"] if weight is not None else []),
    )
    return kept, totals


def _word(role: str) -> str:
    return role.partition("_")[0]


def _bad_weight(weight: Any) -> Any:
    return (weight != 0) & ((weight < WEIGHTS[0]) | (weight > WEIGHTS[1]))


def _named(column: str) -> Any:
    from pyspark.sql import functions as f

    return f.col("`" + column.replace("`", "``") + "`")


def _is_number(kind: str) -> bool:
    return kind in _NUMBERS or kind.startswith("decimal")


def _is_wide(kind: str) -> bool:
    """Whether a type holds integers that floats confuse."""
    return kind == "bigint" or (kind.startswith("decimal") and kind.endswith(",0)"))


def _beyond(column: str) -> Any:
    from pyspark.sql import functions as f

    return (_named(column) > f.lit(_EXACT_INTEGERS)) | (_named(column) < f.lit(-_EXACT_INTEGERS))


def _number_of(condition: Any) -> Any:
    from pyspark.sql import functions as f

    return f.coalesce(f.sum(f.when(condition, 1).otherwise(0)), f.lit(0))


def _lacks(column: str, kind: str) -> Any:
    from pyspark.sql import functions as f

    there = _named(column)
    return there.isNull() | f.isnan(there) if kind in ("float", "double") else there.isNull()


def _exists(column: str, role: str, types: dict[str, str]) -> None:
    if column in types:
        return
    near = difflib.get_close_matches(str(column), list(types), n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"it has {listed(list(types))}"
    raise InputError(f"the table has no column {column!r} for the {role}; {hint}")


def _is_one(column: str, frame: Any) -> None:
    """Refuse a name that means several columns: Spark takes P for p unless it is told otherwise."""
    same = [name for name in frame.columns if name.casefold() == column.casefold()]
    if len(same) > 1 and (
        same.count(column) > 1 or frame.sparkSession.conf.get("spark.sql.caseSensitive", "false") != "true"
    ):
        raise InputError(f"the table has several columns called {column!r} ({listed(same)}); rename all but one")


def _positive(label: str, kind: str, positive: Any) -> Any:
    from pyspark.sql import functions as f

    column = _named(label)
    if kind.startswith(_NO_LABELS):
        raise InputError(f"the table's column {label!r} holds {kind}, which cannot be a label; choose or make another")
    if positive is None:
        if kind == "boolean":
            return column
        if kind == "string":  # the words true and false say it themselves; others are refused when they are counted
            return f.lower(column) == "true"
        if not _is_number(kind):
            raise InputError(f"the table's column {label!r} holds {kind}; say which value is positive with positive=…")
        return column == 1
    if _is_number(kind):
        try:
            return column == f.lit(float(positive))
        except (TypeError, ValueError):
            raise InputError(f"positive={positive!r} is no value of column {label!r}, which holds numbers") from None
    if kind == "boolean":
        if str(positive).lower() not in ("true", "false", "1", "0"):
            raise InputError(f"positive={positive!r} is no value of column {label!r}, which holds true and false")
        return column if str(positive).lower() in ("true", "1") else ~column
    return column.cast("string") == f.lit(str(positive))


def _refuse(found: dict[str, Any], roles: dict[str, str], frame: Any, own: Any, positive: Any, *, drop: bool) -> None:
    """Raise for what the counts show. Rows of a distributed table have no numbers: an example is shown instead."""
    if found["every"] == 0:
        raise InputError("the table has no rows")
    if found["lacking"] and not drop:
        role = next(role for role in roles if found[f"lacks_{role}"])
        raise InputError(
            f"the table's column {roles[role]!r} has no {_word(role)} in {found[f'lacks_{role}']} of "
            f"{found['every']} rows, as in {_example(frame, _lacks(roles[role], dict(frame.dtypes)[roles[role]]))}; "
            "fill it in, or leave such rows out with missing='drop'"
        )
    if found["every"] == found["lacking"]:
        raise InputError("every row of the table lacks a label, a score or a weight")
    if min(found.get("not_(0, 1)", 0), found.get("not_(-1, 1)", 0)) or found.get("other_words"):
        values = sorted(row[0] for row in own.where(~own["lacking"]).select("label").distinct().limit(7).collect())
        raise InputError(
            f"the table's column {roles['label']!r} holds the labels {listed(values, 6)}; say which one is positive "
            "with positive=…, the rest count as negative"
        )
    if found.get("bad_weight"):
        raise InputError(
            f"the table's column {roles['weight']!r} is negative or infinite in {found['bad_weight']} rows, as in "
            f"{_example(frame, _bad_weight(_named(roles['weight']).cast('double')))}; {WEIGHTS_MUST}"
        )
    for role in roles:
        if found.get(f"beyond_{role}"):
            raise InputError(
                f"the table's column {roles[role]!r} holds integers beyond 2^53, where floats confuse them; rescale"
            )
    if found["rows"] == 0:
        raise InputError(f"every weight in column {roles['weight']!r} is zero, so no case is left")
    if found["positives"] == 0 and positive is not None:
        values = [row[0] for row in own.where(~own["lacking"]).select("label").distinct().limit(7).collect()]
        if len(values) > 1:
            raise InputError(
                f"positive={positive!r} is no value of column {roles['label']!r}, which holds "
                f"{listed(sorted(values, key=str), 6)}"
            )


def _example(frame: Any, condition: Any) -> str:
    """One row that meets a condition, and where it was read from, where that is known."""
    from pyspark.sql import functions as f

    row = frame.where(condition).select(*map(_named, frame.columns[:8]), f.input_file_name().alias("file")).first()
    *values, file = row
    shown = ", ".join(f"{name}={value!r}" for name, value in zip(frame.columns, values, strict=False))
    return f"the row ({shown}{', …' if len(frame.columns) > 8 else ''}){f' of {file}' if file else ''}"
