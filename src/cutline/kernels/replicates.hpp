// Passes over many rankings with the same scores: replicates, blocks left out, simulated test sets; and the steps of a
// stream. Rows are kept in the order of the ranking, the positives first, then the negatives, so that a replicate is a
// small array of counts and no row is ever moved or sorted again. Each replicate and each row of a stream starts its
// own random numbers: results do not depend on how work is shared among threads.
#pragma once
#include "rankings.hpp"

namespace cutline {

constexpr uint64_t GOLDEN = 0x9E3779B97F4A7C15u;
constexpr double TO_UNIT = 1.0 / 9007199254740992.0;

// One step of splitmix64: spreads a counter over 64 bits.
inline uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

// A start that differs for neighbouring seeds.
inline uint64_t seeded(uint64_t seed) { return mix(seed * GOLDEN + 1u); }

// xoshiro256++, started for one stream of a seed.
struct Random {
    uint64_t s0, s1, s2, s3;
    Random(uint64_t seed, uint64_t stream) {
        const uint64_t base = seeded(seed) + stream * GOLDEN;
        s0 = mix(base + GOLDEN);
        s1 = mix(base + 2u * GOLDEN);
        s2 = mix(base + 3u * GOLDEN);
        s3 = mix(base + 4u * GOLDEN);
    }
    uint64_t next() {
        const uint64_t total = s0 + s3, value = ((total << 23) | (total >> 41)) + s0, shifted = s1 << 17;
        s2 ^= s0;
        s3 ^= s1;
        s1 ^= s2;
        s0 ^= s3;
        s2 ^= shifted;
        s3 = (s3 << 45) | (s3 >> 19);
        return value;
    }
};

// Draw `size` units with replacement from counts[0 … size), counting how often each came; one 64-bit number gives two
// draws where the range is small enough for the rounding of 32 bits not to matter (a relative error in a unit's chance
// below 2⁻¹⁰), else one.
inline void draw(uint16_t* counts, int64_t size, uint64_t seed, uint64_t stream) {
    Random random(seed, stream);
    const uint64_t wide = static_cast<uint64_t>(size);
    const bool narrow = size < (int64_t{1} << 22);
    int64_t done = 0;
    while (done < size) {
        const uint64_t value = random.next();
        if (narrow) {
            ++counts[((value & 0xFFFFFFFFu) * wide) >> 32];
            if (++done < size) {
                ++counts[((value >> 32) * wide) >> 32];
                ++done;
            }
        } else {
            ++counts[static_cast<int64_t>(static_cast<double>(value >> 11) * TO_UNIT * static_cast<double>(size))];
            ++done;
        }
    }
}

// Rows in the order of the ranking, the positives first: each row's unit (empty: the row itself) and weight (empty: 1),
// and the number of rows of each class in each group of the ranking.
struct Rows {
    View<const int32_t> unit;
    View<const double> weight;
    View<const int32_t> pos, neg;
};

// How units are drawn: the first unit and the number of units of each stratum. Where `poisson` is not empty, the groups
// of the ranking are blocks of many rows and are drawn whole: it has the quantiles of the Poisson distribution with mean
// 1 at 2¹⁶ equal steps, and `normal` those of the normal distribution.
struct Drawing {
    uint64_t seed;
    View<const int64_t> strata;  // pairs
    int64_t n_units;
    View<const uint8_t> poisson;
    View<const float> normal;
};

// What to sum in each of many rankings that have the same scores and differ in their counts. `parts` says which passes
// to make, in the order of PARTS; `losses` has options row by row; `above` is the number of groups above each
// threshold; `quotas` are cases out of `cases`, and are taken as shares of the cases drawn. `harmonic` is a table of
// harmonic numbers; empty where counts are not whole.
template <class S>
struct Wanted {
    View<const S> score;
    View<const double> log_p, log_q, harmonic;
    const uint8_t* parts;
    View<const double> losses;  // triples
    View<const int64_t> above;
    double scale;
    View<const double> quotas;
    double cases;
};

// Counts (times weights) of the rows of each tie group; `counts` ends with a place that belongs to no unit.
template <class C>
void accumulate(const uint16_t* counts, const Rows& rows, C* a, C* b) {
    std::vector<uint16_t> by_row;
    if (rows.unit.size) {
        by_row.resize(rows.unit.size + 1);
        for (int64_t row = 0; row < rows.unit.size; ++row) by_row[row] = counts[rows.unit[row]];
        counts = by_row.data();
    }
    int64_t n_pos = 0;
    for (int64_t g = 0; g < rows.pos.size; ++g) n_pos += rows.pos[g];
    if (rows.weight.size) {
        for (int side = 0; side < 2; ++side) {
            const auto sizes = side ? rows.neg : rows.pos;
            C* into = side ? b : a;
            int64_t row = side ? n_pos : 0;
            for (int64_t g = 0; g < sizes.size; ++g) {
                double total = 0.0;
                for (int32_t i = 0; i < sizes[g]; ++i, ++row) total += counts[row] * rows.weight[row];
                into[g] = static_cast<C>(total);
            }
        }
        return;
    }
    const uint16_t *hit = counts, *miss = counts + n_pos;
    for (int64_t g = 0; g < rows.pos.size; ++g) {
        const int32_t hits = rows.pos[g], misses = rows.neg[g];
        if (hits + misses > 1) {
            int64_t total = 0;
            for (int32_t i = 0; i < hits; ++i) total += hit[i];
            a[g] = static_cast<C>(total);
            total = 0;
            for (int32_t i = 0; i < misses; ++i) total += miss[i];
            b[g] = static_cast<C>(total);
        } else {  // a group is one row where scores do not tie: then no loop is needed
            a[g] = static_cast<C>(*hit * hits);
            b[g] = static_cast<C>(*miss * misses);
        }
        hit += hits;
        miss += misses;
    }
}

// Buffers that passes over replicates lend to each other: fresh memory for each would cost page faults.
template <class C>
struct Scratch {
    std::vector<C> p, q;
    std::vector<double> quotas;
};

// The vector of sums of one reweighted ranking, as sweep() makes it for the sample itself.
template <class C, class S>
void sum_replicate(View<const C> a, View<const C> b, const Wanted<S>& wanted, View<double> out, Scratch<C>& scratch) {
    constexpr bool whole = std::is_integral_v<C>;
    // a third of the rows are not drawn: without the empty groups the passes that go by rank alone are shorter
    scratch.p.resize(a.size + 1);
    scratch.q.resize(a.size + 1);
    Total<C> n_pos = 0, n_neg = 0;
    int64_t there = 0;
    for (int64_t g = 0; g < a.size; ++g) {
        scratch.p[there] = a[g];
        scratch.q[there] = b[g];
        n_pos += a[g];
        n_neg += b[g];
        there += a[g] + b[g] > 0;
    }
    const View<const C> p{scratch.p.data(), there}, q{scratch.q.data(), there};
    const Total<C> cases = n_pos + n_neg, zero = 0;
    const double all_pos = static_cast<double>(n_pos), all_neg = static_cast<double>(n_neg);
    double* into = out.data;
    into[N_POS] = all_pos;
    into[N_NEG] = all_neg;
    into[CASES] = static_cast<double>(cases);
    if (wanted.parts[0]) sum_pairs(p, q, zero, n_pos, into + PAIRS);
    if (wanted.parts[1]) sum_gaps(p, q, zero, zero, n_pos, n_neg, into + GAPS);
    if (wanted.parts[2]) {
        sum_precision(p, q, 0.0, 0.0, 0.0, 0.0, into + PRECISION);
        into[PR_LOWER] += 0.5 * into[LAST_STEP] * (all_pos / static_cast<double>(n_pos + n_neg));
    }
    if (wanted.parts[3]) sum_places(p, q, zero, zero, n_pos, cases, wanted.harmonic, into + PLACES);
    if (wanted.parts[4]) into[HULL] = 0.5 * static_cast<double>(hull_of_groups(p, q, zero, zero).twice_area());
    int64_t at = FIELDS;
    for (int64_t k = 0; k < wanted.losses.size; k += 3, at += N_LOSSES) {
        const Loss options{wanted.losses[k], wanted.losses[k + 1], wanted.losses[k + 2]};
        sum_losses(wanted.score, wanted.log_p, wanted.log_q, a, b, options, all_pos, all_neg, into + at);
    }
    for (int64_t k = 0; k < wanted.above.size; ++k, at += N_CUT)
        for (int side = 0; side < 2; ++side) {
            const auto count = side ? b : a;
            Total<C> inside = 0, behind = 0;
            for (int64_t g = 0; g < wanted.above[k]; ++g) inside += count[g];
            for (int64_t g = wanted.above[k]; g < count.size; ++g) behind += count[g];
            into[at + side] = static_cast<double>(inside);
            into[at + 2 + side] = static_cast<double>(behind);
        }
    if (wanted.quotas.size) {
        std::fill(into + at, into + out.size, NaN);
        scratch.quotas.resize(wanted.quotas.size);
        const double stretch = static_cast<double>(cases) / wanted.cases;
        for (int64_t k = 0; k < wanted.quotas.size; ++k) scratch.quotas[k] = wanted.quotas[k] * stretch;
        double moments[N_MOMENTS] = {0.0};
        cut_at_quotas(wanted.score, a, b, 0.0, 0.0, whole ? all_pos : NaN, whole ? all_neg : NaN, wanted.scale, moments,
                      fixed(scratch.quotas), true, into + at);
    }
}

// How often each unit comes in replicate r.
inline void draw_units(uint16_t* counts, const Drawing& drawing, int64_t r) {
    std::fill(counts, counts + drawing.n_units + 1, 0);
    const int64_t n = drawing.strata.size / 2;
    for (int64_t s = 0; s < n; ++s)
        draw(counts + drawing.strata[2 * s], drawing.strata[2 * s + 1], drawing.seed,
             static_cast<uint64_t>(r * n + s));
}

constexpr int32_t FEW_ROWS = 8;  // of a block up to which each row's Poisson number is drawn

// Poisson numbers of blocks of so many rows. Those of larger blocks are normal numbers z bent by (z² − 1)/6, which have
// the Poisson distribution's mean, variance and skewness (Cornish & Fisher 1938); rounding adds the twelfth that the root
// leaves out.
template <class C>
int64_t draw_blocks(View<const int32_t> rows, const Drawing& drawing, Random& random, C* into) {
    uint64_t bits = 0, left = 0;
    int64_t total = 0;
    auto sixteen = [&] {
        if (left == 0) {
            bits = random.next();
            left = 4;
        }
        const uint64_t value = bits & 0xFFFFu;
        bits >>= 16;
        --left;
        return value;
    };
    for (int64_t g = 0; g < rows.size; ++g) {
        int64_t times = 0;
        if (rows[g] <= FEW_ROWS) {
            for (int32_t i = 0; i < rows[g]; ++i) times += drawing.poisson[sixteen()];
        } else {
            const double size = rows[g], z = drawing.normal[sixteen()];
            const double value = size + std::sqrt(size - 1.0 / 12.0) * z + (z * z - 1.0) / 6.0;
            times = static_cast<int64_t>(std::max(value, 0.0) + 0.5);
        }
        into[g] = static_cast<C>(times);
        total += times;
    }
    return total;
}

// Take `excess` rows (add, where it is negative) from blocks in proportion to their size, so that a replicate has as
// many rows as the sample. Poisson numbers with a given sum are the draws of the ordinary bootstrap.
template <class C>
void take_excess(View<const int32_t> rows, C* counts, double step, double& due, int64_t& taken, int64_t& owed) {
    for (int64_t g = 0; g < rows.size; ++g) {
        if (rows[g] == 0) continue;
        due += step * rows[g];
        const int64_t now = static_cast<int64_t>(std::floor(due));
        owed += now - taken;
        taken = now;
        const int64_t less = std::min(owed, static_cast<int64_t>(counts[g]));
        counts[g] -= static_cast<C>(less);
        owed -= less;
    }
}

// Replicate r of a ranking whose groups are blocks of rows, at a cost that does not grow with the rows.
template <class C>
void draw_whole_blocks(const Drawing& drawing, const Rows& rows, int64_t r, C* a, C* b) {
    Random random(drawing.seed, static_cast<uint64_t>(r));
    const int64_t hits = draw_blocks(rows.pos, drawing, random, a);
    const int64_t misses = draw_blocks(rows.neg, drawing, random, b);
    int64_t n_pos = 0, n_neg = 0;
    for (int64_t g = 0; g < rows.pos.size; ++g) {
        n_pos += rows.pos[g];
        n_neg += rows.neg[g];
    }
    const bool by_class = drawing.strata.size > 2;
    for (int side = 0; side < 2; ++side) {
        // one stratum of both classes, or each of them by itself
        const int64_t size = by_class ? (side ? n_neg : n_pos) : n_pos + n_neg;
        const int64_t excess = by_class ? (side ? misses - n_neg : hits - n_pos) : hits + misses - n_pos - n_neg;
        if (size == 0) continue;
        const double step = static_cast<double>(excess) / static_cast<double>(size);
        double due = static_cast<double>(random.next() >> 11) * TO_UNIT;
        int64_t taken = 0, owed = 0;
        if (!by_class || side == 0) take_excess(rows.pos, a, step, due, taken, owed);
        if (!by_class || side == 1) take_excess(rows.neg, b, step, due, taken, owed);
        due = static_cast<double>(taken);
        owed += excess - taken;  // rounding, and what blocks without a row drawn could not give
        if (owed != 0 && (!by_class || side == 0)) take_excess(rows.pos, a, 0.0, due, taken, owed);
        if (owed != 0 && (!by_class || side == 1)) take_excess(rows.neg, b, 0.0, due, taken, owed);
        if (!by_class) break;
    }
}

// Draws replicates one by one into the counts of a ranking's groups: rows or clusters, or whole blocks.
template <class C>
class Replicator {
  public:
    Replicator(const Drawing& drawing, const Rows& rows) : drawing(drawing), rows(rows) {
        if (!drawing.poisson.size) counts.resize(drawing.n_units + 1);
    }
    void draw(int64_t r, View<C> a, View<C> b) {
        if (drawing.poisson.size) {
            draw_whole_blocks(drawing, rows, r, a.data, b.data);
        } else {
            draw_units(counts.data(), drawing, r);
            accumulate(counts.data(), rows, a.data, b.data);
        }
    }

  private:
    const Drawing& drawing;
    const Rows& rows;
    std::vector<uint16_t> counts;
};

// Replicates first … last, each drawn within the strata of the units; `stop` is looked at before each of them.
template <class C, class S>
void resample(int64_t first, int64_t last, const Drawing& drawing, const Rows& rows, const Wanted<S>& wanted, View<C> a,
              View<C> b, double* out, int64_t width, const volatile uint8_t* stop) {
    Replicator<C> replicator(drawing, rows);
    Scratch<C> scratch;
    for (int64_t r = first; r < last && !*stop; ++r) {
        replicator.draw(r, a, b);
        sum_replicate(View<const C>{a.data, a.size}, View<const C>{b.data, b.size}, wanted,
                      View<double>{out + r * width, width}, scratch);
    }
}

// The sums where a block has fewer or more positives or negatives than in the sample: number r is block r/4, its
// positives or negatives by the second bit of r, fewer or more by the first. All rows of a block move, at most `most`.
template <class C, class S>
void nudge(int64_t first, int64_t last, const Rows& rows, const Wanted<S>& wanted, const double* most, View<C> a,
           View<C> b, double* out, int64_t width, const volatile uint8_t* stop) {
    Scratch<C> scratch;
    for (int64_t g = 0; g < a.size; ++g) {
        a[g] = static_cast<C>(rows.pos[g]);
        b[g] = static_cast<C>(rows.neg[g]);
    }
    for (int64_t r = first; r < last && !*stop; ++r) {
        const int side = r & 2 ? 1 : 0;
        C& count = (side ? b : a)[r / 4];
        const C all = count;
        if (all == 0) continue;
        const double moved = std::min(static_cast<double>(all), most[side]);
        count = static_cast<C>(static_cast<double>(all) + (r & 1 ? moved : -moved));
        sum_replicate(View<const C>{a.data, a.size}, View<const C>{b.data, b.size}, wanted,
                      View<double>{out + r * width, width}, scratch);
        count = all;
    }
}

// The sums without each block of units in turn.
template <class C, class S>
void leave_out(int64_t first, int64_t last, View<const int32_t> block, const Rows& rows, const Wanted<S>& wanted,
               View<C> a, View<C> b, double* out, int64_t width, const volatile uint8_t* stop) {
    std::vector<uint16_t> counts(block.size + 1);
    Scratch<C> scratch;
    for (int64_t k = first; k < last && !*stop; ++k) {
        for (int64_t i = 0; i < block.size; ++i) counts[i] = block[i] != k;
        accumulate(counts.data(), rows, a.data, b.data);
        sum_replicate(View<const C>{a.data, a.size}, View<const C>{b.data, b.size}, wanted,
                      View<double>{out + k * width, width}, scratch);
    }
}

// Positives and negatives above the first cut that reaches each share on an axis (0 cases taken, 1 negatives,
// 2 positives); a tie is entered pro rata.
template <class C>
void cut_at_shares(View<const C> a, View<const C> b, double n_pos, double n_neg, int axis, View<const double> grid,
                   double* hits, double* misses) {
    const double total = axis == 0 ? n_pos + n_neg : axis == 1 ? n_neg : n_pos;
    double tp = 0.0, fp = 0.0, here = 0.0;
    int64_t k = 0;
    for (int64_t g = 0; g < a.size; ++g) {
        const double p = static_cast<double>(a[g]), q = static_cast<double>(b[g]);
        const double step = axis == 0 ? p + q : axis == 1 ? q : p;
        for (; k < grid.size && step > 0 && grid[k] * total <= here + step; ++k) {
            const double part = (grid[k] * total - here) / step;
            hits[k] = tp + part * p;
            misses[k] = fp + part * q;
        }
        tp += p;
        fp += q;
        here += step;
    }
    for (; k < grid.size; ++k) {  // the last share, missed by rounding
        hits[k] = n_pos;
        misses[k] = n_neg;
    }
}

// For each replicate the cuts at given shares of an axis: the material of a band. Takes the positives, the negatives
// (replicate, share), and the class sizes (replicate, class).
template <class C>
void resample_curve(int64_t first, int64_t last, const Drawing& drawing, const Rows& rows, int axis,
                    View<const double> grid, View<C> a, View<C> b, double* hits, double* misses, double* sizes,
                    const volatile uint8_t* stop) {
    Replicator<C> replicator(drawing, rows);
    for (int64_t r = first; r < last && !*stop; ++r) {
        replicator.draw(r, a, b);
        double n_pos = 0.0, n_neg = 0.0;
        for (int64_t g = 0; g < a.size; ++g) {
            n_pos += static_cast<double>(a[g]);
            n_neg += static_cast<double>(b[g]);
        }
        sizes[2 * r] = n_pos;
        sizes[2 * r + 1] = n_neg;
        cut_at_shares(View<const C>{a.data, a.size}, View<const C>{b.data, b.size}, n_pos, n_neg, axis, grid,
                      hits + r * grid.size, misses + r * grid.size);
    }
}

// Rank each of many test sets of one size (a row of `score` and `positive`) and fill its vector of sums. `ties`: 0
// leaves tied cases together, 1 puts their positives first, −1 last. Of `wanted`, what depends on the scores is made
// anew for each set.
inline void sum_sets(const double* score, const uint8_t* positive, int64_t n_sets, int64_t size, int ties,
                     View<const double> thresholds, Wanted<double> wanted, double* out, int64_t width) {
    std::vector<double> value(size), log_p(size), log_q(size), pos, neg;
    std::vector<int32_t> a(size), b(size);
    std::vector<int64_t> above(thresholds.size);
    Scratch<int32_t> scratch;
    for (int64_t s = 0; s < n_sets; ++s, score += size, positive += size) {
        pos.clear();
        neg.clear();
        for (int64_t i = 0; i < size; ++i) (positive[i] ? pos : neg).push_back(score[i]);
        std::sort(pos.begin(), pos.end());
        std::sort(neg.begin(), neg.end());
        int64_t p = static_cast<int64_t>(pos.size()) - 1, q = static_cast<int64_t>(neg.size()) - 1, used = 0;
        while (p >= 0 || q >= 0) {
            const int64_t p_before = p, q_before = q;
            const double here = next_group(fixed(pos), fixed(neg), p, q);
            const int32_t hits = static_cast<int32_t>(p_before - p), misses = static_cast<int32_t>(q_before - q);
            value[used] = here;
            a[used] = hits;
            b[used] = misses;
            if (ties != 0 && hits != 0 && misses != 0) {
                value[used + 1] = here;
                a[used] = ties > 0 ? hits : 0;
                b[used] = ties > 0 ? 0 : misses;
                a[used + 1] = hits - a[used];
                b[used + 1] = misses - b[used];
                ++used;
            }
            ++used;
        }
        for (int64_t k = 0; k < thresholds.size; ++k) {
            above[k] = 0;
            while (above[k] < used && value[above[k]] > thresholds[k]) ++above[k];
        }
        if (wanted.losses.size)
            for (int64_t g = 0; g < used; ++g) {
                log_p[g] = value[g] > 0 ? std::log(value[g]) : -Inf;
                log_q[g] = value[g] < 1 ? std::log1p(-value[g]) : -Inf;
            }
        wanted.score = {value.data(), used};
        wanted.log_p = {log_p.data(), used};
        wanted.log_q = {log_q.data(), used};
        wanted.above = fixed(above);
        sum_replicate(View<const int32_t>{a.data(), used}, View<const int32_t>{b.data(), used}, wanted,
                      View<double>{out + s * width, width}, scratch);
    }
}

// Rows in falling order into groups of equal score; the group left open by the last batch is at place 0 of the out
// arrays. Gives the number of groups, or −1 − i where the score rises at row i. `rows` counts this batch's rows by
// group. Rows count 1 (`weight` empty), or by weight.
template <class C>
int64_t group_rows(View<const double> score, const uint8_t* positive, const double* weight, bool is_open,
                   double* out_score, C* pos, C* neg, int64_t* rows) {
    int64_t used = is_open ? 0 : -1;
    for (int64_t i = 0; i < score.size; ++i) {
        const double value = score[i];
        if (used < 0 || value != out_score[used]) {
            if (used >= 0 && !(value < out_score[used])) return -1 - i;
            ++used;
            out_score[used] = value;
            pos[used] = neg[used] = 0;
            rows[used] = 0;
        }
        (positive[i] ? pos : neg)[used] += weight == nullptr ? C(1) : static_cast<C>(weight[i]);
        ++rows[used];
    }
    return used + 1;
}

// The same for batches that were grouped before: only the first and the open group can be one.
template <class C>
int64_t group_groups(View<const double> score, const C* pos, const C* neg, bool is_open, double* out_score, C* out_pos,
                     C* out_neg) {
    int64_t used = is_open ? 0 : -1;
    for (int64_t i = 0; i < score.size; ++i) {
        const double value = score[i];
        if (used >= 0 && value == out_score[used]) {
            out_pos[used] += pos[i];
            out_neg[used] += neg[i];
            continue;
        }
        if (used >= 0 && !(value < out_score[used])) return -1 - i;
        ++used;
        out_score[used] = value;
        out_pos[used] = pos[i];
        out_neg[used] = neg[i];
    }
    return used + 1;
}

// Places in what a stream carries from batch to batch: the block that is still open.
enum { OPEN, TOP, SCORES, BLOCK_POS, BLOCK_NEG, GROUPS, FIRST };

// Neighbouring groups into blocks, so small that a curve through their ends is as good as the whole one. Within a block
// neither class moves by more than `tolerance` of itself, nor the number taken by more than that share of the cases
// before the block or of those behind it. A group that holds a marked place is a block of its own, and no block reaches
// across one of the `cuts` (thresholds, falling). Finished blocks go to `out`: score of the first group, sum of scores,
// positives, negatives, groups. `block` tells each group's block, counted from the one that is open at the start. Gives
// the number of finished blocks.
template <class C>
int64_t into_blocks(View<const double> score, const C* pos, const C* neg, double n, double n_pos, double n_neg,
                    double tolerance, View<const double> marks, View<const double> cuts, double* state, double* out,
                    int64_t* block) {
    const double total = n_pos + n_neg;
    int64_t done = 0, mark = 0, cut = 0;
    while (mark < marks.size && marks[mark] <= n) ++mark;
    bool closed = false;  // whether the open block may not grow
    for (int64_t g = 0; g < score.size; ++g) {
        const double p = static_cast<double>(pos[g]), q = static_cast<double>(neg[g]), m = p + q;
        const bool marked = mark < marks.size && marks[mark] <= n + m;
        while (mark < marks.size && marks[mark] <= n + m) ++mark;
        bool grows = state[OPEN] > 0 && !marked && !closed;
        if (grows) {
            const double size = state[BLOCK_POS] + state[BLOCK_NEG] + m, before = state[FIRST];
            grows = size <= tolerance * std::min(before, total - before - size) &&
                    state[BLOCK_POS] + p <= tolerance * n_pos && state[BLOCK_NEG] + q <= tolerance * n_neg;
        }
        if (grows) {
            while (cut < cuts.size && cuts[cut] >= state[TOP]) ++cut;
            grows = cut == cuts.size || score[g] > cuts[cut];
        }
        if (!grows) {
            if (state[OPEN] > 0) {
                std::copy(state + TOP, state + GROUPS + 1, out + 5 * done);
                ++done;
            }
            state[OPEN] = 1.0;
            state[TOP] = score[g];
            state[SCORES] = state[BLOCK_POS] = state[BLOCK_NEG] = state[GROUPS] = 0.0;
            state[FIRST] = n;
        }
        state[SCORES] += score[g] * m;
        state[BLOCK_POS] += p;
        state[BLOCK_NEG] += q;
        state[GROUPS] += 1.0;
        closed = marked;
        block[g] = done;
        n += m;
    }
    if (closed) state[FIRST] = -Inf;  // the marked group stays alone in the next batch, too
    return done;
}

// Mean and squared deviations of DeLong's placements of a piece's positives, and of its negatives.
template <class C>
void placement_moments(View<const C> pos, View<const C> neg, Total<C> a0, Total<C> b0, double n_pos, double n_neg,
                       double* result) {
    for (int side = 0; side < 2; ++side) {
        double mean = 0.0;
        for (int turn = 0; turn < 2; ++turn) {
            double a = static_cast<double>(a0), b = static_cast<double>(b0), total = 0.0, cases = 0.0;
            for (int64_t g = 0; g < pos.size; ++g) {
                const double p = static_cast<double>(pos[g]), q = static_cast<double>(neg[g]);
                const double value = side == 0 ? (n_neg - b - 0.5 * q) / n_neg : (a + 0.5 * p) / n_pos;
                const double many = side == 0 ? p : q;
                if (turn == 0) {
                    total += many * value;
                    cases += many;
                } else {
                    total += many * (value - mean) * (value - mean);
                }
                a += p;
                b += q;
            }
            if (turn == 0)
                mean = cases > 0 ? total / cases : 0.0;
            else
                result[2 * side + 1] = total;
        }
        result[2 * side] = mean;
    }
}

// Add each row's Poisson weights in the replicates first … last (multiples of 4) to its block's counts. A weight depends
// on the seed, the row's number and the replicate's number alone: on no batch, thread or order. `rows` is the number of
// rows of each group, `place` the group's line in `counts` (line, class, replicate).
template <class N>
void draw_rows(const int64_t* row, const uint8_t* positive, const double* weight, View<const int64_t> rows,
               const int64_t* place, uint64_t seed, const uint8_t* table, int64_t first, int64_t last, N* counts,
               int64_t width) {
    const uint64_t base = seeded(seed);
    int64_t i = 0;
    for (int64_t g = 0; g < rows.size; ++g)
        for (int64_t k = 0; k < rows[g]; ++k, ++i) {
            const uint64_t key = mix(base + static_cast<uint64_t>(row[i]) * GOLDEN);
            N* line = counts + (2 * place[g] + (positive[i] ? 0 : 1)) * width;
            for (int64_t r = first; r < last; r += 4) {
                uint64_t number = mix(key + static_cast<uint64_t>(r + 1) * GOLDEN);
                for (int j = 0; j < 4; ++j, number >>= 16) {
                    const uint8_t times = table[number & 0xFFFFu];
                    line[r + j] += weight == nullptr ? static_cast<N>(times) : static_cast<N>(weight[i] * times);
                }
            }
        }
}

}  // namespace cutline
