// ThreadSanitizer sees the emulator's annotations: barriers and fences order memory, shuffles and blocks do not.

#include <string>

#include "tests/catch.h"
#include "tests/cuda/kernel_sources.h"
#include "tests/cuda/races_program.h"

namespace deft::test {
namespace {

constexpr int kRace = 66;

int run_tiny(Command program, const std::string& name, const std::string& barrier = "all") {
    program.insert(program.end(), {"tiny", name, barrier});
    return run_children({program}).front().exit_code;
}

TEST_CASE("ThreadSanitizer finds what is wrong in a kernel, and nothing in a right one", "[bare]") {
    const Command program = races_program();
    if (program.empty()) DEFT_SKIP("ThreadSanitizer does not run here");
    CHECK(run_tiny(program, "block_sum") == 0);
    CHECK(run_tiny(program, "reverse_in_warps") == 0);
    CHECK(run_tiny(program, "reverse_without_order") == kRace);
    CHECK(run_tiny(program, "add_up_atomically") == 0);
    CHECK(run_tiny(program, "add_up") == kRace);
    CHECK(run_tiny(program, "add_up_last") == 0);
    CHECK(run_tiny(program, "many_blocks_twice") == 0);
}

TEST_CASE("ThreadSanitizer finds a missing barrier or fence, though values may be right", "[bare]") {
    const Command program = races_program();
    if (program.empty()) DEFT_SKIP("ThreadSanitizer does not run here");
    const auto line_of = [](const std::string& word) {
        for (const SourceFile& file : source_files("tests/cuda/emulator", {".h"}))
            for (std::size_t i = 0; i < file.lines.size(); ++i)
                if (file.lines[i].find(word) != std::string::npos) return file.path + ":" + std::to_string(i + 1);
        return std::string("nowhere");
    };
    CHECK(run_tiny(program, "block_sum", line_of("__syncthreads();")) == kRace);
    CHECK(run_tiny(program, "reverse_in_warps", line_of("__syncwarp();")) == kRace);
    CHECK(run_tiny(program, "block_sum", line_of("__syncwarp();")) == 0);
    for (const char* fence : {"__threadfence();  // before", "__threadfence();  // after"})
        CHECK(run_tiny(program, "add_up_last", line_of(fence)) == kRace);
}

}  // namespace
}  // namespace deft::test
