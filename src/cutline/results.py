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
from .decide.operating import OperatingPoint, RiskCoverage
from .decide.planning import Plan
from .decide.selection import Screening, Selection, SharedList
from .decide.targeting import Uplift, UpliftComparison
from .diagnosis import Diagnosis
from .estimate import Estimate, Interval
from .evaluation import EvaluatedBatches, Evaluation
from .inference.retraining import OutOfBag, PermutationTest
from .sampled_labels import LabelPlan
from .segments import SegmentComparison, SegmentDifferences, Segments, Trend
from .table import Table
from .verdict import Check, Difference, Verdict

__all__ = ["Band", "BatchPoint", "BatchRules", "Calibration", "Cheapest", "Check", "ClassComparison"]
__all__ += ["ClassEvaluation", "Comparison", "Confusion", "Consistency", "Curve", "DecisionCurve", "Diagnosis"]
__all__ += ["Difference", "Estimate", "EvaluatedBatches", "Evaluation", "Interval", "LabelPlan", "ListSizePoint"]
__all__ += ["OperatingPoint", "OutOfBag", "PermutationTest", "Plan", "Recommendation", "RiskCoverage", "Screening"]
__all__ += ["SegmentComparison", "SegmentDifferences", "Segments", "Selection", "SharedList", "SwapSet", "Table"]
__all__ += ["Trend", "Uplift", "UpliftComparison", "Verdict"]
