"""The fuzz of the public functions, briefly; ``python tests/fuzz_api.py --minutes 10`` looks for longer."""

from __future__ import annotations

import pytest

from fuzz_api import fuzz


def test_odd_arguments_are_answered_or_refused() -> None:
    assert fuzz(seed=28, calls=400, minutes=0.0) == []


@pytest.mark.integration
@pytest.mark.parametrize("seed", [3, 6, 29])  # each found faults when it was first tried
def test_many_odd_arguments_are_answered_or_refused(seed: int) -> None:
    assert fuzz(seed=seed, calls=20_000, minutes=0.0) == []
