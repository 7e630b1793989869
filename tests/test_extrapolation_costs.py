"""Costs of confusions among more classes."""

from __future__ import annotations

import pickle
from itertools import combinations, permutations, product

import numpy as np
import pytest

import cutline as cl
from cutline.errors import InputError


def task(n: int, seed: int = 0, noise: float = 0.4) -> tuple[np.ndarray, np.ndarray]:
    """Scores of one case per class, and the places of the classes."""
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(n, 4))
    probes = places + noise * rng.normal(size=places.shape)
    return -np.linalg.norm(probes[:, None] - places, axis=2), places


def test_up_to_the_classes_seen_it_is_the_mean_over_all_smaller_tasks() -> None:
    scores, _ = task(7, noise=0.9)
    cost = np.random.default_rng(1).uniform(1, 5, size=(7, 7)) * (1 - np.eye(7))
    found = cl.extrapolate(scores, costs=cost, k=[2, 4, 7], n_resamples=2)
    for k in (2, 4, 7):
        costs = [
            cost[own, part[int(scores[own, list(part)].argmax())]] for part in combinations(range(7), k) for own in part
        ]
        assert found[k].value == pytest.approx(np.mean(costs))


def test_zeros_and_ones_give_the_error_rate_at_every_size() -> None:
    scores, _ = task(40)
    names = [f"class {number}" for number in range(40)][::-1]
    found = cl.extrapolate(scores, names, classes=names, costs=1 - np.eye(40), k=[20, 40, 400], n_resamples=10)
    ex = cl.extrapolate(scores, names, classes=names, k=[400], n_resamples=10)
    for k in (20, 40, 400):
        expected = ex.accuracy(k)
        assert found[k].value == pytest.approx(1 - expected.value)
        assert found[k].low == pytest.approx(1 - expected.high, abs=1e-6)
        assert found[k].high == pytest.approx(1 - expected.low)


@pytest.mark.parametrize("kind", ["distance", "family"])
def test_the_cost_among_ten_times_as_many_classes_is_held(kind: str) -> None:
    def price(places: np.ndarray) -> np.ndarray:
        if kind == "distance":
            return np.linalg.norm(places[:, None] - places, axis=2)
        side = places[:, 0] > 0
        return np.where(side[:, None] == side, 0.1, 1.0) * (1 - np.eye(len(places)))

    scores, places = task(1000, seed=99)
    truth = price(places)[np.arange(1000), scores.argmax(axis=1)].mean()
    held, naive, near = 0, [], []
    for seed in range(3):
        scores, places = task(100, seed=seed)
        cost = price(places)
        found = cl.extrapolate(scores, costs=cost, k=[1000], level=0.9, n_resamples=8, seed=seed)
        held += found[1000].low <= truth <= found[1000].high
        row = found.to_dicts()[0]
        seen = cost[np.arange(100), scores.argmax(axis=1)]
        naive.append((1 - row["accuracy"]) * seen[seen > 0].mean() - truth)
        near.append(row["cost"] - truth)
    assert held >= 2
    assert abs(np.mean(near)) < abs(np.mean(naive))  # an error among more classes costs less than one seen


@pytest.mark.parametrize(
    ("cost", "said"),
    [
        (np.ones((7, 6)), "costs is 7 × 6 for 7 classes"),
        (np.ones((7, 7)), "right answer"),
        (-1.0 * (1 - np.eye(7)), "below 0"),
        (np.where(np.eye(7) > 0, 0.0, np.nan), "missing"),
    ],
)
def test_costs_that_cannot_be_are_refused(cost: np.ndarray, said: str) -> None:
    with pytest.raises(InputError, match=said):
        cl.extrapolate(task(7)[0], costs=cost)


def test_costs_in_a_frame_are_matched_by_their_names() -> None:
    pd = pytest.importorskip("pandas")
    scores = task(7)[0]
    cost = np.arange(49.0).reshape(7, 7) * (1 - np.eye(7))
    names = list("abcdefg")
    turned = names[::-1]
    asked = {"k": 7, "n_resamples": 5}
    truth = cl.extrapolate(scores, costs=cost, **asked).to_json()
    frame = pd.DataFrame(cost, names, names)
    known = pd.DataFrame(scores, columns=names)
    for given in (frame, frame.loc[turned], frame[turned], frame.loc[turned, turned]):
        assert cl.extrapolate(known, names, costs=given, **asked).to_json() == truth
        assert cl.extrapolate(scores, names, costs=given, classes=names, **asked).to_json() == truth
    # Rows without names are in the order of the columns.
    assert (
        cl.extrapolate(known, names, costs=frame.loc[turned, turned].reset_index(drop=True), **asked).to_json() == truth
    )
    # Numbers: of the columns, or the names given.
    by_number = pd.DataFrame(cost)
    assert cl.extrapolate(scores, np.arange(7), costs=by_number.loc[::-1, ::-1], **asked).to_json() == truth
    labels = np.arange(10, 80, 10)
    by_label = pd.DataFrame(cost, labels, labels).loc[::-1, ::-1]
    assert cl.extrapolate(scores, labels, classes=labels, costs=by_label, **asked).to_json() == truth
    # Nobody has named the classes: the order counts.
    assert cl.extrapolate(scores, costs=frame, **asked).to_json() == truth
    for wrong in (frame.rename(columns={"a": "x"}), frame.rename(index={"a": "x"}), frame.rename(index={"a": "b"})):
        with pytest.raises(InputError, match=r"costs is named after '.*but the classes are 'a', 'b', 'c'"):
            cl.extrapolate(known, names, costs=wrong, **asked)


@pytest.mark.filterwarnings("error")
def test_two_classes_have_an_interval_beyond_them_and_equal_their_copy() -> None:
    found = cl.extrapolate([[1.0, 0.0], [0.5, 0.2]], costs=[[0, 1], [3, 0]], k=[2, 20])
    low, high = found[20].interval
    assert 0.0 <= low <= found[20].value <= high <= 3.0
    assert np.isnan(found[2].low)
    assert "No interval among 2 classes" in found.notes[-1]
    assert pickle.loads(pickle.dumps(found)).to_json() == found.to_json()


def coarse(n: int, seed: int, values: int = 3) -> np.ndarray:
    """Scores of one case per class that take few values, so that most of them tie."""
    return np.random.default_rng(seed).integers(0, values, size=(n, n)).astype(float)


def cost_in(part: tuple[int, ...], own: int, row: np.ndarray, cost: np.ndarray, rule: str) -> float:
    """The mean cost of a case among some classes, over all orders in which their ties can be broken."""
    found = []
    for order in permutations(part):
        place = {c: order.index(c) for c in part}
        if rule != "random":
            place[own] = len(part) if rule == "optimistic" else -1
        found.append(cost[own, max(part, key=lambda c: (row[c], place[c]))])
    return float(np.mean(found))


@pytest.mark.parametrize("rule", ["random", "optimistic", "pessimistic"])
def test_ties_are_averaged_over_all_their_orders(rule: str) -> None:
    scores, cost = coarse(6, 3), np.random.default_rng(1).uniform(1, 5, size=(6, 6)) * (1 - np.eye(6))
    found = cl.extrapolate(scores, costs=cost, k=[2, 3, 5, 6], ties=rule, n_resamples=2)
    for k in (2, 3, 5, 6):
        truth = [cost_in(part, own, scores[own], cost, rule) for part in combinations(range(6), k) for own in part]
        assert found[k].value == pytest.approx(np.mean(truth))
    again = cl.extrapolate(scores, costs=cost, k=[2, 3, 5, 6], ties=rule, n_resamples=2)
    assert found.to_json() == again.to_json()


def test_the_value_does_not_depend_on_the_seed_where_scores_tie() -> None:
    scores, cost = coarse(12, 0), np.random.default_rng(1).uniform(0, 1, size=(12, 12)) * (1 - np.eye(12))
    values = {cl.extrapolate(scores, costs=cost, k=12, seed=seed, n_resamples=2)[12].value for seed in range(4)}
    assert len(values) == 1


def winners(scored: list[tuple[float, int]], own: int, rule: str) -> list[int]:
    """The classes that may come first, each with the same chance."""
    best = [c for score, c in scored if score == max(score for score, _ in scored)]
    if own in best and rule == "optimistic":
        return [own]
    return [c for c in best if c != own] if rule == "pessimistic" and len(best) > 1 else best


@pytest.mark.parametrize("rule", ["random", "optimistic", "pessimistic"])
@pytest.mark.parametrize("values", [3, 1000])
def test_with_families_it_is_the_mean_over_all_tasks_of_whole_families(rule: str, values: int) -> None:
    n, family = 8, np.array([0, 1, 2, 3, 0, 1, 2, 0])
    scores = coarse(n, 5, values)
    cost = np.random.default_rng(1).uniform(1, 5, size=(n, n)) * (1 - np.eye(n))
    sizes = {2: 4, 3: 6, 4: 8}  # whole families, of two classes each on average
    found = cl.extrapolate(scores, costs=cost, groups=family, k=list(sizes.values()), ties=rule, n_resamples=2)
    ex = cl.extrapolate(scores, groups=family, ties=rule, n_resamples=2)
    for families, k in sizes.items():
        costs, right = [], []
        for own, row in enumerate(scores):
            first = [winners([(row[c], c) for c in np.flatnonzero(family == f)], own, rule) for f in range(4)]
            for others in combinations([f for f in range(4) if f != family[own]], families - 1):
                # First within each family, then between them: every combination of the best has the same chance.
                rounds = [
                    winners([(row[c], c) for c in drawn], own, rule)
                    for drawn in product(*(first[f] for f in (family[own], *others)))
                ]
                costs.append(np.mean([cost[own, best].mean() for best in rounds]))
                right.append(np.mean([np.mean(np.array(best) == own) for best in rounds]))
        assert ex.accuracy(k).value == pytest.approx(np.mean(right))
        assert found[k].value == pytest.approx(np.mean(costs))


def test_what_costs_and_reviews_cannot_use_is_refused() -> None:
    scores, cost = task(7)[0], 1 - np.eye(7)
    for question, options in (
        ("costs", {"method": "mixture"}),
        ("costs", {"interval": False}),
        ("costs", {"candidates": True}),
        ("review", {"groups": list("aabbccd")}),
        ("costs", {"review": 0.2}),
    ):
        (name,) = options
        asked = {"costs": cost} if question == "costs" else {"review": 0.2}
        with pytest.raises(InputError, match=f"{name} cannot be used with {question}"):
            cl.extrapolate(scores, **asked, **options)
    with pytest.raises(InputError, match="scores cannot be used with costs"):
        cl.extrapolate({"a": scores, "b": scores}, costs=cost)
