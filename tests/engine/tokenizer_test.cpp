// GPT-2's tokenizer against golden vectors, itself, and texts split by hand.

#include "engine/data/tokenizer.h"

#include <chrono>
#include <random>

#include "base/error.h"
#include "base/json.h"
#include "engine/data/bpe/splitter.h"
#include "tests/golden.h"

using namespace deft::engine;
namespace fs = std::filesystem;

namespace {

fs::path gpt2_folder() {
    return deft::golden::mirror() / "tokenizers" / "gpt2";
}

std::string unhex(const std::string& hex) {
    std::string bytes;
    for (std::size_t i = 0; i < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    return bytes;
}

std::vector<std::string> pieces(std::string_view text) {
    std::vector<std::string> result;
    for_each_piece(text, [&](std::string_view piece) { result.emplace_back(piece); });
    return result;
}

// Bytes, common words and odd characters in any order: valid UTF-8 and not.
std::string random_parts(std::mt19937_64& random) {
    static const std::vector<std::string> parts = {" ",
                                                   "  ",
                                                   "\n",
                                                   "\t",
                                                   "'s",
                                                   "'ll",
                                                   "'",
                                                   "the",
                                                   " and",
                                                   "Hello",
                                                   "12",
                                                   " 345",
                                                   "...",
                                                   " ((",
                                                   "\xC3\xA9",
                                                   "e\xCC\x81",
                                                   "\xE6\x97\xA5\xE6\x9C\xAC",
                                                   "\xC2\xA0",
                                                   "\xE3\x80\x80",
                                                   "\xF0\x9F\x91\x8B",
                                                   "\xED\xA0\x80",
                                                   "\xE2\x82"};
    std::string text;
    const std::size_t count = random() % 60;
    for (std::size_t i = 0; i < count; ++i) {
        if (random() % 4 == 0)
            text += static_cast<char>(random());
        else
            text += parts[random() % parts.size()];
    }
    if (random() % 8 == 0) text += std::string(random() % 300, static_cast<char>('a' + random() % 3));
    return text;
}

}  // namespace

TEST_CASE("GPT-2's tokens are the golden ones", "[bare]") {
    const std::vector<deft::Json> records = deft::golden::read_lines("gpt2_bpe.jsonl");
    if (records.empty() || !fs::exists(gpt2_folder())) DEFT_SKIP("no golden vectors or no GPT-2 vocabulary");
    const Tokenizer tokenizer = load_tokenizer(gpt2_folder());
    CHECK(tokenizer.name() == "gpt2");
    CHECK(tokenizer.vocab() == 50257);
    CHECK(tokenizer.end_of_document() == 50256);
    CHECK(tokenizer.token_bytes(50256) == 0);
    Encoder encoder(tokenizer);
    for (const deft::Json& record : records) {
        INFO(record.dump());
        const std::string text = record.contains("hex") ? unhex(record["hex"]) : record["text"].get<std::string>();
        const auto expected = record["ids"].get<std::vector<std::int32_t>>();
        CHECK(tokenizer.encode(text) == expected);
        CHECK(tokenizer.decode(expected) == text);
        for (int repeat = 0; repeat < 2; ++repeat) {  // the second time out of the cache
            std::vector<std::int32_t> cached;
            encoder.encode(text, cached);
            CHECK(cached == expected);
        }
        if (record.contains("pieces")) CHECK(pieces(text) == record["pieces"].get<std::vector<std::string>>());
    }
    CHECK(records.size() == 102);
}

TEST_CASE("text splits as GPT-2 splits it", "[bare]") {
    using Pieces = std::vector<std::string>;
    CHECK(pieces("").empty());
    CHECK(pieces("it's 12 dogs, he'd say") == Pieces{"it", "'s", " 12", " dogs", ",", " he", "'d", " say"});
    CHECK(pieces("we're you've I'll I'm can't") ==
          Pieces{"we", "'re", " you", "'ve", " I", "'ll", " I", "'m", " can", "'t"});
    CHECK(pieces("IT'S 'r 'v 'l") == Pieces{"IT", "'", "S", " '", "r", " '", "v", " '", "l"});
    CHECK(pieces("a  b") == Pieces{"a", " ", " b"});
    CHECK(pieces("a\n\nb") == Pieces{"a", "\n", "\n", "b"});
    CHECK(pieces("a \n") == Pieces{"a", " \n"});
    CHECK(pieces("x2y") == Pieces{"x", "2", "y"});
    CHECK(pieces(" '") == Pieces{" '"});
    CHECK(pieces("'") == Pieces{"'"});
    CHECK(pieces("a\xC2\xA0 b") == Pieces{"a", "\xC2\xA0", " b"});  // U+00A0 is whitespace, but no U+0020
    CHECK(pieces("e\xCC\x81t") == Pieces{"e", "\xCC\x81", "t"});    // a combining mark is not a letter
    CHECK(pieces("a\xE2\x82 b") == Pieces{"a", "\xE2\x82", " b"});  // cut short
    CHECK(pieces("\xFF\xFE!x") == Pieces{"\xFF\xFE!", "x"});        // no UTF-8
    CHECK(pieces("a\xE0\x80\xA0"
                 "b") == Pieces{"a", "\xE0\x80\xA0", "b"});  // overlong
}

TEST_CASE("characters have Unicode's classes", "[bare]") {
    CHECK(character_class('a') == CharacterClass::letter);
    CHECK(character_class('0') == CharacterClass::number);
    CHECK(character_class('_') == CharacterClass::other);
    CHECK(character_class(0) == CharacterClass::other);
    CHECK(character_class(0x00B2) == CharacterClass::number);  // superscript two, No
    CHECK(character_class(0x2167) == CharacterClass::number);  // Roman numeral eight, Nl
    CHECK(character_class(0x0301) == CharacterClass::other);
    CHECK(character_class(0x3042) == CharacterClass::letter);
    CHECK(character_class(0x1F44B) == CharacterClass::other);
    CHECK(character_class(0x10FFFF) == CharacterClass::other);
    for (const int space :
         {0x09, 0x0A, 0x0D, 0x20, 0x85, 0xA0, 0x1680, 0x2000, 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000})
        CHECK(character_class(space) == CharacterClass::space);
    for (const int none : {0x08, 0x0E, 0x1C, 0x1F, 0x180E, 0x200B, 0xFEFF})
        CHECK(character_class(none) == CharacterClass::other);
    int spaces = 0;
    for (std::uint32_t c = 0; c <= 0x10FFFF; ++c) spaces += character_class(c) == CharacterClass::space;
    CHECK(spaces == 25);
}

TEST_CASE("decoding gives back the bytes, and the cache changes nothing", "[bare]") {
    if (!fs::exists(gpt2_folder())) DEFT_SKIP("no GPT-2 vocabulary");
    const std::uint64_t seed = std::random_device()();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const Tokenizer gpt2 = load_tokenizer(gpt2_folder());
    for (const Tokenizer& tokenizer : {gpt2, Tokenizer::bytes()}) {
        Encoder encoder(tokenizer);
        for (int i = 0; i < 2000; ++i) {
            const std::string text = random_parts(random);
            const std::vector<std::int32_t> tokens = tokenizer.encode(text);
            std::vector<std::int32_t> cached = {7};
            encoder.encode(text, cached);
            std::size_t bytes = 0;
            for (const std::int32_t token : tokens) bytes += static_cast<std::size_t>(tokenizer.token_bytes(token));
            REQUIRE(tokenizer.decode(tokens) == text);
            REQUIRE(bytes == text.size());
            REQUIRE(cached.size() == tokens.size() + 1);
            REQUIRE(std::equal(tokens.begin(), tokens.end(), cached.begin() + 1));
        }
    }
}

TEST_CASE("the byte tokenizer is bytes and an end", "[bare]") {
    const Tokenizer bytes = Tokenizer::bytes();
    CHECK(bytes.name() == "bytes");
    CHECK(bytes.vocab() == 257);
    CHECK(bytes.end_of_document() == 256);
    CHECK(bytes.encode("a\xFF") == std::vector<std::int32_t>{97, 255});
    const std::vector<std::int32_t> tokens = {104, 105, 256, 33};
    CHECK(bytes.decode(tokens) == "hi!");
    CHECK(bytes.token_bytes(0) == 1);
    CHECK(bytes.token_bytes(256) == 0);
    CHECK_THROWS_AS(bytes.token_bytes(257), deft::Error);
    CHECK_THROWS_AS(bytes.decode(std::vector<std::int32_t>{-1}), deft::Error);
    CHECK(bytes.sha256().size() == 64);
}

TEST_CASE("one piece of a million letters does not hang", "[bare]") {
    if (!fs::exists(gpt2_folder())) DEFT_SKIP("no GPT-2 vocabulary");
    const Tokenizer tokenizer = load_tokenizer(gpt2_folder());
    const std::uint64_t seed = std::random_device()();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    std::string text(1'000'000, ' ');
    for (char& c : text) c = "etaoinshrdlu"[random() % 12];
    const auto start = std::chrono::steady_clock::now();
    const std::vector<std::int32_t> tokens = tokenizer.encode(text);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    CHECK(seconds < 5);
    CHECK(tokenizer.decode(tokens) == text);
}
