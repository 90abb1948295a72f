#include "sweeps/driver/batch_job.h"

#include <fmt/format.h>

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
#include "sweeps/driver/foreign_json.h"

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

constexpr const char* kSchema = "deft-job/2";
constexpr const char *kKillFile = "kill", *kArrayFile = "array.json";

}  // namespace

void append_job_line(const fs::path& folder, const Json& line) {
    std::ofstream out(folder / kJobLines, std::ios::app);
    out << json_text(line) + "\n" << std::flush;
    if (!out)
        fmt::print(stderr, "cannot write {}: the driver reads the journal in its place\n",
                   (folder / kJobLines).string());
}

void note_run_end(const fs::path& folder, const fs::path& run, const RunEnd& end, double held_seconds) {
    append_job_line(folder, {{"type", "ended"},
                             {"run", run.filename().string()},
                             {"wait_status", end.wait_status},
                             {"cause", name_of(end.cause)},
                             {"held_ms", static_cast<std::int64_t>(held_seconds * 1000)},
                             {"host", host_name()},
                             {"time_ms", now_ms()}});
}

bool has_kill_file(const fs::path& run) {
    std::error_code ignored;
    return fs::exists(run / kKillFile, ignored);
}

void write_batch_job(const fs::path& folder, const BatchJob& job) {
    Json runs = Json::array();
    for (const fs::path& run : job.runs) runs.push_back(run.string());
    const Json text = {{"schema", kSchema},
                       {"program", job.program},
                       {"runs", runs},
                       {"environment", job.environment},
                       {"grace_seconds", job.grace_seconds},
                       {"nodes", job.nodes},
                       {"at_once", job.at_once},
                       {"nodes_of_run", job.share.nodes},
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
        job.nodes = json.at("nodes").get<int>();
        job.at_once = json.at("at_once").get<int>();
        job.share = {json.at("nodes_of_run").get<int>(), json.at("ranks").get<int>(), json.at("cores").get<int>(),
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

void write_kill_file(const fs::path& run_folder) {
    const std::ofstream file(run_folder / kKillFile);
}

std::map<std::string, RunEnd> read_run_ends(const fs::path& job_folder) {
    std::map<std::string, RunEnd> ends;
    std::ifstream in(job_folder / kJobLines);
    for (std::string line; std::getline(in, line);) {
        const Json json = try_parse_json(line);
        if (!json.is_object() || text_of(json, "type") != "ended" || in.eof()) continue;
        const std::optional<RunEndCause> cause = value_named<RunEndCause>(text_of(json, "cause"));
        if (!cause) continue;
        // A job that Slurm starts twice finds its attempt claimed: the first end counts.
        ends.emplace(text_of(json, "run"), RunEnd{static_cast<int>(count_of(json, "wait_status")), *cause});
    }
    return ends;
}

}  // namespace deft::sweeps
