"""What is known of one model's rows: all that estimation asks for, whether the rows are in memory or have streamed by.

Arrays and clusters are :class:`RowEvidence`; a table that was streamed answers the
same questions from what it gathered on the way (``engines.streamed``).

Where positives are more or less frequent than in the sample, they count π/π̂ and negatives (1 − π)/(1 − π̂), with π̂ the
sample's own share: cases add up to as many as before, and a quota is cut in the list so weighted. What scores say of
positives and of negatives is taken to stay as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import Computed, compute, plan_sweeps
from ..catalogue.declare import Spec
from ..errors import InputError
from ..estimate import Settings
from ..ranking import Ranking, rank
from ..runtime import TUNING
from ..sources.arrays import Codes, Sample, Worth
from ..table import PicklesFields
from ..types import Floats
from . import bands
from .closed_forms import Cuts, QuotaCut, auc_spread, dependent_cut
from .limits import effective_size
from .resampling import Replicates, Resampled, Resampler, enough_replicates, replicate
from .worth import Valued, valued_counts, valued_rows

if TYPE_CHECKING:
    from ..sources.counts import Counted
    from .bucket_bounds import Buckets

SMALL_SIZE = 30.0  # effective cases of a class below which a note tells that weights leave few: the textbooks' thirty


def small_size_note(positive: NDArray[np.bool_], weight: Floats) -> str:
    """A warning that names the effective sample size where it is small in a class; else empty."""
    small = []
    for name, rows in (("positives", weight[positive]), ("negatives", weight[~positive])):
        size = effective_size(rows)
        if size < SMALL_SIZE and size < 0.9 * len(rows):  # few rows of equal weight show in their own numbers
            small.append(f"{size:.0f} {name} ({len(rows):,} rows)")
    if not small:
        return ""
    return f"The weights leave an effective sample of {' and '.join(small)}, so intervals may be too short."


Drawn = tuple[Floats, Floats, Floats]
GRID = 257  # places at which models are compared by influences or replicates; every place would cost memory only
EVERY_PLACE = 100_000  # places up to which each is read, however few rows stand for them


class Evidence(Protocol):
    """One model's rows as estimation sees them; what has a body applies unless a kind of rows overrides it.

    ``independent``: rows count alike and were drawn one by one, so closed forms apply. ``alike``: rows count alike.
    """

    if TYPE_CHECKING:  # fields of some kinds of rows, which must not find a property here

        @property
        def ranking(self) -> Ranking: ...
        @property
        def auc(self) -> tuple[float, float, float]:
            """The area under the ROC curve, its variance and the freedom of that; nan without both classes."""

    batched: ClassVar[bool] = False
    """Whether a quota counts in each of several batches."""
    has_jackknife: ClassVar[bool] = False
    """Whether rows can be left out."""

    @property
    def independent(self) -> bool: ...
    @property
    def units(self) -> float:
        """Independent units: rows, clusters, or as many equal rows as weighted ones are worth."""

    @property
    def class_sizes(self) -> tuple[float, float]:
        """Positives and negatives: cases, or as many equal rows as weighted ones of the class are worth."""
        return self.ranking.n_pos, self.ranking.n_neg

    @property
    def set_by_design(self) -> bool:
        """Whether the class sizes were chosen (case–control weights), so that replicates keep them."""
        return False

    @property
    def alike_by_class(self) -> bool:
        """Whether both classes are there, and the weighted rows of each weigh alike."""
        return False

    @property
    def outline(self) -> Sample:
        """The extremes of the scores, without the rows where these are not needed one by one."""

    @property
    def facts(self) -> Mapping[str, Any]: ...
    @property
    def sample(self) -> Sample:
        """The rows; raises an error where they were not kept."""

    def compute(self, specs: Sequence[Spec]) -> Computed:
        """Values, and cells at the cuts."""
        return compute(specs, self.ranking)

    def check_quotas(self, specs: Sequence[Spec]) -> None:
        """Raise an error for a measure at a quota that these rows do not have."""
        plan_sweeps(tuple(spec for spec in specs if not spec.measure.of_worth), self.ranking.cases)

    def resamples(self, spec: Spec) -> bool:
        """Whether replicates of this measure can be drawn."""

    def worth(self, spec: Spec) -> Valued:
        """A measure of worth, and what its interval rests on."""
        raise RuntimeError(f"{type(self).__name__} has no worth")

    def replicate(
        self, wanted: Mapping[Spec, Resampled], settings: Settings, *, paired: bool = False
    ) -> dict[Spec, Replicates]:
        """Replicates of measures; ``paired``: the same rows in each of several models."""
        replicates: dict[Spec, Replicates] = {}
        for stratified in (True, False):
            chosen = {spec: request for spec, request in wanted.items() if request.keeps_classes == stratified}
            if chosen:
                resampler = self.resampler(settings, stratified=stratified, paired=paired)
                left_out = any(request.jackknife for request in chosen.values())
                n_resamples = settings.n_resamples
                if settings.interval == "auto" and not resampler.by_blocks:
                    n_resamples = enough_replicates(n_resamples, self.ranking.rows)
                values = {spec: request.value for spec, request in chosen.items()}
                smooth = {spec for spec, request in chosen.items() if request.smooth}
                drawn = replicate(list(chosen), values, resampler, n_resamples, jackknife=left_out, smooth=smooth)
                replicates |= drawn
        return replicates

    def resampler(self, settings: Settings, *, stratified: bool, paired: bool = False) -> Resampler:
        """What draws replicates of these rows."""
        raise RuntimeError(f"{type(self).__name__} has no replicates")

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

    def settle(self, point: Any, rows: int | None) -> Any:
        """A cut, with what is not known of it left out."""
        return point

    def band(self, name: str, settings: Settings) -> Any:
        """The function that a curve calls for its band, None where there is none."""
        return None

    def lead(self, axis: str, settings: Settings) -> Drawn:
        """Places to compare models at; some of them, and the positives found there in each replicate."""
        raise RuntimeError(f"{type(self).__name__} has no replicates of curves")


@dataclass(frozen=True, eq=False)
class RowEvidence(PicklesFields, Evidence):
    """Rows in memory. ``clusters`` are resampled as one.

    ``paired`` numbers rows as the sample has them, so that models on the same rows draw the same ones.
    ``classes_given``: the share of positives is known from elsewhere, and does not vary with the sample. ``kept`` is
    None where counts came in place of rows that count alike; ``buckets`` is what they leave open, ``amounts`` what they
    are worth.
    """

    keeps_rows: ClassVar[bool] = True
    has_jackknife: ClassVar[bool] = True
    kept: Sample | None
    ranking: Ranking
    clusters: Codes | None = None
    paired: bool = False
    classes_given: bool = False
    buckets: Buckets | None = None
    amounts: Counted | None = None

    @classmethod
    def of(cls, sample: Sample, **how: Any) -> RowEvidence:
        """A checked sample, ranked."""
        if sample.cluster is not None and not sample.cluster.any():
            raise InputError("clusters", "contains a single cluster", "give at least two: they are resampled")
        return cls(sample, rank(sample), sample.cluster, **how)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        by_row = self.paired or self.ranking.weighted or self.clusters is not None or self.batched
        if not by_row and (self.kept is None or self.kept.worth is None):
            state["kept"] = None  # the ranking has all that can be asked
        return state

    @cached_property
    def sample(self) -> Sample:
        """The rows; after pickling, in the order of the ranking."""
        if self.kept is not None:
            return self.kept
        r = self.ranking
        if r.rows > TUNING.expanded_rows:
            problem = f"this needs the cases one by one, and counts stand for {r.rows:,} of them"
            raise InputError(None, problem, f"up to {TUNING.expanded_rows:,} cases are made of counts: use a sample")
        size = (r.pos + r.neg).astype(np.int64)
        score = np.repeat(r.score, size)
        place = np.arange(len(score)) - np.repeat(np.cumsum(size) - size, size)
        return Sample(place < np.repeat(r.pos, size), score, None, float(score[-1]), float(score[0]))

    @property
    def independent(self) -> bool:
        return not self.ranking.weighted and self.clusters is None

    @property
    def outline(self) -> Sample:
        if self.kept is not None:
            return self.kept
        low, high = (float(self.ranking.score[end]) for end in (-1, 0))
        worth = None if self.amounts is None else Worth(np.empty(0))
        return Sample(np.empty(0, np.bool_), np.empty(0), None, low, high, worth=worth)

    def compute(self, specs: Sequence[Spec]) -> Computed:
        found = compute(specs, self.ranking)
        return found if self.buckets is None else self.buckets.exact(found)

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """Rows, positives, and how much is tied."""
        ranking = self.ranking
        n = ranking.rows
        n_pos = int(np.count_nonzero(self.sample.positive) if ranking.weighted else ranking.n_pos)
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

    @cached_property
    def auc(self) -> tuple[float, float, float]:
        return auc_spread(self.ranking.pos, self.ranking.neg)

    @cached_property
    def units(self) -> float:
        if self.clusters is not None:
            return float(self.clusters.max() + 1)
        weight = self.sample.weight if self.ranking.weighted else None
        return float(self.ranking.rows) if weight is None else effective_size(weight)

    @cached_property
    def class_sizes(self) -> tuple[float, float]:
        weight = self.sample.weight if self.ranking.weighted and self.keeps_rows else None
        if weight is None:
            return self.ranking.n_pos, self.ranking.n_neg
        return effective_size(weight[self.sample.positive]), effective_size(weight[~self.sample.positive])

    @cached_property
    def set_by_design(self) -> bool:
        if self.classes_given or not self.alike_by_class or self.clusters is not None:
            return self.classes_given
        weight, positive = self.sample.row_weight, self.sample.positive  # a case–control sample: they weigh differently
        return bool(abs(weight[positive][0] / weight[~positive][0] - 1.0) > 1e-9)

    @cached_property
    def alike_by_class(self) -> bool:
        if not self.ranking.weighted or not self.keeps_rows:
            return False
        positive, weight = self.sample.positive, self.sample.row_weight
        if positive.all() or not positive.any():
            return False
        return all(float(np.ptp(side)) < 1e-9 * side[0] for side in (weight[positive], weight[~positive]))

    def resamples(self, spec: Spec) -> bool:
        return not spec.measure.of_worth  # the kernels that draw replicates sum cases alone

    def worth(self, spec: Spec) -> Valued:
        if spec not in self._worked_out:
            valued = valued_rows(spec, self.sample) if self.amounts is None else valued_counts(spec, self.amounts)
            if self.clusters is not None:
                by_cluster = np.bincount(self.clusters, valued.influence).astype(np.float64)
                valued = valued._replace(influence=by_cluster)
            self._worked_out[spec] = valued
        found: Valued = self._worked_out[spec]
        return found

    @cached_property
    def _worked_out(self) -> dict[Any, Any]:
        """What is asked for more than once: measures of worth; of batches, what units contain by quota or measure."""
        return {}

    def settle(self, point: Any, rows: int | None) -> Any:
        return point if self.buckets is None else self.buckets.settle(point, self.ranking.score)

    def cut(self, taken: float, hits: float, level: float, *, recall: bool = False) -> QuotaCut:
        if self.independent:
            return self.cuts.at(taken, hits)
        return dependent_cut(self, taken, hits, level, recall)

    def resampler(self, settings: Settings, *, stratified: bool, paired: bool = False) -> Resampler:
        """What draws replicates of these rows; ``paired``: the same rows in each of several models."""
        return Resampler(
            self.kept if self.independent and not paired else self.sample,
            self.ranking,
            stratified=stratified,
            clusters=self.clusters,
            seed=settings.seed,
            progress=settings.progress,
            paired=paired,
        )

    def band(self, name: str, settings: Settings) -> Any:
        return partial(bands.band, name, self.ranking, settings, self.resampler)


def reweighted_ranking(ranking: Ranking, share: float) -> tuple[Ranking, float, float]:
    """The list with another share of positives among as many cases; by what positives and negatives are multiplied."""
    n_pos, n_neg = ranking.n_pos, ranking.n_neg
    if not n_pos or not n_neg:
        missing = "positive" if not n_pos else "negative"
        raise InputError("prevalence", f"needs cases of both classes, and there are no {missing} ones", "leave it out")
    up, down = share * (n_pos + n_neg) / n_pos, (1.0 - share) * (n_pos + n_neg) / n_neg
    return replace(ranking, pos=ranking.pos * up, neg=ranking.neg * down, weighted=True), up, down


def at_prevalence(rows: RowEvidence, share: float) -> RowEvidence:
    """The rows with another share of positives, the sizes of the classes being given."""
    if rows.clusters is not None:
        problem = "cannot be combined with {clusters}: clusters contain cases of both classes"
        raise InputError("prevalence", problem, "leave one of them out")
    sample = rows.sample
    ranking, up, down = reweighted_ranking(rows.ranking, share)
    weight = np.where(sample.positive, up, down) * (1.0 if sample.weight is None else sample.weight)
    return replace(rows, kept=replace(sample, weight=weight), ranking=ranking, classes_given=True)


@lru_cache(maxsize=512)
def moves(spec: Spec) -> bool:
    """Whether a measure depends on the share of positives: it does if it changes on a list with another share."""
    at = {"threshold": 0.5} if spec.measure.needs_threshold else {"quota": 0.3} if spec.measure.needs_quota else {}
    spec = replace(spec, ties="expected", **at)  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    score = np.sort(rng.choice(np.arange(1, 100), 40, replace=False))[::-1] / 100.0
    pos = rng.integers(1, 5, 40) * score
    list_ = Ranking(score, pos, rng.integers(1, 5, 40) * (1.0 - score), 160, True)
    first, *others = (compute([spec], reweighted_ranking(list_, share)[0]).values[spec] for share in (0.5, 0.2, 0.05))
    return any(not abs(other - first) <= 1e-9 * max(1.0, abs(first)) for other in others)


class AtPrevalence(NamedTuple):
    """An evaluation for another share of positives: the measures that it moves, and the rows as they were sampled."""

    prevalence: float
    moved: frozenset[str]
    sampled: RowEvidence
