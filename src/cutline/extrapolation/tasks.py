"""What a user hands over, checked once and turned into a task, and what a method may look at of it.

A test case of a ``k1``-class task is summed up by how many of its ``k1 − 1`` distractors the right class beats
(``L``) and how many it ties (``t``). The histogram of ``L`` is all that the rank methods need. A task can show itself
whole, by random parts of its classes (for the back-test) and resampled (for the interval).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, listed, show
from ..reference import documented
from ..sources.rules import is_missing
from ..types import Floats, Labels
from .favorability import Favorability, mix, row_blocks

Bits = NDArray[np.uint8]
Indices = NDArray[np.intp]
# Numbers of classes at which standard errors are found; between them they hardly bend on a log scale.
_JACKKNIFE_POINTS = 40
# Cases of a part or a resample of a very large task. Chosen by hand: their shape and spread are steady enough.
_ENOUGH_CASES = 5000
Ties = Literal["random", "optimistic", "pessimistic"]
TIE_RULES: tuple[Ties, ...] = ("random", "optimistic", "pessimistic")
LOST_OF_TIES: dict[Ties, float] = {"random": 0.5, "optimistic": 0.0, "pessimistic": 1.0}
# Points of the curve that are fitted; TaskEvidence.sketch says why so few are enough.
_CURVE_POINTS = 120
# Up to so many classes the matrix of credits (720 kB) is kept for all resamples; beyond, a recursion takes its place.
_SMALL = 300
# Rows whose scores are binned and transformed at a time: 256 × 2048 numbers are 4 MB.
_ROWS_AT_ONCE = 256
# Distances between standardised scores are counted in bins no wider than the smallest bandwidth that is tried for up to
# 5,000 competitors, up to ten deviations from the mean; the transform is twice as long, so that both ends do not meet.
BIN_WIDTH, _REACH, _LENGTH = 0.02, 10.0, 2048
# Up to this many scores (80 MB) all are kept for the methods on scores; beyond, the best of every case. A tail is a
# tenth of the competitors, so 200 of them serve up to 2,000 classes as all would.
LARGEST_KEPT = 10_000_000
BEST_KEPT = 200
# Middle and spread of a longer row are found from so many of its scores: to about 2% of the spread.
_ENOUGH_COLUMNS = 2000
_LARGEST = 1e150  # squares of larger numbers overflow
_OF_PROBABILITIES = (
    "Every row of scores sums to {:g}, so these are probabilities, and a class that is added would lower all others. "
    "Score-based methods use their logarithms instead, which differ from a network's logits by a constant per row; "
    "ranks do not change."
)


class Note(str):
    """A sentence; ``kind`` is its name for a program."""

    kind: str

    def __new__(cls, kind: str, text: str) -> Note:
        note = super().__new__(cls, text)
        note.kind = kind
        return note

    def __reduce__(self) -> tuple[type[Note], tuple[str, str]]:  # for pickle and copy
        return Note, (self.kind, str(self))


def win_histogram(beaten: Floats, tied: Floats, weight: Floats, n_classes: int, ties: Ties) -> Floats:
    """Share of cases that beat 0, 1, …, ``n_classes − 1`` distractors, ties settled by the rule.

    Random tie-breaking puts a case with ``L`` beaten and ``t`` tied at each of ``L … L + t`` with equal chance,
    which gives the closed form ``[C(L+t+1, k) − C(L, k)] / ((t+1) C(k1−1, k−1))`` for its accuracy. Counts that
    are not whole (rescaled resamples) are split between their two neighbours.
    """
    if ties == "optimistic":
        beaten, tied = beaten + tied, np.zeros_like(tied)
    elif ties == "pessimistic":
        tied = np.zeros_like(tied)
    most = n_classes - 1
    low = np.clip(beaten, 0.0, most)
    width = np.floor(tied + 0.5).astype(np.intp)
    whole = np.floor(low).astype(np.intp)
    part = low - whole
    histogram = np.zeros(n_classes)
    # A uniform stretch L … L+t is a difference of two running sums: no loop over the ties.
    slope = np.zeros(n_classes + 1)
    alone = width == 0
    for start, mass in ((whole, weight * (1.0 - part)), (np.minimum(whole + 1, most), weight * part)):
        histogram += np.bincount(start[alone], weights=mass[alone], minlength=n_classes)
        if alone.all():
            continue
        # A stretch that would leave the scale is shortened and keeps its mass.
        first, stop = start[~alone], np.minimum(start + width, most)[~alone]
        share = mass[~alone] / (stop - first + 1.0)
        slope += np.bincount(first, weights=share, minlength=n_classes + 1)
        slope -= np.bincount(stop + 1, weights=share, minlength=n_classes + 1)
    stretches = np.cumsum(slope)[:n_classes]
    # Rounding of the running sum leaves specks of 1e-17, some negative, in empty bins.
    stretches[stretches < 1e-15] = 0.0
    histogram += stretches
    return np.asarray(histogram / histogram.sum(), dtype=np.float64)


def average_accuracy(histogram: Floats, k: Floats | None = None) -> Floats:
    """Average test accuracy over all subsets of ``k`` of the ``k1`` classes (Zheng et al. Eq. 4).

    ``ATA_k = Σ_L share(L) · C(L, k−1) / C(k1−1, k−1)``, by the recursion
    ``term(k+1) = term(k) · (L − k + 1) / (k1 − k)``: binomials overflow, their ratio does not.
    Returned for ``k = 1 … k1``, or for the whole numbers ``k`` given in rising order.
    """
    n_classes, level = histogram.size, np.flatnonzero(histogram)
    count, term = level.astype(np.float64), histogram[level]
    if k is not None:
        return np.asarray(term @ credit(count, k, n_classes - 1), dtype=np.float64)
    out = np.zeros(n_classes)
    out[0] = term.sum()
    first = 0
    for classes in range(1, n_classes):
        # Cases that beat fewer than `classes` distractors lose every subset from here on.
        while first < level.size and level[first] < classes:
            first += 1
        if first == level.size:
            break
        term[first:] *= (count[first:] - classes + 1.0) / (n_classes - classes)
        out[classes] = term[first:].sum()
    return out


def credit(beaten: Floats, k: Floats, competitors: int, *, top: int = 1) -> Floats:
    """Share of the subsets of ``k − 1`` of ``n`` competitors in which fewer than ``top`` win, by log-gamma.

    ``Σ_{j<top} C(n−L, j) C(L, k−1−j) / C(n, k−1)`` for every case (rows) and number of classes (columns).
    """
    level = np.maximum(beaten, 0.0)[:, None]
    drawn = np.asarray(k, dtype=np.float64)[None, :] - 1.0
    if top > 1 and (drawn == competitors).all():
        # Of all competitors there is one subset.
        return np.where(beaten[:, None] >= 0.0, (competitors - level < top) * np.ones_like(drawn), 0.0)
    total = np.zeros((level.size, drawn.size))
    for winners in range(top):
        ways = _log_choose(level, drawn - winners) + _log_choose(competitors - level, winners)
        total += np.exp(ways - _log_choose(competitors, drawn))
    return np.where((drawn <= competitors) & (beaten >= 0.0)[:, None], np.minimum(total, 1.0), 0.0)


def _log_choose(n: Floats | float, k: Floats | float) -> Floats:
    from scipy.special import gammaln

    with np.errstate(invalid="ignore"):
        possible = (np.asarray(k) <= n) & (np.asarray(k) >= 0.0)
        taken = np.where(possible, k, 0.0)
        log = gammaln(np.asarray(n) + 1.0) - gammaln(taken + 1.0) - gammaln(np.asarray(n) - taken + 1.0)
    return np.where(possible, log, -np.inf)


def tie_credit(beaten: Floats, tied: Floats, k: Floats, competitors: int, ties: Ties, *, top: int = 1) -> Floats:
    """Share of the subsets of ``k − 1`` competitors that a case survives, ties settled by the rule.

    Random: ``[C(L+t+1, k) − C(L, k)] / ((t+1) C(n, k−1))``; with ``top`` above 1 the mean over the places of the tie.
    """
    wide = np.maximum(tied, 0.0)
    if ties == "optimistic":
        return credit(beaten + wide, k, competitors, top=top)
    plain = credit(beaten, k, competitors, top=top)
    if ties == "pessimistic" or not (tied > 0).any():
        return plain
    if top > 1:
        # Sums over all places up to each: a stretch of places is the difference of two.
        summed = np.cumsum(credit(np.arange(competitors + 1.0), k, competitors, top=top), axis=0)
        first, stop = beaten.astype(np.intp), (beaten + wide).astype(np.intp)
        mean = (summed[stop] - np.where(first[:, None] > 0, summed[first - 1], 0.0)) / (wide[:, None] + 1.0)
    else:
        upper = credit(np.where(beaten < 0, -1.0, beaten + wide + 1.0), k + 1.0, competitors + 1)
        lower = credit(beaten, k + 1.0, competitors + 1)
        mean = (upper - lower) * (competitors + 1.0) / (k[None, :] * (wide[:, None] + 1.0))
    return np.where(tied[:, None] > 0, mean, plain)


@dataclass(frozen=True)
class ScoreSample:
    """Scores of every case: of its own class, and of the others (higher is better).

    Rows are as long as the longest; a shorter row (its own class drawn twice in a resample, or only its best scores
    kept) is filled up with −inf. ``count`` is the number of competitors, ``depth`` how many of them, from the best
    down, are in the row; ``middle`` and ``spread`` (see :func:`middle_and_spread`) are of all its competitors.
    ``losses`` are the competitors, out of ``n_classes − 1``, that the right class does not beat. In a resample
    (``resampled``) scores are repeated with their classes.
    """

    true: Floats
    others: Floats
    count: Floats
    weight: Floats
    depth: Floats | None = None
    middle: Floats | None = None
    spread: Floats | None = None
    losses: Floats | None = None
    n_tested: int = 0
    resampled: bool = False
    ties: Ties = "random"

    @cached_property
    def standing(self) -> tuple[Floats, Floats]:
        """Middle and spread of every row, found from the row itself where they were not given."""
        if self.middle is not None and self.spread is not None:
            return self.middle, self.spread
        return middle_and_spread(self.others)

    @cached_property
    def mean_and_deviation(self) -> tuple[Floats, Floats]:
        """Mean and standard deviation of every case's competitors."""
        real = np.isfinite(self.others)
        filled = np.where(real, self.others, 0.0)
        mean = filled.sum(axis=1) / self.count
        gap = np.where(real, filled - mean[:, None], 0.0)
        deviation = np.sqrt((gap * gap).sum(axis=1) / np.maximum(self.count - 1.0, 1.0))
        flat = np.flatnonzero(~(deviation > 0))
        if flat.size:
            message = "gives the same score to all other classes, so the shape of its scores is unknown"
            raise InputError("scores", message, "use a rank method such as 'mixture'", row=int(flat[0]))
        return mean, deviation

    @cached_property
    def pairs_at_distance(self) -> Floats:
        """Pairs of competitors, per case, by the bins between their standardised scores (Fourier transform)."""
        mean, deviation = self.mean_and_deviation
        pairs = np.zeros(_LENGTH // 2)
        bins = int(2 * _REACH / BIN_WIDTH)
        for start in range(0, mean.size, _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            z = (self.others[rows] - mean[rows, None]) / deviation[rows, None]
            place = np.where(np.isfinite(z), np.clip((z + _REACH) / BIN_WIDTH, 0, bins - 1), bins).astype(np.intp)
            n_rows = z.shape[0]
            flat = place + np.arange(n_rows)[:, None] * (bins + 1)
            binned = np.bincount(flat.ravel(), minlength=n_rows * (bins + 1)).reshape(n_rows, bins + 1)[:, :bins]
            power = np.abs(np.fft.rfft(binned, _LENGTH, axis=1)) ** 2
            pairs += np.fft.irfft(power.sum(axis=0), _LENGTH)[: _LENGTH // 2]
        per_row = np.maximum(np.round(pairs), 0.0) / mean.size
        per_row[0] = max(per_row[0] - float(self.count.mean()), 0.0) / 2.0
        return per_row


def middle_and_spread(rows: Floats) -> tuple[Floats, Floats]:
    """Median of every row, and ``√(2π)·mean((s − median)₊)``: its spread upwards, which for a normal law is its σ.

    Only competitors near the top matter. Those far below, and there may be very far ones, count as below and no more.
    ``−inf`` is no competitor.
    """
    ordered = np.sort(rows, axis=1)
    count = np.isfinite(rows).sum(axis=1)
    first, last = rows.shape[1] - count, rows.shape[1] - 1
    pair = np.stack([first + (count - 1) // 2, first + count // 2], axis=1)
    middle = np.take_along_axis(ordered, np.clip(pair, 0, last), axis=1).mean(axis=1)
    with np.errstate(invalid="ignore"):
        above = np.where(ordered > middle[:, None], ordered - middle[:, None], 0.0).sum(axis=1)
        return middle, np.sqrt(2.0 * np.pi) * above / np.maximum(count, 1)


@dataclass(frozen=True)
class TaskEvidence:
    """One task of ``n_classes`` classes as the methods see it.

    ``histogram[L]`` is the share of cases (classes weighing equally) that beat ``L`` distractors; without ``scores``
    some are not finite. ``kept`` is the share of cases that beat the rest of their own family; all else is about those.
    """

    n_classes: int
    histogram: Floats = field(default_factory=lambda: np.empty(0))
    scores: ScoreSample | None = None
    kept: float = 1.0

    @cached_property
    def curve(self) -> tuple[Floats, Floats]:
        """Every ``k`` from 2 on and the average test accuracy there."""
        k = np.arange(2.0, self.n_classes + 1.0)
        if self.n_classes <= _SMALL:
            return k, np.asarray(self.histogram @ _credits(self.n_classes), dtype=np.float64)
        return k, average_accuracy(self.histogram)[1:]

    @cached_property
    def sketch(self) -> tuple[Floats, Floats, Floats]:
        """About a hundred log-spaced points of the curve, each with the number of ``k`` it stands for.

        A curve of thousands of points has a few dozen degrees of freedom: least squares on these points, each
        weighted by its stretch, is least squares on all of them.
        """
        k = np.arange(2.0, self.n_classes + 1.0)
        if k.size > _CURVE_POINTS:
            k = np.unique(np.round(np.geomspace(2.0, self.n_classes, _CURVE_POINTS)))
        edges = np.concatenate([[1.5], (k[1:] + k[:-1]) / 2.0, [self.n_classes + 0.5]])
        if self.n_classes <= _SMALL:
            return k, self.curve[1][k.astype(np.intp) - 2], np.diff(edges)
        return k, average_accuracy(self.histogram, k), np.diff(edges)

    def known_scores(self, name: str, *, complete: bool = False) -> ScoreSample:
        """The scores, for a method that cannot do without them, or not without every one of them."""
        if self.scores is None:
            remedy = "replace ±inf or use a rank method such as 'probit_normal'"
            raise InputError("method", f"{name!r} needs finite scores", remedy)
        if complete and self.scores.depth is not None:
            remedy = "use 'tail' or a rank method such as 'probit_normal', or a random part of the classes"
            raise InputError("method", f"{name!r} needs every score, and these are too many to keep", remedy)
        return self.scores

    @property
    def last_accuracy(self) -> float:
        """Accuracy at the largest number of classes seen, losses inside the own family included."""
        return self.kept * float(self.histogram[-1])

    def whole_task(self, fit: Favorability) -> Favorability:
        """A fit to the cases that beat their own family, with those that did not: these never win again."""
        if self.kept >= 1.0:
            return fit
        return mix([fit, Favorability(miss=np.ones(1), miss_weight=np.ones(1))], [self.kept, 1.0 - self.kept])


@lru_cache(maxsize=8)
def _credits(n_classes: int) -> Floats:
    """What every number of wins (rows) is worth at 2 … ``n_classes`` classes: the same for all resamples of a task."""
    return credit(np.arange(float(n_classes)), np.arange(2.0, n_classes + 1.0), n_classes - 1)


@documented
class GrowthMethod:
    """Turns what was seen at ``k1`` classes into a distribution of favorability.

    A class that derives from it need only define ``name`` and ``fit``, and ``needs_scores`` where ranks are not enough.
    """

    name: str
    needs_scores: ClassVar[bool] = False

    def fit(self, evidence: TaskEvidence) -> Favorability:
        """The fitted distribution."""
        raise NotImplementedError

    def variants(self) -> tuple[GrowthMethod, ...]:
        """The settings among which a back-test chooses; itself alone where nothing is to be chosen."""
        return (self,)

    def settled(self, evidence: TaskEvidence) -> GrowthMethod:
        """The method with its data-driven settings fixed, so that a resample does not choose them anew."""
        return self


@dataclass(frozen=True, eq=False)
class Wins:
    """Distractors beaten and tied per case, out of ``n_classes − 1``; ``case_share`` weighs classes equally."""

    n_classes: int
    case_class: Indices
    case_share: Floats
    beaten: Floats
    tied: Floats
    ties: Ties

    @property
    def n_cases(self) -> int:
        """Test cases."""
        return int(self.case_class.size)

    @cached_property
    def n_tested(self) -> int:
        """Classes (or families) with test cases of their own."""
        return int(np.unique(self.case_class).size)

    def case_weight(self, class_weight: Floats) -> Floats:
        """Weights of the cases, summing to one, so that classes weigh as given however many cases they have."""
        weight = class_weight[self.case_class] * self.case_share
        return np.asarray(weight / weight.sum(), dtype=np.float64)


@dataclass(frozen=True)
class KeptScores:
    """The scores of every case: all of them (``best`` None), or the best of each case with the classes they are of."""

    values: Floats
    true: Floats
    middle: Floats
    spread: Floats
    best: NDArray[np.int32] | None = None


@dataclass(frozen=True, eq=False)
class ScoreTask(Wins):
    """Test cases × classes, kept as bits: who beat whom (and who tied, where ties exist); 20,000 classes need 50 MB.

    Where classes come in families, ``n_classes`` counts families: a case competes with the best class of every other
    family, and ``own_family`` is its chance to come out first in its own.
    """

    beaten: Floats = field(init=False)
    tied: Floats = field(init=False)
    beaten_bits: Bits = field(kw_only=True)
    tied_bits: Bits | None = field(kw_only=True)
    scores: KeptScores | None = None
    own_family: Floats | None = None
    classes_each: float = 1.0
    hints: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        wins = self.counts(np.ones((self.n_classes, 1)))
        self.__dict__.update(beaten=wins[0][:, 0], tied=wins[1][:, 0])

    def counts(self, class_weight: Floats) -> list[Floats]:
        """Beaten and tied distractors of every case (rows) when classes weigh as in each column."""
        weight = np.ascontiguousarray(class_weight, dtype=np.float32)
        counted = []
        for bits in (self.beaten_bits, self.tied_bits):
            counted.append(np.zeros((self.n_cases, weight.shape[1])))
            for rows, block in self._unpacked(bits):
                counted[-1][rows] = block @ weight
        return counted

    def _unpacked(self, bits: Bits | None) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        if bits is None:
            return
        for rows in row_blocks(self.n_cases, self.n_classes):
            yield rows, np.unpackbits(bits[rows], axis=1, count=self.n_classes).astype(np.float32)

    @property
    def wins(self) -> Wins:
        """Beaten and tied alone, without who beat whom."""
        return Wins(self.n_classes, self.case_class, self.case_share, self.beaten, self.tied, self.ties)

    def whole(self) -> TaskEvidence:
        """All classes."""
        return self.evidence(np.ones(self.n_classes), self.beaten, self.tied, self.n_classes)

    def evidence(self, copies: Floats, beaten: Floats, tied: Floats, n_classes: int) -> TaskEvidence:
        """The task in which every class appears as often as ``copies`` tells; wins of all cases in it."""
        drawn = copies[self.case_class] > 0
        weight = self.case_weight(copies)
        kept = 1.0
        if self.own_family is not None:
            weight = weight * self.own_family
            kept = float(weight.sum())
            drawn &= weight > 0
            weight = weight / kept if kept > 0 else weight
        if not drawn.any():
            return TaskEvidence(n_classes, np.eye(n_classes)[0], None, kept=0.0)
        histogram = win_histogram(beaten[drawn], tied[drawn], weight[drawn], n_classes, self.ties)
        losses = np.maximum(n_classes - 1.0 - beaten - (1.0 - LOST_OF_TIES[self.ties]) * tied, 0.0)
        sample = self._sample(np.flatnonzero(drawn), copies, weight, losses)
        return TaskEvidence(n_classes, histogram, sample, kept=kept)

    def parts(self, share: float, n: int, seed: int) -> Iterator[TaskEvidence]:
        """Random parts of the classes, disjoint as far as they fit, so that all classes are used evenly."""
        size = max(2, round(share * self.n_classes))
        inside = np.zeros((self.n_classes, n))
        column, split = 0, 0
        while column < n:
            order = np.random.default_rng([seed, 1, split]).permutation(self.n_classes)
            for start in range(0, self.n_classes - size + 1, size):
                part = order[start : start + size]
                if column < n and np.isin(part, self.case_class).any():
                    inside[part, column] = 1.0
                    column += 1
            split += 1
        for copies, beaten, tied in zip(inside.T, *(wins.T for wins in self.counts(inside)), strict=True):
            yield self.evidence(copies, beaten, tied, size)

    def resamples(self, n: int, seed: int) -> Iterator[TaskEvidence]:
        """Class bootstrap: copies of the own class are no competitors, and wins are rescaled to ``k1 − 1``."""
        drawn = np.empty((self.n_classes, n))
        for number in range(n):
            rng, draw = np.random.default_rng([seed, 2, number]), np.empty(0, dtype=np.intp)
            # A resample without any tested class is no task, and with one competitor, drawn again and again, no scale.
            while not np.isin(draw, self.case_class).any() or np.unique(draw).size < min(3, self.n_classes):
                draw = rng.integers(0, self.n_classes, self.n_classes)
            drawn[:, number] = np.bincount(draw, minlength=self.n_classes)
        for copies, beaten, tied in zip(drawn.T, *(wins.T for wins in self.counts(drawn)), strict=True):
            competitors = self.n_classes - copies[self.case_class]
            scale = (self.n_classes - 1.0) / np.maximum(competitors, 1.0)
            yield self.evidence(copies, beaten * scale, tied * scale, self.n_classes)

    def _sample(self, cases: Indices, copies: Floats, weight: Floats, losses: Floats) -> ScoreSample | None:
        kept = self.scores
        if kept is None:
            return None
        if kept.best is not None and copies.min() < 1:
            # A part or a resample of a very large task: some thousands of its cases, in no order, tell as much.
            cases = np.sort(np.random.default_rng(0).permutation(cases)[:_ENOUGH_CASES])
        own, weight = self.case_class[cases], weight / weight[cases].sum()
        depth = None
        if kept.best is None:
            classes = np.repeat(np.arange(self.n_classes), copies.astype(np.intp))
            others = kept.values[np.ix_(cases, classes)]
            others[classes[None, :] == own[:, None]] = -np.inf
        else:
            # The best scores of each case, as often as their class was drawn; their order stays.
            often = copies[kept.best[cases]].astype(np.intp)
            depth = often.sum(axis=1)
            flat = np.repeat(kept.values[cases].ravel(), often.ravel())
            place = np.arange(flat.size) - np.repeat(np.cumsum(depth) - depth, depth)
            others = np.full((cases.size, int(depth.max())), -np.inf)
            others[np.repeat(np.arange(cases.size), depth), place] = flat
        return ScoreSample(
            true=kept.true[cases],
            others=others,
            count=copies.sum() - copies[own],
            weight=weight[cases],
            depth=depth,
            middle=kept.middle[cases],
            spread=kept.spread[cases],
            losses=losses[cases],
            n_tested=int(np.count_nonzero(np.bincount(own))),
            resampled=bool(copies.max() > 1),
            ties=self.ties,
        )

    def standard_error(self, k: Floats) -> tuple[Floats, str]:
        """Delete-one-class jackknife at some forty numbers of classes: a class counts as a task and as a competitor."""
        if self.n_classes < 3 or self.n_tested < 2:
            return np.full(k.size, np.nan), "none: too few classes to leave one out"
        points, without = self.without_each
        return np.interp(np.log(k), np.log(points), jackknife_error(without)), "class jackknife"

    @cached_property
    def without_each(self) -> tuple[Floats, Floats]:
        """Some forty numbers of classes, and the accuracies there (columns) with each class left out (rows)."""
        # With one class left out there is no task of all k1: its error is taken from k1 − 1.
        points = np.unique(np.round(np.geomspace(2.0, max(self.n_classes - 1.0, 2.0), _JACKKNIFE_POINTS)))
        beaten, tied = self.beaten, self.tied
        share_of_case = self.case_weight(np.ones(self.n_classes))
        weight = share_of_case if self.own_family is None else share_of_case * self.own_family
        left = self.n_classes - 2
        kept = tie_credit(beaten, tied, points, left, self.ties) * weight[:, None]
        total = np.tile(kept.sum(axis=0), (self.n_classes, 1))
        for bits, wins, ties in ((self.beaten_bits, beaten - 1.0, tied), (self.tied_bits, beaten, tied - 1.0)):
            lost = tie_credit(wins, ties, points, left, self.ties) * weight[:, None] - kept
            for rows, block in self._unpacked(bits):
                total += block.T @ lost[rows].astype(np.float32)
        np.subtract.at(total, self.case_class, kept)
        share = np.bincount(self.case_class, weights=share_of_case, minlength=self.n_classes)
        return points, total / (1.0 - share)[:, None]


def jackknife_error(without: Floats) -> Floats:
    """Standard errors from what was found with each class left out (rows)."""
    n = without.shape[0]
    return np.asarray(np.sqrt(((without - without.mean(axis=0)) ** 2).sum(axis=0) * (n - 1.0) / n), dtype=np.float64)


def spread_between_classes(credit: Floats, case_class: Indices) -> Floats:
    """Standard error of a mean over classes, from the classes' own means (columns are numbers of classes)."""
    number = np.unique(case_class, return_inverse=True)[1]
    counts = np.bincount(number)
    means = np.stack([np.bincount(number, weights=column) / counts for column in credit.T], axis=1)
    return np.asarray(means.std(axis=0, ddof=1) / np.sqrt(counts.size), dtype=np.float64)


def from_scores(
    scores: Any,
    labels: Any = None,
    *,
    classes: Any = None,
    distance: bool = False,
    candidates: bool = False,
    **how: Any,
) -> ScoreTask:
    """A matrix of test cases × classes and the true class of every case.

    With ``candidates`` a row is a candidate list: a score that is missing (nan) is below all that are there.
    A class may have several columns (``classes`` then repeats its name). The rest is for :func:`_compare`.
    """
    matrix = number_matrix(scores, "scores")
    n_cases, n_columns = matrix.shape
    if n_columns < 2:
        raise InputError("scores", f"has {n_columns} column(s)", "a task needs at least two classes, one column each")
    if n_cases < 1:
        raise InputError("scores", "has no rows", "give at least one test case")
    given = None if labels is None else _column(labels, "labels", n_cases, "cases", "give one per case")
    if classes is None and given is not None:
        # The columns of a frame are named after the classes where every label is among them, if only as text, or where
        # they are numbers themselves.
        names = getattr(scores, "column_names", getattr(scores, "columns", None))
        as_text = {str(value): value for value in given.tolist()}
        by_name = [as_text.get(str(name), name) for name in names] if names is not None else []
        is_named = set(as_text.values()) <= set(by_name) or all(str(name).isdigit() for name in by_name)
        classes = by_name if names is not None and is_named else None
    total, smallest = _probability_total(matrix, distance)
    # Scores that share a fixed sum are not marginal: another class would lower them all.
    hints = () if total is None else (Note("probabilities", _OF_PROBABILITIES.format(total)),)

    def blocks() -> Iterator[tuple[slice, Floats]]:
        decisions, chosen = n_columns > 2, False
        for rows in row_blocks(n_cases, n_columns):
            block = np.asarray(matrix[rows], dtype=np.float64)
            bad = np.isnan(block)
            if candidates:
                block = np.where(bad, np.inf if distance else -np.inf, block)
            elif bad.any():
                row, column = (int(place) for place in np.argwhere(bad)[0])
                message = f"has a missing value (nan) in column {column}"
                remedy = "drop the case, or pass {candidates=True} if missing means too low to be listed"
                raise InputError("scores", message, remedy, row=rows.start + row)
            if total is not None:
                # A share rounded to 0 is taken as half the smallest that is left.
                block = np.log(np.maximum(1.0 - block if distance else block, smallest / 2.0))
            elif distance:
                block = -block
            top, low = block.max(axis=1, keepdims=True), block.min(axis=1, keepdims=True)
            decisions = decisions and bool(((block == top) | (block == low)).all())
            chosen = chosen or bool((block != block[:, :1]).any())
            yield rows, block
        if decisions and chosen:
            message = "contains decisions: no row has more than two distinct values"
            raise InputError("scores", message, "give the scores behind the decisions")

    matched = _match(given, classes, n_cases, n_columns, "classes")
    return _compare(blocks(), *matched, hints, **how)


def from_embeddings(
    gallery: ArrayLike,
    probes: ArrayLike,
    *,
    gallery_labels: Labels | None = None,
    probe_labels: Labels | None = None,
    metric: str = "euclidean",
    **how: Any,
) -> ScoreTask:
    """Gallery embeddings, one or several per class, and probes to be recognised, compared a block at a time."""
    points = {}
    for name, values in (("gallery", gallery), ("probes", probes)):
        points[name] = np.asarray(number_matrix(values, name), dtype=np.float64)
        bad = ~np.isfinite(points[name]).all(axis=1)
        if metric == "cosine":
            with np.errstate(invalid="ignore"):
                length = np.linalg.norm(points[name], axis=1, keepdims=True)
            bad |= length[:, 0] == 0.0
            points[name] = points[name] / np.where(length > 0.0, length, 1.0)
        if bad.any():
            message = "has a value that is missing or infinite, or no direction"
            raise InputError(name, message, "drop the row or embed it again", row=int(np.argmax(bad)))
    known, asked = points.values()
    if known.shape[1] != asked.shape[1]:
        message = f"has {asked.shape[1]} dimensions against {known.shape[1]} in the gallery"
        raise InputError("probes", message, "embed both by the same model")
    if known.shape[0] < 2:
        raise InputError("gallery", f"has {known.shape[0]} row(s)", "a task needs at least two classes")
    given = None if probe_labels is None else _column(probe_labels, "labels", len(asked), "cases", "give one per case")
    # Distances do not change when all points move; near the origin their squares lose fewer digits.
    centre = known.mean(axis=0)
    moved = known - centre

    def blocks() -> Iterator[tuple[slice, Floats]]:
        for rows in row_blocks(len(asked), len(known)):
            if metric == "cosine":
                yield rows, np.asarray(asked[rows] @ known.T)
                continue
            part = asked[rows] - centre
            squares = -2.0 * (part @ moved.T) + (moved * moved).sum(axis=1) + (part * part).sum(axis=1)[:, None]
            yield rows, -np.sqrt(np.maximum(squares, 0.0))

    matched = _match(given, gallery_labels, len(asked), len(known), "gallery_labels")
    return _compare(blocks(), *matched, **how)


def whole_rows(scores: Any, labels: Any, **options: Any) -> tuple[ScoreTask, KeptScores]:
    """The task with every score of every case, or an error that tells which of them has no place on a scale."""
    task = from_scores(scores, labels, **options, keep=10**9)
    if task.scores is None:
        infinite = ~np.isfinite(number_matrix(scores, "scores")).all(axis=1)
        raise InputError("scores", "has an infinite score", "replace ±inf by a number", row=int(np.argmax(infinite)))
    return task, task.scores


def _compare(
    blocks: Iterator[tuple[slice, Floats]],
    columns: Indices,
    case_class: Indices,
    hints: tuple[Note, ...] = (),
    *,
    ties: Ties = "random",
    groups: Any = None,
    keep: int = LARGEST_KEPT,
) -> ScoreTask:
    """The task from blocks of scores (cases × columns, higher is better): who beat whom, and the scores needed.

    Of several columns of a class the best counts. Up to ``keep`` scores are kept.
    """
    n_classes = n_units = int(columns.max()) + 1
    family = family_numbers(groups, n_classes)
    unit = case_class
    if family is not None:
        n_units, unit = int(family.max()) + 1, family[case_class]
    if n_units < 2:
        raise InputError("groups", "puts all classes into one family", "give at least two families")
    parts: dict[str, list[Any]] = defaultdict(list)
    finite = True
    for cases, block in blocks:
        finite = finite and bool(np.isfinite(block).all())
        rows, own = np.arange(block.shape[0]), unit[cases]
        if n_classes < columns.size:
            order, starts = _by_number(columns)
            block = np.maximum.reduceat(block[:, order], starts, axis=1)
        true = block[rows, case_class[cases]]
        if family is not None:
            # The best class of every family; in its own a case stands for itself, and its siblings for a chance.
            sibling = family[None, :] == own[:, None]
            sibling[rows, case_class[cases]] = False
            level = (sibling & (block == true[:, None])).sum(axis=1)
            chances = {"random": 1.0 / (level + 1.0), "optimistic": np.ones(rows.size), "pessimistic": level == 0}
            beaten_by = (sibling & (block > true[:, None])).sum(axis=1)
            parts["own_family"].append(np.where(beaten_by > 0, 0.0, chances[ties]))
            order, starts = _by_number(family)
            block = np.asarray(np.maximum.reduceat(block[:, order], starts, axis=1))
            block[rows, own] = true
        equal = block == true[:, None]
        equal[rows, own] = False
        parts["beaten"].append(np.packbits(block < true[:, None], axis=1))
        parts["tied"].append(np.packbits(equal, axis=1))
        others = block.copy()  # the block may be a part of the caller's matrix
        others[rows, own] = -np.inf
        middle, spread = middle_and_spread(others[:, :: max(1, n_units // _ENOUGH_COLUMNS)])
        if case_class.size * n_units > keep:
            depth = min(BEST_KEPT, n_units - 1)
            place = np.argpartition(others, n_units - depth, axis=1)[:, n_units - depth :]
            others = np.take_along_axis(others, place, axis=1)
            order = np.argsort(-others, axis=1)
            others = np.take_along_axis(others, order, axis=1)
            parts["best"].append(np.take_along_axis(place, order, axis=1).astype(np.int32))
        for name, values in (("true", true), ("middle", middle), ("spread", spread), ("values", others)):
            parts[name].append(values)

    def joined(name: str) -> Any:
        # Parts are let go, so that a large task is not in memory twice.
        return np.concatenate(parts.pop(name)) if name in parts else None

    if not any(part.any() for part in parts["tied"]):
        del parts["tied"]
    # ±inf has a rank but no place on a scale: the rank methods stay.
    scores = KeptScores(*map(joined, ("values", "true", "middle", "spread", "best"))) if finite else None
    return ScoreTask(
        n_classes=n_units,
        case_class=unit,
        case_share=1.0 / np.bincount(case_class, minlength=n_classes)[case_class],
        beaten_bits=joined("beaten"),
        tied_bits=joined("tied"),
        ties=ties,
        scores=scores,
        own_family=joined("own_family"),
        classes_each=n_classes / n_units,
        hints=hints,
    )


def _by_number(number: Indices) -> tuple[Indices, Indices]:
    """The order that puts equal numbers (all from 0 up) side by side, and where each of them begins."""
    order = np.argsort(number, kind="stable")
    return order, np.searchsorted(number[order], np.arange(int(number.max()) + 1))


def family_numbers(groups: Any, n_classes: int) -> Indices | None:
    """The family of every class, numbered from 0; None where classes come one by one."""
    if groups is None:
        return None
    names = _column(groups, "groups", n_classes, "classes", "give the family of every class, in order").tolist()
    number = np.unique([str(name) for name in names], return_inverse=True)[1].astype(np.intp)
    return None if int(number.max()) + 1 == n_classes else number


def _array(values: Any, name: str) -> NDArray[Any]:
    """Lists, frames, series, sparse matrices and tensors (also on a graph or a device) as one NumPy array."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    if hasattr(values, "toarray"):
        values = values.toarray()
    try:
        return np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    except ValueError:
        raise InputError(name, "has rows of different lengths", "give every row the same number of columns") from None


def number_matrix(values: Any, name: str) -> NDArray[Any]:
    """A table of numbers from whatever contains one."""
    array = _array(values, name)
    if array.ndim != 2:
        raise InputError(name, f"has {array.ndim} dimension(s)", "give a table with two: rows and columns")
    try:
        array = array.astype(np.float64) if array.dtype.kind in "OSU" else array
    except (TypeError, ValueError, OverflowError):
        array = array.astype(object)
    if array.dtype.kind not in "biuf":  # text, dates, complex numbers
        raise InputError(name, "contains values that are not numbers", "leave labels and names out of the table")
    for rows in row_blocks(*array.shape) if array.dtype == np.float64 else ():
        huge = np.isfinite(array[rows]) & (np.abs(array[rows]) > _LARGEST)
        if huge.any():
            row = rows.start + int(np.argmax(huge.any(axis=1)))
            raise InputError(name, f"has a number beyond {_LARGEST:g}", "divide all of them by a constant", row=row)
    return array


def _column(values: Any, name: str, n: int, of: str, remedy: str) -> NDArray[Any]:
    """As many labels or names as there are of something, none of them missing."""
    column = _array(values, name).ravel()
    if column.size != n:
        raise InputError(name, f"has {column.size} values for {n} {of}", remedy)
    for row, value in enumerate(column.tolist() if column.dtype.kind not in "biuSU" else ()):
        if isinstance(value, list | tuple | dict | set | np.ndarray):
            raise InputError(name, "contains a list or another collection", "give single values", row=row)
        if not isinstance(value, str) and is_missing(value):
            raise InputError(name, "has a missing value", "give it a value or drop it", row=row)
    return column


def _match(
    labels: NDArray[Any] | None, classes: Any, n_cases: int, n_columns: int, class_name: str
) -> tuple[Indices, Indices]:
    """The class number of every column, and of every case."""
    if labels is None:
        if n_cases != n_columns:
            message = f"is missing for {n_cases} cases and {n_columns} classes"
            raise InputError("labels", message, "without it, case i must belong to class i")
        return np.arange(n_columns), np.arange(n_cases)
    if classes is not None:
        names = _column(classes, class_name, n_columns, "columns", "give one per column, in order").tolist()
    else:
        names = list(range(n_columns))  # any other rule would be a guess where a class has no cases
    number: dict[Any, int] = {}
    columns = np.array([number.setdefault(name, len(number)) for name in names], dtype=np.intp)
    cases = np.empty(n_cases, dtype=np.intp)
    for row, value in enumerate(labels.tolist()):
        if value not in number:
            message = f"is {show(value)}, which is none of the {len(number)} classes ({listed(number, 4)})"
            remedy = "add its column, or drop the case"
            if classes is None:
                message = f"is {show(value)}, but without names labels are column numbers, 0 to {n_columns - 1}"
                remedy = f"name the class of each column with {{{class_name}}}"
            raise InputError("labels", message, remedy, row=row)
        cases[row] = number[value]
    return columns, cases


def _probability_total(matrix: NDArray[Any], distance: bool) -> tuple[float | None, float]:
    """1 or 100 where the rows are probabilities or per cent, None where they are not; and the smallest share above 0.

    They may be rounded, and some rows may lack classes: the middle sum is within 1% of the total and 95% of the rows
    within 5%. Of distances the complements to 1 are looked at.
    """
    sums, smallest = np.empty(matrix.shape[0]), 1.0
    for rows in row_blocks(*matrix.shape):
        block = np.asarray(matrix[rows], dtype=np.float64)
        block = 1.0 - block if distance else block
        if not (block >= 0.0).all():
            return None, smallest
        sums[rows] = block.sum(axis=1)
        smallest = min(smallest, float(np.min(block, where=block > 0.0, initial=1.0)))
    for total in (1.0, 100.0):
        if abs(np.median(sums) / total - 1.0) < 0.01 and np.mean(np.abs(sums / total - 1.0) < 0.05) > 0.95:
            return total, smallest
    return None, smallest
