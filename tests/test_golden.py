"""The numbers the papers print, each beside the value its definition gives.

`golden/*.json` has every printed number of Berrar's ten-case example and of Arbel & Rokach's Tables 2, 3 and 5
with its place in the paper. Where the paper is wrong, the row marks it, names the erratum and has the right
value; the erratum's text stands in the same file. `printed_results.json` has the other results of three papers;
those that are simulated are tested with the experiments (`test_experiments.py`).
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cutline as cl
import oracle

HERE = Path(__file__).parent / "golden"
BERRAR = json.loads((HERE / "berrar.json").read_text(encoding="utf-8"))
ARBEL = json.loads((HERE / "arbel_rokach.json").read_text(encoding="utf-8"))
RESULTS = json.loads((HERE / "printed_results.json").read_text(encoding="utf-8"))

B_Y = np.array(BERRAR["sample"]["y_true"])
B_S = np.array(BERRAR["sample"]["y_score"])


def ids(row: dict[str, Any]) -> str:
    return f"{row['place']}: {row['quantity']}"


def agrees_with_print(value: float, printed: str, printed_value: float) -> bool:
    """Is `value`, rounded as the paper rounds, the printed number?"""
    digits = len(printed.partition(".")[2]) if "/" not in printed else 12
    return abs(value - printed_value) <= 0.5 * 10.0**-digits + 1e-12


def check_row(row: dict[str, Any], value: float) -> None:
    assert value == pytest.approx(row["value"], rel=1e-12, abs=1e-12)
    assert agrees_with_print(value, row["printed"], row["printed_value"]) is row["printed_is_right"]


# --- Berrar ----------------------------------------------------------------------------------------------------


def berrar_derived(what: str) -> float:
    n, n_pos, n_neg = B_Y.size, int(B_Y.sum()), int((1 - B_Y).sum())
    t5 = 0.55
    if what == "best_youden_threshold":
        between = [1.0, *((B_S[:-1] + B_S[1:]) / 2), 0.0]  # t_1 ... t_11
        values = [cl.youden_index(B_Y, B_S, threshold=t) for t in between]
        best = max(values)
        assert sum(v == pytest.approx(best) for v in values) == 1
        return values.index(best) + 1
    if what == "expected_by_chance":
        return cl.evaluate(B_Y, B_S, interval=None).at(threshold=t5).tp - cl.gain(B_Y, B_S, threshold=t5)
    if what == "alpha_of_10_in_1000":
        y, s = np.repeat([1, 0], [10, 990]), np.linspace(0.9, 0.1, 1000)
        weighed = [cl.balanced_cross_entropy(y, s, alpha=a) for a in (0.0, 1.0)]
        return (cl.balanced_cross_entropy(y, s) - weighed[0]) / (weighed[1] - weighed[0])
    if what == "chance_agreement":
        accuracy, kappa = cl.accuracy(B_Y, B_S, threshold=t5), cl.cohen_kappa(B_Y, B_S, threshold=t5)
        return (accuracy - kappa) / (1 - kappa)
    if what == "negative_rank_sum":  # Eq. 32: descending ranks of the negatives, ascending once the scores are turned
        return cl.linear_ranking(1 - B_Y, -B_S)
    if what == "half_gini":
        return cl.gini(B_Y, B_S) / 2
    if what == "mean_precision":
        return cl.average_lift(B_Y, B_S) * n_pos / n
    if what == "expected_average_precision":
        values = []
        for chosen in itertools.combinations(range(n), n_pos):
            y = np.zeros(n, dtype=int)
            y[list(chosen)] = 1
            values.append(cl.average_precision(y, B_S))
        mean = math.fsum(values) / len(values)
        harmonic = float(sum(Fraction(1, j) for j in range(1, n + 1)))
        assert mean == pytest.approx((harmonic + (n_pos - 1) * (n - harmonic) / (n - 1)) / n, rel=1e-12)
        assert n_neg == n - n_pos
        return mean
    raise AssertionError(what)


def berrar_value(check: dict[str, Any]) -> float:
    if "measure" in check:
        options = {k: v for k, v in check.items() if k not in ("measure", "rank", "scale")}
        y, s = B_Y, B_S
        if "scale" in check:
            s = 4 * (s - 0.5)
        if "rank" in check:
            y, s = y[[check["rank"] - 1]], s[[check["rank"] - 1]]
        return float(getattr(cl, check["measure"])(y, s, **options))
    if "at" in check:
        return float(getattr(cl.evaluate(B_Y, B_S, interval=None).at(threshold=check["threshold"]), check["at"]))
    if "derived" in check:
        return berrar_derived(check["derived"])
    raise AssertionError(check)


B_ROWS = [r for r in BERRAR["rows"] if {"measure", "at", "derived"} & set(r["check"])]


@pytest.mark.parametrize("row", B_ROWS, ids=ids)
def test_berrar(row: dict[str, Any]) -> None:
    check_row(row, berrar_value(row["check"]))


@pytest.mark.parametrize("row", [r for r in BERRAR["rows"] if "interval" in r["check"]], ids=ids)
def test_berrar_intervals_of_sensitivity(row: dict[str, Any]) -> None:
    """Definition 36 uses the Wald interval where it must not be used, as the paper says: hence the warning."""
    method = row["check"]["interval"]
    with pytest.warns(UserWarning, match="Wald") if method == "wald" else contextlib.nullcontext():
        low, high = cl.proportion_interval(3, 5, level=0.95, method=method)
    check_row(row, {"half": (high - low) / 2, "lower": low, "upper": high}[row["check"]["end"]])


def test_berrar_hull() -> None:
    rows = [r for r in BERRAR["rows"] if "hull" in r["check"]]
    points = {"fpr": {}, "tpr": {}}
    for r in rows:
        points[r["check"]["hull"]][r["check"]["vertex"]] = Fraction(r["printed"])
    printed = [(points["fpr"][i], points["tpr"][i]) for i in range(len(rows) // 2)]
    data = oracle.Data.of(B_Y, B_S)
    assert oracle.hull([(fp / data.neg, tp / data.pos) for tp, fp in oracle.cuts(data)]) == printed
    assert cl.auch(B_Y, B_S) == pytest.approx(float(oracle.trapezoid(printed)), rel=1e-12)


def test_every_printed_number_of_berrar_is_checked() -> None:
    known = {"measure", "at", "derived", "interval", "hull", "arithmetic"}
    assert {kind for r in BERRAR["rows"] for kind in known & set(r["check"])} == known
    assert all(len(known & set(r["check"])) == 1 for r in BERRAR["rows"])
    assert len(BERRAR["rows"]) == 128
    assert {r["erratum"] for r in BERRAR["rows"]} - {None} == set(BERRAR["errata"])
    assert {r["erratum"] for r in BERRAR["rows"] if not r["printed_is_right"]} == {"B1", "B2", "B3", "B7"}


def test_berrar_t5_is_the_default_threshold_because_positive_means_greater() -> None:
    assert cl.recall(B_Y, B_S) == cl.recall(B_Y, B_S, threshold=0.55) == 0.6  # the case at 0.5 is not positive


# --- Arbel & Rokach --------------------------------------------------------------------------------------------


def arbel_value(row: dict[str, Any]) -> float:
    y, s = (ARBEL["samples"][row["sample"]][k] for k in ("y_true", "y_score"))
    check, n, n_pos = row["check"], len(y), sum(y)
    if "measure" in check:
        return float(getattr(cl, check["measure"])(y, s, **{k: v for k, v in check.items() if k != "measure"}))
    if "curve" in check:  # a model that knows nothing: everything tied; one that knows all: scored by the label
        scores = [0.5] * n if check["curve"] == "random" else y
        return float(cl.qrecall(y, scores, quota=check["quota"]))
    quotas = range(1, n + 1) if check["quota"] == "all" else [check["quota"]]
    model = [cl.qrecall(y, s, quota=j) for j in quotas]
    columns = [
        (max(q - j / n, 0.0), max(j / n - q, 0.0), min(j / n_pos, 1.0) - j / n)
        for j, q in zip(quotas, model, strict=True)
    ]
    return math.fsum(c[check["area"]] for c in columns)


@pytest.mark.parametrize("row", ARBEL["rows"], ids=ids)
def test_arbel_rokach(row: dict[str, Any]) -> None:
    if "implied" in row["place"]:
        assert arbel_value(row) == pytest.approx(1.75 / 3, rel=1e-12)
    else:
        check_row(row, arbel_value(row))


def test_every_row_of_tables_2_3_and_5_is_checked() -> None:
    places = [r["place"].split(",")[0][:7] for r in ARBEL["rows"]]
    assert {t: places.count(t) for t in set(places)} == {"Table 2": 22, "Table 3": 22, "Table 5": 64}


def test_pem_by_the_corrected_equation_15() -> None:
    """Erratum A1: PEM = (sum of Qrecall - (n+1)/2) / (n-/2)."""
    y, s = (ARBEL["samples"]["Table 2"][k] for k in ("y_true", "y_score"))
    total = math.fsum(cl.qrecall(y, s, quota=j) for j in range(1, 11))
    assert cl.pem(y, s) == pytest.approx((total - 11 / 2) / (6 / 2), rel=1e-12)


# --- results of three papers -----------------------------------------------------------------------------------


def half_unit(printed: str) -> float:
    """Half of the last printed digit; the tables print 1 for what is 1 to all of their four digits."""
    return 0.5 * 10.0 ** -(len(printed.partition(".")[2]) or 4)


def rounded_or_cut(value: float, printed: str) -> bool:
    return -half_unit(printed) - 1e-12 <= value - float(printed) < 2 * half_unit(printed)


def score_list(text: str) -> tuple[list[int], list[int], list[int]]:
    """Labels, scores and numbers of cases of a list written as "3x1/0 2/5": tied positives/negatives, best first."""
    rows = []
    for group in text.split():
        times, _, counts = group.rpartition("x")
        rows += [[int(count) for count in counts.split("/")]] * int(times or 1)
    places = range(len(rows), 0, -1)
    return [1, 0] * len(rows), [place for place in places for _ in (1, 0)], [count for row in rows for count in row]


def labels(text: str) -> list[int]:
    return [int(letter) for letter in text]


def check_pem_of_auc(row: dict[str, Any]) -> None:
    """PEM by the definition is 2 AUC - 1: what the product gives for a list with the printed AUC."""
    auc, pems = row["printed"]["AUC"], row["printed"]["PEM"]
    pems = pems if isinstance(pems, list) else [pems]
    weight = [float(auc), 1.0, 1.0 - float(auc)]  # of the positives above and below one negative
    value = cl.pem([1, 0, 1], [3, 2, 1], sample_weight=weight)
    assert value == pytest.approx(row["value"], rel=1e-12, abs=1e-12)
    tolerance = 2 * half_unit(auc) + math.fsum(map(half_unit, pems)) / len(pems) + 1e-12
    mean = math.fsum(map(float, pems)) / len(pems)
    assert (abs(value - mean) <= tolerance) is row["printed_is_right"]


def check_score_list(row: dict[str, Any]) -> None:
    """Weka's own scores give the printed AUC, and its orders of ties the printed PEM."""
    y, s, w = score_list(RESULTS["lists"][row["quantity"]])
    assert rounded_or_cut(cl.roc_auc(y, s, sample_weight=w), row["printed"]["AUC"])
    if "PEM" in row["printed"]:
        low, high = (cl.pem(y, s, sample_weight=w, ties=ties) for ties in ("worst", "best"))
        assert low - 0.001 <= float(row["printed"]["PEM"]) <= high + 0.001


def check_average_qrecall(row: dict[str, Any]) -> None:
    """The one list that has the printed AUC and average hit rate; the printed value starts one place late (A5)."""
    y = labels(row["labels"])
    s, n_pos = range(len(y), 0, -1), sum(y)
    assert rounded_or_cut(cl.average_hit_rate(y, s), row["printed"]["average hit rate"])
    value, places = cl.average_qrecall(y, s), len(y) - n_pos + 1
    assert value == pytest.approx(row["value"], rel=1e-12)
    late = (places * value - cl.qrecall(y, s, quota=n_pos)) / (places - 1)
    assert late == pytest.approx(row["one_place_late"], rel=1e-12)
    assert rounded_or_cut(late, row["printed"]["average Qrecall"])
    assert not rounded_or_cut(value, row["printed"]["average Qrecall"])


def check_accuracy(row: dict[str, Any]) -> None:
    value = 100 * cl.accuracy(labels(row["labels"]), labels(row["predicted"]))
    check_row({**row, "printed_value": float(row["printed"])}, value)


def check_bayes_error(row: dict[str, Any]) -> None:
    """The chance of a positive is uniform: each share p has p positives and 1 - p negatives."""
    p = (np.arange(1000) + 0.5) / 1000
    value = cl.error_rate([1] * 1000 + [0] * 1000, [*p, *p], sample_weight=[*p, *(1 - p)])
    assert value == pytest.approx(row["value"], rel=1e-12)


def toy(rho: float) -> cl.extrapolation.Favorability:
    """The bivariate normal toy of section 2.3: 1 - U = P(|x - rho Y'| < |x - rho y|) at quantiles of x and y | x."""
    from scipy.special import ndtr, ndtri

    u, weight = np.polynomial.legendre.leggauss(200)
    u, weight = (u + 1) / 2, weight / 2
    x, spread = ndtri(u)[:, None], math.sqrt(1 - rho**2)
    kink = ndtr((x / rho - rho * x) / spread)  # the distance has a kink where rho y = x
    y = rho * x + spread * ndtri(np.concatenate([kink * u, kink + (1 - kink) * u], axis=1))
    share = np.concatenate([kink * weight, (1 - kink) * weight], axis=1) * weight[:, None]
    distance = np.abs(rho * y - x)
    miss = ndtr((x + distance) / rho) - ndtr((x - distance) / rho)
    return cl.extrapolation.Favorability(miss=miss.ravel(), miss_weight=share.ravel())


def check_aga(row: dict[str, Any]) -> None:
    assert toy(row["rho"]).accuracy(range(2, 11)) == pytest.approx(row["values"], abs=1e-6)


def check_aga_2(row: dict[str, Any]) -> None:
    """Section 3.1.2 prints the integral of D(u) for AGA_2; it is one minus that."""
    favorability, u = toy(row["rho"]), np.linspace(0, 1, 20_001)
    integral = np.trapezoid(favorability(u), u)
    assert integral == pytest.approx(row["printed_value"], abs=1e-5)
    assert favorability.accuracy(2) == pytest.approx(1 - integral, abs=1e-5)
    assert favorability.accuracy(2) == pytest.approx(row["value"], abs=1e-6)


def check_nearest(row: dict[str, Any]) -> None:
    """An example on the line x = rho y has U = 1: it is right among any classes."""
    means = row["rho"] * np.random.default_rng(0).normal(size=20)
    scores = -np.abs(means[:, None] - means)
    observed = cl.extrapolate(scores, np.arange(20), interval=False).observed
    assert {observed[k].value for k in range(2, 21)} == {row["value"]}


def check_tail(row: dict[str, Any]) -> None:
    """Below 1 - 5/k lies the power k - 1 of it under Beta(k - 1, 1): the accuracy at k classes of U = 1 - 5/k."""
    edge = cl.extrapolation.Favorability(miss=[5 / 1672], miss_weight=[1.0])
    assert edge.accuracy(1672) == pytest.approx(row["value"], rel=1e-12)


RESULT_CHECKS = {
    "pem_of_auc": check_pem_of_auc,
    "mean_pem_of_auc": check_pem_of_auc,
    "auc_of_list": check_score_list,
    "average_qrecall": check_average_qrecall,
    "accuracy": check_accuracy,
    "bayes_error": check_bayes_error,
    "aga": check_aga,
    "aga_2": check_aga_2,
    "nearest": check_nearest,
    "tail": check_tail,
}
SIMULATED = {"simulation", "ga_as_printed"}


@pytest.mark.parametrize("row", [r for r in RESULTS["rows"] if r["check"] not in SIMULATED], ids=ids)
def test_printed_results(row: dict[str, Any]) -> None:
    RESULT_CHECKS[row["check"]](row)
    if row["quantity"] in RESULTS["lists"]:
        check_score_list(row)


def test_every_printed_result_is_checked_or_has_a_reason() -> None:
    assert len(RESULTS["rows"]) == 171
    assert len(RESULTS["not_computed"]) == 18
    assert all(row["why"] for row in RESULTS["not_computed"])
    assert {row["check"] for row in RESULTS["rows"]} == {*RESULT_CHECKS, *SIMULATED}
    assert {row.get("erratum") for row in RESULTS["rows"]} - {None} == set(RESULTS["errata"])
    assert {row["quantity"] for row in RESULTS["rows"]} >= set(RESULTS["lists"])


TIED = ([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1])


def test_three_averages_of_precision_differ_under_ties() -> None:
    """Erratum A11: Eq. 12, the step sum of Berrar's Eq. 38 and the mean over tie orders are three numbers."""
    y, s = TIED
    assert cl.average_hit_rate(y, s) == pytest.approx(0.8541666666666666, rel=1e-12)
    assert cl.average_precision(y, s) == pytest.approx(5 / 6, rel=1e-12)
    orders = [cl.average_precision([1, 0, 1, 0], [4, 3, 2, 1]), cl.average_precision([1, 1, 0, 0], [4, 3, 2, 1])]
    assert sum(orders) / 2 == pytest.approx(0.9166666666666666, rel=1e-12)


def test_pearson_at_quota_takes_averaged_outcomes() -> None:
    """Erratum A12: the correlation is with t[k], not with the labels."""
    y, s = TIED
    assert cl.quota_pearson(y, s, quota=4) == pytest.approx(1.0, rel=1e-12)
    assert np.corrcoef(s, y)[0, 1] == pytest.approx(math.sqrt(0.5), rel=1e-12)


def test_auc_gives_half_for_a_tie() -> None:
    """Erratum B12."""
    assert cl.roc_auc(*TIED) == 0.875


@pytest.mark.parametrize("n_pos", [1, 2, 5])
def test_perfect_ranking_in_the_precision_recall_plane(n_pos: int) -> None:
    """Erratum B13: with precision 0 at recall 0 a perfect ranking has 1 - 1/(2 n+)."""
    y = [1] * n_pos + [0] * 4
    for name in ("pr_auc_min", "pr_auc_minmax", "pr_auc_max"):
        expected = oracle.ORACLES[name](oracle.Data.of(y, range(n_pos + 4, 0, -1)))
        assert getattr(cl, name)(y, range(n_pos + 4, 0, -1)) == pytest.approx(float(expected), rel=1e-12)
    assert cl.pr_auc_max(y, range(n_pos + 4, 0, -1)) == pytest.approx(1 - 1 / (2 * n_pos), rel=1e-12)


def test_prevalence_matched_errors_are_not_the_fewest_errors() -> None:
    """Erratum on Rosset's section 3.1 (R1): y = 0,1,0,0,1 ascending has e = 2 although one threshold errs once."""
    y, s = [0, 1, 0, 0, 1], [1, 2, 3, 4, 5]
    assert cl.misclassification_ranking(y, s) == 2 - 2 / 2
    assert min(cl.zero_one_loss(y, s, threshold=t) for t in (0.5, 1.5, 2.5, 3.5, 4.5, 5.5)) == 1
