#include "kernels/cuda/product_log.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/json.h"

namespace deft::kernels::cuda {

namespace {

ProductRecord record_of(const std::tuple<ProductShape, ProductPath, LibraryAlgorithm>& key, std::int64_t calls) {
    const auto& [shape, path, algorithm] = key;
    return {shape, path, algorithm, calls, static_cast<double>(calls) * shape.flops()};
}

}  // namespace

std::string ProductRecord::path_text() const {
    const std::string name = path_name(path);
    return path == ProductPath::library ? name + ": " + algorithm.text() : name;
}

bool is_large_fallback(const ProductRecord& record) {
    return record.path == ProductPath::tiles && record.shape.flops() >= kLargeFallbackFlops;
}

Fallbacks large_fallbacks(const std::vector<ProductRecord>& records) {
    std::vector<ProductRecord> found;
    for (const ProductRecord& record : merged(records))
        if (is_large_fallback(record)) found.push_back(record);
    std::stable_sort(found.begin(), found.end(),
                     [](const ProductRecord& a, const ProductRecord& b) { return a.flops > b.flops; });
    Fallbacks fallbacks;
    for (const ProductRecord& record : found) {
        fallbacks.calls += record.calls;
        fallbacks.flops += record.flops;
        fallbacks.shapes.push_back(record.shape.text());
    }
    return fallbacks;
}

std::string fallback_note(const std::vector<ProductRecord>& records) {
    const Fallbacks fallbacks = large_fallbacks(records);
    if (fallbacks.calls == 0) return {};
    return fmt::format(
        "the GPU ran {} product(s) of at least {:g} GFLOP without tensor cores, since the library takes none "
        "of them: {}",
        fallbacks.calls, kLargeFallbackFlops / 1e9, fmt::join(fallbacks.shapes, "; "));
}

std::vector<ProductRecord> merged(const std::vector<ProductRecord>& records) {
    std::map<std::tuple<ProductShape, ProductPath, LibraryAlgorithm>, std::int64_t> calls;
    for (const ProductRecord& record : records) calls[{record.shape, record.path, record.algorithm}] += record.calls;
    std::vector<ProductRecord> all;
    for (const auto& [key, count] : calls) all.push_back(record_of(key, count));
    return all;
}

Json to_json(const ProductRecord& record) {
    Json json = {{"product", record.shape.text()},
                 {"path", path_name(record.path)},
                 {"calls", record.calls},
                 {"flops", record.flops}};
    if (record.path == ProductPath::library)
        json["algorithm"] = {{"id", record.algorithm.id},
                             {"tile", record.algorithm.tile},
                             {"stages", record.algorithm.stages},
                             {"splits", record.algorithm.splits},
                             {"reduction", record.algorithm.reduction}};
    return json;
}

Json to_json(const Fallbacks& fallbacks) {
    return {{"least_flops", kLargeFallbackFlops},
            {"calls", fallbacks.calls},
            {"flops", fallbacks.flops},
            {"products", fallbacks.shapes}};
}

void ProductLog::add(const ProductShape& shape, ProductPath path, const LibraryAlgorithm* algorithm) {
    const auto at = calls_.try_emplace({shape, path, algorithm == nullptr ? LibraryAlgorithm{} : *algorithm}, 0).first;
    ++at->second;
    if (traces_) trace_.push_back(&at->first);
}

void ProductLog::add(const std::vector<ProductRecord>& repeated) {
    for (const ProductRecord& record : repeated) calls_[{record.shape, record.path, record.algorithm}] += record.calls;
}

std::vector<ProductRecord> ProductLog::records_since(const std::vector<ProductRecord>& before) const {
    std::map<Key, std::int64_t> calls = calls_;
    for (const ProductRecord& record : before) calls[{record.shape, record.path, record.algorithm}] -= record.calls;
    std::vector<ProductRecord> since;
    for (const auto& [key, count] : calls)
        if (count > 0) since.push_back(record_of(key, count));
    return since;
}

std::vector<ProductRecord> ProductLog::records() const {
    std::vector<ProductRecord> all;
    for (const auto& [key, calls] : calls_) all.push_back(record_of(key, calls));
    return all;
}

std::int64_t ProductLog::fallbacks() const {
    std::int64_t calls = 0;
    for (const auto& [key, count] : calls_)
        if (std::get<ProductPath>(key) == ProductPath::tiles) calls += count;
    return calls;
}

void ProductLog::forget() {
    trace_.clear();
    calls_.clear();
}

void ProductLog::trace(bool on) {
    traces_ = on;
    trace_.clear();
}

std::vector<ProductRecord> ProductLog::calls_since(std::size_t first) const {
    std::vector<ProductRecord> calls;
    for (std::size_t i = first; i < trace_.size(); ++i) calls.push_back(record_of(*trace_[i], 1));
    return calls;
}

}  // namespace deft::kernels::cuda
