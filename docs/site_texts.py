"""Texts that only the site shows: what the signs in formulas mean."""

from __future__ import annotations

# of measures of two classes
SYMBOLS = {
    r"TP, FP, FN, TN": "true positives, false positives, false negatives, true negatives at the cut: how many, or "
    "their weight",
    r"n, n^+, n^-": "number of cases, of positives and of negatives",
    r"i": "a case; in Rosset's formulas, a place in the list, where 1 is the worst",
    r"y_i": "outcome of case i: 1 positive, 0 negative (hinge loss: 1 and −1; several classes: the class)",
    r"p_i": "predicted probability that case i is positive",
    r"p_{il}, l": "predicted probability that case i is of class l; a class, in their order",
    r"p_+, p_-": "scores of a positive and of a negative case, drawn at random",
    r"s_i": "score of case i as a signed distance",
    r"\log_b": "logarithm to base b",
    r"\alpha, \beta, \gamma, g": "the options `alpha`, `beta`, `gamma`, `g` of the measure",
    r"\alpha_{t,i}, p_{t,i}": "focal loss: weight and predicted probability of the real class of case i",
    r"\pi_i, q_i": "prior and predicted probability of the real class of case i",
    r"\pi_k": "prior probability of class k",
    r"I(x_i)": "information score of the prediction for case i, in bits",
    r"I\{\ldots\}": "1 if the condition holds, else 0",
    r"P(\ldots)": "probability, or share of the sample",
    r"P_0, P_e": "share of cases where prediction and outcome agree, and the share expected by chance",
    r"t, t_i": "a threshold; the distinct thresholds, highest first",
    r"\mathrm{TPR}, \mathrm{FPR}": "true positive rate TP / (TP + FN) and false positive rate FP / (FP + TN), at a "
    "threshold, at the best j places, or at corner i of the convex hull, which has k corners",
    r"\mathrm{AUC}": "area under the ROC curve",
    r"p(t), r(t)": "precision and recall at threshold t",
    r"p_{\min}(t), p_{\max}(t)": "lowest and highest precision among the cuts with the recall of t",
    r"\mathrm{AP}_k, K": "average precision with class k as the positive one; number of classes",
    r"j, k": "a number of places, the quota; a place of the list, where 1 is the best",
    r"t^{[k]}": "outcome at place k of the list; within a tie, the share of positives",
    r"\mathrm{HitRate}(j), \mathrm{Qrecall}(j), \mathrm{lift}(j)": "these measures at the best j places",
    r"\mathrm{Cov}_{p,t}(j), \sigma_p(j), \sigma_t(j)": "covariance and standard deviations of scores and outcomes "
    "over the best j places",
    r"g_c(j), g_{\mathrm{null}}(j)": "positives among the best j places, and among j cases taken at random",
    r"S_1, S_2, S_3": "areas of PEM: where the list finds more than a random one, where it finds less, and between a "
    "perfect and a random list",
    r"h(i)": "the case at place i, where 1 is the worst",
    r"f(x^a_i), f(x^p_i), f(x^n_i), N": "embeddings of anchor, positive and negative of triplet i; number of triplets",
    r"\mathrm{margin}": "the option `margin`",
    r"H(n)": "harmonic number 1 + 1/2 + … + 1/n",
    r"r_i": "place of the positive i in the list, where 1 is the best",
    r"f": "the option `fpr`",
    r"c, w(c), L(c), L_0(c)": "cost of a false positive, where a false negative costs 1 − c; its weight (a Beta "
    "density); the least cost of any threshold, and of the better of the two trivial rules",
    r"b, n_b, \bar p_b, \bar y_b": "a bin of probabilities; its cases, their mean probability and their share of "
    "positives",
}

# of measures of several classes
CLASS_SYMBOLS = {
    r"n, K": "number of cases, of classes",
    r"n_{kl}, n_{k\cdot}, n_{\cdot k}": "cases of class k predicted as class l, cases of class k, cases predicted as k",
    r"y_i, \hat y_i": "real and predicted class of case i",
    r"p_{ik}": "score, or predicted probability, of class k for case i",
    r"o_{ik}": "1 if case i belongs to class k, else 0",
    r"r_i": "place of the real class of case i when its scores are sorted, 1 being the highest",
    r"v_{kl}": "weight of the confusion of classes k and l",
    r"A(k\mid l)": "probability that a case of class k scores higher for class k than one of class l; ties count ½",
    r"m_k": "the binary measure of class k against the rest",
    r"\mathrm{AP}_k, \pi_k": "average precision of class k against the rest; share of class k",
    r"e_j": "share of errors among the j most confident predictions",
}
