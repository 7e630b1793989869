"""The parts of the page that are text and tables. What comes from data passes through ``text``, which escapes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..table import count
from ..table import escaped as text
from ..table import format_value as show_plain
from .charts import TITLES
from .palette import colour, dash, ink_on
from .words import ARROWS, FAMILY_TITLES, determined_by, threshold_of

if TYPE_CHECKING:
    from ..evaluation import Evaluation


def format_value(value: Any) -> str:
    """A number as people read it, with a real minus."""
    return show_plain(value).replace("-", "−")


def _swatch(index: int) -> str:
    dashes = " ".join(map(str, dash(index))) or "none"
    return (
        '<svg class="swatch" viewBox="0 0 26 10" aria-hidden="true">'
        f'<line x1="0" y1="5" x2="26" y2="5" stroke="{colour(index)}" stroke-width="3" stroke-dasharray="{dashes}"/>'
        "</svg>"
    )


_AT_ROWS = (
    ("hits", "Expected hits", "positives among those who get a place, with interval", True),
    ("next", "Hits next time", "in the next group like this one, chosen the same way", False),
    ("threshold", "Threshold", "everyone with a higher score gets a place", True),
    ("missed", "Missed positives", "positives without a place: false negatives", False),
    ("wrong", "Places without a hit", "negatives with a place: false positives", False),
    ("spared", "Negatives left out", "true negatives", False),
    ("rate", "Hit rate", "share of the places that go to positives", True),
    ("qrecall", "Qrecall", "share of the positives that get a place: recall", True),
    ("lift", "Lift", "times as many hits as a random choice", False),
    ("profit", "Profit", "value × hits − cost × places", True),
    ("range-rate", "Hit rate over the range", "mean over the quotas of the range", True),
    ("range-qrecall", "Qrecall over the range", "mean over the quotas of the range", True),
    ("there-rate", "Hit rate there", "where positives are as frequent as you set", False),
    ("there-qrecall", "Qrecall there", "where positives are as frequent as you set", False),
    ("there-lift", "Lift there", "where positives are as frequent as you set", False),
)


def explorer(
    evaluations: Sequence[Evaluation], figures: str, *, stops: int, start: int, quota: int, money: Mapping[str, Any]
) -> str:
    """Slider, number fields, table at the chosen quota, and the charts that follow it."""
    several = len(evaluations) > 1
    boxes = "".join(
        f'<label><input type="checkbox" checked>{_swatch(k)}<span class="name">{text(ev.name)}</span></label>'
        for k, ev in enumerate(evaluations)
    )
    models = f'<fieldset class="models"><legend>Models to show</legend>{boxes}</fieldset>' if several else ""
    heads = "".join(f'<th scope="col" data-model>{_swatch(k)} {text(ev.name)}</th>' for k, ev in enumerate(evaluations))
    rows = ""
    for key, name, meaning, small in _AT_ROWS:
        inner = " <small> </small>" if small else " "
        cells = f"<td>{inner}</td>" * len(evaluations)
        mark = f' id="row-{key}" hidden' if key == "profit" or key.startswith(("range-", "there-")) else ""
        head = f'<th scope="row">{name}<small>{text(meaning)}</small></th>'
        rows += f'<tr data-row="{key}"{mark}>{head}{cells}</tr>'
    if several:
        rows += '<tr data-row="leads"><th scope="row">Most hits here</th>' + "<td> </td>" * len(evaluations) + "</tr>"
    n = evaluations[0].facts["rows"]

    def field(name: str, label: str) -> str:
        given = money.get(name)
        value = "" if given is None else f' value="{text(f"{given:.12g}")}"'
        return f'<div><label for="{name}">{label}</label><input type="number" id="{name}" step="any"{value}></div>'

    return f"""<section id="explorer" aria-labelledby="explorer-title">
<h2 id="explorer-title">How many places?</h2>
<div class="controls" role="group" aria-label="Choose the quota">
<div class="slider"><label for="slider">Places (arrow keys move by one step)</label>
<input type="range" id="slider" min="0" max="{stops - 1}" step="1" value="{start}"></div>
<div><label for="quota">Number</label><input type="number" id="quota" min="1" max="{n}" step="1" value="{quota}">
<span class="soft" id="share"></span></div>
<div class="range"><label for="range-from">or a range, if it is not known</label>
<input type="number" id="range-from" min="1" max="{n}" step="1" aria-label="Places, from"> to
<input type="number" id="range-to" min="1" max="{n}" step="1" aria-label="Places, to"></div>
<div><label for="goal">or set a target</label><select id="goal"><option value="">–</option>
<option value="recall">recall of at least</option><option value="precision">precision of at least</option>
<option value="specificity">specificity of at least</option>
<option value="fpr">false positive rate of at most</option></select>
<input type="number" id="goal-value" min="0" max="100" step="any" value="80" aria-label="Per cent"> %</div>
<div><label for="prevalence">Share of positives elsewhere</label>
<input type="number" id="prevalence" min="0" max="100" step="any"> %</div>
{field("cost", "Cost per place")}{field("value", "Value per hit")}
<div><label><input type="checkbox" id="log"{" checked" if money["log"] else ""}> logarithmic axis</label></div>
{models}</div>
<p class="now" id="now" aria-live="polite"></p>
<p class="note" id="exact" aria-live="polite"></p>
<p class="note" id="promise" aria-live="polite"></p>
<p class="note" id="range-words" aria-live="polite"></p>
<p class="note" id="there-words" aria-live="polite"></p>
<div class="scroll" tabindex="0" role="region" aria-label="Figures at the chosen quota">
<table id="at"><thead><tr><th class="text" scope="col">At this quota</th>{heads}</tr></thead>
<tbody>{rows}</tbody></table></div>
<p id="best" hidden><span id="best-words"></span>
<button type="button" id="best-go" class="screen">Go there</button></p>
<div class="charts over-quota">{figures}</div>
<p class="note">Dotted: chance. Dashed grey: a perfect list. Shaded: interval of the model with most hits at the chosen
quota. Click in a chart to choose a quota.</p>
</section>"""


def figure(name: str, kind: str, chart: str, alternative: str, model: str = "", *, hidden: bool = False) -> str:
    """One chart with its title and its alternative in words; ``model`` is said in the title where it shows one."""
    title = f"{TITLES[kind]}: {model}" if model else TITLES[kind]
    return (
        f'<figure id="figure-{name}"{" hidden" if hidden else ""}><h3 class="name">{text(title)}</h3>'
        f'<div class="chart" id="chart-{name}" role="img" aria-label="{text(title + ". " + alternative)}">{chart}</div>'
        f"<figcaption>{text(alternative)}</figcaption></figure>"
    )


def advice(recommendations: Sequence[Any]) -> str:
    """Which model for which goal, in words."""
    if not recommendations:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{text(r.goal)}</th><td class="text name">{text(r.model)}{"" if r.sure else "?"}'
        f'</td><td class="text name">{text(r.text)}</td></tr>'
        for r in recommendations
    )
    return (
        '<h3>For which goal</h3><div class="scroll"><table class="advice"><thead><tr>'
        '<th class="text" scope="col">goal</th><th class="text" scope="col">model</th>'
        f'<th class="text" scope="col">why</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )


def dominance(rows: Sequence[Mapping[str, Any]], names: Sequence[str], n: int) -> str:
    """Which model clearly leads from which quota to which, as a strip and as a table; grey where none does."""
    spans, lines = "", ""
    for row in rows:
        leader, first, last = str(row["leader"]), int(row["from"]), int(row["to"])
        wide = (last - first + 1) / n > 0.04
        at = names.index(leader) if row["clear"] else None
        paint = "" if at is None else f";background:{colour(at)};color:{ink_on(at)}"
        spans += (
            f'<span style="flex:{last - first + 1} 1 0{paint}" '
            f'title="{text(f"{leader}: {first:,} to {last:,}")}">{text(leader) if wide else ""}</span>'
        )
        more = f"{row['more_hits']:.1f}" if row["clear"] else ""
        lines += f'<tr><td>{first:,}</td><td>{last:,}</td><td class="text">{text(leader)}</td><td>{more}</td></tr>'
    spoken = "; ".join(f"{row['leader']} from {int(row['from']):,} to {int(row['to']):,}" for row in rows[:12])
    return (
        f'<h3>Who leads at which quota</h3><div class="strip" role="img" aria-label="{text(spoken)}">{spans}</div>'
        f'<div class="strip-ends soft"><span>1 place</span><span>{n:,}</span></div>'
        '<p class="note">Grey: no clear leader. Any lead there could be chance.</p>'
        '<details><summary>As a table, with how much each leader is ahead</summary><div class="scroll"><table><thead>'
        '<tr><th scope="col">from</th><th scope="col">to</th><th class="text" scope="col">leads</th>'
        f'<th scope="col">more hits than the next</th></tr></thead><tbody>{lines}</tbody></table></div></details>'
    )


def pairwise(rows: Sequence[Mapping[str, Any]]) -> str:
    """Differences between models with intervals, adjusted p-values and a reading."""
    if not rows:
        return ""
    columns = list(rows[0])
    words = ("measure", "models", "reading")
    head = "".join(f'<th scope="col"{" class=text" if c in words else ""}>{text(c)}</th>' for c in columns)

    def cell(row: Mapping[str, Any], column: str) -> str:
        kind = ' class="text"' if column in words else ""
        return f'<td{kind} data-name="{text(column)}">{text(_minus(row[column], column))}</td>'

    body = "".join(f"<tr>{''.join(cell(row, column) for column in columns)}</tr>" for row in rows)
    return (
        '<h3>Pair by pair</h3><div class="scroll" tabindex="0" role="region" aria-label="Differences between models">'
        f'<table class="pairs"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _minus(value: Any, column: str) -> str:
    return str(value).replace("-", "−") if column in ("difference", "interval") else str(value)


def measure_table(evaluations: Sequence[Evaluation]) -> str:
    """Every measure with interval and explanation; one row for one number under many names."""
    first = evaluations[0]
    heads = "".join(f'<th scope="col">{text(ev.name)}</th>' for ev in evaluations)
    body, family = "", ""
    for key, spec in first.specs.items():
        one = spec.measure
        base = determined_by(one)
        if base is not None and any(s.measure is base for s in first.specs.values()):
            continue
        if one.family != family:
            family = one.family
            body += f'<tr class="family"><th colspan="{len(evaluations) + 1}">{FAMILY_TITLES[family]}</th></tr>'
        disguised = [
            f"{other.measure.name} ({other.measure.same_as})"
            for other in first.specs.values()
            if determined_by(other.measure) is one and other.threshold == spec.threshold
        ]
        facts = {
            "": " ".join(one.summary.partition(">>>")[0].replace("``", "").split()),
            "formula": one.formula,
            "range": f"{one.range[0]:g} to {one.range[1]:g}, {one.better} is better",
            "undefined": one.undefined,
            "proper": one.propriety,
            "same number": "; ".join(disguised),
            "source": one.reference,
        }
        explained = "".join(f"<dt>{text(k)}</dt><dd>{text(v)}</dd>" for k, v in facts.items() if v)
        methods = {ev.estimates[key].method for ev in evaluations if key in ev.estimates} - {""}
        cells = "".join(_estimate(ev, key, with_method=len(methods) > 1) for ev in evaluations)
        how = f" <small>interval: {text(methods.pop())}</small>" if len(methods) == 1 else ""
        how += f" <small>{text(one.caution)}</small>" if one.caution and how else ""
        name = f'{text(one.title)} <span class="soft">{ARROWS[one.better]} {text(key)}</span>{how}'
        body += (
            f'<tr><th scope="row"><details><summary>{name}</summary><dl class="explain">{explained}</dl></details></th>'
            f"{cells}</tr>"
        )
    return (
        '<section aria-labelledby="measures-title"><h2 id="measures-title">All measures</h2>'
        "<p class='note'>Open a name for its meaning, formula and source. ↑ higher is better, ↓ lower is better.</p>"
        '<div class="scroll" tabindex="0" role="region" aria-label="All measures"><table class="measures"><thead><tr>'
        f'<th class="text" scope="col">measure</th>{heads}</tr></thead><tbody>{body}</tbody></table></div></section>'
    )


def _estimate(ev: Evaluation, key: str, *, with_method: bool) -> str:
    e = ev.estimates.get(key)
    if e is None:
        return "<td>–</td>"
    if e.value != e.value:
        return f'<td>–<small class="why">{text(e.reason)}</small></td>'
    method = f"<br>{text(e.method)}" if with_method else ""
    spread = f"<small>{format_value(e.low)} to {format_value(e.high)}{method}</small>" if e.low == e.low else ""
    return f"<td>{format_value(e.value)}{spread}</td>"


def at_threshold(evaluations: Sequence[Evaluation]) -> str:
    """The confusion matrix of each model at its threshold; nothing where the scores have none."""
    rows = ""
    for ev in evaluations:
        threshold = threshold_of(ev)
        if threshold is None:
            continue
        p = ev.at(threshold=threshold)
        cells = "".join(f"<td>{count(value)}</td>" for value in (p.tp, p.fp, p.fn, p.tn))
        rows += f'<tr><th scope="row" class="name">{text(ev.name)}</th><td>{p.threshold:g}</td>{cells}</tr>'
    if not rows:
        return ""
    heads = ("true positives", "false positives", "false negatives", "true negatives")
    head = "".join(f'<th scope="col">{h}</th>' for h in ("threshold", *heads))
    return (
        '<section aria-labelledby="cut-title"><h2 id="cut-title">At the threshold</h2><div class="scroll"><table>'
        f'<thead><tr><th class="text" scope="col">model</th>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
        "</section>"
    )


def data_facts(evaluations: Sequence[Evaluation], source: Mapping[str, Any]) -> str:
    """Rows, positives, ties and how much they matter."""
    first = evaluations[0].facts
    lines = [
        *source.items(),
        ("rows", f"{first['rows']:,}"),
        ("positives", f"{first['positives']:,} ({first['share_positive']:.1%})"),
    ]
    shared = "".join(f'<tr><th scope="row">{text(k)}</th><td class="text name">{text(v)}</td></tr>' for k, v in lines)
    heads = ("model", "distinct scores", "largest tie", "tied pairs", "AUC range from ties")
    body = ""
    for ev in evaluations:
        f = ev.facts
        tied = f["tied_pairs"]
        span = "–"
        if tied == tied and "roc_auc" in ev:
            auc = ev["roc_auc"].value
            span = f"{format_value(auc - tied / 2)} to {format_value(auc + tied / 2)}" if tied else format_value(auc)
        cells = (f"{f['distinct_scores']:,}", count(f["largest_tie"]), "–" if tied != tied else f"{tied:.2%}", span)
        body += f'<tr><th scope="row" class="name">{text(ev.name)}</th>{"".join(f"<td>{c}</td>" for c in cells)}</tr>'
    head = "".join(f'<th scope="col"{" class=text" if k == 0 else ""}>{h}</th>' for k, h in enumerate(heads))
    return (
        '<section class="facts" aria-labelledby="facts-title"><h2 id="facts-title">The data</h2><div class="two">'
        f'<div class="scroll"><table><tbody>{shared}</tbody></table></div>'
        f'<div class="scroll"><table><caption>Ties: cases with the same score</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div></div>"
        "<p class='note'>A quota that falls inside a tie takes a proportional share of the tied cases, so hits can "
        "be fractions; the table shows the best and the worst possible draw.</p></section>"
    )


def method_notes(level: float, tolerance: float, stops: int, rows: int) -> str:
    """How the figures were made, for the reader who wants to know."""
    stored = (
        "Figures are exact for every quota."
        if stops == rows
        else f"Figures are exact for the {stops:,} quotas on the slider; other numbers use the nearest one."
    )
    lines = [
        f"Expected hits: {level:.0%} score interval for the hit rate, times the places; the cut moves with the "
        "sample, and the interval allows for that. It is about the mean; a single group varies more.",
        f"{stored} Drawn curves are thinned to within {tolerance:.1%} of each axis.",
        "At a given quota, hit rate, Qrecall and lift always rank models the same way: each is the number of hits "
        "divided by something that does not depend on the model. They differ only in averages over many quotas.",
        "Predicted positive means a score greater than the threshold.",
        "The table of measures names the method of every interval.",
    ]
    items = "".join(f"<li>{text(line)}</li>" for line in lines)
    title = '<h2 id="notes-title">How to read this</h2>'
    return f'<section aria-labelledby="notes-title">{title}<ul class="soft">{items}</ul></section>'
