// One training step against PyTorch, where it is installed.

#include <cstdlib>
#include <filesystem>

#include "base/process.h"
#include "engine/io/safetensors.h"
#include "engine/train/debug_state.h"
#include "tests/catch.h"
#include "tests/engine/bert_corpus.h"
#include "tests/engine/small_vit.h"
#include "tests/engine/tiny.h"
#include "tests/python.h"

using namespace deft::engine;
using namespace deft::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kPython = "/usr/bin/python3";
constexpr const char* kScript = DEFT_SOURCE_DIR "/tests/engine/pytorch_parity.py";

struct Folder {
    Folder() {
        char name[] = "/tmp/deft-parity-XXXXXX";
        path = mkdtemp(name);
    }
    ~Folder() { fs::remove_all(path); }
    fs::path path;
};

TokenDropping random_on_two_layers() {
    return random_ltd(4, {7, 7, 1, 0, 1});
}

// Trains two steps, then lays open the third.
void write_third_step(const fs::path& file, const TokenDropping& dropping = random_on_two_layers(),
                      OptimizerKind optimizer = OptimizerKind::adamw) {
    TrainerConfig config = tiny_config(4, 13, 5);
    config.optimizer.kind = optimizer;
    config.techniques.dropping = dropping;
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    Trainer trainer(config, corpus, 1);
    for (int i = 0; i < 2; ++i) trainer.step();
    write_debug_state(trainer, file);
}

// BERT's parts, with its norms after or before each half.
TransformerConfig bert_of(NormPlacement placement) {
    TransformerConfig model = gpt2_config(4, 12, 2, 20, 14, 0.2);
    const NormSpec norm{NormKind::layer, 1e-12};
    for (BlockConfig& block : model.blocks) {
        block.placement = placement;
        block.norm = norm;
        block.attention.causal = false;
        block.feed_forward.activation = Activation::gelu_erf;
    }
    model.input.segments = 2;
    model.input.norm = norm;
    model.final_norm = placement == NormPlacement::post ? std::nullopt : std::optional(norm);
    model.head->bias = true;
    model.head->transform = {Activation::gelu_erf, norm};
    model.class_head = ClassHeadConfig{.pooler = true};
    return model;
}

// Llama's, two heads of queries to one of keys and values.
TransformerConfig llama_of() {
    TransformerConfig model = gpt2_config(4, 16, 4, 20, 14, 0.2);
    for (BlockConfig& block : model.blocks) {
        block.norm.kind = NormKind::rms;
        block.attention.kv_heads = 2;
        block.attention.bias = block.feed_forward.bias = false;
        block.attention.rope_theta = 10000;
        block.feed_forward.hidden = 40;
        block.feed_forward.activation = Activation::swiglu;
    }
    model.input.positions = Positions::none;
    model.final_norm->kind = NormKind::rms;
    model.head->tied = false;
    return model;
}

// A model of images, with weights as large as the others'.
TransformerConfig vit_of(PositionsOf positions, Pooling pooling) {
    TransformerConfig model = small_vit(positions, pooling);
    model.blocks.resize(4, model.blocks[0]);
    model.init_std = 0.2;
    return model;
}

// drops: about half the tokens, in the two inner layers.
void write_third_step_of(const fs::path& file, const TransformerConfig& model, const TrainingData& data, bool drops,
                         bool packs = true) {
    TrainerConfig config = tiny_config(4, 20, 5);
    config.model = model;
    config.packs_samples = packs;
    const std::int64_t half = (model.max_seqlen - 1) / 2;
    if (drops) config.techniques.dropping = random_ltd(4, {half, half, 1, 0, 1});
    Trainer trainer(config, data, 1);
    for (int i = 0; i < 2; ++i) trainer.step();
    write_debug_state(trainer, file);
}

}  // namespace

TEST_CASE("a training step of BERT, packed and padded, and of a Llama-like model is PyTorch's, with dropped tokens too",
          "[bare][python]") {
    const Folder folder;
    if (!fs::exists(kPython)) DEFT_SKIP("no /usr/bin/python3");
    const auto samples = small_samples(20);
    const TokenCorpus text = tiny_corpus(4000, 14);
    std::vector<std::string> command = {kPython, kScript};
    const auto next = [&] {
        return command.emplace_back((folder.path / (std::to_string(command.size()) + ".safetensors")).string());
    };
    for (const bool drops : {false, true}) {
        for (const bool packs : {false, true})
            for (const NormPlacement placement : {NormPlacement::post, NormPlacement::pre})
                write_third_step_of(next(), bert_of(placement), samples, drops, packs);
        write_third_step_of(next(), llama_of(), text, drops);
    }
    const deft::ProcessOutput output = deft::run_process(command);
    if (output.exit_code == 77) DEFT_SKIP("no PyTorch for /usr/bin/python3 (Debian: python3-torch)");
    INFO(output.out);
    CHECK(output.exit_code == 0);

    TransformerConfig dropout = llama_of();
    for (BlockConfig& block : dropout.blocks) block.dropout = 0.1;
    CHECK_THROWS_WITH(require_checkable(dropout), ContainsSubstring("this model has dropout"));
}

TEST_CASE("a training step of experts is PyTorch's: top 1 and 2 and 3, with a dense part, dropped choices and tokens",
          "[bare][python]") {
    const Folder folder;
    if (!fs::exists(kPython)) DEFT_SKIP("no /usr/bin/python3");
    const ExpertsConfig one{.count = 4,
                            .top = 1,
                            .capacity_factor = 0.75,
                            .min_capacity = 1,
                            .random_token_selection = false,
                            .aux_weight = 0.3,
                            .z_weight = 0.1};
    ExpertsConfig two = one, three = one, residual = one, both = two, least = one, dropless = two;
    two.top = both.top = dropless.top = 2;
    three.top = 3;
    three.capacity_factor = 0;  // which is of one or two experts a row
    residual.residual = both.residual = true;
    least.min_capacity = 30;
    dropless.capacity_factor = 0;
    dropless.random_token_selection = true;  // of none that is over
    const auto with = [](TransformerConfig model, const ExpertsConfig& experts) {
        for (const std::size_t layer : {1u, 3u}) model.blocks[layer].experts = experts;
        return model;
    };
    std::vector<std::string> command = {kPython, kScript};
    const auto next = [&] {
        return command.emplace_back((folder.path / (std::to_string(command.size()) + ".safetensors")).string());
    };
    const TokenCorpus text = tiny_corpus(4000, 14);
    for (const bool drops : {false, true}) {
        for (const ExpertsConfig& experts : {one, two, three, residual, both, least, dropless})
            write_third_step_of(next(), with(gpt2_config(4, 12, 2, 20, 14, 0.2), experts), text, drops);
        for (const ExpertsConfig& experts : {two, residual})
            write_third_step_of(next(), with(llama_of(), experts), text, drops);
        for (const bool packs : {false, true})
            write_third_step_of(next(), with(bert_of(NormPlacement::post), both), small_samples(20), drops, packs);
    }
    const deft::ProcessOutput output = deft::run_process(command);
    if (output.exit_code == 77) DEFT_SKIP("no PyTorch for /usr/bin/python3 (Debian: python3-torch)");
    INFO(output.out);
    CHECK(output.exit_code == 0);

    ExpertsConfig drawn = dropless;
    drawn.jitter = 0.01;
    CHECK_THROWS_WITH(require_checkable(with(llama_of(), drawn)), ContainsSubstring("this model's experts draw"));
    drawn = dropless;
    drawn.sampled_noise = true;
    CHECK_THROWS_WITH(require_checkable(with(llama_of(), drawn)), ContainsSubstring("this model's experts draw"));
    drawn = one;
    drawn.random_token_selection = true;
    CHECK_THROWS_WITH(require_checkable(with(llama_of(), drawn)), ContainsSubstring("random_token_selection to false"));
}

TEST_CASE("a training step of a model of images is PyTorch's, with dropped tokens too", "[bare][python]") {
    const Folder folder;
    if (!fs::exists(kPython)) DEFT_SKIP("no /usr/bin/python3");
    const auto images = small_image_samples(20);
    images->augmentation.crop_padding = 1;
    images->augmentation.flip = true;
    std::vector<std::string> command = {kPython, kScript};
    for (const bool drops : {false, true})
        for (const auto& [positions, pooling] : {std::pair{PositionsOf::learned, Pooling::first},
                                                 {PositionsOf::rope, Pooling::mean},
                                                 {PositionsOf::none, Pooling::first}}) {
            command.push_back((folder.path / (std::to_string(command.size()) + ".safetensors")).string());
            write_third_step_of(command.back(), vit_of(positions, pooling), images, drops);
        }
    const deft::ProcessOutput output = deft::run_process(command);
    if (output.exit_code == 77) DEFT_SKIP("no PyTorch for /usr/bin/python3 (Debian: python3-torch)");
    INFO(output.out);
    CHECK(output.exit_code == 0);
}

TEST_CASE("BERT, ViT and a Llama-like model have the losses and gradients of Hugging Face's models of their weights",
          "[bare][python]") {
    const Folder folder;
    const std::string script = DEFT_SOURCE_DIR "/tests/engine/huggingface_models.py";
    const std::string bert = (folder.path / "bert.safetensors").string(),
                      llama = (folder.path / "llama.safetensors").string();
    write_third_step_of(bert, bert_of(NormPlacement::post), small_samples(20), false);
    TransformerConfig equal_heads = llama_of();
    for (BlockConfig& block : equal_heads.blocks) block.attention.kv_heads = block.attention.heads;
    write_third_step_of(llama, equal_heads, tiny_corpus(4000, 14), false);
    const std::string vit = (folder.path / "vit.safetensors").string();
    write_third_step_of(vit, vit_of(PositionsOf::learned, Pooling::first), small_image_samples(20), false);
    for (const auto& [kind, file] : {std::pair{"bert", bert}, {"llama", llama}, {"vit", vit}}) {
        const deft::ProcessOutput output = run_python({script, kind, file});
        if (output.exit_code == 77) DEFT_SKIP("no Python with torch and transformers (name one in DEFT_PYTHON)");
        INFO(output.out);
        CHECK(output.exit_code == 0);
    }
    // The check can fail: of another model's weights.
    CHECK(run_python({script, "llama", bert}).exit_code == 1);
}

TEST_CASE("a training step with dropped tokens is PyTorch's", "[bare][python]") {
    const Folder folder;
    if (!fs::exists(kPython)) DEFT_SKIP("no /usr/bin/python3");
    const Pacing seven{7, 7, 1, 0, 1};
    std::vector<std::string> command = {kPython, kScript};
    for (const TokenDropping& dropping :
         {random_on_two_layers(), TokenDropping{seven, {0, 2, 3}, 1, &token_dropper("random_ltd"), {}},
          bypass_on({1, 2, 3}, seven)}) {
        command.push_back((folder.path / (std::to_string(command.size()) + ".safetensors")).string());
        write_third_step(command.back(), dropping);
    }
    command.push_back((folder.path / "sgd.safetensors").string());
    write_third_step(command.back(), random_on_two_layers(), OptimizerKind::sgd);
    const deft::ProcessOutput output = deft::run_process(command);
    if (output.exit_code == 77) DEFT_SKIP("no PyTorch for /usr/bin/python3 (Debian: python3-torch)");
    INFO(output.out);
    CHECK(output.exit_code == 0);
}

TEST_CASE("the PyTorch check refuses a wrong gradient", "[bare][python]") {
    const Folder folder;
    const fs::path file = folder.path / "step.safetensors";
    write_third_step(file);
    SafetensorsFile state = read_safetensors(file);
    Tensor& gradient = state.tensors.at("grad.h.1.attn.c_attn.weight");
    std::vector<float> wrong = values<float>(gradient);
    wrong[3] += 1e-2f;
    gradient.data = wrong.data();
    std::vector<NamedTensor> tensors;
    for (const auto& [name, tensor] : state.tensors) tensors.push_back({name, tensor});
    write_safetensors(file, tensors, state.metadata);
    if (!fs::exists(kPython)) DEFT_SKIP("no /usr/bin/python3");
    const deft::ProcessOutput output = deft::run_process({kPython, kScript, file.string()});
    if (output.exit_code == 77) DEFT_SKIP("no PyTorch for /usr/bin/python3 (Debian: python3-torch)");
    CHECK(output.exit_code == 1);
    CHECK_THAT(output.out, ContainsSubstring("grad.h.1.attn.c_attn.weight"));
}
