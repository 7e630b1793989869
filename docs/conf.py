"""Settings of the documentation site, which ``make docs`` builds into ``site/``; reading it takes no network."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

import cutline

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "cutline"
author = project_copyright = "The cutline developers"
version = release = cutline.__version__

extensions = ["myst_parser"]
exclude_patterns = ["_static", "pictures"]
myst_heading_anchors = 3
myst_heading_slug_func = "measure_pages.slug"

smartquotes = False  # what the sources say is what is shown

html_theme = "furo"
html_title = "cutline"
html_static_path = ["_static"]
html_extra_path = ["llms.txt"]  # an overview for programs, at the root of the site
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_use_index = False
html_show_search_summary = False  # summaries are fetched, which a browser refuses for files on disk
html_math_renderer = "mathml"


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="formula">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def _without_last_blank(app: Sphinx, doctree: nodes.document) -> None:
    """Doctests end with an empty line, which readers need not see."""
    for block in doctree.findall(nodes.literal_block):
        block.rawsource = block.astext().rstrip()
        block.children = [nodes.Text(block.rawsource)]


def _write_measure_pages(app: Sphinx) -> None:
    import measure_pages

    measure_pages.write(Path(app.srcdir) / "measures")


def setup(app: Sphinx) -> None:
    """Formulas become MathML while the site is built, so that reading them takes no script and no font from afar."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.connect("builder-inited", _write_measure_pages)
    app.connect("doctree-read", _without_last_blank)
