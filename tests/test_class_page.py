"""The page of several classes: what it holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.test_classes import NAMES, forest
from tests.test_page_browser import HOSTILE, browser  # noqa: F401

import cutline as cl

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture(scope="module")
def trees() -> Any:
    y, p = forest(150, 4, digits=2)
    names = np.array([*NAMES[:3], HOSTILE])
    return cl.evaluate(names[y], p, classes=list(names), name="net", n_resamples=50)


@pytest.fixture(scope="module")
def written(trees: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = trees.to_html(tmp_path_factory.mktemp("pages") / "classes.html", source={"file": "trees.csv"})
    return path


def test_the_page_says_what_the_evaluation_says(trees: Any, written: Path) -> None:
    text = written.read_text(encoding="utf-8")
    right = trees["accuracy"]
    assert f"{right.value:.1%} of the cases ({right.level:.0%} interval {right.low:.1%} to {right.high:.1%})" in text
    assert "Which classes are confused" in text
    assert "trees.csv" in text
    assert HOSTILE not in text
    for row in trees.most_confused(3):
        assert f"{row['share_of_class']:.1%}" in text


def test_a_matrix_stays_a_table_on_a_phone(written: Path) -> None:
    text = written.read_text(encoding="utf-8")
    before = text[: text.index('title="')]  # of the first cell
    assert before[before.rindex("<table") :].startswith("<table>")
    assert '<table class="pairs">' in text


def test_hard_predictions_have_a_page_without_what_needs_scores(tmp_path: Path) -> None:
    y, p = forest(60, 3)
    ev = cl.evaluate(y, predicted=p.argmax(axis=1))
    text = ev.to_html(tmp_path / "hard.html").read_text(encoding="utf-8")
    assert "need scores" in text
    many = cl.evaluate(np.arange(90) % 45, predicted=np.arange(90) % 44, interval=None)
    assert "too large to be read cell by cell" in many.to_html(tmp_path / "many.html").read_text(encoding="utf-8")


def test_a_comparison_of_several_classes_has_a_page(tmp_path: Path, browser: Any) -> None:  # noqa: F811
    y, p = forest(150, 4, digits=2)
    names = np.array([*NAMES[:3], HOSTILE])
    worse = np.random.default_rng(3).dirichlet(np.ones(4), 150)
    models = {"net": p, "dice": worse}
    compared = cl.compare(names[y], models, classes=list(names), n_resamples=50)
    path = compared.to_html(tmp_path / "classes.html", source={"file": "trees.csv"})
    text = path.read_text(encoding="utf-8")
    assert HOSTILE not in text
    page = browser.new_page()
    page.goto(path.as_uri())
    assert page.locator("#chart-forest").bounding_box()["y"] < 500
    assert f"net: accuracy {compared['net']['accuracy'].value:.3f}" in page.locator("#chart-forest").get_attribute(
        "aria-label"
    )
    assert "By accuracy, use net: " in page.inner_text(".answer")
    assert page.locator("#confusion-1").count() == 1
    page.close()
    assert compared.plot("forest").get_title(loc="left")
