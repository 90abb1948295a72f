#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "results_db/connection.h"
#include "results_db/reader.h"
#include "results_db/writer.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/results_db/fixture.h"

using namespace deft;
using namespace deft::results_db;
using namespace deft::test;

namespace {

std::int64_t stored(const std::filesystem::path& file, const char* sql) {
    Connection connection(file, Connection::Mode::read);
    return connection.integer(sql);
}

}  // namespace

TEST_CASE("a journal's records become rows") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db", journal = folder / "journal.jsonl";
    OneAttempt one(file);
    journal::Started started{4000, 9, "corpus", "d5", 1000, 250, 10, 60000, hash_of("cafe01"), 0, ""};
    journal::Ended ended{9000, "ok", "", "", 1.5, 1.25, 0.5, 3e9, 2, 1 << 20, 2.25};
    write_text(journal, line(started) + line(a_point(1)) + line(journal::Lease{4500, 8000, ""}) +
                            line(a_point(2, 3.25)) + line(a_score(1, 3.6)) + line(a_score(2, 3.3)) +
                            line(journal::Artifact{"checkpoint", "ckpt/2", "ff", 12, "last", 2}) + line(ended));
    const IngestResult result = one.writer.ingest(one.attempt, journal);
    CHECK(result.lines == 8);
    REQUIRE(result.started.has_value());
    CHECK(result.started->parameters == 60000);
    REQUIRE(result.last_point.has_value());
    CHECK(result.last_point->step == 2);
    REQUIRE(result.ended.has_value());
    CHECK(result.ended->state == "ok");
    REQUIRE(result.lease.has_value());
    CHECK(result.lease->until_ms == 8000);
    // The state is the driver's to change.
    CHECK(one.writer.live_attempts().size() == 1);
    one.writer.end_attempt(one.attempt, ended_ok());

    const StoredTrial row = Reader(file).trial(hash_of("cafe01"));
    CHECK(row.state == "ok");
    CHECK(row.dataset_name == "corpus");
    CHECK(row.dataset_sha256 == "d5");
    CHECK(row.total_steps == 10);
    CHECK(row.parameters == 60000);
    CHECK(row.train_seconds == 1.5);
    CHECK(row.eval_seconds == 0.5);
    CHECK(row.peak_rss_bytes == 1 << 20);
    CHECK(row.host.cpu_model == "Example CPU");
    CHECK(row.code.compiler == "GNU 12.2.0");
    REQUIRE(row.last_point.has_value());
    CHECK(journal::to_json(*row.last_point) == journal::to_json(a_point(2, 3.25)));
    REQUIRE(row.scores.size() == 1);  // the newest score of the task
    CHECK(row.scores[0].value == 3.3);
    CHECK(row.scores[0].step == 2);
    CHECK(row.scores[0].task == "validation");
    CHECK(row.scores[0].better == "lower");
    CHECK(row.scores[0].n == 20);
    CHECK(stored(file, "SELECT count(*) FROM artifact WHERE path = 'runs/a1/ckpt/2'") == 1);
}

TEST_CASE("what was drawn is one row a step, the later line standing") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db", journal = folder / "journal.jsonl";
    OneAttempt one(file);
    const journal::Sampling first{10, 40, 80, 3, 7, 0, {2.5, 0.5}}, second{20, 80, 160, 9, 11, 0, {3, 1}};
    journal::Sampling again = second;
    again.samples_repeated = 10;
    write_text(journal, line(first) + line(second) + line(again));
    CHECK(one.writer.ingest(one.attempt, journal).lines == 3);
    const Reader reader(file);
    const TrialCurve drawn = reader.curves(reader.sweep("quick")).at(hash_of("cafe01"));
    REQUIRE(drawn.sampling.size() == 2);
    CHECK(drawn.sampling[0].step == 10);
    CHECK(drawn.sampling[0].pool == 40);
    CHECK(drawn.sampling[0].cut_tokens == 7);
    CHECK(drawn.sampling[1].drawn == 160);
    CHECK(drawn.sampling[1].repeated == 10);
    CHECK(drawn.epochs == std::vector<double>{3, 1});
}

TEST_CASE("ingesting again adds nothing; a torn line waits for its rest") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db", journal = folder / "journal.jsonl";
    OneAttempt one(file);
    CHECK(one.writer.ingest(one.attempt, journal).lines == 0);  // not there yet
    const std::string third = line(a_point(3));
    write_text(journal, line(a_point(1)) + line(a_point(2)) + third.substr(0, 20));
    CHECK(one.writer.ingest(one.attempt, journal).lines == 2);
    const IngestResult again = one.writer.ingest(one.attempt, journal);
    CHECK(again.lines == 0);
    CHECK_FALSE(again.last_point.has_value());
    write_text(journal, third.substr(20), true);
    CHECK(one.writer.ingest(one.attempt, journal).last_point->step == 3);
    CHECK(Reader(file).curve(hash_of("cafe01")).size() == 3);
    CHECK(stored(file, "SELECT spool_bytes FROM attempt") ==
          static_cast<std::int64_t>(std::filesystem::file_size(journal)));
    CHECK(stored(file, "SELECT spool_lines FROM attempt") == 3);
}

TEST_CASE("a trial that resumes at the last stored step measures it again") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db", journal = folder / "journal.jsonl";
    OneAttempt one(file);
    write_text(journal, line(a_point(1)) + line(a_point(2)) + line(a_score(2, 3.0)) + line(a_point(3, 3.5)) +
                            line(a_score(3, 3.25)));
    REQUIRE(one.writer.ingest(one.attempt, journal).lines == 5);
    write_text(journal, line(a_point(3, 2.5)) + line(a_point(4, 2.25)), true);
    REQUIRE(one.writer.ingest(one.attempt, journal).lines == 2);
    const auto curve = Reader(file).curve(hash_of("cafe01"));
    REQUIRE(curve.size() == 4);
    CHECK(curve[2].step == 3);
    CHECK(curve[2].loss == 2.5);
    CHECK(curve[3].loss == 2.25);
    CHECK(stored(file, "SELECT count(*) FROM evaluation WHERE step = 3") == 0);
    CHECK(stored(file, "SELECT count(*) FROM evaluation WHERE step = 2") == 1);
    // The same within one call.
    write_text(journal, line(a_point(4, 2.0)) + line(a_point(5, 1.75)), true);
    REQUIRE(one.writer.ingest(one.attempt, journal).lines == 2);
    write_text(journal, line(a_point(6, 1.5)) + line(a_point(6, 1.25)), true);
    REQUIRE(one.writer.ingest(one.attempt, journal).lines == 2);
    CHECK(Reader(file).curve(hash_of("cafe01")).size() == 6);
    CHECK(Reader(file).curve(hash_of("cafe01")).back().loss == 1.25);
}

TEST_CASE("damaged lines are named and passed over, and the others are stored") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db", journal = folder / "journal.jsonl";
    OneAttempt one(file);
    write_text(journal, line(a_point(1)));
    one.writer.ingest(one.attempt, journal);
    std::string bad;
    SECTION("invalid JSON") {
        bad = "{\"type\":\"tra\n";
    }
    SECTION("another type") {
        bad = "{\"type\":\"poem\"}\n";
    }
    SECTION("a type that is not a string") {
        bad = "{\"type\":7}\n";
    }
    SECTION("no object") {
        bad = "[1]\n";
    }
    SECTION("empty") {
        bad = "\n";
    }
    SECTION("zeros") {
        bad = std::string(64, '\0') + "\n";
    }
    SECTION("a missing field") {
        bad = "{\"type\":\"lease\"}\n";
    }
    SECTION("a count below zero") {
        journal::Evaluation score = a_score(2, 1);
        score.n = -1;
        bad = line(score);
    }
    std::int64_t damaged = 1;
    SECTION("a block of another file, with line breaks") {
        bad = "e\nf}\n\n{\"type\":\"tr\n";
        damaged = 4;
    }
    write_text(journal, line(a_point(2)) + bad + line(a_point(3)), true);
    CHECK_THAT(refusal(ErrorKind::io, [&] { one.writer.ingest(one.attempt, journal); }),
               ContainsSubstring("journal.jsonl:3: a damaged line") &&
                   ContainsSubstring(counted(damaged, "damaged line") + " passed over, 2 lines taken in"));
    CHECK(Reader(file).curve(hash_of("cafe01")).size() == 3);
    CHECK(stored(file, "SELECT spool_lines FROM attempt") == 3 + damaged);
    // Stored lines stay, and the rest of the journal is read from there.
    write_text(journal, line(a_point(4)), true);
    CHECK(one.writer.ingest(one.attempt, journal).lines == 1);
}

TEST_CASE("a journal of another trial is refused, and nothing of the call is stored") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db", journal = folder / "journal.jsonl";
    OneAttempt one(file);
    write_text(journal, line(a_point(1)));
    one.writer.ingest(one.attempt, journal);
    journal::Started started;
    started.config_hash = "beef";
    write_text(journal, line(a_point(2)) + line(started) + line(a_point(3)), true);
    CHECK_THROWS_WITH(one.writer.ingest(one.attempt, journal),
                      ContainsSubstring("journal.jsonl:3: the journal is of configuration beef"));
    CHECK(Reader(file).curve(hash_of("cafe01")).size() == 1);
    CHECK(stored(file, "SELECT spool_lines FROM attempt") == 1);
}

TEST_CASE("a journal that shrank is refused") {
    const TemporaryFolder folder;
    OneAttempt one(folder / "results.db");
    write_text(folder / "journal.jsonl", line(a_point(1)) + line(a_point(2)));
    one.writer.ingest(one.attempt, folder / "journal.jsonl");
    write_text(folder / "journal.jsonl", line(a_point(1)));
    CHECK_THROWS_WITH(one.writer.ingest(one.attempt, folder / "journal.jsonl"), ContainsSubstring("shorter"));
}

TEST_CASE("NaN and infinity come back as they were") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db", journal = folder / "journal.jsonl";
    const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    OneAttempt one(file);
    journal::TrainPoint point = a_point(1, nan);
    point.grad_norm = inf;
    point.lr = -inf;
    point.tokens_per_second = nan;
    journal::Evaluation bad = a_score(1, nan), none = a_score(1, -inf);
    none.metric = "other";
    none.chance = nan;
    write_text(journal, line(point) + line(bad) + line(none) + line(a_point(2, -inf)));
    one.writer.ingest(one.attempt, journal);
    const Reader reader(file);
    const auto curve = reader.curve(hash_of("cafe01"));
    REQUIRE(curve.size() == 2);
    CHECK(std::isnan(curve[0].loss));
    CHECK(curve[0].grad_norm == inf);
    CHECK(curve[0].lr == -inf);
    CHECK(std::isnan(curve[0].tokens_per_second));
    CHECK(curve[0].flops == 1e9);
    CHECK(curve[1].loss == -inf);
    CHECK(curve[1].lr == 1e-3);
    const auto scores = reader.trial(hash_of("cafe01")).scores;
    REQUIRE(scores.size() == 2);
    CHECK(std::isnan(scores[0].value));
    CHECK(scores[0].chance == 0);
    CHECK(scores[1].value == -inf);
    CHECK(std::isnan(scores[1].chance));
}

TEST_CASE("a trial that resumed from a checkpoint replaces what came after it") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db", journal = folder / "journal.jsonl";
    OneAttempt one(file);
    std::string text = line(journal::Started{1, 1, "c", "d", 1, 1, 10, 1, hash_of("cafe01"), 0, ""});
    for (int step = 1; step <= 5; ++step) text += line(a_point(step, 9));
    text += line(a_score(2, 9)) + line(a_score(5, 9));
    text += line(journal::Ended{2, "failed", "io", "disk full", 1, 0, 0, 1, 1, 1});
    text += line(journal::Started{3, 2, "c", "d", 1, 1, 10, 1, hash_of("cafe01"), 0, ""});
    text += line(a_point(3, 8)) + line(a_point(4, 8));
    write_text(journal, text);
    const IngestResult result = one.writer.ingest(one.attempt, journal);
    CHECK_FALSE(result.ended.has_value());  // a later start: not the last word
    const auto curve = Reader(file).curve(hash_of("cafe01"));
    REQUIRE(curve.size() == 4);
    CHECK(curve[1].loss == 9);
    CHECK(curve[2].loss == 8);
    CHECK(curve[3].step == 4);
    CHECK(Reader(file).trial(hash_of("cafe01")).scores.at(0).step == 2);
}

TEST_CASE("kill -9 in the middle of ingestion loses nothing and doubles nothing") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db", journal = folder / "journal.jsonl";
    constexpr int kSteps = 4000;
    std::int64_t attempt = 0;
    {
        const OneAttempt one(file);
        attempt = one.attempt;
    }
    write_text(journal, "");
    std::int64_t written = 0;
    for (int round = 0; round < 12; ++round) {
        const pid_t child = fork();
        if (child == 0) {
            try {
                Writer writer(file);
                for (;;) writer.ingest(attempt, journal);
            } catch (...) {
            }
            _exit(1);
        }
        // The journal grows while the child reads it.
        for (int i = 0; i < kSteps / 12 && written < kSteps; ++i) write_text(journal, line(a_point(++written)), true);
        std::this_thread::sleep_for(std::chrono::milliseconds(5 * round));
        kill(child, SIGKILL);
        int status = 0;
        waitpid(child, &status, 0);
        CHECK(WIFSIGNALED(status));
        // Rows and offset agree at any moment.
        const Reader reader(file);
        const auto curve = reader.curve(hash_of("cafe01"));
        CHECK(stored(file, "SELECT spool_lines FROM attempt") == static_cast<std::int64_t>(curve.size()));
    }
    Writer writer(file);
    writer.ingest(attempt, journal);
    const auto curve = Reader(file).curve(hash_of("cafe01"));
    REQUIRE(static_cast<std::int64_t>(curve.size()) == written);
    for (std::size_t i = 0; i < curve.size(); ++i) REQUIRE(curve[i].step == static_cast<std::int64_t>(i + 1));
    Connection connection(file, Connection::Mode::read);
    CHECK(connection.text("PRAGMA integrity_check") == "ok");
}

TEST_CASE("lines longer than the reader's block are taken whole") {
    const TemporaryFolder folder;
    OneAttempt one(folder / "results.db");
    journal::Ended ended;
    ended.state = "failed";
    ended.error = std::string(1 << 20, 'e');
    std::string text;
    for (int step = 1; step <= 3000; ++step) text += line(a_point(step));
    write_text(folder / "journal.jsonl", line(ended) + text + line(ended));
    const IngestResult result = one.writer.ingest(one.attempt, folder / "journal.jsonl");
    CHECK(result.lines == 3002);
    CHECK(result.ended->error.size() == 1 << 20);
    CHECK(Reader(folder / "results.db").curve(hash_of("cafe01")).size() == 3000);
}
