// A Llama of experts under Mixtral's names: one tensor an expert there, slices of one tensor here.

#include "base/files.h"
#include "engine/train/checkpoint.h"
#include "tests/engine/exported_folder.h"

using namespace deft;
using namespace deft::test;
using namespace deft::engine;

namespace {

Json tiny_mixtral_json() {
    Json json = tiny_llama_json();
    json.update({{"model_type", "mixtral"}, {"num_local_experts", 3}, {"num_experts_per_tok", 2}});
    return json;
}

constexpr const char* kExpert = "model.layers.1.block_sparse_moe.experts.";

}  // namespace

TEST_CASE("a Mixtral's config.json says what its experts are, and goes both ways", "[bare][python]") {
    Json json = tiny_mixtral_json();
    json.update({{"router_aux_loss_coef", 0.02}, {"rope_theta", 500.0}, {"rms_norm_eps", 0.25}});
    const TransformerConfig config = parsed(json);
    for (const BlockConfig& block : config.blocks) {
        REQUIRE(block.experts.has_value());
        CHECK(*block.experts == ExpertsConfig{.count = 3, .top = 2, .capacity_factor = 0, .aux_weight = 0.02});
        CHECK(block.feed_forward.activation == Activation::swiglu);
        CHECK(!block.feed_forward.bias);
    }
    CHECK(huggingface_counterpart(config).names == WeightNames::mixtral);
    const Json again = huggingface_config(config, DType::f32, -1);
    CHECK(again.at("model_type") == "mixtral");
    CHECK(again.at("num_local_experts") == 3);
    CHECK(again.at("num_experts_per_tok") == 2);
    CHECK(again.at("router_aux_loss_coef") == 0.02);
    CHECK(parsed(again) == config);
    // Where it is silent.
    const TransformerConfig silent = parsed({{"model_type", "mixtral"},
                                             {"hidden_size", 16},
                                             {"num_hidden_layers", 1},
                                             {"num_attention_heads", 8},
                                             {"intermediate_size", 24},
                                             {"vocab_size", 31}});
    CHECK(silent.blocks[0].experts->count == 8);
    CHECK(silent.blocks[0].experts->top == 2);
    CHECK(silent.blocks[0].attention.rope_theta == 1e6);
    CHECK(silent.blocks[0].norm.eps == 1e-5);

    const auto refused = [](const char* key, const Json& value) {
        Json wrong = tiny_mixtral_json();
        wrong[key] = value;
        return refusal(ErrorKind::config, [&] { parsed(wrong); });
    };
    CHECK_THAT(refused("num_experts_per_tok", 1), ContainsSubstring("choose a model whose rows take two experts"));
    CHECK_THAT(refused("num_experts_per_tok", 4), ContainsSubstring("is 4, of 3 experts"));
    CHECK_THAT(refused("sliding_window", 4), ContainsSubstring("sliding_window"));
}

TEST_CASE("what Mixtral has not is not exported, and the reason says what", "[bare][python]") {
    const TransformerConfig config = parsed(tiny_mixtral_json());
    const auto why = [&](const auto& change) {
        TransformerConfig other = config;
        for (BlockConfig& block : other.blocks) change(block);
        const Counterpart counterpart = huggingface_counterpart(other);
        CHECK(counterpart.names == WeightNames::own);
        return counterpart.why_not;
    };
    CHECK_THAT(why([](BlockConfig& block) { block.feed_forward.bias = true; }),
               ContainsSubstring("feed_forward_bias is true"));
    CHECK_THAT(why([](BlockConfig& block) { block.attention.bias = true; }),
               ContainsSubstring("attention_bias is true"));
    CHECK_THAT(why([](BlockConfig& block) { block.experts->residual = true; }), ContainsSubstring("experts is"));
    CHECK_THAT(why([](BlockConfig& block) { block.experts->top = 1; }), ContainsSubstring("num_experts_per_tok is 1"));
    CHECK_THAT(why([](BlockConfig& block) { block.experts->scores_with_capacity = true; }),
               ContainsSubstring("set eval.capacity to \"none\""));
    CHECK_THAT(why([](BlockConfig& block) { block.feed_forward.activation = Activation::gelu_erf; }),
               ContainsSubstring("activation is"));
    TransformerConfig other = config;
    other.blocks[0].experts.reset();
    CHECK_THAT(huggingface_counterpart(other).why_not, ContainsSubstring("not all alike"));
}

TEST_CASE("a Mixtral's tensors are slices of ours, and go back as the same bytes", "[bare][python]") {
    const ExportedFolder exported(tiny_mixtral_json());
    const SafetensorsFile file = read_safetensors(exported.folder / "model.safetensors");
    const std::int64_t C = 16, F = 24, E = 3;
    CHECK(file.tensors.size() == 3 + 2 * (2 + 4 + 1 + 3 * E));
    const auto in = exported.model.weight("h.1.mlp.experts.c_fc.weight");     // (E, 2F, C)
    const auto out = exported.model.weight("h.1.mlp.experts.c_proj.weight");  // (E, C, F)
    const auto slice = [&](const std::vector<float>& all, std::int64_t first) {
        return std::vector<float>(all.begin() + first * F * C, all.begin() + (first + 1) * F * C);
    };
    for (std::int64_t e = 0; e < E; ++e) {
        const auto tensor = [&](const char* name) { return file.tensors.at(kExpert + std::to_string(e) + name); };
        CHECK(tensor(".w1.weight").shape_text() == "(24, 16) f32");
        CHECK(tensor(".w2.weight").shape_text() == "(16, 24) f32");
        CHECK(values<float>(tensor(".w1.weight")) == slice(in, 2 * e));
        CHECK(values<float>(tensor(".w3.weight")) == slice(in, 2 * e + 1));
        CHECK(values<float>(tensor(".w2.weight")) == slice(out, e));
    }
    CHECK(file.tensors.at("model.layers.1.block_sparse_moe.gate.weight").shape_text() == "(3, 16) f32");
    CHECK(exported.imported() == exported.model.weights());

    const TemporaryFolder again;
    OpenedModel other(exported.model.transformer->config(), 99);
    import_weights(other.exec, *other.transformer, open_model(exported.folder.path()));
    export_model(other.exec, *other.transformer, NoTokenizer{}, again.path(), {});
    for (const char* name : {"model.safetensors", "config.json"})
        CHECK(read_file(again / name) == read_file(exported.folder / name));

    save_weights(other.exec, *other.transformer, again / "c", {{"a", 1}}, Tokenizer::bytes());
    OpenedModel loaded(other.transformer->config(), 7);
    load_weights(loaded.exec, *loaded.transformer, again / "c");
    CHECK(loaded.weights() == other.weights());
}

TEST_CASE("a Mixtral whose tensors have other experts than its config.json claims is refused", "[bare][python]") {
    const std::string expert = kExpert;
    {
        const ExportedFolder exported(tiny_mixtral_json());
        exported.rewrite([&](Tensors& tensors) { tensors.erase(expert + "2.w3.weight"); });
        CHECK_THAT(exported.refused(), ContainsSubstring(expert + "2.w3.weight is missing"));
    }
    const ExportedFolder exported(tiny_mixtral_json());
    exported.rewrite([&](Tensors& tensors) { tensors[expert + "3.w1.weight"] = tensors.at(expert + "2.w1.weight"); });
    CHECK_THAT(exported.refused(), ContainsSubstring(expert + "3.w1.weight is not a weight of the model"));
}
