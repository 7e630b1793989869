"""Settings shared by all tests: the same examples on every machine and every run."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "cutline",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
settings.load_profile("cutline")
