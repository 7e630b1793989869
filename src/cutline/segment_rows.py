"""The rows of all segments together: evaluated one segment after another, against the rest, and on one list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .catalogue.compute import ClassTotals
from .catalogue.declare import Spec
from .class_evaluation import ClassEvaluation, evaluate_class_sample
from .class_sample import ClassSample, with_rows
from .decide.selection import ListRows, SharedList, share_list
from .errors import InputError
from .estimate import Estimate, Settings
from .evaluation import Evaluation, evaluation_of
from .inference.batch_rows import BatchRows, quotas_in_batches
from .inference.class_intervals import estimate_classes
from .inference.differences import DifferenceTest
from .inference.evidence import RowEvidence
from .inference.intervals import estimate
from .inference.segment_tests import joint_difference, joint_left_out
from .partition import Partition, label_of
from .quotas import Quotas, why_no_cut
from .ranking import Ranking, rank
from .sources.arrays import Sample, renumber
from .table import PicklesFields
from .types import Floats


class SegmentedRows(PicklesFields):
    """All segments' rows together: what one segment is compared with. Unless told otherwise, rows are independent.

    ``whole`` evaluates all rows as one; ``knows_rest``: whether the rows outside a segment can be evaluated.
    """

    knows_rest: ClassVar[bool] = False
    whole: Any

    def shared_list(
        self, segments: Sequence[str], quota: int | float | None, threshold: float | None, **how: Any
    ) -> SharedList:
        """One list for all."""
        raise NotImplementedError

    def rest(self, at: int, specs: Sequence[Spec]) -> Mapping[Spec, Estimate]:
        """The rows outside a segment, by some measures; refused where the rows were not kept."""
        problem = "is missing: this table was streamed, and the rows outside a segment were not summed"
        raise InputError("reference", problem, "name the segment to compare with")

    def test(self, one: int, two: int | None, spec: Spec, pair: tuple[Estimate, Estimate]) -> DifferenceTest | None:
        """The difference of two segments (None: of one and the rest) that share clusters; None where they do not."""
        return None

    def covariance(self, spec: Spec, errors: Floats) -> Floats:
        """Covariance of a measure's values over the segments, given their standard errors."""
        return np.diag(errors**2)


@dataclass(frozen=True, eq=False)
class LoadedSegments(SegmentedRows):
    """All rows in memory, with the segment of each; ``obstacles``: why measures have no value on them."""

    knows_rest: ClassVar[bool] = True
    whole: Evaluation
    sample: Sample
    partition: Partition
    obstacles: Mapping[Spec, str]

    @property
    def settings(self) -> Settings:
        """How intervals are made."""
        return self.whole.settings

    @cached_property
    def _order(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows one segment after another, and where each starts."""
        codes = self.partition.codes
        small: Any = np.uint16 if len(self.partition) < 2**16 else np.int64  # which NumPy sorts by their digits
        return np.argsort(codes.astype(small), kind="stable"), np.concatenate([[0], np.cumsum(np.bincount(codes))])

    def evaluate(self, replicates_out: Sequence[dict[str, Floats]] | None = None) -> dict[Any, Evaluation]:
        """Each segment evaluated as if it were alone; ``replicates_out`` takes their replicates, for a comparison."""
        order, starts = self._order
        whole, evaluations = self.sample, {}
        # the rows of a segment are a stretch of columns that are put in order once
        positive, score = whole.positive[order], whole.score[order]
        weight = None if whole.weight is None else whole.weight[order]
        low, high = (extreme.reduceat(score, starts[:-1]).tolist() for extreme in (np.minimum, np.maximum))
        for k, key in enumerate(self.partition.keys):
            own = slice(int(starts[k]), int(starts[k + 1]))
            size = None if weight is None else weight[own]
            part = Sample(positive[own], score[own], size, float(low[k]), float(high[k]))
            rows = self._evidence(part, order[own], paired=replicates_out is not None)
            obstacles, quota = self._obstacles(rows), self.whole.asked_quota
            evaluations[key] = evaluation_of(
                rows,
                list(self.whole.specs.values()),
                obstacles,
                self._settings(rows),
                name=label_of(key),
                threshold=self.whole.threshold,
                quota=None if quota is not None and _why_no_cut(quota, rows) else quota,
                replicates_out=None if replicates_out is None else replicates_out[k],
            )
        return evaluations

    def _evidence(
        self, part: Sample, rows: NDArray[np.intp], ranking: Ranking | None = None, paired: bool = False
    ) -> RowEvidence:
        """What is known of some of the rows, which have these numbers."""
        cluster = None if self.sample.cluster is None else renumber(self.sample.cluster[rows])
        if isinstance(self.whole.rows, BatchRows):
            batches = self.whole.rows.batches.only(rows)
            return BatchRows.of_batches(replace(part, cluster=cluster), batches, paired=paired)
        return RowEvidence(part, rank(part) if ranking is None else ranking, cluster, paired=paired)

    def _settings(self, rows: RowEvidence) -> Settings:
        """No intervals where a segment has a single cluster or batch, which cannot be resampled."""
        single = rows.clusters is not None and not rows.clusters.any()
        single = rows.n_units < 2 if isinstance(rows, BatchRows) else single
        return replace(self.settings, interval=None) if single else self.settings

    def _obstacles(self, rows: RowEvidence) -> Mapping[Spec, str]:
        """Why measures have no value: on all rows, or here because it has no cut at a quota."""
        return {
            spec: why or ("" if spec.quota is None else _why_no_cut(spec.quota, rows))
            for spec, why in self.obstacles.items()
        }

    def _inside(self, at: int) -> RowEvidence:
        """The rows of a segment."""
        order, starts = self._order
        numbers = order[starts[at] : starts[at + 1]]
        return self._evidence(self.sample.part(numbers), numbers)

    def _outside(self, at: int) -> RowEvidence:
        """The rows outside a segment; ranked by taking its cases out of the list, where they are whole numbers."""
        order, starts = self._order
        numbers = self._numbers(at, outside=True)
        part = self.sample.part(numbers)
        if self.sample.weight is not None or self.whole.rows.batched:
            return self._evidence(part, numbers)
        own, whole = rank(self.sample.part(order[starts[at] : starts[at + 1]])), self.whole.ranking
        place = len(whole) - 1 - np.searchsorted(whole.score[::-1], own.score)
        pos, neg = whole.pos.copy(), whole.neg.copy()
        pos[place] -= own.pos
        neg[place] -= own.neg
        left = np.flatnonzero(pos + neg)
        return self._evidence(part, numbers, Ranking(whole.score[left], pos[left], neg[left], len(part)))

    def _numbers(self, at: int, *, outside: bool) -> NDArray[np.intp]:
        """The rows inside or outside a segment, by number."""
        order, starts = self._order
        if not outside:
            return order[starts[at] : starts[at + 1]]
        return np.sort(np.concatenate([order[: starts[at]], order[starts[at + 1] :]]))

    def rest(self, at: int, specs: Sequence[Spec]) -> Mapping[Spec, Estimate]:
        """The rows outside a segment, by some measures."""
        rows = self._outside(at)
        return estimate(specs, rows, self._obstacles(rows), self._settings(rows))

    def test(self, one: int, two: int | None, spec: Spec, pair: tuple[Estimate, Estimate]) -> DifferenceTest | None:
        """By the clusters (or batches) of both, where one reaches into both; None where segments are independent."""
        if not self._shares_clusters:
            return None
        left = self._left_out(one, False)[spec], self._left_out(one if two is None else two, two is None)[spec]
        values = pair[0].value, pair[1].value
        positive = [self.sample.positive[self.partition.codes == at] for at in (one, two) if at is not None]
        smaller = min(float(min(n := np.count_nonzero(part), len(part) - n)) for part in positive)
        return joint_difference(values, left, smaller, self.settings.level, self.settings.seed)

    @property
    def _cluster(self) -> Any:
        """The cluster of each row, or its batch; None where rows are independent."""
        return self.whole.rows.clusters if isinstance(self.whole.rows, RowEvidence) else None

    @cached_property
    def _shares_clusters(self) -> bool:
        return _reach_into_several(self._cluster, self.partition)

    def _left_out(self, at: int, outside: bool) -> dict[Spec, Floats]:
        """The measures of a segment, or of the rows outside it, without each cluster (or batch) of all rows in turn."""
        if (at, outside) not in self._kept:
            rows, numbers = self._outside(at) if outside else self._inside(at), self._numbers(at, outside=outside)
            units, obstacles = int(self._cluster.max()) + 1, self._obstacles(rows)
            specs = [spec for spec, why in obstacles.items() if not why and spec.measure.part != "ranking"]
            of_batches = [spec for spec in specs if rows.batched and spec.quota is not None]
            others = [spec for spec in specs if spec not in of_batches]
            cluster = self._cluster[numbers]
            left = joint_left_out(others, rows.sample, rows.ranking, cluster, units, self.settings.seed)
            if isinstance(rows, BatchRows):
                # a batch without a row here changes nothing here
                unit = np.empty(rows.n_units, np.intp)
                unit[rows.unit_of_batch[rows.batches.codes]] = cluster
                values = rows.compute(of_batches).values
                for spec in of_batches:
                    left[spec] = np.full(units, values[spec])
                    left[spec][unit] = rows.left_out(spec)
            self._kept[at, outside] = left
        return self._kept[at, outside]

    @cached_property
    def _kept(self) -> dict[tuple[int, bool], dict[Spec, Floats]]:
        return {}

    def covariance(self, spec: Spec, errors: Floats) -> Floats:
        """Variances of independent segments; of segments that share clusters, from leaving out clusters of all."""
        if not self._shares_clusters:
            return super().covariance(spec, errors)
        left = np.array([self._left_out(k, False).get(spec, np.empty(0)) for k in range(len(self.partition))])
        centred = np.where(np.isfinite(left), left, np.nanmean(left, axis=1, keepdims=True))
        centred = centred - centred.mean(axis=1, keepdims=True)
        blocks = left.shape[1]
        joint = centred @ centred.T * (blocks - 1.0) / blocks
        spread = np.sqrt(np.diag(joint))
        # variances as the segments' own intervals have them, correlations from the clusters
        scale = np.where(spread > 0.0, np.maximum(errors, spread) / np.where(spread > 0.0, spread, 1.0), 1.0)
        made = joint * np.outer(scale, scale)
        made[np.diag_indices_from(made)] = np.maximum(np.diag(made), errors**2)
        return np.asarray(made)

    def shared_list(
        self, segments: Sequence[str], quota: int | float | None, threshold: float | None, **how: Any
    ) -> SharedList:
        """One list for all; with batches, one in each batch."""
        drawn = self.settings.n_resamples, self.settings.seed
        rows = ListRows(self.sample, self.partition.codes, self._cluster, *drawn)
        if isinstance(self.whole.rows, BatchRows):
            how |= {"batches": self.whole.rows}
        return share_list(rows, self.whole.ranking, segments, quota=quota, threshold=threshold, **how)


@dataclass(frozen=True, eq=False)
class ClassSegmentRows(SegmentedRows):
    """All rows of several classes, with the segment of each."""

    knows_rest: ClassVar[bool] = True
    whole: ClassEvaluation
    partition: Partition

    def _sample(self, inside: NDArray[np.bool_]) -> tuple[ClassSample, Settings]:
        """Some of the rows, and how intervals are made of them: none where a single cluster cannot be resampled."""
        sample, settings = with_rows(self.whole.sample, np.flatnonzero(inside)), self.whole.settings
        if sample.matrix is not None and sample.facts is not None:
            highest = sample.matrix == sample.facts.highest[:, None]
            tied = int(np.count_nonzero(highest.sum(axis=1) > 1))
            sample = replace(sample, facts=replace(sample.facts, tied=tied))
        if sample.cluster is None:
            return sample, settings
        cluster = renumber(sample.cluster.astype(np.intp)).astype(np.int32)
        return replace(sample, cluster=cluster), settings if cluster.any() else replace(settings, interval=None)

    def evaluate(self) -> dict[Any, ClassEvaluation]:
        """Each segment evaluated as if it were alone, with the classes of all rows."""
        evaluations = {}
        for k, key in enumerate(self.partition.keys):
            sample, settings = self._sample(self.partition.codes == k)
            how: dict[str, Any] = {
                "ordered": self.whole.ordered,
                "measures": list(self.whole.specs.values()),
                "settings": settings,
            }
            evaluations[key] = evaluate_class_sample(sample, name=label_of(key), **how)
        return evaluations

    def rest(self, at: int, specs: Sequence[Spec]) -> Mapping[Spec, Estimate]:
        """The rows outside a segment, by some measures."""
        sample, settings = self._sample(self.partition.codes != at)
        return estimate_classes(ClassTotals(sample), specs, settings)[0]

    def test(self, one: int, two: int | None, spec: Spec, pair: tuple[Estimate, Estimate]) -> DifferenceTest | None:
        """Not tested where clusters reach into several segments; None where segments are independent."""
        return DifferenceTest(method="clusters reach into several segments") if self._shares_clusters else None

    @property
    def _shares_clusters(self) -> bool:
        return _reach_into_several(self.whole.sample.cluster, self.partition)

    def covariance(self, spec: Spec, errors: Floats) -> Floats:
        """Variances of independent segments."""
        if self._shares_clusters:
            problem = "reach into several segments, and the trend of several classes needs independent ones"
            raise InputError("clusters", problem, "leave {clusters} out, or evaluate one class: ev.of(label)")
        return super().covariance(spec, errors)


def _reach_into_several(cluster: Any, partition: Partition) -> bool:
    """Whether a cluster has rows in several segments."""
    if cluster is None:
        return False
    pairs = np.unique(cluster.astype(np.int64) * len(partition) + partition.codes)
    return len(pairs) > int(cluster.max()) + 1


def _why_no_cut(quota: int | float | Quotas, rows: RowEvidence) -> str:
    """Why some rows have no cut at a quota; empty where they have one. A batch with too few cases is taken whole."""
    if not isinstance(rows, BatchRows):
        return why_no_cut(quota, rows.ranking.cases)
    try:
        for each in quotas_in_batches(quota)[0]:
            rows.lists().places(each)
    except InputError as error:
        return f"the quota {error.problem}"
    return ""
