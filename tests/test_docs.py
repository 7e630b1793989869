"""What the docstrings, the README and the guides show is what comes out. (The site has tests of its own: test_site.)"""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import runpy
import shutil
import sys
from pathlib import Path

import pytest

import cutline
from cutline.decide.model_choice import GOALS

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(cutline.__path__, "cutline.")
    if not module.name.startswith(("cutline.engines", "cutline.catalogue."))  # measures: test_catalogue
)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
by_page = pytest.mark.parametrize("page", PAGES, ids=[p.name for p in PAGES])


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert failed == 0


def test_docstrings_have_examples() -> None:
    finder = doctest.DocTestFinder()
    counted = sum(len(t.examples) for name in MODULES for t in finder.find(importlib.import_module(name)))
    assert counted > 40


@by_page
def test_pages(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").mkdir()
    shutil.copy(ROOT / "examples" / "applicants.csv", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)  # some examples write files
    failed, _ = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    if "matplotlib.pyplot" in sys.modules:  # a gallery leaves more figures open than matplotlib likes
        sys.modules["matplotlib.pyplot"].close("all")
    assert failed == 0


@by_page
def test_python_on_a_page_is_an_example_that_runs(page: Path) -> None:
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        on_spark = page.name == "files-and-clusters.md" and "spark.read" in block  # test_engines_spark runs it
        assert block.startswith(">>> ") or on_spark, f"{page.name} shows Python that nothing runs:\n{block}"


def test_the_readme_has_a_tour_and_both_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text
    assert "make test" in text
    parser = doctest.DocTestParser()
    assert 10 <= len(parser.get_examples(text)) <= 25


def test_the_guide_names_every_goal_and_its_measure() -> None:
    text = (ROOT / "docs" / "comparing-models.md").read_text(encoding="utf-8")
    for goal, (name, _) in GOALS.items():
        row = re.search(rf"^\| `{goal}` \| (.*?) \|", text, re.MULTILINE)
        assert row is not None, goal
        title = cutline.measure(name).title
        assert row[1].lower().startswith((title.lower(), name)) or f"({row[1]})" in title


def test_the_figures_of_the_page_about_tests_are_reached_and_not_outgrown() -> None:
    """Run ``python docs/testing_figures.py --write`` where this fails."""
    text = (ROOT / "docs" / "how-we-test.md").read_text(encoding="utf-8")
    for what, count, _ in runpy.run_path(str(ROOT / "docs" / "testing_figures.py"))["figures"]():
        row = re.search(rf"^\| {re.escape(what)} \| ([\d,]+) \|", text, re.MULTILINE)
        assert row is not None, what
        assert count / 1.5 <= int(row[1].replace(",", "")) <= count, what


@by_page
def test_links_lead_somewhere(page: Path) -> None:
    made = {"index", *(m.name for m in cutline.measures())}  # the pages of measures are made with the site
    made_of_classes = {"index", *(m.name for m in cutline.measures("classes"))}
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        of_measure = re.fullmatch(r"measures/(?:classes/)?(\w+)\.md", target)
        if of_measure:
            known = made_of_classes if "/classes/" in target else made
            assert of_measure[1] in known, f"{page.name} links to {target}"
        elif "://" not in target and not target.startswith(("reference/", "notebooks/")):  # made with the site, too
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_overview_for_programs_names_every_guide() -> None:
    text = (ROOT / "docs" / "llms.txt").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([\w-]+)\.html\)", text))
    assert linked >= {page.stem for page in (ROOT / "docs").glob("*.md")}


def test_text_avoids_phrases_that_read_as_translated() -> None:
    avoided = re.compile(
        r"is no (number|probability)\b|without a wish|foretold|counted coverage|lead alike|than chance gives|prior None"
        r"|name one that occurs|price both errors|hopeless cases|from which on\b|surest first|label at most these"
    )
    files = [*PAGES, *(ROOT / "src").rglob("*.py")]
    found = [f"{f.name}: {match[0]}" for f in files for match in avoided.finditer(f.read_text(encoding="utf-8"))]
    assert found == []
