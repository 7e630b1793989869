"""Are probabilities right? The reliability curve with bands, scores taken apart, slope and intercept, and a test.

The curve is the isotonic regression of outcome on probability, which the ROC convex hull gives for free: the slope of
each of its sides is the odds of that stretch. With it a proper score falls into three parts (Dimitriadis, Gneiting &
Jordan 2021): score = miscalibration − discrimination + uncertainty.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..catalogue.probability import log_losses
from ..errors import InputError, look_up
from ..estimate import Estimate
from ..inference.label_chances import logistic
from ..inference.proportions import z_of
from ..kernels.backend import passes
from ..ranking import Ranking
from ..table import DictResult, Drawn, Table, columns_table, format_value
from ..types import Floats, Labels
from .costs import check_probabilities, need_both_classes
from .promises import Weighing

EPS = 1e-5  # probabilities closer to 0 or 1 are moved there before the logit
SCORES = ("brier_score", "log_loss")
PARTS = ("score", "miscalibration", "discrimination", "uncertainty")
_GRID = 201


def isotonic(pos: NDArray[Any], neg: NDArray[Any]) -> Floats:
    """The non-decreasing probability of each group (best score first) that fits the outcomes best."""
    return _Fit.of(pos, neg).at(np.cumsum(pos.astype(np.float64) + neg))


class _Fit(NamedTuple):
    """An isotonic fit by its steps: the positives and the negatives of each, and the cases taken where it ends."""

    pos: Floats
    neg: Floats
    ends: Floats

    @classmethod
    def of(cls, pos: NDArray[Any], neg: NDArray[Any]) -> _Fit:
        x, y, used = passes().hull_of_groups(pos, neg, 0 * pos[0], 0 * neg[0])
        below, above = x[:used].astype(np.float64), y[:used].astype(np.float64)
        return cls(np.diff(above), np.diff(below), (below + above)[1:])

    @property
    def probability(self) -> Floats:
        """What each step predicts."""
        return self.pos / (self.pos + self.neg)

    @property
    def scores(self) -> Floats:
        """Brier score and log loss of the fit: cases of one step have one probability."""
        return Losses.of(self.probability).mean(self.pos, self.neg)

    def at(self, taken: Floats) -> Floats:
        """The fitted probability of the last of so many cases."""
        step = np.searchsorted(self.ends, taken * (1.0 - 1e-12), side="left")
        return np.asarray(self.probability[np.minimum(step, len(self.ends) - 1)])


class Losses(NamedTuple):
    """Brier score and log loss (base 2), one row each, of a positive and of a negative with each probability."""

    of_pos: Floats
    of_neg: Floats

    @classmethod
    def of(cls, p: Floats) -> Losses:
        of_pos, of_neg = log_losses(p)
        return cls(np.stack([(1.0 - p) ** 2, of_pos]), np.stack([p**2, of_neg]))

    def mean(self, pos: Any, neg: Any) -> Floats:
        """The two scores where so many positives and negatives have each probability."""
        return np.asarray((self.of_pos @ pos + self.of_neg @ neg) / float(pos.sum() + neg.sum()))


def decompose(losses: Losses, pos: Any, neg: Any) -> Floats:
    """Score, miscalibration, discrimination, uncertainty (columns) of the Brier score and the log loss (rows)."""
    there = pos + neg > 0
    score, fitted = losses.mean(pos, neg), _Fit.of(pos[there], neg[there]).scores
    whole = np.array([pos.sum()], np.float64), np.array([neg.sum()], np.float64)
    base = Losses.of(whole[0] / (whole[0] + whole[1])).mean(*whole)
    return np.column_stack([score, score - fitted, base - fitted, base])


@dataclass(frozen=True, eq=False)
class Calibration(Drawn, DictResult):
    """How well the probabilities of a model are calibrated.

    ``parts`` splits the Brier score and the log loss into parts, each with an interval. ``slope`` and ``intercept`` are
    those of a logistic regression of the outcome on the logit of the probability (ideally 1 and 0; a slope below 1
    means that probabilities are too extreme); ``in_the_large`` is the intercept at slope 1. ``p_value`` tests that
    every probability is right, by drawing outcomes from the probabilities themselves, so it keeps its level. ``band``
    shows where the curve of a calibrated model would lie; ``confidence_band`` where the true curve may lie. ``plot``
    draws the reliability curve with its band.
    """

    picture: ClassVar[str] = "calibration"

    name: str
    score: Floats
    fitted: Floats
    cases: Floats
    parts: Table
    slope: Estimate
    intercept: Estimate
    in_the_large: Estimate
    p_value: float
    band: Table
    confidence_band: Table
    level: float
    n_simulations: int

    def __getitem__(self, name: str) -> Estimate:
        """A part by name: ``brier_score`` or ``log_loss``, a dot, and the part: ``"brier_score.miscalibration"``."""
        row = look_up({f"{row['measure']}.{row['part']}": row for row in self.parts}, name, "name")
        return Estimate(name, row["value"], row["low"], row["high"], self.level, row["method"])

    @cached_property
    def curve(self) -> Table:
        """The reliability curve: predicted probability, observed share and number of cases, for each distinct score."""
        columns = {"probability": self.score, "comes_true": self.fitted, "cases": self.cases}
        return columns_table({name: values[::-1] for name, values in columns.items()}, "Reliability")

    def to_dict(self) -> dict[str, Any]:
        """Everything but the curve."""
        of_all = (self.slope, self.intercept, self.in_the_large)
        lines = {e.name: {"value": e.value, "low": e.low, "high": e.high} for e in of_all}
        return {
            "name": self.name,
            "level": self.level,
            **lines,
            "p_value": self.p_value,
            "n_simulations": self.n_simulations,
            "parts": self.parts.to_dicts(),
            "band": self.band.to_dicts(),
        }

    @property
    def bands(self) -> Table:
        """The curve with both bands: where a calibrated model's curve would lie, and where the true curve may lie."""
        return Table(
            [
                {**band, "confidence_low": own["low"], "confidence_high": own["high"]}
                for band, own in zip(self.band, self.confidence_band, strict=True)
            ],
            "Reliability",
        )

    @property
    def lines(self) -> Table:
        """Slope and intercepts with their intervals, and their values if all probabilities are right."""
        of_all = ((self.slope, 1.0), (self.intercept, 0.0), (self.in_the_large, 0.0))
        rows = [{"": e.name, "value": e.value, "low": e.low, "high": e.high, "ideal": right} for e, right in of_all]
        return Table(rows, "Slope and intercept")

    @property
    def summary(self) -> str:
        """The result of the test, in one sentence."""
        verdict = "the probabilities are not calibrated" if self.p_value < 0.05 else "no evidence of miscalibration"
        return f"{self.name}: {verdict} (p = {self.p_value:.3g})"

    def __repr__(self) -> str:
        def said(e: Estimate) -> str:
            return f"{format_value(e.value)} [{format_value(e.low)}, {format_value(e.high)}]"

        lines = f"slope {said(self.slope)}, intercept {said(self.intercept)}, in the large {said(self.in_the_large)}"
        return "\n".join([self.summary, lines, repr(self.parts)])


def calibrate(
    sample: Any,
    ranking: Ranking,
    *,
    name: str = "model",
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    clusters: Labels | None = None,
) -> Calibration:
    """The calibration of a sample's probabilities; ``ranking`` is the sample's."""
    check_probabilities(sample, "calibration")
    need_both_classes(ranking.n_pos, ranking.n_neg, "calibration cannot be judged")
    if clusters is not None:
        said = "cannot be used with calibration, whose test and bands take the outcomes of rows to be independent"
        raise InputError("clusters", said, "leave it out")
    p = ranking.score.astype(np.float64)
    draws = _GroupDraws(ranking) if sample.weight is None else _RowDraws(sample, ranking)
    pos, neg = draws.pos, draws.neg
    fitted = isotonic(pos, neg)
    n_drawn = max(99, min(n_resamples, 999, 20_000_000 // max(1, draws.size)))
    rng = np.random.default_rng([seed, 5])
    losses = Losses.of(p)
    observed = decompose(losses, pos, neg)
    grid = _grid(p, pos + neg)
    null, null_curves = _drawn_outcomes(losses, p, draws, grid, n_drawn, rng)
    _, own_curves = _drawn_outcomes(losses, fitted, draws, grid, n_drawn, rng)
    replicates = _resampled_parts(losses, draws, n_drawn, rng)
    counted = pos.astype(np.float64), neg.astype(np.float64)
    weighing = Weighing.of(sample, ranking) or Weighing(*counted)  # rows that count alike: squares of 1
    intercept, slope, in_the_large = _logistic(p, *counted, weighing, level)
    return Calibration(
        name,
        p,
        fitted,
        (pos + neg).astype(np.float64),
        _part_rows(observed, null.mean(axis=0), replicates, level),
        slope,
        intercept,
        in_the_large,
        _p_value(null, observed),
        _band(p[grid], null_curves, fitted[grid], level, centre=p[grid]),
        _band(p[grid], own_curves, fitted[grid], level, centre=fitted[grid]),
        level,
        n_drawn,
    )


class _GroupDraws:
    """Samples like one whose rows count alike, drawn group by group: new outcomes, or its rows drawn again."""

    def __init__(self, ranking: Ranking) -> None:
        self.pos, self.neg = ranking.pos.astype(np.int64), ranking.neg.astype(np.int64)
        self.size, self._rows = len(ranking), int(ranking.rows)

    def outcomes(self, chance: Floats, rng: np.random.Generator) -> tuple[Any, Any]:
        """Positives and negatives of each group where each case is positive with the chance of its group."""
        cases = self.pos + self.neg
        pos = rng.binomial(cases, chance)
        return pos, cases - pos

    def rows(self, rng: np.random.Generator) -> tuple[Any, Any]:
        """Positives and negatives of each group where the rows are drawn again."""
        counts = rng.multinomial(self._rows, np.concatenate([self.pos, self.neg]) / self._rows)
        return counts[: self.size], counts[self.size :]


class _RowDraws:
    """The same where rows have weights, drawn row by row: a row of weight w is one draw, not w of them."""

    def __init__(self, sample: Any, ranking: Ranking) -> None:
        self.pos, self.neg = ranking.pos.astype(np.float64), ranking.neg.astype(np.float64)
        self.size = len(sample)
        self._group = ranking.group_of(sample.score)
        self._weight, self._positive = sample.weight.astype(np.float64), sample.positive

    def _sums(self, positive: NDArray[np.bool_], weight: Floats) -> tuple[Any, Any]:
        sides = (positive, ~positive)
        found = [np.bincount(self._group[side], weight[side], len(self.pos)) for side in sides]
        return found[0], found[1]

    def outcomes(self, chance: Floats, rng: np.random.Generator) -> tuple[Any, Any]:
        """Weight of the positives and negatives of each group where rows take the chance of their group."""
        return self._sums(rng.random(self.size) < chance[self._group], self._weight)

    def rows(self, rng: np.random.Generator) -> tuple[Any, Any]:
        """Weight of the positives and negatives of each group where the rows are drawn again."""
        times = np.bincount(rng.integers(0, self.size, self.size), minlength=self.size)
        return self._sums(self._positive, self._weight * times)


def calibration_test(sample: Any, ranking: Ranking, n_drawn: int, rng: np.random.Generator) -> float:
    """The p-value alone: how often outcomes drawn from the probabilities are as miscalibrated as those observed."""
    p = ranking.score.astype(np.float64)
    draws = _GroupDraws(ranking) if sample.weight is None else _RowDraws(sample, ranking)
    losses = Losses.of(p)
    null, _ = _drawn_outcomes(losses, p, draws, _grid(p, draws.pos + draws.neg), n_drawn, rng)
    return _p_value(null, decompose(losses, draws.pos, draws.neg))


def _p_value(null: Floats, observed: Floats) -> float:
    extreme = int(np.count_nonzero(null[:, 0] >= observed[0, 1] * (1 - 1e-12)))
    return (extreme + 1.0) / (len(null) + 1.0)


def _grid(p: Floats, cases: Any) -> NDArray[np.int64]:
    """Groups at which bands are drawn: evenly over the cases, the ends included."""
    if len(p) <= _GRID:
        return np.arange(len(p))
    ends = np.cumsum(cases)
    return np.unique(
        np.concatenate(
            [[0], np.searchsorted(ends, np.linspace(ends[-1] / _GRID, ends[-1] * (1.0 - 1e-12), _GRID)), [len(p) - 1]]
        )
    )


def _drawn_outcomes(
    losses: Losses, chance: Floats, draws: Any, grid: NDArray[np.int64], n_drawn: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Miscalibrations and curve at the grid of samples whose outcomes are drawn with the given chances."""
    found, curves = np.empty((n_drawn, len(SCORES))), np.empty((n_drawn, len(grid)))
    chance = np.clip(chance, 0.0, 1.0)
    taken = np.cumsum(draws.pos + draws.neg, dtype=np.float64)[grid]
    for k in range(n_drawn):
        pos, neg = draws.outcomes(chance, rng)
        fit = _Fit.of(pos, neg)
        found[k] = losses.mean(pos, neg) - fit.scores
        curves[k] = fit.at(taken)
    return found, curves


def _resampled_parts(losses: Losses, draws: Any, n_drawn: int, rng: np.random.Generator) -> Floats:
    """The parts in replicates of the rows: replicate × measure × part."""
    out = np.full((n_drawn, len(SCORES), len(PARTS)), np.nan)
    for k in range(n_drawn):
        a, b = draws.rows(rng)
        if a.any() and b.any():
            out[k] = decompose(losses, a, b)
    return out


def _part_rows(observed: Floats, overfit: Floats, replicates: Floats, level: float) -> Table:
    """Each part with its interval, from the spread of replicates.

    An isotonic fit overfits: miscalibration and discrimination look larger than they are, by about as much as the
    miscalibration of outcomes drawn from the probabilities themselves, which have none. That is taken out.
    """
    rows = []
    z = z_of(level)
    for m, measure in enumerate(SCORES):
        for k, part in enumerate(PARTS):
            drawn = replicates[:, m, k]
            drawn = drawn[~np.isnan(drawn)]
            value = float(observed[m, k])
            error = float(drawn.std(ddof=1)) if len(drawn) > 1 else math.nan
            if part in ("miscalibration", "discrimination"):
                value = max(0.0, value - float(overfit[m]))
                method = "bootstrap, overfit removed"
            else:
                method = "bootstrap"
            rows.append(
                {
                    "measure": measure,
                    "part": part,
                    "value": value,
                    "low": max(0.0, value - z * error),
                    "high": value + z * error,
                    "on_sample": float(observed[m, k]),
                    "method": method,
                }
            )
    return Table(rows, "Parts of the losses: score = miscalibration − discrimination + uncertainty")


def _band(x: Floats, curves: Floats, at: Floats, level: float, *, centre: Floats) -> Table:
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(curves, [tail, 1.0 - tail], axis=0)
    ends = {"low": np.minimum(centre, low), "high": np.maximum(centre, high)}
    columns = {"probability": x, "comes_true": at, **ends}
    return columns_table({name: values[::-1] for name, values in columns.items()}, "Band")


def _logit(p: Floats) -> Floats:
    clipped = np.clip(p, EPS, 1.0 - EPS)
    return np.asarray(np.log(clipped) - np.log1p(-clipped))


def _logistic(p: Floats, pos: Floats, neg: Floats, weighing: Weighing, level: float) -> list[Estimate]:
    """Intercept and slope of the outcome on the logit of the probability, and the intercept at slope 1."""
    x = _logit(p)
    none, start = np.zeros_like(x), np.array([math.log(pos.sum() / neg.sum()), 0.0])
    line = np.column_stack([np.ones_like(x), x])
    in_the_large = _fit(line[:, :1], x, np.zeros(1), pos, neg, weighing, level, ("in_the_large",))
    reason = _why_no_slope(x, pos, neg)
    names = ("intercept", "slope")
    return [
        *(
            [Estimate(name, math.nan, reason=reason) for name in names]
            if reason
            else _fit(line, none, start, pos, neg, weighing, level, names)
        ),
        *in_the_large,
    ]


def _fit(
    design: Floats,
    offset: Floats,
    beta: Floats,
    pos: Floats,
    neg: Floats,
    weighing: Weighing,
    level: float,
    names: tuple[str, ...],
) -> list[Estimate]:
    """Coefficients of a logistic regression by maximum likelihood, with Wald intervals.

    A step of Newton's method moves no log odds by more than 5 and is halved while the likelihood falls: whole steps
    run away where probabilities are far too extreme.

    The variance is the larger of two. The inverse information A⁻¹ is right only if the line is true, and at slope 1 it
    is not where probabilities are miscalibrated (73.8 % of 95 % intervals covered). The sandwich A⁻¹BA⁻¹ (White 1982)
    is near 0 where the sample has shown none of the rare errors that the probabilities predict.
    """
    total = float((pos + neg).sum())
    pos, neg, converged = pos / total, neg / total, False  # shares, so that one tolerance suits every weight

    def log_likelihood(beta: Floats) -> float:
        odds = offset + design @ beta
        return -float(pos @ np.logaddexp(0.0, -odds) + neg @ np.logaddexp(0.0, odds))

    reached = log_likelihood(beta)
    for _ in range(100):
        q = logistic(offset + design @ beta)
        information = (design * ((pos + neg) * q * (1.0 - q))[:, None]).T @ design
        gradient = design.T @ (pos * (1.0 - q) - neg * q)
        try:
            step = np.linalg.solve(information, gradient)
        except np.linalg.LinAlgError:
            break
        converged = float(gradient @ step) < 1e-14  # twice what is still to gain; rounding hides less than that
        if converged:
            beta = beta + step
            break
        step = step * min(1.0, 5.0 / float(np.abs(design @ step).max()))
        for _ in range(60):
            gained = log_likelihood(beta + step)
            if gained >= reached:
                break
            step = step / 2.0
        beta, reached = beta + step, gained
    if not converged:
        return [Estimate(name, math.nan, reason="the logistic regression does not converge") for name in names]
    inverse = np.linalg.inv(information)
    seen = weighing.pos * (1.0 - q) ** 2 + weighing.neg * q**2
    expected = (weighing.pos + weighing.neg) * q * (1.0 - q)
    errors = (
        np.sqrt(
            np.max([np.diag(inverse @ (design * b[:, None]).T @ design @ inverse) for b in (seen, expected)], axis=0)
        )
        / total
    )
    z = z_of(level)
    return [
        Estimate(name, float(b), float(b - z * e), float(b + z * e), level, "wald")
        for name, b, e in zip(names, beta, errors, strict=True)
    ]


def _why_no_slope(x: Floats, pos: Any, neg: Any) -> str:
    """Why a logistic regression has no finite slope; empty where it has. Scores come best first."""
    if np.ptp(x) == 0:
        return "all probabilities are equal"
    of_pos, of_neg = x[pos > 0], x[neg > 0]
    if of_pos.min() >= of_neg.max() or of_neg.min() >= of_pos.max():
        return "the probabilities separate the classes, so the slope is infinite"
    return ""
