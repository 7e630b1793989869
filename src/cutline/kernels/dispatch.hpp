// One door for each pass: what the element types of the arrays are is seen here, once, and the pass is made for them.
#pragma once
#include <Python.h>

#include <stdexcept>

#include "classes.hpp"
#include "sorting.hpp"

namespace cutline {

enum Kind { NONE, INT32, INT64, FLOAT, DOUBLE, BYTE, UINT16, UINT32 };

template <class T>
constexpr int kind_of() {
    if constexpr (std::is_same_v<T, float>) return FLOAT;
    else if constexpr (std::is_same_v<T, double>) return DOUBLE;
    else if constexpr (std::is_same_v<T, int32_t>) return INT32;
    else if constexpr (std::is_same_v<T, std::uint32_t>) return UINT32;
    else if constexpr (std::is_same_v<T, uint16_t>) return UINT16;
    else if constexpr (std::is_same_v<T, uint8_t>) return BYTE;
    else return INT64;
}

// An array as it comes from Python: contiguous, of one of the kinds above, or none. A pass takes it as what it is: the
// conversion is an error where its elements are of another type.
struct Array {
    void* data;
    int64_t size;
    int kind;
    template <class T>
    operator T*() const {
        if (kind != NONE && kind != kind_of<std::remove_const_t<T>>())
            throw std::invalid_argument("a kernel does not take arrays of this type here");
        return static_cast<T*>(data);
    }
    template <class T>
    operator View<T>() const {
        return {static_cast<T*>(*this), size};
    }
    template <class K>
    View<K> bits() const {  // as whole numbers that are as wide
        return {static_cast<K*>(data), size};
    }
};

// Lets other threads of Python run for as long as a pass takes.
struct Unlocked {
    PyThreadState* state = PyEval_SaveThread();
    ~Unlocked() { PyEval_RestoreThread(state); }
};
#define UNLOCKED(pass)                   \
    [](const auto&... given) {           \
        const cutline::Unlocked running; \
        return cutline::pass(given...);  \
    }

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
    Array score, log_p, log_q, harmonic, parts, losses, above;
    double scale;
    Array quotas;
    double cases;
    template <class S>
    operator Wanted<S>() const {
        return {score, log_p, log_q, harmonic, parts, losses, above, scale, quotas, cases};
    }
};

struct RawRows {
    Array unit, weight, pos, neg;
    operator Rows() const { return {unit, weight, pos, neg}; }
};

struct RawDrawing {
    uint64_t seed;
    Array strata;
    int64_t n_units;
    Array poisson, normal;
    operator Drawing() const { return {seed, strata, n_units, poisson, normal}; }
};

struct RawColumn {
    Array order, tie, weight;
    operator Column() const { return {order, tie, weight}; }
};

#define BY_COUNTS(counts, ...) by_counts(counts, [&](auto c) { using C = decltype(c); __VA_ARGS__; })
#define BY_BOTH(counts, score, ...)                                                                     \
    by_counts(counts, [&](auto c) {                                                                     \
        using C = decltype(c);                                                                          \
        return by_score(score, [&](auto s) { using S = decltype(s); __VA_ARGS__; });                    \
    })
#define BY_SCORE(score, ...) by_score(score, [&](auto s) { using S = decltype(s); __VA_ARGS__; })

inline void sum_groups(Array pos, Array neg, double* out) {
    BY_COUNTS(pos, sum_groups<C>(pos, neg, out));
}

inline void sum_pairs(Array pos, Array neg, double a, double n_pos, double* out) {
    BY_COUNTS(pos, sum_pairs<C>(pos, neg, Total<C>(a), Total<C>(n_pos), out));
}

inline void sum_gaps(Array pos, Array neg, double a, double b, double n_pos, double n_neg, double* out) {
    BY_COUNTS(pos, using T = Total<C>; sum_gaps<C>(pos, neg, T(a), T(b), T(n_pos), T(n_neg), out));
}

inline void sum_precision(Array pos, Array neg, double a, double b, double end, double step, double* out) {
    BY_COUNTS(pos, sum_precision<C>(pos, neg, a, b, end, step, out));
}

inline void sum_places(Array pos, Array neg, double a, double b, double n_pos, double cases, Array harmonic,
                       double* out) {
    BY_COUNTS(pos, using T = Total<C>; sum_places<C>(pos, neg, T(a), T(b), T(n_pos), T(cases), harmonic, out));
}

inline void sum_losses(Array score, Array log_p, Array log_q, Array pos, Array neg, Loss options, double n_pos,
                       double n_neg, double* out) {
    BY_BOTH(pos, score, sum_losses<C, S>(score, log_p, log_q, pos, neg, options, n_pos, n_neg, out));
}

inline Points hull_of_groups(Array pos, Array neg, double a, double b) {
    Points points;
    BY_COUNTS(pos, points.take(hull_of_groups<C>(pos, neg, Total<C>(a), Total<C>(b))));
    return points;
}

inline void cut_at_quotas(Array score, Array pos, Array neg, double a, double b, double n_pos, double n_neg,
                          double scale, double* moments, Array quotas, bool is_last, double* out) {
    BY_BOTH(pos, score, cut_at_quotas<C, S>(score, pos, neg, a, b, n_pos, n_neg, scale, moments, quotas, is_last, out));
}

// Into `real`, or into `whole`: what a double may not hold. Gives which of them.
inline bool extremes(Array values, double* real, int64_t* whole) {
    const auto into = [&](auto kind, auto* ends) {
        decltype(kind) low, high;
        extremes<decltype(kind)>(values, &low, &high);
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
    BY_SCORE(score, split<S>(score, positive, pos, neg));
}

inline void sort(Array values, Array spare, Array places) {
    BY_SCORE(values, using K = std::conditional_t<sizeof(S) == 8, uint64_t, uint32_t>;
             Sorter<K>(spare.bits<K>(), places).sort(values.bits<K>()));
}

inline int64_t merge_sorted(Array pos, Array neg, Array score, int32_t* n_pos, int32_t* n_neg) {
    return BY_SCORE(pos, return merge_sorted<S>(pos, neg, score, n_pos, n_neg));
}

inline int64_t group_weighted(Array score, const uint8_t* positive, const double* weight, const int64_t* order,
                              Array value, double* pos, double* neg) {
    return BY_SCORE(score, return group_weighted<S>(score, positive, weight, order, value, pos, neg));
}

inline void accumulate(const uint16_t* counts, const RawRows& rows, Array a, Array b) {
    BY_COUNTS(a, accumulate<C>(counts, rows, a, b));
}

inline void sum_replicate(Array a, Array b, const RawWanted& wanted, double* out, int64_t width) {
    BY_BOTH(a, wanted.score, Scratch<C> scratch; sum_replicate<C, S>(a, b, wanted, View<double>{out, width}, scratch));
}

inline void resample(int64_t first, int64_t last, const RawDrawing& drawing, const RawRows& rows,
                     const RawWanted& wanted, Array a, Array b, double* out, int64_t width, const uint8_t* stop) {
    BY_BOTH(a, wanted.score, resample<C, S>(first, last, drawing, rows, wanted, a, b, out, width, stop));
}

inline void leave_out(int64_t first, int64_t last, Array block, const RawRows& rows, const RawWanted& wanted, Array a,
                      Array b, double* out, int64_t width, const uint8_t* stop) {
    BY_BOTH(a, wanted.score, leave_out<C, S>(first, last, block, rows, wanted, a, b, out, width, stop));
}

inline void cut_at_shares(Array a, Array b, double n_pos, double n_neg, int axis, Array grid, double* hits,
                          double* misses) {
    BY_COUNTS(a, cut_at_shares<C>(a, b, n_pos, n_neg, axis, grid, hits, misses));
}

inline void nudge(int64_t first, int64_t last, const RawRows& rows, const RawWanted& wanted, const double* most,
                  Array a, Array b, double* out, int64_t width, const uint8_t* stop) {
    BY_BOTH(a, wanted.score, nudge<C, S>(first, last, rows, wanted, most, a, b, out, width, stop));
}

inline void resample_curve(int64_t first, int64_t last, const RawDrawing& drawing, const RawRows& rows, int axis,
                           Array grid, Array a, Array b, double* hits, double* misses, double* sizes,
                           const uint8_t* stop) {
    BY_COUNTS(a, resample_curve<C>(first, last, drawing, rows, axis, grid, a, b, hits, misses, sizes, stop));
}

inline void sum_sets(const double* score, const uint8_t* positive, int64_t n_sets, int64_t size, int ties,
                     Array thresholds, const RawWanted& wanted, double* out, int64_t width) {
    sum_sets(score, positive, n_sets, size, ties, View<const double>(thresholds), Wanted<double>(wanted), out, width);
}

inline int64_t group_rows(Array score, const uint8_t* positive, const double* weight, bool is_open, double* out_score,
                          Array pos, Array neg, int64_t* rows) {
    return BY_COUNTS(pos, return group_rows<C>(score, positive, weight, is_open, out_score, pos, neg, rows));
}

inline int64_t group_groups(Array score, Array pos, Array neg, bool is_open, double* out_score, Array out_pos,
                            Array out_neg) {
    return BY_COUNTS(pos, return group_groups<C>(score, pos, neg, is_open, out_score, out_pos, out_neg));
}

inline int64_t into_blocks(Array score, Array pos, Array neg, double n, const double* totals, double tolerance,
                           Array marks, Array cuts, double* state, double* out, int64_t* block) {
    return BY_COUNTS(pos, return into_blocks<C>(score, pos, neg, n, totals[0], totals[1], tolerance, marks, cuts,
                                                state, out, block));
}

inline void placement_moments(Array pos, Array neg, double a, double b, double n_pos, double n_neg, double* result) {
    BY_COUNTS(pos, placement_moments<C>(pos, neg, Total<C>(a), Total<C>(b), n_pos, n_neg, result));
}

inline void draw_rows(const int64_t* row, const uint8_t* positive, const double* weight, Array rows,
                      const int64_t* place, uint64_t seed, const uint8_t* table, int64_t first, int64_t last,
                      Array counts, int64_t width) {
    const auto pass = [&](auto n) {
        draw_rows<decltype(n)>(row, positive, weight, rows, place, seed, table, first, last, counts, width);
    };
    switch (counts.kind) {
        case DOUBLE: return pass(double());
        case UINT32: return pass(std::uint32_t());
        case INT64: return pass(int64_t());
        case INT32: return pass(int32_t());
    }
    throw std::invalid_argument("counts of a stream must be whole numbers or doubles");
}

inline int64_t scan_rows(Array matrix, int64_t k, const int32_t* code, int32_t* top, int32_t* place, double* columns,
                         double* extremes) {
    return BY_SCORE(matrix, return scan_rows<S>(matrix, k ? matrix.size / k : 0, k, code, top, place, columns,
        extremes));
}

inline void spread_columns(Array matrix, int64_t k, const int32_t* code, Array start, int64_t first, Array out,
                           int64_t lines) {
    BY_SCORE(matrix, spread_columns<S>(matrix, matrix.size / k, k, code, start, first, out, lines));
}

inline void sum_sorted_column(Array values, Array start, int64_t k, int64_t* negatives, double* out) {
    BY_SCORE(values, sum_sorted_column<S>(values, start, k, negatives, out));
}

}  // namespace cutline
