"""Another share of positives than the sample's: what measures would be where positives are that frequent.

Positives count π/π̂ and negatives (1 − π)/(1 − π̂), with π̂ the sample's own share: cases add up to as many as before,
and a quota is cut in the list so weighted. What scores say of positives and of negatives is taken to stay as it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..catalogue.compute import compute
from ..catalogue.declare import Spec
from ..errors import InputError, show
from ..estimate import Estimate, Interval
from ..ranking import Ranking
from ..validate import check_number
from .evidence import Rows
from .proportions import z_of


@dataclass(frozen=True)
class Prevalence:
    """A share of positives, and its standard error where it is not known exactly."""

    value: float
    standard_error: float = 0.0

    def limits(self, level: float) -> Interval:
        """Interval on the logit scale; without a standard error the value itself."""
        odds, half = math.log(self.value / (1.0 - self.value)), z_of(level) * self.standard_error
        half /= self.value * (1.0 - self.value)
        return Interval(*(1.0 / (1.0 + math.exp(-min(max(odds + s * half, -700.0), 700.0))) for s in (-1.0, 1.0)))

    def __str__(self) -> str:
        said = f"{100.0 * self.value:.4g} %"
        return f"{said} ± {100.0 * self.standard_error:.2g} %" if self.standard_error else said


def as_prevalence(value: Any, name: str = "prevalence") -> Prevalence:
    """A share strictly between 0 and 1, alone or with its standard error.

    >>> as_prevalence(0.002), as_prevalence((0.002, 0.0005)).standard_error
    (Prevalence(value=0.002, standard_error=0.0), 0.0005)
    """
    if isinstance(value, Prevalence):
        return value
    error: Any = 0.0
    if isinstance(value, tuple | list) or (isinstance(value, np.ndarray) and value.ndim):
        if len(value) != 2:
            raise InputError(name, f"is {show(value)}", "pass a share, or a pair of a share and its standard error")
        value, error = value
    share = check_number(value, name, 0.0, 1.0, open_ends=True)
    error = check_number(error, name, 0.0)
    if error >= 0.5:
        raise InputError(name, f"has a standard error of {error:g}", "pass the standard error of a share")
    return Prevalence(share, error)


def class_factors(n_pos: float, n_neg: float, share: float) -> tuple[float, float]:
    """By what positives and negatives are multiplied so that positives are a share of as many cases."""
    if not n_pos or not n_neg:
        missing = "positive" if not n_pos else "negative"
        raise InputError("prevalence", f"needs cases of both classes, and there are no {missing} ones", "leave it out")
    cases = n_pos + n_neg
    return share * cases / n_pos, (1.0 - share) * cases / n_neg


def reweighted_ranking(ranking: Ranking, share: float) -> Ranking:
    """The list with another share of positives."""
    up, down = class_factors(ranking.n_pos, ranking.n_neg, share)
    return replace(ranking, pos=ranking.pos * up, neg=ranking.neg * down, weighted=True)


def at_prevalence(rows: Rows, share: float) -> Rows:
    """The rows with another share of positives, the sizes of the classes being given."""
    if rows.clusters is not None:
        said = "cannot be combined with {clusters}: clusters hold cases of both classes"
        raise InputError("prevalence", said, "leave one of them out")
    sample = rows.sample
    up, down = class_factors(rows.ranking.n_pos, rows.ranking.n_neg, share)
    weight = np.where(sample.positive, up, down) * (1.0 if sample.weight is None else sample.weight)
    ranking = reweighted_ranking(rows.ranking, share)
    return replace(rows, kept=replace(sample, weight=weight), ranking=ranking, classes_given=True)


def moves(spec: Spec) -> bool:
    """Whether a measure depends on the share of positives: it does if it changes on a list with another share."""
    at = {"threshold": 0.5} if spec.measure.needs_threshold else {"quota": 0.3} if spec.measure.needs_quota else {}
    return _moves(replace(spec, ties="expected", **at))  # type: ignore[arg-type]


@lru_cache(maxsize=512)
def _moves(spec: Spec) -> bool:
    rng = np.random.default_rng(0)
    score = np.sort(rng.choice(np.arange(1, 100), 40, replace=False))[::-1] / 100.0
    pos = rng.integers(1, 5, 40) * score
    list_ = Ranking(score, pos, rng.integers(1, 5, 40) * (1.0 - score), 160, True)
    one, *others = (compute([spec], reweighted_ranking(list_, share)).values[spec] for share in (0.5, 0.2, 0.05))
    return any(not abs(other - one) <= 1e-9 * max(1.0, abs(one)) for other in others)


@dataclass(frozen=True, eq=False)
class AtPrevalence:
    """An evaluation for another share of positives: the measures that it moves, and the rows as they were sampled.

    ``ends`` are the values at the limits of the prevalence, where it has a standard error.
    """

    prevalence: Prevalence
    moved: frozenset[str]
    sampled: Rows
    ends: Mapping[str, tuple[float, float]]

    @classmethod
    def of(cls, prevalence: Prevalence, specs: Sequence[Spec], sampled: Rows, level: float) -> AtPrevalence:
        """What moves among some measures, and how far."""
        moved = [spec for spec in specs if moves(spec)]
        ends: dict[str, tuple[float, float]] = {}
        if prevalence.standard_error:
            low, high = (
                compute(moved, reweighted_ranking(sampled.ranking, share)).values for share in prevalence.limits(level)
            )
            ends = {str(spec): (low[spec], high[spec]) for spec in moved}
        return cls(prevalence, frozenset(map(str, moved)), sampled, ends)

    def widened(self, found: Estimate) -> Estimate:
        """The interval with the error of the prevalence in it: the distances to both limits are squared and added."""
        if found.name not in self.ends or found.low != found.low:
            return found
        low, high = widened_limits(found.value, found.interval, self.ends[found.name])
        return replace(found, low=low, high=high)


def widened_limits(value: float, limits: Interval, ends: tuple[float, float]) -> Interval:
    """Limits that also hold the values at both ends of something else that is not known exactly."""
    known = [end for end in ends if end == end]
    down, up = max(value - min([value, *known]), 0.0), max(max([value, *known]) - value, 0.0)
    return Interval(value - math.hypot(value - limits.low, down), value + math.hypot(limits.high - value, up))
