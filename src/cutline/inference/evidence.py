"""What is known of one model's rows: all that estimation asks for, whether the rows are in memory or have streamed by.

Arrays, clusters and the pooled folds of a cross-validation are :class:`Rows`; a table that was streamed answers the
same questions from what it gathered on the way (``engines.streamed``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import Computed, compute
from ..catalogue.declare import Spec
from ..ranking import Ranking, rank, row_order
from ..sources.arrays import Codes, Sample
from ..table import KeepsFields
from ..types import Floats
from . import areas, bands, blocks
from .bootstrap import Replicates, Resampled, replicate
from .quota_cut import Cuts, QuotaCut, dependent_cut
from .resampling import Resampler, Units, enough_replicates, several_clusters
from .settings import Settings
from .weights import effective_size, weights_follow_labels

Drawn = tuple[Floats, Floats, Floats]
GRID = 257
_EVERY_PLACE = 100_000


class Evidence(Protocol):
    """One model's rows as estimation sees them; what has a body holds unless a kind of rows says otherwise.

    ``independent``: rows count alike and were drawn one by one, so that closed forms hold. ``alike``: rows count alike.
    """

    if TYPE_CHECKING:  # fields of some kinds of rows, which must not find a property here

        @property
        def ranking(self) -> Ranking: ...
        @property
        def auc(self) -> tuple[float, float]:
            """The area under the ROC curve and its variance; nan without both classes."""

    @property
    def independent(self) -> bool: ...
    @property
    def batched(self) -> bool:
        """Whether a quota counts in each of several batches."""
        return False

    @property
    def units(self) -> float:
        """Independent units: rows, clusters, or as many equal rows as weighted ones are worth."""

    @property
    def set_by_design(self) -> bool:
        """Whether the class sizes were chosen (case–control weights), so that replicates keep them."""
        return False

    @property
    def are_probabilities(self) -> bool: ...
    @property
    def are_finite(self) -> bool: ...
    @property
    def facts(self) -> Mapping[str, Any]: ...
    @property
    def auc_freedom(self) -> float:
        """Degrees of freedom of the variance of the AUC."""

    @property
    def sample(self) -> Sample:
        """The rows; refused where they were not kept."""

    def compute(self, specs: Sequence[Spec]) -> Computed:
        """Values, and cells at the cuts."""
        return compute(specs, self.ranking)

    def resamples(self, spec: Spec) -> bool:
        """Whether replicates of this measure can be drawn."""

    def replicate(self, wanted: Mapping[Spec, Resampled], settings: Settings) -> dict[Spec, Replicates]:
        """Replicates of measures."""
        return {}

    @property
    def has_jackknife(self) -> bool:
        """Whether rows can be left out."""
        return False

    @property
    def keeps_list(self) -> bool:
        """Whether every place of the list is known."""
        return True

    @cached_property
    def cuts(self) -> Cuts:
        """The cuts of the list as if its rows were independent."""
        return Cuts(self.ranking.pos, self.ranking.neg)

    def at_cut(self, quota: float | None, threshold: float | None) -> Evidence:
        """The rows as measures at this cut see them."""
        return self

    def cut(self, taken: float, hits: float, level: float, *, recall: bool = False) -> QuotaCut:
        """What inference at a quota needs to know of the cut; ``recall`` for Qrecall and lift."""
        return self.cuts.at(taken, hits)

    def by_block(self, specs: Sequence[Spec], settings: Settings) -> dict[Spec, Floats]:
        """The measures on random blocks of rows."""
        return {}

    @property
    def is_long(self) -> bool:
        """Whether blocks of rows are long enough to stand in for replicates."""
        return False

    def label(self, method: str) -> str:
        """What a method that reads replicates is called here."""
        return method

    def settle(self, point: Any, rows: int | None) -> Any:
        """A cut, with what is not known of it left out."""
        return point

    def band(self, name: str, settings: Settings) -> Any:
        """The function that a curve calls for its band, None where there is none."""
        return None

    def lead(self, axis: str, settings: Settings) -> Drawn:
        """Places to compare models at; some of them, and the positives found there in each replicate."""


@dataclass(frozen=True, eq=False)
class Rows(KeepsFields, Evidence):
    """Rows in memory. ``clusters`` are resampled as one; ``fold`` marks rows that are drawn within their fold.

    ``paired`` numbers rows as the sample has them, so that models on the same rows draw the same ones.
    ``classes_given``: the share of positives is known from elsewhere, and does not vary with the sample.
    """

    keeps_rows: ClassVar[bool] = True
    kept: Sample | None
    ranking: Ranking
    clusters: Codes | None = None
    fold: NDArray[Any] | None = None
    paired: bool = False
    classes_given: bool = False

    @classmethod
    def of(cls, sample: Sample, **how: Any) -> Rows:
        """A checked sample, ranked."""
        return cls(sample, rank(sample), several_clusters(sample), **how)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if not (self.paired or self.ranking.weighted or self.clusters is not None or self.fold is not None):
            state["kept"] = None  # the ranking holds all that can be asked
        return state

    @cached_property
    def sample(self) -> Sample:
        """The rows; after pickling, in the order of the ranking."""
        if self.kept is not None:
            return self.kept
        r = self.ranking
        size = (r.pos + r.neg).astype(np.int64)
        score = np.repeat(r.score, size)
        place = np.arange(len(score)) - np.repeat(np.cumsum(size) - size, size)
        return Sample(place < np.repeat(r.pos, size), score, None, float(score[-1]), float(score[0]))

    @property
    def independent(self) -> bool:
        return not self.ranking.weighted and self.clusters is None and self.fold is None

    @property
    def are_probabilities(self) -> bool:
        return self.sample.are_probabilities

    @property
    def are_finite(self) -> bool:
        return self.sample.are_finite

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """Rows, positives, and how much is tied."""
        ranking = self.ranking
        n, n_pos = ranking.rows, int(np.count_nonzero(self.sample.positive))
        pairs = ranking.n_pos * ranking.n_neg
        tied = float((ranking.pos.astype(np.float64) * ranking.neg).sum())
        return MappingProxyType(
            {
                "rows": n,
                "positives": n_pos,
                "negatives": n - n_pos,
                "share_positive": n_pos / n,
                "distinct_scores": len(ranking),
                "largest_tie": float((ranking.pos + ranking.neg).max()),
                "tied_pairs": tied / pairs if pairs else float("nan"),
                "weighted": ranking.weighted,
            }
        )

    @property
    def auc(self) -> tuple[float, float]:
        return self._auc_spread[:2]

    @property
    def auc_freedom(self) -> float:
        return self._auc_spread[2]

    @cached_property
    def _auc_spread(self) -> tuple[float, float, float]:
        return areas.auc_spread(self.ranking.pos, self.ranking.neg)

    @cached_property
    def units(self) -> float:
        if self.clusters is not None:
            return float(self.clusters.max() + 1)
        return float(self.ranking.rows) if self.sample.weight is None else effective_size(self.sample.weight)

    @cached_property
    def set_by_design(self) -> bool:
        weight = self.sample.weight
        if self.classes_given or weight is None or self.clusters is not None:
            return self.classes_given
        return weights_follow_labels(self.sample.positive, weight)

    def resamples(self, spec: Spec) -> bool:
        return True

    @property
    def has_jackknife(self) -> bool:
        return True

    @property
    def keeps_list(self) -> bool:
        return self.fold is None

    def cut(self, taken: float, hits: float, level: float, *, recall: bool = False) -> QuotaCut:
        if self.independent or (self.fold is not None and self.clusters is None):
            return super().cut(taken, hits, level)
        return dependent_cut(
            self.cuts, self.sample, self.ranking, taken, hits, level, self.clusters, recall, self.classes_given
        )

    def resampler(self, settings: Settings, *, stratified: bool) -> Resampler:
        """What draws replicates of these rows."""
        made = Resampler(
            self.sample,
            self.ranking,
            stratified=stratified,
            clusters=self.clusters,
            seed=settings.seed,
            progress=settings.progress,
            paired=self.paired,
        )
        if self.fold is not None:
            made.units = units_within(self.sample, self.fold, stratified, self.clusters)
        return made

    def replicate(self, wanted: Mapping[Spec, Resampled], settings: Settings) -> dict[Spec, Replicates]:
        found: dict[Spec, Replicates] = {}
        for stratified in (True, False):
            chosen = {spec: one for spec, one in wanted.items() if one.keeps_classes == stratified}
            if chosen:
                resampler, values = (
                    self.resampler(settings, stratified=stratified),
                    {s: chosen[s].value for s in chosen},
                )
                left_out = any(one.jackknife for one in chosen.values())
                found |= replicate(list(chosen), values, resampler, settings.n_resamples, jackknife=left_out)
        return found

    @property
    def is_long(self) -> bool:
        plain = self.clusters is None and self.fold is None
        return plain and blocks.are_enough(self.ranking, self.sample)

    def by_block(self, specs: Sequence[Spec], settings: Settings) -> dict[Spec, Floats]:
        return blocks.by_block(specs, self.sample, settings.seed, by_class=self.classes_given)

    def label(self, method: str) -> str:
        return method if self.fold is None else f"{method}_within_folds"

    def band(self, name: str, settings: Settings) -> Any:
        return partial(bands.band, name, self.ranking, settings, self.resampler)

    def lead_places(self, axis: str) -> tuple[Floats, Floats]:
        """Every place at which models are compared, and some of them."""
        first, whole = (1, self.ranking.cases) if axis == "quota" else (0, self.ranking.n_neg)
        most = max(self.ranking.rows, _EVERY_PLACE)  # rows that stand for very many cases are read at some of them
        places = np.linspace(first, int(whole), min(int(whole) - first + 1, most)).round()
        return places, places[
            np.unique(np.linspace(0, len(places) - 1, min(GRID, len(places))).round().astype(np.int64))
        ]

    def lead(self, axis: str, settings: Settings) -> Drawn:
        by_quota = axis == "quota"
        whole = self.ranking.cases if by_quota else self.ranking.n_neg
        places, grid = self.lead_places(axis)
        n_resamples = enough_replicates(settings.n_resamples, self.ranking.rows)
        resampler = self.resampler(settings, stratified=not by_quota)
        return places, grid, resampler.curves(0 if by_quota else 1, grid / whole, n_resamples)[0]


def units_within(
    sample: Sample, fold_of: NDArray[Any], stratified: bool, clusters: NDArray[Any] | None = None
) -> Units:
    """Rows as units, drawn within their fold (and class): each replicate has as many rows of every fold as there are.

    With ``clusters``, none of which may reach into two folds, those are drawn whole. Units of a stratum are numbered
    one after another; rows come in the order of the ranking, as the kernels read them.
    """
    order = row_order(sample)
    weight = np.empty(0) if sample.weight is None else sample.weight[order]
    if clusters is not None:
        pairs, unit = np.unique(np.stack([fold_of, clusters]), axis=1, return_inverse=True)
        sizes = np.unique(pairs[0], return_counts=True)[1]
        strata = np.stack([np.cumsum(sizes) - sizes, sizes], axis=1).astype(np.int64)
        of_row = np.asarray(unit.ravel()[order], dtype=np.int32)
        return Units(strata, of_row, weight, int(sizes.sum()))
    stratum = 2 * fold_of[order] + (sample.positive[order] if stratified else 0)
    number = np.empty(len(order), np.int32)
    number[np.argsort(stratum, kind="stable")] = np.arange(len(order), dtype=np.int32)
    sizes = np.unique(stratum, return_counts=True)[1]
    strata = np.stack([np.cumsum(sizes) - sizes, sizes], axis=1).astype(np.int64)
    return Units(strata, number, weight, len(order))
