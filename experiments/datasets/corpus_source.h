#pragma once
// The documents of a corpus as text, wherever they come from.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/config.h"
#include "experiments/datasets/seen_files.h"

namespace deft::experiments {

enum class Split { divided, train, valid, test };  // divided: by the shares of [data] split

// The unit of a document in a file.
enum class DocumentReader {
    text,        // the whole file
    jsonl,       // the "text" of a line's JSON object
    lines,       // a line
    paragraphs,  // lines up to an empty one
    wikitext,    // an article: lines from a heading " = Title = " to the next
};
// Errors: config, for another name.
DocumentReader document_reader(const std::string& name);

struct SourceFile {
    std::string name;            // as the configuration or the catalogue has it
    std::filesystem::path path;  // empty: not here
    DocumentReader reader = DocumentReader::text;
    Split split = Split::divided;
    std::string sha256;     // of the text; empty: unknown
    bool in_parts = false;  // a document for each split, by the shares of [data] split
};

struct CorpusSource {
    std::string name;  // for people
    std::vector<SourceFile> files;
    bool embedded = false;
    std::string supply;  // how to get missing files
};

// Does not open the files. Errors: data, for a file that is not here, unless its hash is known; as text_files() and
// is_json_lines().
CorpusSource corpus_source(const DataConfig& data, const std::filesystem::path& base_folder);

// The same as it is trained on: a text that is one document, and is to be divided, is cut into parts.
CorpusSource training_source(const DataConfig& data, const std::filesystem::path& base_folder);

// A hash of all texts in their order; fills the files' hashes that are unknown. Known hashes are taken on trust:
// for_each_document() verifies them. `seen`: hashes of files that need not be read again; null: all are read. Errors:
// as text_files(); config, for content that is not text, or empty.
std::string source_sha256(CorpusSource& source, const DataConfig& data, SeenFiles* seen = nullptr);

// A document, or a part of a long one: parts are cut where no byte-pair encoding joins what they cut.
struct DocumentPart {
    Split split = Split::divided;
    std::string_view text;
    bool begins = true, ends = true;

    bool is_empty_document() const { return begins && ends && text.empty(); }
};

// Calls `take` for every document, part by part, until it returns false. `progress` gets the fraction read, now and
// then. Errors: data, for a file that is not here; io, for text whose hash is not the known one (found at the file's
// end), for a line without a JSON object that has a text, for a line longer than kMostLineBytes, and for an empty file.
void for_each_document(const CorpusSource& source, const DataConfig& data,
                       const std::function<bool(const DocumentPart&)>& take,
                       const std::function<void(double)>& progress = {});

}  // namespace deft::experiments
