"""The answer: accuracy at any number of classes, observed and extrapolated, of one recogniser or of two."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, look_up, show
from ..estimate import Estimate, Interval
from ..inference.differences import DifferenceTest
from ..inference.limits import clopper_pearson, normal_quantile, scaled_limits, t_quantile, z_of
from ..reference import documented
from ..table import DictResult, Figure, HasPlot, HasSections, Section, Table, TabularResult, pluralize
from ..types import Axes, FilePath, Floats
from ..validate import check_number, check_whole, checked
from ..verdict import POWER, Difference, Verdict, differences_of, verdict_of
from .favorability import Favorability, largest_k_where
from .tasks import GrowthMethod, Note, Wins, spread_between_classes, tie_credit

# As far as the back-test looks at the noise of methods; beyond, nothing that was seen speaks for one of them.
_FAR = 10
# From so many classes on, a half has four: fewer leave too little of a curve to predict from.
FEWEST_CLASSES = 8
# A mean of methods is nearer the truth than its members are to each other: on populations with known curves this share
# of their spread gives intervals that contain the true value as often as their level.
_OF_BETWEEN = 0.7
# Of the half-width of 90% intervals by `auto` (see `_error_ends`): what counts of the sampling error downwards and
# upwards, what errors could not test, its square upwards, errors added to those seen, by how much that grows with the
# distance to k, and what counts of the lowest method and of a fit below what was seen. Chosen on seed 20 of
# benchmarks/extrapolation_intervals.py, with and without --other (284 samples of 142 populations), by the likelihood of
# a t with so many degrees of freedom and the length over benchmarks/extrapolation_families.py; judged on seed 30.
_SAMPLING_DOWN, _SAMPLING_UP, _OF_LOWEST, _OF_GAP = 2.0, 1.2, 0.25, 1.5
_ERRORS_DOWN, _ERRORS_UP, _MORE_ERRORS, _FARTHER, _FREEDOM = 1.05, 0.25, 0.65, 0.1, 5.0
# A jackknife of few classes may say too little or too much: more than this is not believed. Several cases of a class
# count as errors of so many classes at most.
_LEAST_DESIGN, _MOST_DESIGN, _MOST_CASES = 0.4, 9.0, 2.0
# Where no error was seen, this share of a class is lost per class tested, growing with √(k/k1) up to so many times. The
# largest share that lowered every error of the same samples.
_UNSEEN, _MOST_TIMES = 0.05, 20.0
# Ranks at which top-r accuracies are found where there are many.
_RANK_POINTS = 120
RANK_MEASURES = ("reciprocal_rank", "mean_rank", "median_rank")
_MOST = 2.0**63  # as many classes as other places take; products with them do not overflow


class GrowthResult(HasSections, DictResult, TabularResult):
    """A result by number of classes, with notes and a page of its own."""

    title: Any
    notes: Any

    def to_html(self, path: FilePath) -> Any:
        """Write the result as a page: one file, no network needed to read it."""
        from ..present.page import write_page

        return write_page(self, path)

    def _noted(self) -> dict[str, list[str]]:
        return {"notes": [str(note) for note in self.notes], "note_kinds": [note.kind for note in self.notes]}

    def _note_section(self) -> Iterator[Section]:
        if self.notes:
            yield Section("notes", [f"note: {note}" for note in self.notes])


@dataclass(frozen=True, eq=False, repr=False)
class GrowthTable(GrowthResult):
    """One measure by number of classes; ``result[1000]`` is the Estimate among 1,000 classes.

    ``columns`` are what else its rows tell for each number of classes, ``facts`` what all rows have in common.
    """

    title: str
    measure: str
    estimates: Mapping[int, Estimate]
    columns: Mapping[int, Mapping[str, Any]]
    notes: tuple[Note, ...]
    facts: Mapping[str, Any]
    answer: tuple[str, ...] = ()

    def __getitem__(self, k: int) -> Estimate:
        if not isinstance(k, int | float | np.integer) or k not in self.estimates:
            asked = ", ".join(map(str, self.estimates))
            raise InputError("k", f"is {show(k)}, which was not asked for", f"asked for were {asked}")
        return self.estimates[k]

    def to_dicts(self) -> list[dict[str, Any]]:
        """One row for each number of classes."""
        own = {k: {"low": e.low, "high": e.high, "level": e.level} for k, e in self.estimates.items()}
        return [{"classes": k, self.measure: self[k].value, **own[k], **self.columns[k]} for k in own]

    def to_dict(self) -> dict[str, Any]:
        """Rows, notes and what the rows have in common."""
        return {**self.facts, "predictions": self.to_dicts(), **self._noted()}

    def sections(self, *, detail: bool = False) -> Iterator[Section]:
        """The answer, the rows, and what to keep in mind; with ``detail``, what all rows have in common."""
        yield Section("answer", [*self.answer, Table(self.to_dicts(), self.title)])
        yield from self._note_section()
        if detail:
            yield Section("facts", [Table([dict(self.facts)], "What all rows have in common")])


def sizes_asked(k: Any, fewest: int = 2, *, empty: bool = False) -> list[int]:
    """Numbers of classes, one or several, as a list: each a whole number, also one written as a float."""
    given = np.ravel(k).tolist() if isinstance(k, np.ndarray) else list(k) if isinstance(k, Iterable) else [k]
    if isinstance(k, str | bytes) or (not given and not empty):
        raise InputError("k", f"is {show(k)}", "give whole numbers, such as 1000 or [100, 1000]")
    whole = (int(n) if isinstance(n, float | np.floating) and float(n).is_integer() else n for n in given)
    return list(dict.fromkeys(check_whole(n, "k", fewest) for n in whole))


def far_note(sizes: Iterable[int], seen: int, remedy: str = "") -> tuple[Note, ...]:
    """A caveat where some number of classes is far beyond those that were seen."""
    most = max(sizes, default=0)
    if most <= _FAR * seen:
        return ()
    text = f"{most:,} classes are {most / seen:,.0f} times the {seen:,} observed. Beyond ten times, the result depends "
    return (Note("far", f"{text}more on the method's shape than on the data{remedy}."),)


def logit(values: Floats | float, edge: float = 1e-5) -> Floats:
    """Log-odds, kept finite: no more than one in ``1/edge`` can be told from none."""
    inside = np.clip(values, edge, 1.0 - edge)
    return np.asarray(np.log(inside / (1.0 - inside)), dtype=np.float64)


def accuracy_interval(
    value: float, replicates: Floats, members: Floats, level: float, untested: float = 0.0
) -> tuple[float, float]:
    """Interval on the logit scale from two sources: other classes (replicates) and other methods (members).

    Replicates serve for their spread alone: a resample repeats classes, which lifts its accuracies, so their place
    is off while their scatter is right. ``untested`` is a third spread, of what neither of them shows.
    """
    reach, centre, ends = z_of(level), float(logit(value)), []
    sampled = logit(replicates) - float(logit(float(np.median(replicates))))
    between = logit(members) - centre if members.size > 1 else np.zeros(1)
    for side in (-1.0, 1.0):
        # Two sides, because a method or a resample that falls to zero tells nothing about how high the truth may be;
        # each has a spread as if the other mirrored it.
        halves = ((gap[side * gap > 0] ** 2).sum() / max(gap.size, 1) for gap in (sampled, between))
        drawn, other = (float(np.sqrt(2.0 * half)) for half in halves)
        ends.append(centre + side * reach * math.hypot(drawn, _OF_BETWEEN * other, untested))
    low, high = 1.0 / (1.0 + np.exp(-np.array(ends)))
    return float(min(low, value)), float(max(high, value))


@dataclass(frozen=True)
class BacktestRow:
    """One method in the back-test; ``weight`` is its share in `auto`, 0 where it was left out, ``reason`` explains why.

    ``bias`` is the mean error (predicted − seen) from half the classes; ``plausible`` methods stay inside the interval
    even where their weight is 0.
    """

    method: GrowthMethod
    family: str
    error_half: float = math.nan
    error_quarter: float = math.nan
    bias: float = math.nan
    spread: float = math.nan
    risk: float = math.inf
    error: float = math.inf
    weight: float = 0.0
    plausible: bool = False
    reason: str = ""

    @property
    def name(self) -> str:
        """The method's name, with its settings."""
        return self.method.name


@documented
@dataclass(frozen=True, eq=False)
class Observed:
    """Average test accuracy by number of classes (Zheng et al. Eq. 4); ``observed[50]`` is an Estimate."""

    k: Floats
    accuracy: Floats
    standard_error: Floats
    error_method: str
    level: float
    wins: Wins
    classes_each: float = 1.0

    @property
    def test_accuracy(self) -> float:
        """Accuracy in the whole task of ``k1`` classes (Eq. 3)."""
        return float(self.accuracy[-1])

    def __len__(self) -> int:
        return int(self.k.size)

    def __iter__(self) -> Iterator[int]:
        return iter(np.round(self.k).astype(int).tolist())

    def __getitem__(self, k: float) -> Estimate:
        if k not in list(self):
            remedy = f"observed are {self.k[0]:g} to {self.k[-1]:g} classes"
            raise InputError("k", f"is {k}, which was not observed", remedy)
        return self.at(k)

    def at(self, k: float, top: int = 1) -> Estimate:
        """How often the right class was among the first ``top``, for any number of classes up to the largest: between
        two that were observed it is a line in log k, and one class alone is always right.
        """
        name = _name(k, top)
        if k <= top:
            return Estimate(name, 1.0, 1.0, 1.0, self.level, "certain")
        value, error = self.value_and_error(k, top)
        if not np.isfinite(error):
            return Estimate(name, value)
        low, high = _normal_interval(value, error, self.level, self.wins.n_tested)
        return Estimate(name, value, low, high, self.level, self.error_method)

    def value_and_error(self, k: float, top: int = 1) -> tuple[float, float]:
        """The accuracy among ``k`` classes and its standard error.

        For the first ``top`` that is the spread between classes, widened as for the first: the jackknife for first
        places also counts what classes do as competitors, and the ratio of the two is kept.
        """
        at, known = np.log(k), np.log(np.append(1.0, self.k))
        value = float(np.interp(at, known, np.append(1.0, self.accuracy)))
        error = float(np.interp(at, known, np.append(0.0, self.standard_error)))
        if top == 1:
            return value, error
        wins = self.wins
        task = wins.beaten, wins.tied, np.array([float(k)]), wins.n_classes - 1, wins.ties
        first, among = (tie_credit(*task, top=places) for places in (1, top))
        value = float(wins.case_weight(np.ones(wins.n_classes)) @ among[:, 0])
        if not np.isfinite(error) or wins.n_tested < 2:
            return value, math.nan
        between, of_first = (float(spread_between_classes(c, wins.case_class)[0]) for c in (among, first))
        return value, between * max(error / of_first, 1.0) if of_first > 0 else between


def _name(k: float, top: int) -> str:
    return f"accuracy@{k}" if top == 1 else f"top{top}_accuracy@{k}"


def _normal_interval(value: float, error: float, level: float, n: int) -> tuple[float, float]:
    """Normal interval on the logit scale, which keeps it inside [0, 1]; exact binomial where no case differs."""
    if 0.0 < value < 1.0 and error > 0.0:
        return scaled_limits(value, error, math.inf, level, "logit")
    return clopper_pearson(value * n, n, level)


@dataclass(frozen=True, eq=False, repr=False)
class Extrapolation(GrowthResult):
    """Accuracy with more classes than were tested, as predicted from the observed task."""

    n_classes: int
    n_cases: int
    observed: Observed
    method: str
    favorability: Favorability
    fits: Mapping[str, Favorability]
    weights: Mapping[str, float]
    plausible: tuple[str, ...] = ()
    backtest: tuple[BacktestRow, ...] = ()
    replicates: Sequence[Favorability] = field(default=(), repr=False)
    k: tuple[int, ...] = ()
    level: float = 0.95
    general_notes: tuple[Note, ...] = ()
    classes_each: float = 1.0
    calibrated: bool = False
    pictures: ClassVar[tuple[str, ...]] = ("extrapolation",)

    def accuracy(self, k: int, *, top: int = 1) -> Estimate:
        """Expected accuracy among ``k`` classes; with ``top=t``, the probability that it is among the best t.

        Up to the ``k1`` classes that were tested, this is the observed mean over all tasks of ``k`` of them, which
        needs no model. Beyond that it is the fitted curve, joined to the observed one (see :meth:`predict`).
        """
        check_k(k)
        if check_whole(top, "top", 1) > 1 and self.classes_each > 1.0:
            raise InputError("top", f"is {top}, which families of classes do not allow", "leave it at 1")
        if k <= self.n_classes:
            return self.observed.at(k, top)
        value = float(self._values(np.array([float(k)]), top)[0])
        if not self.has_interval:
            return Estimate(_name(k, top), value)
        low, high, method = self._interval(k, top, value)
        return Estimate(_name(k, top), value, low, high, self.level, method)

    def predict(self, k: ArrayLike) -> Floats:
        """Expected accuracy at one or many numbers of classes, without intervals.

        Up to ``k1`` this is the observed curve, beyond it the fitted one. The fit need not start where the observed
        curve ends, because a smooth fit trades a little bias for less variance. If it starts lower, the gap is added
        and shrinks as ``(k1/k)²``; if it starts higher, the curve stays at the last observed value until the fit
        reaches it. So the whole curve falls without a jump and approaches the fit for large ``k``. Both ends of an
        interval follow the same rule.
        """
        kk = as_sizes(k)
        seen = self.observed
        known = np.interp(np.log(np.maximum(kk, 1.0)), np.log(np.append(1.0, seen.k)), np.append(1.0, seen.accuracy))
        return np.where(kk <= self.n_classes, known, self._values(np.maximum(kk, float(self.n_classes)), 1))

    def _values(self, k: Floats, top: int) -> Floats:
        """The fitted curve from ``k1`` on, led on from what was seen there."""
        fitted = self._read(self.favorability, np.append(k, float(self.n_classes)), top)
        seen = self.observed.at(self.n_classes, top).value
        curve = self._led_on(k, fitted[:-1], float(fitted[-1]), seen)
        if seen >= 1.0:
            # Without an error nobody knows that there will be none: some share of a class is taken to be lost.
            times = np.minimum(k / self.n_classes, _MOST_TIMES)
            curve = np.minimum(curve, 1.0 - _UNSEEN / self.observed.wins.n_tested * (np.sqrt(times) - 1.0 / times))
        return np.where(k <= top, 1.0, curve)

    def _led_on(self, k: Floats | float, curve: Floats | float, at_last: float, seen: float) -> Floats:
        """A falling curve beyond ``k1``, and its value there, led on from what was seen (see :meth:`predict`)."""
        return np.clip(curve + max(seen - at_last, 0.0) * (self.n_classes / k) ** 2, 0.0, seen)

    def _read(self, fit: Favorability, k: ArrayLike, top: int) -> Floats:
        kk = np.atleast_1d(np.asarray(k, dtype=np.float64))
        units = np.maximum(kk / self.classes_each, 1.0)
        # Only the literal spline leaves [0, 1]; a note tells you when it does.
        return np.where(kk <= top, 1.0, np.clip(fit.top_t_accuracy(top, units), 0.0, 1.0))

    @property
    def has_interval(self) -> bool:
        """Whether results beyond ``k1`` come with an interval."""
        return self.calibrated or len(self.replicates) > 0

    def _interval(self, k: float, top: int, value: float) -> tuple[float, float, str]:
        """The interval from ``k1`` on: each end of the model's is led on from the one seen, as the curve is."""
        low, high, method = self._model_interval(k, top, value)
        seen = self.observed.at(self.n_classes, top)
        model_low, model_high, _ = self._model_interval(self.n_classes, top, seen.value)
        if math.isfinite(seen.low):
            low = float(self._led_on(k, low, model_low, seen.low))
            high = float(self._led_on(k, high, model_high, seen.high))
        return min(low, value), max(high, value), method

    def _model_interval(self, k: float, top: int, value: float) -> tuple[float, float, str]:
        n = self.observed.wins.n_tested
        if self.calibrated:
            method = "model of the error"
            low, high = self._error_ends(k, top, value, n)
        else:
            method = "class bootstrap"
            drawn = np.array([self._read(fit, k, top)[0] for fit in self.replicates])
            members = np.array([self._read(self.fits[name], k, top)[0] for name in self.plausible])
            untested = 1.0 / math.sqrt(1.0 + (1.0 - self.observed.test_accuracy) * n)
            low, high = accuracy_interval(value, drawn, members, self.level, untested)
        few = self.n_classes / self.classes_each < FEWEST_CLASSES
        scored = any(row.method.needs_scores for row in self.backtest if row.weight > 0)
        seen = self.observed.test_accuracy
        if few or (seen >= 1.0 and not scored):
            # Nothing was learnt about the shape: E[U^(k−1)] ≥ E[U^(k1−1)]^((k−1)/(k1−1)) holds for every one. The
            # limits at k1 are the binomial ones, a class counting as one trial.
            at_low, at_high = _normal_interval(seen, 0.0, self.level, n)
            bound = at_low ** max((k - 1.0) / (self.n_classes - 1.0), 1.0)
            return float(min(bound, low)), float(max(at_high, high)), "bounds without a model"
        return low, high, method

    def _error_ends(self, k: float, top: int, value: float, n: float) -> tuple[float, float]:
        """Both ends by a model of the error, if ``n`` classes were tested (and ``k1`` grew with them).

        docs/extrapolation.md ("Intervals and their limits") has the formula.
        """
        tested = self.observed.wins.n_tested
        seen, error = self.observed.value_and_error(self.n_classes, top)
        here, there = (max(size / self.classes_each, 1.0) for size in (float(self.n_classes), k))
        fitted = float(self._read(self.favorability, self.n_classes, top)[0])
        between = self.favorability.case_variance(here, top)
        # 1 where every case is certain to be right or wrong, 0 where all are alike: the share of the variance of
        # answers that lies between cases. The higher, the more often were predictions too high.
        settled = min(between / max(fitted - fitted**2, 1e-9), 1.0)
        alone = between / tested
        design = 1.0
        if seen < 1.0 and math.isfinite(error):
            design = min(max(error**2 / max(alone, 1e-9), _LEAST_DESIGN), _MOST_DESIGN)
        distance = math.log(k / self.n_classes)
        growth = max(math.log(k / (self.n_classes * n / tested)), 0.0)
        left = growth / distance if distance > 0.0 else 1.0
        errors = (1.0 - seen) * n * min(max(1.0 / design, 1.0), self.n_cases / tested, _MOST_CASES)

        def place(accuracy: float) -> float:
            return float(logit((n * accuracy + 0.5) / (n + 1.0)))

        centre, inside = place(value), (n * value + 0.5) / (n + 1.0)
        scatter = math.sqrt(design * self.favorability.case_variance(there, top) / n) / (inside - inside**2)
        reach = t_quantile(self.level, _FREEDOM) / t_quantile(0.9, _FREEDOM)
        lowest = min([value, *(float(self._read(self.fits[name], k, top)[0]) for name in self.plausible)])
        unseen = _ERRORS_DOWN * (1.0 + _FARTHER * growth) / math.sqrt(_MORE_ERRORS + errors)
        gap, ends = max(place(seen) - place(fitted), 0.0), []
        for side, parts in (
            (-1.0, (_SAMPLING_DOWN * settled * scatter, unseen, left * _OF_LOWEST * (centre - place(lowest)))),
            (1.0, (_SAMPLING_UP * scatter, _ERRORS_UP * unseen**2, left * _OF_GAP * gap)),
        ):
            end = 1.0 / (1.0 + math.exp(-centre - side * reach * math.hypot(*parts)))
            ends.append(min(max(((n + 1.0) * end - 0.5) / n, 0.0), 1.0))
        return ends[0], ends[1]

    def curve(self, k: ArrayLike) -> dict[str, Floats]:
        """The same with intervals: arrays ``k``, ``accuracy``, ``low``, ``high``."""
        kk = as_sizes(k)
        low, high = np.array([self.accuracy(classes).interval for classes in kk.tolist()]).reshape(-1, 2).T
        return {"k": kk, "accuracy": self.predict(kk), "low": low, "high": high}

    def rank_measure(self, measure: str | Callable[[Floats], ArrayLike], k: int) -> Estimate:
        """Any measure of the place of the right class among ``k`` classes.

        ``measure`` is ``"reciprocal_rank"``, ``"mean_rank"``, ``"median_rank"``, ``"top(5)"`` for any number of places,
        or a function ``g`` of the places 1 … k, 1 the worst, that does not fall (Rosset section 2).

        Given ``U``, the right class has rank ``R = 1 + Binomial(k − 1, 1 − U)``. What a rank is worth, ``w(r)`` (1/r,
        or ``g(k + 1 − r)``), has the mean ``w(k) + Σ_{r<k} (w(r) − w(r + 1)) P(R ≤ r)``: a mixture of top-r
        accuracies, up to ``k1`` the observed ones, beyond the extrapolated. The ends of its interval are the same
        mixture of their ends, so it is a little long. The mean rank is ``1 + (k − 1)(1 − A)`` with ``A`` the accuracy
        between two classes, which needs no model at any ``k``. The median rank is the smallest ``r`` with a top-r
        accuracy of one half.

        Examples
        --------
        >>> import cutline as cl
        >>> scores = np.random.default_rng(0).normal(size=(30, 30)) + 2 * np.eye(30)
        >>> ex = cl.extrapolate(scores, method="probit_normal", interval=False)
        >>> round(ex.rank_measure("mean_rank", 30).value, 2), round(ex.rank_measure("reciprocal_rank", 300).value, 2)
        (2.23, 0.38)
        """
        check_k(k)
        named = re.fullmatch(r"top\((\d+)\)", measure) if isinstance(measure, str) else None
        if named is not None:
            return self.accuracy(k, top=check_whole(int(named[1]), "top", 1))
        if not callable(measure) and (not isinstance(measure, str) or measure not in RANK_MEASURES):
            remedy = f"choose {', '.join(RANK_MEASURES)}, top(5) or a function"
            raise InputError("measure", f"is {show(measure)}", remedy)
        if self.classes_each > 1.0:
            raise InputError("measure", "needs places, which families of classes do not give", "leave {groups} out")
        name = f"{measure if isinstance(measure, str) else getattr(measure, '__name__', 'g')}@{k}"
        if measure == "mean_rank":
            two = self.accuracy(2)
            value, low, high = (1.0 + (k - 1.0) * (1.0 - share) for share in (two.value, two.high, two.low))
            return Estimate(name, value, low, high, self.level, two.method)
        if measure == "median_rank":

            def half(end: str) -> float:
                if getattr(self.accuracy(k), end) >= 0.5:
                    return 1.0
                return largest_k_where(lambda r: r < k and getattr(self.accuracy(k, top=int(r)), end) < 0.5) + 1.0

            first = self.accuracy(k)
            low, high = (half("high"), half("low")) if math.isfinite(first.low) else (math.nan, math.nan)
            return Estimate(name, half("value"), low, high, self.level, first.method)
        # Every rank up to thirty, then in steps of about a tenth: P(R ≤ r) hardly bends between them.
        ranks = np.unique(np.append(np.arange(1.0, min(k, 30) + 1.0), np.round(np.geomspace(1.0, k, _RANK_POINTS))))
        worth = 1.0 / ranks if isinstance(measure, str) else np.asarray(measure(k + 1.0 - ranks), dtype=np.float64)
        if worth.shape != ranks.shape or not np.isfinite(worth).all() or (np.diff(worth) > 1e-12).any():
            raise InputError("measure", "falls from a worse place to a better one, or has no value", "let g rise")
        reached = [self.accuracy(k, top=int(rank)) for rank in ranks[:-1]]
        ends = []
        for end in ("value", "low", "high"):
            share = np.append([getattr(estimate, end) for estimate in reached], 1.0)
            between = np.where(np.diff(ranks) > 1.0, (share[1:] + share[:-1]) / 2.0, share[:-1])
            ends.append(float(worth[-1] - np.diff(worth) @ between))
        value, low, high = ends
        return Estimate(name, value, low, high, self.level, reached[0].method if reached else "certain")

    @checked(top=partial(check_whole, least=1))
    def by_method(self, k: int, *, top: int = 1) -> dict[str, float]:
        """The estimate of each method at ``k``, by name, from its own fitted curve."""
        check_k(k)
        return {name: float(self._read(fit, k, top)[0]) for name, fit in self.fits.items()}

    @checked(top=partial(check_whole, least=1))
    def range_over_methods(self, k: int, *, top: int = 1) -> Interval:
        """Smallest and largest estimate over the methods that the back-test does not exclude."""
        answers = self.by_method(k, top=top)
        values = [answers[name] for name in self.plausible]
        values = values if len(values) > 1 else list(answers.values())
        return Interval(min(values), max(values))

    def classes_until(self, accuracy: float, *, top: int = 1) -> Estimate:
        """The largest number of classes at which ``accuracy`` is still reached; inf if it never falls below."""
        if check_number(accuracy, "accuracy", 0.0, 1.0) <= 0.0:
            raise InputError("accuracy", "is 0, which every number of classes reaches", "give a number in (0, 1]")

        def reached(end: str, **how: float) -> float:
            def holds(k: float) -> bool:
                at = self.accuracy(int(k), top=top)
                if end == "value" or math.isfinite(at.low):
                    return bool(getattr(at, end) >= accuracy)
                low, high, _ = self._interval(k, top, at.value)
                return (low if end == "low" else high) >= accuracy

            return largest_k_where(holds, **how)

        name, value = f"classes_until({accuracy:g})", reached("value")
        if not self.has_interval:
            return Estimate(name, value)
        low, high = (reached(end, far=1e15, precision=1e-3) for end in ("low", "high"))
        return Estimate(name, value, low, high, self.level, "ends of the curve's interval")

    def classes_needed(self, half_width: float, k: int | None = None) -> int:
        """How many classes to collect so that the interval at ``k`` classes is about ± ``half_width``.

        By default ``k`` is the largest number of classes requested. The parts of the interval are extrapolated: the
        sampling error shrinks with the square root of the number of classes, what errors could not test with the
        number of errors, and the rest with the distance to ``k``, ``log(k/n)``, so it vanishes at ``n = k``. More than
        ``k`` classes are needed only to reduce the sampling error.
        """
        check_number(half_width, "half_width", 0.0, 0.5, open_ends=True)
        if k is None:
            k = max([*self.k, self.n_classes])
        check_k(k)
        if not self.has_interval:
            raise InputError("half_width", "needs an interval to start from", "fit with {interval=True}")
        estimate, tested = self.accuracy(k), float(self.observed.wins.n_tested)
        if not math.isfinite(estimate.low):
            raise InputError("half_width", f"needs an interval at {k} classes", "test more classes")
        if k <= self.n_classes:
            return math.ceil(self.n_classes * ((estimate.high - estimate.low) / 2.0 / half_width) ** 2)

        def modelled(n: float) -> float:
            low, high = self._error_ends(k, 1, estimate.value, tested * n / self.n_classes)
            return high - low

        # What the interval is now over what the model would make it: 1 but near k1, or for a method by name.
        ratio = estimate.interval.width / max(modelled(self.n_classes), 1e-12)
        if ratio * modelled(self.n_classes) / 2.0 <= half_width:
            return self.n_classes
        too_few = largest_k_where(lambda n: n < self.n_classes or ratio * modelled(n) / 2.0 > half_width)
        if not math.isfinite(too_few):
            message = f"is {half_width:g}, too small for any number of classes"
            raise InputError("half_width", message, "give a larger one")
        return int(too_few) + 1

    @cached_property
    def estimates(self) -> Mapping[int, Estimate]:
        """The numbers of classes that were asked for."""
        return MappingProxyType({k: self.accuracy(k) for k in self.k})

    @property
    def notes(self) -> tuple[Note, ...]:
        """Caveats, including those about the requested numbers of classes."""
        remedy = "; compare the range over methods, with --all or in to_dicts()"
        notes = self.general_notes + far_note(self.k, self.n_classes, remedy)
        fitted = self.favorability.accuracy(np.maximum(np.array(self.k, dtype=float) / self.classes_each, 1.0))
        for classes, value in zip(self.k, fitted, strict=True):
            if not 0.0 <= value <= 1.0:
                never = float(self.favorability.miss_weight[self.favorability.miss == 0.0].sum())  # the weight on U = 1
                text = f"The fit leaves [0, 1] at {classes:,} classes (D̄(1) = {1.0 - never:.3g}); the value was "
                text += "truncated. 'mixture' is the same model with the missing constraint."
                return (*notes, Note("cut_off", text))
        return notes

    def plot(self, ax: Axes | None = None, *, until: int | None = None) -> Any:
        """Observed and extrapolated accuracy against the number of classes (matplotlib)."""
        from ..present.plots import plot

        return plot(self, "extrapolation", ax=ax, until=until)

    def to_dicts(self, *, top: int = 1) -> list[dict[str, Any]]:
        """One row for each requested number of classes."""
        rows = []
        for k in self.k:
            e, reach = self.accuracy(k, top=top), self.range_over_methods(k, top=top)
            row: dict[str, Any] = {"classes": k, "accuracy": e.value, "low": e.low, "high": e.high, "level": self.level}
            row |= {"interval": e.method, "methods_low": reach.low, "methods_high": reach.high, "method": self.method}
            rows.append(row)
        return rows

    def to_dict(self, *, top: int = 1, until: float | None = None, half_width: float | None = None) -> dict[str, Any]:
        """Everything a program needs: rows, observed task, methods, back-test, notes."""
        document: dict[str, Any] = {
            "classes_seen": self.n_classes,
            "cases": self.n_cases,
            "accuracy_seen": self.accuracy(self.n_classes, top=top).value,
            "method": self.method,
            "predictions": self.to_dicts(top=top),
            "by_method": {str(k): self.by_method(k, top=top) for k in self.k},
            "backtest": self._tried(),
            **self._noted(),
        }
        if half_width is not None:
            document["classes_needed"] = self.classes_needed(half_width)
        if until is not None:
            reach = self.classes_until(until, top=top)
            document["classes_until"] = {"accuracy": until, "classes": reach.value, **reach.interval._asdict()}
        return document

    def _tried(self, *left_out: str) -> list[dict[str, Any]]:
        names = {"name": "method", "error_half": "error_from_half", "error_quarter": "error_from_quarter"}
        names |= {name: name for name in ("bias", "spread", "risk", "weight", "plausible", "reason")}
        wanted = {name: key for name, key in names.items() if name not in left_out}
        return [{key: getattr(row, name) for name, key in wanted.items()} for row in self.backtest]

    @checked(top=partial(check_whole, least=1))
    def sentences(self, *, top: int = 1, until: float | None = None, half_width: float | None = None) -> list[str]:
        """The result in words: what to expect among the largest number asked for, and how far an accuracy reaches."""
        places, seen = (f"top-{top} " if top > 1 else ""), self.accuracy(self.n_classes, top=top)
        last = max([*self.k, self.n_classes])
        at = self.accuracy(last, top=top)
        change = "down from" if at.value < seen.value else "as"
        before = f", {change} {rounded_share(seen.value)} with {self.n_classes:,}" if last > self.n_classes else ""
        said = [f"With {last:,} classes expect {places}accuracy {rounded_share(at.value)}{in_brackets(at)}{before}."]
        # Half of what is lost on the way, in steps of 5%: how far one may grow.
        goal = math.ceil((seen.value + at.value) / 2.0 * 20.0 - 1e-9) / 20.0
        if until is None and last > self.n_classes and at.value < goal < seen.value:
            reached = f"{self.classes_until(goal, top=top).value:.2g}"
            said[0] = f"{said[0][:-1]}; half of the loss comes by about {float(reached):,.0f} classes ({goal:.0%})."
        if until is not None:
            reach = self.classes_until(until, top=top)
            most = "any number" if math.isinf(reach.high) else f"{reach.high:,.0f}"
            size = "any number of classes" if math.isinf(reach.value) else pluralize(reach.value, "class", "classes")
            limits = "" if math.isnan(reach.low) else f" ({reach.low:,.0f} to {most})"
            said.append(f"{places}accuracy stays above {until:.15g} up to {size}{limits}.".capitalize())
        if half_width is not None:
            needed = f"collect about {self.classes_needed(half_width):,} classes"
            said.append(f"For an interval of ± {half_width:g} at {last:,} classes, {needed}.")
        return said

    def sections(
        self, *, top: int = 1, until: float | None = None, half_width: float | None = None, detail: bool = False
    ) -> Iterator[Section]:
        """What to expect, accuracy by number of classes, notes; with ``detail``, the methods and how each did."""
        rows = []
        for row in self.to_dicts(top=top):
            shown = {"classes": row["classes"], "accuracy": row["accuracy"]}
            wanted = ("low", "high", "methods_low", "methods_high") if detail else ("low", "high")
            rows.append(shown | {name.replace("_", " "): row[name] for name in wanted})
        said = self.sentences(top=top, until=until, half_width=half_width)
        yield Section("answer", [*said, Figure("extrapolation", self), Table(rows)])
        yield from self._note_section()
        if detail:
            yield Section("method", [f"Method: {self.method}; seen: {self.seen}"])
        if detail and self.backtest:
            tried = self._tried("bias", "risk", "plausible")
            rows = [{name.replace("_", " "): value for name, value in row.items()} for row in tried]
            yield Section("backtest", [Table(rows, "Back-test")])

    @property
    def title(self) -> str:
        """What the result is about."""
        return f"Accuracy with more than {self.n_classes:,} classes"

    @property
    def seen(self) -> str:
        """What was tested, in a few words."""
        cases = f", {pluralize(self.n_cases, 'test case')}" if self.n_cases else ""
        return f"accuracy {self.observed.test_accuracy:.4f} among {self.n_classes:,} classes{cases}"


@dataclass(frozen=True, eq=False, repr=False)
class GrowthComparison(HasPlot, GrowthResult):
    """Two recognisers by number of classes, paired: the same cases and classes, resampled together."""

    models: Mapping[str, Extrapolation]
    sizes: Floats
    errors: Floats
    critical: float
    level: float
    k: tuple[int, ...] = ()
    pictures: ClassVar[tuple[str, ...]] = ("who_leads",)

    def __getitem__(self, name: str) -> Extrapolation:
        return look_up(self.models, name, "name")

    @property
    def title(self) -> str:
        """What the result is about."""
        return f"{' and '.join(self.names)} with more than {self._first.n_classes:,} classes"

    @property
    def _first(self) -> Extrapolation:
        return next(iter(self.models.values()))

    @property
    def names(self) -> tuple[str, str]:
        """Both names, in order."""
        first, second = self.models
        return first, second

    def _gap(self, k: ArrayLike) -> Floats:
        first, second = self.models.values()
        return np.asarray(first.predict(k) - second.predict(k), dtype=np.float64)

    def difference(self, k: int) -> Difference:
        """The difference of the accuracies among ``k`` classes, with its interval and p-value."""
        check_k(k)
        gap, error = float(self._gap(k)[0]), float(np.interp(math.log(k), np.log(self.sizes), self.errors))
        tested = DifferenceTest(method="too few classes")
        if math.isfinite(error) and error > 0:
            reach, p = z_of(self.level) * error, math.erfc(abs(gap) / error / math.sqrt(2.0))
            low, high = max(gap - reach, -1.0), min(gap + reach, 1.0)
            tested = DifferenceTest(low, high, error, p, "paired class bootstrap and model of the error")
        return differences_of(f"accuracy@{k}", "higher", [(*self.names, gap, tested)], self.level)[0]

    def verdict(self, k: int | None = None) -> Verdict:
        """Which recogniser is better among ``k`` classes (by default the largest asked for), and how sure that is."""
        k = max([*self.k, self._first.n_classes]) if k is None else k
        difference = self.difference(k)
        best = self.names[0 if difference.difference >= 0 else 1]
        value = self.models[best].accuracy(k)
        question = f"which recogniser among {k:,} classes?"
        return verdict_of(question, f"accuracy@{k}", best, value, self.names, [difference])

    def band(self, k: ArrayLike | None = None) -> dict[str, Floats]:
        """The difference with a band that contains the whole curve: arrays ``k``, ``difference``, ``low``, ``high``."""
        kk = self.sizes if k is None else as_sizes(k)
        gap = self._gap(kk)
        reach = self.critical * np.interp(np.log(kk), np.log(self.sizes), self.errors)
        return {"k": kk, "difference": gap, "low": np.maximum(gap - reach, -1.0), "high": np.minimum(gap + reach, 1.0)}

    @cached_property
    def leads(self) -> Table:
        """Who leads from how many classes to how many, and where the simultaneous band shows it (``clear``)."""
        band = self.band()
        rows: list[dict[str, Any]] = []
        for size, gap, low, high in zip(*(band[key] for key in ("k", "difference", "low", "high")), strict=True):
            leader = self.names[0] if gap > 0 else self.names[1] if gap < 0 else "tied"
            clear = bool(low > 0 or high < 0)
            if rows and rows[-1]["leader"] == leader and rows[-1]["clear"] == clear:
                rows[-1]["to"] = round(size)
            else:
                rows.append({"from": round(size), "to": round(size), "leader": leader, "clear": clear})
        return Table(rows, "Who leads, by number of classes")

    @cached_property
    def crossing(self) -> Estimate | None:
        """The number of classes beyond which the other recogniser leads; None if the same one leads throughout.

        The interval reaches as far as the difference, with its pointwise interval, could be 0 around the crossing. If
        they cross several times, the last crossing counts.
        """
        gap = self._gap(self.sizes)
        turns = np.flatnonzero(np.sign(gap[1:]) * np.sign(gap[:-1]) < 0)
        if not turns.size:
            return None
        at, sign = int(turns[-1]), float(np.sign(gap[turns[-1]]))
        low, high = self.sizes[at], self.sizes[at + 1]
        while high - low > 0.5:
            middle = (low + high) / 2.0
            low, high = (middle, high) if sign * float(self._gap(middle)[0]) > 0 else (low, middle)
        unclear = np.abs(gap) < z_of(self.level) * self.errors
        first, last = at, at + 1
        while first > 0 and unclear[first]:
            first -= 1
        while last < gap.size - 1 and unclear[last]:
            last += 1
        ends = float(self.sizes[first]), math.inf if unclear[last] else float(self.sizes[last])
        return Estimate("crossing", float(math.ceil(high)), *ends, self.level, "where the difference may be 0")

    def classes_to_tell(self, k: int, *, power: float = POWER) -> float:
        """The number of classes to test so that a difference as large as this one at ``k`` is found with that power.

        The variance of the difference is taken to fall with the number of classes; inf if the difference is 0.
        """
        check_k(k)
        check_number(power, "power", 0.0, 1.0, open_ends=True)
        gap, seen = abs(float(self._gap(k)[0])), self._first.n_classes
        error = float(np.interp(math.log(k), np.log(self.sizes), self.errors))
        if gap == 0.0 or not math.isfinite(error):
            return math.inf
        return float(math.ceil(seen * ((z_of(self.level) + normal_quantile(power)) * error / gap) ** 2))

    def to_dicts(self) -> list[dict[str, Any]]:
        """One row for each number of classes asked for."""
        rows = []
        for k in self.k:
            d, needed = self.difference(k), self.classes_to_tell(k)
            row: dict[str, Any] = {"classes": k, **{name: ex.accuracy(k).value for name, ex in self.models.items()}}
            row |= {"difference": d.difference, "low": d.low, "high": d.high, "p_value": d.p_value}
            row |= {"verdict": d.verdict, "classes_to_tell": needed}
            rows.append(row | {"cases_to_tell": needed * self._first.n_cases / self._first.n_classes})
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Rows, verdict, who leads, the crossing, and both extrapolations."""
        crossing = self.crossing
        return {
            "differences": self.to_dicts(),
            "verdict": self.verdict().to_dict(),
            "leads": self.leads.to_dicts(),
            "crossing": None if crossing is None else crossing.to_dict("classes"),
            "models": {name: ex.to_dict() for name, ex in self.models.items()},
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """What to keep in mind, each sentence once."""
        return tuple(dict.fromkeys(note for ex in self.models.values() for note in ex.notes))

    def sentences(self) -> list[str]:
        """Who is better among the largest number of classes asked for, how sure that is, and where they cross."""
        last, verdict = max([*self.k, self._first.n_classes]), self.verdict()
        d, best = self.difference(last), verdict.best
        other = next(name for name in self.names if name != best)
        values = {name: rounded_share(self.models[name].accuracy(last).value) for name in self.names}
        text = f"With {last:,} classes expect {values[best]} for {best} and {values[other]} for {other}"
        said = [f"{text}: {verdict.sentence}."]
        if d.leader is None and math.isfinite(needed := self.classes_to_tell(last)):
            ex = self.models[best]
            cases = f" ({needed * ex.n_cases / ex.n_classes:,.0f} cases)" if ex.n_cases != ex.n_classes else ""
            size = f"{float(f'{needed:.2g}'):,.0f} classes{cases}"
            said.append(f"To detect a difference of this size with {POWER:.0%} power, test about {size}.")
        if self.crossing is not None:
            most = "any number" if math.isinf(self.crossing.high) else f"{self.crossing.high:,.0f}"
            beyond = self.names[0] if float(self._gap(self.sizes[-1])[0]) > 0 else self.names[1]
            size = pluralize(self.crossing.value, "class", "classes")
            said.append(f"{beyond} leads from about {size} on ({self.crossing.low:,.0f} to {most}).")
        return said

    def sections(self, *, detail: bool = False) -> Iterator[Section]:
        """The verdict, the differences by number of classes, who leads, and what to keep in mind."""
        curves = [Figure("extrapolation", ex, {"title": name}) for name, ex in self.models.items()]
        rows = [{key: value for key, value in row.items() if key != "p_value"} for row in self.to_dicts()]
        figures = [*curves, Figure("who_leads", self)]
        yield Section("answer", [*self.sentences(), *figures, Table(rows, f"Accuracy, {' − '.join(self.names)}")])
        yield Section("leads", [self.leads])
        yield from self._note_section()
        for name, ex in self.models.items() if detail else ():
            yield Section(f"method {name}", [f"{name}: {ex.method}; seen: {ex.seen}"])


def rounded_share(value: float) -> str:
    """A share as a sentence gives it: whole per cent, with digits where it is close to 0 or 1."""
    digits = 0 if 0.005 <= value <= 0.985 or value in (0.0, 1.0) else 1 if 0.0005 <= value <= 0.9985 else 2
    return f"{value:.{digits}%}"


def in_brackets(at: Estimate, shown: Callable[[float], str] = rounded_share) -> str:
    """The interval as a sentence gives it; nothing where there is none."""
    low = shown(at.low).removesuffix("%")
    return "" if math.isnan(at.low) else f" ({at.level:.0%} interval {low} to {shown(at.high)})"


def check_k(k: Any) -> None:
    """Raise an error for what is not a number of classes."""
    if isinstance(k, bool) or not isinstance(k, int | float | np.integer | np.floating) or not 1 <= k <= _MOST:
        raise InputError("k", f"is {show(k)}, which is not a number of classes", "give a whole number of 1 or more")


def as_sizes(k: ArrayLike) -> Floats:
    """One or many numbers of classes as an array; they need not be whole."""
    sizes = np.asarray(k, dtype=object).ravel()
    for size in sizes.flat:
        check_k(size)
    return sizes.astype(np.float64)
