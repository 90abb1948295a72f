// deft bench moe-inference through the program.

#include "tests/sweeps/program.h"

using namespace deft;
using namespace deft::test;

TEST_CASE("deft bench moe-inference prints what a token of each model reads, and refuses invalid sizes") {
    const TinySweep sweep(kPlain);
    // clang-format off
    const std::vector<std::string> tiny = {"moe-inference", "--layers", "2",         "--width",    "16", "--heads",
                                           "2",             "--vocab",  "30",        "--experts",  "3",  "--prompt",
                                           "3",             "--tokens", "4",         "--samples",  "1,5", "--rounds",
                                           "2",             "--threads", "1",        "--segment",  "0.01"};
    // clang-format on
    const Ran ran = sweep.deft("bench", tiny);
    CHECK(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring("3 experts in every second layer, top-1 routing, 1 thread") &&
                            ContainsSubstring("1.00 of 3") && ContainsSubstring("dense, 4x"));
    const auto refused = [&](const std::string& option, const std::string& value) {
        const Ran one = sweep.deft("bench", {"moe-inference", option, value});
        CHECK(one.exit_code == kExitUsage);
        CHECK_THAT(one.err, ContainsSubstring(option));
    };
    refused("--tokens", "1");
    refused("--samples", "1,0");
    refused("--experts", "none");
    const Ran odd = sweep.deft("bench", {"moe-inference", "--layers", "3"});
    CHECK(odd.exit_code != kExitOk);
    CHECK_THAT(odd.err, ContainsSubstring("choose an even number of layers"));
    const Ran many = sweep.deft("bench", {"moe-inference", "--experts", "2", "--top", "3"});
    CHECK(many.exit_code != kExitOk);
    CHECK_THAT(many.err, ContainsSubstring("a row cannot take 3 of 2 experts"));
}
