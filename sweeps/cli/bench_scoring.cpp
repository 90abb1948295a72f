// deft bench scoring: how much of an evaluation is the model's forward pass.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "base/error.h"
#include "experiments/bench/scoring.h"
#include "reporting/numbers.h"
#include "reporting/table.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"

namespace deft::cli {

namespace {

struct Arguments {
    int threads = 2;
    int rounds = 5;
    std::int64_t batches = 8;
};

int run(const Arguments& arguments) {
    using reporting::si;
    reporting::Table table;
    table.caption =
        fmt::format("Scoring as many requests as {} batches hold, {} thread(s), median of {} alternating rounds",
                    arguments.batches, arguments.threads, arguments.rounds);
    table.columns = {{"layers, width, heads, vocab, length, batch", reporting::Align::left},
                     {"choices"},
                     {"tokens"},
                     {"computed"},
                     {"scoring"},
                     {"forward alone"},
                     {"ratio"}};
    for (const engine::StepBench& bench : engine::standard_step_benches())
        for (const std::int64_t choices : {1, 4}) {
            const experiments::ScoringTimes times = experiments::time_scoring(
                bench, {engine::Device::cpu, engine::DType::f32, arguments.threads},
                std::max<std::int64_t>(1, arguments.batches * bench.batch_size / choices), choices, arguments.rounds);
            const auto& m = bench.model;
            const auto tokens = static_cast<double>(times.tokens);
            table.rows.push_back({fmt::format("{}, {}, {}, {}, {}, {}", m.layers, m.width, m.heads, m.vocab,
                                              m.max_seqlen, bench.batch_size),
                                  fmt::format("{}", choices), si(tokens),
                                  fmt::format("{:.1f}%", 100 * static_cast<double>(times.computed) / tokens),
                                  si(tokens / times.scoring_seconds, "tokens/s"),
                                  si(static_cast<double>(times.forward_tokens) / times.forward_seconds, "tokens/s"),
                                  fmt::format("{:.3f}", times.ratio)});
        }
    table.notes.push_back(
        "Random requests of an eighth to all of the model's length. One choice: its last one to eight tokens are "
        "scored. Four: they share three quarters of their tokens, which are computed once, and the rest is scored. "
        "forward alone: full batches through the model without padding, as many of their tokens scored. ratio: tokens "
        "scored a second over those of the forward pass; above 1 scoring is the faster.");
    print(table);
    return kExitOk;
}

}  // namespace

void add_bench_scoring(CLI::App& bench, Context& context) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* scoring = bench.add_subcommand("scoring", "Scoring a task's requests, beside the forward pass alone");
    add_threads(*scoring, arguments->threads);
    add_number(*scoring, "--rounds", arguments->rounds, "Rounds", 1, 100);
    add_number(*scoring, "--batches", arguments->batches, "Batches a round", 1, 1 << 20);
    scoring->callback([arguments, &context] { context.exit_code = run(*arguments); });
}

}  // namespace deft::cli
