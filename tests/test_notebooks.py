"""The notebooks run from top to bottom, without a warning, and their stories come true."""

from __future__ import annotations

import re
import shutil
import textwrap
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
DATA = ROOT.parent / "shared" / "data"
NAMES = ("direct_marketing", "recognition_growth", "screening")
# the client's own libraries are not on trial; what the notebook runs is, in its own process
pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("ignore")]
STRICT = """
import warnings
from threadpoolctl import threadpool_limits
warnings.simplefilter("error")
# what old libraries say of each other's future is not ours to mend
warnings.filterwarnings("default", category=DeprecationWarning, module="(?!cutline|__main__)")
limits = threadpool_limits(1)  # two notebooks may run at once
"""


def read(name: str) -> Any:
    return nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)


def run(name: str, folder: Path, facts: str) -> None:
    """Run a notebook in a folder of its own, then check facts about what it left in its variables."""
    notebook = read(name)
    shutil.copy(EXAMPLES / "bank_marketing.py", folder)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(STRICT))
    notebook.cells.append(nbformat.v4.new_code_cell(f"warnings.simplefilter('default')\n{textwrap.dedent(facts)}"))
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute(cwd=str(folder))
    kinds = {kind for cell in notebook.cells for out in cell.get("outputs", []) for kind in out.get("data", {})}
    assert "image/png" in kinds
    shown = "".join(out.text for cell in notebook.cells for out in cell.get("outputs", []) if "text" in out)
    assert "nan" not in shown.split()


def test_these_are_all() -> None:
    assert sorted(path.stem for path in EXAMPLES.glob("*.ipynb")) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_kept_without_outputs_and_on_the_public_names(name: str) -> None:
    notebook = read(name)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in cells)
    code = "\n".join(cell.source for cell in cells)
    assert "import cutline as cl" in code
    assert not re.search(r"(from|import) cutline\.|\b\w\._[a-z]", code)


MARKETING = """
assert bool(path) is {found}
assert promise.low <= hits <= promise.high
assert cut.lift > 2
assert free.quota > within.quota > 0
assert free.profit.value > within.profit.value > 0
"""


def test_direct_marketing_on_invented_clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTLINE_DATA", str(tmp_path / "absent"))
    run("direct_marketing", tmp_path, MARKETING.format(found=False))


@pytest.mark.skipif(not list(DATA.rglob("bank-additional-full.csv*")), reason="the bank's file is not at hand")
def test_direct_marketing_on_the_banks_clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTLINE_DATA", str(DATA))
    run("direct_marketing", tmp_path, MARKETING.format(found=True))


def test_screening(tmp_path: Path) -> None:
    facts = """
    assert cut.hits_worst < cut.tp < cut.hits_best
    assert both.best("hit_rate") == "interview"
    assert stages.cost == 150 and len(stages.chosen) == SEARCHES
    assert cut.tp < found <= alone
    assert 0.95 <= kept <= 0.995
    """
    run("screening", tmp_path, facts)


def test_recognition_growth(tmp_path: Path) -> None:
    facts = """
    assert all(ex.accuracy(k).low <= value <= ex.accuracy(k).high for k, value in truth.items())
    assert accuracy(gallery, probes) > truth[1000] > truth[4000]
    assert until.low < until.value < until.high
    assert five.value > expected.value
    assert not ex.notes
    """
    run("recognition_growth", tmp_path, facts)
