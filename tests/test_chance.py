"""What chance gives, against the mean over all orders of small lists and over random orders of long ones."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from click.testing import CliRunner

import cutline as cl
from cutline.commands.group import cli
from samples import quietly

RANKED = [
    m.name for m in cl.measures() if m.of_one_score and m.rank_based and m.name not in ("ranking_score", "bedroc")
]
OPTIONS = [
    "partial_auc(fpr=0.3)",
    "partial_auc(tpr=0.6, standardized=True)",
    "h_measure(severity=0.4)",
    "ndcg@3",
    "bedroc(alpha=20)",
    *(f"{name}(zero_recall_precision=1)" for name in ("pr_auc_min", "pr_auc_minmax", "pr_auc_max")),
]


@pytest.mark.parametrize("name", [*RANKED, *OPTIONS])
@pytest.mark.parametrize(("n_pos", "n_neg"), [(3, 4), (1, 6), (5, 2)])
def test_chance_is_the_mean_over_all_orders(name: str, n_pos: int, n_neg: int) -> None:
    n = n_pos + n_neg
    named = f"{name}@3" if name in ("hit_rate", "qrecall", "quota_lift") else name
    values = []
    for found in itertools.combinations(range(n), n_pos):
        y = np.isin(np.arange(n), found)
        values.append(quietly(cl.evaluate, y, -np.arange(n), measures=[named], interval=None)[named].value)
    close = 1e-4 if name.startswith("h_measure") else 1e-9  # costs are integrated by quadrature
    assert cl.chance_level(named, n_pos, n_neg) == pytest.approx(np.mean(values), rel=close)


@pytest.mark.parametrize("name", ["precision", "recall", "accuracy", "matthews_correlation", "f1", "youden_index"])
def test_chance_at_a_threshold_keeps_what_is_taken(name: str) -> None:
    values = []
    for found in itertools.combinations(range(7), 3):
        y = np.isin(np.arange(7), found)
        values.append(getattr(cl, name)(y, 0.7 - 0.1 * np.arange(7), threshold=0.45))
    assert cl.chance_level(name, 3, 4, taken=3) == pytest.approx(np.mean(values))
    with pytest.raises(cl.InputError, match="taken is missing"):
        cl.chance_level(name, 3, 4)


@pytest.mark.parametrize("name", ["ks_statistic", "max_youden_index", "auch", "h_measure"])
def test_long_lists_have_the_mean_over_random_orders(name: str) -> None:
    rng = np.random.default_rng(1)
    y, s = np.repeat([1, 0], [150, 850]), np.arange(1000.0)
    values = np.array([getattr(cl, name)(rng.permutation(y), s) for _ in range(500)])
    level = cl.chance_level(name, 150, 850)
    assert abs(level - values.mean()) < 3.5 * values.std() / np.sqrt(500)


def test_short_and_long_lists_agree_where_they_meet() -> None:
    """The limit with its correction takes over from the recursion without a jump."""
    short, long = cl.chance_level("ks_statistic", 40, 100), cl.chance_level("ks_statistic", 40, 101)
    assert 0.0 < short - long < 0.003


def test_what_has_no_level_raises() -> None:
    for name in ("brier_score", "quota_pearson@5", "calibration_error"):
        with pytest.raises(cl.InputError, match="depends on the scores"):
            cl.chance_level(name, 10, 10)
    with pytest.raises(cl.InputError, match="taken does not go with roc_auc"):
        cl.chance_level("roc_auc", 10, 10, taken=3)


def test_averages_on_the_scale_from_chance_to_perfect() -> None:
    y = np.repeat([1, 0], [10, 40])
    for name in ("average_qrecall", "average_hit_rate", "pem", "ks_statistic", "hit_rate@10"):
        assert cl.chance_adjusted(name, y, y) == pytest.approx(1.0)
    rng = np.random.default_rng(0)
    for name in ("average_qrecall", "average_hit_rate", "ks_statistic"):
        values = [cl.chance_adjusted(name, y, rng.random(50)) for _ in range(200)]
        assert abs(np.mean(values)) < 4 * np.std(values) / np.sqrt(200)


def test_the_command_line_prints_chance_perfect_value_and_caution() -> None:
    told = json.loads(CliRunner().invoke(cli, ["measures", "average_qrecall", "--format", "json"]).stdout)
    assert (told["perfect"], told["chance"], told["caution"]) == (1.0, "(n + n⁺) / (2·n)", "")
    text = CliRunner().invoke(cli, ["measures", "ks_statistic"]).stdout
    assert "chance     0.090 for 100 positives among 1,000 cases" in text
    assert "caution" in CliRunner().invoke(cli, ["measures", "calibration_error"]).stdout
