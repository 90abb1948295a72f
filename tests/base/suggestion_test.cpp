#include "base/suggestion.h"

#include "tests/catch.h"

using namespace deft;

TEST_CASE("Did you mean") {
    const std::vector<std::string> words = {"learning_rate", "batch_size", "seqlen", "lr"};
    CHECK(did_you_mean("learning_rte", words) == "learning_rate");
    CHECK(did_you_mean("seqeln", words) == "seqlen");  // a swap is one edit
    CHECK(did_you_mean("batchsize", words) == "batch_size");
    CHECK(did_you_mean("optimizer", words) == "");
    CHECK(did_you_mean("x", words) == "");
    CHECK(did_you_mean("", words) == "");
    CHECK(did_you_mean("a", {}) == "");
}

TEST_CASE("A suggestion names the nearest word, or what else there is to say") {
    const std::vector<std::string> words = {"cosine", "linear"};
    CHECK(suggestion("cosin", words) == "did you mean cosine?");
    CHECK(suggestion("zzz", words) == "known: cosine, linear");
    CHECK(suggestion("cosin", words, "see the manual") == "did you mean cosine?");
    CHECK(suggestion("zzz", words, "see the manual") == "see the manual");
}
