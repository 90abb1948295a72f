#include "reporting/table.h"

#include "reporting/text.h"
#include "tests/catch.h"

using namespace deft::reporting;

namespace {

Table small_table() {
    return {"A table",
            {{"case", Align::left}, {"loss ↓"}, {"tokens"}},
            {{"base", "3.4 ± 0.1", "600k"}, {"ltd", "-", "5"}},
            {"note one", "note two"}};
}

}  // namespace

TEST_CASE("a table on a terminal") {
    CHECK(render_terminal(small_table(), 0) ==
          "A table\n"
          "\n"
          "case     loss ↓  tokens\n"
          "───────────────────────\n"
          "base  3.4 ± 0.1    600k\n"
          "ltd           -       5\n"
          "\n"
          "note one\n"
          "note two\n");
}

TEST_CASE("a table in Markdown") {
    CHECK(render_markdown(small_table()) ==
          "**A table**\n"
          "\n"
          "| case |    loss ↓ | tokens |\n"
          "|:-----|----------:|-------:|\n"
          "| base | 3.4 ± 0.1 |   600k |\n"
          "| ltd  |         - |      5 |\n"
          "\n"
          "- note one\n"
          "- note two\n");
}

TEST_CASE("columns that do not fit go on in a second block") {
    Table table = small_table();
    table.notes = {"a note of several words"};
    CHECK(render_terminal(table, 16) ==
          "A table\n"
          "\n"
          "case     loss ↓\n"
          "───────────────\n"
          "base  3.4 ± 0.1\n"
          "ltd           -\n"
          "\n"
          "case  tokens\n"
          "────────────\n"
          "base    600k\n"
          "ltd        5\n"
          "\n"
          "a note of\n"
          "  several words\n");
    // Narrower than any two columns: still nothing is dropped.
    const std::string narrow = render_terminal(table, 1);
    CHECK_THAT(narrow, ContainsSubstring("3.4 ± 0.1") && ContainsSubstring("600k"));
    CHECK(render_terminal(table, 23).find("case     loss ↓  tokens\n") != std::string::npos);
}

TEST_CASE("titles of several lines end at the rule, and groups of columns stay together") {
    const Table table{"",
                      {{"case", Align::left},
                       {"budget"},
                       {"input\ntokens"},
                       {"steps"},
                       {"questions\nacc ↑\n(of 4)", Align::right, true}},
                      {{"base", "50%", "600k 1.00x", "12", "0.500"}},
                      {},
                      2};
    CHECK(render_terminal(table, 0) ==
          "                                 questions\n"
          "                   input             acc ↑\n"
          "case  budget      tokens  steps     (of 4)\n"
          "──────────────────────────────────────────\n"
          "base     50%  600k 1.00x     12      0.500\n");
    CHECK(render_terminal(table, 40) ==
          "                   input\n"
          "case  budget      tokens  steps\n"
          "───────────────────────────────\n"
          "base     50%  600k 1.00x     12\n"
          "\n"
          "              questions\n"
          "                  acc ↑\n"
          "case  budget     (of 4)\n"
          "───────────────────────\n"
          "base     50%      0.500\n");
    CHECK_THAT(render_markdown(table), ContainsSubstring("| case | budget | input tokens | steps |\n") &&
                                           ContainsSubstring("\n\n| case | budget | questions acc ↑ (of 4) |\n"));
}

TEST_CASE("columns are shared out evenly among the blocks") {
    const Table table{"", {{"k"}, {"aaaa"}, {"bbbb"}, {"cccc"}, {"dddd"}}, {}, {}};
    CHECK(render_terminal(table, 20) == "k  aaaa  bbbb\n─────────────\n\nk  cccc  dddd\n─────────────\n");
}

TEST_CASE("tables with nothing in them") {
    CHECK(render_terminal({}, 80).empty());
    CHECK(render_markdown({}).empty());
    CHECK(render_terminal({"", {{"a"}}, {}, {}}, 80) == "a\n─\n");
    CHECK(render_terminal({"", {{"a"}, {"b"}}, {{"1"}}, {}}, 80) == "a  b\n────\n1\n");
}

TEST_CASE("width counts what a terminal shows") {
    CHECK(display_width("abc") == 3);
    CHECK(display_width("± ↓") == 3);
    CHECK(display_width("日本") == 4);
    CHECK(display_width("e\u0301") == 1);
    CHECK(display_width("😀") == 2);
    CHECK(display_width("\xff\xfe") == 2);
    CHECK(render_terminal({"", {{"名", Align::left}, {"b"}}, {{"x", "1"}}, {}}, 0) == "名  b\n─────\nx   1\n");
}

TEST_CASE("a text has at least one line") {
    CHECK(lines_of("") == std::vector<std::string_view>{""});
    CHECK(lines_of("a") == std::vector<std::string_view>{"a"});
    CHECK(lines_of("a\n\nb") == std::vector<std::string_view>{"a", "", "b"});
    CHECK(lines_of("a\n") == std::vector<std::string_view>{"a", ""});
}

TEST_CASE("columns of a text, and as much of it as fits") {
    CHECK(display_width("\x1b[1mäb\x1b[0m") == 2);
    CHECK(display_width("表e\u0301") == 3);
    CHECK(cut_to_width("äöü", 2) == "äö");
    CHECK(cut_to_width("a表", 2) == "a");
    CHECK(cut_to_width("e\u0301x", 1) == "e\u0301");
}

TEST_CASE("text from outside cannot steer a terminal or break Markdown") {
    CHECK(printable("a\x1b[31mb\tc\nd") == "a [31mb c d");
    CHECK(printable("\xc2\x9b"
                    "31m") == " 31m");
    CHECK(printable("bad \xff\xc0\xaf") == "bad \uFFFD\uFFFD\uFFFD");
    CHECK(printable("\xed\xa0\x80") == "\uFFFD\uFFFD\uFFFD");
    CHECK(printable("cut \xe2\x82") == "cut \uFFFD\uFFFD");
    CHECK(printable("\u202Eevil") == " evil");
    CHECK(visible("a\x1b[1m\tb\n") == "a?[1m b?");
    CHECK(visible("\u009b1m \u202Eb \xff\x9b") == "?1m ?b \uFFFD\uFFFD");
    const Table table{"", {{"a|b"}}, {{"x|y\nz\\<script>"}}, {"n\nm"}};
    CHECK(render_markdown(table) ==
          "|                   a\\|b |\n"
          "|-----------------------:|\n"
          "| x\\|y<br>z\\\\&lt;script> |\n"
          "\n- n m\n");
    CHECK_THAT(render_terminal(table, 0), ContainsSubstring("x|y z\\<script>"));
}
