"""cutline in scikit-learn's idiom: scorers, displays and cross-validation."""

from __future__ import annotations

from ..errors import how_to_install

try:
    import sklearn  # noqa: F401
except ImportError as missing:
    raise ImportError(f"cutline.sklearn needs scikit-learn: {how_to_install('sklearn')}") from missing

from .crossval import CrossValidatedComparison, CrossValidation, evaluate_cv
from .displays import GainDisplay, PrecisionRecallDisplay, QrecallDisplay, RocDisplay
from .estimators import scorer

__all__ = ["CrossValidatedComparison", "CrossValidation", "evaluate_cv", "scorer"]
__all__ += ["GainDisplay", "PrecisionRecallDisplay", "QrecallDisplay", "RocDisplay"]
