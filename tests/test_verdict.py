"""One verdict for each question: text, page, JSON and recommendation never disagree."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cutline as cl
from cutline.decide.model_choice import GOALS
from cutline.present import words
from cutline.present.render import as_text

MARKS = {
    True: ("statistically significant", "It is the only model"),
    False: (
        "could be chance",
        "tied with",
        "by less than",
        "not tested without intervals",
        "no other model has a value",
    ),
}


def random_comparison(seed: int) -> cl.results.Comparison:
    """Equal, unequal, tiny, clustered and weighted samples; two to four models, probabilities or not; a margin or none;

    tested or not.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.choice([6, 12, 60, 300]))
    y = rng.random(n) < 0.4
    y[:2] = [True, False]
    shared, kind = rng.normal(size=n), rng.choice(["equal", "unequal"])
    models = {}
    for k in range(int(rng.integers(2, 5))):
        strength = 1.0 if kind == "equal" else 0.8 * k
        score = strength * y + shared + rng.normal(size=n)
        models[f"m{k}"] = 1 / (1 + np.exp(-score)) if seed % 2 else np.round(score, 1)
    options: dict[str, Any] = {"quota": max(1, n // 5), "n_resamples": 60, "seed": seed}
    if seed % 3 == 0:
        options["clusters"] = np.arange(n) // 3
    if seed % 5 == 0:
        options["margin"] = 0.05
    if seed % 4 == 0:
        options["level"] = 0.9
    if seed % 7 == 1:
        options["sample_weight"] = rng.integers(1, 4, n)
    if seed % 7 == 2:  # a model without probabilities among others
        models["m0"] = np.round(3 * shared, 1)
    if seed % 7 == 3:
        options["interval"] = None
    return cl.compare(y, models, **options)


def text_of(cmp: cl.results.Comparison) -> str:
    return " ".join(as_text(cmp.sections(why=True)).split())


def page_text(cmp: cl.results.Comparison, tmp_path: Path) -> str:
    path = tmp_path / "page.html"
    cmp.to_html(path)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", path.read_text(encoding="utf-8"))).split())


@pytest.mark.parametrize("seed", range(24))
def test_text_page_json_and_recommendation_agree(seed: int, tmp_path: Path) -> None:
    cmp = random_comparison(seed)
    told = text_of(cmp)
    content = json.loads(cmp.to_json())
    by_goal = {said["goal"]: said for said in content["recommendations"]}
    page = page_text(cmp, tmp_path) if seed < 6 else None
    for goal, said in cmp.recommendations.items():
        verdict = said.verdict
        assert by_goal[goal]["sure"] == said.sure == cmp.recommend(goal).sure
        assert by_goal[goal]["text"] == said.text
        assert f": {said.text}" in told.partition(words.GOALS[goal])[2]
        assert page is None or verdict.best in page
        # the sentence says what the numbers say
        gaps = [cmp.difference(said.model, other, said.measure) for other in cmp if other != said.model]
        tested = [gap for gap in gaps if gap.p_value == gap.p_value]
        told_apart = [(gap.low > 0 or gap.high < 0) and gap.p_adjusted < 1 - cmp.settings.level for gap in tested]
        equivalent = any(gap.verdict == "equivalent" for gap in gaps)
        assert verdict.sure == (bool(tested) and all(told_apart) and not equivalent)
        before = said.text.split("Why")[0]
        assert any(mark in before for mark in MARKS[verdict.sure])
        assert verdict.status != "not tested" or "he ranking" not in before
        assert not any(mark in before for mark in MARKS[not verdict.sure])
        assert not said.sure or verdict.sure
    headline = " ".join(words.answer(cmp))
    assert headline in told
    sure = cmp.recommend("known quota").sure
    assert (f"use {cmp.verdict('hit_rate').best}:" in headline) == sure
    assert ("is clear" in headline) == sure
    for row in content["differences"]:
        pair = cmp.difference(row["a"], row["b"], row["measure"])
        assert (row["verdict"], row["reading"]) == (pair.verdict, pair.reading)


def test_a_difference_is_an_object_and_a_mapping() -> None:
    cmp = random_comparison(5)
    row = cmp.difference("m0", "m1", "pem")
    assert dict(row)["p_adjusted"] == row.p_adjusted == row["p_adjusted"]
    for name in ("difference", "low", "high", "p_value", "p_adjusted", "method", "verdict"):
        assert row[name] == getattr(row, name) or row[name] != row[name]
    with pytest.raises(KeyError):
        row["nothing"]
    assert "m0 − m1" in repr(row)


def test_no_reading_calls_a_group_of_people_better() -> None:
    rng = np.random.default_rng(0)
    y = {name: rng.random(400) < 0.4 for name in ("men", "women")}
    s = {"men": y["men"] + rng.normal(size=400), "women": 3 * y["women"] + rng.normal(size=400)}
    cmp = cl.compare(y, s, paired=False, measures=["roc_auc"], n_resamples=20)
    assert cmp.difference("women", "men", "roc_auc").reading == "women: higher roc_auc"
    assert "better" not in text_of(cmp)
    cmp = cl.compare(y, s, paired=False, quota=40, threshold=0.5, n_resamples=20)
    told = text_of(cmp)
    assert "At 40 places, women has the highest hit rate" in told
    assert "Each has its own cases, so a difference may come from the cases." in told
    assert " use women" not in told
    for said in cmp.recommendations.values():
        assert "each has its own cases here" in said.text
        assert "The ranking agrees" not in said.text


def errors_against_ranking() -> cl.results.Comparison:
    """One model ranks better but decides worse at 0.5: its probabilities are all too high."""
    rng = np.random.default_rng(1)
    y = rng.random(800) < 0.4
    sharp, blunt = 2.0 * y + rng.normal(size=800), 1.0 * y + rng.normal(size=800)

    def logistic(x: np.ndarray) -> np.ndarray:
        return np.asarray(1 / (1 + np.exp(-x)))

    return cl.compare(y, {"sharp": logistic(sharp + 1.5), "blunt": logistic(2 * (blunt - 0.7))}, n_resamples=200)


def test_fewest_errors_are_counted_at_the_threshold_and_never_sure_against_the_ranking() -> None:
    cmp = errors_against_ranking()
    assert cmp["sharp"]["roc_auc"].value > cmp["blunt"]["roc_auc"].value
    assert cmp.difference("sharp", "blunt", "error_rate").verdict == "higher"
    said = cmp.recommend("fewest errors")
    assert (said.measure, said.model) == ("error_rate", "blunt")
    assert not said.sure
    assert said.status == said.to_dict()["status"] == "clear at this threshold"
    assert said.text.startswith("clear at this threshold. blunt: error_rate ")
    assert "But the ranking prefers sharp: ranking and decisions disagree here" in said.text
    assert "Linear Ranking" not in text_of(cmp)
    row = next(row for row in words.goal_rows(cmp) if row["if your goal is"] == "fewest errors")
    assert row["clear?"] == "at this threshold; the ranking prefers sharp"


def test_fewest_errors_are_judged_by_the_error_rate() -> None:
    assert GOALS["fewest errors"][0] == "error_rate"


@pytest.mark.parametrize("margin", [5e-324, 1e-320, 1e-9, 0.999])
def test_no_margin_is_too_small_or_too_large_for_words(margin: float) -> None:
    cmp = cl.compare(*two_models(), margin=margin, n_resamples=20)
    assert text_of(cmp)
    assert json.loads(cmp.to_json())


def two_models() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    rng = np.random.default_rng(0)
    y = rng.random(60) < 0.4
    return y, {name: 0.5 * y + 0.5 * rng.random(60) for name in ("a", "b")}


FEW_BATCHES = "4 batches are too few for a test at the 95% level"


def two_similar(rows: int = 400) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Labels, and two models that differ a little."""
    rng = np.random.default_rng(3)
    y = rng.random(rows) < 0.3
    x = rng.normal(size=rows) + 1.5 * y
    return y, {name: 1 / (1 + np.exp(-x - rng.normal(0, 0.5, rows))) for name in "ab"}


def test_an_interval_over_the_whole_range_says_that_there_are_too_few_units() -> None:
    y, models = two_similar()
    day = np.arange(400) % 4
    by_batch = cl.compare(y, models, batch=day, quota=20, measures=["hit_rate", "roc_auc"])
    for key in ("hit_rate@20", "roc_auc"):
        row = by_batch.difference("a", "b", key)
        assert (row.low, row.high, row.reading) == (-1.0, 1.0, f"cannot tell: {FEW_BATCHES}")
        assert by_batch.verdict(key).sentence.endswith(f"but the difference could be chance: {FEW_BATCHES}")
    answer = str(by_batch)
    assert f", could be chance: {FEW_BATCHES}." in answer
    assert "80" not in answer.split("\n")[1]  # no interval from −80 to 80 hits
    clustered = cl.compare(y, models, clusters=day, measures=["roc_auc"])
    assert FEW_BATCHES.replace("batches", "clusters") in str(clustered)
    assert cl.compare(y, models, batch=np.arange(400) % 6, quota=20).difference("a", "b", "hit_rate").note == ""


@pytest.mark.parametrize(
    ("margin", "said"),
    [(0.02, "to detect a difference of 2 hits (80% power)."), (0.5, "is less than the margin of 50 hits.")],
)
def test_a_margin_at_a_quota_is_told_in_hits_as_the_lead_is(margin: float, said: str) -> None:
    y, models = two_similar(900)
    answer = str(cl.compare(y, models, quota=100, margin=margin, measures=["hit_rate"]))
    lead = next(line for line in answer.split("\n") if line.startswith(("Its lead", "The difference of")))
    assert lead.endswith(said)
    assert not re.search(r"0\.\d\d", lead)
    assert ("a and b differ by less than the margin" in answer.split("\n")[0]) == (margin == 0.5)


def test_a_margin_of_shares_is_told_in_points_beside_percentages() -> None:
    y, models = two_similar(900)
    told = str(cl.compare(y, models, margin=0.01, measures=["accuracy"]))
    assert "to detect a difference of 1 point (80% power)." in told
    told = str(cl.compare(y, models, quota=(20, 100), margin=0.02, measures=["hit_rate"]))
    assert "to detect a difference of 2 points (80% power)." in told


def test_no_clear_lead_at_all_quotas_at_once_does_not_deny_a_lead_at_one() -> None:
    y, models = two_similar()
    told = "\n".join(
        str(part) for section in cl.compare(y, models).sections(all_measures=True) for part in section.parts
    )
    assert "if all quotas are judged at once; at one chosen beforehand" in told
