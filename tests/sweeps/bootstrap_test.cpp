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
