#include "results_db/trial_name.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/json.h"

namespace deft::results_db {

namespace {

Json axes_of(const TrialRow& trial) {
    Json axes = try_parse_json(trial.axes_json);
    return axes.is_object() ? axes : Json::object();
}

std::string last_key(const std::string& path) {
    const std::size_t dot = path.rfind('.');
    return dot == std::string::npos ? path : path.substr(dot + 1);
}

bool ends_in(const std::string& path, const std::string& key) {
    return path == key || path.ends_with("." + key);
}

// The fewest of its last keys that distinguish it from the other axes.
std::string short_key(const std::string& path, const Json& axes) {
    std::string key = last_key(path);
    while (key != path && std::any_of(axes.items().begin(), axes.items().end(),
                                      [&](const auto& axis) { return axis.key() != path && ends_in(axis.key(), key); }))
        key = path.substr(path.rfind('.', path.size() - key.size() - 2) + 1);
    return key;
}

std::string value_text(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<double> number(std::string_view text) {
    double value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
    return value;
}

bool is_value(const Json& value, const std::string& text) {
    if (value_text(value) == text) return true;
    const std::optional<double> asked = number(text);
    return value.is_number() && asked && value.get<double>() == *asked;
}

// One "key=value".
bool has_setting(const Json& axes, const std::string& setting) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) return false;
    const std::string key = setting.substr(0, equals);
    for (const auto& [path, value] : axes.items())
        if (ends_in(path, key) && is_value(value, setting.substr(equals + 1))) return true;
    return false;
}

bool has_settings(const Json& axes, const std::string& settings) {
    for (std::size_t at = 0; at <= settings.size();) {
        const std::size_t end = std::min(settings.find(',', at), settings.size());
        if (!has_setting(axes, settings.substr(at, end - at))) return false;
        at = end + 1;
    }
    return true;
}

bool is_place(const TrialRow& trial, const std::string& place) {
    for (const std::string& head : {trial.recipe, trial.recipe + ":" + trial.stage}) {
        if (place == head) return true;
        if (place.starts_with(head + "[") && place.ends_with(']') &&
            has_settings(axes_of(trial), place.substr(head.size() + 1, place.size() - head.size() - 2)))
            return true;
    }
    return false;
}

// The seed of a trial that has no chain.
std::string seeds_of(const TrialRow& trial) {
    return trial.seeds.empty() ? std::to_string(trial.seed) : trial.seeds;
}

}  // namespace

std::string seeds_text(const std::vector<std::int64_t>& seeds) {
    return fmt::format("{}", fmt::join(seeds, "."));
}

std::string trial_name(const std::string& stage, const std::string& recipe, const Json& axes,
                       const std::string& seeds) {
    std::string settings;
    for (const auto& [path, value] : axes.items())
        settings += fmt::format("{}{}={}", settings.empty() ? "" : ",", short_key(path, axes), value_text(value));
    if (!settings.empty()) settings = "[" + settings + "]";
    return fmt::format("{}{}{}{}/{}", recipe, stage.empty() ? "" : ":", stage, settings, seeds);
}

std::string trial_name(const TrialRow& trial) {
    return trial_name(trial.stage, trial.recipe, axes_of(trial), seeds_of(trial));
}

bool is_named(const TrialRow& trial, const std::string& selector) {
    if (selector == trial_name(trial) || is_place(trial, selector)) return true;
    const std::string seeds = "/" + seeds_of(trial);
    return selector.ends_with(seeds) && is_place(trial, selector.substr(0, selector.size() - seeds.size()));
}

}  // namespace deft::results_db
