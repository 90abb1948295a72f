#include "sweeps/driver/batch_job.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/stopwatch.h"
#include "base/this_machine.h"
#include "sweeps/driver/claim.h"
#include "sweeps/driver/foreign_json.h"
#include "sweeps/driver/local_launcher.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSchema = "deft-job/1";
constexpr int kLookMs = 200;
constexpr int kNotBegun = -1;

void note_end(const fs::path& folder, const fs::path& run, int wait_status) {
    const Json line = {{"type", "ended"},
                       {"run", run.filename().string()},
                       {"wait_status", wait_status},
                       {"host", host_name()},
                       {"time_ms", now_ms()}};
    std::ofstream out(folder / "job.jsonl", std::ios::app);
    out << json_text(line) + "\n" << std::flush;
    if (!out)
        fmt::print(stderr, "cannot write {}: the driver reads the journal in its place\n",
                   (folder / "job.jsonl").string());
}

// The attempt's wait status.
int run_one(Launcher& launcher, const BatchJob& job, const fs::path& run, const SignalWatch& signals) {
    const RunId id = launcher.start({run, {job.program, "trial", run.string()}, job.environment});
    std::optional<Clock::time_point> asked;
    while (true) {
        for (const auto& [seen, status] : launcher.look())
            if (seen == id && status.phase == RunPhase::ended) return status.wait_status;
        if (signals.terminated() && !asked) {
            launcher.ask_to_end(id);
            asked = Clock::now();
        }
        if (asked && seconds_since(*asked) > job.grace_seconds) launcher.end(id);
        signals.sleep_ms(kLookMs);
    }
}

}  // namespace

void write_batch_job(const fs::path& folder, const BatchJob& job) {
    Json runs = Json::array();
    for (const fs::path& run : job.runs) runs.push_back(run.string());
    const Json text = {{"schema", kSchema},
                       {"program", job.program},
                       {"runs", runs},
                       {"environment", job.environment},
                       {"grace_seconds", job.grace_seconds}};
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
        return job;
    } catch (const Json::exception& error) {
        throw Error(ErrorKind::config, fmt::format("{} is not a job: {}", file.string(), error.what()));
    }
}

void run_batch_job(const fs::path& folder, const SignalWatch& signals) {
    const BatchJob job = read_batch_job(folder);
    const std::unique_ptr<Launcher> launcher = make_local_launcher();
    for (const fs::path& run : job.runs)
        if (!read_claim(run))  // by an earlier start of this job
            note_end(folder, run, signals.terminated() ? kNotBegun : run_one(*launcher, job, run, signals));
}

std::map<std::string, int> read_run_ends(const fs::path& job_folder) {
    std::map<std::string, int> ends;
    std::ifstream in(job_folder / "job.jsonl");
    for (std::string line; std::getline(in, line);) {
        const Json json = try_parse_json(line);
        if (!json.is_object() || text_of(json, "type") != "ended" || in.eof()) continue;
        // A job that Slurm starts twice finds its attempt claimed: the first end counts.
        ends.emplace(text_of(json, "run"), static_cast<int>(count_of(json, "wait_status", kNotBegun)));
    }
    return ends;
}

}  // namespace deft::sweeps
