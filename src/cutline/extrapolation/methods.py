"""The one interface of all methods, how a method is found by its name, and the weighted mean of several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from ..errors import InputError, show
from .evidence import Evidence
from .favorability import Favorability, mix


@runtime_checkable
class Method(Protocol):
    """Turns what was seen at ``k1`` classes into a distribution of favorability."""

    @property
    def name(self) -> str:
        """What reports call it."""

    @property
    def needs_scores(self) -> bool:
        """Whether ranks are not enough."""

    def fit(self, evidence: Evidence) -> Favorability:
        """The fitted distribution."""

    def variants(self) -> tuple[Method, ...]:
        """The settings among which a back-test chooses; itself alone where nothing is to be chosen."""

    def settled(self, evidence: Evidence) -> Method:
        """The method with its data-driven settings fixed, so that a resample does not choose them anew."""


class Fixed:
    """A method without settings to choose: the one variant of itself, settled from the start."""

    def variants(self: Method) -> tuple[Method, ...]:
        """Itself: nothing to choose."""
        return (self,)

    def settled(self: Method, evidence: Evidence) -> Method:
        """Itself."""
        return self


@dataclass(frozen=True)
class Blend:
    """Several methods side by side: ``AGA_k = Σ_i w_i AGA_k^(i)``.

    Methods err in different directions (kernels smooth, tails bend, ranks scatter), so a mean of methods that a
    back-test cannot tell apart is steadier than any of them.

    Examples
    --------
    >>> methods = every_method()
    >>> Blend((methods["pitman_yor"], methods["exponential"]), (0.5, 0.5)).name
    'blend(pitman_yor 0.50, exponential 0.50)'
    """

    members: tuple[Method, ...]
    weights: tuple[float, ...]

    @property
    def name(self) -> str:
        """The members with their weights."""
        pairs = zip(self.members, self.weights, strict=True)
        return f"blend({', '.join(f'{method.name} {weight:.2f}' for method, weight in pairs)})"

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

    def without_small(self, least: float) -> Blend:
        """Only the members that count for at least so much (the largest always), in the same proportions."""
        limit = min(least, max(self.weights))
        kept = [(m, w) for m, w in zip(self.members, self.weights, strict=True) if w >= limit]
        total = sum(weight for _, weight in kept)
        return Blend(tuple(member for member, _ in kept), tuple(weight / total for _, weight in kept))

    def fit(self, evidence: Evidence) -> Favorability:
        """All members fitted, their distributions mixed; one that cannot read a resample is left out of it."""
        fits, shares = [], []
        for method, weight in zip(self.members, self.weights, strict=True):
            try:
                fits.append(method.fit(evidence))
                shares.append(weight)
            except InputError:
                if method is self.members[-1] and not fits:
                    raise
        return mix(fits, [weight / sum(shares) for weight in shares])


@cache
def every_method() -> Mapping[str, Method]:
    """All methods with their default settings, by name.

    >>> list(every_method())  # doctest: +NORMALIZE_WHITESPACE
    ['spline', 'mixture', 'gaussian', 'probit_normal', 'pitman_yor', 'exponential', 'kde', 'kde_unbiased', 'tail',
     'pooled', 'calibrated']
    """
    from . import curve_methods, parametric_methods, score_methods

    methods: tuple[Method, ...] = (
        curve_methods.LinearSpline(),
        curve_methods.UniformMixture(),
        curve_methods.GaussianBasis(),
        parametric_methods.ProbitNormal(),
        parametric_methods.PitmanYor(),
        parametric_methods.Exponential(),
        score_methods.KernelDensity(),
        score_methods.KernelDensity(selector="unbiased"),
        score_methods.ParetoTail(),
        score_methods.PooledScores(),
        score_methods.CalibratedScores(),
    )
    return MappingProxyType({method.name: method for method in methods})


def find_method(method: str | Method) -> Method:
    """A method by name, or the object itself."""
    if isinstance(method, Method):
        return method
    known = every_method()
    if not isinstance(method, str) or method not in known:
        raise InputError("method", f"is {show(method)}", f"choose 'auto' or one of {', '.join(known)}")
    return known[method]
