// Pictures that are kept beside the evidence that they are made of.

#include "base/files.h"
#include "tests/sweeps/program.h"

using namespace deft;
using test::Ran;
using test::TinySweep;

namespace {

namespace fs = std::filesystem;

}  // namespace

TEST_CASE("every picture in evidence is what deft report makes of the evidence beside it", "[slow]") {
    const TinySweep sweep(test::kPlain);
    std::size_t pictures = 0;
    for (const auto& entry : fs::directory_iterator(fs::path(DEFT_SOURCE_DIR) / "evidence")) {
        if (entry.path().extension() != ".svg") continue;
        ++pictures;
        fs::path evidence = entry.path();
        evidence.replace_extension(".jsonl");
        INFO(entry.path());
        const Ran ran = sweep.deft("report", {"--from", evidence.string(), "--format", "svg"});
        CHECK(ran.exit_code == kExitOk);
        CHECK(ran.out == read_file(entry.path()));
        CHECK_THAT(read_file(fs::path(DEFT_SOURCE_DIR) / "docs/results.md"),
                   ContainsSubstring("](../evidence/" + entry.path().filename().string() + ")"));
    }
    CHECK(pictures > 0);
}

TEST_CASE("a sweep without a picture says so") {
    const TinySweep sweep(test::kPlain, "[1]");
    REQUIRE(sweep.run().exit_code == kExitOk);
    const Ran ran = sweep.deft("report", {"--root", sweep.root.string(), "--format", "svg"});
    CHECK(ran.exit_code == kExitUsage);
    CHECK_THAT(ran.err, ContainsSubstring("has no picture of its own") && ContainsSubstring("two budgets each"));
    CHECK(sweep.deft("report", {"--root", sweep.root.string(), "--format", "svg", "--per-seed"}).exit_code ==
          kExitUsage);
}

TEST_CASE("the terminal says what rows keep of the quality for how much, as the page does", "[slow]") {
    const TinySweep sweep(test::kPlain);
    const std::string evidence = DEFT_SOURCE_DIR "/evidence/gpt_combined_proxy.jsonl";
    const std::string kept = " of the baseline's gain over a unigram model at ";
    const std::string defined = "A row's share is its gain over a unigram model";
    for (const char* format : {"term", "md"})
        CHECK_THAT(sweep.deft("report", {"--from", evidence, "--format", format, "--full"}).out,
                   ContainsSubstring(kept) && ContainsSubstring(defined));
    for (const char* format : {"csv", "tex"})
        CHECK_THAT(sweep.deft("report", {"--from", evidence, "--format", format}).out,
                   !ContainsSubstring("of the baseline's gain"));
}
