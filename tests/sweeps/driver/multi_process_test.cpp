// CUDA's multi-process service on request: started where none answers, ended with the run, and its problems.

#include "sweeps/driver/multi_process.h"

#include <cstdlib>

#include "base/files.h"
#include "tests/catch.h"
#include "tests/sweeps/program.h"
#include "tests/with_variable.h"

using namespace deft;
using namespace deft::sweeps;
using namespace deft::test;

namespace {

// A program in place of CUDA's, whose daemon is the file `runs`. With `-d` it executes `start`.
class FakeService {
 public:
    explicit FakeService(const std::string& start = "touch runs")
        : path_("PATH", folder.path().string() + ":" + std::getenv("PATH")) {
        write_file_atomically(folder.path() / "nvidia-cuda-mps-control",
                              "#!/bin/bash\ncd " + folder.path().string() +
                                  "\necho \"$* $CUDA_MPS_LOG_DIRECTORY\" >> calls\n" + "if [ \"$1\" = -d ]; then " +
                                  start +
                                  "\nexit\nfi\n"
                                  "read -r command\n[ -e runs ] || { echo 'no daemon' >&2; exit 1; }\n"
                                  "[ \"$command\" = quit ] && rm runs\nexit 0\n");
        std::filesystem::permissions(folder.path() / "nvidia-cuda-mps-control", std::filesystem::perms::owner_all);
    }
    bool runs() const { return std::filesystem::exists(folder.path() / "runs"); }
    void start() const { write_file_atomically(folder.path() / "runs", ""); }
    std::string calls() const { return read_file(folder.path() / "calls"); }

    TemporaryFolder folder;

 private:
    WithVariable path_;
};

std::vector<Slot> workers(int per_gpu) {
    Slot slot;
    slot.device = engine::Device::cuda;
    slot.per_gpu = per_gpu;
    return {slot};
}

std::string problem_of(const std::string& start, double answer_seconds = 0.3) {
    const FakeService fake(start);
    const TemporaryFolder logs;
    return MultiProcessService(logs.path() / "mps", answer_seconds).problem();
}

}  // namespace

TEST_CASE("The multi-process service starts on request, and ends with the run", "[bare]") {
    const FakeService fake;
    const TemporaryFolder root;
    CHECK(!has_multi_process_service());
    {
        const MultiProcessService service(root.path() / "mps");
        CHECK(service.problem().empty());
        CHECK(fake.runs());
        CHECK_THAT(fake.calls(), ContainsSubstring("-d " + (root.path() / "mps").string() + "\n"));
        const MultiProcessService another(root.path() / "mps");  // finds it
        CHECK(another.problem().empty());
    }
    CHECK(!fake.runs());
    fake.start();
    { const MultiProcessService service(root.path() / "mps"); }
    CHECK(fake.runs());  // of somebody else
}

TEST_CASE("A service that does not start says why", "[bare]") {
    CHECK_THAT(problem_of("echo 'An instance of this daemon is already running' >&2; exit 1"),
               ContainsSubstring("nvidia-cuda-mps-control -d failed: An instance of this daemon is already running"));
    CHECK_THAT(problem_of("kill -9 $$"), ContainsSubstring("nvidia-cuda-mps-control -d failed"));
    CHECK_THAT(problem_of("true"), ContainsSubstring("-d started, and does not answer"));
    CHECK(problem_of("(sleep 0.1; touch runs) > /dev/null 2>&1 &", 30).empty());  // answers late
    CHECK_THAT(problem_of("printf '\\033[2Jno rights\\n' >&2; exit 1"), !ContainsSubstring("\033"));
    const TemporaryFolder logs;
    const WithVariable nowhere("PATH", "/nonexistent");
    CHECK_THAT(MultiProcessService(logs.path()).problem(), ContainsSubstring("cannot start nvidia-cuda-mps-control"));
    write_file_atomically(logs.path() / "file", "");
    CHECK_THAT(MultiProcessService(logs.path() / "file" / "mps").problem(), ContainsSubstring("cannot make "));
}

TEST_CASE("Trials that share a card without the service are said to take turns", "[bare]") {
    const FakeService fake;
    CHECK(taking_turns({}).empty());
    CHECK(taking_turns(workers(1)).empty());
    CHECK_THAT(taking_turns(workers(2)), ContainsSubstring("add --mps, or start it with nvidia-cuda-mps-control -d"));
    fake.start();
    CHECK(taking_turns(workers(2)).empty());
}

TEST_CASE("The option --mps is for workers that share a card", "[bare]") {
    const FakeService fake;
    const TinySweep sweep(kPlain);
    const Ran alone = sweep.run({"--mps"});
    CHECK(alone.exit_code == kExitUsage);
    CHECK_THAT(alone.err, ContainsSubstring("no card is shared") && ContainsSubstring("--slots gpu:1/4"));
    if (!engine::usable_gpus().empty()) DEFT_SKIP("this machine has a GPU");
    // Without a GPU the run is refused, and the service that it had started ends.
    const Ran shared = sweep.run({"--mps", "--slots", "gpu:1/auto"});
    CHECK(shared.exit_code == kExitNothing);
    CHECK_THAT(shared.err, ContainsSubstring("slots gpu:1/auto need a GPU"));
    CHECK_THAT(fake.calls(), ContainsSubstring("-d "));
    CHECK(!fake.runs());
}
