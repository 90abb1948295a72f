// A root on sshfs, which shows files late and whose locks hold on one host only, between the hosts of a real Slurm.

#include <csignal>
#include <filesystem>
#include <string>

#include "tests/catch.h"
#include "tests/sweeps/driver/real_slurm.h"

using namespace deft;
using namespace deft::test;

namespace {

// The same folder of this machine at the same path of both nodes, by sshfs.
class SharedFolder {
 public:
    explicit SharedFolder(const RealSlurm& slurm) : slurm_(slurm) {
        const std::string options = "ssh_command=" + (slurm.home() / "etc" / "ssh").string();
        for (const char* node : {"n1", "n2"}) {
            const ProcessOutput made = run_process(slurm.on(node, {"mkdir", "-p", path()}), std::chrono::seconds(60));
            const ProcessOutput mounted =
                run_process(slurm.on(node, {"sshfs", "-o", options, "login:" + here.path.string(), path()}),
                            std::chrono::seconds(60));
            if (made.exit_code != 0 || mounted.exit_code != 0) problem = "sshfs cannot be mounted on the hosts";
        }
    }
    ~SharedFolder() {
        for (const char* node : {"n1", "n2"})
            run_process(slurm_.on(node, {"umount", "-l", path()}), std::chrono::seconds(60));
    }
    SharedFolder(const SharedFolder&) = delete;
    SharedFolder& operator=(const SharedFolder&) = delete;

    static std::string path() { return "/run/deft-shared"; }

    Folder here;
    std::string problem;

 private:
    const RealSlurm& slurm_;
};

}  // namespace

TEST_CASE("A root on sshfs has no false crash, and a driver on another host is refused",
          "[slow][cluster][faults][bare]") {
    const RealSlurm slurm;
    if (!slurm.problem.empty()) DEFT_SKIP(slurm.problem.c_str());
    const SharedFolder shared(slurm);
    if (!shared.problem.empty()) DEFT_SKIP(shared.problem.c_str());
    TinySweep sweep("[[case]]\nname = \"a\"\n" + long_budget(100'000),
                    "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]");
    sweep.root = SharedFolder::path() + "/root";
    const std::vector<std::string> words =
        sweep.command("run", {"--launcher", "local", "--slots", "cpu:2", "--threads", "1", "--progress", "plain"});
    Process driver(slurm.on("n1", words), sweep.out(), sweep.err());
    REQUIRE(wait_until([&] { return std::filesystem::exists(shared.here.path / "root" / "checkpoints"); }));
    const std::filesystem::path out = sweep.folder.path / "second";
    Process second(slurm.on("n2", words), out, out);
    CHECK(second.wait() == kExitDatabase);
    CHECK_THAT(read_file(out), ContainsSubstring("on n1) is writing"));
    CHECK(driver.wait() == 0);
    sweep.root = shared.here.path / "root";
    CHECK(sweep.query("SELECT state, kind, count(*) FROM attempt GROUP BY 1, 2", 3) ==
          std::vector<std::string>{"ok score 20", "ok train 20"});
}
