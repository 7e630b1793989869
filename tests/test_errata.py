"""Every quotation in the errata occurs in the text of the paper it is taken from."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[1] / "docs" / "errata.md"
SEEDS = PAGE.parents[2] / "shared" / "seeds"
# The number of an entry begins with the letter of its paper; Arbel & Rokach were extracted twice.
TEXTS = {"A": ("000_*", "001_*"), "B": ("002_*",), "Z": ("003_*",), "R": ("004_*",)}
_TEX = re.compile(r"\\(?:bar|mathrm|mathbf|text|hat)|[${}\\*_^~#]")


def plain(text: str) -> str:
    """Letters, digits and signs alone: no spaces, hyphens, quotation marks, ligatures, or marks of TeX and Markdown."""
    text = unicodedata.normalize("NFKD", _TEX.sub("", text))
    return re.sub(r"[\s\-\u00ad\u2010-\u2014\"'“”‘’`\u0300-\u036f]", "", text).lower()


def quotations() -> list[tuple[str, str]]:
    """The number of the entry and each quotation in it."""
    prose = re.sub(r"```.*?```", "", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    entries = re.split(r"^(?:### |\| )(?=[ABRZ]\d+ )|^#+ ", prose, flags=re.MULTILINE)
    found = []
    for entry in entries:
        number = re.match(r"[ABRZ]\d+", entry)
        spoken = re.sub(r"`[^`]*`", "", entry)
        found += [(number[0], " ".join(quote.split())) for quote in re.findall(r'"([^"]+)"', spoken) if number]
    return found


def test_there_are_quotations_of_every_paper() -> None:
    assert {number[0] for number, _ in quotations()} == set(TEXTS)
    assert len(quotations()) > 30


@pytest.mark.parametrize(("number", "quote"), quotations())
def test_a_quotation_occurs_in_every_extraction_of_its_paper(number: str, quote: str) -> None:
    if not SEEDS.exists():
        pytest.skip("the papers are not beside this checkout")
    for pattern in TEXTS[number[0]]:
        (path,) = SEEDS.glob(pattern)
        assert plain(quote) in plain(path.read_text(encoding="utf-8")), f"{number} is not in {path.name}"
