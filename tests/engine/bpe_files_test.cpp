// Tokenizer files: what is read, what is refused and where, what is written.

#include "engine/data/bpe/bpe_files.h"

#include <functional>

#include "base/json.h"
#include "engine/data/bpe/splitter.h"
#include "engine/data/tokenizer.h"
#include "tests/catch.h"
#include "tests/packed_text.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft::engine;
using deft::ErrorKind;
using deft::test::gzip;
using deft::test::read_text;
using deft::test::TemporaryFolder;
using deft::test::write_text;
using deft::test::zstd;

namespace {

// The bytes as ids 0 to 255, one a line from line 2 on, then these entries from line 258 on.
std::string vocab(const std::vector<std::string>& entries, int without = -1) {
    std::string text = "{\n";
    int id = 0;
    for (const unsigned char byte : bytes_in_alphabet_order()) {
        if (id != without)
            text +=
                deft::Json(spell(std::string(1, static_cast<char>(byte)))).dump() + ": " + std::to_string(id) + ",\n";
        ++id;
    }
    for (std::size_t i = 0; i < entries.size(); ++i) text += entries[i] + (i + 1 < entries.size() ? ",\n" : "\n");
    return text + "}\n";
}

const std::vector<std::string> kEntries = {R"("ab": 256)", R"("abc": 257)", R"("<|endoftext|>": 258)"};
constexpr const char* kMerges = "#version: 0.2\na b\nab c\n";

std::string wrong_bpe(ErrorKind kind, const std::string& vocab_json, const std::string& merges_txt) {
    const TemporaryFolder folder;
    write_text(folder / "vocab.json", vocab_json);
    write_text(folder / "merges.txt", merges_txt);
    return deft::test::refusal(kind, [&] { load_tokenizer(folder.path()); });
}

}  // namespace

TEST_CASE("the byte alphabet is GPT-2's") {
    CHECK(spell(" ") == "\xC4\xA0");
    CHECK(spell("\n") == "\xC4\x8A");
    CHECK(spell(std::string(1, '\0')) == "\xC4\x80");
    CHECK(spell("\xAD") == "\xC5\x83");  // the last of the 68
    CHECK(spell("a!~\xA1\xFF") == "a!~\xC2\xA1\xC3\xBF");
    const auto order = bytes_in_alphabet_order();
    CHECK((order[0] == 33 && order[93] == 126 && order[94] == 161 && order[105] == 172 && order[106] == 174));
    CHECK((order[187] == 255 && order[188] == 0 && order[220] == 32 && order[221] == 127 && order[255] == 173));
    std::string all;
    for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
    CHECK(unspell(spell(all)) == all);
    for (const char* foreign : {" ", "\n", "\xC5\x84", "\xE6\x97\xA5", "\xC2", "\xC2\xA0", "\xFF"})
        CHECK_FALSE(unspell(foreign).has_value());
}

TEST_CASE("a small vocabulary encodes by rank") {
    const TemporaryFolder folder;
    write_text(folder / "vocab.json", vocab(kEntries));
    write_text(folder / "merges.txt", "a b\r\nab c\r\n");  // no comment, Windows line ends
    const Tokenizer tokenizer = load_tokenizer(folder.path() / "");
    CHECK(tokenizer.name() == folder.path().filename());
    CHECK(tokenizer.vocab() == 259);
    CHECK(tokenizer.end_of_document() == 258);
    const std::int32_t a = 'a' - 33, b = 'b' - 33, c = 'c' - 33;
    CHECK(tokenizer.encode("abcabbca") == std::vector<std::int32_t>{257, 256, b, c, a});
    CHECK(tokenizer.decode(std::vector<std::int32_t>{257, 258, a}) == "abca");
    CHECK(tokenizer.token_bytes(257) == 3);
}

TEST_CASE("files that make no vocabulary are refused, each with its place") {
    CHECK(wrong_bpe(ErrorKind::config, vocab(kEntries), kMerges) == "accepted");
    const auto of_vocab = [](const std::string& text) { return wrong_bpe(ErrorKind::config, text, kMerges); };
    const auto of_merges = [](const std::string& text) { return wrong_bpe(ErrorKind::config, vocab(kEntries), text); };

    std::string without_b = vocab({R"("ab": 65)", R"("abc": 256)", R"("<|endoftext|>": 257)"}, 'b' - 33);
    CHECK_THAT(of_vocab(without_b), ContainsSubstring("no token for the byte 0x62"));
    CHECK_THAT(of_vocab(vocab({R"("ab": 256)", R"("abc": 256)", R"("<|endoftext|>": 258)"})),
               ContainsSubstring(R"(vocab.json:259: tokens "ab" and "abc" both have id 256)"));
    CHECK_THAT(of_vocab(vocab({R"("ab": 256)", R"("abc": 257)", R"("<|endoftext|>": 259)"})),
               ContainsSubstring("vocab.json:260: token \"<|endoftext|>\" has id 259, but 259 tokens"));
    CHECK_THAT(of_vocab(vocab({R"("ab": 256)", R"("ab": 257)", R"("<|endoftext|>": 258)"})),
               ContainsSubstring("vocab.json:259: token \"ab\" comes twice"));
    CHECK_THAT(of_vocab(vocab({R"("ab": 256)", R"("abc": 257)"})),
               ContainsSubstring(R"(help: add "<|endoftext|>": 258 as its last entry)"));
    CHECK_THAT(of_vocab(vocab({R"("a b": 256)", R"("abc": 257)", R"("<|endoftext|>": 258)"})),
               ContainsSubstring("vocab.json:258: token \"a b\" is not written in GPT-2's byte alphabet"));
    for (const char* value : {"-1", "1.5", "true", "null", R"("x")", "[1]", "{}"})
        CHECK_THAT(of_vocab(vocab({R"("ab": )" + std::string(value)})), ContainsSubstring("vocab.json:258: "));
    CHECK_THAT(of_vocab(vocab({R"("ab": 99999999999999999999)"})), ContainsSubstring("vocab.json:258: "));
    CHECK_THAT(of_vocab(vocab({"\"\xFF\": 256"})), ContainsSubstring("vocab.json:258: no valid JSON"));
    CHECK_THAT(of_vocab("[]"), ContainsSubstring("vocab.json:1: "));
    CHECK_THAT(of_vocab("7"), ContainsSubstring("vocab.json:1: "));
    CHECK_THAT(of_vocab(vocab({R"("ab": 256,)"})), ContainsSubstring("no valid JSON"));

    CHECK_THAT(of_merges("#version: 0.2\na b\nab z\n"), ContainsSubstring("merges.txt:3: this merge makes \"abz\""));
    CHECK_THAT(of_merges("#version: 0.2\na b\nzz c\n"), ContainsSubstring("merges.txt:3: \"zz\" is not in vocab.json"));
    CHECK_THAT(of_merges("#version: 0.2\nab c\na b\n"), ContainsSubstring("merges.txt:2: \"ab\" is not a single byte"));
    CHECK_THAT(of_merges("#version: 0.2\na b\na b\n"), ContainsSubstring("merges.txt:3: this merge comes twice"));
    CHECK_THAT(of_merges("#version: 0.2\na b\nab\n"), ContainsSubstring("merges.txt:3: a merge is two tokens"));
    CHECK_THAT(of_merges("#version: 0.2\n\na b\nab c\n"), ContainsSubstring("merges.txt:2: a merge is two tokens"));
    CHECK_THAT(of_merges("#version: 0.2\na b c\n"), ContainsSubstring("merges.txt:2: a merge is two tokens"));
    CHECK_THAT(of_merges("#version: 0.2\na b\n"),
               ContainsSubstring("vocab.json:259: token \"abc\" is not a single byte"));
    CHECK_THAT(of_merges(""), ContainsSubstring("vocab.json:258: token \"ab\""));
}

TEST_CASE("a tokenizer file that ends early or is missing is an I/O error") {
    const std::string whole = vocab(kEntries);
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{4}, whole.size() / 2, whole.size() - 3})
        CHECK_THAT(wrong_bpe(ErrorKind::io, whole.substr(0, bytes), kMerges), ContainsSubstring("ends early"));
    CHECK_THAT(wrong_bpe(ErrorKind::io, R"({"\u01)", kMerges), ContainsSubstring("ends early"));
    CHECK_THAT(wrong_bpe(ErrorKind::config, whole + "x", kMerges), ContainsSubstring("vocab.json:262: no valid JSON"));
    const TemporaryFolder folder;
    CHECK_THROWS_AS(load_tokenizer(folder.path()), deft::Error);
    CHECK_THROWS_AS(write_tokenizer(Tokenizer::bytes(), folder.path()), deft::Error);
}

TEST_CASE("packed tokenizer files are read as plain ones") {
    const TemporaryFolder folder;
    write_text(folder / "vocab.json", vocab(kEntries));
    write_text(folder / "merges.txt", kMerges);
    const Tokenizer plain = load_tokenizer(folder.path());
    std::filesystem::remove(folder / "vocab.json");
    std::filesystem::remove(folder / "merges.txt");
    write_text(folder / "vocab.json.gz", gzip(vocab(kEntries)));
    write_text(folder / "merges.txt.zst", zstd(kMerges));
    CHECK(load_tokenizer(folder.path()).sha256() == plain.sha256());
    write_text(folder / "merges.txt.zst", zstd("#version: 0.2\nab c\na b\n"));
    CHECK_THROWS_WITH(load_tokenizer(folder.path()),
                      ContainsSubstring("merges.txt.zst:2: \"ab\" is not a single byte"));
    write_text(folder / "merges.txt.zst", zstd(kMerges).substr(0, 9));
    CHECK_THROWS_WITH(load_tokenizer(folder.path()), ContainsSubstring("merges.txt.zst"));
}

TEST_CASE("tokenizer.json alone is the same tokenizer, and one of another kind is refused by name") {
    const TemporaryFolder folder;
    write_text(folder / "vocab.json", vocab(kEntries));
    write_text(folder / "merges.txt", kMerges);
    const Tokenizer pair = load_tokenizer(folder.path());
    write_tokenizer(pair, folder / "both");
    const std::string whole = read_text(folder / "both/tokenizer.json");
    std::filesystem::create_directory(folder / "single");
    const auto single = [&](const deft::Json& json) {
        write_text(folder / "single/tokenizer.json", json.dump());
        return load_tokenizer(folder / "single");
    };
    deft::Json json = deft::Json::parse(whole);
    CHECK(single(json).sha256() == pair.sha256());
    CHECK(bpe_files_in(folder / "single") == std::vector<std::filesystem::path>{folder / "single/tokenizer.json"});
    CHECK(bpe_files_in(folder / "both").size() == 2);
    // Newer versions write a merge as two texts, and list added tokens apart.
    for (deft::Json& merge : json["model"]["merges"]) {
        const auto text = merge.get<std::string>();
        merge = {text.substr(0, text.find(' ')), text.substr(text.find(' ') + 1)};
    }
    const std::int64_t end = pair.end_of_document();
    json["model"]["vocab"].erase(kEndOfText);
    json["added_tokens"].push_back({{"id", end + 1}, {"content", "<pad>"}});
    CHECK(single(json).sha256() == pair.sha256());

    const auto refused = [&](const char* pointer, const deft::Json& value) {
        deft::Json changed = deft::Json::parse(whole);
        changed[deft::Json::json_pointer(pointer)] = value;
        return deft::test::refusal([&] { single(changed); }, "tokenizer.json");
    };
    CHECK_THAT(refused("/model/type", "WordPiece"), ContainsSubstring("WordPiece"));
    CHECK_THAT(refused("/pre_tokenizer/add_prefix_space", true), ContainsSubstring("add_prefix_space"));
    CHECK_THAT(refused("/normalizer", {{"type", "NFC"}}), ContainsSubstring("normalizer"));
    CHECK_THAT(refused("/model/merges", 3), ContainsSubstring("laid out"));
    CHECK_THAT(refused("/model/vocab/a", 999), ContainsSubstring("holes"));
    write_text(folder / "single/tokenizer.json", "{");
    CHECK_THROWS_WITH(load_tokenizer(folder / "single"), ContainsSubstring("not valid JSON at line 1"));
}

TEST_CASE("tokens that only a trainer's padding needs are allowed and never made") {
    const TemporaryFolder folder;
    auto entries = kEntries;
    entries.push_back(R"("<pad>": 259)");
    write_text(folder / "vocab.json", vocab(entries));
    write_text(folder / "merges.txt", kMerges);
    const Tokenizer tokenizer = load_tokenizer(folder.path());
    CHECK(tokenizer.vocab() == 260);
    CHECK(tokenizer.encode("<pad>").size() == 5);
}

TEST_CASE("written files read back as the same tokenizer, whatever its folder") {
    const TemporaryFolder folder;
    write_text(folder / "vocab.json", vocab(kEntries));
    write_text(folder / "merges.txt", kMerges);
    const Tokenizer first = load_tokenizer(folder.path());
    write_tokenizer(first, folder / "copy");
    const Tokenizer second = load_tokenizer(folder / "copy");
    CHECK(second.name() == "copy");
    CHECK(second.sha256() == first.sha256());
    CHECK(read_text(folder / "copy/merges.txt") == kMerges);
    CHECK(deft::Json::parse(read_text(folder / "copy/vocab.json")) == deft::Json::parse(vocab(kEntries)));

    write_text(folder / "merges.txt", "#version: 0.2\na b\nb c\nab c\n");  // another encoding, another identity
    auto entries = kEntries;
    entries.push_back(R"("bc": 259)");
    write_text(folder / "vocab.json", vocab(entries));
    CHECK(load_tokenizer(folder.path()).sha256() != first.sha256());
    CHECK(Tokenizer::bytes().sha256() != first.sha256());
}
