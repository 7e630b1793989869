"""Tables that are in memory already -> the same evaluation as of their columns."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..comparison import Comparison
from ..comparison import compare as compare_columns
from ..errors import InputError
from ..evaluation import Evaluation
from ..evaluation import evaluate as evaluate_columns
from .duckdb_source import listed
from .frame_labels import read_labels


def evaluate(
    frame: Any, *, label: str, score: str, weight: str | None, positive: Any, missing: str, name: str, wishes: Any
) -> Evaluation:
    """Evaluate one score column of a frame."""
    columns, dropped = _columns(frame, {"label": label, "score": score, "weight": weight}, missing)
    with _named(label, {"y_score": score}, weight):
        labels, positive = read_labels(columns["label"], positive)
        found = evaluate_columns(
            labels,
            columns["score"],
            name=name,
            pos_label=positive,
            sample_weight=columns.get("weight"),
            **_options(wishes),
        )
    return replace(found, dropped=dropped)


def compare(
    frame: Any,
    *,
    label: str,
    scores: Mapping[str, str],
    weight: str | None,
    positive: Any,
    missing: str,
    margin: float | None,
    wishes: Any,
) -> Comparison:
    """Compare score columns of a frame."""
    roles = {"label": label, "weight": weight, **{f"score {model}": column for model, column in scores.items()}}
    columns, dropped = _columns(frame, roles, missing)
    with _named(label, {}, weight):
        labels, positive = read_labels(columns["label"], positive)
        result = compare_columns(
            labels,
            {model: columns[f"score {model}"] for model in scores},
            pos_label=positive,
            sample_weight=columns.get("weight"),
            margin=margin,
            **_options(wishes),
        )
    known = {name: replace(ev, dropped=dropped) for name, ev in result.evaluations.items()}
    return replace(result, evaluations=known)


def _options(wishes: Any) -> dict[str, Any]:
    if wishes.stream:
        raise InputError("stream=True: the table is in memory already; write it to a file to stream it")
    settings = wishes.settings
    return {
        "threshold": wishes.threshold,
        "quota": wishes.quota,
        "measures": wishes.measures,
        "interval": settings.interval,
        "level": settings.level,
        "n_resamples": settings.n_resamples,
        "seed": settings.seed,
        "stratify": settings.stratify,
        "progress": settings.progress,
    }


def _columns(frame: Any, roles: Mapping[str, str | None], missing: str) -> tuple[dict[str, Any], int]:
    """The columns that have a role; with ``missing="drop"`` without the rows that lack a value in one of them."""
    if missing not in ("error", "drop"):
        raise InputError(f"missing must be 'error' or 'drop', got {missing!r}")
    named = {role: column for role, column in roles.items() if column is not None}
    if isinstance(frame, Mapping):
        found = {role: _of_mapping(frame, column, role) for role, column in named.items()}
    else:
        import narwhals.stable.v1 as nw

        names = list(getattr(frame, "column_names", frame.columns))
        for role, column in named.items():
            _check(column, role, names)
            if names.count(column) > 1:
                raise InputError(f"the table has several columns called {column!r}; rename all but one")
        if len(set(names)) < len(names):  # others that occur twice do not matter
            frame = (
                frame[[*dict.fromkeys(named.values())]]
                if hasattr(frame, "loc")
                else frame.select([*dict.fromkeys(named.values())])
            )
        table = nw.from_native(frame, eager_only=True)
        found = {role: table[column].to_native() for role, column in named.items()}
    if missing == "error":
        return found, 0
    lacking = np.zeros(len(next(iter(found.values()))), np.bool_)
    for values in found.values():
        lacking |= _missing(values)
    kept = np.flatnonzero(~lacking)
    return {role: _taken(values, kept) for role, values in found.items()}, int(lacking.sum())


def _of_mapping(frame: Mapping[str, Any], column: str, role: str) -> Any:
    _check(column, role, list(frame))
    return frame[column]


def _check(column: str, role: str, columns: Sequence[str]) -> None:
    if column in columns:
        return
    near = difflib.get_close_matches(str(column), list(columns), n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"it has {listed(list(columns))}"
    raise InputError(f"the table has no column {column!r} for the {role.partition(' ')[0]}; {hint}")


def _missing(values: Any) -> NDArray[np.bool_]:
    import narwhals.stable.v1 as nw

    if isinstance(values, np.ndarray | list | tuple):
        array = np.asarray(values)
        if array.dtype.kind == "f":
            return np.asarray(np.isnan(array))
        return np.array([v is None or v != v for v in array.tolist()], dtype=np.bool_)
    series = nw.from_native(values, series_only=True)
    gone = np.asarray(series.is_null().to_numpy(), dtype=np.bool_)
    if series.dtype.is_float():
        numbers = series.to_numpy()
        gone = gone | np.isnan(np.asarray(numbers, dtype=np.float64))
    return gone


def _taken(values: Any, kept: NDArray[np.intp]) -> Any:
    if isinstance(values, np.ndarray | list | tuple):
        return np.asarray(values)[kept]
    import narwhals.stable.v1 as nw

    return nw.from_native(values, series_only=True)[kept.tolist()].to_native()


@contextmanager
def _named(label: str, scores: Mapping[str, str], weight: str | None) -> Iterator[None]:
    """Errors about arguments turned into errors about columns."""
    names = {"y_true": label, **scores, **({"sample_weight": weight} if weight else {})}
    try:
        yield
    except InputError as error:
        message = str(error).replace("pos_label", "positive")
        for argument, column in names.items():
            message = message.replace(argument, f"column {column!r}")
        raise InputError(message) from None
