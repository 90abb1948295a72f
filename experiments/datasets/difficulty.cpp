#include "experiments/datasets/difficulty.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/usable_machine.h"
#include "engine/data_efficiency/sampling/value_column.h"
#include "experiments/datasets/file_hashes.h"

namespace deft::experiments {

namespace {

namespace fs = std::filesystem;

// Fingerprint of the data that values belong to, whatever the metric.
Json samples_fingerprint(const Dataset& samples) {
    return {{"schema", "deft-difficulty/2"},
            {"corpus", samples.sha256},
            {"tokenizer", engine::sha256_of(samples.tokenizer)},
            {"split", "train"},
            {"seqlen", samples.seqlen},
            {"packing", samples.source.packing},
            {"samples", samples.source.samples}};
}

constexpr const char* kHashes = "block_sha256";  // beside the fingerprint

std::array<fs::path, 2> index_files(const fs::path& folder, const std::string& name) {
    return {engine::difficulty_value_file(folder, name), engine::difficulty_order_file(folder, name)};
}

Json hashes_of(const fs::path& folder, const std::string& name) {
    Json hashes = {{"block_bytes", kHashedBlockBytes}};
    for (const fs::path& file : index_files(folder, name)) hashes["files"].push_back(block_hashes(file));
    return hashes;
}

// Out of an index's JSON; null where an older deft wrote none.
Json take_hashes(Json& json) {
    if (!json.is_object() || !json.contains(kHashes)) return {};
    Json hashes = json[kHashes];
    json.erase(kHashes);
    return hashes;
}

// Describes damage of an index; nothing where it is as it was written.
std::optional<std::string> damage_of(const fs::path& folder, const std::string& name, const Json& hashes) {
    if (hashes.is_null()) return {};
    const std::array<fs::path, 2> files = index_files(folder, name);
    try {
        for (std::size_t i = 0; i < files.size(); ++i)
            if (auto difference = difference_from(files[i], hashes.at("files").at(i).get<std::vector<std::string>>(),
                                                  hashes.at("block_bytes").get<std::int64_t>()))
                return difference;
    } catch (const Json::exception&) {
        return "its hashes cannot be read";
    }
    return {};
}

// Suffix that distinguishes the indexes of a metric in one folder.
std::string suffix_of(const Dataset& samples) {
    if (std::holds_alternative<engine::TokenCorpus>(samples.train)) return fmt::format("{}", samples.seqlen);
    return fmt::format("{}-{}", samples.seqlen, sha256(samples.source.packing).substr(0, 8));
}

// Samples, and where what is found of them is kept.
struct Analysis {
    Analysis(const Dataset& of, const AnalysisOptions& given)
        : source(of.source),
          samples(samples_fingerprint(of)),
          folder(of.folder / "difficulty"),
          suffix(suffix_of(of)),
          part_samples(engine::samples_of_part(source)) {
        options.parts = folder / ("parts-" + sha256(Json{samples, part_samples}.dump()).substr(0, 16));
        options.shard = given.shard;
        options.threads = given.threads > 0 ? given.threads : usable_cores();
        options.memory_bytes = given.memory_bytes;
        options.progress = given.progress;
    }

    std::string name(const std::string& metric) const { return metric + "-" + suffix; }
    fs::path file(const std::string& metric) const { return folder / (name(metric) + ".json"); }

    Json fingerprint(const std::string& metric) const {
        Json json = samples;
        json["metric"] = metric;
        json["version"] = engine::built_in_metric(metric).version;
        return json;
    }

    // The one that is there belongs to these samples, and is as it was written.
    bool is_made(const std::string& metric) const {
        for (const fs::path& part : index_files(folder, name(metric)))
            if (!fs::exists(part)) return false;
        if (!fs::exists(file(metric))) return false;
        Json found = try_parse_json(read_file(file(metric)));
        const Json hashes = take_hashes(found);
        if (found != fingerprint(metric)) return false;
        const auto damage = damage_of(folder, name(metric), hashes);
        if (damage && options.progress)
            options.progress(fmt::format("the index {} is damaged and is recreated: {}", name(metric), *damage), 0);
        return !damage;
    }

    std::vector<std::string> missing(std::span<const std::string> metrics) const {
        std::vector<std::string> names;
        for (const std::string& metric : metrics)
            if (!is_made(metric)) names.push_back(metric);
        return names;
    }

    engine::MissingParts map(std::span<const std::string> metrics) const {
        std::vector<engine::Metric> chosen;
        for (const std::string& metric : metrics) chosen.push_back(engine::built_in_metric(metric));
        return engine::map_samples(source, chosen, part_samples, options);
    }

    void reduce(std::span<const std::string> metrics) const {
        for (const std::string& metric : metrics) {
            std::error_code absent;
            fs::remove(file(metric), absent);  // it would describe files that are replaced now
            engine::reduce_parts(source.samples, engine::built_in_metric(metric), part_samples, options, folder,
                                 name(metric));
            Json json = fingerprint(metric);
            json[kHashes] = hashes_of(folder, name(metric));
            write_file_atomically(file(metric), json_text(json, 2) + "\n");
        }
        std::error_code ignored;  // parts that are left take space, and do no harm
        fs::remove_all(options.parts, ignored);
    }

    FileLock lock() const {
        make_folder(folder);
        return FileLock(options.parts.string() + ".lock");
    }

    engine::SampleSource source;
    Json samples;
    fs::path folder;
    std::string suffix;
    std::int64_t part_samples;
    engine::AnalyzerOptions options;
};

// Names the first key in which an index is not of these samples.
void require_belongs(const fs::path& file, const Json& found, const Json& wanted) {
    for (const auto& [key, value] : wanted.items()) {
        const Json other = found.is_object() ? found.value(key, Json()) : Json();
        if (other == value) continue;
        throw Error(ErrorKind::config,
                    fmt::format("the index {} is not of these samples: its {} is {}, and here it is {}", file.string(),
                                key, other.dump(-1, ' ', false, Json::error_handler_t::replace), value.dump()),
                    "analyse this corpus at this sample length with deft analyze, or name the index made of it");
    }
}

}  // namespace

std::vector<std::string> analyse_difficulty(const Dataset& samples, std::span<const std::string> metrics,
                                            const AnalysisOptions& options) {
    const Analysis analysis(samples, options);
    if (analysis.missing(metrics).empty()) return {};
    const FileLock lock = analysis.lock();
    if (options.waited_seconds != nullptr) *options.waited_seconds += lock.waited_seconds();
    const std::vector<std::string> missing = analysis.missing(metrics);
    if (missing.empty()) return {};
    analysis.map(missing);
    analysis.reduce(missing);
    return missing;
}

engine::MissingParts analyse_shard(const Dataset& samples, std::span<const std::string> metrics,
                                   const AnalysisOptions& options) {
    const Analysis analysis(samples, options);
    make_folder(analysis.folder);
    const std::vector<std::string> missing = analysis.missing(metrics);
    return missing.empty() ? engine::MissingParts{} : analysis.map(missing);
}

void reduce_shards(const Dataset& samples, std::span<const std::string> metrics, const AnalysisOptions& options) {
    const Analysis analysis(samples, options);
    const FileLock lock = analysis.lock();
    analysis.reduce(analysis.missing(metrics));
}

engine::DifficultyIndex load_difficulty(const Dataset& samples, const std::string& metric,
                                        const PrepareProgress& progress, double* waited_seconds) {
    AnalysisOptions options;
    options.progress = progress;
    options.waited_seconds = waited_seconds;
    analyse_difficulty(samples, {&metric, 1}, options);
    const Analysis analysis(samples, options);
    return engine::read_difficulty_index(analysis.folder, analysis.name(metric));
}

engine::DifficultyIndex open_difficulty(const Dataset& samples, const fs::path& file) {
    const Analysis analysis(samples, {});
    if (file.extension() != ".json") return engine::difficulty_of_column(file, analysis.source.samples);
    Json found = try_parse_json(read_file(file));
    const Json hashes = take_hashes(found);
    require_belongs(file, found, analysis.samples);
    const std::string metric = found.value("metric", "");
    if (engine::is_built_in_metric(metric)) require_belongs(file, found, analysis.fingerprint(metric));
    if (const auto damage = damage_of(file.parent_path(), file.stem().string(), hashes))
        throw Error(ErrorKind::config, fmt::format("the index {} is damaged: {}", file.string(), *damage),
                    "analyse the corpus again with deft analyze");
    return engine::read_difficulty_index(file.parent_path(), file.stem().string());
}

}  // namespace deft::experiments
