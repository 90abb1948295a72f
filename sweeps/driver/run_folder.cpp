#include "sweeps/driver/run_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <fstream>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "reporting/text.h"
#include "results_db/config_hashes.h"
#include "sweeps/driver/provenance.h"
#include "sweeps/driver/root.h"

namespace deft::sweeps {

namespace {

constexpr std::uintmax_t kMostTailBytes = 1 << 16;

template <class Record>
Record read_as(const Json& line) {
    Record record;
    journal::from_json(line, record);
    return record;
}

void see(std::int64_t time_ms, JournalSummary& summary) {
    summary.last_ms = std::max(summary.last_ms, time_ms);
}

// Errors: io, for a line that is not a record.
void take_line(const std::string& text, JournalSummary& summary) {
    const Json line = try_parse_json(text);
    if (line.is_discarded()) throw Error(ErrorKind::io, "it is not valid JSON");
    const std::string type = journal::type_of(line);
    if (type == "train")
        summary.last_point = read_as<journal::TrainPoint>(line);
    else if (type == "started")
        summary.started = read_as<journal::Started>(line);
    else if (type == "ended")
        summary.ended = read_as<journal::Ended>(line);
    else if (type == "sampling")
        read_as<journal::Sampling>(line);
    else if (type == "experts")
        read_as<journal::ExpertLoad>(line);
    else if (type == "evaluation")
        read_as<journal::Evaluation>(line);
    else if (type == "scored")
        read_as<journal::Scored>(line);
    else if (type == "artifact")
        read_as<journal::Artifact>(line);
    else if (type == "lease")
        see(read_as<journal::Lease>(line).time_ms, summary);
    else if (type == "spent")
        see(read_as<journal::Spent>(line).time_ms, summary);
    else
        throw Error(ErrorKind::io, fmt::format("it has the unknown type '{}'", type));
    if (type == "started") see(summary.started->time_ms, summary);
    if (type == "ended") see(summary.ended->time_ms, summary);
}

// A progress line that a child painted over counts only as it looked last.
std::string last_painted(const std::string& line) {
    const std::size_t end = line.find_last_not_of('\r');
    if (end == std::string::npos) return "";
    const std::size_t start = line.rfind('\r', end);
    return line.substr(start == std::string::npos ? 0 : start + 1,
                       end - (start == std::string::npos ? 0 : start + 1) + 1);
}

Json shape_json(const results_db::Shape& shape) {
    return {{"device", shape.device},
            {"devices", shape.devices},
            {"trials_per_device", shape.trials_per_device},
            {"ranks", shape.ranks}};
}

Json hosts_json(const RankHosts& hosts) {
    if (hosts.empty()) return nullptr;
    return {{"names", hosts.names}, {"ranks_on_each", hosts.ranks_on_each}, {"agent", hosts.agent}};
}

RankHosts hosts_of(const Json& json) {
    return {json.at("names").get<std::vector<std::string>>(), json.at("ranks_on_each").get<int>(),
            json.at("agent").get<std::string>()};
}

Json price_json(const std::optional<results_db::Price>& price) {
    if (!price) return nullptr;
    return {{"sku", price->sku},
            {"usd_per_hour", price->usd_per_hour},
            {"date_ms", price->date_ms},
            {"source", price->source}};
}

// Before trial files stated the shape, they stated the device and the threads.
results_db::Shape origin_shape(const Json& trial) {
    if (trial.contains("shape")) {
        const Json& shape = trial.at("shape");
        return {shape.at("device").get<std::string>(), shape.at("devices").get<std::int64_t>(),
                shape.at("trials_per_device").get<std::int64_t>(), shape.value("ranks", std::int64_t{1})};
    }
    const auto device = trial.at("device").get<std::string>();
    return {device, device == "cpu" ? trial.at("threads").get<std::int64_t>() : 1, 1};
}

std::optional<results_db::Price> origin_price(const Json& trial) {
    if (!trial.contains("price") || trial.at("price").is_null()) return std::nullopt;
    const Json& price = trial.at("price");
    return results_db::Price{price.at("sku").get<std::string>(), price.at("date_ms").get<std::int64_t>(),
                             price.at("usd_per_hour").get<double>(), price.at("source").get<std::string>()};
}

}  // namespace

std::filesystem::path free_run_folder(const std::filesystem::path& root, const std::string& config_hash,
                                      std::int64_t& number) {
    while (true) {
        const std::filesystem::path folder =
            root / "runs" / fmt::format("{}.{}", folder_name_of(config_hash, 12), number);
        if (!std::filesystem::exists(folder)) return folder;
        ++number;
    }
}

void write_trial_file(const Trial& trial, const std::string& sweep, const results_db::NewAttempt& attempt,
                      const Json& provenance, const experiments::TrialPlaces& places, const Assignment& assignment,
                      const experiments::TrialSlot& slot, bool is_child, const RankHosts& hosts) {
    const Json file = {{"schema", kTrialSchema},
                       {"config", experiments::to_json(trial.config)},
                       {"seed", trial.seed},
                       {"config_hash", trial.config_hash},
                       {"variant_hash", trial.variant_hash},
                       {"label", trial.label},
                       {"case", trial.recipe},
                       {"axes", trial.axes},
                       {"ordinal", trial.ordinal},
                       {"sweep", sweep},
                       {"attempt", attempt.number},
                       {"uid", attempt.uid},
                       {"slots", parse_json(attempt.slots_json)},
                       {"argv", parse_json(attempt.argv_json)},
                       {"provenance", provenance},
                       {"driver_pid", is_child ? ::getpid() : 0},
                       {"device", engine::device_name(slot.device)},
                       {"threads", slot.threads},
                       {"memory_bytes", slot.memory_bytes},
                       {"shape", shape_json(attempt.shape)},
                       {"price", price_json(attempt.price)},
                       {"launcher", attempt.launcher},
                       {"libraries", parse_json(attempt.libraries_json)},
                       {"machine", parse_json(attempt.machine_json)},
                       {"data_folder", places.data_folder.string()},
                       {"checkpoint_folder", places.checkpoint_folder.string()},
                       {"resume", places.resume},
                       {"covered_step", places.covered_step},
                       {"start", places.start.string()},
                       {"work", assignment.work == results_db::Work::score ? "score" : "train"},
                       {"checkpoint", assignment.checkpoint.string()},
                       {"scores", assignment.keys},
                       {"hosts", hosts_json(hosts)}};
    write_file_atomically(places.run_folder / "trial.json", json_text(file, 2) + "\n");
}

TrialFile read_trial_file(const std::filesystem::path& run_folder) {
    const std::filesystem::path file = run_folder / "trial.json";
    const std::string text = read_file(file);
    try {
        const Json trial = parse_json(text);
        const auto schema = trial.at("schema").get<std::string>();
        if (schema != kTrialSchema)
            throw Error(ErrorKind::config, fmt::format("{}: schema {} is not {}", file.string(), schema, kTrialSchema),
                        "run the sweep again with this version of the program");
        TrialFile result;
        result.config = experiments::from_json(trial.at("config"));
        if (experiments::config_hash(result.config) != trial.at("config_hash").get<std::string>())
            throw Error(ErrorKind::config,
                        fmt::format("{}: its configuration does not have its config_hash", file.string()),
                        "run the sweep again, which writes the file", "the run folder");
        result.places.run_folder = run_folder;
        result.places.data_folder = trial.at("data_folder").get<std::string>();
        result.places.checkpoint_folder = trial.at("checkpoint_folder").get<std::string>();
        result.places.resume = trial.at("resume").get<bool>();
        result.places.covered_step = trial.value("covered_step", result.places.covered_step);
        result.places.start = trial.value("start", std::string());
        if (trial.at("work") == "score") result.assignment.work = results_db::Work::score;
        result.assignment.checkpoint = trial.at("checkpoint").get<std::string>();
        result.assignment.keys = trial.at("scores").get<std::vector<std::string>>();
        result.slot.device = trial.at("device") == "cuda" ? engine::Device::cuda : engine::Device::cpu;
        result.slot.threads = trial.at("threads").get<int>();
        result.slot.memory_bytes = trial.value("memory_bytes", std::int64_t{0});
        result.ranks = static_cast<int>(origin_shape(trial).ranks);
        if (trial.contains("hosts") && !trial.at("hosts").is_null()) result.hosts = hosts_of(trial.at("hosts"));
        result.driver_pid = trial.at("driver_pid").get<pid_t>();
        return result;
    } catch (const Json::exception& error) {
        throw Error(ErrorKind::config, fmt::format("{} is not a trial: {}", file.string(), error.what()));
    }
}

std::optional<TrialOrigin> read_origin(const std::filesystem::path& run_folder) {
    try {
        const Json trial = parse_json(read_file(run_folder / "trial.json"));
        TrialOrigin origin;
        origin.config_hash = trial.at("config_hash").get<std::string>();
        // A configuration that was changed since is of another trial.
        const results_db::ConfigHashes hashes{origin.config_hash, trial.value("variant_hash", std::string())};
        if (!hashes.variant.empty() && !results_db::has_hashes(trial.at("config"), hashes)) return std::nullopt;
        if (trial.value("work", "train") == "score") origin.attempt.work = results_db::Work::score;
        origin.attempt.uid = trial.at("uid").get<std::string>();
        origin.attempt.number = trial.at("attempt").get<std::int64_t>();
        origin.attempt.workdir = "runs/" + run_folder.filename().string();
        if (trial.contains("slots")) origin.attempt.slots_json = canonical_json(trial.at("slots"));
        if (trial.contains("argv")) origin.attempt.argv_json = canonical_json(trial.at("argv"));
        origin.attempt.shape = origin_shape(trial);
        origin.attempt.price = origin_price(trial);
        if (trial.contains("libraries")) origin.attempt.libraries_json = canonical_json(trial.at("libraries"));
        origin.attempt.launcher = trial.value("launcher", origin.attempt.launcher);
        if (trial.contains("machine")) origin.attempt.machine_json = canonical_json(trial.at("machine"));
        const Json provenance = trial.value("provenance", Json::object());
        origin.code = code_of(provenance.value("code", Json::object()));
        origin.host = host_of(provenance.value("host", Json::object()));
        return origin;
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

void write_outcome_file(const std::filesystem::path& run_folder, const results_db::Outcome& outcome) {
    Json json = {{"schema", "deft-outcome/1"},
                 {"state", outcome.state},
                 {"fail_class", outcome.fail_class},
                 {"exit_code", nullptr},
                 {"term_signal", nullptr},
                 {"error", outcome.error},
                 {"peak_rss_bytes", outcome.peak_rss_bytes},
                 {"cpu_seconds", outcome.cpu_seconds},
                 {"own_seconds", nullptr},
                 {"held_seconds", nullptr},
                 {"queue_seconds", nullptr},
                 {"ended_ms", outcome.ended_ms}};
    if (outcome.exit_code) json["exit_code"] = *outcome.exit_code;
    if (outcome.term_signal) json["term_signal"] = *outcome.term_signal;
    if (outcome.own_seconds) json["own_seconds"] = *outcome.own_seconds;
    if (outcome.held_seconds) json["held_seconds"] = *outcome.held_seconds;
    if (outcome.queue_seconds) json["queue_seconds"] = *outcome.queue_seconds;
    write_file_atomically(run_folder / "outcome.json", json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::optional<results_db::Outcome> read_outcome_file(const std::filesystem::path& run_folder) {
    const auto maybe = [](const Json& json, const char* key, auto& value) {
        if (json.contains(key) && json.at(key).is_number()) value = json.at(key).get<std::decay_t<decltype(*value)>>();
    };
    try {
        const Json json = parse_json(read_file(run_folder / "outcome.json"));
        results_db::Outcome outcome;
        outcome.state = json.at("state").get<std::string>();
        outcome.fail_class = json.at("fail_class").get<std::string>();
        outcome.error = json.at("error").get<std::string>();
        outcome.peak_rss_bytes = json.at("peak_rss_bytes").get<std::int64_t>();
        outcome.cpu_seconds = json.at("cpu_seconds").get<double>();
        outcome.ended_ms = json.at("ended_ms").get<std::int64_t>();  // which older programs left out, with the times
        maybe(json, "exit_code", outcome.exit_code);
        maybe(json, "term_signal", outcome.term_signal);
        maybe(json, "own_seconds", outcome.own_seconds);
        maybe(json, "held_seconds", outcome.held_seconds);
        maybe(json, "queue_seconds", outcome.queue_seconds);
        return outcome;
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

JournalSummary read_journal(const std::filesystem::path& journal) {
    JournalSummary summary;
    std::ifstream in(journal, std::ios::binary);
    std::size_t number = 0, damaged = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        if (in.eof()) break;  // no newline: torn, and not yet or never whole
        try {
            take_line(line, summary);
        } catch (const std::exception& error) {
            if (damaged++ == 0)
                summary.damage = fmt::format("{}:{}: a damaged line: {}", journal.string(), number, error.what());
        }
    }
    if (damaged > 0)
        *summary.damage += fmt::format("; {} passed over, {} taken in", counted(damaged, "damaged line"),
                                       counted(number - damaged, "line"));
    return summary;
}

std::optional<double> own_seconds(const JournalSummary& journal) {
    if (!journal.started && !journal.last_point && !journal.ended) return std::nullopt;
    double until = 0;
    if (journal.ended)
        until = journal.ended->train_seconds;
    else if (journal.last_point)
        until = static_cast<double>(journal.last_point->wall_ms) / 1000;
    return std::max(0.0, until - (journal.started ? journal.started->resume_seconds : 0));
}

std::int64_t began_ms(const journal::Started& started) {
    return started.time_ms - static_cast<std::int64_t>(1000 * started.start_seconds);
}

std::optional<double> held_seconds(const JournalSummary& journal) {
    if (!journal.started || !(journal.started->start_seconds > 0)) return std::nullopt;
    return std::max(0.0, static_cast<double>(journal.last_ms - began_ms(*journal.started)) / 1000);
}

std::vector<std::string> last_lines(const std::filesystem::path& log, std::size_t count) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(log, error);
    std::ifstream in(log, std::ios::binary);
    if (error || !in) return {};
    if (size > kMostTailBytes) in.seekg(static_cast<std::streamoff>(size - kMostTailBytes));
    std::deque<std::string> lines;
    for (std::string line; std::getline(in, line);) {
        lines.push_back(reporting::visible(last_painted(line)));
        if (lines.size() > count) lines.pop_front();
    }
    return {lines.begin(), lines.end()};
}

}  // namespace deft::sweeps
