#include "experiments/datasets/load.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "base/files.h"
#include "base/sha256.h"
#include "experiments/datasets/embedded_corpus.h"
#include "experiments/datasets/find_file.h"

namespace deft::experiments {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> read_documents(const std::vector<std::string>& files, const std::string& base_folder) {
    std::vector<std::string> documents;
    for (const std::string& name : files) {
        const fs::path path = find_data_file(name, base_folder);
        documents.push_back(read_text_file(path));
        if (documents.back().empty())
            throw Error(ErrorKind::config, fmt::format("corpus file {} is empty", path.string()),
                        "supply the file's text, or take it out of [data]");
    }
    return documents;
}

EmbeddedCorpus documents_of(const DataConfig& config, const std::string& base_folder) {
    if (config.corpus == "embedded")
        return make_embedded_corpus(static_cast<std::uint64_t>(config.embedded_seed), config.embedded_bytes,
                                    config.shuffled_facts);
    return {read_documents(config.train_files, base_folder), read_documents(config.valid_files, base_folder)};
}

// Over the hashes of the documents, split by split.
std::string hash_documents(const EmbeddedCorpus& documents) {
    std::string digests;
    for (const std::string& text : documents.train) digests += "train " + sha256(text) + "\n";
    for (const std::string& text : documents.valid) digests += "valid " + sha256(text) + "\n";
    return sha256(digests);
}

std::string dataset_name(const DataConfig& config) {
    if (config.corpus == "embedded")
        return fmt::format("embedded corpus (seed {}{})", config.embedded_seed,
                           config.shuffled_facts ? ", shuffled facts" : "");
    return fmt::format("{}", fmt::join(config.train_files, " + "));
}

}  // namespace

Dataset load_dataset(const DataConfig& config, const std::string& base_folder) {
    const EmbeddedCorpus documents = documents_of(config, base_folder);
    Dataset dataset{dataset_name(config), hash_documents(documents), {}, {}};
    for (const std::string& text : documents.train) dataset.train.add_document(text);
    for (const std::string& text : documents.valid) dataset.valid.add_document(text);
    return dataset;
}

std::string dataset_sha256(const DataConfig& config, const std::string& base_folder) {
    return hash_documents(documents_of(config, base_folder));
}

}  // namespace deft::experiments
