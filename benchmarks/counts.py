"""Counts beside rows: processor time, memory and width of the bounds, as ratios of one run.

    python benchmarks/counts.py [ROWS] [--copies K] [--spark [ROWS]]

ROWS is 2·10⁷ unless given; 10⁸ take .8 GB of disk. DuckDB makes the file: 10% positives, logits of the scores normal
(σ 1.3, mean −2, of positives −0.5), float64, nearly all distinct. The exact pass and the pass over counts run in
processes of their own, within 2 GB, so that the memory of one does not count for the other; each has evaluated a short
file before, and every estimate is read. With ``--copies K`` the file is linked K times, and the pass over counts reads
all of them, the exact pass one: its time is then that of one file times K. With ``--spark`` the same counts are also
compared with Spark's own evaluator, in one session of two threads.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

MAKE = """
import duckdb
duckdb.sql('''COPY (
    SELECT y::TINYINT AS y,
           1 / (1 + exp(-(1.3 * sqrt(-2 * ln(1 - random())) * cos(6.283185307179586 * random()) + 1.5 * y - 2))) AS p
    FROM (SELECT CAST(random() < 0.1 AS INT) AS y FROM range({rows}))
) TO '{path}' (FORMAT parquet)''')
"""
RUN = """
import json, resource, time
import cutline as cl
cl.evaluate({short!r}, label="y", score="p", quota=100, {how}).estimates.values()
before, started = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
ev = cl.evaluate({path!r}, label="y", score="p", quota=1000, memory_limit="2GB", {how})
ev.estimates.values()  # all measures: they are computed when they are read
used, auc = resource.getrusage(resource.RUSAGE_SELF), ev["roc_auc"]
print(json.dumps({{
    "cpu": used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime,
    "seconds": time.perf_counter() - started,
    "memory": used.ru_maxrss / 2**20,
    "written": (used.ru_oublock - before.ru_oublock) / 2**21,
    "value": auc.value,
    "width": auc.bounds.width,
}}))
"""
SPARK = """
import json, time
from pyspark.sql import SparkSession
from pyspark.ml.evaluation import BinaryClassificationEvaluator
import cutline as cl
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
frame, short = (spark.read.parquet(path).selectExpr("cast(y as double) y", "p") for path in ({path!r}, {short!r}))
BinaryClassificationEvaluator(rawPredictionCol="p", labelCol="y").evaluate(short)
cl.evaluate(short, label="y", score="p", exact=False).estimates.values()
took = []
for run in (
    lambda: BinaryClassificationEvaluator(rawPredictionCol="p", labelCol="y").evaluate(frame),
    lambda: cl.evaluate(frame, label="y", score="p", exact=False).to_metrics()["roc_auc"],
):
    started = time.perf_counter()
    value = run()
    took.append((time.perf_counter() - started, value))
print(json.dumps(took))
"""


def python(code: str) -> str:
    """What a process of its own prints last."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="?", type=float, default=2e7)
    words = "also beside Spark's own evaluator, on so many rows (default: as many)"
    parser.add_argument("--spark", nargs="?", type=float, const=0.0, metavar="ROWS", help=words)
    parser.add_argument("--copies", type=int, default=1, help="files that the pass over counts reads")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path, short, for_spark = (str(Path(folder) / f"{name}.parquet") for name in ("rows_1", "short", "spark"))
        python(MAKE.format(rows=int(asked.rows), path=path))
        python(MAKE.format(rows=100_000, path=short))
        for k in range(1, asked.copies):
            os.link(path, Path(folder) / f"rows_{k + 1}.parquet")
        every = str(Path(folder) / "rows_*.parquet")
        found = {
            name: json.loads(python(RUN.format(path=where, short=short, how=how)))
            for name, where, how in (("counts", every, "exact=False"), ("exact", path, "stream=True"))
        }
        print(f"{int(asked.rows) * asked.copies:,} rows, whole catalogue with intervals")
        print("            CPU s  seconds  memory GB  written GB  AUC            width of bounds")
        for name, one in found.items():
            rows = f"  ({int(asked.rows):,} rows)" if name == "exact" and asked.copies > 1 else ""
            print(
                f"{name:10} {one['cpu']:6.2f}  {one['seconds']:7.1f}  {one['memory']:9.2f}  {one['written']:10.2f}  "
                f"{one['value']:.9f}    {one['width']:.2e}{rows}"
            )
        ratio = {key: found["counts"][key] / found["exact"][key] / asked.copies for key in ("cpu", "seconds")}
        print(f"ratio      {ratio['cpu']:6.3f}  {ratio['seconds']:7.3f}")
        if asked.spark is not None:
            rows = int(asked.spark or asked.rows)
            python(MAKE.format(rows=rows, path=for_spark))
            (theirs, _), (ours, _) = json.loads(python(SPARK.format(path=for_spark, short=short)))
            print(f"Spark, {rows:,} rows: its evaluator {theirs:.1f} s, counts {ours:.1f} s, ratio {ours / theirs:.3f}")
    print(f"memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB")


if __name__ == "__main__":
    main()
