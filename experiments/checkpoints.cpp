#include "experiments/checkpoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "base/json.h"

namespace deft::experiments {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step_";
constexpr const char* kModelFile = "model.safetensors";

// Newest first; temporary folders and strangers are not among them.
std::vector<fs::path> newest_first(const fs::path& folder) {
    std::vector<std::pair<std::int64_t, fs::path>> found;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(kPrefix)) continue;
        std::int64_t step = 0;
        const char* end = name.data() + name.size();
        const auto [stop, failure] = std::from_chars(name.data() + kPrefix.size(), end, step);
        if (failure == std::errc() && stop == end) found.emplace_back(step, entry.path());
    }
    std::sort(found.rbegin(), found.rend());
    std::vector<fs::path> folders;
    for (auto& [step, path] : found) folders.push_back(std::move(path));
    return folders;
}

std::int64_t model_bytes(const fs::path& checkpoint) {
    return static_cast<std::int64_t>(fs::file_size(checkpoint / kModelFile));
}

}  // namespace

SavedCheckpoint save_trial_checkpoint(const TrialConfig& config, const Dataset& dataset, engine::Trainer& trainer,
                                      const fs::path& folder, double train_seconds) {
    SavedCheckpoint saved;
    saved.folder = folder / fmt::format("{}{:08}", kPrefix, trainer.counts().steps);
    const Json about = {{"config_hash", config_hash(config)},
                        {"config", to_json(config)},
                        {"train_seconds", train_seconds},
                        {"tokenizer", dataset.tokenizer.name()},
                        {"tokenizer_sha256", dataset.tokenizer.sha256()}};
    make_folder(folder);
    saved.model_sha256 = engine::save_checkpoint(trainer, saved.folder, about, dataset.tokenizer);
    saved.model_bytes = model_bytes(saved.folder);
    keep_newest_checkpoints(folder, config.checkpoint.keep);
    return saved;
}

Resumed resume_trial(const TrialConfig& config, engine::Trainer& trainer, const fs::path& folder) {
    Resumed resumed;
    for (const fs::path& checkpoint : newest_first(folder)) {
        try {
            const Json manifest = engine::verify_checkpoint(checkpoint);
            const Json& about = manifest.at("about");
            const auto hash = about.at("config_hash").get<std::string>();
            if (hash != config_hash(config) && !is_former_hash(config, about.value("config", Json()), hash))
                throw Error(ErrorKind::config, fmt::format("checkpoint {} is of another trial", checkpoint.string()));
            engine::load_checkpoint(trainer, checkpoint);
            resumed.step = trainer.counts().steps;
            resumed.train_seconds = about.at("train_seconds").get<double>();
            resumed.checkpoint = {checkpoint, manifest.at("sha256").at(kModelFile), model_bytes(checkpoint)};
            return resumed;
        } catch (const Json::exception&) {
            resumed.note += fmt::format("{}passed over {}: it does not say of which trial it is, or after how long",
                                        resumed.note.empty() ? "" : "; ", checkpoint.string());
        } catch (const Error& error) {
            resumed.note += fmt::format("{}passed over: {}", resumed.note.empty() ? "" : "; ", first_line(error.what()));
        }
    }
    return resumed;
}

std::optional<fs::path> newest_checkpoint(const fs::path& folder) {
    const std::vector<fs::path> checkpoints = newest_first(folder);
    if (checkpoints.empty()) return {};
    return checkpoints.front();
}

void keep_newest_checkpoints(const fs::path& folder, std::int64_t keep) {
    const std::vector<fs::path> checkpoints = newest_first(folder);
    for (std::size_t i = static_cast<std::size_t>(keep); i < checkpoints.size(); ++i) fs::remove_all(checkpoints[i]);
}

}  // namespace deft::experiments
