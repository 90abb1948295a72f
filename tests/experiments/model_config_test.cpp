// [model]: what each kind's defaults are, what can be set, and what is refused with its place.

#include "base/json.h"
#include "engine/io/huggingface_config.h"
#include "experiments/engine_config.h"
#include "experiments/model_kinds.h"
#include "tests/catch.h"
#include "tests/experiments/known_data.h"
#include "tests/experiments/trial_config.h"

using namespace deft;
using namespace deft::experiments;
using test::trial_of;
using test::wrong_trial;

namespace {

const std::string kTrain = "[train]\nbudget_tokens = 100_000\n";
const std::string kBert = "[data]\nsamples = \"bert\"\ntokenizer = \"words.txt\"\n";

engine::TransformerConfig model_of(const std::string& model, const std::string& data = "") {
    TrialConfig config = trial_of(kTrain + data + "[model]\n" + model);
    config.data.vocab = 300;
    return trainer_config(config).model;
}

// The first line of `model` is line 4, after BERT's samples line 7.
std::string refused(const std::string& model, const std::string& data = "") {
    return wrong_trial(kTrain + data + "[model]\n" + model + "\n");
}

}  // namespace

TEST_CASE("without further keys a model is GPT-2's, as the engine makes it") {
    const engine::TransformerConfig plain =
        model_of("layers = 3\nwidth = 48\nheads = 4\nseqlen = 32\ninit_std = 0.1\n");
    CHECK(plain == engine::gpt2_config(3, 48, 4, 32, 300, 0.1));
    const auto names_of = [](const std::string& text) {
        return engine::huggingface_counterpart(model_of(text + "\n")).names;
    };
    CHECK(engine::huggingface_counterpart(plain).names == engine::WeightNames::gpt2);
    for (const char* own : {"dropout = 0.1\nattention_dropout = 0.1\ninput_dropout = 0.1\nnorm_eps = 1e-6",
                            "hidden = 100", "tied_head = false", "activation = \"gelu_erf\""})
        CHECK(names_of(own) == engine::WeightNames::gpt2);
    for (const char* other : {"kv_heads = 1", "norm = \"rms\"", "positions = \"none\"", "attention_bias = false",
                              "head_bias = true", "norm_placement = \"post\""})
        CHECK(names_of(other) == engine::WeightNames::own);
    CHECK(names_of("kind = \"llama\"") == engine::WeightNames::llama);
}

TEST_CASE("a kind's defaults are those of its paper, and every one can be changed") {
    const engine::TransformerConfig bert = model_of("kind = \"bert\"\nwidth = 48\nheads = 4\n", kBert);
    CHECK(bert == model_of("width = 48\nheads = 4\n", kBert));
    const engine::BlockConfig& block = bert.blocks.at(0);
    CHECK(block.placement == engine::NormPlacement::post);
    CHECK(block.norm == engine::NormSpec{engine::NormKind::layer, 1e-12});
    CHECK_FALSE(block.attention.causal);
    CHECK(block.attention.dropout == 0.1);
    CHECK(block.dropout == 0.1);
    CHECK(block.feed_forward == engine::FeedForwardConfig{192, engine::Activation::gelu_erf, true});
    CHECK(bert.input == engine::InputConfig{engine::Positions::learned, 2, block.norm, 0.1});
    CHECK_FALSE(bert.final_norm);
    CHECK(bert.head == engine::HeadConfig{true, true, 0.15,  // the masked share has targets
                                          engine::HeadTransform{engine::Activation::gelu_erf, block.norm}});
    CHECK(bert.class_head == engine::ClassHeadConfig{2, engine::Pooling::first, true});
    CHECK_FALSE(model_of("order_head = false\n", kBert).class_head);
    CHECK_FALSE(model_of("head_transform = false\n", kBert).head->transform);
    CHECK_FALSE(model_of("width = 48\nheads = 4\n", kBert + "bert = { pairs = false }\n").class_head);

    const engine::TransformerConfig llama = model_of("kind = \"llama\"\nwidth = 48\nheads = 4\nkv_heads = 2\n");
    const engine::BlockConfig& layer = llama.blocks.at(1);
    CHECK(layer.placement == engine::NormPlacement::pre);
    CHECK(layer.norm.kind == engine::NormKind::rms);
    CHECK(layer.attention.rope_theta == 10000.0);
    CHECK(layer.attention.kv_heads == 2);
    CHECK_FALSE(layer.attention.bias);
    CHECK(layer.feed_forward == engine::FeedForwardConfig{128, engine::Activation::swiglu, false});
    CHECK(llama.input.positions == engine::Positions::none);
    CHECK(llama.final_norm->kind == engine::NormKind::rms);
    CHECK(llama.head == engine::HeadConfig{false, false});
    // 8/3 of 40, rounded up to a multiple of 8.
    CHECK(model_of("kind = \"llama\"\nwidth = 40\n").blocks[0].feed_forward.hidden == 112);

    CHECK(model_of("kind = \"llama\"\npositions = \"learned\"\nnorm = \"layer\"\nattention_bias = true\n"
                   "feed_forward_bias = true\nactivation = \"gelu_tanh\"\ntied_head = true\n") == model_of(""));
}

TEST_CASE("a model is what its keys are, whichever kind named them") {
    const std::string llama = "[model]\nkind = \"llama\"\n",
                      spelt =
                          "[model]\npositions = \"rope\"\nnorm = \"rms\"\nattention_bias = false\n"
                          "feed_forward_bias = false\nactivation = \"swiglu\"\ntied_head = false\n";
    CHECK(config_hash(test::with_known_data(kTrain + llama)) == config_hash(test::with_known_data(kTrain + spelt)));
    CHECK(config_hash(test::with_known_data(kTrain + llama)) != config_hash(test::with_known_data(kTrain)));
    for (const std::string& model :
         {llama, spelt, std::string("[model]\nkv_heads = 1\nhidden = 8\npositions = \"rope\"\nrope_theta = 5.0\n")}) {
        const TrialConfig config = test::with_known_data(kTrain + model);
        CHECK(to_json(from_json(to_json(config))) == to_json(config));
        CHECK(transformer_config(from_json(to_json(config)).model, 9) == transformer_config(config.model, 9));
    }
    // Values that older versions implied are not written, though a kind may have another default.
    for (const char* own : {"", "head_transform = false\n", "order_head = false\nhead_transform = false\n"}) {
        const TrialConfig bert = test::with_known_data(kTrain + kBert + "[model]\n" + own);
        CHECK(transformer_config(from_json(to_json(bert)).model, 9) == transformer_config(bert.model, 9));
        CHECK(config_hash(from_json(to_json(bert))) == config_hash(bert));
    }
    CHECK_FALSE(to_json(test::with_known_data(kTrain)).at("model").contains("order_head"));
}

TEST_CASE("invalid models are refused with their place and help") {
    CHECK_THAT(refused("kind = \"gtp\""), ContainsSubstring("t.toml:4:") && ContainsSubstring("did you mean \"gpt\"?"));
    CHECK_THAT(refused("heads = 4\nkv_heads = 3"),
               ContainsSubstring("t.toml:5:") && ContainsSubstring("must divide model.heads = 4"));
    CHECK_THAT(refused("kv_heads = 0"), ContainsSubstring("t.toml:4:") && ContainsSubstring("at least 1"));
    CHECK_THAT(refused("width = 65"), ContainsSubstring("t.toml:4:") && ContainsSubstring("multiple of model.heads"));
    CHECK_THAT(refused("positions = \"rope\"\nwidth = 6"),
               ContainsSubstring("t.toml:4:") && ContainsSubstring("width / heads is 3"));
    CHECK_THAT(refused("rope_theta = 5.0"),
               ContainsSubstring("t.toml:4:") && ContainsSubstring("has no effect with positions = \"learned\""));
    CHECK_THAT(refused("hidden = 0"), ContainsSubstring("t.toml:4:") && ContainsSubstring("at least 1"));
    for (const char* key : {"dropout", "attention_dropout", "input_dropout"})
        for (const char* value : {"1.0", "-0.1", "nan"})
            CHECK_THAT(refused(std::string(key) + " = " + value), ContainsSubstring("t.toml:4:"));
    CHECK_THAT(refused("norm_eps = 0.0"), ContainsSubstring("t.toml:4:") && ContainsSubstring("above 0"));
    CHECK_THAT(refused("activation = \"relu\""), ContainsSubstring("t.toml:4:"));
    CHECK_THAT(refused("kv_head = 1"), ContainsSubstring("t.toml:4:") && ContainsSubstring("did you mean kv_heads?"));
    CHECK_THAT(refused("attention_dropout = 0.1\nheads = 512\nwidth = 512"),
               ContainsSubstring("t.toml:4:") && ContainsSubstring("at most 256 heads"));
}

TEST_CASE("samples that a model's input cannot take are refused") {
    CHECK_THAT(refused("kind = \"bert\""), ContainsSubstring("packed samples train next-token prediction"));
    CHECK_THAT(refused("segments = 2"),
               ContainsSubstring("t.toml:4:") && ContainsSubstring("packed samples have no segments"));
    CHECK_THAT(refused("causal = true", kBert), ContainsSubstring("t.toml:7:") && ContainsSubstring("from both sides"));
    CHECK_THAT(refused("kind = \"gpt\"", kBert), ContainsSubstring("model.kind = \"bert\""));
    CHECK_THAT(refused("segments = 1", kBert), ContainsSubstring("t.toml:7:") && ContainsSubstring("have two"));
    CHECK_THAT(refused("seqlen = 4", kBert), ContainsSubstring("t.toml:7:") && ContainsSubstring("at least 5"));
    CHECK(model_of("segments = 0\n", kBert).input.segments == 0);
    CHECK_THAT(refused("order_head = true"), ContainsSubstring("t.toml:4:") && ContainsSubstring("two segments"));
    CHECK_THAT(refused("order_head = true", kBert + "bert = { pairs = false }\n"),
               ContainsSubstring("t.toml:8:") && ContainsSubstring("data.bert.pairs = true"));
    CHECK_THAT(refused("head_transform = true\nactivation = \"swiglu\""),
               ContainsSubstring("t.toml:4:") && ContainsSubstring("which requires a gate"));
}

TEST_CASE("tokens are dropped after the first where a head reads that for the whole sample") {
    const std::string dropping = "[random_ltd]\nmin = 8\nstep = 4\nduration = 0.5\n";
    CHECK(trial_of(kTrain + kBert + dropping).token_dropping->keep_first == 1);
    CHECK(trial_of(kTrain + kBert + dropping + "keep_first = 0\n").token_dropping->keep_first == 0);
    CHECK(trial_of(kTrain + kBert + dropping + "[model]\norder_head = false\n").token_dropping->keep_first == 0);
    CHECK(trial_of(kTrain + dropping).token_dropping->keep_first == 0);
}

TEST_CASE("[model] of a model's parts is what it was made of") {
    for (const char* text :
         {"", "kind = \"llama\"\nkv_heads = 1\nrope_theta = 500\n", "norm_placement = \"post\"\nnorm_eps = 1e-6\n",
          "positions = \"none\"\ntied_head = false\nhead_bias = true\nhead_transform = true\nhidden = 24\n",
          "activation = \"gelu_erf\"\nattention_bias = false\nfeed_forward_bias = false\ninput_norm = true\n",
          "dropout = 0.1\nattention_dropout = 0.2\ninput_dropout = 0.3\nseqlen = 24\nlayers = 5\nwidth = 96\nheads = "
          "6\n"}) {
        const engine::TransformerConfig parts = model_of(text);
        CHECK(transformer_config(model_config(parts), parts.vocab) == parts);
    }
    for (const bool pairs : {false, true}) {
        TrialConfig bert;
        bert.model = defaults_of_kind("bert");
        bert.model.order_head = pairs;
        bert.model.kv_heads = bert.model.heads;
        bert.model.hidden = 256;
        const engine::TransformerConfig parts = transformer_config(bert.model, 300);
        CHECK(transformer_config(model_config(parts), 300) == parts);
        CHECK(model_config(parts).kind == "bert");
    }
    for (const kernels::Pooling pooling : {kernels::Pooling::first, kernels::Pooling::mean}) {
        ModelConfig vit = defaults_of_kind("vit");
        vit.pooling = pooling;
        vit.kv_heads = vit.heads;
        vit.hidden = 256;
        vit.image_height = 12;
        vit.image_width = 8;
        vit.image_channels = 3;
        vit.classes = 7;
        vit.seqlen = 7;
        const engine::TransformerConfig parts = transformer_config(vit, 0);
        CHECK(transformer_config(model_config(parts), 0) == parts);
    }
    for (const bool is_value : {false, true}) {
        ModelConfig labelled = defaults_of_kind("bert");
        labelled.order_head = labelled.head_bias = labelled.head_transform = false;
        labelled.kv_heads = labelled.heads;
        labelled.hidden = 256;
        labelled.classes = is_value ? 0 : 3;
        labelled.value_head = is_value;
        labelled.head_dropout = 0.25;
        const engine::TransformerConfig parts = transformer_config(labelled, 300);
        CHECK(transformer_config(model_config(parts), 300) == parts);
    }
}
