"""Tables larger than memory, and on Spark: time, peak memory and spill, side by side in one run.

    python benchmarks/engines.py [--rows 100000000] [--memory-limit 2GB] [--only duckdb,spark] [--folder DIR]
    python benchmarks/engines.py --rows 1000000000 --only duckdb --not-loaded    # 23 GB of disk, some 10 minutes
    python benchmarks/engines.py --only files      # text files and batches, as ratios of processor time (2 minutes)

The data are made here: float64 scores, all but a few of them distinct, and an int8 label. Every figure comes from a
process of its own, so that peaks do not mix; times are of the work alone, after a small table has compiled what is
compiled once. The bare sort streams the same columns in the same order through the same reader into nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

COLUMNS = {"label": "y", "score": "p"}
SPARK_ROWS = (2_000_000, 20_000_000)


def make(path: Path, rows: int) -> str:
    """A Parquet file whose labels follow the scores."""
    import duckdb

    if not path.exists():
        score = "(hash(i) >> 11)::DOUBLE / 2.0**53"
        chance = "(hash(i + 1000000000007) >> 11)::DOUBLE / 2.0**53"
        part = path.with_suffix(".part")
        duckdb.sql(
            f"COPY (SELECT p, (c < p * p * 0.3)::TINYINT AS y FROM (SELECT {score} AS p, {chance} AS c "
            f"FROM range({rows}) r(i))) TO '{part}' (FORMAT PARQUET)"
        )
        part.rename(path)
    return str(path)


def bare_sort(path: str, options: dict[str, Any]) -> None:
    """What DuckDB alone takes to sort the columns and hand them out."""
    from cutline.sources.arrow_stream import batches
    from cutline.sources.duckdb import Machine, open_table
    from cutline.sources.file_formats import TextFormat

    with open_table(path, None, Machine(**options), TextFormat()) as table:
        sql = f"SELECT p AS score, (y = 1)::UTINYINT AS positive FROM {table.relation} ORDER BY score DESC"
        for _ in batches(table.run(sql), table.interrupt):
            pass


def values(path: str, options: dict[str, Any]) -> None:
    """The whole catalogue without intervals."""
    from cutline.verbs import evaluate

    evaluate(path, quota=0.01, interval=None, stream=True, **COLUMNS, **options)


def intervals(path: str, options: dict[str, Any]) -> None:
    """The whole catalogue with an interval for every measure."""
    from cutline.verbs import evaluate

    evaluate(path, quota=0.01, stream=True, **COLUMNS, **options)


def loaded_sklearn(path: str, options: dict[str, Any]) -> None:
    """One measure: scikit-learn's AUC on the columns, loaded."""
    import duckdb
    from sklearn.metrics import roc_auc_score

    columns = duckdb.sql(f"SELECT y, p FROM '{path}'").fetchnumpy()
    roc_auc_score(columns["y"], columns["p"])


def spark_session() -> Any:
    """Two local cores."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    return (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "4g")
        .getOrCreate()
    )


def spark_values(path: str, options: dict[str, Any]) -> None:
    """The whole catalogue on Spark."""
    from cutline.verbs import evaluate

    evaluate(spark_session().read.parquet(path), quota=0.01, interval=None, **COLUMNS)


def spark_intervals(path: str, options: dict[str, Any]) -> None:
    """The whole catalogue on Spark, with an interval for every measure."""
    from cutline.verbs import evaluate

    evaluate(spark_session().read.parquet(path), quota=0.01, **COLUMNS)


def spark_compare(path: str, options: dict[str, Any]) -> None:
    """Two models on Spark, compared with paired replicates that each row draws."""
    from cutline.verbs import compare

    frame = spark_session().read.parquet(path).selectExpr("y", "p", "p * p AS q")
    compare(frame, quota=0.01, label="y", score=["p", "q"])


def spark_evaluator(path: str, options: dict[str, Any]) -> None:
    """One measure, from a binned curve: Spark's own evaluator."""
    from pyspark.ml.evaluation import BinaryClassificationEvaluator
    from pyspark.sql import functions as f

    frame = spark_session().read.parquet(path).select(f.col("y").cast("double").alias("y"), "p")
    BinaryClassificationEvaluator(rawPredictionCol="p", labelCol="y").evaluate(frame)


WORK: dict[str, Callable[[str, dict[str, Any]], None]] = {
    f.__name__: f
    for f in (
        *(bare_sort, values, intervals, loaded_sklearn),
        *(spark_evaluator, spark_values, spark_intervals, spark_compare),
    )
}


def make_text(path: Path, rows: int, columns: int) -> str:
    """A CSV file of a label, a score, a day of the year, and further columns as flights have them."""
    import duckdb

    if not path.exists():
        more = [f"(hash(i, {k}) % {11 ** (k % 4 + 1)})::VARCHAR AS {chr(97 + k)}_of" for k in range(columns)]
        more = [f"'N' || {cell}" if k % 4 == 3 else cell for k, cell in enumerate(more)]
        score, chance = ("(hash(i, 'p') >> 11)::DOUBLE / 2.0**53", "(hash(i, 'c') >> 11)::DOUBLE / 2.0**53")
        cells = ["p", "(c < p * p * 0.3)::TINYINT AS y", "DATE '2024-01-01' + (hash(i, 'd') % 365)::INT AS day", *more]
        part = path.with_suffix(".part")
        drawn = f"(SELECT i, {score} AS p, {chance} AS c FROM range({rows}) r(i))"
        duckdb.sql(f"COPY (SELECT {', '.join(cells)} FROM {drawn}) TO '{part}' (FORMAT CSV)")
        part.rename(path)
    return str(path)


def processor(work: Callable[[], Any], times: int) -> float:
    """Processor time of all threads, the least of some runs."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def files(folder: Path) -> None:
    """Text files against what reads them elsewhere, and batches of a stream against the plain stream."""
    import duckdb
    import pandas as pd

    from cutline.diagnosis import doctor
    from cutline.verbs import evaluate

    def line(what: str, own: float, other: float, than: str) -> None:
        print(f"{what:52} {own:6.2f} s cpu, {own / other:5.2f} times {than} ({other:.2f} s)", flush=True)

    def read_and_evaluate() -> None:
        table = pd.read_csv(text)
        evaluate(table["y"].to_numpy(), table["p"].to_numpy(), measures=["roc_auc"])["roc_auc"]

    text = make_text(folder / "cutline-files-300000.csv", 300_000, 0)
    own = processor(lambda: evaluate(text, measures=["roc_auc"], **COLUMNS)["roc_auc"], 5)
    line("CSV, 300,000 rows: one AUC", own, processor(read_and_evaluate, 5), "pandas.read_csv and evaluate")
    large = make_text(folder / "cutline-files-10000000.csv", 10_000_000, 0)
    plain: dict[str, Any] = {"quota": 50, "stream": True, "memory_limit": "1GB", **COLUMNS}
    own = processor(lambda: evaluate(large, interval=None, **plain), 2)
    bare = f"SELECT p, y FROM read_csv('{large}') ORDER BY p DESC"
    with duckdb.connect(config={"memory_limit": "1GB"}) as connection:
        other = processor(lambda: connection.sql(bare).fetchnumpy(), 2)
    line("CSV, 10,000,000 rows, streamed: the catalogue", own, other, "DuckDB's read_csv, sorted")
    measured("values", large, text, "1GB", folder)  # and how much memory and disk it takes
    wide = make_text(folder / "cutline-files-flights.csv", 327_000, 16)
    own = processor(lambda: doctor(wide), 2)
    line("doctor, 327,000 rows of 19 columns", own, processor(lambda: pd.read_csv(wide), 2), "pandas.read_csv")
    days = folder / "cutline-days-5000000.parquet"
    if not days.exists():
        source = make_text(folder / "cutline-files-5000000.csv", 5_000_000, 0)
        duckdb.sql(f"COPY (FROM read_csv('{source}')) TO '{days}' (FORMAT PARQUET)")
    del plain["memory_limit"]
    for interval in (None, "auto"):
        how = {**plain, "measures": ["hit_rate", "roc_auc"], "interval": interval}
        own = processor(lambda how=how: evaluate(days, batch="day", **how), 2)
        other = processor(lambda how=how: evaluate(days, **how), 2)
        which = "with intervals" if interval else "values"
        line(f"365 batches of 5,000,000 rows, streamed: {which}", own, other, "the plain stream")


def spilled(folder: str, stop: threading.Event, largest: list[int]) -> None:
    """Watch how much lies in the temporary directory."""
    while not stop.wait(0.2):
        sizes = 0
        for file in Path(folder).rglob("*"):
            try:
                sizes += file.stat().st_size
            except OSError:  # gone in the meantime
                continue
        largest[0] = max(largest[0], sizes)


def peak_gb() -> float:
    """The largest resident size of this process (ru_maxrss would take over its parent's)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1e6


def child(work: str, path: str, small: str, options: dict[str, Any]) -> None:
    """One figure, in this process."""
    WORK[work](small, {})
    largest, stop = [0], threading.Event()
    watcher = threading.Thread(target=spilled, args=(options["temp_directory"], stop, largest))
    watcher.start()
    start, cpu = time.perf_counter(), time.process_time()
    WORK[work](path, options)
    took, used = time.perf_counter() - start, time.process_time() - cpu
    stop.set()
    watcher.join()
    peak = peak_gb()
    print(json.dumps({"seconds": took, "cpu": used, "peak_gb": peak, "spill_gb": largest[0] / 1e9}))


def measured(work: str, path: str, small: str, limit: str, folder: Path) -> dict[str, float]:
    """Run one figure in a process of its own and print it."""
    with tempfile.TemporaryDirectory(dir=folder) as spill:
        options = {"memory_limit": limit, "temp_directory": spill}
        command = [sys.executable, __file__, "--child", work, path, small, json.dumps(options)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    print(
        f"{work:16} {found['seconds']:8.1f} s  {found['cpu']:8.1f} s cpu  peak {found['peak_gb']:5.2f} GB  "
        f"spill {found['spill_gb']:5.2f} GB",
        flush=True,
    )
    return found


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--memory-limit", default="2GB")
    parser.add_argument("--only", default="duckdb,spark")
    parser.add_argument("--folder", default=tempfile.gettempdir())
    parser.add_argument("--not-loaded", action="store_true", help="leave out scikit-learn, which loads the columns")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child:
        child(*chosen.child[:3], json.loads(chosen.child[3]))
        return
    folder = Path(chosen.folder)
    if "files" in chosen.only:
        files(folder)
    small = make(folder / "cutline-engines-20000.parquet", 20_000)
    if "duckdb" in chosen.only:
        path = make(folder / f"cutline-engines-{chosen.rows}.parquet", chosen.rows)
        print(f"{chosen.rows:,} rows, memory limit {chosen.memory_limit}")
        bare = measured("bare_sort", path, small, chosen.memory_limit, folder)
        for work in ("values", "intervals") if chosen.not_loaded else ("values", "intervals", "loaded_sklearn"):
            found = measured(work, path, small, chosen.memory_limit, folder)
            print(f"{'':16} {found['seconds'] / bare['seconds']:8.2f} times the bare sort")
    if "spark" in chosen.only:
        for rows in SPARK_ROWS:
            path = make(folder / f"cutline-engines-{rows}.parquet", rows)
            print(f"{rows:,} rows, Spark local[2]; the peak is the driver's Python process")
            own = measured("spark_evaluator", path, small, chosen.memory_limit, folder)
            for work in ("spark_values", "spark_intervals", "spark_compare"):
                found = measured(work, path, small, chosen.memory_limit, folder)
                print(f"{'':16} {found['seconds'] / own['seconds']:8.2f} times Spark's evaluator")


if __name__ == "__main__":
    main()
