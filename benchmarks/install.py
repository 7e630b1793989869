"""What an installation costs: `python benchmarks/install.py` builds the wheel and installs it into a new environment.

With ``--write`` the README gets the figures; ``tests/test_versions.py`` fails where they are of another version or of
other dependencies. Times are processor seconds of the program and its children, so that other work on the machine
hardly counts; ratios come from one run. Needs a package registry, and what builds the wheel in the environment that
runs this.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
START, END = "<!-- printed by benchmarks/install.py", "<!-- end of benchmarks/install.py -->"
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


def megabytes(folder: Path) -> float:
    """What the files of a folder take."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return sum(path.stat().st_size for path in files) / 1e6


def measured_for() -> str:
    """The version and the dependencies that the figures are about, as the README has them in a comment."""
    version = re.search(r"version: '([\d.]+)'", (ROOT / "meson.build").read_text(encoding="utf-8"))
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    return f"cutline {version[1] if version else '?'} with {', '.join(needed)}"


def write(rows: dict[str, str]) -> None:
    """Put the figures between the marks of the README."""
    page = ROOT / "README.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(START)
    table = ["| what | costs |", "|---|---:|", *(f"| {what} | {cost} |" for what, cost in rows.items())]
    python = f"Python {sys.version_info[0]}.{sys.version_info[1]} on {sys.platform}"
    told = f"Times are processor seconds ({python}, {date.today().isoformat()}; `python benchmarks/install.py`)."
    text = "\n".join([f"{START}: {measured_for()} -->", "", *table, "", told, "", END])
    page.write_text(before + text + rest.partition(END)[2], encoding="utf-8")


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
        library = Path(folder) / "env" / "lib"
        whole, alone = megabytes(library), megabytes(next(library.rglob("site-packages/cutline")))
        line("installed: cutline and its dependencies", f"{whole:.0f} MB", f"{alone:.1f} MB of them cutline")
        imports = {
            name: min(run(bin_folder / "python", "-c", f"import {name}", folder=folder) for _ in range(7))
            for name in ("numpy", "cutline")
        }
        line("python -c 'import cutline'", f"{imports['cutline']:.2f} s", f"{imports['numpy']:.2f} s for numpy alone")
        rows = {
            "installed, with all dependencies": f"{whole:.0f} MB",
            "cutline alone": f"{alone:.1f} MB",
            "`import cutline` (`import numpy`)": f"{imports['cutline']:.2f} s ({imports['numpy']:.2f} s)",
        }
        bare = min(run(bin_folder / "python", "-c", "import numpy, duckdb", folder=folder) for _ in range(7))
        line("python -c 'import numpy, duckdb'", f"{bare:.2f} s")
        for name, words in COMMANDS.items():
            limit = "   ≤ 3×" if name == "evaluate" else ""
            first = run(bin_folder / "cutline", *words, folder=folder)
            warm = min(run(bin_folder / "cutline", *words, folder=folder) for _ in range(7))
            line(f"the first cutline {name} of 400 rows", f"{first:.2f} s", f"{first / warm:.2f}× a warm one   ≤ 1.3×")
            line(f"a warm one: cutline {name}", f"{warm:.2f} s", f"{warm / bare:.1f}× the import{limit}")
            rows[f"`cutline {name}` of a file of 400 rows"] = f"{warm:.2f} s"
        if "--write" in sys.argv[1:]:
            write(rows)


if __name__ == "__main__":
    main()
