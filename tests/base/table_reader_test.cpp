#include "base/table_reader.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/refusal.h"

using namespace deft;
using test::refusal;

TEST_CASE("A table reader is strict about kinds, missing and unknown keys") {
    const ConfigNode root = parse_toml("n = 3\nr = 2\ns = \"t\"\nlist = [1, \"x\"]\nlayres = 2\n", "f.toml");
    {
        TableReader reader(root, "model");
        double real = 0;
        reader.optional("r", real);
        CHECK(real == 2.0);
        CHECK(reader.required<std::int64_t>("n") == 3);
        std::int64_t untouched = 42;
        reader.optional("absent", untouched);
        CHECK(untouched == 42);
        CHECK(reader.name("n") == "model.n");
        CHECK(reader.place("n").text() == "f.toml:1:5");
        CHECK_THAT(refusal([&] { reader.required<std::int64_t>("s"); }),
                   ContainsSubstring("f.toml:3:5: model.s must be an integer, not a string (\"t\")"));
        std::vector<std::int64_t> numbers;
        CHECK_THAT(refusal([&] { reader.optional("list", numbers); }),
                   ContainsSubstring("f.toml:4:12: an item of model.list"));
        CHECK(numbers.empty());
        std::int64_t layers = 0;
        reader.optional("layers", layers);
        const std::string message = refusal([&] { reader.finish(); });
        CHECK_THAT(message, ContainsSubstring("f.toml:5:10: unknown key model.layres"));
        CHECK_THAT(message, ContainsSubstring("did you mean layers?"));
    }
    TableReader reader(root, "");
    CHECK_THAT(refusal([&] { reader.required<bool>("zzz"); }), ContainsSubstring("zzz is missing"));
    CHECK_THAT(refusal([&] { reader.required<std::int64_t>("layers"); }), ContainsSubstring("did you mean layers?"));
    CHECK_THAT(refusal([&] { TableReader(*root.find("n"), "n"); }), ContainsSubstring("f.toml:1:5: n must be a table"));
}

TEST_CASE("A table reader refuses values at their keys' places") {
    const ConfigNode root = parse_toml("decay = \"cosin\"\nlayers = 0\nname = \"\"\n", "f.toml");
    TableReader reader(root, "train");
    CHECK(refusal([&] { reader.refuse("layers", "is odd", "make it even"); }) ==
          "f.toml:2:10: train.layers is odd\n  help: make it even");
    CHECK_THAT(refusal([&] { reader.refuse("absent", "is needed"); }), ContainsSubstring("train.absent is needed"));
    CHECK(refusal([&] {
              reader.require_one_of("decay", "cosin", {"cosine", "linear"});
          }) ==
          "f.toml:1:9: train.decay is \"cosin\", which is none of: cosine, linear\n  help: did you mean \"cosine\"?");
    CHECK(refusal([&] { reader.require_one_of("decay", "linear", {"cosine", "linear"}); }) == "accepted");
    CHECK_THAT(refusal([&] { reader.require_at_least("layers", std::int64_t{0}, 1); }),
               ContainsSubstring("f.toml:2:10: train.layers is 0 and must be at least 1"));
    CHECK(refusal([&] { reader.require_at_least("layers", std::int64_t{1}, 1); }) == "accepted");
    CHECK_THAT(refusal([&] { reader.require_at_least("layers", std::nan(""), 0); }), ContainsSubstring("is nan"));
    CHECK_THAT(refusal([&] { reader.required_text("name"); }), ContainsSubstring("train.name is empty"));
}
