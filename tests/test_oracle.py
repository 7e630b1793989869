"""The library against brute force from the definitions (`oracle.py`), measure by measure."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cutline as cl
import oracle
from oracle import ORACLES, Data, Refused
from samples import ANY, FINITE, UNIT, Case, cases, quietly, random_case

PROBABILITY = {f.__name__ for f in oracle.PROBABILITY}
NEEDS_OPTION = {"f_beta": {"beta": 2.0}, "ranking_score": {"g": lambda i: i**2 + i}}
NEEDS_FINITE = {"hinge_loss", "quota_pearson"}
WEIGHTED = [f.__name__ for f in (*oracle.THRESHOLD, *oracle.PROBABILITY, oracle.hinge_loss, *oracle.RANKING)]
THRESHOLD = [f.__name__ for f in oracle.THRESHOLD]
QUOTA = [f.__name__ for f in oracle.QUOTA]
WHOLE_LIST = [f.__name__ for f in oracle.PLACES]


def kinds(name: str) -> tuple[str, ...]:
    return UNIT if name in PROBABILITY else FINITE if name in NEEDS_FINITE else ANY


def same(got: float, expected: Any, abs_: float = 1e-12, rel: float = 1e-11) -> bool:
    expected = float(expected)
    if math.isnan(expected):
        return math.isnan(got)
    if math.isinf(expected):
        return got == expected
    return math.isclose(got, expected, rel_tol=rel, abs_tol=abs_)


def agree(name: str, case: Case, **options: Any) -> None:
    """Library and oracle give the same value, or both refuse."""
    call = getattr(cl, name)
    arguments: dict[str, Any] = dict(options)
    if case.w is not None:
        arguments["sample_weight"] = case.w
    if name in THRESHOLD and not ((case.s >= 0) & (case.s <= 1)).all():
        arguments.setdefault("threshold", 0.5)  # scores that are not probabilities have no default
    try:
        expected = ORACLES[name](Data.of(case.y, case.s, case.w), **options)
    except Refused:
        with pytest.raises(cl.InputError):
            quietly(call, case.y, case.s, **arguments)
        return
    got = quietly(call, case.y, case.s, **arguments)
    assert isinstance(got, float)
    assert same(got, expected), f"{name}: library {got!r}, definition {float(expected)!r}"


@pytest.mark.parametrize("name", [n for n in ORACLES if n not in QUOTA and n not in NEEDS_OPTION])
def test_measure(name: str) -> None:
    @given(case=cases(kinds(name)))
    def run(case: Case) -> None:
        agree(name, case)

    run()


@pytest.mark.parametrize("name", [n for n in WEIGHTED if n not in NEEDS_OPTION])
def test_measure_with_weights(name: str) -> None:
    @given(case=cases(kinds(name), weighted=True))
    def run(case: Case) -> None:
        agree(name, case)

    run()


@pytest.mark.parametrize("name", THRESHOLD)
def test_threshold_on_and_beside_a_score(name: str) -> None:
    @given(case=cases(("ties", "finite", "any")), data=st.data())
    def run(case: Case, data: Any) -> None:
        at = data.draw(st.sampled_from([float(v) for v in case.s if math.isfinite(v)] or [0.0]))
        agree(
            name,
            case,
            threshold=data.draw(st.sampled_from([at, float(np.nextafter(at, 2.0)), 0.25])),
            **NEEDS_OPTION.get(name, {}),
        )

    run()


@pytest.mark.parametrize("name", QUOTA)
def test_quota(name: str) -> None:
    @given(case=cases(kinds(name)), data=st.data())
    def run(case: Case, data: Any) -> None:
        agree(name, case, quota=data.draw(st.integers(1, len(case.y))))

    run()


@pytest.mark.parametrize("ties", ["best", "worst"])
@pytest.mark.parametrize("name", [n for n in ORACLES if n not in THRESHOLD and n not in PROBABILITY])
def test_ties_broken_for_and_against_the_positives(name: str, ties: str) -> None:
    if not cl.measure(name).tie_rule:
        pytest.skip("does not depend on the order within a tie")

    @given(case=cases(("ties", "one") if name in NEEDS_FINITE else ("ties", "one", "any")), data=st.data())
    def run(case: Case, data: Any) -> None:
        options: dict[str, Any] = {"ties": ties}
        if name in QUOTA:
            options["quota"] = data.draw(st.integers(1, len(case.y)))
        if name == "ranking_score":
            options["g"] = lambda i: i**3
        agree(name, case, **options)

    run()


G = {
    "cubic": lambda i: i**3,
    "step": lambda i: (i > 4) * 1.0,
    "root": lambda i: i**0.5,
    "top": lambda i: (i >= 10) * (i - 9.0),
    "negative": lambda i: i - 100.0,
}


@pytest.mark.parametrize("g", G)
@given(case=cases())
def test_ranking_score_of_any_g(g: str, case: Case) -> None:
    agree("ranking_score", case, g=G[g])


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("f_beta", {"beta": 2.0}),
        ("f_beta", {"beta": 0.5}),
        ("lift", {"prior": 0.125}),
        ("gain", {"prior": 0.125}),
        ("log_loss", {"base": math.e}),
        ("log_loss", {"base": 10.0, "eps": 1e-9}),
        ("balanced_cross_entropy", {"alpha": 0.75}),
        ("balanced_cross_entropy", {"alpha": 0.0}),
        ("balanced_cross_entropy", {"alpha": 1.0}),
        ("focal_loss", {"gamma": 0.0}),
        ("focal_loss", {"gamma": 1.5, "alpha": 0.25}),
        ("information_score", {"prior": 0.2}),
        ("relative_information_score", {"prior": 0.9}),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_options(name: str, options: dict[str, float], weighted: bool) -> None:
    @given(case=cases(kinds(name), weighted=weighted))
    def run(case: Case) -> None:
        agree(name, case, **options)

    run()


@pytest.mark.parametrize("name", ["average_gain", "average_lift"])
@given(case=cases(), prior=st.sampled_from([0.0625, 0.5, 1.0]))
def test_whole_list_against_a_prior(name: str, case: Case, prior: float) -> None:
    agree(name, case, prior=prior)


@pytest.mark.parametrize("n", [1, 2, 3, 50, 200])
@pytest.mark.parametrize("levels", [1, 3, 17, 1000])
def test_every_measure_on_larger_samples(n: int, levels: int) -> None:
    for seed in range(2):
        case = random_case(seed, n, levels)
        weighted = random_case(seed, n, levels, weighted=True)
        for name in ORACLES:
            if name == "h_measure" and n > 50:
                continue  # its brute force takes the third power of the cuts: five minutes for 200
            if name in QUOTA:
                for quota in sorted({1, n // 3 + 1, n - n // 5, n}):
                    agree(name, case, quota=quota)
            else:
                agree(name, case, **NEEDS_OPTION.get(name, {}))
            if name in WEIGHTED and weighted.w.sum() > 0:
                agree(name, weighted, **NEEDS_OPTION.get(name, {}))


@given(case=cases())
def test_every_quota_of_one_sample(case: Case) -> None:
    data = Data.of(case.y, case.s)
    for quota in range(1, len(case.y) + 1):
        assert same(cl.hit_rate(case.y, case.s, quota=quota), oracle.hit_rate(data, quota))


@pytest.mark.parametrize("name", ["pr_auc_min", "pr_auc_minmax", "pr_auc_max"])
@pytest.mark.parametrize("weighted", [False, True])
def test_precision_one_at_recall_zero(name: str, weighted: bool) -> None:
    @given(case=cases(weighted=weighted))
    def run(case: Case) -> None:
        expected = ORACLES[name](Data.of(case.y, case.s, case.w), start=1)
        weights = {} if case.w is None else {"sample_weight": case.w}
        got = quietly(getattr(cl, name), case.y, case.s, zero_recall_precision=1, **weights)
        assert same(got, expected)

    run()


# --- the first place where floating point could go wrong -------------------------------------------------------


def test_one_case_among_many_is_not_lost() -> None:
    """One positive below 10,000 negatives and one above: counts, not a sum of rounded steps."""
    s = np.arange(10_002, dtype=float)
    y = np.zeros(10_002, dtype=int)
    y[[0, -1]] = 1
    assert cl.roc_auc(y, s) == 0.5
    assert cl.pem(y, s) == 0.0
    assert cl.linear_ranking(y, s) == 10_003.0


def test_weights_of_very_different_size() -> None:
    y, s = [1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0]
    w = [1e-12, 1.0, 1e12, 1e-3]
    data = Data.of(y, s, w)
    for name in ("roc_auc", "average_precision", "ks_statistic", "pr_auc_min", "auch"):
        assert same(getattr(cl, name)(y, s, sample_weight=w), ORACLES[name](data)), name


def test_pearson_of_nearly_constant_scores() -> None:
    """Two-pass sums: a common offset of 1e9 must not eat the differences."""
    s = [1e9 + v for v in (5.0, 4.0, 3.0, 2.0, 1.0, 0.0)]
    y = [1, 1, 0, 1, 0, 0]
    assert cl.quota_pearson(y, s, quota=6) == pytest.approx(oracle.quota_pearson(Data.of(y, s), 6), rel=1e-9)
    assert cl.quota_pearson(y, [v - 1e9 for v in s], quota=6) == pytest.approx(
        oracle.quota_pearson(Data.of(y, s), 6), rel=1e-12
    )


@pytest.mark.parametrize("scale", [1e300, 1e-300, 2.0**-1060, 2.0**1015])
def test_pearson_has_no_scale(scale: float) -> None:
    y, s = [1, 0, 1, 1, 0], [128.0, 96.0, 64.0, 48.0, 16.0]
    expected = oracle.quota_pearson(Data.of(y, s), 5)
    assert cl.quota_pearson(y, [v * scale / 128 for v in s], quota=5) == pytest.approx(expected, rel=1e-9)


def test_ranking_score_of_a_steep_g() -> None:
    """The worst place counts g(1), however large g is at the others."""
    y, s = [0] * 19 + [1], list(range(20, 0, -1))
    assert cl.ranking_score(y, s, g=lambda i: 10.0**i) == pytest.approx(10.0, rel=1e-12)
    assert cl.ranking_score(y, [1] * 20, g=lambda i: 2.0**i) == pytest.approx((2.0**21 - 2) / 20, rel=1e-12)


def test_float32_ties_are_ties_of_float32_values() -> None:
    """0.1 and its float64 neighbour are one float32 value, and 0.1f is not 0.1."""
    y = np.array([1, 0])
    near = np.array([0.1, 0.10000000001])
    assert cl.roc_auc(y, near) == 0.0
    assert cl.roc_auc(y, near.astype(np.float32)) == 0.5
    assert cl.recall([1], np.array([0.1], dtype=np.float32), threshold=0.1) == 1.0  # 0.1f = 0.100000001...


def test_minus_zero_ties_with_zero() -> None:
    assert cl.roc_auc([1, 0], [0.0, -0.0]) == 0.5
    assert cl.average_hit_rate([1, 0], [-0.0, 0.0]) == 0.5


def test_infinities_tie_with_themselves() -> None:
    assert cl.roc_auc([1, 0, 0], [np.inf, np.inf, -np.inf]) == 0.75


@given(case=cases(("any", "float32", "ties"), max_size=60))
def test_numbers_never_leave_their_python_type(case: Case) -> None:
    assert type(quietly(cl.roc_auc, case.y, case.s)) is float


# --- other shapes ----------------------------------------------------------------------------------------------


@st.composite
def matrices(draw: Any) -> tuple[list[str], np.ndarray, list[str]]:
    classes = ["a", "b", "c", "d"][: draw(st.integers(2, 4))]
    n = draw(st.integers(len(classes), 20))
    extra = draw(st.lists(st.sampled_from(classes), min_size=n - len(classes), max_size=n - len(classes)))
    y = draw(st.permutations(classes + extra))
    cells = draw(
        st.lists(st.lists(st.integers(1, 6), min_size=len(classes), max_size=len(classes)), min_size=n, max_size=n)
    )
    m = np.array(cells, dtype=float)
    return list(y), m / m.sum(axis=1, keepdims=True), classes


@given(matrices())
def test_mean_average_precision(sample: tuple[list[str], np.ndarray, list[str]]) -> None:
    y, m, classes = sample
    expected = oracle.mean_average_precision(y, m.tolist(), classes)
    assert same(cl.mean_average_precision(y, m, classes=classes), expected)


@given(matrices())
def test_ranked_probability_score(sample: tuple[list[str], np.ndarray, list[str]]) -> None:
    y, m, classes = sample
    expected = oracle.ranked_probability_score(y, m.tolist(), classes)
    assert same(cl.ranked_probability_score(y, m, classes=classes), expected)


def test_ranked_probability_score_of_two_classes_is_the_brier_score() -> None:
    p = np.array([0.9, 0.2, 0.6, 0.4])
    y = np.array([1, 0, 0, 1])
    score = cl.ranked_probability_score(y, np.column_stack([1 - p, p]), classes=[0, 1])
    assert score == pytest.approx(cl.brier_score(y, p), rel=1e-12)


def test_ranked_probability_score_knows_the_order_of_the_classes() -> None:
    classes = ["win", "draw", "lose"]
    near = cl.ranked_probability_score(["win"], [[0.0, 1.0, 0.0]], classes=classes)
    far = cl.ranked_probability_score(["win"], [[0.0, 0.0, 1.0]], classes=classes)
    assert near < far


@settings(max_examples=20)
@given(st.integers(1, 6), st.integers(1, 4), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.2, 1.0]))
def test_triplet_loss(n: int, dim: int, seed: int, margin: float) -> None:
    rng = np.random.default_rng(seed)
    a, p, q = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in rng.normal(size=(3, n, dim)))
    assert same(cl.triplet_loss(a, p, q, margin=margin), oracle.triplet_loss(a, p, q, margin))


@pytest.mark.parametrize("portions", [1, 2, 3, 4, 7, 10])
@given(case=cases(("ties", "any"), min_size=10, max_size=25))
def test_lift_table(portions: int, case: Case) -> None:
    y, s, n = case.y, case.s, len(case.y)
    expected = oracle.lift_portions(Data.of(y, s), portions)
    rows = cl.lift_table(y, s, portions=portions).to_dicts()
    assert [row["portion"] for row in rows] == list(range(1, portions + 1))
    assert all(same(row["lift"], b) for row, b in zip(rows, expected, strict=True))
    assert sum(row["rows"] for row in rows) == n
    assert max(row["rows"] for row in rows) - min(row["rows"] for row in rows) <= 1
    assert math.fsum(row["positives"] for row in rows) == pytest.approx(y.sum())
    for row in rows:
        assert same(row["hit_rate"], row["positives"] / row["rows"])
        assert same(row["cumulative_positives"], oracle.hits(Data.of(y, s), row["to"]))
        assert same(row["qrecall"], oracle.qrecall(Data.of(y, s), row["to"]))
        assert same(row["cumulative_lift"], oracle.quota_lift(Data.of(y, s), row["to"]))
        assert row["lowest_score"] == sorted(s.tolist(), reverse=True)[row["to"] - 1]
