#include "sweeps/spec/slurm_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "base/suggestion.h"

namespace deft::sweeps {

namespace {

constexpr std::int64_t kMargin = 60;        // Slurm sends its signal up to a minute early
constexpr std::int64_t kStartSeconds = 60;  // for a job to begin its first trial

// With these, deft finds jobs, logs and ends.
constexpr std::array<std::string_view, 18> kOwnOptions = {
    "parsable", "no-requeue",      "requeue",       "open-mode", "job-name",      "dependency",
    "signal",   "nodes",           "ntasks",        "output",    "cpus-per-task", "gpus",
    "array",    "ntasks-per-node", "gpus-per-node", "no-kill",   "test-only",     "wrap"};

bool is_word(std::string_view text) {
    return text.size() <= 200 && std::ranges::all_of(text, [](unsigned char c) { return c > ' ' && c < 0x7f; });
}

bool is_sign_of_type(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
           c == '.';
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
        {"pack",
         at<&SlurmSettings::pack>,
         "Attempts of a job. 0: at_once, or as many as fill half an hour where each is projected below ten minutes.",
         {.at_least = 0, .at_most = 10'000}},
        {"gpus",
         at<&SlurmSettings::gpus>,
         "Type of the cards, as `sinfo -o %G` lists it. Their number follows from the slots, ranks and at_once.",
         {.by_default = "any"}},
        {"at_once",
         at<&SlurmSettings::at_once>,
         "Attempts of a job that run side by side, each with cores and cards of its own.",
         {.at_least = 1, .at_most = 10'000}},
        {"nodes",
         at<&SlurmSettings::nodes>,
         "Nodes of a job, which run the same number of attempts each. ranks_per_node sets those of a trial.",
         {.at_least = 1, .at_most = 10'000}},
        {"setup",
         at<&SlurmSettings::setup>,
         "A file that the job's shell reads before its attempts, as for environment modules.",
         {.by_default = "none"}},
        {"extra",
         at<&SlurmSettings::extra>,
         "Further options of sbatch, each as --NAME or --NAME=VALUE.",
         {.by_default = "none"}},
    };
    return fields;
}

std::vector<std::pair<std::string, std::string>> sbatch_options(const SlurmSettings& settings) {
    std::vector<std::pair<std::string, std::string>> options;
    for (const auto& [key, value] : {std::pair{"partition", settings.partition},
                                     {"account", settings.account},
                                     {"qos", settings.qos},
                                     {"constraint", settings.constraint},
                                     {"time", settings.time},
                                     {"mem", settings.mem}})
        if (!value.empty()) options.emplace_back(key, value);
    return options;
}

void require_valid(const SlurmSettings& settings, const Place& place) {
    for (const auto& [key, value] : sbatch_options(settings))
        if (!is_word(value))
            refuse_setting(place, fmt::format("slurm.{} is not a word that sbatch takes", key),
                           "use letters, digits and signs without spaces");
    if (!settings.time.empty() && !slurm_seconds(settings.time))
        refuse_setting(place, fmt::format("slurm.time = '{}' is not a time limit", settings.time),
                       "write minutes, as in 90, or hours:minutes:seconds, as in 04:00:00");
    if (!settings.gpus.empty() && !std::ranges::all_of(settings.gpus, is_sign_of_type))
        refuse_setting(place, fmt::format("slurm.gpus = '{}' is not a type of cards", settings.gpus),
                       "name one that `sinfo -o %G` lists, as in a100; slots state the number of cards");
    if (settings.at_once % settings.nodes != 0)
        refuse_setting(
            place,
            fmt::format("slurm.at_once = {} does not divide over slurm.nodes = {}", settings.at_once, settings.nodes),
            fmt::format("use a multiple of the nodes, as in at_once={}",
                        (settings.at_once / settings.nodes + 1) * settings.nodes));
    if (settings.pack > 0 && settings.pack < settings.at_once)
        refuse_setting(
            place,
            fmt::format("slurm.pack = {} leaves a part of slurm.at_once = {} idle", settings.pack, settings.at_once),
            "use a pack of at least at_once, or leave it out");
    for (const std::string& option : settings.extra) {
        if (!option.starts_with("--") || option.size() < 3 || !is_word(option))
            refuse_setting(place, fmt::format("slurm.extra has '{}', which is not an option of sbatch", option),
                           "write each option as one word, as in \"--exclusive\" or \"--gres=gpu:a100:1\"");
        const std::string name = option.substr(2, option.find('=') - 2);
        if (std::ranges::find(kOwnOptions, name) != kOwnOptions.end())
            refuse_setting(place, fmt::format("slurm.extra has --{}, which deft itself gives", name),
                           "leave it out; deft finds jobs, logs and signals by it");
    }
}

void require_shape(const SlurmSettings& settings, const SlotRequest& request) {
    if (request.nodes_of_trial() > 1 && (settings.at_once > 1 || settings.nodes > 1))
        throw Error(ErrorKind::usage,
                    fmt::format("ranks_per_node spreads a trial over {} nodes, and slurm.{} spreads several",
                                request.nodes_of_trial(), settings.at_once > 1 ? "at_once" : "nodes"),
                    "leave slurm.at_once and slurm.nodes out: such a trial is a job of its own",
                    "nothing was submitted");
    if (!settings.gpus.empty() && request.where != SlotRequest::Where::gpu)
        throw Error(ErrorKind::usage, "slurm.gpus names a type of cards, and trials run on the CPU",
                    "add --slots gpu, or leave slurm.gpus out", "nothing was submitted");
}

namespace {

void set_from_text(const Field& field, SlurmSettings& settings, const std::string& value) {
    const FieldValue slot = field.in(&settings);
    if (std::string* const* const text = std::get_if<std::string*>(&slot)) {
        **text = value;
    } else if (std::int64_t* const* const number = std::get_if<std::int64_t*>(&slot)) {
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), **number);
        const std::int64_t least = field.key == std::string_view("pack") ? 0 : 1;
        if (error != std::errc() || end != value.data() + value.size() || **number < least || **number > 10'000)
            throw Error(ErrorKind::usage, fmt::format("--slurm {} takes a count, not '{}'", field.key, value),
                        fmt::format("write {}=4", field.key));
    } else {
        throw Error(ErrorKind::usage, fmt::format("--slurm does not take {}, a list", field.key),
                    "write it in the sweep's [resources.slurm]");
    }
}

}  // namespace

void apply_slurm_option(const std::string& text, SlurmSettings& settings) {
    const Fields& fields = fields_of(settings);
    std::vector<std::string> keys;
    for (const Field& field : fields) keys.emplace_back(field.key);
    const auto named = [&](std::string_view key) {
        return std::ranges::find_if(fields, [&](const Field& one) { return one.key == key; });
    };
    std::string key, value;
    for (std::string_view left = text; !left.empty();) {
        const std::size_t comma = std::min(left.find(','), left.size());
        const std::string_view pair = left.substr(0, comma);
        left.remove_prefix(std::min(comma + 1, left.size()));
        const std::size_t equals = pair.find('=');
        const std::string word(pair.substr(0, equals));
        if (equals == std::string_view::npos && !key.empty() && named(word) == fields.end()) {
            value += "," + word;  // of a list, as in partition=long,short
        } else if (named(word) == fields.end()) {
            throw Error(ErrorKind::usage, fmt::format("--slurm has no key '{}'", word), suggestion(word, keys));
        } else if (equals == std::string_view::npos) {
            throw Error(ErrorKind::usage, fmt::format("--slurm {} has no value", word),
                        fmt::format("write {}=VALUE", word));
        } else {
            key = word;
            value = pair.substr(equals + 1);
        }
        set_from_text(*named(key), settings, value);
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

std::int64_t least_job_seconds(double grace_seconds) {
    return kStartSeconds + kMargin + signal_seconds(grace_seconds);
}

void require_time(const SlurmSettings& settings, double grace_seconds) {
    if (settings.time.empty()) return;
    const std::int64_t needed = least_job_seconds(grace_seconds);
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
