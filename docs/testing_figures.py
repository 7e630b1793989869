"""How much is tested: `python docs/testing_figures.py` prints figures, `--write` puts them into how-we-test.md.

Figures are a tenth lower and rounded down to two digits, so that the page stays true while tests come and go;
``tests/test_docs.py`` fails where a figure is no longer reached, or has grown by more than a half.
"""

from __future__ import annotations

import doctest
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "how-we-test.md"
START, END = "<!-- printed by docs/testing_figures.py -->", "<!-- end -->"


def _text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def _matches(pattern: str, *patterns: str) -> int:
    """How often a pattern occurs in the files."""
    files = [path for one in patterns for path in ROOT.glob(one)]
    return sum(len(re.findall(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)) for path in files)


def figures() -> Iterator[tuple[str, int, str]]:
    """What is counted, how many there are, and where they stand or which command runs them."""
    sys.path.insert(0, str(ROOT / "tests"))
    from oracle import ORACLES

    examples = doctest.DocTestParser().get_examples
    golden = [json.loads(path.read_text(encoding="utf-8"))["rows"] for path in ROOT.glob("tests/golden/*.json")]
    faults = [tomllib.loads(path.read_text(encoding="utf-8"))["fault"] for path in ROOT.glob("tests/mutants/*.toml")]
    pages = [ROOT / "README.md", *ROOT.glob("docs/*.md")]
    cell = r"(?<=\|) *(?:\*\*)?\d+(?:\.\d+)?(?:\*\*)? *(?=\|)"
    files = re.search(r"`make packages` tries ([\d,]+)", _text("tests/test_random_files.py"))
    calls = [int(number) for number in re.findall(r"calls=([\d_]+)", _text("tests/test_fuzz_api.py"))]
    yield (
        "test functions, most of them run on many inputs",
        _matches(r"^\s*def test_", "tests/test_*.py"),
        "`make test`",
    )
    yield "measures written a second time, by brute force", len(ORACLES), "`tests/oracle.py`"
    yield "printed numbers of the papers", sum(map(len, golden)), "`tests/golden/`"
    yield "cells of simulated coverage", _matches(cell, "docs/coverage.md"), "`python benchmarks/coverage.py --full`"
    yield "known faults that the tests must notice", sum(map(len, faults)), "`make mutants`"
    shown = sum(len(examples(page.read_text(encoding="utf-8"))) for page in pages)
    yield "examples in README and guides that are run", shown, "`tests/test_docs.py`"
    yield "examples in docstrings that are run", _matches(r"^\s*>>> ", "src/**/*.py"), "`tests/test_docs.py`"
    yield "random odd files, read in several ways", int(files[1].replace(",", "")) if files else 0, "`make packages`"
    yield "calls of public functions with odd arguments", max(calls), "`make packages`"
    yield (
        "errata of the four papers, with evidence",
        _matches(r"^#+ [ABRZ]\d+", "docs/errata.md"),
        "[errata](errata.md)",
    )


def rounded(count: int) -> int:
    """A tenth lower, and rounded down to two digits; small and round numbers, which are chosen ones, as they are.

    >>> rounded(1911), rounded(47), rounded(129), rounded(20_000)
    (1700, 47, 110, 20000)
    """
    if count < 100 or count % 1000 == 0:
        return count
    lower = count * 9 // 10
    step = 10 ** max(len(str(lower)) - 2, 0)
    return lower // step * step


def main() -> None:
    """Print the table; with ``--write`` also into the page."""
    lines = ["| what | at least | where, or which command |", "|---|---:|---|"]
    lines += [f"| {what} | {rounded(count):,} | {where} |" for what, count, where in figures()]
    print(*lines, sep="\n")
    if "--write" in sys.argv[1:]:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
        PAGE.write_text(
            f"{before}{START}\n\n" + "\n".join(lines) + f"\n\n{END}{rest.partition(END)[2]}", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
