#include "experiments/datasets/difficulty.h"

#include <fmt/format.h>

#include "base/files.h"
#include "base/json.h"
#include "engine/data_efficiency/sampling/vocabulary_rarity.h"
#include "experiments/datasets/file_lock.h"

namespace deft::experiments {

namespace {

namespace fs = std::filesystem;

// Raised by hand whenever a metric gives other values.
constexpr int kMetricVersion = 1;

// What an index belongs to; anything else is made anew.
Json fingerprint(const Dataset& dataset, const std::string& metric, std::int64_t seqlen) {
    return {{"schema", "deft-difficulty/1"}, {"metric", metric},          {"version", kMetricVersion},
            {"corpus", dataset.sha256},      {"split", "train"},          {"seqlen", seqlen},
            {"tokenizer", dataset.tokenizer.sha256()}, {"samples", dataset.train.samples(seqlen)}};
}

bool belongs(const fs::path& file, const Json& wanted) {
    for (const char* suffix : {".json", ".value.npy", ".order.npy"})
        if (!fs::exists(fs::path(file).replace_extension() += suffix)) return false;
    return Json::parse(read_file(file), nullptr, false) == wanted;
}

}  // namespace

bool needs_index(const std::string& metric) {
    return metric == "voc";
}

engine::DifficultyIndex load_difficulty(const Dataset& dataset, const std::string& metric, std::int64_t seqlen,
                                        const PrepareProgress& progress) {
    const fs::path folder = dataset.folder / "difficulty";
    const std::string name = fmt::format("{}-{}", metric, seqlen);
    const fs::path file = folder / (name + ".json");
    const Json wanted = fingerprint(dataset, metric, seqlen);
    if (!belongs(file, wanted)) {
        make_folder(folder);
        const FileLock lock(folder / (name + ".lock"));
        if (!belongs(file, wanted)) {
            if (progress) progress(fmt::format("analysing {} of {} samples", metric, dataset.train.samples(seqlen)), 0);
            const engine::DifficultyIndex index = engine::index_of_values(
                engine::vocabulary_rarity(dataset.train, seqlen, dataset.tokenizer.vocab()));
            engine::write_difficulty_index(index, folder, name);
            write_file_atomically(file, wanted.dump(2) + "\n");
        }
    }
    return engine::read_difficulty_index(folder, name);
}

}  // namespace deft::experiments
