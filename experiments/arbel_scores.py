"""Arbel & Rokach, Tables 8 and 9, from score lists: Weka's own scores on the paper's split.

A list is ``SET.MODEL.csv.gz`` (or .csv) with the columns ``actual`` and one score for each class, in the order of the
test file. The order matters: the paper's numbers keep tied cases in the order of the list, best first, and its average
Qrecall starts one place late. Both readings are tried here, and each printed value is said to be reached by which.
"""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cutline as cl
from report import as_printed, row, truncated

PRINTED = json.loads((Path(__file__).parent / "printed.json").read_text(encoding="utf-8"))
TABLES = {"smallest": "table 8", "largest": "table 9"}
FILES = {"C4.5": "J48", "NB": "NB", "NN": "NN"}

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ScoreList:
    """The actual classes of the test cases, and a score for each class."""

    classes: list[str]
    actual: NDArray[Any]
    scores: Floats

    @classmethod
    def read(cls, path: Path) -> ScoreList:
        """From a CSV file, zipped or not."""
        text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text(encoding="utf-8")
        head, *lines = list(csv.reader(text.splitlines()))
        return cls(head[1:], np.array([x[0] for x in lines]), np.array([[float(v) for v in x[1:]] for x in lines]))

    def column(self, positive: str) -> tuple[NDArray[np.bool_], Floats]:
        """Labels and scores with one class as the positive one."""
        return self.actual == positive, self.scores[:, self.classes.index(positive)]


def find(folder: Path, name: str, model: str) -> Path | None:
    """The file of a set and a model, if it is there."""
    paths = (folder / f"{name}.{FILES[model]}.csv{end}" for end in (".gz", ""))
    return next((path for path in paths if path.is_file()), None)


def in_list_order(score: Floats, *, last_first: bool = False) -> Floats:
    """Scores without ties: tied cases keep the order of the list, the first of them best (or the last)."""
    place = np.arange(len(score))
    order = np.lexsort((-place if last_first else place, -score))
    broken = np.empty(len(score))
    broken[order] = np.arange(len(score), 0, -1)
    return broken


def one_place_late(y: Any, s: Any) -> float:
    """Average Qrecall over the places n⁺+1 … n, as the tables have it, instead of n⁺ … n."""
    n_pos, places = int(np.sum(y)), len(y) - int(np.sum(y)) + 1
    return (places * cl.average_qrecall(y, s) - cl.qrecall(y, s, quota=n_pos)) / (places - 1)


def is_value(value: float, printed: str) -> bool:
    """Rounded or cut to the printed digits."""
    return as_printed(value, printed) or truncated(value, printed)


def judge(measure: str, printed: str, y: Any, s: Floats) -> tuple[float, str]:
    """Our value by the definition, and how the printed one comes about."""
    broken = in_list_order(s)
    if measure == "AUC":
        value = cl.roc_auc(y, s)
        return value, "agrees" if as_printed(value, printed) else "agrees, cut off" if truncated(
            value, printed
        ) else "differs"
    if measure == "average Qrecall":
        value, in_order = cl.average_qrecall(y, s), cl.average_qrecall(y, broken)
        late, late_in_order = one_place_late(y, s), one_place_late(y, broken)
        low, high = (cl.average_qrecall(y, s, ties=ties) for ties in ("worst", "best"))
        ways = {"agrees": value, "ties in list order (A6)": in_order, "one place late (A5)": late}
        ways |= {"one place late, ties in list order (A5, A6)": late_in_order}
    else:
        function = cl.pem if measure == "PEM" else cl.average_hit_rate
        value = function(y, s)
        low, high = (function(y, s, ties=ties) for ties in ("worst", "best"))
        ways = {"agrees": value, f"ties in list order ({'A3' if measure == 'PEM' else 'A6'})": function(y, broken)}
        if measure == "PEM":
            ways["sign lost in print (A4)"] = -value
    for how, reached in ways.items():
        if is_value(reached, printed):
            return value, how
    near = low < high and low - 1e-3 <= float(printed) <= high + 1e-3
    return value, "differs, but a tie order would give it" if near else "differs"


def positive_class(lists: dict[str, ScoreList], which: str, printed: dict[str, dict[str, str]]) -> tuple[str, str]:
    """The class that a table means: by size in the test part, or, where that fails, one that gives its AUCs."""
    one = next(iter(lists.values()))
    sizes = {c: int((one.actual == c).sum()) for c in one.classes}
    there = [c for c in one.classes if 0 < sizes[c] < len(one.actual)]
    by_size = (min if which == "smallest" else max)(there, key=lambda c: sizes[c])

    def fits(c: str) -> int:
        return sum(is_value(cl.roc_auc(*scored.column(c)), printed[model]["AUC"]) for model, scored in lists.items())

    best = max(there, key=fits)
    if fits(best) > fits(by_size):
        return best, f"class {best}: fits, though by the test part {by_size} is the {which}"
    return by_size, f"class {by_size}"


def set_names(folder: Path) -> list[str]:
    """The paper's sets with a list of every model in the folder."""
    return [name for name in PRINTED["table 8"]["rows"] if all(find(folder, name, model) for model in FILES)]


def rows(folder: Path) -> list[dict[str, Any]]:
    """Every printed value of the sets in the folder beside ours."""
    found = []
    for name in set_names(folder):
        lists = {model: ScoreList.read(path) for model in FILES if (path := find(folder, name, model))}
        for which, table in TABLES.items():
            printed = PRINTED[table]["rows"][name]
            positive, note = positive_class(lists, which, printed)
            for model, scored in lists.items():
                y, s = scored.column(positive)
                for measure, text in printed[model].items():
                    value, verdict = judge(measure, text, y, s)
                    low, high = bounds(measure, y, s)
                    spread = f"ties: {low:.4f} … {high:.4f}" if low < high else "no ties"
                    what = f"{name}, {which}, {model}: {measure}"
                    more = {"set": name, "class": which, "model": model, "measure": measure, "note": note}
                    found.append(row(what, text, value, spread, verdict, **more))
    return found


def bounds(measure: str, y: Any, s: Floats) -> tuple[float, float]:
    """The measure with the worst and the best order within ties; AUC counts a tie half, whatever the order."""
    if measure == "AUC":
        return (cl.roc_auc(y, s),) * 2
    function = {"PEM": cl.pem, "average hit rate": cl.average_hit_rate, "average Qrecall": cl.average_qrecall}[measure]
    return function(y, s, ties="worst"), function(y, s, ties="best")


def by_model(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row for each set, class and model, with our values by measure."""
    table: dict[tuple[str, str, str], dict[str, Any]] = {}
    for one in found:
        key = one["set"], one["class"], one["model"]
        table.setdefault(key, {"set": key[0], "class": key[1], "split": 0, "model": key[2]})[one["measure"]] = one[
            "ours"
        ]
    return list(table.values())


def summary(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """How many printed values each reading reaches, by model and measure."""
    table = []
    for model in FILES:
        for measure in ("AUC", "PEM", "average hit rate", "average Qrecall"):
            chosen = [one for one in found if one["model"] == model and one["measure"] == measure]
            reached = [one for one in chosen if not one["verdict"].startswith("differs")]
            plainly = [one for one in reached if one["verdict"].startswith("agrees")]
            table.append(
                {
                    "model": model,
                    "measure": measure,
                    "printed": len(chosen),
                    "by definition": len(plainly),
                    "by list order or place": len(reached) - len(plainly),
                    "not reached": len(chosen) - len(reached),
                }
            )
    return table


def matching_sets(found: list[dict[str, Any]]) -> list[str]:
    """Sets and tables for which all three AUCs come out: there the paper used these very scores."""
    names = dict.fromkeys((one["set"], one["class"]) for one in found)
    return [
        f"{name} ({which})"
        for name, which in names
        if all(
            one["verdict"] != "differs"
            for one in found
            if one["measure"] == "AUC" and one["set"] == name and one["class"] == which
        )
    ]


def draw(ax: Any, found: list[dict[str, Any]]) -> None:
    """The printed PEMs of C4.5 between the worst and the best order of ties."""
    matching = matching_sets(found)
    chosen = [
        one
        for one in found
        if one["measure"] == "PEM" and one["model"] == "C4.5" and f"{one['set']} ({one['class']})" in matching
    ]
    for k, one in enumerate(chosen[::-1]):
        ends = [float(x) for x in one["spread"].removeprefix("ties: ").split(" … ")] if "…" in one["spread"] else []
        if ends:
            ax.plot(ends, [k, k], color="C0", linewidth=4, alpha=0.35, solid_capstyle="butt")
        ax.plot(one["ours"], k, "o", color="C0", label="expected ties (Eq. 5)" if k == 0 else None)
        ax.plot(
            float(one["printed"]), k, "D", color="black", markerfacecolor="none", label="printed" if k == 0 else None
        )
    ax.set_yticks(range(len(chosen)), [f"{one['set']}, {one['class']}" for one in chosen[::-1]], fontsize=8)
    ax.set_xlabel("PEM of C4.5; bar: from the worst to the best order of tied cases")
    ax.grid(axis="x", alpha=0.3)
    ax.legend(loc="lower left", fontsize=8)
