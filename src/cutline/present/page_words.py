"""What a page adds to the answer: charts of the whole list, calibration, costs, every measure, the data, notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..decide.error_costs import ErrorPrices
from ..errors import InputError
from ..estimate import Estimate
from ..table import Figure, Section, Table, count, format_value
from .render import Explained
from .words import ARROWS, FAMILY_TITLES, determined_by

if TYPE_CHECKING:
    from ..decide.calibration import Calibration
    from ..evaluation import Evaluation

_MOST_GROUPS = 50_000  # distinct scores up to which the reliability curve with its bands is worked out for the page
_SHOWN = (0.05, 0.1, 0.2, 0.3, 0.5)  # threshold probabilities in the table
_MOST_HISTOGRAMS = 6
_CALIBRATION = {
    "Slope": "1 is ideal; below 1, probabilities are too extreme",
    "In the large": "0 is ideal; above 0, probabilities are too low",
    "p-value": "of the test that every probability is right",
    "Miscalibration": "part of the Brier score; lower is better",
    "Discrimination": "part of the Brier score; higher is better",
    "Uncertainty": "part of the Brier score; does not depend on the model",
}


def places_section(evaluations: Sequence[Evaluation], *, detail: bool = False) -> Section | None:
    """The hits at every number of places; where no list of cases counts alike, why there is no such thing."""
    first = evaluations[0]
    title = "How many places?"
    if first.rows.batched or not (detail or (first.facts["positives"] and first.facts["negatives"])):
        return None
    if not first.facts["weighted"]:
        return Section("places", [Figure("gain", evaluations)], title)
    if not detail:
        return None
    if first.prevalence is not None:
        said = (
            f"All figures on this page are for a prevalence of {first.prevalence}. The quota explorer is on the page "
            "of the sample itself, where you can set the prevalence by hand."
        )
    elif "labelled" in first.facts:
        said = (
            "Only some rows of this list have a label, so all figures are estimates. There is no quota explorer for "
            "it: ask for a quota with ev.at(quota=…)."
        )
    else:
        said = (
            "This sample is weighted, so a quota counts cases by their weight. There is no quota explorer for it: ask "
            "for a quota with ev.at(quota=…)."
        )
    return Section("places", [said], title)


def chart_section(evaluations: Sequence[Evaluation], *, detail: bool = False) -> Section | None:
    """The whole list: curves, tenths and scores; those that the data do not allow are left out."""
    first = evaluations[0]
    if not 0 < first.facts["positives"] < first.facts["rows"]:
        return None
    figures = [Figure("roc", evaluations)]
    whole = not (first.facts["weighted"] or first.rows.batched)
    if detail or not whole:
        figures.append(Figure("precision_recall", evaluations))
    if detail and not first.facts["weighted"] and first.facts["rows"] >= 10:
        figures.append(Figure("deciles", evaluations))
    several = len(evaluations) > 1
    if detail or not several:
        for k, ev in enumerate(evaluations[:_MOST_HISTOGRAMS]):
            if ev.rows.are_finite:
                figures.append(Figure("histogram", ev, {"named": several, "name": f"histogram-{k}"}))
    return Section("charts", figures, "The whole list")


def detail_sections(
    result: Any,
    evaluations: Sequence[Evaluation],
    *,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
    source: Mapping[str, Any] | None = None,
) -> Iterator[Section]:
    """What follows the answer on a page; ``cost_fp`` and ``cost_fn`` add the cheapest cut."""
    prices = {}
    if cost_fp is not None or cost_fn is not None:
        checked = ErrorPrices.checked(cost_fp, cost_fn)
        prices = {"cost_fp": checked.fp, "cost_fn": checked.fn}
    charts = chart_section(evaluations, detail=True)
    if charts is not None:
        yield charts
    facts = evaluations[0].facts
    usable = {  # an audit does not know the labels of most rows
        k: ev for k, ev in enumerate(evaluations) if ev.rows.are_probabilities and "labelled" not in ev.facts
    }
    both = bool(usable) and 0 < facts["positives"] < facts["rows"]
    if both:
        yield _calibration(usable)
    costs = _costs(result, usable if both else {}, prices)
    if costs is not None:
        yield costs
    if len(evaluations) > 1:
        yield from _at_threshold(evaluations)
    yield measure_section(evaluations)
    yield from _data(evaluations, source or {})


# ------------------------------------------------------------------------------------------------- calibration


def _calibration(usable: Mapping[int, Evaluation]) -> Section:
    known = {k: found for k, ev in usable.items() if (found := _calibrated(ev)) is not None}
    rows: dict[str, dict[str, Any]] = {
        name: {"calibration": name, "meaning": meaning} for name, meaning in _CALIBRATION.items()
    }
    for found in known.values():
        p = f"{found.p_value:.3f}" if found.p_value >= 0.001 else "< 0.001"
        shown: dict[str, Any] = {"Slope": found.slope, "In the large": found.in_the_large, "p-value": p}
        for part in ("miscalibration", "discrimination", "uncertainty"):
            shown[part.capitalize()] = found[f"brier_score.{part}"]
        for name, value in shown.items():
            rows[name][found.name] = value
    table = [Table(rows.values())] if known else []
    return Section("right", [Figure("reliability", usable, {"known": known}), *table], "Are the probabilities right?")


def _calibrated(ev: Evaluation) -> Calibration | None:
    """The calibration of a model; None where its rows are not there, clustered, or too many."""
    if len(ev.ranking) > _MOST_GROUPS or getattr(ev.rows, "clusters", None) is not None:
        return None
    try:
        return ev.calibration()
    except InputError:  # a stream keeps no rows
        return None


# ------------------------------------------------------------------------------------------------- costs


def _costs(result: Any, usable: Mapping[int, Evaluation], prices: Mapping[str, float]) -> Section | None:
    """The cheapest cut, and net benefit by threshold probability where the models give probabilities."""
    parts: list[Any] = []
    if prices:
        costs = [format_value(prices[name]) for name in ("cost_fp", "cost_fn")]
        parts.append(f"Where a false positive costs {costs[0]}, a false negative {costs[1]}:")
        if hasattr(result, "cheapest"):
            parts += [f"{sentence}." for sentence in result.cheapest(**prices).sentences]
        else:
            cut = result.cut(**prices)
            parts.append(f"Take score > {format_value(float(cut))}: {cut.note}.")
    try:
        curves = {k: ev.decision_curve() for k, ev in usable.items()}
    except InputError:  # a stream keeps no rows
        curves = {}
    if curves:
        at = prices["cost_fp"] / (prices["cost_fp"] + prices["cost_fn"]) if prices else None
        explained = (
            "At a threshold probability x, you act on cases with a probability above x: a false positive costs "
            "x / (1 − x) times the benefit of a true positive. Choose x from your costs: "
            "cost of a false positive / (cost of a false positive + cost of a false negative)."
        )
        parts += [
            Figure("net_benefit", curves, {"at": at}),
            Figure("expected_cost", curves, {"at": at}),
            explained,
            _benefit_table(curves),
        ]
    return Section("costs", parts, "What do errors cost?") if parts else None


def _benefit_table(curves: Mapping[int, Any]) -> Table:
    first = next(iter(curves.values()))
    rows = []
    for shown in _SHOWN:
        i = int(np.argmin(np.abs(first.x - shown)))
        each = {c.name: _rounded(c.net_benefit[i], c.low[i], c.high[i]) for c in curves.values()}
        rows.append({"threshold probability": f"{shown:.0%}", **each, "everyone": round(float(first.treat_all[i]), 3)})
    return Table(rows, "Net benefit per case")


def _rounded(value: float, low: float, high: float) -> Estimate:
    return Estimate("net benefit", round(float(value), 3), round(float(low), 3), round(float(high), 3))


# ------------------------------------------------------------------------------------------------- measures, data


def _at_threshold(evaluations: Sequence[Evaluation]) -> Iterator[Section]:
    """The confusion matrix of each model at its threshold; nothing where the scores have none."""
    names = {"tp": "true positives", "fp": "false positives", "fn": "false negatives", "tn": "true negatives"}
    rows = []
    for ev in evaluations:
        if ev.threshold is not None:
            point = ev.at(threshold=ev.threshold)
            cells = {name: count(getattr(point, key)) for key, name in names.items()}
            rows.append({"model": ev.name, "threshold": f"{point.threshold:g}", **cells})
    if rows:
        yield Section("cut", [Table(rows)], "At the threshold")


def measure_section(evaluations: Sequence[Evaluation]) -> Section:
    """Every measure of every model with its explanation; one row for one number under many names."""
    first = evaluations[0]
    rows = []
    for key, spec in first.specs.items():
        base = determined_by(spec.measure)
        if base is not None and any(s.measure is base for s in first.specs.values()):
            continue
        estimates = {ev.name: ev.estimates.get(key) for ev in evaluations}
        row: dict[str, Any] = {
            "family": FAMILY_TITLES[spec.measure.family],
            "measure": explained(first, key, {e.method for e in estimates.values() if e is not None}),
            "": ARROWS[spec.measure.better],
        }
        rows.append(row | estimates)
    note = "Open a name for its meaning, formula and source. ↑ higher is better, ↓ lower is better."
    return Section("measures", [note, Table(rows, group="family")], "All measures")


def explained(ev: Evaluation, key: str, methods: set[str]) -> Explained:
    """A measure with what the catalogue says of it, and how its interval was made."""
    spec = ev.specs[key]
    one = spec.measure
    disguised = [
        f"{other.measure.name} ({other.measure.same_as})"
        for other in ev.specs.values()
        if determined_by(other.measure) is one and other.threshold == spec.threshold
    ]
    facts = {
        "": " ".join(one.summary.partition(">>>")[0].replace("``", "").split()),
        "formula": one.formula,
        "range": f"{one.range[0]:g} to {one.range[1]:g}, {one.better} is better",
        "undefined": one.undefined,
        "proper": one.propriety,
        "same number": "; ".join(disguised),
        "interval": ", ".join(sorted(methods - {""})),
        "caution": one.caution,
        "source": one.reference,
    }
    return Explained(key, one.title, {name: text for name, text in facts.items() if text})


def _data(evaluations: Sequence[Evaluation], source: Mapping[str, Any]) -> Iterator[Section]:
    """Rows, positives, ties and how much they matter; and how to read all of this."""
    first = evaluations[0].facts
    positives = f"{first['positives']:,} ({first['share_positive']:.1%})"
    known = {**source, "rows": f"{first['rows']:,}", "positives": positives}
    ties = []
    for ev in evaluations:
        tied = ev.facts["tied_pairs"]
        row = {"model": ev.name, "distinct scores": f"{ev.facts['distinct_scores']:,}"}
        row |= {"largest tie": count(ev.facts["largest_tie"]), "tied pairs": "–", "AUC range from ties": "–"}
        if tied == tied:
            row["tied pairs"] = f"{tied:.2%}"
            if "roc_auc" in ev:
                auc = ev["roc_auc"].value
                ends = f"{format_value(auc - tied / 2)} to {format_value(auc + tied / 2)}"
                row["AUC range from ties"] = ends if tied else format_value(auc)
        ties.append(row)
    note = (
        "A quota that falls inside a tie takes a proportional share of the tied cases, so hits can be fractions; the "
        "table shows the best and the worst possible draw."
    )
    facts = Table({"": name, "what": text} for name, text in known.items())
    yield Section("facts", [facts, Table(ties, "Ties: cases with the same score"), note], "The data")
    notes = [
        f"Expected hits: {evaluations[0].settings.level:.0%} score interval for the hit rate, times the places; the "
        "cut moves with the sample, and the interval allows for that. It is about the mean; a single group varies "
        "more.",
        "At a given quota, hit rate, Qrecall and lift always rank models the same way: each is the number of hits "
        "divided by something that does not depend on the model. They differ only in averages over many quotas.",
        "Predicted positive means a score greater than the threshold.",
        "The explanation of a measure names the method of its interval.",
    ]
    yield Section("notes", notes, "How to read this")
