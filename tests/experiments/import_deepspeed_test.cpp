// DeepSpeed's data_efficiency section as a case of ours: the published recipes, schedules step by step, defects by
// name.

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "base/json.h"
#include "experiments/config.h"
#include "experiments/engine_config.h"
#include "experiments/import_deepspeed.h"
#include "experiments/lenient_json.h"
#include "tests/catch.h"
#include "tests/refusal.h"

using namespace deft;
using namespace deft::experiments;
using What = ImportNote::What;

namespace {

// The techniques of what was imported, in a trial of that length, depth and batch.
TrialConfig imported_trial(const DeepSpeedImport& imported, std::int64_t seqlen, std::int64_t layers,
                           std::int64_t batch = 8) {
    ConfigNode sweep = parse_toml(imported.toml, "imported.toml");
    ConfigNode trial = sweep.find("case")->items.at(0);
    trial.erase("name");
    const std::string defaults = "[model]\nlayers = " + std::to_string(layers) +
                                 "\nseqlen = " + std::to_string(seqlen) +
                                 "\n[train]\nbatch_size = " + std::to_string(batch) +
                                 "\nbudget_tokens = " + std::to_string(300'000 * batch * seqlen) + "\n";
    merge(trial, parse_toml(defaults, "defaults.toml"));
    return parse_trial_config(trial, 1, "/nowhere");
}

const ImportNote* note(const DeepSpeedImport& imported, const std::string& key_end) {
    const auto found = std::find_if(imported.notes.begin(), imported.notes.end(),
                                    [&](const ImportNote& n) { return n.key.ends_with(key_end); });
    return found == imported.notes.end() ? nullptr : &*found;
}

void check_note(const DeepSpeedImport& imported, const std::string& key_end, What what, const std::string& says = "") {
    INFO(key_end);
    const ImportNote* found = note(imported, key_end);
    REQUIRE(found != nullptr);
    CHECK(std::string(text_of(found->what)) == text_of(what));
    CHECK(found->why.find(says) != std::string::npos);
}

std::string wrong_import(const std::string& json) {
    std::string said = test::refusal([&] { import_deepspeed(json, "ds.json"); });
    CHECK(said.starts_with("ds.json: "));
    return said;
}

Json scheduled(const std::string& type, std::int64_t min, std::int64_t max, const Json& config) {
    return {{"difficulty_type", "percentile"}, {"clustering_type", "schedule_based"},
            {"min_difficulty", min},           {"max_difficulty", max},
            {"schedule_type", type},           {"schedule_config", config}};
}

Json with_metrics(const Json& metrics) {
    return {{"data_efficiency",
             {{"data_sampling", {{"curriculum_learning", {{"enabled", true}, {"curriculum_metrics", metrics}}}}}}}};
}

DeepSpeedImport import_json(const Json& json) {
    return import_deepspeed(json.dump(), "ds.json");
}

// The published 1.3B recipe: seqtru and voc composed, with random-LTD.
const std::string kGpt = R"({
  "train_batch_size": 512, "zero_optimization": {"stage": 1}, "gradient_clipping": 1.0,
  "data_efficiency": {
    "enabled": true, "seed": 1234,
    "data_routing": {"enabled": true, "random_ltd": {
      "enabled": true, "total_layer_num": 24, "random_ltd_layer_num": 22,
      "random_ltd_layer_id": [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22],
      "model_mask_name": "attention_mask", "model_type": "decoder", "hidden_state_order": "seq_batch_dim",
      "random_ltd_schedule": {"min_value": 128, "max_value": 2048, "schedule_type": "fixed_linear",
        "schedule_config": {"require_steps": 200000, "seq_per_step": 16}}}},
    "data_sampling": {"enabled": true, "num_workers": 0, "curriculum_learning": {
      "enabled": true, "data_cluster_path": "/tmp/clusters", "curriculum_metrics": {
        "vocabularyrarity": {"index_to_sample_path": "voc_index_to_sample_percentile_merged",
          "index_to_metric_path": "voc_index_to_metric", "difficulty_type": "percentile",
          "clustering_type": "schedule_based", "min_difficulty": 1, "max_difficulty": 100,
          "schedule_type": "fixed_root",
          "schedule_config": {"total_curriculum_step": 110000, "difficulty_step": 1, "root_degree": 2}},
        "seqlen": {"difficulty_type": "value", "clustering_type": "single_cluster", "min_difficulty": 80,
          "max_difficulty": 2048, "schedule_type": "fixed_linear",
          "schedule_config": {"total_curriculum_step": 110000, "difficulty_step": 8}}}}}}})";

}  // namespace

TEST_CASE("DeepSpeed's 1.3B GPT recipe becomes seqtru, voc and random-LTD") {
    const DeepSpeedImport imported = import_deepspeed(kGpt, "ds.json");
    const TrialConfig config = imported_trial(imported, 2048, 24, 512);
    REQUIRE(config.curriculum);
    REQUIRE(config.curriculum->metrics.size() == 2);
    const CurriculumMetric& length = *config.curriculum->find("seqtru");
    CHECK(length.growth.min == 80);
    CHECK(length.growth.max == 2048);
    CHECK(length.growth.multiple == 8);
    CHECK(length.growth.steps == 110000);
    CHECK(length.growth.pacing == GrowthPacing::linear);
    const CurriculumMetric& voc = *config.curriculum->find("voc");
    CHECK(voc.difficulty == DifficultyUnit::percentile);
    CHECK(voc.growth.pacing == GrowthPacing::root);
    CHECK(voc.growth.root_degree == 2);
    CHECK(voc.growth.min == 1);
    REQUIRE(config.token_dropping);
    CHECK(config.token_dropping->dropper == &engine::token_dropper("random_ltd"));
    CHECK(config.token_dropping->layers.front() == 1);
    CHECK(config.token_dropping->layers.back() == 22);
    CHECK(config.token_dropping->layers.size() == 22);
    CHECK(config.token_dropping->growth.min == 128);
    CHECK(config.token_dropping->growth.multiple == 16);
    CHECK(config.token_dropping->growth.steps == 200000);

    check_note(imported, "metrics.seqlen.clustering_type", What::changed, "seqres");
    check_note(imported, "data_cluster_path", What::defect);
    check_note(imported, "vocabularyrarity.index_to_sample_path", What::ignored);
    check_note(imported, "model_mask_name", What::ignored);
    check_note(imported, "data_efficiency.seed", What::changed, "seeds");
    check_note(imported, "data_sampling.enabled", What::ignored);
    check_note(imported, "num_workers", What::ignored);
    check_note(imported, "zero_optimization", What::outside);
    check_note(imported, "train_batch_size", What::outside, "train.batch_size");
}

TEST_CASE("the papers' names for lengths say whether samples are cut or reshaped, and nothing is guessed") {
    Json metric = scheduled("fixed_linear", 80, 2048, {{"total_curriculum_step", 110000}, {"difficulty_step", 8}});
    metric["difficulty_type"] = "value";
    metric["clustering_type"] = "single_cluster";
    for (const auto& [theirs, ours] : {std::pair{"seqlen_truncate", "seqtru"}, {"seqlen_reshape", "seqres"}}) {
        INFO(theirs);
        const DeepSpeedImport imported = import_json(with_metrics({{theirs, metric}}));
        CHECK(imported.notes.empty());
        const TrialConfig config = imported_trial(imported, 2048, 24, 512);
        REQUIRE(config.curriculum);
        REQUIRE(config.curriculum->metrics.size() == 1);
        const CurriculumMetric& length = config.curriculum->metrics.front();
        CHECK(length.metric == ours);
        CHECK(length.growth.min == 80);
        CHECK(length.growth.max == 2048);
        CHECK(length.growth.multiple == 8);
        CHECK(length.growth.steps == 110000);
    }
}

TEST_CASE("every key of a DeepSpeed configuration is converted or named") {
    // The converted part is in the recipe above; all other leaves must be in a note's path.
    const std::vector<std::string> converted = {"data_routing.random_ltd.enabled",
                                                "random_ltd_layer_id",
                                                "total_layer_num",
                                                "random_ltd_layer_num",
                                                "min_value",
                                                "max_value",
                                                "schedule_type",
                                                "require_steps",
                                                "seq_per_step",
                                                "curriculum_learning.enabled",
                                                "difficulty_type",
                                                "clustering_type",
                                                "min_difficulty",
                                                "max_difficulty",
                                                "total_curriculum_step",
                                                "difficulty_step",
                                                "root_degree"};
    const DeepSpeedImport imported = import_deepspeed(kGpt, "ds.json");
    const auto is_named = [&](const std::string& path) {
        return std::any_of(imported.notes.begin(), imported.notes.end(),
                           [&](const ImportNote& n) { return path == n.key || path.starts_with(n.key + "."); }) ||
               std::any_of(converted.begin(), converted.end(),
                           [&](const std::string& end) { return path.ends_with(end); });
    };
    const auto visit = [&](const auto& self, const Json& node, const std::string& path) -> void {
        for (const auto& [key, value] : node.items()) {
            const std::string here = path.empty() ? key : path + "." + key;
            INFO(here);
            if (value.is_object())
                self(self, value, here);
            else
                CHECK(is_named(here));
        }
    };
    visit(visit, Json::parse(kGpt), "");
}

TEST_CASE("DeepSpeed's BERT recipe: what orders by real length is refused, the rest goes over") {
    Json bert = with_metrics(
        {{"voc", scheduled("fixed_root", 5, 100,
                           {{"total_curriculum_step", 960000}, {"difficulty_step", 1}, {"root_degree", 2}})},
         {"seqlenvocabularyrarity",
          scheduled("fixed_root", 5, 100,
                    {{"total_curriculum_step", 960000}, {"difficulty_step", 1}, {"root_degree", 2}})},
         {"seqlen", scheduled("fixed_root", 5, 100,
                              {{"total_curriculum_step", 960000}, {"difficulty_step", 8}, {"root_degree", 2}})}});
    bert["data_efficiency"]["data_sampling"]["num_workers"] = 4;
    Json& seqlen = bert["data_efficiency"]["data_sampling"]["curriculum_learning"]["curriculum_metrics"]["seqlen"];
    {
        const DeepSpeedImport imported = import_json(bert);
        check_note(imported, "num_workers", What::defect, "reads ahead");
        check_note(imported, "seqlenvocabularyrarity.clustering_type", What::not_converted, "packed");
        check_note(imported, "seqlen.clustering_type", What::not_converted, "seqreo");
        check_note(imported, "seqlen.schedule_config.difficulty_step", What::defect);
        check_note(imported, "seqlen.min_difficulty", What::defect, "below the minimum");
        const TrialConfig config = imported_trial(imported, 512, 24);
        REQUIRE(config.curriculum->metrics.size() == 1);
        CHECK(config.curriculum->metrics.front().growth.min == 5);
    }
    seqlen["clustering_type"] = "single_cluster";  // as one of the published scripts has it
    check_note(import_json(bert), "seqlen.clustering_type", What::defect, "schedule_based was meant");
}

TEST_CASE("fixed_discrete gives DeepSpeed's difficulty at every step") {
    const auto seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const auto below = [&](int n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
    for (int round = 0; round < 200; ++round) {
        const std::size_t rises = 1 + static_cast<std::size_t>(below(6));
        std::vector<std::int64_t> difficulty = {1 + below(20)}, max_step;
        for (std::size_t i = 0; i < rises; ++i) {
            difficulty.push_back(difficulty.back() + below(30));
            max_step.push_back(below(5) == 0 ? below(40) : (max_step.empty() ? 0 : max_step.back()) + 1 + below(1000));
        }
        const std::int64_t min = difficulty.front(), max = std::max(min, difficulty.back() - below(3));
        Json metric = scheduled("fixed_discrete", min, max, {{"difficulty", difficulty}, {"max_step", max_step}});
        metric["difficulty_type"] = "value";
        INFO(metric.dump());
        const TrialConfig config = imported_trial(import_json(with_metrics({{"voc", metric}})), 64, 4);
        const engine::Pacing pacing = pacing_of(config.curriculum->metrics.front().growth, 1);
        std::int64_t current = min;
        const std::int64_t last = *std::max_element(max_step.begin(), max_step.end());
        for (std::int64_t t = 1; t < last + 10; ++t) {
            if (current < max) {
                std::size_t i = 0;
                while (i < max_step.size() && t > max_step[i]) ++i;
                current = difficulty[i];
            }
            if (engine::paced_value(pacing, t) != current) {
                INFO("t " << t);
                REQUIRE(engine::paced_value(pacing, t) == current);
            }
        }
    }
}

TEST_CASE("fixed_root and fixed_linear give DeepSpeed's difficulty at every step") {
    for (const double degree : {1.0, 2.0, 3.0}) {
        Json config = {{"total_curriculum_step", 977}, {"difficulty_step", 4}, {"root_degree", degree}};
        const DeepSpeedImport imported = import_json(with_metrics({{"voc", scheduled("fixed_root", 4, 100, config)}}));
        const engine::Pacing pacing = pacing_of(imported_trial(imported, 64, 4).curriculum->metrics.front().growth, 1);
        for (std::int64_t t = 1; t <= 1000; ++t) {
            auto d = static_cast<std::int64_t>(std::floor(std::pow(static_cast<double>(t) / 977, 1 / degree) * 96 + 4));
            d = std::min<std::int64_t>(d - d % 4, 100);
            REQUIRE(engine::paced_value(pacing, t) == d);
        }
    }
}

TEST_CASE("percentiles of DeepSpeed's are parts of max_difficulty") {
    const Json config = {{"total_curriculum_step", 100}, {"difficulty_step", 1}};
    const DeepSpeedImport halves = import_json(with_metrics({{"voc", scheduled("fixed_linear", 5, 50, config)}}));
    const Growth& growth = imported_trial(halves, 64, 4).curriculum->metrics.front().growth;
    CHECK(growth.min == 10);
    CHECK(growth.max == 100);
    CHECK(growth.multiple == 2);
    check_note(import_json(with_metrics({{"voc", scheduled("fixed_linear", 5, 70, config)}})), "max_difficulty",
               What::not_converted);
}

TEST_CASE("metrics of DeepSpeed's users become columns, and functions are not converted") {
    Json mine = scheduled("fixed_linear", 1, 100, {{"total_curriculum_step", 100}, {"difficulty_step", 1}});
    Json custom = scheduled("custom", 1, 100, {{"anything", 1}});
    check_note(import_json(with_metrics({{"my metric", mine}})), "index_to_sample_path", What::not_converted);
    mine["index_to_sample_path"] = "x/mine_index_to_sample";
    const DeepSpeedImport imported =
        import_json(with_metrics({{"my metric", mine}, {"enabled", mine}, {"voc", custom}}));
    check_note(imported, "my metric.index_to_sample_path", What::changed, "deft analyze --from-deepspeed");
    check_note(imported, "voc.schedule_type", What::not_converted, "custom");
    const TrialConfig config = imported_trial(imported, 64, 4);
    CHECK(config.curriculum->metrics.size() == 2);
    CHECK(config.curriculum->find("my metric")->column == "my metric.npy");
    CHECK(config.curriculum->find("deepspeed_enabled") != nullptr);
}

TEST_CASE("dynamic batching becomes a variable batch, and its misspelt key is named") {
    Json json = {{"data_efficiency",
                  {{"data_sampling",
                    {{"enabled", false},
                     {"dynamic_batching",
                      {{"enabled", true},
                       {"max_tokens", 1024},
                       {"min_batch_size", 2},
                       {"max_batch_size", 16},
                       {"lr_scaling_method", "sqrt"},
                       {"metrics_path", "m"},
                       {"sentence_picking_order", "seqlen"},
                       {"max_tokns", 1}}}}}}}};
    Json& batching = json["data_efficiency"]["data_sampling"]["dynamic_batching"];
    const DeepSpeedImport imported = import_json(json);
    const TrialConfig config = imported_trial(imported, 64, 4);
    REQUIRE(config.variable_batch);
    CHECK(config.variable_batch->max_tokens == 1024);
    CHECK(config.variable_batch->min_batch_size == 2);
    CHECK(config.variable_batch->max_batch_size == 16);
    CHECK(config.variable_batch->learning_rate_scaling == engine::LearningRateScaling::square_root);
    check_note(imported, "sentence_picking_order", What::defect, "sequence_picking_order");
    check_note(imported, "max_tokns", What::unknown, "max_tokens");
    check_note(imported, "data_sampling.enabled", What::defect, "the inner enabled decides");
    batching["max_batch_size"] = nullptr;
    CHECK(imported_trial(import_json(json), 64, 4).variable_batch->max_batch_size == 0);
    batching.erase("max_tokens");
    CHECK(wrong_import(json.dump()).find("dynamic_batching.max_tokens is needed") != std::string::npos);
}

TEST_CASE("the older curriculum_learning section becomes seqtru") {
    const DeepSpeedImport imported = import_deepspeed(
        R"({"curriculum_learning": {"enabled": true, "curriculum_type": "seqlen", "min_difficulty": 8,
        "max_difficulty": 64, "schedule_type": "fixed_linear",
        "schedule_config": {"total_curriculum_step": 60, "difficulty_step": 8}}})",
        "ds.json");
    const TrialConfig config = imported_trial(imported, 64, 4);
    CHECK(config.curriculum->find("seqtru")->growth.steps == 60);
    check_note(imported, "curriculum_learning.enabled", What::changed, "#8566");
}

TEST_CASE("what is off stays off, and its settings stay readable") {
    Json json = Json::parse(kGpt);
    json["data_efficiency"]["data_sampling"]["curriculum_learning"]["enabled"] = false;
    json["data_efficiency"]["data_routing"]["random_ltd"]["enabled"] = false;
    json["data_efficiency"]["data_routing"]["random_ltd"]["layer_token_lr_schedule"] = {{"enabled", true}};
    const DeepSpeedImport imported = import_json(json);
    const TrialConfig config = imported_trial(imported, 2048, 24, 512);
    CHECK(!config.curriculum);
    CHECK(!config.token_dropping);
    CHECK(imported.toml.find("steps = 110000") != std::string::npos);
    check_note(imported, "data_routing.enabled", What::defect);
    check_note(imported, "layer_token_lr_schedule.enabled", What::defect, "NotImplementedError");
}

TEST_CASE("comments and trailing commas are read as hjson reads them, and texts stay as they are") {
    const std::string plain = R"({"data_efficiency": {"data_sampling": {"num_workers": 4}}})";
    const std::string commented =
        "// a comment with \"quotes\", and a comma,\n{ # another\n\"data_efficiency\": /* , ] */ {"
        "\"data_sampling\": {\"num_workers\": 4, },\n},  }";
    CHECK(import_deepspeed(commented, "c.json").toml == import_deepspeed(plain, "c.json").toml);
    for (const char* text : {R"(["// no comment", "#", "/*", ",]", "\",]"])", "[1, 2]", "{}"})
        CHECK(without_comments(text) == text);
    // Each byte keeps its line and column.
    const std::string file = "[1, // one\n2,\n]";
    CHECK(without_comments(file) == "[1,       \n2 \n]");
    CHECK_THAT(wrong_import("{\n  // comment\n  \"a\": }"), ContainsSubstring("at line 3, column"));
}

TEST_CASE("a file that is not a DeepSpeed configuration is refused by its key") {
    CHECK(wrong_import("{").find("not valid JSON at line 1") != std::string::npos);
    CHECK(wrong_import("[]").find("a JSON array, not an object") != std::string::npos);
    CHECK(wrong_import("{}").find("data_efficiency") != std::string::npos);
    CHECK(wrong_import(R"({"data_efficiency": 3})").find("data_efficiency must be an object") != std::string::npos);
    const auto changed = [](const char* pointer, const Json& value) {
        Json json = Json::parse(kGpt);
        json[Json::json_pointer(pointer)] = value;
        return wrong_import(json.dump());
    };
    const std::string metric = "/data_efficiency/data_sampling/curriculum_learning/curriculum_metrics/vocabularyrarity";
    CHECK(
        changed((metric + "/min_difficulty").c_str(), "1").find("vocabularyrarity.min_difficulty must be an integer") !=
        std::string::npos);
    CHECK(changed((metric + "/schedule_type").c_str(), "fixed_rot").find("did you mean fixed_root?") !=
          std::string::npos);
    CHECK(changed((metric + "/schedule_config/total_curriculum_step").c_str(), 0).find("at least 1") !=
          std::string::npos);
    CHECK(changed((metric + "/min_difficulty").c_str(), 101).find("above max_difficulty") != std::string::npos);
    const std::string ltd = "/data_efficiency/data_routing/random_ltd";
    CHECK(changed((ltd + "/random_ltd_layer_id").c_str(), "all").find("must be an array of integers") !=
          std::string::npos);
    CHECK(changed((ltd + "/random_ltd_layer_id").c_str(), {1, 24}).find("names layer 24") != std::string::npos);
    CHECK(changed("/data_efficiency/data_sampling/num_workers", true).find("must be an integer") != std::string::npos);
}
