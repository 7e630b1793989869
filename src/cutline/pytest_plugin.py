"""What pytest loads: the fixture ``cutline_check``, with which a test fails if a model misses its limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from .validate import one_of

if TYPE_CHECKING:
    from .verdict import Check


@pytest.fixture
def cutline_check() -> Callable[..., Check]:
    """A function that takes what :func:`cutline.check` takes; the test fails with its evidence unless it passes.

    With ``undecided="skip"`` the test is skipped where an interval contains the limit.
    """

    def check(evaluation: Any, *conditions: str, undecided: str = "fail", **options: Any) -> Check:
        from .verbs import check as check_evaluation

        __tracebackhide__ = True  # the reader wants the evidence, not this function
        one_of("fail", "skip")(undecided, "undecided")
        outcome = check_evaluation(evaluation, *conditions, **options)
        if outcome == "undecided" and undecided == "skip":
            pytest.skip(outcome.sentence)
        if outcome != "pass":
            pytest.fail(repr(outcome), pytrace=False)
        return outcome

    return check
