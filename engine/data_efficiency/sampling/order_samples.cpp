#include "engine/data_efficiency/sampling/order_samples.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "engine/data_efficiency/sampling/parallel_tasks.h"

namespace deft::engine {

namespace {

using Write = std::function<void(std::int64_t, std::span<const std::uint64_t>)>;

constexpr std::uint64_t kMostBins = 1 << 15;  // of a histogram
constexpr std::int64_t kBytesASample = 16;    // while a range is sorted
constexpr std::size_t kIdsAWrite = 1 << 14;
constexpr int kDigitBits = 11;

int bits_of(std::uint64_t value) {
    return static_cast<int>(std::bit_width(value));
}

// Values as distances from the least, which have no sign.
std::uint64_t distance(std::int64_t value, std::int64_t least) {
    return static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(least);
}

// Samples whose value is low .. high, which take `count` ranks from `rank` on.
struct ValueRange {
    std::uint64_t low = 0, high = 0;  // distances from the least value
    std::int64_t count = 0, rank = 0;

    std::uint64_t width() const { return high - low; }
};

struct Samples {
    const IntegerColumn& value;
    std::int64_t least = 0;
    int threads = 1;
    std::int64_t most_in_memory = 0;  // of a range

    int id_bits() const { return bits_of(static_cast<std::uint64_t>(std::max<std::int64_t>(1, value.count - 1))); }
};

// Calls take(thread, id, distance) for all samples, blocks of them on several threads.
template <class Take>
void for_each_sample(const Samples& samples, Take take) {
    constexpr std::int64_t kBlock = 1 << 20;
    const std::int64_t count = samples.value.count;
    run_tasks(samples.threads, (count + kBlock - 1) / kBlock, [&](int thread, std::int64_t block) {
        with_number_type(samples.value.type, [&]<class T>() {
            const T* value = static_cast<const T*>(samples.value.data);
            const std::int64_t end = std::min(count, (block + 1) * kBlock);
            for (std::int64_t id = block * kBlock; id < end; ++id)
                take(thread, id, distance(static_cast<std::int64_t>(value[id]), samples.least));
        });
    });
}

// Counts the samples of a range by bins of 2^shift values.
std::vector<std::int64_t> histogram(const Samples& samples, const ValueRange& range, int shift) {
    const std::uint64_t bins = (range.width() >> shift) + 1;
    std::vector<std::vector<std::int64_t>> count(static_cast<std::size_t>(samples.threads));
    for (auto& of_thread : count) of_thread.assign(bins, 0);
    for_each_sample(samples, [&](int thread, std::int64_t, std::uint64_t value) {
        const std::uint64_t above = value - range.low;
        if (above <= range.width()) ++count[static_cast<std::size_t>(thread)][above >> shift];
    });
    for (std::size_t t = 1; t < count.size(); ++t)
        for (std::uint64_t bin = 0; bin < bins; ++bin) count[0][bin] += count[t][bin];
    return count[0];
}

// Divides a range into ones that fit the memory, or have one value only.
void divide(const Samples& samples, const ValueRange& range, std::vector<ValueRange>& ranges) {
    if (range.width() == 0) {
        ranges.push_back(range);
        return;
    }
    const int shift = std::max(0, bits_of(range.width()) - bits_of(kMostBins - 1));
    const std::vector<std::int64_t> count = histogram(samples, range, shift);
    ValueRange open{range.low, 0, 0, range.rank};
    const auto close = [&](std::uint64_t next_low) {
        open.high = next_low - 1;
        if (open.count > 0) ranges.push_back(open);
        open = {next_low, 0, 0, open.rank + open.count};
    };
    for (std::uint64_t bin = 0; bin < count.size(); ++bin) {
        const std::uint64_t low = range.low + (bin << shift);
        const std::uint64_t high = bin + 1 < count.size() ? low + (std::uint64_t{1} << shift) - 1 : range.high;
        if (open.count > 0 && open.count + count[bin] > samples.most_in_memory) close(low);
        open.count += count[bin];
        if (count[bin] <= samples.most_in_memory) continue;
        divide(samples, {low, high, count[bin], open.rank}, ranges);
        open = {high + 1, 0, 0, open.rank + count[bin]};
    }
    if (open.count > 0) {
        open.high = range.high;
        ranges.push_back(open);
    }
}

// Stable, by bits [first_bit, first_bit + bits).
void radix_sort(std::vector<std::uint64_t>& entries, int first_bit, int bits) {
    std::vector<std::uint64_t> sorted(entries.size());
    constexpr std::uint64_t kMask = (1 << kDigitBits) - 1;
    for (int bit = first_bit; bit < first_bit + bits; bit += kDigitBits) {
        std::array<std::size_t, kMask + 1> next{};
        for (const std::uint64_t entry : entries) ++next[entry >> bit & kMask];
        std::size_t start = 0;
        for (std::size_t& place : next) start += std::exchange(place, start);
        for (const std::uint64_t entry : entries) sorted[next[entry >> bit & kMask]++] = entry;
        entries.swap(sorted);
    }
}

// Hands ids over in pieces; id(i) is the one of the range's i-th rank.
template <class Id>
void write_ids(const ValueRange& range, const Write& write, Id id) {
    std::vector<std::uint64_t> ids;
    for (std::int64_t i = 0; i < range.count; i += static_cast<std::int64_t>(ids.size())) {
        ids.resize(std::min(kIdsAWrite, static_cast<std::size_t>(range.count - i)));
        for (std::size_t j = 0; j < ids.size(); ++j) ids[j] = id(static_cast<std::size_t>(i) + j);
        write(range.rank + i, ids);
    }
}

// Calls take(id, distance above the range's low) for the range's samples in the order of their ids.
template <class Take>
void for_each_in_range(const Samples& samples, const ValueRange& range, Take take) {
    with_number_type(samples.value.type, [&]<class T>() {
        const T* value = static_cast<const T*>(samples.value.data);
        for (std::int64_t id = 0; id < samples.value.count; ++id) {
            const std::uint64_t above = distance(static_cast<std::int64_t>(value[id]), samples.least) - range.low;
            if (above <= range.width()) take(static_cast<std::uint64_t>(id), above);
        }
    });
}

// One value: its ids are in order as they come.
void write_equal_values(const Samples& samples, const ValueRange& range, const Write& write) {
    std::vector<std::uint64_t> ids;
    std::int64_t rank = range.rank;
    const auto flush = [&] {
        if (!ids.empty()) write(rank, ids);
        rank += static_cast<std::int64_t>(ids.size());
        ids.clear();
    };
    for_each_in_range(samples, range, [&](std::uint64_t id, std::uint64_t) {
        ids.push_back(id);
        if (ids.size() == kIdsAWrite) flush();
    });
    flush();
}

// Value and id in one word, sorted by the digits of the value.
void write_packed(const Samples& samples, const ValueRange& range, const Write& write) {
    const int id_bits = samples.id_bits();
    std::vector<std::uint64_t> entries;
    entries.reserve(static_cast<std::size_t>(range.count));
    for_each_in_range(samples, range,
                      [&](std::uint64_t id, std::uint64_t above) { entries.push_back(above << id_bits | id); });
    radix_sort(entries, id_bits, bits_of(range.width()));
    const std::uint64_t mask = (std::uint64_t{1} << id_bits) - 1;
    write_ids(range, write, [&](std::size_t i) { return entries[i] & mask; });
}

// Values too wide to share a word with an id.
void write_wide(const Samples& samples, const ValueRange& range, const Write& write) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> entries;  // (value, id)
    entries.reserve(static_cast<std::size_t>(range.count));
    for_each_in_range(samples, range, [&](std::uint64_t id, std::uint64_t above) { entries.emplace_back(above, id); });
    std::sort(entries.begin(), entries.end());
    write_ids(range, write, [&](std::size_t i) { return entries[i].second; });
}

}  // namespace

void order_samples(const IntegerColumn& value, int threads, std::int64_t memory_bytes, const Write& write) {
    if (value.count == 0) return;
    const auto [least, most] = range_of(value);
    const std::int64_t fits = std::max<std::int64_t>(1, memory_bytes / kBytesASample / threads);
    const std::int64_t share = (value.count + threads - 1) / threads;  // so that no thread is idle
    const Samples samples{value, least, threads, std::min(fits, std::max<std::int64_t>(share, 1 << 16))};
    std::vector<ValueRange> ranges;
    divide(samples, {0, distance(most, least), value.count, 0}, ranges);
    run_tasks(threads, static_cast<std::int64_t>(ranges.size()), [&](int, std::int64_t i) {
        const ValueRange& range = ranges[static_cast<std::size_t>(i)];
        if (range.width() == 0)
            write_equal_values(samples, range, write);
        else if (bits_of(range.width()) + samples.id_bits() <= 64)
            write_packed(samples, range, write);
        else
            write_wide(samples, range, write);
    });
}

}  // namespace deft::engine
