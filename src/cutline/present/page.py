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
from typing import Any

from markupsafe import Markup

from ..errors import InputError
from ..runtime import write_whole
from ..table import Figure, Section, pluralize, to_jsonable
from ..types import FilePath
from .explorer import explorer
from .render import asset, fill


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
    return f"{title} by {', '.join(result.by)}" if whole is not result else title


def page(
    result: Any,
    *,
    title: str | None = None,
    cost: float | None = None,
    value: float | None = None,
    quota: int | float | None = None,
    **options: Any,
) -> str:
    """The page as text: the answer first, the places as an explorer where the data allow one, the rest folded.

    ``quota`` is where the explorer starts (the evaluation's own quota by default); ``cost`` per place and ``value`` per
    hit add profit. Further options are those of the result's sections:
    ``cost_fp`` and ``cost_fn`` (what errors cost), ``source`` (file and columns).
    """
    if not hasattr(result, "to_html"):
        raise InputError(None, f"a page shows an Evaluation or a Comparison, not {type(result).__name__}")
    sections = _in_order(list(result.sections(detail=True, **options)), options)
    prices = {"cost": cost, "value": value}
    asked = not options.get("cost_fp") and not hasattr(result, "by")
    return _shell(result, title, sections, **_explorer(sections, quota, prices, asked))


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
    sections: Sequence[Section], quota: int | float | None, prices: Mapping[str, Any], asked: bool
) -> dict[str, Any]:
    """What takes the place of the gain curve on a page: the explorer of the models that it shows."""
    figures = {part.kind: part.options for s in sections for part in s.parts if isinstance(part, Figure)}
    places = next((s for s in sections if s.name == "places"), None)
    if places is None or not isinstance(places.parts[0], Figure):
        return {}
    models = places.parts[0].of
    asked = asked and (models[0].quota is not None or models[0].quotas is not None) and quota is None
    leads = figures.get("dominance", {}).get("stretches")
    shown = explorer(models, quota=quota, **prices, leads=leads, asked=asked)
    return {"explorer": shown, "data": packed(shown.pop("data")), "script": "page.js"}


def _shell(
    result: Any,
    title: str | None,
    sections: Sequence[Section],
    *,
    explorer: Mapping[str, Any] | None = None,
    data: str = "",
    script: str = "",
) -> str:
    """The whole document."""
    from .. import __version__

    code = asset("unpack.js") + asset(script) if script else ""
    # only this very script may run, and nothing may be fetched or sent
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    allowed = f"'sha256-{digest}'" if code else "'none'"
    csp = f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
    csp += "base-uri 'none'; form-action 'none'"
    parts = {"css": asset("page.css"), "script": code, "csp": csp}
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
        settings=" · ".join(made),
        version=__version__,
        data=Markup(data),
        **{name: Markup(part) for name, part in parts.items()},
    )


def packed(data: Any) -> str:
    """JSON as gzip in base 64: a third of the size, and no name in it can be read as markup."""
    encoded = json.dumps(to_jsonable(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(encoded.encode(), mtime=0)).decode()
