#include "experiments/evaluation/generation_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>

#include "base/error.h"
#include "base/median.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "engine/generation/generator.h"

namespace deft::experiments {

namespace {

constexpr std::uint64_t kDrawSeed = 1;

}  // namespace

std::int64_t tokens_drawn(const Task& task, const engine::TransformerConfig& model) {
    return std::min(task.generation.tokens, model.max_seqlen - 1);
}

std::vector<double> time_generation(const Task& task, engine::Transformer& model, engine::Exec& exec,
                                    const engine::Backend& backend, std::int64_t planned_batch, std::int32_t first,
                                    const BatchLoop& loop) {
    const std::int64_t tokens = tokens_drawn(task, model.config()), texts = task.generation.texts;
    if (tokens < 2)
        throw Error(ErrorKind::config,
                    fmt::format("task {} times tokens after a text's first one, and the model has {}", task.name,
                                counted(model.config().max_seqlen, "position")),
                    "score a model of 3 positions or more");
    if (engine::planned_batch(model.config(), texts) > planned_batch)
        throw Error(ErrorKind::config,
                    fmt::format("task {} continues {} at once, and the model is planned for {}", task.name,
                                counted(texts, "text"), planned_batch * model.config().max_seqlen),
                    "lower generation.texts, or raise train.micro_batch_size");
    engine::Generator generator(
        model, exec, backend,
        {.samples = texts, .length = 1 + tokens, .sampling = {.temperature = 1, .seed = kDrawSeed}});
    std::vector<double> seconds;
    for (std::int64_t round = 0; round <= task.generation.rounds; ++round) {
        generator.begin(std::span(&first, 1));
        generator.step();
        const Clock::time_point start = Clock::now();
        std::int64_t passes = 0;
        for (; !generator.is_done(); ++passes) generator.step();
        if (round > 0) seconds.push_back(seconds_since(start) / static_cast<double>(passes));
        if (loop.between_batches) loop.between_batches();
    }
    return seconds;
}

std::vector<std::string> generation_metric_names() {
    return {"ms_per_token", "tokens_per_second"};
}

std::vector<MetricValue> generation_metrics(const Task& task, const std::vector<double>& seconds) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    const double pass = median(seconds);
    const auto rounds = static_cast<std::int64_t>(seconds.size());
    std::vector<MetricValue> values;
    for (const std::string& name : task.metrics) {
        const double value = name == "ms_per_token" ? 1e3 * pass : static_cast<double>(task.generation.texts) / pass;
        values.push_back({name, value, rounds, kNone, kNone});
    }
    return values;
}

}  // namespace deft::experiments
