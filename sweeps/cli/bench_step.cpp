// deft bench step: whole training steps, the baseline beside random-LTD, seqtru and PyTorch, in interleaved rounds.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/median.h"
#include "base/stopwatch.h"
#include "engine/bench/layers.h"
#include "experiments/engine_config.h"
#include "sweeps/cli/contest.h"
#include "sweeps/cli/step_tables.h"
#include "sweeps/driver/provenance.h"
#include "sweeps/gate/bench_records.h"
#include "sweeps/gate/competitors.h"
#include "sweeps/gate/first_loss.h"
#include "sweeps/gate/preset_steps.h"
#include "sweeps/gate/python_opponents.h"

namespace deft::cli {

namespace {

struct BenchStepArguments {
    int threads = 2;
    sweeps::RoundSettings rounds;
    std::vector<int> sizes;
    std::vector<std::string> presets;
    std::int64_t batch = 0, vocab = 0;  // of presets; 0: as preset_step() has them
    bool padding = false;
    int beside = 0;                    // competing processes
    std::vector<std::string> pythons;  // each has a PyTorch
    std::string isa = "native";
    std::string sweep, sweep_recipe, scale = sweeps::kDefaultScale;
    std::vector<std::string> overrides;
    std::string root = sweeps::kDefaultRoot;
};

// Call it before oneDNN is first used, which is when it reads its variable. The other variables are for the processes
// of PyTorch; one that the user has set stays as it is.
void choose_isa(const std::string& isa) {
    if (isa != "avx2") return;
    ::setenv("DNNL_MAX_CPU_ISA", "AVX2", 1);
    ::setenv("ATEN_CPU_CAPABILITY", "avx2", 0);
    ::setenv("MKL_ENABLE_INSTRUCTIONS", "AVX2", 0);
    ::setenv("OPENBLAS_CORETYPE", "Haswell", 0);
}

engine::StepBench bench_of_sweep(const BenchStepArguments& arguments) {
    SpecArguments spec;
    spec.file = arguments.sweep;
    spec.scale = arguments.scale;
    spec.overrides = arguments.overrides;
    if (!arguments.sweep_recipe.empty()) spec.only = {arguments.sweep_recipe};
    const sweeps::Trial trial = spec.first_trial(sweeps::Data::may_be_missing);
    const engine::TrainerConfig config = experiments::trainer_config(trial.config);
    if (!engine::is_plain_gpt2(config.model))
        throw Error(ErrorKind::config,
                    fmt::format("{}: recipe {} has a model of other parts than GPT-2's, or dropout", arguments.sweep,
                                trial.recipe),
                    "name a recipe with model.kind = \"gpt\", or a preset with --preset");
    return {config.model, config.batch_size};
}

std::vector<engine::StepBench> step_models(const BenchStepArguments& arguments) {
    if (!arguments.sweep.empty()) return {bench_of_sweep(arguments)};
    if (!arguments.presets.empty()) {
        std::vector<engine::StepBench> presets;
        for (const std::string& name : arguments.presets)
            presets.push_back(sweeps::preset_step(name, arguments.batch, arguments.vocab));
        return presets;
    }
    return arguments.sizes.empty() ? engine::standard_step_benches() : standard_models(arguments.sizes);
}

bool has_padding(const engine::StepBench& bench) {
    return !bench.model.is_causal() && !bench.model.input.patches;
}

sweeps::Contestant contestant_of(const std::string& name, engine::Trainer& trainer) {
    return {{name}, [&trainer](long steps) {
                const Clock::time_point start = Clock::now();
                for (long i = 0; i < steps; ++i) trainer.step();
                return seconds_since(start) / static_cast<double>(steps);
            }};
}

struct Torch {
    std::unique_ptr<sweeps::LineWorker> worker;
    TorchNote note;
};

Torch start_torch(const std::string& python, const engine::StepBench& bench, int threads) {
    Torch torch{sweeps::start_pytorch_step(python, bench, threads), {}};
    const sweeps::LineWorker& worker = *torch.worker;
    torch.note = {worker.said<std::string>("version"), worker.said<std::string>("blas"),
                  worker.said<std::string>("compile_failure"), 0};
    sweeps::require_first_loss("PyTorch " + torch.note.version, worker.said<double>("first_loss"), bench);
    return torch;
}

// Measures our products and those of each PyTorch in turn, and keeps the best of three.
double gemm_rates(std::vector<Torch>& torches, int threads) {
    double ours = 0;
    for (int round = 0; round < 3; ++round) {
        ours = std::max(ours, engine::gemm_rate(threads));
        for (auto& [worker, note] : torches)
            note.gemm_flops = std::max(note.gemm_flops, worker->part<double>(worker->ask("gemm"), "gemm_flops"));
    }
    return ours;
}

// "2.15.0" of "2.15.0+cu132".
std::string short_version(const std::string& version) {
    return version.substr(0, version.find('+'));
}

// The baseline first.
std::vector<engine::StepArm> arms_of(const engine::StepBench& bench, const engine::TrainingData& data, bool padding) {
    std::vector<engine::StepArm> arms = engine::step_arms(bench);
    if (!padding || !has_padding(bench)) return arms;
    const std::vector<engine::StepArm> of_padding = engine::padding_arms(bench, data);
    arms.insert(arms.begin() + 1, of_padding.begin(), of_padding.end());
    return arms;
}

StepTimes time_model(const engine::StepBench& bench, const BenchStepArguments& arguments,
                     const sweeps::ShowProgress& progress) {
    StepTimes times;
    times.model = model_text(bench);
    std::vector<Torch> torches;
    for (const std::string& python : arguments.pythons) {
        progress("starting " + python, -1);
        torches.push_back(start_torch(python, bench, arguments.threads));
    }
    if (!torches.empty()) times.our_gemm_flops = gemm_rates(torches, arguments.threads);

    const engine::TrainingData data = engine::random_training_data(bench);
    std::vector<std::unique_ptr<engine::Trainer>> trainers;
    std::vector<sweeps::Contestant> contestants;
    for (const engine::StepArm& arm : arms_of(bench, data, arguments.padding)) {
        const engine::TrainingData own = arm.has_full_samples ? engine::full_training_data(bench) : data;
        engine::Trainer& trainer =
            *trainers.emplace_back(std::make_unique<engine::Trainer>(arm.config, own, arguments.threads));
        sweeps::require_first_loss(arm.name, trainer.step().loss, bench);
        contestants.push_back(contestant_of(arm.name, trainer));
        times.rows.push_back(
            {arm.name, engine::step_flops(arm.config), {}, engine::tokens_of_step(arm.config, own), {}});
    }
    if (arguments.padding && has_padding(bench))
        times.padding = {1 - times.rows[1].tokens / static_cast<double>(bench.batch_size * bench.model.max_seqlen), 1,
                         2};
    for (std::size_t i = 0; i < torches.size(); ++i)
        for (const auto& mode : torches[i].worker->said<std::vector<std::string>>("modes")) {
            const std::string name = fmt::format("torch {} {}", short_version(torches[i].note.version), mode);
            contestants.push_back({{name}, torches[i].worker->runs(mode)});
            times.rows.push_back({name, times.rows.front().flops, {}, times.rows.front().tokens, i});
        }
    time_in_rounds(contestants, arguments.rounds, times.model, progress);
    for (std::size_t i = 0; i < times.rows.size(); ++i) times.rows[i].seconds = std::move(contestants[i].seconds);
    for (const Torch& torch : torches) times.torches.push_back(torch.note);
    return times;
}

// Two things timed in the same rounds: a row of their milliseconds, `share` where it is not empty, and the time of the
// second in those of the first.
void add_pair(reporting::Table& table, const std::string& model, const std::string& share,
              const std::vector<sweeps::Contestant>& pair) {
    const std::vector<double>&first = pair.at(0).seconds, &second = pair.at(1).seconds;
    std::vector<reporting::Cell>& row = table.rows.emplace_back();
    row = {model, fmt::format("{:.1f}", 1e3 * median(first)), fmt::format("{:.1f}", 1e3 * median(second))};
    if (!share.empty()) row.emplace_back(share);
    row.emplace_back(to_text(sweeps::time_ratio(second, first)));
}

// Times that the database keeps.
using Results = std::vector<kernels::BenchResult>;

void time_beside(const engine::StepBench& bench, const BenchStepArguments& arguments,
                 const sweeps::ShowProgress& progress, reporting::Table& table, Results& results) {
    engine::Trainer trainer(engine::trainer_config_of(bench), engine::random_training_data(bench), arguments.threads);
    sweeps::require_first_loss("baseline", trainer.step().loss, bench);
    const sweeps::Competitors competitors(arguments.beside);
    std::vector<sweeps::Contestant> both = {contestant_of("quiet", trainer)};
    both.push_back({{"beside"}, [&competitors, run = both[0].run](long steps) {
                        competitors.thaw();
                        const double seconds = run(steps);
                        competitors.freeze();
                        return seconds;
                    }});
    const std::string model = model_text(bench);
    time_in_rounds(both, arguments.rounds, fmt::format("{} beside {} processes", model, arguments.beside), progress);
    add_pair(table, model, "", both);
    results.push_back(sweeps::cpu_result(fmt::format("step/{}/beside_{}", model, arguments.beside),
                                         engine::step_flops(trainer.config()), both[1].seconds));
}

void time_layers(const engine::StepBench& bench, const BenchStepArguments& arguments,
                 const sweeps::ShowProgress& progress, reporting::Table& table, Results& results) {
    const std::int64_t T = bench.model.max_seqlen;
    engine::InnerLayers full(bench.model, bench.batch_size, T, arguments.threads);
    engine::InnerLayers half(bench.model, bench.batch_size, T / 2, arguments.threads);
    std::vector<sweeps::Contestant> both = {{{"full"}, sweeps::mean_of_runs([&] { return full.run(); })},
                                            {{"random-LTD"}, sweeps::mean_of_runs([&] { return half.run(); })}};
    const std::string model = model_text(bench), what = "inner layers of " + model;
    time_in_rounds(both, arguments.rounds, what, progress);
    if (!full.is_sane() || !half.is_sane()) throw Error(ErrorKind::data, what + " left no finite gradient");
    add_pair(table, model, fmt::format("{:.3f}", half.flops() / full.flops()), both);
    for (const auto& [layers, one] : {std::pair{&full, &both[0]}, std::pair{&half, &both[1]}})
        results.push_back(
            sweeps::cpu_result(fmt::format("inner_layers/{}/{}", model, one->names[0]), layers->flops(), one->seconds));
}

void add_results(const StepTimes& times, Results& results) {
    for (const StepTimes::Row& row : times.rows) {
        results.push_back(sweeps::cpu_result(fmt::format("step/{}/{}", times.model, row.torch ? "baseline" : row.name),
                                             row.flops, row.seconds));
        if (row.torch) results.back().backend = row.name;
    }
}

// All of them are trained in turn.
void require_memory_of_steps(const engine::StepBench& bench, int threads) {
    std::vector<engine::TrainerConfig> trainers;
    for (const engine::StepArm& arm : engine::step_arms(bench)) trainers.push_back(arm.config);
    sweeps::require_memory(fmt::format("a step of {}, once with each technique,", model_text(bench)), trainers,
                           {engine::Device::cpu, engine::DType::f32, threads});
}

Measured time_steps(const BenchStepArguments& arguments, const sweeps::ShowProgress& progress) {
    choose_isa(arguments.isa);
    const std::vector<engine::StepBench> models = step_models(arguments);
    if (arguments.padding && std::none_of(models.begin(), models.end(), has_padding))
        throw Error(ErrorKind::usage, "--padding is of models whose samples have padding", "name one with --preset",
                    "nothing was timed");
    for (const engine::StepBench& bench : models) require_memory_of_steps(bench, arguments.threads);
    sweeps::BenchRecorder recorder(arguments.root);  // before anything is timed: it may be locked
    StepReport report;
    report.is_avx2 = arguments.isa == "avx2";
    report.peaks = kernels::measure_peaks(arguments.threads);
    reporting::Table layers = layer_table(), beside = beside_table(arguments.beside);
    Results results;
    for (const engine::StepBench& bench : models) {
        add_results(report.steps.emplace_back(time_model(bench, arguments, progress)), results);
        if (arguments.beside > 0) time_beside(bench, arguments, progress, beside, results);
        if (bench.model.layers() > 2 && bench.model.is_causal())
            time_layers(bench, arguments, progress, layers, results);
    }
    const kernels::FmaPeak again = kernels::measure_fma_peak(arguments.threads);
    report.peaks.fma.avx2_flops = std::max(report.peaks.fma.avx2_flops, again.avx2_flops);
    report.peaks.fma.avx512_flops = std::max(report.peaks.fma.avx512_flops, again.avx512_flops);
    for (kernels::BenchResult& result : results)
        if (report.is_avx2) result.name += "/avx2";
    recorder.record(results, {arguments.threads, arguments.rounds.segment_seconds, arguments.rounds.rounds},
                    report.peaks, sweeps::describe_code());
    Measured measured{{step_table(report, arguments.threads, arguments.rounds)}, recorder.file()};
    for (const reporting::Table& table : {layers, beside})
        if (!table.rows.empty()) measured.tables.push_back(table);
    return measured;
}

}  // namespace

Run bench_step(CLI::App& command) {
    auto arguments = std::make_shared<BenchStepArguments>();
    command
        .add_option("--size", arguments->sizes,
                    "Which of the three standard models: 1, 2 or 3; all where none is named")
        ->check(CLI::Range(1, 3))
        ->allow_extra_args(false);
    command
        .add_option("--preset", arguments->presets,
                    "A model of experiments/presets instead, without dropout; may be given again")
        ->allow_extra_args(false);
    command
        .add_option("--batch", arguments->batch,
                    "Its samples a step (default: 4096 tokens of BERT's, 2048 of others; 32 images)")
        ->check(CLI::Range(1, 1 << 16));
    command
        .add_option("--vocab", arguments->vocab, "Entries of its vocabulary (default: 30522 of BERT's, 8192 of others)")
        ->check(CLI::Range(6, 1 << 20));
    command.add_option("--sweep", arguments->sweep, "Train the model and batch of a sweep's trial instead");
    command.add_option("--case", arguments->sweep_recipe, "The sweep's recipe; the first where none is named");
    command.add_option("--scale", arguments->scale, "The sweep's scale")->capture_default_str();
    command.add_option("--set", arguments->overrides, "Lay a value over the sweep's recipe, as in model.width=256")
        ->allow_extra_args(false);
    command.add_flag(
        "--padding", arguments->padding,
        "Time BERT's models with padded samples too, beside packed ones, and with as many tokens without padding");
    command
        .add_option("--beside", arguments->beside, "Time the baseline's step beside that many competing processes too")
        ->check(CLI::Range(0, 1024));
    add_threads(command, arguments->threads);
    add_rounds(command, arguments->rounds);
    add_pythons(command, arguments->pythons);
    command.add_option("--isa", arguments->isa, "The widest vectors that libraries may use: native, or avx2")
        ->capture_default_str()
        ->check(CLI::IsMember({"native", "avx2"}));
    add_root(command, arguments->root);
    return contest(arguments, time_steps);
}

}  // namespace deft::cli
