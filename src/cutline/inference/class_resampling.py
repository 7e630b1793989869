"""Replicates of a class sample: rows, or clusters of rows, drawn again and reweighted. Nothing is sorted again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..catalogue.class_compute import COLUMN_AREAS, ClassTotals
from ..catalogue.classes import ClassSpec, ClassSums
from ..progress import Progress
from ..types import Floats

_BLOCK = 16  # replicates summed side by side


def class_replicates(
    totals: ClassTotals, specs: Sequence[ClassSpec], n_resamples: int, seed: int, progress: bool | None = None
) -> dict[ClassSpec, Floats]:
    """The values of each spec in ``n_resamples`` replicates; the same seed draws the same rows for every model."""
    from ..kernels import classes as class_kernels
    from ..threads import in_threads

    sample = totals.sample
    n, k = len(sample), sample.n_classes
    rows = totals.rows(specs)
    values = np.stack(list(rows.values()), axis=1) if rows else np.empty((n, 0))
    unit = np.empty(0, np.int32) if sample.cluster is None else sample.cluster
    n_units = n if sample.cluster is None else int(sample.cluster.max()) + 1
    weight, code = sample.row_weight, sample.code
    blocks = -(-n_resamples // _BLOCK)
    areas = {area for spec in specs for area in spec.areas}
    times = np.empty((blocks, n, _BLOCK), np.uint8)
    hits, truth, answers = (np.zeros((blocks, k, _BLOCK)) for _ in range(3))
    sums = np.zeros((blocks, len(rows), _BLOCK))
    information, risk = np.zeros((blocks, _BLOCK)), np.zeros((blocks, _BLOCK))
    harmonic = _harmonic_table(n_drawn(sample, n_units)) if sample.weight is None else np.empty(0)

    def draw(block: int) -> None:
        counts = np.empty(n_units, np.uint16)
        class_kernels.draw_times(seed, block * _BLOCK, unit, n_units, counts, times[block])
        of_block = (times[block], weight, code)
        class_kernels.resample_rows(
            *of_block, sample.predicted, values, hits[block], truth[block], answers[block], sums[block]
        )
        if "information" in areas:
            assert sample.facts is not None
            class_kernels.resample_information(*of_block, sample.facts.true, truth[block], information[block])
        if "risk" in areas:
            ranked = totals.confidence_order
            class_kernels.resample_risk(
                times[block], weight, ranked.order, ranked.tie, sample.right, harmonic, risk[block]
            )
        shown.advance(_BLOCK)

    wanted = [at for at, area in enumerate(COLUMN_AREAS) if area in areas]
    columns = np.full((3, k, blocks * _BLOCK), np.nan)
    if "risk" in areas:
        _ = totals.confidence_order  # sorted once, before the threads
    with Progress("bootstrap", blocks * _BLOCK, progress) as shown:
        in_threads([lambda block=block: draw(block) for block in range(blocks)])  # type: ignore[misc]
    if wanted:
        with np.errstate(divide="ignore"):
            shares = 1.0 / truth

        def column(at: int) -> None:
            ranked = totals.column_order(at)
            kinds, out = code[ranked.order], np.empty((3, _BLOCK))
            for block in range(blocks):
                class_kernels.resample_column(
                    times[block], weight, ranked.order, ranked.tie, kinds, at, truth[block], shares[block], out
                )
                columns[:, at, block * _BLOCK : (block + 1) * _BLOCK] = out
            shown.advance()

        with Progress("bootstrap", k, progress) as shown:
            in_threads([lambda at=at: column(at) for at in range(k)])  # type: ignore[misc]
    return _values(specs, list(rows), n_resamples, hits, truth, answers, sums, information, risk, columns)


def n_drawn(sample: Any, n_units: int) -> int:
    """The most rows that a replicate can hold."""
    return len(sample) if sample.cluster is None else n_units * int(np.bincount(sample.cluster).max())


def _harmonic_table(n: int) -> Floats:
    return np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1.0, n + 1.0))])


def _values(
    specs: Sequence[ClassSpec],
    with_rows: Sequence[ClassSpec],
    n_resamples: int,
    hits: Floats,
    truth: Floats,
    answers: Floats,
    sums: Floats,
    information: Floats,
    risk: Floats,
    columns: Floats,
) -> dict[ClassSpec, Floats]:
    def by_replicate(blocks: Floats) -> Floats:
        return np.ascontiguousarray(np.moveaxis(blocks, 1, 2)).reshape(-1, blocks.shape[1])[:n_resamples]

    total = by_replicate(truth).sum(axis=1)
    means = by_replicate(sums) / total[:, None]
    whole = ClassSums(
        by_replicate(hits),
        by_replicate(truth),
        by_replicate(answers),
        information=information.reshape(-1)[:n_resamples] / total,
        risk=risk.reshape(-1)[:n_resamples],
        **{area: columns[at].T[:n_resamples] for at, area in enumerate(COLUMN_AREAS)},
    )
    place = {spec: at for at, spec in enumerate(with_rows)}
    return {
        spec: np.asarray(spec.compute(replace(whole, mean=means[:, place[spec]]) if spec in place else whole))
        for spec in specs
    }
