// A trial on BERT's samples, from text to scores.

#include <map>
#include <memory>

#include "base/files.h"
#include "base/json.h"
#include "experiments/datasets/dataset.h"
#include "experiments/debug_state.h"
#include "experiments/evaluate_checkpoint.h"
#include "experiments/evaluation/masked_loss.h"
#include "tests/catch.h"
#include "tests/experiments/trial_config.h"
#include "tests/experiments/whole_trial.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::experiments;
namespace fs = std::filesystem;

namespace {

// Sentences in which each word is mostly followed by the same one.
struct BertTrial {
    test::TemporaryFolder folder;
    TrialConfig config;

    BertTrial() {
        std::string words = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
        for (char c = 'a'; c <= 'h'; ++c) words += std::string(1, c) + "\n";
        write_file_atomically(folder / "words.txt", words);
        for (const auto& [file, documents] : {std::pair{"train.jsonl", 60}, {"valid.jsonl", 12}}) {
            std::string lines;
            for (int d = 0; d < documents; ++d) {
                lines += "{\"text\": \"";
                for (int s = 0; s < 4; ++s) {
                    for (int w = 0; w < 3 + (d + s) % 4; ++w) lines += std::string(1, 'a' + (d + 3 * s + w) % 8) + " ";
                    lines += "\\n";
                }
                lines += "\"}\n";
            }
            write_file_atomically(folder / file, lines);
        }
        config = parse_trial_config(
            parse_toml("[model]\nlayers = 2\nwidth = 32\nheads = 2\nseqlen = 16\n"
                       "[data]\nsamples = \"bert\"\ntokenizer = \"words.txt\"\ncorpus = \"text\"\n"
                       "train_files = [\"train.jsonl\"]\nvalid_files = [\"valid.jsonl\"]\n"
                       "bert = { sentences = \"lines\" }\n"
                       "[train]\nbatch_size = 8\nmicro_batch_size = 3\nbudget_tokens = 38400\nlearning_rate = 3e-3\n"
                       "[random_ltd]\nmin = 8\nstep = 4\nduration = 0.5\nlayers = [1]\nkeep_first = 1\n"
                       "[curriculum.seqtru]\nmin = 8\nduration = 0.2\n"
                       "[eval]\nvalidation_tokens = 400\nevery = \"3 times\"\n",
                       "t.toml"),
            1, folder.path());
        resolve_data(config);
    }

    std::vector<Json> lines(const fs::path& run, const char* kind) const { return test::journal_records(run, kind); }
};

}  // namespace

TEST_CASE("a trial that starts from a pretrained BERT keeps its head of the sentences' order") {
    const BertTrial trial;
    test::train_and_score(trial.config, trial.folder.path());
    BertTrial second;
    second.config.start = StartConfig{result_checkpoint(trial.folder / "checkpoints").value().string(), "", "", ""};
    second.config.train.learning_rate = 1e-9;  // the weights stay as they came
    resolve_data(second.config);
    test::train_and_score(second.config, second.folder.path());
    const auto order_loss = [](const BertTrial& of) {
        double last = 0;
        for (const Json& score : of.lines(of.folder.path(), "evaluation"))
            if (score.at("metric") == "order_loss") last = score.at("value");
        return last;
    };
    CHECK(order_loss(second) == Approx(order_loss(trial)).epsilon(1e-3));
    CHECK(order_loss(trial) > 0);
}

TEST_CASE("a trial on BERT's samples trains, validates and is scored") {
    const BertTrial trial;
    const fs::path& folder = trial.folder.path();
    test::train_and_score(trial.config, folder);
    std::map<std::string, std::vector<double>> scores;
    for (const Json& score : trial.lines(folder, "evaluation")) {
        CHECK(score.at("task") == "validation");
        scores[score.at("metric")].push_back(score.at("value"));
    }
    const std::vector<double> loss = scores["loss"], accuracy = scores["acc"];
    for (const char* metric : {"acc", "bits_per_token", "order_loss", "order_acc"})
        REQUIRE(scores[metric].size() == loss.size());
    CHECK(scores["bits_per_token"].back() == Approx(loss.back() / 0.69314718056));
    CHECK(scores["order_loss"].back() > 0);
    CHECK(scores["order_loss"].back() < 1);
    CHECK(scores["order_acc"].back() <= 1);
    REQUIRE(loss.size() >= 3);
    CHECK(loss.back() < 1.7);  // eight equally frequent words: 2.08
    CHECK(loss.back() < loss.front());
    CHECK(accuracy.back() > 0.3);
    const Json last = trial.lines(folder, "train").back();
    CHECK(last.at("layer_tokens") >= 38400);
    CHECK(last.at("input_tokens") < last.at("layer_tokens"));  // padding does not count as input
    CHECK(last.at("head_names") == Json({"masked tokens", "order"}));
    const double masked = last.at("head_losses").at(0), order = last.at("head_losses").at(1);
    CHECK(masked > 0);
    CHECK(order > 0);
    CHECK(last.at("loss") == Approx(masked + order).epsilon(1e-12));

    const fs::path checkpoint = result_checkpoint(folder / "checkpoints").value();
    CHECK(fs::exists(checkpoint / "vocab.txt"));
    TrainedModel trained = load_trained_model(checkpoint, {});
    const Dataset dataset = load_dataset(trial.config.data, 16, trial.config.base_folder, folder / "data");
    CHECK(engine::sha256_of(trained.tokenizer) == engine::sha256_of(dataset.tokenizer));
    const auto valid = std::get<std::shared_ptr<const engine::BertSamples>>(dataset.valid);
    const MaskedLoss whole = masked_loss(*trained.model, trained.exec, valid, 400, 3);
    CHECK(whole.loss == loss.back());
    CHECK(whole.tokens == 16 * valid->size());
    CHECK(whole.order_loss == scores["order_loss"].back());
    CHECK(whole.order_accuracy == scores["order_acc"].back());
    std::int64_t orders = 0;  // samples with two segments
    engine::BertReader reader(*valid);
    for (std::int64_t i = 0; i < valid->size(); ++i)
        orders += reader.read({i, static_cast<std::uint64_t>(i)}, 16).order != kernels::kIgnoreTarget;
    CHECK(whole.orders == orders);
    CHECK(orders > 0);
    CHECK(masked_loss(*trained.model, trained.exec, valid, 400, 1).loss == Approx(whole.loss).epsilon(1e-6));
    CHECK_THAT(test::refusal(ErrorKind::config, [&] { evaluate_checkpoint(trained, {"embedded_questions"}, {}, 4); }),
               ContainsSubstring("trained on BERT samples"));
}

TEST_CASE("a trial on BERT's samples goes on to the same bits after it was stopped") {
    const BertTrial trial;
    std::vector<std::string> weights;
    for (const bool stopped : {false, true}) {
        const fs::path run = trial.folder / (stopped ? "stopped" : "whole");
        fs::create_directories(run);
        const TrialPlaces places{run, trial.folder / "data", run / "checkpoints"};
        int asked = 0;
        if (stopped) REQUIRE(run_trial(trial.config, places, {}, [&] { return ++asked == 40; }) == 75);
        REQUIRE(run_trial(trial.config, places, {}, [] { return false; }) == 0);
        weights.push_back(trial.lines(run, "artifact").back().at("sha256"));
    }
    CHECK(weights[0] == weights[1]);
}

TEST_CASE("a step of a variable batch of BERT's samples is laid open in one micro-batch") {
    BertTrial trial;
    trial.config.model.dropout = trial.config.model.attention_dropout = trial.config.model.input_dropout = 0;
    trial.config.token_dropping.reset();
    trial.config.variable_batch = VariableBatchConfig{.max_tokens = 128};
    const fs::path file = trial.folder / "step.safetensors";
    write_debug_state(trial.config, trial.folder / "data", 1, 1, file);
    CHECK(fs::file_size(file) > 1000);
    trial.config.model.dropout = 0.1;
    CHECK_THAT(
        test::refusal(ErrorKind::config, [&] { write_debug_state(trial.config, trial.folder / "data", 1, 1, file); }),
        ContainsSubstring("this model has dropout"));
}
