"""`import cutline` is light: optional and heavy libraries load at first use."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

OPTIONAL = ["pandas", "polars", "pyarrow", "matplotlib", "sklearn", "pyspark", "altair", "vl_convert"]
AT_FIRST_USE = ["numba", "duckdb", "scipy.stats", "narwhals", "rich", "click"]


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    return done.stdout


def loaded_after(code: str) -> set[str]:
    return set(json.loads(run(f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))")))


def test_import_loads_no_optional_and_no_heavy_library() -> None:
    loaded = loaded_after("import cutline")
    assert "cutline" in loaded
    assert loaded.isdisjoint(OPTIONAL)
    assert loaded.isdisjoint(AT_FIRST_USE)


def test_the_catalogue_is_read_without_compiling_anything() -> None:
    loaded = loaded_after("import cutline; cutline.measures(); cutline.measure('pem'); dir(cutline)")
    assert loaded.isdisjoint(OPTIONAL)
    assert "numba" not in loaded


def test_numpy_and_lists_need_no_optional_library() -> None:
    loaded = loaded_after(
        "import cutline as cl\n"
        "cl.roc_auc([1, 0, 1], [0.9, 0.5, 0.4])\n"
        "ev = cl.evaluate([1, 0, 1, 0], [0.9, 0.5, 0.4, 0.1], quota=2, interval=None)\n"
        "repr(ev), ev._repr_html_(), ev.to_dicts(), ev.to_json()"
    )
    assert loaded.isdisjoint(OPTIONAL)


def test_a_polars_series_does_not_bring_pandas() -> None:
    pytest.importorskip("polars")
    loaded = loaded_after("import polars as pl, cutline as cl\ncl.roc_auc(pl.Series([1, 0]), pl.Series([0.9, 0.1]))")
    assert loaded.isdisjoint({"pandas", "matplotlib", "sklearn", "pyspark"})


def test_import_costs_little_more_than_numpy() -> None:
    """Best of several, CPU time, as a ratio: generous, since machines differ; scipy.stats alone would break it."""
    code = "import time; t = time.process_time(); import {}; print(time.process_time() - t)"
    best = {m: min(float(run(code.format(m))) for _ in range(5)) for m in ("numpy", "cutline")}
    assert best["cutline"] < 2.5 * best["numpy"] + 0.05


def test_public_names_are_listed() -> None:
    import cutline as cl

    assert set(cl.__all__) <= set(dir(cl))
    for name in ("InputError", "UndefinedWarning", "measures", "measure", "evaluate", "lift_table", "roc_auc", "pem"):
        assert name in cl.__all__
        assert getattr(cl, name) is not None
    with pytest.raises(AttributeError):
        cl.no_such_thing  # noqa: B018
