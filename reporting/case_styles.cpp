#include "reporting/case_styles.h"

#include <fmt/format.h>

namespace deft::reporting {

namespace {

std::string axes_key(const Variant& variant) {
    return fmt::format("{}|{}", variant.axes.budget_fraction, variant.axes.others_text());
}

}  // namespace

std::string series_name(const Variant& variant) {
    std::string name = variant.case_key;
    if (variant.axes.has_budget) name += " " + variant.axes.budget_text();
    if (!variant.axes.others.empty()) name += " " + variant.axes.others_text();
    return name;
}

CaseStyles::CaseStyles(const std::vector<Variant>& variants) {
    for (const Variant& variant : variants) {
        of_case_.try_emplace(variant.case_key, of_case_.size());
        of_axes_.try_emplace(axes_key(variant), of_axes_.size());
    }
}

void CaseStyles::give(const Variant& variant, Series& series) const {
    series.style = of_case_.at(variant.case_key);
    series.dash = of_axes_.at(axes_key(variant));
}

}  // namespace deft::reporting
