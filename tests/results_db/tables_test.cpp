// The tables of columns, which make INSERT, SELECT and the records of evidence, beside the schema.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "results_db/open.h"
#include "results_db/tables.h"
#include "tests/catch.h"
#include "tests/refusal.h"

using namespace deft;
using namespace deft::results_db;
using namespace deft::test;

namespace {

const char* type_of(Holds holds) {
    switch (holds) {
        case Holds::integer:
        case Holds::count:
        case Holds::time:
            return "INTEGER";
        case Holds::real:
        case Holds::amount:
            return "REAL";
        default:
            return "TEXT";
    }
}

struct Row {
    std::string text, json;
    std::int64_t count = 0, time = 0;
    bool flag = false;
    double real = 0, unknown = 0;
    std::optional<std::int64_t> code;
    std::optional<double> seconds;
};

constexpr std::array kRow = {
    Column{"text", Holds::text, at<&Row::text>, Absent::null},
    Column{"json", Holds::json, at<&Row::json>, Absent::empty},
    Column{"count", Holds::count, at<&Row::count>},
    Column{"time", Holds::time, at<&Row::time>, Absent::null},
    Column{"flag", Holds::count, at<&Row::flag>},
    Column{"real", Holds::real, at<&Row::real>},
    Column{"unknown", Holds::real, at<&Row::unknown>, Absent::nan},
    Column{"code", Holds::integer, at<&Row::code>, Absent::null},
    Column{"seconds", Holds::amount, at<&Row::seconds>, Absent::null},
};

}  // namespace

TEST_CASE("Every column of a table of rows is in the schema with its type, and no other column is") {
    const auto connection = open_in_memory("the schema");
    for (const Table& table : tables()) {
        INFO(table.name);
        std::vector<std::string> expected = table.others, found;
        for (const Column& column : table.columns) expected.emplace_back(column.name);
        Statement query(*connection, R"(SELECT name, type, "notnull" FROM pragma_table_xinfo(?1) WHERE hidden = 0)");
        query.bind(table.name);
        while (query.step()) {
            found.push_back(query.text(0));
            const auto column = std::find_if(table.columns.begin(), table.columns.end(),
                                             [&](const Column& one) { return query.text(0) == one.name; });
            if (column == table.columns.end()) continue;
            INFO(column->name);
            CHECK(query.text(1) == type_of(column->holds));
            if (query.integer(2) != 0) CHECK((column->absent == Absent::never || column->absent == Absent::empty));
            if (query.integer(2) == 0) CHECK(column->absent != Absent::empty);
        }
        std::sort(expected.begin(), expected.end());
        std::sort(found.begin(), found.end());
        CHECK(found == expected);
    }
}

TEST_CASE("A row comes back as it was bound, and a missing value is stored as its column says") {
    const auto connection = open_in_memory("rows");
    connection->execute(("CREATE TABLE kept (" + column_names(kRow) + ")").c_str());
    const auto stored = [&](const Row& row) {
        connection->execute("DELETE FROM kept");
        Statement insert(*connection, insert_into("kept", "", kRow).c_str());
        bind_row(insert.bind(), 1, kRow, &row);
        insert.run();
        Statement query(*connection, ("SELECT " + column_names(kRow, "k") + " FROM kept k").c_str());
        REQUIRE(query.step());
        std::string nulls;
        for (int i = 0; i < static_cast<int>(kRow.size()); ++i) nulls += query.is_null(i) ? '0' : '1';
        Row back;
        CHECK(read_row(query, 0, kRow, &back) == static_cast<int>(kRow.size()));
        CHECK(back.text == row.text);
        CHECK(back.json == row.json);
        CHECK(back.count == row.count);
        CHECK(back.time == row.time);
        CHECK(back.flag == row.flag);
        CHECK(back.real == row.real);
        CHECK((back.unknown == row.unknown || (std::isnan(back.unknown) && std::isnan(row.unknown))));
        CHECK(back.code == row.code);
        CHECK(back.seconds == row.seconds);
        return nulls;
    };
    CHECK(stored({"a", "{}", 3, 4, true, 0.5, 0.25, -9, 1.5}) == "111111111");
    CHECK(stored({"", "", 0, 0, false, 0, std::numeric_limits<double>::quiet_NaN(), {}, {}}) == "011011000");
    CHECK(stored({"", "[]", 0, 0, false, 0, 0, 0, 0.0}) == "011011111");
    Row wrong;
    wrong.json = "{";
    CHECK_THAT(refusal(ErrorKind::database, [&] { stored(wrong); }), ContainsSubstring("json is not valid JSON"));
}

TEST_CASE("Statements name each column once, in order") {
    const std::span<const Column> two = std::span(kRow).first(2);
    CHECK(column_names(two) == "text, json");
    CHECK(column_names(two, "k") == "k.text, k.json");
    CHECK(insert_into("kept", "id", two) == "INSERT INTO kept (id, text, json) VALUES (?1, ?2, ?3)");
    CHECK(insert_into("kept", "", two, "INSERT OR REPLACE INTO") ==
          "INSERT OR REPLACE INTO kept (text, json) VALUES (?1, ?2)");
    CHECK(assignments(2, two) == "text = ?2, json = ?3");
    CHECK(excluded_but(two, {"text"}) == "json = excluded.json");
    CHECK(column_names(picked(kRow, {"seconds", "text"})) == "seconds, text");
    CHECK(column_names(joined({two, std::span(kRow).last(1)})) == "text, json, seconds");
}
