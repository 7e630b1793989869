"""The bundled example and ``cutline demo``."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import cutline as cl
from cutline.commands.group import cli
from cutline.commands.start import MODELS, PLACES, example_file

FOLDER = Path(__file__).parents[1] / "examples"


def test_the_script_makes_the_file_byte_for_byte() -> None:
    spec = importlib.util.spec_from_file_location("make_applicants", FOLDER / "make_applicants.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert "\n".join(module.make()) + "\n" == (FOLDER / "applicants.csv").read_text(encoding="utf-8")


def test_the_story_holds() -> None:
    """Twenty places: the network leads. A hundred: the logistic regression. The tree cuts inside a tie."""
    table = np.genfromtxt(example_file(), delimiter=",", names=True, dtype=None, encoding="utf-8")
    hits = {
        places: {name: cl.hit_rate(table["completed"], table[name], quota=places) for name in MODELS}
        for places in (PLACES, 100)
    }
    assert max(hits[PLACES], key=hits[PLACES].__getitem__) == "network"
    assert max(hits[100], key=hits[100].__getitem__) == "logistic"
    assert max(MODELS, key=lambda m: cl.roc_auc(table["completed"], table[m])) == "logistic"
    assert len(np.unique(table["tree"])) == 8
    point = cl.evaluate(table["completed"], table["tree"], interval=None).at(quota=PLACES)
    assert 0 < point.from_tie < point.tied


def test_demo_prints_the_decision_and_writes_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli, ["demo"], catch_exceptions=False)
    assert result.exit_code == 0
    assert "With 20 places, network is ahead, but not clearly" in result.stdout
    assert str(tmp_path / "cutline-demo.html") in result.stdout
    assert [p.name for p in tmp_path.iterdir()] == ["cutline-demo.html"]
    assert "Who gets a place?" in (tmp_path / "cutline-demo.html").read_text(encoding="utf-8")
