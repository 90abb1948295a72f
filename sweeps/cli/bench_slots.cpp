// deft bench slots: is it faster to train trials side by side, or one after the other on all threads?

#include <fmt/format.h>
#include <sys/prctl.h>

#include <csignal>
#include <iostream>
#include <memory>

#include "base/median.h"
#include "reporting/numbers.h"
#include "reporting/table.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/step_tables.h"
#include "sweeps/driver/progress.h"
#include "sweeps/driver/slots.h"
#include "sweeps/gate/interleaved_rounds.h"
#include "sweeps/gate/record_bench.h"
#include "sweeps/gate/slot_bench.h"

namespace deft::cli {

namespace {

struct Arguments {
    int cores = 2;
    int models = 4;
    sweeps::RoundSettings rounds;
    std::string root = sweeps::kDefaultRoot;
};

int run(Arguments arguments) {
    arguments.rounds.seed = seed_or_drawn(arguments.rounds.seed);
    sweeps::BenchRecorder recorder(arguments.root);  // before anything is timed: it may be locked
    const std::vector<engine::StepBench> benches = sweeps::slot_benches();
    std::vector<kernels::BenchResult> results;
    sweeps::ProgressLine line;
    reporting::Table table;
    table.caption = fmt::format("{} trials of one thread each against one of {} threads: median of {} rounds",
                                arguments.cores, arguments.cores, arguments.rounds.rounds);
    table.columns = {{"L,width,heads,V,T,B", reporting::Align::left},
                     {"FLOPs a step"},
                     {"side by side, tokens/s"},
                     {"one, tokens/s"},
                     {"side by side / one"}};
    for (std::size_t i = 0; i < static_cast<std::size_t>(arguments.models); ++i) {
        const std::string model = model_text(benches[i]);
        line.show(model, -1);
        sweeps::Team beside("/proc/self/exe", i, arguments.cores, 1), alone("/proc/self/exe", i, 1, arguments.cores);
        const auto seconds = sweeps::time_in_rounds({{"side by side", [&](long steps) { return beside.run(steps); }},
                                                     {"one", [&](long steps) { return alone.run(steps); }}},
                                                    arguments.rounds, [&](double done) { line.show(model, done); });
        const double tokens = static_cast<double>(benches[i].batch_size * benches[i].model.max_seqlen);
        const double flops = engine::step_flops(engine::trainer_config_of(benches[i]));
        table.rows.push_back({model, reporting::si(flops), reporting::si(tokens / median(seconds[0])),
                              reporting::si(tokens / median(seconds[1])),
                              to_text(sweeps::time_ratio(seconds[1], seconds[0]))});
        for (const std::size_t team : {0, 1}) {
            kernels::BenchResult& result = results.emplace_back();
            result.name = fmt::format("slots/{}/{}", model, team == 0 ? "side_by_side" : "one");
            result.backend = "cpu";
            result.flops = flops;
            result.seconds = seconds[team];
        }
    }
    const kernels::Peaks peaks = kernels::measure_peaks(arguments.cores);
    line.clear();
    recorder.record(results, {arguments.cores, arguments.rounds.segment_seconds, arguments.rounds.rounds}, peaks);
    table.notes.push_back(
        fmt::format("Processes of their own, as slots are; the last column above 1: side by side trains "
                    "more. 95% intervals, orders from seed {}. The scheduler's rule: {}",
                    arguments.rounds.seed, sweeps::kThreadsRule));
    print(table);
    print(fmt::format("raw rounds: {}", recorder.file().string()));
    return kExitOk;
}

int serve(std::size_t which, int threads) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // frozen, it would outlive the program that talks with it
    sweeps::serve_steps(std::cin, std::cout, sweeps::slot_benches().at(which), threads);
    return kExitOk;
}

}  // namespace

void add_bench_slots(CLI::App& bench, Context& context) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* slots = bench.add_subcommand("slots", "Trials side by side on a thread each, against one on all threads");
    add_number(*slots, "--cores", arguments->cores, "To share out", 2, 1024);
    add_number(*slots, "--models", arguments->models, "The first so many of five, which grow", 1, 5);
    add_rounds(*slots, arguments->rounds);
    add_root(*slots, arguments->root);
    slots->callback([arguments, &context] { context.exit_code = run(*arguments); });

    auto which = std::make_shared<std::size_t>(0);
    auto threads = std::make_shared<int>(1);
    CLI::App* worker = bench.add_subcommand("serve-steps", "Internal: a process of one side");
    worker->group("");
    worker->add_option("model", *which, "Its place")->required()->check(CLI::Range(0, 4));
    add_threads(*worker, *threads);
    worker->callback([which, threads, &context] { context.exit_code = serve(*which, *threads); });
}

}  // namespace deft::cli
