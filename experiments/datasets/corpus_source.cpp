#include "experiments/datasets/corpus_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/text_stream.h"
#include "experiments/datasets/catalogue.h"
#include "experiments/datasets/embedded_corpus.h"
#include "experiments/datasets/file_hashes.h"
#include "experiments/datasets/find_file.h"
#include "experiments/datasets/text_files.h"

namespace deft::experiments {

namespace {

namespace fs = std::filesystem;

Split split_of(const std::string& name) {
    if (name == "train") return Split::train;
    if (name == "valid") return Split::valid;
    return name == "test" ? Split::test : Split::divided;
}

CorpusSource text_source(const DataConfig& data, const fs::path& base_folder) {
    CorpusSource source;
    source.name = fmt::format("{}", fmt::join(data.train_files, " + "));
    const auto add = [&](const std::vector<std::string>& names, Split split) {
        for (const std::string& name : names)
            for (const TextFile& file : text_files(name, base_folder))
                source.files.push_back({file.name,
                                        file.path,
                                        is_json_lines(file.name) ? DocumentReader::jsonl : DocumentReader::text,
                                        split,
                                        {}});
    };
    add(data.train_files, data.valid_files.empty() ? Split::divided : Split::train);
    add(data.valid_files, Split::valid);
    return source;
}

CorpusSource catalogue_source(const DataConfig& data, const fs::path& base_folder) {
    const CatalogueEntry entry = catalogue_entry(data.corpus);
    if (entry.kind != "corpus")
        throw Error(ErrorKind::config, fmt::format("data set {} is a {}, not a corpus", entry.name, entry.kind),
                    "deft data list shows the corpora");
    const CatalogueForm& form = form_at_hand(entry, base_folder);
    CorpusSource source;
    source.name = fmt::format("{} ({})", entry.name, entry.title);
    source.supply = entry.supply.empty() ? fmt::format("deft data get {}", entry.name) : entry.supply;
    for (const CatalogueFile& file : form.files) {
        const auto path = look_for_data_file(file.path, base_folder);
        const std::string known = file.sha256 == "unknown" ? "" : file.sha256;
        if (!path && known.empty())
            throw Error(ErrorKind::data, fmt::format("{} of data set {} is missing", file.path, entry.name),
                        source.supply);
        source.files.push_back(
            {file.path, path.value_or(fs::path()), document_reader(form.reader), split_of(file.split), known});
    }
    return source;
}

[[noreturn]] void fail_empty(const fs::path& path) {
    throw Error(ErrorKind::config, fmt::format("corpus file {} is empty", path.string()),
                "supply the file's text, or take it out of [data]");
}

// The documents of a file, one after the other; hashed on the way.
class FileReader {
 public:
    explicit FileReader(const SourceFile& file) : file_(file), stream_(file.path) {}

    double fraction() const {
        return static_cast<double>(stream_.stored_bytes_read()) /
               static_cast<double>(std::max<std::int64_t>(1, stream_.stored_bytes()));
    }

    bool next(std::string& document) {
        document.clear();
        switch (file_.reader) {
            case DocumentReader::text:
                return next_text(document);
            case DocumentReader::jsonl:
                return next_record(document);
            case DocumentReader::lines:
                return next_line(document);
            case DocumentReader::paragraphs:
                return next_paragraph(document);
            case DocumentReader::wikitext:
                return next_article(document);
        }
        return false;
    }

    // Call it at the file's end.
    void verify() {
        if (file_.sha256.empty()) return;
        const std::string found = hash_.hex();
        if (found != file_.sha256)
            throw Error(ErrorKind::io,
                        fmt::format("{} has hash {}..., and {}... is expected of {}", file_.path.string(),
                                    short_hash(found), short_hash(file_.sha256), file_.name),
                        "get the file again, or name it under [data] train_files as a text of your own");
    }

 private:
    // Into line_, without its line feed.
    bool read_line() {
        if (!stream_.read_line(line_)) return false;
        ++number_;
        hash_.add(line_);
        if (stream_.line_feed_seen()) hash_.add("\n");
        return true;
    }

    bool line_is_blank() const { return line_.find_first_not_of(" \t\r") == std::string::npos; }

    void append_line(std::string& document) const { document.append(line_).append("\n"); }

    bool next_text(std::string& document) {
        if (number_++ > 0) return false;
        std::vector<char> buffer(1 << 18);
        while (const std::size_t count = stream_.read(buffer.data(), buffer.size()))
            document.append(buffer.data(), count);
        hash_.add(document);
        return true;
    }

    bool next_line(std::string& document) {
        do {
            if (!read_line()) return false;
        } while (line_is_blank());
        document = line_;
        return true;
    }

    bool next_record(std::string& document) {
        do {
            if (!read_line()) return false;
        } while (line_.empty());
        const Json record = try_parse_json(line_);
        if (!record.is_object() || !record.contains("text") || !record["text"].is_string())
            throw Error(ErrorKind::io, Place{file_.path.string(), number_, 0}, "no JSON object with a \"text\"",
                        "mend or remove the line");
        document = record["text"].get<std::string>();
        return true;
    }

    bool next_paragraph(std::string& document) {
        while (read_line()) {
            if (!line_is_blank())
                append_line(document);
            else if (!document.empty())
                return true;
        }
        return !document.empty();
    }

    bool next_article(std::string& document) {
        if (at_heading_) append_line(document);
        at_heading_ = false;
        while (read_line()) {
            at_heading_ = line_.starts_with(" = ") && !line_.starts_with(" = = ");
            if (at_heading_ && document.find_first_not_of(" \n") != std::string::npos) return true;
            append_line(document);
        }
        at_heading_ = false;
        return !document.empty();
    }

    const SourceFile& file_;
    TextStream stream_;
    Sha256 hash_;
    std::string line_;
    bool at_heading_ = false;  // line_ begins the next article
    int number_ = 0;
};

// False where `take` wanted no more; the file is read to its end all the same, for its hash.
bool each_of_file(const SourceFile& file, const std::function<bool(std::string_view)>& take,
                  const std::function<void(double)>& progress) {
    FileReader reader(file);
    std::string text;
    bool any = false, wanted = true;
    while (reader.next(text)) {
        any = any || !text.empty();
        wanted = wanted && take(text);
        if (progress) progress(reader.fraction());
    }
    if (!any) fail_empty(file.path);
    reader.verify();
    return wanted;
}

std::string text_sha256(const fs::path& path) {
    require_text(path);
    const TextDigest digest = text_digest(path);
    if (digest.bytes == 0) fail_empty(path);
    return digest.sha256;
}

// Where the share before `size` * `share` ends: behind a line, or between characters where no line ends later.
std::size_t border_at(std::string_view text, double share) {
    auto at = static_cast<std::size_t>(static_cast<double>(text.size()) * share);
    const std::size_t line_feed = text.find('\n', at);
    if (line_feed + 1 < text.size() && line_feed != std::string_view::npos) return line_feed + 1;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
    return at;
}

// A text that is the whole corpus, by the shares of [data] split: each part is a document.
bool take_in_parts(std::string_view text, const DataConfig& data,
                   const std::function<bool(Split, std::string_view)>& take) {
    if (data.max_bytes > 0) text = text.substr(0, static_cast<std::size_t>(data.max_bytes));
    const auto all = static_cast<double>(data.split[0] + data.split[1] + data.split[2]);
    const std::size_t valid = border_at(text, static_cast<double>(data.split[0]) / all);
    const std::size_t rest =
        data.split[2] == 0 ? text.size()
                           : std::max(valid, border_at(text, static_cast<double>(data.split[0] + data.split[1]) / all));
    return take(Split::train, text.substr(0, valid)) && take(Split::valid, text.substr(valid, rest - valid)) &&
           take(Split::test, text.substr(rest));
}

EmbeddedCorpus embedded(const DataConfig& data) {
    return make_embedded_corpus(static_cast<std::uint64_t>(data.embedded_seed), data.embedded_bytes,
                                data.shuffled_facts);
}

}  // namespace

DocumentReader document_reader(const std::string& name) {
    if (name == "text") return DocumentReader::text;
    if (name == "jsonl") return DocumentReader::jsonl;
    if (name == "lines") return DocumentReader::lines;
    if (name == "paragraphs") return DocumentReader::paragraphs;
    if (name == "wikitext") return DocumentReader::wikitext;
    throw Error(ErrorKind::config, fmt::format("no reader of documents is called \"{}\"", name),
                "name one of text, jsonl, lines, paragraphs, wikitext");
}

CorpusSource corpus_source(const DataConfig& data, const fs::path& base_folder) {
    if (data.corpus == "embedded") {
        CorpusSource source;
        source.name = fmt::format("embedded corpus (seed {}{})", data.embedded_seed,
                                  data.shuffled_facts ? ", shuffled facts" : "");
        source.embedded = true;
        return source;
    }
    return data.corpus == "text" ? text_source(data, base_folder) : catalogue_source(data, base_folder);
}

CorpusSource training_source(const DataConfig& data, const fs::path& base_folder) {
    CorpusSource source = corpus_source(data, base_folder);
    if (source.files.size() == 1) {
        SourceFile& file = source.files.front();
        file.in_parts = file.split == Split::divided && file.reader == DocumentReader::text;
    }
    return source;
}

std::string source_sha256(CorpusSource& source, const DataConfig& data, SeenFiles* seen) {
    std::string digests;
    if (source.embedded) {
        const EmbeddedCorpus documents = embedded(data);
        for (const std::string& text : documents.train) digests += "train " + sha256(text) + "\n";
        for (const std::string& text : documents.valid) digests += "valid " + sha256(text) + "\n";
    }
    for (SourceFile& file : source.files) {
        if (file.sha256.empty())
            file.sha256 = seen == nullptr
                              ? text_sha256(file.path)
                              : seen->sha256("text", file.path, [&] { return text_sha256(file.path); });
        digests += fmt::format("{} {}", static_cast<int>(file.split), file.sha256);
        // text and jsonl follow from what a file is; the others read one text in several ways.
        if (file.reader > DocumentReader::jsonl) digests += fmt::format(" reader {}", static_cast<int>(file.reader));
        if (file.in_parts) digests += " in parts";
        digests += "\n";
    }
    return sha256(digests);
}

void for_each_document(const CorpusSource& source, const DataConfig& data,
                       const std::function<bool(Split, std::string_view)>& take,
                       const std::function<void(double)>& progress) {
    if (source.embedded) {
        const EmbeddedCorpus documents = embedded(data);
        for (const std::string& text : documents.train)
            if (!take(Split::train, text)) return;
        for (const std::string& text : documents.valid)
            if (!take(Split::valid, text)) return;
    }
    for (std::size_t f = 0; f < source.files.size(); ++f) {
        const SourceFile& file = source.files[f];
        if (file.path.empty())
            throw Error(ErrorKind::data, fmt::format("corpus file {} is missing", file.name), source.supply);
        const auto within = [&](double fraction) {
            progress((static_cast<double>(f) + fraction) / static_cast<double>(source.files.size()));
        };
        const bool wanted = each_of_file(
            file,
            [&](std::string_view text) {
                return file.in_parts ? take_in_parts(text, data, take) : take(file.split, text);
            },
            progress ? std::function<void(double)>(within) : nullptr);
        if (!wanted) return;
    }
}

}  // namespace deft::experiments
