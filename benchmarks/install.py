"""What an installation costs: `python benchmarks/install.py` builds the wheel and installs it into a new environment.

Times are processor seconds of the program and its children, so that other work on the machine hardly counts; ratios
come from one run. Needs a package registry, and what builds the wheel in the environment that runs this.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = str(ROOT / "examples" / "applicants.csv")
COMMANDS = {
    "evaluate": ["evaluate", EXAMPLE, "--label", "completed", "--score", "logistic", "--quota", "20"],
    "compare": ["compare", EXAMPLE, "--label", "completed", "--score", "logistic", "--score", "tree"],
}


def run(*words: str | Path, folder: str) -> float:
    """Processor seconds of a program; what it prints is shown only where it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    bin_folder = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # meson and ninja
    environment = {**os.environ, "PATH": bin_folder}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(list(map(str, words)), cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def line(what: str, value: str, wanted: str = "") -> None:
    """One row of the report."""
    print(f"{what:<62} {value:>14}   {wanted}", flush=True)


def main() -> None:
    """Build, install, weigh and start."""
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", ROOT, "-w", folder]
        spent = run(*build, folder=folder)
        line("build of the wheel", f"{time.perf_counter() - begun:.0f} s", f"{spent:.0f} s of a processor   ≤ 60 s")
        venv.create(f"{folder}/env", with_pip=True)
        bin_folder = Path(folder) / "env" / "bin"
        run(bin_folder / "pip", "install", "-q", next(Path(folder).glob("*.whl")), folder=folder)
        run(bin_folder / "pip", "uninstall", "-q", "-y", "pip", folder=folder)
        files = [path for path in (Path(folder) / "env" / "lib").rglob("*") if path.is_file() and not path.is_symlink()]
        line("installed: cutline and its dependencies", f"{sum(path.stat().st_size for path in files) / 1e6:.0f} MB")
        bare = min(run(bin_folder / "python", "-c", "import numpy, duckdb", folder=folder) for _ in range(7))
        line("python -c 'import numpy, duckdb'", f"{bare:.2f} s")
        for name, words in COMMANDS.items():
            limit = "   ≤ 3×" if name == "evaluate" else ""
            first = run(bin_folder / "cutline", *words, folder=folder)
            warm = min(run(bin_folder / "cutline", *words, folder=folder) for _ in range(7))
            line(f"the first cutline {name} of 400 rows", f"{first:.2f} s", f"{first / warm:.2f}× a warm one   ≤ 1.3×")
            line(f"a warm one: cutline {name}", f"{warm:.2f} s", f"{warm / bare:.1f}× the import{limit}")


if __name__ == "__main__":
    main()
