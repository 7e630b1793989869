"""The classes of results, for annotations and ``isinstance``; the functions of cutline make them."""

from __future__ import annotations

from .class_evaluation import ClassComparison, ClassEvaluation, Confusion
from .comparison import Comparison
from .curves import Band, Curve
from .decide.batch_rules import BatchPoint, BatchRules
from .decide.calibration import Calibration
from .decide.error_costs import Cheapest, DecisionCurve
from .decide.list_size import ListSizePoint
from .decide.model_choice import Consistency, Recommendation, SwapSet
from .decide.operating import Abstention, OperatingPoint, RiskCoverage
from .decide.planning import Plan
from .decide.selection import Screening, Selection, SharedList
from .decide.targeting import Uplift, UpliftComparison
from .diagnosis import Diagnosis
from .estimate import Estimate, Interval
from .evaluation import EvaluatedBatches, Evaluation
from .inference.retraining import OutOfBag, PermutationTest
from .sampled_labels import LabelPlan
from .segments import ClassSegments, SegmentComparison, SegmentDifferences, Segments, Trend
from .table import Table
from .verdict import Check, Difference, Verdict

__all__ = [
    "Abstention",
    "Band",
    "BatchPoint",
    "BatchRules",
    "Calibration",
    "Cheapest",
    "Check",
    "ClassComparison",
    "ClassEvaluation",
    "ClassSegments",
    "Comparison",
    "Confusion",
    "Consistency",
    "Curve",
    "DecisionCurve",
    "Diagnosis",
    "Difference",
    "Estimate",
    "EvaluatedBatches",
    "Evaluation",
    "Interval",
    "LabelPlan",
    "ListSizePoint",
    "OperatingPoint",
    "OutOfBag",
    "PermutationTest",
    "Plan",
    "Recommendation",
    "RiskCoverage",
    "Screening",
    "SegmentComparison",
    "SegmentDifferences",
    "Segments",
    "Selection",
    "SharedList",
    "SwapSet",
    "Table",
    "Trend",
    "Uplift",
    "UpliftComparison",
    "Verdict",
]
