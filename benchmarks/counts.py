"""Counts beside rows: processor time, memory and width of the bounds, as ratios of one run.

    python benchmarks/counts.py [ROWS] [--spark]

ROWS is 2·10⁷ unless given; 10⁹ take 10 GB of disk. The exact pass and the pass over counts run in processes of their
own, so that the memory of one does not count for the other.
"""

from __future__ import annotations

import argparse
import json
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
cl.evaluate([1, 0, 1], [0.3, 0.2, 0.1])
before, started = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
ev = cl.evaluate({path!r}, label="y", score="p", quota=1000, memory_limit="2GB", {how})
used, auc = resource.getrusage(resource.RUSAGE_SELF), ev["roc_auc"]
print(json.dumps({{
    "cpu": used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime,
    "seconds": time.perf_counter() - started,
    "memory": used.ru_maxrss / 2**20,
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
frame = spark.read.parquet({path!r}).selectExpr("cast(y as double) y", "p")
frame.selectExpr("sum(p)").collect()
took = []
for run in (
    lambda: BinaryClassificationEvaluator(rawPredictionCol="p", labelCol="y").evaluate(frame),
    lambda: cl.evaluate(frame, label="y", score="p", exact=False)["roc_auc"].value,
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
    parser.add_argument("--spark", action="store_true", help="also beside Spark's own evaluator")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "rows.parquet")
        python(MAKE.format(rows=int(asked.rows), path=path))
        found = {
            name: json.loads(python(RUN.format(path=path, how=how)))
            for name, how in (("exact", ""), ("counts", "exact=False"))
        }
        print(f"{int(asked.rows):,} rows, whole catalogue with intervals")
        print("            CPU s  seconds  memory GB  AUC            width of bounds")
        for name, one in found.items():
            print(
                f"{name:10} {one['cpu']:6.1f}  {one['seconds']:7.1f}  {one['memory']:9.2f}  "
                f"{one['value']:.9f}    {one['width']:.2e}"
            )
        ratio = {key: found["counts"][key] / found["exact"][key] for key in ("cpu", "seconds")}
        print(f"ratio      {ratio['cpu']:6.3f}  {ratio['seconds']:7.3f}")
        if asked.spark:
            (theirs, _), (ours, _) = json.loads(python(SPARK.format(path=path)))
            print(f"Spark: its evaluator {theirs:.1f} s, counts {ours:.1f} s, ratio {ours / theirs:.3f}")
    print(f"memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB")


if __name__ == "__main__":
    main()
