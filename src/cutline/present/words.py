"""Results in sentences and in rows of words: the same on the terminal and on the page."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import combinations, islice
from typing import TYPE_CHECKING, Any

from ..catalogue.compute import DEFAULT_THRESHOLD
from ..catalogue.declare import Spec
from ..decide.error_costs import ErrorPrices
from ..decide.thresholds import find_cut
from ..errors import PYTHON, InputError, Terms, listed
from ..estimate import Estimate, Interval
from ..evaluation import notices_of
from ..inference.intervals import read_together
from ..quotas import Quotas, whole_cases
from ..table import (
    Figure,
    Section,
    Table,
    count,
    count_range,
    cut_text,
    ends,
    format_value,
    in_sentence,
    joined,
    p_value,
    percentage,
    pluralize,
    round_up,
    values_of,
    with_minus,
)
from .render import explained

if TYPE_CHECKING:
    from ..comparison import Comparison
    from ..decide.error_costs import Cheapest
    from ..decide.operating import OperatingPoint
    from ..evaluation import Evaluation
    from ..verdict import Verdict

ARROWS = {"higher": "↑", "lower": "↓"}
FAMILY_TITLES = {
    "threshold": "At the threshold",
    "probability": "Probabilities",
    "ranking": "Ranking",
    "quota": "Limited places",
    "value": "Worth",
    "classes": "Several classes",
    "other": "Other",
}
OWN_CASES = "Each has its own cases, so a difference may come from the cases."
# What a reader decides by: with a number of places, with a threshold, and between models.
_WITH_QUOTA = ("hit_rate", "qrecall", "quota_lift")
_WITH_THRESHOLD = ("recall", "precision", "specificity", "f1", "accuracy")
_ALWAYS = ("roc_auc", "average_precision", "brier_score")
_BETWEEN_MODELS = ("hit_rate", "roc_auc", "average_precision", "accuracy", "brier_score")
_FEW = 12  # measures of which a short table leaves out none
_MOST_NAMED = 3  # measures in one sentence
_SHOWN_BATCHES = 40
_MOST_RULES = 4  # models whose batches are compared with one threshold
_MOST_COLUMNS = 6  # models that stand side by side; more of them stand below each other
# measure -> how its value is written (a share, a ratio, a number), and what it is in a few words
_READ_AS = {
    "hit_rate": ("%", "of the places are hits"),
    "qrecall": ("%", "of all positives get a place"),
    "quota_lift": ("×", "as many as a random choice"),
    "recall": ("%", "of the positives are selected"),
    "precision": ("%", "of the selected are positive"),
    "specificity": ("%", "of the negatives are left out"),
    "negative_predictive_value": ("%", "of those left out are negative"),
    "false_positive_rate": ("%", "of the negatives are selected"),
    "false_negative_rate": ("%", "of the positives are left out"),
    "accuracy": ("%", "of the decisions are right"),
    "error_rate": ("%", "of the decisions are wrong"),
    "lift": ("×", "as many as a random choice"),
    "f1": ("", "balance of recall and precision"),
    "matthews_correlation": ("", "agreement; 0 is chance"),
    "roc_auc": ("", "whole list; 0.5 is chance"),
    "average_precision": ("", "mostly the top of the list"),
    "brier_score": ("", "error of the probabilities"),
    "log_loss": ("", "error of the probabilities, bits"),
    "balanced_accuracy": ("%", "mean recall of the classes"),
    "macro(f1)": ("", "mean of the classes"),
    "hand_till_auc": ("", "order between pairs of classes"),
}
# where a reader knows a measure by a shorter name
_TITLES = {"qrecall": "Recall", "quota_lift": "Lift", "roc_auc": "ROC AUC", "macro(f1)": "Macro F1"}
# titles that keep their capital inside a sentence
_PROPER = (
    *("Boltzmann", "Brier", "Cohen", "Gini", "Hand", "Kolmogorov", "Linear", "Matthews", "Misclassification"),
    *("Pearson", "Quadratic", "Youden"),
)
# Goals in a reader's words. The short table leaves out two, which --why has with the reason.
GOALS = {
    "known quota": "most hits in these places",
    "rare positives": "find rare positives",
    "unknown quota": "places not known yet",
    "no missed positives": "miss no positive",
    "no wasted places": "waste no place",
    "probabilities needed": "right probabilities",
    "fewest errors": "fewest errors",
}
_LEFT_OUT = {"known quota": " (see the first sentence)", "rare positives": " (nearly always as waste no place)"}
_WORTH_ORDERS = {"value": "score × worth", "value_per_cost": "score × worth per cost"}
_BY_SCORE = "Hits, other measures, tables and curves are of the list by score alone."

_MOST_GROUPS = 50_000  # distinct scores up to which the reliability curve with its bands is worked out for the page
_MOST_HISTOGRAMS = 6


def evaluation_sections(
    ev: Evaluation,
    *,
    terms: Terms = PYTHON,
    all_measures: bool = False,
    detail: bool = False,
    measures: Sequence[str] = (),
    list_size: int | None = None,
    beside: Sequence[Section] = (),
    **options: Any,
) -> Iterator[Section]:
    """The sections of an evaluation; in ``detail``, what a page adds (options: see ``detail_sections``).

    ``measures``: those that were asked for by name, which the answer gives first. ``list_size``: of the next list, for
    which the answer tells the hits first. ``beside``: what else was asked for; its sentences come first, too.
    """
    if all_measures:
        keys = list(read_together(ev.estimates, ev.specs))
    else:  # those of the task (all where they are few) that go with these scores, one family after another
        names = default_measures(ev.quota if ev.quotas is None else ev.quotas)
        keys = [key for name in names for key, spec in ev.specs.items() if spec.measure.name == name]
        read = read_together(ev.estimates, ev.specs if len(ev.specs) <= _FEW else keys)
        asked = {ev[name].name for name in measures}
        # of one class, why there is no value; and not the value that any order has
        one, ranking = _one_class(ev), [key for key in read if ev.specs[key].measure.family == "ranking"]
        has = {key: not one or key not in ranking if e.value == e.value else one for key, e in read.items()}
        keys = [key for key in read if has[key] or key in asked]
        keys = [key for key in keys if not ev.specs[key].measure.of_worth] or keys  # these have a table of their own
        families = list(dict.fromkeys(ev.specs[key].measure.family for key in keys))
        keys.sort(key=lambda key: families.index(ev.specs[key].measure.family))
    decides = not measures or any(ev.specs[ev[name].name].measure.needs_threshold for name in measures)
    point = cut_point(ev) if decides or ev.quota is not None or ev.threshold != DEFAULT_THRESHOLD else None
    batched = ev.rows.batched and ev.quota is not None
    at_cut, more = _with_what_was_asked([ev], point_sentences(ev, point), measures, list_size, beside)
    if ev.cut_by in _WORTH_ORDERS and not detail:  # the list that is cut is another one than that of the scores
        point = None
    ties, tied = [], ev.facts["tied_pairs"]
    bucketed = getattr(ev.rows, "buckets", None) is not None  # the notice of buckets tells what is open there
    if tied > 0.01 and not bucketed:  # where it matters
        distinct = pluralize(ev.facts["distinct_scores"], "distinct score")
        ties = [f"{tied:.1%} of the positive–negative pairs are tied ({distinct}); each counts one half."]
    yield Section("answer", [*at_cut, headline(ev), *notices_of([ev], terms), *ties])
    if ev.by_segment is not None:
        yield from islice(ev.by_segment.sections(terms=terms, all_measures=all_measures), 1, None)
        if not detail:
            return
    yield from more
    yield from filter(None, [places_section([ev], terms, detail=detail)])
    if point is not None:
        where = f"At {pluralize(ev.quota, 'place')}" if ev.quota is not None else "At the threshold"
        # who is taken: scores above a threshold, and those of a tie, or of a bucket, at it that get a place
        taken = "all cases" if point.threshold == -math.inf else f"score > {cut_text(point.threshold, point.above)}"
        if point.threshold != -math.inf and point.from_tie > 0:
            bucket = bucket_of(ev, point)
            at = " to ".join(map(in_sentence, [point.threshold] if bucket is None else bucket))
            drawn = f"{count(point.from_tie)} of {count(point.tied)} that score {at}"
            taken = f"{taken}, and {drawn}" if point.taken - point.from_tie > 1e-9 else drawn
        if ev.rows.batched and ev.quota is not None:
            where, taken = f"The best {quota_words(ev.quota)} of each batch", "all batches together"
        short = not (detail or all_measures)
        if not (batched and short):
            matrix, cases = [], counter(ev)
            for name, (selected, left), marks in (
                (ev.positive_name or "positive", (point.tp, point.fn), (" TP", " FN")),
                ("others" if ev.positive_name else "negative", (point.fp, point.tn), (" FP", " TN")),
                ("all", (point.tp + point.fp, point.fn + point.tn), ("", "")),
            ):
                cells = {"selected": f"{cases(selected)}{marks[0]}", "not selected": f"{cases(left)}{marks[1]}"}
                matrix.append({"": name, **cells, "all": cases(selected + left)})
            estimated = "; counts are estimates" if cases is rounded else ""
            yield Section("cut", [Table(matrix, f"{where}: {taken}{estimated}")])
        if batched:
            yield from batch_sections([ev], short=short)
    if detail:
        calibrated = any(section.name == "calibration" for section in beside)
        yield from detail_sections(ev, [ev], keys, calibrated=calibrated, **options)
        return
    yield from filter(None, [chart_section([ev])])
    if all_measures:
        yield Section("measures", [Table(measure_rows(ev), group="family")])
    else:
        known = [ev.specs[key] for key in keys if ev.estimates[key].low == ev.estimates[key].low]
        cautions = [f"{title_of(spec)}: {spec.measure.caution}." for spec in known if spec.measure.caution]
        yield Section("measures", [Table(short_rows(ev, keys)), *cautions])


def batch_sections(evaluations: Sequence[Evaluation], *, short: bool = False) -> Iterator[Section]:
    """The batches side by side, and their places against one threshold; ``short``: without a row for each batch."""
    points: dict[str, Any] = {ev.name: ev.at(quota=ev.quota) for ev in evaluations}
    rows = batch_rows(points)
    left = len(rows) - _SHOWN_BATCHES
    more = [f"{pluralize(left, 'more batch', 'more batches')} (JSON has all)"] if left > 0 else []
    if not short:
        yield Section("batches", [Figure("batches", points), Table(rows[:_SHOWN_BATCHES]), *more], "Batch by batch")
    for k, ev in enumerate(evaluations[:_MOST_RULES]):
        (section,) = ev.batches.rules().sections()
        named = f": {ev.name}" if len(evaluations) > 1 else ""
        section = replace(section, parts=section.sentences) if short else section
        yield replace(section, name=f"rules-{k}" if k else "rules", title=f"{section.title}{named}")


def comparison_sections(
    comparison: Comparison,
    *,
    terms: Terms = PYTHON,
    all_measures: bool = False,
    pairs: bool = False,
    why: bool = False,
    detail: bool = False,
    cheapest: Cheapest | None = None,
    measures: Sequence[str] = (),
    list_size: int | None = None,
    beside: Sequence[Section] = (),
    **options: Any,
) -> Iterator[Section]:
    """The sections of a comparison; in ``detail``, what a page adds (options: see ``detail_sections``).

    ``cheapest`` is the answer where the costs of errors were given. ``pairs`` shows the difference of each pair of
    models, ``why`` how each goal is judged. ``measures``: those that were asked for by name; the answer gives the first
    of them before that of the places. ``list_size``: of the next list, for which the answer tells the hits first.
    ``beside``: what else was asked for; its sentences come first, too.
    """
    evaluations = list(comparison.evaluations.values())
    first = evaluations[0]
    if detail and len({(ev.facts["rows"], ev.facts["positives"]) for ev in evaluations}) > 1:
        raise InputError(None, "a page shows models on the same cases, but these differ in rows or positives")
    quota = comparison.quota
    about = headline(first, named=False) if comparison.paired else "each on its own rows"
    models = f"{pluralize(len(evaluations), 'model')}: {about}"
    if quota is None and not measures and comparison.threshold not in (None, DEFAULT_THRESHOLD):
        measures = [key for key, spec in comparison.specs.items() if spec.measure.name == "accuracy"]
    costs = [] if cheapest is None else cheapest.answer
    priced = cheapest is not None or options.get("cost_fp") is not None  # a page takes the costs from their section
    asked_first = quota is not None or not priced
    answers = [*answer(comparison, measures), *costs] if asked_first else costs
    answers, more = _with_what_was_asked(evaluations, answers, measures, list_size, beside, comparison)
    yield Section("answer", [*answers, models, *notices_of(evaluations, terms)])
    if comparison.by_segment is not None:
        yield from islice(comparison.by_segment.sections(terms=terms, all_measures=all_measures), 1, None)
        if not detail:
            return
    yield from more
    yield from filter(None, [places_section(evaluations, terms, detail=detail)] if comparison.paired else [])
    if detail and first.rows.batched and quota is not None:
        yield from batch_sections(evaluations)
    keys = list(comparison.specs) if all_measures else chosen_measures(comparison)
    if not detail:
        yield from filter(None, [chart_section(evaluations)])
        if all_measures:
            yield Section("measures", [side_by_side(evaluations, keys)])
        else:
            yield Section("measures", short_comparison(comparison, keys))
    if len(evaluations) > 1:
        parts: list[Any] = [
            Figure("differences", comparison, {"key": key, "name": f"forest-{k}"}) for k, key in enumerate(keys[:2])
        ]
        if detail or pairs or all_measures:
            tested = [row for key in keys for row in comparison.differences if row["measure"] == key]
            parts += difference_table(tested, "Differences between models", comparison.settings.level)
        yield Section("pairs", parts, "Which model?")
    stretches = dominance_of(comparison) if detail or pairs or all_measures else []
    if stretches:
        clear = (row for row in stretches if row["clear"])  # not chance, at all places at once
        spans = ((r, " to ".join(dict.fromkeys(f"{r[end]:,}" for end in ("from", "to")))) for r in clear)
        shown = ({"places": span, "leads": r["leader"], "more hits": f"{r['more_hits']:.1f}"} for r, span in spans)
        leads = Table(shown, "Clear leaders by quota")
        none = "No model leads clearly if all quotas are judged at once; at one chosen beforehand, a lead may be clear."
        strip = Figure("dominance", comparison, {"stretches": stretches})
        yield Section("leads", [leads if len(leads) else none, *([strip] if detail else [])])
    if cheapest is not None and (detail or all_measures):
        yield Section("costs", [*cheapest.conditions, cheapest.others], "Costs of errors")
    goals = [] if _one_class(first) else comparison.recommendations.values()
    if goals and why:
        reasons = [f"{GOALS[r.goal]}{_LEFT_OUT.get(r.goal, '')}: {r.text}" for r in goals]
        yield Section("goals", reasons, "Which model for which goal")
    elif goals:
        yield Section("goals", [Table(goal_rows(comparison))], "Which model for which goal")
    if detail:
        yield from detail_sections(comparison, evaluations, keys, **options)


def _with_what_was_asked(
    evaluations: Sequence[Evaluation],
    sentences: Sequence[str],
    measures: Sequence[str],
    list_size: int | None,
    beside: Sequence[Section],
    comparison: Comparison | None = None,
) -> tuple[list[str], list[Section]]:
    """The answer with what was asked for besides the places before it, and the sections about that.

    Of one model, the value of each measure, in one sentence (none where there are too many for one); of several, who is
    ahead by the first.
    """
    first = evaluations[0]
    others = [*beside, *([] if list_size is None else [list_size_section(evaluations, list_size)])]
    told = [sentence for other in others for sentence in other.sentences]
    sections = [replace(other, parts=other.shown) for other in others if other.shown]
    keys = [key for name in measures for key in first.specs if key == first[name].name]
    if comparison is None:
        values = []
        for key in keys:
            spec, e = first.specs[key], first.estimates[key]
            if e.value == e.value:  # where it has none, its row in the table tells why
                within = f" ({e.level:.0%} interval {with_interval(spec, e)})" if e.low == e.low else ""
                unit = f" {unit_of(spec)}".replace(" in ", " ").rstrip()
                values.append(f"{name_of(spec, first.threshold)} is {written(spec, e.value)}{unit}{within}")
        told += [f"{values[0][0].upper()}{joined(values)[1:]}."] if 0 < len(values) <= _MOST_NAMED else []
    elif keys and first.quota is not None and first.specs[keys[0]].measure.name != "hit_rate":
        told += by_measure(comparison, keys[0])
    of_worth = [key for key, spec in first.specs.items() if spec.measure.of_worth]
    worth = worth_section(evaluations, of_worth, comparison) if of_worth else None
    if worth is not None:
        sentences = [*worth.sentences, *([_BY_SCORE] if first.cut_by in _WORTH_ORDERS else sentences)]
        worth = replace(worth, parts=worth.shown)
    return [*told, *sentences], [*sections, *filter(None, [worth])]


def models_of(result: Any) -> list[Evaluation]:
    """The evaluations behind a result, in their order: of a comparison, of classes, or the one it is."""
    if isinstance(result, list | tuple):
        return list(result)
    found = list(result.evaluations.values()) if hasattr(result, "evaluations") else [result]
    if not found or any(not hasattr(ev, "ranking") for ev in found):
        plots = listed(getattr(result, "pictures", ()))
        raise InputError(None, "only an evaluation or a comparison has such a plot", f"this has {plots}")
    return found


def cut_point(ev: Evaluation, *, whole: bool = False) -> Any:
    """The operating point to show: of the quota, or of the threshold; None without one.

    ``whole``: where the cut lies on a curve of the whole list; each batch has its own.
    """
    if whole and ev.rows.batched:
        return None
    if ev.quota is not None:
        return ev.at(quota=ev.quota)
    threshold = ev.threshold if ev.quotas is None else None
    return None if threshold is None else ev.at(threshold=threshold)


def headline(ev: Evaluation, *, named: bool = True) -> str:
    """How many rows and positives, what was left out; and where one class is missing, that nothing can be judged."""
    facts = ev.facts
    some = f"{facts['labelled']:,} of them labelled, about " if "labelled" in facts else ""
    number = f"{facts['positives']:,}"
    positives = of_positives(ev, number) if ev.positive_name else f"{number} positive"
    shares = percentage(facts["share_positive"])
    said = f"{pluralize(facts['rows'], 'row')}{in_clusters(ev)}, {some}{positives} ({shares})"
    if ev.prevalence is not None:
        moved = f"{len(ev.moved)} of the {len(ev.specs)} measures depend on it"
        said += f"; at a prevalence of {100.0 * ev.prevalence:.4g}% ({moved})"
    elif facts["weighted"] and not some:
        pos, cases = ev.ranking.n_pos, ev.ranking.cases
        said += f"; by weight {count(cases)} cases, {count(pos)} positive ({pos / cases:.1%})"
    if "batches" in facts:
        said += f"; {pluralize(facts['batches'], 'batch', 'batches')}"
    if facts.get("dropped"):
        said += f"; {pluralize(facts['dropped'], 'row')} without label or score left out"
    absent = next((kind for kind in ("positive", "negative") if facts[f"{kind}s"] == 0), None)
    if absent:
        said += f"; there are no {absent} cases, so the ranking cannot be evaluated"
    return f"{ev.name}: {said}" if named else said


def in_clusters(ev: Any) -> str:
    """In how many clusters the rows come; empty where they were drawn one by one."""
    allowed = "" if ev.settings.interval is None else " (intervals allow for them)"
    return "" if ev._clusters is None else f" in {pluralize(int(ev._clusters.max()) + 1, 'cluster')}{allowed}"


def next_list(ev: Evaluation) -> str:
    """The next list or batch, and what its prediction interval assumes where rows of this list come in clusters."""
    assumed = "" if ev._clusters is None else ", if its rows are independent"
    return "in the next batch" if ev.rows.batched else f"on the next list like this one{assumed}"


def counter(ev: Evaluation) -> Callable[[float], str]:
    """How to write cases that have a label: exactly, or rounded where most labels are estimated."""
    return rounded if "labelled" in ev.facts else count


def positives_found(ev: Evaluation, point: Any) -> str:
    """The positives that a cut finds, of all there are."""
    cases = counter(ev)
    found, positives = cases(point.tp), of_positives(ev, cases(point.tp + point.fn))
    if cases is count:
        return f"{found} of the {positives}"
    known = point.expected_hits.low == point.expected_hits.high  # all labels at these places
    return f"{found} of an estimated {positives}" if known else f"an estimated {found} of {positives}"


def of_positives(ev: Evaluation, number: str) -> str:
    """A number of positives by the name of their label, where that is a word."""
    if not ev.positive_name:
        return f"{number} positive{'' if number == '1' else 's'}"
    return f"{number} with {ev.positive_name}"


def _one_class(ev: Evaluation) -> bool:
    return bool(ev.facts["positives"] == 0 or ev.facts["negatives"] == 0)


def worth_section(evaluations: Sequence[Evaluation], keys: Sequence[str], comparison: Comparison | None) -> Section:
    """What the cases taken are worth by each model, what the best possible list would capture, and who is ahead."""
    from ..decide.planning import amount

    first = evaluations[0]
    ordered = f" by {_WORTH_ORDERS[first.cut_by]}" if first.cut_by in _WORTH_ORDERS else ""
    rows, sentences = [], []
    for ev in evaluations:
        row: dict[str, Any] = {"model": ev.name}
        for key in keys:
            e = ev.estimates[key]
            as_share = first.specs[key].measure.name == "value_recall"
            shown = [percentage(x) if as_share else amount(x, e.high - e.low) for x in (e.value, e.low, e.high)]
            row[title_of(first.specs[key])] = f"{shown[0]} ({shown[1]} to {shown[2]})" if e.low == e.low else shown[0]
        rows.append(row)
    of = {first.specs[key].measure.name: key for key in keys}
    of_all, kept = of.get("value_recall"), getattr(first.rows, "kept", None)
    if of_all is not None and len(evaluations) == 1 and first.estimates[of_all].value == first.estimates[of_all].value:
        quota, e = first.specs[of_all].quota, first.estimates[of_all]
        taken = "The cases taken" if quota is None else f"The best {quota_words(quota)}"  # type: ignore[arg-type]
        captured = [f": {rows[0][title_of(first.specs[of[name]])]}" for name in ("value_captured",) if name in of]
        sentences = [f"{taken}{ordered} contain {share(e)} of the value{''.join(captured)}."]
        if ordered and kept is not None and ((kept.worth.value > 0.0) == kept.positive).all():
            sentences.append("Only positives have a worth: an amount that is known afterwards cannot order a list.")
        one_by_one = kept is not None and not first.rows.batched
        if isinstance(quota, int | float) and one_by_one:
            total = first.best_value(quota=whole_cases(first.ranking.cases))
            best = first.best_value(quota=quota) / total
            sentences.append(f"The best possible list of as many places would capture {percentage(best)}.")
    elif comparison is not None:
        verdict = comparison.verdict(keys[0], "which model captures the most value")
        order = f", taken{ordered}," if ordered else ","
        name = title_of(first.specs[keys[0]])
        values = ", ".join(f"{row['model']} {row[name].partition(' (')[0]}" for row in rows)
        sentences = [f"By {name.lower()}{order} {verdict.lead}: {values}."]
    return Section("worth", [*sentences, Table(rows)], "What the cases are worth")


def point_sentences(ev: Evaluation, point: OperatingPoint | None) -> list[str]:
    """What the quota or the threshold gives here and on the next list; without either, how well the list is ordered."""
    if ev.quotas is not None:
        return range_answer(ev)
    if _one_class(ev):
        return []
    name = "the model" if ev.name == "model" else ev.name
    if point is None:
        model = "The model" if ev.name == "model" else ev.name
        order = "ranks a random positive above a random negative with probability"
        return [f"{model} {order} {share(ev['roc_auc'])}."] if "roc_auc" in ev else []
    level, (low, high) = f"{ev.settings.level:.0%}", point.next_hits
    positives, cases = positives_found(ev, point), counter(ev)
    known, coming = low == low, f"expect {count(low)} to {count(high)} ({level} prediction interval)"
    if ev.rows.batched and ev.quota is not None:
        mean = count(round(point.expected_hits.value, 1))
        within = f" ({level} interval {count_range(*point.expected_hits.interval)})" if known else ""
        found = f"With {places_words(ev.quota, batched=True)}, {name} finds {positives}: {mean} per batch{within}."
        following = [f"In the next batch, {coming}."] if known else []
    elif ev.quota is not None:
        found = f"With {pluralize(ev.quota, 'place')}, {name} finds {positives}"
        found += f"; {next_list(ev)}, {coming}." if known else "."
        following = []
    else:
        about, taken = "", count(point.taken)
        if point.tied > 1:  # inside a bucket
            about, taken = "about ", rounded(point.taken)
            positives = f"{rounded(point.tp)} of the {of_positives(ev, cases(point.tp + point.fn))}"
        taken = f"selects {about}{taken} of {pluralize(ev.ranking.cases, 'case')}"
        at = cut_text(point.threshold, point.above)
        found = f"At a threshold of {at}, {name} {taken} and finds {about}{positives}."
        following = [f"With the same share selected {next_list(ev)}, {coming}."] if known else []
    chance = chance_sentence(point)
    if ev.rows.batched and ev.quota is not None:  # the sentence before it counts per batch
        chance = chance.removesuffix(".") + " in all batches together." * bool(chance)
    tie = ""  # what happens where the cut falls inside a tie, or inside a bucket of scores
    if point.tied > 1 and point.from_tie < point.tied and cases(point.hits_worst) != cases(point.hits_best):
        bucket = bucket_of(ev, point)
        by, at = ("the draw", "a tie") if bucket is None else ("the order inside it", "a bucket")
        where = f"Some cuts fall inside {at}"
        if point.threshold == point.threshold:
            limits = " to ".join(map(in_sentence, [point.threshold] if bucket is None else bucket))
            where = f"The cut falls inside {at} of {count(point.tied)} cases that score {limits}"
        hits = f"{cases(point.hits_worst)} to {cases(point.hits_best)} positives"
        tie = f"{where}: {hits} get a place, depending on {by}."
        if ev.quota is None:
            where = where.replace("The cut falls", "The threshold lies")
            most = point.taken + point.tied / 2.0
            tie = f"{where}: {cases(most - point.tied)} to {cases(most)} cases and {hits} score above it."
    return [" ".join(filter(None, [found, *following, chance, tie]))]


def chance_sentence(point: Any) -> str:
    """What a random choice of as many cases finds; computed as the page does, so that both round alike."""
    positives = point.tp + point.fn
    expected = point.taken * positives / (point.taken + point.fn + point.tn)
    return f"A random choice would find {rounded(expected)}." if expected > 0 else ""


def share(e: Estimate) -> str:
    """A share with its interval in brackets."""
    return f"{percentage(e.value)}{between(e)}"


def rounded(value: float) -> str:
    """A number of cases as far as it matters: whole from ten on, else with one digit."""
    return count(round(value) if value >= 10 else value)


def quota_words(quota: int | float) -> str:
    """A quota as a reader writes it."""
    return f"{100 * quota:.4g}%" if isinstance(quota, float) else f"{quota:,}"


def places_words(quota: int | float, *, batched: bool) -> str:
    """A quota as a number of places."""
    if isinstance(quota, float):
        return f"{quota_words(quota)} of each batch" if batched else f"{quota_words(quota)} of the list"
    return pluralize(quota, "place") + (" in each batch" if batched else "")


def batch_rows(points: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What each batch gives at its cut, models side by side."""
    rows = []
    for row in zip(*(point.batches for point in points.values()), strict=True):
        line = {"batch": str(row[0]["batch"]), **{key: count(row[0][key]) for key in ("cases", "positives", "places")}}
        for name, one in zip(points, row, strict=True):
            before = f"{name}: " if len(points) > 1 else ""
            line[f"{before}hits"] = count(one["hits"])
            shares = {key.replace("_", " "): one[key] for key in ("hit_rate", "recall")}
            line |= {f"{before}{key}": percentage(rate) if rate == rate else "–" for key, rate in shares.items()}
        rows.append(line if len(points) > 1 else {**line, "threshold": format_value(row[0]["threshold"])})
    return rows


def bucket_of(ev: Evaluation, point: OperatingPoint) -> Interval | None:
    """The ends of the bucket inside which a list is cut; None where the scores at the cut are known.

    The lists of batches are cut in several buckets: then the ends are nan.
    """
    buckets = getattr(ev.rows, "buckets", None)
    if buckets is not None and ev.rows.batched:
        return Interval(math.nan, math.nan)
    return None if buckets is None else buckets.around(point.threshold)


def default_measures(quota: Any) -> list[str]:
    """Some ten measures for the task: at the places or at the threshold, over the whole list, and of probabilities."""
    return [*(_WITH_THRESHOLD if quota is None else _WITH_QUOTA), *_ALWAYS]


def measure_rows(ev: Any) -> list[dict[str, Any]]:
    """Rows of every measure; what is one number under several names has one row, which tells them all."""
    level = next((e.level for e in ev.estimates.values() if e.level == e.level), None)
    others: dict[str, list[str]] = {}  # the names that join a row
    for key, spec in ev.specs.items():
        of_auc = spec.measure.line_of_auc is not None and key != "roc_auc"
        home = "roc_auc" if of_auc else re.split(r"\W", spec.measure.same_as)[0]
        if home not in ev.estimates or home == key:
            continue
        if of_auc or math.isclose(ev.estimates[home].value, ev.estimates[key].value, rel_tol=1e-12):
            others.setdefault(home, []).append(f"{key} {format_value(ev.estimates[key].value)}")
    joined = {text.split()[0] for texts in others.values() for text in texts}
    rows = []
    for key, spec in ev.specs.items():
        if key in joined:
            continue
        e, one, name = ev.estimates[key], spec.measure, str(replace(spec, threshold=None))
        if one.needs_threshold and not _at_own_cut(ev, spec) and ev.threshold is not None:
            name += f" (score > {in_sentence(ev.threshold if spec.threshold is None else spec.threshold)})"
        moves = "depends on the prevalence" if key in getattr(ev, "moved", ()) else ""
        notes = [one.caution if e.low == e.low else "", moves, unit_of(spec), spec.remark]
        notes.append("the same number: " + ", ".join(others[key]) if key in others else "")
        notes.append(one.same_as and f"same as {one.same_as}")
        # a measure between −1 and 1 whose ideal is 0 has no better end
        arrow = "→ 0" if one.perfect == 0.0 and one.range[0] < 0.0 else ARROWS[spec.better]
        row = {"family": one.section, "measure": name, "": arrow}
        row["value"] = format_value(e.value)
        if level is not None:
            row |= {f"{level * 100:.4g}% interval": ends(e.low, e.high), "method": e.method}
        rows.append({**row, "note": e.reason or "; ".join(dict.fromkeys(filter(None, notes)))})
    return rows


def short_rows(ev: Any, keys: Iterable[str]) -> list[dict[str, Any]]:
    """Rows in a reader's words: title, value, interval, and what it is."""
    rows = []
    for key in keys:
        e, spec = ev.estimates[key], ev.specs[key]
        threshold = ev.threshold if spec.measure.needs_threshold and not _at_own_cut(ev, spec) else None
        row: dict[str, Any] = {"measure": title_of(spec, threshold), "value": written(spec, e.value)}
        if e.level == e.level:
            row[f"{e.level * 100:.4g}% interval"] = with_interval(spec, e)
        moves = "depends on the prevalence" if key in getattr(ev, "moved", ()) else ""
        rows.append({**row, "": e.reason or moves or _READ_AS.get(spec.measure.name, ("", unit_of(spec)))[1]})
    columns = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name, "") for name in (*(c for c in columns if c), "")} for row in rows]


def _at_own_cut(ev: Evaluation, spec: Spec) -> bool:
    """Whether the cut of a measure is the one that stands above the table: not that of a quota."""
    return spec.threshold in (None, ev.threshold) and ev.quota is None and ev.quotas is None


def title_of(spec: Spec, threshold: float | None = None) -> str:
    """A measure by its title, with its options and its cut; ↓ where lower is better.

    ``threshold``: the cut of measures at a threshold, where it does not stand above them.
    """
    one = spec.measure
    options = ", ".join(f"{name} {value}" for name, value in spec.options)
    title = _TITLES.get(one.name, one.title) + (f" ({options})" if options else "")
    if one.needs_quota and spec.quota is not None:
        places = str(spec.quota) if isinstance(spec.quota, Quotas) else quota_words(spec.quota)
        title = f"{title.removesuffix(' at quota')} at {places}"
    elif one.needs_threshold and threshold is not None:
        title += f" at {in_sentence(threshold if spec.threshold is None else spec.threshold)}"
    return title + (" ↓" if one.better == "lower" else "")


def name_of(spec: Spec, threshold: float | None = None) -> str:
    """A measure in a sentence: "hit rate at 20", but "ROC AUC", "Brier score"."""
    title = title_of(spec, threshold).removesuffix(" ↓")
    return title if title.startswith(_PROPER) or not title[1:2].islower() else title[0].lower() + title[1:]


def written(spec: Spec, value: float) -> str:
    """A value as a reader writes it: a share in percent, a ratio as ×, any other number with three digits."""
    unit = _READ_AS.get(spec.measure.name, ("", ""))[0]
    if not math.isfinite(value) or not unit:
        return format_value(value) if not 0.001 <= abs(value) < 1000 else with_minus(f"{value:.3f}")
    if unit != "%":
        return with_minus(f"{value:.1f}×")
    return with_minus(percentage(value))


def with_interval(spec: Spec, e: Estimate) -> str:
    """The interval of a value as a reader writes it."""
    low = 0.0 if 0.0 < e.low < 0.0005 < 0.01 * e.high else e.low  # in the digits that the interval supports
    return f"{written(spec, low)} to {written(spec, e.high)}" if e.low == e.low else ""


def unit_of(spec: Spec) -> str:
    """The unit of a loss that depends on a logarithm; empty for a measure without one."""
    options = dict(spec.options)
    if "base" not in spec.measure.params:
        return ""
    base = options.get("base", spec.measure.params["base"])
    return {2: "in bits", 10: "in bans"}.get(base, "in nats" if abs(base - 2.718281828459045) < 1e-9 else "")


def answer(comparison: Comparison, measures: Sequence[str] = ()) -> list[str]:
    """Which model, and how sure: with the places of the quota, on average over a range, by a measure or the ranking."""
    quota, evaluations = comparison.quota, list(comparison.evaluations.values())
    first = evaluations[0]
    if _one_class(first):
        return []  # the headline has it
    if quota is None:
        key = first[measures[0]].name if measures else "roc_auc"
        return range_answer(comparison) if first.quotas is not None else by_measure(comparison, key)
    if not comparison.paired:  # each has cases of its own, perhaps groups of people: the highest value, and no advice
        if "hit_rate" not in first:
            return [OWN_CASES]
        highest = comparison.verdict("hit_rate", "known quota")
        mark = ", " if highest.status == "cannot tell" else "; "
        value = f"{format_value(highest.value.value)}{mark}{highest.sentence}"
        return [f"At {quota:,} places, {highest.best} has the highest hit rate, {value}.", OWN_CASES]
    ordered = sorted(evaluations, key=lambda ev: -ev.at(quota=quota).tp)
    best, point = ordered[0], ordered[0].at(quota=quota)
    if len(ordered) == 1:
        return point_sentences(best, point)
    places = places_words(quota, batched=first.rows.batched)
    positives = positives_found(best, point)
    hits = {ev.name: ev.at(quota=quota).tp for ev in ordered}
    tied = sorted(name for name, found in hits.items() if point.tp - found < 1e-9)
    others = [f"{name} {count(found)}" for name, found in hits.items() if name not in tied]
    verdict = comparison.verdict("hit_rate", "known quota") if "hit_rate" in best else None
    clear = verdict is not None and verdict.sure and len(tied) == 1
    if len(tied) > 1:
        both = "both" if len(tied) == 2 else "they all"
        said = f"With {places}, {joined(tied, 'or')}: {both} find {positives}"
    elif clear:
        said = f"With {places}, use {best.name}: it finds {positives}"
    elif verdict is None or verdict.status == "not tested":
        said = f"With {places}, {best.name} finds the most: {positives}"
    elif verdict.status == "equivalent":
        said = f"With {places}, {verdict.lead}: {best.name} finds {positives}"
    else:
        said = f"With {places}, {best.name} is ahead, but not clearly: it finds {positives}"
    said += f", {joined(others)}." if others else "."
    chance = chance_sentence(point)
    lead = [] if verdict is None else lead_sentence(verdict, comparison.specs[verdict.measure], point.taken)
    lead = lead if len(tied) == 1 else ["These cases cannot separate them."]
    level = f"{first.settings.level:.0%} prediction interval"
    which = next_list(first).capitalize()
    next_hits = {ev.name: ev.at(quota=quota).next_hits for ev in ordered}
    expected = [f"{count(low)} to {count(high)} from {name}" for name in tied for low, high in [next_hits[name]]]
    known = all(low == low for low, _ in (next_hits[name] for name in tied))
    coming = f"{which}, expect {joined(expected)} ({level})." if known else ""
    return [f"{said} {chance}".strip(), *filter(None, [*lead, coming])]


def by_measure(comparison: Any, key: str = "roc_auc") -> list[str]:
    """Which model by one measure: where nothing else is asked, by the AUC, or by the first that has a value."""
    each = {name: ev.estimates for name, ev in comparison.evaluations.items()}
    valued = [k for k in comparison.specs if any(of[k].value == of[k].value for of in each.values())]
    if len(each) < 2 or not valued:
        return []
    verdict, paired = comparison.verdict(key if key in valued else valued[0]), getattr(comparison, "paired", True)
    spec, lead, apart = comparison.specs[verdict.measure], verdict.lead, verdict.status != "equivalent"
    values = {name: written(spec, of[verdict.measure].value) for name, of in each.items()}
    others = joined([f"{name} {value}" for name, value in values.items() if not apart or name not in verdict.tied])
    if not paired and verdict.status in ("clear", "cannot tell"):  # perhaps groups of people: no advice
        lead = f"{verdict.best} has the {'highest' if spec.better == 'higher' else 'lowest'} value"
    by = f"By {name_of(spec, getattr(comparison, 'threshold', None))}, {lead}: "
    by += ", ".join(filter(None, [values[verdict.best] * apart, others]))
    return [f"{by}.", *lead_sentence(verdict, spec, paired=paired), *([] if paired else [OWN_CASES])]


def points(spec: Spec, value: float) -> str:
    """A difference as a reader writes it: of shares in percentage points."""
    if _READ_AS.get(spec.measure.name, ("", ""))[0] != "%":
        return written(spec, value)
    size = with_minus(f"{100 * value:.3g}")
    return f"{size} point{'' if size == '1' else 's'}"


def lead_sentence(verdict: Verdict, spec: Spec, places: float | None = None, *, paired: bool = True) -> list[str]:
    """How sure the lead of the best model over its closest rival is, or over the next one if all differ clearly.

    ``places``: where the measure is a hit rate, the lead is told in hits among so many.
    """
    others, apart = sorted(verdict.tested.values(), key=lambda d: abs(d.difference)), verdict.status != "equivalent"
    if not others:
        return []
    write = partial(points, spec) if places is None else partial(hits_of, places)
    row, need = others[-1] if not apart else verdict.rival or others[0], verdict.need(write)
    if len(verdict.tied) > 1 and apart:
        need = need or row.note
        return [f"{need[0].upper()}{need[1:]}."] if need else []
    gap, unit = row if row.better == "higher" else row.turned(), _READ_AS.get(spec.measure.name, ("", ""))[0]
    if places is not None:
        size, within = count(gap.difference * places), count_range(gap.low * places, gap.high * places)
    else:  # with the decimals that the interval supports
        three = [x * (100.0 if unit == "%" else 1.0) for x in (gap.difference, gap.low, gap.high)]
        sizes = [abs(x) for x in (*three[1:], (three[2] - three[1]) / 10.0) if 1e-9 < abs(x) < math.inf]
        decimals = max([0, *(-math.floor(math.log10(x)) for x in sizes)])
        size, *two = (with_minus(f"{round(x, decimals) + 0.0:.{decimals}f}") for x in three)
        unit = {"%": " point" if size == "1" else " points"}.get(unit, unit)
        size, within = size + unit, " to ".join(two) + unit
    lead = f"{'Its lead over' if paired and apart else f'The difference of {row.a} from'} {row.b}, {size}"
    inside = f"{lead} ({row.level:.0%} interval {within}),"
    if row.leader == verdict.best:
        return [f"{inside} is clear{verdict.adjusted}."]
    if row.verdict == "equivalent":
        return [f"{inside} is less than the margin of {write(row.margin or 0.0)}."]
    if row.note:
        return [f"{lead}, could be chance: {row.note}."]
    return [f"{inside} could be chance{verdict.adjusted}{f'; {need}' if need else ''}."]


def range_answer(result: Any) -> list[str]:
    """What an unknown quota gives on average, by which model, and how sure that is; nothing where it was not asked."""
    evaluations = models_of(result)
    first = evaluations[0]
    if first.quotas is None or _one_class(first) or "hit_rate" not in first:
        return []
    alike = ", all equally likely" if first.quotas.through else ""
    if len(evaluations) == 1:
        expected = f"a hit rate of {share(first['hit_rate'])}"
        if "qrecall" in first:
            expected += f" and {share(first['qrecall'])} of the positives"
        return [f"With {first.quotas.words}{alike}, expect on average {expected}."]
    verdict = result.verdict("hit_rate", f"quota {first.quotas}")
    value = f"a hit rate of {share(verdict.value)} on average"
    if not result.paired:
        return [f"With {first.quotas.words}{alike}, {verdict.best} has the highest: {value}.", OWN_CASES]
    doubt = lead_sentence(verdict, result.specs[verdict.measure])
    return [" ".join([f"With {first.quotas.words}{alike}, {verdict.lead}: {value}.", *doubt])]


def between(e: Any) -> str:
    """The interval of a share in brackets; empty where there is none."""
    return f" ({e.level:.0%} interval {percentage(e.low)} to {percentage(e.high)})" if e.low == e.low else ""


def hits_of(places: float, rate: float) -> str:
    """A difference of hit rates as hits among the places."""
    hits = count(rate * places)
    return f"{hits} {'hit' if hits == '1' else 'hits'}"


def chosen_measures(comparison: Comparison) -> list[str]:
    """The measures a reader decides by: those that were asked for, or a short list out of all."""
    keys = list(comparison.specs)
    if len(keys) <= 12:
        return keys
    by_name = {comparison.specs[key].measure.name: key for key in keys}
    return [by_name[name] for name in _BETWEEN_MODELS if name in by_name]


def short_comparison(comparison: Any, keys: Sequence[str]) -> list[str | Table]:
    """A row for each measure with the models side by side, and whether a difference is clear.

    Many models stand below each other instead. * marks the best value of a measure, for all that have it.
    """
    lines: dict[str, dict[str, str]] = {}
    judged = not hasattr(comparison.first, "ranking") or not _one_class(comparison.first)
    for key in keys:
        spec = comparison.specs[key]
        values = {name: ev.estimates[key].value for name, ev in comparison.evaluations.items()}
        known = [value for value in values.values() if value == value]
        if not known:
            continue
        best = max(known) if spec.better == "higher" else min(known)
        cells = {name: written(spec, value) for name, value in values.items()}
        title = title_of(spec, getattr(comparison, "threshold", None))
        if spec.measure.name == "hit_rate" and comparison.quota is not None:
            title = f"Hits in {pluralize(comparison.quota, 'place')}"
            if comparison.first.rows.batched:
                title = f"Hits, {quota_words(comparison.quota)} a batch"
            cells = {name: count(ev.at(quota=comparison.quota).tp) for name, ev in comparison.evaluations.items()}
        leaders = {name for name, value in values.items() if judged and abs(value - best) < 1e-12}
        starred = {name: cell + "*" * (name in leaders) for name, cell in cells.items()}
        lines[title] = {**starred, "clear difference?": _clear(comparison, key)}
    if not lines or len(comparison.evaluations) == 1:
        return [side_by_side(list(comparison.evaluations.values()), keys)]
    most = f"p < {1.0 - comparison.settings.level:.2g}"
    best_note = "* best value here; " if judged else ""
    note = f"{best_note}clear means {most}, adjusted for all pairs (Holm)"
    if len(comparison.evaluations) <= _MOST_COLUMNS:
        return [Table({"": title, **cells} for title, cells in lines.items()), note]
    down = [{"model": m, **{title: cells[m] for title, cells in lines.items()}} for m in comparison.evaluations]
    clear = [f"{title}: {cells['clear difference?']}" for title, cells in lines.items()]
    return [Table(down), f"Clear differences: {'; '.join(clear)}.", note]


def _clear(comparison: Any, key: str) -> str:
    """Which models clearly differ by a measure, in a cell."""
    pairs = [comparison.difference(a, b, key) for a, b in combinations(comparison.evaluations, 2)]
    tested = [pair for pair in pairs if pair.verdict != "not tested"]
    if not tested:
        return "not tested"
    ahead: dict[str, list[str]] = {}
    for pair in tested:
        if pair.leader is not None:
            ahead.setdefault(pair.leader, []).append(pair.b if pair.leader == pair.a else pair.a)
    if not ahead:
        return "no, within the margin" if all(pair.verdict == "equivalent" for pair in tested) else "no"
    if len(ahead) > 2:
        return f"{sum(map(len, ahead.values()))} of {len(tested)} pairs"
    whole = len(comparison.evaluations) - 1
    beaten = {a: "all others" if len(others) == whole > 1 else joined(others) for a, others in ahead.items()}
    return "; ".join(f"{leader} beats {others}" for leader, others in beaten.items())


def goal_rows(comparison: Comparison) -> list[dict[str, str]]:
    """Which model for which goal, a line each."""
    rows = []
    for goal in comparison.recommendations.values():
        if goal.goal in _LEFT_OUT:
            continue
        verdict, needed = goal.verdict, goal.verdict.cases_needed
        names, clear = " or ".join(verdict.tied), "no"
        if verdict.status == "clear":
            clear = "yes" if goal.sure else f"at this threshold; the ranking prefers {goal.support.best}"  # type: ignore[union-attr]
        elif verdict.status == "equivalent":
            names, clear = " or ".join([verdict.best, *verdict.tested]), "within the margin"
        elif len(verdict.tied) > 1:
            clear = "tied"
        elif verdict.status != "cannot tell":
            clear = verdict.status
        if needed is not None:
            clear += f"; {round_up(needed):,} cases needed"
        rows.append({"if your goal is": GOALS[goal.goal], "model": names, "clear?": clear})
    return rows


def side_by_side(evaluations: Sequence[Any], keys: Sequence[str], *, explain: bool = False) -> Table:
    """One row for each measure, one column for each model, intervals in the cells; with what the catalogue tells."""
    rows = []
    for key in keys:
        one, estimates = evaluations[0].specs[key].measure, {ev.name: ev.estimates.get(key) for ev in evaluations}
        facts = {
            "": " ".join(one.summary.partition(">>>")[0].replace("``", "").split()),
            "formula": one.formula,
            "range": f"{' to '.join(map(in_sentence, one.range))}, {one.better} is better",
            "undefined": one.undefined,
            "proper": one.propriety,
            "same number": one.same_as,
            "interval": ", ".join(sorted({e.method for e in estimates.values() if e is not None} - {""})),
            "caution": one.caution,
            "source": one.reference,
        }
        named = explained(key, one.title, {name: text for name, text in facts.items() if text}) if explain else key
        family = {"family": FAMILY_TITLES[one.family]} if explain else {}
        rows.append({**family, "measure": named, "": ARROWS[one.better], **estimates})
    return Table(rows, group="family" if explain else "")


def difference_table(
    rows: Sequence[Mapping[str, Any]], title: str, level: float, group: str = "measure", most: int | None = None
) -> list[Table | str]:
    """Tested differences between two models in words, those of segments and classes with their name, up to ``most``.

    What has no difference and no note is left out. A sentence tells that p-values are adjusted and intervals are not.
    """
    valued = [row for row in rows if row["difference"] == row["difference"] or row.get("note")]
    shown = []
    for row in valued[:most]:
        cells = {name: str(row[name]) for name in ("segment", "class") if name in row}
        cells |= {"cases": count(row["cases"])} if "cases" in row else {}
        cells |= {"measure": row["measure"], "models": f"{row['a']} − {row['b']}"}
        cells |= {"difference": format_value(row["difference"])}
        cells |= {f"{level * 100:.4g}% interval": ends(row["low"], row["high"]), "p (Holm)": p_value(row["p_adjusted"])}
        shown.append({**cells, "reading": row["reading"], **({"note": row["note"]} if "segment" in row else {})})
    made = max(Counter(row["measure"] for row in valued if row["p_adjusted"] == row["p_adjusted"]).values(), default=0)
    note = f"p is adjusted for {made} comparisons by each measure (Holm), intervals are not: the reading needs both."
    return [Table(shown, title, group), *([note] if made > 1 else [])] if shown else []


def dominance_of(comparison: Comparison) -> list[dict[str, Any]]:
    """Who leads from which quota to which; none where the models have weights or cases of their own."""
    first = next(iter(comparison.evaluations.values()))
    if first.facts["weighted"] or first.rows.batched or not comparison.paired:
        return []
    return comparison.dominance("quota").to_dicts()


# ------------------------------------------------------------------------------------------------- what a page adds


def list_size_section(evaluations: Sequence[Evaluation], list_size: int) -> Section:
    """The hits in the same places of a list of another size."""
    options: dict[str, Any] = {"quota": evaluations[0].asked_quota, "list_size": list_size}
    if options["quota"] is None or evaluations[0].quotas is not None:
        raise InputError("list_size", "is for a quota alone", "give {quota}: a number of places, or a share")
    points: dict[str, Any] = {ev.name: ev.at(**options) for ev in evaluations}
    first, *others = points.values()
    sentences = [" ".join(first.sentences)]
    if others:
        each = [f"{name} {count(low)} to {count(high)}" for name, p in points.items() for low, high in [p.next_hits]]
        sentences = [
            f"On a list of {list_size:,} cases, expect these hits in {pluralize(first.taken, 'place')}: {joined(each)} "
            f"({first.expected_hits.level:.0%} prediction intervals).",
            *first.sentences[1:],
        ]
    figure = Figure("list_size", evaluations, options)
    return Section("list-size", [*sentences, figure], "On a shorter or longer list")


def places_section(evaluations: Sequence[Evaluation], terms: Terms, *, detail: bool = False) -> Section | None:
    """The hits at every number of places; where no list of cases counts alike, why there is no such thing."""
    first = evaluations[0]
    title = "How many places?"
    if first.rows.batched or not (detail or (first.facts["positives"] and first.facts["negatives"])):
        return None
    if not first.facts["weighted"]:
        return Section("places", [Figure("gain", evaluations)], title)
    if not detail:
        return None
    why = "This sample is weighted, so a quota counts cases by their weight."
    if first.prevalence is not None:
        why = f"All figures on this page are for a prevalence of {100.0 * first.prevalence:.4g}%."
    elif "labelled" in first.facts:
        why = "Only some rows of this list have a label, so all figures are estimates."
    why += terms.fill(" There is no quota explorer for it: ask for a number of places with {quota}.")
    return Section("places", [why], title)


def chart_section(evaluations: Sequence[Evaluation], *, detail: bool = False) -> Section | None:
    """The whole list: curves and scores; those that the data do not allow are left out."""
    first = evaluations[0]
    if not 0 < first.facts["positives"] < first.facts["rows"]:
        return None
    figures = [Figure("roc", evaluations)]
    whole = not (first.facts["weighted"] or first.rows.batched)
    if detail or not whole:
        figures.append(Figure("precision_recall", evaluations))
    several = len(evaluations) > 1
    if detail or not several:
        for k, ev in enumerate(evaluations[:_MOST_HISTOGRAMS]):
            if ev.rows.outline.are_finite:
                figures.append(Figure("histogram", ev, {"named": several, "name": f"histogram-{k}"}))
    return Section("charts", figures, "The whole list")


def detail_sections(
    result: Any,
    evaluations: Sequence[Evaluation],
    keys: Sequence[str],
    *,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
    source: Mapping[str, Any] | None = None,
    offered: int = 0,
    calibrated: bool = False,
) -> Iterator[Section]:
    """What follows the answer on a page, with the measures of ``keys``; costs of errors add the cheapest cut.

    ``offered``: how many measures there are, where only these were evaluated. ``calibrated``: the page has the
    calibration already.
    """
    prices = {}
    if cost_fp is not None or cost_fn is not None:
        checked = ErrorPrices.checked(cost_fp, cost_fn)
        prices = {"cost_fp": checked.fp, "cost_fn": checked.fn}
    yield from filter(None, [chart_section(evaluations, detail=True)])
    facts = evaluations[0].facts
    usable = {  # an audit does not know the labels of most rows
        k: ev for k, ev in enumerate(evaluations) if ev.rows.outline.are_probabilities and "labelled" not in ev.facts
    }
    both = bool(usable) and 0 < facts["positives"] < facts["rows"]
    if both and not calibrated:
        known = {}  # the calibration of models whose rows are there, not clustered and not too many
        for k, ev in usable.items():
            if len(ev.ranking) <= _MOST_GROUPS and ev._clusters is None:
                with suppress(InputError):  # a stream keeps no rows
                    known[k] = ev.calibration()
        right: list[Any] = [Figure("reliability", usable, {"known": known}), *(f"{c.summary}." for c in known.values())]
        for c in known.values() if len(known) == 1 else ():
            right += [part for section in c.sections() for part in section.parts if isinstance(part, Table)]
        yield Section("right", right, "Are the probabilities right?")
    # the cheapest cut, and net benefit by threshold probability where the models give probabilities
    parts: list[Any] = []
    cheapest = result.cheapest(**prices) if prices and hasattr(result, "cheapest") else None
    if cheapest is not None:
        parts += cheapest.answer
    elif prices:
        how_drawn = {"clusters": result._clusters, **values_of(result.settings, "level", "n_resamples", "seed")}
        cut = find_cut(result.sample, result.ranking, {}, prices, None, **how_drawn)
        costs = [in_sentence(price) for price in prices.values()]
        errors = f"Where a false positive costs {costs[0]} and a false negative {costs[1]}"
        parts.append(f"{errors}, take score > {cut.text}: {cut.note}.")
    curves = {}
    with suppress(InputError):  # a stream keeps no rows
        curves = {k: ev.decision_curve() for k, ev in usable.items() if both}
    if curves:
        costs_told = (
            "At a threshold probability x, you act on cases with a probability above x: a false positive costs "
            "x / (1 − x) times the benefit of a true positive. Choose x from your costs: "
            "cost of a false positive / (cost of a false positive + cost of a false negative)."
        )
        given = {"prices": tuple(prices.values()) or None, "cheapest": cheapest}
        parts += [*(Figure(kind, curves, given) for kind in ("net_benefit", "expected_cost")), costs_told]
    parts += [] if cheapest is None else cheapest.conditions
    if parts:
        yield Section("costs", parts, "What do errors cost?")
    note = "Open a name for its meaning, formula and source. ↑ higher is better, ↓ lower is better."
    listed, number = side_by_side(evaluations, keys, explain=True), max(offered, len(evaluations[0].specs))
    how = "--all on the command line, to_html(…, all_measures=True) in Python"
    left = [f"These are {len(keys)} of {number} measures. To see all of them: {how}."] if len(keys) < number else []
    yield Section("measures", [note, listed, *left], "Measures" if left else "All measures")
    rows, positives = f"{facts['rows']:,}", f"{facts['positives']:,} ({percentage(facts['share_positive'])})"
    data = {**(source or {}), "rows": rows, "positives": positives}
    data |= {f"distinct scores of {ev.name}": f"{ev.facts['distinct_scores']:,}" for ev in evaluations}
    yield Section("facts", [Table({"": name, "what": text} for name, text in data.items())], "The data")
    alike = (
        "Interval of the hits: for the average over lists with as many cases and positives as this one. It is the part "
        "that two intervals share, those of the hit rate (times the places) and of Qrecall (times the positives), and "
        "allows for the cut moving with the sample. A single list varies more."
    )
    notes = [
        *([alike] if not (evaluations[0].rows.batched or facts["weighted"]) else []),
        "Predicted positive means a score greater than the threshold.",
        "The explanation of a measure names the method of its interval.",
    ]
    yield Section("notes", notes, "How to read this")
