"""Whom to treat: what treating the best of a list brings, from the rows of a randomised trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from types import SimpleNamespace
from typing import Any, ClassVar, overload

import numpy as np

from ..errors import InputError, different_lengths, look_up
from ..estimate import Estimate, Interval, Settings
from ..inference.differences import DifferenceTest
from ..inference.limits import mover_limits
from ..inference.uplift import Trial, UpliftSums, t_test
from ..quotas import resolve_quota
from ..ranking import membership
from ..sources.arrays import as_column, as_numbers, check_negatives, is_positive
from ..sources.given_columns import read_columns
from ..sources.rules import LARGEST_SUMMED
from ..table import ByMeasure, DictResult, Figure, HasReport, Section, Table, p_value, pluralize, values_of
from ..types import Floats, Label, Labels, Scores, TableSource
from ..validate import check_columns, check_models, checked
from ..verdict import Models, percent
from .planning import amount

_STEPS = 50  # places at which a curve has its interval: every 2% of the list
_NO_INTERVAL = "the outcomes do not vary among the rows that tell"
_MEANINGS = {
    "uplift": "rise of the mean outcome by the treatment",
    "gain": "gain of the next campaign, a list of this size",
    "over_random": "how much more than with as many at random",
    "everyone": "gain of treating everyone",
    "qini": "mean gain per case over all quotas, above random",
    "auuc": "mean gain per case over all quotas",
}


def _cell(e: Estimate) -> str:
    """A value with its interval in a table: with two digits more than in a sentence."""
    value, low, high = (amount(x, (e.high - e.low) / 100.0) for x in (e.value, e.low, e.high))
    return f"{value} ({low} to {high})" if e.low == e.low else value


@dataclass(frozen=True, eq=False, repr=False)
class Uplift(HasReport, DictResult, ByMeasure):
    """What treating the best of a list brings, each value with its interval.

    ``estimates`` are ``uplift@20%`` (how much larger the mean outcome of the best 20% is because they are treated),
    ``gain@20%`` (what treating the best 20% of a new list of the same size brings, against treating nobody),
    ``over_random@20%`` (how much more that is than treating as many at random), ``everyone`` (the gain of treating
    everyone), ``qini`` and ``auuc`` (see :func:`uplift`). ``quota`` is the number of cases treated. ``plot`` draws the
    gain by number of cases treated.
    """

    pictures: ClassVar[tuple[str, ...]] = ("uplift",)

    name: str
    quota: int
    estimates: Mapping[str, Estimate]
    settings: Settings
    sums: UpliftSums = field(repr=False)
    influences: Mapping[str, Floats] = field(repr=False)
    outcome: str = ""  # the column of amounts, if it has a name

    def __getitem__(self, name: str) -> Estimate:
        short = {key.partition("@")[0]: key for key in self.estimates}
        return look_up(self.estimates, short.get(name, name) if isinstance(name, str) else name, "measure")

    @property
    def title(self) -> str:
        """What a page calls it."""
        return f"Uplift by {self.name}"

    @property
    def who(self) -> str:
        """Who is treated, in words."""
        share = f"{100.0 * self.quota / self.sums.n:.3g}%"
        return f"the best {share} ({self.quota:,} of {self.sums.n:,})"

    @cached_property
    def curve(self) -> Table:
        """The gain of treating the best so many, with its interval, and of treating as many at random."""
        n = self.sums.n
        taken = np.unique(np.append(np.linspace(0, n, min(n, _STEPS) + 1).round().astype(int), self.quota))
        binary, level = self.sums.trial.binary, self.settings.level
        limits = [Interval(0.0, 0.0), *(self.sums.at(k).interval(level, binary) for k in taken[1:])]
        low, high = (taken * np.array(column) for column in zip(*limits, strict=True))
        gains = {"gain": self.sums.gain[taken], "low": low, "high": high, "random": self.sums.lift[n] * taken}
        return Table({"taken": taken, **gains}, "Gain by number of cases treated")

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each measure."""
        return [{"measure": key, **e.to_dict(), "reason": e.reason} for key, e in self.estimates.items()]

    def to_dict(self) -> dict[str, Any]:
        """The measures, the sizes of the arms, and the curve."""
        treated = int(self.sums.trial.treated.sum())
        arms = {"rows": self.sums.n, "treated_rows": treated, "control_rows": self.sums.n - treated}
        curve = self.curve.to_dicts()
        return {**values_of(self, "name", "quota"), **arms, "measures": self.to_dicts(), "curve": curve}

    def gain_in_words(self, key: str, than: str = "") -> str:
        """A gain with its interval; outcomes that happen or not are counted."""
        e = self[key]
        if e.value != e.value:
            return f"an unknown number: {e.reason}"
        binary, spread = self.sums.trial.binary, e.high - e.low
        of = f" {'outcomes' if binary else self.outcome}".rstrip() * bool(than)
        unit = (" more" if e.value >= 0.0 else " fewer" if binary else " less") + of
        limits = f" ({percent(e.level)} interval {amount(e.low, spread)} to {amount(e.high, spread)})"
        return f"about {amount(abs(e.value), spread)}{unit}{than}{limits if e.low == e.low else ''}"

    def about_everyone(self) -> str:
        """The gain of treating everyone, and of treating as many at random, in a sentence."""
        spread = (self["everyone"].high - self["everyone"].low) * self.quota / self.sums.n
        random = amount(self.quota * float(self.sums.lift[-1]), spread)
        everyone = f"Treating everyone brings {self.gain_in_words('everyone')}"
        return f"{everyone}, treating {self.quota:,} at random about {random}."

    def sentences(self) -> list[str]:
        """The gain at the quota, that of treating everyone, and whether the score is better than chance."""
        gain, over = self["gain"], self["over_random"]
        if gain.value != gain.value:
            return [f"What treating {self.who} by {self.name} brings is not known: {gain.reason}."]
        chance = ", which could be chance" if gain.low <= 0.0 <= gain.high else ""
        brings = self.gain_in_words("gain", " than treating nobody")
        words = [f"Treating {self.who} by {self.name} brings {brings}{chance}.", self.about_everyone()]
        if over.low == over.low and self.quota < self.sums.n:
            side = "better" if over.low > 0.0 else "worse" if over.high < 0.0 else "not clearly better"
            more = self.gain_in_words("over_random")
            words.append(f"Choosing by {self.name} is {side} than choosing at random: {more} with as many treated.")
        return words

    def sections(self, **options: Any) -> list[Section]:
        """The answer in words, the gain by number of cases treated, and the measures."""
        rows = [
            {"measure": k, "value": _cell(e), "note": _MEANINGS[k.partition("@")[0]]} for k, e in self.estimates.items()
        ]
        treated = int(self.sums.trial.treated.sum())
        trial = f"The trial has {pluralize(treated, 'treated row')} and {pluralize(self.sums.n - treated, 'control')}."
        answer = Section("answer", [*self.sentences(), trial, Figure("uplift", [self])])
        return [answer, Section("measures", [Table(rows, "Measures")])]


@dataclass(frozen=True, eq=False, repr=False)
class UpliftComparison(HasReport, DictResult, Models[Uplift]):
    """Several targeting scores on the same trial: a mapping from name to :class:`Uplift`, with paired differences.

    ``difference``, ``differences`` and ``verdict`` are those of a comparison of models; rows that both scores treat
    cancel out.
    """

    pictures: ClassVar[tuple[str, ...]] = ("uplift",)
    title: ClassVar[str] = "Comparison of targeting scores"

    evaluations: Mapping[str, Uplift]
    specs: Mapping[str, Any]
    settings: Settings
    margin: float | None = None

    @property
    def cases(self) -> float:
        """The rows of the trial."""
        return float(self.first.sums.n)

    def _test(self, a: str, b: str, key: str) -> DifferenceTest:
        one, two = self.evaluations[a], self.evaluations[b]
        gap = one[key].value - two[key].value
        test = t_test(gap, one.influences[key], two.influences[key], one.sums.trial, self.settings.level)
        ranks = [membership(x.sums.score, x.quota) if "@" in key else x.sums.group for x in (one, two)]
        alike = np.array_equal(ranks[0], ranks[1])  # as far as the measure sees
        if test.low == test.low or gap != gap or alike:
            return test
        # nobody among those whom one score alone treats had the outcome: each uplift has an interval of its own
        limits = mover_limits(*((each[key].value, each[key].interval) for each in (one, two)))
        return DifferenceTest(*limits, p_value=1.0, method="newcombe")

    def to_dict(self) -> dict[str, Any]:
        """Each score, the differences, and which is best at the quota."""
        scores = [one.to_dict() for one in self.evaluations.values()]
        differences = self.differences.to_dicts()
        return {"scores": scores, "differences": differences, "verdicts": [v.to_dict() for v in self.decided]}

    def sentences(self) -> list[str]:
        """What the best score brings and what the others bring, whether they differ, and treating everyone."""
        key = self.key("gain")
        valued = [one for one in self.values() if one[key].value == one[key].value]
        if len(valued) < 2:
            return [sentence for one in valued or self.values() for sentence in one.sentences()]
        best = self.verdict(key, "whom to treat")
        first = self[best.best]
        words = f"Treating {first.who} by {best.best} brings {first.gain_in_words(key, ' than treating nobody')}"
        others = [f"by {name} {one.gain_in_words(key)}" for name, one in self.items() if name != best.best]
        led = {"clear": f"Use {best.best}: ", "not tested": ""}.get(best.status, f"{best.best} is ")
        told = [f"{led}{best.sentence}."]
        if len(self) == 2:
            d = next(iter(best.differences.values()))
            gap, low, high = (amount(x, d.high - d.low) for x in (d.difference, d.low, d.high))
            if d.low == d.low:
                told.append(f"The difference is {gap} ({low} to {high}, {p_value(d.p_value, named=True)}).")
        return [f"{words}, {', '.join(others)}.", *told, first.about_everyone()]

    def sections(self, **options: Any) -> list[Section]:
        """The answer in words, the gains by number of cases treated, the measures and the differences."""
        rows, pairs = [], []
        for key in self.first.estimates:
            each = {name: _cell(one[key]) for name, one in self.items()}
            rows.append({"measure": key, **each, "note": _MEANINGS[key.partition("@")[0]]})
        for d in self.differences:
            gap = _cell(Estimate("", d["difference"], d["low"], d["high"]))
            pairs.append({**{name: d[name] for name in ("a", "b", "measure")}, "difference": gap})
            pairs[-1] |= {"p": p_value(d["p_adjusted"]), "reading": d["reading"]}
        answer = Section("answer", [*self.sentences(), Figure("uplift", list(self.values()))])
        pair = Section("pairs", [Table(pairs, self.differences.title)])
        return [answer, Section("measures", [Table(rows, "Measures")]), pair]


@overload
def uplift(
    source: Labels | TableSource | None = None,
    /,
    outcome: Scores | str | None = None,
    y_score: Scores | None = None,
    *,
    treated: Labels | str | None = None,
    score: str | None = None,
    propensity: float | Scores | str | None = None,
    quota: int | float = 0.2,
    pos_label: Label = None,
    level: float = 0.95,
) -> Uplift: ...
@overload
def uplift(
    source: Labels | TableSource | None = None,
    /,
    outcome: Scores | str | None = None,
    y_score: Mapping[str, Scores] | None = None,
    *,
    treated: Labels | str | None = None,
    score: Sequence[str] | None = None,
    propensity: float | Scores | str | None = None,
    quota: int | float = 0.2,
    pos_label: Label = None,
    level: float = 0.95,
) -> UpliftComparison: ...
@checked(score=check_columns)
def uplift(
    source: Any = None,
    /,
    outcome: Any = None,
    y_score: Any = None,
    *,
    treated: Any = None,
    score: Any = None,
    propensity: Any = None,
    quota: int | float = 0.2,
    pos_label: Label = None,
    level: float = 0.95,
) -> Any:
    """Estimate what treating the cases with the highest scores brings, from the rows of a randomised trial.

    Pass arrays, ``uplift(treated, outcome, y_score)``, or a table and the names of its columns,
    ``uplift(table, treated="mailed", outcome="bought", score="p")``.

    ``y_score`` is the targeting score of each row, or a mapping from name to scores, which compares them on the same
    rows. The uplift of the best k is the difference of the mean outcomes of those treated and not treated among them,
    each row weighted by the inverse ``propensity`` of its arm (Hájek's estimator). Without ``propensity``, or with one
    number for all rows, it is the plain difference of means: everyone had the same chance to be treated. With
    gain(k) = k · uplift(k) and n rows,

        auuc = 1/n · Σ gain(k)/n,    qini = auuc − 1/n · Σ (k/n) · uplift(n),    k = 1 … n,

    in outcomes per case of the list. The first is the area under the cumulative gain (Gutierrez & Gérardy 2016), the
    second the Qini of Yadlowsky et al. (2025) and of maq, against treating k at random. In causalml
    ``auuc_score(normalize=False)`` is auuc · n²/(n + 1), which is divided by the gain of treating everyone by default.
    The Qini of causalml and scikit-uplift (Radcliffe 2007) counts treated rows of the trial: its curve is uplift(k)
    times the treated rows among the best k. Where scores are tied, all of these depend on the order of the rows; here a
    cut inside a tie takes the share of the tie that it takes on average over all orders.

    Intervals are for new cases like these. That of an uplift or gain is made of the intervals of both arms
    (Newcombe 1998): Wilson's for outcomes of 0 and 1, Student's t for amounts. All others are Student's t with the
    influence of each row. They allow for a cut that moves with the sample. The rows must come from a
    randomised trial: otherwise the arms differ for other reasons than the treatment.

    >>> up = uplift([1, 0, 1, 0, 1, 0, 1, 0], [1, 0, 1, 1, 0, 0, 0, 1], [8, 7, 6, 5, 4, 3, 2, 1], quota=0.5)
    >>> up["uplift@50%"].value, up["gain"].value, up["everyone"].value, up["auuc"].value
    (0.5, 2.0, 0.0, 0.1796875)
    """
    named = ""
    if isinstance(treated, str) or score is not None:
        columns = isinstance(treated, str) and isinstance(outcome, str) and score is not None
        if source is None or y_score is not None or not columns:
            remedy = "pass a table, and name its columns: {treated}, {outcome} and {score}"
            raise InputError(None, "arrays and names of columns are mixed", remedy)
        names = [score] if isinstance(score, str) else list(score)
        others = [outcome, *([propensity] if isinstance(propensity, str) else [])]
        rows = read_columns(source, treated, [*names, *others], pos_label=pos_label)
        named, treated, outcome, pos_label = outcome, rows.positive, rows.scores[outcome], None
        propensity = rows.scores[propensity] if isinstance(propensity, str) else propensity
        y_score = rows.scores[score] if isinstance(score, str) else {name: rows.scores[name] for name in names}
        name = score if isinstance(score, str) else ""
    else:
        if (source is None) == (treated is None):
            problem = "is missing" if source is None else "is given twice"
            raise InputError("treated", problem, "pass who was treated first, or as {treated}")
        treated, name = source if treated is None else treated, "score"
        for argument, given in (("outcome", outcome), ("y_score", y_score)):
            if given is None:
                remedy = "pass it, or name the columns of a table: {treated}, {outcome}, {score}"
                raise InputError(argument, "is missing", remedy)
    several = isinstance(y_score, Mapping)
    scores = check_models(y_score, "y_score") if several else {name: y_score}
    trial = _trial(treated, outcome, propensity, pos_label)
    n = len(trial.treated)
    places = resolve_quota(quota, n)
    results = {}
    for model, values in scores.items():
        try:
            column = as_numbers(values, "y_score")[0].astype(np.float64)
            if len(column) != n:
                raise different_lengths("y_score", len(column), "treated", n)
        except InputError as error:
            raise error.but(model=model) if several else error from None
        results[model] = replace(_evaluated(str(model), UpliftSums(trial, column), places, quota, level), outcome=named)
    if not several:
        return results[name]
    # scores do not differ in the gain of everyone, and in that over random as they do in the gain
    keys = [key for key in next(iter(results.values())).estimates if not key.startswith(("everyone", "over_random"))]
    return UpliftComparison(results, dict.fromkeys(keys, SimpleNamespace(better="higher")), Settings(level=level))


def _trial(treated: Any, outcome: Any, propensity: Any, pos_label: Any) -> Trial:
    """The rows of a trial, checked."""
    labels = as_column(treated, "treated")
    try:
        arm = is_positive(labels, pos_label)
        check_negatives(labels, arm, pos_label)
    except InputError as error:
        raise error.but(argument="treated" if error.argument == "y_true" else error.argument) from None
    values, low, high = as_numbers(outcome, "outcome")
    n = len(arm)
    if len(values) != n:
        raise different_lengths("outcome", len(values), "treated", n)
    if max(-low, high) > LARGEST_SUMMED:
        row, far = int(np.argmax(np.abs(values))), f"beyond ±{LARGEST_SUMMED:g}, too far out to be added up"
        raise InputError("outcome", f"is {values[row]:g}, {far}", "pass smaller numbers", row=row)
    if arm.all() or not arm.any():
        who = "every row was treated" if arm.all() else "no row was treated"
        raise InputError("treated", f"has one arm only: {who}", "pass the treated and the controls of a trial")
    if n > 10 and np.array_equal(values, arm):
        raise InputError("outcome", "equals treated in every row", "pass what happened to each row")
    if propensity is None:
        return Trial(arm, values.astype(np.float64), np.ones(n))
    chance = (
        np.full(n, propensity, np.float64) if isinstance(propensity, Real) else as_numbers(propensity, "propensity")[0]
    )
    chance = chance.astype(np.float64)
    if len(chance) != n:
        raise different_lengths("propensity", len(chance), "treated", n)
    bad = ~((chance > 0.0) & (chance < 1.0))
    if bad.any():
        row = int(np.argmax(bad))
        remedy = "pass the probability of each row to be treated, strictly between 0 and 1"
        raise InputError("propensity", f"is {chance[row]:g}", remedy, row=row)
    return Trial(arm, values.astype(np.float64), 1.0 / np.where(arm, chance, 1.0 - chance))


def _evaluated(name: str, sums: UpliftSums, places: int, quota: int | float, level: float) -> Uplift:
    """The measures of one score, each with its interval and the influence of each row on it."""
    n, at = sums.n, f"@{100.0 * quota:.12g}%" if isinstance(quota, float) else f"@{quota}"
    cut, all_rows, (area, of_area) = sums.at(places), sums.at(n), sums.auuc
    reason = "" if cut.value == cut.value else f"no {'treated row' if cut.arms[1].rows else 'control'} is among them"
    found: list[tuple[str, float, Floats, Interval, str]] = []
    for key, one, times in (("uplift" + at, cut, 1), ("gain" + at, cut, places), ("everyone", all_rows, n)):
        low, high = one.interval(level, sums.trial.binary)
        found.append((key, one.value * times, one.influence * times, Interval(low * times, high * times), "newcombe"))
    above, random = (cut.value - all_rows.value) * places, (n + 1.0) / (2.0 * n)  # the mean of k/n
    if abs(above) < 1e-12 * n * float(np.abs(sums.trial.outcome).max()):  # of a tie of all, what rounding leaves
        above = 0.0
    for key, value, influence, other in (
        (f"over_random{at}", above, cut.influence * places, all_rows.influence * places),
        ("qini", area - random * all_rows.value, of_area, random * all_rows.influence),
        ("auuc", area, of_area, np.zeros(n)),
    ):
        test = t_test(value, influence, other, sums.trial, level)
        found.append((key, value, influence - other, Interval(test.low, test.high), "t"))
    estimates = {}
    for key, value, _, limits, method in found:
        why = reason if value != value else _NO_INTERVAL if limits.low != limits.low else ""
        estimates[key] = Estimate(key, value, *limits, level, "" if why else method, why)
    return Uplift(name, places, estimates, Settings(level=level), sums, {key: row for key, _, row, *_ in found})
