#include "sweeps/spec/slurm_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "base/suggestion.h"

namespace deft::sweeps {

namespace {

constexpr std::int64_t kMargin = 60;        // Slurm sends its signal up to a minute early
constexpr std::int64_t kStartSeconds = 60;  // for a job to begin its first trial

bool is_word(std::string_view text) {
    return text.size() <= 200 && std::ranges::all_of(text, [](unsigned char c) { return c > ' ' && c < 0x7f; });
}

std::optional<std::vector<std::int64_t>> numbers_of(std::string_view text) {
    std::vector<std::int64_t> numbers;
    while (true) {
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc() || number < 0 || number > 1'000'000) return std::nullopt;
        numbers.push_back(number);
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        if (text.empty()) return numbers;
        if (text.front() != ':') return std::nullopt;
        text.remove_prefix(1);
    }
}

[[noreturn]] void refuse_setting(const Place& place, const std::string& what, const std::string& fix) {
    throw Error(place.file.empty() ? ErrorKind::usage : ErrorKind::config, place, what, fix);
}

}  // namespace

const Fields& fields_of(const SlurmSettings&) {
    static const Fields fields = {
        {"partition", at<&SlurmSettings::partition>, "Partition of the jobs.", {.by_default = "the cluster's"}},
        {"account", at<&SlurmSettings::account>, "Account that the jobs are charged to.", {.by_default = "the user's"}},
        {"qos", at<&SlurmSettings::qos>, "Quality of service of the jobs.", {.by_default = "the account's"}},
        {"constraint", at<&SlurmSettings::constraint>, "Features that a node must have.", {.by_default = "none"}},
        {"time",
         at<&SlurmSettings::time>,
         "Time limit of a job. A trial that needs more resumes in its next job.",
         {.by_default = "the partition's", .takes = "a time as sbatch takes it: 90, 04:00:00, 1-12:00"}},
        {"mem",
         at<&SlurmSettings::mem>,
         "Memory of a job.",
         {.by_default = "the partition's", .takes = "an amount as sbatch takes it: 4000, 16G"}},
    };
    return fields;
}

void require_valid(const SlurmSettings& settings, const Place& place) {
    SlurmSettings copy = settings;
    for (const Field& field : fields_of(settings)) {
        const std::string& text = *std::get<std::string*>(field.in(&copy));
        if (!is_word(text))
            refuse_setting(place, fmt::format("slurm.{} is not a word that sbatch takes", field.key),
                           "use letters, digits and signs without spaces");
    }
    if (!settings.time.empty() && !slurm_seconds(settings.time))
        refuse_setting(place, fmt::format("slurm.time = '{}' is not a time limit", settings.time),
                       "write minutes, as in 90, or hours:minutes:seconds, as in 04:00:00");
}

void apply_slurm_option(const std::string& text, SlurmSettings& settings) {
    std::vector<std::string> keys;
    for (const Field& field : fields_of(settings)) keys.emplace_back(field.key);
    for (std::string_view left = text; !left.empty();) {
        const std::size_t comma = std::min(left.find(','), left.size());
        const std::string_view pair = left.substr(0, comma);
        left.remove_prefix(std::min(comma + 1, left.size()));
        const std::size_t equals = pair.find('=');
        const std::string key(pair.substr(0, equals));
        const Fields& fields = fields_of(settings);
        const auto field = std::ranges::find_if(fields, [&](const Field& one) { return one.key == key; });
        if (field == fields.end())
            throw Error(ErrorKind::usage, fmt::format("--slurm has no key '{}'", key), suggestion(key, keys));
        if (equals == std::string_view::npos)
            throw Error(ErrorKind::usage, fmt::format("--slurm {} has no value", key),
                        fmt::format("write {}=VALUE", key));
        *std::get<std::string*>(field->in(&settings)) = pair.substr(equals + 1);
    }
    require_valid(settings);
}

std::optional<std::int64_t> slurm_seconds(std::string_view text) {
    const std::size_t dash = text.find('-');
    std::int64_t days = 0;
    if (dash != std::string_view::npos) {
        const auto number = numbers_of(text.substr(0, dash));
        if (!number || number->size() != 1) return std::nullopt;
        days = number->front();
    }
    const bool has_days = dash != std::string_view::npos;
    const auto parts = numbers_of(has_days ? text.substr(dash + 1) : text);
    if (!parts || parts->size() > 3) return std::nullopt;
    const auto part = [&](std::size_t place) { return place < parts->size() ? (*parts)[place] : 0; };
    if (has_days) return days * 86'400 + part(0) * 3600 + part(1) * 60 + part(2);
    if (parts->size() == 3) return part(0) * 3600 + part(1) * 60 + part(2);
    return part(0) * 60 + part(1);
}

std::int64_t signal_seconds(double grace_seconds) {
    return static_cast<std::int64_t>(std::ceil(grace_seconds)) + kMargin;
}

void require_time(const SlurmSettings& settings, double grace_seconds) {
    if (settings.time.empty()) return;
    const std::int64_t needed = kStartSeconds + kMargin + signal_seconds(grace_seconds);
    const std::optional<std::int64_t> seconds = slurm_seconds(settings.time);
    if (!seconds || *seconds >= needed) return;
    throw Error(ErrorKind::usage,
                fmt::format("a job of {} s would end before its trial has trained: it starts, and is asked to save a "
                            "checkpoint {} s before the end",
                            *seconds, signal_seconds(grace_seconds)),
                fmt::format("ask for at least {} minutes, or shorten [defaults.checkpoint] grace_seconds ({:g})",
                            (needed + 59) / 60, grace_seconds),
                "nothing was submitted");
}

}  // namespace deft::sweeps
