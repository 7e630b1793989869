"""Answer only where the model is confident: risk against coverage, and a confidence that keeps an accuracy."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..catalogue.class_compute import ClassTotals
from ..errors import InputError
from ..estimate import Estimate
from ..inference.proportions import wilson_shares
from ..table import Drawn, Table, TabularResult, columns_table, format_value
from ..types import Floats
from ..validate import check_number, checked

_FEW_ERRORS = 3
_STARTS = 5  # places of the list from which tests go on until one fails
_STEPS = 200  # cuts that are tested from a start to the end of the list


@dataclass(frozen=True, eq=False)
class RiskCoverage(Drawn, TabularResult):
    """Error rate of the answers, by the share of cases answered, the most confident first.

    One entry for each distinct confidence: all cases at least as confident are answered. ``low`` and ``high`` are
    intervals at each coverage, not a band for the whole curve. ``area`` is the mean of the error rate over all numbers
    of cases answered. ``plot`` draws the curve with its band.
    """

    picture: ClassVar[str] = "risk_coverage"

    coverage: Floats
    risk: Floats
    low: Floats
    high: Floats
    confidence: Floats
    area: Estimate
    level: float

    def __len__(self) -> int:
        return len(self.coverage)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.to_dicts())

    def at(self, coverage: float) -> dict[str, Any]:
        """The point with the smallest coverage that is at least the given one."""
        check_number(coverage, "coverage", 0.0, 1.0)
        at = min(int(np.searchsorted(self.coverage, coverage - 1e-12)), len(self) - 1)
        return {name: float(value) for name, value in self._columns(at).items()}

    def _columns(self, at: Any) -> dict[str, Any]:
        return {name: getattr(self, name)[at] for name in ("coverage", "risk", "low", "high", "confidence")}

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each distinct confidence."""
        return columns_table(self._columns(slice(None))).to_dicts()

    @checked
    def thinned(self, points: int = 200) -> RiskCoverage:
        """At most this many points, evenly spread over the coverage."""
        if len(self) <= points:
            return self
        at = np.unique(np.searchsorted(self.coverage, np.linspace(self.coverage[0], 1.0, points) - 1e-12))
        return replace(self, **self._columns(np.minimum(at, len(self) - 1)))

    def __repr__(self) -> str:
        rows = [self.at(share) for share in (0.2, 0.4, 0.6, 0.8, 1.0)]
        title = f"Error rate by coverage; area {format_value(self.area.value)}"
        return repr(Table(rows, title))


def risk_coverage(totals: ClassTotals, area: Estimate, level: float) -> RiskCoverage:
    """The curve of a sample; the band is Wilson's at each coverage, with a Poisson lower end for up to three errors."""
    from scipy.special import gammaincinv

    sample, ranked = totals.sample, totals.confidence_order
    weight = sample.row_weight[ranked.order]
    wrong = np.where(sample.right[ranked.order], 0.0, weight)
    ends = np.flatnonzero(~ranked.tie)
    answered, errors = np.cumsum(weight)[ends], np.cumsum(wrong)[ends]
    trials = answered**2 / np.cumsum(weight**2)[ends]
    if sample.cluster is not None:
        trials = trials / _design(totals)
    risk = errors / answered
    low, high = wilson_shares(risk, trials, level)
    low = np.where(errors > 0, low, 0.0)
    few = risk * trials <= _FEW_ERRORS  # where Wilson's lower end is too sure (Brown, Cai & DasGupta 2001)
    low[few] = np.minimum(low[few], gammaincinv(np.maximum(risk * trials, 1e-9)[few], 1.0 - level) / trials[few])
    high = np.where(errors < answered, high, 1.0)
    confidence = totals.sample.confidence[ranked.order][ends]
    return RiskCoverage(answered / answered[-1], risk, low, high, confidence, area, level)


def _design(totals: ClassTotals) -> float:
    """How many times larger the variance of the accuracy is because rows belong together."""
    from ..inference.class_influence import by_unit, variance_of

    sample = totals.sample
    weight = sample.row_weight
    parts = weight * (sample.right - np.average(sample.right, weights=weight)) / weight.sum()
    alone = variance_of(parts)
    return max(1.0, variance_of(by_unit(parts, sample.cluster)) / alone) if alone > 0 else 1.0


@dataclass(frozen=True)
class Abstention:
    """Answer only if the model's confidence is at least ``threshold``: results on this sample, and what holds on new
    cases.

    With probability ``confidence`` over samples like this one, the accuracy among new answers is at least ``accuracy``.
    ``threshold`` is ``None`` if no cut achieves that.
    """

    accuracy: float
    confidence: float
    threshold: float | None
    coverage: float
    observed: float
    answered: int
    errors: int

    @cached_property
    def sentence(self) -> str:
        """What was found, in one sentence."""
        if self.threshold is None:
            return (
                f"no cut guarantees that {self.accuracy:.1%} of the answers are right (with {self.confidence:.0%} "
                "confidence); ask for less, or collect more cases"
            )
        return (
            f"answer if the model's confidence is at least {self.threshold:.4g}: {self.coverage:.1%} of the cases; "
            f"{self.observed:.1%} of these answers are right, and at least {self.accuracy:.1%} of new ones "
            f"(with {self.confidence:.0%} confidence)"
        )

    def to_dict(self) -> dict[str, Any]:
        """The cut, its results on this sample, what holds on new cases, and the summary sentence."""
        return {**asdict(self), "sentence": self.sentence}

    def __repr__(self) -> str:
        return f"Abstention({self.sentence})"


def abstain(totals: ClassTotals, accuracy: float, confidence: float) -> Abstention:
    """The largest coverage whose accuracy is kept on new cases with a stated confidence.

    Each cut is tested by the exact binomial test that the accuracy above it is no more than ``accuracy``. Tests run
    down the list from five starting points, each until one fails, with a fifth of the error probability each
    (fixed-sequence testing; Angelopoulos et al. 2021, "Learn then test"): the promise holds for whichever cut is taken.
    """
    from scipy.special import bdtrc

    sample = totals.sample
    if sample.weight is not None or sample.cluster is not None:
        raise InputError(
            "accuracy",
            "is promised for independent cases that count alike, but these are weighted or clustered",
            "leave {sample_weight} and {clusters} out, or read risk_coverage()",
        )
    ranked = totals.confidence_order
    right = np.cumsum(sample.right[ranked.order])
    ends = np.flatnonzero(~ranked.tie)
    answered, hits = ends + 1, right[ends]
    n, risk = len(sample), (1.0 - confidence) / _STARTS
    fewest = math.ceil(math.log(risk) / math.log(accuracy)) if accuracy < 1.0 else n + 1
    best = -1
    for start in np.unique(np.geomspace(min(fewest, n), n, _STARTS, endpoint=False).astype(int)):
        for wanted in np.linspace(start, n, _STEPS).astype(int):
            at = int(np.searchsorted(answered, wanted))
            p = float(bdtrc(hits[at] - 1, answered[at], accuracy)) if hits[at] > 0 else 1.0  # P(X ≥ hits)
            if p > risk:
                break
            best = max(best, at)
    if best < 0:
        return Abstention(accuracy, confidence, None, 0.0, math.nan, 0, 0)
    count, good = int(answered[best]), int(hits[best])
    threshold = float(totals.sample.confidence[ranked.order[ends[best]]])
    return Abstention(accuracy, confidence, threshold, count / n, good / count, count, count - good)
