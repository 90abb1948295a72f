#include "experiments/datasets/prepared_corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/files.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "experiments/datasets/file_hashes.h"

namespace deft::experiments {

namespace {

namespace fs = std::filesystem;

constexpr const char* kManifest = "manifest.json";
constexpr const char* kTokenFiles[] = {"tokens.bin", "tokens.idx"};

Json ranges_json(const DocumentRanges& r) {
    return {{"train", {r.train_first, r.train_last}}, {"valid", {r.valid_first, r.valid_last}}};
}

DocumentRanges ranges_of(const std::vector<Split>& splits, const DataConfig& data, const std::string& name) {
    const auto documents = static_cast<std::int64_t>(splits.size());
    if (std::find(splits.begin(), splits.end(), Split::divided) != splits.end()) {
        if (documents < 2)
            throw Error(ErrorKind::config, fmt::format("{} has {} document, and a split needs two", name, documents),
                        "give validation text of its own: data.valid_files");
        return divide_documents(documents, data.split);
    }
    DocumentRanges ranges;
    const auto range = [&](Split split, std::int64_t& first, std::int64_t& last) {
        first = std::find(splits.begin(), splits.end(), split) - splits.begin();
        last = first + std::count(splits.begin(), splits.end(), split);
    };
    range(Split::train, ranges.train_first, ranges.train_last);
    range(Split::valid, ranges.valid_first, ranges.valid_last);
    const bool no_training = ranges.train_first == ranges.train_last;
    if (no_training || ranges.valid_first == ranges.valid_last)
        throw Error(ErrorKind::config, fmt::format("{} has no {} text", name, no_training ? "training" : "validation"),
                    data.max_bytes > 0 ? "raise data.max_bytes" : "supply it");
    return ranges;
}

std::string own_sha256(Json manifest) {
    manifest.erase("manifest_sha256");
    return sha256(canonical_json(manifest));
}

// With the hashes of the token files, and of itself.
void write_manifest(const fs::path& folder, Json manifest) {
    Json& hashes = manifest["block_sha256"] = {{"block_bytes", kHashedBlockBytes}};
    for (const char* file : kTokenFiles) hashes[file] = block_hashes(folder / file);
    manifest["manifest_sha256"] = own_sha256(manifest);
    write_file_atomically(folder / kManifest, json_text(manifest, 2) + "\n");
}

void verify(const fs::path& folder, const Json& manifest) {
    const auto hashes = manifest.find("block_sha256");
    if (hashes == manifest.end()) {
        // An older deft wrote none: later openings are held to what is here now.
        try {
            write_manifest(folder, manifest);
        } catch (const Error&) {  // a folder that cannot be written to can be read all the same
        }
        return;
    }
    if (manifest.at("manifest_sha256").get<std::string>() != own_sha256(manifest))
        throw DamagedCorpus(folder, fmt::format("{} is not what was written", (folder / kManifest).string()));
    for (const char* file : kTokenFiles) {
        if (!fs::exists(folder / file))
            throw DamagedCorpus(folder, fmt::format("{} is missing", (folder / file).string()));
        if (const auto difference = difference_from(folder / file, hashes->at(file).get<std::vector<std::string>>(),
                                                    hashes->at("block_bytes").get<std::int64_t>()))
            throw DamagedCorpus(folder, fmt::format("{}: {}", folder.string(), *difference));
    }
}

// Writes everything into `folder`, which only this process knows.
void prepare(const CorpusSource& source, const DataConfig& data, const std::string& sha, const fs::path& folder,
             const WriteCorpus& write) {
    std::vector<Split> splits;
    std::vector<std::int64_t> bytes;
    Tokenized written;
    const Json tokenizer = write(
        source, folder,
        [&](Split split, std::int64_t text_bytes) {
            splits.push_back(split);
            bytes.push_back(text_bytes);
        },
        written);
    const DocumentRanges ranges = ranges_of(splits, data, source.name);
    const auto sum = [&](std::int64_t first, std::int64_t last) {
        return std::accumulate(bytes.begin() + first, bytes.begin() + last, std::int64_t{0});
    };
    const Json manifest = {{"schema", "deft-corpus/1"},
                           {"name", source.name},
                           {"sha256", sha},
                           {"tokenizer", tokenizer},
                           {"documents", ranges_json(ranges)},
                           {"bytes",
                            {{"train", sum(ranges.train_first, ranges.train_last)},
                             {"valid", sum(ranges.valid_first, ranges.valid_last)}}},
                           {"tokens", written.tokens}};
    write_manifest(folder, manifest);
}

bool is_prepared(const fs::path& folder) {
    return fs::exists(folder / kManifest);
}

// The folder appears whole. The caller holds its lock.
void prepare_whole(const CorpusSource& source, const DataConfig& data, const std::string& sha, const fs::path& folder,
                   const WriteCorpus& write) {
    const fs::path temporary = folder.string() + ".part";
    fs::remove_all(temporary);
    make_folder(temporary);
    prepare(source, data, sha, temporary, write);
    fs::remove_all(folder);  // without a manifest it is none
    fs::rename(temporary, folder);
}

// Nobody but this program wrote these files: where they are damaged, making them again is the way.
std::shared_ptr<const engine::IndexedDataset> open_tokens(const fs::path& folder) {
    try {
        return std::make_shared<const engine::IndexedDataset>(folder / "tokens");
    } catch (const Error& error) {
        throw DamagedCorpus(folder, first_line(error.what()));
    }
}

PreparedFolder find_or_prepare(const DataConfig& data, const std::string& base_folder, const fs::path& data_folder,
                               const CorpusRecipe& recipe) {
    // A corpus that a plan has hashed and prepared need not be read again.
    const fs::path planned = prepared_folder(data_folder, data.sha256);
    if (!data.sha256.empty() && is_prepared(planned)) return {planned, data.sha256, {}};
    CorpusSource source = training_source(data, base_folder);
    const std::string sha = recipe.identity(source);
    require_planned(data, sha);
    const fs::path folder = prepared_folder(data_folder, sha);
    if (!is_prepared(folder)) {
        make_folder(data_folder);
        const FileLock lock(folder.string() + ".lock");
        if (!is_prepared(folder)) prepare_whole(source, data, sha, folder, recipe.write);
        return {folder, sha, {}, lock.waited_seconds()};
    }
    return {folder, sha, {}};
}

// From its texts. What was derived from the damaged tokens goes with them.
void recreate(const DataConfig& data, const std::string& base_folder, PreparedFolder& folder,
              const CorpusRecipe& recipe, const std::string& damage) {
    try {
        const FileLock lock(folder.path.string() + ".lock");
        folder.waited_seconds += lock.waited_seconds();
        try {
            recipe.open(folder);
            return;  // another process has recreated it meanwhile
        } catch (const DamagedCorpus&) {
        }
        CorpusSource source = training_source(data, base_folder);
        if (recipe.identity(source) != folder.sha256)
            throw Error(ErrorKind::config, "the texts have changed since it was made");
        prepare_whole(source, data, folder.sha256, folder.path, recipe.write);
    } catch (const Error& error) {
        throw Error(ErrorKind::io, fmt::format("{}; recreating it failed: {}", damage, first_line(error.what())),
                    fmt::format("supply its texts as they were, or delete the folder {} and run the sweep again",
                                folder.path.string()),
                    "the damaged folder");
    }
}

}  // namespace

DocumentRanges divide_documents(std::int64_t documents, const std::vector<std::int64_t>& shares) {
    const double all = static_cast<double>(std::accumulate(shares.begin(), shares.end(), std::int64_t{0}));
    const auto border = [&](std::int64_t share) {
        return static_cast<std::int64_t>(static_cast<double>(documents) * static_cast<double>(share) / all + 0.5);
    };
    DocumentRanges ranges;
    ranges.train_last = std::max<std::int64_t>(1, std::min(documents - 1, border(shares[0])));
    ranges.valid_first = ranges.train_last;
    ranges.valid_last = std::clamp(border(shares[0] + shares[1]), ranges.valid_first + 1, documents);
    return ranges;
}

std::string corpus_sha256(CorpusSource& source, const DataConfig& data, const std::string& tokenizer, SeenFiles* seen) {
    const Json identity = {{"format", kCorpusFormat},
                           {"texts", source_sha256(source, data, seen)},
                           {"tokenizer", tokenizer},
                           {"split", data.split},
                           {"max_bytes", data.max_bytes}};
    return sha256(canonical_json(identity));
}

void require_planned(const DataConfig& data, const std::string& sha) {
    if (!data.sha256.empty() && data.sha256 != sha)
        throw Error(ErrorKind::config,
                    fmt::format("the corpus has changed since this trial was planned: hash {} where {} was planned",
                                short_hash(sha), short_hash(data.sha256)),
                    "run the sweep again: it plans with the corpus as it is now");
}

PreparedFolder open_or_prepare(const DataConfig& data, const std::string& base_folder, const fs::path& data_folder,
                               const CorpusRecipe& recipe, const PrepareProgress& progress) {
    PreparedFolder folder = find_or_prepare(data, base_folder, data_folder, recipe);
    std::string damage;
    try {
        recipe.open(folder);
        return folder;
    } catch (const DamagedCorpus& error) {
        damage = first_line(error.what());
    }
    folder.note = fmt::format("the tokenised corpus is damaged and is recreated from its texts: {}", damage);
    if (progress) progress(folder.note, 0);
    recreate(data, base_folder, folder, recipe, damage);
    recipe.open(folder);
    return folder;
}

fs::path prepared_folder(const fs::path& data_folder, const std::string& sha) {
    return data_folder / sha.substr(0, 16);
}

PreparedCorpus open_prepared(const PreparedFolder& prepared) {
    const fs::path file = prepared.path / kManifest;
    try {
        const Json manifest = parse_json(read_file(file));
        if (manifest.at("sha256") != prepared.sha256)
            throw DamagedCorpus(prepared.path, fmt::format("{} is of another corpus", file.string()));
        verify(prepared.path, manifest);
        PreparedCorpus corpus;
        corpus.name = manifest.at("name");
        corpus.tokenizer = manifest.at("tokenizer").at("name");
        corpus.tokenizer_sha256 = manifest.at("tokenizer").at("sha256");
        corpus.tokens = open_tokens(prepared.path);
        const auto range = [&](const char* split, std::int64_t& first, std::int64_t& last) {
            std::tie(first, last) = manifest.at("documents").at(split).get<std::pair<std::int64_t, std::int64_t>>();
            if (first < 0 || last <= first || last > corpus.tokens->documents())
                throw DamagedCorpus(prepared.path,
                                    fmt::format("{}: its {} documents are not there", file.string(), split));
        };
        range("train", corpus.documents.train_first, corpus.documents.train_last);
        range("valid", corpus.documents.valid_first, corpus.documents.valid_last);
        corpus.train_bytes = manifest.at("bytes").at("train");
        corpus.valid_bytes = manifest.at("bytes").at("valid");
        return corpus;
    } catch (const Json::exception& error) {
        throw DamagedCorpus(prepared.path, fmt::format("{}: {}", file.string(), error.what()));
    }
}

std::optional<std::int64_t> prepared_train_tokens(const fs::path& data_folder, const std::string& sha256) {
    const fs::path folder = prepared_folder(data_folder, sha256);
    if (!fs::exists(folder / kManifest)) return std::nullopt;
    try {
        const Json manifest = parse_json(read_file(folder / kManifest));
        const auto [first, last] = manifest.at("documents").at("train").get<std::pair<std::int64_t, std::int64_t>>();
        const engine::IndexedDataset tokens(folder / "tokens");
        if (first < 0 || last <= first || last > tokens.documents()) return std::nullopt;
        return tokens.document_start(last) - tokens.document_start(first);
    } catch (const Error&) {
        return std::nullopt;
    } catch (const Json::exception&) {
        return std::nullopt;
    }
}

DamagedCorpus::DamagedCorpus(const fs::path& folder, const std::string& what)
    : Error(ErrorKind::io, what, fmt::format("delete the folder {}: it is made again", folder.string())) {}

void require_tokenizer(const PreparedCorpus& corpus, const std::string& sha, const fs::path& folder) {
    if (corpus.tokenizer_sha256 == sha) return;
    throw DamagedCorpus(folder,
                        fmt::format("the tokenizer in {} is not the one that made its tokens", folder.string()));
}

void require_vocab(engine::TokenSpan tokens, std::int32_t vocab, const fs::path& folder) {
    const auto [least, most] = engine::token_range(tokens);
    if (least < 0 || most >= vocab)
        throw DamagedCorpus(folder,
                            fmt::format("{}: token {} is not among the {} of its tokenizer",
                                        engine::bin_file(folder / "tokens").string(), least < 0 ? least : most, vocab));
}

}  // namespace deft::experiments
