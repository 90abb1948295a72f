// A place of a sweep whose data or program has changed has several trainings, one of which represents it.

#include <map>

#include "results_db/open.h"
#include "results_db/reader.h"
#include "results_db/writer.h"
#include "tests/catch.h"
#include "tests/results_db/fixture.h"

using namespace deft;
using namespace deft::results_db;
using namespace deft::test;

namespace {

// A sweep whose places are given to trainings of new data, one after the other.
struct Places {
    TemporaryFolder folder;
    Writer writer{folder / "results.db"};
    std::int64_t code = writer.add_code(a_code()), host = writer.add_host(a_host());
    std::int64_t sweep = writer.add_sweep({"quick", "s1", "name = 'quick'", "[]"});

    std::map<std::string, std::string> names;  // by configuration hash
    int attempts = 0;

    std::int64_t plan(const std::string& name, const TrialPlace& place, std::int64_t seed = 1) {
        const std::int64_t trial_id = writer.add_trial(a_trial(name, seed));
        names[hash_of(name, seed)] = name;
        writer.add_place(sweep, trial_id, place);
        return trial_id;
    }
    void end(std::int64_t trial_id, const std::string& state) {
        const std::int64_t attempt = writer.begin_attempt(
            trial_id, code, host,
            an_attempt("attempt " + std::to_string(++attempts), writer.next_attempt_number(trial_id)));
        Outcome outcome = ended_ok();
        outcome.state = state;
        outcome.fail_class = state == "ok" ? "" : "nan";
        writer.end_attempt(attempt, outcome);
    }
    std::vector<std::string> shown() const {
        std::vector<std::string> planned;
        for (const StoredTrial& trial : Reader(folder / "results.db").sweep("quick").trials)
            planned.push_back(
                names.at(trial.config_hash) +
                (trial.newer_state.empty() ? "" : " " + trial.newer_state + " " + names.at(trial.newer_hash)));
        return planned;
    }
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("the last planned training that ended well represents its place") {
    Places places;
    const TrialPlace place{0, "plain", "{}"};
    const std::int64_t before = places.plan("aa", place);
    CHECK(places.shown() == Names{"aa"});
    places.end(before, "ok");
    const std::int64_t after = places.plan("bb", place);
    CHECK(places.shown() == Names{"aa pending bb"});
    places.end(after, "failed");
    CHECK(places.shown() == Names{"aa failed bb"});
    places.end(after, "ok");
    CHECK(places.shown() == Names{"bb"});
    // A third, of which nothing has come: the newest that ended well, not the oldest.
    places.plan("cc", place);
    CHECK(places.shown() == Names{"bb pending cc"});
    // The data is what it was: its training, planned again, represents the place again.
    places.plan("aa", place);
    CHECK(places.shown() == Names{"aa"});
}

TEST_CASE("where no training ended well, the one planned last represents its place") {
    Places places;
    const TrialPlace place{0, "plain", "{}"};
    places.end(places.plan("aa", place), "failed");
    places.plan("bb", place);
    CHECK(places.shown() == Names{"bb"});
    places.plan("aa", place);
    CHECK(places.shown() == Names{"aa"});
}

TEST_CASE("stage, case, axes and seeds each distinguish places") {
    Places places;
    TrialPlace staged{1, "plain", "{}"}, chained{3, "plain", "{}"};
    staged.stage = "tune";
    chained.stage = "tune";
    chained.seeds = "1.2";
    places.plan("aa", {0, "plain", "{}"});
    places.plan("bb", staged);
    places.plan("cc", {2, "wide", "{}"});
    places.plan("dd", chained);
    places.plan("ee", {4, "plain", R"({"train.budget_fraction":0.5})"});
    places.plan("ff", {5, "plain", "{}"}, 2);
    CHECK(places.shown() == Names{"aa", "bb", "cc", "dd", "ee", "ff"});
    // A chain of one seed is the place of that seed.
    TrialPlace named{0, "plain", "{}"};
    named.seeds = "1";
    places.plan("gg", named);
    CHECK(places.shown() == Names{"gg", "bb", "cc", "dd", "ee", "ff"});
    // Another sweep's places are its own.
    places.sweep = places.writer.add_sweep({"other", "s2", "name = 'other'", "[]"});
    places.plan("hh", {0, "plain", "{}"});
    CHECK(places.shown() == Names{"gg", "bb", "cc", "dd", "ee", "ff"});
}

TEST_CASE("a database of version 11 keeps its places and scores, which did not say what they were of") {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder / "results.db";
    {
        const auto old = open_for_writing(file, migrations().first(11));
        old->execute(
            ("INSERT INTO code (fingerprint, git_sha, git_branch, dirty, diff_sha256, binary_sha256, compiler,"
             " cxx_flags, build_type) VALUES ('f', 'c', 'main', 0, '', 'b', 'g', '', 'Release');"
             "INSERT INTO host (fingerprint, hostname, arch, cpu_model, cores, threads, mem_bytes, kernel, os)"
             " VALUES ('h', 'n', 'x', 'cpu', 1, 1, 1, '', '');"
             "INSERT INTO sweep (uid, name, spec_sha256, spec_toml, created_ms, use_order)"
             " VALUES ('u', 's', 'h', '', 1, 1);"
             "INSERT INTO experiment (config_hash, variant_hash, seed, config_json, label, created_ms)"
             " VALUES " +
             values_of(a_trial("c1", 3)) + ", " + values_of(a_trial("c2", 3)) +
             ";"
             "INSERT INTO sweep_member (sweep_id, experiment_id, case_key, ordinal, axes_json)"
             " VALUES (1, 2, 'plain', 0, '{}'), (1, 1, 'plain', 0, '{}');"
             "INSERT INTO attempt (uid, experiment_id, number, code_id, host_id, state, worker, slots_json,"
             " argv_json, workdir, created_ms, ended_ms, kind)"
             " VALUES ('a', 2, 1, 1, 1, 'ok', 'd/0', '{}', '[]', 'runs/a', 1, 2, 'train'),"
             " ('b', 2, 2, 1, 1, 'ok', 'd/0', '{}', '[]', 'runs/b', 1, 2, 'score');"
             "INSERT INTO score (attempt_id, score_key, task, task_sha256, shots, documents, step, model_sha256)"
             " VALUES (2, 'k', 'piqa', 't', 0, 20, 8, '');"
             "INSERT INTO metric (name, unit, better) VALUES ('acc', '', 'higher');"
             "INSERT INTO evaluation (attempt_id, step, code_id, task, task_version, split, shots, metric_id,"
             " value, n, score_key) VALUES (2, 8, 1, 'piqa', '1', 'test', 0, 1, 0.5, 20, 'k')")
                .c_str());
    }
    { const Writer writer(file); }
    CHECK(std::filesystem::exists(backup_of(file, 11)));
    const StoredSweep sweep = Reader(file).sweep("s");
    REQUIRE(sweep.trials.size() == 1);  // the newer of two that a place was given in no known order
    CHECK(sweep.trials[0].config_hash == hash_of("c2", 3));
    REQUIRE(sweep.trials[0].scores.size() == 1);
    const ScoreRow& score = sweep.trials[0].scores[0];
    CHECK(score.task_sha256 == "t");
    CHECK(score.definition_sha256.empty());
    CHECK(score.scoring_version == 1);
}

TEST_CASE("what a score was of comes out as its journal said, and of an older journal as far as it said") {
    const TemporaryFolder folder;
    OneAttempt one(folder / "results.db");
    one.writer.end_attempt(one.attempt, ended_ok());
    NewAttempt scoring = an_attempt("a2", 2);
    scoring.work = Work::score;
    const std::int64_t attempt = one.writer.begin_attempt(one.trial_id, one.code, one.host, scoring);
    journal::Evaluation first = a_score(10, 0.5), second = a_score(10, 0.25);
    first.score_key = "k1";
    first.task = "mine";
    second.score_key = "k2";
    second.task = "other";
    journal::Scored scored{"k1", "mine", "t1", 0, 20, 10, "m"};
    scored.definition_sha256 = "d1";
    scored.scoring_version = 7;
    Json older = journal::to_json(journal::Scored{"k2", "other", "t2", 0, 20, 10, "m"});
    older.erase("definition_sha256");
    older.erase("scoring_version");
    write_text(folder / "journal.jsonl", line(first) + line(scored) + line(second) + older.dump() + "\n");
    REQUIRE(one.writer.ingest(attempt, folder / "journal.jsonl").lines == 4);
    const StoredTrial trial = Reader(folder / "results.db").trial(hash_of("cafe01"));
    REQUIRE(trial.scores.size() == 2);
    CHECK(trial.scores[0].task_sha256 == "t1");
    CHECK(trial.scores[0].definition_sha256 == "d1");
    CHECK(trial.scores[0].scoring_version == 7);
    CHECK(trial.scores[1].task_sha256 == "t2");
    CHECK(trial.scores[1].definition_sha256.empty());
    CHECK(trial.scores[1].scoring_version == 1);
}
