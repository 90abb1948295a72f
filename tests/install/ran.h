#pragma once
// A program run in a folder with an empty environment, as a new user's shell has it.

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/process.h"
#include "tests/temporary_folder.h"

namespace deft::test {

struct Ran {
    int exit_code = 0;
    std::string out, err;
};

inline Ran run_in(const std::filesystem::path& folder, std::vector<std::string> argv) {
    const std::filesystem::path home = folder / "home", err = folder / "home" / "stderr";
    std::filesystem::create_directories(home);
    argv.insert(argv.begin(), {"env", "-i", "-C", folder.string(), "PATH=/usr/local/bin:/usr/bin:/bin",
                               "HOME=" + home.string(), "OMP_WAIT_POLICY=passive", "ASAN_OPTIONS=detect_leaks=0", "sh",
                               "-c", R"(err=$1; shift; exec "$@" 2>"$err")", "sh", err.string()});
    const ProcessOutput output = run_process(argv);
    return {output.exit_code, output.out, read_text(err)};
}

}  // namespace deft::test
