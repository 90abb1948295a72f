// deft bench slots: is it faster to train trials side by side, or one after the other on all threads?

#include <fmt/format.h>
#include <sys/prctl.h>

#include <csignal>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/median.h"
#include "base/process.h"
#include "base/stopwatch.h"
#include "engine/bench/step.h"
#include "reporting/numbers.h"
#include "reporting/table.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/step_tables.h"
#include "sweeps/driver/progress.h"
#include "sweeps/driver/provenance.h"
#include "sweeps/driver/slots.h"
#include "sweeps/gate/bench_records.h"
#include "sweeps/gate/interleaved_rounds.h"

namespace deft::cli {

namespace {

// Quickstart's model and growing ones, up to the largest of the standard benches.
std::vector<engine::StepBench> slot_benches() {
    std::vector<engine::StepBench> benches = {{engine::gpt2_config(4, 64, 2, 64, 257), 8},
                                              {engine::gpt2_config(4, 128, 4, 128, 1024), 4}};
    for (const engine::StepBench& bench : engine::standard_step_benches()) benches.push_back(bench);
    return benches;
}

// Processes that train the same model at the same time. Between runs they are frozen.
class Team {
 public:
    // `which`: a place in slot_benches(). Errors: io, for a process that cannot be started or ends.
    Team(const std::filesystem::path& program, std::size_t which, int processes, int threads);

    // Has every process train that many steps, all at the same time. Returns seconds of one step, counting the steps of
    // all processes together: one over the sum of their rates. Errors: io.
    double run(long steps);

 private:
    double read_seconds(PipedProcess& process);
    void freeze();

    std::vector<std::unique_ptr<PipedProcess>> processes_;
};

Team::Team(const std::filesystem::path& program, std::size_t which, int processes, int threads) {
    for (int i = 0; i < processes; ++i)
        processes_.push_back(std::make_unique<PipedProcess>(std::vector<std::string>{
            program, "bench", "serve-steps", std::to_string(which), "--threads", std::to_string(threads)}));
    for (auto& process : processes_) read_seconds(*process);
    freeze();
}

double Team::read_seconds(PipedProcess& process) {
    const std::optional<std::string> line = process.read_line();
    const Json answer = line ? try_parse_json(*line) : Json();
    if (answer.is_object()) return answer.value("seconds", 0.0);
    const std::string ending = line ? "said " + *line : process.end();
    throw Error(ErrorKind::io,
                fmt::format("a process that trains for the benchmark failed: {} {}", ending, process.last_complaint()));
}

void Team::freeze() {
    for (auto& process : processes_) process->freeze();
}

double Team::run(long steps) {
    for (auto& process : processes_) process->thaw();
    for (auto& process : processes_) process->write_line(std::to_string(steps));
    double rate = 0;  // steps a second
    for (auto& process : processes_) rate += static_cast<double>(steps) / read_seconds(*process);
    freeze();
    return 1 / rate;
}

// A process of a team: says {"ready": true}, then answers each line N with {"seconds": of N steps}.
void serve_steps(std::istream& requests, std::ostream& answers, const engine::StepBench& bench, int threads) {
    const engine::TokenCorpus corpus = engine::random_corpus(bench);
    engine::Trainer trainer(engine::trainer_config_of(bench), corpus, threads);
    trainer.step();
    answers << canonical_json({{"ready", true}}) << std::endl;
    for (long steps = 0; requests >> steps && steps > 0;) {
        const Clock::time_point start = Clock::now();
        for (long i = 0; i < steps; ++i) trainer.step();
        answers << canonical_json({{"seconds", seconds_since(start)}}) << std::endl;
    }
}

struct BenchSlotsArguments {
    int cores = 2;
    int models = 4;
    sweeps::RoundSettings rounds;
    std::string root = sweeps::kDefaultRoot;
};

int run_bench_slots(BenchSlotsArguments arguments) {
    arguments.rounds.seed = seed_or_drawn(arguments.rounds.seed);
    sweeps::BenchRecorder recorder(arguments.root);  // before anything is timed: it may be locked
    const std::vector<engine::StepBench> benches = slot_benches();
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
        Team beside("/proc/self/exe", i, arguments.cores, 1), alone("/proc/self/exe", i, 1, arguments.cores);
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
    recorder.record(results, {arguments.cores, arguments.rounds.segment_seconds, arguments.rounds.rounds}, peaks,
                    sweeps::describe_code());
    table.notes.push_back(
        fmt::format("Processes of their own, as workers are; the last column above 1: side by side trains "
                    "more. 95% intervals, orders from seed {}. The scheduler's rule: {}",
                    arguments.rounds.seed, sweeps::kThreadsRule));
    print(table);
    print(fmt::format("raw rounds: {}", recorder.file().string()));
    return kExitOk;
}

int serve(std::size_t which, int threads) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a frozen worker would outlive the program that talks with it
    serve_steps(std::cin, std::cout, slot_benches().at(which), threads);
    return kExitOk;
}

}  // namespace

void add_bench_slots(CLI::App& bench, Context& context) {
    auto arguments = std::make_shared<BenchSlotsArguments>();
    CLI::App* slots = bench.add_subcommand("slots", "Trials side by side on a thread each, against one on all threads");
    add_number(*slots, "--cores", arguments->cores, "Cores to share out", 2, 1024);
    add_number(*slots, "--models", arguments->models, "How many of the five models to train, the smallest first", 1, 5);
    add_rounds(*slots, arguments->rounds);
    add_root(*slots, arguments->root);
    slots->callback([arguments, &context] { context.exit_code = run_bench_slots(*arguments); });

    auto which = std::make_shared<std::size_t>(0);
    auto threads = std::make_shared<int>(1);
    CLI::App* worker = bench.add_subcommand("serve-steps", "Internal: a process of one side");
    worker->group("");
    worker->add_option("model", *which, "The place of the model")->required()->check(CLI::Range(0, 4));
    add_threads(*worker, *threads);
    worker->callback([which, threads, &context] { context.exit_code = serve(*which, *threads); });
}

}  // namespace deft::cli
