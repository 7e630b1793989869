"""The papers' own decompositions and demonstrations (Rosset; Arbel & Rokach)."""

from __future__ import annotations

from .decide.power import (
    SelectionPower,
    linear_ranking_decomposition,
    misclassification_decomposition,
    selection_power,
    selector_differences,
)
from .decide.voting import PemAreas, SelectiveVoting, pem_areas, selective_voting

__all__ = [
    "PemAreas",
    "SelectionPower",
    "SelectiveVoting",
    "linear_ranking_decomposition",
    "misclassification_decomposition",
    "pem_areas",
    "selection_power",
    "selective_voting",
    "selector_differences",
]
