#include "experiments/inputs_now.h"

#include <exception>
#include <functional>

#include "base/error.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "engine/train/foreign_weights.h"
#include "experiments/config.h"
#include "experiments/datasets/dataset.h"
#include "experiments/datasets/find_file.h"
#include "experiments/evaluation/task.h"
#include "experiments/result_epoch.h"

namespace deft::experiments {

namespace {

InputNow found_or_unknown(const std::function<std::string()>& find) {
    try {
        return {find(), {}};
    } catch (const std::exception& error) {
        return {{}, first_line(error.what())};
    }
}

// Where its data is follows from an older epoch's configuration as from one of today.
TrialConfig stored_config(Json config) {
    config["result_epoch"] = kResultEpoch;
    config["eval"] = to_json(TrialConfig{}).at("eval");
    return from_json(config);
}

}  // namespace

std::map<std::string, InputNow> inputs_now(const Json& stored, SeenFiles& seen) {
    std::map<std::string, InputNow> inputs;
    TrialConfig config;
    try {
        config = stored_config(stored);
    } catch (const std::exception&) {
        inputs["data.sha256"].unknown = "this program cannot read the configuration that was stored with it";
        return inputs;
    }
    inputs["data.sha256"] =
        found_or_unknown([&] { return dataset_identity(config.data, config.base_folder, &seen).sha256; });
    if (config.start && !config.start->from.empty())
        inputs["start.sha256"] = found_or_unknown([&] { return engine::open_model(start_path(config)).sha256; });
    if (!config.curriculum) return inputs;
    for (const CurriculumMetric& metric : config.curriculum->metrics)
        if (!metric.column.empty())
            inputs["curriculum." + metric.metric + ".column_sha256"] = found_or_unknown([&] {
                const std::filesystem::path file = find_data_file(metric.column, config.base_folder);
                return seen.sha256("bytes", file, [&] { return sha256_file(file); });
            });
    return inputs;
}

TaskNow task_now(const std::string& name, std::int64_t shots, const std::filesystem::path& base_folder) {
    try {
        const Task task = with_shots(load_task(name, base_folder), shots);
        return {definition_sha256(task), task_sha256(task), {}, task.name};
    } catch (const std::exception& error) {
        return {{}, {}, first_line(error.what()), {}};
    }
}

}  // namespace deft::experiments
