#include "sweeps/driver/check_tasks.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "base/score_key.h"
#include "experiments/evaluation/check_task.h"

namespace deft::sweeps {

void check_tasks(const std::vector<Trial>& trials) {
    std::set<std::tuple<std::string, std::optional<std::int64_t>, std::string>> seen;
    const auto check = [&](const std::string& name, std::optional<std::int64_t> shots, const Trial& trial) {
        const std::filesystem::path& folder = trial.config.base_folder;
        if (seen.emplace(name, shots, folder.string()).second)
            experiments::check_first_records(experiments::with_shots(experiments::load_task(name, folder), shots));
    };
    for (const Trial& trial : trials) {
        if (trial.config.data.samples == experiments::SampleKind::labelled) check(trial.config.data.corpus, {}, trial);
        for (const experiments::ScoreRequest& request : trial.scores)
            if (request.task != kValidationTask) check(request.task, request.shots, trial);
    }
}

}  // namespace deft::sweeps
