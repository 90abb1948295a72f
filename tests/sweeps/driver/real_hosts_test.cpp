// Trials whose ranks span real hosts over ssh, and a host that fails.

#include "tests/catch.h"
#include "tests/sweeps/driver/real_slurm.h"

using namespace deft;
using namespace deft::test;

namespace {

std::string host_recipes(std::int64_t tokens) {
    return "[defaults.checkpoint]\nevery_seconds = 0.2\n[[case]]\nname = \"plain\"\n[case.train]\nbudget_tokens = " +
           std::to_string(long_tokens(tokens)) + "\n";
}

std::vector<std::string> bits_of_ranks_here(const std::string& recipes) {
    const TinySweep local(recipes);
    REQUIRE(local.run({"--launcher", "local", "--threads", "1", "--ranks", "2"}).exit_code == 0);
    return local.measured();
}

bool has_saved(const TinySweep& sweep) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(sweep.root / "checkpoints", ignored))
        if (entry.path().filename() == "checkpoint.json") return true;
    return false;
}

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
    const SweepOnHosts on(host_recipes(100'000));
    if (!on.problem.empty()) DEFT_SKIP(on.problem.c_str());
    REQUIRE(on.run() == kExitOk);
    CHECK(on.sweep.query("SELECT DISTINCT nodes FROM attempt", 1) == std::vector<std::string>{"n1,n2"});
    CHECK(on.sweep.measured() == bits_of_ranks_here(host_recipes(100'000)));
}

TEST_CASE("A real host that loses its power or its network is named, and the ranks go on later",
          "[slow][cluster][faults][bare][mpi]") {
    const auto [off, back] = GENERATE(table<std::string, std::string>({{"off", "boot"}, {"unplug", "plug"}}));
    const SweepOnHosts on(host_recipes(500'000));
    if (!on.problem.empty()) DEFT_SKIP(on.problem.c_str());
    CAPTURE(off);
    {
        Process driver = on.start();
        REQUIRE(wait_until([&] { return has_saved(on.sweep) || sweeps::has_ended(driver.pid()); }));
        on.slurm.host(off, "n2");
        // The second try does not reach the host either.
        CHECK(driver.wait() == kExitFailed);
    }
    CHECK_THAT(on.errors(), ContainsSubstring("host n2 was lost") && ContainsSubstring("host n2: "));
    on.slurm.host(back, "n2");
    CHECK(on.run() == kExitOk);
    CHECK(on.sweep.value("SELECT count(*) FROM attempt WHERE kind = 'train' AND state = 'ok' AND resume_step > 0") ==
          "1");
    CHECK(on.sweep.measured() == bits_of_ranks_here(host_recipes(500'000)));
}
