"""The types in signatures: what users may pass. Each is declared once, here."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes

    from .catalogue.classes import ClassMeasure, ClassSpec
    from .catalogue.declare import Measure, Spec
    from .quotas import Quotas
    from .sources.levels import Levels
else:
    Axes = Any

Floats: TypeAlias = NDArray[np.float64]
"""An array of floats."""

Label: TypeAlias = Hashable
"""One label: a bool, a number, a text, a date or any other value that has a hash."""

Labels: TypeAlias = ArrayLike | Sequence[Hashable]
"""A column of labels: a list, a NumPy array, a pandas or polars Series, an Arrow array."""

Scores: TypeAlias = ArrayLike
"""A column of numbers: a list, a NumPy array, a pandas or polars Series, an Arrow array."""

ScoreMatrix: TypeAlias = ArrayLike
"""A table of numbers: nested lists, a two-dimensional array, a pandas or polars frame."""

Quota: TypeAlias = int | float
"""A number of cases (int), or a share of them strictly between 0 and 1 (float)."""

QuotaLike: TypeAlias = "Quota | range | str | tuple[Quota, Quota] | Mapping[Quota, float] | Quotas"
"""A quota; or one not known yet: a range, a text such as ``'20-60'``, a mapping from quota to probability."""

MeasureLike: TypeAlias = "str | Spec | Measure | Callable[..., float]"
"""A measure: a measure string such as ``'qrecall@5%'``, its declaration, or its function."""

ClassMeasureLike: TypeAlias = "str | ClassSpec | ClassMeasure"
"""A measure of several classes: a measure string such as ``'macro(f1)'``, or its declaration."""

IntervalName: TypeAlias = Literal[
    "auto", "bootstrap", "wald", "wilson", "clopper_pearson", "agresti_coull", "jeffreys", "delong", "delong_logit",
    "percentile", "basic", "bca",
]  # fmt: skip
"""How intervals are made."""

ClassIntervalName: TypeAlias = Literal[
    "auto", "delta", "bootstrap", "wald", "wilson", "clopper_pearson", "agresti_coull", "jeffreys", "percentile",
    "basic", "bca",
]  # fmt: skip
"""How intervals of measures of several classes are made."""

Better: TypeAlias = Literal["higher", "lower"]
"""Which values of a measure are better."""

Missing: TypeAlias = Literal["error", "drop"]
"""What to do with rows that lack a value."""

FilePath: TypeAlias = str | os.PathLike[str]
"""A path."""


class Estimator(Protocol):
    """A classifier that can be fitted; it also has ``predict_proba``, ``decision_function`` or ``predict``."""

    def fit(self, X: Any, y: Any, /) -> Any:
        """Fit to features and labels."""


class HasColumns(Protocol):
    """A table that names its columns: a pandas, polars or Spark frame, a DuckDB relation."""

    @property
    def columns(self) -> Any:
        """The names of the columns."""


class ArrowStream(Protocol):
    """A table that hands out Arrow batches: an Arrow table, a polars frame, a DuckDB relation."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A stream of batches, by Arrow's C interface."""


class Connection(Protocol):
    """A database connection that runs queries: DuckDB's."""

    def sql(self, query: str, /) -> Any:
        """Run a query."""


Frame: TypeAlias = HasColumns | ArrowStream
"""A pandas, polars, Arrow or Spark table."""

TableSource: TypeAlias = FilePath | Mapping[str, ArrayLike] | Frame | Connection
"""Where a table comes from: a path or pattern, columns by name, a frame, a relation, or a connection with a query."""

SegmentLike: TypeAlias = "Labels | Mapping[str, Labels] | HasColumns | Levels"
"""The segment of each row: a column of any values; a frame or a mapping with several columns, to cross them."""
