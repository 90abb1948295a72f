#include "sweeps/spec/spec.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/usable_machine.h"
#include "sweeps/driver/slots.h"
#include "sweeps/spec/read_recipes.h"
#include "tests/sweeps/files.h"

using namespace deft;
using namespace deft::sweeps;

namespace {

const std::string kSmallSpec = "name = \"small\"\nseeds = [1, 2]\n[[case]]\nname = \"baseline\"\n";

// The error for that text, without the folder's name.
std::string wrong_spec(const std::string& text, const SpecOptions& options = {}) {
    const test::Folder folder;
    const std::filesystem::path file = folder.write("s.toml", text);
    std::string message = test::refusal([&] { load_spec(file, options); });
    const std::string prefix = folder.path.string() + "/";
    for (std::size_t at; (at = message.find(prefix)) != std::string::npos;) message.erase(at, prefix.size());
    return message;
}

Spec load(const std::string& text, const SpecOptions& options = {}) {
    const test::Folder folder;
    return load_spec(folder.write("s.toml", text), options);
}

}  // namespace

TEST_CASE("A small sweep reads with its defaults") {
    const Spec spec = load(kSmallSpec);
    CHECK(spec.name == "small");
    CHECK(spec.seeds == std::vector<std::int64_t>{1, 2});
    CHECK(spec.baseline == "baseline");
    CHECK(spec.recipes[0].label == "baseline");
    CHECK(spec.threads == 0);
    CHECK(spec.slots == "auto");
    CHECK(spec.scale == "");
    CHECK(!spec.price);
    CHECK(spec.text == kSmallSpec);
    CHECK(spec.sha256.size() == 64);
}

TEST_CASE("Unknown keys are refused anywhere, with the nearest known") {
    CHECK_THAT(wrong_spec("nmae = \"x\"\n" + kSmallSpec), ContainsSubstring("s.toml:1:8: unknown key nmae"));
    CHECK_THAT(wrong_spec("nmae = \"x\"\n" + kSmallSpec), ContainsSubstring("did you mean name?"));
    CHECK_THAT(wrong_spec(kSmallSpec + "[case.curiculum]\nmin = 8\n"), ContainsSubstring("did you mean curriculum?"));
    CHECK_THAT(wrong_spec(kSmallSpec + "[defaults.trian]\nx = 1\n"),
               ContainsSubstring("s.toml:5:1: unknown key defaults.trian"));
    CHECK_THAT(wrong_spec(kSmallSpec + "[resources]\nthread = 1\n"), ContainsSubstring("did you mean threads?"));
    CHECK_THAT(wrong_spec(kSmallSpec + "[axes.grids]\nx = [1]\n"), ContainsSubstring("did you mean grid?"));
    CHECK_THAT(wrong_spec(kSmallSpec + "[scale.proxy]\nseed = [3]\n"), ContainsSubstring("did you mean seeds?"));
    CHECK_THAT(wrong_spec(kSmallSpec + "[scale.proxy.defaults.modle]\nx = 1\n"),
               ContainsSubstring("did you mean model?"));
}

TEST_CASE("What a sweep must have") {
    CHECK_THAT(wrong_spec("seeds = [1]\n[[case]]\nname = \"a\"\n"), ContainsSubstring("name is missing"));
    CHECK_THAT(wrong_spec("name = \"x\"\n[[case]]\nname = \"a\"\n"), ContainsSubstring("seeds is missing"));
    CHECK_THAT(wrong_spec("name = \"x\"\nseeds = []\n[[case]]\nname = \"a\"\n"),
               ContainsSubstring("s.toml:2:9: seeds is empty"));
    CHECK_THAT(wrong_spec("name = \"x\"\nseeds = [1, 1]\n[[case]]\nname = \"a\"\n"),
               ContainsSubstring("a seed is listed twice"));
    CHECK_THAT(wrong_spec("name = \"x\"\nseeds = [-1]\n[[case]]\nname = \"a\"\n"), ContainsSubstring("negative"));
    CHECK_THAT(wrong_spec("name = \"x\"\nseeds = [1]\n"), ContainsSubstring("has no recipes"));
    CHECK_THAT(wrong_spec("name = \"X y\"\nseeds = [1]\n[[case]]\nname = \"a\"\n"),
               ContainsSubstring("s.toml:1:8: the sweep's name 'X y'"));
    CHECK_THAT(wrong_spec("name = \"x\"\nseeds = [1]\n[[case]]\nlabel = \"a\"\n"),
               ContainsSubstring("case.name is missing"));
}

TEST_CASE("Recipes have names of their own, and references to them must exist") {
    CHECK_THAT(wrong_spec(kSmallSpec + "[[case]]\nname = \"baseline\"\n"),
               ContainsSubstring("s.toml:6:8: recipe baseline is defined twice, first at s.toml:3:1"));
    CHECK_THAT(wrong_spec("baseline = \"basline\"\n" + kSmallSpec),
               ContainsSubstring("s.toml:1:12: the baseline basline is not a recipe"));
    CHECK_THAT(wrong_spec("baseline = \"basline\"\n" + kSmallSpec), ContainsSubstring("did you mean baseline?"));
    CHECK_THAT(wrong_spec(kSmallSpec + "[[exclude]]\ncase = \"baselin\"\n"),
               ContainsSubstring("s.toml:6:8: no recipe is named baselin"));
    const Spec spec = load(kSmallSpec);
    require_recipes(spec, {"baseline"});
    CHECK_THAT(test::refusal(ErrorKind::usage, [&] { require_recipes(spec, {"baselien"}); }),
               ContainsSubstring("did you mean baseline?"));
}

TEST_CASE("Axes and excludes read quoted paths and nested tables alike") {
    const Spec spec = load(kSmallSpec +
                           "[axes.grid]\n\"train.budget_fraction\" = [1.0, 0.5]\ntrain.batch_size = [4, 8]\n"
                           "[[exclude]]\n\"train.budget_fraction\" = 0.5\ntrain.batch_size = 8\n");
    REQUIRE(spec.stages[0].axes.size() == 2);
    CHECK(spec.stages[0].axes[0].path == "train.budget_fraction");
    CHECK(spec.stages[0].axes[1].path == "train.batch_size");
    REQUIRE(spec.exclusions.size() == 1);
    CHECK(spec.exclusions[0].values.size() == 2);
    const std::string axis = "[axes.grid]\n\"train.batch_size\" = [4]\n";
    CHECK_THAT(wrong_spec(kSmallSpec + "[axes.grid]\n\"train.batch_size\" = []\n"),
               ContainsSubstring("at least one value"));
    CHECK_THAT(wrong_spec(kSmallSpec + "[axes.grid]\n\"train.batch_size\" = 4\n"), ContainsSubstring("s.toml:6:22"));
    CHECK_THAT(wrong_spec(kSmallSpec + axis + "[[exclude]]\n\"train.batchsize\" = 4\n"),
               ContainsSubstring("did you mean train.batch_size?"));
    CHECK_THAT(wrong_spec(kSmallSpec + axis + "[[exclude]]\n\"train.batch_size\" = 5\n"),
               ContainsSubstring("never has the value 5"));
    CHECK_THAT(wrong_spec(kSmallSpec + axis + "[[exclude]]\n"), ContainsSubstring("remove every trial"));
}

TEST_CASE("A trial's table at the top of a sweep is refused with the place where it belongs") {
    CHECK_THAT(wrong_spec(kSmallSpec + "[data]\ncorpus = \"embedded\"\n"), ContainsSubstring("unknown key data"));
    CHECK_THAT(wrong_spec(kSmallSpec + "[model]\nlayers = 2\n"), ContainsSubstring("write [defaults.model]"));
    CHECK_THAT(wrong_spec("log_every = 4\n" + kSmallSpec), ContainsSubstring("write log_every below [defaults]"));
}

TEST_CASE("A sweep inherits, the nearer file wins, arrays replace") {
    const test::Folder folder;
    folder.write("lib/base.toml", "seeds = [1, 2, 3]\n[defaults.train]\nbatch_size = 4\nlearning_rate = 0.1\n");
    folder.write("lib/more.toml", "extends = [\"base.toml\"]\n[defaults.train]\nlearning_rate = 0.2\n");
    const auto file =
        folder.write("s.toml",
                     "extends = [\"lib/more.toml\"]\nname = \"x\"\nseeds = [9]\n[defaults.train]\nbeta1 = 0.8\n"
                     "[[case]]\nname = \"a\"\n");
    const Spec spec = load_spec(file);
    CHECK(spec.seeds == std::vector<std::int64_t>{9});
    CHECK(to_json(spec.defaults) == Json::parse(R"({"train":{"batch_size":4,"learning_rate":0.2,"beta1":0.8}})"));
    CHECK(spec.defaults.find("train")->find("batch_size")->place.file.ends_with("base.toml"));

    folder.write("lib/base.toml", "extends = [\"../s.toml\"]\n");
    CHECK_THAT(test::refusal([&] { load_spec(file); }), ContainsSubstring("base.toml:1:12: ../s.toml extends itself"));
    folder.write("lib/base.toml", "extends = [\"gone.toml\"]\n");
    CHECK_THAT(test::refusal([&] { load_spec(file); }), ContainsSubstring("base.toml:1:12: file "));
    // A bundled sweep is found by its name; a file of that name beside the sweep comes first.
    for (const char* name : {"quickstart", "quickstart.toml"}) {
        folder.write("lib/base.toml", fmt::format("extends = \"{}\"\n", name));
        CHECK(load_spec(file).find_recipe("random-LTD") != nullptr);
    }
    folder.write("lib/base.toml", "extends = \"quickstrt\"\n");
    CHECK_THAT(test::refusal([&] { load_spec(file); }), ContainsSubstring("did you mean quickstart?"));
    folder.write("lib/base.toml", "extends = \"quickstart.toml\"\n");
    folder.write("lib/quickstart.toml", "[defaults.train]\nlearning_rate = 0.3\n");
    CHECK(load_spec(file).find_recipe("random-LTD") == nullptr);
    CHECK_THAT(test::refusal(ErrorKind::usage, [&] { load_spec(folder.path / "z.toml"); }),
               ContainsSubstring("did you mean"));
}

TEST_CASE("A [[case]] of a file that extends another edits the case of its name or is added, and the baseline stays") {
    const test::Folder folder;
    folder.write("base.toml",
                 "name = \"base\"\nseeds = [1]\n[[case]]\nname = \"plain\"\n[[case]]\nname = \"ltd\"\n"
                 "label = \"LTD\"\nrandom_ltd = { min = 8, duration = 0.7 }\ntrain.budget_tokens = 4096\n");
    const auto load_child = [&](const std::string& text) {
        return load_spec(folder.write("child.toml", "extends = [\"base.toml\"]\nname = \"child\"\n" + text));
    };
    const Spec added = load_child("[[case]]\nname = \"cl\"\n");
    CHECK(recipe_names(added.recipes) == std::vector<std::string>{"plain", "ltd", "cl"});
    CHECK(added.baseline == "plain");
    REQUIRE(added.notes.size() == 1);
    CHECK_THAT(added.notes[0], ContainsSubstring("Inherited from the files that child.toml extends: plain, ltd"));

    const Spec edited = load_child("[[case]]\nname = \"ltd\"\nrandom_ltd.min = 16\ntrain.epochs = 2\n");
    CHECK(recipe_names(edited.recipes) == std::vector<std::string>{"plain", "ltd"});
    CHECK(edited.recipes[1].label == "LTD");
    CHECK(to_json(*edited.recipes[1].overlay("")) ==
          Json::parse(R"({"random_ltd":{"min":16,"duration":0.7},"train":{"epochs":2}})"));

    const Spec fewer = load_child("[[case]]\nname = \"plain\"\nenabled = false\n");
    CHECK(recipe_names(fewer.recipes) == std::vector<std::string>{"ltd"});
    CHECK(fewer.baseline == "ltd");
    CHECK_THAT(
        test::refusal([&] {
            load_child("[[case]]\nname = \"plain\"\nenabled = false\n[[case]]\nname = \"ltd\"\nenabled = false\n");
        }),
        ContainsSubstring("no recipe of this sweep is enabled"));
    CHECK_THAT(test::refusal([&] { load_child("[[case]]\nname = \"ltd\"\n[[case]]\nname = \"ltd\"\n"); }),
               ContainsSubstring("recipe ltd is defined twice"));
    CHECK(load_child("").notes.empty());
}

TEST_CASE("A list of tables that replaces an inherited one, or leaves out a recipe, is noted") {
    const test::Folder folder;
    const std::string axis = "[axes.grid]\n\"train.batch_size\" = [4, 8]\n";
    folder.write("base.toml", kSmallSpec + axis + "[[exclude]]\n\"train.batch_size\" = 4\n");
    const Spec spec =
        load_spec(folder.write("child.toml", "extends = \"base.toml\"\n[[exclude]]\n\"train.batch_size\" = 8\n"));
    REQUIRE(spec.exclusions.size() == 1);
    REQUIRE(spec.notes.size() == 1);
    CHECK(spec.notes[0] == "The list exclude of child.toml replaces the list of base.toml, which has 1 entry.");

    const Spec edited = load_spec(
        folder.write("edits.toml", "extends = \"base.toml\"\n\n[[case]]\nname = \"baseline\"\ntrain.batch_size = 8\n"));
    REQUIRE(edited.notes.size() == 1);
    CHECK_THAT(edited.notes[0],
               ContainsSubstring("Recipe baseline of base.toml is edited in ") && ContainsSubstring("edits.toml:3"));

    SpecOptions proxy;
    proxy.scale = "proxy";
    const Spec scaled = load(kSmallSpec +
                                 "[[case]]\nname = \"ltd\"\nrandom_ltd = { min = 8, duration = 0.7 }\n"
                                 "[[scale.proxy.case]]\nname = \"baseline\"\n",
                             proxy);
    REQUIRE(scaled.notes.size() == 1);
    CHECK(scaled.notes[0] == "Scale proxy lists its own recipes, without ltd.");
}

TEST_CASE("A scale lays itself over the whole sweep") {
    const std::string text = kSmallSpec +
                             "[defaults.train]\nbatch_size = 4\n[scale.smoke]\nseeds = [7]\n"
                             "[scale.proxy.defaults.train]\nbatch_size = 64\n";
    CHECK(load(text).seeds == std::vector<std::int64_t>{7});
    CHECK(load(text).scale == "smoke");
    SpecOptions proxy;
    proxy.scale = "proxy";
    const Spec spec = load(text, proxy);
    CHECK(spec.seeds.size() == 2);
    CHECK(spec.defaults.find("train")->find("batch_size")->integer == 64);
    CHECK(load(text).sha256 != spec.sha256);
    proxy.scale = "prox";
    CHECK_THAT(wrong_spec(text, proxy), ContainsSubstring("did you mean proxy?"));
    proxy.scale = "paper";
    CHECK_THAT(wrong_spec(text, proxy),
               ContainsSubstring("it has proxy, smoke") || ContainsSubstring("it has smoke, proxy"));
    CHECK_THAT(wrong_spec(kSmallSpec, proxy), ContainsSubstring("defines no scales"));
}

TEST_CASE("Overrides and seeds from the command line") {
    SpecOptions options;
    options.overrides = {"train.learning_rate=1e-3", "train.budget_fraction=0.25"};
    options.seeds = parse_seeds("3");
    const Spec spec = load(kSmallSpec + "[axes.grid]\n\"train.budget_fraction\" = [1.0, 0.5]\n", options);
    CHECK(spec.seeds == std::vector<std::int64_t>{1, 2, 3});
    REQUIRE(spec.overrides.size() == 1);  // the other pins an axis
    CHECK(spec.overrides[0].path == "train.learning_rate");
    REQUIRE(spec.stages[0].axes[0].values.size() == 1);
    CHECK(spec.stages[0].axes[0].values[0].real == 0.25);
    CHECK(spec.sha256 != load(kSmallSpec + "[axes.grid]\n\"train.budget_fraction\" = [1.0, 0.5]\n").sha256);

    options.overrides = {"trian.learning_rate=1"};
    CHECK_THAT(wrong_spec(kSmallSpec, options), ContainsSubstring("did you mean train?"));
    options.overrides = {"train.learning_rate"};
    const test::Folder folder;
    const auto file = folder.write("s.toml", kSmallSpec);
    CHECK_THAT(test::refusal(ErrorKind::usage, [&] { load_spec(file, options); }),
               ContainsSubstring("not of the form key=value"));
    CHECK(parse_seeds("4,7") == std::vector<std::int64_t>{4, 7});
    CHECK(parse_seeds("7,") == std::vector<std::int64_t>{7});
    for (const char* text : {"", "x", "0", "1,x", "-1", "1.5"})
        CHECK(test::refusal(ErrorKind::usage, [&] { parse_seeds(text); }) != "accepted");
}

TEST_CASE("Resources and prices") {
    const std::string price = "[price]\nsku = \"m\"\nusd_per_device_hour = 0.5\nsource = \"list\"\ndate = ";
    const Spec spec = load(kSmallSpec + "[resources]\nthreads = 2\nslots = \"cpu:3\"\n" + price + "\"1970-01-02\"\n");
    CHECK(spec.threads == 2);
    CHECK(make_slots(parse_slots(spec.slots), spec.threads, {}).size() == 3);
    REQUIRE(spec.price);
    CHECK(spec.price->date_ms == 86'400'000);
    CHECK(spec.price->usd_per_hour == 0.5);
    CHECK_THAT(wrong_spec(kSmallSpec + price + "\"2024-02-30\"\n"), ContainsSubstring("'2024-02-30' is not a date"));
    CHECK_THAT(wrong_spec(kSmallSpec + price + "2024-02-03\n"), ContainsSubstring("dates are not used here"));
    CHECK_THAT(
        wrong_spec(kSmallSpec + price + "\"2990-02-03\"\n"),
        ContainsSubstring("s.toml:9:8: 2990-02-03 is in the future") && ContainsSubstring("write the date on which"));
    CHECK_THAT(wrong_spec(kSmallSpec + "[price]\nsku = \"m\"\nusd_per_device_hour = -0.5\nsource = \"list\"\n"
                                       "date = \"2024-02-03\"\n"),
               ContainsSubstring("s.toml:7:23"));
    CHECK_THAT(wrong_spec(kSmallSpec + "[resources]\nthreads = 0\n"), ContainsSubstring("s.toml:6:11"));
    CHECK_THAT(wrong_spec(kSmallSpec + "[resources]\nslots = \"gpu:0\"\n"), ContainsSubstring("s.toml:6:9: 'gpu:0'"));
    CHECK_THAT(wrong_spec(kSmallSpec + "[resources]\nranks = 8\nranks_per_node = 3\n"),
               ContainsSubstring("s.toml:7:18: ranks_per_node = 3 does not divide ranks = 8"));
    const Spec spread = load(kSmallSpec + "[resources]\nranks = 8\nranks_per_node = 4\n");
    CHECK(spread.ranks_per_node == 4);
    CHECK(spread.sha256 == load(kSmallSpec).sha256);
    const Spec on_hosts = load(kSmallSpec + "[resources]\nranks = 2\nhostfile = \"hosts\"\nagent = \"ssh -p 22\"\n");
    CHECK(on_hosts.hostfile == "hosts");
    CHECK(on_hosts.agent == "ssh -p 22");
    CHECK(on_hosts.sha256 == load(kSmallSpec).sha256);
    CHECK(make_slots(parse_slots("auto"), 1'000'000, {}, "").size() == 1);
    CHECK(make_slots(parse_slots("auto"), 1, {}, "").size() == static_cast<std::size_t>(usable_cores()));
}

TEST_CASE("Uncommitted changes are stored unless the sweep says no, which changes no trial") {
    CHECK(load(kSmallSpec).keeps_diff);
    const Spec without = load(kSmallSpec + "[provenance]\ndiff = false\n");
    CHECK(!without.keeps_diff);
    CHECK(without.sha256 == load(kSmallSpec).sha256);
    CHECK_THAT(wrong_spec(kSmallSpec + "[provenance]\ndif = false\n"), ContainsSubstring("did you mean diff?"));
}

TEST_CASE("What --set changed is known, also of an axis that it pins") {
    SpecOptions options;
    options.overrides = {"train.budget_fraction=0.5", "train.learning_rate=0.002"};
    const Spec spec = load(kSmallSpec + "[axes.grid]\n\"train.budget_fraction\" = [0.5, 1.0]\n", options);
    REQUIRE(spec.pinned_axes.size() == 1);
    CHECK(spec.pinned_axes[0].path == "train.budget_fraction");
    REQUIRE(spec.overrides.size() == 1);
    CHECK(spec.overrides[0].path == "train.learning_rate");
}

TEST_CASE("A sweep names the published table to print beside its results") {
    const Spec with = load(kSmallSpec + "[report]\npaper = \"data_efficiency_gpt_combined\"\n");
    CHECK(with.paper == "data_efficiency_gpt_combined");
    CHECK(load(kSmallSpec).paper.empty());
    // It changes no trial.
    CHECK(with.sha256 == load(kSmallSpec).sha256);
    CHECK_THAT(wrong_spec(kSmallSpec + "[report]\npaper = \"data_efficiency_gpt_combine\"\n"),
               ContainsSubstring("s.toml:6") && ContainsSubstring("no published table") &&
                   ContainsSubstring("did you mean data_efficiency_gpt_combined?"));
    CHECK_THAT(wrong_spec(kSmallSpec + "[report]\n"), ContainsSubstring("report.paper"));
    CHECK_THAT(wrong_spec(kSmallSpec + "[report]\npaper = \"data_efficiency_gpt_combined\"\nother = 1\n"),
               ContainsSubstring("other"));
}

TEST_CASE("A pipe is refused at once where a sweep file is meant, and not waited for") {
    const test::Folder folder;
    REQUIRE(::mkfifo((folder.path / "pipe.toml").c_str(), 0600) == 0);
    const auto file = folder.write("s.toml", "extends = [\"pipe.toml\"]\n" + kSmallSpec);
    CHECK_THAT(test::refusal([&] { load_spec(file); }),
               ContainsSubstring("s.toml:1:12") && ContainsSubstring("pipe.toml is not a regular file"));
    CHECK_THAT(test::refusal(ErrorKind::usage, [&] { load_spec(folder.path / "pipe.toml"); }),
               ContainsSubstring("is not a regular file"));
    CHECK_THAT(test::refusal(ErrorKind::usage, [&] { load_spec(folder.path); }),
               ContainsSubstring("is not a regular file"));
}
