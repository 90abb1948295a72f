// The grammar of quantities, and quantities read off a trial.

#include "reporting/analysis/scores/quantity.h"

#include <cmath>

#include "reporting/analysis/scores/quantity_value.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/reporting/a_sweep.h"

using namespace deft;
using namespace deft::reporting;

namespace {

Quantity parsed(const std::string& text) {
    return parse_quantity(text, {});
}

std::string wrong(const std::string& text) {
    return test::refusal([&] { parse_quantity(text, {"t.toml", 3, 7}); }, "t.toml:3:7");
}

std::optional<double> value(const char* text, const Trial& trial) {
    return value_of(parsed(text), trial);
}

}  // namespace

TEST_CASE("a quantity is named as a reader would") {
    const Quantity task = parsed("task:lambada perplexity shots=5 seeds=median");
    CHECK(task.kind == Quantity::Kind::task);
    CHECK(task.name == "lambada");
    CHECK(task.metric == "perplexity");
    CHECK(task.shots == 5);
    CHECK(task.is_median);
    CHECK(parsed("task:glue_mnli acc split=mismatched").split == "mismatched");
    const Quantity suite = parsed("suite:data_efficiency average shots=10");
    CHECK(suite.kind == Quantity::Kind::suite);
    CHECK(suite.name == "data_efficiency");
    CHECK(suite.shots == 10);
    CHECK(parsed("suite:glue average").shots == 0);
    for (const std::string& words : resource_quantities()) {
        CHECK(parsed(words).kind == Quantity::Kind::resource);
        CHECK(parsed(words).name == words);
    }
    for (const char* text : {"task:lambada perplexity shots=5 seeds=median", "task:glue_mnli acc split=mismatched",
                             "suite:data_efficiency average shots=10", "train hours"})
        CHECK(to_text(parsed(text)) == text);
    CHECK(parsed("task:lambada acc shots=0 seeds=mean") == parsed("task:lambada acc"));
    CHECK(!(parsed("task:lambada acc shots=1") == parsed("task:lambada acc")));
}

TEST_CASE("which way a quantity is better") {
    for (const char* text : {"task:validation loss", "task:validation bits_per_byte", "task:validation perplexity",
                             "task:ptb word_perplexity", "task:piqa gold_bits_per_byte", "train hours", "cost usd"})
        CHECK(better_of(parsed(text)) == "lower");
    for (const char* text :
         {"task:lambada acc", "task:glue_stsb spearman", "suite:moe average", "throughput samples/s"})
        CHECK(better_of(parsed(text)) == "higher");
}

TEST_CASE("an unknown quantity is refused at its place, with the nearest word") {
    CHECK_THAT(wrong("train hour"),
               ContainsSubstring("'train hour'") && ContainsSubstring("did you mean train hours?"));
    CHECK_THAT(wrong("fun"), ContainsSubstring("known: train hours") && ContainsSubstring("task:NAME METRIC"));
    CHECK_THAT(wrong("latency ms/token"), ContainsSubstring("nothing that is measured is called"));
    CHECK_THAT(wrong("tsk:lambada acc"), ContainsSubstring("did you mean task:?"));
    CHECK_THAT(wrong("task:lambda acc"), ContainsSubstring("no task") && ContainsSubstring("did you mean lambada?"));
    CHECK_THAT(wrong("suite:data_eficiency average"), ContainsSubstring("did you mean data_efficiency?"));
    CHECK_THAT(wrong("suite:moe mean"), ContainsSubstring("no metric of moe") && ContainsSubstring("average"));
    CHECK_THAT(wrong("task:lambada"), ContainsSubstring("which metric") && ContainsSubstring("task:lambada acc"));
    CHECK_THAT(wrong("task:lambada acc_norm"), ContainsSubstring("known: acc, perplexity, gold_bits_per_byte"));
    CHECK_THAT(wrong("task:validation perplexty"), ContainsSubstring("did you mean perplexity?"));
    CHECK_THAT(wrong("task:validation unigram_entropy"), ContainsSubstring("no metric of validation"));
    CHECK_THAT(wrong("task:lambada acc shot=1"), ContainsSubstring("did you mean shots?"));
    CHECK_THAT(wrong("task:lambada acc shots"), ContainsSubstring("shots has no value"));
    CHECK_THAT(wrong("task:lambada acc shots=1 shots=2"), ContainsSubstring("twice"));
    for (const char* shots : {"-1", "1.5", "", "ten", "1001", "99999999999999999999"})
        CHECK_THAT(wrong(std::string("task:lambada acc shots=") + shots),
                   ContainsSubstring("is not a number of shots"));
    CHECK_THAT(wrong("task:glue_mnli acc split=mached"), ContainsSubstring("did you mean matched?"));
    CHECK_THAT(wrong("suite:moe average split=test"), ContainsSubstring("no option"));
    CHECK_THAT(wrong("task:lambada acc seeds=best"), ContainsSubstring("known: mean, median"));
    for (const char* text : {"", " train hours", "train  hours", "train hours "})
        CHECK_THAT(wrong(text), ContainsSubstring("by one blank"));
    CHECK_THAT(wrong("train hours shots=1"), ContainsSubstring("nothing that is measured is called"));
}

TEST_CASE("quantities of a trial by hand") {
    Trial trial = a_finished_trial("baseline", kFullBudget, 1, 3, 7'200'000);
    trial.last_point->input_tokens = 7'200 * 640;
    trial.last_point->unique_tokens = 11;
    trial.last_point->layer_tokens = 12;
    trial.usd = 2.5;
    trial.scores.push_back(a_score("lambada", "acc", 0.25));
    trial.scores.push_back(a_score("lambada", "acc", 0.75, 10));
    trial.scores.push_back(a_score("piqa", "acc", 0.5));
    trial.scores.push_back(a_score("glue_mnli", "acc", 0.6));
    trial.scores.back().split = "matched";
    trial.scores.push_back(a_score("glue_mnli", "acc", 0.7));
    trial.scores.back().split = "mismatched";
    CHECK(value("task:lambada acc", trial) == 0.25);
    CHECK(value("task:lambada acc shots=10", trial) == 0.75);
    CHECK(!value("task:lambada acc shots=5", trial));
    CHECK(!value("task:lambada perplexity", trial));
    CHECK(value("task:glue_mnli acc split=mismatched", trial) == 0.7);
    CHECK(value("task:glue_mnli acc", trial) == 0.6);
    CHECK(value("task:validation loss", trial) == 3.0);
    CHECK(*value("task:validation perplexity", trial) == Approx(std::exp(3.0)));
    CHECK(*value("suite:moe average shots=10", trial) == Approx(75));
    CHECK(*value("suite:glue average", trial) == Approx(100 * (0.25 + 0.5 + 0.6 + 0.7) / 4));
    CHECK(!value("suite:moe average shots=3", trial));
    CHECK(value("train hours", trial) == 2.0);
    CHECK(value("train steps", trial) == 1000.0);
    CHECK(value("train flops", trial) == 1e9);
    CHECK(value("input tokens", trial) == 7'200.0 * 640);
    CHECK(value("unique tokens", trial) == 11.0);
    CHECK(value("layer tokens", trial) == 12.0);
    CHECK(value("cost usd", trial) == 2.5);
    CHECK(*value("throughput tokens/s", trial) == Approx(640));
    CHECK(*value("throughput samples/s", trial) == Approx(10));  // of 64 tokens
    set_configuration(trial, "{}");
    CHECK(!value("throughput samples/s", trial));
    trial.usd.reset();
    trial.last_point.reset();
    for (const std::string& words : resource_quantities()) CHECK(!value(words.c_str(), trial));
}
