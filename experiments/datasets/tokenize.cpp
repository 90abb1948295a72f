#include "experiments/datasets/tokenize.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "engine/data/bert/sentence_corpus.h"
#include "engine/data/bpe/bpe_trainer.h"
#include "engine/data/indexed_dataset.h"

namespace deft::experiments {

namespace {

// The text's beginning, of so many bytes at most: up to the end of a line, or of a character where a line is longer.
std::string_view beginning_of(std::string_view text, std::size_t bytes) {
    if (text.size() <= bytes) return text;
    if (bytes == 0) return {};
    if (const std::size_t line_feed = text.rfind('\n', bytes - 1); line_feed != std::string_view::npos)
        return text.substr(0, line_feed + 1);
    while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
    return text.substr(0, bytes);
}

}  // namespace

void for_each_wanted(const CorpusSource& source, const DataConfig& data, const PrepareProgress& progress,
                     const std::string& what, const std::function<bool(Split, std::string_view)>& take) {
    std::int64_t bytes = 0;
    for_each_document(
        source, data,
        [&](Split split, std::string_view text) {
            if (text.empty()) return true;  // nothing to learn, and its mark alone would be noise
            // What the files say is for validation stays whole.
            if (data.max_bytes == 0 || split == Split::valid || split == Split::test) return take(split, text);
            if (bytes >= data.max_bytes) return split == Split::train;
            const std::int64_t left = data.max_bytes - bytes;
            bytes += static_cast<std::int64_t>(text.size());
            if (split == Split::train) text = beginning_of(text, static_cast<std::size_t>(left));
            return text.empty() || take(split, text);
        },
        [&](double fraction) {
            if (!progress) return;
            if (data.max_bytes > 0)
                fraction = std::max(fraction, static_cast<double>(bytes) / static_cast<double>(data.max_bytes));
            progress(what, std::min(1.0, fraction));
        });
}

namespace {

// Documents one by one; write(text) adds each to the writer.
Tokenized write_documents(const CorpusSource& source, const DataConfig& data, engine::IndexedDatasetWriter& writer,
                          const PrepareProgress& progress, const std::function<void(Split, std::int64_t)>& each,
                          const std::function<void(std::string_view)>& write) {
    Tokenized done;
    for_each_wanted(source, data, progress, "tokenising", [&](Split split, std::string_view text) {
        write(text);
        done.bytes += static_cast<std::int64_t>(text.size());
        if (each) each(split, static_cast<std::int64_t>(text.size()));
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
    return write_documents(source, data, writer, progress, each, [&](std::string_view text) {
        tokens.clear();
        encoder.encode(text, tokens);
        tokens.push_back(tokenizer.end_of_document());
        writer.add_document(tokens);
    });
}

Tokenized write_sentences(const CorpusSource& source, const DataConfig& data,
                          const std::shared_ptr<const engine::WordPiece>& wordpiece, engine::SentenceRule rule,
                          const std::filesystem::path& prefix, const PrepareProgress& progress,
                          const std::function<void(Split, std::int64_t)>& each) {
    engine::IndexedDatasetWriter writer(prefix, wordpiece->vocab());
    engine::WordPieceEncoder encoder(wordpiece);
    return write_documents(source, data, writer, progress, each, [&](std::string_view text) {
        engine::add_document_of_sentences(writer, text, encoder, rule);
    });
}

engine::Tokenizer train_tokenizer(const CorpusSource& source, const DataConfig& data, std::size_t bytes,
                                  const PrepareProgress& progress,
                                  const std::function<bool(Split, std::int64_t)>& wanted) {
    std::vector<std::string> texts;
    std::size_t taken = 0;
    std::int64_t number = 0;
    for_each_wanted(source, data, progress, "reading text for the tokenizer", [&](Split split, std::string_view text) {
        if (!wanted || wanted(split, number)) {
            texts.emplace_back(text.substr(0, bytes - taken));
            taken += texts.back().size();
        }
        ++number;
        return taken < bytes;
    });
    if (progress) progress(fmt::format("training a tokenizer of {} entries", data.vocab), 0);
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    return engine::Tokenizer(
        std::make_shared<const engine::Bpe>(engine::train_bpe(views, static_cast<std::int32_t>(data.vocab))),
        fmt::format("bpe-{}", data.vocab));
}

}  // namespace deft::experiments
