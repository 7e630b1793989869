"""The columns of a source, checked by one aggregate query before a row is summed: Totals, or an InputError."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..sample import WEIGHTS, WEIGHTS_MUST
from ..table import pluralize
from .duckdb_source import Source, listed, literal, quoted
from .duckdb_types import WHOLE
from .stream import Totals

_WHOLE = (*WHOLE, "UHUGEINT")
_EXACT_INTEGERS = 2**53


def is_number(kind: str) -> bool:
    """Whether a DuckDB type is one of numbers."""
    return kind in (*_WHOLE, "DOUBLE", "FLOAT") or kind.startswith("DECIMAL")


@dataclass(frozen=True)
class Columns:
    """SQL for the columns of a checked source: what is positive, the score, the weight, which rows count."""

    positive: str
    score: str
    weight: str | None
    where: str

    def select(self, what: str, table: str) -> str:
        """``SELECT what`` from the rows that count."""
        return f"SELECT {what} FROM {table}{f' WHERE {self.where}' if self.where else ''}"


def check(
    source: Source,
    label: str,
    score: str,
    weight: str | None,
    positive: Any,
    missing: str,
    others: Sequence[str] = (),
) -> tuple[Columns, Totals]:
    """Check the columns and count what must be known before the sweep.

    A row counts only if it has a score in the columns ``others``, too: models are compared on the same rows.
    """
    if missing not in ("error", "drop"):
        raise InputError(f"missing must be 'error' or 'drop', got {missing!r}")
    for column, role in ((label, "label"), (score, "score"), *(((weight, "weight"),) if weight is not None else ())):
        source.check(column, role)
    for column in (score, *others):
        source.check(column, "score")
        _need_numbers(source, column, "score")
    if weight is not None:
        _need_numbers(source, weight, "weight")
    return _Check(source, label, score, weight, positive, missing == "drop", others).run()


def _need_numbers(source: Source, column: str, role: str) -> None:
    kind = source.types[column]
    if is_number(kind) or kind == "BOOLEAN":
        return
    if kind == "VARCHAR":
        name = quoted(column)
        found = source.first(f"{name} IS NOT NULL AND TRY_CAST({name} AS DOUBLE) IS NULL", name)
        if found is not None:
            raise _no_number(source, column, found, role)
    raise InputError(
        f"{source.name}: column {column!r} holds {kind.lower()}, not numbers; it cannot be a {role} (cast it first)"
    )


def _no_number(source: Source, column: str, found: tuple[int, Any], role: str) -> InputError:
    row, value = found
    return InputError(
        f"{source.name}: column {column!r} has {value!r} in row {row}, which is no number; it cannot be a {role}"
    )


class _Check:
    def __init__(
        self,
        source: Source,
        label: str,
        score: str,
        weight: str | None,
        positive: Any,
        drop: bool,
        others: Sequence[str],
    ) -> None:
        self.others = others
        self.source, self.label, self.score, self.weight, self.drop = source, label, score, weight, drop
        self.kind = source.types[label]
        self.value = f"{quoted(score)}::DOUBLE"
        self.weight_sql = None if weight is None else f"{quoted(weight)}::DOUBLE"
        self.given = positive
        self.positive_sql = self._positive(positive)

    def _positive(self, positive: Any) -> str:
        """SQL that is true for a positive row; without ``positive`` only for labels that say it themselves."""
        name = quoted(self.label)
        if positive is None:
            if self.kind == "BOOLEAN":
                return name
            return f"{name} = 1" if is_number(self.kind) else f"lower({name}::VARCHAR) = 'true'"
        if is_number(self.kind):
            try:
                return f"{name} = {float(positive)!r}::DOUBLE"
            except (TypeError, ValueError):
                self._refuse_unknown()
        if self.kind == "BOOLEAN":
            wanted = str(positive).lower()
            if wanted not in ("true", "false", "1", "0"):
                self._refuse_unknown()
            return name if wanted in ("true", "1") else f"NOT {name}"
        return f"{name}::VARCHAR = {literal(str(positive))}"

    def run(self) -> tuple[Columns, Totals]:
        """One query for everything; a second one only to name the row of what is wrong."""
        lacks = self._lacking()
        any_lacks = " OR ".join(f"({condition})" for condition, _, _ in lacks)
        keep = f"NOT ({any_lacks})"
        where = [keep] if self.drop else []
        if self.weight_sql is not None:
            where.append(f"{self.weight_sql} <> 0")  # a case of zero weight is a case that is not there
        counting = " AND ".join([keep, *([f"{self.weight_sql} <> 0"] if self.weight_sql else [])])
        terms = {
            "every": "count(*)",
            "lacking": f"count(*) FILTER ({any_lacks})",
            "rows": f"count(*) FILTER ({counting})",
            "positives": f"count(*) FILTER (({counting}) AND {self.positive_sql})",
            "low": f"min({self.value}) FILTER ({counting})",
            "high": f"max({self.value}) FILTER ({counting})",
            "distinct": f"approx_count_distinct({self.value})",
            "sum": f"sum({self.value}{f' * {self.weight_sql}' if self.weight_sql else ''}) FILTER ({counting})",
            **self._label_terms(keep),
        }
        if self.weight_sql is not None:
            terms["pos"] = f"fsum({self.weight_sql}) FILTER (({counting}) AND {self.positive_sql})"
            terms["neg"] = f"fsum({self.weight_sql}) FILTER (({counting}) AND NOT ({self.positive_sql}))"
            terms["bad_weight"] = f"count(*) FILTER (({keep}) AND ({self._bad_weight()}))"
        sql = "SELECT " + ", ".join(terms.values()) + f" FROM {self.source.table}"
        found = dict(zip(terms, self._aggregate(sql), strict=True))
        self._refuse(found, lacks)
        rows, positives = int(found["rows"]), int(found["positives"])
        weighted = self.weight_sql is not None
        totals = Totals(
            rows,
            positives,
            float(found["pos"] or 0.0) if weighted else positives,
            float(found["neg"] or 0.0) if weighted else rows - positives,
            float(found["low"]),
            float(found["high"]),
            weighted,
            int(found["lacking"]),
            int(found["distinct"]),
            float(found["sum"]),
        )
        return Columns(f"({self.positive_sql})", self.value, self.weight_sql, " AND ".join(where)), totals

    def _aggregate(self, sql: str) -> tuple[Any, ...]:
        import duckdb

        try:
            return self.source.rows(sql)[0]
        except duckdb.ConversionException as error:
            # the type was guessed from the first rows of a text file: find the first cell that breaks it
            for _, column, role in self._lacking():
                if not is_number(self.source.types[column]):
                    continue
                name = quoted(column)
                condition = f"{name} IS NOT NULL AND TRY_CAST({name} AS DOUBLE) IS NULL"
                found = self.source.first(condition, name, self.source.as_text)
                if found is not None:
                    raise _no_number(self.source, column, found, role) from None
            raise InputError(f"{self.source.name} cannot be read: {error}") from None

    def _lacking(self) -> list[tuple[str, str, str]]:
        """Conditions under which a row lacks something: (condition, column, role)."""
        lacks = []
        columns = (
            (self.label, "label"),
            (self.score, "score"),
            *((column, "score") for column in self.others),
            (self.weight, "weight"),
        )
        for column, role in columns:
            if column is None:
                continue
            name, kind = quoted(column), self.source.types[column]
            # not isnan(): DuckDB decides it from a file's statistics, which leave NaN out
            is_nan = f" OR hash({name}) = hash('nan'::{kind})" if kind in ("DOUBLE", "FLOAT") else ""
            lacks.append((f"{name} IS NULL{is_nan}", column, role))
        return lacks

    def _bad_weight(self) -> str:
        low, high = (f"{limit!r}::DOUBLE" for limit in WEIGHTS)
        return f"{self.weight_sql} <> 0 AND ({self.weight_sql} < {low} OR {self.weight_sql} > {high})"

    def _label_terms(self, keep: str) -> dict[str, str]:
        name = quoted(self.label)
        if self.given is not None or self.kind == "BOOLEAN":
            return {}
        if is_number(self.kind):
            return {
                "not_01": f"count(*) FILTER (({keep}) AND {name} NOT IN (0, 1))",
                "not_11": f"count(*) FILTER (({keep}) AND {name} NOT IN (-1, 1))",
            }
        return {"not_words": f"count(*) FILTER (({keep}) AND lower({name}::VARCHAR) NOT IN ('true', 'false'))"}

    def _refuse(self, found: dict[str, Any], lacks: list[tuple[str, str, str]]) -> None:
        """Raise for what the counts show, naming the first offending row."""
        source = self.source
        if found["every"] == 0:
            raise InputError(f"{source.name} has no rows")
        if found["lacking"] and not self.drop:
            firsts = [
                (found_first[0], column, role)
                for condition, column, role in lacks
                if (found_first := source.first(condition, quoted(column))) is not None
            ]
            row, column, role = min(firsts)
            lacking = pluralize(found["lacking"], "row")
            raise InputError(
                f"{source.name}: column {column!r} has no {role} in row {row} ({lacking} in all lacking something);"
                " fill it in, or leave such rows out with missing='drop'"
            )
        if found["every"] == found["lacking"]:
            raise InputError(f"{source.name}: every row lacks a label, a score or a weight")
        if self.given is None and min((found[k] for k in ("not_01", "not_11", "not_words") if k in found), default=0):
            self._refuse_labels(found)
        if found.get("bad_weight"):
            bad = source.first(self._bad_weight(), str(self.weight_sql))
            at, value = bad if bad is not None else (0, 0.0)
            raise InputError(f"{source.name}: column {self.weight!r} is {value:g} in row {at}; {WEIGHTS_MUST}")
        if found["rows"] == 0:
            raise InputError(f"{source.name}: every weight in column {self.weight!r} is zero, so no case is left")
        if found["positives"] == 0 and self.given is not None and len(self._values()) > 1:
            self._refuse_unknown()
        kind = source.types[self.score]
        whole = kind in _WHOLE or (kind.startswith("DECIMAL") and kind.endswith(",0)"))
        # the extremes are floats already: 2^53 may have been 2^53 + 1
        if whole and max(abs(found["low"]), abs(found["high"])) >= _EXACT_INTEGERS:
            raise InputError(
                f"{source.name}: column {self.score!r} holds integers beyond 2^53, where floats confuse them; rescale"
            )

    def _values(self, most: int = 7) -> list[Any]:
        name = quoted(self.label)
        rows = self.source.rows(
            f"SELECT DISTINCT {name} FROM {self.source.table} WHERE {name} IS NOT NULL ORDER BY 1 LIMIT {most}"
        )
        return [row[0] for row in rows]

    def _refuse_unknown(self) -> None:
        raise InputError(
            f"{self.source.name}: positive={self.given!r} is no value of column {self.label!r}, which holds "
            f"{listed(self._values(), 6)}"
        )

    def _refuse_labels(self, found: dict[str, Any]) -> None:
        source, values = self.source, self._values()
        if len(values) <= 2:
            raise InputError(
                f"{source.name}: column {self.label!r} holds {' and '.join(map(repr, values))}; say which one is "
                f"positive, e.g. positive={values[-1]!r}"
            )
        name, where = quoted(self.label), ""
        if is_number(self.kind):
            pair = "(0, 1)" if found["not_01"] <= found["not_11"] else "(-1, 1)"
            third = source.first(f"{name} NOT IN {pair}", name)
            where = f", first in row {third[0]}: {third[1]!r}" if third is not None else ""
        raise InputError(
            f"{source.name}: column {self.label!r} holds more than two labels ({listed(values, 5)}{where}); say which "
            f"one is positive with positive=…, the rest count as negative"
        )
