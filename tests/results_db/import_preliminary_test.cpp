// The import of a filled database of the last schema before the first release: no measurement is lost.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/sha256.h"
#include "results_db/open.h"
#include "results_db/reader.h"
#include "results_db/sweep_heads.h"
#include "results_db/writer.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/results_db/fixture.h"
#include "tests/results_db/preliminary_database.h"

using namespace deft;
using namespace deft::results_db;
using namespace deft::test;

namespace {

std::vector<std::string> texts(Connection& connection, const std::string& sql) {
    std::vector<std::string> all;
    for (Statement query(connection, sql.c_str()); query.step();) all.push_back(query.text(0));
    return all;
}

const std::string kTables =
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY 1";

// Every row of the table, each value with its type, in the order of the named columns.
std::vector<std::string> rows_of(Connection& connection, const std::string& table,
                                 const std::vector<std::string>& columns) {
    std::string row;
    for (const std::string& column : columns) row += (row.empty() ? "quote(" : " || ',' || quote(") + column + ")";
    return texts(connection, "SELECT " + row + " FROM " + table + " ORDER BY 1");
}

// Columns of each table, generated ones included.
std::map<std::string, std::vector<std::string>> columns_by_table(Connection& connection) {
    std::map<std::string, std::vector<std::string>> tables;
    for (const std::string& table : texts(connection, kTables))
        tables[table] = texts(connection, "SELECT name FROM pragma_table_xinfo('" + table + "') ORDER BY 1");
    return tables;
}

const std::string kSchema =
    "SELECT type || ' ' || name || ' ' || ifnull(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY 1";

}  // namespace

TEST_CASE("A filled database of the last preliminary schema is imported with all of its rows") {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder / "results.db";
    write_preliminary_database(file);
    std::map<std::string, std::vector<std::string>> columns, before;
    {
        Connection old(file, Connection::Mode::read);
        columns = columns_by_table(old);
        for (const auto& [table, names] : columns) {
            before[table] = rows_of(old, table, names);
            INFO(table);
            CHECK_FALSE(before[table].empty());
        }
    }
    CHECK(columns.size() == 24);
    { const Writer writer(file); }
    CHECK(schema_version(file) == newest_schema());

    Connection connection(file, Connection::Mode::read);
    CHECK(connection.text("PRAGMA integrity_check") == "ok");
    CHECK(connection.integer("SELECT count(*) FROM pragma_foreign_key_check") == 0);
    for (const auto& [table, names] : columns) {
        INFO(table);
        if (table == "migration" || table == "former_hash") continue;
        CHECK(rows_of(connection, table, names) == before[table]);
    }
    CHECK(connection.integer("SELECT count(*) FROM migration") == newest_schema().number);
    // A new database has the same schema, to the letter.
    const std::filesystem::path fresh = folder / "fresh.db";
    { const Writer writer(fresh); }
    Connection empty(fresh, Connection::Mode::read);
    CHECK(texts(connection, kSchema) == texts(empty, kSchema));
    CHECK(connection.integer("PRAGMA application_id") == empty.integer("PRAGMA application_id"));
}

TEST_CASE("An imported database is read, and its sweeps go on") {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder / "results.db";
    write_preliminary_database(file);
    CHECK_THAT(refusal(ErrorKind::database, [&] { const Reader reader(file); }),
               ContainsSubstring("older preliminary schema version 14") &&
                   ContainsSubstring("deft db upgrade --root " + folder.path().string()));
    CHECK(schema_version(file) == SchemaVersion{14, true});
    Writer writer(file);
    CHECK(schema_version(backup_of(file, {14, true})) == SchemaVersion{14, true});
    REQUIRE(writer.live_attempts().size() == 1);
    Outcome outcome;
    outcome.state = "stale";
    writer.end_attempt(writer.live_attempts()[0].id, outcome);

    const Reader reader(file);
    REQUIRE(reader.sweeps().size() == 2);
    const StoredSweep tiny = reader.sweep(full_name(reader.sweeps()[1]));
    CHECK(tiny.file_sha256 == sha256(tiny.spec_toml));
    CHECK(tiny.title == "A tiny sweep");
    REQUIRE(tiny.trials.size() == 5);
    for (const StoredTrial& trial : tiny.trials) {
        INFO(trial.recipe);
        CHECK(trial.state == "ok");
        CHECK(trial.usd.has_value());
        CHECK(trial.last_point->step >= 16);
        CHECK_FALSE(trial.scores.empty());
        CHECK(trial.unscored() == 0);
        CHECK_FALSE(reader.curve(trial.config_hash).empty());
    }
    CHECK_FALSE(reader.expert_loads(tiny.trials[1].config_hash).empty());
    CHECK(reader.baselines().size() == 3);
    CHECK(reader.verdicts().size() == 2);
    CHECK(reader.benches().size() == 2);
    CHECK(reader.evidence(full_name(tiny)).attempts == 10);
}

TEST_CASE("A preliminary database that is older, damaged or half migrated is refused and left as it was") {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder / "results.db";
    std::string says;
    SECTION("older") {
        write_preliminary_database(file, 13);
        says = "imports version 14 alone";
    }
    SECTION("newer") {
        write_preliminary_database(file, 15);
        says = "imports version 14 alone";
    }
    SECTION("without a table") {
        write_preliminary_database(file);
        Connection(file, Connection::Mode::write).execute("DROP TABLE spent");
        says = "no table spent";
    }
    SECTION("without a column") {
        write_preliminary_database(file);
        Connection connection(file, Connection::Mode::write);
        connection.execute("ALTER TABLE attempt DROP COLUMN held_seconds");
        says = "no column held_seconds in its table attempt";
    }
    SECTION("with a reference to nothing") {
        write_preliminary_database(file);
        Connection connection(file, Connection::Mode::write);
        connection.execute("PRAGMA foreign_keys = OFF; DELETE FROM code");
        says = "would break references in table";
    }
    SECTION("with a value that the schema refuses") {
        write_preliminary_database(file);
        Connection connection(file, Connection::Mode::write);
        connection.execute("PRAGMA ignore_check_constraints = ON; UPDATE attempt SET devices = -1");
        says = "CHECK constraint failed";
    }
    std::vector<std::string> before;
    {
        Connection connection(file, Connection::Mode::read);
        before = texts(connection, kSchema);
    }
    CHECK_THAT(refusal(ErrorKind::database, [&] { const Writer writer(file); }), ContainsSubstring(says));
    Connection connection(file, Connection::Mode::read);
    CHECK(texts(connection, kSchema) == before);
    CHECK(connection.integer("PRAGMA user_version") >= 13);
}

TEST_CASE("Steps after the first migrate an imported database like any other") {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder / "results.db";
    write_preliminary_database(file);
    std::vector<Migration> steps(migrations().begin(), migrations().end());
    steps.push_back(
        {migrations().back().version + 1, "page faults", "ALTER TABLE attempt ADD COLUMN page_faults INTEGER"});
    const auto connection = open_for_writing(file, steps);
    CHECK(connection->integer("SELECT count(*) FROM attempt WHERE page_faults IS NULL") > 0);
    CHECK(connection->integer("PRAGMA user_version") == steps.back().version);
    CHECK(connection->integer("SELECT count(*) FROM migration") == static_cast<std::int64_t>(steps.size()));
}

TEST_CASE("A table that somebody added to a preliminary database survives the import") {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder / "results.db";
    write_preliminary_database(file);
    Connection(file, Connection::Mode::write)
        .execute("CREATE TABLE \"my \"\"notes\" (x); INSERT INTO \"my \"\"notes\" VALUES (7)");
    { const Writer writer(file); }
    Connection connection(file, Connection::Mode::read);
    CHECK(connection.integer("SELECT x FROM \"my \"\"notes\"") == 7);
}
