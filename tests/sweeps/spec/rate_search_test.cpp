// [search]: which trials it has, what its rates become in the table, and what is refused.

#include "sweeps/spec/rate_search.h"

#include <map>
#include <set>

#include "sweeps/spec/expand.h"
#include "tests/sweeps/files.h"

using namespace deft;
using namespace deft::sweeps;

namespace {

const std::string kSearchedHead =
    "name = \"x\"\nseeds = [1, 2]\n"
    "[defaults.model]\nlayers = 3\nwidth = 32\nheads = 2\nseqlen = 32\n"
    "[defaults.data]\nembedded_bytes = 50000\n"
    "[defaults.train]\nbatch_size = 4\nbudget_tokens = 8192\nlearning_rate = 7e-3\n"
    "[defaults.eval]\ntasks = [\"embedded_questions\"]\nvalidation_tokens = 500\n";
const std::string kBudgets = "[axes.grid]\n\"train.budget_fraction\" = [1.0, 0.5]\n";
const std::string kSearchedRecipes =
    "[[case]]\nname = \"plain\"\n"
    "[[case]]\nname = \"ltd\"\nrandom_ltd = { min = 16, duration = 0.7 }\n";
const std::string kThreeRates = "[search]\nlearning_rate = [1e-3, 2e-3, 4e-3]\nseeds = [8, 9]\n";

Spec load_searched(const std::string& text, const SpecOptions& options = {}) {
    const test::Folder folder;
    return load_spec(folder.write("s.toml", text), options);
}

std::string wrong_search(const std::string& text, const SpecOptions& options = {},
                         const std::string& recipes = kSearchedRecipes) {
    return test::refusal([&] { expand_search(load_searched(kSearchedHead + text + recipes, options)); });
}

}  // namespace

TEST_CASE("A search has every row at every rate and budget, with seeds of its own and the validation alone") {
    const Spec spec = load_searched(kSearchedHead + kBudgets + kThreeRates + kSearchedRecipes);
    const std::vector<Trial> trials = expand_search(spec, 100);
    REQUIRE(trials.size() == 2u * 2u * 3u * 2u);
    std::map<std::string, std::set<double>> rates;
    for (std::size_t i = 0; i < trials.size(); ++i) {
        const Trial& trial = trials[i];
        CHECK(trial.ordinal == 100 + static_cast<std::int64_t>(i));
        CHECK(trial.stage == results_db::kSearchStage);
        CHECK((trial.seed == 8 || trial.seed == 9));
        CHECK(trial.seeds == std::vector{trial.seed});
        CHECK(trial.axes.at(kLearningRate) == trial.config.train.learning_rate);
        CHECK(trial.config.token_dropping.has_value() == (trial.recipe == "ltd"));
        for (const experiments::ScoreRequest& request : trial.scores) CHECK(request.task == "validation");
        CHECK(trial.scores.size() == 1);
        const std::string row = trial.recipe + trial.axes.at("train.budget_fraction").dump();
        rates[row].insert(trial.config.train.learning_rate);
    }
    CHECK(rates.size() == 4);
    for (const auto& [row, tried] : rates) CHECK(tried == std::set{1e-3, 2e-3, 4e-3});
    CHECK(trials.front().name() == "plain:search[budget_fraction=1.0,learning_rate=0.001]/8");
}

TEST_CASE("The table's trials have the rate that their row's search found, and the file's before there is one") {
    const Spec spec = load_searched(kSearchedHead + kBudgets + kThreeRates + kSearchedRecipes);
    for (const Trial& trial : expand(spec)) CHECK(trial.config.train.learning_rate == 7e-3);
    const auto row = [](const char* of, double budget) { return row_name(of, {{"train.budget_fraction", budget}}); };
    const Spec found = with_rates(
        spec, {{row("plain", 1.0), 1e-3}, {row("plain", 0.5), 2e-3}, {row("ltd", 1.0), 4e-3}, {row("ltd", 0.5), 2e-3}});
    const std::vector<Trial> trials = expand(found);
    REQUIRE(trials.size() == 8);
    for (const Trial& trial : trials) {
        const bool is_half = trial.axes.at("train.budget_fraction") == 0.5;
        CHECK(trial.config.train.learning_rate == (is_half ? 2e-3 : trial.recipe == "plain" ? 1e-3 : 4e-3));
        CHECK(trial.axes.size() == 1);  // the rate is not an axis of the table
        CHECK((trial.seed == 1 || trial.seed == 2));
    }
    // The search itself is the same, with the rates or without.
    CHECK(expand_search(found).front().config_hash == expand_search(spec).front().config_hash);
}

TEST_CASE("Other rates are another sweep, and the search by itself is a third") {
    const Spec spec = load_searched(kSearchedHead + kThreeRates + kSearchedRecipes);
    const Spec one = with_rates(spec, {{row_name("plain", Json::object()), 1e-3}});
    const Spec other = with_rates(spec, {{row_name("plain", Json::object()), 2e-3}});
    CHECK(std::set{spec.sha256, one.sha256, other.sha256, while_searching(spec).sha256}.size() == 4);
    CHECK(with_rates(spec, one.found_rates).sha256 == one.sha256);
    // The same sweep without [search] is another one as well.
    CHECK(load_searched(kSearchedHead + kSearchedRecipes).sha256 != spec.sha256);
}

TEST_CASE("A stage's rate is searched where recipes share its trainings, and later stages keep theirs") {
    const std::string stages =
        "[stage.pretrain]\n[stage.finetune]\nfrom = \"pretrain\"\n[stage.finetune.train]\nlearning_rate = 1e-4\n"
        "[search]\nlearning_rate = [1e-3, 2e-3]\n";
    const std::string recipes =
        "[[case]]\nname = \"plain\"\n[[case]]\nname = \"late\"\n[case.finetune.random_ltd]\nmin = 16\nduration = 0.7\n";
    const Spec spec = load_searched(kSearchedHead + stages + recipes);
    REQUIRE(spec.search);
    CHECK(spec.search->stage == "pretrain");
    CHECK(spec.search->seeds == std::vector<std::int64_t>{900'001});
    const std::vector<Trial> trials = expand_search(spec);
    REQUIRE(trials.size() == 4);
    CHECK(trials.front().name() == "plain:search[learning_rate=0.001]/900001");
    CHECK(trials[0].config_hash == trials[2].config_hash);  // of both recipes one training
    const Spec found =
        with_rates(spec, {{row_name("plain", Json::object()), 2e-3}, {row_name("late", Json::object()), 2e-3}});
    for (const Trial& trial : expand(found))
        CHECK(trial.config.train.learning_rate == (trial.stage == "pretrain" ? 2e-3 : 1e-4));
}

TEST_CASE("A search that finds nothing out is refused with its place") {
    CHECK_THAT(wrong_search("[search]\nlearning_rate = [1e-3]\n"),
               ContainsSubstring("a search needs at least two rates") && ContainsSubstring("s.toml:18:17"));
    CHECK_THAT(wrong_search("[search]\nseeds = [5]\n"), ContainsSubstring("search.learning_rate is missing"));
    CHECK_THAT(wrong_search("[search]\nlearning_rate = [2e-3, 1e-3]\n"),
               ContainsSubstring("0.001 follows 0.002, but rates must ascend") && ContainsSubstring("s.toml:18:24"));
    CHECK_THAT(wrong_search("[search]\nlearning_rate = [1e-3, 1e-3]\n"), ContainsSubstring("rates must ascend"));
    CHECK_THAT(wrong_search("[search]\nlearning_rate = [0.0, 1e-3]\n"), ContainsSubstring("must be above 0"));
    CHECK_THAT(wrong_search("[search]\nlearning_rate = [1e-3, inf]\n"), ContainsSubstring("must be above 0"));
    CHECK_THAT(wrong_search("[search]\nlearning_rate = [\"1e-3\", 2e-3]\n"), ContainsSubstring("must contain numbers"));
    CHECK_THAT(wrong_search("[search]\nlearning_rate = 1e-3\n"), ContainsSubstring("must be an array"));
    CHECK_THAT(wrong_search("[search]\nlearning_rates = [1e-3, 2e-3]\n"), ContainsSubstring("learning_rate"));
    CHECK_THAT(wrong_search("[search]\nlearning_rate = [1e-3, 2e-3]\nseeds = []\n"),
               ContainsSubstring("seeds is empty"));
    CHECK_THAT(wrong_search("[search]\nlearning_rate = [1e-3, 2e-3]\nstage = \"pretrain\"\n"),
               ContainsSubstring("no stage is named pretrain") && ContainsSubstring("drop the key"));
    CHECK_THAT(wrong_search("[axes.grid]\n\"train.learning_rate\" = [1e-3, 2e-3]\n" + kThreeRates),
               ContainsSubstring("the axes and [search] both set the learning rate"));
}

TEST_CASE("A search shares no seed with its table, and nothing else sets its rate") {
    CHECK_THAT(wrong_search("[search]\nlearning_rate = [1e-3, 2e-3]\nseeds = [2]\n"),
               ContainsSubstring("seed 2 is used by both [search] and the sweep"));
    CHECK_THAT(wrong_search(kThreeRates, {kDefaultScale, {}, std::vector<std::int64_t>{7, 9}}),
               ContainsSubstring("seed 9 is used by both"));
    CHECK_THAT(wrong_search(kThreeRates, {kDefaultScale, {"train.learning_rate=1e-3"}, {}}),
               ContainsSubstring("cannot be combined with [search]"));
    // Switched off, it is none.
    const Spec off = load_searched(kSearchedHead + "[search]\nlearning_rate = [1e-3]\nenabled = false\nseeds = [1]\n" +
                                   kSearchedRecipes);
    CHECK(!off.search);
    const std::string scaled = kSearchedHead + kThreeRates + kSearchedRecipes +
                               "[scale.smoke.search]\nenabled = false\n[scale.proxy]\nseeds = [3]\n";
    CHECK(!load_searched(scaled).search);
    CHECK(load_searched(scaled, {"proxy", {}, {}}).search);
}

TEST_CASE("[search] reserves its stage name and refuses a stage that starts from another") {
    CHECK_THAT(wrong_search("[stage.search]\n"), ContainsSubstring("a stage cannot be named search"));
    const std::string stages = "[stage.pretrain]\n[stage.finetune]\nfrom = \"pretrain\"\n";
    CHECK_THAT(wrong_search(stages + "[search]\nstage = \"finetune\"\nlearning_rate = [1e-3, 2e-3]\n", {},
                            "[[case]]\nname = \"plain\"\n"),
               ContainsSubstring("stage finetune starts from pretrain"));
    CHECK_THAT(wrong_search(stages + "[search]\nstage = \"pretran\"\nlearning_rate = [1e-3, 2e-3]\n", {},
                            "[[case]]\nname = \"plain\"\n"),
               ContainsSubstring("did you mean pretrain?"));
}
