"""The page: one self-contained HTML file in which a reader moves the quota and sees what happens."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup, escape

from ..errors import InputError
from ..runtime import write_whole
from ..table import Figure, Section, to_jsonable
from ..types import FilePath
from .explorer import explorer
from .render import asset, fill

if TYPE_CHECKING:
    from ..class_evaluation import ClassEvaluation

MOST_PAGES, FEW_PAGES = 20, 8  # up to so many classes, all have a page of their own; of more, only the largest


def write_page(result: Any, path: FilePath, **options: Any) -> Path:
    """Write the page of a result, whole or not at all; options as for :func:`page`. Gives back its path."""
    written = page(result, **options)
    with write_whole(path) as beside:
        beside.write_text(written, encoding="utf-8", newline="\n")
    return Path(path)


@dataclass(frozen=True)
class PageView:
    """The page inside a notebook, with its slider: an output that needs no widgets and no running kernel."""

    html: str = field(repr=False)
    height: int = 900

    def _repr_html_(self) -> str:
        style = f"width:100%;height:{self.height}px;border:1px solid #8886;border-radius:6px"
        return f'<iframe title="Report of cutline" style="{style}" srcdoc="{escape(self.html)}"></iframe>'


def page(
    result: Any,
    *,
    title: str | None = None,
    answer: Iterable[Section] = (),
    cost: float | None = None,
    value: float | None = None,
    quota: int | float | None = None,
    **options: Any,
) -> str:
    """The page as text: every section of a result, the places as an explorer where the data allow one.

    ``quota`` is where the explorer starts (the evaluation's own quota by default); ``cost`` per place and ``value`` per
    hit add profit; ``answer`` are sections that take the place of the first one. Further options are those of the
    result's sections: ``cost_fp`` and ``cost_fn`` (what errors cost), ``source`` (file and columns), ``carry``.
    """
    if not hasattr(result, "sections") or not hasattr(result, "settings"):
        raise InputError(None, f"a page shows an Evaluation or a Comparison, not {type(result).__name__}")
    sections = list(result.sections(detail=True, **options))
    sections = [*answer, *sections[1:]] if answer else sections
    prices = {"cost": cost, "value": value}
    if hasattr(result, "confusion"):
        return _shell(result, title, sections, **_picker(result, quota, prices))
    return _shell(result, title, sections, **_explorer(sections, quota, prices))


def _explorer(sections: Iterable[Section], quota: int | float | None, prices: Mapping[str, Any]) -> dict[str, Any]:
    """What takes the place of the gain curve on a page: the explorer of the models that it shows."""
    parts = (part for section in sections if section.name == "places" for part in section.parts)
    models = next((part.of for part in parts if isinstance(part, Figure) and part.kind == "gain"), None)
    if models is None:
        return {}
    shown = explorer(models, quota=quota, **prices)
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
    parts = {"css": asset("page.css"), "script": code, "csp": policy(code, *([within] if inner else []))}
    parts |= shared or {}  # a policy has no sign that an attribute must not hold
    return fill(
        "page.html",
        title=title or result.page_title,
        sections=sections,
        explorer=explorer,
        picker=picker,
        settings=_settings(result, __version__),
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
    pages = []
    for at in np.argsort(-sizes, kind="stable")[:most]:
        if sizes[at]:
            label = ev.classes[int(at)]
            pages.append({"name": str(label), "page": _page_of_class(ev, label, quota, prices)})
    names = [one["name"] for one in pages]
    return {
        "picker": {"names": names, "more": len(ev.classes) > len(pages)},
        "data": packed({"classes": pages, "css": asset("page.css")}),
        "script": "class_page.js",
        "inner": "page.js",
    }


def _page_of_class(ev: ClassEvaluation, label: Any, quota: int | float | None, prices: Mapping[str, Any]) -> str:
    """The page of one class without what all share: no text of a user's can hold these place-holders unescaped."""
    binary = ev.of(label)
    sections = list(binary.sections(detail=True))
    shared = {name: f"<shared-{name}>" for name in ("css", "script", "csp")}
    shown = _explorer(sections, quota, prices)
    return _shell(binary, f"{label} against the rest", sections, **shown, shared=shared)


def packed(data: Any) -> str:
    """JSON as gzip in base 64: a third of the size, and no name in it can be read as markup."""
    encoded = json.dumps(to_jsonable(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(encoded.encode(), mtime=0)).decode()


def policy(*scripts: str) -> str:
    """Only these very scripts may run, and nothing may be fetched or sent."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts if script)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _settings(result: Any, version: str) -> str:
    """How the figures were made, in one line."""
    s = result.settings
    known = [f"Made by cutline {version}"]
    if getattr(result, "threshold", None) is not None:
        known.append(f"threshold {result.threshold:g}")
    quota = getattr(result, "quotas", None) or getattr(result, "quota", None)
    if quota is not None:
        known.append(f"quota {quota:,}" if isinstance(quota, int) else f"quota {quota}")
    if not s.interval:
        return " · ".join([*known, "no intervals"])
    known.append(f"level {s.level:g}")
    if hasattr(s, "n_resamples"):
        known.append(f"resamples {s.n_resamples:,}")
    return " · ".join([*known, f"seed {s.seed}"])
