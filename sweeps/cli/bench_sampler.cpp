// deft bench sampler: how fast the samples of a step are drawn under a curriculum.

#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "engine/bench/sampler.h"
#include "reporting/numbers.h"
#include "reporting/table.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/output.h"

namespace deft::cli {

namespace {

struct Arguments {
    std::int64_t samples = 100'000'000;
    std::int64_t steps = 100'000;
    std::int64_t batch = 512;
    std::int64_t draws = 2'000'000;
};

int run(const Arguments& arguments) {
    using reporting::si;
    reporting::Table table;
    table.caption = fmt::format("Drawing samples on one thread from an invented index of {}, {} draws",
                                si(static_cast<double>(arguments.samples)), si(static_cast<double>(arguments.draws)));
    table.columns = {{"metrics"}, {"draws/s"}, {"scattered draws/s"}, {"start"}, {"memory"}, {"bytes a sample"}};
    for (const std::int64_t metrics : {1, 2}) {
        const engine::SamplerRates rates =
            engine::sampler_rates(arguments.samples, metrics, arguments.steps, arguments.batch, arguments.draws);
        const auto bytes = static_cast<double>(rates.start_bytes);
        table.rows.push_back({std::to_string(metrics), si(rates.draws_per_second), si(rates.scattered_per_second),
                              reporting::seconds(rates.start_seconds), si(bytes, "B"),
                              fmt::format("{:.1f}", bytes / static_cast<double>(arguments.samples))});
    }
    table.notes.push_back(fmt::format("Percentile, 1 to 100, square root over half of {} steps of {} samples. scattered: "
                                      "steps in random order. start: from the index to the first draw. memory: the "
                                      "peak that this took beside the index.",
                                      arguments.steps, arguments.batch));
    print(table);
    return kExitOk;
}

}  // namespace

void add_bench_sampler(CLI::App& bench, Context& context) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* sampler = bench.add_subcommand("sampler", "Drawing samples under a curriculum, one thread");
    const auto positive = CLI::Range(std::int64_t{1}, std::int64_t{1} << 32);
    sampler->add_option("--samples", arguments->samples, "Samples of the index")->capture_default_str()->check(positive);
    sampler->add_option("--steps", arguments->steps, "Steps of the run")->capture_default_str()->check(positive);
    sampler->add_option("--batch", arguments->batch, "Samples of a step")->capture_default_str()->check(positive);
    sampler->add_option("--draws", arguments->draws, "Draws to time")->capture_default_str()->check(positive);
    sampler->callback([arguments, &context] { context.exit_code = run(*arguments); });
}

}  // namespace deft::cli
