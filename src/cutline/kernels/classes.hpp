// Passes over the scores of several classes. Each says what it sums; inference and catalogue do the algebra. A column of
// scores is read in the order of its scores, highest first; tie[i] says that place i and the next share one score. A
// replicate of a sample is a column of `times`: how often each row was drawn.
#pragma once
#include "replicates.hpp"

namespace cutline {

// Facts of each row in one pass; gives the first row that holds NaN, or −1. `columns`: score of the real class, Σ p²,
// squared distance of the cumulative distributions, highest score. `extremes`: lowest and highest score, lowest and
// highest row sum, rows whose highest score is shared.
template <class S>
int64_t scan_rows(const S* matrix, int64_t n, int64_t k, const int32_t* code, int32_t* top, int32_t* place,
                  double* columns, double* extremes) {
    double lowest = extremes[0], highest = extremes[1], least = extremes[2], most = extremes[3];
    int64_t ties = 0;
    for (int64_t i = 0; i < n; ++i) {
        const int32_t real = code[i];
        const S* line = matrix + i * k;
        const S actual = line[real];
        S best = line[0], worst = line[0];
        int32_t at = 0, before = 0, equal = 0;
        for (int64_t j = 1; j < k; ++j) {
            if (line[j] > best) {
                best = line[j];
                at = static_cast<int32_t>(j);
            }
            worst = std::min(worst, line[j]);
        }
        double square = 0.0, distance = 0.0, running = 0.0;
        for (int64_t j = 0; j < k; ++j) {
            const double p = static_cast<double>(line[j]);
            before += j < real ? line[j] >= actual : line[j] > actual;
            equal += line[j] == best;
            square += p * p;
            running += p;
            const double gap = j < real ? running : running - 1.0;
            distance += gap * gap;
        }
        distance -= (running - 1.0) * (running - 1.0);
        if (running != running)  // a missing score, or two infinities of either sign
            for (int64_t j = 0; j < k; ++j)
                if (line[j] != line[j]) return i;
        lowest = std::min(lowest, static_cast<double>(worst));
        highest = std::max(highest, static_cast<double>(best));
        least = std::min(least, running);
        most = std::max(most, running);
        ties += equal > 1;
        top[i] = at;
        place[i] = before;
        columns[i] = static_cast<double>(actual);
        columns[n + i] = square;
        columns[2 * n + i] = distance;
        columns[3 * n + i] = static_cast<double>(best);
    }
    extremes[0] = lowest;
    extremes[1] = highest;
    extremes[2] = least;
    extremes[3] = most;
    extremes[4] = static_cast<double>(ties);
    return -1;
}

// Columns first … of the matrix, each in one line of `out`, the cases of class j from start[j] on.
template <class S>
void spread_columns(const S* matrix, int64_t n, int64_t k, const int32_t* code, View<const int64_t> start,
                    int64_t first, S* out, int64_t lines) {
    std::vector<int64_t> at(start.data, start.data + start.size);
    for (int64_t i = 0; i < n; ++i) {
        const int64_t to = at[code[i]]++;
        for (int64_t j = 0; j < lines; ++j) out[j * n + to] = matrix[i * k + first + j];
    }
}

// AUC against the rest, mean AUC against each other class, and average precision of class k; rows count 1.
// values[start[j] … start[j + 1]) are the scores of the cases of class j, lowest first. `negatives` is work space: how
// many negatives score at least as high as each positive.
template <class S>
void sum_sorted_column(const S* values, View<const int64_t> start, int64_t k, int64_t* negatives, double* out) {
    const int64_t p0 = start[k], p1 = start[k + 1], size = p1 - p0, n = start[start.size - 1];
    std::fill(negatives, negatives + size, 0);
    double wins = 0.0, mean = 0.0;
    for (int64_t j = 0; j < start.size - 1; ++j) {
        if (j == k) continue;
        const int64_t a = start[j], b = start[j + 1];
        if (a == b) {
            mean = NaN;
            continue;
        }
        // for each positive, lowest first: how many of class j lie below it, and how many are equal to it
        int64_t at = a, i = p0;
        double won = 0.0;
        while (i < p1) {
            const S score = values[i];
            while (at < b && values[at] < score) ++at;
            int64_t equal = at;
            while (equal < b && values[equal] == score) ++equal;
            const double gain = static_cast<double>(at - a) + 0.5 * static_cast<double>(equal - at);
            for (; i < p1 && values[i] == score; ++i) {
                won += gain;
                negatives[i - p0] += b - at;
            }
        }
        wins += won;
        mean += won / (static_cast<double>(size) * static_cast<double>(b - a));
    }
    double precision = 0.0;
    for (int64_t i = size - 1; i >= 0;) {
        int64_t first = i;
        while (first > 0 && values[p0 + first - 1] == values[p0 + i]) --first;
        const int64_t hits = size - first;
        precision += static_cast<double>(i - first + 1) *
                     (static_cast<double>(hits) / static_cast<double>(hits + negatives[first]));
        i = first - 1;
    }
    out[0] = size ? wins / (static_cast<double>(size) * static_cast<double>(n - size)) : NaN;
    out[1] = size ? mean / static_cast<double>(start.size - 2) : NaN;
    out[2] = size ? precision / static_cast<double>(size) : NaN;
}

// A column of scores: rows in its order, ties between neighbours, and what the rows are.
struct Column {
    View<const int32_t> order;
    const uint8_t* tie;
    const double* weight;
    int64_t end_of_tie(int64_t i) const {  // the last place that shares the score of place i
        while (i < order.size - 1 && tie[i]) ++i;
        return i;
    }
    int64_t start_of_tie(int64_t i) const {
        while (i > 0 && tie[i - 1]) --i;
        return i;
    }
};

inline double sum_of(View<const double> values) {
    double total = 0.0;
    for (int64_t j = 0; j < values.size; ++j) total += values[j];
    return total;
}

// The same three areas of class k for rows that count by weight.
inline void sum_column(const Column& column, const int32_t* code, int64_t k, View<const double> totals, double* out) {
    const double positives = totals[k], rest = sum_of(totals) - positives;
    double above = 0.0, negatives = 0.0, wins = 0.0, mean = 0.0, precision = 0.0;
    std::vector<double> inverse(totals.size);
    for (int64_t j = 0; j < totals.size; ++j) inverse[j] = j == k ? 0.0 : 1.0 / totals[j];
    for (int64_t i = 0; i < column.order.size;) {
        const int64_t last = column.end_of_tie(i);
        double hits = 0.0, misses = 0.0, shares = 0.0;
        for (int64_t at = i; at <= last; ++at) {
            const int64_t row = column.order[at];
            const double weight = column.weight[row], own = code[row] == k;  // no branch that could be predicted wrongly
            hits += own * weight;
            misses += (1.0 - own) * weight;
            shares += weight * inverse[code[row]];
        }
        wins += misses * (above + 0.5 * hits);
        mean += shares * (above + 0.5 * hits);
        above += hits;
        negatives += misses;
        if (hits > 0.0) precision += hits * (above / (above + negatives));
        i = last + 1;
    }
    bool missing = false;
    for (int64_t j = 0; j < totals.size; ++j) missing |= totals[j] == 0.0;
    out[0] = positives > 0.0 && rest > 0.0 ? wins / (positives * rest) : NaN;
    out[1] = missing ? NaN : mean / (positives * static_cast<double>(totals.size - 1));
    out[2] = positives > 0.0 ? precision / positives : NaN;
}

// Add to out[row, m] each row's part in the areas of class k, times the slope of measure m in each area. A row's part is
// the derivative of the area by the row's weight; that of the mean over the other classes is to be centred within each
// class afterwards. `areas`: the three areas of sum_column; slopes[m, area, class]: derivative of measure m by them.
// `squares`: sums of the squared parts of the AUC and of the average precision, and the jackknife's estimate of the
// latter's bias: n − 1 times what it rises on average when a case is left out.
inline void add_influence(const Column& column, const int32_t* code, int64_t k, View<const double> totals,
                          const double* areas, const double* slopes, double* out, int64_t n_measures, double* squares) {
    const int64_t n = column.order.size, n_classes = totals.size;
    const double positives = totals[k], rest = sum_of(totals) - positives, others = static_cast<double>(n_classes - 1);
    std::vector<int32_t> kinds(n);
    std::vector<double> cases(n), half(n), ends_pos(n), ends_neg(n), in_tie(n), inverse(n_classes);
    double weight = 0.0, weight_squared = 0.0;
    for (int64_t at = 0; at < n; ++at) {
        kinds[at] = code[column.order[at]];
        cases[at] = column.weight[column.order[at]];
        weight += cases[at];
        weight_squared += cases[at] * cases[at];
    }
    for (int64_t j = 0; j < n_classes; ++j) inverse[j] = 1.0 / totals[j];
    const double one = weight_squared / weight;  // the weight of one case (Kish 1965); 1 where rows count alike
    const double size = positives / one, size_all = (positives + rest) / one;
    double without = 0.0;
    // down the list: positives above each place (half of a tie's own), all up to the end of its tie, and the tie's own
    double above = 0.0, negatives = 0.0;
    for (int64_t i = 0; i < n;) {
        const int64_t last = column.end_of_tie(i);
        double hits = 0.0, misses = 0.0;
        for (int64_t at = i; at <= last; ++at) (kinds[at] == k ? hits : misses) += cases[at];
        for (int64_t at = i; at <= last; ++at) {
            half[at] = above + 0.5 * hits;
            ends_pos[at] = above + hits;
            ends_neg[at] = negatives + misses;
            in_tie[at] = hits;
        }
        above += hits;
        negatives += misses;
        i = last + 1;
    }
    // up the list: what lies below, and what a row changes in the precision of the places below it
    double below = 0.0, shares = 0.0, lost = 0.0, gained = 0.0;
    for (int64_t i = n - 1; i >= 0;) {
        const int64_t first = column.start_of_tie(i);
        const double hits = in_tie[i], tp = ends_pos[i], fp = ends_neg[i], whole = tp + fp;
        double misses = 0.0, part = 0.0;
        for (int64_t at = first; at <= i; ++at)
            if (kinds[at] != k) {
                misses += cases[at];
                part += cases[at] * inverse[kinds[at]];
            }
        if (hits > 0.0) {
            lost += hits * tp / (whole * whole);
            gained += hits * fp / (whole * whole);
            const double t = tp / one, f = fp / one, h = hits / one;
            without += h / size * f * t / (std::max(t + f - 1.0, t) * (t + f));  // a negative above is left out
            if (size > 1.0) {  // a positive above, or one below
                const double higher = std::max(t - 1.0, 0.0);
                without += h *
                           ((higher > 0.0 ? higher * higher / (higher + f) : 0.0) + (size - t) * t / (t + f)) /
                           (size - 1.0);
            }
        }
        for (int64_t at = first; at <= i; ++at) {
            double of_auc, of_mean, of_precision;
            if (kinds[at] == k) {
                of_auc = (below + 0.5 * misses) / (positives * rest) - areas[0] / positives;
                of_mean = (shares + 0.5 * part) / (positives * others) - areas[1] / positives;
                of_precision = (tp / whole + gained - areas[2]) / positives;
            } else {
                of_auc = half[at] / (positives * rest) - areas[0] / rest;
                of_mean = half[at] * inverse[kinds[at]] / (positives * others);  // centred class by class afterwards
                of_precision = -lost / positives;
            }
            const double by_auc = cases[at] * of_auc, by_precision = cases[at] * of_precision;
            squares[0] += by_auc * by_auc;
            squares[1] += by_precision * by_precision;
            double* line = out + column.order[at] * n_measures;
            for (int64_t m = 0; m < n_measures; ++m) {
                const double* slope = slopes + (3 * m) * n_classes + k;
                double value = 0.0;
                if (slope[0] != 0.0) value += slope[0] * of_auc;
                if (slope[n_classes] != 0.0) value += slope[n_classes] * of_mean;
                if (slope[2 * n_classes] != 0.0) value += slope[2 * n_classes] * of_precision;
                line[m] += value;
            }
        }
        below += misses;
        shares += part;
        i = first - 1;
    }
    squares[2] = (size_all - 1.0) / size_all * (without - (size > 1.0 ? size * areas[2] : 0.0));
}

// 1 + 1/2 + … + 1/x, continued to fractions (digamma(x + 1) + γ).
inline double harmonic_number(double x) {
    double y = x + 1.0, shift = 0.0;
    while (y < 8.0) {
        shift -= 1.0 / y;
        y += 1.0;
    }
    const double r = 1.0 / (y * y);
    const double series = r * (1.0 / 12.0 - r * (1.0 / 120.0 - r * (1.0 / 252.0 - r / 240.0)));
    return shift + std::log(y) - 0.5 / y - series + 0.5772156649015329;
}

// Mean, over the number of cases answered, of the share of errors among the most confident ones.
inline double sum_risk(const Column& column, const uint8_t* right) {
    double answered = 0.0, errors = 0.0, area = 0.0, at_start = 0.0;
    for (int64_t i = 0; i < column.order.size;) {
        const int64_t last = column.end_of_tie(i);
        double size = 0.0, wrong = 0.0;
        for (int64_t at = i; at <= last; ++at) {
            const int64_t row = column.order[at];
            size += column.weight[row];
            if (!right[row]) wrong += column.weight[row];
        }
        if (size > 0.0) {
            const double at_end = harmonic_number(answered + size);
            area += (errors - wrong * answered / size) * (at_end - at_start) + wrong;
            at_start = at_end;
            answered += size;
            errors += wrong;
        }
        i = last + 1;
    }
    return area / answered;
}

// Each row's part in the area of sum_risk: its derivative by the row's weight, the list taken as continuous.
inline void add_risk_influence(const Column& column, const uint8_t* right, double* out) {
    const int64_t n = column.order.size;
    double total = 0.0, wrong_in_all = 0.0;
    for (int64_t i = 0; i < n; ++i) {
        const int64_t row = column.order[i];
        total += column.weight[row];
        if (!right[row]) wrong_in_all += column.weight[row];
    }
    double left = total, later = 0.0, area = 0.0;  // later: ∫ error share / place below
    for (int64_t i = n - 1; i >= 0;) {
        const int64_t first = column.start_of_tie(i);
        double size = 0.0, wrong = 0.0;
        for (int64_t at = first; at <= i; ++at) {
            const int64_t row = column.order[at];
            size += column.weight[row];
            if (!right[row]) wrong += column.weight[row];
        }
        const double middle = left - 0.5 * size, rate = wrong / size, half = rate * std::log(left / middle);
        for (int64_t at = first; at <= i; ++at) {
            const int64_t row = column.order[at];
            out[row] = (right[row] ? 0.0 : 1.0) * std::log(total / middle) - (later + half);
        }
        const double start = left - size;
        later += start > 0.0 ? rate * std::log(left / start) : half;
        left = start;
        i = first - 1;
    }
    for (int64_t i = 0; i < n; ++i) out[i] = (out[i] + wrong_in_all / total) / total;
    for (int64_t i = 0; i < n; ++i) area += out[i] * column.weight[i];
    for (int64_t i = 0; i < n; ++i) out[i] -= area / total;
}

}  // namespace cutline
