// The planned cost of a sweep: the published setting against counts and hours computed by hand.

#include "sweeps/driver/plan.h"
#include "base/files.h"
#include "base/json.h"
#include "reporting/table.h"
#include "sweeps/cli/plan_comparison.h"
#include "sweeps/cli/plan_tables.h"
#include "sweeps/driver/machine_limits.h"
#include "sweeps/driver/plan_regime.h"
#include "sweeps/driver/run_folder.h"

#include <map>

#include "tests/sweeps/files.h"
#include "tests/sweeps/program.h"

using namespace deft;
using namespace deft::sweeps;

namespace {

Plan plan_of(const std::filesystem::path& file, const std::string& scale = kDefaultScale) {
    SpecOptions options;
    options.scale = scale;
    const Spec spec = load_spec(file, options);
    return make_plan(spec, expand(spec, Data::may_be_missing));
}

const std::string kPlannedSpec =
    "name = \"small\"\nseeds = [1, 2]\n"
    "[defaults.data]\nembedded_bytes = 5000\n"
    "[defaults.train]\nbudget_tokens = 51_200\n"
    "[[case]]\nname = \"baseline\"\n";

Plan small_plan(const std::string& more) {
    const test::Folder folder;
    return plan_of(folder.write("s.toml", kPlannedSpec + more));
}

std::string wrong_slots(const std::string& resources) {
    const test::Folder folder;
    const auto file = folder.write("s.toml", kPlannedSpec + "[resources]\n" + resources);
    return test::refusal([&] { load_spec(file); });
}

}  // namespace

TEST_CASE("A plan names the recipes whose micro-batches do not divide their batches", "[bare]") {
    const auto notes = [](const std::string& more) {
        std::string all;
        for (const std::string& note : small_plan(more).notes) all += note + "\n";
        return all;
    };
    CHECK_THAT(
        notes("[[case]]\nname = \"uneven\"\ntrain = { batch_size = 8, micro_batch_size = 3 }\n"),
        ContainsSubstring("The last micro-batch of a step is smaller") && ContainsSubstring("uneven (2 of 3 samples)"));
    CHECK_THAT(notes("[[case]]\nname = \"even\"\ntrain = { batch_size = 8, micro_batch_size = 4 }\n"),
               !ContainsSubstring("micro-batch"));
}

TEST_CASE("A plan names the schedules that training ends before", "[bare]") {
    const auto notes = [](const std::string& duration) {
        std::string all;
        for (const std::string& note :
             small_plan("[[case]]\nname = \"slow\"\n[case.curriculum.voc]\n" + duration + "\n").notes)
            all += note + "\n";
        return all;
    };
    CHECK_THAT(notes("duration = 5"), ContainsSubstring("Training ends before the growth of curriculum.voc of slow"));
    CHECK_THAT(notes("steps = 100000"), ContainsSubstring("of 100000 steps) reaches its maximum"));
    CHECK_THAT(notes("duration = 1.0"), !ContainsSubstring("reaches its maximum"));
}

TEST_CASE("A plan prints its baseline's regime beside the published one, and warns far below it", "[bare]") {
    const test::Folder folder;
    const auto notes = [&](const std::filesystem::path& file, const std::string& scale) {
        SpecOptions options;
        options.scale = scale;
        const Spec spec = load_spec(file, options);
        const Plan plan = make_plan(spec, expand(spec, Data::may_be_missing));
        return plan_regime_notes(spec, plan, folder.path);
    };
    // 300e9 tokens over 24 x 50,358,272 + 102,930,432 + 2048 x 2048 for the positions = 1,315,723,264 parameters.
    CHECK(notes(DEFT_SOURCE_DIR "/sweeps/gpt_combined.toml", "paper") ==
          std::vector<std::string>{
              "Regime: baseline[budget_fraction=1.0]: 228 tokens per parameter, 286k steps, repeats of the "
              "text unknown; published: 231 tokens per parameter, 286k steps, text seen once."});
    const auto small = notes(folder.write("s.toml", kPlannedSpec), kDefaultScale);
    REQUIRE(small.size() == 2);
    CHECK_THAT(small[0], ContainsSubstring("Regime: baseline: ") && !ContainsSubstring("published"));
    CHECK_THAT(small[1], ContainsSubstring("Warning: below 20 tokens per parameter"));
}

TEST_CASE("The published setting of gpt_combined is planned to the step and, within a percent, to the hour", "[bare]") {
    const Plan plan = plan_of(DEFT_SOURCE_DIR "/sweeps/gpt_combined.toml", "paper");
    struct Expected {
        std::string name;
        std::int64_t steps;
        double hours;
    };
    // Steps: the reference's counts. Baseline hours by hand: a layer has 12 C^2 + 13 C = 50,358,272 parameters, the
    // tied head with its norm 50,257 C + 2 C = 102,930,432, so a sample of T = C = 2048 tokens takes 24 (6 x 50,358,272
    // T + 6 C T^2) + 6 x 102,930,432 T = 17,353,018,441,728 FLOP; 512 of them a step, over 64 x 125e12 x 0.3395 FLOP/s.
    // The share that was fitted: such that the baseline's steps take the published 260 hours.
    const double step_flops = 17'353'018'441'728.0 * 512, share = 286'103 * step_flops / (64 * 125e12 * 260 * 3600.0);
    const double step_hours = step_flops / (64 * 125e12 * share) / 3600;
    const std::vector<Expected> expected = {
        {"baseline[budget_fraction=1.0]", 286'103, 286'103 * step_hours},
        {"baseline[budget_fraction=0.5]", 143'052, 143'052 * step_hours},
        {"CL[budget_fraction=1.0]", 339'169, 259},
        {"CL[budget_fraction=0.5]", 169'584, 129},
        {"random-LTD[budget_fraction=1.0]", 372'789, 263},
        {"random-LTD[budget_fraction=0.5]", 186'395, 131},
        {"CL+random-LTD[budget_fraction=1.0]", 377'264, 260},
        {"CL+random-LTD[budget_fraction=0.5]", 188'632, 130},
    };
    REQUIRE(plan.rows.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const PlanRow& row = plan.rows[i];
        INFO(row.trial.name());
        CHECK(row.trial.name() == expected[i].name + "/1234");
        CHECK(row.trial.projection.steps == expected[i].steps);
        CHECK(row.trial.projection.parameters == 1'315'723'264);
        REQUIRE(row.hours);
        const bool by_hand = row.trial.recipe == "baseline";
        CHECK(*row.hours == Approx(expected[i].hours).epsilon(by_hand ? 1e-12 : 0.01));
        CHECK(!row.dollars);  // nobody published a price an hour
    }
    CHECK(plan.rows[0].published_hours->cell.number.text == "260");
    CHECK(static_cast<double>(plan.rows[4].trial.projection.input_tokens) == Approx(390.9e9).margin(0.05e9));
    CHECK(plan.device->utilisation == Approx(share).epsilon(1e-12));
    CHECK(share == Approx(0.3395).margin(5e-5));
    CHECK(plan.rows[0].is_fitted_on);
    for (std::size_t i = 1; i < plan.rows.size(); ++i) CHECK_FALSE(plan.rows[i].is_fitted_on);
    std::string notes;
    for (const std::string& note : plan.notes) notes += note + "\n";
    CHECK_THAT(notes, ContainsSubstring(
                          "x 0.3395), where the last factor is fitted on the 260 published hours of baseline at 100%"));
    CHECK_THAT(notes, ContainsSubstring("Predicted: 7 published numbers, -0.1% to +0.6% off."));
    CHECK(to_json(plan).at("rows").at(0).at("hours_fitted_on_this") == true);
    CHECK(to_json(plan).at("rows").at(2).at("hours_error_percent").get<double>() == Approx(-0.09).margin(0.01));
    CHECK(to_json(plan).at("rows").at(2).at("hours_fitted_on_this") == false);
}

TEST_CASE("A plan whose hours are fitted has none without the row that they are fitted on", "[slow][bare]") {
    const std::string more =
        "[[case]]\nname = \"random-LTD\"\nrandom_ltd = { min = 16, duration = 0.4 }\n"
        "[resources]\ndevice = \"V100\"\nfitted_on = \"baseline\"\n[report]\npaper = \"";
    const auto notes_of = [](const Plan& plan) {
        std::string notes;
        for (const std::string& note : plan.notes) notes += note + "\n";
        return notes;
    };
    // A model of another size, or on other tokens, did not take the published hours.
    const Plan small = small_plan(more + "data_efficiency_bert_combined\"\n");
    CHECK_FALSE(small.rows[0].is_fitted_on);
    CHECK_FALSE(small.hours);
    const auto changed = [](const std::string& change) {
        SpecOptions options;
        options.scale = "paper";
        options.overrides = {change};
        const Spec spec = load_spec(DEFT_SOURCE_DIR "/sweeps/gpt_combined.toml", options);
        return make_plan(spec, expand(spec, Data::may_be_missing));
    };
    for (const char* change : {"model.preset=gpt3_6.7b", "train.budget_tokens=600_000_000_000"}) {
        const Plan other = changed(change);
        CHECK_FALSE(other.rows[0].is_fitted_on);
        CHECK(other.device->utilisation == 0.34);
        CHECK_THAT(notes_of(other), ContainsSubstring("is not planned here as it was published"));
    }
    CHECK(changed("train.beta2=0.96").rows[0].is_fitted_on);
    const Plan without = small_plan(more + "data_efficiency_gpt_random_ltd\"\n");  // which prints no hours
    CHECK_FALSE(without.rows[0].hours);
    CHECK_FALSE(without.hours);
    CHECK_THAT(notes_of(without), ContainsSubstring("No hours: the plan fits them on the published hours of baseline"));
    CHECK_THAT(wrong_slots("device = \"V100\"\nfitted_on = \"basline\"\n"),
               ContainsSubstring("did you mean baseline?"));
    CHECK_THAT(wrong_slots("fitted_on = \"baseline\"\n"), ContainsSubstring("requires resources.device"));
}

TEST_CASE("A plan marks published hours that nobody could verify", "[bare]") {
    const Plan plan = small_plan(
        "[[case]]\nname = \"random-LTD\"\nrandom_ltd = { min = 16, duration = 0.4 }\n"
        "[resources]\ndevice = \"V100\"\nutilisation = 0.5\n[report]\npaper = \"data_efficiency_bert_combined\"\n");
    REQUIRE(plan.rows.size() == 2);
    REQUIRE(plan.rows[1].published_hours);
    const Json compared = to_json(plan).at("rows").at(1).at("published").at(0);
    CHECK(compared.at("quantity") == "hours");
    CHECK(compared.at("printed") == "302");
    CHECK(compared.at("fitted") == false);
    CHECK_THAT(compared.at("doubt").get<std::string>(), ContainsSubstring("version 3"));
    std::string notes;
    for (const std::string& note : plan.notes) notes += note + "\n";
    CHECK_THAT(notes,
               ContainsSubstring("§ Not verified: train time of baseline at 100%, train time of random-LTD at 100%: "));
    CHECK_THAT(reporting::render_terminal(cli::comparison_table(plan), 0), ContainsSubstring("302 h §"));
}

TEST_CASE("Hours and dollars of a plan by hand; without a price or a peak there are none", "[bare]") {
    const std::string device = "[resources]\ndevice = \"V100\"\ndevices = 4\nutilisation = 0.5\n";
    const Plan plain = small_plan(device);
    REQUIRE(plain.rows.size() == 1);
    const double flops = plain.rows[0].trial.projection.flops;
    CHECK(*plain.rows[0].hours == Approx(flops / (4 * 125e12 * 0.5) / 3600).epsilon(1e-12));
    CHECK(*plain.hours == Approx(2 * *plain.rows[0].hours).epsilon(1e-12));  // two seeds
    CHECK(!plain.rows[0].dollars);
    CHECK(!plain.rows[0].published_hours);
    CHECK(!plain.rows[0].beside);
    CHECK(*plain.rows[0].samples_per_second ==
          Approx(static_cast<double>(plain.rows[0].trial.projection.input_tokens) /
                 static_cast<double>(plain.rows[0].trial.config.model.seqlen) / (3600 * *plain.rows[0].hours)));

    const Plan priced = small_plan(device +
                                   "dtype = \"fp32\"\n[price]\nsku = \"x\"\nusd_per_device_hour = 3.0\n"
                                   "date = \"2025-01-31\"\nsource = \"a test\"\n");
    CHECK(*priced.rows[0].hours == Approx(flops / (4 * 15.7e12 * 0.5) / 3600).epsilon(1e-12));
    CHECK(*priced.rows[0].dollars == Approx(4 * *priced.rows[0].hours * 3).epsilon(1e-12));
    CHECK(to_json(priced).at("price").at("date") == "2025-01-31");

    const Plan core = small_plan("[resources]\ndevice = \"cpu core\"\n");
    CHECK(!core.rows[0].hours);
    CHECK(to_json(core).at("rows").at(0).at("hours").is_null());
}

TEST_CASE("A sweep that names no device is planned as ever", "[bare]") {
    const Plan plan = small_plan("");
    CHECK(!plan.device);
    CHECK(plan.notes.size() == 1);
    CHECK(to_json(plan).at("device").is_null());
}

TEST_CASE("Missing data is reported, and plans need none", "[bare]") {
    const test::Folder folder;
    std::string text = kPlannedSpec;
    const std::string data = "embedded_bytes = 5000\n";
    text.replace(text.find(data), data.size(),
                 "corpus = \"text\"\ntrain_files = [\"nowhere.txt\"]\ntokenizer = \"bpe\"\n"
                 "vocab = 300\n");
    const Plan plan = plan_of(folder.write("s.toml", text));
    CHECK_THAT(plan.notes.back(),
               ContainsSubstring("Missing data: nowhere.txt.") && ContainsSubstring("deft run does"));
    CHECK(to_json(plan).at("rows").at(0).at("data_is_here") == false);
}

TEST_CASE("Devices that make no sense are refused at their place", "[bare]") {
    CHECK_THAT(wrong_slots("device = \"V10\"\nutilisation = 0.3\n"),
               ContainsSubstring("s.toml:10:10") && ContainsSubstring("did you mean V100?"));
    CHECK_THAT(wrong_slots("device = \"V100\"\nutilization = 0.3\n"), ContainsSubstring("utilisation"));
    CHECK_THAT(wrong_slots("device = \"V100\"\n"), ContainsSubstring("utilisation is missing"));
    CHECK_THAT(wrong_slots("devices = 4\n"), ContainsSubstring("requires resources.device"));
    for (const char* share : {"0.0", "1.5", "-0.1", "nan"})
        CHECK_THAT(wrong_slots("device = \"V100\"\nutilisation = " + std::string(share) + "\n"),
                   ContainsSubstring("s.toml:11:15"));
    for (const char* count : {"0", "-4", "1000001"})
        CHECK_THAT(wrong_slots("device = \"V100\"\nutilisation = 0.3\ndevices = " + std::string(count) + "\n"),
                   ContainsSubstring("s.toml:12:11"));
    CHECK_THAT(wrong_slots("device = \"V100\"\nutilisation = 0.3\ndtype = \"bf16\"\n"),
               ContainsSubstring("lists no peak FLOP/s"));
}

TEST_CASE("The program prints a plan, and the same as JSON", "[bare]") {
    const test::TinySweep sweep("[[case]]\nname = \"plain\"\n");
    const test::Ran ran = sweep.deft("plan", {"--json"});
    REQUIRE(ran.exit_code == kExitOk);
    const Json plan = Json::parse(ran.out);
    CHECK(plan.at("schema") == "deft-plan/1");
    CHECK(plan.at("rows").size() == 1);
    CHECK(plan.at("rows").at(0).at("steps") == 64);  // 4096 tokens, 4 x 16 a step
    CHECK_THAT(sweep.deft("plan", {"--memory"}).out,
               ContainsSubstring("Memory of plain/1 on the CPU") && ContainsSubstring("workspace"));
    const test::Ran gpu = sweep.deft("plan", {"--memory", "--set", "train.dtype=bf16"});
    CHECK_THAT(gpu.out, ContainsSubstring("Memory of plain/1 on a GPU") && ContainsSubstring("wte.weight.rounded"));
}

TEST_CASE("The program draws the schedules that change, and no others", "[bare]") {
    const test::TinySweep sweep(
        "[[case]]\nname = \"plain\"\n[[case]]\nname = \"ramped\"\n"
        "[case.curriculum.seqtru]\nmin = 4\ndifficulty_step = 4\nduration = 0.5\n[case.batch_ramp]\nmin = 1\nduration "
        "= 0.5\n");
    const std::string file = (sweep.folder.path / "plan.html").string();
    const test::Ran ran = sweep.deft("plan", {"--figures", file});
    REQUIRE(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring("figures: " + file));
    const std::string page = read_file(file);
    CHECK_THAT(page, ContainsSubstring("<h3>Length</h3>") && ContainsSubstring("<h3>Samples of a step</h3>"));
    CHECK_THAT(page, !ContainsSubstring("Kept tokens") && !ContainsSubstring("<h3>Difficulty"));
    CHECK_THAT(page, ContainsSubstring("ramped") && !ContainsSubstring("(log scale)</text>"));
}

TEST_CASE("A plan shows what auto computes again, and by which limit", "[bare]") {
    const test::Folder folder;
    const std::string automatic = kPlannedSpec + "[case.train]\nrecompute = \"auto\"\n",
                      block = kPlannedSpec + "[case.train]\nrecompute = \"block\"\n";
    const auto plan_in = [&](const std::string& text, const Slot& slot) {
        const Spec spec = load_spec(folder.write("s.toml", text));
        return make_plan(spec, expand(spec, Data::may_be_missing), slot);
    };
    const auto text_of = [](const Plan& plan) { return reporting::render_terminal(cli::plan_table(plan), 300); };
    const std::int64_t least = plan_in(block, {}).rows[0].trial.projection.memory_bytes;
    Slot tight;
    tight.host_bytes = least;
    const Plan chosen = plan_in(automatic, tight), unlimited = plan_in(automatic, {}), stated = plan_in(block, tight);
    CHECK(chosen.rows[0].trial.projection.memory_bytes == least);
    CHECK_THAT(text_of(chosen), ContainsSubstring("B, recompute block"));
    CHECK_THAT(text_of(chosen), ContainsSubstring("takes the first of none, activation and block whose plan fits"));
    CHECK(to_json(chosen).at("rows")[0].at("chosen_recompute") == "block");
    CHECK_THAT(text_of(unlimited), ContainsSubstring("B, recompute none") &&
                                       ContainsSubstring("takes none, because the memory of a worker is not known"));
    CHECK_THAT(text_of(stated), !ContainsSubstring("recompute"));
    CHECK(to_json(stated).at("rows")[0].at("chosen_recompute").is_null());
    CHECK(chosen.rows[0].trial.variant_hash == stated.rows[0].trial.variant_hash);
    const auto trials = expand(load_spec(folder.write("s.toml", automatic)), Data::may_be_missing);
    CHECK(exceeded_limits(trials, tight, 1, {least, 0}, "somewhere").empty());
    CHECK(exceeded_limits(trials, Slot{}, 1, {least, 0}, "somewhere").size() == 1);
}

TEST_CASE("The sweep's device, or this machine, limits what auto plans", "[bare]") {
    const test::Folder folder;
    const auto slot_for = [&](const std::string& more, bool is_queued = false) {
        const Spec spec =
            load_spec(folder.write("s.toml", kPlannedSpec + "[case.train]\nrecompute = \"auto\"\n" + more));
        return planned_slot(spec, expand(spec, Data::may_be_missing), is_queued);
    };
    constexpr std::int64_t context = std::int64_t{768} << 20;
    CHECK(memory_limit(slot_for("[resources]\ndevice = \"V100\"\nutilisation = 0.34\n")) == 32'000'000'000 - context);
    CHECK(memory_limit(slot_for("[resources]\ndevice = \"V100\"\nutilisation = 0.34\nslots = \"gpu:1/2\"\n")) ==
          16'000'000'000 - context);
    CHECK(memory_limit(slot_for("[resources]\nslots = \"cpu:2\"\n")) ==
          make_slots(parse_slots("cpu:2"), 1, {})[0].host_bytes);
    CHECK(memory_limit(slot_for("[resources]\nslots = \"cpu:2\"\n", true)) == 0);

    const test::TinySweep sweep("[[case]]\nname = \"plain\"\n[case.train]\nrecompute = \"auto\"\n");
    CHECK_THAT(sweep.deft("plan").out, ContainsSubstring("recompute none") && ContainsSubstring("whose plan fits"));
    REQUIRE(sweep.run().exit_code == kExitOk);
    const auto run = *std::filesystem::directory_iterator(sweep.root / "runs");
    CHECK(read_trial_file(run.path()).slot.memory_bytes == make_slots(parse_slots("cpu:1"), 1, {})[0].host_bytes);
}

TEST_CASE("A plan that exceeds the machine says by what", "[bare]") {
    const test::Folder folder;
    const auto trials = expand(load_spec(folder.write("s.toml", kPlannedSpec)), Data::may_be_missing);
    const std::int64_t memory = trials.front().projection.memory_bytes;
    const std::int64_t checkpoint = trials.front().projection.parameters * 12;
    const auto lines = [&](const Machine& machine, std::size_t at_once = 2, const Slot& slot = {}) {
        return exceeded_limits(trials, slot, at_once, machine, "somewhere");
    };
    // Two trials leave a checkpoint each, and one under way has two.
    CHECK(lines({2 * memory, 4 * checkpoint}).empty());
    CHECK(lines({2 * memory, 0}).empty());
    REQUIRE(lines({2 * memory - 1, 4 * checkpoint}).size() == 1);
    CHECK_THAT(lines({2 * memory - 1, 4 * checkpoint})[0], ContainsSubstring("2 trials at once"));
    CHECK(lines({2 * memory - 1, 4 * checkpoint}, 1).empty());
    CHECK_THAT(lines({memory - 1, 4 * checkpoint}, 1).at(0), ContainsSubstring("baseline/1 plans"));
    Slot on_gpu, of_ranks;
    on_gpu.device = engine::Device::cuda;
    CHECK(lines({1, 4 * checkpoint}, 2, on_gpu).empty());
    of_ranks.ranks = 3;
    CHECK(lines({3 * memory, 0}, 1, of_ranks).empty());
    CHECK(lines({3 * memory - 1, 0}, 1, of_ranks).size() == 1);
    auto zero = trials;  // moments are shared
    for (Trial& trial : zero) trial.config.train.zero = 1;
    CHECK(exceeded_limits(zero, of_ranks, 1, {3 * memory - 1, 0}, "somewhere").empty());
    CHECK_THAT(lines({2 * memory, 4 * checkpoint - 1}).at(0),
               ContainsSubstring("2 trials") && ContainsSubstring("somewhere"));
    // SGD has one moment to keep, and AdamW two.
    auto sgd = trials;
    for (Trial& trial : sgd) trial.config.train.optimizer = engine::OptimizerKind::sgd;
    const Machine small{2 * memory, 4 * checkpoint * 2 / 3};
    CHECK(!lines(small).empty());
    CHECK(exceeded_limits(sgd, Slot{}, 2, small, "somewhere").empty());
    CHECK(this_machine(folder.path / "not" / "there").free_disk_bytes > 0);
    CHECK(this_machine(folder.path).memory_bytes > 1 << 20);

    const test::TinySweep sweep("[[case]]\nname = \"plain\"\n");
    CHECK_THAT(sweep
                   .deft("plan", {"--set", "train.batch_size=65536", "--set", "train.budget_tokens=10000000000",
                                  "--set", "model.width=16384"})
                   .out,
               ContainsSubstring("this machine has"));
}
