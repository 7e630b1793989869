"""Are probabilities right? The reliability curve with bands, scores taken apart, slope and intercept, and a test.

The curve is the isotonic regression of outcome on probability, which the ROC convex hull gives for free: the slope of
each of its sides is the odds of that stretch. With it a proper score falls into three parts (Dimitriadis, Gneiting &
Jordan 2021): score = miscalibration − discrimination + uncertainty.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..catalogue.probability import log_losses
from ..errors import InputError, look_up
from ..estimate import Estimate
from ..inference.known_labels import logistic
from ..inference.limits import z_of
from ..kernels import compiled
from ..ranking import Ranking
from ..table import DictResult, Drawn, Figure, HasSections, Section, Table, columns_table, format_value
from ..types import Floats, Labels
from .error_costs import check_probabilities, need_both_classes
from .thresholds import Weighing

EPS = 1e-5  # probabilities closer to 0 or 1 are moved there before the logit, as for the log loss
SCORES = ("brier_score", "log_loss")
PARTS = ("score", "miscalibration", "discrimination", "uncertainty")
_GRID = 201  # places of the bands: every half percent of the cases


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
        x, y, used = compiled.hull_of_groups(pos, neg, 0 * pos[0], 0 * neg[0])
        below, above = x[:used].astype(np.float64), y[:used].astype(np.float64)
        return cls(np.diff(above), np.diff(below), (below + above)[1:])

    @property
    def probability(self) -> Floats:
        """What each step predicts."""
        return self.pos / (self.pos + self.neg)

    @property
    def scores(self) -> Floats:
        """Brier score and log loss of the fit: cases of one step have one probability."""
        return ProperLosses.of(self.probability).mean(self.pos, self.neg)

    def at(self, taken: Floats) -> Floats:
        """The fitted probability of the last of so many cases."""
        step = np.searchsorted(self.ends, taken * (1.0 - 1e-12), side="left")
        return np.asarray(self.probability[np.minimum(step, len(self.ends) - 1)])


class ProperLosses(NamedTuple):
    """Brier score and log loss (base 2), one row each, of a positive and of a negative with each probability."""

    of_pos: Floats
    of_neg: Floats

    @classmethod
    def of(cls, p: Floats) -> ProperLosses:
        of_pos, of_neg = log_losses(p)
        return cls(np.stack([(1.0 - p) ** 2, of_pos]), np.stack([p**2, of_neg]))

    def mean(self, pos: Any, neg: Any) -> Floats:
        """The two scores where so many positives and negatives have each probability."""
        return np.asarray((self.of_pos @ pos + self.of_neg @ neg) / float(pos.sum() + neg.sum()))


def decompose(losses: ProperLosses, pos: Any, neg: Any) -> Floats:
    """Score, miscalibration, discrimination, uncertainty (columns) of the Brier score and the log loss (rows)."""
    there = pos + neg > 0
    score, fitted = losses.mean(pos, neg), _Fit.of(pos[there], neg[there]).scores
    whole = np.array([pos.sum()], np.float64), np.array([neg.sum()], np.float64)
    base = ProperLosses.of(whole[0] / (whole[0] + whole[1])).mean(*whole)
    return np.column_stack([score, score - fitted, base - fitted, base])


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(HasSections, Drawn, DictResult):
    """How well the probabilities of a model are calibrated.

    ``parts`` splits the Brier score and the log loss into parts, each with an interval. ``slope`` and ``intercept`` are
    those of a logistic regression of the outcome on the logit of the probability (ideally 1 and 0; a slope below 1
    means that probabilities are too extreme); ``in_the_large`` is the intercept at slope 1. ``p_value`` tests that
    every probability is right, by drawing outcomes from the probabilities themselves, so it keeps its level. ``band``
    shows where the curve of a calibrated model would lie; ``confidence_band`` where the true curve may lie. ``plot``
    draws the reliability curve with its band.
    """

    pictures: ClassVar[tuple[str, ...]] = ("calibration",)

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

    def sections(self) -> list[Section]:
        """Whether the probabilities are right, by how much they are not, and what that costs."""
        shown = ("measure", "part", "value", "low", "high")
        rows = [{key: format_value(row[key]) for key in shown} for row in self.parts]
        return [
            Section("answer", [f"{self.summary}.", Figure("calibration", self), Table(self.lines)]),
            Section("parts", [Table(rows, self.parts.title, "measure")]),
        ]


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
        why = "cannot be used with calibration, whose test and bands take the outcomes of rows to be independent"
        raise InputError("clusters", why, "leave it out")
    p, draws = ranking.score.astype(np.float64), _draws_of(sample, ranking)
    pos, neg = draws.pos, draws.neg
    # 999 outcomes tell a p-value of 0.001; long lists are drawn as often as takes seconds
    n_drawn = max(99, min(n_resamples, 999, 20_000_000 // max(1, draws.size)))
    rng = np.random.default_rng([seed, 5])
    losses, fitted = ProperLosses.of(p), isotonic(pos, neg)
    observed, grid = decompose(losses, pos, neg), _grid(p, pos + neg)
    null, null_curves = _drawn_outcomes(losses, p, draws, grid, n_drawn, rng)
    _, own_curves = _drawn_outcomes(losses, fitted, draws, grid, n_drawn, rng)
    replicates = np.full((n_drawn, len(SCORES), len(PARTS)), np.nan)
    for k in range(n_drawn):
        drawn_pos, drawn_neg = draws.rows(rng)
        if drawn_pos.any() and drawn_neg.any():
            replicates[k] = decompose(losses, drawn_pos, drawn_neg)

    def band(curves: Floats, centre: Floats) -> Table:
        tail = (1.0 - level) / 2.0
        low, high = np.quantile(curves, [tail, 1.0 - tail], axis=0)
        ends = {"low": np.minimum(centre, low), "high": np.maximum(centre, high)}
        columns = {"probability": p[grid], "comes_true": fitted[grid], **ends}
        return columns_table({name: values[::-1] for name, values in columns.items()}, "Band")

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
        band(null_curves, p[grid]),
        band(own_curves, fitted[grid]),
        level,
        n_drawn,
    )


def calibration_test(sample: Any, ranking: Ranking, n_drawn: int, rng: np.random.Generator) -> float:
    """The p-value alone: how often outcomes drawn from the probabilities are as miscalibrated as those observed."""
    p, draws = ranking.score.astype(np.float64), _draws_of(sample, ranking)
    losses = ProperLosses.of(p)
    null, _ = _drawn_outcomes(losses, p, draws, _grid(p, draws.pos + draws.neg), n_drawn, rng)
    return _p_value(null, decompose(losses, draws.pos, draws.neg))


def _draws_of(sample: Any, ranking: Ranking) -> _GroupDraws | _RowDraws:
    return _GroupDraws(ranking) if sample.weight is None else _RowDraws(sample, ranking)


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
        pos, neg = (np.bincount(self._group[side], weight[side], len(self.pos)) for side in (positive, ~positive))
        return pos, neg

    def outcomes(self, chance: Floats, rng: np.random.Generator) -> tuple[Any, Any]:
        """Weight of the positives and negatives of each group where rows take the chance of their group."""
        return self._sums(rng.random(self.size) < chance[self._group], self._weight)

    def rows(self, rng: np.random.Generator) -> tuple[Any, Any]:
        """Weight of the positives and negatives of each group where the rows are drawn again."""
        times = np.bincount(rng.integers(0, self.size, self.size), minlength=self.size)
        return self._sums(self._positive, self._weight * times)


def _p_value(null: Floats, observed: Floats) -> float:
    extreme = int(np.count_nonzero(null[:, 0] >= observed[0, 1] * (1 - 1e-12)))
    return (extreme + 1.0) / (len(null) + 1.0)


def _grid(p: Floats, cases: Any) -> NDArray[np.int64]:
    """Groups at which bands are drawn: evenly over the cases, the ends included."""
    if len(p) <= _GRID:
        return np.arange(len(p))
    ends = np.cumsum(cases)
    spread = np.linspace(ends[-1] / _GRID, ends[-1] * (1.0 - 1e-12), _GRID)
    return np.unique(np.concatenate([[0], np.searchsorted(ends, spread), [len(p) - 1]]))


def _drawn_outcomes(
    losses: ProperLosses, chance: Floats, draws: Any, grid: NDArray[np.int64], n_drawn: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Miscalibrations and curve at the grid of samples whose outcomes are drawn with the given chances."""
    miscalibration, curves = np.empty((n_drawn, len(SCORES))), np.empty((n_drawn, len(grid)))
    chance = np.clip(chance, 0.0, 1.0)
    taken = np.cumsum(draws.pos + draws.neg, dtype=np.float64)[grid]
    for k in range(n_drawn):
        pos, neg = draws.outcomes(chance, rng)
        fit = _Fit.of(pos, neg)
        miscalibration[k] = losses.mean(pos, neg) - fit.scores
        curves[k] = fit.at(taken)
    return miscalibration, curves


def _part_rows(observed: Floats, overfit: Floats, replicates: Floats, level: float) -> Table:
    """Each part with its interval, from the spread of replicates.

    An isotonic fit overfits: miscalibration and discrimination look larger than they are, by about as much as the
    miscalibration of outcomes drawn from the probabilities themselves, which have none. That is taken out.
    """
    rows = []
    for (m, measure), (k, part) in product(enumerate(SCORES), enumerate(PARTS)):
        drawn = replicates[:, m, k]
        drawn = drawn[~np.isnan(drawn)]
        half = z_of(level) * (float(drawn.std(ddof=1)) if len(drawn) > 1 else math.nan)
        value, method = float(observed[m, k]), "bootstrap"
        if part in ("miscalibration", "discrimination"):
            value, method = max(0.0, value - float(overfit[m])), "bootstrap, overfit removed"
        ends = {"low": max(0.0, value - half), "high": value + half}
        row = {"measure": measure, "part": part, "value": value, **ends}
        rows.append({**row, "on_sample": float(observed[m, k]), "method": method})
    return Table(rows, "Parts of the losses: score = miscalibration − discrimination + uncertainty")


def _logistic(p: Floats, pos: Floats, neg: Floats, weighing: Weighing, level: float) -> list[Estimate]:
    """Intercept and slope of the outcome on the logit of the probability, and the intercept at slope 1.

    Maximum likelihood, with Wald intervals. A step of Newton's method moves no log odds by more than 5 and is halved
    while the likelihood falls: whole steps run away where probabilities are far too extreme.

    The variance is the larger of two. The inverse information A⁻¹ is right only if the line is true, and at slope 1 it
    is not where probabilities are miscalibrated (73.8 % of 95 % intervals covered). The sandwich A⁻¹BA⁻¹ (White 1982)
    is near 0 where the sample has shown none of the rare errors that the probabilities predict.
    """
    clipped = np.clip(p, EPS, 1.0 - EPS)
    x = np.asarray(np.log(clipped) - np.log1p(-clipped))
    total, log_odds = float((pos + neg).sum()), math.log(pos.sum() / neg.sum())
    of_pos, of_neg = x[pos > 0], x[neg > 0]
    pos, neg = pos / total, neg / total  # shares, so that one tolerance suits every weight

    def fit(design: Floats, offset: Floats, beta: Floats, names: tuple[str, ...]) -> list[Estimate]:
        def log_likelihood(beta: Floats) -> float:
            odds = offset + design @ beta
            return -float(pos @ np.logaddexp(0.0, -odds) + neg @ np.logaddexp(0.0, odds))

        reached, converged = log_likelihood(beta), False
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
        variances = [np.diag(inverse @ (design * b[:, None]).T @ design @ inverse) for b in (seen, expected)]
        halves = z_of(level) * (np.sqrt(np.max(variances, axis=0)) / total)
        return [
            Estimate(name, float(b), float(b - half), float(b + half), level, "wald")
            for name, b, half in zip(names, beta, halves, strict=True)
        ]

    line, names = np.column_stack([np.ones_like(x), x]), ("intercept", "slope")
    reason = ""
    if np.ptp(x) == 0:
        reason = "all probabilities are equal"
    elif of_pos.min() >= of_neg.max() or of_neg.min() >= of_pos.max():
        reason = "the probabilities separate the classes, so the slope is infinite"
    undefined = [Estimate(name, math.nan, reason=reason) for name in names]
    both = undefined if reason else fit(line, np.zeros_like(x), np.array([log_odds, 0.0]), names)
    return [*both, *fit(line[:, :1], x, np.zeros(1), ("in_the_large",))]
