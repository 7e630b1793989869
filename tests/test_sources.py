"""One rule for labels and numbers at every door: the same odd tables give the same answer, or the same refusal."""

from __future__ import annotations

import datetime
import json
import math
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest
from click.testing import CliRunner

import cutline as cl
from cutline.commands.group import cli
from cutline.commands.options import COMMAND_LINE
from cutline.sources import sql_table
from cutline.sources.duckdb import DuckTable, Machine
from cutline.sources.file_formats import TextFormat
from cutline.sources.open_source import open_source
from cutline.sources.sql_table import Roles
from cutline.verbs import evaluate

Table = dict[str, list[Any]]
Outcome = tuple[str, Any]
MEASURES = ["roc_auc", "average_precision", "accuracy"]
Y, P = [1, 0, 1, 1, 0, 0], [0.9, 0.75, 0.5, 0.5, 0.5, 0.125]
DAY = [datetime.date(2020, 1, 1 + y) for y in Y]
TINY = 5e-324

# name -> table, and how to read it. Cells are as Python has them; None is missing.
TABLES: dict[str, tuple[Table, dict[str, Any]]] = {
    "plain": ({"y": Y, "p": P}, {}),
    "truths": ({"y": [y == 1 for y in Y], "p": P}, {}),
    "fractions as labels": ({"y": [float(y) for y in Y], "p": P}, {}),
    "minus one and one": ({"y": [2 * y - 1 for y in Y], "p": P}, {}),
    "text 0 and 1": ({"y": [str(y) for y in Y], "p": P}, {}),
    "text -1 and +1": ({"y": [["-1", "+1"][y] for y in Y], "p": P}, {}),
    "text 0.0 and 1.0": ({"y": [["0.0", "1.0"][y] for y in Y], "p": P}, {}),
    "text true and false": ({"y": [["False", "TRUE"][y] for y in Y], "p": P}, {}),
    "decimal labels": ({"y": [Decimal(y) for y in Y], "p": P}, {}),
    "words": ({"y": [["no", "yes"][y] for y in Y], "p": P}, {"pos_label": "yes"}),
    "words turned round": ({"y": [["no", "yes"][y] for y in Y], "p": P}, {"pos_label": "no"}),
    "words unsaid": ({"y": [["no", "yes"][y] for y in Y], "p": P}, {}),
    "a label called like an option": ({"y": [["no", "my_pos_label"][y] for y in Y], "p": P}, {}),
    "an unknown word": ({"y": [["no", "yes"][y] for y in Y], "p": P}, {"pos_label": "Yes"}),
    "numbers 1 and 2": ({"y": [1 + y for y in Y], "p": P}, {"pos_label": "2"}),
    "numbers 1 and 2 as number": ({"y": [1 + y for y in Y], "p": P}, {"pos_label": 2.0}),
    "numbers 1 and 2 unsaid": ({"y": [1 + y for y in Y], "p": P}, {}),
    "a word for numbers": ({"y": [1 + y for y in Y], "p": P}, {"pos_label": "x"}),
    "truths turned round": ({"y": [y == 0 for y in Y], "p": P}, {"pos_label": "false"}),
    "truths as 0": ({"y": [y == 0 for y in Y], "p": P}, {"pos_label": 0}),
    "codes": ({"y": [["1", "01"][y] for y in Y], "p": P}, {"pos_label": "01"}),
    "days": ({"y": DAY, "p": P}, {"pos_label": "2020-01-02"}),
    "days as dates": ({"y": DAY, "p": P}, {"pos_label": datetime.date(2020, 1, 2)}),
    "days unsaid": ({"y": DAY, "p": P}, {}),
    "three labels": ({"y": [0, 1, 2, 1, 0, 2], "p": P}, {}),
    "three words": ({"y": ["a", "b", "c", "a", "b", "c"], "p": P}, {"pos_label": "b"}),
    "a fraction among labels": ({"y": [0, 1, 0.5, 1, 0, 0], "p": P}, {}),
    "a word among numbers": ({"y": ["0", "1", "x", "1", "0", "0"], "p": P}, {}),
    "only negatives": ({"y": [0] * 6, "p": P}, {}),
    "only positives": ({"y": [1] * 6, "p": P}, {}),
    "one word": ({"y": ["no"] * 6, "p": P}, {"pos_label": "yes"}),
    "one word unsaid": ({"y": ["no"] * 6, "p": P}, {}),
    "a missing label": ({"y": [1, 0, None, 1, 0, 0], "p": P}, {}),
    "NaN as label": ({"y": [1.0, 0.0, math.nan, 1.0, 0.0, 0.0], "p": P}, {}),
    "NA as label": ({"y": ["yes", "no", "NA", "yes", "no", "no"], "p": P}, {"pos_label": "yes"}),
    "missing labels dropped": ({"y": [1, 0, None, 1, 0, None], "p": P}, {"missing": "drop"}),
    "NA dropped": ({"y": ["yes", "no", "NA", "yes", "no", "no"], "p": P}, {"pos_label": "yes", "missing": "drop"}),
    "a label and a tab": ({"y": ["yes", "no", "yes\t", "no", "no", "yes"], "p": P}, {"pos_label": "yes"}),
    "a label and a no-break space": ({"y": ["\xa0yes", "no", "yes", "no", "no", "yes"], "p": P}, {"pos_label": "yes"}),
    "labels beyond 2^53": ({"y": [2**53 + 1 + y for y in Y], "p": P}, {"pos_label": 2**53 + 2}),
    "text labels beyond 2^53": ({"y": [str(2**53 + y) for y in Y], "p": P}, {"pos_label": str(2**53 + 1)}),
    "labels beyond 2^53 unsaid": ({"y": [str(2**60 + y) for y in Y], "p": P}, {}),
    "a chosen label beyond 2^53": ({"y": [2**53 * y for y in Y], "p": P}, {"pos_label": str(2**53 + 1)}),
    "a chosen label beyond all floats": ({"y": Y, "p": P}, {"pos_label": "1" + 400 * "0"}),
    "whole scores": ({"y": Y, "p": [9, 7, 5, 5, 5, 1]}, {}),
    "truths as scores": ({"y": Y, "p": [True, True, False, True, False, False]}, {}),
    "decimal scores": ({"y": Y, "p": [Decimal(str(p)) for p in P]}, {}),
    "text scores": ({"y": Y, "p": [str(p) for p in P]}, {}),
    "text with exponents": ({"y": Y, "p": ["9e-1", "+.75", " 0.5", "0.5", "5E-1", "0.125"]}, {}),
    "percent": ({"y": Y, "p": [f"{100 * p:g}%" for p in P]}, {}),
    "decimal commas": ({"y": Y, "p": [str(p).replace(".", ",") for p in P]}, {}),
    "percent with decimal commas": ({"y": Y, "p": [f"{100 * p:g} %".replace(".", ",") for p in P]}, {}),
    "thousands or decimals": ({"y": Y, "p": ["1,234", "2,345", "3,456", "1,000", "7,000", "8,125"]}, {}),
    "thousands said": ({"y": Y, "p": ["1,234", "2,345", "3,456", "1,000", "7,000", "8,125"]}, {"decimal": ","}),
    "percent and not": ({"y": Y, "p": ["9%", "0.5", "3%", "1%", "2%", "8%"]}, {}),
    "a word among scores": ({"y": Y, "p": ["0.9", "0.75", "high", "0.5", "0.5", "0.125"]}, {}),
    "an underscore among digits": ({"y": Y, "p": ["0.9", "0.75", "1_000", "0.5", "0.5", "0.125"]}, {}),
    "a missing score": ({"y": Y, "p": [0.9, None, 0.5, 0.5, 0.5, 0.125]}, {}),
    "NaN as score": ({"y": Y, "p": [0.9, math.nan, 0.5, 0.5, 0.5, 0.125]}, {}),
    "one value and NaN": ({"y": Y, "p": [0.5] * 5 + [math.nan]}, {}),
    "one value and NaN dropped": ({"y": Y, "p": [0.5] * 5 + [math.nan]}, {"missing": "drop"}),
    "only NaN": ({"y": Y, "p": [math.nan] * 6}, {"missing": "drop"}),
    "NaN and null dropped": ({"y": Y, "p": [0.9, math.nan, 0.5, None, 0.5, 0.125]}, {"missing": "drop"}),
    "infinite scores": ({"y": Y, "p": [math.inf, 0.75, 0.5, 0.5, -math.inf, 0.125]}, {}),
    "signed zeros": ({"y": Y, "p": [0.0, -0.0, 0.0, -0.0, 0.0, -1.0]}, {}),
    "the smallest numbers": ({"y": Y, "p": [9 * TINY, 7 * TINY, 5 * TINY, 5 * TINY, 0.0, TINY]}, {}),
    "the largest numbers": ({"y": Y, "p": [1.7e308, 1.5e308, 0.5, 0.5, -1e308, -1.7e308]}, {}),
    "integers at 2^53": ({"y": Y, "p": [2**53, 5, 4, 3, 2, -(2**53)]}, {}),
    "integers beyond 2^53": ({"y": Y, "p": [2**53 + 2, 5, 4, 3, 2, 1]}, {}),
    "a text integer of 50 digits": ({"y": Y, "p": ["1" * 50, "5", "4", "3", "2", "1"]}, {}),
    "one score": ({"y": Y, "p": [0.5] * 6}, {}),
    "days as scores": ({"y": Y, "p": DAY}, {}),
    "weights": ({"y": Y, "p": P, "w": [1, 2, 0.5, 1, 3, 1]}, {"weight": "w"}),
    "zero weights": ({"y": Y, "p": P, "w": [1, 0, 0.5, 0, 3, 1]}, {"weight": "w"}),
    "weights of very different size": ({"y": Y, "p": P, "w": [1e20, 0.3, 2e20, 1e20, 0.1, 0.7]}, {"weight": "w"}),
    "the largest and the smallest weights": (
        {"y": Y, "p": P, "w": [1e-40, 1e40, 2e-40, 1e-40, 3e39, 1e40]},
        {"weight": "w"},
    ),
    "only zero weights": ({"y": Y, "p": P, "w": [0.0] * 6}, {"weight": "w"}),
    "a negative weight": ({"y": Y, "p": P, "w": [1, 2, -0.5, 1, 3, 1]}, {"weight": "w"}),
    "an infinite weight": ({"y": Y, "p": P, "w": [1, 2, math.inf, 1, 3, 1]}, {"weight": "w"}),
    "a huge weight": ({"y": Y, "p": P, "w": [1, 2, 1e200, 1, 3, 1]}, {"weight": "w"}),
    "NaN as weight": ({"y": Y, "p": P, "w": [1.0] * 5 + [math.nan]}, {"weight": "w"}),
    "NaN weights dropped": ({"y": Y, "p": P, "w": [1.0] * 5 + [math.nan]}, {"weight": "w", "missing": "drop"}),
    "weights as text": ({"y": Y, "p": P, "w": ["1", "2", ".5", "1", "3", "1"]}, {"weight": "w"}),
    "hostile names": ({"y": Y, "p": P, 'a"b': Y, "select": Y, "": P, "it's": P, "Y": P, "#": Y}, {}),
    "no such column": ({"y": Y, "q": P}, {}),
    "no rows": ({"y": [], "p": []}, {}),
}
SORTS = {  # what is said of a problem, whatever the value that shows it
    "missing": r"has a missing value|is NaN|stands for a missing value",
    "no number": r"is not a number|not numbers",
    "labels": r"(has|contains) (the label|more than two labels)",
    "unknown": r"but the labels are",
    "beyond": r"beyond 2\^53",
    "infinite": r"is infinite",
    "spelling": r"only in case or spaces",
    "commas": r"may separate thousands",
    "no weight": r"zero in every row",
    "weight": r"^is [-\d.e+infa]+(, which is (negative|not finite))?$",
    "nothing left": r"^every row of",
    "no column": r"has no column 'p'",
    "no rows": r"has no rows|is empty",
}


def asked(options: dict[str, Any]) -> dict[str, Any]:
    return {"label": "y", "score": "p", "interval": None, "measures": MEASURES, **options}


def outcome(ask: Callable[[], cl.results.Evaluation]) -> Outcome:
    """What a door says: the values, or the argument and the sort of the problem, and the labels that it names."""
    try:
        ev = ask()
    except cl.InputError as error:
        return "refused", (error.argument, sort_of(error.problem))
    return "answered", ({name: ev[name].value for name in MEASURES}, ev.facts["rows"], ev.facts["positives"])


def sort_of(problem: str) -> str:
    found = [name for name, pattern in SORTS.items() if re.search(pattern, problem)]
    assert len(found) == 1, f"{problem!r} is of the sorts {found}"
    # a date among scores is refused by its type or by its value
    return found[0] + (problem if found[0] in ("labels", "unknown") else "")


def written(table: Table, path: Path) -> str:
    """A text file as others would write it: an empty cell is missing."""
    cells = [[("" if v is None else str(v)) for v in column] for column in table.values()]
    quoted = ['"' + c.replace('"', '""') + '"' for c in table]
    lines = [
        ",".join('"' + c.replace('"', '""') + '"' if "," in c else c for c in row) for row in zip(*cells, strict=True)
    ]
    path.write_text("\n".join([",".join(quoted), *lines]) + "\n", encoding="utf-8")
    return str(path)


def arrow(table: Table) -> Any:
    return pyarrow.table({name: uniform(column) for name, column in table.items()})


def uniform(column: list[Any]) -> Any:
    """A column as an Arrow array: numbers of one type, others as they are."""
    numbers = [v for v in column if v is not None]
    if any(isinstance(v, float) for v in numbers):
        return pyarrow.array([None if v is None else float(v) for v in column], pyarrow.float64())
    return pyarrow.array(column) if numbers else pyarrow.array(column, pyarrow.float64())


def doors(table: Table, options: dict[str, Any], folder: Path) -> Iterator[tuple[str, Outcome]]:
    """Every door but Spark."""
    own = arrow(table)
    frame = own.to_pandas()
    parquet = folder / "t.parquet"
    pyarrow.parquet.write_table(own, parquet)
    text = written(table, folder / "t.csv")
    lines = folder / "t.jsonl"
    con = duckdb.connect()
    con.register("own", own)
    con.execute(f"COPY own TO '{lines}' (FORMAT json)") if table["y"] else lines.write_text("")
    sources: dict[str, Any] = {
        "mapping": table,
        "pandas": frame,
        "pandas of Arrow": own.to_pandas(types_mapper=pandas.ArrowDtype),
        "polars": polars.from_arrow(own),
        "Arrow": own,
        "Parquet": parquet,
        "CSV": text,
        "relation": con.sql("FROM own"),
    }
    if table["y"]:
        sources["JSON lines"] = lines
    for name, source in sources.items():
        yield name, outcome(lambda source=source: evaluate(source, **asked(options)))
    for name in ("Parquet", "CSV"):
        yield f"{name} streamed", outcome(lambda n=name: evaluate(sources[n], stream=True, **asked(options)))
    if "missing" not in options and "decimal" not in options and "p" in table:
        weight = table["w"] if "weight" in options else None
        yield "arrays", outcome(lambda: as_arrays(table, options.get("pos_label"), weight))


def as_arrays(table: Table, pos_label: Any, weight: Any) -> cl.results.Evaluation:
    return cl.evaluate(
        table["y"], table["p"], pos_label=pos_label, sample_weight=weight, interval=None, measures=MEASURES
    )


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.filterwarnings("ignore::cutline.LabelWarning")
def test_every_door_gives_the_same_answer_or_the_same_refusal(name: str, tmp_path: Path) -> None:
    table, options = TABLES[name]
    first: Outcome | None = None
    for door, found in doors(table, options, tmp_path):
        if door == "arrays" and name in ("percent", "decimal commas", "percent with decimal commas", "no rows"):
            continue  # arrays have nobody to tell how text was understood, and call themselves empty
        if door == "arrays" and name == "thousands or decimals":
            continue
        first = first or found
        assert found[0] == first[0], (door, found, first)
        if found[0] == "refused":
            assert found[1] == first[1], door
        else:
            assert found[1][1:] == first[1][1:], door
            assert found[1][0] == pytest.approx(first[1][0], rel=1e-12, nan_ok=True), door


@pytest.mark.parametrize("options", [{}, {"pos_label": 1}, {"pos_label": math.inf}], ids=str)
@pytest.mark.filterwarnings("ignore::cutline.LabelWarning")
def test_an_infinite_label_is_refused_at_every_door(options: dict[str, Any], tmp_path: Path) -> None:
    """By its value where the door has types; text that says inf is a word."""
    for door, found in doors({"y": [1.0, 0.0, math.inf, 1.0, 0.0, 0.0], "p": P}, options, tmp_path):
        if door not in ("CSV", "CSV streamed", "JSON lines"):
            assert found == ("refused", ("y_true", "infinite")), door
        elif "pos_label" not in options or math.isfinite(options["pos_label"]):
            assert found[0] == "refused", door
    with pytest.raises(cl.InputError, match="pos_label is 10000"):
        cl.roc_auc(Y, P, pos_label=10**400)
    with pytest.raises(cl.InputError, match="y_true: row 2 is infinite"):
        cl.evaluate([1.0, 0.0, math.inf, None, 0.0, 0.0], P, inclusion=0.5)


@pytest.mark.parametrize("totals", [False, True])
def test_several_negative_labels_are_told_with_their_rows_at_every_door(totals: bool, tmp_path: Path) -> None:
    """Not silently negative: those that nobody knows, and a row of totals."""
    labels = [1, 0, 0, 0, 1, 3000] if totals else ["Yes", "No", "No", "unknown", "Yes", "No"]
    wanted, rest = (1, "0 (3 rows), 3000 (1 row)") if totals else ("Yes", "'No' (3 rows), 'unknown' (1 row)")
    table = {"y": labels, "p": P}
    for door, call in calls(table, tmp_path).items():
        with pytest.warns(cl.LabelWarning) as said:
            value = call(pos_label=wanted)
        assert value == cl.roc_auc([label == wanted for label in labels], P), door
        told = f"all but {wanted!r} count as negative: {rest}"
        assert any(told in str(one.message) for one in said), door
        others = [0, 3000] if totals else ["No", "unknown"]
        assert call(pos_label=wanted, neg_label=others) == value, door
        with pytest.raises(cl.InputError, match="which is neither the positive nor a negative label"):
            call(pos_label=wanted, neg_label=others[0])
        with pytest.raises(cl.InputError, match="contains several labels besides"):
            call(pos_label=wanted, neg_label=[])
        with pytest.raises(cl.InputError, match="neg_label goes with pos_label"):
            call(neg_label=others)
    path = str(written(table, tmp_path / "t.csv"))
    for command in (["evaluate"], ["check", "roc_auc > 0"], ["cut", "--recall", ".5"]):
        words = [command[0], path, *command[1:], "--label", "y", "--score", "p", "--positive", str(wanted)]
        done = CliRunner().invoke(cli, words)
        assert done.exit_code == 2
        assert f"contains several labels besides '{wanted}': {rest}" in done.stderr
        assert "with --negative, or count them all as negative with --rest-negative" in done.stderr
        done = CliRunner().invoke(cli, [*words, "--rest-negative"])
        assert f"all but '{wanted}' count as negative: {rest}" in done.stderr
        assert done.exit_code in (0, 4), done.stderr


def test_retraining_tells_of_several_negative_labels() -> None:
    from sklearn.linear_model import LogisticRegression

    y = np.array(["yes", "no", "no", "unknown"] * 15)
    x = np.random.default_rng(0).normal(size=(60, 1)) + (y == "yes")[:, None]
    how: dict[str, Any] = {"pos_label": "yes", "measure": "roc_auc", "n_jobs": 1}
    told = r"all but 'yes' count as negative: 'no' \(30 rows\), 'unknown' \(15 rows\)"
    with pytest.warns(cl.LabelWarning, match=told):
        cl.permutation_test(LogisticRegression(), x, y, x, y, **how, n_permutations=9)
    with pytest.warns(cl.LabelWarning, match=told):
        cl.bootstrap_oob(LogisticRegression(), x, y, **how, n_resamples=3)


def calls(table: dict[str, Any], folder: Path) -> dict[str, Callable[..., float]]:
    """Ways to the AUC of one table."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    path = written(table, folder / "door.csv")
    sources = {"mapping": table, "pandas": pd.DataFrame(table), "polars": pl.DataFrame(table), "Arrow": pa.table(table)}
    sources |= {"file": path, "DuckDB": duckdb.sql(f"SELECT * FROM '{path}'"), "streamed": path}

    def of(source: Any, door: str) -> Callable[..., float]:
        how: dict[str, Any] = {"stream": True} if door == "streamed" else {}
        return lambda **options: (
            cl.evaluate(source, label="y", score="p", measures=["roc_auc"], interval=None, **how, **options)[
                "roc_auc"
            ].value
        )

    how: dict[str, Any] = {"measures": ["roc_auc"], "interval": None}
    arrays: dict[str, Callable[..., float]] = {
        "arrays": lambda **options: cl.evaluate(table["y"], table["p"], **how, **options)["roc_auc"].value,
        "models": lambda **options: cl.compare(table["y"], {"m": table["p"]}, **how, **options)["m"]["roc_auc"].value,
    }
    return arrays | {door: of(source, door) for door, source in sources.items()}


def test_one_problem_is_said_in_the_same_words(tmp_path: Path) -> None:
    segments = {"y": Y, "p": P, "k": ["a", "b", None, "a", "b", "b"]}
    path = tmp_path / "t.parquet"
    for table, options, words in (
        ({"y": Y, "p": ["9%", "0.5", "3%", "1%", "2%", "8%"]}, {}, "is '0.5', which is not a number; correct it"),
        ({"y": Y, "p": ["0.9", "7%", "0.3", "0.1", "2", "8"]}, {}, "is '7%', which is not a number; correct it"),
        ({"y": Y, "p": ["0.9", "0,7", "0.3", "0.1", "2", "8"]}, {}, "is '0,7', which is not a number; write a decimal"),
        ({"y": Y, "p": DAY}, {}, "column 'p' contains dates, not numbers"),
        ({"y": Y, "p": [datetime.datetime(2020, 1, 1 + y) for y in Y]}, {}, "column 'p' contains dates, not numbers"),
        (segments, {"by": "k"}, "has a missing value; fill it in, or leave such rows (1 in all) out with missing="),
    ):
        pyarrow.parquet.write_table(arrow(table), path)
        for source in (table, arrow(table), arrow(table).to_pandas(), polars.from_arrow(arrow(table)), path):
            with pytest.raises(cl.InputError, match=re.escape(words)):
                evaluate(source, **asked(options))


def test_integers_of_128_bits_are_read() -> None:
    own = polars.Series(Y, dtype=polars.Int128)
    assert cl.roc_auc(own, P) == cl.roc_auc(Y, P)
    assert evaluate({"y": own, "p": own}, clusters="y", **asked({})).facts["positives"] == 3
    with pytest.raises(cl.InputError, match="row 5 is an integer beyond 2"):
        cl.roc_auc(Y, polars.Series([*Y[:5], 2**100], dtype=polars.Int128))


def test_a_moment_with_a_fraction_of_a_second_can_be_the_label(tmp_path: Path) -> None:
    moments = [datetime.datetime(2020, 1, 1 + y, 12, 0, 0, 500_000) for y in Y]
    for chosen in (str(max(moments)), max(moments)):
        for door, found in doors({"y": moments, "p": P}, {"pos_label": chosen}, tmp_path):
            assert found[0] == ("refused" if door == "JSON lines" else "answered"), door  # DuckDB writes .5 there


KEYS: dict[str, list[Any]] = {
    "whole numbers": [1 + k % 12 for k in range(60)],
    "numbers as text": [str(1 + k % 12) for k in range(60)],
    "fractions": [(k % 12) / 4 for k in range(60)],
    "signed zeros": [[0.0, -0.0, 1.0][k % 3] for k in range(60)],
    "words": ["abcdefghij"[k % 10] for k in range(60)],
    "days": [datetime.date(2020, 1, 1 + k % 12) for k in range(60)],
    "NA": [["DE", "NA", "FR"][k % 3] for k in range(60)],
    "null": [["DE", None, "FR"][k % 3] for k in range(60)],
    "lists": [[k % 3, 1] for k in range(60)],
}


@pytest.mark.parametrize("missing", ["error", "drop"])
@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("role", ["clusters", "batch", "by"])
def test_clusters_batches_and_segments_are_the_same_at_every_door(
    role: str, name: str, missing: str, tmp_path: Path
) -> None:
    y, p = [(k * 7) % 5 < 2 for k in range(60)], [((k * 37) % 60) / 60 for k in range(60)]
    table = arrow({"y": y, "p": p, "k": KEYS[name]})
    parquet, text, con = tmp_path / "t.parquet", tmp_path / "t.csv", duckdb.connect()
    pyarrow.parquet.write_table(table, parquet)
    table.to_pandas().to_csv(text, index=False)
    con.register("own", table)
    sources: dict[str, Any] = {
        "mapping": {"y": y, "p": p, "k": KEYS[name]},
        "Arrow arrays": {name: column.combine_chunks() for name, column in zip("ypk", table.columns, strict=True)},
        "pandas": table.to_pandas(),
        "categories": table.to_pandas().astype({"k": "category"}) if name != "lists" else table,
        "polars": polars.from_arrow(table),
        "Arrow": table,
        "Parquet": parquet,
        "relation": con.sql("FROM own"),
    }
    if name == "lists":
        del sources["mapping"]  # NumPy takes lists of one length for a table
    elif name != "signed zeros":  # text tells −0.0 from 0.0
        sources["CSV"] = text
    how: dict[str, Any] = {"label": "y", "score": "p", "measures": ["pem"], "n_resamples": 50, "missing": missing}
    how |= {"quota": 3, "measures": ["pem", "hit_rate"]} if role == "batch" else {}
    seen: dict[str, Any] = {}
    for door, source in sources.items():
        try:
            found = evaluate(source, **{role: "k"}, **how)
        except cl.InputError as error:
            kind = "missing" if re.search(SORTS["missing"], error.problem) else error.problem.partition(" ")[0]
            seen[door] = (error.argument, error.column, kind)
        else:
            parts = found.segments.values() if role == "by" else [found]
            seen[door] = [(ev["pem"].low, ev["pem"].high, ev.facts["rows"], ev.facts.get("batches")) for ev in parts]
    first = seen["Arrow"]
    assert isinstance(first, tuple) == (name == "lists" or (name in ("NA", "null") and missing == "error")), first
    assert all(found == first for found in seen.values()), seen


@pytest.mark.parametrize("name", [name for name, (table, _) in TABLES.items() if "p" in table and table["y"]])
@pytest.mark.filterwarnings("ignore::cutline.LabelWarning")
def test_the_command_line_gives_the_same(name: str, tmp_path: Path) -> None:
    table, options = TABLES[name]
    path = written(table, tmp_path / "t.csv")
    expected = outcome(lambda: evaluate(path, **asked(options)))
    words = {"weight": "--weight", "pos_label": "--positive", "missing": "--missing", "decimal": "--decimal"}
    given = [part for key, value in options.items() for part in (words[key], str(value))]
    given += ["--rest-negative"] if "pos_label" in options else []
    measures = [part for name in MEASURES for part in ("--measure", name)]
    for engine in ("memory", "duckdb"):
        arguments = ["evaluate", path, "--label", "y", "--score", "p", *given, *measures, "--no-intervals"]
        done = CliRunner().invoke(cli, [*arguments, "--format", "json", "--engine", engine])
        if expected[0] == "refused":
            assert done.exit_code == 2, done.output
            with pytest.raises(cl.InputError) as caught:
                evaluate(path, **asked(options))
            assert caught.value.render(COMMAND_LINE) in done.output
        else:
            assert done.exit_code == 0, done.output
            found = {row["measure"].partition("(")[0]: row["value"] for row in json.loads(done.stdout)["measures"]}
            values = [math.nan if found[m] is None else found[m] for m in MEASURES]
            assert values == pytest.approx([expected[1][0][m] for m in MEASURES], nan_ok=True)


@pytest.mark.integration
@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings("ignore")
def test_spark_gives_the_same(spark: Any, tmp_path: Path) -> None:
    chosen = [
        *("text 0 and 1", "text true and false", "decimal labels", "an unknown word", "codes", "days", "three labels"),
        *("a word among numbers", "NA dropped", "percent with decimal commas", "thousands or decimals", "signed zeros"),
        *("a word among scores", "one value and NaN dropped", "integers beyond 2^53", "a text integer of 50 digits"),
        *("text labels beyond 2^53", "labels beyond 2^53", "a label and a tab", "a label and a no-break space"),
        *("weights of very different size", "the largest and the smallest weights"),
        *("zero weights", "a negative weight", "only zero weights", "infinite scores", "days as scores", "only NaN"),
    ]
    for name in chosen:
        table, options = TABLES[name]
        path = tmp_path / f"{len(os.listdir(tmp_path))}.parquet"
        pyarrow.parquet.write_table(arrow(table), path)
        expected = outcome(lambda p=path, o=options: evaluate(p, **asked(o)))
        frame = spark.read.parquet(str(path))
        found = outcome(lambda f=frame, o=options: evaluate(f, **asked(o)))
        assert found[0] == expected[0], (name, found, expected)
        if found[0] == "refused":
            assert found[1] == expected[1], name
        else:
            assert found[1][0] == pytest.approx(expected[1][0], rel=1e-12, nan_ok=True), name


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(
    "options", [{}, {"negate": ("p",)}, {"by": ("site",), "batch": "day"}, {"pos_label": 0}], ids=lambda o: "+".join(o)
)
def test_a_plain_table_is_checked_by_one_query(
    kind: str, options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    rows = pandas.DataFrame({"y": rng.integers(0, 2, 500), "p": rng.random(500)})
    rows["site"], rows["day"] = rng.choice(["a", "b"], 500), rng.integers(0, 5, 500).astype(np.int32)
    rows["y"] = rows.y.astype(np.int8)
    path = str(tmp_path / f"rows.{kind}")
    rows.to_csv(path, index=False) if kind == "csv" else rows.to_parquet(path, index=False)
    roles = Roles("y", {"model": "p"}, **options)
    with open_source(path, None, Machine(), TextFormat()) as table:
        long = sql_table._Check(table, roles).run()
        queries: list[str] = []
        ask = DuckTable.rows
        monkeypatch.setattr(DuckTable, "rows", lambda self, sql: [queries.append(sql), ask(self, sql)][1])
        short = sql_table.check(table, roles)
        assert len([sql for sql in queries if "LIMIT" not in sql]) == 1
        assert short.totals["model"] == replace(long.totals["model"], sum=pytest.approx(long.totals["model"].sum))
        assert (short.segments, short.batch, short.cluster) == (long.segments, long.batch, long.cluster)
        for name in ("positive", "kept"):
            one, two = (getattr(checked, name) or "true" for checked in (short, long))
            assert np.array_equal(short.table.values([one])[0], table.values([two])[0])


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ("1,0.5\n0,0.25\n1,NA", "stands for a missing value"),
        ("1,0.5\n0,0.25\n1,1_0", "not a number"),
        ("1,0.5\n0,0.25\n1,x", "not a number"),
        ("1,0.5\n0,0.25\n1,9007199254740993", "beyond 2"),
        ("1,1.234\n0,2\n1,3.456", "may separate thousands"),
        ("1,0.5\n0,0.25\n2,0.7", "more than two labels"),
    ],
)
def test_what_the_short_check_does_not_expect_is_explained(cells: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(f"y,p\n{cells}\n")
    with pytest.raises(cl.InputError, match=words):
        cl.evaluate(str(tmp_path / "rows.csv"), label="y", score="p", stream=True)
