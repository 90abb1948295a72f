#include "sweeps/spec/expand.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/sha256.h"
#include "results_db/trial_name.h"
#include "sweeps/spec/overruled.h"
#include "sweeps/spec/sweep_keys.h"

namespace deft::sweeps {

namespace {

constexpr std::int64_t kMostPoints = 100'000;

struct Setting {
    const Axis* axis = nullptr;
    const ConfigNode* value = nullptr;
};

std::string first_key(const std::string& path) {
    return path.substr(0, path.find('.'));
}

// Whether `path` means anything for this trial: a technique's settings do only where the technique is on.
bool concerns(const std::string& path, const ConfigNode& trial) {
    const std::string table = first_key(path);
    if (!is_technique(table)) return true;
    const ConfigNode* technique = trial.find(table);
    if (technique == nullptr) return false;
    // [curriculum.METRIC]: a setting of a metric means nothing where the metric is not used.
    const std::string rest = path.substr(std::min(path.size(), table.size() + 1));
    if (rest.find('.') != std::string::npos && technique->find(first_key(rest)) == nullptr) return false;
    if (path == table + ".enabled") return true;
    const ConfigNode* enabled = technique->find("enabled");
    return enabled == nullptr || enabled->kind != ConfigNode::Kind::boolean || enabled->boolean;
}

// Without what --set lays over it.
ConfigNode merged_case(const Spec& spec, const Case& entry) {
    ConfigNode tree = spec.defaults;
    drop_overruled(tree, entry.overlay);
    merge(tree, entry.overlay);
    return tree;
}

ConfigNode case_tree(const Spec& spec, const Case& entry) {
    ConfigNode tree = merged_case(spec, entry), changes;
    for (const Override& change : spec.overrides)
        if (concerns(change.path, tree)) set_at_path(changes, change.path, change.value);
    drop_overruled(tree, changes);
    for (const Override& change : spec.overrides)
        if (concerns(change.path, tree)) set_at_path(tree, change.path, change.value);
    return tree;
}

std::vector<std::vector<Setting>> combinations(const Spec& spec, const ConfigNode& tree) {
    std::vector<std::vector<Setting>> all = {{}};
    for (const Axis& axis : spec.axes) {
        if (!concerns(axis.path, tree)) continue;
        std::vector<std::vector<Setting>> longer;
        for (const std::vector<Setting>& shorter : all)
            for (const ConfigNode& value : axis.values) {
                longer.push_back(shorter);
                longer.back().push_back({&axis, &value});
            }
        all = std::move(longer);
    }
    return all;
}

// Points are made one by one, each with its own schedule: a mistyped axis should not take hours to say so.
void require_countable(const Spec& spec) {
    double points = 0;  // as a real number, which does not overflow
    for (const Case& entry : spec.cases) {
        const ConfigNode tree = case_tree(spec, entry);
        double of_case = static_cast<double>(spec.seeds.size());
        for (const Axis& axis : spec.axes)
            if (concerns(axis.path, tree)) of_case *= static_cast<double>(axis.values.size());
        points += of_case;
    }
    if (points > kMostPoints)
        throw Error(ErrorKind::config, spec.axes.empty() ? Place{spec.file.string(), 0, 0} : spec.axes.front().place,
                    fmt::format("this sweep has {:.4g} points, and the most is {}", points, kMostPoints),
                    "take values from the axes, or seeds", "nothing was planned");
}

bool excluded(const Spec& spec, const Case& entry, const Json& axes) {
    return std::any_of(spec.exclusions.begin(), spec.exclusions.end(), [&](const Exclusion& exclusion) {
        if (!exclusion.case_name.empty() && exclusion.case_name != entry.name) return false;
        return std::all_of(exclusion.values.begin(), exclusion.values.end(), [&](const auto& condition) {
            const auto found = axes.find(condition.first);
            return found != axes.end() && *found == to_json(condition.second);
        });
    });
}

// An override that no case has a use for is a mistake, and is refused.
void refuse_idle_overrides(const Spec& spec) {
    for (const Override& change : spec.overrides) {
        const bool used = std::any_of(spec.cases.begin(), spec.cases.end(), [&](const Case& entry) {
            return concerns(change.path, merged_case(spec, entry));
        });
        if (!used)
            throw Error(ErrorKind::config, change.value.place,
                        fmt::format("no case of {} has [{}]", spec.name,
                                    change.path.substr(0, change.path.rfind('.'))));
    }
}

// As resolve_data(), reading the files of equal configurations once.
void resolve(experiments::TrialConfig& config, std::map<std::string, experiments::TrialConfig>& resolved,
             Data data) {
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
    config.data = found->second.data;
    config.eval = found->second.eval;
    if (!config.curriculum) return;
    for (experiments::CurriculumMetric& metric : config.curriculum->metrics)
        if (!metric.column.empty())  // "local" names the columns, so both have it
            metric.column_sha256 = found->second.curriculum->find(metric.metric)->column_sha256;
}

}  // namespace

std::vector<std::string> Point::score_keys() const {
    std::vector<std::string> keys;
    for (const experiments::ScoreRequest& request : scores) keys.push_back(request.key);
    return keys;
}

std::string Point::name() const {
    return results_db::trial_name(case_name, axes, seed);
}

engine::Device planned_device(const Spec& spec, const experiments::TrialConfig& config) {
    const bool for_nvidia = spec.device && spec.device->device.vendor == "NVIDIA";
    const bool on_gpu = for_nvidia || spec.slots.starts_with("gpu") || config.train.dtype == "bf16";
    return on_gpu ? engine::Device::cuda : engine::Device::cpu;
}

std::vector<Point> expand(const Spec& spec, Data data) {
    refuse_idle_overrides(spec);
    require_countable(spec);
    const std::filesystem::path base_folder = std::filesystem::absolute(spec.file).parent_path();
    std::vector<Point> points;
    std::map<std::string, std::size_t> by_hash;
    std::map<std::string, experiments::Projection> projections;  // a seed changes none
    std::map<std::string, experiments::TrialConfig> resolved;    // most points share their data
    for (const Case& entry : spec.cases) {
        const ConfigNode tree = case_tree(spec, entry);
        for (const std::vector<Setting>& combination : combinations(spec, tree)) {
            ConfigNode trial = tree;
            Json axes = Json::object();
            Place place = entry.place;
            ConfigNode values;
            for (const Setting& setting : combination) set_at_path(values, setting.axis->path, *setting.value);
            drop_overruled(trial, values);
            for (const Setting& setting : combination) {
                set_at_path(trial, setting.axis->path, *setting.value);
                axes[setting.axis->path] = to_json(*setting.value);
            }
            if (excluded(spec, entry, axes)) continue;
            for (const std::int64_t seed : spec.seeds) {
                Point point;
                point.ordinal = static_cast<std::int64_t>(points.size());
                point.case_name = entry.name;
                point.axes = axes;
                point.seed = seed;
                point.label = entry.label;
                point.config = experiments::parse_trial_config(trial, seed, base_folder);
                resolve(point.config, resolved, data);
                point.config_hash = experiments::config_hash(point.config);
                point.variant_hash = experiments::variant_hash(point.config);
                point.scores = experiments::score_requests(point.config);
                const auto [same, added] = by_hash.emplace(
                    fmt::format("{} {}", point.config_hash, fmt::join(point.score_keys(), " ")), points.size());
                if (!added)
                    throw Error(
                        ErrorKind::config, place,
                        fmt::format("{} and {} would train and score the same thing", points[same->second].name(),
                                    point.name()),
                        "change one of them, or leave it out with [[exclude]]");
                const auto projection = projections.find(point.variant_hash);
                point.projection = projection != projections.end()
                                       ? projection->second
                                       : experiments::project(point.config, planned_device(spec, point.config));
                projections.emplace(point.variant_hash, point.projection);
                points.push_back(std::move(point));
            }
        }
    }
    if (points.empty())
        throw Error(ErrorKind::config, Place{spec.file.string(), 0, 0}, "the excludes leave no point of this sweep");
    return points;
}

std::vector<std::size_t> execution_order(const std::vector<Point>& points, const std::string& spec_sha256) {
    std::vector<std::int64_t> seeds;  // in the order they came
    for (const Point& point : points)
        if (std::find(seeds.begin(), seeds.end(), point.seed) == seeds.end()) seeds.push_back(point.seed);
    struct Key {
        std::ptrdiff_t block;
        std::string shuffle;
        std::size_t index;
    };
    std::vector<Key> keys;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const auto block = std::find(seeds.begin(), seeds.end(), points[i].seed) - seeds.begin();
        keys.push_back({block, sha256(fmt::format("order {} {}", spec_sha256, points[i].config_hash)), i});
    }
    std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
        return std::tie(a.block, a.shuffle, a.index) < std::tie(b.block, b.shuffle, b.index);
    });
    std::vector<std::size_t> order;
    for (const Key& key : keys) order.push_back(key.index);
    return order;
}

}  // namespace deft::sweeps
