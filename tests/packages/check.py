"""Build the packages, install them into empty environments, and use there what each extra adds.

    python tests/packages/check.py                 everything: what `make packages` runs
    python tests/packages/check.py core plot       these environments only
    python tests/packages/check.py python3.12      the newest versions of everything on another Python
    python tests/packages/check.py minimum --all   the whole test suite at the lowest versions allowed

Environments, one after another, each deleted when it is done: ``core`` and every extra of pyproject.toml with the wheel
(which is built from the sdist); ``python3.12`` and so on, where the wheel and the newest versions of everything meet
another Python and the tests named below run (skipped where the machine has no such interpreter); and ``minimum``, where
every dependency has the lowest version that pyproject.toml allows. `make test` installs the newest versions, too.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
TOOLS = {"dev", "docs"}  # for work in the checkout; `make test` installs dev
SDIST = {"README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "pyproject.toml", "PKG-INFO"}
SDIST |= {"meson.build", "meson.options", ".gitignore", ".gitattributes"}
DIST_INFO = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}
# At the lowest versions: measures, intervals, engines, every kind of column in; what is shown; scikit-learn's idiom;
# extrapolation, which leans most on scipy; and what smoke.py does with every extra. With --all the other tests too.
AT_MINIMUM = (
    "catalogue", "golden", "inputs", "evaluate", "intervals", "bootstrap", "compare", "curves", "imports", "cli",
    "demo", "engines", "engines_sources", "extrapolation_methods", "page", "plots", "sklearn_agreement",
    "sklearn_crossval", "sklearn_displays", "sklearn_scorer",
    "sklearn_thresholds",
)  # fmt: skip
# Every Python that the classifiers of pyproject.toml name, and the next one: what they may disagree on.
PYTHONS = (*re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"])), "3.14")
ON_EACH_PYTHON = (
    "catalogue", "golden", "inputs", "evaluate", "intervals", "compare", "imports", "classes", "cli", "engines",
    "results", "sklearn_scorer", "sklearn_crossval",
)  # fmt: skip
# The images to compare with are the newest matplotlib's, whose text is a pixel wider or narrower.
NOT_AT_MINIMUM = "not looks_as_it_did and not missing_line_is_noticed"


ON_PYTHON_TOOLS = ("pytest", "hypothesis", "pyyaml", "openpyxl")


class Failed(Exception):
    """A step of an environment failed; the message is what it printed."""


def run(*command: Any, cwd: Path = ROOT, **environment: str) -> str:
    """Run a command apart from this environment's own settings, and give what it printed."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**kept, "PYTHONUTF8": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode:
        raise Failed(f"$ {' '.join(str(word) for word in command)}\n{done.stdout}")
    return done.stdout


def build(folder: Path) -> tuple[Path, Path]:
    """Build the sdist, the wheel from it, and see that they hold what they should and nothing else."""
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", "src/cutline").splitlines()
    package = {name for name in listed if (ROOT / name).is_file()}
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    _same(sdist.name, names, package | SDIST | {"examples/applicants.csv"})
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        info = next(name for name in names if name.endswith(".dist-info/METADATA")).removesuffix("METADATA")
        metadata = archive.read(info + "METADATA").decode()
    inside = {name.removeprefix("src/") for name in package if not name.endswith((".pyx", ".hpp"))}
    inside |= {"cutline/data/applicants.csv", f"cutline/kernels/compiled{sysconfig.get_config_var('EXT_SUFFIX')}"}
    _same(wheel.name, names, inside | {info + name for name in DIST_INFO})
    for line in ("License-Expression: BSD-3-Clause", "Description-Content-Type: text/markdown"):
        if line not in metadata:
            raise Failed(f"{wheel.name}: its metadata lacks {line!r}")
    return sdist, wheel


def _same(name: str, there: set[str], wanted: set[str]) -> None:
    if there != wanted:
        raise Failed(f"{name}\n  is missing: {sorted(wanted - there)}\n  holds also: {sorted(there - wanted)}")


@contextmanager
def environment(folder: Path, python: str | Path = sys.executable) -> Iterator[Path]:
    """An empty environment: gives its Python, which has the pip that came with it: an older one may not know it."""
    run(python, "-m", "venv", folder)
    try:
        yield folder / "bin" / "python"
    finally:
        shutil.rmtree(folder)


def install(python: Path, *what: Any) -> None:
    """pip, into another environment."""
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", *what)


def smoke(python: Path, job: str, **settings: str) -> str:
    """Run a job of smoke.py in an empty folder, where nothing of the checkout can be found."""
    with tempfile.TemporaryDirectory(prefix="cutline-smoke-") as folder:
        shutil.copy(ROOT / "tests" / "packages" / "smoke.py", folder)
        return run(python, "smoke.py", job, cwd=Path(folder), CUTLINE_CHECKOUT=str(ROOT), **settings)


def types(python: Path) -> None:
    """mypy reads the installed package's types: the user's script is right, each mistake of the wrong one is found."""
    scripts = ROOT / "tests" / "packages"
    mypy = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--python-executable", python]
    marked = (scripts / "typed_wrong.py").read_text(encoding="utf-8").splitlines()
    wanted = {(n, line.rpartition("# ")[2]) for n, line in enumerate(marked, start=1) if "  # " in line}
    with tempfile.TemporaryDirectory() as cache:
        run(*mypy, "--cache-dir", cache, scripts / "typed_right.py", cwd=scripts)
        try:
            printed = run(*mypy, "--cache-dir", cache, scripts / "typed_wrong.py", cwd=scripts)
        except Failed as error:
            printed = str(error)
    errors = [line for line in printed.splitlines() if ": error: " in line]
    noticed = {(int(line.split(":")[-3]), line.rpartition("[")[2].rstrip("]")) for line in errors}
    if len(wanted) != 7 or noticed != wanted:
        raise Failed(f"mypy found {sorted(noticed)} in tests/packages/typed_wrong.py, not {sorted(wanted)}\n{printed}")


def versions(python: Path) -> str:
    """What is installed, of the libraries that pyproject.toml names."""
    listed = run(python, "-m", "pip", "--disable-pip-version-check", "list", "--format", "freeze").splitlines()
    ours = {_name(requirement) for requirement in required()}
    return ", ".join(line.replace("==", " ") for line in listed if _name(line) in ours)


def required() -> list[str]:
    """Everything that a user's installation may need, tools left out."""
    extras = [requirement for name, listed in EXTRAS.items() if name not in TOOLS for requirement in listed]
    return [r for r in PROJECT["dependencies"] + extras if not r.startswith("cutline[")]


def _name(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement)[0].lower().replace("_", "-")


def at_minimum() -> list[str]:
    """Every requirement pinned to its lower bound."""
    pins = set()
    for requirement in required():
        bound = re.fullmatch(r"([\w.-]+)>=([\d.]+)", requirement)
        if bound is None:
            raise Failed(f"pyproject.toml: {requirement!r} has no lower bound to test, or more than one")
        pins.add(f"{bound[1]}=={bound[2]}")
    return sorted(pins)


def check_extra(name: str, wheel: Path, folder: Path) -> str:
    """Install the wheel with one extra, or with none, and use it."""
    with environment(folder) as python:
        if name == "core":  # the README's way first, from the checkout
            install(python, ROOT)
            smoke(python, "demo")
            run(python, "-m", "pip", "uninstall", "--quiet", "--yes", "cutline")
        install(python, wheel if name == "core" else f"{wheel}[{name}]")
        said = smoke(python, name)
        if name == "sklearn":
            types(python)
        notes = [line for line in said.splitlines() if line.startswith("note: ")]
        return "; ".join([versions(python), *notes])


def check_minimum(wheel: Path, folder: Path, everything: bool) -> str:
    """Run the tests with the lowest versions allowed."""
    pins = folder.with_suffix(".txt")
    pins.write_text("\n".join(at_minimum()) + "\n", encoding="utf-8")
    tests = ["tests"] if everything else [f"tests/test_{name}.py" for name in AT_MINIMUM]
    with environment(folder) as python:
        install(python, "--constraint", pins, f"{wheel}[dev]")
        for name in EXTRAS.keys() - TOOLS:
            smoke(python, name)
        # what old libraries say of each other's future is not ours to mend
        options = ["-n", "2", "--dist", "loadgroup", "-q", "-W", "default", "--disable-warnings", "-k", NOT_AT_MINIMUM]
        said = run(python, "-m", "pytest", *options, *tests)
        return f"{said.strip().splitlines()[-1].strip('= ')}; {versions(python)}"


def interpreter(version: str) -> Path | None:
    """An interpreter of that version: on the path, or among those of pyenv; None where there is none."""
    on_path = shutil.which(f"python{version}")
    home = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = [*([Path(on_path)] if on_path else []), *sorted(home.glob(f"versions/{version}.*/bin/python"))]
    for python in found:
        try:
            if run(python, "-c", "import sys, venv; print('%d.%d' % sys.version_info[:2])").strip() == version:
                return python
        except (Failed, OSError):  # a link of pyenv to a version that is not in use
            continue
    return None


def check_python(version: str, sdist: Path, folder: Path) -> str:
    """Compile the sdist on another Python, with the newest libraries, and run the tests that matter there."""
    python = interpreter(version)
    if python is None:
        return "skipped: there is no such interpreter on this machine"
    tests = [f"tests/test_{name}.py" for name in ON_EACH_PYTHON]
    with environment(folder, python) as inside:
        install(inside, sdist)
        smoke(inside, "core")
        install(inside, f"{sdist}[sklearn,frames,plot]", *ON_PYTHON_TOOLS)
        options = ["-q", "-W", "default", "--disable-warnings", "-p", "no:cacheprovider"]
        said = run(inside, "-m", "pytest", *options, *tests)
        return f"{said.strip().splitlines()[-1].strip('= ')}; {versions(inside)}"


def check_bounds() -> str:
    """Run the numeric tests with every index of a compiled kernel checked."""
    return run("make", "--silent", "test-bounds").strip().splitlines()[-1].strip("= ")


def main() -> int:
    """Check the environments named, or all; 1 where something failed."""
    pythons = {f"python{version}": version for version in PYTHONS}
    known = ["core", *(name for name in EXTRAS if name != "dev"), *pythons, "minimum", "bounds"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="ENVIRONMENT", help=f"of {', '.join(known)}")
    parser.add_argument("--all", action="store_true", help="at the lowest versions, run the whole test suite")
    said = parser.parse_args()
    unknown = set(said.names) - set(known)
    if unknown:
        parser.error(f"no such environment: {', '.join(sorted(unknown))}")
    failed = []
    with tempfile.TemporaryDirectory(prefix="cutline-packages-") as place:
        folder = Path(place)
        start = time.monotonic()
        try:
            sdist, wheel = build(folder)
        except Failed as error:
            print(f"build: FAILED\n{error}", flush=True)
            return 1
        print(f"build: {wheel.name} from its sdist, {time.monotonic() - start:.0f} s", flush=True)
        for name in said.names or known:
            start = time.monotonic()
            try:
                if name == "minimum":
                    result = check_minimum(wheel, folder / name, said.all)
                elif name in pythons:
                    result = check_python(pythons[name], sdist, folder / name)
                elif name == "bounds":
                    result = check_bounds()
                else:
                    result = check_extra(name, wheel, folder / name)
            except Failed as error:
                failed.append(name)
                result = f"FAILED\n{error}"
            print(f"{name}: {result} ({time.monotonic() - start:.0f} s)", flush=True)
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
