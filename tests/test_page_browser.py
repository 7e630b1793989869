"""The page in a real browser, with the network off: numbers, keyboard, widths, light and dark, print."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cutline as cl
from cutline.table import count

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("browser")]  # one browser for all of them

ARTEFACTS = Path(__file__).parents[1] / "artefacts"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
COMPLETE = "() => document.documentElement.dataset.ready || document.documentElement.dataset.failed"
HOSTILE = "<img src=x onerror=window.broken=1></script><script>window.broken=1</script>"


class NoBrowserWarning(UserWarning):
    """The tests of the page in a browser did not run."""


def _unavailable(reason: str) -> None:
    """In CI a missing browser is a failure; elsewhere it is skipped, loudly."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI must run the page in a browser, but {reason}")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn(f"THE PAGE IS NOT TESTED IN A BROWSER: {reason}", NoBrowserWarning, stacklevel=1)
    pytest.skip(f"THE PAGE IS NOT TESTED IN A BROWSER: {reason}", allow_module_level=False)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = os.environ.get("CUTLINE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        _unavailable("no chromium was found; on Debian: apt-get install chromium, or set CUTLINE_CHROMIUM to its path")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _unavailable("playwright is missing: pip install playwright")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as profile:
        started = playwright.chromium.launch_persistent_context(
            profile, executable_path=path, args=FLAGS, offline=True, viewport={"width": 1280, "height": 900}
        )
        yield started
        started.close()


@pytest.fixture(scope="module")
def columns() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    path = Path(__file__).parents[1] / "examples" / "applicants.csv"
    table = np.genfromtxt(path, delimiter=",", names=True, dtype=None, encoding="utf-8")
    return table["completed"], {name: table[name] for name in ("tree", "logistic", "network")}


@pytest.fixture(scope="module")
def comparison(columns: Any) -> cl.results.Comparison:
    return cl.compare(*columns, quota=20, n_resamples=100)


@pytest.fixture(scope="module")
def address(comparison: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "page.html"
    comparison.to_html(path, cost=2.0, value=50.0, source={"file": "applicants.csv"})
    return path.as_uri()


def opened(browser: Any, address: str, *, explored: bool = True) -> Any:
    """An open page; anything the console has to complain about fails the test that closes it."""
    tab = browser.new_page()
    tab.complaints = []
    tab.on("console", lambda m: tab.complaints.append(m.text) if m.type in ("error", "warning") else None)
    tab.on("pageerror", lambda error: tab.complaints.append(str(error)))
    tab.on("request", lambda request: None if request.url == address else tab.complaints.append(request.url))
    tab.goto(address)
    if explored:
        tab.wait_for_function(COMPLETE, timeout=30_000)
    assert tab.evaluate("document.documentElement.dataset.failed") is None
    return tab


@pytest.fixture
def tab(browser: Any, address: str) -> Iterator[Any]:
    page = opened(browser, address)
    yield page
    complaints = page.complaints
    page.close()
    assert complaints == []


def choose(tab: Any, quota: int) -> None:
    """Type a quota and wait until the page shows it."""
    tab.fill("#quota", str(quota))
    tab.wait_for_function("q => document.documentElement.dataset.shownQuota === String(q)", arg=quota)


def cell(tab: Any, row: str, model: int) -> list[str]:
    """Lines of one cell of the table at the quota."""
    cell = tab.locator(f'#at tr[data-row="{row}"] td').nth(model)
    parts = cell.evaluate("c => [...c.childNodes].map((part) => part.textContent)")
    return [part.strip() for part in parts if part.strip()]


def percent(value: float) -> str:
    return f"{100 * value:,.1f}%"


@pytest.mark.parametrize("quota", [1, 20, 30, 137, 400])
def test_the_table_is_what_at_gives(tab: Any, comparison: Any, quota: int) -> None:
    choose(tab, quota)
    for k, ev in enumerate(comparison.evaluations.values()):
        point = ev.at(quota=quota)
        low, high = point.expected_hits.low, point.expected_hits.high
        assert cell(tab, "hits", k) == [count(point.tp), f"{low:.1f} to {high:.1f}"]
        assert cell(tab, "next", k) == [f"{point.next_hits.low:.0f} to {point.next_hits.high:.0f}"]
        assert cell(tab, "missed", k) == [count(point.fn)]
        for row, name in (("rate", f"hit_rate@{quota}"), ("qrecall", f"qrecall@{quota}")):
            e = cl.evaluate(ev.sample.positive, ev.sample.score, measures=[name])[name]
            assert cell(tab, row, k) == [percent(e.value), f"{percent(e.low)} to {percent(e.high)}"]
        assert cell(tab, "lift", k) == [f"{point.lift:.2f}"]
        shown = cell(tab, "threshold", k)
        assert shown[0] == ("takes all" if point.threshold == -np.inf else f"{point.threshold:.6g}")
        if point.hits_worst != point.hits_best:
            assert shown[1] == f"tie: {count(point.hits_worst)} to {count(point.hits_best)} hits"
        profit = 50 * point.tp - 2 * quota
        assert float(cell(tab, "profit", k)[0].replace(",", "").replace("−", "-")) == pytest.approx(profit, abs=0.51)
    if quota != 20:
        hits = {name: ev.at(quota=quota).tp for name, ev in comparison.evaluations.items()}
        first = [name for name, found in hits.items() if max(hits.values()) - found < 1e-9]
        said = tab.locator("#now").inner_text()
        assert said.startswith(f"With {quota} place")
        assert " or " in said if len(first) > 1 else f", {first[0]} is ahead, but not clearly: it finds " in said


def test_slider_and_keyboard(tab: Any, comparison: Any) -> None:
    tab.focus("#slider")
    tab.keyboard.press("ArrowRight")
    tab.wait_for_function("() => document.documentElement.dataset.shownQuota === '21'")
    hits = [count(ev.at(quota=21).tp) for ev in comparison.evaluations.values()]
    assert [cell(tab, "hits", k)[0] for k in range(3)] == hits
    assert tab.input_value("#quota") == "21"
    assert tab.get_attribute("#slider", "aria-valuetext") == "21 places"
    tab.keyboard.press("End")
    tab.wait_for_function("() => document.documentElement.dataset.shownQuota === '400'")
    tab.keyboard.press("Home")
    tab.wait_for_function("() => document.documentElement.dataset.shownQuota === '1'")
    assert "With 1 place" in tab.inner_text("#now")


def test_everything_can_be_reached_by_the_tab_key(tab: Any) -> None:
    reached = []
    tab.evaluate("document.querySelector('.more').open = true")
    for _ in range(30):
        tab.keyboard.press("Tab")
        reached.append(tab.evaluate("document.activeElement.id || document.activeElement.type || ''"))
    for wanted in ("slider", "quota", "cost", "value", "log", "checkbox"):
        assert wanted in reached
    assert reached.index("slider") < reached.index("quota") < reached.index("value")


def test_markers_move_in_every_chart(tab: Any) -> None:
    def markers(quota: int) -> list[str]:
        choose(tab, quota)
        return tab.evaluate(
            "[...document.querySelectorAll('.over-quota .chart')].map(c => "
            "[...c.querySelectorAll('[data-marker]')].map(p => p.getAttribute('cx') + p.getAttribute('cy')).join(' '))"
        )

    first, second = markers(20), markers(200)
    assert len(first) == 5
    for before, after in zip(first, second, strict=True):
        assert len(before.split()) == 3
        assert before != after


def test_a_click_in_a_chart_chooses_its_quota(tab: Any) -> None:
    tab.evaluate("document.getElementById('chart-gain').scrollIntoView({block: 'center'})")
    box = tab.locator("#chart-gain > svg").bounding_box()
    tab.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tab.wait_for_function("() => Number(document.documentElement.dataset.shownQuota) > 100")
    assert 150 < int(tab.input_value("#quota")) < 250


def unfold(tab: Any) -> None:
    """Open the settings and the tables."""
    tab.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")


def test_models_can_be_left_out(tab: Any) -> None:
    unfold(tab)
    tab.locator(".models input").nth(2).uncheck()
    tab.wait_for_function("() => document.querySelectorAll('#chart-gain [data-marker]:not([hidden])').length === 2")
    assert tab.locator("#at thead th[data-model]:visible").count() == 2
    assert (
        "With 20 places, tree finds the most of these models: 17.4 of the 87 positives, logistic 16. "
        in tab.inner_text("#now")
    )


def test_profit_follows_cost_and_value(tab: Any, comparison: Any) -> None:
    unfold(tab)
    tab.fill("#cost", "10")
    tab.fill("#value", "30")
    tab.wait_for_function("() => document.getElementById('best-words').textContent.includes('Most profit')")
    best = max(
        (30 * ev.at(quota=q).tp - 10 * q, q, name) for name, ev in comparison.evaluations.items() for q in range(1, 401)
    )
    words = tab.inner_text("#best-words")
    assert f"at {best[1]} places ({best[2]})" in words
    tab.click("#best-go")
    tab.wait_for_function("q => document.documentElement.dataset.shownQuota === String(q)", arg=best[1])
    tab.fill("#value", "")
    tab.wait_for_function("() => document.documentElement.dataset.profit === 'false'")
    assert not tab.is_visible("#figure-profit")
    assert not tab.is_visible("#row-profit")
    tab.fill("#value", "1")
    tab.wait_for_function("() => document.getElementById('best-words').textContent.startsWith('No number')")
    assert not tab.is_visible("#best-go")


def test_logarithmic_axis(tab: Any) -> None:
    unfold(tab)
    tab.check("#log")
    tab.wait_for_function("() => document.querySelector('#chart-gain [data-axis=linear]').hasAttribute('hidden')")
    assert tab.is_visible("#chart-gain [data-axis=log]")
    choose(tab, 20)
    left, _, width, _ = map(float, tab.get_attribute("#chart-gain > svg", "data-box").split())
    at = float(tab.get_attribute("#chart-gain [data-marker='0']", "cx"))
    assert at == pytest.approx(left + width * np.log(20) / np.log(400), abs=0.06)


def test_each_chart_has_words(tab: Any) -> None:
    choose(tab, 50)
    charts = tab.locator(".chart")
    assert charts.count() == 16
    for k in range(charts.count()):
        assert charts.nth(k).get_attribute("role") == "img"
        assert len(charts.nth(k).get_attribute("aria-label") or "") > 20
        assert charts.nth(k).locator("> svg").count() == 1
    assert "At 50 places: tree" in (tab.get_attribute("#chart-gain", "aria-label") or "")


@pytest.mark.parametrize(("width", "scheme"), [(400, "light"), (800, "dark"), (1280, "light")])
def test_widths_and_schemes(tab: Any, width: int, scheme: str) -> None:
    tab.set_viewport_size({"width": width, "height": 900})
    tab.emulate_media(color_scheme=scheme)
    tab.wait_for_timeout(150)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    ground = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
    widest = tab.evaluate("Math.max(...[...document.querySelectorAll('.chart svg')].map(s => s.clientWidth))")
    assert widest <= width
    ARTEFACTS.mkdir(exist_ok=True)
    tab.screenshot(path=ARTEFACTS / f"page-{width}-{scheme}.png", full_page=True)


def test_it_prints_on_a4(tab: Any) -> None:
    ARTEFACTS.mkdir(exist_ok=True)
    pdf = tab.pdf(path=ARTEFACTS / "page.pdf", prefer_css_page_size=True)
    assert pdf.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page[^s]", pdf)) <= 2  # what is folded is not printed; opened, it is an appendix
    assert b"595" in pdf  # A4 is 595 points wide
    tab.emulate_media(media="print")
    assert not tab.is_visible(".controls")
    tab.emulate_media(media="screen")


def test_hostile_names_do_nothing(browser: Any, columns: Any, tmp_path: Path) -> None:
    y, models = columns
    renamed = {HOSTILE: models["tree"], "${alert(1)}": models["network"]}
    cl.compare(y, renamed, quota=20, n_resamples=20).to_html(tmp_path / "hostile.html", title=HOSTILE)
    page = opened(browser, (tmp_path / "hostile.html").as_uri())
    assert page.evaluate("window.broken") is None
    assert HOSTILE in page.inner_text("h1")
    assert page.complaints == []
    page.close()


def test_one_model_without_quota_or_money(browser: Any, columns: Any, tmp_path: Path) -> None:
    y, models = columns
    ev = cl.evaluate(y, models["logistic"], name="logistic", n_resamples=20)
    ev.to_html(tmp_path / "one.html")
    page = opened(browser, (tmp_path / "one.html").as_uri())
    assert page.input_value("#quota") == str(ev.facts["positives"])  # nobody asked for a number
    unfold(page)
    choose(page, 77)
    assert cell(page, "hits", 0)[0] == count(ev.at(quota=77).tp)
    assert not page.is_visible("#figure-profit")
    page.fill("#cost", "1")
    page.fill("#value", "3")
    page.wait_for_function("() => document.querySelector('#chart-profit svg') !== null")
    assert page.complaints == []
    page.close()


def test_a_long_list_snaps_to_the_nearest_quota_it_knows(browser: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    score = rng.random(50_000)
    ev = cl.evaluate(rng.random(50_000) < score / 4, score, quota=300, interval=None)
    ev.to_html(tmp_path / "long.html")
    page = opened(browser, (tmp_path / "long.html").as_uri())
    assert page.is_checked("#log")
    page.fill("#quota", "12341")
    page.wait_for_function("() => document.documentElement.dataset.shownQuota === '12350'")
    assert "nearest to 12,341 is 12,350" in page.inner_text("#exact")
    point = ev.at(quota=12_350)
    expected, then = point.expected_hits, point.next_hits
    assert cell(page, "hits", 0) == [count(point.tp), f"{expected.low:,.0f} to {expected.high:,.0f}"]
    assert cell(page, "next", 0) == [f"{then.low:,.0f} to {then.high:,.0f}"]
    assert page.complaints == []
    page.close()


def test_it_is_ready_and_quick(tab: Any, address: str) -> None:
    """Generous limits here, because test machines are busy; benchmarks/presentation.py measures."""
    assert float(tab.evaluate("document.documentElement.dataset.ready")) < 10_000
    steps = []
    for quota in range(30, 60):
        choose(tab, quota)
        steps.append(float(tab.evaluate("document.documentElement.dataset.stepMs")))
    assert float(np.median(steps)) < 100


@pytest.mark.parametrize("several", [False, True], ids=["one model", "several"])
def test_a_weighted_sample_has_its_charts_though_no_explorer(
    several: bool, browser: Any, columns: Any, tmp_path: Path
) -> None:
    y, scores = columns
    weight = np.arange(1, len(y) + 1)
    if several:
        result: Any = cl.compare(y, scores, sample_weight=weight, n_resamples=20)
    else:
        result = cl.evaluate(y, scores["network"], sample_weight=weight, n_resamples=20)
    path = tmp_path / "weighted.html"
    result.to_html(path)
    page = opened(browser, path.as_uri(), explored=False)
    drawn = page.evaluate(
        "[...document.querySelectorAll('[id^=chart-]')].map((c) => c.querySelectorAll(':scope > svg').length)"
    )
    assert len(drawn) >= 2
    assert set(drawn) == {1}
    assert page.query_selector("#slider") is None
    complaints = page.complaints
    page.close()
    assert complaints == []


def test_reasons_are_read_without_scrolling_on_a_narrow_screen(tab: Any) -> None:
    tab.set_viewport_size({"width": 400, "height": 800})
    edges = tab.locator("#goals p, #goals td").evaluate_all("(all) => all.map((c) => c.getBoundingClientRect().right)")
    assert edges
    assert max(edges) <= 400
    tab.set_viewport_size({"width": 1280, "height": 900})


def test_pairs_of_models_fit_a_phone(tab: Any) -> None:
    unfold(tab)
    tab.set_viewport_size({"width": 375, "height": 800})
    widths = tab.evaluate(
        "[...document.querySelectorAll('table.pairs')].map((t) => [t.scrollWidth, t.parentElement.clientWidth])"
    )
    assert widths
    assert all(needed <= there for needed, there in widths)
    tab.set_viewport_size({"width": 1280, "height": 900})


def test_text_of_charts_and_tables_can_be_read_on_a_phone(tab: Any) -> None:
    unfold(tab)
    tab.set_viewport_size({"width": 390, "height": 844})
    heights = tab.evaluate(
        """[...document.querySelectorAll(".chart > svg")].filter((c) => c.clientWidth).map((c) =>
        Math.min(...[...c.querySelectorAll("text")].map((t) => parseFloat(getComputedStyle(t).fontSize)))
        * c.getBoundingClientRect().width / c.viewBox.baseVal.width)"""
    )
    assert heights
    assert min(heights) > 9.5
    cells = "[...document.querySelectorAll('#at td, #at th[scope=row]')].map((c) => c.getBoundingClientRect())"
    assert max(tab.evaluate(f"{cells}.map((c) => c.right)")) <= 390
    assert tab.evaluate("document.querySelector('#at th[scope=row]').clientWidth") > 250  # not a word in each line
    facts = tab.locator("#facts table")
    assert "pairs" not in (facts.get_attribute("class") or "")
    tab.set_viewport_size({"width": 1280, "height": 900})


def test_the_picture_and_the_curve_use_the_whole_width_of_a_screen(tab: Any) -> None:
    left, right = (tab.locator(name).bounding_box() for name in ("#figure-dots", "#figure-gain"))
    assert left["x"] + left["width"] < right["x"]
    assert right["x"] + right["width"] > 0.95 * tab.locator(".controls").bounding_box()["width"]


def test_a_caption_explains_only_what_is_drawn(tab: Any) -> None:
    unfold(tab)
    caption = tab.locator("#figure-dots figcaption > span")
    assert "Line:" in caption.inner_text()
    assert "Pale bar:" in caption.inner_text()
    tab.fill("#prevalence", "5")
    tab.wait_for_function("() => document.documentElement.dataset.prevalence === '5'")
    assert caption.inner_text() == "Dot: what this share of positives would give."


@pytest.mark.parametrize(("goal", "share"), [("recall", 0.6), ("precision", 0.5), ("specificity", 0.9), ("fpr", 0.2)])
def test_a_cut_by_what_it_gives(tab: Any, comparison: Any, goal: str, share: float) -> None:
    from cutline.decide.selection import hits_at

    places = np.arange(1.0, 401.0)
    found = []
    for ev in comparison.evaluations.values():
        hits, positives = hits_at(ev.ranking, places), ev.ranking.n_pos
        wrong = (places - hits) / ev.ranking.n_neg
        kept = {
            "recall": hits / positives >= share - 1e-12,
            "precision": hits / places >= share - 1e-12,
            "specificity": 1 - wrong >= share - 1e-12,
            "fpr": wrong <= share + 1e-12,
        }[goal]
        if kept.any():
            found.append(places[kept][0] if goal == "recall" else places[kept][-1])
    unfold(tab)
    tab.select_option("#goal", goal)
    tab.fill("#goal-value", f"{100 * share:g}")
    expected = int(min(found) if goal == "recall" else max(found))
    tab.wait_for_function("q => document.documentElement.dataset.shownQuota === String(q)", arg=expected)
    assert "expect it to be met on about half of new lists" in tab.inner_text("#target-words")
    assert f"With {expected} places, " in tab.inner_text(".answer")
    tab.select_option("#goal", "")


def test_without_scripts_the_charts_are_there(browser: Any, address: str) -> None:
    page = browser.new_page()
    browser.new_cdp_session(page).send("Emulation.setScriptExecutionDisabled", {"value": True})
    page.goto(address)
    assert page.locator(".chart > svg").count() == 16
    assert not page.locator("#slider").is_visible()
    assert page.locator("#chart-gain [data-curve='0']").is_visible()
    assert "Without JavaScript" in page.inner_text("main")
    page.close()


@pytest.fixture(scope="module")
def clear(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page on which each of eight models leads for sure somewhere, or is clearly behind."""
    rng = np.random.default_rng(1)
    y = rng.random(600) < 0.3
    scores = {f"model {k}": y * (k == 0) + rng.random(600) for k in range(8)}
    path = tmp_path_factory.mktemp("clear") / "page.html"
    source = {"file": "models.csv"}
    cl.compare(y, scores, quota=60, n_resamples=50).to_html(path, cost=2.0, value=50.0, source=source)
    return path.as_uri()


def test_use_is_said_only_where_the_lead_is_clear(browser: Any, clear: str) -> None:
    tab = opened(browser, clear)
    choose(tab, 100)
    assert tab.inner_text("#now").startswith("With 100 places, use model 0: it finds ")
    assert " The lead is clear." in tab.inner_text("#now")
    choose(tab, 600)
    assert ": they all find " in tab.inner_text("#now")
    assert "use " not in tab.inner_text("#now")
    tab.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Any, clear: str, scheme: str) -> None:
    """The usual checks of accessibility: names of controls, order of headings, contrast, roles."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    tab = opened(browser, clear)
    tab.emulate_media(color_scheme=scheme)
    found = axe.Axe().run(tab).response["violations"]
    tab.close()
    grave = [
        (one["id"], node["target"], node.get("failureSummary"))
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"][:3]
    ]
    assert grave == []


def test_another_prevalence(browser: Any, address: str, comparison: Any, columns: Any) -> None:
    """What the reader sets is what an evaluation for that share of positives gives."""
    tab = opened(browser, address)
    unfold(tab)
    tab.fill("#prevalence", "5")
    tab.wait_for_function("() => document.documentElement.dataset.prevalence === '5'")
    y, scores = columns
    for k, name in enumerate(scores):
        point = cl.evaluate(y, scores[name], measures=["roc_auc"], interval=None, prevalence=0.05).at(quota=20)
        shown = [cell(tab, what, k)[0].replace("%", "") for what in ("rate", "qrecall", "lift")]
        expected = [100 * point.hit_rate, 100 * point.recall, point.lift]
        assert [float(value) for value in shown] == pytest.approx(expected, abs=0.06)
        assert len(cell(tab, "rate", k)) == 1  # no interval of another list
    assert "If 5.0% were positive instead of 21.8%, with 20 places, " in tab.inner_text("#now")
    tab.fill("#prevalence", "120")
    tab.wait_for_function("() => document.documentElement.dataset.prevalence === ''")
    assert tab.inner_text("#prevalence-error") == "Type a number between 0 and 100."
    assert tab.locator("#asked").is_visible()
    tab.close()


def test_a_range_of_quotas_is_averaged(tab: Any, comparison: Any) -> None:
    """The reader's range: the mean over all its quotas, in the sentence, the picture and the table."""
    unfold(tab)
    tab.fill("#range-from", "20")
    tab.fill("#range-to", "60")
    tab.wait_for_function("() => document.documentElement.dataset.range === '20-60'")
    for k, (name, ev) in enumerate(comparison.evaluations.items()):
        rate = percent(float(cl.hit_rate(ev.sample.positive, ev.sample.score, quota="20-60")))
        assert cell(tab, "rate", k)[0] == rate
        assert tab.text_content(f'[data-found="{k}"]').startswith(rate)
        assert rate in tab.inner_text("#now"), name
    assert tab.locator("#chart-gain [data-range]").is_visible()
    assert not tab.locator("#chart-gain [data-cut]").is_visible()
    choose(tab, 50)
    assert tab.input_value("#range-from") == ""
    assert tab.inner_text("#now").startswith("With 50 places, ")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"quota": "0"}, "Type a number from 1 to 400."),
        ({"quota": "-5"}, "Type a number from 1 to 400."),
        ({"quota": "401"}, "Type a number from 1 to 400."),
        ({"range-from": "40", "range-to": "10"}, "The first number must not be larger than the second."),
        ({"range-from": "40"}, "Give both ends."),
    ],
)
def test_what_cannot_be_used_is_answered_beside_the_field(tab: Any, fields: dict[str, str], message: str) -> None:
    unfold(tab)
    for name, typed in fields.items():
        tab.fill(f"#{name}", typed)
    error = f"#{next(iter(fields)).partition('-')[0]}-error"
    assert tab.inner_text(error) == message
    assert tab.get_attribute(f"#{next(iter(fields))}", "aria-invalid") == "true"
    assert tab.locator("#asked").is_visible()  # what stands there still answers the question that was asked
    choose(tab, 30)
    assert tab.inner_text(error) == ""


# What the page shows of its settings, read from its parts: the sentence, the picture, the table, the chart.
SHOWN = """() => {
  const root = document.documentElement.dataset, text = (e) => e.textContent.trim();
  const all = (where, choice) => [...where.querySelectorAll(choice)];
  const row = (name) => all(document, `#at tr[data-row="${name}"] td`);
  const first = (name) => row(name).map((c) => c.firstChild.data.trim());
  const svg = document.querySelector("#chart-dots > svg"), [left, , width] = svg.dataset.box.split(" ").map(Number);
  const gain = document.querySelector("#chart-gain > svg"), [low, high] = gain.dataset.y.split(" ").map(Number);
  const [, top, , height] = gain.dataset.box.split(" ").map(Number);
  const hits = (m) => low + (high - low) * (1 - (m.getAttribute("cy") - top) / height);
  return {
    sentence: text(document.querySelector("#now")), asked: !document.querySelector("#asked").hidden,
    shown: all(document, ".models input").map((box) => box.checked), hidden: row("hits").map((c) => c.hidden),
    dots: all(svg, "[data-dot]").map((d) => (d.getAttribute("cx") - left) / width),
    found: all(svg, "[data-found]").map(text), hits: first("hits"), rate: first("rate"), next: first("next"),
    caption: text(document.querySelector("#figure-gain figcaption")),
    markers: all(gain, "[data-marker]").map((m) => (m.hasAttribute("hidden") ? null : hits(m))),
    quota: Number(root.shownQuota), range: root.range, share: root.prevalence,
  };
}"""
SLIDE = """(at) => {
  const slider = document.getElementById("slider");
  slider.value = at;
  slider.dispatchEvent(new Event("input"));
}"""


def test_sentence_picture_table_and_chart_agree_whatever_the_controls(tab: Any, comparison: Any) -> None:
    """200 random settings of places, range, target, share of positives and models."""
    unfold(tab)
    rng, names = np.random.default_rng(30), list(comparison.evaluations)
    clear = {row["from"]: row for row in comparison.dominance("quota")}
    for step in range(200):
        before = int(tab.evaluate("document.documentElement.dataset.steps || 0"))
        kind = rng.choice(["slider", "quota", "range", "goal", "prevalence", "model"])
        low, high = sorted(rng.integers(1, 401, 2).tolist())
        if kind == "slider":
            tab.evaluate(SLIDE, low - 1)
        elif kind == "quota":
            tab.fill("#quota", str(low))
        elif kind == "range":
            tab.fill("#range-from", str(low))
            tab.fill("#range-to", str(high))
        elif kind == "goal":
            tab.fill("#goal-value", str(int(rng.integers(20, 95))))
            tab.select_option("#goal", str(rng.choice(["recall", "precision", "specificity", "fpr"])))
        elif kind == "prevalence":
            tab.fill("#prevalence", str(rng.choice(["", "5", "21.75", "60"])))
            tab.dispatch_event("#prevalence", "input")  # emptying an empty field is no event
        else:
            tab.locator(".models input").nth(int(rng.integers(3))).click()
        tab.wait_for_function("n => Number(document.documentElement.dataset.steps) > n", arg=before)
        tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        page = tab.evaluate(SHOWN)
        chosen = [k for k in range(3) if page["shown"][k]]
        assert [not hidden for hidden in page["hidden"]] == page["shown"]
        if not chosen:
            assert page["sentence"] == "No model is chosen."
            continue
        told, end = ("rate", 1.0) if page["range"] else ("hits", float(page["quota"]))
        for k in chosen:
            value = float(page[told][k].rstrip("%").replace(",", "")) / (100 if page["range"] else 1)
            assert page["found"][k].split(" (")[0] == page[told][k]
            assert page["dots"][k] * end == pytest.approx(value, abs=0.06 + end / 3000), (step, kind, k)
            assert page[told][k] in page["sentence"]
            assert f"{names[k]} {page['hits'][k]}" in page["caption"]
            if not page["range"]:
                assert page["markers"][k] == pytest.approx(float(page["hits"][k].replace(",", "")), abs=0.6)
                if not page["share"]:
                    assert page["hits"][k] == count(comparison[names[k]].at(quota=page["quota"]).tp)
        assert page["asked"] == (page["quota"] == 20 and not page["range"] and not page["share"] and len(chosen) == 3)
        values = [float(page[told][k].rstrip("%")) for k in chosen]
        best = names[chosen[int(np.argmax(values))]]
        if sorted(values)[-1:] != sorted(values)[-2:-1] and not page["asked"]:  # no tie, also after rounding
            assert re.search(rf", (use )?{best}\b", page["sentence"])
        if " use " in page["sentence"]:
            assert any(row["clear"] and row["leader"] == best for row in clear.values())
        elif len(chosen) > 1:
            assert any(
                word in page["sentence"] for word in ("not clearly", " find ", "was not tested", "tested for all")
            )


def test_the_page_takes_60_seconds(tab: Any) -> None:
    """A picture on the first screen, the whole page on a few; no table scrolls, no word is broken, when all is open."""
    tab.set_viewport_size({"width": 1280, "height": 900})
    assert tab.locator("#chart-dots").bounding_box()["y"] < 500
    assert tab.locator("#slider").bounding_box()["y"] < 900
    assert tab.evaluate("document.documentElement.scrollHeight") <= 4000
    unfold(tab)
    wide = "(all) => all.filter((s) => s.scrollWidth > s.clientWidth + 1).map((s) => s.innerText)"
    assert tab.locator(".scroll").evaluate_all(wide) == []
    broken = tab.evaluate(
        """() => [...document.querySelectorAll("td, th")].filter((c) => [...c.childNodes].some((n) => {
          if (n.nodeType !== 3) return false;
          return [...n.data.matchAll(/[A-Za-z]{2,}/g)].some((m) => {
            const range = document.createRange();
            range.setStart(n, m.index);
            range.setEnd(n, m.index + m[0].length);
            return range.getClientRects().length > 1;
          });
        })).map((c) => c.innerText)"""
    )
    assert broken == []
    tab.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = false; })")
    tab.click(".contents a[href='#measures']")
    tab.wait_for_function("() => document.getElementById('measures').closest('details').open")
