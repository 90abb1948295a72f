#include "sweeps/run_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <deque>
#include <fstream>

#include "base/files.h"
#include "base/json.h"
#include "sweeps/provenance_json.h"
#include "sweeps/text.h"

namespace deft::sweeps {

namespace {

constexpr std::uintmax_t kMostTailBytes = 1 << 16;

// The name that records of this kind carry in a journal.
template <class Record>
std::string type_of() {
    return journal::to_json(Record{}).at("type").template get<std::string>();
}

// A progress line that a child painted over counts only as it looked last.
std::string last_painted(const std::string& line) {
    const std::size_t end = line.find_last_not_of('\r');
    if (end == std::string::npos) return "";
    const std::size_t start = line.rfind('\r', end);
    return line.substr(start == std::string::npos ? 0 : start + 1,
                       end - (start == std::string::npos ? 0 : start + 1) + 1);
}

}  // namespace

void write_trial_file(const Point& point, const std::string& sweep,
                      const results_db::NewAttempt& attempt, const Json& provenance,
                      const experiments::TrialPlaces& places, const experiments::TrialSlot& slot) {
    const Json trial = {{"schema", kTrialSchema},
                        {"config", experiments::to_json(point.config)},
                        {"seed", point.seed},
                        {"config_hash", point.config_hash},
                        {"variant_hash", point.variant_hash},
                        {"label", point.label},
                        {"case", point.case_name},
                        {"axes", point.axes},
                        {"ordinal", point.ordinal},
                        {"sweep", sweep},
                        {"attempt", attempt.number},
                        {"uid", attempt.uid},
                        {"slots", Json::parse(attempt.slots_json)},
                        {"argv", Json::parse(attempt.argv_json)},
                        {"provenance", provenance},
                        {"driver_pid", ::getpid()},
                        {"device", engine::device_name(slot.device)},
                        {"threads", slot.threads},
                        {"data_folder", places.data_folder.string()},
                        {"checkpoint_folder", places.checkpoint_folder.string()},
                        {"resume", places.resume}};
    write_file_atomically(places.run_folder / "trial.json", trial.dump(2) + "\n");
}

TrialFile read_trial_file(const std::filesystem::path& run_folder) {
    const std::filesystem::path file = run_folder / "trial.json";
    const std::string text = read_file(file);
    try {
        const Json trial = Json::parse(text);
        const auto schema = trial.at("schema").get<std::string>();
        if (schema != kTrialSchema)
            throw Error(ErrorKind::config, fmt::format("{}: schema {} is not {}", file.string(), schema, kTrialSchema),
                        "run the sweep again with this version of the program");
        TrialFile result;
        result.config = experiments::from_json(trial.at("config"));
        result.places.run_folder = run_folder;
        result.places.data_folder = trial.at("data_folder").get<std::string>();
        result.places.checkpoint_folder = trial.at("checkpoint_folder").get<std::string>();
        result.places.resume = trial.at("resume").get<bool>();
        result.slot.device = trial.at("device") == "cuda" ? engine::Device::cuda : engine::Device::cpu;
        result.slot.threads = trial.at("threads").get<int>();
        result.driver_pid = trial.at("driver_pid").get<pid_t>();
        return result;
    } catch (const Json::exception& error) {
        throw Error(ErrorKind::config, fmt::format("{} is no trial: {}", file.string(), error.what()));
    }
}

std::optional<TrialOrigin> read_origin(const std::filesystem::path& run_folder) {
    try {
        const Json trial = Json::parse(read_file(run_folder / "trial.json"));
        TrialOrigin origin;
        origin.config_hash = trial.at("config_hash").get<std::string>();
        origin.attempt.uid = trial.at("uid").get<std::string>();
        origin.attempt.number = trial.at("attempt").get<std::int64_t>();
        origin.attempt.workdir = "runs/" + run_folder.filename().string();
        if (trial.contains("slots")) origin.attempt.slots_json = canonical_json(trial.at("slots"));
        if (trial.contains("argv")) origin.attempt.argv_json = canonical_json(trial.at("argv"));
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
                 {"cpu_seconds", outcome.cpu_seconds}};
    if (outcome.exit_code) json["exit_code"] = *outcome.exit_code;
    if (outcome.term_signal) json["term_signal"] = *outcome.term_signal;
    write_file_atomically(run_folder / "outcome.json", json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

JournalSummary read_journal(const std::filesystem::path& journal) {
    JournalSummary summary;
    const std::string train_type = type_of<journal::TrainPoint>(), ended_type = type_of<journal::Ended>(),
                      started_type = type_of<journal::Started>();
    std::ifstream in(journal, std::ios::binary);
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        if (in.eof()) break;  // no newline: torn, and not yet or never whole
        if (line.empty()) continue;
        try {
            const Json record = Json::parse(line);
            const auto type = record.at("type").get<std::string>();
            if (type == train_type) {
                journal::TrainPoint point;
                journal::from_json(record, point);
                summary.last_point = point;
            } else if (type == started_type) {
                journal::Started started;
                journal::from_json(record, started);
                summary.started = started;
            } else if (type == ended_type) {
                journal::Ended ended;
                journal::from_json(record, ended);
                summary.ended = ended;
            }
        } catch (const std::exception& error) {
            summary.damage = fmt::format("{}:{}: damaged journal line: {}", journal.string(), number, error.what());
            return summary;
        }
    }
    return summary;
}

std::vector<std::string> last_lines(const std::filesystem::path& log, std::size_t count) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(log, error);
    std::ifstream in(log, std::ios::binary);
    if (error || !in) return {};
    if (size > kMostTailBytes) in.seekg(static_cast<std::streamoff>(size - kMostTailBytes));
    std::deque<std::string> lines;
    for (std::string line; std::getline(in, line);) {
        lines.push_back(printable(last_painted(line)));
        if (lines.size() > count) lines.pop_front();
    }
    return {lines.begin(), lines.end()};
}

}  // namespace deft::sweeps
