"""The page as text: one file, nothing fetched, nothing from the data read as markup."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cutline as cl
from cutline.commands.evaluate import COMMAND_LINE
from cutline.errors import InputError
from cutline.present.charts import Chart, nice_ticks, short
from cutline.present.figures import cost_chart, quota_stops
from cutline.present.page import TOLERANCE, at_stops, explorer_data, page, quota_chart, write_page, written_out
from cutline.table import Table

pytestmark = pytest.mark.xdist_group("page")  # what they share is made once

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\u2028{{title}} {title}"


@pytest.fixture(scope="module")
def sample() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    score = rng.random(300)
    return rng.random(300) < score, score, np.round(score + 0.3 * rng.random(300), 1)


@pytest.fixture(scope="module")
def comparison(sample: Any) -> cl.results.Comparison:
    y, a, b = sample
    return cl.compare(y, {"smooth": a, HOSTILE: b}, quota=30, n_resamples=60)


@pytest.fixture(scope="module")
def text(comparison: Any) -> str:
    return page(comparison, cost=2.0, value=50.0, title=HOSTILE, source={"file": HOSTILE, "label": HOSTILE})


class Elements(HTMLParser):
    """Every element with its attributes, and the text of each script."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.ids: list[str] = []
        self.inside = ""
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self.inside = tag
        if tag == "script":
            self.scripts.append("")
        if dict(attrs).get("id"):
            self.ids.append(str(dict(attrs)["id"]))

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside == "script":
            self.scripts[-1] += data


def test_hostile_names_stay_text(text: str) -> None:
    elements = Elements(text)
    assert [tag for tag, _ in elements.found].count("script") == 2
    assert not any(tag in ("img", "iframe", "object", "link", "form") for tag, _ in elements.found)
    assert not any(name.startswith("on") for _, attributes in elements.found for name in attributes)
    assert len(elements.ids) == len(set(elements.ids))
    data = json.loads(gzip.decompress(base64.b64decode(elements.scripts[0])))
    assert data["models"][1]["name"] == HOSTILE
    assert "{title}" in text  # what looks like a place-holder in a name is not filled in


def test_nothing_is_fetched(text: str) -> None:
    for tag, attributes in Elements(text).found:
        for name in ("src", "href", "srcset", "action", "data"):
            value = attributes.get(name)
            assert value is None or value.startswith("#"), (tag, name, value)
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def test_policy_allows_these_scripts_and_nothing_else(text: str) -> None:
    elements = Elements(text)
    policy = next(a["content"] for tag, a in elements.found if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe-eval" not in policy
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    digests = {
        "'sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() + "'"
        for script in elements.scripts[1:]
    }
    assert set(rules["script-src"].split()) == digests


def test_packed_data_have_no_sign_that_markup_knows() -> None:
    signs = "<&>\u2028\u2029"
    text = page(cl.evaluate([1, 0, 1, 0], [float("inf"), 0.2, 0.7, float("-inf")], name=signs))
    assert not set(signs) & set(Elements(text).scripts[0])
    assert data_of(text)["models"][0]["name"] == signs


def test_the_answer_comes_first(comparison: Any, text: str) -> None:
    best = comparison.best("hit_rate")
    hits = comparison.evaluations[best].at(quota=30)
    answer = re.search(r'<section class="answer"[^>]*>(.*?)</section>', text, re.DOTALL)
    assert answer is not None
    assert "With 30 places, " in answer[1]
    assert f"expect {hits.next_hits.low:.0f} to {hits.next_hits.high:.0f}" in answer[1]
    places = [text.index(f'id="{name}"') for name in ("explorer", "measures", "facts")]
    assert [answer.start(), *places] == sorted([answer.start(), *places])


def test_every_measure_is_there_with_its_explanation(comparison: Any) -> None:
    text = page(comparison, all_measures=True)
    table = text[text.index("All measures") :]
    for spec in comparison.specs.values():
        assert spec.measure.name in table
    assert "Share of the positives that are found" in table
    assert "Arbel &amp; Rokach" in table


def test_a_page_has_the_short_table_and_tells_how_to_get_the_rest(comparison: Any, text: str) -> None:
    table = text[text.index('id="measures-title">Measures<') :]
    assert "average_precision" in table
    assert "quadratic_ranking" not in table
    assert f"These are 5 of {len(comparison.specs)} measures. To see all of them: --all" in table


def test_a_page_of_one_model_speaks_of_one(sample: Any) -> None:
    y, a, b = sample
    for models, several in (({"smooth": a}, False), ({"smooth": a, "rough": b}, True)):
        text = page(cl.compare(y, models, quota=30, n_resamples=20))
        for words in ("rank the models alike", "for the model that finds most"):
            assert (words in text) == several
        assert "rank models the same way" not in text


def test_explorer_numbers_are_those_of_at(sample: Any) -> None:
    y, _, coarse = sample
    ev = cl.evaluate(y, coarse, interval=None)
    stops = quota_stops(300)
    assert stops.tolist() == list(range(1, 301))
    at = at_stops(ev, stops)
    for i, quota in enumerate(stops.tolist()):
        point = ev.at(quota=quota)
        assert at["hits"][i] == pytest.approx(point.tp, abs=1e-9)
        assert at["threshold"][i] == point.threshold
        assert (at["worst"][i], at["best"][i]) == pytest.approx((point.hits_worst, point.hits_best), abs=1e-9)
        assert at["expected"][:, i] == pytest.approx((point.expected_hits.low, point.expected_hits.high), abs=1e-9)
        if quota % 50 == 0:
            name = f"hit_rate@{quota}"
            interval = cl.evaluate(y, coarse, measures=[name])[name].interval
            assert at["hit_rate"][:, i] == pytest.approx(interval, abs=1e-12)
        assert tuple(at["next"][:, i]) == (point.next_hits.low, point.next_hits.high)


def test_a_page_speaks_the_words_of_its_front_end_and_writes_numbers_alike() -> None:
    rng = np.random.default_rng(1)
    y = rng.random(300) < 0.3
    scores = {"a": np.append(np.round(y[1:] + rng.normal(size=299), 2) - 4, 67.1), "b": rng.normal(size=300)}
    text = page(cl.compare(y, scores, n_resamples=50, threshold=-0.5), terms=COMMAND_LINE)
    text = re.sub(r"<(script|style|svg).*?</\1>|<[^>]+>", " ", text, flags=re.DOTALL)
    assert not re.search(r"\w=(…|\[)|\(quota|\.at\(", text)
    assert not re.search(r"(?<![\w(=])-\d", text)  # but in the name of a measure
    text = page(cl.evaluate(y, scores["a"], n_resamples=50, quota=10), terms=COMMAND_LINE)
    assert re.search(r"Not probabilities \(model −\d\.\d+ to 67\.1\)", text)
    assert "Set one with --threshold." in text


def test_the_page_tells_what_the_intervals_of_hits_are_about() -> None:
    ev = cl.evaluate([1, 1, 0, 1, 0, 0, 1, 0, 0, 0], np.arange(10, 0, -1) / 10, quota=4)
    text = page(ev)
    assert "95% interval of the average over lists like this one with as many positives." in text
    assert "interval: the average over lists like this one with as many positives" in text
    assert "Interval of the hits: for the average over lists with as many cases and positives as this one." in text
    assert "score interval for the hit rate, times the places" not in text


def test_long_lists_keep_round_quotas_exact() -> None:
    rng = np.random.default_rng(1)
    score = rng.random(60_000).astype(np.float32)
    ev = cl.evaluate(rng.random(60_000) < score / 3, score, interval=None, measures=["roc_auc"])
    stops = quota_stops(60_000, [12_345])
    assert len(stops) < 5_000
    for quota in (1, 499, 500, 730, 6_000, 12_345, 12_300, 59_900, 60_000):
        i = int(np.searchsorted(stops, quota))
        assert stops[i] == quota
    at = at_stops(ev, stops)
    chosen = np.searchsorted(stops, [3, 777, 1_230, 9_990, 12_345, 60_000])
    for i in chosen:
        point = ev.at(quota=int(stops[i]))
        assert at["hits"][i] == pytest.approx(point.tp, abs=1e-6)
        assert tuple(at["next"][:, i]) == tuple(point.next_hits)


def test_weighted_and_one_sided_samples_have_pages() -> None:
    weighted = cl.evaluate([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.2], sample_weight=[1, 2, 1, 1], interval=None)
    assert "There is no quota explorer for it: ask for a number of places with quota=…." in page(weighted)
    assert "ask for a number of places with --quota." in page(weighted, terms=COMMAND_LINE)
    alone = cl.evaluate([0, 0, 0], [0.9, 0.4, 0.6], interval=None)
    assert ">Measures</h2>" in page(alone)
    distances = cl.evaluate([1, 0, 1, 0], [3.0, -np.inf, 1.0, np.inf], interval=None)
    assert ">Measures</h2>" in page(distances)


def test_a_page_needs_models_on_the_same_cases(sample: Any) -> None:
    y, a, _ = sample
    with pytest.raises(InputError, match="not Estimate"):
        page(cl.evaluate(y, a, interval=None)["pem"])
    apart = cl.compare({"a": y, "b": y[:90]}, {"a": a, "b": a[:90]}, paired=False, interval=None)
    with pytest.raises(InputError, match="differ in rows or positives"):
        page(apart)


def test_the_file_is_written_whole_or_not_at_all(
    comparison: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    goal = tmp_path / "report.html"
    assert comparison.to_html(goal) == goal
    assert goal.stat().st_mode & 0o044  # readable by others as any new file is
    before = goal.read_bytes()

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_text", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_page(comparison, goal)
    assert goal.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_every_chart_has_a_title_of_its_own(text: str) -> None:
    titles = re.findall(r"<h3[^>]*>(.*?)</h3>", text)
    assert len(titles) == len(set(titles))
    assert "Scores of positives and negatives: smooth" in titles


def test_one_is_singular() -> None:
    alone = page(cl.evaluate([1], [0.7], quota=1, interval=None))
    assert "1 row, 1 positive" in alone
    text = page(cl.evaluate([1, 0, 0, 0], [0.9, 0.5, 0.3, 0.2], quota=1, n_resamples=20))
    assert "At 1 place:" in text
    assert "With 1 place, the model finds 1 of the 1 positive" in text
    body = re.sub(r"<script.*?</script>", "", alone + text, flags=re.DOTALL)
    assert not re.search(r"\b1 (cases|rows|places|hits|positives|models|classes)\b", body)


def test_bands_of_qrecall_close_where_everyone_is_taken() -> None:
    """A place for everybody finds everybody; how many positives the next list holds is still open."""
    rng = np.random.default_rng(0)
    p = rng.random(400)
    ev = cl.evaluate(rng.random(400) < p * 0.3, p, interval=None)
    data = explorer_data(ev, quota_stops(400))
    assert data["found"][0][-1] == data["found"][1][-1] == ev.facts["positives"]
    assert all(low <= high <= ev.facts["positives"] for low, high in zip(*data["found"], strict=True))
    assert data["expected"][0][-1] == data["expected"][1][-1] == ev.facts["positives"]
    assert data["next"][0][-1] < ev.facts["positives"] < data["next"][1][-1]


def test_the_page_holds_the_confusion_matrix_and_a_control_for_cuts(tmp_path: Path) -> None:
    ev = cl.evaluate([1, 0, 1, 0, 1], [0.9, 0.2, 0.7, 0.6, 0.3], interval=None)
    page = ev.to_html(tmp_path / "p.html").read_text()
    for counted in ("2 TP", "1 FN", "1 FP", "1 TN"):
        assert f">{counted}</td>" in page
    for goal in ("recall", "precision", "specificity", "fpr"):
        assert f'<option value="{goal}">' in page


@pytest.mark.parametrize("log", [False, True])
def test_a_chart_without_a_script_shows_the_curve_where_it_is(log: bool, sample: Any) -> None:
    y, s = sample[:2]
    ev = cl.evaluate(y, s, interval=None)
    rows, positives = int(ev.facts["rows"]), int(ev.facts["positives"])
    stops = quota_stops(rows)
    how: dict[str, Any] = {"place": 10, "prices": (None, None), "log": log}
    chart = quota_chart("gain", [ev], [explorer_data(ev, stops)], stops, **how).svg()
    left, top, width, height = map(float, re.search(r'data-box="([^"]+)"', chart)[1].split())
    drawn = re.search(r'data-curve="0" points="([^"]+)"', chart)[1]
    x, up = np.array([pair.split(",") for pair in drawn.split()], dtype=float).T
    share = (x - left) / width
    places = rows**share if log else rows * share
    hits = positives * (1 - (up - top) / height)
    np.testing.assert_allclose(hits, [ev.at(quota=max(1, round(q))).tp for q in places], atol=0.02 * positives)


def test_ticks_are_round_and_short() -> None:
    assert nice_ticks(-3.0, 11.0) == [0.0, 5.0, 10.0]
    assert [short(v) for v in (0, 999, 1000, 12_345, 2.5e6, -40)] == ["0", "999", "1k", "12.3k", "2.5M", "−40"]
    for low, high in ((0.0, 1.0), (0.0, 3e-7), (-5.0, 1e9), (17.0, 17.5)):
        ticks = nice_ticks(low, high)
        assert 2 <= len(ticks) <= 6
        assert all(low - 1e-12 <= tick <= high * (1 + 1e-12) for tick in ticks)


def qrecalls(ev: Any, stops: Any) -> Any:
    """Low and high of Qrecall at these quotas."""
    return at_stops(ev, stops)["qrecall"]


def data_of(text: str) -> dict[str, Any]:
    """What the page's script reads."""
    return json.loads(gzip.decompress(base64.b64decode(Elements(text).scripts[0])))


def test_an_unknown_quota_is_answered_first() -> None:
    rng = np.random.default_rng(2)
    y = rng.random(300) < 0.3
    comparison = cl.compare(y, {"a": y + rng.normal(size=300), "b": rng.random(300)}, quota="20-60", n_resamples=50)
    text = page(comparison)
    data = data_of(text)
    assert data["stops"][data["start"]] == 40
    assert "With 20 to 60 places, all equally likely, use a" in text
    assert 'id="range-from"' in text


@pytest.mark.parametrize("share", [0.3, 0.002])
def test_columns_keep_the_digits_that_the_page_shows(share: float) -> None:
    rng = np.random.default_rng(5)
    y = rng.random(30_000) < share
    score = y + rng.normal(size=30_000)
    stops = quota_stops(30_000, [12_345])
    for values in (score, np.round(score, 1)):
        ev = cl.evaluate(y, values, interval=None)
        kept, at = json.loads(json.dumps(written_out(explorer_data(ev, stops)))), at_stops(ev, stops)
        np.testing.assert_allclose(kept["hits"], at["hits"], atol=1e-4)
        rates, recalls = at["hit_rate"] * stops, [c * y.sum() for c in qrecalls(ev, stops)]
        for name, ends in (("expected", at["expected"]), ("rate", rates), ("found", recalls)):
            for column, exact in zip(kept[name], ends, strict=True):
                np.testing.assert_allclose(column, exact, atol=0.05001)
                assert np.abs(np.array(column) - exact)[:9].max() < 2e-4
        assert kept["next"] == at["next"].tolist()
        assert (kept["ties"] is None) == (values is score)
        if kept["ties"]:
            np.testing.assert_array_equal(kept["ties"], [at["worst"], at["best"]])


def test_the_points_that_are_drawn_stay_within_the_tolerance() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(3000) < 0.3
    ev, stops = cl.evaluate(y, y + rng.normal(size=3000), interval=None), quota_stops(3000)
    at, kept = at_stops(ev, stops), explorer_data(ev, stops)["drawn"]
    assert 10 < len(kept) < 0.7 * len(stops)
    for curve in (at["hits"], at["hits"] / stops, *at["expected"]):
        for x in (stops, np.log(stops)):
            assert np.abs(np.interp(x, x[kept], curve[kept]) - curve).max() <= TOLERANCE * np.ptp(curve) * (1 + 1e-9)


def test_a_chart_draws_no_more_than_its_pixels_show() -> None:
    """Thousands of places in the first pixels of a linear axis: the ends and the extremes of each tenth of a pixel."""
    x = np.concatenate([np.linspace(0.0, 0.01, 500), np.linspace(0.02, 1.0, 50)])
    y = np.where(np.arange(550) % 7 == 3, 0.9, 0.1)
    chart = Chart("t", "", (0.0, 1.0), (0.0, 1.0))
    chart.line(x, y)
    drawn = [
        tuple(map(float, p.split(","))) for p in re.search(r'<polyline[^>]*points="([^"]+)"', chart.svg())[1].split()
    ]
    assert len(drawn) < 250
    early = [up for across, up in drawn if across <= chart.at(0.01, 0.0)[0]]
    assert {min(early), max(early)} == {round(chart.at(0.0, y)[1], 1) for y in (0.9, 0.1)}
    assert drawn[0][0] == chart.area.left
    assert drawn[-1][0] == chart.area.right


def test_the_page_says_whether_probabilities_are_right_and_what_errors_cost() -> None:
    rng = np.random.default_rng(3)
    y = rng.random(400) < 0.3
    p = np.clip(0.3 + 0.3 * (y - 0.3) + 0.1 * rng.normal(size=400), 0.01, 0.99)
    weight = rng.integers(1, 4, 400)
    for options in ({}, {"sample_weight": weight}):
        ev = cl.evaluate(y, p, n_resamples=50, name="<p>", **options)
        text = page(ev, cost_fp=1, cost_fn=4)
        assert "Are the probabilities right?" in text
        if not options:  # weighted rows have a reliability curve alone
            assert f"{ev.calibration().slope.value:.3f}" in text
        assert "What do errors cost?" in text
        assert "Where a false positive costs 1 and a false negative 4, take score &gt; " in text
        assert 'id="figure-net-benefit"' in text
        assert "<p>:" not in text  # names are escaped
    with pytest.raises(cl.InputError, match="cost_fn"):
        page(ev, cost_fp=1)
    both = cl.compare(y, {"a": p, "b": rng.normal(size=400)}, n_resamples=50)
    text = page(both)
    assert 'id="figure-reliability"' in text  # of the one model that gives probabilities
    scores_only = page(cl.evaluate(y, rng.normal(size=400), n_resamples=50))
    assert "Are the probabilities right?" not in scores_only
    assert "What do errors cost?" not in scores_only


def test_a_question_about_costs_or_segments_is_answered_first_and_no_quota_is_invented(sample: Any) -> None:
    y, smooth, coarse = sample
    both = {"smooth": smooth, "coarse": coarse}
    costs = page(cl.compare(y, both, n_resamples=50), cost_fp=1, cost_fn=8)
    answer = re.search(r'<section class="answer"[^>]*>(.*?)</section>', costs, re.DOTALL)
    assert answer is not None
    assert "Where a false positive costs 1 and a false negative 8, " in answer[1]
    assert "ROC AUC" not in answer[1]
    assert not re.search(r"\d places?", answer[1])
    assert costs.index('id="lead"') < costs.index('id="explorer"')
    by = np.where(np.arange(len(y)) % 2, "odd", "even")
    segments = page(cl.evaluate(y, smooth, by=by, n_resamples=50).segments)
    answer = re.search(r'<section class="answer"[^>]*>(.*?)</section>', segments, re.DOTALL)
    assert answer is not None
    assert not re.search(r"\d places?", answer[1])
    assert segments.index('<section id="segments"') < segments.index('id="explorer"')


def test_charts_of_costs_have_the_unit_of_the_answer_and_each_models_own_cut() -> None:
    rng = np.random.default_rng(5)
    y = rng.random(300) < 0.3
    models = {name: np.clip(0.3 + 0.4 * (y - 0.3) + 0.15 * rng.normal(size=300), 0.01, 0.99) for name in ("a", "b")}
    cmp = cl.compare(y, models, n_resamples=20)
    best = cmp.cheapest(cost_fp=1.5, cost_fn=18.5)
    curves = {k: ev.decision_curve() for k, ev in enumerate(cmp.values())}
    for kind in ("expected_cost", "net_benefit"):
        chart = cost_chart(curves, kind=kind, prices=(1.5, 18.5), cheapest=best)
        dots = [(mark.x, mark.y) for mark in chart.marks if mark.shape == "point"]
        assert [x for x, _ in dots] == [1.5 / 20] * 2
        lost = sorted([best.apparent, best.others[0]["apparent_cost"]])
        there = lost if kind == "expected_cost" else [y.mean() - cost / 18.5 for cost in lost]
        assert sorted(value for _, value in dots) == pytest.approx(sorted(there))
        assert "at a model's own cheapest cut" in chart.words
    line = next(mark for mark in chart.marks if mark.words == "everyone")
    assert line.y[6] == pytest.approx(y.mean() - (1 - y.mean()) * 0.07 / 0.93)
    costs = cost_chart(curves, kind="expected_cost", prices=(1.5, 18.5), cheapest=best)
    everyone = next(mark for mark in costs.marks if mark.words == "everyone")
    assert everyone.y[6] == pytest.approx(20 * 0.07 * (1 - y.mean()))
    text = page(cmp, cost_fp=1.5, cost_fn=18.5)
    assert "add up to 20." in text
    assert re.search(r'<div class="legend">.*?</div><span>', text, re.DOTALL)  # no caption runs into the names


def test_bands_stay_within_the_places_and_the_positives(sample: Any) -> None:
    """The band of the hits ends where everybody is found, and never stands above what a list can give."""
    y, smooth, coarse = sample
    for score in (smooth, coarse):
        ev = cl.evaluate(y, score, interval=None)
        rows, positives = int(ev.facts["rows"]), int(ev.facts["positives"])
        stops = quota_stops(rows)
        model = explorer_data(ev, stops)
        chart = quota_chart("gain", [ev], [{**model, "drawn": np.arange(rows)}], stops, place=10, prices=(None, None))
        low, high = next(mark.y for mark in chart.marks if mark.tag.startswith("data-band"))
        assert (high <= np.minimum(stops, positives) + 1e-9).all()
        assert (low <= model["hits"] + 1e-3).all()
        assert (model["hits"] <= high + 1e-3).all()
        inside = (model["hits"] > 0.5) & (model["hits"] < np.minimum(stops, positives) - 0.5)
        assert (high - model["hits"])[inside].min() > 0
        assert (model["hits"] - low)[inside].min() > 0


def test_what_was_not_asked_is_folded_away(text: str) -> None:
    for name in ("pairs", "measures", "facts", "right", "costs"):
        assert re.search(rf'<details class="part"><summary>.*?</summary>\s*<section id="{name}"', text), name
    assert re.search(r'</section>\s*<section id="goals"', text)
    links = re.findall(r'<li><a href="#([^"]+)"', text)
    assert links
    assert all(f'id="{link}"' in text for link in links)


def test_a_page_of_segments_shows_them_first_and_the_rest_folded() -> None:
    rng = np.random.default_rng(0)
    month = np.array([f"2024-{k:02d}" for k in range(1, 13)])[np.arange(1200) % 12]
    share = np.where(month < "2024-07", 0.1, 0.4)
    y = rng.random(1200) < share
    p = np.clip(share + 0.3 * (y - 0.3) + rng.normal(0, 0.1, 1200), 0, 1)
    seg = cl.evaluate(y, p, by=month, n_resamples=50).segments
    sections = {section.name: section for section in seg.sections(detail=True)}
    first = [part for part in sections["segments"].parts if isinstance(part, Table)]
    assert [len(table) for table in first] == [13]  # each month, and all rows
    assert not any("_" in name for name in first[0].columns)
    folded = re.search(r"<details[^>]*>\s*<summary>(?:(?!<summary>).)*Segments in full", page(seg), re.S)
    assert folded is not None
    (differences,) = (t for t in sections["segments_in_full"].parts if t.title.startswith("Against the rest"))
    notes = {row["measure"]: row["note"] for row in differences}
    assert notes["brier_score"] == "moves with the share of positives"
    assert "moves" not in notes["roc_auc"]
