"""The one interface of all methods, and how a method is found by its name."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from ..errors import InputError
from .evidence import Evidence
from .favorability import Favorability


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


def every_method() -> dict[str, Method]:
    """All methods with their default settings, by name.

    >>> sorted(every_method())  # doctest: +NORMALIZE_WHITESPACE
    ['exponential', 'gaussian', 'kde', 'kde_unbiased', 'mixture', 'pitman_yor', 'probit_normal', 'spline', 'tail']
    """
    from .exponential import Exponential
    from .gaussian import GaussianBasis
    from .kde import KernelDensity
    from .mixture import UniformMixture
    from .pitman_yor import PitmanYor
    from .probit_normal import ProbitNormal
    from .spline import LinearSpline
    from .tail import ParetoTail

    methods: tuple[Method, ...] = (
        LinearSpline(),
        UniformMixture(),
        GaussianBasis(),
        ProbitNormal(),
        PitmanYor(),
        Exponential(),
        KernelDensity(),
        KernelDensity(selector="unbiased"),
        ParetoTail(),
    )
    return {method.name: method for method in methods}


def find_method(method: str | Method) -> Method:
    """A method by name, or the object itself."""
    if isinstance(method, Method):
        return method
    known = every_method()
    if method not in known:
        raise InputError(f"method: {method!r} is unknown; choose 'auto' or one of {', '.join(known)}")
    return known[method]
