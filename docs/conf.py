"""Settings of the documentation site, which ``make docs`` builds into ``site/``; reading it takes no network."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx import addnodes
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

python_maximum_signature_line_length = 90
python_use_unqualified_type_names = True
add_module_names = False
toc_object_entries = False  # the headings of a page are enough

smartquotes = False  # what the sources say is what is shown

html_theme = "furo"
html_title = "cutline"
html_favicon = "_static/logo.svg"
html_theme_options = {"light_logo": "logo.svg", "dark_logo": "logo-dark.svg"}
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


def _dash_before_meanings(app: Sphinx, doctree: nodes.document) -> None:
    """Between a parameter and its meaning stands a dash, where Sphinx writes two hyphens."""
    for text in list(doctree.findall(nodes.Text)):
        if text == " -- ":
            text.parent.replace(text, nodes.Text(" – "))


def _write_pages(app: Sphinx) -> None:
    import api_pages
    import gallery_pictures
    import measure_pages
    import notebook_pages

    gallery_pictures.write(Path(app.srcdir) / "gallery.md")
    notebook_pages.write(Path(app.srcdir) / "notebooks")
    measure_pages.write(Path(app.srcdir) / "measures")
    api_pages.write(Path(app.srcdir) / "reference")


def _link_names(app: Sphinx, doctree: nodes.document) -> None:
    """Names in the text of a page lead to their reference: `cl.plan(…)`, `threshold_for`, `Evaluation`."""
    import api_pages

    known = {one.name: one for one in api_pages.public()}
    for literal in list(doctree.findall(nodes.literal)):
        pattern = r"(?:cl\.|cutline\.(?:extrapolation\.|sklearn\.)?)?(\w+)(?:\(.*\))?"
        found = re.fullmatch(pattern, literal.astext(), re.DOTALL)
        one = known.get(found[1]) if found else None
        if one is None or isinstance(literal.parent, nodes.title | nodes.reference | addnodes.pending_xref):
            continue
        bare = literal.astext() == one.name
        if bare and (one.measure or (one.name.islower() and "_" not in one.name)):
            continue  # words such as `check` and `plan` also name options and commands
        target = {"refdomain": "py", "reftype": "obj", "reftarget": f"{one.module}.{one.measure or one.name}"}
        xref = addnodes.pending_xref("", refdoc=app.env.docname, refwarn=True, refexplicit=True, **target)
        literal.replace_self(xref)
        xref += literal


def setup(app: Sphinx) -> None:
    """Formulas become MathML while the site is built, so that reading them takes no script and no font from afar."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.connect("builder-inited", _write_pages)
    app.connect("doctree-read", _without_last_blank)
    app.connect("doctree-read", _link_names)
    app.connect("doctree-read", _dash_before_meanings)
