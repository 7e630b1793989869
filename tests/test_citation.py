"""CITATION.cff: readable, complete, and of this version."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import cutline

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def citation() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    return found


def test_it_has_what_the_format_asks_for(citation: dict[str, Any]) -> None:
    assert citation["cff-version"] == "1.2.0"
    assert all(citation[key] for key in ("message", "title", "authors", "type"))


def test_it_says_what_the_package_says(citation: dict[str, Any]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert str(citation["version"]) == cutline.__version__
    assert citation["license"] == project["license"]
    assert [author["name"] for author in citation["authors"]] == [author["name"] for author in project["authors"]]
    assert f"version: '{cutline.__version__}'" in (ROOT / "meson.build").read_text(encoding="utf-8")


def test_it_names_the_four_papers(citation: dict[str, Any]) -> None:
    first = [paper["authors"][0]["family-names"] for paper in citation["references"]]
    assert first == ["Berrar", "Arbel", "Rosset", "Zheng"]
    for paper in citation["references"]:
        assert paper["title"]
        assert 1990 < paper["year"] < 2100
        assert all({"family-names", "given-names"} <= set(author) for author in paper["authors"])
        assert re.fullmatch(r"10\.\d{4,}/\S+", paper.get("doi", "10.1000/none"))
