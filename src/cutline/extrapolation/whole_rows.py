"""Scores of every case for every class, all finite: how open-set rates and costs of confusions read them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import InputError, listed
from .extrapolator import AccuracyExtrapolator
from .notes import PROBABILITIES, Note
from .task_inputs import from_scores, number_matrix
from .tasks import KeptScores, ScoreTask

_TOTALS = (1.0, 100.0)  # of probabilities, also in per cent; other sums of rows are votes and the like
_OF_PROBABILITIES = (
    "Every row of scores sums to {total:g}, so these are probabilities, and a class that is added would lower all "
    "others. "
)


def whole_rows(scores: Any, labels: Any, *, instead: str, **options: Any) -> tuple[ScoreTask, KeptScores]:
    """The task with every score of every case, or an error that says which of them has no place on a scale.

    Of probabilities the logarithms are kept; ``instead`` tells the user what is made of them. Options are those of
    :func:`from_scores`.
    """
    task = from_scores(scores, labels, **options, keep=10**9)
    if task.scores is None:
        infinite = ~np.isfinite(number_matrix(scores, "scores")).all(axis=1)
        raise InputError("scores", "has an infinite score", "replace ±inf by a number", row=int(np.argmax(infinite)))
    total = probability_total(task)
    if total is None:
        return task, task.scores
    said = Note(PROBABILITIES, _OF_PROBABILITIES + instead, total=total)
    hints = tuple(said if hint.kind == PROBABILITIES else hint for hint in task.hints)
    return replace(task, hints=hints), task.scores


def probability_total(task: ScoreTask) -> float | None:
    """What the rows sum to where scores are probabilities and their logarithms were taken; None elsewhere."""
    totals = (hint.facts["total"] for hint in task.hints if hint.kind == PROBABILITIES)
    return next((total for total in totals if total in _TOTALS), None)


def notes_on_rows(task: ScoreTask) -> tuple[Note, ...]:
    """What :func:`extrapolate` notes about the same scores and labels."""
    return AccuracyExtrapolator("probit_normal", interval=False, progress=False).fit_task(task).result.general_notes


def column_names(table: Any) -> list[str] | None:
    """What a frame calls its columns; None for arrays, and where columns are only numbered."""
    names = getattr(table, "column_names", None)  # of Arrow, whose ``columns`` are the values
    return as_names(getattr(table, "columns", None) if names is None else names)


def as_names(names: Any) -> list[str] | None:
    """Names as text; None where they only count from 0, as those that nobody has given."""
    if names is None:
        return None
    found = [str(name) for name in np.ravel(np.asarray(names, dtype=object)).tolist()]
    return None if found == [str(number) for number in range(len(found))] else found


def places(given: list[str], known: list[str], argument: str) -> list[int]:
    """Where each of the known names is among those given; names that differ are refused."""
    if len(set(given)) < len(given) or set(given) != set(known):
        said = f"is named after {listed(given, 3)}, but the classes are {listed(known, 3)}"
        raise InputError(argument, said, "use the same names, or give an array in the order of the classes")
    place = {name: number for number, name in enumerate(given)}
    return [place[name] for name in known]
