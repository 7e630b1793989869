"""Random numbers of the compiled passes. Each replicate and each row starts its own: no thread or order matters."""

from __future__ import annotations

from typing import Any

import numpy as np

from .jit import inlined, kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_TO_UNIT = 1.0 / 9007199254740992.0


@inlined
def mix(x: Any) -> Any:
    """One step of splitmix64: spreads a counter over 64 bits."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@inlined
def seeded(seed: Any) -> Any:
    """A start that differs for neighbouring seeds."""
    return mix(np.uint64(seed) * GOLDEN + np.uint64(1))


@kernel
def draw(counts: Any, start: int, size: int, seed: int, stream: int) -> None:
    """Draw ``size`` units with replacement from ``counts[start : start + size]``, counting how often each came.

    xoshiro256++; one 64-bit number gives two draws where the range is small enough for the rounding of 32 bits not to
    matter (a relative error in a unit's chance below 2⁻¹⁰), else one.
    """
    base = seeded(seed) + np.uint64(stream) * GOLDEN
    s0 = mix(base + GOLDEN)
    s1 = mix(base + GOLDEN + GOLDEN)
    s2 = mix(base + GOLDEN * np.uint64(3))
    s3 = mix(base + GOLDEN * np.uint64(4))
    left = np.uint64(32)
    low = np.uint64(0xFFFFFFFF)
    wide = np.uint64(size)
    narrow = size < 1 << 22
    done = 0
    while done < size:
        total = s0 + s3
        value = ((total << np.uint64(23)) | (total >> np.uint64(41))) + s0
        shifted = s1 << np.uint64(17)
        s2 ^= s0
        s3 ^= s1
        s1 ^= s2
        s0 ^= s3
        s2 ^= shifted
        s3 = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
        if narrow:
            counts[start + np.int64(((value & low) * wide) >> left)] += 1
            done += 1
            if done < size:
                counts[start + np.int64(((value >> left) * wide) >> left)] += 1
                done += 1
        else:
            counts[start + np.int64((value >> np.uint64(11)) * _TO_UNIT * size)] += 1
            done += 1


@kernel
def permute_labels(size: Any, n_pos: int, rows: int, seed: int, stream: int, pos: Any, neg: Any) -> None:
    """Deal ``n_pos`` positive labels to ``rows`` rows in tie groups of the given sizes, all ways equally likely.

    Selection sampling (Knuth, The Art of Computer Programming 3.4.2, Algorithm S): a row is positive with probability
    (positives left) / (rows left).
    """
    state = mix(seeded(seed) + np.uint64(stream) * GOLDEN)
    left = float(n_pos)
    rest = float(rows)
    for g in range(len(size)):
        taken = 0
        for _ in range(size[g]):
            state += GOLDEN
            if np.float64(mix(state) >> np.uint64(11)) * _TO_UNIT * rest < left:
                taken += 1
                left -= 1.0
            rest -= 1.0
        pos[g] = taken
        neg[g] = size[g] - taken
