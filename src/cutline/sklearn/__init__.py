"""cutline in scikit-learn's idiom: scorers, displays, cross-validation, a classifier for quotas, drop-in functions."""

from __future__ import annotations

from .crossval import CrossValidation, evaluate_cv
from .decisions import (
    accuracy_score,
    balanced_accuracy_score,
    cohen_kappa_score,
    confusion_matrix,
    f1_score,
    fbeta_score,
    jaccard_score,
    matthews_corrcoef,
    precision_score,
    recall_score,
    zero_one_loss,
)
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
    brier_score_loss,
    hinge_loss,
    log_loss,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

__all__ = [
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
    "accuracy_score",
    "average_precision_score",
    "balanced_accuracy_score",
    "brier_score_loss",
    "cohen_kappa_score",
    "confusion_matrix",
    "evaluate_cv",
    "f1_score",
    "fbeta_score",
    "hinge_loss",
    "jaccard_score",
    "log_loss",
    "matthews_corrcoef",
    "precision_recall_curve",
    "precision_score",
    "recall_score",
    "roc_auc_score",
    "roc_curve",
    "scorer",
    "zero_one_loss",
]
