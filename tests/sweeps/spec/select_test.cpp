// Which trials --only means.

#include "sweeps/spec/select.h"

#include "tests/catch.h"
#include "tests/sweeps/program.h"

using namespace deft;
using namespace deft::sweeps;

namespace {

Spec staged_spec(const test::Folder& folder) {
    return load_spec(
        folder.write("s.toml", std::string("name = \"s\"\nseeds = [1, 2]\n") + test::kTinyDefaults + R"toml(
[stage.pretrain]
[stage.finetune]
from = "pretrain"
[stage.finetune.train]
learning_rate = 5e-4
[[case]]
name = "a"
[[case]]
name = "a+b"
[case.pretrain.train]
learning_rate = 2e-3
)toml"));
}

std::vector<std::string> chosen(const std::vector<Trial>& trials, const std::vector<std::string>& names) {
    std::vector<std::string> found;
    const std::vector<char> selected = selected_trials(trials, names);
    for (std::size_t i = 0; i < trials.size(); ++i)
        if (selected[i] != 0) found.push_back(trials[i].name());
    return found;
}

}  // namespace

TEST_CASE("The option --only takes recipes, rows and trials, and those that they start from") {
    const test::Folder folder;
    const Spec spec = staged_spec(folder);
    const std::vector<Trial> trials = expand(spec);
    REQUIRE(trials.size() == 8);
    CHECK(chosen(trials, {}).size() == 8);
    CHECK(chosen(trials, {"a"}) ==
          std::vector<std::string>{"a:pretrain/1", "a:pretrain/2", "a:finetune/1", "a:finetune/2"});
    CHECK(chosen(trials, {"a:pretrain"}) == std::vector<std::string>{"a:pretrain/1", "a:pretrain/2"});
    CHECK(chosen(trials, {"a:finetune/2"}) == std::vector<std::string>{"a:pretrain/2", "a:finetune/2"});
    CHECK(chosen(trials, {"a+b:pretrain/1", "a:pretrain/1"}).size() == 2);
    CHECK(is_selected(trials[0], {"a"}));
    CHECK_FALSE(is_selected(trials[0], {"a+b"}));
}

TEST_CASE("What is named by --only: it refuses what means none of the trials") {
    const test::Folder folder;
    const Spec spec = staged_spec(folder);
    const std::vector<Trial> trials = expand(spec);
    const auto refused = [&](const char* name) {
        return test::refusal(ErrorKind::usage, [&] { require_selected(spec, trials, {"a", name}); });
    };
    CHECK_THAT(refused("a:finetun/2"), ContainsSubstring("did you mean a:finetune/2?"));
    CHECK_THAT(refused("a:finetune/3"), ContainsSubstring("no recipe, row or trial a:finetune/3"));
    CHECK_THAT(refused(""), ContainsSubstring("help: "));
    require_selected(spec, trials, {"a", "a+b:pretrain", "a:finetune/2"});
    // Before there are trials, a recipe is all that can be known.
    require_selectable(spec, {"a", "a:finetune/3", "a+b[x=1]/1"});
    for (const char* name : {"c", "ax", "c:pretrain/1"}) {
        INFO(name);
        CHECK_THAT(test::refusal(ErrorKind::usage, [&] { require_selectable(spec, {name}); }),
                   ContainsSubstring("no recipe"));
    }
}

TEST_CASE("The option --only takes rows in the grammar of deft trace") {
    const test::Folder folder;
    const Spec spec = load_spec(folder.write(
        "s.toml", std::string("name = \"s\"\nseeds = [1, 2]\n") + test::kTinyDefaults +
                      "[axes.grid]\n\"train.budget_fraction\" = [1.0, 0.667]\n"
                      "[[case]]\nname = \"CL\"\n[[case]]\nname = \"base\"\n[case.train]\nlearning_rate = 2e-3\n"));
    const std::vector<Trial> trials = expand(spec);
    REQUIRE(trials.size() == 8);
    const std::vector<std::string> at_two_thirds = {"CL[budget_fraction=0.667]/1", "CL[budget_fraction=0.667]/2"};
    for (const char* name :
         {"CL at 66.7%", "CL 66.7%", "CL[budget_fraction=0.667]", "CL[train.budget_fraction=0.6670]"}) {
        INFO(name);
        require_selectable(spec, {name});
        require_selected(spec, trials, {name});
        CHECK(chosen(trials, {name}) == at_two_thirds);
    }
    CHECK(chosen(trials, {"CL/2 at 100%"}) == std::vector<std::string>{"CL[budget_fraction=1.0]/2"});
    CHECK(chosen(trials, {"base/1"}).size() == 2);
    CHECK_THAT(test::refusal(ErrorKind::usage, [&] { require_selected(spec, trials, {"CL at 50%"}); }),
               ContainsSubstring("no recipe, row or trial CL at 50%"));
    CHECK_THAT(test::refusal(ErrorKind::usage, [&] { require_selectable(spec, {"CK at 50%"}); }),
               ContainsSubstring("did you mean CL?"));
}

TEST_CASE("a comma within brackets parts no names") {
    CHECK(split_names("a,b") == std::vector<std::string>{"a", "b"});
    CHECK(split_names("a[x=1,y=2]/1,b") == std::vector<std::string>{"a[x=1,y=2]/1", "b"});
    CHECK(split_names("a") == std::vector<std::string>{"a"});
    CHECK(split_names("a],b") == std::vector<std::string>{"a]", "b"});
}
