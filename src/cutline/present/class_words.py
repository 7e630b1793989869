"""Several classes in sections: the answer, the confusion matrix, each class, risk and coverage, every measure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from ..class_evaluation import MOST_ROWS, class_notices
from ..errors import PYTHON, Terms
from ..estimate import Estimate
from ..table import Figure, Section, Table, count, percentage, pluralize
from .render import shaded
from .words import (
    between,
    by_measure,
    difference_table,
    in_clusters,
    measure_rows,
    short_comparison,
    short_rows,
)

if TYPE_CHECKING:
    from ..class_evaluation import ClassComparison, ClassEvaluation, Confusion

MOST_CELLS = 30  # classes whose matrix is shown cell by cell
_FEW_CLASSES = 15  # whose matrix fits on a screen
_FEW_COLUMNS = 5  # classes whose matrix fits beside precision and recall
_USUAL_WIDTH = 80  # columns of a terminal
_SHORT_ROWS = 6  # classes in the short text
_SHORT_MEASURES = ("accuracy", "balanced_accuracy", "macro(f1)", "hand_till_auc", "log_loss")
_OF_CLASS = ("precision", "recall", "f1", "roc_auc", "average_precision")
_RIGHT, _WRONG = "0,114,178", "213,94,0"  # blue and orange, which colour-blind eyes tell apart


def class_sections(
    ev: ClassEvaluation,
    *,
    terms: Terms = PYTHON,
    all_measures: bool = False,
    detail: bool = False,
    measures: Sequence[str] = (),
    source: Mapping[str, Any] | None = None,
) -> Iterator[Section]:
    """The sections of an evaluation of several classes; in ``detail``, what a page adds.

    ``measures``: only these are of interest.
    """
    yield Section("answer", class_answer(ev, terms))
    if detail:
        yield _picture(ev)
    if not (all_measures or detail):
        if not measures:
            # the confusion matrix of a few classes, and the classes with the lowest F1
            lowest = sorted(ev.per_class, key=lambda row: row["f1"] if row["f1"] == row["f1"] else -1.0)[:_SHORT_ROWS]
            lines = []
            for row in lowest:
                shares = {name: row[name] for name in ("precision", "recall")}
                cells = {name: f"{100 * x:.3g}%" if x == x else "–" for name, x in shares.items()}
                cells["F1"] = f"{row['f1']:.3f}" if row["f1"] == row["f1"] else "–"
                lines.append({"class": str(row["class"]), "cases": count(row["cases"]), **cells})
            few = len(lowest) < len(ev.per_class)
            title = f"The {len(lowest)} of {len(ev.per_class)} classes with the lowest F1" if few else "Each class"
            tables = [Table(lines, title)]
            if len(ev.classes) <= _FEW_COLUMNS:  # the matrix, and beside it what each class has, where there is room
                whole, beside = confusion_table(ev.confusion), {line["class"]: line for line in lines}
                one = Table([{**row, **beside[row["class"]]} for row in whole], whole.title)
                wide = len(repr(one).splitlines()[2]) > _USUAL_WIDTH
                tables = [whole, *tables] if wide else [one]
            yield Section("classes", tables)
        keys = [key for key in ev.specs if measures or key in _SHORT_MEASURES]
        yield Section("measures", [Table(short_rows(ev, keys or list(ev.specs)))])
    elif not measures:
        matrix = [confusion_table(ev.confusion)] if len(ev.classes) <= (MOST_CELLS if detail else _FEW_CLASSES) else []
        if detail or matrix:
            pairs = _most_confused(ev) if detail else []
            yield Section("confusion", [*matrix, *pairs], "Which classes are confused")
        rows: list[dict[str, Any]] = []
        for row in ev.per_class[:MOST_ROWS]:
            ends = {name: [row[name + end] for end in ("", "_low", "_high")] for name in _OF_CLASS if name in row}
            values = {name: Estimate(name, *three) for name, three in ends.items()}
            rows.append({"class": str(row["class"]), "cases": count(row["cases"]), **values})
        left = len(ev.per_class) - MOST_ROWS
        if left > 0:
            rows.append(dict.fromkeys(rows[0], "") | {"class": f"… and {left} more (JSON has all)"})
        yield Section("classes", [Table(rows, "Each class against the rest")], "Each class")
    if ev.sample.matrix is not None:  # what answering only where it is confident would give
        figures = [Figure("risk_coverage", ev.risk_coverage())]
        figures += [Figure("confidence", ev)] if ev.sample.are_probabilities else []
        yield Section("risk", figures, "Error rate if the model may abstain")
    elif detail:
        said = ["Risk and coverage need scores; these are predictions alone."]
        yield Section("risk", said, "Error rate if the model may abstain")
    if all_measures or detail:
        yield Section("measures", [Table(measure_rows(ev), group="family")], "All measures")
    if ev.by_segment is not None:
        yield from islice(ev.by_segment.sections(terms=terms, all_measures=all_measures), 1, None)
    if detail:
        yield _facts(ev, source)


def _picture(result: Any) -> Section:
    """How good each model is, by the measures of which more is better."""
    keys = [key for key in _SHORT_MEASURES if key in result.specs and result.specs[key].better == "higher"]
    return Section("models", [Figure("forest", result, {"measures": keys})] if keys else [], "How good is it?")


def _facts(ev: ClassEvaluation, source: Mapping[str, Any] | None) -> Section:
    known = {**(source or {}), **{name: ev.facts[name] for name in ("rows", "classes", "scores")}}
    return Section("facts", [Table({"": name, "what": str(value)} for name, value in known.items())], "The data")


def confusion_table(confusion: Confusion) -> Table:
    """The matrix as a heat map: a darker cell is a larger share of its real class."""
    shares, labels = np.nan_to_num(confusion.shares), confusion.labels
    rows = []
    for a, real in enumerate(labels):
        row = {"class": str(real)}
        for b, predicted in enumerate(labels):
            low, high = confusion.low[a, b], confusion.high[a, b]
            within = f" ({confusion.level:.0%} interval {percentage(low)} to {percentage(high)})" if low == low else ""
            words = f"{real} predicted as {predicted}: {percentage(float(shares[a, b]))}{within}"
            paint = _RIGHT if a == b else _WRONG
            row[str(predicted)] = shaded(count(float(confusion.counts[a, b])), paint, float(shares[a, b]), words)
        rows.append(row)
    return Table(rows, "Real class (rows) by predicted class (columns)")


def _most_confused(ev: ClassEvaluation) -> list[str | Table]:
    many = len(ev.classes) > MOST_CELLS
    large = f"The matrix of {pluralize(len(ev.classes), 'class', 'classes')} is too large to be read cell by cell."
    pairs = ev.most_confused(10)
    if not len(pairs):
        return ["No case was predicted as a class that is not its own."]
    shares = [name for name, value in pairs[0].items() if isinstance(value, float) and name != "cases"]
    rows = [{n.replace("_", " "): percentage(v) if n in shares else v for n, v in row.items()} for row in pairs]
    return [*([large] if many else []), Table(rows, "Most confused")]


def class_comparison_sections(
    comparison: ClassComparison,
    *,
    terms: Terms = PYTHON,
    all_measures: bool = False,
    pairs: bool = False,
    dropped: int = 0,
    detail: bool = False,
    source: Mapping[str, Any] | None = None,
) -> Iterator[Section]:
    """The sections of a comparison on several classes; ``dropped``: rows that were left out.

    ``pairs`` shows the difference of each pair of models. In ``detail``, what a page adds: a picture, and what each
    model confuses.
    """
    facts = comparison.first.facts
    classes = pluralize(facts["classes"], "class", "classes")
    rows = f"{pluralize(facts['rows'], 'row')}{in_clusters(comparison.first)}, {classes}"
    left = f"; {pluralize(dropped, 'row')} without label or score left out" if dropped else ""
    models = f"{pluralize(len(comparison.evaluations), 'model')}: {rows}{left}"
    yield Section(
        "answer",
        [*by_measure(comparison, "accuracy"), *class_notices(list(comparison.evaluations.values()), terms), models],
    )
    short = [key for key in comparison.specs if key in _SHORT_MEASURES]
    if len(comparison.specs) <= len(_SHORT_MEASURES) or not short:
        short = list(comparison.specs)
    if detail:
        yield _picture(comparison)
    if all_measures or detail:
        short = list(comparison.specs)
        yield Section("measures", [Table(comparison.table, "Models side by side")])
    else:
        yield Section("measures", short_comparison(comparison, short))
    if pairs or all_measures or detail:
        tested, level = [row for row in comparison.differences if row["measure"] in short], comparison.settings.level
        yield Section("pairs", difference_table(tested, "Differences between models", level))
        if len(comparison.first.classes) <= MOST_ROWS:
            of_class = comparison.per_class()
            yield Section("classes", difference_table(of_class, of_class.title, level, "class"))
    if comparison.by_segment is not None:
        yield from islice(comparison.by_segment.sections(terms=terms, all_measures=all_measures), 1, None)
    if detail:
        for k, ev in enumerate(comparison.evaluations.values()):
            matrix = [confusion_table(ev.confusion)] if len(ev.classes) <= MOST_CELLS else []
            yield Section(f"confusion-{k}", [*matrix, *_most_confused(ev)], f"Which classes {ev.name} confuses")
        yield _facts(comparison.first, source)


def class_answer(ev: ClassEvaluation, terms: Terms = PYTHON) -> list[str]:
    """The answer in a few sentences: how often it is right, what it confuses, whether to believe its confidence."""
    f = ev.facts
    left = f" {pluralize(ev.dropped, 'row')} without label or score left out." if ev.dropped else ""
    said = []
    if "accuracy" in ev:
        right = ev["accuracy"]
        model = "The model" if ev.name == "model" else ev.name
        said.append(
            f"{model} predicts the right class in {percentage(right.value)} of the cases{between(right)}; "
            f"always predicting {f['largest_class']} would be right in {percentage(f['largest_share'])}."
        )
    said.append(
        f"{pluralize(f['rows'], 'case')} of {pluralize(f['classes'], 'class', 'classes')}{in_clusters(ev)}; the "
        f"rarest, {f['smallest_class']}, has {pluralize(f['smallest_size'], 'case')}.{left}"
    )
    if f["classes"] == 2 and ev.sample.matrix is not None:
        said.append("Give the score of the positive class alone for ROC AUC, thresholds and places.")
    pairs = ev.most_confused(1)
    if len(pairs):
        worst = pairs[0]
        said.append(
            f"The most common error is to predict {worst['predicted']} for {worst['class']}: "
            f"{pluralize(worst['cases'], 'case')}, {percentage(worst['share_of_class'])} of {worst['class']}."
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
