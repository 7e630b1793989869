"""The pictures of README and site: what terminal and page show of the bundled example. Run: make pictures.

Each picture has a fingerprint of what it shows in ``images/fingerprints.json``; a test fails where a picture is older
than what it shows.
"""

from __future__ import annotations

import hashlib
import json
import os
import pty
import re
import shutil
import struct
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
    from cutline.present.figures import found_rows
    from cutline.present.render import asset

    html = page_of(compared)
    words = re.sub(r"<(script|style|svg).*?</\1>|<[^>]+>", " ", html, flags=re.DOTALL)
    looks = [asset(name) for name in ("page.css", "page.js", "page.html", "explorer.html", "parts.html")]
    shown = {
        "hero": json.dumps([[row["name"], row["words"]] for row in found_rows(list(compared.values()), 20)]),
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


def draw() -> None:
    """Make every picture anew, and write down what it shows."""
    import io

    from rich.console import Console
    from rich.text import Text

    from cutline.present.plots import write_picture

    IMAGES.mkdir(exist_ok=True)
    compared = comparison()
    write_picture(compared, IMAGES / "hero.png", "found")
    console = Console(record=True, width=80, file=io.StringIO(), force_terminal=True, legacy_windows=False)
    console.print(Text.from_ansi(f"$ cutline compare {EXAMPLE.name} --quota 20\n{terminal()}"))
    with browser() as started, tempfile.TemporaryDirectory() as folder:
        tab = started.new_page()
        tab.set_viewport_size({"width": 760, "height": 560})
        tab.set_content(console.export_html(inline_styles=True))
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
    FINGERPRINTS.write_text(json.dumps(fingerprints(compared), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    draw()
