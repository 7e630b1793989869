"""Several models -> Comparison: paired differences, who leads where, and which to use for what."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .catalogue.declare import Spec
from .decide.dominance import dominance, drawn_hits, every_place, family_hull
from .decide.recommendation import Recommendation, recommend
from .errors import InputError
from .evaluation import Evaluation, choose_specs, evaluate_sample
from .inference import blocks
from .inference import paired as tests
from .inference.intervals import AUC_FAMILY, INTERVAL, Settings, auc_line
from .inference.resampling import Resampler
from .sample import Sample, make_sample, resolve_quota
from .table import Table, TabularResult, pluralize, text_table, to_jsonable
from .validate import checked

Floats = NDArray[np.float64]
_OF_DECISIONS = ("accuracy", "error_rate", "zero_one_loss")


@dataclass(frozen=True, eq=False)
class Comparison(TabularResult):
    """Several models on the same cases (or on cases of their own, with ``paired=False``).

    ``replicates[model][measure]`` are the bootstrap replicates; models on the same cases share the rows drawn.
    """

    evaluations: Mapping[str, Evaluation]
    specs: Mapping[str, Spec]
    settings: Settings
    quota: int | None
    threshold: float
    paired: bool
    margin: float | None
    clusters: Any = field(default=None, repr=False)
    replicates: Mapping[str, Mapping[str, Floats]] = field(default_factory=dict, repr=False)

    def __getitem__(self, name: str) -> Evaluation:
        return self.evaluations[name]

    def key(self, measure: str) -> str:
        """The measure string under which a measure stands here."""
        first = next(iter(self.evaluations.values()))
        return first[measure].name

    def best(self, measure: str) -> str:
        """Name of the best model by a measure; the first of them where several are equal."""
        key = self.key(measure)
        sign = 1.0 if self.specs[key].measure.better == "higher" else -1.0
        values = {name: sign * ev.estimates[key].value for name, ev in self.evaluations.items()}
        known = {name: value for name, value in values.items() if value == value}
        if not known:
            raise InputError(
                f"{measure} is undefined for every model: {next(iter(self.evaluations.values()))[measure].reason}"
            )
        return max(known, key=known.__getitem__)

    @cached_property
    def table(self) -> Table:
        """One row for each measure, one column for each model."""
        rows = []
        for key, spec in self.specs.items():
            values = {name: ev.estimates[key].value for name, ev in self.evaluations.items()}
            rows.append({"measure": key, "better": spec.measure.better, **values})
        return Table(rows, "Models side by side")

    @cached_property
    def differences(self) -> Table:
        """For each pair of models and each measure: difference (a − b), interval, p-values, and a reading.

        ``p_adjusted`` is Holm's over the pairs of one measure. ``reading``: the better model where the interval leaves
        0 out (``not after Holm`` where the adjusted p-value does not say so); ``equivalent`` where it lies inside ±
        margin; else ``cannot tell``.
        """
        rows: list[dict[str, Any]] = []
        for key, spec in self.specs.items():
            pairs = [self._pair(a, b, key, spec) for a, b in combinations(self.evaluations, 2)]
            for row, adjusted in zip(pairs, tests.holm([row["p_value"] for row in pairs]), strict=True):
                row["p_adjusted"] = adjusted
                row["reading"] = self._reading(row, spec)
            rows += pairs
        return Table(rows, "Differences between models (a − b)")

    def difference(self, a: str, b: str, measure: str) -> dict[str, Any]:
        """The row of one pair and measure, as a − b."""
        key = self.key(measure)
        for row in self.differences:
            if row["measure"] == key and {row["a"], row["b"]} == {a, b}:
                if row["a"] == a:
                    return dict(row)
                turned = {"a": a, "b": b, "difference": -row["difference"], "low": -row["high"], "high": -row["low"]}
                return {**row, **turned}
        raise InputError(f"there is no pair {a!r}, {b!r} among the models {', '.join(self.evaluations)}")

    def dominance(self, by: str = "quota") -> Table:
        """From which quota (or false positive rate) to which each model leads, and in what share of replicates."""
        if by not in ("quota", "fpr"):
            raise InputError(f"dominance is by 'quota' or 'fpr', got {by!r}")
        self._need_common_rows("dominance")
        if by == "quota":
            self._need_rows_that_count_alike("dominance by quota")
        resamplers = {name: self._resampler(ev, stratified=by == "fpr") for name, ev in self.evaluations.items()}
        rankings = {name: ev.ranking for name, ev in self.evaluations.items()}
        places = every_place(next(iter(rankings.values())), by)
        return dominance(rankings, by, places, *drawn_hits(rankings, resamplers, by, places, self.settings.n_resamples))

    def hull(self) -> Table:
        """The ROC convex hull of all models: which one at which operating range."""
        for ev in self.evaluations.values():
            if 0 in (ev.ranking.n_pos, ev.ranking.n_neg):
                raise InputError("the ROC convex hull needs both classes")
        return family_hull({name: ev.ranking for name, ev in self.evaluations.items()})

    def recommend(self, goal: str = "unknown quota") -> Recommendation:
        """Which model for a goal: known quota, unknown quota, no missed positives, no wasted places, …"""
        return recommend(self, goal)

    def swap_test(self, a: str, b: str, measure: str = "roc_auc", **options: Any) -> tests.SwapTest:
        """Paired permutation test of two of the models."""
        self._need_common_rows("the swap test")
        self._need_rows_that_count_alike("the swap test")
        one, two = self.evaluations[a].sample, self.evaluations[b].sample
        options.setdefault("quota", self.quota)
        return tests.swap_test(one.positive, one.score, two.score, measure=measure, **options)

    def _need_common_rows(self, what: str) -> None:
        if not self.paired:
            raise InputError(f"{what} needs models on the same rows; these were compared with paired=False")

    def _need_rows_that_count_alike(self, what: str) -> None:
        if next(iter(self.evaluations.values())).ranking.weighted:
            raise InputError(f"{what} counts rows, but this comparison is weighted; leave sample_weight out")

    def _resampler(self, ev: Evaluation, *, stratified: bool) -> Resampler:
        settings = self.settings
        return Resampler(
            ev.sample,
            ev.ranking,
            stratified=stratified,
            clusters=self.clusters,
            seed=settings.seed,
            progress=settings.progress,
            paired=self.paired,
        )

    @cached_property
    def _placements(self) -> dict[str, tuple[Floats, Floats]]:
        return {name: tests.row_placements(ev.sample, ev.ranking) for name, ev in self.evaluations.items()}

    def _pair(self, a: str, b: str, key: str, spec: Spec) -> dict[str, Any]:
        one, two = self.evaluations[a], self.evaluations[b]
        gap = one.estimates[key].value - two.estimates[key].value
        row = {"a": a, "b": b, "measure": key, "difference": gap}
        nothing = {"low": np.nan, "high": np.nan, "standard_error": np.nan, "p_value": np.nan, "method": ""}
        if gap != gap or self.settings.interval is None:
            return {**row, **nothing}
        plain_rows = not one.ranking.weighted and self.clusters is None
        same_scale = self.paired or spec.measure.name in ("roc_auc", "gini", "pem")
        if (
            spec.measure.name in AUC_FAMILY
            and plain_rows
            and same_scale
            and spec.ties == "expected"
            and not spec.options
        ):
            return {**row, **self._by_delong(a, b, spec.measure.name)}
        gaps = self._gaps(a, b, key)
        if gaps is None:
            return {**row, **nothing}
        level = self.settings.level
        if self.by_blocks and not spec.measure.needs_quota:
            return {**row, **_by_blocks(spec, gap, one.estimates[key].value, gaps, self.replicates[a][key], level)}
        low, high, error, p = tests.summary(gaps, level)
        method = "paired bootstrap" if self.paired else "bootstrap"
        found: dict[str, Any] = {"low": low, "high": high, "standard_error": error, "p_value": p, "method": method}
        if spec.measure.name in _OF_DECISIONS and plain_rows and self.paired:
            threshold = 0.5 if spec.threshold is None else spec.threshold
            right = [(ev.sample.score > np.float64(threshold)) == ev.sample.positive for ev in (one, two)]
            found |= {"p_value": tests.mcnemar(*right), "method": "paired bootstrap, exact McNemar p"}
        return {**row, **found}

    @cached_property
    def by_blocks(self) -> bool:
        """Whether the lists are so long that measures are compared block by block instead of by replicates."""
        long = all(blocks.are_enough(ev.ranking, ev.sample) for ev in self.evaluations.values())
        return long and self.settings.interval == "auto" and self.clusters is None

    def _gaps(self, a: str, b: str, key: str) -> Floats | None:
        one, two = self.replicates[a], self.replicates[b]
        if key not in one or key not in two:
            return None
        with np.errstate(invalid="ignore"):
            return one[key] - two[key]

    def _by_delong(self, a: str, b: str, name: str) -> dict[str, Any]:
        """DeLong's test, carried to a measure that is a straight line in the AUC."""
        of_auc, variance = tests.auc_difference(self._placements[a], self._placements[b], paired=self.paired)
        low, high = tests.normal_interval(of_auc, variance, self.settings.level)
        slope, _ = auc_line(name, self.evaluations[a].ranking)
        return {
            "low": low * slope,
            "high": high * slope,
            "standard_error": float(np.sqrt(variance)) * slope,
            "p_value": tests.normal_p(of_auc, variance),
            "method": "delong",
        }

    def _reading(self, row: Mapping[str, Any], spec: Spec) -> str:
        low, high, margin = row["low"], row["high"], self.margin
        if low != low:
            return ""
        if margin is not None and -margin < low and high < margin:
            return "equivalent"
        higher = spec.measure.better == "higher"
        if low > 0 or high < 0:
            winner = row["a"] if (low > 0) == higher else row["b"]
            beyond = margin is not None and (low > margin or high < -margin)
            alone = row.get("p_adjusted", 0.0) >= 1.0 - self.settings.level
            return (
                f"{winner} better" + (" beyond the margin" if beyond else "") + (" (not after Holm)" if alone else "")
            )
        return "cannot tell"

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each model and measure."""
        return [{"model": name, **row} for name, ev in self.evaluations.items() for row in ev.to_dicts()]

    def to_json(self, *, indent: int | None = None) -> str:
        """Settings, each model's measures, and the differences."""
        content = {
            **self.settings.to_dict(),
            "quota": self.quota,
            "threshold": self.threshold,
            "paired": self.paired,
            "margin": self.margin,
            "models": [json.loads(ev.to_json()) for ev in self.evaluations.values()],
            "differences": self.differences.to_dicts(),
        }
        return json.dumps(to_jsonable(content), indent=indent, ensure_ascii=False)

    def plot(self, kind: str = "roc", ax: Any = None, **options: Any) -> Any:
        """Draw one of the plots (matplotlib) with all models in one Axes; gives the Axes."""
        from .present.plots import plot

        return plot(self, kind, ax=ax, **options)

    def to_html(self, path: Any, **options: Any) -> Any:
        """Write the report page: one file, no network needed to read it."""
        from .present.page import write_page

        return write_page(self, path, **options)

    def _headline(self) -> str:
        facts = next(iter(self.evaluations.values())).facts
        rows = f"{pluralize(facts['rows'], 'row')}, {facts['positives']:,} positive"
        on = rows if self.paired else "each on rows of its own"
        return f"{pluralize(len(self.evaluations), 'model')}, {on}"

    def __repr__(self) -> str:
        return text_table(self.table.to_dicts(), self.table.columns, self._headline())

    def _repr_html_(self) -> str:
        from .present.notebook import comparison_html

        return comparison_html(self, self._headline())


def _by_blocks(spec: Spec, gap: float, value: float, gaps: Floats, of_first: Floats, level: float) -> dict[str, Any]:
    """Difference from the spread of its values over blocks of rows, the same blocks for both models."""
    from scipy.special import stdtr

    # a sum that grows with n: the blocks' differences on the scale of the whole list
    scale = value / float(of_first.mean()) if spec.measure.extensive and of_first.mean() else 1.0
    error = abs(scale) * float(gaps.std(ddof=1)) / np.sqrt(len(gaps))
    low, high = tests.normal_interval(gap, error**2, level, len(gaps) - 1)
    p = 2.0 * float(stdtr(len(gaps) - 1, -abs(gap) / error)) if error > 0 else float(gap == 0)
    return {"low": low, "high": high, "standard_error": error, "p_value": p, "method": "paired blocks"}


@checked(interval=INTERVAL)
def compare(
    y_true: Any,
    scores: Any,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    threshold: float = 0.5,
    quota: int | float | None = None,
    measures: Sequence[Any] | None = None,
    interval: str | None = "auto",
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    stratify: bool | None = None,
    clusters: Any = None,
    paired: bool = True,
    margin: float | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Compare models, given as a mapping from name to scores or as a frame with a column each, on the same cases.

    Differences are paired: DeLong for AUC and its relatives, exact McNemar p-values for decisions at the threshold, and
    the paired bootstrap for every other measure, all models seeing the same rows drawn. Lists of 100,000 rows and more
    are compared over random blocks of rows instead (``interval="bootstrap"`` draws replicates all the same). A model's
    own bootstrap intervals differ a little from those that :func:`evaluate` draws from the same seed, because rows are
    numbered here so that all models share them. ``margin`` is the difference that does not matter to you. With
    ``paired=False`` the models have cases of their own: ``y_true`` is then a mapping from name to labels, too.

    >>> c = compare([1, 0, 1, 0], {"a": [4, 3, 2, 1], "b": [4, 1, 3, 2]}, n_resamples=100)
    >>> c.best("pem")
    'b'
    """
    if hasattr(scores, "columns") and not isinstance(scores, Mapping):  # a frame: one model in each column
        scores = {str(name): scores[name] for name in scores.columns}
    if not isinstance(scores, Mapping) or not scores:
        raise InputError("scores must be a mapping from model name to scores, or a frame, with at least one model")
    # one way of drawing for all measures, unless told otherwise: the rows of a replicate are drawn once
    settings = Settings(interval, level, n_resamples, seed, bool(stratify), progress)
    samples = _samples(y_true, scores, pos_label, sample_weight, paired)
    weighted = sample_weight is not None
    evaluations: dict[str, Evaluation] = {}
    drawn: dict[str, dict[str, Floats]] = {}
    for k, (name, sample) in enumerate(samples.items()):
        # models on rows of their own must not share their luck
        own = settings if paired else replace(settings, seed=settings.seed + 1_000_003 * k)
        drawn[str(name)] = {}
        evaluations[str(name)] = evaluate_sample(
            sample,
            name=str(name),
            threshold=threshold,
            quota=quota,
            measures=measures,
            settings=own,
            clusters=clusters,
            keep=drawn[str(name)],
        )
    specs = {str(s): s for s in choose_specs(measures, threshold=threshold, quota=quota, weighted=weighted)}
    first = next(iter(evaluations.values()))
    rows = None if quota is None else resolve_quota(quota, first.ranking.rows)
    return Comparison(evaluations, specs, settings, rows, threshold, paired, margin, clusters, drawn)


def _samples(
    y_true: Any, scores: Mapping[str, Any], pos_label: Any, sample_weight: Any, paired: bool
) -> dict[str, Sample]:
    samples = {}
    for name, column in scores.items():
        if paired and isinstance(y_true, Mapping):
            raise InputError("y_true is a mapping: models on rows of their own; say so with paired=False")
        if not paired and (not isinstance(y_true, Mapping) or name not in y_true):
            raise InputError(f"paired=False needs y_true as a mapping from model to labels, with an entry for {name!r}")
        label = y_true if paired else y_true[name]
        try:
            samples[name] = make_sample(label, column, pos_label=pos_label, sample_weight=sample_weight)
        except InputError as error:
            more = ""
            if paired and "rows" in str(error) and "but" in str(error):
                more = "; models on different rows can be compared with paired=False and y_true as a mapping"
            raise InputError(f"model {name!r}: {error}{more}") from None
    return samples
