// A root whose lock another machine may hold.

#include <fstream>

#include "base/files.h"
#include "tests/sweeps/program.h"

using namespace deft;
using namespace deft::test;

namespace {

void write_witness(const std::filesystem::path& lock, int renewals) {
    const std::string text = "12\nthere\nboot\nnonce " + std::to_string(renewals) + "\n";
    std::fstream(lock, std::ios::in | std::ios::out) << text;
    std::filesystem::resize_file(lock, text.size());
}

}  // namespace

TEST_CASE(
    "each command that writes a database says that it waits for another machine, and goes on once that has ended") {
    const TinySweep sweep(kPlain);
    REQUIRE(sweep.run().exit_code == 0);
    const std::filesystem::path lock = sweep.root / "results.db.lock", evidence = sweep.folder.path / "e.jsonl";
    REQUIRE(sweep.deft("db", {"export", "tiny", "--root", sweep.root.string(), "--out", evidence.string()}).exit_code ==
            0);
    const std::string root = sweep.root.string();
    const std::vector<std::vector<std::string>> commands = {
        {"run", "--progress", "plain"},
        {"db", "merge", evidence.string(), "--root", root},
        {"bench", "run", "-k", "sampler*", "--repetitions", "1", "--root", root},
    };
    for (const std::vector<std::string>& words : commands) {
        CAPTURE(words);
        write_witness(lock, 3);
        Process process(sweep.command(words[0], {words.begin() + 1, words.end()}), sweep.out(), sweep.err());
        CHECK(wait_until([&] { return sweep.says("there may be writing here; waiting 60 s to see whether it does"); }));
        std::filesystem::resize_file(lock, 0);
        CHECK(process.wait() == 0);
    }
}

TEST_CASE("a run is refused while another machine renews its witness") {
    const TinySweep sweep(kPlain);
    REQUIRE(sweep.run().exit_code == 0);
    const std::filesystem::path lock = sweep.root / "results.db.lock";
    write_witness(lock, 3);
    Process process = sweep.start({"--progress", "plain"});
    REQUIRE(wait_until([&] { return sweep.says("waiting 60 s"); }));
    write_witness(lock, 4);
    CHECK(process.wait() == kExitDatabase);
    CHECK(sweep.says("another deft run (pid 12 on there) is writing"));
    CHECK(read_file(lock).ends_with("nonce 4\n"));
}
