"""One version everywhere it stands; CITATION.cff and the table of old and new names are complete."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import cutline
import cutline.extrapolation
import cutline.papers
import cutline.results
import cutline.sklearn

ROOT = Path(__file__).parents[1]
HOMES = (cutline, cutline.results, cutline.papers, cutline.extrapolation, cutline.sklearn)
# Where the version stands; a pin names its first two numbers alone. The first match in a file counts.
STANDS = {
    "meson.build": r"version: '([\d.]+)'",
    "CITATION.cff": r"(?m)^version: ([\d.]+)",
    "CHANGELOG.md": r"(?m)^## ([\d.]+)",
    "recipe/recipe.yaml": r'version: "([\d.]+)"',
    "action.yml": r"cutline==([\d.]+)\.\*",
    "examples/ci/workflow.yml": r"cutline==([\d.]+)\.\*",
    "docs/versions.md": r"cutline==([\d.]+)\.\*",
    "docs/continuous-integration.md": r"cutline/cutline@v([\d.]+)",
    "docs/how-do-i.md": r"cutline ([\d.]+) ·",
    "docs/peers.md": r"cutline ([\d.]+);",
}


@pytest.fixture(scope="module")
def citation() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    return found


def test_it_has_what_the_format_asks_for(citation: dict[str, Any]) -> None:
    assert citation["cff-version"] == "1.2.0"
    assert all(citation[key] for key in ("message", "title", "authors", "type"))


def test_it_says_what_the_package_says(citation: dict[str, Any]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert citation["license"] == project["license"]
    assert [author["name"] for author in citation["authors"]] == [author["name"] for author in project["authors"]]


def test_it_names_the_four_papers(citation: dict[str, Any]) -> None:
    first = [paper["authors"][0]["family-names"] for paper in citation["references"]]
    assert first == ["Berrar", "Arbel", "Rosset", "Zheng"]
    for paper in citation["references"]:
        assert paper["title"]
        assert 1990 < paper["year"] < 2100
        assert all({"family-names", "given-names"} <= set(author) for author in paper["authors"])
        assert re.fullmatch(r"10\.\d{4,}/\S+", paper.get("doi", "10.1000/none"))


@pytest.mark.parametrize("file", STANDS)
def test_the_version_is_the_same_everywhere(file: str) -> None:
    match = re.search(STANDS[file], (ROOT / file).read_text(encoding="utf-8"))
    assert match, f"{file} no longer names the version"
    numbers = match[1].split(".")
    assert numbers == cutline.__version__.split(".")[: len(numbers)]


def test_size_and_start_in_the_readme_are_of_this_version_and_its_dependencies() -> None:
    """Run ``python benchmarks/install.py --write`` where this fails."""
    script = runpy.run_path(str(ROOT / "benchmarks" / "install.py"))
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{script['START']}: {script['measured_for']()} -->" in text
    assert re.search(r"installed, with all dependencies \| \d+ MB", text)
    assert re.search(r"`import cutline` \(`import numpy`\) \| \d\.\d\d s", text)


def test_the_table_of_old_and_new_names_is_true() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").partition("### Moving from 0.2")[2].partition("###")[0]
    rows = [line.strip("|").split(" | ") for line in text.splitlines() if line.startswith("| `")]
    assert len(rows) > 25
    old = {name for before, _ in rows for name in re.findall(r"`([A-Za-z_]\w+)", before)}
    path = r"`(?:cutline\.(?:\w+\.)?)?([A-Za-z_]\w+)"
    new = {name for _, after in rows for name in re.findall(path, after)}
    stay = {"cutline", "ev", "plan", "screen", "rules"}  # commands, methods, and functions that lost an argument
    assert {name for name in old - stay if hasattr(cutline, name)} == set()
    assert {name for name in new - stay if not _public(name)} == set()
    for before, after in rows:
        if "the same names" in after:
            home = next(module for module in HOMES if f"`{module.__name__}`" in after)
            assert [name for name in re.findall(r"`(\w+)`", before) if not hasattr(home, name)] == []


def _public(name: str) -> bool:
    return any(hasattr(module, name) for module in HOMES)
