// Statistics of expert layers: from the journal to the database and back.

#include <cmath>
#include <limits>

#include "base/error.h"
#include "results_db/connection.h"
#include "results_db/reader.h"
#include "results_db/writer.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/results_db/fixture.h"

using namespace deft;
using namespace deft::results_db;
using namespace deft::test;
using journal::ExpertLoad;

namespace {

// Dyadic, so that 32 bits hold them: 4 experts, of which expert `busiest` has most of the choices.
ExpertLoad a_load(std::int64_t step, std::int64_t layer, std::size_t busiest) {
    ExpertLoad load{step, layer, {0.125, 0.125, 0.125, 0.125}, 0.0625, 1.25, 1.5, 0.75};
    load.load[busiest] = 0.625;
    return load;
}

bool same(const ExpertLoad& a, const ExpertLoad& b) {
    return a.step == b.step && a.layer == b.layer && a.load == b.load && a.dropped == b.dropped &&
           a.entropy == b.entropy && a.balance_loss == b.balance_loss && a.z_loss == b.z_loss;
}

std::string with_point(std::int64_t step, std::size_t busiest) {
    return line(a_point(step)) + line(a_load(step, 1, busiest)) + line(a_load(step, 3, busiest));
}

// "step/layer/busiest" of each row.
std::vector<std::string> rows_in(const std::filesystem::path& file, const std::string& hash = hash_of("cafe01")) {
    std::vector<std::string> rows;
    for (const ExpertLoad& load : Reader(file).expert_loads(hash)) {
        std::size_t busiest = 0;
        for (std::size_t i = 0; i < load.load.size(); ++i)
            if (load.load[i] > load.load[busiest]) busiest = i;
        rows.push_back(std::to_string(load.step) + "/" + std::to_string(load.layer) + "/" + std::to_string(busiest));
    }
    return rows;
}

}  // namespace

TEST_CASE("what experts did comes back by step and layer, as the journal had it") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db", journal = folder / "journal.jsonl";
    OneAttempt one(file);
    ExpertLoad pyramid = a_load(10, 3, 2);
    pyramid.load = {0.5, 0.25, 0.125, 0.0625, 0.0625, 0};
    write_text(journal, line(a_point(10)) + line(pyramid) + line(a_load(10, 1, 0)) + line(a_point(5)) +
                            line(a_point(10)) + line(pyramid) + line(a_load(10, 1, 0)));
    CHECK(one.writer.ingest(one.attempt, journal).lines == 7);
    const std::vector<ExpertLoad> loads = Reader(file).expert_loads(hash_of("cafe01"));
    REQUIRE(loads.size() == 2);
    CHECK(same(loads[0], a_load(10, 1, 0)));
    CHECK(same(loads[1], pyramid));
    CHECK(Reader(file).expert_loads("unknown").empty());
}

TEST_CASE("NaN and infinity of experts come back as they were") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db", journal = folder / "journal.jsonl";
    const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    OneAttempt one(file);
    write_text(journal, line(a_point(1)) + line(ExpertLoad{1, 0, {nan, 0.5, inf}, 0.25, nan, -inf, inf}));
    REQUIRE(one.writer.ingest(one.attempt, journal).lines == 2);
    const ExpertLoad load = Reader(file).expert_loads(hash_of("cafe01")).at(0);
    REQUIRE(load.load.size() == 3);
    CHECK(std::isnan(load.load[0]));
    CHECK(load.load[1] == 0.5);
    CHECK(load.load[2] == inf);
    CHECK(load.dropped == 0.25);
    CHECK(std::isnan(load.entropy));
    CHECK(load.balance_loss == -inf);
    CHECK(load.z_loss == inf);
}

TEST_CASE("steps that an attempt trains again replace what experts did in them") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db", journal = folder / "journal.jsonl";
    OneAttempt one(file);
    write_text(journal, with_point(10, 0) + with_point(20, 0) + with_point(30, 0));
    REQUIRE(one.writer.ingest(one.attempt, journal).lines == 9);
    write_text(journal, with_point(20, 1), true);
    REQUIRE(one.writer.ingest(one.attempt, journal).lines == 3);
    CHECK(rows_in(file) == std::vector<std::string>{"10/1/0", "10/3/0", "20/1/1", "20/3/1"});
}

TEST_CASE("an attempt that resumes from a checkpoint provides the steps after it") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db", journal = folder / "journal.jsonl", second = folder / "second.jsonl";
    OneAttempt one(file);
    write_text(journal,
               line(journal::Started{1, 1, "c", "d", 1, 1, 40, 9000, hash_of("cafe01"), 0, "", 0, "a new head", 3000}) +
                   with_point(10, 0) + with_point(20, 0) + with_point(30, 0));
    one.writer.ingest(one.attempt, journal);
    Outcome killed;
    killed.state = "failed";
    killed.fail_class = "crash";
    one.writer.end_attempt(one.attempt, killed);
    const std::int64_t next = one.writer.begin_attempt(one.trial_id, one.code, one.host, an_attempt("a2", 2));
    write_text(second, line(journal::Started{2, 2, "c", "d", 1, 1, 40, 9000, hash_of("cafe01"), 20, "", 0, "", 3000}) +
                           with_point(30, 1) + with_point(40, 1));
    one.writer.ingest(next, second);
    one.writer.end_attempt(next, ended_ok());
    CHECK(rows_in(file) ==
          std::vector<std::string>{"10/1/0", "10/3/0", "20/1/0", "20/3/0", "30/1/1", "30/3/1", "40/1/1", "40/3/1"});
    const StoredTrial trial = Reader(file).trial(hash_of("cafe01"));
    CHECK(trial.parameters == 9000);
    CHECK(trial.active_parameters == 3000);
    REQUIRE(trial.attempt_rows.size() == 2);
    CHECK(trial.attempt_rows[0].start_note == "a new head");
    CHECK(trial.attempt_rows[1].start_note.empty());
}

TEST_CASE("the note on a start stays while its attempt goes on, and goes when it restarts from step 0") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db", journal = folder / "journal.jsonl";
    OneAttempt one(file);
    const auto note_after = [&](const journal::Started& started) {
        write_text(journal, line(started), true);
        one.writer.ingest(one.attempt, journal);
        return Reader(file).trial(hash_of("cafe01")).attempt_rows.at(0).start_note;
    };
    CHECK(note_after({1, 1, "c", "d", 1, 1, 10, 1, hash_of("cafe01"), 0, "", 0, "a new head"}) == "a new head");
    CHECK(note_after({1, 1, "c", "d", 1, 1, 10, 1, hash_of("cafe01"), 4, "", 0, ""}) == "a new head");
    CHECK(note_after({1, 1, "c", "d", 1, 1, 10, 1, hash_of("cafe01"), 0, "", 0, ""}).empty());
}

TEST_CASE("a layer without experts and a truncated blob are reported") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db", journal = folder / "journal.jsonl";
    OneAttempt one(file);
    ExpertLoad none = a_load(10, 1, 0);
    none.load.clear();
    write_text(journal, line(a_point(10)) + line(none) + line(a_load(10, 3, 0)));
    CHECK_THAT(refusal(ErrorKind::io, [&] { one.writer.ingest(one.attempt, journal); }),
               ContainsSubstring("without experts") && ContainsSubstring("1 damaged line passed over"));
    CHECK(rows_in(file) == std::vector<std::string>{"10/3/0"});
    { Connection(file, Connection::Mode::write).execute("UPDATE expert_load SET load = x'00000000ff'"); }
    CHECK_THAT(refusal(ErrorKind::database, [&] { Reader(file).expert_loads(hash_of("cafe01")); }),
               ContainsSubstring("cut off"));
}
