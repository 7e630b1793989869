"""What was seen: average test accuracy for every number of classes up to ``k1``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..estimate import Estimate
from .moments import Floats


@dataclass(frozen=True, eq=False)
class Observed:
    """Average test accuracy by number of classes (Zheng et al. Eq. 4); ``observed[50]`` is an Estimate.

    Attributes
    ----------
    k, accuracy, standard_error
        The curve as arrays.
    test_accuracy
        Accuracy in the whole task of ``k1`` classes (Eq. 3).
    ranks
        For every case the expected place of the right class, 1 for the best; None where cases are unknown.
    """

    k: Floats
    accuracy: Floats
    standard_error: Floats
    error_method: str
    level: float
    n_tested: int
    ranks: Floats | None = None

    @property
    def test_accuracy(self) -> float:
        """Accuracy among all ``k1`` classes."""
        return float(self.accuracy[-1])

    def __len__(self) -> int:
        return int(self.k.size)

    def __iter__(self) -> Iterator[int]:
        return iter(self.k.astype(int).tolist())

    def __contains__(self, k: object) -> bool:
        return isinstance(k, int | float | np.integer) and bool((self.k == k).any())

    def __getitem__(self, k: int) -> Estimate:
        place = np.flatnonzero(self.k == k)
        if not place.size:
            raise InputError(f"k: {k} was not observed; observed are {self.k[0]:g} to {self.k[-1]:g} classes")
        value, error = float(self.accuracy[place[0]]), float(self.standard_error[place[0]])
        name = f"accuracy@{k}"
        if not np.isfinite(error):
            return Estimate(name, value)
        low, high = _normal_interval(value, error, self.level, self.n_tested)
        return Estimate(name, value, low, high, self.level, self.error_method)


def _normal_interval(value: float, error: float, level: float, n: int) -> tuple[float, float]:
    """Normal interval on the logit scale, which keeps it inside [0, 1]; exact binomial where no case differs."""
    from scipy.special import betaincinv, expit, logit, ndtri

    if 0.0 < value < 1.0 and error > 0.0:
        reach = float(ndtri(0.5 + level / 2.0)) * error / (value * (1.0 - value))
        centre = float(logit(value))
        return float(expit(centre - reach)), float(expit(centre + reach))
    tail = (1.0 - level) / 2.0
    right = value * n
    low = 0.0 if right <= 0 else float(betaincinv(right, n - right + 1.0, tail))
    high = 1.0 if right >= n else float(betaincinv(right + 1.0, n - right, 1.0 - tail))
    return low, high
