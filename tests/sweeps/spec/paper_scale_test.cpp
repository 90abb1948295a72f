// The repository's sweeps beside the tables of the papers that they name.

#include <algorithm>
#include <set>

#include "base/score_key.h"
#include "results_db/row_name.h"
#include "sweeps/spec/expand.h"
#include "sweeps/spec/published_tables.h"
#include "tests/sweeps/files.h"

using namespace deft;
using namespace deft::sweeps;

namespace {

// Tasks by which columns of the table are measured, but for the validation, which every trial has.
std::vector<std::string> measured_tasks(const reporting::PublishedTable& table) {
    std::vector<std::string> names;
    for (const reporting::PublishedColumn& column : table.columns)
        if (column.measures && column.measures->kind == reporting::Quantity::Kind::task &&
            column.measures->name != kValidationTask)
            names.push_back(column.measures->name);
    return names;
}

Spec spec_at(const std::string& sweep, const std::string& scale) {
    SpecOptions options;
    options.scale = scale;
    return load_spec(std::filesystem::path(DEFT_SOURCE_DIR) / "sweeps" / (sweep + ".toml"), options);
}

bool is_trained(const std::vector<Trial>& trials, const std::string& recipe, double budget_fraction) {
    return std::any_of(trials.begin(), trials.end(), [&](const Trial& trial) {
        return trial.recipe == recipe && results_db::same_budget(trial.config.train.budget_fraction, budget_fraction);
    });
}

std::vector<reporting::ClaimedRow> rows_of(const reporting::Claim& claim) {
    std::vector<reporting::ClaimedRow> rows = {claim.of};
    for (const auto& row : {claim.against, claim.from})
        if (row) rows.push_back(*row);
    return rows;
}

}  // namespace

// A claim on 77.7% of the data is none on a row that was trained on all of it.
TEST_CASE("the rows of a published table, and those of its claims, are trained at the budgets that are printed",
          "[slow][bare]") {
    std::size_t judged = 0;
    for (const char* name :
         {"bert_combined", "bert_curriculum", "bert_random_ltd", "gpt2_ptb", "gpt_combined", "gpt_curriculum",
          "gpt_random_ltd", "low_budget", "moe_data_efficiency", "moe_quality", "moe_throughput", "vit_finetune"})
        for (const char* scale : {"proxy", "paper"}) {
            const Spec spec = spec_at(name, scale);
            const auto table = published_table(spec.paper);
            REQUIRE(table);
            const std::vector<Trial> trials = expand(spec, Data::may_be_missing);
            std::set<std::string> recipes;
            for (const Trial& trial : trials) recipes.insert(trial.recipe);
            INFO(name << " at " << scale);
            for (const reporting::PublishedRow& row : table->rows) {
                INFO(row.name());
                CHECK((!recipes.contains(row.recipe) || is_trained(trials, row.recipe, row.budget_fraction)));
            }
            for (const reporting::Claim& claim : table->claims) {
                if (!(std::string(scale) == "paper" ? claim.paper : claim.proxy).not_judged.empty()) continue;
                ++judged;
                for (const reporting::ClaimedRow& row : rows_of(claim)) {
                    INFO(claim.id << ": " << row.recipe << " at " << row.budget_fraction);
                    CHECK(is_trained(trials, row.recipe, row.budget_fraction));
                }
            }
        }
    CHECK(judged > 40);
}

TEST_CASE("at the paper's scale a sweep asks for every task that measures a column of its table", "[bare]") {
    std::size_t asked = 0;
    for (const char* name : {"moe_inference", "moe_quality"}) {
        const Spec spec = spec_at(name, "paper");
        const auto table = published_table(spec.paper);
        REQUIRE(table);
        const std::vector<Trial> trials = expand(spec, Data::may_be_missing);
        for (const std::string& task : measured_tasks(*table)) {
            INFO(name << ": " << task);
            CHECK(std::any_of(trials.begin(), trials.end(), [&](const Trial& trial) {
                return std::ranges::count(trial.config.eval.tasks, task) > 0;
            }));
            ++asked;
        }
    }
    CHECK(asked == 7);  // one and six
}
