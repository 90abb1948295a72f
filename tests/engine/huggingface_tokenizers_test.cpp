// Encoding, files and training against Hugging Face's `tokenizers`, where a Python has it: DEFT_PYTHON, or python3.

#include <cstdlib>
#include <random>

#include "base/json.h"
#include "base/process.h"
#include "base/utf8.h"
#include "engine/data/bpe/bpe_trainer.h"
#include "engine/data/bpe/splitter.h"
#include "engine/data/tokenizer.h"
#include "tests/golden.h"
#include "tests/python.h"
#include "tests/temporary_folder.h"

using namespace deft::engine;
using deft::test::TemporaryFolder;
using deft::test::write_text;
namespace fs = std::filesystem;

namespace {

constexpr const char* kMissing = "no Python with the package tokenizers (name one in DEFT_PYTHON)";

deft::ProcessOutput compare(const std::string& command, const fs::path& first, const fs::path& second) {
    return deft::test::run_python(
        {DEFT_SOURCE_DIR "/tests/engine/huggingface_tokenizers.py", command, first.string(), second.string()});
}

// A character whose class every Unicode version since 14 gives alike: letters, numbers, spaces, marks, symbols.
std::uint32_t agreed_character(std::mt19937_64& random) {
    switch (random() % 5) {
        case 0:
            return static_cast<std::uint32_t>(random() % 128);
        case 1:
            return static_cast<std::uint32_t>(0x80 + random() % 0x2F0);  // Latin, combining marks
        case 2:
            return static_cast<std::uint32_t>(0x2000 + random() % 0x60);  // spaces and punctuation
        case 3:
            return static_cast<std::uint32_t>(0x1F300 + random() % 0x100);  // symbols
        default:
            for (;;) {
                const auto c = static_cast<std::uint32_t>(random() % 0x30000);
                if (character_class(c) != CharacterClass::other) return c;
            }
    }
}

std::string text_of_agreed(std::mt19937_64& random) {
    static const std::vector<std::string> words = {"the", "The", " and", "ing", "'s",       "'ll",
                                                   "'",   "  ",  "\n\n", "12",  "tokenizer"};
    std::string text;
    const std::size_t count = random() % 40;
    for (std::size_t i = 0; i < count; ++i)
        if (random() % 2 == 0)
            text += words[random() % words.size()];
        else
            deft::append_utf8(agreed_character(random), text);
    if (random() % 10 == 0)
        for (std::size_t i = 0; i < 300; ++i) text += "aenst"[random() % 5];
    return text;
}

// Encodes random texts and has the same folder's files encode them there.
deft::ProcessOutput compare_encoding(const Tokenizer& tokenizer, const fs::path& folder, std::mt19937_64& random) {
    std::string cases;
    for (int i = 0; i < 3000; ++i) {
        const std::string text = text_of_agreed(random);
        cases += deft::Json{{"text", text}, {"ids", tokenizer.encode(text)}}.dump(-1, ' ', true) + "\n";
    }
    const TemporaryFolder scratch;
    write_text(scratch / "cases.jsonl", cases);
    return compare("encode", folder, scratch / "cases.jsonl");
}

}  // namespace

TEST_CASE("GPT-2's vocabulary encodes as Hugging Face does", "[bare][python]") {
    const fs::path folder = deft::golden::mirror() / "tokenizers" / "gpt2";
    if (!fs::exists(folder)) DEFT_SKIP("no GPT-2 vocabulary");
    const std::uint64_t seed = std::random_device()();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const deft::ProcessOutput output = compare_encoding(load_tokenizer(folder), folder, random);
    if (output.exit_code == 77) DEFT_SKIP(kMissing);
    INFO(output.out);
    CHECK(output.exit_code == 0);
}

TEST_CASE("a trained vocabulary is Hugging Face's, and its files encode there as here", "[bare][python]") {
    const std::uint64_t seed = std::random_device()();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    std::string text;
    for (int i = 0; i < 2000; ++i) text += text_of_agreed(random);
    const TemporaryFolder folder;
    write_text(folder / "text.txt", text);
    const std::vector<std::string_view> documents = {text};
    const Tokenizer trained(std::make_shared<const Bpe>(train_bpe(documents, 2000)), "trained");
    write_tokenizer(trained, folder / "trained");
    const deft::ProcessOutput training = compare("train", folder / "text.txt", folder / "trained");
    if (training.exit_code == 77) DEFT_SKIP(kMissing);
    INFO(training.out);
    CHECK(training.exit_code == 0);
    const deft::ProcessOutput encoding = compare_encoding(trained, folder / "trained", random);
    INFO(encoding.out);
    CHECK(encoding.exit_code == 0);
}

TEST_CASE("the comparison with Hugging Face refuses a wrong token", "[bare][python]") {
    const std::vector<std::string_view> documents = {"the cat sat on the mat"};
    const Tokenizer trained(std::make_shared<const Bpe>(train_bpe(documents, 262)), "trained");
    const TemporaryFolder folder;
    write_tokenizer(trained, folder / "trained");
    write_text(folder / "cases.jsonl", R"({"text": "the", "ids": [1]})"
                                       "\n");
    const deft::ProcessOutput output = compare("encode", folder / "trained", folder / "cases.jsonl");
    if (output.exit_code == 77) DEFT_SKIP(kMissing);
    CHECK(output.exit_code == 1);
    CHECK_THAT(output.out, ContainsSubstring("not [1]"));
}
