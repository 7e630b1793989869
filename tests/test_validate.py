"""One rule for each option: every public function refuses a bad value of it in one sentence that names the option."""

from __future__ import annotations

import inspect
import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import cutline as cl
import cutline.extrapolation
import cutline.papers
import cutline.sklearn
from cutline.papers import selection_power, selective_voting
from cutline.sklearn import evaluate_cv
from cutline.validate import RULES, check_quota, check_whole, checked
from test_results import EVERY

Y, P = [1, 0, 1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1, 0.7, 0.3]
FRAME = {"y": Y, "p": P, "q": P[::-1]}
X = np.array(P)[:, None]
TWO = np.column_stack([1 - X, X])  # a column of scores for each class
THREE = np.array([[3.0, 1.0, 2.0], [1.0, 3.0, 2.0], [1.0, 2.0, 3.0]])
WHOLE = [0, -3, 1.5, "3", True, math.nan, None, 10**30]
NO_NUMBER = ["0.5", math.nan, True, [0.5], 1j, np.complex64(0.5), 10**400, np.array(3)]
UNIT_OPEN = [0.0, 1.0, -0.5, 95, None, *NO_NUMBER]
UNIT = [-0.1, 1.1, *NO_NUMBER]
AMOUNT = [-1.0, math.inf, *NO_NUMBER]
FLAG = ["no", "", 0, 1]
LIST = [3, [], "pem", np.array(3)]
COLUMN = [["y"], [], 3]
# what names one column of a table, and by several; elsewhere they are columns themselves
COLUMNS = ("label", "weight", "clusters", "batch", "by")

# None is refused wherever it is not the default
BAD: dict[str, list[Any]] = {
    "seed": [-1, 1.5, "0", True, math.nan, None, 2**63],
    "level": UNIT_OPEN,
    "confidence": UNIT_OPEN,
    "n_resamples": [1, *WHOLE],
    "n_permutations": WHOLE,
    "n_rounds": WHOLE,
    "n_sets": WHOLE,
    "set_size": WHOLE,
    "portions": [70, *WHOLE],
    "n_jobs": [0, 1.5, "all", True, 10**30],
    "threshold": NO_NUMBER,
    "quota": [0, -2, 0.0, 1.0, 1.5, "5x", "five", math.nan, True, [3], 10**30, 10**400],
    "list_size": [x for x in WHOLE if x is not None],
    "margin": AMOUNT,
    "cost": AMOUNT,
    "value": AMOUNT,
    "budget": AMOUNT,
    "recall": UNIT,
    "precision": UNIT,
    "specificity": UNIT,
    "fpr": UNIT,
    "ties": ["lucky", 1, "", ["random"]],
    "cut_by": ["amount", 1, "", ["score"], np.arange(2), None],
    "interval": ["guess", 3, ["wilson"]],
    "method": ["guess", 3],
    "missing": ["abc", 3, "", None],
    "prevalence": [0.0, 1.0, -1, 1.5, *NO_NUMBER],
    "name": [3, []],
    "k": ["abc", [3, "x"], -1, 0, math.nan, math.inf, 10**400],
    "temp_directory": [3, []],
    "decimal": ["x", "", 3, [","], np.array([",", "."])],
    "models": [3, {}, "ab", [P], np.array([None])],
    "indent": [-1, 1.5, "2", [2], 10**30],
    **dict.fromkeys(("bins", "points"), WHOLE),
    **dict.fromkeys(("classes", "order", "marks"), LIST),
    "measures": [3, "pem", np.array(3)],  # none at all is an evaluation for cuts and curves
    **{option: FLAG for option, rule in RULES.items() if rule is RULES["progress"]},
    **dict.fromkeys(COLUMNS, COLUMN),
    "by": [[], 3, [3]],
}


class Estimator(BaseEstimator):
    """Fits nothing; scores by its first column."""

    classes_ = np.array([0, 1])

    def fit(self, x: Any, y: Any) -> Estimator:
        return self

    def predict_proba(self, x: Any) -> Any:
        return np.column_stack([1 - x[:, 0], x[:, 0]])

    def predict(self, x: Any) -> Any:
        return np.asarray(x[:, 0] > 0.5, dtype=int)


# a call that works, for every function of which an option has a rule
CALLS: dict[str, dict[str, Any]] = {
    "label_plan": {"y_score": P, "budget": 3, "measure": "qrecall@2"},
    "doctor": {"source": "no.csv"},
    "bootstrap_oob": {"estimator": Estimator(), "X": X, "y": Y},
    "compare": {"y_true": Y, "scores": {"a": P, "b": P[::-1]}},
    "compare classes": {"y_true": Y, "scores": {"a": TWO, "b": TWO[::-1]}},
    "compare segments": {"y_true": Y, "scores": {"a": P, "b": P[::-1]}, "by": Y},
    "compare classes_table": {"y_true": "no.csv", "label": "y", "score": ["a_*", "b_*"]},
    "compare _table": {"y_true": FRAME, "label": "y", "score": ["p", "q"]},
    "evaluate": {"y_true": Y, "y_score": P},
    "evaluate inclusion": {"y_true": Y, "y_score": P, "inclusion": 1.0},
    "evaluate classes": {"y_true": Y, "y_score": TWO},
    "evaluate classes_table": {"y_true": "no.csv", "label": "y", "score": "p_*"},
    "evaluate_cv": {"estimator": Estimator(), "X": X, "y": Y, "cv": 3},
    "evaluate segments": {"y_true": Y, "y_score": P, "by": Y},
    "evaluate _table": {"y_true": FRAME, "label": "y", "score": "p"},
    "extrapolate": {"scores": THREE, "labels": [0, 1, 2]},
    "extrapolate costs": {"scores": THREE, "labels": [0, 1, 2], "costs": 1 - np.eye(3), "k": 6},
    "extrapolate review": {"scores": THREE, "labels": [0, 1, 2], "review": 0.5, "k": 6},
    "hand_till_auc": {"y_true": Y, "score_matrix": TWO},
    "lift_table": {"y_true": Y, "y_score": P},
    "mean_average_precision": {"y_true": Y, "score_matrix": TWO},
    "misclassification_decomposition": {"y_true": Y, "y_score": P, "true_probability": P},
    "permutation_test": {"estimator": Estimator(), "X_train": X, "y_train": Y, "X_test": X, "y_test": Y},
    "merge_counts": {
        "counts": [{"p": [0.2, 0.9], "pos": [1, 3], "n": [5, 4]}],
        "score": "p",
        "positives": "pos",
        "rows": "n",
    },
    "plan": {"y_true": Y, "y_score": P},
    "proportion_interval": {"successes": 3, "n": 5},
    "ranked_probability_score": {"y_true": Y, "score_matrix": TWO},
    "risk_coverage_area": {"y_true": Y, "score_matrix": TWO},
    "screen": {"y_true": Y, "stages": [(P, 3)]},
    "select": {"y_score": P, "quota": 2},
    "selection_power": {"simulate": lambda rng, n: (P, Y), "models": {"a": lambda x: x, "b": lambda x: x}},
    "selective_voting": {"y_true": Y, "models": {"a": P, "b": P[::-1]}},
    "selector_differences": {"y_true": Y, "first_score": P, "second_score": P[::-1]},
    "sql": {"table": "t", "label": "y", "score": "p", "dialect": "postgres"},
    "threshold_for": {"y_true": Y, "y_score": P},
    "uplift": {"treated": Y, "outcome": P, "y_score": P},
    "top_t_accuracy": {"y_true": Y, "score_matrix": TWO},
    "triplet_loss": {"anchor": [[1.0, 0.0]], "positive": [[1.0, 0.0]], "negative": [[0.0, 1.0]], "margin": 0.5},
}
FUNCTIONS = {
    name: function
    for room in (cl, cutline.papers, cutline.extrapolation, cutline.sklearn)
    for name in room.__all__
    if callable(function := getattr(room, name)) and not inspect.isclass(function)
}
FUNCTIONS |= {name: getattr(cl, name.split()[0]) for name in CALLS if " " in name}  # other ways to call the verbs
# what methods need besides
ALSO_NEEDED: dict[str, dict[str, Any]] = {
    "accuracy": {"k": 9},
    "cheapest": {"cost_fp": 1, "cost_fn": 2},
    "classes_needed": {"half_width": 0.1},
    "of": {"label": 0},
    "rank_measure": {"measure": "mean_rank"},
}
OBJECTS = {name: make for name, make in EVERY.items() if " " not in name}


def options_of(name: str, function: Any) -> list[str]:
    """The options of a function that have a rule; a name that says what to look up is no option."""
    found = inspect.signature(function).parameters
    known = {n: p for n, p in found.items() if n in BAD and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    columns = set() if name.endswith("_table") else set(COLUMNS)  # elsewhere they are columns themselves
    return [n for n, p in known.items() if n not in columns and (n != "name" or p.kind is p.KEYWORD_ONLY)]


CASES = [(name, option) for name, function in FUNCTIONS.items() for option in options_of(name, function)]


def call_of(name: str) -> dict[str, Any]:
    function = FUNCTIONS[name]
    if name in CALLS:
        return CALLS[name]
    if hasattr(function, "measure"):
        own = {"quota": 2} if function.measure.needs_quota else {"worth": P} if function.measure.of_worth else {}
        return {"y_true": Y, "y_score": P, **own}
    return CALLS[name]


@pytest.mark.parametrize(("name", "option"), CASES, ids=[f"{name}-{option}" for name, option in CASES])
def test_every_public_function_refuses_bad_options(name: str, option: str) -> None:
    function = FUNCTIONS[name]
    default = inspect.signature(function).parameters[option].default
    for value in BAD[option]:
        if value is None and default is None:
            continue
        if name == "extrapolate" and option == "method":
            continue  # a method of your own may be passed
        if name == "screen" and value == [0.5]:
            continue  # a price for each stage
        refuses(function, option, {**call_of(name), option: value})


def refuses(function: Any, option: str, options: dict[str, Any]) -> None:
    with pytest.raises(cl.InputError, match=option) as refused:
        function(**options)
    assert refused.value.argument in (option, None)
    assert "\n" not in str(refused.value)


def test_the_walk_knows_every_rule() -> None:
    assert set(RULES) <= set(BAD)
    of_methods = {
        "confidence",
        "indent",
        "list_size",
        "simultaneous",
        "pooled",
        "bins",
        "points",
        "order",
    }
    assert {option for _, option in CASES} >= set(BAD) - of_methods


@pytest.mark.parametrize("name", OBJECTS)
def test_every_method_of_a_result_refuses_bad_options(name: str) -> None:
    result = OBJECTS[name]()
    for method, function in inspect.getmembers(type(result), inspect.isfunction):
        if method.startswith("_") or method == "fit_task" or not function.__module__.startswith("cutline"):
            continue
        for option in options_of(method, function):
            default = inspect.signature(function).parameters[option].default
            for value in (one for one in BAD[option] if not (one is None and default is None)):
                if (method, value) == ("of", "5"):
                    continue
                needed = {
                    n: v for n, v in ALSO_NEEDED.get(method, {}).items() if n in inspect.signature(function).parameters
                }
                refuses(getattr(result, method), option, {**needed, option: value})


def test_a_refusal_names_the_argument_that_was_given() -> None:
    models = {"a": P, "b": P[::-1]}
    compared = cl.compare(Y, models, interval=None)
    classes = {"source": "no.csv", "label": "y"}
    for call, words in [
        (lambda: cl.select(P, 2, batch=[1]), "batch has 1 row but y_score has 6; pass one value per case"),
        (lambda: selective_voting(Y, models, rank_by="zz"), "rank_by is 'zz', which is not in the catalogue"),
        (
            lambda: selective_voting(Y, models, choose_by="zz"),
            "choose_by is 'zz', which is not in the catalogue",
        ),
        (lambda: selective_voting(Y, models, marks=["zz"]), "marks is 'zz', which is not in the catalogue"),
        (lambda: selection_power(Y, models, goal="zz"), "goal is 'zz', which is not in the catalogue"),
        (lambda: cl.plan(Y, P, quota=3, sample_weight=[0.001] * 6), "sample_weight adds up to 0.006 cases"),
        (
            lambda: selection_power(Y, models, ["pem"], quota=11, set_size=10),
            "quota is 11; it must be from 1 to",
        ),
        (lambda: cl.evaluate(**classes, score=3), "score must be a list, got 3"),
        *(
            (lambda name=name: getattr(compared, name)("x", "b"), "there is no model 'x'; choose from 'a', 'b'")
            for name in ("swaps",)
        ),
    ]:
        with pytest.raises(cl.InputError) as refused:
            call()  # type: ignore[no-untyped-call]
        assert str(refused.value).startswith(words)


@pytest.mark.parametrize("argument", ["score", "predicted"])
def test_columns_of_several_classes_are_named_in_a_list(argument: str, tmp_path: Path) -> None:
    path = tmp_path / "classes.csv"
    path.write_text("y,p_a,p_b,p_c\n" + "a,.5,.3,.2\nb,.2,.5,.3\nc,.1,.2,.7\n" * 3, encoding="utf-8")
    for value, words in {
        3: "score must be a list, got 3" if argument == "score" else "predicted must be the name of a column, got 3",
        (3, 4): f"{argument} must be the name of a column, got 3",
    }.items():
        with pytest.raises(cl.InputError) as refused:
            cl.compare(path, label="y", **{argument: value})  # type: ignore[arg-type]
        assert str(refused.value) == words


def test_rules_give_plain_python_values() -> None:
    @checked
    def options(*, seed: int = 0, level: float = 0.95, quota: int | float | None = None) -> tuple[Any, ...]:
        return seed, level, quota

    kinds = [type(value) for value in options(seed=np.int32(3), level=np.float32(0.5), quota=np.int64(3))]
    assert kinds == [int, float, int]
    assert options() == (0, 0.95, None)
    assert check_quota(np.float64(0.25)) == 0.25
    assert [check_quota(text) for text in ("5", " 5% ", "2.5 %")] == [5, 0.05, 0.025]
    assert check_whole(np.int16(3), "n", 1, 3) == 3


def test_wrong_types_are_refused_by_name() -> None:
    ev, cmp = cl.evaluate(Y, P, n_resamples=9), cl.compare(Y, {"a": P, "b": P[::-1]}, n_resamples=9)
    for refused, said in (
        (lambda: cl.screen(Y, 5), "stages is 5"),
        (lambda: ev[[1]], "measure must be a string"),
        (lambda: cmp[[1]], r"there is no \[1\] in it; choose from 'a', 'b'"),
        (lambda: cl.plan(Y, P, n_resamples=9).to_json(indent=[2]), "indent must be"),
        (lambda: cmp.differences.to_json(indent=10**30), "indent must be"),
        (lambda: cmp.dominance(by=np.array(["quota", "fpr"])), "by is array.*; choose one of quota, fpr"),
        *(
            (partial(cl.evaluate, "no.csv", label="y", score="p", temp_directory=folder), "temp_directory cannot")
            for folder in ("\0", "\ud800")
        ),
        *((partial(cl.evaluate, FRAME, label="y", score="p", encoding=e), "encoding is") for e in ("\0", "zlib", 3)),
        (lambda: selection_power(lambda rng: 1, {"a": len}), "simulate does not take two arguments"),
        (lambda: selection_power(lambda rng, n: 1, {"a": len}), "simulate gives 1; return the cases"),
        (
            lambda: selection_power(lambda rng, n: (P, Y), lambda: {"a": len}),
            "models does not take one argument",
        ),
        (lambda: selection_power(lambda rng, n: (P, Y), lambda rng: 3), "models is 3; pass at least one"),
        (lambda: cl.compare(np.array(3), {"a": P, "b": P}), "model 'a': y_true has shape"),
        (lambda: cl.bootstrap_oob(Estimator(), X, P, n_resamples=9), "y contains more than two labels"),
        (lambda: cl.evaluate({1: Y, 2: P}, label="y", score="p"), "no column .y. for the label; it has"),
        (lambda: cl.evaluate({"y": 0.5, "p": P}, label="y", score="p"), "column 'y' is 0.5; give"),
        (lambda: cl.Cut.load(True), "path must be a path, got True"),
        (lambda: cmp["x"], "there is no 'x' in it; choose from 'a', 'b'"),
        (lambda: ev["pem"].to_dict([1]), "name must be text"),
        (lambda: cmp.differences.column({}), "name is {}; choose one of 'a', 'b'"),
        (lambda: cl.measures(np.array(["quota"] * 2)), "family is array"),
        (lambda: evaluate_cv(int, X, Y), "estimator is <class 'int'>; pass an estimator of scikit-learn"),
        (lambda: evaluate_cv(Estimator(), X, Y, cv=5), "scikit-learn cannot split the rows: n_splits=5"),
        (lambda: evaluate_cv(Estimator(), X, Y, cv=[[0.5, 0.5]]), "cv is .*; give a number of folds"),
        (lambda: selective_voting(Y, {"a": P}, order_on={1, 2}), "order_on is {1, 2}; pass a pair"),
    ):
        with pytest.raises(cl.InputError, match=said):
            refused()
