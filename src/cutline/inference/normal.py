"""Normal and Student's t quantiles without SciPy: loading it takes longer than a whole evaluation of a small sample."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np

_STANDARD = NormalDist()


def normal_cdf(z: float) -> float:
    """P(Z ≤ z), without loss of digits far out on the left."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def normal_quantile(p: float) -> float:
    """The z with P(Z ≤ z) = p (Wichura's algorithm AS 241)."""
    if p <= 0.0 or p >= 1.0:
        return -math.inf if p <= 0.0 else math.inf
    return _STANDARD.inv_cdf(p)


@lru_cache(maxsize=256)
def t_quantile(level: float, freedom: float) -> float:
    """Two-sided quantile of Student's t, P(|T| ≤ t) = level, with at least one degree of freedom.

    For 1,000 degrees and more by its expansion around the normal quantile (Abramowitz & Stegun 26.7.5). For fewer,
    Newton's method starts there: with t = √ν·tan θ the probability is ∫₀^θ cos^(ν−1) / ∫₀^(π/2) cos^(ν−1). Below four
    degrees the integrand bends sharply at π/2, and far out the integral has lost the digits of the tail: SciPy's there.

    >>> round(t_quantile(0.95, 10.0), 4)
    2.2281
    """
    if freedom < 4.0 or (level > 0.999 and freedom < 1000.0):
        from scipy.special import stdtrit

        return float(stdtrit(max(freedom, 1.0), 0.5 + level / 2.0))
    z = normal_quantile(0.5 + level / 2.0)
    terms = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    near = z + sum(term / freedom**power for power, term in enumerate(terms, start=1))
    if freedom >= 1000.0:
        return near
    whole = math.exp(math.lgamma(freedom / 2.0) - math.lgamma((freedom + 1.0) / 2.0)) * math.sqrt(math.pi) / 2.0
    theta = math.atan(near / math.sqrt(freedom))
    for _ in range(6):  # enough for 1e-9 everywhere here; the last digits come and go, so no test of the step ends it
        inside = theta * float(_SIMPSON @ np.cos(theta * _NODES) ** (freedom - 1.0))
        theta += (level * whole - inside) / math.cos(theta) ** (freedom - 1.0)
    return math.sqrt(freedom) * math.tan(theta)


_NODES = np.linspace(0.0, 1.0, 513)
_SIMPSON = np.r_[1.0, np.tile([4.0, 2.0], 255), 4.0, 1.0] / (3.0 * 512)
