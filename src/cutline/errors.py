"""What can go wrong with input, said in one sentence: what, where, and what to do."""

from __future__ import annotations


def how_to_install(extra: str) -> str:
    """What to type where a library is missing that only an extra brings, from an index and in a checkout.

    >>> how_to_install("page")
    "pip install 'cutline[page]' (in a checkout: '.[page]')"
    """
    return f"pip install 'cutline[{extra}]' (in a checkout: '.[{extra}]')"


class InputError(ValueError):
    """Input that cannot be used. The message names the argument, the first offending row and the remedy."""


class UndefinedWarning(UserWarning):
    """A measure has no value on this sample (0/0, a class is missing); the result is nan."""
