// One door for each pass: what the element types of the arrays are is seen here, once, and the pass is made for them.
#pragma once
#include <stdexcept>

#include "classes.hpp"
#include "sorting.hpp"

namespace cutline {

enum Kind { INT32, INT64, FLOAT, DOUBLE, BYTE, UINT16, UINT32 };

// An array as it comes from Python: contiguous, of one of the kinds above.
struct Array {
    void* data;
    int64_t size;
    int kind;
    template <class T>
    View<const T> in() const {
        return {static_cast<const T*>(data), size};
    }
    template <class T>
    T* to() const {
        return static_cast<T*>(data);
    }
};

template <class F>
auto by_counts(const Array& counts, F&& pass) {
    switch (counts.kind) {
        case INT32: return pass(int32_t());
        case INT64: return pass(int64_t());
        case DOUBLE: return pass(double());
    }
    throw std::invalid_argument("counts must be whole numbers of 32 or 64 bits, or doubles");
}

template <class F>
auto by_score(const Array& score, F&& pass) {
    switch (score.kind) {
        case FLOAT: return pass(float());
        case DOUBLE: return pass(double());
    }
    throw std::invalid_argument("scores must be floats or doubles");
}

// Results of passes that make arrays of their own: copied into arrays of Python by whoever asked.
struct Points {
    std::vector<double> x, y;
    std::vector<int64_t> whole_x, whole_y;  // of whole counts, which doubles might not hold
    void take(const Hull<double>& hull) {
        x = hull.x;
        y = hull.y;
    }
    void take(const Hull<int64_t>& hull) {
        whole_x = hull.x;
        whole_y = hull.y;
    }
};

struct RawWanted {
    Array score, log_p, log_q, harmonic, parts, losses, above, quotas;
    double scale, cases;
    template <class S>
    Wanted<S> as() const {
        return {score.in<S>(), log_p.in<double>(), log_q.in<double>(), harmonic.in<double>(), parts.to<uint8_t>(),
                losses.in<double>(), above.in<int64_t>(), scale, quotas.in<double>(), cases};
    }
};

struct RawRows {
    Array unit, weight, pos, neg;
    Rows as() const { return {unit.in<int32_t>(), weight.in<double>(), pos.in<int32_t>(), neg.in<int32_t>()}; }
};

struct RawDrawing {
    uint64_t seed;
    Array strata;
    int64_t n_units;
    Array poisson, normal;
    Drawing as() const {
        return {seed, strata.in<int64_t>(), n_units, poisson.in<uint8_t>(), normal.in<float>()};
    }
};

#define BY_COUNTS(counts, ...) by_counts(counts, [&](auto c) { using C = decltype(c); __VA_ARGS__; })
#define BY_BOTH(counts, score, ...)                                                                     \
    by_counts(counts, [&](auto c) {                                                                     \
        using C = decltype(c);                                                                          \
        return by_score(score, [&](auto s) { using S = decltype(s); __VA_ARGS__; });                    \
    })
#define BY_SCORE(score, ...) by_score(score, [&](auto s) { using S = decltype(s); __VA_ARGS__; })

inline void sum_groups(Array pos, Array neg, double* out) {
    BY_COUNTS(pos, sum_groups<C>(pos.in<C>(), neg.in<C>(), out));
}

inline void sum_pairs(Array pos, Array neg, double a, double n_pos, double* out) {
    BY_COUNTS(pos, sum_pairs<C>(pos.in<C>(), neg.in<C>(), Total<C>(a), Total<C>(n_pos), out));
}

inline void sum_gaps(Array pos, Array neg, double a, double b, double n_pos, double n_neg, double* out) {
    BY_COUNTS(pos, using T = Total<C>;
              sum_gaps<C>(pos.in<C>(), neg.in<C>(), T(a), T(b), T(n_pos), T(n_neg), out));
}

inline void sum_precision(Array pos, Array neg, double a, double b, double end, double step, double* out) {
    BY_COUNTS(pos, sum_precision<C>(pos.in<C>(), neg.in<C>(), a, b, end, step, out));
}

inline void sum_places(Array pos, Array neg, double a, double b, double n_pos, double cases, Array harmonic,
                       double* out) {
    BY_COUNTS(pos, using T = Total<C>; sum_places<C>(pos.in<C>(), neg.in<C>(), T(a), T(b), T(n_pos), T(cases),
                                                     harmonic.in<double>(), out));
}

inline void sum_losses(Array score, Array log_p, Array log_q, Array pos, Array neg, Loss options, double n_pos,
                       double n_neg, double* out) {
    BY_BOTH(pos, score, sum_losses<C, S>(score.in<S>(), log_p.in<double>(), log_q.in<double>(), pos.in<C>(),
                                         neg.in<C>(), options, n_pos, n_neg, out));
}

inline Points hull_of_groups(Array pos, Array neg, double a, double b) {
    Points points;
    BY_COUNTS(pos, points.take(hull_of_groups<C>(pos.in<C>(), neg.in<C>(), Total<C>(a), Total<C>(b))));
    return points;
}

inline void cut_at_quotas(Array score, Array pos, Array neg, double a, double b, double n_pos, double n_neg,
                          double scale, double* moments, Array quotas, bool is_last, double* out) {
    BY_BOTH(pos, score, cut_at_quotas<C, S>(score.in<S>(), pos.in<C>(), neg.in<C>(), a, b, n_pos, n_neg, scale, moments,
                                            quotas.in<double>(), is_last, out));
}

// Into `real`, or into `whole`: what a double may not hold. Gives which of them.
inline bool extremes(Array values, double* real, int64_t* whole) {
    const auto into = [&](auto kind, auto* ends) {
        decltype(kind) low, high;
        extremes(values.in<decltype(kind)>(), &low, &high);
        ends[0] = low;
        ends[1] = high;
    };
    const bool is_whole = values.kind == INT32 || values.kind == INT64;
    if (is_whole)
        BY_COUNTS(values, into(C(), whole));
    else
        BY_SCORE(values, into(S(), real));
    return is_whole;
}

inline void split(Array score, const uint8_t* positive, Array pos, Array neg) {
    BY_SCORE(score, split<S>(score.in<S>(), positive, pos.to<S>(), neg.to<S>()));
}

inline void sort(Array values, Array spare, Array places) {
    BY_SCORE(values, using K = std::conditional_t<sizeof(S) == 8, uint64_t, uint32_t>;
             Sorter<K>(View<K>{spare.to<K>(), spare.size}, View<uint16_t>{places.to<uint16_t>(), places.size})
                 .sort(View<K>{values.to<K>(), values.size}));
}

inline int64_t merge_sorted(Array pos, Array neg, Array score, int32_t* n_pos, int32_t* n_neg) {
    return BY_SCORE(pos, return merge_sorted<S>(pos.in<S>(), neg.in<S>(), score.to<S>(), n_pos, n_neg));
}

inline int64_t group_weighted(Array score, const uint8_t* positive, const double* weight, const int64_t* order,
                              Array value, double* pos, double* neg) {
    return BY_SCORE(score, return group_weighted<S>(score.in<S>(), positive, weight, order, value.to<S>(), pos, neg));
}

inline void accumulate(const uint16_t* counts, const RawRows& rows, Array a, Array b) {
    BY_COUNTS(a, accumulate<C>(counts, rows.as(), a.to<C>(), b.to<C>()));
}

inline void sum_replicate(Array a, Array b, const RawWanted& wanted, double* out, int64_t width) {
    BY_BOTH(a, wanted.score, Scratch<C> scratch;
            sum_replicate<C, S>(a.in<C>(), b.in<C>(), wanted.as<S>(), View<double>{out, width}, scratch));
}

inline void resample(int64_t first, int64_t last, const RawDrawing& drawing, const RawRows& rows,
                     const RawWanted& wanted, Array a, Array b, double* out, int64_t width, const uint8_t* stop) {
    BY_BOTH(a, wanted.score,
            resample<C, S>(first, last, drawing.as(), rows.as(), wanted.as<S>(), View<C>{a.to<C>(), a.size},
                           View<C>{b.to<C>(), b.size}, out, width, stop));
}

inline void leave_out(int64_t first, int64_t last, Array block, const RawRows& rows, const RawWanted& wanted, Array a,
                      Array b, double* out, int64_t width, const uint8_t* stop) {
    BY_BOTH(a, wanted.score,
            leave_out<C, S>(first, last, block.in<int32_t>(), rows.as(), wanted.as<S>(), View<C>{a.to<C>(), a.size},
                            View<C>{b.to<C>(), b.size}, out, width, stop));
}

inline void cut_at_shares(Array a, Array b, double n_pos, double n_neg, int axis, Array grid, double* hits,
                          double* misses) {
    BY_COUNTS(a, cut_at_shares<C>(a.in<C>(), b.in<C>(), n_pos, n_neg, axis, grid.in<double>(), hits, misses));
}

inline void nudge(int64_t first, int64_t last, const RawRows& rows, const RawWanted& wanted, const double* most,
                  Array a, Array b, double* out, int64_t width, const uint8_t* stop) {
    BY_BOTH(a, wanted.score,
            nudge<C, S>(first, last, rows.as(), wanted.as<S>(), most, View<C>{a.to<C>(), a.size},
                        View<C>{b.to<C>(), b.size}, out, width, stop));
}

inline void resample_curve(int64_t first, int64_t last, const RawDrawing& drawing, const RawRows& rows, int axis,
                           Array grid, Array a, Array b, double* hits, double* misses, double* sizes,
                           const uint8_t* stop) {
    BY_COUNTS(a, resample_curve<C>(first, last, drawing.as(), rows.as(), axis, grid.in<double>(),
                                   View<C>{a.to<C>(), a.size}, View<C>{b.to<C>(), b.size}, hits, misses, sizes, stop));
}

inline void sum_sets(const double* score, const uint8_t* positive, int64_t n_sets, int64_t size, int ties,
                     Array thresholds, const RawWanted& wanted, double* out, int64_t width) {
    sum_sets(score, positive, n_sets, size, ties, thresholds.in<double>(), wanted.as<double>(), out, width);
}

inline int64_t group_rows(Array score, const uint8_t* positive, const double* weight, bool is_open, double* out_score,
                          Array pos, Array neg, int64_t* rows) {
    return BY_COUNTS(pos, return group_rows<C>(score.in<double>(), positive, weight, is_open, out_score, pos.to<C>(),
                                               neg.to<C>(), rows));
}

inline int64_t group_groups(Array score, Array pos, Array neg, bool is_open, double* out_score, Array out_pos,
                            Array out_neg) {
    return BY_COUNTS(pos, return group_groups<C>(score.in<double>(), pos.to<C>(), neg.to<C>(), is_open, out_score,
                                                 out_pos.to<C>(), out_neg.to<C>()));
}

inline int64_t into_blocks(Array score, Array pos, Array neg, double n, const double* totals, double tolerance,
                           Array marks, Array cuts, double* state, double* out, int64_t* block) {
    return BY_COUNTS(pos, return into_blocks<C>(score.in<double>(), pos.to<C>(), neg.to<C>(), n, totals[0], totals[1],
                                                tolerance, marks.in<double>(), cuts.in<double>(), state, out, block));
}

inline void placement_moments(Array pos, Array neg, double a, double b, double n_pos, double n_neg, double* result) {
    BY_COUNTS(pos, placement_moments<C>(pos.in<C>(), neg.in<C>(), Total<C>(a), Total<C>(b), n_pos, n_neg, result));
}

inline void draw_rows(const int64_t* row, const uint8_t* positive, const double* weight, Array rows,
                      const int64_t* place, uint64_t seed, const uint8_t* table, int64_t first, int64_t last,
                      Array counts, int64_t width) {
    switch (counts.kind) {
        case DOUBLE:
            return draw_rows(row, positive, weight, rows.in<int64_t>(), place, seed, table, first, last,
                             counts.to<double>(), width);
        case UINT32:
            return draw_rows(row, positive, weight, rows.in<int64_t>(), place, seed, table, first, last,
                             counts.to<std::uint32_t>(), width);
        case INT64:
            return draw_rows(row, positive, weight, rows.in<int64_t>(), place, seed, table, first, last,
                             counts.to<int64_t>(), width);
        case INT32:
            return draw_rows(row, positive, weight, rows.in<int64_t>(), place, seed, table, first, last,
                             counts.to<int32_t>(), width);
    }
    throw std::invalid_argument("counts of a stream must be whole numbers or doubles");
}

inline int64_t scan_rows(Array matrix, int64_t k, const int32_t* code, int32_t* top, int32_t* place, double* columns,
                         double* extremes) {
    return BY_SCORE(matrix, return scan_rows<S>(matrix.to<S>(), k ? matrix.size / k : 0, k, code, top, place, columns,
                                                extremes));
}

inline void spread_columns(Array matrix, int64_t k, const int32_t* code, Array start, int64_t first, Array out,
                           int64_t lines) {
    BY_SCORE(matrix, spread_columns<S>(matrix.to<S>(), matrix.size / k, k, code, start.in<int64_t>(), first,
                                       out.to<S>(), lines));
}

inline void sum_sorted_column(Array values, Array start, int64_t k, int64_t* negatives, double* out) {
    BY_SCORE(values, sum_sorted_column<S>(values.to<S>(), start.in<int64_t>(), k, negatives, out));
}

}  // namespace cutline
