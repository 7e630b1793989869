"""A Spark DataFrame -> a table that can be asked by SQL; its rows stay on the cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import InputError, listed, show
from .tables import SPARK, Checked, Column, Table

_SHOWN = 8  # columns of a row that is shown as an example


class SparkTable(Table):
    """A DataFrame. Its rows have no numbers: an example is shown instead."""

    dialect = SPARK

    def __init__(self, frame: Any) -> None:
        super().__init__("the table", [Column(name, SPARK.name(name), kind) for name, kind in frame.dtypes])
        self.frame = frame

    @property
    def where(self) -> str | None:
        """Nothing: a DataFrame has no name."""
        return None

    def column(self, name: str, role: str) -> Column:
        """A column by its name; Spark takes P for p unless it is told otherwise."""
        found = super().column(name, role)
        same = [other for other in self.frame.columns if other.casefold() == name.casefold()]
        if len(same) > 1 and self.frame.sparkSession.conf.get("spark.sql.caseSensitive", "false") != "true":
            said = f"the table has several columns called {show(name)} ({listed(same)})"
            raise InputError(None, said, "rename all but one")
        return found

    def aggregate(self, terms: Sequence[str]) -> Sequence[Any]:
        return list(self.frame.selectExpr(*(f"{term} AS t{k}" for k, term in enumerate(terms))).collect()[0])

    def grouped(self, checked: Checked, keys: Sequence[str], terms: Sequence[str]) -> list[tuple[Any, ...]]:
        from pyspark.sql import functions as f

        frame = self.frame if checked.kept is None else self.frame.where(checked.kept)
        by = [f.expr(key).alias(f"k{k}") for k, key in enumerate(keys)]
        found = frame.groupBy(*by).agg(*(f.expr(term).alias(f"t{k}") for k, term in enumerate(terms)))
        return [tuple(row) for row in found.collect()]

    def first(self, condition: str, shown: str) -> tuple[int | str, Any] | None:
        """A row that fulfils a condition, with where it was read from, where that is known; and a value of it."""
        names = self.frame.columns[:_SHOWN]
        wanted = [f"{shown} AS v", "input_file_name() AS f", *(f"{SPARK.name(n)} AS c{k}" for k, n in enumerate(names))]
        row = self.frame.where(condition).selectExpr(*wanted).first()
        if row is None:
            return None
        value, file, *cells = row
        said = ", ".join(f"{name}={cell!r}" for name, cell in zip(names, cells, strict=True))
        more = ", …" if len(self.frame.columns) > _SHOWN else ""
        return f"the row ({said}{more}){f' of {file}' if file else ''}", value

    def distinct(self, shown: str, condition: str, most: int) -> list[Any]:
        found = self.frame.where(condition).selectExpr(f"{shown} AS v").distinct().orderBy("v").limit(most).collect()
        return [row[0] for row in found]

    def rows(self, checked: Checked, key: str | None = None) -> Any:
        """The rows that count, as score_0 … (double), positive (boolean) and, where there is one, weight (double).

        ``key``: SQL for a whole number that then comes too.
        """
        # Spark takes −0.0 and 0.0 for two values when it groups; adding 0.0 makes them one
        wanted = [f"{sql} + 0.0D AS score_{k}" for k, sql in enumerate(checked.scores.values())]
        wanted += [f"{checked.positive} AS positive"]
        wanted += [] if checked.weight is None else [f"{checked.weight} AS weight"]
        wanted += [] if key is None else [f"{key} AS key"]
        frame = self.frame if checked.kept is None else self.frame.where(checked.kept)
        return frame.selectExpr(*wanted)
