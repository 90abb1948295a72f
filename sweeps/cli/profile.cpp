// deft profile: the time of each op of a training step, measured here or predicted for a GPU.

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/usable_machine.h"
#include "engine/bench/profile.h"
#include "engine/bench/step.h"
#include "engine/bench/step_model.h"
#include "experiments/datasets/dataset.h"
#include "experiments/engine_config.h"
#include "experiments/size_limits.h"
#include "kernels/bench/cuda_peaks.h"
#include "kernels/bench/run_benchmarks.h"
#include "reporting/numbers.h"
#include "reporting/table.h"
#include "reporting/views/page/roofline_page.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/predicted_step.h"
#include "sweeps/cli/product_paths.h"
#include "sweeps/driver/provenance.h"
#include "sweeps/gate/bench_noise.h"
#include "sweeps/gate/preset_steps.h"
#include "sweeps/gate/rooflines.h"

namespace deft::cli {

namespace {

constexpr int kGpt2 = 4;  // --size

struct ProfileArguments {
    SpecArguments spec;
    std::string preset;  // empty: --size
    int size = 1;
    int steps = 5;
    std::int64_t step = 1, batch = 0;  // 0: the model's own
    int threads = usable_cores();
    std::int64_t vocab = 0;              // 0: the preset's in deft bench step
    std::string backend = "cpu", dtype;  // dtype: empty: f32 of a measured step, bf16 of a predicted one
    std::string card;                    // for predictions; empty: the GPU in use, if the model knows it
    bool predict = false;                // measure nothing
    std::string root = sweeps::kDefaultRoot, trace, json, html;
};

engine::DType dtype_of(const ProfileArguments& arguments) {
    const bool is_bf16 = arguments.dtype.empty() ? arguments.predict : arguments.dtype == "bf16";
    return is_bf16 ? engine::DType::bf16 : engine::DType::f32;
}

engine::Backend backend_of(const ProfileArguments& arguments) {
    return {arguments.backend == "cuda" ? engine::Device::cuda : engine::Device::cpu, dtype_of(arguments),
            arguments.threads};
}

struct Profiled {
    std::string name;
    engine::StepProfile profile;
};

// Describes the model of --preset or --size.
engine::StepBench chosen_bench(const ProfileArguments& arguments) {
    if (!arguments.preset.empty()) return sweeps::preset_step(arguments.preset, arguments.batch, arguments.vocab);
    engine::StepBench bench = arguments.size == kGpt2
                                  ? engine::gpt2_124m_bench(16)
                                  : engine::standard_step_benches().at(static_cast<std::size_t>(arguments.size - 1));
    if (arguments.batch != 0) bench.batch_size = arguments.batch;
    return bench;
}

std::string name_of(const engine::StepBench& bench, const ProfileArguments& arguments) {
    const auto& m = bench.model;
    const std::string outputs =
        m.head ? fmt::format("vocabulary {}", m.vocab) : fmt::format("classes {}", m.class_head->classes);
    const std::string sizes = fmt::format("layers {}, width {}, heads {}, {}, length {}, batch {}", m.layers(), m.width,
                                          m.heads(), outputs, m.max_seqlen, bench.batch_size);
    return arguments.preset.empty() ? sizes : fmt::format("{} ({})", arguments.preset, sizes);
}

Profiled of_model(const ProfileArguments& arguments) {
    const engine::StepBench bench = chosen_bench(arguments);
    const engine::TrainerConfig settings = engine::trainer_config_of(bench);
    const std::string name = name_of(bench, arguments);
    sweeps::require_memory("a step of " + name, {settings}, backend_of(arguments));
    engine::Trainer trainer(settings, engine::random_training_data(bench), backend_of(arguments));
    return {name, engine::profile_steps(trainer, arguments.steps)};
}

struct SweepTrial {
    std::string name;
    engine::TrainerConfig settings;
    engine::TrainingData data;
};

SweepTrial trial_of_sweep(const ProfileArguments& arguments) {
    const sweeps::Trial trial = arguments.spec.first_trial();
    const experiments::TrialConfig& config = trial.config;
    const experiments::Dataset dataset = experiments::load_dataset(config.data, config.model.seqlen, config.base_folder,
                                                                   sweeps::data_folder(arguments.root));
    print_note(dataset.note);
    engine::TrainerConfig settings = experiments::trainer_config(config);
    experiments::add_curriculum(settings, config, dataset);
    return {trial.name(), std::move(settings), dataset.train};
}

Profiled of_sweep(const ProfileArguments& arguments) {
    const SweepTrial trial = trial_of_sweep(arguments);
    engine::Trainer trainer(trial.settings, trial.data, backend_of(arguments));
    const std::int64_t before = arguments.step - 1 - engine::kProfileWarmUpSteps;
    for (std::int64_t done = 0; done < before && !trainer.done(); ++done) trainer.step();
    return {trial.name, engine::profile_steps(trainer, arguments.steps)};
}

PredictedTrial predicted_trial(const ProfileArguments& arguments) {
    const engine::DType dtype = dtype_of(arguments);
    if (!arguments.spec.file.empty()) {
        const SweepTrial trial = trial_of_sweep(arguments);
        return {trial.name, engine::record_step(trial.settings, trial.data, dtype, arguments.step), dtype};
    }
    const engine::StepBench bench = chosen_bench(arguments);
    const engine::TrainerConfig settings = engine::trainer_config_of(bench);
    const engine::TrainingData data = engine::random_training_data(bench);
    return {name_of(bench, arguments), engine::record_step(settings, data, dtype, arguments.step), dtype,
            engine::tokens_of_step(settings, data), engine::step_flops(settings)};
}

int run_prediction(const ProfileArguments& arguments) {
    const engine::CardModel& card = engine::card_model(arguments.card);
    const PredictedTrial trial = predicted_trial(arguments);
    print(predicted_table(trial, card));
    if (!arguments.json.empty())
        write_file_atomically(arguments.json, json_text(predicted_json(trial, card), 2) + "\n");
    return kExitOk;
}

std::string percent(double part, double whole) {
    return fmt::format("{:.1f}%", 100 * part / whole);
}

// The highest rates of the device, measured in this run.
struct DevicePeaks {
    double flops = 0, bytes = 0;         // a second
    std::string flops_name, device;      // "AVX2 FMA"; "NVIDIA H200", empty for the CPU
    std::vector<reporting::Roof> roofs;  // the same and others, for the picture
};

DevicePeaks measured_peaks(const ProfileArguments& arguments) {
    if (arguments.backend == "cuda") {
        kernels::Peaks peaks;
        peaks.device = kernels::measure_cuda_peaks();
        const bool is_bf16 = dtype_of(arguments) == engine::DType::bf16;
        return {is_bf16 ? peaks.device->bf16_flops : peaks.device->f32_flops, peaks.device->best(),
                fmt::format("a large product in {}", engine::dtype_name(dtype_of(arguments))), peaks.device->device,
                sweeps::roofs_of(peaks, is_bf16 ? kernels::kCudaBf16 : kernels::kCudaF32)};
    }
    const kernels::Peaks peaks = kernels::measure_peaks(arguments.threads);
    return {peaks.fma.widest(), peaks.memory.best(), fmt::format("{} FMA", peaks.fma.widest_name()), "",
            sweeps::roofs_of(peaks, kernels::kCpu)};
}

// The GPU of predictions beside measured times; null if the model does not know it.
const engine::CardModel* chosen_card(const ProfileArguments& arguments, const DevicePeaks& peaks) {
    if (!arguments.card.empty()) return &engine::card_model(arguments.card);
    return engine::find_card_model(peaks.device);
}

Json to_json(const Profiled& profiled, const DevicePeaks& peaks, const ProfileArguments& arguments) {
    const results_db::Code code = sweeps::describe_code();
    const engine::StepProfile& profile = profiled.profile;
    Json json = {{"schema", "deft-profile/1"},
                 {"commit", code.git_sha},
                 {"dirty", code.dirty},
                 {"host", sweeps::host_json(sweeps::describe_host())},
                 {"what", profiled.name},
                 {"backend", arguments.backend},
                 {"dtype", engine::dtype_name(dtype_of(arguments))},
                 {"gpu", peaks.device},
                 {"step", profile.step},
                 {"steps", arguments.steps},
                 {"seconds", profile.seconds},
                 {"seconds_outside_ops", profile.outside_ops},
                 {"peaks", {{"flops", peaks.flops}, {"bytes", peaks.bytes}}},
                 {"ops", Json::array()}};
    if (!peaks.device.empty()) {
        json.update(product_paths_json(engine::products_of(profile)));
        json["plans"] = plan_counts_json(profile.plans);
    }
    for (const engine::ProfiledOp& op : profile.ops)
        json["ops"].push_back({{"phase", engine::phase_name(op.phase)},
                               {"op", op.op},
                               {"first_output", op.shape},
                               {"calls", op.calls},
                               {"seconds", op.seconds},
                               {"predicted_seconds", Json()},
                               {"flops", op.flops},
                               {"bytes", op.bytes},
                               {"products", product_paths_json(op.products).at("products")}});
    json["predicted_seconds"] = Json();
    if (const engine::CardModel* card = chosen_card(arguments, peaks)) {
        const engine::PredictedStep step = engine::predict_step(profile, *card, dtype_of(arguments));
        json["predicted_seconds"] = step.seconds;
        json["prediction"] = prediction_sources(*card, dtype_of(arguments));
        for (std::size_t i = 0; i < step.ops.size(); ++i) json["ops"][i]["predicted_seconds"] = step.ops[i];
    }
    return json;
}

// Predicted times beside the measured ones of ops, and their sum in a note.
void add_predictions(reporting::Table& table, const engine::StepProfile& profile, const engine::CardModel& card,
                     engine::DType dtype) {
    constexpr int kBehindTime = 5;
    const engine::PredictedStep step = engine::predict_step(profile, card, dtype);
    table.columns.insert(table.columns.begin() + kBehindTime, {"predicted"});
    for (std::size_t i = 0; i < table.rows.size(); ++i)
        table.rows[i].insert(table.rows[i].begin() + kBehindTime,
                             i < step.ops.size() ? reporting::small_seconds(step.ops[i]) : std::string("-"));
    table.notes.push_back(fmt::format("Predicted step: {}, measured step: {}.", reporting::small_seconds(step.seconds),
                                      reporting::small_seconds(profile.seconds)));
    for (std::string& note : prediction_notes(card, dtype)) table.notes.push_back(std::move(note));
}

void add_row(reporting::Table& table, const engine::ProfiledOp& op, double step_seconds, const DevicePeaks& peaks) {
    const auto rate = [&](double work) { return work > 0 ? reporting::si(work / op.seconds) : "-"; };
    const double least = std::max(op.flops / peaks.flops, op.bytes / peaks.bytes);
    table.rows.push_back({engine::phase_name(op.phase), op.op, op.shape, std::to_string(op.calls),
                          reporting::small_seconds(op.seconds), percent(op.seconds, step_seconds), rate(op.flops),
                          rate(op.bytes), percent(least, op.seconds)});
}

// The page has the notes of that table, too.
std::string roofline_page(const engine::StepProfile& profile, const DevicePeaks& peaks, const reporting::Table& table,
                          const std::string& where) {
    std::vector<std::string> notes = table.notes;
    notes.push_back(
        "The table of the terminal compares bytes with memory alone. Here an op whose bytes move faster than memory "
        "can "
        "is under the roof of the L2.");
    return reporting::render_roofline_page({"Roofline of a training step",
                                            table.caption + ".",
                                            {sweeps::profile_roofline(profile.ops, where, peaks.roofs)},
                                            notes});
}

int run_profile(const ProfileArguments& arguments) {
    using reporting::Align;
    for (const std::string& file : {arguments.json, arguments.trace, arguments.html}) require_folder_of(file);
    if (!arguments.card.empty()) engine::card_model(arguments.card);  // rejects an unknown name before timing
    if (arguments.predict) return run_prediction(arguments);
    const Profiled profiled = arguments.spec.file.empty() ? of_model(arguments) : of_sweep(arguments);
    const auto& [name, profile] = profiled;
    const DevicePeaks peaks = measured_peaks(arguments);
    reporting::Table table;
    const std::string where = peaks.device.empty()
                                  ? fmt::format("{} thread(s)", arguments.threads)
                                  : fmt::format("{} on {}", engine::dtype_name(dtype_of(arguments)), peaks.device);
    table.caption = fmt::format("Training step {} of {}: {}, {}, the median of {} steps by time", profile.step, name,
                                reporting::small_seconds(profile.seconds), where, arguments.steps);
    table.columns = {{"phase", Align::left},
                     {"op", Align::left},
                     {"first output", Align::left},
                     {"calls"},
                     {"time"},
                     {"of step"},
                     {"FLOP/s"},
                     {"B/s"},
                     {"of roofline"}};
    double phase_seconds[3] = {};
    for (const engine::ProfiledOp& op : profile.ops) {
        add_row(table, op, profile.seconds, peaks);
        phase_seconds[static_cast<int>(op.phase)] += op.seconds;
    }
    table.rows.push_back({"-", "no op", "", "-", reporting::small_seconds(profile.outside_ops),
                          percent(profile.outside_ops, profile.seconds), "-", "-", "-"});
    table.notes.push_back(
        fmt::format("forward {}, backward {}, update {} of the step. head_loss_train belongs to both and counts "
                    "as backward. No op: sampling, copying samples and calling ops.",
                    percent(phase_seconds[0], profile.seconds), percent(phase_seconds[1], profile.seconds),
                    percent(phase_seconds[2], profile.seconds)));
    table.notes.push_back(
        fmt::format("Roofline: the longer of FLOPs at {} ({}) and bytes at {} (memory), both measured "
                    "in this run. Above 100% if a cache held the operands.",
                    reporting::si(peaks.flops, "FLOP/s"), peaks.flops_name, reporting::si(peaks.bytes, "B/s")));
    if (!peaks.device.empty())
        table.notes.push_back("Device times, by events around each op. No op: the device idles between ops.");
    if (!peaks.device.empty())
        table.notes.push_back(
            fmt::format("Plans of products so far: {} look-ups, {} searches of the library, {} algorithms from "
                        "{}, {} rejected.",
                        profile.plans.lookups, profile.plans.searches, profile.plans.tuned,
                        kernels::cuda::kProductTableVariable, profile.plans.refused));
    if (const std::string line = fallback_note(engine::products_of(profile)); !line.empty())
        table.notes.push_back(line + ".");
    if (const engine::CardModel* card = chosen_card(arguments, peaks))
        add_predictions(table, profile, *card, dtype_of(arguments));
    if (std::string note = sweeps::step_noise_note(profile.steps); !note.empty())
        table.notes.push_back(std::move(note));
    print(table);
    if (!arguments.html.empty()) {
        write_file_atomically(arguments.html, roofline_page(profile, peaks, table, where));
        print(fmt::format("page: {}", arguments.html));
    }
    if (!peaks.device.empty()) print(product_paths_table(profile.ops));
    if (!arguments.json.empty())
        write_file_atomically(arguments.json, json_text(to_json(profiled, peaks, arguments), 2) + "\n");
    if (!arguments.trace.empty()) {
        write_file_atomically(arguments.trace, engine::chrome_trace(profile, name));
        print(fmt::format("trace for ui.perfetto.dev or chrome://tracing: {}", arguments.trace));
    }
    return kExitOk;
}

}  // namespace

void add_profile(CLI::App& app, Context& context) {
    auto arguments = std::make_shared<ProfileArguments>();
    CLI::App* command = app.add_subcommand(
        "profile",
        "Show the time of each op of a training step: of a sweep's first chosen trial, a preset or a standard model");
    arguments->spec.add_to(*command, false);
    CLI::Option* size =
        add_number(*command, "--size", arguments->size,
                   "Without a sweep: model 1, 2 or 3 of deft bench step, or 4: GPT-2 124M at length 1024", 1, kGpt2);
    CLI::Option* preset =
        command->add_option("--preset", arguments->preset,
                            "Without a sweep: a model of experiments/presets, trained as in deft bench step");
    preset->excludes(size);
    command->add_option("--batch", arguments->batch, "Samples per step (default: that of the model; 16 for GPT-2)")
        ->check(CLI::Range(1, 4096));
    command->add_option("--vocab", arguments->vocab, "Vocabulary size of the preset (default: as in deft bench step)")
        ->needs(preset)
        ->check(CLI::Range(std::int64_t{6}, experiments::kMostVocab));
    command->add_option("--backend", arguments->backend, "Where to train: cpu or cuda")
        ->capture_default_str()
        ->check(CLI::IsMember({"cpu", "cuda"}));
    command
        ->add_option("--dtype", arguments->dtype,
                     "Number format of activations: f32, or bf16 on cuda (default: f32; bf16 with --predict)")
        ->check(CLI::IsMember({"f32", "bf16"}));
    command
        ->add_option("--step", arguments->step,
                     "The first step to profile of a sweep's trial, after at least two warm-up steps")
        ->capture_default_str()
        ->check(at_least(1));
    add_number(*command, "--steps", arguments->steps, "Steps to profile", 1, 10000);
    add_threads(*command, arguments->threads);
    CLI::Option* card = command->add_option(
        "--card", arguments->card, "H100 or H200: also predict the step on this GPU (default: the GPU in use)");
    CLI::Option* predict =
        command->add_flag("--predict", arguments->predict, "Predict without measuring; requires --card, but no GPU");
    predict->needs(card);
    for (const char* of_measuring : {"--backend", "--steps", "--threads"})
        predict->excludes(command->get_option(of_measuring));
    predict->excludes(command->add_option("--trace", arguments->trace, "Write the step as a Chrome or Perfetto trace"));
    command->add_option("--json-file", arguments->json, "Also write the result to this file");
    predict->excludes(
        command->add_option("--html", arguments->html, "Write a page with the roofline of the ops to this file, too"));
    add_root(*command, arguments->root, "Folder of tokenized corpora");
    for (const char* of_sweep : {"sweep", "--scale", "--set", "--only", "--seeds", "--step", "--root"})
        preset->excludes(command->get_option(of_sweep));
    command->callback([arguments, &context] { context.exit_code = run_profile(*arguments); });
}

}  // namespace deft::cli
