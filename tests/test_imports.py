"""`import cutline` is light: optional and heavy libraries load at first use."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

OPTIONAL = ["pandas", "polars", "pyarrow", "matplotlib", "sklearn", "pyspark"]
AT_FIRST_USE = ["duckdb", "scipy.stats", "narwhals", "click"]


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


def test_the_catalogue_is_read_without_optional_libraries() -> None:
    loaded = loaded_after("import cutline; cutline.measures(); cutline.measure('pem'); dir(cutline)")
    assert loaded.isdisjoint(OPTIONAL)


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


def test_every_module_is_reached_under_its_own_name() -> None:
    """No public function hides a module: ``import cutline.x.y as m`` gives the module."""
    code = (
        "import importlib, pkgutil, cutline\n"
        "[getattr(cutline, name) for name in cutline.__all__]\n"
        "for found in pkgutil.walk_packages(cutline.__path__, 'cutline.'):\n"
        "    importlib.import_module(found.name)\n"
        "    here = {}\n"
        "    exec(f'import {found.name} as m', here)\n"
        "    assert here['m'].__name__ == found.name, found.name\n"
        "import cutline.catalogue.declare as c\n"
        "assert c.declare.__module__ == 'cutline.catalogue.declare'\n"
        "print('all')"
    )
    assert run(code).strip() == "all"


@pytest.mark.parametrize("refuses", [False, True])
def test_without_scikit_learn_its_room_is_missing_with_a_hint(refuses: bool) -> None:
    as_if_not_installed = (
        "class Finder:\n"
        "    def find_spec(self, name, *others):\n"
        "        if name == 'sklearn': raise ImportError(name)\n"
        "sys.meta_path.insert(0, Finder())\n"
        if refuses
        else "sys.modules['sklearn'] = None\n"
    )
    code = (
        f"import sys\n{as_if_not_installed}"
        "from cutline import *\n"
        "print(roc_auc([1, 0], [0.9, 0.1]))\n"
        "try:\n"
        "    import cutline.sklearn\n"
        "except ImportError as error:\n"
        "    print(error)"
    )
    value, hint = run(code).splitlines()
    assert value == "1.0"
    assert hint == "cutline.sklearn needs scikit-learn: pip install 'cutline[sklearn]' (in a checkout: '.[sklearn]')"


def test_a_function_of_main_that_uses_cutline_runs_in_other_processes(tmp_path: Path) -> None:
    pytest.importorskip("joblib")
    script = tmp_path / "main.py"
    script.write_text(
        "import joblib\n"
        "import cutline as cl\n"
        "def area(score):\n"
        "    return cl.roc_auc([1, 0, 1], score)\n"
        "if __name__ == '__main__':\n"
        "    print(joblib.Parallel(2)(joblib.delayed(area)(s) for s in ([3, 1, 2], [1, 2, 3])))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == "[1.0, 0.5]"
