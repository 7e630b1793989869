"""The threshold for a goal: a recall, precision, specificity or false positive rate, a quota, or the least cost.

Some cuts reach a target on new data with a stated confidence. For recall and specificity this uses order statistics
of one class, which is exact for continuous scores and errs on the safe side where scores tie. Precision is tested by
a fixed sequence of binomial tests from the top of the list.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.declare import parse_measure
from ..errors import InputError, show
from ..estimate import Estimate
from ..ranking import Ranking, rank
from ..reference import documented
from ..runtime import write_whole
from ..sources.arrays import Sample
from ..sources.given_columns import sample_from
from ..table import Section, Table, count, cut_text, format_value, in_sentence, pluralize, round_up, to_jsonable
from ..types import FilePath, Floats, Label, Labels, MeasureLike, Scores, TableSource
from ..validate import check_number, checked
from .error_costs import BestCut, ErrorPrices, best_cut, cheapest, for_costs
from .operating import OperatingPoint, operating_point

# The sequence of tests starts where odds this many times the target would be found with this probability.
# A later start finds smaller gains and leaves more samples without a cut; chosen by hand.
START_ODDS, START_POWER = 3.0, 0.8
GOALS = ("recall", "precision", "specificity", "fpr", "quota", "maximize")
_WORDS = {"recall": "recall of at least", "precision": "precision of at least"}
_WORDS |= {"specificity": "specificity of at least", "fpr": "false positive rate of at most"}


@documented
class Cut(float):
    """A threshold, with the target it meets and the counts there: take the cases with ``score > cut``.

    It is a float and can be used as one. ``goal`` contains what was asked for, ``point`` the counts and measures on the
    sample, ``chance`` how often a cut chosen this way meets its target on new data (nan if unknown), ``cost`` the
    expected cost per case if costs were given, ``best`` what a measure to maximize gives on new data and the interval
    of the threshold, ``note`` a summary in one sentence. ``save`` writes a cut file,
    ``Cut.load`` reads one; a loaded cut has no ``point``.
    """

    goal: dict[str, Any]
    note: str
    sample: dict[str, Any]
    point: OperatingPoint | None = None
    chance: float = math.nan
    cost: Estimate | None = None
    best: BestCut | None = None

    def __new__(cls, threshold: float, **known: Any) -> Cut:
        """A cut from its threshold and what is known of it, by the names of its fields."""
        cut = super().__new__(cls, threshold)
        cut.__dict__.update(known)
        return cut

    @property
    def threshold(self) -> float:
        """The threshold as a plain float."""
        return float(self)

    @property
    def text(self) -> str:
        """The threshold in a sentence, with the digits that it takes to select the same cases."""
        return cut_text(self, math.nan if self.point is None else self.point.above)

    def to_dict(self) -> dict[str, Any]:
        """What a cut file contains."""
        from .. import __version__

        more: dict[str, Any] = {} if math.isnan(self.chance) else {"chance_kept": self.chance}
        if self.cost is not None:
            more["expected_cost"] = self.cost.to_dict()
        if self.best is not None:
            more |= {"threshold_interval": list(self.best.limits), "expected": self.best.value.to_dict()}
            more["optimism"] = self.best.optimism
        taken = {"threshold": float(self), "direction": "score > threshold is taken", "goal": self.goal}
        return {"cutline": __version__, **taken, **more, "note": self.note, "sample": self.sample}

    def save(self, path: FilePath, **more: Any) -> None:
        """Write the cut as a small JSON file; ``more`` is added to it (such as the name of the score column)."""
        text = json.dumps(to_jsonable({**self.to_dict(), **more}), indent=2, ensure_ascii=False)
        with write_whole(path) as beside:
            beside.write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: FilePath) -> Cut:
        """Read a cut file."""
        content = read_cut_file(path)
        return cls(
            content["threshold"],
            goal=content.get("goal", {}),
            note=str(content.get("note", "")),
            chance=float(content.get("chance_kept", math.nan)),
            sample=content.get("sample", {}),
        )

    def sections(self) -> list[Section]:
        """Whom to take, and what the cut gives on the sample; a loaded cut has no sample."""
        taken = f"Take score > {self.text}: {self.note}."
        return [Section("answer", [taken, *([] if self.point is None else [self.here])])]

    @property
    def here(self) -> Table:
        """What the cut gives on the sample."""
        assert self.point is not None, "a loaded cut has no sample"
        p = self.point
        rows = {
            "threshold": self.text,
            "cases taken": count(p.taken),
            "recall here": format_value(p.recall),
            "precision here": format_value(p.precision),
            "false positive rate here": format_value(p.fpr),
        }
        return Table({"": name, "value": value} for name, value in rows.items())

    def __repr__(self) -> str:
        return f"Cut({float(self)!r}: {self.note})"

    def __getnewargs_ex__(self) -> tuple[tuple[float], dict[str, Any]]:
        return (float(self),), self.__dict__.copy()


def read_cut_file(path: FilePath) -> dict[str, Any]:
    """The content of a cut file, its numbers as floats; what others read of it has the type they expect."""
    if not isinstance(path, str | os.PathLike):  # open() takes 1 for the standard output, and closes it
        raise InputError("path", f"must be a path, got {path!r}")
    remedy = "write one with: cutline cut … -o cut.json"
    try:
        with open(path, encoding="utf-8") as file:
            content = dict(json.loads(file.read(1 << 24)))  # a device such as /dev/zero never ends
    except FileNotFoundError:
        raise InputError(None, f"there is no cut file {show(str(path))}", f"check its name, or {remedy}") from None
    except OSError as error:
        raise InputError(None, f"{show(str(path))} cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, RecursionError):  # no JSON, no object, brackets in brackets
        raise InputError(None, f"{show(str(path))} is not a cut file", remedy) from None
    if "threshold" not in content:
        raise InputError(None, f"{show(str(path))} contains no threshold", remedy)
    # what a cut file contains, as far as anybody reads it
    kinds = {"threshold": float, "chance_kept": float, "goal": dict, "sample": dict, "score": str}
    for key in content.keys() & kinds:
        kind, value = kinds[key], content[key]
        if kind is float and not isinstance(value, bool):
            with contextlib.suppress(ValueError, TypeError, OverflowError):
                content[key] = float(value)  # infinities are written as text
        if not isinstance(content[key], kind) or content[key] != content[key]:
            raise InputError(None, f"{show(str(path))} contains {show(value)} as its {key}", remedy)
    return content


@checked
def threshold_for(
    y_true: Labels | TableSource,
    y_score: Scores | None = None,
    *,
    label: str | None = None,
    score: str | None = None,
    weight: str | None = None,
    positives: str | None = None,
    negatives: str | None = None,
    rows: str | None = None,
    low: str | None = None,
    high: str | None = None,
    recall: float | None = None,
    precision: float | None = None,
    fpr: float | None = None,
    specificity: float | None = None,
    quota: int | float | None = None,
    maximize: MeasureLike | None = None,
    confidence: float | None = None,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
    prevalence: float | None = None,
    pos_label: Label = None,
    sample_weight: Scores | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Cut:
    """Find the threshold t that meets exactly one goal with ``score > t``.

    ``recall=0.9``: at least 0.9, with as few cases taken as possible. ``precision=0.5`` and ``specificity=0.9``: at
    least that, with as many taken as possible. ``fpr=0.1`` and ``quota=200`` (rows, or a share): at most that, with as
    many taken as possible; a tie at the quota is left out, because a threshold cannot split it. ``cost_fp`` and
    ``cost_fn``: the lowest expected cost, for the sample's share of positives or for ``prevalence``.
    ``maximize="f1"``: the best value of a measure of the four counts, such as ``youden_index``; a loss is minimized.
    The cut's ``best`` has the value to expect on new data, without the optimism of choosing the cut on these, and an
    interval of the threshold.

    With ``confidence=0.9`` the cut keeps the recall, precision, specificity or false positive rate on new data like
    these with that confidence: in at most 10 of 100 samples a cut is issued that misses its target. If there are too
    few data, an error tells how many cases are needed. Where most samples have no cut for a precision, the few that are
    issued may break it more often. Without ``confidence`` the cut meets the goal on this sample, and on new data about
    half the time. Choose a cut on data that the model was not fitted on.

    The threshold is the highest score that is not taken; if all are taken it is −inf. It is returned as a
    :class:`Cut`, a float that also has the counts on the sample (``.point``) and a summary (``.note``).

    Columns of a table are named: ``threshold_for(table, label="y", score="p", recall=0.9)``.

    >>> y, s = [1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]
    >>> float(threshold_for(y, s, recall=0.9)), float(threshold_for(y, s, quota=2))
    (0.4, 0.7)
    >>> float(threshold_for(y * 10, s * 10, recall=0.6, confidence=0.9))
    0.4
    >>> float(threshold_for(y, s, cost_fp=1, cost_fn=3)), float(threshold_for(y, s, maximize="f1"))
    (0.4, 0.4)
    """
    columns: dict[str, Any] = {"label": label, "score": score, "weight": weight, "sample_weight": sample_weight}
    columns |= {"positives": positives, "negatives": negatives, "rows": rows, "low": low, "high": high}
    sample, _ = sample_from(y_true, y_score, pos_label=pos_label, **columns)
    goals: dict[str, Any] = {"recall": recall, "precision": precision, "fpr": fpr, "specificity": specificity}
    goals |= {"quota": quota}
    goals["maximize"] = None if maximize is None else parse_measure(maximize)
    costs = {"cost_fp": cost_fp, "cost_fn": cost_fn, "prevalence": prevalence}
    ranking = rank(sample)
    return find_cut(sample, ranking, goals, costs, confidence, level=level, n_resamples=n_resamples, seed=seed)


def find_cut(
    sample: Sample,
    ranking: Ranking,
    goals: Mapping[str, Any],
    costs: Mapping[str, Any],
    confidence: float | None,
    *,
    level: float,
    n_resamples: int,
    seed: int,
    clusters: NDArray[np.int64] | None = None,
) -> Cut:
    """The cut of a checked sample for the one goal that is not None; ``clusters`` numbers the cluster of each row."""
    targets = {name: value for name, value in goals.items() if value is not None}
    priced = {name: value for name, value in costs.items() if value is not None}
    if len(targets) + ("cost_fp" in priced or "cost_fn" in priced) != 1:
        every = ", ".join(f"{{{name}}}" for name in GOALS)
        named = ", ".join(f"{{{name}}}" for name in (*targets, *priced)) or "none"
        raise InputError(None, f"give exactly one of {every}, or {{cost_fp}} with {{cost_fn}}; got {named}", "")
    if confidence is not None:
        check_number(confidence, "confidence", 0.0, 1.0, open_ends=True)
        if not targets or targets.keys() & {"quota", "maximize"}:
            raise InputError("confidence", "goes with a recall, precision, specificity or fpr", "leave it out here")
    goal, chance, cost, best_by = targets, math.nan, None, None
    if targets and "prevalence" in priced:
        raise InputError("prevalence", "goes with costs", "leave it out, or pass {cost_fp} and {cost_fn}")
    drawn: Any = {"level": level, "n_resamples": n_resamples, "seed": seed}
    if "maximize" in targets:
        spec = targets["maximize"]
        if not spec.measure.needs_threshold:
            why = f"is {spec}, which is not a measure of the four counts at a threshold"
            raise InputError("maximize", why, "choose one such as f1, youden_index or matthews_correlation")
        best_by = best_cut(sample, ranking, spec, **drawn, clusters=clusters)
        goal, value, (low, high) = {"maximize": str(spec)}, best_by.value, best_by.limits
        point = operating_point(ranking, threshold=best_by.threshold, level=level)
        note = (
            f"{spec} is {format_value(best_by.apparent)} here, the best of all cuts; expect "
            f"{format_value(value.value)} ({level:.0%} interval {format_value(value.low)} to "
            f"{format_value(value.high)}) on new data. "
        )
        anywhere = f"Another sample could place the cut anywhere from {in_sentence(low)} to {in_sentence(high)}"
        note += anywhere if len(ranking) > 1 else "All scores are equal, so no cut separates the classes"
    elif not targets:
        for name, other in (("cost_fp", "cost_fn"), ("cost_fn", "cost_fp")):
            if name not in priced:
                raise InputError(name, f"is missing: {{{other}}} needs it", "give the costs of both errors")
        prices = ErrorPrices.checked(priced["cost_fp"], priced["cost_fn"], priced.get("prevalence"))
        of_rows = None if clusters is None else {"": clusters}
        best = cheapest({"": sample}, {"": ranking}, prices, **drawn, clusters=of_rows)
        goal, cost = priced, best.cost
        point = operating_point(ranking, threshold=best.threshold, level=level)
        note = (
            f"expected cost {format_value(cost.value)} per case on new data ({cost.level:.0%} interval "
            f"{format_value(cost.low)} to {format_value(cost.high)}), {format_value(best.apparent)} here; "
            f"the cheapest cut {for_costs(*best.ratios)}"
        )
    else:
        ((name, target),) = targets.items()
        if clusters is not None and name != "quota":
            reason = "how likely it is kept is known for independent rows only"
            why = f"cannot be used for a cut that keeps a {name}: {reason}"
            raise InputError("clusters", why, f"leave it out, or read at({name}=…)")
        if confidence is not None and ranking.weighted:
            why = "cannot be used with {confidence}, which is known for rows that count alike"
            raise InputError("sample_weight", why, "leave one of them out")
        if confidence is None:
            point = operating_point(ranking, **targets, level=level)
        else:
            goal = {**targets, "confidence": confidence}
            groups = promised_groups(ranking, name, check_number(target, name, 0.0, 1.0), confidence)
            point = operating_point(ranking, threshold=ranking.score_after(groups), level=level)
        if name == "quota":
            note = f"takes {pluralize(point.taken, 'case')}"
        else:
            chance = chance_kept(ranking, name, target, ranking.above(point.threshold))
            here = {"recall": point.recall, "precision": point.precision, "fpr": point.fpr}
            here["specificity"] = 1.0 - point.fpr
            note = f"{_WORDS[name]} {target:g} on this sample, kept on new data "
            note += "about half the time" if math.isnan(chance) else f"with a probability of about {chance:.0%}"
            if confidence is not None:
                note = f"{_WORDS[name]} {target:g} on new data with {confidence:.0%} confidence"
                if name == "precision":  # tested from the top: valid over all samples, those without a cut included
                    note += f" (at most {1.0 - confidence:.0%} of samples give a cut that breaks it)"
            what = _WORDS[name].partition(" of ")[0]
            note += f"; it takes {pluralize(point.taken, 'case')}, and its {what} here is {here[name]:.3g}"
    if point.threshold == ranking.score[-1] == -math.inf:  # no score > threshold takes those that score −inf
        why = "contains −inf, and the cut takes everyone, but no threshold lies below −inf"
        raise InputError("y_score", why, "give those rows a finite score below the others")
    rows = {"rows": len(sample), "positives": int(sample.positive.sum())}
    return Cut(point.threshold, goal=goal, note=note, point=point, chance=chance, cost=cost, best=best_by, sample=rows)


# ------------------------------------------------------------------------------------------- promises for new data


def promised_groups(ranking: Ranking, promise: str, target: float, confidence: float) -> int:
    """How many of the best distinct scores to take so that the target is met on new data with that confidence.

    At most 1 − confidence of samples give a cut that misses the target; samples without a cut count as met.
    """
    share = 1.0 - target if promise == "fpr" else target
    kind = "negative" if promise in ("fpr", "specificity") else "positive"
    if share >= 1.0:
        one_more = "negative" if promise == "precision" else kind
        why = f"cannot be promised at {0 if promise == 'fpr' else 1}: no sample rules out one more {one_more} case"
        raise InputError(promise, why, "promise a little less")
    if share <= 0.0:
        return 0 if promise == "recall" else len(ranking)
    if promise == "precision":
        return _precise_groups(ranking, target, confidence)
    needed, there = cases_needed(share, confidence), ranking.n_pos if promise == "recall" else ranking.n_neg
    if there < needed:
        raise InputError(
            promise,
            f"cannot be promised from these data: {needed:,} {kind} cases would be needed, there are {there:,.0f}",
            "label more cases, ask for less, or lower {confidence}",
        )
    keeps = _class_chances(ranking, promise, target) >= confidence
    # the cuts are tried in a fixed order, from the one without errors on, up to the first that fails
    if promise == "recall":
        return len(ranking) - int(np.argmin(np.append(keeps[-2::-1], False)))
    return int(np.argmin(np.append(keeps, False))) - 1


def chance_kept(ranking: Ranking, promise: str, target: float, groups: int) -> float:
    """Chance that the cut after so many groups keeps a recall or specificity on new data, over samples like this one.

    nan for precision, whose chance depends on the whole list, and for weighted rows.
    """
    if promise == "precision" or ranking.weighted:
        return math.nan
    if target == (1.0 if promise == "fpr" else 0.0):
        return 1.0
    there = ranking.n_pos if promise == "recall" else ranking.n_neg
    return float(_class_chances(ranking, promise, target)[groups]) if there else math.nan


def _class_chances(ranking: Ranking, promise: str, target: float) -> Floats:
    """Chance of each cut, from taking nobody to taking all, to meet the target.

    The chance that the class errs no more often than allowed is P(Bin(n, allowed) ≥ errors + 1), that of an order
    statistic: exact where scores do not tie, a lower bound where they do.
    """
    from scipy.special import betainc

    recall = promise == "recall"
    of_class, n = (ranking.pos, ranking.n_pos) if recall else (ranking.neg, ranking.n_neg)
    taken = np.append(0.0, np.cumsum(of_class, dtype=np.float64))
    errors = n - taken if recall else taken
    lost = np.minimum(errors + 1.0, n)
    allowed = target if promise == "fpr" else 1.0 - target
    chances = np.where(errors >= n, 0.0, betainc(lost, n - lost + 1.0, allowed))
    if recall:
        chances[-1] = 1.0  # all are taken, whatever they score
    return np.asarray(chances)


def cases_needed(share: float, confidence: float) -> int:
    """Cases of a class for any cut to guarantee a share of them: the least n with 1 − shareⁿ ≥ confidence.

    >>> cases_needed(0.8, 0.9)
    11
    """
    return max(1, math.ceil(math.log1p(-confidence) / math.log(share) - 1e-9))


@lru_cache(maxsize=256)
def first_test(target: float, error: float) -> int:
    """Cases in the first test of a precision: so many that odds three times as high are found in 80% of samples.

    It depends on the target alone, not on the data, so that the sequence of tests is fixed beforehand.
    """
    from scipy.special import bdtrik

    higher = START_ODDS * target / (1.0 - target + START_ODDS * target)
    least = max(1.0, math.log(error) / math.log(target))  # below, no test can reject
    cases = np.unique(np.ceil(np.geomspace(least, 400.0 * least + 400.0 / target, 2000)))
    hits = np.floor(bdtrik(1.0 - error, cases, target))  # the fewest whose chance is at most ``error``, or some less
    while (few := _at_least(hits, cases, target) > error).any():
        hits += few
    strong = (hits <= cases) & (_at_least(hits, cases, higher) >= START_POWER)
    return int(cases[np.argmax(strong)]) if strong.any() else int(cases[-1])


def _at_least(hits: Floats, cases: Floats, share: float) -> Floats:
    """P(Bin(cases, share) ≥ hits)."""
    from scipy.special import betainc

    inside = np.clip(hits, 1.0, cases)
    return np.where(hits <= 0, 1.0, np.where(hits > cases, 0.0, betainc(inside, cases - inside + 1.0, share)))


def _precise_groups(ranking: Ranking, target: float, confidence: float) -> int:
    """The last cut, from the first test on, up to which every binomial test of "precision ≤ target" rejects."""
    from scipy.special import ndtri

    hits = np.cumsum(ranking.pos, dtype=np.float64)
    taken = hits + np.cumsum(ranking.neg, dtype=np.float64)
    error = 1.0 - confidence
    start = int(np.searchsorted(taken, first_test(target, error)))
    rejects = _at_least(hits[start:], taken[start:], target) <= error * (1 + 1e-9)
    if len(rejects) and rejects[0]:
        return start + (len(rejects) if rejects.all() else int(np.argmin(rejects)))
    # why it cannot be guaranteed, and how many positives would do if the list stayed as good as it looks
    start, rates = min(start, len(taken) - 1), hits / taken
    few = min(int(np.searchsorted(taken, 10)), start)  # the rate of still fewer tells nothing
    at = few + int(np.argmax(((rates - target) * np.sqrt(taken))[few:]))  # the cut with the most evidence for it
    rate, needed = float(rates[at]), 0.0
    if rate > target:
        z = max(0.0, -float(ndtri(error))) + 0.8416  # a chance of 80% that it can be guaranteed
        wanted = max((z / (rate - target)) ** 2 * target * (1.0 - target), first_test(target, error))
        needed = hits[-1] * wanted / taken[at]
    why = f"about {round_up(needed):,} positive cases would be needed, there are {hits[-1]:,.0f}"
    remedy = "label more cases, ask for less, or lower {confidence}"
    if needed <= hits[-1]:  # enough in all, but the top of the list does not bear it out
        why = f"of the best {taken[start]:,.0f} cases {hits[start]:,.0f} are positive, too few to be sure of {target:g}"
        remedy = "ask for less, or lower {confidence}"
    raise InputError("precision", f"cannot be promised from these data: {why}", remedy)
