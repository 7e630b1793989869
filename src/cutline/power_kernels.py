"""The compiled pass over many small test sets of one size. Imported at first use only."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from . import kernels
from .jit import kernel
from .kernels import sum_replicate


def _compiled(stamp: int) -> Callable[..., Any]:
    """The kernel, compiled anew when the file of the kernels it calls changes: ``stamp`` is part of the cache's key."""

    @kernel
    def sum_sets(
        score: Any,
        positive: Any,
        ties: int,
        harmonic: Any,
        parts: Any,
        losses: Any,
        thresholds: Any,
        scale: float,
        quotas: Any,
        out: Any,
    ) -> None:
        """Rank each set (a row of ``score`` and ``positive``) and fill its vector of sums.

        ``ties``: 0 leaves tied cases together, 1 puts their positives first, −1 last.
        """
        n = score.shape[1] if stamp >= 0 else 0
        value = np.empty(n)
        a = np.empty(n, np.int32)
        b = np.empty(n, np.int32)
        above = np.empty(len(thresholds), np.int64)
        log_p = np.empty(n)
        log_q = np.empty(n)
        for s in range(len(score)):
            pos = np.sort(score[s][positive[s]])
            neg = np.sort(score[s][~positive[s]])
            p = len(pos) - 1
            q = len(neg) - 1
            used = 0
            while p >= 0 or q >= 0:
                here = pos[p] if p >= 0 and (q < 0 or pos[p] >= neg[q]) else neg[q]
                before = p
                while p >= 0 and pos[p] == here:
                    p -= 1
                hits = before - p
                before = q
                while q >= 0 and neg[q] == here:
                    q -= 1
                misses = before - q
                value[used] = here
                if ties == 0 or hits == 0 or misses == 0:
                    a[used] = hits
                    b[used] = misses
                else:
                    value[used + 1] = here
                    a[used] = hits if ties > 0 else 0
                    b[used] = 0 if ties > 0 else misses
                    a[used + 1] = hits - a[used]
                    b[used + 1] = misses - b[used]
                    used += 1
                used += 1
            for k in range(len(thresholds)):
                above[k] = 0
                while above[k] < used and value[above[k]] > thresholds[k]:
                    above[k] += 1
            if len(losses):
                for g in range(used):
                    log_p[g] = math.log(value[g]) if value[g] > 0 else -np.inf
                    log_q[g] = math.log1p(-value[g]) if value[g] < 1 else -np.inf
            sum_replicate(
                a[:used],
                b[:used],
                0,
                n,
                value[:used],
                log_p[:used],
                log_q[:used],
                harmonic,
                parts,
                losses,
                above,
                scale,
                quotas,
                out[s],
            )

    return sum_sets


sum_sets = _compiled(zlib.crc32(Path(kernels.__file__).read_bytes()))
