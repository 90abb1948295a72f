#include "experiments/start_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/json.h"
#include "engine/train/checkpoint.h"
#include "engine/train/foreign_weights.h"

namespace deft::experiments {

namespace {

namespace fs = std::filesystem;

// The trial's identity in its checkpoint's manifest.
struct TrialOrigin {
    std::string trial, data_sha256;
};

TrialOrigin origin_of(const fs::path& checkpoint) {
    const Json manifest = engine::read_manifest(checkpoint);
    try {
        const Json& about = manifest.at("about");
        return {about.at("config_hash"), about.at("config").at("data").at("sha256")};
    } catch (const Json::exception&) {
        throw Error(ErrorKind::io, fmt::format("checkpoint {} does not say of which trial it is", checkpoint.string()));
    }
}

// The folder or file to start from, checked to be what was planned.
struct Start {
    engine::ImportedModel model;
    bool is_of_this_data = false;
};

Start open_checkpoint_of_trial(const TrialConfig& config, const fs::path& checkpoint) {
    if (checkpoint.empty())
        throw Error(ErrorKind::config, "the checkpoint that this trial starts from is gone",
                    "train that trial again: deft run with --retrain", "nothing was trained");
    const TrialOrigin origin = origin_of(checkpoint);
    if (origin.trial != config.start->trial)
        throw Error(ErrorKind::config,
                    fmt::format("checkpoint {} is not of the trial that this one starts from", checkpoint.string()),
                    "run the sweep again: it finds the checkpoint of each trial", "nothing was trained");
    return {engine::open_model(checkpoint), origin.data_sha256 == config.data.sha256};
}

engine::ImportedModel open_named_model(const TrialConfig& config) {
    engine::ImportedModel model = engine::open_model(start_path(config));
    if (model.sha256 != config.start->sha256)
        throw Error(ErrorKind::config, fmt::format("{} has changed since this trial was planned", model.path.string()),
                    "run the sweep again: it plans with the current files", "nothing was trained");
    return model;
}

Start open_start(const TrialConfig& config, const fs::path& checkpoint) {
    if (config.start->from.empty()) return open_checkpoint_of_trial(config, checkpoint);
    return {open_named_model(config)};
}

std::string text_of(const engine::ImportReport& report) {
    std::vector<std::string> texts;
    if (!report.fresh.empty()) texts.push_back(fmt::format("new: {}", fmt::join(report.fresh, ", ")));
    if (!report.unused.empty()) texts.push_back(fmt::format("not used: {}", fmt::join(report.unused, ", ")));
    if (report.positions_cut > 0) texts.push_back(fmt::format("{} positions cut", report.positions_cut));
    return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace

namespace {

std::string note_of(const engine::ImportedModel& model, const engine::ImportReport& report) {
    const std::string text = text_of(report);
    return text.empty() ? "" : fmt::format("weights of {}: {}", model.path.string(), text);
}

}  // namespace

std::string load_start_weights(const TrialConfig& config, const Dataset& dataset, engine::Trainer& trainer,
                               const fs::path& checkpoint) {
    const Start start = open_start(config, checkpoint);
    // The class head of BERT samples is the order of two sentences wherever gaps are filled beside it.
    const bool has_order_head = config.data.samples == SampleKind::bert && start.model.config.head.has_value();
    const engine::ImportOptions options{!start.is_of_this_data && !has_order_head, &dataset.tokenizer};
    return note_of(start.model, engine::import_weights(trainer.exec(), trainer.model(), start.model, options));
}

engine::DType load_imported_weights(const TrialConfig& config, const Dataset& dataset, engine::Exec& exec,
                                    engine::Transformer& model, std::string& note) {
    const engine::ImportedModel from = open_named_model(config);
    const engine::ImportReport report =
        engine::import_weights(exec, model, from, {.new_class_head = false, .tokenizer = &dataset.tokenizer});
    if (!report.fresh.empty())
        throw Error(ErrorKind::config,
                    fmt::format("{} lacks weights that this trial asks for and does not train: {}", from.path.string(),
                                fmt::join(report.fresh, ", ")),
                    "name a model with the head that it was trained with, or give train.budget_tokens",
                    "nothing was imported");
    note = note_of(from, report);
    return from.dtype;
}

}  // namespace deft::experiments
