"""What the parameters and fields of public names mean, each text once, and docstrings in numpydoc form made of them.

A docstring describes what a function does and shows an example. Its parameters, with types and defaults, come from its
signature, their meaning from the tables here, so one text serves every function, ``help()`` and the site. A decorator
puts them together where a function or class is defined, so that they are there whatever way it is imported.
"""

from __future__ import annotations

import inspect
import re
from typing import Any, NamedTuple, TypeVar

# What docstrings leave out about parameters. One that means the same everywhere has one text, under its own name; else
# ``function.parameter`` or ``Class.method.parameter``.
PARAMETERS: dict[str, str] = {
    # the data
    "y_true": "The label of each case: bool, 0/1, −1/+1, or any two values with ``pos_label``. A list, a NumPy array, "
    "a pandas or polars Series, or an Arrow array.",
    "y_score": "The score of each case; higher means more likely positive. Any numbers will do, except for measures "
    "that need probabilities.",
    "pos_label": "The label that counts as positive. Needed unless the labels are bool, 0/1 or −1/+1. All others "
    "count as negative; if there are several, a :class:`LabelWarning` names them with their rows.",
    "neg_label": "The labels that count as negative beside ``pos_label``, one or a list; any other is an error. None: "
    "all others, with a warning if there are several.",
    "worth": "What each row is worth if it is a hit: an amount, an order value, tonnes; not negative. It adds "
    "``value_captured``, ``value_recall`` and ``value_per_place`` to the measures of an evaluation.",
    "cut_by": "Which list is cut, in an evaluation by the measures of worth: that of the ``'score'``, of ``'value'`` "
    "(score × worth), or of ``'value_per_cost'`` (score × worth / cost).",
    "sample_weight": "How many cases of the population each row represents, such as 1 ÷ its chance to be sampled. "
    "Quotas count cases, so weights also affect where the list is cut. By default each row is one case. Not for "
    "counts of equal rows, whose intervals would be too long: see ``positives``.",
    "counts": "The counts: files, frames or mappings, each the result of :func:`sql` or with named columns.",
    "min_cell": "The least number of positives, and of negatives, that a bucket may show unless it has none.",
    "sql.table": "The table, as the warehouse calls it: ``claims``, ``schema.claims``.",
    "sql.label": "The column with the real outcome.",
    "sql.score": "The column with the score, or a list of two, which are counted jointly.",
    "sql.dialect": "The warehouse: ``postgres``, ``snowflake``, ``bigquery``, ``clickhouse``, ``trino``, "
    "``databricks``, ``redshift``, ``tsql``, ``mysql``, ``mariadb``, ``sqlite``, ``duckdb`` …",
    "sql.buckets": "How many buckets there are: 65,536 by default, 256 for each of two scores.",
    "sql.by": "The column, or columns, that define segments.",
    "sql.batch": "The column that defines batches.",
    "sql.where": "A condition in the warehouse's SQL: only these rows are counted.",
    "sql.edges": 'For scores that are not probabilities: ``"query"`` for the first query, then its result.',
    "sql.refine": "The result of a query, of which the bucket of a cut is resolved.",
    "sql.quota": "With ``refine``: the places of the cut.",
    "sql.threshold": "With ``refine``: the threshold of the cut.",
    "exact": "Files, databases and Spark: ``False`` answers from counts by bucket of the score, without a sort, with "
    "certain bounds for each value.",
    "tolerance": "How wide bounds may be, for values above 1 in relation to the value; where one is wider, all values "
    "are computed exactly. Implies ``exact=False``.",
    "positives": "In a table of counts: the column with the number of positives of each row, which stands for so many "
    "cases with one score.",
    "negatives": "In a table of counts: the column with the number of negatives.",
    "rows": "In a table of counts: the column with the number of cases of both classes, instead of ``negatives``.",
    "low": "In a table of counts by bucket, instead of ``score``: the column with the lowest score of each bucket, or "
    "with its lower end. Buckets that touch do not include their lower end: (low, high].",
    "high": "In a table of counts by bucket: the column with the highest score of each bucket.",
    "clusters": "The cluster of each row, for rows that belong together (visits of one patient, orders of one "
    "customer), or the name of its column. Clusters are resampled as a whole, so intervals allow for the dependence "
    "within them.",
    "batch": "The batch of each row (a day, a recruiter, a query), or the name of its column. A quota is then filled "
    "in each batch, not once over the whole list.",
    "by": "The segment of each row: a column of any values, or the name of one; several columns are crossed. Each "
    "segment is also reported separately.",
    "reference": "The segment to compare with. By default each segment is compared with the rest.",
    "order": "The segments in order, if that differs from their own order.",
    "prevalence": "The share of positives where the scores will be used, if it differs from the sample's.",
    "label_plan.prevalence": "The share of positives to expect. By default the mean of the "
    "scores if they are probabilities, otherwise 5%.",
    "inclusion": "The probability that each row had of being labelled, whether it was or not, or the name of its "
    "column; one number if it is the same for all.",
    "label_plan.budget": "How many rows can be labelled.",
    "score_matrix": "One row for each case and one column of scores for each class.",
    "classes": "The class of each column of scores, in order. By default the sorted labels, or a frame's column names.",
    "ordered": "Whether the classes are ordered, in the order of ``classes``. Adds the measures for ordered classes.",
    "scores": "The scores of each model: a mapping from name to scores, or a frame with one column for each model.",
    "models": "The models: a mapping from name to scores.",
    **dict.fromkeys(("first", "first_score"), "Scores of the first model."),
    **dict.fromkeys(("second", "second_score"), "Scores of the second model, for the same cases in the same order."),
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
    "list_size": "The cases of the next list, if it is shorter or longer than the one evaluated.",
    "ties": "How a tie at the last place is broken: ``'random'`` draws from the tied rows, ``'expand'`` takes "
    "all of them, ``'shrink'`` none.",
    "recall": "The minimum share of positives to find; the cut takes as few cases as possible.",
    "precision": "The minimum share of positives among the cases taken; the cut takes as many cases as possible.",
    "fpr": "The maximum share of negatives taken; the cut takes as many cases as possible.",
    "specificity": "The minimum share of negatives left out; the cut takes as many cases as possible.",
    "portions": "Into how many portions the ranked list is divided; 10 gives deciles.",
    # how sure
    "interval": "How intervals are computed. ``'auto'``: the best analytic method if there is one, otherwise the "
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
    "title": "Its title in tables. By default the name.",
    # names
    "name": "The name of the model, for tables, plots and reports.",
    "a": "Name of the first model.",
    "b": "Name of the second model; differences are a − b.",
    "old": "Name of the model in use.",
    "new": "Name of the model that would replace it.",
    # tables and files
    "label": "The name of the label column.",
    "score": "The name of the score column.",
    "weight": "The name of the column with the number of cases of the population each row represents; not a count of "
    "equal rows.",
    "query": "An SQL query that gives the table, if ``source`` is a connection or a database.",
    "missing": "What to do with rows that lack a label, score or weight: ``'error'`` raises an error, ``'drop'`` "
    "leaves the rows out and reports how many.",
    "where": "Which rows count: a condition on columns such as ``\"month >= 6 and region in ('north', 'south')\"``, "
    "in SQL. Rows that lack the cell are left out.",
    "negate": "Scores whose low values mean positive, such as a marker that falls with disease: their sign is changed. "
    "True for all, or the names of columns or models.",
    "ignore_case": "Whether labels that differ only in case or in spaces around them are one label.",
    "sheet": "The sheet of an Excel workbook, by name or number from 1. By default the first that is not empty.",
    "skip_rows": "How many lines of a text file, or rows of a sheet, stand above the header.",
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
    # results: drawing and writing
    "ax": "The matplotlib Axes to draw on. By default a new figure is made.",
    "kind": "Which plot to draw; the kinds are listed above.",
    "options": "Further options of the plot, such as ``band=True`` or ``threshold=``.",
    "path": "Where to write the file.",
    "indent": "Spaces of indentation; None writes a single line.",
    "height": "The height of the page in the notebook, in pixels.",
    "x": "The threshold probabilities, strictly between 0 and 1. By default 0.01, 0.02, …, 0.99.",
    # costs
    "cost": "The cost of taking one case.",
    "value": "The value of one hit.",
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
    "frequencies if the measure does so.",
    "gamma": "How strongly easy cases are down-weighted; 0: not at all.",
    "zero_recall_precision": "The precision at recall 0: 0 as printed in the paper, or 1.",
    "g": "The value of a place (the worst is 1): a non-decreasing function of an array of places.",
    "t": "How many of the highest-scoring classes count.",
    "anchor": "Embeddings of the anchors, one row each.",
    "positive": "Embeddings of cases of the same class as their anchors.",
    "negative": "Embeddings of cases of another class.",
    "normalize": "Whether to scale embeddings to length 1. If False, they must already have length 1.",
    # more classes
    "k": "The numbers of classes to predict for.",
    "extrapolate.k": "The numbers of classes to predict for. By default 2, 5 and 10 times the number tested.",
    "labels": "The class of each test case.",
    "method": "How to extrapolate: ``'auto'`` weighs all methods by a back-test; or one by name (``'spline'``, "
    "``'mixture'``, ``'gaussian'``, ``'probit_normal'``, ``'exponential'``, ``'kde'``, "
    "``'kde_unbiased'``, ``'tail'``, ``'pooled'``, ``'calibrated'``), or a method object.",
    "distance": "Whether the scores are distances, where lower means closer.",
    "gallery": "Embeddings of the enrolled classes, one row each.",
    "probes": "Embeddings of the test cases, one row each.",
    "gallery_labels": "The class of each row of the gallery. By default each row is a class of its own.",
    "metric": "How embeddings are compared: ``'euclidean'`` or ``'cosine'``.",
    "candidates": "Whether each row is a candidate list: a missing score is below all scores that are there, and only "
    "ranks are read.",
    "n_classes": "How many classes were tested.",
    "n_rounds": "How many rounds to run; more rounds make the result more stable.",
    "top": "How many of the best classes count as right: 1 is accuracy, 5 is top-5 accuracy.",
    "half_width": "The desired half-width of the interval.",
    "evidence": "The task as a method sees it: wins, accuracy curve and perhaps scores.",
    "places": "The number of places for each segment, to compare with one list for all.",
    "until": "The largest number of classes to draw.",
    # where a word means something else
    "evaluate.y_true": "The label of each case: bool, 0/1, −1/+1, or any two values with ``pos_label``; the class of "
    "each case where there are several; None or nan where it is unknown, with ``inclusion``. Or the table: a path or "
    "pattern (CSV, TSV, Parquet, JSON lines, Excel; ``.gz`` too; ``'-'`` for standard input); a pandas, "
    "polars or Arrow table; a mapping from names to columns; a DuckDB relation; a DuckDB connection or a database "
    "(``'postgres:…'``, ``'mysql:…'``, a DuckDB or SQLite file) with ``query``; or a Spark DataFrame.",
    "compare.y_true": "The label of each case, shared by all models; with ``paired=False`` a mapping from model to "
    "labels. Or the table, as for ``evaluate``.",
    "evaluate.y_score": "The score of each case; higher means more likely positive. With several classes a matrix or "
    "frame with a column for each.",
    **dict.fromkeys(("select.y_score", "label_plan.y_score"), "The score of each case; or a table, with ``score``."),
    "evaluate.score": "The name of the score column; with several classes a list of names or a pattern such as "
    "``'p_*'``, by default the columns named after the classes.",
    "compare.score": "The score columns: a list of names, or a mapping from model to column; with several classes a "
    "pattern (``'lda_*'``) or a list of columns for each model.",
    "predicted": "The predicted class of each case, or the name of its column; of several models a mapping from name "
    "to either. By default the class with the highest score (in a tie, the first).",
    "evaluate.name": "The name of the model, for tables, plots and reports. By default the name of the score column.",
    "evaluate.n_resamples": "How many bootstrap replicates to draw, for methods that need them. By default 2000 in "
    "memory and 200 in a stream.",
    "compare.n_resamples": "How many bootstrap replicates to draw, for methods that need them. By default 2000 in "
    "memory and 200 in a stream.",
    "with_measures.replicates_out": "Where to put the replicates of every measure, for a comparison.",
    "Table.group": "The column whose values head groups of rows.",
    "doctor.source": "A path, a pandas, polars or Arrow table, a DuckDB relation, or a connection or a database with "
    "``query``.",
    "doctor.label": "The name of the label column. By default it is guessed from the values.",
    "cohen_kappa.weights": "How much confusing two ordered classes counts: None the same for all, ``'linear'`` by "
    "their distance, ``'quadratic'`` by its square.",
    "brier_score.half": "Whether to halve the sum over classes, which makes two classes agree with the binary Brier "
    "score.",
    "bedroc.alpha": "How strongly the top of the list counts: 20 puts 80% of the weight on the best 8% of it.",
    "chance_level.n_pos": "The number of positives.",
    "chance_level.n_neg": "The number of negatives.",
    "chance_level.taken": "The number of cases above the threshold, for a measure at a threshold.",
    "partial_auc.fpr": "The highest false positive rate of the part to read. By default 0.1, if ``tpr`` is not given.",
    "partial_auc.tpr": "The lowest true positive rate of the part to read, instead of ``fpr``.",
    "partial_auc.standardized": "Whether to bring the area to McClish's scale: 0.5 is the diagonal, 1 is perfect.",
    "h_measure.severity": "The most likely ratio of the cost of a false positive to that of a false negative. By "
    "default costs are drawn from Beta(1 + π₁, 1 + π₀), where π₁ is the share of positives.",
    "ndcg.k": "How many places of the list count. By default all of them.",
    "calibration_error.bins": "The number of bins of equal width.",
    "calibration_error.debiased": "Whether to take off what noise adds if all probabilities are right.",
    "bootstrap_oob.measure": "A measure string. By default ``'roc_auc'``; with several classes ``'accuracy'``.",
    "permutation_test.measure": "A measure string. By default ``'recall'``; with several classes ``'accuracy'``.",
    "check.evaluation": "The evaluation or comparison whose intervals decide; or a table, with its columns named.",
    "check.options": "Options of ``evaluate`` or ``compare``, for a table: ``label``, ``score``, ``by``, …",
    "check.conditions": "Limits such as ``'hit_rate@200 >= 0.5'`` or ``'roc_auc(new) - roc_auc(old) >= -0.01'``.",
    "measure.name": "The name of the measure, or another name for it.",
    "measures.family": "Only the measures of this family: threshold, probability, ranking, quota, classes or other.",
    "several": "Whether to read it as a measure of several classes.",
    "parse_measure.text": "A measure string, such as ``'qrecall@5%'``.",
    "evaluate_cv.estimator": "A scikit-learn classifier; or a mapping from name to classifier, to compare them on the "
    "same splits.",
    "evaluate_cv.sample_weight": "How many cases of the population each test row represents. To weigh training rows, "
    "pass ``params={'sample_weight': …}``.",
    "evaluate_cv.threshold": "Cases with a score above it are predicted positive. By default 0.5 for probabilities "
    "and 0 for a decision function.",
    "evaluate_cv.quota": "A share of the cases: it means the same in a fold and in the whole list.",
    "extrapolate.scores": "Scores of the test cases (rows) for all classes (columns); of two recognisers, by name.",
    "extrapolate.ties": "How a tie with a wrong class counts: ``'random'`` (won by chance), ``'optimistic'`` (a win, "
    "as in the paper) or ``'pessimistic'`` (a loss).",
    "extrapolate.interval": "Whether to compute intervals.",
    "extrapolate.n_resamples": "How often classes are resampled, for a method by name and for two recognisers.",
    "extrapolate.classes": "The class of each column of scores; of several columns of a class the best counts.",
    "extrapolate.groups": "The family of each class, if classes come in families.",
    "extrapolate.costs": "What it costs to call the class of a row the class of a column; zeros on the diagonal.",
    "extrapolate.review": "The share of answers that is reviewed, the least certain first.",
    "extrapolate.strangers": "Scores of probes whose class is not in the gallery, for the same classes.",
    "extrapolate.fpir": "The largest share of strangers that may be falsely identified; 0.01 by default.",
    "plan.fixed_cost": "What it costs to take anyone at all, beside the cost of each case.",
    "plan.quota": "The most cases that may be taken: a number, or a share of the list.",
    "proportion_interval.successes": "How many trials succeeded.",
    "proportion_interval.n": "How many trials there were.",
    "proportion_interval.method": "``'clopper_pearson'``, ``'wilson'``, ``'wald'``, ``'agresti_coull'`` or "
    "``'jeffreys'``.",
    **dict.fromkeys(("count_measure.name", "ranking_measure.name"), "The name to register the measure under."),
    "count_measure.f": "A function that returns a number. Its argument has the attributes ``tp``, ``fp``, ``fn`` and "
    "``tn``.",
    "count_measure.at": "``'threshold'``: the cells of score > threshold; ``'quota'``: those of the best cases, asked "
    "for as ``'name@200'``.",
    "screen.stages": "Pairs of scores and how many to keep: a number of cases, or a share of those who enter.",
    "plan.cost": "The cost of taking one case, or of each row: an array, or the name of a column.",
    "plan.value": "The value of one hit, or of each row: an array, or the name of a column.",
    **dict.fromkeys(("evaluate.cost", "compare.cost"), "What taking each row costs, beside ``worth``."),
    "screen.cost": "What examining one case costs at each stage.",
    "select.quota": "How many to choose: an int is a number of cases, a float strictly between 0 and 1 is a share of "
    "them.",
    "selection_power.simulate": "A function of ``(rng, n)`` that draws n cases and gives them with their labels; or "
    "the labels of a test set, whose rows are then drawn with replacement.",
    "selection_power.models": "A mapping from name to a function that scores cases, or to scores; or a function of "
    "``rng`` that trains new models for each round.",
    "selection_power.better": "The name of the model that is truly better. By default the one that ``goal`` calls "
    "better over all cases of all rounds.",
    "selection_power.wins": "What counts if the better model ties for the best value: ``'half'`` gives it its share "
    "of the win, ``'strict'`` nothing.",
    "selection_power.quota": "Where quota measures cut each test set: a number of cases, or a share of them.",
    "selective_voting.rank_by": "The measure that orders the models.",
    "selective_voting.marks": "The measures that judge the vote of the best X models.",
    "selective_voting.quota": "Where marks at a quota cut the list. By default as many places as there are positives.",
    "threshold_for.quota": "The most cases to take: a number, or a share of the list. A tie across it stays out.",
    "maximize": "A measure of the four counts, such as ``f1`` or ``youden_index``: the cut has its best value.",
    "uplift.source": "Which rows were treated (``treated``), or a table of which the columns are named.",
    "uplift.outcome": "What came of each row: 0 and 1, or an amount; or the name of its column.",
    "uplift.y_score": "The targeting score of each row, or a mapping from name to scores. Higher scores are treated "
    "first.",
    "uplift.treated": "Which rows were treated: 1 and 0, or labels with ``pos_label``; or the name of the column that "
    "tells it.",
    "uplift.score": "The name of the score column, or a list of names.",
    "uplift.propensity": "The probability that each row had of being treated, by the design of the trial; an array, "
    "one number, or the name of its column. By default the same for all rows.",
    "uplift.quota": "How many are treated: an int is a number of cases, a float strictly between 0 and 1 is a share of "
    "them.",
    "uplift.pos_label": "The label of treated rows.",
    "Uplift.gain_in_words.key": "Which of the estimates: ``'gain'``, ``'everyone'`` or ``'over_random'``.",
    "Uplift.gain_in_words.than": "What it is compared with, in words.",
    "Uplift.plot.kind": "``'uplift'``: the gain by number of cases treated.",
    "triplet_loss.margin": "How much farther away the negative must be than the positive.",
    "Evaluation.at.quota": "Cut after this many cases, or this share of them.",
    "Evaluation.at.threshold": "Cut at this score: cases above it are taken.",
    "Evaluation.at.recall": "The cut that finds at least this share of the positives with the fewest cases taken.",
    "Evaluation.at.precision": "The cut that takes the most cases with at least this precision.",
    "Evaluation.at.fpr": "The cut that takes the most cases with at most this false positive rate.",
    "Evaluation.at.specificity": "The cut that takes the most cases with at least this specificity.",
    "Evaluation.curve.name": "``'roc'``, ``'precision_recall'``, ``'gain'``, ``'lift'``, ``'hit_rate'``, "
    "``'qrecall'`` or ``'tpr_fpr'``.",
    "segment": "The segment, by its value or its name in tables.",
    "Segments.at.reference": "The segment that selection rates are compared with. By default the one with the highest "
    "rate.",
    "Segments.at.quota": "How many places the one list has: a number of cases, or a share of them.",
    "to_html.options": "Options of the page: ``title``, ``quota`` (where its cut control starts), ``cost`` and "
    "``value`` (per place and per hit, which add profit).",
    "ClassEvaluation.calibration.bins": "How many groups of equally many rows.",
    "ClassEvaluation.most_confused.n": "How many pairs to show.",
    "ClassEvaluation.of.label": "The class that counts as positive.",
    "ClassEvaluation.plot.kind": "``'confusion'``, ``'risk_coverage'`` or ``'calibration'``.",
    "verdict.question": "The question that the verdict answers, for its sentence.",
    "Comparison.dominance.by": "Over which axis: ``'quota'`` or ``'fpr'``.",
    "Comparison.plot.kind": "Which plot to draw; the kinds are those of ``Evaluation.plot``.",
    "CrossValidation.plot.kind": "Which curve to draw; the kinds are those of ``Evaluation.plot``.",
    "Comparison.recommend.goal": "What you want: ``'known quota'``, ``'unknown quota'``, ``'no missed positives'``, "
    "``'no wasted places'``, ``'fewest errors'``, ``'rare positives'`` or ``'probabilities needed'``.",
    "Comparison.swaps.quota": "How many places there are. By default the comparison's quota.",
    "CrossValidation.values.name": "The measure string.",
    "Estimate.to_dict.name": "The key of the value; another one than ``'value'`` also leads the keys of the ends.",
    "Cut.load.path": "The cut file.",
    "Extrapolation.k": "The number of classes.",
    **dict.fromkeys(("Extrapolation.predict.k", "Extrapolation.curve.k"), "One or many numbers of classes."),
    "Extrapolation.classes_needed.k": "The number of classes to predict for. By default the largest asked for.",
    "Extrapolation.sections.detail": "Whether to show every method and the back-test.",
    "Extrapolation.rank_measure.measure": "``'reciprocal_rank'``, ``'mean_rank'``, ``'median_rank'``, ``'top(5)'``, or "
    "a function of the places 1 … k, 1 the worst, that does not fall.",
    "GrowthComparison.classes_to_tell.power": "The probability to find the difference.",
    "GrowthComparison.sections.detail": "Whether to name the methods.",
    "GrowthTable.sections.detail": "Whether to add what all rows have in common.",
    "Favorability.top_t_accuracy.t": "How many of the best classes may contain the right one.",
    "GrowthMethod.settled.evidence": "The task whose data choose the settings.",
    "InputError.argument": "The argument that cannot be used; None if the problem concerns no single argument.",
    "InputError.problem": "What is wrong with it.",
    "InputError.remedy": "What to do about it.",
    "InputError.row": "The row, counted from 0, or a description if rows have no numbers.",
    "InputError.column": "The column of the table that the argument came from.",
    "InputError.where": "The file or table.",
    "InputError.model": "The model, if there are several.",
    "InputError.but.facts": "The facts to replace, by name.",
    "InputError.located.columns": "The column of each argument.",
    "ClassComparison.per_class.measure": "A measure string, of one class against the rest.",
    "InputError.render.terms": "How the front end names arguments and rows.",
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
    "CurveDisplay.evaluation": "The evaluation whose curve to draw.",
    "CurveDisplay.from_predictions.quota": "The number or share of places to mark on curves over quotas.",
}

# Of measures: what equal scores and thresholds mean there.
OF_MEASURES = {
    "ties": "How equal scores count: ``'expected'`` is the mean over all orders of the tied cases (or their shared "
    "outcome), ``'best'`` and ``'worst'`` are the best and the worst order.",
    "quota": "How many places there are: an int is a number of cases, a float strictly between 0 and 1 a share of "
    "them; a range or a mapping from quota to probability averages over a quota that is not known yet.",
}
OF_CLASS_MEASURES = {
    "y_true": "The class of each case: a list, a NumPy array, a pandas or polars Series, or an Arrow array.",
}

RETURNS: dict[str, str] = {
    "value of a measure": "The value; nan, with an :class:`UndefinedWarning`, if the measure is undefined.",
    "check": "A :class:`Check`: the outcome, and a row for each condition.",
    "compare": "A :class:`Comparison`; with several classes a :class:`ClassComparison`.",
    "evaluate": "An :class:`Evaluation`; with several classes a :class:`ClassEvaluation`.",
    "uplift": "An :class:`Uplift`; for several scores an :class:`UpliftComparison`.",
    "sql": "The query, for the warehouse that was named.",
    "extrapolate": "An :class:`Extrapolation`; of two recognisers a :class:`GrowthComparison`.",
    "every_method": "The methods with their default settings, by name.",
    "evaluate_cv": "A :class:`CrossValidation`; for a mapping of estimators a :class:`CrossValidatedComparison`.",
    "linear_ranking_decomposition": "The score, the oracle's score, and the reducible part in three equal forms.",
    "measure": "The declaration: title, formula, range, reference and the like.",
    "measures": "The declarations, family by family.",
    "misclassification_decomposition": "The score, the oracle's score, and the reducible part in three equal forms.",
    "parse_measure": "The measure with its options; ``str()`` gives the measure string in its shortest form.",
    "count_measure": "The measure as a function of ``(y_true, y_score)``, like those of the catalogue.",
    "ranking_measure": "The measure as a function of ``(y_true, y_score)``, like those of the catalogue.",
    "selector_differences": "Both differences, each from the decisions in which the models differ.",
    "chance_level": "The mean over all orders of the cases.",
    "chance_adjusted": "The value on the scale from chance (0) to a perfect list (1).",
    "scorer": "A scorer, for ``scoring=``.",
}

_RAISES = "If an argument cannot be used; the message names it, the row where there is one, and what to do."


class Parameter(NamedTuple):
    """One parameter as readers see it; ``type`` and ``default`` are source text, empty where there are none."""

    name: str
    type: str
    default: str
    text: str


def explain(owner: str, parameter: str, *also: str) -> str:
    """What a parameter means; ``owner`` is ``evaluate`` or ``Evaluation.at``. Empty where nothing explains it.

    >>> explain("evaluate", "level")
    'The confidence level of intervals and bands, strictly between 0 and 1.'
    """
    method = owner.rpartition(".")[2]
    keys = [f"{name}.{parameter}" for name in (owner, *also, method, owner.partition(".")[0])]
    return next((PARAMETERS[key] for key in (*keys, parameter) if key in PARAMETERS), "")


def clause_on(name: str, owner: Any) -> str:
    """How the docstring of a function or class explains a parameter or field: the clause that names it."""
    words = " ".join(parts_of(inspect.getdoc(owner) or "")[0].split())
    clauses = re.split(r"(?<=[.;,]) (?=``)|(?<=[.)]) (?=[A-Z])", words)
    return next((clause.rstrip(";,") for clause in clauses if f"``{name}``" in clause), "")


def parameters_of(function: Any, owner: str) -> list[Parameter]:
    """The parameters of a function or method, ``self`` left out."""
    of_measures: dict[str, str] = {}
    if hasattr(function, "measure"):
        of_measures = OF_MEASURES if function.measure.of_one_score else OF_CLASS_MEASURES
    defined = getattr(function, "__qualname__", "").removesuffix(".__init__")
    parameters = []
    for p in inspect.signature(function).parameters.values():
        if p.name in ("self", "cls"):
            continue
        text = of_measures.get(p.name) or explain(owner, p.name, defined) or clause_on(p.name, function)
        stars = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
        is_function = inspect.isroutine(p.default)
        default = f"{p.default.__module__}.{p.default.__name__}" if is_function else repr(p.default)
        shown = "" if p.default is p.empty else default
        parameters.append(Parameter(stars + p.name, _source(p.annotation), shown, text))
    return parameters


def _source(annotation: Any) -> str:
    """An annotation as it was written; empty where there is none."""
    if annotation is inspect.Signature.empty:
        return ""
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", repr(annotation))


def returns_of(function: Any, owner: str) -> tuple[str, str]:
    """Type and meaning of what a function gives back; both empty where it gives nothing back."""
    type_ = _source(inspect.signature(function).return_annotation)
    if type_ in ("", "None"):
        return "", ""
    if hasattr(function, "measure"):
        return type_, RETURNS["value of a measure"]
    result = getattr(inspect.unwrap(function), "__globals__", {}).get(type_)
    is_own = inspect.isclass(result) and result.__module__.startswith("cutline")
    summary = (inspect.getdoc(result) or "").partition("\n\n")[0] if is_own else ""
    return type_, RETURNS.get(owner, " ".join(summary.split()))


def parts_of(docstring: str) -> tuple[str, str]:
    """The text of a docstring, and its examples; sections written by hand are left out of the first.

    >>> parts_of("Add one.\\n\\n>>> add(1)\\n2")
    ('Add one.', '>>> add(1)\\n2')
    """
    text, mark, examples = docstring.partition(">>>")
    text = text.removesuffix("Examples\n--------\n").rstrip()
    text = text.partition("\nParameters\n-----")[0].partition("\nAttributes\n-----")[0].rstrip()
    return text, (mark + examples).rstrip()


def numpydoc(function: Any, owner: str) -> str:
    """The whole docstring of a function."""
    text, examples = parts_of(inspect.getdoc(function) or "")
    entries = []
    for p in parameters_of(function, owner):
        kind = ", ".join(filter(None, [p.type, f"default {p.default}" if p.default else ""]))
        entries.append(f"{p.name} : {kind}".removesuffix(" : ") + "\n" + _indented(p.text))
    type_, meaning = returns_of(function, owner)
    sections = {
        "Parameters": "\n".join(entries),
        "Returns": f"{type_}\n{_indented(meaning)}".rstrip() if type_ else "",
        "Raises": f"InputError\n{_indented(_RAISES)}" if entries and "." not in owner else "",
        "Examples": examples,
    }
    written = (f"{title}\n{'-' * len(title)}\n{content}" for title, content in sections.items() if content)
    return "\n\n".join([text, *written]) + "\n"


def _indented(text: str, width: int = 110) -> str:
    """The text in lines of at most that width, indented. (``textwrap`` takes ten times as long, at first use.)"""
    lines, room = [], 0
    for word in text.split():
        if len(word) >= room:
            lines.append("   ")
            room = width - 3
        lines[-1] += f" {word}"
        room -= len(word) + 1
    return "\n".join(lines)


Documented = TypeVar("Documented")


def documented(value: Documented) -> Documented:
    """Give a function, or the methods that a class defines, docstrings in numpydoc form; a decorator.

    >>> @documented
    ... def draw(n: int, *, seed: int = 0) -> None:
    ...     "Draw."
    >>> "seed : int, default 0" in draw.__doc__
    True
    """
    functions = vars(value).values() if inspect.isclass(value) else (value,)
    for function in (getattr(one, "__func__", one) for one in functions):
        if inspect.isfunction(function) and not function.__name__.startswith("_"):
            text = function.__doc__ or ""
            if text and "\nParameters\n-----" not in text:
                function.__doc__ = numpydoc(function, function.__qualname__.rpartition("<locals>.")[2])
    return value
