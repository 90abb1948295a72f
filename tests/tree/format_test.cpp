// Every C++ and CUDA file has the layout that .clang-format describes.

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/process.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace fs = std::filesystem;

namespace {

constexpr const char* kVersion = "version 14.";  // other versions lay the same code out differently

// The formatter's path; empty where the machine has none of that version.
std::string formatter() {
    const char* chosen = std::getenv("DEFT_CLANG_FORMAT");
    for (const std::string program : {chosen == nullptr ? "" : chosen, "clang-format-14", "clang-format"}) {
        if (program.empty()) continue;
        const deft::ProcessOutput ran = deft::run_process({"/bin/sh", "-c", R"("$0" --version 2>/dev/null)", program});
        if (ran.exit_code == 0 && ran.out.find(kVersion) != std::string::npos) return program;
    }
    return "";
}

std::vector<std::string> source_files() {
    static const std::set<std::string> extensions = {".h", ".cpp", ".cu"};
    std::vector<std::string> files;
    for (const char* top : {"base", "engine", "experiments", "kernels", "reporting", "results_db", "sweeps", "tests"})
        for (const auto& entry : fs::recursive_directory_iterator(fs::path(DEFT_SOURCE_DIR) / top))
            if (entry.is_regular_file() && extensions.contains(entry.path().extension().string()))
                files.push_back(entry.path().string());
    return files;
}

// Exit code and messages of a check of `files`.
deft::ProcessOutput check_format(const std::string& program, const std::vector<std::string>& files) {
    std::vector<std::string> argv = {"/bin/sh", "-c", R"("$0" --dry-run --Werror "$@" 2>&1)", program};
    argv.insert(argv.end(), files.begin(), files.end());
    return deft::run_process(argv);
}

}  // namespace

TEST_CASE("every source file has the layout of .clang-format", "[bare]") {
    const std::string program = formatter();
    if (program.empty()) DEFT_SKIP("no clang-format 14 (PyPI: clang-format==14.0.6; DEFT_CLANG_FORMAT names it)");
    const std::vector<std::string> files = source_files();
    CHECK(files.size() > 1000);
    const deft::ProcessOutput ran = check_format(program, files);
    INFO("help: " << program << " -i FILE\n" << ran.out.substr(0, 4000));
    CHECK(ran.exit_code == 0);

    const deft::test::TemporaryFolder folder;
    fs::copy_file(fs::path(DEFT_SOURCE_DIR) / ".clang-format", folder / ".clang-format");
    const std::string untidy = (folder / "untidy.cpp").string();
    deft::test::write_text(untidy, "int  f( ){return 1 ;}\n");
    CHECK(check_format(program, {untidy}).exit_code != 0);
}
