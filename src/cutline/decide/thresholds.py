"""The threshold for a goal: a recall, precision, specificity or false positive rate, a quota, or the least cost."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, show
from ..estimate import Estimate
from ..files import write_whole
from ..inference.proportions import wilson
from ..inference.resampling import Resampler, enough_replicates
from ..quotas import resolve_quota
from ..ranking import Ranking, rank
from ..sources.arrays import Sample, make_sample
from ..table import DictResult, Table, format_value, pluralize, to_jsonable
from ..types import FilePath, Label, Labels, Scores
from ..validate import check_number, check_quota, checked
from .costs import Prices, cheapest
from .operating import CutOf, OperatingPoint, operating_point
from .promises import PROMISES, Weighing, chance_kept, promised_groups

GOALS = (*PROMISES, "quota")
_WORDS = {"recall": "recall of at least", "precision": "precision of at least"}
_WORDS |= {"specificity": "specificity of at least", "fpr": "false positive rate of at most"}


class Cut(float):
    """A threshold that knows what it was chosen for: take the cases with ``score > cut``.

    It is a float and can be used as one. ``goal`` holds what was asked for, ``point`` the counts and measures on the
    sample, ``chance`` how often a cut chosen this way keeps its promise on new data (nan if unknown), ``cost`` the
    expected cost per case if costs were given, ``note`` a summary in one sentence. ``save`` writes a cut file,
    ``Cut.load`` reads one; a loaded cut has no ``point``.
    """

    goal: dict[str, float]
    point: OperatingPoint | None
    chance: float
    cost: Estimate | None
    note: str
    sample: dict[str, Any]

    def __new__(
        cls,
        threshold: float,
        *,
        goal: Mapping[str, float],
        note: str,
        point: OperatingPoint | None = None,
        chance: float = math.nan,
        cost: Estimate | None = None,
        sample: Mapping[str, Any] | None = None,
    ) -> Cut:
        """A cut from its threshold and what is known of it."""
        cut = super().__new__(cls, threshold)
        cut.goal, cut.note, cut.point = dict(goal), note, point
        cut.chance, cut.cost, cut.sample = chance, cost, dict(sample or {})
        return cut

    @property
    def threshold(self) -> float:
        """The threshold as a plain float."""
        return float(self)

    def to_dict(self) -> dict[str, Any]:
        """What a cut file holds."""
        from .. import __version__

        costs = {} if self.cost is None else {"expected_cost": self.cost.to_dict()}
        kept = {} if math.isnan(self.chance) else {"chance_kept": self.chance}
        return {
            "cutline": __version__,
            "threshold": float(self),
            "direction": "score > threshold is taken",
            "goal": self.goal,
            **kept,
            **costs,
            "note": self.note,
            "sample": self.sample,
        }

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

    def __repr__(self) -> str:
        return f"Cut({float(self)!r}: {self.note})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (float(self), self.__dict__.copy())


def _rebuilt(threshold: float, known: dict[str, Any]) -> Cut:
    return Cut(threshold, **known)


# what a cut file holds, as far as anybody reads it
_KINDS = {
    "threshold": float,
    "review_threshold": float,
    "chance_kept": float,
    "goal": dict,
    "sample": dict,
    "score": str,
}


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
        raise InputError(None, f"{show(str(path))} holds no threshold", remedy)
    for key in content.keys() & _KINDS:
        kind, value = _KINDS[key], content[key]
        if kind is float and not isinstance(value, bool):
            with contextlib.suppress(ValueError, TypeError, OverflowError):
                content[key] = float(value)  # infinities are written as text
        if not isinstance(content[key], kind) or content[key] != content[key]:
            raise InputError(None, f"{show(str(path))} holds {show(value)} as its {key}", remedy)
    return content


def fingerprint(sample: Sample) -> dict[str, Any]:
    """Rows, positives, and a SHA-256 of labels and scores (as 64-bit floats) in their order."""
    digest = hashlib.sha256(np.ascontiguousarray(sample.positive).tobytes())
    digest.update(np.ascontiguousarray(sample.score, dtype="<f8").tobytes())
    return {"rows": len(sample), "positives": int(sample.positive.sum()), "sha256": digest.hexdigest()}


@checked
def threshold_for(
    y_true: Labels,
    y_score: Scores,
    *,
    recall: float | None = None,
    precision: float | None = None,
    fpr: float | None = None,
    specificity: float | None = None,
    quota: int | float | None = None,
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

    With ``confidence=0.9`` the cut keeps the recall, precision, specificity or false positive rate on new data like
    these with that confidence: in at most 10 of 100 samples a cut is issued that breaks its promise. If there are too
    few data, an error says how many cases are needed. Where most samples are refused a precision, the few that are
    issued may break it more often. Without ``confidence`` the cut meets the goal on this sample, and on new data about
    half the time. Choose a cut on data that the model was not fitted on.

    The threshold is the highest score that is not taken; if all are taken it is −inf. It is returned as a
    :class:`Cut`, a float that also has the counts on the sample (``.point``) and a summary (``.note``).

    >>> y, s = [1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]
    >>> float(threshold_for(y, s, recall=0.9)), float(threshold_for(y, s, quota=2))
    (0.4, 0.7)
    >>> float(threshold_for(y * 10, s * 10, recall=0.6, confidence=0.9))
    0.4
    >>> float(threshold_for(y, s, cost_fp=1, cost_fn=3))
    0.4
    """
    sample = make_sample(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
    goals = {"recall": recall, "precision": precision, "fpr": fpr, "specificity": specificity, "quota": quota}
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
    cut_of: CutOf | None = None,
) -> Cut:
    """The cut of a checked sample for the one goal that is not None.

    ``clusters`` numbers the cluster of each row, ``cut_of`` says what is known of a cut then.
    """
    asked = {name: value for name, value in goals.items() if value is not None}
    priced = {name: value for name, value in costs.items() if value is not None}
    if len(asked) + ("cost_fp" in priced or "cost_fn" in priced) != 1:
        every = ", ".join(f"{{{name}}}" for name in GOALS)
        named = ", ".join(f"{{{name}}}" for name in (*asked, *priced)) or "none"
        raise InputError(None, f"give exactly one of {every}, or {{cost_fp}} with {{cost_fn}}; got {named}", "")
    if confidence is not None:
        check_number(confidence, "confidence", 0.0, 1.0, open_ends=True)
        if not asked or "quota" in asked:
            raise InputError("confidence", "goes with a recall, precision, specificity or fpr", "leave it out here")
    if not asked:
        how: Any = {"level": level, "n_resamples": n_resamples, "seed": seed}
        return _cheapest_cut(sample, ranking, priced, clusters, cut_of, how)
    if "prevalence" in priced:
        raise InputError("prevalence", "goes with costs", "leave it out, or pass {cost_fp} and {cost_fn}")
    name, target = next(iter(asked.items()))
    if clusters is not None and name != "quota":
        said = f"cannot be used for a cut that keeps a {name}: how likely it is kept is known for independent rows only"
        raise InputError("clusters", said, f"leave it out, or read at({name}=…)")
    weighing = Weighing.of(sample, ranking)
    if confidence is None:
        point = operating_point(ranking, **{name: target}, level=level, cut_of=cut_of)
    else:
        target = check_number(target, name, 0.0, 1.0)
        groups = promised_groups(ranking, name, target, confidence, weighing)
        point = operating_point(ranking, threshold=ranking.score_after(groups), level=level)
    _check_reachable(point.threshold, ranking)
    if name == "quota":
        taken = pluralize(point.taken, "case")
        return Cut(point.threshold, goal=asked, note=f"takes {taken}", point=point, sample=fingerprint(sample))
    chance = chance_kept(ranking, name, target, ranking.above(point.threshold), weighing)
    note = _promise_note(name, target, confidence, chance, point)
    goal = asked if confidence is None else {**asked, "confidence": confidence}
    return Cut(point.threshold, goal=goal, note=note, point=point, chance=chance, sample=fingerprint(sample))


def _check_reachable(threshold: float, ranking: Ranking) -> None:
    """Refuse a cut that takes everyone where some score −inf: no score > threshold takes those."""
    if threshold == ranking.score[-1] == -math.inf:
        said = "holds −inf, and the cut takes everyone, but no threshold lies below −inf"
        raise InputError("y_score", said, "give those rows a finite score below the others")


def _promise_note(name: str, target: float, confidence: float | None, chance: float, point: OperatingPoint) -> str:
    here = {"recall": point.recall, "precision": point.precision, "fpr": point.fpr, "specificity": 1.0 - point.fpr}
    words = f"{_WORDS[name]} {target:g}"
    what = _WORDS[name].partition(" of ")[0]
    taken = f"it takes {pluralize(point.taken, 'case')}, and its {what} here is {here[name]:.3g}"
    if confidence is not None:
        # a test from the top of the list: valid over all samples, those that are refused a cut included
        over = f" (at most {1.0 - confidence:.0%} of samples give a cut that breaks it)" if name == "precision" else ""
        return f"{words} on new data with {confidence:.0%} confidence{over}; {taken}"
    kept = "about half the time" if math.isnan(chance) else f"with a probability of about {chance:.0%}"
    return f"{words} on this sample, kept on new data {kept}; {taken}"


def _cheapest_cut(
    sample: Sample,
    ranking: Ranking,
    priced: Mapping[str, Any],
    clusters: NDArray[np.int64] | None,
    cut_of: CutOf | None,
    how: Mapping[str, Any],
) -> Cut:
    for name, other in (("cost_fp", "cost_fn"), ("cost_fn", "cost_fp")):
        if name not in priced:
            raise InputError(name, f"is missing: {{{other}}} needs it", "give the costs of both errors")
    prices = Prices.checked(priced["cost_fp"], priced["cost_fn"], priced.get("prevalence"))
    of_rows = None if clusters is None else {"": clusters}
    found = cheapest({"": sample}, {"": ranking}, prices, clusters=of_rows, **how)
    _check_reachable(found.threshold, ranking)
    point = operating_point(ranking, threshold=found.threshold, level=how["level"], cut_of=cut_of)
    c = found.cost
    note = (
        f"expected cost {format_value(c.value)} per case ({c.level:.0%} interval {format_value(c.low)} to "
        f"{format_value(c.high)}); the cheapest cut as long as a false negative costs {found.ratios[0]:.3g} "
        f"to {found.ratios[1]:.3g} times as much as a false positive"
    )
    return Cut(found.threshold, goal=priced, note=note, point=point, cost=c, sample=fingerprint(sample))


# -------------------------------------------------------------------------------------------------- with a reviewer


@dataclass(frozen=True, eq=False)
class Triage(DictResult):
    """Three zones of a list: decided automatically, sent to a reviewer, left out.

    ``cut`` is where the automatic zone ends, ``review_cut`` where the reviewer's does. ``recall`` and ``precision`` are
    those of the whole procedure, after the reviewer's errors; ``zones`` describes each zone.
    """

    cut: Cut
    review_cut: float
    capacity: float
    reviewer_error: float
    recall: Estimate
    precision: Estimate
    zones: Table

    def to_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return {
            "threshold": float(self.cut),
            "review_threshold": self.review_cut,
            "capacity": self.capacity,
            "reviewer_error": self.reviewer_error,
            "goal": self.cut.goal,
            "recall": self.recall.to_dict(),
            "precision": self.precision.to_dict(),
            "zones": self.zones.to_dicts(),
        }

    def __repr__(self) -> str:
        r, p = self.recall, self.precision
        return (
            f"{self.zones!r}\n"
            f"found {r.value:.1%} of the positives ({r.level:.0%} interval {r.low:.1%} to {r.high:.1%}); "
            f"{p.value:.1%} of the cases called positive really are ({p.low:.1%} to {p.high:.1%})"
        )


@checked
def triage(
    y_true: Labels,
    y_score: Scores,
    *,
    capacity: int | float,
    reviewer_error: float = 0.0,
    precision: float | None = None,
    fpr: float | None = None,
    specificity: float | None = None,
    confidence: float | None = None,
    pos_label: Label = None,
    sample_weight: Scores | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Triage:
    """Decide automatically above a cut, send the next ``capacity`` cases to a reviewer, and leave the rest.

    The cut keeps a precision, specificity or false positive rate, with ``confidence`` on new data. ``capacity`` is a
    number of cases for a list as long as this one, or a share of it; if fewer are left, all of them are reviewed. The
    reviewer decides a case wrongly with probability ``reviewer_error``.

    >>> t = triage([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2], precision=1.0, capacity=2, reviewer_error=0.1)
    >>> [row["cases"] for row in t.zones], round(t.recall.value, 4)
    ([2, 2, 2], 0.9667)
    """
    error = check_number(reviewer_error, "reviewer_error", 0.0, 1.0)
    capacity = check_quota(capacity, "capacity")
    sample = make_sample(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
    ranking = rank(sample)
    goals = {"precision": precision, "fpr": fpr, "specificity": specificity}
    if sum(value is not None for value in goals.values()) != 1:
        raise InputError(
            None, "give exactly one of {precision}, {fpr}, {specificity} for the cases decided automatically", ""
        )
    cut = find_cut(sample, ranking, goals, {}, confidence, level=level, n_resamples=n_resamples, seed=seed)
    n, first = float(ranking.cases), 0.0 if cut.point is None else float(cut.point.taken)
    wanted = capacity if isinstance(capacity, int) else resolve_quota(capacity, n)
    last = min(first + wanted, n)
    resampler = Resampler(sample, ranking, stratified=False, seed=seed)
    shares = np.array([first, last]) / n
    hits, misses, n_pos, _ = resampler.curves(0, shares, enough_replicates(n_resamples, len(sample)))
    here, missed, *_ = resampler.observed_curve(0, shares)
    recall, kept = _after_review(hits, misses, n_pos[:, 0], error)
    at = _after_review(here, missed, np.array([float(ranking.n_pos)]), error)
    zones = _zones(here[0], (first, last, n), ranking, Weighing.of(sample, ranking), error, level)
    groups = int(np.searchsorted(np.cumsum(ranking.pos + ranking.neg), last * (1.0 + 1e-12), side="right"))
    review_cut = ranking.score_after(groups)
    of_recall, of_precision = (
        _percentile(name, float(value[0]), drawn, level)
        for name, value, drawn in zip(("recall", "precision"), at, (recall, kept), strict=True)
    )
    return Triage(cut, review_cut, last - first, error, of_recall, of_precision, zones)


def _after_review(hits: Any, misses: Any, n_pos: Any, error: float) -> tuple[Any, Any]:
    found = hits[:, 0] + (1.0 - error) * (hits[:, 1] - hits[:, 0])
    false = misses[:, 0] + error * (misses[:, 1] - misses[:, 0])
    with np.errstate(invalid="ignore", divide="ignore"):
        return found / n_pos, found / (found + false)


def _percentile(name: str, value: float, drawn: Any, level: float) -> Estimate:
    tail = (1.0 - level) / 2.0
    low, high = np.nanquantile(drawn, [tail, 1.0 - tail]) if (drawn == drawn).any() else (math.nan, math.nan)
    return Estimate(name, value, float(low), float(high), level, "percentile")


def _zones(
    hits: Any, ends: tuple[float, float, float], ranking: Ranking, weighing: Weighing | None, error: float, level: float
) -> Table:
    found_in = np.diff([0.0, *hits, float(ranking.n_pos)]).round(9)
    sizes = np.diff([0.0, *ends])
    worth = 1.0 if weighing is None else ends[2] / float(weighing.pos.sum() + weighing.neg.sum())
    called = ((1.0, 1.0), (1.0 - error, error), (0.0, 0.0))  # share of positives and of negatives called positive
    rows = []
    for zone, size, found, (right, wrong) in zip(("automatic", "review", "left"), sizes, found_in, called, strict=True):
        low, high = wilson(float(found * worth), float(size * worth), level) if size > 1e-9 else (math.nan, math.nan)
        rows.append(
            {
                "zone": zone,
                "cases": round(float(size)) if weighing is None else float(size),
                "positives": float(found),
                "hit_rate": float(found / size) if size > 1e-9 else math.nan,
                "low": low,
                "high": high,
                "found": float(found * right),
                "false_alarms": float((size - found) * wrong),
                "missed": float(found * (1.0 - right)),
            }
        )
    return Table(rows, "Automatic, review, left")
