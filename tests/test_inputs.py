"""Whatever holds labels and scores is taken as it is, and left as it was."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import cutline as cl

Y = [1, 0, 1, 1, 0, 0, 1, 0]
S = [0.9, 0.8, 0.75, 0.5, 0.5, 0.25, 0.25, 0.125]  # exact in half precision but for 0.9 and 0.8
W = [1.0, 2.0, 0.5, 1.0, 0.0, 3.0, 1.5, 1.0]
AUC = cl.roc_auc(Y, S)
WEIGHTED_AUC = cl.roc_auc(Y, S, sample_weight=W)


def pandas_series(v: list[Any]) -> Any:
    return pytest.importorskip("pandas").Series(v, index=range(100, 100 + len(v)))


def polars_series(v: list[Any]) -> Any:
    return pytest.importorskip("polars").Series("column", v)


def arrow_array(v: list[Any]) -> Any:
    return pytest.importorskip("pyarrow").array(v)


def arrow_chunked(v: list[Any]) -> Any:
    return pytest.importorskip("pyarrow").chunked_array([v[:3], v[3:]])


def pandas_nullable(v: list[Any]) -> Any:
    return pytest.importorskip("pandas").Series(v).convert_dtypes()


def pandas_arrow(v: list[Any]) -> Any:
    pytest.importorskip("pyarrow")
    return pytest.importorskip("pandas").Series(v).convert_dtypes(dtype_backend="pyarrow")


def pandas_index(v: list[Any]) -> Any:
    return pytest.importorskip("pandas").Index(v)


def readonly(v: list[Any]) -> Any:
    a = np.array(v)
    a.flags.writeable = False
    return a


def strided(v: list[Any]) -> Any:
    return np.array([x for pair in zip(v, v[::-1], strict=True) for x in pair])[::2]


def backwards(v: list[Any]) -> Any:
    return np.array(v[::-1])[::-1]


def matrix_column(v: list[Any]) -> Any:
    return np.array([v, v[::-1]]).T[:, 0]


def big_endian(v: list[Any]) -> Any:
    a = np.array(v)
    return a.astype(a.dtype.newbyteorder(">"))


CONTAINERS: list[Callable[[list[Any]], Any]] = [
    list,
    tuple,
    np.array,
    readonly,
    strided,
    backwards,
    matrix_column,
    big_endian,
    lambda v: np.array(v, dtype=object),
    pandas_series,
    pandas_nullable,
    pandas_arrow,
    pandas_index,
    polars_series,
    arrow_array,
    arrow_chunked,
]
NAMES = [f.__name__ if f.__name__ != "<lambda>" else "objects" for f in CONTAINERS]


@pytest.mark.parametrize("container", CONTAINERS, ids=NAMES)
def test_containers(container: Callable[[list[Any]], Any]) -> None:
    assert cl.roc_auc(container(Y), container(S)) == AUC
    assert cl.roc_auc(Y, container(S)) == AUC
    assert cl.roc_auc(container(Y), S) == AUC
    assert cl.hit_rate(container(Y), container(S), quota=3) == cl.hit_rate(Y, S, quota=3)
    assert cl.roc_auc(Y, S, sample_weight=container(W)) == WEIGHTED_AUC
    assert cl.evaluate(container(Y), container(S), interval=None)["roc_auc"].value == AUC


@pytest.mark.parametrize("container", CONTAINERS, ids=NAMES)
def test_bool_labels_in_containers(container: Callable[[list[Any]], Any]) -> None:
    assert cl.roc_auc(container([v == 1 for v in Y]), S) == AUC


@pytest.mark.parametrize("container", CONTAINERS, ids=NAMES)
def test_text_labels_in_containers(container: Callable[[list[Any]], Any]) -> None:
    labels = container(["yes" if v else "no" for v in Y])
    assert cl.roc_auc(labels, S, pos_label="yes") == AUC
    assert cl.roc_auc(labels, S, pos_label="no") == pytest.approx(1 - AUC)
    with pytest.raises(cl.InputError, match="pos_label"):
        cl.roc_auc(labels, S)


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_integer_labels(dtype: str) -> None:
    assert cl.roc_auc(np.array(Y, dtype=dtype), S) == AUC


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "longdouble"])
def test_float_labels_and_scores(dtype: str) -> None:
    assert cl.roc_auc(np.array(Y, dtype=dtype), S) == AUC
    assert cl.roc_auc(Y, np.array(S, dtype=dtype)) == AUC  # the order survives the narrower types


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_integer_scores(dtype: str) -> None:
    scores = np.array([90, 80, 75, 50, 50, 25, 25, 12], dtype=dtype)
    assert cl.roc_auc(Y, scores) == AUC
    assert cl.recall(Y, scores, threshold=50) == cl.recall(Y, S, threshold=0.5)


@pytest.mark.parametrize("dtype", ["int8", "int64", "float32", "float64", "bool"])
def test_weights_of_any_number_type(dtype: str) -> None:
    w = np.array([1, 1, 0, 1, 1, 1, 1, 0], dtype=dtype)
    assert cl.roc_auc(Y, S, sample_weight=w) == cl.roc_auc(np.array(Y)[w > 0], np.array(S)[w > 0])


def test_bool_scores() -> None:
    decisions = [s > 0.4 for s in S]
    assert cl.roc_auc(Y, decisions) == cl.balanced_accuracy(Y, decisions)


def test_minus_one_and_plus_one() -> None:
    assert cl.roc_auc([2 * v - 1 for v in Y], S) == AUC
    assert cl.roc_auc(np.array([2.0 * v - 1 for v in Y]), S) == AUC


def test_pos_label_turns_numbers_round() -> None:
    assert cl.roc_auc(Y, S, pos_label=1) == AUC
    assert cl.roc_auc(Y, S, pos_label=0) == pytest.approx(1 - AUC)
    assert cl.roc_auc([v == 1 for v in Y], S, pos_label=False) == pytest.approx(1 - AUC)
    assert cl.roc_auc([7 if v else 3 for v in Y], S, pos_label=7) == AUC


def test_pos_label_makes_one_against_the_rest() -> None:
    labels = ["b" if v else "ac"[k % 2] for k, v in enumerate(Y)]
    with pytest.warns(cl.LabelWarning, match="all but 'b' count as negative: 'c'") as said:
        assert cl.roc_auc(labels, S, pos_label="b") == AUC
    assert said[0].filename == __file__


def test_labels_of_one_class_keep_their_meaning() -> None:
    assert cl.accuracy([1, 1], [0.9, 0.1]) == 0.5
    assert cl.accuracy([0, 0], [0.9, 0.1]) == 0.5
    assert cl.accuracy([-1, -1], [0.9, 0.1]) == 0.5
    assert cl.precision([-1, -1], [0.9, 0.1]) == 0.0
    assert cl.precision([True, True], [0.9, 0.1]) == 1.0


def test_categories_of_pandas_and_polars() -> None:
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    labels = ["yes" if v else "no" for v in Y]
    assert cl.roc_auc(pd.Series(labels, dtype="category"), S, pos_label="yes") == AUC
    assert cl.roc_auc(pl.Series(labels, dtype=pl.Categorical), S, pos_label="yes") == AUC


def test_the_index_of_a_pandas_series_is_no_order() -> None:
    pd = pytest.importorskip("pandas")
    y = pd.Series(Y, index=range(8))
    s = pd.Series(S, index=range(7, -1, -1))
    assert cl.roc_auc(y, s) == AUC


def test_scores_are_never_turned_round() -> None:
    """A model that ranks backwards is told so."""
    assert cl.roc_auc([0, 0, 1], [0.9, 0.8, 0.1]) == 0.0


def test_float32_threshold_is_compared_as_it_is() -> None:
    s = np.array([0.7, 0.2], dtype=np.float32)
    assert cl.recall([1, 0], s, threshold=0.7) == float(np.float64(s[0]) > 0.7)


MISSING: dict[str, Callable[[], Any]] = {
    "pandas Int64": lambda: pytest.importorskip("pandas").Series([1, 0, None, 0], dtype="Int64"),
    "pandas boolean": lambda: pytest.importorskip("pandas").Series([True, False, None, False], dtype="boolean"),
    "pandas Float64": lambda: pytest.importorskip("pandas").Series([1.0, 0.0, None, 0.0], dtype="Float64"),
    "pandas float": lambda: pytest.importorskip("pandas").Series([1.0, 0.0, None, 0.0]),
    "pandas object": lambda: pytest.importorskip("pandas").Series([1, 0, None, 0], dtype=object),
    "pandas category": lambda: pytest.importorskip("pandas").Series([1, 0, None, 0], dtype="category"),
    "polars": lambda: pytest.importorskip("polars").Series([1, 0, None, 0]),
    "polars NaN": lambda: pytest.importorskip("polars").Series([1.0, 0.0, float("nan"), 0.0]),
    "arrow": lambda: pytest.importorskip("pyarrow").array([1, 0, None, 0]),
    "arrow chunks": lambda: pytest.importorskip("pyarrow").chunked_array([[1, 0], [None, 0]]),
    "list with None": lambda: [1, 0, None, 0],
    "list with NaN": lambda: [1, 0, float("nan"), 0],
    "numpy NaN": lambda: np.array([1.0, 0.0, np.nan, 0.0]),
    "masked": lambda: np.ma.masked_array([1, 0, 1, 0], mask=[False, False, True, False]),
}


@pytest.mark.parametrize("kind", MISSING)
@pytest.mark.parametrize("argument", ["y_true", "y_score", "sample_weight"])
def test_missing_values_are_refused_by_row(kind: str, argument: str) -> None:
    columns: dict[str, Any] = {"y_true": [1, 0, 1, 0], "y_score": [0.9, 0.5, 0.4, 0.1], "sample_weight": [1, 1, 1, 1]}
    columns[argument] = MISSING[kind]()
    with pytest.raises(cl.InputError, match=rf"{argument}.*row 2"):
        cl.roc_auc(**columns)


def test_text_is_a_score_if_every_cell_is_a_number() -> None:
    assert cl.roc_auc(["1", "0", "0"], ["0.9", "1e-1", " .5"]) == 1.0
    for wrong in (["0.9", "high"], ["0.9", "1_000"], ["0,9", "0,1"], ["9%", "1%"], ["0.9", 0j]):
        with pytest.raises(cl.InputError, match=r"y_score: row .* not a number"):
            cl.roc_auc([1, 0], wrong)


def test_a_table_is_no_column() -> None:
    pd = pytest.importorskip("pandas")
    for table in (np.ones((4, 2)), [[0.1, 0.9]] * 4, pd.DataFrame({"a": S[:4], "b": S[:4]})):
        with pytest.raises(cl.InputError, match="y_score"):
            cl.roc_auc([1, 0, 1, 0], table)


def test_what_is_no_column_at_all() -> None:
    for thing in (None, 3, "0.9", {"a": 1}, object()):
        with pytest.raises(cl.InputError, match="y_score"):
            cl.roc_auc([1, 0], thing)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_nothing_is_changed_or_kept(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    y, s = rng.integers(0, 2, 500), rng.random(500).astype(dtype)
    w = rng.random(500)
    before = [a.copy() for a in (y, s, w)]
    ev = cl.evaluate(y, s, sample_weight=w, interval=None, measures=["roc_auc", "brier_score", "f1"])
    first = ev["roc_auc"].value
    assert all(np.array_equal(a, b) for a, b in zip(before, (y, s, w), strict=True))
    s[:] = 0
    y[:] = 1
    assert ev["roc_auc"].value == first


class Tensor:
    """Stands in for a tensor: gives an array only once detached, and only from the CPU."""

    def __init__(self, values: Any, device: str = "cpu", *, tracked: bool = True) -> None:
        self.values, self.device, self.tracked = np.asarray(values), SimpleNamespace(type=device), tracked

    def detach(self) -> Tensor:
        return Tensor(self.values, self.device.type, tracked=False)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if self.tracked:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad")
        return np.array(self.values, dtype=dtype)


def test_tensors_that_record_gradients() -> None:
    assert cl.roc_auc(Tensor([1, 0, 1, 0]), Tensor([0.9, 0.6, 0.5, 0.1])) == 0.75


def test_tensors_elsewhere_are_refused_with_the_remedy() -> None:
    with pytest.raises(cl.InputError, match=r"y_score is a tensor on .*\.cpu\(\)"):
        cl.roc_auc([1, 0], Tensor([0.9, 0.1], "cuda"))
