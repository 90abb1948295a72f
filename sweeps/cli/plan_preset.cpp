#include "sweeps/cli/plan_preset.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "experiments/preset_plan.h"
#include "experiments/size_limits.h"
#include "reporting/numbers.h"
#include "reporting/table.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/predicted_step.h"

namespace deft::cli {

namespace {

using experiments::PresetOnDevice;
using experiments::PresetPlan;
using reporting::Align;

// Buffers of one region and shape whose names differ in numbers alone: those of equal blocks.
struct BufferRow {
    engine::PlannedBuffer buffer;  // its name has stars for the numbers
    std::int64_t count = 0;
};

// "h.*.attn.c_attn.weight" of "h.11.attn.c_attn.weight".
std::string starred(const std::string& name) {
    std::string text;
    for (std::size_t at = 0; at < name.size();) {
        const std::size_t end = std::min(name.find('.', at), name.size());
        const std::string part = name.substr(at, end - at);
        const bool is_number = !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
        text += (at > 0 ? "." : "") + (is_number ? "*" : part);
        at = end + 1;
    }
    return text;
}

// In the order of their first buffers.
std::vector<BufferRow> buffer_rows(const std::vector<engine::PlannedBuffer>& buffers) {
    std::vector<BufferRow> rows;
    std::map<std::string, std::size_t> places;
    for (const engine::PlannedBuffer& buffer : buffers) {
        const std::string name = starred(buffer.name);
        const std::string key =
            fmt::format("{} {} {}", engine::region_name(buffer.region), name, buffer.shape.shape_text());
        const auto [place, is_new] = places.emplace(key, rows.size());
        if (is_new) rows.push_back({{buffer.region, name, buffer.shape, buffer.bytes}, 0});
        ++rows[place->second].count;
    }
    return rows;
}

std::int64_t whole_tokens(const std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size() && value == std::floor(value);
    const auto most = static_cast<double>(experiments::kMostBudgetTokens);
    if (!whole || !(value >= 1 && value <= most))
        throw Error(ErrorKind::usage, fmt::format("--tokens {} is not a number of tokens from 1 to {:g}", text, most),
                    "write it as in --tokens 300e9");
    return static_cast<std::int64_t>(value);
}

// ---- the parts of the page -----------------------------------------------------------------------------------------

reporting::Table sizes_table(const PresetPlan& plan) {
    const engine::TransformerConfig& model = plan.model;
    reporting::Table table;
    table.caption = fmt::format("Preset {}: {} layers of width {}, {} heads, {} tokens a sample{}",
                                plan.settings.preset, model.layers(), model.width, model.heads(), model.max_seqlen,
                                model.vocab > 0 ? fmt::format(", a vocabulary of {}", model.vocab) : "");
    table.columns = {{"parameters"}, {"FLOPs a token"}, {"tokens"}, {"FLOPs"}, {"memory"}};
    const bool has_budget = plan.tokens > 0;
    const bool has_idle = plan.active_parameters != plan.parameters;
    if (has_idle) table.columns.insert(table.columns.begin() + 1, {"of them active"});
    std::vector<reporting::Cell> row = {std::to_string(plan.parameters)};
    if (has_idle) row.emplace_back(std::to_string(plan.active_parameters));
    const std::vector<reporting::Cell> rest = {reporting::si(plan.flops_per_token, "FLOP"),
                                               has_budget ? reporting::si(static_cast<double>(plan.tokens)) : "-",
                                               has_budget ? reporting::si(plan.flops(), "FLOP") : "-",
                                               reporting::binary_bytes(static_cast<double>(plan.memory.bytes))};
    row.insert(row.end(), rest.begin(), rest.end());
    table.rows.push_back(std::move(row));
    table.notes.push_back("A projection from sizes: nothing was allocated, trained or measured.");
    table.notes.push_back(
        "FLOPs a token: forward and backward, 6 a weight that it meets, and the products of attention; of a masked "
        "model"
        " those of the vocabulary by the share of tokens that are guessed.");
    if (has_idle)
        table.notes.push_back(
            "Active: those that one token meets, the experts that it takes among them; FLOPs follow them.");
    if (!has_budget)
        table.notes.push_back("No tokens, hours or cost: no paper's budget is known. Give one, as in --tokens 300e9.");
    else
        table.notes.push_back("Tokens: " + (plan.tokens_source.empty() ? "as asked for" : plan.tokens_source) + ".");
    return table;
}

reporting::Table buffer_table(const PresetPlan& plan) {
    const auto text = [](std::int64_t bytes) { return reporting::binary_bytes(static_cast<double>(bytes)); };
    reporting::Table table;
    table.caption = fmt::format("Memory of a training step on {}: {} in {}, with AdamW",
                                plan.settings.device == engine::Device::cuda ? "a GPU" : "the CPU",
                                plan.settings.micro_batch_size == 1
                                    ? "1 sample at once"
                                    : fmt::format("{} samples at once", plan.settings.micro_batch_size),
                                engine::dtype_name(plan.settings.dtype));
    table.columns = {{"region", Align::left}, {"buffer", Align::left}, {"shape", Align::left}, {"count"}, {"together"}};
    table.key_columns = 2;
    std::map<engine::Region, std::int64_t> regions;
    for (const BufferRow& row : buffer_rows(plan.memory.buffers)) {
        const std::int64_t bytes = row.count * row.buffer.bytes;
        regions[row.buffer.region] += bytes;
        table.rows.push_back({engine::region_name(row.buffer.region), row.buffer.name, row.buffer.shape.shape_text(),
                              std::to_string(row.count), text(bytes)});
    }
    for (const auto& [region, bytes] : regions)
        table.rows.push_back({engine::region_name(region), "total", "", "", text(bytes)});
    table.rows.push_back({"all", "total", "", "", text(plan.memory.bytes)});
    return table;
}

std::string utilisation_note(const PresetPlanArguments& arguments) {
    const std::string why = arguments.utilisation == kPublishedUtilisation
                                ? "what the published 260 hours of GPT-3 1.3B on 64 V100 come to, and assumed for "
                                  "every model and device here;"
                                  " --utilisation sets another"
                                : "as --utilisation says";
    return fmt::format("Hours: FLOPs / (devices x peak x {:g}). The last is a share of the peak, {}.",
                       arguments.utilisation, why);
}

// Sources of the card's rates where the table has one card, of all cards the rule alone.
void add_prediction_notes(reporting::Table& table, const PresetPlan& plan, const std::vector<PresetOnDevice>& rows) {
    table.notes.push_back(fmt::format(
        "Predicted, not measured: a step of {} on each device, with its update and nothing between devices, by a "
        "model of the card. Hours: tokens over predicted tokens/s. A larger --micro-batch shares the update.",
        plan.settings.micro_batch_size == 1 ? "1 sample" : fmt::format("{} samples", plan.settings.micro_batch_size)));
    std::set<std::string> lacks;
    for (const PresetOnDevice& row : rows)
        if (!row.predicted && lacks.insert(row.lacks_prediction).second)
            table.notes.push_back(fmt::format("No predicted step: {}.", row.lacks_prediction));
    if (rows.size() == 1 && rows.front().predicted) {
        for (std::string& note : prediction_notes(rows.front().predicted->card, plan.settings.dtype))
            table.notes.push_back(std::move(note));
        return;
    }
    table.notes.push_back(
        "Rates of predictions: those of the H100 and H200 in deft profile --predict; of other cards their data "
        "sheets' times the shares that an H200 measured of its own. --hardware NAME lists them with their sources.");
}

reporting::Table hardware_table(const PresetPlan& plan, const std::vector<PresetOnDevice>& rows,
                                const PresetPlanArguments& arguments) {
    reporting::Table table;
    table.caption = "Time and cost";
    table.columns = {{"hardware", Align::left}, {"devices"},         {"peak"}, {"memory"},
                     {"holds\nthe plan"},       {"hours"},           {"cost"}, {"predicted\na step"},
                     {"predicted\ntokens/s"},   {"predicted\nhours"}};
    bool any_cost = false;
    std::vector<std::string> without_peak;
    for (const PresetOnDevice& row : rows) {
        const experiments::Device& device = row.use.device;
        const double peak = row.use.peak_flops();
        if (peak == 0) without_peak.push_back(device.name);
        any_cost = any_cost || row.dollars;
        table.rows.push_back(
            {device.name, std::to_string(row.use.devices),
             peak > 0 ? fmt::format("{} {}", reporting::si(peak, "FLOP/s"), row.use.dtype) : "-",
             device.memory_bytes > 0 ? fmt::format("{:g} GB", static_cast<double>(device.memory_bytes) / 1e9) : "-",
             row.holds_memory ? (*row.holds_memory ? "yes" : "no") : "-",
             row.hours ? fmt::format("{:.1f}", *row.hours) : "-", row.dollars ? reporting::dollars(*row.dollars) : "-",
             row.predicted ? reporting::small_seconds(row.predicted->step_seconds) : "-",
             row.predicted ? reporting::si(row.predicted->tokens_per_second) : "-",
             row.predicted && row.predicted->hours ? fmt::format("{:.1f}", *row.predicted->hours) : "-"});
    }
    table.notes.push_back(utilisation_note(arguments));
    table.notes.push_back(
        "Peaks are dense, from the vendors' data sheets: experiments/hardware.toml. A plan in bf16 takes"
        " the first of a device, which may be of fp16. Memory: one device, nothing sharded over several.");
    for (const std::string& name : without_peak)
        table.notes.push_back(fmt::format("No hours of {}: no peak of it in {} is listed.", name,
                                          engine::dtype_name(plan.settings.dtype)));
    if (!any_cost && plan.tokens > 0)
        table.notes.push_back("No cost: no price is listed. Give yours, as in --hardware V100 --usd-per-hour 2.50.");
    if (any_cost && arguments.usd_per_hour)
        table.notes.push_back(
            fmt::format("Cost: devices x hours x ${:g}, as --usd-per-hour says.", *arguments.usd_per_hour));
    else
        for (const PresetOnDevice& row : rows)
            if (const auto& price = row.use.device.price; row.dollars && price)
                table.notes.push_back(fmt::format("Cost of {}: devices x hours x ${:g} ({}, {}).", row.use.device.name,
                                                  price->usd_per_hour, price->date, price->source));
    add_prediction_notes(table, plan, rows);
    return table;
}

// ---- JSON ----------------------------------------------------------------------------------------------------------

template <class Value>
Json value_or_null(const std::optional<Value>& value) {
    return value ? Json(*value) : Json();
}

Json prediction_json(const PresetOnDevice& row, engine::DType dtype) {
    if (!row.predicted) return {{"lacks", row.lacks_prediction}};
    Json json = prediction_sources(row.predicted->card, dtype);
    json.update({{"step_seconds", row.predicted->step_seconds},
                 {"tokens_per_second", row.predicted->tokens_per_second},
                 {"hours", value_or_null(row.predicted->hours)},
                 {"lacks", ""}});
    return json;
}

Json to_json(const PresetPlan& plan, const std::vector<PresetOnDevice>& hardware) {
    Json json = {{"schema", "deft-preset-plan/1"},
                 {"preset", plan.settings.preset},
                 {"vocab", plan.model.vocab},
                 {"seqlen", plan.model.max_seqlen},
                 {"parameters", plan.parameters},
                 {"active_parameters", plan.active_parameters},
                 {"flops_per_token", plan.flops_per_token},
                 {"tokens", plan.tokens > 0 ? Json(plan.tokens) : Json()},
                 {"tokens_source", plan.tokens_source.empty() ? Json() : Json(plan.tokens_source)},
                 {"flops", plan.tokens > 0 ? Json(plan.flops()) : Json()},
                 {"memory",
                  {{"device", engine::device_name(plan.settings.device)},
                   {"dtype", engine::dtype_name(plan.settings.dtype)},
                   {"micro_batch_size", plan.settings.micro_batch_size},
                   {"bytes", plan.memory.bytes},
                   {"buffers", Json::array()}}},
                 {"hardware", Json::array()}};
    for (const engine::PlannedBuffer& buffer : plan.memory.buffers)
        json["memory"]["buffers"].push_back({{"region", engine::region_name(buffer.region)},
                                             {"name", buffer.name},
                                             {"shape", buffer.shape.shape_text()},
                                             {"bytes", buffer.bytes}});
    for (const PresetOnDevice& row : hardware) {
        const experiments::DeviceUse& use = row.use;
        json["hardware"].push_back(
            {{"name", use.device.name},
             {"devices", use.devices},
             {"dtype", use.dtype.empty() ? Json() : Json(use.dtype)},
             {"peak_flops", use.peak_flops() > 0 ? Json(use.peak_flops()) : Json()},
             {"utilisation", use.utilisation},
             {"memory_bytes", use.device.memory_bytes > 0 ? Json(use.device.memory_bytes) : Json()},
             {"holds_memory", value_or_null(row.holds_memory)},
             {"hours", value_or_null(row.hours)},
             {"usd", value_or_null(row.dollars)},
             {"predicted", prediction_json(row, plan.settings.dtype)}});
    }
    return json;
}

}  // namespace

void PresetPlanArguments::add_to(CLI::App& command) {
    CLI::Option* by_name =
        command.add_option("--preset", preset,
                           "Plan a model of experiments/presets by itself, without a sweep: sizes, memory, time, cost");
    by_name->check([](const std::string& name) { return name.empty() ? std::string("needs a name") : std::string(); });
    for (const char* of_sweep : {"--scale", "--set", "--only", "--seeds", "--figures", "--draws", "--root",
                                 "--print-config", "--ranks", "--expert-ranks"})
        by_name->excludes(command.get_option(of_sweep));
    const auto add = [&](CLI::Option* option) { return option->needs(by_name); };
    command.add_option("--hardware", hardware,
                       "Predict steps on this device of experiments/hardware.toml (default: the sweep's device; with "
                       "--preset all devices)");
    add(command.add_option("--devices", devices, "With --preset: the number of devices side by side"))
        ->capture_default_str()
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}));
    add(command.add_option("--micro-batch", micro_batch, "With --preset: samples at once, which memory is planned for"))
        ->capture_default_str()
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1 << 16}));
    add(command.add_option("--tokens", tokens,
                           "With --preset: the training tokens, as in 300e9 (default: the paper's)"));
    add(command.add_option("--vocab", vocab, "With --preset: entries of the vocabulary (default: the paper's)"))
        ->check(CLI::Range(std::int64_t{6}, experiments::kMostVocab));
    add(command.add_option("--dtype", dtype, "With --preset: f32, or bf16 on a GPU (default: bf16; f32 on cpu cores)"))
        ->check(CLI::IsMember({"f32", "bf16"}));
    add(command.add_option("--utilisation", utilisation,
                           "With --preset: the share of a device's peak that training is assumed to reach"))
        ->capture_default_str();
    add(command.add_option("--usd-per-hour", usd_per_hour, "With --hardware: the price of one device an hour"))
        ->needs(command.get_option("--hardware"));
}

void print_preset_plan(const PresetPlanArguments& arguments, bool every_buffer, bool json) {
    if (!(arguments.utilisation > 0 && arguments.utilisation <= 1))
        throw Error(ErrorKind::usage, fmt::format("--utilisation {:g} is not a share of a peak", arguments.utilisation),
                    "give one above 0 and at most 1");
    if (arguments.usd_per_hour && !(*arguments.usd_per_hour >= 0 && *arguments.usd_per_hour < 1e6))
        throw Error(ErrorKind::usage, fmt::format("--usd-per-hour {:g} is not a price", *arguments.usd_per_hour),
                    "give one from 0 to below 1e6");
    const std::vector<experiments::Device> devices =
        arguments.hardware.empty() ? experiments::load_devices()
                                   : std::vector{experiments::device_named(arguments.hardware, {})};
    // The listed devices of a vendor are GPUs; cores are anybody's.
    const bool on_gpu = std::any_of(devices.begin(), devices.end(),
                                    [](const experiments::Device& device) { return device.vendor == "NVIDIA"; });
    experiments::PresetPlanSettings settings{arguments.preset};
    settings.device = on_gpu ? engine::Device::cuda : engine::Device::cpu;
    settings.dtype =
        arguments.dtype == "bf16" || (arguments.dtype.empty() && on_gpu) ? engine::DType::bf16 : engine::DType::f32;
    settings.micro_batch_size = arguments.micro_batch;
    if (!arguments.tokens.empty()) settings.tokens = whole_tokens(arguments.tokens);
    settings.vocab = arguments.vocab;
    const PresetPlan plan = experiments::plan_preset(settings);
    std::vector<PresetOnDevice> rows;
    for (const experiments::Device& device : devices)
        rows.push_back(experiments::plan_on_device(
            plan, experiments::use_of(device, settings.dtype, arguments.devices, arguments.utilisation),
            arguments.usd_per_hour));
    experiments::add_predictions(rows, plan);
    if (json) return print_exact(to_json(plan, rows).dump(2));
    print(sizes_table(plan));
    print("\n" + reporting::render_terminal(hardware_table(plan, rows, arguments), output_width()));
    print("\n" + reporting::render_terminal(buffer_table(plan), output_width()));
    if (every_buffer) print("\n" + table_of(plan.memory));
}

}  // namespace deft::cli
