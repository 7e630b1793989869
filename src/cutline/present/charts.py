"""The page's charts as SVG with axes. They are pictures without a script; the page's script moves the cut in them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..curves import keep_points
from ..table import Markup, escaped
from ..types import Floats
from .inline import Frame, Picture, px
from .numbers import rates_end, score_histogram
from .palette import colour, dash

if TYPE_CHECKING:
    from ..evaluation import Evaluation


QUOTA_CHARTS = ("gain", "hit_rate", "qrecall", "lift", "profit")
TITLES = {
    "gain": "Hits found",
    "hit_rate": "Hit rate",
    "qrecall": "Qrecall: share of all positives found",
    "lift": "Lift: hits relative to chance",
    "profit": "Profit",
    "roc": "ROC curve",
    "precision_recall": "Precision and recall",
    "deciles": "Lift by tenths of the list",
    "histogram": "Scores of positives and negatives",
    "reliability": "Predicted probability and observed share",
    "net_benefit": "Net benefit",
    "expected_cost": "Expected cost",
}
PAGE = Frame(400, 232, 42.0, 386.0, 18.0, 196.0)
GREY, CHANCE, PERFECT = "#8a8a8a", (2, 3), (6, 4)
POSITIVES, NEGATIVES = "#2f7ec7", "#9a9a9a"
_INVISIBLE = 0.3  # pixels


def short(value: float) -> str:
    """A tick as 500, 1k, 2.5M.

    >>> short(0), short(0.25), short(2500), short(-3e6)
    ('0', '0.25', '2.5k', '−3M')
    """
    unit, letter = next(((u, s) for u, s in ((1e9, "G"), (1e6, "M"), (1e3, "k")) if abs(value) >= u), (1.0, ""))
    return f"{float(f'{value / unit:.3g}'):g}{letter}".replace("-", "−")


def percent(value: float) -> str:
    """A tick as 20%.

    >>> percent(0.2), percent(0.025)
    ('20%', '2.5%')
    """
    return f"{float(f'{100 * value:.3g}'):g}%"


def nice_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers between two ends, 1, 2 or 5 times a power of ten apart.

    >>> nice_ticks(0, 400), nice_ticks(0, 0.034)
    ([0.0, 100.0, 200.0, 300.0, 400.0], [0.0, 0.01, 0.02, 0.03])
    """
    if not low < high:
        return [low]
    rough = (high - low) / most
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(k * unit for k in (1, 2, 5, 10) if k * unit >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(k * step, 12) for k in range(first, last + 1)]


@dataclass
class Chart(Picture):
    """A picture with axes. Marks beyond its ends are cut off, except points.

    ``linked``: the ends of the axes as attributes for the script, and a second x axis for it to change to.
    """

    frame: Frame = PAGE
    y_name: str = ""
    x_percent: bool = False
    y_percent: bool = False
    x_labels: Sequence[tuple[float, str]] | None = None
    linked: str = ""
    reach: ClassVar[tuple[float, float]] = (-2.0, 3.0)

    def _points(self, x: Any, y: Any) -> str:
        """Places of the points, there and back, without those that a line between their neighbours passes anyway."""
        both = np.array([[self.across(a), self.up(b)] for a, b in zip(x, y, strict=True) if a == a and b == b])
        if len(both) > 50:
            turn = int(np.argmax(both[:, 0])) + 1
            both = np.concatenate([_thinned(both[:turn]), _thinned(both[turn:][::-1])[::-1]])
        return " ".join(f"{px(x)},{px(y)}" for x, y in both.tolist())

    def bar(self, x: float, width: float, height: float, paint: str) -> None:
        """One bar that stands on 0."""
        left, top = self.across(x), self.up(max(height, 0.0))
        size = f'width="{px(self.across(x + width) - left)}" height="{px(abs(self.up(height) - self.up(0.0)))}"'
        self.marks.append(f'<rect x="{px(left)}" y="{px(top)}" {size} fill="{paint}"/>')

    def whisker(self, x: float, low: float, high: float, paint: str) -> None:
        """An interval around a point."""
        at = px(self.across(x))
        place = f'x1="{at}" x2="{at}" y1="{px(self.up(low))}" y2="{px(self.up(high))}"'
        self.marks.append(f'<line {place} stroke="{paint}" stroke-width="1.2" stroke-opacity=".7"/>')

    def legend(self, named: Sequence[tuple[str, str]]) -> None:
        """Names with their colours, at the top right."""
        at = self.frame.right
        for name, paint in reversed(named):
            self.marks.append(f'<text x="{px(at)}" y="11" text-anchor="end">{escaped(name)}</text>')
            at -= 5.4 * len(name) + 15
            self.marks.append(f'<rect x="{px(at)}" y="3" width="9" height="9" fill="{paint}" fill-opacity=".7"/>')
            at -= 10

    def svg(self) -> Markup:
        """The chart as markup; what it says stands beside it, so it is hidden from screen readers."""
        width, height, left, right, top, bottom = self.frame
        whole = ("<circle", "<text", "<rect")  # not cut off at the ends of the scales
        inside = [mark for mark in self.marks if not mark.startswith(whole)]
        above = [mark for mark in self.marks if mark.startswith(whole)]
        names = f'<text x="{(left + right) / 2:g}" y="{height - 4}" text-anchor="middle">{escaped(self.x_name)}</text>'
        if self.y_name:
            names += f'<text x="{left:g}" y="11">{escaped(self.y_name)}</text>'
        ends, box = " ".join(f"{end:.12g}" for end in self.y), f"{left:g} {top:g} {right - left:g} {bottom - top:g}"
        known = f' {self.linked} data-y="{ends}" data-box="{box}"' if self.linked else ""
        place = f"{left - 1:g} {top - 1:g} {right - left + 2:g} {bottom - top + 2:g}"  # whole lines at the ends
        x, y, wide, high = place.split()
        return Markup(
            f'<svg viewBox="0 0 {width} {height}" aria-hidden="true" font-size="10.5"{known}>'
            f"{self._y_axis()}{self._x_axes()}{names}"
            f'<svg x="{x}" y="{y}" width="{wide}" height="{high}" viewBox="{place}">{"".join(inside)}</svg>'
            f"{''.join(above)}</svg>"
        )

    def _y_axis(self) -> str:
        left, right = self.frame.left, self.frame.right
        show = percent if self.y_percent else short
        parts = ""
        for value in nice_ticks(*self.y):
            at = px(self.up(value))
            label = f'<text x="{left - 5:g}" y="{at}" dy=".35em" text-anchor="end">{show(value)}</text>'
            parts += f'<path class="grid" d="M{left:g} {at}H{right:g}"/>{label}'
        return f'<g class="y-axis">{parts}</g>'

    def _x_axes(self) -> str:
        """The axis; for a script that changes between them, the linear and the logarithmic one."""
        if not self.linked:
            return self._x_axis()
        drawn = ""
        for log, name, low in ((False, "linear", 0.0), (True, "log", 1.0)):
            axis = replace(self, log=log, x=(low, self.x[1]))._x_axis()
            drawn += f'<g data-axis="{name}"{"" if log == self.log else " hidden"}>{axis}</g>'
        return drawn

    def _x_axis(self) -> str:
        low, high = self.x
        show = percent if self.x_percent else short
        if self.x_labels is not None:
            ticks = list(self.x_labels)
        elif self.log:
            ticks = [(10.0**k, short(10.0**k)) for k in range(math.ceil(math.log10(low)), int(math.log10(high)) + 1)]
        else:
            ticks = [(value, show(value)) for value in nice_ticks(low, high)]
        bottom = self.frame.bottom
        return "".join(
            f'<path class="tick" d="M{px(self.across(x))} {bottom:g}v4"/>'
            f'<text x="{px(self.across(x))}" y="{bottom + 15:g}" text-anchor="middle">{escaped(label)}</text>'
            for x, label in ticks
        )


def _thinned(places: Floats) -> Floats:
    """Places from left to right without those that nobody sees: of a tenth of a pixel, the ends and the extremes."""
    x, y = places.T
    if not len(x) or not (np.diff(x) > 0).all():
        return places
    column = np.round(x, 1)
    order = np.lexsort((y, column))  # the lowest and the highest of each column stand at its ends
    firsts = np.flatnonzero(np.diff(column, prepend=-np.inf))
    lasts = np.append(firsts[1:], len(x)) - 1
    seen = np.unique(np.concatenate([firsts, lasts, order[firsts], order[lasts]]))
    return np.asarray(places[seen[keep_points(x[seen], y[seen], _INVISIBLE)]])


@dataclass(frozen=True)
class QuotaLines:
    """What the charts over quotas show of the models: ``models`` are the explorer's data, ``start`` a stop's number.

    ``between`` are the ends of a range of quotas.
    """

    models: Sequence[Mapping[str, Any]]
    stops: NDArray[np.int64]
    start: int
    rows: int
    positives: int
    logarithmic: bool
    highest: float
    cost: float | None = None
    value: float | None = None
    between: tuple[int, int] | None = None

    @property
    def priced(self) -> bool:
        """Whether there is a profit to draw."""
        return self.cost is not None and self.value is not None

    def values(self, kind: str, hits: Any, at: Any) -> Floats:
        """What a chart shows of so many hits at these stops."""
        found, places = np.asarray(hits, dtype=float), self.stops[at].astype(float)
        if kind == "profit":
            cost, value = (self.cost, self.value) if self.priced else (0.0, 0.0)
            return np.asarray(found * value - places * cost)
        of = {"gain": 1.0, "hit_rate": places, "qrecall": self.positives, "lift": places * self.positives / self.rows}
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(found / np.asarray(of[kind]))

    def band(self, kind: str, model: Mapping[str, Any], at: Any) -> tuple[Floats, Floats]:
        """The interval of a model at these stops. Qrecall and lift have their own: the positives vary, too."""
        if kind in ("qrecall", "lift"):
            low, high = (np.array(ends, dtype=float)[at] for ends in model["found"])
            per = (1.0 if kind == "qrecall" else self.rows / self.stops[at]) / max(self.positives, 1)
            return low * per, high * per
        low, high = (self.values(kind, np.array(ends, dtype=float)[at], at) for ends in model["expected"])
        return low, high

    def references(self, kind: str) -> dict[str, tuple[Floats, Floats]]:
        """What chance gives, and what a perfect list would give."""
        q = reference_places(self.rows, self.positives)
        share, best = self.positives / self.rows, np.minimum(q, self.positives)
        chance = {"gain": q * share, "qrecall": q / self.rows, "hit_rate": q * 0 + share, "lift": q * 0 + 1.0}
        perfect = {"gain": best, "qrecall": best / max(self.positives, 1), "hit_rate": best / q}
        lines = {"chance": {**chance, "profit": q * 0.0}, "perfect": perfect}
        return {name: (q, of[kind]) for name, of in lines.items() if kind in of}


def reference_places(rows: int, positives: int) -> Floats:
    """Enough places for lines that are straight on one axis only."""
    return np.unique(np.concatenate([[1.0, max(positives, 1), rows], np.geomspace(1, rows, 60).round()]))


def quota_chart(kind: str, lines: QuotaLines) -> Markup:
    """A chart over quotas, the cut marked. The script finds its marks by their ``data-`` attributes."""
    drawn = [np.array(model["drawn"]) for model in lines.models]
    curves = [
        lines.values(kind, np.array(m["hits"], dtype=float)[at], at) for m, at in zip(lines.models, drawn, strict=True)
    ]
    known = [v for curve in curves for v in curve[np.isfinite(curve)].tolist()] or [1.0]
    ends = {
        "gain": (0.0, float(max(lines.positives, 1))),
        "hit_rate": (0.0, lines.highest),
        "qrecall": (0.0, 1.0),
        "lift": (0.0, max(1.0, *known)),
        "profit": (min(0.0, *known), max(0.0, *known) or 1.0),
    }[kind]
    x = (1.0 if lines.logarithmic else 0.0, float(lines.rows))
    chart = Chart(TITLES[kind], "", x, ends, "places", lines.logarithmic)
    chart.linked, chart.y_percent = f'data-kind="{kind}"', kind in ("hit_rate", "qrecall")
    first, last = (1, 1) if lines.between is None else lines.between
    chart.band([first, last], [ends[0]] * 2, [ends[1]] * 2, "#808080", f"data-range{' hidden' * (first == last)}")
    hits = [model["hits"][lines.start] for model in lines.models]
    lead = int(np.argmax(hits))
    low, high = lines.band(kind, lines.models[lead], drawn[lead])
    chart.band(lines.stops[drawn[lead]], low, high, colour(lead), "data-band")
    for name, (q, v) in lines.references(kind).items():
        chart.line(q, v, GREY, CHANCE if name == "chance" else PERFECT, mark=f'data-line="{name}"')
    place = float(lines.stops[lines.start])
    chart.line([place, place], ends, "#808080", mark="data-cut")
    for k, (at, curve) in enumerate(zip(drawn, curves, strict=True)):
        chart.line(lines.stops[at], curve, colour(k), dash(k), mark=f'data-curve="{k}"')
    for k, found in enumerate(hits):
        at_cut = float(lines.values(kind, found, lines.start))
        chart.point(place, at_cut if at_cut == at_cut else ends[0], colour(k), f'data-marker="{k}"')
    return chart.svg()


_RATES = {"roc": ("false positive rate", "true positive rate"), "precision_recall": ("recall", "precision")}


def rates_chart(name: str, evaluations: Sequence[Evaluation]) -> Markup:
    """ROC, or precision and recall, of all models; the base line is what chance gives."""
    across, up = _RATES[name]
    curves = [ev.curve(name).thinned(tolerance=0.002) for ev in evaluations]
    diagonal = name == "roc"
    top = 1.0 if diagonal else rates_end(evaluations)
    chart = Chart(TITLES[name], "", (0.0, 1.0), (0.0, top), across, y_name=up, x_percent=True, y_percent=True)
    share = evaluations[0].facts["share_positive"]
    chart.line([0.0, 1.0], [0.0, 1.0] if diagonal else [share, share], GREY, CHANCE)
    for k, curve in enumerate(curves):
        chart.line(curve.x, curve.y, colour(k), dash(k))
    return chart.svg()


def deciles_chart(evaluations: Sequence[Evaluation]) -> Markup:
    """Lift in each tenth of the list, a bar for each model."""
    tables = [[row["lift"] for row in ev.lift_table(10)] for ev in evaluations]
    most = max([1.0, *(lift for table in tables for lift in table if lift == lift)])
    chart = Chart(TITLES["deciles"], "", (0.5, 10.5), (0.0, most), "tenth of the list, best first")
    chart.x_labels = [(float(k), str(k)) for k in range(1, 11)]
    wide = 0.8 / len(tables)
    for k, table in enumerate(tables):
        for portion, lift in enumerate(table, 1):
            if lift == lift:
                chart.bar(portion - 0.4 + k * wide, wide, lift, colour(k))
    chart.line([0.5, 10.5], [1.0, 1.0], GREY, CHANCE)
    return chart.svg()


def histogram_chart(ev: Evaluation) -> Markup:
    """Shares of the positives and of the negatives by score."""
    rows = score_histogram(ev)
    edges = [*rows.column("from"), rows[-1]["to"]]
    shares = {side: rows.column(f"share_of_{side}s") for side in ("positive", "negative")}
    most = max((v for side in shares.values() for v in side if v == v), default=1.0) or 1.0
    chart = Chart(TITLES["histogram"], "", (edges[0], edges[-1]), (0.0, most), "score", y_name="share of the class")
    chart.y_percent = True
    for side, paint in (("negative", NEGATIVES), ("positive", POSITIVES)):
        chart.steps(edges, shares[side], paint, 0.55)
    chart.legend([("positive", POSITIVES), ("negative", NEGATIVES)])
    return chart.svg()
