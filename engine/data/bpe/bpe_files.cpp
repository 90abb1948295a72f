#include "engine/data/bpe/bpe_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "engine/data/bpe/splitter.h"
#include "engine/data/bpe/tokenizer_json.h"

namespace deft::engine {

namespace {

struct VocabEntry {
    std::string spelling;  // UTF-8, as in the file
    std::int64_t id = 0;
    int line = 0;
};

// Reads characters and leaves where it is in `at`, since the JSON library gives its handlers no position.
struct TracingIterator {
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    const char* next;
    const char** at;

    const char& operator*() const { return *next; }
    TracingIterator& operator++() {
        *at = ++next;
        return *this;
    }
    TracingIterator operator++(int) {
        const TracingIterator before = *this;
        ++*this;
        return before;
    }
    bool operator==(const TracingIterator& other) const { return next == other.next; }
    bool operator!=(const TracingIterator& other) const { return next != other.next; }
};

// Takes the events of the JSON library's parser; anything but an object of integers is an error.
class VocabHandler {
 public:
    VocabHandler(const std::filesystem::path& file, const std::string& text)
        : file_(file), text_(text), at_(text.data()), counted_(text.data()) {}

    TracingIterator begin() { return {text_.data(), &at_}; }
    TracingIterator end() { return {text_.data() + text_.size(), &at_}; }
    std::vector<VocabEntry> take() { return std::move(entries_); }

    bool start_object(std::size_t) {
        if (inside_) unfit("an object");
        inside_ = true;
        return true;
    }
    bool end_object() { return true; }
    bool key(std::string& spelling) {
        line_ += static_cast<int>(std::count(counted_, at_, '\n'));
        counted_ = at_;
        entries_.push_back({std::move(spelling), 0, line_});
        return true;
    }
    bool number_unsigned(std::uint64_t id) {
        if (!inside_) return unfit("a number");
        entries_.back().id = static_cast<std::int64_t>(std::min<std::uint64_t>(id, INT64_MAX));
        return true;
    }
    bool number_integer(std::int64_t) { return unfit("a negative number"); }
    bool number_float(double, const std::string&) { return unfit("a broken number"); }
    bool null() { return unfit("null"); }
    bool boolean(bool) { return unfit("a truth value"); }
    bool string(const std::string&) { return unfit("a string"); }
    bool binary(const std::vector<std::uint8_t>&) { return unfit("binary data"); }
    bool start_array(std::size_t) { return unfit("a list"); }
    bool end_array() { return true; }
    [[noreturn]] bool parse_error(std::size_t, const std::string&, const Json::exception& error) {
        const Place place{file_, 1 + static_cast<int>(std::count(text_.data(), at_, '\n'))};
        const std::string_view what = error.what();
        const bool open_string = at_ == text_.data() + text_.size() && what.find("invalid string") != what.npos;
        const bool truncated = text_.empty() || open_string || what.find("unexpected end of input") != what.npos;
        if (truncated) throw Error(ErrorKind::io, place, "the file ends early", "copy or download the file again");
        throw Error(ErrorKind::config, place, "no valid JSON", R"(it must read {"token": id, ...}, in UTF-8)");
    }

 private:
    [[noreturn]] bool unfit(const char* found) {
        const Place place{file_, inside_ && !entries_.empty() ? entries_.back().line : 1};
        const std::string where =
            inside_ && !entries_.empty() ? fmt::format(" at \"{}\"", entries_.back().spelling) : "";
        throw Error(ErrorKind::config, place,
                    fmt::format("{}{}: a vocabulary gives each token a whole number", found, where),
                    R"(it must read {"token": id, ...})");
    }

    std::string file_;
    const std::string& text_;
    const char* at_;       // what the parser has read
    const char* counted_;  // lines are counted up to here
    int line_ = 1;
    bool inside_ = false;
    std::vector<VocabEntry> entries_;
};

// In the file's order; the file may be packed (.gz, .zst). Errors: io, where it cannot be read or ends early; config,
// where it is not a JSON object of integers.
std::vector<VocabEntry> read_vocab_json(const std::filesystem::path& file) {
    const std::string text = read_text_file(file);
    VocabHandler handler(file, text);
    Json::sax_parse(handler.begin(), handler.end(), &handler);
    return handler.take();
}

namespace fs = std::filesystem;

[[noreturn]] void refuse_bpe(const Place& place, const std::string& what, const std::string& fix = {}) {
    throw Error(ErrorKind::config, place, what, fix);
}

// Where neither is there, the plain one, for the message of who reads it.
fs::path plain_or_packed(const fs::path& file) {
    return find_text_file(file).value_or(file);
}

// tokenizer.json where it is there without the pair that read_bpe() takes first.
std::optional<fs::path> single_file(const fs::path& folder) {
    if (find_text_file(folder / kBpeFiles[0]) || find_text_file(folder / kBpeFiles[1])) return {};
    return find_text_file(folder / kBpeFiles[2]);
}

constexpr const char* kTakeBoth = "take vocab.json and merges.txt from one source, whole";

// Builds the vocabulary in the files' order and refuses at the first line that does not fit.
class Reader {
 public:
    explicit Reader(const fs::path& folder)
        : vocab_file_(plain_or_packed(folder / kBpeFiles[0])), merges_file_(plain_or_packed(folder / kBpeFiles[1])) {
        const std::optional<fs::path> single = single_file(folder);
        if (!single) {
            entries_ = read_vocab_json(vocab_file_);
            merges_ = read_text_file(merges_file_);
            return;
        }
        TokenizerJson read = read_tokenizer_json(*single);
        for (auto& [spelling, id] : read.vocab) entries_.push_back({std::move(spelling), id, 0});
        merges_ = std::move(read.merges);
        vocab_file_ = merges_file_ = *single;
        is_single_ = true;
    }

    BpeVocabulary read() {
        read_tokens();
        check_bytes();
        read_merges();
        check_all_made();
        return std::move(vocabulary_);
    }

 private:
    void read_tokens() {
        const auto count = static_cast<std::int64_t>(entries_.size());
        std::vector<const VocabEntry*> owner(entries_.size());
        vocabulary_.tokens.resize(entries_.size());
        vocabulary_.end_of_document = -1;
        for (const VocabEntry& entry : entries_) {
            const Place place{vocab_file_, entry.line};
            if (entry.id >= count)
                refuse_bpe(place,
                           fmt::format("token \"{}\" has id {}, but {} tokens must have ids 0 to {} without holes",
                                       entry.spelling, entry.id, count, count - 1));
            const VocabEntry*& known = owner[entry.id];
            if (known != nullptr)
                refuse_bpe(place, fmt::format("tokens \"{}\" and \"{}\" both have id {}", known->spelling,
                                              entry.spelling, entry.id));
            known = &entry;
            add_token(entry, place);
        }
        if (vocabulary_.end_of_document < 0)
            refuse_bpe({vocab_file_}, fmt::format("no token {}, which ends a document", kEndOfText),
                       fmt::format("add \"{}\": {} as its last entry", kEndOfText, count));
    }

    void add_token(const VocabEntry& entry, const Place& place) {
        const auto id = static_cast<std::int32_t>(entry.id);
        const std::optional<std::string> bytes = unspell(entry.spelling);
        if (!bytes || bytes->empty())
            refuse_bpe(place, fmt::format("token \"{}\" is not written in GPT-2's byte alphabet", entry.spelling),
                       "in it a space is \xC4\xA0 (U+0120) and a newline \xC4\x8A (U+010A)");
        if (!id_of_.emplace(*bytes, id).second)
            refuse_bpe(place, fmt::format("token \"{}\" comes twice", entry.spelling));
        if (entry.spelling == kEndOfText)
            vocabulary_.end_of_document = id;
        else
            vocabulary_.tokens[id] = *bytes;
    }

    void check_bytes() {
        made_.resize(vocabulary_.tokens.size());
        for (const unsigned char byte : bytes_in_alphabet_order()) {
            const std::string bytes(1, static_cast<char>(byte));
            const auto found = id_of_.find(bytes);
            if (found == id_of_.end())
                refuse_bpe({vocab_file_},
                           fmt::format("no token for the byte 0x{:02x}, written \"{}\"", byte, spell(bytes)),
                           "a byte-level vocabulary has all 256, or some text could not be encoded");
            made_[found->second] = true;
        }
    }

    void read_merges() {
        std::string_view rest = merges_;
        for (int line = 1; !rest.empty(); ++line) {
            std::string_view content = rest.substr(0, rest.find('\n'));
            rest.remove_prefix(std::min(content.size() + 1, rest.size()));
            if (content.ends_with('\r')) content.remove_suffix(1);
            const bool comment = line == 1 && content.starts_with("#version");
            const bool last = content.empty() && rest.empty();
            if (!comment && !last) add_merge(content, {merges_file_, is_single_ ? 0 : line});
        }
    }

    void add_merge(std::string_view content, const Place& place) {
        const std::size_t space = content.find(' ');
        if (space == std::string_view::npos || content.find(' ', space + 1) != std::string_view::npos)
            refuse_bpe(place, "a merge is two tokens with one space between");
        const std::string_view left = content.substr(0, space), right = content.substr(space + 1);
        Merge merge{};
        merge.left = part(left, place);
        merge.right = part(right, place);
        const std::string result = vocabulary_.tokens[merge.left] + vocabulary_.tokens[merge.right];
        const auto found = id_of_.find(result);
        if (found == id_of_.end())
            refuse_bpe(place, fmt::format("this merge makes \"{}{}\", which vocab.json does not have", left, right),
                       kTakeBoth);
        merge.result = found->second;
        if (merge.result == vocabulary_.end_of_document)
            refuse_bpe(place, fmt::format("this merge makes {}, which no text may make", kEndOfText));
        const auto rank = static_cast<std::int32_t>(vocabulary_.merges.size());
        if (pairs_.insert(token_pair(merge.left, merge.right), rank) != rank)
            refuse_bpe(place, "this merge comes twice");
        made_[merge.result] = true;
        vocabulary_.merges.push_back(merge);
    }

    // The id of a merge's part, which must be there by now.
    std::int32_t part(std::string_view spelling, const Place& place) const {
        const std::optional<std::string> bytes = unspell(spelling);
        const auto found = bytes ? id_of_.find(*bytes) : id_of_.end();
        if (found == id_of_.end()) refuse_bpe(place, fmt::format("\"{}\" is not in vocab.json", spelling), kTakeBoth);
        if (!made_[found->second])
            refuse_bpe(place, fmt::format("\"{}\" is not a single byte and no earlier line makes it", spelling),
                       "merges are in order of rank, a token's own merge before those that use it");
        return found->second;
    }

    // A merges file that lost its end would otherwise encode text wrongly, and nobody would notice.
    void check_all_made() const {
        for (const VocabEntry& entry : entries_) {
            const bool special = entry.spelling.starts_with('<') && entry.spelling.ends_with('>');
            if (!made_[entry.id] && !special)
                refuse_bpe({vocab_file_, entry.line},
                           fmt::format("token \"{}\" is not a single byte and no line of {} makes it", entry.spelling,
                                       merges_file_.string()),
                           kTakeBoth);
        }
    }

    fs::path vocab_file_, merges_file_;
    bool is_single_ = false;  // both are tokenizer.json
    std::string merges_;
    std::vector<VocabEntry> entries_;
    std::unordered_map<std::string, std::int32_t> id_of_;  // by bytes
    std::vector<bool> made_;                               // by id: a byte, or the result of a merge read so far
    PairMap pairs_;
    BpeVocabulary vocabulary_;
};

// Sorted by id: {"token": 0, ...}. Json itself would sort by token.
std::string vocab_json(const BpeVocabulary& vocabulary) {
    std::string text;
    for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
        const bool end = static_cast<std::int32_t>(id) == vocabulary.end_of_document;
        const std::string spelling = end ? kEndOfText : spell(vocabulary.tokens[id]);
        text += fmt::format("{}{}: {}", id == 0 ? "{" : ", ", Json(spelling).dump(), id);
    }
    return text + "}";
}

std::string merges_text(const BpeVocabulary& vocabulary) {
    std::string text = "#version: 0.2\n";
    for (const Merge& merge : vocabulary.merges)
        text += spell(vocabulary.tokens[merge.left]) + ' ' + spell(vocabulary.tokens[merge.right]) + '\n';
    return text;
}

std::string tokenizer_json(const BpeVocabulary& vocabulary) {
    const Json byte_level = {
        {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
    Json model = {{"type", "BPE"},
                  {"dropout", nullptr},
                  {"unk_token", nullptr},
                  {"continuing_subword_prefix", nullptr},
                  {"end_of_word_suffix", nullptr},
                  {"fuse_unk", false},
                  {"byte_fallback", false},
                  {"vocab", parse_json(vocab_json(vocabulary))},
                  {"merges", Json::array()}};
    for (const Merge& merge : vocabulary.merges)
        model["merges"].push_back(spell(vocabulary.tokens[merge.left]) + ' ' + spell(vocabulary.tokens[merge.right]));
    const Json end_of_text = {{"id", vocabulary.end_of_document},
                              {"content", kEndOfText},
                              {"single_word", false},
                              {"lstrip", false},
                              {"rstrip", false},
                              {"normalized", false},
                              {"special", true}};
    return Json{{"version", "1.0"},          {"truncation", nullptr},
                {"padding", nullptr},        {"added_tokens", Json::array({end_of_text})},
                {"normalizer", nullptr},     {"pre_tokenizer", byte_level},
                {"post_processor", nullptr}, {"decoder", byte_level},
                {"model", std::move(model)}}
        .dump();
}

}  // namespace

std::vector<fs::path> bpe_files_in(const fs::path& folder) {
    if (const auto single = single_file(folder)) return {*single};
    const auto vocab = find_text_file(folder / kBpeFiles[0]), merges = find_text_file(folder / kBpeFiles[1]);
    return vocab && merges ? std::vector{*vocab, *merges} : std::vector<fs::path>();
}

BpeVocabulary read_bpe(const fs::path& folder) {
    return Reader(folder).read();
}

void write_bpe(const BpeVocabulary& vocabulary, const fs::path& folder) {
    make_folder(folder);
    write_file_atomically(folder / "vocab.json", vocab_json(vocabulary));
    write_file_atomically(folder / "merges.txt", merges_text(vocabulary));
    write_file_atomically(folder / "tokenizer.json", tokenizer_json(vocabulary));
}

}  // namespace deft::engine
