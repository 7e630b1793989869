"""Zheng, Achanta & Benjamini, sections 2.3 and 3.2: the bivariate normal toy, by four routes, and figures 4–6."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import cutline as cl
from populations import BivariateNormal
from report import row

Floats = NDArray[np.float64]
RHO = 0.7
CLASSES = np.arange(2, 11)
RHOS = (0.3, 0.5, 0.7, 0.9)


def distribution(toy: BivariateNormal, u: Floats) -> Floats:
    """D̄(u), the distribution function of favorability, on a grid."""
    miss, weight = toy.favorability(400)
    order = np.argsort(1.0 - miss)
    below = np.concatenate([[0.0], np.cumsum(weight[order])])
    return below[np.searchsorted((1.0 - miss)[order], u, side="right")]


def from_distribution(toy: BivariateNormal, k: NDArray[np.int64], points: int = 20_001) -> Floats:
    """Eq. 5: AGA_k = 1 − (k−1) ∫ D̄(u) u^(k−2) du, by trapezoids on a grid of D̄."""
    u = np.linspace(0.0, 1.0, points)
    height = distribution(toy, u)
    return np.array([1.0 - (n - 1) * np.trapezoid(height * u ** (n - 2.0), u) for n in k])


def of_labels(rho: float, labels: Floats, *, as_printed: bool = False) -> Floats:
    """GA_k of many label sets (rows): the Bayes rule cuts halfway between neighbouring class means (section 2.3).

    The paper prints the gaps between labels; the class means are ρ times as far apart.
    """
    from scipy.special import ndtr

    k = labels.shape[1]
    half = np.diff(np.sort(labels, axis=1), axis=1) * (1.0 if as_printed else rho) / (2.0 * np.sqrt(1.0 - rho**2))
    # Class i is right with chance Φ(left) + Φ(right) − 1; inner gaps serve two classes, the outer sides are open.
    return (2.0 * ndtr(half).sum(axis=1) + 2.0 - k) / k


def by_drawing(rho: float, k: int, n: int, rng: np.random.Generator) -> float:
    """Share of examples whose own class mean is the nearest among k."""
    y = rng.normal(size=(n, k))
    x = rho * y[:, 0] + np.sqrt(1.0 - rho**2) * rng.normal(size=n)
    return float((np.abs(x[:, None] - rho * y).argmin(axis=1) == 0).mean())


def rows(n: int, tasks: int, seed: int) -> list[dict[str, Any]]:
    """AGA_k by quadrature, from D̄, by drawing, and as the library's average test accuracy of larger tasks."""
    rng = np.random.default_rng(seed)
    toy = BivariateNormal(RHO)
    exact, integral = toy.accuracy(CLASSES), from_distribution(toy, CLASSES)
    observed = []
    for _ in range(tasks):
        ex = cl.extrapolate(toy.draw(60, rng), np.arange(60), method="mixture", interval=False)
        observed.append([ex.observed[int(k)].value for k in CLASSES])
    seen, error = np.mean(observed, axis=0), np.std(observed, axis=0, ddof=1) / np.sqrt(tasks)
    table = []
    for i, k in enumerate(CLASSES):
        labels = rng.normal(size=(n, k))
        drawn = by_drawing(RHO, int(k), n, rng)
        corrected = of_labels(RHO, labels)
        spread = float(np.sqrt(drawn * (1 - drawn) / n))
        z = [(drawn - exact[i]) / spread, (seen[i] - exact[i]) / error[i]]
        z.append((corrected.mean() - exact[i]) / (corrected.std() / np.sqrt(n)))
        verdict = "routes agree" if max(map(abs, z)) < 3.5 and abs(integral[i] - exact[i]) < 1e-5 else "routes differ"
        more = {"from D̄": integral[i], "drawn": drawn, "mean GA_k": float(corrected.mean()), "ATA_k": float(seen[i])}
        wrong = float(of_labels(RHO, labels, as_printed=True).mean())
        table.append(
            row(f"AGA_{k}", "figure only", float(exact[i]), spread, verdict, **more, **{"GA_k as printed": wrong})
        )
    return table


def draw_4(ax: Any, seed: int, n: int = 4000) -> None:
    """Figure 4: how accuracy varies over label sets, and its mean."""
    rng = np.random.default_rng(seed)
    values = [of_labels(RHO, rng.normal(size=(n, k))) for k in CLASSES]
    ax.boxplot(values, positions=CLASSES, widths=0.6, whis=(2.5, 97.5), showfliers=False)
    ax.plot(CLASSES, [v.mean() for v in values], "o", color="C0", markerfacecolor="none", label="mean of label sets")
    ax.plot(CLASSES, BivariateNormal(RHO).accuracy(CLASSES), color="C3", label="AGA_k by quadrature")
    ax.set_xlabel("classes k")
    ax.set_ylabel("accuracy")
    ax.set_title(f"Accuracy over label sets, ρ = {RHO}", fontsize=10)
    ax.legend(fontsize=8)


def draw_5(axes: Any) -> None:
    """Figure 5: favorability over (x, y), and its distribution."""
    from scipy.special import ndtr

    x, y = np.meshgrid(np.linspace(-3, 3, 241), np.linspace(-3, 3, 241))
    reach = np.abs(RHO * y - x)
    favorability = 1.0 - (ndtr((x + reach) / RHO) - ndtr((x - reach) / RHO))
    shown = axes[0].contourf(x, y, favorability, levels=np.linspace(0, 1, 11), cmap="Blues")
    axes[0].figure.colorbar(shown, ax=axes[0])
    axes[0].set_xlabel("example x*")
    axes[0].set_ylabel("label y")
    axes[0].set_title("Favorability U (highest on the line x* = ρy)", fontsize=10)
    u = np.linspace(0, 1, 501)
    axes[1].plot(u, distribution(BivariateNormal(RHO), u))
    axes[1].set_xlabel("u")
    axes[1].set_ylabel("D̄(u)")
    axes[1].set_title(f"Its distribution, ρ = {RHO}", fontsize=10)
    axes[1].grid(alpha=0.3)


def draw_6(axes: Any) -> None:
    """Figure 6: average accuracy and D̄ for several correlations."""
    u = np.linspace(0, 1, 501)
    for k, rho in enumerate(RHOS):
        toy = BivariateNormal(rho)
        axes[0].plot(CLASSES, toy.accuracy(CLASSES), "o-", color=f"C{k}", markersize=4, label=f"ρ = {rho}")
        axes[1].plot(u, distribution(toy, u), color=f"C{k}")
    axes[0].set_xlabel("classes k")
    axes[0].set_ylabel("AGA_k")
    axes[1].set_xlabel("u")
    axes[1].set_ylabel("D̄(u)")
    axes[0].legend(fontsize=8)
    for ax in axes:
        ax.grid(alpha=0.3)
