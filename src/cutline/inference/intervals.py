"""Which interval for which measure, and the estimates that an evaluation prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import InputError
from ..estimate import Estimate
from ..measures.catalogue import Spec, number
from ..measures.reading import read, why_undefined
from ..ranking import Ranking
from ..sample import Sample


@dataclass(frozen=True)
class Settings:
    """How intervals are made; enough to make them again."""

    interval: str | None = "auto"
    level: float = 0.95
    n_resamples: int = 2000
    seed: int = 0
    stratify: bool | None = None
    progress: bool | None = None

    @classmethod
    def checked(
        cls,
        interval: str | None,
        level: float,
        n_resamples: int,
        seed: int,
        stratify: bool | None,
        progress: bool | None,
    ) -> Settings:
        """Settings from a user's arguments."""
        number(level, "level", 0.0, 1.0, open_ends=True)
        if isinstance(n_resamples, bool) or not isinstance(n_resamples, int) or n_resamples < 1:
            raise InputError(f"n_resamples must be a whole number of at least 1, got {n_resamples!r}")
        return cls(interval, float(level), n_resamples, seed, stratify, progress)

    def to_dict(self) -> dict[str, Any]:
        """What a reader needs to make the same intervals again."""
        kept = asdict(self)
        del kept["progress"]
        return kept


def estimate_all(
    specs: Sequence[Spec],
    sample: Sample,
    ranking: Ranking,
    obstacles: Mapping[Spec, str],
    settings: Settings,
    groups: Any = None,
) -> dict[Spec, Estimate]:
    """Values, and intervals where they are asked for, of all specs."""
    possible = [spec for spec in specs if not obstacles[spec]]
    values = read(possible, ranking)
    estimates = {}
    for spec in specs:
        value = values.get(spec, float("nan"))
        reason = obstacles[spec]
        if value != value and not reason:
            reason = why_undefined(spec.measure, ranking.n_pos, ranking.n_neg)
        estimates[spec] = Estimate(str(spec), value, reason=reason)
    return estimates
