#include "reporting/analysis/results/sweep_text.h"

#include <algorithm>

#include "results_db/sweep_heads.h"

namespace deft::reporting {

std::string sweep_text(const results_db::SweepHead& sweep) {
    const std::string changed = results_db::overrides_text(sweep);
    return changed.empty() ? sweep.name : results_db::full_name(sweep) + " with " + changed;
}

std::string overrides_suffix(const results_db::SweepHead& sweep) {
    const std::string changed = results_db::overrides_text(sweep);
    return changed.empty() ? "" : " (" + changed + ")";
}

namespace {

constexpr std::int64_t kPaperParameters = 100'000'000;

}  // namespace

std::int64_t largest_parameters(const Results& sweep) {
    std::int64_t parameters = 0;
    for (const Trial& trial : sweep.trials) parameters = std::max(parameters, trial.parameters);
    return parameters;
}

bool is_small_scale(const Results& sweep, const std::string& scale) {
    const std::int64_t parameters = largest_parameters(sweep);
    return parameters > 0 ? parameters < kPaperParameters : scale != "paper";
}

std::string scale_label(const Results& sweep, const std::string& scale) {
    const std::string name = scale.empty() ? "as written" : scale;
    return is_small_scale(sweep, scale) ? name + ": proxy scale" : name;
}

}  // namespace deft::reporting
