#pragma once
// [resources.slurm] and --slurm: how Slurm is asked for the jobs of a sweep. None of it affects results or enters a
// hash.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "sweeps/spec/slot_request.h"

namespace deft::sweeps {

struct SlurmSettings {
    std::string partition = {}, account = {}, qos = {}, constraint = {};
    std::string time = {};                // limit of a job, as sbatch takes it; empty: the partition's
    std::string mem = {};                 // of a job's node, as sbatch takes it; empty: the partition's
    std::string gpus = {};                // type of a job's cards; empty: any
    std::int64_t pack = 0;                // most attempts of a job; 0: as their projected times say
    std::int64_t at_once = 1;             // attempts of a job that run side by side
    std::int64_t nodes = 1;               // of a job, with as many of them on each
    std::string setup = {};               // a file that the job's shell reads first; may be empty
    std::vector<std::string> extra = {};  // further options of sbatch
};
const Fields& fields_of(const SlurmSettings& settings);

// The options of sbatch with the values of those settings that are given: {"partition", "gpu"}.
std::vector<std::pair<std::string, std::string>> sbatch_options(const SlurmSettings& settings);

// Errors: config, or usage without a place, for a value that sbatch would not take.
void require_valid(const SlurmSettings& settings, const Place& place = {});

// Errors: usage, for ranks on several nodes beside other attempts, and for a type of cards where trials run on the CPU.
void require_shape(const SlurmSettings& settings, const SlotRequest& request);

// Lays "partition=gpu,time=04:00:00" over the settings. Errors: usage.
void apply_slurm_option(const std::string& text, SlurmSettings& settings);

// Seconds of "90", "90:00", "1:30:00", "1-6", "1-6:30" or "1-6:30:00". Nothing where it is anything else.
std::optional<std::int64_t> slurm_seconds(std::string_view text);

// The least time limit of a job, in seconds: a start, the signal before the end and the grace for a checkpoint.
std::int64_t least_job_seconds(double grace_seconds);

// Errors: usage, where the time does not hold a start, the signal before the end and the grace for a checkpoint.
void require_time(const SlurmSettings& settings, double grace_seconds);

// The seconds before a job's end at which its trials are asked to stop.
std::int64_t signal_seconds(double grace_seconds);

}  // namespace deft::sweeps
