"""``cutline swaps``: who enters and who leaves the list when one model replaces another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..errors import InputError, listed
from . import options
from .output import Block, Report
from .terms import about_file

EXAMPLES = """\b
Examples:
  cutline swaps scores.csv --label y --score old --score new --quota 500
  cutline swaps scores.csv --label y --score old --score new --quota 5% --format csv > swapped.csv
"""


@options.command(epilog=EXAMPLES)
@options.several_models
@options.quota_option
@options.positive_option
@options.weight_option
@options.level_option
@options.decision_options
def swaps(
    file: str,
    scores: tuple[str, ...],
    quota: Any,
    level: float,
    form: str,
    plot: str | None,
    **asked: Any,
) -> None:
    """Show which cases enter and leave the list when the second --score replaces the first, and how the hits change.

    Both lists agree on everybody else. csv prints the swapped rows, with their numbers in FILE (the first is 1).
    """
    from ..decide.swaps import swaps as swap_set
    from ..quotas import Quotas
    from ..sources.arrays import make_sample
    from ..validate import check_number
    from .evaluate import check_plot, save_plot
    from .reading import load_models

    if quota is None or isinstance(quota, Quotas):
        said = "is missing" if quota is None else "is a range, and a swap set has one number of places"
        raise InputError("quota", said, "write e.g. --quota 500 or --quota 5%")
    check_number(level, "level", 0.0, 1.0, open_ends=True)
    check_plot(plot)
    found = load_models(file, asked, scores)
    rows, names = found.rows, found.columns.scores
    if len(names) != 2:
        named = f" and means {listed(names)}" if len(names) > 1 else ""
        raise InputError(
            "score", f"must name two models{named}", "give it twice: first the old model, then the new one"
        )
    old, new = names
    with about_file(found.table.name):
        one, two = (make_sample(rows.positive, rows.scores[name], sample_weight=rows.weight) for name in names)
        made = swap_set(one, two, quota, names=(old, new), level=level)
    source = rows.source_rows
    save_plot(made, plot)

    def swapped() -> list[dict[str, Any]]:
        return [
            {
                "row": int(k if source is None else source[k]) + 1,
                "swap": side,
                "positive": bool(rows.positive[k]),
                old: float(rows.scores[old][k]),
                new: float(rows.scores[new][k]),
            }
            for side, those in (("enters", made.entering), ("leaves", made.leaving))
            for k in those
        ]

    def content() -> dict[str, Any]:
        known = {key: value for key, value in made.to_dict().items() if key not in ("entering", "leaving")}
        return {"rows": len(rows), **known, "swapped_rows": swapped()}

    def blocks() -> Iterator[str | Block]:
        yield f"{made!r}."
        yield Block("", made.sides.to_dicts())
        yield "--format csv lists the swapped rows."

    Report(found.facts, content, swapped, blocks, {"rows": len(rows), "quota": made.quota, "level": level}).publish(
        form
    )
