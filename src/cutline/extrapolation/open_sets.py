"""Probes of strangers: error rates as the gallery grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..estimate import Estimate
from ..types import Floats
from . import extrapolation_result as answers
from .extrapolation_result import GrowthTable, in_brackets, rounded_share
from .methods import FEWEST_IN_TAIL, FRACTION, chance_beyond, largest
from .tasks import Note, number_matrix, whole_rows

# Thresholds that are tried, from the middle of the strangers' scores to the highest score: 0.25% of that range apart.
_GRID = 400
_BELOW_ONE = 1.0 - 1e-12
# One tail for all probes misses too many where probes differ, one for each quarter of them too few: both count alike.
# Chosen by hand: a group has forty probes or more, so that its shape is steadier than the difference it may show.
_GROUPS, _PER_GROUP = (1, 4), 40
_PARTS = 10  # parts of the classes that are left out in turn
_FEW = 10.0  # strangers at a threshold, below which it rests on single ones
_FEWEST_CLASSES = 3  # with one of them left out, a case still has a competitor


def chances_above(scores: Floats, points: Floats, count: int, groups: int = 1) -> Floats:
    """For every row the chance that one random class scores above each point: shares, and a Pareto tail at the top.

    Rows are put into ``groups`` by their mean score; a group shares the shape of its tails. A tie is half a win.
    """
    n_rows, at = len(scores), np.broadcast_to(points, (len(scores), points.shape[-1]))
    pairs = list(zip(np.sort(scores), at, strict=True))
    below = [np.searchsorted(row, p) + np.searchsorted(row, p, "right") for row, p in pairs]
    chance = (scores.shape[1] - np.array(below) / 2.0) / count
    r = min(max(FEWEST_IN_TAIL, int(FRACTION * count)), count - 1)
    if r < 2:
        return np.asarray(chance)
    top, known = largest(scores, r + 1), np.where(np.isfinite(scores), scores, np.nan)
    mean, spread = np.nanmean(known, axis=1), np.nanstd(known, axis=1)
    group = np.argsort(np.argsort(mean)) * max(1, min(groups, n_rows // _PER_GROUP)) // n_rows
    for number in range(group.max() + 1):
        rows = np.flatnonzero(group == number)
        beyond = chance_beyond(top[rows], at[rows], spread[rows], count)
        # A row whose best scores are all alike has no tail: the share of better ones is all there is.
        chance[rows] = np.where(np.isnan(beyond), chance[rows], beyond)
    return np.asarray(chance)


def missed_by_size(
    scores: Any,
    labels: Any,
    strangers: Any,
    fpir: float,
    *,
    k: Any,
    level: float,
    n_resamples: int,
    seed: int,
    **how: Any,
) -> GrowthTable:
    """How many enrolled people are missed (FNIR) where at most a share ``fpir`` of strangers is falsely identified."""
    task, kept = whole_rows(scores, labels, **how)
    n, n_tested, rng = task.n_classes, task.n_tested, np.random.default_rng(seed)
    unknown = np.asarray(number_matrix(strangers, "strangers"), dtype=np.float64)
    names: list[Any] = [getattr(t, "column_names", getattr(t, "columns", None)) for t in (scores, strangers)]
    if len(number_matrix(scores, "scores")[0]) != n:
        raise InputError("classes", "gives a class several columns", "give one score for each class with {strangers}")
    if unknown.shape[1] != n or (None not in names and [*names[0]] != [*names[1]]):
        raise InputError("strangers", f"does not have the {n} columns of the scores", "give the same columns, in order")
    if not len(unknown) or not np.isfinite(unknown).all():
        wrong = None if not len(unknown) else int(np.argmin(np.isfinite(unknown).all(axis=1)))
        raise InputError("strangers", "must have rows, and finite scores", "replace ±inf and nan", row=wrong)
    if any(note.kind == "probabilities" for note in task.hints):
        why = "are probabilities, which change with every class that is added, so no threshold can be carried on"
        raise InputError("scores", why, "give the scores before the softmax, of strangers too")
    unknown = -unknown if how["distance"] else unknown
    sizes = answers.sizes_asked([n, 2 * n, 5 * n, 10 * n] if k is None else k)
    true, weight = kept.true, task.case_weight(np.ones(n))
    grid = np.linspace(np.quantile(unknown, 0.5), max(float(unknown.max()), float(true.max())), _GRID)

    def models(classes: Any) -> list[tuple[Floats, Floats]]:
        """For each model the chance that one random class reaches a threshold, or outscores the right class."""
        reach = (chances_above(unknown[:, classes], grid, len(classes), groups) for groups in _GROUPS)
        others = kept.values[:, classes]
        lose = (chances_above(others, true[:, None], len(classes) - 1, groups) for groups in _GROUPS)
        return list(zip(reach, lose, strict=True))

    def rates(tails: Sequence[tuple[Floats, Floats]], size: int) -> tuple[Floats, Floats]:
        """FPIR of each stranger and FNIR of each enrolled probe (rows) by threshold (columns)."""
        alarm = np.mean([-np.expm1(size * np.log1p(-np.minimum(p, _BELOW_ONE))) for p, _ in tails], axis=0)
        first = np.mean([np.exp((size - 1.0) * np.log1p(-np.minimum(p, _BELOW_ONE))) for _, p in tails], axis=0)
        return alarm, 1.0 - first * (true[:, None] > grid)

    def lowest(alarm: Floats) -> int:
        """The place of the lowest threshold that keeps the FPIR."""
        allowed = alarm.mean(axis=0) <= fpir
        return int(np.argmax(allowed)) if allowed.any() else _GRID - 1

    every = models(np.arange(n))
    parts = rng.permutation(np.arange(n) % min(_PARTS, n))
    without = [models(np.flatnonzero(parts != part)) for part in range(parts.max() + 1)] if n >= _FEWEST_CLASSES else []
    today, estimates, columns = lowest(rates(every, n)[0]), {}, {}
    for size in sizes:
        alarm, missed = rates(every, size)
        place, drawn = lowest(alarm), []
        value = float(weight @ missed[:, place])
        for _ in range(n_resamples):
            strange, enrolled = (rng.integers(0, rows, rows) for rows in (len(alarm), len(missed)))
            share = weight[enrolled] / weight[enrolled].sum()
            drawn.append(float(share @ missed[enrolled, lowest(alarm[strange])]))
        others = [rates(tails, size) for tails in ([every[0]], [every[1]], *without)]
        by_tails = [float(weight @ b[:, lowest(a)]) for a, b in others]
        low, high, method = 0.0, 1.0, "bounds without a model"
        if without:
            # Half a miss more and half a hit more, so that rates of 0 and 1 have a place on the logit scale.
            smooth = [(n_tested * np.asarray(x) + 0.5) / (n_tested + 1.0) for x in (value, drawn, by_tails)]
            gallery = float(np.sqrt((len(without) - 1.0) * answers.logit(smooth[2][2:]).var()))
            untested = float(np.hypot(gallery, 1.0 / (1.0 + min(value, 1.0 - value) * n_tested)))
            ends = answers.accuracy_interval(float(smooth[0]), smooth[1], smooth[2][:2], level, untested)
            low, high = np.clip(((n_tested + 1.0) * np.array(ends) - 0.5) / n_tested, 0.0, 1.0).tolist()
            method = "probe bootstrap, class jackknife"
        estimates[size] = Estimate(f"fnir@{size}", value, min(low, value), max(high, value), level, method)
        threshold = -float(grid[place]) if how["distance"] else float(grid[place])
        columns[size] = {"threshold": threshold, "fpir_at_current_threshold": float(alarm[:, today].mean())}
    notes = answers.far_note(sizes, n)
    if fpir * len(unknown) < _FEW:
        few = f"A share {fpir:g} of {len(unknown):,} strangers is {fpir * len(unknown):.1f}"
        notes += (Note("few_strangers", f"{few}: the threshold rests on the few closest of them."),)
    last = max(sizes)
    missed_there = f"{rounded_share(estimates[last].value)} of enrolled people{in_brackets(estimates[last])}"
    at_most = f"at most {rounded_share(fpir)} of strangers are identified"
    answer = f"With {last:,} classes expect to miss {missed_there} where {at_most}."
    title, facts = f"FNIR at FPIR {fpir:g}, from {n:,} classes", {"fpir": fpir, "classes_seen": n}
    return GrowthTable(title, "fnir", estimates, columns, notes, facts, (answer,))
