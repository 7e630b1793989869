"""The threshold that keeps a promise: a recall reached, a precision kept, a false positive rate or quota not passed."""

from __future__ import annotations

from typing import Any

from ..errors import InputError
from ..ranking import rank
from ..sample import make_sample
from ..validate import checked
from .operating import operating_point


@checked
def threshold_for(
    y_true: Any,
    y_score: Any,
    *,
    recall: float | None = None,
    precision: float | None = None,
    fpr: float | None = None,
    specificity: float | None = None,
    quota: int | float | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """The threshold t under exactly one constraint, so that ``score > t`` keeps it on this sample.

    ``recall=0.9``: at least 0.9, with as few cases taken as possible. ``precision=0.5`` and ``specificity=0.9``: at
    least that, with as many taken as possible. ``fpr=0.1`` and ``quota=200`` (rows, or a share): at most that, with as
    many taken as possible; a tie across the quota stays out whole, since a threshold cannot part it.

    The threshold is the highest score that is not taken; where all are taken it is −inf. It keeps its promise on the
    sample that it was chosen on, and on others only about: choose it on data that the model was not fitted to, and
    report what it does on data that it was not chosen on.

    >>> y, s = [1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]
    >>> threshold_for(y, s, recall=0.9), threshold_for(y, s, precision=0.7), threshold_for(y, s, quota=2)
    (0.4, 0.4, 0.7)
    """
    promises = {"recall": recall, "precision": precision, "fpr": fpr, "specificity": specificity, "quota": quota}
    given = [name for name, value in promises.items() if value is not None]
    if len(given) != 1:
        raise InputError(f"pass exactly one of {', '.join(promises)}; got {', '.join(given) or 'none'}")
    sample = make_sample(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
    return operating_point(
        rank(sample), **{name: value for name, value in promises.items() if value is not None}
    ).threshold
