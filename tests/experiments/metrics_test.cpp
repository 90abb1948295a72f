// Metrics from log-likelihoods, windows and cuts: golden cases and hand-computed ones.

#include "experiments/evaluation/metrics.h"

#include <cmath>

#include "base/utf8.h"
#include "experiments/evaluation/answers.h"
#include "experiments/evaluation/items.h"
#include "experiments/evaluation/scoring.h"
#include "experiments/evaluation/text_template.h"
#include "tests/catch.h"
#include "tests/golden.h"

using namespace deft;
using namespace deft::experiments;

namespace {

Approx exactly(double value) {
    return Approx(value).epsilon(1e-12);
}

// One document whose choices were scored so.
Document document_of(const std::vector<std::string>& choices, std::size_t gold) {
    Document document;
    document.choices = choices;
    document.requests.resize(choices.size());
    document.gold = gold;
    return document;
}

double value_of(const std::vector<MetricValue>& metrics, const std::string& name) {
    for (const MetricValue& m : metrics)
        if (m.name == name) return m.value;
    FAIL("no metric " << name);
    return 0;
}

}  // namespace

TEST_CASE("accuracy: ties, NaN, empty choices and lengths in code points or bytes", "[bare]") {
    golden::for_group("metrics.json", "multiple_choice", [](const Json& c) {
        const auto lls = golden::numbers(c.at("lls"));
        const auto choices = c.at("choices").get<std::vector<std::string>>();
        Task task;
        task.metrics = {"acc", "acc_norm", "acc_bytes"};
        std::vector<Score> scores;
        for (const double ll : lls) scores.push_back({ll, false});
        const std::vector<Document> documents{document_of(choices, c.at("gold").get<std::size_t>())};
        const auto metrics = document_metrics(task, documents, scores);
        for (const char* name : {"acc", "acc_norm", "acc_bytes"})
            CHECK(value_of(metrics, name) == c.at(name).get<double>());
        CHECK(metrics[0].chance == Approx(1.0 / static_cast<double>(choices.size())));
        for (std::size_t i = 0; i < choices.size(); ++i)
            CHECK(count_code_points(choices[i]) == c.at("char_lengths")[i].get<std::int64_t>());
        CHECK(predict(Prediction::argmax, lls, {}) == c.at("pred").get<std::size_t>());
        CHECK(predict(Prediction::argmax, lls, c.at("char_lengths").get<std::vector<std::int64_t>>()) ==
              c.at("pred_norm").get<std::size_t>());
        CHECK(predict(Prediction::argmax, lls, c.at("byte_lengths").get<std::vector<std::int64_t>>()) ==
              c.at("pred_bytes").get<std::size_t>());
    });
}

TEST_CASE("two-way tasks compare the two choices directly", "[bare]") {
    golden::for_group("metrics.json", "two_way", [](const Json& c) {
        std::size_t predicted = 0, wanted = 0;
        if (c.contains("ll_yes")) {  // yes, no
            predicted = predict(Prediction::first_if_greater,
                                std::vector<double>{golden::number(c.at("ll_yes")), golden::number(c.at("ll_no"))}, {});
            wanted = c.at("pred").get<bool>() ? 0 : 1;
        } else {
            predicted =
                predict(Prediction::second_if_greater,
                        std::vector<double>{golden::number(c.at("ll_true")), golden::number(c.at("ll_false"))}, {});
            wanted = c.at("pred").get<std::size_t>();
        }
        CHECK(predicted == wanted);
    });
}

TEST_CASE("mean and standard error", "[bare]") {
    golden::for_group("metrics.json", "mean_stderr", [](const Json& c) {
        const auto items = golden::numbers(c.at("items"));
        CHECK(mean(items) == exactly(c.at("mean").get<double>()));
        if (items.size() == 1)
            CHECK(std::isnan(standard_error(items)));
        else
            CHECK(standard_error(items) == exactly(c.at("stderr").get<double>()));
    });
}

TEST_CASE("accepted answers: those that begin with one kept before are not asked for", "[bare]") {
    golden::for_group("metrics.json", "remove_prefixes", [](const Json& c) {
        CHECK(without_prefixed(c.at("aliases").get<std::vector<std::string>>()) ==
              c.at("kept").get<std::vector<std::string>>());
    });
}

TEST_CASE("a short answer is right where any accepted one would be printed", "[bare]") {
    Task task;
    task.kind = TaskKind::short_answer;
    task.metrics = {"acc"};
    golden::for_group("metrics.json", "any_greedy", [&](const Json& c) {
        std::vector<Score> scores;
        for (const Json& greedy : c.at("greedy")) scores.push_back({-1, greedy.get<bool>()});
        if (scores.empty()) return;  // a record without accepted answers is refused
        const std::vector<Document> documents{document_of(std::vector<std::string>(scores.size(), "x"), 0)};
        CHECK(value_of(document_metrics(task, documents, scores), "acc") == c.at("acc").get<double>());
        CHECK(std::isnan(document_metrics(task, documents, scores)[0].chance));
    });
}

TEST_CASE("answers are compared as SQuAD compares them", "[bare]") {
    golden::for_group("metrics.json", "squad_f1_em", [](const Json& c) {
        const auto predicted = c.at("prediction").get<std::string>();
        const auto answers = c.at("answers").get<std::vector<std::string>>();
        CHECK(normalised_answer(predicted) == c.at("normalised_prediction").get<std::string>());
        CHECK(answer_f1(predicted, answers) == exactly(c.at("f1").get<double>()));
        CHECK(exact_match(predicted, answers) == c.at("em").get<double>());
    });
}

TEST_CASE("f1 and em are of the chosen choice's answer", "[bare]") {
    Task task;
    task.metrics = {"f1", "em", "acc"};
    golden::for_group("metrics.json", "record", [&](const Json& c) {
        Document document = document_of(c.at("entities").get<std::vector<std::string>>(), 0);
        document.choice_answers = document.choices;
        document.answers = c.at("answers").get<std::vector<std::string>>();
        std::vector<Score> scores;
        for (const double ll : golden::numbers(c.at("lls"))) scores.push_back({ll, false});
        const std::vector<Document> documents{document};
        CHECK(outcome(task, "f1", document, scores).chosen == c.at("pred").get<std::size_t>());
        const auto metrics = document_metrics(task, documents, scores);
        CHECK(value_of(metrics, "f1") == exactly(c.at("f1").get<double>()));
        CHECK(value_of(metrics, "em") == c.at("em").get<double>());
        // Both "Benazir Bhutto" and "Bhutto" are right, or "Bhutto" alone.
        CHECK(metrics[2].chance ==
              exactly(static_cast<double>(document.answers.size()) / static_cast<double>(document.choices.size())));
    });
}

TEST_CASE("acc_all counts a group where all its documents are right", "[bare]") {
    golden::for_group("metrics.json", "acc_all", [](const Json& c) {
        Task task;
        task.metrics = {"acc_all"};
        task.prompt.prediction = Prediction::first_if_greater;
        std::vector<Document> documents;
        std::vector<Score> scores;
        for (const Json& row : c.at("rows")) {
            documents.push_back(document_of({"yes", "no"}, row.at("label") == 1 ? 0 : 1));
            documents.back().group = row.at("paragraph").dump() + " " + row.at("question").dump();
            scores.push_back({golden::number(row.at("ll_yes")), false});
            scores.push_back({golden::number(row.at("ll_no")), false});
        }
        const MetricValue found = document_metrics(task, documents, scores).at(0);
        CHECK(found.value == exactly(c.at("acc").get<double>()));
        CHECK(found.standard_error ==
              exactly(c.at(c.contains("stderr") ? "stderr" : "stderr_per_question").get<double>()));
        CHECK(found.n == static_cast<std::int64_t>(c.at("per_question").size()));
        CHECK(found.chance == exactly((0.25 + 0.5 + 0.25 + 0.5) / 4));  // answers: two, one, two, one
    });
}

TEST_CASE("items keep the order of the file and say what was chosen", "[bare]") {
    Task task;
    task.metrics = {"acc", "acc_norm"};
    task.headline = "acc_norm";
    std::vector<Document> documents{document_of({"aaaa", "b"}, 0), document_of({"c", "d"}, 1)};
    documents[0].record = 7;
    documents[1].record = 2;
    const std::vector<Score> scores{{-4, false}, {-3, false}, {-1, false}, {-2, false}};
    const std::vector<PromptCut> cuts{{true, 0}, {false, 3}};
    const auto items = items_of(task, documents, scores, cuts);
    REQUIRE(items.size() == 2);
    CHECK(items[0].document == 2);
    CHECK(items[0].chosen == 0);
    CHECK(items[0].gold == 1);
    CHECK_FALSE(items[0].right);
    CHECK_FALSE(items[0].cut);
    CHECK(items[0].chosen_log_likelihood == -1);
    CHECK(items[0].gold_log_likelihood == -2);
    CHECK(items[1].document == 7);
    CHECK(items[1].chosen == 0);  // -1 a character against -3
    CHECK(items[1].right);
    CHECK(items[1].cut);
    task.headline = "acc";
    CHECK(items_of(task, documents, scores, cuts)[1].chosen == 1);
}

TEST_CASE("perplexity of targets is a mean over documents", "[bare]") {
    golden::for_group("metrics.json", "perplexity", [](const Json& c) {
        Task task;
        task.kind = TaskKind::last_word;
        task.metrics = {"perplexity"};
        std::vector<Score> scores;
        std::vector<Document> documents;
        for (const double ll : golden::numbers(c.at("lls"))) {
            scores.push_back({ll, false});
            documents.push_back(document_of({"word"}, 0));
        }
        CHECK(value_of(document_metrics(task, documents, scores), "perplexity") ==
              exactly(c.at("perplexity").get<double>()));
    });
}

TEST_CASE("the standard error of a perplexity is that of the mean log-likelihood, times the perplexity", "[bare]") {
    Task task;
    task.kind = TaskKind::last_word;
    task.metrics = {"perplexity"};
    const std::vector<Score> scores{{-1, false}, {-2, false}, {-4, false}};
    const std::vector<Document> documents(3, document_of({"word"}, 0));
    const MetricValue found = document_metrics(task, documents, scores).at(0);
    // Mean -7/3; squared deviations 16/9 + 1/9 + 25/9 = 14/3; sqrt(14/3 / 2) / sqrt(3) = sqrt(7) / 3.
    CHECK(found.value == exactly(std::exp(7.0 / 3)));
    CHECK(found.standard_error == exactly(std::exp(7.0 / 3) * std::sqrt(7.0) / 3));
    CHECK(found.n == 3);
}

TEST_CASE("words, bytes and code points are counted as Python counts them", "[bare]") {
    golden::for_group("metrics.json", "count", [](const Json& c) {
        const auto text = c.at("text").get<std::string>();
        CHECK(count_whitespace_pieces(text) == c.at("words").get<std::int64_t>());
        CHECK(static_cast<std::int64_t>(text.size()) == c.at("bytes").get<std::int64_t>());
        CHECK(count_code_points(text) == c.at("characters").get<std::int64_t>());
    });
}

TEST_CASE("perplexities of texts divide sums, not the texts' own values", "[bare]") {
    golden::for_group("metrics.json", "rolling_perplexity", [](const Json& c) {
        TextTotals totals;
        for (const Json& doc : c.at("docs")) {
            const auto text = doc.at("text").get<std::string>();
            ++totals.texts;
            totals.log_likelihood += golden::number(doc.at("ll"));
            totals.words += count_whitespace_pieces(text);
            totals.bytes += static_cast<std::int64_t>(text.size());
        }
        CHECK(totals.words == c.at("words").get<std::int64_t>());
        CHECK(totals.bytes == c.at("bytes").get<std::int64_t>());
        Task task;
        task.kind = TaskKind::perplexity;
        task.metrics = {"word_perplexity", "byte_perplexity", "bits_per_byte", "token_perplexity"};
        const auto metrics = text_metrics(task, totals);
        CHECK(metrics.size() == 3);  // no token count, no token perplexity
        CHECK(value_of(metrics, "word_perplexity") == exactly(c.at("word_perplexity").get<double>()));
        for (const char* name : {"byte_perplexity", "bits_per_byte"})
            if (c.at(name).is_number()) CHECK(value_of(metrics, name) == exactly(c.at(name).get<double>()));
    });
}

TEST_CASE("bits per byte of the correct answer exclude the delimiter", "[bare]") {
    golden::for_group("metrics.json", "bits_per_byte_of_gold", [](const Json& c) {
        Task task;
        task.metrics = {"gold_bits_per_byte"};
        const std::vector<Document> documents{
            document_of({"other", c.at("continuation").get<std::string>().substr(1)}, 1)};
        const std::vector<Score> scores{{-1, false}, {golden::number(c.at("ll")), false}};
        CHECK(value_of(document_metrics(task, documents, scores), "gold_bits_per_byte") ==
              exactly(c.at("bits_per_byte").get<double>()));
    });
}

// ln 6, ln 3 and ln 1 have the probabilities 0.6, 0.3 and 0.1: 0.4^2 + 0.3^2 + 0.1^2 where the first is right, 0.6^2 +
// 0.3^2 + 0.9^2 where the last is. Guessing scores (2/3)^2 + 2 (1/3)^2 = 2/3.
TEST_CASE("Brier score by hand, at any scale of the log-likelihoods", "[bare]") {
    Task task;
    task.metrics = {"brier_score"};
    const std::vector<Document> documents{document_of({"a", "b", "c"}, 0), document_of({"a", "b", "c"}, 2)};
    for (const double shift : {0.0, -2000.0}) {
        std::vector<Score> scores;
        for (int document = 0; document < 2; ++document)
            for (const double weight : {6.0, 3.0, 1.0}) scores.push_back({std::log(weight) + shift, false});
        const MetricValue brier = document_metrics(task, documents, scores).at(0);
        CHECK(brier.value == Approx((0.26 + 1.26) / 2).epsilon(1e-10));
        CHECK(brier.chance == exactly(2.0 / 3));
        CHECK(brier.n == 2);
        CHECK(brier.standard_error == Approx(0.5).epsilon(1e-10));
    }
}

TEST_CASE("rolling windows predict every token once", "[bare]") {
    golden::for_group("metrics.json", "rolling_windows", [](const Json& c) {
        std::vector<std::int32_t> tokens;
        for (std::int32_t t = 0; t < c.at("n_tokens").get<std::int32_t>(); ++t) tokens.push_back(t);
        const auto windows =
            rolling_windows(tokens, c.at("prefix").get<std::int32_t>(), c.at("max_length").get<std::int64_t>());
        REQUIRE(windows.size() == c.at("windows").size());
        for (std::size_t w = 0; w < windows.size(); ++w) {
            CHECK(windows[w].context == c.at("windows")[w].at("context").get<std::vector<std::int32_t>>());
            CHECK(windows[w].continuation == c.at("windows")[w].at("continuation").get<std::vector<std::int32_t>>());
        }
    });
}

TEST_CASE("the context is truncated on the left, the continuation never", "[bare]") {
    golden::for_group("metrics.json", "left_truncation", [](const Json& c) {
        const auto context = c.at("n_context").get<std::int32_t>(), continuation = c.at("n_continuation").get<int>();
        Request request;  // c0, c1, ... are 0, 1, ...; t0, t1, ... are 1000, 1001, ...
        for (std::int32_t i = 0; i < context; ++i) request.context.push_back(i);
        for (std::int32_t i = 0; i < continuation; ++i) request.continuation.push_back(1000 + i);
        std::vector<std::int32_t> input;
        for (const Json& name : c.at("input")) {
            const auto text = name.get<std::string>();
            input.push_back(std::stoi(text.substr(1)) + (text[0] == 't' ? 1000 : 0));
        }
        const ScoredRow row = scored_row(request, c.at("max_length").get<std::int64_t>());
        CHECK(row.input == input);
        const auto first = c.at("first_scored_logit_row").get<std::size_t>();
        REQUIRE(row.continuation == request.continuation);
        CHECK(row.continuation.size() == c.at("n_scored").get<std::size_t>());
        CHECK(row.input.size() - row.continuation.size() == first);
    });
}

TEST_CASE("a continuation longer than the model goes into windows after the context's last token", "[bare]") {
    const Request request{{7, 8}, {0, 1, 2, 3, 4}};
    CHECK(fitting_requests(request, 5).size() == 1);
    const auto parts = fitting_requests(request, 4);
    REQUIRE(parts.size() == 2);
    CHECK(parts[0].context == std::vector<std::int32_t>{8});
    CHECK(parts[0].continuation == std::vector<std::int32_t>{0, 1, 2, 3});
    CHECK(parts[1].context == std::vector<std::int32_t>{0, 1, 2, 3});
    CHECK(parts[1].continuation == std::vector<std::int32_t>{4});
}
