"""What a table supports: which columns could be what, how the classes and the scores look, what looks wrong."""

from __future__ import annotations

import os
import re
import shlex
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from .errors import InputError, LabelWarning, Terms, listed
from .sources import rules
from .sources.class_matrix import ClassColumns, find_class_columns
from .sources.counts import describe_counts
from .sources.duckdb import DuckTable, Machine
from .sources.file_formats import TextFormat
from .sources.frames import MemoryTable
from .sources.open_source import only_rows, open_source
from .sources.profiles import CURRENCY, Profile, label_candidates, profiles, score_candidates
from .sources.sql_table import DUCKDB, lacking_sql
from .table import DictResult, HasSections, Section, Table, TabularResult, format_value, percentage, pluralize
from .types import Label, TableSource
from .validate import checked
from .verbs import compare, evaluate

_LABELS = 10  # values of a column of words that could yet be the label, one of them positive
_SEGMENTS = 30  # a column with more values is rather a cluster or an identifier
_FEW = 30  # positives or negatives below which intervals are wide
_SHOWN = 12  # columns, scores and findings that are shown; a screen has some forty lines
_EXACT = 1_000_000  # rows up to which distinct values are counted, not estimated
_TOTALS = ("total", "totals", "sum", "summe", "gesamt", "insgesamt", "somme", "suma", "totale", "totaal")
# Words in the names of columns whose rows mostly depend on each other.
_REPEATING = {"patient", "person", "subject", "customer", "client", "user", "member", "household", "kunde", "patientin"}
_REPEATING |= {"day", "date", "tag", "datum", "session", "visit", "account", "device"}
_DAY_CELL = "[0-9]{4}-[0-9]{2}-[0-9]{2}.*|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2,4}.*"
# Of two values, one is mostly among these where a column is an outcome, and mostly none where it is a group (m, f).
_OUTCOMES = {*rules.AFFIRMATIVE, "1", "1.0"}
_LABEL_NAMES = {"y", "y_true", "label", "class", "target", "outcome", "klasse"}
_EXAMINED = 200  # columns in which a word for a total, or rows that are there twice, are looked for
# Not "count" or "frequency": counts of equal rows are no weights.
_WEIGHTS = ("w", "weight", "weights", "sample_weight", "case_weight", "exposure")
# Names of columns of counts, by the option that takes them; a score or the ends of a bucket stand beside them.
_COUNTS = {
    "positives": {"positives", "positive", "pos", "n_pos", "n_positive", "events", "bads", "hits"},
    "negatives": {"negatives", "negative", "neg", "n_neg", "n_negative", "nonevents", "non_events", "goods"},
    "rows": {"rows", "n", "cases", "count", "counts", "n_rows", "total", "size", "frequency"},
    "low": {"low", "lower", "from", "min"},
    "high": {"high", "upper", "to", "max"},
}
# What the columns of a query's result are; the others are sums over a bucket.
_OF_A_QUERY = {"cutline": "description", "cases": "rows"}
_OF_A_QUERY |= {name: name for name in ("bucket", "low", "high", "positives", "negatives")}
_UNKNOWN = 0.05  # an AUC that the buckets leave open by so much does not tell a good model from a fair one
_PLANNED = ("to_label", "inclusion")  # the columns that cutline label-plan adds
_TREATMENTS = {"treated", "treatment", "mailed", "emailed", "contacted", "exposed", "targeted", "assigned", "treat"}
_SCORE_NAMES = {"score", "p", "prob", "probability", "y_score", "prediction"}
_RENAMED = {"pos_label": "positive", "neg_label": "negative", "y_true": "label", "y_score": "score"}
_RENAMED |= {"ignore_case=True": "--ignore-case", "skip_rows": "skip-rows", "clusters": "cluster"}
_COMMAND_LINE = Terms(_RENAMED, "--{name} {value}", "--{name}", first_row=1, row_word="data row")


@dataclass(frozen=True, repr=False)
class Diagnosis(HasSections, DictResult, TabularResult):
    """What a table supports. ``findings`` are sentences about what looks wrong; ``command`` is what to run next."""

    name: str
    rows: int
    columns: Table
    scores: Table
    label: str | None
    pos_label: Any
    balance: str
    findings: tuple[str, ...]
    command: str
    understood: str | None = None

    def to_dicts(self) -> list[dict[str, Any]]:
        """A row for each column."""
        return self.columns.to_dicts()

    def sections(self) -> Iterator[Section]:
        """What can be run, what the columns could be, how the scores look, what to check, and the command to run."""
        verb = self.command.split()[1] if self.command else ""
        answer = "Choose the label first" if verb == "doctor" else f"You can run cutline {verb}"
        answer = f"{answer}: see Next below" if verb else "Nothing can be evaluated yet: see what to check below"
        size = f"{self.name}: {pluralize(self.rows, 'row')}, {pluralize(len(self.columns), 'column')}"
        understood = [f"detected: {self.understood}"] if self.understood else []
        yield Section("answer", [answer, size, *understood])
        yield Section("columns", _short(self.columns))
        if self.balance:
            yield Section("balance", [self.balance])
        if self.scores:
            yield Section("scores", _short(self.scores))
        if self.findings:
            yield Section("findings", _short([f"- {sentence}" for sentence in self.findings]), "What to check:")
        if self.command:
            yield Section("next", [f"Next: {self.command}"])


def _short(rows: Table | list[str]) -> list[str | Table]:
    """The first rows of a table or the first sentences, and below them how many more there are."""
    more = [f"… and {len(rows) - _SHOWN} more (--format json contains all)"] if len(rows) > _SHOWN else []
    return [*([Table(rows.to_dicts()[:_SHOWN], rows.title)] if isinstance(rows, Table) else rows[:_SHOWN]), *more]


@checked
def doctor(
    source: TableSource,
    *,
    label: str | None = None,
    pos_label: Label = None,
    query: str | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | int | None = None,
    skip_rows: int | None = None,
    where: str | None = None,
) -> Diagnosis:
    """Inspect a table: what it supports, what looks wrong, and which command to run next.

    Which columns could be the label, scores, weights, clusters or segments; class balance; ties; indexes, scores that
    rank the wrong way or are not probabilities, copies, leaks, missing values; lines above the header, a cover sheet
    and a row of totals, which are left out here and in the command. Sources and options as for :func:`evaluate`.

    >>> import duckdb
    >>> found = doctor(duckdb.sql("SELECT range % 2 AS y, (range % 7) / 10 AS p FROM range(50)"))
    >>> found.label, found.scores[0]["score"]
    ('y', 'p')
    """
    file = str(source) if isinstance(source, str | os.PathLike) else "FILE"
    text = TextFormat(delimiter, quote, decimal, encoding, sheet, skip_rows, where, guess=True)
    guessed: dict[str, Any] = {}  # options that the file needs and that were not given
    with ExitStack() as stack:
        table = stack.enter_context(open_source(source, query, Machine(), text))
        if isinstance(table, DuckTable):
            guessed |= table.files.files[0].guessed if table.files is not None else ()
            text = replace(text, **guessed)
            table = table.copied(table.columns)
        elif isinstance(table, MemoryTable) and table.native is not None:
            import duckdb

            connection = stack.enter_context(duckdb.connect())
            connection.register("cutline_source", table.native)
            relation = connection.table("cutline_source")
            table = stack.enter_context(open_source(relation, None, Machine(), TextFormat(where=where)))
        else:
            raise InputError(None, "a table on a cluster or a mapping cannot be examined", "give a file or a frame")
        return _Examination(table, label, pos_label, text, file, guessed).diagnosis()


def _score_row(ev: Any, kind: str) -> dict[str, Any]:
    auc, ties = ev["roc_auc"], {"ties": ev.facts["tied_pairs"]}
    return {"score": ev.name, "kind": kind, "auc": auc.value, "low": auc.low, "high": auc.high, **ties}


def _words_for_rows(name: str) -> set[str]:
    """The words of a name if it is that of an identifier (site_id, PatientID), or of people or days; else none."""
    words = {word.casefold() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}
    return words if "id" in words or words <= _REPEATING | {"no", "nr", "number", "code", "key"} else set()


def _quoted(word: str) -> str:
    """A word of a command; one with single quotes in double ones, where nothing in it has another meaning there."""
    return f'"{word}"' if "'" in word and not set('"$`\\!') & set(word) else shlex.quote(word)


class _Examination:
    def __init__(
        self, table: DuckTable, label: str | None, pos_label: Any, text: TextFormat, file: str, guessed: dict[str, Any]
    ) -> None:
        self.table, self.pos_label, self.text, self.decimal = table, pos_label, text, text.decimal
        self.file = f"./{file}" if file.startswith("-") else file  # not an option of the command
        self.findings: list[str] = []
        self.say = self.findings.append
        for option, value in guessed.items():
            lines = option == "skip_rows"
            what = f"{pluralize(value, 'line')} above the header" if lines else f"the table is in the sheet {value!r}"
            self.say(f"{what}: --{option.replace('_', '-')} {_quoted(str(value))}")
        self._leave_out_totals()
        table = self.table
        self.many_labels = False
        self.rows = int(table.aggregate(["count(*)"])[0])
        self.profiles = profiles(table, exact=self.rows <= _EXACT)
        self.other = "VALUE"  # the label that is not positive
        if label is not None:
            table.column(label, "label")
        self.classes: ClassColumns | None = None
        self.counts = self._count_columns() if label is None and pos_label is None else None
        if pos_label is None and self.counts is None:
            try:
                self.classes = find_class_columns(table, label, None, None, several=True)
            except InputError as error:  # several columns that could be the label
                self.say(error.but(remedy="").render(_COMMAND_LINE))
        candidates = [label] if label is not None else label_candidates(table, self.profiles)
        # The values of a label, as they are with --ignore-case; more than two are no label of two classes.
        words = [p.name for p in self.profiles if p.sort == rules.WORD and 2 <= p.distinct <= _LABELS]
        spellings = {name: [str(v) for v in table.values_of(name, _LABELS + 1)] for name in {*words, *candidates}}
        spellings = {name: [v for v in values if v not in rules.MISSING_TEXT] for name, values in spellings.items()}
        joined = {name: {value.strip().casefold() for value in values} for name, values in spellings.items()}
        misspelled = [name for name in words if len(joined[name]) == 2 < len(spellings[name])]
        if label is None:
            candidates += [name for name in misspelled if name not in candidates]
            outcomes = [name for name in candidates if name.casefold().strip() in _LABEL_NAMES]
            outcomes = outcomes or [name for name in candidates if joined[name] & _OUTCOMES]
            if len(outcomes) == 1 < len(candidates) and self.classes is None:
                self.say(f"several columns could be the label: {listed(candidates)}; {outcomes[0]!r} is taken here")
                candidates = outcomes
        if self.classes is not None:
            candidates = [self.classes.label]
        treatments = [name for name in candidates if name.casefold().strip() in _TREATMENTS]
        self.treatment = treatments[0] if label is None and len(treatments) == 1 < len(candidates) else None
        self.planned = label not in _PLANNED and set(_PLANNED) <= set(table.names)
        passed = [*([self.treatment] if self.treatment else []), *(_PLANNED if self.planned else ())]
        candidates = [name for name in candidates if name not in passed]
        # of a plan whose labels are filled in, the others are empty, and the rows were not drawn alike
        self.sampled = self.planned and any(0 < p.missing < p.rows for p in self.profiles if [p.name] == candidates)
        self.labels = candidates
        self.label = candidates[0] if len(candidates) == 1 else None
        self.ignore_case = self.label in misspelled
        free = [p for p in self.profiles if p.name not in (*candidates, *passed)]
        ranking = [p for p in free if not (p.whole and _words_for_rows(p.name))]
        # a number that is called an identifier is a score where there is no other
        self.scores = list(self.classes.scores) if self.classes else score_candidates(ranking) or score_candidates(free)
        # The values of a whole number do not show whether it measures something or numbers something: a marker in mg/dl
        # repeats as customers do. Its order shows it. Numbers that were given out have none that the label follows, and
        # a score has: what ranks the labels beyond chance is a score, either way round; the others may be clusters.
        whole = [p.name for p in ranking if p.whole and not p.is_index and p.distinct > _SEGMENTS]
        self.markers = [name for name in whole if name not in self.scores]
        self.chosen = list(self.classes.models if self.classes else ()) or self.scores  # for the command

    def _leave_out_totals(self) -> None:
        """Find a row of totals below the table, and leave it out by a condition."""
        texts = [column for column in self.table.columns if column.kind == "text"]
        if not texts or self.text.where is not None or len(texts) > _EXAMINED:
            return
        cells, before = ", ".join(column.sql for column in texts), max(self.table.count_rows() - 1, 0)
        last = self.table.rows(f"SELECT {cells} FROM {self.table.relation} LIMIT 1 OFFSET {before}")
        for column, cell in zip(texts, last[0] if last else (), strict=False):
            if isinstance(cell, str) and cell.strip(" :").casefold() in _TOTALS:
                name = column.name if column.name.isidentifier() else '"' + column.name.replace('"', '""') + '"'
                where = f"{name} <> {DUCKDB.literal(cell)}"
                if self.table.count([lacking_sql(DUCKDB, column)])[0]:
                    where += f" or {name} is null"
                self.say(f"the last row is a total ({column.name!r} is {cell!r}): --where {_quoted(where)}")
                self.text = replace(self.text, where=where)
                self.table = only_rows(self.table, where)
                return

    def _say_clusters(self) -> None:
        """Columns of persons or days that repeat: their rows are alike, so intervals are too short without clusters."""
        if self.classes is not None:
            return
        for p in self.profiles:
            there, words = p.rows - p.missing, _words_for_rows(p.name)
            repeats = 5 <= p.distinct <= 0.8 * there and p.name not in (*self.labels, *self.chosen)
            column = self.table.named[p.name]
            is_day = column.type.lower().startswith(("date", "time"))
            # a number is no day, and the pattern is the slowest look
            if repeats and column.kind == "text" and p.sort == rules.WORD:
                other = f"NOT ({lacking_sql(DUCKDB, column)} OR {DUCKDB.matches(column.sql, _DAY_CELL)})"
                is_day = not self.table.rows(f"SELECT 1 FROM {self.table.cells(column)} WHERE {other} LIMIT 1")
            is_code = p.sort == rules.WORD or words  # an age or an amount repeats, and clusters nothing
            if repeats and (is_day or words & _REPEATING or ("cluster" in self._roles(p) and is_code)):
                said = f"{p.name!r} has {p.distinct:,} values in {there:,} rows: if rows of one value depend on each "
                self.say(
                    f"{said}other (one person, one day), add --cluster {_quoted(p.name)}, or intervals are too short"
                )

    def _count_columns(self) -> dict[str, str] | None:
        """Columns of counts by the options that name them, none where a query describes them; None: rows, no counts."""
        if describe_counts(self.table) is not None:
            return {}
        named = {p.name: p.name.casefold().strip() for p in self.profiles if p.is_number}
        whole = [p.name for p in self.profiles if p.whole and p.low >= 0]
        found = {option: [n for n in named if named[n] in words] for option, words in _COUNTS.items()}
        found |= {option: [n for n in found[option] if n in whole] for option in ("positives", "negatives", "rows")}
        other = "negatives" if found["negatives"] else "rows"
        if not found[other] or any(name in named for name in label_candidates(self.table, self.profiles)):
            return None  # a column of 0 and 1 is the label of rows
        counts = {"positives": "", other: found[other][0]}
        if not found["positives"] and other == "rows":  # called after what is counted: nowhere more than all cases
            n = self.table.named[counts["rows"]].sql
            rest = [name for name in whole if name != counts["rows"]]
            beyond = [f"{self.table.named[name].sql}::DOUBLE > {n}::DOUBLE" for name in rest]
            found["positives"] = [name for name, rows in zip(rest, self.table.count(beyond), strict=True) if not rows]
        if len(found["positives"]) != 1:
            return None
        counts["positives"] = found["positives"][0]
        free = [name for name in named if name not in counts.values()]
        free = [n for n in free if named[n] in _SCORE_NAMES] or free
        if found["low"] and found["high"] and named[free[0]] not in _SCORE_NAMES:
            return {"low": found["low"][0], "high": found["high"][0], **counts}
        free = [name for name in free if name not in whole] or free
        return {"score": free[0], **counts} if free else None

    def _of_counts(self, counts: dict[str, str]) -> tuple[str, list[dict[str, Any]], str]:
        """Balance, scores and command of a table of counts: each of its rows stands for so many cases."""
        self.label, described = None, describe_counts(self.table) or {}
        few = [p.name for p in self.profiles if (p.whole or not p.is_number) and 2 <= p.distinct <= _SEGMENTS]
        by = {name: "segment" for name in (few if counts else described.get("by", "").split(",")) if name}
        by |= {described["batch"]: "batch"} if described.get("batch") else {}
        self.count_roles = by | ({name: option for option, name in counts.items()} if counts else _OF_A_QUERY)
        verb: Any = compare if "bucket_b" in self.table.names else evaluate
        words = [verb.__name__, self.file, *(part for option, name in counts.items() for part in (f"--{option}", name))]
        how: Any = {"missing": "drop", "decimal": self.decimal, "measures": ["roc_auc"], "progress": False, **counts}
        try:
            result = verb(self.table, **how)
        except InputError as error:
            self.say(f"nothing can be evaluated yet: {error.render(_COMMAND_LINE)}")
            return "", [], ""
        models = [result] if verb is evaluate else list(result.values())
        cases, positives, dropped = (models[0].facts[name] for name in ("rows", "positives", "dropped"))
        if dropped:
            words += ["--missing", "drop"]
            self.say(f"--missing drop leaves out {pluralize(dropped, 'row')} without a label or a score")
        unknown = max(ev["roc_auc"].bounds.width if ev["roc_auc"].bounds else 0.0 for ev in models)
        if unknown > _UNKNOWN:
            remedy = "count shorter ranges of scores" if counts else "write the query with --edges query (cutline sql)"
            pairs = f"{unknown:.0%} of the pairs of a positive and a negative case share a bucket"
            self.say(f"{pairs}, in which their order is not known: {remedy}")
        for name in (name for name, role in by.items() if self.count_roles[name] == role):
            apart = f"add --by {_quoted(name)} to see each value" if counts else f"each value is a {by[name]}"
            self.say(f"the cases are divided by {name!r}: {apart}")
        exact = f"; cutline sql --refine {_quoted(self.file)} --quota N makes that number exact"
        exact = exact if unknown and not counts and verb is evaluate else ""
        self.say(f"if only some cases can be chosen, add --quota N to see how many of them are positive{exact}")
        balance = f"counts of {cases:,} cases, {positives:,} of them positive ({positives / cases:.1%})"
        return balance, [_score_row(ev, "counts") for ev in models], self._line(words)

    def diagnosis(self) -> Diagnosis:
        """Look at everything, in the order in which findings are told."""
        if self.counts is not None:
            balance, scores, command = self._of_counts(self.counts)
        else:
            balance = self._balance()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LabelWarning)  # a finding tells of several negative labels
                scores = self._scores()
                self._say_what_is_odd()
                indexes = [p.name for p in self.profiles if p.is_index]
                cells = [column.sql for column in self.table.columns if column.name not in indexes]
                # one rounded score repeats by itself
                fractions = [p for p in self.profiles if p.is_number and not p.whole]
                if len(fractions) > 1 and len(cells) <= _EXAMINED:
                    (copies,) = self.table.aggregate([f"count(*) - count(DISTINCT hash({', '.join(cells)}))"])
                    others = " and ".join(repr(name) if name else "the column without a name" for name in indexes)
                    every = f"every column except {others}" if indexes else "every column"
                    if copies:
                        repeat = f"{copies:,} rows repeat" if copies > 1 else "1 row repeats"
                        self.say(f"{repeat} another row in {every}; if they are the same cases, keep one of each")
                self._say_clusters()
                command = self._command()
        kinds, rows = {rules.NUMBER: "numbers", rules.TRUTH: "true and false", rules.WORD: "words"}, []
        for p in self.profiles:
            contents = "whole numbers" if p.whole else kinds.get(p.sort, "other values")
            contents += f" from {format_value(p.low)} to {format_value(p.high)}" if p.low == p.low else ""
            contents += f" ({p.notation})" if p.notation else ""
            row = {"column": p.name, "contents": contents, "distinct": p.distinct, "missing": p.missing}
            rows.append({**row, "could be": ", ".join(self._roles(p)) or "-"})
        columns = Table(rows, "Columns")
        found = self.label, self.pos_label, balance, tuple(self.findings), command
        understood = "; ".join(self.table.understood) or None
        return Diagnosis(self.table.name, self.rows, columns, Table(scores, "Scores"), *found, understood)

    def _roles(self, p: Profile) -> list[str]:
        if self.counts is not None:
            return [self.count_roles.get(p.name.removesuffix("_b"), "-" if self.counts else "sum")]
        if p.is_index:
            return ["index"]
        if p.name == self.treatment or (self.planned and p.name in _PLANNED):
            return ["treatment" if p.name == self.treatment else p.name.replace("_", " ")]
        roles = ["label"] if p.name in self.labels else []
        roles += ["score"] if p.name in self.scores else []
        there = max(p.rows - p.missing, 1)
        if p.is_number and p.low >= 0 and p.name.casefold().strip() in _WEIGHTS:
            roles.append("weight")
        categories = (p.sort == rules.WORD and not p.notation) or p.whole or p.sort == rules.TRUTH
        categories &= self.classes is None or p.name not in self.scores
        if categories and 2 <= p.distinct <= _SEGMENTS and p.name not in self.labels:
            roles.append("segment")
        elif categories and (p.name not in self.scores or _words_for_rows(p.name)):
            roles += ["cluster"] if _SEGMENTS < p.distinct <= 0.8 * there else []
            roles += ["identifier"] if p.distinct > 0.9 * there and there >= 20 else []
        return roles

    def _balance(self) -> str:
        """How many of each class; and which class is positive, where that can be told."""
        if self.label is None:
            why = f"several columns could be the label: {listed(self.labels)}"
            if not self.labels:  # columns of words with a few more values; the first goes into the command
                few = [p.name for p in self.profiles if p.sort == rules.WORD and 3 <= p.distinct <= _LABELS]
                self.labels = few[:1]
                others = f" ({listed(few)} {'has' if len(few) == 1 else 'have'} a few more)" if few else ""
                why = f"no column has two values{others}, so the label cannot be inferred"
            self.say(f"{why}; choose one with --label")
            return ""
        cell = f"CAST({self.table.named[self.label].sql} AS VARCHAR)"
        if self.ignore_case:
            cell = f"lower(trim({cell}))"
            self.say(f"{self.label!r} spells a label in several ways: --ignore-case joins them")
        counted = self.table.rows(
            f"SELECT {cell} AS v, count(*) AS n FROM {self.table.relation} GROUP BY v ORDER BY n DESC, v LIMIT 6"
        )
        counted = [(value, n) for value, n in counted if value is not None and value not in rules.MISSING_TEXT]
        if self.classes is not None:
            self.say(f"several classes: {self.classes.found_by} ({listed(self.chosen, 4)})")
        self.many_labels = len(counted) > 2
        known = sum(n for _, n in counted) if self.sampled else self.rows
        shares = ", ".join(f"{n:,} × {value} ({percentage(n / known)})" for value, n in counted)
        least = min((n for _, n in counted), default=0)
        if len(counted) == 2 and least < _FEW:
            self.say(f"only {pluralize(least, 'row')} of one class: expect wide intervals")
        if self.pos_label is None and counted:
            self._choose_positive([value for value, _ in counted])
        elif len(counted) == 2:
            self.other = next(value for value, _ in counted if value != str(self.pos_label))
        unlisted = self.classes is not None and len(self.classes.classes) > len(counted)
        return f"label {self.label!r}: {shares}{', …' if unlisted else ''}"

    def _choose_positive(self, values: Sequence[str]) -> None:
        """Suggest a positive label, values coming with the most frequent first: a word for yes, else the rarer one."""
        texts = sorted(values)
        self.other = texts[0]
        numbers = {rules.wanted_number(value) for value in texts}
        clear = {text.lower() for text in texts} <= {"true", "false"} or numbers <= {0.0, 1.0} or numbers <= {-1.0, 1.0}
        yes = [text for text in texts if text.casefold() in rules.AFFIRMATIVE]
        if len(texts) > 2 and self.classes is None:
            self.pos_label = yes[0] if len(yes) == 1 else values[-1]
            how = f"the command below uses {self.pos_label!r}"
            how += "" if len(yes) == 1 else " (choose the positive one with --positive)"
            self.say(f"{self.label!r} has more than two values: {how}, and the others count as negative")
        elif not clear and len(texts) == 2:
            self.pos_label = yes[0] if len(yes) == 1 else values[-1]
            (self.other,) = (text for text in texts if text != self.pos_label)
            said = f"the labels {listed(texts)} do not show which one is positive: the command below uses "
            self.say(f"{said}{self.pos_label!r}; for the other, write --positive {shlex.quote(self.other)}")

    def _say_what_is_odd(self) -> None:
        for p in self.profiles:
            if p.is_index:
                name = repr(p.name) if p.name else "the column without a name"
                self.say(f"{name} only numbers the rows; it is not used as a score unless you name it")
            elif p.missing == p.rows:
                self.say(f"{p.name!r} is empty")
            elif p.distinct == 1:
                self.say(f"{p.name!r} has the same value in every row, so it ranks nothing")
            if 0 < p.missing < p.rows and p.name in (*self.scores, *([] if self.sampled else [self.label])):
                gone = f"{pluralize(p.missing, 'row')} ({p.missing / p.rows:.1%})"
                self.say(f"{p.name!r} has no value in {gone}: add --missing drop, or fill it in")
            if "weight" in self._roles(p):
                weight = f"--weight {_quoted(p.name)}"
                self.say(f"{p.name!r} may be a weight (how many cases a row represents): if so, add {weight}")
            if p.notation == CURRENCY:
                self.say(f"{p.name!r} contains {CURRENCY}, which are not numbers: {rules.NO_CURRENCY}")
            if p.is_nearly_number:
                self.say(f"{p.name!r} contains numbers except in {pluralize(p.strange, 'cell')}; correct them")

    def _scores(self) -> list[dict[str, Any]]:
        """Each possible score with its AUC, and what looks wrong with it."""
        if self.label is None or self.classes is not None:
            return []
        how: Any = {"label": self.label, "pos_label": self.pos_label, "decimal": self.decimal}
        how |= {"ignore_case": self.ignore_case} | ({"inclusion": "inclusion"} if self.sampled else {"missing": "drop"})
        rows: list[dict[str, Any]] = []
        for name in (*self.scores, *self.markers):
            try:
                ev = evaluate(self.table, score=name, measures=["roc_auc"], progress=False, **how)
            except InputError as error:
                self.say(f"{name!r} cannot be evaluated: {error.render(_COMMAND_LINE)}")
                continue
            auc = ev["roc_auc"]
            if name in self.markers:
                if not (auc.low > 0.5 or auc.high < 0.5):
                    continue
                self.scores.append(name)
            kind = "probability" if ev.ranking.score[-1] >= 0 and ev.ranking.score[0] <= 1 else "score"
            rows.append(_score_row(ev, kind))
            if auc.value == 1.0 or auc.value > 0.9995:
                perfect = f"{name!r} separates the classes (almost) perfectly, AUC {auc.value:.4f}"
                self.say(f"{perfect}: was it derived from the label, or fitted on these rows?")
            elif auc.value == auc.value and auc.high < 0.5:
                within = f"AUC {auc.value:.3f} ({auc.low:.3f} to {auc.high:.3f})"
                said = (
                    f"{name!r} ranks significantly worse than chance, {within}; are these scores of the other class? "
                )
                self.say(f"{said}If so, add --positive {shlex.quote(self.other)}, or --negate {shlex.quote(name)}")
        self.chosen = [row["score"] for row in rows]
        probabilities = [row["score"] for row in rows if row["kind"] == "probability"]
        if points := [name for name in self.chosen if name not in probabilities]:
            are = "does not lie between 0 and 1, so it is not a probability"
            are = are if len(points) == 1 else "do not lie between 0 and 1, so they are not probabilities"
            left = "measures at a threshold need --threshold, and measures of probabilities are left out"
            self.say(f"{listed(points, 6)} {are}: {left}")
        if probabilities and len(probabilities) < len(self.scores):
            others = listed([name for name in self.scores if name not in probabilities], 6)
            self.say(f"the command below uses the probabilities; add --score for {others} if they are scores too")
            self.chosen = probabilities
        return rows

    def _command(self) -> str:
        """The first command that runs; empty where none does, which a finding then explains."""
        if self.label is None:
            return self._line(["doctor", self.file, "--label", self.labels[0]]) if self.labels else ""
        tried = [self.chosen] if self.chosen and not (self.sampled and len(self.chosen) > 1) else []
        if self.treatment and self.chosen:
            scores = [part for name in self.chosen for part in ("--score", name)]
            trial = ["uplift", self.file, "--treated", self.treatment, "--outcome", self.label, *scores]
            self.say(f"{self.treatment!r} tells who was treated: if that was at random, run {self._line(trial)}")
        if (self.classes is None or self.classes.models) and len(self.chosen) > 1:
            tried += [[name] for name in self.chosen]
        problem = "no score could be read" if self.scores else "no column of numbers could be the score"
        for usable in tried:
            try:
                return self._line(self._checked(usable))
            except InputError as error:
                problem = error.render(_COMMAND_LINE) if usable is tried[0] else problem
        self.say(f"nothing can be evaluated yet: {problem}")
        return ""

    def _line(self, words: Sequence[str]) -> str:
        names = ("sheet", "skip_rows", "where", "delimiter", "quote", "decimal", "encoding")
        given = {name.replace("_", "-"): getattr(self.text, name) for name in names}
        options = [part for name, value in given.items() if value is not None for part in (f"--{name}", str(value))]
        return " ".join(map(_quoted, ["cutline", *words, *options]))

    def _checked(self, usable: Sequence[str]) -> list[str]:
        """The words of the command, after its columns were read as it will read them; an error where it would fail."""
        assert self.label is not None
        names = (*([] if self.sampled else [self.label]), *(usable if self.classes is None else self.scores))
        holes = any(p.missing and p.name in names for p in self.profiles)
        how: dict[str, Any] = {"label": self.label, "decimal": self.decimal, "interval": None, "progress": False}
        how |= {"inclusion": _PLANNED[1]} if self.sampled else {"missing": "drop" if holes else "error"}
        words = ["--label", self.label, *(["--inclusion", _PLANNED[1]] if self.sampled else [])]
        columns: Any = None  # of several classes: found by the classes that they are called after
        if self.classes is not None:
            how["measures"] = ["accuracy"]
        else:
            how |= {"pos_label": self.pos_label, "measures": ["roc_auc"], "ignore_case": self.ignore_case}
            words += [] if self.pos_label is None else ["--positive", str(self.pos_label)]
            words += ["--ignore-case"] if self.ignore_case else []
            words += ["--rest-negative"] if self.pos_label is not None and self.many_labels else []
        if self.classes is None or self.classes.models:
            words += [part for name in usable for part in ("--score", name)]
            columns = list(usable) if len(usable) > 1 else usable[0]
        several = isinstance(columns, list)
        verb: Any = compare if several else evaluate
        verb(self.table, score=columns, **how)
        words = ["compare" if several else "evaluate", self.file, *words]
        return words + (["--missing", "drop"] if holes else [])
