// A pull request with a failing test, or with a recipe worse than its pinned baseline, is red on GitHub and on GitLab.

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace fs = std::filesystem;

namespace {

// The lines of a job that are indented deeper than its name; empty where the file has no such job.
std::string job_of(const std::string& text, const std::string& name_line) {
    const std::size_t indent = name_line.find_first_not_of(' ');
    std::istringstream in(text);
    std::string job;
    bool inside = false;
    for (std::string line; std::getline(in, line);) {
        const std::size_t begin = line.find_first_not_of(' ');
        if (inside && begin != std::string::npos && begin <= indent) return job;
        if (inside) job += line + '\n';
        if (line == name_line) inside = true;
    }
    return job;
}

std::string text_of(const char* file) {
    return deft::test::read_text(fs::path(DEFT_SOURCE_DIR) / file);
}

}  // namespace

TEST_CASE("GitHub runs the tests for every pull request, and a failure fails the job") {
    const std::string text = text_of(".github/workflows/deft-check.yml"), job = job_of(text, "  tests:");
    CHECK_THAT(text, ContainsSubstring("\non:\n  pull_request:\n"));
    CHECK_THAT(job, ContainsSubstring("          ./deft test\n"));
    CHECK_THAT(job, !ContainsSubstring("\n    if:") && !ContainsSubstring("continue-on-error") &&
                        !ContainsSubstring("./deft test |"));
    CHECK(text.find("paths-ignore") == std::string::npos);
}

TEST_CASE("GitLab runs the tests for every merge request, and a failure fails the job") {
    const std::string text = text_of(".gitlab-ci.yml"), job = job_of(text, "tests:");
    CHECK_THAT(job, ContainsSubstring("    - if: $CI_PIPELINE_SOURCE == \"merge_request_event\"\n"));
    CHECK_THAT(job, ContainsSubstring("    - ./deft test\n"));
    CHECK(text.find("allow_failure") == std::string::npos);
    CHECK(job.find("when: manual") == std::string::npos);
}

// The commands of the gate of a recipe, as docs/ci.md shows them.
const std::vector<std::string> kQualityGate = {
    "./deft run .ci/quality.toml --root deft-runs/quality --seeds 4,5,6\n",
    "./deft baseline pin main --from .ci/baseline.jsonl --root deft-runs/quality\n",
    "./deft check quality --baseline main --root deft-runs/quality "};

TEST_CASE("both templates compare a recipe with the pinned baseline of the repository, as docs/ci.md describes") {
    const std::string github = job_of(text_of(".github/workflows/deft-check.yml"), "  quality:"),
                      gitlab = job_of(text_of(".gitlab-ci.yml"), "quality:"), page = text_of("docs/ci.md");
    for (const std::string& command : kQualityGate) {
        CHECK_THAT(github, ContainsSubstring("\n          " + command));
        CHECK_THAT(gitlab, ContainsSubstring("\n    - " + command));
        CHECK_THAT(page, ContainsSubstring("\n" + command));
    }
    for (const std::string& job : {github, gitlab}) {
        CHECK_THAT(job, !ContainsSubstring("continue-on-error") && !ContainsSubstring("||") &&
                            !ContainsSubstring("when: manual"));
        CHECK_THAT(job, ContainsSubstring(" --junit deft-runs/check/quality.xml\n"));
    }
}

TEST_CASE("without a pinned baseline GitHub's job passes and GitLab starts none") {
    const std::string github = job_of(text_of(".github/workflows/deft-check.yml"), "  quality:"),
                      gitlab = job_of(text_of(".gitlab-ci.yml"), "quality:");
    const std::size_t condition = github.find("          if [ ! -f .ci/baseline.jsonl ]; then\n"),
                      leave = github.find("            exit 0\n          fi\n"), train = github.find("./deft run");
    CHECK((condition < leave && leave < train && train != std::string::npos));
    CHECK_THAT(gitlab, ContainsSubstring("\n      exists: [.ci/baseline.jsonl]\n"));
    CHECK(!fs::exists(fs::path(DEFT_SOURCE_DIR) / ".ci/baseline.jsonl"));
}

TEST_CASE("a job without tests would be seen") {
    CHECK(job_of("jobs:\n  compare:\n    steps: x\n", "  tests:").empty());
    CHECK(job_of("jobs:\n  tests:\n    steps: x\n  compare:\n    y: 1\n", "  tests:") == "    steps: x\n");
}
