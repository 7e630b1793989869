"""What the library calls an argument, as the command line calls it: options."""

from __future__ import annotations

from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import replace

from ..errors import InputError, Terms

_SAME = (
    *("quota", "level", "cost", "value", "budget", "margin", "threshold", "seed", "wins", "tied"),
    *("method", "ties", "missing", "threads", "recall", "precision", "specificity", "fpr", "master", "engine"),
    *("until", "score", "plot", "html", "case", "label", "weight", "model", "delimiter", "quote"),
    *("decimal", "encoding", "top", "metric", "confidence", "prevalence", "capacity", "vote", "folds"),
    *("abstain", "ordered", "order", "predicted", "by", "batch", "carry", "escape_formulas"),
    *(
        "inclusion",
        "estimator",
        "strangers",
        "fpir",
        "zone",
        "quota_by",
        "fixed_cost",
        "cost_fp",
        "cost_fn",
        "max_loss",
    ),
    *("reviewer_error", "half_width", "memory_limit", "temp_directory", "measure"),
)
NAMES = {
    "stream=False": "--engine memory",
    "segment": "--by",
    "places": "--quota-by",
    "n_resamples": "--resamples",
    "clusters": "--cluster",
    "sample_weight": "--weight",
    "n_classes": "--among",
    "keep": "--stage",
    "stages": "--stage",
    "rank_by": "--rank-by",
    "y_true": "--label",
    "labels": "--label",
    "y_score": "--score",
    "scores": "--score",
    "pos_label": "--positive",
    "neg_label": "--negative",
    "neg_label=None": "--rest-negative",
    "k": "--classes",
    "genuine": "--pairs",
    "impostor": "--pairs",
    "accuracies": "--accuracy",
    "measures": "--measure",
    "class_column": "--class",
    "score_matrix": "--score",
    "y_pred": "--predicted",
    "classes": "--order",
    **{name: f"--{name.replace('_', '-')}" for name in _SAME},
}
COMMAND_LINE = Terms(NAMES, assign="{name} {value}", blank="{name}", first_row=1, row_word="data row")
# what a command calls otherwise; select's quota may stand behind --quota-by
_OWN = {
    "screen": {"cost": "--costs", "quota": "--stage", "score": "--stage", "y_score": "--stage"},
    "check": {"measure": "the condition", "measures": "the condition", "quota": "the condition"},
    "cut": {"quota": "--capacity"},
    "select": {"by": "--quota-by", "segment": "--quota-by"},
}


def terms_of(command: str | None, given: Container[str]) -> Terms:
    """How to speak to somebody who typed this command with some of its options."""
    own = dict(_OWN.get(command or "", {}))
    if command == "select" and "quota_by" in given and "quota" not in given:
        own["quota"] = "--quota-by"
    return replace(COMMAND_LINE, names={**NAMES, **own})


@contextmanager
def about_file(name: str = "") -> Iterator[None]:
    """Around a call of the library: what it refuses of a row is said of that row of the file."""
    try:
        yield
    except InputError as error:
        raise error.located({}, name or None) from None
