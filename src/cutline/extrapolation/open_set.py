"""Recognisers that meet strangers, and comparisons one to one: error rates as the gallery grows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..estimate import Estimate
from ..sources.arrays import as_numbers
from ..types import Floats, Labels, ScoreMatrix, Scores
from ..validate import check_number, checked, one_of
from .extrapolation_result import GrowthTable, accuracy_interval, far_note, logit, sizes_asked
from .extrapolator import notes_on
from .favorability import Favorability
from .score_methods import FEWEST_IN_TAIL, FRACTION, chance_beyond, largest
from .task_inputs import as_names, column_names, number_matrix, places, whole_rows
from .tasks import KeptScores, Note, ScoreTask

# Thresholds that are tried, from the middle of the strangers' scores to the highest score: 0.25% of that range apart.
_GRID = 400
_BELOW_ONE = 1.0 - 1e-12
# One tail for all probes misses too many where probes differ, one for each quarter of them too few: both count alike.
# Chosen by hand: a group has forty probes or more, so that its shape is steadier than the difference it may show.
_GROUPS, _PER_GROUP = (1, 4), 40
_PARTS = 10  # parts of the classes that are left out in turn
# Impostor scores of which the best tenth is two, the fewest that have a shape; half of it strangers at a threshold.
_FEWEST_PAIRS = 20
_FEWEST_CLASSES = 3  # with one of them left out, a case still has a competitor
_INSTEAD = (
    "Their log-odds are used. Scores that sum to 1 depend on each other, so the rates are only a guide, and the "
    "interval does not cover that: give the scores before the softmax if you have them."
)
_NOTED = ("probabilities", "shifted_labels", "upside_down")
_TIMES = (1, 2, 5, 10)


@checked(templates=one_of("best", "mean"))
def extrapolate_open_set(
    scores: Any,
    labels: Labels | None = None,
    *,
    strangers: ScoreMatrix,
    k: int | Iterable[int] | None = None,
    fpir: float = 0.01,
    classes: Labels | None = None,
    distance: bool = False,
    templates: str = "best",
    level: float = 0.95,
    n_resamples: int = 100,
    seed: int = 0,
) -> GrowthTable:
    """How many enrolled people are missed (FNIR) when at most a share ``fpir`` of strangers is falsely identified.

    ``scores`` are of probes whose class is in the gallery (rows) for its ``k1`` classes (columns), ``strangers`` of
    probes whose class is not. Among ``k`` classes a stranger is falsely identified with chance ``1 − (1 − p)^k``, ``p``
    the chance that one random class reaches the threshold; so the threshold must rise with ``k``, and the FNIR with it.
    An enrolled person is missed if their own score does not reach it, or if another's is higher (rank 1). The rows have
    the threshold for each size, and the FPIR there if the current threshold were kept.

    Each probe's best tenth of competitors follows a generalised Pareto tail, as in ``tail``. Its shape is that of all
    probes in one model, that of a quarter of the probes (by their mean score) in another, and the result is their mean.
    Without ``k`` the gallery is taken 1, 2, 5 and 10 times. A class with several columns (``classes`` repeats its name)
    counts by the ``"best"`` or the ``"mean"`` of these ``templates``, for enrolled probes and strangers alike.

    The interval has three parts: resampled probes (strangers and enrolled ones separately), a jackknife over tenths of
    the classes, and the difference between the two models.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> people, unknown = rng.normal(size=(200, 16)), rng.normal(size=(300, 16))
    >>> probes = people + 0.4 * rng.normal(size=people.shape)
    >>> near = lambda a: -np.linalg.norm(a[:, None] - people[None], axis=2)
    >>> found = extrapolate_open_set(near(probes), strangers=near(unknown), k=[200, 2000], fpir=0.05)
    >>> found[2000].value > found[200].value
    True
    """
    from scipy.special import expit

    check_number(fpir, "fpir", 0.0, 1.0, open_ends=True)
    how: dict[str, Any] = {"classes": classes, "distance": distance, "templates": templates}
    task, kept = whole_rows(scores, labels, instead=_INSTEAD, **how)
    sizes = sizes_asked([times * task.n_classes for times in _TIMES] if k is None else k)
    unknown = _read_strangers(strangers, scores, task, **how)
    rates = _Rates(unknown, task, kept, fpir)
    answers = rates.answers(sizes, n_resamples, level, np.random.default_rng(seed))
    today = rates.threshold(rates.alarm(rates.models, task.n_classes))
    columns, total = {}, task.probability_total
    for size, (_, place) in answers.items():
        threshold = float(rates.grid[place] if total is None else total * expit(rates.grid[place]))
        if distance:
            threshold = -threshold if total is None else 1.0 - threshold
        alarms = float(rates.alarm(rates.models, size)[:, today].mean())
        columns[size] = {"threshold": threshold, "fpir_at_current_threshold": alarms}
    general = (*task.hints, *notes_on(task, task.whole(), marginal=True))
    notes = tuple(note for note in general if note.kind in _NOTED) + far_note(sizes, task.n_classes)
    if task.n_classes < _FEWEST_CLASSES:
        text = "From {n_classes} classes none can be left out, so the interval contains every rate."
        notes += (Note("few_classes", text, n_classes=task.n_classes),)
    if fpir * len(unknown) < _FEWEST_PAIRS / 2:
        text = (
            "A share {fpir:g} of {strangers:,} strangers is {few:.1f}: the threshold rests on the few closest of them."
        )
        notes += (Note("few_strangers", text, fpir=fpir, strangers=len(unknown), few=fpir * len(unknown)),)
    estimates = {size: estimate for size, (estimate, _) in answers.items()}
    title = f"FNIR at FPIR {fpir:g}, from a gallery of {task.n_classes:,} classes"
    facts = {"fpir": fpir, "classes_seen": task.n_classes}
    return GrowthTable(title, "fnir", estimates, columns, notes, facts)


def _read_strangers(
    strangers: Any, scores: Any, task: ScoreTask, *, classes: Any, distance: bool, templates: str
) -> Floats:
    """Strangers as the enrolled probes were read: columns by their names, higher for nearer, one column per class."""
    values = np.asarray(number_matrix(strangers, "strangers"), dtype=np.float64)
    n_columns = number_matrix(scores, "scores").shape[1]
    if values.shape[1] != n_columns:
        message = f"has {values.shape[1]} columns for the {n_columns} of the enrolled probes"
        raise InputError("strangers", message, "give the same columns")
    if not len(values):
        raise InputError("strangers", "has no rows", "give at least one probe of a stranger")
    wrong = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if wrong.size:
        raise InputError("strangers", "must be finite to have a threshold", "replace ±inf and nan", row=int(wrong[0]))
    given, known = column_names(strangers), column_names(scores)
    if given is not None and known is not None and given != known:
        values = values[:, places(given, known, "strangers")]
    if task.probability_total is not None:
        values = 1.0 - values if distance else values
        below = np.flatnonzero((values < 0.0).any(axis=1))
        if below.size:
            message, remedy = "is not a probability, but scores are", "give both before the softmax, or both after it"
            raise InputError("strangers", message, remedy, row=int(below[0]))
        values = np.log(np.maximum(values, np.min(values, where=values > 0.0, initial=1.0) / 2.0))
    elif distance:
        values = -values
    if task.n_classes == n_columns:
        return values
    number: dict[str, int] = {}
    names = (known if classes is None else as_names(classes)) or []
    column = np.array([number.setdefault(name, len(number)) for name in names])
    pick = np.max if templates == "best" else np.mean
    return np.stack([pick(values[:, column == one], axis=1) for one in range(task.n_classes)], axis=1)


class _Rates:
    """Both error rates by threshold and size of the gallery, by two models of the tails side by side."""

    def __init__(self, strangers: Floats, task: ScoreTask, kept: KeptScores, fpir: float) -> None:
        self.strangers, self.fpir = strangers, fpir
        own = np.arange(kept.true.size), task.case_class
        self.others = kept.values.copy()
        self.others[own] = kept.true
        if task.probability_total is not None:
            self.strangers, self.others = _log_odds(strangers), _log_odds(self.others)
        self.true = self.others[own]
        self.others[own] = -np.inf
        self.weight = task.case_weight(np.ones(task.n_classes))
        self.n_tested = task.n_tested
        top = max(float(self.strangers.max()), float(self.true.max()))
        self.grid = np.linspace(np.quantile(self.strangers, 0.5), top, _GRID)
        self.models = self._models(np.arange(task.n_classes))

    def _models(self, classes: NDArray[np.intp]) -> list[tuple[Floats, Floats]]:
        """For each model the chance that one random class reaches a threshold, or outscores the right class."""
        n, unknown, others = classes.size, self.strangers[:, classes], self.others[:, classes]
        reach = (_exceedance(unknown, self.grid, n, groups) for groups in _GROUPS)
        lose = (_exceedance(others, self.true[:, None], n - 1, groups)[:, 0] for groups in _GROUPS)
        return list(zip(reach, lose, strict=True))

    def alarm(self, models: Sequence[tuple[Floats, Floats]], size: int) -> Floats:
        """FPIR of each stranger (rows) by threshold (columns)."""
        rates = [-np.expm1(size * np.log1p(-np.minimum(reach, _BELOW_ONE))) for reach, _ in models]
        return np.asarray(np.mean(rates, axis=0), dtype=np.float64)

    def threshold(self, alarm: Floats) -> int:
        """The place of the lowest threshold that keeps the FPIR."""
        allowed = alarm.mean(axis=0) <= self.fpir
        return int(np.argmax(allowed)) if allowed.any() else _GRID - 1

    def missed(self, models: Sequence[tuple[Floats, Floats]], size: int) -> Floats:
        """FNIR of each enrolled probe (rows) by threshold (columns)."""
        first = np.mean([np.exp((size - 1.0) * np.log1p(-np.minimum(lose, _BELOW_ONE))) for _, lose in models], axis=0)
        return np.asarray(1.0 - first[:, None] * (self.true[:, None] > self.grid))

    def value(self, models: Sequence[tuple[Floats, Floats]], size: int) -> float:
        """The FNIR at the threshold that keeps the FPIR."""
        place = self.threshold(self.alarm(models, size))
        return float(self.weight @ self.missed(models, size)[:, place])

    def answers(
        self, sizes: Sequence[int], n_resamples: int, level: float, rng: np.random.Generator
    ) -> dict[int, tuple[Estimate, int]]:
        """FNIR with its interval, and the place of the threshold, for each size."""
        n_classes = self.strangers.shape[1]
        parts = rng.permutation(np.arange(n_classes) % min(_PARTS, n_classes))
        few = n_classes < _FEWEST_CLASSES
        without = [] if few else [self._models(np.flatnonzero(parts != part)) for part in range(parts.max() + 1)]
        out = {}
        for size in sizes:
            alarm, missed = self.alarm(self.models, size), self.missed(self.models, size)
            place, drawn = self.threshold(alarm), []
            for _ in range(n_resamples):
                strange, enrolled = (rng.integers(0, n, n) for n in (len(alarm), len(missed)))
                at = self.threshold(alarm[strange])
                share = self.weight[enrolled] / self.weight[enrolled].sum()
                drawn.append(float(share @ missed[enrolled, at]))
            value = float(self.weight @ missed[:, place])
            if few:
                out[size] = Estimate(f"fnir@{size}", value, 0.0, 1.0, level, "bounds without a model"), place
                continue
            by_model = [self.value([model], size) for model in self.models]
            by_part = [self.value(models, size) for models in without]
            # Half a miss more and half a hit more, so that rates of 0 and 1 have a place on the logit scale.
            n = self.n_tested
            smooth = [(n * np.asarray(rates) + 0.5) / (n + 1.0) for rates in (value, drawn, by_model, by_part)]
            gallery = float(np.sqrt((len(without) - 1.0) * logit(smooth[3]).var()))
            untested = float(np.hypot(gallery, 1.0 / (1.0 + min(value, 1.0 - value) * n)))
            ends = np.array(accuracy_interval(float(smooth[0]), smooth[1], smooth[2], level, untested))
            low, high = np.clip(((n + 1.0) * ends - 0.5) / n, 0.0, 1.0).tolist()
            method = "probe bootstrap, class jackknife"
            out[size] = Estimate(f"fnir@{size}", value, min(low, value), max(high, value), level, method), place
        return out


def _log_odds(logarithms: Floats) -> Floats:
    """Log-odds of each class against all others of its row, from logarithms of probabilities.

    Probabilities end at 1, where a tail would not: the scores of a row compete for what is there. Against the others a
    class has a score without an end, which would be the same had the class itself been added last.
    """
    p, rows, best = np.exp(logarithms), np.arange(len(logarithms)), logarithms.argmax(axis=1)
    rest = p.sum(axis=1, keepdims=True) - p
    p[rows, best] = 0.0
    rest[rows, best] = p.sum(axis=1)  # not as a difference, which has no digits left where the best is close to 1
    return np.asarray(logarithms - np.log(rest), dtype=np.float64)


def _exceedance(scores: Floats, points: Floats, count: int, groups: int = 1) -> Floats:
    """For every row the chance that one random class scores above each point: shares, and a Pareto tail at the top.

    Rows are put into ``groups`` by their mean score, as far as forty fall into each; the rows of a group share the
    shape of their tails, and their scales are drawn together.
    """
    n_rows = len(scores)
    at = np.broadcast_to(points, (n_rows, np.atleast_2d(points).shape[-1]))
    below = np.array(
        [np.searchsorted(row, p) + np.searchsorted(row, p, "right") for row, p in zip(np.sort(scores), at, strict=True)]
    )
    out = (scores.shape[1] - below / 2.0) / count  # a tie is half a win
    r = min(max(FEWEST_IN_TAIL, int(FRACTION * count)), count - 1)
    if r < 2:
        return np.asarray(out, dtype=np.float64)
    top = largest(scores, r + 1)
    known = np.where(np.isfinite(scores), scores, np.nan)
    mean, spread = np.nanmean(known, axis=1), np.nanstd(known, axis=1)
    group = np.argsort(np.argsort(mean)) * max(1, min(groups, n_rows // _PER_GROUP)) // n_rows
    for number in range(group.max() + 1):
        rows = np.flatnonzero(group == number)
        beyond = chance_beyond(top[rows], at[rows], spread[rows], count)
        # A row whose best scores are all alike has no tail: the share of better ones is all there is.
        out[rows] = np.where(np.isnan(beyond), out[rows], beyond)
    return np.asarray(out, dtype=np.float64)


def _pair_favorability(genuine: Floats, impostor: Floats) -> Favorability:
    """``1 − U = P(impostor > genuine)``, one law of impostor scores for all cases, with a Pareto tail."""
    miss = _exceedance(impostor[None, :], genuine[None, :], impostor.size)[0]
    return Favorability(miss=np.clip(miss, 0.0, 1.0), miss_weight=np.full(genuine.size, 1.0 / genuine.size))


@checked
def extrapolate_pairs(
    genuine: Scores,
    impostor: Scores,
    *,
    k: int | Iterable[int],
    distance: bool = False,
    level: float = 0.95,
    n_resamples: int = 100,
    seed: int = 0,
) -> GrowthTable:
    """Accuracy among ``k`` classes from comparisons one to one: scores of right pairs, and scores of wrong ones.

    Assumes that impostor scores follow one law for all cases (no case is harder than another except by its genuine
    score): ``1 − U = P(impostor > genuine)``, with a generalised Pareto tail for the best tenth of impostor scores. If
    cases do differ, the accuracies are biased, mostly too low for many classes; use whole rows of scores if you can.
    Genuine and impostor scores are resampled, each among themselves, as if all were independent: where one person has
    many of them, the interval is too short.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = extrapolate_pairs(rng.normal(4.0, 1.0, 2000), rng.normal(size=20_000), k=[100, 1000], n_resamples=20)
    >>> from scipy.special import ndtr
    >>> truth = np.mean(ndtr(rng.normal(4.0, 1.0, 10**5)) ** 999)
    >>> bool(abs(found[1000].value - truth) < 0.05), found[1000].low < found[1000].value < found[100].high
    (True, True)
    """
    sizes, pairs = sizes_asked(k), []
    for name, values, fewest in (("genuine", genuine, 1), ("impostor", impostor, _FEWEST_PAIRS)):
        # a tensor, also on a graph or on a device, as whole rows of scores are read
        column = values.detach().cpu() if hasattr(values, "detach") else values
        array = np.asarray(as_numbers(column, name)[0], dtype=np.float64)
        if array.size < fewest:
            raise InputError(name, f"has {array.size} scores", f"give at least {fewest}")
        unusable = np.flatnonzero(~np.isfinite(array))
        if unusable.size:
            raise InputError(name, "has a score that is missing or infinite", "drop that pair", row=int(unusable[0]))
        pairs.append(-array if distance else array)
    right, wrong = pairs
    fit = _pair_favorability(right, wrong)
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(n_resamples):
        again = _pair_favorability(rng.choice(right, right.size), rng.choice(wrong, wrong.size))
        drawn.append(again.accuracy(sizes))
    ends = np.quantile(drawn, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=0).T
    estimates = {}
    for size, value, (low, high) in zip(sizes, fit.accuracy(sizes).tolist(), ends.tolist(), strict=True):
        # The middle part of what resamples gave, which is made to contain the value.
        low, high = min(low, value), max(high, value)
        estimates[size] = Estimate(f"accuracy@{size}", value, low, high, level, "pair bootstrap")
    text = (
        "Assumes that impostor scores follow one distribution for all cases. If some people are easier to confuse than "
        "others, accuracies are wrong, mostly too low far out: use whole rows of scores if you have them."
    )
    notes = [Note("one_law", text)]
    below = 1.0 - float(fit.accuracy(2)[0])
    if below > 0.5:
        text = (
            "Genuine scores are worse than impostor scores in {share:.0%} of the comparisons, as if the scale were "
            "upside down: set 'distance' if these are distances, and leave it out if they are similarities."
        )
        notes.append(Note("upside_down", text, share=below))
    if max(sizes) > wrong.size:
        text = (
            "{k:,} classes are more than the {impostor:,} impostor scores: the result rests on how their tail goes on."
        )
        notes.append(Note("far", text, k=max(sizes), impostor=wrong.size))
    title = f"Accuracy from {right.size:,} genuine and {wrong.size:,} impostor scores"
    facts = {"genuine": right.size, "impostor": wrong.size}
    return GrowthTable(title, "accuracy", estimates, {size: {} for size in sizes}, tuple(notes), facts)
