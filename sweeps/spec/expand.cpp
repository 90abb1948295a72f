#include "sweeps/spec/expand.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/sha256.h"
#include "results_db/trial_name.h"
#include "sweeps/spec/axis_combinations.h"
#include "sweeps/spec/imported_recipe.h"
#include "sweeps/spec/overruled.h"
#include "sweeps/spec/rate_search.h"
#include "sweeps/spec/sweep_keys.h"

namespace deft::sweeps {

namespace {

constexpr std::int64_t kMostTrials = 100'000;

// Without what --set lays over it.
ConfigNode merged_recipe(const Spec& spec, const Stage& stage, const Recipe& entry) {
    ConfigNode tree = spec.defaults;
    drop_overruled(tree, stage.overlay);
    merge(tree, stage.overlay);
    if (const ConfigNode* overlay = entry.overlay(stage.name)) {
        drop_overruled(tree, *overlay);
        merge(tree, *overlay);
    }
    return tree;
}

bool applies(const Override& change, const Stage& stage, const ConfigNode& tree) {
    return change.concerns(stage) && concerns(change.path, tree);
}

ConfigNode recipe_tree(const Spec& spec, const Stage& stage, const Recipe& entry) {
    ConfigNode tree = merged_recipe(spec, stage, entry), changes;
    for (const Override& change : spec.overrides)
        if (applies(change, stage, tree)) set_at_path(changes, change.path, change.value);
    drop_overruled(tree, changes);
    for (const Override& change : spec.overrides)
        if (applies(change, stage, tree)) set_at_path(tree, change.path, change.value);
    return tree;
}

// Trials are made one by one, each with its own schedule: a mistyped axis should not take hours to say so.
void require_countable(const Spec& spec) {
    double trials = 0;  // as a real number, which does not overflow
    const Axis* first = nullptr;
    std::map<std::string, std::map<std::string, double>> counts;  // of each stage and recipe
    for (const Stage& stage : spec.stages) {
        if (first == nullptr && !stage.axes.empty()) first = &stage.axes.front();
        for (const Recipe& entry : spec.recipes) {
            double of_recipe = static_cast<double>(stage.from.empty() ? spec.seeds.size()
                                                                      : std::max<std::size_t>(1, stage.seeds.size()));
            if (!stage.from.empty()) of_recipe *= counts[stage.from][entry.name];
            of_recipe *= most_combinations(stage, recipe_tree(spec, stage, entry));
            counts[stage.name][entry.name] = of_recipe;
            trials += of_recipe;
        }
    }
    if (trials > kMostTrials)
        throw Error(ErrorKind::config, first == nullptr ? Place{spec.file.string(), 0, 0} : first->place,
                    fmt::format("the sweep has {:.4g} trials; the maximum is {}", trials, kMostTrials),
                    "remove axis values or seeds", "nothing was planned");
}

bool excluded(const Spec& spec, const Stage& stage, const Recipe& entry, const Json& axes) {
    return std::any_of(spec.exclusions.begin(), spec.exclusions.end(), [&](const Exclusion& exclusion) {
        if (!exclusion.stage.empty() && exclusion.stage != stage.name) return false;
        if (!exclusion.recipe.empty() && exclusion.recipe != entry.name) return false;
        return std::all_of(exclusion.values.begin(), exclusion.values.end(), [&](const auto& condition) {
            const auto found = axes.find(condition.first);
            return found != axes.end() && *found == to_json(condition.second);
        });
    });
}

// Refuses an override that has no effect on any recipe.
void refuse_idle_overrides(const Spec& spec) {
    for (const Override& change : spec.overrides) {
        const bool used = std::any_of(spec.stages.begin(), spec.stages.end(), [&](const Stage& stage) {
            return std::any_of(spec.recipes.begin(), spec.recipes.end(), [&](const Recipe& entry) {
                return applies(change, stage, merged_recipe(spec, stage, entry));
            });
        });
        if (!used)
            throw Error(
                ErrorKind::config, change.value.place,
                fmt::format("no recipe of {} has [{}]", spec.name, change.path.substr(0, change.path.rfind('.'))));
    }
}

// Refuses an axis that has no effect on any recipe.
void refuse_idle_axes(const Spec& spec) {
    for (const Stage& stage : spec.stages) {
        std::set<const Axis*> used;
        for (const Recipe& entry : spec.recipes)
            for (const std::vector<AxisSetting>& combination : combinations(stage, recipe_tree(spec, stage, entry)))
                for (const AxisSetting& setting : combination) used.insert(setting.axis);
        for (const Axis& axis : stage.axes)
            if (!used.contains(&axis))
                throw Error(
                    ErrorKind::config, axis.place, fmt::format("axis {} has no effect on any recipe", axis.path),
                    "remove the axis, or add a trained recipe that enables its technique", "nothing was planned");
    }
}

// As resolve_data(), reading the files of equal configurations once.
void resolve(experiments::TrialConfig& config, std::map<std::string, experiments::TrialConfig>& resolved, Data data) {
    const Json json = experiments::to_json(config);
    const std::string key = canonical_json({json.at("data"), json.at("eval"), json.at("local")});
    const auto found = resolved.find(key);
    if (found == resolved.end()) {
        if (data == Data::required)
            experiments::resolve_data(config);
        else
            experiments::resolve_data_if_present(config);
        resolved.emplace(key, config);
        return;
    }
    config.start = found->second.start;
    config.data = found->second.data;
    config.eval = found->second.eval;
    if (!config.curriculum) return;
    for (experiments::CurriculumMetric& metric : config.curriculum->metrics)
        if (!metric.column.empty())  // "local" names the columns, so both have it
            metric.column_sha256 = found->second.curriculum->find(metric.metric)->column_sha256;
}

// The configuration of equal tables, which trials of one place share but for the seed.
struct ReadTables {
    experiments::TrialConfig config;
    bool is_resolved = false;
    std::string variant_hash = {};  // of a trial that starts from no other; empty: not computed yet
};

// Trials of an earlier stage that differ in nothing but the seed, to start others from; or of a stage without an
// earlier one, one place without a trial.
struct Origins {
    Json axes = Json::object();
    std::vector<std::size_t> trials;  // empty: random initialization
};

// A sweep while its trials are made.
struct Expansion {
    const Spec& spec;
    Data data;
    std::filesystem::path base_folder = std::filesystem::absolute(spec.file).parent_path();
    std::vector<Trial> trials = {};
    std::map<std::string, std::size_t> by_question = {};              // what a trial trains and is asked
    std::map<std::string, experiments::Projection> projections = {};  // a seed changes none
    std::map<std::string, experiments::TrialConfig> resolved = {};    // most trials share their data
    std::map<std::string, ReadTables> read = {};                      // and many all but the seed
    std::set<std::string> checked_tasks = {};

    void add(const Stage& stage, const Recipe& entry) {
        const ConfigNode tree = recipe_tree(spec, stage, entry);
        for (const Origins& origins : origins_of(stage, entry))
            for (const std::vector<AxisSetting>& combination : combinations(stage, tree))
                add_place(stage, entry, tree, origins, combination);
    }

 private:
    std::vector<Origins> origins_of(const Stage& stage, const Recipe& entry) const {
        if (stage.from.empty()) return {Origins{}};
        std::vector<Origins> all;
        for (std::size_t i = 0; i < trials.size(); ++i) {
            if (trials[i].stage != stage.from || trials[i].recipe != entry.name) continue;
            if (all.empty() || all.back().axes != trials[i].axes) all.push_back({trials[i].axes, {}});
            all.back().trials.push_back(i);
        }
        return all;
    }

    // All seeds of one combination.
    void add_place(const Stage& stage, const Recipe& entry, const ConfigNode& tree, const Origins& origins,
                   const std::vector<AxisSetting>& combination) {
        ConfigNode tables = tree, values;
        Json axes = origins.axes;
        for (const AxisSetting& setting : combination) set_at_path(values, setting.axis->path, *setting.value);
        drop_overruled(tables, values);
        for (const AxisSetting& setting : combination) {
            set_at_path(tables, setting.axis->path, *setting.value);
            axes[axis_name(stage, *setting.axis)] = to_json(*setting.value);
        }
        if (excluded(spec, stage, entry, axes)) return;
        if (spec.search && spec.search->stage == stage.name)
            if (const auto rate = spec.found_rates.find(row_name(entry.name, axes)); rate != spec.found_rates.end())
                set_at_path(tables, kLearningRate, real_node(rate->second, spec.search->place));
        const bool imported = is_imported(tables);
        if (imported && stage.from.empty()) take_model_of_files(tables, entry.overlay(stage.name), base_folder);
        Trial place;
        place.stage = stage.name;
        place.recipe = entry.name;
        place.axes = axes;
        place.label = entry.label;
        if (stage.from.empty()) {
            for (const std::int64_t seed : spec.seeds) {
                place.seed = seed;
                place.seeds = {seed};
                add_trial(place, tables, entry.place);
                if (imported) return;  // a seed decides nothing
            }
            return;
        }
        require_training(tables, stage);
        for (const std::size_t origin : origins.trials) {
            place.parent = origin;
            place.seed = trials[origin].seed;
            place.seeds = trials[origin].seeds;
            const bool first_trained = experiments::is_imported(trials[origin].config);
            if (stage.seeds.empty() && !first_trained) {
                add_trial(place, tables, entry.place);
                continue;
            }
            // A chain counts by the seed of the first trial that trains.
            if (first_trained) place.seeds.clear();
            place.seeds.push_back(0);
            for (const std::int64_t seed : stage.seeds.empty() ? spec.seeds : stage.seeds) {
                place.seed = place.seeds.back() = seed;
                add_trial(place, tables, entry.place);
            }
        }
    }

    static void require_training(const ConfigNode& tables, const Stage& stage) {
        const ConfigNode* train = tables.find("train");
        const ConfigNode* budget = train == nullptr ? nullptr : train->find("budget_tokens");
        if (budget == nullptr || budget->kind != ConfigNode::Kind::integer || budget->integer != 0) return;
        throw Error(ErrorKind::config, budget->place,
                    fmt::format("stage {} has no tokens to train on, so it would repeat the model of stage {}",
                                stage.name, stage.from),
                    "set train.budget_tokens above 0, or evaluate the tasks in the earlier stage");
    }

    ReadTables& read_once(const ConfigNode& tables, std::int64_t seed) {
        const std::string key = canonical_json(to_json(tables));
        auto known = read.find(key);
        if (known == read.end())
            known = read.emplace(key,
                                 ReadTables{experiments::parse_trial_config(tables, seed, base_folder, &checked_tasks)})
                        .first;
        return known->second;
    }

    // A seed decides nothing of it.
    std::string variant_hash_of(const Trial& trial, ReadTables& tables) const {
        if (trial.parent) return experiments::variant_hash(trial.config);
        if (tables.variant_hash.empty()) tables.variant_hash = experiments::variant_hash(trial.config);
        return tables.variant_hash;
    }

    void add_trial(Trial trial, const ConfigNode& tables, const Place& place) {
        trial.ordinal = static_cast<std::int64_t>(trials.size());
        ReadTables& own = read_once(tables, trial.seed);
        if (trial.parent && own.config.start)
            throw Error(
                ErrorKind::config, place,
                fmt::format("{} cannot start from both an earlier stage and the model in [start]", trial.name()),
                "drop stage.NAME.from or [start]");
        if (!own.is_resolved) resolve(own.config, resolved, data);
        own.is_resolved = true;
        trial.config = own.config;
        trial.config.seed = trial.seed;
        if (trial.parent)
            trial.config.start =
                experiments::StartConfig{"", "", trials[*trial.parent].config_hash, trials[*trial.parent].variant_hash};
        trial.config_hash = experiments::config_hash(trial.config);
        trial.variant_hash = variant_hash_of(trial, own);
        trial.scores = experiments::score_requests(trial.config);
        require_new(trial, place);
        const auto projection = projections.find(trial.variant_hash);
        trial.projection = projection != projections.end()
                               ? projection->second
                               : experiments::project(trial.config, planned_device(spec, trial.config));
        projections.emplace(trial.variant_hash, trial.projection);
        trials.push_back(std::move(trial));
    }

    // A part of a stage that recipes share and that others start from is trained once, and belongs to each of them.
    void require_new(const Trial& trial, const Place& place) {
        const auto [same, added] = by_question.emplace(
            fmt::format("{} {}", trial.config_hash, fmt::join(trial.score_keys(), " ")), trials.size());
        if (added) return;
        const Trial& other = trials[same->second];
        if (trial.stage == other.stage && trial.recipe != other.recipe && spec.is_started_from(trial.stage)) return;
        throw Error(ErrorKind::config, place,
                    fmt::format("{} and {} have the same training and the same evaluation", other.name(), trial.name()),
                    "change one of them, or exclude it with [[exclude]]");
    }
};

}  // namespace

std::vector<std::string> Trial::score_keys() const {
    std::vector<std::string> keys;
    for (const experiments::ScoreRequest& request : scores) keys.push_back(request.key);
    return keys;
}

std::string Trial::name() const {
    return results_db::trial_name(stage, recipe, axes, results_db::seeds_text(seeds));
}

engine::Device planned_device(const Spec& spec, const experiments::TrialConfig& config) {
    const bool for_nvidia = spec.device && spec.device->device.vendor == "NVIDIA";
    const bool on_gpu = for_nvidia || spec.slots.starts_with("gpu") || config.train.dtype == engine::DType::bf16;
    return on_gpu ? engine::Device::cuda : engine::Device::cpu;
}

std::vector<Trial> expand(const Spec& spec, Data data) {
    refuse_idle_overrides(spec);
    require_countable(spec);
    refuse_idle_axes(spec);
    Expansion expansion{spec, data};
    for (const Stage& stage : spec.stages)
        for (const Recipe& entry : spec.recipes) expansion.add(stage, entry);
    if (expansion.trials.empty())
        throw Error(ErrorKind::config, Place{spec.file.string(), 0, 0},
                    "[[exclude]] removes every trial of this sweep");
    return std::move(expansion.trials);
}

std::vector<Trial> expand_search(const Spec& spec, std::int64_t ordinal, Data data) {
    const Spec searching = as_search(spec);
    Expansion expansion{searching, data};
    for (const Stage& stage : searching.stages)
        if (stage.name == spec.search->stage)
            for (const Recipe& entry : searching.recipes) expansion.add(stage, entry);
    for (Trial& trial : expansion.trials) {
        trial.stage = results_db::kSearchStage;
        trial.ordinal = ordinal++;
    }
    return std::move(expansion.trials);
}

std::vector<std::size_t> execution_order(const std::vector<Trial>& trials, const std::string& spec_sha256) {
    std::vector<std::int64_t> seeds;  // in the order they came
    for (const Trial& trial : trials)
        if (std::find(seeds.begin(), seeds.end(), trial.seeds.front()) == seeds.end())
            seeds.push_back(trial.seeds.front());
    struct Key {
        std::ptrdiff_t block;
        std::string shuffle;
        std::size_t index;
    };
    std::vector<Key> keys;
    for (std::size_t i = 0; i < trials.size(); ++i) {
        const auto block = std::find(seeds.begin(), seeds.end(), trials[i].seeds.front()) - seeds.begin();
        keys.push_back({block, sha256(fmt::format("order {} {}", spec_sha256, trials[i].config_hash)), i});
    }
    std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
        return std::tie(a.block, a.shuffle, a.index) < std::tie(b.block, b.shuffle, b.index);
    });
    std::vector<std::size_t> order;
    for (const Key& key : keys) order.push_back(key.index);
    return order;
}

}  // namespace deft::sweeps
