"""`blend`: the weighted mean of several methods, which is again a mixture over favorability."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .evidence import Evidence
from .favorability import Favorability
from .method import Method


@dataclass(frozen=True)
class Blend:
    """Several methods side by side: ``AGA_k = Σ_i w_i AGA_k^(i)``.

    Methods err in different directions (kernels smooth, tails bend, ranks scatter), so a mean of methods that a
    back-test cannot tell apart is steadier than any of them.

    Examples
    --------
    >>> from cutline.extrapolation.exponential import Exponential
    >>> from cutline.extrapolation.pitman_yor import PitmanYor
    >>> k = np.arange(2.0, 21.0)
    >>> Blend((PitmanYor(), Exponential()), (0.5, 0.5)).name
    'blend(pitman_yor 0.50, exponential 0.50)'
    """

    members: tuple[Method, ...]
    weights: tuple[float, ...]

    @property
    def name(self) -> str:
        """The members with their weights."""
        parts = ", ".join(
            f"{method.name} {weight:.2f}" for method, weight in zip(self.members, self.weights, strict=True)
        )
        return f"blend({parts})"

    @property
    def needs_scores(self) -> bool:
        """As its members."""
        return any(method.needs_scores for method in self.members)

    def variants(self) -> tuple[Method, ...]:
        """Itself."""
        return (self,)

    def settled(self, evidence: Evidence) -> Method:
        """Every member settled."""
        return replace(self, members=tuple(method.settled(evidence) for method in self.members))

    def fit(self, evidence: Evidence) -> Favorability:
        """All members fitted, their distributions mixed."""
        return mix([method.fit(evidence) for method in self.members], self.weights)


def mix(parts: list[Favorability], weights: tuple[float, ...]) -> Favorability:
    """The mixture of several distributions."""
    return Favorability(
        miss=np.concatenate([part.miss for part in parts]),
        miss_weight=np.concatenate([part.miss_weight * w for part, w in zip(parts, weights, strict=True)]),
        span=np.concatenate([part.span for part in parts]),
        span_weight=np.concatenate([part.span_weight * w for part, w in zip(parts, weights, strict=True)]),
    )
