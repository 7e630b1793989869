"""Several models on the same cases: paired differences against definitions, literal resamples and enumerations."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

import cutline as cl
from cutline.catalogue.compute import compute
from cutline.catalogue.declare import parse_measure
from cutline.inference.differences import DifferenceTest, flip_reference, flipped_scale, sign_matrix
from cutline.inference.paired import holm, mcnemar, summary
from cutline.inference.resampling import Resampler, UnitInfluences
from cutline.quotas import resolve_quota
from cutline.ranking import rank
from cutline.sources.arrays import make_sample
from cutline.table import Table
from cutline.verdict import differences_of
from test_bootstrap import from_scratch

Models = dict[str, np.ndarray]


def data(seed: int, n: int, m: int = 3, levels: int = 1000, gap: float = 0.3) -> tuple[np.ndarray, Models]:
    """Labels and m models in (0, 1), the first the best; few levels make ties."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    y[:4] = 0, 1, 0, 1
    shared = rng.normal(size=n)
    scores = {}
    for k in range(m):
        raw = (1.5 - gap * k) * y + 0.7 * shared + 0.7 * rng.normal(size=n) - 0.7
        scores[f"m{k}"] = np.clip(np.round(ndtr(raw) * levels) / levels, 0.5 / levels, 1 - 0.5 / levels)
    return y, scores


# --- DeLong ------------------------------------------------------------------------------------------------------


def delong_by_definition(y: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """AUC_a − AUC_b and its variance from the 2×2 covariance matrices over all pairs of cases (DeLong et al. 1988)."""
    placements = []
    for s in (a, b):
        pos, neg = s[y == 1][:, None], s[y == 0][None, :]
        wins = (pos > neg) + 0.5 * (pos == neg)
        placements.append((wins.mean(axis=1), wins.mean(axis=0)))
    of_pos, of_neg = (np.cov([p[k] for p in placements]) for k in range(2))
    s = of_pos / (y == 1).sum() + of_neg / (y == 0).sum()
    gap = placements[0][0].mean() - placements[1][0].mean()
    return float(gap), float(s[0, 0] + s[1, 1] - 2 * s[0, 1])


@pytest.mark.parametrize("levels", [3, 8, 10_000])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_delong_is_the_definition_over_all_pairs(levels: int, level: float) -> None:
    y, models = data(levels, 70, levels=levels)
    cmp = cl.compare(y, models, measures=["roc_auc"], level=level, n_resamples=2)
    for a, b in itertools.combinations(models, 2):
        gap, variance = delong_by_definition(y, models[a], models[b])
        row = cmp.difference(a, b, "roc_auc")
        assert row["method"] == "delong, sign flips"
        assert row["difference"] == pytest.approx(gap, abs=1e-12)
        assert row["standard_error"] == pytest.approx(math.sqrt(variance), abs=1e-10)
        assert (row["low"] + row["high"]) / 2 == pytest.approx(gap, abs=1e-12)
        half, z = (row["high"] - row["low"]) / 2, ndtri(0.5 + level / 2) * math.sqrt(variance)
        assert half == pytest.approx(z, rel=0.12)  # seventy rows: close to the normal limits of DeLong et al.
        assert row["p_value"] == pytest.approx(2 * ndtr(-abs(gap) / math.sqrt(variance)), abs=0.06)


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(3, 30))
def test_delong_with_ties_and_few_cases(seed: int, levels: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    y = np.array([0, 0, 1, 1, *rng.integers(0, 2, n)])
    a, b = (rng.integers(0, levels, len(y)).astype(float) for _ in range(2))
    gap, variance = delong_by_definition(y, a, b)
    row = cl.compare(y, {"a": a, "b": b}, measures=["roc_auc"], n_resamples=2).differences[0]
    assert row["difference"] == pytest.approx(gap, abs=1e-12)
    assert row["standard_error"] == pytest.approx(math.sqrt(max(variance, 0)), abs=1e-7)


def test_relatives_of_the_auc_share_its_test() -> None:
    """One statistic under six names: one p-value, and intervals on six scales."""
    y, models = data(1, 90)
    cmp = cl.compare(y, models, n_resamples=20)
    auc = cmp.difference("m0", "m2", "roc_auc")
    for name in [m.name for m in cl.measures() if m.line_of_auc]:
        row = cmp.difference("m0", "m2", name)
        assert row["method"] == "delong, sign flips"
        assert row["p_value"] == pytest.approx(auc["p_value"])
        scale = row["difference"] / auc["difference"]
        assert (row["low"], row["high"]) == pytest.approx((scale * auc["low"], scale * auc["high"]))
        own = getattr(cl, name)
        assert row["difference"] == pytest.approx(own(y, models["m0"]) - own(y, models["m2"]))


def test_unpaired_delong_adds_the_variances() -> None:
    (y, a), (z, b) = data(2, 60), data(3, 80)
    cmp = cl.compare({"a": y, "b": z}, {"a": a["m0"], "b": b["m1"]}, paired=False, measures=["roc_auc"], n_resamples=5)
    row = cmp.differences[0]
    variances = []
    for labels, s in ((y, a["m0"]), (z, b["m1"])):
        alone = cl.evaluate(labels, s, measures=["roc_auc"], interval="delong")["roc_auc"]
        variances.append(((alone.high - alone.low) / 2 / ndtri(0.975)) ** 2)
    assert row["standard_error"] == pytest.approx(math.sqrt(sum(variances)))
    assert row["difference"] == pytest.approx(cl.roc_auc(y, a["m0"]) - cl.roc_auc(z, b["m1"]))


# --- the paired bootstrap ----------------------------------------------------------------------------------------


def at_rows(spec: Any, n: int) -> Any:
    """The spec with its quota as a number of cases."""
    return spec if spec.quota is None else replace(spec, quota=resolve_quota(spec.quota, n))


@pytest.mark.parametrize("levels", [5, 10_000], ids=["ties", "no ties"])
@pytest.mark.parametrize("stratify", [None, True, False])
def test_replicates_are_the_same_rows_for_every_model_and_every_measure(levels: int, stratify: bool | None) -> None:
    y, models = data(4, 40, levels=levels)
    b = 6
    more = ["f_beta(beta=2)", "hit_rate@3", "qrecall@50%", "accuracy(threshold=0.3)"]
    names = [str(s) for s in cl.compare(y, models, quota=10, interval=None).specs]
    cmp = cl.compare(
        y, models, quota=10, measures=names + more, n_resamples=b, seed=9, stratify=stratify, interval="bootstrap"
    )
    assert len(cmp.specs) > 50
    rows: dict[bool, list[np.ndarray]] = {}
    for stratified in (True, False):
        for name in models:
            ev = cmp[name]
            resampler = Resampler(ev.sample, ev.ranking, stratified=stratified, seed=9, paired=True)
            times = [counts[resampler.unit_of_row()].astype(float) for counts, _ in resampler.each(b)]
            for first, second in zip(rows.setdefault(stratified, times), times, strict=True):
                assert (first == second).all()  # the same rows, whatever the scores
    checked = 0
    for key, spec in cmp.specs.items():
        if spec.measure.name == "hinge_loss" and key not in cmp.replicates["m0"]:
            continue
        for name, s in models.items():
            for r, times in enumerate(rows[bool(cmp.settings.stratify)]):
                drawn = np.repeat(np.arange(40), times.astype(int))
                expected = from_scratch(at_rows(spec, 40), y[drawn], s[drawn], None, 40)
                found = cmp.replicates[name][key][r]
                assert found == pytest.approx(expected, rel=1e-9, abs=1e-11, nan_ok=True), (key, name, r)
                checked += 1
    assert checked > 50 * 3 * b


def test_by_name_intervals_and_p_values_are_those_of_the_replicates() -> None:
    y, models = data(5, 60)
    cmp = cl.compare(y, models, quota=12, n_resamples=99, level=0.9, interval="percentile")
    for row in cmp.differences:
        if row["difference"] != row["difference"]:
            continue
        assert row["method"] == "paired bootstrap"
        gaps = cmp.replicates[row["a"]][row["measure"]] - cmp.replicates[row["b"]][row["measure"]]
        finite = gaps[np.isfinite(gaps)]
        assert (row["low"], row["high"]) == pytest.approx(tuple(np.quantile(finite, [0.05, 0.95])))
        assert row["standard_error"] == pytest.approx(finite.std(ddof=1))
        known = gaps[~np.isnan(gaps)]
        sides = [(known <= 0).sum(), (known >= 0).sum()]
        assert row["p_value"] == pytest.approx(min(1, 2 * (min(sides) + 1) / (len(known) + 1)))


def test_long_lists_go_by_influences_unless_replicates_are_asked_for() -> None:
    """A method by name gives as many replicates as were asked for, and both estimate one spread."""
    rng = np.random.default_rng(0)
    y = (rng.random(100_000) < 0.2).astype(int)
    models = {name: ndtr(rng.normal(size=len(y)) + k * y - 1) for name, k in (("a", 1.0), ("b", 0.9))}
    measures = ["brier_score", "average_precision", "hit_rate@1000"]
    auto = cl.compare(y, models, measures=measures, n_resamples=60)
    asked = cl.compare(y, models, measures=measures, n_resamples=60, interval="percentile")
    assert all(len(values) == 60 for drawn in asked.replicates.values() for values in drawn.values())
    for measure in measures:
        one, two = (cmp.difference("a", "b", measure) for cmp in (auto, asked))
        assert two["method"] == "paired bootstrap"
        assert one["method"] == ("moving cut, sign flips" if "@" in measure else "jackknife, sign flips")
        assert one["difference"] == two["difference"]
        assert one["standard_error"] == pytest.approx(two["standard_error"], rel=0.35)  # 60 replicates: ± 9 %


def test_pairing_narrows_the_interval() -> None:
    """Models that err on the same cases: the paired interval is narrower than that of models on rows of their own."""
    y, models = data(6, 300, m=2, gap=0.1)
    paired = cl.compare(y, models, quota=60, measures=["hit_rate", "average_precision"], n_resamples=400)
    apart = cl.compare(
        dict.fromkeys(models, y),
        models,
        quota=60,
        measures=["hit_rate", "average_precision"],
        n_resamples=400,
        paired=False,
    )
    for measure in ("hit_rate", "average_precision"):
        one, two = (c.difference("m0", "m1", measure) for c in (paired, apart))
        assert one["high"] - one["low"] < 0.9 * (two["high"] - two["low"])
        assert two["method"] == one["method"]


def test_models_on_rows_of_their_own_do_not_share_their_luck() -> None:
    y, models = data(6, 200, m=1)
    same = {"a": models["m0"], "b": models["m0"]}
    apart = cl.compare({"a": y, "b": y}, same, measures=["f1"], n_resamples=300, paired=False, interval="percentile")
    a, b = (apart.replicates[name]["f1"] for name in "ab")
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.25
    together = cl.compare(y, same, measures=["f1"], n_resamples=300, interval="percentile")
    assert (together.replicates["a"]["f1"] == together.replicates["b"]["f1"]).all()


def test_seed_threads_and_company_do_not_change_a_replicate() -> None:
    """Same seed, same rows: alone, in other company, or in another order of the models."""
    y, models = data(7, 400)
    how: Any = {"n_resamples": 64, "interval": "percentile"}
    first = cl.compare(y, models, measures=["f1", "average_precision"], **how, seed=3)
    turned = cl.compare(y, dict(reversed(models.items())), measures=["average_precision", "f1"], **how, seed=3)
    for name in models:
        for key in ("f1", "average_precision"):
            assert (first.replicates[name][key] == turned.replicates[name][key]).all()
    other = cl.compare(y, models, measures=["f1"], **how, seed=4)
    assert (first.replicates["m0"]["f1"] != other.replicates["m0"]["f1"]).any()


def test_groups_are_drawn_whole_for_every_model() -> None:
    y, models = data(8, 60)
    clusters = np.arange(60) // 5
    how: Any = {"measures": ["accuracy", "roc_auc"], "n_resamples": 50, "clusters": clusters}
    cmp = cl.compare(y, models, **how, interval="percentile")
    assert all(row["method"] == "paired bootstrap" for row in cmp.differences)
    resampler = Resampler(cmp["m0"].sample, cmp["m0"].ranking, stratified=False, clusters=clusters, seed=0, paired=True)
    for r, (counts, _) in enumerate(resampler.each(3)):
        drawn = np.repeat(np.arange(60), counts[resampler.unit_of_row()].astype(int))
        for name, s in models.items():
            assert cmp.replicates[name]["accuracy"][r] == pytest.approx(cl.accuracy(y[drawn], s[drawn]))
    flipped = cl.compare(y, models, **how)
    assert {row["method"] for row in flipped.differences} == {"decisions, sign flips", "jackknife, sign flips"}


# --- sign flips --------------------------------------------------------------------------------------------------


def flips_by_hand(psi: np.ndarray, statistic: float) -> float:
    """Share of flipped signs (the observed ones among them) that come as far, by the formula."""
    signs = sign_matrix(len(psi), 1999, 0)
    drawn = np.abs(signs @ psi) / math.sqrt((psi**2).sum())
    far = abs(statistic) / math.sqrt(1 + statistic**2 / len(psi))
    return float(((drawn >= far * (1 - 1e-9)).sum() + 1) / (len(signs) + 1))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("measure", ["average_precision", "balanced_accuracy", "f1", "ks_statistic"])
def test_differences_are_the_jackknife_over_rows_or_clusters(measure: str, weighted: bool, clustered: bool) -> None:
    """Leave each row (or cluster) out from scratch: the spread gives the error, flips of it the p-value."""
    y, models = data(9, 50, m=2)
    w = np.random.default_rng(0).integers(1, 4, 50) if weighted else None
    clusters = np.arange(50) // 2 if clustered else None
    unit = np.arange(50) if clusters is None else clusters
    row = cl.compare(y, models, measures=[measure], sample_weight=w, clusters=clusters, n_resamples=5).differences[0]
    one = getattr(cl, measure)

    def gap(keep: np.ndarray) -> float:
        how: Any = {} if w is None else {"sample_weight": w[keep]}
        return float(one(y[keep], models["m0"][keep], **how) - one(y[keep], models["m1"][keep], **how))

    left = np.array([gap(unit != k) for k in np.unique(unit)])
    psi, u = left.mean() - left, len(left)
    error = math.sqrt((psi**2).sum() * (u - 1) / u)
    assert row["method"] == "jackknife, sign flips"
    assert row["difference"] == pytest.approx(gap(np.ones(50, bool)))
    assert row["standard_error"] == pytest.approx(error)
    assert row["p_value"] == pytest.approx(flips_by_hand(psi, row["difference"] / error), abs=0.03)  # units reordered


@pytest.mark.parametrize("shape", ["normal", "heavy", "few large", "twenty", "equal"])
def test_the_share_of_flips_is_that_of_very_many_random_ones(shape: str) -> None:
    """60,000 flips have an error of 0.0009 where 5 % of them come as far; no seed enters."""
    rng = np.random.default_rng(2)
    psi = {
        "normal": rng.normal(size=1000),
        "heavy": rng.standard_t(2, 300),
        "few large": np.concatenate([[9.0, -7.0, 5.0], rng.normal(size=200)]),
        "twenty": rng.normal(size=20),
        "equal": np.where(rng.random(400) < 0.5, 1.0, -1.0) + rng.normal(size=400) / 50.0,
    }[shape]
    reference = flip_reference(psi)
    size, flips = psi / math.sqrt((psi**2).sum()), 60_000
    drawn = np.concatenate(
        [np.abs((2.0 * rng.integers(0, 2, (flips // 20, len(psi))) - 1.0) @ size) for _ in range(20)]
    )
    for level in (0.9, 0.95, 0.99):
        critical = reference.critical(level)
        far = float(flipped_scale(critical, len(psi)))
        slack = 0.008 if shape == "equal" else 0.001  # flips of equal influences come in steps of 1/√400
        assert float((drawn >= far).mean()) == pytest.approx(1 - level, abs=slack + 0.003), level
        assert reference.p_value(critical) == pytest.approx(1 - level, abs=1e-6)


@pytest.mark.parametrize("kind", ["rows", "weights", "clusters", "weighted clusters"])
def test_no_p_value_depends_on_the_seed(kind: str) -> None:
    """Of 3,000 rows, some of them weighted, and of 1,500 clusters: influences come from all, and no flip is drawn."""
    rng = np.random.default_rng(4)
    y = rng.random(3000) < 0.2
    a = rng.normal(size=3000) + 1.2 * y
    models = {"a": a, "b": 0.8 * a + 0.6 * (rng.normal(size=3000) + 0.4 * y)}
    how: dict[str, Any] = {"sample_weight": rng.gamma(2.0, size=3000)} if "weight" in kind else {}
    how |= {"clusters": np.arange(3000) // 2} if "clusters" in kind else {}
    measures = ["roc_auc", "average_precision", "hit_rate@300", "max_youden_index"]
    by_seed = [
        [
            row["p_value"]
            for row in cl.compare(y, models, measures=measures, seed=seed, n_resamples=20, **how).differences
        ]
        for seed in (0, 1)
    ]
    assert 0.001 < by_seed[0][0] < 0.9
    assert by_seed[0] == pytest.approx(by_seed[1], rel=1e-6)


def test_the_influences_of_weighted_rows_and_clusters_are_those_of_leaving_each_out() -> None:
    """By the blocks of the ranking, against the values without each of 400 clusters of weighted rows."""
    rng = np.random.default_rng(7)
    y, cluster = rng.random(1200) < 0.3, np.arange(1200) % 400
    sample = make_sample(y, rng.normal(size=1200) + y, sample_weight=rng.gamma(2.0, size=1200), clusters=cluster)
    specs = [parse_measure(name) for name in ("roc_auc", "average_precision", "pem")]
    resampler = Resampler(sample, rank(sample), stratified=False, clusters=sample.cluster)
    influences = UnitInfluences(specs, resampler)
    for spec in specs:
        influence = influences[spec]
        left = [compute([spec], rank(sample.part(cluster != k))).values[spec] for k in range(400)]
        exact = np.mean(left) - np.array(left)
        assert np.corrcoef(influence, exact)[0, 1] > 0.99, spec
        assert np.sqrt((influence**2).sum()) == pytest.approx(np.sqrt((exact**2).sum()), rel=0.03), spec


def test_measures_that_are_one_number_have_one_p_value() -> None:
    """Hits at a quota, and decisions at a threshold, under three names each."""
    y, models = data(9, 80, m=2)
    w = np.random.default_rng(0).integers(1, 4, 80)
    for how in ({}, {"sample_weight": w}, {"clusters": np.arange(80) // 4}):
        cmp = cl.compare(y, models, quota=20, n_resamples=5, **how)
        for names in (("hit_rate", "qrecall", "quota_lift"), ("accuracy", "error_rate", "zero_one_loss")):
            rows = [cmp.difference("m0", "m1", name) for name in names]
            assert len({round(row["p_value"], 9) for row in rows}) == 1, (how, names)
            for row in rows:
                if row["difference"]:
                    scale = abs(row["difference"] / rows[0]["difference"])
                    assert row["standard_error"] == pytest.approx(scale * rows[0]["standard_error"])


@given(st.integers(0, 10**6), st.integers(4, 40), st.sampled_from([0.8, 0.9, 0.95]), st.booleans())
def test_interval_and_p_value_never_contradict(seed: int, n: int, level: float, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    y = np.array([0, 1, *rng.integers(0, 2, n - 2)])
    a, b = (ndtr(k * y + rng.normal(size=n) - 0.5) for k in (2.0, 0.5))
    if ties:
        a, b = np.round(a, 1), np.round(b, 1)
    measures = ["roc_auc", "accuracy", "brier_score", "average_precision", f"hit_rate@{max(1, n // 4)}"]
    for row in cl.compare(y, {"a": a, "b": b}, measures=measures, level=level, n_resamples=5).differences:
        assert row["p_value"] > 0
        if row["method"].endswith("sign flips"):
            inside = row["low"] <= 1e-12 and row["high"] >= -1e-12
            assert inside == (row["p_value"] > 1 - level + 1e-12), row


def test_nothing_that_varies_is_left_to_both_intervals() -> None:
    """A perfect model against a constant one on four cases: eight ways to flip signs, so that p is never below 1/8."""
    cmp = cl.compare([1, 1, 0, 0], {"a": [4, 3, 2, 1], "b": [1, 1, 1, 1]})
    row = cmp.difference("a", "b", "roc_auc")
    assert (row["method"], row["difference"]) == ("mover", 0.5)
    assert row["low"] < 0 < 0.5 < row["high"]
    for row in cmp.differences:
        assert row["verdict"] in ("cannot tell", "not tested")
        assert not row["p_value"] < 1 / 8
    assert not any(said.sure for said in cmp.recommendations.values())


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("kind", ["perfect", "constant", "ties", "drawn"])
def test_few_rows_are_never_beyond_chance(n: int, kind: str) -> None:
    rng = np.random.default_rng(n)
    measures = ["roc_auc", "accuracy", "brier_score", "average_precision", "hit_rate@1", "ks_statistic", "log_loss"]
    for n_pos in range(n + 1):
        y = np.arange(n) < n_pos
        drawn = {"perfect": np.where(y, 0.9, 0.1), "constant": np.full(n, 0.5), "ties": np.round(rng.random(n), 1)}
        cmp = cl.compare(y, {"a": drawn.get(kind, rng.random(n)), "b": rng.random(n)}, measures=measures, n_resamples=9)
        for row in cmp.differences:
            assert not row["p_value"] <= 0
            assert row["verdict"] in ("cannot tell", "not tested")
            assert row["low"] != row["low"] or row["low"] <= row["difference"] <= row["high"]


def test_one_positive_is_not_beyond_chance() -> None:
    """Without the only positive there is no AUC: both own intervals are combined."""
    rng = np.random.default_rng(2)
    y = np.arange(12) == 0
    cmp = cl.compare(y, {"a": np.where(y, 1.0, rng.random(12)), "b": rng.random(12)}, n_resamples=20)
    row = cmp.difference("a", "b", "average_precision")
    assert row["method"] == "mover"
    assert row["low"] < row["difference"] < row["high"]
    assert 0 < row["p_value"] <= 1


def test_the_quota_difference_has_the_power_that_is_possible() -> None:
    """300 cases, 20 % positive, d′ 1.35 and 1.75, 10 % of places: about 30 % of samples show the difference."""
    found = 0
    for seed in range(120):
        rng = np.random.default_rng([seed, 3])
        y = rng.random(300) < 0.2
        shared = rng.normal(size=300)
        noise = [math.sqrt(0.5) * (shared + rng.normal(size=300)) for _ in range(2)]
        models = {"a": 1.75 * y + noise[0], "b": 1.35 * y + noise[1]}
        row = cl.compare(y, models, measures=["hit_rate@10%"], n_resamples=2).differences[0]
        found += row["p_value"] <= 0.05
    assert 0.2 <= found / 120 <= 0.42  # counted with many samples: see docs/coverage.md


# --- McNemar and Holm --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("b", "c"), [(0, 0), (1, 0), (0, 4), (3, 3), (1, 7), (6, 2), (5, 9)])
def test_mcnemar_is_the_enumeration_of_all_swaps(b: int, c: int) -> None:
    """Each of b + c cases that one model alone gets right could as well have been the other's: count 2^(b+c) ways."""
    first = np.array([True] * b + [False] * c + [True, False], dtype=bool)
    second = np.array([False] * b + [True] * c + [True, False], dtype=bool)
    extreme = 0
    for ways in itertools.product([0, 1], repeat=b + c):
        extreme += abs(2 * sum(ways) - (b + c)) >= abs(b - c)
    assert mcnemar(int((first & ~second).sum()), int((second & ~first).sum())) == pytest.approx(extreme / 2 ** (b + c))


def test_decisions_at_the_threshold_are_close_to_mcnemar() -> None:
    y = np.array([1, 0] * 20)
    a = np.where(y == 1, 0.9, 0.1)
    b = a.copy()
    b[:7] = 1 - b[:7]  # wrong on seven
    a[7:9] = 1 - a[7:9]  # wrong on two others
    cmp = cl.compare(y, {"a": a, "b": b}, measures=["accuracy", "error_rate", "zero_one_loss"], n_resamples=9)
    for name in ("accuracy", "error_rate", "zero_one_loss"):
        row = cmp.difference("a", "b", name)
        assert row["method"] == "decisions, sign flips"
        assert mcnemar(1, 8) < row["p_value"] < mcnemar(2, 7)  # between its steps: unequal influences break the ties
        assert row["standard_error"] == pytest.approx(abs(row["difference"]) / 5 * math.sqrt((9 - 25 / 40) * 40 / 39))
    same = cl.compare(y, {"a": a, "b": b}, measures=["accuracy"], threshold=0.95, n_resamples=9)
    assert same.difference("a", "b", "accuracy")["p_value"] == 1  # nobody is taken by either


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.04, 0.01, 0.03, 0.005]) == pytest.approx([0.06, 0.03, 0.06, 0.02])
    assert holm([0.5, 0.9]) == pytest.approx([1, 1])
    assert holm([0.2]) == [0.2]
    assert holm([math.nan, 0.02, 0.03]) == pytest.approx([math.nan, 0.04, 0.04], nan_ok=True)


def test_holm_runs_over_the_pairs_of_one_measure() -> None:
    y, models = data(10, 80, m=4)
    cmp = cl.compare(y, models, quota=10, n_resamples=50)
    for key in cmp.specs:
        rows = [row for row in cmp.differences if row["measure"] == key]
        assert len(rows) == 6
        assert [r["p_adjusted"] for r in rows] == pytest.approx(holm([r["p_value"] for r in rows]), nan_ok=True)
        assert all(r["p_adjusted"] >= r["p_value"] for r in rows if r["p_value"] == r["p_value"])


def test_bootstrap_p_by_hand() -> None:
    def bootstrap_p(differences: np.ndarray) -> float:
        return summary(differences, 0.95)[3]

    assert bootstrap_p(np.array([1.0, 2.0, 3.0])) == pytest.approx(2 * 1 / 4)
    assert bootstrap_p(np.array([-1.0, 2.0, 3.0, 4.0])) == pytest.approx(2 * 2 / 5)
    assert bootstrap_p(np.zeros(7)) == 1
    assert math.isnan(bootstrap_p(np.array([math.nan])))
    assert math.isnan(bootstrap_p(np.full(1999, -0.1)))  # the same in every replicate: nothing can be said
    assert bootstrap_p(np.r_[np.full(400, -0.1), -0.2]) == pytest.approx(2 / 402)  # never 0
    clear = 10 + np.random.default_rng(0).normal(size=999)  # none crosses 0: the normal p goes below the floor of 0.002
    assert 0 < bootstrap_p(clear) < 1e-6
    assert bootstrap_p(clear[:100]) == pytest.approx(2 / 101)  # too few replicates for that


# --- extremes ----------------------------------------------------------------------------------------------------


def test_equal_models_cannot_be_told_apart() -> None:
    """The same scores, and (for measures of the order) the same ranking on another scale."""
    y, models = data(11, 50, m=1)
    s = models["m0"]
    cmp = cl.compare(y, {"a": s, "b": s.copy()}, quota=10, n_resamples=60)
    for row in cmp.differences:
        if row["method"]:
            assert (row["difference"], row["low"], row["high"], row["p_value"]) == (0, 0, 0, 1), row["measure"]
            assert row["reading"] == "cannot tell"
    ranked = ["roc_auc", "average_precision", "hit_rate@9", "average_hit_rate", "ks_statistic"]
    scaled = cl.compare(y, {"a": s, "b": s / 3}, measures=ranked, n_resamples=60)
    for row in scaled.differences:
        assert (row["difference"], row["low"], row["high"], row["p_value"]) == pytest.approx((0, 0, 0, 1), abs=1e-12)
    assert cmp.best("pem") == "a"  # the first of equals


def test_one_model_better_everywhere() -> None:
    rng = np.random.default_rng(0)
    y = (np.arange(200) % 3 == 0).astype(int)
    good, bad = 0.25 + 0.5 * y + 0.2 * rng.random(200), rng.random(200)
    cmp = cl.compare(y, {"bad": bad, "good": good}, quota=40, n_resamples=500)
    assert all(cmp.best(key) == "good" for key in cmp.specs if cmp["good"][key].value == cmp["good"][key].value)
    for key in ("roc_auc", "hit_rate@40", "brier_score", "accuracy", "log_loss", "average_precision"):
        row = cmp.difference("good", "bad", key)
        assert row["reading"].startswith("good: ")
        assert row["p_adjusted"] < 0.01
        assert (row["low"] > 0) == (cmp.specs[cmp.key(key)].measure.better == "higher")
    leaders = cmp.dominance("quota").column("leader")
    assert set(leaders) <= {"good", "no clear leader"}
    assert "good" in leaders
    assert cmp.hull().column("model")[:2] == ["good", "good"]
    assert cmp.recommend("unknown quota").model == "good"


def test_a_pair_can_be_read_either_way() -> None:
    y, models = data(12, 60)
    cmp = cl.compare(y, models, measures=["f1"], n_resamples=50)
    one, two = cmp.difference("m0", "m2", "f1"), cmp.difference("m2", "m0", "f1")
    assert (two["a"], two["b"]) == ("m2", "m0")
    assert two["difference"] == -one["difference"]
    assert (two["low"], two["high"]) == (-one["high"], -one["low"])
    assert two["p_value"] == one["p_value"]
    assert one["difference"] == pytest.approx(cl.f1(y, models["m0"]) - cl.f1(y, models["m2"]))
    with pytest.raises(cl.InputError, match="no pair"):
        cmp.difference("m0", "m9", "f1")


# --- readings ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("better", ["higher", "lower"])
@pytest.mark.parametrize(
    ("low", "high", "margin", "reading"),
    [
        (0.01, 0.05, None, "a: {} f1"),
        (-0.05, -0.01, None, "b: {} f1"),
        (-0.01, 0.05, None, "cannot tell"),
        (-0.01, 0.05, 0.1, "equivalent"),
        (0.01, 0.05, 0.1, "equivalent"),
        (0.01, 0.05, 0.03, "a: {} f1"),
        (0.04, 0.05, 0.03, "a: {} f1 by more than the margin"),
        (-0.05, -0.04, 0.03, "b: {} f1 by more than the margin"),
        (-0.1, 0.05, 0.1, "cannot tell"),
        (math.nan, math.nan, 0.1, ""),
    ],
)
def test_readings(low: float, high: float, margin: float | None, reading: str, better: str) -> None:
    if better == "lower":  # a loss: the sign of the better side turns
        low, high = -high, -low
    tested = DifferenceTest(low, high, 0.01, 0.001 if low == low else math.nan, "made up")
    (found,) = differences_of("f1", better, [("a", "b", (low + high) / 2, tested)], 0.95, margin)  # type: ignore[arg-type]
    assert found.reading == reading.format(better)
    assert found.turned().reading == found.reading
    assert (found.verdict in ("higher", "lower")) == (found.leader is not None)


def test_readings_come_from_the_intervals() -> None:
    y, models = data(13, 150)
    cmp = cl.compare(y, models, quota=30, n_resamples=200, margin=0.05)
    seen = set()
    for row in cmp.differences:
        seen.add(row["reading"])
        if row["reading"] == "equivalent":
            assert -0.05 < row["low"] <= row["high"] < 0.05
        elif row["reading"] == "cannot tell":
            assert row["low"] <= 0 <= row["high"] or row["p_adjusted"] >= 0.05
        elif row["reading"]:
            assert row["low"] > 0 or row["high"] < 0
            assert row["p_adjusted"] < 0.05
    assert len(seen) >= 3


# --- input -------------------------------------------------------------------------------------------------------


def test_refusals() -> None:
    y = [1, 0, 1, 0]
    s = [4, 3, 2, 1]
    with pytest.raises(cl.InputError, match="mapping from model name to scores"):
        cl.compare(y, [s, s])  # type: ignore[arg-type]
    with pytest.raises(cl.InputError, match="does not name the models"):
        cl.compare(y, {})
    with pytest.raises(cl.InputError, match=r"model 'b'.*one value per case"):
        cl.compare(y, {"a": s, "b": [1, 2, 3]})
    with pytest.raises(cl.InputError, match=r"pass paired=False"):
        cl.compare({"a": y, "b": y}, {"a": s, "b": s})
    with pytest.raises(cl.InputError, match=r"no labels for the model 'b'"):
        cl.compare({"a": y}, {"a": s, "b": s}, paired=False)
    with pytest.raises(cl.InputError, match=r"paired=False needs them for each"):
        cl.compare(y, {"a": s, "b": s}, paired=False)
    with pytest.raises(cl.InputError, match=r"model 'b'.*(nan|NaN|not a number)"):
        cl.compare(y, {"a": s, "b": [1, 2, float("nan"), 3]})
    with pytest.raises(cl.InputError, match="margin"):
        cl.compare(y, {"a": s}, margin=-0.1)
    with pytest.raises(cl.InputError, match="was not evaluated"):
        cl.compare(y, {"a": s, "b": s}, measures=["f1"], n_resamples=5).best("pem")


def test_models_on_rows_of_their_own_have_no_common_curve() -> None:
    cmp = cl.compare({"a": [1, 0, 1], "b": [1, 0]}, {"a": [3, 2, 1], "b": [2, 1]}, paired=False, n_resamples=5)
    with pytest.raises(cl.InputError, match="same rows"):
        cmp.dominance("quota")
    assert "its own rows" in repr(cmp)


def test_undefined_everywhere_has_no_best() -> None:
    cmp = cl.compare([1, 1, 1], {"a": [3, 2, 1], "b": [1, 2, 3]}, measures=["roc_auc"], n_resamples=5)
    with pytest.raises(cl.InputError, match="undefined for every model"):
        cmp.best("roc_auc")
    row = cmp.differences[0]
    assert math.isnan(row["difference"])
    assert row["reading"] == ""


def test_without_intervals_differences_have_none() -> None:
    cmp = cl.compare([1, 0, 1, 0], {"a": [4, 3, 2, 1], "b": [4, 1, 3, 2]}, interval=None)
    assert all(math.isnan(row["low"]) and math.isnan(row["p_value"]) for row in cmp.differences)
    assert cmp.difference("b", "a", "pem")["difference"] == pytest.approx(0.5)


# --- tables ------------------------------------------------------------------------------------------------------


def test_evaluations_in_a_comparison_are_those_of_the_models_alone() -> None:
    y, models = data(15, 80)
    cmp = cl.compare(y, models, quota=20, n_resamples=50)
    for name, s in models.items():
        alone = cl.evaluate(y, s, quota=20, n_resamples=50)
        for key in alone:
            assert cmp[name][key].value == pytest.approx(alone[key].value, nan_ok=True)
            assert cmp.table[list(cmp.specs).index(key)][name] == pytest.approx(alone[key].value, nan_ok=True)
        for key in ("roc_auc", "accuracy", "recall"):  # closed forms: no luck in them
            assert cmp[name][key].interval == pytest.approx(alone[key].interval)


def test_tables_and_files() -> None:
    y, models = data(16, 40, m=2)
    cmp = cl.compare(y, models, quota=10, measures=["pem", "hit_rate"], n_resamples=20, margin=0.1)
    assert isinstance(cmp.differences, Table)
    content = json.loads(cmp.to_json())
    assert [m["name"] for m in content["models"]] == ["m0", "m1"]
    assert content["margin"] == 0.1
    assert content["differences"][0]["measure"] == "pem"
    assert len(cmp.to_dicts()) == 4
    assert list(cmp.to_pandas()["model"]) == ["m0", "m0", "m1", "m1"]
    assert "2 models: 40 rows" in repr(cmp)
    assert "<table" in cmp._repr_html_()
    assert cmp.key("hit_rate") == "hit_rate@10"


def test_a_clear_winner_among_many_stays_clear_after_holm() -> None:
    """45 pairs and 1,000 replicates: twice the smallest share times 45 would be 0.09, however clear the difference."""
    rng = np.random.default_rng(3)
    y = np.arange(400) % 4 == 0
    models = {f"m{k}": rng.normal(0.2 * y) for k in range(9)} | {"best": rng.normal(4 * y)}
    cmp = cl.compare(y, models, quota=60, measures=["hit_rate"], n_resamples=1000)
    assert all(cmp.difference("best", f"m{k}", "hit_rate")["p_adjusted"] < 0.001 for k in range(9))
    assert cmp.recommend("known quota").sure


@pytest.mark.parametrize(
    ("p", "level", "verdict"),
    [(0.02, 0.95, "cannot tell"), (0.01, 0.95, "higher"), (0.02, 0.9, "higher"), (0.01, 0.99, "cannot tell")],
)
def test_a_difference_needs_its_interval_and_its_adjusted_p_value(p: float, level: float, verdict: str) -> None:
    """Three pairs: the smallest p-value counts three times; the level asked for decides."""
    one, other = DifferenceTest(0.01, 0.05, 0.01, p, ""), DifferenceTest(-0.01, 0.05, 0.01, 0.5, "")
    pairs = [("a", "b", 0.03, one), ("a", "c", 0.02, other), ("b", "c", 0.02, other)]
    found = differences_of("f1", "higher", pairs, level)
    assert found[0].p_adjusted == pytest.approx(3 * p)
    assert (found[0].verdict, found[0].comparisons) == (verdict, 3)


def test_whole_weights_compare_as_repeated_rows() -> None:
    y, models = data(9, 50)
    w = np.random.default_rng(3).integers(1, 4, 50)
    weighted = cl.compare(y, models, measures=["roc_auc"], quota=20, sample_weight=w, n_resamples=5)
    repeated = {name: np.repeat(s, w) for name, s in models.items()}
    plain = cl.compare(np.repeat(y, w), repeated, measures=["roc_auc"], quota=20, n_resamples=5)
    columns = ("from", "to", "leader")
    for one, other in zip(*(c.dominance("quota") for c in (weighted, plain)), strict=True):
        assert [one.get(c) for c in columns] == [other.get(c) for c in columns]


def test_many_models_are_one_call() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.3
    models = {f"m{k}": rng.normal(y * (1 + k / 20)) for k in range(20)}
    cmp = cl.compare(y, models, quota=30, measures=["pem", "hit_rate"], n_resamples=40)
    assert len(cmp.differences) == 2 * 20 * 19 // 2
    assert int(cmp.best("pem")[1:]) > 8


def rare_against_small(seed: int, n: int, kind: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Two models of one mean loss: sure and wrong in 1 % of cases, and a little wrong in all of them."""
    rng = np.random.default_rng([seed, n])
    y, wrong = rng.random(n) < 0.5, rng.random(n) < 0.01
    loss, error = {
        "brier_score": (np.square, np.sqrt),
        "log_loss": (lambda e: -np.log1p(-e), lambda x: -np.expm1(-x)),
        "mean_absolute_error": (lambda e: e, lambda x: x),
    }[kind]
    mean = 0.99 * loss(0.001) + 0.01 * loss(0.999)
    small = error(mean * rng.uniform(0.9, 1.1, n))
    return y, {"rare": np.where(y ^ wrong, 0.999, 0.001), "small": np.where(y, 1 - small, small)}


@pytest.mark.parametrize("measure", ["brier_score", "log_loss", "mean_absolute_error"])
def test_rare_large_losses_do_not_make_equal_models_differ(measure: str) -> None:
    """Ten large losses carry one mean: flips of the rows' influences alone call 7 to 11 of 100 such pairs different."""
    apart = 0
    for seed in range(120):
        y, scores = rare_against_small(seed, 1000, measure)
        row = cl.compare(y, scores, measures=[measure], n_resamples=2).differences[0]
        apart += row["p_value"] <= 0.05
        assert (row["p_value"] <= 0.05) == (row["low"] > 0 or row["high"] < 0)
    assert apart <= 4


def test_unseen_losses_widen_the_difference_with_the_models_own_intervals() -> None:
    """No large loss in the sample: the interval reaches as far as that of the sure model alone."""
    rng = np.random.default_rng(2)
    y = rng.random(200) < 0.5
    small = 0.1 * rng.uniform(0.9, 1.1, 200)
    scores = {"sure": np.where(y, 0.999, 0.001), "small": np.where(y, 1 - small, small)}
    cmp = cl.compare(y, scores, measures=["brier_score"], n_resamples=2)
    row, own = cmp.differences[0], cmp.evaluations["sure"]["brier_score"]
    assert row["high"] - row["difference"] >= 0.99 * (own.high - own.value)


def test_mover_limits_share_what_the_models_have_in_common() -> None:
    """Equal intervals: √(2(1 − ρ)) of their length, also where they are lopsided; independent: Newcombe's."""
    from cutline.inference.limits import mover_limits

    one = (0.5, cl.results.Interval(0.4, 0.8))
    for alike in (0.0, 0.5, 0.9):
        low, high = mover_limits(one, one, alike=alike)
        assert (-low, high) == pytest.approx([math.sqrt((1 - alike) * (0.1**2 + 0.3**2))] * 2)
    low, high = mover_limits((0.5, cl.results.Interval(0.4, 0.6)), (0.3, cl.results.Interval(0.1, 0.5)), alike=0.6)
    assert (0.2 - low, high - 0.2) == pytest.approx([math.sqrt(0.01 + 0.04 - 2 * 0.6 * 0.02)] * 2)
    low, high = mover_limits((0.5, cl.results.Interval(0.4, 0.6)), (0.3, cl.results.Interval(0.1, 0.5)), alike=-0.6)
    assert 0.2 - low == pytest.approx(math.sqrt(0.01 + 0.04 + 2 * 0.6 * 0.02))


def test_a_lopsided_area_is_judged_by_both_models_own_intervals() -> None:
    """Two positives at the very bottom against many slightly misplaced ones, of one AUC: flips reject 27 of 250."""
    from scipy.stats import norm

    apart = 0
    for seed in range(250):
        rng = np.random.default_rng([seed, 77])
        y = rng.random(200) < 0.5
        rare = np.where((rng.random(200) < 0.02) & y, -1.0, y) * 3 + rng.random(200)
        scores = {"rare": rare, "many": math.sqrt(2) * norm.ppf(0.98) * y + rng.normal(size=200)}
        apart += cl.compare(y, scores, measures=["roc_auc"]).differences[0]["p_value"] <= 0.05
    assert apart <= 18


@pytest.mark.parametrize(
    ("cases", "freedom"), [(0, 1.0), (1, 1.0), (2, 3.0), (11, 30.0), (12, math.inf), (40, math.inf)]
)
def test_students_t_guards_flips_below_twelve_cases(cases: int, freedom: float) -> None:
    from cutline.inference.differences import guard_freedom

    assert guard_freedom(cases) == freedom


def test_the_guard_of_a_small_class_widens_the_interval_and_the_p_value() -> None:
    from scipy.stats import t

    from cutline.inference.differences import guard_freedom, paired_difference

    psi = np.random.default_rng(1).normal(size=400)
    few, many = (paired_difference((60.0, 0.0), psi, guard_freedom(n), "") for n in (3, 30))
    assert few is not None
    assert many is not None
    wide, narrow = few.test(0.95), many.test(0.95)
    assert wide.p_value == pytest.approx(2 * t.sf(60.0 / few.error, 6))
    assert wide.high - wide.low == pytest.approx(2 * t.ppf(0.975, 6) * few.error)
    assert narrow.p_value < wide.p_value
    assert narrow.high - narrow.low < wide.high - wide.low


def test_weights_count_in_the_influence_on_decisions() -> None:
    """A row of weight w is w rows in one cluster: the same error of the difference but for the units' number."""
    rng = np.random.default_rng(6)
    y, a, b = rng.random(60) < 0.5, rng.random(60), rng.random(60)
    w = rng.integers(1, 5, 60)
    many = np.repeat(np.arange(60), w)
    one = cl.compare(y, {"a": a, "b": b}, measures=["accuracy"], sample_weight=w, n_resamples=2).differences[0]
    right = ((a > 0.5) == y).astype(float) - ((b > 0.5) == y)
    psi = w * (right - np.average(right, weights=w)) / w.sum()
    assert one["standard_error"] == pytest.approx(math.sqrt((psi**2).sum() * 60 / 59))
    two = cl.compare(y[many], {"a": a[many], "b": b[many]}, measures=["accuracy"], clusters=many, n_resamples=2)
    assert two.differences[0]["difference"] == pytest.approx(one["difference"])
    assert two.differences[0]["standard_error"] == pytest.approx(one["standard_error"], rel=0.1)


def test_a_margin_that_no_difference_reaches_is_an_error() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 80)
    models = {"a": y + rng.normal(0, 1, 80), "b": y + rng.normal(0, 2, 80)}
    for measures in (None, ["roc_auc"], ["mcc", "recall@10"]):
        with pytest.raises(cl.InputError, match="margin is 2, but no measure is above 1"):
            cl.compare(y, models, margin=2, measures=measures, n_resamples=100)
    assert cl.compare(y, models, margin=2, measures=["lift@10"], n_resamples=100).margin == 2
