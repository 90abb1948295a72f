// Models that come from others as checkpoints, and go to them as folders.

#include "experiments/exchange.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "base/files.h"
#include "base/json.h"
#include "engine/data/bpe/bpe_trainer.h"
#include "engine/io/huggingface_config.h"
#include "engine/train/export_model.h"
#include "experiments/evaluate_checkpoint.h"
#include "experiments/generate.h"
#include "tests/catch.h"
#include "tests/engine/exchange.h"
#include "tests/experiments/trial_config.h"
#include "tests/experiments/whole_trial.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::experiments;
using test::refusal;
using test::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

constexpr const char* kOtherTokenizer =
    R"({"normalizer": {"type": "BertNormalizer"}, "model": {"type": "WordPiece", "vocab": {"a": 0}}})";

engine::Tokenizer small_bpe() {
    const std::vector<std::string_view> text = {"the cat sat on the mat, the cat is red. who is red? the cat."};
    return engine::Tokenizer(std::make_shared<const engine::Bpe>(engine::train_bpe(text, 270)), "small");
}

engine::AnyTokenizer small_wordpiece(bool lower_case) {
    engine::WordPieceRules rules;
    rules.words.lower_case = lower_case;
    return std::make_shared<const engine::WordPiece>(
        engine::parse_vocab_txt("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n", "vocab.txt"), rules);
}

const char* kGpt2 = R"({"model_type": "gpt2", "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 32,
    "vocab_size": 270, "n_inner": 40, "resid_pdrop": 0.1})";
const char* kLlama = R"({"model_type": "llama", "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "intermediate_size": 24, "max_position_embeddings": 32, "vocab_size": 270,
    "rope_theta": 5000.0, "rms_norm_eps": 1e-5, "tie_word_embeddings": true})";
const char* kBert = R"({"model_type": "bert", "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
    "intermediate_size": 24, "max_position_embeddings": 32, "vocab_size": 7})";

// A folder of Hugging Face with random weights; its model.
std::vector<float> write_foreign(const fs::path& folder, const char* config, const engine::AnyTokenizer& tokenizer,
                                 engine::DType dtype = engine::DType::f32) {
    engine::OpenedModel model(engine::parse_huggingface_config(Json::parse(config), "config.json").config);
    fs::create_directory(folder);
    engine::export_model(model.exec, *model.transformer, tokenizer, folder, {.dtype = dtype});
    return model.weights();
}

std::vector<float> weights_of(const TrainedModel& trained) {
    std::vector<float> all;
    for (const engine::Parameter& p : trained.model->parameters().all())
        all.insert(all.end(), p.value.as<float>(), p.value.as<float>() + p.value.numel());
    return all;
}

std::size_t entries(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("an imported GPT-2 or Llama is scored, and exported again to the same bytes", "[bare][python]") {
    for (const char* config : {kGpt2, kLlama}) {
        const TemporaryFolder folder;
        const std::vector<float> weights = write_foreign(folder / "foreign", config, small_bpe());
        const Exchanged done = import_model(folder / "foreign", folder / "imported", "", false);
        CHECK(done.note.empty());
        TrainedModel trained = load_trained_model(folder / "imported", {});
        CHECK(weights_of(trained) == weights);
        CHECK(trained.step == 0);
        const CheckpointEvaluation scores = evaluate_checkpoint(trained, {"embedded_questions"}, {}, 5);
        REQUIRE(!scores.scores.empty());
        CHECK(scores.scores[0].n == 5);

        export_checkpoint(folder / "imported", folder / "exported", {});
        for (const char* name : {"model.safetensors", "vocab.json", "merges.txt", "tokenizer_config.json"}) {
            INFO(name);
            CHECK((read_file(folder / "exported" / name) == read_file(folder / "foreign" / name)));
        }
        CHECK(entries(folder.path()) == 3);
    }
}

TEST_CASE("Hugging Face has the tokenizers of what is exported", "[bare][python]") {
    const TemporaryFolder folder;
    const auto check = [&](const char* name, const std::string& text, const std::vector<std::int32_t>& ids) {
        const ProcessOutput said =
            engine::exchange({"tokenize", (folder / name).string(), text, fmt::format("{}", fmt::join(ids, ","))});
        INFO(said.out);
        CHECK((said.exit_code == 0 || said.exit_code == 77));
        return said.exit_code != 77;
    };
    write_foreign(folder / "gpt2", kGpt2, small_bpe());
    const std::string text = "the cat's hat, who sat on the mat?";
    if (!check("gpt2", text, small_bpe().encode(text)))
        DEFT_SKIP("no Python with torch and transformers (name one in DEFT_PYTHON)");
    for (const bool lower_case : {false, true}) {
        write_foreign(folder / "bert", kBert, small_wordpiece(lower_case));
        check("bert", "a B b [x",
              lower_case ? std::vector<std::int32_t>{5, 6, 6, 1, 1} : std::vector<std::int32_t>{5, 1, 6, 1, 1});
        fs::remove_all(folder / "bert");
    }
}

TEST_CASE("weights keep their type on the way, and become what is asked for", "[bare][python]") {
    const TemporaryFolder folder;
    write_foreign(folder / "foreign", kGpt2, small_bpe(), engine::DType::bf16);
    CHECK(import_model(folder / "foreign", folder / "imported", "", false).dtype == engine::DType::bf16);
    CHECK(export_checkpoint(folder / "imported", folder / "exported", {}).dtype == engine::DType::bf16);
    CHECK(
        (read_file(folder / "exported" / "model.safetensors") == read_file(folder / "foreign" / "model.safetensors")));
    export_checkpoint(folder / "imported", folder / "half", {.dtype = engine::DType::f16, .shard_bytes = 5000});
    CHECK(fs::exists(folder / "half" / "model.safetensors.index.json"));
    CHECK(engine::open_model(folder / "half").dtype == engine::DType::f16);
    CHECK(import_model(folder / "half", folder / "imported_half", "", false).dtype == engine::DType::f16);
    CHECK(export_checkpoint(folder / "imported_half", folder / "exported_half", {}).dtype == engine::DType::f16);
    CHECK(engine::open_model(folder / "exported_half").dtype == engine::DType::f16);
}

TEST_CASE("a BERT is imported with its vocabulary, is not scored, and is exported as cased as it was",
          "[bare][python]") {
    const TemporaryFolder folder;
    for (const bool lower_case : {false, true}) {
        write_foreign(folder / "foreign", kBert, small_wordpiece(lower_case));
        // save_pretrained() writes it beside vocab.txt.
        write_file_atomically(folder / "foreign" / "tokenizer.json", kOtherTokenizer);
        CHECK_THAT(import_model(folder / "foreign", folder / "imported", "", false).note,
                   ContainsSubstring("continues no text"));
        CHECK_THAT(refusal(ErrorKind::config, [&] { load_trained_model(folder / "imported", {}); }),
                   ContainsSubstring("was imported"));
        export_checkpoint(folder / "imported", folder / "exported", {});
        for (const char* name : {"model.safetensors", "vocab.txt", "tokenizer_config.json", "config.json"}) {
            INFO(name);
            CHECK((read_file(folder / "exported" / name) == read_file(folder / "foreign" / name)));
        }
        for (const char* name : {"foreign", "imported", "exported"}) fs::remove_all(folder / name);
    }
}

TEST_CASE("a model whose tokenizer.json is of another kind is imported without a tokenizer, with the reason",
          "[bare][python]") {
    const TemporaryFolder folder;
    write_foreign(folder / "foreign", kGpt2, small_bpe());
    for (const char* name : {"vocab.json", "merges.txt"}) fs::remove(folder / "foreign" / name);
    write_file_atomically(folder / "foreign" / "tokenizer.json", kOtherTokenizer);
    CHECK_THAT(import_model(folder / "foreign", folder / "imported", "", false).note,
               ContainsSubstring("no tokenizer that deft reads") && ContainsSubstring("normalizer"));
}

TEST_CASE("a trial's checkpoint is exported, and one that Hugging Face has not is refused", "[bare][python]") {
    const TemporaryFolder folder;
    const std::string of_model = "[model]\nlayers = 2\nwidth = 16\nheads = 2\nseqlen = 24\n";
    const auto train = [&](const std::string& more, const char* name) {
        TrialConfig config = parse_trial_config(
            parse_toml(
                of_model + more + "[data]\nembedded_bytes = 5000\n[train]\nbatch_size = 4\nbudget_tokens = 192\n",
                "t.toml"),
            1, folder.path());
        resolve_data(config);
        fs::create_directory(folder / name);
        test::train_and_score(config, folder / name);
        return newest_checkpoint(folder / name / "checkpoints").value();
    };
    const fs::path checkpoint = train("", "gpt");
    const Exchanged done = export_checkpoint(checkpoint, folder / "exported", {});
    CHECK_THAT(done.note, ContainsSubstring("bytes"));
    CHECK((read_file(folder / "exported" / "model.safetensors") == read_file(checkpoint / "model.safetensors")));
    CHECK_THAT(refusal(ErrorKind::config,
                       [&] { export_checkpoint(train("positions = \"rope\"\n", "rope"), folder / "no", {}); }),
               ContainsSubstring("Hugging Face has no such model") && ContainsSubstring("rope_theta"));
    CHECK(!fs::exists(folder / "no"));
}

TEST_CASE("what is there is replaced only where that is said, and only a model; what fails leaves nothing",
          "[bare][python]") {
    const TemporaryFolder folder;
    write_foreign(folder / "foreign", kGpt2, small_bpe());
    const auto import = [&](const std::string& tokenizer, bool replace) {
        return refusal(ErrorKind::usage,
                       [&] { import_model(folder / "foreign", folder / "imported", tokenizer, replace); });
    };
    CHECK(import("", false) == "accepted");
    const std::string before = read_file(folder / "imported" / "checkpoint.json");
    CHECK_THAT(import("none", false), ContainsSubstring("already exists") && ContainsSubstring("--force"));
    CHECK(read_file(folder / "imported" / "checkpoint.json") == before);
    CHECK(import("none", true) == "accepted");
    CHECK(!fs::exists(folder / "imported" / "vocab.json"));
    CHECK_THAT(refusal(ErrorKind::config, [&] { load_trained_model(folder / "imported", {}); }),
               ContainsSubstring("was imported"));

    fs::create_directory(folder / "precious");
    write_file_atomically(folder / "precious" / "thesis.txt", "words");
    CHECK_THAT(refusal(ErrorKind::usage,
                       [&] { export_checkpoint(folder / "imported", folder / "precious", {.replace = true}); }),
               ContainsSubstring("holds no model"));
    CHECK(read_file(folder / "precious" / "thesis.txt") == "words");

    // Rows beyond the tokenizer's tokens are padding.
    CHECK_THAT(import_model(folder / "foreign", folder / "padded", "bytes", false).note,
               ContainsSubstring("13 of its 270 rows"));
    TrainedModel padded = load_generator(folder / "padded", {}, 1);
    CHECK(padded.model->config().vocab == 270);
    const Generation generated = generate(padded, {.prompt = "a", .tokens = 40, .sampling = {.temperature = 8}});
    for (const std::int32_t token : generated.texts.front().tokens) CHECK(token < 257);
    fs::remove_all(folder / "padded");
    const std::string whole = read_file(folder / "foreign" / "model.safetensors");
    const float bad = std::numeric_limits<float>::infinity();
    write_file_atomically(folder / "foreign" / "model.safetensors",
                          whole.substr(0, whole.size() - 4) + std::string(reinterpret_cast<const char*>(&bad), 4));
    CHECK_THAT(refusal(ErrorKind::config, [&] { import_model(folder / "foreign", folder / "new", "", false); }),
               ContainsSubstring("infinite or NaN"));
    write_file_atomically(folder / "foreign" / "model.safetensors", whole.substr(0, whole.size() - 4));
    CHECK_THAT(refusal(ErrorKind::io, [&] { import_model(folder / "foreign", folder / "new", "", false); }),
               ContainsSubstring("not a whole safetensors file"));
    CHECK(entries(folder.path()) == 3);
}

TEST_CASE("a model without the weights of its head is not stored as a whole one", "[bare][python]") {
    const TemporaryFolder folder;
    write_foreign(folder / "foreign", kBert, engine::NoTokenizer{});
    const engine::SafetensorsFile file = engine::read_safetensors(folder / "foreign" / "model.safetensors");
    std::vector<engine::NamedTensor> trunk;
    for (const auto& [name, tensor] : file.tensors)
        if (!name.starts_with("cls.")) trunk.push_back({name, tensor});
    engine::write_safetensors(folder / "foreign" / "model.safetensors", trunk, {});
    CHECK_THAT(
        refusal(ErrorKind::config, [&] { import_model(folder / "foreign", folder / "imported", "none", false); }),
        ContainsSubstring("lacks weights of the model's heads: lm_head.dense.weight"));
}
