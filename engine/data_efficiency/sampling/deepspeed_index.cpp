#include "engine/data_efficiency/sampling/deepspeed_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "engine/data/indexed_dataset.h"
#include "engine/data_efficiency/sampling/deepspeed_rows.h"

namespace deft::engine {

namespace {

namespace fs = std::filesystem;

struct Prefixes {
    fs::path sample_to_metric, index_to_metric, index_to_sample, percentile_merged;

    Prefixes(const fs::path& folder, const std::string& metric)
        : sample_to_metric(folder / (metric + "_sample_to_metric")),
          index_to_metric(folder / (metric + "_index_to_metric")),
          index_to_sample(folder / (metric + "_index_to_sample")),
          percentile_merged(folder / (metric + "_index_to_sample_percentile_merged")) {}
};

// Distinct values, ascending, and how many samples have each.
struct Distinct {
    std::vector<std::int64_t> value, samples;
};

Distinct distinct_values(const DifficultyIndex& index) {
    Distinct distinct;
    for (std::int64_t rank = 0; rank < index.samples(); ++rank) {
        const std::int64_t value = index.sorted_value(rank);
        if (distinct.value.empty() || distinct.value.back() != value) {
            distinct.value.push_back(value);
            distinct.samples.push_back(0);
        }
        ++distinct.samples.back();
    }
    return distinct;
}

[[noreturn]] void refuse_index(const fs::path& prefix, const std::string& why, const std::string& fix) {
    throw Error(ErrorKind::io, fmt::format("{}: {}", prefix.string(), why), fix);
}

constexpr const char* kOtherCorpus = "it is of another corpus, sample length or packing: analyse this one";

// (samples): the value of each, from rows of sample ids. value(row) is that of a row's samples.
template <class Value>
std::vector<std::int64_t> values_of_rows(const IndexedRows& ids, const fs::path& prefix, std::int64_t samples,
                                         Value value) {
    if (ids.elements().count != samples)
        refuse_index(prefix, fmt::format("it orders {} samples, and the corpus has {}", ids.elements().count, samples),
                     kOtherCorpus);
    std::vector<std::int64_t> values(static_cast<std::size_t>(samples), 0);
    std::vector<bool> seen(values.size(), false);
    ids.for_each_row([&](std::int64_t row, std::int64_t first, std::int64_t length) {
        for (std::int64_t i = first; i < first + length; ++i) {
            const std::int64_t id = ids.elements()[i];
            if (id < 0 || id >= samples)
                refuse_index(prefix, fmt::format("it has sample {}, and the corpus {} samples", id, samples),
                             kOtherCorpus);
            const auto s = static_cast<std::size_t>(id);
            if (seen[s]) refuse_index(prefix, fmt::format("it has sample {} twice", id), "make the index again");
            seen[s] = true;
            values[s] = value(row);
        }
    });
    return values;
}

// Rows of one element.
void require_single(const IndexedRows& rows, const fs::path& prefix) {
    rows.for_each_row([&](std::int64_t row, std::int64_t, std::int64_t length) {
        if (length != 1) refuse_index(prefix, fmt::format("row {} has {} values", row, length), "make the index again");
    });
}

std::vector<std::int64_t> from_index_to_sample(const Prefixes& files, std::int64_t samples) {
    const IndexedRows ids(files.index_to_sample), values(files.index_to_metric);
    require_single(values, files.index_to_metric);
    if (values.rows() != ids.rows())
        refuse_index(files.index_to_metric,
                     fmt::format("it has {} values, and {} {} rows", values.rows(),
                                 files.index_to_sample.filename().string(), ids.rows()),
                     "both must be of one analysis");
    return values_of_rows(ids, files.index_to_sample, samples,
                          [&](std::int64_t row) { return values.elements()[row]; });
}

std::vector<std::int64_t> from_sample_to_metric(const Prefixes& files, std::int64_t samples) {
    const IndexedRows values(files.sample_to_metric);
    require_single(values, files.sample_to_metric);
    if (values.rows() != samples)
        refuse_index(files.sample_to_metric,
                     fmt::format("it has {} samples, and the corpus {}", values.rows(), samples), kOtherCorpus);
    return {values.elements().begin(), values.elements().end()};
}

}  // namespace

void write_deepspeed_index(const DifficultyIndex& index, const fs::path& folder, const std::string& metric) {
    make_folder(folder);
    const Prefixes files(folder, metric);
    const Distinct distinct = distinct_values(index);
    const auto rows = static_cast<std::int64_t>(distinct.value.size());
    const auto one = [](std::int64_t) { return std::int64_t{1}; };
    write_indexed_rows(files.sample_to_metric, index.value, index.samples(), one);
    const IntegerColumn values{distinct.value.data(), rows, number_type<std::int64_t>()};
    write_indexed_rows(files.index_to_metric, values, rows, one);
    write_indexed_rows(files.index_to_sample, index.order, rows,
                       [&](std::int64_t row) { return distinct.samples[static_cast<std::size_t>(row)]; });
    const std::int64_t step = std::max<std::int64_t>(1, rows / 100);
    std::vector<std::int64_t> merged((static_cast<std::size_t>(rows + step - 1)) / static_cast<std::size_t>(step), 0);
    for (std::int64_t row = 0; row < rows; ++row)
        merged[static_cast<std::size_t>(row / step)] += distinct.samples[static_cast<std::size_t>(row)];
    write_indexed_rows(files.percentile_merged, index.order, static_cast<std::int64_t>(merged.size()),
                       [&](std::int64_t row) { return merged[static_cast<std::size_t>(row)]; });
}

DeepSpeedIndex read_deepspeed_index(const fs::path& folder, const std::string& metric, std::int64_t samples) {
    const Prefixes files(folder, metric);
    const auto there = [](const fs::path& prefix) { return fs::exists(idx_file(prefix)); };
    if (there(files.index_to_sample) && there(files.index_to_metric))
        return {index_of_values(from_index_to_sample(files, samples))};
    if (there(files.sample_to_metric)) return {index_of_values(from_sample_to_metric(files, samples))};
    if (there(files.percentile_merged))
        return {index_of_values(values_of_rows(IndexedRows(files.percentile_merged), files.percentile_merged, samples,
                                               [](std::int64_t row) { return row; })),
                false};
    refuse_index(files.index_to_sample, "its .bin and .idx are missing",
                 "name the folder of DeepSpeed's analysis, and its metric");
}

}  // namespace deft::engine
