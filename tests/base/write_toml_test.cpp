#include "base/write_toml.h"

#include "base/json.h"
#include "tests/catch.h"

using namespace deft;

namespace {

void check_round_trip(const std::string& text) {
    const ConfigNode tree = parse_toml(text, "a.toml");
    const std::string written = to_toml(tree, "");
    INFO(written);
    const ConfigNode again = parse_toml(written, "b.toml");
    CHECK(to_json(again) == to_json(tree));
    CHECK(to_toml(again, "") == written);
}

}  // namespace

TEST_CASE("write_toml: what is written reads as what it was") {
    check_round_trip("");
    check_round_trip("a = 1\nb = 1.0\nc = 1e-30\nd = true\ne = [1, 2]\nf = [[1, 0.5], [2, 3.0]]\n");
    check_round_trip("s = \"quotes \\\" and \\\\ and \\n and \\u007f and \\u0001 and é\"\n\"a key\" = 1\n");
    check_round_trip("[t]\n[u]\na = 1\n[u.v.w]\nb = 2\nc = [{x = 1, y = \"z\"}]\n[\"odd key\".x]\na = 1\n");
    check_round_trip("first.second = 1\nlast = 2\n");
}

TEST_CASE("write_toml: a table under a path has its headers") {
    const ConfigNode tree = parse_toml("min = 8\n[inner]\nx = 0.5\n", "a.toml");
    CHECK(to_toml(tree, "case.t") == "[case.t]\nmin = 8\n[case.t.inner]\nx = 0.5\n");
    CHECK(to_toml(*tree.find("inner"), "") == "x = 0.5\n");
}
