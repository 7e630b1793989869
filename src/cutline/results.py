"""The classes of results, for annotations and ``isinstance``; the functions of cutline make them."""

from __future__ import annotations

from .class_evaluation import ClassComparison as ClassComparison
from .class_evaluation import ClassEvaluation as ClassEvaluation
from .class_evaluation import Confusion as Confusion
from .comparison import Comparison as Comparison
from .curves import Band as Band
from .curves import Curve as Curve
from .decide.batch_rules import BatchPoint as BatchPoint
from .decide.batch_rules import BatchRules as BatchRules
from .decide.calibration import Calibration as Calibration
from .decide.error_costs import Cheapest as Cheapest
from .decide.error_costs import DecisionCurve as DecisionCurve
from .decide.list_size import ListSizePoint as ListSizePoint
from .decide.model_choice import Consistency as Consistency
from .decide.model_choice import Recommendation as Recommendation
from .decide.model_choice import SwapSet as SwapSet
from .decide.operating import OperatingPoint as OperatingPoint
from .decide.operating import RiskCoverage as RiskCoverage
from .decide.planning import Plan as Plan
from .decide.selection import Screening as Screening
from .decide.selection import Selection as Selection
from .decide.selection import SharedList as SharedList
from .decide.targeting import Uplift as Uplift
from .decide.targeting import UpliftComparison as UpliftComparison
from .diagnosis import Diagnosis as Diagnosis
from .estimate import Estimate as Estimate
from .estimate import Interval as Interval
from .evaluation import EvaluatedBatches as EvaluatedBatches
from .evaluation import Evaluation as Evaluation
from .inference.retraining import OutOfBag as OutOfBag
from .inference.retraining import PermutationTest as PermutationTest
from .sampled_labels import LabelPlan as LabelPlan
from .segments import SegmentComparison as SegmentComparison
from .segments import SegmentDifferences as SegmentDifferences
from .segments import Segments as Segments
from .segments import Trend as Trend
from .table import Table as Table
from .verdict import Check as Check
from .verdict import Difference as Difference
from .verdict import Verdict as Verdict

__all__ = [name for name in dir() if name[0].isupper()]
