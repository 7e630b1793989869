"""The public names and their homes: read by type checkers, and by cutline itself when a name is first used."""

from .class_comparison import (
    ClassComparison as ClassComparison,
    compare_classes as compare_classes,
)
from .class_evaluation import (
    ClassEvaluation as ClassEvaluation,
    Confusion as Confusion,
    evaluate_classes as evaluate_classes,
)
from .class_tables import (
    compare_classes_table as compare_classes_table,
)
from .class_tables import (
    evaluate_classes_table as evaluate_classes_table,
)
from .comparison import (
    compare as compare,
    Comparison as Comparison,
)
from .curves import (
    Band as Band,
    Curve as Curve,
)
from .decide.batches import (
    BatchPoint as BatchPoint,
    BatchRules as BatchRules,
)
from .decide.calibration import (
    Calibration as Calibration,
)
from .decide.check import (
    Check as Check,
    check as check,
)
from .decide.costs import (
    Cheapest as Cheapest,
    DecisionCurve as DecisionCurve,
)
from .decide.decomposition import (
    linear_ranking_decomposition as linear_ranking_decomposition,
    misclassification_decomposition as misclassification_decomposition,
    pem_areas as pem_areas,
    PemAreas as PemAreas,
    selector_differences as selector_differences,
)
from .diagnosis import (
    Diagnosis as Diagnosis,
    doctor as doctor,
)
from .errors import (
    InputError as InputError,
    LabelWarning as LabelWarning,
    UndefinedWarning as UndefinedWarning,
)
from .estimate import (
    Estimate as Estimate,
    Interval as Interval,
)
from .evaluation import (
    evaluate as evaluate,
    Evaluation as Evaluation,
    one_vs_rest as one_vs_rest,
    OneVsRest as OneVsRest,
)
from .extrapolation import (
    AccuracyExtrapolator as AccuracyExtrapolator,
    extrapolate as extrapolate,
    extrapolate_cost as extrapolate_cost,
    extrapolate_open_set as extrapolate_open_set,
    extrapolate_pairs as extrapolate_pairs,
    extrapolate_training as extrapolate_training,
    extrapolate_training_growth as extrapolate_training_growth,
    ExtrapolatedCost as ExtrapolatedCost,
    Extrapolation as Extrapolation,
    OpenSet as OpenSet,
    pair_favorability as pair_favorability,
    PairAccuracy as PairAccuracy,
    TrainingGrowth as TrainingGrowth,
)
from .inference.bootstrap import (
    bootstrap as bootstrap,
)
from .inference.permutation import (
    label_permutation_test as label_permutation_test,
    PermutationTest as PermutationTest,
)
from .inference.proportions import (
    ApproximationWarning as ApproximationWarning,
    proportion_interval as proportion_interval,
)
from .inference.retraining import (
    bootstrap_oob as bootstrap_oob,
    OutOfBag as OutOfBag,
    permutation_test as permutation_test,
)
from .inference.swap_tests import (
    swap_test as swap_test,
)
from .inference.bootstrap import (
    triplet_loss_estimate as triplet_loss_estimate,
)
from .catalogue.classes import (
    class_measure as class_measure,
    class_measures as class_measures,
)
from .catalogue.declare import (
    measure as measure,
    measures as measures,
    parse_measure as parse_measure,
)
from .catalogue.other_shapes import (
    hand_till_auc as hand_till_auc,
    mean_average_precision as mean_average_precision,
    ranked_probability_score as ranked_probability_score,
    risk_coverage_area as risk_coverage_area,
    top_t_accuracy as top_t_accuracy,
    triplet_loss as triplet_loss,
)
from .catalogue.probability import (
    balanced_cross_entropy as balanced_cross_entropy,
    brier_score as brier_score,
    focal_loss as focal_loss,
    hinge_loss as hinge_loss,
    information_score as information_score,
    log_loss as log_loss,
    mean_absolute_error as mean_absolute_error,
    relative_information_score as relative_information_score,
    root_mean_squared_error as root_mean_squared_error,
)
from .catalogue.quota import (
    average_hit_rate as average_hit_rate,
    average_qrecall as average_qrecall,
    hit_rate as hit_rate,
    pem as pem,
    qrecall as qrecall,
    quota_lift as quota_lift,
    quota_pearson as quota_pearson,
)
from .catalogue.ranks import (
    auch as auch,
    average_gain as average_gain,
    average_lift as average_lift,
    average_precision as average_precision,
    bedroc as bedroc,
    gini as gini,
    ks_statistic as ks_statistic,
    linear_ranking as linear_ranking,
    max_youden_index as max_youden_index,
    misclassification_ranking as misclassification_ranking,
    pr_auc_max as pr_auc_max,
    pr_auc_min as pr_auc_min,
    pr_auc_minmax as pr_auc_minmax,
    quadratic_ranking as quadratic_ranking,
    ranking_measure as ranking_measure,
    ranking_score as ranking_score,
    roc_auc as roc_auc,
    taks as taks,
)
from .catalogue.threshold import (
    accuracy as accuracy,
    balanced_accuracy as balanced_accuracy,
    cohen_kappa as cohen_kappa,
    error_rate as error_rate,
    f1 as f1,
    f_beta as f_beta,
    false_discovery_rate as false_discovery_rate,
    false_negative_rate as false_negative_rate,
    false_positive_rate as false_positive_rate,
    g_measure as g_measure,
    gain as gain,
    lift as lift,
    matthews_correlation as matthews_correlation,
    negative_likelihood_ratio as negative_likelihood_ratio,
    negative_predictive_value as negative_predictive_value,
    positive_likelihood_ratio as positive_likelihood_ratio,
    precision as precision,
    recall as recall,
    specificity as specificity,
    youden_index as youden_index,
    zero_one_loss as zero_one_loss,
)
from .decide.abstention import (
    Abstention as Abstention,
    RiskCoverage as RiskCoverage,
)
from .decide.operating import (
    OperatingPoint as OperatingPoint,
)
from .decide.planning import (
    Plan as Plan,
    plan as plan,
)
from .decide.power import (
    SelectionPower as SelectionPower,
    selection_power as selection_power,
)
from .decide.selection import (
    average_over_quotas as average_over_quotas,
    lift_table as lift_table,
    select as select,
    Selection as Selection,
)
from .decide.recommendation import (
    Recommendation as Recommendation,
)
from .quotas import (
    Quotas as Quotas,
)
from .table import (
    Table as Table,
)
from .decide.screening import (
    screen as screen,
    Screening as Screening,
)
from .segment_comparison import (
    compare_segments as compare_segments,
    SegmentComparison as SegmentComparison,
)
from .segment_results import (
    SegmentDifferences as SegmentDifferences,
    Trend as Trend,
)
from .segments import (
    evaluate_segments as evaluate_segments,
    Segments as Segments,
)
from .decide.segment_places import (
    SharedList as SharedList,
)
from .sklearn.crossval import (
    CrossValidatedComparison as CrossValidatedComparison,
    CrossValidation as CrossValidation,
    evaluate_cv as evaluate_cv,
)
from .verdict import (
    Difference as Difference,
    Verdict as Verdict,
)
from .sampled_labels import (
    LabelPlan as LabelPlan,
    audit as audit,
    label_plan as label_plan,
)
from .tables import (
    compare_table as compare_table,
    evaluate_table as evaluate_table,
)
from .decide.swaps import (
    SwapSet as SwapSet,
)
from .decide.thresholds import (
    Cut as Cut,
    threshold_for as threshold_for,
    triage as triage,
    Triage as Triage,
)
from .decide.voting import (
    selective_voting as selective_voting,
    SelectiveVoting as SelectiveVoting,
)

# Synonyms, as the catalogue declares them (a test holds the two together).
cross_entropy = log_loss
mean_squared_error = brier_score
auc = roc_auc
f1_score = f1
f_measure = f1
positive_predictive_value = precision
sensitivity = recall
true_negative_rate = specificity
true_positive_rate = recall

__version__: str
