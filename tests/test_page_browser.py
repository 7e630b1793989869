"""The page in a real browser, with the network off: numbers, keyboard, widths, light and dark, print."""

from __future__ import annotations

import os
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

pytestmark = pytest.mark.xdist_group("browser")  # one browser for all of them

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
    text = tab.locator(f'#at tr[data-row="{row}"] td').nth(model).inner_text()
    return [part.strip() for part in text.split("\n") if part.strip()]


def percent(value: float) -> str:
    return f"{100 * value:,.1f}\u202f%"


@pytest.mark.parametrize("quota", [1, 20, 30, 137, 400])
def test_the_table_is_what_at_gives(tab: Any, comparison: Any, quota: int) -> None:
    choose(tab, quota)
    for k, ev in enumerate(comparison.evaluations.values()):
        point = ev.at(quota=quota)
        low, high = point.expected_hits.low, point.expected_hits.high
        assert cell(tab, "hits", k) == [count(point.tp), f"{low:.1f} to {high:.1f}"]
        assert cell(tab, "next", k) == [f"{point.next_hits.low:.0f} to {point.next_hits.high:.0f}"]
        assert cell(tab, "missed", k) == [count(point.fn)]
        assert cell(tab, "rate", k) == [percent(point.hit_rate), f"{percent(low / quota)} to {percent(high / quota)}"]
        name = f"qrecall@{quota}"
        recall = cl.evaluate(ev.sample.positive, ev.sample.score, measures=[name])[name]
        assert cell(tab, "qrecall", k) == [percent(point.qrecall), f"{percent(recall.low)} to {percent(recall.high)}"]
        assert cell(tab, "lift", k) == [f"{point.lift:.2f}"]
        shown = cell(tab, "threshold", k)
        assert shown[0] == ("takes all" if point.threshold == -np.inf else f"{point.threshold:.6g}")
        if point.hits_worst != point.hits_best:
            assert shown[1] == f"tie: {count(point.hits_worst)} to {count(point.hits_best)} hits"
        profit = 50 * point.tp - 2 * quota
        assert float(cell(tab, "profit", k)[0].replace(",", "").replace("−", "-")) == pytest.approx(profit, abs=0.51)
    leaders = {k for k in range(3) if cell(tab, "leads", k) == ["most"]}
    hits = [ev.at(quota=quota).tp for ev in comparison.evaluations.values()]
    assert leaders == {k for k in range(3) if max(hits) - hits[k] < 1e-9}
    positives = next(iter(comparison.evaluations.values())).facts["positives"]
    assert f"{percent(max(hits) / positives)} of the " in tab.locator("#now").inner_text()


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
    for _ in range(12):
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


def test_models_can_be_left_out(tab: Any) -> None:
    tab.locator(".models input").nth(2).uncheck()
    tab.wait_for_function("() => document.querySelectorAll('#chart-gain [data-marker]:not([hidden])').length === 2")
    assert tab.locator("#at thead th[data-model]:visible").count() == 2
    assert "tree finds most" in tab.inner_text("#now")


def test_profit_follows_cost_and_value(tab: Any, comparison: Any) -> None:
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


def test_logarithmic_axis(tab: Any) -> None:
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
    assert charts.count() == 17
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
    assert page.input_value("#quota") == "40"
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
    edges = tab.evaluate("[...document.querySelectorAll('#goals p')].map((c) => c.getBoundingClientRect().right)")
    assert edges
    assert max(edges) <= 400
    tab.set_viewport_size({"width": 1280, "height": 900})


def test_pairs_of_models_fit_a_phone(tab: Any) -> None:
    tab.set_viewport_size({"width": 375, "height": 800})
    widths = tab.evaluate(
        "[...document.querySelectorAll('table.pairs')].map((t) => [t.scrollWidth, t.parentElement.clientWidth])"
    )
    assert widths
    assert all(needed <= there for needed, there in widths)
    tab.set_viewport_size({"width": 1280, "height": 900})


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
    tab.select_option("#goal", goal)
    tab.fill("#goal-value", f"{100 * share:g}")
    expected = int(min(found) if goal == "recall" else max(found))
    tab.wait_for_function("q => document.documentElement.dataset.shownQuota === String(q)", arg=expected)
    assert "on new data it keeps that promise only about half the time" in tab.inner_text("#promise")
    tab.select_option("#goal", "")


def test_without_scripts_the_charts_are_there(browser: Any, address: str) -> None:
    page = browser.new_page()
    browser.new_cdp_session(page).send("Emulation.setScriptExecutionDisabled", {"value": True})
    page.goto(address)
    assert page.locator(".chart > svg").count() == 17
    assert not page.locator("#slider").is_visible()
    assert page.locator(".models .name").first.is_visible()
    assert page.locator("#chart-gain [data-curve='0']").is_visible()
    assert "Without JavaScript" in page.inner_text("main")
    page.close()


def test_the_page_moves_its_cut_inside_a_notebook(browser: Any, comparison: Any, tmp_path: Path) -> None:
    shown = comparison.explore(height=700)._repr_html_()
    (tmp_path / "notebook.html").write_text(f"<!doctype html><title>notebook</title>{shown}", encoding="utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "notebook.html").as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("html[data-ready]").wait_for(state="attached")
    frame.locator("#quota").fill("137")
    frame.locator("html[data-shown-quota='137']").wait_for(state="attached")
    hits = [count(ev.at(quota=137).tp) for ev in comparison.evaluations.values()]
    cells = frame.locator('#at tr[data-row="hits"] td')
    assert [cells.nth(k).inner_text().split()[0] for k in range(3)] == hits
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
    tab.fill("#prevalence", "5")
    tab.wait_for_function("() => document.documentElement.dataset.prevalence === '5'")
    y, scores = columns
    for k, name in enumerate(scores):
        point = cl.evaluate(y, scores[name], measures=["roc_auc"], interval=None, prevalence=0.05).at(quota=20)
        shown = [cell(tab, f"there-{what}", k)[0].replace("\u202f%", "") for what in ("rate", "qrecall", "lift")]
        expected = [100 * point.hit_rate, 100 * point.recall, point.lift]
        assert [float(value) for value in shown] == pytest.approx(expected, abs=0.06)
    tab.fill("#prevalence", "")
    tab.wait_for_function("() => document.documentElement.dataset.prevalence === ''")
    assert not tab.locator("#row-there-rate").is_visible()
    tab.close()


def test_a_range_of_quotas_is_averaged(tab: Any, comparison: Any) -> None:
    """The reader's range: the mean over all its quotas; without a range the rows are hidden."""
    assert not tab.locator("#row-range-rate").is_visible()
    tab.fill("#range-from", "20")
    tab.fill("#range-to", "60")
    tab.wait_for_function("() => document.documentElement.dataset.range === '20-60'")
    cells = tab.locator("#row-range-rate td")
    for k, ev in enumerate(comparison.evaluations.values()):
        rate = cl.hit_rate(ev.sample.positive, ev.sample.score, quota="20-60")
        assert f"{100 * rate:.1f}" in cells.nth(k).inner_text()
    assert tab.locator("#chart-gain [data-range]").is_visible()
    tab.fill("#range-to", "10")
    tab.wait_for_function("() => document.documentElement.dataset.range === ''")
    assert not tab.locator("#row-range-rate").is_visible()
