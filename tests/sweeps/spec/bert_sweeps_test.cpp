// The sweeps of the papers' BERT tables at the scale paper: the published hyperparameters, steps and rows.

#include <cmath>
#include <set>
#include <tuple>

#include "reporting/analysis/published/published.h"
#include "sweeps/spec/expand.h"
#include "tests/golden.h"
#include "tests/sweeps/files.h"

using namespace deft;
using namespace deft::sweeps;

namespace {

std::vector<Trial> trials_of(const std::string& name, const std::string& scale,
                             const std::vector<std::string>& set = {}) {
    SpecOptions options;
    options.scale = scale;
    options.overrides = set;
    return expand(load_spec(std::filesystem::path(DEFT_SOURCE_DIR) / "sweeps" / (name + ".toml"), options),
                  Data::may_be_missing);
}

bool has_glue() {
    return golden::has_data("glue/MNLI/train_subset.tsv.gz") &&
           golden::has_data("tokenizers/bert-base-uncased/vocab.txt");
}

const Trial& find(const std::vector<Trial>& trials, const std::string& recipe, double budget) {
    for (const Trial& trial : trials)
        if (trial.stage == "pretrain" && trial.recipe == recipe && trial.config.train.budget_fraction == budget)
            return trial;
    throw Error(ErrorKind::missing, "no such pretraining");
}

// Within a thousandth.
void check_steps(const Trial& trial, double steps) {
    INFO(trial.name());
    CHECK(static_cast<double>(trial.projection.steps) == Approx(steps).epsilon(1e-3));
}

}  // namespace

TEST_CASE("BERT's pretraining at the scale paper is the published one", "[slow][bare]") {
    if (!has_glue()) return;
    const std::vector<Trial> trials = trials_of("bert_combined", "paper");
    const experiments::TrialConfig& config = find(trials, "baseline", 1.0).config;
    CHECK(find(trials, "baseline", 1.0).projection.parameters == 336'226'108);
    CHECK(config.train.batch_size == 1024);
    CHECK(config.train.warmup_steps == 10'000);
    CHECK(config.train.min_learning_rate == 1e-5);
    CHECK(config.train.beta2 == 0.999);
    CHECK(config.train.weight_decay == 0.01);
    CHECK(config.train.decay == engine::Decay::linear);
    CHECK(config.model.dropout == 0.1);
    CHECK(config.model.attention_dropout == 0.1);
    CHECK(config.model.init_std == 0.02);
    CHECK(config.model.positions == experiments::PositionEncoding::learned);
    CHECK(config.data.bert.short_probability == 0.1);
    for (const auto& [budget, rate, steps] :
         {std::tuple(1.0, 1e-4, 2e6), std::tuple(0.67, 1.5e-4, 1.34e6), std::tuple(0.5, 2e-4, 1e6)}) {
        CHECK(find(trials, "baseline", budget).config.train.learning_rate == rate);
        check_steps(find(trials, "baseline", budget), steps);
        CHECK(find(trials, "baseline", budget).projection.steps == static_cast<std::int64_t>(steps));
    }
    check_steps(find(trials, "CL", 1.0), 2.3675e6);
    check_steps(find(trials, "random-LTD", 1.0), 2.717e6);
    check_steps(find(trials, "random-LTD", 0.5), 1.359e6);
    check_steps(find(trials, "CL+random-LTD", 1.0), 2.748e6);
    // As many of the baseline's steps as were published: 960,000, 640,000 and 480,000.
    for (const auto& [budget, steps] : {std::pair(1.0, 960'000), std::pair(0.67, 640'000), std::pair(0.5, 480'000)})
        for (const char* metric : {"seqtru", "voc"}) {
            const Trial& trial = find(trials, "CL", budget);
            const double share = trial.config.curriculum->find(metric)->growth.duration;
            CHECK(std::llround(share * static_cast<double>(find(trials, "baseline", budget).projection.steps)) ==
                  steps);
        }
    CHECK(find(trials, "random-LTD", 0.67).config.token_dropping->layers.size() == 22);
}

TEST_CASE("every row of the published BERT tables has its trials, and no other has", "[slow][bare]") {
    if (!has_glue()) return;
    for (const char* table : {"curriculum", "random_ltd", "combined"}) {
        INFO(table);
        const auto published =
            reporting::read_published_table(std::filesystem::path(DEFT_SOURCE_DIR) /
                                            ("reporting/paper/data_efficiency_bert_" + std::string(table) + ".toml"));
        const std::vector<Trial> trials = trials_of("bert_" + std::string(table), "paper");
        std::size_t rows = 0;
        for (const Trial& trial : trials) {
            if (trial.stage != "pretrain") continue;
            ++rows;
            CHECK(published.find(trial.recipe, trial.config.train.budget_fraction) != nullptr);
        }
        CHECK(rows == published.rows.size());
        CHECK(trials.size() == rows * (1 + 8 * 4 * 5));
    }
}

TEST_CASE("fine-tuning on GLUE at the scale paper is the published one, and starts from every pretraining", "[bare]") {
    if (!has_glue()) return;
    const std::vector<Trial> trials = trials_of("bert_random_ltd", "paper");
    std::set<double> rates;
    std::set<std::int64_t> seeds;
    std::set<std::string> stages;
    for (const Trial& trial : trials) {
        if (trial.stage == "pretrain") continue;
        const experiments::TrialConfig& config = trial.config;
        REQUIRE(trial.parent);
        CHECK(trials[*trial.parent].stage == "pretrain");
        stages.insert(trial.stage);
        rates.insert(config.train.learning_rate);
        seeds.insert(trial.seed);
        CHECK(config.data.corpus == "glue_" + trial.stage);
        CHECK(config.train.batch_size == 32);
        CHECK(config.train.budget_tokens == 3 * config.data.epoch_samples * 512);
        CHECK(config.train.warmup_share == 0.1);
        CHECK(config.train.weight_decay == 0.1);
        CHECK(config.model.head_dropout == 0.1);
        CHECK(config.eval.select == experiments::SelectedWeights::best);
        CHECK(config.eval.every == "3 times");
        CHECK(config.eval.metric == (trial.stage == "cola" ? "mcc" : trial.stage == "stsb" ? "spearman" : "acc"));
        CHECK_FALSE(config.data.labelled.truncate_labels);
        CHECK(config.data.labelled.whole_batches == 0);
    }
    CHECK(stages.size() == 8);
    CHECK(rates == std::set<double>{2e-5, 3e-5, 4e-5, 5e-5});
    CHECK(seeds == std::set<std::int64_t>{1234, 1235, 1236, 1237, 1238});
}

TEST_CASE("the smoke of BERT's sweeps trains on a thousand records of all eight tasks, once each", "[bare]") {
    if (!has_glue()) return;
    for (const char* name : {"bert_pretraining", "bert_curriculum", "bert_random_ltd", "bert_combined"}) {
        const std::vector<Trial> trials = trials_of(name, "smoke");
        std::size_t models = 0;
        for (const Trial& trial : trials) {
            if (trial.stage == "pretrain") {
                ++models;
                continue;
            }
            CHECK(trial.config.data.epoch_samples == 1000);
            CHECK(trial.projection.steps >= 200);  // below which it would not count
        }
        CHECK(trials.size() == models * 9);
        CHECK(models <= 8);
    }
}

TEST_CASE("the defects of the published code are one --set away, of the stages that have labels", "[bare]") {
    if (!has_glue()) return;
    const std::vector<Trial> trials =
        trials_of("bert_random_ltd", "paper", {"data.labelled.truncate_labels=true", "data.labelled.whole_batches=32"});
    for (const Trial& trial : trials) {
        const bool has_labels = trial.stage != "pretrain";
        CHECK(trial.config.data.labelled.truncate_labels == has_labels);
        CHECK(trial.config.data.labelled.whole_batches == (has_labels ? 32 : 0));
        if (trial.stage == "rte") CHECK(trial.projection.steps == 3 * 77);  // of 2,490 records
    }
    CHECK(trials_of("bert_random_ltd", "paper").front().config_hash == trials.front().config_hash);
}
