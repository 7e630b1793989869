"""Quotas in cases, and unknown quotas: a range, or quotas with probabilities, over which a measure is the mean."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError, show
from .reference import documented
from .table import pluralize
from .types import QuotaLike
from .validate import check_number, check_quota, checked

MOST = 256  # a longer range is read at this many quotas, evenly spread, each standing for those nearest to it
_ONE = r"\d+(?:\.\d*)?%?|\.\d+%?"
_RANGE = re.compile(rf"^\s*({_ONE})\s*[-–…]\s*({_ONE})\s*$")
_REMEDY = "write a number of cases (200), a share (5%), a range (20-60) or quotas with probabilities (20:0.5,40:0.5)"


@documented
@dataclass(frozen=True)
class Quotas:
    """Quotas with weights; or, if ``through`` is set, all quotas from the first to the last, equally likely.

    >>> str(Quotas.of(range(20, 61))), str(Quotas.of("5%-10%")), str(Quotas.of({20: 1, 40: 3}))
    ('20-60', '5%-10%', '20:0.25,40:0.75')
    """

    quotas: tuple[int | float, ...]
    weights: tuple[float, ...]
    through: bool = False

    @classmethod
    @checked(value=lambda value, _: value)  # a quota, not an amount
    def of(cls, value: Any, name: str = "quota") -> Quotas:
        """From a range, a text such as ``20-60``, a pair (low, high), or a mapping from quota to probability."""
        if isinstance(value, str):
            value = parse_quota(value, name)
        if isinstance(value, Quotas):
            return value
        if isinstance(value, range):
            if len(value) == 0:
                raise InputError(name, "is an empty range", "put the smaller quota first")
            value = (min(value), max(value)) if value.step in (1, -1) else dict.fromkeys(value, 1.0)
        if isinstance(value, Mapping):
            if not value:
                raise InputError(name, "is empty", "give at least one quota its probability")
            quotas = tuple(check_quota(quota, name) for quota in value)
            weights = np.array([check_number(w, f"{name}[{q!r}]", 0.0) for q, w in value.items()])
            if not weights.any() or not np.isfinite(weights).all():
                raise InputError(name, "has probabilities that do not add up", "make them finite, and not all zero")
            return cls(quotas, tuple(_shares(weights).tolist()))
        if not isinstance(value, tuple | list) or len(value) != 2:
            raise InputError(name, f"is {show(value)}, which is not a quota", _REMEDY)
        low, high = (check_quota(quota, name) for quota in value)
        if isinstance(low, int) != isinstance(high, int):
            raise InputError(name, f"mixes a number of cases and a share, {low} and {high}", "use one of the two")
        if low > high:
            raise InputError(name, f"is a range that runs backwards, {low} to {high}", "put the smaller quota first")
        return cls((low, high), (1.0, 1.0), through=True)

    def sizes(self, cases: float, most: int = MOST) -> tuple[list[int], NDArray[np.float64]]:
        """The quotas in cases, ascending, and their weights, which add up to 1; a range at ``most`` quotas at most."""
        resolved = [resolve_quota(quota, cases) for quota in self.quotas]
        if not self.through:
            sizes, place = np.unique(resolved, return_inverse=True)
            return [int(size) for size in sizes], np.bincount(place, self.weights).astype(np.float64)
        low, high = resolved
        sizes = np.unique(np.linspace(low, high, min(most, high - low + 1)).round())
        edges = np.concatenate([[low - 0.5], (sizes[1:] + sizes[:-1]) / 2.0, [high + 0.5]])
        return [int(size) for size in sizes.tolist()], _shares(np.diff(edges))

    @property
    def words(self) -> str:
        """The quotas in words.

        >>> Quotas.of("20-60").words, Quotas.of("5%-10%").words, Quotas.of({20: 1, 40: 3}).words
        ('20 to 60 places', 'places for 5% to 10% of the cases', '20 (25%) or 40 (75%) places')
        """
        if not self.through:
            pairs = zip(self.quotas, self.weights, strict=True)
            return " or ".join(f"{_show(q)} ({w:{'.3g' if w < 0.01 else '.0%'}})" for q, w in pairs) + " places"
        span = " to ".join(map(_show, self.quotas))
        return f"places for {span} of the cases" if isinstance(self.quotas[0], float) else f"{span} places"

    def __str__(self) -> str:
        if self.through:
            return "-".join(map(_show, self.quotas))
        return ",".join(f"{_show(q)}:{w:.12g}" for q, w in zip(self.quotas, self.weights, strict=True))


def _shares(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights as multiples of 2⁻⁵⁰, which floats add up to exactly 1 in any order: no mean leaves its range."""
    steps = np.rint(np.ldexp(weights / weights.sum(), 50))
    steps[np.argmax(steps)] += 2.0**50 - steps.sum()
    return np.asarray(np.ldexp(steps, -50))


def _show(quota: int | float) -> str:
    return f"{quota * 100:.12g}%" if isinstance(quota, float) else str(quota)


def parse_quota(value: Any, name: str = "quota") -> Any:
    """Read a quota: ``200`` cases, ``5%`` or ``0.05`` of them, ``20-60`` any of these, ``20:0.5,40:0.5`` one of these.

    >>> parse_quota("200"), parse_quota("5%"), str(parse_quota("20-60")), parse_quota(None)
    (200, 0.05, '20-60', None)
    """
    if isinstance(value, str):
        ends = _RANGE.match(value)
        pairs = [part.partition(":") for part in value.split(",")] if ":" in value else []
        numbers: list[int | float] = []
        try:
            for part in map(str.strip, ends.groups() if ends else [pair[0] for pair in pairs] or [value]):
                if part.endswith("%"):
                    numbers.append(float(part[:-1]) / 100.0)
                else:
                    numbers.append(int(part) if re.fullmatch(r"[+-]?\d+", part) else float(part))
            weights = [float(weight) for _, _, weight in pairs]
        except ValueError:
            raise InputError(name, f"is {show(value)}, which is not a quota", _REMEDY) from None
        if not ends and not pairs:
            return numbers[0]
        value = dict(zip(numbers, weights, strict=True)) if pairs else tuple(numbers)
    if isinstance(value, Quotas | Mapping | range | tuple | list):
        return Quotas.of(value, name)
    return None if value is None else check_quota(value, name)


def why_no_cut(quota: Any, cases: Any) -> str:
    """Why a segment of so many cases has no cut at a quota; empty where it has one."""
    try:
        quota_sizes(quota, cases)
    except InputError as error:
        larger = f"is larger than the segment, which has {pluralize(cases, 'case')}"
        return f"the quota {error.problem if 'less than one case' in error.problem else larger}"
    return ""


def quota_sizes(quota: Any, cases: Any) -> tuple[list[int], NDArray[np.float64]]:
    """A quota, known or not, in cases with weights."""
    return quota.sizes(cases) if isinstance(quota, Quotas) else ([resolve_quota(quota, cases)], np.ones(1))


def whole_cases(cases: float) -> int:
    """Whole cases in a sum of weights: rounding must not cost a case, nor add one to a very long list."""
    if 2.0**53 < cases < math.inf:  # beyond that not every whole number is a float
        problem = f"adds up to {cases:.3g} cases, too many to count places"
        raise InputError("sample_weight", problem, "divide all weights by the same number")
    return math.floor(cases + min(1e-12 * cases, 1e-3))


def resolve_quota(quota: QuotaLike | None, cases: float, name: str = "quota") -> int:
    """Cases that a quota means: an integer is a number of cases, a float in (0, 1) a share of them, rounded down.

    ``cases`` is the number of rows, or the sum of their weights: a row of weight w stands for w cases.
    """
    wanted, most = check_quota(quota, name), whole_cases(cases) if cases < math.inf else math.inf
    shown = f"{cases:,}" if isinstance(cases, int) else f"{cases:.6g}"
    if isinstance(wanted, float):
        taken = whole_cases(wanted * cases)  # 0.29 · 100 is 28.999… in floats, and means 29
        if taken < 1:
            least = f"ask for at least {100 / cases:.3g}%"
            raise InputError(name, f"is {100 * wanted:.4g}% of {shown} cases, which is less than one case", least)
        return taken
    if wanted > most:
        raise InputError(name, f"is {quota}", f"it must be from 1 to the number of cases, {shown}")
    return wanted
