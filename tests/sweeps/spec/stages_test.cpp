// [stage.NAME]: what a sweep with stages reads as, which trials it has, and what is refused.

#include <set>

#include "sweeps/spec/expand.h"
#include "tests/sweeps/files.h"

using namespace deft;
using namespace deft::sweeps;

namespace {

const std::string kStagedHead =
    "name = \"x\"\nseeds = [1, 2]\n"
    "[defaults.model]\nlayers = 3\nwidth = 32\nheads = 2\nseqlen = 32\n"
    "[defaults.data]\nembedded_bytes = 50000\n"
    "[defaults.train]\nbatch_size = 4\nbudget_tokens = 8192\n";
const std::string kChain =
    "[stage.pretrain]\n"
    "[stage.finetune]\nfrom = \"pretrain\"\n[stage.finetune.train]\nlearning_rate = 1e-4\n";
const std::string kCases =
    "[[case]]\nname = \"plain\"\n"
    "[[case]]\nname = \"ltd\"\n[case.pretrain.random_ltd]\nmin = 16\nduration = 0.7\n"
    "[[case]]\nname = \"late\"\n[case.finetune.random_ltd]\nmin = 16\nduration = 0.7\n";

struct Staged {
    test::Folder folder;
    Spec spec;
    std::vector<Trial> trials;
    explicit Staged(const std::string& text, const SpecOptions& options = {}) {
        spec = load_spec(folder.write("s.toml", text), options);
        trials = expand(spec);
    }
    const Trial& find(const std::string& name) const {
        for (const Trial& trial : trials)
            if (trial.name() == name) return trial;
        FAIL("no trial is named " << name);
        return trials.front();
    }
};

std::string wrong_stages(const std::string& text, const SpecOptions& options = {}) {
    return test::refusal([&] { const Staged staged(text, options); });
}

}  // namespace

TEST_CASE("Every recipe passes through every stage, and a trial follows the one that it starts from") {
    const Staged staged(kStagedHead + kChain + kCases);
    REQUIRE(staged.trials.size() == 12);
    std::vector<std::string> names;
    for (const Trial& trial : staged.trials) names.push_back(trial.name());
    CHECK(names[0] == "plain:pretrain/1");
    CHECK(names[3] == "ltd:pretrain/2");
    CHECK(names[6] == "plain:finetune/1");
    for (std::size_t i = 0; i < staged.trials.size(); ++i) {
        const Trial& trial = staged.trials[i];
        CHECK(trial.ordinal == static_cast<std::int64_t>(i));
        CHECK(trial.parent.has_value() == (trial.stage == "finetune"));
        if (!trial.parent) continue;
        const Trial& origin = staged.trials.at(*trial.parent);
        CHECK(*trial.parent < i);
        CHECK(origin.stage == "pretrain");
        CHECK(origin.recipe == trial.recipe);
        CHECK(origin.seed == trial.seed);
        REQUIRE(trial.config.start);
        CHECK(trial.config.start->trial == origin.config_hash);
        CHECK(trial.config.start->variant == origin.variant_hash);
        CHECK(trial.config.train.learning_rate == 1e-4);
        CHECK(origin.config.train.learning_rate == 1e-3);
    }
    CHECK(staged.find("ltd:pretrain/1").config.token_dropping);
    CHECK(!staged.find("ltd:finetune/1").config.token_dropping);
    CHECK(staged.find("late:finetune/1").config.token_dropping);
}

TEST_CASE("Recipes that share a stage train it once, and stages from different weights are separate") {
    const Staged staged(kStagedHead + kChain + kCases);
    CHECK(staged.find("plain:pretrain/1").config_hash == staged.find("late:pretrain/1").config_hash);
    CHECK(staged.find("plain:pretrain/1").config_hash != staged.find("ltd:pretrain/1").config_hash);
    CHECK(staged.find("plain:finetune/1").config_hash != staged.find("ltd:finetune/1").config_hash);
    // A seed is in no variant_hash, neither a trial's own nor that of what it starts from.
    CHECK(staged.find("ltd:finetune/1").variant_hash == staged.find("ltd:finetune/2").variant_hash);
    CHECK(staged.find("ltd:finetune/1").config_hash != staged.find("ltd:finetune/2").config_hash);
    // Another pretraining is another fine-tuning.
    const Staged other(kStagedHead + kChain + kCases, {kDefaultScale, {"pretrain.train.learning_rate=2e-3"}, {}});
    CHECK(other.find("plain:finetune/1").config_hash != staged.find("plain:finetune/1").config_hash);
    CHECK(other.find("plain:finetune/1").config.train.learning_rate == 1e-4);
    // And another fine-tuning leaves the pretraining as it is.
    const Staged tuned(kStagedHead + kChain + kCases, {kDefaultScale, {"finetune.train.learning_rate=2e-4"}, {}});
    CHECK(tuned.find("plain:pretrain/1").config_hash == staged.find("plain:pretrain/1").config_hash);
    CHECK(tuned.find("plain:finetune/1").config_hash != staged.find("plain:finetune/1").config_hash);
    // A configuration comes back from its JSON with the trial that it starts from.
    const Trial& trial = staged.find("ltd:finetune/2");
    const experiments::TrialConfig again = experiments::from_json(experiments::to_json(trial.config));
    CHECK(again.start == trial.config.start);
    CHECK(experiments::config_hash(again) == trial.config_hash);
}

TEST_CASE("Axes and seeds of a stage nest in those of the stage that it starts from") {
    const Staged staged(kStagedHead +
                        "[stage.pretrain]\n[stage.pretrain.axes]\n\"train.batch_size\" = [4, 8]\n"
                        "[stage.finetune]\nfrom = \"pretrain\"\nseeds = [7, 8, 9]\n"
                        "[stage.finetune.axes]\n\"train.learning_rate\" = [1e-4, 2e-4]\n"
                        "[[case]]\nname = \"plain\"\n"
                        "[[exclude]]\n\"pretrain.train.batch_size\" = 8\n\"finetune.train.learning_rate\" = 2e-4\n");
    // Two batch sizes of two seeds; from each three seeds at one or two rates.
    REQUIRE(staged.trials.size() == 4 + 2 * 3 * 2 + 2 * 3 * 1);
    const Trial& trial = staged.find("plain:finetune[learning_rate=0.0002,batch_size=4]/2.8");
    CHECK(trial.seed == 8);
    CHECK(trial.seeds == std::vector<std::int64_t>{2, 8});
    CHECK(trial.config.seed == 8);
    CHECK(staged.trials.at(*trial.parent).name() == "plain:pretrain[batch_size=4]/2");
    CHECK(staged.trials.at(*trial.parent).config.train.batch_size == 4);
    CHECK(trial.config.train.batch_size == 4);
    std::set<std::string> hashes;
    for (const Trial& each : staged.trials) hashes.insert(each.config_hash);
    CHECK(hashes.size() == staged.trials.size());
    // The seeds of one row follow each other.
    for (std::size_t i = 4; i < 10; ++i) CHECK(staged.trials[i].variant_hash == staged.trials[4].variant_hash);
    CHECK(staged.trials[10].variant_hash != staged.trials[4].variant_hash);
}

TEST_CASE("Values of a stage's axes may go together too") {
    const Staged staged(
        kStagedHead + kChain +
        "[stage.finetune.axes]\n\"train.batch_size\" = [4, 8]\n"
        "[[stage.finetune.axes.zip]]\n\"train.learning_rate\" = [1e-4, 2e-4]\n\"train.beta1\" = [0.8, 0.9]\n"
        "[[case]]\nname = \"plain\"\n");
    CHECK(staged.trials.size() == 2 + 2 * 2 * 2);
    CHECK(staged.find("plain:finetune[batch_size=8,beta1=0.9,learning_rate=0.0002]/1").config.train.beta1 == 0.9);
}

TEST_CASE("An override of an axis in one stage is laid over the others too, unless it names the stage") {
    const std::string text = kStagedHead + kChain + "[stage.finetune.axes]\n\"train.batch_size\" = [4, 8]\n" +
                             "[[case]]\nname = \"plain\"\n";
    const Staged both(text, {kDefaultScale, {"train.batch_size=2"}, {}});
    REQUIRE(both.trials.size() == 4);
    CHECK(both.trials[0].config.train.batch_size == 2);
    CHECK(both.trials[2].config.train.batch_size == 2);
    CHECK(both.trials[2].axes == Json::parse(R"({"finetune.train.batch_size": 2})"));
    const Staged one(text, {kDefaultScale, {"finetune.train.batch_size=2"}, {}});
    CHECK(one.trials[0].config.train.batch_size == 4);
    CHECK(one.trials[2].config.train.batch_size == 2);
}

TEST_CASE("A recipe is left out of one stage, with the trials that would start from it") {
    const Staged late(kStagedHead + kChain + kCases + "[[exclude]]\nstage = \"finetune\"\ncase = \"ltd\"\n");
    CHECK(late.trials.size() == 10);
    CHECK(late.find("ltd:pretrain/1").parent == std::nullopt);
    const Staged early(kStagedHead + kChain + kCases + "[[exclude]]\nstage = \"pretrain\"\ncase = \"ltd\"\n");
    CHECK(early.trials.size() == 8);
    CHECK_THAT(wrong_stages(kStagedHead + kChain + kCases + "[[exclude]]\nstage = \"fintune\"\n"),
               ContainsSubstring("no stage is named fintune") && ContainsSubstring("did you mean finetune?"));
}

TEST_CASE("A scale reaches into a stage") {
    const std::string text = kStagedHead + kChain +
                             "[[case]]\nname = \"plain\"\n"
                             "[scale.proxy.stage.finetune.train]\nbudget_tokens = 16384\n";
    const Staged staged(text, {"proxy", {}, {}});
    CHECK(staged.trials[0].config.train.budget_tokens == 8192);
    CHECK(staged.trials[2].config.train.budget_tokens == 16384);
}

TEST_CASE("All seeds of one pretraining seed run before the next, whatever their stage") {
    const Staged staged(kStagedHead + kChain + kCases);
    const std::vector<std::size_t> order = execution_order(staged.trials, staged.spec.sha256);
    REQUIRE(order.size() == 12);
    for (std::size_t i = 0; i < 12; ++i) CHECK(staged.trials[order[i]].seeds.front() == (i < 6 ? 1 : 2));
    // A stage's own seeds, other than the first stage's, follow the seed that they nest in.
    const Staged nested(kStagedHead +
                        "[stage.a]\n[stage.b]\nfrom = \"a\"\nseeds = [2, 1]\n[[case]]\nname = \"plain\"\n");
    const std::vector<std::size_t> blocks = execution_order(nested.trials, nested.spec.sha256);
    REQUIRE(blocks.size() == 6);
    for (std::size_t i = 0; i < 6; ++i) CHECK(nested.trials[blocks[i]].seeds.front() == (i < 3 ? 1 : 2));
}

TEST_CASE("A stage that is not enabled has no trials, and what started from it starts from a model of its own") {
    const std::string off = "[scale.alone.stage.pretrain]\nenabled = false\n";
    const std::string start = "[scale.alone.stage.finetune.start]\nfrom = \"no_such_model\"\n";
    const SpecOptions alone{"alone", {}, {}};
    test::Folder folder;
    // Cases and excludes may name it all the same.
    const std::string tables = kStagedHead + kChain + kCases + "[[exclude]]\nstage = \"pretrain\"\ncase = \"late\"\n" +
                               "[[exclude]]\nstage = \"finetune\"\ncase = \"ltd\"\n";
    const Spec spec = load_spec(folder.write("s.toml", tables + off + start), alone);
    REQUIRE(spec.stages.size() == 1);
    CHECK(spec.stages.front().name == "finetune");
    const std::vector<Trial> trials = expand(spec, Data::may_be_missing);
    REQUIRE(trials.size() == 4);
    for (const Trial& trial : trials) {
        CHECK(!trial.parent);
        REQUIRE(trial.config.start);
        CHECK(trial.config.start->trial.empty());
        CHECK(trial.config.start->sha256 == experiments::kDataMissing);
        CHECK(trial.config.train.learning_rate == 1e-4);
    }
    CHECK(trials[0].name() == "plain:finetune/1");
    CHECK(trials[1].name() == "plain:finetune/2");
    CHECK(trials[2].name() == "late:finetune/1");
    // Seeds that nested in those of the stage that is gone are gone with it.
    const std::string nested = "[scale.alone.stage.finetune]\nseeds = [5, 6]\n";
    CHECK(load_spec(folder.write("n.toml", tables + off + nested + start), alone).stages.front().seeds.empty());
    CHECK_THAT(wrong_stages(tables + off),
               ContainsSubstring("stage finetune starts from pretrain, which is not enabled") &&
                   ContainsSubstring("[stage.finetune.start]"));
    CHECK_THAT(wrong_stages(kStagedHead + "[stage.a]\nenabled = false\n[[case]]\nname = \"plain\"\n"),
               ContainsSubstring("no stage of this sweep is enabled"));
    // The other scale is as it was.
    CHECK(load_spec(folder.write("s.toml", tables + off + start)).stages.size() == 2);
}

TEST_CASE("Stages that make no sense are refused at their place") {
    const std::string plain = "[[case]]\nname = \"plain\"\n";
    const auto refused = [&](const std::string& tables, const std::string& recipes) {
        return wrong_stages(kStagedHead + tables + recipes);
    };
    CHECK_THAT(refused("[stage.a]\nfrom = \"a\"\n", plain),
               ContainsSubstring("s.toml:14:8: stage.a.from names the stage itself"));
    CHECK_THAT(refused("[stage.a]\nfrom = \"b\"\n[stage.b]\n", plain),
               ContainsSubstring("stage.a.from = \"b\" is a later stage") && ContainsSubstring("above [stage.a]"));
    CHECK_THAT(refused("[stage.first]\n[stage.b]\nfrom = \"frist\"\n", plain),
               ContainsSubstring("is not a stage of this sweep") && ContainsSubstring("did you mean first?"));
    CHECK_THAT(refused(kChain, "[[case]]\nname = \"plain\"\n[case.pretrian.train]\nbatch_size = 2\n"),
               ContainsSubstring("unknown key case.pretrian") && ContainsSubstring("did you mean pretrain?"));
    CHECK_THAT(
        refused(kChain, "[[case]]\nname = \"plain\"\n[case.random_ltd]\nmin = 16\n"),
        ContainsSubstring("case.random_ltd belongs to no stage") && ContainsSubstring("[case.pretrain.random_ltd]"));
    CHECK_THAT(refused(kChain + "[axes.grid]\n\"train.batch_size\" = [2, 4]\n", plain),
               ContainsSubstring("axes belongs to no stage") && ContainsSubstring("[stage.pretrain.axes]"));
    CHECK_THAT(refused("[stage.train]\n", plain), ContainsSubstring("a stage cannot be named train"));
    CHECK_THAT(refused("[stage.label]\n", plain), ContainsSubstring("a stage cannot be named label"));
    CHECK_THAT(refused("[stage.\"a b\"]\n", plain), ContainsSubstring("must be made of letters"));
    CHECK_THAT(refused("[scale.\"half.size\"]\n", plain),
               ContainsSubstring("the scale's name 'half.size' must be made of letters"));
    CHECK_THAT(refused("[stage.a]\nseeds = [3]\n", plain),
               ContainsSubstring("stage.a.seeds has no effect in a stage that starts"));
    CHECK_THAT(refused("[stage.a]\n[stage.b]\nfrom = \"a\"\nseeds = [3, 3]\n", plain),
               ContainsSubstring("a seed is listed twice"));
    CHECK_THAT(refused("[stage.a]\nform = \"b\"\n", plain), ContainsSubstring("did you mean from?"));
    CHECK_THAT(refused("stage = 3\n", plain), ContainsSubstring("stage"));
    CHECK_THAT(refused(kChain, plain + "[[exclude]]\n\"train.batch_size\" = 4\n"),
               ContainsSubstring("no axis is named train.batch_size"));
    // The last stage's trials of two recipes must differ in something.
    CHECK_THAT(
        refused(kChain, plain + "[[case]]\nname = \"same\"\n"),
        ContainsSubstring("plain:finetune/1 and same:finetune/1 have the same training and the same evaluation"));
    CHECK_THAT(wrong_stages(kStagedHead + kChain + plain, {kDefaultScale, {"finetune.trian.batch_size=2"}, {}}),
               ContainsSubstring("a trial has no trian"));
}
