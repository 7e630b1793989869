"""Settings shared by all tests: the same examples on every machine and every run.

``pytest --hypothesis-profile=thorough`` looks for new examples instead, and for many more of them.
"""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

settings.register_profile(
    "cutline", derandomize=True, deadline=None, database=None, max_examples=40, suppress_health_check=SLOW_IS_FINE
)
settings.register_profile(
    "thorough", deadline=None, database=None, max_examples=1000, print_blob=True, suppress_health_check=SLOW_IS_FINE
)
settings.load_profile("cutline")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Clusters are started by tests of the group themselves."""
    if any(mark.args == ("spark",) for mark in item.iter_markers("xdist_group")):
        _need_java()


def _need_java() -> None:
    """Without Java the tests of Spark are skipped; in CI that is a failure."""
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("Spark runs on Java, and there is none here")


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """One local Spark for every test that needs it; these are in one group, so in one process."""
    pytest.importorskip("pyspark")
    _need_java()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = (
            SparkSession.builder.master("local[2]")
            .appName("cutline-tests")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "4")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.memory", "1g")
            # tables are tiny: compiling plans, and Java's second compiler, would take longer than running them
            .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
            .config("spark.sql.codegen.wholeStage", "false")
            .config("spark.sql.execution.arrow.maxRecordsPerBatch", "97")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()
