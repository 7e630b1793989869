"""Counts in place of rows: the same values and intervals, and certain bounds where scores come in buckets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import cutline as cl
from cutline.commands.group import cli

pd = pytest.importorskip("pandas")


def rows_of(n: int = 600, k: int = 40, seed: int = 1) -> Any:
    """Rows with ties, in three segments and on twelve days."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    p = np.clip(np.round((y * 0.2 + rng.random(n) * 0.8) * k) / k, 0, 1)
    return pd.DataFrame({"y": y, "p": p, "site": rng.choice(list("abc"), n), "day": rng.integers(0, 12, n)})


def counts_of(rows: Any, *by: str) -> Any:
    """The counts of rows, in no order."""
    counts = rows.groupby(["p", *by]).y.agg(["sum", "size"]).reset_index()
    counts = counts.rename(columns={"sum": "pos", "size": "n"})
    counts["neg"] = counts.n - counts.pos
    return counts.sample(frac=1, random_state=0)


def check_same(counted: Any, plain: Any) -> None:
    """The same values to 1e-12, and the same intervals to 1e-9, by the same methods."""
    assert list(counted.specs) == list(plain.specs)
    for key in plain.specs:
        one, two = counted[key], plain[key]
        assert one.method == two.method
        for end, close in (("value", 1e-12), ("low", 1e-9), ("high", 1e-9)):
            assert getattr(one, end) == pytest.approx(getattr(two, end), rel=close, abs=close, nan_ok=True), (key, end)


ROWS = {"positives": "pos", "rows": "n"}
BOTH = {"positives": "pos", "negatives": "neg"}


@pytest.mark.parametrize("n", [600, 6000])  # drawn row by row, and by blocks
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"quota": 50, "seed": 3},
        {"quota": "20-60"},
        {"threshold": 0.3},
        {"interval": "bootstrap"},
        {"interval": "bca"},
        {"stratify": True},
        {"prevalence": (0.1, 0.01)},
    ],
    ids=str,
)
def test_values_and_intervals_are_those_of_the_rows(n: int, options: dict[str, Any]) -> None:
    rows = rows_of(n)
    plain = cl.evaluate(rows.y, rows.p, **options)
    check_same(cl.evaluate(counts_of(rows), score="p", **ROWS, **options), plain)
    check_same(cl.evaluate(counts_of(rows), score="p", **BOTH, **options), plain)


def test_segments_and_batches() -> None:
    rows = rows_of()
    for by in (["site"], ["site", "day"]):
        how: dict[str, Any] = {"by": by[:1], "batch": "day" if len(by) > 1 else None, "quota": 5}
        plain = cl.evaluate(rows, label="y", score="p", **how)
        counted = cl.evaluate(counts_of(rows, *by), score="p", **ROWS, **how)
        check_same(counted, plain)
        for site in plain.segments:
            check_same(counted.segments[site], plain.segments[site])
        one, two = (pd.DataFrame(ev.segments.at(quota=5).to_dicts()) for ev in (counted, plain))
        pd.testing.assert_frame_equal(one, two, rtol=1e-9)
        one, two = (ev.segments.differences().to_pandas() for ev in (counted, plain))
        pd.testing.assert_frame_equal(one, two, rtol=1e-9)
    plain = cl.evaluate(rows, label="y", score="p", batch="day", quota=5)
    counted = cl.evaluate(counts_of(rows, "day"), score="p", **ROWS, batch="day", quota=5)
    check_same(counted, plain)
    assert counted.at(quota=5).next_hits == plain.at(quota=5).next_hits


def test_what_follows_from_an_evaluation(tmp_path: Any) -> None:
    rows = rows_of(6000)
    plain = cl.evaluate(rows.y, rows.p)
    counted = cl.evaluate(counts_of(rows), score="p", **ROWS, name="model")
    assert counted.calibration().to_dict() == plain.calibration().to_dict()
    assert counted.at(quota=100).to_dict() == pytest.approx(plain.at(quota=100).to_dict(), nan_ok=True)
    assert float(counted.cut(recall=0.8, confidence=0.9)) == float(plain.cut(recall=0.8, confidence=0.9))
    for name in ("roc", "gain", "precision_recall"):
        one, two = (ev.curve(name).band() for ev in (counted, plain))
        np.testing.assert_allclose(one.low, two.low, atol=1e-12)
    assert counted.with_measures("f1")["f1"].value == plain.with_measures("f1")["f1"].value
    prices = {"cost": 2, "value": 9}
    one, two = cl.plan(counts_of(rows), score="p", **ROWS, **prices), cl.plan(rows.y, rows.p, **prices)
    assert (one.quota, one.profit.value) == (two.quota, two.profit.value)
    assert one.profit.low == pytest.approx(two.profit.low, rel=1e-9)
    goal = {"cost_fp": 1, "cost_fn": 4}
    one, two = cl.threshold_for(counts_of(rows), score="p", **BOTH, **goal), cl.threshold_for(rows.y, rows.p, **goal)
    assert float(one) == float(two)
    assert "counts of" in counted.facts["understood"]
    counted.to_html(tmp_path / "page.html")
    assert "<html" in (tmp_path / "page.html").read_text()


def test_a_thousand_million_cases_cost_nothing() -> None:
    table = {"p": np.arange(1, 1000) / 1000, "pos": np.arange(1, 1000) * 1000, "n": np.full(999, 1_000_000)}
    ev = cl.evaluate(table, score="p", **ROWS, quota=1000)
    assert ev.facts["rows"] == 999_000_000
    assert ev["roc_auc"].value == pytest.approx(0.833, abs=1e-3)
    assert 0 < ev["roc_auc"].high - ev["roc_auc"].low < 1e-4
    ev.calibration()
    ev.curve("roc").band()
    with pytest.raises(cl.InputError, match="one by one"):
        ev.decision_curve()


BAD = [
    ({"pos": [1, -1], "n": [2, 3]}, ROWS, "negative"),
    ({"pos": [1, 0.5], "n": [2, 3]}, ROWS, "not a whole number"),
    ({"pos": [1, 4], "n": [2, 3]}, ROWS, "4 positives among 3 cases"),
    ({"pos": [0, 0], "n": [0, 0]}, ROWS, "zero in every row"),
    ({"pos": [1, 1], "n": [2, 3]}, {"positives": "pos"}, "goes with another count"),
    ({"pos": [1, 1], "n": [2, 3]}, {"rows": "n"}, "positives is missing"),
    ({"pos": [1, 1], "n": [2, 3], "neg": [1, 2]}, ROWS | BOTH, "not with both"),
    ({"pos": [1, 1], "n": [2, 3]}, ROWS | {"clusters": "p"}, "counts do not show which cases belong together"),
    ({"pos": [1, 1], "n": [2, 3]}, ROWS | {"label": "p"}, "does not go with counts"),
    ({"pos": [1, 1], "n": [2, 3]}, ROWS | {"weight": "n"}, "does not go with counts"),
]


@pytest.mark.parametrize(("columns", "options", "words"), BAD, ids=[words for *_, words in BAD])
def test_bad_counts(columns: dict[str, Any], options: dict[str, Any], words: str) -> None:
    with pytest.raises(cl.InputError, match=words):
        cl.evaluate({"p": [0.2, 0.8], **columns}, score="p", **options)


def run(*arguments: str) -> Any:
    """The command line's answer."""
    return CliRunner().invoke(cli, arguments)


def test_command_line(tmp_path: Any) -> None:
    rows = rows_of()
    (tmp_path / "rows.csv").write_text(rows.to_csv(index=False))
    (tmp_path / "counts.csv").write_text(counts_of(rows).to_csv(index=False))
    counted = [str(tmp_path / "counts.csv"), "--score", "p", "--positives", "pos", "--rows", "n"]
    plain = [str(tmp_path / "rows.csv"), "--label", "y", "--score", "p"]
    for command, *more in (
        ["evaluate", "--quota", "50"],
        ["evaluate", "--recall", "0.8"],
        ["plan", "--cost", "1", "--value", "4"],
        ["cut", "--recall", "0.8"],
        ["evaluate", "--calibration"],
    ):
        one, two = run(command, *counted, *more), run(command, *plain, *more)
        assert one.exit_code == 0, one.output
        assert one.stdout == two.stdout
    assert run("check", *counted, "AUC >= 0.5").exit_code == 0
    assert "counts do not show" in run("evaluate", *counted, "--cluster", "p").output
    assert "does not go with counts" in run("evaluate", *counted, "--label", "p").output
