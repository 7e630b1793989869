"""The NumPy passes, which executors without numba take, give what the compiled ones give."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cutline
from cutline.engines.draws import poisson_table
from cutline.kernels import passes, plain, plain_streams, streams

CLOSE = {"rtol": 1e-12, "atol": 1e-12}
BOTH = ((passes, streams), (plain, plain_streams))


@st.composite
def pieces(draw: Any) -> dict[str, Any]:
    """A piece of a ranking with what comes before it; counts, large ties, or weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 120))
    weighted = draw(st.booleans())
    largest = draw(st.sampled_from([1, 2, 300]))
    pos, neg = (rng.integers(0, largest + 1, n) * (rng.random(n) < share) for share in (0.5, 0.8))
    neg[pos + neg == 0] = 1
    before = [int(v) for v in rng.integers(0, 50, 2)] if draw(st.booleans()) else [0, 0]
    after = rng.integers(0, 3, 2)
    if weighted:
        pos, neg, before = pos * rng.random(n), neg * rng.random(n) + 0.01, [float(v) for v in before]
    score = rng.random(n) if draw(st.booleans()) else rng.normal(size=n) * 2
    return {
        "pos": pos,
        "neg": neg,
        "score": np.sort(score)[::-1].copy(),
        "before": before,
        "totals": (before[0] + pos.sum().item() + after[0].item(), before[1] + neg.sum().item() + after[1].item() + 1),
        "weighted": weighted,
        "rng": rng,
    }


def both(name: str, *arguments: Any, width: int = 0, of_stream: bool = False) -> list[Any]:
    """What each of the twins gives, or writes into its last argument."""
    results = []
    for modules in BOTH:
        function = getattr(modules[of_stream], name)
        if width:
            out = np.zeros(width)
            function(*arguments, out)
            results.append(out)
        else:
            results.append(function(*arguments))
    return results


@settings(max_examples=150, deadline=None)
@given(pieces())
def test_sums_of_a_piece(piece: dict[str, Any]) -> None:
    pos, neg, score = piece["pos"], piece["neg"], piece["score"]
    (a, b), (n_pos, n_neg) = piece["before"], piece["totals"]
    end, step = (float(a + b) - 0.5, 1.0) if a else (0.0, 0.0)
    found = {
        "sum_pairs": both("sum_pairs", pos, neg, a, n_pos, width=2),
        "sum_gaps": both("sum_gaps", pos, neg, a, b, n_pos, n_neg, width=2),
        "sum_precision": both("sum_precision", pos, neg, float(a), float(b), end, step, width=7),
        "last_positive_group": both("last_positive_group", pos, neg),
        "placement_moments": both("placement_moments", pos, neg, a, b, max(n_pos, 1), n_neg, of_stream=True),
    }
    whole, cases = not piece["weighted"], n_pos + n_neg
    found["sum_places"] = both("sum_places", pos, neg, a, b, n_pos, cases, whole, np.empty(0), width=5)
    if whole:
        table = plain.harmonic_table(cases)
        found["by table"] = both("sum_places", pos, neg, a, b, n_pos, cases, whole, table, width=5)
    for name, (one, other) in found.items():
        np.testing.assert_allclose(other, one, err_msg=name, **CLOSE)
    for gamma, prior in ((2.0, float("nan")), (1.5, 0.3)):
        if gamma != 2.0 and not (0 <= score.min() and score.max() <= 1):
            continue  # of distances no focal loss is read
        with np.errstate(all="ignore"):
            logs = np.log(score), np.log1p(-score)
        arguments = (score, *logs, pos, neg, (float(np.log(1e-5)), gamma, prior), (float(n_pos), float(n_neg)))
        one, other = both("sum_losses", *arguments, width=9)
        np.testing.assert_allclose(other, one, **CLOSE)


@settings(max_examples=150, deadline=None)
@given(pieces(), st.integers(0, 5))
def test_hull_and_moments(piece: dict[str, Any], cases: int) -> None:
    pos, neg = piece["pos"], piece["neg"]
    (x, y, used), (x2, y2, used2) = both("hull_of_groups", pos, neg, *piece["before"])
    if piece["weighted"]:  # nearly collinear points may go or stay
        area, area2 = passes.twice_area(x, y, used), passes.twice_area(x2, y2, used2)
        assert area2 == pytest.approx(area, rel=1e-12)
    else:
        assert (x2[:used2].tolist(), y2[:used2].tolist()) == (x[:used].tolist(), y[:used].tolist())
    carried = piece["rng"].random(5) if cases else np.zeros(5)
    results = []
    for module in (passes, plain):
        moments = carried.copy()
        module.add_moments(piece["score"], pos, neg, float(cases), 0.5, moments)
        results.append(moments)
    np.testing.assert_allclose(results[1], results[0], **CLOSE)


def test_a_hull_that_takes_many_rounds_is_finished_point_by_point(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    pos, neg = rng.integers(0, 9, 500), rng.integers(1, 9, 500)
    whole = plain.hull_of_groups(pos, neg, 0, 0)
    monkeypatch.setattr(plain, "_HULL_ROUNDS", 1)
    short = plain.hull_of_groups(pos, neg, 0, 0)
    assert short[0].tolist() == whole[0].tolist()


@settings(max_examples=100, deadline=None)
@given(pieces(), st.booleans(), st.booleans())
def test_groups_of_rows(piece: dict[str, Any], is_open: bool, joins: bool) -> None:
    rng, n = piece["rng"], len(piece["pos"])
    score = np.sort(np.round(rng.random(n), 1))[::-1].copy()
    positive, weight = (rng.random(n) < 0.5).astype(np.uint8), rng.random(n) + 0.01
    dtype = piece["pos"].dtype
    ways: list[tuple[str, tuple[Any, ...], Any, bool]] = [
        ("group_groups", (piece["pos"], piece["neg"]), dtype, False),
        ("group_rows", (positive,), np.int64, True),
        ("group_weights", (positive, weight), np.float64, True),
    ]
    for name, columns, kind, counts in ways:
        results = []
        for _, module in BOTH:
            out = np.zeros(n + 1), np.zeros(n + 1, kind), np.zeros(n + 1, kind)
            out[0][0], out[1][0], out[2][0] = score[0] if joins else 2.0, 3, 1
            rows = [np.zeros(n + 1, np.int64)] if counts else []
            used = getattr(module, name)(score, *columns, is_open, *out, *rows)
            results.append((used, [column[:used] for column in (*out, *rows)]))
        assert results[0][0] == results[1][0], name
        for one, other in zip(results[0][1], results[1][1], strict=True):
            np.testing.assert_allclose(other, one, err_msg=name, **CLOSE)
    if n > 3:
        score[2] = 5.0
        out = np.zeros(n + 1), np.zeros(n + 1, dtype), np.zeros(n + 1, dtype)
        for _, module in BOTH:
            assert module.group_groups(score, piece["pos"], piece["neg"], False, *out) == -3


@settings(max_examples=150, deadline=None)
@given(pieces(), st.sampled_from([0.0, 0.03, 0.3]), st.integers(0, 4), st.integers(0, 3))
def test_blocks(piece: dict[str, Any], tolerance: float, n_marks: int, n_cuts: int) -> None:
    rng, n = piece["rng"], len(piece["pos"])
    totals = np.array(piece["totals"], dtype=np.float64)
    marks = np.sort(rng.integers(0, int(totals.sum()) + 1, n_marks)).astype(np.float64)
    cuts = np.sort(rng.choice(piece["score"], n_cuts) + rng.choice([0.0, 0.01], n_cuts))[::-1].copy()
    answers = []
    for _, module in BOTH:
        state, start, told = np.zeros(7), float(sum(piece["before"])), []
        for part in (slice(0, n // 2), slice(n // 2, n)):
            score, pos, neg = (piece[name][part] for name in ("score", "pos", "neg"))
            if len(score):
                out, block = np.zeros((len(score) + 1, 5)), np.zeros(len(score), np.int64)
                arguments = (score, pos, neg, start, totals, tolerance, marks, cuts, state, out, block)
                done = module.into_blocks(*arguments)
                told.append((out[:done], block, state.copy()))
                start += float(pos.sum() + neg.sum())
        answers.append(told)
    for one, other in zip(*answers, strict=True):
        for mine, yours in zip(one, other, strict=True):
            np.testing.assert_allclose(yours, mine, **CLOSE)


@pytest.mark.parametrize("weighted", [False, True])
def test_draws(weighted: bool) -> None:
    rng = np.random.default_rng(1)
    rows = rng.integers(1, 4, 40)
    place = np.append(np.sort(rng.integers(1, 9, 39)), 0)  # blocks, and the group that is still open
    n = int(rows.sum())
    row, positive = rng.integers(0, 2**40, n), (rng.random(n) < 0.4).astype(np.uint8)
    weight = rng.random(n) if weighted else np.empty(0)
    results = []
    for _, module in BOTH:
        counts = np.zeros((12, 2, 24), np.float64 if weighted else np.uint32)
        for first, last in ((0, 8), (8, 24)):
            module.draw_rows(row, positive, weight, rows, place, 7, poisson_table(), first, last, counts)
        results.append(counts)
    np.testing.assert_allclose(results[1], results[0], **CLOSE)


def test_poisson_weights_have_the_poisson_distribution() -> None:
    from scipy.stats import poisson

    share = np.bincount(poisson_table(), minlength=12)[:12] / 2**16
    np.testing.assert_allclose(share, poisson.pmf(np.arange(12), 1.0), atol=2**-16)


def test_what_runs_on_executors_imports_neither_numba_nor_scipy_nor_duckdb() -> None:
    code = """
import sys
for name in ("numba", "scipy", "duckdb", "narwhals", "click", "rich", "pandas", "pyspark"):
    sys.modules[name] = None
import numpy as np
from cutline.engines import spark_work
from cutline.engines.stream import Totals
from cutline.catalogue.compute import plan_sweeps
from cutline.catalogue.declare import parse_measure
from cutline.kernels.backend import compiled
assert not compiled()
texts = ["roc_auc", "pem", "average_precision", "auch", "log_loss", "ks_statistic", "quota_pearson@2"]
readings = plan_sweeps([parse_measure(text) for text in texts], 4)
task = spark_work.Task(Totals(4, 2, 2, 2, 0.1, 0.9), readings, 0.0, [1, 2, 3, 4], (8, 0))
stream = spark_work._stream(task, spark_work.Range(0, (0, 0), (2, 2)))
score, positive = np.array([0.9, 0.5, 0.5, 0.1]), np.array([1, 0, 1, 0], np.uint8)
stream.feed(score, positive, None, np.arange(4))
told = stream.result()
assert told.part.blocks[:, 2].sum() == 2 and not told.compiled
assert told.part.counts.shape == (3, 2, 8)
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=120)


def test_the_package_runs_from_a_zip_file(tmp_path: Path) -> None:
    """As Spark ships it to executors: as a file on the path, not installed."""
    source = Path(cutline.__file__).parent
    with zipfile.ZipFile(tmp_path / "cutline.whl", "w") as wheel:
        for file in (f for f in source.rglob("*") if f.suffix in (".py", ".pyi")):
            wheel.write(file, file.relative_to(source.parent))
    code = """
import sys
sys.path.insert(0, sys.argv[1])
import cutline, cutline.engines.spark_work
assert cutline.__file__.startswith(sys.argv[1]), cutline.__file__
assert cutline.roc_auc([1, 0, 1], [0.9, 0.5, 0.7]) == 1.0
"""
    run = [sys.executable, "-W", "error", "-c", code, str(tmp_path / "cutline.whl")]
    subprocess.run(run, check=True, timeout=300, cwd=tmp_path)


def test_without_numba_what_has_no_twin_is_refused_with_the_remedy(tmp_path: Path) -> None:
    program = """
import sys
sys.modules["numba"] = None
import numpy as np
import cutline as cl

rng = np.random.default_rng(0)
y, s, k = rng.integers(0, 2, 300), rng.random(300), rng.integers(0, 3, 300)
ev = cl.evaluate(y, s)
print(ev["roc_auc"].value == cl.roc_auc(y, s), bool(ev.calibration()))
print(cl.evaluate_classes(k, y_pred=rng.permutation(k))["accuracy"].low > 0)
for work in (
    lambda: ev.to_html(sys.argv[1]),
    lambda: ev.plot("roc"),
    lambda: cl.evaluate_classes(k, rng.dirichlet(np.ones(3), 300)),
    lambda: cl.evaluate_classes(k, y_pred=k, interval="bootstrap"),
):
    try:
        work()
    except cl.InputError as error:
        print("pip install numba" in str(error))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "page.html")], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["True"] * 7, done.stderr
