#include "sweeps/driver/claim.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/stopwatch.h"
#include "base/this_machine.h"
#include "reporting/text.h"
#include "results_db/open.h"
#include "sweeps/driver/foreign_json.h"
#include "sweeps/driver/provenance.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

// Empty where it cannot be read, as for a moment on a network file system.
std::string text_in(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string slurm_job() {
    const char *job = std::getenv("SLURM_JOB_ID"), *step = std::getenv("SLURM_STEP_ID");
    if (job == nullptr) return {};
    return step == nullptr ? job : fmt::format("{}.{}", job, step);
}

std::string slurm_nodes() {
    const char *of_job = std::getenv("SLURM_JOB_NODELIST"), *of_step = std::getenv("SLURM_STEP_NODELIST");
    return of_step != nullptr ? of_step : of_job != nullptr ? of_job : "";
}

}  // namespace

fs::path claim_folder(const fs::path& run_folder) {
    return run_folder / "claim";
}

void claim_run_folder(const fs::path& run_folder, bool is_placed, const std::string& nodes) {
    const fs::path folder = claim_folder(run_folder);
    if (::mkdir(folder.c_str(), 0777) != 0) {
        if (errno != EEXIST)
            throw Error(ErrorKind::io, fmt::format("cannot make {}: {}", folder.string(), error_text(errno)),
                        fix_for_write(errno), "the run folder");
        const Claim claim = read_claim(run_folder).value_or(Claim{});
        throw Error(ErrorKind::usage,
                    claim.host.empty() ? "another process has begun this attempt"
                                       : fmt::format("process {} on {} has begun this attempt", claim.pid,
                                                     reporting::visible(claim.host)),
                    "start the sweep again, which begins attempts in folders of their own", run_folder.string());
    }
    Json text = {{"schema", "deft-claim/1"},
                 {"host", host_name()},
                 {"pid", ::getpid()},
                 {"job", slurm_job()},
                 {"nodes", nodes.empty() ? slurm_nodes() : nodes},
                 {"nonce", results_db::random_uid()},
                 {"time_ms", now_ms()}};
    if (is_placed) text["machine"] = host_json(describe_host());
    write_file_atomically(folder / "holder.json", json_text(text));
}

std::optional<Claim> read_claim(const fs::path& run_folder) {
    const fs::path folder = claim_folder(run_folder);
    std::error_code error;
    if (!fs::exists(folder, error)) return std::nullopt;
    Claim claim;
    const fs::path holder = folder / "holder.json";
    if (!fs::exists(holder, error)) return claim;
    const Json json = try_parse_json(text_in(holder));
    if (!json.is_object()) return claim;
    claim.host = text_of(json, "host");
    claim.pid = count_of(json, "pid");
    claim.job = text_of(json, "job");
    claim.nodes = text_of(json, "nodes");
    claim.nonce = text_of(json, "nonce");
    claim.time_ms = count_of(json, "time_ms");
    if (json.contains("machine")) claim.machine = host_of(json["machine"]);
    return claim;
}

}  // namespace deft::sweeps
