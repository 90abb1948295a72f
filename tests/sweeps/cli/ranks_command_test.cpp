// deft bench ranks through the program.

#include "base/usable_machine.h"
#include "sweeps/driver/mpirun.h"
#include "tests/python.h"
#include "tests/sweeps/program.h"

using namespace deft;
using namespace deft::test;

namespace {

const std::vector<std::string> kTinyRanks = {"ranks", "--model", "2,16,2,40,8,4", "--rounds", "2", "--segment", "0.01"};

// Empty, or why several ranks cannot be started here.
std::string missing_mpirun() {
    try {
        sweeps::require_mpirun();
    } catch (const Error& missing) {
        return missing.what();
    }
    return "";
}

std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

}  // namespace

TEST_CASE("deft bench ranks compares ranks with threads, and times sums of gradients", "[bare][python][mpi]") {
    if (!missing_mpirun().empty()) DEFT_SKIP("no mpirun, or a build without MPI");
    const TinySweep sweep(kPlain);
    const Ran ran = sweep.deft("bench", kTinyRanks);
    CHECK(ran.exit_code == kExitOk);
    for (const char* row :
         {"deft, 2 processes, 1 thread each", "deft, 1 process, 1 thread", "deft, 1 process, 2 threads"})
        CHECK_THAT(ran.out, ContainsSubstring(row));
    CHECK_THAT(ran.out,
               ContainsSubstring("2,16,2,40,8,4: a rank sends ") && ContainsSubstring("Summing gradients takes "));
    CHECK_THAT(ran.out, !ContainsSubstring("PyTorch"));
    const int cores = usable_cores();
    const Ran many = sweep.deft("bench", with(kTinyRanks, {"--threads", std::to_string(cores)}));
    CHECK(many.exit_code == kExitOk);
    if (cores > 1)
        CHECK_THAT(many.err, ContainsSubstring(fmt::format("{} threads each take turns on {} cores", cores, cores)));
}

TEST_CASE("deft bench ranks refuses what ranks cannot train", "[bare][python][mpi]") {
    if (!missing_mpirun().empty()) DEFT_SKIP("no mpirun, or a build without MPI");
    const TinySweep sweep(kPlain);
    const Ran odd = sweep.deft("bench", with(kTinyRanks, {"--batch", "3"}));
    CHECK(odd.exit_code == kExitUsage);
    CHECK_THAT(odd.err, ContainsSubstring("2 ranks cannot share a batch of 3"));
    const Ran alone = sweep.deft("bench", with(kTinyRanks, {"--ranks", "1"}));
    CHECK(alone.exit_code == kExitUsage);
    CHECK_THAT(alone.err, ContainsSubstring("--ranks"));
    const Ran no_torch = sweep.deft("bench", with(kTinyRanks, {"--pytorch", "/bin/false"}));
    CHECK(no_torch.exit_code != kExitOk);
    CHECK_THAT(no_torch.err, ContainsSubstring("name a Python that has torch with gloo, or none"));
}

TEST_CASE("deft bench ranks without mpirun says what to install", "[bare][python][mpi]") {
    const TinySweep sweep(kPlain);
    const Ran ran = sweep.deft("bench", kTinyRanks, [] { ::setenv("PATH", "/nowhere", 1); });
    CHECK(ran.exit_code == exit_code(ErrorKind::missing));
    CHECK_THAT(ran.err, ContainsSubstring("several ranks ") && ContainsSubstring("./deft --mpi"));
    CHECK(ran.out.empty());
}

TEST_CASE("deft bench ranks times PyTorch's DistributedDataParallel in the same rounds", "[bare][python][mpi]") {
    if (!missing_mpirun().empty()) DEFT_SKIP("no mpirun, or a build without MPI");
    const std::string has_gloo =
        "import sys, torch.distributed as d; sys.exit(0 if d.is_available() and d.is_gloo_available() else 77)";
    if (run_python({"-c", has_gloo}, "/usr/bin/python3").exit_code != 0)
        DEFT_SKIP("/usr/bin/python3 has no torch with gloo");
    const TinySweep sweep(kPlain);
    const Ran ran = sweep.deft("bench", with(kTinyRanks, {"--pytorch", "/usr/bin/python3"}));
    CHECK(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring(" DDP eager, 2 processes, 1 thread each") && ContainsSubstring("PyTorch "));
}
