// deft bench ranks: data-parallel training on several ranks, beside one process with as many threads and beside
// PyTorch's DistributedDataParallel, in interleaved rounds. deft bench step-worker: a process of it, or of bench slots.

#include <fmt/format.h>
#include <sys/prctl.h>

#include <csignal>
#include <iostream>

#include "base/median.h"
#include "base/usable_machine.h"
#include "reporting/numbers.h"
#include "sweeps/cli/contest.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/step_tables.h"
#include "sweeps/driver/mpirun.h"
#include "sweeps/driver/slots.h"
#include "sweeps/gate/first_loss.h"
#include "sweeps/gate/preset_steps.h"
#include "sweeps/gate/python_opponents.h"
#include "sweeps/gate/step_worker.h"

namespace deft::cli {

namespace {

struct BenchRanksArguments {
    std::vector<int> sizes = {1, 2};
    std::vector<std::int64_t> model;  // its six sizes; none: the standard models
    std::int64_t batch = 0;           // 0: the model's own
    int ranks = 2, threads = 1;
    sweeps::RoundSettings rounds{.rounds = 10, .segment_seconds = 0.5, .seed = 0};
    std::vector<std::string> pythons;  // each has torch
    bool compiles = false;
};

std::vector<engine::StepBench> ranks_models(const BenchRanksArguments& arguments) {
    std::vector<engine::StepBench> models =
        arguments.model.empty() ? standard_models(arguments.sizes)
                                : std::vector<engine::StepBench>{engine::bench_of_sizes(arguments.model)};
    for (engine::StepBench& bench : models)
        if (arguments.batch > 0) bench.batch_size = arguments.batch;
    return models;
}

std::string threads_text(int processes, int threads) {
    return fmt::format("{} process{}, {} thread{}{}", processes, processes == 1 ? "" : "es", threads,
                       threads == 1 ? "" : "s", processes == 1 ? "" : " each");
}

// All of deft's are there at once.
void require_memory_of_ranks(const engine::StepBench& bench, const BenchRanksArguments& arguments) {
    std::vector<engine::TrainerConfig> trainers(static_cast<std::size_t>(arguments.ranks),
                                                engine::rank_config(bench, arguments.ranks));
    trainers.insert(trainers.end(), 2, engine::rank_config(bench, 1));
    sweeps::require_memory(
        fmt::format("training {} on {} ranks and in two processes", model_text(bench), arguments.ranks), trainers,
        {engine::Device::cpu, engine::DType::f32, arguments.threads});
}

// Rows of one model, and a note on its sum of gradients. Returns whether a PyTorch has no fused AdamW.
bool time_model_on_ranks(const engine::StepBench& bench, const BenchRanksArguments& arguments,
                         const sweeps::ShowProgress& progress, reporting::Table& table) {
    const int ranks = arguments.ranks, threads = arguments.threads;
    const auto tokens = static_cast<double>(bench.batch_size * bench.model.max_seqlen);
    std::vector<sweeps::Contestant> contestants;  // ours on ranks first
    const auto add = [&](const std::string& program, int processes, int of_each, std::function<double(long)> run) {
        contestants.push_back(
            {{model_text(bench), fmt::format("{}, {}", program, threads_text(processes, of_each))},
             std::move(run),
             [tokens](double seconds) {
                 return std::vector{fmt::format("{:.1f}", 1e3 * seconds), reporting::si(tokens / seconds)};
             },
             {0}});
    };
    progress("starting ranks", -1);
    const std::unique_ptr<sweeps::LineWorker> on_ranks = sweeps::start_ranks(bench, ranks, threads);
    sweeps::require_first_loss("training on ranks", on_ranks->said<double>("first_loss"), bench);
    engine::RankSteps alone(bench, threads), together(bench, ranks * threads);
    add("deft", ranks, threads, on_ranks->runs("step"));
    add("deft", 1, threads, [&](long steps) { return alone.step(steps); });
    add("deft", 1, ranks * threads, [&](long steps) { return together.step(steps); });
    contestants.push_back({{"summing gradients"}, on_ranks->runs("reduce")});
    const std::size_t sum = contestants.size() - 1;
    std::vector<std::unique_ptr<sweeps::LineWorker>> torches;
    bool has_unfused_adamw = false;
    const auto add_torch = [&](const std::string& python, int processes, int of_each) {
        progress("starting " + python, -1);
        auto& torch = *torches.emplace_back(sweeps::start_pytorch_ranks(python, bench, processes, of_each));
        const std::string name =
            fmt::format("PyTorch {}{}", torch.said<std::string>("version"), processes > 1 ? " DDP" : "");
        sweeps::require_first_loss(name, torch.said<double>("first_loss"), bench);
        has_unfused_adamw |= !torch.said<bool>("fused");
        for (const auto& mode : torch.said<std::vector<std::string>>("modes"))
            if (mode == "eager" || arguments.compiles)
                add(fmt::format("{} {}", name, mode), processes, of_each, torch.runs(mode));
    };
    for (const std::string& python : arguments.pythons) {
        add_torch(python, ranks, threads);
        add_torch(python, 1, ranks * threads);
    }
    time_in_rounds(contestants, arguments.rounds, model_text(bench), progress);
    add_rows(table, contestants);
    const std::vector<double>& reduce = contestants[sum].seconds;
    table.notes.push_back(fmt::format("{}: a rank sends {} a step. Summing gradients takes {} alone, {} of the step.",
                                      model_text(bench), reporting::si(on_ranks->said<double>("bytes"), "B"),
                                      reporting::small_seconds(median(reduce)),
                                      to_text(sweeps::time_ratio(reduce, contestants.front().seconds))));
    return has_unfused_adamw;
}

Measured time_ranks(const BenchRanksArguments& arguments, const sweeps::ShowProgress& progress) {
    sweeps::require_mpirun();
    const std::vector<engine::StepBench> models = ranks_models(arguments);
    for (const engine::StepBench& bench : models) require_memory_of_ranks(bench, arguments);
    const std::string who = threads_text(arguments.ranks, arguments.threads);
    if (arguments.ranks * arguments.threads > usable_cores())
        print_note(
            fmt::format("{} take turns on {} cores: choose fewer --ranks or --threads to see what ranks are worth", who,
                        usable_cores()));
    using reporting::Align;
    reporting::Table table;
    table.caption =
        fmt::format("Training steps on {}: median of {} interleaved rounds", who, rounds_kept(arguments.rounds));
    table.columns = {
        {"L,width,heads,V,T,B", Align::left}, {"program", Align::left}, {"ms"}, {"tokens/s"}, {"deft on ranks"}};
    table.key_columns = 2;
    bool any_unfused = false;
    for (const engine::StepBench& bench : models) any_unfused |= time_model_on_ranks(bench, arguments, progress, table);
    table.notes.push_back(fmt::format(
        "deft on ranks: how many times as fast as the row it is, {}. All train in float32 with AdamW and clipped "
        "gradients.{}",
        method_of_ratios(arguments.rounds), any_unfused ? " A PyTorch has no fused AdamW on the CPU." : ""));
    return {{table}};
}

void add_model(CLI::App& command, std::vector<std::int64_t>& model) {
    command
        .add_option("--model", model,
                    "A GPT-2 of your own: layers, width, heads, vocabulary, length, batch, as in 4,128,4,8192,128,16")
        ->delimiter(',')
        ->expected(6)
        ->check(CLI::Range(1, 1 << 20));
}

struct StepWorkerArguments {
    std::vector<std::int64_t> model;
    int threads = 1;
    bool is_alone = false;
};

}  // namespace

Run bench_ranks(CLI::App& command) {
    auto arguments = std::make_shared<BenchRanksArguments>();
    command.add_option("--size", arguments->sizes, "Which of the three standard models: 1, 2 or 3; may be given again")
        ->capture_default_str()
        ->check(CLI::Range(1, 3))
        ->allow_extra_args(false);
    add_model(command, arguments->model);
    command.add_option("--batch", arguments->batch, "Samples of a step, of all ranks together (default: the model's)")
        ->check(CLI::Range(1, 1 << 16));
    add_number(command, "--ranks", arguments->ranks, "Ranks, a process each", 2, 1024);
    add_threads(command, arguments->threads, "Threads of each rank");
    add_rounds(command, arguments->rounds);
    add_pythons(command, arguments->pythons, "torch and gloo");
    command.add_flag("--compile", arguments->compiles, "Time torch.compile's steps too; it compiles for minutes");
    return contest(arguments, time_ranks);
}

Run bench_step_worker(CLI::App& command) {
    auto arguments = std::make_shared<StepWorkerArguments>();
    add_model(command, arguments->model);
    add_threads(command, arguments->threads);
    command.add_flag("--alone", arguments->is_alone, "Without the other ranks that mpirun started");
    return [arguments] {
        // A frozen worker would outlive the program that talks with it.
        if (arguments->is_alone) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        sweeps::serve_steps(engine::bench_of_sizes(arguments->model), arguments->threads,
                            arguments->is_alone ? engine::Communicator() : engine::Communicator::of_launcher(),
                            std::cin, std::cout);
        return kExitOk;
    };
}

}  // namespace deft::cli
