"""The documentation site: it builds without a warning, its links lead somewhere, and reading it takes no network."""

from __future__ import annotations

import doctest
import re
import shutil
import subprocess
import sys
import zlib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

import cutline as cl
import test_page_browser
from cutline.decide.model_choice import GOALS

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("site")]  # one build for all of them

DOCS = Path(__file__).parents[1] / "docs"
MEASURES = [m for m in cl.measures() if hasattr(cl, m.name)]
by_measure = pytest.mark.parametrize("m", MEASURES, ids=[m.name for m in MEASURES])
# Where the pages may point outside; each is official or meant to last.
HOSTS = {
    "semver.org",
    "archive.ics.uci.edu",
    "doi.org",
    "jmlr.org",
    "yardstick.tidymodels.org",
    "www.sphinx-doc.org",  # the theme's footer
    "github.com",  # the theme's footer
    "pradyunsg.me",  # the theme's footer
}


class Page(HTMLParser):
    """What a page refers to: anchors it has, links it makes, resources it loads; and its words."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.words = ""
        self.images: list[dict[str, str | None]] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids |= {given[key] or "" for key in ("id", "name") if key in given}
        if given.get("href"):
            loaded = tag == "link" and given.get("rel") not in ("search", "index", "next", "prev", "canonical")
            (self.loads if loaded else self.links).append(str(given["href"]))
        if tag == "img":
            self.images.append(given)
        self.loads += [str(given[key]) for key in ("src", "srcset", "data", "poster") if given.get(key)]

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources, so that a test run writes nothing into the checkout."""
    copy = tmp_path_factory.mktemp("source") / "docs"
    shutil.copytree(
        DOCS, copy, ignore=shutil.ignore_patterns("gallery", "measures", "notebooks", "reference", "__pycache__")
    )
    shutil.copytree(DOCS.parent / "examples", copy.parent / "examples")  # the gallery draws them
    shutil.copy(DOCS.parent / "CHANGELOG.md", copy.parent)  # a page of the site shows it
    return copy


@pytest.fixture(scope="session")
def site(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    goal = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-d", f"{goal}-doctrees"]
    done = subprocess.run([*command, str(source), str(goal)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return goal


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def test_every_source_is_a_page(site: Path, source: Path) -> None:
    for path in source.rglob("*.md"):
        assert (site / path.relative_to(source)).with_suffix(".html").exists()


def test_links_within_the_site_lead_somewhere(pages: dict[Path, Page]) -> None:
    lost = []
    for path, page in pages.items():
        for link in {*page.links, *page.loads}:
            parts = urlsplit(link)
            if parts.scheme or link.startswith("//"):
                continue
            goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchored = goal.suffix == ".html" and parts.fragment
            if not goal.is_file() or (anchored and unquote(parts.fragment) not in pages[goal].ids):
                lost.append(f"{path.name} -> {link}")
    assert lost == []


def test_the_overview_for_programs_is_at_the_root(site: Path) -> None:
    text = (site / "llms.txt").read_text(encoding="utf-8")
    lost = [target for target in re.findall(r"\]\(([^)]+)\)", text) if not (site / target).is_file()]
    assert lost == []


def test_nothing_is_loaded_from_afar(site: Path, pages: dict[Path, Page]) -> None:
    loads = [(path.name, what) for path, page in pages.items() for what in page.loads]
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        loads += [(sheet.name, what) for what in re.findall(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)", text)]
    assert [(where, what) for where, what in loads if re.match(r"(https?:)?//", "".join(what))] == []


def test_links_to_the_outside_are_to_places_that_last(pages: dict[Path, Page]) -> None:
    outside = {link for page in pages.values() for link in page.links if urlsplit(link).scheme}
    assert {urlsplit(link).scheme for link in outside} <= {"https"}
    assert {urlsplit(link).netloc for link in outside} <= HOSTS


@by_measure
def test_page_of_a_measure(m: Any, site: Path, pages: dict[Path, Page]) -> None:
    page = pages[site / "measures" / f"{m.name}.html"]
    words = " ".join(page.words.split())
    assert m.title in words
    assert " ".join(m.formula.split()) in words
    assert (m.undefined or "defined for every sample") in words
    assert m.reference.partition("(")[0].strip() in words
    assert f" {m.name}(" in words
    assert f">>> from cutline import {m.name}" in words
    assert all(alias in words for alias in m.aliases)
    text = (site / "measures" / f"{m.name}.html").read_text(encoding="utf-8")
    assert "<math" in text
    assert 'class="problematic"' not in text
    (picture,) = (image for image in page.images if f"{m.name}.svg" in str(image["src"]))
    assert len(str(picture["alt"])) > 30


@by_measure
def test_same_as_is_linked(m: Any, site: Path, pages: dict[Path, Page]) -> None:
    named = {o.name for o in MEASURES if o is not m and o.name in re.findall(r"\w+", m.same_as)}
    links = set(pages[site / "measures" / f"{m.name}.html"].links)
    assert {f"{name}.html" for name in named} <= links


@by_measure
def test_example_on_the_page_runs(m: Any, site: Path, source: Path) -> None:
    failed, tried = doctest.testfile(str(source / "measures" / f"{m.name}.md"), module_relative=False)
    assert failed == 0
    assert tried >= 2


def test_every_erratum_that_the_catalogue_names_can_be_read(site: Path, pages: dict[Path, Page]) -> None:
    named = {number for m in MEASURES for number in re.findall(r"erratum (\w+)", m.reference)}
    assert named
    assert {number.lower() for number in named} <= pages[site / "errata.html"].ids


@pytest.mark.usefixtures("site")  # which writes the pages
def test_the_intervals_that_pages_name_are_explained(source: Path) -> None:
    told = (DOCS / "how-sure-are-we.md").read_text(encoding="utf-8")
    for m in MEASURES:
        text = (source / "measures" / f"{m.name}.md").read_text(encoding="utf-8")
        methods = re.findall(r"uses\s+\*\*(.*?)\*\*", text)
        assert methods or "so it has no interval" in text
        for method in methods:
            assert f"`{method}`" in told, f"{m.name}: {method}"


def test_the_tree_agrees_with_recommend(site: Path, pages: dict[Path, Page]) -> None:
    """Each goal stands in the tree, beside a link to the measure that ``recommend`` takes for it."""
    text = (DOCS / "choose-a-measure.md").read_text(encoding="utf-8")
    for goal, (name, _) in GOALS.items():
        before, mark, _ = text.partition(f'recommend("{goal}")')
        assert mark, goal
        nearest = max(before.rfind("\n* "), before.rfind("<summary>"))
        assert f"(measures/{name}.md)" in before[nearest:], goal


def test_every_measure_is_reached_from_the_front(site: Path, pages: dict[Path, Page]) -> None:
    front = {link.partition("#")[0] for link in pages[site / "index.html"].links}
    assert "measures/index.html" in front
    listed = {Path(link).stem for link in pages[site / "measures" / "index.html"].links}
    assert {m.name for m in MEASURES} <= listed


@pytest.mark.parametrize("family", ["threshold", "probability", "ranking", "quota"])
def test_a_new_measure_has_a_picture(family: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where a measure has no picture of its own, the one of its family is drawn."""
    monkeypatch.syspath_prepend(DOCS)
    import pictures

    monkeypatch.setattr(pictures, "OWN", {})
    words = pictures.draw(cl.measures(family)[0], tmp_path / "picture.svg")
    assert len(words) > 30
    assert (tmp_path / "picture.svg").stat().st_size > 2000


# --- in a browser, from disk, without a network -----------------------------------------------------------------


browser = test_page_browser.browser  # the same fixture, started once for this module


@pytest.fixture
def opened(browser: Any) -> Iterator[Any]:
    """A function that opens a page of the site; what the console or the network had to say fails the test."""
    complaints: list[str] = []
    tabs = []

    def go(address: str) -> Any:
        tab = browser.new_page()
        tab.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("request", lambda r: None if r.url.startswith(("file:", "data:")) else complaints.append(r.url))
        tab.goto(address)
        tabs.append(tab)
        return tab

    yield go
    for tab in tabs:
        tab.close()
    assert complaints == []


@pytest.mark.parametrize("width", [1280, 400])
def test_the_tree_in_a_browser(width: int, opened: Any, site: Path) -> None:
    tab = opened((site / "choose-a-measure.html").as_uri())
    tab.set_viewport_size({"width": width, "height": 900})
    tab.wait_for_timeout(100)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    link = tab.locator("article a[href='measures/pem.html']").first
    assert not link.is_visible()
    tab.locator("article summary", has_text="limited number of places").click()
    tab.locator("article summary", has_text="I do not know yet").click()
    assert link.is_visible()
    link.click()
    assert "PEM" in tab.inner_text("h1")


def test_no_page_scrolls_sideways_on_a_phone(opened: Any, site: Path, pages: dict[Path, Page]) -> None:
    """Wide tables and formulas scroll within themselves; what goes past the edge otherwise is named."""
    beyond = """() => [...document.querySelectorAll('article *')]
        .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.table-wrapper, pre, .formula'))
        .map(e => e.outerHTML.slice(0, 80))"""
    wide = {}
    tab = opened((site / "index.html").as_uri())
    tab.set_viewport_size({"width": 390, "height": 844})
    for path in pages:
        tab.goto(path.as_uri())
        if tab.evaluate("document.documentElement.scrollWidth") > 390:
            wide[path.relative_to(site).as_posix()] = tab.evaluate(beyond)[:3]
    assert wide == {}


@pytest.mark.parametrize("width", [1280, 390])
def test_front_page_in_a_browser(width: int, opened: Any, site: Path) -> None:
    tab = opened((site / "index.html").as_uri())
    tab.set_viewport_size({"width": width, "height": 900})
    tab.wait_for_timeout(100)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.locator("article a", has_text="Limited places").first.click()
    assert "limited" in tab.inner_text("h1").lower()


def test_measure_page_in_a_browser(opened: Any, site: Path) -> None:
    tab = opened((site / "measures" / "qrecall.html").as_uri())
    drawn = "() => { const i = document.querySelector('figure img'); return i.complete && i.naturalWidth > 300; }"
    tab.wait_for_function(drawn)
    assert tab.locator("figure img").is_visible()
    assert tab.locator("math").first.bounding_box()["height"] > 15


def test_search_works_from_disk(opened: Any, site: Path) -> None:
    tab = opened((site / "search.html").as_uri() + "?q=qrecall")
    tab.wait_for_selector("#search-results li a")
    assert tab.locator("#search-results li a").count() > 3


def test_other_sites_can_link_to_every_public_name(site: Path) -> None:
    listed = zlib.decompress((site / "objects.inv").read_bytes().split(b"\n", 4)[4]).decode("utf-8")
    known = {line.split()[0] for line in listed.splitlines()}
    synonyms = {alias for m in MEASURES for alias in m.aliases}
    assert {f"cutline.{name}" for name in cl.__all__} - known <= {f"cutline.{name}" for name in synonyms}
