"""Options that several commands share, declared once."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, get_args

import click
from click.shell_completion import CompletionItem

from ..errors import InputError, show
from ..types import IntervalName
from .output import QUIET, check_outputs
from .terms import terms_of

TERMS = "cutline.terms"  # where a context keeps what its command calls an argument
F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[F], F]


class PathName(click.Path):
    """A path; a name that no file can have is refused in one line. Each is an ``InputFile`` or an ``OutputFile``."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse what the system would not even look up."""
        if "\0" in os.fsdecode(value):
            self.fail(f"{show(value)} is not the name of a file: it holds a zero byte", param, ctx)
        return super().convert(value, param, ctx)


class InputFile(PathName):
    """A file that is read, ``-`` for standard input, or a pattern of files."""


class OutputFile(PathName):
    """A file that is written."""


class Command(click.Command):
    """A command whose outputs are checked against everything that it reads and writes, before it does anything."""

    def invoke(self, ctx: click.Context) -> Any:
        """Check the files that its parameters declare, then run it."""

        def given(kind: type[PathName]) -> dict[str, str]:
            named = [param for param in self.params if isinstance(param.type, kind)]
            return {
                param.opts[0] if isinstance(param, click.Option) else param.make_metavar(ctx): value
                for param in named
                if (value := ctx.params.get(param.name or "")) is not None
            }

        default = click.core.ParameterSource.DEFAULT
        typed = {name for name in ctx.params if ctx.get_parameter_source(name) is not default}
        ctx.meta[TERMS] = terms_of(self.name, typed)
        check_outputs(given(InputFile), given(OutputFile))
        return super().invoke(ctx)


def command(name: str | None = None, **how: Any) -> Callable[[Callable[..., Any]], Command]:
    """Declare a command."""
    return click.command(name, Command, **how)


def read_share(text: str) -> float:
    """A share as people write it, ``0.8`` or ``80%``; ``ValueError`` for anything else."""
    text = text.strip()
    return float(text[:-1]) / 100.0 if text.endswith("%") else float(text)


def share(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """Read a share, ``0.8`` or ``80%``; its range is checked where it is used."""
    try:
        return None if value is None else read_share(value)
    except ValueError:
        said = f"is {show(value)}, which is not a share"
        raise InputError(param.name, said, "write e.g. 0.8 or 80%") from None


def read_quota(ctx: click.Context, param: click.Parameter, value: str | None) -> Any:
    """Read a quota: ``200`` rows, ``5%`` of them, a range ``20-60``. Its size is checked where the rows are known."""
    from ..quotas import parse_quota

    if value is None:
        return None
    quota = parse_quota(value)
    if isinstance(quota, float) and not 0 < quota < 1:
        raise InputError("quota", f"is {show(value)}", "a share lies between 0% and 100%; or give a number of cases")
    return quota


def _one_score(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> str | None:
    """The one score column of a command for one model."""
    if len(value) > 1:
        remedy = "give it once; for several models use: cutline compare"
        raise InputError("score", f"is given {len(value)} times", remedy)
    return value[0] if value else None


def _columns(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a column name from the file that is already on the line."""
    from .reading import opened

    # While the option still waits for its value, click leaves what was read before it among the arguments.
    file = ctx.params.get("file") or next(iter(ctx.args), None)
    if not file or file == "-":
        return []
    try:
        with opened(file) as table:
            return [CompletionItem(c.name) for c in table.columns if c.name.startswith(incomplete)]
    except (InputError, OSError):
        return []  # a shell that completes must not print errors


def _measures(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from ..catalogue.declare import measures

    return [CompletionItem(m.name, help=m.title) for m in measures() if m.name.startswith(incomplete)]


def read_prevalence(ctx: click.Context, param: click.Parameter, value: str | None) -> Any:
    """Read a prevalence: ``0.002`` or ``0.2%``, also with its standard error, ``0.002±0.0005`` or ``0.002,0.0005``."""
    from ..inference.prevalence import as_prevalence

    if value is None:
        return None
    parts = [part.strip() for part in value.replace("±", ",").replace("+-", ",").split(",")]
    try:
        shares = [read_share(part) for part in parts]
    except ValueError:
        remedy = "write a share (0.002 or 0.2%), or one with its standard error (0.002,0.0005)"
        raise InputError("prevalence", f"is {show(value)}", remedy) from None
    return as_prevalence(shares[0] if len(shares) == 1 else shares)


def _classes_in_order(ctx: click.Context, param: click.Parameter, value: str | None) -> list[str] | None:
    """Read ``low,medium,high``."""
    return None if value is None else [part.strip() for part in value.split(",") if part.strip()]


def _sign(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """A delimiter; a tab may be written as one would in Python."""
    return "\t" if value in ("\\t", "tab") else value


def together(*options: Decorator[Any]) -> Decorator[Any]:
    """Several options as one, listed in this order."""

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def column_option(*names: str, **how: Any) -> Decorator[Any]:
    """An option that names a column, which the shell completes."""
    return click.option(*names, metavar="COLUMN", shell_complete=_columns, **how)


def share_option(name: str, words: str, metavar: str = "SHARE", **how: Any) -> Decorator[Any]:
    """An option that takes a share, ``0.8`` or ``80%``."""
    return click.option(name, callback=share, metavar=metavar, help=words, **how)


def choice_option(
    name: str, choices: Sequence[str], words: str, *, called: str | None = None, **how: Any
) -> Decorator[Any]:
    """An option that takes one of a few words; its default is shown. ``called``: the argument, if not as the option."""
    names = [name] if called is None else [name, called]
    return click.option(*names, type=click.Choice(choices), show_default="default" in how, help=words, **how)


def resamples_option(default: int = 2000, words: str = "Bootstrap resamples.") -> Decorator[Any]:
    """How often rows are drawn again."""
    return click.option("--resamples", type=int, default=default, show_default=True, help=words)


file_argument = click.argument("file", type=InputFile(allow_dash=True))
label_option = column_option("--label", help="Column with the real outcome.")
_one = {"multiple": True, "callback": _one_score}
score_option = column_option("--score", **_one, help="Column with the score; 'p_*' for a column per class.")
one_score_option = column_option("--score", **_one, help="Column with the score.")
_each = "Column with a model's score; repeat it for each model, or give a pattern ('p_*')."
scores_option = column_option("--score", "scores", multiple=True, help=_each)
one_model = together(file_argument, label_option, one_score_option)
several_models = together(file_argument, label_option, scores_option)
positive_alone = click.option("--positive", metavar="VALUE", help="The positive label (default: 1 or true).")
# which labels are positive and which negative, where there are more than two
positive_option = together(
    positive_alone,
    click.option(
        "--negative",
        metavar="VALUE",
        multiple=True,
        help="With --positive: a negative label; repeat it. Any other label is an error.",
    ),
    click.option("--rest-negative", is_flag=True, help="With --positive: all other labels are negative."),
)
_apart = "Column with the segment: each segment is reported separately; repeat it to cross columns."
by_option = column_option("--by", multiple=True, help=_apart)
quota_by_option = click.option(
    "--quota-by", metavar="S:N,…", help="With --by: also price given places of each segment (north:60,south:40)."
)
weight_option = column_option("--weight", help="Column with case weights.")
batch_option = column_option("--batch", help="Column with the batch (day): the quota counts in each batch.")
carry_option = click.option(
    "--carry", is_flag=True, help="With --batch: cases above the threshold without a place wait for the next batch."
)
cluster_option = column_option("--cluster", help="Column with the cluster (patient): its rows are resampled together.")
prevalence_option = click.option(
    "--prevalence",
    callback=read_prevalence,
    metavar="SHARE[,SE]",
    help="Share of positives where the scores will be used (0.2%), optionally with its standard error.",
)
# whether the classes have an order, and which
order_options = together(
    click.option("--ordered", is_flag=True, help="The classes (with --by: the segments) are in order as they are."),
    click.option(
        "--order",
        callback=_classes_in_order,
        metavar="A,B,C",
        help="All classes in order, for measures of ordered classes; with --by all segments, for their trend.",
    ),
)
# how a file holds several classes
class_options = together(
    column_option("--predicted", help="Column with the predicted class."),
    column_option("--case", help="Column with the case (a row per case and class)."),
    column_option("--class", "class_column", help="Column with the class (a row per case and class)."),
    order_options,
    share_option(
        "--abstain",
        "Several classes: the confidence above which answers keep this accuracy (at --level).",
        "ACCURACY",
    ),
)
quota_option = click.option(
    "--quota", callback=read_quota, metavar="N|P%", help="Places: a number (200) or a share (5%)."
)
threshold_option = click.option(
    "--threshold", type=float, help="Predicted positive means score > threshold; 0.5 for probabilities."
)
all_option = click.option("--all", "everything", is_flag=True, help="Print every measure of the catalogue.")
quiet_option = click.option(
    "-q",
    "--quiet",
    is_flag=True,
    expose_value=False,
    callback=lambda ctx, param, value: ctx.meta.__setitem__(QUIET, value),
    help="No messages on standard error.",
)
plot_option = click.option("--plot", type=OutputFile(), metavar="PATH", help="Also save a plot (.png, .svg, .pdf).")
cut_options = together(
    share_option("--recall", "Cut that takes the fewest cases and reaches this recall."),
    share_option("--precision", "Cut that takes the most cases and keeps this precision."),
    share_option("--specificity", "Cut that takes the most cases and keeps this specificity."),
    share_option("--fpr", "Cut that takes the most cases within this false positive rate."),
)
_cost_fp = "Cost of a false positive; with --cost-fn, finds the cheapest cut."
error_cost_options = together(
    click.option("--cost-fp", type=float, metavar="COST", help=_cost_fp),
    click.option("--cost-fn", type=float, metavar="COST", help="Cost of a false negative."),
)
measure_option = click.option(
    "--measure",
    "measures",
    metavar="NAME",
    multiple=True,
    shell_complete=_measures,
    help="Only this measure, e.g. pem, qrecall@5%, 'f_beta(beta=2)'; may be repeated.",
)
_forms = "table is for reading; the others are stable for programs."
format_option = choice_option("--format", ["table", "json", "csv", "markdown"], _forms, called="form", default="table")
html_option = click.option("--html", type=OutputFile(), metavar="PATH", help="Also write the interactive report.")
level_option = share_option("--level", "Level of the intervals.", default="0.95", show_default=True)
seed_option = click.option("--seed", type=int, default=0, show_default=True, help="Makes random results reproducible.")
# how intervals are made
_interval = "How intervals are made; a measure that lacks the method is shown without an interval."
inference_options = together(
    click.option("--no-intervals", is_flag=True, help="Values only; faster on very large files."),
    choice_option("--interval", get_args(IntervalName), _interval),
    level_option,
    resamples_option(),
    seed_option,
)
# how a text file is written, where it does not show by itself
text_options = together(
    click.option("--delimiter", metavar="CHAR", callback=_sign, help="Column delimiter (default: detected)."),
    click.option("--quote", metavar="CHAR", help="Quote character (default: detected)."),
    click.option("--decimal", type=click.Choice([".", ","]), help="Decimal separator (default: detected)."),
    click.option("--encoding", metavar="NAME", help="Encoding of a text file, e.g. latin-1 (default: detected)."),
)
# the same, and what to do with rows that lack something
reading_options = together(
    choice_option("--missing", ["error", "drop"], "What to do with rows without a label or score."),
    text_options,
)
# where and within which bounds a file is read
engine_options = together(
    choice_option(
        "--engine",
        ["auto", "memory", "duckdb", "spark"],
        "Large files and patterns stream through DuckDB; spark leaves the rows on a cluster.",
        default="auto",
    ),
    click.option("--master", metavar="URL", help="Spark: local[4], spark://host:7077, yarn, sc://host (Connect)."),
    click.option("--memory-limit", metavar="SIZE", help="Memory for DuckDB, e.g. 2GB; the rest goes to disk."),
    click.option("--threads", type=int, help="Threads for DuckDB (default: all cores)."),
    click.option("--temp-directory", metavar="PATH", help="Where DuckDB stores data beyond the memory limit."),
)
# where a file is summed, and what is made of an evaluation or a comparison
result_options = together(
    inference_options,
    reading_options,
    engine_options,
    format_option,
    html_option,
    plot_option,
    click.option("--cost", type=float, help="Cost of each place, for the report."),
    click.option("--value", type=float, help="Value of each hit, for the report."),
    quiet_option,
)
# how a file is read, and what is printed of what was made of it
decision_options = together(reading_options, format_option, plot_option, quiet_option)


def output_option(words: str = "Write here (.csv, .tsv, .parquet, .jsonl).") -> Decorator[Any]:
    """A file to write besides what is printed."""
    return click.option("-o", "--output", type=OutputFile(), metavar="PATH", help=words)


formulas_option = click.option(
    "--escape-formulas", is_flag=True, help="Put an apostrophe before text that a spreadsheet would run as a formula."
)


def drawing_options(default: int = 2000, words: str = "Bootstrap resamples.") -> Decorator[Any]:
    """How sure a result is."""
    return together(level_option, resamples_option(default, words), seed_option)
