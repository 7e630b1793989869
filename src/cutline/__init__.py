"""cutline: how good is a classifier, how sure are we, which is better, and where to cut the ranked list.

The public names are listed, with their homes, in ``__init__.pyi``. They are loaded when first used, so that
``import cutline`` and ``cutline --help`` cost next to nothing. (``lazy-loader`` does the same from files on disk; it
reads no stub from inside a zip and knows no synonyms.)
"""

import re as _re
from importlib import import_module as _import_module

__version__ = "0.3.0"


def _homes():  # type: ignore[no-untyped-def]
    """Public name -> (module, name there), from the stub beside this file; the loader also reads it from a wheel."""
    text = __spec__.loader.get_data(__file__ + "i").decode("utf-8")
    imports = _re.findall(r"^from (\.\w\S*) import (\([^)]*\)|.+)", text, _re.MULTILINE)
    homes = {name: (home, name) for home, names in imports for name in _re.findall(r"(\w+) as", names)}
    homes.update({synonym: homes[name] for synonym, name in _re.findall(r"^(\w+) = (\w+)$", text, _re.MULTILINE)})
    homes.update({room: ("." + room, "") for room in _re.findall(r"^from \. import (\w+) as", text, _re.MULTILINE)})
    return homes


_HOMES = _homes()
__all__ = sorted(name for name, (_, there) in _HOMES.items() if there)


def __getattr__(name):  # type: ignore[no-untyped-def]
    """Load a public name when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home, there = _HOMES[name]
    module = _import_module(home, __name__)
    value = getattr(module, there) if there else module
    globals()[name] = value
    return value


def __dir__():  # type: ignore[no-untyped-def]
    return sorted({*globals(), *__all__})
