"""Curves in scikit-learn's idiom of displays: from an estimator or from predictions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

from ..evaluation import Evaluation
from ..present.plots import plot as draw
from ..reference import documented
from ..types import Axes, Estimator, Label, Labels, Scores
from ..verbs import evaluate
from .estimators import find_response, positive_class, scores_of

# What a display has drawn on axes: the display's class, its evaluations, and its artists.
_drawn: WeakKeyDictionary[Any, tuple[type, list[Evaluation], list[Any]]] = WeakKeyDictionary()


@documented
class CurveDisplay:
    """Base of the displays: the evaluation of a model, and how to draw it.

    After drawing, ``ax_`` and ``figure_`` are where it is, and ``line_`` is its curve. A display of the same kind
    drawn on the same axes joins the curves that are there, with a colour and a name of its own.
    """

    kind: ClassVar[str]
    measures: ClassVar[tuple[str, ...]] = ()

    def __init__(self, evaluation: Evaluation, **options: Any) -> None:
        self.evaluation, self.options = evaluation, options
        self.ax_: Any = None
        self.figure_: Any = None
        self.line_: Any = None

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.evaluation.name

    @classmethod
    def from_predictions(
        cls,
        y_true: Labels,
        y_score: Scores,
        *,
        pos_label: Label = None,
        sample_weight: Scores | None = None,
        name: str = "model",
        ax: Axes | None = None,
        quota: int | float | None = None,
        level: float = 0.95,
        n_resamples: int = 2000,
        seed: int = 0,
        **options: Any,
    ) -> Self:
        """Draw the curve of labels and scores; the ``options`` are those of ``Evaluation.plot``."""
        how: dict[str, Any] = {"name": name, "pos_label": pos_label, "sample_weight": sample_weight, "quota": quota}
        how |= {"measures": list(cls.measures), "level": level, "n_resamples": n_resamples, "seed": seed}
        return cls(evaluate(y_true, y_score, **how), **options).plot(ax=ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: Any,
        y: Labels,
        *,
        pos_label: Label = None,
        response_method: Any = "auto",
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Draw the curve of a fitted classifier on rows; the other options are those of ``from_predictions``."""
        positive = positive_class(estimator, pos_label)
        score = scores_of(estimator, X, find_response(estimator, response_method), positive)
        title = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, score, pos_label=pos_label, name=title, **options)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **options: Any) -> Self:
        """Draw on axes, or on a figure of its own; ``options`` go before those given when the display was made."""
        if name is not None:
            self.evaluation = replace(self.evaluation, name=name)
        kind, before, artists = (None, [], []) if ax is None else _drawn.get(ax, (None, [], []))
        together = [*before, self.evaluation] if kind is type(self) else [self.evaluation]
        for artist in artists if kind is type(self) else ():
            artist.remove()
        there = set() if ax is None else set(ax.get_children())
        ax = draw(together, self.kind, ax=ax, **{**self.options, **options})
        drawn = (*ax.lines, *ax.collections, *ax.texts, *filter(None, [ax.get_legend()]))
        _drawn[ax] = (type(self), together, [artist for artist in drawn if artist not in there])
        self.ax_, self.figure_ = ax, ax.figure
        self.line_ = next(a for a in reversed(ax.lines) if str(a.get_label()).startswith(self.evaluation.name))
        return self


class RocDisplay(CurveDisplay):
    """ROC curve with its convex hull (``hull=False`` leaves it out) and band."""

    kind = "roc"
    measures = ("roc_auc",)


class PrecisionRecallDisplay(CurveDisplay):
    """Precision against recall."""

    kind = "precision_recall"
    measures = ("average_precision",)


class GainDisplay(CurveDisplay):
    """Positives found at each quota."""

    kind = "gain"


class QrecallDisplay(CurveDisplay):
    """Share of the positives that are taken, at each quota; the areas behind PEM, or (``band=True``) the band."""

    kind = "qrecall"
    measures = ("pem",)
