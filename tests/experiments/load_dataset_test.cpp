// Text on disk to a prepared data set: documents, splits, damaged files, processes that race.

#include "experiments/datasets/packed_dataset.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <random>
#include <tuple>
#include <utility>

#include "base/json.h"
#include "base/sha256.h"
#include "experiments/datasets/corpus_source.h"
#include "experiments/datasets/difficulty.h"
#include "experiments/datasets/file_hashes.h"
#include "experiments/datasets/tokenize.h"
#include "tests/catch.h"
#include "tests/experiments/text_corpus.h"
#include "tests/packed_text.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"
#include "tests/with_variable.h"

using namespace deft;
using namespace deft::experiments;
using test::read_text;
using test::TemporaryFolder;
using test::text_data;
using test::write_text;

namespace fs = std::filesystem;

namespace {

// One JSON line a document.
std::string json_lines(const std::vector<std::string>& texts) {
    std::string lines;
    for (const std::string& text : texts) lines += Json{{"text", text}}.dump() + "\n";
    return lines;
}

std::vector<std::string> numbered_texts(int count) {
    std::vector<std::string> texts;
    for (int i = 0; i < count; ++i) texts.push_back("text number " + std::to_string(i));
    return texts;
}

std::string decoded(const engine::TokenCorpus& corpus, const engine::Tokenizer& tokenizer) {
    std::vector<std::int32_t> tokens;
    for (std::int64_t i = 0; i < corpus.tokens.size; ++i) tokens.push_back(corpus.tokens[i]);
    return tokenizer.decode(tokens);
}

}  // namespace

TEST_CASE("corpus files: empty files are refused, empty documents are left out", "[bare]") {
    const TemporaryFolder folder;
    write_text(folder / "empty.txt", "");
    write_text(folder / "a.txt", "some text");
    CHECK_THAT(test::refusal(
                   [&] { load_packed_dataset(text_data({"a.txt"}, {"empty.txt"}), folder.path(), folder / "data"); }),
               ContainsSubstring("empty.txt is empty"));
    write_text(folder / "a.jsonl", json_lines({"one", "", "two", "", "three"}));
    const PackedDataset dataset = load_packed_dataset(text_data({"a.jsonl"}), folder.path(), folder / "data");
    CHECK(dataset.train.documents + dataset.valid.documents == 3);
    CHECK(decoded(dataset.train, dataset.tokenizer) + decoded(dataset.valid, dataset.tokenizer) == "onetwothree");
}

TEST_CASE("the tokens to train on are known once the corpus is tokenised", "[bare]") {
    const TemporaryFolder folder;
    write_text(folder / "a.jsonl", json_lines({"one", "two", "three", "four"}));
    const DataConfig data = text_data({"a.jsonl"});
    const PackedDataset dataset = load_packed_dataset(data, folder.path(), folder / "data");
    CHECK(prepared_train_tokens(folder / "data", dataset.sha256) ==
          static_cast<std::int64_t>(dataset.train.tokens.size));
    CHECK(!prepared_train_tokens(folder / "data", std::string(64, '0')));
    CHECK(!prepared_train_tokens(folder / "elsewhere", dataset.sha256));
    write_text(prepared_folder(folder / "data", dataset.sha256) / "manifest.json", "{}");
    CHECK(!prepared_train_tokens(folder / "data", dataset.sha256));
    write_text(prepared_folder(folder / "data", dataset.sha256) / "manifest.json", "not JSON");
    CHECK(!prepared_train_tokens(folder / "data", dataset.sha256));
}

TEST_CASE("corpus files: a folder or a pattern names its texts, in the order of their names", "[bare]") {
    const TemporaryFolder folder;
    fs::create_directories(folder / "books" / "old [1]" / ".git");
    write_text(folder / "books" / "b.txt", "second");
    write_text(folder / "books" / "a.txt", "first");
    write_text(folder / "books" / "b.txt.gz", test::gzip("not this one"));
    write_text(folder / "books" / "c.txt.gz", test::gzip("third"));
    write_text(folder / "books" / "LICENSE", "no text of the corpus");
    write_text(folder / "books" / ".hidden.txt", "hidden");
    write_text(folder / "books" / "old [1]" / "z.jsonl", json_lines({"fourth", "fifth"}));
    write_text(folder / "books" / "old [1]" / ".git" / "x.txt", "hidden");
    write_text(folder / "v.txt", "valid");
    const auto train_text = [&](const std::string& name) {
        const PackedDataset dataset = load_packed_dataset(text_data({name}, {"v.txt"}), folder.path(), folder / "data");
        return decoded(dataset.train, dataset.tokenizer);
    };
    CHECK(train_text("books") == "firstsecondthirdfourthfifth");
    CHECK(train_text("books/") == "firstsecondthirdfourthfifth");
    CHECK(train_text((folder / "books").string()) == "firstsecondthirdfourthfifth");
    CHECK(train_text("books/*.txt") == "firstsecond");
    CHECK(train_text("books/[a-c].txt*") == "firstsecondthird");
    CHECK(train_text("books/old*/*") == "fourthfifth");
    CHECK(train_text((folder / "books").string() + "/?.txt") == "firstsecond");
    // A file is known by its text: the same as when each is named.
    const DataConfig whole = text_data({"books"}, {"v.txt"}),
                     named =
                         text_data({"books/a.txt", "books/b.txt", "books/c.txt", "books/old [1]/z.jsonl"}, {"v.txt"});
    CHECK(dataset_identity(whole, folder.path()).sha256 == dataset_identity(named, folder.path()).sha256);

    fs::create_directories(folder / "empty");
    CHECK_THAT(test::refusal([&] { train_text("empty"); }), ContainsSubstring("holds no .txt and no .jsonl file"));
    CHECK_THAT(test::refusal(ErrorKind::data, [&] { train_text("books/*.xyz"); }),
               ContainsSubstring("books/*.xyz is missing"));
    CHECK_THAT(test::refusal([&] { train_text("books/*"); }), ContainsSubstring("books/LICENSE has no extension"));
}

TEST_CASE("corpus files: what is neither text nor known is refused, not trained on", "[bare]") {
    const TemporaryFolder folder;
    write_text(folder / "v.txt", "valid");
    const auto refused = [&](const std::string& name, const std::string& content) {
        write_text(folder / name.c_str(), content);
        const std::string said =
            test::refusal([&] { load_packed_dataset(text_data({name}, {"v.txt"}), folder.path(), folder / "data"); });
        CHECK_THAT(said, ContainsSubstring(name));
        CHECK_FALSE(fs::exists(folder / "data"));
        return said;
    };
    CHECK_THAT(refused("a.json", "[{\"text\": \"a\"}]"),
               ContainsSubstring("the unknown extension .json") && ContainsSubstring(".jsonl"));
    CHECK_THAT(refused("a", "words"), ContainsSubstring("has no extension"));
    CHECK_THAT(refused("a.parquet", "PAR1"), ContainsSubstring("the unknown extension .parquet"));
    CHECK_THAT(refused("a.csv.gz", test::gzip("a,b")), ContainsSubstring("the unknown extension .csv"));
    CHECK_THAT(refused("le.txt", std::string("\xFF\xFEh\0i\0", 6)),
               ContainsSubstring("UTF-16") && ContainsSubstring("iconv"));
    CHECK_THAT(refused("be.txt", std::string("\xFE\xFF\0h\0i", 6)), ContainsSubstring("UTF-16"));
    CHECK_THAT(refused("packed.txt.gz", test::gzip(std::string("\xFF\xFEh\0i\0", 6))), ContainsSubstring("UTF-16"));
    CHECK_THAT(refused("unmarked.jsonl", std::string("{\0\"\0", 4)), ContainsSubstring("is not text"));
}

TEST_CASE("a limit of text is of the training text where files say what to validate on", "[bare]") {
    const TemporaryFolder folder;
    write_text(folder / "a.txt", "one\ntwo\nthree\n");
    write_text(folder / "b.txt", "four\n");
    write_text(folder / "v.txt", "validated\nwhole\n");
    DataConfig data = text_data({"a.txt", "b.txt"});
    data.valid_files = {"v.txt"};
    const auto parts_within = [&](std::int64_t bytes) {
        data.max_bytes = bytes;
        const PackedDataset dataset = load_packed_dataset(data, folder.path(), folder / "data");
        CHECK(decoded(dataset.valid, dataset.tokenizer) == "validated\nwhole\n");
        return decoded(dataset.train, dataset.tokenizer);
    };
    CHECK(parts_within(0) == "one\ntwo\nthree\nfour\n");
    CHECK(parts_within(4) == "one\n");
    CHECK(parts_within(9) == "one\ntwo\n");
    CHECK(parts_within(14) == "one\ntwo\nthree\n");
    CHECK(parts_within(15) == "one\ntwo\nthree\nf");
    CHECK(parts_within(13) == "one\ntwo\n");
    CHECK(parts_within(19) == "one\ntwo\nthree\nfour\n");
    // A line that is longer than the limit is cut between characters.
    CHECK(parts_within(2) == "on");
    write_text(folder / "a.txt", "\xE2\x82\xAC\xE2\x82\xAC");
    CHECK(parts_within(5) == "\xE2\x82\xAC");
}

TEST_CASE("corpus files: a text by itself is cut by the shares of the split, at the ends of lines", "[bare]") {
    const TemporaryFolder folder;
    std::string text;
    for (int i = 0; i < 100; ++i) text += "line " + std::to_string(i) + "\n";
    write_text(folder / "a.txt", text);
    DataConfig data = text_data({"a.txt"});
    data.split = {80, 15, 5};
    const auto parts = [&] {
        const PackedDataset dataset = load_packed_dataset(data, folder.path(), folder / "data");
        CHECK(dataset.train.documents == 1);
        CHECK(dataset.valid.documents == 1);
        return std::pair(decoded(dataset.train, dataset.tokenizer), decoded(dataset.valid, dataset.tokenizer));
    };
    auto [train, valid] = parts();
    CHECK(text.starts_with(train + valid + "line "));
    CHECK(train.ends_with("\n"));
    CHECK(std::abs(static_cast<double>(train.size()) - 0.8 * static_cast<double>(text.size())) < 10);
    CHECK(std::abs(static_cast<double>(valid.size()) - 0.15 * static_cast<double>(text.size())) < 10);
    data.split = {1, 1, 0};
    std::tie(train, valid) = parts();
    CHECK(train + valid == text);
    data.max_bytes = 50;
    std::tie(train, valid) = parts();
    CHECK(text.starts_with(train + valid));
    CHECK(train.size() + valid.size() == 50);
    // One line of characters of three bytes each: none is cut apart.
    data.max_bytes = 0;
    text.clear();
    for (int i = 0; i < 10; ++i) text += "\xE2\x82\xAC";
    write_text(folder / "a.txt", text);
    std::tie(train, valid) = parts();
    CHECK(train.size() == 15);
    CHECK(train + valid == text);
    // Several documents stay separate; tokenising alone divides nothing.
    write_text(folder / "b.txt", "b");
    CHECK(load_packed_dataset(text_data({"a.txt", "b.txt"}), folder.path(), folder / "data").train.tokens.size == 31);
    const CorpusSource source = corpus_source(data, folder.path());
    CHECK(write_tokens(source, data, engine::Tokenizer::bytes(), folder / "out", {}).documents == 1);
}

TEST_CASE("corpus files: invalid UTF-8 is tokenised losslessly", "[bare]") {
    const unsigned seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    std::string text = "caf\xc3\xa9 \xc3\x28 \xff\xfe\x80 \xed\xa0\x80 \xf4\x90\x80\x80 tail \xe2\x82";
    for (int i = 0; i < 3000; ++i) text.push_back(static_cast<char>(random()));
    const TemporaryFolder folder;
    write_text(folder / "a.txt", text);
    write_text(folder / "v.txt", "valid");
    DataConfig data = text_data({"a.txt"}, {"v.txt"});
    for (const char* tokenizer : {"bytes", "bpe"}) {
        INFO(tokenizer);
        data.tokenizer = tokenizer;
        data.vocab = std::string(tokenizer) == "bpe" ? 300 : 0;
        const PackedDataset dataset = load_packed_dataset(data, folder.path(), folder / "data");
        CHECK(decoded(dataset.train, dataset.tokenizer) == text);
        CHECK(dataset.train.bytes == static_cast<std::int64_t>(text.size()));
    }
}

TEST_CASE("data sets: 949, 50, 1 over few documents leaves at least one for each", "[bare]") {
    const TemporaryFolder folder;
    struct Expected {
        int documents;
        std::int64_t train, valid;
    };
    // border(949) = round(n * 0.949), border(999) = round(n * 0.999), then at least one each.
    for (const Expected& e : {Expected{2, 1, 1},
                              {3, 2, 1},
                              {5, 4, 1},
                              {10, 9, 1},
                              {20, 19, 1},
                              {40, 38, 2},
                              {500, 475, 25},
                              {501, 475, 25},
                              {1000, 949, 50}}) {
        INFO(e.documents << " documents");
        write_text(folder / "a.jsonl", json_lines(numbered_texts(e.documents)));
        const PackedDataset dataset = load_packed_dataset(text_data({"a.jsonl"}), folder.path(), folder / "data");
        CHECK(dataset.train.documents == e.train);
        CHECK(dataset.valid.documents == e.valid);
        const std::string valid = decoded(dataset.valid, dataset.tokenizer);
        CHECK(valid.rfind("text number " + std::to_string(e.train), 0) == 0);
    }
    write_text(folder / "a.jsonl", json_lines({"alone"}));
    CHECK_THAT(test::refusal([&] { load_packed_dataset(text_data({"a.jsonl"}), folder.path(), folder / "data"); }),
               ContainsSubstring("a split needs two"));
}

TEST_CASE("data sets: a corpus shorter than a sample has none", "[bare]") {
    const TemporaryFolder folder;
    write_text(folder / "a.jsonl", json_lines({"abc", "def"}));
    const PackedDataset dataset = load_packed_dataset(text_data({"a.jsonl"}), folder.path(), folder / "data");
    CHECK(dataset.train.tokens.size == 4);  // with the mark
    CHECK(dataset.train.samples(3) == 1);
    CHECK(dataset.train.samples(4) == 0);
    CHECK(load_difficulty(dataset_of(dataset, 4), "voc").samples() == 0);
    CHECK(load_difficulty(dataset_of(dataset, 3), "voc").samples() == 1);
}

TEST_CASE("data sets: a text that has changed since it was planned is refused, unless it was prepared in time",
          "[bare]") {
    const TemporaryFolder folder;
    write_text(folder / "a.jsonl", json_lines({"one", "two"}));
    DataConfig data = text_data({"a.jsonl"});
    data.sha256 = dataset_identity(data, folder.path()).sha256;
    load_packed_dataset(data, folder.path(), folder / "data");
    write_text(folder / "a.jsonl", json_lines({"one", "three"}));
    CHECK_THAT(test::refusal([&] { load_packed_dataset(data, folder.path(), folder / "new"); }),
               ContainsSubstring("has changed"));
    CHECK_FALSE(fs::exists(folder / "new"));
    // A prepared corpus is opened without its text.
    fs::remove(folder / "a.jsonl");
    const PackedDataset planned = load_packed_dataset(data, folder.path(), folder / "data");
    CHECK(planned.sha256 == data.sha256);
    CHECK(decoded(planned.train, planned.tokenizer) + decoded(planned.valid, planned.tokenizer) == "onetwo");
    data.sha256.clear();
    CHECK_THAT(test::refusal(ErrorKind::data, [&] { load_packed_dataset(data, folder.path(), folder / "data"); }),
               ContainsSubstring("a.jsonl"));
}

TEST_CASE("data sets: a mirror's file of another hash is refused, and leaves no data set", "[bare]") {
    const TemporaryFolder folder;
    fs::create_directories(folder / "corpora/imdb");
    write_text(folder / "corpora/imdb/imdb_train_10k.jsonl", json_lines({"not the film reviews", "at all"}));
    const test::WithVariable mirror("DEFT_DATA_MIRROR", folder.path().string());
    DataConfig data;
    data.corpus = "imdb";
    CHECK_THAT(test::refusal(ErrorKind::io, [&] { load_packed_dataset(data, ".", folder / "data"); }),
               ContainsSubstring("is expected of corpora/imdb") && ContainsSubstring("get the file again"));
    const std::string sha = dataset_identity(data, ".").sha256;
    CHECK_FALSE(fs::exists(folder / "data" / sha.substr(0, 16)));
    data.corpus = "gpt2";
    CHECK_THAT(test::refusal([&] { load_packed_dataset(data, ".", folder / "data"); }),
               ContainsSubstring("not a corpus"));
}

TEST_CASE("data sets: two processes prepare one folder", "[bare]") {
    const TemporaryFolder folder;
    std::vector<std::string> texts = numbered_texts(3000);
    write_text(folder / "a.jsonl", json_lines(texts));
    DataConfig data = text_data({"a.jsonl"});
    data.tokenizer = "bpe";
    data.vocab = 270;
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            int status = 1;
            try {
                status = load_packed_dataset(data, folder.path(), folder / "data").train.documents == 2847 ? 0 : 2;
            } catch (...) {
            }
            _exit(status);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = -1;
        waitpid(child, &status, 0);
        CHECK(status == 0);
    }
    int prepared = 0;
    for (const auto& entry : fs::directory_iterator(folder / "data")) {
        INFO(entry.path().string());
        CHECK(entry.path().extension() != ".part");
        prepared += fs::is_directory(entry.path());
    }
    CHECK(prepared == 1);
}

TEST_CASE("data sets: a prepared folder that is damaged is recreated, and its note says so", "[bare]") {
    const TemporaryFolder folder;
    write_text(folder / "a.jsonl", json_lines(numbered_texts(50)));
    DataConfig data = text_data({"a.jsonl"});
    data.tokenizer = "bpe";
    data.vocab = 270;
    data.sha256 = dataset_identity(data, folder.path()).sha256;
    std::string said;
    const auto load = [&] {
        said.clear();
        return load_packed_dataset(data, folder.path(), folder / "data",
                                   [&](const std::string& what, double) { said += what; });
    };
    const PackedDataset first = load();
    CHECK(first.note.empty());
    const std::string text = decoded(first.train, first.tokenizer) + decoded(first.valid, first.tokenizer);
    const auto check_regenerated = [&] {
        const PackedDataset dataset = load();
        CHECK_THAT(dataset.note, ContainsSubstring("damaged") && ContainsSubstring("recreated"));
        CHECK_THAT(said, ContainsSubstring(dataset.note));
        CHECK(decoded(dataset.train, dataset.tokenizer) + decoded(dataset.valid, dataset.tokenizer) == text);
        CHECK(load().note.empty());
    };
    for (const char* name : {"tokens.bin", "tokens.idx", "manifest.json", "tokenizer/merges.txt"}) {
        const std::string whole = read_text(first.folder / name);
        for (const std::size_t size : {whole.size() - 2, whole.size() / 2, std::size_t{0}}) {
            INFO(name << " cut to " << size);
            write_text(first.folder / name, whole.substr(0, size));
            check_regenerated();
        }
    }
    fs::remove(first.folder / "tokens.bin");
    check_regenerated();
    // Files derived from the tokens are derived again.
    load_difficulty(dataset_of(load(), 8), "voc");
    write_text(first.folder / "tokens.idx", "");
    check_regenerated();
    CHECK_FALSE(fs::exists(first.folder / "difficulty"));

    Json manifest = Json::parse(read_text(first.folder / "manifest.json"));
    manifest["documents"]["train"] = {0, 3};
    write_text(first.folder / "manifest.json", manifest.dump());
    check_regenerated();
}

TEST_CASE("data sets: tokens that were altered are never trained on", "[bare]") {
    const TemporaryFolder folder;
    write_text(folder / "a.jsonl", json_lines(numbered_texts(500)));
    DataConfig data = text_data({"a.jsonl"});
    data.sha256 = dataset_identity(data, folder.path()).sha256;
    const PackedDataset first = load_packed_dataset(data, folder.path(), folder / "data");
    const std::string whole = read_text(first.folder / "tokens.bin");
    std::string altered = whole;
    for (std::size_t i = whole.size() / 2; i < whole.size(); i += 2) altered[i] = 'x';  // every token still is one
    write_text(first.folder / "tokens.bin", altered);
    CHECK_THAT(load_packed_dataset(data, folder.path(), folder / "data").note,
               ContainsSubstring("block 1 of 1 of tokens.bin is not what was written"));
    CHECK(read_text(first.folder / "tokens.bin") == whole);

    // Without its text it stays as it is, and is refused.
    altered[whole.size() / 2] = 'y';
    write_text(first.folder / "tokens.bin", altered);
    fs::remove(folder / "a.jsonl");
    const auto load = [&] { load_packed_dataset(data, folder.path(), folder / "data"); };
    CHECK_THAT(test::refusal(ErrorKind::io, load), ContainsSubstring("tokens.bin is not what was written") &&
                                                       ContainsSubstring("a.jsonl") &&
                                                       ContainsSubstring("delete the folder"));
    CHECK(read_text(first.folder / "tokens.bin") == altered);
}

TEST_CASE("data sets: what an older deft prepared is held to what it is when it is first opened", "[bare]") {
    const TemporaryFolder folder;
    write_text(folder / "a.jsonl", json_lines(numbered_texts(50)));
    const DataConfig data = text_data({"a.jsonl"});
    const fs::path prepared = load_packed_dataset(data, folder.path(), folder / "data").folder;
    Json manifest = Json::parse(read_text(prepared / "manifest.json"));
    for (const char* key : {"block_sha256", "manifest_sha256"}) REQUIRE(manifest.erase(key) == 1);
    write_text(prepared / "manifest.json", manifest.dump());
    CHECK(load_packed_dataset(data, folder.path(), folder / "data").note.empty());
    CHECK(Json::parse(read_text(prepared / "manifest.json")).contains("block_sha256"));
    std::string altered = read_text(prepared / "tokens.bin");
    altered[0] = altered[0] == 'x' ? 'y' : 'x';
    write_text(prepared / "tokens.bin", altered);
    CHECK_FALSE(load_packed_dataset(data, folder.path(), folder / "data").note.empty());
}

TEST_CASE("block hashes name the first block that differs", "[bare]") {
    const TemporaryFolder folder;
    const fs::path file = folder / "f";
    write_text(file, "aaaabbbbcc");
    const std::vector<std::string> hashes = block_hashes(file, 4);
    CHECK(hashes == std::vector<std::string>{sha256("aaaa"), sha256("bbbb"), sha256("cc")});
    CHECK_FALSE(difference_from(file, hashes, 4));
    write_text(file, "aaaabbxbcc");
    CHECK(difference_from(file, hashes, 4) == "block 2 of 3 of f is not what was written");
    write_text(file, "aaaabbbb");
    CHECK_THAT(difference_from(file, hashes, 4).value(), ContainsSubstring("2 blocks") && ContainsSubstring("3 were"));
    write_text(file, "");
    CHECK(block_hashes(file, 4).empty());
}

TEST_CASE("data sets: a named tokenizer's files may be packed", "[bare]") {
    const TemporaryFolder folder;
    write_text(folder / "a.jsonl", json_lines(numbered_texts(50)));
    DataConfig data = text_data({"a.jsonl"});
    data.tokenizer = "bpe";
    data.vocab = 270;
    const engine::Tokenizer trained = load_packed_dataset(data, folder.path(), folder / "data").tokenizer;
    engine::write_tokenizer(trained, folder / "plain");
    fs::create_directory(folder / "packed");
    for (const char* name : {"vocab.json", "merges.txt"})
        write_text(folder / "packed" / (std::string(name) + ".gz"), test::gzip(read_text(folder / "plain" / name)));
    data.tokenizer = "packed";
    data.vocab = 0;
    const PackedDataset dataset = load_packed_dataset(data, folder.path(), folder / "data");
    CHECK(dataset.tokenizer.sha256() == trained.sha256());
    CHECK(dataset.tokenizer.name() == "packed");
}

TEST_CASE("tokenising: what is written is what was read", "[bare]") {
    const TemporaryFolder folder;
    write_text(folder / "a.jsonl", json_lines({"one", "", "three"}));
    const DataConfig data = text_data({"a.jsonl"});
    const CorpusSource source = corpus_source(data, folder.path());
    const engine::Tokenizer tokenizer = engine::Tokenizer::bytes();
    const Tokenized done = write_tokens(source, data, tokenizer, folder / "out", {});
    CHECK(done.documents == 2);
    CHECK(done.bytes == 8);
    CHECK(done.tokens == 10);
    DataConfig indexed;
    indexed.corpus = "indexed";
    indexed.train_files = {"out"};
    const PackedDataset dataset = load_packed_dataset(indexed, folder.path(), folder / "data");
    CHECK(decoded(dataset.train, tokenizer) == "one");
    CHECK(decoded(dataset.valid, tokenizer) == "three");
    indexed.sha256 = std::string(64, '0');
    CHECK_THAT(test::refusal([&] { load_packed_dataset(indexed, folder.path(), folder / "data"); }),
               ContainsSubstring("has changed"));
}

TEST_CASE("a token shard of llm.c is an indexed dataset, by documents or beside one to validate on", "[bare]") {
    const TemporaryFolder folder;
    const auto write_shard = [&](const char* name, const std::string& text) {
        std::vector<std::int32_t> header(256);
        header[0] = 20240520;
        header[1] = 1;
        std::vector<std::uint16_t> tokens;
        for (const char c : text) tokens.push_back(c == '|' ? 256 : static_cast<unsigned char>(c));
        header[2] = static_cast<std::int32_t>(tokens.size());
        write_text(folder / name, std::string(reinterpret_cast<const char*>(header.data()), 1024) +
                                      std::string(reinterpret_cast<const char*>(tokens.data()), 2 * tokens.size()));
    };
    write_shard("train.bin", "|one|two|three");
    write_shard("valid.bin", "|four");
    DataConfig data;
    data.corpus = "indexed";
    data.train_files = {"train.bin"};
    data.split = {2, 1, 0};
    const engine::Tokenizer bytes = engine::Tokenizer::bytes();
    const PackedDataset divided = load_packed_dataset(data, folder.path(), folder / "data");
    CHECK(decoded(divided.train, bytes) == "onetwo");
    CHECK(decoded(divided.valid, bytes) == "three");
    CHECK(divided.train.bytes == 6);
    CHECK(divided.train.documents == 2);
    data.valid_files = {"valid.bin"};
    const PackedDataset two = load_packed_dataset(data, folder.path(), folder / "data");
    CHECK(decoded(two.train, bytes) == "onetwothree");
    CHECK(decoded(two.valid, bytes) == "four");
    CHECK(two.sha256 != divided.sha256);
    write_shard("valid.bin", "|five");
    CHECK(packed_identity(data, folder.path()).sha256 != two.sha256);
    // A list is one corpus, in its order: its second shard begins within the last document of the first.
    write_shard("more.bin", " and a half|four");
    DataConfig list = data;
    list.train_files = {"train.bin", "more.bin"};
    const PackedDataset longer = load_packed_dataset(list, folder.path(), folder / "data");
    CHECK(decoded(longer.train, bytes) == "onetwothree and a halffour");
    CHECK(longer.train.documents == 4);
    CHECK(longer.name == "train.bin + more.bin");
    CHECK(decoded(longer.valid, bytes) == "five");
    DataConfig other = list;
    std::swap(other.train_files[0], other.train_files[1]);
    CHECK(packed_identity(other, folder.path()).sha256 != longer.sha256);
    // Training and validation data have separate hashes, though the files are the same in the same order.
    other = data;
    other.valid_files = {"more.bin", "valid.bin"};
    CHECK(packed_identity(other, folder.path()).sha256 != longer.sha256);
    CHECK(decoded(load_packed_dataset(other, folder.path(), folder / "data").valid, bytes) == " and a halffourfive");
    list.valid_files.clear();
    list.split = {3, 1, 0};
    const PackedDataset shared = load_packed_dataset(list, folder.path(), folder / "data");
    CHECK(decoded(shared.train, bytes) == "onetwothree and a half");
    CHECK(decoded(shared.valid, bytes) == "four");
    list.train_files = {"train.bin", "prefix"};
    CHECK_THAT(test::refusal(ErrorKind::config, [&] { load_packed_dataset(list, folder.path(), folder / "data"); }),
               ContainsSubstring("of train.bin, prefix some are token shards of llm.c and others are not"));

    write_text(folder / "valid.bin", "no shard");
    CHECK_THAT(test::refusal([&] { load_packed_dataset(data, folder.path(), folder / "data"); }),
               ContainsSubstring("valid.bin is not a token shard of llm.c"));
    write_shard("valid.bin", "|x");
    fs::resize_file(folder / "train.bin", 1030);
    CHECK_THAT(test::refusal(ErrorKind::io, [&] { load_packed_dataset(data, folder.path(), folder / "data"); }),
               ContainsSubstring("1030 bytes where its header"));
}
