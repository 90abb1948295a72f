// config.json: what is refused by name, and what Hugging Face has not.

#include "engine/io/huggingface_config.h"

#include "tests/engine/exported_folder.h"

using namespace deft;
using namespace deft::test;
using namespace deft::engine;
namespace fs = std::filesystem;

TEST_CASE("settings that no model of deft has are refused by name", "[bare][python]") {
    const auto refused = [](Json json, const char* key, const Json& value, ErrorKind kind = ErrorKind::config) {
        json[key] = value;
        const std::string said = refusal(kind, [&] { parsed(json); });
        INFO(key);
        CHECK_THAT(said, ContainsSubstring(key));
        return said;
    };
    refused(tiny_llama_json(), "rope_scaling", {{"type", "linear"}, {"factor", 2.0}});
    refused(tiny_llama_json(), "hidden_act", "gelu");
    refused(tiny_llama_json(), "head_dim", 8);
    refused(tiny_llama_json(), "num_key_value_heads", 3);
    refused(tiny_llama_json(), "rope_parameters", {{"rope_type", "llama3"}});
    refused(tiny_gpt2_json(), "activation_function", "relu");
    refused(tiny_gpt2_json(), "scale_attn_by_inverse_layer_idx", true);
    refused(tiny_gpt2_json(), "scale_attn_weights", false);
    refused(tiny_gpt2_json(), "n_head", 3);
    refused(tiny_gpt2_json(), "n_embd", "sixteen");
    refused(tiny_gpt2_json(), "n_layer", 0);
    refused(tiny_gpt2_json(), "n_layer", 10'001);
    refused(tiny_gpt2_json(), "n_positions", nullptr);
    refused(tiny_gpt2_json(), "attn_pdrop", 1.5);
    refused(tiny_gpt2_json(), "add_cross_attention", true);
    refused(tiny_gpt2_json(), "pruned_heads", {{"0", {1}}});
    refused(tiny_bert_json(), "position_embedding_type", "relative_key");
    refused(tiny_bert_json(), "is_decoder", true);
    refused(tiny_vit_json(), "qkv_bias", false);
    refused(tiny_vit_json(), "patch_size", 3);
    refused(tiny_vit_json(), "image_size", {8, 8, 8});
    CHECK_THAT(refused(tiny_bert_json(), "some_new_idea", 3), ContainsSubstring("a setting that deft does not know"));
    refused(tiny_bert_json(), "model_type", "mamba");
    refused(tiny_bert_json(), "model_type", 7, ErrorKind::io);
    Json with_null = tiny_bert_json();
    with_null["some_new_idea"] = nullptr;
    CHECK(parsed(with_null) == parsed(tiny_bert_json()));

    Json newer = tiny_llama_json();
    newer["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 5000.0}};
    CHECK(parsed(newer).blocks[1].attention.rope_theta == 5000.0);
    Json older = tiny_llama_json();
    older["rope_theta"] = 500000;
    older["rms_norm_eps"] = 1e-5;
    older["tie_word_embeddings"] = true;
    CHECK(parsed(older).blocks[1].attention.rope_theta == 500000.0);
    CHECK(parsed(older).blocks[1].norm == NormSpec{NormKind::rms, 1e-5});
    CHECK(parsed(older).head->tied);
    CHECK_FALSE(parsed(tiny_llama_json()).head->tied);
}

TEST_CASE("what Hugging Face has not is not exported, and the reason names its parts", "[bare][python]") {
    TransformerConfig rotary = parsed(tiny_bert_json());
    rotary.input.positions = Positions::none;
    for (BlockConfig& block : rotary.blocks) block.attention.rope_theta = 10000;
    OpenedModel model(rotary);
    const TemporaryFolder folder;
    CHECK_THAT(refusal(ErrorKind::config,
                       [&] { export_model(model.exec, *model.transformer, NoTokenizer{}, folder.path(), {}); }),
               ContainsSubstring("BERT of Hugging Face is made of other parts") &&
                   ContainsSubstring("learned_positions is false, and true there") &&
                   ContainsSubstring("rope_theta is 10000.0, and absent there"));
    CHECK(fs::is_empty(folder.path()));

    OpenedModel large(parsed(tiny_gpt2_json()));
    for (const Parameter& p : large.transformer->parameters().all())
        if (p.name == "h.1.mlp.c_fc.weight") p.value.as<float>()[5] = 1e6f;
    CHECK_THAT(
        refusal(
            ErrorKind::config,
            [&] { export_model(large.exec, *large.transformer, NoTokenizer{}, folder.path(), {.dtype = DType::f16}); }),
        ContainsSubstring("transformer.h.1.mlp.c_fc.weight has a value beyond 65504"));
}
