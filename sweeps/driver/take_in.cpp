#include "sweeps/driver/take_in.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/short_hash.h"
#include "reporting/text.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

struct LeftFolder {
    fs::path path;
    TrialOrigin origin;
    JournalSummary journal;
};

// The folders below <root>/runs by what their names begin with: a configuration's short hash.
std::map<std::string, std::vector<fs::path>> folders_by_hash(const fs::path& root) {
    std::map<std::string, std::vector<fs::path>> folders;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(root / "runs", none)) {
        const std::string name = entry.path().filename().string();
        if (entry.is_directory(none)) folders[name.substr(0, name.find('.'))].push_back(entry.path());
    }
    return folders;
}

bool ended_well(const LeftFolder& folder) {
    return !folder.journal.damage && folder.journal.ended && folder.journal.ended->state == "ok";
}

// What the database does not know of a point's attempts, in their order, up to the last that ended well.
std::vector<LeftFolder> left_of(const results_db::Writer& writer, const Point& point, const std::vector<fs::path>& paths) {
    std::vector<LeftFolder> left;
    for (const fs::path& path : paths) {
        const auto origin = read_origin(path);
        if (!origin || origin->config_hash != point.config_hash || writer.has_attempt(origin->attempt.uid)) continue;
        left.push_back({path, *origin, read_journal(path / "journal.jsonl")});
    }
    std::sort(left.begin(), left.end(), [](const LeftFolder& a, const LeftFolder& b) {
        return a.origin.attempt.number < b.origin.attempt.number;
    });
    while (!left.empty() && !ended_well(left.back())) left.pop_back();
    return left;
}

void take_in(results_db::Writer& writer, std::int64_t experiment, const LeftFolder& folder) {
    results_db::NewAttempt attempt = folder.origin.attempt;
    attempt.number = std::max(attempt.number, writer.next_attempt_number(experiment));
    attempt.worker = "taken in";
    const std::int64_t id = writer.begin_attempt(experiment, writer.add_code(folder.origin.code),
                                                 writer.add_host(folder.origin.host), attempt);
    if (folder.journal.started) writer.set_running(id, {}, folder.journal.started->time_ms);
    const JournalSummary journal = ingest_rest(writer, id, folder.path / "journal.jsonl");
    results_db::Outcome outcome = outcome_of(journal, "nobody saw its end");
    if (journal.ended) outcome.ended_ms = journal.ended->time_ms;
    writer.end_attempt(id, outcome);
}

}  // namespace

std::vector<std::string> take_in_finished(results_db::Writer& writer, const fs::path& root,
                                          const std::vector<Point>& points, std::span<const std::size_t> wanted,
                                          const RecordedSweep& recorded) {
    std::vector<std::string> said;
    const auto folders = folders_by_hash(root);
    for (const std::size_t i : wanted) {
        const auto found = folders.find(short_hash(points[i].config_hash));
        if (found == folders.end() || writer.is_done(recorded.experiments[i])) continue;
        const std::vector<LeftFolder> left = left_of(writer, points[i], found->second);
        if (left.empty()) continue;
        for (const LeftFolder& folder : left) take_in(writer, recorded.experiments[i], folder);
        said.push_back(fmt::format("taken in {}: finished before in {}, which the database did not know",
                                   reporting::visible(points[i].name()), left.back().path.filename().string()));
    }
    return said;
}

}  // namespace deft::sweeps
