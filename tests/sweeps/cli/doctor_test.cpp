// deft doctor's findings.

#include "sweeps/cli/doctor.h"
#include "base/json.h"

#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/with_variable.h"

using namespace deft;
using namespace deft::sweeps;

namespace {

const Finding& finding(const std::vector<Finding>& findings, const std::string& subject) {
    for (const Finding& one : findings)
        if (one.subject == subject) return one;
    throw std::runtime_error("no finding about " + subject);
}

}  // namespace

TEST_CASE("the doctor names what was found, and says what is missing", "[bare]") {
    const test::TemporaryFolder folder;
    const auto findings = examine(folder / "not" / "made" / "yet");
    for (const char* subject : {"processor", "threads", "memory", "huge pages", "CUDA backend", "CUDA toolkit", "GPU",
                                "GPU driver", "MPI", "NCCL", "git", "data"})
        CHECK(!finding(findings, subject).found.empty());
    CHECK(finding(findings, "disk").state == Finding::State::ok);
    CHECK_THAT(finding(findings, "disk").found, ContainsSubstring("free at " + folder.path().string()));
    CHECK_THAT(finding(findings, "libraries").found, ContainsSubstring("oneDNN 2.") || ContainsSubstring("oneDNN 3."));
    const Finding& gpu = finding(findings, "GPU");
    CHECK((gpu.state == Finding::State::ok || !gpu.meaning.empty()));  // none, and why
    CHECK(to_json(findings).size() == findings.size());
}

TEST_CASE("the doctor sees a data mirror that is not there, and nothing from outside steers the terminal", "[bare]") {
    const test::WithVariable mirror("DEFT_DATA_MIRROR", "/nonexistent/\x1b[31mred");
    const auto findings = examine(".");
    CHECK(finding(findings, "data").state == Finding::State::missing);
    const std::string text = render(findings);
    CHECK_THAT(text, ContainsSubstring("is not a folder"));
    CHECK(text.find('\x1b') == std::string::npos);
}
