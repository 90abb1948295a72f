// Where sentences end, and corpora that know it.

#include <random>

#include "engine/data/bert/sentence_corpus.h"
#include "tests/catch.h"
#include "tests/engine/bert_corpus.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::engine;
using test::TemporaryFolder;

namespace {

using Sentences = std::vector<std::string_view>;

Sentences by_punctuation(std::string_view text) {
    return split_sentences(text, SentenceRule::punctuation);
}

std::string without_spaces(std::string_view text) {
    std::string rest;
    for (const char c : text)
        if (c != ' ' && (c < '\t' || c > '\r')) rest += c;
    return rest;
}

}  // namespace

TEST_CASE("sentences end at stops, at empty lines, and not at short forms") {
    CHECK(by_punctuation("It rained. We\nleft!  Why? ") == Sentences{"It rained.", "We\nleft!", "Why?"});
    CHECK(by_punctuation("He said \"No.\" (She laughed.) Then...") ==
          Sentences{"He said \"No.\"", "(She laughed.)", "Then..."});
    CHECK(by_punctuation("Mr. Hale met J. R. Day at No. 5. They spoke, e.g. of 3.14 and a.b") ==
          Sentences{"Mr. Hale met J. R. Day at No. 5.", "They spoke, e.g. of 3.14 and a.b"});
    CHECK(by_punctuation("\"Stop!\" cried he. 1815. Done") == Sentences{"\"Stop!\" cried he.", "1815.", "Done"});
    CHECK(by_punctuation("A title\n\nIts text\nflows\n \t\non") == Sentences{"A title", "Its text\nflows", "on"});
    CHECK(by_punctuation("\xE4\xB8\xAD\xE3\x80\x82\xE6\x96\x87\xEF\xBC\x9F") ==
          Sentences{"\xE4\xB8\xAD\xE3\x80\x82", "\xE6\x96\x87\xEF\xBC\x9F"});
    CHECK(by_punctuation("Wait\xE2\x80\xA6 \xE2\x80\x9CGo.\xE2\x80\x9D I went.") ==
          Sentences{"Wait\xE2\x80\xA6", "\xE2\x80\x9CGo.\xE2\x80\x9D", "I went."});
    CHECK(by_punctuation("") == Sentences{});
    CHECK(by_punctuation(" \n\n\t") == Sentences{});
    CHECK(split_sentences("one. two\n\n three \nfour", SentenceRule::lines) == Sentences{"one. two", "three", "four"});
}

TEST_CASE("no rule loses text, whatever the bytes") {
    const std::uint64_t seed = std::random_device()();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 3000; ++i) {
        std::string text;
        for (std::uint64_t left = random() % 80; left > 0; --left)
            text += static_cast<char>(random() % 2 == 0 ? "..!?\n\n  \"')aAMr\xE3\x80\x82"[random() % 18] : random());
        for (const SentenceRule rule : {SentenceRule::punctuation, SentenceRule::lines}) {
            std::string joined;
            for (const std::string_view sentence : split_sentences(text, rule)) {
                REQUIRE(!sentence.empty());
                joined += without_spaces(sentence);
            }
            REQUIRE(joined == without_spaces(text));
        }
    }
}

TEST_CASE("a corpus of sentences is the same from memory and from Megatron's files") {
    const auto wordpiece = test::numbered_vocabulary(10, 2);
    const std::vector<std::string> documents = {"W0 w1. W2p0!\n\nw3", "", " \x01 \n\n", "w4"};  // stops are [UNK]
    const SentenceCorpus memory = sentences_of_documents(documents, wordpiece, SentenceRule::punctuation);
    CHECK(memory.sentence_start == std::vector<std::int64_t>{0, 3, 6, 7, 8});
    CHECK(memory.document_start == std::vector<std::int64_t>{0, 3, 3, 3, 4});
    CHECK(memory.tokens[3] == 7);
    CHECK(memory.tokens[4] == 15);

    const TemporaryFolder folder;
    IndexedDatasetWriter writer(folder / "corpus", wordpiece->vocab());
    WordPieceEncoder encoder(wordpiece);
    for (const std::string& text : documents)
        add_document_of_sentences(writer, text, encoder, SentenceRule::punctuation);
    writer.finish();
    const auto dataset = std::make_shared<const IndexedDataset>(folder / "corpus");
    CHECK(dataset->documents() == 4);
    CHECK(dataset->sequences() == 4);
    const SentenceCorpus whole = sentences_of_range(dataset, 0, 4);
    CHECK(whole.sentence_start == memory.sentence_start);
    CHECK(whole.document_start == memory.document_start);
    for (std::int64_t t = 0; t < memory.tokens.size; ++t) CHECK(whole.tokens[t] == memory.tokens[t]);
    const SentenceCorpus last = sentences_of_range(dataset, 2, 4);
    CHECK(last.sentence_start == std::vector<std::int64_t>{0, 1});
    CHECK(last.document_start == std::vector<std::int64_t>{0, 0, 1});
    CHECK(last.tokens[0] == memory.tokens[7]);
}
