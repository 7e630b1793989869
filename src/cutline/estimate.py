"""A number with its uncertainty: what every part of cutline hands back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from .validate import checked


class Interval(NamedTuple):
    """A confidence interval; unpacks as ``low, high``."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """Length of the interval."""
        return self.high - self.low

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float) and self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Estimate:
    """One measure of one sample.

    ``low`` and ``high`` are nan if no interval was requested or none exists. ``method`` names the interval method.
    ``reason`` says why ``value`` is nan, or why it lacks the interval that was asked for; otherwise it is empty.
    """

    name: str
    value: float
    low: float = float("nan")
    high: float = float("nan")
    level: float = float("nan")
    method: str = ""
    reason: str = ""
    undefined_replicates: int = 0

    @property
    def interval(self) -> Interval:
        """The interval as a pair."""
        return Interval(self.low, self.high)

    def __float__(self) -> float:
        return self.value

    @checked
    def to_dict(self, name: str = "value") -> dict[str, Any]:
        """Value, ends, level and method by name; under another ``name`` than ``value``, it leads: ``profit_low``."""
        before = "" if name == "value" else f"{name}_"
        named = {name: self.value, f"{before}low": self.low, f"{before}high": self.high}
        return {**named, "level": self.level, "method": self.method} if name == "value" else named

    def __repr__(self) -> str:
        if self.value != self.value:
            return f"Estimate({self.name}=nan: {self.reason or 'undefined'})"
        if self.low != self.low:
            return f"Estimate({self.name}={self.value:.6g})"
        return (
            f"Estimate({self.name}={self.value:.6g} [{self.low:.6g}, {self.high:.6g}] {self.level:.0%} {self.method})"
        )
