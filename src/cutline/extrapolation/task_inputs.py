"""What a user hands over, checked once and turned into a task: scores, embeddings, wins, or accuracies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, listed, show
from ..tuning import TUNING
from ..types import Floats, Labels
from ..validate import check_whole
from .evidence import middle_and_spread
from .notes import PROBABILITIES, SHIFTED, Note
from .tasks import Bits, CurveTask, Indices, KeptScores, ScoreTask, WinsTask
from .win_counts import TIE_RULES, Ties

Metric = str | Callable[[Floats, Floats], Floats]
Templates = Literal["best", "mean"]
# Up to this many scores (80 MB) all are kept for the methods on scores; beyond, the best of every case.
LARGEST_KEPT = 10_000_000
BEST_KEPT = 200
# Middle and spread of a longer row are found from so many of its scores.
_ENOUGH_COLUMNS = 2000


def from_scores(
    scores: Any,
    labels: Any = None,
    *,
    classes: Any = None,
    distance: bool = False,
    ties: str = "random",
    groups: Any = None,
    templates: str = "best",
    candidates: bool = False,
    keep: int = LARGEST_KEPT,
) -> ScoreTask:
    """A matrix of test cases × classes and the true class of every case.

    With ``candidates`` a row is a candidate list: a score that is missing (nan) is below all that are there.

    A class may have several columns (``classes`` then repeats its name): ``templates`` says whether the best or the
    mean of them counts.
    """
    matrix = number_matrix(scores, "scores")
    n_cases, n_columns = matrix.shape
    if n_columns < 2:
        raise InputError("scores", f"has {n_columns} column(s)", "a task needs at least two classes, one column each")
    if n_cases < 1:
        raise InputError("scores", "has no rows", "give at least one test case")
    if classes is None:
        classes = _frame_columns(scores, labels)
    columns, case_class = _match(labels, classes, n_cases, n_columns)
    task = _Comparer(columns, case_class, check_ties(ties), groups, templates, keep)
    total, smallest = _shared_total(matrix, distance)
    probable = total in _PROBABILITY_TOTALS
    hints = _sum_hints(total)
    finite, decisions, chosen = True, n_columns > 2, False
    step = max(1, TUNING.cells_at_once // n_columns)
    for start in range(0, n_cases, step):
        block = np.asarray(matrix[start : start + step], dtype=np.float64)
        bad = np.isnan(block)
        if candidates:
            block = np.where(bad, np.inf if distance else -np.inf, block)
        elif bad.any():
            row, column = (int(place) for place in np.argwhere(bad)[0])
            raise InputError(
                "scores",
                f"has a missing value (nan) in column {column}",
                "drop the case, give the score a value, or say {candidates=True} if missing means too low to be listed",
                row=start + row,
            )
        if probable:
            # A share rounded to 0 is taken as half the smallest that is left.
            block = np.log(np.maximum(1.0 - block if distance else block, smallest / 2.0))
        elif distance:
            block = -block
        finite = finite and bool(np.isfinite(block).all())
        decisions = decisions and _two_valued(block)
        chosen = chosen or bool((block != block[:, :1]).any())
        if start == 0:
            hints += _label_hints(block, labels, columns, case_class)
        task.add(start, block)
    if decisions and chosen:
        raise InputError(
            "scores",
            "holds decisions: no row has more than two distinct values",
            "give the scores behind the decisions, or the accuracy at two or more numbers of classes with {accuracies}",
        )
    # ±inf has a rank but no place on a scale: the rank methods stay.
    return task.task(hints, scale=finite)


def from_embeddings(
    gallery: ArrayLike,
    probes: ArrayLike,
    *,
    gallery_labels: Labels | None = None,
    probe_labels: Labels | None = None,
    metric: Metric = "euclidean",
    distance: bool | None = None,
    ties: str = "random",
    groups: Any = None,
    templates: str = "best",
    keep: int = LARGEST_KEPT,
) -> ScoreTask:
    """Gallery embeddings, one or several per class, and probes to be recognised, compared a block at a time."""
    known, asked = (
        _floats(number_matrix(gallery, "gallery"), "gallery"),
        _floats(number_matrix(probes, "probes"), "probes"),
    )
    if known.shape[1] != asked.shape[1]:
        raise InputError(
            "probes", f"has {asked.shape[1]} dimensions against {known.shape[1]} in the gallery",
            "embed both by the same model",
        )  # fmt: skip
    if known.shape[0] < 2:
        raise InputError("gallery", f"has {known.shape[0]} row(s)", "a task needs at least two classes")
    if callable(metric) and distance is None:
        raise InputError(
            "distance", "is not given for a metric of your own", "say True where a large value is far, else False"
        )
    if not callable(metric) and distance is not None:
        raise InputError("distance", f"is given, but the direction of metric={metric!r} is known", "leave it out")
    columns, case_class = _match(
        probe_labels, gallery_labels, asked.shape[0], known.shape[0], "labels", "gallery_labels"
    )
    task = _Comparer(columns, case_class, check_ties(ties), groups, templates, keep)
    hints: tuple[Note, ...] = ()
    for start, block in _similarity_blocks(known, asked, metric, distance):
        if np.isnan(block).any():
            row, column = (int(place) for place in np.argwhere(np.isnan(block))[0])
            raise InputError(
                "metric",
                f"gives no similarity (nan) between probe {start + row} and gallery row {column}",
                "remove embeddings of length zero or choose {metric='euclidean'}",
            )
        if start == 0:
            hints = _label_hints(block, probe_labels, columns, case_class)
        task.add(start, block)
    return task.task(hints)


def from_wins(
    wins: ArrayLike, *, n_classes: Any, tied: ArrayLike | None = None, labels: Any = None, ties: str = "random"
) -> WinsTask:
    """Distractors beaten (and tied) per case; ``labels`` say which cases are of one class."""
    rule = check_ties(ties)
    beaten = _counts(wins, "wins")
    equal = np.zeros_like(beaten) if tied is None else _counts(tied, "tied")
    if n_classes is None:
        raise InputError("n_classes", "is missing", "say among how many classes the wins were counted")
    check_whole(n_classes, "n_classes", 2)
    if equal.size != beaten.size:
        raise InputError("tied", f"has {equal.size} values for {beaten.size} cases", "give one per case")
    beyond = np.flatnonzero(beaten + equal > n_classes - 1)
    if beyond.size:
        row = int(beyond[0])
        raise InputError(
            "wins",
            f"beats {beaten[row]:g} and ties {equal[row]:g} distractors, but {n_classes} classes have only "
            f"{n_classes - 1}",
            "count distractors, not the class itself, or correct {n_classes}",
            row=row,
        )
    if labels is None:
        number = np.arange(beaten.size)
    else:
        given = _list(labels, "labels")
        if given.size != beaten.size:
            raise InputError("labels", f"has {given.size} values for {beaten.size} cases", "give one per case")
        number = np.unique([str(value) for value in given.tolist()], return_inverse=True)[1]
    return WinsTask(int(n_classes), beaten, equal, number, rule)


def from_accuracies(accuracies: Any) -> CurveTask:
    """Pairs of a number of classes and the accuracy there: a mapping or a list of pairs."""
    pairs = list(accuracies.items()) if isinstance(accuracies, Mapping) else list(accuracies)
    try:
        table = np.asarray(pairs, dtype=np.float64).reshape(-1, 2)
    except (TypeError, ValueError):
        raise InputError(
            "accuracies", "does not hold pairs of numbers", "give (number of classes, accuracy), or a dictionary"
        ) from None
    table = table[np.argsort(table[:, 0], kind="stable")]
    for row, (k, value) in enumerate(table):
        if not (k >= 1 and np.isfinite(k)):
            raise InputError("accuracies", f"has {k:g} classes in pair {row}", "give 1 or more")
        if not 0.0 <= value <= 1.0:
            raise InputError("accuracies", f"has {value:g} at {k:g} classes", "give shares: divide per cent by 100")
    table = table[table[:, 0] >= 2.0]
    if np.unique(table[:, 0]).size != table.shape[0]:
        raise InputError("accuracies", "has a number of classes twice", "average its accuracies first")
    if table.shape[0] < 2:
        raise InputError("accuracies", "has fewer than two sizes of 2 or more classes", "a trend needs at least two")
    return CurveTask(table[:, 0], table[:, 1])


@dataclass
class _Comparer:
    """Takes blocks of scores (cases × columns, higher is better) and keeps who beat whom, and the scores needed."""

    columns: Indices
    case_class: Indices
    ties: Ties
    groups: Any
    templates: str
    keep: int
    beaten: list[Bits] = field(default_factory=list)
    tied: list[Bits] = field(default_factory=list)
    values: list[Floats] = field(default_factory=list)
    best: list[NDArray[np.int32]] = field(default_factory=list)
    true: list[Floats] = field(default_factory=list)
    middle: list[Floats] = field(default_factory=list)
    spread: list[Floats] = field(default_factory=list)
    own_family: list[Floats] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.n_classes = int(self.columns.max()) + 1
        self.repeated = self.n_classes < self.columns.size
        if self.templates not in ("best", "mean"):
            raise InputError("templates", f"is {show(self.templates)}", "choose 'best' or 'mean'")
        self.family = family_numbers(self.groups, self.n_classes)
        self.n_units = self.n_classes if self.family is None else int(self.family.max()) + 1
        if self.n_units < 2:
            raise InputError("groups", "puts all classes into one family", "give at least two families")
        self.unit = self.case_class if self.family is None else self.family[self.case_class]
        self.all_kept = self.case_class.size * self.n_units <= self.keep

    def add(self, start: int, block: Floats) -> None:
        """One block of cases."""
        rows = np.arange(block.shape[0])
        cases = slice(start, start + block.shape[0])
        block = self._one_column_per_class(block)
        true = block[rows, self.case_class[cases]]
        if self.family is not None:
            block = self._one_column_per_family(block, true, cases)
        own = self.unit[cases]
        self.beaten.append(np.packbits(block < true[:, None], axis=1))
        equal = block == true[:, None]
        equal[rows, own] = False
        self.tied.append(np.packbits(equal, axis=1) if equal.any() else np.zeros((0, 0), dtype=np.uint8))
        self.true.append(true)
        others = block.copy()  # the block may be a part of the caller's matrix
        others[rows, own] = -np.inf
        middle, spread = middle_and_spread(others[:, :: max(1, self.n_units // _ENOUGH_COLUMNS)])
        self.middle.append(middle)
        self.spread.append(spread)
        if self.all_kept:
            self.values.append(others)
            return
        depth = min(BEST_KEPT, self.n_units - 1)
        place = np.argpartition(others, self.n_units - depth, axis=1)[:, self.n_units - depth :]
        value = np.take_along_axis(others, place, axis=1)
        order = np.argsort(-value, axis=1)
        self.best.append(np.take_along_axis(place, order, axis=1).astype(np.int32))
        self.values.append(np.take_along_axis(value, order, axis=1))

    def _one_column_per_class(self, block: Floats) -> Floats:
        if not self.repeated:
            return block
        order = np.argsort(self.columns, kind="stable")
        starts = np.searchsorted(self.columns[order], np.arange(self.n_classes))
        if self.templates == "best":
            return np.asarray(np.maximum.reduceat(block[:, order], starts, axis=1))
        return np.asarray(np.add.reduceat(block[:, order], starts, axis=1) / np.bincount(self.columns))

    def _one_column_per_family(self, block: Floats, true: Floats, cases: slice) -> Floats:
        """The best class of every family; in its own family a case stands for itself, and its siblings for a chance."""
        assert self.family is not None
        rows, own = np.arange(block.shape[0]), self.case_class[cases]
        sibling = self.family[None, :] == self.family[own][:, None]
        sibling[rows, own] = False
        beaten_by = (sibling & (block > true[:, None])).sum(axis=1)
        level = (sibling & (block == true[:, None])).sum(axis=1)
        chance = {"random": 1.0 / (level + 1.0), "optimistic": np.ones(rows.size), "pessimistic": level == 0}[self.ties]
        self.own_family.append(np.where(beaten_by > 0, 0.0, chance))
        order = np.argsort(self.family, kind="stable")
        starts = np.searchsorted(self.family[order], np.arange(self.n_units))
        best = np.asarray(np.maximum.reduceat(block[:, order], starts, axis=1))
        best[rows, self.unit[cases]] = true
        return best

    def task(self, hints: tuple[Note, ...], *, scale: bool = True) -> ScoreTask:
        """The finished task; without ``scale`` scores have ranks alone."""
        tied = None
        if any(part.size for part in self.tied):
            pairs = zip(self.tied, self.beaten, strict=True)
            tied = _joined([part if part.size else np.zeros_like(full) for part, full in pairs])
        scores = None
        if scale:
            scores = KeptScores(
                _joined(self.values),
                _joined(self.true),
                _joined(self.middle),
                _joined(self.spread),
                None if self.all_kept else _joined(self.best),
            )
        per_class = np.bincount(self.case_class, minlength=self.n_classes)
        return ScoreTask(
            self.n_units,
            self.unit,
            1.0 / per_class[self.case_class],
            _joined(self.beaten),
            tied,
            self.ties,
            scores,
            _joined(self.own_family) if self.own_family else None,
            self.n_classes / self.n_units,
            hints,
        )


def _joined(parts: list[Any]) -> Any:
    """The blocks as one array; they are let go, so that a large task is not in memory twice."""
    whole = np.concatenate(parts)
    parts.clear()
    return whole


def family_numbers(groups: Any, n_classes: int) -> Indices | None:
    """The family of every class, numbered from 0; None where classes come one by one."""
    if groups is None:
        return None
    given = _list(groups, "groups")
    if given.size != n_classes:
        raise InputError(
            "groups", f"has {given.size} values for {n_classes} classes", "give the family of every class, in order"
        )
    _check_complete(given, "groups")
    number = np.unique([str(value) for value in given.tolist()], return_inverse=True)[1].astype(np.intp)
    return None if int(number.max()) + 1 == n_classes else number


def _similarity_blocks(
    gallery: Floats, probes: Floats, metric: Metric, distance: bool | None
) -> Iterator[tuple[int, Floats]]:
    step = max(1, TUNING.cells_at_once // gallery.shape[0])
    if callable(metric):
        for start in range(0, probes.shape[0], step):
            part = probes[start : start + step]
            block = np.asarray(metric(part, gallery), dtype=np.float64)
            if block.shape != (part.shape[0], gallery.shape[0]):
                raise InputError(
                    "metric",
                    f"returned an array of shape {block.shape} for {part.shape[0]} probes and {gallery.shape[0]} "
                    "gallery rows",
                    "return one score per probe (rows) and gallery row (columns)",
                )
            yield start, -block if distance else block
    elif metric == "cosine":
        with np.errstate(invalid="ignore", divide="ignore"):
            unit = gallery / np.linalg.norm(gallery, axis=1, keepdims=True)
            for start in range(0, probes.shape[0], step):
                part = probes[start : start + step]
                yield start, (part / np.linalg.norm(part, axis=1, keepdims=True)) @ unit.T
    elif metric == "euclidean":
        # Distances do not change when all points move; near the origin their squares lose fewer digits.
        centre = gallery.mean(axis=0)
        moved = gallery - centre
        length = (moved * moved).sum(axis=1)
        for start in range(0, probes.shape[0], step):
            part = probes[start : start + step] - centre
            block = part @ moved.T
            block *= -2.0
            block += length
            block += (part * part).sum(axis=1)[:, None]
            np.sqrt(np.maximum(block, 0.0, out=block), out=block)
            yield start, np.negative(block, out=block)
    else:
        raise InputError("metric", f"is {show(metric)}", "choose 'euclidean', 'cosine' or give a function")


def check_ties(ties: str) -> Ties:
    """The tie rule by name, or an error that lists the rules."""
    for rule in TIE_RULES:
        if ties == rule:
            return rule
    raise InputError("ties", f"is {show(ties)}, which is not a tie rule", f"choose one of {', '.join(TIE_RULES)}")


def _plain(values: Any, name: str) -> NDArray[Any]:
    """Lists, frames, series, sparse matrices and tensors (also on a graph or a device) as one NumPy array."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    if hasattr(values, "toarray"):
        values = values.toarray()
    try:
        return np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    except ValueError:
        raise InputError(name, "has rows of different lengths", "give every row the same number of columns") from None


def number_matrix(values: Any, name: str) -> NDArray[Any]:
    """A table of numbers from whatever holds one."""
    array = _plain(values, name)
    if array.ndim != 2:
        raise InputError(name, f"has {array.ndim} dimension(s)", "give a table with two: rows and columns")
    if array.dtype == object or array.dtype.kind not in "biuf":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError(
                name, "holds values that are not numbers", "leave labels and names out of the table"
            ) from None
    return array


def _floats(matrix: NDArray[Any], name: str) -> Floats:
    array = np.asarray(matrix, dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if bad.size:
        raise InputError(
            name, "has a value that is missing or infinite", "drop the row or embed it again", row=int(bad[0])
        )
    return array


def _list(values: Any, name: str) -> NDArray[Any]:
    return _plain(values, name).ravel()


def _check_complete(given: NDArray[Any], name: str) -> None:
    if given.dtype.kind in "biuSU":
        return
    missing = [row for row, value in enumerate(given) if value is None or value != value]
    if missing:
        raise InputError(name, "has a missing value", "give it a value or drop it", row=missing[0])


def _frame_columns(scores: Any, labels: Any) -> list[Any] | None:
    """The classes that a frame's columns are named after, where every label is among them, if only as text."""
    names = getattr(scores, "column_names", getattr(scores, "columns", None))
    if names is None or labels is None:
        return None
    as_text = {str(value): value for value in _list(labels, "labels").tolist()}
    by_name = [as_text.get(str(name), name) for name in names]
    return by_name if set(as_text.values()) <= set(by_name) else None


def _match(
    labels: Any, classes: Any, n_cases: int, n_columns: int, label_name: str = "labels", class_name: str = "classes"
) -> tuple[Indices, Indices]:
    """The class number of every column, and of every case."""
    if labels is None:
        if n_cases != n_columns:
            raise InputError(
                label_name, f"is missing for {n_cases} cases and {n_columns} classes",
                "without it, case i must belong to class i",
            )  # fmt: skip
        return np.arange(n_columns), np.arange(n_cases)
    given = _list(labels, "labels")
    if given.size != n_cases:
        raise InputError(label_name, f"has {given.size} values for {n_cases} cases", "give one per case")
    _check_complete(given, label_name)
    names = _class_names(given, classes, n_columns, label_name, class_name)
    number: dict[Any, int] = {}
    columns = np.array([number.setdefault(name, len(number)) for name in names], dtype=np.intp)
    cases = np.empty(n_cases, dtype=np.intp)
    for row, value in enumerate(given.tolist()):
        if value not in number:
            raise InputError(
                label_name,
                f"is {show(value)}, which is none of the {len(number)} classes ({listed(number, 4)})",
                "add its column, or drop the case",
                row=row,
            )
        cases[row] = number[value]
    return columns, cases


def _class_names(given: NDArray[Any], classes: Any, n_columns: int, label_name: str, class_name: str) -> list[Any]:
    if classes is not None:
        names = _list(classes, "classes").tolist()
        if len(names) != n_columns:
            raise InputError(
                class_name, f"has {len(names)} names for {n_columns} columns", "give one per column, in order"
            )
        return list(names)
    distinct = sorted(set(given.tolist()))
    if given.dtype.kind in "iu" and distinct[0] >= 0 and distinct[-1] < n_columns:
        return list(range(n_columns))
    if len(distinct) == n_columns and given.dtype.kind in "iufb":
        return distinct
    if len(distinct) == n_columns:  # names do not say which column is whose; their sorted order would be a guess
        raise InputError(
            class_name, f"is missing, and {label_name} are names such as {show(distinct[0])}",
            "say which class each column is, in order",
        )  # fmt: skip
    raise InputError(
        class_name, f"is missing: {label_name} hold {len(distinct)} distinct values for {n_columns} columns",
        "say which class each column is",
    )  # fmt: skip


def _counts(values: Any, name: str) -> Floats:
    try:
        array = _list(values, name).astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(name, "holds values that are not numbers", "give one count per case") from None
    if array.size == 0:
        raise InputError(name, "is empty", "give one count per case")
    bad = np.flatnonzero(~(array >= 0) | (array != np.floor(array)))
    if bad.size:
        row = int(bad[0])
        raise InputError(name, f"is {array[row]:g}", "counts are whole numbers from 0", row=row)
    return np.asarray(array, dtype=np.float64)


_PROBABILITY_TOTALS = (1.0, 100.0)


def _shared_total(matrix: NDArray[Any], distance: bool) -> tuple[float | None, float]:
    """What every row sums to, and the smallest share above 0; None where a value is negative or the sums differ.

    Probabilities may be rounded, and some rows may lack classes; other totals must be exact. Of distances the
    complements to 1 are looked at.
    """
    sums, smallest = np.empty(matrix.shape[0]), 1.0
    step = max(1, TUNING.cells_at_once // matrix.shape[1])
    for start in range(0, matrix.shape[0], step):
        block = np.asarray(matrix[start : start + step], dtype=np.float64)
        block = 1.0 - block if distance else block
        if not (block >= 0.0).all():
            return None, smallest
        sums[start : start + step] = block.sum(axis=1)
        smallest = min(smallest, float(np.min(block, where=block > 0.0, initial=1.0)))
    middle = float(np.median(sums))
    for total in _PROBABILITY_TOTALS:
        if abs(middle / total - 1.0) < 0.01 and np.mean(np.abs(sums / total - 1.0) < 0.05) > 0.95:
            return total, smallest
    alike = middle > 0.0 and sums.size > 1 and matrix.shape[1] > 2 and np.ptp(sums) <= 1e-9 * middle
    return (middle if alike else None), smallest


def _sum_hints(total: float | None) -> tuple[Note, ...]:
    """Scores that share a fixed sum are not marginal: another class would lower them all."""
    if total is None:
        return ()
    if total in _PROBABILITY_TOTALS:
        text = (
            "Every row of scores sums to {total:g}, so these are probabilities, and a class that is added would lower "
            "all others. Score-based methods use their logarithms instead, which differ from a network's logits by "
            "a constant per row; ranks do not change. If the network was trained on all classes together, declare "
            "it as not marginal."
        )
    else:
        text = (
            "Every row of scores sums to {total:g}, as votes do. A class that is added would take some from the "
            "others, so smaller tasks look easier than they were, and the interval does not allow for that. "
            "extrapolate_training retrains at several sizes instead."
        )
    return (Note(PROBABILITIES, text, total=total),)


def _two_valued(block: Floats) -> bool:
    """Whether every value of a row is its largest or its smallest: chosen or not."""
    top, low = block.max(axis=1, keepdims=True), block.min(axis=1, keepdims=True)
    return bool(((block == top) | (block == low)).all())


def _label_hints(block: Floats, labels: Any, columns: Indices, case_class: Indices) -> tuple[Note, ...]:
    """Labels that are right for many more cases one column to the left or to the right of where they were read."""
    if labels is None or _list(labels, "labels").dtype.kind not in "iu" or columns.size != int(columns.max()) + 1:
        return ()
    best, read_as = block.argmax(axis=1), case_class[: len(block)]
    read = float(np.mean(best == read_as))
    for step, remedy in ((-1, "labels − 1"), (1, "labels + 1")):
        shifted = float(np.mean(best == read_as + step))
        if shifted > 2.0 * read + 2.0 / best.size:
            return (
                Note(
                    SHIFTED,
                    "Labels were read as counting from 0, which makes {read:.0%} of the cases right; one column "
                    "further {side} it would be {shifted:.0%}. If that is what you mean, pass {remedy}.",
                    read=read,
                    side="left" if step < 0 else "right",
                    shifted=shifted,
                    remedy=remedy,
                ),
            )
    return ()
