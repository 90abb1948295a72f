#include "experiments/datasets/packed_dataset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <utility>

#include "base/files.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "engine/data/indexed_dataset.h"
#include "engine/data/llmc_tokens.h"
#include "experiments/datasets/find_file.h"

namespace deft::experiments {

namespace {

namespace fs = std::filesystem;

// How a tokenizer is named before it exists: files of its own, or how it is trained.
std::string tokenizer_identity(const DataConfig& data, const std::string& base_folder, std::int64_t& vocab) {
    if (trains_tokenizer(data)) {
        vocab = data.vocab;
        return fmt::format("bpe {} {}", data.vocab, kTokenizerTrainingBytes);
    }
    const engine::Tokenizer tokenizer = named_tokenizer(data.tokenizer, base_folder);
    vocab = tokenizer.vocab();
    return tokenizer.sha256();
}

// Learns from training text alone: where documents are divided by shares, they have to be counted first.
engine::Tokenizer train_on_training_text(const CorpusSource& source, const DataConfig& data,
                                         const PrepareProgress& progress) {
    std::int64_t documents = 0;
    bool divided = false;
    for_each_wanted(source, data, progress, "counting documents", [&](const DocumentPart& part) {
        divided = divided || part.split == Split::divided;
        documents += part.ends;
        return true;
    });
    const std::int64_t last = divided && documents > 1 ? divide_documents(documents, data.split).train_last : documents;
    return train_tokenizer(source, data, kTokenizerTrainingBytes, progress, [&](Split split, std::int64_t number) {
        return split == Split::train || (split == Split::divided && number < last);
    });
}

// Writes everything into `folder`, which only this process knows.
Json write_corpus(const CorpusSource& source, const DataConfig& data, const std::string& base_folder,
                  const fs::path& folder, const PrepareProgress& progress,
                  const std::function<void(Split, std::int64_t)>& each, Tokenized& written) {
    const engine::Tokenizer tokenizer = trains_tokenizer(data) ? train_on_training_text(source, data, progress)
                                                               : named_tokenizer(data.tokenizer, base_folder);
    if (tokenizer.bpe() != nullptr) engine::write_tokenizer(tokenizer, folder / "tokenizer");
    written = write_tokens(source, data, tokenizer, folder / "tokens", progress, each);
    return {{"name", tokenizer.name()}, {"sha256", tokenizer.sha256()}, {"vocab", tokenizer.vocab()}};
}

// Stored files were written completely: an unreadable one was damaged since.
engine::Tokenizer stored_tokenizer(const fs::path& folder, const std::string& name) {
    try {
        return engine::read_stored_tokenizer(folder / "tokenizer", name);
    } catch (const Error& error) {
        throw DamagedCorpus(folder, first_line(error.what()));
    }
}

PackedDataset open_dataset(const PreparedFolder& folder) {
    const PreparedCorpus prepared = open_prepared(folder);
    const engine::Tokenizer tokenizer = stored_tokenizer(folder.path, prepared.tokenizer);
    require_tokenizer(prepared, tokenizer.sha256(), folder.path);
    PackedDataset dataset{prepared.name, folder.sha256, tokenizer, {}, {}, folder.path};
    const auto part = [&](std::int64_t first, std::int64_t last, std::int64_t bytes) {
        engine::TokenCorpus corpus = engine::corpus_of_range(prepared.tokens, first, last);
        require_vocab(corpus.tokens, dataset.tokenizer.vocab(), folder.path);
        corpus.bytes = bytes;
        return corpus;
    };
    const DocumentRanges& documents = prepared.documents;
    dataset.train = part(documents.train_first, documents.train_last, prepared.train_bytes);
    dataset.valid = part(documents.valid_first, documents.valid_last, prepared.valid_bytes);
    return dataset;
}

fs::path find_prefix(const std::string& prefix, const std::string& base_folder) {
    const fs::path index = find_data_file(prefix + ".idx", base_folder);
    if (index.extension() != ".idx")
        throw Error(ErrorKind::config,
                    fmt::format("{} is packed, and an indexed dataset is read in place", index.string()),
                    "unpack it, with its .bin");
    return fs::path(index).replace_extension();
}

// A token shard of llm.c, which train_files names with its .bin; a Megatron dataset is named without.
std::optional<fs::path> find_shard(const std::string& name, const std::string& base_folder) {
    if (!name.ends_with(".bin")) return {};
    const fs::path file = find_data_file(name, base_folder);
    if (!engine::is_llmc_shard(file))
        throw Error(ErrorKind::config, fmt::format("{} is not a token shard of llm.c", file.string()),
                    "name a Megatron dataset by its prefix, without .bin");
    return file;
}

// Shards in a list; none where its names are not shards. Errors: config, for both in one list.
std::vector<fs::path> find_shards(const std::vector<std::string>& names, const std::string& base_folder) {
    std::vector<fs::path> shards;
    for (const std::string& name : names)
        if (const auto shard = find_shard(name, base_folder)) shards.push_back(*shard);
    if (!shards.empty() && shards.size() != names.size())
        throw Error(ErrorKind::config,
                    fmt::format("of {} some are token shards of llm.c and others are not", fmt::join(names, ", ")),
                    "name datasets of one kind");
    return shards;
}

DatasetIdentity indexed_identity(const DataConfig& data, const std::string& base_folder, SeenFiles* seen = nullptr) {
    const auto hash_of = [&](const fs::path& file) {
        return seen == nullptr ? sha256_file(file) : seen->sha256("bytes", file, [&] { return sha256_file(file); });
    };
    const engine::Tokenizer tokenizer = named_tokenizer(data.tokenizer, base_folder);
    Json identity = {{"format", kCorpusFormat}, {"split", data.split}, {"tokenizer", tokenizer.sha256()}};
    for (const auto* names : {&data.train_files, &data.valid_files}) {  // an entry for each, of the hashes of its files
        if (names->empty()) continue;
        Json hashes = Json::array();
        for (const fs::path& shard : find_shards(*names, base_folder)) hashes.push_back(hash_of(shard));
        if (hashes.empty()) {
            const fs::path path = find_prefix(names->front(), base_folder);
            hashes = {hash_of(engine::idx_file(path)), hash_of(engine::bin_file(path))};
        }
        identity["files"].push_back(hashes);
    }
    return {sha256(canonical_json(identity)), tokenizer.vocab()};
}

// The training documents and those to validate on of one dataset, or of one each. `Tokens`: engine::IndexedDataset or
// engine::LlmcTokens.
template <class Tokens>
void divide(const std::shared_ptr<const Tokens>& train, const std::shared_ptr<const Tokens>& valid,
            const std::vector<std::int64_t>& split, PackedDataset& dataset) {
    if (valid != nullptr) {
        dataset.train = engine::corpus_of_range(train, 0, train->documents());
        dataset.valid = engine::corpus_of_range(valid, 0, valid->documents());
        return;
    }
    if (train->documents() < 2)
        throw Error(ErrorKind::config, fmt::format("{} has one document, and a split needs two", dataset.name),
                    "give a validation dataset of its own: data.valid_files");
    const DocumentRanges ranges = divide_documents(train->documents(), split);
    dataset.train = engine::corpus_of_range(train, ranges.train_first, ranges.train_last);
    dataset.valid = engine::corpus_of_range(train, ranges.valid_first, ranges.valid_last);
}

// A Megatron dataset or token shards of llm.c as somebody else made them are used in place.
PackedDataset open_indexed(const DataConfig& data, const std::string& base_folder, const fs::path& folder,
                           const std::string& sha) {
    PackedDataset dataset{fmt::format("{}", fmt::join(data.train_files, " + ")),
                          sha,
                          named_tokenizer(data.tokenizer, base_folder),
                          {},
                          {},
                          folder};
    const std::vector<fs::path> train = find_shards(data.train_files, base_folder);
    const std::vector<fs::path> valid = find_shards(data.valid_files, base_folder);
    if (!data.valid_files.empty() && train.empty() != valid.empty())
        throw Error(ErrorKind::config,
                    fmt::format("{} is not a token shard of llm.c, and {} is",
                                train.empty() ? data.train_files.front() : data.valid_files.front(),
                                train.empty() ? data.valid_files.front() : data.train_files.front()),
                    "name two datasets of one kind");
    if (train.empty()) {
        const auto indexed =
            [&](const std::vector<std::string>& names) -> std::shared_ptr<const engine::IndexedDataset> {
            if (names.empty()) return nullptr;
            return std::make_shared<const engine::IndexedDataset>(find_prefix(names.front(), base_folder));
        };
        divide(indexed(data.train_files), indexed(data.valid_files), data.split, dataset);
    } else {
        const auto tokens = [&](const std::vector<fs::path>& shards) -> std::shared_ptr<const engine::LlmcTokens> {
            if (shards.empty()) return nullptr;
            return std::make_shared<const engine::LlmcTokens>(shards, dataset.tokenizer.end_of_document());
        };
        divide(tokens(train), tokens(valid), data.split, dataset);
    }
    for (engine::TokenCorpus* corpus : {&dataset.train, &dataset.valid})
        corpus->bytes = engine::text_bytes(corpus->tokens, dataset.tokenizer);
    make_folder(folder);
    return dataset;
}

DatasetIdentity identity_of(CorpusSource& source, const DataConfig& data, const std::string& base_folder,
                            SeenFiles* seen = nullptr) {
    DatasetIdentity identity;
    identity.sha256 = corpus_sha256(source, data, tokenizer_identity(data, base_folder, identity.vocab), seen);
    return identity;
}

}  // namespace

engine::Tokenizer named_tokenizer(const std::string& name, const std::string& base_folder) {
    const std::optional<BuiltInTokenizer> built_in = value_named<BuiltInTokenizer>(name);
    if (built_in == BuiltInTokenizer::bytes) return engine::Tokenizer::bytes();
    const std::string folder = built_in == BuiltInTokenizer::gpt2 ? "tokenizers/" + name : name;
    const auto single = look_for_data_file(folder + "/tokenizer.json", base_folder);
    if (single && !look_for_data_file(folder + "/vocab.json", base_folder))
        return engine::load_tokenizer(single->parent_path());
    return engine::load_tokenizer(find_data_file(folder + "/vocab.json", base_folder).parent_path());
}

DatasetIdentity packed_identity(const DataConfig& data, const std::string& base_folder, SeenFiles* seen) {
    if (built_in_corpus(data) == BuiltInCorpus::indexed) return indexed_identity(data, base_folder, seen);
    CorpusSource source = training_source(data, base_folder);
    return identity_of(source, data, base_folder, seen);
}

PackedDataset load_packed_dataset(const DataConfig& data, const std::string& base_folder, const fs::path& data_folder,
                                  const PrepareProgress& progress) {
    if (built_in_corpus(data) == BuiltInCorpus::indexed) {
        const std::string sha = indexed_identity(data, base_folder).sha256;
        require_planned(data, sha);
        return open_indexed(data, base_folder, prepared_folder(data_folder, sha), sha);
    }
    std::optional<PackedDataset> dataset;
    const CorpusRecipe recipe = {
        [&](CorpusSource& source) { return identity_of(source, data, base_folder).sha256; },
        [&](const CorpusSource& source, const fs::path& into, const auto& each, Tokenized& written) {
            return write_corpus(source, data, base_folder, into, progress, each, written);
        },
        [&](const PreparedFolder& folder) { dataset = open_dataset(folder); }};
    const PreparedFolder prepared = open_or_prepare(data, base_folder, data_folder, recipe, progress);
    dataset->note = prepared.note;
    dataset->waited_seconds = prepared.waited_seconds;
    return std::move(*dataset);
}

}  // namespace deft::experiments
