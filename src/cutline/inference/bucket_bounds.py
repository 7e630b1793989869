"""What buckets of scores leave open: every value between the best and the worst order of the cases inside them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import Computed, compute, threshold_of
from ..catalogue.declare import Spec, parse_measure, ratio
from ..errors import listed
from ..estimate import Estimate, Interval, Settings
from ..kernels.layout import LOSSES
from ..ranking import Ranking
from ..sources.counts import Counted
from ..sweep import LOG_EPS, Counts
from ..table import PicklesFields, pluralize
from ..types import Floats
from .evidence import RowEvidence
from .intervals import choose, estimate
from .worth import valued_counts, worth_bounds

# what a measure's loss is a power of; others have a logarithm
_POWER = {"mean_absolute_error": 1, "brier_score": 2, "root_mean_squared_error": 2, "brier_skill": 2}


def _corners(best: Counts, worst: Counts) -> list[Counts]:
    """The cells at a threshold with none or all of a bucket's positives and negatives above it.

    Where that may leave none above it, or none below, values are undefined: also with one case more or less.
    """
    step = float(worst.tp + best.fp == 0.0 or best.fn + worst.tn == 0.0)
    tp, fp = (
        sorted({least, min(least + step, most), max(most - step, least), most})
        for least, most in ((worst.tp, best.tp), (best.fp, worst.fp))
    )
    n_pos, n_neg = best.tp + best.fn, best.fp + best.tn
    return [Counts(hits, false, n_pos - hits, n_neg - false) for hits, false in product(tp, fp)]


@dataclass(frozen=True, eq=False)
class Buckets(PicklesFields):
    """The cases in the best and in the worst order of each bucket, both of them possible.

    ``is_open``: which groups of the two rankings are part of a bucket. ``counted`` are the counts themselves: a row for
    each group of the list, best first.
    """

    best: RowEvidence
    worst: RowEvidence
    is_open: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    counted: Counted

    @cached_property
    def sums(self) -> Mapping[str, float]:
        """Sums of losses that a query added up, by their name in :class:`Sums`."""
        return self.counted.losses

    def around(self, score: float) -> Interval | None:
        """The ends of the bucket that a score lies in; None where it lies in none whose scores are unknown."""
        low, high = self.counted.low, self.counted.high
        k = int(np.count_nonzero(low > score))
        inside = k < len(low) and low[k] < high[k] and score <= high[k]
        return Interval(float(low[k]), float(high[k])) if inside else None

    def settle(self, point: Any, middle: Floats) -> Any:
        """A cut with what the order inside its bucket leaves open; ``middle`` are the scores that stand for buckets.

        What is taken for certain scores more than the bucket has, so its upper end is the threshold. Where another one
        was given, between none and all of the bucket's cases lie above it: half of them are the best estimate.
        """
        point = replace(point, pearson=math.nan)  # it takes single scores
        bucket = self.around(point.threshold)
        if bucket is None:
            return point
        given = not (middle == point.threshold).any()
        worst, best, tp = point.hits_worst, point.hits_best, point.tp
        if given:
            lists = [(rows.ranking, rows.ranking.above(point.threshold)) for rows in (self.worst, self.best)]
            worst, best = (float(one.pos[:k].sum(dtype=np.float64)) for one, k in lists)
            most, least = (float(one.neg[:k].sum(dtype=np.float64)) for one, k in lists)
            hits, false, tied = (worst + best) / 2.0, (least + most) / 2.0, best - worst + most - least
            n_pos, n_neg, precision = point.tp + point.fn, point.fp + point.tn, float(ratio(hits, hits + false))
            cells = {"tp": hits, "fp": false, "fn": n_pos - hits, "tn": n_neg - false, "taken": hits + false}
            rates = {"precision": precision, "recall": float(ratio(hits, n_pos)), "fpr": float(ratio(false, n_neg))}
            lift = float(ratio(precision, n_pos / (n_pos + n_neg)))
            point = replace(point, **cells, **rates, lift=lift, tied=tied)
        else:
            point = replace(point, threshold=bucket.high)
        down, up, mean = max(tp - worst, 0.0), max(best - tp, 0.0), point.expected_hits
        low, high = np.floor(point.next_hits.low - down), np.ceil(point.next_hits.high + up)
        certain, value = Interval(worst, best), mean.value + point.tp - tp
        return replace(
            point,
            hits_worst=worst,
            hits_best=best,
            expected_hits=replace(mean, value=value, low=mean.low - down, high=mean.high + up, certain=certain),
            next_hits=Interval(max(float(low), 0.0), min(float(high), math.inf if given else point.taken)),
        )

    def exact(self, computed: Computed) -> Computed:
        """Values with the losses that are known exactly."""
        values = dict(computed.values)
        for plan, vector in computed.sums:
            for options in plan.request.losses:
                at = plan.request.at(losses=options)
                for name, total in self.sums.items():
                    if options.eps == LOG_EPS or not name.endswith("_log"):
                        vector[at + LOSSES.index(name)] = total
            if plan.request.losses and self.sums:
                values |= dict(zip(plan.specs, map(float, plan.values(vector)), strict=True))
        return replace(computed, values=values)

    def bounded(
        self, specs: Sequence[Spec], estimates: Mapping[Spec, Estimate], settings: Settings
    ) -> dict[Spec, Estimate]:
        """Estimates with their bounds, and intervals that contain those of other possible orders of the cases.

        Moving a positive up past a negative improves each measure, or leaves it as it is; so do a higher score of a
        positive and a lower one of a negative. The two orders are therefore the ends. At a threshold inside a bucket
        half of its cases are taken; what is read from precisions is best estimated by the middle of its bounds.
        """
        known = [spec for spec in specs if not estimates[spec].reason or estimates[spec].value == estimates[spec].value]
        known += [spec for spec in specs if spec not in known and spec.measure.needs_threshold]
        of_cases = [spec for spec in known if not spec.measure.of_worth]
        best, worst = (self.exact(rows.compute(of_cases)) for rows in (self.best, self.worst))
        single = "it takes single scores, and buckets hide them"
        of_scores = [spec for spec in specs if spec.measure.name == "quota_pearson"]
        bounded = dict(estimates) | {spec: Estimate(str(spec), math.nan, reason=single) for spec in of_scores}
        for spec in (spec for spec in known if spec not in of_scores):
            cells = _corners(best.cut(spec), worst.cut(spec)) if spec.measure.needs_threshold else []
            low, high = self._ends(spec, best, worst, cells)
            e, measure, value = estimates[spec], spec.measure, estimates[spec].value
            orders = self._possible(spec, cells, low < high, settings)
            at_ends = [estimate([spec], rows, {spec: ""}, settings)[spec] for rows in orders]
            if measure.needs_threshold:
                half = np.mean([astuple(c)[:4] for c in cells], axis=0)
                value = float(measure.compute(Counts(*half), **spec.arguments))
            elif measure.part == "precision" or (measure.of_worth and spec.quota is None) or value != value:
                value = (low + high) / 2.0 if math.isfinite(low + high) else low if math.isfinite(low) else high
            value = min(max(value, low), high) if low <= high else value
            made = next((one for one in (e, *at_ends) if one.low == one.low), e)
            ends = [one.interval for one in at_ends if one.low == one.low]
            if e.low == e.low and math.isfinite(high - low) and not (ends and measure.needs_threshold):
                least, most = measure.range  # by as much longer as the bounds lie around the value
                down, up = (end + value - e.value for end in e.interval)
                down, up = down - max(value - low, 0.0), up + max(high - value, 0.0)
                ends.append(Interval(max(down, min(least, e.low)), min(up, max(most, e.high))))
                if measure.of_worth and spec.quota is None:  # the bucket may have all of the large amounts, or none
                    alone = measure.range[1] == 1.0
                    both = [valued_counts(spec, self.counted, part).interval(e.level, alone) for part in (0.0, 1.0)]
                    ends += [end for end in both if end.low == end.low]
            if ends:
                ends += [Interval(value, value), *([Interval(low, high)] if low <= high else [])]
                made = replace(made, low=min(end.low for end in ends), high=max(end.high for end in ends))
            reason = "" if value == value and (ends or e.value != e.value) else e.reason
            bounded[spec] = replace(made, name=e.name, value=value, certain=Interval(low, high), reason=reason)
        return bounded

    def _possible(self, spec: Spec, cells: Sequence[Counts], is_open: bool, settings: Settings) -> list[RowEvidence]:
        """Other orders of the cases that are possible: those at the ends of the value, and with the largest spread."""
        measure, method = spec.measure, choose(spec, settings, self.best)
        if method is None or measure.of_worth or measure.needs_quota:
            return []
        if len(cells) > 1 and not self.best.batched:  # at a threshold there are no more than four cells to know
            score = np.array([np.nextafter(threshold_of(spec), math.inf), threshold_of(spec)])
            sides = (np.array([[c.tp, c.fn], [c.fp, c.tn]], self.best.ranking.pos.dtype) for c in cells)
            return [RowEvidence(None, Ranking(score, pos, neg, self.counted.cases)) for pos, neg in sides]
        ends = [self.best, self.worst] if (is_open or measure.part != "losses") and not method.resampled else []
        if measure.part == "losses" and measure.scores == "probability":
            spread = self._spread(_POWER.get(measure.name, 0), method.resampled)
            ends.append(RowEvidence(None, spread, buckets=self))
        return ends

    def _spread(self, power: int, whole: bool) -> Ranking:
        """The cases of each bucket and class at its two ends, with their summed loss: nothing varies more."""
        one, counts, ends = self.counted, [], np.stack([self.counted.high, self.counted.low])
        for side, cases, name, off in (("pos", one.pos, "q", 1.0 - ends), ("neg", one.neg, "p", ends)):
            loss = off**power if power else np.log(np.clip(1.0 - off, LOG_EPS, 1.0))
            summed = f"{name * power if power else 'log'}_{side}"
            total = one.sums[summed] if self.sums else loss.mean(axis=0) * cases
            with np.errstate(all="ignore"):  # the share of the cases at the upper end
                share = np.nan_to_num((total / cases - loss[1]) / (loss[0] - loss[1]), nan=0.5)
            share = np.where(one.is_open, np.clip(share, 0.0, 1.0), 1.0)
            above = np.rint(cases * share) if whole else cases * share
            counts.append(np.stack([above, cases - above], axis=1).ravel())
        there = np.flatnonzero(counts[0] + counts[1])
        return Ranking(ends.T.ravel()[there], counts[0][there], counts[1][there], one.cases)

    def words(self, specs: Mapping[str, Spec], estimates: Mapping[str, Estimate]) -> list[str]:
        """How much the buckets leave open, and where that is more than chance does, what to do about it."""
        bounds = {key: e.bounds.width for key, e in estimates.items() if e.bounds.width > 0.0}
        if not bounds:
            return []
        key = "roc_auc" if "roc_auc" in bounds else next(iter(bounds))
        title, (low, high) = specs[key].measure.title, estimates[key].bounds
        used = self.counted.n_buckets
        said = [
            f"The scores came in {pluralize(used, 'bucket')}, and their order inside a bucket is not known: "
            f"{title} certainly lies between {low:.6g} and {high:.6g}. Intervals include what is not known."
        ]
        chance = {key: estimates[key].high - estimates[key].low - width for key, width in bounds.items()}
        wide = [key for key, width in bounds.items() if 0.0 < chance[key] < width < math.inf]
        cuts = [key for key in wide if specs[key].measure.part == "cut"]
        others = {key: bounds[key] / chance[key] for key in wide if key not in cuts}
        described, joined = self.counted.described, "min_cell" in self.counted.described
        if others:
            used = int(described["scheme"].split(":")[1]) if "scheme" in described else used  # many may be empty
            remedy = f": some {2 ** math.ceil(math.log2(used * max(others.values()))):,} buckets would do"
            remedy = f", as those with counts below {described['min_cell']} were joined" if joined else remedy
            said.append(f"The buckets leave more open than chance does for {listed(list(others), 3)}{remedy}.")
        if cuts:
            remedy = (
                "A site can resolve it in its own counts" if joined else "A second query resolves that bucket alone"
            )
            problem = f"The cut of {listed(cuts, 3)} lies inside a bucket, which leaves more open than chance does."
            said.append(f"{problem} {remedy}: cutline sql --refine.")
        return said

    def _ends(self, spec: Spec, best: Computed, worst: Computed, cells: Sequence[Counts]) -> tuple[float, float]:
        """The least and the largest value that a measure may have; nan where that is not known."""
        if spec.measure.of_worth and "worth" in self.counted.sums:
            return worth_bounds(spec, self.counted)
        measure, values = spec.measure, [computed.values.get(spec, math.nan) for computed in (best, worst)]
        if measure.needs_threshold:
            values = [float(measure.compute(counts, **spec.arguments)) for counts in cells]
        defined = [value for value in values if value == value]
        low, high = (min(defined), max(defined)) if defined else (math.nan, math.nan)
        if measure.name == "calibration_error" or (measure.own and measure.part == "cut" and low < high):
            return math.nan, math.nan  # these, and measures that are not ours, may be largest in between
        if measure.part == "precision" or measure.name == "average_hit_rate":
            above, below = (self._of_ties(measure.name, k) for k in range(2))
            low, high = low - float(np.maximum(-below, 0.0).sum()), high + float(np.maximum(above, 0.0).sum())
            return max(0.0, low), min(1.0, high)
        if measure.name == "ks_statistic":
            top = replace(spec, measure=parse_measure("max_youden_index").measure)
            of_worst, of_best = (compute([top], rows.ranking).values[top] for rows in (self.worst, self.best))
            # the highest gap rises with a better order, and so does the lowest, which counts where it is below zero
            low = max(0.0, of_worst, values[0] if values[0] > of_best else 0.0)
        return low, high

    def _of_ties(self, name: str, order: int) -> Floats:
        """What each bucket gains, in one of the two orders, if its positives tie otherwise than the list has them.

        After P positives and N negatives, precision rises over a positives from P/(P+N) to (P+a)/(P+a+N). Read one by
        one, they add up to Σ (P+i)/(P+i+N) = a − N·(ψ(P+N+a+1) − ψ(P+N+1)). Where they tie, average precision counts
        the last value for each, and the trapezoids have one straight line. The average hit rate of a tie over a whole
        bucket that ends at place m is at least (a·P + a²/2)/m, because no place lies further down.
        """
        from scipy.special import digamma

        rows = (self.best, self.worst)[order]
        pos, size = rows.ranking.pos.astype(np.float64), (rows.ranking.pos + rows.ranking.neg).astype(np.float64)
        there = np.flatnonzero(pos)
        a, ends = pos[there], np.cumsum(size)
        before, starts = np.cumsum(a) - a, ends[there] - size[there]
        last = (before + a) / (starts + a)
        apart = a - (starts - before) * (digamma(starts + a + 1.0) - digamma(starts + 1.0))
        if name == "average_precision":
            tied = a * last
        elif name == "average_hit_rate":
            apart, tied = (a * before + a * a / 2.0) / (starts + a), apart  # the list counts places one by one
        elif name == "pr_auc_min":
            least = before / np.maximum(starts, 1.0)
            following = np.append(least[1:], float(rows.ranking.n_pos) / ends[-1])
            apart, tied = apart - last, (a - 1.0) * (least + following) / 2.0
        else:
            whole = starts if name == "pr_auc_minmax" else np.append(0.0, ends[there][:-1])
            first = before / np.maximum(whole, 1.0)
            one_by_one, apart, tied = apart, apart + (first - last) / 2.0, a * (first + last) / 2.0
            if name == "pr_auc_max" and order == 1:  # least where all tie, or all but the first
                with_one = (before + 1.0) / (starts + 1.0)
                apart = np.minimum(apart, (first + a * with_one + (a - 1.0) * last) / 2.0)
            elif name == "pr_auc_max":
                # The line from the last precision before may be higher than precision is: it is longest, and the area
                # largest, where the first j tie. One more tied adds ½·(first − 1 + N·(2u − n − 1)/(u·(u − 1))) with
                # u = n + j cases, n of them before, which falls with u.
                gap = np.maximum((1.0 - first) / np.maximum(starts - before, 1.0), 1e-300)
                root = np.sqrt(np.maximum((gap + 2.0) ** 2 - 4.0 * gap * (starts + 1.0), 0.0))
                j = np.clip(np.floor((gap + 2.0 + root) / (2.0 * gap) - starts), 1.0, a)
                at = (before + j) / (starts + j)
                up_to = j - (starts - before) * (digamma(starts + j + 1.0) - digamma(starts + 1.0))
                apart = np.maximum(apart, j * (first + at) / 2.0 + one_by_one - up_to + (at - last) / 2.0)
        return np.where(self.is_open[order][there], apart - tied, 0.0) / float(rows.ranking.n_pos)
