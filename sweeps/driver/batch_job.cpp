#include "sweeps/driver/batch_job.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "base/enum_names.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/stopwatch.h"
#include "base/this_machine.h"
#include "sweeps/driver/claim.h"
#include "sweeps/driver/foreign_json.h"
#include "sweeps/driver/local_launcher.h"
#include "sweeps/driver/slurm_allocation.h"
#include "sweeps/driver/step_launcher.h"
#include "sweeps/driver/stop_file.h"
#include "sweeps/driver/trial_process.h"

namespace deft {

template <>
struct EnumNames<sweeps::RunEndCause> {
    static constexpr EnumName<sweeps::RunEndCause> all[] = {
        {sweeps::RunEndCause::none, "none"},
        {sweeps::RunEndCause::not_begun, "not_begun"},
        {sweeps::RunEndCause::out_of_memory, "out_of_memory"},
        {sweeps::RunEndCause::signal, "signal"},
        {sweeps::RunEndCause::overdue, "overdue"},
        {sweeps::RunEndCause::kill_file, "kill_file"},
    };
};

}  // namespace deft

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSchema = "deft-job/1";
constexpr const char *kKillFile = "kill", *kArrayFile = "array.json";
constexpr int kLookMs = 200;

void note_end(const fs::path& folder, const fs::path& run, const RunEnd& end) {
    const Json line = {{"type", "ended"},
                       {"run", run.filename().string()},
                       {"wait_status", end.wait_status},
                       {"cause", name_of(end.cause)},
                       {"host", host_name()},
                       {"time_ms", now_ms()}};
    std::ofstream out(folder / "job.jsonl", std::ios::app);
    out << json_text(line) + "\n" << std::flush;
    if (!out)
        fmt::print(stderr, "cannot write {}: the driver reads the journal in its place\n",
                   (folder / "job.jsonl").string());
}

bool has_kill_file(const fs::path& run) {
    std::error_code ignored;
    return fs::exists(run / kKillFile, ignored);
}

RunEnd run_one(Launcher& launcher, const BatchJob& job, const fs::path& run, const SignalWatch& signals) {
    if (signals.terminated() || has_stop_file(run)) return {0, RunEndCause::not_begun};
    const long kills = memory_kills();
    const JobShare& share = job.share;
    const RunId id = launcher.start({run,
                                     {job.program, "trial", run.string()},
                                     job.environment,
                                     share.cores,
                                     share.gpus,
                                     job.grace_seconds,
                                     share.nodes,
                                     share.ranks});
    RunEnd end;
    std::optional<Clock::time_point> asked;
    while (true) {
        for (const auto& [seen, status] : launcher.look()) {
            if (seen != id || status.phase != RunPhase::ended) continue;
            end.wait_status = status.wait_status;
            const bool is_killed = WIFSIGNALED(status.wait_status) && WTERMSIG(status.wait_status) == SIGKILL;
            if (is_killed && end.cause != RunEndCause::kill_file && memory_kills() > kills)
                end.cause = RunEndCause::out_of_memory;
            return end;
        }
        if (signals.terminated() && !asked) {
            launcher.ask_to_end(id);
            asked = Clock::now();
            end.cause = RunEndCause::signal;
        }
        const bool is_overdue = asked && seconds_since(*asked) > job.grace_seconds;
        if (is_overdue) end.cause = RunEndCause::overdue;
        if (has_kill_file(run)) end.cause = RunEndCause::kill_file;
        if (is_overdue || end.cause == RunEndCause::kill_file) launcher.end(id);
        signals.sleep_ms(kLookMs);
    }
}

// On this machine, or with its ranks on all nodes of the job.
std::unique_ptr<Launcher> launcher_of(const BatchJob& job) {
    if (job.share.nodes == 1) return make_local_launcher();
    const std::optional<SlurmAllocation> allocation = slurm_allocation();
    if (!allocation)
        throw Error(ErrorKind::config, "Slurm's variables do not state the nodes of this job",
                    "leave Slurm's variables to the processes of the job");
    return make_step_launcher(*allocation);
}

}  // namespace

void write_batch_job(const fs::path& folder, const BatchJob& job) {
    Json runs = Json::array();
    for (const fs::path& run : job.runs) runs.push_back(run.string());
    const Json text = {{"schema", kSchema},
                       {"program", job.program},
                       {"runs", runs},
                       {"environment", job.environment},
                       {"grace_seconds", job.grace_seconds},
                       {"nodes", job.share.nodes},
                       {"ranks", job.share.ranks},
                       {"cores", job.share.cores},
                       {"gpus", job.share.gpus},
                       {"submit", job.submit},
                       {"name", job.name},
                       {"task", job.task}};
    write_file_atomically(folder / "job.json", json_text(text, 2) + "\n");
}

BatchJob read_batch_job(const fs::path& folder) {
    const fs::path file = folder / "job.json";
    try {
        const Json json = parse_json(read_file(file));
        if (json.at("schema").get<std::string>() != kSchema)
            throw Error(ErrorKind::config, fmt::format("{} is not a job of this version", file.string()),
                        "run the sweep again with this version of the program");
        BatchJob job;
        job.program = json.at("program").get<std::string>();
        for (const Json& run : json.at("runs")) job.runs.emplace_back(run.get<std::string>());
        job.environment = json.at("environment").get<std::vector<std::string>>();
        job.grace_seconds = json.at("grace_seconds").get<double>();
        job.share = {json.at("nodes").get<int>(), json.at("ranks").get<int>(), json.at("cores").get<int>(),
                     json.at("gpus").get<int>()};
        job.submit = json.at("submit").get<std::vector<std::string>>();
        job.name = json.at("name").get<std::string>();
        job.task = json.at("task").get<int>();
        return job;
    } catch (const Json::exception& error) {
        throw Error(ErrorKind::config, fmt::format("{} is not a job: {}", file.string(), error.what()));
    }
}

void write_job_array(const fs::path& folder, const std::vector<fs::path>& jobs) {
    Json folders = Json::array();
    for (const fs::path& job : jobs) folders.push_back(job.string());
    write_file_atomically(folder / kArrayFile, json_text(folders, 2) + "\n");
}

fs::path job_of_task(const fs::path& folder, const slurm::Variables& variables) {
    if (!fs::exists(folder / kArrayFile)) return folder;
    const char* const task = variables("SLURM_ARRAY_TASK_ID");
    const auto jobs = try_parse_json(read_file(folder / kArrayFile));
    const std::size_t number = task == nullptr ? jobs.size() : std::strtoul(task, nullptr, 10);
    if (!jobs.is_array() || number >= jobs.size() || !jobs[number].is_string())
        throw Error(ErrorKind::config,
                    fmt::format("{} has no job for task {}", folder.string(), task ? task : "(none)"),
                    "run the sweep again; Slurm starts this command by itself");
    return jobs[number].get<std::string>();
}

void run_batch_job(const fs::path& folder, const SignalWatch& signals) {
    const BatchJob job = read_batch_job(folder);
    const std::unique_ptr<Launcher> launcher = launcher_of(job);
    for (const fs::path& run : job.runs)
        if (!read_claim(run))  // by an earlier start of this job
            note_end(folder, run, run_one(*launcher, job, run, signals));
}

void write_kill_file(const fs::path& run_folder) {
    const std::ofstream file(run_folder / kKillFile);
}

std::map<std::string, RunEnd> read_run_ends(const fs::path& job_folder) {
    std::map<std::string, RunEnd> ends;
    std::ifstream in(job_folder / "job.jsonl");
    for (std::string line; std::getline(in, line);) {
        const Json json = try_parse_json(line);
        if (!json.is_object() || text_of(json, "type") != "ended" || in.eof()) continue;
        const std::optional<RunEndCause> cause = value_named<RunEndCause>(text_of(json, "cause"));
        if (!cause) continue;
        // A job that Slurm starts twice finds its attempt claimed: the first end counts.
        ends.emplace(text_of(json, "run"), RunEnd{static_cast<int>(count_of(json, "wait_status", 0)), *cause});
    }
    return ends;
}

}  // namespace deft::sweeps
