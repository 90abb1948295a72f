// deft's own sweeps are found by name from any folder.

#include "tests/catch.h"
#include "tests/install/ran.h"

using namespace deft::test;
namespace fs = std::filesystem;

TEST_CASE("a bundled sweep is found by its name and by its path") {
    const TemporaryFolder folder;
    for (const char* name : {"quickstart", "quickstart.toml", "sweeps/quickstart.toml"}) {
        const Ran ran = run_in(folder.path(), {DEFT_PROGRAM, "plan", name});
        INFO(name << ": " << ran.err);
        CHECK(ran.exit_code == 0);
        CHECK_THAT(ran.out, ContainsSubstring("quickstart"));
    }
}

TEST_CASE("a file of the folder comes before a bundled sweep, and a folder of that name does not hide it") {
    const TemporaryFolder folder;
    fs::create_directory(folder / "quickstart");
    CHECK(run_in(folder.path(), {DEFT_PROGRAM, "plan", "quickstart"}).exit_code == 0);
    write_text(folder / "quickstart.toml", "title = \"mine\"\n");
    CHECK_THAT(run_in(folder.path(), {DEFT_PROGRAM, "plan", "quickstart.toml"}).err,
               ContainsSubstring("quickstart.toml: name is missing"));
}

TEST_CASE("a misspelt sweep suggests the nearest, and no path outside sweeps/ means a bundled one") {
    const TemporaryFolder folder;
    const Ran misspelt = run_in(folder.path(), {DEFT_PROGRAM, "plan", "quikstart"});
    CHECK(misspelt.exit_code == 2);
    CHECK_THAT(misspelt.err, ContainsSubstring("sweep file quikstart does not exist") &&
                                 ContainsSubstring("did you mean quickstart?"));
    const Ran elsewhere = run_in(folder.path(), {DEFT_PROGRAM, "plan", "mine/quickstart.toml"});
    CHECK(elsewhere.exit_code == 2);
    CHECK_THAT(elsewhere.err, ContainsSubstring("sweep file mine/quickstart.toml does not exist"));
}

TEST_CASE("kept evidence is read by its path in the source tree, from any folder") {
    const TemporaryFolder folder;
    const std::string file = "evidence/gpt2_ptb_proxy.jsonl";
    const Ran ran = run_in(folder.path(), {DEFT_PROGRAM, "report", "--from", file, "--format", "csv"});
    INFO(ran.err);
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.out, ContainsSubstring("baseline"));
    CHECK(run_in(folder.path(), {DEFT_PROGRAM, "report", "--from", "none.jsonl"}).exit_code != 0);
}
