"""Put plausible faults into a copy of the source, one at a time, and see that the tests named for each notice it.

``make mutants`` runs all of them; ``python tests/mutants/run.py commands inference`` those of two files. A fault stands
in a ``.toml`` file beside this one: the text that it replaces, which occurs once in its file, and the tests that must
fail. A fault that no test notices ends the run with status 1.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from cutline.kernels import compiled

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
# A fault that takes longer to notice is too expensive to look for; a busy machine may be given more time.
SECONDS = float(os.environ.get("MUTANT_SECONDS", "60"))


class Fault(NamedTuple):
    """One wrong line: ``old`` becomes ``new`` in ``file``, and one of ``tests`` fails."""

    room: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


def faults(rooms: list[str] | None = None) -> list[Fault]:
    """The faults of the named files, or of all of them."""
    return [
        Fault(path.stem, fault["file"], fault["old"], fault["new"], tuple(fault["tests"]))
        for path in sorted(HERE.glob("*.toml"))
        if not rooms or path.stem in rooms
        for fault in tomllib.loads(path.read_text())["fault"]
    ]


def notice(fault: Fault) -> tuple[str, float]:
    """Whether the tests fail with the fault in place, and how long they took."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "src", Path(folder) / "src", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(compiled.__file__, Path(folder) / "src" / "cutline" / "kernels")
        # an editable installation finds its own source first, whatever the path says
        (Path(folder) / "src" / "sitecustomize.py").write_text(
            "import sys\nsys.meta_path[:] = [f for f in sys.meta_path if type(f).__name__ != 'MesonpyMetaFinder']\n"
        )
        source = Path(folder) / "src" / "cutline" / fault.file
        source.write_text(source.read_text().replace(fault.old, fault.new))
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *fault.tests]
        environment = {**os.environ, "PYTHONPATH": str(Path(folder) / "src")}
        started = time.monotonic()
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return f"no answer in {SECONDS:g} s", SECONDS
        # 1: tests ran and some failed. Anything else, such as a test that was not found, proves nothing.
        verdict = "noticed" if done.returncode == 1 else f"NOT NOTICED (pytest ended with {done.returncode})"
        return verdict, time.monotonic() - started


def main() -> int:
    """Try every fault, print a line for each and the count of those noticed."""
    listed = faults(sys.argv[1:])
    survivors = 0
    with ThreadPoolExecutor(2) as pool:
        for fault, (verdict, seconds) in zip(listed, pool.map(notice, listed), strict=True):
            survivors += verdict != "noticed"
            first = fault.new.strip().splitlines()
            print(f"{verdict:12} {seconds:5.1f} s  {fault.file}: {first[0] if first else '(removed)'}", flush=True)
    print(f"{len(listed) - survivors} passed, {survivors} failed")
    return 1 if survivors or not listed else 0


if __name__ == "__main__":
    sys.exit(main())
