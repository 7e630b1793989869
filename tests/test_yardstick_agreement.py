"""Several classes give what yardstick documents for its data set hpc_cv, where the definitions are the same.

The data are those of the R packages yardstick and modeldata (MIT): 3,467 out-of-fold predictions of a linear
discriminant analysis for four classes of computing times. Printed values are from yardstick's README, its vignette on
metric types and its own tests, where they name HandTill2001, mclust and orf as their sources.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import log_loss

import cutline as cl

CLASSES = ["VF", "F", "M", "L"]


@pytest.fixture(scope="module")
def hpc() -> dict[str, Any]:
    with np.load(Path(__file__).parent / "golden" / "hpc_cv.npz") as stored:
        return {name: stored[name] for name in stored}


def evaluated(hpc: dict[str, Any], rows: Any) -> cl.results.ClassEvaluation:
    y = np.array(CLASSES)[hpc["obs"][rows]]
    measures = ["accuracy", "macro(precision)", "micro(precision)", "hand_till_auc"]
    measures += ["brier_score(half=True)", "ranked_probability_score"]
    return cl.evaluate(y, hpc["scores"][rows], classes=CLASSES, measures=measures, interval=None)


def test_all_folds(hpc: dict[str, Any]) -> None:
    ev = evaluated(hpc, np.full(3467, True))
    assert ev["macro(precision)"].value == pytest.approx(0.631, abs=5e-4)  # README
    assert ev["micro(precision)"].value == pytest.approx(0.709, abs=5e-4)  # README
    assert ev["brier_score(half=True)"].value == pytest.approx(0.21083946, abs=5e-9)  # mclust::BrierScore
    assert ev["ranked_probability_score"].value == pytest.approx(0.08566779, abs=5e-9)  # orf:::rps


def test_the_log_loss_is_scikit_learns_in_nats(hpc: dict[str, Any]) -> None:
    y, p = np.array(CLASSES)[hpc["obs"]], hpc["scores"]
    name = "log_loss(base=2.718281828459045)"
    ours = cl.evaluate(y, p, classes=CLASSES, measures=[name], interval=None)[name].value
    assert ours == pytest.approx(log_loss(y, p[:, np.argsort(CLASSES)]), abs=1e-12)


def test_some_folds(hpc: dict[str, Any]) -> None:
    assert evaluated(hpc, hpc["fold"] == 1)["accuracy"].value == pytest.approx(0.726, abs=5e-4)  # vignette
    later = evaluated(hpc, hpc["fold"] >= 6)
    assert later["hand_till_auc"].value == pytest.approx(0.827387699597311, abs=1e-12)  # HandTill2001::auc
    incomplete = np.arange(3467) >= 2
    assert evaluated(hpc, incomplete)["brier_score(half=True)"].value == pytest.approx(0.21095817, abs=5e-9)
    assert evaluated(hpc, incomplete)["ranked_probability_score"].value == pytest.approx(0.08571614, abs=5e-9)


def test_the_area_of_each_pair_keeps_the_direction_of_its_scores() -> None:
    """yardstick's example where pROC would turn pairs around."""
    y = np.array(list("cccddadcaadbdadadd"))
    p = np.array(
        [
            [0.5, 0.4, 0.8, 0.5, 0.8, 1, 0.8, 0, 0.5, 2 / 3, 0, 1, 0.4, 1 / 6, 0.4, 0.8, 0.5, 0.6],
            [0, 0.2, 0, 0, 0, 0, 0, 0.6, 0, 1 / 3, 0, 0, 0, 5 / 6, 0.6, 0, 0, 0],
            [0, 0.2, 0, 0, 0, 0, 0, 0.2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            [0.5, 0.2, 0.2, 0.5, 0.2, 0, 0.2, 0.2, 0.5, 0, 1, 0, 0.6, 0, 0, 0.2, 0.5, 0.4],
        ]
    ).T
    ev = cl.evaluate(y, p, measures=["hand_till_auc"], interval=None)
    assert ev["hand_till_auc"].value == pytest.approx(0.5890625, abs=1e-12)


def test_a_class_without_cases_is_not_left_out() -> None:
    """yardstick leaves it out with a warning and says ½; here the area is not defined, and the reason says why."""
    p = np.array([[0.8, 0.1, 0.1], [0.5, 0.1, 0.4], [0.6, 0.1, 0.3]])
    ev = cl.evaluate(["x", "x", "z"], p, classes=["x", "y", "z"], measures=["hand_till_auc"])
    assert np.isnan(ev["hand_till_auc"].value)
    assert ev["hand_till_auc"].reason == "class 'y' has no cases"
    assert cl.evaluate(["x", "x", "z"], p[:, [0, 2]], measures=["hand_till_auc"])["hand_till_auc"].value == 0.5
