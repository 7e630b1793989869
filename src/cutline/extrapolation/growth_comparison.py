"""Two recognisers tested on the same classes, compared at more classes than were tested."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import look_up
from ..estimate import Estimate
from ..inference.differences import DifferenceTest
from ..inference.limits import t_quantile
from ..table import Figure, Section, Table, pluralize
from ..types import Axes, Floats
from ..validate import check_number
from ..verdict import POWER, Difference, Verdict, differences_of, verdict_of
from .extrapolation_result import Extrapolation, GrowthResult, as_sizes, check_k, rounded_share
from .extrapolator import fit_task, resampled_fits
from .tasks import ScoreTask, jackknife_error

# Numbers of classes at which the difference is followed, from 2 to the largest asked for.
_POINTS = 60
# How far the two errors of extrapolation cancel: this share of their summed variance is left. On 44 differences (22
# pairs of samples of 11 populations) 95% of 90% intervals then covered the truth, 93% with half of it, 82% with none.
_OF_MODEL = 0.2
# Of one recogniser's error on the logit scale, for each e-fold of classes.
_OF_DISTANCE = 0.08


@dataclass(frozen=True, eq=False, repr=False)
class GrowthComparison(GrowthResult):
    """Two recognisers by number of classes, paired: the same cases and classes, resampled together."""

    models: Mapping[str, Extrapolation]
    sizes: Floats
    errors: Floats
    critical: float
    level: float
    k: tuple[int, ...] = ()

    def __getitem__(self, name: str) -> Extrapolation:
        return look_up(self.models, name, "name")

    @property
    def title(self) -> str:
        """What the result is about."""
        return f"{' and '.join(self.names)} with more than {self._first.n_classes:,} classes"

    @property
    def _first(self) -> Extrapolation:
        return next(iter(self.models.values()))

    @property
    def names(self) -> tuple[str, str]:
        """Both names, in order."""
        first, second = self.models
        return first, second

    @property
    def _last(self) -> int:
        return max([*self.k, self._first.n_classes])

    def _gap(self, k: ArrayLike) -> Floats:
        first, second = self.models.values()
        return np.asarray(first.predict(k) - second.predict(k), dtype=np.float64)

    def _error(self, k: float) -> float:
        return float(np.interp(math.log(k), np.log(self.sizes), self.errors))

    def difference(self, k: int) -> Difference:
        """The difference of the accuracies among ``k`` classes, with its interval and p-value."""
        check_k(k)
        gap, error = float(self._gap(k)[0]), self._error(k)
        tested = DifferenceTest(method="too few classes")
        if math.isfinite(error) and error > 0:
            from scipy.special import ndtr, ndtri

            reach = float(ndtri(0.5 + self.level / 2.0)) * error
            p = 2.0 * float(ndtr(-abs(gap) / error))
            tested = DifferenceTest(
                max(gap - reach, -1.0), min(gap + reach, 1.0), error, p, "paired class bootstrap and model of the error"
            )
        return differences_of(f"accuracy@{k}", "higher", [(*self.names, gap, tested)], self.level)[0]

    def verdict(self, k: int | None = None) -> Verdict:
        """Which recogniser is better among ``k`` classes (by default the largest asked for), and how sure that is."""
        k = self._last if k is None else k
        difference = self.difference(k)
        best = self.names[0 if difference.difference >= 0 else 1]
        value = self.models[best].accuracy(k)
        question = f"which recogniser among {k:,} classes?"
        return verdict_of(question, f"accuracy@{k}", best, value, self.names, [difference])

    def band(self, k: ArrayLike | None = None) -> dict[str, Floats]:
        """The difference with a band that contains the whole curve: arrays ``k``, ``difference``, ``low``, ``high``."""
        kk = self.sizes if k is None else as_sizes(k)
        gap = self._gap(kk)
        reach = self.critical * np.interp(np.log(kk), np.log(self.sizes), self.errors)
        return {"k": kk, "difference": gap, "low": np.maximum(gap - reach, -1.0), "high": np.minimum(gap + reach, 1.0)}

    @cached_property
    def leads(self) -> Table:
        """Who leads from how many classes to how many, and where the simultaneous band shows it (``clear``)."""
        band = self.band()
        rows: list[dict[str, Any]] = []
        for size, gap, low, high in zip(*(band[key] for key in ("k", "difference", "low", "high")), strict=True):
            leader = self.names[0] if gap > 0 else self.names[1] if gap < 0 else "tied"
            clear = bool(low > 0 or high < 0)
            if rows and rows[-1]["leader"] == leader and rows[-1]["clear"] == clear:
                rows[-1]["to"] = round(size)
            else:
                rows.append({"from": round(size), "to": round(size), "leader": leader, "clear": clear})
        return Table(rows, "Who leads, by number of classes")

    @cached_property
    def crossing(self) -> Estimate | None:
        """The number of classes beyond which the other recogniser leads; None if the same one leads throughout.

        The interval reaches as far as the difference, with its pointwise interval, could be 0 around the crossing. If
        they cross several times, the last crossing counts.
        """
        from scipy.special import ndtri

        gap = self._gap(self.sizes)
        turns = np.flatnonzero(np.sign(gap[1:]) * np.sign(gap[:-1]) < 0)
        if not turns.size:
            return None
        at, sign = int(turns[-1]), float(np.sign(gap[turns[-1]]))
        low, high = self.sizes[at], self.sizes[at + 1]
        while high - low > 0.5:
            middle = (low + high) / 2.0
            low, high = (middle, high) if sign * float(self._gap(middle)[0]) > 0 else (low, middle)
        unclear = np.abs(gap) < float(ndtri(0.5 + self.level / 2.0)) * self.errors
        first, last = at, at + 1
        while first > 0 and unclear[first]:
            first -= 1
        while last < gap.size - 1 and unclear[last]:
            last += 1
        ends = float(self.sizes[first]), math.inf if unclear[last] else float(self.sizes[last])
        return Estimate("crossing", float(math.ceil(high)), *ends, self.level, "where the difference may be 0")

    def classes_to_tell(self, k: int, *, power: float = POWER) -> float:
        """The number of classes to test so that a difference as large as this one at ``k`` is found with that power.

        The variance of the difference is taken to fall with the number of classes; inf if the difference is 0.
        """
        from scipy.special import ndtri

        check_k(k)
        check_number(power, "power", 0.0, 1.0, open_ends=True)
        gap, error = abs(float(self._gap(k)[0])), self._error(k)
        seen = self._first.n_classes
        if gap == 0.0 or not math.isfinite(error):
            return math.inf
        return float(math.ceil(seen * ((ndtri(0.5 + self.level / 2.0) + ndtri(power)) * error / gap) ** 2))

    def to_dicts(self) -> list[dict[str, Any]]:
        """One row for each number of classes asked for."""
        rows = []
        for k in self.k:
            d, needed = self.difference(k), self.classes_to_tell(k)
            row: dict[str, Any] = {"classes": k, **{name: ex.accuracy(k).value for name, ex in self.models.items()}}
            row |= {"difference": d.difference, "low": d.low, "high": d.high, "p_value": d.p_value}
            row |= {"verdict": d.verdict, "classes_to_tell": needed}
            rows.append(row | {"cases_to_tell": needed * self._first.n_cases / self._first.n_classes})
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Rows, verdict, who leads, the crossing, and both extrapolations."""
        crossing = self.crossing
        return {
            "differences": self.to_dicts(),
            "verdict": self.verdict().to_dict(),
            "leads": self.leads.to_dicts(),
            "crossing": None if crossing is None else crossing.to_dict("classes"),
            "models": {name: ex.to_dict() for name, ex in self.models.items()},
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """What to keep in mind, each sentence once."""
        return tuple(dict.fromkeys(note for ex in self.models.values() for note in ex.notes))

    def sentences(self) -> list[str]:
        """Who is better among the largest number of classes asked for, how sure that is, and where they cross."""
        last, verdict = self._last, self.verdict()
        d, best = self.difference(last), verdict.best
        other = next(name for name in self.names if name != best)
        values = {name: rounded_share(self.models[name].accuracy(last).value) for name in self.names}
        text = f"With {last:,} classes expect {values[best]} for {best} and {values[other]} for {other}"
        said = [f"{text}: {verdict.sentence}."]
        if d.leader is None and math.isfinite(needed := self.classes_to_tell(last)):
            ex = self.models[best]
            cases = f" ({needed * ex.n_cases / ex.n_classes:,.0f} cases)" if ex.n_cases != ex.n_classes else ""
            size = f"{float(f'{needed:.2g}'):,.0f} classes{cases}"
            said.append(f"To detect a difference of this size with {POWER:.0%} power, test about {size}.")
        if self.crossing is not None:
            most = "any number" if math.isinf(self.crossing.high) else f"{self.crossing.high:,.0f}"
            beyond = self.names[0] if float(self._gap(self.sizes[-1])[0]) > 0 else self.names[1]
            size = pluralize(self.crossing.value, "class", "classes")
            said.append(f"{beyond} leads from about {size} on ({self.crossing.low:,.0f} to {most}).")
        return said

    def sections(self, *, detail: bool = False) -> Iterator[Section]:
        """The verdict, the differences by number of classes, who leads, and what to keep in mind."""
        curves = [Figure("extrapolation", ex, {"title": name}) for name, ex in self.models.items()]
        rows = [{key: value for key, value in row.items() if key != "p_value"} for row in self.to_dicts()]
        figures = [*curves, Figure("who_leads", self)]
        yield Section("answer", [*self.sentences(), *figures, Table(rows, f"Accuracy, {' − '.join(self.names)}")])
        yield Section("leads", [self.leads])
        yield from self._note_section()
        for name, ex in self.models.items() if detail else ():
            yield Section(f"method {name}", [f"{name}: {ex.method}; seen: {ex.seen}"])

    def plot(self, ax: Axes | None = None) -> Any:
        """The difference by number of classes with its simultaneous band (matplotlib)."""
        from ..present.plots import plot

        return plot(self, "who_leads", ax=ax)


def compare_growth(
    tasks: Mapping[str, ScoreTask], k: tuple[int, ...] | None, method: Any, *, n_resamples: int, seed: int, **how: Any
) -> GrowthComparison:
    """Both tasks fitted, and the difference followed over the numbers of classes."""
    draws: dict[str, Any] = {"n_resamples": n_resamples, "seed": seed}
    fitted = {name: fit_task(task, k, method, **draws, **how) for name, task in tasks.items()}
    models = {name: ex for name, (ex, _) in fitted.items()}
    first = next(iter(models.values()))
    asked = first.k
    seen, last = float(first.n_classes), float(max([*asked, first.n_classes]))
    sizes = np.unique(np.append(np.round(np.geomspace(2.0, last, _POINTS)), [*asked, seen]))
    sizes = sizes[sizes >= 2.0]
    drawn = [resampled_fits(task, fitted[name][1], n_resamples, seed) for name, task in tasks.items()]
    units = np.maximum(sizes / first.classes_each, 1.0)
    gaps = np.array([a.accuracy(units) - b.accuracy(units) for a, b in zip(*drawn, strict=True) if a and b])
    known = [task.without_each for task in tasks.values() if task.n_classes > 2 and task.n_tested > 1]
    if len(known) < 2 or len(gaps) < n_resamples / 2:
        return GrowthComparison(models, sizes, np.full(sizes.size, np.nan), math.nan, first.level, asked)
    points = known[0][0]
    paired = jackknife_error(known[0][1] - known[1][1])
    inside = np.interp(np.log(sizes), np.log(points), paired)
    spread = gaps.std(axis=0, ddof=1)
    at_last = float(np.interp(math.log(seen), np.log(sizes), spread))
    # Resamples repeat classes, which moves their spread; at k1 the jackknife shows what it is.
    scale = min(max(float(paired[-1]) / at_last, 0.5), 2.0) if at_last > 0 else 1.0
    beyond = np.maximum(1.0 - seen / sizes, 0.0)
    modelled = np.zeros(sizes.size)
    for ex in models.values():
        # What errors could not test, and the distance to k, as the standard error of an accuracy.
        n = ex.observed.wins.n_tested
        inside_one = (n * ex.predict(sizes) + 0.5) / (n + 1.0)
        untested = 1.0 / math.sqrt(1.0 + (1.0 - ex.observed.test_accuracy) * n)
        spread_of_one = np.hypot(untested, _OF_DISTANCE * np.maximum(np.log(sizes / seen), 0.0))
        modelled += (inside_one * (1.0 - inside_one) * spread_of_one / t_quantile(0.9, 1e9)) ** 2
    modelled = np.sqrt(_OF_MODEL * beyond * modelled)
    errors = np.where(sizes <= seen, inside, np.hypot(scale * spread, modelled))
    # The band: what the largest of the standardised deviations of the resamples stays below.
    away = np.abs(gaps - np.median(gaps, axis=0)) / np.maximum(spread, 1e-12)
    critical = float(np.quantile(away.max(axis=1), first.level))
    return GrowthComparison(models, sizes, errors, critical, first.level, asked)
