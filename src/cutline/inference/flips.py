"""Sign flips: how far a difference between two models strays by chance.

If two models are equally good, the influence of a row (or cluster) on their difference is as likely to favour one as
the other. Flipping signs at random shows what chance does, also where a handful of rows carries the whole difference:
of m such rows no p-value is below 2·2⁻ᵐ. Interval and p-value come from the same distribution.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..types import Floats
from .normal import t_quantile
from .scales import effective_freedom, two_sided_p

EXACT_UNITS = 11
FLIPS = 1999


@lru_cache(maxsize=3)
def sign_matrix(units: int, n_flips: int, seed: int) -> Floats:
    """Signs, one row for each flip; all of them (the first unit's sign fixed) with at most eleven units."""
    if units <= EXACT_UNITS:
        return np.array([(1.0, *rest) for rest in itertools.product((1.0, -1.0), repeat=max(units - 1, 0))])
    rng = np.random.default_rng([seed & (2**63 - 1), 5])
    return 2.0 * rng.integers(0, 2, (n_flips, units)).astype(np.float64) - 1.0


def flipped_scale(statistic: Any, units: int) -> Any:
    """|t|/√(1 + t²/U): a statistic with centred influences on the scale of the flips."""
    size = np.abs(statistic)
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(size), math.sqrt(units), size / np.sqrt(1.0 + size * size / units))


@dataclass(frozen=True)
class FlipReference:
    """Sorted |Σεψ|/√Σψ² over the flips of ``units`` influences; ``exact`` where all flips were made.

    Influences are centred, so a difference D of U units is compared as D/√(Σψ² + D²/U): what is flipped under the null
    hypothesis are the uncentred ψ + D/U. That matters with few units or clusters.
    """

    statistics: Floats
    units: int
    exact: bool
    freedom: float

    @staticmethod
    def of(influence: Floats, seed: int) -> FlipReference:
        """The reference of a difference on which units have these influences.

        It does not depend on their scale or sign, so measures that are one number on several scales share it.
        """
        largest = influence[int(np.argmax(np.abs(influence)))]
        return _reference(np.round(influence / largest, 12).tobytes(), seed)

    def p_value(self, statistic: float) -> float:
        """Share of flips at least as far from 0, the observed signs among them; never 0.

        Where no flip comes as far and there are many, Student's t goes on where they end.
        """
        flipped = flipped_scale(statistic, self.units)
        beyond = len(self.statistics) - int(np.searchsorted(self.statistics, flipped * (1.0 - 1e-9)))
        if self.exact:
            return max(beyond, 1) / len(self.statistics)
        p = (beyond + 1.0) / (len(self.statistics) + 1.0)
        return min(p, two_sided_p(statistic, self.freedom)) if beyond == 0 else p

    def critical(self, level: float) -> float:
        """The statistic beyond which p ≤ 1 − level; inf where no statistic gets there (too few units)."""
        m = len(self.statistics)
        allowed = (1.0 - level) * m if self.exact else (1.0 - level) * (m + 1.0) - 1.0
        if allowed < (1.0 - 1e-9 if self.exact else -1e-9):
            return math.inf if self.exact else self._beyond_all(level)
        return self._statistic(float(self.statistics[m - 1 - math.floor(allowed + 1e-9)]))

    def _statistic(self, flipped: float) -> float:
        """Back from the scale of the flips (:func:`flipped_scale`)."""
        room = 1.0 - flipped * flipped / self.units
        return flipped / math.sqrt(room) if room > 0.0 else math.inf

    def _beyond_all(self, level: float) -> float:
        """The same at a level that so many flips cannot reach: Student's t, but no less than the farthest flip."""
        return max(t_quantile(level, self.freedom), self._statistic(float(self.statistics[-1])))


@lru_cache(maxsize=64)
def _reference(influence: bytes, seed: int) -> FlipReference:
    psi = np.frombuffer(influence)
    signs = sign_matrix(len(psi), FLIPS, seed)
    drawn = np.sort(np.abs(signs @ psi)) / math.sqrt(float((psi**2).sum()))
    return FlipReference(drawn, len(psi), len(psi) <= EXACT_UNITS, effective_freedom(psi))
