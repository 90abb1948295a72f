// A sweep of labelled texts whose records are not here: its epochs cannot be counted, and every command says what to get.

#include <cstdlib>

#include "tests/sweeps/program.h"

using namespace deft;
using namespace deft::test;

TEST_CASE("Without a task's records each command that plans says what to get, and leaves nothing behind") {
    TinySweep sweep("");
    sweep.folder.write("words.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n");
    sweep.file = sweep.folder.write("glue.toml", R"toml(name = "glue"
seeds = [1]
[defaults.model]
preset = "bert_mini"
[defaults.data]
samples = "labelled"
corpus = "glue_sst2"
tokenizer = "words.txt"
[defaults.train]
batch_size = 4
epochs = 2
[[case]]
name = "plain"
[[case]]
name = "ltd"
random_ltd = { min = 16, duration = 0.7 }
)toml");
    const auto without_data = [&] {
        ::unsetenv("DEFT_DATA_MIRROR");
        ::setenv("DEFT_DATA", (sweep.folder.path / "nothing").c_str(), 1);
    };
    const std::string file = sweep.file.string();
    const auto said = [&](const std::string& command, const std::vector<std::string>& more) {
        const Ran ran = sweep.deft(command, more, without_data);
        CHECK(ran.exit_code == kExitUsage);
        CHECK(ran.out.empty());
        return ran.err;
    };
    const std::string plan = said("plan", {});
    CHECK_THAT(plan, ContainsSubstring("glue.toml:11:") && ContainsSubstring("passes over the records of glue_sst2") &&
                         ContainsSubstring("glue/SST-2/train.tsv is missing") &&
                         ContainsSubstring("to mend: deft data get sst2 (") && ContainsSubstring("DEFT_DATA_MIRROR"));
    CHECK(said("run", {}) == plan);
    CHECK(said("run", {"--dry-run"}) == plan);
    CHECK(said("tune", {file, "ltd"}) == plan);
    CHECK(said("analyze", {file}) == plan);
    CHECK(!std::filesystem::exists(sweep.root));
    // What is asked of results alone needs no data: here there are none.
    const Ran status = sweep.deft("status", {}, without_data);
    CHECK(status.exit_code == kExitNothing);
    CHECK_THAT(status.err, ContainsSubstring("there are no results"));
    // The command that is named knows the data set.
    CHECK_THAT(sweep.deft("data", {"info", "sst2"}, without_data).out, ContainsSubstring("SST-2"));
}
