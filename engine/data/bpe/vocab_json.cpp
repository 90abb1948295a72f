#include "engine/data/bpe/vocab_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"

namespace deft::engine {

namespace {

// Reads characters and leaves where it is in `at`, since the JSON library tells its handlers no position.
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

// Takes the events of the JSON library's parser; what is no object of whole numbers ends in an error.
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
        const bool truncated = open_string || what.find("unexpected end of input") != what.npos;
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

}  // namespace

std::vector<VocabEntry> read_vocab_json(const std::filesystem::path& file) {
    const std::string text = read_text_file(file);
    VocabHandler handler(file, text);
    Json::sax_parse(handler.begin(), handler.end(), &handler);
    return handler.take();
}

}  // namespace deft::engine
