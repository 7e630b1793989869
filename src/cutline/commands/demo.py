"""``cutline demo``: the bundled example, from file to decision."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from ..errors import InputError
from . import options
from .output import say

PLACES = 20
MODELS = ("tree", "logistic", "network")
PAGE = "cutline-demo.html"


@contextmanager
def example_file() -> Iterator[Path]:
    """The example's CSV: inside an installed package, or in the checkout this package is run from."""
    packaged = resources.files("cutline") / "data" / "applicants.csv"
    if packaged.is_file():
        with resources.as_file(packaged) as path:
            yield path
        return
    checkout = Path(__file__).resolve().parents[3] / "examples" / "applicants.csv"
    if not checkout.is_file():
        raise InputError(None, "applicants.csv is neither in the package nor in a checkout", "reinstall cutline")
    yield checkout


@options.command()
def demo() -> None:
    """Evaluate the bundled example: 400 applicants for a course with 20 places, three models.

    Prints which model to use for 20 places and how sure that is, and writes the page cutline-demo.html into the
    current folder.
    """
    from ..comparison import compare
    from ..present.page import write_page
    from .compare import report
    from .reading import load, opened

    with example_file() as path, opened(str(path)) as table:
        rows = load(table, "completed", MODELS, None, {})
    label, scores = rows.positive, rows.scores
    say(f"{len(label)} people apply for a course with {PLACES} places. Three models predict who will complete it.\n")
    comparison = compare(label, scores, quota=PLACES)
    facts = {"file": "applicants.csv", "label": "completed", "score": ", ".join(MODELS)}
    report(comparison, facts).publish("table")
    write_page(comparison, PAGE, source=facts, title="Who gets the 20 places?")
    say(f"\nInteractive report with a slider for the number of places: {Path(PAGE).resolve()}")
