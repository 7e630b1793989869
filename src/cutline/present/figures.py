"""Figures as charts: what each kind shows of a result, drawn once as SVG for a page and by matplotlib for a file."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.declare import ratio
from ..curves import Band, Curve
from ..decide.error_costs import money
from ..decide.model_choice import family_hull
from ..decide.planning import amount
from ..decide.selection import hits_at
from ..errors import InputError
from ..inference.limits import wilson
from ..partition import order_of
from ..quotas import Quotas, whole_cases
from ..table import Figure, Table, count, cut_text, format_value, in_sentence, percentage, pluralize, values_of
from ..types import Floats
from .charts import CHANCE, GREY, PERFECT, TITLES, WIDE, Chart, Mark, PlotArea, around, clipped, colour, dash
from .words import counter, cut_point, models_of, name_of, positives_found, rounded

if TYPE_CHECKING:
    from ..class_evaluation import ClassEvaluation
    from ..comparison import Comparison
    from ..decide.planning import Plan
    from ..evaluation import Evaluation
    from ..extrapolation.extrapolation_result import Extrapolation, GrowthComparison
    from ..papers import SelectiveVoting
    from ..segments import Trend

Whole = NDArray[np.int64]
Shown = bool | None  # whether something is drawn; None: where that is usual
POSITIVES, NEGATIVES, FAINT = "#2f7ec7", "#9a9a9a", "#d9d9d9"
_ENDS = ("value", "low", "high")
MOST_LINES = 16  # models in one chart: each colour twice
MOST_PAIRS = 10  # differences in one chart
MOST_SEGMENTS = 40  # that a chart has room for
MOST_BATCHES = 400
MANY_POINTS = 1_000
INK = 0.0005  # of a height: half a pixel of a printed plot
EVERY_QUOTA_UP_TO = 2_000
# In a long list of rare events one early hit makes a rate of 100%, beside which the rest of the curve is flat: an axis
# need not show the first 1/2000 of the list. Of lists of up to 2000 rows it shows every place.
STEADY = 1 / 2000
# all of one direction: higher is better
_AT_QUOTA = ("value_recall", "hit_rate", "qrecall")
_FOREST = ("roc_auc", "average_precision", "average_hit_rate", "average_qrecall", "accuracy")
# what a small picture has no room for
_ON_PAGE = {"roc": {"hull": False, "band": False}, **{kind: {"band": False} for kind in ("precision_recall", "gain")}}


def draw(figure: Figure) -> Chart | None:
    """The chart of a figure on a page; None where the data do not allow it."""
    options = {**_ON_PAGE.get(figure.kind, {}), **figure.options}
    name = options.pop("name", figure.kind.replace("_", "-"))
    try:
        chart = FIGURES[figure.kind](figure.of, **options)
    except InputError:
        return None
    chart.name = name
    return chart


# ------------------------------------------------------------------------------------------------- findings


def _with_interval(e: Any) -> str:
    return f"{e.value:.3f}" + ("" if e.low != e.low else f" ({e.low:.3f} to {e.high:.3f})")


def _finding(result: Any, measure: str, plain: str, words: str) -> str:
    """A title that states what a plot shows: the value of one model, or which of several is ahead, if that is clear.

    ``plain`` is what stands there without such a measure; ``words`` name the measure.
    """
    models = models_of(result)
    if measure not in models[0]:
        return plain
    if len(models) == 1:
        return f"{plain}: {words} {_with_interval(models[0][measure])}"
    try:
        verdict = result.verdict(measure)
    except (AttributeError, InputError):  # not a comparison, or no model has a value
        return plain
    return f"{plain}: {f'{verdict.best} has the best {words}' if verdict.status == 'clear' else verdict.lead}"


def _found(result: Any, places: float | None, *, plain: str = "") -> str:
    """The title of a plot over places: what so many of them give; ``plain`` without a number."""
    models = models_of(result)
    if places is None:
        return plain
    title = f"With {pluralize(places, 'place')}"
    if len(models) > 1:
        return _finding(result, "hit_rate", title, "hit rate")
    point = models[0].at(quota=places)
    return f"{title}, {models[0].name} finds {positives_found(models[0], point)}"


def _in_words(models: Sequence[Evaluation], area: str = "", title: str = "") -> str:
    """Curves in words: their area under its title, and where the cut lies on them."""
    each = []
    for ev in models[:MOST_LINES]:
        words, point = [f"{title} {ev[area].value:.3f}"] if area and area in ev else [], cut_point(ev, whole=True)
        if point is not None:
            at = f"above {cut_text(point.threshold, point.above)}"
            where = at if ev.quota is None else f"at {pluralize(point.taken, 'place')}"
            negatives = f"{counter(ev)(point.fp)} negative{'' if point.fp == 1 else 's'}"
            words.append(f"{where}: {positives_found(ev, point)}, {negatives}")
        each.append((f"{ev.name}: " if len(models) > 1 else "") + ", ".join(words))
    left = len(models) - MOST_LINES
    return "; ".join([*each, *([f"and {left} more, not drawn"] if left > 0 else [])])


# ------------------------------------------------------------------------------------------------- curves and scores


def _curves(models: Sequence[Evaluation], name: str) -> dict[int, Curve]:
    """The curves of the models that have one, thinned where they have more points than ink can show."""
    curves, problem = {}, None
    for k, ev in enumerate(models[:MOST_LINES]):
        try:
            curve = ev.curve(name)
        except InputError as error:  # one class alone: this curve does not exist
            problem = error
            continue
        curves[k] = curve.thinned(tolerance=INK) if len(curve.x) > MANY_POINTS else curve
    if problem is not None and not curves:
        raise problem
    return curves


def _bands(models: Sequence[Evaluation], name: str, wanted: bool | None, at_once: bool) -> list[tuple[int, Band]]:
    """The band of each curve; by default that of a single model, because others would cover each other."""
    wanted = wanted or at_once or (None if wanted is None and len(models) == 1 else False)
    curves = [(k, ev.curve(name), ev.settings.level) for k, ev in enumerate(models[:MOST_LINES]) if wanted is not False]
    return [(k, curve.band(level, at_once)) for k, curve, level in curves if wanted or curve.banded is not None]


def _shade(chart: Chart, bands: Iterable[tuple[int, Band]], marks: str = "") -> None:
    """Bands; what they and the marks are is told below the plot, where no line crosses the words."""
    told = {marks: None}
    for k, band in bands:
        chart.band(band.x, band.low, band.high, colour(k))
        told[f"{band.level:.0%} band for {'the whole curve' if band.simultaneous else 'each point by itself'}"] = None
    told.pop("", None)
    chart.x_name += f" ({'; '.join(told)})" if told else ""


def rates(
    result: Any, *, name: str, hull: bool = True, band: Shown = None, simultaneous: bool = False, threshold: Any = None
) -> Chart:
    """ROC, or precision against recall, with chance and each model's cut; ROC with its convex hull."""
    models, roc = models_of(result), name == "roc"
    curves, chance = _curves(models, name), models[0].facts["share_positive"]
    area, short = ("roc_auc", "AUC") if roc else ("average_precision", "AP")
    words = f"{_in_words(models, area, short)}{'' if roc else f'; chance: {percentage(chance)}'}."
    x_name, y_name = next(iter(curves.values())).x_label, next(iter(curves.values())).y_label
    chart = Chart(TITLES[name], words, (0.0, 1.0), (0.0, 1.0 if roc else rates_end(models)), x_name, square=roc)
    chart.y_name, chart.x_percent, chart.y_percent = y_name, True, True
    plain, of_area = ("ROC", "AUC") if roc else ("Precision and recall", "average precision")
    chart.finding = _finding(result, area, plain, of_area)
    chart.models = [models[k].name for k in curves] if len(models) > 1 else ()
    drawn, by_places = [models[k] for k in curves], threshold is None and models[0].quota is not None
    cuts = [cut_point(ev, whole=True) if threshold is None else ev.at(threshold=threshold) for ev in drawn]
    known = [c for c in cuts if c]
    where = [pluralize(c.taken, "place") if by_places else f"score > {cut_text(c.threshold, c.above)}" for c in known]
    _shade(chart, _bands(models, name, band, simultaneous), f"dot: {where[0]}" if where else "")
    chart.reference((0.0, 1.0), (0.0, 1.0) if roc else (chance, chance))
    if roc:
        chart.label(0.52, 0.46, "chance")
    else:
        chart.label(0.01, chance - 0.07 * chart.y[1], f"chance: {percentage(chance)}")
    if roc and hull:
        corners: Any = family_hull({str(k): models[k].ranking for k in curves})
        chart.line(corners.column("fpr"), corners.column("tpr"), GREY, PERFECT, size=1.1, words="convex hull")
    for k, curve in curves.items():
        ev = models[k]
        named = f"{ev.name}: {short} {_with_interval(ev[area])}" if area in ev else ev.name
        chart.line(curve.x, curve.y, colour(k), dash(k), words=named)
    for k, point in zip(curves, cuts, strict=True):
        if point is not None:
            x, y = (point.fpr, point.recall) if roc else (point.recall, point.precision)
            chart.point(x, y, colour(k), size=4.0)
    return chart


def tpr_fpr(result: Any, *, band: Shown = False, simultaneous: bool = False) -> Chart:
    """True and false positive rate over the list, and where they lie farthest apart (Kolmogorov–Smirnov)."""
    models = models_of(result)
    chart = Chart("TPR and FPR", "", (0.0, 1.0), (0.0, 1.0), "share of the list taken", y_name="rate")
    chart.x_percent = chart.y_percent = True
    chart.finding = "TPR and FPR (full: TPR, dotted: FPR)"
    _shade(chart, _bands(models, "tpr_fpr", band, simultaneous))
    for k, curve in _curves(models, "tpr_fpr").items():
        whole: Any = models[k].curve("tpr_fpr")
        at = int(np.argmax(np.abs(whole.y - whole.y2)))
        where, ends = [float(whole.x[at])] * 2, sorted((float(whole.y[at]), float(whole.y2[at])))
        distance = ends[1] - ends[0]
        chart.line(curve.x, curve.y, colour(k), dash(k), words=f"{models[k].name}: KS {distance:.3f}")
        chart.line(curve.x, curve.y2, colour(k), (2, 2), size=1.1)
        chart.line(where, ends, colour(k), size=1.3)
        if len(models) == 1:
            chart.label(where[0], sum(ends) / 2, f"KS = {distance:.3f}")
    return chart


# ------------------------------------------------------------------------------------------------- places

_BY_PLACES = {
    "gain": "positives found",
    "hit_rate": "hit rate",
    "qrecall": "recall (Qrecall)",
    "lift": "lift (times as many as by chance)",
}


def axis_end(shares: Iterable[float]) -> float:
    """Where an axis of shares ends: at 1, or just above the highest share where all are small (rare events).

    >>> axis_end([0.3, 0.8]), axis_end([0.012, 0.034]), axis_end([])
    (1.0, 0.04, 1.0)
    """
    most = 1.05 * max(shares, default=1.0)
    if not 0 < most < 0.5:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(most))
    return next(round(k * unit, 12) for k in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if k * unit >= most)


def rates_end(evaluations: Iterable[Evaluation], quota: float | None = None) -> float:
    """Where an axis of hit rates or precisions ends: above all but the very first, and above those at the quota."""
    rates: list[float] = []
    for ev in evaluations:
        cases = ev.ranking.cases
        ends = np.cumsum(ev.ranking.pos + ev.ranking.neg) if ev.facts["weighted"] else quota_stops(ev.ranking.rows)
        asked = [float(q) for q in (quota, ev.quota) if q is not None and not ev.rows.batched]
        places = np.array([*ends[ends >= STEADY * cases].tolist(), *asked], dtype=np.float64)
        rates += (hits_at(ev.ranking, np.minimum(places, cases)) / places).tolist()
    return axis_end(rates)


def quota_stops(n: int, extra: Iterable[int] = ()) -> Whole:
    """The quotas a reader can choose. All of them in a short list.

    In a long one: every quota up to 500, all with three significant digits, every tenth of a per cent, and ``extra``.
    """
    if n <= EVERY_QUOTA_UP_TO:
        return np.arange(1, n + 1)
    parts: list[Any] = [np.arange(1, 501), n * np.arange(1, 1001) // 1000, list(extra), [n]]
    parts += [np.arange(100, 1000) * 10**k for k in range(len(str(n)) - 2)]
    stops = np.unique(np.concatenate([np.asarray(part, dtype=np.int64) for part in parts]))
    return stops[(stops >= 1) & (stops <= n)]


def in_unit(kind: str, hits: Any, places: Any, models: Sequence[Evaluation], prices: tuple[Any, Any]) -> Floats:
    """What a chart over places shows of so many hits; ``prices``: cost of a place, value of a hit."""
    rows, positives = float(models[0].ranking.cases), float(models[0].ranking.n_pos)
    found, places = np.asarray(hits, dtype=float), np.asarray(places, dtype=float)
    if kind == "profit":
        return np.asarray(found * (prices[1] or 0.0) - places * (prices[0] or 0.0))
    of = {"gain": 1.0, "hit_rate": places, "qrecall": positives, "lift": places * positives / rows}
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(found / np.asarray(of[kind]))


def places_chart(
    kind: str,
    models: Sequence[Evaluation],
    lines: Sequence[tuple[Any, Any]],
    *,
    place: Any = None,
    prices: tuple[Any, Any] = (None, None),
    bands: Iterable[tuple[int, Any, Any, Any]] = (),
    log: bool = False,
) -> Chart:
    """A chart over places of lines (places, values) with the cut; the page's script finds marks by ``data-``."""
    rows, positives = float(models[0].ranking.cases), float(models[0].ranking.n_pos)
    bands = list(bands)
    shown = np.concatenate([*(y for _, y in lines), *(end for *_, low, high in bands for end in (low, high))])
    known = shown[np.isfinite(shown)].tolist() or [1.0]
    ends = {
        "gain": (0.0, max(positives, 1.0)),
        "hit_rate": (0.0, rates_end(models, place)),
        "qrecall": (0.0, 1.0),
        "lift": (0.0, max(1.0, *(1.2 * y[np.isfinite(y)].max(initial=0.0) for _, y in lines))),  # bands reach higher
        "profit": (min(0.0, *known), max(0.0, *known) or 1.0),
    }[kind]
    chart = Chart(TITLES[kind], "", (1.0 if log else 0.0, rows), ends, "places", log, name=kind)
    chart.models = [ev.name for ev in models[: len(lines)]] if len(models) > 1 else ()
    chart.y_percent = kind in ("hit_rate", "qrecall")
    for k, x, low, high in bands:
        chart.band(x, low, high, colour(k), 'data-band=""')
    # enough places for lines that are straight on one axis only
    q = np.unique([1.0, max(positives, 1.0), rows, *np.geomspace(1.0, max(rows, 1.0), 60).round()])
    random = in_unit(kind, q * positives / rows, q, models, prices)
    chart.reference(q, np.zeros_like(q) if kind == "profit" else random, tag='data-line="chance"')
    if kind not in ("lift", "profit"):  # there, perfect would be off the chart
        best = in_unit(kind, np.minimum(q, positives), q, models, prices)
        chart.reference(q, best, perfect=True, tag='data-line="perfect"')
    if place is not None:
        chart.line([place, place], ends, "#808080", tag='data-cut=""', size=1.0)
    for k, (x, y) in enumerate(lines):
        chart.line(x, y, colour(k), dash(k), tag=f'data-curve="{k}"', words=models[k].name)
    for k, ev in enumerate(models[: len(lines)] if place is not None else ()):
        at_cut = float(in_unit(kind, ev.at(quota=place).tp, place, models, prices))
        chart.point(float(place), at_cut if at_cut == at_cut else ends[0], colour(k), f'data-marker="{k}"')
    return chart


def over_places(result: Any, *, name: str, band: Shown = None, simultaneous: bool = False) -> Chart:
    """Gain, recall, hit rate or lift at each number of places, between a random and a perfect list."""
    models, no_prices = models_of(result), (None, None)
    first = models[0]
    rows, positives = float(first.ranking.cases), float(first.ranking.n_pos)
    if not positives:
        raise InputError(None, f"the {name} curve needs positives, and the sample has none")
    lines = []
    for ev in models[:MOST_LINES]:
        # with weights a quota counts cases, which need not be whole: there the points are the ends of ties
        gain = ev.curve("gain") if ev.facts["weighted"] else None
        places = gain.x if gain is not None else quota_stops(ev.ranking.rows).astype(np.float64)
        hits = gain.y if gain is not None else hits_at(ev.ranking, places)
        lines.append((places, in_unit(name, hits, places, [ev], no_prices)))
    bands = _bands(models, "qrecall" if name == "gain" else name, band, simultaneous)
    if name == "gain":  # of this list: no more than its positives, or than places
        counts = {k: [np.minimum(end * models[k].ranking.n_pos, b.x) for end in (b.low, b.high)] for k, b in bands}
        bands = [(k, replace(b, low=counts[k][0], high=counts[k][1])) for k, b in bands]
    place = None if first.rows.batched else first.quota
    chart = places_chart(name, models, lines, place=place)
    chart.y_name, chart.words = _BY_PLACES[name], f"{_in_words(models)}."
    by = f"{_BY_PLACES[name].partition(' (')[0].capitalize()} by number of places"
    chart.finding = _found(result, place, plain=by)
    below = 0.06 * chart.y[1]
    if name in ("gain", "qrecall"):
        chart.label(positives, chart.y[1] - below, "perfect", aside=6.0)
        chart.label(0.8 * rows, 0.8 * chart.y[1] - below, "chance", aside=6.0)
    else:
        level = positives / rows if name == "hit_rate" else 1.0
        words = f"chance: {percentage(level)}" if name == "hit_rate" else "chance"
        chart.label(rows, level - below, words, aside=-3.0, anchor="end")
    _shade(chart, bands, "" if place is None else f"line: {pluralize(place, 'place')}")
    return chart


def qrecall(result: Any, *, areas: bool | None = None, band: Shown = None, simultaneous: bool = False) -> Chart:
    """Qrecall between chance and a perfect list; for one model the areas S1, S2, S3 behind PEM are shaded.

    S1: better than chance; S2: worse; S3: all that could be gained. PEM = (S1 − S2) / S3.
    """
    models = models_of(result)
    areas = len(models) == 1 and not (band or simultaneous) if areas is None else areas
    chart = over_places(result, name="qrecall", band=band if not areas else False, simultaneous=simultaneous)
    if areas:
        rows, positives = float(models[0].ranking.cases), float(models[0].ranking.n_pos)
        line = next(mark for mark in chart.marks if mark.words == models[0].name)
        x = np.union1d(line.x, [0.0, positives, rows])
        model = np.interp(x, np.append(0.0, line.x), np.append(0.0, line.y))
        chance = x / rows
        chart.band(x, chance, np.minimum(x, positives) / positives, FAINT)
        chart.band(x, chance, np.maximum(model, chance), colour(0))
        chart.key = [("S1: better than chance", colour(0)), ("S3: perfect over chance", FAINT)]
        if (model < chance - 0.002).any():  # less cannot be seen
            chart.band(x, np.minimum(model, chance), chance, colour(1))
            chart.key.insert(1, ("S2: worse than chance", colour(1)))
        if "pem" in models[0]:
            chart.key.append((f"PEM = (S1 − S2) / S3 = {models[0]['pem'].value:.3f}", "none"))
    return chart


def score_histogram(ev: Evaluation, bins: int = 24) -> Table:
    """How the scores of each class are spread, over equal steps of the score; ±inf join the outer steps."""
    ranking = ev.ranking
    score = ranking.score.astype(np.float64)
    finite = score[np.isfinite(score)]
    if len(finite) == 0:
        raise InputError(None, "a histogram needs finite scores, and all of these are infinite")
    low, high = (0.0, 1.0) if ev.rows.outline.are_probabilities else around(finite)
    edges = 2.0 * np.linspace(low / 2.0, high / 2.0, bins + 1)  # the range itself may be too large for a number
    edges[[0, -1]] = low, high  # halves of the smallest numbers are 0
    clipped = np.clip(score, low, high)
    pos = np.histogram(clipped, edges, weights=ranking.pos.astype(np.float64))[0]
    neg = np.histogram(clipped, edges, weights=ranking.neg.astype(np.float64))[0]
    columns = {"from": edges[:-1], "to": edges[1:], "positives": pos, "negatives": neg}
    shares = {"share_of_positives": ratio(pos, ranking.n_pos), "share_of_negatives": ratio(neg, ranking.n_neg)}
    return Table(columns | shares, "Scores by class")


def histogram(result: Any, *, bins: int = 24, threshold: float | None = None, named: bool = True) -> Chart:
    """Shares of the positives and of the negatives by score, with the cut."""
    models = models_of(result)
    if len(models) > 1:
        raise InputError(None, "a histogram shows one model", "plot one of the comparison's evaluations")
    ev, rows = models[0], score_histogram(models[0], bins)
    edges = [*rows.column("from"), rows[-1]["to"]]
    shares = {side: rows.column(f"share_of_{side}s") for side in ("positive", "negative")}
    most = max((v for side in shares.values() for v in side if v == v), default=1.0) or 1.0
    words = "The less the two overlap, the better the model separates them."
    cut = cut_point(ev, whole=True) if threshold is None else ev.at(threshold=threshold)
    if cut is not None:
        words += f" The cut is at {in_sentence(cut.threshold)}."
    title = TITLES["histogram"] + (f": {ev.name}" if named else "")
    chart = Chart(title, words, (edges[0], edges[-1]), (0.0, most), "score", y_name="share of the class")
    chart.y_percent = True
    for side, paint in (("negative", NEGATIVES), ("positive", POSITIVES)):
        if all(share == share for share in shares[side]):
            chart.steps(edges, shares[side], paint, 0.55)
    chart.key = [("positive", POSITIVES), ("negative", NEGATIVES)]
    if cut is not None:
        chart.upright(cut.threshold)
    return chart


# ------------------------------------------------------------------------------------------------- models

_ROW = 36  # pixels of a model in a picture of dots: a line of words above its marks


def dots_chart(models: Sequence[Evaluation], places: Any, chance: float, *, best_first: bool = False) -> Chart:
    """A row for each model: its hits as a dot, the interval of the average as a line, the next list as a pale bar.

    Chance is dotted. A page's script finds the marks by their ``data-`` attributes.
    """
    points = [(ev.name, colour(k), ev.at(quota=places)) for k, ev in enumerate(models)]
    points.sort(key=lambda row: -row[2].tp if best_first else 0.0)
    rows = len(points)
    area = PlotArea(400, 42 + _ROW * rows, 12.0, 388.0, 0.0, 4.0 + _ROW * rows)
    beside = f"random choice: {rounded(chance)}"
    across = f"positives among {pluralize(places, 'place')} · dotted: {beside}"
    chart = Chart(TITLES["dots"], "", (0.0, places), (0.0, float(rows)), across, y_ticks=False, area=area)
    chart.name, chart.linked = "dots", "data-dots"
    for k, (name, paint, point) in enumerate(points):
        height, hits, (low, high) = rows - k - 0.66, point.tp, point.next_hits
        chart.reference([chance, chance], (height - 0.25, height + 0.25), tag="data-chance")  # crosses no name
        found = counter(models[0])(hits) + (f" (next list {count(low)} to {count(high)})" if low == low else "")
        chart.words += f"{name} {found}; "
        coming, within = ([v if v == v else hits for v in ends] for ends in ((low, high), point.expected_hits.interval))
        chart.band(coming, [height - 0.16] * 2, [height + 0.16] * 2, paint, f'data-next="{k}"')
        chart.line(within, [height, height], paint, tag=f'data-within="{k}"', size=3.0)
        chart.point(hits, height, paint, f'data-dot="{k}"', size=4.5)
        chart.label(0.0, height + 0.32, clipped(name), tag=f'data-name="{k}" font-weight="bold"', aside=0.0)
        chart.label(places, height + 0.32, found, tag=f'data-found="{k}"', anchor="end", aside=0.0)
    chart.words += f"{beside}."
    return chart


def found(result: Any, *, quota: int | None = None) -> Chart:
    """A row for each model, the best first: what it finds, the interval of the average, what the next list may give."""
    models = models_of(result)
    places = models[0].quota if quota is None else quota
    if places is None or models[0].rows.batched:
        raise InputError("quota", "is missing", "give {quota}: places in one list")
    chart = dots_chart(models, places, places * models[0].facts["share_positive"], best_first=True)
    level, chart.title = f"{models[0].settings.level:.0%}", _found(result, places)
    chart.x_name += f"\nline: {level} interval of the average over lists like this one with as many positives"
    chart.x_name += "\ndot: this list · pale: range to expect on the next list"
    return chart


def differences(comparison: Comparison, key: str) -> Chart:
    """Every pair's difference by one measure, the better model first, with its interval; in its colour if clear."""
    names, higher = list(comparison.evaluations), comparison.specs[key].measure.better == "higher"
    every = [row for row in comparison.differences if row["measure"] == key]
    rows = []
    for row in [row for row in every if math.isfinite(row["difference"])][:MOST_PAIRS]:
        if row["difference"] * (1 if higher else -1) < 0:  # the model ahead stands first: all rows lean to one side
            turned = {"difference": -row["difference"], "low": -row["high"], "high": -row["low"]}
            row = {**row, "a": row["b"], "b": row["a"], **turned}
        rows.append(row)
    if not rows:
        raise InputError(None, "no two models were compared")
    reach = max(abs(row[end]) for row in rows for end in ("difference", "low", "high") if math.isfinite(row[end]))
    reach = reach * 1.05 or 1.0
    told = [f"{row['a']} − {row['b']}: {format_value(row['difference']).replace('-', '−')}" for row in rows]
    left = len(every) - len(rows)
    below = f"{left} more left out" if left > 0 else "difference"
    area = PlotArea(400, 54 + 34 * len(rows), 42.0, 386.0, 18.0, 18.0 + 34 * len(rows))
    title = f"Difference in {name_of(comparison.specs[key])}"
    ends = (0.0, float(len(rows)))
    chart = Chart(title, "; ".join(told), (-reach, reach), ends, below, y_ticks=False, area=area)
    chart.reference([0.0, 0.0], chart.y)
    for k, row in enumerate(rows):
        height = len(rows) - k - 0.7
        clear = row["verdict"] in ("higher", "lower")  # adjusted for the pairs
        paint = colour(names.index(row["a"])) if clear else "currentColor"
        if row["low"] == row["low"]:
            chart.line([row["low"], row["high"]], [height, height], paint)
        chart.point(row["difference"], height, paint)
        chart.label(-reach, height + 0.25, clipped(f"{row['a']} − {row['b']}", 40))
    return chart


def dominance(
    comparison: Comparison, *, by: str = "quota", stretches: Sequence[Mapping[str, Any]] | None = None
) -> Chart:
    """Which model clearly leads from where to where, a lane for each model; a sentence where none does.

    ``stretches``: those that are known already; then there is no chart where none leads.
    """
    if not hasattr(comparison, "dominance"):
        raise InputError(None, "a dominance strip needs a Comparison of several models")
    alone, names = stretches is None, list(comparison.evaluations)
    stretches = comparison.dominance(by) if stretches is None else stretches
    clear = [row for row in stretches if row["clear"]]
    if not clear and not alone:
        raise InputError(None, "no model leads clearly")
    places = by == "quota"
    axis, last = "number of places" if places else "false positive rate", float(stretches[-1]["to"])
    ends = [list(dict.fromkeys(f"{row[end]:,.6g}" for end in ("from", "to"))) for row in clear[:12]]
    spans = [f"{row['leader']}: {' to '.join(of)}" for row, of in zip(clear, ends, strict=False)]
    words = f"{'; '.join(spans)}. Elsewhere no model leads clearly, judged at all places at once."
    title = f"Clear leaders by {axis}" if clear else f"No model leads clearly at any {axis}"
    area = PlotArea(900, 48 + 34 * len(names), 44.0, 890.0, 8.0, 12.0 + 34 * len(names))
    across = "places" if places else axis
    chart = Chart(title, words, (0.0, last), (0.0, float(len(names))), across, y_ticks=False, area=area)
    chart.x_percent = not places
    if not clear:
        chart.label(0.05 * last, len(names) / 2, f"{title}:\njudged at all of them at once, the leads could be chance.")
    for row in clear:
        lane, to = names.index(row["leader"]), float(row["to"])
        first = float(row["from"]) - places  # the first place covers the step from 0 to 1
        height = len(names) - lane - 0.9
        x, y = (first, first, to, to), (height, height + 0.4, height + 0.4, height)
        chart.marks.append(Mark("area", x, y, colour(lane), 0.8))
    for lane, name in enumerate(names if clear else ()):
        chart.label(0.0, len(names) - lane - 0.4, clipped(name))
    return chart


def _interval_rows(chart: Chart, rows: Iterable[Mapping[str, Any]], models: Sequence[str], *, told: bool) -> None:
    """Values with their intervals on lines that ``row`` numbers from the top, models below each other.

    ``told``: with their numbers.
    """
    lines = int(chart.y[1] - chart.y[0])
    for row in rows:
        k, value = models.index(row["model"]), row["value"]
        y = lines - 1 - row["row"] - (k - (len(models) - 1) / 2) * 0.72 / max(3, len(models))
        known = math.isfinite(row["low"]) and math.isfinite(row["high"])
        if known:
            chart.line([row["low"], row["high"]], [y, y], colour(k))
        chart.point(value, y, colour(k))
        if told:
            below = 0.01 * lines  # so that the middle of the number is at the height of the line
            chart.label(row["high"] if known else value, y - below, f"{value:.3f}", aside=5.0)
    chart.key = [(name, colour(k)) for k, name in enumerate(models)] if len(models) > 1 else []


def forest(result: Any, *, measures: Sequence[str] | None = None) -> Chart:
    """Estimates with their intervals, one line for each model and measure; also of models of several classes."""
    models = list(result.evaluations.values()) if hasattr(result, "evaluations") else [result]
    at_quota = [key for key, spec in models[0].specs.items() if spec.measure.name in _AT_QUOTA]
    keys = list(measures) if measures is not None else [key for key in (*at_quota, *_FOREST) if key in models[0]]
    rows = [{"row": k, "model": ev.name, **values_of(ev[key], *_ENDS)} for k, key in enumerate(keys) for ev in models]
    values = [row[end] for row in rows for end in ("value", "low", "high") if math.isfinite(row[end])] or [0.0, 1.0]
    room = 0.12 * (max(values) - min(values)) or 0.5
    across, ends = (min(values) - room / 2, max(values) + room), (-0.5, len(keys) - 0.5)
    lower = [models[0].specs[models[0][key].name].better == "lower" for key in keys]
    title = "Estimates with intervals" + ("" if any(lower) else ": higher is better")
    height = (10 + 14 * len(models)) * len(keys)
    area = PlotArea(400, 40 + height, 110.0, 386.0, 16.0, 16.0 + height)
    several = len(models) > 1
    words = "; ".join(f"{row['model']}: " * several + f"{keys[row['row']]} {row['value']:.3f}" for row in rows)
    chart = Chart(title, f"{words}.", across, ends, area=area)
    chart.y_labels = [
        (float(len(keys) - 1 - k), f"{key}\n(lower is better)" if less else models[0][key].name)
        for k, (key, less) in enumerate(zip(keys, lower, strict=True))
    ]
    _interval_rows(chart, rows, [ev.name for ev in models], told=True)
    return chart


def segments_frame(result: Any, *, measure: str | None = None) -> Table:
    """The values of a measure by segment and model, and of all rows; by default of one list for all, if it has one."""
    if not hasattr(result, "by"):
        raise InputError(None, "this plot shows segments", "evaluate or compare with {by}, and plot .segments")
    models = getattr(result, "models", None) or {result.overall.name: result}
    one_list = getattr(result, "shared", None) if measure is None and getattr(result.overall, "quota", None) else None
    if one_list is not None:
        key, whole = f"recall in one list of {one_list.where}", result.overall.at(quota=result.overall.quota)
        shown = [(row["segment"], row["cases"], row["recall"]) for row in one_list]
        shown += [(None, result.overall.facts["rows"], whole.recall)]
        known = {"model": result.overall.name, "measure": key, "low": math.nan, "high": math.nan}
        return Table([{**known, "segment": name, "rows": n, "value": value} for name, n, value in shown], key)
    first = next(iter(models.values()))
    keys = first.chosen() if measure is None else first.chosen([measure])
    key = "roc_auc" if "roc_auc" in keys else keys[0]  # it moves neither with the size nor with the positives
    values = [ev.estimates[key].value for ev in first.evaluations.values()]
    order = list(range(len(values)))
    if not (first.ordered or first.order is not None or order_of(list(first.evaluations)) == "time"):
        order.sort(key=lambda k: (values[k] != values[k], -values[k]))  # no order of their own: the highest first
    rows = []
    for name, seg in models.items():
        parts = list(seg.evaluations.values())
        for segment, ev in [*((parts[k].name, parts[k]) for k in order), (None, seg.overall)]:
            row = {"model": name, "segment": segment, "measure": key, "rows": ev.facts["rows"]}
            rows.append({**row, **values_of(ev.estimates[key], *_ENDS)})
    return Table(rows, f"{key} by segment")


def segments(result: Any, *, measure: str | None = None, title: str = "") -> Chart:
    """A measure by segment with its interval, a row each; a dashed line is all rows."""
    rows = segments_frame(result, measure=measure)
    models = list(dict.fromkeys(rows.column("model")))
    parts = [row for row in rows if row["segment"] is not None]
    names = list(dict.fromkeys(row["segment"] for row in parts))[:MOST_SEGMENTS]
    sizes = {row["segment"]: row["rows"] for row in reversed(parts)}
    values = [v for row in rows for v in (row["value"], row["low"], row["high"]) if math.isfinite(v)]
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = 0.06 * (high - low) or 0.5
    whole = [row for row in rows if row["segment"] is None]
    each = "; ".join(f"{row['model']} {format_value(row['value'])}" for row in whole)
    words = f"Dashed: all rows, {each if len(models) > 1 else format_value(whole[0]['value'])}."
    words += f" The first {MOST_SEGMENTS} of {len(sizes)} segments." if len(sizes) > len(names) else ""
    area = PlotArea(400, 50 + 20 * len(names), 150.0, 386.0, 14.0, 14.0 + 20 * len(names))
    chart = Chart(title or f"{rows[0]['measure']} by segment", words, (low - room, high + room), area=area)
    chart.x_name, chart.y = "dashed: all rows", (-0.5, len(names) - 0.5)
    if tuple(result.by) != ("segment",):
        chart.x_name = f"{', '.join(result.by)}; {chart.x_name}"
    heights = {name: len(names) - 1.0 - k for k, name in enumerate(names)}
    chart.y_labels = [(y, f"{clipped(name, 16)} (n = {sizes[name]:,})") for name, y in heights.items()]
    for k, row in enumerate(whole):
        chart.line([row["value"]] * 2, chart.y, GREY if len(models) == 1 else colour(k), PERFECT)
    shown = ({**row, "row": names.index(row["segment"])} for row in parts if row["segment"] in heights)
    _interval_rows(chart, shown, models, told=False)
    return chart


def trend(result: Trend) -> Chart:
    """A measure along ordered segments with intervals, the fitted line, and the first clear change."""
    ends = around([v for e in result.estimates for v in (e.value, e.low, e.high) if math.isfinite(v)])
    last = len(result.segments) - 1
    chart = Chart(f"{result.measure} along the segments", "", (-0.2, last + 0.2), ends, y_name=result.measure)
    step = max(1, -(-len(result.segments) // 12))
    chart.x_labels = [(float(k), result.segments[k]) for k in range(0, last + 1, step)]
    for k, e in enumerate(result.estimates):
        chart.line([k, k], [e.low, e.high], colour(0), size=1.4)
        chart.point(k, e.value, colour(0))
    chart.reference(range(last + 1), result.fitted, perfect=True)
    if result.change is not None:
        where = result.segments.index(result.change) - 0.5
        chart.upright(where, f"first clear change: {result.change}", 0.97)
    return chart


def batches(result: Any, *, quota: int | float | None = None) -> Chart:
    """Hits of each batch as bars, beside each other for several models; what the next should contain as a band."""
    points = result if isinstance(result, dict) else {}
    for ev in models_of(result) if not points else ():
        if not ev.rows.batched:
            raise InputError("batch", "is missing, and this plot shows batches", "pass {batch} to evaluate()")
        if quota is None and ev.quota is None:
            raise InputError("quota", "is missing", "give {quota}: places in each batch")
        points[ev.name] = ev.at(quota=ev.quota if quota is None else quota)
    names, first = list(points), next(iter(points.values()))
    shown = min(len(first.names), MOST_BATCHES)
    low, high = first.next_hits
    known = low == low
    top = max(1.0, *(float(p.cells[:shown, 0].max()) for p in points.values()), high if known else 0.0)
    each = "; ".join(f"{name} {count(float(p.cells[:, 0].sum()))}" for name, p in points.items())
    words = f"Hits in each of {len(first.names):,} batches. In all: {each}. Dashed: the mean."
    if known:
        words += " Shaded: what to expect in the next batch" + (f" with {names[0]}." if len(names) > 1 else ".")
    if shown < len(first.names):
        words += f" The first {shown:,} of {len(first.names):,} batches."
    chart = Chart("Hits of each batch", words, (0.0, float(shown)), (0.0, top), "batch", area=WIDE, y_name="hits")
    step = -(-shown // 12)
    chart.x_labels = [(b + 0.5, clipped(str(first.names[b]), 12)) for b in range(0, shown, step)]
    if known:
        chart.band([0, shown], [low, low], [high, high], colour(0))
    wide = 0.7 / len(points)
    for k, point in enumerate(points.values()):
        for b in range(shown):
            chart.marks.append(Mark("bar", (b + 0.15 + k * wide, wide), float(point.cells[b, 0]), colour(k)))
        chart.line([0, shown], [point.expected_hits.value] * 2, colour(k), (5, 3))
    chart.key = [(name, colour(k)) for k, name in enumerate(names)] if len(names) > 1 else []
    return chart


# ------------------------------------------------------------------------------------------------- probabilities, costs


def reliability(ev: Evaluation, bins: int = 10) -> Table:
    """How often what was given a probability came true: groups of equal size, ties kept together, Wilson intervals."""
    if not ev.rows.outline.are_probabilities:
        raise InputError(None, "a reliability diagram needs probabilities, but some scores lie outside [0, 1]")
    ranking = ev.ranking
    pos = ranking.pos[::-1].astype(np.float64)
    size = pos + ranking.neg[::-1]
    score = ranking.score[::-1].astype(np.float64)
    middle = np.cumsum(size) - size / 2  # a tie belongs to the group in which its middle lies
    group = np.minimum((middle * bins / size.sum()).astype(np.int64), bins - 1)
    weights = [np.bincount(group, w, bins) for w in (size, pos, size * score)]
    n, hits, total = (w[weights[0] > 0].astype(np.float64) for w in weights)
    low, high = np.array([wilson(h, m, ev.settings.level) for h, m in zip(hits, n, strict=True)]).T * n
    shares = {"mean_score": total / n, "share_positive": hits / n, "low": low / n, "high": high / n}
    return Table({**shares, "rows": n}, "Reliability")


def reliability_chart(result: Any, *, bins: int = 10, known: Mapping[int, Any] = MappingProxyType({})) -> Chart:
    """Shares that came true, in bins with intervals; the isotonic curve over them, with the band of a right model.

    ``result`` may also be models by the number that gives their colour; ``known``: their calibrations.
    """
    models = result if isinstance(result, dict) else dict(enumerate(models_of(result)))
    tables = {k: reliability(ev, bins) for k, ev in models.items()}
    ends = ("mean_score", "share_positive", "high")
    top = axis_end(row[end] for table in tables.values() for row in table for end in ends)
    words = "On the diagonal the probabilities are right."
    if known:
        words += " Points: shares in tenths of the list. Lines: isotonic curves."
    across, up = "predicted probability", "observed share"
    chart = Chart(TITLES["reliability"], words, (0.0, top), (0.0, top), across, y_name=up)
    chart.x_percent = chart.y_percent = True
    if len(known) == 1:
        chart.words += " Grey: where the curve of a model with right probabilities would lie."
        bands = next(iter(known.values())).band
        chart.band(bands.column("probability"), bands.column("low"), bands.column("high"), GREY)
    chart.reference([0.0, top], [0.0, top])
    chart.label(0.9 * top, 0.82 * top, "perfect")
    for k, table in tables.items():
        x, y = table.column("mean_score"), table.column("share_positive")
        for row in table:
            chart.line([row["mean_score"]] * 2, [row["low"], row["high"]], colour(k), size=1.2)
            chart.point(row["mean_score"], row["share_positive"], colour(k))
        if k in known:
            x, y = known[k].band.column("probability"), known[k].band.column("comes_true")
        chart.line(x, y, colour(k), dash(k), words=models[k].name)
    return chart


def calibration(result: Any) -> Chart:
    """The isotonic curve of a model with its interval, the band of a right one, and the scores as bars below."""
    result = result.calibration() if hasattr(result, "calibration") else result
    words = f"{result.summary}. Grey: where the curve of a model with right probabilities would lie."
    title = f"Calibration of {result.name}"
    chart = Chart(title, words, (0.0, 1.0), (0.0, 1.0), "predicted probability", y_name="observed share")
    chart.x_percent = chart.y_percent = True
    bands = {name: result.band.column(name) for name in result.band.columns}
    chart.band(bands["probability"], bands["low"], bands["high"], GREY)
    x, low, high = (np.array(bands[name]) for name in ("probability", "confidence_low", "confidence_high"))
    _shade(chart, [(0, Band(x, low, high, result.level, False))])
    chart.reference([0.0, 1.0], [0.0, 1.0])
    chart.line(bands["probability"], bands["comes_true"], colour(0))
    cases, edges = np.histogram(result.score, bins=40, range=(0.0, 1.0), weights=result.cases)
    chart.steps(edges.tolist(), (0.12 * cases / max(cases.max(), 1.0)).tolist(), GREY, 0.5)
    if result.slope.value == result.slope.value:
        chart.label(0.02, 0.93, f"slope {result.slope.value:.2f}, {result.tested}")
    return chart


def cost_chart(result: Any, *, kind: str, prices: Any = None, cheapest: Any = None, band: Shown = None) -> Chart:
    """Net benefit or expected cost by threshold probability, with bands and those who act on all or nobody.

    ``result`` may also be decision curves by the number that gives their colour. ``prices``: what a false positive and
    a false negative cost, for a line there and costs in their unit; ``cheapest`` adds dots at the models' own cuts.
    """
    known, benefit = isinstance(result, dict), kind == "net_benefit"
    decisions = result if known else {k: ev.decision_curve() for k, ev in enumerate(models_of(result))}
    first = next(iter(decisions.values()))
    scale = 1.0 if benefit or prices is None else sum(prices)
    names = ("net_benefit", "low", "high") if benefit else ("expected_cost", "cost_low", "cost_high")
    lines = {k: [scale * getattr(c, name) for name in names] for k, c in decisions.items()}
    everyone = first.treat_all if benefit else scale * first.treat_all_cost
    no_one = np.zeros_like(first.x) if benefit else scale * first.treat_none_cost
    top = 1.1 * max(1e-9, *(float(values.max()) for values, *_ in lines.values()))
    ends = (-0.25 * top, top) if benefit else (0.0, 1.3 * top)
    shaded = len(decisions) == 1 if band is None else band  # bands of several models would cover each other
    words = "Dashed: act on everyone. Dotted: act on no one." + " Shaded: interval." * shaded
    across, up = "threshold probability", "net benefit per case"
    if not benefit:
        words = f"Per case; the costs of a false positive and a false negative add up to {in_sentence(scale)}."
        across, up = "share of a false positive in the cost of both errors", "expected cost per case"
    chart = Chart(TITLES[kind], words, (0.0, 1.0), ends, across, x_percent=True, y_name=up)
    own: dict[str, float] = {}
    if cheapest is not None:
        own = {cheapest.model: cheapest.apparent, **{row["model"]: row["apparent_cost"] for row in cheapest.others}}
        costs = ", ".join(f"{name} {money(cost)}" for name, cost in own.items())
        chart.words += f" Line: cut at x, as if probabilities were right. Dot: at a model's own cheapest cut ({costs})."
        clear = all(row["low"] > 0 for row in cheapest.others)
        chart.finding = f"{TITLES[kind]}: {cheapest.model} is cheapest{'' if clear else ', but not clearly'}"
    _shade(chart, ((k, Band(c.x, lines[k][1], lines[k][2], c.level, False)) for k, c in decisions.items() if shaded))
    skipped = list(decisions) != list(range(len(decisions)))  # colours skip the models without probabilities
    chart.key = [(c.name, colour(k)) for k, c in decisions.items()] if skipped else []
    chart.models = [c.name for c in decisions.values()] if len(decisions) > 1 and not skipped else []
    chart.line(first.x, everyone, GREY, PERFECT, size=1.1, words="everyone")
    chart.line(first.x, no_one, GREY, CHANCE, size=1.1, words="no one")
    for k, c in decisions.items():
        told = f"; dot: {money(own[c.name])} at its own cheapest cut" if c.name in own else ""
        chart.line(c.x, lines[k][0], colour(k), dash(k), words=c.name + told)
    if prices is not None:
        at, positive = prices[0] / sum(prices), first.treat_none_cost[0] / (1.0 - first.x[0])
        chart.line([at, at], ends, "#808080")
        for k, c in sorted(decisions.items(), key=lambda of: -own.get(of[1].name, math.inf)):  # the cheapest on top
            lost = own.get(c.name, math.nan)
            chart.point(at, positive - lost / prices[1] if benefit else lost, colour(k))
    return chart


def profit(plan: Plan) -> Chart:
    """Profit by number of cases, the best cut with its interval, and what to expect on new data."""
    ends = around(np.append(plan.profits, [0.0, *(e for e in plan.profit.interval if math.isfinite(e))]))
    low, high = plan.profit.interval
    shown = [amount(x, high - low) for x in (plan.profit.value, plan.expected_profit, low, high)]
    coming = f", expect {shown[1]} ({shown[2]} to {shown[3]}) on new data" if low == low else ""
    words = f"Highest at {plan.quota:,}: {shown[0]} on these data{coming}; at most {plan.limit:,} allowed."
    prices = plan.settings
    by_row = isinstance(prices["cost"], str)
    title = "Profit" if by_row else f"Profit at cost {prices['cost']:g} per case and value {prices['value']:g} per hit"
    chart = Chart(title, words, (0.0, float(plan.taken[-1])), ends, "cases taken", y_name="profit")
    chart.reference(chart.x, (0.0, 0.0))
    chart.line(plan.taken, plan.profits, colour(0))
    chart.key = [(f"on these data: {shown[0]} with {plan.quota:,}", "currentColor")]
    if low == low:
        chart.line([plan.quota, plan.quota], [low, high])
    if low == low and plan.quota:
        chart.point(float(plan.quota), plan.expected_profit, colour(1))
        chart.key.append((f"on new data: {shown[1]}", colour(1)))
    chart.point(float(plan.quota), plan.profit.value)
    if plan.limit < plan.taken[-1]:
        chart.upright(float(plan.limit), f"limit: {plan.limit:,}")
    return chart


def uplift(result: Any) -> Chart:
    """Gain by number of cases treated, of one score with its interval, beside treating at random and nobody."""
    scores = result if isinstance(result, list) else list(getattr(result, "evaluations", {"": result}).values())
    first = scores[0]
    rows = [(k, one, one.curve) for k, one in enumerate(scores[:MOST_LINES])]
    shown = ("gain", "low", "high") if len(scores) == 1 else ("gain",)
    ends = around([0.0, *(value for *_, curve in rows for name in shown for value in curve.column(name))])
    words = "; ".join(f"{one.name}: {one.gain_in_words('gain')} with {one.quota:,} treated" for _, one, _ in rows)
    everyone = f"everyone: {first.gain_in_words('everyone')}"
    ends = (ends[0] - 0.04 * (ends[1] - ends[0]), ends[1])  # the line of nobody lies on no frame
    chart = Chart("Gain by number of cases treated", f"{words}; {everyone}.", (0.0, float(first.sums.n)), ends)
    chart.x_name, chart.y_name = "cases treated", "more than if nobody is treated"
    chart.models = [one.name for one in scores] if len(scores) > 1 else ()
    taken = first.curve.column("taken")
    chart.line(chart.x, (0.0, 0.0), GREY, CHANCE, size=1.1, words="nobody")
    chart.line(taken, first.curve.column("random"), GREY, PERFECT, size=1.1, words="at random")
    for k, one, curve in rows:
        if len(scores) == 1:
            chart.band(curve.column("taken"), curve.column("low"), curve.column("high"), colour(k))
        chart.line(curve.column("taken"), curve.column("gain"), colour(k), dash(k), words=one.name)
        chart.point(float(one.quota), one["gain"].value, colour(k))
    chart.line([first.quota] * 2, ends, "#808080", size=1.0)
    chart.label(first.quota, ends[0] + 0.95 * (ends[1] - ends[0]), f"{first.quota:,} treated")
    return chart


def voting(result: SelectiveVoting) -> Chart:
    """Each mark against the number of models, on the scale from chance to a perfect list, as in Fig. 10 of the paper.

    If a mark has no level by chance, all are drawn from their worst to their best instead. The band is that of the
    held-out mark by which the number was chosen.
    """
    x = np.array(result.marks.column("models"), dtype=float)
    lines: dict[int, Any] = {}
    at_best = {row["mark"]: format_value(row["value"]) for row in result.optimum}
    for k, spec in enumerate(result.specs):
        values = np.array(result.marks.column(str(spec)), dtype=float)
        ends = (np.nanmin(values), np.nanmax(values)) if np.isfinite(values).any() else (0.0, 0.0)
        zero, one = result.scales.get(str(spec), ends if spec.measure.better == "higher" else ends[::-1])
        if ends[0] < ends[1] or result.scales:
            lines[k] = (values - zero) / (one - zero)
    if not lines:
        raise InputError(None, "no mark varies with the number of models, so there is nothing to draw")
    best = "; ".join(f"{row['mark']} with {row['tied'] or row['models']}" for row in result.optimum)
    words = f"Best number of models: {best}. Dotted: {pluralize(result.voters, 'model')} chosen."
    zero, one = result.scales.get(result.chosen_by, (math.nan, math.nan))
    band = [(np.array([row[end] for row in result.held_out]) - zero) / (one - zero) for end in ("low", "high")]
    drawn = np.concatenate([*lines.values(), *band])
    bottom, top = around(drawn[np.isfinite(drawn)]) if result.scales else (-0.03, 1.1)
    room = 0.08 * (top - bottom) * bool(result.scales)
    across, ends = (0.9, max(2.0, float(x[-1])) + 0.1), (bottom - room, top + room)
    chart = Chart("Marks by number of models", words, across, ends, "models that vote, best first", y_percent=True)
    own_ends = "mark, from its lowest to its highest"
    chart.y_name = "mark: chance is 0%, a perfect list 100%" if result.scales else own_ends
    chart.x_labels = [(float(k), str(k)) for k in range(1, len(x) + 1, -(-len(x) // 12))]
    if np.isfinite(band).any():
        names = [str(spec) for spec in result.specs]
        paint = colour(names.index(result.chosen_by)) if result.chosen_by in names else GREY
        chart.band(x, band[0], band[1], paint)
        chart.x_name += f"\n(band: {result.chosen_by} on held-out rows, all numbers at once)"
    for k, values in lines.items():
        name = str(result.specs[k])
        chart.line(x, values, colour(k), dash(k), words=f"{name}, best {at_best.get(name, '–')}")
        if np.isfinite(values).any():
            chart.point(float(x[np.nanargmax(values)]), float(np.nanmax(values)), colour(k))
    chart.key = [(mark.words, mark.paint) for mark in chart.marks if mark.shape == "line"]
    chart.upright(float(result.voters), f"{result.voters} chosen", 0.96)
    return chart


# ------------------------------------------------------------------------------------------------- several classes


def more_classes(ex: Extrapolation, *, until: int | None = None, title: str = "Accuracy with more classes") -> Chart:
    """Accuracy by number of classes: observed, then predicted with its band; every method as a thin line.

    Up to ``until``, the largest number asked for, or ten times what was seen where none was.
    """
    first = ex.n_classes
    asked = [k for k in (ex.k if until is None else [until]) if k > first]
    end = max([*asked, first + 1]) if asked or until is not None else 10 * first
    beyond = ex.curve(np.unique(np.append(np.geomspace(first, end, 60).round(), asked)))
    k, low, high = (np.asarray(beyond[name], dtype=float) for name in ("k", "low", "high"))
    words = f"{format_value(ex.observed.test_accuracy)} seen among {ex.n_classes:,}" + "".join(
        f"; {format_value(e.value)} expected among {classes:,}" for classes, e in ex.estimates.items()
    )
    last = float(max(k[-1], 3))
    chart = Chart(title, words, (2.0, last), (0.0, 1.0), "number of classes", True, "accuracy", y_percent=True)
    chart.upright(float(ex.n_classes), f"{ex.n_classes:,} classes seen")
    every = np.unique(np.append(np.geomspace(2, last, 60).round(), ex.n_classes))
    for name, fit in ex.fits.items():
        accuracy = np.clip(fit.accuracy(np.maximum(every / ex.classes_each, 1.0)), 0.0, 1.0)
        chart.line(every, accuracy, GREY if name in ex.weights else FAINT, size=0.8)
    if np.isfinite(low).any():
        # from the first class more: at the border stands the interval of what was seen, made in another way
        chart.band(k[1:], low[1:], high[1:], colour(0))
    chart.line(k, beyond["accuracy"], colour(0), dash(1))
    chart.line(list(ex.observed), [ex.observed[k].value for k in ex.observed])
    for classes, estimate in ex.estimates.items():
        chart.point(float(classes), estimate.value, colour(0))
    chart.key = [("observed", "currentColor"), ("extrapolated", colour(0)), ("methods", GREY)]
    return chart


def who_leads(result: GrowthComparison) -> Chart:
    """Difference of the accuracies of two recognisers by number of classes, with its simultaneous band."""
    band, seen = result.band(), float(next(iter(result.models.values())).n_classes)
    words = f"{' − '.join(result.names)}: " + "; ".join(
        f"{result.difference(k).difference:+.1%} with {k:,} classes" for k in result.k
    )
    ends = around(np.append([0.0], np.concatenate([band[key] for key in ("difference", "low", "high")])))
    across, up = "number of classes", "difference of accuracies"
    last = float(max(band["k"][-1], 3.0))
    chart = Chart("Who leads", words, (2.0, last), ends, across, log=True, y_name=up, y_percent=True)
    chart.upright(seen, f"{seen:,.0f} classes seen")
    chart.reference([2.0, last], [0.0, 0.0])
    if np.isfinite(band["low"]).any():
        chart.band(band["k"], band["low"], band["high"], colour(0))
    chart.line(band["k"], band["difference"], colour(0))
    chart.key = [(f"{' − '.join(result.names)}, {result.level:.0%} band", colour(0))]
    return chart


def list_sizes(result: Any, *, quota: int | float | None = None, list_size: int | None = None) -> Chart:
    """Hits in the same places by the size of the list: the mean, the range of the next list; dashed where a guess."""
    models, given = models_of(result), [] if list_size is None else [list_size]
    places: Any = models[0].asked_quota if quota is None else quota
    if places is None or isinstance(places, Quotas):
        problem = "is missing" if places is None else "is a range, and lists of other sizes need one"
        raise InputError("quota", problem, "give {quota}: places in one list")
    sample = max(1, whole_cases(models[0].ranking.cases))
    least = places if isinstance(places, int) else math.ceil(1.0 / places)  # no list is shorter than its places
    sizes = np.geomspace(0.1 * sample, max(10 * sample, *given, 0), 33).round().astype(np.int64).tolist()
    sizes = sorted({*(size for size in (*sizes, sample) if size >= least), *given})
    points: list[list[Any]] = [[ev.at(quota=places, list_size=size) for size in sizes] for ev in models]
    top = max(point.next_hits[1] for own in points for point in own)
    words = f"Line: hits on average. Dotted: the {sample:,} cases evaluated."
    words += " Shaded: the range of the next list." if len(models) == 1 else ""
    words += " Dashed: a guess." if any(point.guess for own in points for point in own) else ""
    title = f"Hits in {pluralize(places, 'place')}" if isinstance(places, int) else "Hits"
    chart = Chart(f"{title} by list size", words, (sizes[0], sizes[-1]), (0.0, top), "cases on the list", log=True)
    chart.y_name, names = "hits", [ev.name for ev in models]
    chart.upright(float(sample), f"this list: {sample:,}")
    for k, own in enumerate(points):
        hits, tested = [point.tp for point in own], sum(not point.guess for point in own)
        if len(models) == 1:
            low, high = zip(*(point.next_hits for point in own), strict=True)
            chart.band(sizes, low, high, colour(k))
        chart.line(sizes[:tested], hits[:tested], colour(k), words=names[k])
        chart.line(sizes[max(0, tested - 1) :], hits[max(0, tested - 1) :], colour(k), PERFECT)
        for size in given:
            chart.point(float(size), hits[sizes.index(size)], colour(k))
    chart.models = names if len(names) > 1 else []
    return chart


def risk_coverage(result: Any) -> Chart:
    """Error rate among the answered, by the share answered."""
    curve = result.risk_coverage() if hasattr(result, "risk_coverage") else result
    thin = curve.thinned(160)
    top = max(0.05, 1.05 * float(np.max(thin.high[len(thin) // 10 :])))
    every, half = (f"{curve.at(share)['risk']:.1%}" for share in (1.0, 0.5))
    words = f"Error rate among the answered: {every} if all are answered, {half} of the most confident half"
    across = "share of cases answered, the most confident first"
    chart = Chart("Errors by coverage", words, (0.0, 1.0), (0.0, top), across, y_name="error rate among the answered")
    chart.x_percent = chart.y_percent = True
    chart.band(thin.coverage, thin.low, thin.high, colour(0))
    chart.line(thin.coverage, thin.risk, colour(0))
    return chart


def confidence(ev: ClassEvaluation) -> Chart:
    """How often the predicted class is right, by the confidence in it."""
    table = ev.calibration()
    each = ", ".join(dict.fromkeys(f"{row['confidence']:.0%}: {row['right']:.0%}" for row in table))
    words = f"Share of right predictions by confidence: {each}"
    title, across = "Calibration of the predicted class", "confidence in the predicted class"
    chart = Chart(title, words, (0.0, 1.0), (0.0, 1.0), across, y_name="share that was right")
    chart.x_percent = chart.y_percent = True
    chart.reference([0.0, 1.0], [0.0, 1.0])
    chart.band(table.column("confidence"), table.column("low"), table.column("high"), colour(0))
    chart.line(table.column("confidence"), table.column("right"), colour(0))
    return chart


# kind -> what describes it
FIGURES: dict[str, Callable[..., Chart]] = {
    **{name: partial(rates, name=name) for name in ("roc", "precision_recall")},
    "found": found,
    **{name: partial(over_places, name=name) for name in ("gain", "lift", "hit_rate")},
    **{one.__name__: one for one in (qrecall, tpr_fpr, histogram)},
    "reliability": reliability_chart,
    "calibration": calibration,
    **{kind: partial(cost_chart, kind=kind) for kind in ("net_benefit", "expected_cost")},
    **{one.__name__: one for one in (dominance, forest, batches, segments)},
    "list_size": list_sizes,
    "plan": profit,
    **{one.__name__: one for one in (uplift, voting, trend)},
    "extrapolation": more_classes,
    **{one.__name__: one for one in (who_leads, risk_coverage, differences, confidence)},  # two of a page alone
}
