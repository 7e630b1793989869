"""The pictures of README and site show what the product shows now."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal needs a system that has one")


@pytest.fixture(scope="module")
def screens() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "docs" / "screens.py"))


def test_no_picture_is_older_than_what_it_shows(screens: dict[str, Any]) -> None:
    """Run ``make pictures``, and look at them."""
    kept = json.loads((ROOT / "docs" / "images" / "fingerprints.json").read_text(encoding="utf-8"))
    now = screens["fingerprints"](screens["comparison"]())
    stale = [name for name, mark in now.items() if kept.get(name) != mark]
    assert stale == [], f"{', '.join(stale)}: run make pictures, and look at them"
    for name in now:
        assert (ROOT / "docs" / "images" / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_the_terminal_shows_the_answer_first(screens: dict[str, Any]) -> None:
    printed = screens["terminal"](80)
    assert printed.startswith("With 20 places, ")
    assert "\r" not in printed
