"""What the docstrings, the README and the guides show is what comes out."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import cutline

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(cutline.__path__, "cutline.")
    if not module.name.startswith(("cutline.engines", "cutline.measures."))  # measures: test_catalogue
)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert failed == 0


def test_docstrings_have_examples() -> None:
    finder = doctest.DocTestFinder()
    counted = sum(len(t.examples) for name in MODULES for t in finder.find(importlib.import_module(name)))
    assert counted > 40


@pytest.mark.parametrize("page", PAGES, ids=[p.name for p in PAGES])
def test_pages(page: Path) -> None:
    failed, _ = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert failed == 0


def test_the_readme_has_a_tour_and_both_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text
    assert "make test" in text
    parser = doctest.DocTestParser()
    assert 10 <= len(parser.get_examples(text)) <= 25


@pytest.mark.parametrize("page", PAGES, ids=[p.name for p in PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    import re

    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
