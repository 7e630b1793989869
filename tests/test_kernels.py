"""Kernels: compiled and plain ones give the same bits, the cache is checked, nothing is written out of bounds."""

from __future__ import annotations

import hashlib
import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutline.inference.resampling import Resampler
from cutline.kernels import backend, passes, plain, plain_rankings, plain_replicates, rankings, replicates
from cutline.ranking import rank
from cutline.sources.arrays import make_sample
from cutline.sweep import Losses, Request, sweep
from samples import random_case

QUICK = """
import sys, numpy as np, cutline as cl
rng = np.random.default_rng(0)
y = rng.random(300) < 0.3
p = np.clip(0.3 + 0.2 * y + rng.normal(size=300) * 0.2, 0, 1).round(2)
def run():
    return cl.evaluate(y, p, quota=20, n_resamples=500).to_json()
"""


def python(code: str, folder: Path | None = None, *flags: str) -> str:
    """What a fresh interpreter prints; its compiled kernels are kept in ``folder``."""
    told = {**os.environ, **({"NUMBA_CACHE_DIR": str(folder)} if folder else {})}
    run = [sys.executable, *flags, "-c", ONE_KERNEL]
    return subprocess.run(run, check=True, timeout=300, capture_output=True, text=True, env=told).stdout


def test_a_small_sample_is_evaluated_without_numba_and_scipy_and_to_the_same_bits_as_with_them() -> None:
    code = """
plain = run()
assert not {"numba", "scipy", "pandas", "rich"} & set(sys.modules)
import cutline.kernels.passes
assert run() == plain
"""
    python(QUICK + code)


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
    request = Request(losses=(Losses(), Losses(prior=0.2)), thresholds=(0.3, 0.5), quotas=(1, 7, 40))
    found = []
    for kernels in (replicates, plain_replicates):
        resampler._kernels = lambda n, kernels=kernels: kernels  # type: ignore[method-assign]
        found.append((resampler.vectors(request, 12, ties), resampler.left_out(request, ties)))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("levels", [2, 9, 10_000])
def test_one_sweep_has_the_same_bits_in_numpy(levels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    case = random_case(3, 90, levels)
    request = Request(thresholds=(0.4,), quotas=(5, 90))
    found = []
    for small in (False, True):
        monkeypatch.setattr(backend, "_plainly", lambda *_, small=small: small)
        found.append(sweep(rank(make_sample(case.y, case.s)), request))
    np.testing.assert_array_equal(*found)


def test_rankings_are_the_same_in_numpy() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 30):
        pos, neg = np.sort(rng.integers(0, 9, n) / 8), np.sort(rng.integers(0, 9, 2 * n) / 8)
        for one, other in ((pos, neg), (pos, neg[:0]), (pos[:0], neg)):
            *first, used = rankings.merge_sorted(one, other)
            *second, count = plain_rankings.merge_sorted(one, other)
            assert used == count
            for a, b in zip(first, second, strict=True):
                np.testing.assert_array_equal(a[:used], b[:used])


def test_sums_over_places_go_on_between_whole_numbers() -> None:
    """Σ 1/(n+k) and Σ k/(n+k) at whole numbers, additive between them, in both forms."""
    for n in (0, 1, 5, 31, 40, 1000, 10**6):
        for m in (1, 2, 10, 70, 5000):
            k = np.arange(1, m + 1)
            exact = [float((1 / (n + k)).sum()), float((k / (n + k)).sum())]
            assert passes.harmonic_steps(float(n), float(m)) == pytest.approx(exact, rel=1e-13)
            assert plain.harmonic_steps(np.array(float(n)), np.array(float(m))) == pytest.approx(exact, rel=1e-13)
    for n, m, more in ((0.3, 0.2, 1.7), (7.5, 100.25, 3e-3), (123.4, 1e-6, 1e4)):
        whole = passes.harmonic_steps(n, m + more)
        first, second = passes.harmonic_steps(n, m), passes.harmonic_steps(n + m, more)
        assert whole[0] == pytest.approx(first[0] + second[0], rel=1e-12)
        assert whole[1] == pytest.approx(first[1] + second[1] + m * second[0], rel=1e-12)


HARM = {
    "cut short": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
    "zeros": lambda content: b"\0" * len(content),
    "a bit flipped in the middle": lambda content: content[:-200] + bytes([content[-200] ^ 1]) + content[-199:],
    "a bit flipped in front": lambda content: bytes([content[0] ^ 1]) + content[1:],
    "something else": lambda content: b"\x80\x05]\x94." * 100,
}
ONE_KERNEL = """
import numpy as np
from cutline.kernels.rankings import merge_sorted
print(merge_sorted(np.array([1.0, 2.0]), np.array([2.0]))[3])
"""


@pytest.mark.integration
def test_a_damaged_cache_is_made_anew(tmp_path: Path) -> None:
    assert python(ONE_KERNEL, tmp_path).strip() == "2"
    kept = [file for file in tmp_path.rglob("*.kernel") if file.name.startswith("rankings.merge_sorted")]
    assert len(kept) == 1
    content = kept[0].read_bytes()
    for harm in HARM.values():
        kept[0].write_bytes(harm(content))
        assert python(ONE_KERNEL, tmp_path, "-W", "error").strip() == "2"
        assert kept[0].read_bytes()[:32] != harm(content)[:32] or len(kept[0].read_bytes()) == len(content)


def test_a_folder_that_takes_no_cache_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    told = {"NUMBA_CACHE_DIR": str(tmp_path / "file"), "XDG_CACHE_HOME": str(tmp_path / "file")}
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", ONE_KERNEL],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **told},
    )
    assert run.stdout.strip() == "2"
    assert run.stderr == ""


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has other rights")
def test_kernels_are_taken_only_from_where_nobody_else_may_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is kept is code that will run."""
    jit = pytest.importorskip("cutline.kernels.jit")
    monkeypatch.setattr(jit, "_folders", lambda: [tmp_path])
    monkeypatch.setattr(jit.KernelCache, "_file", lambda *_: "one.kernel")
    monkeypatch.setattr(jit.CompileResult, "_rebuild", lambda _, *parts: parts)
    content, kept = pickle.dumps(("kept",)), tmp_path / "one.kernel"
    kept.write_bytes(hashlib.sha256(content).digest() + content)
    context = SimpleNamespace(refresh=lambda: None, codegen=lambda: None)
    for of_folder, of_file, taken in ((0o700, 0o600, True), (0o755, 0o644, True), (0o777, 0o600, False)):
        tmp_path.chmod(of_folder)
        kept.chmod(of_file)
        assert (jit.KernelCache(python).load_overload(None, context) is not None) == taken
    for of_folder, of_file in ((0o770, 0o600), (0o700, 0o666), (0o700, 0o660)):
        tmp_path.chmod(of_folder)
        kept.chmod(of_file)
        assert jit.KernelCache(python).load_overload(None, context) is None
    tmp_path.chmod(0o700)
    kept.chmod(0o600)
    monkeypatch.setattr(os, "getuid", lambda: kept.stat().st_uid + 1)
    assert (jit.KernelCache(python).load_overload(None, context) is None) == (kept.stat().st_uid != 0)


def test_there_may_be_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither HOME nor an entry for the user: kernels are kept beside the package, or not at all."""
    jit = pytest.importorskip("cutline.kernels.jit")
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert len(jit._folders()) == 1


def test_kernels_of_other_sources_are_not_taken(tmp_path: Path) -> None:
    """The cache is keyed by the sources of all kernels: a kernel is stale when one that it calls has changed."""
    python(ONE_KERNEL, tmp_path)
    (kept,) = tmp_path.rglob("rankings.merge_sorted-*.kernel")
    other = kept.with_name(kept.name.replace("-", "-0123", 1))
    kept.rename(other)
    python(ONE_KERNEL, tmp_path)
    assert kept.exists()
    assert not other.exists()  # what belongs to older sources goes


def test_whatever_is_merged_stays_in_its_room() -> None:
    """NaN and unsorted scores make no ranking, but a merge takes a row at every step and writes one group."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        pos, neg = rng.normal(size=20), rng.normal(size=30)
        for side in (pos, neg):
            side[rng.integers(0, len(side), 5)] = np.nan
        score, a, b, used = rankings.merge_sorted(pos, neg)
        assert used <= len(score)
        assert (a[:used] + b[:used]).sum() == 50
