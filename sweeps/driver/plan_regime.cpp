#include "sweeps/driver/plan_regime.h"

#include <algorithm>

#include "experiments/datasets/prepared_corpus.h"
#include "reporting/analysis/results/regime.h"
#include "sweeps/driver/root.h"
#include "sweeps/spec/published_tables.h"

namespace deft::sweeps {

namespace {

bool is_text(const experiments::DataConfig& data) {
    const experiments::SampleKind kind = data.samples;
    return kind == experiments::SampleKind::packed || kind == experiments::SampleKind::bert;
}

// The first trained row of the baseline, or of the first recipe, with the largest budget.
const PlanRow* baseline_row(const Spec& spec, const Plan& plan) {
    const PlanRow* best = nullptr;
    std::string base_recipe = spec.baseline;
    for (const PlanRow& row : plan.rows) {
        if (experiments::is_imported(row.trial.config) || !is_text(row.trial.config.data)) continue;
        if (base_recipe.empty()) base_recipe = row.trial.recipe;
        if (row.trial.recipe != base_recipe) continue;
        if (best == nullptr || row.trial.config.train.budget_fraction > best->trial.config.train.budget_fraction)
            best = &row;
    }
    return best;
}

}  // namespace

std::vector<std::string> plan_regime_notes(const Spec& spec, const Plan& plan, const std::filesystem::path& root) {
    const PlanRow* row = baseline_row(spec, plan);
    if (row == nullptr) return {};
    const experiments::Projection& projection = row->trial.projection;
    reporting::Regime regime{static_cast<double>(projection.active_parameters),
                             static_cast<double>(projection.input_tokens), static_cast<double>(projection.steps), 0};
    const auto text = experiments::prepared_train_tokens(data_folder(root), row->trial.config.data.sha256);
    if (text && *text > 0) regime.passes = std::max(1.0, regime.tokens / static_cast<double>(*text));
    const auto table = published_table(spec.paper);
    const std::string name = row->trial.name();  // with the seed, of which nothing here depends
    return reporting::regime_notes(name.substr(0, name.rfind('/')), regime, table ? table->regime : std::nullopt);
}

}  // namespace deft::sweeps
