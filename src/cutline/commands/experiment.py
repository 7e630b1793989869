"""``cutline experiment``: a paper's experiment, from the source checkout."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import click

from ..errors import InputError
from . import options
from .output import check_extra

# What each experiment needs beside cutline itself.
NEEDS = {
    "berrar": ("matplotlib",),
    "arbel-rokach": ("matplotlib", "sklearn"),
    "rosset": ("matplotlib", "sklearn"),
    "zheng": ("matplotlib",),
}
PAPERS = tuple(NEEDS)


@options.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("paper", type=click.Choice(PAPERS))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def experiment(paper: str, arguments: tuple[str, ...]) -> None:
    """Rerun the experiment of a PAPER with the public functions and print the results next to the published ones.

    Further ARGUMENTS go to the experiment; --help after the paper's name shows them.
    """
    folder = Path(__file__).resolve().parents[3] / "experiments"
    script = folder / f"{paper.replace('-', '_')}.py"
    if not script.is_file():
        raise InputError(None, f"the experiment {paper!r} is part of the source checkout, not of an installed package")
    if not {"-h", "--help"} & set(arguments):
        check_extra("experiments", *NEEDS[paper])
    kept = sys.argv, list(sys.path)
    sys.argv = [f"cutline experiment {paper}", *arguments]
    sys.path.insert(0, str(folder))  # the experiments import what they share from beside them
    try:
        runpy.run_path(str(script), run_name="__main__")
    finally:
        sys.argv, sys.path[:] = kept
