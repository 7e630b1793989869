"""``cutline doctor``: what a file supports, what looks wrong, what to run next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import options
from .output import Block, Report
from .reading import TEXT

EXAMPLES = """\b
Examples:
  cutline doctor scores.csv
  cutline doctor bank.csv --label bought --positive yes
"""


@options.command(epilog=EXAMPLES)
@options.file_argument
@options.label_option
@options.positive_alone
@options.text_options
@options.format_option
@options.quiet_option
def doctor(file: str, label: str | None, positive: str | None, form: str, **asked: Any) -> None:
    """Inspect FILE: what each column could be, how the classes and scores look, and what looks wrong.

    The last line is the command to run next, if the file allows one.
    """
    from ..diagnosis import doctor as examine

    found = examine(file, label=label, pos_label=positive, **{option: asked[option] for option in TEXT})

    def blocks() -> Iterator[str | Block]:
        yield "\n".join(filter(None, [found.headline, found.understood and f"detected: {found.understood}"]))
        columns, scores, findings = found.shown()
        yield Block("Columns", columns)
        if found.balance:
            yield found.balance
        if scores:
            yield Block("Scores", scores)
        if findings:
            yield "\n".join(["What to check:", *(f"  - {sentence}" for sentence in findings)])
        if found.command:
            yield f"Next: {found.command}"

    Report({"file": file}, found.to_dict, found.to_dicts, blocks, {"rows": found.rows}).publish(form)
