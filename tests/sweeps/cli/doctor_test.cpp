// deft doctor's findings.

#include "sweeps/cli/doctor.h"

#include <chrono>

#include "base/json.h"
#include "sweeps/driver/cluster_probe.h"
#include "tests/catch.h"
#include "tests/sweeps/fake_cluster.h"
#include "tests/sweeps/fake_slurm.h"
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
    for (const char* subject :
         {"processor", "threads", "memory", "huge pages", "CUDA backend", "CUDA toolkit", "GPU", "GPU driver", "MPI",
          "NCCL", "launcher local", "launcher steps", "launcher slurm", "launcher auto", "git", "data"})
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

TEST_CASE("the doctor says where trials can run, and why not", "[bare]") {
    const test::TemporaryFolder folder;
    const auto texts = [](const slurm::Variables& variables) {
        const auto findings = launchers(variables);
        CHECK(finding(findings, "launcher local").found == "works");
        const Finding &steps = finding(findings, "launcher steps"), &chosen = finding(findings, "launcher auto");
        CHECK((steps.state == Finding::State::ok) == (steps.found.starts_with("works")));
        return steps.found + " | " + steps.meaning + " | " + chosen.found + " | " + chosen.meaning;
    };
    const auto in_job = test::variables_of(test::kTwoNodes);
    CHECK_THAT(texts(test::variables_of({})),
               ContainsSubstring("in none | ") && ContainsSubstring("salloc -N2") && ContainsSubstring(" | local | "));
    {
        const test::WithVariable path("PATH", test::path_with_srun(folder, test::kSrunOfVersion));
        CHECK_THAT(texts(in_job), ContainsSubstring("works: 2 nodes, 2 to 4 cores each, Slurm 22.05.8 | ") &&
                                      ContainsSubstring(" | steps | "));
        CHECK_THAT(
            texts(test::variables_of(test::with(test::kOneNode, {{"SLURM_MEM_PER_NODE", "1000"}}))),
            ContainsSubstring("works: 1 node, 4 cores and 1000 MiB each, Slurm") && ContainsSubstring(" | local | "));
        CHECK_THAT(texts(test::variables_of(test::kInStep)),
                   ContainsSubstring("inside a step") && ContainsSubstring(" | local | "));
    }
    for (const std::string& path : {test::path_with_srun(folder, test::kFailingSrun), std::string("/nonexistent")}) {
        const test::WithVariable changed("PATH", path);
        CHECK_THAT(texts(in_job), ContainsSubstring("needs srun") &&
                                      ContainsSubstring(" | local | the other nodes of this Slurm job stay idle"));
    }
}

TEST_CASE("the doctor says whether sbatch answers", "[bare]") {
    const test::TemporaryFolder folder;
    const auto jobs = []() -> Finding { return finding(launchers(test::variables_of({})), "launcher slurm"); };
    {
        const test::WithVariable path("PATH", test::path_with(folder, "sbatch", test::kSrunOfVersion));
        CHECK(jobs().found == "works: Slurm 22.05.8");
        CHECK(jobs().state == Finding::State::ok);
    }
    const test::WithVariable path("PATH", "/nonexistent");
    CHECK(jobs().found == "needs sbatch, which is not on PATH");
    CHECK(jobs().state == Finding::State::note);
}

TEST_CASE("the doctor waits 5 s for an srun that hangs", "[slow][bare]") {
    const test::TemporaryFolder folder;
    const test::WithVariable path("PATH", test::path_with_srun(folder, test::kHangingSrun));
    const auto begin = std::chrono::steady_clock::now();
    CHECK_THAT(finding(launchers(test::variables_of(test::kTwoNodes)), "launcher steps").found,
               ContainsSubstring("did not answer within 5 s"));
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));
}

TEST_CASE("the doctor's job tests the shared folder and its locks, and leaves nothing", "[bare]") {
    const test::Folder folder;
    const test::Cluster cluster(folder);
    const std::filesystem::path root = folder.path / "root";
    const auto findings = slurm_findings(root, {}, {.program = DEFT_PROGRAM});
    CHECK(finding(findings, "Slurm job").state == Finding::State::ok);
    CHECK(finding(findings, "shared folder").state == Finding::State::ok);
    CHECK(finding(findings, "shared locks").state == Finding::State::ok);
    CHECK_FALSE(std::filesystem::exists(root / "jobs"));

    cluster.write("first", "rm \"${@: -1}/lock\"\n");
    CHECK(finding(slurm_findings(root, {}, {.program = DEFT_PROGRAM}), "shared locks").state == Finding::State::note);
    cluster.write("first", "echo '{\"nonce\": 7}' > \"${@: -1}/probe.json\"\n");
    const auto foreign = slurm_findings(root, {}, {.program = DEFT_PROGRAM});
    CHECK(finding(foreign, "shared folder").state == Finding::State::missing);
    cluster.write("first", "echo 'sbatch: error: invalid partition' >&2; exit 1\n");
    CHECK_THAT(finding(slurm_findings(root, {}, {.program = DEFT_PROGRAM}), "Slurm job").found,
               ContainsSubstring("invalid partition"));
}

TEST_CASE("the doctor says where a job that gives no answer is", "[bare]") {
    const test::Folder folder;
    const test::Cluster cluster(folder);
    cluster.write("first", "state=PENDING; reason=Priority; begins=false\n");
    const ClusterProbe probe = probe_cluster(folder.path / "root", {}, {.program = DEFT_PROGRAM, .answer = 1});
    CHECK(probe.host.empty());
    CHECK_THAT(probe.problem, ContainsSubstring("within 1 s and is PENDING (Priority)"));
    CHECK_THAT(cluster.log("scancel.log"), ContainsSubstring("--name=deft-"));
}
