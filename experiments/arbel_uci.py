"""Arbel & Rokach, section 4.3: 20 UCI sets × decision tree, naive Bayes, neural network, trained here.

scikit-learn's learners stand in for Weka's, so the printed values are compared with the spread over splits: seed 1 is
the paper's own split, the others are Weka's with other seeds.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cutline as cl
from arbel_scores import PRINTED, TABLES
from report import against_spread, row
from uci import DataSet, weka_split

MODELS = ("C4.5", "NB", "NN")
MEASURES = {
    "AUC": cl.roc_auc,
    "average hit rate": cl.average_hit_rate,
    "average Qrecall": cl.average_qrecall,
    "PEM": cl.pem,
}
LEAST_SPREAD = 0.005  # a few splits may agree by luck; other learners than Weka's cannot agree better than this
Floats = NDArray[np.float64]


def _prepared(data: DataSet, train: NDArray[np.intp]) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Numeric inputs with medians for gaps, their standardised form, and nominal inputs as codes (one for missing)."""
    numeric = data.numeric.copy()
    for column in numeric.T:
        known = column[train][~np.isnan(column[train])]
        column[np.isnan(column)] = np.median(known) if len(known) else 0.0
    spread = numeric[train].std(axis=0)
    scaled = (numeric - numeric[train].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    codes = np.array([np.unique(column, return_inverse=True)[1] for column in data.nominal.T]).T
    return numeric, scaled, codes.reshape(len(data), -1).astype(np.int64)


def _one_hot(codes: NDArray[np.int64]) -> Floats:
    blocks = [np.eye(column.max() + 1)[column] for column in codes.T]
    return np.hstack(blocks) if blocks else np.empty((len(codes), 0))


def scores(data: DataSet, model: str, train: NDArray[np.intp], test: NDArray[np.intp], seed: int) -> Any:
    """Class probabilities on the test rows, and the classes they belong to."""
    from sklearn.naive_bayes import CategoricalNB, GaussianNB
    from sklearn.neural_network import MLPClassifier
    from sklearn.tree import DecisionTreeClassifier

    numeric, scaled, codes = _prepared(data, train)
    y = data.label[train]
    if model == "NB":
        joint, prior = 0.0, None
        if numeric.shape[1]:
            gaussian = GaussianNB(var_smoothing=1e-6).fit(numeric[train], y)
            joint, prior = joint + gaussian.predict_joint_log_proba(numeric[test]), np.log(gaussian.class_prior_)
            classes = gaussian.classes_
        if codes.shape[1]:
            sizes = codes.max(axis=0) + 1
            discrete = CategoricalNB(min_categories=sizes).fit(codes[train], y)
            joint, classes = joint + discrete.predict_joint_log_proba(codes[test]), discrete.classes_
            joint = joint - (prior if prior is not None else 0.0)  # the class's own share counts once
        top = joint - joint.max(axis=1, keepdims=True)
        return np.exp(top) / np.exp(top).sum(axis=1, keepdims=True), classes
    inputs = np.hstack([numeric if model == "C4.5" else scaled, _one_hot(codes)])
    if model == "C4.5":  # at least two cases in a leaf, as C4.5 has it, and its splits by information
        learner: Any = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=seed)
    else:  # Weka's width: half of inputs and classes
        width = max(2, (inputs.shape[1] + len(np.unique(y))) // 2)
        how = {"activation": "logistic", "learning_rate_init": 0.01, "max_iter": 300}
        learner = MLPClassifier((width,), random_state=seed, **how)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a network that has not converged is as good as Weka's after its 500 epochs
        learner.fit(inputs[train], y)
    return learner.predict_proba(inputs[test]), learner.classes_


def judge(data: DataSet, splits: int, seed: int) -> list[dict[str, Any]]:
    """One set: every model on every split, both classes, all four measures."""
    sizes = dict(zip(*np.unique(data.label, return_counts=True), strict=True))
    found = []
    for split in range(splits):
        train, test = weka_split(len(data), 1 + split + (seed if split else 0))
        y = data.label[test]
        there = [c for c in sizes if 0 < (y == c).sum() < len(y) and (data.label[train] == c).any()]
        # Among classes of one size the paper's iris rows show the last as smallest and the first as largest.
        chosen = {"smallest": min(there[::-1], key=lambda c: sizes[c]), "largest": max(there, key=lambda c: sizes[c])}
        for model in MODELS:
            table, classes = scores(data, model, train, test, seed)
            for which, positive in chosen.items():
                s = table[:, list(classes).index(positive)]
                values = {name: function(y == positive, s) for name, function in MEASURES.items()}
                found.append({"set": data.name, "class": which, "split": split, "model": model, **values})
    return found


def rows(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tables 8 and 9 beside the mean and spread over splits."""
    table = []
    for name in dict.fromkeys(one["set"] for one in found):
        for which, place in TABLES.items():
            for model in MODELS:
                runs = [one for one in found if (one["set"], one["class"], one["model"]) == (name, which, model)]
                for measure, printed in PRINTED[place]["rows"][name][model].items():
                    values = np.array([one[measure] for one in runs])
                    mean, spread, verdict = float(values.mean()), None, "not judged: one split has no spread"
                    if len(values) > 1:
                        spread = round(float(values.std(ddof=1)), 4)
                        verdict = against_spread(float(printed), mean, max(spread, LEAST_SPREAD), len(values))
                    what = f"{name}, {which}, {model}: {measure}"
                    table.append(row(what, printed, round(mean, 4), spread, verdict, first_split=float(values[0])))
    return table


def choices(found: list[dict[str, Any]], first: str, second: str) -> tuple[int, list[str]]:
    """On how many set-class-splits two measures can be compared, and those on which no model is best by both."""
    compared, apart = 0, []
    for key in dict.fromkeys((one["set"], one["class"], one["split"]) for one in found):
        runs = [one for one in found if (one["set"], one["class"], one["split"]) == key]
        best = [{one["model"] for one in runs if one[m] >= max(r[m] for r in runs) - 1e-12} for m in (first, second)]
        compared += 1
        if not best[0] & best[1]:
            apart.append(f"{key[0]} ({key[1]}, split {key[2] + 1})")
    return compared, apart
