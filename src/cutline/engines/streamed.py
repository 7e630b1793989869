"""What a stream knows of a table whose rows are not in memory: the evidence that its evaluation is made from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import Computed, SweepPlan
from ..catalogue.declare import Spec
from ..errors import InputError
from ..inference.areas import auc_spread
from ..inference.bootstrap import Replicates, Resampled
from ..inference.evidence import Drawn, Evidence
from ..inference.quota_cut import Cuts
from ..inference.settings import FROM_REPLICATES, Settings
from ..ranking import Ranking
from ..sources.arrays import Sample
from ..sweep import counts_at
from ..table import KeepsFields
from ..types import Floats
from .poisson import AXES, SHARES, drawn_by_block, hits_of_replicates, replicate
from .request import Job, empty_sample
from .stream import Part, Totals


@dataclass(frozen=True, eq=False)
class Streamed(KeepsFields, Evidence):
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
    def of(cls, part: Part, totals: Totals, job: Job, *, paired: bool) -> Streamed:
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
        """Refused: the rows were not kept."""
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
        """Not a measure that reads every place; weighted rows only if they drew while they streamed by."""
        return spec.measure.part != "ranking" and (self.counts is not None or not self.totals.weighted)

    @property
    def keeps_list(self) -> bool:
        """Cuts of unweighted rows are known well enough."""
        return not self.totals.weighted

    @cached_property
    def cuts(self) -> Cuts:
        """The cuts of the compact list; its groups are ties where none was joined with its neighbours."""
        return Cuts(self.ranking.pos, self.ranking.neg, ties=bool(self.single.all()))

    def replicate(self, wanted: Mapping[Spec, Resampled], settings: Settings) -> dict[Spec, Replicates]:
        """Replicates of the Poisson bootstrap."""
        counts = self.counts
        if counts is None:
            counts = drawn_by_block(self.ranking, settings.n_resamples, settings.seed)
        drawn = replicate(wanted, self.ranking, self.middle, counts)
        nothing = np.empty(0)
        return {
            spec: Replicates(wanted[spec].value, found, nothing, nothing, np.empty(0, np.int64))
            for spec, found in drawn.items()
        }

    def label(self, method: str) -> str:
        """Methods that read Poisson replicates are called so."""
        return f"poisson_{method}"

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
        if point.from_tie > 0 and not self._is_single(rows):
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
                at = reading.request.quota_at
                found |= {q: float(of_cut(counts_at(vector, at(q)))) for q in reading.request.quotas}
        return found

    def _is_single(self, rows: int) -> bool:
        ends = np.cumsum(self.ranking.pos + self.ranking.neg)
        return bool(self.single[int(np.searchsorted(ends, rows, side="right"))])

    def band(self, name: str, settings: Settings) -> Any:
        """Refused when it is asked for."""
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
