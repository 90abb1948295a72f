// Every number that a paper published of time or dollars against what the plan predicts, and what gets no number.

#include "sweeps/driver/plan_time.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "base/json.h"
#include "reporting/table.h"
#include "sweeps/cli/plan_comparison.h"
#include "sweeps/cli/plan_tables.h"
#include "sweeps/driver/machine_limits.h"
#include "sweeps/spec/published_tables.h"
#include "tests/sweeps/files.h"

using namespace deft;
using namespace deft::sweeps;

namespace {

Spec paper_spec(const std::string& name) {
    SpecOptions options;
    options.scale = "paper";
    return load_spec(std::filesystem::path(DEFT_SOURCE_DIR) / "sweeps" / (name + ".toml"), options);
}

Plan plan_of(const Spec& spec) {
    return make_plan(spec, expand(spec, Data::may_be_missing));
}

// "CL 100% hours" -> the error in percent; "fitted" rows have none.
std::map<std::string, double> errors_of(const Plan& plan) {
    std::map<std::string, double> errors;
    for (const PlanRow& row : plan.rows)
        for (const Comparison& compared : comparisons(plan, row)) {
            REQUIRE(compared.error_percent());
            if (compared.is_fitted)
                CHECK(*compared.error_percent() == Approx(0).margin(1e-9));
            else
                errors[fmt::format("{} {:g}% {}", row.trial.recipe, 100 * row.trial.config.train.budget_fraction,
                                   compared.quantity)] = *compared.error_percent();
        }
    return errors;
}

void check_errors(const std::map<std::string, double>& found, const std::map<std::string, double>& expected,
                  double margin) {
    std::vector<std::string> found_names, expected_names;
    for (const auto& [name, error] : found) found_names.push_back(name);
    for (const auto& [name, error] : expected) expected_names.push_back(name);
    REQUIRE(found_names == expected_names);
    for (const auto& [name, error] : expected) {
        INFO(name);
        CHECK(found.at(name) == Approx(error).margin(margin));
    }
}

std::string notes_of(const Plan& plan) {
    std::string notes;
    for (const std::string& note : plan.notes) notes += note + "\n";
    return notes;
}

std::string printed(const Plan& plan) {
    return reporting::render_terminal(cli::comparison_table(plan), 0);
}

void check_no_hours(const Spec& spec, const std::string& why) {
    const Plan plan = plan_of(spec);
    for (const PlanRow& row : plan.rows) {
        CHECK_FALSE(row.hours);
        CHECK_FALSE(row.samples_per_second);
        CHECK_FALSE(row.dollars);
    }
    CHECK_FALSE(plan.hours);
    CHECK_THAT(notes_of(plan), ContainsSubstring("No hours: ") && ContainsSubstring(why));
    CHECK_THAT(printed(plan), !ContainsSubstring("fitted"));
}

}  // namespace

TEST_CASE("GPT's published hours are predicted within the rounding of what is printed, or nearly", "[bare]") {
    const Plan plan = plan_of(paper_spec("gpt_combined"));
    // Half a unit of the 131 printed hours is 0.4%.
    check_errors(errors_of(plan),
                 {{"baseline 50% hours", 0.0},
                  {"CL 100% hours", -0.09},
                  {"CL 50% hours", 0.30},
                  {"random-LTD 100% hours", 0.26},
                  {"random-LTD 50% hours", 0.65},
                  {"CL+random-LTD 100% hours", 0.14},
                  {"CL+random-LTD 50% hours", 0.14}},
                 0.01);
    CHECK_THAT(printed(plan),
               ContainsSubstring("Predicted by one free parameter: 0.3395 of the peak, fitted on baseline at 100%") &&
                   ContainsSubstring("263.7 h") && ContainsSubstring("263 h") && ContainsSubstring("fitted"));
    CHECK_FALSE(plan.counts_exchange);
    // Random-LTD at 100%: as many samples as its input tokens have, not as its layers take.
    CHECK(plan.rows[4].samples() == Approx(390.9e9 / 2048).epsilon(1e-3));
    CHECK(*plan.rows[4].samples_per_second == Approx(390.9e9 / 2048 / 263.7 / 3600).epsilon(1e-3));
    CHECK(to_json(plan).at("fitted_in") == "data_efficiency_gpt_combined");
    CHECK(to_json(plan).at("not_fitted") == "");
}

TEST_CASE("BERT's published hours are above what FLOPs predict, where tokens are dropped", "[slow][bare]") {
    Spec spec = paper_spec("bert_combined");
    spec.stages.resize(1);  // what is fine-tuned needs its records
    REQUIRE(spec.stages[0].name == "pretrain");
    const Plan plan = plan_of(spec);
    // Equal layer-averaged tokens are equal FLOPs but for attention; the printed 302 and 290 hours are not those of
    // 261.
    check_errors(errors_of(plan), {{"random-LTD 100% hours", -14.1}, {"CL+random-LTD 100% hours", -10.9}}, 0.05);
    CHECK(plan.device->utilisation == Approx(0.2789).margin(5e-5));
    CHECK_THAT(printed(plan),
               ContainsSubstring("302 h §") && ContainsSubstring("-14.1%") && ContainsSubstring("290 h §"));
    CHECK_THAT(notes_of(plan), ContainsSubstring("-14.1% to -10.9% off") &&
                                   ContainsSubstring("§ Not verified: train time of baseline at 100%"));
}

TEST_CASE("The published rate of experts is predicted from the dense model's, by hand", "[bare]") {
    const Plan plan = plan_of(paper_spec("moe_throughput"));
    REQUIRE(plan.rows.size() == 2);
    const PlanRow &dense = plan.rows[0], &moe = plan.rows[1];
    REQUIRE(plan.counts_exchange);
    REQUIRE(dense.beside);
    REQUIRE(moe.beside);
    CHECK(dense.is_fitted_on);

    // Rows: 4 samples of 2048 tokens a device, 12 layers, forward and backward and, but for the last layer, forward
    // once more; 2048 values of two bytes, of which 127 of 128 leave, there and back.
    const double row_bytes = 2.0 * 4 * 2048 * (12 * 3 - 1) * 2048 * 2 * 127 / 128;
    CHECK(moe.beside->rows == Approx(row_bytes / 25e9).epsilon(1e-9));
    CHECK(dense.beside->rows == 0);
    // Sums of float32 gradients in two halves, each 127 of 128 parts of the weights that are not an expert's. A
    // device's table of 50257 tokens has 50304 rows.
    const double dense_weights = 32 * (12.0 * 4096 * 4096 + 13 * 4096) + 50257.0 * 4096 + 2 * 4096 + 2048.0 * 4096;
    CHECK(static_cast<double>(dense.trial.projection.parameters) == dense_weights);
    const double dense_summed = dense_weights + (50304 - 50257) * 4096.0;
    CHECK(dense.beside->gradients == Approx(2 * 4 * dense_summed * 127 / 128 / 25e9).epsilon(1e-4));
    const double experts = 8.0 * 2048 * 2048 + 5 * 2048;
    const double shared = static_cast<double>(moe.trial.projection.parameters) - 12 * 128 * experts;
    const double summed = shared + (50304 - 50257) * 2048.0;
    CHECK(moe.beside->gradients == Approx(2 * 4 * summed * 127 / 128 / 25e9).epsilon(1e-4));
    // Reads gradients of 4 bytes, weights of 4 and their rounding of 2, moments of 8; writes the latter two.
    CHECK(dense.beside->update == Approx(dense_weights * (4 + 2 * 6 + 2 * 8) / 2039e9).epsilon(1e-4));
    CHECK(moe.beside->update == Approx((shared + 12 * experts) * (4 + 2 * 6 + 2 * 8) / 2039e9).epsilon(1e-4));

    // 1024 samples at 70 a second; what is left of it is of the products.
    const double products = 1024 / 70.0 - dense.beside->seconds();
    const double share = dense.trial.projection.step_flops / (128 * 312e12 * products);
    CHECK(plan.device->utilisation == Approx(share).epsilon(1e-6));
    CHECK(*dense.samples_per_second == Approx(70).epsilon(1e-9));
    const double moe_step = moe.trial.projection.step_flops / (128 * 312e12 * share) + moe.beside->seconds();
    CHECK(*moe.samples_per_second == Approx(512 / moe_step).epsilon(1e-6));
    CHECK(*moe.hours == Approx(static_cast<double>(moe.trial.projection.steps) * moe_step / 3600).epsilon(1e-6));

    // A misfit, as it is: how the authors split the dense model, and its batch, are not printed.
    check_errors(errors_of(plan), {{"MoE 100% samples/s", -17.8}}, 0.1);
    CHECK_THAT(printed(plan), ContainsSubstring("372 samples/s") && ContainsSubstring("305.8 samples/s") &&
                                  ContainsSubstring("-17.8%") && ContainsSubstring("rows of"));
    CHECK_THAT(
        notes_of(plan),
        ContainsSubstring("without overlap or latency") &&
            ContainsSubstring("at 25.0 GB/s a device over InfiniBand HDR, 8 ports of 200 Gb/s between DGX A100") &&
            ContainsSubstring("fitted on the 70 published samples/s of dense at 100%") &&
            ContainsSubstring("Predicted: 1 published number, -17.8% off."));
    const Json row = to_json(plan).at("rows").at(1);
    CHECK(row.at("beside_products_a_step").at("rows_seconds").get<double>() == moe.beside->rows);
    CHECK(row.at("published").at(0).at("quantity") == "samples/s");
    CHECK(to_json(plan).at("device").at("machine").at("name") == "DGX A100");
}

TEST_CASE("Dollars follow from what was published of the fitted row, and are marked as implied", "[slow][bare]") {
    const Spec spec = paper_spec("low_budget");
    const Plan plan = plan_of(spec);
    REQUIRE(plan.price);
    CHECK(plan.price->is_implied);
    CHECK(plan.price->usd_per_hour == Approx(46'300 / (260.0 * 64)).epsilon(1e-12));
    CHECK(plan.price->source == "implied by the published 46.3 K USD in 260 h on 64 V100");
    // 3.7 thousand printed dollars are known to 1.4%.
    check_errors(errors_of(plan), {{"CL+random-LTD 100% hours", 0.14}, {"CL+random-LTD 8% USD", 0.25}}, 0.01);
    CHECK_THAT(printed(plan), ContainsSubstring("$3709.16 implied") && ContainsSubstring("3.7 K USD"));
    CHECK_THAT(notes_of(plan), ContainsSubstring("Implied cost: ") &&
                                   ContainsSubstring("The price itself is not published") &&
                                   ContainsSubstring(" (implied)."));
    CHECK_THAT(reporting::render_terminal(cli::plan_table(plan), 0), ContainsSubstring("implied"));
    CHECK(to_json(plan).at("price").at("implied") == true);
    CHECK(to_json(plan).at("fitted_in") == "data_efficiency_gpt_combined");

    // A price of the sweep's own is one, and what it comes to is compared with what was printed.
    Spec priced = spec;
    priced.price = results_db::Price{"V100", 0, 2.5, "a test"};
    const Plan own = plan_of(priced);
    CHECK_FALSE(own.price->is_implied);
    check_errors(errors_of(own),
                 {{"CL+random-LTD 100% hours", 0.14},
                  {"baseline 100% USD", 100 * (2.5 * 64 * 260 / 46'300 - 1)},
                  {"CL+random-LTD 8% USD", 100 * (2.5 * 64 * 260 / 46'300 * 3709.16 / 3700 - 1)}},
                 0.01);
    CHECK_THAT(notes_of(own), !ContainsSubstring("mplied"));
    CHECK_THAT(printed(own), !ContainsSubstring("mplied"));
    CHECK_THAT(reporting::render_terminal(cli::plan_table(own), 0), !ContainsSubstring("implied"));

    // Without a fitted row nothing says what the dollars were paid for.
    Spec stated = spec;
    stated.fitted_on.clear();
    CHECK_FALSE(plan_of(stated).price);
    CHECK_THAT(notes_of(plan_of(stated)), ContainsSubstring("No cost: "));
}

TEST_CASE("Times of other hardware fit nothing", "[slow][bare]") {
    const reporting::PublishedTable table = *published_table("moe_throughput");
    const auto why = [&](const reporting::PublishedTable& of, const std::string& device, std::int64_t devices) {
        return other_hardware(of, {experiments::device_named(device, {}), "bf16", devices, 0});
    };
    CHECK(why(table, "A100-40GB", 128).empty());
    CHECK(why(table, "A100-80GB", 128).empty());
    CHECK(why(table, "A100-80GB", 64) == "which were measured on 128 A100-40GB or A100-80GB, not on 64 A100-80GB");
    CHECK(why(table, "H100-SXM", 128) == "which were measured on 128 A100-40GB or A100-80GB, not on 128 H100-SXM");
    reporting::PublishedTable silent = table;
    silent.hardware.reset();
    CHECK_THAT(why(silent, "A100-80GB", 128), ContainsSubstring("moe_throughput names no hardware"));

    Spec spec = paper_spec("gpt_combined");
    spec.device->utilisation = 0;
    spec.device->devices = 128;
    check_no_hours(spec, "the published hours of baseline, which were measured on 64 V100, not on 128 V100");
    spec.device->utilisation = 0.3;  // which replaces it
    CHECK(plan_of(spec).hours);
    CHECK_FALSE(plan_of(spec).fitted_row());
    CHECK_THAT(notes_of(plan_of(spec)),
               ContainsSubstring("in place of a fit on the published times of baseline, which were measured"));
    // Every table that prints times names devices that are known.
    for (const std::string& name : published_tables()) {
        const reporting::PublishedTable known = *published_table(name);
        for (const reporting::PublishedColumn& column : known.columns)
            if (column.measures && (reporting::to_text(*column.measures) == "train hours" ||
                                    reporting::to_text(*column.measures) == "throughput samples/s")) {
                INFO(name);
                REQUIRE(known.hardware);
                for (const std::string& device : known.hardware->any_of)
                    CHECK_NOTHROW(experiments::device_named(device, {}));
            }
    }
}

TEST_CASE("Experts on devices without bandwidth get no number, but a sentence", "[slow][bare]") {
    const Spec spec = paper_spec("moe_throughput");
    Spec without = spec;
    without.device->device.machine.reset();
    check_no_hours(without, "A100-80GB has no [\"A100-80GB\".machine] in experiments/hardware.toml");
    CHECK_THAT(notes_of(plan_of(without)),
               ContainsSubstring("add it there with its source, or plan for another device"));
    without.device->utilisation = 0.4;  // a stated share does not help
    check_no_hours(without, "A100-80GB has no [\"A100-80GB\".machine]");
    without = spec;
    without.device->device.memory_bytes_per_second = 0;
    check_no_hours(without, "A100-80GB has no memory_bytes_per_second");
    // Without experts on several devices nothing of it is needed.
    Spec dense = paper_spec("gpt_combined");
    dense.device->device.machine.reset();
    dense.device->device.memory_bytes_per_second = 0;
    CHECK(plan_of(dense).hours);
}

TEST_CASE("A share of the peak that cannot be is not fitted", "[bare]") {
    Spec slow = paper_spec("moe_throughput");
    slow.device->device.machine->bytes_per_second = 1e9;
    check_no_hours(slow, "the bytes between devices alone would take");
    Spec weak = paper_spec("moe_throughput");
    for (experiments::DevicePeak& peak : weak.device->device.peaks) peak.flops = 50e12;
    check_no_hours(weak, "which would take 1.1 times the devices' peak");
    Spec odd = paper_spec("moe_throughput");
    odd.device->devices = 96;
    check_no_hours(odd, "on 96 A100-80GB recipe dense cannot be trained");
}

TEST_CASE("What a share is fitted in is a published table, and of a share that is fitted", "[bare]") {
    const std::string head =
        "name = \"small\"\nseeds = [1]\n[[case]]\nname = \"baseline\"\n[resources]\ndevice = \"V100\"\n";
    const auto wrong = [&](const std::string& more) {
        const test::Folder folder;
        const auto file = folder.write("s.toml", head + more);
        return test::refusal([&] { load_spec(file); });
    };
    CHECK(wrong("fitted_on = \"baseline\"\nfitted_in = \"data_efficiency_gpt_combined\"\n") == "accepted");
    CHECK_THAT(wrong("fitted_on = \"baseline\"\nfitted_in = \"data_efficiency_gpt_combine\"\n"),
               ContainsSubstring("s.toml:8:13: no published table is named") &&
                   ContainsSubstring("did you mean data_efficiency_gpt_combined?"));
    CHECK_THAT(wrong("utilisation = 0.3\nfitted_in = \"data_efficiency_gpt_combined\"\n"),
               ContainsSubstring("s.toml:8:13") && ContainsSubstring("requires resources.fitted_on"));
}
