"""The command line. Commands are loaded when they are called, so that ``cutline --help`` answers at once."""

from __future__ import annotations

import difflib
import importlib
import sys
from typing import NoReturn

import click

# Name -> where the command object lives, and its line in the help. The help must not import the commands.
COMMANDS = {
    "evaluate": ("cutline.commands.evaluate:evaluate", "How good is one model, and how sure is that."),
    "compare": ("cutline.commands.compare:compare", "Which of several models is better, and for which quota."),
    "select": ("cutline.commands.select:select", "Choose the best rows for a number of places."),
    "plan": ("cutline.commands.plan:plan", "Where to cut the list, given costs and values."),
    "extrapolate": ("cutline.commands.extrapolate:extrapolate", "Accuracy with more classes than were tried."),
    "measures": ("cutline.commands.measures:measures", "List the measures, or explain one."),
    "experiment": ("cutline.commands.experiment:experiment", "Run a paper's experiment again."),
    "demo": ("cutline.commands.demo:demo", "Evaluate the bundled example and write its page."),
}

EXAMPLES = """\b
Examples:
  cutline demo
  cutline evaluate scores.csv --label y --score p --quota 200
  cutline evaluate scores.parquet --quota 5% --html report.html
  cutline compare scores.csv --label y --score tree --score network --quota 20
  cutline select scores.csv --score p --quota 20 -o chosen.csv
  zcat scores.csv.gz | cutline evaluate - --format json
"""


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports each one when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of a user's way through them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name the nearest one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"the commands are {', '.join(COMMANDS)}"
            raise click.UsageError(f"there is no command {args[0]!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from . import __version__

        click.echo(f"cutline {__version__}")
        ctx.exit()


@click.group(cls=LazyGroup, epilog=EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Version.")
def cli() -> None:
    """Say how good a classifier is, how sure that is, which is better, and where to cut the ranked list.

    Files may be CSV, TSV, Parquet or JSON lines, also compressed (.gz); "-" reads standard input. Results go to
    standard output, messages to standard error. Exit status: 0 done, 2 bad input, 1 anything else.
    """


def main() -> NoReturn:
    """Run the command line: one line on standard error and a plain exit status where something is wrong."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # an ASCII terminal shows "?" for an arrow instead of failing
            stream.reconfigure(errors="replace")
    try:
        cli.main(prog_name="cutline", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(0)
    except click.ClickException as error:
        _fail(error.format_message(), 2 if isinstance(error, click.UsageError | click.FileError) else error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _fail("interrupted; nothing was written", 1)
    except ValueError as error:
        from .errors import InputError

        if not isinstance(error, InputError):
            raise
        _fail(str(error), 2)
    except BrokenPipeError:
        # The reader has gone (``| head``). Give the interpreter a stream it can flush at exit.
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except ImportError as error:
        if error.name is not None:  # a library is broken, not merely left out: show where
            raise
        _fail(str(error), 1)
    except OSError as error:
        _fail(f"{error.filename or 'file'}: {error.strerror or error}", 1)
    sys.exit(0)


def _fail(message: str, status: int) -> NoReturn:
    click.echo(f"cutline: {' '.join(message.split())}", err=True)
    sys.exit(status)
