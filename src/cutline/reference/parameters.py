"""What each parameter means. A parameter that means the same everywhere has one text, under its own name.

Where it means something else, the text stands under ``function.parameter`` or ``Class.method.parameter``. A test holds
every parameter of every public function to this table.
"""

from __future__ import annotations

_CUT_GOALS = {
    "recall": "The minimum share of positives to find; the cut takes as few cases as possible.",
    "precision": "The minimum share of positives among the cases taken; the cut takes as many cases as possible.",
    "fpr": "The maximum share of negatives taken; the cut takes as many cases as possible.",
    "specificity": "The minimum share of negatives left out; the cut takes as many cases as possible.",
}

PARAMETERS: dict[str, str] = {
    # the data
    "y_true": "The label of each case: bool, 0/1, −1/+1, or any two values with ``pos_label``. A list, a NumPy array, "
    "a pandas or polars Series, or an Arrow array.",
    "y_score": "The score of each case; higher means more likely positive. Any numbers will do, except for measures "
    "that need probabilities.",
    "pos_label": "The label that counts as positive. Needed unless the labels are bool, 0/1 or −1/+1. All others count "
    "as negative; if there are several, a :class:`LabelWarning` names them with their rows.",
    "neg_label": "The labels that count as negative beside ``pos_label``, one or a list; any other is refused. None: "
    "all others, with a warning if there are several.",
    "sample_weight": "How many cases of the population each row represents, such as 1 ÷ its chance to be sampled. "
    "Quotas count cases, so weights also affect where the list is cut. By default each row is one case. Not for counts "
    "of equal rows, whose intervals would be too long: repeat these rows.",
    "clusters": "The cluster of each row, for rows that belong together (visits of one patient, orders of one "
    "customer). Clusters are resampled as a whole, so intervals allow for the dependence within them.",
    "batch": "The batch of each row (a day, a recruiter, a query). A quota is then filled in each batch, not once "
    "over the whole list.",
    "carry": "Whether cases above the threshold that do not get a place wait for the next batch.",
    "by": "The column, or columns, that split the cases into segments; each segment is reported separately.",
    "segment": "The segment of each row: a column of any values. A frame with several columns, or a mapping from "
    "names to columns, crosses them.",
    "reference": "The segment to compare with. By default each segment is compared with the rest.",
    "order": "The segments in order, if that differs from their own order.",
    "prevalence": "The share of positives where the scores will be used, if it differs from the sample's; for "
    "evaluations and plans also a pair of it and its standard error.",
    "label_plan.prevalence": "The share of positives to expect if no labels are known yet. By default the mean of the "
    "scores if they are probabilities, otherwise 5 %.",
    "audit.label": "The label of each case, and None or nan where it is unknown.",
    "label_plan.label": "The labels known so far, None or nan elsewhere. They improve the choice, and those rows are "
    "not drawn again.",
    "inclusion": "The probability that each row had of being labelled, whether it was or not; one number if it is "
    "the same for all.",
    "audit.interval": "``'auto'``, or None for values without intervals.",
    "audit.estimator": "``'assisted'`` also uses the scores of the rows without a label; ``'hajek'`` uses only the "
    "labelled rows, weighted by 1 / inclusion.",
    "label_plan.budget": "How many rows can be labelled.",
    "score_matrix": "One row for each case and one column of scores for each class.",
    "y_pred": "The predicted class of each case. By default the class with the highest score (in a tie, the first).",
    "classes": "The class of each column of scores, in order. By default the sorted labels, or a frame's column names.",
    "ordered": "Whether the classes are ordered, in the order of ``classes``. Adds the measures for ordered classes.",
    "scores": "The scores of each model: a mapping from name to scores, or a frame with one column for each model.",
    "models": "The models: a mapping from name to scores.",
    "first": "Scores of the first model.",
    "second": "Scores of the second model, for the same cases in the same order.",
    "first_score": "Scores of the first model.",
    "second_score": "Scores of the second model, for the same cases in the same order.",
    "true_probability": "The true probability that each case is positive, as a simulation knows it.",
    # which measures, where to cut
    "measures": "Which measures to compute: measure strings such as ``'pem'``, ``'hit_rate@200'``, ``'qrecall@5%'`` "
    "or ``'f_beta(beta=2)'``. By default every measure that the data allow.",
    "measure": "A measure string, such as ``'roc_auc'``, ``'qrecall@5%'`` or ``'f_beta(beta=2)'``.",
    "threshold": "Cases with a score above it are predicted positive. By default 0.5 for probabilities; other scores "
    "have no default threshold.",
    "quota": "How many places there are: an int is a number of cases, a float strictly between 0 and 1 is a share of "
    "them. A range (``range(20, 61)``, ``'20-60'``, ``'5%-10%'``) or a mapping from quota to probability stands for a "
    "quota that is not known yet: quota measures are then averaged over it.",
    "quotas": "The possible quotas: a range ``(low, high)`` of equally likely quotas, or a mapping from quota to "
    "probability.",
    "ties": "How a tie at the last place is broken: ``'random'`` draws from the tied rows, ``'expand'`` takes "
    "all of them, ``'shrink'`` none.",
    "portions": "Into how many portions the ranked list is divided; 10 gives deciles.",
    # how sure
    "interval": "How intervals are computed. ``'auto'``: the best analytic method if there is one, otherwise the "
    "bootstrap. ``'bootstrap'``: the bootstrap for all. None: no intervals. Or a method by name: ``'wald'``, "
    "``'wilson'``, ``'clopper_pearson'``, ``'agresti_coull'``, ``'jeffreys'``, ``'delong'``, ``'delong_logit'``, "
    "``'percentile'``, ``'basic'`` or ``'bca'``. A measure without that method has no interval, with the reason.",
    "level": "The confidence level of intervals and bands, strictly between 0 and 1.",
    "n_resamples": "How many bootstrap replicates to draw, for methods that need them. More replicates make the ends "
    "of an interval more stable, not narrower.",
    "n_permutations": "How many permutations to draw. The smallest possible p-value is 1 / (n_permutations + 1).",
    "seed": "Seed of all random draws: the same seed and data give the same result, on any number of threads.",
    "stratify": "Whether to resample within each class, which keeps the number of positives. None does so for "
    "measures that do not depend on the share of positives, such as the AUC.",
    "margin": "The largest difference that does not matter to you. Models are called equivalent if the interval of "
    "their difference lies within ± margin.",
    "paired": "Whether the models were scored on the same cases. With False each model has its own cases, and "
    "``y_true`` is also a mapping from name to labels.",
    "simultaneous": "Whether the band covers the whole curve at once (wider) rather than each point separately.",
    "confidence": "The probability that the target is met on new data, strictly between 0 and 1: 0.9 means in 90 of "
    "100 samples like this one. By default the target is met on this sample only.",
    "n_jobs": "How many processes or threads to use; −1 uses all cores. The result does not depend on it.",
    "progress": "Whether to report progress on standard error. None does so for long runs on a terminal.",
    "better": "Whether ``'higher'`` or ``'lower'`` values are better, for a measure of your own.",
    # names
    "name": "The name of the model, for tables, plots and reports.",
    "a": "Name of the first model.",
    "b": "Name of the second model; differences are a − b.",
    "old": "Name of the model in use.",
    "new": "Name of the model that would replace it.",
    # tables and files
    "source": "A path or pattern (CSV, TSV, Parquet, JSON lines, Excel; ``.gz`` and ``.zst`` too; ``'-'`` for "
    "standard input); a pandas, polars or Arrow table; a mapping from names to columns; a DuckDB relation; a DuckDB "
    "connection or a database (``'postgres:…'``, ``'mysql:…'``, ``'sqlite:…'``) with ``query``; or a Spark DataFrame.",
    "label": "The name of the label column.",
    "score": "The name of the score column.",
    "weight": "The name of the column that says how many cases of the population each row represents; not a count of "
    "equal rows.",
    "model": "In a table with one row for each case and model: the name of the column that says which model.",
    "case": "In a table with one row for each case and model: the name of the column that says which case.",
    "query": "An SQL query that gives the table, if ``source`` is a connection or a database.",
    "missing": "What to do with rows that lack a label, score or weight: ``'error'`` refuses the table, ``'drop'`` "
    "leaves the rows out and reports how many.",
    "delimiter": "The character between the fields of a text file. Detected by default.",
    "quote": "The character around quoted fields of a text file. Detected by default.",
    "decimal": "The decimal separator of a text file, ``'.'`` or ``','``. Detected by default.",
    "encoding": "The encoding of a text file, such as ``'utf-8'`` or ``'latin-1'``. Detected by default.",
    "memory_limit": "How much memory DuckDB may use, such as ``'4GB'``.",
    "threads": "How many threads DuckDB may use.",
    "temp_directory": "Where DuckDB may store data that do not fit in memory.",
    "stream": "Whether to read the table in a stream instead of loading it. None streams tables of more than a "
    "million rows.",
    # estimators
    "estimator": "A classifier with ``fit`` and one of ``predict_proba``, ``decision_function`` and ``predict``.",
    "X": "The features, one row for each case.",
    "y": "The label of each case.",
    "X_train": "The features that models are fitted on.",
    "y_train": "The labels that models are fitted on.",
    "X_test": "The features that models are tested on.",
    "y_test": "The labels that models are tested on.",
    "cv": "How to split: a number of folds, a scikit-learn splitter, or pairs of row numbers for training and testing.",
    "groups": "The group of each row, for splitters that keep groups together.",
    "params": "Further arguments of the estimator's ``fit``.",
    "response_method": "Which output of the estimator to read: ``'predict_proba'``, ``'decision_function'``, or "
    "``'auto'`` for the first that it has.",
    "cv_results": "The result of ``cross_validate(…, return_estimator=True, return_indices=True)``.",
    "pooled": "Whether to draw one curve of all out-of-fold scores instead of a curve for each fold.",
    # results: drawing and writing
    "ax": "The matplotlib Axes to draw on. By default a new figure is made.",
    "kind": "Which plot to draw; the kinds are listed above.",
    "options": "Further options of the plot, such as ``band=True`` or ``threshold=``.",
    "explore.options": "Options of the page, as for ``to_html``.",
    "path": "Where to write the file.",
    "indent": "Spaces of indentation; None writes a single line.",
    "height": "The height of the page in the notebook, in pixels.",
    "x": "The threshold probabilities, strictly between 0 and 1. By default 0.01, 0.02, …, 0.99.",
    # costs
    "cost": "The cost of taking one case.",
    "value": "The value of one hit.",
    "fixed_cost": "A cost that is paid once, however many cases are taken.",
    "budget": "The largest total cost.",
    "cost_fp": "What a false positive costs; only its ratio to ``cost_fn`` moves the cut.",
    "cost_fn": "What a false negative costs.",
    "max_loss": "The largest share of the positives that may be lost over all stages.",
    # options of single measures
    "beta": "The weight of recall relative to precision; it enters the formula as β².",
    "prior": "The share of positives to compare with. By default the sample's own.",
    "base": "The base of the logarithm.",
    "eps": "Probabilities closer to 0 or 1 than this are moved to this distance, so a single case cannot make "
    "the loss infinite.",
    "alpha": "The weight of positives; negatives weigh 1 − alpha. By default equal weights, or inverse class "
    "frequencies if the measure says so.",
    "gamma": "How strongly easy cases are down-weighted; 0: not at all.",
    "zero_recall_precision": "The precision at recall 0: 0 as printed in the paper, or 1.",
    "g": "The value of a place (the worst is 1): a non-decreasing function of an array of places.",
    "t": "How many of the highest-scoring classes count.",
    "anchor": "Embeddings of the anchors, one row each.",
    "positive": "Embeddings of cases of the same class as their anchors.",
    "negative": "Embeddings of cases of another class.",
    "normalize": "Whether to scale embeddings to length 1. If False, they must already have length 1.",
    # more classes
    "k": "The numbers of classes to predict for. By default 2, 5 and 10 times the number tested.",
    "labels": "The class of each test case.",
    "method": "How to extrapolate: ``'auto'`` weighs all methods by a back-test; or one by name (``'spline'``, "
    "``'mixture'``, ``'gaussian'``, ``'probit_normal'``, ``'pitman_yor'``, ``'exponential'``, ``'kde'``, "
    "``'kde_unbiased'``, ``'tail'``, ``'pooled'``, ``'calibrated'``), or a method object.",
    "distance": "Whether the scores are distances, where lower means closer.",
    "gallery": "Embeddings of the enrolled classes, one row each.",
    "probes": "Embeddings of the test cases, one row each.",
    "gallery_labels": "The class of each row of the gallery. By default each row is a class of its own.",
    "probe_labels": "The class of each probe. By default probe i belongs to row i of the gallery.",
    "metric": "How embeddings are compared: ``'euclidean'``, ``'cosine'``, or a function of two arrays of embeddings.",
    "templates": "How several templates of one class are combined: their ``'best'`` score or their ``'mean'``.",
    "candidates": "Whether each row is a candidate list: a missing score is below all scores that are there, and only "
    "ranks are read.",
    "wins": "For each case, how many wrong classes its right class outscores.",
    "tied": "For each case, how many wrong classes tie with its right class.",
    "n_classes": "How many classes were tested.",
    "accuracies": "Pairs of a number of classes and the accuracy observed there.",
    "marginal": "Pass False if the score of a class depends on the other classes (softmax networks, "
    "k-nearest neighbours, trees); the result then includes a note.",
    "strangers": "Scores of probes whose class is not in the gallery, one row each.",
    "fpir": "The share of strangers that may be falsely identified.",
    "sizes": "The numbers of classes to train and test with.",
    "n_rounds": "How many rounds to run; more rounds make the result more stable.",
    "test_share": "The share of each class's cases that is held out for testing.",
    "genuine": "Scores of comparisons with the right class.",
    "impostor": "Scores of comparisons with wrong classes.",
    "task": "A recognition task, as the other ``fit`` methods build it.",
    "top": "How many of the best classes count as right: 1 is accuracy, 5 is top-5 accuracy.",
    "half_width": "The desired half-width of the interval.",
    "until": "The largest number of classes to draw.",
    # where a word means something else
    "evaluate_table.clusters": "The name of the column that marks rows that belong together and are resampled as one.",
    "compare_table.clusters": "The name of the column that marks rows that belong together and are resampled as one.",
    "evaluate_table.batch": "The name of the column with the batch of each row; a quota is then filled in each batch.",
    "compare_table.batch": "The name of the column with the batch of each row; a quota is then filled in each batch.",
    "evaluate_table.name": "The name of the model. By default the name of the score column.",
    "evaluate_table.n_resamples": "How many bootstrap replicates to draw, for methods that need them. By default 2000 "
    "in memory and 200 in a stream.",
    "compare_table.n_resamples": "How many bootstrap replicates to draw, for methods that need them. By default 2000 "
    "in memory and 200 in a stream.",
    "compare_table.scores": "The names of the score columns, or a mapping from model to column; in a table with one "
    "row for each case and model, the name of its one score column.",
    "doctor.source": "A path, a pandas, polars or Arrow table, a DuckDB relation, or a connection or a database with "
    "``query``.",
    "doctor.label": "The name of the label column. By default it is guessed from the values.",
    "average_over_quotas.measure": "``'hit_rate'``, ``'qrecall'`` or ``'quota_lift'``.",
    "bedroc.alpha": "How strongly the top of the list counts: 20 puts 80 % of the weight on the best 8 % of it.",
    "bootstrap.statistic": "A function of ``(y_true, y_score, sample_weight)`` that gives a number.",
    "bootstrap.method": "The interval: ``'percentile'`` or ``'basic'``.",
    "bootstrap_oob.measure": "A measure string, a function of ``(y_true, y_score)``, or a list of them, which then "
    "share the fitted models. By default ``'roc_auc'``; with several classes ``'accuracy'``.",
    "permutation_test.measure": "A measure string, a function of ``(y_true, y_score)``, or a list of them, which then "
    "share the fitted models. By default ``'recall'``; with several classes ``'accuracy'``.",
    "label_permutation_test.measure": "A measure string, or a function of ``(y_true, y_score)``.",
    "check.evaluation": "The evaluation whose intervals decide.",
    "check.conditions": "Limits such as ``'hit_rate@200 >= 0.5'`` or ``'brier_score < 0.2'``.",
    "class_measure.name": "The name of the measure, such as ``'hand_till_auc'``.",
    "measure.name": "The name of the measure, or another name for it.",
    "Evaluation.measured_by.keep": "Where to put the replicates of every measure, for a comparison.",
    "measures.family": "Only the measures of this family: threshold, probability, ranking, quota or other.",
    "parse_measure.text": "A measure string, such as ``'qrecall@5%'``.",
    "compare_classes.models": "The models: a mapping from name to a score matrix, or to one column of predicted "
    "classes.",
    "compare.y_true": "The label of each case, shared by all models; with ``paired=False`` a mapping from model to "
    "labels.",
    "evaluate_classes.interval": "How intervals are computed. ``'auto'``: a closed form (Wilson, the delta method, or "
    "a mean of the classes' own intervals). ``'bootstrap'``: rows or clusters are reweighted. ``'delta'``, a method by "
    "name, or None for no intervals.",
    "compare_classes.interval": "How intervals are computed, as for ``evaluate_classes``.",
    "evaluate_classes.y_true": "The class of each case.",
    "compare_classes.y_true": "The class of each case.",
    "one_vs_rest.y_true": "The class of each case.",
    "one_vs_rest.options": "Options of ``evaluate``, applied to each class.",
    "evaluate_cv.estimator": "A scikit-learn classifier; or a mapping from name to classifier, to compare them on the "
    "same splits.",
    "evaluate_cv.sample_weight": "How many cases of the population each test row represents. To weigh training rows, "
    "pass ``params={'sample_weight': …}``.",
    "evaluate_cv.clusters": "The cluster of each row; clusters are resampled as a whole. By default the ``groups``.",
    "evaluate_cv.threshold": "Cases with a score above it are predicted positive. By default 0.5 for probabilities "
    "and 0 for a decision function.",
    "evaluate_cv.quota": "A share of the cases: it means the same in a fold and in the whole list.",
    "extrapolate.scores": "Scores of the test cases (rows) for all classes (columns).",
    "extrapolate.ties": "How a tie with a wrong class counts: ``'random'`` (won by chance), ``'optimistic'`` (a win, "
    "as in the paper) or ``'pessimistic'`` (a loss).",
    "extrapolate.interval": "Whether to compute intervals, by resampling classes.",
    "extrapolate.n_resamples": "How many times the classes are resampled.",
    "extrapolate.classes": "The class of each column of scores; a class with several columns has several templates.",
    "extrapolate.groups": "The family of each class, if classes come in families.",
    "extrapolate_cost.k": "The numbers of classes to predict for.",
    "extrapolate_cost.classes": "The class of each column of scores.",
    "extrapolate_cost.cost": "What it costs to call the class of a row the class of a column; zeros on the diagonal.",
    "extrapolate_open_set.scores": "Scores of probes whose class is in the gallery (rows) for its classes (columns).",
    "extrapolate_open_set.classes": "The class of each column of scores.",
    "extrapolate_open_set.k": "The numbers of classes to predict for.",
    "extrapolate_pairs.k": "The numbers of classes to predict for.",
    "extrapolate_training.k": "The numbers of classes to predict for.",
    "extrapolate_training.y": "The class of each case.",
    "extrapolate_training_growth.y": "The class of each case.",
    "extrapolate_training_growth.cases": "Two or more numbers of training cases per class to train with.",
    "TrainingGrowth.accuracy.k": "How many classes.",
    "TrainingGrowth.accuracy.cases": "How many training cases each class has.",
    "TrainingGrowth.at_classes.k": "How many classes.",
    "label_permutation_test.clusters": "The cluster of each row. Labels then change places between clusters of the "
    "same size, and within clusters.",
    "plan.quota": "The most cases that may be taken: a number, or a share of the list.",
    "plan.quotas": "The possible numbers of places, if the number is not known yet: a range, or a mapping from "
    "quota to probability. Adds the expected profit over them.",
    "proportion_interval.successes": "How many trials succeeded.",
    "proportion_interval.n": "How many trials there were.",
    "proportion_interval.method": "``'clopper_pearson'``, ``'wilson'``, ``'wald'``, ``'agresti_coull'`` or "
    "``'jeffreys'``.",
    "ranking_measure.name": "The name to register the measure under.",
    "ranking_measure.title": "Its title in tables. By default made from the name.",
    "screen.stages": "Pairs of scores and how many to keep: a number of cases, a share of those that enter the stage, "
    "or None to have the size chosen.",
    "screen.cost": "What examining one case costs at each stage.",
    "select.quota": "How many to choose: an int is a number of cases, a float strictly between 0 and 1 is a share of "
    "them.",
    "selection_power.simulate": "A function of ``(rng, n)`` that draws n cases and gives them with their labels; or "
    "the labels of a test set, whose rows are then drawn with replacement.",
    "selection_power.models": "A mapping from name to a function that scores cases, or to scores; or a function of "
    "``rng`` that trains new models for each round.",
    "selection_power.better": "The name of the model that is truly better. By default the one that ``goal`` calls "
    "better over all cases of all rounds.",
    "selection_power.goal": "The measure that says which model is truly better.",
    "selection_power.n_sets": "How many test sets to draw in each round.",
    "selection_power.set_size": "How many cases each test set has.",
    "selection_power.wins": "What counts if the better model ties for the best value: ``'half'`` gives it its share of "
    "the win, ``'strict'`` nothing.",
    "selection_power.quota": "Where quota measures cut each test set: a number of cases, or a share of them.",
    "selective_voting.rank_by": "The measure that orders the models.",
    "selective_voting.marks": "The measures that judge the vote of the best X models.",
    "selective_voting.vote": "What is averaged: each model's ``'score'``, or its ``'rank'``, which suits models on "
    "different scales.",
    "selective_voting.choose_by": "The measure that chooses how many models vote. By default ``rank_by``.",
    "selective_voting.order_on": "Other data to order the models on, as (labels, scores by model). Without it the "
    "models are ordered and judged on the same cases.",
    "selective_voting.folds": "How many folds the choice of X is cross-validated in.",
    "selective_voting.quota": "Where marks at a quota cut the list. By default as many places as there are positives.",
    "swap_test.clusters": "The cluster of each row; rows of one cluster are swapped together.",
    "swap_test.quota": "Where quota measures cut the list: a number of cases, or a share of them.",
    **{f"threshold_for.{goal}": text for goal, text in _CUT_GOALS.items()},
    **{f"Evaluation.cut.{goal}": text for goal, text in _CUT_GOALS.items()},
    **{f"triage.{goal}": text for goal, text in _CUT_GOALS.items() if goal != "recall"},
    "threshold_for.quota": "The most cases to take: a number, or a share of the list. A tie across the quota stays "
    "out.",
    "Evaluation.cut.quota": "The most cases to take: a number, or a share of the list. A tie across the quota stays "
    "out.",
    "triage.capacity": "How many cases the reviewer can take: a number for a list as long as this one, or a share of "
    "it.",
    "triage.reviewer_error": "The probability that the reviewer decides a case wrongly.",
    "triplet_loss.margin": "How much farther away the negative must be than the positive.",
    "triplet_loss_estimate.margin": "How much farther away the negative must be than the positive.",
    "triplet_loss_estimate.clusters": "The anchor of each triplet: triplets that share one are not independent.",
    "Evaluation.at.quota": "Cut after this many cases, or this share of them.",
    "Evaluation.at.threshold": "Cut at this score: cases above it are taken.",
    "Evaluation.at.recall": "The cut that finds at least this share of the positives with the fewest cases taken.",
    "Evaluation.at.precision": "The cut that takes the most cases with at least this precision.",
    "Evaluation.at.fpr": "The cut that takes the most cases with at most this false positive rate.",
    "Evaluation.at.specificity": "The cut that takes the most cases with at least this specificity.",
    "Evaluation.curve.name": "``'roc'``, ``'precision_recall'``, ``'gain'``, ``'lift'``, ``'hit_rate'``, "
    "``'qrecall'`` or ``'tpr_fpr'``.",
    "SegmentDifferences.of.segments": "The segments to compare.",
    "SegmentDifferences.of.keys": "The measure strings.",
    "SegmentDifferences.of.reference": "The number of the reference segment; None compares each with the rest.",
    "SegmentDifferences.of_segment.segment": "The name of the segment.",
    "Segments.at.reference": "The segment that selection rates are compared with. By default the one with the highest "
    "rate.",
    "Segments.at.quota": "How many places the one list has: a number of cases, or a share of them.",
    "Segments.shown_with.places": "The number of places for each segment, to compare with one list for all.",
    "Trend.of.segments": "The segments along which the measure is followed.",
    "Trend.of.key": "The measure string.",
    "SharedList.price.places": "The number of places for each segment, to compare with one list for all.",
    "evaluate_classes_table.source": "A path or pattern, a DuckDB relation, or a connection or a database with "
    "``query``.",
    "compare_classes_table.source": "A path or pattern, a DuckDB relation, or a connection or a database with "
    "``query``.",
    "evaluate_classes_table.clusters": "The name of the column that marks rows that belong together and are resampled "
    "as one.",
    "compare_classes_table.clusters": "The name of the column that marks rows that belong together and are resampled "
    "as one.",
    "evaluate_classes_table.score": "The score columns: a pattern such as ``'p_*'``, or their names; in a table with "
    "one row for each case and class, the name of its one score column. By default the columns named after the "
    "classes.",
    "evaluate_classes_table.predicted": "The name of a column of predicted classes.",
    "evaluate_classes_table.case": "In a table with one row for each case and class: the name of the column that says "
    "which case.",
    "evaluate_classes_table.class_column": "In a table with one row for each case and class: the name of the column "
    "that says which class.",
    "compare_classes_table.scores": "A pattern for the score columns of each model, such as ``['a_*', 'b_*']``; or a "
    "mapping from model to pattern.",
    "compare_classes_table.predicted": "Columns of predicted classes; or a mapping from model to column.",
    "to_html.options": "Options of the page: ``title``, ``quota`` (where its cut control starts), ``cost`` and "
    "``value`` (per place and per hit, which add profit).",
    "ClassEvaluation.abstain.accuracy": "The minimum accuracy of the answers.",
    "ClassEvaluation.abstain.confidence": "The probability that this holds on new cases.",
    "ClassEvaluation.calibration.bins": "How many groups of equally many rows.",
    "ClassEvaluation.most_confused.n": "How many pairs to show.",
    "ClassEvaluation.of.label": "The class that counts as positive.",
    "ClassEvaluation.of.options": "Options of ``evaluate``.",
    "ClassEvaluation.one_vs_rest.options": "Options of ``evaluate``, applied to each class.",
    "ClassEvaluation.places.places": "A quota for each class, or one for all.",
    "ClassEvaluation.plot.kind": "``'confusion'``, ``'risk_coverage'`` or ``'calibration'``.",
    "verdict.question": "The question that the verdict answers, for its sentence.",
    "test.key": "The measure string, as it stands in the comparison.",
    "Comparison.dominance.by": "Over which axis: ``'quota'`` or ``'fpr'``.",
    "Comparison.dominance.every": "Whether to list every change of the leader in this sample, clear or not.",
    "Comparison.plot.kind": "Which plot to draw; the kinds are those of ``Evaluation.plot``.",
    "CrossValidation.plot.kind": "Which curve to draw; the kinds are those of ``Evaluation.plot``.",
    "Comparison.recommend.goal": "What you want: ``'known quota'``, ``'unknown quota'``, ``'no missed positives'``, "
    "``'no wasted places'``, ``'fewest errors'``, ``'rare positives'`` or ``'probabilities needed'``.",
    "Comparison.recommend.best_thresholds": "For ``'fewest errors'``: judge each model at its own best threshold "
    "instead of the threshold in use.",
    "Comparison.swap_test.options": "Options of the function ``swap_test``.",
    "Comparison.swaps.quota": "How many places there are. By default the comparison's quota.",
    "CrossValidation.values.name": "The measure string.",
    "Estimate.to_dict.name": "The key of the value; another one than ``'value'`` also leads the keys of the ends.",
    "Curve.thinned.tolerance": "The largest vertical error, as a share of the height of the plot.",
    "Cut.save.more": "What else to write into the file, such as the name of the score column.",
    "Cut.load.path": "The cut file.",
    "Extrapolation.accuracy.k": "The number of classes.",
    "Extrapolation.by_method.k": "The number of classes.",
    "Extrapolation.range_over_methods.k": "The number of classes.",
    "Extrapolation.predict.k": "One or many numbers of classes.",
    "Extrapolation.curve.k": "One or many numbers of classes.",
    "Extrapolation.notes_for.k": "The numbers of classes.",
    "Extrapolation.classes_until.accuracy": "The accuracy to keep.",
    "Extrapolation.classes_needed.k": "The number of classes to predict for. By default the largest asked for.",
    "Extrapolation.reversed_roc.points": "How many points the curve has.",
    "AccuracyExtrapolator.predict.k": "One or many numbers of classes.",
    "AccuracyExtrapolator.fit.scores": "Scores of the test cases (rows) for all classes (columns).",
    "AccuracyExtrapolator.fit.classes": "The class of each column of scores.",
    "AccuracyExtrapolator.fit.groups": "The family of each class, if classes come in families.",
    "AccuracyExtrapolator.fit_embeddings.groups": "The family of each class, if classes come in families.",
    "AccuracyExtrapolator.fit_task.k": "The numbers of classes to predict for.",
    "AccuracyExtrapolator.ties": "How a tie with a wrong class counts: ``'random'`` (won by chance), ``'optimistic'`` "
    "(a win, as in the paper) or ``'pessimistic'`` (a loss).",
    "AccuracyExtrapolator.interval": "Whether to compute intervals, by resampling classes.",
    "AccuracyExtrapolator.n_resamples": "How many times the classes are resampled.",
    "InputError.argument": "The argument that cannot be used; None if the problem concerns no single argument.",
    "InputError.problem": "What is wrong with it.",
    "InputError.remedy": "What to do about it.",
    "InputError.row": "The row, counted from 0, or a description if rows have no numbers.",
    "InputError.column": "The column of the table that the argument came from.",
    "InputError.where": "The file or table.",
    "InputError.model": "The model, if there are several.",
    "InputError.but.facts": "The facts to replace, by name.",
    "InputError.located.columns": "The column of each argument.",
    "InputError.located.where": "The file or table.",
    "InputError.render.terms": "How the front end names arguments and rows.",
    "OneVsRest.macro.name": "The measure string.",
    "OneVsRest.weighted.name": "The measure string.",
    "Quotas.of.value": "A range, a text such as ``'20-60'``, a pair (low, high), or a mapping from quota to "
    "probability.",
    "Quotas.of.name": "The argument's name, for error messages.",
    "Quotas.sizes.cases": "How many cases the list has.",
    "Quotas.sizes.most": "The largest number of quotas to read; a longer range is read at evenly spaced ones.",
    "RiskCoverage.at.coverage": "The share of cases to answer.",
    "RiskCoverage.thinned.points": "The largest number of points.",
    "SelectionPower.counted.wins": "``'half'`` or ``'strict'``, as in ``selection_power``.",
    "SelectionPower.difference.a": "The first measure.",
    "SelectionPower.difference.b": "The second measure.",
    "SelectionPower.mean.model": "The name of the model.",
    "SelectiveVoting.score.models": "The scores of the new rows by model; models that do not vote may be left out.",
    "Table.rows": "The rows, as mappings from column to value.",
    "Table.title": "The title printed above the table.",
    "Table.column.name": "The name of the column.",
    "QuotaClassifier.quota": "The share of the rows to call positive; or a number, out of as many rows as ``fit`` "
    "gets.",
    "QuotaClassifier.cv": "How to get scores for the training rows: folds, a splitter, or ``'prefit'`` for an "
    "estimator that is fitted already.",
    "QuotaClassifier.select.quota": "The places for this batch. By default the classifier's.",
    "CurveDisplay.evaluations": "The evaluations whose curves to draw.",
    "CurveDisplay.from_predictions.quota": "The number or share of places to mark on curves over quotas.",
    "scorer.pos_label": "The label that counts as positive. Needed unless the labels are 0/1 or −1/+1.",
    "average_precision_score.average": "How several label columns are combined, as in scikit-learn: ``'macro'``, "
    "``'micro'``, ``'weighted'``, ``'samples'`` or None.",
    "roc_auc_score.average": "How several classes or label columns are combined, as in scikit-learn: ``'macro'``, "
    "``'micro'``, ``'weighted'``, ``'samples'`` or None.",
    "max_fpr": "The false positive rate up to which the area is taken, standardised after McClish. By default the "
    "whole.",
    "multi_class": "How more than two classes are treated: ``'raise'``, ``'ovr'`` or ``'ovo'``, as in scikit-learn.",
    "roc_auc_score.labels": "The classes of the columns, for more than two classes.",
    "drop_intermediate": "Whether to leave out thresholds that change nothing in the plot.",
}

# Of measures: what equal scores and thresholds mean there.
OF_MEASURES = {
    "ties": "How equal scores count: ``'expected'`` is the mean over all orders of the tied cases (or their shared "
    "outcome), ``'best'`` and ``'worst'`` are the best and the worst order.",
    "quota": "How many places there are: an int is a number of cases, a float strictly between 0 and 1 a share of "
    "them; a range or a mapping from quota to probability averages over a quota that is not known yet.",
    "classes": PARAMETERS["classes"],
}

RETURNS: dict[str, str] = {
    "value of a measure": "The value; nan, with an :class:`UndefinedWarning`, if the measure is undefined.",
    "average_over_quotas": "The mean over the quotas.",
    "bootstrap_oob": "An :class:`OutOfBag`; for a list of measures a dict of them by name.",
    "compare_table": "Several models on the same rows, as from :func:`compare`; with ``by`` a "
    ":class:`SegmentComparison`.",
    "evaluate_table": "An :class:`Evaluation`, as from :func:`evaluate`; with ``by`` :class:`Segments`.",
    "evaluate_cv": "A :class:`CrossValidation`; for a mapping of estimators a :class:`CrossValidatedComparison`.",
    "class_measure": "The declaration: title, formula, range, reference and the like.",
    "class_measures": "The declarations, in the order of the catalogue.",
    "linear_ranking_decomposition": "The score, the oracle's score, and the reducible part in three equal forms.",
    "measure": "The declaration: title, formula, range, reference and the like.",
    "measures": "The declarations, family by family.",
    "misclassification_decomposition": "The score, the oracle's score, and the reducible part in three equal forms.",
    "pair_favorability": "The fitted distribution; ``.accuracy(k)`` reads the accuracy among k classes.",
    "parse_measure": "The measure with its options; ``str()`` gives the measure string in its shortest form.",
    "permutation_test": "A :class:`PermutationTest`; for a list of measures a dict of them by name.",
    "ranking_measure": "The measure as a function of ``(y_true, y_score)``, like those of the catalogue.",
    "selector_differences": "Both differences, each from the decisions in which the models differ.",
    "swap_test": "The difference, the p-value, and how it was found.",
    "average_precision_score": "The average precision, as scikit-learn computes it.",
    "precision_recall_curve": "Precisions, recalls and thresholds, in scikit-learn's order.",
    "roc_auc_score": "The area, as scikit-learn computes it.",
    "roc_curve": "False positive rates, true positive rates and thresholds, in scikit-learn's order.",
    "scorer": "A scorer, for ``scoring=``.",
}
