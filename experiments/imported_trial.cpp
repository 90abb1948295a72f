#include "experiments/imported_trial.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "base/stopwatch.h"
#include "experiments/checkpoints.h"
#include "experiments/datasets/dataset.h"
#include "experiments/engine_config.h"
#include "experiments/heartbeat.h"
#include "experiments/start_weights.h"

namespace deft::experiments {

namespace {

// The trial's model, planned to hold weights and no more.
struct HeldWeights {
    engine::Arena arena;
    std::unique_ptr<engine::Transformer> model;
    engine::Exec exec;

    explicit HeldWeights(const TrialConfig& config) {
        const engine::Backend backend{engine::Device::cpu, engine::DType::f32, 1};
        const engine::TransformerConfig parts = trainer_config(config).model;
        model = engine::plan_and_commit(arena, [&](engine::Arena& a) {
            return std::make_unique<engine::Transformer>(a, parts, backend, 1, engine::Purpose::inference);
        });
        exec = engine::make_exec(backend, arena);
    }
};

void write_started(const TrialConfig& config, const Dataset& dataset, std::int64_t parameters,
                   journal::Writer& journal) {
    journal::Started started;
    started.time_ms = now_ms();
    started.pid = getpid();
    started.dataset_name = dataset.name;
    started.dataset_sha256 = dataset.sha256;
    started.dataset_bytes = dataset.train_bytes;
    started.dataset_tokens = dataset.train_tokens;
    started.parameters = parameters;
    started.config_hash = config_hash(config);
    started.note = dataset.note;
    journal.write(started);
}

}  // namespace

void import_trial(const TrialConfig& config, const TrialPlaces& places, journal::Writer& journal,
                  const std::function<bool()>& stop) {
    const Dataset dataset = load_dataset(config.data, config.model.seqlen, config.base_folder, places.data_folder);
    if (!dataset.note.empty()) fmt::print(stderr, "{}\n", dataset.note);
    HeldWeights held(config);
    const std::int64_t parameters = held.model->parameters().count();
    write_started(config, dataset, parameters, journal);
    Heartbeat heartbeat(journal, stop);
    constexpr double kBytesAParameter = 4;
    heartbeat.begin("importing a model", 2 * saving_seconds(parameters, kBytesAParameter));  // read, then written
    std::string note;
    const engine::DType dtype = load_imported_weights(config, dataset, held.exec, *held.model, note);
    if (!note.empty()) fmt::print(stderr, "{}\n", note);
    const SavedCheckpoint saved =
        save_imported_checkpoint(config, dataset, held.exec, *held.model, dtype, places.checkpoint_folder);
    const std::filesystem::path file = saved.folder / "model.safetensors";
    journal.write(journal::Artifact{"checkpoint", std::filesystem::relative(file, places.run_folder).string(),
                                    saved.model_sha256, saved.model_bytes, "final", 0});
}

}  // namespace deft::experiments
