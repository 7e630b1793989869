"""The page: one self-contained HTML file in which a reader moves the quota and sees what happens."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..decide.costs import Prices
from ..errors import InputError
from ..files import write_whole
from ..inference.proportions import z_of
from ..table import count, format_value, pluralize, to_jsonable
from ..table import escaped as text
from ..types import FilePath
from . import charts, sections, words
from .batch_section import batch_section
from .decision_sections import decision_sections
from .explorer import TOLERANCE, coded, explorer_data, quota_range, quota_stops, steps_of
from .numbers import models_of, rates_end
from .palette import colour

if TYPE_CHECKING:
    from ..evaluation import Evaluation


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
        return f'<iframe title="Report of cutline" style="{style}" srcdoc="{text(self.html)}"></iframe>'


def page(result: Any, **options: Any) -> str:
    """The page as text; options as for :func:`page_parts`, of several classes as for ``class_page``."""
    if hasattr(result, "confusion"):
        from .class_page import class_page

        return class_page(result, **options)
    return fill("page.html", page_parts(result, **options))


def page_parts(
    result: Any,
    *,
    cost: float | None = None,
    value: float | None = None,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
    quota: int | float | None = None,
    title: str | None = None,
    source: Mapping[str, Any] | None = None,
    answer: Sequence[str] | None = None,
    carry: bool = False,
) -> dict[str, str]:
    """What the page's template is filled with.

    ``quota`` is where the explorer starts (the evaluation's own quota by default); ``cost`` per place and ``value`` per
    hit add profit; ``cost_fp`` and ``cost_fn`` are what errors cost, and add the cheapest cut; ``source`` is shown with
    the facts about the data (file, columns); ``answer`` takes the place of the sentences at the top;
    ``carry``: of batches, cases without a place wait for the next one.
    """
    from .. import __version__
    from .segment_section import segment_section

    segments = segment_section(result)
    result = result.overall if segments else result
    evaluations = models_of(result)
    if len({(ev.facts["rows"], ev.facts["positives"]) for ev in evaluations}) > 1:
        raise InputError(None, "a page shows models on the same cases, but these differ in rows or positives")
    first = evaluations[0]
    rows = int(first.facts["rows"])
    batched = first.rows.batched
    if carry and not batched:
        raise InputError("carry", "is for the places of each batch", "evaluate with {batch}")
    weighted = bool(first.facts["weighted"]) or batched  # no one list of cases that count alike
    asked = _start(evaluations, quota)
    start = int(asked) if not batched else 1
    title = title or (
        f"Evaluation of {first.name}" if len(evaluations) == 1 else f"Comparison of {len(evaluations)} models"
    )
    stops = np.array([start]) if weighted else quota_stops(rows, [start])
    place = int(np.searchsorted(stops, start))
    logarithmic = rows > 2000 and start < rows * 0.02
    positives = int(first.facts["positives"])
    models = [] if weighted else [explorer_data(ev, stops) for ev in evaluations]
    between = None if weighted else quota_range(evaluations)
    script = script_of("page.js")
    data = {
        "rows": rows,
        "stops": steps_of(stops),
        "start": place,
        "cost": cost,
        "value": value,
        "log": logarithmic,
        "z": z_of(first.settings.level),
        "models": [coded(model, stops) for model in models],
        "reference": charts.reference_places(rows, positives).tolist(),
        "range": between,
        "colours": [colour(k) for k in range(len(models))],
    }
    said = (words.range_answer(result) or words.answer(result, asked)) if answer is None else answer
    money = {"cost": cost, "value": value, "log": logarithmic}
    figures = ""
    if not weighted:
        highest = rates_end(evaluations, start)
        lines = charts.QuotaLines(models, stops, place, rows, positives, logarithmic, highest, cost, value)
        if between is not None:
            lines = replace(lines, between=(between["sizes"][0], between["sizes"][-1]))
        figures = _quota_charts(evaluations, lines)
    return {
        "csp": policy(script),
        "version": text(__version__),
        "title": text(title),
        "css": asset("page.css"),
        "subtitle": _subtitle(evaluations),
        "answer": "".join(f"<p>{text(s)}</p>" for s in [*said, *result.notices]),
        "explorer": batch_section(evaluations, asked, carry=carry)
        if batched
        else _no_explorer(first)
        if weighted
        else sections.explorer(evaluations, figures, stops=len(stops), start=place, quota=start, money=money),
        "models": (_models(result, evaluations) if len(evaluations) > 1 else "") + segments,
        "charts": _still_charts(evaluations),
        "decisions": decision_sections(result, evaluations, _error_costs(cost_fp, cost_fn)),
        "measures": sections.at_threshold(evaluations) + sections.measure_table(evaluations),
        "facts": sections.data_facts(evaluations, source or {}),
        "notes": sections.method_notes(first.settings.level, TOLERANCE, len(stops), rows),
        "settings": text(_settings(first, __version__)),
        "data": packed(data),
        "script": script,
    }


def _error_costs(cost_fp: float | None, cost_fn: float | None) -> dict[str, float]:
    if cost_fp is None and cost_fn is None:
        return {}
    checked = Prices.checked(cost_fp, cost_fn)
    return {"cost_fp": checked.fp, "cost_fn": checked.fn}


def fill(template: str, parts: Mapping[str, str]) -> str:
    """A template filled in one pass: what is filled in is never searched for place-holders again."""
    return re.sub(r"\{(\w+)\}", lambda match: parts[match[1]], asset(template))


def _no_explorer(ev: Evaluation) -> str:
    """Why a page has no quota explorer, and what to do instead."""
    if ev.prevalence is not None:
        said = (
            f"All figures on this page are for a prevalence of {ev.prevalence}. The quota explorer is on the page of "
            "the sample itself, where you can set the prevalence by hand."
        )
    elif "labelled" in ev.facts:
        said = (
            "Only some rows of this list have a label, so all figures are estimates. There is no quota explorer for "
            "it: ask for a quota with ev.at(quota=…)."
        )
    else:
        said = (
            "This sample is weighted, so a quota counts cases by their weight. There is no quota explorer for it: ask "
            "for a quota with ev.at(quota=…)."
        )
    return sections.section("explorer", "How many places?", f'<p class="note">{text(said)}</p>')


def packed(data: Any) -> str:
    """JSON as gzip in base 64: a third of the size, and no name in it can be read as markup."""
    encoded = json.dumps(to_jsonable(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(encoded.encode(), mtime=0)).decode()


def script_of(name: str) -> str:
    """A script with what it unpacks its data by."""
    return asset("unpack.js") + asset(name)


@cache
def asset(name: str) -> str:
    return (resources.files("cutline.present") / "assets" / name).read_text(encoding="utf-8")


def policy(*scripts: str) -> str:
    """Only these very scripts may run, and nothing may be fetched or sent."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _start(evaluations: Sequence[Evaluation], quota: int | float | None) -> int | float:
    """Where the explorer starts: the quota asked for, else a tenth of the cases; of batches, of a mean batch."""
    from ..quotas import resolve_quota

    first = evaluations[0]
    rows, cases = first.ranking.rows, first.ranking.cases
    asked = quota if quota is not None else first.quota
    if first.rows.batched:
        return max(1, rows // (10 * first.facts["batches"])) if asked is None else asked
    if quota is None and first.quotas is not None:
        sizes, weights = first.quotas.sizes(cases)
        return round(float(np.dot(sizes, weights)))
    return max(1, int(cases // 10)) if asked is None else resolve_quota(asked, cases)


def _subtitle(evaluations: Sequence[Evaluation]) -> str:
    facts = evaluations[0].facts
    names = ", ".join(ev.name for ev in evaluations[:6]) + (" …" if len(evaluations) > 6 else "")
    positive = f"{facts['positives']:,} of them positive"
    if "labelled" in facts:
        positive = f"{facts['labelled']:,} of them labelled, about {facts['positives']:,} positive"
    cases = f"{pluralize(facts['rows'], 'case')}, {positive}"
    return text(f"{names} · {cases} ({facts['share_positive']:.1%})")


def _quota_charts(evaluations: Sequence[Evaluation], lines: charts.QuotaLines) -> str:
    """The charts that follow the slider, as they are at the quota where it starts."""
    start = int(lines.stops[lines.start])
    points = [(ev.name, ev.at(quota=start)) for ev in evaluations]
    spoken: dict[str, Callable[[Any], str]] = {
        "gain": lambda p: count(p.tp),
        "hit_rate": lambda p: f"{p.hit_rate:.1%}",
        "qrecall": lambda p: f"{p.qrecall:.1%}",
        "lift": lambda p: f"{p.lift:.2f}",
    }
    made = ""
    for kind in charts.QUOTA_CHARTS:
        words = "Value × hits − cost × places."
        if kind in spoken:
            each = "; ".join(f"{name} {spoken[kind](p)}" for name, p in points)
            words = f"At {pluralize(start, 'place')}: {each}."
        hidden = kind == "profit" and not lines.priced
        made += sections.figure(kind, kind, charts.quota_chart(kind, lines), words, hidden=hidden)
    return made


def _still_charts(evaluations: Sequence[Evaluation]) -> str:
    """Charts that do not follow the quota; those that the data do not allow are left out."""
    first = evaluations[0]
    both = 0 < first.facts["positives"] < first.facts["rows"]
    made = ""

    def each(measure: str) -> str:
        return "; ".join(f"{ev.name} {format_value(ev[measure].value)}" for ev in evaluations if measure in ev)

    if both:
        areas = each("roc_auc")
        spoken = f"Area under the curve: {areas}." if areas else ""
        made += sections.figure("roc", "roc", charts.rates_chart("roc", evaluations), spoken)
        spoken = f"Average precision: {each('average_precision')}; chance {first.facts['share_positive']:.3f}."
        chart = charts.rates_chart("precision_recall", evaluations)
        made += sections.figure("precision-recall", "precision_recall", chart, spoken)
        if not first.facts["weighted"] and first.facts["rows"] >= 10:
            best = "; ".join(f"{ev.name} {ev.lift_table(10)[0]['lift']:.2f}" for ev in evaluations)
            chart = charts.deciles_chart(evaluations)
            made += sections.figure("deciles", "deciles", chart, f"Lift in the first tenth: {best}.")
    for k, ev in enumerate(evaluations[:6]):
        if both and ev.rows.are_finite:
            spoken = f"{ev.name}: the less the two overlap, the better the model separates them."
            model = ev.name if len(evaluations) > 1 else ""
            made += sections.figure(f"histogram-{k}", "histogram", charts.histogram_chart(ev), spoken, model)
    return sections.section("charts", "The whole list", f'<div class="charts">{made}</div>') if made else ""


def _models(comparison: Any, evaluations: Sequence[Evaluation]) -> str:
    """What only a comparison knows: who leads where, advice by goal, differences."""
    names = [ev.name for ev in evaluations]
    stretches = words.dominance_of(comparison)
    pairs = words.differences_of(comparison, words.chosen_measures(comparison))
    parts = [
        sections.dominance(stretches, names, int(evaluations[0].facts["rows"])) if stretches else "",
        sections.advice(list(comparison.recommendations.values())),
        sections.rows_table("Pair by pair", pairs, "Differences between models"),
    ]
    return sections.section("models", "Which model?", "".join(parts))


def _settings(ev: Evaluation, version: str) -> str:
    s = ev.settings
    made = f"level {s.level:g} · resamples {s.n_resamples:,} · seed {s.seed}" if s.interval else "no intervals"
    quota = "" if ev.quota is None else f" · quota {ev.quota:,}"
    quota = quota if ev.quotas is None else f" · quota {ev.quotas}"
    threshold = "" if ev.threshold is None else f" · threshold {ev.threshold:g}"
    return f"Made by cutline {version} · rows {ev.facts['rows']:,}{threshold}{quota} · {made}"
