// BERT's tokenizer: golden vectors, Python's Unicode, Hugging Face's implementation, and files that are none.

#include "engine/data/wordpiece/wordpiece.h"

#include <cstdlib>
#include <random>

#include "base/error.h"
#include "base/process.h"
#include "base/utf8.h"
#include "engine/data/wordpiece/basic_tokenizer.h"
#include "tests/golden.h"
#include "tests/python.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::engine;
using test::TemporaryFolder;
using test::write_text;

namespace {

constexpr const char* kBert = "tokenizers/bert-base-uncased";
const std::string kSpecials = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";

WordPiece tiny(const std::string& tokens, const WordPieceRules& rules = {}) {
    return WordPiece(parse_vocab_txt(kSpecials + tokens, "vocab.txt"), rules);
}

std::vector<std::string> words_of(std::string_view text, const BasicTokenizerRules& rules = {}) {
    std::vector<std::string> words;
    BasicTokenizer(rules).for_each_word(text, [&](std::string_view word) { words.emplace_back(word); });
    return words;
}

ProcessOutput run_script(const std::string& script, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), DEFT_SOURCE_DIR "/tests/engine/" + script);
    return test::run_python(std::move(arguments));
}

// A character of any plane: many are accented, cased, ideographs, marks, spaces, controls.
char32_t random_bert_character(std::mt19937_64& random) {
    const char32_t firsts[] = {0,      0xA0,   0x300,  0x370,  0x400,  0x600,   0x900,   0x1E00, 0x2000,
                               0x3000, 0x4E00, 0xAC00, 0xF900, 0xFE00, 0x1D150, 0x1F300, 0x2F800};
    const std::uint64_t kind = random() % (std::size(firsts) + 3);
    if (kind < std::size(firsts)) return firsts[kind] + static_cast<char32_t>(random() % 0x80);
    if (kind == std::size(firsts)) return static_cast<char32_t>(random() % 0x20000);
    for (;;) {
        const auto code = static_cast<char32_t>(random() % 0x3000);
        if (casing(code) != Casing::none || text_class(code) == TextClass::mark) return code;
    }
}

std::string random_bert_text(std::mt19937_64& random) {
    static const std::vector<std::string> words = {"The",          " ",        "  ",        "\n",          "\t",
                                                   "don't",        "\xCE\xA3", "A\xCE\xA3", "\xCE\xA3.",   "\xC3\x89",
                                                   "\xE4\xB8\xAD", "ing",      "(",         "\xEF\xBF\xBD"};
    std::string text;
    for (std::uint64_t left = random() % 30; left > 0; --left) {
        if (random() % 2 == 0) {
            text += words[random() % words.size()];
            continue;
        }
        const char32_t code = random_bert_character(random);
        if (code < 0xD800 || code > 0xDFFF) append_utf8(code, text);
    }
    return text;
}

}  // namespace

TEST_CASE("BERT's vocabulary encodes the golden texts exactly, by each of the rules", "[bare][python]") {
    const std::vector<Json> cases = golden::read_lines("bert_wordpiece.jsonl");
    if (cases.empty() || !golden::has_data(kBert)) DEFT_SKIP("no golden vectors: set DEFT_DATA_MIRROR");
    const std::filesystem::path folder = golden::mirror() / kBert;
    const auto original = load_wordpiece(folder);
    CHECK(original->vocab() == 30522);
    CHECK(original->vocabulary().mask == 103);
    const std::pair<const char*, WordPieceRules> variants[] = {
        {"ids_simple_lower", {.words = {.final_sigma = false}}},
        {"ids_hf_control", {.words = {.drop_private_use = true, .drop_unassigned = true}}},
        {"ids_limit200", {.words = {}, .max_code_points = 200}}};
    std::vector<std::shared_ptr<const WordPiece>> readers;
    for (const auto& [name, rules] : variants) readers.push_back(load_wordpiece(folder, rules));
    for (const Json& c : cases) {
        INFO(c.dump(-1, ' ', true));
        const std::string text = c.at("text");
        const std::vector<std::int32_t> ids = c.at("ids");
        CHECK(original->encode(text) == ids);
        for (std::size_t v = 0; v < std::size(variants); ++v)
            CHECK(readers[v]->encode(text) == c.value(variants[v].first, ids));
        std::vector<std::string> tokens;
        for (const std::int32_t id : ids) tokens.push_back(original->vocabulary().tokens[static_cast<std::size_t>(id)]);
        CHECK(Json(tokens) == c.at("tokens"));
    }
}

TEST_CASE("BERT's words are those of Python's own Unicode", "[bare][python]") {
    const std::uint64_t seed = std::random_device()();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    std::string cases;
    for (int i = 0; i < 3000; ++i) {
        const std::string text = random_bert_text(random);
        const bool lower = i % 3 != 0;
        const Json line = {{"text", text}, {"lower", lower}, {"words", words_of(text, {.lower_case = lower})}};
        cases += line.dump(-1, ' ', true) + "\n";
    }
    const TemporaryFolder folder;
    write_text(folder / "cases.jsonl", cases);
    const ProcessOutput output = run_script("basic_tokenizer.py", {(folder / "cases.jsonl").string()});
    if (output.exit_code == 77) DEFT_SKIP("no python3 that knows Unicode 14");
    INFO(output.out);
    CHECK(output.exit_code == 0);
}

TEST_CASE("WordPiece encodes and decodes as Hugging Face does", "[bare][python]") {
    if (!golden::has_data(kBert)) DEFT_SKIP("no BERT vocabulary: set DEFT_DATA_MIRROR");
    const std::filesystem::path folder = golden::mirror() / kBert;
    const std::uint64_t seed = std::random_device()();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const std::shared_ptr<const WordPiece> readers[] = {load_wordpiece(folder, hugging_face_rules(false)),
                                                        load_wordpiece(folder, hugging_face_rules(true))};
    std::string cases;
    for (int i = 0; i < 3000; ++i) {
        const std::string text = random_bert_text(random);
        const bool lower = i % 3 != 0;
        const std::vector<std::int32_t> ids = readers[lower]->encode(text);
        const Json line = {{"text", text}, {"lower", lower}, {"ids", ids}, {"decoded", readers[lower]->decode(ids)}};
        cases += line.dump(-1, ' ', true) + "\n";
    }
    const TemporaryFolder scratch;
    write_text(scratch / "cases.jsonl", cases);
    const ProcessOutput output =
        run_script("huggingface_tokenizers.py", {"wordpiece", folder.string(), (scratch / "cases.jsonl").string()});
    if (output.exit_code == 77) DEFT_SKIP("no Python with the package tokenizers (name one in DEFT_PYTHON)");
    INFO(output.out);
    CHECK(output.exit_code == 0);
}

TEST_CASE("the longest piece is taken, and a word that does not fit is unknown as a whole", "[bare][python]") {
    const WordPiece wordpiece = tiny("un\nunaff\n##aff\n##able\n##a\n##b\n,\n");  // ids 5 ..
    using Ids = std::vector<std::int32_t>;
    CHECK(wordpiece.encode("unaffable") == Ids{6, 8});
    CHECK(wordpiece.encode("Unaff, unab") == Ids{6, 11, 5, 9, 10});
    CHECK(wordpiece.encode("unaffables un") == Ids{1, 5});
    CHECK(wordpiece.encode("unaffa\xC3\xA1 [MASK]") == Ids{6, 9, 9, 1, 1, 1});
    CHECK(wordpiece.encode("") == Ids{});
    CHECK(wordpiece.decode(Ids{2, 6, 8, 11, 5, 3}) == "[CLS] unaffable , un [SEP]");
    CHECK(wordpiece.continues_word(8));
    CHECK_FALSE(wordpiece.continues_word(6));
    CHECK_THROWS_WITH(wordpiece.decode(Ids{12}), ContainsSubstring("ids are 0 to 11"));
    const WordPiece cased = tiny("Un\nun\n\xC3\x89\n", {.words = {.lower_case = false}});
    CHECK(cased.encode("Un un UN \xC3\x89") == Ids{5, 6, 1, 7});
    CHECK(cased.sha256() != tiny("Un\nun\n\xC3\x89\n").sha256());
}

TEST_CASE("a word of more than a hundred characters is unknown", "[bare][python]") {
    const WordPiece wordpiece = tiny("a\n##a\n\xC3\xB8\n##\xC3\xB8\n");
    CHECK(wordpiece.encode(std::string(100, 'a')).size() == 100);
    CHECK(wordpiece.encode(std::string(101, 'a')) == std::vector<std::int32_t>{1});
    std::string wide;
    for (int i = 0; i < 100; ++i) wide += "\xC3\xB8";
    CHECK(wordpiece.encode(wide).size() == 100);
    CHECK(wordpiece.encode(wide + "\xC3\xB8") == std::vector<std::int32_t>{1});
}

TEST_CASE("an encoder that remembers words gives what a fresh one gives", "[bare][python]") {
    const std::uint64_t seed = std::random_device()();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const auto wordpiece =
        std::make_shared<const WordPiece>(tiny("the\ndon\n'\nt\n##ing\n\xCF\x83\n##e\n##\xCF\x82\n"));
    WordPieceEncoder encoder(wordpiece);
    for (int i = 0; i < 2000; ++i) {
        const std::string text = random_bert_text(random);
        std::vector<std::int32_t> tokens;
        encoder.encode(text, tokens);
        REQUIRE(tokens == wordpiece->encode(text));
    }
}

TEST_CASE("a vocab.txt that is none is refused with its line", "[bare][python]") {
    const auto refused = [](const std::string& text, const std::string& message) {
        CHECK_THROWS_WITH(parse_vocab_txt(text, "vocab.txt"), ContainsSubstring(message));
    };
    refused(kSpecials + "a\nb\na\n", "vocab.txt:8: token \"a\" is already on line 6");
    refused("[PAD]\r\n[UNK]\r\n", "vocab.txt:1: the line ends in CR LF");
    refused(kSpecials + "a\n\nb\n", "vocab.txt:7: an empty line");
    refused(kSpecials + "a\n\xC3\n", "vocab.txt:7: no valid UTF-8");
    refused("\xEF\xBB\xBF" + kSpecials, "byte order mark");
    refused("", "no token [PAD] among 0");
    for (const std::string missing : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}) {
        std::string text = kSpecials + "a\n";
        text.erase(text.find(missing), missing.size() + 1);
        refused(text, "no token " + missing + " among 5");
    }
    CHECK(parse_vocab_txt(kSpecials + "a", "").tokens.size() == 6);  // the last line may lack its line feed
    CHECK_THROWS_AS(read_vocab_txt("/nowhere/vocab.txt"), Error);
}

TEST_CASE("a vocab.txt that is written reads back", "[bare][python]") {
    const TemporaryFolder folder;
    const WordPieceVocabulary vocabulary = parse_vocab_txt("a\n" + kSpecials + "##\xC3\xA9\n", "");
    write_vocab_txt(vocabulary, folder / kVocabTxt);
    const auto read = load_wordpiece(folder / "");
    CHECK(read->vocabulary().tokens == vocabulary.tokens);
    CHECK(read->vocabulary().cls == 3);
}

TEST_CASE("random bytes neither crash the reader of vocab.txt nor the tokenizer", "[bare][python]") {
    const std::uint64_t seed = std::random_device()();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const WordPiece wordpiece = tiny("a\n##a\n");
    for (int i = 0; i < 3000; ++i) {
        std::string bytes = random() % 2 == 0 ? kSpecials : "";
        for (std::uint64_t left = random() % 200; left > 0; --left)
            bytes += static_cast<char>(random() % 4 == 0 ? "\n\r#[\xC3\xE4\xF0 "[random() % 8] : random());
        for (const std::int32_t id : wordpiece.encode(bytes)) REQUIRE((id >= 1 && id < wordpiece.vocab()));
        try {
            const WordPiece read(parse_vocab_txt(bytes, "vocab.txt"), {});
            REQUIRE(read.vocab() >= 5);
            read.decode(read.encode(bytes));
        } catch (const Error& error) {
            REQUIRE(error.kind() == ErrorKind::config);
        }
    }
}
