#include "sweeps/driver/job_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <numeric>

#include "base/error.h"
#include "base/json.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "base/this_machine.h"
#include "reporting/numbers.h"
#include "sweeps/driver/foreign_json.h"
#include "sweeps/driver/slurm_allocation.h"
#include "sweeps/driver/slurm_job.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

// A start of a job: Slurm may start one twice.
struct Start {
    std::int64_t began_ms = 0, last_ms = 0;
    double cores = 0, cards = 0, used_seconds = 0;  // used: of shares

    double seconds() const { return std::max(0.0, static_cast<double>(last_ms - began_ms) / 1000); }
};

std::vector<Start> starts_of(const fs::path& job_folder) {
    std::vector<Start> starts;
    std::ifstream in(job_folder / kJobLines);
    for (std::string line; std::getline(in, line) && !in.eof();) {
        const Json json = try_parse_json(line);
        if (!json.is_object()) continue;
        const std::string type = text_of(json, "type");
        const std::int64_t time = count_of(json, "time_ms");
        if (type == "began")
            starts.push_back({time, time, static_cast<double>(count_of(json, "cores")),
                              static_cast<double>(count_of(json, "gpus"))});
        if (starts.empty()) continue;
        Start& start = starts.back();
        start.last_ms = std::max(start.last_ms, time);
        if (type == "ended") start.used_seconds += static_cast<double>(count_of(json, "held_ms")) / 1000;
    }
    return starts;
}

void add(double seconds, double devices, double used, HeldTime& time) {
    time.held += seconds * devices;
    time.used += std::min(used, seconds * devices);
}

std::string describe(const HeldTime& time, const char* unit, const std::optional<results_db::Price>& price) {
    const double hours = time.held / 3600;
    std::string text =
        fmt::format("{} {}-hours", hours < 100 ? fmt::format("{:.3g}", hours) : fmt::format("{:.0f}", hours), unit);
    if (time.idle_share() >= 0.005) text += fmt::format(", {} idle", reporting::percent(time.idle_share()));
    if (price) text += fmt::format(" ({})", reporting::dollars(hours * price->usd_per_hour));
    return text;
}

}  // namespace

void note_job_begin(const fs::path& job_folder, const BatchJob& job) {
    int cores = job.share.cores * job.at_once, gpus = job.share.gpus * job.at_once;
    if (const std::optional<SlurmAllocation> given = slurm_allocation()) {
        cores = std::accumulate(given->node_cores.begin(), given->node_cores.end(), 0);
        gpus = std::max(gpus, given->node_gpus * static_cast<int>(given->node_cores.size()));
    }
    append_job_line(job_folder, {{"type", "began"},
                                 {"time_ms", now_ms()},
                                 {"host", host_name()},
                                 {"nodes", job.nodes},
                                 {"cores", cores},
                                 {"gpus", gpus}});
}

void note_job_end(const fs::path& job_folder) {
    append_job_line(job_folder, {{"type", "finished"}, {"time_ms", now_ms()}});
}

void add_job(const fs::path& job_folder, JobAccount& account) {
    const std::vector<Start> starts = starts_of(job_folder);
    if (starts.empty()) return;
    const JobShare share = read_batch_job(job_folder).share;
    ++account.jobs;
    for (const Start& start : starts) {
        if (start.cards > 0)
            add(start.seconds(), start.cards, start.used_seconds * share.gpus, account.cards);
        else
            add(start.seconds(), start.cores, start.used_seconds * share.cores, account.cores);
    }
}

JobAccount account_of_jobs(const fs::path& root, const std::set<std::string>& runs) {
    std::set<fs::path> folders;
    for (const auto& [run, folder] : jobs_by_run(root))
        if (runs.contains(run)) folders.insert(folder);
    JobAccount account;
    for (const fs::path& folder : folders) add_job(folder, account);
    return account;
}

std::string describe(const JobAccount& account, const std::optional<results_db::Price>& price) {
    if (account.jobs == 0) return "";
    std::string text;
    for (const auto& [time, unit] : {std::pair{account.cores, "core"}, {account.cards, "card"}})
        if (time.held > 0) text += (text.empty() ? "" : " and ") + describe(time, unit, price);
    return text.empty() ? "" : fmt::format("held {} in {}", text, counted(account.jobs, "job"));
}

}  // namespace deft::sweeps
