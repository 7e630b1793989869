"""By number of classes: what confusions cost, and how many errors a review finds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, listed
from ..estimate import Estimate
from ..table import format_value
from ..types import Floats, Labels
from ..validate import check_number, checked, one_of
from .extrapolation_result import GrowthTable, far_note, in_brackets, logit, rounded_share, sizes_asked
from .extrapolator import fit_task
from .methods import largest
from .tasks import (
    LOST_OF_TIES,
    TIE_RULES,
    KeptScores,
    Note,
    ScoreTask,
    credit,
    family_numbers,
    number_matrix,
    whole_rows,
)

_TIMES = (1, 2, 5, 10)  # numbers of classes, as multiples of those tested, where none were asked for
# Costs.
# Twentieths of the classes are left out in turn: enough for a standard error within a sixth, and twenty fits to make.
_PARTS = 20
# The line is fitted at so many numbers of classes, from this share of the classes on: smaller tasks tell little about
# larger ones. Three halvings leave enough of a curve to have a slope.
_POINTS, _FROM = 20, 0.125
# No error rate and no place between two costs is taken to be nearer to its end than this.
_COST_EDGE = 1e-6

# Reviews.
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


def _errors_of(
    task: ScoreTask, alone: ScoreTask, scores: KeptScores, groups: Any, cost: Floats
) -> Callable[[Floats], Floats]:
    """By number of families below the winner: how much of the cases errors are, what they cost, and both for siblings.

    It is found among the families that are kept, and averaged over all orders of tied scores. ``alone`` are the classes
    one by one, ``task`` their families. Every case meets the best class of each other family, which costs as the best
    classes of that family do on average. The right class is the best of its own family by chance; otherwise a sibling
    is, with its score and cost.
    """
    rows, own = np.arange(alone.n_cases), task.case_class
    best, price = scores.values.copy(), cost[alone.case_class]
    family = family_numbers(groups, alone.n_classes)
    for number in range(task.n_classes if family is not None else 0):
        part = scores.values[:, family == number]
        best[:, number] = part.max(axis=1)
        tied = part == best[:, number, None]
        price[:, number] = (cost[alone.case_class][:, family == number] * tied).sum(axis=1) / tied.sum(axis=1)
    best, price = best[:, : task.n_classes], price[:, : task.n_classes]
    sibling_score, sibling_cost = best[rows, own], price[rows, own]
    best[rows, own] = -np.inf  # the own family comes first and is no competitor
    order = np.argsort(best, axis=1)[:, 1:]
    comes_first = np.ones(rows.size) if task.own_family is None else task.own_family
    values, prices = (np.take_along_axis(table, order, axis=1) for table in (best, price))

    def errors(kept: Floats) -> Floats:
        m = int(kept.sum()) - 1
        weight = task.case_weight(kept)
        sums = np.zeros((4, m + 1))
        for case in np.flatnonzero(kept[own]).tolist():
            inside = kept[order[case]] > 0
            value, price = values[case, inside], prices[case, inside]
            # Tied families take their places by chance, so each place costs what they cost on average.
            group = np.append(0, np.cumsum(np.diff(value) > 0))
            price = (np.bincount(group, weights=price) / np.bincount(group))[group]
            first = comes_first[case]
            for score, chance, is_sibling in ((scores.true, first, False), (sibling_score, 1.0 - first, True)):
                if chance <= 0.0:
                    continue
                rule = "random" if is_sibling else task.ties  # the rule is about the right class
                place, stop = (int(np.searchsorted(value, score[case], side)) for side in ("left", "right"))
                above = np.full(m - place, chance * weight[case])
                if rule == "random":
                    # Of t tied families and the right class, the one in place j is above it with chance j / (t + 1).
                    above[: stop - place] *= np.arange(1.0, stop - place + 1.0) / (stop - place + 1.0)
                elif rule == "optimistic":
                    above[: stop - place] = 0.0
                sums[0, place + 1 :] += above
                sums[1, place + 1 :] += above * price[place:]
                if is_sibling:
                    alone_first = chance * weight[case] / (stop - place + 1.0)
                    sums[2, place : stop + 1] += alone_first
                    sums[3, place : stop + 1] += alone_first * sibling_cost[case]
        return sums

    return errors


def _cost_of_error(errors: Floats, sizes: Floats, bounds: tuple[float, float]) -> Floats:
    """Mean cost of an error: observed up to the classes there are, beyond by a line of its log-odds in log k.

    The log-odds are those of the place between the cheapest and the dearest confusion, so that the line stays there.
    A competitor with ``r`` families below it, the right one among them, wins a task of ``k`` with it in it with chance
    ``C(r − 1, k−2) / C(m, k−1)``, over all tasks of ``k − 1`` of the ``m`` competitors. A sibling of the right class,
    in its own family and so in every task, wins over ``r`` of them with chance ``C(r, k−1) / C(m, k−1)``.
    """
    (low, high), m = bounds, errors.shape[1] - 1
    seen, below = m + 1.0, np.arange(m + 1.0)
    k = np.unique(np.round(np.geomspace(max(2.0, _FROM * seen), seen, _POINTS)))
    at = np.concatenate([k, np.minimum(sizes, seen)])
    beats = credit(below, at, m)
    chance = beats * (at - 1.0) / np.maximum(below, 1.0)[:, None]
    wrong, cost = (errors[first] @ chance + errors[first + 2] @ beats for first in (0, 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(wrong > 0, cost / wrong, (low + high) / 2.0)
    if high <= low:
        return np.full(sizes.size, high)
    odds = logit((mean - low) / (high - low), _COST_EDGE)
    slope = float(np.polyfit(np.log(k), odds[: k.size], 1)[0]) if k.size > 1 else 0.0
    beyond = odds[k.size :] + slope * np.log(np.maximum(sizes / seen, 1.0))
    return np.asarray(low + (high - low) / (1.0 + np.exp(-beyond)), dtype=np.float64)


@checked(cost=lambda value, name: value, ties=one_of(*TIE_RULES))
def extrapolate_cost(
    scores: Any,
    labels: Labels | None = None,
    *,
    cost: ArrayLike,
    k: int | Iterable[int] | None = None,
    classes: Labels | None = None,
    groups: Labels | None = None,
    distance: bool = False,
    ties: str = "random",
    level: float = 0.95,
    n_resamples: int = 100,
    seed: int = 0,
) -> GrowthTable:
    """Expected cost per case among ``k`` classes, where ``cost[a, b]`` is that of calling class ``a`` class ``b``.

    ``cost`` has a row and a column for each class; its diagonal is zero. The names of a frame are matched with the
    classes; without names it is in the order of the columns of ``scores``. With zeros and ones it is the error rate.

    Up to the ``k1`` classes that were tested, the result is the mean over all tasks of ``k`` of them, which needs no
    model. Beyond, it is the error rate of :func:`extrapolate` times the mean cost of an error, whose log-odds between
    the cheapest and the dearest confusion go on as a line in ``log k``. Without ``k`` the classes are taken 1, 2, 5 and
    10 times. Tied scores are averaged over all their orders; ``ties`` and ``groups`` are those of :func:`extrapolate`.

    The costs of new classes must be like those of the classes seen: drawn from the same population. The interval is
    that of the error rate with a jackknife, over twentieths of the classes, of the mean cost of an error.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> place = rng.normal(size=(60, 3))
    >>> scores = -np.linalg.norm((place + 0.3 * rng.normal(size=place.shape))[:, None] - place, axis=2)
    >>> far = np.linalg.norm(place[:, None] - place, axis=2)
    >>> found = extrapolate_cost(scores, cost=far, k=[60, 600], n_resamples=20)
    >>> found.to_dicts()[1]["cost_per_error"] < found.to_dicts()[0]["cost_per_error"]      # errors get nearer
    True
    """
    options: dict[str, Any] = {"classes": classes, "distance": distance, "ties": ties}
    alone, kept = whole_rows(scores, labels, **options)
    task = alone if groups is None else whole_rows(scores, labels, groups=groups, **options)[0]
    n = alone.n_classes
    sizes = sizes_asked([times * n for times in _TIMES] if k is None else k)
    prices = _checked_cost(cost, scores, labels, classes, n)
    apart = prices[~np.eye(n, dtype=bool)]
    bounds = float(apart.min()), float(apart.max())
    units = np.maximum(np.array(sizes) / task.classes_each, 1.0)
    errors = _errors_of(task, alone, kept, groups, prices)
    each = _cost_of_error(errors(np.ones(task.n_classes)), units, bounds)
    # Each twentieth of the classes is left out in turn, on the scale of logarithms.
    part = np.random.default_rng([seed, 1]).permutation(np.arange(task.n_classes) % min(_PARTS, task.n_classes))
    without = []
    for number in range(part.max() + 1):
        others = (part != number).astype(np.float64)
        if others.sum() >= 2 and others[task.case_class].any():
            cost_without = _cost_of_error(errors(others), units, bounds)
            without.append(np.log(np.maximum(cost_without, 1e-300)))
    spread = np.full(units.size, np.nan)
    if len(without) > 1:
        spread = np.sqrt((len(without) - 1.0) * np.var(without, axis=0))
    fitted, _ = fit_task(task, tuple(sizes), level=level, n_resamples=n_resamples, seed=seed)
    columns, estimates = {}, {}
    for size, price, error in zip(sizes, each.tolist(), spread.tolist(), strict=True):
        accuracy = fitted.accuracy(size)
        value = (1.0 - accuracy.value) * price
        low, high = _ends(accuracy, price, error, level, bounds)
        tested = "costs seen" if math.isnan(error) else "class jackknife"
        method = "" if math.isnan(low) else f"{accuracy.method}, {tested}"
        estimates[size] = Estimate(f"cost@{size}", value, low, high, level, method)
        columns[size] = {"accuracy": accuracy.value, "cost_per_error": price}
    notes = fitted.general_notes + far_note(sizes, n)
    blank = [size for size in sizes if math.isnan(estimates[size].low)][:1]
    notes += tuple(Note("no_interval", f"No interval among {k:,} classes: too few to leave one out.") for k in blank)
    last = max(sizes)
    at = estimates[last]
    ends = in_brackets(at, format_value)
    answer = f"With {last:,} classes expect a cost per case of {format_value(at.value)}{ends}."
    title = f"Expected cost per case, from {n:,} classes"
    return GrowthTable(title, "cost", estimates, columns, notes, {"classes_seen": n}, (answer,))


def _checked_cost(cost: Any, scores: Any, labels: Any, classes: Any, n: int) -> Floats:
    """Costs in the order of the classes: by their names where a frame has names, or as they come."""
    prices = np.asarray(number_matrix(cost, "cost"), dtype=np.float64)
    if prices.shape != (n, n):
        shape = " × ".join(map(str, prices.shape))
        raise InputError("cost", f"is {shape} for {n} classes", "give one row and one column for each class")
    wrong = np.flatnonzero(~(np.isfinite(prices) & (prices >= 0.0)).all(axis=1))
    if wrong.size:
        message = "has a cost that is missing, infinite or below 0"
        raise InputError("cost", message, "give costs of 0 or more", row=int(wrong[0]))
    order = list(range(n))
    columns = _names(getattr(cost, "column_names", getattr(cost, "columns", None)))
    rows = _names(cost.index) if hasattr(cost, "columns") and hasattr(cost, "index") else None
    columns, rows = columns or rows, rows or columns
    named = _names(classes) or _names(getattr(scores, "column_names", getattr(scores, "columns", None)))
    # Where nobody has named the classes, they are the labels in ascending order or numbers, or as the columns say.
    distinct = sorted(set(np.ravel(np.asarray(labels)).tolist())) if labels is not None else []
    known = list(dict.fromkeys(named or [str(name) for name in (distinct if len(distinct) == n else range(n))]))
    if columns is not None and rows is not None and (named or set(columns) == set(known)):
        for names in (rows, columns):
            if sorted(names) != sorted(known):
                message = f"is named after {listed(names, 3)}, but the classes are {listed(known, 3)}"
                raise InputError("cost", message, "use the same names, or give an array in the order of the classes")
        order = [rows.index(name) for name in known]
        prices = prices[np.ix_(order, [columns.index(name) for name in known])]
    dear = np.flatnonzero(np.diag(prices) != 0.0)
    if dear.size:
        raise InputError("cost", "gives a cost to a right answer", "put zeros on the diagonal", row=order[dear[0]])
    return prices


def _names(names: Any) -> list[str] | None:
    """Names as text; None where they only count from 0, as those that nobody has given."""
    if names is None:
        return None
    texts = [str(name) for name in np.ravel(np.asarray(names, dtype=object)).tolist()]
    return None if texts == [str(number) for number in range(len(texts))] else texts


def _ends(accuracy: Estimate, price: float, error: float, level: float, bounds: Sequence[float]) -> tuple[float, float]:
    """Interval of error rate × cost of an error: both parts side by side on the scale of logarithms."""
    from scipy.special import ndtri

    if math.isnan(error):
        # What an error costs could not be tested: any of the costs seen.
        return (1.0 - accuracy.high) * bounds[0], (1.0 - accuracy.low) * bounds[1]
    reach = float(ndtri(0.5 + level / 2.0)) * error
    wrong = 1.0 - np.array([accuracy.high, accuracy.value, accuracy.low])
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.diff(np.log(np.maximum(wrong, _COST_EDGE)))
    centre = np.log(max(wrong[1], _COST_EDGE)) + np.log(max(price, _COST_EDGE * max(bounds[1], _COST_EDGE)))
    low, high = centre - np.hypot(steps[0], reach), centre + np.hypot(steps[1], reach)
    value = float(wrong[1] * price)
    return float(min(np.exp(low), value)), float(max(min(np.exp(high), bounds[1]), value))


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
    fitted, _ = fit_task(task, tuple(sizes), level=level, seed=seed)
    rng = np.random.default_rng([seed, 5])
    copies = [np.bincount(rng.integers(0, n, n), minlength=n).astype(float) for _ in range(n_resamples)]
    seen = _Margins(task, kept, n, rng)
    x_seen = float(-_z(1.0 - fitted.accuracy(n).value))
    standing = np.array([seen.place(c, x_seen) for c in (np.ones(n), *copies)])
    today = _read(review, *seen.curve(np.ones(n)))
    estimates, columns, reach = {}, {}, float(ndtri(0.5 + level / 2.0))
    for size in sizes:
        at = fitted.accuracy(size)
        errors = 1.0 - np.array([at.value, at.high, at.low])
        if size <= n:
            margins = seen if size == n else _Margins(task, kept, size, rng)
            curve = margins.curve(np.ones(n))
            value, method = _read(review, *curve), "class bootstrap"
            drawn = np.array([share for c in copies if np.isfinite(share := _read(review, *margins.curve(c)))])
            spread = float(_z(drawn).std()) if drawn.size > n_resamples / 2 else float("nan")
            same = _read(today, *curve[::-1])
        else:
            shares = [_read(review, *_curve(error, standing[0])) for error in errors]
            same, value = _read(today, *_curve(errors[0], standing[0])[::-1]), shares[0]
            method = "margins and errors"
            if np.isfinite(today):  # without a jump at the classes seen
                fit = _curve(1.0 - fitted.accuracy(n).value, standing[0])
                jump = float(_z(today) - _z(_read(review, *fit)))
                value = float(ndtr(_z(value) + jump * (n / size) ** 2))
            x = float(-_z(errors[0]))
            moved = [_read(review, *_curve(errors[0], place)) for place in standing[1:]]
            far = _read(review, *_curve(errors[0], standing[0] - _OF_DISTANCE * abs(x - x_seen)))
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
    before = f", against {rounded_share(today)} with {n:,}" if last > n and np.isfinite(today) else ""
    text = f"With {last:,} classes, reviewing {rounded_share(review)} of the answers finds {rounded_share(at.value)}"
    text += f" of the errors{in_brackets(at)}{before}; {rounded_share(row['left'])} of all stay wrong."
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


def _read(share: float, of: Floats, other: Floats) -> float:
    """Where one of two rising shares reaches ``share``, what the other is; nan where there was no error."""
    return float(np.interp(share, of, other)) if np.isfinite(share + of[-1] + other[-1]) else math.nan


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

    def curve(self, copies: Floats) -> tuple[Floats, Floats]:
        """Shares of answers and of errors up to each margin, with each class as often as ``copies`` tells."""
        weight = self.weight * copies[self.case_class]
        answers, errors = np.cumsum(weight), np.cumsum(weight * self.wrong)
        with np.errstate(invalid="ignore"):
            return answers / answers[-1], errors / errors[-1]

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
