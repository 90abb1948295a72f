// How the files of a corpus become documents.

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "engine/data/bpe/bpe_trainer.h"
#include "engine/data/indexed_dataset.h"
#include "experiments/datasets/corpus_source.h"
#include "experiments/datasets/file_reader.h"
#include "experiments/datasets/tokenize.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::experiments;
using test::TemporaryFolder;
using test::write_text;

namespace fs = std::filesystem;

namespace {

// The documents that a reader finds in a text.
std::vector<std::string> documents(DocumentReader reader, const std::string& text, const std::string& sha256 = "") {
    const TemporaryFolder folder;
    write_text(folder / "a", text);
    CorpusSource source;
    source.files.push_back({"a", folder / "a", reader, Split::divided, sha256});
    std::vector<std::string> found;
    for_each_document(source, {}, [&](const DocumentPart& part) {
        if (part.begins) found.emplace_back();
        found.back() += part.text;
        return true;
    });
    return found;
}

}  // namespace

TEST_CASE("corpus files: what a document is") {
    using Texts = std::vector<std::string>;
    CHECK(documents(DocumentReader::text, "a\n\nb\n") == Texts{"a\n\nb\n"});
    CHECK(documents(DocumentReader::lines, "a\n\n \nb c\nd") == Texts{"a", "b c", "d"});
    CHECK(documents(DocumentReader::paragraphs, "\n\na\nb\n\n \t\nc\n\nd") == Texts{"a\nb\n", "c\n", "d\n"});
    CHECK(documents(DocumentReader::jsonl, "{\"text\":\"a\\nb\"}\n\n{\"id\":1,\"text\":\"\"}\n{\"text\":\"c\"}") ==
          Texts{"a\nb", "", "c"});
    CHECK(documents(DocumentReader::wikitext,
                    " \n = One = \n \n words . \n = = Part = = \n more \n \n = Two = \n \n x \n") ==
          Texts{" \n = One = \n \n words . \n = = Part = = \n more \n \n", " = Two = \n \n x \n"});
    CHECK_THROWS_WITH(document_reader("csv"), ContainsSubstring("csv"));
}

TEST_CASE("corpus files: every reader hashes the whole text") {
    const std::string text = " = One = \n\n{\"text\": \"a\"}\n\n \nb";
    for (const DocumentReader reader :
         {DocumentReader::text, DocumentReader::lines, DocumentReader::paragraphs, DocumentReader::wikitext}) {
        INFO(static_cast<int>(reader));
        CHECK_FALSE(documents(reader, text, sha256(text)).empty());
        CHECK_THAT(test::refusal(ErrorKind::io, [&] { documents(reader, text, sha256(text + "\n")); }),
                   ContainsSubstring("is expected of a"));
    }
}

TEST_CASE("corpus files: a line of JSON without text is named by file and line") {
    const std::pair<const char*, const char*> lines[] = {{"{\"txt\":\"b\"}", "has no \"text\""},
                                                         {"[\"text\"]", "is a JSON array, not an object"},
                                                         {"{\"text\":5}", "\"text\" is a JSON number"},
                                                         {"{\"text\":\"b", "not valid JSON at line 1, column 11"},
                                                         {"\"text\"", "is a JSON string, not an object"},
                                                         {"{\"text\":null}", "\"text\" is a JSON null"},
                                                         {R"({"text":"a \ud83d b"})", "one half of a surrogate pair"}};
    for (const auto& [line, why] : lines)
        CHECK_THAT(
            test::refusal(ErrorKind::io,
                          [&] { documents(DocumentReader::jsonl, std::string("{\"text\":\"a\"}\n\n") + line + "\n"); }),
            ContainsSubstring("/a:3: ") && ContainsSubstring(why));
    CHECK_THAT(test::refusal(ErrorKind::io, [&] { documents(DocumentReader::jsonl, "{\"text\":\"\xff\"}\n"); }),
               ContainsSubstring("/a:1:"));
}

TEST_CASE("corpus files: what Python writes beside a text leaves the text as it is") {
    for (const char* other : {"NaN", "-Infinity", "Infinity", R"("\ud83d")", R"("\\")", R"([NaN, "\udc00 NaN"])"})
        CHECK(documents(DocumentReader::jsonl,
                        std::string(R"({"score": )") + other + R"(, "text": "NaN \ud83d\ude00"})") ==
              std::vector<std::string>{"NaN \xF0\x9F\x98\x80"});
}

TEST_CASE("corpus files: a byte order mark is not text, and UTF-16 is refused") {
    const std::string mark = "\xEF\xBB\xBF";
    for (const DocumentReader reader :
         {DocumentReader::text, DocumentReader::lines, DocumentReader::paragraphs, DocumentReader::wikitext}) {
        CHECK(documents(reader, mark + "a\n", sha256(mark + "a\n")) == documents(reader, "a\n"));
        for (const std::string& utf16 : {std::string("\xFF\xFE"
                                                     "a\0",
                                                     4),
                                         std::string("\xFE\xFF\0a", 4)})
            CHECK_THAT(test::refusal(ErrorKind::io, [&] { documents(reader, utf16); }),
                       ContainsSubstring("UTF-16") && ContainsSubstring("iconv"));
    }
    CHECK(documents(DocumentReader::jsonl, mark + R"({"text": "a"})") == std::vector<std::string>{"a"});
}

TEST_CASE("corpus files: a character that Unicode leaves unassigned is text") {
    for (const char* text : {R"({"text": "a \ufffe b"})", "{\"text\": \"a \xEF\xBF\xBE b\"}"})
        CHECK(documents(DocumentReader::jsonl, text) == std::vector<std::string>{"a \xEF\xBF\xBE b"});
}

namespace {

// Tokens of a text file as they are written, and the text's beginning of max_bytes.
std::vector<std::int32_t> written(const fs::path& folder, const engine::Tokenizer& tokenizer, DataConfig data,
                                  Split split) {
    CorpusSource source;
    source.files.push_back({"a.txt", folder / "a.txt", DocumentReader::text, split, ""});
    write_tokens(source, data, tokenizer, folder / "out", {});
    const engine::IndexedDataset tokens(folder / "out");
    std::vector<std::int32_t> all;
    const engine::TokenSpan span = tokens.tokens();
    for (std::int64_t i = 0; i < span.size; ++i) all.push_back(span[i]);
    return all;
}

}  // namespace

TEST_CASE("corpus files: a text in parts has the tokens of the whole") {
    const TemporaryFolder folder;
    const std::string words[] = {
        "the ",  "cat",  " sat\n", "\n\n",           "  ",  "\xE4\xBD\xA0\xE5\xA5\xBD\xE3\x80\x82\n", "\xC2\xA0",
        "it's ", "1234", "\t",     "\xE2\x80\x83\n", "!?\n"};
    const std::uint32_t seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    for (const bool has_lines : {true, false}) {
        std::string text;
        while (text.size() < 2 * kPartBytes + 1000) {
            const std::string& word = words[random() % std::size(words)];
            if (has_lines || word.find('\n') == std::string::npos) text += word;
        }
        write_text(folder / "a.txt", text);
        const std::vector<std::string_view> views = {std::string_view(text).substr(0, 20'000)};
        const engine::Tokenizer bpe(std::make_shared<const engine::Bpe>(engine::train_bpe(views, 300)), "bpe-300");
        for (const engine::Tokenizer& tokenizer : {engine::Tokenizer::bytes(), bpe}) {
            std::vector<std::int32_t> whole = tokenizer.encode(text);
            whole.push_back(tokenizer.end_of_document());
            CHECK((written(folder.path(), tokenizer, {}, Split::train) == whole));
        }
    }
}

TEST_CASE("corpus files: max_bytes cuts a long text at the end of a line, wherever its parts end") {
    const TemporaryFolder folder;
    std::string text;
    for (int i = 0; i < 90'000; ++i) text += std::string(100, static_cast<char>('a' + i % 26)) + "\n";
    write_text(folder / "a.txt", text);
    for (const Split split : {Split::train, Split::divided})
        for (const std::int64_t most : {std::int64_t{4'000'000}, std::int64_t{4} << 20, std::int64_t{8} << 20}) {
            DataConfig data;
            data.max_bytes = most;
            const std::int64_t lines = most / 101;
            CHECK(std::ssize(written(folder.path(), engine::Tokenizer::bytes(), data, split)) == lines * 101 + 1);
        }
}
