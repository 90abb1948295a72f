#include "experiments/datasets/file_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"
#include "engine/data/bpe/splitter.h"

namespace deft::experiments {

namespace {

bool is_space_at(std::string_view text, std::size_t at) {
    return engine::character_class(static_cast<std::uint32_t>(decode_utf8(text, at).code)) ==
           engine::CharacterClass::space;
}

// Whether the character that ends before `at` is a space.
bool is_space_before(std::string_view text, std::size_t at) {
    std::size_t begin = at - 1;
    while (begin > 0 && at - begin < 4 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
    return is_space_at(text, begin);
}

// The last place where a piece of text begins, whatever the tokenizer: the beginning of a line, or in a text without
// one the end of a word. A line end after a space makes no such place, for the end of a text would join the two. The
// character after it must be whole. 0: there is none.
std::size_t last_cut(std::string_view text) {
    constexpr std::size_t kLongestCharacter = 4;
    std::size_t after_word = 0;
    for (std::size_t at = text.size() - std::min(text.size(), kLongestCharacter); at > 0; --at) {
        if (at > 1 && text[at - 1] == '\n' && !is_space_before(text, at - 1) && !is_space_at(text, at)) return at;
        if (after_word == 0 && (text[at] == ' ' || text[at] == '\n') && !is_space_before(text, at)) after_word = at;
    }
    return after_word;
}

}  // namespace

bool FileReader::next(DocumentPart& part) {
    if (file_.reader == DocumentReader::text) return next_text(part);
    document_.clear();
    if (!next_document()) return false;
    part = {part.split, document_};
    return true;
}

double FileReader::fraction() const {
    return static_cast<double>(stream_.stored_bytes_read()) /
           static_cast<double>(std::max<std::int64_t>(1, stream_.stored_bytes()));
}

void FileReader::verify() {
    if (file_.sha256.empty()) return;
    const std::string found = hash_.hex();
    if (found != file_.sha256)
        throw Error(ErrorKind::io,
                    fmt::format("{} has hash {}..., and {}... is expected of {}", file_.path.string(),
                                short_hash(found), short_hash(file_.sha256), file_.name),
                    "get the file again, or name it under [data] train_files as a text of your own");
}

bool FileReader::next_text(DocumentPart& part) {
    if (has_ended_) return false;
    document_ = std::move(rest_);
    rest_.clear();
    std::vector<char> buffer(std::size_t{1} << 18);
    std::size_t cut = 0;
    for (std::size_t wanted = kPartBytes; cut == 0; wanted = std::min(2 * wanted, kMostLineBytes)) {
        while (!has_ended_ && document_.size() < wanted) {
            const std::size_t count = stream_.read(buffer.data(), buffer.size());
            hash_.add({buffer.data(), count});
            document_.append(buffer.data(), count);
            has_ended_ = count == 0;
            if (most_bytes_ == 0 || given_ + document_.size() < most_bytes_) continue;
            document_.resize(most_bytes_ - given_);
            read_rest();
        }
        cut = has_ended_ ? document_.size() : last_cut(document_);
        if (has_ended_) break;
        if (cut == 0 && document_.size() >= kMostLineBytes) refuse_long("a word");
    }
    rest_ = document_.substr(cut);
    document_.resize(cut);
    given_ += cut;
    if (!has_begun_) drop_byte_order_mark(document_);
    part = {part.split, document_, !has_begun_, has_ended_};
    has_begun_ = true;
    return true;
}

void FileReader::read_rest() {
    std::vector<char> buffer(std::size_t{1} << 18);
    while (const std::size_t count = stream_.read(buffer.data(), buffer.size())) hash_.add({buffer.data(), count});
    has_ended_ = true;
}

bool FileReader::next_document() {
    switch (file_.reader) {
        case DocumentReader::jsonl:
            return next_record();
        case DocumentReader::lines:
            return next_line();
        case DocumentReader::paragraphs:
            return next_paragraph();
        case DocumentReader::wikitext:
            return next_article();
        case DocumentReader::text:
            break;
    }
    return false;
}

// Into line_, without its line feed.
bool FileReader::read_line() {
    if (!stream_.read_line(line_, kMostLineBytes)) return false;
    ++number_;
    if (line_.size() > kMostLineBytes) refuse_long("a line");
    hash_.add(line_);
    if (stream_.line_feed_seen()) hash_.add("\n");
    if (number_ == 1) drop_byte_order_mark(line_);
    return true;
}

void FileReader::append_line() {
    document_.append(line_).append("\n");
    if (document_.size() > kMostLineBytes) refuse_long("a document");
}

// From the file's first bytes. The file's hash counts the mark, its text does not.
void FileReader::drop_byte_order_mark(std::string& text) const {
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
        throw Error(ErrorKind::io, fmt::format("{} is UTF-16, and deft reads UTF-8", file_.path.string()),
                    "convert it: iconv -f UTF-16 -t UTF-8");
    if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
}

bool FileReader::next_line() {
    do {
        if (!read_line()) return false;
    } while (line_is_blank());
    document_ = line_;
    return true;
}

bool FileReader::next_record() {
    do {
        if (!read_line()) return false;
    } while (line_.empty());
    std::string problem;
    Json record = try_parse_json(line_);
    const bool is_json = !record.is_discarded();
    if (!is_json) record = try_parse_object(tolerant_json(line_), problem);
    if (record.is_discarded()) refuse_record(problem);
    if (!record.is_object()) refuse_record(fmt::format("it is a JSON {}, not an object", record.type_name()));
    if (!record.contains("text")) refuse_record("its object has no \"text\"");
    if (!record["text"].is_string())
        refuse_record(fmt::format("its \"text\" is a JSON {}", record["text"].type_name()));
    document_ = std::move(record["text"].get_ref<std::string&>());
    if (!is_json && document_.find(kHalfCharacter) != std::string::npos)
        refuse_record("its \"text\" has one half of a surrogate pair, which is not a character");
    return true;
}

bool FileReader::next_paragraph() {
    while (read_line()) {
        if (!line_is_blank())
            append_line();
        else if (!document_.empty())
            return true;
    }
    return !document_.empty();
}

bool FileReader::next_article() {
    if (at_heading_) append_line();
    at_heading_ = false;
    while (read_line()) {
        at_heading_ = line_.starts_with(" = ") && !line_.starts_with(" = = ");
        if (at_heading_ && document_.find_first_not_of(" \n") != std::string::npos) return true;
        append_line();
    }
    at_heading_ = false;
    return !document_.empty();
}

void FileReader::refuse_record(const std::string& why) const {
    throw Error(ErrorKind::io, Place{file_.path.string(), static_cast<int>(number_), 0}, why,
                "correct or remove the line");
}

void FileReader::refuse_long(const char* what) const {
    throw Error(ErrorKind::io,
                fmt::format("{}: {} of more than {} MiB", file_.path.string(), what, kMostLineBytes >> 20),
                "divide it into documents, or check what the file unpacks to");
}

}  // namespace deft::experiments
