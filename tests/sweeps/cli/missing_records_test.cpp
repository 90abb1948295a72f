// A sweep of labelled texts whose records are not here: its epochs cannot be counted. The plan says so, and every
// command that trains says what to get.

#include <cstdlib>

#include "tests/sweeps/program.h"

using namespace deft;
using namespace deft::test;

TEST_CASE("Without a task's records the plan has no steps, and what trains says what to get and leaves nothing",
          "[bare]") {
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
    const Ran planned = sweep.deft("plan", {}, without_data);
    CHECK(planned.exit_code == kExitOk);
    CHECK_THAT(planned.out, ContainsSubstring("unknown") &&
                                ContainsSubstring("The number of steps of 2 trials is unknown") &&
                                ContainsSubstring("2 of them not counted") && ContainsSubstring("glue_sst2"));
    const Json rows = Json::parse(sweep.deft("plan", {"--json"}, without_data).out).at("rows");
    for (const Json& row : rows) {
        for (const char* count : {"steps", "input_tokens", "layer_tokens", "flops"}) CHECK(row.at(count).is_null());
        CHECK(row.at("memory_bytes") > 0);
    }
    CHECK(rows.at(0).at("variant_hash") != rows.at(1).at("variant_hash"));
    const std::string run = said("run", {});
    CHECK_THAT(run, ContainsSubstring("data file glue/SST-2/") && ContainsSubstring("is missing") &&
                        ContainsSubstring("help: deft data get sst2 (") && ContainsSubstring("DEFT_DATA_MIRROR"));
    CHECK(said("run", {"--dry-run"}) == run);
    CHECK(said("tune", {file, "ltd"}) == run);
    CHECK(!std::filesystem::exists(sweep.root));
    // Commands that read only results need no data: this root has none.
    const Ran status = sweep.deft("status", {}, without_data);
    CHECK(status.exit_code == kExitNothing);
    CHECK_THAT(status.err, ContainsSubstring("there are no results"));
    // The command that is named knows the data set.
    CHECK_THAT(sweep.deft("data", {"info", "sst2"}, without_data).out, ContainsSubstring("SST-2"));
}
