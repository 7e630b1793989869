"""What a stream knows of a table whose rows are not in memory: the evidence that its evaluation is made from.

The Poisson bootstrap of a stream: every row draws its weights by its number, and blocks of rows add them up.

A replicate gives each row a weight from the Poisson distribution with mean 1, independent of all others. That is the
ordinary bootstrap without its one condition, that the weights add up to the number of rows; so no row needs to know
of any other, and a pass over the rows in any order, on any thread, gives the same replicates. Two corrections bring
the condition back: quotas are taken as shares of the rows drawn, and what of a measure's spread is due to the number
of rows (or of rows of each class, where the ordinary bootstrap keeps the class sizes) is taken out by regression.

Only weighted rows and paired models are drawn so. Rows that count alike are drawn by blocks of the ranking after the
pass, as in memory (``inference.resampling``), and have the same intervals as in memory.

Replicates are read on the compact ranking: blocks of neighbouring groups count as ties, and the small shift that this
makes, the same in every replicate to first order, is taken out by centring on the exact value.

"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import Computed, SweepPlan, plan_sweeps
from ..catalogue.declare import Spec
from ..errors import InputError
from ..estimate import FROM_REPLICATES, Settings
from ..inference.bands import hits_by
from ..inference.closed_forms import Cuts, auc_spread
from ..inference.evidence import GRID, Drawn, Evidence
from ..inference.resampling import Replicates, Resampled, Resampler
from ..kernels import compiled
from ..ranking import Ranking
from ..runtime import cores, in_threads
from ..sources.arrays import Sample
from ..sources.sql_table import Totals
from ..sweep import SumsRequest, counts_at, kernel_request
from ..table import PicklesFields
from ..types import Floats
from .stream import StreamPlan, StreamSums, empty_sample

AXES = ("quota", "fpr")
SHARES = np.linspace(0.0, 1.0, GRID)


def hits_of_replicates(ranking: Ranking, counts: NDArray[Any]) -> dict[str, Floats]:
    """For each axis of dominance: positives found by replicate and share of the axis, on the compact ranking."""
    found = {axis: np.empty((counts.shape[2], len(SHARES))) for axis in AXES}
    for r in range(counts.shape[2]):
        pos, neg = (counts[:, side, r].astype(np.float64) for side in range(2))
        drawn = Ranking(ranking.score, pos, neg, ranking.rows, ranking.weighted)
        for axis, whole in zip(AXES, (pos.sum() + neg.sum(), neg.sum()), strict=True):
            found[axis][r] = hits_by(drawn, axis, SHARES * whole)
    return found


def replicate(
    wanted: Mapping[Spec, Resampled], ranking: Ranking, middle: Floats, counts: NDArray[Any]
) -> dict[Spec, Floats]:
    """Replicates of many measures from the counts of a stream, centred on their exact values.

    ``middle`` is the mean score of each block.
    """
    found: dict[Spec, Floats] = {}
    drawn = counts.astype(np.float64).sum(axis=0)  # (class, replicate)
    relative = drawn / np.array([[max(ranking.n_pos, 1e-300)], [max(ranking.n_neg, 1e-300)]]) - 1.0
    whole = drawn.sum(axis=0) / (ranking.n_pos + ranking.n_neg) - 1.0
    for reading in plan_sweeps(list(wanted), ranking.cases):
        vectors = _vectors(reading.request, ranking, middle, counts, reading.ties)
        own, drawn_values = reading.values(vectors[0]), reading.values(vectors[1:])
        for k, spec in enumerate(reading.specs):
            replicates = np.asarray(drawn_values[k], dtype=np.float64)
            covariates = relative if wanted[spec].keeps_classes else whole[None, :]
            shift = wanted[spec].value - float(own[k])
            found[spec] = _conditioned(replicates, covariates) + (shift if np.isfinite(shift) else 0.0)
    return found


def _conditioned(values: Floats, covariates: Floats) -> Floats:
    """The values less what the covariates (mean 0 by design) explain linearly."""
    known = np.isfinite(values)
    usable = [c for c in covariates if np.ptp(c[known]) > 0] if known.any() else []
    if known.sum() < 4 * (len(usable) + 1) or not usable:
        return values
    design = np.column_stack([np.ones(known.sum()), *(c[known] for c in usable)])
    slopes = np.linalg.lstsq(design, values[known], rcond=None)[0][1:]
    corrected = values.copy()
    corrected[known] -= design[:, 1:] @ slopes
    return corrected


def _vectors(request: SumsRequest, ranking: Ranking, middle: Floats, counts: NDArray[Any], ties: Any) -> Floats:
    """The vector of sums of the compact ranking itself, then those of its replicates."""

    n = counts.shape[2]
    dtype: Any = np.float64 if ranking.weighted else np.int64
    out = np.zeros((n + 1, request.width))
    repeat = np.arange(len(ranking)) if ties == "expected" else np.repeat(np.arange(len(ranking)), 2)
    above = [int(np.count_nonzero(ranking.score[repeat] > t)) for t in request.thresholds]
    whole = not ranking.weighted
    sums = kernel_request(request, middle[repeat], ranking.cases, whole=whole, above=above)

    def one(r: int) -> None:
        pair = (ranking.pos, ranking.neg) if r == 0 else (counts[:, 0, r - 1], counts[:, 1, r - 1])
        pos, neg = (np.ascontiguousarray(side, dtype=dtype) for side in pair)
        drawn = Ranking(ranking.score, pos, neg, ranking.rows).resolved(ties, keep_empty=True)
        compiled.sum_replicate(drawn.pos, drawn.neg, sums, out[r])

    def span(first: int, last: int) -> None:
        for r in range(first, last):
            one(r)

    step = -(-(n + 1) // cores())
    in_threads([partial(span, first, min(first + step, n + 1)) for first in range(0, n + 1, step)])
    return out


@dataclass(frozen=True, eq=False)
class Streamed(PicklesFields, Evidence):
    """A table that was streamed: measures are exact, its rows are not kept.

    ``ranking`` is compact: neighbouring scores are joined to blocks within which neither class moves by more than
    ``tolerance`` of itself, nor the number taken by more than that share of the cases before or behind. Curves pass
    through exact points and are straight between them. Cuts are exact at the quotas and thresholds that were asked
    for, at every per cent of the list, and wherever ``tolerance`` is 0; elsewhere they are within the tolerance.

    ``sums`` are the vectors that values are read from, ``single`` marks blocks of one score, ``middle`` is the mean
    score of each block, ``counts`` what rows drew by block while they streamed by, ``hits`` the positives that each
    replicate found, by axis.
    """

    totals: Totals
    ranking: Ranking
    sums: tuple[tuple[SweepPlan, Floats], ...]
    auc: tuple[float, float]
    tolerance: float
    ties: Mapping[str, float]
    single: NDArray[np.bool_]
    middle: Floats
    counts: NDArray[Any] | None = None
    hits: Mapping[str, Floats] | None = None

    @classmethod
    def of(cls, part: StreamSums, totals: Totals, job: StreamPlan, *, paired: bool) -> Streamed:
        """What a stream gathered; ``paired`` keeps what each replicate found, for a comparison."""
        kind: Any = np.float64 if totals.weighted else np.int64
        columns = part.blocks[:, 2].astype(kind), part.blocks[:, 3].astype(kind)
        ranking = Ranking(part.blocks[:, 0].copy(), *columns, totals.rows, totals.weighted)
        auc = math.nan, math.nan
        if part.of_pos.n > 1 and part.of_neg.n > 1:
            auc = part.of_pos.mean, sum(m.squares / (m.n - 1) / m.n for m in (part.of_pos, part.of_neg))
        elif totals.weighted and totals.pos and totals.neg:
            auc = auc_spread(ranking.pos, ranking.neg)[:2]
        drawn = hits_of_replicates(ranking, part.counts) if paired and part.counts is not None else None
        return cls(
            totals,
            ranking,
            tuple(zip(job.readings, part.vectors(), strict=True)),
            auc,
            job.tolerance,
            {
                "distinct_scores": part.groups,
                "largest_tie": part.largest,
                "tied_pairs": part.tied / (totals.pos * totals.neg) if totals.pos and totals.neg else math.nan,
            },
            part.blocks[:, 4] == 1,
            part.blocks[:, 1] / np.maximum(part.blocks[:, 2] + part.blocks[:, 3], 1e-300),
            part.counts,
            drawn,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "counts": None}  # as long as the table's replicates; intervals are made

    @property
    def sample(self) -> Sample:
        """Raises an error: the rows were not kept."""
        raise rows_needed("row by row results")

    @property
    def auc_freedom(self) -> float:
        """Degrees of freedom of the AUC's variance: exact where every score was kept, else at least so many."""
        if not self.tolerance and not self.totals.weighted:
            return auc_spread(self.ranking.pos, self.ranking.neg)[2]
        return max(min(self.totals.positives, self.totals.rows - self.totals.positives) - 1.0, 1.0)

    @property
    def units(self) -> float:
        """Rows; what weights leave of them is not known."""
        return float(self.totals.rows)

    @property
    def independent(self) -> bool:
        """Whether rows count alike."""
        return not self.totals.weighted

    @property
    def are_probabilities(self) -> bool:
        """Whether all scores lie in [0, 1]."""
        return empty_sample(self.totals).are_probabilities

    @property
    def are_finite(self) -> bool:
        """Whether all scores are finite."""
        return empty_sample(self.totals).are_finite

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """Rows, positives, and how much is tied."""
        totals = self.totals
        counted = {
            "rows": totals.rows,
            "positives": totals.positives,
            "negatives": totals.rows - totals.positives,
            "share_positive": totals.positives / totals.rows,
        }
        return MappingProxyType({**counted, **self.ties, "weighted": totals.weighted})

    def compute(self, specs: Sequence[Spec]) -> Computed:
        """The values, from the sums; of a measure that reads every place, from the ranking."""
        values: dict[Spec, float] = {}
        for reading, vector in self.sums:
            values.update(zip(reading.specs, map(float, reading.values(vector)), strict=True))
        for spec in specs:
            if spec.measure.part == "ranking":
                values[spec] = float(spec.measure.compute(self.ranking.resolved(spec.ties), **spec.arguments))
        return Computed(values, self.sums)

    def resamples(self, spec: Spec) -> bool:
        """Weighted rows only if they drew while they streamed by, and no measure that reads every place."""
        return not self.totals.weighted or (self.counts is not None and spec.measure.part != "ranking")

    @property
    def keeps_list(self) -> bool:
        """Cuts of unweighted rows are known well enough."""
        return not self.totals.weighted

    @cached_property
    def cuts(self) -> Cuts:
        """The cuts of the compact list; its groups are ties where none was joined with its neighbours."""
        return Cuts(self.ranking.pos, self.ranking.neg, ties=bool(self.single.all()))

    def replicate(
        self, wanted: Mapping[Spec, Resampled], settings: Settings, *, paired: bool = False
    ) -> dict[Spec, Replicates]:
        """Of rows that count alike from the ranking, as in memory; else what rows drew while they streamed by."""
        if not self.totals.weighted and not paired:
            return super().replicate(wanted, settings)
        if self.counts is None:
            return {}
        drawn = replicate(wanted, self.ranking, self.middle, self.counts)
        return {spec: Replicates(wanted[spec].value, found) for spec, found in drawn.items()}

    def resampler(self, settings: Settings, *, stratified: bool, paired: bool = False) -> Resampler:
        """Draws from the ranking."""
        return Resampler(None, self.ranking, stratified=stratified, seed=settings.seed, progress=settings.progress)

    def label(self, method: str) -> str:
        """Methods that read Poisson replicates are called so."""
        return f"poisson_{method}" if self.totals.weighted else method

    def settle(self, point: Any, rows: int | None) -> Any:
        """Inside a block of the compact ranking counts are interpolated.

        What is known only of single scores (ties, their best and worst case, the correlation) is nan there.
        """
        nan = math.nan
        if rows is None:
            return replace(point, pearson=nan) if self.tolerance else point
        if rows in self._pearson:
            point = replace(point, pearson=self._pearson[rows])
        elif self.tolerance:
            point = replace(point, pearson=nan)
        ends = np.cumsum(self.ranking.pos + self.ranking.neg)
        if point.from_tie > 0 and not self.single[int(np.searchsorted(ends, rows, side="right"))]:
            point = replace(point, tied=nan, from_tie=nan, hits_worst=nan, hits_best=nan)
        return point

    @cached_property
    def _pearson(self) -> dict[int, float]:
        """The correlation at the quotas that were asked for."""
        from ..catalogue.quota import quota_pearson

        of_cut = quota_pearson.measure.compute  # type: ignore[attr-defined]
        found: dict[int, float] = {}
        for reading, vector in self.sums:
            if reading.ties == "expected" and self.are_finite:
                at = reading.request.at
                found |= {q: float(of_cut(counts_at(vector, at(quota=q)))) for q in reading.request.quotas}
        return found

    def band(self, name: str, settings: Settings) -> Any:
        """Raises an error when it is asked for."""
        return partial(_no_band, name)

    def lead(self, axis: str, settings: Settings) -> Drawn:
        """Models are compared where blocks of their rankings end."""
        side = self.ranking.pos + self.ranking.neg if axis == AXES[0] else self.ranking.neg
        places = np.cumsum(side, dtype=np.float64)
        if axis != AXES[0]:
            places = np.concatenate([[0.0], places])
        grid = SHARES * (self.ranking.cases if axis == AXES[0] else self.ranking.n_neg)
        return places, grid, np.full((1, len(grid)), math.nan) if self.hits is None else self.hits[axis]


def rows_needed(what: str) -> InputError:
    """What cannot be told of rows that were not kept."""
    said = f"{what} would need the rows of this table, which was streamed: they were not kept in memory"
    return InputError(None, said, "use a sample of the rows")


def _no_band(name: str, *_: Any) -> tuple[Floats, Floats]:
    raise rows_needed(f"a band of the {name} curve")


def needs_rows(settings: Settings, *, weighted: bool, paired: bool) -> bool:
    """Whether replicates must be drawn row by row, while the rows stream by.

    Rows without weights that need not match other models' rows are drawn block by block instead, after the pass: the
    Poisson weights of a block of c rows add up to a Poisson number with mean c.
    """
    resampled = settings.interval in ("auto", "bootstrap", *FROM_REPLICATES)
    return (weighted and resampled) or (paired and settings.interval is not None)
