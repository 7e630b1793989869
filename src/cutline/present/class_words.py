"""What an evaluation or a comparison of several classes says in sentences; the command line and the page share them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..class_evaluation import class_notices
from ..errors import PYTHON, Terms
from ..table import pluralize

if TYPE_CHECKING:
    from ..class_comparison import ClassComparison
    from ..class_evaluation import ClassEvaluation
    from ..estimate import Estimate


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
            f"{model} predicts the right class in {_percent(right)} of the cases{_between(right)}; always predicting "
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


def class_comparison_answer(comparison: ClassComparison, measure: str = "accuracy") -> list[str]:
    """Which model is best by a measure (the first one, where that was not evaluated), and how sure that is."""
    first = next(iter(comparison.evaluations.values()))
    verdict = comparison.verdict(measure if measure in first else next(iter(comparison.specs)))
    said = [f"{verdict.best} has the best {verdict.measure}, {_plain(verdict.value)}; {verdict.sentence}."]
    for name, gap in verdict.tested.items():
        said.append(
            f"{verdict.best} − {name}: {gap.difference:.3f} ({gap.level:.0%} interval {gap.low:.3f} to {gap.high:.3f}, "
            f"adjusted p {gap.p_adjusted:.2g})."
        )
    return said


def _percent(e: Estimate) -> str:
    return f"{e.value:.1%}"


def _between(e: Estimate) -> str:
    return f" ({e.level:.0%} interval {e.low:.1%} to {e.high:.1%})" if e.low == e.low else ""


def _plain(e: Estimate) -> str:
    return f"{e.value:.4g}" + (f" ({e.low:.4g} to {e.high:.4g})" if e.low == e.low else "")


def abstention_sentence(ev: ClassEvaluation, share: float = 0.5) -> str:
    """What answering only the most confident cases would give."""
    half = ev.risk_coverage().at(share)
    return (
        f"Of the most confident {half['coverage']:.0%} of the cases, {1.0 - half['risk']:.1%} are right "
        f"({ev.settings.level:.0%} interval {1.0 - half['high']:.1%} to {1.0 - half['low']:.1%})."
    )
