"""cutline: how good is a classifier, how sure are we, which is better, and where to cut the ranked list.

The public names are listed, with their homes, in ``__init__.pyi``. They are loaded when first used, so that
``import cutline`` and ``cutline --help`` cost next to nothing. (``lazy-loader`` does the same from files on disk; it
reads no stub from inside a zip, knows no synonyms, and a missing library is an ImportError even for ``hasattr``.)
"""

import re as _re
from importlib import import_module as _import_module
from importlib.util import find_spec as _find_spec

__version__ = "0.2.0"

# Rooms that need a library which only an extra brings: room -> (library, extra).
_OPTIONAL = {".sklearn": ("sklearn", "sklearn")}


def _homes():  # type: ignore[no-untyped-def]
    """Public name -> (module, name there), from the stub beside this file; the loader also reads it from a wheel."""
    text = __spec__.loader.get_data(__file__ + "i").decode("utf-8")
    imports = _re.findall(r"^from (\S+) import \(([^)]*)\)", text, _re.MULTILINE)
    homes = {name: (home, name) for home, names in imports for name in _re.findall(r"(\w+) as", names)}
    homes.update({synonym: homes[name] for synonym, name in _re.findall(r"^(\w+) = (\w+)$", text, _re.MULTILINE)})
    return homes


def _missing(home):  # type: ignore[no-untyped-def]
    """The library and the extra that a module needs, where the library is not installed."""
    needs = next((needs for room, needs in _OPTIONAL.items() if home.startswith(room)), None)
    try:
        return None if needs is None or _find_spec(needs[0]) is not None else needs
    except (ImportError, ValueError):  # a finder may refuse a library instead of not finding it
        return needs


_HOMES = _homes()
__all__ = sorted(name for name, (home, _) in _HOMES.items() if not _missing(home))


def __getattr__(name):  # type: ignore[no-untyped-def]
    """Load a public name when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home, there = _HOMES[name]
    if needs := _missing(home):
        from .errors import how_to_install

        raise AttributeError(f"{__name__}.{name} needs {needs[0]}: {how_to_install(needs[1])}")
    value = getattr(_import_module(home, __name__), there)
    from .reference.docstrings import document

    document(there, value)
    globals()[name] = value
    return value


def __dir__():  # type: ignore[no-untyped-def]
    return sorted({*globals(), *__all__})
