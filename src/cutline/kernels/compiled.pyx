# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, embedsignature=True
# distutils: language = c++
"""The compiled passes; what each of them does stands beside its code in rankings.hpp, replicates.hpp and classes.hpp.

Arrays that are written to must be contiguous and of the right type: a copy would take the result with it. A copy of one
that is read needs a name of its own: a pass has its address alone, which does not keep it alive.
"""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

import numpy as np

cnp.import_array()


cdef extern from "dispatch.hpp" namespace "cutline" nogil:
    cdef enum Kind:
        INT32, INT64, FLOAT, DOUBLE, BYTE, UINT16, UINT32

    cdef struct Array:
        void* data
        int64_t size
        int kind

    cdef struct Loss:
        double log_eps
        double gamma
        double prior

    cdef cppclass Points:
        vector[double] x
        vector[double] y
        vector[int64_t] whole_x
        vector[int64_t] whole_y

    cdef struct RawWanted:
        Array score, log_p, log_q, harmonic, parts, losses, above, quotas
        double scale, cases

    cdef struct RawRows:
        Array unit, weight, pos, neg

    cdef struct RawDrawing:
        uint64_t seed
        Array strata
        int64_t n_units
        Array poisson
        Array normal

    cdef cppclass CDoubles "cutline::View<const double>":
        const double* data
        int64_t size

    cdef cppclass CCodes "cutline::View<const int32_t>":
        const int32_t* data
        int64_t size

    cdef struct Column:
        CCodes order
        const uint8_t* tie
        const double* weight

    void c_groups "cutline::sum_groups"(Array, Array, double*) except +
    void c_pairs "cutline::sum_pairs"(Array, Array, double, double, double*) except +
    void c_gaps "cutline::sum_gaps"(Array, Array, double, double, double, double, double*) except +
    void c_precision "cutline::sum_precision"(Array, Array, double, double, double, double, double*) except +
    void c_places "cutline::sum_places"(Array, Array, double, double, double, double, Array, double*) except +
    void c_losses "cutline::sum_losses"(Array, Array, Array, Array, Array, Loss, double, double, double*) except +
    Points c_hull "cutline::hull_of_groups"(Array, Array, double, double) except +
    void c_quotas "cutline::cut_at_quotas"(
        Array, Array, Array, double, double, double, double, double, double*, Array, cbool, double*) except +
    void c_harmonic_steps "cutline::harmonic_steps"(double, double, double*, double*)
    cbool c_extremes "cutline::extremes"(Array, double*, int64_t*) except +
    void c_split "cutline::split"(Array, const uint8_t*, Array, Array) except +
    void c_sort "cutline::sort"(Array, Array, Array) except +
    cbool c_is_amd "cutline::is_amd_family_25"()
    int64_t c_merge "cutline::merge_sorted"(Array, Array, Array, int32_t*, int32_t*) except +
    int64_t c_group_weighted "cutline::group_weighted"(
        Array, const uint8_t*, const double*, const int64_t*, Array, double*, double*) except +
    void c_keep "cutline::keep_within"(CDoubles, CDoubles, double, uint8_t*) except +
    int64_t c_alike "cutline::pairs_alike"(CCodes, const uint8_t*, const uint8_t*, const int32_t*) except +
    double c_beyond "cutline::share_beyond"(CDoubles, double, double, double)
    void c_draw "cutline::draw"(uint16_t*, int64_t, uint64_t, uint64_t)
    void c_accumulate "cutline::accumulate"(const uint16_t*, const RawRows&, Array, Array) except +
    void c_replicate "cutline::sum_replicate"(Array, Array, const RawWanted&, double*, int64_t) except +
    void c_resample "cutline::resample"(
        int64_t, int64_t, const RawDrawing&, const RawRows&, const RawWanted&, Array, Array, double*, int64_t,
        const uint8_t*) except +
    void c_leave_out "cutline::leave_out"(
        int64_t, int64_t, Array, const RawRows&, const RawWanted&, Array, Array, double*, int64_t,
        const uint8_t*) except +
    void c_nudge "cutline::nudge"(
        int64_t, int64_t, const RawRows&, const RawWanted&, const double*, Array, Array, double*, int64_t,
        const uint8_t*) except +
    void c_shares "cutline::cut_at_shares"(Array, Array, double, double, int, Array, double*, double*) except +
    void c_curve "cutline::resample_curve"(
        int64_t, int64_t, const RawDrawing&, const RawRows&, int, Array, Array, Array, double*, double*, double*,
        const uint8_t*) except +
    void c_sets "cutline::sum_sets"(
        const double*, const uint8_t*, int64_t, int64_t, int, Array, const RawWanted&, double*, int64_t) except +
    int64_t c_group_rows "cutline::group_rows"(
        Array, const uint8_t*, const double*, cbool, double*, Array, Array, int64_t*) except +
    int64_t c_group_groups "cutline::group_groups"(Array, Array, Array, cbool, double*, Array, Array) except +
    int64_t c_blocks "cutline::into_blocks"(
        Array, Array, Array, double, const double*, double, Array, Array, double*, double*, int64_t*) except +
    void c_placements "cutline::placement_moments"(Array, Array, double, double, double, double, double*) except +
    void c_draw_rows "cutline::draw_rows"(
        const int64_t*, const uint8_t*, const double*, Array, const int64_t*, uint64_t, const uint8_t*, int64_t,
        int64_t, Array, int64_t) except +
    int64_t c_scan "cutline::scan_rows"(
        Array, int64_t, const int32_t*, int32_t*, int32_t*, double*, double*) except +
    void c_spread "cutline::spread_columns"(
        Array, int64_t, const int32_t*, Array, int64_t, Array, int64_t) except +
    void c_sorted "cutline::sum_sorted_column"(Array, Array, int64_t, int64_t*, double*) except +
    void c_column "cutline::sum_column"(const Column&, const int32_t*, int64_t, CDoubles, double*) except +
    void c_influence "cutline::add_influence"(
        const Column&, const int32_t*, int64_t, CDoubles, const double*, const double*, double*, int64_t,
        double*) except +
    double c_risk "cutline::sum_risk"(const Column&, const uint8_t*) except +
    void c_risk_influence "cutline::add_risk_influence"(const Column&, const uint8_t*, double*) except +


cdef Array array_of(cnp.ndarray values) except *:
    """The array as the passes take it."""
    cdef Array result
    cdef int size = <int>cnp.PyArray_ITEMSIZE(values)
    if not cnp.PyArray_IS_C_CONTIGUOUS(values):
        raise ValueError("a kernel needs a contiguous array")
    result.data = cnp.PyArray_DATA(values)
    result.size = cnp.PyArray_SIZE(values)
    if cnp.PyArray_ISFLOAT(values) and size in (4, 8):
        result.kind = FLOAT if size == 4 else DOUBLE
    elif cnp.PyArray_ISINTEGER(values) and size in (4, 8):
        result.kind = INT64 if size == 8 else UINT32 if values.descr.kind == b"u" else INT32
    elif size == 1:
        result.kind = BYTE
    elif size == 2 and values.descr.kind == b"u":
        result.kind = UINT16
    else:
        raise ValueError(f"a kernel does not take arrays of {values.dtype}")
    return result


cdef void* data_of(cnp.ndarray values, Kind kind) except? NULL:
    """Where a contiguous array of one kind begins."""
    cdef Array result = array_of(values)
    if result.kind != kind:
        raise ValueError(f"a kernel does not take arrays of {values.dtype} here")
    return result.data


cdef inline double* doubles(cnp.ndarray values) except? NULL:
    return <double*>data_of(values, DOUBLE)


cdef inline uint8_t* bytes_of(cnp.ndarray values) except? NULL:
    return <uint8_t*>data_of(values, BYTE)


cdef inline int32_t* codes(cnp.ndarray values) except? NULL:
    return <int32_t*>data_of(values, INT32)


cdef inline int64_t* longs(cnp.ndarray values) except? NULL:
    return <int64_t*>data_of(values, INT64)


cdef CDoubles double_view(cnp.ndarray values) except *:
    cdef CDoubles result
    result.data = doubles(values)
    result.size = cnp.PyArray_SIZE(values)
    return result


cdef Column column_of(cnp.ndarray order, cnp.ndarray tie, cnp.ndarray weight) except *:
    cdef Column result
    result.order.data = codes(order)
    result.order.size = cnp.PyArray_SIZE(order)
    result.tie = bytes_of(tie)
    result.weight = doubles(weight)
    return result


cdef same(pos, neg):
    """Two columns of counts of one type that the passes know."""
    pos, neg = np.ascontiguousarray(pos), np.ascontiguousarray(neg)
    if pos.dtype != neg.dtype or pos.dtype.kind not in "if" or pos.dtype.itemsize < 4:
        pos, neg = pos.astype(np.float64), neg.astype(np.float64)
    return pos, neg


cdef RawWanted wanted_of(wanted) except *:
    cdef RawWanted result
    result.score = array_of(wanted.score)
    result.log_p = array_of(wanted.log_p)
    result.log_q = array_of(wanted.log_q)
    result.harmonic = array_of(wanted.harmonic)
    result.parts = array_of(wanted.parts)
    result.losses = array_of(wanted.losses)
    result.above = array_of(wanted.above)
    result.quotas = array_of(wanted.quotas)
    result.scale = wanted.scale
    result.cases = wanted.cases
    return result


cdef RawRows rows_of(rows) except *:
    cdef RawRows result
    result.unit = array_of(rows.unit)
    result.weight = array_of(rows.weight)
    result.pos = array_of(rows.pos)
    result.neg = array_of(rows.neg)
    if result.pos.kind != INT32 or result.neg.kind != INT32 or result.unit.kind != INT32:
        raise ValueError("rows of a replicate are counted in whole numbers of 32 bits")
    return result


cdef RawDrawing drawing_of(drawing) except *:
    cdef RawDrawing result
    result.seed = drawing.seed
    result.strata = array_of(drawing.strata)
    result.n_units = drawing.n_units
    result.poisson = array_of(drawing.poisson)
    result.normal = array_of(drawing.normal)
    return result


def sum_groups(pos, neg, out):
    pos, neg = same(pos, neg)
    c_groups(array_of(pos), array_of(neg), doubles(out))


def sum_pairs(pos, neg, double a0, double n_pos, out):
    pos, neg = same(pos, neg)
    cdef Array p = array_of(pos), q = array_of(neg)
    cdef double* into = doubles(out)
    with nogil:
        c_pairs(p, q, a0, n_pos, into)


def sum_gaps(pos, neg, double a0, double b0, double n_pos, double n_neg, out):
    pos, neg = same(pos, neg)
    cdef Array p = array_of(pos), q = array_of(neg)
    cdef double* into = doubles(out)
    with nogil:
        c_gaps(p, q, a0, b0, n_pos, n_neg, into)


def sum_precision(pos, neg, double a0, double b0, double end0, double step0, out):
    pos, neg = same(pos, neg)
    cdef Array p = array_of(pos), q = array_of(neg)
    cdef double* into = doubles(out)
    with nogil:
        c_precision(p, q, a0, b0, end0, step0, into)


def sum_places(pos, neg, double a0, double b0, double n_pos, double cases, harmonic, out):
    pos, neg = same(pos, neg)
    cdef Array p = array_of(pos), q = array_of(neg), table = array_of(harmonic)
    cdef double* into = doubles(out)
    with nogil:
        c_places(p, q, a0, b0, n_pos, cases, table, into)


def sum_losses(score, log_p, log_q, pos, neg, options, totals, out):
    score = np.ascontiguousarray(score)
    pos, neg = same(pos, neg)
    cdef Array s = array_of(score), lp = array_of(log_p), lq = array_of(log_q)
    cdef Array p = array_of(pos), q = array_of(neg)
    cdef Loss loss
    loss.log_eps, loss.gamma, loss.prior = options
    cdef double n_pos = totals[0], n_neg = totals[1]
    cdef double* into = doubles(out)
    with nogil:
        c_losses(s, lp, lq, p, q, loss, n_pos, n_neg, into)


def hull_of_groups(pos, neg, double a0, double b0):
    pos, neg = same(pos, neg)
    cdef Array p = array_of(pos), q = array_of(neg)
    cdef Points points
    with nogil:
        points = c_hull(p, q, a0, b0)
    cdef cbool whole = p.kind != DOUBLE
    cdef int64_t n = points.whole_x.size() if whole else points.x.size()
    x, y = np.empty(n, np.int64 if whole else np.float64), np.empty(n, np.int64 if whole else np.float64)
    memcpy(cnp.PyArray_DATA(x), <void*>points.whole_x.data() if whole else <void*>points.x.data(), 8 * n)
    memcpy(cnp.PyArray_DATA(y), <void*>points.whole_y.data() if whole else <void*>points.y.data(), 8 * n)
    return x, y, n


def cut_at_quotas(score, pos, neg, start, totals, double scale, moments, quotas, bint is_last, out):
    score = np.ascontiguousarray(score)
    pos, neg = same(pos, neg)
    cdef Array s = array_of(score), p = array_of(pos), q = array_of(neg), places = array_of(quotas)
    cdef double a = start[0], b = start[1], n_pos = totals[0], n_neg = totals[1]
    cdef double* running = doubles(moments)
    cdef double* into = doubles(out)
    with nogil:
        c_quotas(s, p, q, a, b, n_pos, n_neg, scale, running, places, is_last, into)


def add_moments(score, pos, neg, double n0, double scale, moments):
    cut_at_quotas(
        score, pos, neg, (0.0, n0), (0.0, 0.0), scale, moments, np.array([np.inf]), False, np.zeros((1, 7))
    )


def harmonic_steps(double n, double m):
    cdef double inverse, share
    c_harmonic_steps(n, m, &inverse, &share)
    return inverse, share


def extremes(values):
    """The lowest and the highest value as Python's own numbers, nan where one is missing; few of them without NumPy."""
    cdef double[2] real
    cdef int64_t[2] whole
    cdef cbool is_whole
    if len(values) > 4096 or values.dtype.char not in "fdlq" or not (
        values.flags.c_contiguous and values.flags.aligned and values.dtype.isnative
    ):
        return values.min().item(), values.max().item()
    cdef Array column = array_of(values)
    is_whole = c_extremes(column, real, whole)
    if is_whole:
        return whole[0], whole[1]
    return real[0], real[1]


def split(score, positive, int64_t n_pos):
    score, positive = np.ascontiguousarray(score), np.ascontiguousarray(positive)
    pos, neg = np.empty(n_pos + 1, score.dtype), np.empty(len(score) - n_pos + 1, score.dtype)
    cdef Array s = array_of(score), p = array_of(pos), q = array_of(neg)
    cdef const uint8_t* hits = bytes_of(positive)
    with nogil:
        c_split(s, hits, p, q)
    return pos[:n_pos], neg[: len(score) - n_pos]


def sort(values, spare=None, places=None):
    spare = np.empty_like(values) if spare is None else spare
    places = np.empty(len(values), np.uint16) if places is None else places
    if not len(values) == len(spare) == len(places) or values.dtype != spare.dtype or not values.flags.writeable:
        raise ValueError("a kernel sorts in place, with as much room again")
    cdef Array keys = array_of(values), room = array_of(spare), numbers = array_of(places)
    data_of(places, UINT16)
    with nogil:
        c_sort(keys, room, numbers)


def is_amd_family_25():
    return c_is_amd()


def merge_sorted(pos, neg, score=None, n_pos=None, n_neg=None):
    cdef int64_t n = len(pos) + len(neg), used
    if score is None:
        score, n_pos, n_neg = np.empty(n, pos.dtype), np.empty(n, np.int32), np.empty(n, np.int32)
    if not len(score) == len(n_pos) == len(n_neg) == n or score.dtype != pos.dtype or pos.dtype != neg.dtype:
        raise ValueError("a kernel merges two arrays into columns of their type and length")
    cdef Array p = array_of(pos), q = array_of(neg), s = array_of(score)
    cdef int32_t* hits = codes(n_pos)
    cdef int32_t* misses = codes(n_neg)
    with nogil:
        used = c_merge(p, q, s, hits, misses)
    return score, n_pos, n_neg, used


def group_weighted(score, positive, weight, order):
    score, positive = np.ascontiguousarray(score), np.ascontiguousarray(positive)
    weight, order = np.ascontiguousarray(weight), np.ascontiguousarray(order, np.int64)
    value, pos, neg = np.empty(len(score), score.dtype), np.empty(len(score)), np.empty(len(score))
    cdef Array s = array_of(score), v = array_of(value)
    cdef const uint8_t* hits = bytes_of(positive)
    cdef double* w = doubles(weight)
    cdef double* p = doubles(pos)
    cdef double* q = doubles(neg)
    cdef int64_t* rows = longs(order)
    cdef int64_t used
    with nogil:
        used = c_group_weighted(s, hits, w, rows, v, p, q)
    return value, pos, neg, used


def keep_within(x, y, double tolerance):
    x, y = np.ascontiguousarray(x, np.float64), np.ascontiguousarray(y, np.float64)
    keep = np.empty(len(x), np.bool_)
    cdef CDoubles across = double_view(x), up = double_view(y)
    cdef uint8_t* into = bytes_of(keep)
    with nogil:
        c_keep(across, up, tolerance, into)
    return keep


def pairs_alike(order, tie, positive, code):
    cdef CCodes rows
    rows.data, rows.size = codes(order), len(order)
    cdef const uint8_t* tied = bytes_of(tie)
    cdef const uint8_t* hits = bytes_of(positive)
    cdef const int32_t* other = codes(code)
    cdef int64_t alike
    with nogil:
        alike = c_alike(rows, tied, hits, other)
    return alike


def share_beyond(sums, double flipped, double rest, double kurtosis):
    return c_beyond(double_view(sums), flipped, rest, kurtosis)


def draw(counts, int64_t start, int64_t size, uint64_t seed, uint64_t stream):
    cdef uint16_t* into = <uint16_t*>data_of(counts, UINT16)
    with nogil:
        c_draw(into + start, size, seed, stream)


def accumulate(counts, rows, a, b):
    cdef RawRows these = rows_of(rows)
    cdef const uint16_t* times = <uint16_t*>data_of(counts, UINT16)
    cdef Array p = array_of(a), q = array_of(b)
    with nogil:
        c_accumulate(times, these, p, q)


def sum_replicate(a, b, wanted, out):
    cdef RawWanted these = wanted_of(wanted)
    cdef Array p = array_of(a), q = array_of(b)
    cdef double* into = doubles(out)
    cdef int64_t width = len(out)
    with nogil:
        c_replicate(p, q, these, into, width)


def resample(int64_t first, int64_t last, drawing, rows, wanted, a, b, out, stop):
    cdef RawDrawing how = drawing_of(drawing)
    cdef RawRows which = rows_of(rows)
    cdef RawWanted what = wanted_of(wanted)
    cdef Array p = array_of(a), q = array_of(b)
    cdef double* into = doubles(out)
    cdef int64_t width = out.shape[1]
    cdef const uint8_t* flag = bytes_of(stop)
    with nogil:
        c_resample(first, last, how, which, what, p, q, into, width, flag)


def leave_out(int64_t first, int64_t last, block, rows, wanted, a, b, out, stop):
    cdef Array blocks = array_of(block)
    cdef RawRows which = rows_of(rows)
    cdef RawWanted what = wanted_of(wanted)
    cdef Array p = array_of(a), q = array_of(b)
    cdef double* into = doubles(out)
    cdef int64_t width = out.shape[1]
    cdef const uint8_t* flag = bytes_of(stop)
    with nogil:
        c_leave_out(first, last, blocks, which, what, p, q, into, width, flag)


def nudge(int64_t first, int64_t last, rows, wanted, most, a, b, out, stop):
    cdef RawRows which = rows_of(rows)
    cdef RawWanted what = wanted_of(wanted)
    cdef const double* limits = doubles(most)
    cdef Array p = array_of(a), q = array_of(b)
    cdef double* into = doubles(out)
    cdef int64_t width = out.shape[1]
    cdef const uint8_t* flag = bytes_of(stop)
    with nogil:
        c_nudge(first, last, which, what, limits, p, q, into, width, flag)


def cut_at_shares(a, b, double n_pos, double n_neg, int axis, grid, hits, misses):
    cdef Array p = array_of(a), q = array_of(b), shares = array_of(grid)
    cdef double* found = doubles(hits)
    cdef double* missed = doubles(misses)
    with nogil:
        c_shares(p, q, n_pos, n_neg, axis, shares, found, missed)


def resample_curve(int64_t first, int64_t last, drawing, rows, int axis, grid, a, b, out, stop):
    cdef RawDrawing how = drawing_of(drawing)
    cdef RawRows which = rows_of(rows)
    cdef Array p = array_of(a), q = array_of(b), shares = array_of(grid)
    cdef double* hits = doubles(out[0])
    cdef double* misses = doubles(out[1])
    cdef double* sizes = doubles(out[2])
    cdef const uint8_t* flag = bytes_of(stop)
    with nogil:
        c_curve(first, last, how, which, axis, shares, p, q, hits, misses, sizes, flag)


def sum_sets(score, positive, int ties, thresholds, wanted, out):
    score, positive = np.ascontiguousarray(score), np.ascontiguousarray(positive)
    cdef RawWanted what = wanted_of(wanted)
    cdef Array cuts = array_of(thresholds)
    cdef int64_t n_sets = score.shape[0], size = score.shape[1], width = out.shape[1]
    cdef const double* values = doubles(score)
    cdef const uint8_t* hits = bytes_of(positive)
    cdef double* into = doubles(out)
    with nogil:
        c_sets(values, hits, n_sets, size, ties, cuts, what, into, width)


def group_rows(score, positive, weight, bint is_open, out_score, out_pos, out_neg, rows):
    score, positive = np.ascontiguousarray(score), np.ascontiguousarray(positive)
    weight = None if weight is None else np.ascontiguousarray(weight)
    cdef Array s = array_of(score), p = array_of(out_pos), q = array_of(out_neg)
    cdef const uint8_t* hits = bytes_of(positive)
    cdef const double* w = NULL
    if weight is not None:
        w = doubles(weight)
    cdef double* values = doubles(out_score)
    cdef int64_t* many = longs(rows)
    cdef int64_t used
    with nogil:
        used = c_group_rows(s, hits, w, is_open, values, p, q, many)
    return used


def group_groups(score, pos, neg, bint is_open, out_score, out_pos, out_neg):
    score, pos, neg = np.ascontiguousarray(score), np.ascontiguousarray(pos), np.ascontiguousarray(neg)
    cdef Array s = array_of(score), p = array_of(pos), q = array_of(neg)
    cdef Array into_pos = array_of(out_pos), into_neg = array_of(out_neg)
    cdef double* values = doubles(out_score)
    cdef int64_t used
    with nogil:
        used = c_group_groups(s, p, q, is_open, values, into_pos, into_neg)
    return used


def into_blocks(score, pos, neg, double start, totals, double tolerance, marks, cuts, state, out, block):
    score = np.ascontiguousarray(score)
    pos, neg = same(pos, neg)
    cdef Array s = array_of(score), p = array_of(pos), q = array_of(neg)
    cdef Array marked = array_of(marks), at = array_of(cuts)
    cdef const double* sizes = doubles(totals)
    cdef double* open_block = doubles(state)
    cdef double* into = doubles(out)
    cdef int64_t* numbers = longs(block)
    cdef int64_t done
    with nogil:
        done = c_blocks(s, p, q, start, sizes, tolerance, marked, at, open_block, into, numbers)
    return done


def placement_moments(pos, neg, double a0, double b0, double n_pos, double n_neg):
    cdef double[4] result
    pos, neg = same(pos, neg)
    c_placements(array_of(pos), array_of(neg), a0, b0, n_pos, n_neg, result)
    return result[0], result[1], result[2], result[3]


def draw_rows(row, positive, weight, rows, place, uint64_t seed, table, int64_t first, int64_t last, counts):
    row, positive = np.ascontiguousarray(row, np.int64), np.ascontiguousarray(positive)
    weight, rows = np.ascontiguousarray(weight), np.ascontiguousarray(rows)
    cdef const int64_t* numbers = longs(row)
    cdef const uint8_t* hits = bytes_of(positive)
    cdef const double* w = NULL
    if len(weight):
        w = doubles(weight)
    cdef Array many = array_of(rows), into = array_of(counts)
    cdef const int64_t* lines = longs(place)
    cdef const uint8_t* weights = bytes_of(table)
    cdef int64_t width = counts.shape[2]
    with nogil:
        c_draw_rows(numbers, hits, w, many, lines, seed, weights, first, last, into, width)


def scan_rows(matrix, code, top, place, columns, extremes):
    matrix = np.ascontiguousarray(matrix)
    cdef Array values = array_of(matrix)
    cdef int64_t k = matrix.shape[1], bad
    cdef const int32_t* real = codes(code)
    cdef int32_t* best = codes(top)
    cdef int32_t* before = codes(place)
    cdef double* into = doubles(columns)
    cdef double* ends = doubles(extremes)
    with nogil:
        bad = c_scan(values, k, real, best, before, into, ends)
    return bad


def spread_columns(matrix, code, start, int64_t first, out):
    matrix = np.ascontiguousarray(matrix)
    cdef Array values = array_of(matrix), starts = array_of(start), into = array_of(out)
    cdef int64_t k = matrix.shape[1], lines = out.shape[0]
    cdef const int32_t* real = codes(code)
    with nogil:
        c_spread(values, k, real, starts, first, into, lines)


def sum_sorted_column(values, start, int64_t k, negatives, out):
    cdef Array scores = array_of(values), starts = array_of(start)
    cdef int64_t* work = longs(negatives)
    cdef double* into = doubles(out)
    with nogil:
        c_sorted(scores, starts, k, work, into)


def sum_column(order, tie, code, weight, int64_t k, totals, out):
    cdef Column column = column_of(order, tie, weight)
    cdef const int32_t* real = codes(code)
    cdef CDoubles sizes = double_view(totals)
    cdef double* into = doubles(out)
    with nogil:
        c_column(column, real, k, sizes, into)


def add_influence(order, tie, code, weight, int64_t k, totals, areas, slopes, out, squares):
    areas, slopes = np.ascontiguousarray(areas), np.ascontiguousarray(slopes)
    cdef Column column = column_of(order, tie, weight)
    cdef const int32_t* real = codes(code)
    cdef CDoubles sizes = double_view(totals)
    cdef const double* seen = doubles(areas)
    cdef const double* slope = doubles(slopes)
    cdef double* into = doubles(out)
    cdef double* summed = doubles(squares)
    cdef int64_t n_measures = out.shape[1]
    with nogil:
        c_influence(column, real, k, sizes, seen, slope, into, n_measures, summed)


def sum_risk(order, tie, right, weight):
    cdef Column column = column_of(order, tie, weight)
    cdef const uint8_t* correct = bytes_of(right)
    cdef double area
    with nogil:
        area = c_risk(column, correct)
    return area


def add_risk_influence(order, tie, right, weight, out):
    cdef Column column = column_of(order, tie, weight)
    cdef const uint8_t* correct = bytes_of(right)
    cdef double* into = doubles(out)
    with nogil:
        c_risk_influence(column, correct, into)
