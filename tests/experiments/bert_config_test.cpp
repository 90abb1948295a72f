// data.samples = "bert" and [data.bert]: what they mean, which curricula fit, and what is refused with its place.

#include "base/error.h"
#include "base/json.h"
#include "experiments/config.h"
#include "experiments/engine_config.h"
#include "experiments/projection.h"
#include "tests/catch.h"
#include "tests/experiments/trial_config.h"

using namespace deft;
using namespace deft::experiments;
using test::trial_of;
using test::wrong_trial;

namespace {

// 64 tokens, 8 samples a step, 200 steps.
const std::string kHead = "[model]\nseqlen = 64\n[train]\nbatch_size = 8\nbudget_tokens = 102_400\n";
const std::string kBert = "[data]\nsamples = \"bert\"\ntokenizer = \"words.txt\"\n";

// A curriculum of BERT's samples; its first line is line 9.
std::string refused_curriculum(const std::string& toml) {
    return wrong_trial(kHead + kBert + toml);
}

std::string metric(const std::string& name) {
    return "[curriculum." + name + "]\nsteps = 40\n";
}

}  // namespace

TEST_CASE("BERT's samples are read, and packed ones stay what they were") {
    const TrialConfig packed = trial_of(kHead);
    CHECK(packed.data.samples == SampleKind::packed);
    CHECK(!to_json(packed).at("data").contains("samples"));
    CHECK(!to_json(packed).at("data").contains("bert"));
    CHECK(trainer_config(packed).model.is_causal());

    TrialConfig plain = trial_of(kHead + kBert);
    CHECK(plain.data.samples == SampleKind::bert);
    CHECK(plain.data.bert == BertSamplesConfig{});
    CHECK(!trainer_config(plain).model.is_causal());
    plain.data.vocab = 100;
    CHECK(project(plain).steps == 200);
    CHECK(project(plain).layer_tokens == 102'400);
    CHECK(project(plain).parameters > 0);

    const TrialConfig all = trial_of(kHead + kBert +
                                     "[data.bert]\nsentences = \"lines\"\nlower_case = false\npairs = false\n"
                                     "short_probability = 0.25\nmask_fraction = 0.3\nwhole_words = true\nseed = 9\n");
    CHECK(all.data.bert == BertSamplesConfig{engine::SentenceRule::lines, false, false, 0.25, 0.3, true, 9});
    TrialConfig known = all;
    known.data.sha256 = "abc";
    known.data.vocab = 10;
    CHECK(to_json(from_json(to_json(known))) == to_json(known));
    TrialConfig other = known;
    other.data.bert.pairs = true;
    CHECK(config_hash(other) != config_hash(known));
}

TEST_CASE("train.rows: BERT's samples are packed unless padded ones are asked for, and packed text has neither") {
    const auto with_rows = [](const std::string& rows) {
        TrialConfig config = trial_of(kHead + (rows.empty() ? "" : "rows = \"" + rows + "\"\n") + kBert);
        config.data.sha256 = "abc";
        config.data.vocab = 10;
        return config;
    };
    const TrialConfig unsaid = with_rows(""), packed = with_rows("packed"), padded = with_rows("padded");
    CHECK(trainer_config(unsaid).packs_samples);
    CHECK(!trainer_config(padded).packs_samples);
    CHECK(!to_json(packed).at("train").contains("rows"));  // older trials keep their hashes
    CHECK(config_hash(packed) == config_hash(unsaid));
    CHECK(config_hash(padded) != config_hash(unsaid));
    CHECK(from_json(to_json(padded)).train.rows == SampleRows::padded);
    CHECK(from_json(to_json(packed)).train.rows == SampleRows::packed);
    CHECK(project(padded).steps == project(packed).steps);
    CHECK(project(padded).flops == project(packed).flops);
    for (const std::string rows : {"packed", "padded"})
        CHECK_THAT(wrong_trial(kHead + "rows = \"" + rows + "\"\n"),
                   ContainsSubstring("t.toml:6:") && ContainsSubstring("packed text and images have no padding") &&
                       ContainsSubstring("data.samples = \"bert\""));
    CHECK_THAT(wrong_trial(kHead + "rows = \"unpadded\"\n" + kBert), ContainsSubstring("packed, padded"));
}

TEST_CASE("settings of BERT's samples that make no sense are refused with their place") {
    const auto refused = [](const std::string& line) {
        return wrong_trial(kHead + kBert + "[data.bert]\n" + line + "\n");
    };
    CHECK_THAT(refused("sentence = \"lines\""),
               ContainsSubstring("t.toml:10:1") && ContainsSubstring("did you mean sentences?"));
    CHECK_THAT(refused("sentences = \"stops\""),
               ContainsSubstring("t.toml:10:") && ContainsSubstring("punctuation, lines"));
    CHECK_THAT(refused("short_probability = 1.5"),
               ContainsSubstring("t.toml:10:") && ContainsSubstring("a share, 0 to 1"));
    CHECK_THAT(refused("mask_fraction = nan"), ContainsSubstring("t.toml:10:") && ContainsSubstring("finite"));
    CHECK_THAT(refused("seed = -1"), ContainsSubstring("t.toml:10:") && ContainsSubstring("at least 0"));
    CHECK_THAT(refused("pairs = 1"), ContainsSubstring("t.toml:10:"));
    CHECK_THAT(wrong_trial(kHead + "[data]\nsamples = \"brt\"\n"),
               ContainsSubstring("t.toml:7:") && ContainsSubstring("did you mean \"bert\"?"));
    for (const char* tokenizer : {"bytes", "gpt2", "bpe"})
        CHECK_THAT(wrong_trial(kHead + "[data]\nsamples = \"bert\"\ntokenizer = \"" + tokenizer + "\"\n"),
                   ContainsSubstring("t.toml:8:") && ContainsSubstring("[MASK]") && ContainsSubstring("vocab.txt"));
    CHECK_THAT(wrong_trial(kHead + "[data]\nsamples = \"bert\"\n"),
               ContainsSubstring("t.toml:6:") && ContainsSubstring("\"bytes\""));
    CHECK_THAT(wrong_trial(kHead + "[data]\ntokenizer = \"bert-base-uncased\"\n"),
               ContainsSubstring("packed samples need"));
    CHECK_THAT(wrong_trial(kHead + "[data]\nbert = { pairs = true }\n"),
               ContainsSubstring("t.toml:7:") && ContainsSubstring("has no effect with data.samples = \"packed\""));
    CHECK_THAT(wrong_trial(kHead + kBert + "vocab = 300\n"),
               ContainsSubstring("t.toml:9:") && ContainsSubstring("has its own"));
    CHECK_THAT(wrong_trial(kHead + kBert + "corpus = \"indexed\"\ntrain_files = [\"a\"]\n"),
               ContainsSubstring("BERT samples need sentences"));
}

TEST_CASE("what a model of BERT's samples cannot be or be asked is refused") {
    CHECK(wrong_trial(kHead + kBert + "[random_ltd]\nsteps = 40\n") == "accepted");
    CHECK_THAT(wrong_trial(kHead + kBert + "[eval]\ntasks = [\"embedded_questions\"]\n"),
               ContainsSubstring("t.toml:10:") && ContainsSubstring("predicts masked tokens"));
    CHECK_THAT(
        wrong_trial(kHead + kBert + "[eval]\nevery = \"2 times\"\nselect = \"best\"\nmetric = \"bits_per_byte\"\n"),
        ContainsSubstring("t.toml:12:") && ContainsSubstring("predicts masked ones"));
    CHECK_THAT(wrong_trial("[model]\nseqlen = 4\n[train]\nbudget_tokens = 102_400\n" + kBert),
               ContainsSubstring("t.toml:2:") && ContainsSubstring("at least 5"));
    CHECK(wrong_trial("[model]\nseqlen = 4\n[train]\nbudget_tokens = 102_400\n" + kBert +
                      "bert = { pairs = false }\n") == "accepted");
}

TEST_CASE("the curricula that fit BERT's samples, and those that do not, saying why") {
    for (const char* name : {"seqtru", "seqreo", "voc", "voc_per_token", "seqreo_voc"})
        CHECK(refused_curriculum(metric(name)) == "accepted");
    CHECK(refused_curriculum(metric("seqtru") + metric("voc")) == "accepted");

    const std::string place = "t.toml:9:";
    CHECK_THAT(refused_curriculum(metric("seqres")),
               ContainsSubstring(place) && ContainsSubstring("cannot be split across its special tokens"));
    CHECK_THAT(refused_curriculum(metric("seqres_voc")), ContainsSubstring("cannot be split across"));
    CHECK_THAT(refused_curriculum(metric("seqlen")),
               ContainsSubstring(place) && ContainsSubstring("[curriculum.seqreo]"));
    CHECK_THAT(refused_curriculum(metric("seqtru_voc")), ContainsSubstring("[curriculum.seqtru] and [curriculum.voc]"));
    CHECK_THAT(refused_curriculum(metric("seqreoo")), ContainsSubstring("did you mean seqreo?"));
    CHECK_THAT(refused_curriculum(metric("seqtru") + metric("seqreo")),
               ContainsSubstring("both begin with short samples"));
    CHECK_THAT(refused_curriculum(metric("seqtru") + metric("seqreo_voc")),
               ContainsSubstring("both begin with short samples"));
    CHECK_THAT(refused_curriculum(metric("seqreo") + metric("voc")),
               ContainsSubstring("t.toml:11:") && ContainsSubstring("write [curriculum.seqreo_voc]"));
    CHECK_THAT(refused_curriculum(metric("seqreo_voc") + metric("voc")),
               ContainsSubstring("which seqreo_voc already does"));
    CHECK_THAT(refused_curriculum(metric("seqreo_voc") + metric("seqreo")),
               ContainsSubstring("already part of seqreo_voc"));
    CHECK_THAT(refused_curriculum(metric("seqtru") + "min = 4\n"),
               ContainsSubstring("t.toml:11:") && ContainsSubstring("at least 5"));
}
