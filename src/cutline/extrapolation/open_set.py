"""Recognisers that meet strangers, and comparisons one to one: error rates as the gallery grows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..estimate import Estimate
from ..table import TabularResult, text_table
from ..types import Floats, Labels, ScoreMatrix, Scores
from ..validate import check_number, check_whole, checked
from .favorability import Favorability
from .score_methods import pareto_survival, pooled_shape
from .task_inputs import from_scores, number_matrix

_FRACTION = 0.1
_GRID = 400


@dataclass(frozen=True)
class OpenSet(TabularResult):
    """FNIR at a given FPIR by size of the gallery; ``result[1000]`` is the Estimate of the FNIR there.

    A stranger is falsely identified if any score reaches the threshold (FPIR). An enrolled person is missed if their
    own score does not reach it, or if another's is higher (FNIR, rank 1).
    """

    fpir: float
    rows: tuple[dict[str, Any], ...]
    estimates: dict[int, Estimate]

    def __getitem__(self, k: int) -> Estimate:
        if k not in self.estimates:
            raise InputError(
                "k", f"is {k}, which was not asked for", f"asked for were {', '.join(map(str, self.estimates))}"
            )
        return self.estimates[k]

    def to_dicts(self) -> list[dict[str, Any]]:
        """One row per size of the gallery: threshold, FNIR with its interval, FPIR at the current threshold."""
        return [dict(row) for row in self.rows]

    def __repr__(self) -> str:
        return text_table(self.rows, list(self.rows[0]) if self.rows else [], f"FNIR at FPIR {self.fpir:g}")


@checked(distance=lambda value, name: bool(value))
def extrapolate_open_set(
    scores: Any,
    labels: Labels | None = None,
    *,
    strangers: ScoreMatrix,
    k: int | Iterable[int],
    fpir: float = 0.01,
    classes: Labels | None = None,
    distance: bool = False,
    level: float = 0.95,
    n_resamples: int = 100,
    seed: int = 0,
) -> OpenSet:
    """How many enrolled people are missed (FNIR) when at most a share ``fpir`` of strangers is falsely identified.

    ``scores`` are of probes whose class is in the gallery (rows) for its ``k1`` classes (columns), ``strangers`` of
    probes whose class is not. Among ``k`` classes a stranger is falsely identified with chance ``1 − (1 − p)^k``, ``p``
    the chance that one random class reaches the threshold; so the threshold must rise with ``k``, and the FNIR with it.
    Each probe's best tenth of competitors follows a generalised Pareto tail with one shape for all, as in ``tail``.

    For the interval, strangers and enrolled probes are resampled separately.

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
    check_number(fpir, "fpir", 0.0, 1.0, open_ends=True)
    sizes = [check_whole(size, "k", 2) for size in ([k] if np.ndim(k) == 0 else list(k))]  # type: ignore[arg-type]
    task = from_scores(scores, labels, classes=classes, distance=distance, keep=10**9)
    unknown = number_matrix(strangers, "strangers")
    if unknown.shape[1] != task.n_classes:
        raise InputError(
            "strangers", f"has {unknown.shape[1]} columns for {task.n_classes} classes", "give one per class"
        )
    if task.scores is None or not np.isfinite(unknown).all():
        raise InputError("scores", "must be finite to have a threshold", "replace ±inf")
    unknown = -unknown if distance else unknown
    true, others = task.scores.true, task.scores.values.copy()
    others[np.arange(true.size), task.case_class] = -np.inf
    grid = np.linspace(np.quantile(unknown, 0.5), max(float(unknown.max()), float(true.max())), _GRID)
    reach = _exceedance(unknown, grid, task.n_classes)
    losing = _exceedance(others, true[:, None], task.n_classes - 1)[:, 0]
    weight = task.case_weight(np.ones(task.n_classes))
    rng = np.random.default_rng(seed)
    rows, estimates = [], {}
    today = 0.0
    for size in sizes:
        alarm = -np.expm1(size * np.log1p(-np.minimum(reach, 1.0 - 1e-12)))
        kept = np.exp((size - 1.0) * np.log1p(-np.minimum(losing, 1.0 - 1e-12)))

        def missed(strange: Any, enrolled: Any, alarm: Floats = alarm, kept: Floats = kept) -> tuple[float, float]:
            false = alarm[strange].mean(axis=0)
            place = min(int(np.argmax(false <= fpir)) if (false <= fpir).any() else _GRID - 1, _GRID - 1)
            share = weight[enrolled] / weight[enrolled].sum()
            return float(1.0 - share @ (kept[enrolled] * (true[enrolled] > grid[place]))), float(grid[place])

        value, threshold = missed(slice(None), slice(None))
        if size == sizes[0]:
            today = threshold
        drawn = [
            missed(rng.integers(0, len(unknown), len(unknown)), rng.integers(0, true.size, true.size))[0]
            for _ in range(n_resamples)
        ]
        low, high = np.quantile(drawn, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
        name = f"fnir@{size}"
        estimates[size] = Estimate(
            name, value, float(min(low, value)), float(max(high, value)), level, "probe bootstrap"
        )
        at_today = float(alarm[:, int(np.searchsorted(grid, today))].mean())
        rows.append(
            {
                "classes": size,
                "threshold": -threshold if distance else threshold,
                "fnir": value,
                "low": estimates[size].low,
                "high": estimates[size].high,
                "fpir_at_first_threshold": at_today,
            }
        )
    return OpenSet(fpir, tuple(rows), estimates)


def _exceedance(scores: Floats, points: Floats, count: int) -> Floats:
    """For every row the chance that one random class scores above each point: shares, and a Pareto tail at the top."""
    r = max(8, min(int(_FRACTION * count), count - 1))
    top = -np.sort(np.partition(-scores, r, axis=1)[:, : r + 1], axis=1)
    threshold, excess = top[:, r], top[:, :r] - top[:, r : r + 1]
    mean = np.maximum(excess.mean(axis=1), 1e-300)
    shape = pooled_shape(excess / mean[:, None])
    ordered = np.sort(scores, axis=1)
    at = np.broadcast_to(points, (scores.shape[0], np.atleast_2d(points).shape[-1]))
    below = np.array([np.searchsorted(row, p, side="right") for row, p in zip(ordered, at, strict=True)])
    share = (scores.shape[1] - below) / count
    height = (at - threshold[:, None]) / mean[:, None]
    return np.where(height > 0, r / count * pareto_survival(np.maximum(height, 0.0), shape), share)


def pair_favorability(genuine: Scores, impostor: Scores, *, distance: bool = False) -> Favorability:
    """Favorability from 1:1 comparisons alone: scores of the right class, and scores of wrong ones.

    Assumes that impostor scores follow one law for all cases (no case is harder than another except by its genuine
    score): ``1 − U = P(impostor > genuine)``, with a generalised Pareto tail for the best tenth of impostor scores. If
    cases do differ, the accuracies are biased, mostly too low for many classes; use whole rows of scores if you can.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> fit = pair_favorability(rng.normal(4.0, 1.0, 2000), rng.normal(size=20_000))
    >>> from scipy.special import ndtr
    >>> truth = np.mean(ndtr(rng.normal(4.0, 1.0, 10**5)) ** 999)
    >>> bool(abs(fit.accuracy(1000)[0] - truth) < 0.05)
    True
    """
    right, wrong = (np.asarray(values, dtype=np.float64).ravel() for values in (genuine, impostor))
    if right.size < 1 or wrong.size < 20:
        raise InputError("impostor", f"has {wrong.size} scores", "give at least 20, and at least one genuine score")
    if not (np.isfinite(right).all() and np.isfinite(wrong).all()):
        raise InputError("genuine", "or impostor scores are not all finite", "drop the pairs without a score")
    if distance:
        right, wrong = -right, -wrong
    miss = _exceedance(wrong[None, :], right[None, :], wrong.size)[0]
    return Favorability(miss=np.clip(miss, 0.0, 1.0), miss_weight=np.full(right.size, 1.0 / right.size))
