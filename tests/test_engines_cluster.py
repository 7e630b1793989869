"""A standalone Spark cluster on loopback: one master and two workers.

The other one is killed during the job; and the same through Spark Connect.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import cutline as cl

pyspark = pytest.importorskip("pyspark")
pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("spark")]
MEASURES = ["roc_auc", "pem", "average_precision", "auch", "pr_auc_min", "pr_auc_max", "quota_pearson@700", "log_loss"]

JOB = """
    import json, sys, time
    from pathlib import Path
    from pyspark.sql import SparkSession
    from cutline.engines import spark_engine
    from cutline.verbs import evaluate
    from cutline.runtime import TUNING

    master, path, started, pause, measures = sys.argv[1:]
    spark = (
        SparkSession.builder.master(master).config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.executor.memory", "512m").config("spark.executor.cores", "1")
        .config("spark.speculation", "true").config("spark.task.maxFailures", "8").getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    TUNING.rows_per_partition = 1000
    work_of = spark_engine.sums_of_ranges

    def slowly(*arguments):
        work, seconds = work_of(*arguments), float(pause)
        Path(started).write_text("the partitions are being summed")

        def slow(batches):
            time.sleep(seconds)
            yield from work(batches)

        return slow

    spark_engine.sums_of_ranges = slowly
    ev = evaluate(spark.read.parquet(path), label="y", score="p", interval=None, measures=json.loads(measures))
    print(json.dumps({key: ev[key].value for key in ev}))
    spark.stop()
"""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Cluster:
    """Processes of a cluster, each in a group of its own so that it ends with its children."""

    def __init__(self, folder: Path) -> None:
        self.home = Path(pyspark.__file__).parent
        self.folder = folder
        self.environment = {
            **os.environ,
            "SPARK_HOME": str(self.home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_WORKER_DIR": str(folder / "work"),
            "SPARK_LOCAL_DIRS": str(folder / "local"),
            "SPARK_DAEMON_MEMORY": "256m",
            "PYSPARK_PYTHON": sys.executable,
        }
        self.processes: list[subprocess.Popen[bytes]] = []
        port = free_port()
        self.master = f"spark://127.0.0.1:{port}"
        options = ["--host", "127.0.0.1", "--webui-port", "0"]
        self.start("master.Master", *options, "--port", str(port))
        self.wait_for("master", "started at")
        worker = ("worker.Worker", *options, "--cores", "1", "--memory", "700m", self.master)
        self.workers = [self.start(*worker), self.start(*worker)]
        for k in (1, 2):
            self.wait_for(str(k), "registered with master")

    def start(self, name: str, *options: str, environment: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        log = (self.folder / f"{len(self.processes) or 'master'}.log").open("wb")
        command = [str(self.home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *options]
        process = subprocess.Popen(
            command, env=environment or self.environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
        log.close()
        self.processes.append(process)
        return process

    def wait_for(self, log: str, words: str) -> None:
        deadline = time.monotonic() + 300
        while words.casefold() not in (self.folder / f"{log}.log").read_text(errors="replace").casefold():
            assert time.monotonic() < deadline, (self.folder / f"{log}.log").read_text(errors="replace")[-2000:]
            time.sleep(0.2)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def close(self) -> None:
        for process in reversed(self.processes):
            self.kill(process)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    one = Cluster(tmp_path_factory.mktemp("cluster"))
    yield one
    one.close()


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    path = str(tmp_path_factory.mktemp("table") / "t.parquet")
    score = "round(hash(i) / 2.0**64, 3)"
    duckdb.sql(
        f"SELECT {score} AS p, (hash(i + 7777777) / 2.0**64 < {score})::TINYINT AS y FROM range(12000) r(i)"
    ).write_parquet(path)
    columns = duckdb.sql(f"FROM '{path}'").fetchnumpy()
    return path, {name: np.asarray(column) for name, column in columns.items()}


@pytest.mark.parametrize("lose_a_worker", [False, True])
def test_a_cluster_gives_the_same_even_where_a_worker_dies(
    lose_a_worker: bool, cluster: Cluster, table: tuple[str, dict[str, Any]], tmp_path: Path
) -> None:
    path, columns = table
    job, started = tmp_path / "job.py", tmp_path / "started"
    job.write_text(textwrap.dedent(JOB))
    pause = "0.7" if lose_a_worker else "0"
    command = [sys.executable, str(job), cluster.master, path, str(started), pause, json.dumps(MEASURES)]
    with (tmp_path / "job.log").open("wb") as log:
        running = subprocess.Popen(
            command, env=cluster.environment, stdout=subprocess.PIPE, stderr=log, start_new_session=True
        )
    cluster.processes.append(running)
    if lose_a_worker:
        deadline = time.monotonic() + 300
        while not started.exists():
            assert running.poll() is None, (tmp_path / "job.log").read_text()[-3000:]
            assert time.monotonic() < deadline
            time.sleep(0.1)
        time.sleep(2.0)
        assert running.poll() is None, "the job ended before the worker could be killed"
        cluster.kill(cluster.workers[0])
    out, _ = running.communicate(timeout=400)
    assert running.returncode == 0, (tmp_path / "job.log").read_text()[-3000:]
    found = json.loads(out.decode().strip().splitlines()[-1])
    expected = cl.evaluate(columns["y"], columns["p"], interval=None, measures=MEASURES)
    assert found == {key: pytest.approx(expected[key].value, rel=1e-12) for key in expected}


CONNECTED = """
    import json, sys
    from pyspark.sql import SparkSession
    from cutline.verbs import compare, evaluate

    path, measures = sys.argv[1:]
    spark = SparkSession.builder.remote("local[1]").getOrCreate()
    frame = spark.read.parquet(path).selectExpr("y", "p", "floor(p * 10) AS q")
    assert "connect" in type(frame).__module__
    ev = evaluate(frame, label="y", score="p", interval=None, measures=json.loads(measures))
    pair = compare(frame, label="y", score=["p", "q"], measures=["roc_auc"], n_resamples=50)
    found = {key: ev[key].value for key in ev}
    print(json.dumps([found, pair.difference("p", "q", "roc_auc")["difference"]]))
    spark.stop()
"""


def test_spark_connect(table: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
    """The client speaks to a server over gRPC and has no Java of its own."""
    pytest.importorskip("grpc")
    path, columns = table
    job = tmp_path / "job.py"
    job.write_text(textwrap.dedent(CONNECTED))
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [sys.executable, str(job), path, json.dumps(MEASURES)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found, difference = json.loads(done.stdout.strip().splitlines()[-1])
    expected = cl.evaluate(columns["y"], columns["p"], interval=None, measures=MEASURES)
    assert found == {key: pytest.approx(expected[key].value, rel=1e-12) for key in expected}
    coarse = cl.roc_auc(columns["y"], np.floor(columns["p"] * 10))
    assert difference == pytest.approx(expected["roc_auc"].value - coarse, rel=1e-9)
