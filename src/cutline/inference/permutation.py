"""Permutation tests: what the measure would be if labels had nothing to do with the cases."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import check_applicable, check_threshold, compute, compute_one, plan_sweeps, why_undefined
from ..catalogue.declare import Spec, parse_measure
from ..errors import InputError, show
from ..progress import Progress
from ..ranking import Ranking, rank
from ..sources.arrays import Sample, make_sample
from ..types import Label, Labels, Scores
from ..validate import check_function, checked, one_of
from .resampling import Resampler, several_clusters

Better = Literal["higher", "lower"]
Statistic = Spec | Callable[[NDArray[np.bool_], NDArray[Any]], float]
_FEWEST_WAYS = 5.0
_SAME = 1e-12  # values closer than this, relative to the observed one, are equal but for rounding


@dataclass(frozen=True, eq=False, repr=False)
class PermutationTest:
    """The observed value, and the values with permuted labels (``null``).

    ``p_value`` = (b + 1)/(m + 1), where b of the m permutations are at least as good as what was observed: it is never
    0, and valid for any m (Phipson & Smyth 2010). ``p_value_raw`` = b/m, as in Berrar section 5.1.
    """

    measure: str
    better: Better
    observed: float
    null: NDArray[np.float64]
    permuted: str
    seed: int

    @property
    def n_permutations(self) -> int:
        """How many permutations were made: m."""
        return len(self.null)

    @property
    def at_least_as_good(self) -> int:
        """Permutations at least as good as the observed value: b. Ties count, including those hidden by rounding."""
        slack = _SAME * max(1.0, abs(self.observed)) if np.isfinite(self.observed) else 0.0
        if self.better == "higher":
            return int(np.count_nonzero(self.null >= self.observed - slack))
        return int(np.count_nonzero(self.null <= self.observed + slack))

    @property
    def p_value(self) -> float:
        """(b + 1)/(m + 1)."""
        return (self.at_least_as_good + 1) / (self.n_permutations + 1)

    @property
    def p_value_raw(self) -> float:
        """b/m, which can be 0."""
        return self.at_least_as_good / self.n_permutations

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "measure": self.measure,
            "better": self.better,
            "observed": self.observed,
            "p_value": self.p_value,
            "p_value_raw": self.p_value_raw,
            "at_least_as_good": self.at_least_as_good,
            "n_permutations": self.n_permutations,
            "permuted": self.permuted,
            "seed": self.seed,
            "null": self.null.tolist(),
        }

    def __repr__(self) -> str:
        return (
            f"PermutationTest({self.measure}={self.observed:.6g}, p={self.p_value:.3g}: {self.at_least_as_good} of "
            f"{self.n_permutations} permutations of the {self.permuted} are at least as good)"
        )

    def _repr_html_(self) -> str:
        from ..present.notebook import spread_html

        return spread_html(self.null, self.observed, self.measure, repr(self))


def as_statistic(measure: Any, better: str | None) -> tuple[Statistic, str, Better]:
    """A measure string or a function of your own, its name, and which way is better."""
    one_of(None, "higher", "lower")(better, "better")
    if callable(measure) and not hasattr(measure, "measure"):
        check_function(
            measure, "measure", "two arguments", "pass a function of labels and scores, or a measure by name"
        )
        return measure, getattr(measure, "__name__", "statistic"), better or "higher"  # type: ignore[return-value]
    spec = parse_measure(measure)
    if spec.measure.family == "other":
        raise InputError(
            "measure", f"is {spec.measure.name}, which does not read one score for each case", "name another"
        )
    if spec.measure.needs_quota and spec.quota is None:
        one = spec.measure.name
        raise InputError("measure", f"is {one}, which needs a quota", f"write '{one}@200' or '{one}@5%'")
    if better not in (None, spec.measure.better):
        raise InputError(
            "better", f"is {show(better)}, but {spec.measure.name} is better {spec.measure.better}", "leave it out"
        )
    return spec, str(spec), spec.measure.better


def apply(statistic: Statistic, positive: NDArray[np.bool_], score: NDArray[Any]) -> float:
    """The statistic of labels and scores; nan where it is undefined."""
    if isinstance(statistic, Spec):
        return compute_one(statistic, positive, score)[0]
    value = statistic(positive, score)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError("measure", f"gives {show(value)}", "return one number") from None


def refuse_undefined(null: NDArray[np.float64], name: str, why: str) -> None:
    """A permutation without a value leaves the p-value without a meaning."""
    bad = np.isnan(null)
    if bad.any():
        told = f"{int(bad.sum())} of {len(null)} permutations ({why}), first in permutation {int(np.argmax(bad))}"
        raise InputError(
            "measure",
            f"is {name}, which has no value in {told}",
            "use a measure, threshold or quota that always has one",
        )


@checked
def label_permutation_test(
    y_true: Labels,
    y_score: Scores,
    *,
    measure: Any = "roc_auc",
    pos_label: Label = None,
    n_permutations: int = 10_000,
    better: str | None = None,
    clusters: Labels | None = None,
    seed: int = 0,
    progress: bool | None = None,
) -> PermutationTest:
    """Test whether the measure is better than with permuted test labels; the model is not refitted.

    Under the null hypothesis the labels of the test cases are unrelated to their scores, so every permutation is
    equally likely; p = (b + 1)/(m + 1) (Phipson & Smyth 2010). This tests whether these scores separate the classes;
    :func:`permutation_test` tests whether the attributes do, and refits the model.

    With ``clusters``, labels are not permuted row by row: the labels of whole clusters are exchanged between clusters
    of the same size, and shuffled within. If too few clusters have the same size, the test is refused.

    >>> test = label_permutation_test([1, 1, 1, 0, 0, 0], [0.9, 0.8, 0.7, 0.3, 0.2, 0.1], n_permutations=999)
    >>> test.observed, test.p_value < 0.1  # 1 of the 20 ways to deal three labels is as good
    (1.0, True)
    """
    statistic, name, direction = as_statistic(measure, better)
    sample = make_sample(y_true, y_score, pos_label=pos_label, clusters=clusters)
    ranking = rank(sample)
    if isinstance(statistic, Spec):
        check_applicable(statistic.measure, sample)
        check_threshold(statistic, sample)
        observed = compute([statistic], ranking).values[statistic]
        why = why_undefined(statistic.measure, ranking.n_pos, ranking.n_neg)
    else:
        observed, why = apply(statistic, sample.positive, sample.score), "the function gives nan"
    if observed != observed:
        raise InputError("measure", f"is {name}, which has no value on this sample ({why})", "use one that has")
    codes, permuted = several_clusters(sample), "test labels"
    if codes is not None:
        permuted = "labels of whole clusters"
        ways = ways_to_permute(codes)
        if ways < _FEWEST_WAYS:
            said = f"leave only {2**ways:.0f} ways to exchange the labels of clusters of the same size"
            raise InputError("clusters", said, "it takes 32 for a test at 5 %; use an interval instead (evaluate)")
    null = _null(statistic, sample, ranking, codes, n_permutations, seed, progress)
    refuse_undefined(null, name, why)
    return PermutationTest(name, direction, observed, null, permuted, seed)


def _null(
    statistic: Statistic,
    sample: Sample,
    ranking: Ranking,
    codes: NDArray[Any] | None,
    m: int,
    seed: int,
    progress: bool | None,
) -> NDArray[np.float64]:
    """The statistic with the labels of rows permuted, or those of whole clusters.

    Labels are dealt to the groups of one ranking, so that nothing is sorted again: summed in one compiled pass each;
    one by one for measures that are no algebra on sums, and for tie rules that take each permuted tie apart.
    """
    by_row = codes is None
    if isinstance(statistic, Spec) and by_row and statistic.measure.part != "ranking" and statistic.ties == "expected":
        (reading,) = plan_sweeps([statistic], ranking.cases)
        resampler = Resampler(sample, ranking, stratified=False, seed=seed, progress=progress)
        return np.asarray(reading.values(resampler.permutations(reading.request, m))[0], dtype=np.float64)
    group, size = ranking.group_of(sample.score), ranking.pos + ranking.neg

    def value(i: int) -> float:
        if isinstance(statistic, Spec) and by_row:
            from ..kernels.rng import permute_labels

            pos, neg = np.empty_like(size), np.empty_like(size)
            permute_labels(size, int(ranking.n_pos), ranking.rows, seed, i, pos, neg)
        else:
            rng = np.random.default_rng([seed, i])
            moved = (
                permuted_labels(sample.positive, codes, rng) if codes is not None else rng.permutation(sample.positive)
            )
            if not isinstance(statistic, Spec):
                return float(statistic(moved, sample.score))
            pos = np.bincount(group[moved], minlength=len(ranking))
            neg = size - pos
        return compute([statistic], Ranking(ranking.score, pos, neg, ranking.rows)).values[statistic]

    null = np.empty(m)
    with Progress("permutations", m, progress) as shown:
        for i in range(m):
            null[i] = value(i)
            shown.advance()
    return null


def permuted_labels(positive: NDArray[np.bool_], codes: NDArray[Any], rng: np.random.Generator) -> NDArray[np.bool_]:
    """Labels moved between clusters as whole blocks, each to a cluster of the same size; sizes that occur once stay.

    Exact where clusters of one size are exchangeable. Rows are shuffled inside the block they move as, which changes
    nothing if rows of one cluster are exchangeable too.
    """
    order, sizes = np.argsort(codes, kind="stable"), np.bincount(codes)
    starts = np.cumsum(sizes) - sizes
    moved = positive.copy()
    for size in np.unique(sizes):
        members = np.flatnonzero(sizes == size)
        rows = order[starts[members][:, None] + np.arange(size)]
        moved[rows] = rng.permuted(positive[rows[rng.permutation(len(members))]], axis=1)
    return moved


def ways_to_permute(codes: NDArray[Any]) -> float:
    """Log₂ of the number of ways in which clusters of equal size can change places; below 5 no test at 5 % rejects."""
    return float(sum(math.lgamma(count + 1.0) for count in np.bincount(np.bincount(codes)))) / math.log(2.0)
