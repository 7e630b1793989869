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
from .sections import figure, format_value

if TYPE_CHECKING:
    from ..decide.calibration import Calibration
    from ..evaluation import Evaluation

_MOST_GROUPS = 50_000  # distinct scores up to which the reliability curve with its bands is worked out for the page
_DRAWS = 199
_SHOWN = (0.05, 0.1, 0.2, 0.3, 0.5)  # threshold probabilities in the table


def decision_sections(result: Any, evaluations: Sequence[Evaluation], prices: Mapping[str, float]) -> str:
    """Both sections; of costs only the cheapest cut where no model gives probabilities."""
    facts = evaluations[0].facts
    usable = {  # an audit does not know the labels of most rows
        k: ev for k, ev in enumerate(evaluations) if ev.rows.are_probabilities and "labelled" not in ev.facts
    }
    if not usable or not 0 < facts["positives"] < facts["rows"]:
        return _cheapest_words(result, prices)
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
    head = '<section aria-labelledby="right-title"><h2 id="right-title">Are the probabilities right?</h2>'
    return f'{head}<div class="two">{drawn}{_numbers(found)}</div></section>'


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
    parts = [(f"brier_score.{name}", name.capitalize()) for name in ("miscalibration", "discrimination", "uncertainty")]
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
        of_model = {"Slope": made.slope, "In the large": made.in_the_large, "p-value": made.p_value}
        of_model |= {title: made[key] for key, title in parts}
        for name, e in of_model.items():
            lines[name] = lines.get(name, "") + f"<td>{_cell(e)}</td>"
    heads = "".join(f'<th scope="col" class="name">{text(made.name)}</th>' for made in found.values())
    body = "".join(
        f'<tr><th scope="row">{name}<small>{text(meanings[name])}</small></th>{cells}</tr>'
        for name, cells in lines.items()
    )
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Calibration"><table class="decisions"><thead><tr>'
        f'<th class="text" scope="col">calibration</th>{heads}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _cell(e: Any) -> str:
    if isinstance(e, float):
        return f"{e:.3f}" if e >= 0.001 else "&lt; 0.001"
    if e.value != e.value:
        return f'–<small class="why">{text(e.reason)}</small>'
    return f"{format_value(e.value)}<small>{format_value(e.low)} to {format_value(e.high)}</small>"


# ------------------------------------------------------------------------------------------------- costs


def _costs(result: Any, usable: Mapping[int, Evaluation], prices: Mapping[str, float]) -> str:
    try:
        curves = {k: ev.decision_curve() for k, ev in usable.items()}
    except InputError:  # a stream keeps no rows
        return _cheapest_words(result, prices)
    at = prices["cost_fp"] / (prices["cost_fp"] + prices["cost_fn"]) if prices else None
    spoken = {
        "net_benefit": "Dashed: act on everyone. Dotted: act on no one. Shaded: interval.",
        "expected_cost": "Per case; the costs of a false positive and a false negative add up to 1.",
    }
    figures = "".join(
        figure(kind.replace("_", "-"), kind, cost_chart(kind, curves, at), said) for kind, said in spoken.items()
    )
    head = '<section aria-labelledby="costs-title"><h2 id="costs-title">What do errors cost?</h2>'
    note = (
        '<p class="note">At a threshold probability x, you act on cases with a probability above x: a false positive '
        "costs x / (1 − x) times the benefit of a true positive. Choose x from your costs: "
        "cost of a false positive / (cost of a false positive + cost of a false negative).</p>"
    )
    words = _cheapest_words(result, prices, heading=False)
    return f'{head}{words}{note}<div class="charts">{figures}</div>{_benefit_table(curves)}</section>'


def cost_chart(kind: str, curves: Mapping[int, Any], at: float | None) -> Markup:
    """Net benefit or expected cost by threshold probability, with bands and those who act on all or nobody."""
    benefit = kind == "net_benefit"
    value, low, high = ("net_benefit", "low", "high") if benefit else ("expected_cost", "cost_low", "cost_high")
    first = next(iter(curves.values()))
    top = 1.1 * max(1e-9, *(float(getattr(c, value).max()) for c in curves.values()))
    ends = (-0.25 * top, top) if benefit else (0.0, 1.3 * top)
    across = "threshold probability" if benefit else "share of a false positive in the cost of both errors"
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
    heads = "".join(f'<th scope="col" class="name">{text(c.name)}</th>' for c in curves.values())
    body = ""
    first = next(iter(curves.values()))
    for shown in _SHOWN:
        i = int(np.argmin(np.abs(first.x - shown)))
        cells = "".join(
            f"<td>{_number(c.net_benefit[i])}<small>{_number(c.low[i])} to {_number(c.high[i])}</small></td>"
            for c in curves.values()
        )
        body += f'<tr><th scope="row">{shown:.0%}</th>{cells}<td>{_number(first.treat_all[i])}</td></tr>'
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Net benefit"><table class="decisions">'
        "<caption>Net benefit per case</caption><thead><tr>"
        f'<th class="text" scope="col">threshold probability</th>{heads}<th scope="col">everyone</th></tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _number(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def _cheapest_words(result: Any, prices: Mapping[str, float], *, heading: bool = True) -> str:
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
    words = f'<p class="note">Where {text(costs)}:</p>{said}'
    return f"<section><h2>What do errors cost?</h2>{words}</section>" if heading else words
