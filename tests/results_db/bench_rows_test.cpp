#include "results_db/bench_rows.h"

#include "base/error.h"
#include "results_db/store.h"
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
    CHECK_THROWS_WITH(writer.add_bench_session(session), ContainsSubstring("is no JSON"));
    CHECK(Reader(folder / "results.db").benches().empty());
}
