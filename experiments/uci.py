"""The 20 UCI data sets of Arbel & Rokach: from a folder, from installed packages, or from OpenML; and Weka's split."""

from __future__ import annotations

import csv
import gzip
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class DataSet:
    """A table with its class column taken out; nominal columns hold text, numeric ones floats (nan: missing)."""

    name: str
    numeric: NDArray[np.float64]
    nominal: NDArray[Any]
    label: NDArray[Any]

    def __len__(self) -> int:
        return len(self.label)


@dataclass(frozen=True)
class Source:
    """Where a set is found: its file names, the class column, its folder in scikit-learn's tests, its OpenML name."""

    files: tuple[str, ...]
    label: int = -1
    shipped: str = ""
    openml: str = ""
    all_nominal: bool = False
    drop: tuple[int, ...] = ()


SETS = {
    "australian": Source(("australian.dat", "australian.arff"), openml="Australian"),
    "audiology": Source(("audiology.arff",), openml="audiology"),
    "breast-cancer": Source(("breast-cancer.arff",), openml="breast-cancer"),
    "hepatitis": Source(("hepatitis.arff",), openml="hepatitis"),
    "iris": Source(("iris.arff",), shipped="id_61", openml="iris"),
    "kr-vs-kp": Source(("kr-vs-kp.arff",), shipped="id_3", openml="kr-vs-kp"),
    "labor": Source(("labor.arff",), openml="labor"),
    "lung-cancer": Source(("lung-cancer.data", "lung-cancer.arff"), label=0, openml="lung-cancer", all_nominal=True),
    "monks-1": Source(("monks-1.train",), label=0, openml="monks-problems-1", all_nominal=True, drop=(-1,)),
    "monks-2": Source(("monks-2.train",), label=0, openml="monks-problems-2", all_nominal=True, drop=(-1,)),
    "monks-3": Source(("monks-3.train",), label=0, openml="monks-problems-3", all_nominal=True, drop=(-1,)),
    "mushroom": Source(("mushroom.arff",), openml="mushroom"),
    "nursery": Source(("nursery.arff",), openml="nursery"),
    "optdigits": Source(("optdigits.arff",), openml="optdigits"),
    "pima": Source(("diabetes.arff", "pima.arff"), openml="diabetes"),
    "sonar": Source(("sonar.arff",), openml="sonar"),
    "soybean": Source(("soybean.arff",), openml="soybean"),
    "vote": Source(("vote.arff",), openml="vote"),
    "wine": Source(("wine.arff",), label=0, openml="wine"),
    "zoo": Source(("zoo.arff",), shipped="id_62", openml="zoo", drop=(0,)),
}


def load(name: str, folder: Path | None, *, network: bool) -> tuple[DataSet | None, str]:
    """A set and where it came from; or None and why not."""
    source = SETS[name]
    if folder is not None:
        found = [path for file in source.files for path in sorted(folder.rglob(file))]
        if found:
            return parse(name, found[0].read_text(encoding="utf-8", errors="replace"), source), found[0].name
    shipped = _shipped(name, source)
    if shipped is not None:
        return shipped, "installed with scikit-learn"
    if not network:
        return None, "not in a folder given with --data and not shipped with an installed package"
    return _from_openml(name, source)


def parse(name: str, text: str, source: Source) -> DataSet:
    """ARFF, or columns separated by commas or spaces; a question mark is a missing value."""
    kinds: list[str] = []
    lines = text.splitlines()
    if "@data" in text.lower():
        start = next(k for k, line in enumerate(lines) if line.strip().lower().startswith("@data"))
        attributes = [line for line in lines[:start] if line.strip().lower().startswith("@attribute")]
        kinds = ["nominal" if "{" in line else "numeric" for line in attributes]
        lines = lines[start + 1 :]
    kept = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("%")]
    if "," in kept[0]:
        table = [
            [cell.strip().strip("'\"") for cell in row]
            for row in csv.reader(kept, quotechar="'", skipinitialspace=True)
        ]
    else:
        table = [re.split(r"\s+", line) for line in kept]
    width = len(table[0])
    kinds = kinds or ["nominal" if source.all_nominal else "numeric"] * width
    at = source.label % width
    dropped = {at, *(k % width for k in source.drop)}
    inputs = [k for k in range(width) if k not in dropped]
    cells = np.array(table, dtype=object)
    numbers = [k for k in inputs if kinds[k] == "numeric"]
    words = [k for k in inputs if kinds[k] != "numeric"]
    numeric = np.array([[np.nan if v == "?" else float(v) for v in cells[:, k]] for k in numbers]).T
    numeric = numeric.reshape(len(cells), len(numbers))
    return DataSet(name, numeric, cells[:, words].astype(str), cells[:, at].astype(str))


def _shipped(name: str, source: Source) -> DataSet | None:
    """Sets that scikit-learn installs: two of its own, and the OpenML files of its tests."""
    import sklearn
    from sklearn import datasets

    if source.shipped:
        folder = Path(sklearn.__file__).parent / "datasets" / "tests" / "data" / "openml" / source.shipped
        for path in sorted(folder.glob("data-*.arff.gz")):
            return parse(name, gzip.decompress(path.read_bytes()).decode(), source)
    if name in ("iris", "wine"):
        bunch = datasets.load_iris() if name == "iris" else datasets.load_wine()
        empty = np.empty((len(bunch.target), 0), dtype=str)
        return DataSet(name, bunch.data, empty, np.array(bunch.target_names)[bunch.target].astype(str))
    return None


def _from_openml(name: str, source: Source) -> tuple[DataSet | None, str]:
    from sklearn.datasets import fetch_openml

    try:
        bunch = fetch_openml(source.openml, version=1, as_frame=True, parser="auto", n_retries=0)
    except Exception as error:  # offline, or OpenML is: the other sets still run
        return None, f"OpenML cannot be reached ({type(error).__name__}); give the files with --data DIR"
    frame = bunch.data
    numbers = frame.select_dtypes("number").to_numpy(dtype=float)
    words = frame.select_dtypes(exclude="number").astype(object).fillna("?").to_numpy().astype(str)
    return DataSet(name, numbers, words, bunch.target.astype(str).to_numpy()), f"OpenML, {source.openml}"


class JavaRandom:
    """java.util.Random: the generator behind Weka's splits."""

    def __init__(self, seed: int) -> None:
        self.state = (seed ^ 0x5DEECE66D) & ((1 << 48) - 1)

    def _next(self, bits: int) -> int:
        self.state = (self.state * 0x5DEECE66D + 0xB) & ((1 << 48) - 1)
        value = self.state >> (48 - bits)
        return value - (1 << bits) if value >= 1 << (bits - 1) and bits == 32 else value

    def below(self, bound: int) -> int:
        """nextInt(bound)."""
        if bound & -bound == bound:
            return (bound * self._next(31)) >> 31
        while True:
            bits = self._next(31)
            value = bits % bound
            if bits - value + (bound - 1) < 1 << 31:  # Java's int overflow marks a draw to be repeated
                return value


def weka_split(n: int, seed: int = 1) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows of Weka's 66 % split: shuffled as Instances.randomize does, ⌊0.66 n⌋ rows for training."""
    order = np.arange(n)
    random = JavaRandom(seed)
    for j in range(n - 1, 0, -1):
        k = random.below(j + 1)
        order[j], order[k] = order[k], order[j]
    cut = int(0.66 * n)
    return order[:cut], order[cut:]
