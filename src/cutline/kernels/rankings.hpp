// Passes over a ranking: every one walks its groups best first and carries what came before them, so a piece of a
// ranking can be summed by itself. Counts are whole numbers, or weights; sums keep the order of the groups, so they
// have the same bits on every machine (build with -ffp-contract=off).
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <type_traits>
#include <vector>

namespace cutline {

using std::int32_t;
using std::int64_t;
using std::uint16_t;
using std::uint64_t;
using std::uint8_t;

constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
constexpr double Inf = std::numeric_limits<double>::infinity();

// An array and its length. A build with -DCUTLINE_BOUNDS checks every index.
template <class T>
struct View {
    T* data = nullptr;
    int64_t size = 0;
    T& operator[](int64_t i) const {
#ifdef CUTLINE_BOUNDS
        if (i < 0 || i >= size) std::abort();
#endif
        return data[i];
    }
    View slice(int64_t from, int64_t to) const { return {data + from, to - from}; }
};

template <class T>
View<T> view(std::vector<T>& values) {
    return {values.data(), static_cast<int64_t>(values.size())};
}

template <class T>
View<const T> fixed(const std::vector<T>& values) {
    return {values.data(), static_cast<int64_t>(values.size())};
}

// What counts add up to: 64-bit integers are exact, weights are floats.
template <class C>
using Total = std::conditional_t<std::is_integral_v<C>, int64_t, double>;

// Places in the vector of sums; layout.py has their names, and a test holds the two together.
enum { N_POS, N_NEG, CASES, PAIRS, GAPS = 5, PRECISION = 7, PR_LOWER = 8, LAST_STEP = 13, PLACES = 14, HULL = 19,
       FIELDS = 20, N_LOSSES = 9, N_CUT = 7, N_MOMENTS = 5 };

// Positives, negatives, the cases up to and including the last group that holds a positive, and the positives in it (0, 0
// if there is none).
template <class C>
void sum_groups(View<const C> pos, View<const C> neg, double* out) {
    int64_t last = pos.size - 1;
    while (last >= 0 && !(pos[last] > 0)) --last;
    Total<C> hits = 0, misses = 0;
    for (int64_t g = 0; g <= last; ++g) hits += pos[g];
    for (int64_t g = 0; g <= last; ++g) misses += neg[g];
    out[0] = static_cast<double>(hits);
    out[2] = static_cast<double>(hits + misses);
    out[3] = last < 0 ? 0.0 : static_cast<double>(pos[last]);
    for (int64_t g = last + 1; g < neg.size; ++g) misses += neg[g];
    out[1] = static_cast<double>(misses);
}

// Twice the pairs that the positive wins (a tie is half won), and won less lost pairs.
template <class C>
void sum_pairs(View<const C> pos, View<const C> neg, Total<C> a, Total<C> n_pos, double* out) {
    Total<C> won = 0, negatives = 0;
    for (int64_t g = 0; g < pos.size; ++g) {
        const Total<C> p = pos[g], q = neg[g];
        won += q * (a + a + p);
        negatives += q;
        a += p;
    }
    out[0] = static_cast<double>(won);
    out[1] = static_cast<double>(won - n_pos * negatives);
}

// The extreme gaps between the cumulative shares of positives and negatives, times both class sizes.
template <class C>
void sum_gaps(View<const C> pos, View<const C> neg, Total<C> a, Total<C> b, Total<C> n_pos, Total<C> n_neg,
              double* out) {
    Total<C> gap = a * n_neg - b * n_pos;
    Total<C> top = gap, low = gap;
    for (int64_t g = 0; g < pos.size; ++g) {
        gap += static_cast<Total<C>>(pos[g]) * n_neg - static_cast<Total<C>>(neg[g]) * n_pos;
        top = std::max(top, gap);
        low = std::min(low, gap);
    }
    out[0] = static_cast<double>(top);
    out[1] = static_cast<double>(low);
}

// Steps and trapezoids under the precision–recall points, in units of one positive. The precision at a recall is
// largest where the recall is reached and smallest just before the next positive.
template <class C>
void sum_precision(View<const C> pos, View<const C> neg, double a, double b, double end, double step, double* out) {
    double n = a + b;
    double steps = 0.0, lower = 0.0, lower_upper = 0.0, upper = 0.0, first = 0.0, first_on_top = 0.0;
    for (int64_t g = 0; g < pos.size; ++g) {
        const double p = static_cast<double>(pos[g]), m = p + static_cast<double>(neg[g]);
        if (p > 0) {
            const double least = n > 0 ? a / n : 0.0;
            const double most = end > 0 ? a / end : 0.0;
            const double here = (a + p) / (n + m);
            steps += p * here;
            lower += least * (step + p);
            lower_upper += (least + here) * p;
            upper += (most + here) * p;
            if (end == 0) {
                first = p;
                if (n == 0) first_on_top = p;
            }
            end = n + m;
            step = p;
            a += p;
        }
        n += m;
    }
    out[0] = steps;
    out[1] = 0.5 * lower;
    out[2] = 0.5 * lower_upper;
    out[3] = 0.5 * upper;
    out[4] = first;
    out[5] = first_on_top;
    out[6] = step;
}

// log(1+z), and z − log(1+z) without cancelling. A small z, as most groups of a long list have, takes the series of
// log(1+z) = 2·artanh(t) with t = z/(2+z), whose five terms have all digits; and z − 2t = z·t.
inline void log_and_bend(double z, double* log, double* bend) {
    if (z >= 0.05) {
        *log = std::log1p(z);
        *bend = z - *log;
        return;
    }
    const double t = z / (2.0 + z), s = t * t;
    const double rest = 2.0 * t * s * (1.0 / 3 + s * (1.0 / 5 + s * (1.0 / 7 + s * (1.0 / 9 + s * (1.0 / 11)))));
    *log = 2.0 * t + rest;
    *bend = z * t - rest;
}

constexpr int64_t ASYMPTOTIC_PLACE = 64;  // place from which Euler–Maclaurin is exact to the last digits
constexpr int64_t ONE_BY_ONE = 8;         // terms that take no longer than that formula

// Σ 1/(n+k) and Σ k/(n+k) for k = 1 … m, neither by a difference of large numbers.
inline void harmonic_sums(int64_t n, int64_t m, double* inverse, double* share) {
    if (m == 1) {  // most groups are single rows
        *inverse = *share = 1.0 / static_cast<double>(n + 1);
        return;
    }
    double inv = 0.0, sh = 0.0;
    int64_t k = 1;
    while (k <= m && (m <= ONE_BY_ONE || n + k < ASYMPTOTIC_PLACE)) {
        inv += 1.0 / static_cast<double>(n + k);
        sh += static_cast<double>(k) / static_cast<double>(n + k);
        ++k;
    }
    if (k <= m) {
        // Euler–Maclaurin from k to m; f(x) = x/(n+x) integrates to n·(z − log(1+z)) + …, z = (m−k)/(n+k)
        const double low = 1.0 / static_cast<double>(n + k), high = 1.0 / static_cast<double>(n + m);
        const double kd = static_cast<double>(k), nd = static_cast<double>(n), md = static_cast<double>(m);
        const double z = static_cast<double>(m - k) * low;
        double log, rest;
        log_and_bend(z, &log, &rest);
        const double low2 = low * low, high2 = high * high;
        const double ends = low2 * (1.0 / 12 - low2 * (1.0 / 120 - low2 * (1.0 / 252))) -
                            high2 * (1.0 / 12 - high2 * (1.0 / 120 - high2 * (1.0 / 252)));
        inv += log + 0.5 * (low + high) + ends;
        // ∫ x/(n+x) = (m−k) − n·log = k·z + n·(z − log), because m − k = z·(n+k)
        sh += kd * z + nd * rest + 0.5 * (kd * low + md * high) - nd * ends;
    }
    *inverse = inv;
    *share = sh;
}

// ψ(x) − log x for large x: the asymptotic series of the digamma function.
inline double digamma_tail(double x) {
    const double inverse = 1.0 / x, z = inverse * inverse;
    return -0.5 * inverse - z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240))));
}

constexpr double ASYMPTOTIC = 32.0;  // from here on five terms of that series have all digits

// The same sums carried on to n and m that are not whole. Σ 1/(n+k) = ψ(n+m+1) − ψ(n+1), so that sums of
// neighbouring stretches add up whatever their lengths.
inline void harmonic_steps(double n, double m, double* inverse, double* share) {
    double x = n + 1.0, inv = 0.0;
    while (x < ASYMPTOTIC) {
        inv += m / (x * (x + m));
        x += 1.0;
    }
    double log, rest;
    log_and_bend(m / x, &log, &rest);
    const double bend = digamma_tail(x + m) - digamma_tail(x);
    inv += log + bend;
    *inverse = inv;
    *share = n + 1.0 < ASYMPTOTIC ? m - n * inv : x * rest + log - n * bend;  // m = z·x and n = x − 1
}

struct Rates {
    double at_positives = 0.0, hit_rates = 0.0, squares = 0.0;
    // A group of p positives among m cases after n others; `rates` are its hit rates, added up.
    template <class T>
    void add(double rates, double share, T p, T m, T n, T cases) {
        hit_rates += rates;
        at_positives += share * rates;
        const double middle = static_cast<double>(cases - n) - 0.5 * static_cast<double>(m - 1);
        squares += static_cast<double>(p) * (middle * middle + static_cast<double>(m * m - 1) * (1.0 / 12.0));
    }
};

// Hit rates at the places of positives, at all places, and squared places (worst = 1) of the positives.
template <class C>
Rates sum_rates(View<const C> pos, View<const C> neg, Total<C> a, Total<C> n, Total<C> cases) {
    Rates sum;
    for (int64_t g = 0; g < pos.size; ++g) {
        const Total<C> p = pos[g], m = p + neg[g];
        double inverse, rising, share;
        if constexpr (std::is_integral_v<C>) {
            share = static_cast<double>(p) / static_cast<double>(std::max<int64_t>(m, 1));
            harmonic_sums(n, m, &inverse, &rising);
        } else {
            if (!(m > 0)) continue;
            share = p / m;
            harmonic_steps(n, m, &inverse, &rising);
        }
        const double rates = static_cast<double>(a) * inverse + share * rising;
        sum.add(rates, share, p, m, n, cases);
        a += p;
        n += m;
    }
    return sum;
}

// The same for whole counts from a table of harmonic numbers, without a branch.
template <class C>
Rates sum_rates_by_table(View<const C> pos, View<const C> neg, int64_t a, int64_t n, int64_t cases,
                         View<const double> harmonic) {
    Rates sum;
    double before = harmonic[n];
    for (int64_t g = 0; g < pos.size; ++g) {
        const int64_t p = pos[g], m = p + neg[g];
        const double share = static_cast<double>(p) / static_cast<double>(m + (m == 0));
        const double after = harmonic[n + m];
        const double inverse = after - before;
        before = after;
        const double rates =
            static_cast<double>(a) * inverse + share * (static_cast<double>(m) - static_cast<double>(n) * inverse);
        sum.add(rates, share, p, m, n, cases);
        a += p;
        n += m;
    }
    return sum;
}

// Positives found by each place from n⁺ on, added up; and the positives among the first n⁺ places of this piece.
template <class C>
void around_full_quota(View<const C> pos, View<const C> neg, Total<C> a, Total<C> n, Total<C> n_pos, double* found,
                       double* top) {
    int64_t g = 0;
    const Total<C> a_before = a;
    while (g < pos.size && n + pos[g] + neg[g] < n_pos) {
        a += pos[g];
        n += static_cast<Total<C>>(pos[g]) + neg[g];
        ++g;
    }
    *top = static_cast<double>(a - a_before);
    *found = 0.0;
    if (g < pos.size && n < n_pos) {  // the group in which place n⁺ lies
        const Total<C> p = pos[g], m = p + neg[g], first = n_pos - n;
        const double share = static_cast<double>(p) / static_cast<double>(m);
        *top += share * static_cast<double>(first);
        *found += static_cast<double>(m - first + 1) *
                  (static_cast<double>(a) + share * 0.5 * static_cast<double>(first + m));
        a += p;
        n += m;
        ++g;
    }
    Total<C> twice = 0;
    for (int64_t k = g; k < pos.size; ++k) {
        const Total<C> p = pos[k], m = p + neg[k];
        twice += m * (a + a) + p * (m + 1);
        a += p;
    }
    *found += 0.5 * static_cast<double>(twice);
}

// Sums over the places of the list; a place inside a tie holds its share of positives (Arbel & Rokach Eq. 5).
// `harmonic` is empty, or a table of harmonic numbers: quicker, and exact enough for short lists and for one of many
// replicates. Weights carry the sums on between whole numbers of cases: those of 1/place as digamma functions, those
// of places and their squares as polynomials.
template <class C>
void sum_places(View<const C> pos, View<const C> neg, Total<C> a, Total<C> b, Total<C> n_pos, Total<C> cases,
                View<const double> harmonic, double* out) {
    Rates sum;
    if constexpr (std::is_integral_v<C>)
        sum = harmonic.size > cases ? sum_rates_by_table(pos, neg, a, a + b, cases, harmonic)
                                    : sum_rates(pos, neg, a, a + b, cases);
    else
        sum = sum_rates(pos, neg, a, a + b, cases);
    out[0] = sum.at_positives;
    out[1] = sum.hit_rates;
    around_full_quota(pos, neg, a, a + b, n_pos, out + 2, out + 4);
    out[3] = sum.squares;
}

// Options of a sum of losses: log ε, γ, and the prior (nan: the sample's own share).
struct Loss {
    double log_eps, gamma, prior;
};

// Losses of scores read as probabilities (log_p = log p, log_q = log(1−p)), and of scores read as distances.
template <class C, class S>
void sum_losses(View<const S> score, View<const double> log_p, View<const double> log_q, View<const C> pos,
                View<const C> neg, Loss options, double n_pos, double n_neg, double* out) {
    const double log_eps = options.log_eps;
    double prior = options.prior, log_prior = std::log(prior), log_other = std::log1p(-prior);
    if (prior != prior) {  // both shares from the counts: 1 − prior would lose a rare class's digits
        prior = n_pos / (n_pos + n_neg);
        log_prior = -std::log1p(n_neg / n_pos);
        log_other = -std::log1p(n_pos / n_neg);
    }
    // What the groups add is computed block by block, several groups at a time; the sums keep the order of the groups.
    constexpr int64_t TERMS = 256;
    double added[8][TERMS];
    double sums[8] = {0.0};
    for (int64_t first = 0; first < score.size; first += TERMS) {
        const int64_t many = std::min(TERMS, score.size - first);
        const auto these = score.slice(first, first + many);
        const auto hits = pos.slice(first, first + many), misses = neg.slice(first, first + many);
        const auto logs = log_p.slice(first, first + many), others = log_q.slice(first, first + many);
        for (int64_t i = 0; i < many; ++i) {
            const double a = static_cast<double>(hits[i]), b = static_cast<double>(misses[i]);
            const double p = static_cast<double>(these[i]);
            const double q = 1.0 - p, reach = 1.0 + p;
            const double of_pos = a * (logs[i] > log_eps ? logs[i] : log_eps);
            const double of_neg = b * (others[i] > log_eps ? others[i] : log_eps);
            added[0][i] = a * q + b * p;
            added[1][i] = a * q * q + b * p * p;
            added[2][i] = of_pos;
            added[3][i] = of_neg;
            added[4][i] = of_pos * q * q;
            added[5][i] = of_neg * p * p;
            added[6][i] = a * (q > 0.0 ? q : 0.0);
            added[7][i] = b * (reach > 0.0 ? reach : 0.0);
        }
        for (int64_t i = 0; i < many; ++i)
            for (int k = 0; k < 8; ++k) sums[k] += added[k][i];
    }
    for (int k = 0; k < 8; ++k) out[k] = sums[k];
    if (options.gamma != 2.0) {
        out[4] = out[5] = 0.0;
        for (int64_t g = 0; g < score.size; ++g) {
            const double p = static_cast<double>(score[g]);
            const double lp = log_p[g] >= log_eps || log_p[g] != log_p[g] ? log_p[g] : log_eps;
            const double lq = log_q[g] >= log_eps || log_q[g] != log_q[g] ? log_q[g] : log_eps;
            const double q = 1.0 - p;
            out[4] += static_cast<double>(pos[g]) * lp * std::pow(q > 0.0 ? q : 0.0, options.gamma);
            out[5] += static_cast<double>(neg[g]) * lq * std::pow(p > 0.0 ? p : 0.0, options.gamma);
        }
    }
    int64_t low = 0, high = score.size;  // groups that score at least the prior come first
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (score[middle] >= prior)
            low = middle + 1;
        else
            high = middle;
    }
    double above = 0.0, below = 0.0;
    for (int64_t g = 0; g < low; ++g)
        above += (static_cast<double>(pos[g]) - static_cast<double>(neg[g])) * (log_p[g] - log_prior);
    for (int64_t g = low; g < score.size; ++g)
        below += (static_cast<double>(pos[g]) - static_cast<double>(neg[g])) * (log_q[g] - log_other);
    out[8] = above - below;
}

// An upper hull that grows to the right: what lies under a new chord goes.
template <class T>
struct Hull {
    std::vector<T> x, y;
    void push(T px, T py) {
        size_t n = x.size();
        while (n >= 2 && (x[n - 1] - x[n - 2]) * (py - y[n - 1]) >= (y[n - 1] - y[n - 2]) * (px - x[n - 1])) --n;
        x.resize(n);
        y.resize(n);
        x.push_back(px);
        y.push_back(py);
    }
    T twice_area() const {  // by trapezoids
        T area = (x[0] - x[0]) * y[0];
        for (size_t i = 1; i < x.size(); ++i) area += (x[i] - x[i - 1]) * (y[i] + y[i - 1]);
        return area;
    }
};

// Vertices of the upper convex hull of a ranking's ROC points, in counts; collinear points are dropped.
// First the hull of every 16th point. A block between two such points lies under its upper left corner: where that is
// under the coarse hull, the block holds no vertex and is passed over. A group without positives moves to the right,
// so its end can only be a vertex if the list ends there.
template <class C>
Hull<Total<C>> hull_of_groups(View<const C> pos, View<const C> neg, Total<C> a0, Total<C> b0) {
    using T = Total<C>;
    constexpr int64_t BLOCK = 16;
    const int64_t n = pos.size, blocks = (n + BLOCK - 1) / BLOCK;
    std::vector<T> x(blocks + 1), y(blocks + 1);
    x[0] = b0;
    y[0] = a0;
    T a = a0, b = b0;
    Hull<T> coarse;
    coarse.push(b0, a0);
    for (int64_t k = 0; k < blocks; ++k) {
        for (int64_t g = k * BLOCK; g < std::min(n, (k + 1) * BLOCK); ++g) {
            a += pos[g];
            b += neg[g];
        }
        x[k + 1] = b;
        y[k + 1] = a;
        coarse.push(b, a);
    }
    Hull<T> fine;
    fine.push(b0, a0);
    size_t s = 0;
    for (int64_t k = 0; k < blocks; ++k) {
        while (s + 2 < coarse.x.size() && coarse.x[s + 1] <= x[k]) ++s;
        if ((coarse.x[s + 1] - coarse.x[s]) * (y[k + 1] - coarse.y[s]) <
            (coarse.y[s + 1] - coarse.y[s]) * (x[k] - coarse.x[s]))
            continue;
        a = y[k];
        b = x[k];
        for (int64_t g = k * BLOCK; g < std::min(n, (k + 1) * BLOCK); ++g) {
            a += pos[g];
            b += neg[g];
            if (pos[g] > 0) fine.push(b, a);
        }
    }
    fine.push(x[blocks], y[blocks]);
    return fine;
}

// For each quota (ascending) that ends in this piece: the four cells, and the spread of score and outcome.
// `a`, `b` are what came before the piece. `n_pos`, `n_neg` are those of the whole list where counts are whole
// numbers; weights have nan there, and what lies behind a cut is added up piece by piece, so that nothing left is 0 and
// not the rounding of a difference. `moments` carries the running means and co-moments from piece to piece: mean score,
// mean outcome, and the sums of squared deviations and of their products, updated so that no large numbers are
// subtracted. `scale` brings the scores to a size whose squares are numbers; the correlation does not feel it.
// `is_last`: the list ends with this piece, and a quota that rounding puts behind the end is all of it.
template <class C, class S>
void cut_at_quotas(View<const S> score, View<const C> pos, View<const C> neg, double a, double b, double n_pos,
                   double n_neg, double scale, double* moments, View<const double> quotas, bool is_last, double* out) {
    double n = a + b;
    int64_t k = 0;
    while (k < quotas.size && quotas[k] <= n) ++k;
    const bool weighted = n_pos != n_pos;
    for (int64_t g = 0; g < pos.size; ++g) {
        if (k == quotas.size && !weighted) break;
        const double p = static_cast<double>(pos[g]), q = static_cast<double>(neg[g]), m = p + q;
        if (m == 0) continue;
        if (weighted)
            for (int64_t done = 0; done < k; ++done) {  // those behind a cut
                out[done * N_CUT + 2] += p;
                out[done * N_CUT + 3] += q;
            }
        if (k < quotas.size) {
            const double share = p / m, value = scale * static_cast<double>(score[g]);
            for (;;) {
                const bool ends = k < quotas.size && quotas[k] <= n + m;
                const double part = ends ? quotas[k] - n : m, total = n + part;
                const double by_score = value - moments[0], by_outcome = share - moments[1];
                const double shrink = n / total * part;
                const double spread_score = moments[2] + by_score * by_score * shrink;
                const double spread_outcome = moments[3] + by_outcome * by_outcome * shrink;
                const double comoment = moments[4] + by_score * by_outcome * shrink;
                if (!ends) {
                    moments[0] += by_score * (part / total);
                    moments[1] += by_outcome * (part / total);
                    moments[2] = spread_score;
                    moments[3] = spread_outcome;
                    moments[4] = comoment;
                    break;
                }
                double* cut = out + k * N_CUT;
                if (part < m) {
                    const double rest_neg = q - (part - share * part);
                    cut[0] = a + share * part;
                    cut[1] = total - cut[0];
                    cut[2] = weighted ? p - share * part : n_pos - cut[0];
                    cut[3] = weighted ? (rest_neg > 0.0 ? rest_neg : 0.0) : n_neg - cut[1];
                } else {
                    cut[0] = a + p;
                    cut[1] = b + q;
                    cut[2] = weighted ? 0.0 : n_pos - cut[0];
                    cut[3] = weighted ? 0.0 : n_neg - cut[1];
                }
                cut[4] = spread_score;
                cut[5] = spread_outcome;
                cut[6] = comoment;
                ++k;
            }
        }
        a += p;
        b += q;
        n += m;
    }
    if (!is_last) return;
    for (; k < quotas.size && quotas[k] <= n * (1.0 + 1e-9); ++k) {
        double* cut = out + k * N_CUT;
        cut[0] = a;
        cut[1] = b;
        cut[2] = cut[3] = 0.0;
        for (int j = 0; j < 3; ++j) cut[4 + j] = moments[2 + j];
    }
}

// The best score left of two ascending arrays, and where its equals end in each: one step of a merge. `p` and `q` are
// the last places not yet taken. A step always takes a row, whatever the arrays hold.
template <class S>
S next_group(View<const S> pos, View<const S> neg, int64_t& p, int64_t& q) {
    const bool from_pos = p >= 0 && (q < 0 || pos[p] >= neg[q]);
    const S value = from_pos ? pos[p--] : neg[q--];
    while (p >= 0 && pos[p] == value) --p;
    while (q >= 0 && neg[q] == value) --q;
    return value;
}

// One of the stretches in which two ascending arrays are merged, from its end. It writes a row at every step, without a
// branch that could be predicted wrongly: the next row of the same score writes over it.
template <class S>
struct Stretch {
    View<const S> pos, neg;
    S* score;
    int32_t *n_pos, *n_neg;
    int64_t used = 0;
    S value = std::numeric_limits<S>::quiet_NaN();  // which no score equals
    int32_t hits = 0, misses = 0;
    void step() {
        const S x = pos[pos.size - 1], y = neg[neg.size - 1];
        take(x >= y ? x : y, x >= y);
    }
    void take(S next, bool hit) {
        const bool same = next == value;
        value = next;
        hits = (same ? hits : 0) + hit;
        misses = (same ? misses : 0) + !hit;
        used += !same;
        score[used - 1] = next + S(0);  // −0 is 0
        n_pos[used - 1] = hits;
        n_neg[used - 1] = misses;
        pos.size -= hit;
        neg.size -= !hit;
    }
    void finish() {
        while (pos.size && neg.size) step();
        while (pos.size) take(pos[pos.size - 1], true);
        while (neg.size) take(neg[neg.size - 1], false);
    }
};

// Two ascending arrays into descending groups of equal score; gives their number. A step has to wait for the one before
// it, so stretches that a processor can work on side by side are merged together; no tie goes across two of them.
template <class S>
int64_t merge_sorted(View<const S> pos, View<const S> neg, S* score, int32_t* n_pos, int32_t* n_neg) {
    constexpr int STRETCHES = 4;
    const int64_t rows = pos.size + neg.size;
    Stretch<S> stretches[STRETCHES];
    int64_t p_end = pos.size, q_end = neg.size;
    for (int k = 0; k < STRETCHES; ++k) {
        // The lowest p and q with so many rows before them: no positive before p exceeds a negative from q on.
        const int64_t before = rows / STRETCHES * (STRETCHES - 1 - k);
        int64_t p = std::max<int64_t>(0, before - neg.size), high = std::min(before, pos.size);
        while (p < high && k < STRETCHES - 1) {
            const int64_t middle = (p + high) / 2;
            if (pos[middle] < neg[before - middle - 1])
                p = middle + 1;
            else
                high = middle;
        }
        int64_t q = before - p;
        if (k < STRETCHES - 1 && before < rows) {  // the tie there begins earlier
            const S tied = q == neg.size || (p < pos.size && pos[p] < neg[q]) ? pos[p] : neg[q];
            p = std::lower_bound(pos.data, pos.data + p, tied) - pos.data;
            q = std::lower_bound(neg.data, neg.data + q, tied) - neg.data;
        }
        p = std::min(p, p_end);
        q = std::min(q, q_end);
        const int64_t at = rows - p_end - q_end;
        stretches[k] = {pos.slice(p, p_end), neg.slice(q, q_end), score + at, n_pos + at, n_neg + at};
        p_end = p;
        q_end = q;
    }
    auto& [a, b, c, d] = stretches;
    while (a.pos.size && a.neg.size && b.pos.size && b.neg.size && c.pos.size && c.neg.size && d.pos.size && d.neg.size) {
        a.step();
        b.step();
        c.step();
        d.step();
    }
    int64_t used = 0;
    for (auto& stretch : stretches) {
        stretch.finish();
        if (score + used != stretch.score) {
            std::copy(stretch.score, stretch.score + stretch.used, score + used);
            std::copy(stretch.n_pos, stretch.n_pos + stretch.used, n_pos + used);
            std::copy(stretch.n_neg, stretch.n_neg + stretch.used, n_neg + used);
        }
        used += stretch.used;
    }
    return used;
}

// The lowest and the highest value; both nan where a value is.
template <class T>
void extremes(View<const T> values, T* low, T* high) {
    bool missing = false;
    *low = *high = values[0];
    for (int64_t i = 0; i < values.size; ++i) {
        const T value = values[i];
        *low = value < *low ? value : *low;
        *high = value > *high ? value : *high;
        missing |= value != value;
    }
    if (missing) *low = *high = static_cast<T>(NaN);  // which no whole number is
}

// Scores of the positives and of the negatives; each has one spare place: both are written at every step, without a
// branch.
template <class S>
void split(View<const S> score, const uint8_t* positive, S* pos, S* neg) {
    for (int64_t i = 0; i < score.size; ++i) {
        *pos = *neg = score[i];
        const bool hit = positive[i];
        pos += hit;
        neg += !hit;
    }
}

// Weights summed over equal scores, from an ascending order of the rows, best first; gives the number of groups.
template <class S>
int64_t group_weighted(View<const S> score, const uint8_t* positive, const double* weight, const int64_t* order,
                       S* value, double* pos, double* neg) {
    int64_t used = -1;
    for (int64_t k = score.size - 1; k >= 0; --k) {
        const int64_t i = order[k];
        if (used < 0 || score[i] != value[used]) {
            ++used;
            value[used] = score[i];
            pos[used] = neg[used] = 0.0;
        }
        (positive[i] ? pos : neg)[used] += weight[i];
    }
    return used + 1;
}

// Douglas–Peucker with vertical distances: which points to keep so that chords stay within the tolerance.
inline void keep_within(View<const double> x, View<const double> y, double tolerance, uint8_t* keep) {
    std::fill(keep, keep + x.size, 0);
    keep[0] = keep[x.size - 1] = 1;
    std::vector<std::pair<int64_t, int64_t>> stretches{{0, x.size - 1}};
    while (!stretches.empty()) {
        const auto [i, j] = stretches.back();
        stretches.pop_back();
        const double wide = x[j] - x[i];
        double worst = -1.0;
        int64_t at = -1;
        for (int64_t k = i + 1; k < j; ++k) {
            // on a vertical stretch the chord is the stretch itself: only points beyond its ends stick out
            const double gap =
                wide > 0 ? std::fabs(y[k] - (y[i] + (y[j] - y[i]) * ((x[k] - x[i]) / wide)))
                         : std::max(std::max(y[k] - std::max(y[i], y[j]), std::min(y[i], y[j]) - y[k]), 0.0);
            if (gap > worst) {
                worst = gap;
                at = k;
            }
        }
        if (worst > tolerance) {
            keep[at] = 1;
            stretches.push_back({i, at});
            stretches.push_back({at, j});
        }
    }
}

// Pairs of a positive and a negative that two lists order alike, less those that they order differently; tied ones are
// neither. Rows come in the order of one list, highest first, and tie[i] says that place i and the next share one score;
// `code` numbers the scores of the other list, lowest first. The rows before a tie stand in a tree for each class (Fenwick
// 1994), which adds up those below a code in a few steps.
inline int64_t pairs_alike(View<const int32_t> order, const uint8_t* tie, const uint8_t* positive, const int32_t* code) {
    std::vector<int32_t> trees[2] = {std::vector<int32_t>(order.size + 1), std::vector<int32_t>(order.size + 1)};
    int64_t seen[2] = {0, 0}, alike = 0;
    for (int64_t first = 0, end = 0; first < order.size; first = end) {
        do ++end;
        while (end < order.size && tie[end - 1]);
        for (int64_t i = first; i < end; ++i) {
            const bool other = !positive[order[i]];
            const int32_t at = code[order[i]];
            int64_t below = 0, up_to = 0;
            for (int32_t k = at; k > 0; k &= k - 1) below += view(trees[other])[k];
            for (int32_t k = at + 1; k > 0; k &= k - 1) up_to += view(trees[other])[k];
            alike += seen[other] - up_to - below;
        }
        for (int64_t i = first; i < end; ++i) {
            const bool own = positive[order[i]];
            ++seen[own];
            for (int64_t k = code[order[i]] + 1; k <= order.size; k += k & -k) ++view(trees[own])[k];
        }
    }
    return alike;
}

// Share of the numbers ±sum + rest·Z that lie at least so far from 0, with Z symmetric of this excess kurtosis: the
// normal distribution and Edgeworth's first term.
inline double share_beyond(View<const double> sums, double flipped, double rest, double kurtosis) {
    const double root = std::sqrt(2.0), density = 1.0 / std::sqrt(2.0 * 3.14159265358979323846);
    double total = 0.0;
    for (int64_t i = 0; i < sums.size; ++i)
        for (const double sum : {sums[i], -sums[i]}) {
            const double z = (flipped - sum) / rest;
            const double edgeworth = kurtosis / 24.0 * z * (z * z - 3.0) * std::exp(-0.5 * z * z) * density;
            total += std::clamp(0.5 * std::erfc(z / root) + edgeworth, 0.0, 1.0);
        }
    return std::min(total / static_cast<double>(sums.size), 1.0);
}

}  // namespace cutline
