// The embedded corpus, its questions and their scoring.

#include <map>
#include <set>

#include "experiments/datasets/embedded_corpus.h"
#include "experiments/evaluation/scoring.h"
#include "tests/catch.h"
#include "tests/engine/tiny.h"

using namespace deft::experiments;

TEST_CASE("the embedded corpus is a function of its seed") {
    const EmbeddedCorpus a = make_embedded_corpus(1, 50'000, false), b = make_embedded_corpus(1, 50'000, false),
                         c = make_embedded_corpus(2, 50'000, false), d = make_embedded_corpus(1, 50'000, true);
    CHECK(a.train == b.train);
    CHECK(a.train != c.train);
    CHECK(a.train != d.train);
    std::set<std::string> train(a.train.begin(), a.train.end());
    for (const std::string& text : a.valid) CHECK(train.count(text) == 0);
}

TEST_CASE("documents run from ten to some thousand bytes, half of the sentences facts") {
    const EmbeddedCorpus corpus = make_embedded_corpus(1, 400'000, false);
    std::size_t shortest = 1'000'000, longest = 0, bytes = 0, facts = 0, sentences = 0;
    for (const std::string& text : corpus.train) {
        shortest = std::min(shortest, text.size());
        longest = std::max(longest, text.size());
        bytes += text.size();
        for (std::size_t i = 0; i < text.size(); ++i) sentences += text[i] == '.';
        for (std::size_t at = text.find(" of "); at != std::string::npos; at = text.find(" of ", at + 1)) ++facts;
    }
    CHECK(bytes >= 400'000);
    CHECK(bytes < 410'000);
    CHECK(shortest < 50);
    CHECK(shortest >= 10);
    CHECK(longest > 2000);
    CHECK(longest < 4200);
    CHECK(static_cast<double>(facts) / static_cast<double>(sentences) == Approx(0.5).margin(0.02));
}

TEST_CASE("each question has four different choices, and its gold is what the text says") {
    const EmbeddedCorpus corpus = make_embedded_corpus(3, 300'000, false);
    std::string all;
    for (const std::string& text : corpus.train) all += text;
    std::map<std::int64_t, int> golds;
    for (const FourWayQuestion& question : embedded_questions(3, 500)) {
        CHECK(question.choices.size() == 4);
        CHECK(std::set<std::string>(question.choices.begin(), question.choices.end()).size() == 4);
        ++golds[question.gold];
        const std::string fact = question.context.substr(question.context.find("the ", question.context.find('.')));
        for (std::size_t c = 0; c < 4; ++c) {
            INFO(fact << question.choices[c]);
            CHECK((all.find(fact + question.choices[c]) != std::string::npos) ==
                  (static_cast<std::int64_t>(c) == question.gold));
        }
    }
    for (const auto& [place, count] : golds) CHECK(count > 90);  // 125 expected in each place
}

namespace {

// A model whose weights are drawn wide enough to have opinions.
deft::engine::TrainerConfig opinionated(std::int64_t seqlen) {
    auto config = deft::engine::tiny_config(2, seqlen, 3);
    config.model.vocab = deft::engine::Tokenizer::bytes().vocab();
    config.model.init_std = 0.3;
    return config;
}

}  // namespace

TEST_CASE(
    "a continuation's likelihood does not depend on the batch it is scored in, nor on its length beyond the model's") {
    const auto config = opinionated(16);
    const auto corpus = deft::engine::tiny_corpus(500, 256);
    deft::engine::Trainer trainer(config, corpus, 1);
    const auto bytes = deft::engine::Tokenizer::bytes();
    const auto request = [&](const std::string& context, const std::string& continuation) {
        return Request{bytes.encode(context), bytes.encode(continuation)};
    };
    const std::vector<Request> requests = {request("ab", "c"), request("hello wor", "ld"), request("x", " yes"),
                                           request("0123456789abcdefghij", "kl"), request("56789abcdefghij", "kl")};
    const auto together = score(trainer.model(), trainer.exec(), requests, 3);
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const auto alone = score(trainer.model(), trainer.exec(), {&requests[i], 1}, 1);
        CHECK(alone[0].log_likelihood == Approx(together[i].log_likelihood).epsilon(1e-5));
        CHECK(alone[0].greedy == together[i].greedy);
    }
    CHECK(together[3].log_likelihood == Approx(together[4].log_likelihood));  // truncated on the left to 17 tokens
    // The chain rule: p(kl | c) = p(k | c) p(l | c k).
    const auto parts = score(trainer.model(), trainer.exec(),
                             std::vector<Request>{request("ab", "cd"), request("ab", "c"), request("abc", "d")}, 3);
    CHECK(parts[0].log_likelihood == Approx(parts[1].log_likelihood + parts[2].log_likelihood).epsilon(1e-5));
    CHECK_THROWS_WITH(
        score(trainer.model(), trainer.exec(), std::vector<Request>{request("a", "0123456789abcdefg")}, 1),
        ContainsSubstring("does not fit"));
}

TEST_CASE("bits per byte count text bytes only") {
    const auto config = opinionated(4);
    const auto tokenizer = deft::engine::Tokenizer::bytes();
    // a b c EOD d e f g EOD: 8 targets from 2 samples, 1 + 1 of them marks
    const auto corpus = deft::engine::corpus_of_documents(std::vector<std::string>{"abc", "defg"}, tokenizer);
    deft::engine::Trainer trainer(config, corpus, 1);
    const CorpusLoss loss = corpus_loss(trainer.model(), trainer.exec(), corpus, tokenizer, 1000, 2);
    CHECK(loss.tokens == 8);
    CHECK(loss.bits_per_byte == Approx(loss.loss * 8 / 0.6931471805599453 / 6));
}
