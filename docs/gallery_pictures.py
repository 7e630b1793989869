"""The pictures of the gallery: the page's own examples are run, and a line that names a picture is saved as one."""

from __future__ import annotations

import doctest
import re
import warnings
from pathlib import Path


def write(page: Path) -> None:
    """Run the examples of the page from the root of the project; write each picture into the folder of that name."""
    import os

    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    folder = page.with_suffix("")
    folder.mkdir(exist_ok=True)
    scope: dict[str, object] = {}
    back = Path.cwd()
    os.chdir(Path(__file__).resolve().parents[1])
    try:
        for example in doctest.DocTestParser().get_examples(page.read_text(encoding="utf-8")):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                exec(compile(example.source, str(page), "exec"), scope)
            named = re.search(r"# picture: (\w+)", example.source)
            if named:
                # a fixed hash salt and no date, so that an unchanged picture is an unchanged file
                with mpl.rc_context({"svg.hashsalt": "cutline"}):
                    plt.gcf().savefig(folder / f"plot-{named[1]}.svg", bbox_inches="tight", metadata={"Date": None})
                plt.close("all")
    finally:
        os.chdir(back)
