#pragma once
// The documents of one file, read from its beginning to its end and hashed on the way.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/sha256.h"
#include "base/text_stream.h"
#include "experiments/datasets/corpus_source.h"

namespace deft::experiments {

// A whole text is read in parts of about this size.
inline constexpr std::size_t kPartBytes = std::size_t{4} << 20;
// A line, and a document that is held as a whole. A longer one is refused: a small packed file may unpack to it.
inline constexpr std::size_t kMostLineBytes = std::size_t{256} << 20;

class FileReader {
 public:
    // most_bytes: of a whole text no more are given, and the rest is read for the hash alone; 0: all.
    explicit FileReader(const SourceFile& file, std::int64_t most_bytes = 0)
        : file_(file), stream_(file.path), most_bytes_(static_cast<std::size_t>(most_bytes)) {}

    // The next part of a document; false at the file's end. The part's text is valid until the next call. Errors: io.
    bool next(DocumentPart& part);
    // The share of the stored file that is read.
    double fraction() const;
    // Call it at the file's end. Errors: io, where the hash is not the known one.
    void verify();

 private:
    bool next_text(DocumentPart& part);
    void read_rest();
    bool next_line();
    bool next_record();
    bool next_paragraph();
    bool next_article();
    bool next_document();

    bool read_line();
    void append_line();
    bool line_is_blank() const { return line_.find_first_not_of(" \t\r") == std::string::npos; }
    void drop_byte_order_mark(std::string& text) const;
    [[noreturn]] void refuse_record(const std::string& why) const;
    [[noreturn]] void refuse_long(const char* what) const;

    const SourceFile& file_;
    TextStream stream_;
    Sha256 hash_;
    std::string document_;     // the part that was given last
    std::string line_, rest_;  // rest_: of a whole text, what was read beyond its last part
    bool at_heading_ = false;  // line_ begins the next article
    bool has_begun_ = false, has_ended_ = false;
    std::size_t most_bytes_ = 0, given_ = 0;  // of a whole text
    std::int64_t number_ = 0;                 // of lines
};

}  // namespace deft::experiments
