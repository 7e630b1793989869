"""Rows in memory, and the number of them that a quota means."""

from __future__ import annotations

import numpy as np

from .errors import InputError
from .sources.arrays import Sample as Sample
from .sources.arrays import as_column as as_column
from .sources.arrays import as_keys as as_keys
from .sources.arrays import as_numbers as as_numbers
from .sources.arrays import as_weights as as_weights
from .sources.arrays import make_sample as make_sample
from .types import QuotaLike
from .validate import check_quota


def resolve_quota(quota: QuotaLike | None, cases: float) -> int:
    """Cases that a quota means: an integer is a number of cases, a float in (0, 1) a share of them, rounded down.

    ``cases`` is the number of rows, or the sum of their weights: a row of weight w stands for w cases.
    """
    wanted = check_quota(quota)
    shown = f"{cases:,}" if isinstance(cases, int) else f"{cases:.6g}"
    room = 1.0 + 1e-12  # 0.29 · 100 is 28.999… in floats, and means 29; sums of weights round, too
    if isinstance(wanted, float):
        taken = int(np.floor(wanted * cases * room))
        if taken < 1:
            least = f"ask for at least {100 / cases:.3g} %"
            raise InputError("quota", f"is {100 * wanted:.4g} % of {shown} cases, which is less than one case", least)
        return taken
    if wanted > cases * room:
        raise InputError("quota", f"is {quota}", f"it must be from 1 to the number of cases, {shown}")
    return wanted
