#include "sweeps/spec/spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <set>

#include "base/date.h"
#include "base/files.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/suggestion.h"
#include "base/table_reader.h"
#include "sweeps/spec/imported_recipe.h"
#include "sweeps/spec/inherit.h"
#include "sweeps/spec/published_tables.h"
#include "sweeps/spec/rate_search.h"
#include "sweeps/spec/read_axes.h"
#include "sweeps/spec/read_recipes.h"
#include "sweeps/spec/slot_request.h"
#include "sweeps/spec/sweep_file.h"
#include "sweeps/spec/sweep_keys.h"

namespace deft::sweeps {

namespace {

using Kind = ConfigNode::Kind;

[[noreturn]] void refuse(const Place& place, const std::string& what, const std::string& fix = {}) {
    throw Error(ErrorKind::config, place, what, fix);
}

// The peak of that dtype; the device's first where `dtype` is empty.
std::string peak_dtype(const experiments::Device& device, const std::string& dtype, const Place& place) {
    if (dtype.empty()) return device.peaks.empty() ? "" : device.peaks.front().dtype;
    std::vector<std::string> known;
    for (const experiments::DevicePeak& peak : device.peaks) known.push_back(peak.dtype);
    if (device.find_peak(dtype) == nullptr)
        refuse(place, fmt::format("{} lists no peak FLOP/s for {}", device.name, dtype),
               known.empty() ? "drop resources.dtype" : suggestion(dtype, known));
    return dtype;
}

// device, devices, dtype, utilisation: what a plan counts hours for.
std::optional<experiments::DeviceUse> device_of(TableReader& reader, const ResourcesTable& table) {
    if (reader.optional_node("device") == nullptr) {
        for (const char* key : {"devices", "dtype", "utilisation", "fitted_on", "fitted_in"})
            if (reader.optional_node(key) != nullptr)
                reader.refuse(key, "requires resources.device", "name a device of experiments/hardware.toml");
        return {};
    }
    experiments::DeviceUse use;
    use.device = experiments::device_named(table.device, reader.place("device"));
    use.devices = table.devices;
    use.dtype = peak_dtype(use.device, table.dtype, reader.place("dtype"));
    use.utilisation = table.utilisation;
    if (reader.optional_node("utilisation") == nullptr && table.fitted_on.empty() && !use.device.peaks.empty())
        refuse(reader.place("device"),
               "resources.utilisation is missing: training reaches only a fraction of a device's peak",
               "set the fraction, as in utilisation = 0.34, or a recipe to fit it on, as in fitted_on = \"baseline\"");
    return use;
}

void require_published(const std::string& table, const Place& place) {
    const std::vector<std::string> known = published_tables();
    if (std::find(known.begin(), known.end(), table) == known.end())
        refuse(place, fmt::format("no published table is named {}", table), suggestion(table, known));
}

void read_resources(const ConfigNode& node, Spec& spec) {
    TableReader reader(node, "resources");
    if (const ConfigNode* slurm = reader.optional_node("slurm")) {
        TableReader of_slurm(*slurm, "resources.slurm");
        read_table(of_slurm, spec.slurm);
        require_valid(spec.slurm, reader.place("slurm"));
    }
    ResourcesTable table;
    read_table(reader, table);
    spec.device = device_of(reader, table);
    spec.fitted_on = table.fitted_on;
    spec.fitted_in = table.fitted_in;
    if (reader.optional_node("fitted_in") != nullptr) {
        if (spec.fitted_on.empty())
            reader.refuse("fitted_in", "requires resources.fitted_on", "name the recipe to fit on");
        require_published(spec.fitted_in, reader.place("fitted_in"));
    }
    spec.threads = static_cast<int>(table.threads);
    spec.slots = table.slots;
    spec.ranks = static_cast<int>(table.ranks);
    spec.ranks_per_node = static_cast<int>(table.ranks_per_node);
    spec.hostfile = table.hostfile;
    spec.agent = table.agent;
    if (spec.ranks_per_node > 0)
        require_ranks_per_node(spec.ranks, spec.ranks_per_node, reader.place("ranks_per_node"));
    parse_slots(spec.slots, reader.place("slots"));
}

std::int64_t date_to_ms(const std::string& text, const Place& place) {
    const auto date = parse_date(text);
    if (!date) refuse(place, fmt::format("'{}' is not a date", text), "write it as \"2025-01-31\"");
    if (is_future(*date))
        refuse(place, fmt::format("{} is in the future, so its price is unknown", text),
               "write the date on which the price was read");
    return std::chrono::duration_cast<std::chrono::milliseconds>(date->time_since_epoch()).count();
}

void read_price(const ConfigNode& node, Spec& spec) {
    TableReader reader(node, "price");
    PriceTable table;
    read_table(reader, table);
    if (table.sku.empty()) reader.refuse("sku", "is empty");
    results_db::Price price;
    price.sku = table.sku;
    price.usd_per_hour = table.usd_per_device_hour;
    price.source = table.source;
    price.date_ms = date_to_ms(table.date, reader.place("date"));
    spec.price = price;
}

void read_report(const ConfigNode& node, Spec& spec) {
    TableReader reader(node, "report");
    ReportTable table;
    read_table(reader, table);
    spec.paper = table.paper;
    require_published(spec.paper, reader.place("paper"));
}

void read_provenance(const ConfigNode& node, Spec& spec) {
    TableReader reader(node, "provenance");
    ProvenanceTable table;
    read_table(reader, table);
    spec.keeps_diff = table.diff;
}

// The first where none of them is trained in all stages.
std::string first_trained_recipe(const Spec& spec) {
    for (const Recipe& entry : spec.recipes)
        if (std::none_of(spec.stages.begin(), spec.stages.end(), [&](const Stage& stage) {
                ConfigNode tree = spec.defaults;
                merge(tree, stage.overlay);
                if (const ConfigNode* overlay = entry.overlay(stage.name)) merge(tree, *overlay);
                return is_imported(tree);
            }))
            return entry.name;
    return spec.recipes.front().name;
}

// Everything but the file's own bookkeeping; `root` is inherited and scaled.
Spec read_spec(const ConfigNode& root) {
    Spec spec;
    TableReader reader(root, "");
    const ConfigNode* resources = reader.optional_node("resources");
    const ConfigNode* price = reader.optional_node("price");
    const ConfigNode* report = reader.optional_node("report");
    const ConfigNode* provenance = reader.optional_node("provenance");
    const ConfigNode* defaults = reader.optional_node("defaults");
    const ConfigNode* axes = reader.optional_node("axes");
    const ConfigNode* stages = reader.optional_node("stage");
    const ConfigNode* recipes = reader.optional_node("case");
    const ConfigNode* exclusions = reader.optional_node("exclude");
    const ConfigNode* search = reader.optional_node("search");
    for (const std::string& key : trial_keys())
        if (root.find(key) != nullptr)
            refuse(reader.place(key.c_str()), fmt::format("unknown key {}", key),
                   root.find(key)->kind == Kind::table
                       ? fmt::format("write [defaults.{}], or [case.{}] of one recipe", key, key)
                       : fmt::format("write {} below [defaults]", key));
    reader.optional_node("scale");  // known, though it is taken already: named here for the suggestions
    read_table(reader, spec);
    require_name(spec.name, reader.place("name"), "the sweep's name");
    require_seeds(spec.seeds, reader.place("seeds"));

    if (resources != nullptr) read_resources(*resources, spec);
    if (price != nullptr) read_price(*price, spec);
    if (report != nullptr) read_report(*report, spec);
    if (provenance != nullptr) read_provenance(*provenance, spec);
    spec.defaults.place = root.place;
    if (defaults != nullptr) {
        TableReader tables(*defaults, "defaults");
        spec.defaults = take_trial_tables(tables, defaults->place);
        tables.finish();
    }
    spec.stages = read_stages(stages, axes);
    if (recipes == nullptr)
        refuse(Place{root.place.file, 0, 0}, "the sweep has no recipes", "write a [[case]] with a name");
    spec.recipes = read_recipes(*recipes, spec.stages);
    if (!spec.fitted_on.empty() && spec.find_recipe(spec.fitted_on) == nullptr)
        refuse(TableReader(*resources, "resources").place("fitted_on"),
               fmt::format("no recipe is named {}", spec.fitted_on),
               suggestion(spec.fitted_on, recipe_names(spec.recipes)));
    if (exclusions != nullptr) spec.exclusions = read_exclusions(*exclusions, spec);
    drop_disabled_stages(spec);
    if (search != nullptr) spec.search = read_search(*search, spec);
    if (spec.baseline.empty()) spec.baseline = first_trained_recipe(spec);
    if (spec.find_recipe(spec.baseline) == nullptr)
        refuse(reader.place("baseline"), fmt::format("the baseline {} is not a recipe", spec.baseline),
               suggestion(spec.baseline, recipe_names(spec.recipes)));
    return spec;
}

// "--set finetune.train.learning_rate=1e-4" is of that stage alone.
Override parse_override(const std::string& text, const std::vector<Stage>& stages) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        throw Error(ErrorKind::usage, fmt::format("--set {}: not of the form key=value", text),
                    "write it as in --set train.learning_rate=1e-3");
    try {
        static_cast<void>(Json(text).dump());
    } catch (const Json::exception&) {
        throw Error(ErrorKind::usage, "--set is not valid UTF-8");
    }
    Override change;
    change.path = text.substr(0, equals);
    const std::string first = change.path.substr(0, change.path.find('.'));
    if (std::any_of(stages.begin(), stages.end(), [&](const Stage& stage) { return stage.name == first; })) {
        change.stage = first;
        change.path.erase(0, std::min(change.path.size(), first.size() + 1));
    }
    const std::string table = change.path.substr(0, change.path.find('.'));
    const std::vector<std::string>& known = trial_keys();
    if (std::find(known.begin(), known.end(), table) == known.end())
        throw Error(ErrorKind::config,
                    fmt::format("--set {}: a trial has no {}", text, table.empty() ? "key without a name" : table),
                    suggestion(table, known));
    change.value = parse_toml_value(text.substr(equals + 1), Place{"--set " + text, 0, 0});
    return change;
}

// An override of an axis pins it; every other is laid over the recipes when trials are made.
void apply_overrides(const std::vector<std::string>& texts, Spec& spec) {
    for (const std::string& text : texts) {
        const Override change = parse_override(text, spec.stages);
        const std::size_t pinned = spec.pinned_axes.size();
        std::vector<Override> others;
        for (Stage& stage : spec.stages) {
            if (!change.concerns(stage)) continue;
            Override of_stage = change;
            of_stage.stage = stage.name;
            const bool is_axis = std::any_of(stage.axes.begin(), stage.axes.end(),
                                             [&](const Axis& axis) { return axis.path == change.path; });
            if (is_axis) pin(stage.axes, change.path, change.value);
            (is_axis ? spec.pinned_axes : others).push_back(std::move(of_stage));
        }
        // Laid over all of them, it is one change.
        if (spec.pinned_axes.size() == pinned) others = {change};
        for (Override& other : others) spec.overrides.push_back(std::move(other));
    }
}

// Notes on recipes that the file inherits, or that its scale omits.
void add_recipe_notes(const ConfigNode& unscaled, const std::filesystem::path& file, Spec& spec) {
    std::vector<std::string> inherited, left_out;
    bool has_own = false;
    for (const Recipe& entry : spec.recipes) {
        has_own = has_own || entry.place.file == file.string();
        if (entry.place.file != file.string()) inherited.push_back(entry.name);
    }
    if (has_own && !inherited.empty())
        spec.notes.push_back(
            fmt::format("Inherited from the files that {} extends: {}. To leave one out, write its name "
                        "and enabled = false in a [[case]].",
                        file.filename().string(), fmt::join(inherited, ", ")));
    const ConfigNode* recipes = unscaled.find("case");
    if (recipes == nullptr || spec.scale.empty()) return;
    for (const ConfigNode& entry : recipes->items) {
        const ConfigNode *name = entry.find("name"), *enabled = entry.find("enabled");
        const bool is_out = enabled != nullptr && enabled->kind == Kind::boolean && !enabled->boolean;
        if (name != nullptr && !is_out && spec.find_recipe(name->text) == nullptr) left_out.push_back(name->text);
    }
    if (!left_out.empty())
        spec.notes.push_back(
            fmt::format("Scale {} lists its own recipes, without {}.", spec.scale, fmt::join(left_out, ", ")));
}

Json identity(const ConfigNode& root, const Spec& spec, const SpecOptions& options) {
    Json tree = to_json(root);
    for (const char* key : {"title", "price", "resources", "report", "provenance"}) tree.erase(key);
    return {{"sweep", tree}, {"scale", spec.scale}, {"overrides", options.overrides}, {"seeds", spec.seeds}};
}

}  // namespace

std::string axis_name(const Stage& stage, const Axis& axis) {
    return stage.name.empty() ? axis.path : stage.name + "." + axis.path;
}

const ConfigNode* Recipe::overlay(const std::string& stage) const {
    const auto found = overlays.find(stage);
    return found == overlays.end() ? nullptr : &found->second;
}

bool Spec::is_started_from(const std::string& stage) const {
    return std::any_of(stages.begin(), stages.end(),
                       [&](const Stage& other) { return !other.from.empty() && other.from == stage; });
}

const Recipe* Spec::find_recipe(const std::string& recipe) const {
    for (const Recipe& entry : recipes)
        if (entry.name == recipe) return &entry;
    return nullptr;
}

Spec load_spec(const std::filesystem::path& given, const SpecOptions& options) {
    const std::filesystem::path file = sweep_file(given);
    if (!std::filesystem::exists(file)) {
        const std::string meant = nearest_sweep_file(file);
        throw Error(ErrorKind::usage, fmt::format("sweep file {} does not exist", file.string()),
                    meant.empty() ? "check the path" : fmt::format("did you mean {}?", meant));
    }
    if (!std::filesystem::is_regular_file(file))  // reading a pipe would wait
        throw Error(ErrorKind::usage, fmt::format("{} is not a regular file", file.string()),
                    "name a sweep file (.toml)");
    return spec_of_text(file, read_file(file), options);
}

Spec spec_of_text(const std::filesystem::path& file, const std::string& text, const SpecOptions& options) {
    auto [root, changes] = with_parents(file, text);
    root.place = Place{file.string(), 0, 0};

    // A mistake in a scale that is not asked for today is a mistake all the same.
    if (const ConfigNode* scales = root.find("scale"); scales != nullptr && scales->kind == Kind::table)
        for (const auto& [scale, overlay] : scales->children) {
            require_name(scale, overlay.place, "the scale's name");
            ConfigNode scaled = root;
            apply_scale(scaled, scale, false);
            read_spec(scaled);
        }

    const ConfigNode unscaled = root;
    const bool scaled = apply_scale(root, options.scale, options.scale == kDefaultScale);
    Spec spec = read_spec(root);
    spec.scale = scaled ? options.scale : "";
    spec.notes = change_notes(changes, options.scale);
    add_recipe_notes(unscaled, file, spec);
    spec.file = file;
    spec.text = text;
    if (options.seeds) {
        require_seeds(*options.seeds, Place{"--seeds", 0, 0});
        spec.seeds = *options.seeds;
    }
    apply_overrides(options.overrides, spec);
    require_searchable(spec);
    spec.sha256 = sha256(canonical_json(identity(root, spec, options)));
    return spec;
}

void require_recipes(const Spec& spec, const std::vector<std::string>& names) {
    for (const std::string& name : names)
        if (spec.find_recipe(name) == nullptr)
            throw Error(ErrorKind::usage, fmt::format("the sweep {} has no recipe {}", spec.name, name),
                        suggestion(name, recipe_names(spec.recipes)));
}

std::vector<std::int64_t> parse_seeds(const std::string& text) {
    const auto number = [&](std::string_view digits) {
        std::int64_t value = 0;
        const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size() || value < 0)
            throw Error(ErrorKind::usage, fmt::format("--seeds {}: neither a number nor a list", text),
                        "write 3 for the seeds 1 to 3, or a list as in 4,7");
        return value;
    };
    std::vector<std::int64_t> seeds;
    if (text.find(',') == std::string::npos) {
        const std::int64_t count = number(text);
        if (count < 1 || count > 10000)
            throw Error(ErrorKind::usage, fmt::format("--seeds {}: the count must be 1 to 10000", text));
        for (std::int64_t seed = 1; seed <= count; ++seed) seeds.push_back(seed);
        return seeds;
    }
    std::size_t start = 0;
    while (start <= text.size()) {
        const std::size_t end = std::min(text.find(',', start), text.size());
        if (end > start) seeds.push_back(number(std::string_view(text).substr(start, end - start)));
        start = end + 1;
    }
    return seeds;
}

}  // namespace deft::sweeps
