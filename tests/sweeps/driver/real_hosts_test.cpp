// Trials whose ranks span real hosts over ssh, and a host that fails.

#include "tests/catch.h"
#include "tests/sweeps/driver/real_slurm.h"

using namespace deft;
using namespace deft::test;

namespace {

const std::vector<std::string> kRanksOfHosts = {"--ranks", "2"};

// The hosts of a test cluster, which run sshd, and a sweep on two ranks there. `deft run` is on the login host.
class SweepOnHosts {
 public:
    explicit SweepOnHosts(const std::string& recipes) : sweep(recipes) {
        if (problem.empty() && !has_ranks()) problem = kNoRanks;
        if (problem.empty() && !std::filesystem::exists(agent())) problem = "no sshd (Debian: openssh-server)";
        sweep.folder.write("hosts", "n1 slots=1\nn2 slots=1\n");
    }

    Process start() const {
        return {slurm.on_login(sweep.command(
                    "run", {"--threads", "1", "--progress", "plain", "--ranks", "2", "--ranks-per-node", "1",
                            "--hostfile", (sweep.folder.path / "hosts").string(), "--agent", agent()})),
                sweep.out(), sweep.err()};
    }
    int run() const {
        Process process = start();
        const int code = process.wait();
        UNSCOPED_INFO(fmt::format("deft run gave {}\n{}", code, read_file(sweep.err())));
        return code;
    }
    std::string errors() const {
        std::string all;
        for (const std::string& error : sweep.query("SELECT error FROM attempt WHERE state = 'failed' ORDER BY id", 1))
            all += error + "\n";
        return all;
    }

    RealSlurm slurm;
    TinySweep sweep;
    std::string problem = slurm.problem;

 private:
    std::string agent() const { return (slurm.home() / "etc" / "ssh").string(); }
};

}  // namespace

TEST_CASE("Two ranks on two real hosts measure the bits of two ranks on this machine",
          "[slow][cluster][faults][bare][mpi]") {
    const SweepOnHosts on(saving_recipe(100'000));
    if (!on.problem.empty()) DEFT_SKIP(on.problem.c_str());
    REQUIRE(on.run() == kExitOk);
    CHECK(on.sweep.query("SELECT DISTINCT nodes FROM attempt", 1) == std::vector<std::string>{"n1,n2"});
    CHECK(on.sweep.measured() == local_bits(saving_recipe(100'000), "[1]", kRanksOfHosts));
}

TEST_CASE("A real host that loses its power or its network is named, and the ranks go on later",
          "[slow][cluster][faults][bare][mpi]") {
    const auto [off, back] = GENERATE(table<std::string, std::string>({{"off", "boot"}, {"unplug", "plug"}}));
    const SweepOnHosts on(saving_recipe(500'000));
    if (!on.problem.empty()) DEFT_SKIP(on.problem.c_str());
    CAPTURE(off);
    {
        Process driver = on.start();
        REQUIRE(wait_until([&] { return has_checkpoint(on.sweep) || sweeps::has_ended(driver.pid()); }));
        on.slurm.host(off, "n2");
        // The second try does not reach the host either.
        CHECK(driver.wait() == kExitFailed);
    }
    CHECK_THAT(on.errors(), ContainsSubstring("host n2 was lost") && ContainsSubstring("host n2: "));
    on.slurm.host(back, "n2");
    CHECK(on.run() == kExitOk);
    CHECK(on.sweep.value("SELECT count(*) FROM attempt WHERE kind = 'train' AND state = 'ok' AND resume_step > 0") ==
          "1");
    CHECK(on.sweep.measured() == local_bits(saving_recipe(500'000), "[1]", kRanksOfHosts));
}
