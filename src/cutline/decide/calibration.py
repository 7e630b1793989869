"""Are probabilities right? The reliability curve with bands, scores taken apart, slope and intercept, and a test.

The curve is the isotonic regression of outcome on probability, which the ROC convex hull gives for free: the slope of
each of its sides is the odds of that stretch. With it a proper score falls into three parts (Dimitriadis, Gneiting &
Jordan 2021): score = miscalibration − discrimination + uncertainty.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
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
from ..ranking import Ranking, tie_starts
from ..table import DictResult, Figure, HasPlot, HasSections, Section, Table, columns_table, format_value, values_of
from ..types import Floats, Labels
from .error_costs import check_probabilities, need_both_classes

EPS = 1e-5  # probabilities closer to 0 or 1 are moved there before the logit, as for the log loss
SCORES = ("brier_score", "log_loss")
PARTS = ("score", "miscalibration", "discrimination", "uncertainty")
_GRID = 201  # places of the bands: every half percent of the cases
_BLOCKS = 400  # of neighbouring scores, in which samples are drawn: see _Draws
_SPREAD_DRAWS = 400  # a standard error from so many replicates is known to 3.5%


def isotonic(pos: NDArray[Any], neg: NDArray[Any]) -> Floats:
    """The non-decreasing probability of each group (best score first) that fits the outcomes best."""
    return np.asarray(_Fits.of(pos[None], neg[None]).at(np.cumsum(pos.astype(np.float64) + neg))[0])


class _Fits(NamedTuple):
    """Isotonic fits of many samples by their steps, one sample after the other.

    For each step: its positives, its negatives, and the cases taken where it ends; ``first`` is the first step of each
    sample and where the last one ends.
    """

    pos: Floats
    neg: Floats
    ends: Floats
    first: NDArray[np.intp]

    @classmethod
    def of(cls, pos: NDArray[Any], neg: NDArray[Any]) -> _Fits:
        """From the positives and negatives of each group; a row is a sample."""
        zero = 0 * pos[0, 0]
        hulls = [compiled.hull_of_groups(a, b, zero, zero) for a, b in zip(pos, neg, strict=True)]
        below, above = (np.concatenate([hull[k][: hull[2]] for hull in hulls]).astype(np.float64) for k in (0, 1))
        used = np.array([hull[2] for hull in hulls])
        inner = np.ones(len(below) - 1, np.bool_)
        inner[np.cumsum(used)[:-1] - 1] = False  # from the last corner of a sample to the first of the next is no step
        steps = np.diff(above)[inner], np.diff(below)[inner], (below + above)[1:][inner]
        return cls(*steps, np.concatenate([[0], np.cumsum(used - 1)]))

    @property
    def scores(self) -> Floats:
        """Brier score and log loss of each sample's fit: cases of one step have one probability."""
        cases = self.pos + self.neg
        losses = ProperLosses.of(self.pos / cases)
        total = np.add.reduceat(cases, self.first[:-1])
        each = losses.of_pos * self.pos + losses.of_neg * self.neg
        return np.asarray(np.add.reduceat(each, self.first[:-1], axis=1).T / total[:, None])

    def at(self, taken: Floats) -> Floats:
        """The fitted probability of the last of so many cases, a row for each sample."""
        probability, curves = self.pos / (self.pos + self.neg), np.empty((len(self.first) - 1, len(taken)))
        for curve, start, end in zip(curves, self.first[:-1], self.first[1:], strict=True):
            step = np.searchsorted(self.ends[start:end], taken * (1.0 - 1e-12), side="left")
            curve[:] = probability[start + np.minimum(step, end - start - 1)]
        return curves


class ProperLosses(NamedTuple):
    """Brier score and log loss (base 2), one row each, of a positive and of a negative with each probability."""

    of_pos: Floats
    of_neg: Floats

    @classmethod
    def of(cls, p: Floats) -> ProperLosses:
        of_pos, of_neg = log_losses(p)
        return cls(np.stack([(1.0 - p) ** 2, of_pos]), np.stack([p**2, of_neg]))

    def mean(self, pos: Any, neg: Any) -> Floats:
        """The two scores of each sample where so many positives and negatives have each probability."""
        pos, neg = np.asarray(pos, np.float64), np.asarray(neg, np.float64)
        totals = pos.sum(axis=-1) + neg.sum(axis=-1)
        return np.asarray((pos @ self.of_pos.T + neg @ self.of_neg.T) / totals[..., None])


def decompose(losses: ProperLosses, pos: Any, neg: Any) -> Floats:
    """Score, miscalibration, discrimination, uncertainty (last axis) of Brier score and log loss, of each sample."""
    if pos.ndim == 1:
        return np.asarray(decompose(losses, pos[None], neg[None])[0])
    score, fitted = losses.mean(pos, neg), _Fits.of(pos, neg).scores
    n_pos, n_neg = (side.sum(axis=1).astype(np.float64) for side in (pos, neg))
    whole = ProperLosses.of(n_pos / (n_pos + n_neg))
    base = ((whole.of_pos * n_pos + whole.of_neg * n_neg) / (n_pos + n_neg)).T
    return np.stack([score, score - fitted, base - fitted, base], axis=-1)


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(HasSections, HasPlot, DictResult):
    """How well the probabilities of a model are calibrated.

    ``parts`` splits the Brier score and the log loss into parts, each with an interval. ``slope`` and ``intercept`` are
    those of a logistic regression of the outcome on the logit of the probability (ideally 1 and 0; a slope below 1
    means that probabilities are too extreme); ``in_the_large`` is the intercept at slope 1. ``p_value`` tests that
    every probability is right, by drawing outcomes from the probabilities themselves, so it keeps its level. ``band``
    shows the curve, where that of a calibrated model would lie (``low``, ``high``), and where the true curve may lie
    (``confidence_low``, ``confidence_high``). ``plot`` draws the reliability curve with its band.
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
    def summary(self) -> str:
        """The result of the test, in one sentence."""
        verdict = "the probabilities are not calibrated" if self.p_value < 0.05 else "no evidence of miscalibration"
        test = f"(p = {self.p_value:.3g})"
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
        lines = [
            {
                "": row[""].replace("in_the_large", "average bias"),
                "value": f"{row['value']:.3f}",
                f"{self.level:.0%} interval": f"{row['low']:.3f} to {row['high']:.3f}",
                "ideal": f"{row['ideal']:g}",
                "meaning": meaning,
            }
            for row, meaning in zip(self.lines, meanings, strict=True)
        ]
        return [
            Section("answer", [f"{self.summary}.", Figure("calibration", self), Table(lines)]),
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
    need_both_classes(ranking.n_pos, ranking.n_neg, "calibration cannot be evaluated")
    for argument, given in (("clusters", clusters), ("sample_weight", sample.weight)):
        if given is not None:
            why = "cannot be used with calibration, whose test and bands need independent rows that count alike"
            raise InputError(argument, why, "leave it out")
    p, draws = ranking.score.astype(np.float64), _Draws(ranking)
    n_drawn = min(n_resamples, 999)  # so many outcomes tell a p-value of 0.001
    rng = np.random.default_rng([seed, 5])
    fitted, grid = isotonic(ranking.pos, ranking.neg), _grid(p, ranking.pos + ranking.neg)
    taken = np.cumsum(ranking.pos + ranking.neg, dtype=np.float64)[grid]
    null_pos, null_neg = draws.outcomes(p, n_drawn, rng)
    null_fits, own_fits = _Fits.of(null_pos, null_neg), _Fits.of(*draws.outcomes(fitted, n_drawn, rng))
    drawn_pos, drawn_neg = draws.rows(min(n_drawn, _SPREAD_DRAWS), rng)
    both = drawn_pos.any(axis=1) & drawn_neg.any(axis=1)
    replicates = decompose(draws.losses, drawn_pos[both], drawn_neg[both])
    null = draws.losses.mean(null_pos, null_neg) - null_fits.scores
    in_blocks = decompose(draws.losses, draws.pos, draws.neg)
    observed = decompose(ProperLosses.of(p), ranking.pos, ranking.neg)
    columns = {"probability": p[grid], "comes_true": fitted[grid]}
    tails = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
    for name_of, fits, centre in (("", null_fits, p[grid]), ("confidence_", own_fits, fitted[grid])):
        low, high = np.quantile(fits.at(taken), tails, axis=0)
        columns |= {f"{name_of}low": np.minimum(centre, low), f"{name_of}high": np.maximum(centre, high)}
    counted = ranking.pos.astype(np.float64), ranking.neg.astype(np.float64)
    intercept, slope, in_the_large = _logistic(p, *counted, level)
    return Calibration(
        name,
        p,
        fitted,
        counted[0] + counted[1],
        _part_rows(observed, in_blocks[:, 1] - null.mean(axis=0), replicates, level),
        slope,
        intercept,
        in_the_large,
        (np.count_nonzero(null[:, 0] >= in_blocks[0, 1] * (1 - 1e-12)) + 1.0) / (len(null) + 1.0),
        columns_table({name: values[::-1] for name, values in columns.items()}, "Reliability"),
        level,
        n_drawn,
    )


class _Draws:
    """Samples like one, in blocks of neighbouring scores: new outcomes, or its rows drawn again.

    A block has the mean probability of its cases, which is right if theirs are. There are at most 400: steps of an
    isotonic fit are much longer (a share n^(-1/3) of n cases), and what is drawn no longer grows with n.
    """

    def __init__(self, ranking: Ranking) -> None:
        self.cases = (ranking.pos + ranking.neg).astype(np.float64)
        block = np.arange(len(ranking))
        if len(ranking) > _BLOCKS:
            block = ((np.cumsum(self.cases) - self.cases) * (_BLOCKS / self.cases.sum())).astype(np.intp)
        self.starts = tie_starts(block)
        self.pos, self.neg = (np.add.reduceat(side, self.starts) for side in (ranking.pos, ranking.neg))
        self.losses = ProperLosses.of(self._means(ranking.score.astype(np.float64)))

    def _means(self, of_group: Floats) -> Floats:
        """The mean over the cases of each block; exactly the value of a block of one group."""
        if len(self.starts) == len(of_group):
            return of_group
        totals = np.add.reduceat(of_group * self.cases, self.starts)
        return np.asarray(totals / np.add.reduceat(self.cases, self.starts))

    def outcomes(self, chance: Floats, n_drawn: int, rng: np.random.Generator) -> tuple[Any, Any]:
        """Positives and negatives of each block (columns) where cases are positive with the chance of their group."""
        cases = (self.pos + self.neg).astype(np.int64)
        pos = rng.binomial(cases, self._means(np.clip(chance, 0.0, 1.0)), size=(n_drawn, len(cases)))
        return pos, cases - pos

    def rows(self, n_drawn: int, rng: np.random.Generator) -> tuple[Any, Any]:
        """Positives and negatives of each block where the rows are drawn again."""
        sizes = np.concatenate([self.pos, self.neg]).astype(np.int64)
        counts = rng.multinomial(int(sizes.sum()), sizes / sizes.sum(), size=n_drawn)
        return counts[:, : len(self.pos)], counts[:, len(self.pos) :]


def _grid(p: Floats, cases: Any) -> NDArray[np.int64]:
    """Groups at which bands are drawn: evenly over the cases, the ends included."""
    if len(p) <= _GRID:
        return np.arange(len(p))
    ends = np.cumsum(cases)
    spread = np.linspace(ends[-1] / _GRID, ends[-1] * (1.0 - 1e-12), _GRID)
    return np.unique(np.concatenate([[0], np.searchsorted(ends, spread), [len(p) - 1]]))


def _part_rows(observed: Floats, miscalibration: Floats, replicates: Floats, level: float) -> Table:
    """Each part with its interval, from the spread of replicates.

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
        ends = {"low": max(0.0, value - half), "high": value + half}
        row = {"measure": measure, "part": part, "value": value, **ends}
        rows.append({**row, "on_sample": float(observed[m, k]), "method": method})
    return Table(rows, "Parts of the losses: score = miscalibration − discrimination + uncertainty")


def _logistic(p: Floats, pos: Floats, neg: Floats, level: float) -> list[Estimate]:
    """Intercept and slope of the outcome on the logit of the probability, and the intercept at slope 1.

    Maximum likelihood, with Wald intervals. A step of Newton's method moves no log odds by more than 5 and is halved
    while the likelihood falls: whole steps run away where probabilities are far too extreme.

    The variance is the larger of two. The inverse information A⁻¹ is right only if the line is true, and at slope 1 it
    is not where probabilities are miscalibrated (73.8% of 95% intervals covered). The sandwich A⁻¹BA⁻¹ (White 1982)
    is near 0 where the sample has shown none of the rare errors that the probabilities predict.
    """
    clipped = np.clip(p, EPS, 1.0 - EPS)
    x = np.asarray(np.log(clipped) - np.log1p(-clipped))
    total, log_odds = float((pos + neg).sum()), math.log(pos.sum() / neg.sum())
    of_pos, of_neg = x[pos > 0], x[neg > 0]
    counts = pos, neg
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
        seen = counts[0] * (1.0 - q) ** 2 + counts[1] * q**2
        expected = (counts[0] + counts[1]) * q * (1.0 - q)
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
