"""Colours and line styles of the models: the same on plots and page, told apart by colour-blind eyes and in print."""

from __future__ import annotations

# After Okabe and Ito, in middle tones so that each has at least 3:1 contrast on white paper and on a dark screen.
COLOURS = ("#2f7ec7", "#d1560a", "#0e9472", "#b0609c", "#a87a08", "#6b7280", "#c0392b", "#5b5fc7")
# A second cue beside colour, for print without colour: (on, off) lengths; empty is a full line.
DASHES: tuple[tuple[int, ...], ...] = ((), (7, 3), (2, 2), (9, 3, 2, 3), (4, 2), (12, 4), (1, 3), (6, 2, 1, 2, 1, 2))


def colour(index: int) -> str:
    """Colour of the model with this number."""
    return COLOURS[index % len(COLOURS)]


def ink_on(index: int) -> str:
    """Black or white: whichever is read better on the colour of this model.

    >>> ink_on(0), ink_on(6)
    ('#000', '#fff')
    """
    channels = (int(colour(index)[k : k + 2], 16) / 255 for k in (1, 3, 5))
    linear = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    luminance = sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return "#000" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "#fff"


def dash(index: int) -> tuple[int, ...]:
    """Line style of the model with this number; it changes slower than the colour once that repeats."""
    return DASHES[(index + index // len(COLOURS)) % len(DASHES)]
