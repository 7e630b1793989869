"""One rule for each option: what a seed, a level or a quota may be, wherever one can be passed.

``@checked`` applies the rules to a public function's arguments by their names, before anything else happens.
"""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ParamSpec, TypeVar, overload

import numpy as np

from .errors import InputError, show
from .reference import documented

P = ParamSpec("P")
R = TypeVar("R")
Rule = Callable[[Any, str], Any]

_MOST_JOBS = 10_000  # no machine has more cores; a number of rows given by mistake is told
_MOST_DRAWS = 10_000_000  # more fit no memory and add nothing
AMOUNTS = (1e-90, 1e90)  # cubes (third moments) and sums over weighted cases are numbers
_COUNTS = ("n_permutations", "n_rounds", "n_sets", "set_size", "portions", "bins", "points")
_FLAGS = (
    *("paired", "stratify", "progress", "normalize", "simultaneous", "ordered"),
    *("stream", "distance", "candidates", "pooled", "ignore_case"),
)


def check_number(
    value: Any,
    name: str,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    open_ends: bool = False,
    finite: bool = False,
) -> float:
    """A number within bounds, or an error that tells which."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating) or value != value:
        raise InputError(name, f"must be a number, got {show(value)}")
    try:
        number = float(value)
    except OverflowError:
        raise InputError(name, f"must be a number within the range of floats, got {show(value)}") from None
    if not (low < number < high if open_ends else low <= number <= high):
        if high == math.inf:
            bounds = f"{'more than' if open_ends else 'at least'} {low:g}"
        else:
            bounds = f"{'strictly between' if open_ends else 'between'} {low:g} and {high:g}"
        raise InputError(name, f"must be {bounds}, got {number:g}")
    if finite and number == math.inf:
        raise InputError(name, "must be finite, got inf")
    return number


def check_whole(value: Any, name: str, least: int, most: int = 2**63 - 1) -> int:
    """A whole number of at least ``least`` and of at most ``most``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(name, f"must be a whole number of at least {least}, got {show(value)}")
    if value > most:
        raise InputError(name, f"must be a whole number from {least} to {most}, got {show(value)}")
    return int(value)


def check_quota(quota: Any, name: str = "quota") -> int | float:
    """A number of cases (an int of at least 1) or a share of them (a float strictly between 0 and 1); or its text."""
    if isinstance(quota, str) and (text := re.fullmatch(r"\s*(\d+)\s*|\s*(\d*\.?\d+)\s*%\s*", quota)):
        quota = int(text[1]) if text[1] else float(text[2]) / 100.0
    if isinstance(quota, int | np.integer) and not isinstance(quota, bool):
        return check_whole(quota, name, 1)
    if not isinstance(quota, float | np.floating):
        given = str(quota) if hasattr(quota, "through") else show(quota)  # quotas that are a range
        raise InputError(name, f"must be a number of cases or a share between 0 and 1, got {given}")
    if not 0.0 < quota < 1.0:
        remedy = "a share lies strictly between 0 and 1; write a number of cases without a decimal point"
        raise InputError(name, f"is {float(quota)}", remedy)
    return float(quota)


def one_of(*choices: str | None) -> Rule:
    """The rule that a value is one of a few."""

    def rule(value: Any, name: str) -> Any:
        if (value is not None and not isinstance(value, str)) or value not in choices:
            raise InputError(name, f"is {show(value)}", f"choose one of {', '.join(map(str, choices))}")
        return value

    return rule


def check_amount(value: Any, name: str) -> float:
    """An amount of money: 0, or a number within the range of amounts."""
    number, (least, most) = check_number(value, name, 0.0, finite=True), AMOUNTS
    if number and not least <= number <= most:
        problem = f"is {number:g}, which is beyond every currency"
        raise InputError(name, problem, f"give 0, or an amount from {least:g} to {most:g}")
    return number


def _confidence(value: Any, name: str) -> float:
    """A level or confidence. Beyond nine nines (or below as many zeros) normal quantiles lose their digits."""
    number = check_number(value, name, 0.0, 1.0, open_ends=True)
    if min(number, 1.0 - number) < 0.999e-9:
        raise InputError(name, f"is too near to {round(number)}", "choose one from 1e-9 to 1 - 1e-9")
    return number


def check_flag(value: Any, name: str) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(name, f"must be True or False, got {show(value)}")
    return bool(value)


def check_list(value: Any, name: str) -> Any:
    """Several values, at least one: a list, an array or a Series. A text is one value, not a list of its letters."""
    if isinstance(value, str | bytes):
        raise InputError(name, "is one string, not a list of them", f"write {{{name}=[{show(value)}]}}")
    try:
        values = value if hasattr(value, "__len__") else list(value)
        empty = len(values) == 0
    except TypeError:
        raise InputError(name, f"must be a list, got {show(value)}") from None
    if empty:
        raise InputError(name, "is empty", "name at least one, or leave it out")
    return values


def check_text(value: Any, name: str, kind: str = "text") -> str:
    """A text."""
    if not isinstance(value, str):
        raise InputError(name, f"must be {kind}, got {show(value)}")
    return value


check_column = partial(check_text, kind="the name of a column")


def check_function(value: Any, name: str, arguments: str, remedy: str) -> None:
    """Raise an error for what cannot be called with so many arguments, before the work and not in the midst of it."""
    problem = "" if callable(value) else f"is {show(value)}"
    try:
        if not problem:
            inspect.signature(value).bind(*range(("one", "two", "three").index(arguments.split()[0]) + 1))
    except TypeError:
        problem = f"does not take {arguments}"
    except ValueError:  # written in C: it has no signature
        problem = f"is {show(value)}, a type" if isinstance(value, type) else ""
    if problem:
        raise InputError(name, problem, remedy)


def check_models(value: Any, name: str) -> Any:
    """A mapping from name to what a model gives, at least one."""
    if not isinstance(value, Mapping) or not value:
        raise InputError(name, f"is {show(value)}", "pass at least one, as a mapping from name to scores")
    return value


def check_columns(value: Any, name: str) -> Any:
    """The name of a column, or a list of such names."""
    if isinstance(value, str):
        return value
    return [check_column(column, name) for column in check_list(value, name)]


def check_scores(value: Any, name: str) -> Any:
    """The column or columns of scores: a name, a list of names, or a mapping from model to either."""
    if isinstance(value, Mapping):
        return {model: check_columns(columns, name) for model, columns in check_models(value, name).items()}
    return check_columns(value, name)


def _jobs(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 < abs(int(value)) <= _MOST_JOBS:
        problem = f"must be a whole number other than 0, at most {_MOST_JOBS} (−1: all cores), got {show(value)}"
        raise InputError(name, problem)
    return int(value)


# None is taken where it is the default, which means "as the function says"; all else follows the rule.
RULES: dict[str, Rule] = {
    "seed": lambda value, name: check_whole(value, name, 0, 2**63 - 1),
    "level": _confidence,
    "confidence": _confidence,
    "prevalence": lambda value, name: check_number(value, name, 0.0, 1.0, open_ends=True),
    "n_resamples": partial(check_whole, least=2, most=_MOST_DRAWS),
    **dict.fromkeys(_COUNTS, partial(check_whole, least=1, most=_MOST_DRAWS)),
    "n_jobs": _jobs,
    "name": check_text,
    "indent": lambda value, name: check_whole(value, name, 0, 100),  # spaces in JSON
    "models": check_models,
    "threshold": check_number,
    "quota": check_quota,
    "list_size": partial(check_whole, least=1, most=2**53),  # beyond that not every whole number is a float
    "ties": one_of("random", "expand", "shrink"),
    "cut_by": one_of("score", "value", "value_per_cost"),
    "decimal": one_of(None, ".", ","),
    "missing": one_of("error", "drop"),
    **dict.fromkeys(("classes", "order", "marks"), check_list),
    # none: cuts and curves alone
    "measures": lambda value, name: value if isinstance(value, list | tuple) else check_list(value, name),
    "margin": partial(check_number, low=0.0, finite=True),
    **dict.fromkeys(("cost", "value", "budget"), check_amount),
    **dict.fromkeys(("recall", "precision", "specificity", "fpr"), partial(check_number, low=0.0, high=1.0)),
    **dict.fromkeys(_FLAGS, check_flag),
}


@overload
def checked(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def checked(**rules: Rule) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def checked(function: Callable[..., Any] | None = None, /, **rules: Rule) -> Any:
    """Check the arguments of a function that have a rule, by their names, before it runs.

    ``rules`` are rules of its own for options that mean something else here.

    >>> @checked
    ... def draw(n, *, seed=0):
    ...     return n, seed
    >>> draw(3, seed=-1)
    Traceback (most recent call last):
    cutline.errors.InputError: seed must be a whole number of at least 0, got -1
    """
    if function is None:
        return partial(checked, **rules)
    every_rule = {**RULES, **rules}
    signature = inspect.signature(function)
    single = {n: p for n, p in signature.parameters.items() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    mine = {name: (every_rule[name], p.default) for name, p in single.items() if name in every_rule}
    order = [name for name, p in single.items() if p.kind is not p.KEYWORD_ONLY]

    @functools.wraps(function)
    def inner(*args: Any, **kwargs: Any) -> Any:
        placed = list(args)
        for at, name in enumerate(order[: len(args)]):
            if name in mine and (args[at] is not None or mine[name][1] is not None):
                placed[at] = mine[name][0](args[at], name)
        for name, value in kwargs.items():
            if name in mine and (value is not None or mine[name][1] is not None):
                kwargs[name] = mine[name][0](value, name)
        return function(*placed, **kwargs)

    return documented(inner)
