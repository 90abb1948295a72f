// Queries with which a report reads a whole sweep at once.

#include <cmath>

#include "base/json.h"
#include "base/score_key.h"
#include "results_db/trial_name.h"
#include "tests/catch.h"
#include "tests/results_db/fixture.h"

using namespace deft;
using namespace deft::test;

TEST_CASE("curves and checkpoints of a sweep are those of the attempts that its rows show") {
    const TemporaryFolder folder;
    OneAttempt db(folder / "results.db");
    const auto journal = folder / "journal.jsonl";
    journal::Artifact checkpoint;
    checkpoint.kind = "checkpoint";
    checkpoint.path = "final.safetensors";
    checkpoint.sha256 = std::string(64, 'c');
    checkpoint.bytes = 5;
    checkpoint.role = "final";
    checkpoint.step = 2;
    write_text(journal, line(a_point(1, 4)) + line(a_point(2, NAN)) + line(a_score(2, 3.25)) + line(checkpoint));
    db.writer.ingest(db.attempt, journal);
    db.writer.end_attempt(db.attempt, ended_ok());
    // A later attempt that failed does not represent the trial.
    const auto later = db.writer.begin_attempt(db.trial_id, db.code, db.host, an_attempt("a2", 2));
    const auto other = folder / "other.jsonl";
    write_text(other, line(a_point(1, 9)));
    db.writer.ingest(later, other);
    results_db::Outcome failed;
    failed.state = "failed";
    failed.fail_class = "nan";
    db.writer.end_attempt(later, failed);
    // Another sweep's trial is not this one's.
    const auto foreign = db.writer.add_trial(a_trial("beef02"));
    db.writer.add_place(db.writer.add_sweep({"other", "s2", "", "[]"}), foreign, {0, "x", "{}"});
    db.writer.ingest(db.writer.begin_attempt(foreign, db.code, db.host, an_attempt("b1")), other);

    const results_db::Reader reader(folder / "results.db");
    const auto curves = reader.curves(reader.sweep("quick"));
    REQUIRE(curves.size() == 1);
    const results_db::TrialCurve& curve = curves.at(hash_of("cafe01"));
    REQUIRE(curve.points.size() == 2);
    CHECK(curve.points[0].loss == 4);
    CHECK(std::isnan(curve.points[1].loss));
    CHECK(curve.points[1].layer_tokens == 160);
    CHECK(curve.points[1].kept_tokens == 64);
    CHECK(curve.validation_losses == std::vector<std::pair<std::int64_t, double>>{{2, 3.25}});
    const auto checkpoints = reader.checkpoints(reader.sweep("quick"));
    REQUIRE(checkpoints.size() == 1);
    CHECK(checkpoints[0].config_hash == hash_of("cafe01"));
    CHECK(checkpoints[0].sha256 == std::string(64, 'c'));
    CHECK(checkpoints[0].step == 2);
    CHECK(reader.curves(reader.sweep("other")).size() == 1);
    results_db::SweepHead none;
    none.id = 99;
    CHECK(reader.curves(none).empty());
    CHECK(reader.checkpoints(none).empty());
}

TEST_CASE("a planned sweep has the places, states and scores asked for of its trials, and no attempts") {
    const TemporaryFolder folder;
    OneAttempt db(folder / "results.db");
    add_scored_trials(db, folder / "journal.jsonl", 2);
    results_db::Outcome failed;
    failed.state = "failed";
    db.writer.end_attempt(db.attempt, failed);
    const results_db::Reader reader(folder / "results.db");
    const results_db::StoredSweep all = reader.sweep("quick"), planned = reader.planned_sweep("quick");
    REQUIRE(planned.trials.size() == 3);
    for (std::size_t i = 0; i < all.trials.size(); ++i) {
        const results_db::StoredTrial &one = all.trials[i], &plan = planned.trials[i];
        CHECK(results_db::trial_name(plan) == results_db::trial_name(one));
        CHECK(plan.config_hash == one.config_hash);
        CHECK(plan.config_json == one.config_json);
        CHECK(plan.state == one.state);
        CHECK(plan.asked.size() == one.asked.size());
        CHECK(canonical_json(*one.config) == one.config_json);
        CHECK((plan.attempt_rows.empty() && !one.attempt_rows.empty()));
        CHECK(plan.scores.empty());
    }
    CHECK(planned.trials.front().state == "failed");
    CHECK(planned.trials.back().state == "ok");
}

TEST_CASE("each attempt names its own commit and machine, and a sweep the text of its file") {
    const TemporaryFolder folder;
    OneAttempt db(folder / "results.db");
    db.writer.end_attempt(db.attempt, ended_ok());
    results_db::Code changed = a_code();
    changed.git_sha = std::string(40, 'f');
    changed.dirty = true;
    changed.diff_sha256 = "d1ff";
    results_db::Host other = a_host();
    other.hostname = "node2";
    other.cores = 64;
    db.writer.begin_attempt(db.trial_id, db.writer.add_code(changed), db.writer.add_host(other), an_attempt("a2", 2));
    db.writer.add_sweep({"text", "s9", "name = \"text\"\n", "[]"});
    const results_db::Reader reader(folder / "results.db");
    const auto attempts = reader.sweep("quick").trials.front().attempt_rows;
    REQUIRE(attempts.size() == 2);
    CHECK(attempts[0].code.git_sha == a_code().git_sha);
    CHECK(attempts[0].code.binary_sha256 == "b1");
    CHECK_FALSE(attempts[0].code.dirty);
    CHECK(attempts[0].host.hostname == "node1");
    CHECK(attempts[0].host.cpu_model == "Example CPU");
    CHECK(attempts[1].code.git_sha == changed.git_sha);
    CHECK(attempts[1].code.dirty);
    CHECK(attempts[1].code.diff_sha256 == "d1ff");
    CHECK(attempts[1].host.hostname == "node2");
    CHECK(attempts[1].host.cores == 64);
    CHECK(reader.sweeps().front().spec_toml == "name = \"text\"\n");
}

TEST_CASE("validations on the way are curves of the training that is the result, and scores of nothing") {
    const TemporaryFolder folder;
    OneAttempt db(folder / "results.db");
    const auto validated = [](std::int64_t step, double loss) {
        journal::Evaluation score = a_score(step, loss);
        score.score_key = kWhileTraining;
        return line(score);
    };
    const auto started = [](std::int64_t resume_step) {
        journal::Started record;
        record.time_ms = 1;
        record.resume_step = resume_step;
        return line(record);
    };
    // Stopped after step 3, gone on from step 2, where a validation was due; trained to the end; then trained again.
    write_text(folder / "1.jsonl", started(0) + line(a_point(1, 4)) + validated(1, 4.5) + line(a_point(2, 3)) +
                                       line(a_point(3, 3)) + validated(3, 9));
    db.writer.ingest(db.attempt, folder / "1.jsonl");
    results_db::Outcome stopped;
    stopped.state = "preempted";
    stopped.fail_class = "preempt";
    db.writer.end_attempt(db.attempt, stopped);
    const auto second = db.writer.begin_attempt(db.trial_id, db.code, db.host, an_attempt("a2", 2));
    write_text(folder / "2.jsonl", started(2) + validated(2, 3.5) + line(a_point(3, 2)) + validated(3, 2.5));
    db.writer.ingest(second, folder / "2.jsonl");
    CHECK_FALSE(db.writer.was_validated(99));
    CHECK(db.writer.was_validated(db.trial_id));
    db.writer.end_attempt(second, ended_ok());
    const auto losses = [&] {
        const results_db::Reader reader(folder / "results.db");
        return reader.curves(reader.sweep("quick")).at(hash_of("cafe01")).validation_losses;
    };
    using Losses = std::vector<std::pair<std::int64_t, double>>;
    CHECK(losses() == Losses{{1, 4.5}, {2, 3.5}, {3, 2.5}});
    {
        const results_db::Reader reader(folder / "results.db");
        CHECK(reader.sweep("quick").trials.at(0).scores.empty());
    }
    const auto third = db.writer.begin_attempt(db.trial_id, db.code, db.host, an_attempt("a3", 3));
    write_text(folder / "3.jsonl", started(0) + line(a_point(3, 2)) + validated(3, 2.25));
    db.writer.ingest(third, folder / "3.jsonl");
    db.writer.end_attempt(third, ended_ok());
    CHECK(losses() == Losses{{3, 2.25}});
}
