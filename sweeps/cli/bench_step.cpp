// deft bench step: whole training steps, the baseline beside random-LTD, seqtru and PyTorch, in interleaved rounds.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/error.h"
#include "base/stopwatch.h"
#include "engine/bench/layers.h"
#include "experiments/engine_config.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/step_tables.h"
#include "sweeps/driver/progress.h"
#include "sweeps/driver/provenance.h"
#include "sweeps/gate/bench_records.h"
#include "sweeps/gate/competitors.h"
#include "sweeps/gate/first_loss.h"
#include "sweeps/gate/preset_steps.h"
#include "sweeps/gate/pytorch_step.h"

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

std::vector<engine::StepBench> chosen_models(const BenchStepArguments& arguments) {
    if (!arguments.sweep.empty()) return {bench_of_sweep(arguments)};
    if (!arguments.presets.empty()) {
        std::vector<engine::StepBench> presets;
        for (const std::string& name : arguments.presets)
            presets.push_back(sweeps::preset_step(name, arguments.batch, arguments.vocab));
        return presets;
    }
    const std::vector<engine::StepBench> all = engine::standard_step_benches();
    if (arguments.sizes.empty()) return all;
    std::vector<engine::StepBench> chosen;
    for (const int size : arguments.sizes) chosen.push_back(all.at(static_cast<std::size_t>(size - 1)));
    return chosen;
}

bool has_padding(const engine::StepBench& bench) {
    return !bench.model.is_causal() && !bench.model.input.patches;
}

sweeps::Contestant contestant_of(const std::string& name, engine::Trainer& trainer) {
    return {name, [&trainer](long steps) {
                const Clock::time_point start = Clock::now();
                for (long i = 0; i < steps; ++i) trainer.step();
                return seconds_since(start) / static_cast<double>(steps);
            }};
}

// One PyTorch and its modes, or none where it failed.
struct Torch {
    std::unique_ptr<sweeps::PytorchWorker> worker;
    TorchNote note;
};

Torch start_torch(const std::string& python, const engine::StepBench& bench, int threads) {
    Torch torch;
    torch.worker = std::make_unique<sweeps::PytorchWorker>(python, bench, threads);
    const sweeps::PytorchWorker& worker = *torch.worker;
    torch.note = {worker.version(), worker.blas(), worker.compile_failure(), 0};
    sweeps::require_first_loss("PyTorch " + worker.version(), worker.first_loss(), bench);
    return torch;
}

// Measures our products and those of each PyTorch in turn, and keeps the best of three.
double gemm_rates(std::vector<Torch>& torches, int threads) {
    double ours = 0;
    for (int round = 0; round < 3; ++round) {
        ours = std::max(ours, engine::gemm_rate(threads));
        for (Torch& torch : torches) torch.note.gemm_flops = std::max(torch.note.gemm_flops, torch.worker->gemm_rate());
    }
    return ours;
}

// "2.15.0" of "2.15.0+cu132".
std::string short_version(const std::string& version) {
    return version.substr(0, version.find('+'));
}

using Progress = std::function<void(const std::string&, double)>;

// The baseline first.
std::vector<engine::StepArm> arms_of(const engine::StepBench& bench, const engine::TrainingData& data, bool padding) {
    std::vector<engine::StepArm> arms = engine::step_arms(bench);
    if (!padding || !has_padding(bench)) return arms;
    const std::vector<engine::StepArm> of_padding = engine::padding_arms(bench, data);
    arms.insert(arms.begin() + 1, of_padding.begin(), of_padding.end());
    return arms;
}

StepTimes time_model(const engine::StepBench& bench, const BenchStepArguments& arguments, const Progress& progress) {
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
        for (const std::string& mode : torches[i].worker->modes()) {
            sweeps::PytorchWorker& worker = *torches[i].worker;
            const std::string name = fmt::format("torch {} {}", short_version(worker.version()), mode);
            contestants.push_back({name, [&worker, mode](long steps) { return worker.run(mode, steps); }});
            times.rows.push_back({name, times.rows.front().flops, {}, times.rows.front().tokens, i});
        }
    std::vector<std::vector<double>> seconds =
        sweeps::time_in_rounds(contestants, arguments.rounds, [&](double done) { progress(times.model, done); });
    for (std::size_t i = 0; i < times.rows.size(); ++i) times.rows[i].seconds = std::move(seconds[i]);
    for (const Torch& torch : torches) times.torches.push_back(torch.note);
    return times;
}

BesideTimes time_beside(const engine::StepBench& bench, const BenchStepArguments& arguments, const Progress& progress) {
    engine::Trainer trainer(engine::trainer_config_of(bench), engine::random_training_data(bench), arguments.threads);
    sweeps::require_first_loss("baseline", trainer.step().loss, bench);
    const sweeps::Competitors competitors(arguments.beside);
    const sweeps::Contestant quiet = contestant_of("quiet", trainer);
    const sweeps::Contestant busy{"beside", [&](long steps) {
                                      competitors.thaw();
                                      const double seconds = quiet.run(steps);
                                      competitors.freeze();
                                      return seconds;
                                  }};
    const std::string name = fmt::format("{} beside {} processes", model_text(bench), arguments.beside);
    auto seconds = sweeps::time_in_rounds({quiet, busy}, arguments.rounds, [&](double done) { progress(name, done); });
    return {model_text(bench), engine::step_flops(engine::trainer_config_of(bench)), std::move(seconds[0]),
            std::move(seconds[1])};
}

LayerTimes time_layers(const engine::StepBench& bench, const BenchStepArguments& arguments, const Progress& progress) {
    const std::int64_t T = bench.model.max_seqlen;
    engine::InnerLayers full(bench.model, bench.batch_size, T, arguments.threads);
    engine::InnerLayers half(bench.model, bench.batch_size, T / 2, arguments.threads);
    std::vector<sweeps::Contestant> contestants;
    for (engine::InnerLayers* layers : {&full, &half})
        contestants.push_back({"", sweeps::mean_of_runs([layers] { return layers->run(); })});
    const std::string name = "inner layers of " + model_text(bench);
    auto seconds = sweeps::time_in_rounds(contestants, arguments.rounds, [&](double done) { progress(name, done); });
    for (const engine::InnerLayers* layers : {&full, &half})
        if (!layers->is_sane()) throw Error(ErrorKind::data, name + " left no finite gradient");
    return {model_text(bench), full.flops(), half.flops(), std::move(seconds[0]), std::move(seconds[1])};
}

void record(sweeps::BenchRecorder& recorder, const StepReport& report, const BenchStepArguments& arguments) {
    std::vector<kernels::BenchResult> rows;
    const auto add = [&](const std::string& name, const std::string& backend, double flops,
                         const std::vector<double>& seconds) {
        kernels::BenchResult& row = rows.emplace_back();
        row.name = name + (report.is_avx2 ? "/avx2" : "");
        row.backend = backend;
        row.flops = flops;
        row.seconds = seconds;
    };
    for (const StepTimes& times : report.steps)
        for (const StepTimes::Row& row : times.rows)
            add(fmt::format("step/{}/{}", times.model, row.torch ? "baseline" : row.name), row.torch ? row.name : "cpu",
                row.flops, row.seconds);
    for (const LayerTimes& times : report.layers) {
        add(fmt::format("inner_layers/{}/full", times.model), "cpu", times.full_flops, times.full);
        add(fmt::format("inner_layers/{}/random-LTD", times.model), "cpu", times.half_flops, times.half);
    }
    for (const BesideTimes& times : report.beside)
        add(fmt::format("step/{}/beside_{}", times.model, arguments.beside), "cpu", times.flops, times.beside);
    recorder.record(rows, {arguments.threads, arguments.rounds.segment_seconds, arguments.rounds.rounds}, report.peaks,
                    sweeps::describe_code());
}

// All of them are trained in turn.
void require_memory_of_arms(const engine::StepBench& bench, int threads) {
    std::vector<engine::TrainerConfig> trainers;
    for (const engine::StepArm& arm : engine::step_arms(bench)) trainers.push_back(arm.config);
    sweeps::require_memory(fmt::format("a step of {}, once with each technique,", model_text(bench)), trainers,
                           {engine::Device::cpu, engine::DType::f32, threads});
}

int run_bench_step(BenchStepArguments arguments) {
    choose_isa(arguments.isa);
    arguments.rounds.seed = seed_or_drawn(arguments.rounds.seed);
    const std::vector<engine::StepBench> models = chosen_models(arguments);
    if (arguments.padding && std::none_of(models.begin(), models.end(), has_padding))
        throw Error(ErrorKind::usage, "--padding is of models whose samples have padding", "name one with --preset",
                    "nothing was timed");
    for (const engine::StepBench& bench : models) require_memory_of_arms(bench, arguments.threads);
    sweeps::BenchRecorder recorder(arguments.root);  // before anything is timed: it may be locked
    sweeps::ProgressLine line;
    const Progress progress = shown_on(line);
    StepReport report;
    report.is_avx2 = arguments.isa == "avx2";
    report.peaks = kernels::measure_peaks(arguments.threads);
    for (const engine::StepBench& bench : models) {
        report.steps.push_back(time_model(bench, arguments, progress));
        if (arguments.beside > 0) report.beside.push_back(time_beside(bench, arguments, progress));
        if (bench.model.layers() > 2 && bench.model.is_causal())
            report.layers.push_back(time_layers(bench, arguments, progress));
    }
    const kernels::FmaPeak again = kernels::measure_fma_peak(arguments.threads);
    report.peaks.fma.avx2_flops = std::max(report.peaks.fma.avx2_flops, again.avx2_flops);
    report.peaks.fma.avx512_flops = std::max(report.peaks.fma.avx512_flops, again.avx512_flops);
    line.clear();
    record(recorder, report, arguments);
    print(step_table(report, arguments.threads, arguments.rounds));
    if (!report.layers.empty()) print(layer_table(report));
    if (!report.beside.empty()) print(beside_table(report, arguments.beside));
    print(fmt::format("raw rounds: {}", recorder.file().string()));
    return kExitOk;
}

}  // namespace

void add_bench_step(CLI::App& bench, Context& context) {
    auto arguments = std::make_shared<BenchStepArguments>();
    CLI::App* step = bench.add_subcommand(
        "step", "Whole training steps, beside random-LTD, seqtru, the FMA peak and PyTorch, in interleaved rounds");
    step->add_option("--size", arguments->sizes,
                     "Which of the three standard models: 1, 2 or 3; all where none is named")
        ->check(CLI::Range(1, 3))
        ->allow_extra_args(false);
    step->add_option("--preset", arguments->presets,
                     "A model of experiments/presets instead, without dropout; may be given again")
        ->allow_extra_args(false);
    step->add_option("--batch", arguments->batch,
                     "Its samples a step (default: 4096 tokens of BERT's, 2048 of others; 32 images)")
        ->check(CLI::Range(1, 1 << 16));
    step->add_option("--vocab", arguments->vocab,
                     "Entries of its vocabulary (default: 30522 of BERT's, 8192 of others)")
        ->check(CLI::Range(6, 1 << 20));
    step->add_option("--sweep", arguments->sweep, "Train the model and batch of a sweep's trial instead");
    step->add_option("--case", arguments->sweep_recipe, "The sweep's recipe; the first where none is named");
    step->add_option("--scale", arguments->scale, "The sweep's scale")->capture_default_str();
    step->add_option("--set", arguments->overrides, "Lay a value over the sweep's recipe, as in model.width=256")
        ->allow_extra_args(false);
    step->add_flag(
        "--padding", arguments->padding,
        "Time BERT's models with padded samples too, beside packed ones, and with as many tokens without padding");
    step->add_option("--beside", arguments->beside, "Time the baseline's step beside that many competing processes too")
        ->check(CLI::Range(0, 1024));
    add_threads(*step, arguments->threads);
    add_rounds(*step, arguments->rounds);
    step->add_option("--pytorch", arguments->pythons,
                     "A Python with torch, timed in the same rounds; may be given again")
        ->allow_extra_args(false);
    step->add_option("--isa", arguments->isa, "The widest vectors that libraries may use: native, or avx2")
        ->capture_default_str()
        ->check(CLI::IsMember({"native", "avx2"}));
    add_root(*step, arguments->root);
    step->callback([arguments, &context] { context.exit_code = run_bench_step(*arguments); });
}

}  // namespace deft::cli
