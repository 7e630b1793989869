"""Every option of every command reaches the library call that it stands for."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner

from cutline.commands import evaluate
from cutline.commands.group import cli
from cutline.commands.options import GOALS

# command -> the options it is called with, and the library's functions behind it
ONE, TWO = ["--label", "y", "--score", "p"], ["--label", "y", "--score", "p", "--score", "q"]
CALLS: dict[str, tuple[list[str], list[str]]] = {
    "evaluate": (ONE, ["verbs.evaluate"]),
    "evaluate --by": ([*ONE, "--by", "r"], ["verbs.evaluate"]),
    "compare": (TWO, ["verbs.compare"]),
    "compare --by": ([*TWO, "--by", "r"], ["verbs.compare"]),
    "select": (["--score", "p", "--quota", "9"], ["decide.selection.select"]),
    "cut": ([*ONE, "--recall", ".5"], ["decide.thresholds.threshold_for"]),
    "check": (["roc_auc > .5", *ONE], ["verbs.evaluate", "verbs.compare"]),
    "screen": (["--label", "y", "--stage", "p=50%", "--stage", "q=5"], ["decide.selection.screen"]),
    "vote": (TWO, ["papers.selective_voting"]),
    "uplift": (["--treated", "y", "--outcome", "z", "--score", "p"], ["decide.targeting.uplift"]),
    "plan": ([*ONE, "--cost", "1", "--value", "3"], ["decide.planning.plan"]),
    "evaluate --inclusion": ([*ONE, "--inclusion", ".5"], ["verbs.evaluate"]),
    "label-plan": (["--score", "p", "--budget", "9", "--measure", "pem"], ["sampled_labels.label_plan"]),
}
# another value for each option than its default or that of the call above
VALUES: dict[str, list[str]] = {
    **{name: ["w"] for name in ("weight", "worth")},
    "label": ["z"],
    "score": ["q"],
    "negate": ["p"],
    "scores": ["w"],
    "batch": ["d"],
    "cluster": ["c"],
    "by": ["d"],
    "quota": ["7"],
    "threshold": ["0.25"],
    "recall": [".7"],
    "precision": [".6"],
    "specificity": [".6"],
    "fpr": [".3"],
    "confidence": [".8"],
    "positive": ["0"],
    "prevalence": [".2"],
    "measures": ["gini"],
    "measure": ["roc_auc"],
    "level": [".8"],
    "resamples": ["77"],
    "seed": ["5"],
    "margin": [".1"],
    "cost": ["2"],
    "value": ["4"],
    "budget": ["11"],
    "maximize": ["f1"],
    "ties": ["expand"],
    "costs": ["1,2"],
    "stages": ["w=9"],
    "rank_by": ["gini"],
    "folds": ["4"],
    "inclusion": ["i"],
    "interval": ["bootstrap"],
    "tolerance": ["0.01"],
    "treated": ["z"],
    "outcome": ["q"],
    "propensity": ["i"],
}
FLAGS = {"no_intervals"}
# Options about the file, about what is printed or written, or that turn to another function; and those that a call
# cannot take beside its own.
ELSEWHERE = {
    *("adjust",),  # what the intervals are judged by, after the call
    *("list_size",),  # what is read from the evaluation, after the call: test_list_size.py
    *("calibration", "swaps", "consistency"),  # the same: test_cli_decisions.py
    *("where", "sheet", "skip_rows", "ignore_case"),
    *("file", "conditions", "missing", "delimiter", "quote", "decimal", "encoding", "engine", "memory_limit"),
    *(
        "threads",
        "temp_directory",
        "form",
        "html",
        "plot",
        "plot_kind",
        "pairs",
        "why",
        "fairness",
        "output",
        "everything",
    ),
    *("negative", "rest_negative", "predicted", "ordered", "order"),
    *("cost_fp", "cost_fn", "cut", "cut_by", None),
    *("positives", "negatives", "rows", "low", "high", "more", "min_cell", "approximate"),  # of counts in place of rows
}
NOT_BESIDE = {
    "evaluate": {"cost", "inclusion"},
    "evaluate --by": {
        *("batch", "cost", "prevalence"),
        "inclusion",
        *GOALS,
    },
    "evaluate --inclusion": {
        *(
            *evaluate.NOT_SAMPLED,
            "weight",
            "worth",
            "by",
            "batch",
            "cluster",
            "prevalence",
            "interval",
            "cost",
            "value",
        ),
    },
    "select": {"cost"},  # a column of it, beside the worth: test_select.py
    "compare": {"cost", "value"},
    "compare --by": {"cost", "value", "batch", "prevalence"},
    "cut": {"precision", "specificity", "fpr", "maximize"},
}


class Called(Exception):
    """The library was called."""


def fingerprint(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.tobytes() if value.dtype != object else repr(value.tolist())
    if isinstance(value, dict):
        return {key: fingerprint(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [fingerprint(one) for one in value]
    if hasattr(value, "positive") and hasattr(value, "score"):
        return fingerprint([value.positive, value.score, value.weight])
    if type(value).__name__ == "Partition":
        return fingerprint([value.codes, list(value.keys)])
    return type(value).__name__ if type(value).__module__.startswith("cutline.sources") else repr(value)


@pytest.fixture
def scored(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    y, p, q = rng.integers(0, 2, 60), rng.random(60).round(3), rng.random(60).round(3)
    other = {"z": rng.integers(0, 2, 60), "w": rng.random(60).round(2) + 0.5, "i": rng.random(60).round(2) / 2 + 0.3}
    names = {"y": y, "p": p, "q": q, **other, "d": np.arange(60) % 5, "c": np.arange(60) // 3}
    lines = [",".join([*names, "r"])]
    lines += [",".join([*(str(v[k]) for v in names.values()), "ns"[k % 2]]) for k in range(60)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


OPTIONS = [
    (call, param)
    for call in CALLS
    for param in cli.get_command(click.Context(cli), call.split()[0]).params
    if param.name not in ELSEWHERE | NOT_BESIDE.get(call, set()) | {"quiet"}
]


@pytest.mark.parametrize(("call", "param"), OPTIONS, ids=lambda p: p if isinstance(p, str) else p.name)
def test_every_option_changes_the_call_that_it_stands_for(
    call: str, param: click.Parameter, scored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, functions = CALLS[call]
    calls: list[Any] = []
    for function in functions:
        module, _, name = function.rpartition(".")

        def record(*arguments: Any, _name: str = name, **options: Any) -> None:
            calls.append((_name, fingerprint(arguments), fingerprint(options)))
            raise Called

        monkeypatch.setattr(importlib.import_module(f"cutline.{module}"), name, record)

    def made(*more: str) -> Any:
        calls.clear()
        done = CliRunner().invoke(cli, [call.split()[0], str(scored), *given, *more])
        assert isinstance(done.exception, Called), (done.output, done.exception)
        return list(calls)

    option = param.opts[0]
    more = [option] if param.name in FLAGS else [part for value in VALUES[param.name] for part in (option, value)]
    if option in given and param.name not in ("stages", "scores", "measures"):  # given already: give another value
        at = given.index(option)
        before, given = made(), [*given[:at], *given[at + 2 :]]
        assert made(*more) != before
    else:
        assert made(*more) != made()


# what a command asks for by itself: the table, the measures that it prints, the names of columns, no stream
BY_ITSELF = {"source", "measures", "name", "y_score", "names", "stream", "neg_label"}
# the most draws that a permutation test takes, and what evaluations in memory take
OTHERS = {"check": {"n_resamples": 2000}}


@pytest.mark.parametrize("call", CALLS)
def test_options_that_are_not_given_have_the_defaults_of_the_library(
    call: str, scored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, (function, *_) = CALLS[call]
    module, _, name = function.rpartition(".")
    home = importlib.import_module(f"cutline.{module}")
    signature = inspect.signature(getattr(home, name))
    calls: list[inspect.BoundArguments] = []

    def record(*arguments: Any, **options: Any) -> None:
        calls.append(signature.bind(*arguments, **options))
        raise Called

    monkeypatch.setattr(home, name, record)
    CliRunner().invoke(cli, [call.split()[0], str(scored), *given])
    (made,) = calls
    asked = {option.lstrip("-") for option in given if option.startswith("--")} | BY_ITSELF
    defaults = {key: signature.parameters[key].default for key in made.arguments.keys() - asked}
    defaults |= OTHERS.get(call, {})
    wrong = {
        key: (made.arguments[key], default)
        for key, default in defaults.items()
        if default is not inspect.Parameter.empty and fingerprint(made.arguments[key]) != fingerprint(default)
    }
    assert not wrong
