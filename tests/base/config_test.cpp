#include "base/config.h"

#include "base/json.h"
#include "tests/catch.h"
#include "tests/refusal.h"

using namespace deft;
using test::refusal;

namespace {

// The message of the config error that parsing throws; empty where it throws none.
std::string wrong_toml(const std::string& text) {
    return refusal([&] { parse_toml(text, "f.toml"); });
}

}  // namespace

TEST_CASE("A file in another encoding is refused at its first byte that is not UTF-8") {
    CHECK_THAT(refusal([] { parse_toml("a = 1\nb = \"caf\xE9\"\n", "x.toml"); }),
               ContainsSubstring("x.toml:2: the file is not UTF-8") && ContainsSubstring("iconv"));
}

TEST_CASE("TOML nodes keep the file's order and their places") {
    const ConfigNode root = parse_toml(
        "zebra = \"x\"\nants = [1,\n 2]\n[defaults.train]\nrate = 1.5\non = true\n[[case]]\nname = \"b\"\n", "f.toml");
    REQUIRE(root.children.size() == 4);
    CHECK(root.children[0].first == "zebra");
    CHECK(root.children[1].first == "ants");
    CHECK(root.children[2].first == "defaults");
    CHECK(root.children[3].first == "case");
    CHECK(root.find("zebra")->place.text() == "f.toml:1:9");
    CHECK(root.find("ants")->items[1].place.text() == "f.toml:3:2");
    const ConfigNode* train = root.find("defaults")->find("train");
    REQUIRE(train != nullptr);
    CHECK(train->place.line == 4);
    CHECK(train->find("rate")->kind == ConfigNode::Kind::real);
    CHECK(train->find("rate")->real == 1.5);
    CHECK(train->find("on")->boolean);
    CHECK(root.find("case")->items[0].find("name")->text == "b");
}

TEST_CASE("TOML syntax errors are one line with a place") {
    for (const char* text : {"a = \n", "a = 1\nb = [1,\n", "x\n", "a = 1 2\n", "a = \"abc\n", "[a]\n[a]\n"}) {
        const std::string message = wrong_toml(text);
        INFO(message);
        CHECK(message.starts_with("f.toml:"));
        CHECK(message.find('\n') == std::string::npos);
        CHECK(message.find("toml::") == std::string::npos);
    }
    CHECK_THAT(wrong_toml("a = 1\na = 2\n"), ContainsSubstring("f.toml:2:"));
}

TEST_CASE("Dates, clamped integers and endless nesting are refused") {
    CHECK_THAT(wrong_toml("\nwhen = 2024-01-01\n"), ContainsSubstring("f.toml:2:8: dates are not used here"));
    CHECK_THAT(wrong_toml("t = 07:30:00\n"), ContainsSubstring("dates"));
    CHECK_THAT(wrong_toml("n = 99999999999999999999\n"), ContainsSubstring("f.toml:1:"));
    CHECK_THAT(wrong_toml("n = " + std::string(100'000, '[') + "\n"), ContainsSubstring("f.toml:1: brackets nest"));
    CHECK(wrong_toml("n = \"[[[[\" # [[[[\n") == "accepted");
}

TEST_CASE("A file that is not there is an io error") {
    CHECK(refusal(ErrorKind::io, [] { parse_toml_file("/nonexistent/x.toml"); }) != "accepted");
}

TEST_CASE("Values from the command line are TOML where they can be, and text elsewhere") {
    const Place place{"--set", 0, 0};
    CHECK(to_json(parse_toml_value("1e-3", place)) == Json(1e-3));
    CHECK(to_json(parse_toml_value("[1, 2]", place)) == Json({1, 2}));
    CHECK(to_json(parse_toml_value("true", place)) == Json(true));
    CHECK(to_json(parse_toml_value("\"q\"", place)) == Json("q"));
    CHECK(to_json(parse_toml_value("cosine", place)) == Json("cosine"));
    CHECK(to_json(parse_toml_value("", place)) == Json(""));
    CHECK(to_json(parse_toml_value("1\nx = 2", place)) == Json("1\nx = 2"));
    CHECK(to_json(parse_toml_value("2024-01-01", place)) == Json("2024-01-01"));
    CHECK(parse_toml_value("[1]", place).items[0].place.text() == "--set");
}

TEST_CASE("Merging goes key by key through tables and replaces all else") {
    ConfigNode base = parse_toml("a = 1\nb = [1, 2]\n[t]\nx = 1\ny = 2\n", "base");
    merge(base, parse_toml("b = [3]\n[t]\ny = 5\nz = 6\n[a]\nq = 1\n", "over"));
    CHECK(to_json(base) == Json::parse(R"({"a":{"q":1},"b":[3],"t":{"x":1,"y":5,"z":6}})"));
    CHECK(base.find("t")->find("y")->place.file == "over");
    CHECK(base.find("t")->find("x")->place.file == "base");
}

TEST_CASE("Dotted paths make their tables and refuse to go through values") {
    ConfigNode root = parse_toml("a = 1\n", "f");
    const ConfigNode value = parse_toml_value("7", {"--set", 0, 0});
    set_at_path(root, "train.deep.batch_size", value);
    set_at_path(root, "train.deep.batch_size", value);
    CHECK(to_json(root) == Json::parse(R"({"a":1,"train":{"deep":{"batch_size":7}}})"));
    CHECK_THAT(refusal([&] { set_at_path(root, "a.b", value); }),
               ContainsSubstring("a.b goes through a, which is an integer"));
    CHECK_THAT(refusal([&] { set_at_path(root, "a..b", value); }), ContainsSubstring("not a dotted path"));
    CHECK_THAT(refusal([&] { set_at_path(root, "", value); }), ContainsSubstring("not a dotted path"));
}

TEST_CASE("JSON and nodes convert both ways") {
    const Json json = Json::parse(R"({"a":[1,2.5,"x",true,{}],"b":{"c":-3}})");
    const ConfigNode node = from_json(json, {"trial.json", 0, 0});
    CHECK(to_json(node) == json);
    CHECK(node.find("b")->find("c")->place.file == "trial.json");
    CHECK_THAT(refusal([] { from_json(Json::parse("[null]"), {}); }), ContainsSubstring("null"));
    CHECK_THAT(refusal([] { from_json(Json::parse("18446744073709551615"), {}); }),
               ContainsSubstring("18446744073709551615"));
}
