#pragma once
// Tiny models of each family in folders of Hugging Face, whose tensors a test may change.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "engine/io/huggingface_config.h"
#include "engine/io/safetensors.h"
#include "engine/train/export_model.h"
#include "engine/train/foreign_weights.h"
#include "tests/catch.h"
#include "tests/engine/exchange.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

namespace deft::engine {

inline TransformerConfig parsed(const Json& json) {
    return parse_huggingface_config(json, "config.json").config;
}

inline Json tiny_bert_json() {
    return {{"model_type", "bert"},
            {"architectures", {"BertForPreTraining"}},
            {"hidden_size", 16},
            {"num_hidden_layers", 2},
            {"num_attention_heads", 2},
            {"intermediate_size", 24},
            {"max_position_embeddings", 9},
            {"vocab_size", 31}};
}
inline Json tiny_llama_json() {
    return {{"model_type", "llama"},        {"hidden_size", 16},        {"num_hidden_layers", 2},
            {"num_attention_heads", 4},     {"num_key_value_heads", 2}, {"intermediate_size", 24},
            {"max_position_embeddings", 9}, {"vocab_size", 31}};
}
inline Json tiny_gpt2_json() {
    return {{"model_type", "gpt2"}, {"n_embd", 16},     {"n_layer", 2},
            {"n_head", 2},          {"n_positions", 9}, {"vocab_size", 31}};
}
inline Json tiny_vit_json() {
    return {{"model_type", "vit"},      {"hidden_size", 16},       {"num_hidden_layers", 2},
            {"num_attention_heads", 2}, {"intermediate_size", 24}, {"image_size", 8},
            {"patch_size", 4},          {"num_channels", 3},       {"num_labels", 3}};
}

// A folder of Hugging Face that our model was exported to, whose tensors a test may change.
struct ExportedFolder {
    explicit ExportedFolder(const Json& json, std::int64_t shard_bytes = 0) : model(parsed(json)) {
        export_model(model.exec, *model.transformer, NoTokenizer{}, folder.path(), {.shard_bytes = shard_bytes});
    }
    // Writes the tensors as `change` leaves them.
    using Tensors = std::map<std::string, Tensor>;
    void rewrite(const std::function<void(Tensors&)>& change) const {
        const SafetensorsFile file = read_safetensors(folder / "model.safetensors");
        Tensors tensors = file.tensors;
        change(tensors);
        std::vector<NamedTensor> named;
        for (const auto& [name, tensor] : tensors) named.push_back({name, tensor});
        write_safetensors(folder / "model.safetensors", named, {{"format", "pt"}});
    }
    std::vector<float> imported(ImportReport* report = nullptr) const {
        OpenedModel other(model.transformer->config(), 99);
        const ImportReport said = import_weights(other.exec, *other.transformer, open_model(folder.path()));
        if (report != nullptr) *report = said;
        return other.weights();
    }
    std::string refused(ErrorKind kind = ErrorKind::config) const {
        OpenedModel other(model.transformer->config(), 99);
        const std::vector<float> before = other.weights();
        const std::string said =
            test::refusal(kind, [&] { import_weights(other.exec, *other.transformer, open_model(folder.path())); });
        CHECK(other.weights() == before);
        return said;
    }

    test::TemporaryFolder folder;
    OpenedModel model;
};

using Tensors = ExportedFolder::Tensors;

inline void rename(Tensors& tensors, const std::string& from, const std::string& to) {
    tensors[to] = tensors.at(from);
    tensors.erase(from);
}

// Names without that beginning.
inline void drop_prefix(Tensors& tensors, const std::string& prefix) {
    Tensors renamed;
    for (const auto& [name, tensor] : tensors)
        renamed[name.starts_with(prefix) ? name.substr(prefix.size()) : name] = tensor;
    tensors = renamed;
}

}  // namespace deft::engine
