// The lines of an error.

#include "base/error.h"

#include <string>

#include "tests/catch.h"

using namespace deft;

TEST_CASE("an error has its place, what happened, how to fix it and what was left unchanged, a line each") {
    CHECK(std::string(Error(ErrorKind::config, Place{"s.toml", 3, 7}, "no key", "write one", "the database").what()) ==
          "s.toml:3:7: no key\n  help: write one\n  note: unchanged: the database");
    CHECK(std::string(Error(ErrorKind::usage, "no file").what()) == "no file");
    // A sentence needs no introduction.
    CHECK(std::string(Error(ErrorKind::usage, "no file", "", "nothing was written").what()) ==
          "no file\n  note: nothing was written");
    CHECK(std::string(Error(ErrorKind::usage, "no file", "", "no probe was run").what()) ==
          "no file\n  note: no probe was run");
}
