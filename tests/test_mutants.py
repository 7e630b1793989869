"""The list of faults that ``make mutants`` tries fits the source as it is."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "mutants"))

from run import faults  # noqa: E402


def test_each_fault_replaces_one_place_of_the_source_and_names_tests_that_exist() -> None:
    stale = []
    for fault in faults():
        source = (ROOT / "src" / "cutline" / fault.file).read_text()
        if source.count(fault.old) != 1 or fault.new == fault.old:
            stale.append(f"{fault.file}: {fault.old!r} occurs {source.count(fault.old)} times")
        stale += [
            f"{fault.file}: no test {test}"
            for test in fault.tests
            if f"def {test.partition('::')[2].partition('[')[0]}" not in (ROOT / test.partition("::")[0]).read_text()
        ]
    assert not stale, "\n".join(stale)
