// Printed text that names the machine.

#include "sweeps/cli/output.h"

#include "tests/catch.h"
#include "tests/with_variable.h"

using namespace deft;
using cli::with_short_home;

TEST_CASE("A report has ~ in place of the home folder, where a shell still takes it") {
    const test::WithVariable home("HOME", "/home/me");
    CHECK(with_short_home("deft run /home/me/s.toml --root /home/me/runs") == "deft run ~/s.toml --root ~/runs");
    CHECK(with_short_home("deft run '/home/me/my s.toml'") == "deft run ~/'my s.toml'");
    CHECK(with_short_home("\"/home/me/x\": 1") == "\"~/x\": 1");
    for (const char* other : {"/mnt/home/me/x", "/home/mean/x", "/home/me", "no path at all"})
        CHECK(with_short_home(other) == other);
    const test::WithVariable none("HOME", "");
    CHECK(with_short_home("/home/me/x") == "/home/me/x");
}
