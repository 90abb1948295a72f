#include "sweeps/driver/adoption.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "sweeps/driver/root.h"
#include "sweeps/driver/stop_file.h"

namespace deft::sweeps {

namespace {

bool is_queued(const results_db::LiveAttempt& attempt) {
    return attempt.launcher == "slurm";
}

}  // namespace

std::set<std::int64_t> queued_attempts(const std::vector<results_db::LiveAttempt>& live) {
    std::set<std::int64_t> ids;
    for (const results_db::LiveAttempt& attempt : live)
        if (is_queued(attempt)) ids.insert(attempt.id);
    return ids;
}

Adoption adopt(const std::vector<results_db::LiveAttempt>& live, const std::filesystem::path& root,
               std::span<const std::int64_t> trial_ids, std::span<const char> is_selected, Launcher& launcher,
               const std::string& cancel_with) {
    Adoption adoption;
    std::size_t foreign = 0;
    for (const results_db::LiveAttempt& attempt : live) {
        if (!is_queued(attempt)) continue;
        std::optional<std::size_t> place;
        for (std::size_t i = 0; i < trial_ids.size() && !place; ++i)
            if (is_selected[i] != 0 && trial_ids[i] == attempt.trial_id) place = i;
        const std::filesystem::path folder = std::filesystem::absolute(below_root(root, attempt.workdir));
        if (!place) {
            adoption.kept.insert(attempt.id);
        } else if (!launcher.outlives_driver()) {
            if (!has_stop_file(folder)) ++foreign;
        } else if (const std::optional<RunId> run = launcher.adopt(folder)) {
            adoption.kept.insert(attempt.id);
            adoption.adopted.push_back({attempt, *place, *run});
        }
    }
    if (foreign > 0)
        throw Error(ErrorKind::usage,
                    fmt::format("{} of this sweep {} as Slurm jobs", counted(foreign, "attempt"),
                                foreign == 1 ? "waits or runs" : "wait or run"),
                    fmt::format("adopt them with --launcher slurm, or cancel them: {}", cancel_with),
                    "nothing was started");
    return adoption;
}

}  // namespace deft::sweeps
