"""What can go wrong with input, said in one sentence: what, where, and what to do."""

from __future__ import annotations


class InputError(ValueError):
    """Input that cannot be used. The message names the argument, the first offending row and the remedy."""


class UndefinedWarning(UserWarning):
    """A measure has no value on this sample (0/0, a class is missing); the result is nan."""
