"""A result says a thing once, and every medium shows it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import cutline as cl
from cutline.commands.group import cli
from cutline.present import render, words
from cutline.present.page import page
from cutline.table import Figure, Section, Table, count, text_table

SENTENCE = "A sentence that was added in one place."


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> None:
    """One more sentence in the one place where an evaluation is told."""
    told = words.headline
    monkeypatch.setattr(words, "headline", lambda ev, **options: f"{told(ev, **options)} {SENTENCE}")


@pytest.mark.usefixtures("added")
def test_a_sentence_of_an_evaluation_is_in_every_medium(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    p = rng.random(60)
    y = rng.random(60) < p
    ev = cl.evaluate(y, p, quota=10, interval=None)
    assert SENTENCE in repr(ev)
    assert SENTENCE in ev._repr_html_()
    assert SENTENCE in page(ev)
    assert SENTENCE in ev.to_markdown()
    assert any(SENTENCE in sentence for sentence in json.loads(ev.to_json())["answer"])
    path, report = tmp_path / "scores.csv", tmp_path / "report.html"
    path.write_text("y,p\n" + "".join(f"{int(a)},{b}\n" for a, b in zip(y, p, strict=True)))
    for form in ("table", "markdown", "json"):
        call = ["evaluate", str(path), "--label", "y", "--score", "p", "--quota", "10", "--no-intervals"]
        done = CliRunner().invoke(cli, [*call, "--format", form, "--html", str(report)])
        assert done.exit_code == 0, done.output
        said = json.loads(done.stdout)["answer"] if form == "json" else [done.stdout]
        assert any(SENTENCE in text for text in said)
        assert SENTENCE in report.read_text(encoding="utf-8")


def results() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    p, q = rng.random((2, 120))
    y = rng.random(120) < p
    day = np.repeat(np.arange(6), 20)
    matrix = rng.dirichlet(np.ones(3), 120)
    labels = np.array([rng.choice(3, p=row) for row in matrix])
    ev = cl.evaluate(y, p, quota=10, n_resamples=20)
    both = cl.compare(y, {"a": p, "b": q}, quota=10, n_resamples=20)
    batched = cl.evaluate(y, p, quota=3, batch=day, n_resamples=20)
    return {
        "evaluation": ev,
        "comparison": both,
        "point": ev.at(quota=10),
        "batches": batched,
        "rules": batched.batches.rules(),
        "classes": cl.evaluate(labels, matrix, n_resamples=20),
        "plan": cl.plan(y, p, cost=1, value=3, n_resamples=20),
        "uplift": cl.uplift(day % 2, y, p),
        "uplifts": cl.uplift(day % 2, y, {"a": p, "b": q}),
        "calibration": ev.calibration(),
        "check": cl.check(ev, "roc_auc >= 0.5"),
        "cheapest": both.cheapest(cost_fp=1, cost_fn=3),
        "swaps": both.swaps("a", "b", quota=10),
        "consistency": both.consistency("a", "b"),
    }


@pytest.mark.parametrize("name", results())
def test_every_medium_shows_every_sentence_and_table(name: str) -> None:
    result = results()[name]
    sections = list(result.sections())
    text, html, markdown = repr(result), result._repr_html_(), render.as_markdown(sections)
    for section in sections:
        assert section.parts
        for part in section.parts:
            if isinstance(part, str):
                start = part[:40]
                assert start in text
                assert start in markdown
                assert start.split("'")[0].split("<")[0].split("&")[0].split(">")[0].split('"')[0] in html
            elif isinstance(part, Table) and len(part) and part.title:
                assert part.title in text


def test_a_column_without_a_name_is_shown_and_groups_nothing() -> None:
    html = render.as_html(
        [Section("s", [Table([{"": "positive", "taken": "3 TP"}, {"": "negative", "taken": "1 FP"}])])]
    )
    for text in ("positive", "negative", "3 TP", "1 FP"):
        assert text in html


def test_text_leaves_pictures_out() -> None:
    section = Section("s", [Figure("gain", None), Table([{"a": 1.0}, {"a": 2.0}], "t")], "not shown above a table")
    assert render.as_text([section]) == "t\na\n─\n1\n2"
    assert render.as_markdown([section]) == "**t**\n\n| a |\n|---|\n| 1 |\n| 2 |"


def test_a_note_on_a_star_is_no_item_of_a_list_in_markdown() -> None:
    assert render.as_markdown([Section("note", ["* best value here"])]) == r"\* best value here"


def test_a_narrow_table_keeps_the_names_of_its_rows_and_the_room_of_a_group_is_used() -> None:
    rows = [{"method": f"method {k}", "error": 0.5, "reason": "many words " * 8} for k in range(2)]
    assert "method 1" in text_table(rows, list(rows[0]), width=60)
    assert "(hidden" not in text_table(rows, list(rows[0]), width=60)
    pairs = [
        {"measure": f"average_precision_{k}", "models": "logit − boost", "difference": "0.0137", "p (Holm)": "0.329"}
        for k in range(2)
    ]
    lines = text_table(pairs, list(pairs[0]), group="measure", width=44).splitlines()
    assert sum("logit − boost" in line for line in lines) == 2  # each on one line
    assert "p (Holm)" in lines[0]
    assert "average_precision_1" in lines
    heads = {"recall at the threshold": "25.5%", "false positive rate at 0.5 ↓": "2.27%", "interval": "0.77 to 0.83"}
    lines = text_table([heads], list(heads), width=42).splitlines()
    assert next(k for k, line in enumerate(lines) if "─" in line) == 3  # heads share the lines that they need


def test_columns_keep_their_order_whatever_the_first_segment_has() -> None:
    y = [1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]
    p = [0.95, 0.9, 0.2, 0.8, 0.4, 0.3, 0.6, 0.7, 0.5, 0.55, 0.35]
    seg = cl.evaluate(y, p, by=["A0", *"aaaaaa", *"bbbb"], quota=3, n_resamples=20).segments
    assert "| ROC AUC | 95% interval | places |" in seg.to_markdown()
    head = next(line for line in repr(seg).splitlines() if "ROC AUC  " in line)
    assert head.index("ROC AUC") < head.index("95% interval") < head.index("places")


def test_counts_below_zero_are_written_with_a_minus_and_no_zero_is_negative() -> None:
    assert [count(x) for x in (-3.26, -0.04, -1234.0, 4.35)] == ["−3.3", "0.0", "−1,234", "4.4"]
