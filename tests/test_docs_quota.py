"""The guides' examples do what they say."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize("name", ["limited-quota.md", "comparing-models.md"])
def test_examples(name: str) -> None:
    text = (DOCS / name).read_text(encoding="utf-8").replace("```", "")
    test = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    assert len(test.examples) > 20
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test, out=said.append)
    assert runner.failures == 0, "".join(said)


@pytest.mark.parametrize("name", ["limited-quota.md", "comparing-models.md", "quota-story.md"])
def test_links_lead_somewhere(name: str) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", (DOCS / name).read_text(encoding="utf-8"))
    assert links
    for link in links:
        assert link.startswith("https://") or (DOCS / link).exists(), link
