"""One rule for each option: every public function refuses a bad value of it in one sentence that names the option."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest

import cutline as cl
from cutline.validate import RULES, check_quota, check_whole, checked

Y, P = [1, 0, 1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1, 0.7, 0.3]
FRAME = {"y": Y, "p": P, "q": P[::-1]}
X = np.array(P)[:, None]
TWO = np.column_stack([1 - X, X])  # a column of scores for each class
WHOLE = [0, -3, 1.5, "3", True, math.nan, None]
UNIT_OPEN = [0.0, 1.0, -0.5, 95, "0.9", math.nan, None]
UNIT = [-0.1, 1.1, "a", math.nan, True]
AMOUNT = [-1.0, math.inf, "2", math.nan, True]

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
    "portions": [7, *WHOLE],
    "n_jobs": [0, 1.5, "all", True],
    "threshold": ["0.5", math.nan, True, [0.5]],
    "quota": [0, -2, 0.0, 1.0, 1.5, "5", "five", math.nan, True, [3]],
    "margin": AMOUNT,
    "cost": AMOUNT,
    "value": AMOUNT,
    "fixed_cost": AMOUNT,
    "budget": AMOUNT,
    "recall": UNIT,
    "precision": UNIT,
    "specificity": UNIT,
    "fpr": UNIT,
    "ties": ["lucky", 1, "", ["random"]],
    "interval": ["guess", 3, ["wilson"]],
    "paired": ["no", 1],
    "stratify": ["no", 1],
    "progress": ["no", 1],
    "normalize": ["no", 1],
    "marginal": ["no", 1],
    "carry": ["no", 1],
    "method": ["guess", 3],
}


class Estimator:
    """Fits nothing; scores by its first column."""

    classes_ = np.array([0, 1])

    def fit(self, x: Any, y: Any) -> Estimator:
        return self

    def predict_proba(self, x: Any) -> Any:
        return np.column_stack([1 - x[:, 0], x[:, 0]])


# a call that works, for every function of which an option has a rule
CALLS: dict[str, dict[str, Any]] = {
    "audit": {"y_score": P, "label": Y, "inclusion": 1.0},
    "label_plan": {"y_score": P, "budget": 3, "measure": "qrecall@2"},
    "bootstrap": {"statistic": lambda y, s, w: 0.0, "y_true": Y, "y_score": P},
    "bootstrap_oob": {"estimator": Estimator(), "X": X, "y": Y},
    "compare": {"y_true": Y, "scores": {"a": P, "b": P[::-1]}},
    "compare_classes": {"y_true": Y, "models": {"a": TWO, "b": TWO[::-1]}},
    "compare_segments": {"y_true": Y, "scores": {"a": P, "b": P[::-1]}, "segment": Y},
    "compare_classes_table": {"source": "no.csv", "label": "y", "scores": ["a_*", "b_*"]},
    "compare_table": {"source": FRAME, "label": "y", "scores": ["p", "q"]},
    "evaluate": {"y_true": Y, "y_score": P},
    "evaluate_classes": {"y_true": Y, "score_matrix": TWO},
    "evaluate_classes_table": {"source": "no.csv", "label": "y", "score": "p_*"},
    "evaluate_cv": {"estimator": Estimator(), "X": X, "y": Y},
    "evaluate_segments": {"y_true": Y, "y_score": P, "segment": Y},
    "evaluate_table": {"source": FRAME, "label": "y", "score": "p"},
    "extrapolate": {"scores": np.eye(3), "labels": [0, 1, 2]},
    "extrapolate_cost": {
        "scores": [[3, 1, 2], [1, 3, 2], [1, 2, 3]],
        "labels": [0, 1, 2],
        "cost": 1 - np.eye(3),
        "k": 6,
    },
    "extrapolate_open_set": {"scores": np.eye(3), "labels": [0, 1, 2], "strangers": np.eye(3) / 2, "k": 6},
    "extrapolate_pairs": {"genuine": P, "impostor": P, "k": 6},
    "extrapolate_training": {"estimator": Estimator(), "X": X, "y": Y, "sizes": [2, 3]},
    "extrapolate_training_growth": {"estimator": Estimator(), "X": X, "y": Y, "sizes": [2, 3], "cases": [1, 2]},
    "label_permutation_test": {"y_true": Y, "y_score": P},
    "lift_table": {"y_true": Y, "y_score": P},
    "misclassification_decomposition": {"y_true": Y, "y_score": P, "true_probability": P},
    "permutation_test": {"estimator": Estimator(), "X_train": X, "y_train": Y, "X_test": X, "y_test": Y},
    "plan": {"y_true": Y, "y_score": P},
    "proportion_interval": {"successes": 3, "n": 5},
    "screen": {"y_true": Y, "stages": [(P, 3)]},
    "select": {"y_score": P, "quota": 2},
    "selection_power": {"simulate": lambda rng, n: (P, Y), "models": {"a": lambda x: x, "b": lambda x: x}},
    "selective_voting": {"y_true": Y, "models": {"a": P, "b": P[::-1]}},
    "selector_differences": {"y_true": Y, "first_score": P, "second_score": P[::-1]},
    "swap_test": {"y_true": Y, "first": P, "second": P[::-1]},
    "threshold_for": {"y_true": Y, "y_score": P},
    "triage": {"y_true": Y, "y_score": P, "capacity": 2},
    "triplet_loss": {"anchor": [[1.0, 0.0]], "positive": [[1.0, 0.0]], "negative": [[0.0, 1.0]], "margin": 0.5},
    "triplet_loss_estimate": {
        "anchor": [[1.0, 0.0]] * 2,
        "positive": [[1.0, 0.0]] * 2,
        "negative": [[0.0, 1.0]] * 2,
        "margin": 0.5,
    },
}
# "5", "5%" and "20-60" are quotas there
QUOTA_AS_TEXT = {"compare", "compare_table", "evaluate", "evaluate_table"}
QUOTA_AS_TEXT |= {"compare_segments", "evaluate_segments"}
QUOTA_AS_TEXT |= {"audit", "hit_rate", "qrecall", "quota_lift", "quota_pearson"}
FUNCTIONS = {
    name: function for name in cl.__all__ if callable(function := getattr(cl, name)) and not inspect.isclass(function)
}
CASES = [
    (name, option)
    for name, function in FUNCTIONS.items()
    for option in inspect.signature(function).parameters
    if option in BAD
]


def call_of(name: str) -> dict[str, Any]:
    function = FUNCTIONS[name]
    if hasattr(function, "measure"):
        return {"y_true": Y, "y_score": P, **({"quota": 2} if function.measure.needs_quota else {})}
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
        if name in QUOTA_AS_TEXT and option == "quota" and value == "5":
            continue
        with pytest.raises(cl.InputError, match=option) as refused:
            function(**{**call_of(name), option: value})
        assert "\n" not in str(refused.value)


def test_the_walk_knows_every_rule() -> None:
    assert set(RULES) <= set(BAD)
    assert {option for _, option in CASES} >= set(BAD) - {"confidence", "carry"}  # those are of methods alone


def test_methods_check_their_options_too() -> None:
    ev = cl.evaluate(Y, P, interval=None)
    for option in ("quota", "threshold", "recall", "precision", "fpr", "specificity"):
        for value in BAD[option]:
            with pytest.raises(cl.InputError, match=option):
                ev.at(**{option: value})
    for value in BAD["portions"]:
        with pytest.raises(cl.InputError, match="portions"):
            ev.lift_table(portions=value)
    for value in UNIT_OPEN:
        with pytest.raises(cl.InputError, match="level"):
            ev.curve("roc").band(level=value)


def test_rules_give_plain_python_values() -> None:
    @checked
    def options(*, seed: int = 0, level: float = 0.95, quota: int | float | None = None) -> tuple[Any, ...]:
        return seed, level, quota

    kinds = [type(value) for value in options(seed=np.int32(3), level=np.float32(0.5), quota=np.int64(3))]
    assert kinds == [int, float, int]
    assert options() == (0, 0.95, None)
    assert check_quota(np.float64(0.25)) == 0.25
    assert check_whole(np.int16(3), "n", 1, 3) == 3
