#include "experiments/datasets/corpus_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "base/sha256.h"
#include "base/text.h"
#include "base/text_stream.h"
#include "experiments/datasets/catalogue.h"
#include "experiments/datasets/embedded_corpus.h"
#include "experiments/datasets/file_hashes.h"
#include "experiments/datasets/file_reader.h"
#include "experiments/datasets/find_file.h"
#include "experiments/datasets/split_text.h"
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

// False where `take` wanted no more; the file is read to its end all the same, for its hash.
bool each_of_file(const SourceFile& file, std::int64_t most_bytes, const std::function<bool(const DocumentPart&)>& take,
                  const std::function<void(double)>& progress) {
    FileReader reader(file, most_bytes);
    DocumentPart part;
    bool any = false, wanted = true;
    while (reader.next(part)) {
        part.split = file.split;
        any = any || !part.text.empty();
        wanted = wanted && take(part);
        if (progress) progress(reader.fraction());
    }
    if (!any) fail_empty(file.path);
    reader.verify();
    return wanted;
}

bool begins_with_mark(const fs::path& path) {
    std::string begin(3, '\0');
    std::size_t read = 0;
    for (TextStream stream(path); read < begin.size();) {
        const std::size_t count = stream.read(begin.data() + read, begin.size() - read);
        if (count == 0) return false;
        read += count;
    }
    return begin == "\xEF\xBB\xBF";
}

std::string text_sha256(const fs::path& path) {
    require_text(path);
    const TextDigest digest = text_digest(path);
    if (digest.bytes == 0) fail_empty(path);
    return digest.sha256;
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
    if (built_in_corpus(data) == BuiltInCorpus::embedded) {
        CorpusSource source;
        source.name = fmt::format("embedded corpus (seed {}{})", data.embedded_seed,
                                  data.shuffled_facts ? ", shuffled facts" : "");
        source.embedded = true;
        return source;
    }
    return built_in_corpus(data) == BuiltInCorpus::text ? text_source(data, base_folder)
                                                        : catalogue_source(data, base_folder);
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
            file.sha256 = seen == nullptr ? text_sha256(file.path)
                                          : seen->sha256("text", file.path, [&] { return text_sha256(file.path); });
        digests += fmt::format("{} {}", static_cast<int>(file.split), file.sha256);
        // text and jsonl follow from what a file is; the others read one text in several ways.
        if (file.reader > DocumentReader::jsonl) digests += fmt::format(" reader {}", static_cast<int>(file.reader));
        if (file.in_parts) digests += " in parts";
        if (!file.path.empty() && begins_with_mark(file.path)) digests += " without its mark";  // which was text once
        digests += "\n";
    }
    return sha256(digests);
}

void for_each_document(const CorpusSource& source, const DataConfig& data,
                       const std::function<bool(const DocumentPart&)>& take,
                       const std::function<void(double)>& progress) {
    if (source.embedded) {
        const EmbeddedCorpus documents = embedded(data);
        for (const std::string& text : documents.train)
            if (!take({Split::train, text})) return;
        for (const std::string& text : documents.valid)
            if (!take({Split::valid, text})) return;
    }
    for (std::size_t f = 0; f < source.files.size(); ++f) {
        const SourceFile& file = source.files[f];
        if (file.path.empty())
            throw Error(ErrorKind::data, fmt::format("corpus file {} is missing", file.name), source.supply);
        const auto within = [&](double fraction) {
            progress((static_cast<double>(f) + fraction) / static_cast<double>(source.files.size()));
        };
        // Enough for the cut at the end of a line or of a character.
        const bool is_limited = data.max_bytes > 0 && file.split != Split::valid && file.split != Split::test;
        const std::int64_t most_bytes = is_limited ? data.max_bytes + 4 : 0;
        std::optional<SplitText> divided;
        if (file.in_parts) divided.emplace(file.path, data);
        const bool wanted = each_of_file(
            file, most_bytes,
            [&](const DocumentPart& part) { return divided ? divided->give(part.text, take) : take(part); },
            progress ? std::function<void(double)>(within) : nullptr);
        if (!wanted) return;
    }
}

}  // namespace deft::experiments
