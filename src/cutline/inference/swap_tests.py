"""Swap tests: if two models are equally good, exchanging their scores row by row (or cluster by cluster) is no loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import check_threshold, compute, with_defaults
from ..catalogue.declare import Spec, parse_measure
from ..errors import InputError
from ..progress import Progress
from ..quotas import resolve_quota
from ..ranking import midranks, rank
from ..sources.arrays import Sample, make_sample
from ..types import Floats, Label, Labels, Scores
from ..validate import checked
from .differences import EXACT_UNITS, sign_matrix
from .resampling import several_clusters


@dataclass(frozen=True, eq=False)
class Swaps:
    """Which rows swap, mask after mask: rows, or the clusters that ``codes`` numbers.

    All masks (up to swapping everything, which changes the sign alone) where that is not more than asked for.
    """

    units: int
    asked: int
    seed: int
    codes: NDArray[Any] | None = None

    @property
    def exact(self) -> bool:
        """Whether all masks are made."""
        return self.units <= EXACT_UNITS and 2 ** (self.units - 1) <= self.asked

    def __len__(self) -> int:
        return 2 ** (self.units - 1) if self.exact else self.asked

    def __iter__(self) -> Iterator[NDArray[np.bool_]]:
        rng = np.random.default_rng([self.seed & (2**63 - 1), 6])
        every = sign_matrix(self.units, self.asked, self.seed) < 0.0 if self.exact else None
        for k in range(len(self)):
            swapped = rng.random(self.units) < 0.5 if every is None else every[k]
            yield swapped if self.codes is None else swapped[self.codes]

    def p_value(self, observed: float, drawn: Floats) -> float:
        """Two-sided p: exact where all masks were made (one of them observed), else (b + 1)/(m + 1).

        Swaps without a value count as if they were as far apart: p is then too large, never too small.
        """
        slack = 1e-12 * max(1.0, abs(observed)) if np.isfinite(observed) else 0.0
        beyond = int(np.count_nonzero(~(np.abs(drawn) < abs(observed) - slack)))
        return max(beyond, 1) / len(drawn) if self.exact else (beyond + 1.0) / (len(drawn) + 1.0)


def swapped_differences(
    specs: Sequence[Spec],
    one: Sample,
    two: Sample,
    swaps: Swaps | Sequence[NDArray[np.bool_]],
    progress: bool | None = False,
) -> dict[Spec, Floats]:
    """The differences of all measures, one − two, for each mask.

    Measures of the ranking see mid-ranks, so that models on different scales can be swapped (Venkatraman & Begg 1996);
    other measures see the scores as they are.
    """
    plain = [sample.score.astype(np.float64) for sample in (one, two)]
    ranked = [spec for spec in specs if spec.measure.rank_based]
    others = [spec for spec in specs if not spec.measure.rank_based]
    kinds = [(ranked, [midranks(column) for column in plain] if ranked else plain), (others, plain)]
    out = {spec: np.empty(len(swaps)) for spec in specs}
    with Progress("swap test", len(swaps), progress) as counter:
        for k, swap in enumerate(swaps):
            for chosen, columns in kinds:
                if chosen:
                    values = [_read(chosen, one, np.where(swap, columns[1 - m], columns[m])) for m in range(2)]
                    for spec in chosen:
                        out[spec][k] = values[0][spec] - values[1][spec]
            counter.advance()
    return out


def _read(specs: Sequence[Spec], sample: Sample, score: Floats) -> Any:
    swapped = replace(sample, score=score, low=float(score.min()), high=float(score.max()))
    return compute(specs, rank(swapped)).values


@dataclass(frozen=True, eq=False)
class SwapTest:
    """Observed difference, differences with scores swapped at random, and the share at least as large."""

    measure: str
    observed: float
    null: Floats
    p_value: float

    def __repr__(self) -> str:
        return (
            f"SwapTest({self.measure}: difference {self.observed:.6g}, p = {self.p_value:.4g}, {len(self.null)} swaps)"
        )

    def _repr_html_(self) -> str:
        from ..present.notebook import spread_html

        return spread_html(self.null, self.observed, self.measure, repr(self))


@checked
def swap_test(
    y_true: Labels,
    first: Scores,
    second: Scores,
    *,
    measure: str = "roc_auc",
    threshold: float | None = None,
    quota: int | float | None = None,
    n_permutations: int = 2000,
    seed: int = 0,
    pos_label: Label = None,
    sample_weight: Scores | None = None,
    clusters: Labels | None = None,
    progress: bool | None = None,
) -> SwapTest:
    """Paired permutation test: if two models are equally good, swapping their scores case by case changes nothing.

    For measures of the ranking the scores are replaced by their mid-ranks first, so that models on different scales can
    be swapped (Venkatraman & Begg 1996); other measures swap the scores as they are. With ``clusters``, the rows of a
    cluster are swapped together. p = (b + 1)/(m + 1), two-sided; with at most eleven cases (or clusters) all swaps are
    enumerated, and p is exact.

    >>> swap_test([1, 0, 1, 0], [4, 3, 2, 1], [4, 3, 2, 1], n_permutations=50).p_value
    1.0
    """
    spec = with_defaults(parse_measure(measure), threshold=threshold, quota=quota)
    one = make_sample(y_true, first, pos_label=pos_label, sample_weight=sample_weight, clusters=clusters)
    two = make_sample(y_true, second, pos_label=pos_label, sample_weight=sample_weight)
    if quota is not None:  # also where the measure has no use for it
        resolve_quota(quota, float(len(one)) if one.weight is None else float(one.weight.sum()))
    for sample in (one, two):
        check_threshold(spec if threshold is None else replace(spec, threshold=threshold), sample)
    codes = several_clusters(one)
    units = len(one) if codes is None else int(codes.max()) + 1
    observed = float(swapped_differences([spec], one, two, [np.zeros(len(one), np.bool_)])[spec][0])
    if np.isnan(observed):
        raise InputError(None, f"{measure} is undefined for these models, so there is no difference to test")
    swaps = Swaps(units, n_permutations, seed, codes)
    null = swapped_differences([spec], one, two, swaps, progress)[spec]
    p = swaps.p_value(observed, null)
    # one mask in two is made where all of them are: the other half turns the sign
    return SwapTest(str(spec), observed, np.concatenate([null, -null]) if swaps.exact else null, p)
