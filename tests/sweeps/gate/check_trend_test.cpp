// The program on a stored history that became slower.

#include "results_db/writer.h"
#include "tests/results_db/fixture.h"
#include "tests/sweeps/program.h"

using namespace deft;
using test::Ran;
using test::TinySweep;

namespace {

constexpr std::int64_t kDayMs = 86'400'000;

void store_history(const std::filesystem::path& root, double last) {
    std::filesystem::create_directories(root);
    results_db::Writer writer(root / "results.db");
    results_db::BenchSession session;
    session.host_id = writer.add_host(test::a_host());
    results_db::BenchSamples samples;
    samples.kernel = "sum";
    samples.impl = "cpu";
    samples.code_id = writer.add_code(test::a_code());
    samples.verified = true;
    for (int day = 0; day < 20; ++day) {
        samples.seconds = {1e-3 * (day < 15 ? 1 : last) * (1 + 0.001 * (day % 3))};
        session.started_ms = session.ended_ms = day * kDayMs;
        session.results = {samples};
        writer.add_bench_session(session);
    }
}

}  // namespace

TEST_CASE("The trend of a stored history fails once it became slower, and says since when") {
    const TinySweep sweep("[[case]]\nname = \"plain\"\n");
    const std::vector<std::string> words = {"trend", "--root", sweep.root.string()};
    SECTION("slower") {
        store_history(sweep.root, 1.1);
        const Ran ran = sweep.deft("check", words);
        CHECK(ran.exit_code == kExitWorse);
        CHECK_THAT(ran.out, ContainsSubstring("sum (cpu)") && ContainsSubstring("slower since 1970-01-16"));
        CHECK(sweep.value("SELECT kind || ' ' || result FROM verdict") == "trend worse");
        CHECK(sweep.value("SELECT round(exp(applied_limit), 6) FROM verdict") == "1.03");
        const Ran margin = sweep.deft("check", {"trend", "--root", sweep.root.string(), "--smallest-change", "0.2"});
        CHECK(margin.exit_code == kExitOk);
    }
    SECTION("as ever") {
        store_history(sweep.root, 1);
        const Ran ran = sweep.deft("check", words);
        CHECK(ran.exit_code == kExitOk);
        CHECK_THAT(ran.out, ContainsSubstring("1 series: 1 same"));
        const Ran json = sweep.deft("check", {"trend", "--root", sweep.root.string(), "--json", "-k", "su*"});
        CHECK(Json::parse(json.out).at("findings").at(0).at("outcome") == "same");
        const Ran none = sweep.deft("check", {"trend", "--root", sweep.root.string(), "-k", "linear*"});
        CHECK(none.exit_code == kExitUsage);
        CHECK_THAT(none.err, ContainsSubstring("no series of the history matches linear*"));
    }
}
