"""The API reference: every public name has its page, and every parameter and field is explained, once."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import cutline
import cutline.extrapolation
import cutline.papers
import cutline.results
import cutline.sklearn
from cutline.reference import PARAMETERS, RETURNS, numpydoc, parameters_of, parts_of, returns_of

DOCS = Path(__file__).parents[1] / "docs"
HOW = "explain it in src/cutline/reference.py, a field in docs/site_texts.py"


@pytest.fixture(scope="module")
def pages() -> Any:
    """The module that writes the pages."""
    sys.path.insert(0, str(DOCS))
    try:
        yield importlib.import_module("api_pages")
    finally:
        sys.path.remove(str(DOCS))


NAMES = [
    *(f"cutline.{name}" for name in cutline.__all__),
    *(
        f"{room.__name__}.{name}"
        for room in (cutline.results, cutline.papers, cutline.extrapolation, cutline.sklearn)
        for name in room.__all__
        if name not in cutline.__all__
    ),
]
by_name = pytest.mark.parametrize("name", NAMES)


def value_of(name: str) -> Any:
    module, _, own = name.rpartition(".")
    return getattr(sys.modules[module], own)


def callables_of(name: str, pages: Any) -> list[tuple[str, Any]]:
    """What can be called under a public name: the function, or the methods and the constructor of a class."""
    value, own = value_of(name), name.rpartition(".")[2]
    if not inspect.isclass(value):
        return [(own, value)]
    methods = [(f"{own}.{method}", function) for method, function in pages.methods_of(value).items()]
    made = pages.constructor(value)
    return methods if made is None else [(own, made), *methods]


def test_the_reference_lists_every_public_name(pages: Any) -> None:
    assert {f"{one.module}.{one.name}" for one in pages.public()} == set(NAMES)
    index = pages.index()
    for one in pages.public():
        assert f"<{one.module}.{one.measure or one.name}>`" in index
        assert one.section != pages.OTHERS, f"say in docs/api_pages.py which section {one.name} belongs to"


@by_name
def test_page_of_a_name(name: str, pages: Any) -> None:
    one = next(one for one in pages.public() if f"{one.module}.{one.name}" == name)
    text = "\n".join(pages.function_block(one)) if one.measure else pages.page(one)
    kind = "function" if not one.is_class else "exception" if issubclass(one.value, BaseException) else "class"
    assert f".. py:{kind}:: {one.name}" in text
    assert f":module: {one.module}" in text
    for _, function in callables_of(name, pages):
        for parameter in parameters_of(function, one.name):
            assert f":param {parameter.name}:".replace("*", r"\*") in text


@by_name
def test_every_parameter_is_explained(name: str, pages: Any) -> None:
    missing = [
        f"{owner}.{parameter.name}"
        for owner, function in callables_of(name, pages)
        for parameter in parameters_of(function, owner)
        if not parameter.text
    ]
    assert missing == [], HOW


@by_name
def test_every_attribute_is_explained(name: str, pages: Any) -> None:
    value = value_of(name)
    if inspect.isclass(value):
        assert [field for field, _, text in pages.attributes(value) if not text] == [], HOW


@by_name
def test_every_function_says_what_it_returns_and_shows_an_example(name: str) -> None:
    value, own = value_of(name), name.rpartition(".")[2]
    if not inspect.isclass(value):
        type_, meaning = returns_of(value, own)
        assert type_
        assert meaning, f"{HOW}, under RETURNS"
        assert parts_of(inspect.getdoc(value) or "")[1], "its docstring has no example"


def test_texts_explain_what_is_there(pages: Any) -> None:
    known = {
        f"{owner}.{parameter.name.strip('*')}"
        for name in NAMES
        for owner, function in callables_of(name, pages)
        for parameter in parameters_of(function, owner)
    }
    known |= {f"{m.name}.{option}" for m in cutline.measures("classes") for option in m.params}
    shared = {key.partition(".")[2] for key in known}  # a method of several classes: verdict.question
    shared |= {f"{owner}.{key.rpartition('.')[2]}" for key in known if (owner := key.partition(".")[0])}  # of a class
    displays = {key.replace("RocDisplay", "CurveDisplay") for key in known if key.startswith("RocDisplay.")}
    gone = {key for key in PARAMETERS if "." in key} - known - shared - displays
    assert gone == set()
    fields = {f"{name.rpartition('.')[2]}.{field}" for name in NAMES for field, _, _ in _attributes(name, pages)}
    attributes = importlib.import_module("site_texts").ATTRIBUTES
    assert {key for key in attributes if "." in key} <= fields
    assert set(RETURNS) - {name.rpartition(".")[2] for name in NAMES} == {"value of a measure"}


def _attributes(name: str, pages: Any) -> list[Any]:
    value = value_of(name)
    return list(pages.attributes(value)) if inspect.isclass(value) else []


def test_help_has_the_sections_of_numpydoc() -> None:
    for function in (cutline.evaluate, cutline.recall, cutline.threshold_for, cutline.sklearn.scorer):
        text = function.__doc__ or ""
        at = [
            text.index(f"\n{title}\n{'-' * len(title)}\n") for title in ("Parameters", "Returns", "Raises", "Examples")
        ]
        assert at == sorted(at)
    assert "level : float, default 0.95\n    The confidence level" in (cutline.evaluate.__doc__ or "")
    # what a function gives back is explained with it
    assert "fpr : float | None, default None\n    The cut that takes" in (cutline.results.Evaluation.at.__doc__ or "")


def test_a_docstring_is_put_together_once() -> None:
    def add(one: int, *, level: float = 0.9) -> int:
        """Add.

        >>> add(1)
        2
        """
        return one + 1

    text = numpydoc(add, "add")
    add.__doc__ = text
    assert numpydoc(add, "add").count("Parameters\n-----") == 1
    assert text.startswith("Add.\n\nParameters\n")
    assert "level : float, default 0.9\n    The confidence level" in text
    assert text.endswith("Examples\n--------\n>>> add(1)\n2\n")


def test_types_in_signatures_are_explained(pages: Any) -> None:
    text = pages.types_page()
    for name in ("Labels", "Scores", "QuotaLike", "MeasureLike", "IntervalName", "Estimator", "TableSource"):
        assert f".. py:type:: {name}\n" in text


def test_types_in_signatures_are_real(pages: Any) -> None:
    """Bare ``Any`` only where anything goes: features of an estimator, options that are handed on."""
    types = [
        (f"{owner}.{parameter.name}", parameter.type)
        for name in NAMES
        for owner, function in callables_of(name, pages)
        for parameter in parameters_of(function, owner)
        if not parameter.name.startswith("*")
    ]
    assert [name for name, type_ in types if not type_] == []
    anything = [name for name, type_ in types if type_ == "Any"]
    assert len(anything) < 0.08 * len(types), anything


# Why a parameter of a public function may be ``Any``; a new one needs a reason here, or a type.
ANY = {
    "objects of libraries that need not be installed": {
        *("X", "X_train", "X_test", "estimator", "cv", "params", "response_method"),
    },
    "names of classes, labels and segments: text, numbers, dates": {
        *("classes", "label", "reference", "order"),
    },
    "columns in any form: arrays, frames, names, or a mapping of them": {
        *("scores", "y_score", "score", "treated", "outcome", "propensity", "models", "simulate", "source"),
    },
    "functions of arrays": {"g", "f"},
    "passed on as they are": {"options", "more", "facts", "replicates_out"},
}


def test_every_parameter_that_may_be_anything_has_a_reason() -> None:
    allowed = set().union(*ANY.values())
    found = set()
    for name, function in _public_functions():
        for parameter in inspect.signature(function).parameters.values():
            if re.search(r"\bAny\b", str(parameter.annotation)):
                found.add(parameter.name)
                assert parameter.name in allowed, f"{name}({parameter.name}: {parameter.annotation})"
    assert found == allowed  # no reason outlives its parameter


def _public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in NAMES:
        member = value_of(name)
        if inspect.isclass(member):
            methods = {key: method for key, method in vars(member).items() if inspect.isfunction(method)}
            yield from ((f"{name}.{key}", method) for key, method in methods.items() if not key.startswith("_"))
        elif inspect.isfunction(member):
            yield name, member
