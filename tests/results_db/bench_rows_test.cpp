#include "results_db/bench_rows.h"

#include <cmath>

#include "base/error.h"
#include "results_db/reader.h"
#include "results_db/writer.h"
#include "tests/catch.h"
#include "tests/results_db/fixture.h"

using namespace deft;
using namespace deft::results_db;
using namespace deft::test;

TEST_CASE("benchmarks are stored with every repetition and read by case and time") {
    const TemporaryFolder folder;
    BenchSession session;
    BenchSamples samples;
    {
        Writer writer(folder / "results.db");
        session.host_id = writer.add_host(a_host());
        samples.kernel = "sum";
        samples.impl = "cpu";
        samples.params_json = R"({"case":"10"})";
        samples.code_id = writer.add_code(a_code());
        samples.seconds = {3e-6, 1e-6, 2.5e-6};
        samples.verified = true;
        session.started_ms = 20;
        session.results = {samples};
        writer.add_bench_session(session);
        session.started_ms = 10;
        session.results[0].seconds = {4e-6};
        writer.add_bench_session(session);
    }
    const Reader reader(folder / "results.db");
    const std::vector<BenchRow> rows = reader.benches();
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].started_ms == 10);
    CHECK(rows[0].seconds == std::vector<double>{4e-6});
    CHECK(rows[1].seconds == samples.seconds);
    CHECK(rows[1].kernel == "sum");
    CHECK(rows[1].params_json == samples.params_json);
    CHECK(rows[1].verified);
    CHECK(rows[0].git_sha == a_code().git_sha);
    CHECK(rows[0].session_uid != rows[1].session_uid);
}

TEST_CASE("a session with one bad result is not stored at all") {
    const TemporaryFolder folder;
    Writer writer(folder / "results.db");
    BenchSession session;
    session.host_id = writer.add_host(a_host());
    BenchSamples good;
    good.kernel = "sum";
    good.code_id = writer.add_code(a_code());
    good.seconds = {1e-6};
    BenchSamples bad = good;
    bad.params_json = "{";
    session.results = {good, bad};
    CHECK_THROWS_WITH(writer.add_bench_session(session), ContainsSubstring("is not valid JSON"));
    CHECK(Reader(folder / "results.db").benches().empty());
}

TEST_CASE("the history of benchmarks holds a row a launch, without pairs and what nobody verified") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    Writer writer(file);
    BenchSession session;
    session.host_id = writer.add_host(a_host());
    BenchSamples samples;
    samples.kernel = "sum";
    samples.impl = "cpu";
    samples.code_id = writer.add_code(a_code());
    samples.verified = true;
    const auto add = [&](const char* mode, std::int64_t at, std::vector<double> seconds, bool verified) {
        samples.seconds = std::move(seconds);
        samples.verified = verified;
        session.mode = mode;
        session.started_ms = at;
        session.ended_ms = at + 5;
        session.results = {samples};
        writer.add_bench_session(session);
    };
    add("single", 20, {3e-6, 1e-6, 2.5e-6}, true);
    add("single", 10, {4e-6}, true);
    add("ab", 30, {9e-6}, true);
    add("single", 40, {9e-6}, false);
    session.env_json = R"({"machine":{"kernel":"Linux 6.1"}})";
    add("import", 50, {5e-6}, false);
    const std::vector<BenchHistoryRow> rows = Reader(file).bench_history();
    REQUIRE(rows.size() == 3);
    CHECK(rows[0].seconds == 4e-6);
    CHECK(rows[1].seconds == 2.5e-6);
    CHECK(std::abs(rows[1].deviation - 0.5e-6) < 1e-15);
    CHECK(rows[1].cpu_model == a_host().cpu_model);
    CHECK(rows[1].started_ms == 20);
    CHECK(rows[1].ended_ms == 25);
    CHECK(rows[2].seconds == 5e-6);
    CHECK(rows[2].machine_json == R"({"kernel":"Linux 6.1"})");
    CHECK(rows[0].machine_json.empty());
    CHECK(rows[0].hostname == "node1");
    CHECK(rows[0].host_fingerprint.size() == 64);
    CHECK(rows[0].compiler == "GNU 12.2.0");
    CHECK(rows[0].code_id == samples.code_id);
    CHECK(rows[0].git_sha == a_code().git_sha);
}
