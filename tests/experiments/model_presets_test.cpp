// Models by name: as large as their papers say, and laid under a trial's own keys.

#include "experiments/model_presets.h"

#include <map>

#include "base/json.h"
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

const std::string kTokens = "[train]\nbudget_tokens = 10_000_000\n";
const std::string kBertSamples = "[data]\nsamples = \"bert\"\ntokenizer = \"words.txt\"\n";

TrialConfig of_preset(const std::string& name, const std::string& more = "") {
    const std::string samples = name.starts_with("bert")  ? kBertSamples
                                : name.starts_with("vit") ? "[data]\nsamples = \"images\"\ncorpus = \"cifar10\"\n"
                                                          : "";
    return trial_of(kTokens + samples + "[model]\npreset = \"" + name + "\"\n" + more);
}

// A model such as GPT-2's: 12 layers width^2 + 13 layers width for the blocks, tables of tokens and positions, the last
// norm; beside the first of them an expert layer has E - 1 feed-forward parts more and a gate, and with a dense part
// beside them one part more and a mixture of two.
std::int64_t expert_parameters(std::int64_t layers, std::int64_t C, const std::vector<std::int64_t>& experts,
                               bool residual) {
    std::int64_t all = 12 * layers * C * C + 13 * layers * C + (50257 + 2048 + 2) * C;
    for (const std::int64_t E : experts)
        all += (residual ? E : E - 1) * (8 * C * C + 5 * C) + E * C + (residual ? 2 * C + 2 : 0);
    return all;
}

std::int64_t parameters(const std::string& name, std::int64_t vocab) {
    return engine::model_size(preset_model(name, vocab)).parameters;
}

}  // namespace

TEST_CASE("presets are as large as what they are named after") {
    struct Size {
        std::int64_t vocab, parameters;
    };
    constexpr std::int64_t kGpt2 = 50257, kBertWords = 30522, kLlama = 32000;
    const std::map<std::string, Size> known = {
        // The published checkpoints' own counts.
        {"gpt2_small", {kGpt2, 124'439'808}},
        {"gpt2_350m", {kGpt2, 354'823'168}},
        {"bert_large", {kBertWords, 336'226'108}},
        {"llama_1b", {kLlama, 1'100'048'384}},
        {"vit_b16", {0, 86'567'656}},
        // 12 layers width^2 + 13 layers width for the blocks, then tables of tokens and positions, and the last norm.
        {"gpt3_350m", {kGpt2, 12 * 24 * 1024 * 1024 + 13 * 24 * 1024 + (50257 + 2048 + 2) * 1024}},
        {"gpt3_1.3b", {kGpt2, 12LL * 24 * 2048 * 2048 + 13 * 24 * 2048 + (50257 + 2048 + 2) * 2048}},
        {"gpt3_6.7b", {kGpt2, 12LL * 32 * 4096 * 4096 + 13 * 32 * 4096 + (50257 + 2048 + 2) * 4096}},
        {"125m_moe64", {kGpt2, expert_parameters(12, 768, std::vector<std::int64_t>(6, 64), false)}},
        {"350m_moe64", {kGpt2, expert_parameters(24, 1024, std::vector<std::int64_t>(12, 64), false)}},
        {"350m_moe128", {kGpt2, expert_parameters(24, 1024, std::vector<std::int64_t>(12, 128), false)}},
        {"1.3b_moe128", {kGpt2, expert_parameters(24, 2048, std::vector<std::int64_t>(12, 128), false)}},
        {"350m_pr_moe", {kGpt2, expert_parameters(24, 1024, {32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 64, 64}, true)}},
        {"1.3b_pr_moe", {kGpt2, expert_parameters(24, 2048, {64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 128, 128}, true)}},
        {"gpt_mini", {8192, 12 * 6 * 256 * 256 + 13 * 6 * 256 + (8192 + 256 + 2) * 256}},
        // Queries and outputs 256 x 256, keys and values 64 x 256, three of 256 x 688, two norms; two tables and a
        // norm.
        {"llama_mini", {8192, 6 * (2 * 256 * 256 + 2 * 64 * 256 + 3 * 256 * 688 + 2 * 256) + (2 * 8192 + 1) * 256}},
        // Blocks as GPT-2's; a linear layer of 48 values, a class token, 65 positions, the last norm, ten classes.
        {"vit_mini", {0, 12 * 6 * 192 * 192 + 13 * 6 * 192 + (48 + 1 + 1 + 65 + 2) * 192 + (192 + 1) * 10}},
        // Blocks as GPT-2's; tables of words, positions, segments; a norm; the transform, its norm, a bias a word; the
        // pooler and two orders.
        {"bert_mini",
         {kBertWords, 12 * 4 * 256 * 256 + 13 * 4 * 256 + (30522 + 128 + 2 + 2) * 256 + (256 * 256 + 3 * 256 + 30522) +
                          (256 * 256 + 256) + (2 * 256 + 2)}}};
    for (const std::string& name : model_presets()) {
        INFO(name);
        REQUIRE(known.contains(name));
        CHECK(parameters(name, known.at(name).vocab) == known.at(name).parameters);
    }
    CHECK(known.size() == model_presets().size());
    // As the papers round them.
    CHECK(parameters("gpt3_1.3b", kGpt2) == Approx(1.3e9).epsilon(0.02));
    CHECK(parameters("gpt3_6.7b", kGpt2) == Approx(6.7e9).epsilon(0.02));
    CHECK(parameters("gpt3_350m", kGpt2) == Approx(350e6).epsilon(0.02));
    CHECK(parameters("125m_moe64", kGpt2) == Approx(1.9e9).epsilon(0.02));
    CHECK(parameters("350m_moe64", kGpt2) == Approx(6.7e9).epsilon(0.02));
    CHECK(parameters("350m_moe128", kGpt2) == Approx(13.1e9).epsilon(0.01));
    CHECK(parameters("1.3b_moe128", kGpt2) == Approx(52.4e9).epsilon(0.01));
    CHECK(parameters("350m_pr_moe", kGpt2) == Approx(4e9).epsilon(0.04));
    CHECK(parameters("1.3b_pr_moe", kGpt2) == Approx(31e9).epsilon(0.02));
    // A row meets about as many weights as in the dense model.
    CHECK(engine::model_size(preset_model("350m_moe128", kGpt2)).active_parameters ==
          parameters("gpt3_350m", kGpt2) + 12 * 128 * 1024);
    CHECK(parameters("bert_large", kBertWords) == Approx(336e6).epsilon(0.001));
    CHECK(parameters("vit_b16", 0) == Approx(86e6).epsilon(0.01));
    CHECK(of_preset("vit_mini").model.seqlen == 65);
}

TEST_CASE("a preset by itself has no dropout, and its kind's samples") {
    const engine::TransformerConfig bert = preset_model("bert_mini", 30522);
    CHECK(bert.blocks.at(0).dropout == 0);
    CHECK(bert.blocks.at(0).attention.dropout == 0);
    CHECK(bert.head->target_share == 0.15);
    CHECK(bert.class_head);
    CHECK(preset_model("llama_mini", 8192).head->target_share == 1);
    CHECK(preset_model("llama_mini", 8192).vocab == 8192);
    CHECK_THROWS_WITH(preset_model("bert_mimi", 9), ContainsSubstring("did you mean \"bert_mini\"?"));
}

TEST_CASE("a trial's own keys are laid over its preset, which is in no hash") {
    const TrialConfig plain = of_preset("llama_mini"), wider = of_preset("llama_mini", "width = 512\nheads = 16\n");
    CHECK(plain.model.kind == "llama");
    CHECK(plain.model.kv_heads == 2);
    CHECK(plain.model.hidden == 688);
    CHECK(wider.model.width == 512);
    CHECK(wider.model.hidden == 1368);
    CHECK(wider.model.kv_heads == 2);
    CHECK(of_preset("llama_mini", "kind = \"gpt\"\n").model.norm == kernels::NormKind::layer);
    const std::string spelt =
        "[model]\nkind = \"llama\"\nlayers = 6\nwidth = 256\nheads = 8\nkv_heads = 2\nseqlen = 256\n";
    const TrialConfig named = test::with_known_data(kTokens + "[model]\npreset = \"llama_mini\"\n");
    CHECK(config_hash(named) == config_hash(test::with_known_data(kTokens + spelt)));
    CHECK(to_json(from_json(to_json(named))) == to_json(named));
}

TEST_CASE("a preset that there is not, or that cannot take the samples, is refused with its place") {
    CHECK_THAT(wrong_trial(kTokens + "[model]\npreset = \"lama_mini\"\n"),
               ContainsSubstring("t.toml:4:") && ContainsSubstring("did you mean \"llama_mini\"?"));
    CHECK_THAT(wrong_trial(kTokens + "[model]\npreset = \"bert_mini\"\n"),
               ContainsSubstring("t.toml:3:") && ContainsSubstring("packed samples train next-token prediction"));
    CHECK_THAT(wrong_trial(kTokens + "[model]\npreset = \"gpt_mini\"\nheads = 3\n"),
               ContainsSubstring("multiple of model.heads = 3"));
}
