"""What to keep in mind about an extrapolation, said from what it was made of."""

from __future__ import annotations

import numpy as np

from .comparisons import LARGEST_KEPT
from .evidence import Evidence, Source
from .method import Method
from .score_source import ScoreSource
from .wins_source import WinsSource


def classes_tested(source: Source) -> int:
    """Classes with test cases of their own; 0 where cases are unknown."""
    if isinstance(source, ScoreSource | WinsSource):
        return int(np.unique(source.case_class).size)
    return 0


def caveats(source: Source, whole: Evidence, marginal: bool) -> list[str]:
    """Sentences about the data and the classifier."""
    notes: list[str] = []
    if not marginal:
        notes.append(
            "The classifier is declared not marginal: scores of a class change with the other classes, so neither the "
            "average accuracy of smaller tasks nor the extrapolation is exact; retrain at two sizes and compare."
        )
    if whole.histogram is not None:
        wrong = (1.0 - whole.last_accuracy) * classes_tested(source)
        if wrong < 1e-9:
            notes.append(
                f"No error was seen among {source.n_classes:,} classes: nothing shows where accuracy begins to fall, "
                "and the lower limit is the only information."
            )
        elif wrong < 9.5:
            notes.append(
                f"Only about {wrong:.0f} of {classes_tested(source):,} classes were missed among {source.n_classes:,}: "
                "the answer rests on those few."
            )
    if isinstance(source, WinsSource):
        notes.append(
            "Wins alone do not say which distractors won: the interval cannot see a competitor that beats many."
        )
    if isinstance(source, ScoreSource) and not source.has_scores:
        notes.append("The methods on scores (kde, tail) took no part: scores are too many to keep, or not finite.")
    return notes


def no_scores(source: Source, method: Method) -> str:
    """Why a method on scores has none to read."""
    size = source.n_classes * source.n_cases
    if isinstance(source, ScoreSource) and size > LARGEST_KEPT:
        return (
            f"method: {method.name!r} keeps all scores in memory, and {size:,} are more than {LARGEST_KEPT:,}; "
            "use a rank method such as 'probit_normal', or a random part of the classes"
        )
    if isinstance(source, ScoreSource):
        return f"method: {method.name!r} needs finite scores; replace ±inf or use a rank method such as 'probit_normal'"
    return (
        f"method: {method.name!r} needs the scores themselves; use a rank method such as 'probit_normal' or give scores"
    )
