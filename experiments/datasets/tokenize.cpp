#include "experiments/datasets/tokenize.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "engine/data/bert/sentence_corpus.h"
#include "engine/data/bpe/bpe_trainer.h"
#include "engine/data/indexed_dataset.h"
#include "experiments/datasets/file_reader.h"

namespace deft::experiments {

namespace {

// The text's beginning, of at most this many bytes: up to the end of a line, or of a character where a line is longer.
std::string_view beginning_of(std::string_view text, std::size_t bytes) {
    if (text.size() <= bytes) return text;
    if (bytes == 0) return {};
    if (const std::size_t line_feed = text.rfind('\n', bytes - 1); line_feed != std::string_view::npos)
        return text.substr(0, line_feed + 1);
    while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
    return text.substr(0, bytes);
}

}  // namespace

namespace {

// The parts of documents that data.max_bytes leaves.
class WantedParts {
 public:
    WantedParts(std::int64_t most_bytes, const std::function<bool(const DocumentPart&)>& take)
        : most_(most_bytes), take_(take) {}

    std::int64_t bytes() const { return bytes_; }

    bool operator()(const DocumentPart& part) {
        if (part.is_empty_document()) return true;  // nothing to learn, and its mark alone would be noise
        // Text that the files name for validation stays whole.
        if (most_ == 0 || part.split == Split::valid || part.split == Split::test) return take_(part);
        if (part.begins) {
            if (bytes_ >= most_) return part.split == Split::train;
            // Where documents are divided, the one that reaches the limit is whole, unless it is longer than the limit.
            left_ = part.split == Split::divided ? most_ : most_ - bytes_;
        }
        if (left_ == 0) return true;
        const auto size = static_cast<std::int64_t>(part.text.size());
        std::string_view text = beginning_of(part.text, static_cast<std::size_t>(left_));
        // A cut at the end of a line may be where the part begins.
        if (begins_line_ && !part.begins && text.size() < part.text.size() && !text.ends_with('\n')) text = {};
        begins_line_ = part.text.ends_with('\n');
        bytes_ += size;
        left_ = size < left_ ? left_ - size : 0;
        if (text.empty() && part.begins) return true;
        return take_({part.split, text, part.begins, part.ends || left_ == 0});
    }

 private:
    std::int64_t most_, bytes_ = 0;
    std::int64_t left_ = 0;     // of the document
    bool begins_line_ = false;  // the part
    const std::function<bool(const DocumentPart&)>& take_;
};

}  // namespace

void for_each_wanted(const CorpusSource& source, const DataConfig& data, const PrepareProgress& progress,
                     const std::string& what, const std::function<bool(const DocumentPart&)>& take) {
    WantedParts wanted(data.max_bytes, take);
    for_each_document(
        source, data, [&](const DocumentPart& part) { return wanted(part); },
        [&](double fraction) {
            if (!progress) return;
            if (data.max_bytes > 0)
                fraction =
                    std::max(fraction, static_cast<double>(wanted.bytes()) / static_cast<double>(data.max_bytes));
            progress(what, std::min(1.0, fraction));
        });
}

namespace {

// Parts of documents one by one; write(part) adds each to the writer.
Tokenized write_documents(const CorpusSource& source, const DataConfig& data, engine::IndexedDatasetWriter& writer,
                          const PrepareProgress& progress, const std::function<void(Split, std::int64_t)>& each,
                          const std::function<void(const DocumentPart&)>& write) {
    Tokenized done;
    std::int64_t bytes = 0;  // of the document
    for_each_wanted(source, data, progress, "tokenising", [&](const DocumentPart& part) {
        write(part);
        bytes += static_cast<std::int64_t>(part.text.size());
        if (!part.ends) return true;
        done.bytes += bytes;
        if (each) each(part.split, bytes);
        bytes = 0;
        return true;
    });
    writer.finish();
    done.documents = writer.documents();
    done.tokens = writer.tokens();
    return done;
}

}  // namespace

Tokenized write_tokens(const CorpusSource& source, const DataConfig& data, const engine::Tokenizer& tokenizer,
                       const std::filesystem::path& prefix, const PrepareProgress& progress,
                       const std::function<void(Split, std::int64_t)>& each) {
    engine::IndexedDatasetWriter writer(prefix, tokenizer.vocab());
    engine::Encoder encoder(tokenizer);
    std::vector<std::int32_t> tokens;
    return write_documents(source, data, writer, progress, each, [&](const DocumentPart& part) {
        // A byte is a token by itself, so long parts are cut anywhere.
        const std::size_t slice = tokenizer.bpe() == nullptr ? kPartBytes : part.text.size();
        for (std::size_t at = 0; at < part.text.size(); at += slice) {
            tokens.clear();
            encoder.encode(part.text.substr(at, slice), tokens);
            writer.add_tokens(tokens);
        }
        if (!part.ends) return;
        writer.add_tokens(std::vector{tokenizer.end_of_document()});
        writer.end_sequence();
        writer.end_document();
    });
}

Tokenized write_sentences(const CorpusSource& source, const DataConfig& data,
                          const std::shared_ptr<const engine::WordPiece>& wordpiece, engine::SentenceRule rule,
                          const std::filesystem::path& prefix, const PrepareProgress& progress,
                          const std::function<void(Split, std::int64_t)>& each) {
    engine::IndexedDatasetWriter writer(prefix, wordpiece->vocab());
    engine::WordPieceEncoder encoder(wordpiece);
    std::string document;
    return write_documents(source, data, writer, progress, each, [&](const DocumentPart& part) {
        if (document.size() + part.text.size() > kMostLineBytes)
            throw Error(ErrorKind::io,
                        fmt::format("a document of more than {} MiB is too long for sentences", kMostLineBytes >> 20),
                        "divide it into documents");
        document += part.text;
        if (!part.ends) return;
        engine::add_document_of_sentences(writer, document, encoder, rule);
        document.clear();
    });
}

engine::Tokenizer train_tokenizer(const CorpusSource& source, const DataConfig& data, std::size_t bytes,
                                  const PrepareProgress& progress,
                                  const std::function<bool(Split, std::int64_t)>& wanted) {
    std::vector<std::string> texts;
    std::size_t taken = 0;
    std::int64_t number = 0;
    for_each_wanted(source, data, progress, "reading text for the tokenizer", [&](const DocumentPart& part) {
        if (!wanted || wanted(part.split, number)) {
            if (part.begins) texts.emplace_back();
            const std::string_view text = part.text.substr(0, bytes - taken);
            texts.back() += text;
            taken += text.size();
        }
        number += part.ends;
        return taken < bytes;
    });
    if (progress) progress(fmt::format("training a tokenizer of {} entries", data.vocab), 0);
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    return engine::Tokenizer(
        std::make_shared<const engine::Bpe>(engine::train_bpe(views, static_cast<std::int32_t>(data.vocab))),
        fmt::format("bpe-{}", data.vocab));
}

}  // namespace deft::experiments
