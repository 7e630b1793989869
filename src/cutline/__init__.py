"""cutline: how good is a classifier, how sure are we, which is better, and where to cut the ranked list."""

from .compare import Comparison, compare
from .curves import Band, Curve
from .decomposition import linear_ranking_decomposition, misclassification_decomposition, selector_differences
from .errors import InputError, UndefinedWarning
from .estimate import Estimate, Interval
from .evaluate import Evaluation, OneVsRest, evaluate, one_vs_rest
from .inference.bootstrap import bootstrap
from .inference.paired import swap_test
from .inference.proportions import ApproximationWarning, proportion_interval
from .measures.catalogue import measure, measures, parse_measure
from .measures.multiclass import mean_average_precision, ranked_probability_score, triplet_loss
from .measures.probability import (
    balanced_cross_entropy,
    brier_score,
    focal_loss,
    hinge_loss,
    information_score,
    log_loss,
    mean_absolute_error,
    relative_information_score,
    root_mean_squared_error,
)
from .measures.quota import (
    average_hit_rate,
    average_qrecall,
    hit_rate,
    pem,
    qrecall,
    quota_lift,
    quota_pearson,
)
from .measures.ranks import (
    auch,
    average_gain,
    average_lift,
    average_precision,
    gini,
    ks_statistic,
    linear_ranking,
    max_youden_index,
    misclassification_ranking,
    pr_auc_max,
    pr_auc_min,
    pr_auc_minmax,
    quadratic_ranking,
    ranking_score,
    roc_auc,
    taks,
)
from .measures.threshold import (
    accuracy,
    balanced_accuracy,
    cohen_kappa,
    error_rate,
    f1,
    f_beta,
    false_discovery_rate,
    false_negative_rate,
    false_positive_rate,
    g_measure,
    gain,
    lift,
    matthews_correlation,
    negative_likelihood_ratio,
    negative_predictive_value,
    positive_likelihood_ratio,
    precision,
    recall,
    specificity,
    youden_index,
    zero_one_loss,
)
from .operating import OperatingPoint
from .planning import Plan, plan
from .quota import Selection, average_over_quotas, lift_table, select
from .recommendation import Recommendation
from .rows import Rows
from .screening import Screening, screen
from .voting import SelectiveVoting, selective_voting

# Synonyms, as the catalogue declares them (a test holds the two together).
sensitivity = true_positive_rate = recall
true_negative_rate = specificity
positive_predictive_value = precision
f_measure = f1_score = f1
mean_squared_error = brier_score
cross_entropy = log_loss
auc = roc_auc

__version__ = "0.1.0"

__all__ = [
    "ApproximationWarning",
    "Band",
    "Comparison",
    "Curve",
    "Estimate",
    "Evaluation",
    "InputError",
    "Interval",
    "OneVsRest",
    "OperatingPoint",
    "Plan",
    "Recommendation",
    "Rows",
    "Screening",
    "Selection",
    "SelectiveVoting",
    "UndefinedWarning",
    "accuracy",
    "auc",
    "auch",
    "average_gain",
    "average_hit_rate",
    "average_lift",
    "average_over_quotas",
    "average_precision",
    "average_qrecall",
    "balanced_accuracy",
    "balanced_cross_entropy",
    "bootstrap",
    "brier_score",
    "cohen_kappa",
    "compare",
    "cross_entropy",
    "error_rate",
    "evaluate",
    "f1",
    "f1_score",
    "f_beta",
    "f_measure",
    "false_discovery_rate",
    "false_negative_rate",
    "false_positive_rate",
    "focal_loss",
    "g_measure",
    "gain",
    "gini",
    "hinge_loss",
    "hit_rate",
    "information_score",
    "ks_statistic",
    "lift",
    "lift_table",
    "linear_ranking",
    "linear_ranking_decomposition",
    "log_loss",
    "matthews_correlation",
    "max_youden_index",
    "mean_absolute_error",
    "mean_average_precision",
    "mean_squared_error",
    "measure",
    "measures",
    "misclassification_decomposition",
    "misclassification_ranking",
    "negative_likelihood_ratio",
    "negative_predictive_value",
    "one_vs_rest",
    "parse_measure",
    "pem",
    "plan",
    "positive_likelihood_ratio",
    "positive_predictive_value",
    "pr_auc_max",
    "pr_auc_min",
    "pr_auc_minmax",
    "precision",
    "proportion_interval",
    "qrecall",
    "quadratic_ranking",
    "quota_lift",
    "quota_pearson",
    "ranked_probability_score",
    "ranking_score",
    "recall",
    "relative_information_score",
    "roc_auc",
    "root_mean_squared_error",
    "screen",
    "select",
    "selective_voting",
    "selector_differences",
    "sensitivity",
    "specificity",
    "swap_test",
    "taks",
    "triplet_loss",
    "true_negative_rate",
    "true_positive_rate",
    "youden_index",
    "zero_one_loss",
]
