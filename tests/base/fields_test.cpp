// One table of fields: reading with its checks, JSON, and the description of its keys.

#include "base/fields.h"

#include <cmath>

#include "base/json.h"
#include "base/key_table.h"
#include "tests/catch.h"
#include "tests/refusal.h"

using namespace deft;
using test::refusal;

namespace {

enum class Speed { slow, fast, fastest };

struct Inner {
    double share = 0.5;
    Speed speed = Speed::fast;
};

struct Record {
    std::int64_t count = 3;
    std::string mode = "fast";
    Inner inner;
    std::vector<std::string> files;
    bool verbose = false;
    std::string sha256;
};

}  // namespace

template <>
struct deft::EnumNames<Speed> {
    static constexpr EnumName<Speed> all[] = {
        {Speed::fast, "fast"}, {Speed::slow, "slow"}, {Speed::fastest, "fast-est"}};
};

namespace {

struct Pace {
    Inner inner;
    Speed before = Speed::slow;
};

const Fields& fields_of(const Pace&) {
    static const Fields fields = {
        choice<&Pace::inner, &Inner::speed>("speed", "How fast.", {.by_default = "as before"}),
        choice<&Pace::before>("before", "How fast before.", {.required = true, .role = FieldRole::local}),
    };
    return fields;
}

Pace paced(const std::string& toml) {
    const ConfigNode node = parse_toml(toml, "t.toml");
    TableReader reader(node, "table");
    Pace pace;
    read_table(reader, pace);
    return pace;
}

const Fields& fields_of(const Record&) {
    static const Fields fields = {
        {"count", at<&Record::count>, "Number of items.", {.unit = "items", .at_least = 1, .at_most = 9}},
        {"mode", at<&Record::mode>, "Speed.", {.one_of = {"fast", "slow"}}},
        {"share", at<&Record::inner, &Inner::share>, "Fraction of all items.", {.at_least = 0, .at_most = 1}},
        {"files", at<&Record::files>, "Files to read.", {.required = true}},
        {"verbose", at<&Record::verbose>, "Prints more.", {.role = FieldRole::local}},
        {"points", apart<std::vector<double>>, "Points, read by their own parser."},
        {"sha256", at<&Record::sha256>, "SHA-256 of the files.", {.role = FieldRole::computed}},
    };
    return fields;
}

struct Rates {
    double decay = 0.9, rate = 1;
};

const Fields& fields_of(const Rates&) {
    static const Fields fields = {
        {"decay", at<&Rates::decay>, "of the mean", {.at_least = 0, .below = 1}},
        {"rate", at<&Rates::rate>, "of learning", {.above = 0}},
    };
    return fields;
}

Record parsed(const std::string& toml) {
    const ConfigNode node = parse_toml(toml, "t.toml");
    TableReader reader(node, "table");
    Record record;
    read_table(reader, record);
    return record;
}

std::string wrong(const std::string& toml) {
    return refusal([&] { parsed("files = []\n" + toml); });
}

}  // namespace

TEST_CASE("a table of fields reads what is there, keeps what is not, and refuses the rest with its place") {
    const Record plain = parsed("files = [\"a\"]\n");
    CHECK(plain.count == 3);
    CHECK(plain.mode == "fast");
    CHECK(plain.files == std::vector<std::string>{"a"});
    const Record full = parsed("files = []\ncount = 9\nmode = \"slow\"\nshare = 1\nverbose = true\npoints = [[1]]\n");
    CHECK(full.count == 9);
    CHECK(full.inner.share == 1);
    CHECK(full.verbose);
    CHECK_THAT(refusal([] { parsed("count = 1\n"); }), ContainsSubstring("table.files is missing"));
    CHECK_THAT(wrong("cuont = 1\n"), ContainsSubstring("t.toml:2:") && ContainsSubstring("did you mean count?"));
    CHECK_THAT(wrong("sha256 = \"a\"\n"), ContainsSubstring("unknown key table.sha256"));
    CHECK_THAT(wrong("count = 1.5\n"), ContainsSubstring("t.toml:2:9: table.count must be an integer"));
    CHECK_THAT(wrong("count = 0\n"), ContainsSubstring("t.toml:2:9") && ContainsSubstring("at least 1"));
    CHECK_THAT(wrong("count = 10\n"), ContainsSubstring("at most 9"));
    CHECK_THAT(wrong("mode = \"fats\"\n"), ContainsSubstring("did you mean \"fast\"?"));
    CHECK_THAT(wrong("share = 1.5\n"), ContainsSubstring("must be a share, 0 to 1"));
}

TEST_CASE("open ends of a field's range are no values of it") {
    const auto read_rates = [](const std::string& toml) {
        const ConfigNode node = parse_toml(toml, "t.toml");
        TableReader reader(node, "table");
        Rates rates;
        read_table(reader, rates);
    };
    CHECK_NOTHROW(read_rates("decay = 0\nrate = 1e-300\n"));
    CHECK_NOTHROW(read_rates("decay = 0.999999\n"));
    for (const char* toml : {"decay = 1\n", "decay = -1e-300\n"})
        CHECK_THAT(refusal([&] { read_rates(toml); }), ContainsSubstring("must be in [0, 1)"));
    CHECK_THAT(refusal([&] { read_rates("rate = 0\n"); }), ContainsSubstring("must be above 0"));
}

TEST_CASE("a table of fields writes JSON, what is local apart") {
    Record record;
    record.inner.share = std::nan("");
    CHECK(fields_json(record).dump() == R"({"count":3,"files":[],"mode":"fast","sha256":"","share":"NaN"})");
    CHECK(fields_json(record, FieldPart::local).dump() == R"({"verbose":false})");
}

TEST_CASE("a table of fields describes defaults and values, in words and as a schema") {
    const KeyTable table = key_table<Record>("table", "An example.");
    CHECK(allowed_text(table.fields[0], table) == "integer, 1 to 9");
    CHECK(default_text(table.fields[0], table) == "3");
    CHECK(allowed_text(table.fields[1], table) == "fast | slow");
    CHECK(default_text(table.fields[3], table) == "required");
    CHECK(default_text(table.fields[4], table) == "false");
    const Json schema = json_schema(table);
    CHECK(schema.at("additionalProperties") == false);
    const Json& properties = schema.at("properties");
    CHECK(properties.at("count").dump() ==
          R"({"description":"Number of items. Unit: items. Default: 3.","maximum":9,"minimum":1,"type":"integer"})");
    CHECK(properties.at("share").at("maximum").dump() == "1.0");
    CHECK(properties.at("files").at("items").dump() == R"({"type":"string"})");
    CHECK(!properties.contains("sha256"));
}

TEST_CASE("an enumeration is read and written by its names, and an unknown name is refused with its place") {
    CHECK(names_of<Speed>() == std::vector<std::string>{"fast", "slow", "fast-est"});
    for (const EnumName<Speed>& known : EnumNames<Speed>::all) {
        const std::string name = known.name;
        CAPTURE(name);
        const Pace pace = paced("before = \"" + name + "\"\nspeed = \"" + name + "\"\n");
        CHECK(pace.inner.speed == known.value);
        CHECK(pace.before == known.value);
        CHECK(fields_json(pace).dump() == R"({"speed":")" + name + "\"}");
        CHECK(fields_json(pace, FieldPart::local).dump() == R"({"before":")" + name + "\"}");
        CHECK(value_named<Speed>(name) == known.value);
    }
    CHECK(paced("before = \"slow\"\n").inner.speed == Speed::fast);
    CHECK_THAT(refusal([] { paced("before = \"slow\"\nspeed = \"slwo\"\n"); }),
               ContainsSubstring("t.toml:2:9: table.speed is \"slwo\", which is none of: fast, slow, fast-est") &&
                   ContainsSubstring("did you mean \"slow\"?"));
    CHECK_THAT(refusal([] { paced("before = \"slow\"\nspeed = \"\"\n"); }), ContainsSubstring("is none of"));
    CHECK_THAT(refusal([] { paced("before = \"slow\"\nspeed = 1\n"); }),
               ContainsSubstring("t.toml:2:9: table.speed must be a string"));
    CHECK_THAT(refusal([] { paced("speed = \"slow\"\n"); }), ContainsSubstring("table.before is missing"));
    CHECK_THAT(refusal([] { paced("before = \"slow\"\nspeed = \"slwo\"\nspede = 1\n"); }),
               ContainsSubstring("unknown key table.spede"));
}

TEST_CASE("an enumeration's names are its values in words and in the schema") {
    const KeyTable table = key_table<Pace>("table", "An example.");
    CHECK(allowed_text(table.fields[0], table) == "fast | slow | fast-est");
    CHECK(default_text(table.fields[0], table) == "as before");
    CHECK(default_text(table.fields[1], table) == "required");
    CHECK(json_schema(table).at("properties").at("speed").dump() ==
          R"({"description":"How fast. Default: as before.","enum":["fast","slow","fast-est"],"type":"string"})");
}
