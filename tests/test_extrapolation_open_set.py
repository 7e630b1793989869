"""Strangers, comparisons one to one, candidate lists, and classifiers that are retrained at several sizes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

import cutline as cl
from cutline.errors import InputError
from cutline.extrapolation import (
    GrowthTable,
    extrapolate_cost,
    extrapolate_open_set,
    extrapolate_pairs,
    extrapolate_training,
)
from test_cli import refused, run


def near(probes: np.ndarray, gallery: np.ndarray) -> np.ndarray:
    square = (probes**2).sum(axis=1)[:, None] + (gallery**2).sum(axis=1)[None] - 2 * probes @ gallery.T
    return -np.sqrt(np.maximum(square, 0.0))


def test_open_set_rates_at_ten_times_the_gallery() -> None:
    rng = np.random.default_rng(1)
    gallery = rng.normal(size=(3000, 12))
    probes, strangers = gallery + 0.35 * rng.normal(size=gallery.shape), rng.normal(size=(1500, 12))
    known = slice(0, 300)
    ex = extrapolate_open_set(
        near(probes[known], gallery[known]), strangers=near(strangers[:600], gallery[known]), k=[300, 3000], fpir=0.05
    )
    of_strangers = near(strangers, gallery).max(axis=1)
    threshold = np.quantile(of_strangers, 0.95)
    scores = near(probes, gallery)
    right = scores.argmax(axis=1) == np.arange(3000)
    truth = 1.0 - np.mean(right & (scores[np.arange(3000), np.arange(3000)] > threshold))
    assert ex[3000].value == pytest.approx(truth, abs=0.08)
    assert ex[3000].low <= truth <= ex[3000].high
    assert ex[300].value < ex[3000].value
    rows = ex.to_dicts()
    assert rows[1]["threshold"] > rows[0]["threshold"]
    assert rows[0]["fpir_at_current_threshold"] == pytest.approx(0.05, abs=0.005)
    # The threshold of the small gallery lets many more strangers pass in the large one.
    assert rows[1]["fpir_at_current_threshold"] == pytest.approx(np.mean(of_strangers > rows[0]["threshold"]), abs=0.15)


def test_open_set_counts_distances_alike_and_refuses_other_columns() -> None:
    rng = np.random.default_rng(2)
    gallery = rng.normal(size=(80, 8))
    probes, strangers = gallery + 0.3 * rng.normal(size=gallery.shape), rng.normal(size=(100, 8))
    one = extrapolate_open_set(near(probes, gallery), strangers=near(strangers, gallery), k=[800], fpir=0.1)
    other = extrapolate_open_set(
        -near(probes, gallery), strangers=-near(strangers, gallery), k=[800], fpir=0.1, distance=True
    )
    assert one[800] == other[800]
    assert one.to_dicts()[0]["threshold"] == -other.to_dicts()[0]["threshold"]
    with pytest.raises(InputError, match="strangers has 79 columns for the 80 of the enrolled"):
        extrapolate_open_set(near(probes, gallery), strangers=near(strangers, gallery)[:, :79], k=[800])
    with pytest.raises(InputError, match="k is 5, which was not asked for"):
        one[5]


def softmax(scores: np.ndarray) -> np.ndarray:
    share = np.exp(scores - scores.max(axis=1, keepdims=True))
    return share / share.sum(axis=1, keepdims=True)


def some_people(n: int = 200, noise: float = 0.6) -> tuple[np.ndarray, np.ndarray]:
    """Scores of one probe per class, and of strangers."""
    rng = np.random.default_rng(0)
    gallery = rng.normal(size=(n, 16))
    return near(gallery + noise * rng.normal(size=gallery.shape), gallery), near(rng.normal(size=(600, 16)), gallery)


@pytest.mark.parametrize("sharpness", [1.0, 3.0, 8.0])
def test_probabilities_of_probes_and_strangers_are_read_alike(sharpness: float) -> None:
    probes, strangers = (softmax(sharpness * scores) for scores in some_people())
    found = extrapolate_open_set(probes, strangers=strangers, k=[200], fpir=0.05, n_resamples=20)
    threshold = np.quantile(strangers.max(axis=1), 0.95)
    right = probes.argmax(axis=1) == np.arange(200)
    truth = 1.0 - np.mean(right & (np.diag(probes) > threshold))
    assert found[200].value == pytest.approx(truth, abs=0.12)
    assert found.to_dicts()[0]["threshold"] == pytest.approx(threshold, abs=0.15)
    assert [note.kind for note in found.notes] == ["probabilities"]
    assert "only a guide" in found.notes[0]


def test_probabilities_of_zero_in_per_cent_and_as_complements_are_read_as_others() -> None:
    probes, strangers = (softmax(3.0 * scores) for scores in some_people(20))
    asked = {"k": 20, "fpir": 0.1, "n_resamples": 5}
    one = extrapolate_open_set(probes, strangers=strangers, **asked)
    per_cent = extrapolate_open_set(100 * probes, strangers=100 * strangers, **asked)
    assert per_cent[20].value == pytest.approx(one[20].value)
    assert per_cent.to_dicts()[0]["threshold"] == pytest.approx(100 * one.to_dicts()[0]["threshold"])
    far = extrapolate_open_set(1 - probes, strangers=1 - strangers, distance=True, **asked)
    assert far[20].value == pytest.approx(one[20].value)
    assert far.to_dicts()[0]["threshold"] == pytest.approx(1 - one.to_dicts()[0]["threshold"])
    rounded = extrapolate_open_set(probes.round(4), strangers=strangers.round(4), **asked)
    assert (probes.round(4) == 0).any()
    assert (strangers.round(4) == 0).any()
    assert rounded[20].value == pytest.approx(one[20].value, abs=0.1)
    assert extrapolate_cost(probes.round(4), cost=1 - np.eye(20), k=20, n_resamples=5)[20].value == pytest.approx(
        extrapolate_cost(probes, cost=1 - np.eye(20), k=20, n_resamples=5)[20].value
    )
    with pytest.raises(InputError, match="strangers: row 0 is not a probability, but scores are"):
        extrapolate_open_set(probes, strangers=np.log(strangers))
    with pytest.raises(InputError, match="scores: row 0 has an infinite score"):
        extrapolate_open_set(np.where(np.eye(20) > 0, np.inf, -1.0 - probes), strangers=strangers)


def test_scores_upside_down_and_labels_from_one_are_noted() -> None:
    probes, strangers = some_people(60)

    def kinds(found: GrowthTable) -> set[str]:
        return {note.kind for note in found.notes}

    few = {"k": 60, "n_resamples": 5}
    costs = {"cost": 1 - np.eye(60), **few}
    from_one = np.arange(1, 60)
    assert "upside_down" in kinds(extrapolate_open_set(-probes, strangers=-strangers, **few))
    assert "upside_down" in kinds(extrapolate_cost(-probes, **costs))
    assert "shifted_labels" in kinds(extrapolate_open_set(probes[:59], from_one, strangers=strangers, **few))
    assert "shifted_labels" in kinds(extrapolate_cost(probes[:59], from_one, **costs))
    genuine, impostor = np.diag(probes), probes[~np.eye(60, dtype=bool)]
    assert "upside_down" not in kinds(extrapolate_pairs(genuine, impostor, **few))
    assert "upside_down" in kinds(extrapolate_pairs(-genuine, -impostor, **few))
    assert "upside_down" in kinds(extrapolate_pairs(genuine, impostor, distance=True, **few))


@pytest.mark.parametrize("templates", ["best", "mean"])
@pytest.mark.parametrize("distance", [False, True])
def test_open_set_takes_several_columns_of_a_class(templates: str, distance: bool) -> None:
    probes, strangers = (-scores if distance else scores for scores in some_people(40))
    rng = np.random.default_rng(1)
    class_of_column = rng.permutation(np.tile(np.arange(20), 2))
    names = [f"person {number}" for number in class_of_column]
    of = {"best": np.min if distance else np.max, "mean": np.mean}[templates]
    order = list(dict.fromkeys(class_of_column.tolist()))

    def per_class(scores: np.ndarray) -> np.ndarray:
        return np.stack([of(scores[:, class_of_column == one], axis=1) for one in order], axis=1)

    asked = {"k": [20, 200], "distance": distance, "n_resamples": 5}
    labels = [f"person {number % 20}" for number in range(40)]
    one = extrapolate_open_set(probes, labels, strangers=strangers, classes=names, templates=templates, **asked)
    other = extrapolate_open_set(
        per_class(probes), labels, strangers=per_class(strangers), classes=[f"person {n}" for n in order], **asked
    )
    assert one == other


def test_strangers_in_a_frame_are_matched_by_their_names() -> None:
    pd = pytest.importorskip("pandas")
    probes, strangers = some_people(20)
    names = [f"p{number}" for number in range(20)]
    known, unknown = pd.DataFrame(probes, columns=names), pd.DataFrame(strangers, columns=names)
    asked = {"k": 40, "n_resamples": 5}
    one = extrapolate_open_set(known, names, strangers=unknown, **asked)
    assert one == extrapolate_open_set(known, names, strangers=unknown[names[::-1]], **asked)
    assert one == extrapolate_open_set(known, names, strangers=strangers, **asked)
    with pytest.raises(InputError, match="strangers is named after 'q0'"):
        extrapolate_open_set(known, names, strangers=unknown.rename(columns={"p0": "q0"}), **asked)


@pytest.mark.filterwarnings("error")
def test_an_open_set_of_two_classes_has_an_interval_that_says_how_little_is_known() -> None:
    probes, strangers = some_people(2)
    found = extrapolate_open_set(probes, strangers=strangers, k=[2, 20])
    assert found[20].interval == (0.0, 1.0)
    assert "few_classes" in {note.kind for note in found.notes}


@pytest.mark.parametrize("heavy", [False, True])
def test_intervals_of_open_set_rates_hold_the_truth(heavy: bool) -> None:
    def draw(rng: np.random.Generator, n: int) -> np.ndarray:
        return rng.standard_t(4, (n, 12)) if heavy else rng.normal(size=(n, 12))

    def task(seed: int, n: int, unknown: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng([seed, n])
        gallery = draw(rng, n)
        probes, others = gallery + 0.4 * rng.normal(size=gallery.shape), draw(rng, unknown)
        return near(probes, gallery), near(others + 0.4 * rng.normal(size=others.shape), gallery)

    scores, strangers = task(0, 1500, 1500)
    own = np.diag(scores)
    threshold = np.quantile(strangers.max(axis=1), 0.95)
    truth = 1.0 - np.mean((scores.max(axis=1) == own) & (own > threshold))
    held = 0
    for seed in range(4):
        enrolled, unknown = task(seed + 1, 150, 300)
        found = extrapolate_open_set(enrolled, strangers=unknown, k=1500, fpir=0.05, level=0.9, n_resamples=20)
        held += found[1500].low <= truth <= found[1500].high
        assert found[1500].high - found[1500].low < 0.75
    assert held >= 3


def test_open_set_says_what_its_threshold_rests_on_and_takes_today_as_the_start() -> None:
    rng = np.random.default_rng(8)
    gallery = rng.normal(size=(60, 8))
    scores = near(gallery + 0.3 * rng.normal(size=gallery.shape), gallery)
    found = extrapolate_open_set(scores, strangers=near(rng.normal(size=(90, 8)), gallery), n_resamples=5)
    assert [row["classes"] for row in found.to_dicts()] == [60, 120, 300, 600]
    assert [note.kind for note in found.notes] == ["few_strangers"]
    assert "0.01 of 90 strangers is 0.9" in found.notes[0]
    document = json.loads(found.to_json())
    assert document["classes_seen"] == 60
    assert document["predictions"] == found.to_dicts()
    assert document["notes"] == [str(note) for note in found.notes]
    coarse = extrapolate_open_set(np.round(scores), strangers=np.round(scores), k=120, fpir=0.2, n_resamples=5)
    assert 0.0 <= coarse[120].low <= coarse[120].high <= 1.0
    with pytest.raises(InputError, match="strangers: row 0 must be finite"):
        extrapolate_open_set(scores, strangers=np.full((3, 60), np.nan))


def test_one_to_one_comparisons_give_accuracies_with_intervals_and_say_what_they_assume() -> None:
    from scipy.special import ndtr

    rng = np.random.default_rng(9)
    truth = np.mean(ndtr(rng.normal(3.5, 1.0, 10**5)) ** 499)
    held = 0
    for _ in range(10):
        found = extrapolate_pairs(
            rng.normal(3.5, 1.0, 300), rng.normal(size=6000), k=[100, 500], level=0.9, n_resamples=60
        )
        held += found[500].low <= truth <= found[500].high
    assert held >= 7
    assert found.notes[0].kind == "one_law"
    assert "one distribution" in repr(found)
    alike = extrapolate_pairs(["1", "0"], [0.0] * 30, k=3, n_resamples=5)  # nothing but ties, as text
    assert alike[3].value == pytest.approx((1.0 + 0.5**2) / 2.0)  # a tie is half a win
    with pytest.raises(InputError, match="genuine"):
        extrapolate_pairs(["a"], [0.0] * 30, k=3)
    with pytest.raises(InputError, match="impostor has 3 scores"):
        extrapolate_pairs([1.0], [1.0, 2.0, 3.0], k=10)


def test_the_command_line_tells_open_set_rates_and_one_to_one_accuracies_as_the_library_does(tmp_path: Path) -> None:
    rng = np.random.default_rng(10)
    gallery = rng.normal(size=(30, 6))
    names = [f"p{number}" for number in range(30)]
    scores = near(gallery + 0.3 * rng.normal(size=gallery.shape), gallery)
    strangers = near(rng.normal(size=(80, 6)), gallery)

    def write(name: str, header: list[str], rows: Iterable[Iterable[object]]) -> str:
        path = tmp_path / name
        path.write_text("\n".join(",".join(map(str, row)) for row in [header, *rows]))
        return str(path)

    probes = write("probes.csv", ["who", *names], ([n, *row] for n, row in zip(names, scores.tolist(), strict=True)))
    # The strangers' columns may stand in another order.
    unknown = write("unknown.csv", names[::-1], strangers[:, ::-1].tolist())
    found = extrapolate_open_set(scores, names, classes=names, strangers=strangers, k=[60], fpir=0.1, n_resamples=5)
    asked = ("extrapolate", probes, "--label", "who", "--strangers", unknown, "--fpir", "0.1", "--classes", "60")
    told = json.loads(run(*asked, "--resamples", "5", "--format", "json").stdout)
    assert told["predictions"] == found.to_dicts()
    assert told["fpir"] == 0.1
    text = run(*asked, "--resamples", "5").stdout
    assert f"{found[60].value:.4f}" in text
    assert "FNIR at FPIR 0.1" in text
    assert refused(*asked, "--top", "5") == "--top does not apply with --strangers"
    assert refused("extrapolate", "absent.csv", "--top", "0") == "--top must be a whole number of at least 1, got 0"

    genuine, impostor = rng.normal(3, 1, 40), rng.normal(size=200)
    rows = [*(("yes", value) for value in genuine.tolist()), *(("no", value) for value in impostor.tolist())]
    pairs = write("pairs.csv", ["same", "score"], rows)
    asked = ("extrapolate", pairs, "--pairs", "score", "--label", "same", "--positive", "yes", "--resamples", "5")
    told = json.loads(run(*asked, "--classes", "50", "--format", "json").stdout)
    expected = extrapolate_pairs(genuine, impostor, k=[50], n_resamples=5)
    assert told["predictions"] == expected.to_dicts()
    assert told["notes"] == [str(note) for note in expected.notes]
    printed = " ".join(run(*asked, "--classes", "50").stdout.split())
    assert str(expected.notes[0]) in printed
    assert "needs --classes" in refused(*asked)
    assert refused("extrapolate", pairs, "--fpir", "0.1").startswith("--fpir does not apply")


class Tensor:
    """Stands in for a tensor elsewhere: gives an array only once detached and brought to the CPU."""

    def __init__(self, values: np.ndarray, *, there: bool = True) -> None:
        self.values, self.there = values, there

    def detach(self) -> Tensor:
        return Tensor(self.values)

    def cpu(self) -> Tensor:
        return Tensor(self.values, there=False)

    def __array__(self, dtype: object = None, copy: bool | None = None) -> np.ndarray:
        if self.there:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad")
        return self.values


def test_one_to_one_scores_may_be_tensors_with_gradients() -> None:
    rng = np.random.default_rng(0)
    genuine, impostor = rng.normal(4.0, 1.0, 50), rng.normal(size=200)
    one = extrapolate_pairs(genuine, impostor, k=100, n_resamples=5)
    assert extrapolate_pairs(Tensor(genuine), Tensor(impostor), k=100, n_resamples=5) == one


def test_one_to_one_scores_hold_where_impostors_follow_one_law_and_not_where_they_do_not() -> None:
    rng = np.random.default_rng(3)
    genuine = rng.normal(3.5, 1.0, size=400)
    same_law = rng.normal(size=(400, 999))
    truth = float(np.mean(genuine > same_law.max(axis=1)))
    made = extrapolate_pairs(genuine, rng.normal(size=40_000), k=1000, n_resamples=2)
    assert made[1000].value == pytest.approx(truth, abs=0.04)
    place = rng.normal(0.0, 1.0, size=(400, 1))  # every case has its own level of scores
    made = extrapolate_pairs(genuine + place[:, 0], (same_law[:, :100] + place).ravel(), k=1000, n_resamples=2)
    assert made[1000].value < truth - 0.1


def test_candidate_lists_are_ranks_with_the_rest_below() -> None:
    rng = np.random.default_rng(4)
    people = rng.normal(size=(60, 5))
    scores = near(people + 0.4 * rng.normal(size=people.shape), people)
    listed = np.where(scores >= np.sort(scores, axis=1)[:, -10:-9], scores, np.nan)
    whole = cl.extrapolate(scores, method="mixture", interval=False)
    ex = cl.extrapolate(listed, k=[120], candidates=True, method="mixture", interval=False)
    assert ex.observed.test_accuracy == whole.observed.test_accuracy
    assert ex.observed[30].value == pytest.approx(whole.observed[30].value, abs=0.02)
    with pytest.raises(InputError, match=r"candidates=True"):
        cl.extrapolate(listed)


def test_retraining_follows_what_is_seen_for_a_classifier_that_is_not_marginal() -> None:
    neighbors = pytest.importorskip("sklearn.neighbors")
    rng = np.random.default_rng(5)
    labels = np.repeat(np.arange(160), 8)
    points = rng.normal(size=(160, 4))[labels] + 0.35 * rng.normal(size=(labels.size, 4))
    seen = labels < 40
    ex = extrapolate_training(
        neighbors.KNeighborsClassifier(5), points[seen], labels[seen], sizes=[10, 20, 40], k=[160], n_rounds=6
    )
    truths = []
    for number in range(3):
        test = np.random.default_rng(number).random(labels.size) < 0.5
        model = neighbors.KNeighborsClassifier(5).fit(points[~test], labels[~test])
        truths.append(np.mean(model.predict(points[test]) == labels[test]))
    assert ex.accuracy(160).value == pytest.approx(np.mean(truths), abs=0.12)
    assert ex.accuracy(160).low <= ex.accuracy(160).value <= ex.accuracy(160).high
    with pytest.raises(InputError, match="sizes is"):
        extrapolate_training(neighbors.KNeighborsClassifier(5), points[seen], labels[seen], sizes=[10, 50])


def test_splines_with_other_knots_and_constraints() -> None:
    from cutline.extrapolation.curve_methods import FunctionBasis, LinearSpline
    from cutline.extrapolation.tasks import TaskEvidence

    k = np.arange(2.0, 41.0)
    evidence = TaskEvidence(40, pairs=(k, 0.3 + 0.7 * 2 * (1 - 0.5**k) / k))  # U uniform on (½, 1), or 1
    fits = {
        c: LinearSpline(knots=tuple(np.arange(0, 1, 0.05)), constraint=c).fit(evidence)
        for c in ("convex", "monotone", "none")
    }
    residual = {c: np.linalg.norm(fit.accuracy(k) - evidence.curve[1]) for c, fit in fits.items()}
    assert residual["none"] <= residual["monotone"] + 1e-9
    assert residual["monotone"] <= residual["convex"] + 1e-9
    u = np.linspace(0, 0.999, 200)
    assert (np.diff(fits["monotone"](u)) >= -1e-9).all()
    for fit in fits.values():
        assert fit.accuracy(80)[0] == pytest.approx(0.3 + 0.7 * 2 / 80, abs=5e-3)
    own = FunctionBasis((lambda u: np.clip(2 * u - 1, 0, None), lambda u: u)).fit(evidence)
    assert own.accuracy(80)[0] == pytest.approx(0.3 + 0.7 * 2 / 80, abs=5e-3)
    with pytest.raises(InputError, match="constraint is 'wavy'"):
        LinearSpline(constraint="wavy")  # type: ignore[arg-type]


def test_bases_without_functions_and_constraints_without_meaning_are_refused() -> None:
    from cutline.extrapolation.curve_methods import FunctionBasis, LinearSpline

    for constraint in ("convex", "monotone", "none"):
        with pytest.raises(InputError, match="knots is empty; give one knot"):
            LinearSpline(knots=(), constraint=constraint)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="functions is empty; give one function"):
        FunctionBasis(())
    with pytest.raises(InputError, match="constraint is 'monotone'; choose one of convex, none"):
        FunctionBasis((np.square,), constraint="monotone")  # type: ignore[arg-type]
