"""How intervals are made, as the user asked for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from ..errors import InputError
from ..estimate import Estimate
from ..validate import one_of
from . import proportions

FROM_REPLICATES = ("percentile", "basic", "bca")
OF_AUC = ("delong", "delong_logit")
NAMES = ("auto", "bootstrap", *proportions.METHODS, *OF_AUC, *FROM_REPLICATES)
INTERVAL = one_of(None, *NAMES)
BY_REPLICATES = ("bootstrap", *FROM_REPLICATES)


def check_paired_interval(value: Any, name: str) -> Any:
    """A method that differences between models have; others are for a single share or a single area."""
    single = (*proportions.METHODS, "delong_logit")
    if INTERVAL(value, name) in single:
        remedy = f"choose one of auto, delong, {', '.join(BY_REPLICATES)}; evaluate() takes {value!r}"
        raise InputError(name, f"is {value!r}, which no difference between models has", remedy)
    return value


def check_method_exists(estimates: Iterable[Estimate], interval: str | None) -> None:
    """Refuse a method asked for by name that none of the measures has."""
    known = [e for e in estimates if e.value == e.value]
    lacking = [e.reason for e in known if e.low != e.low and e.reason]
    if interval not in (None, "auto", "bootstrap") and lacking and len(lacking) == len(known):
        remedy = "use 'auto', or name a measure that has it"
        raise InputError("interval", f"is {interval!r}, but there is {lacking[0]}", remedy)


@dataclass(frozen=True)
class ClassSettings:
    """How intervals are made; enough to make them again."""

    interval: str | None = "auto"
    level: float = 0.95
    n_resamples: int = 2000
    seed: int = 0
    progress: bool | None = field(default=None, kw_only=True, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """What a reader needs to make the same intervals again."""
        kept = asdict(self)
        del kept["progress"]
        return kept


@dataclass(frozen=True)
class Settings(ClassSettings):
    """The same for two classes: ``stratify`` keeps their sizes in every replicate."""

    stratify: bool | None = None
