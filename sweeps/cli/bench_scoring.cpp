// deft bench scoring: how much of an evaluation is the model's forward pass.

#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "experiments/bench/scoring.h"
#include "reporting/numbers.h"
#include "reporting/table.h"
#include "sweeps/cli/commands.h"
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
    table.caption = fmt::format("Scoring {} batches of requests, {} thread(s), median of {} alternating rounds",
                                arguments.batches, arguments.threads, arguments.rounds);
    table.columns = {{"layers, width, heads, vocab, length, batch", reporting::Align::left},
                     {"tokens"},
                     {"padding"},
                     {"scoring"},
                     {"forward alone"},
                     {"ratio"}};
    for (const engine::StepBench& bench : engine::standard_step_benches()) {
        const experiments::ScoringTimes times =
            experiments::time_scoring(bench, {engine::Device::cpu, engine::DType::f32, arguments.threads},
                                      arguments.batches * bench.batch_size, arguments.rounds);
        const auto& m = bench.model;
        const auto tokens = static_cast<double>(times.tokens);
        table.rows.push_back(
            {fmt::format("{}, {}, {}, {}, {}, {}", m.layers, m.width, m.heads, m.vocab, m.max_seqlen, bench.batch_size),
             si(tokens), fmt::format("{:.1f}%", 100 * static_cast<double>(times.padding) / tokens),
             si(tokens / times.scoring_seconds, "tokens/s"), si(tokens / times.forward_seconds, "tokens/s"),
             fmt::format("{:.3f}", times.ratio)});
    }
    table.notes.push_back(
        "Random requests of an eighth to all of the model's length, the last one to eight tokens scored; batches "
        "of like length. forward alone: the same batches through the model. ratio: time of scoring "
        "over time of the forward pass. Choices that share a context are computed each for itself.");
    print(reporting::render_terminal(table, output_width()));
    return kExitOk;
}

}  // namespace

void add_bench_scoring(CLI::App& bench, Context& context) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* scoring = bench.add_subcommand("scoring", "Scoring a task's requests, beside the forward pass alone");
    scoring->add_option("--threads", arguments->threads, "Threads")->capture_default_str()->check(CLI::Range(1, 1024));
    scoring->add_option("--rounds", arguments->rounds, "Rounds")->capture_default_str()->check(CLI::Range(1, 100));
    scoring->add_option("--batches", arguments->batches, "Batches a round")
        ->capture_default_str()
        ->check(CLI::Range(1, 1 << 20));
    scoring->callback([arguments, &context] { context.exit_code = run(*arguments); });
}

}  // namespace deft::cli
