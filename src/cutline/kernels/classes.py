"""Compiled passes over the scores of several classes. Each says what it sums; inference and catalogue do the algebra.

A column of scores is read in the order of its scores, highest first; ``tie[i]`` says that place i and the next share
one score. A replicate of a sample is a column of ``times``: how often each row was drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .jit import inlined, kernel
from .rng import draw


@kernel
def scan_rows(matrix: Any, code: Any, top: Any, place: Any, columns: Any, extremes: Any) -> int:
    """Facts of each row in one pass; gives the first row that holds NaN, or −1.

    ``columns``: score of the real class, Σ p², squared distance of the cumulative distributions, highest score.
    ``extremes``: lowest and highest score, lowest and highest row sum, rows whose highest score is shared.
    """
    n, k = matrix.shape
    lowest, highest, least, most, ties = extremes[0], extremes[1], extremes[2], extremes[3], 0
    for i in range(n):
        real = code[i]
        line = matrix[i]
        true = line[real]
        best, at, worst = line[0], 0, line[0]
        for j in range(1, k):
            p = line[j]
            if p > best:
                best, at = p, j
            worst = min(worst, p)
        square, distance, running, before, equal = 0.0, 0.0, 0.0, 0, 0
        for j in range(real):
            p = np.float64(line[j])
            before += line[j] >= true
            equal += line[j] == best
            square += p * p
            running += p
            distance += running * running
        for j in range(real, k):
            p = np.float64(line[j])
            before += line[j] > true
            equal += line[j] == best
            square += p * p
            running += p
            distance += (running - 1.0) * (running - 1.0)
        distance -= (running - 1.0) * (running - 1.0)
        if running != running:  # a missing score, or two infinities of either sign
            for j in range(k):
                if line[j] != line[j]:
                    return i
        lowest, highest = min(lowest, np.float64(worst)), max(highest, np.float64(best))
        least, most = min(least, running), max(most, running)
        ties += equal > 1
        top[i] = at
        place[i] = before
        columns[0, i] = true
        columns[1, i] = square
        columns[2, i] = distance
        columns[3, i] = best
    extremes[0], extremes[1], extremes[2], extremes[3], extremes[4] = lowest, highest, least, most, ties
    return -1


@kernel
def spread_columns(matrix: Any, code: Any, start: Any, first: int, out: Any) -> None:
    """Columns ``first`` … of the matrix, each in one line of ``out``, the cases of class j from ``start[j]`` on."""
    at = start.copy()
    for i in range(len(code)):
        to = at[code[i]]
        at[code[i]] = to + 1
        for j in range(out.shape[0]):
            out[j, to] = matrix[i, first + j]


@kernel
def sum_sorted_column(values: Any, start: Any, k: int, negatives: Any, out: Any) -> None:
    """AUC against the rest, mean AUC against each other class, and average precision of class ``k``; rows count 1.

    ``values[start[j] : start[j + 1]]`` are the scores of the cases of class j, lowest first. ``negatives`` is work
    space: how many negatives score at least as high as each positive.
    """
    p0, p1 = start[k], start[k + 1]
    size = p1 - p0
    n = start[len(start) - 1]
    for i in range(size):
        negatives[i] = 0
    wins, mean = 0.0, 0.0
    for j in range(len(start) - 1):
        if j == k:
            continue
        a, b = start[j], start[j + 1]
        if a == b:
            mean = np.nan
            continue
        # for each positive, lowest first: how many of class j lie below it, and how many are equal to it
        at, won = a, 0.0
        i = p0
        while i < p1:
            score = values[i]
            while at < b and values[at] < score:
                at += 1
            equal = at
            while equal < b and values[equal] == score:
                equal += 1
            gain = (at - a) + 0.5 * (equal - at)
            above = b - at
            while i < p1 and values[i] == score:
                won += gain
                negatives[i - p0] += above
                i += 1
        wins += won
        mean += won / (np.float64(size) * (b - a))
    precision = 0.0
    i = size - 1
    while i >= 0:
        first = i
        while first > 0 and values[p0 + first - 1] == values[p0 + i]:
            first -= 1
        hits = size - first
        precision += (i - first + 1) * (np.float64(hits) / (hits + negatives[first]))
        i = first - 1
    out[0] = wins / (np.float64(size) * (n - size)) if size else np.nan
    out[1] = mean / (len(start) - 2) if size else np.nan
    out[2] = precision / size if size else np.nan


@kernel
def sum_column(order: Any, tie: Any, code: Any, weight: Any, k: int, totals: Any, out: Any) -> None:
    """The same three areas of class ``k`` for rows that count by weight."""
    n_classes = len(totals)
    positives = totals[k]
    rest = totals.sum() - positives
    above, negatives, wins, mean, precision = 0.0, 0.0, 0.0, 0.0, 0.0
    i, n = 0, len(order)
    while i < n:
        last = i
        while last < n - 1 and tie[last]:
            last += 1
        hits, misses, shares = 0.0, 0.0, 0.0
        for at in range(i, last + 1):
            row = order[at]
            if code[row] == k:
                hits += weight[row]
            else:
                misses += weight[row]
                shares += weight[row] / totals[code[row]]
        wins += misses * (above + 0.5 * hits)
        mean += shares * (above + 0.5 * hits)
        above += hits
        negatives += misses
        if hits > 0.0:
            precision += hits * (above / (above + negatives))
        i = last + 1
    missing = False
    for j in range(n_classes):
        if totals[j] == 0.0:
            missing = True
    out[0] = wins / (positives * rest) if positives > 0.0 and rest > 0.0 else np.nan
    out[1] = np.nan if missing else mean / (positives * (n_classes - 1))
    out[2] = precision / positives if positives > 0.0 else np.nan


@kernel
def add_influence(
    order: Any,
    tie: Any,
    code: Any,
    weight: Any,
    k: int,
    totals: Any,
    areas: Any,
    slopes: Any,
    work: Any,
    out: Any,
    squares: Any,
) -> None:
    """Add to ``out[:, m]`` each row's part in the areas of class ``k``, times the slope of measure m in each area.

    A row's part is the derivative of the area by the row's weight; that of the mean over the other classes is to be
    centred within each class afterwards. ``areas``: the three areas of ``sum_column``;
    ``slopes[m, :, k]``: derivative of measure m by them. ``work``: (4, n). ``squares``: sums of the squared parts
    of the AUC and of the average precision, and the jackknife's estimate of the latter's bias: n − 1 times what it
    rises on average when a case is left out.
    """
    n_classes = len(totals)
    positives = totals[k]
    rest = totals.sum() - positives
    n, n_measures = len(order), out.shape[1]
    others = np.float64(n_classes - 1)
    kinds, cases = np.empty(n, np.int32), np.empty(n)
    for at in range(n):
        kinds[at], cases[at] = code[order[at]], weight[order[at]]
    inverse = 1.0 / totals
    case = (cases @ cases) / cases.sum()  # the weight of one case (Kish 1965); 1 where rows count alike
    size, size_all, without = positives / case, (positives + rest) / case, 0.0
    # down the list: positives above each place (half of a tie's own), all up to the end of its tie, and the tie's own
    above, negatives = 0.0, 0.0
    i = 0
    while i < n:
        last = i
        while last < n - 1 and tie[last]:
            last += 1
        hits, misses = 0.0, 0.0
        for at in range(i, last + 1):
            if kinds[at] == k:
                hits += cases[at]
            else:
                misses += cases[at]
        for at in range(i, last + 1):
            work[0, at] = above + 0.5 * hits
            work[1, at] = above + hits
            work[2, at] = negatives + misses
            work[3, at] = hits
        above += hits
        negatives += misses
        i = last + 1
    # up the list: what lies below, and what a row changes in the precision of the places below it
    below, shares, lost, gained = 0.0, 0.0, 0.0, 0.0
    i = n - 1
    while i >= 0:
        first = i
        while first > 0 and tie[first - 1]:
            first -= 1
        hits, tp, fp = work[3, i], work[1, i], work[2, i]
        misses, part = 0.0, 0.0
        for at in range(first, i + 1):
            if kinds[at] != k:
                misses += cases[at]
                part += cases[at] * inverse[kinds[at]]
        whole = tp + fp
        if hits > 0.0:
            lost += hits * tp / (whole * whole)
            gained += hits * fp / (whole * whole)
            t, f, h = tp / case, fp / case, hits / case
            without += h / size * f * t / (max(t + f - 1.0, t) * (t + f))  # a negative above is left out
            if size > 1.0:  # a positive above, or one below
                above = max(t - 1.0, 0.0)
                without += (
                    h
                    * ((above * above / (above + f) if above > 0.0 else 0.0) + (size - t) * t / (t + f))
                    / (size - 1.0)
                )
        for at in range(first, i + 1):
            if kinds[at] == k:
                of_auc = (below + 0.5 * misses) / (positives * rest) - areas[0] / positives
                of_mean = (shares + 0.5 * part) / (positives * others) - areas[1] / positives
                of_precision = (tp / whole + gained - areas[2]) / positives
            else:
                of_auc = work[0, at] / (positives * rest) - areas[0] / rest
                of_mean = work[0, at] * inverse[kinds[at]] / (positives * others)  # centred class by class afterwards
                of_precision = -lost / positives
            squares[0] += (cases[at] * of_auc) ** 2
            squares[1] += (cases[at] * of_precision) ** 2
            row = order[at]
            for m in range(n_measures):
                value = 0.0
                if slopes[m, 0, k] != 0.0:
                    value += slopes[m, 0, k] * of_auc
                if slopes[m, 1, k] != 0.0:
                    value += slopes[m, 1, k] * of_mean
                if slopes[m, 2, k] != 0.0:
                    value += slopes[m, 2, k] * of_precision
                out[row, m] += value
        below += misses
        shares += part
        i = first - 1
    squares[2] = (size_all - 1.0) / size_all * (without - (size * areas[2] if size > 1.0 else 0.0))


@inlined
def _harmonic(x: Any) -> Any:
    """1 + 1/2 + … + 1/x, continued to fractions (digamma(x + 1) + γ)."""
    y = x + 1.0
    shift = 0.0
    while y < 8.0:
        shift -= 1.0 / y
        y += 1.0
    r = 1.0 / (y * y)
    series = r * (1.0 / 12.0 - r * (1.0 / 120.0 - r * (1.0 / 252.0 - r / 240.0)))
    return shift + np.log(y) - 0.5 / y - series + 0.5772156649015329


@kernel
def sum_risk(order: Any, tie: Any, right: Any, weight: Any) -> float:
    """Mean, over the number of cases answered, of the share of errors among the most confident ones."""
    answered, errors, area, at_start = 0.0, 0.0, 0.0, 0.0
    i, n = 0, len(order)
    while i < n:
        last = i
        while last < n - 1 and tie[last]:
            last += 1
        size, wrong = 0.0, 0.0
        for at in range(i, last + 1):
            size += weight[order[at]]
            if not right[order[at]]:
                wrong += weight[order[at]]
        if size > 0.0:
            at_end = _harmonic(answered + size)
            area += (errors - wrong * answered / size) * (at_end - at_start) + wrong
            at_start = at_end
            answered += size
            errors += wrong
        i = last + 1
    return area / answered


@kernel
def add_risk_influence(order: Any, tie: Any, right: Any, weight: Any, out: Any) -> None:
    """Each row's part in the area of ``sum_risk``: its derivative by the row's weight, the list taken as continuous."""
    n = len(order)
    total, wrong_in_all = 0.0, 0.0
    for i in range(n):
        total += weight[order[i]]
        if not right[order[i]]:
            wrong_in_all += weight[order[i]]
    left, later, area = total, 0.0, 0.0  # later: ∫ error share / place below
    i = n - 1
    while i >= 0:
        first = i
        while first > 0 and tie[first - 1]:
            first -= 1
        size, wrong = 0.0, 0.0
        for at in range(first, i + 1):
            size += weight[order[at]]
            if not right[order[at]]:
                wrong += weight[order[at]]
        middle = left - 0.5 * size
        rate = wrong / size
        half = rate * np.log(left / middle)
        for at in range(first, i + 1):
            row = order[at]
            error = 0.0 if right[row] else 1.0
            out[row] = error * np.log(total / middle) - (later + half)
        start = left - size
        later += rate * np.log(left / start) if start > 0.0 else half
        left = start
        i = first - 1
    for i in range(n):
        out[i] = (out[i] + wrong_in_all / total) / total
    for i in range(n):
        area += out[i] * weight[i]
    for i in range(n):
        out[i] -= area / total


@kernel
def draw_times(seed: int, first: int, unit: Any, n_units: int, counts: Any, times: Any) -> None:
    """Draw a block of replicates: ``times[i, b]`` says how often row i came into replicate ``first + b``."""
    for b in range(times.shape[1]):
        counts[:] = 0
        draw(counts, 0, n_units, seed, first + b)
        if len(unit):
            for i in range(len(unit)):
                times[i, b] = counts[unit[i]]
        else:
            for i in range(n_units):
                times[i, b] = counts[i]


@kernel
def resample_rows(
    times: Any, weight: Any, code: Any, predicted: Any, values: Any, hits: Any, truth: Any, answers: Any, sums: Any
) -> None:
    """Totals of a block of replicates by class (right, real, predicted; lines: classes), and of each row's values."""
    n, n_values = values.shape
    blocks = times.shape[1]
    cases = np.empty(blocks)
    for i in range(n):
        real, said, w = code[i], predicted[i], weight[i]
        for b in range(blocks):
            cases[b] = times[i, b] * w
        for b in range(blocks):
            truth[real, b] += cases[b]
        for b in range(blocks):
            answers[said, b] += cases[b]
        if real == said:
            for b in range(blocks):
                hits[real, b] += cases[b]
        for m in range(n_values):
            v = values[i, m]
            for b in range(blocks):
                sums[m, b] += cases[b] * v


@kernel
def resample_information(times: Any, weight: Any, code: Any, true: Any, truth: Any, out: Any) -> None:
    """Sums of the information score, in nats, with each replicate's own shares of the classes as the prior."""
    n_classes, blocks = truth.shape
    prior = np.empty((n_classes, blocks))
    log_prior = np.empty((n_classes, blocks))
    log_rest = np.empty((n_classes, blocks))
    for b in range(blocks):
        total = 0.0
        for k in range(n_classes):
            total += truth[k, b]
        for k in range(n_classes):
            prior[k, b] = truth[k, b] / total
            log_prior[k, b] = np.log(prior[k, b])
            log_rest[k, b] = np.log1p(-prior[k, b])
    for i in range(len(code)):
        k, p, w = code[i], true[i], weight[i]
        log_p, log_q = np.log(p), np.log1p(-p)
        for b in range(blocks):
            if times[i, b]:
                gain = log_p - log_prior[k, b] if p >= prior[k, b] else log_rest[k, b] - log_q
                out[b] += times[i, b] * w * gain


@kernel
def resample_risk(times: Any, weight: Any, order: Any, tie: Any, right: Any, harmonic: Any, out: Any) -> None:
    """The area of ``sum_risk`` for a block of replicates; ``harmonic`` is a table where rows count 1, else empty."""
    n, blocks = len(order), times.shape[1]
    answered, errors, size, wrong = np.zeros(blocks), np.zeros(blocks), np.zeros(blocks), np.zeros(blocks)
    table = len(harmonic) > 0
    for b in range(blocks):
        out[b] = 0.0
    for i in range(n):
        row = order[i]
        w = weight[row]
        for b in range(blocks):
            size[b] += times[row, b] * w
        if not right[row]:
            for b in range(blocks):
                wrong[b] += times[row, b] * w
        if tie[i]:
            continue
        for b in range(blocks):
            if size[b] > 0.0:
                end = answered[b] + size[b]
                slope = errors[b] - wrong[b] * answered[b] / size[b]
                if slope != 0.0:
                    if table:
                        rise = harmonic[int(end)] - harmonic[int(answered[b])]
                    else:
                        rise = _harmonic(end) - _harmonic(answered[b])
                    out[b] += slope * rise
                out[b] += wrong[b]
                answered[b] = end
                errors[b] += wrong[b]
                size[b] = 0.0
                wrong[b] = 0.0
    for b in range(blocks):
        out[b] /= answered[b]


@kernel
def resample_column(
    times: Any, weight: Any, order: Any, tie: Any, kinds: Any, k: int, truth: Any, shares: Any, out: Any
) -> None:
    """The three areas of class ``k`` for a block of replicates, into ``out[0 … 2]``.

    ``kinds``: class of the row at each place; ``truth`` and ``shares``: each class's total and its reciprocal.
    """
    n_classes, blocks = truth.shape
    n = len(order)
    above, negatives = np.zeros(blocks), np.zeros(blocks)
    wins, mean, precision = np.zeros(blocks), np.zeros(blocks), np.zeros(blocks)
    hits, misses, parts = np.zeros(blocks), np.zeros(blocks), np.zeros(blocks)
    i = 0
    while i < n:
        row, kind = order[i], kinds[i]
        w = weight[row]
        if not tie[i]:
            if kind == k:
                for b in range(blocks):
                    c = times[row, b] * w
                    above[b] += c
                    if c > 0.0:
                        precision[b] += c * (above[b] / (above[b] + negatives[b]))
            else:
                for b in range(blocks):
                    c = times[row, b] * w
                    won = c * above[b]
                    negatives[b] += c
                    wins[b] += won
                    mean[b] += won * shares[kind, b]
            i += 1
            continue
        hits[:] = 0.0
        misses[:] = 0.0
        parts[:] = 0.0
        more = True
        while more:
            row, kind, more = order[i], kinds[i], tie[i]
            w = weight[row]
            for b in range(blocks):
                c = times[row, b] * w
                if kind == k:
                    hits[b] += c
                else:
                    misses[b] += c
                    parts[b] += c * shares[kind, b]
            i += 1
        for b in range(blocks):
            reach = above[b] + 0.5 * hits[b]
            wins[b] += misses[b] * reach
            if parts[b] > 0.0:
                mean[b] += parts[b] * reach
            above[b] += hits[b]
            negatives[b] += misses[b]
            if hits[b] > 0.0:
                precision[b] += hits[b] * (above[b] / (above[b] + negatives[b]))
    for b in range(blocks):
        missing = False
        for j in range(n_classes):
            if truth[j, b] == 0.0:
                missing = True
        positives = truth[k, b]
        rest = negatives[b]
        out[0, b] = wins[b] / (positives * rest) if positives > 0.0 and rest > 0.0 else np.nan
        out[1, b] = np.nan if missing else mean[b] / (positives * (n_classes - 1))
        out[2, b] = precision[b] / positives if positives > 0.0 else np.nan
