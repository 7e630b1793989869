"""The pages of the measures, written from the catalogue whenever the site is built. No fact is kept here.

Formula, meaning, range and the like come from the declarations; what a degenerate sample gives, which interval is taken
and what a measure string looks like come from calling the library.
"""

from __future__ import annotations

import re
import shlex
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import api_pages
import class_pages
import numpy as np
from class_pages import class_methods
from site_texts import SYMBOLS

import cutline as cl
from cutline.catalogue.chance import describe_chance
from cutline.catalogue.declare import FAMILIES, REQUIRED, TIE_RULES, Measure, make_spec
from cutline.decide.model_choice import GOALS
from cutline.present.words import ARROWS, FAMILY_TITLES
from cutline.reference import explain

# means over classes have no function, and pages of their own
NAMES = {m.name: m for m in cl.measures() if hasattr(cl, m.name)}
CLASS_NAMES = {m.name for m in NAMES.values() if m.family == "classes"}
LONG = 100_000  # rows of the long list that the library is asked about


def slug(title: str) -> str:
    """Anchor of a heading: its words; an erratum's number alone, so that references to it stay short."""
    number = re.match(r"([ABRZ]\d+)\b", title)
    return number[1].lower() if number else re.sub(r"[^\w]+", "-", title.lower()).strip("-")


def write(folder: Path) -> None:
    """Write every page and picture; what belongs to no measure any more is removed."""
    import pictures

    drawn = folder / "pictures"
    drawn.mkdir(parents=True, exist_ok=True)
    pages = {"index.md": _index()}
    for one in NAMES.values():
        pages[f"{one.name}.md"] = page(one, pictures.draw(one, drawn / f"{one.name}.svg"))
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:  # unchanged pages are not built again
            path.write_text(text, encoding="utf-8")
    class_pages.write(folder / "classes")
    for stale in {*folder.glob("*.md"), *drawn.glob("*.svg")}:
        if stale.stem not in {*NAMES, "index"}:
            stale.unlink()


def page(one: Measure, words: str) -> str:
    """The page of one measure; ``words`` go with its picture."""
    meaning, _, example = one.summary.partition(">>>")
    blocks = [
        f"# {one.title}",
        _with_errata(meaning.strip()),
        *_uses(one),
        f"```{{math}}\n{_upright(one.latex)}\n```",
        f"As plain text: `{one.formula}` ([symbols](index.md#symbols))",
        f"```{{figure}} pictures/{one.name}.svg\n:alt: {words}\n\n{words}\n```",
        _table(("property", "value"), _facts(one)),
        "## When it is undefined",
        _undefined(one),
        "## Example",
        f"```python\n>>> from cutline import {one.name}\n>>>{example.rstrip()}\n\n```",
        "## How to call it",
        _calls(one),
        "## Confidence interval",
        _interval(one),
    ]
    return "\n\n".join(blocks) + "\n"


def _uses(one: Measure) -> Iterator[str]:
    """When to use it: the situations that lead to it on the page of choices."""
    if situations := choices().get(one.name):
        yield "**Use it when** " + ", or when ".join(situations) + ". ([All situations](../choose-a-measure.md))"


@cache
def choices() -> dict[str, list[str]]:
    """The situations of ``choose-a-measure.md`` under which each measure is linked."""
    text = (Path(__file__).parent / "choose-a-measure.md").read_text(encoding="utf-8")
    linked: dict[str, list[str]] = {}
    path: list[str] = []
    for part in re.finditer(r"<summary>(.*?)</summary>|(</details>)|\(measures/(?!index)(\w+)\.md\)", text):
        summary, closed, name = part.groups()
        if summary:
            path.append(_second_person(re.sub(r"<b>(.*?)</b>.*", r"\1", summary)))
        elif closed:
            path.pop()
        elif (situation := ": ".join(path)) not in linked.setdefault(name, []):
            linked[name].append(situation)
    return linked


def _second_person(sentence: str) -> str:
    """ "I fill a limited number of places." as a clause: "you fill a limited number of places"."""
    clause = sentence.strip().rstrip(".").replace("I ", "you ")
    return clause[0].lower() + clause[1:]


def _upright(latex: str) -> str:
    """Names of cells as words, where TeX would read T times P."""
    return re.sub(r"(?<![A-Za-z])(TP|FP|FN|TN)(?![A-Za-z])", r"\\mathrm{\1}", latex)


def _facts(one: Measure) -> Iterator[tuple[str, str]]:
    low, high = (f"{end:g}".replace("-", "−").replace("inf", "∞") for end in one.range)
    yield "name", f"`{one.name}`"
    yield "family", FAMILY_TITLES[one.family]
    yield "better", one.better
    yield "range", f"{low} to {high}"
    optional = any(default is not REQUIRED for default in one.params.values())
    if one.perfect is not None:
        yield "perfect model", _value(one.perfect) + (" (default options)" if optional else "")
    if one.chance is not None:
        how = "a random choice of as many cases" if one.needs_threshold else "mean over random orders"
        yield "chance level", f"{_value(one.chance)} ({how}{'; default options' if optional else ''})"
    elif level := describe_chance(one):
        yield "chance level", level
    if one.aliases:
        yield "also called", ", ".join(f"`{alias}`" for alias in one.aliases)
    if one.same_as:
        yield "same as", _linked(one.same_as)
    if one.propriety:
        yield "proper", one.propriety
    others = [
        o for o in NAMES.values() if o is not one and o.of_one_score and one.name in re.findall(r"\w+", o.same_as)
    ]
    if others:
        yield "see also", "; ".join(f"{_link(o)} = {o.same_as}" for o in others)
    for goal, (name, why) in GOALS.items():
        if name == one.name:
            yield f'`recommend("{goal}")`', f"uses it: {why}"
    for name, default in one.params.items():
        given = "Required." if default is REQUIRED else "" if default is None else f"Default: `{default!r}`."
        yield f"option `{name}`", f"{explain(one.name, name)} {given}".rstrip()
    if one.of_one_score:
        yield "ties", _ties(one)
        yield "weights", "`sample_weight=`"
        yield "scores", _scores(one)
    if one.extensive:
        yield "size", "grows with the number of cases: compare it on the same cases only"
    yield "reference", _with_errata(one.reference)


def _value(fact: float | str) -> str:
    """A number, or a formula in the signs of the index."""
    return f"`{fact}`" if isinstance(fact, str) else f"{fact:g}".replace("inf", "∞")


def _with_errata(text: str) -> str:
    return re.sub(r"erratum ([ABRZ]\d+)", lambda m: f"[{m[0]}](../errata.md#{m[1].lower()})", text)


def _ties(one: Measure) -> str:
    if one.tie_rule:
        return f'{TIE_RULES[one.tie_rule]}; `ties="best"` and `ties="worst"` give the best and the worst order'
    if one.needs_threshold:
        return "equal scores fall on the same side of the cut"
    return "the order of the cases does not matter"


def _scores(one: Measure) -> str:
    if one.rank_based:
        return "any; only their order matters"
    if one.scores == "probability":
        return "probabilities, from 0 to 1"
    return "finite numbers; their values matter" if one.scores == "finite" else "any; compared with the threshold"


def _linked(text: str) -> str:
    return re.sub(r"\w+", lambda word: _link(NAMES[word[0]]) if word[0] in NAMES else word[0], text)


def _link(one: Measure) -> str:
    return f"[{one.name}]({one.name}.md)"


def _table(head: tuple[str, ...], rows: Any) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)


# --- what the library says when it is asked -------------------------------------------------------------------

ODD = {
    "no positive cases": ([0, 0, 0, 0], [0.9, 0.6, 0.3, 0.2]),
    "no negative cases": ([1, 1, 1, 1], [0.9, 0.6, 0.3, 0.2]),
    "all scores equal (0.5), two of four positive": ([1, 1, 0, 0], [0.5, 0.5, 0.5, 0.5]),
    "one case, positive (score 0.7)": ([1], [0.7]),
    "one case, negative (score 0.7)": ([0], [0.7]),
}


def _undefined(one: Measure) -> str:
    said = f"It is undefined if {one.undefined}." if one.undefined else "It is defined for every sample."
    if not one.of_one_score:
        return said
    rows = [(name, _asked(one, y, s)) for name, (y, s) in ODD.items()]
    if any(answer.startswith("refused") for _, answer in rows):
        rule = " The function refuses such a sample; in an evaluation the value is `nan`, with the reason as `reason`."
    else:
        rule = " An undefined value is `nan`, with the reason as a warning (in an evaluation, as `reason`)."
    given = [f"{name} = {getattr(value, '__name__', value)}" for name, value in required(one).items()]
    given += ["two places (one where there is one case)"] if one.needs_quota else []
    with_these = f" with {' and '.join(given)}" if given else ""
    return f"{said}{rule if one.undefined else ''} Results in edge cases{with_these}:\n\n" + _table(
        ("sample", "value"), rows
    )


def _asked(one: Measure, y: list[int], s: list[float]) -> str:
    options = {**required(one), **({"quota": min(2, len(y))} if one.needs_quota else {})}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = getattr(cl, one.name)(y, s, **options)
        except cl.InputError as error:
            evaluated = cl.evaluate(y, s, measures=[make_spec(one, options)], interval=None)
            (estimate,) = evaluated.estimates.values()
            return f"refused: {error} (in an evaluation `{estimate.value:g}`: {estimate.reason})"
    if value != value:
        return f"`nan`: {str(caught[0].message).partition(': ')[2]}"
    return f"{value:.4g}".replace("-", "−").replace("inf", "∞")


def required(one: Measure) -> dict[str, Any]:
    """The options that must be given, each with a value for show."""
    return {name: np.log if name == "g" else 2 for name, given in one.params.items() if given is REQUIRED}


def string_of(one: Measure, **more: Any) -> str | None:
    """The measure string; None where an option is not a number."""
    options = {**required(one), **({"quota": 20} if one.needs_quota else {}), **more}
    return None if any(map(callable, options.values())) else str(make_spec(one, options))


def _calls(one: Measure) -> str:
    api = next(other for other in api_pages.public() if other.name == one.name)
    block = "\n\n".join(api_pages.function_block(api, whole=False))
    lines = [f"````{{eval-rst}}\n{block}\n````"]
    of_worth = {"quota": 20} if one.of_worth else {}
    text = string_of(one, **of_worth) if one.of_one_score or of_worth else None
    if text is None:
        if one.name in CLASS_NAMES:
            return "\n\n".join([*lines, f'In an evaluation of several classes: `measures=["{one.name}"]`.'])
        why = "It takes a function" if one.of_one_score else "It needs other inputs than one score per case"
        return "\n\n".join([*lines, f"{why}, so it has no measure string."])
    strings = [text]
    if one.needs_threshold or of_worth:
        strings.append(str(string_of(one, threshold=0.3)))
    if one.needs_quota or of_worth:
        strings.append(str(string_of(one, quota=0.05)))
    if one.tie_rule:
        strings.append(str(string_of(one, ties="worst")))
    listed = " or ".join(f"`{s}`" for s in strings)
    column = "distance" if one.scores == "finite" and one.family == "probability" else "p"
    command = f"cutline evaluate scores.csv --label y --score {column} --measure {shlex.quote(text)}"
    command += " --worth amount" if of_worth else ""
    return "\n\n".join(
        [*lines, f"As a measure string, in `measures=[…]` and after `--measure`: {listed}.", f"```sh\n{command}\n```"]
    )


@cache
def _methods(kind: str) -> Mapping[str, str]:
    """The interval that ``auto`` takes for each measure, found by evaluating a short, a long and a weighted list."""
    rows = LONG if kind == "long" else 60
    rng = np.random.default_rng(1)
    y = rng.random(rows) < 0.4
    s = 0.1 * y + 0.9 * rng.random(rows)  # so mixed that every measure has a value
    specs = [
        make_spec(one, {**required(one), **({"quota": rows // 5} if one.needs_quota or one.of_worth else {})})
        for one in NAMES.values()
        if (one.of_one_score or one.of_worth) and "g" not in one.params
    ]
    amounts = {"worth": np.exp(rng.normal(size=rows)), "cost": 1 + rng.random(rows)}
    weight = {"sample_weight": 1 + rng.random(rows)} if kind == "weighted" else {}
    ev = cl.evaluate(y, s, measures=specs, n_resamples=20, **weight, **amounts)
    found = {spec.measure.name: ev[str(spec)].method for spec in specs}
    assert all(found.values()), f"no interval: {[name for name, method in found.items() if not method]}"
    return found


def _interval(one: Measure) -> str:
    short = _methods("short").get(one.name)
    if one.name in CLASS_NAMES:
        return (
            'In [`cl.evaluate`](../several-classes.md), `interval="auto"` uses '
            f"**{class_methods()[one.name]}**. [How sure are we](../how-sure-are-we.md#several-classes) explains the "
            "method."
        )
    if short is None:
        return "`evaluate` does not compute it, so it has no interval. [How sure are we](../how-sure-are-we.md)"
    said = [f'In an evaluation, `interval="auto"` uses **{short}**.']
    if one.caution:
        said.append(f"Caution: {one.caution}.")
    if (long := _methods("long")[one.name]) != short:
        said.append(f"For {LONG:,} rows it uses **{long}**.")
    if (weighted := _methods("weighted").get(one.name)) not in (short, None):
        said.append(f"For weighted rows it uses **{weighted}**.")
    home = (
        "../limited-quota.md#when-hits-are-worth-different-amounts"
        if one.of_worth
        else "../how-sure-are-we.md#which-interval"
    )
    said.append(f"[How sure are we]({home}) explains the method and its simulated coverage.")
    return " ".join(said)


# --- all of them ------------------------------------------------------------------------------------------------


def _is_another(one: Measure) -> bool:
    """Whether a measure is a function of another, whatever the ranking; not only where a condition holds."""
    return "where" not in one.same_as and any(name in NAMES for name in re.findall(r"\w+", one.same_as))


def _index() -> str:
    blocks = [
        "# All measures",
        f"The catalogue, {len(NAMES)} measures in {len(FAMILIES)} families. "
        "[Which one for my decision?](../choose-a-measure.md)",
    ]
    for family in FAMILIES:
        rows = [
            (f"[{m.title}]({m.name}.md)", f"`{m.name}`", ARROWS[m.better], _meaning(m))
            for m in NAMES.values()
            if m.family == family
        ]
        blocks += [f"## {FAMILY_TITLES[family]}", _table(("measure", "name", "better", "meaning"), rows)]
    rows = [(_link(m), _linked(m.same_as)) for m in NAMES.values() if _is_another(m)]
    blocks += [
        "## Several classes",
        "`cl.evaluate` computes measures for more than two classes; they have [their own pages](classes/index.md).",
        "## Symbols",
        "The symbols in the formulas.",
        _table(("symbol", "meaning"), [(", ".join(_maths(sign)), meaning) for sign, meaning in SYMBOLS.items()]),
        "## One number under several names",
        "Two of these measures in one comparison are one measure, not two.",
        _table(("measure", "is"), rows),
        "```{toctree}\n:hidden:\n\n" + "\n".join([*NAMES, "classes/index"]) + "\n```",
    ]
    return "\n\n".join(blocks) + "\n"


def _maths(signs: str) -> list[str]:
    """Signs that stand in one line of the table, each as a formula."""
    return [f"{{math}}`{_upright(sign)}`" for sign in signs.split(", ")]


def _meaning(one: Measure) -> str:
    return " ".join(one.summary.partition(">>>")[0].partition("\n\n")[0].split())
