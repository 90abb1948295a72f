#include "sweeps/cli/find_checkpoint.h"

#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "experiments/checkpoints.h"
#include "sweeps/cli/results.h"
#include "sweeps/driver/root.h"

namespace deft::cli {

namespace fs = std::filesystem;

fs::path checkpoint_of_trial(const std::string& named, const std::string& root) {
    if (!fs::exists(sweeps::database_file(root)))
        throw Error(
            ErrorKind::usage,
            fmt::format("folder {} does not exist, and {} has no results to look for such a trial", named, root),
            "name a checkpoint's folder, or a trial and its root with --root");
    const results_db::StoredTrial trial = open_results(root).trial(named);
    const fs::path folder =
        sweeps::below_root(root, sweeps::checkpoint_folder(root, trial.config_hash).lexically_relative(root));
    if (const auto result = experiments::result_checkpoint(folder)) return *result;
    throw Error(ErrorKind::missing, fmt::format("{} has no checkpoint in {}", named, folder.string()),
                "run the sweep again, or name the folder where its checkpoint is");
}

fs::path find_checkpoint(const std::string& named, const std::string& root) {
    const fs::path folder = named;
    if (!fs::is_directory(folder)) return checkpoint_of_trial(named, root);
    if (fs::exists(folder / "checkpoint.json")) return folder;
    if (const auto result = experiments::result_checkpoint(folder)) return *result;
    throw Error(ErrorKind::io, fmt::format("{} is not a checkpoint: it has no checkpoint.json", folder.string()),
                "name a folder such as deft-runs/checkpoints/HASH/step_00000100");
}

}  // namespace deft::cli
