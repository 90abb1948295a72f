// engine/io/huggingface_config.h, and back again where it is taken

#include "engine/io/huggingface_config.h"

#include "base/json.h"
#include "tests/fuzz/target.h"

using namespace deft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::read_or_refuse([&] {
        const Json json = try_parse_json(fuzz::view(data, size));
        const engine::HuggingFaceModel model = engine::parse_huggingface_config(json, "config.json");
        const engine::Counterpart counterpart = engine::huggingface_counterpart(model.config);
        if (counterpart.names != model.names) throw std::logic_error("another family: " + counterpart.why_not);
    });
}

std::vector<std::string> fuzz::seeds() {
    return {
        R"({"model_type": "gpt2", "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 9, "vocab_size": 31,
            "activation_function": "gelu_new", "n_inner": null, "resid_pdrop": 0.1, "tie_word_embeddings": false})",
        R"({"model_type": "bert", "architectures": ["BertForMaskedLM"], "hidden_size": 16, "num_hidden_layers": 2,
            "num_attention_heads": 2, "intermediate_size": 24, "max_position_embeddings": 9, "vocab_size": 31,
            "hidden_act": "gelu", "type_vocab_size": 2, "layer_norm_eps": 1e-12})",
        R"({"model_type": "vit", "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
            "intermediate_size": 24, "image_size": [8, 4], "patch_size": 4, "id2label": {"0": "a", "1": "b"}})",
        R"({"model_type": "llama", "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
            "num_key_value_heads": 2, "intermediate_size": 24, "vocab_size": 31, "rope_theta": 5000.0,
            "rope_parameters": {"rope_type": "default", "rope_theta": 100.0}, "rms_norm_eps": 1e-5})"};
}
