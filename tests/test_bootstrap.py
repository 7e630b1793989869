"""The bootstrap: replicates against literal resamples of rows, standard errors, BCa, seeds, threads."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import cutline as cl
from cutline.catalogue.compute import compute
from cutline.catalogue.declare import Spec, make_spec
from cutline.evaluation import choose_specs
from cutline.inference import resampling
from cutline.inference.resampling import Blocks, Replicates, Resampler, UnitInfluences, replicate
from cutline.ranking import rank
from cutline.sources.arrays import Sample, make_sample
from cutline.sweep import SumsRequest, counts_at, sweep
from samples import Case, quietly, random_case
from test_catalogue import SCORED, options

# --- a replicate is the rows it drew, evaluated from scratch ---------------------------------------------------


def all_specs(n: int) -> list[Spec]:
    """Every measure of the catalogue; those that depend on the order within ties by each rule; two thresholds."""
    specs = []
    for m in SCORED:
        rules = ("expected", "best", "worst") if m.tie_rule else ("expected",)
        specs += [make_spec(m, {**options(m, n), "ties": ties}) for ties in rules]
        if m.needs_threshold:
            specs.append(make_spec(m, {**options(m, n), "threshold": 0.31}))
    return specs


def from_scratch(spec: Spec, y: Any, s: Any, w: Any, cases: float) -> float:
    """The public function on rows; a quota out of so many ``cases`` is the same share of the cases drawn."""
    said: dict[str, Any] = dict(spec.options)
    if spec.measure.needs_quota:
        ranking = rank(make_sample(y, s, sample_weight=w)).resolved(spec.ties)
        request = SumsRequest(frozenset(), (), quotas=(spec.quota * ranking.cases / cases,))
        return float(spec.measure.compute(counts_at(sweep(ranking, request), request.at(quota=request.quotas[0]))))
    if spec.threshold is not None:
        said["threshold"] = spec.threshold
    if spec.ties != "expected":
        said["ties"] = spec.ties
    if w is not None:
        said["sample_weight"] = w
    return quietly(getattr(cl, spec.measure.name), y, s, **said)


def drawn_rows(sample: Sample, times: np.ndarray) -> tuple[Any, Any, Any]:
    rows = np.repeat(np.arange(len(sample)), times.astype(int))
    return sample.positive[rows], sample.score[rows], None if sample.weight is None else sample.weight[rows]


DESIGNS = {
    "plain": {},
    "stratified": {"stratified": True},
    "groups": {"groups": True},
    "weights": {"weighted": True},
    "weights, stratified": {"weighted": True, "stratified": True},
    "weights, groups": {"weighted": True, "groups": True},
}


@pytest.mark.parametrize("levels", [4, 11, 10_000], ids=["many ties", "some ties", "no ties"])
@pytest.mark.parametrize("design", DESIGNS)
def test_a_replicate_is_the_rows_it_drew(design: str, levels: int) -> None:
    how: dict[str, bool] = DESIGNS[design]
    case = random_case(7, 36, levels, weighted=how.get("weighted", False))
    sample = make_sample(case.y, case.s, sample_weight=case.w)
    ranking = rank(sample)
    clusters = np.random.default_rng(1).integers(0, 9, len(case.y)) if how.get("groups") else None
    resampler = Resampler(sample, ranking, stratified=how.get("stratified", False), clusters=clusters, seed=5)
    specs = all_specs(int(ranking.cases))
    found = replicate(specs, dict(compute(specs, ranking).values), resampler, 8, jackknife=False)
    for r, (counts, reweighted) in enumerate(resampler.each(8)):
        times = counts[resampler.unit_of_row()].astype(float)
        y, s, w = drawn_rows(sample, times)
        assert reweighted.rows == len(y)
        for spec in specs:
            expected = from_scratch(spec, y, s, w, ranking.cases)
            assert found[spec].values[r] == pytest.approx(expected, rel=1e-9, abs=1e-11, nan_ok=True), (str(spec), r)


@pytest.mark.parametrize("stratified", [True, False])
def test_draws_keep_their_number(stratified: bool) -> None:
    case = random_case(0, 50, 10)
    resampler = Resampler(make_sample(case.y, case.s), rank(make_sample(case.y, case.s)), stratified=stratified)
    positives = set()
    for counts, ranking in resampler.each(30):
        times = counts[resampler.unit_of_row()].astype(float)
        assert times.sum() == 50
        assert ranking.n_pos == times[case.y == 1].sum()
        positives.add(ranking.n_pos)
    assert positives == {case.y.sum()} if stratified else len(positives) > 5


def test_every_row_is_drawn_alike_often() -> None:
    """Counts over many replicates: mean 1, variance 1 − 1/n, each row's mean within its sampling error."""
    case = random_case(0, 40, 10_000)
    sample = make_sample(case.y, case.s)
    resampler = Resampler(sample, rank(sample), stratified=False, seed=3)
    times = np.array([counts[resampler.unit_of_row()].astype(float) for counts, _ in resampler.each(4000)])
    assert times.mean() == 1.0
    assert times.var() == pytest.approx(1 - 1 / 40, rel=0.02)
    assert np.abs(times.mean(axis=0) - 1).max() < 4.5 / math.sqrt(4000)
    first, second = times[:, 0], times[:, 1]
    assert abs(np.corrcoef(first, second)[0, 1]) < 4.5 / math.sqrt(4000)


def test_rows_of_a_group_come_together() -> None:
    case = random_case(4, 60, 20)
    clusters = np.array([f"patient {k}" for k in np.random.default_rng(0).integers(0, 12, 60)])
    sample = make_sample(case.y, case.s, clusters=clusters)
    resampler = Resampler(sample, rank(sample), stratified=True, clusters=sample.cluster, seed=1)
    for counts, _ in resampler.each(20):
        assert counts.sum() == len(np.unique(clusters))
        times = counts[resampler.unit_of_row()].astype(float)
        assert all(len(set(times[clusters == g])) == 1 for g in np.unique(clusters))


def test_groups_of_zero_weight_rows_keep_their_rows() -> None:
    """Rows of zero weight leave the sample; the others keep their own group."""
    y, s = np.array([1, 0, 1, 0, 1, 0]), np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
    w, clusters = np.array([0.0, 1, 1, 0, 2, 1]), np.array(["a", "b", "b", "a", "c", "c"])
    sample = make_sample(y, s, sample_weight=w, clusters=clusters)
    resampler = Resampler(sample, rank(sample), stratified=False, clusters=sample.cluster)
    for counts, _ in resampler.each(20):
        b1, b2, c1, c2 = counts[resampler.unit_of_row()].astype(float)
        assert (b1, c1) == (b2, c2)
        assert b1 + c1 == 2


@pytest.mark.parametrize("groups", [np.zeros(10), np.arange(9)], ids=["one group", "wrong length"])
def test_groups_that_cannot_be_used_are_refused(groups: np.ndarray) -> None:
    with pytest.raises(cl.InputError, match="clusters"):
        cl.evaluate([1, 0] * 5, np.arange(10), measures=["roc_auc"], clusters=groups)


@pytest.mark.parametrize("weight", [None, [0.0, *[1.0] * 9]], ids=["unweighted", "a weight of 0"])
@pytest.mark.parametrize("interval", ["auto", None])
@pytest.mark.parametrize("role", ["clusters", "batch"])
def test_columns_of_another_length_or_with_gaps_are_refused(role: str, interval: Any, weight: Any) -> None:
    import pandas as pd

    how: dict[str, Any] = {"measures": ["roc_auc"], "interval": interval, "sample_weight": weight}
    for column, said in {
        (1, 2): f"{role} has 2 rows but y_score has 10",
        tuple(range(30)): f"{role} has 30 rows but y_score has 10",
        (*"abcab", None, *"cabc"): f"{role}: row 5 has a missing value",
        (*"abcab", pd.NA, *"cabc"): f"{role}: row 5 has a missing value",
    }.items():
        with pytest.raises(cl.InputError, match=said):
            cl.evaluate([1, 0] * 5, np.arange(10), **{role: list(column)}, **how)
        with pytest.raises(cl.InputError, match=said):
            cl.compare([1, 0] * 5, {"a": np.arange(10), "b": np.ones(10)}, **{role: list(column)}, **how)
    for segment in ([*"abcab", pd.NA, *"cabc"], [*"ababa", *"babab"] * 2):
        with pytest.raises(cl.InputError, match=r"by(: row 5 has a missing value| has 20 rows)"):
            cl.evaluate([1, 0] * 5, np.arange(10), by=segment, **how)


def test_comparisons_with_weights_of_zero_swap_whole_clusters() -> None:
    """What a comparison hands on are the clusters of the rows that count."""
    rng = np.random.default_rng(3)
    y, weight, clusters = rng.integers(0, 2, 40), np.repeat([0.0, 1.0], 20), np.arange(40) % 9
    cmp = cl.compare(y, {"a": rng.random(40), "b": rng.random(40)}, sample_weight=weight, clusters=clusters)
    there = cl.compare(
        y[20:], {k: cmp[k].sample.score for k in "ab"}, sample_weight=weight[20:], clusters=clusters[20:]
    )
    one, two = (each.difference("a", "b", "roc_auc").p_value for each in (cmp, there))
    assert one == two


# --- standard errors against theory ----------------------------------------------------------------------------


def spread(case: Case, name: str, n: int = 6000, **how: Any) -> float:
    sample = make_sample(case.y, case.s)
    ranking = rank(sample)
    spec = cl.parse_measure(name)
    resampler = Resampler(
        sample, ranking, stratified=how.get("stratified", False), clusters=how.get("clusters"), seed=2
    )
    drawn = replicate([spec], dict(compute([spec], ranking).values), resampler, n, jackknife=False)[spec]
    return float(np.nanstd(drawn.values))


def test_standard_error_of_a_proportion() -> None:
    case = random_case(1, 80, 1000)
    p = cl.accuracy(case.y, case.s)
    assert spread(case, "accuracy") == pytest.approx(math.sqrt(p * (1 - p) / 80), rel=0.04)
    p, n = cl.recall(case.y, case.s), int(case.y.sum())
    assert spread(case, "recall", stratified=True) == pytest.approx(math.sqrt(p * (1 - p) / n), rel=0.04)


@pytest.mark.parametrize("levels", [5, 10_000])
def test_standard_error_of_the_auc(levels: int) -> None:
    """Exact variance of a two-sample statistic when both classes are resampled: plug-in components of all pairs."""
    case = random_case(6, 60, levels)
    pos, neg = case.s[case.y == 1], case.s[case.y == 0]
    wins = (pos[:, None] > neg) + 0.5 * (pos[:, None] == neg)
    m, n = wins.shape
    of_pos, of_neg = wins.mean(axis=1).var(), wins.mean(axis=0).var()
    variance = ((n - 1) * of_pos + (m - 1) * of_neg + wins.var()) / (m * n)
    assert spread(case, "roc_auc", stratified=True) == pytest.approx(math.sqrt(variance), rel=0.04)


def test_groups_widen_where_rows_repeat_each_other() -> None:
    """Each case copied four times: resampled by group, the standard error is that of the cases, not of the rows."""
    one = random_case(9, 60, 1000)
    four = Case(np.repeat(one.y, 4), np.repeat(one.s, 4))
    by_group = spread(four, "accuracy", clusters=np.repeat(np.arange(60), 4))
    assert by_group == pytest.approx(spread(one, "accuracy"), rel=0.05)
    assert spread(four, "accuracy") == pytest.approx(by_group / 2, rel=0.05)


# --- seeds and threads -----------------------------------------------------------------------------------------


def all_estimates(**how: Any) -> list[tuple[float, float]]:
    case = random_case(2, 300, 60)
    ev = cl.evaluate(case.y, case.s, quota=30, interval="bca", n_resamples=300, **how)
    return [(e.low, e.high) for e in ev.estimates.values()]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_number_of_threads_changes_nothing(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    expected = all_estimates()
    monkeypatch.setattr(resampling, "cores", lambda: threads)
    np.testing.assert_array_equal(all_estimates(), expected)


def test_a_seed_makes_the_same_intervals_and_another_does_not() -> None:
    first = all_estimates(seed=11)
    np.testing.assert_array_equal(all_estimates(seed=11), first)
    other = all_estimates(seed=12)
    assert sum(a != b for a, b in zip(first, other, strict=True)) > len(first) / 2


def test_more_replicates_begin_with_the_same_ones() -> None:
    case = random_case(2, 100, 60)
    sample = make_sample(case.y, case.s)
    spec = cl.parse_measure("roc_auc")
    made = [
        replicate([spec], {spec: 0.5}, Resampler(sample, rank(sample), stratified=True), n, jackknife=False)[spec]
        for n in (50, 500)
    ]
    np.testing.assert_array_equal(made[0].values, made[1].values[:50])


def test_an_interrupt_stops_the_replicates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control-C while replicates are being drawn: it comes through, and what has not begun is not begun."""
    from cutline.kernels import compiled as kernels
    from cutline.runtime import Progress

    begun: list[int] = []
    drawing = kernels.resample

    def counted(first: int, last: int, **rest: Any) -> None:
        begun.append(last - first)
        drawing(first=first, last=last, **rest)

    def interrupted(self: Progress, steps: int = 1) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(resampling, "cores", lambda: 2)
    monkeypatch.setattr(kernels, "resample", counted)
    monkeypatch.setattr(Progress, "advance", interrupted)
    case = random_case(2, 20_000, 10_000)
    ev = cl.evaluate(case.y, case.s, measures=["auch", "log_loss"], interval="percentile", n_resamples=4000)
    with pytest.raises(KeyboardInterrupt):
        ev.to_dict()
    assert 0 < sum(begun) < 4000


# --- undefined replicates --------------------------------------------------------------------------------------


def test_replicates_without_a_class_are_counted() -> None:
    """One positive among n: a plain replicate misses it with probability (1 − 1/n)^n, a stratified one never."""
    y, s = np.arange(20) == 3, np.linspace(1, 0, 20)
    e = cl.evaluate(y, s, measures=["auch"], interval="percentile", stratify=False, n_resamples=2000)["auch"]
    assert e.undefined_replicates == pytest.approx(2000 * (1 - 1 / 20) ** 20, rel=0.1)
    assert 0 <= e.low <= e.high <= 1
    e = cl.evaluate(y, s, measures=["auch"], interval="percentile", stratify=True)["auch"]
    assert e.undefined_replicates == 0


def test_an_interval_needs_two_defined_replicates() -> None:
    made = Replicates(0.5, np.array([np.nan, 0.5, np.nan]))
    assert made.undefined == 2
    assert all(math.isnan(x) for x in made.interval("percentile", 0.95))


# --- the three methods -----------------------------------------------------------------------------------------


def test_percentile_and_basic_by_definition() -> None:
    values = np.random.default_rng(0).gamma(2, size=501)
    made = Replicates(1.7, values)
    low, high = np.quantile(values, [0.05, 0.95])
    assert made.interval("percentile", 0.9) == pytest.approx((low, high))
    assert made.interval("basic", 0.9) == pytest.approx((2 * 1.7 - high, 2 * 1.7 - low))


def bca(value: float, values: np.ndarray, acceleration: float, level: float) -> tuple[float, float]:
    """Efron & Tibshirani (1993), section 14.3."""
    normal = NormalDist()
    bias = normal.inv_cdf(float(((values < value) + 0.5 * (values == value)).mean()))
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        z = bias + normal.inv_cdf(tail)
        ends.append(float(np.quantile(values, normal.cdf(bias + z / (1 - acceleration * z)))))
    return ends[0], ends[1]


def without(case: Case, name: str, i: int) -> float:
    return quietly(getattr(cl, name), np.delete(case.y, i), np.delete(case.s, i))


@pytest.mark.parametrize("name", ["roc_auc", "log_loss", "f1", "average_precision", "ks_statistic", "auch", "gain"])
def test_bca_takes_its_acceleration_from_leaving_each_row_out(name: str) -> None:
    case = random_case(8, 41, 9)
    sample = make_sample(case.y, case.s)
    ranking = rank(sample)
    spec = cl.parse_measure(name)
    values = dict(compute([spec], ranking).values)
    plain = Resampler(sample, ranking, stratified=False, seed=4)
    made = replicate([spec], values, plain, 700, jackknife=True)[spec]
    left = np.array([without(case, name, i) for i in range(41)])
    gaps = left.mean() - left
    acceleration = float((gaps**3).sum() / (6 * (gaps**2).sum() ** 1.5))
    assert made.acceleration() == pytest.approx(acceleration, rel=1e-9)
    assert made.interval("bca", 0.9) == pytest.approx(bca(values[spec], made.values, acceleration, 0.9), rel=1e-9)


def test_stratified_acceleration_is_that_of_a_statistic_of_two_samples() -> None:
    """Influences within each class about the class's own mean, times √((n_class − 1)/n_class), as its error has it."""
    case = random_case(8, 41, 9)
    sample = make_sample(case.y, case.s)
    ranking = rank(sample)
    spec = cl.parse_measure("roc_auc")
    made = replicate(
        [spec], dict(compute([spec], ranking).values), Resampler(sample, ranking, stratified=True), 50, jackknife=True
    )
    influence = []
    for label in (0, 1):
        rows = np.flatnonzero(case.y == label)
        left = np.array([without(case, "roc_auc", i) for i in rows])
        influence.append((left.mean() - left) * math.sqrt((len(rows) - 1) / len(rows)))
    u = np.concatenate(influence)
    assert made[spec].acceleration() == pytest.approx(float((u**3).sum() / (6 * (u**2).sum() ** 1.5)), rel=1e-9)


def test_acceleration_of_many_rows_is_the_exact_one_whatever_the_seed() -> None:
    """A mean of skewed scores has a = skewness/(6√n); the influence of rows gives it, its error and its freedom."""
    rng = np.random.default_rng(0)
    p = rng.beta(0.4, 4, 20_000)
    sample = make_sample(rng.random(20_000) < 0.5, p)
    ranking = rank(sample)
    spec = cl.parse_measure("brier_score")
    losses = (sample.positive - p) ** 2
    gaps = losses - losses.mean()
    exact = float((gaps**3).mean() / (6 * math.sqrt(20_000) * (gaps**2).mean() ** 1.5))
    for seed in (0, 1):
        resampler = Resampler(sample, ranking, stratified=False, seed=seed)
        drawn = replicate([spec], dict(compute([spec], ranking).values), resampler, 2, jackknife=True)[spec]
        assert drawn.acceleration() == pytest.approx(exact, rel=1e-3)
        assert drawn.jackknife()[0] == pytest.approx(gaps.std() / math.sqrt(20_000), rel=1e-3)
        each = UnitInfluences([spec], resampler)[spec]
        np.testing.assert_allclose(20_000 * each, gaps, atol=0.01)


def long_list(kind: str) -> Sample:
    """9,000 rows: scores of their own, few distinct scores, or few positives."""
    rng = np.random.default_rng(12)
    y = rng.random(9000) < (0.01 if kind == "rare" else 0.3)
    s = 1.0 / (1.0 + np.exp(1.5 - rng.normal(size=9000) - 1.3 * y))
    return make_sample(y, np.round(s, 1) if kind == "tied" else s)


@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize("kind", ["plain", "tied", "rare"])
def test_blocks_of_a_long_list_vary_as_its_rows_do(
    kind: str, stratified: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The spread of 2,000 replicates has an error of 1.6 %, of two of them 2.2 %; their mean one of 2.2 % of it."""
    sample = long_list(kind)
    ranking = rank(sample)
    values = compute(choose_specs(None, threshold=0.5, quota=200), ranking).values
    specs = [spec for spec in values if spec.measure.part != "ranking" and values[spec] == values[spec]]
    drawn = []
    for rows in (4096, 10**9):
        monkeypatch.setattr("cutline.inference.resampling.DRAWN_BY_ROW", rows)
        resampler = Resampler(sample, ranking, stratified=stratified, seed=5)
        assert resampler.by_blocks == (rows == 4096)
        drawn.append(replicate(specs, values, resampler, 2000, jackknife=False))
    for spec in specs:
        blocks, plain = (one[spec].values[np.isfinite(one[spec].values)] for one in drawn)
        spread = float(plain.std())
        assert float(blocks.std()) == pytest.approx(spread, rel=0.09, abs=1e-12), spec
        assert float(blocks.mean()) == pytest.approx(float(plain.mean()), abs=0.12 * spread + 1e-12), spec


@pytest.mark.parametrize("kind", ["plain", "tied", "rare"])
def test_influences_take_the_place_of_replicates_where_many_cases_carry_them(kind: str) -> None:
    """The spread of 4,000 replicates has an error of 1.1 %; where few cases carry the variance, they are drawn."""
    sample = long_list(kind)
    auto, drawn = (
        cl.evaluate(sample.positive, sample.score, interval=how, n_resamples=4000) for how in ("auto", "bootstrap")
    )
    names = ["average_precision", "average_hit_rate", "average_qrecall", "relative_information_score", "brier_skill"]
    names += ["information_score", "average_lift", "g_measure", "gain", "pr_auc_min"]
    for name in names:
        one, two = auto[name], drawn[name]
        assert one.method == two.method
        assert one.high - one.low == pytest.approx(two.high - two.low, rel=0.06), name
    same = {name for name in names if auto[name] == drawn[name]}
    assert same == {"plain": set(), "tied": {"pr_auc_min"}, "rare": set(names)}[kind]


def test_nearly_perfect_long_lists_draw_replicates() -> None:
    """Few mistakes carry the variance, and the influences of whole blocks would be too coarse for them."""
    rng = np.random.default_rng(3)
    y = rng.random(20_000) < 0.3
    s = rng.normal(size=20_000) + 6 * y
    for name in ("average_precision", "average_qrecall"):
        one, two = (cl.evaluate(y, s, measures=[name], interval=how)[name] for how in ("auto", "bootstrap"))
        assert one == two


@pytest.mark.parametrize("stratified", [False, True])
def test_replicates_by_blocks_have_as_many_rows_as_the_sample(stratified: bool) -> None:
    sample = long_list("plain")
    ranking = rank(sample)
    request = SumsRequest(frozenset(), ())
    vectors = Resampler(sample, ranking, stratified=stratified, seed=1).vectors(request, 400)
    n_pos, n_neg, cases = vectors[:, :3].T
    np.testing.assert_array_equal(n_pos + n_neg, 9000)
    np.testing.assert_array_equal(cases, 9000)
    assert (n_pos[0], n_neg[0]) == (ranking.n_pos, ranking.n_neg)
    if stratified:
        np.testing.assert_array_equal(n_pos, ranking.n_pos)
    else:
        share = ranking.n_pos / 9000
        assert float(n_pos[1:].std()) == pytest.approx(math.sqrt(9000 * share * (1 - share)), rel=0.15)


def test_the_cost_of_a_replicate_does_not_grow_with_the_rows() -> None:
    rng = np.random.default_rng(3)
    sizes = []
    for n in (10_000, 1_000_000):
        y = rng.random(n) < 0.2
        sizes.append(len(Blocks.of(rank(make_sample(y, rng.normal(size=n) + y)), [0.5], 2.0**-7).pos))
    assert sizes[1] < 3 * sizes[0] < 6000


def test_no_block_reaches_across_a_threshold_or_the_edge_of_a_perfect_list() -> None:
    score = np.linspace(1.0, 0.0, 8001)
    blocks = Blocks.of(rank(make_sample(score > 0.4, score)), [0.7], 2.0**-7)
    assert not np.any((blocks.pos > 0) & (blocks.neg > 0))
    assert int(blocks.pos[blocks.top > 0.7].sum()) == int((score > 0.7).sum())
    drawn = cl.evaluate(score > 0.4, score, measures=["roc_auc", "average_precision"], interval="percentile")
    assert all((e.low, e.high) == (1.0, 1.0) for e in drawn.estimates.values())


def test_bca_with_a_left_out_row_that_makes_the_value_infinite() -> None:
    """LR+ with one false positive: without that row it is infinite, which must not spoil the interval."""
    y = np.repeat([1, 0], 20)
    s = np.concatenate([np.linspace(0.3, 0.9, 20), np.linspace(0.02, 0.49, 19), [0.8]])
    ev = cl.evaluate(y, s, measures=["positive_likelihood_ratio"], interval="bca", n_resamples=400)
    e = ev["positive_likelihood_ratio"]
    assert math.isfinite(e.low)
    assert e.low < e.value < e.high


# --- a function of the user's own ------------------------------------------------------------------------------
