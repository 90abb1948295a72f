// A misspelt name on the command line: every command exits with 2 and suggests the nearest name.

#include <fmt/format.h>

#include <fmt/ranges.h>

#include "base/process.h"
#include "results_db/writer.h"
#include "tests/reporting/history/invented_past.h"
#include "tests/sweeps/program.h"

using namespace deft;
using test::TinySweep;

namespace {

struct Misspelt {
    std::vector<std::string> words;  // without --root
    std::string meant;               // the suggestion
};

// Its standard error joins its output.
ProcessOutput run_deft(const std::vector<std::string>& words) {
    std::vector<std::string> argv = {"/bin/sh", "-c", R"("$0" "$@" 2>&1)", DEFT_PROGRAM};
    argv.insert(argv.end(), words.begin(), words.end());
    return run_process(argv);
}

void refuse_all(const std::vector<Misspelt>& table, const std::vector<std::string>& more) {
    for (const Misspelt& one : table) {
        std::vector<std::string> words = one.words;
        words.insert(words.end(), more.begin(), more.end());
        INFO(fmt::format("deft {}", fmt::join(words, " ")));
        const ProcessOutput ran = run_deft(words);
        CHECK(ran.exit_code == kExitUsage);
        CHECK_THAT(ran.out, ContainsSubstring("did you mean " + one.meant + "?"));
    }
}

}  // namespace

TEST_CASE("A misspelt name of a sweep, recipe, trial, task, baseline or benchmark exits with 2 and a suggestion") {
    const TinySweep sweep(test::kPlain, "[1]");
    REQUIRE(sweep.run().exit_code == kExitOk);
    REQUIRE(sweep.deft("baseline", {"pin", "main", "--root", sweep.root.string()}).exit_code == kExitOk);
    {
        results_db::Writer writer(sweep.root / "results.db");
        test::Past past;
        past.cases = {{"linear", R"({"case":"1"})", 1e-3, {}}};
        test::write_past(writer, past);
    }
    refuse_all({{{"status", "tinny"}, "tiny"},
                {{"report", "tinny"}, "tiny"},
                {{"report", "tinny@0123"}, "tiny"},
                {{"show", "plian/1"}, "plain/1"},
                {{"show", "plain/1", "--items", "lambade"}, "lambada"},
                {{"logs", "plian/1"}, "plain/1"},
                {{"trace", "tinny", "plain", "validation loss"}, "tiny"},
                {{"trace", "tiny", "plian", "validation loss"}, "plain"},
                {{"compare", "plain", "tinny:plain"}, "tiny"},
                {{"eval", "plian/1", "--tasks", "lambada"}, "plain/1"},
                {{"eval", "plain/1", "--tasks", "lambade"}, "lambada"},
                {{"generate", "plian/1", "--prompt", "a"}, "plain/1"},
                {{"export", "plian/1", "--to", (sweep.folder.path / "exported").string()}, "plain/1"},
                {{"check", "quality", "--baseline", "mian"}, "main"},
                {{"check", "quality", "tinny", "--baseline", "main"}, "tiny"},
                {{"check", "quality", "--baseline", "main", "--only", "plian"}, "plain"},
                {{"check", "claims", "tinny"}, "tiny"},
                {{"check", "trend", "-k", "liner*"}, "linear/*"},
                {{"bench", "history", "-k", "liner/*"}, "linear/*"},
                {{"baseline", "pin", "next", "tinny"}, "tiny"},
                {{"baseline", "pin", "next", "--only", "plian"}, "plain"},
                {{"baseline", "retire", "mian"}, "main"},
                {{"db", "export", "tinny"}, "tiny"}},
               {"--root", sweep.root.string()});
    const std::string file = sweep.file.string();
    refuse_all({{{"run", file, "--dry-run", "--only", "plian"}, "plain"},
                {{"run", file, "--dry-run", "--set", "trian.steps=1"}, "train"},
                {{"plan", file, "--only", "plian"}, "plain"},
                {{"plan", "--preset", "gpt_minni"}, "gpt_mini"},
                {{"data", "info", "lambade"}, "lambada"},
                {{"data", "get", "lambade"}, "lambada"},
                {{"data", "dump-samples", file, "--only", "plian"}, "plain"},
                {{"analyze", file, "--only", "plian"}, "plain"},
                {{"analyze", "--text", file, "--metric", "vok"}, "voc"},
                {{"tune", file, "plian"}, "plain"},
                {{"profile", file, "--only", "plian"}, "plain"},
                {{"debug-state", file, "--only", "plian"}, "plain"},
                {{"keys", "lerning_rate"}, "learning_rate"},
                {{"bench", "list", "-k", "liner_forward/*"}, "linear_forward/*"}},
               {});
}

TEST_CASE("A file that does not exist exits with 2, whatever command names it") {
    const TinySweep sweep(test::kPlain, "[1]");
    const std::string none = (sweep.folder.path / "none.json").string(), out = (sweep.folder.path / "out").string();
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"run", none},
                                               {"report", "--from", none},
                                               {"db", "merge", none},
                                               {"bench", "import", none},
                                               {"config", "import-deepspeed", none},
                                               {"import", none, "--to", out},
                                               {"init", none},
                                               {"eval", none, "--tasks", "lambada"},
                                               {"export", none, "--to", out},
                                               {"data", "tokenize", "--text", none, "--out", out}}) {
        INFO(fmt::format("deft {}", fmt::join(words, " ")));
        const ProcessOutput ran = run_deft(words);
        CHECK(ran.exit_code == kExitUsage);
        CHECK_THAT(ran.out, ContainsSubstring("none.json"));
    }
}
