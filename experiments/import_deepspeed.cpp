#include "experiments/import_deepspeed.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/json.h"
#include "base/suggestion.h"
#include "experiments/choices.h"
#include "experiments/import_deepspeed_curriculum.h"
#include "experiments/json_reader.h"
#include "experiments/lenient_json.h"

namespace deft::experiments {

namespace {

using What = ImportNote::What;
using Notes = std::vector<ImportNote>;

// Top-level keys of a DeepSpeed file whose equivalents are elsewhere in ours.
const std::map<std::string, std::string>& keys_outside() {
    static const std::map<std::string, std::string> kOutside = {
        {"train_batch_size", "train.batch_size"},
        {"train_micro_batch_size_per_gpu", "train.micro_batch_size"},
        {"gradient_accumulation_steps", "train.batch_size / train.micro_batch_size"},
        {"gradient_clipping", "train.max_grad_norm"},
        {"optimizer", "train.optimizer, learning_rate, weight_decay, beta1, beta2, eps and momentum"},
        {"scheduler", "train.decay, and train.warmup_steps, warmup_tokens or warmup_share"},
        {"fp16", "train.dtype, which is f32 or bf16"},
        {"bf16", "train.dtype"},
        {"steps_per_print", "log_every"},
    };
    return kOutside;
}

void note_outer_enabled(JsonReader& section, bool inner, Notes& notes) {
    bool enabled = false;
    section.optional("enabled", enabled);
    if (enabled != inner)
        notes.push_back(
            {section.name("enabled"), What::defect,
             fmt::format("is {}, and theirs never asks: the inner enabled decides there, and decided here", enabled)});
    else
        notes.push_back({section.name("enabled"), What::ignored, "the inner enabled decides, there and here"});
}

// data_sampling.dynamic_batching
std::string variable_batch_toml(JsonReader section, bool curriculum, Notes& notes) {
    bool enabled = false, verbose = false;
    section.optional("enabled", enabled);
    std::int64_t max_tokens = 0, least = 1, most = 0;
    if (enabled || section.has("max_tokens")) max_tokens = section.required<std::int64_t>("max_tokens");
    section.optional("min_batch_size", least);
    section.optional("max_batch_size", most);
    std::string scaling = "linear", order, misspelt, path;
    section.optional("lr_scaling_method", scaling);
    if (!value_named<engine::LearningRateScaling>(scaling))
        section.refuse("lr_scaling_method", fmt::format("is {}", Json(scaling).dump(-1, ' ', true)),
                       suggestion(scaling, names_of<engine::LearningRateScaling>()));
    section.optional("sequence_picking_order", order);
    section.optional("sentence_picking_order", misspelt);
    section.optional("metrics_path", path);
    section.optional("verbose", verbose);
    if (!order.empty())
        notes.push_back({section.name("sequence_picking_order"), What::ignored,
                         "the sampler orders the samples; what is difficult comes later by a curriculum"});
    if (!misspelt.empty())
        notes.push_back(
            {section.name("sentence_picking_order"), What::defect,
             "their documentation writes it so, and their code reads sequence_picking_order: theirs ignores "
             "it silently, and ours has no such key"});
    if (!path.empty())
        notes.push_back({section.name("metrics_path"), What::ignored, "ours knows the length of every sample"});
    if (section.has("verbose")) notes.push_back({section.name("verbose"), What::ignored, "prints only"});
    if (curriculum && enabled)
        notes.push_back(
            {section.name("enabled"), What::changed,
             "theirs does not combine it with curriculum learning; ours sizes a batch by its step's length"});
    note_unread(section, notes);
    if (max_tokens == 0 && !enabled) return {};
    if (max_tokens < 1) section.refuse("max_tokens", fmt::format("is {}, and must be at least 1", max_tokens));
    if (least < 1) section.refuse("min_batch_size", fmt::format("is {}, and must be at least 1", least));
    if (most < 0 || (most > 0 && most < least))
        section.refuse("max_batch_size", fmt::format("is {}, with min_batch_size = {}", most, least));
    std::string toml = fmt::format("\n[case.variable_batch]\nenabled = {}\n", enabled);
    toml += fmt::format("max_tokens = {}  # at least model.seqlen\nmin_batch_size = {}\n", max_tokens, least);
    if (most > 0) toml += fmt::format("max_batch_size = {}\n", most);
    return toml + fmt::format("learning_rate_scaling = \"{}\"  # from train.batch_size\n", scaling);
}

std::string sampling_toml(JsonReader section, std::optional<JsonReader> legacy, Notes& notes) {
    ImportedCurriculum curriculum;
    std::int64_t workers = 0, epochs = 0;
    bool pinned = false;
    if (std::optional<JsonReader> learning = section.section("curriculum_learning"))
        curriculum = import_curriculum(*learning, notes);
    if (legacy) import_legacy_curriculum(*legacy, curriculum, notes);
    std::string toml = curriculum_toml(curriculum);
    bool dynamic = false;
    if (std::optional<JsonReader> batching = section.section("dynamic_batching")) {
        JsonReader(*batching).optional("enabled", dynamic);
        toml += variable_batch_toml(*batching, curriculum.enabled, notes);
    }
    if (section.has("enabled")) note_outer_enabled(section, curriculum.enabled || dynamic, notes);
    section.optional("num_epochs", epochs);
    section.optional("num_workers", workers);
    section.optional("pin_memory", pinned);
    if (section.has("num_epochs"))
        notes.push_back({section.name("num_epochs"), What::ignored, "a recipe ends at train.budget_tokens"});
    if (workers > 0)
        notes.push_back(
            {section.name("num_workers"), What::defect,
             "theirs reads ahead: samples are cut to a later step's length, and a checkpoint counts samples "
             "that were never trained on; ours reads no step ahead of its own"});
    else if (section.has("num_workers"))
        notes.push_back({section.name("num_workers"), What::ignored, "ours has no loader processes"});
    if (section.has("pin_memory"))
        notes.push_back({section.name("pin_memory"), What::ignored, "ours has no loader processes"});
    note_unread(section, notes);
    return toml;
}

// random_ltd_layer_id, ascending and once each. Nothing named: the default, all but the first and last.
std::string layers_line(JsonReader& section, Notes& notes) {
    std::vector<std::int64_t> layers;
    std::int64_t total = 0, count = 0;
    section.optional("random_ltd_layer_id", layers);
    section.optional("total_layer_num", total);
    section.optional("random_ltd_layer_num", count);
    if (section.has("random_ltd_layer_num") && count != static_cast<std::int64_t>(layers.size()))
        notes.push_back(
            {section.name("random_ltd_layer_num"), What::defect,
             fmt::format("is {}, and random_ltd_layer_id names {}: theirs draws for the number and routes the "
                         "named; ours takes the named",
                         count, layers.size())});
    if (!std::is_sorted(layers.begin(), layers.end(), std::less_equal<>())) {
        notes.push_back({section.name("random_ltd_layer_id"), What::changed, "sorted, each layer once"});
        std::sort(layers.begin(), layers.end());
        layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
    }
    if (layers.empty()) return {};
    if (layers.front() < 0 || (total > 0 && layers.back() >= total))
        section.refuse("random_ltd_layer_id", fmt::format("names layer {}, of {} from 0",
                                                          layers.front() < 0 ? layers.front() : layers.back(), total));
    std::string needs = fmt::format("  # model.layers must be above {}\n", layers.back());
    if (total > 0) needs = fmt::format("  # of model.layers = {}\n", total);
    const bool run = layers.back() - layers.front() + 1 == static_cast<std::int64_t>(layers.size());
    if (run && layers.size() > 1) return fmt::format("layers = \"{}-{}\"{}", layers.front(), layers.back(), needs);
    return fmt::format("layers = [{}]{}", fmt::join(layers, ", "), needs);
}

void note_model_keys(JsonReader& section, Notes& notes) {
    std::string text;
    for (const char* key : {"model_mask_name", "model_type", "hidden_state_order"}) {
        section.optional(key, text);
        if (section.has(key)) notes.push_back({section.name(key), What::ignored, "ours routes its own blocks"});
    }
    if (std::optional<JsonReader> rate = section.section("layer_token_lr_schedule")) {
        bool enabled = false;
        rate->optional("enabled", enabled);
        std::int64_t tokens = 0;
        rate->optional("total_layer_tokens", tokens);
        rate->optional("warmup_type", text);
        rate->optional("warmup_layer_tokens", tokens);
        notes.push_back({rate->name("enabled"), enabled ? What::defect : What::ignored,
                         std::string(enabled ? "theirs raises NotImplementedError; " : "") +
                             "ours always counts layer-averaged tokens: see train.warmup_tokens or warmup_share, and "
                             "train.decay_tokens"});
        note_unread(*rate, notes);
    }
}

// data_routing.random_ltd
std::string random_ltd_toml(JsonReader section, bool enabled, Notes& notes) {
    note_model_keys(section, notes);
    const std::string layers = layers_line(section, notes);
    std::optional<JsonReader> schedule = section.section("random_ltd_schedule");
    if (!schedule) {
        if (enabled) section.refuse("random_ltd_schedule", "is needed");
        note_unread(section, notes);
        return {};
    }
    auto least = schedule->required<std::int64_t>("min_value");
    const auto most = schedule->required<std::int64_t>("max_value");
    if (least < 1 || least > most)
        schedule->refuse("min_value", fmt::format("is {}, with max_value = {}", least, most));
    const auto type = schedule->required<std::string>("schedule_type");
    if (type != "fixed_linear")
        schedule->refuse("schedule_type", fmt::format("is {}", Json(type).dump(-1, ' ', true)),
                         "theirs knows fixed_linear alone");
    JsonReader config = schedule->required_section("schedule_config");
    const auto steps = config.required<std::int64_t>("require_steps"),
               step = config.required<std::int64_t>("seq_per_step");
    if (steps < 1) config.refuse("require_steps", "must be at least 1");
    if (step < 1) config.refuse("seq_per_step", "must be at least 1");
    if (least % step != 0 || most % step != 0)
        notes.push_back(
            {schedule->name(least % step != 0 ? "min_value" : "max_value"), What::changed,
             fmt::format("is not a multiple of {}: theirs goes below min_value and reaches max_value late; ours "
                         "begins at min and is at max at require_steps",
                         step)});
    for (const JsonReader* read : {&section, &*schedule, &config}) note_unread(*read, notes);
    return fmt::format(
        "\n[case.random_ltd]\nenabled = {}\nmin = {}\nmax = {}  # model.seqlen must be this\nstep = {}\n"
        "pacing = \"linear\"\nsteps = {}  # or duration, a fraction of the baseline's steps at this budget\n{}",
        enabled, least, most, step, steps, layers);
}

std::string routing_toml(JsonReader section, Notes& notes) {
    std::string toml;
    bool enabled = false;
    if (std::optional<JsonReader> random_ltd = section.section("random_ltd")) {
        random_ltd->optional("enabled", enabled);
        toml = random_ltd_toml(*random_ltd, enabled, notes);
    }
    if (section.has("enabled")) note_outer_enabled(section, enabled, notes);
    note_unread(section, notes);
    return toml;
}

void note_outside(const JsonReader& root, Notes& notes) {
    for (const std::string& key : root.unread()) {
        const auto ours = keys_outside().find(key);
        const std::string meant = did_you_mean(key, root.known());
        notes.push_back({root.name(key), What::outside,
                         ours != keys_outside().end() ? "here it is " + ours->second
                         : !meant.empty()             ? fmt::format("did you mean {}?", meant)
                                                      : std::string("no part of data efficiency")});
    }
}

}  // namespace

const char* text_of(What what) {
    switch (what) {
        case What::ignored:
            return "ignored";
        case What::not_converted:
            return "not converted";
        case What::changed:
            return "changed";
        case What::defect:
            return "known defect";
        case What::unknown:
            return "unknown";
        case What::outside:
            return "outside this section";
    }
    return "?";
}

DeepSpeedImport import_deepspeed(const std::string& json, const std::string& file) {
    std::string problem;
    const Json parsed = try_parse_object(without_comments(json), problem), empty = Json::object();
    if (parsed.is_discarded())
        throw Error(ErrorKind::config, Place{file, 0, 0}, problem,
                    "give the file that deepspeed --deepspeed_config takes", "nothing was written");
    JsonReader root(parsed, "", file);
    DeepSpeedImport result;
    std::optional<JsonReader> efficiency = root.section("data_efficiency");
    const std::optional<JsonReader> legacy = root.section("curriculum_learning");
    if (!efficiency && !legacy)
        root.refuse("data_efficiency", "is not there",
                    suggestion("", {}, "name a file with that section, or with curriculum_learning"));
    JsonReader section = efficiency ? *efficiency : JsonReader(empty, "data_efficiency", file);
    std::optional<JsonReader> sampling = section.section("data_sampling"), routing = section.section("data_routing");
    std::string body = sampling_toml(sampling ? *sampling : JsonReader(empty, section.name("data_sampling"), file),
                                     legacy, result.notes);
    if (routing) body += routing_toml(*routing, result.notes);
    bool enabled = false;
    std::int64_t seed = 0;
    section.optional("enabled", enabled);
    section.optional("seed", seed);
    if (section.has("enabled"))
        result.notes.push_back({section.name("enabled"), What::ignored, "the enabled of each technique decides here"});
    if (section.has("seed"))
        result.notes.push_back({section.name("seed"), What::changed,
                                "seeds is a key of the sweep; theirs does not restore the sampler's draws when it "
                                "resumes, and ours draws as a function of the seed and the step"});
    note_unread(section, result.notes);
    note_outside(root, result.notes);
    result.toml =
        "# From a DeepSpeed configuration: a recipe to put into a sweep whose [defaults] hold the model, data and "
        "budget.\n"
        "# Steps are optimizer steps at train.batch_size.\n"
        "[[case]]\nname = \"from_deepspeed\"\n" +
        body;
    return result;
}

}  // namespace deft::experiments
