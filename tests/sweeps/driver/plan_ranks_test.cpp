// The needs of a sweep on each rank: rows, seconds at stated links, refusals, and printed output.

#include "sweeps/driver/plan_ranks.h"

#include "base/json.h"
#include "tests/sweeps/program.h"

using namespace deft;
using namespace deft::sweeps;

namespace {

const std::string kCases =
    "[[case]]\nname = \"dense\"\n"
    "[[case]]\nname = \"experts\"\nmodel.experts = { count = 4, top = 1, layers = [1] }\n";
const std::string kOnV100 = "[resources]\ndevice = \"V100\"\nutilisation = 0.5\n";

struct Planned {
    Plan plan;
    RanksPlan ranks;
};

Planned planned(const std::string& resources, int ranks, int expert_ranks, const std::string& recipes = kCases) {
    const test::Folder folder;
    std::string text = "name = \"small\"\nseeds = [1, 2]\n" + resources + test::kTinyDefaults + recipes;
    const std::string slots = "[resources]\nslots = \"cpu:1\"\n";
    text.erase(text.find(slots), slots.size());
    const Spec spec = load_spec(folder.write("s.toml", text));
    Plan plan = make_plan(spec, expand(spec, Data::may_be_missing));
    RanksPlan of_ranks = plan_ranks(spec, plan, ranks, expert_ranks);
    return {std::move(plan), std::move(of_ranks)};
}

std::string refused(int ranks, int expert_ranks, const std::string& recipes = kCases) {
    return test::refusal([&] { planned("", ranks, expert_ranks, recipes); });
}

}  // namespace

TEST_CASE("A sweep is planned on ranks: a row a variant, with seconds at the links that its device states") {
    const auto [plan, ranks] = planned(kOnV100, 4, 2);
    REQUIRE(ranks.rows.size() == 2);
    const RanksRow &dense = ranks.rows[0], &experts = ranks.rows[1];
    CHECK(dense.plan.expert_ranks == 1);
    CHECK(dense.plan.traffic.rows_to_experts == 0);
    CHECK(experts.plan.expert_ranks == 2);
    // A row of 16 tokens a rank, half of whose choices leave, forward and backward, as 16 values.
    CHECK(experts.plan.traffic.rows_to_experts == 2 * 16 / 2 * 16 * 4);
    CHECK(experts.plan.rows == 1);
    for (const RanksRow& row : ranks.rows) {
        const auto bytes = static_cast<double>(row.plan.traffic.all());
        REQUIRE(row.link_seconds.size() == 2);
        CHECK(row.link_seconds[0] == Approx(bytes / 150e9));
        CHECK(row.link_seconds[1] == Approx(bytes / 16e9));
        CHECK(*row.compute_seconds ==
              Approx(plan.rows[row.row].trial.projection.step_flops / (4 * 125e12 * 0.5)).epsilon(1e-12));
    }
    CHECK_THAT(ranks.notes.front(), ContainsSubstring("32 GB of V100 hold all of these"));
    const Json json = to_json(ranks, plan);
    CHECK(json.at("ranks") == 4);
    CHECK(json.at("links").at(0).at("bytes_per_second") == 150e9);
    CHECK(json.at("rows").at(1).at("case") == "experts");
    CHECK(json.at("rows").at(1).at("bytes_sent").at("rows_back") == 2 * 16 / 2 * 16 * 4);
    CHECK(json.at("rows").at(0).at("memory").at("zero_1").at("all") == dense.plan.memory[1].all);
    CHECK_THAT(planned(kOnV100 + "ranks = 4\nranks_per_node = 2\n", 4, 2).ranks.notes.front(),
               ContainsSubstring("Nodes: a trial takes 2, with 2 of its ranks on each."));
}

TEST_CASE("Without a device, or one that states links, a plan of ranks has no seconds and says so") {
    const auto [plan, ranks] = planned("", 2, 1);
    CHECK(ranks.rows[0].link_seconds.empty());
    CHECK(!ranks.rows[0].compute_seconds);
    CHECK_THAT(ranks.notes.back(), ContainsSubstring("No seconds: the sweep names no device"));
    CHECK(to_json(ranks, plan).at("rows").at(0).at("compute_seconds").is_null());
    const auto [on_cores, of_cores] = planned("[resources]\ndevice = \"cpu core\"\n", 2, 1);
    CHECK(of_cores.rows[0].link_seconds.empty());
    CHECK_THAT(of_cores.notes.back(), ContainsSubstring("cpu core states no link"));
}

TEST_CASE("Ranks that a recipe cannot have are refused by the name of the recipe") {
    CHECK_THAT(refused(3, 1), ContainsSubstring("recipe dense: the 4 rows of step 1 cannot be divided by 3 ranks"));
    CHECK_THAT(refused(4, 3), ContainsSubstring("recipe experts: train.expert_ranks = 3 does not divide 4 ranks"));
    CHECK_THAT(refused(1, 2), ContainsSubstring("train.expert_ranks = 2 does not divide 1 ranks"));
    CHECK_THAT(refused(4, 4, "[[case]]\nname = \"few\"\nmodel.experts = { count = 2, layers = [1] }\n"),
               ContainsSubstring("recipe few: 2 experts of a layer cannot be divided among 4 ranks"));
    CHECK_THAT(refused(2, 2, "[[case]]\nname = \"dense\"\n"), ContainsSubstring("no recipe has any"));
}

TEST_CASE("deft plan --ranks prints memory and bytes of a rank, and with one rank what it always did") {
    const test::TinySweep sweep(kCases);
    const test::Ran plain = sweep.deft("plan");
    CHECK_THAT(plain.out, !ContainsSubstring("ranks"));
    CHECK(sweep.deft("plan", {"--ranks", "1"}).out == plain.out);
    const test::Ran ran = sweep.deft("plan", {"--ranks", "4", "--expert-ranks", "2"});
    REQUIRE(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring("Memory of one of 4 ranks, experts divided among 2") &&
                            ContainsSubstring("What leaves one of 4 ranks") && ContainsSubstring("1/2 of the choices"));
    const Json json = Json::parse(sweep.deft("plan", {"--ranks", "2", "--json"}).out);
    CHECK(json.at("schema") == "deft-plan/1");
    CHECK(json.at("ranks").at("rows").size() == 2);
    CHECK(!Json::parse(sweep.deft("plan", {"--json"}).out).contains("ranks"));
    CHECK(!std::filesystem::exists(sweep.root));

    test::TinySweep of_two(kCases);
    std::string text = read_file(of_two.file);
    text.replace(text.find("slots = \"cpu:1\""), 0, "ranks = 2\n");
    write_file_atomically(of_two.file, text);
    CHECK_THAT(of_two.deft("plan").out, ContainsSubstring("Memory of one of 2 ranks"));

    // The option's ranks apply to the machine's limits too.
    const std::vector<std::string> by_recipe = {"--ranks", "4", "--set", "train.expert_ranks=3"};
    CHECK(sweep.deft("plan", by_recipe).exit_code == kExitUsage);
    std::vector<std::string> by_option = by_recipe;
    by_option.insert(by_option.end(), {"--expert-ranks", "1"});
    CHECK(sweep.deft("plan", by_option).exit_code == kExitOk);

    for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--ranks", "0"},
                                                  {"--ranks", "1025"},
                                                  {"--ranks", "3"},
                                                  {"--expert-ranks", "2"},
                                                  {"--ranks", "4", "--expert-ranks", "8"},
                                                  {"--preset", "bert_large", "--ranks", "2"}}) {
        const test::Ran refused = sweep.deft("plan", wrong);
        CHECK(refused.exit_code == kExitUsage);
        CHECK(refused.out.empty());
        CHECK_THAT(refused.err, ContainsSubstring("deft: error: "));
    }
}
