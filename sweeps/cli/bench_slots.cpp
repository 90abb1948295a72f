// deft bench slots: is it faster to train trials side by side, or one after the other on all threads?

#include <fmt/format.h>

#include "base/median.h"
#include "reporting/numbers.h"
#include "sweeps/cli/contest.h"
#include "sweeps/cli/step_tables.h"
#include "sweeps/driver/provenance.h"
#include "sweeps/driver/slots.h"
#include "sweeps/gate/bench_records.h"
#include "sweeps/gate/step_worker.h"

namespace deft::cli {

namespace {

struct BenchSlotsArguments {
    int cores = 2;
    int models = 4;
    sweeps::RoundSettings rounds;
    std::string root = sweeps::kDefaultRoot;
};

// Quickstart's model and growing ones, up to the largest of the standard benches.
std::vector<engine::StepBench> slot_benches() {
    std::vector<engine::StepBench> benches = {{engine::gpt2_config(4, 64, 2, 64, 257), 8},
                                              {engine::gpt2_config(4, 128, 4, 128, 1024), 4}};
    for (const engine::StepBench& bench : engine::standard_step_benches()) benches.push_back(bench);
    return benches;
}

// Processes that train the same model at the same time.
using Team = std::vector<std::unique_ptr<sweeps::LineWorker>>;

Team start_team(const engine::StepBench& bench, int processes, int threads) {
    Team team;
    for (int i = 0; i < processes; ++i) team.push_back(sweeps::start_steps(bench, threads));
    return team;
}

// Has every process train that many steps. Returns seconds of one step, counting the steps of all processes together:
// one over the sum of their rates.
double run_team(const Team& team, long steps) {
    for (const auto& worker : team) worker->begin("step", steps);
    double rate = 0;  // steps a second
    for (const auto& worker : team) rate += 1 / worker->seconds();
    return 1 / rate;
}

Measured time_slots(const BenchSlotsArguments& arguments, const sweeps::ShowProgress& progress) {
    using reporting::si;
    sweeps::BenchRecorder recorder(arguments.root);  // before anything is timed: it may be locked
    const std::vector<engine::StepBench> benches = slot_benches();
    std::vector<kernels::BenchResult> results;
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
        progress(model, -1);
        const Team beside = start_team(benches[i], arguments.cores, 1),
                   alone = start_team(benches[i], 1, arguments.cores);
        std::vector<sweeps::Contestant> teams = {
            {{"side_by_side"}, [&](long steps) { return run_team(beside, steps); }},
            {{"one"}, [&](long steps) { return run_team(alone, steps); }}};
        time_in_rounds(teams, arguments.rounds, model, progress);
        const double tokens = static_cast<double>(benches[i].batch_size * benches[i].model.max_seqlen);
        const double flops = engine::step_flops(engine::trainer_config_of(benches[i]));
        table.rows.push_back({model, si(flops), si(tokens / median(teams[0].seconds)),
                              si(tokens / median(teams[1].seconds)),
                              to_text(sweeps::time_ratio(teams[1].seconds, teams[0].seconds))});
        for (const sweeps::Contestant& team : teams)
            results.push_back(
                sweeps::cpu_result(fmt::format("slots/{}/{}", model, team.names[0]), flops, team.seconds));
    }
    recorder.record(results, {arguments.cores, arguments.rounds.segment_seconds, arguments.rounds.rounds},
                    kernels::measure_peaks(arguments.cores), sweeps::describe_code());
    table.notes.push_back(
        fmt::format("Processes of their own, as workers are; the last column above 1: side by side trains "
                    "more. 95% intervals, orders from seed {}. The scheduler's rule: {}",
                    arguments.rounds.seed, sweeps::kThreadsRule));
    return {{table}, recorder.file()};
}

}  // namespace

Run bench_slots(CLI::App& command) {
    auto arguments = std::make_shared<BenchSlotsArguments>();
    add_number(command, "--cores", arguments->cores, "Cores to share out", 2, 1024);
    add_number(command, "--models", arguments->models, "How many of the five models to train, the smallest first", 1,
               5);
    add_rounds(command, arguments->rounds);
    add_root(command, arguments->root);
    return contest(arguments, time_slots);
}

}  // namespace deft::cli
