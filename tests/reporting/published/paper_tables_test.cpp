// The published tables that come with the program: whole, as printed, and bearing out what is claimed of them.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/installed_files.h"
#include "base/suites.h"
#include "reporting/analysis/published/published.h"
#include "tests/catch.h"

using namespace deft;
using namespace deft::reporting;

namespace {

std::vector<PublishedTable> all_tables() {
    std::vector<PublishedTable> tables;
    for (const std::string& name : published_table_names(installed_file("reporting/paper")))
        tables.push_back(read_published_table(installed_file("reporting/paper/" + name + ".toml")));
    return tables;
}

// "baseline 1: 42.5 44.0", a line a row: "~" before what is not verified, "-" for what is missing.
std::string digits_of(const PublishedTable& table) {
    std::string text;
    for (const PublishedRow& row : table.rows) {
        text += row.recipe + " " + std::to_string(std::lround(row.budget_fraction * 1000)) + ":";
        for (const PublishedColumn& column : table.columns) {
            const PublishedCell* cell = row.find(column.key);
            text += cell == nullptr ? " -" : (cell->doubt.empty() ? " " : " ~") + cell->number.text;
        }
        text += "\n";
    }
    return text;
}

// The digits once more, read from the sources a second time. Budgets in thousandths.
const std::map<std::string, std::string> kSecondReading = {
    {"data_efficiency_gpt_curriculum",
     "baseline 1000: 42.5 44.0\nseqtru 1000: 43.4 44.8\nseqres 1000: 43.0 44.5\nvoc 1000: 42.3 44.5\n"
     "seqtru_voc 1000: 43.6 44.9\nseqres_voc 1000: 43.0 44.4\nbaseline 667: 41.9 44.0\nseqtru_voc 667: 42.7 44.5\n"},
    {"data_efficiency_gpt_random_ltd",
     "baseline 1000: 42.5 -\nrandom-LTD 1000: 43.7 -\nrandom-LTD 667: 42.5 -\n"
     "random-LTD+rate 667: ~43.1 ~44.8\n"},
    {"data_efficiency_gpt_combined",
     "baseline 1000: 260 42.5 44.0\nCL 1000: 259 43.6 44.9\nrandom-LTD 1000: 263 43.7 44.9\n"
     "CL+random-LTD 1000: 260 43.8 45.1\nbaseline 500: 130 42.0 42.7\nCL 500: 129 42.6 43.7\n"
     "random-LTD 500: 131 42.7 43.5\nCL+random-LTD 500: 130 42.8 44.0\n"},
    {"data_efficiency_gpt_low_budget", "baseline 1000: 46.3 - -\nCL+random-LTD 80: 3.7 12.5 95\n"},
    {"data_efficiency_bert_curriculum",
     "baseline 1000: 87.29\nseqtru 1000: 87.31\nseqreo 1000: 87.48\nvoc 1000: 87.36\nseqtru_voc 1000: 87.60\n"
     "seqreo_voc 1000: 87.06\nbaseline 670: 87.19\nseqtru_voc 670: 87.29\n"},
    {"data_efficiency_bert_random_ltd", "baseline 1000: 87.29\nrandom-LTD 500: 87.32\n"},
    {"data_efficiency_bert_combined",
     "baseline 1000: ~261 87.29\nCL 1000: - 87.60\nrandom-LTD 1000: ~302 ~88.17\nCL+random-LTD 1000: ~290 ~87.69\n"
     "baseline 670: - 87.19\nCL 670: - 87.29\nrandom-LTD 670: - ~87.99\nbaseline 500: - ~86.61\nCL 500: - ~86.9\n"
     "random-LTD 500: - 87.32\nCL+random-LTD 500: - ~87.44\n"},
    {"data_efficiency_vit", "baseline 1000: 84.65 -\nrandom-LTD 777: 84.70 77.7\n"},
    {"data_efficiency_gpt2_ptb", "baseline 1000: 16.11\nrandom-LTD 1000: 15.9\n"},
    {"data_efficiency_moe", "baseline 1000: ~42.8\nCL+random-LTD 1000: ~43.5\n"},
    {"moe_zero_shot",
     "dense 1000: 0.5203 0.6931 0.5364 0.3177 0.0321 0.0157\n"
     "dense-4x 1000: 0.6365 0.7339 0.6339 0.3560 0.1005 0.0325\n"
     "dense-20x 1000: 0.7194 0.7671 0.6703 0.3742 0.2347 0.0512\n"
     "MoE 1000: 0.6270 0.7459 0.6046 0.3560 0.1658 0.0517\n"
     "MoE-4x 1000: 0.6984 0.7671 0.6492 0.3809 0.3129 0.0719\n"
     "PR-MoE 1000: 0.6365 0.7399 0.5988 0.3569 0.1630 0.0473\n"
     "PR-MoE+MoS 1000: 0.6346 0.7334 0.5807 0.3483 0.1369 0.0522\n"},
    {"moe_zero_shot_pile",
     "dense 1000: 0.5106 0.6589 0.5933 0.3196 0.0257 0.0064\nMoE 1000: 0.6128 0.7323 0.6040 0.3349 0.1111 0.0335\n"},
    {"moe_throughput", "dense 1000: 70 -\nMoE 1000: 372 5\n"},
    {"moe_inference", "dense-4x 1000: -\nMoE 1000: -\n"},
};

// ---- the printed numbers against the claims ------------------------------------------------------------------------

// In the claim's unit: what the column prints, or the mean over the printed tasks of the suite.
std::optional<double> printed(const PublishedTable& table, const ClaimScale& scale, const ClaimedRow& named) {
    const PublishedRow& row = *table.find(named.recipe, named.budget_fraction);
    if (!scale.column.empty()) return row.find(scale.column)->number.value;
    if (scale.quantity.kind != Quantity::Kind::suite) return std::nullopt;
    double sum = 0;
    for (const SuiteTask& task : project_suite(scale.quantity.name).tasks) {
        const PublishedCell* cell = row.find(task.name);
        if (cell == nullptr) return std::nullopt;
        sum += cell->number.value * 100;
    }
    return sum / static_cast<double>(project_suite(scale.quantity.name).tasks.size());
}

bool bears_out(const PublishedTable& table, const Claim& claim) {
    const ClaimScale& scale = claim.paper;
    const double sign = scale.better == "higher" ? 1 : -1;
    const std::optional<double> of = printed(table, scale, claim.of);
    if (!of) return claim.id == "a_twelfth_of_the_data_keeps_most_of_the_quality";  // which prints a share alone
    if (claim.kind == ClaimKind::best_in_column)
        return std::all_of(table.rows.begin(), table.rows.end(), [&](const PublishedRow& row) {
            const PublishedCell* cell = row.find(scale.column);
            return cell == nullptr || sign * (*of - cell->number.value) >= -scale.margin;
        });
    const double against = *printed(table, scale, *claim.against);
    switch (claim.kind) {
        case ClaimKind::no_worse:
            return sign * (*of - against) >= -scale.margin;
        case ClaimKind::better:
            return sign * (*of - against) > 0;
        case ClaimKind::equal_within:
            return std::abs(*of - against) <= scale.margin;
        case ClaimKind::at_most_fraction:
            return *of / against <= claim.amount;
        case ClaimKind::times_as_fast:
            return std::pow(*of / against, sign) >= claim.amount;
        case ClaimKind::closes_gap: {
            const double from = *printed(table, scale, *claim.from);
            return (*of - from) / (against - from) >= claim.amount;
        }
        case ClaimKind::best_in_column:
            break;
    }
    return false;
}

}  // namespace

TEST_CASE("every digit of the published tables, by a second reading") {
    std::set<std::string> names;
    for (const PublishedTable& table : all_tables()) {
        INFO(table.name);
        names.insert(table.name);
        REQUIRE(kSecondReading.count(table.name) == 1);
        CHECK(digits_of(table) == kSecondReading.at(table.name));
    }
    CHECK(names.size() == kSecondReading.size());
}

TEST_CASE("every published table is whole") {
    for (const PublishedTable& table : all_tables()) {
        std::set<std::string> rows, columns;
        for (const PublishedColumn& column : table.columns) {
            INFO(table.name << ": " << column.key);
            CHECK(columns.insert(column.title).second);
            CHECK_FALSE(column.unit.empty());
            CHECK((column.better == "lower" || column.better == "higher"));
            CHECK(column.measures.has_value() == column.not_measured.empty());
            for (const PublishedRow& row : table.rows) {
                const PublishedCell* cell = row.find(column.key);
                const auto missing = std::count_if(row.missing.begin(), row.missing.end(),
                                                   [&](const auto& of) { return of.first == column.key; });
                CHECK((cell == nullptr) == (missing == 1));
                if (cell != nullptr && column.unit == "%") CHECK((cell->number.value > 0 && cell->number.value < 100));
                if (cell != nullptr && column.unit == "fraction")
                    CHECK((cell->number.value > 0 && cell->number.value < 1));
            }
        }
        for (const PublishedRow& row : table.rows) {
            INFO(table.name << ": " << row.name());
            CHECK(rows.insert(row.name()).second);
            CHECK_FALSE(row.data.empty());
        }
    }
}

TEST_CASE("the printed numbers bear out what is claimed of them") {
    std::set<ClaimKind> kinds;
    std::size_t claims = 0;
    for (const PublishedTable& table : all_tables())
        for (const Claim& claim : table.claims) {
            INFO(table.name << ": " << claim.id);
            kinds.insert(claim.kind);
            ++claims;
            CHECK(bears_out(table, claim));
        }
    CHECK(kinds.size() == 7);
    CHECK(claims >= 25);
}

TEST_CASE("recipes of the published tables are spelled as the sweeps spell theirs") {
    const std::map<std::string, std::string> sweeps = {
        {"data_efficiency_gpt_curriculum", "gpt_curriculum"},
        {"data_efficiency_gpt_random_ltd", "gpt_random_ltd"},
        {"data_efficiency_gpt_combined", "gpt_combined"},
        {"data_efficiency_gpt_low_budget", "low_budget"},
        {"data_efficiency_bert_curriculum", "bert_curriculum"},
        {"data_efficiency_bert_random_ltd", "bert_random_ltd"},
        {"data_efficiency_bert_combined", "bert_combined"},
        {"data_efficiency_vit", "vit_finetune"},
        {"data_efficiency_gpt2_ptb", "gpt2_ptb"},
        {"data_efficiency_moe", "moe_data_efficiency"},
        {"moe_zero_shot", "moe_quality"},
        {"moe_zero_shot_pile", "moe_quality"},
        {"moe_throughput", "moe_throughput"},
        {"moe_inference", "moe_quality"},
    };
    for (const PublishedTable& table : all_tables()) {
        const auto sweep = sweeps.find(table.name);
        if (sweep == sweeps.end()) continue;
        std::set<std::string> recipes;
        const ConfigNode root = parse_toml_file(installed_file("sweeps/" + sweep->second + ".toml"));
        for (const ConfigNode& item : root.find("case")->items) recipes.insert(item.find("name")->text);
        const auto known = std::count_if(table.rows.begin(), table.rows.end(),
                                         [&](const PublishedRow& row) { return recipes.count(row.recipe) != 0; });
        INFO(table.name);
        CHECK(known >= 2);
        if (table.name.find("_gpt_") != std::string::npos)  // each of these has a sweep of its own
            CHECK(known == static_cast<std::ptrdiff_t>(table.rows.size()));
        CHECK(recipes.count(table.rows.front().recipe) == 1);
    }
}
