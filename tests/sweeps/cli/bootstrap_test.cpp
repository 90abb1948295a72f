// The bootstrap script where packages are missing.

#include "tests/sweeps/program.h"

using namespace deft;

TEST_CASE("The bootstrap script names the packages that are missing, and installs none unasked") {
    const test::Folder folder;
    std::string script = read_file(DEFT_SOURCE_DIR "/deft");
    const std::string zlib = "/usr/include/zlib.h zlib1g-dev\n";
    const std::size_t at = script.find(zlib);
    REQUIRE(at != std::string::npos);
    script.insert(at, "/nonexistent/one.h libone-dev\nno-such-program two\n");
    const auto copy = folder.write("deft", script);
    ::setenv("DEFT_NO_INSTALL", "1", 1);
    test::Process process({"/bin/bash", copy.string(), "run", "sweep.toml"}, folder.path / "out", folder.path / "err");
    CHECK(process.wait() == kExitUsage);
    ::unsetenv("DEFT_NO_INSTALL");
    const std::string said = read_file(folder.path / "err");
    CHECK_THAT(said, ContainsSubstring("apt-get install -y --no-install-recommends libone-dev two\n"));
    CHECK(read_file(folder.path / "out").empty());
    CHECK(!std::filesystem::exists(folder.path / "build"));
}

TEST_CASE("The tests end with one line that says how many were skipped, and why") {
    const test::Folder folder;
    const auto program = [&](const std::string& name, const std::string& body) {
        const auto file = folder.write("bin/" + name, "#!/bin/sh\n" + body);
        std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    };
    program("cmake", "exit 0\n");
    program("ninja", "exit 0\n");
    program("nvcc", "exit 1\n");
    program("ctest",
            "mkdir -p \"$2/Testing/Temporary\"\n"
            "cp \"$(dirname \"$0\")/../log\" \"$2/Testing/Temporary/LastTest.log\"\nexit 8\n");
    const auto said = [&](const std::string& log) {
        folder.write("log", log);
        const std::string path = (folder.path / "bin").string() + ":" + std::getenv("PATH");
        test::Process process({"/usr/bin/env", "PATH=" + path, "DEFT_BUILD=" + (folder.path / "build").string(), "CI=1",
                               DEFT_SOURCE_DIR "/deft", "--no-cuda", "test"},
                              folder.path / "out", folder.path / "err");
        CHECK(process.wait() == 8);  // as ctest ended
        const std::string err = read_file(folder.path / "err");
        return err.substr(err.rfind('\n', err.size() - 2) + 1);
    };
    CHECK(said("all is well\n") == "deft: no test was skipped\n");
    CHECK(said("deft test skipped: no PyTorch\nx\ndeft test skipped: no vectors: set A\ndeft test skipped: no "
               "PyTorch\n") == "deft: 3 skipped: 2: no PyTorch; 1: no vectors: set A\n");
}

TEST_CASE("A long build says how far it is", "[slow]") {
    const test::Folder folder;
    // It builds until the line is there: how long that takes depends on what else runs.
    const std::string build = "echo '[3/7] a file'\nfor tenth in $(seq 600); do\n  grep -q 3/7 '" +
                              (folder.path / "out").string() + "' && exit 0\n  sleep 0.1\ndone\n";
    for (const auto& [name, body] :
         {std::pair{"cmake", std::string("exit 0\n")}, {"ninja", build}, {"nvcc", "exit 1\n"}}) {
        const auto file = folder.write("bin/" + std::string(name), "#!/bin/sh\n" + body);
        std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    }
    // The program that it would start is not there: 126 or 127.
    const std::string command = "PATH='" + (folder.path / "bin").string() + "':\"$PATH\" DEFT_BUILD='" +
                                (folder.path / "build").string() +
                                "' CI=1 " DEFT_SOURCE_DIR "/deft --no-cuda version 2>&1 | cat";
    test::Process process({"/bin/bash", "-c", command}, folder.path / "out", folder.path / "err");
    process.wait();
    CHECK_THAT(read_file(folder.path / "out"), ContainsSubstring("deft: building (the first time takes some minutes)\n"
                                                                 "deft: building, 3/7\n"));
}
