// Complete files that pages show are valid: sweeps, and the task that one of them uses.

#include <algorithm>
#include <string>

#include "base/process.h"
#include "tests/catch.h"
#include "tests/docs/pages.h"
#include "tests/temporary_folder.h"

using namespace deft::test;

namespace {

bool has_line(const Block& block, const std::string& start) {
    return std::any_of(block.lines.begin(), block.lines.end(),
                       [&](const std::string& line) { return line.starts_with(start); });
}

std::string text_of(const Block& block) {
    std::string text;
    for (const std::string& line : block.lines) text += line + "\n";
    return text;
}

deft::ProcessOutput plan(const TemporaryFolder& folder, const std::string& sweep) {
    write_text(folder / "mine.toml", sweep);
    return deft::run_process(
        {"/bin/sh", "-c", R"(cd "$0" && "$1" plan mine.toml 2>&1)", folder.path().string(), DEFT_PROGRAM});
}

}  // namespace

TEST_CASE("sweep files and task files that pages show in full are valid") {
    const TemporaryFolder folder;
    int sweeps = 0, tasks = 0;
    std::string sweep;
    for (const Page& page : all_pages())
        for (const Block& block : page.blocks) {
            if (block.language != "toml" || !has_line(block, "name = ") || !has_line(block, "seeds = ")) continue;
            ++sweeps;
            sweep = text_of(block);
            const deft::ProcessOutput planned = plan(folder, sweep);
            INFO(block.place << ": " << planned.out);
            CHECK(planned.exit_code == 0);
        }
    for (const Page& page : all_pages())
        for (const Block& block : page.blocks) {
            if (block.language != "toml" || !has_line(block, "kind = ")) continue;
            ++tasks;
            write_text(folder / "my_task.toml", text_of(block));
            const deft::ProcessOutput planned = plan(folder, sweep + "[defaults.eval]\ntasks = [\"my_task.toml\"]\n");
            INFO(block.place << ": " << planned.out);
            CHECK(planned.exit_code == 0);
        }
    CHECK(sweeps >= 1);
    CHECK(tasks == 1);
    write_text(folder / "my_task.toml", "name = \"my_task\"\nkinds = \"multiple_choice\"\n");
    CHECK(plan(folder, sweep + "[defaults.eval]\ntasks = [\"my_task.toml\"]\n").exit_code == 2);
}
