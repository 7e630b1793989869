"""The rows of all segments together: evaluated one segment after another, against the rest, and on one list."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from .catalogue.declare import Spec
from .decide.segment_places import ListRows, SharedList, share_list
from .estimate import Estimate
from .evaluation import Evaluation, evaluation_of
from .inference.differences import DifferenceTest
from .inference.evidence import Rows
from .inference.intervals import estimate
from .inference.segment_differences import joint_difference, joint_left_out
from .inference.settings import Settings
from .quotas import Quotas, why_no_cut
from .ranking import Ranking, rank
from .sources.arrays import Codes, Sample, number
from .table import KeepsFields
from .types import Floats


class Pool(Protocol):
    """All segments' rows together: what one segment is compared with.

    ``knows_rest``: whether the rows outside a segment can be evaluated.
    """

    knows_rest: ClassVar[bool]

    def overall(self) -> Evaluation:
        """All rows as one."""

    def rest(self, at: int, specs: Sequence[Spec]) -> Mapping[Spec, Estimate]:
        """The rows outside a segment, by some measures."""

    def test(self, one: int, two: int | None, spec: Spec, pair: tuple[Estimate, Estimate]) -> DifferenceTest | None:
        """The difference of two segments (None: of one and the rest) that share clusters; None where they do not."""

    def covariance(self, spec: Spec, errors: Floats) -> Floats:
        """Covariance of a measure's values over the segments, given their standard errors."""

    def shared_list(
        self, segments: Sequence[str], quota: int | None, threshold: float | None, **how: Any
    ) -> SharedList:
        """One list for all."""


@dataclass(frozen=True, eq=False)
class RowPool(KeepsFields):
    """All rows in memory, with the segment of each."""

    knows_rest: ClassVar[bool] = True
    sample: Sample
    codes: NDArray[np.intp]
    segments: int
    specs: Sequence[Spec]
    obstacles: Mapping[Spec, str]
    settings: Settings
    threshold: float | None
    quota: int | float | Quotas | None
    name: str

    def overall(self) -> Evaluation:
        """All rows as one."""
        return self._evaluation(Rows(self.sample, self.ranking, self.cluster), self.name)

    @cached_property
    def ranking(self) -> Ranking:
        """The list of all rows."""
        return rank(self.sample)

    @cached_property
    def _order(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows one segment after another, and where each starts."""
        small: Any = np.uint16 if self.segments < 2**16 else np.int64
        order = np.argsort(self.codes.astype(small), kind="stable")
        return order, np.concatenate([[0], np.cumsum(np.bincount(self.codes, minlength=self.segments))])

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

    def evaluate(self, names: Sequence[str], keep: Sequence[dict[str, Floats]] | None = None) -> list[Evaluation]:
        """Each segment evaluated as if it were alone; ``keep`` takes the replicates of each, for a comparison."""
        found = []
        for k, (name, (part, rows)) in enumerate(zip(names, self.parts(), strict=True)):
            own = Rows(part, rank(part), self._clusters_of(rows), paired=keep is not None)
            found.append(self._evaluation(own, name, None if keep is None else keep[k]))
        return found

    def _evaluation(self, rows: Rows, name: str, keep: dict[str, Floats] | None = None) -> Evaluation:
        settings, obstacles, quota = self._settings(rows), self._obstacles(rows), self.quota
        if quota is not None and why_no_cut(quota, rows.ranking.cases):
            quota = None
        how: dict[str, Any] = {"name": name, "threshold": self.threshold, "quota": quota}
        return evaluation_of(rows, self.specs, obstacles, settings, keep=keep, **how)

    def _settings(self, rows: Rows) -> Settings:
        """No intervals where a segment has a single cluster, which cannot be resampled."""
        single = rows.clusters is not None and not rows.clusters.any()
        return replace(self.settings, interval=None) if single else self.settings

    def _obstacles(self, rows: Rows) -> Mapping[Spec, str]:
        """Why measures have no value: on all rows, or here because it has no cut at a quota."""
        cases = rows.ranking.cases
        why = {spec: "" if spec.quota is None else why_no_cut(spec.quota, cases) for spec in self.specs}
        return {spec: self.obstacles[spec] or why[spec] for spec in self.specs}

    def _clusters_of(self, rows: NDArray[np.intp]) -> Any:
        return None if self.cluster is None else number(self.cluster[rows])

    @property
    def cluster(self) -> Codes | None:
        """The cluster of each row as a number."""
        return self.sample.cluster

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
        rows = Rows(part, ranking, self._clusters_of(numbers))
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
        if self.cluster is None:
            return False
        pairs = np.unique(self.cluster * self.segments + self.codes)
        return len(pairs) > int(self.cluster.max()) + 1

    def _smaller_class(self, at: int) -> float:
        positive = self.sample.positive[self.codes == at]
        n_pos = int(np.count_nonzero(positive))
        return float(min(n_pos, len(positive) - n_pos))

    def _left_out(self, at: int, outside: bool) -> dict[Spec, Floats]:
        if (at, outside) not in self._kept:
            assert self.cluster is not None
            if outside:
                part, ranking, rows = self._outside(at)
            else:
                order, starts = self._order
                rows = order[starts[at] : starts[at + 1]]
                part = self.sample.part(rows)
                ranking = rank(part)
            here = self._obstacles(Rows(part, ranking))
            specs = [spec for spec in self.specs if not here[spec] and spec.measure.part != "ranking"]
            units, seed = int(self.cluster.max()) + 1, self.settings.seed
            self._kept[at, outside] = joint_left_out(specs, part, ranking, self.cluster[rows], units, seed)
        return self._kept[at, outside]

    @cached_property
    def _kept(self) -> dict[tuple[int, bool], dict[Spec, Floats]]:
        return {}

    def covariance(self, spec: Spec, errors: Floats) -> Floats:
        """Variances of independent segments; of segments that share clusters, from leaving out clusters of all."""
        if not self._shares_clusters:
            return np.diag(errors**2)
        left = np.array([self._left_out(k, False).get(spec, np.empty(0)) for k in range(self.segments)])
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
        rows = ListRows(self.sample, self.codes, self.cluster, self.settings.n_resamples, self.settings.seed)
        return share_list(rows, self.ranking, segments, quota=quota, threshold=threshold, **how)
