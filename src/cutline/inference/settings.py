"""How intervals are made, as the user asked for it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from ..validate import one_of
from . import proportions

FROM_REPLICATES = ("percentile", "basic", "bca")
OF_AUC = ("delong", "delong_logit")
NAMES = ("auto", "bootstrap", *proportions.METHODS, *OF_AUC, *FROM_REPLICATES)
INTERVAL = one_of(None, *NAMES)


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
