// A sort of values for processors on which NumPy's is slow (ranking.py chooses). Values are sorted as whole numbers that
// have their order: the bits of a float, with those of a negative one turned round. −0 comes before 0.
//
// The range of the keys is divided into segments. A sample of the keys tells how many lie in each, and so a map that
// is linear within a segment and spreads the keys about evenly over buckets, whatever their distribution. They are
// moved twice: into buckets of about a thousand, and inside the cache into cells of half a key on average. One insertion
// pass puts neighbours right. Crowded cells and buckets are sorted in the same way by their own range, a few times at
// most, then by comparison: the worst case takes n log n steps. The caller lends a second array of keys and 2 bytes for
// each; no more than 100 kB are taken besides.
#pragma once
#include <utility>

#include "rankings.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(_M_X64)
#include <intrin.h>
#endif

namespace cutline {

using std::uint32_t;

template <class K>
class Sorter {
    static constexpr int BITS = 8 * sizeof(K);
    static constexpr int SEGMENT_BITS = 10;           // their table is half of a processor's nearest cache
    static constexpr int INSIDE_BITS = 22;            // of a place within a segment: with the segment, 32 bits
    static constexpr int PART_BITS = 20;              // of a place within a bucket: 12 are left for the bucket
    static constexpr int64_t BUCKET = 1024;           // keys: with their cells as much as the nearest cache holds
    static constexpr int64_t MOST_BUCKETS = 4096;     // pages written in turn: as many as processors remember
    static constexpr int64_t LARGE = 8 * BUCKET;      // keys of a bucket that is divided again; less than 2¹⁶ cells
    static constexpr int64_t CELLS = 2;               // for each key
    static constexpr int64_t SAMPLE = 8192;           // keys: eight for each segment
    static constexpr int64_t FEW = 16;                // keys that insertion alone sorts best
    static constexpr int64_t CROWDED = 24;            // keys of a cell that insertion would sort slowly
    static constexpr int DEEPEST = 4;                 // divisions by an own range before keys are compared

    // Place of a key among the buckets, with PART_BITS behind the point.
    struct Map {
        K low;
        int shift;
        uint32_t first[1 << SEGMENT_BITS], width[1 << SEGMENT_BITS];
        int64_t segment(K key) const { return static_cast<K>((key - low) << shift) >> (BITS - SEGMENT_BITS); }
        uint32_t operator()(K key) const {
            const K rest = static_cast<K>(static_cast<K>((key - low) << shift) << SEGMENT_BITS);
            const int64_t s = segment(key);
            return first[s] + static_cast<uint32_t>((uint64_t(width[s]) * (rest >> (BITS - INSIDE_BITS))) >> INSIDE_BITS);
        }
    };

    // The same for one bucket, linear from the lowest key to the highest.
    struct Line {
        K low;
        int shift;
        uint32_t operator()(K key) const {
            return static_cast<uint32_t>(static_cast<K>((key - low) << shift) >> (BITS - PART_BITS));
        }
    };

    View<K> spare_;
    View<uint16_t> bucket_;
    std::vector<uint16_t> cell_of_;
    std::vector<int32_t> cell_;
    Map map_;

    static K to_key(K bits) { return bits ^ (static_cast<K>(-(bits >> (BITS - 1))) | (K(1) << (BITS - 1))); }
    static K to_bits(K key) { return key ^ (static_cast<K>((key >> (BITS - 1)) - 1) | (K(1) << (BITS - 1))); }

    // How far the differences of keys can be shifted to the left.
    static int room(K low, K high) {
        int shift = 0;
        while (!(static_cast<K>((high - low) << shift) >> (BITS - 1))) ++shift;
        return shift;
    }

    static std::pair<K, K> range(View<K> keys) {
        K low = keys[0], high = keys[0];
        for (int64_t i = 1; i < keys.size; ++i) {
            low = std::min(low, keys[i]);
            high = std::max(high, keys[i]);
        }
        return {low, high};
    }

    void make_map(View<K> keys, K low, K high, int64_t buckets) {
        map_.low = low;
        map_.shift = room(low, high);
        int64_t counts[1 << SEGMENT_BITS] = {0}, sampled = 0, before = 0;
        for (int64_t i = 0; i < keys.size; i += std::max<int64_t>(1, keys.size / SAMPLE), ++sampled)
            ++counts[map_.segment(keys[i])];
        const double unit = static_cast<double>((buckets << PART_BITS) - 1) / static_cast<double>(sampled);
        for (int s = 0; s < 1 << SEGMENT_BITS; ++s) {
            map_.first[s] = static_cast<uint32_t>(unit * static_cast<double>(before));
            before += counts[s];
            map_.width[s] = static_cast<uint32_t>(unit * static_cast<double>(before)) - map_.first[s];
        }
    }

    static void insert(View<K> keys) {
        for (int64_t i = 1; i < keys.size; ++i) {
            const K key = keys[i];
            int64_t j = i;
            for (; j > 0 && keys[j - 1] > key; --j) keys[j] = keys[j - 1];
            keys[j] = key;
        }
    }

    static void compare(View<K> keys) { std::sort(keys.data, keys.data + keys.size); }

    // Sorts keys, with as many spare places.
    void divide(View<K> keys, View<K> spare, int depth) {
        if (keys.size < 2 * BUCKET) return compare(keys);
        const auto [low, high] = range(keys);
        if (low == high) return;
        if (depth == DEEPEST) return compare(keys);
        const int64_t buckets = std::min(MOST_BUCKETS, keys.size / BUCKET);
        make_map(keys, low, high, buckets);
        std::vector<int64_t> starts(buckets + 1, 0);
        const auto start = view(starts);
        const auto bucket = bucket_;
        for (int64_t i = 0; i < keys.size; ++i) {
            bucket[i] = static_cast<uint16_t>(map_(keys[i]) >> PART_BITS);
            ++start[bucket[i]];
        }
        for (int64_t b = 0, before = 0; b <= buckets; ++b) before += std::exchange(start[b], before);
        for (int64_t i = 0; i < keys.size; ++i) spare[start[bucket[i]]++] = keys[i];  // which are their ends now
        std::vector<std::pair<int64_t, int64_t>> large;
        for (int64_t b = 0; b < buckets; ++b) {
            const int64_t from = b ? start[b - 1] : 0, to = start[b];
            if (to - from > LARGE)
                large.emplace_back(from, to);  // later: the map is still in use
            else
                place(spare.slice(from, to), keys.slice(from, to), map_, depth + 1);
        }
        for (const auto& [from, to] : large) {
            std::copy(spare.data + from, spare.data + to, keys.data + from);
            divide(keys.slice(from, to), spare.slice(from, to), depth + 1);
        }
    }

    // Sorts the keys of a bucket from one array to another; the first is a spare one then.
    template <class Place>
    void place(View<K> from, View<K> to, const Place& map, int depth) {
        const int64_t n = from.size, cells = CELLS * n;
        if (n <= FEW) {
            std::copy(from.data, from.data + n, to.data);
            return insert(to);
        }
        std::fill(cell_.begin(), cell_.begin() + cells, 0);
        const auto cell = view(cell_);
        const auto cell_of = view(cell_of_);
        for (int64_t i = 0; i < n; ++i) {
            const uint64_t part = map(from[i]) & ((1u << PART_BITS) - 1);
            cell_of[i] = static_cast<uint16_t>((part * cells) >> PART_BITS);
            ++cell[cell_of[i]];
        }
        int32_t before = 0, most = 0;
        for (int64_t c = 0; c < cells; ++c) {
            most = std::max(most, cell[c]);
            before += std::exchange(cell[c], before);
        }
        for (int64_t i = 0; i < n; ++i) to[cell[cell_of[i]]++] = from[i];
        if (most > CROWDED) {
            std::vector<std::pair<int32_t, int32_t>> crowded;
            for (int64_t c = 0; c < cells; ++c) {
                const int32_t first = c ? cell[c - 1] : 0;
                if (cell[c] - first > CROWDED) crowded.emplace_back(first, cell[c]);
            }
            for (const auto& [first, last] : crowded) sort_cell(to.slice(first, last), from.slice(first, last), depth);
        }
        insert(to);
    }

    void sort_cell(View<K> keys, View<K> spare, int depth) {
        const auto [low, high] = range(keys);
        if (low == high) return;
        if (depth >= DEEPEST) return compare(keys);
        std::copy(keys.data, keys.data + keys.size, spare.data);
        place(spare, keys, Line{low, room(low, high)}, depth + 1);
    }

   public:
    Sorter(View<K> spare, View<uint16_t> bucket)
        : spare_(spare), bucket_(bucket), cell_of_(LARGE), cell_(CELLS * LARGE) {}

    void sort(View<K> values) {
        for (int64_t i = 0; i < values.size; ++i) values[i] = to_key(values[i]);
        divide(values, spare_, 0);
        for (int64_t i = 0; i < values.size; ++i) values[i] = to_bits(values[i]);
    }
};

// Whether this is an AMD processor of the family of Zen 3 and Zen 4.
inline bool is_amd_family_25() {
#if defined(__x86_64__) || defined(_M_X64)
    uint32_t words[4] = {0}, signature[4] = {0};
#ifdef _MSC_VER
    __cpuid(reinterpret_cast<int*>(words), 0);
    __cpuid(reinterpret_cast<int*>(signature), 1);
#else
    __get_cpuid(0, &words[0], &words[1], &words[2], &words[3]);
    __get_cpuid(1, &signature[0], &signature[1], &signature[2], &signature[3]);
#endif
    const uint32_t family = ((signature[0] >> 8) & 15) + ((signature[0] >> 20) & 255);
    return words[1] == 0x68747541 && family == 25;  // "Auth", the beginning of its maker's name
#else
    return false;
#endif
}

}  // namespace cutline
