"""The pictures of README and site: what terminal and page show of the bundled example. Run: make pictures.

Each picture has a fingerprint of what it shows in ``images/fingerprints.json``; a test fails where a picture is older
than what it shows.
"""

from __future__ import annotations

import hashlib
import html
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
FINGERPRINTS = IMAGES / "fingerprints.json"
EXAMPLE = ROOT / "examples" / "applicants.csv"
MODELS = ["tree", "logistic", "network"]
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
# picture -> width, height, colour scheme, whether the medium is paper
SCREENS = {
    "page-desktop": (1280, 900, "light", False),
    "page-phone": (390, 844, "light", False),
    "page-dark": (1280, 900, "dark", False),
    "page-print": (794, 1123, "light", True),  # A4 at 96 dots per inch
}


FRONT = ("index.md", "_static/site.css")  # what the front page of the site is made of, beside the hero


def comparison() -> Any:
    """The models of the example, for its 20 places."""
    import cutline as cl

    return cl.compare(str(EXAMPLE), label="completed", score=MODELS, quota=20)


def page_of(compared: Any) -> str:
    """The page of the example, as ``cutline demo`` writes it."""
    from cutline.present.page import page

    source = {"file": EXAMPLE.name, "label": "completed", "score": ", ".join(MODELS)}
    return page(compared, source=source, title="Who gets a place?")


def terminal(columns: int = 80, rows: int = 30) -> str:
    """What ``cutline compare`` prints on a real terminal of this size, with its escape sequences."""
    import fcntl
    import termios

    child, descriptor = pty.fork()
    if child == 0:  # pragma: no cover
        os.chdir(ROOT / "examples")
        os.environ |= {"TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": str(rows)}
        call = ["compare", EXAMPLE.name, "--quota", "20", "--quiet"]
        os.execv(sys.executable, [sys.executable, "-c", "from cutline.cli import main; main()", *call])
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    output = b""
    while True:
        try:
            part = os.read(descriptor, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        output += part
    os.waitpid(child, 0)
    return output.decode().replace("\r\n", "\n")


def fingerprints(compared: Any) -> dict[str, str]:
    """What each picture shows, in a few signs: words and looks of the page, lines of the terminal, numbers found."""
    from matplotlib.figure import Figure

    from cutline.present.plots import plot
    from cutline.present.render import asset

    written = page_of(compared)
    words = re.sub(r"<(script|style|svg).*?</\1>|<[^>]+>", " ", written, flags=re.DOTALL)
    looks = [asset(name) for name in ("page.css", "page.js", "page.html", "explorer.html", "parts.html")]
    drawn = plot(compared, "found", ax=Figure().add_subplot())
    texts = [drawn.get_title(loc="left"), drawn.get_xlabel(), *(text.get_text() for text in drawn.texts)]
    shown = {
        "hero": json.dumps(texts),
        "front-page": "\n".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in FRONT)
        + json.dumps(texts),
        "terminal": re.sub(r"\s+", " ", terminal()),
        **dict.fromkeys(SCREENS, " ".join([*words.split(), *looks])),
    }
    return {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in shown.items()}


@contextmanager
def browser() -> Iterator[Any]:
    """A browser without a window."""
    from playwright.sync_api import sync_playwright

    path = os.environ.get("CUTLINE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as profile:
        started = playwright.chromium.launch_persistent_context(
            profile, executable_path=path, args=FLAGS, offline=True, device_scale_factor=1.5
        )
        yield started
        started.close()


def front_page(folder: Path) -> Path:
    """The front page of the site, built of the guides alone: pages that code writes are not needed for it."""
    source, site = folder / "source", folder / "site"
    source.mkdir()
    for path in (ROOT / "docs").glob("*.md"):
        shutil.copy(path, source)
    for name in ("images", "_static", "_templates"):
        if (ROOT / "docs" / name).is_dir():
            shutil.copytree(ROOT / "docs" / name, source / name)
    settings = f"globals().update(run_path({str(ROOT / 'docs' / 'conf.py')!r}))\ndel setup, html_math_renderer\n"
    (source / "conf.py").write_text(f"from runpy import run_path\n{settings}", encoding="utf-8")
    call = [sys.executable, "-m", "sphinx", "-Q", "-b", "html", str(source), str(site), str(source / "index.md")]
    subprocess.run(call, check=True)
    return site / "index.html"


def draw() -> None:
    """Make every picture anew, and write down what it shows."""
    from cutline.present.plots import write_picture

    IMAGES.mkdir(exist_ok=True)
    compared = comparison()
    write_picture(compared, IMAGES / "hero.png", "found")
    printed = re.sub(r"\x1b\[[\d;]*m", "", terminal())
    text = html.escape(f"$ cutline compare {EXAMPLE.name} --quota 20\n{printed}")
    with browser() as started, tempfile.TemporaryDirectory() as folder:
        tab = started.new_page()
        tab.set_viewport_size({"width": 760, "height": 560})
        tab.set_content(f"<pre>{text}</pre>")
        tab.add_style_tag(content="body { margin: 12px; background: #fff } pre { font: 13px/1.3 monospace !important }")
        tab.locator("pre").first.screenshot(path=IMAGES / "terminal.png")
        path = Path(folder) / "page.html"
        path.write_text(page_of(compared), encoding="utf-8")
        for name, (width, height, scheme, paper) in SCREENS.items():
            tab.set_viewport_size({"width": width, "height": height})
            tab.emulate_media(color_scheme=scheme, media="print" if paper else "screen")
            tab.goto(path.as_uri())
            tab.wait_for_function("() => document.documentElement.dataset.ready")
            tab.screenshot(path=IMAGES / f"{name}.png")
        site = front_page(Path(folder))
        tab.set_viewport_size({"width": 1280, "height": 900})
        tab.emulate_media(color_scheme="light", media="screen")
        tab.goto(site.as_uri())
        tab.screenshot(path=IMAGES / "front-page.png")
    FINGERPRINTS.write_text(json.dumps(fingerprints(compared), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    draw()
