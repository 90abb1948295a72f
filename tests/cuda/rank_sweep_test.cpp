// A sweep of trials on two ranks, each on an emulated GPU of its own, by the whole program.

#include <cstdlib>

#include "base/files.h"
#include "engine/comm/communicator.h"
#include "results_db/reader.h"
#include "tests/catch.h"
#include "tests/cuda/children.h"

using namespace deft;

namespace {

constexpr const char* kSweep = R"(
name = "pair"
seeds = [1]
[resources]
threads = 1
slots = "gpu"
ranks = 2
[defaults.model]
layers = 2
width = 16
heads = 2
seqlen = 16
[defaults.data]
corpus = "embedded"
embedded_seed = 1
embedded_bytes = 40_000
[defaults.train]
batch_size = 4
budget_tokens = 400
learning_rate = 4e-3
dtype = "bf16"
zero = 1
[[case]]
name = "both"
)";

struct Sweep {
    test::TemporaryFolder folder;

    test::Ended run(const std::string& gpus) const {
        const std::string file = (folder / "pair.toml").string();
        write_file_atomically(file, kSweep);
        return test::run_child({"/usr/bin/env", "DEFT_EMULATED_DEVICES=" + gpus, DEFT_EMULATED_PROGRAM, "run", file,
                                "--root", (folder / "root").string()},
                               folder / "log");
    }
};

}  // namespace

TEST_CASE("a sweep on two GPUs gives each rank of its trials one of them", "[bare][mpi]") {
    if (!engine::Communicator::has_mpi() || std::system("command -v mpirun >/dev/null") != 0)
        DEFT_SKIP("no MPI (Debian: libopenmpi-dev openmpi-bin)");
    const Sweep sweep;
    const test::Ended ended = sweep.run("2");
    INFO(ended.printed);
    CHECK(ended.exit_code == 0);
    CHECK_THAT(ended.printed, ContainsSubstring("1 worker of 2 ranks on emulated"));
    const results_db::Reader reader((sweep.folder / "root" / "results.db").string());
    const results_db::StoredSweep results = reader.sweep("pair");
    REQUIRE(results.trials.size() == 1);
    REQUIRE(results.trials[0].attempt_rows.size() == 1);
    const results_db::AttemptRow& attempt = results.trials[0].attempt_rows[0];
    CHECK(attempt.shape.ranks == 2);
    CHECK(attempt.shape.devices == 2);
    CHECK(results.trials[0].scores.size() > 0);
}

TEST_CASE("a sweep whose ranks lack GPUs is refused before anything starts", "[bare][mpi]") {
    const Sweep sweep;
    const test::Ended ended = sweep.run("1");
    CHECK(ended.exit_code == 5);
    CHECK_THAT(ended.printed, ContainsSubstring("nothing was started"));
}
