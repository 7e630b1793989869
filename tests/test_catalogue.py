"""Every measure of the catalogue, including those added later: this file names none it does not have to."""

from __future__ import annotations

import doctest
import inspect
import itertools
import math
import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cutline as cl
from cutline.catalogue.compute import plan_sweeps
from cutline.catalogue.declare import TIE_RULES, make_spec
from cutline.ranking import rank
from cutline.sources.arrays import make_sample
from cutline.sweep import sweep
from samples import Case, quietly, random_case

MEASURES = [m for m in cl.measures() if hasattr(cl, m.name)]  # means over classes have no function
SCORED = [m for m in MEASURES if m.of_one_score]
RANKED = [m for m in SCORED if m.rank_based]

# The public surface: names that users, examples and documents rely on.
NAMES = [
    "accuracy",
    "error_rate",
    "recall",
    "specificity",
    "precision",
    "negative_predictive_value",
    "false_discovery_rate",
    "false_positive_rate",
    "false_negative_rate",
    "youden_index",
    "positive_likelihood_ratio",
    "negative_likelihood_ratio",
    "balanced_accuracy",
    "f1",
    "f_beta",
    "g_measure",
    "matthews_correlation",
    "cohen_kappa",
    "lift",
    "gain",
    "zero_one_loss",
    "mean_absolute_error",
    "brier_score",
    "root_mean_squared_error",
    "log_loss",
    "balanced_cross_entropy",
    "focal_loss",
    "information_score",
    "relative_information_score",
    "hinge_loss",
    "roc_auc",
    "gini",
    "auch",
    "ks_statistic",
    "taks",
    "max_youden_index",
    "average_precision",
    "pr_auc_min",
    "pr_auc_minmax",
    "pr_auc_max",
    "average_gain",
    "average_lift",
    "ranking_score",
    "linear_ranking",
    "quadratic_ranking",
    "misclassification_ranking",
    "partial_auc",
    "equal_error_rate",
    "h_measure",
    "ndcg",
    "reciprocal_rank",
    "brier_skill",
    "calibration_error",
    "hit_rate",
    "qrecall",
    "quota_lift",
    "quota_pearson",
    "average_hit_rate",
    "average_qrecall",
    "pem",
    "hand_till_auc",
    "top_t_accuracy",
    "risk_coverage_area",
    "mean_average_precision",
    "ranked_probability_score",
    "triplet_loss",
]
ALIASES = {
    "sensitivity": "recall",
    "true_positive_rate": "recall",
    "true_negative_rate": "specificity",
    "positive_predictive_value": "precision",
    "mean_squared_error": "brier_score",
}
COUNTS_PLACES = {
    *("hit_rate", "qrecall", "quota_lift", "quota_pearson", "average_hit_rate", "average_qrecall", "pem"),
    *("taks", "average_gain", "average_lift", "ranking_score", "ndcg", "reciprocal_rank", "calibration_error"),
    *("linear_ranking", "quadratic_ranking", "misclassification_ranking"),
}

by_name = pytest.mark.parametrize("m", MEASURES, ids=lambda m: m.name)
by_scored = pytest.mark.parametrize("m", SCORED, ids=lambda m: m.name)
by_ranked = pytest.mark.parametrize("m", RANKED, ids=lambda m: m.name)


def options(m: Any, n: int) -> dict[str, Any]:
    """What a call must say: a quota where places are limited, and every option without a default."""
    said: dict[str, Any] = {}
    for name, parameter in inspect.signature(getattr(cl, m.name)).parameters.items():
        if name == "quota":
            said["quota"] = n // 3 + 1
        elif parameter.default is parameter.empty and parameter.kind is parameter.KEYWORD_ONLY:
            said[name] = np.sqrt if name == "g" else 2.0
    return said


def value(m: Any, y: Any, s: Any, n: int | None = None, **more: Any) -> float:
    return quietly(getattr(cl, m.name), y, s, **{**options(m, len(y) if n is None else n), **more})


def same(a: float, b: float, tolerance: float = 1e-11) -> bool:
    return (math.isnan(a) and math.isnan(b)) or a == b or math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)


def samples() -> list[Case]:
    """Many ties, few ties, none; all in (0, 1) and both classes present, so that every measure takes them."""
    return [random_case(seed, n, levels) for seed, (n, levels) in enumerate([(12, 3), (40, 7), (60, 1000), (150, 20)])]


# --- what a declaration must say -------------------------------------------------------------------------------


def test_every_name_of_the_public_surface_is_in_the_catalogue() -> None:
    declared = {m.name for m in cl.measures()}
    assert set(NAMES) <= declared
    assert len(declared) == len(cl.measures())
    assert all(callable(getattr(cl, m.name)) for m in cl.measures() if m.family != "classes")


@by_name
def test_declaration(m: Any) -> None:
    assert m.family in ("threshold", "probability", "ranking", "quota", "value", "classes", "other")
    assert m.better in ("higher", "lower")
    low, high = m.range
    assert low < high
    for fact in (m.title, m.formula, m.latex, m.reference):
        assert isinstance(fact, str)
        assert fact.strip(), f"{m.name} leaves a fact out"
    assert isinstance(m.same_as, str)
    assert isinstance(m.undefined, str)
    assert m.name.isidentifier()
    assert m.name == m.name.lower()
    assert m.name in repr(m)
    for flag in (m.rank_based, m.extensive):
        assert isinstance(flag, bool)
    assert m.latex.count("{") == m.latex.count("}")


@by_name
def test_lookup_by_name_and_alias(m: Any) -> None:
    assert cl.measure(m.name) is m
    for alias in m.aliases:
        assert cl.measure(alias) is cl.measure(alias.upper()) is m
        assert getattr(cl, alias, getattr(cl, m.name)) is getattr(cl, m.name)


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
def test_aliases_of_the_public_surface(alias: str, name: str) -> None:
    assert cl.measure(alias) is cl.measure(name)
    assert getattr(cl, alias)([1, 0], [0.9, 0.1]) == getattr(cl, name)([1, 0], [0.9, 0.1])


def test_no_alias_means_two_measures() -> None:
    names = [name for m in MEASURES for name in (m.name, *m.aliases)]
    assert len(names) == len(set(names))


def test_an_unknown_measure_is_refused_with_the_nearest_names() -> None:
    with pytest.raises(cl.InputError, match="recall"):
        cl.measure("recal")
    with pytest.raises(AttributeError):
        cl.recal  # noqa: B018


@by_name
def test_docstring_has_a_doctest_that_runs(m: Any) -> None:
    function = getattr(cl, m.name)
    text = function.__doc__ or ""
    assert m.title in text
    assert m.reference.split(",")[0] in " ".join(text.split())
    namespace = {"cl": cl, "cutline": cl, "np": np, m.name: function}
    test = doctest.DocTestParser().get_doctest(text, namespace, m.name, None, 0)
    assert test.examples, f"{m.name} shows no example"
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    result = runner.run(test)
    assert result.failed == 0


@by_name
def test_signature(m: Any) -> None:
    function = getattr(cl, m.name)
    assert function.__name__ == m.name
    parameters = inspect.signature(function).parameters
    if not m.of_one_score:
        return
    assert list(parameters)[:2] == ["y_true", "y_score"]
    assert all(p.kind is p.KEYWORD_ONLY for p in list(parameters.values())[2:])
    assert "sample_weight" in parameters
    assert ("ties" in parameters) is bool(m.tie_rule)
    assert ("threshold" in parameters) is (m.family == "threshold")
    for name, default in m.params.items():
        assert parameters[name].default is default or parameters[name].default == default


@by_scored
def test_same_as_names_a_measure_that_moves_with_it(m: Any) -> None:
    """Where the catalogue says that a measure is another in disguise, both prefer the same of any two models."""
    named = set(re.findall(r"[a-z][a-z0-9_]+", m.same_as))
    rng = np.random.default_rng(5)
    y = np.repeat([1, 0], [8, 12])
    models = [(rng.permutation(20) + 20 * y * (0.2 + rng.random())) / 50 for _ in range(20)]
    for other in [o for o in SCORED if o.name in named and o is not m]:
        ours, theirs = (
            [round(v if x.better == "higher" else -v, 9) for v in (value(x, y, s) for s in models)] for x in (m, other)
        )
        for a, b in itertools.combinations([k for k in range(20) if not math.isnan(ours[k])], 2):
            assert np.sign(ours[a] - ours[b]) == np.sign(theirs[a] - theirs[b]), f"{m.name} is not {other.name}"


def test_what_is_one_number_under_many_names_is_said() -> None:
    for name in ("gini", "pem", "taks", "average_gain", "linear_ranking"):
        assert "roc_auc" in cl.measure(name).same_as
    assert "average_precision" in cl.measure("average_hit_rate").same_as


@by_scored
def test_unknown_options_are_refused(m: Any) -> None:
    with pytest.raises((cl.InputError, TypeError), match="colour"):
        value(m, [1, 0, 1, 0], [0.9, 0.5, 0.4, 0.1], colour="red")


DEGENERATE = [
    ([0, 0, 0], [0.9, 0.6, 0.2]),
    ([1, 1, 1], [0.9, 0.6, 0.2]),
    ([0, 0], [0.1, 0.2]),
    ([1, 1], [0.1, 0.2]),
    ([1, 0], [0.1, 0.2]),
    ([1, 0], [0.8, 0.9]),
    ([1, 1, 0, 0], [0.5] * 4),
    ([1, 1, 0, 0], [0.7] * 4),
    ([1, 0], [1.0, 0.0]),
    ([0, 1], [1.0, 0.0]),
    ([1], [0.7]),
    ([0], [0.7]),
    ([1], [0.3]),
    ([0], [0.3]),
]


@by_scored
def test_a_measure_is_undefined_where_it_says_so_and_only_there(m: Any) -> None:
    """Some degenerate sample has no value if and only if the declaration says when that is."""
    undefined = []
    for y, s in DEGENERATE:
        try:
            undefined.append(math.isnan(value(m, y, s, n=len(y) - 1)))
        except cl.InputError:
            undefined.append(True)
    assert any(undefined) is bool(m.undefined.strip())


# --- what a declaration says of ties ---------------------------------------------------------------------------

TIED = [random_case(seed, 7, 3) for seed in range(100, 112)]


def mean_over_orders(m: Any, y: np.ndarray, s: np.ndarray) -> float:
    """Mean over all orders of the tied cases, which are moved apart by next to nothing."""
    _, group = np.unique(s, return_inverse=True)
    labels = [list(itertools.permutations(np.flatnonzero(group == g))) for g in range(group.max() + 1)]
    orders = [np.array(list(itertools.chain(*chosen))) for chosen in itertools.product(*labels)]
    apart = s[orders[0]] + 1e-9 * np.arange(len(y))
    seen: dict[bytes, float] = {}
    for order in orders:
        seen.setdefault(y[order].tobytes(), value(m, y[order], apart))
    return float(np.mean([seen[y[order].tobytes()] for order in orders]))


@by_scored
def test_tie_rule(m: Any) -> None:
    """By expectation is the mean over all orders of the tied cases; what counts ties otherwise differs somewhere."""
    if not m.tie_rule:
        return
    assert TIE_RULES[m.tie_rule] in " ".join((getattr(cl, m.name).__doc__ or "").split())
    pairs = [(value(m, y, s), mean_over_orders(m, y, s)) for y, s, _ in TIED]
    defined = [same(*pair, 1e-7) for pair in pairs if not any(map(math.isnan, pair))]
    assert len(defined) > 3
    assert all(defined) is (m.tie_rule == "expectation")


@by_scored
def test_docstring_says_what_an_undefined_value_becomes(m: Any) -> None:
    refused = False
    for y, s in DEGENERATE:
        try:
            value(m, y, s, n=len(y) - 1)
        except cl.InputError:
            refused = True
    if m.undefined or refused:
        becomes = "an error; nan, with the reason, in an evaluation" if refused else "nan"
        assert f"Undefined ({becomes}) if {m.undefined}" in " ".join(getattr(cl, m.name).__doc__.split())


# --- measure strings -------------------------------------------------------------------------------------------


def names_after_evaluation(*strings: str) -> list[str]:
    case = random_case(1, 300, 50)
    ev = cl.evaluate(case.y, case.s, measures=list(strings), interval=None)
    return [row["measure"] for row in ev.to_dicts()]


@pytest.mark.parametrize(
    "text",
    ["pem", "hit_rate@200", "qrecall@5%", "f_beta(beta=2)", "quota_lift@12", "log_loss(base=10)", "qrecall@2.5%"],
)
def test_measure_strings_print_back(text: str) -> None:
    assert names_after_evaluation(text) == [text]


def string_of(m: Any, quota: int) -> str:
    """The shortest measure string: required numbers and the quota, nothing else."""
    if "g" in m.params:
        pytest.skip("has an option that no string can hold")
    required = [f"{name}=2" for name, default in m.params.items() if default is inspect.Parameter.empty]
    return m.name + (f"({', '.join(required)})" if required else "") + (f"@{quota}" if m.needs_quota else "")


@by_scored
def test_the_string_of_every_measure(m: Any) -> None:
    text = string_of(m, 7)
    assert names_after_evaluation(text) == [text]
    for alias in m.aliases:
        assert names_after_evaluation(text.replace(m.name, alias)) == [text]


def test_measure_strings_mean_what_the_functions_mean() -> None:
    y, s, _ = random_case(3, 80, 9)
    ev = cl.evaluate(y, s, measures=["hit_rate@20", "qrecall@25%", "f_beta(beta=2)", "roc_auc"], interval=None)
    assert ev["hit_rate@20"].value == cl.hit_rate(y, s, quota=20)
    assert ev["qrecall@25%"].value == cl.qrecall(y, s, quota=0.25) == cl.qrecall(y, s, quota=20)
    assert ev["f_beta(beta=2)"].value == cl.f_beta(y, s, beta=2)
    assert ev["roc_auc"].value == cl.roc_auc(y, s)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "pem@",
        "hit_rate@x",
        "hit_rate@0",
        "hit_rate@0%",
        "hit_rate@101%",
        "f_beta(beta=)",
        "f_beta(beta=two)",
        "f_beta(2)",
        "f_beta(gamma=2)",
        "roc_auc@5",
        "pem)",
        "(pem",
        "no_such_measure",
        "hit_rate@-3",
        "hit_rate@301",
    ],
)
def test_broken_measure_strings_are_refused(text: str) -> None:
    with pytest.raises(cl.InputError):
        names_after_evaluation(text)


# --- what every measure obeys ----------------------------------------------------------------------------------


@by_scored
def test_row_order_does_not_matter(m: Any) -> None:
    for k, (y, s, _) in enumerate(samples()):
        order = np.random.default_rng(k).permutation(len(y))
        assert same(value(m, y, s), value(m, y[order], s[order]))
        assert same(value(m, y, s), value(m, y[::-1], s[::-1]))


TRANSFORMS = {
    "times a power of two": lambda s: s * 1024,
    "logarithm": np.log,
    "cube of a shift": lambda s: (s - 3) ** 3,
    "ranks": lambda s: np.unique(s, return_inverse=True)[1] - 5,
    "to infinity": lambda s: np.where(s == s.max(), np.inf, np.where(s == s.min(), -np.inf, s)),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@by_ranked
def test_strictly_increasing_transforms_change_nothing(m: Any, transform: str) -> None:
    for y, s, _ in samples():
        moved = np.asarray(TRANSFORMS[transform](s))
        assert np.array_equal(np.unique(s, return_inverse=True)[1], np.unique(moved, return_inverse=True)[1])
        assert same(value(m, y, s), value(m, y, moved))


@by_scored
def test_rank_based_is_said_where_it_holds(m: Any) -> None:
    """A measure that says it is not rank based must show it somewhere."""
    if m.rank_based:
        return
    moved = [not same(value(m, y, s), value(m, y, s**power)) for y, s, _ in samples() for power in (0.1, 2.0, 8.0)]
    assert any(moved)


@by_scored
def test_integer_weight_is_repetition(m: Any) -> None:
    for k, (y, s, _) in enumerate(samples()):
        w = np.random.default_rng(k).integers(1, 5, len(y))
        assert same(value(m, y, s, sample_weight=w), value(m, np.repeat(y, w), np.repeat(s, w), n=len(y)))


@by_scored
def test_zero_weight_is_absence(m: Any) -> None:
    for k, (y, s, _) in enumerate(samples()):
        w = np.random.default_rng(k).choice([0.0, 0.0, 0.7, 2.0], len(y))
        w[np.flatnonzero(y)[0]] = w[np.flatnonzero(1 - y)[0]] = 1.0
        kept = w > 0
        n = int(w.sum())
        assert same(value(m, y, s, n=n, sample_weight=w), value(m, y[kept], s[kept], n=n, sample_weight=w[kept]))


@by_scored
def test_weight_of_one_is_no_weight(m: Any) -> None:
    for y, s, _ in samples():
        assert same(value(m, y, s, sample_weight=np.ones(len(y))), value(m, y, s))


@pytest.mark.parametrize("scale", [1e-6, 0.3, 7.0, 1e6])
@by_scored
def test_weight_scale(m: Any, scale: float) -> None:
    for k, (y, s, _) in enumerate(samples()):
        w = np.random.default_rng(k).random(len(y)) + 0.1
        if m.name in COUNTS_PLACES:  # they count cases, of which there are more or fewer
            return
        expected = value(m, y, s, sample_weight=w)
        assert same(value(m, y, s, sample_weight=w * scale), expected * scale if m.extensive else expected, 1e-10)


@by_scored
def test_extensive_is_said_where_it_holds(m: Any) -> None:
    """Extensive measures grow when every case is there twice, the others need not; threshold ones never do."""
    y, s, _ = random_case(8, 40, 9)
    once, twice = value(m, y, s), value(m, np.tile(y, 2), np.tile(s, 2))
    if m.extensive:
        assert not same(once, twice)
    elif m.name not in COUNTS_PLACES:
        assert same(once, twice)


@by_scored
def test_weights_that_are_not_whole_lie_between_whole_ones(m: Any) -> None:
    """A hair more or less weight changes a hair: what weights mean between whole numbers joins on without a jump."""
    for k, (y, s, _) in enumerate(samples()):
        w = np.random.default_rng(k).integers(1, 5, len(y)).astype(float)
        near = [value(m, y, s, n=len(y), sample_weight=w * (1 + by)) for by in (-1e-9, 0.0, 1e-9)]
        assert same(near[0], near[1], 1e-7)
        assert same(near[2], near[1], 1e-7)


@by_scored
def test_a_row_may_be_cut_into_parts_of_its_weight(m: Any) -> None:
    for k, (y, s, _) in enumerate(samples()):
        w = np.random.default_rng(k).random(len(y)) * 2 + 0.5
        parts = np.concatenate([0.3 * w, 0.7 * w])
        whole = value(m, y, s, sample_weight=w)
        assert same(value(m, np.tile(y, 2), np.tile(s, 2), n=len(y), sample_weight=parts), whole, 1e-10)


def rankings(n_pos: int, n_neg: int) -> list[tuple[int, ...]]:
    """Every order of the labels, best first."""
    n = n_pos + n_neg
    return [tuple(int(i in chosen) for i in range(n)) for chosen in itertools.combinations(range(n), n_pos)]


def scores_for(m: Any, n: int) -> np.ndarray:
    return np.linspace(0.95, 0.05, n)


@pytest.mark.parametrize(("n_pos", "n_neg"), [(1, 4), (3, 3), (4, 2)])
@by_ranked
def test_perfect_and_reversed_ranking(m: Any, n_pos: int, n_neg: int) -> None:
    n = n_pos + n_neg
    s = scores_for(m, n)
    sign = 1 if m.better == "higher" else -1
    all_values = [sign * value(m, list(y), s) for y in rankings(n_pos, n_neg)]
    perfect = sign * value(m, [1] * n_pos + [0] * n_neg, s)
    backward = sign * value(m, [0] * n_neg + [1] * n_pos, s)
    assert perfect >= max(all_values) - 1e-12
    if m.name != "ks_statistic":  # the distance between the curves has no sign
        assert backward <= min(all_values) + 1e-12
        assert perfect > backward or n_pos == 1  # one positive leaves the lower precision-recall area no choice


def perfect_scores(m: Any, y: np.ndarray) -> np.ndarray:
    """A perfect list without ties where the order counts, certainty where the values count."""
    return y + np.linspace(0.4, 0.0, len(y)) if m.rank_based else y.astype(float)


@by_scored
def test_perfect_scores_are_the_best_scores(m: Any) -> None:
    rng = np.random.default_rng(2)
    y = np.repeat([1, 0], [6, 9])
    sign = 1 if m.better == "higher" else -1
    perfect = value(m, y, perfect_scores(m, y))
    if math.isnan(perfect):  # e.g. a correlation within a quota that holds one class
        return
    for _ in range(30):
        other = value(m, y, rng.integers(0, 5, len(y)) / 4)
        assert math.isnan(other) or sign * perfect >= sign * other - 1e-12


# --- what a perfect model and chance give ----------------------------------------------------------------------


def declared(fact: float | str, n_pos: int, n_neg: int, quota: int) -> float:
    """A declared number, or the value of a declared formula."""
    if not isinstance(fact, str):
        return fact
    names = {"n⁺": "n_pos", "n⁻": "n_neg", "−": "-", "·": "*", "log₂": "log2"}
    known = {
        "n": n_pos + n_neg,
        "n_pos": n_pos,
        "n_neg": n_neg,
        "j": quota,
        "H": lambda k: sum(1 / i for i in range(1, k + 1)),
        "log2": math.log2,
        "min": min,
    }
    for sign, name in names.items():
        fact = fact.replace(sign, name)
    return float(eval(fact, {"__builtins__": {}}, known))


SIZES = [(1, 4), (3, 4), (4, 2), (2, 5)]


@pytest.mark.parametrize(("n_pos", "n_neg"), SIZES)
@by_scored
def test_perfect_is_what_perfect_scores_give(m: Any, n_pos: int, n_neg: int) -> None:
    y = np.repeat([1, 0], [n_pos, n_neg])
    s = 4.0 * y - 2.0 if m.name == "hinge_loss" else perfect_scores(m, y)
    for quota in (1, 3, 5) if m.needs_quota else (0,):
        if m.perfect is not None:
            got = value(m, y, s, **({"quota": quota} if quota else {}))
            assert same(got, declared(m.perfect, n_pos, n_neg, quota))


OTHERS_AT_THEIR_BEST: dict[str, Any] = {
    "hand_till_auc": lambda f: f(list("aabc"), np.eye(3)[[0, 0, 1, 2]]),
    "top_t_accuracy": lambda f: f(list("aabc"), np.eye(3)[[0, 0, 1, 2]]),
    "risk_coverage_area": lambda f: f(list("aabc"), np.eye(3)[[0, 0, 1, 2]]),
    "mean_average_precision": lambda f: f(list("aabc"), np.eye(3)[[0, 0, 1, 2]]),
    "ranked_probability_score": lambda f: f(list("aabc"), np.eye(3)[[0, 0, 1, 2]]),
    "triplet_loss": lambda f: f([[1.0, 0.0]], [[1.0, 0.0]], [[-1.0, 0.0]], margin=2.0),
}


@pytest.mark.parametrize("name", OTHERS_AT_THEIR_BEST)
def test_perfect_of_measures_of_other_shapes(name: str) -> None:
    assert OTHERS_AT_THEIR_BEST[name](getattr(cl, name)) == cl.measure(name).perfect


@pytest.mark.parametrize(("n_pos", "n_neg"), SIZES)
@by_scored
def test_chance_is_the_mean_over_all_orders(m: Any, n_pos: int, n_neg: int) -> None:
    if m.chance is None:
        return
    for quota in (1, 3, 5) if m.needs_quota else (0,):
        more = {"quota": quota} if quota else {}
        values = [value(m, list(y), scores_for(m, n_pos + n_neg), **more) for y in rankings(n_pos, n_neg)]
        assert same(float(np.mean(values)), declared(m.chance, n_pos, n_neg, quota))


def signs(latex: str) -> set[str]:
    """The letters and names in a formula, without what only sets it."""
    bare = re.sub(
        r"\\(frac|tfrac|sum|int|sqrt|max|min|mathrm|left|right|cdot|quad|Big|mid|begin\{cases\}|end\{cases\})",
        " ",
        latex,
    )
    return set(re.findall(r"\\?[A-Za-z]+", bare)) - {r"\le", r"\ge", r"\ne", r"\ldots", "d"}


@by_name
def test_the_signs_of_every_formula_are_explained(m: Any) -> None:
    texts = runpy.run_path(str(Path(__file__).parents[1] / "docs" / "site_texts.py"))
    assert signs(m.latex) <= {sign for said in (*texts["SYMBOLS"], *texts["CLASS_SYMBOLS"]) for sign in signs(said)}


@by_scored
def test_range(m: Any) -> None:
    low, high = m.range
    tried = [*samples(), *(random_case(20 + k, n, lv) for k, (n, lv) in enumerate([(1, 1), (2, 2), (3, 3), (9, 2)]))]
    for n_pos, n_neg in ((1, 1), (1, 3), (3, 1), (2, 2)):
        tried += [Case(np.array(y), scores_for(m, n_pos + n_neg)) for y in rankings(n_pos, n_neg)]
        tried += [Case(np.array(y), np.round(scores_for(m, n_pos + n_neg), 0)) for y in rankings(n_pos, n_neg)]
    for y, s, _ in tried:
        try:
            got = value(m, y, s)
        except cl.InputError:  # one class, where the definition needs a prior
            continue
        assert math.isnan(got) or low - 1e-12 <= got <= high + 1e-12, (y, s)


@by_scored
def test_the_best_end_of_the_range_is_reached(m: Any) -> None:
    """A finite best value is reached, or approached, by perfect scores in a short or in a long list."""
    best = m.range[1] if m.better == "higher" else m.range[0]
    best = m.perfect if m.name == "partial_auc" else best  # its range is as wide as the part that is read
    if not math.isfinite(best) or m.name == "hinge_loss":  # distances of 0 and 1 are not perfect
        return
    gaps = []
    for half in (1, 400):
        y = np.repeat([1, 0], [half, half])
        more = {"quota": half} if m.needs_quota else {}
        gaps.append(abs(value(m, y, perfect_scores(m, y), **more) - best))
    assert all(math.isnan(gap) for gap in gaps) or np.nanmin(gaps) <= 0.01


@by_scored
def test_scalar_is_vectorised(m: Any) -> None:
    """The same lines work on one sample and on many at once: one row of sums for each."""
    if m.part == "ranking":
        pytest.skip("reads the ranking itself")
    spec = make_spec(m, {"quota": 9} if m.needs_quota else options(m, 30))
    (reading,) = plan_sweeps((spec,), 30)
    drawn = [random_case(seed, 30, 5 + seed) for seed in range(8)]
    vectors = np.stack([sweep(rank(make_sample(y, s)), reading.request) for y, s, _ in drawn])
    (together,) = reading.values(vectors)
    said = {"quota": 9} if m.needs_quota else {}
    assert np.shape(together) == (8,)
    assert all(same(float(a), value(m, y, s, **said)) for a, (y, s, _) in zip(together, drawn, strict=True))


@by_scored
def test_input_is_left_as_it_was(m: Any) -> None:
    y, s, _ = random_case(4, 50, 8)
    w = np.random.default_rng(0).random(50)
    before = y.copy(), s.copy(), w.copy()
    value(m, y, s)
    value(m, y, s, sample_weight=w)
    assert all(np.array_equal(a, b) for a, b in zip(before, (y, s, w), strict=True))


@by_scored
def test_the_evaluation_gives_what_the_function_gives(m: Any) -> None:
    for y, s, _ in samples():
        name = string_of(m, len(y) // 3 + 1)
        ev = cl.evaluate(y, s, measures=[name], interval=None)
        assert same(ev[name].value, value(m, y, s), 1e-13)


@pytest.mark.parametrize("family", ["threshold", "probability", "ranking", "quota", "other"])
def test_measures_of_one_family(family: str) -> None:
    chosen = cl.measures(family)
    assert chosen
    assert [m.name for m in chosen] == [m.name for m in MEASURES if m.family == family]


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("one", [m for m in cl.measures("probability") if m.proper is not None], ids=lambda m: m.name)
def test_proper_losses_are_best_at_the_true_probabilities(one: cl.Measure, n: int) -> None:
    """The expected value of reporting q for n cases of probability p, over all numbers of positives among them."""
    grid = np.linspace(0.02, 0.98, 49)
    options = {"prior": 0.4} if "prior" in one.params else {"alpha": 0.3} if "alpha" in one.params else {}
    options = {} if one.name == "focal_loss" else options
    sign = 1 if one.better == "higher" else -1
    outcomes = [[1] * k + [0] * (n - k) for k in range(n + 1)]
    values = sign * np.array([[getattr(cl, one.name)(y, [q] * n, **options) for y in outcomes] for q in grid])
    best = []
    for p in (0.1, 0.3, 0.7):
        chance = [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
        best.append(abs(grid[int(np.argmax(values @ chance))] - p) < 1e-9)
    assert all(best) is one.proper
    assert one.proper or one.name == "calibration_error" or not any(best)  # 0 for every forecast near the share
    assert ("yes" if one.proper else "no") == one.propriety.partition(":")[0]
    assert "Proper: " in getattr(cl, one.name).__doc__
