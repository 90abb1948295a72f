#include "experiments/checkpoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/comm/on_first_rank.h"
#include "experiments/evaluation/validation_schedule.h"

namespace deft::experiments {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStep = "step_", kBest = "best_";
constexpr const char* kModelFile = "model.safetensors";

// Checkpoints by descending step, without temporary folders and unknown names.
std::vector<fs::path> newest_first(const fs::path& folder, std::string_view prefix = kStep) {
    std::vector<std::pair<std::int64_t, fs::path>> found;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(prefix)) continue;
        std::int64_t step = 0;
        const char* end = name.data() + name.size();
        const auto [stop, failure] = std::from_chars(name.data() + prefix.size(), end, step);
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

fs::path named(const fs::path& folder, std::string_view prefix, std::int64_t step) {
    return folder / fmt::format("{}{:08}", prefix, step);
}

Json about_trial(const TrialConfig& config, const Dataset& dataset) {
    return {{"config_hash", config_hash(config)},
            {"config", to_json(config)},
            {"tokenizer", engine::name_of(dataset.tokenizer)},
            {"tokenizer_sha256", engine::sha256_of(dataset.tokenizer)}};
}

// The result unless better weights follow. Their step may be later than the checkpoint's: a trial killed between the
// two reaches it again.
BestWeights find_best_weights(const fs::path& folder, std::int64_t least_step) {
    for (const fs::path& found : newest_first(folder, kBest)) {
        const Json manifest = engine::verify_checkpoint(found);
        const BestWeights best{manifest.at("counts").at("steps"),
                               manifest.at("about").at("best").at("value"),
                               {found, manifest.at("sha256").at(kModelFile), model_bytes(found)}};
        if (best.step >= least_step) return best;
    }
    throw Error(ErrorKind::io,
                fmt::format("the best weights in {}, of step {}, are gone", folder.string(), least_step));
}

TrialProgress progress_of(const Json& manifest, const TrialConfig& config) {
    const Json& about = manifest.at("about");
    TrialProgress progress;
    progress.train_seconds = about.at("train_seconds");
    if (about.contains("validations")) {
        progress.validations = about.at("validations");
        progress.best_step = about.at("best_step");
    } else {  // an older program saved it: validations until there are not made up for
        engine::Counts counts;
        counts.steps = manifest.at("counts").at("steps");
        counts.layer_tokens = manifest.at("counts").at("layer_tokens");
        progress.validations =
            validations_due(parse_validation_schedule(config.eval.every), counts, budget_layer_tokens(config.train));
    }
    return progress;
}

}  // namespace

SavedCheckpoint save_trial_checkpoint(const TrialConfig& config, const Dataset& dataset, engine::Trainer& trainer,
                                      const fs::path& folder, const TrialProgress& progress) {
    SavedCheckpoint saved;
    saved.folder = named(folder, kStep, trainer.counts().steps);
    Json about = about_trial(config, dataset);
    about["train_seconds"] = progress.train_seconds;
    about["validations"] = progress.validations;
    about["best_step"] = progress.best_step;
    engine::on_first_rank(trainer.ranks(), [&] { make_folder(folder); });
    saved.model_sha256 = engine::save_checkpoint(trainer, saved.folder, about, dataset.tokenizer);
    engine::on_first_rank(trainer.ranks(), [&] {
        saved.model_bytes = model_bytes(saved.folder);
        keep_newest_checkpoints(folder, config.checkpoint.keep);
    });
    return saved;
}

SavedCheckpoint save_imported_checkpoint(const TrialConfig& config, const Dataset& dataset, engine::Exec& exec,
                                         const engine::Transformer& model, engine::DType dtype,
                                         const fs::path& folder) {
    SavedCheckpoint saved;
    saved.folder = named(folder, kStep, 0);
    make_folder(folder);
    saved.model_sha256 =
        engine::save_weights(exec, model, saved.folder, about_trial(config, dataset), dataset.tokenizer, dtype);
    saved.model_bytes = model_bytes(saved.folder);
    return saved;
}

namespace {

// A checkpoint that can be gone on from, before anything of the trainer is changed.
struct WholeCheckpoint {
    engine::OpenCheckpoint open;
    Resumed resumed;
};

// The last step up to a checkpoint's that its attempt logged, by log_every alone.
std::int64_t last_logged_step(const Json& manifest) {
    const std::int64_t step = manifest.at("counts").at("steps").get<std::int64_t>();
    const Json local = manifest.at("about").at("config").value("local", Json::object());
    const std::int64_t every = std::max<std::int64_t>(1, local.value("log_every", std::int64_t{1}));
    return step - step % every;
}

WholeCheckpoint open_whole(const TrialConfig& config, engine::Trainer& trainer, const fs::path& folder,
                           const fs::path& checkpoint, const Json& manifest) {
    if (manifest.at("about").at("config_hash").get<std::string>() != config_hash(config))
        throw Error(ErrorKind::config, fmt::format("checkpoint {} is of another trial", checkpoint.string()));
    Resumed resumed;
    resumed.progress = progress_of(manifest, config);
    if (resumed.progress.best_step > 0) resumed.best = find_best_weights(folder, resumed.progress.best_step);
    resumed.step = manifest.at("counts").at("steps").get<std::int64_t>();
    resumed.checkpoint = {checkpoint, manifest.at("sha256").at(kModelFile), model_bytes(checkpoint)};
    return {engine::open_checkpoint(trainer, checkpoint, manifest), std::move(resumed)};
}

}  // namespace

Resumed resume_trial(const TrialConfig& config, engine::Trainer& trainer, const fs::path& folder,
                     std::int64_t covered_step) {
    std::optional<WholeCheckpoint> found, ahead;  // ahead: of the journals
    std::string note, note_ahead;
    const auto pass_over = [](std::string& notes, const std::string& what) {
        notes += (notes.empty() ? "" : "; ") + what;
    };
    for (const fs::path& checkpoint : newest_first(folder)) {
        try {
            const Json manifest = engine::read_manifest(checkpoint);
            WholeCheckpoint whole = open_whole(config, trainer, folder, checkpoint, manifest);
            if (last_logged_step(manifest) <= covered_step) {
                found.emplace(std::move(whole));
                break;
            }
            pass_over(note_ahead,
                      fmt::format("passed over {}: it is of step {}, and the trial's journals end at step {}",
                                  checkpoint.string(), whole.resumed.step, covered_step));
            if (!ahead) ahead.emplace(std::move(whole));
        } catch (const Json::exception&) {
            pass_over(note, fmt::format("passed over {}: it does not say of which trial it is, or after how long",
                                        checkpoint.string()));
        } catch (const Error& error) {
            pass_over(note, "passed over: " + first_line(error.what()));
        }
    }
    if (found && ahead) pass_over(note, note_ahead);
    if (!found && ahead) {
        pass_over(note, fmt::format("the curve has a hole: no journal of the trial has the steps {} to {}",
                                    covered_step + 1, ahead->resumed.step));
        found = std::move(ahead);
    }
    if (!found) {
        Resumed none;
        none.note = note;
        return none;
    }
    engine::restore(trainer,
                    found->open);  // a failure from here on ends the trial: the trainer would be neither old nor new
    found->resumed.note = note;
    return std::move(found->resumed);
}

BestWeights save_best_weights(const TrialConfig& config, const Dataset& dataset, engine::Trainer& trainer,
                              const fs::path& folder, double value) {
    BestWeights best;
    best.step = trainer.counts().steps;
    best.value = value;
    best.checkpoint.folder = named(folder, kBest, best.step);
    Json about = about_trial(config, dataset);
    about["best"] = {{"metric", config.eval.metric}, {"value", value}};
    engine::on_first_rank(trainer.ranks(), [&] { make_folder(folder); });
    best.checkpoint.model_sha256 = engine::save_weights(trainer, best.checkpoint.folder, about, dataset.tokenizer);
    engine::on_first_rank(trainer.ranks(), [&] {
        best.checkpoint.model_bytes = model_bytes(best.checkpoint.folder);
        for (const fs::path& other : newest_first(folder, kBest))
            if (other != best.checkpoint.folder) fs::remove_all(other);
    });
    return best;
}

void remove_best_weights(const fs::path& folder) {
    for (const fs::path& found : newest_first(folder, kBest)) fs::remove_all(found);
}

std::optional<fs::path> newest_checkpoint(const fs::path& folder) {
    const std::vector<fs::path> checkpoints = newest_first(folder);
    if (checkpoints.empty()) return {};
    return checkpoints.front();
}

std::optional<fs::path> result_checkpoint(const fs::path& folder) {
    const std::vector<fs::path> best = newest_first(folder, kBest);
    return best.empty() ? newest_checkpoint(folder) : best.front();
}

void keep_newest_checkpoints(const fs::path& folder, std::int64_t keep) {
    const std::vector<fs::path> checkpoints = newest_first(folder);
    for (std::size_t i = static_cast<std::size_t>(keep); i < checkpoints.size(); ++i) fs::remove_all(checkpoints[i]);
}

}  // namespace deft::experiments
