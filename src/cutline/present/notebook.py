"""Results as a notebook shows them: the table, with small pictures beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..curves import Curve, keep_points
from ..errors import InputError
from ..table import Markup, count, escaped, format_value, html_table, pluralize
from .inline import Picture, clipped, interval_bar, side_by_side
from .numbers import score_histogram
from .palette import colour, dash
from .words import chosen_measures, class_rows

if TYPE_CHECKING:
    from ..catalogue.declare import Measure
    from ..comparison import Comparison
    from ..decide.operating import OperatingPoint
    from ..decide.planning import Plan
    from ..decide.power import SelectionPower
    from ..decide.screening import Screening
    from ..decide.voting import SelectiveVoting
    from ..estimate import Estimate
    from ..evaluation import Evaluation, OneVsRest
    from ..extrapolation.extrapolation_result import Extrapolation

MOST_LINES = 8  # models in one picture: as many as there are colours
MOST_PAIRS = 10  # differences in one picture
MOST_CLASSES = 60  # rows of a table of classes
MOST_POINTS = 160  # of a line, so that a page does not grow with the data
_FINEST = 0.004  # half a pixel
_TITLES = {"roc": "ROC", "gain": "Positives found", "precision_recall": "Precision and recall"}
_AREAS = {"roc": "roc_auc", "precision_recall": "average_precision"}
_FIRST = ("hit_rate", "roc_auc", "average_precision", "brier_score")  # measures that a small table shows


def evaluation_html(ev: Evaluation, rows: Sequence[Mapping[str, str]], title: str) -> str:
    """The measures with their intervals as bars; ROC, gain and scores above them, the cut marked."""
    bars = {key: _bar(ev, key) for key in ev.specs}
    second = "precision_recall" if ev.facts["weighted"] or ev.rows.batched else "gain"
    pictures = side_by_side([_curves([ev], "roc"), _curves([ev], second), _scores(ev)])
    return f"<div><p>{escaped(title)}</p>{pictures}{_with_bars(rows, 'value', bars)}</div>"


def _with_bars(rows: Sequence[Mapping[str, str]], after: str, bars: Mapping[str, Any]) -> str:
    """A table of measures with their bars behind one of its columns."""
    order = list(rows[0]) if rows else []
    order.insert(order.index(after) + 1 if order else 0, "on its scale")
    return html_table([{**row, "on its scale": bars[row["measure"]]} for row in rows], order)


def one_vs_rest_html(ovr: OneVsRest) -> str:
    """The classes' ROC curves in one picture and their main measures in one table."""
    models = list(ovr.evaluations.values())
    first = models[0]
    keys = [first[name].name for name in _FIRST if name in first] or list(first.specs)[:4]
    rows = class_rows(ovr, keys)
    classes, means = rows[:-2], [{**row, "on its scale": Markup("")} for row in rows[-2:]]
    bars: list[dict[str, Any]] = [
        {**row, "on its scale": _bar(ev, keys[0])} for row, ev in zip(classes[:MOST_CLASSES], models, strict=False)
    ]
    left = len(classes) - MOST_CLASSES
    more = f"<p>and {pluralize(left, 'more class', 'more classes')}</p>" if left > 0 else ""
    shown = ["class", "rows", keys[0], "on its scale", *keys[1:]]
    pictures = side_by_side([_curves(models, "roc"), _curves(models, "precision_recall")])
    table = html_table([*bars, *means], shown)
    return f"<div><p>{escaped(repr(ovr))}</p>{_legend(models)}{pictures}{table}{more}</div>"


def comparison_html(comparison: Comparison, title: str) -> str:
    """All models in one ROC and one gain picture, differences as intervals around 0, and every measure side by side."""
    models = list(comparison.evaluations.values())
    whole = not (models[0].facts["weighted"] or models[0].rows.batched)
    second = "gain" if whole and comparison.paired else "precision_recall"
    pictures = side_by_side([_curves(models, "roc"), _curves(models, second), *_forests(comparison)])
    table = html_table([_best_in_bold(row) for row in comparison.table], comparison.table.columns)
    return f"<div><p>{escaped(title)}</p>{_legend(models)}{pictures}{table}</div>"


def cross_validation_html(
    folds: Sequence[Evaluation], estimates: Mapping[str, Estimate], rows: Sequence[Mapping[str, str]], title: str
) -> str:
    """The folds' ROC curves, and the means with their intervals as bars."""
    bars = {key: _on_scale(folds[0].specs[key].measure, e) for key, e in estimates.items()}
    pictures = side_by_side([_curves(folds, "roc"), _curves(folds, "precision_recall")])
    return f"<div><p>{escaped(title)}</p>{pictures}{_with_bars(rows, 'mean', bars)}</div>"


def extrapolation_html(ex: Extrapolation, seen: str) -> str:
    """Accuracy by number of classes: what was seen, the prediction with its band; the back-test folded away."""
    title = f"Accuracy from {ex.n_classes:,} classes by {ex.method}; seen: {seen}"
    rows = [
        {
            "classes": f"{row['classes']:,}",
            "accuracy": f"{row['accuracy']:.4f}",
            "between 0 and 1": interval_bar(row["accuracy"], row["low"], row["high"], (0.0, 1.0)),
            "interval": "" if math.isnan(row["low"]) else f"[{row['low']:.4f}, {row['high']:.4f}]",
            "range over methods": f"{row['methods_low']:.4f} – {row['methods_high']:.4f}",
        }
        for row in ex.to_dicts()
    ]
    table = html_table(rows, list(rows[0])) if rows else ""
    tried = [
        {
            "method": row.name,
            "error from half": row.error_half,
            "error from quarter": row.error_quarter,
            "spread far out": row.spread,
            "weight": row.weight,
            "": row.reason,
        }
        for row in ex.backtest
    ]
    folded = f"<details><summary>back-test</summary>{html_table(tried, list(tried[0]))}</details>" if tried else ""
    notes = "".join(f"<p>{escaped(note)}</p>" for note in ex.notes)
    return f"<div><p>{escaped(title)}</p>{side_by_side([_more_classes(ex)])}{table}{folded}{notes}</div>"


def plan_html(plan: Plan) -> str:
    """Profit by number of cases, the best cut marked, and the plan in words."""
    lines = "".join(f"<li>{escaped(line)}</li>" for line in plan.sentences())
    return f"<div>{side_by_side([_profit(plan)])}<ul>{lines}</ul></div>"


def cut_html(point: OperatingPoint) -> str:
    """Who gets a place and who does not, as two bars of positives and negatives, and every number at this cut."""
    most = max(point.tp + point.fp, point.fn + point.tn)
    words = (
        f"taken: {count(point.tp)} positives and {count(point.fp)} negatives; "
        f"left: {count(point.fn)} positives and {count(point.tn)} negatives"
    )
    picture = Picture("Taken and left", words, (0.0, most), x_name="cases, positives first")
    for height, positives, negatives, name in (
        (0.62, point.tp, point.fp, f"taken {count(point.taken)}"),
        (0.1, point.fn, point.tn, f"left {count(point.fn + point.tn)}"),
    ):
        picture.stretch(0.0, positives, height, colour(0), 0.9)
        picture.stretch(positives, positives + negatives, height, "currentColor", 0.35)
        picture.label(0.0, height + 0.25, name)
    rows = [{"at this cut": key, "": value} for key, value in point.to_dict().items()]
    return f"<div>{side_by_side([picture])}{html_table(rows, ['at this cut', ''])}</div>"


def screening_html(screening: Screening) -> str:
    """How many cases and positives each stage leaves, as a row of bars, and the stages."""
    rows = screening.stages
    cases = [rows[0]["enter"], *rows.column("keep")]
    positives = [rows[0]["positives_enter"], *rows.column("positives_keep")]
    words = "; ".join(
        f"after stage {k}: {row['keep']:,} cases, {row['positives_keep']:,} positive" for k, row in enumerate(rows, 1)
    )
    picture = Picture("Left after each stage", words, (0.0, float(len(cases))), x_name="stage")
    for values, paint, opacity in ((cases, "currentColor", 0.3), (positives, colour(0), 0.9)):
        for k, value in enumerate(values):
            share = value / values[0] if values[0] else 0.0
            wide = (0.1, 0.5) if paint == "currentColor" else (0.5, 0.9)
            picture.steps([k + wide[0], k + wide[1]], [share], paint, opacity)
    return f"<div>{side_by_side([picture])}{rows._repr_html_()}</div>"


def voting_html(voting: SelectiveVoting) -> str:
    """Each mark against the number of models, each on its own scale, and the tables."""
    pictures = []
    models = np.array(voting.marks.column("models"), dtype=float)
    for spec, best in zip(voting.specs, voting.optimum, strict=True):
        values = np.array(voting.marks.column(str(spec)), dtype=float)
        if np.isfinite(values).any():
            words = f"best with {pluralize(best['models'], 'model')}: {format_value(best['value'])}"
            ends = (1.0, max(2.0, float(len(models))))
            picture = Picture(clipped(str(spec), 16), words, ends, _around(values), "models", heights=True)
            picture.line(models, values, colour(0))
            picture.point(float(best["models"]), best["value"], colour(0))
            pictures.append(picture)
    return f"<div>{side_by_side(pictures)}{voting.optimum._repr_html_()}{voting.marks._repr_html_()}</div>"


def power_html(power: SelectionPower) -> str:
    """How often each measure picks the better model, as bars between 0 and 1."""
    rows = []
    for row in power.table:
        bar = interval_bar(row["picks the better"], row["low"], row["high"], (0.0, 1.0))
        rows.append({"measure": row["measure"], "between 0 and 1": bar, **row})
    return html_table(rows, list(rows[0]) if rows else [], power.table.title)


def spread_html(values: Any, marked: float, title: str, words: str) -> str:
    """Many values (of permutations, of refits) as a histogram with one of them marked, and a line of words."""
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known)]
    drawn = None
    if len(known) and math.isfinite(marked):
        ends = _around(np.append(known, marked))
        heights, edges = np.histogram(known, 30, ends)
        drawn = Picture(clipped(title), words, ends, (0.0, float(heights.max()) or 1.0), "value")
        drawn.steps(edges.tolist(), heights.tolist(), "currentColor")
        drawn.line([marked, marked], drawn.y, colour(1))
        drawn.point(marked, 0.0, colour(1))
    return f"<div>{side_by_side([drawn])}<p>{escaped(words)}</p></div>"


def _curves(models: Sequence[Evaluation], name: str) -> Picture | None:
    """One curve of every model with the chance line, the cut marked; None where none of them has it."""
    lines: list[tuple[int, Evaluation, Curve]] = []
    for k, ev in enumerate(models[:MOST_LINES]):
        try:
            lines.append((k, ev, _thinned(ev.curve(name))))
        except InputError:  # one class alone, or weights: this curve does not exist
            continue
    if not lines:
        return None
    longest = max((curve for *_, curve in lines), key=lambda curve: curve.chance[0][1])
    most = 1.0 if name != "gain" else max(float(curve.y[-1]) for *_, curve in lines)
    words = "; ".join(_spoken(ev, name, alone=len(models) == 1) for _, ev, _ in lines)
    across = (0.0, longest.chance[0][1])
    picture = Picture(_TITLES[name], words, across, (0.0, most), longest.x_label, heights=name == "gain")
    picture.line(*longest.chance, dashes=(2, 3), faint=True)
    for k, _, curve in lines:
        picture.line(curve.x, curve.y, colour(k), dash(k))
    for k, ev, _ in lines:
        point = _cut(ev)
        if point is None:
            continue
        x, y = {
            "roc": (point.fpr, point.recall),
            "gain": (point.taken, point.tp),
            "precision_recall": (point.recall, point.precision),
        }[name]
        picture.point(x, y, colour(k))
    if name == "gain" and lines[0][1].quota is not None:
        picture.upright(float(lines[0][1].quota))
    return picture


def _thinned(curve: Curve) -> Curve:
    """The curve with no more points than a small picture can show."""
    tolerance = _FINEST
    thin = curve.thinned(tolerance)
    while len(thin) > MOST_POINTS and tolerance < 0.25:
        tolerance *= 2
        thin = thin.thinned(tolerance)
    return thin


def _cut(ev: Evaluation) -> OperatingPoint | None:
    if ev.rows.batched:  # each batch has its own cut: no point of a curve of the whole list
        return None
    if ev.quota is not None:
        return ev.at(quota=ev.quota)
    return None if ev.threshold is None else ev.at(threshold=ev.threshold)


def _spoken(ev: Evaluation, name: str, *, alone: bool) -> str:
    """A curve in words: its area, and where the cut lies on it."""
    area = _AREAS.get(name)
    said = [f"{area} {format_value(ev[area].value)}"] if area is not None and area in ev else []
    point = _cut(ev)
    if point is not None:
        where = f"at {pluralize(ev.quota, 'place')}" if ev.quota is not None else f"above {ev.threshold:g}"
        said.append(f"{where} {count(point.tp)} of {count(point.tp + point.fn)} positives, {count(point.fp)} negatives")
    return ("" if alone else f"{ev.name}: ") + ", ".join(said)


def _scores(ev: Evaluation) -> Picture | None:
    """Scores of positives and negatives, each as shares of its class, with the cut."""
    try:
        table = score_histogram(ev)
    except InputError:  # all scores are infinite
        return None
    shares = {side: [row[f"share_of_{side}"] for row in table] for side in ("positives", "negatives")}
    highest = max((share for side in shares.values() for share in side if share == share), default=1.0)
    edges = [*table.column("from"), table[-1]["to"]]
    cut = _cut(ev)
    words = "shares of the positives (coloured) and of the negatives by score"
    if cut is not None:
        words += f"; the cut is at {format_value(cut.threshold)}"
    picture = Picture("Scores by class", words, (edges[0], edges[-1]), (0.0, highest or 1.0), "score")
    for side, paint, opacity in (("negatives", "currentColor", 0.3), ("positives", colour(0), 0.55)):
        if all(share == share for share in shares[side]):
            picture.steps(edges, shares[side], paint, opacity)
    if cut is not None:
        picture.upright(cut.threshold)
    return picture


def _forests(comparison: Comparison) -> list[Picture]:
    """For the first measures that decide: every pair's difference with its interval, around 0."""
    if len(comparison.evaluations) < 2:
        return []
    names = list(comparison.evaluations)
    chosen = chosen_measures(comparison)[:2]
    made = []
    for key in chosen:
        every = [row for row in comparison.differences if row["measure"] == key]
        higher = comparison.specs[key].measure.better == "higher"
        rows = [row for row in every if math.isfinite(row["difference"])][:MOST_PAIRS]
        if not rows:
            continue
        reach = max(abs(row[end]) for row in rows for end in ("difference", "low", "high") if math.isfinite(row[end]))
        reach = reach * 1.05 or 1.0
        words = "; ".join(
            f"{row['a']} − {row['b']}: {format_value(row['difference'])}"
            + (f" ({format_value(row['low'])} to {format_value(row['high'])})" if row["low"] == row["low"] else "")
            for row in rows
        )
        picture = Picture(f"Difference in {clipped(key, 18)}", words, (-reach, reach), (0.0, float(len(rows))))
        picture.line([0.0, 0.0], picture.y, faint=True)
        for k, row in enumerate(rows):
            height = len(rows) - k - 0.7
            clear = row["low"] > 0 or row["high"] < 0
            ahead = row["a"] if (row["difference"] > 0) == higher else row["b"]
            paint = colour(names.index(ahead)) if clear else "currentColor"  # the better model's, where that is clear
            if row["low"] == row["low"]:
                picture.line([row["low"], row["high"]], [height, height], paint)
            picture.point(row["difference"], height, paint)
            picture.label(-reach, height + 0.25, clipped(f"{row['a']} − {row['b']}", 34))
        left = len(every) - len(rows)
        picture.x_name = f"{left} more left out" if left > 0 else "0"
        made.append(picture)
    return made


def _best_in_bold(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the comparison; the best value stands out, unless all are alike."""
    known = [v for key, v in row.items() if key not in ("measure", "better") and isinstance(v, float) and v == v]
    if not known or min(known) == max(known):
        return dict(row)
    best = max(known) if row["better"] == "higher" else min(known)
    return {
        k: Markup(f"<strong>{format_value(v)}</strong>") if isinstance(v, float) and v == best else v
        for k, v in row.items()
    }


def _more_classes(ex: Extrapolation) -> Picture:
    last = max([*ex.k, 2 * ex.n_classes])
    k = np.unique(np.append(np.geomspace(ex.n_classes, last, 30).round(), ex.k))
    curve = ex.curve(k[k >= ex.n_classes])
    seen = ex.observed
    kept = np.flatnonzero(keep_points(np.log(seen.k), seen.accuracy, _FINEST))
    words = f"{format_value(seen.test_accuracy)} seen among {ex.n_classes:,}" + "".join(
        f"; {format_value(e.value)} expected among {classes:,}" for classes, e in ex.estimates.items()
    )
    picture = Picture("Accuracy by classes", words, (2.0, float(max(last, 3))), (0.0, 1.0), "classes (log)", log=True)
    picture.upright(float(ex.n_classes))
    if np.isfinite(curve["low"]).any():
        beyond = {key: values[1:] for key, values in curve.items()}
        picture.band(beyond["k"], beyond["low"], beyond["high"], colour(0))
    picture.line(curve["k"], curve["accuracy"], colour(0), dash(1))
    picture.line(seen.k[kept], seen.accuracy[kept])
    for classes, estimate in ex.estimates.items():
        picture.point(float(classes), estimate.value, colour(0))
    return picture


def _profit(plan: Plan) -> Picture:
    ends = _around(np.append(plan.profits, [0.0, *(e for e in plan.profit.interval if math.isfinite(e))]))
    tolerance = _FINEST * (ends[1] - ends[0])
    kept = np.flatnonzero(keep_points(plan.taken, plan.profits, tolerance))
    while len(kept) > MOST_POINTS:
        tolerance *= 2
        kept = np.flatnonzero(keep_points(plan.taken, plan.profits, tolerance))
    low, high = plan.profit.interval
    words = (
        f"highest at {plan.quota:,}: {format_value(plan.profit.value)} ({format_value(low)} to {format_value(high)}); "
        f"no loss up to {plan.break_even:,}; at most {plan.limit:,} allowed"
    )
    picture = Picture("Profit by cases taken", words, (0.0, float(plan.taken[-1])), ends, "cases taken", heights=True)
    picture.line(picture.x, (0.0, 0.0), dashes=(2, 3), faint=True)
    picture.line(plan.taken[kept], plan.profits[kept], colour(0))
    if low == low:
        picture.line([plan.quota, plan.quota], [low, high])
    picture.point(float(plan.quota), plan.profit.value)
    if plan.limit < plan.taken[-1]:
        picture.upright(float(plan.limit))
    return picture


def _around(values: Any) -> tuple[float, float]:
    """The range of the values that are there, never without width."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def _bar(ev: Evaluation, key: str) -> Markup:
    return _on_scale(ev.specs[key].measure, ev.estimates[key])


def _on_scale(measure: Measure, e: Estimate) -> Markup:
    """The estimate on the measure's own range; an open end is closed a little beyond the interval."""
    known = [x for x in (e.value, e.low, e.high) if math.isfinite(x)]
    if not known:
        return Markup("")
    low, high = measure.range
    low = low if math.isfinite(low) else min(0.0, *known) * 1.1
    high = high if math.isfinite(high) else max(0.0, *known) * 1.1
    return interval_bar(e.value, e.low, e.high, (low, high))


def _legend(models: Sequence[Evaluation]) -> str:
    """The models' names with their lines."""
    parts = ""
    for k, ev in enumerate(models[:MOST_LINES]):
        dashes = " ".join(map(str, dash(k))) or "none"
        parts += (
            '<span style="margin-right:14px"><svg aria-hidden="true" width="26" height="8">'
            f'<path d="M0 4H26" stroke="{colour(k)}" stroke-width="2" stroke-dasharray="{dashes}"/></svg> '
            f"{escaped(ev.name)}</span>"
        )
    left = len(models) - MOST_LINES
    return f"<p>{parts}{f'and {left} more, not drawn' if left > 0 else ''}</p>"
