#include "sweeps/driver/plan_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include "base/json.h"
#include "reporting/text.h"
#include "sweeps/driver/root.h"
#include "sweeps/driver/slurm_commands.h"
#include "sweeps/driver/slurm_job.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

constexpr double kMarginOfTime = 1.5;
constexpr double kPatience = 5;  // for scontrol

LaunchRequest request_of(const Trial& trial, const JobsPlanRequest& request, double seconds) {
    const fs::path run = fs::absolute(request.root) / "runs" / (folder_name_of(trial.config_hash, 12) + ".1");
    LaunchRequest made;
    made.folder = run;
    made.argv = {"/proc/self/exe", "trial", run.string()};
    made.cores = request.cores;
    made.gpus = request.gpus;
    made.nodes = request.nodes;
    made.ranks = request.ranks;
    made.grace_seconds = trial.config.checkpoint.grace_seconds;
    made.projected_seconds = seconds;
    return made;
}

std::optional<double> seconds_of(const PlanRow& row, double flops_per_second) {
    if (row.hours) return *row.hours * 3600;
    if (flops_per_second > 0) return row.trial.projection.flops / flops_per_second;
    return std::nullopt;
}

// "PartitionName=gpu ... MaxTime=1-00:00:00 ... State=UP"
std::map<std::string, std::string> values_of(const std::string& line) {
    std::map<std::string, std::string> values;
    std::istringstream words(line);
    for (std::string word; words >> word;)
        if (const std::size_t equals = word.find('='); equals != std::string::npos)
            values.emplace(word.substr(0, equals), word.substr(equals + 1));
    return values;
}

std::set<std::string> names_in(std::string_view list) {
    std::set<std::string> names;
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        if (comma > 0) names.emplace(list.substr(0, comma));
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return names;
}

}  // namespace

std::string projected_limit(double seconds, double grace_seconds) {
    const double most = std::max(kMarginOfTime * seconds, static_cast<double>(least_job_seconds(grace_seconds)));
    const auto minutes = static_cast<std::int64_t>(std::ceil(most / 60));
    const std::int64_t days = minutes / 1440, hours = minutes / 60 % 24;
    const std::string of_day = fmt::format("{:02}:{:02}:00", hours, minutes % 60);
    return days > 0 ? fmt::format("{}-{}", days, of_day) : of_day;
}

std::vector<std::string> partition_notes(const SlurmReply& reply, const std::string& partitions, std::int64_t limit) {
    if (!reply.is_whole)
        return {fmt::format("The partition is not checked: {}.",
                            reply.complaint.empty() ? "scontrol failed" : reporting::visible(reply.complaint))};
    std::vector<std::string> notes;
    std::set<std::string> wanted = names_in(partitions);
    bool has_default = false;
    for (const std::string& line : reply.lines) {
        const std::map<std::string, std::string> values = values_of(line);
        const auto value = [&](const char* key) {
            const auto found = values.find(key);
            return found == values.end() ? std::string() : found->second;
        };
        const std::string name = value("PartitionName");
        if (partitions.empty() ? value("Default") != "YES" : wanted.erase(name) == 0) continue;
        has_default = true;
        const std::string shown = reporting::visible(name);
        if (const std::string state = value("State"); state != "UP")
            notes.push_back(fmt::format("Partition {} is {}: its jobs wait.", shown, reporting::visible(state)));
        const std::optional<std::int64_t> most = slurm_seconds(value("MaxTime"));
        if (most && limit > *most)
            notes.push_back(
                fmt::format("Partition {} ends jobs after {}, and one is projected to need more. Its trial resumes in "
                            "the next job; ask for time={}.",
                            shown, value("MaxTime"), value("MaxTime")));
    }
    for (const std::string& name : wanted)
        notes.push_back(fmt::format("Slurm has no partition '{}'; `sinfo` lists them.", reporting::visible(name)));
    if (partitions.empty() && !has_default)
        notes.emplace_back("Slurm has no default partition: give one, as in --slurm partition=NAME.");
    return notes;
}

JobsPlan plan_jobs(const Plan& plan, const JobsPlanRequest& request) {
    JobsPlan jobs;
    std::int64_t longest = 0;
    bool is_unknown = false;
    for (const PlanRow& planned : plan.rows) {
        if (planned.trained == 0 || experiments::is_imported(planned.trial.config)) continue;
        JobsRow row;
        const std::string name = planned.trial.name();
        row.row = name.substr(0, name.rfind('/'));
        row.trainings = planned.trained;
        row.seconds = seconds_of(planned, request.flops_per_second);
        is_unknown |= !row.seconds;
        const LaunchRequest one = request_of(planned.trial, request, row.seconds.value_or(0));
        const auto packs = packed(std::vector<LaunchRequest>(row.trainings, one), request.settings);
        row.jobs = packs.size();
        row.limit = request.settings.time;
        const JobShape shape = shape_of_job(one, request.settings, packs.front().size());
        if (row.limit.empty() && row.seconds) {
            const std::size_t in_turn = (packs.front().size() - 1) / static_cast<std::size_t>(shape.at_once) + 1;
            row.limit = projected_limit(*row.seconds * static_cast<double>(in_turn), one.grace_seconds);
        }
        longest = std::max(longest, slurm_seconds(row.limit).value_or(0));
        if (jobs.command.empty()) {
            SlurmSettings settings = request.settings;
            settings.time = row.limit;
            jobs.command = submit_argv(job_folder_of(one.folder), one, shape, settings);
        }
        jobs.rows.push_back(std::move(row));
    }
    if (is_unknown)
        jobs.notes.emplace_back(
            "Times are unknown: name a device in [resources], or train a trial first. Jobs then have the partition's "
            "limit.");
    else if (request.settings.time.empty() && !jobs.rows.empty())
        jobs.notes.emplace_back(
            "Limits are 1.5 times the projected time. `deft run` asks for the one given by --slurm time=LIMIT.");
    jobs.notes.emplace_back("The evaluation of a trial is a further job.");
    for (std::string& note : partition_notes(call_slurm({"scontrol", "show", "partition", "--oneliner"}, kPatience),
                                             request.settings.partition, longest))
        jobs.notes.push_back(std::move(note));
    return jobs;
}

Json to_json(const JobsPlan& jobs) {
    Json rows = Json::array();
    for (const JobsRow& row : jobs.rows)
        rows.push_back({{"row", row.row},
                        {"trainings", row.trainings},
                        {"jobs", row.jobs},
                        {"seconds", row.seconds ? Json(*row.seconds) : Json()},
                        {"limit", row.limit.empty() ? Json() : Json(row.limit)}});
    return {{"rows", rows}, {"command", jobs.command}, {"notes", jobs.notes}};
}

}  // namespace deft::sweeps
