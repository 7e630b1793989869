"""A verb's way through a table: its columns read, then as arrays go, or streamed where rows do not fit in memory."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .comparison import samples_of
from .engines.stream import EvaluationRequest
from .errors import InputError, show
from .evaluation import Evaluation, check_batch_options
from .segments import SegmentComparison, Segments, counted_evidence, in_segments
from .sources.arrays import check_worth_given, make_sample
from .sources.class_matrix import find_class_columns, models_of_classes, read_classes
from .sources.counts import CountColumns, Counted, CountTable, describe_counts, merged, read_counts
from .sources.duckdb import DuckTable, Machine
from .sources.file_formats import TextFormat
from .sources.frames import LoadedColumns, MemoryTable, frame_of
from .sources.given_columns import read_known_labels
from .sources.open_source import SparkTable, open_source, rows_of
from .sources.profiles import is_pattern
from .sources.rules import NO_CLUSTERS, as_labels, negative_labels
from .sources.sql_table import Checked, Roles, role_word
from .validate import check_column, check_columns
from .verbs import VerbCall, judge, judge_classes, judge_sampled


def answer_from_table(call: VerbCall) -> Any:
    """The result of a call that names columns of a table."""
    for name, column in call.pick("worth", "cost").items():
        if column is not None:
            check_column(column, name)
    check_worth_given(call.worth, call.cost, call.cut_by)  # before a file is opened
    machine = Machine(call.memory_limit, call.threads, call.temp_directory)
    text = TextFormat(**call.pick("delimiter", "quote", "decimal", "encoding", "sheet", "skip_rows", "where"))
    with open_source(call.y_true, call.query, machine, text) as table:
        if call.counts or (call.label is None and describe_counts(table) is not None):
            return _answer_counts(table, call)
        if call.label is None:
            raise call.lacks_columns()
        if _is_of_classes(table, call):
            return _answer_classes(table, call)
        if call.inclusion is None:
            return _answer_two_classes(table, call)
        # labels of some rows only
        numbers = [call.score, *([call.inclusion] if isinstance(call.inclusion, str) else [])]
        how = call.pick("pos_label", "neg_label", "decimal")
        call.refuse("ignore_case", why="is for labels that are all known", remedy="spell them the same in every row")
        labels, columns, understood = read_known_labels(table, call.label, numbers, **how)
        if call.negate is True or call.score in as_labels(call.negate or None):
            columns[call.score] = 0.0 - columns[call.score]
        if not isinstance(table, MemoryTable):  # what is positive was read already
            call.values |= {"pos_label": None, "neg_label": None}
        inclusion = columns.get(call.inclusion, call.inclusion)
        ev = judge_sampled(call, labels, columns[call.score], inclusion, call.name or call.score)
        return replace(ev, understood=understood)


def _answer_counts(table: Any, call: VerbCall) -> Any:
    """The result of counts in place of rows."""
    call.refuse("clusters", why=NO_CLUSTERS)
    call.refuse(
        *("label", "weight", "inclusion", "pos_label", "neg_label", "predicted", "cost", "cut_by"),
        *("stream", "exact", "tolerance", "negate", "ignore_case"),
        why="does not go with counts, which already have the number of positive cases",
    )
    by, columns = _each_once(call.by, "by", "column"), None
    of_counts = ("positives", "negatives", "rows", "low", "high", "batch", "worth")
    if call.counts and not call.compares:
        score = None if isinstance(call.score, list) else call.score
        columns = CountColumns(score, **call.pick(*of_counts), by=by)
    elif not call.counts:
        call.refuse("score", "by", "batch", "worth", why="is already in the description of these counts")
    if call.compares:
        return _compare_counts(table, call, by)
    counted = merged([read_counts(table, columns, **call.pick("missing", "decimal"))])
    if isinstance(call.y_true, CountTable):
        counted = replace(counted, dropped=counted.dropped + call.y_true.dropped)
    name = call.name or (columns and columns.score) or counted.described.get("score") or "model"
    return _judge_counts(call, counted, name)


def _compare_counts(table: Any, call: VerbCall, by: tuple[str, ...]) -> Any:
    """The comparison of models whose scores were counted jointly: a row is so many cases with one score of each."""
    call.refuse("paired", why="is False, but counts are of the same cases")
    call.refuse("worth", why="is not compared from counts")
    how = call.pick("missing", "decimal")
    if call.counts:
        call.refuse("low", "high", why="is the end of one model's buckets", remedy="make joint counts with cutline sql")
        names = check_columns(call.score, "score") if isinstance(call.score, list | tuple) else []
        columns = call.pick("positives", "negatives", "rows", "batch")
        models = {name: read_counts(table, CountColumns(name, by=by, **columns), **how) for name in names}
    else:
        counted = read_counts(table, None, **how)
        names = counted.described["score"].split(",")
        models = {} if counted.second is None else dict(zip(names, (counted, counted.second), strict=True))
    if len(models) < 2:
        raise InputError("score", "is one score, and a comparison needs two", "count two scores jointly")
    first, rows = next(iter(models.values())), {name: counted.rows() for name, counted in models.items()}
    one = next(iter(rows.values()))
    samples = samples_of(one.positive, {name: own.scores["score"] for name, own in rows.items()}, {}, None, True)
    if any(counted.has_buckets for counted in models.values()):
        call.refuse("prevalence", why="needs the score of each case, and here are buckets of scores")
        if first.segments is not None:
            raise InputError("by", "does not go with joint counts in buckets", "count each segment by itself")
    facts: dict[str, Any] = {"dropped": first.dropped, "understood": first.words}
    compared = judge(call, samples, one.segments, one.batch, **facts)
    evaluations = {}
    for name, ev in compared.evaluations.items():
        buckets, specs = counted_evidence(models[name]).buckets, list(ev.specs.values())
        if buckets is not None:
            made = {spec: ev.estimates[key] for key, spec in ev.specs.items()}
            bounded = buckets.bounded(specs, made, ev.settings)
            ev = replace(
                ev, rows=replace(ev.rows, buckets=buckets), estimates={str(spec): bounded[spec] for spec in specs}
            )
        evaluations[name] = ev
    return replace(compared, evaluations=evaluations)


def _judge_counts(call: VerbCall, counted: Counted, name: str, understood: Sequence[str] = ()) -> Any:
    """The evaluation of counts, with its segments."""
    facts: dict[str, Any] = {"dropped": counted.dropped, "understood": "; ".join([*understood, counted.words])}
    if counted.has_buckets or "worth" in counted.sums:
        why = "needs the score and worth of each case, and here are buckets of scores, or sums of worth"
        call.refuse("prevalence", why=why)
    rows = counted_evidence(counted)
    ev = judge(call, {name: rows.outline}, None, counted.batch, counted=rows, **facts)
    return ev if counted.segments is None else in_segments(ev, counted)


def _is_of_classes(table: Any, call: VerbCall) -> bool:
    """Whether each model has a column for each of several classes, or predicted classes."""
    score = call.score
    if call.predicted is not None:
        return True
    if not call.compares:
        if isinstance(score, list | tuple) and len(score) == 1:
            call.values["score"] = score = score[0]
        return not isinstance(score, str) or is_pattern(table, score)
    each = list(score.values()) if isinstance(score, Mapping) else score if isinstance(score, list | tuple) else []
    # lists of columns, or patterns that are not columns themselves
    return any(isinstance(one, list | tuple) or (isinstance(one, str) and is_pattern(table, one)) for one in each)


def _answer_two_classes(table: Any, call: VerbCall) -> Any:
    settings = call.settings()
    call.refuse("paired", why="is False, but the models of a table have the same rows")
    if not call.compares:
        scores = {call.name or call.score: call.score}
    else:
        given = call.score
        if isinstance(given, str) or not isinstance(given, Mapping | Sequence):
            remedy = "pass a list of column names or a mapping from model to column"
            raise InputError("score", f"is {show(given)}", remedy)
        if not given:
            raise InputError("score", "names no column", "name at least one")
        # the name of a model is text, as in a comparison of arrays
        models = _each_once([str(model) for model in given], "score", "model")
        scores = dict(zip(models, given.values() if isinstance(given, Mapping) else given, strict=True))
    by = _each_once(call.by, "by", "column")
    negative = negative_labels(call.neg_label, call.pos_label)
    columns = call.pick("label", "weight", "clusters", "batch", "pos_label", "missing", "decimal", "ignore_case")
    named = as_labels(call.negate or None)
    every = call.negate is True or (isinstance(call.score, str) and call.score in named)
    negate = tuple(scores.values()) if every else tuple(scores.get(name, name) for name in named)
    if (not call.exact or call.tolerance is not None) and not isinstance(table, MemoryTable):
        of_models = Roles(scores=scores, by=by, neg_label=negative, negate=negate, **columns)
        ev = _answer_approximately(table, of_models, call)
        if ev is not None:
            return ev
    # amounts are numbers as scores are: they are read as such, and taken out from among the models
    amounts = {name: column for name, column in call.pick("worth", "cost").items() if column is not None}
    for name, column in amounts.items():
        table.column(column, name)  # one that is not there is told by its own role
    if set(negate) & set(amounts.values()):
        raise InputError("negate", "changes the sign of an amount", "give the score a column of its own")
    as_scores = {f"{name} of a row": column for name, column in amounts.items()}
    roles = Roles(scores={**scores, **as_scores}, by=by, neg_label=negative, negate=negate, **columns)
    stream = call.stream
    if amounts:  # sums of cases alone are streamed
        stream = False
        if call.stream:
            raise InputError("worth", "needs the rows in memory, and these are streamed", "load them: {stream=False}")
        if isinstance(table, SparkTable):
            table = table.brought([table.column(name, role_word(role)).name for role, name in roles.named], "worth")
    rows = rows_of(table, roles, stream) if isinstance(table, MemoryTable | DuckTable) else None
    if isinstance(rows, LoadedColumns):
        facts: dict[str, Any] = {"dropped": rows.dropped, "understood": "; ".join(rows.understood)}
        labelled = {"sample_weight": rows.weight, "cut_by": call.cut_by}
        labelled |= {name: rows.scores.pop(role) for name, role in zip(amounts, as_scores, strict=True)}
        if call.compares:
            samples = samples_of(rows.positive, rows.scores, labelled, rows.clusters, True)
        else:
            ((name, score),) = rows.scores.items()
            samples = {name: make_sample(rows.positive, score, clusters=rows.clusters, **labelled)}
        return judge(call, samples, rows.segments, rows.batch, **facts)
    if call.batch is not None:
        check_batch_options(settings, call.prevalence)
    call.refuse(
        *("prevalence", *(["batch"] if by else [])),
        why="needs the rows in memory, and these are streamed",
        remedy="load them with {stream=False}, or leave it out",
    )
    engine: Any
    if isinstance(rows, Checked):
        from .engines import lists as engine
    else:  # on a cluster
        from .engines import spark_engine as engine
    request = EvaluationRequest(call.threshold, call.quota, call.measures, settings, call.n_resamples, call.stream)
    asked = (table, roles, request) if rows is None else (rows.table, rows, request)
    result = engine.compare(*asked, call.margin) if call.compares else engine.evaluate(*asked)
    return result.overall if isinstance(result, Segments | SegmentComparison) else result


def _answer_approximately(table: Any, roles: Roles, call: VerbCall) -> Evaluation | None:
    """The evaluation from counts, which needs no sort; None where bounds are wider than the given tolerance."""
    from .engines.count_query import count_table

    if call.compares:
        raise InputError("exact=False", "is for one model", "count two models jointly: cutline sql")
    call.refuse("clusters", why=NO_CLUSTERS)
    call.refuse(
        "weight", "stream", "worth", "cost", why="does not go with counts of cases, by which {exact=False} answers"
    )
    if isinstance(table, DuckTable):
        table = table.copied([table.column(name, role_word(role)) for role, name in roles.named])
    (model,) = roles.scores
    counted, understood = count_table(table, roles)
    ev: Evaluation = _judge_counts(call, counted, model, (*getattr(table, "understood", ()), *understood))
    if call.tolerance is None:
        return ev
    known = [e for e in ev.estimates.values() if e.value == e.value]
    close = [e.bounds.width <= call.tolerance * max(1.0, abs(e.value)) for e in known if math.isfinite(e.value)]
    return ev if all(close) else None


def _each_once(names: Sequence[Any] | None, argument: str, kind: str) -> tuple[Any, ...]:
    """Names, or one name, none of them twice."""
    names = [names] if isinstance(names, str) else names or ()
    twice = next((name for name in names if list(names).count(name) > 1), None)
    if twice is not None:
        raise InputError(argument, f"names {show(twice)} twice", f"name each {kind} once")
    return tuple(names)


def _answer_classes(table: Any, call: VerbCall) -> Any:
    """The result of models of several classes."""
    call.settings(several=True)
    if not isinstance(table, MemoryTable | DuckTable):  # the rows of a Spark DataFrame are brought here
        table = frame_of(table.frame.toPandas())
    call.refuse("stream", why="is for two classes: the score matrix of several must fit in memory")
    how = {**call.pick("weight", "clusters", "missing", "decimal"), "by": _each_once(call.by, "by", "column")}
    taken = [*(how[role] for role in ("weight", "clusters") if how[role] is not None), *how["by"]]
    if call.compares:
        call.refuse("paired", why="is for two classes")
        models = models_of_classes(table, call.label, call.score or (), call.predicted or (), taken)
    else:
        chosen = find_class_columns(table, call.label, call.score, call.predicted, taken)
        if chosen is None:
            lacks = f"has no score column for each class in {call.label!r}, and no column of predicted classes"
            one = "name the score column with {score}; of several classes, name a score column of each, or {predicted}"
            raise InputError(None, f"{table.name} {lacks}", one if call.score is None else "name them with {score}")
        models = {"model": chosen}
    rows, read = read_classes(table, models, call.classes, ordered=call.ordered, **how)
    if call.compares:
        of_models = {name: said if matrix is None else matrix for name, (matrix, said) in read.items()}
        return judge_classes(call, rows.pop("labels"), of_models, None, **rows)
    return judge_classes(call, rows.pop("labels"), *read["model"], argument="score", **rows)
