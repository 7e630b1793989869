"""Curves in scikit-learn's idiom of displays: from an estimator or from predictions."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

from ..errors import InputError
from ..evaluation import Evaluation
from ..present.plots import line_style
from ..present.plots import plot as draw
from ..reference import documented
from ..types import Axes, Estimator, Label, Labels, Scores
from ..verbs import evaluate
from .estimators import find_response, positive_class, scores_of

# What a display has drawn on axes: the display's class, its evaluations, and its artists.
_drawn: WeakKeyDictionary[Any, tuple[type, list[Evaluation], list[Any]]] = WeakKeyDictionary()


@documented
class CurveDisplay:
    """Base of the displays: evaluations of models, and how to draw them.

    After drawing, ``ax_`` and ``figure_`` are where it is, and ``line_`` is its curve (a list of several). A display of
    the same kind drawn on the same axes joins the curves that are there, with a colour and a name of its own.
    """

    kind: ClassVar[str]
    measures: ClassVar[tuple[str, ...]] = ()

    def __init__(self, *evaluations: Evaluation, **options: Any) -> None:
        self.evaluations = list(evaluations)
        self.options = options
        self.ax_: Any = None
        self.figure_: Any = None
        self.line_: Any = None

    @property
    def name(self) -> str | None:
        """Name of the model; None if there are several."""
        return self.evaluations[0].name if len(self.evaluations) == 1 else None

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
        ev = evaluate(
            y_true,
            y_score,
            name=name,
            pos_label=pos_label,
            sample_weight=sample_weight,
            quota=quota,
            measures=list(cls.measures),
            level=level,
            n_resamples=n_resamples,
            seed=seed,
        )
        return cls(ev, **options).plot(ax=ax)

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
        chosen = {**self.options, **options}
        if name is not None:
            if len(self.evaluations) > 1:
                raise InputError("name", f"would name {len(self.evaluations)} curves alike", "leave it out")
            self.evaluations = [replace(self.evaluations[0], name=name)]
        together, there = self.evaluations, set[Any]()
        if ax is not None:
            kind, before, artists = _drawn.get(ax, (None, [], []))
            if kind is type(self):
                together = [*before, *together]
                for artist in artists:
                    artist.remove()
            there = set(ax.get_children())
        result: Any = together[0] if len(together) == 1 else SimpleNamespace(evaluations=dict(enumerate(together)))
        ax = self._draw(result, ax, chosen)
        if there:
            _drawn[ax] = (type(self), together, [a for a in ax.get_children() if a not in there])
        else:
            legend = [] if ax.get_legend() is None else [ax.get_legend()]
            _drawn[ax] = (type(self), together, [*ax.lines, *ax.collections, *ax.texts, *legend])
        self.ax_, self.figure_ = ax, ax.figure
        names = [ev.name for ev in self.evaluations]
        lines = [next(line for line in reversed(ax.lines) if str(line.get_label()).startswith(name)) for name in names]
        self.line_ = lines[0] if len(lines) == 1 else lines
        return self

    def _draw(self, result: Any, ax: Axes | None, options: dict[str, Any]) -> Any:
        return draw(result, self.kind, ax=ax, **options)


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


class LiftDisplay(CurveDisplay):
    """How many times as many positives as by chance, at each quota."""

    kind = "lift"


class HitRateDisplay(CurveDisplay):
    """Share of positives among the taken, at each quota."""

    kind = "hit_rate"


class QrecallDisplay(CurveDisplay):
    """Share of the positives that are taken, at each quota; the areas behind PEM, or (``band=True``) the band."""

    kind = "qrecall"
    measures = ("pem",)

    def _draw(self, result: Any, ax: Axes | None, options: dict[str, Any]) -> Any:
        if options.get("band"):
            options = {"areas": False, **options}  # areas and band would cover each other
        return super()._draw(result, ax, options)


class TprFprDisplay(CurveDisplay):
    """True and false positive rate over the list; ``band=True`` shades the band of the true positive rate."""

    kind = "tpr_fpr"

    def _draw(self, result: Any, ax: Axes | None, options: dict[str, Any]) -> Any:
        left = dict(options)
        band, level = left.pop("band", False), left.pop("level", None)
        ax = super()._draw(result, ax, left)
        for k, ev in enumerate(getattr(result, "evaluations", {0: result}).values() if band else ()):
            shade = ev.curve("tpr_fpr").band(level=ev.settings.level if level is None else level)
            ax.fill_between(shade.x, shade.low, shade.high, color=line_style(k)["color"], alpha=0.12, linewidth=0)
        return ax


class ProfitDisplay(CurveDisplay):
    """Profit at each quota; needs ``cost=`` per place and ``value=`` per hit."""

    kind = "profit"
