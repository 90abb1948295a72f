// `cmake --install` copies all that the program reads: what it installs works when moved, from any folder.

#include <algorithm>
#include <optional>

#include "tests/catch.h"
#include "tests/install/ran.h"

using namespace deft::test;
namespace fs = std::filesystem;

namespace {

const fs::path kProgram = DEFT_PROGRAM;

// An installation that was moved after its install, and a folder of a user beside it.
struct Installation {
    TemporaryFolder folder;
    fs::path prefix = folder / "moved here", user = folder / "user";
    Installation() {
        const fs::path first = folder / "first";
        const deft::ProcessOutput ran =
            deft::run_process({"sh", "-c", R"(exec cmake --install "$0" --prefix "$1" 2>&1)",
                               kProgram.parent_path().string(), first.string()});
        INFO(ran.out);
        REQUIRE(ran.exit_code == 0);
        fs::rename(first, prefix);
        fs::create_directories(user);
    }
    Ran deft(std::vector<std::string> words) const {
        words.insert(words.begin(), (prefix / "bin" / "deft").string());
        return run_in(user, words);
    }
    std::vector<std::string> listing() const {
        std::vector<std::string> entries;
        for (const auto& entry : fs::recursive_directory_iterator(prefix))
            entries.push_back(fs::relative(entry.path(), prefix).string() +
                              (entry.is_regular_file() ? fmt::format(" {}", entry.file_size()) : ""));
        std::sort(entries.begin(), entries.end());
        return entries;
    }
};

bool has_cmake() {
    return deft::run_process({"sh", "-c", "command -v cmake"}).exit_code == 0;
}

}  // namespace

TEST_CASE("an installed program trains, reports and explains without its source tree", "[slow][bare]") {
    if (!has_cmake()) DEFT_SKIP("no cmake to install with");
    const Installation installed;
    const std::vector<std::string> before = installed.listing();

    const Ran keys = installed.deft({"keys", "train.learning_rate"});
    CHECK(keys.exit_code == 0);
    CHECK_THAT(keys.out, ContainsSubstring("learning_rate"));
    const Ran run = installed.deft(
        {"run", "quickstart", "--only", "baseline", "--seeds", "1", "--set", "train.budget_tokens=4096"});
    INFO(run.err);
    REQUIRE(run.exit_code == 0);
    CHECK(fs::is_regular_file(installed.user / "deft-runs" / "results.db"));
    const Ran report = installed.deft({"report", "quickstart"});
    CHECK(report.exit_code == 0);
    CHECK_THAT(report.out, ContainsSubstring("baseline") && ContainsSubstring("Paper"));
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"report", "--from", "evidence/gpt2_ptb_proxy.jsonl"},
                                               {"check", "claims", "--from", "evidence/gpt2_ptb_proxy.jsonl"},
                                               {"plan", "gpt_combined", "--scale", "paper"},
                                               {"plan", "--preset", "gpt3_1.3b"},
                                               {"help"},
                                               {"status"}}) {
        const Ran ran = installed.deft(words);
        INFO(words[0] << ": " << ran.err);
        CHECK((ran.exit_code == 0 || words[0] == "check"));
        CHECK_THAT(ran.err, !ContainsSubstring("error"));
    }
    CHECK(installed.listing() == before);
}

TEST_CASE("an installed program reads its own files alone", "[bare]") {
    if (!has_cmake()) DEFT_SKIP("no cmake to install with");
    const Installation installed;
    fs::remove(installed.prefix / "share" / "deft" / "experiments" / "suites.toml");
    fs::rename(installed.prefix / "share" / "deft" / "sweeps", installed.user / "kept");
    CHECK(installed.deft({"plan", "quickstart"}).exit_code == 2);
    fs::rename(installed.user / "kept", installed.prefix / "share" / "deft" / "sweeps");
    fs::remove(installed.prefix / "share" / "deft" / "experiments" / "datasets.toml");
    const Ran ran = installed.deft({"data", "list"});
    CHECK(ran.exit_code != 0);
    CHECK_THAT(ran.err, ContainsSubstring("experiments/datasets.toml, which belongs to deft, is not here") &&
                            ContainsSubstring("moved here/share/deft") && !ContainsSubstring(DEFT_SOURCE_DIR));
}

TEST_CASE("an installation has the manual page, completions and documentation", "[bare]") {
    if (!has_cmake()) DEFT_SKIP("no cmake to install with");
    const Installation installed;
    const fs::path share = installed.prefix / "share";
    const std::vector<std::pair<const char*, std::vector<std::string>>> printed = {
        {"man/man1/deft.1", {"man"}},
        {"bash-completion/completions/deft", {"completion", "bash"}},
        {"zsh/site-functions/_deft", {"completion", "zsh"}},
        {"fish/vendor_completions.d/deft.fish", {"completion", "fish"}}};
    for (const auto& [file, words] : printed) {
        INFO(file);
        const std::string text = read_text(share / file);
        CHECK(text.size() > 1000);
        CHECK(text == installed.deft(words).out);
    }
    for (const char* file : {"README.md", "CHANGELOG.md", "LICENSE", "docs/install.md", "docs/cli.md"}) {
        INFO(file);
        CHECK(fs::is_regular_file(share / "doc" / "deft" / file));
    }
    CHECK(read_text(share / "deft" / "commit").size() > 7);
}
