// deft import and deft export through the program.

#include "tests/sweeps/program.h"

#include "base/json.h"

using namespace deft;
using test::Ran;
using test::TinySweep;
namespace fs = std::filesystem;

TEST_CASE("a trial's checkpoint goes out as a model of Hugging Face, comes back, and is scored", "[integration]") {
    const TinySweep sweep(test::kPlain);
    REQUIRE(sweep.run().exit_code == kExitOk);
    fs::path checkpoint;
    for (const auto& entry : fs::recursive_directory_iterator(sweep.root / "checkpoints"))
        if (entry.path().filename() == "model.safetensors") checkpoint = entry.path().parent_path();
    REQUIRE(!checkpoint.empty());
    const std::string out = (sweep.folder.path / "out_model").string(), back = (sweep.folder.path / "back").string();
    const Ran exported =
        sweep.deft("export", {checkpoint.string(), "--to", out, "--dtype", "f32", "--shard-size", "1"});
    CHECK(exported.exit_code == kExitOk);
    CHECK_THAT(exported.out, ContainsSubstring(out));
    CHECK(Json::parse(read_file(fs::path(out) / "config.json")).at("model_type") == "gpt2");
    const Ran again = sweep.deft("export", {checkpoint.string(), "--to", out});
    CHECK(again.exit_code == kExitUsage);
    CHECK_THAT(again.err, ContainsSubstring("already exists") && ContainsSubstring("--force"));
    CHECK(sweep.deft("export", {checkpoint.string(), "--to", out, "--force", "--dtype", "bf16"}).exit_code == kExitOk);

    const Ran imported = sweep.deft("import", {out, "--to", back, "--tokenizer", "bytes"});
    CHECK(imported.exit_code == kExitOk);
    CHECK_THAT(imported.out, ContainsSubstring("GPT-2 of Hugging Face") && ContainsSubstring("bf16"));
    const Ran scored = sweep.deft("eval", {back, "--tasks", "embedded_questions", "--documents", "3"});
    CHECK(scored.exit_code == kExitOk);
    CHECK_THAT(scored.out, ContainsSubstring("embedded_questions"));

    CHECK(sweep.deft("import", {(sweep.folder.path / "nowhere").string(), "--to", back}).exit_code == kExitUsage);
    const Ran absent = sweep.deft("import", {(sweep.folder.path / "nowhere").string(), "--to", back + "2"});
    CHECK(absent.exit_code == kExitUsage);
    CHECK_THAT(absent.err, ContainsSubstring("does not exist"));
    CHECK(!fs::exists(back + "2"));
    CHECK(sweep.deft("export", {checkpoint.string(), "--to", back + "3", "--dtype", "f64"}).exit_code == kExitUsage);
}
