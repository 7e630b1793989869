"""The page of several classes: confusion matrix, classes, risk and coverage, and the page of any one class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..table import escaped as text
from ..table import html_table, pluralize
from .class_sections import (
    abstention_sentence,
    class_answer,
    confidence_pictures,
    confusion_table,
    measure_rows_html,
    per_class_html,
)
from .page import asset, fill, packed, page_parts, policy, script_of
from .words import between

if TYPE_CHECKING:
    from ..class_evaluation import ClassEvaluation

MOST_PAGES, FEW_PAGES = 20, 8  # up to so many classes, all have a page of their own; of more, only the largest
_SHARED = ("css", "script", "version", "csp")  # parts that are the same for every class


def class_page(
    ev: ClassEvaluation,
    *,
    title: str | None = None,
    source: Mapping[str, Any] | None = None,
    quota: int | float | None = None,
    cost: float | None = None,
    value: float | None = None,
) -> str:
    """The page as text; ``quota``, ``cost`` and ``value`` are for the pages of the classes."""
    from .. import __version__

    title = title or f"Evaluation of {ev.name}: {pluralize(len(ev.classes), 'class', 'classes')}"
    settings = ev.settings
    made = f"level {settings.level:g} · seed {settings.seed}" if settings.interval else "no intervals"
    scored = ev.sample.matrix is not None
    of_class = _class_pages(ev, quota, cost, value) if scored else []
    script, inner = script_of("class_page.js"), script_of("page.js")
    sentences = class_answer(ev) + ([abstention_sentence(ev)] if scored else [])
    facts = {**(source or {}), "rows": ev.facts["rows"], "classes": ev.facts["classes"], "scores": ev.facts["scores"]}
    parts = {
        "csp": policy(script, inner),
        "version": text(__version__),
        "title": text(title),
        "css": asset("page.css"),
        "subtitle": text(ev.headline()),
        "answer": "".join(f"<p>{text(sentence)}</p>" for sentence in sentences),
        "confusion": confusion_table(ev.confusion) + _confused(ev),
        "classes": per_class_html(ev),
        "pictures": _pictures(ev) if scored else "<p>Risk and coverage need scores; these are predictions alone.</p>",
        "picker": _picker(ev, of_class),
        "measures": measure_rows_html(ev),
        "facts": "".join(f"<tr><th scope='row'>{text(k)}</th><td>{text(v)}</td></tr>" for k, v in facts.items()),
        "settings": text(f"Made by cutline {__version__} · {made}"),
        "data": packed({"classes": of_class, "css": asset("page.css"), "template": asset("page.html")}),
        "inner": inner if of_class else "",
        "script": script,
    }
    return fill("class_page.html", parts)


def _class_pages(
    ev: ClassEvaluation, quota: int | float | None, cost: float | None, value: float | None
) -> list[dict[str, Any]]:
    """The parts of the binary page of each class, the largest classes first; what all share is left out."""
    sizes = np.bincount(ev.sample.code, minlength=len(ev.classes))
    pages = []
    ready = FEW_PAGES if len(sizes) > MOST_PAGES else MOST_PAGES
    for at in np.argsort(-sizes, kind="stable")[:ready]:
        if sizes[at] == 0:
            continue
        label = ev.classes[int(at)]
        binary = ev.of(label)
        title = f"{label} against the rest"
        parts = page_parts(binary, quota=quota, cost=cost, value=value, title=title)
        pages.append(
            {"name": str(label), "cases": int(sizes[at]), "parts": {k: v for k, v in parts.items() if k not in _SHARED}}
        )
    return pages


def _confused(ev: ClassEvaluation) -> str:
    pairs = ev.most_confused(10)
    if not len(pairs):
        return "<p>No case was predicted as a class that is not its own.</p>"
    rows = [
        {
            "real class": row["class"],
            "predicted": row["predicted"],
            "cases": row["cases"],
            "share of the class": f"{row['share_of_class']:.1%}",
            "interval": f"{row['low']:.1%} to {row['high']:.1%}",
            "share of all errors": f"{row['share_of_errors']:.1%}",
        }
        for row in pairs
    ]
    table = html_table(rows, list(rows[0]), texts=("real class", "predicted"))
    return f'<h3>Most confused</h3><div class="wide">{table}</div>'


def _pictures(ev: ClassEvaluation) -> str:
    curve = ev.risk_coverage()
    rows = [
        {
            "answered": f"{row['coverage']:.0%}",
            "errors among them": f"{row['risk']:.1%}",
            "interval": f"{row['low']:.1%} to {row['high']:.1%}",
            "confidence at least": row["confidence"],
        }
        for row in (curve.at(share) for share in (0.1, 0.25, 0.5, 0.75, 0.9, 1.0))
    ]
    area = f"{curve.area.value:.1%} on average over all coverages{between(curve.area)}"
    said = f"The error rate is {area}: the area under the curve."
    return (
        f'<p>{said}</p><div class="large">{confidence_pictures(ev)}</div>'
        f'<div class="wide">{html_table(rows, list(rows[0]))}</div>'
    )


def _picker(ev: ClassEvaluation, pages: list[dict[str, Any]]) -> str:
    if not pages:
        return ""
    options = "".join(f'<option value="{k}">{text(one["name"])}</option>' for k, one in enumerate(pages))
    left = len(ev.classes) - len(pages)
    said = f"The page has the {len(pages)} largest classes; of(class).to_html(path) writes the page of another one."
    more = f"<p class='note'>{said}</p>" if left else ""
    return (
        '<section aria-labelledby="picker-title"><h2 id="picker-title">One class against the rest</h2>'
        '<p class="controls"><label for="pick">Class <select id="pick"><option value="">choose a class</option>'
        f"{options}</select></label></p>{more}"
        '<iframe id="class-page" title="The class against the rest" hidden></iframe></section>'
    )
