#include "reporting/key_fields.h"

#include <algorithm>

namespace deft::reporting {

namespace {

bool any_budget(const std::vector<Variant>& variants) {
    return std::any_of(variants.begin(), variants.end(), [](const Variant& row) { return row.axes.has_budget; });
}

bool any_other_axis(const std::vector<Variant>& variants) {
    return std::any_of(variants.begin(), variants.end(), [](const Variant& row) { return !row.axes.others.empty(); });
}

Cell axes_cell(const Variant& variant) {
    return variant.axes.others.empty() ? "-" : variant.axes.others_text();
}

}  // namespace

std::vector<Field> key_fields(const std::vector<Variant>& variants) {
    std::vector<Field> fields;
    fields.emplace_back(Column{"case", Align::left}, [](const Variant& variant) { return Cell(variant.case_key); });
    if (any_budget(variants))
        fields.emplace_back(Column{"budget", Align::right, false, false, "fraction"}, [](const Variant& variant) {
            return Cell(variant.axes.budget_text(), variant.axes.budget_fraction);
        });
    if (any_other_axis(variants)) fields.emplace_back(Column{"axes", Align::left}, axes_cell);
    return fields;
}

}  // namespace deft::reporting
