#include "reporting/views/tensorboard/event_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>

#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "reporting/analysis/scores/score_id.h"
#include "reporting/text.h"
#include "reporting/views/tensorboard/event_records.h"
#include "results_db/trial_name.h"

namespace deft::reporting {

namespace {

using journal::TrainPoint;
using results_db::AttemptRow;
using results_db::TrialCurve;

// File systems take 255 bytes.
constexpr std::size_t kLongestFolderName = 200;

// One folder's name: no separator, no control character, and nothing that a dot hides or that leads elsewhere.
std::string folder_name(const std::string& text) {
    std::string name;
    for (const char c : text)
        name += c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '_' : c;
    if (name.empty() || name.front() == '.' || name.front() == ' ') name.insert(name.begin(), '_');
    if (name.size() <= kLongestFolderName) return name;
    std::size_t end = kLongestFolderName;  // between two characters of UTF-8
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
    return name.substr(0, end) + "-" + short_hash(sha256(text));
}

double start_seconds(const Trial& trial) {
    for (const AttemptRow& attempt : trial.attempt_rows)
        if (attempt.counts && attempt.started_ms > 0) return static_cast<double>(attempt.started_ms) / 1000;
    return static_cast<double>(std::max<std::int64_t>(0, trial.started_ms)) / 1000;
}

double end_seconds(const Trial& trial, const std::string& attempt_uid) {
    for (const auto* attempts : {&trial.scoring_rows, &trial.attempt_rows})
        for (const AttemptRow& attempt : *attempts)
            if (attempt.uid == attempt_uid && attempt.ended_ms > 0) return static_cast<double>(attempt.ended_ms) / 1000;
    return start_seconds(trial);
}

struct Scalar {
    const char* tag;
    double (*value)(const TrainPoint&);
};

template <auto Member>
double of(const TrainPoint& point) {
    return static_cast<double>(point.*Member);
}

constexpr Scalar kScalars[] = {
    {"train/loss", of<&TrainPoint::loss>},
    {"train/learning_rate", of<&TrainPoint::lr>},
    {"train/gradient_norm", of<&TrainPoint::grad_norm>},
    {"train/tokens_per_second", of<&TrainPoint::tokens_per_second>},
    {"train/length", of<&TrainPoint::seqlen>},
    {"train/kept_tokens", of<&TrainPoint::kept_tokens>},
    {"cost/input_tokens", of<&TrainPoint::input_tokens>},
    {"cost/unique_tokens", of<&TrainPoint::unique_tokens>},
    {"cost/layer_tokens", of<&TrainPoint::layer_tokens>},
    {"cost/flops", of<&TrainPoint::flops>},
    {"cost/train_seconds", [](const TrainPoint& point) { return static_cast<double>(point.wall_ms) / 1000; }},
};

std::string words_of(const Trial& trial) {
    std::string text = "| | |\n|---|---|\n";
    const auto add = [&](const char* name, const std::string& value) {
        std::string cell;
        for (const char c : printable(value)) cell += c == '|' ? "\\|" : std::string(1, c);
        if (!cell.empty()) text += fmt::format("| {} | {} |\n", name, cell);
    };
    add("trial", results_db::trial_name(trial));
    add("recipe", trial.recipe);
    add("stage", trial.stage);
    add("axes", trial.axes_json);
    add("seed", trial.seeds.empty() ? std::to_string(trial.seed) : trial.seeds);
    add("config_hash", trial.config_hash);
    add("state", trial.state);
    add("commit", trial.code.git_sha + (trial.code.dirty ? " + uncommitted changes" : ""));
    add("host", trial.host.hostname);
    add("dataset", trial.dataset_name);
    if (!trial.settings.json || !trial.settings.json->is_object()) return text;
    Json configuration = *trial.settings.json;
    configuration.erase("local");  // paths and habits of this machine
    text += "\n```json\n" + configuration.dump(2, ' ', false, Json::error_handler_t::replace) + "\n```\n";
    return text;
}

}  // namespace

std::vector<EventFile> event_files(const Results& sweep, const Curves& curves) {
    std::vector<EventFile> files;
    std::set<std::string> used;
    for (const auto* trials : {&sweep.trials, &sweep.searched})
        for (const Trial& trial : *trials) {
            const auto curve = curves.find(trial.config_hash);
            const bool has_points = curve != curves.end() && !curve->second.points.empty();
            if (!has_points && trial.scores.empty()) continue;
            const std::string name = results_db::trial_name(trial);
            const std::size_t slash = name.rfind('/');
            std::string folder = folder_name(name.substr(0, slash)) + "/" + folder_name(name.substr(slash + 1));
            // Names that differ in a character which folders cannot have.
            if (!used.insert(folder).second) {
                folder += "-" + short_hash(trial.config_hash);
                used.insert(folder);
            }
            files.push_back(
                {&trial, folder,
                 fmt::format("events.out.tfevents.{:010}.deft", static_cast<std::int64_t>(start_seconds(trial)))});
        }
    return files;
}

std::string event_file_bytes(const Trial& trial, const TrialCurve& curve) {
    const double start = start_seconds(trial);
    std::string bytes = tf_record(version_event(start));
    bytes += tf_record(text_event({start, 0}, "trial", words_of(trial)));
    const auto at = [&](const TrainPoint& point) {
        return EventTime{start + static_cast<double>(point.wall_ms) / 1000, point.step};
    };
    for (const TrainPoint& point : curve.points)
        for (const Scalar& scalar : kScalars)
            bytes += tf_record(scalar_event(at(point), scalar.tag, scalar.value(point)));
    for (const auto& [step, loss] : curve.validation_losses) {
        const TrainPoint* point = newest_point(curve, step);
        bytes +=
            tf_record(scalar_event({point == nullptr ? start : at(*point).seconds, step}, "validation/loss", loss));
    }
    for (const Score& score : trial.scores)
        bytes += tf_record(scalar_event({end_seconds(trial, score.attempt_uid), std::max<std::int64_t>(0, score.step)},
                                        printable(stable_id(id_of(score))), score.value));
    return bytes;
}

}  // namespace deft::reporting
