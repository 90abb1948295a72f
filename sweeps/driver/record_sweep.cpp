#include "sweeps/driver/record_sweep.h"

#include "base/installed_files.h"
#include "base/json.h"
#include "experiments/checkpoints.h"
#include "reporting/analysis/claims/claims_check.h"
#include "results_db/host_key.h"
#include "results_db/trial_name.h"
#include "results_db/writer.h"
#include "sweeps/driver/provenance.h"
#include "sweeps/driver/root.h"
#include "sweeps/spec/published_tables.h"

namespace deft::sweeps {

namespace {

std::string overrides_json(const Spec& spec) {
    Json overrides = Json::array();
    for (const auto* changes : {&spec.pinned_axes, &spec.overrides})
        for (const Override& change : *changes)
            overrides.push_back({{"path", change.stage.empty() ? change.path : change.stage + "." + change.path},
                                 {"value", to_json(change.value)}});
    return canonical_json(overrides);
}

std::string scores_json(const Trial& trial) {
    Json scores = Json::array();
    for (const experiments::ScoreRequest& request : trial.scores)
        scores.push_back({{"task", request.task}, {"shots", request.shots}, {"key", request.key}});
    return canonical_json(scores);
}

std::optional<results_db::ImportedModel> imported_model(const experiments::TrialConfig& config) {
    if (!experiments::is_imported(config)) return {};
    const experiments::StartConfig& start = *config.start;
    const experiments::StatedTraining& stated = start.stated;
    return results_db::ImportedModel{start.from,   start.format, start.sha256, stated.tokens,
                                     stated.flops, stated.hours, stated.usd,   stated.source};
}

}  // namespace

RecordedSweep record_sweep(results_db::Writer& writer, const Spec& spec, const std::vector<Trial>& trials,
                           const DriverOptions& options) {
    RecordedSweep recorded;
    const results_db::Code code = describe_code(spec.keeps_diff ? Diff::text : Diff::hash);
    const results_db::Host host = describe_host();
    recorded.code = writer.add_code(code);
    recorded.host = writer.add_host(host);
    recorded.provenance = {{"code", code_json(code)}, {"host", host_json(host)}};
    recorded.machine_json = results_db::machine_json(host);
    Json libraries = libraries_json();
    if (!options.launcher.slurm_version.empty()) libraries["Slurm"] = options.launcher.slurm_version;
    recorded.libraries_json = canonical_json(libraries);
    results_db::Sweep sweep;
    sweep.name = spec.name;
    sweep.spec_sha256 = spec.sha256;
    sweep.spec_toml = spec.text;
    sweep.overrides_json = overrides_json(spec);
    sweep.title = spec.title;
    sweep.scale = spec.scale;
    sweep.baseline = spec.baseline;
    sweep.command = options.fill_with;
    sweep.points = options.points;
    sweep.paper = spec.paper;
    if (const auto table = published_table(spec.paper)) sweep.claims_json = reporting::claims_json(*table, spec.scale);
    const std::int64_t sweep_id = writer.add_sweep(sweep);
    std::vector<results_db::PlacedTrial> placed;
    for (const Trial& trial : trials) {
        Json config = experiments::to_json(trial.config);
        config.erase("eval");  // which several places of sweeps may have their own of
        placed.push_back({{trial.config_hash, trial.variant_hash, trial.seed, canonical_json(config), trial.label},
                          {trial.ordinal, trial.recipe, canonical_json(trial.axes), scores_json(trial), trial.stage,
                           results_db::seeds_text(trial.seeds), imported_model(trial.config)}});
    }
    recorded.trial_ids = writer.add_trials(sweep_id, placed);
    if (const auto& price = spec.price) writer.price_unpriced(sweep_id, *price);
    return recorded;
}

std::optional<std::filesystem::path> checkpoint_to_score(const results_db::Writer& writer,
                                                         const std::filesystem::path& root, std::int64_t trial_id) {
    const auto result = writer.result_checkpoint(trial_id);
    if (!result) return std::nullopt;
    const std::filesystem::path folder = below_root(root, result->path).parent_path();
    if (std::filesystem::exists(folder / "checkpoint.json")) return folder;
    const auto found = experiments::result_checkpoint(checkpoint_folder(root, result->config_hash));
    if (found && found->filename() == folder.filename()) return found;
    return std::nullopt;
}

}  // namespace deft::sweeps
