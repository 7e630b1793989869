"""Are probabilities right? The reliability curve with bands, scores taken apart, slope and intercept, and a test.

The curve is the isotonic regression of outcome on probability, which the ROC convex hull gives for free: the slope of
each of its sides is the odds of that stretch. With it a proper score falls into three parts (Dimitriadis, Gneiting &
Jordan 2021): score = miscalibration − discrimination + uncertainty.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..catalogue.probability import log_losses
from ..errors import InputError, look_up
from ..estimate import Estimate
from ..inference.known_labels import logistic
from ..inference.limits import z_of
from ..kernels import compiled
from ..ranking import Ranking, tie_starts
from ..table import DictResult, Figure, HasPlot, HasSections, Section, Table, ends, format_value, p_value, values_of
from ..types import Floats, Labels
from .error_costs import check_probabilities, need_both_classes

EPS = 1e-5  # probabilities closer to 0 or 1 are moved there before the logit, as for the log loss
SCORES = ("brier_score", "log_loss")
PARTS = ("score", "miscalibration", "discrimination", "uncertainty")
_GRID = 201  # places of the bands: every half percent of the cases
_BLOCKS = 400  # of neighbouring scores, in which samples are drawn: see _drawn
_SPREAD_DRAWS = 400  # a standard error from so many replicates is known to 3.5%


def isotonic(pos: NDArray[Any], neg: NDArray[Any]) -> Floats:
    """The non-decreasing probability of each group (best score first) that fits the outcomes best."""
    return np.asarray(_fits(pos[None], neg[None], np.cumsum(pos.astype(np.float64) + neg))[1][0])


def _fits(pos: NDArray[Any], neg: NDArray[Any], taken: Floats) -> tuple[Floats, Floats]:
    """Isotonic fits of many samples, a row each, from the positives and negatives of each group (columns).

    Brier score and log loss of each fit, and the fitted probability of the last of so many cases (``taken``).
    """
    zero = 0 * pos[0, 0]
    hulls = [compiled.hull_of_groups(a, b, zero, zero) for a, b in zip(pos, neg, strict=True)]
    below, above = (np.concatenate([hull[k] for hull in hulls]).astype(np.float64) for k in (0, 1))
    corners = np.array([hull[2] for hull in hulls])
    inner = np.ones(len(below) - 1, np.bool_)
    inner[np.cumsum(corners)[:-1] - 1] = False  # from the last corner of a sample to the first of the next is no step
    hits, misses, ends = np.diff(above)[inner], np.diff(below)[inner], (below + above)[1:][inner]
    cases, first = hits + misses, np.cumsum(corners - 1) - (corners - 1)
    probability, totals = hits / cases, np.add.reduceat(cases, first)
    of_pos, of_neg = proper_losses(probability)  # cases of one step have one probability
    scores = np.add.reduceat(of_pos * hits + of_neg * misses, first, axis=1).T / totals[:, None]
    # Steps of all samples on one line: sample k from k to k + 1, by shares of its cases.
    sample = np.arange(len(pos))
    line = ends / np.repeat(totals, corners - 1) + np.repeat(sample, corners - 1)
    step = np.searchsorted(line, taken / totals[:, None] + sample[:, None] - 1e-10)
    return scores, probability[np.minimum(step, (first + corners - 2)[:, None])]


def proper_losses(p: Floats) -> tuple[Floats, Floats]:
    """Brier score and log loss (base 2), one row each, of a positive and of a negative with each probability."""
    of_pos, of_neg = log_losses(p)
    return np.stack([(1.0 - p) ** 2, of_pos]), np.stack([p**2, of_neg])


def decompose(p: Floats, pos: Any, neg: Any, fitted: Floats | None = None) -> Floats:
    """Score, miscalibration, discrimination, uncertainty (last axis) of Brier score and log loss, of each sample.

    ``p`` is the probability of each group, ``fitted`` the scores of the isotonic fits where they are known.
    """
    if pos.ndim == 1:
        return np.asarray(decompose(p, pos[None], neg[None])[0])
    if fitted is None:
        fitted = _fits(pos, neg, np.empty(0))[0]
    n_pos, n_neg = (side.sum(axis=1).astype(np.float64) for side in (pos, neg))
    (of_pos, of_neg), (all_pos, all_neg) = proper_losses(p), proper_losses(n_pos / (n_pos + n_neg))
    score = (pos.astype(np.float64) @ of_pos.T + neg.astype(np.float64) @ of_neg.T) / (n_pos + n_neg)[:, None]
    base = ((all_pos * n_pos + all_neg * n_neg) / (n_pos + n_neg)).T
    return np.stack([score, score - fitted, base - fitted, base], axis=-1)


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(HasSections, HasPlot, DictResult):
    """How well the probabilities of a model are calibrated.

    ``parts`` splits the Brier score and the log loss into parts, each with an interval. ``slope`` and ``intercept`` are
    those of a logistic regression of the outcome on the logit of the probability (ideally 1 and 0; a slope below 1
    means that probabilities are too extreme); ``in_the_large`` is the intercept at slope 1. All three take what is
    closer to 0 or 1 than 0.00001 as 0.00001 from there. ``p_value`` tests that every probability is right, by drawing
    outcomes from the probabilities themselves, so it keeps its level; it is at least 1 / (``n_simulations`` + 1), which
    words write as p ≤ 0.001. ``band`` shows the curve, where that of a calibrated model would lie (``low``, ``high``),
    and where the true curve may lie (``confidence_low``, ``confidence_high``). ``plot`` draws the reliability curve
    with its band.
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
    level: float
    n_simulations: int
    in_buckets: bool = False  # scores, which then count at the middle of their bucket

    def __getitem__(self, name: str) -> Estimate:
        """A part by name: ``brier_score`` or ``log_loss``, a dot, and the part: ``"brier_score.miscalibration"``."""
        row = look_up({f"{row['measure']}.{row['part']}": row for row in self.parts}, name, "name")
        return Estimate(name, row["value"], row["low"], row["high"], self.level, row["method"])

    def to_dict(self) -> dict[str, Any]:
        """Everything but the curve."""
        lines = {row[""]: {"value": row["value"], "low": row["low"], "high": row["high"]} for row in self.lines}
        return {
            **values_of(self, "name", "level"),
            **lines,
            **values_of(self, "p_value", "n_simulations"),
            "parts": self.parts.to_dicts(),
            "band": self.band.to_dicts(),
        }

    @property
    def lines(self) -> Table:
        """Slope and intercepts with their intervals, and their values if all probabilities are right."""
        of_all = ((self.slope, 1.0), (self.intercept, 0.0), (self.in_the_large, 0.0))
        rows = [{"": e.name, "value": e.value, "low": e.low, "high": e.high, "ideal": right} for e, right in of_all]
        return Table(rows, "Slope and intercept")

    @property
    def tested(self) -> str:
        """The p-value in words."""
        return p_value(self.p_value, 1.0 / (self.n_simulations + 1.0), named=True)

    @property
    def summary(self) -> str:
        """The result of the test, in one sentence."""
        verdict = "the probabilities are not calibrated" if self.p_value < 0.05 else "no evidence of miscalibration"
        test = f"({self.tested})"
        readings = (
            (self.slope, "slope", 1.0, "too extreme", "not extreme enough"),
            (self.in_the_large, "average bias", 0.0, "too high on average", "too low on average"),
        )
        for e, what, ideal, below, above in readings if self.p_value >= 0.05 else ():
            if e.high < ideal or e.low > ideal:  # one number finds what a test of errors of any shape has no power for
                how = below if e.high < ideal else above
                within = f"{e.value:.2f}, {self.level:.0%} interval {e.low:.2f} to {e.high:.2f}"
                return (
                    f"{self.name}: probabilities are {how} ({what} {within}); the overall test does not show it {test}"
                )
        return f"{self.name}: {verdict} {test}"

    def sections(self) -> list[Section]:
        """Whether the probabilities are right, by how much they are not, and what that costs."""
        shown = ("measure", "part", "value", "low", "high")
        rows = [{key: format_value(row[key]).replace("_", " ") for key in shown} for row in self.parts]
        meanings = ("below 1: too extreme", "of the same line", "above 0: too low on average")
        lines = []
        for row, meaning in zip(self.lines, meanings, strict=True):
            cells = {"": row[""].replace("in_the_large", "average bias"), "value": format_value(row["value"])}
            cells |= {f"{self.level:.0%} interval": ends(row["low"], row["high"]), "ideal": f"{row['ideal']:g}"}
            lines.append({**cells, "meaning": meaning})
        clipped = self.cases[(self.score < EPS) | (self.score > 1.0 - EPS)].sum()
        of, s = f"{clipped:,.6g} of {self.cases.sum():,.6g} probabilities", "s" * int(clipped == 1)
        title = f"{of} lie{s} within {EPS:.5f} of 0 or 1, and count{s} as so far from there" if clipped else ""
        rough = ["Scores came in buckets: slope, bias and miscalibration are approximate."] * self.in_buckets
        return [
            Section("answer", [f"{self.summary}.", *rough, Figure("calibration", self), Table(lines, title)]),
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
    scores: Sequence[Estimate] = (),
) -> Calibration:
    """The calibration of a sample's probabilities; ``ranking`` is the sample's, ``scores`` the losses as evaluated."""
    check_probabilities(sample, "calibration")
    need_both_classes(ranking.n_pos, ranking.n_neg, "calibration cannot be evaluated")
    if clusters is not None:
        why = "cannot be used with calibration, whose test and bands take the outcomes of rows to be independent"
        raise InputError("clusters", why, "leave it out")
    p, cases = ranking.score.astype(np.float64), (ranking.pos + ranking.neg).astype(np.float64)
    ends, rng = np.cumsum(cases), np.random.default_rng([seed, 5])
    fitted, grid = isotonic(ranking.pos, ranking.neg), np.arange(len(p))
    if len(p) > _GRID:  # bands are drawn evenly over the cases, the ends included
        spread = np.linspace(ends[-1] / _GRID, ends[-1] * (1.0 - 1e-12), _GRID)
        grid = np.unique(np.concatenate([[0], np.searchsorted(ends, spread), [len(p) - 1]]))
    block = np.arange(len(p)) if len(p) <= _BLOCKS else ((ends - cases) * (_BLOCKS / ends[-1])).astype(np.intp)
    starts = tie_starts(block)
    mean_p = _block_means(p, cases, starts)
    # 999 outcomes tell a p-value of 0.001; weighted rows, which are drawn row by row, as often as takes seconds
    n_drawn = min(n_resamples, 999)
    if sample.weight is not None:
        n_drawn = min(n_drawn, max(99, 20_000_000 // len(sample)))
    null_pos, null_neg = _drawn(sample, ranking, starts, n_drawn, rng, p)
    null_scores, null_curves = _fits(null_pos, null_neg, ends[grid])
    own_curves = _fits(*_drawn(sample, ranking, starts, n_drawn, rng, fitted), ends[grid])[1]
    drawn_pos, drawn_neg = _drawn(sample, ranking, starts, min(n_drawn, _SPREAD_DRAWS), rng)
    both = drawn_pos.any(axis=1) & drawn_neg.any(axis=1)
    replicates = decompose(mean_p, drawn_pos[both], drawn_neg[both])
    null = decompose(mean_p, null_pos, null_neg, null_scores)[..., 1]
    in_blocks = decompose(mean_p, *(np.add.reduceat(side, starts) for side in (ranking.pos, ranking.neg)))
    columns = {"probability": p[grid], "comes_true": fitted[grid]}
    tails = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
    for name_of, curves, centre in (("", null_curves, p[grid]), ("confidence_", own_curves, fitted[grid])):
        low, high = np.quantile(curves, tails, axis=0)
        columns |= {f"{name_of}low": np.minimum(centre, low), f"{name_of}high": np.maximum(centre, high)}
    intercept, slope, in_the_large = _logistic(sample, ranking, level)
    observed, beyond = decompose(p, ranking.pos, ranking.neg), in_blocks[:, 1] - null.mean(axis=0)
    parts = _part_rows(observed, beyond, replicates, level, scores)
    p_of_test = (np.count_nonzero(null[:, 0] >= in_blocks[0, 1] * (1 - 1e-12)) + 1.0) / (len(null) + 1.0)
    band = Table({name_of: values[::-1] for name_of, values in columns.items()}, "Reliability")
    return Calibration(name, p, fitted, cases, parts, slope, intercept, in_the_large, p_of_test, band, level, n_drawn)


def _block_means(of_group: Floats, cases: Floats, starts: NDArray[np.intp]) -> Floats:
    """The mean over the cases of each block of groups; exactly the value of a block of one group."""
    if len(starts) == len(of_group):
        return of_group
    return np.asarray(np.add.reduceat(of_group * cases, starts) / np.add.reduceat(cases, starts))


def _drawn(
    sample: Any,
    ranking: Ranking,
    starts: NDArray[np.intp],
    n: int,
    rng: np.random.Generator,
    chance: Floats | None = None,
) -> tuple[Any, Any]:
    """Positives and negatives of each block of groups (columns) in ``n`` samples like this one.

    Cases are positive with the chance of their group, or rows are drawn again. A block has the mean chance of its
    cases, which is right if theirs are. There are at most 400: steps of an isotonic fit are much longer (a share
    n^(-1/3) of n cases), and what is drawn no longer grows with n. A row of weight w is one draw, not w of them.
    """
    if sample.weight is None:
        pos, neg = (np.add.reduceat(side, starts).astype(np.int64) for side in (ranking.pos, ranking.neg))
        if chance is None:
            sizes = np.concatenate([pos, neg])
            counts = rng.multinomial(int(sizes.sum()), sizes / sizes.sum(), size=n)
            return counts[:, : len(pos)], counts[:, len(pos) :]
        of_block = _block_means(np.clip(chance, 0.0, 1.0), (ranking.pos + ranking.neg).astype(np.float64), starts)
        hits = rng.binomial(pos + neg, of_block, size=(n, len(pos)))
        return hits, pos + neg - hits
    group, n_rows, sums = ranking.group_of(sample.score), len(sample), np.empty((n, 2, len(starts)))
    block = np.searchsorted(starts, group, side="right") - 1
    for drawn in sums:
        positive, weight = sample.positive, sample.row_weight
        if chance is None:
            weight = weight * np.bincount(rng.integers(0, n_rows, n_rows), minlength=n_rows)
        else:
            positive = rng.random(n_rows) < chance[group]
        drawn[:] = np.bincount(block + len(starts) * ~positive, weight, 2 * len(starts)).reshape(2, -1)
    return sums[:, 0], sums[:, 1]


def _part_rows(
    observed: Floats, miscalibration: Floats, replicates: Floats, level: float, scores: Sequence[Estimate]
) -> Table:
    """Each part with its interval, from the spread of replicates; the score as it was evaluated.

    An isotonic fit overfits: miscalibration and discrimination look larger than they are, by about as much as the
    miscalibration of outcomes drawn from the probabilities themselves, which have none. ``miscalibration`` is without
    that; discrimination follows from it and the other two parts.
    """
    spread = replicates.std(axis=0, ddof=1) if len(replicates) > 1 else np.full(observed.shape, math.nan)
    rows = []
    for (m, measure), (k, part) in product(enumerate(SCORES), enumerate(PARTS)):
        value, method = float(observed[m, k]), "bootstrap"
        if part in ("miscalibration", "discrimination"):
            rest = 0.0 if part == "miscalibration" else float(observed[m, 3] - observed[m, 0])  # uncertainty − score
            value, method = max(0.0, float(miscalibration[m]) + rest), "bootstrap, overfit removed"
        half = z_of(level) * float(spread[m, k])
        most = (0.25, 1.0)[m] if part == "uncertainty" else math.inf  # that of equal shares
        ends = {"low": max(0.0, value - half), "high": min(value + half, most)}
        if part == "score" and scores and scores[m].low == scores[m].low:
            value, method, ends = scores[m].value, scores[m].method, {"low": scores[m].low, "high": scores[m].high}
        row = {"measure": measure, "part": part, "value": value, **ends}
        rows.append({**row, "on_sample": float(observed[m, k]), "method": method})
    return Table(rows, "Parts of the losses: score = miscalibration − discrimination + uncertainty")


def _logistic(sample: Any, ranking: Ranking, level: float) -> list[Estimate]:
    """Intercept and slope of the outcome on the logit of the probability, and the intercept at slope 1.

    Maximum likelihood, with Wald intervals. A step of Newton's method moves no log odds by more than 5 and is halved
    while the likelihood falls: whole steps run away where probabilities are far too extreme.

    The variance is the larger of two. The inverse information A⁻¹ is right only if the line is true, and at slope 1 it
    is not where probabilities are miscalibrated (73.8% of 95% intervals covered). The sandwich A⁻¹BA⁻¹ (White 1982)
    is near 0 where the sample has shown none of the rare errors that the probabilities predict.
    """
    pos, neg = (side.astype(np.float64) for side in (ranking.pos, ranking.neg))
    squares = [pos, neg]  # of the weights
    if sample.weight is not None:
        group, squared = ranking.group_of(sample.score), sample.row_weight**2
        sides = sample.positive, ~sample.positive
        squares = [np.bincount(group, squared * side, len(ranking)).astype(np.float64) for side in sides]
    clipped = np.clip(ranking.score.astype(np.float64), EPS, 1.0 - EPS)
    x = np.asarray(np.log(clipped) - np.log1p(-clipped))
    total, log_odds = float((pos + neg).sum()), math.log(pos.sum() / neg.sum())
    of_pos, of_neg = x[pos > 0], x[neg > 0]
    pos, neg = pos / total, neg / total  # shares, so that one tolerance suits every weight

    def fit(design: Floats, offset: Floats, beta: Floats, names: tuple[str, ...]) -> list[Estimate]:
        size = len(x) // (2 * _BLOCKS)
        if size > 1:  # neighbours share their mean first, which leaves a step or two for all
            starts, cases = np.arange(0, len(x), size), pos + neg
            pooled_pos, pooled_neg, pooled = (np.add.reduceat(v, starts) for v in (pos, neg, cases))
            coarse = np.add.reduceat(design * cases[:, None], starts) / pooled[:, None]
            shift = np.add.reduceat(offset * cases, starts) / pooled
            beta = _newton(coarse, shift, pooled_pos, pooled_neg, beta)[0]
        beta, information = _newton(design, offset, pos, neg, beta)
        if information is None:
            return [Estimate(name, math.nan, reason="the logistic regression does not converge") for name in names]
        q = logistic(offset + design @ beta)
        inverse = np.linalg.inv(information)
        seen = squares[0] * (1.0 - q) ** 2 + squares[1] * q**2
        expected = (squares[0] + squares[1]) * q * (1.0 - q)
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


def _newton(design: Floats, offset: Floats, pos: Floats, neg: Floats, beta: Floats) -> tuple[Floats, Floats | None]:
    """The coefficients of the highest likelihood, and their information; None where no step converges."""

    def log_likelihood(beta: Floats) -> float:
        odds = offset + design @ beta  # log(1 + e^x) = x + log(1 + e^−x)
        return -float((pos + neg) @ np.logaddexp(0.0, -odds) + neg @ odds)

    reached = log_likelihood(beta)
    for _ in range(100):
        q = logistic(offset + design @ beta)
        information = (design * ((pos + neg) * q * (1.0 - q))[:, None]).T @ design
        gradient = design.T @ (pos * (1.0 - q) - neg * q)
        try:
            step = np.linalg.solve(information, gradient)
        except np.linalg.LinAlgError:
            break
        if float(gradient @ step) < 1e-14:  # twice what is still to gain; rounding hides less than that
            return beta + step, information
        step = step * min(1.0, 5.0 / float(np.abs(design @ step).max()))
        for _ in range(60):
            gained = log_likelihood(beta + step)
            if gained >= reached:
                break
            step = step / 2.0
        beta, reached = beta + step, gained
    return beta, None
