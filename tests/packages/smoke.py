"""What a user does first with cutline, by what is installed: ``python smoke.py core``, ``python smoke.py plot`` …

Run by check.py in an empty environment, from an empty folder. Imports nothing but cutline and what the extra brings.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import cutline as cl

Y = [1, 1, 0, 1, 1, 0, 0, 1, 0, 0] * 6
P = [0.95, 0.8, 0.75, 0.6, 0.5, 0.45, 0.3, 0.25, 0.2, 0.1] * 6
OPTIONAL = ("matplotlib", "sklearn", "pyspark", "pandas", "polars", "pyarrow", "openpyxl", "sqlglot")


def command(*words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    """The installed ``cutline`` command."""
    script = Path(sys.executable).with_name("cutline")
    done = subprocess.run([script, *words], capture_output=True, text=True, timeout=300)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done


def refused(work: Callable[[], object]) -> str:
    """What a user is told where a library is missing."""
    try:
        work()
    except ImportError as error:
        return str(error)
    raise AssertionError("it worked without the library")


def table() -> str:
    """The cases in a file."""
    lines = [f"{y},{p},{1 - p}" for y, p in zip(Y, P, strict=True)]
    Path("scores.csv").write_text("\n".join(["y,p,q", *lines]) + "\n", encoding="utf-8")
    return "scores.csv"


def core() -> None:
    """Arrays, files and the command line need no extra, and what needs one says which."""
    there = [name for name in OPTIONAL if importlib.util.find_spec(name)]
    assert not there, f"the environment is not empty: {there}"
    ev = cl.evaluate(Y, P, quota=10, n_resamples=200)
    assert ev["pem"].low < ev["pem"].value < ev["pem"].high
    assert cl.compare(Y, {"a": P, "b": P[::-1]}, measures=["roc_auc"]).best("roc_auc") == "a"
    assert cl.evaluate(table(), label="y", score="p", interval=None)["roc_auc"].value == ev["roc_auc"].value
    words = ("evaluate", table(), "--label", "y", "--score", "p", "--resamples", "200")
    told = json.loads(command(*words, "--format", "json").stdout)
    assert any(row["measure"] == "roc_auc" for row in told["measures"]), told
    command(*words, "--html", "report.html")
    assert "How many places?" in Path("report.html").read_text(encoding="utf-8")
    assert "cutline[plot]" in refused(lambda: ev.plot("roc"))
    assert "cutline[sql]" in refused(lambda: cl.sql(table="scores", label="y", score="p", dialect="duckdb"))
    assert "source checkout" in command("experiment", "berrar", status=2).stderr


def demo() -> None:
    """The demonstration answers its question and writes its page."""
    said = command("demo")
    assert "With 20 places, network is ahead, but not clearly" in said.stdout, said
    assert "Who gets a place?" in Path("cutline-demo.html").read_text(encoding="utf-8")


def plot() -> None:
    """A plot in a file."""
    import matplotlib

    matplotlib.use("agg")
    cl.evaluate(Y, P, quota=10, interval=None).plot("qrecall").figure.savefig("qrecall.png")
    assert Path("qrecall.png").read_bytes().startswith(b"\x89PNG")


def excel() -> None:
    """A sheet is a table like any other."""
    import openpyxl

    book = openpyxl.Workbook()
    for row in [("y", "p"), *zip([int(y) for y in Y], [float(p) for p in P], strict=True)]:
        book.active.append(row)
    book.save("scores.xlsx")
    found = cl.evaluate("scores.xlsx", label="y", score="p", interval=None)
    assert found["roc_auc"].value == cl.roc_auc(Y, P)


def sql() -> None:
    """A printed query whose result is evaluated, as a warehouse would answer it."""
    import duckdb

    words = ("--label", "y", "--score", "p", "--dialect", "duckdb")
    query = command("sql", "--table", f"'{table()}'", *words).stdout
    duckdb.sql(query).write_csv("counts.csv")
    found = cl.evaluate("counts.csv", interval=None)["roc_auc"]
    assert found.value == cl.roc_auc(Y, P), found


def sklearn() -> None:
    """A measure string as the scoring of a cross-validation."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score

    from cutline.sklearn import scorer

    inputs = np.column_stack([P, P[::-1]])
    values = cross_val_score(LogisticRegression(), inputs, Y, scoring=scorer("qrecall@50%"), cv=3)
    assert ((values > 0.5) & (values <= 1.0)).all(), values


def spark() -> None:
    """A table on a local Spark."""
    if shutil.which("java") is None:
        print("note: no java here, so Spark was not tried")
        return
    os.environ["PYSPARK_PYTHON"] = sys.executable
    warnings.simplefilter("ignore")  # Spark warns about sockets and its own past
    from pyspark.sql import SparkSession

    options = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.sql.shuffle.partitions": "2"}
    session = SparkSession.builder.master("local[2]").config(map=options).getOrCreate()
    try:
        rows = session.createDataFrame([*zip(Y, P, strict=True)], ["y", "p"])
        found = cl.evaluate(rows, label="y", score="p", interval=None)["roc_auc"].value
    finally:
        session.stop()
    assert abs(found - cl.roc_auc(Y, P)) < 1e-12


def frames() -> None:
    """Columns of pandas, polars and Arrow in; frames out."""
    import pandas
    import polars
    import pyarrow

    for make in (pandas.Series, polars.Series, pyarrow.array):
        assert cl.roc_auc(make(Y), make(P)) == cl.roc_auc(Y, P), make
    for frame in (pandas.DataFrame({"y": Y, "p": P}), polars.DataFrame({"y": Y, "p": P})):
        ev = cl.evaluate(frame, label="y", score="p", interval=None)
        assert len(ev.to_pandas()) == len(ev.to_polars()) == len(ev)


def experiments() -> None:
    """A paper's experiment, which a reader runs from a checkout: its folder is in CUTLINE_CHECKOUT."""
    script = Path(os.environ["CUTLINE_CHECKOUT"], "experiments", "berrar.py")
    subprocess.run([sys.executable, script, "--out", "results"], check=True, stdout=subprocess.DEVNULL, timeout=300)
    assert list(Path("results").rglob("*.png"))


def docs() -> None:
    """The documentation, from the checkout in CUTLINE_CHECKOUT."""
    for folder in ("docs", "examples"):
        shutil.copytree(Path(os.environ["CUTLINE_CHECKOUT"], folder), folder)
    subprocess.run([sys.executable, "-m", "sphinx", "-q", "docs", "site"], check=True, timeout=600)
    assert Path("site", "index.html").is_file()


JOBS: dict[str, Callable[[], None]] = {
    job.__name__: job for job in (core, demo, plot, excel, sql, sklearn, spark, frames, experiments, docs)
}

if __name__ == "__main__":
    JOBS[sys.argv[1]]()
