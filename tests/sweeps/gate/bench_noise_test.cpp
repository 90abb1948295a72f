// Warnings about noise, on samples made by hand.

#include "sweeps/gate/bench_noise.h"
#include "base/json.h"
#include "results_db/bench_peaks.h"
#include "results_db/writer.h"
#include "tests/catch.h"
#include "tests/results_db/fixture.h"

using namespace deft;
using namespace deft::sweeps;
using kernels::BenchResult;
using kernels::CacheState;

namespace {

BenchResult row(const std::string& name, CacheState state, const std::vector<double>& seconds) {
    BenchResult result;
    result.name = name;
    result.backend = kernels::kCpu;
    result.state = state;
    result.seconds = seconds;
    return result;
}

}  // namespace

TEST_CASE("repetitions that spread widely are named, the widest first") {
    const std::vector<BenchResult> results = {row("even", CacheState::hot, {1.00, 1.01, 0.99}),
                                              row("wide", CacheState::hot, {1.0, 1.1, 0.9}),
                                              row("wider", CacheState::hot, {1.0, 1.3, 0.7})};
    const std::vector<std::string> notes = noise_notes(results);
    REQUIRE(notes.size() == 1);
    CHECK_THAT(notes[0], ContainsSubstring("in wider cpu hot (30%), wide cpu hot (10%).") &&
                             ContainsSubstring("--min-time") && !ContainsSubstring("even"));
    CHECK(noise_notes({results.data(), 1}).empty());
}

TEST_CASE("cold caches that are faster than hot ones are named, unless within the spread") {
    const std::vector<BenchResult> results = {
        row("odd", CacheState::hot, {2.0, 2.01, 1.99}),     row("odd", CacheState::cold, {1.0, 1.01, 0.99}),
        row("usual", CacheState::hot, {1.0, 1.01, 0.99}),   row("usual", CacheState::cold, {2.0, 2.01, 1.99}),
        row("equal", CacheState::hot, {1.00, 1.01, 0.99}),  row("equal", CacheState::cold, {0.98, 0.99, 0.97}),
        row("alone", CacheState::cold, {1.00, 1.01, 0.99}),
    };
    const std::vector<std::string> notes = noise_notes(results);
    REQUIRE(notes.size() == 1);
    CHECK_THAT(notes[0], ContainsSubstring("in odd cpu (1.00 s cold, 2.00 s hot).") && !ContainsSubstring("usual") &&
                             !ContainsSubstring("equal") && !ContainsSubstring("alone"));
}

TEST_CASE("profiled steps that spread widely are noted") {
    CHECK(step_noise_note({1.0, 1.01, 0.99}).empty());
    CHECK(step_noise_note({}).empty());
    CHECK_THAT(step_noise_note({1.0, 1.2, 0.8}), ContainsSubstring("spread by 20%"));
}

TEST_CASE("peaks far from the last ones are named with both values") {
    const Json last = {{"memory_read", 10e9}, {"avx2_flops", 100e9}, {"avx512_flops", 0.0}};
    Json now = {{"memory_read", 11e9}, {"avx2_flops", 100e9}, {"avx512_flops", 5e9}};
    CHECK(peaks_note(now, last, 2).empty());
    CHECK(peaks_note(now, try_parse_json(""), 2).empty());
    now["memory_read"] = 5e9;
    CHECK_THAT(
        peaks_note(now, last, 2),
        ContainsSubstring("on 2 thread(s): memory read 5.00 GB/s now, 10.0 GB/s before.") && !ContainsSubstring("FMA"));
    Json device = {{"device", "A"}, {"f32_flops", 10e12}}, slower = {{"device", "A"}, {"f32_flops", 5e12}};
    CHECK_THAT(peaks_note({{"cuda", slower}}, {{"cuda", device}}, 1),
               ContainsSubstring("product in f32 5.00 TFLOP/s now"));
    slower["device"] = "B";
    CHECK(peaks_note({{"cuda", slower}}, {{"cuda", device}}, 1).empty());
}

TEST_CASE("the last peaks are those of the same machine at as many threads") {
    const test::TemporaryFolder folder;
    results_db::Writer writer(folder / "results.db");
    results_db::Host other = test::a_host();
    other.cpu_model = "Another CPU";
    const auto add = [&](const results_db::Host& host, std::int64_t time, int threads, double read) {
        results_db::BenchSession session;
        session.host_id = writer.add_host(host);
        session.started_ms = time;
        session.env_json = Json{{"peaks", {{"memory_read", read}}}}.dump();
        session.settings_json = Json{{"threads", threads}}.dump();
        writer.add_bench_session(session);
    };
    const auto last = [&](int threads) {
        return results_db::last_peaks(folder / "results.db", test::a_host(), threads);
    };
    CHECK(last(2).empty());
    add(test::a_host(), 10, 2, 1);
    add(test::a_host(), 20, 2, 2);
    add(test::a_host(), 30, 1, 3);
    add(other, 40, 2, 4);
    results_db::BenchSession without;
    without.host_id = writer.add_host(test::a_host());
    without.started_ms = 50;
    writer.add_bench_session(without);
    CHECK(Json::parse(last(2)).at("memory_read") == 2);
    CHECK(Json::parse(last(1)).at("memory_read") == 3);
}
