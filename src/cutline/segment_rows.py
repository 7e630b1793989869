"""The rows of all segments together: evaluated one segment after another, against the rest, and on one list."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .catalogue.declare import Spec
from .decide.selection import ListRows, SharedList, share_list
from .errors import InputError
from .estimate import Estimate, Settings
from .evaluation import Evaluation, evaluation_of
from .inference.differences import DifferenceTest
from .inference.evidence import RowEvidence
from .inference.intervals import estimate
from .inference.segment_tests import joint_difference, joint_left_out
from .partition import Partition, label_of
from .quotas import Quotas, why_no_cut
from .ranking import Ranking, rank
from .sources.arrays import Sample, renumber
from .table import KeepsFields
from .types import Floats


class SegmentedRows(KeepsFields):
    """All segments' rows together: what one segment is compared with. Unless told otherwise, rows are independent.

    ``knows_rest``: whether the rows outside a segment can be evaluated.
    """

    knows_rest: ClassVar[bool] = False

    def overall(self) -> Evaluation:
        """All rows as one."""
        raise NotImplementedError

    def shared_list(
        self, segments: Sequence[str], quota: int | None, threshold: float | None, **how: Any
    ) -> SharedList:
        """One list for all."""
        raise NotImplementedError

    def rest(self, at: int, specs: Sequence[Spec]) -> Mapping[Spec, Estimate]:
        """The rows outside a segment, by some measures; refused where the rows were not kept."""
        said = "is missing: this table was streamed, and the rows outside a segment were not summed"
        raise InputError("reference", said, "name the segment to compare with")

    def test(self, one: int, two: int | None, spec: Spec, pair: tuple[Estimate, Estimate]) -> DifferenceTest | None:
        """The difference of two segments (None: of one and the rest) that share clusters; None where they do not."""
        return None

    def covariance(self, spec: Spec, errors: Floats) -> Floats:
        """Covariance of a measure's values over the segments, given their standard errors."""
        return np.diag(errors**2)


@dataclass(frozen=True, eq=False)
class LoadedSegments(SegmentedRows):
    """All rows in memory, with the segment of each."""

    knows_rest: ClassVar[bool] = True
    sample: Sample
    partition: Partition
    specs: Sequence[Spec]
    obstacles: Mapping[Spec, str]
    settings: Settings
    threshold: float | None
    quota: int | float | Quotas | None
    name: str

    def overall(self) -> Evaluation:
        """All rows as one."""
        return self._evaluation(RowEvidence(self.sample, self.ranking, self.sample.cluster), self.name)

    @cached_property
    def ranking(self) -> Ranking:
        """The list of all rows."""
        return rank(self.sample)

    @cached_property
    def _order(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows one segment after another, and where each starts."""
        codes = self.partition.codes
        small: Any = np.uint16 if len(self.partition) < 2**16 else np.int64  # which NumPy sorts by their digits
        return np.argsort(codes.astype(small), kind="stable"), np.concatenate([[0], np.cumsum(np.bincount(codes))])

    def parts(self) -> Iterator[tuple[Sample, NDArray[np.intp]]]:
        """The rows of each segment, and their numbers; each is a stretch of columns that were put in order once."""
        order, starts = self._order
        whole = self.sample
        positive, score = whole.positive[order], whole.score[order]
        weight = None if whole.weight is None else whole.weight[order]
        low, high = (extreme.reduceat(score, starts[:-1]).tolist() for extreme in (np.minimum, np.maximum))
        for k, (a, b) in enumerate(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)):
            own = None if weight is None else weight[a:b]
            yield Sample(positive[a:b], score[a:b], own, float(low[k]), float(high[k])), order[a:b]

    def evaluate(self, replicates_out: Sequence[dict[str, Floats]] | None = None) -> dict[Any, Evaluation]:
        """Each segment evaluated as if it were alone; ``replicates_out`` takes their replicates, for a comparison."""
        evaluations: dict[Any, Evaluation] = {}
        for k, (key, (part, rows)) in enumerate(zip(self.partition.keys, self.parts(), strict=True)):
            evidence = RowEvidence(part, rank(part), self._clusters_of(rows), paired=replicates_out is not None)
            replicates = None if replicates_out is None else replicates_out[k]
            evaluations[key] = self._evaluation(evidence, label_of(key), replicates)
        return evaluations

    def _evaluation(self, rows: RowEvidence, name: str, replicates_out: dict[str, Floats] | None = None) -> Evaluation:
        settings, obstacles, quota = self._settings(rows), self._obstacles(rows), self.quota
        if quota is not None and why_no_cut(quota, rows.ranking.cases):
            quota = None
        how: dict[str, Any] = {"name": name, "threshold": self.threshold, "quota": quota}
        return evaluation_of(rows, self.specs, obstacles, settings, replicates_out=replicates_out, **how)

    def _settings(self, rows: RowEvidence) -> Settings:
        """No intervals where a segment has a single cluster, which cannot be resampled."""
        single = rows.clusters is not None and not rows.clusters.any()
        return replace(self.settings, interval=None) if single else self.settings

    def _obstacles(self, rows: RowEvidence) -> Mapping[Spec, str]:
        """Why measures have no value: on all rows, or here because it has no cut at a quota."""
        cases = rows.ranking.cases
        why = {spec: "" if spec.quota is None else why_no_cut(spec.quota, cases) for spec in self.specs}
        return {spec: self.obstacles[spec] or why[spec] for spec in self.specs}

    def _clusters_of(self, rows: NDArray[np.intp]) -> Any:
        return None if self.sample.cluster is None else renumber(self.sample.cluster[rows])

    def _outside(self, at: int) -> tuple[Sample, Ranking, NDArray[np.intp]]:
        """The rows outside a segment; ranked by taking its cases out of the list, where they are whole numbers."""
        order, starts = self._order
        rows = np.sort(np.concatenate([order[: starts[at]], order[starts[at + 1] :]]))
        part = self.sample.part(rows)
        if self.sample.weight is not None:
            return part, rank(part), rows
        own, whole = rank(self.sample.part(order[starts[at] : starts[at + 1]])), self.ranking
        place = len(whole) - 1 - np.searchsorted(whole.score[::-1], own.score)
        pos, neg = whole.pos.copy(), whole.neg.copy()
        pos[place] -= own.pos
        neg[place] -= own.neg
        left = np.flatnonzero(pos + neg)
        return part, Ranking(whole.score[left], pos[left], neg[left], len(part)), rows

    def rest(self, at: int, specs: Sequence[Spec]) -> Mapping[Spec, Estimate]:
        """The rows outside a segment, by some measures."""
        part, ranking, numbers = self._outside(at)
        rows = RowEvidence(part, ranking, self._clusters_of(numbers))
        return estimate(specs, rows, self._obstacles(rows), self._settings(rows))

    def test(self, one: int, two: int | None, spec: Spec, pair: tuple[Estimate, Estimate]) -> DifferenceTest | None:
        """By the clusters of both, where one reaches into both; None where segments are independent."""
        if not self._shares_clusters:
            return None
        left = self._left_out(one, False)[spec], self._left_out(one if two is None else two, two is None)[spec]
        values = pair[0].value, pair[1].value
        smaller = min(self._smaller_class(one), math.inf if two is None else self._smaller_class(two))
        return joint_difference(values, left, smaller, self.settings.level, self.settings.seed)

    @cached_property
    def _shares_clusters(self) -> bool:
        cluster = self.sample.cluster
        if cluster is None:
            return False
        pairs = np.unique(cluster * len(self.partition) + self.partition.codes)
        return len(pairs) > int(cluster.max()) + 1

    def _smaller_class(self, at: int) -> float:
        positive = self.sample.positive[self.partition.codes == at]
        n_pos = int(np.count_nonzero(positive))
        return float(min(n_pos, len(positive) - n_pos))

    def _left_out(self, at: int, outside: bool) -> dict[Spec, Floats]:
        if (at, outside) not in self._kept:
            cluster = self.sample.cluster
            assert cluster is not None
            if outside:
                part, ranking, rows = self._outside(at)
            else:
                order, starts = self._order
                rows = order[starts[at] : starts[at + 1]]
                part = self.sample.part(rows)
                ranking = rank(part)
            here = self._obstacles(RowEvidence(part, ranking))
            specs = [spec for spec in self.specs if not here[spec] and spec.measure.part != "ranking"]
            units, seed = int(cluster.max()) + 1, self.settings.seed
            self._kept[at, outside] = joint_left_out(specs, part, ranking, cluster[rows], units, seed)
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
        self, segments: Sequence[str], quota: int | None, threshold: float | None, **how: Any
    ) -> SharedList:
        """One list for all."""
        drawn = self.settings.n_resamples, self.settings.seed
        rows = ListRows(self.sample, self.partition.codes, self.sample.cluster, *drawn)
        return share_list(rows, self.ranking, segments, quota=quota, threshold=threshold, **how)
