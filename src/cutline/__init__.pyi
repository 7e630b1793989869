"""The public names and their homes: read by type checkers, and by cutline itself when a name is first used."""

from . import extrapolation as extrapolation
from . import papers as papers
from . import results as results

# fmt: off
from .catalogue.chance import chance_adjusted as chance_adjusted, chance_level as chance_level
from .catalogue.declare import measure as measure, measures as measures, parse_measure as parse_measure
from .catalogue.matrix_measures import (
    hand_till_auc as hand_till_auc, mean_average_precision as mean_average_precision,
    ranked_probability_score as ranked_probability_score, risk_coverage_area as risk_coverage_area,
    top_t_accuracy as top_t_accuracy, triplet_loss as triplet_loss,
)
from .catalogue.probability import (
    balanced_cross_entropy as balanced_cross_entropy, brier_score as brier_score, brier_skill as brier_skill,
    calibration_error as calibration_error, focal_loss as focal_loss, hinge_loss as hinge_loss,
    information_score as information_score, log_loss as log_loss, mean_absolute_error as mean_absolute_error,
    relative_information_score as relative_information_score, root_mean_squared_error as root_mean_squared_error,
)
from .catalogue.quota import (
    average_hit_rate as average_hit_rate, average_qrecall as average_qrecall, hit_rate as hit_rate, pem as pem,
    qrecall as qrecall, quota_lift as quota_lift, quota_pearson as quota_pearson,
)
from .catalogue.ranks import (
    auch as auch, average_gain as average_gain, average_lift as average_lift, average_precision as average_precision,
    bedroc as bedroc, equal_error_rate as equal_error_rate, gini as gini, h_measure as h_measure,
    ks_statistic as ks_statistic, linear_ranking as linear_ranking, max_youden_index as max_youden_index,
    misclassification_ranking as misclassification_ranking, ndcg as ndcg, partial_auc as partial_auc,
    pr_auc_max as pr_auc_max, pr_auc_min as pr_auc_min, pr_auc_minmax as pr_auc_minmax,
    quadratic_ranking as quadratic_ranking, ranking_measure as ranking_measure, ranking_score as ranking_score,
    reciprocal_rank as reciprocal_rank, roc_auc as roc_auc, taks as taks,
)
from .catalogue.threshold import (
    accuracy as accuracy, balanced_accuracy as balanced_accuracy, cohen_kappa as cohen_kappa,
    count_measure as count_measure, error_rate as error_rate, f1 as f1, f_beta as f_beta,
    false_discovery_rate as false_discovery_rate, false_negative_rate as false_negative_rate,
    false_positive_rate as false_positive_rate, g_measure as g_measure, gain as gain, lift as lift,
    matthews_correlation as matthews_correlation, negative_likelihood_ratio as negative_likelihood_ratio,
    negative_predictive_value as negative_predictive_value, positive_likelihood_ratio as positive_likelihood_ratio,
    precision as precision, recall as recall, specificity as specificity, youden_index as youden_index,
    zero_one_loss as zero_one_loss,
)
from .catalogue.value import (
    value_captured as value_captured, value_per_place as value_per_place, value_recall as value_recall,
)
from .decide.planning import plan as plan
from .decide.selection import lift_table as lift_table, screen as screen, select as select
from .decide.thresholds import Cut as Cut, threshold_for as threshold_for
from .decide.targeting import uplift as uplift
from .diagnosis import doctor as doctor
from .engines.count_query import sql as sql
from .errors import InputError as InputError, LabelWarning as LabelWarning, UndefinedWarning as UndefinedWarning
from .extrapolation import extrapolate as extrapolate
from .inference.limits import ApproximationWarning as ApproximationWarning, proportion_interval as proportion_interval
from .inference.retraining import bootstrap_oob as bootstrap_oob, permutation_test as permutation_test
from .papers import selective_voting as selective_voting
from .quotas import Quotas as Quotas
from .sampled_labels import label_plan as label_plan
from .sources.counts import merge_counts as merge_counts
from .verbs import check as check, compare as compare, evaluate as evaluate
# fmt: on

# Synonyms that are functions too; measure strings know more of them, as the catalogue declares.
mean_squared_error = brier_score
positive_predictive_value = precision
sensitivity = recall
true_negative_rate = specificity
true_positive_rate = recall

__version__: str
