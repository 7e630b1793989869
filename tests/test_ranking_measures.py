"""Ranking scores of one's own, and BEDROC: by definition, wherever a measure is named, and after pickling."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import cutline as cl
from cutline.sklearn import scorer


def drawn(seed: int = 0, n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    return y, y + rng.normal(size=n)


def steep(places: np.ndarray) -> np.ndarray:
    return places.astype(float) ** 3


def test_bedroc_by_its_printed_formula() -> None:
    """Truchon & Bayly's Eq. 36: RIE between its least and its largest value."""
    y, s = drawn()
    alpha, n, n_pos = 20.0, len(y), y.sum()
    ranks = np.empty(n)
    ranks[np.argsort(-s)] = np.arange(1, n + 1)
    rie = np.exp(-alpha * ranks[y] / n).mean() / ((1 - np.exp(-alpha)) / (n * (np.exp(alpha / n) - 1)))
    share = n_pos / n
    low = (1 - np.exp(alpha * share)) / (share * (1 - np.exp(alpha)))
    high = (1 - np.exp(-alpha * share)) / (share * (1 - np.exp(-alpha)))
    assert cl.bedroc(y, s, alpha=alpha) == pytest.approx((rie - low) / (high - low))
    assert cl.bedroc([1, 1, 0, 0], [4, 3, 2, 1], alpha=5) == pytest.approx(1.0)
    assert cl.bedroc([1, 1, 0, 0], [1, 2, 3, 4], alpha=5) == pytest.approx(0.0)


def test_bedroc_is_a_ranking_score_on_another_scale() -> None:
    y, s = drawn(1)
    n = len(y)

    def g(places: np.ndarray) -> np.ndarray:
        return np.exp(-20.0 * (n + 1 - places) / n)

    perfect, reverse = cl.ranking_score(y, y, g=g), cl.ranking_score(y, -y.astype(float), g=g)
    # perfect and reversed lists of tied classes: the best and the worst sum
    score = (cl.ranking_score(y, s, g=g) - reverse) / (perfect - reverse)
    assert cl.bedroc(y, s, alpha=20) == pytest.approx(score)


def test_bad_alpha_is_refused_and_one_class_has_no_value() -> None:
    for alpha in (0, -1, "x", float("inf")):
        with pytest.raises(cl.InputError):
            cl.bedroc([1, 0], [2, 1], alpha=alpha)
    with pytest.warns(cl.UndefinedWarning):
        assert np.isnan(cl.bedroc([1, 1], [2, 1], alpha=20))


def test_a_measure_of_ones_own_works_wherever_a_measure_does() -> None:
    own = cl.ranking_measure("steep_score", steep, title="Steep score")
    y, s = drawn(2)
    value = cl.ranking_score(y, s, g=steep)
    assert own(y, s) == pytest.approx(value)
    ev = cl.evaluate(y, s, measures=["steep_score", "roc_auc"], n_resamples=50)
    assert ev["steep_score"].value == pytest.approx(value)
    assert ev["steep_score"].low < value < ev["steep_score"].high
    cmp = cl.compare(y, {"a": s, "b": drawn(3)[1]}, measures=[own], n_resamples=50)
    assert cmp.best("steep_score") == "a"
    power = cl.papers.selection_power(
        y, {"a": s, "b": drawn(3)[1]}, ["steep_score"], goal="roc_auc", n_rounds=2, n_sets=10, set_size=40
    )
    assert power["steep_score"].value > 0.5
    assert pickle.loads(pickle.dumps(ev))["steep_score"].value == pytest.approx(value)
    assert cl.measure("steep_score").title == "Steep score"


def test_declaring_again_replaces_and_the_catalogue_is_protected() -> None:
    cl.ranking_measure("again", np.sqrt)
    twice = cl.ranking_measure("again", np.log)
    assert twice([1, 0], [2, 1]) == pytest.approx(np.log(2))
    for name in ("pem", "auc", "no name", "", 3):
        with pytest.raises(cl.InputError, match="name"):
            cl.ranking_measure(name, np.sqrt)
    with pytest.raises(cl.InputError, match="function"):
        cl.ranking_measure("what", 3)


@pytest.fixture(autouse=True)
def _leave_the_catalogue_as_it_was():
    from cutline.catalogue import declare

    before = dict(declare._measures)
    yield
    declare._measures.clear()
    declare._measures.update(before)


def test_the_function_pickles_and_keeps_its_signature() -> None:
    made = cl.ranking_measure("root_of_place", np.sqrt)
    again = pickle.loads(pickle.dumps(made))
    assert again([1, 0, 1], [3, 2, 1]) == made([1, 0, 1], [3, 2, 1]) == pytest.approx(np.sqrt(3) + 1)
    assert list(inspect.signature(made).parameters)[:2] == ["y_true", "y_score"]
    assert "root_of_place" in repr(made)


def test_a_worth_that_is_not_finite_is_refused() -> None:
    made = cl.ranking_measure("log_of_place", lambda place: np.log(place - 1))
    with pytest.raises(cl.InputError, match="g gives -inf for place 1; return a finite number"):
        made([1, 0, 1], [3, 2, 1])


def test_a_measure_of_cells_works_wherever_a_measure_does(tmp_path) -> None:
    own = cl.count_measure("critical_success", critical_success, title="Critical success index")
    places = cl.count_measure("miss_cost", miss_cost, better="lower", at="quota")
    y, s = drawn(2)
    s = (s - s.min()) / (s.max() - s.min())
    above = s > 0.5
    value = (above & y).sum() / (above | y).sum()
    assert own(y, s) == pytest.approx(value)
    top = np.argsort(-s)[:20]
    cost = 5 * (y.sum() - y[top].sum()) + (20 - y[top].sum())
    assert places(y, s, quota=20) == pytest.approx(cost)
    ev = cl.evaluate(y, s, measures=["critical_success", "miss_cost@20", "f1"], n_resamples=100)
    assert ev["critical_success"].value == pytest.approx(value)
    assert ev["critical_success"].low < value < ev["critical_success"].high
    assert ev["miss_cost@20"].value == pytest.approx(cost)
    assert pickle.loads(pickle.dumps(ev))["critical_success"].value == pytest.approx(value)
    ev.to_html(tmp_path / "page.html")
    assert "critical_success" in (tmp_path / "page.html").read_text()
    cmp = cl.compare(y, {"a": s, "b": 1 - s}, measures=[own, "miss_cost@20"], n_resamples=100)
    assert cmp.best("critical_success") == cmp.best("miss_cost@20") == "a"
    path = tmp_path / "scores.csv"
    np.savetxt(path, np.column_stack([y, s]), delimiter=",", header="y,p", comments="", fmt="%.17g")
    streamed = cl.evaluate(path, label="y", score="p", measures=["critical_success"], stream=True, interval=None)
    assert streamed["critical_success"].value == pytest.approx(value)
    model = LogisticRegression().fit(s[:, None], y)
    expected = own(y, model.predict_proba(s[:, None])[:, 1])
    assert scorer("critical_success")(model, s[:, None], y) == pytest.approx(expected)


def test_a_package_declares_measures_by_an_entry_point(tmp_path, monkeypatch) -> None:
    from cutline.catalogue import declare

    (tmp_path / "acme_measures.py").write_text(
        "import cutline as cl\n\n\ndef declare():\n    cl.count_measure('acme_hits', lambda c: c.tp)\n"
    )
    (tmp_path / "acme_module.py").write_text(
        "import cutline as cl\n\nroot = cl.ranking_measure('acme_root', lambda place: place**0.5)\n"
    )
    info = tmp_path / "acme-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    lines = ["[cutline.measures]", "hits = acme_measures:declare", "root = acme_module", "broken = acme_nowhere", ""]
    (info / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    declare._load_packages.cache_clear()
    y, s = [1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]
    ev = cl.evaluate(y, s, measures=["acme_hits", "acme_root"], interval=None)
    assert ev["acme_hits"].value == 2.0
    assert ev["acme_root"].value == pytest.approx(4**0.5 + 2**0.5)
    with pytest.raises(cl.InputError, match="acme_nowhere declares no measures: ModuleNotFoundError"):
        cl.measure("acme_other")
    declare._load_packages.cache_clear()


def critical_success(c):
    """Written for one sample: no array of cells is true or false."""
    return c.tp / (c.tp + c.fp + c.fn) if c.tp > 0 else 0.0


def miss_cost(c):
    return 5 * c.fn + c.fp


def test_what_is_not_a_measure_of_cells_is_refused() -> None:
    for name in ("pem", "auc", "no name", "", 3):
        with pytest.raises(cl.InputError, match="name"):
            cl.count_measure(name, critical_success)
    for function, problem in ((3, "function"), (lambda: 1, "one argument"), (lambda c: "high", "return one number")):
        with pytest.raises(cl.InputError, match=problem):
            cl.count_measure("what", function)
    for option in ({"better": "up"}, {"at": "places"}):
        with pytest.raises(cl.InputError, match="choose one of"):
            cl.count_measure("what", critical_success, **option)
    made = pickle.loads(pickle.dumps(cl.count_measure("critical_success", critical_success)))
    with pytest.raises(cl.InputError, match="takes no quota; declare it with at='quota', or choose one of hit_rate"):
        cl.parse_measure("critical_success@5")
    assert made([1, 0, 1], [0.9, 0.8, 0.1]) == pytest.approx(1 / 3)
    with pytest.warns(cl.UndefinedWarning, match="your function gives nan"):
        cl.count_measure("ratio_of_cells", lambda c: c.tp / (c.tp + c.fp))([1, 0], [0.1, 0.2])
