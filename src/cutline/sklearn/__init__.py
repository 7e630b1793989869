"""cutline in scikit-learn's idiom: scorers, displays, cross-validation, a classifier for quotas, drop-in functions."""

from __future__ import annotations

from ..reference.docstrings import document
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
from .quota_classifier import QuotaClassifier
from .scorers import scorer
from .scores import (
    average_precision_score,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

__all__ = [
    "CrossValidatedComparison",
    "CrossValidation",
    "GainDisplay",
    "HitRateDisplay",
    "LiftDisplay",
    "PrecisionRecallDisplay",
    "ProfitDisplay",
    "QrecallDisplay",
    "QuotaClassifier",
    "RocDisplay",
    "TprFprDisplay",
    "average_precision_score",
    "evaluate_cv",
    "precision_recall_curve",
    "roc_auc_score",
    "roc_curve",
    "scorer",
]

for _name in __all__:
    document(_name, globals()[_name])
