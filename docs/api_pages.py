"""The API reference, written from the public names whenever the site is built: a new name has its page by itself.

What a function says comes from its docstring, its types and defaults from its signature, and what its parameters mean
from ``cutline.reference``. Measures have pages of their own (``measure_pages.py``), which take their block from here.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
from collections.abc import Iterator
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from site_texts import explain_attribute, methods_of

import cutline as cl
import cutline.extrapolation
import cutline.papers
import cutline.results
import cutline.sklearn
import cutline.types
from cutline.reference import Parameter, parameters_of, parts_of, returns_of

HERE = Path(__file__).parent
REFUSED = "If an argument is invalid. The message names the argument, the row (if any) and the remedy."
# Sections of the index: where a name lives says what it is for.
SECTIONS = {
    "Evaluate and compare": ("verbs", "evaluation", "comparison", "class_evaluation", "verdict", "estimate"),
    "Some labels only": ("sampled_labels",),
    "Segments": ("segments",),
    "Places, costs and thresholds": ("decide", "quotas"),
    "Intervals and tests": ("inference",),
    "Curves and tables": ("curves", "table"),
    "More classes": ("extrapolation",),
    "Files, tables and clusters": ("diagnosis", "engines", "sources"),
    "The catalogue": ("catalogue",),
    "scikit-learn": ("sklearn",),
    "Demonstrations of the papers": ("papers",),
    "Errors and warnings": ("errors",),
}
OTHERS = "Further names"


class Public(NamedTuple):
    """A public name: the module that users import it from, and what it is."""

    module: str
    name: str
    value: Any

    @property
    def is_class(self) -> bool:
        return inspect.isclass(self.value)

    @property
    def measure(self) -> str:
        """The measure that it computes, if it does; a synonym computes another name's."""
        found = getattr(self.value, "__name__", "")
        return found if found in {m.name for m in cl.measures()} and found in dir(cl) and not self.is_class else ""

    @property
    def document(self) -> str:
        """Where its page is, without suffix; classes are apart, for file systems that do not tell Plan from plan."""
        if self.measure:
            return f"measures/{self.measure}"
        apart = "sklearn-" if self.module == "cutline.sklearn" else ""
        return f"reference/{'classes/' if self.is_class else ''}{apart}{self.name}"

    @property
    def section(self) -> str:
        home = self.value.__module__.removeprefix("cutline.")
        if home.startswith("inference.limits") and self.is_class:
            return "Errors and warnings"
        return next(
            (title for title, rooms in SECTIONS.items() if any(f"{home}.".startswith(f"{room}.") for room in rooms)),
            OTHERS,
        )

    @property
    def summary(self) -> str:
        text = inspect.getdoc(self.value) or ""
        return " ".join(text.partition("\n\n")[0].split())


@cache
def public() -> tuple[Public, ...]:
    """Every public name; those of a room once where ``cutline`` has them too."""
    names = [Public("cutline", name, getattr(cl, name)) for name in cl.__all__]
    known = {one.name for one in names}
    rooms = (cutline.results, cutline.papers, cutline.extrapolation, cutline.sklearn)
    more = [Public(room.__name__, name, getattr(room, name)) for room in rooms for name in room.__all__]
    return (*names, *(one for one in more if one.name not in known))


def write(folder: Path) -> None:
    """Write the index and every page; what belongs to no name any more is removed."""
    pages = {f"{one.document}.rst": page(one) for one in public() if not one.measure}
    pages |= {"reference/index.rst": index(), "reference/types.rst": types_page()}
    root = folder.parent
    for name, text in pages.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:  # unchanged pages are not built again
            path.write_text(text, encoding="utf-8")
    for stale in folder.rglob("*.rst"):
        if stale.relative_to(root).as_posix() not in pages:
            stale.unlink()


def page(one: Public) -> str:
    """The page of one name."""
    title = one.name if one.module == "cutline" else f"{one.name} ({one.module})"
    block = _class_block(one) if one.is_class else function_block(one)
    return "\n\n".join([f"{title}\n{'=' * len(title)}", *block, *_seen_in(one)]) + "\n"


def function_block(one: Public, *, whole: bool = True) -> Iterator[str]:
    """The function as Sphinx reads it; without its prose and examples where a page has them already."""
    said, examples = parts_of(inspect.getdoc(one.value) or "")
    said = said.partition("\n\nReturns\n-----")[0]
    parameters = parameters_of(one.value, one.name)
    yield f".. py:function:: {one.name}({_signature(one.value)})\n   :module: {one.module}"
    if whole:
        yield _indented(said)
    yield _indented(_fields(parameters, returns_of(one.value, one.name), raises=bool(parameters)))
    if whole and examples:
        yield _indented(f".. rubric:: Examples\n\n{examples}")


def _class_block(one: Public) -> Iterator[str]:
    said, examples = parts_of(inspect.getdoc(one.value) or "")
    exception = issubclass(one.value, BaseException)
    made = constructor(one.value)
    signature = "" if made is None else f"({_signature(made)})"
    yield f".. py:{'exception' if exception else 'class'}:: {one.name}{signature}\n   :module: {one.module}"
    yield _indented(said)
    if made is not None:
        yield _indented(_fields(parameters_of(made, one.name), ("", ""), raises=False))
    makers = [
        other.name for other in public() if not other.is_class and returns_of(other.value, other.name)[0] == one.name
    ]
    if makers:
        yield _indented("Returned by " + ", ".join(f":func:`~cutline.{name}`" for name in makers) + ".")
    if examples:
        yield _indented(f".. rubric:: Examples\n\n{examples}")
    for name, kind, text in attributes(one.value):
        typed = f"\n   :type: {kind}" if kind else ""
        yield _indented(f".. py:attribute:: {name}{typed}\n\n   {text}")
    for name, function in sorted(methods_of(one.value).items()):
        yield _indented("\n\n".join(_method_block(one, name, function)))


def _method_block(one: Public, name: str, function: Any) -> Iterator[str]:
    kind = type(inspect.getattr_static(one.value, name)).__name__
    options = f"\n   :{kind}:" if kind in ("classmethod", "staticmethod") else ""
    said, examples = parts_of(inspect.getdoc(function) or "")
    said = said.partition("\n\nReturns\n-----")[0]
    owner = f"{one.name}.{name}"
    yield f".. py:method:: {name}({_signature(function)}){options}"
    yield _indented(said)
    if fields := _fields(parameters_of(function, owner), returns_of(function, owner), raises=False):
        yield _indented(fields)
    if examples:
        yield _indented(f".. rubric:: Examples\n\n{examples}")


def constructor(value: type) -> Any:
    """The constructor, of classes that users make themselves; results are made by functions."""
    made_by_users = value.__name__ in ("InputError", "Table")
    return value.__init__ if made_by_users or value.__name__.endswith("Display") else None  # type: ignore[misc]


def attributes(value: type) -> Iterator[tuple[str, str, str]]:
    """Name, type and meaning of each public attribute: fields first, then properties."""
    fields = dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()
    named = {f.name: f.type for f in fields} or dict(getattr(value, "__annotations__", {}))
    shown = {name for name in named if not name.startswith("_")} if constructor(value) is None else set()
    for name in (name for name in named if name in shown):
        yield name, _typed(named[name]), explain_attribute(value, name)
    for base in value.__mro__:
        for name, found in vars(base).items() if base.__module__.startswith("cutline") else ():
            if isinstance(found, property | cached_property) and not name.startswith("_") and name not in shown:
                shown.add(name)
                function = found.fget if isinstance(found, property) else found.func
                kind = str(getattr(function, "__annotations__", {}).get("return", ""))
                yield name, kind, " ".join((inspect.getdoc(found) or "").split())


def _typed(annotation: Any) -> str:
    if isinstance(annotation, str):
        return annotation
    return str(getattr(annotation, "__forward_arg__", getattr(annotation, "__name__", annotation)))


def _signature(function: Any) -> str:
    """Names and defaults; the types stand with the parameters."""
    parameters = [p.replace(annotation=p.empty) for p in inspect.signature(function).parameters.values()]
    kept = [p for p in parameters if p.name not in ("self", "cls")]
    return str(inspect.Signature(kept))[1:-1]


def _fields(parameters: list[Parameter], returned: tuple[str, str], *, raises: bool) -> str:
    lines = []
    for p in parameters:
        name = p.name.replace("*", r"\*")
        lines.append(f":param {name}: {p.text}")
        if p.type:
            lines.append(f":type {name}: {p.type}")
    kind, meaning = returned
    if meaning:
        lines.append(f":returns: {meaning}")
    if kind:
        lines.append(f":rtype: {kind}")
    if raises:
        lines.append(f":raises ~cutline.InputError: {REFUSED}")
    return "\n".join(lines)


def _indented(text: str) -> str:
    return "\n".join(f"   {line}".rstrip() for line in text.splitlines())


# --- links to the guides ----------------------------------------------------------------------------------------


@cache
def guides() -> dict[str, tuple[str, str]]:
    """The guides by file name: title and text."""
    found = {}
    for path in sorted(HERE.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        found[path.stem] = (text.partition("\n")[0].lstrip("# "), text)
    return found


def _seen_in(one: Public) -> Iterator[str]:
    """The guides that use a name, those that use it most first; guides for users of other software come last."""
    word = re.compile(rf"(?:\bcl\.|`|>>> |= |import .*\b)(?:cutline\.)?{one.name}\b(?=[(`,\s])")
    counts = {stem: len(word.findall(text)) for stem, (_, text) in guides().items()}
    best = sorted(
        (stem for stem in counts if counts[stem]), key=lambda stem: (stem.startswith("coming"), -counts[stem])
    )[:5]
    if best:
        links = "\n".join(f"* :doc:`{guides()[stem][0]} </{stem}>`" for stem in best)
        yield f"In the guides\n-------------\n\n{links}"


# --- all of them ------------------------------------------------------------------------------------------------


def index() -> str:
    """Every public name, section by section."""
    blocks = [
        "API reference\n=============",
        "Every public name, with each parameter explained. ``help(cutline.evaluate)`` prints the same text. The "
        "conventions that hold everywhere are these: scores are never flipped, *predicted positive* means ``score > "
        "threshold``, an int quota counts cases and a float quota is a share of them, and a value that the definition "
        "leaves undefined is ``nan``. The types in the signatures are explained under :doc:`types`.",
    ]
    names = [one for one in public() if not one.measure]
    for section in (*SECTIONS, OTHERS):
        rows = [one for one in names if one.section == section]
        if rows:
            blocks += [f"{section}\n{'-' * len(section)}", *_rows(rows)]
    measures = [one for one in public() if one.measure]
    blocks += [
        "Measures\n--------",
        "One function each. :doc:`Their pages </measures/index>` have formula, picture, range and reference.",
        *_rows(measures),
        ".. toctree::\n   :hidden:\n\n   types\n"
        + "\n".join(f"   {one.document.removeprefix('reference/')}" for one in sorted(names, key=_order)),
    ]
    return "\n\n".join(blocks) + "\n"


def _order(one: Public) -> tuple[bool, str]:
    return one.is_class, one.name.lower()


def _rows(rows: list[Public]) -> Iterator[str]:
    """Functions first, then classes; a synonym says what it stands for."""
    lines = [".. list-table::\n   :widths: 30 70\n"]
    for one in sorted(rows, key=_order):
        role = "class" if one.is_class else "func"
        synonym = one.measure and one.measure != one.name
        said = f"Another name for :func:`~cutline.{one.measure}`." if synonym else one.summary
        shown = f"{one.module}.{one.name}".removeprefix("cutline.")
        lines.append(f"   * - :{role}:`{shown} <{one.module}.{one.measure if synonym else one.name}>`\n     - {said}")
    yield "\n".join(lines)


def types_page() -> str:
    """What the words in signatures stand for, read from ``cutline/types.py``: each declaration with its docstring."""
    source = Path(inspect.getfile(cutline.types)).read_text(encoding="utf-8")
    body = ast.parse(source).body
    blocks = [
        "Types in signatures\n===================",
        "What you may pass where a signature names one of these. They live in ``cutline.types``, for your own "
        "annotations.",
        ".. py:currentmodule:: cutline.types",
    ]
    for node, after in pairwise(body):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            assert isinstance(after, ast.Expr), f"{node.target.id} is not explained"
            means = ast.unparse(node.value).strip("'\"")
            said = ast.literal_eval(after.value)
            blocks.append(f".. py:type:: {node.target.id}\n   :canonical: {means}\n\n   {said}")
        elif isinstance(node, ast.ClassDef):
            blocks.append(f".. py:type:: {node.name}\n\n   {ast.get_docstring(node)}")
    return "\n\n".join(blocks) + "\n"
