#pragma once
// A small results database for tests.

#include <fmt/format.h>

#include <string>

#include "base/json.h"
#include "base/sha256.h"
#include "results_db/writer.h"
#include "tests/temporary_folder.h"

namespace deft::test {

inline results_db::Code a_code() {
    results_db::Code code;
    code.git_sha = "0123456789abcdef0123456789abcdef01234567";
    code.git_branch = "main";
    code.binary_sha256 = "b1";
    code.compiler = "GNU 12.2.0";
    code.cxx_flags = "-O3";
    code.build_type = "Release";
    return code;
}

inline results_db::Host a_host() {
    results_db::Host host;
    host.hostname = "node1";
    host.arch = "x86_64";
    host.cpu_model = "Example CPU";
    host.cores = 4;
    host.threads = 8;
    host.mem_bytes = 8LL << 30;
    host.kernel = "6.1";
    host.os = "Debian 12";
    return host;
}

inline Json a_config(const std::string& name, std::int64_t seed = 1) {
    return {{"name", name}, {"seed", seed}, {"train", {{"steps", 10}}}};
}

// The configuration hash of a_trial().
inline std::string hash_of(const std::string& name, std::int64_t seed = 1) {
    return sha256(canonical_json(a_config(name, seed)));
}

inline results_db::Trial a_trial(const std::string& name, std::int64_t seed = 1) {
    Json variant = a_config(name, seed);
    variant.erase("seed");
    return {hash_of(name, seed), sha256(canonical_json(variant)), seed, canonical_json(a_config(name, seed)),
            name + " label"};
}

inline results_db::NewAttempt an_attempt(const std::string& uid, std::int64_t number = 1) {
    results_db::NewAttempt attempt;
    attempt.uid = uid;
    attempt.number = number;
    attempt.worker = "driver/0";
    attempt.workdir = "runs/" + uid;
    return attempt;
}

inline journal::TrainPoint a_point(std::int64_t step, double loss = 3.5) {
    return {step, step * 100, step * 90, step * 80, static_cast<double>(step) * 1e9, step * 500, loss, 1e-3,
            0.5,  200,        64,        64};
}

inline journal::Evaluation a_score(std::int64_t step, double value) {
    return {step, "validation", "1", "valid", 0, "loss", "nats/token", "lower", value, 20, 0.01, 0};
}

template <class Record>
std::string line(const Record& record) {
    return journal::to_json(record).dump() + "\n";
}

// A writer with one trial and one live attempt of it.
struct OneAttempt {
    explicit OneAttempt(const std::filesystem::path& file) : writer(file) {
        code = writer.add_code(a_code());
        host = writer.add_host(a_host());
        trial_id = writer.add_trial(a_trial("cafe01"));
        sweep = writer.add_sweep({"quick", "s1", "name = 'quick'", "[]"});
        writer.add_place(sweep, trial_id, {0, "baseline", "{}"});
        attempt = writer.begin_attempt(trial_id, code, host, an_attempt("a1"));
    }
    results_db::Writer writer;
    std::int64_t code, host, trial_id, sweep, attempt;
};

inline results_db::Outcome ended_ok() {
    results_db::Outcome outcome;
    outcome.state = "ok";
    outcome.exit_code = 0;
    return outcome;
}

// Adds that many trials, each with a point and a validation loss from `journal`, which is written.
inline void add_scored_trials(OneAttempt& db, const std::filesystem::path& journal, std::size_t trials) {
    write_text(journal, line(a_point(1, 4)) + line(a_score(1, 3.25)));
    for (std::size_t i = 1; i <= trials; ++i) {
        const auto trial_id = db.writer.add_trial(a_trial(fmt::format("beef{:04x}", i)));
        db.writer.add_place(db.sweep, trial_id, {static_cast<std::int64_t>(i), fmt::format("c{}", i), "{}"});
        const auto attempt = db.writer.begin_attempt(trial_id, db.code, db.host, an_attempt(fmt::format("b{}", i)));
        db.writer.ingest(attempt, journal);
        db.writer.end_attempt(attempt, ended_ok());
    }
}

}  // namespace deft::test
