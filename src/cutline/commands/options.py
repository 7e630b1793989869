"""Options: typed and declared once, beside each other; a command names those it takes and adds its own.

A command takes one object whose attributes are what the user typed, by name and type::

    class PlanArguments(Arguments, takes=[*ONE_MODEL, *LABELS, "batch", *DRAWN, *READING, *PRINTED, *PLOT]):
        cost: float = option("Cost of each case taken.", required=True)

    @command(PlanArguments, EXAMPLES)
    def plan(asked: PlanArguments) -> Report: ...
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar, get_args

import click

from ..errors import InputError, Terms, show
from ..runtime import is_stream
from ..types import IntervalName, Missing
from .output import QUIET, Report, check_extra, check_outputs

TABLE = "cutline.table"  # where a context keeps the name of the table that its command reads
TERMS = "cutline.terms"  # where a context keeps what its command calls an argument
# What the library calls an argument -> its option; those of the same name are added as they are declared.
NAMES = {
    "stream=False": "--engine memory",
    "stream": "--engine",
    "exact=False": "--approximate",
    "edges": "--edges",
    "segment": "--by",
    "n_resamples": "--resamples",
    "clusters": "--cluster",
    "sample_weight": "--weight",
    "keep": "--stage",
    "stages": "--stage",
    "y_true": "--label",
    "labels": "--label",
    "y_score": "--score",
    "score": "--score",
    "scores": "--score",
    "score_matrix": "--score",
    "pos_label": "--positive",
    "neg_label": "--negative",
    "neg_label=None": "--rest-negative",
    "ignore_case=True": "--ignore-case",
    "k": "--classes",
    "measures": "--measure",
    "measure": "--measure",
    "classes": "--order",
}
COMMAND_LINE = Terms(NAMES, assign="{name} {value}", blank="{name}", first_row=1, row_word="data row")

# The sections of a command's help, in this order: what is asked for first, how the file is read and where last; and
# the options in each. What a command adds otherwise names its section, or is among its "Options".
SECTIONS: dict[str, Sequence[str]] = {
    "Columns": (
        *("label", "score", "scores", "negate", "positive", "negative", "rest_negative", "ignore_case", "weight"),
        "worth",
    ),
    "Other kinds of files": ("positives", "negatives", "rows", "low", "high"),
    "Options": (),
    "Where to cut": (
        *("quota", "threshold", "recall", "precision", "specificity", "fpr", "cost_fp", "cost_fn", "prevalence"),
        *("cut_by", "list_size"),
    ),
    "Groups of rows": ("ordered", "order", "by", "batch", "cluster"),
    "Measures and intervals": ("measures", "everything", "level", "seed", "resamples", "no_intervals", "interval"),
    "Output": ("form", "quiet", "html", "plot", "plot_kind", "output"),
    "Reading the file": ("where", "sheet", "skip_rows", "delimiter", "quote", "decimal", "encoding", "missing"),
    "Large files": ("engine", "memory_limit", "threads", "temp_directory"),
}


class InputFile(click.Path):
    """A file that is read, ``-`` for standard input, or a pattern of files."""


class OutputFile(click.Path):
    """A file that is written."""


@dataclass(frozen=True)
class _Declared:
    """An option or an argument as a class of options declares it."""

    flags: tuple[str, ...]
    how: dict[str, Any]
    section: str | None = None  # of the help, where the name does not tell it
    is_argument: bool = False

    def flag(self, name: str) -> str:
        """The option as it is typed."""
        return max(self.flags, key=len, default=f"--{name.replace('_', '-')}")


def option(words: str, *flags: str, section: str | None = None, **how: Any) -> Any:
    """An option of a class of options; its flag is its name, its type is annotated."""
    return _Declared(flags, {"help": words, **how}, section)


def argument(**how: Any) -> Any:
    """An argument, which has no flag."""
    return _Declared((), how, is_argument=True)


def column(words: str, *flags: str, section: str | None = "Columns", **how: Any) -> Any:
    """An option that names a column."""
    return option(words, *flags, section=section, metavar="COLUMN", **how)


def parsed(read: Callable[[str], Any]) -> Callable[[click.Context, click.Parameter, str | None], Any]:
    """What click calls with the text of an option, if there is one."""
    return lambda ctx, param, value: None if value is None else read(value)


def share(words: str, metavar: str = "SHARE", **how: Any) -> Any:
    """An option that takes a share, ``0.8`` or ``80%``; its range is checked where it is used."""

    def read(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
        try:
            return None if value is None else read_share(value)
        except ValueError:
            problem = f"is {show(value)}, which is not a {'share' if metavar == 'SHARE' else 'number'}"
            raise InputError(param.name, problem, "write e.g. 0.8 or 80%") from None

    return option(words, callback=read, metavar=metavar, **how)


def price(words: str, **how: Any) -> Any:
    """An option that takes an amount for all rows, or names the column that has one for each."""

    def read(ctx: click.Context, param: click.Parameter, text: str) -> float | str:
        try:
            return float(text)
        except ValueError:
            if re.fullmatch(r"\W*\d[\d.,]*\W*", text):
                remedy = "write an amount with digits and a point alone, such as 1.5"
                raise InputError(param.name, f"is {show(text)}", remedy) from None
            return text

    return option(words, callback=read, metavar="AMOUNT|COLUMN", **how)


def choice(words: str, choices: Sequence[str], *flags: str, **how: Any) -> Any:
    """An option that takes one of a few words; its default is shown."""
    return option(words, *flags, type=click.Choice(choices), show_default="default" in how, **how)


def declared(options: type[Arguments]) -> dict[str, _Declared]:
    """The options and arguments of a command by name: those it shares with others before its own."""
    own = [name for name, value in vars(options).items() if isinstance(value, _Declared) and options is not Arguments]
    return {name: getattr(options, name) for name in dict.fromkeys([*options.takes, *own])}


# ------------------------------------------------------------------------------------- values, as they are typed


def read_share(text: str) -> float:
    """A share as people write it, ``0.8`` or ``80%``; ``ValueError`` for anything else."""
    text = text.strip()
    return float(text[:-1]) / 100.0 if text.endswith("%") else float(text)


def read_quota(value: str) -> Any:
    """Read a quota: ``200`` rows, ``5%`` of them, a range ``20-60``. Its size is checked where the rows are known."""
    from ..quotas import parse_quota

    quota = parse_quota(value)
    if isinstance(quota, float) and not 0 < quota < 1:
        raise InputError("quota", f"is {show(value)}", "a share lies between 0% and 100%; or give a number of cases")
    return quota


def one_score_given(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> str | None:
    """Raise an error for more than one score."""
    if len(value) > 1:
        remedy = "give it once; for several models use: cutline compare"
        raise InputError("score", f"is given {len(value)} times", remedy)
    return value[0] if value else None


# ---------------------------------------------------------------------------------- options that commands share


class Arguments:
    """What the user typed for one command. Options that several commands take are declared here; None if not taken."""

    takes: ClassVar[Sequence[str]] = ()  # the shared options of a command, by name
    given: frozenset[str]  # the names of the options that were typed

    file: str = argument(type=InputFile(allow_dash=True))
    label: str | None = column("Column with the real outcome.")
    score: str | None = column("Column with the score.", multiple=True, callback=one_score_given)
    scores: tuple[str, ...] = column("Column with a model's score; repeat it, or give 'p_*'.", "--score", multiple=True)
    negate: tuple[str, ...] = column(
        "Low scores mean positive: the sign is changed, of this score column (may be repeated) or of all.",
        multiple=True,
        is_flag=False,
        flag_value="*",
    )
    positive: tuple[str, ...] = option(
        "Positive label (default: 1 or true); repeat it.", metavar="VALUE", multiple=True
    )
    negative: tuple[str, ...] = option(
        "With --positive: a negative label; repeat it. Any other label is an error.", metavar="VALUE", multiple=True
    )
    rest_negative: bool = option("With --positive: all other labels are negative.")
    ignore_case: bool = option("Labels that differ only in case or in spaces around them are one label.")
    weight: str | None = column("Column with case weights.")
    worth: str | None = column("Column with what each row is worth if it is a hit: an amount, an order value.")
    cut_by: str | None = choice(
        "Cut the list of the score, of score × worth (plan: × value), or of score × worth / cost.",
        ["score", "value", "value_per_cost"],
        default="score",
    )
    positives: str | None = column("A file of counts: column with the number of positives that have this score.")
    negatives: str | None = column("A file of counts: column with the number of negatives.")
    rows: str | None = column("A file of counts: column with the number of cases, instead of --negatives.")
    low: str | None = column("Counts by bucket, instead of --score: column with the lowest score of the bucket.")
    high: str | None = column("Counts by bucket: column with the highest score of the bucket.")

    ordered: bool = option("Treat classes (or --by segments) as ordered, in the order they appear.")
    order: list[str] | None = option(
        "All classes in order, for measures of ordered classes; with --by all segments, for their trend.",
        callback=parsed(lambda text: [part.strip() for part in text.split(",") if part.strip()]),
        metavar="A,B,C",
    )
    by: tuple[str, ...] = column(
        "Column that defines segments; repeat it to cross columns.", multiple=True, section=None
    )
    batch: str | None = column("Column that defines batches, e.g. day; --quota applies to each batch.", section=None)
    cluster: str | None = column("Column of the cluster, e.g. patient: its rows depend on each other.", section=None)

    quota: Any = option("Places: a number (200) or a share (5%).", callback=parsed(read_quota), metavar="N|P%")
    list_size: int | None = option("Also: the hits to expect with --quota on a list of so many cases.", metavar="N")
    threshold: float | None = share("Select score > threshold (default for probabilities: 0.5).", metavar="FLOAT")
    recall: float | None = share("Cut that selects the fewest cases and reaches this recall.")
    precision: float | None = share("Cut that selects the most cases at this precision or better.")
    specificity: float | None = share("Cut that selects the most cases at this specificity or better.")
    fpr: float | None = share("Cut that selects the most cases within this false positive rate.")
    cost_fp: float | None = option("Cost of a false positive; with --cost-fn, finds the cheapest cut.", metavar="COST")
    cost_fn: float | None = option("Cost of a false negative.", metavar="COST")
    prevalence: float | None = share("Share of positives where the scores will be used (0.2%).")

    measures: tuple[str, ...] = option(
        "Only this measure: pem, recall@5%, 'f_beta(beta=2)'; repeat it.", "--measure", metavar="NAME", multiple=True
    )
    everything: bool = option("Print everything: all measures, methods and settings.", "--all")
    level: float = share("Level of the intervals.", default="0.95", show_default=True)
    seed: int = option("Random seed.", default=0, show_default=True)
    resamples: int = option("Bootstrap resamples.", default=2000, show_default=True)
    no_intervals: bool = option("Values only; faster on very large files.")
    interval: Any = choice(
        f"How intervals are made: {', '.join(get_args(IntervalName))}. A measure that lacks the method is shown "
        "without an interval.",
        get_args(IntervalName),
        metavar="METHOD",
    )

    where: str | None = option(
        "Only rows that meet this condition: \"month >= 6 and region in ('north', 'south')\".", metavar="CONDITION"
    )
    sheet: str | None = option("Sheet of an Excel workbook: its name, or its number from 1.", metavar="NAME|N")
    skip_rows: int | None = option("Lines above the header, which are left out.", metavar="N")
    delimiter: str | None = option(
        "Column delimiter (default: detected).",
        metavar="CHAR",
        callback=parsed(lambda text: "\t" if text in ("\\t", "tab") else text),
    )
    quote: str | None = option("Quote character (default: detected).", metavar="CHAR")
    decimal: str | None = choice("Decimal separator (default: detected).", [".", ","])
    encoding: str | None = option("Encoding of a text file, e.g. latin-1 (default: detected).", metavar="NAME")
    missing: Missing | None = choice("What to do with rows without a label or score.", ["error", "drop"])

    engine: str = choice(
        "Load the rows, or sort them on disk and stream them; auto loads up to a million.",
        ["auto", "memory", "duckdb"],
        default="auto",
    )
    memory_limit: str | None = option("Memory for DuckDB, e.g. 2GB; the rest goes to disk.", metavar="SIZE")
    threads: int | None = option("Threads for DuckDB (default: all cores).")
    temp_directory: str | None = option("Where DuckDB stores data beyond the memory limit.", metavar="PATH")

    form: str = choice(
        "table and markdown are for reading, json and csv for programs.",
        ["table", "json", "csv", "markdown"],
        "--format",
        default="table",
    )
    quiet: bool = option(
        "No messages on standard error.",
        "-q",
        "--quiet",
        callback=lambda ctx, param, value: ctx.meta.setdefault(QUIET, value),
    )
    html: str | None = option("Also write the interactive report.", type=OutputFile(), metavar="PATH")
    plot: str | None = option("Also save a plot (.png, .svg, .pdf).", type=OutputFile(), metavar="PATH")
    plot_kind: str | None = option("Draw this plot alone: roc, gain, hit_rate, qrecall, …", metavar="KIND")
    output: str | None = option(
        "Write here (.csv, .tsv, .parquet, .jsonl).", "-o", "--output", type=OutputFile(), metavar="PATH"
    )

    def __init_subclass__(cls, takes: Sequence[str] = ()) -> None:
        cls.takes = takes or cls.takes
        for name, declaration in declared(cls).items():
            if not declaration.is_argument:
                NAMES.setdefault(name, declaration.flag(name))

    def __init__(self, given: frozenset[str] = frozenset(), **values: Any) -> None:
        shared = (name for name, value in vars(Arguments).items() if isinstance(value, _Declared))
        not_taken: dict[str, Any] = {name: () if name in _SEVERAL else None for name in shared}
        self.__dict__.update(not_taken | values, given=given)

    @property
    def pos_label(self) -> Any:
        """The positive label, or several, as the library takes it."""
        return None if not self.positive else self.positive[0] if len(self.positive) == 1 else list(self.positive)

    def named(self, *names: str) -> dict[str, Any]:
        """Some of the options that have a value, by name."""
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def typed(self, *names: str) -> list[str]:
        """Some of the options as they were typed, for a command that takes them too."""
        given = [(NAMES[name], getattr(self, name)) for name in names if name in self.given]
        each = [(flag, one) for flag, value in given for one in (value if isinstance(value, tuple) else (value,))]
        return [word for flag, one in each for word in ((flag,) if one is True else (flag, str(one)))]

    @property
    def drawn(self) -> dict[str, Any]:
        """How intervals are drawn, as the library takes it."""
        return {"level": self.level, "n_resamples": self.resamples, "seed": self.seed}


# options that are lists, empty where a command does not take them
_SEVERAL = ("negate", "positive", "negative", "by", "scores", "measures")
O = TypeVar("O", bound=Arguments)  # noqa: E741

# Options that go together, in the order of the help.
COUNTS = SECTIONS["Other kinds of files"][:5]
ONE_MODEL = ("file", "label", "score", "negate", *COUNTS)
LABELS = ("positive", "negative", "rest_negative", "ignore_case")
GOALS = ("recall", "precision", "specificity", "fpr")
ERROR_COSTS = ("cost_fp", "cost_fn")
DRAWN = ("level", "seed", "resamples")
MEASURES = ("measures", "everything")
INTERVALS = (*DRAWN, "no_intervals", "interval")
READING = SECTIONS["Reading the file"]
TEXT_FORMAT = READING[:-1]  # without what is to be done with rows that lack something
ENGINE = SECTIONS["Large files"]
PRINTED = ("form", "quiet")
PLOT = ("plot", "plot_kind")


class Command(click.Command):
    """A command whose outputs are checked against all that it reads and writes before it does anything.

    What it gives is published: the page and the picture that were asked for, and the report in its format.
    """

    def __init__(
        self, options: type[Arguments], function: Callable[[Any], Report | None], renames: Mapping[str, str], **how: Any
    ) -> None:
        self.options, self.function, self.renames = options, function, renames
        self.terms = replace(COMMAND_LINE, names=ChainMap(dict(renames), NAMES))
        self.sections: dict[str, list[click.Parameter]] = {section: [] for section in SECTIONS}
        params: list[click.Parameter] = []
        for name, declaration in declared(options).items():
            settings = declaration.how
            if declaration.is_argument:
                params.append(click.Argument([name], **settings))
                continue
            home: Any = next(kind for kind in options.__mro__ if name in vars(kind))
            typed = home.__annotations__[name].removesuffix(" | None")
            if typed == "bool":
                settings = settings | {"is_flag": True}
            elif not {"type", "callback"} & settings.keys():
                settings = settings | {"type": {"int": int, "float": float}.get(typed)}
            params.append(click.Option([*(declaration.flags or [declaration.flag(name)]), name], **settings))
            by_name = (title for title, names in SECTIONS.items() if name in names)
            self.sections[declaration.section or next(by_name, "Options")].append(params[-1])
        super().__init__(params=params, help=function.__doc__, **how)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options by section."""
        sections = {title: list(options) for title, options in self.sections.items()}
        sections["Output" if sections["Output"] else "Options"].extend(filter(None, [self.get_help_option(ctx)]))
        for title, options in sections.items():
            records = [record for made in options if (record := made.get_help_record(ctx)) is not None]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def invoke(self, ctx: click.Context) -> Any:
        """Check the files that its parameters declare, run it, and publish what it gives."""
        paths: dict[type[click.Path], dict[str, str]] = {InputFile: {}, OutputFile: {}}
        for param in self.params:
            given_path = ctx.params.get(param.name or "")
            if isinstance(param.type, click.Path) and given_path is not None:
                name = param.opts[0] if isinstance(param, click.Option) else param.make_metavar(ctx).strip("[].")
                each = given_path if isinstance(given_path, tuple) else (given_path,)
                paths[type(param.type)] |= {name if len(each) == 1 else f"{name} {path}": path for path in each}
        default = click.core.ParameterSource.DEFAULT
        given = frozenset(name for name in ctx.params if ctx.get_parameter_source(name) is not default)
        ctx.meta[TERMS] = self.terms
        check_outputs(paths[InputFile], paths[OutputFile])
        asked = self.options(given, **ctx.params)
        if asked.html is not None and not asked.html.lower().endswith((".html", ".htm")) and not is_stream(asked.html):
            raise InputError("html", f"is {show(asked.html)}", "end the name of a page in .html")
        if asked.plot is not None:  # that can be drawn
            check_extra("plot", "matplotlib")
            from ..present.plots import check_kind, picture_format

            picture_format(asked.plot)
            if asked.plot_kind is not None:
                check_kind(asked.plot_kind)
        elif asked.plot_kind is not None:
            raise InputError("plot_kind", "needs a file to draw into", "add --plot PATH")
        try:
            report = self.function(asked)
        except InputError as error:  # one about a row names the file that the row came from
            raise error if error.where is not None else error.located({}, ctx.meta.get(TABLE)) from None
        if report is not None:
            report.publish(asked)
            ctx.exit(report.status)


def command(
    options: type[O], examples: str = "", renames: Mapping[str, str] = MappingProxyType({}), **how: Any
) -> Callable[[Callable[[O], Report | None]], Command]:
    """Declare a command: its options, the function that answers it, and what it calls an argument otherwise."""
    epilog = f"\b\nExamples:\n{examples}" if examples else None
    return lambda function: Command(
        options, function, renames, name=function.__name__.replace("_", "-"), epilog=epilog, **how
    )


def refuse(asked: Arguments, names: Sequence[str], problem: str, remedy: str = "leave it out") -> None:
    """Raise an error for the first of some options that was given."""
    for name in names:
        if name in asked.given:
            raise InputError(name, problem, remedy)
