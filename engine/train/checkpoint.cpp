#include "engine/train/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <deque>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/sha256.h"
#include "engine/core/exec.h"
#include "engine/data/bpe/bpe_files.h"
#include "engine/io/safetensors.h"

namespace deft::engine {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSchema = "deft-checkpoint/2";
constexpr const char* kManifest = "checkpoint.json";
constexpr const char* kFiles[] = {"config.json", "model.safetensors", "optimizer.safetensors"};
constexpr const char* kUniqueTokens = "unique_tokens";
constexpr const char* kRouterState = "router_state";

std::string hugging_face_name(const Parameter& parameter) {
    return "transformer." + parameter.name;
}

// Hugging Face's GPT-2 has its linear weights as (in, out).
bool is_transposed(const Parameter& parameter) {
    return parameter.kind == ParameterKind::matrix || parameter.kind == ParameterKind::residual;
}

// (rows, columns) to (columns, rows)
void transpose(const float* from, float* to, std::int64_t rows, std::int64_t columns) {
    constexpr std::int64_t kTile = 32;
    for (std::int64_t r0 = 0; r0 < rows; r0 += kTile)
        for (std::int64_t c0 = 0; c0 < columns; c0 += kTile)
            for (std::int64_t r = r0; r < std::min(rows, r0 + kTile); ++r)
                for (std::int64_t c = c0; c < std::min(columns, c0 + kTile); ++c)
                    to[c * rows + r] = from[r * columns + c];
}

Json hugging_face_config(const TransformerConfig& c, std::int32_t end_of_document) {
    return {{"architectures", {"GPT2LMHeadModel"}},
            {"model_type", "gpt2"},
            {"n_embd", c.width},
            {"n_layer", c.layers},
            {"n_head", c.heads},
            {"n_positions", c.max_seqlen},
            {"vocab_size", c.vocab},
            {"layer_norm_epsilon", kernels::kLayerNormEps},
            {"activation_function", "gelu_new"},
            {"bos_token_id", end_of_document},
            {"eos_token_id", end_of_document}};
}

// Copies on the host of a model's tensors, to be written.
class HostTensors {
 public:
    // As it is, or with rows and columns exchanged.
    void add(Exec& exec, const std::string& name, const Tensor& tensor, bool transposed = false) {
        copies_.push_back(host_copy<float>(exec, tensor));
        Tensor own = tensor;
        if (transposed) {
            std::vector<float> turned(copies_.back().size());
            transpose(copies_.back().data(), turned.data(), tensor.dim(0), tensor.dim(1));
            copies_.back() = std::move(turned);
            std::swap(own.shape[0], own.shape[1]);
        }
        own.data = copies_.back().data();
        tensors_.push_back({name, own});
    }
    std::vector<NamedTensor>& tensors() { return tensors_; }

 private:
    std::deque<std::vector<float>> copies_;
    std::vector<NamedTensor> tensors_;
};

void write_weights(Exec& exec, const Transformer& model, const fs::path& file) {
    HostTensors host;
    for (const Parameter& p : model.parameters().all())
        host.add(exec, hugging_face_name(p), p.value, is_transposed(p));
    write_safetensors(file, host.tensors(), {{"format", "pt"}});
}

void write_optimizer(Trainer& trainer, const fs::path& file) {
    const ParameterTable& table = trainer.model().parameters();
    HostTensors host;
    for (const Parameter& p : table.all()) {
        host.add(trainer.exec(), p.name + ".m", table.first_moment(p));
        host.add(trainer.exec(), p.name + ".v", table.second_moment(p));
    }
    if (const Tensor state = trainer.router_state()) host.add(trainer.exec(), kRouterState, state);
    std::vector<std::int32_t> unique = trainer.unique_tokens_by_sample();
    host.tensors().push_back({kUniqueTokens, make_tensor(unique.data(), DType::i32, {static_cast<std::int64_t>(unique.size())})});
    write_safetensors(file, host.tensors(), {});
}

void sync_folder(const fs::path& folder) {
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;  // some file systems cannot
    ::fsync(descriptor);
    ::close(descriptor);
}

[[noreturn]] void damaged(const fs::path& folder, const std::string& why) {
    throw Error(ErrorKind::io, fmt::format("checkpoint {} is damaged: {}", folder.string(), why));
}

// The tensor of that name and shape. Errors: config.
const Tensor& expect(const SafetensorsFile& file, const std::string& name, DType dtype,
                     std::initializer_list<std::int64_t> shape, const fs::path& folder) {
    const auto found = file.tensors.find(name);
    const Tensor wanted = make_tensor(nullptr, dtype, shape);
    if (found == file.tensors.end() || found->second.dtype != dtype ||
        found->second.shape_text() != wanted.shape_text())
        throw Error(ErrorKind::config,
                    fmt::format("checkpoint {} is of another model: its {} is {}, and {} is wanted", folder.string(), name,
                                found == file.tensors.end() ? "missing" : found->second.shape_text(),
                                wanted.shape_text()),
                    "name a checkpoint of this configuration");
    return found->second;
}

std::vector<Tensor> expect_weights(const Transformer& model, const SafetensorsFile& file, const fs::path& folder) {
    std::vector<Tensor> found;
    for (const Parameter& p : model.parameters().all()) {
        const Tensor& v = p.value;
        const std::string name = hugging_face_name(p);
        if (v.rank == 1)
            found.push_back(expect(file, name, v.dtype, {v.dim(0)}, folder));
        else if (is_transposed(p))
            found.push_back(expect(file, name, v.dtype, {v.dim(1), v.dim(0)}, folder));
        else
            found.push_back(expect(file, name, v.dtype, {v.dim(0), v.dim(1)}, folder));
    }
    return found;
}

void copy_weights(Exec& exec, Transformer& model, const std::vector<Tensor>& weights) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const Parameter& p = model.parameters()[i];
        const Tensor& from = weights[i];
        if (is_transposed(p)) {
            std::vector<float> turned(static_cast<std::size_t>(from.numel()));
            transpose(from.as<float>(), turned.data(), from.dim(0), from.dim(1));
            write_tensor(exec, p.value, turned.data());
        } else {
            write_tensor(exec, p.value, from.data);
        }
    }
    model.parameters().refresh_rounded(exec);
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
    return {json.at("steps"),      json.at("samples"),        json.at("input_tokens"),  json.at("layer_tokens"),
            json.at("flops"),      json.at("cut_tokens"),     json.at("padding_tokens"), json.at("draws_by_tenth")};
}

std::string save(Trainer& trainer, bool with_optimizer, const fs::path& folder, const Json& about,
                 const Tokenizer& tokenizer) {
    const fs::path temporary = folder.parent_path() / "unfinished";  // one name: a kill leaves at most one
    fs::remove_all(temporary);
    make_folder(temporary);
    const Json config = hugging_face_config(trainer.config().model, tokenizer.end_of_document());
    write_file_atomically(temporary / kFiles[0], config.dump(2) + "\n");
    write_weights(trainer.exec(), trainer.model(), temporary / kFiles[1]);
    std::vector<const char*> written = {kFiles[0], kFiles[1]};
    if (with_optimizer) {
        write_optimizer(trainer, temporary / kFiles[2]);
        written.push_back(kFiles[2]);
    }
    if (tokenizer.bpe() != nullptr) {
        write_tokenizer(tokenizer, temporary);
        written.insert(written.end(), std::begin(kBpeFiles), std::end(kBpeFiles));
    }
    Json manifest = {{"schema", kSchema}, {"counts", counts_json(trainer.counts())}, {"about", about}};
    for (const char* name : written) manifest["sha256"][name] = sha256_file(temporary / name);
    write_file_atomically(temporary / kManifest, manifest.dump(2) + "\n");
    fs::remove_all(folder);
    fs::rename(temporary, folder);
    sync_folder(folder.parent_path());
    return manifest["sha256"][kFiles[1]];
}

}  // namespace

std::string save_checkpoint(Trainer& trainer, const fs::path& folder, const Json& about, const Tokenizer& tokenizer) {
    return save(trainer, true, folder, about, tokenizer);
}

std::string save_weights(Trainer& trainer, const fs::path& folder, const Json& about, const Tokenizer& tokenizer) {
    return save(trainer, false, folder, about, tokenizer);
}

Json verify_checkpoint(const fs::path& folder) {
    const Json manifest = try_parse_json(read_file(folder / kManifest));
    if (!manifest.is_object()) damaged(folder, fmt::format("{} is no JSON object", kManifest));
    try {
        const auto schema = manifest.at("schema").get<std::string>();
        if (schema != kSchema)
            throw Error(ErrorKind::io,
                        fmt::format("checkpoint {} was written by another version of deft: it is {}, and this one reads {}",
                                    folder.string(), schema, kSchema),
                        "train it again, or use the deft that wrote it");
        const Json& hashes = manifest.at("sha256");
        std::vector<const char*> names = {kFiles[0], kFiles[1]};
        for (const char* name : {kFiles[2], kBpeFiles[0], kBpeFiles[1], kBpeFiles[2]})
            if (hashes.contains(name)) names.push_back(name);
        for (const char* name : names)
            if (sha256_file(folder / name) != hashes.at(name).get<std::string>())
                damaged(folder, fmt::format("{} is not what was written", name));
        counts_of(manifest.at("counts"));
        manifest.at("about");
    } catch (const Json::exception&) {
        // Which of them the library would name in its own words.
        damaged(folder, fmt::format("{} lacks schema, sha256, counts or about, or one of them is garbled", kManifest));
    }
    return manifest;
}

Json load_checkpoint(Trainer& trainer, const fs::path& folder) {
    const Json manifest = verify_checkpoint(folder);
    if (!manifest.at("sha256").contains(kFiles[2]))
        throw Error(ErrorKind::config, fmt::format("checkpoint {} holds weights alone: no training goes on from it",
                                                   folder.string()));
    const SafetensorsFile weights = read_safetensors(folder / kFiles[1]), moments = read_safetensors(folder / kFiles[2]);
    const ParameterTable& table = trainer.model().parameters();
    const std::vector<Tensor> values = expect_weights(trainer.model(), weights, folder);
    std::vector<std::pair<Tensor, Tensor>> copies;  // to, from
    for (const Parameter& p : table.all())
        for (const auto& [own, suffix] : {std::pair{table.first_moment(p), ".m"}, {table.second_moment(p), ".v"}})
            copies.emplace_back(own, own.rank == 1
                                         ? expect(moments, p.name + suffix, own.dtype, {own.dim(0)}, folder)
                                         : expect(moments, p.name + suffix, own.dtype, {own.dim(0), own.dim(1)}, folder));
    if (const Tensor state = trainer.router_state())
        copies.emplace_back(state, expect(moments, kRouterState, state.dtype, {state.dim(0)}, folder));
    const auto samples = static_cast<std::int64_t>(trainer.unique_tokens_by_sample().size());
    const Tensor unique = expect(moments, kUniqueTokens, DType::i32, {samples}, folder);

    copy_weights(trainer.exec(), trainer.model(), values);
    for (const auto& [to, from] : copies) write_tensor(trainer.exec(), to, from.data);
    trainer.restore(counts_of(manifest.at("counts")),
                    {unique.as<std::int32_t>(), static_cast<std::size_t>(unique.numel())});
    return manifest.at("about");
}

void load_weights(Exec& exec, Transformer& model, const fs::path& folder) {
    verify_checkpoint(folder);
    const SafetensorsFile weights = read_safetensors(folder / kFiles[1]);
    copy_weights(exec, model, expect_weights(model, weights, folder));
}

}  // namespace deft::engine
