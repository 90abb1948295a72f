#include "sweeps/driver/verify_root.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "engine/train/checkpoint.h"
#include "experiments/attempt.h"
#include "experiments/checkpoints.h"
#include "sweeps/driver/root.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;
using results_db::Fault;
using results_db::FaultKind;
using results_db::VerifiedAttempt;

// The folders in a folder of the root; none where it is absent. Errors: io.
std::set<std::string> names_in(const fs::path& folder) {
    std::set<std::string> names;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        std::error_code gone;
        if (at->is_directory(gone)) names.insert(at->path().filename().string());
    }
    if (error && error != std::errc::no_such_file_or_directory)
        throw Error(ErrorKind::io, fmt::format("cannot read {}: {}", folder.string(), error.message()));
    return names;
}

// Bytes of a file; nothing where it is absent. Errors: io.
std::optional<std::int64_t> bytes_of(const fs::path& file) {
    std::error_code error;
    const auto bytes = static_cast<std::int64_t>(fs::file_size(file, error));
    if (!error) return bytes;
    if (error == std::errc::no_such_file_or_directory) return std::nullopt;
    throw Error(ErrorKind::io, fmt::format("cannot read {}: {}", file.string(), error.message()));
}

// Facts of an attempt's trial.json; nothing where it has none of them.
struct TrialFacts {
    std::string config_hash;
    std::optional<std::int64_t> log_every;  // steps
};
TrialFacts facts_of(const fs::path& run_folder) {
    TrialFacts facts;
    try {
        const Json trial = parse_json(read_file(run_folder / "trial.json"));
        facts.config_hash = trial.at("config_hash").get<std::string>();
        facts.log_every = trial.at("config").at("local").at("log_every").get<std::int64_t>();
    } catch (const std::exception&) {  // an older program wrote it, or it is gone
    }
    return facts;
}

class RootCheck {
 public:
    RootCheck(const fs::path& root, VerifyDepth depth)
        : root_(root),
          depth_(depth),
          runs_(names_in(root / "runs")),
          checkpoints_(names_in(root / "checkpoints")),
          stored_(database_file(root)) {}

    VerifiedRoot all() {
        part([&] { add_all(stored_.database_faults()); });
        // Damaged pages would make the rest look wrong.
        if (std::ranges::find(found_.faults, "results.db", &Fault::subject) != found_.faults.end())
            return std::move(found_);
        part([&] { add_all(stored_.trial_faults()); });
        part([&] { add_all(stored_.curve_faults()); });
        const bool is_whole = part([&] { check_attempts(); }) & part([&] { check_checkpoints(); });
        part([&] { check_files(); });
        if (is_whole) check_folders();
        found_.rows = stored_.compared_rows();
        return std::move(found_);
    }

 private:
    void add(FaultKind kind, const std::string& subject, const std::string& what) {
        found_.faults.push_back({kind, subject, what});
    }
    void add_all(const std::vector<Fault>& faults) {
        found_.faults.insert(found_.faults.end(), faults.begin(), faults.end());
    }

    // Whether the part ended. A part that cannot be read is a fault.
    template <class Part>
    bool part(const Part& check) {
        try {
            check();
            return true;
        } catch (const Error& error) {
            add(FaultKind::database, "results.db", first_line(error.what()));
            return false;
        }
    }
    // A check of one attempt or file, whose error is a fault of that kind.
    template <class Check>
    void one(FaultKind kind, const std::string& subject, const Check& check) {
        try {
            check();
        } catch (const Error& error) {
            add(kind, subject, first_line(error.what()));
        }
    }

    void check_attempts() {
        std::string trial;               // of the attempts before
        std::set<std::int64_t> covered;  // steps of these
        std::int64_t interval = 0;       // the longest of these; 0: not known
        for (const VerifiedAttempt& attempt : stored_.attempts()) {
            ++found_.attempts;
            found_.live += attempt.is_live;
            if (std::exchange(trial, attempt.config_hash) != attempt.config_hash) {
                covered.clear();
                interval = 0;
            }
            runs_.erase(fs::path(attempt.workdir).filename().string());
            one(FaultKind::journal, attempt.name, [&] {
                const fs::path folder = below_root(root_, attempt.workdir);
                const TrialFacts facts = facts_of(folder);
                // A migrated root: its journals have the hashes that an older program gave.
                if (!facts.config_hash.empty() && facts.config_hash != attempt.config_hash) {
                    ++found_.former;
                    checkpoints_.erase(checkpoint_folder(root_, facts.config_hash).filename().string());
                    return;
                }
                check_journal(attempt, experiments::journal_of_rank(folder, 0));
                if (attempt.trains) check_steps(attempt, facts.log_every, covered, interval);
            });
        }
        found_.merged = stored_.merged_attempts();
    }

    void check_journal(const VerifiedAttempt& attempt, const fs::path& journal) {
        const std::optional<std::int64_t> bytes = bytes_of(journal);
        if (!bytes) {
            if (attempt.read_bytes > 0) add(FaultKind::journal, attempt.name, journal.string() + " is missing");
            return;
        }
        if (*bytes < attempt.read_bytes)
            add(FaultKind::journal, attempt.name,
                fmt::format("{} has {} bytes, and the database read {}", journal.string(), *bytes, attempt.read_bytes));
        add_all(stored_.journal_faults(attempt, journal));
        // An attempt that was given up may have written later; a torn last line is in no database.
        if (attempt.state == "ok" && *bytes > attempt.read_bytes && has_whole_line(journal, attempt.read_bytes))
            add(FaultKind::journal, attempt.name,
                fmt::format("the database has {} of the {} bytes of {}", attempt.read_bytes, *bytes, journal.string()));
    }

    static bool has_whole_line(const fs::path& journal, std::int64_t from) {
        std::ifstream in(journal, std::ios::binary);
        in.seekg(from);
        std::string line;
        return std::getline(in, line) && !in.eof();
    }

    // Points come at each logging interval, and a resumed attempt begins where earlier ones end. covered, interval: of
    // the trial's earlier attempts here.
    void check_steps(const VerifiedAttempt& attempt, const std::optional<std::int64_t>& log_every,
                     std::set<std::int64_t>& covered, std::int64_t& interval) {
        const std::vector<std::int64_t> steps = stored_.steps(attempt);
        const std::int64_t begin = attempt.resume_step;
        if (begin > 0 && interval > 0) {
            const auto after = covered.upper_bound(begin);
            const std::int64_t last = after == covered.begin() ? 0 : *std::prev(after);
            if (begin - last >= interval)
                add(FaultKind::curve, attempt.name,
                    fmt::format("it resumed from step {}, and the curve before it ends at step {}", begin, last));
        }
        if (log_every) {
            std::int64_t before = begin;
            for (const std::int64_t step : steps) {
                if (step - before > *log_every)
                    add(FaultKind::curve, attempt.name,
                        fmt::format("no point between steps {} and {}, with a logging interval of {}", before, step,
                                    *log_every));
                before = step;
            }
            interval = std::max(interval, *log_every);
        }
        covered.insert(steps.begin(), steps.end());
    }

    void check_files() {
        for (const results_db::RecordedFile& recorded : stored_.files())
            one(FaultKind::artifact, recorded.attempt, [&] {
                const fs::path file = below_root(root_, recorded.path);
                const std::optional<std::int64_t> bytes = bytes_of(file);
                std::string wrong;
                if (!bytes)
                    wrong = "it is missing";
                else if (*bytes != recorded.bytes)
                    wrong = fmt::format("it has {} bytes, and {} were recorded", *bytes, recorded.bytes);
                else if (depth_ == VerifyDepth::whole && hash_of(file) != recorded.sha256)
                    wrong = "its SHA-256 is not the recorded one";
                if (bytes) count_file(file, *bytes);
                if (!wrong.empty() && !has_changed(recorded))
                    add(FaultKind::artifact, recorded.attempt, fmt::format("{}: {}", recorded.path, wrong));
            });
    }

    // A file of a checkpoint that was verified has the hash of its manifest.
    std::string hash_of(const fs::path& file) const {
        const auto verified = verified_.find(file);
        return verified != verified_.end() ? verified->second : sha256_file(file);
    }

    // A driver may have trained the trial again meanwhile.
    bool has_changed(const results_db::RecordedFile& recorded) {
        const std::vector<results_db::RecordedFile> now = stored_.files();
        return std::ranges::none_of(now, [&](const results_db::RecordedFile& one) {
            return one.path == recorded.path && one.sha256 == recorded.sha256;
        });
    }

    // The newest of each trial, from which training resumes; older ones go when it ends.
    void check_checkpoints() {
        for (const std::string& hash : stored_.config_hashes()) {
            ++found_.trials;
            const fs::path folder = checkpoint_folder(root_, hash);
            if (checkpoints_.erase(folder.filename().string()) == 0 || is_live(hash)) continue;
            const std::optional<fs::path> newest = experiments::newest_checkpoint(folder);
            if (!newest) continue;
            const std::string name = "checkpoints/" + folder.filename().string() + "/" + newest->filename().string();
            try {
                const Json manifest =
                    depth_ == VerifyDepth::whole ? engine::verify_checkpoint(*newest) : engine::read_manifest(*newest);
                for (const auto& [file, sha] : manifest.at("sha256").items()) {
                    const std::optional<std::int64_t> bytes = bytes_of(*newest / file);
                    if (!bytes) throw Error(ErrorKind::io, file + " is missing");
                    count_file(*newest / file, *bytes);
                    if (depth_ == VerifyDepth::whole) verified_[*newest / file] = sha.get<std::string>();
                }
            } catch (const Error& error) {
                if (!is_live(hash)) add(FaultKind::artifact, name, first_line(error.what()));
            }
        }
    }

    // A driver may have begun to train it meanwhile.
    bool is_live(const std::string& hash) {
        const std::vector<std::string> live = stored_.live_config_hashes();
        return std::ranges::find(live, hash) != live.end();
    }

    // The folders that no row named. A driver makes a run folder before its attempt has a row.
    void check_folders() {
        for (const VerifiedAttempt& attempt : stored_.attempts())
            runs_.erase(fs::path(attempt.workdir).filename().string());
        for (const std::string& name : runs_)
            if (fs::exists(experiments::journal_of_rank(root_ / "runs" / name, 0)))
                add(FaultKind::folder, "runs/" + name, "the database has no attempt of this folder");
        const std::vector<std::string> hashes = stored_.config_hashes();
        for (const std::string& hash : hashes) checkpoints_.erase(checkpoint_folder(root_, hash).filename().string());
        for (const std::string& name : checkpoints_)
            add(FaultKind::folder, "checkpoints/" + name, "the database has no trial of these checkpoints");
    }

    void count_file(const fs::path& file, std::int64_t bytes) {
        if (!counted_.insert(file).second) return;
        ++found_.files;
        found_.bytes += bytes;
    }

    fs::path root_;
    VerifyDepth depth_;
    std::set<std::string> runs_, checkpoints_;  // the folders that no row has named so far
    std::map<fs::path, std::string> verified_;  // SHA-256 of files
    std::set<fs::path> counted_;
    results_db::Verifier stored_;
    VerifiedRoot found_;
};

}  // namespace

VerifiedRoot verify_root(const fs::path& root, VerifyDepth depth) {
    return RootCheck(root, depth).all();
}

}  // namespace deft::sweeps
