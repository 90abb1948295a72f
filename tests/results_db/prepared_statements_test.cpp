// SQLite compiles each query of a report once, not once a trial.

#include <fmt/format.h>
#include <sqlite3.h>

#include "results_db/connection.h"
#include "results_db/reader.h"
#include "tests/catch.h"
#include "tests/results_db/fixture.h"

using namespace deft;
using namespace deft::test;

namespace {

int compiled = 0;  // SELECTs, subqueries among them

// SQLite asks an authorizer while it compiles, and never while it runs.
int count_selects(void*, int action, const char*, const char*, const char*, const char*) {
    compiled += action == SQLITE_SELECT;
    return SQLITE_OK;
}

int count_in(sqlite3* connection, const char**, const sqlite3_api_routines*) {
    return sqlite3_set_authorizer(connection, count_selects, nullptr);
}

// Counts in every connection that is opened while it lives.
struct CountedCompiling {
    CountedCompiling() { sqlite3_auto_extension(reinterpret_cast<void (*)()>(count_in)); }
    ~CountedCompiling() { sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(count_in)); }
};

int compiled_to_read(std::size_t trials) {
    const TemporaryFolder folder;
    const auto file = folder / "results.db", journal = folder / "journal.jsonl";
    {
        OneAttempt db(file);
        add_scored_trials(db, journal, trials);
    }
    const CountedCompiling counted;
    compiled = 0;
    const results_db::Reader reader(file);
    const results_db::StoredSweep sweep = reader.sweep("quick");
    CHECK(sweep.trials.size() == trials + 1);
    CHECK(reader.curves(sweep).size() == trials);
    CHECK(reader.pace("quick").merged == 0);
    return compiled;
}

}  // namespace

TEST_CASE("reading many trials compiles as many queries as reading few") {
    const int few = compiled_to_read(2);
    CHECK(few > 10);
    CHECK(compiled_to_read(40) == few);
}

TEST_CASE("a statement that was kept has no parameters or rows of its last use") {
    const TemporaryFolder folder;
    OneAttempt db(folder / "results.db");
    results_db::Connection connection(folder / "results.db", results_db::Connection::Mode::read);
    const char* const sql = "SELECT ?1 UNION ALL SELECT 2";
    {
        results_db::Statement first(connection, sql);
        REQUIRE(first.bind(1).step());  // left before its last row
        results_db::Statement second(connection, sql);
        REQUIRE(second.bind(7).step());
        CHECK(second.integer(0) == 7);
        CHECK(first.integer(0) == 1);
    }
    results_db::Statement again(connection, sql);
    REQUIRE(again.step());
    CHECK(again.is_null(0));
}

TEST_CASE("a statement that was kept knows a table that has changed since") {
    results_db::Connection connection("memory", results_db::Connection::Mode::memory);
    connection.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)");
    CHECK(connection.integer("SELECT * FROM t") == 1);
    connection.execute("DROP TABLE t; CREATE TABLE t (b, a); INSERT INTO t VALUES (2, 3)");
    CHECK(connection.integer("SELECT * FROM t") == 2);
}

TEST_CASE("all trials of a sweep are recorded, or none") {
    const TemporaryFolder folder;
    OneAttempt db(folder / "results.db");
    results_db::Trial wrong = a_trial("beef02");
    wrong.config_json = "no JSON";
    CHECK_THROWS_AS(db.writer.add_trials(db.sweep, {{a_trial("beef01"), {1, "a", "{}"}}, {wrong, {2, "b", "{}"}}}),
                    Error);
    CHECK(results_db::Reader(folder / "results.db").sweep("quick").trials.size() == 1);
    const auto ids = db.writer.add_trials(
        db.sweep, {{a_trial("beef01"), {1, "a", "{}"}}, {a_trial("cafe01"), {0, "baseline", "{}"}}});
    CHECK(ids.at(1) == db.trial_id);
    const auto trials = results_db::Reader(folder / "results.db").sweep("quick").trials;
    REQUIRE(trials.size() == 2);
    CHECK(trials[1].config_hash == hash_of("beef01"));
}
