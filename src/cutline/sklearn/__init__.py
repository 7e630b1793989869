"""cutline in scikit-learn's idiom: scorers, displays and cross-validation."""

from __future__ import annotations

from ..errors import how_to_install

try:
    import sklearn  # noqa: F401
except ImportError as missing:
    raise ImportError(f"cutline.sklearn needs scikit-learn: {how_to_install('sklearn')}") from missing

from .crossval import CrossValidatedComparison, CrossValidation, evaluate_cv
from .displays import (
    GainDisplay,
    HitRateDisplay,
    LiftDisplay,
    PrecisionRecallDisplay,
    ProfitDisplay,
    QrecallDisplay,
    RocDisplay,
    TprFprDisplay,
)
from .estimators import scorer

__all__ = [
    "CrossValidatedComparison",
    "CrossValidation",
    "GainDisplay",
    "HitRateDisplay",
    "LiftDisplay",
    "PrecisionRecallDisplay",
    "ProfitDisplay",
    "QrecallDisplay",
    "RocDisplay",
    "TprFprDisplay",
    "evaluate_cv",
    "scorer",
]
