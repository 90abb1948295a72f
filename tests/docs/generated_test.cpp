// Generated pages and measured tables are current.

#include <cstdlib>

#include "base/process.h"
#include "tests/catch.h"

TEST_CASE("generated pages and measured tables equal what the program prints", "[slow][bare]") {
    if (std::system("command -v python3 >/dev/null") != 0) DEFT_SKIP("no python3");
    const deft::ProcessOutput ran = deft::run_process(
        {"/bin/sh", "-c", R"(python3 "$0" "$1" --check 2>&1)", DEFT_SOURCE_DIR "/docs/generate", DEFT_PROGRAM});
    INFO(ran.out);
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.out, ContainsSubstring("all pages are current"));
}
