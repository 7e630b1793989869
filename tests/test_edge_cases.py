"""Degenerate and bad input: what has no value, what is infinite, what is refused, and in which words."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import cutline as cl
from samples import quietly

NAN, INF = math.nan, math.inf
REFUSED = "refused"

# The samples of the columns below. Threshold measures are taken at 0.5, which must be said where scores are not
# probabilities.
SAMPLES: dict[str, tuple[list[int], list[float]]] = {
    "no positives": ([0, 0, 0, 0], [0.9, 0.6, 0.3, 0.2]),
    "no negatives": ([1, 1, 1, 1], [0.9, 0.6, 0.3, 0.2]),
    "all tied": ([1, 1, 0, 0], [0.5, 0.5, 0.5, 0.5]),
    "one positive": ([1], [0.7]),
    "one negative": ([0], [0.7]),
    "infinities": ([1, 0, 1, 0], [INF, INF, 0.2, -INF]),
    "outside 0..1": ([1, 0, 1, 0], [1.4, 0.6, 0.3, -0.2]),
    "zero and one": ([1, 0, 1, 0], [1.0, 1.0, 0.0, 0.0]),
}
LOG2 = math.log2
HALF = math.sqrt(0.5)

# fmt: off
TABLE: dict[str, list[Any]] = {
    #                                no pos     no neg     tied one pos  one neg  ±inf     outside  0 and 1
    "accuracy":                     [0.5,       0.5,       0.5, 1,       0,       0.5,     0.5,     0.5],
    "error_rate":                   [0.5,       0.5,       0.5, 0,       1,       0.5,     0.5,     0.5],
    "zero_one_loss":                [2,         2,         2,   0,       1,       2,       2,       2],
    "recall":                       [NAN,       0.5,       0,   1,       NAN,     0.5,     0.5,     0.5],
    "false_negative_rate":          [NAN,       0.5,       1,   0,       NAN,     0.5,     0.5,     0.5],
    "specificity":                  [0.5,       NAN,       1,   NAN,     0,       0.5,     0.5,     0.5],
    "false_positive_rate":          [0.5,       NAN,       0,   NAN,     1,       0.5,     0.5,     0.5],
    "precision":                    [0,         1,         NAN, 1,       0,       0.5,     0.5,     0.5],
    "negative_predictive_value":    [1,         0,         0.5, NAN,     NAN,     0.5,     0.5,     0.5],
    "false_discovery_rate":         [1,         0,         NAN, 0,       1,       0.5,     0.5,     0.5],
    "youden_index":                 [NAN,       NAN,       0,   NAN,     NAN,     0,       0,       0],
    "balanced_accuracy":            [NAN,       NAN,       0.5, NAN,     NAN,     0.5,     0.5,     0.5],
    "positive_likelihood_ratio":    [NAN,       NAN,       NAN, NAN,     NAN,     1,       1,       1],
    "negative_likelihood_ratio":    [NAN,       NAN,       1,   NAN,     NAN,     1,       1,       1],
    "f1":                           [0,         2 / 3,     0,   1,       0,       0.5,     0.5,     0.5],
    "g_measure":                    [NAN,       HALF,      NAN, 1,       NAN,     0.5,     0.5,     0.5],
    "matthews_correlation":         [NAN,       NAN,       NAN, NAN,     NAN,     0,       0,       0],
    "cohen_kappa":                  [0,         0,         0,   NAN,     0,       0,       0,       0],
    "lift":                         [NAN,       1,         NAN, 1,       NAN,     1,       1,       1],
    "gain":                         [0,         0,         0,   0,       0,       0,       0,       0],
    "mean_absolute_error":          [0.5,       0.5,       0.5, 0.3,     0.7,     REFUSED, REFUSED, 0.5],
    "brier_score":                  [0.325,     0.325,     0.25, 0.09,    0.49,    REFUSED, REFUSED, 0.5],
    "root_mean_squared_error":      [0.325**0.5, 0.325**0.5, 0.5, 0.3,     0.7,     REFUSED, REFUSED, HALF],
    "log_loss":                     [-LOG2(.1 * .4 * .7 * .8) / 4, -LOG2(.9 * .6 * .3 * .2) / 4,
                                     1, -LOG2(0.7), -LOG2(0.3), REFUSED, REFUSED, -LOG2(1e-5) / 2],
    "balanced_cross_entropy":       [REFUSED,   REFUSED,   0.5, REFUSED, REFUSED, REFUSED, REFUSED, -LOG2(1e-5) / 4],
    "focal_loss":                   [-(.81 * LOG2(.1) + .36 * LOG2(.4) + .09 * LOG2(.7) + .04 * LOG2(.8)) / 4,
                                     -(.01 * LOG2(.9) + .16 * LOG2(.6) + .49 * LOG2(.3) + .64 * LOG2(.2)) / 4,
                                     0.25, -.09 * LOG2(.7), -.49 * LOG2(.3), REFUSED, REFUSED, -LOG2(1e-5) / 2],
    "information_score":            [REFUSED,   REFUSED,   0,   REFUSED, REFUSED, REFUSED, REFUSED, 0],
    "relative_information_score":   [REFUSED,   REFUSED,   0,   REFUSED, REFUSED, REFUSED, REFUSED, 0],
    "hinge_loss":                   [1.5,       0.5,       1,   0.3,     1.7,     REFUSED, 0.775,   1],
    "roc_auc":                      [NAN,       NAN,       0.5, NAN,     NAN,     0.625,   0.75,    0.5],
    "gini":                         [NAN,       NAN,       0,   NAN,     NAN,     0.25,    0.5,     0],
    "pem":                          [NAN,       NAN,       0,   NAN,     NAN,     0.25,    0.5,     0],
    "auch":                         [NAN,       NAN,       0.5, NAN,     NAN,     0.75,    0.875,   0.5],
    "ks_statistic":                 [NAN,       NAN,       0,   NAN,     NAN,     0.5,     0.5,     0],
    "max_youden_index":             [NAN,       NAN,       0,   NAN,     NAN,     0.5,     0.5,     0],
    "taks":                         [NAN,       NAN,       0,   NAN,     NAN,     1 / 6,   1 / 3,   0],
    "average_precision":            [NAN,       1,         0.5, 1,       NAN,     7 / 12,  5 / 6,   0.5],
    "pr_auc_min":                   [NAN,       0.875,     0.25, 0.5,     NAN,     0.375,   0.375,   0.375],
    "pr_auc_max":                   [NAN,       0.875,     0.25, 0.5,     NAN,     5 / 12,  2 / 3,   0.375],
    "average_gain":                 [0,         0,         0,   0,       0,       0.125,   0.25,    0],
    "average_lift":                 [NAN,       1,         1,   1,       NAN,     13 / 12, 4 / 3,   1],
    "linear_ranking":               [0,         10,        5,   1,       0,       5.5,     6,       5],
    "misclassification_ranking":    [0,         4,         1,   1,       0,       1,       1,       1],
    "average_hit_rate":             [NAN,       1,         0.5, 1,       NAN,     7 / 12,  5 / 6,   0.5],
    "average_qrecall":              [NAN,       1,         0.75, 1,       NAN,     5 / 6,   5 / 6,   0.75],
    "hit_rate@1":                   [0,         1,         0.5, 1,       0,       0.5,     1,       0.5],
    "qrecall@1":                    [NAN,       0.25,      0.25, 1,       NAN,     0.25,    0.5,     0.25],
    "quota_lift@1":                 [NAN,       1,         1,   1,       NAN,     1,       2,       1],
    "quota_pearson@all":            [NAN,       NAN,       NAN, NAN,     NAN,     REFUSED, 0.5599496399301324, NAN],
}
# fmt: on
CELLS = [(m, c, v) for m, row in TABLE.items() for c, v in zip(SAMPLES, row, strict=True)]


def call(text: str, y: Any, s: Any) -> float:
    name, _, quota = text.partition("@")
    options: dict[str, Any] = {} if not quota else {"quota": max(1, len(y)) if quota == "all" else int(quota)}
    if cl.measure(name).needs_threshold and not are_probabilities(s):
        options["threshold"] = 0.5
    return getattr(cl, name)(y, s, **options)


def are_probabilities(s: list[float]) -> bool:
    return all(0 <= one <= 1 for one in s)


@pytest.mark.parametrize("name", [m for m in TABLE if "@" not in m and cl.measure(m).needs_threshold])
@pytest.mark.parametrize("column", ["infinities", "outside 0..1"])
def test_scores_that_are_not_probabilities_have_no_default_threshold(name: str, column: str) -> None:
    y, s = SAMPLES[column]
    with pytest.raises(cl.InputError, match="threshold"):
        getattr(cl, name)(y, s)
    row = cl.evaluate(y, s, measures=[name], interval=None)[name]
    assert math.isnan(row.value)
    assert "threshold" in row.reason


@pytest.mark.parametrize(("name", "column", "expected"), CELLS, ids=[f"{m}-{c}" for m, c, _ in CELLS])
def test_table(name: str, column: str, expected: Any) -> None:
    y, s = SAMPLES[column]
    if expected is REFUSED:
        with pytest.raises(cl.InputError):
            quietly(call, name, y, s)
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        got = call(name, y, s)
    if math.isnan(expected):
        assert math.isnan(got)
        assert [w.category for w in caught] == [cl.UndefinedWarning]
        assert name.partition("@")[0] in str(caught[0].message)
        assert caught[0].filename == __file__
    else:
        assert got == pytest.approx(expected, rel=1e-12, abs=1e-15)
        assert not caught


@pytest.mark.parametrize("name", TABLE)
def test_empty_input_is_refused(name: str) -> None:
    with pytest.raises(cl.InputError, match="empty"):
        call(name, [], [])


@pytest.mark.parametrize(("name", "column", "expected"), CELLS, ids=[f"{m}-{c}" for m, c, _ in CELLS])
def test_evaluation_gives_nan_with_a_reason_and_no_warning(name: str, column: str, expected: Any) -> None:
    y, s = SAMPLES[column]
    text = name.replace("@all", f"@{len(y)}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        row = cl.evaluate(y, s, threshold=0.5, measures=[text], interval=None)[text]
    if expected is REFUSED or math.isnan(expected):
        assert math.isnan(row.value)
        assert row.reason
    else:
        assert row.value == pytest.approx(expected, rel=1e-12, abs=1e-15)
        assert row.reason == ""


def test_a_whole_evaluation_of_one_class_gives_no_warning() -> None:
    for y in ([1, 1, 1], [0, 0, 0]):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ev = cl.evaluate(y, [0.9, 0.5, 0.1], quota=2, interval=None)
        assert math.isnan(ev["roc_auc"].value)
        assert (
            "class" in ev["roc_auc"].reason or "positive" in ev["roc_auc"].reason or "negative" in ev["roc_auc"].reason
        )
        assert ev["accuracy"].value == pytest.approx(1 / 3 if y[0] else 2 / 3)


def test_a_quotient_by_zero_is_infinite_without_a_warning() -> None:
    """The suite turns warnings into errors, so the calls themselves show that there is none."""
    assert cl.positive_likelihood_ratio([1, 0], [0.9, 0.1]) == INF
    assert cl.negative_likelihood_ratio([1, 0], [0.4, 0.9]) == INF
    assert cl.positive_likelihood_ratio([1, 1, 0], [0.9, 0.1, 0.2]) == INF
    ev = cl.evaluate([1, 0], [0.9, 0.1], measures=["positive_likelihood_ratio"], interval=None)
    assert ev["positive_likelihood_ratio"].value == INF
    assert ev["positive_likelihood_ratio"].reason == ""


def test_the_warning_can_be_made_an_error() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", cl.UndefinedWarning)
        with pytest.raises(cl.UndefinedWarning, match="roc_auc"):
            cl.roc_auc([1, 1], [0.5, 0.4])


def test_undefined_and_input_errors_have_families() -> None:
    assert issubclass(cl.InputError, ValueError)
    assert issubclass(cl.UndefinedWarning, UserWarning)


def test_pearson_tests_constancy_exactly() -> None:
    """0.1 + 0.2 and 0.3 differ, three times 0.1 do not, whatever rounding makes of their mean."""
    with pytest.warns(cl.UndefinedWarning):
        assert math.isnan(cl.quota_pearson([1, 0, 1], [0.1, 0.1, 0.1], quota=3))
    assert cl.quota_pearson([1, 0], [0.1 + 0.2, 0.3], quota=2) == pytest.approx(1.0)
    for j in (1, 2):  # one place; two places of one class
        with pytest.warns(cl.UndefinedWarning):
            assert math.isnan(cl.quota_pearson([1, 1, 0], [0.9, 0.8, 0.1], quota=j))
    many = [0.1] * 1000
    with pytest.warns(cl.UndefinedWarning):
        assert math.isnan(cl.quota_pearson([1, 0] * 500, many, quota=777))


def test_f_measure_without_true_positives_is_zero() -> None:
    assert cl.f1([1, 0], [0.1, 0.9]) == 0.0
    with pytest.warns(cl.UndefinedWarning):
        assert math.isnan(cl.f1([0, 0], [0.1, 0.2]))


def test_kappa_is_undefined_only_where_both_raters_say_one_and_the_same() -> None:
    with pytest.warns(cl.UndefinedWarning):
        assert math.isnan(cl.cohen_kappa([0, 0], [0.1, 0.2]))
    assert cl.cohen_kappa([0, 0], [0.9, 0.8]) == 0.0


def test_log_loss_at_certainty() -> None:
    assert cl.log_loss([1, 0], [1.0, 0.0]) == 0.0
    assert math.copysign(1.0, cl.log_loss([1, 0], [1.0, 0.0])) == 1.0  # not minus zero
    assert cl.log_loss([1], [0.0]) == pytest.approx(-LOG2(1e-5), rel=1e-12)
    assert cl.log_loss([0], [1.0]) == pytest.approx(-LOG2(1e-5), rel=1e-12)
    assert cl.focal_loss([1], [0.0]) == pytest.approx(-LOG2(1e-5), rel=1e-12)


def test_information_score_at_certainty_is_finite() -> None:
    assert cl.information_score([1, 0], [1.0, 0.0], prior=0.25) == pytest.approx((2 - LOG2(0.75)) / 2, rel=1e-12)
    # wholly wrong: log2(1 - prior of the real class), for each class
    assert cl.information_score([1, 0], [0.0, 1.0], prior=0.25) == pytest.approx((LOG2(0.75) - 2) / 2, rel=1e-12)


# --- one class, with the option the definition needs -----------------------------------------------------------


@pytest.mark.parametrize("y", [[1, 1, 1, 1], [0, 0, 0, 0]])
def test_one_class_with_what_the_data_cannot_say(y: list[int]) -> None:
    s = [0.9, 0.6, 0.3, 0.2]
    expected = 0.01312 if y[0] == 0 else -0.01312
    assert cl.information_score(y, s, prior=0.5) == pytest.approx(expected, abs=5e-6)
    assert cl.balanced_cross_entropy(y, s, alpha=0.5) == pytest.approx(cl.log_loss(y, s) / 2, rel=1e-12)


def test_a_given_prior_leaves_lift_defined_without_positives() -> None:
    assert cl.lift([0, 0], [0.9, 0.1], prior=0.5) == 0.0
    assert cl.average_lift([0, 0], [0.9, 0.1], prior=0.5) == 0.0
    assert cl.gain([0, 0], [0.9, 0.1], prior=0.5) == -0.5


# --- bad input: which argument, which row, what to do ----------------------------------------------------------

GOOD = {"y_true": [1, 0, 1, 0, 1], "y_score": [0.9, 0.8, 0.4, 0.3, 0.1], "sample_weight": [1.0, 1.0, 1.0, 1.0, 1.0]}


def bad(message: str, measure: str = "roc_auc", **columns: Any) -> None:
    with pytest.raises(cl.InputError, match=message) as caught:
        getattr(cl, measure)(**{**GOOD, **columns})
    text = str(caught.value)
    assert "Traceback" not in text
    assert len(text) < 300


def test_lengths_differ() -> None:
    bad(r"y_score has 3 rows but y_true has 5", y_score=[0.1, 0.2, 0.3])
    bad(r"y_score has 5 rows but y_true has 2", y_true=[1, 0])
    bad(r"sample_weight.*4", sample_weight=[1, 1, 1, 1])


@pytest.mark.parametrize("argument", ["y_true", "y_score", "sample_weight"])
def test_empty_and_flat(argument: str) -> None:
    bad(argument, **{argument: []})
    bad(argument, **{argument: [[1], [0], [1], [0], [1]]})
    bad(argument, **{argument: np.ones((5, 1))})
    bad(argument, **{argument: np.float64(1.0)})


@pytest.mark.parametrize("row", [0, 3, 4])
def test_first_offending_row_is_named(row: int) -> None:
    for argument in GOOD:
        values: list[Any] = [float(v) for v in GOOD[argument]]
        for k in {row, 4}:
            values[k] = NAN
        bad(rf"{argument}.*row {row}\b", **{argument: values})
    negative = [1.0] * 5
    negative[row] = -0.5
    bad(rf"sample_weight.*row {row}\b.*negative", sample_weight=negative)
    infinite = [1.0] * 5
    infinite[row] = INF
    bad(rf"sample_weight.*row {row}\b.*finite", sample_weight=infinite)


def test_remedies_are_named() -> None:
    bad("pos_label", y_true=["a", "b", "a", "b", "a"])
    bad("pos_label", y_true=[0, 1, 2, 1, 0])
    bad("pos_label", y_true=[1, 2, 1, 2, 1])
    bad("drop|fill|give", y_score=[0.1, NAN, 0.3, 0.4, 0.5])
    bad("zero", sample_weight=[0.0] * 5)


@pytest.mark.parametrize(
    "labels", [[0, 1, 2, 1, 0], ["a", "b", "c", "a", "b"], [0.0, 0.5, 1.0, 0.0, 1.0], [-1, 0, 1, 0, 1]]
)
def test_more_than_two_labels_are_named(labels: list[Any]) -> None:
    bad("more than two labels", y_true=labels)


def test_labels_that_do_not_say_which_is_positive() -> None:
    bad("1 and 2", y_true=[1, 2, 1, 2, 1])
    bad("'n' and 'y'", y_true=["y", "n", "y", "n", "y"])


def test_a_pos_label_that_does_not_occur() -> None:
    bad("pos_label", y_true=["a", "b", "a", "b", "a"], pos_label="c")
    bad("pos_label", pos_label=2)


@pytest.mark.parametrize(
    "measure", ["brier_score", "log_loss", "mean_absolute_error", "focal_loss", "information_score"]
)
@pytest.mark.parametrize("value", [1.0000001, -0.001, 14.0, INF, -INF])
def test_probabilities_outside_their_range(measure: str, value: float) -> None:
    s = [0.9, 0.8, value, 0.3, 0.1]
    bad(r"y_score.*row 2\b", measure, y_score=s)
    assert 0 <= cl.roc_auc(GOOD["y_true"], s) <= 1
    assert 0 <= cl.recall(GOOD["y_true"], s, threshold=0.5) <= 1


def test_infinite_scores_where_their_value_matters() -> None:
    s = [0.9, INF, 0.5, 0.3, 0.1]
    bad(r"y_score.*row 1\b", "hinge_loss", y_score=s)
    with pytest.raises(cl.InputError, match=r"y_score.*row 1\b"):
        cl.quota_pearson(GOOD["y_true"], s, quota=3)


def test_offending_rows_are_counted_as_given_although_rows_of_weight_zero_are_left_out() -> None:
    bad(r"row 3\b", "brier_score", y_score=[0.9, 0.8, 0.4, 1.3, 0.1], sample_weight=[0, 0, 1, 1, 1])


def test_a_bad_score_of_weight_zero_is_absent() -> None:
    """Left out is left out; but a missing value is a missing value."""
    y, w = [1, 0, 1], [1, 1, 0]
    assert cl.brier_score(y, [0.9, 0.2, 7.0], sample_weight=w) == pytest.approx((0.01 + 0.04) / 2)
    with pytest.raises(cl.InputError, match="row 2"):
        cl.brier_score(y, [0.9, 0.2, NAN], sample_weight=w)


@pytest.mark.parametrize("measure", ["hit_rate", "qrecall", "quota_lift", "quota_pearson"])
@pytest.mark.parametrize("quota", [0, -1, 6, 0.0, 1.0, 1.5, -0.2, 2.0, 0.1, NAN, INF, "two", True, None, [2]])
def test_quotas_that_mean_nothing(measure: str, quota: Any) -> None:
    with pytest.raises(cl.InputError, match="quota"):
        getattr(cl, measure)(GOOD["y_true"], GOOD["y_score"], quota=quota)


def test_a_quota_must_be_given() -> None:
    with pytest.raises((cl.InputError, TypeError), match="quota"):
        cl.hit_rate(GOOD["y_true"], GOOD["y_score"])


@pytest.mark.parametrize(("share", "rows"), [(0.2, 1), (0.4, 2), (0.6, 3), (0.99, 4)])
def test_a_share_of_the_rows_is_rounded_down(share: float, rows: int) -> None:
    y, s = GOOD["y_true"], GOOD["y_score"]
    assert cl.hit_rate(y, s, quota=share) == cl.hit_rate(y, s, quota=rows)


def test_shares_are_not_lost_to_rounding() -> None:
    y, s = [1, 0] * 50, list(range(100))
    for k in range(1, 100):
        assert cl.hit_rate(y, s, quota=k / 100) == cl.hit_rate(y, s, quota=k)


@pytest.mark.parametrize("quota", [np.int64(2), np.uint8(2), np.float64(0.4)])
def test_quotas_of_numpy(quota: Any) -> None:
    assert cl.hit_rate(GOOD["y_true"], GOOD["y_score"], quota=quota) == 0.5


@pytest.mark.parametrize(
    ("measure", "options"),
    [
        ("f_beta", {"beta": -1}),
        ("f_beta", {"beta": NAN}),
        ("log_loss", {"eps": 0.0}),
        ("log_loss", {"eps": 0.5}),
        ("log_loss", {"eps": -1e-3}),
        ("log_loss", {"base": 1}),
        ("log_loss", {"base": 0}),
        ("log_loss", {"base": -2}),
        ("balanced_cross_entropy", {"alpha": -0.1}),
        ("balanced_cross_entropy", {"alpha": 1.1}),
        ("focal_loss", {"gamma": -1}),
        ("focal_loss", {"alpha": 2}),
        ("information_score", {"prior": 0}),
        ("information_score", {"prior": 1}),
        ("relative_information_score", {"prior": 1.5}),
        ("lift", {"prior": 0}),
        ("lift", {"prior": 1.5}),
        ("lift", {"prior": -0.5}),
        ("gain", {"prior": 2}),
        ("accuracy", {"threshold": NAN}),
        ("accuracy", {"threshold": "half"}),
        ("roc_auc", {"ties": "random"}),
        ("pr_auc_min", {"zero_recall_precision": 0.5}),
    ],
)
def test_options_that_mean_nothing(measure: str, options: dict[str, Any]) -> None:
    (name,) = options
    with pytest.raises(cl.InputError, match=name):
        getattr(cl, measure)(GOOD["y_true"], GOOD["y_score"], **options)


@pytest.mark.parametrize("prior", [0, 1.5, -1])
@pytest.mark.parametrize("measure", ["average_lift", "average_gain"])
def test_priors_of_the_whole_list(measure: str, prior: float) -> None:
    with pytest.raises(cl.InputError, match="prior"):
        getattr(cl, measure)(GOOD["y_true"], GOOD["y_score"], prior=prior)


def test_g_must_not_decrease() -> None:
    y, s = GOOD["y_true"], GOOD["y_score"]
    with pytest.raises(cl.InputError, match="g"):
        cl.ranking_score(y, s, g=lambda i: -i)
    with pytest.raises(cl.InputError, match="g"):
        cl.ranking_score(y, s, g=3)
    with pytest.raises(cl.InputError, match="g"):
        cl.ranking_score(y, s, g=lambda i: i[:2])
    with pytest.raises(cl.InputError, match="g"):
        cl.ranking_score(y, s, g=lambda i: np.where(i > 2, np.nan, 1.0))
    with pytest.raises(cl.InputError, match=r"g fails on an array of places .* np.where"):
        cl.ranking_score(y, s, g=lambda i: 1.0 if i > 5 else 0.0)


@pytest.mark.parametrize("label", [0, 1])
def test_the_brier_skill_of_one_class_is_undefined(label: int) -> None:
    with pytest.warns(cl.UndefinedWarning) as warned:
        assert math.isnan(cl.brier_skill([label] * 2, [0.9, 0.8]))
    assert len(warned) == 1
    assert cl.brier_skill([label] * 2, [0.9, 0.8], prior=0.5) == pytest.approx(0.9 if label else -1.9)


def test_thresholds_beyond_every_score() -> None:
    y, s = GOOD["y_true"], GOOD["y_score"]
    assert cl.recall(y, s, threshold=-INF) == 1.0
    assert cl.recall(y, s, threshold=INF) == 0.0
    assert cl.recall([1, 1], [INF, 1.0], threshold=INF) == 0.0  # not greater
    assert cl.specificity([0, 0], [-INF, 1.0], threshold=-INF) == 0.5


# --- other shapes ----------------------------------------------------------------------------------------------


def test_matrices_that_do_not_fit() -> None:
    m = [[0.5, 0.5], [0.2, 0.8]]
    for wrong in (
        {"y_true": ["a"], "score_matrix": m, "classes": ["a", "b"]},
        {"y_true": ["a", "b"], "score_matrix": m, "classes": ["a", "b", "c"]},
        {"y_true": ["a", "z"], "score_matrix": m, "classes": ["a", "b"]},
        {"y_true": ["a", "b"], "score_matrix": [[0.5, NAN], [0.2, 0.8]], "classes": ["a", "b"]},
        {"y_true": ["a", "b"], "score_matrix": [0.5, 0.5], "classes": ["a", "b"]},
        {"y_true": ["a", "b"], "score_matrix": m, "classes": ["a", "a"]},
    ):
        for f in (cl.mean_average_precision, cl.ranked_probability_score):
            with pytest.raises(cl.InputError):
                f(**wrong)


def test_a_class_without_cases_is_not_zero() -> None:
    """Never counted as a precision of 0."""
    m = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.5, 0.4, 0.1]])
    assert math.isnan(quietly(cl.mean_average_precision, ["a", "b", "a"], m, classes=["a", "b", "c"]))
    assert quietly(cl.mean_average_precision, ["a", "b", "a"], m[:, :2], classes=["a", "b"]) == 1.0


def test_distributions_must_sum_to_one() -> None:
    with pytest.raises(cl.InputError, match="row 1"):
        cl.ranked_probability_score(["a", "b"], [[0.5, 0.5], [0.5, 0.6]], classes=["a", "b"])


def test_triplets_that_mean_nothing() -> None:
    one = [[1.0, 0.0]]
    assert cl.triplet_loss(one * 3, one * 3, one * 3, margin=0.5) == pytest.approx(
        1.5
    )  # nothing told apart: margin · N
    for wrong in (
        {"anchor": [], "positive": [], "negative": [], "margin": 0.1},
        {"anchor": one, "positive": one, "negative": one * 2, "margin": 0.1},
        {"anchor": one, "positive": one, "negative": one, "margin": -0.1},
        {"anchor": [[INF, 0.0]], "positive": one, "negative": one, "margin": 0.1},
        {"anchor": [[3.0, 4.0]], "positive": one, "negative": one, "margin": 0.1},
    ):
        with pytest.raises(cl.InputError):
            cl.triplet_loss(**wrong)


def test_lift_table_of_more_portions_than_rows() -> None:
    with pytest.raises(cl.InputError, match="portions"):
        cl.lift_table([1, 0, 1], [0.9, 0.5, 0.1], portions=10)
    for wrong in (0, -1, 2.5, "ten"):
        with pytest.raises(cl.InputError, match="portions"):
            cl.lift_table([1, 0, 1], [0.9, 0.5, 0.1], portions=wrong)


def test_lift_table_without_positives_and_without_negatives() -> None:
    none = [row["lift"] for row in cl.lift_table([0, 0], [0.9, 0.1], portions=2).to_dicts()]
    assert all(math.isnan(v) for v in none)
    every = [row["lift"] for row in cl.lift_table([1, 1], [0.9, 0.1], portions=2).to_dicts()]
    assert every == [1.0, 1.0]
