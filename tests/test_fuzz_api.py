"""The fuzz of the public functions: briefly at each run of the suite, for longer before a release."""

from __future__ import annotations

import random

import pytest

from fuzz_api import fuzz


def test_odd_arguments_are_answered_or_refused() -> None:
    assert fuzz(seed=28, calls=400, minutes=0.0) == []


@pytest.mark.integration
def test_odd_arguments_for_two_minutes() -> None:
    seed = random.SystemRandom().randrange(2**32)
    assert fuzz(seed, calls=None, minutes=2.0) == [], f"python tests/fuzz_api.py --seed {seed}"
