"""Colours and line styles of the models: the same on plots and page, told apart by colour-blind eyes and in print."""

from __future__ import annotations

# After Okabe and Ito, in middle tones so that each has at least 3:1 contrast on white paper and on a dark screen.
COLOURS = ("#2f7ec7", "#d1560a", "#0e9472", "#b0609c", "#a87a08", "#6b7280", "#c0392b", "#5b5fc7")
# A second cue beside colour, for print without colour: (on, off) lengths; empty is a full line.
DASHES: tuple[tuple[int, ...], ...] = ((), (7, 3), (2, 2), (9, 3, 2, 3), (4, 2), (12, 4), (1, 3), (6, 2, 1, 2, 1, 2))


def colour(index: int) -> str:
    """Colour of the model with this number."""
    return COLOURS[index % len(COLOURS)]


def dash(index: int) -> tuple[int, ...]:
    """Line style of the model with this number; it changes slower than the colour once that repeats."""
    return DASHES[(index + index // len(COLOURS)) % len(DASHES)]
