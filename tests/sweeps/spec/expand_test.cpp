#include "sweeps/spec/expand.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "engine/data/bpe/bpe_trainer.h"
#include "engine/data/tokenizer.h"

#include "tests/sweeps/files.h"

using namespace deft;
using namespace deft::sweeps;

namespace {

const std::string kSweepHead =
    "name = \"x\"\nseeds = [1, 2]\n"
    "[defaults.model]\nlayers = 2\nwidth = 32\nheads = 2\nseqlen = 32\n"
    "[defaults.data]\nembedded_bytes = 50000\n"
    "[defaults.train]\nbatch_size = 4\nbudget_tokens = 8192\n";
const std::string kTwoRecipes =
    "[[case]]\nname = \"baseline\"\nlabel = \"plain\"\n"
    "[[case]]\nname = \"cl\"\n[case.curriculum.seqtru]\nmin = 8\nduration = 0.5\n";

struct Loaded {
    test::Folder folder;
    Spec spec;
    std::vector<Trial> trials;
    explicit Loaded(const std::string& text, const SpecOptions& options = {}) {
        spec = load_spec(folder.write("s.toml", text), options);
        trials = expand(spec);
    }
};

std::string wrong_trials(const std::string& text, const SpecOptions& options = {}) {
    return test::refusal([&] { const Loaded loaded(text, options); });
}

}  // namespace

TEST_CASE("Trials come recipe by recipe, axis by axis, seed by seed") {
    const Loaded loaded(kSweepHead + kTwoRecipes +
                        "[axes.grid]\n\"train.budget_fraction\" = [1.0, 0.5]\n\"train.batch_size\" = [4, 8]\n");
    const std::vector<Trial>& trials = loaded.trials;
    REQUIRE(trials.size() == 16);
    CHECK(trials[0].name() == "baseline[batch_size=4,budget_fraction=1.0]/1");
    CHECK(trials[1].seed == 2);
    CHECK(trials[2].axes == Json::parse(R"({"train.batch_size":8,"train.budget_fraction":1.0})"));
    CHECK(trials[4].axes == Json::parse(R"({"train.batch_size":4,"train.budget_fraction":0.5})"));
    CHECK(trials[8].recipe == "cl");
    CHECK(trials[0].label == "plain");
    CHECK(trials[4].config.train.budget_fraction == 0.5);
    CHECK(trials[8].config.curriculum);
    CHECK(!trials[0].config.curriculum);
    CHECK(trials[0].variant_hash == trials[1].variant_hash);
    std::set<std::string> hashes;
    for (std::size_t i = 0; i < trials.size(); ++i) {
        CHECK(trials[i].ordinal == static_cast<std::int64_t>(i));
        hashes.insert(trials[i].config_hash);
    }
    CHECK(hashes.size() == trials.size());
    CHECK(trials[0].projection.steps > trials[4].projection.steps);
    CHECK(trials[0].projection.flops > 0);
}

TEST_CASE("Excludes drop what matches all of them") {
    const std::string axes = "[axes.grid]\n\"train.budget_fraction\" = [1.0, 0.5]\n";
    const Loaded loaded(kSweepHead + kTwoRecipes + axes +
                        "[[exclude]]\ncase = \"baseline\"\n\"train.budget_fraction\" = 0.5\n");
    CHECK(loaded.trials.size() == 6);
    for (const Trial& trial : loaded.trials)
        CHECK_FALSE((trial.recipe == "baseline" && trial.config.train.budget_fraction == 0.5));
    CHECK_THAT(
        wrong_trials(kSweepHead + kTwoRecipes + "[[exclude]]\ncase = \"baseline\"\n[[exclude]]\ncase = \"cl\"\n"),
        ContainsSubstring("removes every trial"));
}

TEST_CASE("Two recipes with the same training and evaluation are refused by name") {
    const std::string message =
        wrong_trials(kSweepHead + "[[case]]\nname = \"a\"\n[[case]]\nname = \"b\"\n[case.train]\nbatch_size = 4\n");
    CHECK_THAT(message, ContainsSubstring("s.toml:15:1: a/1 and b/1 have the same training and the same evaluation"));
    CHECK_THAT(wrong_trials(kSweepHead + kTwoRecipes + "[axes.grid]\n\"train.budget_fraction\" = [1.0, 1]\n"),
               ContainsSubstring("have the same training and the same evaluation"));
    CHECK_THAT(wrong_trials(kSweepHead + kTwoRecipes + "[axes.grid]\n\"train.budget_fraction\" = [0.5, 0.5]\n"),
               ContainsSubstring("have the same training and the same evaluation"));
}

TEST_CASE("An axis that a trial does not know is refused at its value") {
    const std::string message =
        wrong_trials(kSweepHead + kTwoRecipes + "[axes.grid]\n\"train.budget_fractoin\" = [0.5]\n");
    CHECK_THAT(message, ContainsSubstring("s.toml:22:28: unknown key train.budget_fractoin"));
    CHECK_THAT(message, ContainsSubstring("did you mean budget_fraction?"));
    CHECK_THAT(wrong_trials(kSweepHead + kTwoRecipes + "[axes.grid]\n\"train.batch_size\" = [4, \"x\"]\n"),
               ContainsSubstring("s.toml:22:26"));
}

TEST_CASE("Values of a zip go together, and multiply with a grid") {
    const Loaded loaded(
        kSweepHead + kTwoRecipes +
        "[axes.grid]\n\"train.batch_size\" = [4, 8]\n"
        "[[axes.zip]]\n\"train.budget_fraction\" = [1.0, 0.5]\n\"train.learning_rate\" = [1e-3, 2e-3]\n");
    std::vector<std::string> names;
    for (const Trial& trial : loaded.trials)
        if (trial.recipe == "baseline" && trial.seed == 1) names.push_back(trial.name());
    CHECK(names == std::vector<std::string>{"baseline[batch_size=4,budget_fraction=1.0,learning_rate=0.001]/1",
                                            "baseline[batch_size=4,budget_fraction=0.5,learning_rate=0.002]/1",
                                            "baseline[batch_size=8,budget_fraction=1.0,learning_rate=0.001]/1",
                                            "baseline[batch_size=8,budget_fraction=0.5,learning_rate=0.002]/1"});
    CHECK(loaded.trials.size() == 16);
    CHECK(loaded.trials[2].config.train.learning_rate == 2e-3);
    CHECK(loaded.trials[2].config.train.budget_fraction == 0.5);
}

TEST_CASE("Two zips multiply, and the points of a list go together") {
    const Loaded loaded(kSweepHead + kTwoRecipes +
                        "[[axes.zip]]\n\"train.budget_fraction\" = [1.0, 0.5]\n\"train.learning_rate\" = [1e-3, 2e-3]\n"
                        "[[axes.zip]]\n\"train.beta1\" = [0.8, 0.9, 0.95]\ntrain.beta2 = [0.98, 0.99, 0.999]\n"
                        "[[axes.list]]\ntrain.batch_size = 4\ntrain.weight_decay = 0.1\n"
                        "[[axes.list]]\ntrain.weight_decay = 0.2\ntrain.batch_size = 8\n");
    CHECK(loaded.trials.size() == 2 * 2 * 3 * 2 * 2);
    std::set<std::string> together;
    for (const Trial& trial : loaded.trials)
        together.insert(fmt::format("{} {} | {} {}", trial.config.train.beta1, trial.config.train.beta2,
                                    trial.config.train.batch_size, trial.config.train.weight_decay));
    CHECK(together == std::set<std::string>{"0.8 0.98 | 4 0.1", "0.9 0.99 | 4 0.1", "0.95 0.999 | 4 0.1",
                                            "0.8 0.98 | 8 0.2", "0.9 0.99 | 8 0.2", "0.95 0.999 | 8 0.2"});
}

TEST_CASE("A zipped key without effect on a recipe is left out, and equal places are one") {
    const Loaded loaded(kSweepHead + kTwoRecipes +
                        "[[axes.zip]]\n\"train.budget_fraction\" = [1.0, 0.5, 0.5]\n"
                        "\"curriculum.seqtru.duration\" = [0.5, 0.25, 0.75]\n");
    std::vector<std::string> names;
    for (const Trial& trial : loaded.trials)
        if (trial.seed == 1) names.push_back(trial.name());
    CHECK(names == std::vector<std::string>{"baseline[budget_fraction=1.0]/1", "baseline[budget_fraction=0.5]/1",
                                            "cl[duration=0.5,budget_fraction=1.0]/1",
                                            "cl[duration=0.25,budget_fraction=0.5]/1",
                                            "cl[duration=0.75,budget_fraction=0.5]/1"});
}

TEST_CASE("A place that switches a technique on has the technique's other keys too") {
    const std::string recipes =
        "[[case]]\nname = \"LTD\"\n[case.random_ltd]\nenabled = false\nmin = 8\nduration = 0.5\n"
        "[case.model]\nlayers = 3\n";
    const auto names_of = [&](const std::string& axes) {
        std::vector<std::string> names;
        for (const Trial& trial : Loaded(kSweepHead + recipes + axes).trials)
            if (trial.seed == 1) names.push_back(trial.name());
        return names;
    };
    CHECK(names_of("[[axes.zip]]\n\"random_ltd.min\" = [8, 8, 16]\n\"random_ltd.enabled\" = [false, true, true]\n") ==
          std::vector<std::string>{"LTD[enabled=false]/1", "LTD[enabled=true,min=8]/1", "LTD[enabled=true,min=16]/1"});
    // One of two places without the technique, which differ in a key of it, is left.
    CHECK(names_of("[[axes.list]]\nrandom_ltd = { min = 8, enabled = false }\n"
                   "[[axes.list]]\nrandom_ltd = { min = 16, enabled = false }\n"
                   "[[axes.list]]\nrandom_ltd = { min = 16, enabled = true }\n") ==
          std::vector<std::string>{"LTD[enabled=false]/1", "LTD[enabled=true,min=16]/1"});
    // Axes of a grid, the switch before or after its keys.
    CHECK(names_of("[axes.grid]\n\"random_ltd.enabled\" = [true, false]\n\"random_ltd.min\" = [8, 16]\n") ==
          std::vector<std::string>{"LTD[enabled=true,min=8]/1", "LTD[enabled=true,min=16]/1", "LTD[enabled=false]/1"});
}

TEST_CASE("A place that switches a curriculum and one of its metrics on has the metric's other keys too") {
    const Loaded loaded(kSweepHead +
                        "[[case]]\nname = \"cl\"\n[case.curriculum]\nenabled = false\n[case.curriculum.seqtru]\n"
                        "enabled = false\nmin = 8\nduration = 0.5\n"
                        "[[axes.zip]]\n\"curriculum.enabled\" = [false, true]\n"
                        "\"curriculum.seqtru.enabled\" = [true, true]\n\"curriculum.seqtru.min\" = [8, 16]\n");
    std::vector<Json> axes;
    for (const Trial& trial : loaded.trials)
        if (trial.seed == 1) axes.push_back(trial.axes);
    CHECK(axes ==
          std::vector<Json>{
              {{"curriculum.enabled", false}},
              {{"curriculum.enabled", true}, {"curriculum.seqtru.enabled", true}, {"curriculum.seqtru.min", 16}}});
}

TEST_CASE("An axis without effect on any recipe is refused") {
    CHECK_THAT(wrong_trials(kSweepHead + kTwoRecipes + "[axes.grid]\n\"random_ltd.min\" = [8, 16]\n"),
               ContainsSubstring("s.toml:22:20: axis random_ltd.min has no effect on any recipe"));
    CHECK_THAT(wrong_trials(kSweepHead + kTwoRecipes +
                            "[[axes.zip]]\n\"train.batch_size\" = [4, 8]\n"
                            "\"curriculum.voc.duration\" = [0.5, 0.25]\n"),
               ContainsSubstring("axis curriculum.voc.duration has no effect"));
}

TEST_CASE("An override of one of several axes that go together keeps its places, and must be one of their values") {
    const std::string text =
        kSweepHead + kTwoRecipes +
        "[[axes.zip]]\n\"train.budget_fraction\" = [1.0, 0.5]\n\"train.learning_rate\" = [1e-3, 2e-3]\n";
    SpecOptions options;
    options.overrides = {"train.budget_fraction=0.5"};
    const Loaded half(text, options);
    REQUIRE(half.trials.size() == 4);
    CHECK(half.trials[0].config.train.learning_rate == 2e-3);
    CHECK(half.trials[0].name() == "baseline[budget_fraction=0.5,learning_rate=0.002]/1");
    options.overrides = {"train.budget_fraction=0.25"};
    CHECK_THAT(wrong_trials(text, options), ContainsSubstring("no remaining combination has the value 0.25") &&
                                                ContainsSubstring("choose one of: 1.0, 0.5"));
    options.overrides = {"train.budget_fraction=0.5", "train.learning_rate=1e-3"};
    CHECK_THAT(wrong_trials(text, options), ContainsSubstring("choose one of: 0.002"));
}

TEST_CASE("Axes that cannot go together are refused with their place") {
    const auto wrong = [](const std::string& axes) { return wrong_trials(kSweepHead + kTwoRecipes + axes); };
    CHECK_THAT(
        wrong("[[axes.zip]]\n\"train.budget_fraction\" = [1.0, 0.5]\n\"train.learning_rate\" = [1e-3]\n"),
        ContainsSubstring("s.toml:23:25: values of axes.zip change together, but train.learning_rate has 1 value and "
                          "train.budget_fraction has 2"));
    CHECK_THAT(wrong("[[axes.zip]]\n\"train.budget_fraction\" = [1.0, 0.5]\n"), ContainsSubstring("has only one key"));
    CHECK_THAT(wrong("[axes.zip]\n\"train.budget_fraction\" = [1.0, 0.5]\n"), ContainsSubstring("write [[axes.zip]]"));
    CHECK_THAT(wrong("[axes.grid]\n\"train.beta1\" = [0.9]\n[[axes.zip]]\ntrain.beta1 = [0.8, 0.9]\ntrain.beta2 = "
                     "[0.98, 0.99]\n"),
               ContainsSubstring("s.toml:24:15: axis train.beta1 is given twice, first at ") &&
                   ContainsSubstring("s.toml:22:17"));
    CHECK_THAT(wrong("[[axes.list]]\ntrain.beta1 = 0.9\n[[axes.list]]\ntrain.beta2 = 0.9\n"),
               ContainsSubstring("the first entry of axes.list has no train.beta2"));
    CHECK_THAT(wrong("[[axes.list]]\ntrain.beta1 = 0.9\ntrain.beta2 = 0.9\n[[axes.list]]\ntrain.beta2 = 0.99\n"),
               ContainsSubstring("this entry of axes.list lacks train.beta1"));
    CHECK_THAT(wrong("[[axes.list]]\n[[axes.list]]\ntrain.beta2 = 0.99\n"),
               ContainsSubstring("an entry of axes.list is empty"));
    CHECK_THAT(wrong("[[axes.zip]]\ntrain.beta1 = [0.8, 0.9, 0.8]\ntrain.beta2 = [0.98, 0.98, 0.98]\n"),
               ContainsSubstring("s.toml:22:26: axes.zip has the same values at positions 1 and 3"));
    CHECK_THAT(wrong("[[axes.list]]\ntrain.beta1 = 0.9\n[[axes.list]]\ntrain.beta1 = 0.8\n[[axes.list]]\n"
                     "train.beta1 = 0.8\n"),
               ContainsSubstring("axes.list has the same values at positions 2 and 3"));
    CHECK_THAT(wrong("[axes.gird]\ntrain.beta2 = [0.99]\n"), ContainsSubstring("did you mean grid?"));
}

TEST_CASE("A scale's zip and list replace the file's, and empty ones remove them") {
    const std::string text = kSweepHead + kTwoRecipes +
                             "[[axes.zip]]\ntrain.beta1 = [0.8, 0.9]\ntrain.beta2 = [0.98, 0.99]\n"
                             "[scale.other.axes]\nlist = []\n"
                             "[[scale.other.axes.zip]]\ntrain.beta1 = [0.7, 0.6, 0.5]\ntrain.eps = [1e-8, 1e-7, 1e-6]\n"
                             "[scale.none.axes]\nzip = []\ngrid = { train.beta1 = [0.7] }\n";
    SpecOptions options;
    CHECK(Loaded(text, options).trials.size() == 8);
    options.scale = "other";
    CHECK(Loaded(text, options).trials.size() == 12);
    options.scale = "none";
    const Loaded grid(text, options);
    REQUIRE(grid.trials.size() == 4);
    CHECK(grid.trials[0].config.train.beta1 == 0.7);
}

TEST_CASE("A sweep of a billion trials is refused before any is made") {
    std::string axes = "[axes.grid]\n";
    for (const char* path : {"train.learning_rate", "train.beta1", "train.beta2", "train.eps", "train.weight_decay",
                             "train.max_grad_norm", "train.min_learning_rate", "model.init_std"})
        axes += fmt::format("\"{}\" = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95]\n", path);
    const std::string said = wrong_trials(kSweepHead + kTwoRecipes + axes);
    CHECK_THAT(said, ContainsSubstring("4e+08 trials") && ContainsSubstring("the maximum is 100000") &&
                         ContainsSubstring("s.toml:22:"));
}

TEST_CASE("Overrides lie over defaults and recipes") {
    SpecOptions options;
    options.overrides = {"train.learning_rate=0.25", "curriculum.seqtru.min=16"};
    const Loaded loaded(kSweepHead + kTwoRecipes + "[case.train]\nlearning_rate = 0.5\n", options);
    for (const Trial& trial : loaded.trials) {
        CHECK(trial.config.train.learning_rate == 0.25);
        // A technique's setting does not switch the technique on.
        CHECK(trial.config.curriculum.has_value() == (trial.recipe == "cl"));
        if (trial.config.curriculum) CHECK(trial.config.curriculum->find("seqtru")->growth.min == 16);
    }
    options.overrides = {"random_ltd.min=8"};
    CHECK_THAT(wrong_trials(kSweepHead + kTwoRecipes, options), ContainsSubstring("no recipe of x has [random_ltd]"));
    options.overrides = {"train.learning_rte=1"};
    CHECK_THAT(wrong_trials(kSweepHead + kTwoRecipes, options), ContainsSubstring("did you mean learning_rate?"));
}

TEST_CASE("Excludes on an axis that a recipe lacks leave that recipe alone") {
    const Loaded loaded(kSweepHead + kTwoRecipes +
                        "[axes.grid]\n\"curriculum.seqtru.duration\" = [0.25, 0.5]\n"
                        "[[exclude]]\n\"curriculum.seqtru.duration\" = 0.5\n");
    std::vector<std::string> names;
    for (const Trial& trial : loaded.trials) names.push_back(trial.name());
    CHECK(names == std::vector<std::string>{"baseline/1", "baseline/2", "cl[duration=0.25]/1", "cl[duration=0.25]/2"});
}

TEST_CASE("Cases of other files or tokenizers have data of their own") {
    const test::Folder folder;
    folder.write("one.txt", "a rose is a rose is a rose");
    folder.write("two.txt", "an iris is an iris is an iris");
    const std::string_view texts[] = {"a rose is a rose is a rose", "an iris is an iris is an iris"};
    for (const int i : {0, 1})
        engine::write_tokenizer(
            engine::Tokenizer(std::make_shared<const engine::Bpe>(engine::train_bpe({&texts[i], 1}, 260)), "t"),
            folder.path / fmt::format("tokenizer{}", i));
    const auto with = [&](const std::string& name, const std::string& file, const std::string& tokenizer) {
        return fmt::format(
            "[[case]]\nname = \"{}\"\n[case.data]\ncorpus = \"text\"\ntrain_files = [\"{}\"]\n"
            "valid_files = [\"one.txt\"]\ntokenizer = \"{}\"\n",
            name, file, tokenizer);
    };
    const Spec spec = load_spec(folder.write("s.toml", kSweepHead + with("one", "one.txt", "tokenizer0") +
                                                           with("two", "two.txt", "tokenizer0") +
                                                           with("three", "one.txt", "tokenizer1")));
    std::map<std::string, std::set<std::string>> data;  // by recipe, of its two seeds
    std::set<std::string> all;
    for (const Trial& trial : expand(spec)) {
        data[trial.recipe].insert(trial.config.data.sha256);
        all.insert(trial.config.data.sha256);
    }
    for (const auto& [name, of_recipe] : data) CHECK(of_recipe.size() == 1);
    CHECK(all.size() == 3);
}

TEST_CASE("A technique's axis multiplies only the recipes that have it") {
    const Loaded loaded(kSweepHead + kTwoRecipes + "[axes.grid]\n\"curriculum.seqtru.duration\" = [0.25, 0.5]\n");
    CHECK(loaded.trials.size() == 6);
    CHECK(loaded.trials[0].axes.empty());
    CHECK(loaded.trials[0].name() == "baseline/1");
    CHECK(loaded.trials[2].config.curriculum->find("seqtru")->growth.duration == 0.25);
}

TEST_CASE("A metric's axis and override concern the recipes that have it on") {
    const std::string text =
        kSweepHead +
        "[defaults.curriculum]\nenabled = false\n[defaults.curriculum.seqtru]\nenabled = false\n"
        "min = 8\n[defaults.curriculum.seqres]\nenabled = false\nmin = 8\n[[case]]\nname = \"baseline\"\n"
        "[[case]]\nname = \"cut\"\ncurriculum = { enabled = true, seqtru = { enabled = true } }\n"
        "[[case]]\nname = \"laid\"\ncurriculum = { enabled = true, seqres = { enabled = true } }\n"
        "[axes.grid]\n\"curriculum.seqtru.duration\" = [0.25, 0.5]\n";
    SpecOptions options;
    options.overrides = {"curriculum.seqres.duration=0.75"};
    const Loaded loaded(text, options);
    std::vector<std::string> names;
    for (const Trial& trial : loaded.trials)
        if (trial.seed == 1) names.push_back(trial.name());
    CHECK(names == std::vector<std::string>{"baseline/1", "cut[duration=0.25]/1", "cut[duration=0.5]/1", "laid/1"});
    CHECK(loaded.trials[2].config.curriculum->find("seqres") == nullptr);
    CHECK(loaded.trials[6].config.curriculum->find("seqres")->growth.duration == 0.75);
    options.overrides = {"curriculum.seqres.enabled=false", "curriculum.seqtru.enabled=true"};
    CHECK_THAT(wrong_trials(text, options), ContainsSubstring("have the same training and the same evaluation"));
}

TEST_CASE("Trials run in blocks of a seed, shuffled by the sweep alone") {
    const Loaded loaded(kSweepHead + kTwoRecipes + "[axes.grid]\n\"train.batch_size\" = [1, 2, 4, 8, 16]\n");
    const std::vector<std::size_t> order = execution_order(loaded.trials, loaded.spec.sha256);
    REQUIRE(order.size() == loaded.trials.size());
    CHECK(std::set<std::size_t>(order.begin(), order.end()).size() == order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        CHECK(loaded.trials[order[i]].seed == (i < order.size() / 2 ? 1 : 2));
    CHECK(order == execution_order(loaded.trials, loaded.spec.sha256));
    CHECK(order != execution_order(loaded.trials, "another"));
    CHECK(!std::is_sorted(order.begin(), order.begin() + 10));
}

TEST_CASE("a preset replaces the whole model below it, whatever set that model") {
    const std::string preset = "[[case]]\nname = \"preset\"\nmodel = { preset = \"gpt_mini\", heads = 4 }\n";
    const auto model_of = [](const Loaded& loaded, std::size_t trial) { return loaded.trials.at(trial).config.model; };
    const Loaded by_recipe(kSweepHead + "[[case]]\nname = \"baseline\"\n" + preset);
    CHECK(model_of(by_recipe, 0).width == 32);
    CHECK(model_of(by_recipe, 2).width == 256);
    CHECK(model_of(by_recipe, 2).layers == 6);
    CHECK(model_of(by_recipe, 2).heads == 4);
    SpecOptions options;
    for (const char* change : {"model.width=512", "model.preset=gpt_mini"}) options.overrides.push_back(change);
    const Loaded by_hand(kSweepHead + "[[case]]\nname = \"baseline\"\n", options);
    CHECK(model_of(by_hand, 0).width == 512);
    CHECK(model_of(by_hand, 0).layers == 6);
    const Loaded by_axis(
        kSweepHead + "[[case]]\nname = \"baseline\"\n[axes.grid]\n\"model.preset\" = [\"gpt_mini\", \"gpt2_small\"]\n");
    CHECK(model_of(by_axis, 0).layers == 6);
    CHECK(model_of(by_axis, 2).width == 768);
    SpecOptions scaled;
    scaled.scale = "other";
    const Loaded by_scale(
        kSweepHead + "[[case]]\nname = \"baseline\"\n[scale.other.defaults.model]\npreset = \"gpt_mini\"\n", scaled);
    CHECK(model_of(by_scale, 0).layers == 6);
    CHECK(model_of(by_scale, 0).width == 256);
}

TEST_CASE("a recipe with another optimizer or decay drops the keys of that below, and no other") {
    const std::string head =
        kSweepHead +
        "optimizer = \"adamw\"\nbeta2 = 0.999\nweight_decay = 0.01\ndecay = \"step\"\ndecay_factor = 4.0\n";
    const Loaded loaded(
        head +
        "[[case]]\nname = \"adamw\"\n"
        "[[case]]\nname = \"sgd\"\ntrain = { optimizer = \"sgd\", momentum = 0.5, decay = \"linear\" }\n"
        "[[case]]\nname = \"same\"\ntrain = { optimizer = \"adamw\", decay = \"step\", eps = 1e-7 }\n");
    const experiments::TrainConfig adamw = loaded.trials.at(0).config.train, sgd = loaded.trials.at(2).config.train;
    CHECK(adamw.beta2 == 0.999);
    CHECK(adamw.decay_factor == 4);
    CHECK(sgd.optimizer == engine::OptimizerKind::sgd);
    CHECK(sgd.momentum == 0.5);
    CHECK(sgd.weight_decay == 0.01);
    CHECK(sgd.decay == engine::Decay::linear);
    CHECK(loaded.trials.at(4).config.train.beta2 == 0.999);
    CHECK(loaded.trials.at(4).config.train.decay_factor == 4);
    SpecOptions options;
    options.overrides.push_back("train.optimizer=sgd");
    CHECK(Loaded(head + "[[case]]\nname = \"baseline\"\n", options).trials.at(0).config.train.momentum == 0.9);
    // In one layer it is a mistake.
    CHECK_THAT(wrong_trials(head + "momentum = 0.5\n[[case]]\nname = \"baseline\"\n"),
               ContainsSubstring("train.momentum has no effect without train.optimizer = \"sgd\""));
}
