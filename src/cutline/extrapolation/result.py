"""The answer: accuracy at any number of classes, with its interval, its range over methods and its caveats."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..estimate import Estimate, Interval
from ..table import TabularResult
from .backtest import BacktestRow
from .favorability import Favorability, largest_k_where
from .interval import accuracy_interval
from .moments import Floats
from .observed import Observed

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Extrapolation(TabularResult):
    """What the observed task says about larger ones.

    Attributes
    ----------
    observed
        Average test accuracy at ``k = 2 … k1`` (an :class:`Observed`).
    method, favorability
        Name of the method, and the distribution D̄ it fitted.
    fits
        Every method's distribution by name; ``weights`` those that make up a blend.
    backtest
        How every method did in predicting the observed task from parts of it; empty unless `auto`.
    notes
        What to keep in mind, in sentences.
    """

    n_classes: int
    n_cases: int
    observed: Observed
    method: str
    favorability: Favorability
    fits: Mapping[str, Favorability]
    weights: Mapping[str, float]
    backtest: tuple[BacktestRow, ...] = ()
    replicates: Sequence[Favorability] = field(default=(), repr=False)
    k: tuple[int, ...] = ()
    level: float = 0.95
    general_notes: tuple[str, ...] = ()
    n_tested: int = 0

    def accuracy(self, k: int, *, top: int = 1) -> Estimate:
        """Expected accuracy among ``k`` classes; with ``top=t``, the chance that the right one is among the first t.

        Up to the ``k1`` classes that were tested this is what was observed: the mean over all tasks of ``k`` of them,
        which needs no model. Beyond, it is the fitted curve, led over from there (see :meth:`predict`). With ``top``
        above 1 the fitted curve is read throughout.
        """
        _check_k(k)
        if top == 1 and k in self.observed:
            return self.observed[k]
        name = f"accuracy@{k}" if top == 1 else f"top{top}_accuracy@{k}"
        value = float(self.predict(k)[0]) if top == 1 else self._read(self.favorability, k, top)
        low, high, method = self._interval(k, top, value)
        if not method:
            return Estimate(name, value)
        return Estimate(name, value, low, high, self.level, method)

    def predict(self, k: ArrayLike) -> Floats:
        """Expected accuracy at one or many numbers of classes, without intervals.

        Up to ``k1`` the observed curve. Beyond it the fitted one, which need not begin where the observed one ends: a
        smooth fit trades a little bias for less scatter. Where it begins lower, the gap is added, and shrinks as
        ``(k1/k)²``; where it begins higher, the curve stays at the last observed value until the fit has come down to
        it. So the whole curve falls, without a jump, and far out it is the fit.
        """
        kk = np.atleast_1d(np.asarray(k, dtype=np.float64))
        last, seen = float(self.n_classes), self.observed
        fitted = self.favorability.accuracy(np.append(np.maximum(kk, last), last))
        gap = seen.test_accuracy - fitted[-1]
        led = fitted[:-1] + gap * (last / np.maximum(kk, last)) ** 2 if gap > 0 else fitted[:-1]
        known = np.interp(np.log(np.maximum(kk, 1.0)), np.log(np.append(1.0, seen.k)), np.append(1.0, seen.accuracy))
        return np.where(kk <= last, known, np.clip(led, 0.0, seen.test_accuracy))

    @staticmethod
    def _read(fit: Favorability, k: float, top: int) -> float:
        if k <= top:
            return 1.0
        value = float(fit.accuracy(k)[0] if top == 1 else fit.top_t_accuracy(top, k)[0])
        # Only the literal spline leaves [0, 1]; a note says so when it does.
        return min(max(value, 0.0), 1.0)

    def _interval(self, k: float, top: int, value: float) -> tuple[float, float, str]:
        if k == 1 or not self.replicates:
            return (1.0, 1.0, "one class") if k == 1 and self.replicates else (math.nan, math.nan, "")
        drawn = np.array([self._read(fit, k, top) for fit in self.replicates])
        members = np.array([self._read(self.fits[name], k, top) for name in self.weights])
        low, high = accuracy_interval(value, drawn, members, np.array(list(self.weights.values())), self.level)
        if self.observed.test_accuracy >= 1.0:
            low = min(low, self._without_errors(k))
        return low, high, "class bootstrap"

    def _without_errors(self, k: float) -> float:
        """A lower limit where no error was seen: exact at ``k1``, then ``E[U^(k−1)] ≥ E[U^(k1−1)]^((k−1)/(k1−1))``."""
        at_k1 = ((1.0 - self.level) / 2.0) ** (1.0 / max(self.n_tested, 1))
        return float(at_k1 ** max((k - 1.0) / (self.n_classes - 1.0), 1.0))

    def curve(self, k: ArrayLike) -> dict[str, Floats]:
        """The same with intervals: arrays ``k``, ``accuracy``, ``low``, ``high``."""
        kk = np.atleast_1d(np.asarray(k, dtype=np.float64))
        value = self.predict(kk)
        ends = np.array([self._ends(classes) for classes in kk.tolist()]).reshape(-1, 2)
        return {"k": kk, "accuracy": value, "low": ends[:, 0], "high": ends[:, 1]}

    def _ends(self, k: float) -> tuple[float, float]:
        if k in self.observed:
            return self.observed[int(k)].interval
        low, high, _ = self._interval(k, 1, float(self.predict(k)[0]))
        return low, high

    def by_method(self, k: int) -> dict[str, float]:
        """Every method's own answer at ``k``, by name, as it fitted its curve."""
        _check_k(k)
        return {name: self._read(fit, k, 1) for name, fit in self.fits.items()}

    def range_over_methods(self, k: int) -> Interval:
        """Smallest and largest of the own answers of the methods that the back-test did not refute."""
        values = [self._read(self.fits[name], k, 1) for name in self.weights]
        if len(self.weights) <= 1:
            values = list(self.by_method(k).values())
        return Interval(min(values), max(values))

    def reversed_roc(self, points: int = 201) -> tuple[Floats, Floats]:
        """Share of competitors above a threshold (x) against share of right classes above it (y)."""
        return self.favorability.reversed_roc(points)

    @property
    def reversed_roc_area(self) -> float:
        """Area under the reversed ROC curve, which is the accuracy between two classes."""
        return self.favorability.reversed_roc_area

    def classes_until(self, accuracy: float) -> Estimate:
        """The largest number of classes at which ``accuracy`` is still reached; inf where it never falls below."""
        if not 0.0 < accuracy <= 1.0:
            raise InputError(f"accuracy: {accuracy:g} is no share above 0; give a number in (0, 1]")
        name = f"classes_until({accuracy:g})"
        value = largest_k_where(lambda k: float(self.predict(k)[0]) >= accuracy)
        if not self.replicates:
            return Estimate(name, value)
        low, high = (self._crossing(accuracy, side) for side in (0, 1))
        return Estimate(name, value, low, high, self.level, "class bootstrap")

    def _crossing(self, accuracy: float, side: int) -> float:
        """Where the interval's lower (0) or upper (1) curve falls below an accuracy, to a thousandth."""
        return largest_k_where(lambda k: self._ends(k)[side] >= accuracy, far=1e15, precision=1e-3)

    @cached_property
    def estimates(self) -> dict[int, Estimate]:
        """The numbers of classes that were asked for."""
        return {k: self.accuracy(k) for k in self.k}

    @property
    def notes(self) -> tuple[str, ...]:
        """Caveats, those about the asked numbers of classes included."""
        return self.general_notes + self.notes_for(*self.k)

    def notes_for(self, *k: int) -> tuple[str, ...]:
        """Caveats about particular numbers of classes."""
        found = []
        far = [classes for classes in k if classes > 10 * self.n_classes]
        if far:
            found.append(
                f"{max(far):,} classes are {max(far) / self.n_classes:,.0f} times the {self.n_classes:,} seen: beyond "
                "ten times the answer rests on the method's shape more than on data; compare the range over methods."
            )
        outside = [classes for classes in k if not 0.0 <= float(self.favorability.accuracy(classes)[0]) <= 1.0]
        if outside:
            found.append(
                f"The fit leaves [0, 1] at {outside[0]:,} classes (D̄(1) = {1.0 - self.favorability.ceiling:.3g}); "
                "the value was cut off there. 'mixture' is the same model with the missing constraint."
            )
        return tuple(found)

    def plot(self, ax: Axes | None = None, *, until: int | None = None) -> Axes:
        """Observed and extrapolated accuracy against the number of classes (matplotlib)."""
        from ..present.plots import plot

        axes: Axes = plot(self, "extrapolation", ax=ax, until=until)
        return axes

    def to_dicts(self) -> list[dict[str, Any]]:
        """One row per asked number of classes."""
        rows = []
        for k, estimate in self.estimates.items():
            reach = self.range_over_methods(k)
            rows.append(
                {
                    "classes": k,
                    "accuracy": estimate.value,
                    "low": estimate.low,
                    "high": estimate.high,
                    "level": self.level,
                    "interval": estimate.method,
                    "methods_low": reach.low,
                    "methods_high": reach.high,
                    "method": self.method,
                }
            )
        return rows

    def to_json(self) -> str:
        """Everything a program needs: rows, observed task, methods, back-test, notes; nan and inf become null."""
        from .describe import as_document

        return json.dumps(as_document(self), allow_nan=False)

    def __repr__(self) -> str:
        from .describe import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from ..present.notebook import extrapolation_html
        from .describe import seen

        return extrapolation_html(self, seen(self))


def _check_k(k: float) -> None:
    if not k >= 1 or not math.isfinite(k):
        raise InputError(f"k: {k} classes make no task; give a whole number of 1 or more")
