"""The page's sections on decisions: what errors cost, and whether the probabilities are right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..table import Markup
from ..table import escaped as text
from .charts import CHANCE, GREY, PERFECT, TITLES, Chart
from .numbers import axis_end, reliability
from .palette import colour, dash
from .sections import cells, columns, estimate_cell, figure, format_value, grid, section

if TYPE_CHECKING:
    from ..decide.calibration import Calibration
    from ..evaluation import Evaluation

_MOST_GROUPS = 50_000  # distinct scores up to which the reliability curve with its bands is worked out for the page
_DRAWS = 199
_COSTS = "What do errors cost?"
_SHOWN = (0.05, 0.1, 0.2, 0.3, 0.5)  # threshold probabilities in the table


def decision_sections(result: Any, evaluations: Sequence[Evaluation], prices: Mapping[str, float]) -> str:
    """Both sections; of costs only the cheapest cut where no model gives probabilities."""
    facts = evaluations[0].facts
    usable = {  # an audit does not know the labels of most rows
        k: ev for k, ev in enumerate(evaluations) if ev.rows.are_probabilities and "labelled" not in ev.facts
    }
    if not usable or not 0 < facts["positives"] < facts["rows"]:
        return _costs_alone(result, prices)
    return _calibration(usable) + _costs(result, usable, prices)


# ------------------------------------------------------------------------------------------------- calibration


def _calibration(usable: Mapping[int, Evaluation]) -> str:
    found = {k: made for k, ev in usable.items() if (made := _calibrated(ev)) is not None}
    spoken = "On the diagonal the probabilities are right."
    if found:
        spoken += " Points: shares in tenths of the list. Lines: isotonic curves."
    if len(found) == 1:
        spoken += " Grey: where the curve of a model with right probabilities would lie."
    drawn = figure("reliability", "reliability", reliability_chart(usable, found), spoken)
    return section("right", "Are the probabilities right?", f'<div class="two">{drawn}{_numbers(found)}</div>')


def _calibrated(ev: Evaluation) -> Calibration | None:
    """The calibration of a model; None where its rows are not there, clustered, or too many."""
    from ..decide.calibration import calibrate

    if len(ev.ranking) > _MOST_GROUPS or getattr(ev.rows, "clusters", None) is not None:
        return None
    try:
        return calibrate(ev.sample, ev.ranking, name=ev.name, level=ev.settings.level, n_resamples=_DRAWS)
    except InputError:  # a stream keeps no rows
        return None


def reliability_chart(usable: Mapping[int, Evaluation], found: Mapping[int, Calibration]) -> Markup:
    """Shares that came true, in bins with intervals; the isotonic curve over them, with the band of a right model."""
    tables = {k: reliability(ev, 10) for k, ev in usable.items()}
    ends = ("mean_score", "share_positive", "high")
    top = axis_end(row[end] for table in tables.values() for row in table for end in ends)
    chart = Chart(TITLES["reliability"], "", (0.0, top), (0.0, top), "probability given")
    chart.y_name, chart.x_percent, chart.y_percent = "observed share", True, True
    if len(found) == 1:
        bands = next(iter(found.values())).bands
        chart.band(bands.column("probability"), bands.column("low"), bands.column("high"), GREY)
    chart.line([0.0, top], [0.0, top], GREY, CHANCE)
    for k, table in tables.items():
        for row in table:
            chart.whisker(row["mean_score"], row["low"], row["high"], colour(k))
        line = found[k].bands if k in found else None
        if line is None:
            chart.line(table.column("mean_score"), table.column("share_positive"), colour(k), dash(k))
        else:
            chart.line(line.column("probability"), line.column("comes_true"), colour(k), dash(k))
        for row in table:
            chart.point(row["mean_score"], row["share_positive"], colour(k))
    return chart.svg()


def _numbers(found: Mapping[int, Calibration]) -> str:
    """Slope, intercept, test and the parts of the Brier score of each model."""
    if not found:
        return ""
    meanings = {
        "Slope": "1 is ideal; below 1, probabilities are too extreme",
        "In the large": "0 is ideal; above 0, probabilities are too low",
        "p-value": "of the test that every probability is right",
        "Miscalibration": "part of the Brier score; lower is better",
        "Discrimination": "part of the Brier score; higher is better",
        "Uncertainty": "part of the Brier score; does not depend on the model",
    }
    lines: dict[str, str] = {}
    for made in found.values():
        p = f"{made.p_value:.3f}" if made.p_value >= 0.001 else "&lt; 0.001"
        shown = {"Slope": estimate_cell(made.slope), "In the large": estimate_cell(made.in_the_large), "p-value": p}
        for part in ("miscalibration", "discrimination", "uncertainty"):
            shown[part.capitalize()] = estimate_cell(made[f"brier_score.{part}"])
        lines = {name: lines.get(name, "") + cells(value) for name, value in shown.items()}
    heads = columns("calibration", kind="text") + columns(*(made.name for made in found.values()), kind="name")
    body = "".join(
        f'<tr><th scope="row">{name}<small>{text(meanings[name])}</small></th>{shown}</tr>'
        for name, shown in lines.items()
    )
    return grid(heads, body, "Calibration", kind="decisions")


# ------------------------------------------------------------------------------------------------- costs


def _costs(result: Any, usable: Mapping[int, Evaluation], prices: Mapping[str, float]) -> str:
    try:
        curves = {k: ev.decision_curve() for k, ev in usable.items()}
    except InputError:  # a stream keeps no rows
        return _costs_alone(result, prices)
    at = prices["cost_fp"] / (prices["cost_fp"] + prices["cost_fn"]) if prices else None
    spoken = {
        "net_benefit": "Dashed: act on everyone. Dotted: act on no one. Shaded: interval.",
        "expected_cost": "Per case; the costs of a false positive and a false negative add up to 1.",
    }
    figures = "".join(
        figure(kind.replace("_", "-"), kind, cost_chart(kind, curves, at), said) for kind, said in spoken.items()
    )
    note = (
        '<p class="note">At a threshold probability x, you act on cases with a probability above x: a false positive '
        "costs x / (1 − x) times the benefit of a true positive. Choose x from your costs: "
        "cost of a false positive / (cost of a false positive + cost of a false negative).</p>"
    )
    inside = f'{_cheapest_words(result, prices)}{note}<div class="charts">{figures}</div>{_benefit_table(curves)}'
    return section("costs", _COSTS, inside)


def cost_chart(kind: str, curves: Mapping[int, Any], at: float | None) -> Markup:
    """Net benefit or expected cost by threshold probability, with bands and those who act on all or nobody."""
    benefit = kind == "net_benefit"
    value, low, high = ("net_benefit", "low", "high") if benefit else ("expected_cost", "cost_low", "cost_high")
    first = next(iter(curves.values()))
    top = 1.1 * max(1e-9, *(float(getattr(c, value).max()) for c in curves.values()))
    ends = (-0.25 * top, top) if benefit else (0.0, 1.3 * top)
    across = "threshold probability" if benefit else "share of a false positive in the cost of both errors"
    if len(curves) <= 3:
        across += f" ({first.band_words})"
    chart = Chart(TITLES[kind], "", (0.0, 1.0), ends, across, x_percent=True)
    if len(curves) <= 3:
        for k, c in curves.items():
            chart.band(c.x, getattr(c, low), getattr(c, high), colour(k))
    chart.line(first.x, first.treat_all if benefit else first.treat_all_cost, GREY, PERFECT)
    chart.line(first.x, np.zeros_like(first.x) if benefit else first.treat_none_cost, GREY, CHANCE)
    for k, c in curves.items():
        chart.line(c.x, getattr(c, value), colour(k), dash(k))
    if at is not None:
        chart.line([at, at], ends, "#808080")
    return chart.svg()


def _benefit_table(curves: Mapping[int, Any]) -> str:
    heads = columns("threshold probability", kind="text") + columns(*(c.name for c in curves.values()), kind="name")
    body = ""
    first = next(iter(curves.values()))
    for shown in _SHOWN:
        i = int(np.argmin(np.abs(first.x - shown)))
        each = cells(
            *(
                f"{_number(c.net_benefit[i])}<small>{_number(c.low[i])} to {_number(c.high[i])}</small>"
                for c in curves.values()
            ),
            _number(first.treat_all[i]),
        )
        body += f'<tr><th scope="row">{shown:.0%}</th>{each}</tr>'
    caption = "Net benefit per case"
    return grid(heads + columns("everyone"), body, "Net benefit", kind="decisions", caption=caption)


def _number(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def _costs_alone(result: Any, prices: Mapping[str, float]) -> str:
    return section("costs", _COSTS, _cheapest_words(result, prices)) if prices else ""


def _cheapest_words(result: Any, prices: Mapping[str, float]) -> str:
    """The cheapest model and cut for the given costs, in sentences; nothing without costs."""
    if not prices:
        return ""
    if hasattr(result, "cheapest"):
        sentences = result.cheapest(**prices).sentences
    else:
        cut = result.cut(**prices)
        sentences = [f"Take score > {format_value(float(cut))}: {cut.note}"]
    said = "".join(f"<p>{text(line)}.</p>" for line in sentences)
    costs = (
        f"a false positive costs {format_value(prices['cost_fp'])}, a false negative {format_value(prices['cost_fn'])}"
    )
    return f'<p class="note">Where {text(costs)}:</p>{said}'
