// Paths of the machine's own folders are removed from a text.

#include "results_db/evidence/local_paths.h"

#include "base/json.h"
#include "tests/catch.h"

using namespace deft;
using namespace deft::results_db;

TEST_CASE("of an absolute path the last name is left") {
    const auto without = [](const std::string& text) { return without_absolute_paths(text); };
    CHECK(without("cannot read /home/me/x.txt: no such file") == "cannot read x.txt: no such file");
    CHECK(without("/home/me/runs/") == "runs");
    CHECK(without("files = [\"/data/my texts/a.txt\", '/b/c d']") == "files = [\"a.txt\", 'c d']");
    CHECK(without("a=/x/y,b=/z") == "a=y,b=z");
    CHECK(without("in:/a/b") == "in:b");
    CHECK(without("\xc3\xa4 /\xc3\xa4/b") == "\xc3\xa4 b");
    CHECK(without("-O3 -I/home/me/include -L/home/me/lib -isystem/usr/x -Wl,-rpath,/a/b") ==
          "-O3 -Iinclude -Llib -isystemx -Wl,-rpath,b");
    CHECK(without("file:///home/me/gcc //home/me/os {/a/b}/c/d !/e/f") == "file:gcc os {b}d !f");
    CHECK(without("file://host/home/me/gcc") == "file:gcc");
    for (const char* kept : {"nats/token", "https://example.org/a/b", "1 / 2", "a/b/c.toml", "see http://a.b/c/d, ok",
                             "read-only/a", "a//b", "//", "sweeps/x.toml --scale proxy", "/", ""})
        CHECK(without(kept) == kept);
    CHECK(without_absolute_paths(Json{{"a", {"/b/c", 1}}, {"d", "e"}}) == Json{{"a", {"c", 1}}, {"d", "e"}});
}

TEST_CASE("the local part of a configuration names files alone") {
    CHECK(without_local_folders(
              {{"base_folder", "/home/me/sweeps"}, {"files", {"/a/b.txt", "../c.txt", "d/e.txt"}}, {"keep", 2}}) ==
          Json{{"base_folder", ""}, {"files", {"b.txt", "c.txt", "d/e.txt"}}, {"keep", 2}});
    CHECK(stays_below("a/b..c"));
    CHECK_FALSE(stays_below("a/../../b"));
    CHECK_FALSE(stays_below("/a"));
}

TEST_CASE("an absolute path is found anywhere in a value") {
    CHECK(an_absolute_path(parse_json(R"({"a": ["b", {"c": "/d/e"}]})")) == "/d/e");
    CHECK(an_absolute_path(parse_json(R"({"/a": ["b/c", "../d", 5]})")).empty());
}

TEST_CASE("a command is exported without its root") {
    CHECK(without_root("deft run x.toml --root /home/me/runs --threads 2") == "deft run x.toml --threads 2");
    CHECK(without_root("deft run x.toml --root 'my '\\''own'\\'' runs'") == "deft run x.toml");
    CHECK(without_root("deft run x.toml --set 'a= --root b'") == "deft run x.toml --set 'a= --root b'");
    CHECK(without_root("deft run x.toml") == "deft run x.toml");
}

TEST_CASE("a command of words alone can be given to a shell") {
    for (const char* good :
         {"deft run x.toml --set train.lr=1e-3 --only 'cl[a=1]/1'", "deft run 'it'\\''s.toml'", "a,b:c/d@e+f%g"})
        CHECK(is_words_alone(good));
    for (const char* bad :
         {"a;b", "a|b", "$(b)", "`b`", "a&b", "a>b", "a\nb", "'a", "\\a", "a\\", "~/a", "a*", "\"a\""})
        CHECK_FALSE(is_words_alone(bad));
}
