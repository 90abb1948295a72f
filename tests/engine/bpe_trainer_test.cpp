// The trainer against an example by hand, and against counting everything again for each merge.

#include "engine/data/bpe/bpe_trainer.h"

#include <map>
#include <random>

#include "engine/data/bpe/splitter.h"
#include "engine/data/tokenizer.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft::engine;

namespace {

BpeVocabulary train(const std::vector<std::string_view>& documents, std::int32_t vocab) {
    return train_bpe_vocabulary(documents, vocab);
}

std::vector<std::string> merged(const BpeVocabulary& vocabulary) {
    return {vocabulary.tokens.begin() + 256, vocabulary.tokens.end() - 1};
}

std::string random_words(std::mt19937_64& random, int words) {
    std::string text;
    for (int i = 0; i < words; ++i) {
        const std::size_t length = 1 + random() % 7;
        for (std::size_t j = 0; j < length; ++j) text += static_cast<char>('a' + random() % 3);
        text += random() % 5 == 0 ? "\n" : " ";
    }
    return text;
}

// Every pair counted again for each merge, as the algorithm is defined.
std::vector<Merge> train_slowly(std::string_view text, std::int32_t vocab) {
    std::array<std::int32_t, 256> id_of_byte{};
    const auto order = bytes_in_alphabet_order();
    for (std::int32_t id = 0; id < 256; ++id) id_of_byte[order[id]] = id;
    std::vector<std::vector<std::int32_t>> words;
    for_each_piece(text, [&](std::string_view piece) {
        words.emplace_back();
        for (const char c : piece) words.back().push_back(id_of_byte[static_cast<unsigned char>(c)]);
    });
    std::vector<Merge> merges;
    for (std::int32_t id = 256; id < vocab - 1; ++id) {
        std::map<std::pair<std::int32_t, std::int32_t>, int> counts;
        for (const auto& word : words)
            for (std::size_t i = 0; i + 1 < word.size(); ++i) ++counts[{word[i], word[i + 1]}];
        auto best = counts.begin();  // the map goes from the smallest pair up
        for (auto it = counts.begin(); it != counts.end(); ++it)
            if (it->second > best->second) best = it;
        const auto [left, right] = best->first;
        merges.push_back({left, right, id});
        for (auto& word : words)
            for (std::size_t i = 0; i + 1 < word.size(); ++i)
                if (word[i] == left && word[i + 1] == right) {
                    word[i] = id;
                    word.erase(word.begin() + static_cast<std::ptrdiff_t>(i) + 1);
                }
    }
    return merges;
}

}  // namespace

TEST_CASE("the trainer merges as a hand does") {
    // Pieces a a a b and _ a a b. (a,a) 3 times; then (a,b), (_,aa), (aa,a), (aa,b) once each: ids a 64, _ 220, aa 256.
    const std::vector<std::string_view> documents = {"aaab aab"};
    const BpeVocabulary vocabulary = train(documents, 262);
    CHECK(merged(vocabulary) == std::vector<std::string>{"aa", "ab", " aa", "aaab", " aab"});
    CHECK(vocabulary.tokens.size() == 262);
    CHECK(vocabulary.end_of_document == 261);
    CHECK(vocabulary.tokens[64] == "a");
    CHECK(vocabulary.tokens[220] == " ");
    CHECK((vocabulary.merges[4].left == 258 && vocabulary.merges[4].right == 65 && vocabulary.merges[4].result == 260));
    CHECK(Bpe(vocabulary).vocabulary().merges.size() == 5);
}

TEST_CASE("the trainer says what a text can give") {
    const auto message = [](const std::vector<std::string_view>& documents, std::int32_t vocab) {
        return deft::test::refusal([&] { train(documents, vocab); });
    };
    CHECK_THAT(message({"aaab aab"}, 263), ContainsSubstring("the text gives a vocabulary of 262 entries, not 263"));
    CHECK_THAT(message({}, 258), ContainsSubstring("257 entries, not 258"));
    CHECK_THAT(message({"ab"}, 256), ContainsSubstring("need 257"));
    CHECK(train({}, 257).tokens.size() == 257);
}

TEST_CASE("the trainer's counts stay right through the merges") {
    const std::uint64_t seed = std::random_device()();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    for (int round = 0; round < 20; ++round) {
        const std::string text = random_words(random, 150);
        const std::vector<Merge> expected = train_slowly(text, 320);
        const BpeVocabulary found = train({text}, 320);
        REQUIRE(found.merges.size() == expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            INFO("round " << round << ", merge " << i);
            REQUIRE((found.merges[i].left == expected[i].left && found.merges[i].right == expected[i].right));
        }
    }
}

TEST_CASE("the order of documents does not matter, and a document ends its last piece") {
    const std::string one = "the cat sat on the mat, the cat sat", two = "then the other cat sat there";
    CHECK(merged(train({one, two}, 270)) == merged(train({two, one}, 270)));
    CHECK(merged(train({"ab", "ab", "cd"}, 258)) == std::vector<std::string>{"ab"});
    CHECK(merged(train({"b", "c", "bcd"}, 259)) == std::vector<std::string>{"bc", "bcd"});
}

TEST_CASE("a trained tokenizer writes files that read back") {
    const std::uint64_t seed = std::random_device()();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const std::string text = random_words(random, 500) + "na\xC3\xAFve \xFF\xFE \"quoted\\\" ";
    const std::vector<std::string_view> documents = {text};
    const Tokenizer trained(std::make_shared<const Bpe>(train_bpe(documents, 400)), "trained");
    const deft::test::TemporaryFolder folder;
    write_tokenizer(trained, folder.path());
    const Tokenizer read = load_tokenizer(folder.path());
    CHECK(read.sha256() == trained.sha256());
    CHECK(read.encode(text) == trained.encode(text));
    CHECK(read.decode(read.encode(text)) == text);
    CHECK(read.encode(text).size() < text.size() / 2);
}
