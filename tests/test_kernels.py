"""The compiled passes give what their plain meaning in NumPy gives; nothing is written out of bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plain_kernels as plain
from cutline import ranking
from cutline.inference.resampling import Resampler, quantile_tables
from cutline.kernels import compiled
from cutline.kernels.layout import AT, CUT, FIELDS, LOSSES, SLICE, harmonic_table
from cutline.ranking import rank
from cutline.sources.arrays import make_sample
from cutline.sweep import LossOptions, SumsRequest
from samples import random_case

CLOSE = {"rtol": 1e-12, "atol": 1e-12}
BOTH = (compiled, plain)


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


def both(name: str, *arguments: Any, width: int = 0) -> list[Any]:
    """What each of the twins gives, or writes into its last argument."""
    results = []
    for module in BOTH:
        function = getattr(module, name)
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
        "sum_groups": both("sum_groups", pos, neg, width=4),
        "placement_moments": both("placement_moments", pos, neg, a, b, max(n_pos, 1), n_neg),
    }
    whole, cases = not piece["weighted"], n_pos + n_neg
    found["sum_places"] = both("sum_places", pos, neg, a, b, n_pos, cases, np.empty(0), width=5)
    if whole:
        table = harmonic_table(cases)
        found["by table"] = both("sum_places", pos, neg, a, b, n_pos, cases, table, width=5)
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
        area, area2 = plain.twice_area(x, y, used), plain.twice_area(x2, y2, used2)
        assert area2 == pytest.approx(area, rel=1e-12)
    else:
        assert (x2[:used2].tolist(), y2[:used2].tolist()) == (x[:used].tolist(), y[:used].tolist())
    carried = piece["rng"].random(5) if cases else np.zeros(5)
    results = []
    for module in BOTH:
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
        ("group_rows", (positive, None), np.int64, True),
        ("group_rows", (positive, weight), np.float64, True),
    ]
    for name, columns, kind, counts in ways:
        results = []
        for module in BOTH:
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
        for module in BOTH:
            assert module.group_groups(score, piece["pos"], piece["neg"], False, *out) == -3


@settings(max_examples=150, deadline=None)
@given(pieces(), st.sampled_from([0.0, 0.03, 0.3]), st.integers(0, 4), st.integers(0, 3))
def test_blocks(piece: dict[str, Any], tolerance: float, n_marks: int, n_cuts: int) -> None:
    rng, n = piece["rng"], len(piece["pos"])
    totals = np.array(piece["totals"], dtype=np.float64)
    marks = np.sort(rng.integers(0, int(totals.sum()) + 1, n_marks)).astype(np.float64)
    cuts = np.sort(rng.choice(piece["score"], n_cuts) + rng.choice([0.0, 0.01], n_cuts))[::-1].copy()
    answers = []
    for module in BOTH:
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
    for module in BOTH:
        counts = np.zeros((12, 2, 24), np.float64 if weighted else np.uint32)
        for first, last in ((0, 8), (8, 24)):
            module.draw_rows(row, positive, weight, rows, place, 7, quantile_tables()[0], first, last, counts)
        results.append(counts)
    np.testing.assert_allclose(results[1], results[0], **CLOSE)


def test_poisson_weights_have_the_poisson_distribution() -> None:
    from scipy.stats import poisson

    share = np.bincount(quantile_tables()[0], minlength=12)[:12] / 2**16
    np.testing.assert_allclose(share, poisson.pmf(np.arange(12), 1.0), atol=2**-16)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10_000), st.sampled_from([2, 5, 12, 10_000]), st.booleans(), st.sampled_from(["expected", "best"])
)
def test_replicates_have_the_same_bits_in_numpy(seed: int, levels: int, clustered: bool, ties: Any) -> None:
    case = random_case(seed, 40, levels)
    sample = make_sample(case.y, case.s)
    ranking = rank(sample)
    clusters = np.arange(40) % 9 if clustered else None
    resampler = Resampler(sample, ranking, stratified=not clustered, clusters=clusters, seed=seed)
    request = SumsRequest(losses=(LossOptions(), LossOptions(prior=0.2)), thresholds=(0.3, 0.5), quotas=(1, 7, 40))
    found = []
    for module in BOTH:
        with pytest.MonkeyPatch.context() as patch:
            for name in ("resample", "leave_out"):
                patch.setattr(compiled, name, getattr(module, name))
            found.append((resampler.vectors(request, 12, ties), resampler.left_out(request, ties)))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_rankings_are_the_same_in_numpy() -> None:
    rng = np.random.default_rng(0)
    for n, distinct in ((1, 9), (2, 9), (30, 9), (30, 1), (50, 2), (400, 1000)):
        pos, neg = np.sort(rng.integers(0, distinct, n) / 8), np.sort(rng.integers(0, distinct, 2 * n) / 8 + (n == 400))
        for one, other in ((pos, neg), (pos, neg[:0]), (pos[:0], neg)):
            *first, used = compiled.merge_sorted(one, other)
            *second, count = plain.merge_sorted(one, other)
            assert used == count
            for a, b in zip(first, second, strict=True):
                np.testing.assert_array_equal(a[:used], b[:used])


SHAPES = {
    "uniform": lambda rng, n: rng.random(n),
    "logistic": lambda rng, n: rng.logistic(size=n),
    "normal": lambda rng, n: rng.normal(size=n),
    "t2": lambda rng, n: rng.standard_t(2, size=n),
    "lognormal": lambda rng, n: rng.lognormal(sigma=3, size=n),
    "clumped": lambda rng, n: rng.integers(0, 20, n) + 1e-9 * rng.normal(size=n),
    "few distinct": lambda rng, n: rng.integers(0, 5, n) / 4,
    "sorted": lambda rng, n: np.sort(rng.normal(size=n)),
    "reversed": lambda rng, n: -np.sort(rng.normal(size=n)),
    "nearly sorted": lambda rng, n: np.sort(rng.normal(size=n)) + (rng.random(n) < 0.01),
    "rounded": lambda rng, n: np.round(rng.random(n), 4),
    "integers": lambda rng, n: rng.integers(-(2**53), 2**53, n).astype(float),
    "all exponents": lambda rng, n: rng.integers(0, 2**64, n, np.uint64).view(float),
    # one more digit at each division of the range, so that every bucket has nearly all of the rest
    "nested": lambda rng, n: 10.0 ** -rng.geometric(0.5, n) * rng.choice([-1.0, 1.0, 1.0 + 2**-40], n),
    "far outliers": lambda rng, n: np.where(rng.random(n) < 1e-3, rng.normal(size=n) * 1e300, rng.random(n) * 1e-300),
    "periodic": lambda rng, n: np.where(np.arange(n) % max(1, n // 8192) == 0, 1e9 * rng.random(n), rng.random(n)),
}


@settings(max_examples=120, deadline=None)
@given(st.sampled_from(sorted(SHAPES)), st.sampled_from([np.float32, np.float64]), st.integers(0, 2**32), st.data())
def test_the_sort_gives_the_values_of_numpy(shape: str, kind: Any, seed: int, data: Any) -> None:
    rng, n = np.random.default_rng(seed), data.draw(st.sampled_from([0, 1, 2, 100, 2048, 5000, 70_000]))
    with np.errstate(all="ignore"):
        values = SHAPES[shape](rng, n).astype(kind)
    values = values[~np.isnan(values)]
    if data.draw(st.booleans()):
        ends = np.finfo(kind)
        special = [0.0, -0.0, np.inf, -np.inf, ends.smallest_subnormal, -ends.smallest_subnormal, ends.max, ends.min]
        at = rng.integers(0, max(1, len(values)), 200)
        values[at[at < len(values)]] = rng.choice(special, int((at < len(values)).sum()))
    room = np.full(len(values) + 2, 7, kind)  # what the sort may not touch on both sides
    room[1:-1] = values
    compiled.sort(room[1:-1])
    np.testing.assert_array_equal(room, [7, *np.sort(values), 7])


def test_the_sort_is_chosen_by_size_and_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where NumPy's is slow and values are many the kernel sorts, and rankings are the same either way."""
    rng = np.random.default_rng(3)
    y, s = rng.random(60_000) < 0.3, np.round(rng.normal(size=60_000), 3)
    s[:20] = np.repeat([0.0, -0.0], 10)
    kernel, sorted_by_kernel, rankings = compiled.sort, [], []
    monkeypatch.setattr(
        compiled, "sort", lambda values, *lent: [sorted_by_kernel.append(len(values)), kernel(values, *lent)]
    )
    for slow in (True, False):
        monkeypatch.setattr(ranking, "_numpy_sorts_slowly", lambda slow=slow: slow)
        rankings.append([rank(make_sample(y[:n], s[:n])) for n in (3_000, 20_000, 60_000)])
    assert sorted(sorted_by_kernel) == sorted(int(k) for n in (20_000, 60_000) for k in (y[:n].sum(), (~y[:n]).sum()))
    for one, other in zip(*rankings, strict=True):
        for name in ("score", "pos", "neg", "n_pos", "n_neg"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        assert not np.signbit(one.score[one.score == 0]).any()  # −0 is 0, whichever came first


def test_a_sort_that_cannot_be_made_is_refused() -> None:
    values, frozen = np.random.default_rng(0).random(5000), np.random.default_rng(0).random(5000)
    frozen.flags.writeable = False
    for arguments in ((frozen,), (values, values[:10].copy()), (values, None, np.zeros(5000, np.int64))):
        with pytest.raises(ValueError, match="a kernel"):
            compiled.sort(*arguments)


def test_sums_over_places_go_on_between_whole_numbers() -> None:
    """Σ 1/(n+k) and Σ k/(n+k) at whole numbers, additive between them, in both forms."""
    for n in (0, 1, 5, 31, 40, 1000, 10**6):
        for m in (1, 2, 10, 70, 5000):
            k = np.arange(1, m + 1)
            exact = [float((1 / (n + k)).sum()), float((k / (n + k)).sum())]
            assert compiled.harmonic_steps(float(n), float(m)) == pytest.approx(exact, rel=1e-13)
            assert plain.harmonic_steps(np.array(float(n)), np.array(float(m))) == pytest.approx(exact, rel=1e-13)
    for n, m, more in ((0.3, 0.2, 1.7), (7.5, 100.25, 3e-3), (123.4, 1e-6, 1e4)):
        whole = compiled.harmonic_steps(n, m + more)
        first, second = compiled.harmonic_steps(n, m), compiled.harmonic_steps(n + m, more)
        assert whole[0] == pytest.approx(first[0] + second[0], rel=1e-12)
        assert whole[1] == pytest.approx(first[1] + second[1] + m * second[0], rel=1e-12)


def test_whatever_is_merged_stays_in_its_room() -> None:
    """NaN and unsorted scores make no ranking, but a merge takes a row at every step and writes one group."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        pos, neg = rng.normal(size=20), rng.normal(size=30)
        for side in (pos, neg):
            side[rng.integers(0, len(side), 5)] = np.nan
        score, a, b, used = compiled.merge_sorted(pos, neg)
        assert used <= len(score)
        assert (a[:used] + b[:used]).sum() == 50


def test_the_compiled_passes_and_the_layout_agree_on_places() -> None:
    """rankings.hpp names the places by number."""
    assert (len(FIELDS), len(LOSSES), len(CUT)) == (20, 9, 7)
    assert [SLICE[part].start for part in ("pairs", "gaps", "precision", "places", "hull")] == [3, 5, 7, 14, 19]
    assert (AT["pr_lower"], AT["last_step"]) == (8, 13)


def test_arrays_that_a_pass_cannot_take_are_refused() -> None:
    """A copy would take the result with it, so nothing is converted behind the caller's back."""
    counts = np.ones(4, np.int32)
    for out in (np.zeros(4)[::2], np.zeros(2, np.float32), np.zeros(2, np.int64)):
        with pytest.raises(ValueError, match="a kernel"):
            compiled.sum_pairs(counts, counts, 0, 4, out)
    with pytest.raises(ValueError, match="scores must be"):
        compiled.split(np.arange(4), np.ones(4, bool), 4)


def test_arrays_with_gaps_are_read_as_those_without() -> None:
    """They are copied, and the copies must live until the pass has ended."""
    rng = np.random.default_rng(2)
    score, positive = rng.random(200_000)[::2], (rng.random(200_000) < 0.3)[::2]
    n_pos = int(positive.sum())
    for one, other in zip(
        compiled.split(score, positive, n_pos),
        compiled.split(score.copy(), positive.copy(), n_pos),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)
    counts = np.ones(len(score), np.int32)
    logs = np.log(score), np.log1p(-score)
    vectors = []
    for values in (score, score.copy()):
        out = np.zeros(len(LOSSES))
        compiled.sum_losses(values, *logs, counts, counts, (-11.5, 2.0, 0.3), (1.0, 1.0), out)
        vectors.append(out)
    np.testing.assert_array_equal(*vectors)


@pytest.mark.parametrize("levels", [3, 10**6])
def test_pairs_that_two_lists_order_alike(levels: int) -> None:
    rng = np.random.default_rng(levels)
    positive, one, code = rng.random(90) < 0.4, rng.integers(0, levels, 90), rng.integers(0, min(levels, 89), 90)
    order = np.argsort(-one).astype(np.int32)
    tie = np.append(one[order][1:] == one[order][:-1], False)
    signs = [np.sign(values[positive][:, None] - values[~positive]) for values in (one, code)]
    assert compiled.pairs_alike(order, tie, positive, code.astype(np.int32)) == (signs[0] * signs[1]).sum()


def test_a_share_of_sums_with_a_normal_rest() -> None:
    """Without a rest worth the name the sums alone count; with nothing else it is the normal distribution."""
    sums = np.array([0.5, 1.5, 2.5])
    assert compiled.share_beyond(sums, 1.0, 1e-9, 0.0) == pytest.approx(2 / 3)
    assert compiled.share_beyond(np.zeros(1), 1.96, 1.0, 0.0) == pytest.approx(0.04999579029644087, rel=1e-14)
    z, kurtosis = 2.0, -0.4
    density = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    expected = 0.04550026389635842 + 2 * kurtosis / 24 * z * (z * z - 3) * density
    assert compiled.share_beyond(np.zeros(1), z, 1.0, kurtosis) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.int32, np.uint8])
@pytest.mark.parametrize("n", [1, 7, 5000])
def test_extremes_are_numbers_of_python_and_exact(kind: Any, n: int) -> None:
    values = np.random.default_rng(n).integers(0, 100, 2 * n).astype(kind)
    for column in (values, values[::2], values.astype(np.dtype(kind).newbyteorder(">"))):
        found = compiled.extremes(column)
        assert found == (column.min().item(), column.max().item())
        assert all(type(end) in (int, float) for end in found)
    assert compiled.extremes(np.array([1, 2**53 + 1])) == (1, 2**53 + 1)
    for place in (0, n - 1):
        missing = np.ones(n)
        missing[place] = np.nan
        assert np.isnan(compiled.extremes(missing)).all()
