// Colour on terminals.

#include "base/color.h"

#include "tests/catch.h"

using namespace deft;

TEST_CASE("a message has its error, help and note in colour, and only where a line begins with them") {
    CHECK(colored_message("deft: error: no file\n  help: name one\n  note: unchanged: x\n") ==
          "deft: \x1b[1;31merror:\x1b[0m no file\n  \x1b[1;36mhelp:\x1b[0m name one\n  \x1b[1mnote:\x1b[0m unchanged: "
          "x\n");
    CHECK(colored_message("an error: in the middle\n\nhelpless") == "an error: in the middle\n\nhelpless");
}

TEST_CASE("a first screen has names of answers in bold and verdicts in colour") {
    CHECK(colored_screen("Answer   at equal tokens\n") == "\x1b[1mAnswer\x1b[0m   at equal tokens\n");
    CHECK(colored_screen("CL  0.50x  better\nLTD  worse\nLTD  inconclusive") ==
          "CL  0.50x  \x1b[32mbetter\x1b[0m\nLTD  \x1b[31mworse\x1b[0m\nLTD  inconclusive");
    CHECK(colored_screen("CL  better at half of the tokens") == "CL  better at half of the tokens");
    CHECK(colored_screen("Answers\nPaper cut\nworse") == "Answers\nPaper cut\nworse");
}

TEST_CASE("a file takes no colour") {
    std::FILE* file = std::tmpfile();
    REQUIRE(file != nullptr);
    CHECK_FALSE(takes_color(file));
    std::fclose(file);
}
