// deft bench ranks: data-parallel training on several ranks, beside one process with as many threads and beside
// PyTorch's DistributedDataParallel, in interleaved rounds. deft bench rank-worker: what mpirun starts for it.

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "base/error.h"
#include "base/median.h"
#include "reporting/numbers.h"
#include "reporting/table.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/step_tables.h"
#include "sweeps/driver/mpirun.h"
#include "sweeps/driver/progress.h"
#include "sweeps/driver/slots.h"
#include "sweeps/gate/first_loss.h"
#include "sweeps/gate/interleaved_rounds.h"
#include "sweeps/gate/preset_steps.h"
#include "sweeps/gate/pytorch_ddp.h"
#include "sweeps/gate/rank_worker.h"

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

struct RankArm {
    std::string name;
    std::vector<double> seconds;  // of one step, a round each
};

struct RankTimes {
    engine::StepBench bench;
    std::vector<RankArm> arms;  // ours on several ranks first, then in one process with one rank's threads and with all
    std::vector<double> reduce;      // seconds of one sum of gradients alone
    std::int64_t bytes = 0;          // that one rank sends in a step
    bool has_unfused_adamw = false;  // of a PyTorch
};

std::vector<engine::StepBench> chosen_models(const BenchRanksArguments& arguments) {
    std::vector<engine::StepBench> models;
    if (!arguments.model.empty())
        models.push_back(engine::bench_of_sizes(arguments.model));
    else
        for (const int size : arguments.sizes)
            models.push_back(engine::standard_step_benches().at(static_cast<std::size_t>(size - 1)));
    for (engine::StepBench& bench : models)
        if (arguments.batch > 0) bench.batch_size = arguments.batch;
    return models;
}

std::string threads_text(int processes, int threads) {
    return fmt::format("{} process{}, {} thread{}{}", processes, processes == 1 ? "" : "es", threads,
                       threads == 1 ? "" : "s", processes == 1 ? "" : " each");
}

// All of deft's are there at once.
void require_memory_of_arms(const engine::StepBench& bench, const BenchRanksArguments& arguments) {
    std::vector<engine::TrainerConfig> trainers(static_cast<std::size_t>(arguments.ranks),
                                                engine::rank_config(bench, arguments.ranks));
    trainers.insert(trainers.end(), 2, engine::rank_config(bench, 1));
    sweeps::require_memory(
        fmt::format("training {} on {} ranks and in two processes", model_text(bench), arguments.ranks), trainers,
        {engine::Device::cpu, engine::DType::f32, arguments.threads});
}

RankTimes time_ranks(const engine::StepBench& bench, const BenchRanksArguments& arguments,
                     const std::function<void(const std::string&, double)>& progress) {
    const int ranks = arguments.ranks, threads = arguments.threads;
    RankTimes times{bench, {}, {}, 0, false};
    std::vector<sweeps::Contestant> contestants;
    const auto add = [&](const std::string& program, int processes, int of_each, std::function<double(long)> run) {
        const std::string name = fmt::format("{}, {}", program, threads_text(processes, of_each));
        times.arms.push_back({name, {}});
        contestants.push_back({name, std::move(run)});
    };
    progress("starting ranks", -1);
    sweeps::RankWorker worker(bench, ranks, threads);
    sweeps::require_first_loss("training on ranks", worker.first_loss(), bench);
    times.bytes = worker.bytes_of_step();
    engine::RankSteps alone(bench, threads), together(bench, ranks * threads);
    contestants.push_back({"summing gradients", [&](long sums) { return worker.reduce(sums); }});
    add("deft", ranks, threads, [&](long steps) { return worker.step(steps); });
    add("deft", 1, threads, [&](long steps) { return alone.step(steps); });
    add("deft", 1, ranks * threads, [&](long steps) { return together.step(steps); });
    std::vector<std::unique_ptr<sweeps::PytorchRanksWorker>> torches;
    const auto add_torch = [&](const std::string& python, int processes, int of_each) {
        progress("starting " + python, -1);
        auto& torch =
            *torches.emplace_back(std::make_unique<sweeps::PytorchRanksWorker>(python, bench, processes, of_each));
        const std::string name = fmt::format("PyTorch {}{}", torch.version(), processes > 1 ? " DDP" : "");
        sweeps::require_first_loss(name, torch.first_loss(), bench);
        times.has_unfused_adamw |= !torch.has_fused_adamw();
        for (const std::string& mode : torch.modes())
            if (mode == "eager" || arguments.compiles)
                add(fmt::format("{} {}", name, mode), processes, of_each,
                    [&torch, mode](long steps) { return torch.step(mode, steps); });
    };
    for (const std::string& python : arguments.pythons) {
        add_torch(python, ranks, threads);
        add_torch(python, 1, ranks * threads);
    }
    std::vector<std::vector<double>> seconds =
        sweeps::time_in_rounds(contestants, arguments.rounds, [&](double done) { progress(model_text(bench), done); });
    times.reduce = std::move(seconds[0]);
    for (std::size_t i = 0; i < times.arms.size(); ++i) times.arms[i].seconds = std::move(seconds[i + 1]);
    return times;
}

reporting::Table ranks_table(const std::vector<RankTimes>& models, const BenchRanksArguments& arguments) {
    using reporting::Align;
    reporting::Table table;
    table.caption = fmt::format("Training steps on {}: median of {} interleaved rounds",
                                threads_text(arguments.ranks, arguments.threads), models.front().reduce.size());
    table.columns = {
        {"L,width,heads,V,T,B", Align::left}, {"program", Align::left}, {"ms"}, {"tokens/s"}, {"deft on ranks"}};
    table.key_columns = 2;
    for (const RankTimes& times : models) {
        const auto tokens = static_cast<double>(times.bench.batch_size * times.bench.model.max_seqlen);
        const std::vector<double>& ours = times.arms.front().seconds;
        for (const RankArm& arm : times.arms) {
            const double one = median(arm.seconds);
            table.rows.push_back(
                {model_text(times.bench), arm.name, fmt::format("{:.1f}", 1e3 * one), reporting::si(tokens / one),
                 &arm == &times.arms.front() ? "1" : to_text(sweeps::time_ratio(arm.seconds, ours)) + "x"});
        }
        table.notes.push_back(fmt::format(
            "{}: a rank sends {} a step. Summing gradients takes {} alone, {} of the step.", model_text(times.bench),
            reporting::si(static_cast<double>(times.bytes), "B"), reporting::small_seconds(median(times.reduce)),
            to_text(sweeps::time_ratio(times.reduce, ours))));
    }
    const bool any_unfused = std::ranges::any_of(models, &RankTimes::has_unfused_adamw);
    table.notes.push_back(fmt::format(
        "deft on ranks: how many times as fast as the row it is, Hodges-Lehmann over the rounds' ratios, 95% interval, "
        "orders from seed {}. All train in float32 with AdamW and clipped gradients.{}",
        arguments.rounds.seed, any_unfused ? " A PyTorch has no fused AdamW on the CPU." : ""));
    return table;
}

int run_bench_ranks(BenchRanksArguments arguments) {
    arguments.rounds.seed = seed_or_drawn(arguments.rounds.seed);
    sweeps::require_mpirun();
    const std::vector<engine::StepBench> models = chosen_models(arguments);
    for (const engine::StepBench& bench : models) require_memory_of_arms(bench, arguments);
    if (arguments.ranks * arguments.threads > sweeps::usable_cores())
        print_note(
            fmt::format("{} take turns on {} cores: choose fewer --ranks or --threads to see what ranks are worth",
                        threads_text(arguments.ranks, arguments.threads), sweeps::usable_cores()));
    sweeps::ProgressLine line;
    std::vector<RankTimes> times;
    for (const engine::StepBench& bench : models) times.push_back(time_ranks(bench, arguments, shown_on(line)));
    line.clear();
    print(ranks_table(times, arguments));
    return kExitOk;
}

void add_model(CLI::App& command, std::vector<std::int64_t>& model) {
    command
        .add_option("--model", model,
                    "A GPT-2 of your own: layers, width, heads, vocabulary, length, batch, as in 4,128,4,8192,128,16")
        ->delimiter(',')
        ->expected(6)
        ->check(CLI::Range(1, 1 << 20));
}

}  // namespace

void add_bench_ranks(CLI::App& bench, Context& context) {
    auto arguments = std::make_shared<BenchRanksArguments>();
    CLI::App* command = bench.add_subcommand(
        "ranks", "Data-parallel training on several ranks, beside threads and PyTorch's DistributedDataParallel");
    command->add_option("--size", arguments->sizes, "Which of the three standard models: 1, 2 or 3; may be given again")
        ->capture_default_str()
        ->check(CLI::Range(1, 3))
        ->allow_extra_args(false);
    add_model(*command, arguments->model);
    command->add_option("--batch", arguments->batch, "Samples of a step, of all ranks together (default: the model's)")
        ->check(CLI::Range(1, 1 << 16));
    add_number(*command, "--ranks", arguments->ranks, "Ranks, a process each", 2, 1024);
    add_threads(*command, arguments->threads, "Threads of each rank");
    add_rounds(*command, arguments->rounds);
    command
        ->add_option("--pytorch", arguments->pythons,
                     "A Python with torch and gloo, timed in the same rounds; may be given again")
        ->allow_extra_args(false);
    command->add_flag("--compile", arguments->compiles, "Time torch.compile's steps too; it compiles for minutes");
    command->callback([arguments, &context] { context.exit_code = run_bench_ranks(*arguments); });

    auto worker = std::make_shared<BenchRanksArguments>();
    CLI::App* of_mpirun = bench.add_subcommand("rank-worker", "Time steps on the ranks that mpirun started")->group("");
    add_model(*of_mpirun, worker->model);
    add_threads(*of_mpirun, worker->threads);
    of_mpirun->callback([worker] {
        sweeps::serve_rank_steps(engine::bench_of_sizes(worker->model), worker->threads, std::cin, std::cout);
    });
}

}  // namespace deft::cli
