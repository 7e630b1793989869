"""How many answers to review when the gallery grows: the errors among the least certain answers at k classes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..estimate import Estimate
from ..types import Floats, Labels
from ..validate import check_number, checked, one_of
from .extrapolation_result import GrowthTable, far_note, rounded_share, sizes_asked
from .extrapolator import fit_task
from .score_methods import largest
from .task_inputs import whole_rows
from .tasks import LOST_OF_TIES, TIE_RULES, KeptScores, ScoreTask

_TIMES = (1, 2, 5, 10)
# Random galleries below the classes seen; their mean scatters less than the cases do.
_GALLERIES = 40
# Margins of wrong and of right answers as two normal laws: z(share of wrong) = a + 1.4 z(share of right). In six normal
# and heavy-tailed populations from 20 to 3,000 classes the slope was 1.34 to 1.49.
_SLOPE = 1.4
# z(AUC) of margins at an error rate with −z(error) = x: 0.75 + 0.2 x + x²/8, on the same populations. Its place is that
# of the margins seen, drawn to this one by so many classes' worth of errors; its bend is kept.
_PLACE, _RISE, _BEND, _PRIOR_ERRORS = 0.75, 0.2, 0.125, 4.0
# Standard error of z(AUC) for each step of −z(error) away from what was seen; chosen on seed 5 of
# benchmarks/extrapolation_review.py, as the next.
_OF_DISTANCE = 0.2
# No share is known better than this on the scale of z: the two laws are not exactly normal.
_LEAST_SPREAD = 0.1
_EDGE = 1e-3  # shares are kept so far from 0 and 1 on the scale of z


@checked(review=lambda value, name: check_number(value, name, 0.0, 1.0, open_ends=True), ties=one_of(*TIE_RULES))
def extrapolate_review(
    scores: Any,
    labels: Labels | None = None,
    *,
    review: float,
    k: int | Iterable[int] | None = None,
    classes: Labels | None = None,
    distance: bool = False,
    ties: str = "random",
    level: float = 0.95,
    n_resamples: int = 100,
    seed: int = 0,
) -> GrowthTable:
    """The share of errors that is found by reviewing the least certain answers, among ``k`` classes.

    ``review`` is the share of answers that is reviewed, those with the smallest margin between the best and the second
    best score first. Up to the ``k1`` classes tested it is seen in random galleries. Beyond, margins of wrong and right
    answers are two normal laws: the error rate is that of :func:`extrapolate`, and how well margins separate the two
    falls with it as in populations of known margins, from what was seen at ``k1``. Without ``k`` the classes are taken
    1, 2, 5 and 10 times.

    The rows also have the error rate, the error rate that is left after the review, the share of the reviewed answers
    that is wrong, and the share of answers to review (``review_for_same``) to find as large a share of the errors as
    ``review`` finds among the ``k1`` classes of today.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> people = rng.normal(size=(120, 8))
    >>> scores = -np.linalg.norm((people + 0.7 * rng.normal(size=people.shape))[:, None] - people, axis=2)
    >>> plan = extrapolate_review(scores, review=0.2, k=[120, 1200], n_resamples=20)
    >>> plan[120].value > plan[1200].value  # more errors, so a fifth of the answers has a smaller share of them
    True
    """
    from scipy.special import ndtr, ndtri

    task, kept = whole_rows(scores, labels, classes=classes, distance=distance, ties=ties)
    n = task.n_classes
    sizes = sizes_asked([times * n for times in _TIMES] if k is None else k)
    fitted, _ = fit_task(task, tuple(sizes), level=level, seed=seed, progress=False)
    rng = np.random.default_rng([seed, 5])
    copies = [np.bincount(rng.integers(0, n, n), minlength=n).astype(float) for _ in range(n_resamples)]
    seen = _Margins(task, kept, n, rng)
    x_seen = -ndtri(np.clip(1.0 - fitted.accuracy(n).value, _EDGE, 1.0 - _EDGE))
    places = np.array([seen.place(c, x_seen) for c in (np.ones(n), *copies)])
    today = seen.found(np.ones(n), review)
    estimates, columns, reach = {}, {}, float(ndtri(0.5 + level / 2.0))
    for size in sizes:
        at = fitted.accuracy(size)
        errors = 1.0 - np.array([at.value, at.high, at.low])
        if size <= n:
            margins = seen if size == n else _Margins(task, kept, size, rng)
            value, method = margins.found(np.ones(n), review), "class bootstrap"
            drawn = np.array([share for c in copies if np.isfinite(share := margins.found(c, review))])
            spread = float(_z(drawn).std()) if drawn.size > n_resamples / 2 else float("nan")
            same = margins.answers_for(today)
        else:
            shares = [_found(error, places[0], review) for error in errors]
            same, value, method = _answers(errors[0], places[0], today), shares[0], "margins and errors"
            if np.isfinite(today):  # without a jump at the classes seen
                jump = float(_z(today) - _z(_found(1.0 - fitted.accuracy(n).value, places[0], review)))
                value = float(ndtr(_z(value) + jump * (n / size) ** 2))
            x = -ndtri(np.clip(errors[0], _EDGE, 1.0 - _EDGE))
            moved = [_found(errors[0], place, review) for place in places[1:]]
            far = _found(errors[0], places[0] - _OF_DISTANCE * abs(x - x_seen), review)
            of_errors = float(np.abs(np.diff(_z(np.array(shares[1:])))[0]) / (2.0 * reach))
            of_place, of_distance = float(np.std(_z(np.array(moved)))), float(_z(far) - _z(shares[0]))
            spread = math.hypot(of_place, of_distance, of_errors, _LEAST_SPREAD)
        low, high = ndtr(_z(value) + np.array([-reach, reach]) * spread) if np.isfinite(spread) else (np.nan, np.nan)
        low, high = min(float(low), value), max(float(high), value)
        estimates[size] = Estimate(f"caught@{size}", value, low, high, level, method if np.isfinite(low) else "")
        wrong = min(errors[0] * value / review, 1.0)
        columns[size] = {"error_rate": float(errors[0]), "left": float(errors[0] * (1.0 - value))}
        columns[size] |= {"wrong_among_reviewed": float(wrong), "review_for_same": same}
    title = f"Errors found by reviewing {rounded_share(review)} of the answers, from {n:,} classes"
    last = max(sizes)
    at, row = estimates[last], columns[last]
    ends = f" ({level:.0%} interval {rounded_share(at.low)[:-1]} to {rounded_share(at.high)})"
    before = f", against {rounded_share(today)} with {n:,}" if last > n and np.isfinite(today) else ""
    text = f"With {last:,} classes, reviewing {rounded_share(review)} of the answers finds {rounded_share(at.value)}"
    text += f" of the errors{'' if np.isnan(at.low) else ends}{before}; {rounded_share(row['left'])} of all stay wrong."
    answer = [text] if np.isfinite(at.value) else ["There was no error to find."]
    if last > n and np.isfinite(row["review_for_same"]):
        more = rounded_share(row["review_for_same"])
        answer.append(f"To find as large a share as today, review {more} of the answers.")
    notes = fitted.general_notes + far_note(sizes, n)
    facts = {"review": review, "classes_seen": n}
    return GrowthTable(title, "caught", estimates, columns, notes, facts, tuple(answer))


def _z(share: Floats | float) -> Floats:
    """Φ⁻¹ of a share, kept finite."""
    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(share, _EDGE, 1.0 - _EDGE)))


def _curve(error: float, place: float) -> tuple[Floats, Floats]:
    """Shares of answers and of errors up to each margin, where wrong and right margins are two normal laws."""
    from scipy.special import ndtr

    x = float(-_z(error))
    separation = max(place + _RISE * x + _BEND * x * abs(x), 0.0) * np.sqrt(1.0 + _SLOPE**2)
    right = np.linspace(-8.0, 8.0, 801)
    wrong = ndtr(separation + _SLOPE * right)
    return error * wrong + (1.0 - error) * ndtr(right), wrong


def _found(error: float, place: float, review: float) -> float:
    """The share of errors among the least certain answers."""
    return float(np.interp(review, *_curve(error, place)))


def _answers(error: float, place: float, share: float) -> float:
    """The share of answers to review to find this share of the errors."""
    answers, errors = _curve(error, place)
    return float(np.interp(share, errors, answers)) if np.isfinite(share) else float("nan")


class _Margins:
    """The answers in random galleries of some classes, from the least certain to the surest."""

    def __init__(self, task: ScoreTask, kept: KeptScores, size: int, rng: np.random.Generator) -> None:
        n, true = task.n_classes, kept.true
        margin, wrong, weight = [], [], []
        for _ in range(1 if size == n else _GALLERIES):
            inside = np.zeros(n, dtype=np.bool_)
            inside[rng.permutation(n)[:size]] = True
            best = largest(np.where(inside, kept.values, -np.inf), 2)
            lost = np.where(best[:, 0] == true, LOST_OF_TIES[task.ties], best[:, 0] > true)
            with np.errstate(invalid="ignore"):
                margin.append(np.abs(best[:, 0] - np.where(lost > 0.5, np.maximum(true, best[:, 1]), true)))
            wrong.append(lost)
            weight.append(task.case_share * inside[task.case_class])
        order = np.argsort(np.concatenate(margin), kind="stable")
        self.case_class = np.tile(task.case_class, len(margin))[order]
        self.wrong, self.weight = np.concatenate(wrong)[order], np.concatenate(weight)[order]
        self.errors = float(self.weight @ self.wrong / self.weight.sum()) * task.n_tested

    def _sums(self, copies: Floats) -> tuple[Floats, Floats]:
        weight = self.weight * copies[self.case_class]
        answers, errors = np.cumsum(weight), np.cumsum(weight * self.wrong)
        with np.errstate(invalid="ignore"):
            return answers / answers[-1], errors / errors[-1]

    def found(self, copies: Floats, review: float) -> float:
        """The share of errors among the least certain answers, with each class as often as ``copies`` tells."""
        answers, errors = self._sums(copies)
        return float(np.interp(review, answers, errors)) if np.isfinite(errors[-1]) else float("nan")

    def answers_for(self, share: float) -> float:
        """The share of answers to review to find this share of the errors."""
        answers, errors = self._sums(np.ones(int(self.case_class.max()) + 1))
        return float(np.interp(share, errors, answers)) if np.isfinite(errors[-1] + share) else float("nan")

    def place(self, copies: Floats, x: float) -> float:
        """What z(AUC) of the margins is above its usual rise and bend, drawn to the usual place."""
        weight = self.weight * copies[self.case_class]
        wrong, right = weight * self.wrong, weight * (1.0 - self.wrong)
        if not (wrong.sum() > 0 and right.sum() > 0):
            return _PLACE
        below = np.cumsum(wrong) - wrong / 2.0
        area = float(below @ right / (wrong.sum() * right.sum()))
        seen = float(_z(area)) - _RISE * x - _BEND * x * abs(x)
        return (self.errors * seen + _PRIOR_ERRORS * _PLACE) / (self.errors + _PRIOR_ERRORS)
