"""Evaluations and comparisons of several classes: tables, decisions, differences, pictures."""

from __future__ import annotations

import json
import math
import pickle
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.test_classes import NAMES, forest

import cutline as cl


@pytest.fixture(scope="module")
def trees() -> Any:
    y, p = forest(200, 4, digits=2)
    return cl.evaluate(np.array(NAMES)[y], p, classes=NAMES, name="net")


def test_the_confusion_matrix_counts_real_by_predicted(trees: Any) -> None:
    y, p = forest(200, 4, digits=2)
    said = p.argmax(axis=1)
    for a in range(4):
        for b in range(4):
            assert trees.confusion.counts[a, b] == np.sum((y == a) & (said == b))
    assert trees.confusion.labels == tuple(NAMES)
    row = trees.confusion.rates[1]
    low, high = cl.proportion_interval(int(row["cases"]), int((y == 0).sum()), 0.95, "wilson")
    assert (row["low"], row["high"]) == pytest.approx((low, high))
    assert [r["class"] for r in trees.confusion.to_dicts()] == NAMES
    assert "ash" in repr(trees.confusion)


def test_the_table_of_classes_is_each_class_against_the_rest(trees: Any) -> None:
    y, p = forest(200, 4, digits=2)
    said = p.argmax(axis=1)
    for k, row in enumerate(trees.per_class):
        decided = (said == k).astype(float)
        for name in ("precision", "recall", "f1"):
            assert row[name] == pytest.approx(getattr(cl, name)(y == k, decided)), name
            assert row[f"{name}_low"] <= row[name] <= row[f"{name}_high"]
        binary = cl.evaluate(y == k, decided, measures=["f1", "recall"])
        assert (row["recall_low"], row["recall_high"]) == pytest.approx(binary["recall"].interval)
        assert (row["f1_low"], row["f1_high"]) == pytest.approx(binary["f1"].interval)
        assert row["roc_auc"] == pytest.approx(cl.roc_auc(y == k, p[:, k]))
        assert row["average_precision"] == pytest.approx(cl.average_precision(y == k, p[:, k]))
        theirs = cl.evaluate(y == k, p[:, k], measures=["roc_auc"])["roc_auc"]
        assert (row["roc_auc_low"], row["roc_auc_high"]) == pytest.approx(tuple(theirs.interval))


def test_classes_may_weigh_and_cluster() -> None:
    y, p = forest(80, 3)
    rows = np.repeat(np.arange(80), 3)
    ev = cl.evaluate(y[rows], p[rows], clusters=rows)
    once = cl.evaluate(y, p)
    for one, two in zip(ev.per_class, once.per_class, strict=True):
        for name in ("recall", "roc_auc"):
            assert one[name] == pytest.approx(two[name])
            assert one[f"{name}_high"] - one[f"{name}_low"] == pytest.approx(
                two[f"{name}_high"] - two[f"{name}_low"], rel=0.15
            )
    weighted = cl.evaluate(y, p, sample_weight=np.full(80, 2.5))
    assert weighted.per_class[0]["recall_low"] == pytest.approx(once.per_class[0]["recall_low"])
    assert weighted.confusion.counts.sum() == pytest.approx(200.0)


def test_most_confused_pairs_come_first(trees: Any) -> None:
    pairs = trees.most_confused(3)
    assert len(pairs) == 3
    cases = pairs.column("cases")
    assert cases == sorted(cases, reverse=True)
    assert all(row["class"] != row["predicted"] for row in pairs)
    wrong = trees.confusion.counts.copy()
    np.fill_diagonal(wrong, 0)
    assert cases[0] == wrong.max()
    assert sum(row["share_of_errors"] for row in trees.most_confused(100)) == pytest.approx(1.0)


def test_calibration_of_the_top_class(trees: Any) -> None:
    table = trees.calibration(5)
    assert sum(table.column("cases")) == 200
    confidence = table.column("confidence")
    assert confidence == sorted(confidence)
    assert np.average(table.column("right"), weights=table.column("cases")) == pytest.approx(trees["accuracy"].value)
    gap = np.average(np.array(confidence) - table.column("right"), weights=table.column("cases"))
    assert gap == pytest.approx(trees["overconfidence"].value)


def test_risk_and_coverage(trees: Any) -> None:
    y, p = forest(200, 4, digits=2)
    curve = trees.risk_coverage()
    top, wrong = p.max(axis=1), p.argmax(axis=1) != y
    for k in range(0, len(curve), 7):
        there = top >= curve.confidence[k]
        assert curve.coverage[k] == pytest.approx(there.mean())
        assert curve.risk[k] == pytest.approx(wrong[there].mean())
        assert curve.low[k] <= curve.risk[k] <= curve.high[k]
    assert curve.at(1.0)["risk"] == pytest.approx(1 - trees["accuracy"].value)
    assert curve.area.value == trees["risk_coverage_area"].value
    assert len(curve.thinned(10)) <= 10
    assert "area" in repr(curve)


def test_one_error_among_many_answers_may_be_bad_luck() -> None:
    """With a single error Wilson's interval excludes rates below 0.18 % of 100 cases, which make one in 6 samples."""
    y = np.arange(400) % 2
    p = np.tile([0.9, 0.1], (400, 1))
    p[y == 1] = [0.1, 0.9]
    p[0] = [0.02, 0.98]
    at = cl.evaluate(y, p, interval=None).risk_coverage()
    first = at.at(0.001)
    assert (first["risk"], at.at(1.0)["risk"]) == (1.0, 1 / 400)
    assert at.at(1.0)["low"] == pytest.approx(-np.log(0.95) / 400)
    assert at.at(1.0)["low"] < cl.proportion_interval(1, 400, 0.95, "wilson").low


def test_one_class_opens_the_binary_tools(trees: Any) -> None:
    ev = trees.of("cedar", quota=20)
    y, p = forest(200, 4, digits=2)
    assert ev["hit_rate@20"].value == pytest.approx(cl.hit_rate(y == 2, p[:, 2], quota=20))
    assert ev.at(quota=20).tp == pytest.approx(cl.evaluate(y == 2, p[:, 2]).at(quota=20).tp)
    areas = [trees.of(label, measures=["roc_auc"])["roc_auc"].value for label in trees.classes]
    assert np.mean(areas) == pytest.approx(trees["macro(roc_auc)"].value)
    with pytest.raises(cl.InputError, match="label is 'elm'; choose one of"):
        trees.of("elm")


def test_results_pickle_print_and_convert(trees: Any) -> None:
    again = pickle.loads(pickle.dumps(trees))
    assert again["accuracy"] == trees["accuracy"]
    assert "200 cases of 4 classes" in repr(trees)
    assert "macro(f1)" in trees
    assert "pem" not in trees
    content = json.loads(trees.to_json())
    assert content["classes"] == NAMES
    assert content["measures"][0]["measure"] == "accuracy"
    assert content["data"]["rows"] == 200
    assert len(trees.to_pandas()) == len(trees)
    hostile = cl.evaluate(["<b>", "c"] * 10, predicted=["<b>", "c"] * 9 + ["c", "c"])
    assert "<b>" not in hostile._repr_html_()
    assert "<svg" in trees._repr_html_()


def test_models_are_compared_on_the_same_cases() -> None:
    y, p = forest(200, 4)
    _, q = forest(200, 4, strength=0.7)
    cmp = cl.compare(y, {"good": p, "poor": q})
    assert cmp.best("accuracy") == "good"
    assert cmp.best("log_loss") == "good"
    row = cmp.difference("good", "poor", "accuracy")
    right = [m.argmax(axis=1) == y for m in (p, q)]
    assert row["difference"] == pytest.approx(right[0].mean() - right[1].mean())
    only = [int(np.sum(right[0] & ~right[1])), int(np.sum(~right[0] & right[1]))]
    assert row["p_value"] == pytest.approx(binomtest(only[0], sum(only), 0.5).pvalue)
    assert "McNemar" in row["method"]
    turned = cmp.difference("poor", "good", "accuracy")
    assert (turned["low"], turned["high"]) == (-row["high"], -row["low"])
    gap = right[0].astype(float) - right[1]
    assert row["standard_error"] == pytest.approx(gap.std(ddof=1) / math.sqrt(200), rel=0.05)
    for other in cmp.differences:  # interval and p-value say the same
        if "McNemar" not in other["method"]:
            assert (other["p_value"] < 0.05) == (other["low"] > 0 or other["high"] < 0)
    same = cl.compare(y, {"a": p, "b": p})
    assert all(r["difference"] == 0 and r["p_value"] == 1.0 for r in same.differences)
    assert list(cmp) == ["good", "poor"]
    assert "2 models: 200 rows, 4 classes" in repr(cmp)
    assert json.loads(cmp.to_json())["differences"]
    with pytest.raises(cl.InputError, match="no pair"):
        cmp.difference("good", "bad", "accuracy")


def test_paired_bootstrap_and_closed_form_agree() -> None:
    y, p = forest(400, 3, seed=2)
    _, q = forest(400, 3, seed=9, strength=1.2)
    measures = ["accuracy", "macro(f1)", "log_loss", "hand_till_auc", "cohen_kappa"]
    delta = cl.compare(y, {"a": p, "b": q}, measures=measures)
    drawn = cl.compare(y, {"a": p, "b": q}, measures=measures, interval="bootstrap", n_resamples=800)
    for name in measures:
        one, two = delta.difference("a", "b", name), drawn.difference("a", "b", name)
        assert one["difference"] == two["difference"]
        assert one["standard_error"] == pytest.approx(two["standard_error"], rel=0.25), name


def test_holm_adjusts_over_the_pairs_of_a_measure() -> None:
    y, p = forest(200, 4)
    models = {"a": p, "b": forest(200, 4, strength=1.0)[1], "c": forest(200, 4, strength=0.5)[1]}
    cmp = cl.compare(y, models, measures=["log_loss"])
    p_values = sorted(row["p_value"] for row in cmp.differences)
    adjusted = sorted(row["p_adjusted"] for row in cmp.differences)
    assert adjusted[0] == pytest.approx(min(1.0, 3 * p_values[0]))
    assert all(a >= b for a, b in zip(adjusted, p_values, strict=True))


def test_hard_predictions_compare_too() -> None:
    y, p = forest(100, 3)
    said, other = p.argmax(axis=1), np.roll(p.argmax(axis=1), 1)
    cmp = cl.compare(y, predicted={"a": said.tolist(), "b": other})
    assert cmp.best("macro(f1)") == "a"
    with pytest.raises(cl.InputError, match="at least two"):
        cl.compare(y, {"a": p})
    with pytest.raises(cl.InputError, match=r"scores\['b'\]"):
        cl.compare(y, {"a": p, "b": p[:5]})


@pytest.mark.parametrize("kind", ["confusion", "risk_coverage", "calibration"])
def test_pictures(trees: Any, kind: str) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    ax, curve = trees.plot(kind), trees.risk_coverage()
    data = {"confusion": trees.confusion.rates, "calibration": trees.calibration()}.get(
        kind, cl.results.Table(curve.thinned(160).to_dicts())
    )
    if kind == "confusion":  # a row of the picture is a real class, as a row of the matrix is
        assert [text.get_text() for text in ax.texts] == [f"{count:g}" for count in data.column("cases")]
        np.testing.assert_allclose(ax.images[0].get_array().ravel(), data.column("share"))
    else:
        x, y = {"risk_coverage": ("coverage", "risk"), "calibration": ("confidence", "right")}[kind]
        drawn = np.column_stack([data.column(x), data.column(y)])
        assert any(np.array_equal(line.get_xydata(), drawn) for line in ax.lines)
    plt.close("all")
    assert all(low <= high for low, high in zip(data.column("low"), data.column("high"), strict=True))
    with pytest.raises(cl.InputError, match="choose one of"):
        trees.plot("nonsense")


def test_a_class_of_one_case_is_not_sure_of_anything() -> None:
    y, p = forest(100, 3)
    y = np.where((y == 2) & (np.arange(100) != 2), 0, y)
    assert (y == 2).sum() == 1
    ev = cl.evaluate(y, p)
    row = ev.per_class[2]
    assert row["roc_auc_high"] - row["roc_auc_low"] > 0.3
    assert row["recall_high"] - row["recall_low"] > 0.5
    assert ev["hand_till_auc"].high - ev["hand_till_auc"].low > 0.5
    assert ev["hand_till_auc"].value == ev["hand_till_auc"].value
    assert ev["macro(roc_auc)"].high - ev["macro(roc_auc)"].low > 0.1


@pytest.mark.parametrize("interval", ["auto", "percentile"])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_interval_leaves_0_out_exactly_where_the_p_value_is_small(interval: Any, level: float) -> None:
    """In every measure; McNemar's exact p-value of the accuracy contradicted the interval in 10 of 600 samples."""
    rng = np.random.default_rng(12)
    seen = 0
    for trial in range(60 if interval == "auto" else 12):
        n = int(rng.integers(12, 60))
        y, p = forest(n, 3, seed=trial)
        q = forest(n, 3, seed=trial, strength=float(rng.choice([0.0, 0.5, 1.0])))[1][rng.permutation(n)]
        q = np.where(rng.random((n, 1)) < 0.7, p, q)
        cmp = cl.compare(y, {"a": p, "b": q}, interval=interval, level=level, n_resamples=200, progress=False)
        for row in cmp.differences:
            if row["low"] == row["low"] and abs(row["p_value"] - (1 - level)) > (0 if interval == "auto" else 0.02):
                outside = row["low"] > 0 or row["high"] < 0
                assert outside == (row["p_value"] < 1 - level), row
                seen += outside
    assert seen > 10


def test_clusters_are_not_given_the_p_value_of_independent_cases() -> None:
    """McNemar's p-value of ten copies of each case would be far too small."""
    y, p = forest(40, 3, seed=5)
    q = forest(40, 3, seed=6, strength=0.9)[1]
    alone = cl.compare(y, {"a": p, "b": q}, measures=["accuracy"]).difference("a", "b", "accuracy")
    many = {name: np.repeat(m, 10, axis=0) for name, m in {"a": p, "b": q}.items()}
    copied = cl.compare(
        np.repeat(y, 10), many, measures=["accuracy"], clusters=np.repeat(np.arange(40), 10)
    ).difference("a", "b", "accuracy")
    assert "McNemar" not in copied["method"]
    assert 0.3 * alone["p_value"] < copied["p_value"] < 3 * alone["p_value"]


def test_equal_models_of_small_classes_are_rarely_told_apart() -> None:
    """Three cases of a class that are all right show no spread: balanced accuracy differed in 13 of 100 samples."""
    rng = np.random.default_rng(3)
    y = np.repeat(np.arange(5), [40, 30, 3, 3, 3])
    told = {"balanced_accuracy": 0, "macro(roc_auc)": 0, "macro(f1)": 0}
    for _ in range(100):
        models = {}
        common = rng.normal(size=(len(y), 5))
        for name in "ab":
            z = 0.9 * common + 0.9 * rng.normal(size=(len(y), 5))
            z[np.arange(len(y)), y] += 1.5
            models[name] = z
        cmp = cl.compare(y, models, measures=list(told))
        for row in cmp.differences:
            told[row["measure"]] += row["p_value"] < 0.05
    assert max(told.values()) <= 9, told


def test_the_interval_of_the_mean_average_precision_is_that_of_a_large_sample() -> None:
    """The few best places of a class look too good, and over ten classes that does not average out."""
    share = np.array([0.3, 0.2, 0.15, 0.11, 0.08, 0.05, 0.04, 0.03, 0.02, 0.02])
    rng = np.random.default_rng(4)

    def drawn(n: int) -> tuple[np.ndarray, np.ndarray]:
        y = rng.choice(10, n, p=share)
        z = 1.3 * rng.normal(size=(n, 10))
        z[np.arange(n), y] += 1.0
        return y, z

    def mean_precision(n: int, interval: Any) -> Any:
        y, z = drawn(n)
        return cl.evaluate(y, z, classes=range(10), measures=["mean_average_precision"], interval=interval)[
            "mean_average_precision"
        ]

    truth = mean_precision(60_000, None).value
    found = [mean_precision(600, "auto") for _ in range(60)]
    assert np.mean([e.value for e in found]) > truth + 0.01  # the bias
    assert sum(e.low <= truth <= e.high for e in found) >= 54
    assert all(e.low <= e.value <= e.high for e in found)


# --- segments of several classes ---


@pytest.mark.parametrize("how", [{}, {"weights": True}, {"clusters": True}, {"hard": True}])
def test_a_segment_of_several_classes_is_evaluated_as_its_rows_alone(how: dict[str, bool]) -> None:
    y, p = forest(300, 4, digits=1)
    part = np.random.default_rng(5).choice(["east", "west", "v2", "v10"], 300)
    given: dict[str, Any] = {"predicted": p.argmax(axis=1)} if how.get("hard") else {"y_score": p}
    given |= {"sample_weight": np.arange(300) % 5.0} if how.get("weights") else {}
    given |= {"clusters": np.arange(300) // 3} if how.get("clusters") else {}
    ev = cl.evaluate(y, **given, by=part, classes=range(4))
    assert list(ev.segments) == ["east", "v2", "v10", "west"]
    assert isinstance(ev, cl.results.ClassEvaluation)
    for key, found in ev.segments.items():
        own = {name: column[part == key] for name, column in given.items()}
        alone = cl.evaluate(y[part == key], **own, classes=range(4))
        for name, e in alone.estimates.items():
            f = found.estimates[name]
            assert np.array_equal([e.value, e.low, e.high], [f.value, f.low, f.high], equal_nan=True), (key, name)
        assert found.facts == alone.facts
        assert ev.segments[key].confusion.counts.tolist() == alone.confusion.counts.tolist()


def test_differences_of_segments_of_several_classes() -> None:
    y, p = forest(400, 3, digits=3)
    part = np.where(np.arange(400) % 4 == 0, "a", "b")
    p[part == "a"] = 1 / 3  # no better than chance
    seg = cl.evaluate(y, p, by=part, measures=["accuracy", "log_loss"]).segments
    gap = seg.differences(measures=["accuracy"])[0]
    shares = [float((p[part == key].argmax(axis=1) == y[part == key]).mean()) for key in ("a", "b")]
    assert gap["difference"] == pytest.approx(shares[0] - shares[1])
    assert gap["verdict"] == "lower"
    assert "lower" in seg.differences().sentence
    assert seg["a"].facts["tied_predictions"] == 100
    spanning = cl.evaluate(y, p, by=part, clusters=np.arange(400) // 8, measures=["accuracy"]).segments
    joint = spanning.differences()[0]
    assert (joint["verdict"], joint["method"]) == ("lower", "MOVER, clusters of both")
    with pytest.raises(cl.InputError, match="no one list"):
        seg.at(quota=3)


def test_segments_of_several_classes_from_tables_and_in_comparisons(tmp_path: Any) -> None:
    import pandas as pd

    y, p = forest(200, 4, digits=2)
    part, names = np.arange(200) % 3, np.array(NAMES)
    frame = pd.DataFrame(p, columns=[f"p_{name}" for name in NAMES]).assign(kind=names[y], part=part)
    frame[[f"q_{name}" for name in NAMES]] = p[::-1]
    frame.to_csv(tmp_path / "kinds.csv", index=False)
    arrays = cl.evaluate(names[y], p, classes=NAMES, by=part)
    for source in (frame, str(tmp_path / "kinds.csv")):
        ev = cl.evaluate(source, label="kind", score="p_*", by="part", classes=NAMES)
        assert ev.segments["1"]["accuracy"] == arrays.segments[1]["accuracy"]
        both = cl.compare(source, label="kind", score=["p_*", "q_*"], by="part", measures=["accuracy"])
        alone = cl.compare(names[y][part == 1], {"p": p[part == 1], "q": p[::-1][part == 1]}, measures=["accuracy"])
        found = both.segments["1"].difference("p", "q", "accuracy")
        assert dict(found) == dict(alone.difference("p", "q", "accuracy"))
    document = json.loads(arrays.to_json())
    assert [row["segment"] for row in document["segments"]] == ["0", "1", "2"]
    for result in (arrays, both, arrays.segments, both.segments):
        assert "segments" in [section.name for section in result.sections()]
        assert repr(result)
    arrays.to_html(tmp_path / "page.html")
    assert 'href="#segments"' in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def letters() -> Any:
    """26 classes, and two models of which the second is better for Q alone."""
    rng = np.random.default_rng(0)
    names, y = np.array([chr(65 + k) for k in range(26)]), rng.integers(0, 26, 2000)
    first, second = (np.where(rng.random(2000) < 0.8, y, rng.integers(0, 26, 2000)) for _ in "ab")
    first = np.where((y == 16) & (rng.random(2000) < 0.6), 15, first)
    return cl.compare(names[y], predicted={"first": names[first], "second": names[second]})


def test_models_are_compared_class_by_class(letters: Any) -> None:
    rows = letters.per_class()
    assert [row["class"] for row in rows] == list(letters.first.classes)
    assert {row["class"]: row["reading"] for row in rows if row["verdict"] != "cannot tell"} == {
        "Q": "second: higher recall"
    }
    sample = letters["first"].sample
    for k, row in enumerate(rows):
        those = sample.code == k
        right = [letters[name].sample.right[those] for name in ("first", "second")]
        assert row["difference"] == pytest.approx(right[0].mean() - right[1].mean())
        only = int(np.sum(right[0] & ~right[1])), int(np.sum(right[1] & ~right[0]))
        exact = binomtest(only[0], sum(only)).pvalue
        assert (row["p_value"] < 0.05) == (exact < 0.05) or abs(row["p_value"] - exact) < 0.06
        assert (row["low"] > 0 or row["high"] < 0) == (row["p_value"] < 0.05)
        assert row["p_adjusted"] >= row["p_value"]
    smallest = min(rows, key=lambda row: row["p_value"])
    assert smallest["p_adjusted"] == pytest.approx(26 * smallest["p_value"])
    for measure in ("precision", "f1"):
        by_class = letters["first"].per_class.column(measure), letters["second"].per_class.column(measure)
        gaps = [a - b for a, b in zip(*by_class, strict=True)]
        assert letters.per_class(measure).column("difference") == pytest.approx(gaps)
    with pytest.raises(cl.InputError, match="roc_auc needs it"):
        letters.per_class("roc_auc")


def test_the_comparison_of_classes_is_shown_on_request(letters: Any) -> None:
    assert len(json.loads(letters.to_json())["per_class"]) == 26
    assert "by class" not in repr(letters)
    sections = {section.name: section for section in letters.sections(pairs=True)}
    table, note = sections["classes"].parts
    assert note.startswith("p is adjusted for 26 comparisons")
    assert (table[16]["class"], table[16]["reading"]) == ("Q", "second: higher recall")
    assert "adjusted for 26 comparisons" in table.title


def test_scores_weights_clusters_and_replicates_by_class() -> None:
    y, p = forest(120, 4, digits=2)
    _, other = forest(120, 4, digits=1)
    models = {"net": p, "rounded": other}
    areas = cl.compare(y, models, clusters=np.arange(120) // 2).per_class("roc_auc")
    expected = [cl.roc_auc(y == k, p[:, k]) - cl.roc_auc(y == k, other[:, k]) for k in range(4)]
    assert areas.column("difference") == pytest.approx(expected)
    weight = np.where(y == 0, 2.0, 1.0)
    drawn = cl.compare(y, models, sample_weight=weight, interval="bootstrap", n_resamples=200).per_class()
    assert all("bootstrap" in row["method"] for row in drawn)
    assert all(row["low"] <= row["difference"] <= row["high"] for row in drawn)


def test_the_confusion_plot_names_every_class(letters: Any) -> None:
    ax = letters["first"].plot("confusion")
    assert [label.get_text() for label in ax.get_xticklabels()] == list(letters.first.classes)
    assert [label.get_text() for label in ax.get_yticklabels()] == list(letters.first.classes)


def test_a_column_for_each_of_two_classes_is_told_from_one_score() -> None:
    """What ``predict_proba`` gives for two classes: the remedy is its column of the positive class."""
    p = np.array([0.9, 0.2, 0.7, 0.4, 0.6, 0.1])
    ev = cl.evaluate([1, 0, 1, 0, 0, 0], np.column_stack([1 - p, p]), interval=None)
    assert "Give the score of the positive class alone for ROC AUC, thresholds and places." in str(ev)
    with pytest.raises(cl.InputError, match="of two, score the positive class alone"):
        ev["roc_auc"]
    three = cl.evaluate([0, 1, 2], np.eye(3), interval=None)
    assert "positive class alone" not in str(three)
