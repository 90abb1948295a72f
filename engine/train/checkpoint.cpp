#include "engine/train/checkpoint.h"

#include <fmt/format.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <span>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/whole_folder.h"
#include "engine/comm/on_first_rank.h"
#include "engine/data/bpe/bpe_files.h"
#include "engine/io/huggingface_config.h"
#include "engine/io/match_weights.h"
#include "engine/io/safetensors.h"
#include "engine/io/write_weights.h"
#include "engine/models/parts_json.h"
#include "engine/train/gathered_parameters.h"

namespace deft::engine {

namespace {

namespace fs = std::filesystem;

// Version 2 names every weight in deft's own manner, and does not say what the model is made of.
constexpr const char* kSchema = "deft-checkpoint/3";
constexpr const char* kFormerSchema = "deft-checkpoint/2";
constexpr const char* kManifest = "checkpoint.json";
constexpr const char* kConfig = "config.json";
constexpr const char* kModel = kModelFile;
constexpr const char* kOptimizer = "optimizer.safetensors";
constexpr const char* kUniqueTokens = "unique_tokens";
constexpr const char* kDropperState = "router_state";

// Files of a tokenizer, which a checkpoint copies.
constexpr const char* kTokenizerFiles[] = {kBpeFiles[0], kBpeFiles[1], kBpeFiles[2], kVocabTxt};

// The names of those written.
std::vector<const char*> write_tokenizer_files(const AnyTokenizer& tokenizer, const fs::path& folder) {
    if (!has_tokens(tokenizer)) return {};
    if (const auto* wordpiece = std::get_if<std::shared_ptr<const WordPiece>>(&tokenizer)) {
        write_vocab_txt((*wordpiece)->vocabulary(), folder / kVocabTxt);
        return {kVocabTxt};
    }
    const auto& plain = std::get<Tokenizer>(tokenizer);
    if (plain.bpe() == nullptr) return {};
    write_tokenizer(plain, folder);
    return {std::begin(kBpeFiles), std::end(kBpeFiles)};
}

// The state beside the weights that training resumes from.
struct OptimizerState {
    Trainer& trainer;
    const GatheredParameters& gathered;
};

std::string write_optimizer(const OptimizerState& saved, const fs::path& file) {
    Trainer& trainer = saved.trainer;
    std::vector<NamedTensor> tensors = saved.gathered.moments();
    const Tensor state = trainer.dropper_state();
    if (state) tensors.push_back({kDropperState, state});
    std::vector<std::int32_t> unique = trainer.unique_tokens_by_sample();
    const Tensor samples = make_tensor(unique.data(), DType::i32, {static_cast<std::int64_t>(unique.size())});
    tensors.push_back({kUniqueTokens, samples});
    SafetensorsOutput out(file, tensors, {});
    saved.gathered.write_moments(out);
    if (state) write_in_pieces(trainer.exec(), state, {}, out);
    out.write(samples.data, samples.bytes());
    return out.finish();
}

[[noreturn]] void damaged(const fs::path& folder, const std::string& why) {
    throw Error(ErrorKind::io, fmt::format("checkpoint {} is damaged: {}", folder.string(), why));
}

// The tensor of that name, type and shape. Errors: config.
const Tensor& expect(const SafetensorsFile& file, const std::string& name, const Tensor& wanted) {
    const auto found = file.tensors.find(name);
    if (found == file.tensors.end() || found->second.shape_text() != wanted.shape_text())
        throw Error(
            ErrorKind::config,
            fmt::format("checkpoint {} is of another model: its {} is {}, and {} is wanted",
                        file.file->path().parent_path().string(), name,
                        found == file.tensors.end() ? "missing" : found->second.shape_text(), wanted.shape_text()),
            "name a checkpoint of this configuration");
    return found->second;
}

// Where each weight comes from. Of weights that training goes on from none was rounded. Errors: config, with all that
// is missing, extra or of another shape.
MatchedWeights match_all(const Transformer& model, const SafetensorsFile& file, bool rounded_too) {
    const WeightNames names = names_in_file(huggingface_counterpart(model.config()).names,
                                            [&](const std::string& name) { return file.tensors.contains(name); });
    MatchedWeights matched =
        match_weights(model, weight_files(file, names), {.whole = true, .unrounded = !rounded_too});
    if (!matched.problems.empty())
        throw Error(ErrorKind::config,
                    fmt::format("checkpoint {} is of another model:\n  {}", file.file->path().parent_path().string(),
                                fmt::join(matched.problems, "\n  ")),
                    "name a checkpoint of this configuration");
    return matched;
}

void read_all(Exec& exec, const std::vector<StoredTensor>& tensors, const SafetensorsFile& file) {
    for (const StoredTensor& tensor : tensors) read_in_pieces(exec, tensor, *file.file);
}

Json counts_json(const Counts& c) {
    return {{"steps", c.steps},
            {"samples", c.samples},
            {"input_tokens", c.input_tokens},
            {"layer_tokens", c.layer_tokens},
            {"flops", c.flops},
            {"cut_tokens", c.cut_tokens},
            {"padding_tokens", c.padding_tokens},
            {"draws_by_tenth", c.draws_by_tenth}};
}

Counts counts_of(const Json& json) {
    return {json.at("steps"), json.at("samples"),    json.at("input_tokens"),   json.at("layer_tokens"),
            json.at("flops"), json.at("cut_tokens"), json.at("padding_tokens"), json.at("draws_by_tenth")};
}

std::int32_t end_of_document(const AnyTokenizer& tokenizer) {
    const auto* plain = std::get_if<Tokenizer>(&tokenizer);
    return plain != nullptr ? plain->end_of_document() : -1;
}

// The saved object: a complete trainer, or a model alone.
struct Saved {
    Exec& exec;
    const Transformer& model;
    const Counts& counts;
    const OptimizerState* optimizer;  // null: weights alone
    DType dtype = DType::f32;
    const GatheredParameters* gathered = nullptr;  // of a trainer
};

// Every file of a checkpoint, in `folder`.
std::string write_files(const Saved& saved, const fs::path& folder, const Json& about, const AnyTokenizer& tokenizer) {
    std::map<std::string, std::string> hashes;
    const TransformerConfig& model = saved.model.config();
    const WeightNames names = huggingface_counterpart(model).names;
    if (names != WeightNames::own) {
        const std::string config = huggingface_config(model, saved.dtype, end_of_document(tokenizer)).dump(2) + "\n";
        write_file_atomically(folder / kConfig, config);
        hashes[kConfig] = sha256(config);
    }
    const auto write_divided = [&](const Parameter& parameter, Share elements, Layout layout, SafetensorsOutput& out) {
        saved.gathered->write_elements(parameter, elements, layout, out);
    };
    hashes.merge(write_weights(saved.exec, saved.model, names, saved.dtype, folder, 0, write_divided));
    if (saved.optimizer != nullptr) hashes[kOptimizer] = write_optimizer(*saved.optimizer, folder / kOptimizer);
    for (const char* name : write_tokenizer_files(tokenizer, folder)) hashes[name] = sha256_file(folder / name);
    Json manifest = {{"schema", kSchema}, {"counts", counts_json(saved.counts)}, {"about", about}, {"sha256", hashes}};
    if (has_parts(model)) manifest["model"] = parts_json(model);
    write_file_atomically(folder / kManifest, json_text(manifest, 2) + "\n");
    return hashes[kModel];
}

std::string save(const Saved& saved, const fs::path& folder, const Json& about, const AnyTokenizer& tokenizer) {
    std::string sha;
    const fs::path temporary = folder.parent_path() / "unfinished";  // one name: a kill leaves at most one
    write_whole_folder(folder, temporary,
                       [&](const fs::path& into) { sha = write_files(saved, into, about, tokenizer); });
    return sha;
}

// The sha256 that rank 0's `work` returns, on every rank.
std::string sha_of_first_rank(const Communicator& ranks, const std::function<std::string()>& work) {
    std::string sha;
    on_first_rank(ranks, [&] { sha = work(); });
    return text_of_rank(ranks, 0, sha);
}

// The files that the manifest names, and those that it must name.
std::vector<const char*> names_of(const Json& manifest, CheckpointFiles files) {
    const Json& hashes = manifest.at("sha256");
    std::vector<const char*> names = {kModel};
    if (hashes.contains(kConfig)) names.push_back(kConfig);
    if (files == CheckpointFiles::all && hashes.contains(kOptimizer)) names.push_back(kOptimizer);
    for (const char* name : kTokenizerFiles)
        if (hashes.contains(name)) names.push_back(name);
    return names;
}

void require_hash(const fs::path& folder, const Json& manifest, const char* name, const std::string& sha) {
    if (sha != manifest.at("sha256").at(name).get<std::string>())
        damaged(folder, fmt::format("{} is not what was written", name));
}

SafetensorsFile open_hashed(const fs::path& folder, const Json& manifest, const char* name) {
    auto file = std::make_shared<const MappedFile>(folder / name);
    require_hash(folder, manifest, name, sha256(*file));
    return read_safetensors(std::move(file));
}

}  // namespace

namespace {

// All ranks of the trainer; rank 0 saves, and asks the others for what it has not. The sha256 that it returns, on every
// rank.
std::string save_together(Trainer& trainer,
                          const std::function<std::string(const GatheredParameters&)>& save_gathered) {
    const ParameterTable& table = trainer.model().parameters();
    const Communicator& ranks = trainer.ranks();
    trainer.gather_all_weights();
    if (ranks.rank() > 0) answer_for_parameters(trainer.exec(), table, ranks);
    return sha_of_first_rank(ranks, [&] {
        const GatheredParameters gathered(trainer.exec(), table, ranks, trainer.config().expert_ranks);
        return save_gathered(gathered);
    });
}

}  // namespace

std::string save_checkpoint(Trainer& trainer, const fs::path& folder, const Json& about,
                            const AnyTokenizer& tokenizer) {
    return save_together(trainer, [&](const GatheredParameters& gathered) {
        const OptimizerState optimizer{trainer, gathered};
        return save({trainer.exec(), trainer.model(), trainer.counts(), &optimizer, DType::f32, &gathered}, folder,
                    about, tokenizer);
    });
}

std::string save_weights(Trainer& trainer, const fs::path& folder, const Json& about, const AnyTokenizer& tokenizer,
                         DType dtype) {
    return save_together(trainer, [&](const GatheredParameters& gathered) {
        return save({trainer.exec(), trainer.model(), trainer.counts(), nullptr, dtype, &gathered}, folder, about,
                    tokenizer);
    });
}

std::string save_weights(Exec& exec, const Transformer& model, const fs::path& folder, const Json& about,
                         const AnyTokenizer& tokenizer, DType dtype) {
    return save({exec, model, Counts{}, nullptr, dtype}, folder, about, tokenizer);
}

std::string write_weights_into(const fs::path& folder, Exec& exec, const Transformer& model, const Json& about,
                               const AnyTokenizer& tokenizer, DType dtype) {
    return write_files({exec, model, Counts{}, nullptr, dtype}, folder, about, tokenizer);
}

Json read_manifest(const fs::path& folder) {
    std::string problem;
    const Json manifest = try_parse_object(read_file(folder / kManifest), problem);
    if (manifest.is_discarded()) damaged(folder, fmt::format("{}: {}", kManifest, problem));
    try {
        const auto schema = manifest.at("schema").get<std::string>();
        if (schema != kSchema && schema != kFormerSchema)
            throw Error(
                ErrorKind::io,
                fmt::format("checkpoint {} was written by another version of deft: it is {}, and this one reads {}",
                            folder.string(), schema, kSchema),
                "train it again, or use the deft that wrote it");
        for (const char* name : names_of(manifest, CheckpointFiles::all))
            (void)manifest.at("sha256").at(name).get<std::string>();
        counts_of(manifest.at("counts"));
        manifest.at("about");
    } catch (const Json::exception&) {
        // Which of them the library would name in its own words.
        damaged(folder, fmt::format("{} lacks schema, sha256, counts or about, or one of them is garbled", kManifest));
    }
    return manifest;
}

Json verify_checkpoint(const fs::path& folder, CheckpointFiles files) {
    Json manifest = read_manifest(folder);
    for (const char* name : names_of(manifest, files)) require_hash(folder, manifest, name, sha256_file(folder / name));
    return manifest;
}

SafetensorsFile open_weights(const fs::path& folder, const Json& manifest) {
    for (const char* name : names_of(manifest, CheckpointFiles::model))
        if (name != kModel) require_hash(folder, manifest, name, sha256_file(folder / name));
    return open_hashed(folder, manifest, kModel);
}

void load_weights(Exec& exec, Transformer& model, const SafetensorsFile& weights) {
    read_weights(exec, model, match_all(model, weights, true));
}

void load_weights(Exec& exec, Transformer& model, const fs::path& folder) {
    load_weights(exec, model, open_weights(folder, read_manifest(folder)));
}

OpenCheckpoint open_checkpoint(Trainer& trainer, const fs::path& folder, const Json& manifest) {
    if (!manifest.at("sha256").contains(kOptimizer))
        throw Error(ErrorKind::config,
                    fmt::format("checkpoint {} holds weights alone: no training goes on from it", folder.string()));
    OpenCheckpoint open;
    open.weights = open_weights(folder, manifest);
    open.moments = open_hashed(folder, manifest, kOptimizer);
    open.counts = counts_of(manifest.at("counts"));
    open.of_weights = match_all(trainer.model(), open.weights, false);
    const ParameterTable& table = trainer.model().parameters();
    for (const Parameter& p : table.all())
        for (int which = 0; which < table.moments(); ++which) {
            const Tensor& stored = expect(open.moments, moment_name(p, which), shape_of_moment(table, p, which));
            const Share own = table.elements_of_rank(p, table.owner_of(p).rank);
            open.of_moments.push_back({table.own_moment(p, which), stored.part(p.first + own.begin, own.size())});
        }
    if (const Tensor state = trainer.dropper_state())
        open.of_moments.push_back({state, expect(open.moments, kDropperState, state)});
    const auto samples = static_cast<std::int64_t>(trainer.unique_tokens_by_sample().size());
    open.unique_tokens = expect(open.moments, kUniqueTokens, make_tensor(nullptr, DType::i32, {samples}));
    return open;
}

void restore(Trainer& trainer, const OpenCheckpoint& checkpoint) {
    read_weights(trainer.exec(), trainer.model(), checkpoint.of_weights);
    read_all(trainer.exec(), checkpoint.of_moments, checkpoint.moments);
    std::vector<std::int32_t> unique(static_cast<std::size_t>(checkpoint.unique_tokens.numel()));
    checkpoint.moments.file->require_whole();
    if (!unique.empty()) std::memcpy(unique.data(), checkpoint.unique_tokens.data, unique.size() * sizeof unique[0]);
    trainer.restore(checkpoint.counts, unique);
}

Json load_checkpoint(Trainer& trainer, const fs::path& folder) {
    const Json manifest = read_manifest(folder);
    restore(trainer, open_checkpoint(trainer, folder, manifest));
    return manifest.at("about");
}

}  // namespace deft::engine
