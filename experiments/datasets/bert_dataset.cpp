#include "experiments/datasets/bert_dataset.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/files.h"
#include "base/text.h"
#include "engine/data/wordpiece/wordpiece.h"
#include "experiments/datasets/find_file.h"

namespace deft::experiments {

namespace {

namespace fs = std::filesystem;

engine::WordPieceRules wordpiece_rules(bool lower_case) {
    return {.words = {.lower_case = lower_case}};
}

std::string tokenizer_identity(const engine::WordPiece& wordpiece, const BertSamplesConfig& bert) {
    return fmt::format("{}, sentences by {}", wordpiece.sha256(), name_of(bert.sentences));
}

Json write_bert_corpus(const CorpusSource& source, const DataConfig& data, const std::string& base_folder,
                       const fs::path& folder, const PrepareProgress& progress,
                       const std::function<void(Split, std::int64_t)>& each, Tokenized& written) {
    const auto wordpiece = named_wordpiece(data.tokenizer, data.bert.lower_case, base_folder);
    make_folder(folder / "tokenizer");
    engine::write_vocab_txt(wordpiece->vocabulary(), folder / "tokenizer" / engine::kVocabTxt);
    written = write_sentences(source, data, wordpiece, data.bert.sentences, folder / "tokens", progress, each);
    return {{"name", data.tokenizer}, {"sha256", wordpiece->sha256()}, {"vocab", wordpiece->vocab()}};
}

// Stored files were written completely: an unreadable one was damaged since.
std::shared_ptr<const engine::WordPiece> stored_wordpiece(const fs::path& folder, bool lower_case) {
    try {
        return read_wordpiece(folder / "tokenizer", lower_case);
    } catch (const Error& error) {
        throw DamagedCorpus(folder, first_line(error.what()));
    }
}

BertDataset open_dataset(const PreparedFolder& folder, bool lower_case) {
    const PreparedCorpus prepared = open_prepared(folder);
    const auto wordpiece = stored_wordpiece(folder.path, lower_case);
    require_tokenizer(prepared, wordpiece->sha256(), folder.path);
    const auto part = [&](std::int64_t first, std::int64_t last, std::int64_t bytes) {
        engine::SentenceCorpus corpus = engine::sentences_of_range(prepared.tokens, first, last);
        require_vocab(corpus.tokens, wordpiece->vocab(), folder.path);
        corpus.bytes = bytes;
        return corpus;
    };
    const DocumentRanges& documents = prepared.documents;
    return {prepared.name,
            folder.sha256,
            wordpiece,
            part(documents.train_first, documents.train_last, prepared.train_bytes),
            part(documents.valid_first, documents.valid_last, prepared.valid_bytes),
            folder.path,
            {}};
}

}  // namespace

std::shared_ptr<const engine::WordPiece> read_wordpiece(const fs::path& folder, bool lower_case) {
    return engine::load_wordpiece(folder, wordpiece_rules(lower_case));
}

std::shared_ptr<const engine::WordPiece> named_wordpiece(const std::string& name, bool lower_case,
                                                         const std::string& base_folder) {
    const std::string known = name == kBertVocabulary ? "tokenizers/" + name : name;
    const std::string file = known.ends_with(".txt") ? known : known + "/" + engine::kVocabTxt;
    return std::make_shared<const engine::WordPiece>(engine::read_vocab_txt(find_data_file(file, base_folder)),
                                                     wordpiece_rules(lower_case));
}

DatasetIdentity bert_identity(const DataConfig& data, const std::string& base_folder, SeenFiles* seen) {
    const auto wordpiece = named_wordpiece(data.tokenizer, data.bert.lower_case, base_folder);
    CorpusSource source = training_source(data, base_folder);
    return {corpus_sha256(source, data, tokenizer_identity(*wordpiece, data.bert), seen), wordpiece->vocab()};
}

BertDataset load_bert_dataset(const DataConfig& data, const std::string& base_folder, const fs::path& data_folder,
                              const PrepareProgress& progress) {
    std::optional<BertDataset> dataset;
    const CorpusRecipe recipe = {
        [&](CorpusSource& source) {
            const auto wordpiece = named_wordpiece(data.tokenizer, data.bert.lower_case, base_folder);
            return corpus_sha256(source, data, tokenizer_identity(*wordpiece, data.bert));
        },
        [&](const CorpusSource& source, const fs::path& into, const auto& each, Tokenized& written) {
            return write_bert_corpus(source, data, base_folder, into, progress, each, written);
        },
        [&](const PreparedFolder& folder) { dataset = open_dataset(folder, data.bert.lower_case); }};
    const PreparedFolder prepared = open_or_prepare(data, base_folder, data_folder, recipe, progress);
    dataset->note = prepared.note;
    dataset->waited_seconds = prepared.waited_seconds;
    return std::move(*dataset);
}

}  // namespace deft::experiments
