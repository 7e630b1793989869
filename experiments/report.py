"""What the experiments share: options, a table beside the paper's, CSV files and figures in one folder."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import cutline as cl

PROJECT = Path(__file__).resolve().parents[1]
SHARED = PROJECT.parent / "shared" / "data"  # data sets kept beside a checkout; every experiment runs without them


def options(paper: str, description: str) -> argparse.ArgumentParser:
    """The options every experiment takes."""
    parser = argparse.ArgumentParser(prog=f"cutline experiment {paper}", description=description)
    parser.add_argument("--seed", type=int, default=0, help="seed of everything that is drawn (default 0)")
    parser.add_argument("--full", action="store_true", help="the paper's size; without it a run of under a minute")
    parser.add_argument("--out", type=Path, default=Path("experiment-results"), help="folder for CSV files and plots")
    return parser


def say(text: str) -> None:
    """A message or progress, on standard error: standard output holds the tables."""
    print(text, file=sys.stderr, flush=True)


class Report:
    """Prints tables and keeps them, and the figures, in ``folder/paper``."""

    def __init__(self, paper: str, folder: Path) -> None:
        self.folder = folder / paper
        self.folder.mkdir(parents=True, exist_ok=True)

    def table(
        self, title: str, rows: Sequence[Mapping[str, Any]], name: str, but: Sequence[str] = ()
    ) -> cl.results.Table:
        """Print rows under a title and write them as CSV; columns ``but`` go to the file alone."""
        table = cl.results.Table(rows, title)
        shown = [
            {key: f"{v:.6g}" if isinstance(v, float) else v for key, v in one.items() if key not in but} for one in rows
        ]
        print(f"{cl.results.Table(shown, title)!r}\n", flush=True)
        self.keep(rows, name)
        return table

    def keep(self, rows: Sequence[Mapping[str, Any]], name: str) -> None:
        """Write rows as CSV without printing them."""
        with (self.folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)

    def text(self, *lines: str) -> None:
        """A remark under a table."""
        print("\n".join(lines) + "\n", flush=True)

    def figure(self, figure: Any, name: str) -> Path:
        """Write a matplotlib figure and close it."""
        import matplotlib.pyplot as plt

        path = self.folder / f"{name}.png"
        figure.savefig(path, dpi=110)
        plt.close(figure)
        return path

    def done(self) -> None:
        """Say where the files are."""
        say(f"CSV files and plots are in {self.folder}")


def new_figure(rows: int = 1, columns: int = 1, size: tuple[float, float] = (6.4, 4.6), **keywords: Any) -> Any:
    """A figure and its axes, drawn without a screen."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt.subplots(rows, columns, figsize=size, layout="constrained", **keywords)


def row(what: str, printed: Any, ours: Any, spread: Any, verdict: str, **more: Any) -> dict[str, Any]:
    """A row of the table that every experiment prints."""
    return {"what": what, "printed": printed, "ours": ours, "spread": spread, "verdict": verdict, **more}


def digits(printed: str) -> int:
    """Decimals of a printed number; a whole one (a perfect 1) stands for at least three."""
    return len(printed.partition(".")[2]) or 3


def as_printed(value: float, printed: str) -> bool:
    """Whether a value, rounded as the paper rounds, is the printed number."""
    return abs(value - float(printed)) <= 0.5 * 10.0 ** -digits(printed) + 1e-9


def truncated(value: float, printed: str) -> bool:
    """Whether the printed number is the value with its last digits cut off instead of rounded."""
    return 0 <= value - float(printed) + 1e-9 < 10.0 ** -digits(printed)


def against_spread(printed: float, mean: float, spread: float, repeats: float = float("inf")) -> str:
    """A verdict from the distance in units of the spread over repeated experiments.

    ``repeats`` is the number of experiments behind ``mean``, which is itself uncertain by spread/√repeats.
    """
    if spread == 0:
        return "agrees" if abs(printed - mean) < 1e-9 else "differs: never so in our runs"
    z = (printed - mean) / (spread * (1 + 1 / repeats) ** 0.5)
    word = "agrees" if abs(z) <= 2 else "doubtful" if abs(z) <= 3 else "differs"
    return f"{word} (z = {z:+.1f})"


def against_binomial(printed: int, n: int, share: float) -> str:
    """A verdict on a count of ``n``, from how often a count is as far out: few of many have no normal distribution.

    The limits are those of |z| ≤ 2 and 3: two-sided chances of 4.6 % and 0.27 %.
    """
    from scipy.stats import binom

    above, below = float(binom.sf(printed - 1, n, share)), float(binom.cdf(printed, n, share))
    sign, chance = ("≥", above) if above < below else ("≤", below)
    word = "agrees" if 2 * chance >= 0.046 else "doubtful" if 2 * chance >= 0.0027 else "differs"
    return f"{word} ({sign} {printed} in {chance:.0%})"


def in_parallel(function: Any, arguments: Sequence[tuple[Any, ...]], what: str, *, processes: bool) -> list[Any]:
    """Call a function with each tuple of arguments on all cores, and tell how far it is.

    Processes use the cores fully, but take seconds to start; threads suit a short run.
    """
    from joblib import Parallel, delayed

    results = []
    with one_thread_each():
        pool = Parallel(n_jobs=-1, prefer=None if processes else "threads", return_as="generator")
        for result in pool(delayed(function)(*given) for given in arguments):
            results.append(result)
            if len(results) * 10 // len(arguments) > (len(results) - 1) * 10 // len(arguments):
                say(f"{what}: {len(results)} of {len(arguments)}")
    return results


def one_thread_each() -> Any:
    """A context in which linear algebra keeps to one thread: the work is shared out at a higher level."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return nullcontext()
    return threadpool_limits(1)
