# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, embedsignature=True
# distutils: language = c++
"""The compiled passes; what each of them does stands beside its code in rankings.hpp, replicates.hpp and classes.hpp.

Arrays that are written to must be contiguous and of the right type: a copy would take the result with it. A copy of one
that is read needs a name of its own: a pass has its address alone, which does not keep it alive. Here every array is an
``Array``; dispatch.hpp checks its type where a pass takes it. ``UNLOCKED`` passes run without the GIL.
"""

cimport numpy as cnp
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

import numpy as np

cnp.import_array()


cdef extern from "dispatch.hpp" namespace "cutline" nogil:
    cdef enum Kind:
        NONE, INT32, INT64, FLOAT, DOUBLE, BYTE, UINT16, UINT32

    cdef struct Array:
        void* data
        int64_t size
        int kind

    cdef struct Loss:
        double log_eps, gamma, prior

    cdef cppclass Points:
        vector[double] x, y
        vector[int64_t] whole_x, whole_y

    cdef struct RawWanted:
        Array score, log_p, log_q, harmonic, parts, losses, above
        double scale
        Array quotas
        double cases

    cdef struct RawRows:
        Array unit, weight, pos, neg

    cdef struct RawDrawing:
        uint64_t seed
        Array strata
        int64_t n_units
        Array poisson, normal

    cdef struct RawColumn:
        Array order, tie, weight


cdef extern from "dispatch.hpp":
    void c_groups "cutline::sum_groups"(Array, Array, Array) except +
    void c_pairs "UNLOCKED(sum_pairs)"(Array, Array, double, double, Array) except +
    void c_gaps "UNLOCKED(sum_gaps)"(Array, Array, double, double, double, double, Array) except +
    void c_precision "UNLOCKED(sum_precision)"(Array, Array, double, double, double, double, Array) except +
    void c_places "UNLOCKED(sum_places)"(Array, Array, double, double, double, double, Array, Array) except +
    void c_losses "UNLOCKED(sum_losses)"(
        Array, Array, Array, Array, Array, Loss, double, double, Array) except +
    Points c_hull "UNLOCKED(hull_of_groups)"(Array, Array, double, double) except +
    void c_quotas "UNLOCKED(cut_at_quotas)"(
        Array, Array, Array, double, double, double, double, double, Array, Array, cbool, Array) except +
    void c_harmonic_steps "cutline::harmonic_steps"(double, double, double*, double*)
    cbool c_extremes "cutline::extremes"(Array, double*, int64_t*) except +
    void c_split "UNLOCKED(split)"(Array, Array, Array, Array) except +
    void c_sort "UNLOCKED(sort)"(Array, Array, Array) except +
    cbool c_is_amd "cutline::is_amd_family_25"()
    int64_t c_merge "UNLOCKED(merge_sorted)"(Array, Array, Array, Array, Array) except +
    int64_t c_group_weighted "UNLOCKED(group_weighted)"(Array, Array, Array, Array, Array, Array, Array) except +
    void c_keep "UNLOCKED(keep_within)"(Array, Array, double, Array) except +
    int64_t c_alike "UNLOCKED(pairs_alike)"(Array, Array, Array, Array) except +
    double c_beyond "cutline::share_beyond"(Array, double, double, double) except +
    void c_draw "UNLOCKED(draw)"(Array, int64_t, uint64_t, uint64_t) except +
    void c_accumulate "UNLOCKED(accumulate)"(Array, RawRows, Array, Array) except +
    void c_replicate "UNLOCKED(sum_replicate)"(Array, Array, RawWanted, Array, int64_t) except +
    void c_resample "UNLOCKED(resample)"(
        int64_t, int64_t, RawDrawing, RawRows, RawWanted, Array, Array, Array, int64_t, Array) except +
    void c_leave_out "UNLOCKED(leave_out)"(
        int64_t, int64_t, Array, RawRows, RawWanted, Array, Array, Array, int64_t, Array) except +
    void c_nudge "UNLOCKED(nudge)"(
        int64_t, int64_t, RawRows, RawWanted, Array, Array, Array, Array, int64_t, Array) except +
    void c_shares "UNLOCKED(cut_at_shares)"(Array, Array, double, double, int, Array, Array, Array) except +
    void c_curve "UNLOCKED(resample_curve)"(
        int64_t, int64_t, RawDrawing, RawRows, int, Array, Array, Array, Array, Array, Array, Array) except +
    void c_sets "UNLOCKED(sum_sets)"(
        Array, Array, int64_t, int64_t, int, Array, RawWanted, Array, int64_t) except +
    int64_t c_group_rows "UNLOCKED(group_rows)"(
        Array, Array, Array, cbool, Array, Array, Array, Array) except +
    int64_t c_group_groups "UNLOCKED(group_groups)"(Array, Array, Array, cbool, Array, Array, Array) except +
    int64_t c_blocks "UNLOCKED(into_blocks)"(
        Array, Array, Array, double, Array, double, Array, Array, Array, Array, Array) except +
    void c_placements "cutline::placement_moments"(Array, Array, double, double, double, double, double*) except +
    void c_draw_rows "UNLOCKED(draw_rows)"(
        Array, Array, Array, Array, Array, uint64_t, Array, int64_t, int64_t, Array, int64_t) except +
    int64_t c_scan "UNLOCKED(scan_rows)"(Array, int64_t, Array, Array, Array, Array, Array) except +
    void c_spread "UNLOCKED(spread_columns)"(Array, int64_t, Array, Array, int64_t, Array, int64_t) except +
    void c_sorted "UNLOCKED(sum_sorted_column)"(Array, Array, int64_t, Array, Array) except +
    void c_column "UNLOCKED(sum_column)"(RawColumn, Array, int64_t, Array, Array) except +
    void c_influence "UNLOCKED(add_influence)"(
        RawColumn, Array, int64_t, Array, Array, Array, Array, int64_t, Array) except +
    double c_risk "UNLOCKED(sum_risk)"(RawColumn, Array) except +
    void c_risk_influence "UNLOCKED(add_risk_influence)"(RawColumn, Array, Array) except +


cdef Array of(cnp.ndarray values) except *:
    """The array as the passes take it."""
    cdef int size = <int>cnp.PyArray_ITEMSIZE(values), kind = NONE
    if not cnp.PyArray_IS_C_CONTIGUOUS(values):
        raise ValueError("a kernel needs a contiguous array")
    if cnp.PyArray_ISFLOAT(values) and size in (4, 8):
        kind = FLOAT if size == 4 else DOUBLE
    elif cnp.PyArray_ISINTEGER(values) and size in (4, 8):
        kind = INT64 if size == 8 else UINT32 if values.descr.kind == b"u" else INT32
    elif size == 1:
        kind = BYTE
    elif size == 2 and values.descr.kind == b"u":
        kind = UINT16
    if kind == NONE:
        raise ValueError(f"a kernel does not take arrays of {values.dtype}")
    return Array(cnp.PyArray_DATA(values), cnp.PyArray_SIZE(values), kind)


cdef Array if_any(values) except *:
    """The array, or none where there are no values: every weight is 1."""
    return of(values) if values is not None and len(values) else Array(NULL, 0, NONE)


cdef same(pos, neg):
    """Two columns of counts of one type that the passes know."""
    pos, neg = np.ascontiguousarray(pos), np.ascontiguousarray(neg)
    if pos.dtype != neg.dtype or pos.dtype.kind not in "if" or pos.dtype.itemsize < 4:
        pos, neg = pos.astype(np.float64), neg.astype(np.float64)
    return pos, neg


cdef RawWanted wanted_of(w) except *:
    return RawWanted(
        of(w.score), of(w.log_p), of(w.log_q), of(w.harmonic), of(w.parts), of(w.losses), of(w.above),
        w.scale, of(w.quotas), w.cases)


cdef RawRows rows_of(rows) except *:
    return RawRows(of(rows.unit), of(rows.weight), of(rows.pos), of(rows.neg))


cdef RawDrawing drawing_of(how) except *:
    return RawDrawing(how.seed, of(how.strata), how.n_units, of(how.poisson), of(how.normal))


cdef RawColumn column_of(order, tie, weight) except *:
    return RawColumn(of(order), of(tie), of(weight))


def sum_groups(pos, neg, out):
    pos, neg = same(pos, neg)
    c_groups(of(pos), of(neg), of(out))


def sum_pairs(pos, neg, double a0, double n_pos, out):
    pos, neg = same(pos, neg)
    c_pairs(of(pos), of(neg), a0, n_pos, of(out))


def sum_gaps(pos, neg, double a0, double b0, double n_pos, double n_neg, out):
    pos, neg = same(pos, neg)
    c_gaps(of(pos), of(neg), a0, b0, n_pos, n_neg, of(out))


def sum_precision(pos, neg, double a0, double b0, double end0, double step0, out):
    pos, neg = same(pos, neg)
    c_precision(of(pos), of(neg), a0, b0, end0, step0, of(out))


def sum_places(pos, neg, double a0, double b0, double n_pos, double cases, harmonic, out):
    pos, neg = same(pos, neg)
    c_places(of(pos), of(neg), a0, b0, n_pos, cases, of(harmonic), of(out))


def sum_losses(score, log_p, log_q, pos, neg, options, totals, out):
    score = np.ascontiguousarray(score)
    pos, neg = same(pos, neg)
    cdef Loss loss = Loss(options[0], options[1], options[2])
    c_losses(of(score), of(log_p), of(log_q), of(pos), of(neg), loss, totals[0], totals[1], of(out))


def hull_of_groups(pos, neg, double a0, double b0):
    pos, neg = same(pos, neg)
    cdef Points points = c_hull(of(pos), of(neg), a0, b0)
    cdef cbool whole = pos.dtype.kind == "i"
    cdef int64_t n = points.whole_x.size() if whole else points.x.size()
    x, y = np.empty(n, np.int64 if whole else np.float64), np.empty(n, np.int64 if whole else np.float64)
    memcpy(cnp.PyArray_DATA(x), <void*>points.whole_x.data() if whole else <void*>points.x.data(), 8 * n)
    memcpy(cnp.PyArray_DATA(y), <void*>points.whole_y.data() if whole else <void*>points.y.data(), 8 * n)
    return x, y, n


def cut_at_quotas(score, pos, neg, start, totals, double scale, moments, quotas, bint is_last, out):
    score = np.ascontiguousarray(score)
    pos, neg = same(pos, neg)
    c_quotas(
        of(score), of(pos), of(neg), start[0], start[1], totals[0], totals[1], scale, of(moments), of(quotas),
        is_last, of(out))


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
    if len(values) > 4096 or values.dtype.char not in "fdlq" or not (
        values.flags.c_contiguous and values.flags.aligned and values.dtype.isnative
    ):
        return values.min().item(), values.max().item()
    if c_extremes(of(values), real, whole):
        return whole[0], whole[1]
    return real[0], real[1]


def split(score, positive, int64_t n_pos):
    score, positive = np.ascontiguousarray(score), np.ascontiguousarray(positive)
    pos, neg = np.empty(n_pos + 1, score.dtype), np.empty(len(score) - n_pos + 1, score.dtype)
    c_split(of(score), of(positive), of(pos), of(neg))
    return pos[:n_pos], neg[: len(score) - n_pos]


def sort(values, spare=None, places=None):
    spare = np.empty_like(values) if spare is None else spare
    places = np.empty(len(values), np.uint16) if places is None else places
    if not len(values) == len(spare) == len(places) or values.dtype != spare.dtype or not values.flags.writeable:
        raise ValueError("a kernel sorts in place, with as much room again")
    c_sort(of(values), of(spare), of(places))


def is_amd_family_25():
    return c_is_amd()


def merge_sorted(pos, neg, score=None, n_pos=None, n_neg=None):
    n = len(pos) + len(neg)
    if score is None:
        score, n_pos, n_neg = np.empty(n, pos.dtype), np.empty(n, np.int32), np.empty(n, np.int32)
    if not len(score) == len(n_pos) == len(n_neg) == n or score.dtype != pos.dtype or pos.dtype != neg.dtype:
        raise ValueError("a kernel merges two arrays into columns of their type and length")
    return score, n_pos, n_neg, c_merge(of(pos), of(neg), of(score), of(n_pos), of(n_neg))


def group_weighted(score, positive, weight, order):
    score, positive = np.ascontiguousarray(score), np.ascontiguousarray(positive)
    weight, order = np.ascontiguousarray(weight), np.ascontiguousarray(order, np.int64)
    value, pos, neg = np.empty(len(score), score.dtype), np.empty(len(score)), np.empty(len(score))
    used = c_group_weighted(of(score), of(positive), of(weight), of(order), of(value), of(pos), of(neg))
    return value, pos, neg, used


def keep_within(x, y, double tolerance):
    x, y = np.ascontiguousarray(x, np.float64), np.ascontiguousarray(y, np.float64)
    keep = np.empty(len(x), np.bool_)
    c_keep(of(x), of(y), tolerance, of(keep))
    return keep


def pairs_alike(order, tie, positive, code):
    return c_alike(of(order), of(tie), of(positive), of(code))


def share_beyond(sums, double flipped, double rest, double kurtosis):
    return c_beyond(of(sums), flipped, rest, kurtosis)


def draw(counts, int64_t start, int64_t size, uint64_t seed, uint64_t stream):
    c_draw(of(counts[start:]), size, seed, stream)


def accumulate(counts, rows, a, b):
    c_accumulate(of(counts), rows_of(rows), of(a), of(b))


def sum_replicate(a, b, wanted, out):
    c_replicate(of(a), of(b), wanted_of(wanted), of(out), len(out))


def resample(int64_t first, int64_t last, drawing, rows, wanted, a, b, out, stop):
    c_resample(
        first, last, drawing_of(drawing), rows_of(rows), wanted_of(wanted), of(a), of(b), of(out), out.shape[1],
        of(stop))


def leave_out(int64_t first, int64_t last, block, rows, wanted, a, b, out, stop):
    c_leave_out(
        first, last, of(block), rows_of(rows), wanted_of(wanted), of(a), of(b), of(out), out.shape[1], of(stop))


def nudge(int64_t first, int64_t last, rows, wanted, most, a, b, out, stop):
    c_nudge(first, last, rows_of(rows), wanted_of(wanted), of(most), of(a), of(b), of(out), out.shape[1], of(stop))


def cut_at_shares(a, b, double n_pos, double n_neg, int axis, grid, hits, misses):
    c_shares(of(a), of(b), n_pos, n_neg, axis, of(grid), of(hits), of(misses))


def resample_curve(int64_t first, int64_t last, drawing, rows, int axis, grid, a, b, out, stop):
    hits, misses, sizes = out
    c_curve(
        first, last, drawing_of(drawing), rows_of(rows), axis, of(grid), of(a), of(b), of(hits), of(misses),
        of(sizes), of(stop))


def sum_sets(score, positive, int ties, thresholds, wanted, out):
    score, positive = np.ascontiguousarray(score), np.ascontiguousarray(positive)
    c_sets(
        of(score), of(positive), score.shape[0], score.shape[1], ties, of(thresholds), wanted_of(wanted), of(out),
        out.shape[1])


def group_rows(score, positive, weight, bint is_open, out_score, out_pos, out_neg, rows):
    score, positive = np.ascontiguousarray(score), np.ascontiguousarray(positive)
    weight = None if weight is None else np.ascontiguousarray(weight)
    return c_group_rows(
        of(score), of(positive), if_any(weight), is_open, of(out_score), of(out_pos), of(out_neg), of(rows))


def group_groups(score, pos, neg, bint is_open, out_score, out_pos, out_neg):
    score, pos, neg = np.ascontiguousarray(score), np.ascontiguousarray(pos), np.ascontiguousarray(neg)
    return c_group_groups(of(score), of(pos), of(neg), is_open, of(out_score), of(out_pos), of(out_neg))


def into_blocks(score, pos, neg, double start, totals, double tolerance, marks, cuts, state, out, block):
    score = np.ascontiguousarray(score)
    pos, neg = same(pos, neg)
    return c_blocks(
        of(score), of(pos), of(neg), start, of(totals), tolerance, of(marks), of(cuts), of(state), of(out), of(block))


def placement_moments(pos, neg, double a0, double b0, double n_pos, double n_neg):
    cdef double[4] result
    pos, neg = same(pos, neg)
    c_placements(of(pos), of(neg), a0, b0, n_pos, n_neg, result)
    return result[0], result[1], result[2], result[3]


def draw_rows(row, positive, weight, rows, place, uint64_t seed, table, int64_t first, int64_t last, counts):
    row, positive = np.ascontiguousarray(row, np.int64), np.ascontiguousarray(positive)
    weight, rows = np.ascontiguousarray(weight), np.ascontiguousarray(rows)
    c_draw_rows(
        of(row), of(positive), if_any(weight), of(rows), of(place), seed, of(table), first, last, of(counts),
        counts.shape[2])


def scan_rows(matrix, code, top, place, columns, extremes):
    matrix = np.ascontiguousarray(matrix)
    return c_scan(of(matrix), matrix.shape[1], of(code), of(top), of(place), of(columns), of(extremes))


def spread_columns(matrix, code, start, int64_t first, out):
    matrix = np.ascontiguousarray(matrix)
    c_spread(of(matrix), matrix.shape[1], of(code), of(start), first, of(out), out.shape[0])


def sum_sorted_column(values, start, int64_t k, negatives, out):
    c_sorted(of(values), of(start), k, of(negatives), of(out))


def sum_column(order, tie, code, weight, int64_t k, totals, out):
    c_column(column_of(order, tie, weight), of(code), k, of(totals), of(out))


def add_influence(order, tie, code, weight, int64_t k, totals, areas, slopes, out, squares):
    areas, slopes = np.ascontiguousarray(areas), np.ascontiguousarray(slopes)
    c_influence(
        column_of(order, tie, weight), of(code), k, of(totals), of(areas), of(slopes), of(out), out.shape[1],
        of(squares))


def sum_risk(order, tie, right, weight):
    return c_risk(column_of(order, tie, weight), of(right))


def add_risk_influence(order, tie, right, weight, out):
    c_risk_influence(column_of(order, tie, weight), of(right), of(out))
