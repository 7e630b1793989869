"""The pages of the measures of several classes, written from their declarations whenever the site is built."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
from site_texts import CLASS_SYMBOLS

import cutline as cl
from cutline.catalogue.declare import Measure
from cutline.reference import explain

READS = {
    "decisions": "predicted classes",
    "scores": "a score for every class; only their order matters",
    "probabilities": "rows of probabilities that sum to 1",
}


def write(folder: Path) -> None:
    """Write the index and a page for each measure."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"index.md": _index(), **{f"{one.name}.md": page(one) for one in cl.measures("classes")}}
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for stale in folder.glob("*.md"):
        if stale.name not in pages:
            stale.unlink()


def page(one: Measure) -> str:
    """The page of one measure."""
    text = f"{one.name}(f1)" if one.mean == one.name else one.name
    undefined = f"It is undefined if {one.undefined}: `nan`, with the class named in `reason`."
    blocks = [
        f"# {one.title} (several classes)",
        one.summary.partition(">>>")[0].strip(),
        f"```{{math}}\n{one.latex}\n```",
        f"As plain text: `{one.formula}` ([symbols](index.md#symbols))",
        _table(("property", "value"), _facts(one)),
        "## When it is undefined",
        undefined if one.undefined else "It is defined for every sample.",
        "## How to call it",
        f"```python\ncl.evaluate(y_true, score_matrix, measures=[{text!r}])\n```",
        f"```sh\ncutline evaluate scores.csv --label class --score 'p_*' --measure \"{text}\"\n```",
        "## Confidence interval",
        f'`interval="auto"` uses **{class_methods()[one.name]}**. '
        "[How sure are we](../../how-sure-are-we.md#several-classes) explains the method and its "
        "simulated coverage.",
    ]
    return "\n\n".join(blocks) + "\n"


def _facts(one: Measure) -> list[tuple[str, str]]:
    low, high = (f"{end:g}".replace("-", "−").replace("inf", "∞") for end in one.range)
    rows = [("name", f"`{one.name}`"), ("reads", READS[one.reads])]
    if one.mean != one.name:
        rows += [("better", one.better), ("range", f"{low} to {high}")]
    else:
        rows.append(("of", "any measure of decisions: `precision`, `recall`, `f1`, `specificity`, `f_beta(beta=2)`, …"))
        if one.name != "micro":
            rows.append(("and of", "`roc_auc`, `average_precision`"))
    if one.perfect is not None:
        rows.append(("perfect model", f"{one.perfect:g}"))
    if one.chance:
        rows.append(("chance level", f"`{one.chance}`"))
    if one.same_as:
        rows.append(("same as", f"`{one.same_as}`"))
    rows += [
        (f"option `{name}`", f"{explain(one.name, name)} Default: `{default!r}`")
        for name, default in one.params.items()
    ]
    rows += [("weights, clusters", "`sample_weight=`, `clusters=`"), ("reference", one.reference)]
    return rows


@cache
def class_methods() -> Mapping[str, str]:
    """The interval that ``auto`` takes for each measure, found by evaluating a sample."""
    rng = np.random.default_rng(1)
    y = np.arange(90) % 3
    p = rng.random((90, 3)) + 0.6 * np.eye(3)[y]
    names = [f"{one.name}(f1)" if one.mean == one.name else one.name for one in cl.measures("classes")]
    ev = cl.evaluate(y, p / p.sum(axis=1, keepdims=True), measures=names)
    return {one.name: ev[name].method for one, name in zip(cl.measures("classes"), names, strict=True)}


def _index() -> str:
    rows = [
        (
            f"[{one.title}]({one.name}.md)",
            f"`{one.name}`",
            one.better if one.mean != one.name else "as the measure",
            one.summary.partition("\n")[0],
        )
        for one in cl.measures("classes")
    ]
    symbols = [
        (", ".join(f"{{math}}`{s}`" for s in sign.split(", ")), meaning) for sign, meaning in CLASS_SYMBOLS.items()
    ]
    blocks = [
        "# Measures of several classes",
        "What [`cl.evaluate`](../../several-classes.md) computes, each with an interval.",
        _table(("measure", "name", "better", "meaning"), rows),
        "## Symbols",
        _table(("symbol", "meaning"), symbols),
        "```{toctree}\n:hidden:\n\n" + "\n".join(one.name for one in cl.measures("classes")) + "\n```",
    ]
    return "\n\n".join(blocks) + "\n"


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)
