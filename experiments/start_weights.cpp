#include "experiments/start_weights.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "engine/train/checkpoint.h"

namespace deft::experiments {

namespace {

// The trial that a checkpoint's manifest says it is of, and its tokenizer.
struct Origin {
    std::string trial, tokenizer, tokenizer_sha256;
};

Origin origin_of(const Json& manifest, const std::filesystem::path& checkpoint) {
    try {
        const Json& about = manifest.at("about");
        return {about.at("config_hash"), about.at("tokenizer"), about.at("tokenizer_sha256")};
    } catch (const Json::exception&) {
        throw Error(ErrorKind::io, fmt::format("checkpoint {} does not say of which trial it is", checkpoint.string()));
    }
}

}  // namespace

void load_start_weights(const TrialConfig& config, const Dataset& dataset, engine::Trainer& trainer,
                        const std::filesystem::path& checkpoint) {
    if (checkpoint.empty())
        throw Error(ErrorKind::config, "the checkpoint that this trial starts from is gone",
                    "train that trial again: deft run with --retrain", "nothing was trained");
    const Json manifest = engine::read_manifest(checkpoint);
    const Origin origin = origin_of(manifest, checkpoint);
    if (origin.trial != config.start->trial)
        throw Error(ErrorKind::config,
                    fmt::format("checkpoint {} is not of the trial that this one starts from", checkpoint.string()),
                    "run the sweep again: it finds the checkpoint of each trial");
    if (origin.tokenizer_sha256 != engine::sha256_of(dataset.tokenizer))
        throw Error(ErrorKind::config,
                    fmt::format("the weights of {} were trained on tokens of {}, and this trial's data has those of {}",
                                checkpoint.string(), origin.tokenizer, engine::name_of(dataset.tokenizer)),
                    "give both stages one data.tokenizer");
    engine::load_weights(trainer.exec(), trainer.model(), engine::open_weights(checkpoint, manifest));
}

}  // namespace deft::experiments
