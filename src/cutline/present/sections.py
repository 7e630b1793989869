"""The parts of the page that are text and tables. What comes from data passes through ``text``, which escapes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..table import count
from ..table import escaped as text
from ..table import format_value as show_plain
from .charts import TITLES
from .palette import colour, dash, ink_on
from .words import ARROWS, FAMILY_TITLES, determined_by

if TYPE_CHECKING:
    from ..estimate import Estimate
    from ..evaluation import Evaluation

_PROSE = ("segment", "measure", "models", "reading", "note", "rule", "four fifths", "first clear change")


def format_value(value: Any) -> str:
    """A number as people read it, with a real minus."""
    return show_plain(value).replace("-", "−")


def section(name: str, title: str, inside: str) -> str:
    """A section of the page under its title."""
    head = f'<h2 id="{name}-title">{title}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-title">{head}{inside}</section>'


def columns(*names: Any, kind: str = "") -> str:
    """Headings of columns; ``kind``: ``text`` for words, ``name`` for what a user has named."""
    mark = f' class="{kind}"' if kind else ""
    return "".join(f'<th scope="col"{mark}>{text(name)}</th>' for name in names)


def cells(*values: str) -> str:
    """Cells of a row."""
    return "".join(f"<td>{value}</td>" for value in values)


def grid(heads: str, body: str, label: str = "", *, kind: str = "", caption: str = "", low: bool = False) -> str:
    """A table that scrolls where a screen is narrow, or where it is to be ``low``; ``label`` says what it shows."""
    region = f' tabindex="0" role="region" aria-label="{text(label)}"' if label else ""
    region += ' style="max-height:24rem"' if low else ""
    mark, said = f' class="{kind}"' if kind else "", f"<caption>{caption}</caption>" if caption else ""
    head = f"<thead><tr>{heads}</tr></thead>" if heads else ""
    return f'<div class="scroll"{region}><table{mark}>{said}{head}<tbody>{body}</tbody></table></div>'


def rows_table(title: str, rows: Sequence[Mapping[str, Any]], label: str = "") -> str:
    """Rows as a table under its title, which narrow screens show row by row; empty where there are none."""
    if not rows:
        return ""
    names = [name for name in rows[0] if name != "note" or any(row[name] for row in rows)]
    head = "".join(columns(name, kind="text" if name in _PROSE else "") for name in names)

    def cell(row: Mapping[str, Any], name: str) -> str:
        prose = name in _PROSE
        shown = show_plain(row[name]) if prose else format_value(row[name])
        kind = ' class="text name"' if prose else ""
        return f'<td{kind} data-name="{text(name)}">{text(shown)}</td>'

    body = "".join(f"<tr>{''.join(cell(row, name) for name in names)}</tr>" for row in rows)
    return f"<h3>{text(title)}</h3>" + grid(head, body, label or title, kind="pairs")


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
        empty = cells(" <small> </small>" if small else " ") * len(evaluations)
        mark = f' id="row-{key}" hidden' if key == "profit" or key.startswith(("range-", "there-")) else ""
        head = f'<th scope="row">{name}<small>{text(meaning)}</small></th>'
        rows += f'<tr data-row="{key}"{mark}>{head}{empty}</tr>'
    if several:
        rows += f'<tr data-row="leads"><th scope="row">Most hits here</th>{cells(" ") * len(evaluations)}</tr>'
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
    title = TITLES.get(kind, kind) + (f": {model}" if model else "")
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
    return "<h3>For which goal</h3>" + grid(columns("goal", "model", "why", kind="text"), rows, kind="advice")


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
    heads = columns("from", "to") + columns("leads", kind="text") + columns("more hits than the next")
    return (
        f'<h3>Who leads at which quota</h3><div class="strip" role="img" aria-label="{text(spoken)}">{spans}</div>'
        f'<div class="strip-ends soft"><span>1 place</span><span>{n:,}</span></div>'
        '<p class="note">Grey: no clear leader. Any lead there could be chance.</p>'
        f"<details><summary>As a table, with how much each leader is ahead</summary>{grid(heads, lines)}</details>"
    )


def measure_table(evaluations: Sequence[Evaluation]) -> str:
    """Every measure with interval and explanation; one row for one number under many names."""
    first = evaluations[0]
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
        found = [ev.estimates.get(key) for ev in evaluations]
        shown = cells(*("–" if e is None else estimate_cell(e, with_method=len(methods) > 1) for e in found))
        how = f" <small>interval: {text(methods.pop())}</small>" if len(methods) == 1 else ""
        how += f" <small>{text(one.caution)}</small>" if one.caution and how else ""
        name = f'{text(one.title)} <span class="soft">{ARROWS[one.better]} {text(key)}</span>{how}'
        body += (
            f'<tr><th scope="row"><details><summary>{name}</summary><dl class="explain">{explained}</dl></details></th>'
            f"{shown}</tr>"
        )
    heads = columns("measure", kind="text") + columns(*(ev.name for ev in evaluations))
    note = "<p class='note'>Open a name for its meaning, formula and source. ↑ higher is better, ↓ lower is better.</p>"
    return section("measures", "All measures", note + grid(heads, body, "All measures", kind="measures"))


def estimate_cell(e: Estimate, *, with_method: bool = False) -> str:
    """A value with its interval below it, or why there is none."""
    if e.value != e.value:
        return f'–<small class="why">{text(e.reason)}</small>'
    method = f"<br>{text(e.method)}" if with_method else ""
    spread = f"<small>{format_value(e.low)} to {format_value(e.high)}{method}</small>" if e.low == e.low else ""
    return f"{format_value(e.value)}{spread}"


def at_threshold(evaluations: Sequence[Evaluation]) -> str:
    """The confusion matrix of each model at its threshold; nothing where the scores have none."""
    rows = ""
    for ev in evaluations:
        if ev.threshold is not None:
            p = ev.at(threshold=ev.threshold)
            shown = cells(f"{p.threshold:g}", *(count(value) for value in (p.tp, p.fp, p.fn, p.tn)))
            rows += f'<tr><th scope="row" class="name">{text(ev.name)}</th>{shown}</tr>'
    if not rows:
        return ""
    heads = columns("threshold", "true positives", "false positives", "false negatives", "true negatives")
    return section("cut", "At the threshold", grid(columns("model", kind="text") + heads, rows))


def data_facts(evaluations: Sequence[Evaluation], source: Mapping[str, Any]) -> str:
    """Rows, positives, ties and how much they matter."""
    first = evaluations[0].facts
    lines = [
        *source.items(),
        ("rows", f"{first['rows']:,}"),
        ("positives", f"{first['positives']:,} ({first['share_positive']:.1%})"),
    ]
    shared = "".join(f'<tr><th scope="row">{text(k)}</th><td class="text name">{text(v)}</td></tr>' for k, v in lines)
    body = ""
    for ev in evaluations:
        f = ev.facts
        tied = f["tied_pairs"]
        span = "–"
        if tied == tied and "roc_auc" in ev:
            auc = ev["roc_auc"].value
            span = f"{format_value(auc - tied / 2)} to {format_value(auc + tied / 2)}" if tied else format_value(auc)
        pairs = "–" if tied != tied else f"{tied:.2%}"
        shown = cells(f"{f['distinct_scores']:,}", count(f["largest_tie"]), pairs, span)
        body += f'<tr><th scope="row" class="name">{text(ev.name)}</th>{shown}</tr>'
    heads = columns("distinct scores", "largest tie", "tied pairs", "AUC range from ties")
    ties = grid(columns("model", kind="text") + heads, body, caption="Ties: cases with the same score")
    note = (
        "<p class='note'>A quota that falls inside a tie takes a proportional share of the tied cases, so hits can "
        "be fractions; the table shows the best and the worst possible draw.</p>"
    )
    return section("facts", "The data", f'<div class="two">{grid("", shared)}{ties}</div>{note}')


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
    return section("notes", "How to read this", f'<ul class="soft">{items}</ul>')
