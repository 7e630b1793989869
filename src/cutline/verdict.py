"""One judgement for each question, told the same wherever it is told.

A :class:`Difference` tells whether the data separate two models by one measure; a :class:`Verdict` which model is best
by it, and whether that is sure. Headline, recommendation, tables, page and JSON render them; none judges again.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import combinations
from statistics import NormalDist
from typing import Any, Literal, NamedTuple, TypeVar

from .catalogue.declare import parse_measure
from .errors import InputError, NoSuchKey, listed, show
from .estimate import Estimate
from .inference.differences import DifferenceTest
from .inference.paired import holm
from .partition import label_of
from .quotas import why_no_cut
from .table import HasSections, MappingResult, PicklesFields, Section, Table, format_value, joined, pluralize, round_up
from .types import Better
from .validate import check_text, checked

Finding = Literal["higher", "lower", "equivalent", "cannot tell", "not tested"]
Status = Literal["clear", "equivalent", "level", "cannot tell", "not tested", "only model"]
Outcome = Literal["pass", "fail", "undecided"]
_SIGN = re.compile(">=|<=|[<>≥≤]")
_SIGNS = {"≥": ">=", "≤": "<="}
_KEEPS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
# "f1(new) - f1(old)", and "f1(new)"; a name in parentheses may have no parentheses itself, nor be an option (beta=2)
_DIFFERENCE = re.compile(r"([^()]+(?:\([^()]*\))?)\(([^()]*)\)\s*[-−]\s*\1\(([^()]*)\)")
_OF_MODEL = re.compile(r"([^()]+(?:\([^()]*\))?)\(([^()=]*)\)")
_MINUS = re.compile(r"\)\s*[-−]")  # a difference, or an attempt at one
_SAME = 1e-12  # of a value: what sums of shared places may differ by rounding
POWER = 0.8  # the usual convention (Cohen 1988)
E = TypeVar("E", bound=Any)


@dataclass(frozen=True, eq=False, repr=False)
class Difference(PicklesFields, Mapping[str, Any]):
    """Two models by one measure, as a − b. Reads as an object and as a mapping.

    ``p_adjusted`` is Holm's p-value over the ``comparisons`` made: all pairs of models by this measure. ``verdict`` is
    ``higher`` or ``lower`` only if the interval excludes 0 and the adjusted p-value is below 1 − level,
    ``equivalent`` if the interval lies inside ± margin, and ``cannot tell`` otherwise. ``leader`` is the better model
    if there is one, ``reading`` the verdict in words. ``freedom`` are the degrees of freedom of the standard error,
    which comes from ``rows`` cases. ``note`` tells why no difference could be told, however large.
    """

    a: str
    b: str
    measure: str
    difference: float
    low: float
    high: float
    standard_error: float
    p_value: float
    p_adjusted: float
    method: str
    better: Better
    level: float
    margin: float | None
    comparisons: int
    rows: float = math.nan
    freedom: float = math.nan
    note: str = ""

    @property
    def verdict(self) -> Finding:
        """Whether a and b differ significantly, and how."""
        if self.low != self.low or self.p_value != self.p_value:
            return "not tested"
        if self.margin is not None and -self.margin < self.low and self.high < self.margin:
            return "equivalent"
        if (self.low > 0 or self.high < 0) and self.p_adjusted < 1.0 - self.level:
            return "higher" if self.low > 0 else "lower"
        return "cannot tell"

    @property
    def leader(self) -> str | None:
        """The better model, if the difference is significant."""
        if self.verdict not in ("higher", "lower"):
            return None
        return self.a if self.verdict == self.better else self.b

    @property
    def reading(self) -> str:
        """The verdict in words: which model has the higher (or lower) value of the measure."""
        if self.leader is None:
            why = f": {self.note}" if self.note and self.verdict == "cannot tell" else ""
            return "" if self.verdict == "not tested" else self.verdict + why
        beyond = self.margin is not None and (self.low > self.margin or self.high < -self.margin)
        return f"{self.leader}: {self.better} {self.measure}" + (" by more than the margin" if beyond else "")

    def turned(self) -> Difference:
        """The same as b − a."""
        return replace(self, a=self.b, b=self.a, difference=-self.difference, low=-self.high, high=-self.low)

    def __getitem__(self, key: str) -> Any:
        if not isinstance(key, str) or key not in _KEYS:
            raise NoSuchKey("key", f"is {show(key)}", f"choose one of {listed(_KEYS)}")
        return getattr(self, key)

    def __iter__(self) -> Iterator[str]:
        return iter(_KEYS)

    def __len__(self) -> int:
        return len(_KEYS)

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        ends = f" [{format_value(self.low)}, {format_value(self.high)}]" if self.low == self.low else ""
        p = f", adjusted p = {format_value(self.p_adjusted)}" if self.p_adjusted == self.p_adjusted else ""
        said = f": {self.reading}" if self.reading else ""
        return f"Difference({self.a} − {self.b}, {self.measure}: {format_value(self.difference)}{ends}{p}{said})"


_KEYS = (*(f.name for f in fields(Difference)[:10]), "verdict", "reading")


def differences_of(
    measure: str,
    better: Better,
    pairs: Sequence[tuple[str, str, float, DifferenceTest]],
    level: float,
    margin: float | None = None,
    rows: float = math.nan,
) -> list[Difference]:
    """All pairs of models by one measure, adjusted for one another; ``rows``: the cases that they were compared on."""
    adjusted = holm([tested.p_value for *_, tested in pairs])
    comparisons = sum(p == p for p in adjusted)
    differences = []
    for (a, b, gap, t), p in zip(pairs, adjusted, strict=True):
        ends = (gap, t.low, t.high, t.standard_error, t.p_value, p, t.method)
        differences.append(
            Difference(a, b, measure, *ends, better, level, margin, comparisons, rows, t.freedom, t.note)
        )
    return differences


@dataclass(frozen=True, eq=False)
class Verdict(PicklesFields):
    """Which model is best by one measure, and how certain that is.

    ``differences`` are those between the best model and each other model. ``status`` is ``clear`` if it differs
    significantly from every other model that has a value, ``equivalent`` if all differ by less than the margin,
    ``level`` if another has the same value, and ``cannot tell`` otherwise. ``rivals`` are the models that do not differ
    significantly.
    """

    question: str
    measure: str
    best: str
    value: Estimate
    differences: Mapping[str, Difference]

    @property
    def tested(self) -> dict[str, Difference]:
        """The models that it was tested against."""
        return {name: d for name, d in self.differences.items() if d.verdict != "not tested"}

    @property
    def without_value(self) -> list[str]:
        """The models that have no value of this measure."""
        return [name for name, d in self.differences.items() if d.difference != d.difference]

    @property
    def rivals(self) -> dict[str, Difference]:
        """The models that do not differ significantly from the best."""
        return {name: d for name, d in self.tested.items() if d.leader != self.best}

    @property
    def rival(self) -> Difference | None:
        """The closest of the rivals; if some differ by less than the margin, the closest of the others."""
        rivals = list(self.rivals.values())
        undecided = [d for d in rivals if d.verdict != "equivalent"] or rivals
        return min(undecided, key=lambda d: abs(d.difference), default=None)

    @property
    def tied(self) -> list[str]:
        """The models that share the best value, by name: the best model alone where no other has it."""
        level = [name for name, d in self.differences.items() if abs(d.difference) <= _SAME * abs(self.value.value)]
        return sorted([self.best, *level])

    @property
    def lead(self) -> str:
        """The verdict in a few words: whom to use if that is clear, who is ahead, or who is tied."""
        if self.status == "clear":
            return f"use {self.best}"
        if self.status == "equivalent":
            return f"{joined(sorted([self.best, *self.tested]))} differ by less than the margin"
        if len(self.tied) > 1:
            return f"{joined(self.tied)} are tied"
        return f"{self.best} is ahead, but not clearly" if self.status == "cannot tell" else f"{self.best} is ahead"

    @property
    def cases_needed(self) -> float | None:
        """The number of cases like these that detect a difference between the best model and ``rival`` with 80% power:
        a difference of the margin, or else of the observed size. None if there is no rival, or no number can be given.
        """
        rival = self.rival
        undecided = rival is not None and rival.verdict != "equivalent" and self.status in ("cannot tell", "level")
        return cases_needed(rival) if undecided else None  # type: ignore[arg-type]

    def need(self, write: Callable[[float], str] = format_value) -> str:
        """The number of cases needed, in words; empty where no number can be given. ``write``: a margin in words."""
        cases, rival = self.cases_needed, self.rival
        if cases is None or rival is None:
            return ""
        size = "the observed size" if rival.margin is None else write(rival.margin)
        size += f" from {rival.b}" if len(self.differences) > 1 else ""
        return f"you would need about {pluralize(round_up(cases), 'case')} to detect a difference of {size} (80% power)"

    @property
    def comparisons(self) -> int:
        """Pairs of models that the p-values are adjusted for."""
        return max((d.comparisons for d in self.differences.values()), default=0)

    @property
    def status(self) -> Status:
        """The verdict in one word."""
        if not self.differences:
            return "only model"
        if not self.tested:
            return "not tested"
        if self.rival is None:
            return "clear"
        if all(d.verdict == "equivalent" for d in self.tested.values()):
            return "equivalent"
        return "level" if len(self.tied) > 1 else "cannot tell"

    @property
    def sure(self) -> bool:
        """Whether the best model differs significantly from every other."""
        return self.status in ("clear", "only model")

    @property
    def adjusted(self) -> str:
        """How the p-values are adjusted, in words; empty for a single comparison."""
        return f" (adjusted for {self.comparisons} comparisons)" if self.comparisons > 1 else ""

    @property
    def sentence(self) -> str:
        """The verdict in words: the one sentence that every page and command prints."""
        return self.told()

    def told(self, write: Callable[[float], str] = format_value) -> str:
        """The same with margins in a reader's unit, by ``write``."""
        rival, status = self.rival, self.status
        if status == "only model":
            return "It is the only model"
        if status == "not tested":
            alone = "it cannot be compared: no other model has a value"
            why = next((f": {d.method}" for d in self.differences.values() if d.method), " without intervals")
            return alone if len(self.without_value) == len(self.differences) else f"differences are not tested{why}"
        others, several = joined(list(self.tested)), len(self.tested) > 1
        if rival is None:
            differ = f"differences from {others} are" if several else f"difference from {others} is"
            return f"the {differ} statistically significant{self.adjusted}"
        if status == "equivalent":
            margin = write(math.nan if rival.margin is None else rival.margin)
            return f"{others} {'differ' if several else 'differs'} by less than {margin}"
        need = self.need(write)
        cases = f"; {need}" if need else ""
        if status == "level":
            return f"tied with {joined([name for name in self.tied if name != self.best])}{cases}"
        why = f": {rival.note}" if rival.note else self.adjusted
        return f"ahead of {rival.b}, but the difference could be chance{why}{cases}"

    @property
    def needs(self) -> dict[str, Any]:
        """The number of cases needed, and the true difference it is for: ``margin`` or ``observed``."""
        cases, rival = self.cases_needed, self.rival
        basis = "observed" if rival is None or rival.margin is None else "margin"
        return {"cases_needed": cases, "cases_needed_for": None if cases is None else basis}

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain values."""
        return {
            "question": self.question,
            "measure": self.measure,
            "best": self.best,
            "value": self.value.value,
            "sure": self.sure,
            "status": self.status,
            "tied": self.tied if len(self.tied) > 1 else [],
            "rivals": list(self.rivals),
            "comparisons": self.comparisons,
            **self.needs,
            "text": self.sentence,
        }

    def __repr__(self) -> str:
        value = f"{self.measure} {format_value(self.value.value)}"
        return f"Verdict({self.question}: {self.best}, {value}; {self.sentence})"


def verdict_of(
    question: str, measure: str, best: str, value: Estimate, models: Sequence[str], differences: Sequence[Difference]
) -> Verdict:
    """The verdict on the best model, from the differences of all pairs."""
    by_pair = {(d.a, d.b): d for d in differences}
    others = [name for name in models if name != best]
    to_others = {o: by_pair[best, o] if (best, o) in by_pair else by_pair[o, best].turned() for o in others}
    return Verdict(question, measure, best, value, to_others)


class Models(MappingResult[str, E]):
    """Several models, each with its estimates: a mapping from model to evaluation that judges between them.

    What compares them gives ``evaluations``, ``specs``, ``settings`` and ``margin``, and tests one pair by one measure.
    """

    evaluations: Mapping[str, E]
    specs: Mapping[str, Any]
    settings: Any
    margin: float | None
    _test: Callable[[str, str, str], DifferenceTest]  # of two models by one measure, as the measure declares

    @property
    def cases(self) -> float:
        """The number of rows that models were compared on; nan if it is not one number."""
        return math.nan

    def key(self, measure: str) -> str:
        """The measure string under which a measure stands here."""
        return str(self.first[measure].name)

    @property
    def decided(self) -> list[Verdict]:
        """The verdict by each measure that some model has a value of."""
        values = {key: [ev.estimates[key].value for ev in self.evaluations.values()] for key in self.specs}
        return [self.verdict(key) for key, every in values.items() if not all(map(math.isnan, every))]

    def best(self, measure: str) -> str:
        """Name of the best model by a measure; the first one if several are equal."""
        key = self.key(measure)
        sign = 1.0 if self.specs[key].better == "higher" else -1.0
        estimates = {name: ev.estimates[key] for name, ev in self.evaluations.items()}
        worth = {name: sign * e.value for name, e in estimates.items() if e.value == e.value}
        if not worth:
            why = next(iter(estimates.values())).reason
            raise InputError("measure", f"{measure!r} is undefined for every model: {why}")
        return max(worth, key=worth.__getitem__)

    @cached_property
    def table(self) -> Table:
        """One row for each measure, one column for each model."""
        rows = []
        for key, spec in self.specs.items():
            values = {name: ev.estimates[key].value for name, ev in self.evaluations.items()}
            rows.append({"measure": key, "better": spec.better, **values})
        return Table(rows, "Models side by side")

    def _differences_by(self, key: str) -> list[Difference]:
        """The differences of all pairs by one measure, tested when first asked for: an answer reads a few measures."""
        tested: dict[str, list[Difference]] = self.__dict__.setdefault("_tested", {})
        if key not in tested:
            values = {name: ev.estimates[key].value for name, ev in self.evaluations.items()}
            pairs = [(a, b, values[a] - values[b], self._test(a, b, key)) for a, b in combinations(values, 2)]
            better = self.specs[key].better
            tested[key] = differences_of(key, better, pairs, self.settings.level, self.margin, self.cases)
        return tested[key]

    @cached_property
    def differences(self) -> Table:
        """For each pair of models and each measure: difference (a − b), interval, p-values, and the verdict.

        ``p_adjusted`` is Holm's over the pairs of one measure. ``verdict`` is ``higher`` or ``lower`` if the interval
        excludes 0 and the adjusted p-value is small enough, ``equivalent`` if the interval lies inside ± margin, and
        ``cannot tell`` otherwise. ``reading`` is the verdict in words.
        """
        rows = [dict(row) for key in self.specs for row in self._differences_by(key)]
        return Table(rows, "Differences between models (a − b)")

    def _of_models(self, *names: str) -> list[E]:
        """The evaluations of some of the models; raises an error for a name that is not among them."""
        for name in names:
            if not isinstance(name, str) or name not in self.evaluations:
                raise InputError(None, f"there is no model {show(name)}", f"choose from {listed(self.evaluations)}")
        return [self.evaluations[name] for name in names]

    def difference(self, a: str, b: str, measure: str) -> Difference:
        """Two of the models by one measure, as a − b."""
        for row in self._differences_by(self.key(measure)) if isinstance(a, str) and isinstance(b, str) else ():
            if (row.a, row.b) == (a, b):
                return row
            if (row.a, row.b) == (b, a):
                return row.turned()
        remedy = f"the models are {listed(self.evaluations)}"
        raise InputError(None, f"there is no pair of models {show(a)} and {show(b)}", remedy)

    @checked(question=check_text)
    def verdict(self, measure: str, question: str = "") -> Verdict:
        """Which model is best by a measure, and whether it differs significantly from every other."""
        key, best = self.key(measure), self.best(measure)
        value = self.evaluations[best].estimates[key]
        asked = question or f"which model has the best {key}"
        return verdict_of(asked, key, best, value, list(self.evaluations), self._differences_by(key))

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each model and measure."""
        return [{"model": name, **row} for name, ev in self.evaluations.items() for row in ev.to_dicts()]


_TOO_SMALL = 1e6  # standard errors; more cases than any list has would be needed for such a difference


def cases_needed(gap: Difference) -> float | None:
    """Cases that would detect a difference: n·(z_{α/2m} + z_power)²·SE²/δ².

    δ is the margin, or else the observed difference. None where the standard error is not known or the number would be
    longer than any list, and, without a margin, where the models cannot be told from equal even before the adjustment
    for m comparisons: their difference may be noise, and a number made from it could be anything.
    """
    error, equal = gap.standard_error, not gap.p_value <= 1.0 - gap.level or gap.low <= 0.0 <= gap.high
    size = abs(gap.difference) if gap.margin is None else gap.margin
    if not 0.0 < error < math.inf or not gap.freedom >= 1.0 or not size > 0.0 or (gap.margin is None and equal):
        return None
    normal = NormalDist()
    z = normal.inv_cdf(1.0 - (1.0 - gap.level) / (2.0 * max(1, gap.comparisons))) + normal.inv_cdf(POWER)
    return gap.rows * (z * error / size) ** 2 if z * error < _TOO_SMALL * size else None


class Condition(NamedTuple):
    """A measure and the limit that it must keep: of the one model that is checked, of one model among several, or the
    difference of two of them (first − second).
    """

    measure: str
    sign: str
    limit: float
    models: tuple[str, ...] = ()

    def __str__(self) -> str:
        values = " - ".join(f"{self.measure}({model})" for model in self.models) or self.measure
        return f"{values} {self.sign} {self.limit:g}"

    def judge(self, estimate: Estimate, *, alone: bool = True) -> tuple[Outcome, str]:
        """Pass where the whole interval keeps the limit, fail where none of it does, else undecided; and why.

        One of several segments (not ``alone``) may lack an interval: it has a single cluster or batch.
        """
        if estimate.value != estimate.value:
            return "undecided", f"it has no value here: {estimate.reason or 'undefined'}"
        if estimate.low != estimate.low:
            if not alone:
                return "undecided", f"{format_value(estimate.value)}, which has no interval here"
            raise InputError(
                None, f"{self.measure} has no interval, so it cannot be checked", "evaluate it with interval='auto'"
            )
        # the end of the interval that keeps the limit least, and the one that keeps it best
        worst, best = (estimate.low, estimate.high) if self.sign[0] == ">" else (estimate.high, estimate.low)
        ends = f"{format_value(estimate.low)} to {format_value(estimate.high)}"
        evidence = f"{format_value(estimate.value)}, {percent(estimate.level)} interval {ends}"
        keeps = _KEEPS[self.sign]
        if keeps(worst, self.limit):
            return "pass", evidence
        return ("undecided" if keeps(best, self.limit) else "fail"), evidence


def percent(share: float) -> str:
    """A level or a chance with the digits that it needs: 95%, 97.5%, 98.33%."""
    return f"{100.0 * share:.4g}%"


def parse_condition(text: Any) -> Condition:
    """Read a condition such as ``hit_rate@200 >= .5``, ``brier_score < 10%`` or ``f1(new) - f1(old) >= -0.01``.

    >>> parse_condition("hit_rate@200 >= .5")
    Condition(measure='hit_rate@200', sign='>=', limit=0.5, models=())
    >>> parse_condition("f1(new) - f1(old) >= -1%")
    Condition(measure='f1', sign='>=', limit=-0.01, models=('new', 'old'))
    """
    sign = max(_SIGN.finditer(text), key=re.Match.start, default=None) if isinstance(text, str) else None
    measure, limit = ("", "") if sign is None else (text[: sign.start()].strip(), text[sign.end() :].strip())
    number = limit.replace("−", "-")  # the minus sign, as sentences have it
    try:
        value = float(number[:-1]) / 100.0 if number.endswith("%") else float(number)
    except ValueError:
        value = math.nan
    if any(re.search(r"\w", rest) for rest in re.split("[<>≤≥]", measure, maxsplit=1)[1:]):
        raise InputError(None, f"{show(text)} is more than one condition", "give each by itself")
    if sign is None or not measure or measure.endswith("=") or value != value:
        remedy = "write a measure, >=, <=, > or <, and a number: 'roc_auc >= 0.8'"
        raise InputError(None, f"{show(text)} is not a condition", remedy)
    pair, one = _DIFFERENCE.fullmatch(measure), _OF_MODEL.fullmatch(measure)
    models: tuple[str, ...] = ()
    if pair is not None:
        measure, models = pair[1].strip(), (pair[2].strip(), pair[3].strip())
    elif _MINUS.search(measure):
        remedy = "write e.g. 'roc_auc(new) - roc_auc(old) >= -0.01'"
        raise InputError(None, f"{show(text)} is not a difference of two models by one measure", remedy)
    elif one is not None and not is_measure(measure) and is_measure(one[1]):  # macro(f1) is a measure
        measure, models = one[1].strip(), (one[2].strip(),)
    return Condition(measure, _SIGNS.get(sign[0], sign[0]), value, models)


def is_measure(text: str) -> bool:
    """Whether a text names a measure, of two classes or of several."""
    for several in (False, True):
        with suppress(InputError):
            parse_measure(text, several=several)
            return True
    return False


class Check(HasSections, str):
    """The outcome of a check: equal to ``"pass"``, ``"fail"`` or ``"undecided"``, with the evidence in ``table``."""

    table: Table

    def __new__(cls, outcome: Outcome, table: Table) -> Check:
        """An outcome with its evidence."""
        check = super().__new__(cls, outcome)
        check.table = table
        return check

    def __reduce__(self) -> tuple[Any, ...]:
        return Check, (str(self), self.table)

    @property
    def tests(self) -> int:
        """The number of conditions, in all segments."""
        return len(self.table)

    @property
    def sentence(self) -> str:
        """The outcome in words, with the segments that it is due to."""
        rows = [row for row in self.table if row["outcome"] == str(self)]
        segments = list(dict.fromkeys(row["segment"] for row in rows if "segment" in row))
        where = f" in {listed(segments, 5)}" if segments and self != "pass" else ""
        if self != "undecided":
            return f"{'Pass' if self == 'pass' else 'Fail'}{where}."
        valued = all(math.isfinite(row["value"]) for row in rows)
        return f"Undecided{where}: {'the interval contains the limit' if valued else 'a measure has no value here'}."

    @property
    def tests_sentence(self) -> str:
        """What several conditions mean for the level; empty for one.

        A pass needs every condition, so its error is that of one test (Berger 1982, intersection–union). A fail needs
        one of them, so its error is at most the sum (Bonferroni).
        """
        tail = max((1.0 - row["level"] for row in self.table if row["level"] == row["level"]), default=math.nan) / 2.0
        if self.tests < 2 or tail != tail:
            return ""
        sums = f"the chance of a wrong fail adds up to at most {percent(min(1.0, self.tests * tail))}"
        alone = f"that of a wrong pass is at most {percent(tail)}, because all must pass"
        return f"These are {self.tests} tests: {sums}; {alone}."

    def to_dict(self) -> dict[str, Any]:
        """The outcome, the number of tests, and each condition."""
        return {"outcome": str(self), "tests": self.tests, "conditions": self.table.to_dicts()}

    def sections(self, **options: Any) -> list[Section]:
        """The outcome, the evidence for each condition, and what several conditions mean."""
        shown = ("segment", "condition", "outcome", "evidence")
        rows = [{name: row[name] for name in shown if name in row} for row in self.table]
        return [Section("answer", list(filter(None, [self.sentence, Table(rows), self.tests_sentence])))]


def check_conditions(result: Any, conditions: Sequence[str]) -> Check:
    """Check whether an evaluation or a comparison meets conditions, in each of its segments where it has some.

    Measures that were not evaluated yet are evaluated.
    """
    if not conditions:
        raise InputError(None, "check needs at least one condition", "write e.g. check(ev, 'roc_auc >= 0.8')")
    parsed = [parse_condition(text) for text in conditions]
    segments = result if hasattr(result, "key_of") else getattr(result, "by_segment", None)
    parts = {None: result} if segments is None else dict(segments.evaluations)
    first = next(iter(parts.values()))
    for condition in parsed:
        if bool(condition.models) != isinstance(first, Models):
            named = condition._replace(models=tuple(getattr(first, "evaluations", ()))[:1])
            wrong = "names a model, but one model is checked" if condition.models else "does not name one of the models"
            remedy = f"write e.g. {show(str(named))}"
            raise InputError(None, f"the condition {show(str(condition))} {wrong}", remedy)
    rows: list[dict[str, Any]] = []
    for segment, part in parts.items():
        evaluated = part.first if isinstance(part, Models) else part
        again = list(dict.fromkeys(c.measure for c in parsed if c.measure not in evaluated))
        no_cut: dict[str, str] = {}
        if segments is not None and hasattr(evaluated, "ranking") and not evaluated.rows.batched:
            quotas = {measure: quota for measure in again if (quota := parse_measure(measure).quota) is not None}
            no_cut = {measure: why_no_cut(quota, evaluated.ranking.cases) for measure, quota in quotas.items()}
        again = [measure for measure in again if not no_cut.get(measure)]
        more: Any = part.with_measures(*again) if again else part
        for condition in parsed:
            source = more if condition.measure in again else part
            reason = no_cut.get(condition.measure, "")
            about = source._of_models(*condition.models) if condition.models else [source]
            if reason:
                estimate = Estimate(condition.measure, math.nan, reason=reason)
            elif len(about) == 1:
                estimate = about[0][condition.measure]
            else:
                d = source.difference(*condition.models, condition.measure)
                why = "; ".join(filter(None, (ev[condition.measure].reason for ev in about))) or d.method
                estimate = Estimate(d.measure, d.difference, d.low, d.high, d.level, d.method, why)
            outcome, why = condition.judge(estimate, alone=segments is None)
            model = source.first if isinstance(source, Models) else source
            spec = getattr(model, "specs", {}).get(estimate.name)
            least, most = (-math.inf, math.inf) if spec is None else spec.measure.range
            least, most = (least - most, most - least) if condition.models[1:] else (least, most)  # of a difference
            if not least <= condition.limit <= most:
                why = f"{show(str(condition))} compares with a value that {condition.measure} cannot have"
                remedy = f"write {condition.limit:g}% or {condition.limit / 100.0:g}" if most == 1.0 else ""
                raise InputError(None, why, remedy or f"write a number from {least:g} to {most:g}")
            # a threshold that the condition does not name is told
            if spec is not None and spec.measure.needs_threshold and "threshold" not in condition.measure:
                threshold = model.threshold if spec.threshold is None else spec.threshold
                why += "" if threshold is None else f", at the threshold {threshold:g}"
            row: dict[str, Any] = {} if segment is None else {"segment": label_of(segment)}
            row |= {"condition": str(condition), "outcome": outcome, "value": estimate.value}
            rows.append({**row, "low": estimate.low, "high": estimate.high, "level": estimate.level, "evidence": why})
    outcomes = [row["outcome"] for row in rows]
    worst: Outcome = "fail" if "fail" in outcomes else "undecided" if "undecided" in outcomes else "pass"
    return Check(worst, Table(rows, "Conditions"))
