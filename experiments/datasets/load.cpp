#include "experiments/datasets/load.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "base/files.h"
#include "base/first_line.h"
#include "base/json.h"
#include "base/sha256.h"
#include "engine/data/indexed_dataset.h"
#include "experiments/datasets/corpus_source.h"
#include "experiments/datasets/file_lock.h"
#include "experiments/datasets/find_file.h"

namespace deft::experiments {

namespace {

namespace fs = std::filesystem;

// Raised by hand whenever the same texts give other tokens.
constexpr int kFormat = 1;
constexpr const char* kManifest = "manifest.json";

// Documents of the two splits, as ranges of the stored ones.
struct Ranges {
    std::int64_t train_first = 0, train_last = 0, valid_first = 0, valid_last = 0;
};

// Document borders by shares: contiguous, in the documents' order, at least one document for train and valid.
Ranges divide(std::int64_t documents, const std::vector<std::int64_t>& shares) {
    const double all = static_cast<double>(std::accumulate(shares.begin(), shares.end(), std::int64_t{0}));
    const auto border = [&](std::int64_t share) {
        return static_cast<std::int64_t>(static_cast<double>(documents) * static_cast<double>(share) / all + 0.5);
    };
    Ranges ranges;
    ranges.train_last = std::max<std::int64_t>(1, std::min(documents - 1, border(shares[0])));
    ranges.valid_first = ranges.train_last;
    ranges.valid_last = std::clamp(border(shares[0] + shares[1]), ranges.valid_first + 1, documents);
    return ranges;
}

// How a tokenizer is named before it exists: files of its own, or how it is trained.
std::string tokenizer_identity(const DataConfig& data, const std::string& base_folder, std::int64_t& vocab) {
    if (data.tokenizer == "bpe") {
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
    for_each_wanted(source, data, progress, "counting documents", [&](Split split, std::string_view) {
        divided = divided || split == Split::divided;
        ++documents;
        return true;
    });
    const std::int64_t last = divided && documents > 1 ? divide(documents, data.split).train_last : documents;
    return train_tokenizer(source, data, kTokenizerTrainingBytes, progress, [&](Split split, std::int64_t number) {
        return split == Split::train || (split == Split::divided && number < last);
    });
}

Json ranges_json(const Ranges& r) {
    return {{"train", {r.train_first, r.train_last}}, {"valid", {r.valid_first, r.valid_last}}};
}

// Writes everything into `folder`, which only this process knows.
void prepare(const CorpusSource& source, const DataConfig& data, const std::string& base_folder,
             const std::string& sha, const fs::path& folder, const PrepareProgress& progress) {
    const engine::Tokenizer tokenizer = data.tokenizer == "bpe" ? train_on_training_text(source, data, progress)
                                                                : named_tokenizer(data.tokenizer, base_folder);
    if (tokenizer.bpe() != nullptr) engine::write_tokenizer(tokenizer, folder / "tokenizer");

    std::vector<Split> splits;
    std::vector<std::int64_t> bytes;
    const Tokenized written = write_tokens(source, data, tokenizer, folder / "tokens", progress,
                                           [&](Split split, std::int64_t text_bytes) {
                                               splits.push_back(split);
                                               bytes.push_back(text_bytes);
                                           });
    const std::int64_t documents = written.documents;
    Ranges ranges;
    if (std::find(splits.begin(), splits.end(), Split::divided) != splits.end()) {
        if (documents < 2)
            throw Error(ErrorKind::config, fmt::format("{} has {} document, and a split needs two", source.name, documents),
                        "give validation text of its own: data.valid_files");
        ranges = divide(documents, data.split);
    } else {
        const auto range = [&](Split split, std::int64_t& first, std::int64_t& last) {
            first = std::find(splits.begin(), splits.end(), split) - splits.begin();
            last = first + std::count(splits.begin(), splits.end(), split);
        };
        range(Split::train, ranges.train_first, ranges.train_last);
        range(Split::valid, ranges.valid_first, ranges.valid_last);
        if (ranges.train_first == ranges.train_last || ranges.valid_first == ranges.valid_last)
            throw Error(ErrorKind::config,
                        fmt::format("{} has no {} text", source.name,
                                    ranges.train_first == ranges.train_last ? "training" : "validation"),
                        data.max_bytes > 0 ? "raise data.max_bytes" : "supply it");
    }
    const auto sum = [&](std::int64_t first, std::int64_t last) {
        return std::accumulate(bytes.begin() + first, bytes.begin() + last, std::int64_t{0});
    };
    const Json manifest = {{"schema", "deft-corpus/1"},
                           {"name", source.name},
                           {"sha256", sha},
                           {"tokenizer", {{"name", tokenizer.name()}, {"sha256", tokenizer.sha256()}, {"vocab", tokenizer.vocab()}}},
                           {"documents", ranges_json(ranges)},
                           {"bytes", {{"train", sum(ranges.train_first, ranges.train_last)},
                                      {"valid", sum(ranges.valid_first, ranges.valid_last)}}},
                           {"tokens", written.tokens}};
    write_file_atomically(folder / kManifest, manifest.dump(2) + "\n");
}

[[noreturn]] void fail_damaged(const fs::path& folder, const std::string& what) {
    throw Error(ErrorKind::io, what, fmt::format("delete the folder {}: it is made again", folder.string()));
}

engine::Tokenizer stored_tokenizer(const fs::path& folder, const Json& about) {
    const engine::Tokenizer tokenizer =
        engine::read_stored_tokenizer(folder / "tokenizer", about.at("name").get<std::string>());
    if (tokenizer.sha256() != about.at("sha256"))
        fail_damaged(folder, fmt::format("the tokenizer in {} is not the one that made its tokens", folder.string()));
    return tokenizer;
}

// A token beyond the vocabulary would be read as an index.
void require_vocab(const engine::TokenCorpus& corpus, std::int32_t vocab, const fs::path& folder) {
    const auto [least, most] = engine::token_range(corpus.tokens);
    if (least < 0 || most >= vocab)
        fail_damaged(folder, fmt::format("{}: token {} is not among the {} of its tokenizer",
                                         engine::bin_file(folder / "tokens").string(), least < 0 ? least : most, vocab));
}

// Nobody but this program wrote these files: where they are damaged, making them again is the way.
std::shared_ptr<const engine::IndexedDataset> open_tokens(const fs::path& folder) {
    try {
        return std::make_shared<const engine::IndexedDataset>(folder / "tokens");
    } catch (const Error& error) {
        fail_damaged(folder, first_line(error.what()));
    }
}

Dataset open_prepared(const fs::path& folder, const std::string& sha) {
    const fs::path file = folder / kManifest;
    try {
        const Json manifest = Json::parse(read_file(file));
        if (manifest.at("sha256") != sha)
            fail_damaged(folder, fmt::format("{} is of another corpus", file.string()));
        Dataset dataset{manifest.at("name"),
                        sha,
                        stored_tokenizer(folder, manifest.at("tokenizer")),
                        {},
                        {},
                        folder};
        const auto stored = open_tokens(folder);
        const auto range = [&](const char* split) {
            const auto [first, last] = manifest.at("documents").at(split).get<std::pair<std::int64_t, std::int64_t>>();
            if (first < 0 || last <= first || last > stored->documents())
                fail_damaged(folder, fmt::format("{}: its {} documents are not there", file.string(), split));
            engine::TokenCorpus corpus = engine::corpus_of_range(stored, first, last);
            require_vocab(corpus, dataset.tokenizer.vocab(), folder);
            corpus.bytes = manifest.at("bytes").at(split);
            return corpus;
        };
        dataset.train = range("train");
        dataset.valid = range("valid");
        return dataset;
    } catch (const Json::exception& error) {
        fail_damaged(folder, fmt::format("{}: {}", file.string(), error.what()));
    }
}

fs::path find_prefix(const std::string& prefix, const std::string& base_folder) {
    const fs::path index = find_data_file(prefix + ".idx", base_folder);
    if (index.extension() != ".idx")
        throw Error(ErrorKind::config, fmt::format("{} is packed, and an indexed dataset is read in place", index.string()),
                    "unpack it, with its .bin");
    return fs::path(index).replace_extension();
}

DatasetIdentity indexed_identity(const DataConfig& data, const std::string& base_folder) {
    const engine::Tokenizer tokenizer = named_tokenizer(data.tokenizer, base_folder);
    Json identity = {{"format", kFormat}, {"split", data.split}, {"tokenizer", tokenizer.sha256()}};
    for (const auto* prefixes : {&data.train_files, &data.valid_files})
        for (const std::string& prefix : *prefixes) {
            const fs::path path = find_prefix(prefix, base_folder);
            identity["files"].push_back({sha256_file(engine::idx_file(path)), sha256_file(engine::bin_file(path))});
        }
    return {sha256(canonical_json(identity)), tokenizer.vocab()};
}

// A Megatron dataset as somebody else made it is used in place.
Dataset open_indexed(const DataConfig& data, const std::string& base_folder, const fs::path& folder,
                     const std::string& sha) {
    Dataset dataset{data.train_files.front(), sha, named_tokenizer(data.tokenizer, base_folder), {}, {}, folder};
    const auto open = [&](const std::string& prefix) {
        return std::make_shared<const engine::IndexedDataset>(find_prefix(prefix, base_folder));
    };
    const auto train = open(data.train_files.front());
    if (data.valid_files.empty()) {
        if (train->documents() < 2)
            throw Error(ErrorKind::config, fmt::format("{} has one document, and a split needs two", dataset.name),
                        "give a validation dataset of its own: data.valid_files");
        const Ranges ranges = divide(train->documents(), data.split);
        dataset.train = engine::corpus_of_range(train, ranges.train_first, ranges.train_last);
        dataset.valid = engine::corpus_of_range(train, ranges.valid_first, ranges.valid_last);
    } else {
        const auto valid = open(data.valid_files.front());
        dataset.train = engine::corpus_of_range(train, 0, train->documents());
        dataset.valid = engine::corpus_of_range(valid, 0, valid->documents());
    }
    for (engine::TokenCorpus* corpus : {&dataset.train, &dataset.valid})
        corpus->bytes = engine::text_bytes(corpus->tokens, dataset.tokenizer);
    make_folder(folder);
    return dataset;
}

// Fills the hashes of the source's files, so that what is tokenised later is verified to be what was hashed.
DatasetIdentity identity_of(CorpusSource& source, const DataConfig& data, const std::string& base_folder) {
    DatasetIdentity result;
    const Json identity = {{"format", kFormat},
                           {"texts", source_sha256(source, data)},
                           {"tokenizer", tokenizer_identity(data, base_folder, result.vocab)},
                           {"split", data.split},
                           {"max_bytes", data.max_bytes}};
    result.sha256 = sha256(canonical_json(identity));
    return result;
}

void require_planned(const DataConfig& data, const std::string& sha) {
    if (!data.sha256.empty() && data.sha256 != sha)
        throw Error(ErrorKind::config,
                    fmt::format("the corpus has changed since this trial was planned: hash {} where {} was planned",
                                sha.substr(0, 12), data.sha256.substr(0, 12)),
                    "run the sweep again: it plans with the corpus as it is now");
}

fs::path prepared_folder(const fs::path& data_folder, const std::string& sha) {
    return data_folder / sha.substr(0, 16);
}

bool is_prepared(const fs::path& folder) {
    return fs::exists(folder / kManifest);
}

// The folder appears whole. The caller holds its lock.
void prepare_whole(const CorpusSource& source, const DataConfig& data, const std::string& base_folder,
                   const std::string& sha, const fs::path& folder, const PrepareProgress& progress) {
    const fs::path temporary = folder.string() + ".part";
    fs::remove_all(temporary);
    make_folder(temporary);
    prepare(source, data, base_folder, sha, temporary, progress);
    fs::remove_all(folder);  // without a manifest it is none
    fs::rename(temporary, folder);
}

}  // namespace

engine::Tokenizer named_tokenizer(const std::string& name, const std::string& base_folder) {
    if (name == "bytes") return engine::Tokenizer::bytes();
    const std::string folder = name == "gpt2" ? "tokenizers/gpt2" : name;
    return engine::load_tokenizer(find_data_file(folder + "/vocab.json", base_folder).parent_path());
}

DatasetIdentity dataset_identity(const DataConfig& data, const std::string& base_folder) {
    if (data.corpus == "indexed") return indexed_identity(data, base_folder);
    CorpusSource source = corpus_source(data, base_folder);
    return identity_of(source, data, base_folder);
}

Dataset load_dataset(const DataConfig& data, const std::string& base_folder, const fs::path& data_folder,
                     const PrepareProgress& progress) {
    if (data.corpus == "indexed") {
        const std::string sha = indexed_identity(data, base_folder).sha256;
        require_planned(data, sha);
        return open_indexed(data, base_folder, prepared_folder(data_folder, sha), sha);
    }
    // What a plan has hashed and prepared need not be read again.
    const fs::path planned = prepared_folder(data_folder, data.sha256);
    if (!data.sha256.empty() && is_prepared(planned)) return open_prepared(planned, data.sha256);
    CorpusSource source = corpus_source(data, base_folder);
    const std::string sha = identity_of(source, data, base_folder).sha256;
    require_planned(data, sha);
    const fs::path folder = prepared_folder(data_folder, sha);
    if (!is_prepared(folder)) {
        make_folder(data_folder);
        const FileLock lock(folder.string() + ".lock");
        if (!is_prepared(folder)) prepare_whole(source, data, base_folder, sha, folder, progress);
    }
    return open_prepared(folder, sha);
}

}  // namespace deft::experiments
