#include "reporting/sweep_text.h"

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

}  // namespace deft::reporting
