// deft bench experts through the program.

#include "tests/python.h"
#include "tests/sweeps/program.h"

using namespace deft;
using namespace deft::test;

namespace {

const std::vector<std::string> kTinyLayers = {"experts", "--rows",    "37", "--width",   "16",  "--hidden",
                                              "24",      "--experts", "3",  "--top",     "2",   "--rounds",
                                              "2",       "--threads", "1",  "--segment", "0.01"};

}  // namespace

TEST_CASE("deft bench experts compares a layer of experts with the dense one, and refuses invalid sizes",
          "[bare][python]") {
    const TinySweep sweep(kPlain);
    const Ran ran = sweep.deft("bench", kTinyLayers);
    CHECK(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring("37 rows, width 16, 3 experts of 24 hidden values, top-2 routing, 1 thread"));
    CHECK_THAT(ran.out,
               ContainsSubstring("dense") && ContainsSubstring("experts") && ContainsSubstring("% of our experts"));
    const Ran many = sweep.deft("bench", {"experts", "--experts", "2", "--top", "3"});
    CHECK(many.exit_code != kExitOk);
    CHECK_THAT(many.err, ContainsSubstring("a row cannot take 3 of 2 experts"));
    const Ran none = sweep.deft("bench", {"experts", "--rows", "0"});
    CHECK(none.exit_code == kExitUsage);
    CHECK_THAT(none.err, ContainsSubstring("--rows"));
    std::vector<std::string> without = kTinyLayers;
    without.insert(without.end(), {"--pytorch", "/bin/false"});
    const Ran no_torch = sweep.deft("bench", without);
    CHECK(no_torch.exit_code != kExitOk);
    CHECK_THAT(no_torch.err, ContainsSubstring("name a Python that has torch, or none"));
}

TEST_CASE("deft bench experts times PyTorch's layers in the same rounds", "[bare][python]") {
    if (run_python({"-c", "import torch"}, "/usr/bin/python3").exit_code != 0)
        DEFT_SKIP("/usr/bin/python3 has no torch");
    const TinySweep sweep(kPlain);
    std::vector<std::string> with = kTinyLayers;
    with.insert(with.end(), {"--pytorch", "/usr/bin/python3"});
    const Ran ran = sweep.deft("bench", with);
    CHECK(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring("loop") && ContainsSubstring("masks") && ContainsSubstring("PyTorch "));
}
