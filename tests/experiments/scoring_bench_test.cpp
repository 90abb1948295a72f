// Scoring as benchmark cases: right, and each beside the forward pass alone.

#include "experiments/bench/scoring.h"

#include <set>
#include <string>

#include "tests/catch.h"

using namespace deft;

TEST_CASE("scoring of one choice and of four is checked, and compared with as many tokens of a plain forward pass",
          "[scoring]") {
    std::set<std::string> names, beside;
    double computed = 0;
    for (const kernels::BenchCase& bench :
         experiments::scoring_benches({{engine::gpt2_config(2, 32, 2, 32, 257), 4}}, 2)) {
        INFO(bench.name);
        CHECK(names.insert(bench.name).second);
        if (!bench.beside.empty()) beside.insert(bench.beside);
        const kernels::PreparedBench prepared = bench.prepare(1);
        CHECK(prepared.wrong == "");
        CHECK(prepared.items > 0);
        CHECK(prepared.note.empty() == bench.beside.empty());
        if (bench.name.ends_with("/1") && !prepared.note.empty()) CHECK(prepared.note.starts_with("100.0%"));
        if (bench.name.ends_with("/4") && !prepared.note.empty()) computed = std::stod(prepared.note);
        prepared.hot();
    }
    CHECK(names.size() == 4);
    CHECK(beside.size() == 2);
    for (const std::string& name : beside) CHECK(names.count(name) == 1);
    // The L tokens but the last choices' L / 4 are shared: (L + 1 - L / 4 + 4 (L / 4 - 1)) / 4 L, which is a third of
    // short requests and seven sixteenths of long ones.
    CHECK(computed > 32);
    CHECK(computed < 44);
}
