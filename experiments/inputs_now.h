#pragma once
// Current inputs of a stored trial: the hashes of its data, of its columns of difficulties, of the model that
// it starts from, and of the tasks that it was scored by.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "base/json_fwd.h"
#include "experiments/datasets/seen_files.h"

namespace deft::experiments {

struct InputNow {
    std::string sha256;   // as to_json() has it in the configuration
    std::string unknown;  // why the hash is unknown; empty: it is known
};

// For a configuration as to_json() gave it, "eval" aside, by the keys that lead to the hash in it: "data.sha256",
// "start.sha256", "curriculum.voc.column_sha256". Those of [start] and of columns only where it has any.
std::map<std::string, InputNow> inputs_now(const Json& config, SeenFiles& seen);

struct TaskNow {
    std::string definition_sha256, task_sha256;  // as experiments/evaluation/task.h has them
    std::string unknown;
    std::string name = {};  // that results call it by
};

// A task by the name that [eval] gives it, beside the sweep file or one of the project's.
TaskNow task_now(const std::string& name, std::int64_t shots, const std::filesystem::path& base_folder);

}  // namespace deft::experiments
