#pragma once
// The Slurm jobs that a sweep would submit: their number, their time limits and the command of one.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "sweeps/driver/plan.h"
#include "sweeps/spec/slurm_settings.h"

namespace deft::sweeps {

struct SlurmReply;

struct JobsRow {
    std::string row;                // of the plan
    std::size_t trainings = 0;      // that it trains
    std::size_t jobs = 0;           // that run them
    std::optional<double> seconds;  // projected for a training; nothing: unknown
    std::string limit;              // of a job, as sbatch takes it; empty: the partition's
};

struct JobsPlan {
    std::vector<JobsRow> rows;
    std::vector<std::string> command;  // that submits the first job; empty: nothing is trained
    std::vector<std::string> notes;    // what the partition refuses, and what the figures rest on
};

struct JobsPlanRequest {
    SlurmSettings settings;
    std::filesystem::path root;
    int cores = 1, gpus = 0;      // of a trial
    int nodes = 1, ranks = 1;     // of a trial; one rank where it has one node
    double flops_per_second = 0;  // of a trial, as measured; 0: unknown
};

// Projected times are the plan's hours, or else those at the measured speed. A limit is the setting, or else 1.5 times
// the projected time of a job's attempts, in full minutes. Slurm is asked about the partition.
JobsPlan plan_jobs(const Plan& plan, const JobsPlanRequest& request);

// 1.5 times these seconds, and at least what require_time() asks for, in full minutes: "01:30:00", "2-00:00:00".
std::string projected_limit(double seconds, double grace_seconds);

// Objections of `scontrol show partition` to jobs of that limit (seconds; 0: the partition's own), a sentence each.
std::vector<std::string> partition_notes(const SlurmReply& reply, const std::string& partitions, std::int64_t limit);

// {"rows": [{"row", "trainings", "jobs", "seconds", "limit"}], "command", "notes"}
Json to_json(const JobsPlan& jobs);

}  // namespace deft::sweeps
