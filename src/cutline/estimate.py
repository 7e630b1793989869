"""How intervals are asked for, and what comes out: a value with its interval."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, get_args

from .types import AucName, ClassIntervalName, IntervalName, ReplicateName
from .validate import checked, one_of


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
    ``reason`` explains why ``value`` is nan, or why it lacks the interval that was asked for; otherwise it is empty.
    ``certain``: where scores came in buckets, between which ends the value of the cases lies for certain.
    """

    name: str
    value: float
    low: float = float("nan")
    high: float = float("nan")
    level: float = float("nan")
    method: str = ""
    reason: str = ""
    undefined_replicates: int = 0
    certain: Interval | None = None

    @property
    def bounds(self) -> Interval:
        """Between which ends the value lies for certain: the value itself, unless scores came in buckets."""
        return Interval(self.value, self.value) if self.certain is None else self.certain

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
        if self.certain is not None:
            named |= {f"{before}bound_low": self.certain.low, f"{before}bound_high": self.certain.high}
        return {**named, "level": self.level, "method": self.method} if name == "value" else named

    def __repr__(self) -> str:
        if self.value != self.value:
            return f"Estimate({self.name}=nan: {self.reason or 'undefined'})"
        if self.low != self.low:
            return f"Estimate({self.name}={self.value:.6g})"
        interval = f"[{self.low:.6g}, {self.high:.6g}] {self.level:.0%} {self.method}"
        return f"Estimate({self.name}={self.value:.6g} {interval})"


OF_AUC: tuple[str, ...] = get_args(AucName)
FROM_REPLICATES: tuple[str, ...] = get_args(ReplicateName)
BY_REPLICATES = ("bootstrap", *FROM_REPLICATES)
INTERVAL = one_of(None, *get_args(IntervalName))
CLASS_INTERVAL = one_of(None, *get_args(ClassIntervalName))


@dataclass(frozen=True)
class Settings:
    """How intervals are made; enough to make them again. ``stratify`` keeps the sizes of two classes in a replicate."""

    interval: str | None = "auto"
    level: float = 0.95
    n_resamples: int = 2000
    seed: int = 0
    stratify: bool | None = None
    progress: bool | None = field(default=None, kw_only=True, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """What a reader needs to make the same intervals again."""
        content = asdict(self)
        del content["progress"]
        return content
