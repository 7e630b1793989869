"""cutline beside other libraries: the same task in the same run, whether the values agree, and the ratio of times.

    pip install rapidstats polarbearings MLstatkit confidenceinterval model-diagnostics
    pip install mapie fairlearn dcurves causalml pyarrow
    python benchmarks/peers.py                 print the tables
    python benchmarks/peers.py --write         also write them into docs/peers.md
    python benchmarks/peers.py --only 3 7      two of the tasks; the rows of the others stay as they are on the page

A library that is not installed is left out and named. Times are processor time of all threads, the best of several
runs; a ratio above 1 means that the other library takes longer. Data: 100,000 cases, 20% positive, two correlated
scores (10,000 where a library would take minutes). R packages are not run: their values are those of their own tests,
for data that stand in tests/, and they have no times.
"""

from __future__ import annotations

import argparse
import platform
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import date
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import cutline as cl

ROOT = Path(__file__).resolve().parents[1]
sys.path = [path for path in sys.path if Path(path) != ROOT / "benchmarks"]  # coverage.py there is not the package
PAGE = ROOT / "docs" / "peers.md"
START, END = "<!-- printed by benchmarks/peers.py -->", "<!-- end -->"
# What is imported before the clock starts.
PEERS = {
    "scikit-learn": "sklearn.metrics",
    "rapidstats": "rapidstats",
    "polarbearings": "polarbearings",
    "MLstatkit": "MLstatkit",
    "confidenceinterval": "confidenceinterval",
    "model-diagnostics": "model_diagnostics.scoring",
    "MAPIE": "mapie.risk_control",
    "fairlearn": "fairlearn.metrics",
    "dcurves": "dcurves",
    "causalml": "causalml.metrics",
}
# R packages: the version whose tests have the values.
RECORDED = {"pROC": "1.18", "yardstick": "1.3"}
# Tasks (by number) for which a library has a function that is not timed here, because a sibling of it is.
ALSO = {
    1: {"MLstatkit", "confidenceinterval"},
    2: {"MLstatkit", "yardstick"},
    5: {"polarbearings", "pROC"},
    6: {"pROC"},
    9: {"polarbearings", "yardstick"},
}
BY_HAND = {(5, "scikit-learn")}  # a loop around its function, not a function of its own
RUNS = 3
LONG = 1.0  # seconds after which a job is not repeated: it is long enough to be measured once
Job = Callable[[], Any]


class Recorded(NamedTuple):
    """A value that a library's own tests name, our value for the same data, and what is compared."""

    value: float
    ours: Job
    what: str


class Task(NamedTuple):
    """What is asked, what of the answers is compared, our call, and theirs by library."""

    name: str
    what: str
    ours: Job
    theirs: dict[str, Job | Recorded]


def wfns() -> tuple[Any, Any]:
    """Outcome and WFNS grade of 113 patients (aSAH of pROC; Turck et al. 2010), worst grade first."""
    good, poor = [4, 8, 3, 20, 37], [18, 8, 1, 12, 2]
    grades = np.concatenate([np.repeat([5, 4, 3, 2, 1], counts) for counts in (good, poor)])
    return np.repeat([0, 1], [sum(good), sum(poor)]), grades


def hpc(measure: str, first_fold: int = 0) -> float:
    """A measure of the four classes of hpc_cv (modeldata, used by yardstick's tests)."""
    classes = ["VF", "F", "M", "L"]
    with np.load(ROOT / "tests" / "golden" / "hpc_cv.npz") as stored:
        rows = stored["fold"] >= first_fold
        y, p = np.array(classes)[stored["obs"][rows]], stored["scores"][rows]
    return cl.evaluate(y, p, classes=classes, measures=[measure], interval=None)[measure].value


def sample(n: int, seed: int = 1) -> tuple[Any, Any, Any]:
    """Labels, and the probabilities of two models that share part of their noise."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.2).astype(int)
    shared = rng.normal(size=n)
    a, b = (1.2 * y + 0.8 * shared + 0.6 * rng.normal(size=n) for _ in range(2))
    return y, *(1 / (1 + np.exp(-(1.2 * x - 2.0))) for x in (a, b))


def tasks() -> Iterator[Task]:
    """Every task. A job whose library is missing raises ImportError."""
    y, p, q = sample(100_000)
    ys, ps, _ = sample(10_000)
    group = np.array(["a", "b", "c", "d"])[np.arange(len(y)) % 4]
    outcome, grade = wfns()

    def sklearn(name: str, *arguments: Any, **options: Any) -> Any:
        from sklearn import metrics

        return getattr(metrics, name)(*arguments, **options)

    def frame(**columns: Any) -> Any:
        import polars as pl

        return pl.DataFrame(columns)

    def rapid(name: str) -> Any:
        import rapidstats

        return getattr(rapidstats.metrics, name)

    def bearings(name: str) -> Any:
        import polarbearings as pb
        import polars as pl

        return frame(y=y, p=p).select(getattr(pb, name)(pl.col("y"), pl.col("p"))).item()

    yield Task(
        "Area under the ROC curve",
        "value",
        lambda: cl.roc_auc(y, p),
        {
            "scikit-learn": lambda: sklearn("roc_auc_score", y, p),
            "rapidstats": lambda: rapid("roc_auc")(y, p),
            "polarbearings": lambda: bearings("roc_auc"),
            "pROC": Recorded(0.823678861788618, lambda: cl.roc_auc(outcome, grade), "value, aSAH"),
            "yardstick": Recorded(
                0.827387699597311, lambda: hpc("hand_till_auc", 6), "value, four classes (Hand & Till)"
            ),
        },
    )
    yield Task(
        "Average precision",
        "value",
        lambda: cl.average_precision(y, p),
        {
            "scikit-learn": lambda: sklearn("average_precision_score", y, p),
            "rapidstats": lambda: rapid("average_precision")(y, p),
            "polarbearings": lambda: bearings("average_precision"),
        },
    )

    def squared_error() -> Any:
        from model_diagnostics.scoring import SquaredError

        return SquaredError()(y, p)

    yield Task(
        "Brier score",
        "value",
        lambda: cl.brier_score(y, p),
        {
            "scikit-learn": lambda: sklearn("brier_score_loss", y, p),
            "rapidstats": lambda: rapid("brier_loss")(y, p),
            "polarbearings": lambda: bearings("brier_score"),
            "model-diagnostics": squared_error,
            "yardstick": Recorded(0.21083946, lambda: hpc("brier_score(half=True)"), "value, four classes, 8 digits"),
        },
    )

    def delong_ci() -> Any:
        from confidenceinterval import roc_auc_score

        return roc_auc_score(y, p)[1]

    yield Task(
        "DeLong interval of the AUC",
        "lower limit",
        lambda: cl.evaluate(y, p, measures=["roc_auc"], interval="delong")["roc_auc"].low,
        {
            "confidenceinterval": lambda: delong_ci()[0],
            "pROC": Recorded(
                0.748534887819453,
                lambda: cl.evaluate(outcome, grade, measures=["roc_auc"], interval="delong")["roc_auc"].low,
                "lower limit, aSAH",
            ),
        },
    )

    def rapid_bootstrap() -> Any:
        import rapidstats

        return rapidstats.Bootstrap(iterations=1000, seed=0).roc_auc(ys, ps)[0]

    def kit_bootstrap() -> Any:
        from MLstatkit import Bootstrapping

        return Bootstrapping(ys, ps, "roc_auc", n_bootstraps=1000)[1]

    def sklearn_bootstrap() -> Any:
        rng = np.random.default_rng(0)
        rows = (rng.integers(0, len(ys), len(ys)) for _ in range(1000))
        return np.quantile([sklearn("roc_auc_score", ys[r], ps[r]) for r in rows], 0.025)

    yield Task(
        "1,000 bootstrap replicates of the AUC, 10⁴ cases",
        "lower limit",
        lambda: cl.evaluate(ys, ps, measures=["roc_auc"], interval="percentile", n_resamples=1000)["roc_auc"].low,
        {"scikit-learn": sklearn_bootstrap, "rapidstats": rapid_bootstrap, "MLstatkit": kit_bootstrap},
    )

    def kit_delong() -> Any:
        from MLstatkit import Delong_test

        return Delong_test(y, p, q, return_ci=False, return_auc=False)[1]

    yield Task(
        "Paired DeLong test of two AUCs",
        "p-value",
        lambda: cl.compare(y, {"a": p, "b": q}, measures=["roc_auc"], interval="delong").differences[0]["p_value"],
        {"MLstatkit": kit_delong},
    )

    def decomposition() -> Any:
        from model_diagnostics.scoring import SquaredError, decompose

        return decompose(y_obs=ys, y_pred=ps, scoring_function=SquaredError())["miscalibration"].item()

    yield Task(
        "Calibration: Brier score taken apart (isotonic), 10⁴ cases",
        "miscalibration (ours without what the fit itself adds)",
        lambda: (
            cl.evaluate(ys, ps, measures=["brier_score"], interval=None)
            .calibration()["brier_score.miscalibration"]
            .value
        ),
        {"model-diagnostics": decomposition},
    )

    def benefit() -> Any:
        import dcurves
        import pandas as pd

        rows = dcurves.dca(pd.DataFrame({"y": y, "p": p}), outcome="y", modelnames=["p"], thresholds=[0.3])
        return float(rows.loc[rows["model"] == "p", "net_benefit"].iloc[0])

    yield Task(
        "Net benefit at 30%",
        "value",
        lambda: cl.evaluate(y, p, measures=["accuracy"], interval=None).decision_curve([0.3]).table[0]["net_benefit"],
        {"dcurves": benefit},
    )

    def by_group() -> Any:
        from fairlearn.metrics import MetricFrame
        from sklearn.metrics import recall_score

        return MetricFrame(metrics=recall_score, y_true=y, y_pred=p > 0.5, sensitive_features=group).by_group["a"]

    yield Task(
        "Recall in each of four groups",
        "value of one",
        lambda: (
            cl.evaluate(y, p, by=group, measures=["recall"], threshold=0.5, interval=None).segments["a"]["recall"].value
        ),
        {"fairlearn": by_group},
    )

    def controlled() -> Any:
        from mapie.risk_control import BinaryClassificationController

        grid = np.linspace(0.01, 0.99, 99)
        rows = np.column_stack([1 - ps, ps])
        control = BinaryClassificationController(
            lambda x: x, "recall", 0.8, confidence_level=0.9, list_predict_params=grid
        )
        control.calibrate(rows, ys)
        return float(control.best_predict_param)

    yield Task(
        "Threshold whose recall is 80% on new data, 90% confidence, 10⁴ cases",
        "threshold (theirs: of a grid of 99)",
        lambda: float(cl.threshold_for(ys, ps, recall=0.8, confidence=0.9)),
        {"MAPIE": controlled},
    )

    treated = np.random.default_rng(2).random(len(y)) < 0.5
    bought = np.where(treated & (p > 0.3), y, y * (group != "a"))  # the treatment helps where the score is high

    def area_under_uplift() -> Any:
        import pandas as pd
        from causalml.metrics import auuc_score

        rows = pd.DataFrame({"y": bought, "w": treated.astype(int), "p": p})
        return auuc_score(rows, outcome_col="y", treatment_col="w", normalize=False)["p"] * (len(y) + 1) / len(y) ** 2

    yield Task(
        "Uplift of a trial: area under the cumulative gain",
        "value (theirs divided by n²/(n + 1))",
        lambda: cl.uplift(treated, bought, p)["auuc"].value,
        {"causalml": area_under_uplift},
    )


def measured(job: Job) -> tuple[float, float]:
    """What a job gives, and the least processor time of some runs."""
    least, value = float("inf"), float("nan")
    for _ in range(RUNS):
        start = time.process_time()
        value = float(job())
        least = min(least, time.process_time() - start)
        if least > LONG:
            break
    return value, least


def agreement(ours: float, theirs: float) -> str:
    """Whether two values are the same, or both of them. A recorded value may have eight digits."""
    gap = abs(ours - theirs)
    return next(
        (f"equal to 10{s}" for limit, s in ((1e-9, "⁻⁹"), (1e-8, "⁻⁸")) if gap < limit), f"{ours:.5g} and {theirs:.5g}"
    )


def compared(task: Task, number: int) -> Iterator[str]:
    """The section of a task: a row for each library with agreement, and their time over ours."""
    value, seconds = measured(task.ours)
    yield from (f"### {number}. {task.name}", "", f"Compared: {task.what}.", "")
    yield from ("| library | ours and theirs | their time ÷ ours |", "|---|---|---:|")
    for peer, job in task.theirs.items():
        if isinstance(job, Recorded):
            yield f"| {peer} ({job.what}) | {agreement(float(job.ours()), job.value)} | recorded |"
            continue
        try:
            import_module(PEERS[peer])
            other, taken = measured(job)
        except ImportError:
            yield f"| {peer} | not installed | |"
            continue
        times = taken / seconds
        yield (
            f"| {peer} | {agreement(value, other)} | {times:.0f} |"
            if times >= 10
            else (f"| {peer} | {agreement(value, other)} | {times:.2g} |")
        )
    yield ""


def abilities(tasks: list[Task]) -> Iterator[str]:
    """A row for each library: the tasks for which it has a function, by number."""
    yield "| library | version | tasks |"
    yield "|---|---|---|"
    yield f"| cutline | {cl.__version__} | 1–{len(tasks)} |"
    for peer in (*PEERS, *RECORDED):
        able = [
            number
            for number, task in enumerate(tasks, 1)
            if (peer in task.theirs or peer in ALSO.get(number, ())) and (number, peer) not in BY_HAND
        ]
        yield f"| {peer} | {RECORDED.get(peer) or installed(peer)} | {', '.join(map(str, able)) or 'none'} |"


def installed(name: str) -> str:
    """The version of a library, or that it is not there."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def cpu() -> str:
    """The kind of processor, where the system tells."""
    try:
        return re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))[1]  # type: ignore[index]
    except (OSError, TypeError):
        return platform.processor() or platform.machine()


def main() -> None:
    """Print the tables; with ``--write`` also into the page of the site."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the tables into docs/peers.md")
    parser.add_argument("--only", type=int, nargs="+", help="numbers of the tasks to run")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # what other libraries warn of is not ours to mend
    every = list(tasks())
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    stored, _, after = rest.partition(END)
    lines = ["## Which library has a function for which task", "", *abilities(every), "", "## The tasks", ""]
    print(*lines, sep="\n")
    for number, task in enumerate(every, 1):
        if asked.only and number not in asked.only:
            section = re.search(rf"^### {number}\. .*?(?=^### |^cutline )", stored, re.MULTILINE | re.DOTALL)
            rows = section[0].splitlines() if section else []
        else:
            rows = list(compared(task, number))
        lines += rows
        print(*rows, sep="\n", flush=True)
    python = f"Python {platform.python_version()}, NumPy {np.__version__}"
    lines += [f"cutline {cl.__version__}; {python}; {cpu()}, {date.today().isoformat()}."]
    print(lines[-1])
    if asked.write:
        PAGE.write_text(f"{before}{START}\n\n" + "\n".join(lines) + f"\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
