// Variables that would make a child process act elsewhere.

#include "base/child_environment.h"

#include <sys/wait.h>

#include "base/files.h"
#include "base/process.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/with_variable.h"

using namespace deft;

TEST_CASE("Variables of git, of another launch and of Python's prompt redirect children; settings do not") {
    for (const char* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CONFIG_COUNT", "OMPI_COMM_WORLD_SIZE",
                             "OMPI_UNIVERSE_SIZE", "OMPI_MCA_ess_base_jobid", "PMIX_RANK", "PMI_FD", "PYTHONINSPECT"})
        CHECK(redirects_children(name));
    for (const char* name : {"PATH", "HOME", "GITHUB_ACTIONS", "OMPI_MCA_btl", "OMPI_ALLOW_RUN_AS_ROOT", "PMIX_MCA_gds",
                             "PYTHONPATH", "CXXFLAGS", "CUDA_VISIBLE_DEVICES"})
        CHECK(!redirects_children(name));
}

TEST_CASE("No child gets a variable that redirects it, however it is started; what is asked for it does get") {
    const test::WithVariable git("GIT_DIR", "/elsewhere"), mpi("OMPI_UNIVERSE_SIZE", "1"),
        kept("DEFT_TEST_KEPT", "one"), changed("DEFT_TEST_CHANGED", "old");
    const std::vector<std::string> asked = {"DEFT_TEST_CHANGED=new", "GIT_TRACE=0"};
    const std::string said = "${GIT_DIR-none} ${OMPI_UNIVERSE_SIZE-none} $DEFT_TEST_KEPT ";
    const std::vector<std::string> argv = {"sh", "-c", "echo " + said + "$DEFT_TEST_CHANGED ${GIT_TRACE-none}"};
    CHECK(run_process(argv).out == "none none one old none\n");
    CHECK(PipedProcess(argv, asked).read_line() == "none none one new 0");
    const test::TemporaryFolder folder;
    const pid_t pid = start_process(argv, folder / "log", asked);
    CHECK(::waitpid(pid, nullptr, 0) == pid);
    CHECK(read_file(folder / "log") == "none none one new 0\n");
}
