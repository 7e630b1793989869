"""The areas behind PEM: Table 5 of the paper, and S₁ − S₂ over S₃ on any list."""

from __future__ import annotations

import numpy as np
import pytest

import cutline as cl


def test_table_5() -> None:
    y = [1, 0, 1, 1, 0, 0, 1, 0, 0, 0]
    p = [0.45, 0.34, 0.32, 0.26, 0.15, 0.14, 0.09, 0.07, 0.06, 0.03]
    areas = cl.papers.pem_areas(y, p)
    assert (areas.s1, areas.s2, areas.s3) == (pytest.approx(1.75), 0.0, 3.0)
    assert areas.pem == pytest.approx(0.5833, abs=1e-4)


def test_their_ratio_is_pem_with_ties_too() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        y = rng.random(30) < 0.4
        s = rng.integers(0, 6, 30)
        if 0 < y.sum() < 30:
            areas = cl.papers.pem_areas(y, s)
            assert areas.pem == pytest.approx(cl.pem(y, s))
            assert areas.s2 >= 0 <= areas.s1
    with pytest.raises(cl.InputError, match="no positive"):
        cl.papers.pem_areas([0, 0], [1, 2])
