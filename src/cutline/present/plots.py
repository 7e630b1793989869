"""Plots with matplotlib: ``plot(result, kind)`` draws, ``plot_data(result, kind)`` gives the numbers behind it."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from ..class_evaluation import ClassEvaluation
from ..comparison import Comparison
from ..decide.operating import RiskCoverage
from ..errors import InputError, how_to_install, listed, show
from ..evaluation import Evaluation
from ..runtime import write_whole
from ..table import Table
from . import curve_plots as curves
from . import misc_plots as misc
from . import plot_data as data

_BENEFIT = data.by_model("Net benefit", lambda ev, **options: ev.decision_curve(**options).table)
# kind -> (draws it on axes, gives its numbers)
KINDS: dict[str, tuple[Callable[..., None], Callable[..., Table]]] = {
    "roc": (curves.roc, data.curve_frame("roc")),
    "precision_recall": (curves.precision_recall, data.curve_frame("precision_recall")),
    "found": (misc.found, data.found_frame),
    "gain": (curves.gain, data.curve_frame("gain")),
    "lift": (curves.lift, data.curve_frame("lift")),
    "hit_rate": (curves.hit_rate, data.curve_frame("hit_rate")),
    "qrecall": (curves.qrecall, data.by_model("qrecall", data.qrecall_rows)),
    "tpr_fpr": (curves.tpr_fpr, data.by_model("tpr_fpr", data.tpr_fpr_rows)),
    "profit": (curves.profit, data.by_model("profit", data.profit_rows)),
    "plan": (curves.plan, data.plan_frame),
    "deciles": (misc.deciles, data.by_model("lift by portions", Evaluation.lift_table)),
    "histogram": (misc.histogram, data.by_model("scores", lambda ev, bins=24, **_: data.score_histogram(ev, bins))),
    "reliability": (misc.reliability_diagram, data.by_model("reliability", data.reliability)),
    "dominance": (misc.dominance, data.dominance_frame),
    "calibration": (misc.calibration, lambda result: misc.calibrated(result).bands),
    "net_benefit": (misc.net_benefit, _BENEFIT),
    "expected_cost": (misc.expected_cost, _BENEFIT),
    "screening": (misc.screening, lambda result: result.stages),
    "voting": (misc.voting, data.voting_frame),
    "swaps": (misc.swaps, lambda result: result.sides),
    "forest": (misc.forest, data.forest_frame),
    "batches": (misc.batches, data.batches_frame),
    "segments": (misc.segments, data.segments_frame),
    "trend": (misc.trend, data.trend_frame),
    "extrapolation": (misc.extrapolation, data.extrapolation_frame),
}
# of several classes
CLASS_KINDS: dict[str, tuple[Callable[..., None], Callable[..., Table]]] = {
    "confusion": (misc.confusion, lambda ev: ev.confusion.rates),
    "risk_coverage": (misc.risk_coverage, lambda result: Table(misc.curve_of(result).to_dicts())),
    "calibration": (misc.confidence, lambda ev: ev.calibration()),
}


def plot(result: Any, kind: str, ax: Any = None, **options: Any) -> Any:
    """Draw one plot of an Evaluation, a Comparison or an extrapolation on matplotlib axes, and give them back.

    ``kind`` is one of ``roc``, ``precision_recall``, ``found`` (at a quota), ``gain``, ``lift``, ``hit_rate``,
    ``qrecall``, ``tpr_fpr``, ``profit`` (with ``cost=`` and ``value=``), ``plan``, ``deciles``, ``histogram``,
    ``reliability``, ``dominance``, ``calibration``, ``net_benefit``, ``expected_cost``, ``screening``, ``voting``,
    ``swaps``, ``forest``, ``batches``, ``segments`` (with ``measure=``), ``trend`` and ``extrapolation``; of several
    classes ``confusion``, ``risk_coverage`` or ``calibration``. Without ``ax`` a figure of its own is made.
    """
    draw, _ = _found(result, kind)
    if ax is None:
        ax = curves.new_axes()
    elif not hasattr(ax, "plot"):
        raise InputError("ax", f"is {show(ax)}, not Axes of matplotlib", "leave it out for a figure of its own")
    known = inspect.signature(draw).parameters
    unknown = [name for name in options if name not in known and "options" not in known]
    if unknown:
        choice = [name for name in known if name not in ("ax", "result", "ev")]
        hint = f"{kind} knows {listed(choice)}" if choice else f"{kind} has no options"
        raise InputError(unknown[0], f"is not an option of the plot {kind}", hint)
    draw(ax, result, **options)
    return ax


def plot_data(result: Any, kind: str, **options: Any) -> Table:
    """The numbers that ``plot`` draws, as rows that convert to a frame."""
    _, numbers = _found(result, kind)
    return numbers(result, **options)


_FORMATS = (".png", ".svg", ".pdf")


def picture_format(path: Any) -> str:
    """The ending that says how a picture is written."""
    ending = Path(path).suffix.lower()
    if ending not in _FORMATS:
        raise InputError("plot", f"ends in {show(ending)}", f"end it in {', '.join(_FORMATS[:-1])} or {_FORMATS[-1]}")
    return ending.removeprefix(".")


def write_picture(result: Any, path: Any, kind: str | None = None, **options: Any) -> None:
    """Draw a result into a file: one plot of that kind, or the panels that its data allow."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError(f"plots need matplotlib: {how_to_install('plot')}") from None
    if kind is not None:
        low = kind == "found"  # a row for each model
        height = 1.6 + 0.6 * len(data.models_of(result)) if low else 4.6
        figure = Figure(figsize=(7.6 if low else 6.4, height), layout="constrained")
        plot(result, kind, ax=figure.add_subplot(), **options)
        with write_whole(path) as beside:
            figure.savefig(beside, dpi=150, format=picture_format(path))
        return
    kinds = result.pictures
    several = isinstance(result, ClassEvaluation)  # its panels stand in one row
    whole = isinstance(result, Evaluation | Comparison)
    if whole and any(ev.rows.batched for ev in data.models_of(result)):
        kinds = ("batches", *(kind for kind in kinds if kind != "gain" and kind != "dominance"))
    # A figure of its own, without pyplot: no window system is needed or started.
    for chosen in (kinds, [kind for kind in kinds if _is_drawn(result, kind, Figure().add_subplot())]):
        across = len(chosen) if several else min(len(chosen), 2)
        down = -(-len(chosen) // across)
        width, height = (5.6, 4.8) if several else (6.4, 4.6)
        figure = Figure(figsize=(width * across, height * down), layout="constrained")
        if all(_is_drawn(result, kind, figure.add_subplot(down, across, k)) for k, kind in enumerate(chosen, 1)):
            break
    with write_whole(path) as beside:
        figure.savefig(beside, dpi=150, format=picture_format(path))


def _is_drawn(result: Any, kind: str, ax: Any) -> bool:
    try:
        plot(result, kind, ax=ax)
    except InputError:  # this sample has no such curve
        return False
    return True


def _found(result: Any, kind: str) -> tuple[Callable[..., None], Callable[..., Table]]:
    kinds = CLASS_KINDS if isinstance(result, ClassEvaluation | RiskCoverage) else KINDS
    check_kind(kind, kinds)
    return kinds[kind]


def check_kind(kind: Any, kinds: Collection[str] | None = None) -> None:
    """Refuse the name of a plot that there is not; of all kinds by default, as the command line takes them."""
    argument = "kind" if kinds is not None else "plot_kind"
    kinds = {**KINDS, **CLASS_KINDS} if kinds is None else kinds
    if kind not in kinds:
        near = difflib.get_close_matches(str(kind), kinds, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(kinds)}"
        raise InputError(argument, f"is {show(kind)}", hint)
