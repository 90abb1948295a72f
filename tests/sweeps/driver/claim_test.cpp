// A run folder is one process's.

#include "sweeps/driver/claim.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "base/files.h"
#include "tests/refusal.h"
#include "tests/sweeps/program.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::test;

TEST_CASE("of many processes that claim a run folder one gets it, and says who it is") {
    const TemporaryFolder folder;
    CHECK_FALSE(sweeps::read_claim(folder.path()).has_value());
    std::atomic<int> claimed = 0, refused = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
            try {
                sweeps::claim_run_folder(folder.path());
                ++claimed;
            } catch (const Error& error) {
                refused += error.kind() == ErrorKind::usage ? 1 : 0;
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(claimed == 1);
    CHECK(refused == 7);
    const sweeps::Claim claim = sweeps::read_claim(folder.path()).value();
    CHECK(claim.pid == ::getpid());
    CHECK_FALSE(claim.host.empty());
    CHECK_FALSE(claim.nonce.empty());
    CHECK_THAT(
        refusal(ErrorKind::usage, [&] { sweeps::claim_run_folder(folder.path()); }),
        ContainsSubstring("process " + std::to_string(::getpid()) + " on " + claim.host + " has begun this attempt"));
}

TEST_CASE("a claim whose holder was killed, or is not JSON, still holds") {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder / "claim");
    if (GENERATE(false, true)) write_file_atomically(folder / "claim" / "holder.json", "[1, \"x");
    CHECK(sweeps::read_claim(folder.path()).value().host.empty());
    CHECK_THAT(refusal(ErrorKind::usage, [&] { sweeps::claim_run_folder(folder.path()); }),
               ContainsSubstring("another process has begun this attempt"));
}

TEST_CASE("a claim names the Slurm step that holds it") {
    const TemporaryFolder folder;
    ::setenv("SLURM_JOB_ID", "12", 1);
    ::setenv("SLURM_STEP_ID", "3", 1);
    sweeps::claim_run_folder(folder.path());
    ::unsetenv("SLURM_JOB_ID");
    ::unsetenv("SLURM_STEP_ID");
    CHECK(sweeps::read_claim(folder.path()).value().job == "12.3");
}

TEST_CASE("a trial that is started twice runs once, and its checkpoints name its attempt") {
    const TinySweep sweep(kPlain);
    REQUIRE(sweep.run().exit_code == 0);
    const std::filesystem::path run = std::filesystem::directory_iterator(sweep.root / "runs")->path();
    CHECK(sweeps::read_claim(run).has_value());
    const std::string journal = read_file(run / "journal.jsonl");
    Json trial = Json::parse(read_file(run / "trial.json"));
    trial["driver_pid"] = ::getpid();
    write_file_atomically(run / "trial.json", trial.dump());
    const Ran again = sweep.deft("trial", {run.string()});
    CHECK(again.exit_code == kExitUsage);
    CHECK_THAT(again.err, ContainsSubstring("has begun this attempt"));
    CHECK(read_file(run / "journal.jsonl") == journal);
    const std::filesystem::path checkpoints = std::filesystem::directory_iterator(sweep.root / "checkpoints")->path();
    std::string owner = read_file(checkpoints / "owner");
    REQUIRE(owner.ends_with('\n'));
    owner.pop_back();
    CHECK(std::filesystem::exists(sweep.root / "runs" / owner / "trial.json"));
}
