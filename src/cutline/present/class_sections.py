"""Several classes in words, tables and pictures: sentences, the confusion matrix, each class, risk and coverage."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..class_evaluation import class_notices
from ..errors import PYTHON, Terms
from ..table import Markup, count, escaped, format_value, html_table, pluralize
from .inline import Picture, interval_bar, side_by_side
from .palette import colour
from .words import between

if TYPE_CHECKING:
    from ..class_comparison import ClassComparison
    from ..class_evaluation import ClassEvaluation, Confusion
    from ..decide.abstention import RiskCoverage
    from ..estimate import Estimate

MOST_CELLS = 30  # classes whose matrix is shown cell by cell
MOST_ROWS = 60  # classes in a table
_HEADS = {"f1": "F1", "roc_auc": "AUC", "average_precision": "average precision"}
_OF_CLASS = ("precision", "recall", "f1", "roc_auc", "average_precision")


def class_evaluation_html(ev: ClassEvaluation) -> str:
    """Measures with their intervals as bars, the confusion matrix, and risk against coverage."""
    table = measure_rows_html(ev)
    return f"<div><p>{escaped(ev.headline())}</p>{confidence_pictures(ev)}{table}{confusion_table(ev.confusion)}</div>"


def confidence_pictures(ev: ClassEvaluation) -> str:
    """Risk and coverage, and the calibration of the top class, where the scores allow them."""
    pictures = []
    if ev.sample.matrix is not None:
        pictures.append(risk_picture(ev.risk_coverage()))
    if ev.sample.are_probabilities:
        pictures.append(calibration_picture(ev))
    return side_by_side(pictures)


def class_comparison_html(comparison: ClassComparison) -> str:
    """All models side by side, and their differences."""
    table = html_table(comparison.table.to_dicts(), comparison.table.columns)
    shown = ["a", "b", "measure", "difference", "low", "high", "p_adjusted", "reading"]
    rows = [{name: row[name] for name in shown} for row in comparison.differences]
    return f"<div><p>{escaped(comparison.headline())}</p>{table}{html_table(rows, shown)}</div>"


def measure_rows_html(ev: ClassEvaluation) -> str:
    """The measures of an evaluation, each with a bar on its scale."""
    rows: list[dict[str, Any]] = []
    for row, spec, e in zip(ev.reading_rows(), ev.specs.values(), ev.estimates.values(), strict=True):
        low, high = spec.range
        if not np.isfinite(low) and high == 1.0:
            low = -1.0 if e.low != e.low or e.low >= -1.0 else low  # kappa and its like: worse than chance is rare
        scaled = np.isfinite(low) and np.isfinite(high)
        bar = interval_bar(e.value, e.low, e.high, (low, high)) if scaled else Markup("")
        line = {"measure": row["measure"], "": row[""], "value": row["value"], "on its scale": bar}
        rows.append({**line, **{name: row[name] for name in ("interval", "note") if name in row}})
    return html_table(rows, list(rows[0]) if rows else [], texts=("measure", "note"))


def confusion_table(confusion: Confusion) -> str:
    """The matrix as a heat map: a darker cell holds a larger share of its real class."""
    k = len(confusion.labels)
    if k > MOST_CELLS:
        return (
            f"<p>The matrix of {pluralize(k, 'class', 'classes')} is too large to be read cell by cell; "
            "most_confused() lists where they are mistaken for each other.</p>"
        )
    shares = confusion.shares
    head = "".join(f'<th scope="col">{escaped(label)}</th>' for label in confusion.labels)
    lines = []
    for a, real in enumerate(confusion.labels):
        cells = "".join(_cell(confusion, shares, a, b) for b in range(k))
        total = count(float(confusion.counts[a].sum()))
        lines.append(f'<tr><th scope="row">{escaped(real)}</th>{cells}<td>{total}</td></tr>')
    caption = "Real class (rows) by predicted class (columns): cases; colour: share of the real class"
    return (
        f'<div class="wide"><table class="confusion"><caption>{caption}</caption><thead><tr><th></th>{head}'
        f"<th>all</th></tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def _cell(confusion: Confusion, shares: Any, a: int, b: int) -> str:
    share = float(np.nan_to_num(shares[a, b]))
    paint = "0,114,178" if a == b else "213,94,0"  # right in blue, wrong in orange
    low, high = confusion.low[a, b], confusion.high[a, b]
    within = f" ({confusion.level:.0%} interval {low:.1%} to {high:.1%})" if low == low else ""
    title = f"{confusion.labels[a]} predicted as {confusion.labels[b]}: {share:.1%}{within}"
    ink = "#fff" if share > 0.6 else "inherit"
    style = f"background:rgba({paint},{0.95 * share:.3f});color:{ink};text-align:right"
    return f'<td style="{style}" title="{escaped(title)}">{count(float(confusion.counts[a, b]))}</td>'


def per_class_html(ev: ClassEvaluation) -> str:
    """Each class against the rest; values with their intervals."""
    rows = []
    for row in ev.per_class[:MOST_ROWS]:
        line = {"class": row["class"], "cases": count(row["cases"]), "predicted": count(row["predicted"])}
        for name in _OF_CLASS:
            if name in row:
                line[_HEADS.get(name, name)] = _with_interval(row[name], row[f"{name}_low"], row[f"{name}_high"])
        rows.append(line)
    left = len(ev.per_class) - MOST_ROWS
    more = f"<p>and {pluralize(left, 'more class', 'more classes')}</p>" if left > 0 else ""
    caption = f"With {ev.settings.level:.0%} intervals"
    return f'<div class="wide">{html_table(rows, list(rows[0]), caption, texts=("class",))}</div>{more}'


def _with_interval(value: float, low: float, high: float) -> str:
    within = f"<small>{format_value(low)}–{format_value(high)}</small>" if low == low else ""
    return Markup(f"{format_value(value)}{within}" if value == value else "–")


def risk_picture(curve: RiskCoverage) -> Picture:
    """Error rate among the answered, by the share answered."""
    thin = curve.thinned(160)
    top = max(0.05, float(np.max(thin.high[len(thin) // 10 :])))
    words = (
        f"Error rate among the answered: {curve.at(1.0)['risk']:.1%} if all are answered, "
        f"{curve.at(0.5)['risk']:.1%} of the most confident half"
    )
    picture = Picture("Errors by coverage", words, (0.0, 1.0), (0.0, top), "share answered", heights=True)
    picture.band(thin.coverage, thin.low, np.minimum(thin.high, top), colour(0))
    picture.line(thin.coverage, np.minimum(thin.risk, top), colour(0))
    return picture


def calibration_picture(ev: ClassEvaluation) -> Picture:
    """How often the predicted class is right, by the confidence in it."""
    table = ev.calibration()
    words = "Share of right predictions by confidence: " + ", ".join(
        f"{row['confidence']:.0%}: {row['right']:.0%}" for row in table
    )
    picture = Picture("Confidence and right answers", words, (0.0, 1.0), (0.0, 1.0), "confidence")
    picture.line([0.0, 1.0], [0.0, 1.0], faint=True, dashes=(2, 2))
    picture.band(table.column("confidence"), table.column("low"), table.column("high"), colour(0))
    picture.line(table.column("confidence"), table.column("right"), colour(0))
    return picture


def class_answer(ev: ClassEvaluation, terms: Terms = PYTHON) -> list[str]:
    """The answer in a few sentences: how often it is right, what it confuses, whether to believe its confidence."""
    f = ev.facts
    said = [
        f"{pluralize(f['rows'], 'case')} of {pluralize(f['classes'], 'class', 'classes')}; the rarest, "
        f"{f['smallest_class']}, has {pluralize(f['smallest_size'], 'case')}."
    ]
    if "accuracy" in ev:
        right = ev["accuracy"]
        model = "The model" if ev.name == "model" else ev.name
        said.append(
            f"{model} predicts the right class in {right.value:.1%} of the cases{between(right)}; always predicting "
            f"{f['largest_class']} would be right in {f['largest_share']:.1%}."
        )
    pairs = ev.most_confused(1)
    if len(pairs):
        worst = pairs[0]
        said.append(
            f"The most common error is to predict {worst['predicted']} for {worst['class']}: "
            f"{pluralize(worst['cases'], 'case')}, {worst['share_of_class']:.1%} of {worst['class']}."
        )
    if "overconfidence" in ev and math.isfinite(ev["overconfidence"].low):
        gap = ev["overconfidence"]
        if gap.low > 0 or gap.high < 0:
            way = "above" if gap.value > 0 else "below"
            said.append(
                f"Its confidence in the predicted class is on average {abs(gap.value) * 100:.1f} percentage points "
                f"{way} its accuracy."
            )
    if f["tied_predictions"]:
        tied = pluralize(f["tied_predictions"], "case has", "cases have")
        said.append(f"{tied} the highest score in several columns; the first of them counts as the prediction.")
    return [*said, *class_notices([ev], terms)]


def class_comparison_answer(comparison: ClassComparison, terms: Terms = PYTHON) -> list[str]:
    """Which model is best by the accuracy (the first measure, where that was not evaluated), and how sure that is."""
    verdict = comparison.verdict("accuracy" if "accuracy" in comparison.first else next(iter(comparison.specs)))
    said = [f"{verdict.best} has the best {verdict.measure}, {_plain(verdict.value)}; {verdict.sentence}."]
    for name, gap in verdict.tested.items():
        said.append(
            f"{verdict.best} − {name}: {gap.difference:.3f} ({gap.level:.0%} interval {gap.low:.3f} to {gap.high:.3f}, "
            f"adjusted p {gap.p_adjusted:.2g})."
        )
    return [*said, *class_notices(list(comparison.evaluations.values()), terms)]


def _plain(e: Estimate) -> str:
    return f"{e.value:.4g}" + (f" ({e.low:.4g} to {e.high:.4g})" if e.low == e.low else "")


def abstention_sentence(ev: ClassEvaluation) -> str:
    """What answering only the most confident cases would give."""
    half = ev.risk_coverage().at(0.5)
    return (
        f"Of the most confident {half['coverage']:.0%} of the cases, {1.0 - half['risk']:.1%} are right "
        f"({ev.settings.level:.0%} interval {1.0 - half['high']:.1%} to {1.0 - half['low']:.1%})."
    )
