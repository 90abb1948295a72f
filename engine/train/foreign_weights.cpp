#include "engine/train/foreign_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "engine/data/bpe/bpe_files.h"
#include "engine/io/huggingface_config.h"
#include "engine/io/llmc_model.h"
#include "engine/io/sharded_safetensors.h"
#include "engine/models/parts_json.h"
#include "engine/train/checkpoint.h"

namespace deft::engine {

namespace {

namespace fs = std::filesystem;

constexpr const char* kConfigFile = "config.json";
constexpr const char* kTokenizerConfig = "tokenizer_config.json";

Json read_object(const fs::path& file) {
    std::string problem;
    Json json = try_parse_object(read_file(file), problem);
    if (json.is_discarded())
        throw Error(ErrorKind::io, fmt::format("{}: {}", file.string(), problem), "copy the model again", "everything");
    return json;
}

// Hashes of files by their names, which together are a folder's.
class FolderHash {
 public:
    void add(const std::string& name, const std::string& sha) { hashes_[name] = sha; }
    void add_if_there(const fs::path& folder, const char* name) {
        if (fs::exists(folder / name)) add(name, sha256_file(folder / name));
    }
    std::string hex() const {
        std::string text;
        for (const auto& [name, sha] : hashes_) text += fmt::format("{} {}\n", sha, name);
        return sha256(text);
    }

 private:
    std::map<std::string, std::string> hashes_;
};

// The tokenizer of vocab.json and merges.txt; or of tokenizer.json, whose kind deft may not read.
ImportedTokenizer bpe_in(const fs::path& folder, const std::vector<fs::path>& files, FolderHash& hash) {
    ImportedTokenizer tokenizer;
    try {
        tokenizer.text = load_tokenizer(folder);
        for (const fs::path& file : files) hash.add(file.filename().string(), sha256_file(file));
    } catch (const Error& error) {
        if (files.size() > 1 || error.kind() != ErrorKind::config) throw;
        tokenizer.problem = first_line(error.what());
    }
    return tokenizer;
}

ImportedTokenizer tokenizer_in(const fs::path& folder, FolderHash& hash) {
    ImportedTokenizer tokenizer;
    const std::vector<fs::path> files = bpe_files_in(folder);
    if (files.size() > 1 || (files.size() == 1 && !fs::exists(folder / kVocabTxt))) {
        return bpe_in(folder, files, hash);
    } else if (fs::exists(folder / kVocabTxt)) {
        hash.add_if_there(folder, kVocabTxt);
        tokenizer.wordpiece = read_vocab_txt(folder / kVocabTxt);
        if (fs::exists(folder / kTokenizerConfig)) {
            hash.add_if_there(folder, kTokenizerConfig);
            const Json json = read_object(folder / kTokenizerConfig);
            if (json.contains("do_lower_case") && json.at("do_lower_case").is_boolean())
                tokenizer.lower_case = json.at("do_lower_case").get<bool>();
        }
    }
    return tokenizer;
}

// bf16 or f16 where all weights are, else f32.
DType dtype_of_weights(const WeightFiles& weights) {
    std::optional<DType> all;
    for (const auto& [name, found] : weights.tensors) {
        if (is_no_weight(weights.names, name)) continue;
        if (all && *all != found.tensor.dtype) return DType::f32;
        all = found.tensor.dtype;
    }
    return all == DType::bf16 || all == DType::f16 ? *all : DType::f32;
}

// Extents that a file claims are believed only where the tensors could hold them, before anybody plans memory by them.
void require_room(const ImportedModel& model) {
    double elements = 0;
    for (const auto& [name, found] : model.weights.tensors) elements += static_cast<double>(found.tensor.numel());
    const TransformerConfig& c = model.config;
    const auto width = static_cast<double>(c.width);
    double hidden = 0;  // of all layers, and of each layer's experts
    for (const BlockConfig& block : c.blocks)
        hidden += static_cast<double>(block.feed_forward.hidden) *
                  static_cast<double>(block.experts ? block.experts->count : 1);
    const double rows =
        static_cast<double>(c.input.positions == Positions::learned ? c.max_seqlen : 0) + static_cast<double>(c.vocab);
    const double claimed = width * (rows + static_cast<double>(c.layers()) * 2 * width + 2 * hidden);
    if (claimed > 4 * elements + 1e6)
        throw Error(ErrorKind::config,
                    fmt::format("{}: a model of at least {:.0f} weights, of which its files hold {:.0f}",
                                model.path.string(), claimed, elements),
                    "take the configuration that belongs to the weights", "everything");
}

void add_hashes(const std::vector<std::shared_ptr<const MappedFile>>& files, FolderHash& hash) {
    for (const auto& file : files) hash.add(file->path().filename().string(), sha256(*file));
}

ImportedModel open_huggingface(const fs::path& folder) {
    ImportedModel model;
    FolderHash hash;
    hash.add_if_there(folder, kConfigFile);
    const HuggingFaceModel described =
        parse_huggingface_config(read_object(folder / kConfigFile), folder / kConfigFile);
    model.format = family_name(described.names);
    model.config = described.config;
    model.weights.names = described.names;
    std::vector<std::shared_ptr<const MappedFile>> files;
    model.weights.tensors = open_safetensors(folder, files);
    add_hashes(files, hash);
    model.tokenizer = tokenizer_in(folder, hash);
    model.sha256 = hash.hex();
    return model;
}

// The configuration in a checkpoint of deft: its parts, or in older ones the configuration for others.
TransformerConfig config_of_checkpoint(const fs::path& folder, const Json& manifest) {
    if (manifest.contains("model")) return model_of_parts(manifest.at("model"));
    if (fs::exists(folder / kConfigFile))
        return parse_huggingface_config(read_object(folder / kConfigFile), folder / kConfigFile).config;
    throw Error(
        ErrorKind::config,
        fmt::format("checkpoint {} does not say what its model is made of: an older deft wrote it", folder.string()),
        "train it again with this one", "everything");
}

ImportedModel open_checkpoint_folder(const fs::path& folder) {
    ImportedModel model;
    model.format = "a checkpoint of deft";
    const Json manifest = read_manifest(folder);
    const SafetensorsFile weights = open_weights(folder, manifest);
    model.config = config_of_checkpoint(folder, manifest);
    const WeightNames names = names_in_file(huggingface_counterpart(model.config).names,
                                            [&](const std::string& name) { return weights.tensors.contains(name); });
    model.weights = weight_files(weights, names);
    FolderHash hash;
    for (const auto& [name, sha] : manifest.at("sha256").items())
        if (name != "optimizer.safetensors" && sha.is_string()) hash.add(name, sha.get<std::string>());
    hash.add("model", sha256(parts_json(model.config).dump()));
    model.tokenizer = tokenizer_in(folder, hash);
    model.sha256 = hash.hex();
    return model;
}

ImportedModel open_llmc(const fs::path& path) {
    ImportedModel model;
    auto file = std::make_shared<const MappedFile>(path);
    LlmcModel read = read_llmc_model(file);
    model.format = "llm.c";
    model.config = std::move(read.config);
    model.weights = std::move(read.weights);
    model.sha256 = sha256(*file);
    return model;
}

ImportedModel open_any(const fs::path& path) {
    if (!fs::exists(path))
        throw Error(ErrorKind::usage, fmt::format("{} does not exist", path.string()),
                    "name a folder of Hugging Face, a checkpoint of deft, or a file of llm.c");
    if (!fs::is_directory(path)) return open_llmc(path);
    if (fs::exists(path / "checkpoint.json")) return open_checkpoint_folder(path);
    if (fs::exists(path / kConfigFile)) return open_huggingface(path);
    throw Error(ErrorKind::io,
                fmt::format("{} is not a model: it has neither config.json nor checkpoint.json", path.string()),
                "name a folder of Hugging Face, a checkpoint of deft, or a file of llm.c");
}

// Parts of heads are compared through their tensors; the length through the table of positions.
bool is_compared(const std::string& part, const TransformerConfig& model, const TransformerConfig& other,
                 const ImportOptions& options) {
    const bool of_head = part == "tied_head" || part == "head_bias" || part == "head_activation" || part == "head_norm";
    const bool of_classes = part == "classes" || part == "pooling" || part == "pooler" || part == "value";
    if (of_head) return model.head && other.head;
    if (of_classes) return model.class_head && other.class_head && !options.new_class_head;
    return part != "max_seqlen";
}

std::vector<std::string> parts_that_differ(const TransformerConfig& model, const TransformerConfig& other,
                                           const ImportOptions& options) {
    Json own = parts_json(model), foreign = parts_json(other);
    for (Json* parts : {&own, &foreign})
        for (auto part = parts->begin(); part != parts->end();)
            part = is_compared(part.key(), model, other, options) ? std::next(part) : parts->erase(part);
    return part_differences(own, foreign);
}

// The difference between the files' tokenizer and that of the model's data; empty: no known difference.
std::string tokenizer_difference(const AnyTokenizer& own, const ImportedTokenizer& other) {
    const auto* text = std::get_if<Tokenizer>(&own);
    const auto* wordpiece = std::get_if<std::shared_ptr<const WordPiece>>(&own);
    if (other.text && (text == nullptr || text->sha256() != other.text->sha256()))
        return fmt::format("its tokenizer is not {}", name_of(own));
    if (!other.wordpiece) return {};
    if (wordpiece == nullptr || (*wordpiece)->vocabulary().tokens != other.wordpiece->tokens)
        return fmt::format("its vocab.txt is not that of {}", name_of(own));
    if (other.lower_case && *other.lower_case != (*wordpiece)->rules().words.lower_case)
        return fmt::format("its vocab.txt is {}, and the model's text is not", *other.lower_case ? "uncased" : "cased");
    return {};
}

[[noreturn]] void refuse_import(const ImportedModel& from, const std::vector<std::string>& problems) {
    throw Error(ErrorKind::config,
                fmt::format("{} does not fit the model:\n  {}", from.path.string(), fmt::join(problems, "\n  ")),
                "name a model of the same parts, or change [model] to have them", "the model");
}

}  // namespace

ImportedModel open_model(const fs::path& path) {
    ImportedModel model = open_any(path);
    model.path = path;
    model.dtype = dtype_of_weights(model.weights);
    require_room(model);
    return model;
}

ImportReport import_weights(Exec& exec, Transformer& model, const ImportedModel& from, const ImportOptions& options) {
    std::vector<std::string> problems = parts_that_differ(model.config(), from.config, options);
    if (options.tokenizer != nullptr)
        if (const std::string why = tokenizer_difference(*options.tokenizer, from.tokenizer); !why.empty())
            problems.push_back(why);
    if (!problems.empty()) refuse_import(from, problems);
    const MatchedWeights matched = match_weights(model, from.weights, {.new_class_head = options.new_class_head});
    if (!matched.problems.empty()) refuse_import(from, matched.problems);
    if (const std::vector<std::string> bad = nonfinite_weights(matched); !bad.empty())
        throw Error(
            ErrorKind::config,
            fmt::format("{} has weights that are infinite or NaN, in {}", from.path.string(), fmt::join(bad, ", ")),
            "name a model whose training did not diverge, or copy it again", "the model");
    read_weights(exec, model, matched);
    return {matched.fresh, matched.unused, matched.positions_cut};
}

}  // namespace deft::engine
