"""The page: one self-contained HTML file in which a reader moves the quota and sees what happens."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, how_to_install
from ..files import write_whole
from ..inference.proportions import z_of
from ..table import count, format_value, pluralize, to_jsonable
from ..table import escaped as text
from . import charts, sections, words
from .explorer import TOLERANCE, explorer_data, quota_stops
from .numbers import axis_end, models_of, steady_rates

if TYPE_CHECKING:
    from ..evaluation import Evaluation


def write_page(
    result: Any,
    path: str | Path,
    *,
    cost: float | None = None,
    value: float | None = None,
    quota: int | float | None = None,
    title: str | None = None,
    source: Mapping[str, Any] | None = None,
    answer: Sequence[str] | None = None,
) -> Path:
    """Write the page of an Evaluation or a Comparison; gives back its path.

    ``quota`` is where the explorer starts (the evaluation's own quota by default); ``cost`` per place and ``value`` per
    hit add profit; ``source`` is shown with the facts about the data (file, columns);
    ``answer`` takes the place of the sentences at the top.
    """
    written = page(result, cost=cost, value=value, quota=quota, title=title, source=source, answer=answer)
    with write_whole(path) as beside:
        beside.write_text(written, encoding="utf-8", newline="\n")
    return Path(path)


def page(
    result: Any,
    *,
    cost: float | None = None,
    value: float | None = None,
    quota: int | float | None = None,
    title: str | None = None,
    source: Mapping[str, Any] | None = None,
    answer: Sequence[str] | None = None,
) -> str:
    """The page as text."""
    parts = page_parts(result, cost=cost, value=value, quota=quota, title=title, source=source, answer=answer)
    return fill("page.html", parts)


def page_parts(
    result: Any,
    *,
    cost: float | None = None,
    value: float | None = None,
    quota: int | float | None = None,
    title: str | None = None,
    source: Mapping[str, Any] | None = None,
    answer: Sequence[str] | None = None,
) -> dict[str, str]:
    """What the page's template is filled with."""
    from .. import __version__

    need_libraries()
    evaluations = evaluations_of(result)
    first = evaluations[0]
    rows = int(first.facts["rows"])
    weighted = bool(first.facts["weighted"])
    start = _start(evaluations, quota)
    title = title or (
        f"Evaluation of {first.name}" if len(evaluations) == 1 else f"Comparison of {len(evaluations)} models"
    )
    stops = np.array([start]) if weighted else quota_stops(rows, [start])
    place = int(np.searchsorted(stops, start))
    logarithmic = rows > 2000 and start < rows * 0.02
    linked = [] if weighted else _quota_charts(evaluations, start, logarithmic)
    still = _still_charts(evaluations)
    script = asset("page.js")
    bundle = bundle_of_charts()
    data = {
        "rows": rows,
        "stops": stops.tolist(),
        "start": place,
        "cost": cost,
        "value": value,
        "log": logarithmic,
        "z": z_of(first.settings.level),
        "models": [] if weighted else [explorer_data(ev, stops) for ev in evaluations],
        "charts": [{"id": c["id"], "linked": c["linked"], **c["chart"]} for c in [*linked, *still]],
    }
    said = words.answer(result, start) if answer is None else answer
    money = {"cost": cost, "value": value, "log": logarithmic}
    figures = "".join(c["figure"] for c in linked)
    return {
        "csp": policy(bundle, script),
        "version": text(__version__),
        "title": text(title),
        "css": asset("page.css"),
        "subtitle": _subtitle(evaluations),
        "answer": "".join(f"<p>{text(s)}</p>" for s in [*said, *result.notices]),
        "explorer": _WEIGHTED
        if weighted
        else sections.explorer(evaluations, figures, stops=len(stops), start=place, quota=start, money=money),
        "models": _models(result, evaluations) if len(evaluations) > 1 else "",
        "charts": _still_section(still),
        "measures": sections.at_threshold(evaluations) + sections.measure_table(evaluations),
        "facts": sections.data_facts(evaluations, source or {}),
        "notes": sections.method_notes(first.settings.level, TOLERANCE, len(stops), rows),
        "settings": text(_settings(first, __version__)),
        "data": embedded(data),
        "bundle": bundle,
        "script": script,
    }


def fill(template: str, parts: Mapping[str, str]) -> str:
    """A template filled in one pass: what is filled in is never searched for place-holders again."""
    return re.sub(r"\{(\w+)\}", lambda match: parts[match[1]], asset(template))


_WEIGHTED = (
    '<section id="explorer"><h2>How many places?</h2><p class="note">This sample is weighted, so a quota counts '
    "cases by their weight. There is no quota explorer for it: ask for a quota with ev.at(quota=…).</p></section>"
)


def evaluations_of(result: Any) -> list[Evaluation]:
    """The evaluations behind a result; they must be about the same cases."""
    found = models_of(result)
    if len({(ev.facts["rows"], ev.facts["positives"]) for ev in found}) > 1:
        raise InputError(None, "a page shows models on the same cases, but these differ in rows or positives")
    return found


def embedded(data: Any) -> str:
    """JSON that cannot end its script element or be read as markup, whatever the names in it are."""
    encoded = json.dumps(to_jsonable(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        encoded = encoded.replace(sign, f"\\u{ord(sign):04x}")
    return encoded


def need_libraries() -> None:
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError:
        raise ImportError(f"the page needs Altair and vl-convert: {how_to_install('page')}") from None
    del altair


@cache
def bundle_of_charts() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, from the package that ships them."""
    bundle: str = charts.converted("javascript_bundle", "window.vegaEmbed = vegaEmbed;")
    return re.sub(r"</(?=script)", r"<\\/", bundle, flags=re.IGNORECASE).replace("<!--", r"<\!--")


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


def _start(evaluations: Sequence[Evaluation], quota: int | float | None) -> int:
    """Where the explorer starts: the quota asked for, else a tenth of the rows."""
    from ..sample import resolve_quota

    rows = evaluations[0].ranking.rows
    asked = quota if quota is not None else evaluations[0].quota
    return max(1, rows // 10) if asked is None else resolve_quota(asked, rows)


def _subtitle(evaluations: Sequence[Evaluation]) -> str:
    facts = evaluations[0].facts
    names = ", ".join(ev.name for ev in evaluations[:6]) + (" …" if len(evaluations) > 6 else "")
    cases = f"{pluralize(facts['rows'], 'case')}, {facts['positives']:,} of them positive"
    return text(f"{names} · {cases} ({facts['share_positive']:.1%})")


def _quota_charts(evaluations: Sequence[Evaluation], start: int, logarithmic: bool) -> list[dict[str, Any]]:
    rows, positives = int(evaluations[0].facts["rows"]), int(evaluations[0].facts["positives"])
    points = [(ev.name, ev.at(quota=start)) for ev in evaluations]
    spoken: dict[str, Callable[[Any], str]] = {
        "gain": lambda p: count(p.tp),
        "hit_rate": lambda p: f"{p.hit_rate:.1%}",
        "qrecall": lambda p: f"{p.qrecall:.1%}",
        "lift": lambda p: f"{p.lift:.2f}",
        "profit": lambda p: "",
    }
    made = []
    highest = axis_end(rate for ev in evaluations for rate in steady_rates(ev).tolist())
    for kind in charts.QUOTA_CHARTS:
        each = "; ".join(f"{name} {spoken[kind](p)}" for name, p in points)
        alternative = (
            f"At {pluralize(start, 'place')}: {each}." if kind != "profit" else "Value × hits − cost × places."
        )
        identity = f"chart-{kind}"
        made_chart = charts.quota_chart(
            kind, len(evaluations), rows, positives, logarithmic=logarithmic, highest=highest
        )
        made.append(
            {
                "id": identity,
                "linked": True,
                "chart": made_chart,
                "figure": sections.figure(identity, kind, alternative),
            }
        )
    return made


def _still_charts(evaluations: Sequence[Evaluation]) -> list[dict[str, Any]]:
    """Charts that do not follow the quota; those that the data do not allow are left out."""
    first = evaluations[0]
    both = 0 < first.facts["positives"] < first.facts["rows"]
    made: list[tuple[str, str, dict[str, Any], str]] = []
    of_model = {f"histogram-{k}": ev.name for k, ev in enumerate(evaluations)} if len(evaluations) > 1 else {}
    if both:
        areas = "; ".join(f"{ev.name} {format_value(ev['roc_auc'].value)}" for ev in evaluations if "roc_auc" in ev)
        made.append(("roc", "roc", charts.roc_chart(evaluations), f"Area under the curve: {areas}." if areas else ""))
        areas = "; ".join(
            f"{ev.name} {format_value(ev['average_precision'].value)}"
            for ev in evaluations
            if "average_precision" in ev
        )
        spoken = f"Average precision: {areas}; chance {first.facts['share_positive']:.3f}."
        made.append(("precision-recall", "precision_recall", charts.precision_recall_chart(evaluations), spoken))
        if not first.facts["weighted"] and first.facts["rows"] >= 10:
            best = "; ".join(f"{ev.name} {ev.lift_table(10)[0]['lift']:.2f}" for ev in evaluations)
            made.append(("deciles", "deciles", charts.deciles_chart(evaluations), f"Lift in the first tenth: {best}."))
    calibrated = [ev for ev in evaluations if ev.rows.are_probabilities]
    if both and calibrated:
        scores = "; ".join(
            f"{ev.name} {format_value(ev['brier_score'].value)}" for ev in calibrated if "brier_score" in ev
        )
        spoken = (
            f"On the diagonal the probabilities are right. Brier score: {scores}."
            if scores
            else "On the diagonal the probabilities are right."
        )
        made.append(("reliability", "reliability", charts.reliability_chart(evaluations), spoken))
    if both:
        for k, ev in enumerate(evaluations[:6]):
            if ev.rows.are_finite:
                spoken = f"{ev.name}: the less the two overlap, the better the model separates them."
                made.append((f"histogram-{k}", "histogram", charts.histogram_chart(ev), spoken))
    return [
        {
            "id": f"chart-{name}",
            "linked": False,
            "chart": chart,
            "figure": sections.figure(f"chart-{name}", kind, spoken, of_model.get(name, "")),
        }
        for name, kind, chart, spoken in made
    ]


def _still_section(still: Sequence[Mapping[str, Any]]) -> str:
    if not still:
        return ""
    figures = "".join(c["figure"] for c in still)
    return (
        '<section aria-labelledby="charts-title"><h2 id="charts-title">The whole list</h2>'
        f'<div class="charts">{figures}</div></section>'
    )


def _models(comparison: Any, evaluations: Sequence[Evaluation]) -> str:
    """What only a comparison knows: who leads where, advice by goal, differences."""
    names = [ev.name for ev in evaluations]
    stretches = words.dominance_of(comparison)
    parts = [
        sections.dominance(stretches, names, int(evaluations[0].facts["rows"])) if stretches else "",
        sections.advice(words.advice(comparison)),
        sections.pairwise(words.differences_of(comparison, words.chosen_measures(comparison))),
    ]
    return f'<section aria-labelledby="models-title"><h2 id="models-title">Which model?</h2>{"".join(parts)}</section>'


def _settings(ev: Evaluation, version: str) -> str:
    s = ev.settings
    made = f"level {s.level:g} · resamples {s.n_resamples:,} · seed {s.seed}" if s.interval else "no intervals"
    quota = "" if ev.quota is None else f" · quota {ev.quota:,}"
    threshold = "" if ev.threshold is None else f" · threshold {ev.threshold:g}"
    return f"Made by cutline {version} · rows {ev.facts['rows']:,}{threshold}{quota} · {made}"
