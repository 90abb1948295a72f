#include "experiments/evaluation/task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/files.h"
#include "base/installed_files.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/suggestion.h"

namespace deft::experiments {

namespace {

namespace fs = std::filesystem;

std::string records_sha256(const RecordSource& source, const Task& task) {
    return sha256(read_text_file(find_records_file(source, task.file.parent_path(), task.base_folder)));
}

fs::path find_task_file(const std::string& name, const fs::path& base_folder) {
    for (const fs::path& path : {base_folder / name, base_folder / (name + ".toml")})
        if (!name.empty() && fs::is_regular_file(path)) return path;
    const std::vector<std::string> known = project_tasks();
    if (std::find(known.begin(), known.end(), name) != known.end())
        return installed_file("experiments/tasks") / (name + ".toml");
    throw Error(
        ErrorKind::config,
        fmt::format("unknown task '{}': neither a file in {} nor one of the project's", name, base_folder.string()),
        suggestion(name, known, fmt::format("known tasks: {}", fmt::join(known, ", "))));
}

}  // namespace

Task load_task(const std::string& name_or_file, const fs::path& base_folder) {
    const fs::path file = find_task_file(name_or_file, base_folder);
    return parse_task(read_file(file), file, base_folder);
}

std::vector<std::string> project_tasks() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(installed_file("experiments/tasks")))
        if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

Task with_shots(Task task, std::optional<std::int64_t> shots) {
    if (!shots || !takes_shots(task.kind)) return task;
    if (*shots < 0)
        throw Error(ErrorKind::config, fmt::format("{} shots are asked of task {}", *shots, task.name),
                    "ask for 0 or more");
    task.shots = *shots;
    return task;
}

void require_prompts(const Task& task) {
    if (is_labelled(task.kind))
        throw Error(
            ErrorKind::config,
            fmt::format("task {} has labels and no prompts: it scores a model that was trained on it", task.name),
            fmt::format("train on it: data.samples = \"labelled\", data.corpus = \"{}\"", task.name));
}

std::string scored_version(const Task& task) {
    return task.version + (task.shots > 0 && !task.few_shot_version.empty() ? ", " + task.few_shot_version : "");
}

RecordContext context_of(const Task& task) {
    return {task.file.parent_path(), task.base_folder};
}

std::string definition_sha256(const Task& task) {
    return sha256(canonical_json(task.definition));
}

std::string task_sha256(const Task& task) {
    Json content{{"definition", task.definition}};
    if (!task.records.file.empty()) content["records"] = records_sha256(task.records, task);
    if (task.shots > 0 && task.shot_pool && task.shot_pool->generator == RecordGenerator::none)
        content["shot_pool"] = records_sha256(*task.shot_pool, task);
    if (is_labelled(task.kind)) content["train"] = records_sha256(task.train, task);
    for (const FurtherSplit& further : task.further_splits)
        content["further"][further.name] =
            records_are_here(further.records, context_of(task)) ? records_sha256(further.records, task) : "missing";
    return sha256(canonical_json(content));
}

}  // namespace deft::experiments
