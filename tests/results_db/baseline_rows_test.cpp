#include "results_db/gate_rows.h"

#include "base/error.h"
#include "results_db/connection.h"
#include "results_db/open.h"
#include "results_db/reader.h"
#include "results_db/writer.h"
#include "tests/catch.h"
#include "tests/results_db/fixture.h"

using namespace deft;
using namespace deft::results_db;
using namespace deft::test;

namespace {

BaselineRow a_row(const std::string& name, const std::string& variant = "plain") {
    BaselineRow row;
    row.name = name;
    row.variant = variant;
    row.variant_hash = "v1";
    row.measure_json = R"({"kind":"score"})";
    row.center = 2;
    row.lowest = 1;
    row.highest = 3;
    row.seeds = 3;
    row.pinned_by = "somebody";
    row.reason = "a release";
    row.created_ms = 5;
    return row;
}

}  // namespace

TEST_CASE("a baseline stays until it is retired, and after") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    Writer writer(file);
    writer.pin_baseline({a_row("main"), a_row("main", "other")});
    SECTION("its name is taken while it lives") {
        CHECK_THROWS_WITH(writer.pin_baseline({a_row("main", "third")}),
                          ContainsSubstring("retire it first") && ContainsSubstring("unchanged: the baseline"));
        CHECK(Reader(file).baselines().size() == 2);
        writer.pin_baseline({a_row("next")});
    }
    SECTION("retired, it is kept and its name is free") {
        CHECK(writer.retire_baseline("main") == 2);
        CHECK_THROWS_WITH(writer.retire_baseline("main"), ContainsSubstring("no live baseline is named main"));
        writer.pin_baseline({a_row("main")});
        const std::vector<BaselineRow> rows = Reader(file).baselines();
        REQUIRE(rows.size() == 3);
        CHECK(rows[0].retired_ms.has_value());
        CHECK(rows[1].retired_ms.has_value());
        CHECK_FALSE(rows[2].retired_ms.has_value());
        CHECK(rows[2].center == 2);
        CHECK(rows[2].seeds == 3);
        CHECK(rows[2].reason == "a release");
    }
    SECTION("a name that is not there is answered by the nearest") {
        CHECK_THROWS_WITH(writer.retire_baseline("mian"), ContainsSubstring("main"));
    }
    SECTION("nothing changes or removes it") {
        Connection connection(file, Connection::Mode::write);
        CHECK_THROWS_AS(connection.execute("UPDATE baseline SET center = 0"), Error);
        CHECK_THROWS_AS(connection.execute("DELETE FROM baseline"), Error);
        connection.execute("UPDATE baseline SET retired_ms = 7");
        CHECK_THROWS_AS(connection.execute("UPDATE baseline SET retired_ms = NULL"), Error);
    }
    SECTION("all rows or none") {
        BaselineRow twice = a_row("second");
        CHECK_THROWS_AS(writer.pin_baseline({twice, twice}), Error);
        twice.source_json = "{";
        CHECK_THROWS_WITH(writer.pin_baseline({a_row("second"), twice}), ContainsSubstring("not valid JSON"));
        CHECK(Reader(file).baselines().size() == 2);
    }
}

TEST_CASE("verdicts are only added to") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    Writer writer(file);
    VerdictRow row;
    row.check_uid = "c1";
    row.created_ms = 9;
    row.kind = "quality";
    row.subject_json = R"({"case":"plain"})";
    row.effect = 0.5;
    row.limit = 0.01;
    row.adjusted_p = 0.25;
    row.result = "unclear";
    row.text = "who knows";
    writer.add_verdicts({row, row});
    row.result = "perhaps";
    CHECK_THROWS_AS(writer.add_verdicts({row}), Error);
    const std::vector<VerdictRow> rows = Reader(file).verdicts();
    REQUIRE(rows.size() == 2);
    CHECK(rows[1].check_uid == "c1");
    CHECK(rows[1].effect == 0.5);
    CHECK_FALSE(rows[1].lower.has_value());
    CHECK(rows[1].limit == 0.01);
    CHECK(rows[1].adjusted_p == 0.25);
    CHECK(rows[1].text == "who knows");
    Connection connection(file, Connection::Mode::write);
    CHECK_THROWS_AS(connection.execute("UPDATE verdict SET result = 'same'"), Error);
    CHECK_THROWS_AS(connection.execute("DELETE FROM verdict"), Error);
}
