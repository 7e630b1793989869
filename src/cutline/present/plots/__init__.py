"""Plots with matplotlib: ``plot(result, kind)`` draws, ``plot_data(result, kind)`` gives the numbers behind it."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...errors import InputError, how_to_install, show
from ...evaluation import Evaluation
from ...files import write_whole
from ...table import Table
from ..numbers import models_of, reliability, score_histogram
from . import axes_frames as frames
from . import class_plots as classes
from . import curve_plots as curves
from . import decision_plots as decisions
from . import others
from . import part_plots as parts
from .style import new_axes

_BENEFIT = frames.by_model("Net benefit", lambda ev, **options: ev.decision_curve(**options).table)
# kind -> (draws it on axes, gives its numbers)
KINDS: dict[str, tuple[Callable[..., None], Callable[..., Table]]] = {
    "roc": (curves.roc, frames.curve_frame("roc")),
    "precision_recall": (curves.precision_recall, frames.curve_frame("precision_recall")),
    "gain": (curves.gain, frames.curve_frame("gain")),
    "lift": (curves.lift, frames.curve_frame("lift")),
    "hit_rate": (curves.hit_rate, frames.curve_frame("hit_rate")),
    "qrecall": (curves.qrecall, frames.by_model("qrecall", frames.qrecall_rows)),
    "tpr_fpr": (curves.tpr_fpr, frames.by_model("tpr_fpr", frames.tpr_fpr_rows)),
    "profit": (curves.profit, frames.by_model("profit", frames.profit_rows)),
    "plan": (curves.plan, frames.plan_frame),
    "deciles": (others.deciles, frames.by_model("lift by portions", Evaluation.lift_table)),
    "histogram": (others.histogram, frames.by_model("scores", lambda ev, bins=24, **_: score_histogram(ev, bins))),
    "reliability": (others.reliability_diagram, frames.by_model("reliability", reliability)),
    "dominance": (others.dominance, frames.dominance_frame),
    "calibration": (decisions.calibration, lambda result: decisions.calibrated(result).bands),
    "net_benefit": (decisions.net_benefit, _BENEFIT),
    "expected_cost": (decisions.expected_cost, _BENEFIT),
    "screening": (decisions.screening, lambda result: result.stages),
    "voting": (decisions.voting, decisions.voting_frame),
    "swaps": (decisions.swaps, lambda result: result.sides),
    "forest": (others.forest, frames.forest_frame),
    "batches": (parts.batches, parts.batches_frame),
    "segments": (parts.segments, parts.segments_frame),
    "trend": (parts.trend, parts.trend_frame),
    "extrapolation": (others.extrapolation, frames.extrapolation_frame),
}

# of several classes
CLASS_KINDS: dict[str, tuple[Callable[..., None], Callable[..., Table]]] = {
    "confusion": (classes.confusion, lambda ev: ev.confusion.rates),
    "risk_coverage": (classes.risk_coverage, lambda result: Table(classes.curve_of(result).to_dicts())),
    "calibration": (classes.calibration, lambda ev: ev.calibration()),
}


def plot(result: Any, kind: str, ax: Any = None, **options: Any) -> Any:
    """Draw one plot of an Evaluation, a Comparison or an extrapolation on matplotlib axes, and give them back.

    ``kind`` is one of ``roc``, ``precision_recall``, ``gain``, ``lift``, ``hit_rate``, ``qrecall``, ``tpr_fpr``,
    ``profit`` (with ``cost=`` and ``value=``), ``plan``, ``deciles``, ``histogram``, ``reliability``, ``dominance``,
    ``calibration``, ``net_benefit``, ``expected_cost``, ``screening``, ``voting``, ``swaps``, ``forest``, ``batches``,
    ``segments`` (with ``measure=``), ``trend`` and ``extrapolation``; of several classes ``confusion``,
    ``risk_coverage`` or ``calibration``. Without ``ax`` a figure of its own is made.
    """
    draw, _ = _found(result, kind)
    if ax is None:
        ax = new_axes()
    elif not hasattr(ax, "plot"):
        raise InputError("ax", f"is {show(ax)}, not Axes of matplotlib", "leave it out for a figure of its own")
    draw(ax, result, **options)
    return ax


def plot_data(result: Any, kind: str, **options: Any) -> Table:
    """The numbers that ``plot`` draws, as rows that convert to a frame."""
    _, numbers = _found(result, kind)
    return numbers(result, **options)


# What --plot draws, a panel each: of one model, and of several.
_PANELS = {False: ("roc", "precision_recall", "gain", "reliability"), True: ("roc", "gain", "dominance", "forest")}
_FORMATS = (".png", ".svg", ".pdf")


def picture_format(path: Any) -> str:
    """The ending that says how a picture is written."""
    ending = Path(path).suffix.lower()
    if ending not in _FORMATS:
        raise InputError("plot", f"ends in {show(ending)}", f"end it in {', '.join(_FORMATS[:-1])} or {_FORMATS[-1]}")
    return ending.removeprefix(".")


def write_picture(result: Any, path: Any) -> None:
    """Draw a result into a file: the panels that its data allow."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError(f"plots need matplotlib: {how_to_install('plot')}") from None
    own = {"profits": "plan", "stages": "screening", "voters": "voting", "confidence_band": "calibration"}
    own |= {"labels_needed": "swaps", "by": "segments"}
    kinds = (
        tuple(kind for mark, kind in own.items() if hasattr(result, mark)) or _PANELS[hasattr(result, "differences")]
    )
    several = hasattr(result, "confusion")  # its panels stand in one row
    kinds = tuple(CLASS_KINDS) if several else kinds
    known = hasattr(result, "estimates") or hasattr(result, "evaluations")
    evaluations = models_of(result) if known and not several else []
    if any(ev.rows.batched for ev in evaluations if hasattr(ev, "rows")):
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
    kinds = CLASS_KINDS if hasattr(result, "confusion") or hasattr(result, "coverage") else KINDS
    if kind not in kinds:
        near = difflib.get_close_matches(str(kind), kinds, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(kinds)}"
        raise InputError("kind", f"is {show(kind)}", hint)
    return kinds[kind]
