"""The notebooks as pages: each is run when the site is built, and its page shows what came out."""

from __future__ import annotations

import base64
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def write(folder: Path) -> None:
    """Run every notebook in ``examples/`` and write its page and pictures; ``index.md`` lists them."""
    import nbformat
    from nbclient import NotebookClient

    folder.mkdir(exist_ok=True)
    names = []
    for path in sorted(EXAMPLES.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        with tempfile.TemporaryDirectory() as place:  # a notebook may write files
            shutil.copy(EXAMPLES / "bank_marketing.py", place)
            NotebookClient(notebook, timeout=600, kernel_name="python3").execute(cwd=place)
        page = "\n\n".join(_blocks(notebook, path.stem, folder))
        (folder / f"{path.stem}.md").write_text(page + "\n", encoding="utf-8")
        names.append(path.stem)
    listed = "\n".join(names)
    (folder / "index.md").write_text(
        "# Notebooks\n\nThree stories from beginning to end, with their output. The notebooks are in `examples/`.\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n",
        encoding="utf-8",
    )


def _blocks(notebook: Any, name: str, folder: Path) -> Iterator[str]:
    """Cell by cell: prose, code, and what the code showed in the richest form a page can hold."""
    number = 0
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            yield cell.source
            continue
        yield f"```python\n{cell.source}\n```"
        for output in cell.outputs:
            shown = output.get("data", {})
            if "image/png" in shown:
                number += 1
                picture = folder / f"{name}-{number}.png"
                picture.write_bytes(base64.b64decode(shown["image/png"]))
                yield f"```{{image}} {picture.name}\n:alt: Output of the cell above\n```"
            elif "text/html" in shown:
                # scripts of an interactive page do not belong into this one; what is wide scrolls by itself
                kept = re.sub(r"<script.*?</script>", "", shown["text/html"], flags=re.DOTALL)
                yield f'```{{raw}} html\n<div style="overflow-x: auto">{kept}</div>\n```'
            elif text := (output.get("text") or shown.get("text/plain", "")).rstrip():
                yield f"```text\n{text}\n```"
