"""The types in signatures: what users may pass. Each is declared once, here."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes

    from .catalogue.declare import Measure, Spec
    from .partition import Partition
    from .quotas import Quotas
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

# Names of interval methods stand here and nowhere else: those that may be asked for, and those that declarations name.
ProportionName: TypeAlias = Literal["wald", "wilson", "clopper_pearson", "agresti_coull", "jeffreys"]
"""Intervals of a share of cases."""

AucName: TypeAlias = Literal["delong", "delong_logit"]
"""Intervals of an area under the ROC curve."""

ReplicateName: TypeAlias = Literal["percentile", "basic", "bca"]
"""Intervals from replicates of the sample."""

IntervalName: TypeAlias = Literal["auto", "bootstrap", ProportionName, AucName, ReplicateName]
"""How intervals are made."""

ClassIntervalName: TypeAlias = Literal["auto", "delta", "bootstrap", ProportionName, ReplicateName]
"""How intervals of measures of several classes are made."""

IntervalMethod: TypeAlias = Literal[
    "wilson", "wilson_f", "newcombe_difference", "ratio_of_rates", "delta_z", "delong_t", "delong_total", "hull",
    "best_cut", "loss_score", "information", "moving_cut", "moving_cut_recall", "precision_area",
    "qrecall_area", "partial_area", "places", "mean_score", "percentile", "scaled", "hall", "wilson_effective",
    "delta_logit", "delta_log", "delta",
]  # fmt: skip
"""How the default interval of a measure is made; ``inference`` has the functions. The last four are of classes."""

Better: TypeAlias = Literal["higher", "lower"]
"""Which values of a measure are better."""

CutBy: TypeAlias = Literal["score", "value", "value_per_cost"]
"""What the list of a measure of worth is sorted by."""

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

SegmentLike: TypeAlias = "Labels | Mapping[str, Labels] | HasColumns | Partition"
"""The segment of each row: a column of any values; a frame or a mapping with several columns, to cross them."""
