"""The methods: closed forms against quadrature, the paper's fit against the literal matrices, known truths."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import nnls
from scipy.stats import binom

from cutline.errors import InputError
from cutline.extrapolation import Favorability, every_method
from cutline.extrapolation.favorability import largest_k_where, power_of_span, spline_moment
from cutline.extrapolation.methods import (
    FunctionBasis,
    KernelDensity,
    LinearSpline,
    ParetoTail,
    pareto_survival,
    pooled_shape,
    relative_bandwidth,
)
from cutline.extrapolation.tasks import ScoreSample, TaskEvidence, from_scores


def populations() -> ModuleType:
    """The generators in experiments/, which is no package."""
    path = Path(__file__).parents[1] / "experiments" / "populations.py"
    spec = importlib.util.spec_from_file_location("populations", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["populations"] = module
    spec.loader.exec_module(module)
    return module


POPULATIONS = populations()
RANK_METHODS = [name for name, method in every_method().items() if not method.needs_scores]
SCORE_METHODS = [name for name, method in every_method().items() if method.needs_scores]
TOY = [0.692922, 0.535306, 0.438550, 0.372757, 0.324941, 0.288525, 0.259809, 0.236551, 0.217305]


def gaussian_task(n_classes: int, seed: int, dimension: int = 5, noise: float = 0.5) -> np.ndarray:
    return POPULATIONS.GaussianRecognition(dimension, noise).draw(n_classes, np.random.default_rng(seed))


# --- populations with known curves


def test_toy_curve() -> None:
    found = POPULATIONS.BivariateNormal(0.7).accuracy(range(2, 11))
    np.testing.assert_allclose(found, TOY, atol=6e-7)


@pytest.mark.parametrize("rho", [0.3, 0.5, 0.7, 0.9])
def test_toy_between_two_classes_in_closed_form(rho: float) -> None:
    closed = 0.5 + np.arctan(rho / np.sqrt(2 * (1 - rho**2))) / np.pi
    assert POPULATIONS.BivariateNormal(rho).accuracy(2)[0] == pytest.approx(closed, abs=2e-7)


def test_toy_at_its_ends() -> None:
    toy = POPULATIONS.BivariateNormal
    np.testing.assert_allclose(toy(0.0).accuracy([1, 4]), [1.0, 0.25])
    np.testing.assert_allclose(toy(1.0).accuracy([1, 4]), [1.0, 1.0])
    np.testing.assert_allclose(toy(-0.7).accuracy([2, 10]), [TOY[0], TOY[-1]], atol=6e-7)
    with pytest.raises(ValueError, match="no correlation"):
        toy(1.1)


def test_one_dimensional_recognition_is_the_toy_in_other_units() -> None:
    problem = POPULATIONS.GaussianRecognition(1, np.sqrt(1 - 0.49) / 0.7)
    np.testing.assert_allclose(problem.accuracy(range(2, 11)), TOY, atol=6e-7)


@pytest.mark.parametrize(("dimension", "noise"), [(2, 0.3), (5, 0.5), (10, 0.7)])
def test_recognition_curve_against_simulation(dimension: int, noise: float) -> None:
    problem, rng = POPULATIONS.GaussianRecognition(dimension, noise), np.random.default_rng(1)
    hits = [(problem.draw(50, rng).argmax(axis=1) == np.arange(50)).mean() for _ in range(400)]
    error = np.std(hits) / np.sqrt(len(hits))
    assert abs(np.mean(hits) - problem.accuracy(50)[0]) < 4 * error


# --- moments


@pytest.mark.parametrize("knot", [0.0, 0.3, 0.9, 0.999, 0.9999])
@pytest.mark.parametrize("k", [2, 3, 10, 500, 1672])
def test_spline_moment_against_quadrature(knot: float, k: int) -> None:
    expected, _ = quad(lambda u: (k - 1) * (u - knot) * u ** (k - 2), knot, 1.0, epsabs=1e-15, epsrel=1e-12, limit=200)
    assert float(spline_moment(1.0 - knot, k)) == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_spline_moment_keeps_its_digits_near_one() -> None:
    for span in (1e-12, 1e-8, 1e-5, 0.00049999, 0.00050001, 0.01):
        a = 1 - Fraction(span)
        exact = 1 - a - (1 - a**100) / 100
        assert float(spline_moment(span, 100.0)) == pytest.approx(float(exact), rel=1e-13 + 1e-16 / span)


@given(span=st.floats(1e-6, 1.0), k=st.integers(2, 3000))
def test_a_spline_is_a_uniform_piece(span: float, k: int) -> None:
    assert float(span * (1 - power_of_span(span, k))) == pytest.approx(
        float(spline_moment(span, k)), rel=1e-6, abs=1e-13
    )


# --- the paper's spline


@pytest.mark.parametrize(("n_classes", "seed"), [(12, 1), (60, 2), (60, 3)])
def test_spline_is_nnls_on_the_literal_matrix(n_classes: int, seed: int) -> None:
    evidence = from_scores(gaussian_task(n_classes, seed)).whole()
    k, accuracy = evidence.curve
    knot = np.arange(10_000) / 10_000
    literal = 1 - knot[None, :] - (1 - knot[None, :] ** k[:, None]) / k[:, None]
    beta, residual = nnls(literal, 1 - accuracy, maxiter=100_000)
    later = np.array([2.0 * n_classes, 10.0 * n_classes])
    expected = 1 - (1 - knot - (1 - knot ** later[:, None]) / later[:, None]) @ beta
    fit = LinearSpline().fit(evidence)
    assert np.linalg.norm(fit.accuracy(k) - accuracy) == pytest.approx(residual, rel=1e-5, abs=1e-9)
    np.testing.assert_allclose(fit.accuracy(later), expected, atol=2e-4)


def test_a_spline_without_knots_is_refused() -> None:
    with pytest.raises(InputError, match="m must be a whole number of at least 1, got 0"):
        LinearSpline(m=0)


def test_spline_may_leave_the_unit_interval_and_mixture_may_not() -> None:
    below = 0
    for seed in range(12):
        evidence = from_scores(gaussian_task(40, seed)).whole()
        below += bool(LinearSpline().fit(evidence).accuracy(4000)[0] < 0)
        repaired = every_method()["mixture"].fit(evidence).accuracy(np.geomspace(1, 1e6, 50))
        assert (repaired >= 0).all()
        assert (repaired <= 1 + 1e-12).all()
    assert below > 0  # the constraint the paper leaves out does bite


# --- every method


@pytest.mark.parametrize("name", RANK_METHODS)
def test_guessing_stays_guessing(name: str) -> None:
    fit = every_method()[name].fit(TaskEvidence(30, np.full(30, 1 / 30)))
    # Kay's line cannot follow 1/k, and normals of a fixed width only nearly.
    tolerance = {"exponential": 0.03, "gaussian": 0.01}.get(name, 1e-4)
    assert fit.accuracy(60)[0] == pytest.approx(1 / 60, abs=tolerance)


@pytest.mark.parametrize("name", RANK_METHODS)
def test_no_error_seen_means_no_error_foretold(name: str) -> None:
    fit = every_method()[name].fit(TaskEvidence(50, np.eye(50)[-1]))
    assert fit.accuracy(50)[0] == pytest.approx(1.0, abs=2e-3)


@pytest.mark.parametrize("name", [*RANK_METHODS, *SCORE_METHODS])
def test_large_samples_find_the_known_curve_twice_as_far(name: str) -> None:
    # Kernels smooth the tail away on this population; the spread over methods is what the notes speak of.
    tolerance = {
        "kde": 0.15,
        "kde_unbiased": 0.15,
        "exponential": 0.12,
        "gaussian": 0.08,
        "spline": 0.1,
        "tail": 0.08,
    }
    problem = POPULATIONS.GaussianRecognition(5, 0.5)
    evidence = from_scores(problem.draw(400, np.random.default_rng(8))).whole()
    found = every_method()[name].fit(evidence).accuracy(800)[0]
    assert found == pytest.approx(problem.accuracy(800)[0], abs=tolerance.get(name, 0.06))


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), coarse=st.booleans())
def test_curves_start_at_one_fall_and_stay_inside(seed: int, coarse: bool) -> None:
    scores = gaussian_task(20, seed)
    if coarse:
        scores = np.round(scores * 2)  # many ties
    evidence = from_scores(scores).whole()
    k = np.geomspace(1, 1e7, 40)
    for name, method in every_method().items():
        if name == "spline":
            continue  # the paper's own leaves [0, 1]; results cut it off and say so
        for variant in method.variants():
            accuracy = np.full(k.size, np.nan)
            # Scores that hardly differ have no shape: a method on scores may say so, a method on ranks does not mind.
            expected = InputError if coarse and variant.needs_scores else ()
            with contextlib.suppress(*([expected] if expected else [])):
                accuracy = variant.fit(evidence).accuracy(k)
            if np.isnan(accuracy[0]):
                assert expected
                continue
            assert accuracy[0] == pytest.approx(1.0, abs=1e-9)
            assert (np.diff(accuracy) <= 1e-12).all(), variant.name
            assert accuracy[-1] >= 0.0


@settings(max_examples=10)
@given(seed=st.integers(0, 10_000))
def test_monotone_changes_of_each_cases_scores_leave_rank_methods_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = gaussian_task(15, seed)
    bent = np.exp(scores * rng.uniform(0.5, 2, size=(15, 1))) + rng.normal(size=(15, 1))
    for name in RANK_METHODS:
        method = every_method()[name]
        one, other = (method.fit(from_scores(s).whole()).accuracy([30, 300]) for s in (scores, bent))
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("name", SCORE_METHODS)
def test_shift_and_scale_of_each_cases_scores_leave_score_methods_alone(name: str) -> None:
    rng = np.random.default_rng(3)
    scores = gaussian_task(40, 3)
    moved = scores * rng.uniform(0.5, 2, size=(40, 1)) + rng.normal(size=(40, 1))
    method = every_method()[name]
    one, other = (method.fit(from_scores(s).whole()).accuracy([80, 400]) for s in (scores, moved))
    np.testing.assert_allclose(one, other, rtol=0.02)


@pytest.mark.parametrize("name", SCORE_METHODS)
def test_score_methods_refuse_ranks_alone(name: str) -> None:
    with pytest.raises(InputError, match="needs finite scores"):
        every_method()[name].fit(TaskEvidence(5, np.full(5, 0.2)))


# --- parts of methods


def test_pareto_shape_is_found() -> None:
    rng = np.random.default_rng(0)
    for shape in (-0.3, 0.0, 0.2):
        u = rng.uniform(size=(300, 60))
        excess = -np.log(u) if shape == 0 else (1 - shape) / shape * (u ** (-shape) - 1)
        assert pooled_shape(-np.sort(-excess, axis=1)) == pytest.approx(shape, abs=0.03)
        assert float(np.mean(excess > 1.5)) == pytest.approx(
            float(pareto_survival(np.array([1.5]), shape)[0]), abs=0.01
        )


@pytest.mark.parametrize("shape", [-0.3, 0.2])
def test_a_tail_gives_the_chance_beyond_all_competitors_seen(shape: float) -> None:
    """Competitors of cases with different scales and places, all of one Pareto law, whose chances are known."""
    rng = np.random.default_rng(1)
    scale, place = np.exp(rng.normal(size=(200, 1))), rng.normal(size=(200, 1))
    others = place + scale * (rng.uniform(size=(200, 400)) ** (-shape) - 1) / shape
    chance = np.geomspace(1e-4, 1e-2, 200)
    true = place[:, 0] + scale[:, 0] * (chance ** (-shape) - 1) / shape
    sample = ScoreSample(true, others, np.full(200, 400.0), np.full(200, 1 / 200))
    miss = ParetoTail().fit(TaskEvidence(401, scores=sample)).miss
    assert miss.mean() == pytest.approx(chance.mean(), rel=0.1)


@pytest.mark.parametrize("selector", ["kde", "kde_unbiased"])
def test_bandwidth_minimises_the_textbook_criterion(selector: str) -> None:
    rng = np.random.default_rng(6)
    others = rng.normal(size=(3, 80))
    sample = ScoreSample(np.zeros(3), others, np.full(3, 80.0), np.full(3, 1 / 3))
    found = relative_bandwidth(sample, selector)
    z = (others - others.mean(axis=1, keepdims=True)) / others.std(axis=1, ddof=1, keepdims=True)
    n, (i, j) = 80, np.triu_indices(80, 1)
    grid = np.geomspace(0.1, 1.0, 60) * 1.144 * n ** (-0.2)

    def criterion(h: float) -> float:
        delta = ((z[:, i] - z[:, j]) / h) ** 2
        if selector == "kde":
            total = (np.exp(-delta / 4) * (delta**2 - 12 * delta + 12)).sum(axis=1).mean()
            return float((1 + total / (32 * n)) / (2 * n * h * np.sqrt(np.pi)))
        total = (np.exp(-delta / 4) - np.sqrt(8) * np.exp(-delta / 2)).sum(axis=1).mean()
        return float((0.5 + total / n) / (n * h * np.sqrt(np.pi)))

    assert found == pytest.approx(grid[np.argmin([criterion(h) for h in grid])], rel=0.13)


def test_kernel_estimate_by_its_definition() -> None:
    from scipy.special import ndtr

    scores = gaussian_task(12, 9)
    fit = KernelDensity(bandwidth=0.5).fit(from_scores(scores).whole())
    expected = []
    for row in range(12):
        others = np.delete(scores[row], row)
        expected.append(ndtr((scores[row, row] - others) / (0.5 * others.std(ddof=1))).mean() ** 29)
    assert fit.accuracy(30)[0] == pytest.approx(np.mean(expected), rel=1e-12)


# --- the distribution


def test_top_t_against_simulation() -> None:
    rng = np.random.default_rng(0)
    fit = Favorability(miss=[0.02, 0.2], miss_weight=[0.5, 0.2], span=[0.3], span_weight=[0.3])
    kind = rng.choice(3, size=200_000, p=[0.5, 0.2, 0.3])
    miss = np.choose(kind, [0.02, 0.2, 0.3 * rng.uniform(size=kind.size)])
    better = rng.binomial(39, miss)
    for t in (1, 2, 5):
        assert fit.top_t_accuracy(t, 40)[0] == pytest.approx((better < t).mean(), abs=0.005)
    np.testing.assert_allclose(fit.top_t_accuracy(1, [5, 40]), fit.accuracy([5, 40]), rtol=1e-10)
    assert fit.top_t_accuracy(40, 40)[0] == 1.0


def test_cdf_and_accuracy_are_one_distribution() -> None:
    fit = Favorability(miss=[0.0, 0.1], miss_weight=[0.3, 0.2], span=[0.5], span_weight=[0.5])
    for k in (2, 5, 30):
        pieces = [
            quad(lambda u, k=k: float(fit(u)[0]) * (k - 1) * u ** (k - 2), low, high)[0]
            for low, high in ((0, 0.5), (0.5, 0.9), (0.9, 1.0))
        ]
        assert 1 - sum(pieces) == pytest.approx(fit.accuracy(k)[0], abs=1e-7)  # Zheng et al. Eq. 5


def test_classes_until_is_the_last_size_that_holds() -> None:
    fit = Favorability(span=[0.01], span_weight=[1.0])
    for accuracy in (0.99, 0.9, 0.5, 0.1):
        k = largest_k_where(lambda k, accuracy=accuracy: fit.accuracy(k)[0] >= accuracy)
        assert fit.accuracy(k)[0] >= accuracy > fit.accuracy(k + 1)[0]
    assert largest_k_where(lambda _: True) == float("inf")


def test_splines_with_other_knots_and_constraints() -> None:
    k, u = np.arange(2.0, 41.0), np.linspace(0.5, 1.0, 4001)
    wins = 0.7 * np.mean(binom.pmf(np.arange(40)[:, None], 39, u), axis=1) + 0.3 * np.eye(40)[-1]
    evidence = TaskEvidence(40, wins)  # U uniform on (½, 1), or 1
    fits = {
        c: LinearSpline(knots=tuple(np.arange(0, 1, 0.05)), constraint=c).fit(evidence)
        for c in ("convex", "monotone", "none")
    }
    residual = {c: np.linalg.norm(fit.accuracy(k) - evidence.curve[1]) for c, fit in fits.items()}
    assert residual["none"] <= residual["monotone"] + 1e-9
    assert residual["monotone"] <= residual["convex"] + 1e-9
    u = np.linspace(0, 0.999, 200)
    assert (np.diff(fits["monotone"](u)) >= -1e-9).all()
    for fit in fits.values():
        assert fit.accuracy(80)[0] == pytest.approx(0.3 + 0.7 * 2 / 80, abs=5e-3)
    own = FunctionBasis((lambda u: np.clip(2 * u - 1, 0, None), lambda u: u)).fit(evidence)
    assert own.accuracy(80)[0] == pytest.approx(0.3 + 0.7 * 2 / 80, abs=5e-3)
    with pytest.raises(InputError, match="constraint is 'wavy'"):
        LinearSpline(constraint="wavy")  # type: ignore[arg-type]


def test_bases_without_functions_and_constraints_without_meaning_are_refused() -> None:
    for constraint in ("convex", "monotone", "none"):
        with pytest.raises(InputError, match="knots is empty; give places"):
            LinearSpline(knots=(), constraint=constraint)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="functions is empty; give one function"):
        FunctionBasis(())
    with pytest.raises(InputError, match="constraint is 'monotone'; choose one of convex, none"):
        FunctionBasis((np.square,), constraint="monotone")  # type: ignore[arg-type]
