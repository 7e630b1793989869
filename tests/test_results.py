"""Every public result can be pickled, copied, compared and shown; none can be changed by accident."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import cutline as cl
import cutline.extrapolation
import cutline.papers
import cutline.results
from cutline.decide import error_costs as costs
from cutline.decide.calibration import calibrate
from cutline.decide.model_choice import swaps
from cutline.sklearn import evaluate_cv

RNG = np.random.default_rng(5)
N = 60
Y = RNG.random(N) < 0.4
P = np.clip(0.3 * Y + RNG.random(N) * 0.7, 0, 1)
Q = RNG.random(N)
PARTS = np.arange(N) % 3
FEW: dict[str, Any] = {"n_resamples": 20}


class Line(BaseEstimator):
    """Fits nothing; scores by its first column."""

    classes_ = np.array([False, True])

    def fit(self, x: Any, y: Any) -> Line:
        return self

    def predict_proba(self, x: Any) -> Any:
        return np.column_stack([1 - x[:, 0], x[:, 0]])


def streamed() -> cl.results.Evaluation:
    import duckdb

    connection = duckdb.connect()
    frame = {"y": Y.astype(int), "p": P}  # noqa: F841  (read by DuckDB)
    connection.execute("CREATE TABLE t AS SELECT unnest(?) AS y, unnest(?) AS p", [Y.astype(int).tolist(), P.tolist()])
    return cl.evaluate(connection, query="SELECT * FROM t", label="y", score="p", stream=True, **FEW)


def segments() -> cl.results.Segments:
    return cl.evaluate(Y, P, by=PARTS, measures=["roc_auc", "recall"], **FEW).segments


def comparison() -> cl.results.Comparison:
    return cl.compare(Y, {"p": P, "q": Q}, quota=10, **FEW)


def evaluation() -> cl.results.Evaluation:
    return cl.evaluate(Y, P, quota=10, **FEW)


def batched() -> cl.results.Evaluation:
    return cl.evaluate(Y, P, batch=np.arange(N) % 6, quota=3, **FEW)


MATRIX = np.column_stack([P, Q, 1 - P])
MAKE: dict[str, Callable[[], Any]] = {
    "Estimate": lambda: evaluation()["pem"],
    "Interval": lambda: evaluation()["pem"].interval,
    "Evaluation": evaluation,
    "Evaluation weighted": lambda: cl.evaluate(Y, P, sample_weight=np.arange(1.0, N + 1), **FEW),
    "Evaluation clustered": lambda: cl.evaluate(Y, P, clusters=np.arange(N) // 3, **FEW),
    "Evaluation streamed": streamed,
    "Comparison": comparison,
    "Comparison unpaired": lambda: cl.compare({"p": Y, "q": Y[:50]}, {"p": P, "q": Q[:50]}, paired=False, **FEW),
    "Curve": lambda: evaluation().curve("roc"),
    "Band": lambda: evaluation().curve("roc").band(),
    "Difference": lambda: comparison().difference("p", "q", "pem"),
    "Verdict": lambda: comparison().verdict("pem"),
    "Measure": lambda: cl.measure("pem"),
    "Spec": lambda: cl.parse_measure("qrecall@5%"),
    "Table": lambda: comparison().differences,
    "OperatingPoint": lambda: evaluation().at(quota=10),
    "Segments": lambda: segments(),
    "SegmentDifferences": lambda: segments().differences(),
    "SharedList": lambda: segments().at(quota=10),
    "Trend": lambda: segments().trend("roc_auc"),
    "SegmentComparison": lambda: cl.compare(Y, {"p": P, "q": Q}, by=PARTS, measures=["roc_auc"], **FEW).segments,
    "Evaluation batches": lambda: batched(),
    "BatchPoint": lambda: batched().at(quota=3),
    "ListSizePoint": lambda: evaluation().at(quota=10, list_size=500),
    "BatchRules": lambda: batched().batches.rules(),
    "EvaluatedBatches": lambda: batched().batches,
    "Recommendation": lambda: comparison().recommend("unknown quota"),
    "Plan": lambda: cl.plan(Y, P, cost=1, value=3, **FEW),
    "Selection": lambda: cl.select(P, 10),
    "Screening": lambda: cl.screen(Y, [(P, 30), (Q, 10)]),
    "Uplift": lambda: cl.uplift(Y, Q, P),
    "UpliftComparison": lambda: cl.uplift(Y, Q > 0.5, {"p": P, "q": Q}),
    "SelectiveVoting": lambda: cl.papers.selective_voting(Y, {"p": P, "q": Q, "r": P + Q}, quota=10),
    "PermutationTest": lambda: cl.permutation_test(Line(), P[:, None], Y, P[:, None], Y, n_permutations=20, n_jobs=1),
    "OutOfBag": lambda: cl.bootstrap_oob(Line(), P[:, None], Y, n_resamples=10, n_jobs=1),
    "CrossValidation": lambda: evaluate_cv(Line(), P[:, None], Y, cv=3, measures=["roc_auc"]),
    "CrossValidatedComparison": lambda: evaluate_cv(
        {"a": Line(), "b": Line()}, np.c_[P, Q], Y, cv=3, measures=["roc_auc", "recall"]
    ),
    "LabelPlan": lambda: cl.label_plan(P, budget=20, measure="qrecall@10"),
    "Extrapolation": lambda: cl.extrapolate(RNG.random((20, 10)), RNG.integers(0, 10, 20), k=[20], interval=False),
    "SelectionPower": lambda: cl.papers.selection_power(
        lambda rng, n: (x := rng.random(n), rng.random(n) < x),
        {"a": lambda x: x, "b": lambda x: -x},
        ["roc_auc"],
        better="a",
        n_rounds=2,
        n_sets=3,
        set_size=20,
    ),
}
CLASSES = RNG.integers(0, 3, N)


def diagnosis() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.csv"
        path.write_text("\n".join(["y,p", *(f"{int(y)},{p}" for y, p in zip(Y, P, strict=True))]), encoding="utf-8")
        return cl.doctor(path)


ALSO: dict[str, Callable[[], Any]] = {
    "Cut": lambda: cl.threshold_for(Y, P, recall=0.8),
    "Check": lambda: cl.check(evaluation(), "roc_auc >= 0.5"),
    "ClassEvaluation": lambda: cl.evaluate(CLASSES, MATRIX, measures=["accuracy"], **FEW),
    "Confusion": lambda: cl.evaluate(CLASSES, MATRIX, measures=["accuracy"], **FEW).confusion,
    "RiskCoverage": lambda: cl.evaluate(CLASSES, MATRIX, measures=["accuracy"], **FEW).risk_coverage(),
    "ClassComparison": lambda: cl.compare(CLASSES, {"a": MATRIX, "b": MATRIX[:, ::-1]}, **FEW),
    "SwapSet": lambda: swaps(evaluation().sample, cl.evaluate(Y, Q, interval=None).sample, 10),
    "Consistency": lambda: cl.compare(Y, {"p": P, "q": Q}, threshold=0.5, measures=["roc_auc"], **FEW).consistency(
        "p", "q"
    ),
    "DecisionCurve": lambda: costs.decision_curve(evaluation().sample),
    "Cheapest": lambda: costs.cheapest(
        {"p": evaluation().sample}, {"p": evaluation().ranking}, costs.ErrorPrices(1.0, 5.0, None), **FEW
    ),
    "Calibration": lambda: calibrate(evaluation().sample, evaluation().ranking, **FEW),
    "Quotas": lambda: cl.Quotas.of({10: 1, 20: 3}),
    "GrowthComparison": lambda: cl.extrapolate(
        {"a": RNG.random((20, 10)), "b": RNG.random((20, 10))}, RNG.integers(0, 10, 20), k=[20], n_resamples=3
    ),
    "GrowthTable": lambda: cl.extrapolate(
        RNG.random((20, 10)), RNG.integers(0, 10, 20), review=0.2, k=[20], n_resamples=5
    ),
    "PemAreas": lambda: cl.papers.pem_areas(Y, P),
    "Diagnosis": lambda: diagnosis(),
    "Decomposition": lambda: cl.papers.linear_ranking_decomposition(Y, P, P),
    "SelectorDifferences": lambda: cl.papers.selector_differences(Y, P, Q),
}
EVERY = {**MAKE, **ALSO}


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    return {}


def result_of(name: str, made: dict[str, Any]) -> Any:
    if name not in made:
        made[name] = EVERY[name]()
    return made[name]


def same(a: Any, b: Any) -> bool:
    """Alike in what they show."""
    return repr(a) == repr(b)


@pytest.mark.parametrize("name", EVERY)
def test_results_have_a_hash_and_mappings_that_cannot_be_written_to(name: str, made: dict[str, Any]) -> None:
    result = result_of(name, made)
    again = pickle.loads(pickle.dumps(result))
    if name != "Table":
        assert isinstance(hash(result), int)
    for one in (result, again, copy.copy(result), copy.deepcopy(result)):
        for attribute in ("facts", "estimates", "specs", "evaluations", "comparisons", "models", "fits", "weights"):
            held = getattr(one, attribute, None)
            if isinstance(held, Mapping):
                assert len(held)
                with pytest.raises(TypeError):
                    held["x"] = 1  # type: ignore[index]


@pytest.mark.parametrize("name", EVERY)
def test_to_dict_holds_what_json_knows(name: str, made: dict[str, Any]) -> None:
    result = result_of(name, made)
    if hasattr(result, "to_dict"):
        assert json.dumps(result.to_dict())


def test_what_is_not_in_a_mapping_of_segments_has_a_default() -> None:
    for result in (segments(), EVERY["SegmentComparison"]()):
        assert result.get("zz") is None
        assert "zz" not in result
        assert result.get(0) is result[0] is result["0"]
        with pytest.raises(cl.InputError, match="there is no segment 'zz'; choose from '0', '1', '2'"):
            result["zz"]


@pytest.mark.parametrize("name", EVERY)
def test_results_pickle_copy_and_show(name: str, made: dict[str, Any]) -> None:
    result = result_of(name, made)
    shown = repr(result)
    assert shown
    assert " object at 0x" not in shown
    for other in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)):
        assert type(other) is type(result)
        assert same(other, result)
        for method in ("to_dicts", "to_json"):
            if hasattr(result, method):
                assert getattr(other, method)() == getattr(result, method)() or method == "to_dicts"


@pytest.mark.parametrize("name", EVERY)
def test_results_compare_without_an_error(name: str, made: dict[str, Any]) -> None:
    result = result_of(name, made)
    other = pickle.loads(pickle.dumps(result))
    assert isinstance(result == other, bool)
    assert isinstance(result != other, bool)
    assert result == result
    assert result != "another"
    assert (result in [other, result]) is True


def test_no_public_result_is_forgotten() -> None:
    kinds = {type(make()).__name__ for name, make in EVERY.items()}
    public = {
        name: getattr(room, name)
        for room in (cl, cutline.results, cutline.papers, cutline.extrapolation)
        for name in room.__all__
    }
    results = {name for name, value in public.items() if inspect.isclass(value) and not issubclass(value, Exception)}
    parts = {"Favorability", "FunctionBasis", "GrowthMethod", "LinearSpline", "Note", "Observed"}
    assert results - parts <= kinds


def test_a_comparison_is_a_mapping_of_its_models() -> None:
    cmp = comparison()
    assert isinstance(cmp, Mapping)
    assert list(cmp) == ["p", "q"]
    assert "p" in cmp
    assert "z" not in cmp
    assert dict(cmp)["q"] is cmp["q"]
    assert [name for name, ev in cmp.items() if ev["pem"].value == cmp[name]["pem"].value] == ["p", "q"]


def test_what_is_asked_after_pickling_is_the_same() -> None:
    for name in ("Evaluation", "Evaluation weighted", "Evaluation clustered"):
        ev = EVERY[name]()
        other = pickle.loads(pickle.dumps(ev))
        assert repr(other.at(recall=0.5)) == repr(ev.at(recall=0.5))
        assert other.facts == ev.facts
        for curve in ("roc", "tpr_fpr", "precision_recall"):
            band, again = ev.curve(curve).band(), other.curve(curve).band()
            np.testing.assert_array_equal(again.low, band.low)
    cmp = comparison()
    other = pickle.loads(pickle.dumps(cmp))
    assert other.differences.to_json() == cmp.differences.to_json()
    assert other.dominance().to_json() == cmp.dominance().to_json()


def test_a_streamed_evaluation_says_what_it_cannot_show(made: dict[str, Any]) -> None:
    ev = result_of("Evaluation streamed", made)
    assert type(ev) is cl.results.Evaluation
    with pytest.raises(cl.InputError, match="were streamed"):
        ev.curve("roc").band()
    with pytest.raises(cl.InputError, match="were not kept in memory"):
        _ = ev.sample


MILLION = """
import pickle, sys, time
import numpy as np
import cutline as cl
from cutline.decide import error_costs as costs
from cutline.decide.calibration import calibrate
from cutline.decide.model_choice import swaps
rng = np.random.default_rng(0)
n = 1_000_000
p = rng.random(n)
ev = cl.evaluate(rng.random(n) < p, p, measures=["roc_auc", "recall"])
r = ev.ranking
needs = r.score.nbytes + r.pos.nbytes + r.neg.nbytes
text = pickle.dumps(ev)
assert len(text) < 1.02 * needs + 20_000, (len(text), needs)
sys.stdout.buffer.write(pickle.dumps(cl.evaluate(rng.random(1000) < p[:1000], p[:1000], n_resamples=20)))
"""
LOADS = """
import pickle, sys
ev = pickle.loads(sys.stdin.buffer.read())
ev["pem"].value, repr(ev), ev.curve("roc"), ev.to_json()
assert "sklearn" not in sys.modules
"""


def test_a_pickle_is_as_small_as_its_ranking_and_loads_without_scikit_learn() -> None:
    written = subprocess.run([sys.executable, "-c", MILLION], capture_output=True, check=True).stdout
    subprocess.run([sys.executable, "-c", LOADS], input=written, check=True)


def test_metrics_have_flat_names_that_trackers_take() -> None:
    ev = cl.evaluate(Y, P, measures=["roc_auc", "qrecall@5%", "f_beta(beta=2)", "quota_lift@10"], **FEW)
    metrics = ev.to_metrics()
    assert metrics["roc_auc"] == ev["roc_auc"].value
    assert (metrics["qrecall_at_5pct_low"], metrics["qrecall_at_5pct_high"]) == ev["qrecall@5%"].interval
    assert {"f_beta_beta_2", "quota_lift_at_10"} <= set(metrics)
    assert all(re.fullmatch(r"\w+", name) and isinstance(value, float) for name, value in metrics.items())
    bare = cl.evaluate(Y, P, measures=["roc_auc"], interval=None).to_metrics()
    assert bare == {"roc_auc": ev["roc_auc"].value}
    several = cl.evaluate(np.arange(N) % 3, MATRIX, measures=["macro(f1)"], **FEW).to_metrics()
    assert set(several) == {"macro_f1", "macro_f1_low", "macro_f1_high"}


def test_tables_as_latex() -> None:
    table = cl.results.Table(
        [{"a_b": "50% & more", "n": 1.5}, {"a_b": r"\x{^~", "n": -2.0}, {"a_b": "√p ≥ n⁺ > 1 – 2 · x|y…"}]
    )
    assert table.to_latex().splitlines() == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"a\_b & n \\",
        r"\midrule",
        r"50\% \& more & 1.5000 \\",
        r"\textbackslash x\{\textasciicircum{}\textasciitilde{} & $-$2 \\",
        r"$\surd$p $\geq$ n$^+$ $>$ 1 -- 2 $\cdot$ x$|$y\ldots{} & -- \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    lines = evaluation().to_latex().splitlines()
    assert lines[0] == r"\begin{tabular}{lrrr}"
    assert any(line.startswith(r"roc\_auc & ") for line in lines)
    assert comparison().differences.to_latex().count(r"\\") == len(comparison().differences) + 1


@pytest.mark.parametrize("name", EVERY)
def test_latex_has_only_what_pdflatex_takes(name: str, made: dict[str, Any]) -> None:
    result = result_of(name, made)
    if hasattr(result, "to_latex"):
        assert re.fullmatch(r"[ -~\n]*", latex := result.to_latex())
        assert not re.search(r"(?<!\$)[<>|]|[^$\\]_|[ &]-\d", latex)


def test_a_comparison_as_latex_has_models_side_by_side_and_then_their_differences() -> None:
    cmp = cl.compare(Y, {"p": P, "q": Q}, measures=["roc_auc", "root_mean_squared_error"], **FEW)
    models, differences = cmp.to_latex().split("\n\n")
    values = " & ".join(f"{e.value:.4f}  [{e.low:.4f}, {e.high:.4f}]" for e in (cmp[m]["roc_auc"] for m in "pq"))
    assert models.splitlines()[2:5:2] == [r"measure & p & q \\", rf"roc\_auc & {values} \\"]
    assert r"root\_mean\_squared\_error & p $-$ q & $-$0." in differences
    assert "p (Holm)" in differences
    segments = EVERY["SegmentComparison"]().to_latex()
    assert segments.splitlines()[2] == r"segment & model & measure & value & low & high \\"


def test_markdown_for_a_model_card() -> None:
    text = evaluation().to_markdown()
    assert text.startswith(repr(evaluation()).partition("\n")[0])
    assert "|---|" in text
