// Printed text fitted to a terminal.

#include "reporting/fit_lines.h"

#include <string>

#include "tests/catch.h"

using deft::reporting::fit_lines;

TEST_CASE("without a terminal every line keeps its width") {
    const std::string text = std::string(200, 'x') + " y\n  a  b\n";
    CHECK(fit_lines(text, 0) == text);
    CHECK(fit_lines("", 20).empty());
    CHECK(fit_lines("\n\nshort\n", 20) == "\n\nshort\n");
}

TEST_CASE("a wide line is broken at spaces and continues further in") {
    CHECK(fit_lines("one two three four five", 12) == "one two\n  three four\n  five");
    CHECK(fit_lines("deft: error: no such file\n  help: check the path\n", 18) ==
          "deft: error: no\n  such file\n  help: check the\n    path\n");
}

TEST_CASE("a value continues below itself, and below its name if that is wide") {
    CHECK(fit_lines("  flags  -O3 -DNDEBUG -march\n", 20) == "  flags  -O3\n         -DNDEBUG\n         -march\n");
    CHECK(fit_lines("ok   cpu  - one two three", 20) == "ok   cpu  - one two\n            three");
    CHECK(fit_lines("  a name of many words  one two three four", 24) ==
          "  a name of many words\n      one two three four");
}

TEST_CASE("a word that is too long for the column of values begins further left, and is not broken") {
    const std::string hash(22, 'a');
    CHECK(fit_lines("  hash        " + hash, 30) == "  hash\n      " + hash);
    CHECK(fit_lines("  hash        " + hash, 20) == "  hash\n      " + hash);
    CHECK(fit_lines(hash, 10) == hash);
}

TEST_CASE("a command continues after a backslash, with quoted words and options whole") {
    CHECK(fit_lines("  ./deft trace 'CL at 50%' 'validation loss' --root runs --full", 32) ==
          "  ./deft trace 'CL at 50%' \\\n    'validation loss' \\\n    --root runs --full");
    CHECK(fit_lines("to see it  deft show 4f4d --root runs", 30) ==
          "to see it  deft show 4f4d \\\n           --root runs");
    CHECK(fit_lines("  all about a trial  ./deft show 4f4d --root runs", 30) ==
          "  all about a trial\n      ./deft show 4f4d \\\n      --root runs");
    CHECK(fit_lines("deft trains no finished trial again.", 24) == "deft trains no finished\n  trial again.");
}
