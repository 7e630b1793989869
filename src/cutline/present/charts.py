"""One grammar of charts: marks on a pair of scales, as SVG with axes. No plotting library is needed to see a result.

Lines and letters take the colour of the text around them, and nothing is painted behind, so a chart is readable on
light and on dark ground. What a chart shows stands beside it in words. The page's script moves the cut in some of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup, escape

from ..curves import keep_points

# The first three after Okabe and Ito; the others lie farthest from all before them as people with normal sight, without
# red and without green cones see them. Middle tones: each has 3:1 contrast on white paper and on a dark screen.
COLOURS = ("#2f7ec7", "#d1560a", "#0e9472", "#8c1aff", "#706636", "#b82e8a", "#c34dff", "#809b4b")
# A second cue beside colour, for print without colour: (on, off) lengths; empty is a full line.
DASHES: tuple[tuple[int, ...], ...] = ((), (7, 3), (2, 2), (9, 3, 2, 3), (4, 2), (12, 4), (1, 3), (6, 2, 1, 2, 1, 2))
TITLES = {
    "gain": "Hits found",
    "hit_rate": "Hit rate",
    "qrecall": "Recall (Qrecall): share of all positives found",
    "lift": "Lift: hits relative to chance",
    "dots": "Found in this list, and what to expect",
    "profit": "Profit",
    "roc": "ROC curve",
    "precision_recall": "Precision and recall",
    "histogram": "Scores of positives and negatives",
    "reliability": "Predicted probability and observed share",
    "net_benefit": "Net benefit",
    "expected_cost": "Expected cost",
}
GREY, CHANCE, PERFECT = "#8a8a8a", (2, 3), (6, 4)
_REACH = (-2.0, 3.0)  # how far beyond the ends of a scale a mark may stand, in lengths of the scale; the frame cuts it
_INVISIBLE = 0.3  # pixels
_FAINT = 'fill="none" stroke="currentColor" stroke-opacity=".15"'


def colour(index: int) -> str:
    """Colour of the model with this number: the same on plots and page, told apart by colour-blind eyes."""
    return COLOURS[index % len(COLOURS)]


def dash(index: int) -> tuple[int, ...]:
    """Line style of the model with this number; it changes slower than the colour once that repeats."""
    return DASHES[(index + index // len(COLOURS)) % len(DASHES)]


def short(value: float, percent: bool = False) -> str:
    """A tick as 500, 1k, 2.5M, or as 20%.

    >>> short(0), short(0.25), short(2500), short(-3e6), short(0.025, percent=True)
    ('0', '0.25', '2.5k', '−3M', '2.5%')
    """
    if percent:
        return f"{float(f'{100 * value:.3g}'):g}%"
    unit, letter = next(((u, s) for u, s in ((1e9, "G"), (1e6, "M"), (1e3, "k")) if abs(value) >= u), (1.0, ""))
    return f"{float(f'{value / unit:.3g}'):g}{letter}".replace("-", "−")


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


class PlotArea(NamedTuple):
    """The size of a chart, and where in it the scales begin and end."""

    width: int
    height: int
    left: float
    right: float
    top: float
    bottom: float


USUAL = PlotArea(400, 232, 42.0, 386.0, 18.0, 196.0)
WIDE = PlotArea(900, 232, 44.0, 890.0, 18.0, 196.0)


class Mark(NamedTuple):
    """One mark of a chart, in the units of its scales; ``tag``: attributes by which a page's script finds it."""

    shape: str  # line, band (y: low and high), area, bar (x: left and width), point, words
    x: Any
    y: Any
    paint: str
    opacity: float = 1.0
    size: float = 1.6  # of a line its width, of a point its radius, of words the pixels beside their place
    dashes: Sequence[int] = ()
    tag: str = ""
    words: str = ""  # what stands there; of a line its name
    anchor: str = "start"


@dataclass
class Chart:
    """Marks on a pair of scales with axes. Marks beyond the ends are cut off, except points and words.

    ``words`` tell what it shows; ``name`` is what a page finds it by. ``linked``: attributes for the page's script, to
    which the ends of the scales are added, and a second x axis for it to change to.
    """

    title: str
    words: str
    x: tuple[float, float]
    y: tuple[float, float] = (0.0, 1.0)
    x_name: str = ""
    log: bool = False
    y_name: str = ""
    x_percent: bool = False
    y_percent: bool = False
    x_labels: Sequence[tuple[float, str]] | None = None
    y_labels: Sequence[tuple[float, str]] | None = None
    y_ticks: bool = True
    linked: str = ""
    name: str = ""
    hidden: bool = False
    models: Sequence[str] = ()  # names of the lines, where there are several
    caption: str = ""  # what stands below it, if not its words
    area: PlotArea = USUAL
    key: list[tuple[str, str]] = field(default_factory=list)  # names with their colours, at the top right
    finding: str = ""  # what a plot states as its title
    square: bool = False  # one unit is as long on both axes of a plot
    marks: list[Mark] = field(default_factory=list)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where two values stand, in pixels from the left and from the top; no farther off than a frame cuts away."""
        shares = []
        for value, (low, high), log in ((x, self.x, self.log), (y, self.y, False)):
            if log:
                value, low, high = math.log(max(value, 1e-300)), math.log(low), math.log(high)
            shares.append(min(_REACH[1], max(_REACH[0], (value - low) / (high - low))) if high > low else 0.5)
        _, _, left, right, top, bottom = self.area
        return left + (right - left) * shares[0], bottom - (bottom - top) * shares[1]

    def line(self, x: Any, y: Any, paint: str = "currentColor", dashes: Sequence[int] = (), **more: Any) -> None:
        """Points joined by straight lines; those without a value are left out."""
        self.marks.append(Mark("line", x, y, paint, dashes=dashes, **more))

    def reference(self, x: Any, y: Any, *, perfect: bool = False, tag: str = "") -> None:
        """A grey line that the eye compares with: dotted for chance, dashed for what is perfect or the whole."""
        self.line(x, y, GREY, PERFECT if perfect else CHANCE, tag=tag, size=1.1)

    def upright(self, x: float, words: str = "", at: float = 0.03) -> None:
        """A vertical line over the whole height, and words ``at`` a share of it; none beyond the ends of the scale."""
        if self.x[0] <= x <= self.x[1]:
            self.reference([x, x], self.y)
            if words:
                self.label(x, self.y[0] + at * (self.y[1] - self.y[0]), words)

    def band(self, x: Any, low: Any, high: Any, paint: str, tag: str = "") -> None:
        """The area between two lines."""
        there = np.isfinite(np.asarray(low, dtype=float) + np.asarray(high, dtype=float))
        x, low, high = (np.asarray(values, dtype=float)[there] for values in (x, low, high))
        self.marks.append(Mark("band", x, (low, high), paint, 0.2, tag=tag))

    def steps(self, edges: Sequence[float], heights: Sequence[float], paint: str, opacity: float = 0.4) -> None:
        """Bars side by side on a common ground."""
        y = [self.y[0], *np.repeat(np.asarray(heights, dtype=float), 2), self.y[0]]
        self.marks.append(Mark("area", np.repeat(np.asarray(edges, dtype=float), 2), y, paint, opacity))

    def point(self, x: float, y: float, paint: str = "currentColor", tag: str = "", *, size: float = 3.0) -> None:
        """One point; none where it has no value."""
        if math.isfinite(x) and math.isfinite(y):
            self.marks.append(Mark("point", x, y, paint, size=size, tag=tag))

    def label(self, x: float, y: float, words: str, *, aside: float = 3.0, **more: Any) -> None:
        """A few small words, ``aside`` pixels beside the line that they name."""
        self.marks.append(Mark("words", x, y, "currentColor", size=aside, words=words, **more))

    def _markup(self, m: Mark) -> str:
        """A mark as SVG."""
        paint = f'fill="{m.paint}" fill-opacity="{m.opacity:g}"'
        match m.shape:
            case "line":
                style = f' stroke-dasharray="{" ".join(map(str, m.dashes))}"' if m.dashes else ""
                drawn = f'fill="none" stroke="{m.paint}" stroke-width="{m.size:g}"{style}'
                return f'<polyline {m.tag} points="{self._points(m.x, m.y)}" {drawn}/>'
            case "band" | "area":
                x, y = (m.x, m.y) if m.shape == "area" else ([*m.x, *m.x[::-1]], [*m.y[0], *m.y[1][::-1]])
                return f'<polygon {m.tag} points="{self._points(x, y)}" {paint}/>'
            case "point":
                x, y = self.at(m.x, m.y)
                place = f'cx="{px(x)}" cy="{px(y)}"'
                return f'<circle {m.tag} {place} r="{m.size:g}" fill="{m.paint}"/>'
            case "bar":
                (left, ground), (right, end) = self.at(m.x[0], 0.0), self.at(sum(m.x), m.y)
                place = f'x="{px(left)}" y="{px(min(ground, end))}" width="{px(right - left)}"'
                return f'<rect {place} height="{px(abs(end - ground))}" fill="{m.paint}"/>'
        x, y = self.at(m.x, m.y)
        place = f'x="{px(x + m.size)}" y="{px(y)}" text-anchor="{m.anchor}"'
        return f"<text {m.tag} {place}>{escape(m.words)}</text>"

    def _points(self, x: Any, y: Any) -> str:
        """Places of the points, there and back, without those that a line between their neighbours passes anyway."""
        both = np.array([self.at(a, b) for a, b in zip(x, y, strict=True) if a == a and b == b])
        if len(both) > 50:
            turn = int(np.argmax(both[:, 0])) + 1
            ways = [both[:turn], both[turn:][::-1]]
            for k, (across, up) in enumerate(way.T for way in ways):
                if not len(across) or not (np.diff(across) > 0).all():
                    continue
                column = np.round(across, 1)  # of a tenth of a pixel, the ends and the extremes are seen
                order = np.lexsort((up, column))  # the lowest and the highest of each column stand at its ends
                firsts = np.flatnonzero(np.diff(column, prepend=-np.inf))
                lasts = np.append(firsts[1:], len(column)) - 1
                seen = np.unique(np.concatenate([firsts, lasts, order[firsts], order[lasts]]))
                ways[k] = ways[k][seen[keep_points(across[seen], up[seen], _INVISIBLE)]]
            both = np.concatenate([ways[0], ways[1][::-1]])
        return " ".join(f"{px(x)},{px(y)}" for x, y in both.tolist())

    def svg(self) -> Markup:
        """The chart as markup; its message stands beside it, so it is hidden from screen readers."""
        width, height, left, right, top, bottom = self.area
        whole = ("point", "words", "bar")  # not cut off at the ends of the scales
        inside = "".join(self._markup(mark) for mark in self.marks if mark.shape not in whole)
        above = "".join(self._markup(mark) for mark in self.marks if mark.shape in whole)
        if self.key:
            square = '<tspan fill="{}" fill-opacity=".7">■</tspan> {}'  # in one text: its letters set the places
            named = "&#160; ".join(square.format(paint, escape(name)) for name, paint in self.key)
            above += f'<text x="{px(right)}" y="11" text-anchor="end">{named}</text>'
        middle = f'x="{(left + right) / 2:g}" y="{height - 4}" text-anchor="middle"'
        names = f'<text class="x-name" {middle}>{escape(self.x_name)}</text>'
        if self.y_name:
            names += f'<text x="{left:g}" y="11">{escape(self.y_name)}</text>'
        ticks = ""
        rows = [(value, short(value, self.y_percent)) for value in nice_ticks(*self.y)] if self.y_ticks else []
        for value, label in self.y_labels or rows:
            y = px(self.at(self.x[0], value)[1])
            ticks += f'<path class="grid" d="M{left:g} {y}H{right:g}" {_FAINT}/>'
            ticks += f'<text x="{left - 5:g}" y="{y}" dy=".35em" text-anchor="end">{escape(label)}</text>'
        axes = f'<g class="y-axis">{ticks}</g>'
        if "data-kind" in self.linked:  # a script changes between the linear and the logarithmic axis
            for log, name, low in ((False, "linear", 0.0), (True, "log", 1.0)):
                axis = replace(self, log=log, x=(low, self.x[1]))._x_axis()
                axes += f'<g data-axis="{name}"{"" if log == self.log else " hidden"}>{axis}</g>'
        else:
            axes += self._x_axis()
        ends, box = " ".join(f"{end:.12g}" for end in self.y), f"{left:g} {top:g} {right - left:g} {bottom - top:g}"
        known = f' {self.linked} data-y="{ends}" data-box="{box}"' if self.linked else ""
        place = f"{left - 1:g} {top - 1:g} {right - left + 2:g} {bottom - top + 2:g}"  # whole lines at the ends
        frame = 'x="{}" y="{}" width="{}" height="{}"'.format(*place.split())
        return Markup(
            f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" aria-hidden="true" '
            f'font-family="sans-serif" font-size="10.5" fill="currentColor" style="max-width:100%;height:auto"{known}>'
            f'{axes}{names}<svg {frame} viewBox="{place}">{inside}</svg>{above}</svg>'
        )

    def _x_axis(self) -> str:
        low, high = self.x
        if self.x_labels is not None:
            ticks = list(self.x_labels)
        elif self.log:
            ticks = [(10.0**k, short(10.0**k)) for k in range(math.ceil(math.log10(low)), int(math.log10(high)) + 1)]
        else:
            ticks = [(value, short(value, self.x_percent)) for value in nice_ticks(low, high)]
        drawn, bottom = "", self.area.bottom
        for value, label in ticks:
            x = px(self.at(value, self.y[0])[0])
            drawn += f'<path class="tick" d="M{x} {bottom:g}v4" {_FAINT}/>'
            drawn += f'<text x="{x}" y="{bottom + 15:g}" text-anchor="middle">{escape(label)}</text>'
        return f'<g class="x-axis">{drawn}</g>'


def clipped(name: str, most: int = 24) -> str:
    """A name that fits into a chart."""
    return name if len(name) <= most else name[: most - 1] + "…"


def around(values: Any) -> tuple[float, float]:
    """The range of the values that are there, never without width."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def px(value: float) -> str:
    """A place in a chart, to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")
