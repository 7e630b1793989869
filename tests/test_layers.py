"""Imports run one way: from the upper layers of the house to the lower ones, as CONTRIBUTING.md lists them."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"

# A result shows itself: these methods, and nothing else below it, load the room that draws.
SHOWING = ("plot", "to_html", "to_markdown", "__repr__", "_repr_html_", "sections")


class Import(NamedTuple):
    """One import of one module of the package by another; ``function`` is where it stands, empty at the top."""

    importer: str
    imported: str
    function: str
    private: str


def name_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(SOURCE.rglob("*.py"))}


def imports_of(module: str, path: Path) -> Iterator[Import]:
    """Every import of the package by itself that is ever run; those for type checkers alone are not."""

    def visit(node: ast.AST, function: str) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.ImportFrom):
                yield from read(child, function)
            elif isinstance(child, ast.Import):
                yield from (Import(module, a.name, function, "") for a in child.names if a.name in MODULES)
            inside = child.name if isinstance(child, ast.FunctionDef) else function
            yield from visit(child, inside)

    def read(node: ast.ImportFrom, function: str) -> Iterator[Import]:
        package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
        above = package[: len(package) - node.level + 1] if node.level else []
        home = ".".join([*above, *([node.module] if node.module else [])])
        for alias in node.names:
            whole = f"{home}.{alias.name}"
            private = alias.name if alias.name.startswith("_") and not alias.name.startswith("__") else ""
            if whole in MODULES or home in MODULES:
                yield Import(module, whole if whole in MODULES else home, function, private)

    yield from visit(ast.parse(path.read_text(encoding="utf-8")), "")


IMPORTS = [found for module, path in MODULES.items() for found in imports_of(module, path)]


def layers() -> list[list[str]]:
    """The layers as CONTRIBUTING.md lists them, the lowest first."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    block = re.search(r"^## Layers\n.*?```text\n(.*?)```", text, re.DOTALL | re.MULTILINE)
    assert block is not None, "CONTRIBUTING.md lists no layers"
    lines = [line.partition("#")[0] for line in block[1].splitlines()]
    return [[f"cutline.{name}" for name in line.split()] for line in lines if line.strip()]


LAYERS = layers()


def layer_of(module: str) -> int:
    """The layer that names a module or the room it is in; the package itself, its version, is below all."""
    if module == "cutline":
        return -1
    found = [
        (len(name), k)
        for k, names in enumerate(LAYERS)
        for name in names
        if module == name or module.startswith(f"{name}.")
    ]
    assert found, f"{module} stands in none of the layers of CONTRIBUTING.md"
    assert len(found) == len({length for length, _ in found}), f"{module} stands in several layers of CONTRIBUTING.md"
    return max(found)[1]  # a module named by itself leaves its room's layer


def test_every_module_has_its_layer_and_every_layer_its_modules() -> None:
    for module in MODULES:
        layer_of(module)
    for names in LAYERS:
        for name in names:
            assert any(module == name or module.startswith(f"{name}.") for module in MODULES), f"{name} is gone"


@pytest.mark.parametrize("module", [module for module in MODULES if module != "cutline"])
def test_imports_run_one_way(module: str) -> None:
    for found in IMPORTS:
        if found.importer != module or layer_of(found.imported) <= layer_of(module):
            continue
        shows = found.function in SHOWING and found.imported.startswith("cutline.present")
        assert shows, f"{module} imports {found.imported}, which stands above it (in {found.function or 'its head'})"


def test_there_is_no_circle_at_the_heads_of_modules() -> None:
    graph: dict[str, set[str]] = {module: set() for module in MODULES}
    for found in IMPORTS:
        if not found.function and found.imported not in ("cutline", found.importer):
            graph[found.importer].add(found.imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"modules import each other in a circle: {' -> '.join(error.args[1])}")


def test_private_names_stay_at_home() -> None:
    assert [found for found in IMPORTS if found.private] == []


def test_the_test_sees_imports_inside_functions_and_methods() -> None:
    seen = {(found.importer, found.imported, found.function) for found in IMPORTS}
    assert ("cutline.table", "cutline.present.page", "to_html") in seen


def test_a_file_name_and_a_class_name_occur_once_in_the_tree() -> None:
    """A reader who looks for a name finds one place."""
    sources = [path for path in SOURCE.rglob("*.py") if path.stem != "__init__"]
    classes = [
        node.name
        for path in sources
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    for names in ([path.stem for path in sources], classes):
        assert [name for name, times in Counter(names).items() if times > 1] == []
    assert len(sources) <= 160
