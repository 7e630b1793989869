"""Docstrings in numpydoc form, put together from what a function says itself and from the tables beside this module.

A function says what it does and shows an example. Its parameters, with types and defaults, come from its signature,
their meaning from ``parameters.py``: so one text serves every function, ``help()`` and the site alike.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, NamedTuple

from .parameters import OF_MEASURES, PARAMETERS, RETURNS

_REFUSED = "If an argument cannot be used; the message names it, the row where there is one, and what to do."


class Parameter(NamedTuple):
    """One parameter as readers see it; ``type`` and ``default`` are source text, empty where there are none."""

    name: str
    type: str
    default: str
    text: str


def explain(owner: str, parameter: str, *also: str) -> str:
    """What a parameter means; ``owner`` is ``evaluate`` or ``Evaluation.at``. Empty where nobody has said it.

    >>> explain("evaluate", "level")
    'The confidence level of intervals and bands, strictly between 0 and 1.'
    """
    method = owner.rpartition(".")[2]
    keys = [f"{name}.{parameter}" for name in (owner, *also, method)]
    return next((PARAMETERS[key] for key in (*keys, parameter) if key in PARAMETERS), "")


def parameters_of(function: Any, owner: str) -> list[Parameter]:
    """The parameters of a function or method, ``self`` left out."""
    measure = hasattr(function, "measure")
    defined = getattr(function, "__qualname__", "").removesuffix(".__init__")
    found = []
    for p in inspect.signature(function).parameters.values():
        if p.name in ("self", "cls"):
            continue
        text = (OF_MEASURES.get(p.name, "") if measure else "") or explain(owner, p.name, defined)
        stars = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
        default = "" if p.default is p.empty else _default(p.default)
        found.append(Parameter(stars + p.name, _source(p.annotation, p.empty), default, text))
    return found


def _default(value: Any) -> str:
    return f"{value.__module__}.{value.__name__}" if inspect.isroutine(value) else repr(value)


def _source(annotation: Any, empty: Any) -> str:
    if annotation is empty:
        return ""
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", repr(annotation))


def returns_of(function: Any, owner: str) -> tuple[str, str]:
    """Type and meaning of what a function gives back; both empty where it gives nothing back."""
    type_ = _source(inspect.signature(function).return_annotation, inspect.Signature.empty)
    if type_ in ("", "None"):
        return "", ""
    if hasattr(function, "measure") or function.__module__ == "cutline.catalogue.other_shapes":
        return type_, RETURNS["value of a measure"]
    result = _result_of(function, type_)
    said = "" if result is None else inspect.getdoc(result) or ""
    return type_, RETURNS.get(owner, " ".join(said.partition("\n\n")[0].split()))


def _result_of(function: Any, type_: str) -> type | None:
    """The class of this package that a function says it gives back, if it does."""
    found = getattr(inspect.unwrap(function), "__globals__", {}).get(type_)
    return found if inspect.isclass(found) and found.__module__.startswith("cutline") else None


def parts_of(docstring: str) -> tuple[str, str]:
    """What a docstring says, and its examples; sections written by hand are left out of the first.

    >>> parts_of("Add one.\\n\\n>>> add(1)\\n2")
    ('Add one.', '>>> add(1)\\n2')
    """
    said, mark, examples = docstring.partition(">>>")
    said = said.removesuffix("Examples\n--------\n").rstrip()
    said = said.partition("\nParameters\n-----")[0].partition("\nAttributes\n-----")[0].rstrip()
    return said, (mark + examples).rstrip()


def numpydoc(function: Any, owner: str) -> str:
    """The whole docstring of a function."""
    said, examples = parts_of(inspect.getdoc(function) or "")
    return "\n\n".join([said, *_sections(function, owner, examples)]) + "\n"


def _sections(function: Any, owner: str, examples: str) -> Iterator[str]:
    if parameters := parameters_of(function, owner):
        entries = []
        for p in parameters:
            kind = ", ".join(filter(None, [p.type, f"default {p.default}" if p.default else ""]))
            entries.append(f"{p.name} : {kind}".removesuffix(" : ") + "\n" + _indented(p.text))
        yield _section("Parameters", "\n".join(entries))
    type_, meaning = returns_of(function, owner)
    if type_:
        yield _section("Returns", f"{type_}\n{_indented(meaning)}".rstrip())
    if parameters and "." not in owner:
        yield _section("Raises", f"InputError\n{_indented(_REFUSED)}")
    if examples:
        yield _section("Examples", examples)


def _section(title: str, content: str) -> str:
    return f"{title}\n{'-' * len(title)}\n{content}"


def _indented(text: str, width: int = 110) -> str:
    """The text in lines of at most that width, indented. (``textwrap`` takes ten times as long, at first use.)"""
    lines, room = [], 0
    for word in text.split():
        if len(word) >= room:
            lines.append("   ")
            room = width - 3
        lines[-1] += f" {word}"
        room -= len(word) + 1
    return "\n".join(lines)


def methods_of(result: type) -> dict[str, Any]:
    """The public methods that a class has from this package, not from Python's or scikit-learn's bases."""
    homes = [base for base in result.__mro__ if base.__module__.startswith("cutline")]
    found: dict[str, Any] = {}
    for base in homes:
        for name, value in vars(base).items():
            function = getattr(value, "__func__", value)
            if not name.startswith("_") and inspect.isfunction(function):
                found.setdefault(name, function)
    return found


def document(name: str, value: Any) -> None:
    """Give a public function, or the methods of a public class, docstrings in numpydoc form.

    What a function gives back is documented with it, so that ``help(result.method)`` explains its options too.
    """
    if inspect.isclass(value):
        for method, function in methods_of(value).items():
            _document(function, f"{value.__name__}.{method}")
    elif inspect.isfunction(value):
        _document(value, name)
        result = _result_of(value, returns_of(value, name)[0])
        if result is not None:
            document(result.__name__, result)


def _document(function: Any, owner: str) -> None:
    if function.__doc__ and "\nParameters\n-----" not in function.__doc__:
        function.__doc__ = numpydoc(function, owner)
