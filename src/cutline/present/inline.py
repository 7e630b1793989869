"""Pictures as SVG, small ones for notebooks: no plotting library is needed to see a result.

Lines and letters take the colour of the text around them, and nothing is painted behind, so a picture is readable on
light and on dark ground. Every picture is one image with an alternative in words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..table import Markup, escaped
from .palette import colour


class Frame(NamedTuple):
    """The size of a picture, and where in it the scales begin and end."""

    width: int
    height: int
    left: float
    right: float
    top: float
    bottom: float


SMALL = Frame(190, 132, 4.0, 186.0, 20.0, 112.0)
BAR_WIDTH, BAR_HEIGHT = 90, 12
_EDGE = 3.0  # a mark at the end of a bar stays inside it


@dataclass
class Picture:
    """One plot: marks on a pair of scales, a title above, the ends of the horizontal scale below.

    ``heights`` writes the ends of the vertical scale beside the title, where they are not 0 and 1.
    """

    title: str
    words: str
    x: tuple[float, float]
    y: tuple[float, float] = (0.0, 1.0)
    x_name: str = ""
    log: bool = False
    heights: bool = False
    marks: list[str] = field(default_factory=list)
    frame: Frame = SMALL
    reach: ClassVar[tuple[float, float]] = (0.0, 1.0)  # how far beyond the ends of a scale a mark may stand

    def across(self, x: float) -> float:
        """Where a value stands, in pixels from the left."""
        return self.frame.left + (self.frame.right - self.frame.left) * _share(x, self.x, self.log, self.reach)

    def up(self, y: float) -> float:
        """Where a value stands, in pixels from the top."""
        return self.frame.bottom - (self.frame.bottom - self.frame.top) * _share(y, self.y, False, self.reach)

    def line(
        self,
        x: Any,
        y: Any,
        paint: str = "currentColor",
        dashes: Sequence[int] = (),
        faint: bool = False,
        mark: str = "",
    ) -> None:
        """Points joined by straight lines; those without a value are left out. ``mark``: attributes for a script."""
        style = f' stroke-dasharray="{" ".join(map(str, dashes))}"' if dashes else ""
        style += ' stroke-opacity=".45"' if faint else ' stroke-width="1.6"'
        self.marks.append(f'<polyline {mark} points="{self._points(x, y)}" fill="none" stroke="{paint}"{style}/>')

    def band(self, x: Any, low: Any, high: Any, paint: str, mark: str = "") -> None:
        """The area between two lines."""
        there = np.isfinite(np.asarray(low, dtype=float) + np.asarray(high, dtype=float))
        x, low, high = (np.asarray(values, dtype=float)[there] for values in (x, low, high))
        around = self._points([*x, *x[::-1]], [*low, *high[::-1]])
        self.marks.append(f'<polygon {mark} points="{around}" fill="{paint}" fill-opacity=".2"/>')

    def point(self, x: float, y: float, paint: str = "currentColor", mark: str = "") -> None:
        """One point; none where it has no value."""
        if math.isfinite(x) and math.isfinite(y):
            place = f'cx="{px(self.across(x))}" cy="{px(self.up(y))}"'
            self.marks.append(f'<circle {mark} {place} r="3" fill="{paint}"/>')

    def upright(self, x: float) -> None:
        """A vertical line over the whole height; none beyond the ends of the scale."""
        if self.x[0] <= x <= self.x[1]:
            self.line([x, x], self.y, dashes=(2, 2), faint=True)

    def steps(self, edges: Sequence[float], heights: Sequence[float], paint: str, opacity: float = 0.4) -> None:
        """Bars side by side on a common ground."""
        x = np.repeat(np.asarray(edges, dtype=float), 2)
        y = [self.y[0], *np.repeat(np.asarray(heights, dtype=float), 2), self.y[0]]
        self.marks.append(f'<polygon points="{self._points(x, y)}" fill="{paint}" fill-opacity="{opacity:g}"/>')

    def stretch(self, first: float, last: float, height: float, paint: str, opacity: float) -> None:
        """A horizontal bar between two values, a fifth of the picture thick if its scale is 0 to 1."""
        x, y = (first, first, last, last), (height, height + 0.2, height + 0.2, height)
        self.marks.append(f'<polygon points="{self._points(x, y)}" fill="{paint}" fill-opacity="{opacity:g}"/>')

    def label(self, x: float, y: float, words: str) -> None:
        """A few small words, beside the line that they name."""
        self.marks.append(f'<text x="{px(self.across(x) + 3)}" y="{px(self.up(y))}">{escaped(words)}</text>')

    def _points(self, x: Any, y: Any) -> str:
        both = zip(np.asarray(x, dtype=float).tolist(), np.asarray(y, dtype=float).tolist(), strict=True)
        return " ".join(f"{px(self.across(a))},{px(self.up(b))}" for a, b in both if a == a and b == b)

    def svg(self) -> Markup:
        """The picture as markup."""
        width, height, left, right, top, bottom = self.frame
        low, high = (f'<text x="{x:g}" y="{bottom + 12:g}"' for x in (left, right))
        ends = f"{_end(self.y[0])} to {_end(self.y[1])}" if self.heights else ""
        middle = f'x="{(left + right) / 2:g}" y="{bottom + 12:g}" text-anchor="middle"'
        return Markup(
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" aria-label="{escaped(f"{self.title}. {self.words}")}" '
            'font-family="sans-serif" font-size="9" fill="currentColor" style="overflow:visible">'
            f"<title>{escaped(self.words)}</title>"
            f'<text x="{left:g}" y="12" font-size="11" font-weight="bold">{escaped(self.title)}</text>'
            f'<text x="{right:g}" y="12" text-anchor="end">{ends}</text>'
            f'<path d="M{left:g} {top:g}V{bottom:g}H{right:g}" fill="none" stroke="currentColor" stroke-opacity=".4"/>'
            f"{''.join(self.marks)}"
            f'{low}>{_end(self.x[0])}</text>{high} text-anchor="end">{_end(self.x[1])}</text>'
            f"<text {middle}>{escaped(self.x_name)}</text></svg>"
        )


def interval_bar(value: float, low: float, high: float, ends: tuple[float, float]) -> Markup:
    """An estimate on its scale: a thick stretch for the interval, a tick for the value; nothing without an end."""
    if not all(map(math.isfinite, (value, *ends))) or ends[0] >= ends[1]:
        return Markup("")

    def place(x: float) -> str:
        return px(_EDGE + (BAR_WIDTH - 2 * _EDGE) * _share(x, ends))

    known = low == low
    words = f"{value:.3g}" + (f", {low:.3g} to {high:.3g}" if known else "") + f" on {ends[0]:.3g} to {ends[1]:.3g}"
    stretch = f'<path d="M{place(low)} 6H{place(high)}" stroke="{colour(0)}" stroke-width="5"/>'
    return Markup(
        f'<svg role="img" aria-label="{words}" width="{BAR_WIDTH}" height="{BAR_HEIGHT}">'
        f'<path d="M0 6H{BAR_WIDTH}" stroke="currentColor" stroke-opacity=".3"/>{stretch if known else ""}'
        f'<path d="M{place(value)} 1V11" stroke="currentColor" stroke-width="1.5"/></svg>'
    )


def side_by_side(pictures: Sequence[Picture | None]) -> str:
    """Pictures in a row that wraps; those that could not be drawn are left out."""
    drawn = "".join(picture.svg() for picture in pictures if picture is not None)
    return f'<div style="display:flex;flex-wrap:wrap;gap:14px;margin:4px 0">{drawn}</div>' if drawn else ""


def clipped(name: str, most: int = 24) -> str:
    """A name that fits into a picture."""
    return name if len(name) <= most else name[: most - 1] + "…"


def _share(
    value: float, ends: tuple[float, float], log: bool = False, reach: tuple[float, float] = (0.0, 1.0)
) -> float:
    """Where a value lies between two ends, 0 to 1; no farther beyond them than ``reach``."""
    low, high = (math.log(end) for end in ends) if log else ends
    at = math.log(max(value, 1e-300)) if log else value
    return min(reach[1], max(reach[0], (at - low) / (high - low))) if high > low else 0.5


def px(value: float) -> str:
    """A place in a picture, to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")


def _end(value: float) -> str:
    return (f"{value:,.0f}" if value == round(value) else f"{value:.3g}").replace("-", "−")
