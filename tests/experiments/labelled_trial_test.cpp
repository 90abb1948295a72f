// A trial on labelled texts, from files to scores.

#include <cmath>
#include <map>

#include "base/json.h"
#include "base/score_key.h"
#include "experiments/datasets/dataset.h"
#include "experiments/debug_state.h"
#include "experiments/draws.h"
#include "experiments/evaluate_checkpoint.h"
#include "experiments/evaluation/validation.h"
#include "tests/catch.h"
#include "tests/experiments/labelled_task.h"
#include "tests/experiments/whole_trial.h"

using namespace deft;
using namespace deft::experiments;
using test::refusal;
using test::ToyTask;
namespace fs = std::filesystem;

namespace {

// Passes enough to learn the training records by heart.
const std::string kLong = "budget_fraction = 16\n";

double score_of(const std::vector<journal::Evaluation>& scores, const std::string& split, const std::string& metric) {
    for (const journal::Evaluation& score : scores)
        if (score.split == split && score.metric == metric) return score.value;
    FAIL("no " << metric << " of " << split);
    return 0;
}

}  // namespace

TEST_CASE("a trial on labelled texts learns them by heart and is scored on every split of its task", "[bare]") {
    for (const bool of_values : {false, true}) {
        const ToyTask toy(of_values);
        const TrialConfig config = toy.resolved("", kLong);
        const fs::path& folder = toy.folder.path();
        test::train_and_score(config, folder);
        std::map<std::string, std::vector<std::string>> metrics;
        for (const Json& score : test::journal_records(folder, "evaluation")) {
            CHECK(score.at("task") == "validation");
            CHECK(score.at("task_version") == "7");
            const std::string split = score.at("split");
            CHECK(score.at("n") == (split == "near"  ? ToyTask::kNear
                                    : split == "far" ? ToyTask::kFar
                                                     : ToyTask::kNear + ToyTask::kFar));
            metrics[split].push_back(score.at("metric"));
            CHECK(score.at("better") == (score.at("metric") == "loss" ? "lower" : "higher"));
        }
        using Names = std::vector<std::string>;
        const Names expected = of_values ? Names{"loss", "spearman", "pearson"} : Names{"loss", "mcc", "acc", "f1"};
        CHECK(metrics.size() == 3);
        for (const char* split : {"near", "far", "all splits"}) CHECK(metrics[split] == expected);

        // Every record of every epoch was trained on.
        const Json last = test::journal_records(folder, "train").back();
        CHECK(last.at("layer_tokens") == 48 * ToyTask::kTrain * 16);
        CHECK(last.at("step") == 48 * 6);
        CHECK(last.at("loss") < 0.05);

        // Scored on what it was trained on: by heart.
        const fs::path checkpoint = result_checkpoint(folder / "checkpoints").value();
        TrainedModel trained = load_trained_model(checkpoint, {});
        CHECK_THAT(refusal([&] { text_tokenizer(trained); }), ContainsSubstring("labelled texts"));
        Dataset dataset = load_dataset(config.data, 16, config.base_folder, folder / "data");
        CHECK(dataset.train_bytes > 0);
        LabelledDataset seen = *dataset.labelled;
        seen.splits = {{"near", seen.training}};
        dataset.labelled = std::make_shared<const LabelledDataset>(seen);
        const auto scores = validation_scores(dataset, *trained.model, trained.exec, 1, 3, 0);
        CHECK(scores.front().split == "near");  // one split alone is not pooled
        CHECK(scores.size() == expected.size());
        CHECK(score_of(scores, "near", of_values ? "pearson" : "acc") > 0.97);
        const ValidationLoss loss = validation_loss(dataset, *trained.model, trained.exec, 1, 3);
        CHECK(loss.loss == score_of(scores, "near", "loss"));
    }
}

TEST_CASE("the pooled scores of labelled texts are those of all records, in whatever batches", "[bare]") {
    const ToyTask toy;
    const TrialConfig config = toy.resolved();
    const fs::path& folder = toy.folder.path();
    test::train_and_score(config, folder);
    TrainedModel trained = load_trained_model(result_checkpoint(folder / "checkpoints").value(), {});
    const Dataset dataset = load_dataset(config.data, 16, config.base_folder, folder / "data");
    const auto scores = validation_scores(dataset, *trained.model, trained.exec, 1, 3, 0);
    constexpr double kAll = ToyTask::kNear + ToyTask::kFar;
    for (const char* metric : {"loss", "acc"})
        CHECK(score_of(scores, kAllSplits, metric) == Approx((ToyTask::kNear * score_of(scores, "near", metric) +
                                                              ToyTask::kFar * score_of(scores, "far", metric)) /
                                                             kAll));
    const auto one_by_one = validation_scores(dataset, *trained.model, trained.exec, 1, 1, 0);
    for (std::size_t i = 0; i < scores.size(); ++i) {
        CHECK(std::isnan(one_by_one[i].value) ==
              std::isnan(scores[i].value));  // Matthews, where all predictions are equal
        if (!std::isnan(scores[i].value)) CHECK(one_by_one[i].value == Approx(scores[i].value).epsilon(1e-4));
    }
}

TEST_CASE("the best weights of a trial on labelled texts are the best by the pooled metric", "[bare]") {
    const ToyTask toy;
    TrialConfig config =
        toy.resolved("", "budget_fraction = 8\n[eval]\nevery = \"8 times\"\nselect = \"best\"\nmetric = \"acc\"\n");
    const fs::path& folder = toy.folder.path();
    test::train_and_score(config, folder);
    std::vector<double> pooled;
    for (const Json& score : test::journal_records(folder, "evaluation"))
        if (score.at("metric") == "acc" && score.at("split") == kAllSplits) pooled.push_back(score.at("value"));
    REQUIRE(pooled.size() >= 8);
    CHECK(pooled.back() == *std::max_element(pooled.begin(), pooled.end()));
}

TEST_CASE("a trial on labelled texts goes on to the same bits after it was stopped, on any threads", "[bare]") {
    for (const bool of_values : {false, true}) {
        const ToyTask toy(of_values);
        TrialConfig config = toy.resolved("", "[random_ltd]\nmin = 4\nstep = 1\nduration = 0.5\nlayers = [0, 1]\n");
        config.model.dropout = config.model.head_dropout = config.model.attention_dropout = 0.1;
        std::vector<std::string> weights;
        for (const bool stopped : {false, true}) {
            const fs::path run = toy.folder / (stopped ? "stopped" : "whole");
            fs::create_directories(run);
            const TrialPlaces places{run, toy.folder / "data", run / "checkpoints"};
            int asked = 0;
            if (stopped) REQUIRE(run_trial(config, places, {}, [&] { return ++asked == 6; }) == 75);
            TrialSlot slot;
            slot.threads = stopped ? 2 : 1;
            REQUIRE(run_trial(config, places, slot, [] { return false; }) == 0);
            weights.push_back(test::journal_records(run, "artifact").back().at("sha256"));
        }
        CHECK(weights[0] == weights[1]);
    }
}

TEST_CASE("labelled records that are not those of the plan, or not what they should be, end a trial with their place",
          "[bare]") {
    const ToyTask toy;
    const TrialConfig config = toy.resolved();
    const auto load = [&] { load_dataset(config.data, 16, config.base_folder, toy.folder / "data"); };
    CHECK(refusal(load) == "accepted");
    const std::string train = read_file(toy.folder / "train.tsv");
    write_file_atomically(toy.folder / "train.tsv", train + "w1\tw2\tno\n");
    CHECK_THAT(refusal(load), ContainsSubstring("has changed since this trial was planned"));
    const auto loaded_with = [&](const std::string& line) {
        write_file_atomically(toy.folder / "train.tsv", train + line);
        TrialConfig other = toy.resolved();
        return refusal([&] { load_dataset(other.data, 16, other.base_folder, toy.folder / "data"); });
    };
    CHECK(loaded_with("w1\tw2\tno\n") == "accepted");
    CHECK_THAT(loaded_with("w1\tw2\tmaybe\n"), ContainsSubstring("train.tsv:22 is 'maybe'"));
    CHECK_THAT(loaded_with(" \tw2\tno\n"),
               ContainsSubstring("train.tsv:22:") && ContainsSubstring("the first text has no tokens"));
    CHECK_THAT(loaded_with("w1\t\tno\n"),
               ContainsSubstring("train.tsv:22:") && ContainsSubstring("the second text has no tokens"));
    write_file_atomically(toy.folder / "train.tsv", train + "w1\tno\n");
    CHECK_THAT(refusal([&] { toy.resolved(); }), ContainsSubstring("train.tsv:22") && ContainsSubstring("2 columns"));
    write_file_atomically(toy.folder / "train.tsv", "");
    CHECK_THAT(refusal([&] { toy.resolved(); }), ContainsSubstring("the file holds no record"));
}

TEST_CASE("a further split that is not here is named, and the others are scored", "[bare]") {
    const ToyTask toy;
    fs::remove(toy.folder / "far.tsv");
    const TrialConfig config = toy.resolved();
    const Dataset dataset = load_dataset(config.data, 16, config.base_folder, toy.folder / "data");
    CHECK(dataset.labelled->splits.size() == 1);
    CHECK(dataset.note == "split far of task toy is not scored: far.tsv is not here");
    fs::remove(toy.folder / "near.tsv");
    CHECK_THAT(refusal(ErrorKind::data, [&] { toy.resolved(); }), ContainsSubstring("near.tsv"));
}

TEST_CASE("steps on labelled texts are laid open, and their tokens counted beforehand", "[bare]") {
    for (const bool of_values : {false, true}) {
        const ToyTask toy(of_values);
        const TrialConfig config = toy.resolved();
        const fs::path file = toy.folder / "step.safetensors";
        write_debug_state(config, toy.folder / "data", 2, 1, file);
        CHECK_THAT(read_file(file).substr(0, 20'000),
                   ContainsSubstring(of_values ? "batch.value_target" : "batch.class_target") &&
                       ContainsSubstring("batch.token") && ContainsSubstring("class_loss") &&
                       !ContainsSubstring("batch.target"));
        const Dataset dataset = load_dataset(config.data, 16, config.base_folder, toy.folder / "data");
        const DrawTotals totals = simulate_draws(config, dataset);
        CHECK(totals.steps == 18);
        CHECK(totals.tokens == 3 * dataset.train_tokens);
        CHECK(totals.tokens + totals.padding_tokens == 3 * ToyTask::kTrain * 16);
        CHECK(totals.sampling.drawn == 3 * ToyTask::kTrain);
    }
}
