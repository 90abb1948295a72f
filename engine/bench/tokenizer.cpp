#include "engine/bench/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "engine/bench/zipf_tokens.h"
#include "engine/data/bpe/bpe_trainer.h"
#include "engine/data/tokenizer.h"
#include "engine/data/wordpiece/wordpiece.h"

namespace deft::engine {

namespace {

using kernels::PreparedBench;

constexpr std::size_t kTextBytes = 1 << 18;
constexpr std::int32_t kStems = 2000, kSuffixes = 100;

// Five letters that no other number has.
std::string letters(std::int32_t number) {
    std::string word(5, 'a');
    for (std::size_t i = word.size(); i-- > 0; number /= 26) word[i] = static_cast<char>('a' + number % 26);
    return word;
}

std::string stem(std::int32_t number) {
    return letters(4'000'000 + 1543 * number);  // spread over the alphabet
}
std::string suffix(std::int32_t number) {
    return letters(number).substr(3);
}

// Words by Zipf's law, every third with a suffix; the number of each is (stem, suffix or -1).
struct InventedText {
    std::string text;
    std::vector<std::pair<std::int32_t, std::int32_t>> words;
};

InventedText invented_text(std::uint64_t seed) {
    const std::vector<std::uint16_t> numbers = zipf_tokens<std::uint16_t>(kTextBytes / 6, kStems, seed);
    std::mt19937_64 random(seed);
    InventedText invented;
    for (const std::uint16_t number : numbers) {
        const bool is_long = random() % 3 == 0;
        const auto ending = static_cast<std::int32_t>(random() % kSuffixes);
        const std::string word = stem(number) + (is_long ? suffix(ending) : "") + ' ';
        if (invented.text.size() + word.size() > kTextBytes) break;
        invented.text += word;
        invented.words.emplace_back(number, is_long ? ending : -1);
    }
    invented.text.resize(kTextBytes, ' ');
    return invented;
}

// Through a new encoder each time, whose memory of words is empty.
template <class NewEncoder>
void encode_when_run(PreparedBench& prepared, std::string text, double tokens, const NewEncoder& new_encoder) {
    prepared.bytes = prepared.footprint = static_cast<double>(text.size());
    prepared.items = tokens;
    prepared.item = "token";
    prepared.hot = [text = std::move(text), new_encoder, out = std::vector<std::int32_t>()]() mutable {
        out.clear();
        new_encoder().encode(text, out);
    };
}

// 1024 entries learnt from the text itself. Right: what is decoded again is the text.
PreparedBench prepare_bpe(std::uint64_t seed) {
    const std::string text = invented_text(seed).text;
    const std::string_view document = text;
    const Tokenizer tokenizer(std::make_shared<const Bpe>(train_bpe({&document, 1}, 1024)), "bench");
    std::vector<std::int32_t> tokens;
    Encoder(tokenizer).encode(text, tokens);
    PreparedBench prepared;
    if (tokenizer.decode(tokens) != text) prepared.wrong = "decoded tokens are another text";
    if (tokens.size() > text.size() / 2) prepared.wrong = "hardly a pair was merged";
    encode_when_run(prepared, text, static_cast<double>(tokens.size()), [tokenizer] { return Encoder(tokenizer); });
    return prepared;
}

// Right: every word is its stem, and its suffix where it has one, by construction.
PreparedBench prepare_wordpiece(std::uint64_t seed) {
    const InventedText invented = invented_text(seed);
    std::string lines = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
    constexpr std::int32_t kFirstStem = 5, kFirstSuffix = kFirstStem + kStems;
    for (std::int32_t i = 0; i < kStems; ++i) lines += stem(i) + '\n';
    for (std::int32_t i = 0; i < kSuffixes; ++i) lines += std::string(kContinuation) + suffix(i) + '\n';
    const auto wordpiece = std::make_shared<const WordPiece>(parse_vocab_txt(lines, "bench"), WordPieceRules{});
    std::vector<std::int32_t> expected, tokens;
    for (const auto& [number, ending] : invented.words) {
        expected.push_back(kFirstStem + number);
        if (ending >= 0) expected.push_back(kFirstSuffix + ending);
    }
    WordPieceEncoder(wordpiece).encode(invented.text, tokens);
    PreparedBench prepared;
    if (tokens != expected) prepared.wrong = "a word was cut into other pieces";
    encode_when_run(prepared, invented.text, static_cast<double>(tokens.size()),
                    [wordpiece] { return WordPieceEncoder(wordpiece); });
    return prepared;
}

// Right: what is decoded again is the text.
PreparedBench prepare_text(const std::string& text, const Tokenizer& tokenizer) {
    std::vector<std::int32_t> tokens;
    Encoder(tokenizer).encode(text, tokens);
    PreparedBench prepared;
    if (tokenizer.decode(tokens) != text) prepared.wrong = "decoded tokens are another text";
    encode_when_run(prepared, text, static_cast<double>(tokens.size()), [tokenizer] { return Encoder(tokenizer); });
    return prepared;
}

// Right: every token is one of the vocabulary. WordPiece does not keep the text.
PreparedBench prepare_text(const std::string& text, const std::shared_ptr<const WordPiece>& wordpiece) {
    std::vector<std::int32_t> tokens;
    WordPieceEncoder(wordpiece).encode(text, tokens);
    PreparedBench prepared;
    for (const std::int32_t token : tokens)
        if (token < 0 || token >= wordpiece->vocab()) prepared.wrong = fmt::format("token {} is out of range", token);
    encode_when_run(prepared, text, static_cast<double>(tokens.size()),
                    [wordpiece] { return WordPieceEncoder(wordpiece); });
    return prepared;
}

}  // namespace

std::vector<kernels::BenchCase> tokenizer_benches(std::uint64_t seed) {
    return {{"tokenizer/bpe/1024", "cpu", 0, kTextBytes, [=](int) { return prepare_bpe(seed); }},
            {"tokenizer/wordpiece/2105", "cpu", 0, kTextBytes, [=](int) { return prepare_wordpiece(seed); }}};
}

kernels::BenchCase tokenizer_bench(const std::filesystem::path& file, const std::filesystem::path& folder) {
    const auto text = std::make_shared<const std::string>(read_text_file(file));
    if (text->empty())
        throw Error(ErrorKind::usage, fmt::format("{} is empty", file.string()), "name a file with some text");
    kernels::BenchCase bench;
    bench.bytes = static_cast<double>(text->size());
    std::string name = "bytes";
    if (!folder.empty() && find_text_file(folder / kVocabTxt)) {
        const auto wordpiece = load_wordpiece(folder);
        name = fmt::format("wordpiece/{}", wordpiece->vocab());
        bench.prepare = [text, wordpiece](int) { return prepare_text(*text, wordpiece); };
    } else {
        const Tokenizer tokenizer = folder.empty() ? Tokenizer::bytes() : load_tokenizer(folder);
        if (!folder.empty()) name = fmt::format("bpe/{}", tokenizer.vocab());
        bench.prepare = [text, tokenizer](int) { return prepare_text(*text, tokenizer); };
    }
    bench.name = fmt::format("tokenizer/{}/{}", name, file.filename().string());
    return bench;
}

}  // namespace deft::engine
