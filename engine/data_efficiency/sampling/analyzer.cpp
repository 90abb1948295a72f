#include "engine/data_efficiency/sampling/analyzer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/files.h"
#include "engine/data_efficiency/sampling/difficulty_index.h"
#include "engine/data_efficiency/sampling/integer_column.h"
#include "engine/data_efficiency/sampling/parallel_tasks.h"
#include "engine/io/npy.h"

namespace deft::engine {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kTokensAPart = std::int64_t{1} << 28;  // a fraction of a second
constexpr std::int64_t kTokensATask = std::int64_t{1} << 20;
constexpr std::int64_t kMostParts = 1024;
constexpr std::int64_t kMostSamplesAPart = std::int64_t{1} << 22;

struct Parts {
    std::int64_t samples = 0;  // of all parts
    std::int64_t part_samples = 0;

    std::int64_t count() const { return (samples + part_samples - 1) / part_samples; }
    std::int64_t first(std::int64_t part) const { return part * part_samples; }
    std::int64_t size(std::int64_t part) const { return std::min(part_samples, samples - first(part)); }
};

fs::path counts_file(const fs::path& folder, std::int64_t part) {
    return folder / fmt::format("counts-{:05}.npy", part);
}

fs::path values_file(const fs::path& folder, const Metric& metric, std::int64_t part) {
    return folder / fmt::format("{}-v{}-{:05}.npy", metric.name, metric.version, part);
}

[[noreturn]] void refuse_part(const fs::path& file, const std::string& why) {
    throw Error(ErrorKind::io, fmt::format("{}: {}", file.string(), why),
                "delete it and analyse again: the analysis recreates it");
}

bool any_needs_counts(std::span<const Metric> metrics) {
    return std::any_of(metrics.begin(), metrics.end(), [](const Metric& metric) { return metric.needs_counts; });
}

void report(const AnalyzerOptions& options, const std::string& what, std::int64_t done, std::int64_t all) {
    if (options.progress)
        options.progress(what, static_cast<double>(done) / static_cast<double>(std::max<std::int64_t>(1, all)));
}

// Calls measure(thread, first, last) for tasks of some 2^20 tokens that cover a part's samples.
template <class Measure>
void for_each_task(const SampleSource& source, const Parts& parts, std::int64_t part, int threads, Measure measure) {
    const std::int64_t begin = parts.first(part), end = begin + parts.size(part);
    const std::int64_t step = std::max<std::int64_t>(1, kTokensATask / std::max<std::int64_t>(1, source.length));
    run_tasks(threads, (end - begin + step - 1) / step, [&](int thread, std::int64_t task) {
        measure(thread, begin + task * step, std::min(end, begin + (task + 1) * step));
    });
}

// (V): of one part.
std::vector<std::uint64_t> count_part(const SampleSource& source, const Parts& parts, std::int64_t part, int threads) {
    std::vector<TokenCounter> counters(static_cast<std::size_t>(threads), TokenCounter(source.vocab));
    for_each_task(source, parts, part, threads, [&](int thread, std::int64_t first, std::int64_t last) {
        TokenCounter& counter = counters[static_cast<std::size_t>(thread)];
        std::vector<std::int32_t> scratch;
        for (std::int64_t sample = first; sample < last; ++sample) counter.add(source.tokens(sample, scratch));
    });
    std::vector<std::uint64_t> count(static_cast<std::size_t>(source.vocab), 0);
    for (TokenCounter& counter : counters) counter.add_to(count);
    return count;
}

std::vector<std::uint64_t> sum_of_counts(const SampleSource& source, const Parts& parts, const fs::path& folder) {
    std::vector<std::uint64_t> total(static_cast<std::size_t>(source.vocab), 0);  // (V)
    for (std::int64_t part = 0; part < parts.count(); ++part) {
        const Npy counts = read_npy(counts_file(folder, part));
        if (counts.type != number_type<std::uint64_t>() || counts.count != source.vocab)
            refuse_part(counts_file(folder, part), fmt::format("no counts of {} tokens", source.vocab));
        const auto count = counts.as<std::uint64_t>();
        for (std::size_t v = 0; v < total.size(); ++v) total[v] += count[v];
    }
    return total;
}

// (metrics, samples of the part)
std::vector<std::vector<std::int64_t>> measure_part(const SampleSource& source, std::span<const Metric> metrics,
                                                    const TokenRarity* rarity, const Parts& parts, std::int64_t part,
                                                    int threads) {
    static const TokenRarity kNone;
    std::vector<std::vector<std::int64_t>> values(metrics.size());
    for (auto& of_metric : values) of_metric.resize(static_cast<std::size_t>(parts.size(part)));
    for_each_task(source, parts, part, threads, [&](int, std::int64_t first, std::int64_t last) {
        std::vector<std::int32_t> scratch;
        for (std::int64_t sample = first; sample < last; ++sample) {
            MeasuredSample measured{source.tokens(sample, scratch)};
            if (rarity != nullptr) {
                if (measured.tokens.width != 2) require_vocabulary(measured.tokens, source.vocab);
                measured.nats = sum_of_nats(measured.tokens, *rarity);
            }
            for (std::size_t m = 0; m < metrics.size(); ++m)
                values[m][static_cast<std::size_t>(sample - parts.first(part))] =
                    metrics[m].value(measured, rarity != nullptr ? *rarity : kNone);
        }
    });
    return values;
}

void write_part(const fs::path& file, std::span<const std::int64_t> values) {
    const OwnedColumn narrow = narrow_copy(values);
    write_npy(file, narrow.column.type, narrow.column.data, narrow.column.count);
}

MissingParts missing_parts(const Parts& parts, std::span<const Metric> metrics, const fs::path& folder) {
    MissingParts missing;
    for (std::int64_t part = 0; part < parts.count(); ++part) {
        if (any_needs_counts(metrics) && !fs::exists(counts_file(folder, part))) missing.counts.push_back(part);
        if (std::any_of(metrics.begin(), metrics.end(),
                        [&](const Metric& metric) { return !fs::exists(values_file(folder, metric, part)); }))
            missing.values.push_back(part);
    }
    return missing;
}

IntegerColumn column_of_part(const Npy& npy, const fs::path& file, std::int64_t samples) {
    if (!is_integer_column(npy.type)) refuse_part(file, "its values are no integers");
    if (npy.count != samples) refuse_part(file, fmt::format("{} values of a part of {} samples", npy.count, samples));
    return {npy.data, npy.count, npy.type};
}

// Calls take(part, its values) for each part.
void for_each_part(const Parts& parts, const Metric& metric, const AnalyzerOptions& options,
                   const std::function<void(std::int64_t, const IntegerColumn&)>& take) {
    for (std::int64_t part = 0; part < parts.count(); ++part) {
        const fs::path file = values_file(options.parts, metric, part);
        if (!fs::exists(file))
            throw Error(
                ErrorKind::io,
                fmt::format("part {} of {} is not measured yet: there is no {}", part, parts.count(), file.string()),
                "let the shard that it belongs to finish, then reduce again");
        const Npy npy = read_npy(file);
        take(part, column_of_part(npy, file, parts.size(part)));
    }
}

void join_values(const Parts& parts, const Metric& metric, const AnalyzerOptions& options, const fs::path& file) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = std::numeric_limits<std::int64_t>::min();
    for_each_part(parts, metric, options, [&](std::int64_t, const IntegerColumn& column) {
        const auto [low, high] = range_of(column);
        least = std::min(least, low);
        most = std::max(most, high);
    });
    const NumberType type = parts.samples > 0 ? narrowest_integer(least, most) : narrowest_integer(0, 0);
    NpyOutput output(file, type, parts.samples);
    for_each_part(parts, metric, options, [&](std::int64_t part, const IntegerColumn& column) {
        report(options, fmt::format("joining {}", metric.name), part, parts.count());
        const std::vector<std::byte> bytes = converted(column, type);
        output.write(parts.first(part), bytes.data(), column.count);
    });
    output.finish();
}

}  // namespace

std::int64_t samples_of_part(const SampleSource& source) {
    const std::int64_t by_tokens = kTokensAPart / std::max<std::int64_t>(1, source.length);
    return std::clamp<std::int64_t>(std::max((source.samples + kMostParts - 1) / kMostParts, by_tokens), 1,
                                    kMostSamplesAPart);
}

MissingParts map_samples(const SampleSource& source, std::span<const Metric> metrics, std::int64_t part_samples,
                         const AnalyzerOptions& options) {
    make_folder(options.parts);
    const Parts parts{source.samples, part_samples};
    const auto [index, shards] = options.shard;
    const MissingParts before = missing_parts(parts, metrics, options.parts);
    if (before.values.empty()) return {};
    for (const std::int64_t part : before.counts) {
        if (part % shards != index) continue;
        report(options, "counting tokens", part, parts.count());
        const std::vector<std::uint64_t> count = count_part(source, parts, part, options.threads);
        write_npy(counts_file(options.parts, part), std::span(count));
    }
    const MissingParts counted = missing_parts(parts, metrics, options.parts);
    if (!counted.counts.empty()) return counted;
    TokenRarity rarity;
    const bool counts = any_needs_counts(metrics);
    if (counts) rarity = token_rarity(sum_of_counts(source, parts, options.parts), source.length);
    for (const std::int64_t part : counted.values) {
        if (part % shards != index) continue;
        report(options, "measuring samples", part, parts.count());
        const auto values = measure_part(source, metrics, counts ? &rarity : nullptr, parts, part, options.threads);
        for (std::size_t m = 0; m < metrics.size(); ++m)
            if (!fs::exists(values_file(options.parts, metrics[m], part)))
                write_part(values_file(options.parts, metrics[m], part), values[m]);
    }
    return missing_parts(parts, metrics, options.parts);
}

void reduce_parts(std::int64_t samples, const Metric& metric, std::int64_t part_samples, const AnalyzerOptions& options,
                  const fs::path& folder, const std::string& name) {
    make_folder(folder);
    const fs::path file = difficulty_value_file(folder, name);
    join_values({samples, part_samples}, metric, options, file);
    report(options, fmt::format("ordering by {}", metric.name), 0, 1);
    const Npy value = read_npy(file);
    write_difficulty_order({value.data, value.count, value.type}, folder, name, options.threads, options.memory_bytes);
}

}  // namespace deft::engine
