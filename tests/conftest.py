"""Settings shared by all tests: the same examples on every machine and every run.

``pytest --hypothesis-profile=thorough`` looks for new examples instead, and for many more of them.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

settings.register_profile(
    "cutline", derandomize=True, deadline=None, database=None, max_examples=40, suppress_health_check=SLOW_IS_FINE
)
settings.register_profile(
    "thorough", deadline=None, database=None, max_examples=1000, print_blob=True, suppress_health_check=SLOW_IS_FINE
)
settings.load_profile("cutline")
