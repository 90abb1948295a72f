// A checkpoint evaluated by itself: the trial's own scores, refusals, and what Hugging Face makes of its files.

#include "experiments/evaluate_checkpoint.h"
#include "base/json.h"

#include <bit>
#include <cstdlib>
#include <fstream>
#include <random>

#include "base/config.h"
#include "base/files.h"
#include "base/process.h"
#include "engine/io/safetensors.h"
#include "experiments/checkpoints.h"
#include "experiments/trial.h"
#include "tests/catch.h"
#include "tests/experiments/whole_trial.h"
#include "tests/python.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::experiments;
namespace fs = std::filesystem;

namespace {

// A trial of 32 steps with its checkpoint.
struct TinyTrial {
    explicit TinyTrial(const std::string& data = "") {
        const ConfigNode node = parse_toml(
            "[model]\nlayers = 2\nwidth = 16\nheads = 2\nseqlen = 24\n"
            "[data]\nembedded_bytes = 5000\n" +
                data +
                "[train]\nbatch_size = 4\nbudget_tokens = 3072\n"
                "[eval]\ntasks = [\"embedded_questions\", \"embedded_last_words\"]\n"
                "documents = 20\nvalidation_tokens = 500\n",
            "t.toml");
        TrialConfig config = parse_trial_config(node, 1, folder.path());
        resolve_data(config);
        test::train_and_score(config, folder.path());
        checkpoint = newest_checkpoint(folder / "checkpoints").value();
    }

    // The scores of its tasks, as its journal has them.
    std::vector<Json> scores() const {
        std::vector<Json> found;
        std::ifstream in(folder / "journal.jsonl");
        for (std::string line; std::getline(in, line);) {
            const Json json = Json::parse(line);
            if (json.value("type", "") == "evaluation" && json.at("task") != "validation") found.push_back(json);
        }
        return found;
    }

    test::TemporaryFolder folder;
    fs::path checkpoint;
};

void check_equal_scores(const TinyTrial& trial, int threads) {
    TrainedModel trained =
        load_trained_model(trial.checkpoint, {deft::engine::Device::cpu, deft::engine::DType::f32, threads});
    CHECK(trained.step == 32);
    const CheckpointEvaluation evaluation = evaluate_checkpoint(trained, {}, {}, {});
    // The count of truncated prompts may be reported, but nothing has changed.
    for (const std::string& note : evaluation.notes) CHECK(note.find("changed since the trial") == std::string::npos);
    const std::vector<Json> expected = trial.scores();
    REQUIRE(expected.size() > 2);
    REQUIRE(evaluation.scores.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const journal::Evaluation& score = evaluation.scores[i];
        INFO(score.task << " " << score.metric);
        CHECK(score.task == expected[i].at("task").get<std::string>());
        CHECK(score.metric == expected[i].at("metric").get<std::string>());
        CHECK(score.n == expected[i].at("n").get<std::int64_t>());
        CHECK(std::bit_cast<std::uint64_t>(score.value) ==
              std::bit_cast<std::uint64_t>(expected[i].at("value").get<double>()));
    }
}

std::string wrong_checkpoint(ErrorKind kind, const fs::path& checkpoint) {
    return test::refusal(kind, [&] { load_trained_model(checkpoint, {}); });
}

// Puts `value` at that place of checkpoint.json, which no hash covers.
void change_manifest(const fs::path& checkpoint, const char* pointer, const Json& value) {
    Json manifest = Json::parse(read_file(checkpoint / "checkpoint.json"));
    manifest[Json::json_pointer(pointer)] = value;
    write_file_atomically(checkpoint / "checkpoint.json", manifest.dump());
}

}  // namespace

TEST_CASE("A checkpoint has exactly its trial's scores, on any number of threads", "[bare][python]") {
    const TinyTrial bytes;
    check_equal_scores(bytes, 1);
    check_equal_scores(bytes, 2);
    check_equal_scores(TinyTrial("tokenizer = \"bpe\"\nvocab = 300\n"), 1);
}

TEST_CASE("Other tasks and numbers of documents are scored; unknown ones are refused", "[bare][python]") {
    const TinyTrial trial;
    TrainedModel trained = load_trained_model(trial.checkpoint, {});
    const CheckpointEvaluation one = evaluate_checkpoint(trained, {"embedded_questions"}, {}, 5);
    REQUIRE(!one.scores.empty());
    for (const journal::Evaluation& score : one.scores) {
        CHECK(score.task == "embedded_questions");
        CHECK(score.n == 5);
    }
    CHECK_THROWS_WITH(evaluate_checkpoint(trained, {"embedded_question"}, {}, 5),
                      ContainsSubstring("did you mean embedded_questions?"));
}

TEST_CASE("Damaged checkpoints and those of no one model are refused", "[bare][python]") {
    const TinyTrial trial("tokenizer = \"bpe\"\nvocab = 300\n");
    const fs::path& checkpoint = trial.checkpoint;
    const std::string manifest = read_file(checkpoint / "checkpoint.json");
    const auto changed = [&](ErrorKind kind, const char* pointer, const Json& value) {
        change_manifest(checkpoint, pointer, value);
        const std::string said = wrong_checkpoint(kind, checkpoint);
        write_file_atomically(checkpoint / "checkpoint.json", manifest);
        return said;
    };
    CHECK_THAT(changed(ErrorKind::config, "/about/config/model/width", 32), ContainsSubstring("(300, 16)"));
    CHECK_THAT(changed(ErrorKind::config, "/about/config/model/width", std::int64_t{1} << 20),
               ContainsSubstring("wte"));
    CHECK_THAT(changed(ErrorKind::config, "/about/config/model/layers", 10'000), ContainsSubstring("2 layers"));
    CHECK_THAT(changed(ErrorKind::config, "/about/config/model/seqlen", 32), ContainsSubstring("wpe"));
    CHECK_THAT(changed(ErrorKind::config, "/about/config/data/vocab", 299),
               ContainsSubstring("its tokenizer has 300 tokens"));
    CHECK_THAT(changed(ErrorKind::config, "/about/config/data/vocab", 301), ContainsSubstring("wants (301, 16)"));
    CHECK_THAT(changed(ErrorKind::config, "/about/tokenizer_sha256", "bytes"), ContainsSubstring("tokenizer"));
    CHECK(changed(ErrorKind::config, "/about/tokenizer", "bytes") == "accepted");  // a name that says nothing
    CHECK_THAT(changed(ErrorKind::io, "/about/tokenizer", 7), ContainsSubstring("damaged"));
    CHECK_THAT(changed(ErrorKind::io, "/about/config", Json::array()), ContainsSubstring("damaged"));
    CHECK_THAT(changed(ErrorKind::io, "/about", 3), ContainsSubstring("damaged"));
    write_file_atomically(checkpoint / "checkpoint.json", manifest.substr(0, manifest.size() / 2));
    CHECK_THAT(wrong_checkpoint(ErrorKind::io, checkpoint), ContainsSubstring("damaged"));
    write_file_atomically(checkpoint / "checkpoint.json", manifest);

    const std::string weights = read_file(checkpoint / "model.safetensors");
    write_file_atomically(checkpoint / "model.safetensors", weights.substr(0, weights.size() - 1));
    CHECK_THAT(wrong_checkpoint(ErrorKind::io, checkpoint), ContainsSubstring("model.safetensors"));
    write_file_atomically(checkpoint / "model.safetensors", weights);
    CHECK(wrong_checkpoint(ErrorKind::io, checkpoint) == "accepted");
    fs::remove(checkpoint / "optimizer.safetensors");  // which nothing is asked of
    CHECK(wrong_checkpoint(ErrorKind::io, checkpoint) == "accepted");
    fs::remove(checkpoint / "merges.txt");
    CHECK_THAT(wrong_checkpoint(ErrorKind::io, checkpoint), ContainsSubstring("merges.txt"));
}

TEST_CASE("Weights have Hugging Face's names, linear ones as (in, out)", "[bare][python]") {
    const TinyTrial trial;
    const engine::SafetensorsFile file = engine::read_safetensors(trial.checkpoint / "model.safetensors");
    const auto shape = [&](const char* name) { return file.tensors.at(name).shape_text(); };
    CHECK(shape("transformer.wte.weight") == "(257, 16) f32");
    CHECK(shape("transformer.wpe.weight") == "(24, 16) f32");
    CHECK(shape("transformer.h.0.attn.c_attn.weight") == "(16, 48) f32");
    CHECK(shape("transformer.h.0.attn.c_attn.bias") == "(48) f32");
    CHECK(shape("transformer.h.1.attn.c_proj.weight") == "(16, 16) f32");
    CHECK(shape("transformer.h.1.mlp.c_fc.weight") == "(16, 64) f32");
    CHECK(shape("transformer.h.1.mlp.c_proj.weight") == "(64, 16) f32");
    CHECK(shape("transformer.ln_f.weight") == "(16) f32");
    CHECK(file.tensors.size() == 2 + 2 * 12 + 2);
}

TEST_CASE("Hugging Face loads a checkpoint and has its losses", "[bare][python]") {
    const TinyTrial trial;
    TrainedModel trained = load_trained_model(trial.checkpoint, {});
    constexpr std::int64_t kT = 24;
    std::mt19937 random(std::random_device{}());
    std::vector<std::int32_t> token(kT), target(kT);
    for (std::int32_t& id : token) id = static_cast<std::int32_t>(random() % 257);
    for (std::size_t t = 0; t < kT; ++t) target[t] = token[(t + 1) % kT];
    trained.model->load(trained.exec, {1, kT, token.data(), target.data()});
    trained.model->evaluate(trained.exec, 1, kT);
    const fs::path file = trial.folder / "losses.safetensors";
    engine::write_safetensors(file,
                              {{"token", trained.model->token.view({1, kT})},
                               {"target", trained.model->target.view({1, kT})},
                               {"loss", trained.model->loss.view({1, kT})}},
                              {});
    const ProcessOutput said = test::run_python(
        {DEFT_SOURCE_DIR "/tests/experiments/huggingface_checkpoint.py", trial.checkpoint.string(), file.string()});
    INFO(said.out);
    if (said.exit_code == 77) DEFT_SKIP("no Python with torch and transformers (name one in DEFT_PYTHON)");
    CHECK(said.exit_code == 0);
}
