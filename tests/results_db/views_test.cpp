// The SQL views of docs/sql-views.md: who creates and replaces them, and what they hold.

#include "results_db/views.h"

#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "base/files.h"
#include "results_db/open.h"
#include "results_db/reader.h"
#include "results_db/writer.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/results_db/fixture.h"
#include "tests/results_db/preliminary_database.h"

using namespace deft;
using namespace deft::results_db;
using namespace deft::test;

namespace {

std::string sql_of(const std::filesystem::path& file, const std::string& name) {
    Connection connection(file, Connection::Mode::read);
    return connection.text(("SELECT sql FROM sqlite_schema WHERE name = '" + name + "'").c_str());
}

void execute(const std::filesystem::path& file, const std::string& sql) {
    Connection(file, Connection::Mode::write).execute(sql.c_str());
}

// As a program before these views left it: with the v_curve of its schema alone.
void make_older(const std::filesystem::path& file) {
    for (const View& view : views()) execute(file, "DROP VIEW " + std::string(view.name));
    const std::string schema = migrations().front().sql;
    const std::size_t begin = schema.find("CREATE VIEW v_curve"), end = schema.find(';', begin);
    execute(file, schema.substr(begin, end - begin));
}

// A page's text from the view's heading to the next one.
std::string section_of(const std::string& page, const std::string& view) {
    const std::size_t begin = page.find("\n## " + view + "\n");
    if (begin == std::string::npos) return {};
    return page.substr(begin, page.find("\n## ", begin + 1) - begin);
}

}  // namespace

TEST_CASE("The page on SQL views describes each column, and no other") {
    const std::string page = read_file(DEFT_SOURCE_DIR "/docs/sql-views.md");
    const auto connection = open_in_memory("the schema");
    for (const View& view : views()) {
        const std::string section = section_of(page, view.name);
        std::set<std::string> columns;
        Statement query(*connection, "SELECT name FROM pragma_table_xinfo(?1)");
        for (query.bind(view.name); query.step();) columns.insert(query.text(0));
        CHECK(columns.size() >= 8);
        for (const std::string& column : columns) {
            INFO(view.name << "." << column);
            CHECK(section.find("`" + column + "`") != std::string::npos);
        }
        static const std::regex kRow("\n\\| `(\\w+)` \\|");
        for (std::sregex_iterator row(section.begin(), section.end(), kRow), end; row != end; ++row) {
            INFO(view.name << ": " << (*row)[1].str());
            CHECK(columns.contains((*row)[1].str()));
        }
    }
}

TEST_CASE("A new database has every view, and a hardened connection reads them") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    { const OneAttempt one(file); }
    for (const View& view : views()) {
        INFO(view.name);
        CHECK(sql_of(file, view.name) == view.sql);
        Connection connection(file, Connection::Mode::read);
        CHECK(connection.integer("PRAGMA trusted_schema") == 0);
        CHECK_NOTHROW(connection.integer(("SELECT count(*) FROM " + std::string(view.name)).c_str()));
    }
}

TEST_CASE("A writer brings the views of an older database up to date, and a reader leaves the file unchanged") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    { const OneAttempt one(file); }
    std::string former;
    SECTION("without them") {
        make_older(file);
        former = sql_of(file, "v_curve");
        REQUIRE_FALSE(former.empty());
        CHECK(sql_of(file, "v_trial").empty());
    }
    SECTION("with another text of them") {
        execute(file,
                "DROP VIEW v_trial; DROP VIEW v_curve; CREATE VIEW v_trial AS -- deft: docs/sql-views.md\nSELECT 1 AS "
                "x;CREATE VIEW v_curve AS -- deft: docs/sql-views.md\nSELECT k.experiment_id, p.* FROM v_kept k JOIN "
                "train_point p USING (attempt_id)");
        former = sql_of(file, "v_curve");
    }
    execute(file, "PRAGMA wal_checkpoint(TRUNCATE)");
    const std::string bytes = read_file(file);
    {
        const Reader reader(file);
        CHECK(reader.sweep("quick").trials.size() == 1);
        CHECK(reader.curves(reader.sweep("quick")).empty());
    }
    CHECK(read_file(file) == bytes);
    CHECK(sql_of(file, "v_curve") == former);
    { const Writer writer(file); }
    for (const View& view : views()) CHECK(sql_of(file, view.name) == view.sql);
    CHECK(Reader(file).sweep("quick").trials.size() == 1);
}

TEST_CASE("A table or view of such a name that deft did not make is refused and kept") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    { const OneAttempt one(file); }
    std::string kind;
    execute(file, "DROP VIEW v_score");
    SECTION("a table") {
        kind = "a table named v_score";
        execute(file, "CREATE TABLE v_score (x); INSERT INTO v_score VALUES (7)");
    }
    SECTION("a table in other letters") {
        kind = "a table named v_score";
        execute(file, "CREATE TABLE V_Score (x); INSERT INTO V_Score VALUES (7)");
    }
    SECTION("a view") {
        kind = "a view named v_score";
        execute(file, "CREATE VIEW v_score AS SELECT 7 AS x");
    }
    // Nor is anything else replaced then.
    execute(file, "DROP VIEW v_row");
    CHECK_THAT(refusal(ErrorKind::database, [&] { const Writer writer(file); }),
               ContainsSubstring(kind + ", which deft did not make") && ContainsSubstring("rename that") &&
                   ContainsSubstring("unchanged: the database"));
    CHECK(sql_of(file, "v_row").empty());
    CHECK(Connection(file, Connection::Mode::read).integer("SELECT x FROM v_score") == 7);
    // Reports go on.
    CHECK(Reader(file).sweep("quick").trials.size() == 1);
}

TEST_CASE("A preliminary database with a table of such a name is refused and left as it was") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    write_preliminary_database(file);
    execute(file, "CREATE TABLE v_row (x)");
    CHECK_THAT(refusal(ErrorKind::database, [&] { const Writer writer(file); }),
               ContainsSubstring("a table named v_row, which deft did not make"));
    CHECK(schema_version(file) == SchemaVersion{14, true});
}

TEST_CASE("A later migration may change the tables that the views read") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    { const OneAttempt one(file); }
    std::vector<Migration> steps(migrations().begin(), migrations().end());
    steps.push_back({static_cast<int>(newest_schema().number) + 1, "rebuild",
                     "CREATE TABLE rebuilt AS SELECT * FROM sweep_member; DROP TABLE sweep_member;"
                     "ALTER TABLE rebuilt RENAME TO sweep_member"});
    const auto connection = open_for_writing(file, steps);
    for (const View& view : views())
        CHECK_NOTHROW(connection->integer(("SELECT count(*) FROM " + std::string(view.name)).c_str()));
}

TEST_CASE("Views show a place's newest training that ended well, and mark searches and older files of a name") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    {
        OneAttempt one(file);
        Writer& writer = one.writer;
        write_text(folder / "journal.jsonl", line(a_point(1, 4)) + line(a_point(2, NAN)) + line(a_score(2, 3.25)));
        writer.ingest(one.attempt, folder / "journal.jsonl");
        writer.end_attempt(one.attempt, ended_ok());
        // The same place with other data, which failed; a trial of the search; and a newer file of the same name.
        const auto other = writer.add_trial(a_trial("beef02"));
        TrialPlace place{0, "baseline", "{}"};
        writer.add_place(one.sweep, other, place);
        const auto failed = writer.begin_attempt(other, one.code, one.host, an_attempt("b1"));
        Outcome outcome;
        outcome.state = "failed";
        outcome.fail_class = "crash";
        writer.end_attempt(failed, outcome);
        place = {1, "baseline", R"({"train.learning_rate":0.1})"};
        place.stage = kSearchStage;
        writer.add_place(one.sweep, writer.add_trial(a_trial("feed03")), place);
        const auto newer = writer.add_sweep({"quick", "s2", "name = 'quick' # newer", "[]"});
        writer.add_place(newer, one.trial_id, {0, "baseline", R"({"pretrain.train.budget_fraction":0.5})"});
    }
    Connection connection(file, Connection::Mode::read);
    const auto all = [&](const char* sql) {
        std::vector<std::string> rows;
        for (Statement query(connection, sql); query.step();) rows.push_back(query.text(0));
        return rows;
    };
    CHECK(all("SELECT spec_sha256 || ' ' || is_newest || ' ' || stage || is_search || ' ' || recipe || ' ' || seeds || "
              "' ' || state || ' ' || newer_state || ' ' || attempts FROM v_trial ORDER BY sweep_id, ordinal") ==
          std::vector<std::string>{"s1 0 0 baseline 1 ok failed 1", "s1 0 search1 baseline 1 pending  0",
                                   "s2 1 0 baseline 1 ok  1"});
    CHECK(
        all("SELECT config_hash = (SELECT config_hash FROM experiment WHERE label = 'cafe01 label') AND newer_hash = "
            "(SELECT config_hash FROM experiment WHERE label = 'beef02 label') FROM v_trial WHERE newer_state <> ''") ==
        std::vector<std::string>{"1"});
    CHECK(all("SELECT ifnull(budget_fraction, 'none') FROM v_trial ORDER BY sweep_id, ordinal") ==
          std::vector<std::string>{"none", "none", "0.5"});
    CHECK(all("SELECT steps || ' ' || input_tokens || ' ' || train_seconds FROM v_trial WHERE is_newest") ==
          std::vector<std::string>{"2 200 1.0"});
    CHECK(all("SELECT step || ' ' || seconds || ' ' || ifnull(loss, nonfinite) || ' ' || ifnull(validation_loss, '-') "
              "FROM v_curve ORDER BY step") == std::vector<std::string>{"1 0.5 4.0 -", "2 1.0 4 3.25"});
    CHECK(all("SELECT value || ' ' || kind || ' ' || n || ' ' || unit || ' ' || direction FROM v_score WHERE "
              "is_newest") == std::vector<std::string>{"3.25 finite 20 nats/token lower"});
    CHECK(
        all("SELECT mean || ' ' || ifnull(sd, '-') || ' ' || n || ' ' || seeds || ' ' || input_tokens FROM v_row WHERE "
            "is_newest") == std::vector<std::string>{"3.25 - 1 1 200.0"});
}
