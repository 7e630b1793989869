"""Measures of several classes: against brute force, against scikit-learn, and what must hold for any sample."""

from __future__ import annotations

import math
import pickle
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student
from sklearn.metrics import average_precision_score
from sklearn.metrics import log_loss as sklearn_log_loss

import cutline as cl
from cutline.catalogue.compute import ClassTotals
from cutline.catalogue.declare import parse_measure
from cutline.catalogue.matrix_measures import default_class_specs
from cutline.class_sample import make_class_sample
from cutline.inference.class_intervals import class_replicates, influences, spread_by_class
from cutline.kernels.compiled import draw

NAMES = ["ash", "birch", "cedar", "dogwood"]


def forest(
    n: int = 120, k: int = 4, *, seed: int = 0, strength: float = 1.5, digits: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Class numbers (each class at least once) and rows of probabilities; ``digits`` makes ties."""
    rng = np.random.default_rng(seed)
    code = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    z = rng.normal(size=(n, k))
    z[np.arange(n), code] += strength
    p = np.exp(z)
    p /= p.sum(axis=1, keepdims=True)
    if digits is not None:
        p = np.round(p, digits) + 1e-3
        p /= p.sum(axis=1, keepdims=True)
        p = np.round(p, 6)
        p[:, -1] = 1.0 - p[:, :-1].sum(axis=1)
    return code, p


def values_of(y: Any, p: Any, w: Any = None, **options: Any) -> dict[str, float]:
    sample = make_class_sample(y, p, sample_weight=w, **options)
    specs = default_class_specs(sample, ordered=True)
    return {str(spec): value for spec, value in ClassTotals(sample).values(specs).items()}


def brute(y: np.ndarray, p: np.ndarray) -> dict[str, float]:
    """The definitions as they are written, case by case."""
    n, k = p.shape
    said = [max(range(k), key=lambda j: (row[j], -j)) for row in p]
    table = np.zeros((k, k))
    for a, b in zip(y, said, strict=True):
        table[a, b] += 1
    truth, answers, hits = table.sum(axis=1), table.sum(axis=0), np.diag(table)
    out = {"accuracy": hits.sum() / n, "balanced_accuracy": float(np.mean(hits / truth))}
    f1 = 2 * hits / (truth + answers)
    out |= {"macro(f1)": float(np.mean(f1)), "weighted(f1)": float(truth @ f1 / n)}
    with np.errstate(invalid="ignore"):
        out["macro(precision)"] = float(np.mean(hits / answers))
        out["weighted(precision)"] = float(truth @ (hits / answers) / n)
    for name, weight in (
        ("", lambda a, b: a != b),
        ("linear", lambda a, b: abs(a - b)),
        ("quadratic", lambda a, b: (a - b) ** 2),
    ):
        seen = sum(weight(a, b) * table[a, b] for a in range(k) for b in range(k))
        chance = sum(weight(a, b) * truth[a] * answers[b] / n for a in range(k) for b in range(k))
        out["cohen_kappa" + (f"(weights='{name}')" if name else "")] = 1 - seen / chance
    one, two = np.eye(k)[y], np.eye(k)[said]
    covariance = ((one - one.mean(axis=0)) * (two - two.mean(axis=0))).sum()
    spread = [((m - m.mean(axis=0)) ** 2).sum() for m in (one, two)]
    out["matthews_correlation"] = covariance / math.sqrt(spread[0] * spread[1]) if min(spread) > 0 else math.nan
    place = [
        sum(row[j] > row[a] or (row[j] == row[a] and j < a) for j in range(k)) for a, row in zip(y, p, strict=True)
    ]
    out["top_t_accuracy(t=2)"] = float(np.mean([at < 2 for at in place]))
    out["log_loss"] = float(np.mean([-math.log2(max(row[a], 2.0**-52)) for a, row in zip(y, p, strict=True)]))
    out["brier_score"] = float(((p - one) ** 2).sum() / n)
    out["ranked_probability_score"] = float(((p.cumsum(axis=1) - one.cumsum(axis=1))[:, :-1] ** 2).sum() / n / (k - 1))
    out["overconfidence"] = float(p.max(axis=1).mean() - out["accuracy"])
    share = truth / n
    gains = []
    for a, row in zip(y, p, strict=True):
        q, prior = row[a], share[a]
        gains.append(math.log2(q / prior) if q >= prior else math.log2((1 - prior) / (1 - q)))
    out["information_score"] = float(np.mean(gains))
    out["relative_information_score"] = out["information_score"] / -float(share @ np.log2(share))

    def area(score: np.ndarray, pos: np.ndarray, neg: np.ndarray) -> float:
        gap = score[pos][:, None] - score[neg][None, :]
        return float(((gap > 0) + 0.5 * (gap == 0)).mean())

    rest = [area(p[:, j], y == j, y != j) for j in range(k)]
    out |= {"macro(roc_auc)": float(np.mean(rest)), "weighted(roc_auc)": float(share @ rest)}
    out["hand_till_auc"] = float(np.mean([area(p[:, a], y == a, y == b) for a, b in permutations(range(k), 2)]))
    out["mean_average_precision"] = float(np.mean([cl.average_precision(y == j, p[:, j]) for j in range(k)]))
    wrong, top = np.array(said) != y, p.max(axis=1)
    order = np.argsort(-top, kind="stable")
    expected = np.array([wrong[top == top[i]].mean() for i in order])  # equal confidences share their errors
    out["risk_coverage_area"] = float((np.cumsum(expected) / np.arange(1, n + 1)).mean())
    return out


@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3, 4, 7]), st.sampled_from([None, 1]))
def test_values_are_the_definitions(seed: int, k: int, digits: int | None) -> None:
    y, p = forest(40, k, seed=seed, digits=digits)
    ours, plain = values_of(y, p), brute(y, p)
    for name, value in plain.items():
        if name == "top_t_accuracy(t=2)" and k < 4:
            continue
        close = 1e-10 if name == "risk_coverage_area" else 1e-12  # sums of 1/place are read from a series
        assert ours[name] == pytest.approx(value, rel=close, abs=close, nan_ok=True), name


@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_values_are_scikit_learns_where_the_definitions_are(digits: int | None, weighted: bool) -> None:
    m = pytest.importorskip("sklearn.metrics")
    y, p = forest(300, 5, digits=digits)
    w = np.random.default_rng(5).random(len(y)) + 0.1 if weighted else None
    said, ours = p.argmax(axis=1), values_of(y, p, w)
    binary = np.eye(5)[y]
    theirs = {
        "accuracy": m.accuracy_score(y, said, sample_weight=w),
        "balanced_accuracy": m.balanced_accuracy_score(y, said, sample_weight=w),
        "cohen_kappa": m.cohen_kappa_score(y, said, sample_weight=w),
        "cohen_kappa(weights='linear')": m.cohen_kappa_score(y, said, weights="linear", sample_weight=w),
        "cohen_kappa(weights='quadratic')": m.cohen_kappa_score(y, said, weights="quadratic", sample_weight=w),
        "matthews_correlation": m.matthews_corrcoef(y, said, sample_weight=w),
        "log_loss": m.log_loss(y, p, sample_weight=w) / math.log(2),
        "macro(roc_auc)": m.roc_auc_score(y, p, multi_class="ovr", sample_weight=w),
        "weighted(roc_auc)": m.roc_auc_score(y, p, multi_class="ovr", average="weighted", sample_weight=w),
        "mean_average_precision": m.average_precision_score(binary, p, sample_weight=w),
    }
    for mean in ("macro", "weighted"):
        for name, function in (("precision", m.precision_score), ("f1", m.f1_score)):
            theirs[f"{mean}({name})"] = function(y, said, average=mean, sample_weight=w)
    if not weighted:
        theirs["hand_till_auc"] = m.roc_auc_score(y, p, multi_class="ovo")
    for name, value in theirs.items():
        assert ours[name] == pytest.approx(value, rel=1e-12, abs=1e-12), name
    for name, function in (("precision", m.precision_score), ("recall", m.recall_score), ("f1", m.f1_score)):
        assert ours["accuracy"] == pytest.approx(function(y, said, average="micro", sample_weight=w), rel=1e-12), name
    ev = cl.evaluate(y, p, sample_weight=w, interval=None)
    assert ev.confusion.counts == pytest.approx(m.confusion_matrix(y, said, sample_weight=w), rel=1e-12)


def test_means_over_classes_take_every_measure_of_decisions() -> None:
    y, p = forest(200, 4)
    ev = cl.evaluate(y, p, interval=None, measures=["macro(specificity)", "macro(f_beta(beta=2))", "micro(recall)"])
    said = p.argmax(axis=1)
    each = [cl.specificity(y == k, (said == k).astype(float)) for k in range(4)]
    assert ev["macro(specificity)"].value == pytest.approx(np.mean(each), rel=1e-12)
    each = [cl.f_beta(y == k, (said == k).astype(float), beta=2) for k in range(4)]
    assert ev["macro(f_beta(beta=2))"].value == pytest.approx(np.mean(each), rel=1e-12)
    assert ev["micro(recall)"].value == pytest.approx((said == y).mean(), rel=1e-12)
    for bad in (
        "macro(pem)",
        "micro(roc_auc)",
        "macro(zero_one_loss)",
        "macro",
        "nonsense",
        "macro(recall",
        "top_t_accuracy(k=3)",
    ):
        with pytest.raises(cl.InputError):
            cl.evaluate(y, p, measures=[bad])


@given(st.integers(0, 2**32 - 1), st.sampled_from([None, 1]))
def test_weights_are_repetition_and_zero_weight_is_absence(seed: int, digits: int | None) -> None:
    y, p = forest(30, 3, seed=seed, digits=digits)
    times = np.random.default_rng(seed).integers(0, 4, len(y))
    times[:3] = np.maximum(times[:3], 1)
    rows = np.repeat(np.arange(len(y)), times)
    weighted, repeated = values_of(y, p, times), values_of(y[rows], p[rows])
    for name, value in repeated.items():
        assert weighted[name] == pytest.approx(value, rel=1e-10, abs=1e-12, nan_ok=True), name


@given(st.integers(0, 2**32 - 1))
def test_neither_the_order_of_rows_nor_that_of_classes_matters(seed: int) -> None:
    y, p = forest(40, 4, seed=seed)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(y)), rng.permutation(4)
    place = np.argsort(columns)
    base, moved = values_of(y, p), values_of(place[y[rows]], p[rows][:, columns], classes=range(4))
    for name, value in base.items():
        if "weights" in name or name == "ranked_probability_score":  # these are about the order
            continue
        assert moved[name] == pytest.approx(value, rel=1e-12, abs=1e-12, nan_ok=True), name


@given(st.integers(0, 2**32 - 1))
def test_two_classes_are_the_binary_measures(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y, q = rng.permutation(40) < 15, rng.random(40)
    q[y] = np.sqrt(q[y])
    ours = values_of(y.astype(int), np.column_stack([1 - q, q]))
    assert ours["accuracy"] == pytest.approx(cl.accuracy(y, q), rel=1e-12)
    for name in ("balanced_accuracy", "cohen_kappa", "matthews_correlation", "log_loss", "information_score"):
        assert ours[name] == pytest.approx(getattr(cl, name)(y, q), rel=1e-10), name
    assert ours["brier_score"] == pytest.approx(2 * cl.brier_score(y, q), rel=1e-12)
    for name in ("hand_till_auc", "macro(roc_auc)"):
        assert ours[name] == pytest.approx(cl.roc_auc(y, q), rel=1e-12)
    ev = cl.evaluate(
        y, np.column_stack([1 - q, q]), classes=[False, True], interval=None, measures=["brier_score(half=True)"]
    )
    assert ev["brier_score(half=True)"].value == pytest.approx(cl.brier_score(y, q), rel=1e-12)


def test_every_measure_stays_in_its_range_and_knows_perfection() -> None:
    y, p = forest(80, 4)
    perfect = values_of(y, np.eye(4)[y])
    for seed in range(20):
        y, p = forest(80, 4, seed=seed, strength=[-2.0, 0.0, 3.0][seed % 3])
        sample = make_class_sample(y, p)
        for spec, value in ClassTotals(sample).values(default_class_specs(sample, ordered=True)).items():
            assert value != value or spec.measure.range[0] - 1e-12 <= value <= spec.measure.range[1] + 1e-12, spec
            if spec.measure.perfect is not None:
                assert perfect[str(spec)] == pytest.approx(spec.measure.perfect, abs=1e-4), spec


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("digits", [None, 1])
def test_a_rows_part_is_the_derivative_by_its_weight(weighted: bool, digits: int | None) -> None:
    y, p = forest(60, 4, digits=digits)
    w = np.random.default_rng(1).random(60) + 0.5 if weighted else np.ones(60)
    sample = make_class_sample(y, p, sample_weight=w if weighted else None)
    specs = [*default_class_specs(sample, ordered=True), parse_measure("weighted(average_precision)")]
    parts = influences(ClassTotals(sample), specs).parts
    step = 1e-5
    for row in (0, 7, 31):
        ends = []
        for sign in (step, -step):
            moved = w.copy()
            moved[row] += sign
            ends.append(ClassTotals(make_class_sample(y, p, sample_weight=moved)).values(specs))
        for spec in specs:
            slope = (ends[0][spec] - ends[1][spec]) / (2 * step) * w[row]
            # the risk–coverage area is a sum over places, its derivative is taken of the integral
            close = 1e-2 if str(spec) == "risk_coverage_area" else 1e-6
            assert parts[spec][row] == pytest.approx(slope, abs=close * float(np.abs(parts[spec]).max())), spec
    for spec in specs:
        assert parts[spec].sum() == pytest.approx(0.0, abs=1e-8), spec


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_replicate_is_the_sample_with_the_rows_drawn(weighted: bool, clustered: bool) -> None:
    y, p = forest(60, 3, digits=1)
    w = np.random.default_rng(1).integers(1, 4, 60).astype(float) if weighted else None
    clusters = np.arange(60) // 3 if clustered else None
    sample = make_class_sample(y, p, sample_weight=w, clusters=clusters)
    specs = default_class_specs(sample, ordered=True)
    drawn = class_replicates(ClassTotals(sample), specs, 20, 7)
    for r in (0, 16, 19):
        units = 20 if clustered else 60
        counts = np.zeros(units, np.uint16)
        draw(counts, 0, units, 7, r)
        times = (counts[clusters] if clustered else counts) * (1.0 if w is None else w)
        direct = ClassTotals(make_class_sample(y, p, sample_weight=times)).values(specs)
        for spec in specs:
            assert drawn[spec][r] == pytest.approx(direct[spec], rel=1e-10, abs=1e-12, nan_ok=True), spec


def test_intervals_hold_the_value_and_narrow_with_the_level() -> None:
    y, p = forest(150, 4)
    for interval in ("auto", "delta", "bootstrap", "percentile", "basic", "bca"):
        ev = cl.evaluate(y, p, ordered=True, interval=interval, n_resamples=200)
        for name in ev:
            e = ev[name]
            assert e.low <= e.value <= e.high, (interval, name)
            assert e.method
            assert e.level == 0.95
    wide, narrow = (cl.evaluate(y, p, level=level) for level in (0.99, 0.5))
    for name in wide:
        assert wide[name].high - wide[name].low > narrow[name].high - narrow[name].low, name
    low, high = wide["accuracy"].interval
    assert (low, high) == pytest.approx(
        cl.proportion_interval(round(wide["accuracy"].value * 150), 150, 0.99, "wilson")
    )


def test_the_delta_variance_of_an_auc_is_delongs() -> None:
    y, p = forest(80, 2, strength=1.0)
    ours = cl.evaluate(y, p, measures=["macro(roc_auc)"], interval="delta")["macro(roc_auc)"]
    theirs = cl.evaluate(y == 1, p[:, 1], measures=["roc_auc"], interval="delong")["roc_auc"]
    assert ours.value == pytest.approx(theirs.value)
    # DeLong divides by n⁺ − 1 and n⁻ − 1, the delta method once by n − 1
    assert ours.high - ours.low == pytest.approx(theirs.high - theirs.low, rel=0.03)


def test_clusters_widen_what_they_should() -> None:
    y, p = forest(60, 3)
    many = np.repeat(np.arange(60), 4)
    alone = cl.evaluate(y[many], p[many])
    together = cl.evaluate(y[many], p[many], clusters=many)
    once = cl.evaluate(y, p)
    for name in ("accuracy", "macro(f1)", "log_loss", "hand_till_auc", "cohen_kappa"):
        widths = [ev[name].high - ev[name].low for ev in (alone, together, once)]
        assert widths[0] < 0.6 * widths[1], name
        assert widths[1] == pytest.approx(widths[2], rel=0.12), name
    drawn = cl.evaluate(y[many], p[many], clusters=many, interval="percentile", n_resamples=500)
    assert drawn["accuracy"].high - drawn["accuracy"].low == pytest.approx(
        together["accuracy"].high - together["accuracy"].low, rel=0.2
    )


def test_the_same_seed_gives_the_same_intervals() -> None:
    y, p = forest(80, 3)
    one, two, other = (cl.evaluate(y, p, interval="bootstrap", n_resamples=100, seed=s) for s in (1, 1, 2))
    assert one["macro(f1)"] == two["macro(f1)"]
    assert one["macro(f1)"] != other["macro(f1)"]


def test_hard_predictions_alone() -> None:
    y, p = forest(100, 4)
    names = np.array(NAMES)
    whole = cl.evaluate(names[y], p, classes=NAMES)
    hard = cl.evaluate(names[y], predicted=names[p.argmax(axis=1)])
    assert set(hard) == {
        "accuracy",
        "balanced_accuracy",
        "macro(precision)",
        "macro(f1)",
        "weighted(precision)",
        "weighted(f1)",
        "cohen_kappa",
        "matthews_correlation",
    }
    for name in hard:
        assert hard[name] == whole[name], name
    assert "roc_auc" not in hard.per_class.columns
    for call in (hard.risk_coverage, hard.calibration, lambda: hard.of("ash")):
        with pytest.raises(cl.InputError, match="y_score"):
            call()
    asked = cl.evaluate(names[y], predicted=names[p.argmax(axis=1)], measures=["log_loss"])
    assert math.isnan(asked["log_loss"].value)
    assert "scores" in asked["log_loss"].reason


def test_own_predictions_beside_scores_are_the_decisions() -> None:
    y, p = forest(100, 3)
    said = np.where(p[:, 2] > 0.2, 2, p.argmax(axis=1))
    ev = cl.evaluate(y, p, predicted=said, interval=None)
    assert ev["accuracy"].value == pytest.approx((said == y).mean())
    assert ev["log_loss"].value == pytest.approx(cl.evaluate(y, p, interval=None)["log_loss"].value)
    assert ev["overconfidence"].value == pytest.approx(p[np.arange(100), said].mean() - (said == y).mean())


def test_accuracy_means_accuracy() -> None:
    y, p = forest(200, 4)
    right = (p.argmax(axis=1) == y).mean()
    ev = cl.evaluate(y, p, interval=None)
    for name in ("accuracy", "micro(f1)", "micro(precision)", "weighted(recall)"):
        assert ev[name].value == pytest.approx(right, rel=1e-12)
    assert ev["macro(recall)"].value == ev["balanced_accuracy"].value


def test_undefined_values_say_which_class_is_to_blame() -> None:
    y, p = forest(60, 3)
    p = np.where(np.arange(3) == 2, 1e-6, p)  # the third class is never predicted
    p /= p.sum(axis=1, keepdims=True)
    ev = cl.evaluate(y, p)
    assert math.isnan(ev["macro(precision)"].value)
    assert "class 2 is never predicted" in ev["macro(precision)"].reason
    assert ev["macro(f1)"].value == ev["macro(f1)"].value  # counts as 0 for that class
    missing = cl.evaluate(y[y != 1], p[y != 1], classes=range(3))
    for name in ("balanced_accuracy", "hand_till_auc", "macro(roc_auc)", "mean_average_precision"):
        assert math.isnan(missing[name].value)
        assert "class 1 has no cases" in missing[name].reason, name
    assert missing["accuracy"].value == missing["accuracy"].value
    for row in missing.to_dicts():
        assert row["value"] == row["value"] or row["reason"]


def test_scores_that_are_no_probabilities_keep_what_only_orders_them() -> None:
    y, p = forest(60, 3)
    ev, plain = cl.evaluate(y, np.log(p), interval=None), cl.evaluate(y, p, interval=None)
    for name in ("accuracy", "hand_till_auc", "mean_average_precision"):
        assert ev[name].value == pytest.approx(plain[name].value), name
    assert math.isnan(ev["log_loss"].value)
    assert "not probabilities" in ev["log_loss"].reason
    rounded = cl.evaluate(y, np.round(p, 3), interval=None)
    assert rounded["log_loss"].value == pytest.approx(plain["log_loss"].value, abs=0.01)
    infinite = p.copy()
    infinite[3, 1] = np.inf
    assert cl.evaluate(y, infinite, interval=None)["accuracy"].value > 0


def test_bad_input_is_refused_with_a_place_and_a_remedy() -> None:
    y, p = forest(20, 3)
    bad = p.copy()
    bad[4, 1] = np.nan
    for arguments, words in (
        ({"y_score": bad}, "row 4"),
        ({"y_score": p[:, :2]}, "2 columns"),
        ({"y_score": p[:5]}, "5 rows"),
        ({"y_score": p[:, 0]}, "several classes"),
        ({"y_score": list("abcde" * 4)}, "y_score"),
        ({}, "y_score is missing"),
        ({"y_score": p, "classes": [0, 1, 1]}, "twice"),
        ({"y_score": p, "classes": [0, 1, 5]}, "not among"),
        ({"y_score": p, "sample_weight": -np.ones(20)}, "weight"),
        ({"y_score": p, "clusters": np.zeros(20)}, "single cluster"),
        ({"y_score": p, "clusters": np.arange(5)}, "clusters"),
        ({"y_score": p, "level": 2}, "level"),
        ({"y_score": p, "interval": "guess"}, "interval"),
        ({"y_score": p, "measures": "accuracy"}, "list"),
        ({"predicted": np.full(20, 9)}, None),
    ):
        if words is None:
            assert cl.evaluate(y, **arguments, interval=None)["accuracy"].value == 0.0
            continue
        with pytest.raises(cl.InputError, match=words):
            cl.evaluate(y, **arguments)
    labels = np.array(["a", "b", None], dtype=object)
    with pytest.raises(cl.InputError, match="row 2"):
        cl.evaluate(labels, predicted=["a", "b", "a"])


def test_frames_name_their_columns_and_single_precision_is_kept() -> None:
    pd = pytest.importorskip("pandas")
    y, p = forest(50, 4)
    names = np.array(NAMES)[y]
    frame = pd.DataFrame(p, columns=NAMES)
    one = cl.evaluate(pd.Series(names), frame[NAMES[::-1]], interval=None)
    two = cl.evaluate(names, p, classes=NAMES, interval=None)
    assert one["macro(f1)"].value == pytest.approx(two["macro(f1)"].value)
    single = make_class_sample(y, p.astype(np.float32))
    assert single.matrix is not None
    assert single.matrix.dtype == np.float32
    assert values_of(y, p.astype(np.float32))["log_loss"] == pytest.approx(values_of(y, p)["log_loss"], rel=1e-6)


def test_measures_of_one_direction_and_one_name() -> None:
    names = [m.name for m in cl.measures("classes")]
    assert len(set(names)) == len(names)
    for one in cl.measures("classes"):
        assert one.formula, one
        assert one.latex, one
        assert one.reference, one
        assert one.summary, one


def test_means_over_classes_take_their_intervals_from_what_is_declared() -> None:
    rng = np.random.default_rng(4)
    y, p = rng.integers(0, 3, 90), rng.dirichlet(np.ones(3), 90)
    asked = ["macro(recall)", "macro(false_negative_rate)", "balanced_accuracy", "macro(average_precision)"]
    ev = cl.evaluate(y, p, measures=[*asked, "mean_average_precision"])
    assert {ev[name].method for name in asked} == {"mover"}
    missed, found = ev["macro(false_negative_rate)"], ev["macro(recall)"]
    assert (missed.low, missed.high) == pytest.approx((1.0 - found.high, 1.0 - found.low))
    for one in cl.measures("classes"):
        if one.mean_of is not None:
            assert ev[one.name].interval == pytest.approx(ev[f"macro({one.mean_of})"].interval)


@pytest.mark.parametrize("base", [2.0, math.e])
def test_a_probability_of_0_counts_as_in_scikit_learn_and_is_told(base: float) -> None:
    y, p = forest(300, 4, seed=3)
    p[p < 0.1] = 0.0
    p /= p.sum(axis=1, keepdims=True)
    zeros = int(np.sum(p[np.arange(300), y] == 0.0))
    assert zeros > 2
    name = "log_loss" if base == 2.0 else str(parse_measure(f"log_loss(base={base!r})"))
    ev = cl.evaluate(y, p, measures=[name], interval=None)
    assert ev[name].value == pytest.approx(sklearn_log_loss(y, p) / math.log(base), rel=1e-12)
    assert ev.facts["zero_probabilities"] == zeros
    (notice,) = ev.notices
    assert f"probability 0 in {zeros} cases ({zeros / 300:.1%}): {name} counts it as 2.2e-16" in notice
    assert notice in ev.to_dict()["notices"]
    assert notice in repr(ev)
    assert not cl.evaluate(y, p, measures=["accuracy"]).notices
    kept = p[np.arange(300), y] > 0.0
    assert not cl.evaluate(y[kept], p[kept], measures=[name]).notices
    two = np.where(y == 0, 1, 0)
    both = cl.evaluate(two, np.stack([1 - p[:, 0], p[:, 0]], axis=1), measures=[name], interval=None)
    assert both[name].value == pytest.approx(cl.log_loss(two, p[:, 0], base=base), rel=1e-12)  # one rule


@pytest.mark.parametrize("measure", ["accuracy", "hand_till_auc", "macro(f1)", "log_loss", "risk_coverage_area"])
def test_a_bootstrap_of_one_measure_is_that_of_many(measure: str) -> None:
    y, p = forest(80, 3)
    how: Any = {"interval": "percentile", "n_resamples": 100, "progress": False}
    alone = cl.evaluate(y, p, measures=[measure], **how)[measure]
    assert alone == cl.evaluate(y, p, **how)[measure]
    assert alone.low < alone.value < alone.high


@pytest.mark.parametrize("nothing", [None, math.nan])
def test_missing_predictions_are_named_by_argument_and_row(nothing: Any) -> None:
    y, p = forest(40, 3)
    labels = y.astype(object)
    said = labels.copy()
    said[7] = nothing
    words = "row 7 (has a missing value|is NaN)"
    with pytest.raises(cl.InputError, match=f"predicted: {words}"):
        cl.evaluate(labels, predicted=said)
    with pytest.raises(cl.InputError, match=f"predicted: {words}"):
        cl.evaluate(y, p, predicted=said)
    with pytest.raises(cl.InputError, match=rf"scores\['b'\]: {words}"):
        cl.compare(labels, {"a": p, "b": said})
    with pytest.raises(cl.InputError, match=f"y_true: {words}"):
        cl.evaluate(said, predicted=labels)


@pytest.mark.parametrize("scale", [1e-9, 0.01, 1.0])
def test_weights_that_round_leave_a_perfect_model_perfect(scale: float) -> None:
    """Sums of fractions may come to 1 ± 2⁻⁵²: beyond 1 there is no logit, and below it an interval of no width."""
    rng = np.random.default_rng(5)
    for seed in range(6):
        y, _ = forest(50, 3, seed=seed)
        weight = rng.random(50) * scale
        ev = cl.evaluate(y, np.eye(3)[y], sample_weight=weight, ordered=True)
        for key in ("hand_till_auc", "macro(roc_auc)", "mean_average_precision", "macro(f1)", "cohen_kappa"):
            assert ev[key].value == 1.0
            assert ev[key].low < 0.99, key
        assert all(row["roc_auc"] == 1.0 and row["roc_auc_low"] < 0.99 for row in ev.per_class)


def test_the_value_that_chance_gives_is_the_declared_one() -> None:
    rng = np.random.default_rng(9)
    n, k = 40_000, 5
    y, p = np.arange(n) % k, rng.random((n, k))
    expected = {"1/K": 1 / k, "t/K": 3 / k, "0": 0.0, "½": 0.5, "error_rate": 1 - 1 / k}
    names = {one.name: one for one in cl.measures("classes") if one.chance}
    assert len(names) > 5
    for name, one in names.items():
        spec = "top_t_accuracy(t=3)" if name == "top_t_accuracy" else name
        value = cl.evaluate(y, p, measures=[spec], interval=None)[spec].value
        assert value == pytest.approx(expected[one.chance], abs=0.012), name


def test_degrees_of_freedom_of_hand_till() -> None:
    """Welch's: by SciPy's t and the parts of the rows."""
    y, p = np.repeat([0, 1, 2], [6, 9, 14]), forest(29, 3, seed=4)[1]
    ev = cl.evaluate(y, p, measures=["hand_till_auc"])
    e, (units,) = ev["hand_till_auc"], ev.units.values()
    sizes = np.bincount(y)
    parts = np.array([np.sum(units[y == k] ** 2) * sizes[k] / (sizes[k] - 1) for k in range(3)])
    freedom = parts.sum() ** 2 / np.sum(parts**2 / (sizes - 1))
    half = student.ppf(0.975, freedom) * math.sqrt(parts.sum()) / (e.value * (1 - e.value))
    middle = math.log(e.value / (1 - e.value))
    assert [e.low, e.high] == pytest.approx([1 / (1 + math.exp(half - middle)), 1 / (1 + math.exp(-half - middle))])


def test_a_small_class_leans_on_the_others() -> None:
    """The variance of three cases by hand: unbiased, and with two cases' worth of the classes' own."""
    code = np.repeat([0, 1], [3, 8]).astype(np.int32)
    units = np.concatenate([np.array([0.5, 0.5, -1.0]) / 3, np.array([1.0, -1.0] * 4) / 8])
    within = [float(np.sum(units[code == k] ** 2)) for k in (0, 1)]
    of_case = [9 * within[0] / 2, 64 * within[1] / 7]
    usual = (of_case[0] / 9 + of_case[1] / 64) / (1 / 9 + 1 / 64)
    small = (2 * of_case[0] + 2 * usual) / 4 / 3
    for areas, freedom in ((False, 4.0), (True, 2.0)):
        variance, found = spread_by_class(units, code, every=False, areas=areas)
        assert variance == pytest.approx(small + within[1] * 11 / 10)
        assert found == pytest.approx(variance**2 / (small**2 / freedom))


def test_the_bias_of_average_precision_is_the_jackknifes() -> None:
    """n − 1 times the mean rise when a case is left out, by brute force."""
    rng = np.random.default_rng(6)
    y = rng.permutation(np.repeat([0, 1, 2], [4, 7, 12]))
    z = rng.normal(size=(23, 3)) + np.eye(3)[y]
    found = influences(ClassTotals(make_class_sample(y, z)), [parse_measure("macro(average_precision)")])
    for k in range(3):
        whole = average_precision_score(y == k, z[:, k])
        left = [average_precision_score(np.delete(y, i) == k, np.delete(z[:, k], i)) for i in range(23)]
        assert found.column_variance[k, 2] == pytest.approx(22 * (np.mean(left) - whole), rel=1e-9)


def test_a_mean_over_classes_is_a_measure_like_any_other() -> None:
    """Named by a string, described, pickled; also of a measure of one's own, and of a function."""
    spec = parse_measure("macro(f_beta(beta=0.12345678901234567))")
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert spec.measure.title == "Macro mean of F-beta"
    assert (spec.measure.mean, spec.measure.range, spec.better) == ("macro", (0.0, 1.0), "higher")
    assert parse_measure(cl.accuracy, several=True).measure is cl.measure("accuracy", several=True)
    assert cl.measure("accuracy") is not cl.measure("accuracy", several=True)
    assert pickle.loads(pickle.dumps(cl.measure("log_loss", several=True))).reads == "probabilities"
    assert {m.name for m in cl.measures("classes")} >= {"macro", "weighted", "micro", "hand_till_auc", "log_loss"}
    with pytest.raises(cl.InputError, match=r"choose a mean over the classes: macro\(f1\), weighted"):
        parse_measure("f1", several=True)
    with pytest.raises(cl.InputError, match="name what it averages"):
        parse_measure(cl.measure("macro"), several=True)
