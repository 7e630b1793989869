"""The commands by name. Each is loaded when it is called, so that ``cutline --help`` answers at once."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
import warnings
from typing import IO, Any

import click

from .. import __version__
from ..errors import InputError, LabelWarning
from ..table import clean
from .options import COMMAND_LINE, TERMS
from .output import fit, note

# Section of the help -> the commands in it: the module of each, and its line. The help must not import the commands.
SECTIONS = {
    "Start": {
        "doctor": ("start", "Inspect a file: what it supports, what looks wrong."),
        "demo": ("start", "Evaluate the bundled example and write a report."),
    },
    "Judge": {
        "evaluate": ("evaluate", "Evaluate one model, each measure with an interval."),
        "compare": ("evaluate", "Compare models: which is better, and is that clear?"),
        "check": ("evaluate", "Check conditions such as 'roc_auc >= 0.8'."),
    },
    "Decide": {
        "select": ("decisions", "Choose the best rows for a number of places."),
        "cut": ("decisions", "Find a threshold for a recall, a precision or costs."),
        "plan": ("decisions", "Choose how many to take, given costs and values."),
        "uplift": ("decisions", "Choose whom to treat, from a randomised trial."),
    },
    "More": {
        "measures": ("start", "List the measures, or explain one."),
        "sql": ("start", "Print the query that counts cases in a warehouse."),
        "label-plan": ("decisions", "Choose which rows to label for one measure."),
        "screen": ("decisions", "Screen in stages: sizes, losses and costs."),
        "vote": ("decisions", "Choose how many of the best models to average."),
        "extrapolate": ("extrapolate", "Predict accuracy with more classes than you tested."),
        "experiment": ("start", "Rerun a paper's experiment."),
    },
}
COMMANDS = {name: module for section in SECTIONS.values() for name, (module, _) in section.items()}

EXAMPLES = """\b
Examples:
  cutline demo
  cutline doctor scores.csv
  cutline evaluate scores.csv --label y --score p --quota 200
  cutline evaluate scores.parquet --quota 5% --html report.html
  cutline compare scores.csv --label y --score tree --score network --quota 20
  cutline select scores.csv --score p --quota 20 -o chosen.csv
  zcat scores.csv.gz | cutline evaluate - --format json
"""


class Refusal(click.ClickException):
    """One line on standard error and an exit status: 2 for bad input, 1 for anything else."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(clean(" ".join(message.split())))
        self.exit_code = status  # type: ignore[misc]  # click reads it from the instance as well

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the line."""
        click.echo(fit(f"cutline: {self.message}"), file=file, err=True)


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports each one when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of a user's way through them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command, or name the nearest one."""
        if cmd_name.startswith("-"):
            return None
        if cmd_name not in COMMANDS:
            near = difflib.get_close_matches(cmd_name, COMMANDS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"the commands are {', '.join(COMMANDS)}"
            raise click.UsageError(f"there is no command {cmd_name!r}; {hint}", ctx)
        module = importlib.import_module(f"cutline.commands.{COMMANDS[cmd_name]}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, line) for name, (_, line) in commands.items()], col_max=11)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an error that a user can mend is one line."""
        try:
            with warnings.catch_warnings():
                warnings.showwarning = lambda message, *_: note(f"note: {message}")
                warnings.simplefilter("always", LabelWarning)  # how labels were read is shown whatever Python is told
                done = super().invoke(ctx)
                if sys.stdout is not None:
                    sys.stdout.flush()
                return done
        except click.NoSuchOption as error:
            command: Any = error.ctx and error.ctx.command
            instead = command.renames.get(error.option_name.lstrip("-"))
            if instead is None:
                raise Refusal(error.format_message(), 2) from None
            example = command.epilog.splitlines()[2].strip()
            what = instead if instead.startswith("the ") else f"part of {instead}"
            raise Refusal(f"{error.option_name} is {what} here, as in: {example}", 2) from None
        except (click.UsageError, click.FileError) as error:
            raise Refusal(error.format_message(), 2) from None
        except InputError as error:
            raise Refusal(error.render(ctx.meta.get(TERMS, COMMAND_LINE)), 2) from None
        except BrokenPipeError:  # the reader has gone (``| head``) and has what it wanted
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            raise click.exceptions.Exit(0) from None
        except ImportError as error:
            if error.name is not None:  # a library is broken, not merely left out: show where
                raise
            raise Refusal(str(error), 1) from None
        except EOFError as error:
            raise Refusal(f"unexpected end of data: {error}", 1) from None
        except OSError as error:
            raise Refusal(f"{error.filename or 'standard output'}: {error.strerror or error}", 1) from None
        except MemoryError as error:
            raise Refusal(str(error) or "there is not enough memory", 1) from None


@click.group(
    cls=LazyGroup,
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
)
@click.version_option(__version__, message="cutline %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Evaluate and compare classifiers from labels and scores, and decide where to cut the ranked list.

    Files may be CSV, TSV, Parquet, JSON lines or Excel, text also compressed (.gz); "-" reads standard input. Results
    go to standard output, messages to standard error. Exit status: 0 success, 2 bad input, 1 any other error, 130
    interrupted.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def run() -> int:
    """Run the command line on the program's arguments; gives the exit status."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):  # an ASCII terminal shows "?" for an arrow instead of failing
            stream.reconfigure(errors="replace")
    try:
        done = cli.main(prog_name="cutline", standalone_mode=False)
    except click.ClickException as error:
        (error if isinstance(error, Refusal) else Refusal(error.format_message(), 2)).show()
        return error.exit_code
    return done if isinstance(done, int) else 0
