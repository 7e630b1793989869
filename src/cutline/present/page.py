"""The page: one self-contained HTML file in which a reader moves the quota and sees what happens."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from ..errors import InputError
from ..runtime import write_whole
from ..table import Figure, Section, pluralize, to_jsonable
from ..types import FilePath
from .explorer import explorer
from .render import asset, fill

if TYPE_CHECKING:
    from ..class_evaluation import ClassEvaluation
    from ..decide.planning import Plan

MOST_PAGES, FEW_PAGES = 20, 8  # up to so many classes, all have a page of their own; of more, only the largest


def write_page(result: Any, path: FilePath, **options: Any) -> Path:
    """Write the page of a result, whole or not at all; options as for :func:`page`. Gives back its path."""
    written = page(result, **options)
    with write_whole(path) as beside:
        beside.write_text(written, encoding="utf-8", newline="\n")
    return Path(path)


def page_title(result: Any) -> str:
    """What a page is about: one model or several, their classes, their segments, or more classes."""
    if hasattr(result, "title"):
        return str(result.title)
    whole = getattr(result, "whole", result)
    models = getattr(whole, "evaluations", None)
    title = f"Evaluation of {whole.name}" if models is None else f"Comparison of {pluralize(len(models), 'model')}"
    if whole is not result:
        return f"{title} by {', '.join(result.by)}"
    classes = getattr(whole if models is None else whole.first, "classes", ())
    return (
        f"{title}{':' if models is None else ' of'} {pluralize(len(classes), 'class', 'classes')}" if classes else title
    )


def page(
    result: Any,
    *,
    title: str | None = None,
    cost: float | None = None,
    value: float | None = None,
    quota: int | float | None = None,
    plan: Plan | None = None,
    **options: Any,
) -> str:
    """The page as text: the answer first, the places as an explorer where the data allow one, the rest folded.

    ``quota`` is where the explorer starts (the evaluation's own quota by default); ``cost`` per place and ``value`` per
    hit add profit; a ``plan`` takes the place of the answer. Further options are those of the result's sections:
    ``cost_fp`` and ``cost_fn`` (what errors cost), ``source`` (file and columns).
    """
    if not hasattr(result, "to_html"):
        raise InputError(None, f"a page shows an Evaluation or a Comparison, not {type(result).__name__}")
    sections = list(result.sections(detail=True, **options))
    sections = _in_order(sections if plan is None else [*plan.sections(), *sections[1:]], options)
    prices = {"cost": cost, "value": value}
    if hasattr(result, "confusion"):
        return _shell(result, title, sections, **_picker(result, quota, prices))
    asked = plan is None and not options.get("cost_fp") and not hasattr(result, "by")
    return _shell(result, title, sections, **_explorer(sections, quota, prices, asked, plan))


# The titles of sections that have none of their own; others without one belong to the section before them.
_TITLES = {
    "cut": "At the cut",
    "batches": "Batch by batch",
    "leads": "Clear leaders",
    "places": "How many places?",
    "measures": "All measures",
    "pairs": "Differences between models",
}
# What is not folded away: it answers a question that was asked. Others open with a click.
_OPEN = {"places", "goals", "segments", "batches", "confusion", "lead", "models"}


def _in_order(sections: Sequence[Section], options: Mapping[str, Any]) -> list[Section]:
    """The sections as the page shows them: those that the question is about right after the answer.

    Pictures and tables of the answer stand below its sentences; sections without a title join the one before.
    """
    costs = next((s for s in sections if s.name == "costs"), None) if options.get("cost_fp") is not None else None
    sentences, shown = sections[0].sentences, sections[0].shown
    ordered = [Section("answer", sentences)]
    if shown:
        ordered.append(Section("lead", shown, "In numbers"))
    if costs is not None:
        told = list(takewhile(lambda part: isinstance(part, str), costs.parts))
        ordered = [Section("answer", [*told, *sentences]), replace(costs, name="lead", parts=costs.parts[len(told) :])]
    for section in sections[1:]:
        if section is costs:
            continue
        heading = section.title or _TITLES.get(section.name, "")
        if heading or len(ordered) == 1:
            ordered.append(replace(section, title=heading))
        else:
            ordered[-1] = replace(ordered[-1], parts=[*ordered[-1].parts, *section.parts])
    goals = [s for s in ordered if s.name == "goals"]
    lead = [s for s in ordered[1:] if s.name in _OPEN - {"goals"}]
    return [ordered[0], *lead, *goals, *(s for s in ordered[1:] if s.name not in _OPEN)]


def _explorer(
    sections: Sequence[Section],
    quota: int | float | None,
    prices: Mapping[str, Any],
    asked: bool,
    plan: Plan | None = None,
) -> dict[str, Any]:
    """What takes the place of the gain curve on a page: the explorer of the models that it shows."""
    figures = {part.kind: part.options for s in sections for part in s.parts if isinstance(part, Figure)}
    places = next((s for s in sections if s.name == "places"), None)
    if places is None or not isinstance(places.parts[0], Figure):
        return {}
    models = places.parts[0].of
    asked = asked and (models[0].quota is not None or models[0].quotas is not None) and quota is None
    shown = explorer(
        models, quota=quota, **prices, leads=figures.get("dominance", {}).get("stretches"), asked=asked, plan=plan
    )
    return {"explorer": shown, "data": packed(shown.pop("data")), "script": "page.js"}


def _shell(
    result: Any,
    title: str | None,
    sections: Sequence[Section],
    *,
    explorer: Mapping[str, Any] | None = None,
    picker: Mapping[str, Any] | None = None,
    data: str = "",
    script: str = "",
    inner: str = "",
    shared: Mapping[str, str] | None = None,
) -> str:
    """The whole document; ``shared``: place-holders for what a page of one class takes from the page around it."""
    from .. import __version__

    code = asset("unpack.js") + asset(script) if script else ""
    within = asset("unpack.js") + asset(inner) if inner else ""
    # only these very scripts may run, and nothing may be fetched or sent
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (code, within) if text)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    csp = f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
    csp += "base-uri 'none'; form-action 'none'"
    parts = {"css": asset("page.css"), "script": code, "csp": csp}
    parts |= shared or {}  # a policy has no character that an attribute must not contain
    seen = any(isinstance(part, Figure) for s in sections if s.name in _OPEN for part in s.parts)
    pictured = next((s.name for s in sections if any(isinstance(part, Figure) for part in s.parts)), "")
    opened = _OPEN if seen else _OPEN | {pictured}  # a page shows a picture at once
    s = getattr(result, "settings", None)
    made = [f"Made by cutline {__version__}"]  # how the figures were made, in one line
    if getattr(result, "threshold", None) is not None:
        made.append(f"threshold {result.threshold:g}")
    quota = getattr(result, "quotas", None) or getattr(result, "quota", None)
    if quota is not None:
        made.append(f"quota {quota:,}" if isinstance(quota, int) else f"quota {quota}")
    if s is not None:
        made.append(f"level {s.level:g}" if s.interval else "no intervals")
    if s is not None and s.interval:
        made += [f"resamples {s.n_resamples:,}"] if hasattr(s, "n_resamples") else []
        made += [f"seed {s.seed}"] if hasattr(s, "seed") else []
    return fill(
        "page.html",
        title=title or page_title(result),
        sections=sections,
        folded={s.name for s in sections} - opened,
        explorer=explorer,
        picker=picker,
        settings=" · ".join(made),
        version=__version__,
        data=Markup(data),
        inner=Markup(within),
        **{name: Markup(part) for name, part in parts.items()},
    )


def _picker(ev: ClassEvaluation, quota: int | float | None, prices: Mapping[str, Any]) -> dict[str, Any]:
    """The pages of the classes, the largest first, packed into the page of all."""
    if ev.sample.matrix is None:
        return {}
    sizes = np.bincount(ev.sample.code, minlength=len(ev.classes))
    most = FEW_PAGES if len(sizes) > MOST_PAGES else MOST_PAGES
    # a page of one class without what all share: no text of a user's can contain these place-holders unescaped
    shared = {name: f"<shared-{name}>" for name in ("css", "script", "csp")}
    pages = []
    for at in np.argsort(-sizes, kind="stable")[:most]:
        if sizes[at]:
            label = ev.classes[int(at)]
            binary = ev.of(label)
            sections = _in_order(list(binary.sections(detail=True)), {})
            explored = _explorer(sections, quota, prices, asked=False)
            inside = _shell(binary, f"{label} against the rest", sections, **explored, shared=shared)
            pages.append({"name": str(label), "page": inside})
    return {
        "picker": {"names": [one["name"] for one in pages], "more": len(ev.classes) > len(pages)},
        "data": packed({"classes": pages, "css": asset("page.css")}),
        "script": "class_page.js",
        "inner": "page.js",
    }


def packed(data: Any) -> str:
    """JSON as gzip in base 64: a third of the size, and no name in it can be read as markup."""
    encoded = json.dumps(to_jsonable(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(encoded.encode(), mtime=0)).decode()
