"""One model: the evaluation as a mapping, as rows, as text and as a page fragment; cuts of the list."""

from __future__ import annotations

import inspect
import json
import math
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import cutline as cl
from samples import Case, cases, quietly, random_case

Y, S, _ = random_case(11, 120, 15)


@pytest.fixture(scope="module")
def ev() -> Any:
    return cl.evaluate(Y, S, name="nb", threshold=0.4, quota=20, interval=None)


# --- a mapping from measures to estimates ----------------------------------------------------------------------


def test_rows_are_estimates(ev: Any) -> None:
    pem = ev["pem"]
    assert pem.value == cl.pem(Y, S)
    assert float(pem) == pem.value
    assert pem.name == "pem"
    assert math.isnan(pem.low)
    assert math.isnan(pem.high)
    assert pem.reason == ""


def test_the_threshold_and_the_quota_of_the_evaluation_are_used(ev: Any) -> None:
    assert ev["hit_rate@20"].value == cl.hit_rate(Y, S, quota=20)
    assert ev["qrecall@20"].value == cl.qrecall(Y, S, quota=20)
    assert ev["recall"].value == cl.recall(Y, S, threshold=0.4)
    assert cl.recall(Y, S, threshold=0.4) != cl.recall(Y, S)


def test_names_and_aliases_lead_to_the_same_row(ev: Any) -> None:
    assert ev["sensitivity"] == ev["recall"]
    assert ev["mean_squared_error"].value == ev["brier_score"].value
    assert ev["hit_rate"].value == ev["hit_rate@20"].value


def test_a_measure_that_is_not_there_is_named() -> None:
    ev = cl.evaluate(Y, S, measures=["roc_auc"], interval=None)
    for name in ("gini", "no_such", "hit_rate@7"):
        with pytest.raises((KeyError, cl.InputError), match=name):
            ev[name]
        assert name not in ev
    assert "roc_auc" in ev


def test_every_measure_that_can_be_read_is_there(ev: Any) -> None:
    """All but those of other shapes, those that need an option, and the one that wants distances for scores."""
    names = {row["measure"] for row in ev.to_dicts()}
    for m in cl.measures():
        if not m.of_one_score or inspect.Parameter.empty in m.params.values() or m.name == "hinge_loss":
            continue
        if m.part == "ranking":  # read place by place, which takes time: computed only where named
            assert m.name not in names
            assert m.name in cl.evaluate(Y, S, measures=[m.name], interval=None), m.name
            continue
        assert any(name.partition("@")[0].partition("(")[0] == m.name for name in names), m.name


def test_without_a_quota_there_are_no_measures_at_a_quota() -> None:
    ev = cl.evaluate(Y, S, interval=None)
    assert not any(row["measure"].startswith("hit_rate") for row in ev.to_dicts())
    assert ev["pem"].value == cl.pem(Y, S)


def test_chosen_measures_come_in_the_chosen_order() -> None:
    chosen = ["pem", "accuracy", "qrecall@5%", "f_beta(beta=2)", "roc_auc"]
    ev = cl.evaluate(Y, S, measures=chosen, interval=None)
    assert [row["measure"] for row in ev.to_dicts()] == chosen
    assert list(ev) == chosen
    assert len(ev) == 5


def test_options_of_one_measure_do_not_reach_another() -> None:
    chosen = {
        "log_loss": cl.log_loss(Y, S),
        "log_loss(base=10, eps=1e-09)": cl.log_loss(Y, S, base=10, eps=1e-9),
        "focal_loss": cl.focal_loss(Y, S),
        "focal_loss(gamma=1)": cl.focal_loss(Y, S, gamma=1),
        "information_score(prior=0.2)": cl.information_score(Y, S, prior=0.2),
        "information_score": cl.information_score(Y, S),
        "recall(threshold=0.3)": cl.recall(Y, S, threshold=0.3),
        "recall(threshold=0.7)": cl.recall(Y, S, threshold=0.7),
        "roc_auc(ties='best')": cl.roc_auc(Y, S, ties="best"),
        "roc_auc(ties='worst')": cl.roc_auc(Y, S, ties="worst"),
        "roc_auc": cl.roc_auc(Y, S),
        "hit_rate@30": cl.hit_rate(Y, S, quota=30),
        "hit_rate@5": cl.hit_rate(Y, S, quota=5),
        "hit_rate(ties='best')@5": cl.hit_rate(Y, S, quota=5, ties="best"),
    }
    ev = cl.evaluate(Y, S, measures=list(chosen), interval=None)
    assert [row["measure"] for row in ev.to_dicts()] == list(chosen)
    assert [row["value"] for row in ev.to_dicts()] == pytest.approx(list(chosen.values()), rel=1e-13)


def test_float32_scores_meet_the_threshold_as_they_are() -> None:
    """The nearest float32 to 0.7 is below 0.7, that to 0.1 is above 0.1: in an evaluation as in a call."""
    for threshold, expected in ((0.7, 0.0), (0.1, 1.0)):
        s = np.array([threshold, 0.0], dtype=np.float32)
        assert cl.recall([1, 0], s, threshold=threshold) == expected
        assert cl.evaluate([1, 0], s, threshold=threshold, interval=None)["recall"].value == expected


def test_a_share_as_quota() -> None:
    ev = cl.evaluate(Y, S, quota=0.05, measures=["qrecall"], interval=None)
    assert ev["qrecall@5%"].value == cl.qrecall(Y, S, quota=6)


def test_scores_that_are_no_probabilities_leave_reasons_not_errors() -> None:
    ev = cl.evaluate(Y, 10 * S, threshold=5.0, interval=None)
    assert ev["roc_auc"].value == cl.roc_auc(Y, S)
    assert ev["accuracy"].value == cl.accuracy(Y, S)
    for name in ("brier_score", "log_loss"):
        assert math.isnan(ev[name].value)
        assert "probabilit" in ev[name].reason


def test_weights() -> None:
    w = np.random.default_rng(0).random(len(Y))
    ev = cl.evaluate(Y, S, sample_weight=w, interval=None)
    assert ev["roc_auc"].value == pytest.approx(cl.roc_auc(Y, S, sample_weight=w), rel=1e-13)
    assert ev["brier_score"].value == pytest.approx(cl.brier_score(Y, S, sample_weight=w), rel=1e-13)
    assert ev["pem"].value == pytest.approx(2 * ev["roc_auc"].value - 1)


def test_labels_of_any_kind() -> None:
    words = np.where(Y == 1, "yes", "no")
    assert cl.evaluate(words, S, pos_label="yes", interval=None)["pem"].value == cl.pem(Y, S)
    with pytest.raises(cl.InputError, match="pos_label"):
        cl.evaluate(words, S, interval=None)


def test_bad_input_is_refused() -> None:
    for arguments in (
        {"y_true": [1, 0], "y_score": [0.1]},
        {"y_true": [], "y_score": []},
        {"y_true": [1, 0], "y_score": [0.1, math.nan]},
        {"y_true": [1, 0], "y_score": [0.1, 0.2], "quota": 3},
        {"y_true": [1, 0], "y_score": [0.1, 0.2], "quota": 0},
        {"y_true": [1, 0], "y_score": [0.1, 0.2], "measures": ["no_such"]},
        {"y_true": [1, 0], "y_score": [0.1, 0.2], "measures": ["hit_rate"]},
        {"y_true": [1, 0], "y_score": [0.1, 0.2], "measures": "pem"},
        {"y_true": [1, 0], "y_score": [0.1, 0.2], "threshold": math.nan},
    ):
        with pytest.raises(cl.InputError):
            cl.evaluate(**{"interval": None, **arguments})


def test_the_evaluation_does_not_depend_on_row_order() -> None:
    order = np.random.default_rng(1).permutation(len(Y))
    one, two = (cl.evaluate(y, s, quota=7, interval=None) for y, s in ((Y, S), (Y[order], S[order])))
    for a, b in zip(one.to_dicts(), two.to_dicts(), strict=True):
        assert a["measure"] == b["measure"]
        assert a["value"] == pytest.approx(b["value"], rel=1e-12, nan_ok=True)


# --- the rows in other forms -----------------------------------------------------------------------------------


def test_dicts(ev: Any) -> None:
    rows = ev.to_dicts()
    assert all({"measure", "value", "reason"} <= set(row) for row in rows)
    assert all(type(row["value"]) is float for row in rows)
    assert len({row["measure"] for row in rows}) == len(rows)
    rows[0]["value"] = "changed"
    assert ev.to_dicts()[0]["value"] != "changed"


def test_pandas_and_polars(ev: Any) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    rows = ev.to_dicts()
    for frame in (ev.to_pandas(), ev.to_polars()):
        assert frame.shape[0] == len(rows)
        assert list(frame["measure"]) == [row["measure"] for row in rows]
        assert list(frame["value"]) == pytest.approx([row["value"] for row in rows], nan_ok=True)


def test_json_is_strict_and_complete() -> None:
    ev = cl.evaluate(
        [1, 0], [0.9, 0.1], measures=["positive_likelihood_ratio", "roc_auc", "average_gain"], interval=None
    )
    one_class = cl.evaluate([1, 1], [0.9, 0.1], measures=["roc_auc", "accuracy"], interval=None)

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    for e in (ev, one_class):
        text = e.to_json()
        data = json.loads(text, parse_constant=refuse)
        rows = {row["measure"]: row["value"] for row in data["measures"]}
        assert list(rows) == list(e)
        for name, value in rows.items():
            expected = e[name].value
            assert value == (None if math.isnan(expected) else "inf" if math.isinf(expected) else expected)


def test_repr_is_readable(ev: Any) -> None:
    text = repr(ev)
    assert "nb" in text
    for name, title in (("roc_auc", "ROC AUC"), ("average_precision", "Average precision")):
        (line,) = [line.removeprefix(title).split() for line in text.splitlines() if line.startswith(title)]
        assert line[0] == f"{ev[name].value:.3f}"
    assert "120 rows" in text
    assert len(text.splitlines()) > 10
    assert max(map(len, text.partition("\n\n")[2].splitlines())) <= 160  # the tables; a terminal wraps sentences


class Collector(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize(
    "name",
    [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "</table><b>",
        "a & b",
        "'x' onclick='y'",
        "]]>",
        "нб",
    ],
)
def test_hostile_names_are_text(name: str) -> None:
    ev = cl.evaluate(Y, S, name=name, interval=None)
    page = Collector()
    page.feed(ev._repr_html_())
    page.close()
    assert "table" in page.tags
    assert not {"script", "img", "b"} & set(page.tags)
    assert not [a for a in page.attributes if a.startswith("on")]
    assert name in page.text
    assert name in repr(ev)
    assert json.loads(ev.to_json())["name"] == name


def test_hostile_labels_do_not_reach_the_page() -> None:
    y = np.where(Y == 1, "<i>yes</i>", "no")
    ev = cl.evaluate(y, S, pos_label="<i>yes</i>", interval=None)
    page = Collector()
    page.feed(ev._repr_html_())
    assert "i" not in page.tags


def test_one_is_singular() -> None:
    assert repr(cl.evaluate([1], [0.7], interval=None)).startswith("model: 1 row, 1 positive")
    assert repr(cl.compare([1, 0], {"a": [0.7, 0.2]}, interval=None)).startswith("1 model: 2 rows")
    assert "1 chosen for 1 place;" in repr(cl.select([0.5, 0.5], 1))
    assert "This list has 1 hit;" in repr(cl.plan([1, 0], [0.9, 0.1], cost=1, value=3, n_resamples=10))


# --- cuts of the list ------------------------------------------------------------------------------------------


def cells(point: Any) -> tuple[float, float, float, float]:
    return point.tp, point.fp, point.fn, point.tn


@given(case=cases(), data=st.data())
def test_at_a_quota(case: Case, data: Any) -> None:
    j = data.draw(st.integers(1, len(case.y)))
    point = cl.evaluate(case.y, case.s, measures=["accuracy"], interval=None).at(quota=j)
    assert point.tp + point.fp == pytest.approx(j)
    assert sum(cells(point)) == pytest.approx(len(case.y))
    assert point.tp == pytest.approx(cl.hit_rate(case.y, case.s, quota=j) * j)
    assert point.hit_rate == pytest.approx(cl.hit_rate(case.y, case.s, quota=j))
    assert point.qrecall == pytest.approx(quietly(cl.qrecall, case.y, case.s, quota=j), nan_ok=True)
    assert point.lift == pytest.approx(quietly(cl.quota_lift, case.y, case.s, quota=j), nan_ok=True)
    assert (case.s > point.threshold).sum() <= j <= (case.s >= point.threshold).sum()
    best, worst = (cl.hit_rate(case.y, case.s, quota=j, ties=t) * j for t in ("best", "worst"))
    assert point.hits_best == pytest.approx(best)
    assert point.hits_worst == pytest.approx(worst)


@given(case=cases(weighted=True), t=st.sampled_from([-1.0, 0.0, 0.25, 0.5, 0.75, 2.0]))
def test_at_a_threshold(case: Case, t: float) -> None:
    ev = cl.evaluate(case.y, case.s, sample_weight=case.w, measures=["accuracy"], interval=None)
    point = ev.at(threshold=t)
    above, positive = case.s > t, case.y == 1
    expected = [
        case.w[a & b].sum() for a, b in ((above, positive), (above, ~positive), (~above, positive), (~above, ~positive))
    ]
    assert cells(point) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert point.threshold == t
    for name in ("precision", "recall"):
        value = quietly(getattr(cl, name), case.y, case.s, threshold=t, sample_weight=case.w)
        assert getattr(point, name) == pytest.approx(value, nan_ok=True, rel=1e-9, abs=1e-9)


@given(case=cases(), wanted=st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]))
def test_at_a_recall_is_the_smallest_list_that_reaches_it(case: Case, wanted: float) -> None:
    assume(case.y.sum() > 0)
    point = cl.evaluate(case.y, case.s, measures=["accuracy"], interval=None).at(recall=wanted)
    assert point.recall >= wanted - 1e-12
    reaching = [
        int((case.s > t).sum())
        for t in [math.inf, *np.unique(case.s), -math.inf]
        if case.y[case.s > t].sum() >= wanted * case.y.sum() - 1e-9
    ]
    everything = [len(case.y)]  # a score of -inf is above no threshold, but the whole list is a cut
    assert point.tp + point.fp == min(reaching + everything)


@given(case=cases(("ties", "finite")), wanted=st.sampled_from([0.1, 0.25, 0.5, 0.9, 1.0]))
def test_at_a_precision_is_the_longest_list_that_keeps_it(case: Case, wanted: float) -> None:
    ev = cl.evaluate(case.y, case.s, measures=["accuracy"], interval=None)
    cuts = [case.y[case.s >= t] for t in np.unique(case.s)]
    keeping = [len(c) for c in cuts if c.mean() >= wanted - 1e-12]
    if not keeping:
        with pytest.raises(cl.InputError, match="precision"):
            ev.at(precision=wanted)
        return
    point = ev.at(precision=wanted)
    assert point.precision >= wanted - 1e-12
    assert point.tp + point.fp == max(keeping)


@given(case=cases(("ties", "finite")), allowed=st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]))
def test_at_a_false_positive_rate_is_the_longest_list_within_it(case: Case, allowed: float) -> None:
    n_neg = int((1 - case.y).sum())
    assume(n_neg > 0)
    point = cl.evaluate(case.y, case.s, measures=["accuracy"], interval=None).at(fpr=allowed)
    within = [
        0,
        *(
            int((case.s >= t).sum())
            for t in np.unique(case.s)
            if (1 - case.y)[case.s >= t].sum() <= allowed * n_neg + 1e-9
        ),
    ]
    assert point.fpr <= allowed + 1e-12
    assert point.tp + point.fp == max(within)


def test_at_takes_exactly_one_promise(ev: Any) -> None:
    for arguments in (
        {},
        {"quota": 3, "threshold": 0.5},
        {"recall": 1.2},
        {"precision": -0.1},
        {"fpr": math.nan},
        {"quota": 0},
        {"quota": 121},
        {"threshold": "high"},
    ):
        with pytest.raises(cl.InputError):
            ev.at(**arguments)


def test_at_a_promise_the_sample_cannot_make() -> None:
    none = cl.evaluate([0, 0], [0.9, 0.1], measures=["accuracy"], interval=None)
    every = cl.evaluate([1, 1], [0.9, 0.1], measures=["accuracy"], interval=None)
    with pytest.raises(cl.InputError, match="recall"):
        none.at(recall=0.5)
    with pytest.raises(cl.InputError, match="fpr"):
        every.at(fpr=0.5)


def test_a_quota_counts_cases_of_weighted_rows() -> None:
    ev = cl.evaluate([1, 0, 1], [0.9, 0.5, 0.1], sample_weight=[1, 2, 3], quota=2, interval=None)
    assert ev["hit_rate"].value == 0.5  # one case of the first row, one of the two that the second stands for
    assert ev["qrecall"].value == 0.25
    point = ev.at(quota=0.5)
    assert (point.taken, point.tp, point.fp, point.fn, point.tn) == (3, 1, 2, 3, 0)
    assert ev.at(quota=6).fn == ev.at(quota=6).tn == 0
    with pytest.raises(cl.InputError, match="number of cases, 6"):
        ev.at(quota=7)


def test_points_print(ev: Any) -> None:
    text = repr(ev.at(quota=20))
    assert "hit_rate" in text
    assert "20" in text


# --- lift table ------------------------------------------------------------------------------------------------


def test_lift_table_prints_and_converts() -> None:
    table = cl.lift_table(Y, S, portions=10)
    assert len(table) == 10
    assert "lift" in repr(table)
    page = Collector()
    page.feed(table._repr_html_())
    assert page.tags.count("tr") == 11
    assert len(table.to_pandas()) == len(table.to_polars()) == len(json.loads(table.to_json())) == 10


def test_a_good_model_lifts_the_first_portions() -> None:
    lifts = [row["lift"] for row in cl.lift_table(Y, S, portions=5)]
    assert lifts[0] > 1 > lifts[-1]
    assert math.fsum(lifts) / 5 == pytest.approx(1.0)  # portions of equal size: the mean lift is 1


def test_lift_table_takes_other_labels() -> None:
    words = np.where(Y == 1, "yes", "no")
    assert cl.lift_table(words, S, pos_label="yes").to_dicts() == cl.lift_table(Y, S).to_dicts()
