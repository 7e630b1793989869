"""``--by COLUMN`` of ``cutline evaluate`` and ``cutline compare``: each segment of the rows apart."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import InputError, show
from .evaluate import settings_of, write_outputs
from .output import Block, Report
from .reading import facts_of, say_understood
from .terms import COMMAND_LINE, about_file

if TYPE_CHECKING:
    from ..segment_comparison import SegmentComparison
    from ..segments import Segments
    from .reading import Columns


def evaluate_by(
    table: Any,
    file: str,
    columns: Columns,
    promise: Mapping[str, float],
    options: dict[str, Any],
    form: str,
    asked: Mapping[str, Any],
) -> None:
    """Evaluate one model in each segment, and print it in the form that was asked for."""
    from ..present.segment_words import default_measures
    from ..tables import evaluate_table

    if promise:
        said = "keeps its promise for all rows, not for each segment"
        raise InputError(next(iter(promise)), said, "leave it out, or give a {threshold}")
    places = given_places(asked)
    if places is not None and asked["quota"] is None and asked["threshold"] is None:
        options["quota"] = sum(places.values())
    few = {} if asked["everything"] or asked["measures"] else {"measures": default_measures(options["quota"])}

    def made(**others: Any) -> Segments:
        seg = evaluate_table(table, score=columns.scores[0], by=list(asked["by"]), **{**options, **others})
        order = asked["order"] or (list(seg) if asked["ordered"] else None)
        return seg.shown_with(order=order, places=places)

    with about_file(table.name):
        seg = made(**few)
        every = made() if few and asked["html"] is not None else seg  # the page shows every measure
    say_understood(seg.understood)
    facts = {**facts_of(file, columns, asked, seg.dropped), "by": ", ".join(asked["by"])}
    write_outputs(every, facts, asked)
    report(seg, facts, asked["measures"], everything=asked["everything"]).publish(form)


def given_places(asked: Mapping[str, Any]) -> dict[str, int] | None:
    """Places of each segment, as ``--quota-by`` lists them: SEGMENT:PLACES,… or COLUMN=SEGMENT:PLACES,…"""
    text = asked["quota_by"]
    if text is None:
        return None
    column = next((name for name in asked["by"] if text.startswith(f"{name}=")), None)
    return listed_places(text if column is None else text[len(column) + 1 :])


def listed_places(text: str) -> dict[str, int]:
    """Read ``north:60,south:40``."""
    places: dict[str, int] = {}
    for part in text.split(","):
        name, mark, number = part.rpartition(":")
        name = name.strip()
        if not mark or not number.strip().isdigit() or name in places:
            raise InputError("quota_by", f"lists {show(part)}", "write each segment once, as SEGMENT:PLACES")
        places[name] = int(number)
    return places


def report(seg: Segments, facts: Mapping[str, Any], measures: Sequence[str], *, everything: bool) -> Report:
    """The segments in every form."""
    from ..evaluation import notices_of
    from ..present import segment_words, words

    def content() -> dict[str, Any]:
        found: dict[str, Any] = json.loads(seg.to_json())
        if seg.shared is not None:
            found["one_list"] = json.loads(seg.shared.to_json())
            found["price"] = None if seg.prices is None else json.loads(seg.prices.to_json())
        return found

    def blocks() -> Iterator[str | Block]:
        keys = list(seg.specs) if everything else seg.chosen(None if not measures else list(measures))
        sentences = [words.headline(seg.overall), *notices_of([seg.overall], COMMAND_LINE)]
        yield "\n".join([*sentences, *segment_words.sentences(seg)])
        yield Block("Segments", segment_words.segment_rows(seg, keys))
        if len(seg) > 1:
            yield Block(
                f"Against {seg.compared.reference}, strongest evidence first",
                segment_words.difference_rows(seg),
            )
        if seg.trends:
            yield Block(segment_words.trend_title(seg), segment_words.trend_rows(seg))
        if seg.shared is not None:
            yield Block(segment_words.list_title(seg.shared), segment_words.list_rows(seg.shared))
            yield seg.shared.sentence
            if seg.prices is not None:
                yield Block(segment_words.price_title(seg.prices), segment_words.price_rows(seg.prices))
                yield Block("Places of each segment by rule", segment_words.place_rows(seg, seg.prices))

    settings = settings_of(seg.overall, seg.overall.facts["rows"], measures)
    return Report(facts, content, seg.to_dicts, blocks, settings)


def compare_by(
    table: Any, file: str, columns: Columns, options: dict[str, Any], form: str, asked: Mapping[str, Any]
) -> None:
    """Compare models in each segment, and print it in the form that was asked for."""
    from ..tables import compare_table

    found = compare_table(table, scores=columns.scores, by=list(asked["by"]), margin=asked["margin"], **options)
    first = next(iter(found.overall.evaluations.values()))
    say_understood(first.understood)
    facts = {**facts_of(file, columns, asked, first.dropped), "by": ", ".join(asked["by"])}
    write_outputs(found, facts, asked)
    comparison_report(found, facts, asked["measures"], everything=asked["everything"]).publish(form)


def comparison_report(
    found: SegmentComparison, facts: Mapping[str, Any], measures: Sequence[str], *, everything: bool
) -> Report:
    """Models by segment in every form."""
    from ..evaluation import notices_of
    from ..present import segment_words, words

    first = next(iter(found.overall.evaluations.values()))

    def blocks() -> Iterator[str | Block]:
        keys = list(found.overall.specs) if everything else words.chosen_measures(found.overall)
        sentences = [words.headline(first, named=False)]
        sentences += notices_of(list(found.overall.evaluations.values()), COMMAND_LINE)
        yield "\n".join(sentences)
        yield Block("All rows", words.side_by_side(found.overall, keys))
        yield Block("Models by segment", segment_words.model_rows(found, keys), "segment")
        yield Block(
            "Differences between models by segment, strongest evidence first",
            segment_words.model_difference_rows(found, keys),
        )

    settings = settings_of(found.overall, first.facts["rows"], measures)
    rows = lambda: found.differences().to_dicts()  # noqa: E731
    return Report(facts, lambda: json.loads(found.to_json()), rows, blocks, settings)
